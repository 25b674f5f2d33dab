// Storms: calls that come as they may, where schedule.h runs programs that are written down first.
#ifndef ELC_TESTS_SIM_STORM_H
#define ELC_TESTS_SIM_STORM_H

#include "sim/schedule.h"

namespace sim {

// Runs the storm of this seed to its end, or to the first violation.
Verdict run_storm(uint64_t seed, bool trace = false);

}  // namespace sim

#endif
