// Random schedules: one seed, one program, one run with kills and restarts, one verdict.
#ifndef ELC_TESTS_SIM_SCHEDULE_H
#define ELC_TESTS_SIM_SCHEDULE_H

#include <cstdint>
#include <string>

#include "sim/config.h"

namespace sim {

struct Verdict {
  std::string violation;  // empty: none
  Stats stats;
};

struct Choice {
  Fault fault = Fault::kNone;
  bool lines = true;  // false: no line and no kill
  bool trace = false;
};

// The program of this seed, a call in each line.
std::string program_of(uint64_t seed);

// Runs the schedule of this seed to its end, or to the first violation.
Verdict run_schedule(uint64_t seed, const Choice& choice = Choice());

}  // namespace sim

#endif
