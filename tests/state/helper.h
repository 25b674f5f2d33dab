// What the tests of src/state share: a line in memory, and a process that begins anew.
#ifndef ELC_TESTS_STATE_HELPER_H
#define ELC_TESTS_STATE_HELPER_H

#include <doctest/doctest.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <string>
#include <vector>

#include "elc.h"
#include "state/state.h"

// MPI handles of the tests are ints whose number in a file is the value + 1000.
elc::state::HandleCodec test_codec();

struct Line {
  std::vector<uint8_t> bytes;

  elc::Result save(const elc::format::Representation* as = nullptr);
  elc::Result open(elc::format::Reader* reader);
  // check and apply, as src/mpi would do at the site.
  elc::Result restore();
  elc::Result check();
};

// The message of a failure; "ok".
inline std::string text(const elc::Result& status) { return status.message(); }

#define REQUIRE_OK(expression) REQUIRE(text(expression) == "ok")

inline bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// The library as it is in a new process; what a test did before is forgotten. The heap of the machine is
// disturbed, so that blocks get other addresses.
void new_process();

// A big-endian machine with 32-bit pointers, long of 4 bytes, long double of 8.
elc::format::Representation foreign_machine();

// The seed of a random test: $ELC_SEED, or a new one. Printed.
uint64_t test_seed(const char* test);

struct Random {
  uint64_t state;
  uint64_t next() {
    uint64_t x = state += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }
  uint64_t below(uint64_t n) { return next() % n; }
};

#endif
