// The only source of chance in the simulator: splitmix64 (Steele, Lea, Flood 2014). Everything that a
// schedule does follows from one 64-bit seed.
#ifndef ELC_TESTS_SIM_RANDOM_H
#define ELC_TESTS_SIM_RANDOM_H

#include <cstddef>
#include <cstdint>

#include "base/hash_map.h"

namespace sim {

using elc::mix64;

inline uint64_t combine(uint64_t a, uint64_t b) { return mix64(a * 0x9e3779b97f4a7c15u + b + 1); }

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() { return mix64(state_ += 0x9e3779b97f4a7c15u); }
  // 0 to n-1; n > 0. (The bias of the multiplication is below 2^-32.)
  uint32_t below(uint64_t n) { return static_cast<uint32_t>(((next() >> 32) * n) >> 32); }
  bool chance(double p) { return static_cast<double>(next() >> 11) * 0x1p-53 < p; }
  int between(int low, int high) {
    return low + static_cast<int>(below(static_cast<uint64_t>(high - low + 1)));
  }
  template <class C>
  auto& pick(C& from) {
    return from[below(from.size())];
  }

 private:
  uint64_t state_;
};

}  // namespace sim

#endif
