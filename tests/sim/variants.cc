// Proof that the checker sees: a protocol that lacks one rule does not survive random schedules.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "sim/faults.h"
#include "sim/schedule.h"

namespace {

// SIM_SEED in the environment replaces the first seed.
uint64_t first_seed() {
  const char* given = getenv("SIM_SEED");
  return given == nullptr ? 1 : strtoull(given, nullptr, 10);
}

constexpr uint64_t kMostSeeds = 100000;

}  // namespace

TEST_CASE("every broken variant is seen") {
  const uint64_t first = first_seed();
  printf("schedules from seed %llu on; without its rule each variant fails after:\n",
         static_cast<unsigned long long>(first));
  for (const sim::Variant& variant : sim::variants()) {
    if (variant.needs_trap) continue;
    elc::line::left_out = variant.rule;
    std::string violation;
    uint64_t seed = first;
    for (; seed < first + kMostSeeds && violation.empty(); ++seed)
      violation = sim::run_schedule(seed, {.fault = variant.fault}).violation;
    elc::line::left_out = elc::line::Rule{};
    printf("  %6llu %s: %s\n", static_cast<unsigned long long>(seed - first), variant.what,
           violation.c_str());
    CHECK_MESSAGE(!violation.empty(), "not seen: " << variant.name);
  }
}
