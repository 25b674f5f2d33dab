// The broken variants by name.
#ifndef ELC_TESTS_SIM_FAULTS_H
#define ELC_TESTS_SIM_FAULTS_H

#include <span>

#include "line/rules.h"
#include "sim/config.h"

namespace sim {

struct Variant {
  const char* name;
  const char* what;
  Fault fault;
  elc::line::Rule rule;  // left out; only objects compiled with ELC_TEST_FAULTS can
  bool needs_trap = false;  // random schedules hardly come to what it spoils: a case of its own shows that
};

std::span<const Variant> variants();

}  // namespace sim

#endif
