// What the library's own work costs where there is much of something: receives, pending messages, communicators.
#ifndef ELC_TESTS_SIM_GROWTH_H
#define ELC_TESTS_SIM_GROWTH_H

#include <cstddef>

namespace sim {

// Prints a table: for each case the nanoseconds and bytes for one of `n`, and of a tenth of that.
void print_growth(size_t n);

}  // namespace sim

#endif
