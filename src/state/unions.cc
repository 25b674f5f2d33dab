// What a union of pointers and numbers has: nothing in it says so. A program that a tool has prepared notes the numbers it puts there
// that may be taken for addresses; a line then believes an address that leads somewhere and is none of these.
#include <stdint.h>
#include <string.h>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/blocks.h"
#include "state/library.h"
#include "state/process.h"

namespace elc::state {
namespace {

// As many as a program notes, by their values: copies of a union take them elsewhere. They are of all of the program's runs, as those have
// other addresses each. Kept as what is no address, or a line would take them for some.
constexpr size_t kNumbers = 8192;  // a power of two
struct Numbers {
  uint64_t inverted[kNumbers];  // 0: none
  int count;                    // of more than three quarters of them: nothing is believed
};

Numbers& numbers() {
  static Numbers all;
  return all;
}

bool are_too_many() { return numbers().count > static_cast<int>(kNumbers / 4 * 3); }

// What the program notes, which is the same in all runs: where addresses have 32 bits, or an executable lies where it was linked to, a number
// is too often one.
bool may_look_like_address(uint64_t value) { return value >> 32 != 0 && value >> 48 == 0; }

// Where it is, or has to be.
uint64_t& place_of_number(uint64_t value) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15;  // Fibonacci hashing: Knuth, The Art of Computer Programming 3, 6.4
  size_t i = static_cast<size_t>((value * kOdd) >> 40) % kNumbers;
  while (numbers().inverted[i] != 0 && numbers().inverted[i] != ~value) i = (i + 1) % kNumbers;
  return numbers().inverted[i];
}

enum Member { kAddress, kBytes };

int active_of_word(const void* word, const void*) {
  const Process& p = process();
  uintptr_t value;
  memcpy(&value, word, sizeof value);
  if (!may_look_like_address(value) || are_too_many() || place_of_number(value) != 0 || p.blocks == nullptr) return kBytes;
  format::PointerLeaf beside;
  const bool leads = p.moved.find(value) != nullptr || p.blocks->encode(reinterpret_cast<const void*>(value)).block != format::kWildBlock || leads_beside_memory(p, value, &beside);
  // To what lines do not have, which is refused as for any pointer; and not to memory that was freed.
  return leads || value - p.executable < p.executable_end - p.executable || !check_libraries(process(), value).ok() ? kAddress : kBytes;
}

}  // namespace

bool is_word(const format::TypeTable& types, TypeId type) { return types.info(type).active == active_of_word; }

void register_unions() {
  if (!process().has_words) return;
  const LibraryVariable all[] = {{"numbers in unions", numbers().inverted, ELC_UINT64, kNumbers}, {"number of numbers in unions", &numbers().count, ELC_INT, 1}};
  register_all(all);
}

}  // namespace elc::state

extern "C" {

ELC_EXPORT ELC_Type ELC_Program_word(void) {
  elc::state::process().has_words = true;
  const ELC_Field members[] = {{"address", 0, ELC_POINTER, 1}, {"bytes", 0, ELC_BYTE, sizeof(void*)}};
  return ELC_Union("a word of a union", sizeof(void*), 2, members, elc::state::active_of_word);
}

ELC_EXPORT void ELC_Program_number_in_union(const void* number, size_t size) {
  using elc::state::numbers;
  const elc::state::Alone alone;
  const uintptr_t begin = reinterpret_cast<uintptr_t>(number), end = begin + size;
  for (uintptr_t at = begin & ~uintptr_t{7}; at < end; at += 8) {
    uint64_t value;
    memcpy(&value, reinterpret_cast<const void*>(at), sizeof value);
    if (!elc::state::may_look_like_address(value) || elc::state::are_too_many()) continue;
    uint64_t& place = elc::state::place_of_number(value);
    if (place == 0) ++numbers().count;
    place = ~value;
  }
}
}
