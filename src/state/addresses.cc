// What a program computes with addresses, of which a restart has others.
#include <stdint.h>
#include <string.h>

#include <algorithm>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/library.h"
#include "state/process.h"

namespace elc::state {

namespace {

// What lies below all that the program has is a number, and so is what comes before the end of all addresses, as -1 does.
bool may_have_memory(uintptr_t address) {
  constexpr uintptr_t kNone = 4096;
  return address >= std::max<uintptr_t>(kNone, ELC_Program_lowest) && address < UINTPTR_MAX - kNone;
}

bool is_in(uintptr_t address, uintptr_t begin, uint64_t size) { return address - begin <= size; }

// Or in none. Large blocks are gone through for one that has not been seen for long.
bool are_in_one_block(uintptr_t a, uintptr_t b) {
  Process& p = process();
  const int here = 0;
  const uintptr_t stack = reinterpret_cast<uintptr_t>(&here), beside = p.executable_end - p.executable;
  constexpr uint64_t kStack = uint64_t{8} << 20;
  if ((is_in(a, stack, kStack) && is_in(b, stack, kStack)) || (a - p.executable < beside && b - p.executable < beside)) return true;
  const Alone alone;
  for (const Process::Compared& known : p.compared) {
    if (!is_in(a, known.begin, known.size) || !is_in(b, known.begin, known.size)) continue;
    const Block* const block = p.heap.find(reinterpret_cast<const void*>(known.begin));
    if (block != nullptr && block->size == known.size) return true;
  }
  const Block* const block = p.heap.holder(reinterpret_cast<const void*>(a));
  if (block != p.heap.holder(reinterpret_cast<const void*>(b))) return false;
  if (block != nullptr) p.compared[p.next_compared++ % Process::kCompared] = {reinterpret_cast<uintptr_t>(block->address), block->size};
  return true;
}

bool may_be_of_program(uintptr_t value) {
  Process& p = process();
  const Alone alone;
  if (p.places.empty()) note_places(p);
  return may_be_address(p, value) || p.heap.holder(reinterpret_cast<const void*>(value)) != nullptr;
}

}  // namespace

void register_sources() {
  const LibraryVariable all[] = {{"places where pointers became integers", ELC_Program_sources, ELC_UCHAR, ELC_PROGRAM_SOURCES}};
  register_all(all);
}

}  // namespace elc::state

using elc::state::are_in_one_block;
using elc::state::may_be_of_program;
using elc::state::may_have_memory;

extern "C" {

ELC_EXPORT unsigned long ELC_Program_lowest = 0;
ELC_EXPORT unsigned char ELC_Program_sources[ELC_PROGRAM_SOURCES] = {};

ELC_EXPORT void* ELC_Program_number_of(const volatile void* pointer, const char* what) {
  if (may_have_memory(reinterpret_cast<uintptr_t>(pointer))) ELC_Program_unfit(what);
  return const_cast<void*>(pointer);
}

ELC_EXPORT void ELC_Program_half_at(const volatile void* at, const char* what) {
  uintptr_t word;
  memcpy(&word, reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(at) & ~uintptr_t{sizeof word - 1}), sizeof word);
  if (may_have_memory(word) && elc::state::process().unfit == nullptr && may_be_of_program(word)) ELC_Program_unfit(what);
}

ELC_EXPORT long long ELC_Program_order(const volatile void* a, const volatile void* b, const char* what) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  if (first != second && may_have_memory(first) && may_have_memory(second) && elc::state::process().unfit == nullptr && !are_in_one_block(first, second))
    ELC_Program_unfit(what);
  return static_cast<long long>(first) - static_cast<long long>(second);
}
}
