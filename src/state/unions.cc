// What a union of pointers and numbers has: nothing in it says so. A program that a tool has prepared notes the numbers it puts there
// that look like addresses; all else that does is a pointer.
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/library.h"
#include "state/process.h"

namespace elc::state {
namespace {

// By their values: copies of a union take them elsewhere. They are of all of the program's runs, as those have other addresses each. Kept
// as what is no address, or a line would take them for some.
constexpr size_t kFirst = 4096, kMost = size_t{1} << 20;  // powers of two
struct Numbers {
  uint64_t first[kFirst];
  uint64_t* inverted;  // a table with open addressing; 0: none. `first`, or a block of the heap
  uint64_t size;       // of the table
  uint64_t count;      // of more than three quarters of the greatest table: nothing is told any more
};

Numbers& numbers() {
  static Numbers all;
  if (all.inverted == nullptr) all.inverted = all.first, all.size = kFirst;
  return all;
}

bool are_too_many() { return numbers().count > kMost / 4 * 3; }

// The same in all runs: where addresses have 32 bits, or an executable lies where it was linked to, a number is too often one.
bool may_look_like_address(uint64_t value) { return value >> 32 != 0 && value >> 48 == 0; }

constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4

// Where it is, or has to be.
uint64_t& place_of_number(uint64_t value) {
  Numbers& all = numbers();
  uint64_t i = ((value * kOdd) >> 32) % all.size;
  while (all.inverted[i] != 0 && all.inverted[i] != ~value) i = (i + 1) % all.size;
  return all.inverted[i];
}

void make_room() {
  Numbers& all = numbers();
  if (all.count <= all.size / 4 * 3 || all.size == kMost) return;
  uint64_t* const before = all.inverted;
  const uint64_t size = all.size;
  // Where there are threads others look into the table.
  uint64_t* const more = process().has_threads ? nullptr : static_cast<uint64_t*>(ELC_new(ELC_UINT64, static_cast<size_t>(size * 4)));
  if (more == nullptr) {
    all.count = kMost;
    return;
  }
  all.inverted = more;
  all.size = size * 4;
  for (uint64_t i = 0; i < size; ++i)
    if (before[i] != 0) place_of_number(~before[i]) = before[i];
  if (before != all.first) ELC_free(before);
}

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

// A handler of the program's that comes meanwhile may have numbers, too.
void note_number(uint64_t value) {
  if (!may_look_like_address(value) || are_too_many() || !follows_memory) return;
  if constexpr (sizeof(unsigned long) == sizeof value) ELC_Program_noted[value * kOdd >> 54] = static_cast<unsigned long>(value);
  if (place_of_number(value) != 0) return;
  sigset_t every, before;
  sigfillset(&every);
  sigprocmask(SIG_BLOCK, &every, &before);
  const bool has_threads = process().has_threads;
  if (has_threads) pthread_mutex_lock(&lock);
  if (uint64_t& place = place_of_number(value); place == 0 && !are_too_many()) {
    place = ~value;
    ++numbers().count;
    make_room();
  }
  if (has_threads) pthread_mutex_unlock(&lock);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

enum Member : int { kAddress, kBytes, kUnknown = -2 };

int active_of_word(const void* word, const void*) {
  uint64_t value = 0;
  memcpy(&value, word, sizeof(uintptr_t));
  if (!may_look_like_address(value)) return kBytes;
  if (are_too_many()) return kUnknown;
  return place_of_number(value) != 0 ? kBytes : kAddress;
}

}  // namespace

bool is_word(const format::TypeTable& types, TypeId type) { return types.info(type).active == active_of_word; }

bool is_number_in_union(uintptr_t value) { return may_look_like_address(value) && process().has_words && (are_too_many() || place_of_number(value) != 0); }

// What was noted here before is noted no more.
void put_unions() { memset(ELC_Program_noted, 0, sizeof ELC_Program_noted); }

void register_unions() {
  if (!process().has_words) return;
  Numbers& n = numbers();
  const LibraryVariable all[] = {{"numbers in unions", n.first, ELC_UINT64, kFirst},
                                 {"table of numbers in unions", &n.inverted, ELC_POINTER, 1},
                                 {"size of the table of numbers in unions", &n.size, ELC_UINT64, 1},
                                 {"number of numbers in unions", &n.count, ELC_UINT64, 1}};
  register_all(all);
}

}  // namespace elc::state

extern "C" {

ELC_EXPORT unsigned long ELC_Program_noted[ELC_PROGRAM_NOTED] = {};

ELC_EXPORT ELC_Type ELC_Program_word(void) {
  elc::state::process().has_words = true;
  const ELC_Field members[] = {{"address", 0, ELC_POINTER, 1}, {"bytes", 0, ELC_BYTE, sizeof(void*)}};
  return ELC_Union("a word of a union", sizeof(void*), 2, members, elc::state::active_of_word);
}

ELC_EXPORT void ELC_Program_number_in_union(const void* number, size_t size) {
  const uintptr_t begin = reinterpret_cast<uintptr_t>(number), end = begin + size;
  for (uintptr_t at = begin & ~uintptr_t{7}; at < end; at += 8) {
    uint64_t value;
    memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
    elc::state::note_number(value);
  }
}
}
