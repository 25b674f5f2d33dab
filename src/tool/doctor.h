// `elc doctor`: would the program survive a restart? Takes lines, restarts from them, and compares.
#ifndef ELC_TOOL_DOCTOR_H
#define ELC_TOOL_DOCTOR_H

#include <stdint.h>

#include <string>
#include <vector>

#include "compare.h"

namespace elc::tool {

struct DoctorOptions {
  unsigned ranks = 1;
  std::string dir = "elc-doctor";   // of the examination; what is there of an older one is removed
  unsigned lines = 3;               // how many, spread over the run
  std::vector<uint64_t> at;         // at these sites of each rank instead
  std::string launcher, mpi;
  CompareOptions compare;
  std::vector<std::string> program;
};

// 0: nothing differs; 1: something does; 3: nothing does, but not all could be judged, as it differs without a failure, too.
// Throws Refusal where there is trouble.
int doctor(const DoctorOptions& options);

}  // namespace elc::tool

#endif
