// How numbers are rounded, and which exceptions they raise: in a file of its own, which programs that have no word of it leave in the
// archive, as it needs the library of mathematics.
#include <fenv.h>

#include "base/compiler.h"
#include "elc_program.h"

namespace {

constexpr int kRoundings[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};
constexpr int kExceptions[] = {FE_INVALID, FE_DIVBYZERO, FE_OVERFLOW, FE_UNDERFLOW, FE_INEXACT};
constexpr int kCount = sizeof kExceptions / sizeof kExceptions[0];

// The numbers of FE_ macros are the machine's: in a line they are those of the tables.
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

extern "C" ELC_EXPORT void ELC_Program_round(int restores, int* state) {
  if (restores == 0) {
    const int rounding = fegetround();
    for (int i = 0; i < 4; ++i)
      if (kRoundings[i] == rounding) state[0] = i;
    state[1] = packed(fetestexcept(FE_ALL_EXCEPT));
#ifdef __GLIBC__
    state[2] = packed(fegetexcept());
#endif
    return;
  }
  fesetround(kRoundings[state[0] & 3]);
  feclearexcept(FE_ALL_EXCEPT);
  feraiseexcept(unpacked(state[1]));
#ifdef __GLIBC__
  fedisableexcept(FE_ALL_EXCEPT);
  feenableexcept(unpacked(state[2]));
#endif
}
