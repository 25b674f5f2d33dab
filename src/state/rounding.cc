// How numbers are rounded, and which exceptions they raise.
#include <fenv.h>
#include <float.h>

#include <limits>

#include "base/compiler.h"
#include "base/result.h"
#include "elc_program.h"
#include "state/library.h"

// In a library that the archive is not linked with; without it nobody has set it so that an exception would end the program.
extern "C" ELC_WEAK int feholdexcept(fenv_t* environment);
extern "C" ELC_WEAK int fesetenv(const fenv_t* environment);

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

// Of the first word of a line: a rounding, and where there is a register for it, that.
constexpr int kRounding = 3, kHasControl = 1 << 24, kControlShift = 8;
constexpr unsigned kControl = 0xffff, kUsualControl = 0x1f80, kExceptionsOfControl = 0x3f;

// What a kind of numbers does, found by computing: how it is set is the machine's, and who has set it may be anybody.
struct Arithmetic {
  int rounding = 0;  // as in kRoundings
  bool is_precise = false;
  bool keeps_small_results = false, keeps_small_operands = false;  // numbers that have no full precision: are they 0?
  bool operator==(const Arithmetic&) const = default;
};

template <class T>
Arithmetic arithmetic_of() {
  using Limits = std::numeric_limits<T>;
  volatile T one = 1, least = Limits::epsilon(), part = least / 4, most = part * 3, small = Limits::min(), smallest = Limits::denorm_min(), large = 1 / least;
  const volatile T up = one + part, down = -one - part, near = one + most, next = one + least, half = small / 2, scaled = smallest * large * large;
  Arithmetic a;
  a.rounding = up > one ? 2 : down < -one ? 1 : near > one ? 0 : 3;
  a.is_precise = next > one;
  a.keeps_small_results = half != 0;
  a.keeps_small_operands = scaled != 0;
  return a;
}

struct All {
  Arithmetic of_double, of_long_double;
  bool is_known = false;
};
All at_first;

// Without raising an exception of the program's, or being ended by one.
All arithmetic(const ELC_Program_rounding* by) {
  const bool has_control = by != nullptr && by->control != nullptr;
  const unsigned control = has_control ? by->control() : 0;
  if (has_control) by->set_control(control | kUsualControl);
  fenv_t environment;
  const bool may_raise = feholdexcept != nullptr && fesetenv != nullptr && feholdexcept(&environment) == 0;
  const All all = {arithmetic_of<double>(), arithmetic_of<long double>(), true};
  if (may_raise) fesetenv(&environment);
  if (has_control) by->set_control(control);
  return all;
}

}  // namespace

void note_arithmetic() { at_first = arithmetic(nullptr); }

Result check_arithmetic(const ELC_Program_rounding* by) {
  if (!at_first.is_known) return Result();  // of a program that is not prepared, whose restart comes by the beginning of main() again
  const All now = arithmetic(by);
  All after = at_first;
  if (by != nullptr && by->get != nullptr) {
    const int rounding = by->get();
    for (int i = 0; i < 4; ++i)
      if (kRoundings[i] == rounding) after.of_double.rounding = after.of_long_double.rounding = i;
  }
  // Where numbers are as precise as their types say, SSE computes doubles, and a restart sets its register as a whole.
  if (by != nullptr && by->control != nullptr && FLT_EVAL_METHOD == 0) after.of_double = now.of_double;
  if (now.of_double == after.of_double && now.of_long_double == after.of_long_double) return Result();
  const auto is_other = [&](auto what) { return now.of_double.*what != after.of_double.*what || now.of_long_double.*what != after.of_long_double.*what; };
  return Result::error("arithmetic is not what it was when the program began (%s), and nothing that lines follow has set it: a restart would compute otherwise; set it by "
                       "fesetround(), by _mm_setcsr() and the like in what elc-cc compiles, or before main(), where a restart does so again",
                       is_other(&Arithmetic::is_precise) ? "numbers are of another precision" : is_other(&Arithmetic::rounding) ? "numbers are rounded otherwise" :
                       "what is near zero is zero, or is not any more");
}

void take_rounding(const ELC_Program_rounding& by, int state[kRoundingWords]) {
  state[0] = state[1] = state[2] = 0;
  if (by.get != nullptr) {
    const int rounding = by.get();
    for (int i = 0; i < 4; ++i)
      if (kRoundings[i] == rounding) state[0] = i;
    state[1] = packed(by.test(FE_ALL_EXCEPT));
    if (by.enabled != nullptr) state[2] = packed(by.enabled());
  }
  if (by.control != nullptr) state[0] |= kHasControl | static_cast<int>(by.control() & kControl) << kControlShift;
}

Result put_rounding(const ELC_Program_rounding* given, const int state[kRoundingWords]) {
  constexpr ELC_Program_rounding kNone = {};
  const ELC_Program_rounding& by = given == nullptr ? kNone : *given;
  const unsigned control = static_cast<unsigned>(state[0]) >> kControlShift & kControl;
  const bool has_control = (state[0] & kHasControl) != 0;
  if (has_control && by.set_control == nullptr && (control & ~kExceptionsOfControl) != kUsualControl)
    return Result::error("the program has set MXCSR, the register of x86 processors for arithmetic, to 0x%x, and has it not here: restart it on such a machine", control);
  if (by.get == nullptr && (state[0] & kRounding) != 0) return Result::error("the program has set how numbers are rounded (fesetround), and does not do so here");
  if (by.get != nullptr) {
    by.set(kRoundings[state[0] & kRounding]);
    by.clear(FE_ALL_EXCEPT);
    by.raise(unpacked(state[1]));
    if (by.disable != nullptr && by.enable != nullptr) {
      by.disable(FE_ALL_EXCEPT);
      by.enable(unpacked(state[2]));
    }
  }
  if (has_control && by.set_control != nullptr) by.set_control(control);
  return Result();
}

}  // namespace elc::state
