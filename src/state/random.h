// The state of the C library's random numbers: rand, random and drand48.
#ifndef ELC_STATE_RANDOM_H
#define ELC_STATE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"

namespace elc::state {

// What they are registered as, globals both.
constexpr const char* kRandomName = "ELC_RANDOM.random";
constexpr const char* kDrand48Name = "ELC_RANDOM.drand48";

// The state of drand48 as lcong48 wants it: the number, the factor, what is added. It is as it was then, and so is what seed48 has told
// the program, but for the first time that this is called.
void read_drand48(uint16_t state[7]);

// POSIX says how to put another state in the place of the present one, which is to be read then. The states are copied to
// variables, which are saved like any other.
class RandomNumbers {
 public:
  static constexpr uint32_t kMostWords = 64;

  // Tries whether the states can be had and put back, without changing what the program draws next. Fails where they cannot.
  Result start();
  // The states as they are now, to the variables. Fails if random() has another array than at the start (initstate, setstate).
  Result take();
  // The reverse. Fails on a state that is none.
  Result put();

  int32_t* words() { return words_; }
  uint16_t* drand48() { return drand48_; }
  uint32_t count() const { return count_; }  // of words

 private:
  Result read(char** array, int32_t words[], uint32_t* count) const;

  int32_t words_[kMostWords] = {};
  uint16_t drand48_[7] = {};  // as lcong48 wants them
  uint32_t count_ = 0;
  char* array_ = nullptr;  // where random() has it
};

}  // namespace elc::state

#endif
