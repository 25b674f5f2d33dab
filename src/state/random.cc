// random and drand48 are of the part of POSIX that is called XSI.
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700
#endif
#include "state/random.h"

#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "elc.h"
#include "portable_format/checksum.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

// The first word of an array of random() that is not in use says its size and where it goes on: type + 5 * place.
constexpr uint32_t kTypes = 5;
constexpr uint32_t kDegrees[kTypes] = {0, 7, 15, 31, 63};

uint32_t type_of(int32_t first) { return static_cast<uint32_t>(first) % kTypes; }

bool is_state(int32_t first) {
  const uint32_t degree = kDegrees[type_of(first)];
  const uint32_t place = static_cast<uint32_t>(first) / kTypes;
  return first >= 0 && (degree == 0 ? place == 0 : place < degree);
}

}  // namespace

void read_drand48(uint16_t state[7]) {
  // The factor and what is added, which seed48 forgets, come to light where it is known to what they are applied.
  unsigned short of_zero[3] = {0, 0, 0}, of_one[3] = {1, 0, 0}, any[3] = {0, 0, 0};
  jrand48(of_zero);
  jrand48(of_one);
  uint64_t zero = 0, one = 0;
  for (int i = 2; i >= 0; --i) {
    zero = zero << 16 | of_zero[i];
    one = one << 16 | of_one[i];
  }
  const uint64_t factor = one - zero;
  // The number is told where the program may have what it was told before.
  static unsigned short* told = nullptr;
  unsigned short before[3] = {};
  const bool is_first = told == nullptr;
  if (!is_first) memcpy(before, told, sizeof before);
  told = seed48(any);
  memcpy(state, told, sizeof before);
  if (!is_first) memcpy(told, before, sizeof before);
  for (int i = 0; i < 3; ++i) state[3 + i] = static_cast<uint16_t>(factor >> 16 * i);
  state[6] = static_cast<uint16_t>(zero);
  lcong48(state);
}

Result RandomNumbers::read(char** array, int32_t words[], uint32_t* count) const {
  alignas(int32_t) char aside[8];
  *array = initstate(1, aside, sizeof aside);
  if (*array == nullptr) return Result::error("random() does not tell where its state is");
  int32_t first;
  memcpy(&first, *array, sizeof first);
  const bool known = is_state(first);
  *count = known ? kDegrees[type_of(first)] + (type_of(first) == 0 ? 2 : 1) : 0;
  memcpy(words, *array, *count * sizeof first);
  setstate(*array);
  if (known) return Result();
  return Result::error("this C library keeps the state of random() in a way that libELC does not know");
}

Result RandomNumbers::take() {
  char* array;
  uint32_t count;
  int32_t words[kMostWords];
  ELC_TRY(read(&array, words, &count));
  if (array_ != nullptr && (array != array_ || count != count_))
    return Result::error(
        "random() has another state array than when ELC_RANDOM was called, which a restart could not find: call initstate or "
        "setstate before it");
  memcpy(words_, words, sizeof words);
  array_ = array;
  count_ = count;
  read_drand48(drand48_);
  return Result();
}

Result RandomNumbers::put() {
  char* array;
  uint32_t count;
  int32_t now[kMostWords];
  ELC_TRY(read(&array, now, &count));
  if (!is_state(words_[0]) || type_of(words_[0]) != type_of(now[0]) || array != array_)
    return Result::error("what the line has for the state of random() is none of this C library");
  alignas(int32_t) char aside[8];
  initstate(1, aside, sizeof aside);
  memcpy(array, words_, count * sizeof words_[0]);
  setstate(array);
  lcong48(drand48_);
  return Result();
}

Result RandomNumbers::start() {
  ELC_TRY(take());
  RandomNumbers after;
  const int drawn = rand();
  ELC_TRY(after.take());
  if (memcmp(words_, after.words_, count_ * sizeof words_[0]) == 0)
    return Result::error("rand() of this C library has a state of its own, which cannot be had");
  ELC_TRY(put());
  const bool same = rand() == drawn;
  const long number = random(), other = mrand48();
  ELC_TRY(put());
  rand();
  if (!same || random() != number || mrand48() != other)
    return Result::error("this C library's random numbers do not come again when their state is put back");
  return put();
}

Result register_random() {
  Process& p = process();
  if (p.random != nullptr) return Result();
  RandomNumbers* random = make<RandomNumbers>();
  Result status = random->start();
  if (status.ok()) status = add_global(kRandomName, random->words(), ELC_INT32, random->count());
  if (status.ok()) status = add_global(kDrand48Name, random->drand48(), ELC_UINT16, 7);
  if (status.ok()) {
    p.random = random;
  } else {
    destroy(random);
    p.unregistered = Text::copy("the state of rand(), random() and drand48() (ELC_RANDOM)");
  }
  return status;
}

bool has_random() { return process().random != nullptr; }

DrawnNumbers drawn_numbers() {
  RandomNumbers now;
  DrawnNumbers drawn;
  drawn.known = now.take().ok();
  if (!drawn.known) return drawn;
  drawn.checksum = format::crc32_of(now.words(), now.count() * sizeof(int32_t));
  drawn.checksum = format::crc32_of(now.drand48(), 7 * sizeof(uint16_t), drawn.checksum);
  return drawn;
}

}  // namespace elc::state

extern "C" ELC_EXPORT int ELC_Register_random(void) {
  return elc::state::outcome(elc::state::register_random());
}
