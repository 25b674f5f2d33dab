// Random schedules: one seed, one program, one run with kills and restarts, one verdict.
#ifndef ELC_TESTS_SIM_SCHEDULE_H
#define ELC_TESTS_SIM_SCHEDULE_H

#include <cstdint>
#include <string>

#include "sim/config.h"
#include "sim/memory.h"

namespace sim {

struct Verdict {
  std::string violation;  // empty: none
  Stats stats;
};

// Runs something that has a verdict: what it has allocated is released at its end.
template <class Run>
Verdict without_leaks(Run run) {
  const size_t before = blocks();
  Verdict v = run();
  if (v.violation.empty() && blocks() != before)
    v.violation = std::to_string(static_cast<long>(blocks() - before)) + " blocks of memory are left after the end";
  return v;
}

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
