// How numbers are rounded, and which exceptions they raise.
#include <fenv.h>

#include "elc_program.h"
#include "state/library.h"

namespace elc::state {
namespace {

// The numbers of FE_ macros are the machine's: in a line they are those of the tables.
constexpr int kRoundings[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
constexpr int kExceptions[] = {FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INEXACT};
constexpr int kCount = sizeof kExceptions / sizeof kExceptions[0];

int packed(int bits) {
  int out = 0;
  for (int i = 0; i < kCount; ++i)
    if ((bits & kExceptions[i]) != 0) out |= 1 << i;
  return out;
}

int unpacked(int in) {
  int bits = 0;
  for (int i = 0; i < kCount; ++i)
    if ((in >> i & 1) != 0) bits |= kExceptions[i];
  return bits;
}

}  // namespace

void take_rounding(const ELC_Program_rounding& by, int state[kRoundingWords]) {
  const int rounding = by.get();
  for (int i = 0; i < 4; ++i)
    if (kRoundings[i] == rounding) state[0] = i;
  state[1] = packed(by.test(FE_ALL_EXCEPT));
  if (by.enabled != nullptr) state[2] = packed(by.enabled());
}

void put_rounding(const ELC_Program_rounding& by, const int state[kRoundingWords]) {
  by.set(kRoundings[state[0] & 3]);
  by.clear(FE_ALL_EXCEPT);
  by.raise(unpacked(state[1]));
  if (by.disable == nullptr || by.enable == nullptr) return;
  by.disable(FE_ALL_EXCEPT);
  by.enable(unpacked(state[2]));
}

}  // namespace elc::state
