// When to take the next line.
#ifndef ELC_BASE_INTERVAL_H
#define ELC_BASE_INTERVAL_H

#include "base/config.h"

namespace elc {

// The interval between lines that makes the expected execution time least, in seconds:
// sqrt(2 * cost * mtbf), where `cost` is what one line costs the program and `mtbf` the mean time
// between failures, both in seconds (section 5.8 of the thesis; Young 1974).
double optimal_interval(double cost, double mtbf);

// Seconds from one line to the next as the user asked; 0 for no timer. `cost` is that of the last
// line of this job in seconds, negative before there was one: with Timer::kAuto the first line then
// comes early, because it is what measures the cost.
double interval(const Config& config, double cost);

}  // namespace elc

#endif
