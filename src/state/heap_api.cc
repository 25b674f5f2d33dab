// malloc and friends: libc's blocks, entered in the table.
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "elc.h"
#include "state/asked.h"
#include "state/process.h"

using elc::Result;
using elc::state::zeroed;
using elc::state::Block;
using elc::state::outcome;
using elc::state::Process;
using elc::state::process;

namespace {

// A new block, of the function `get`: without memory for its entry it is not made.
template <class F>
void* enter(F get, size_t size, ELC_Type type) {
  if (!elc::state::follows_memory) return get();
  elc::state::Heap& heap = process().heap;
  void* memory = heap.make_room() ? get() : nullptr;
  if (memory != nullptr) heap.add(memory, size, type);
  return memory;
}

void* resize(Block* block, size_t size) {
  elc::state::Heap& heap = process().heap;
  const ptrdiff_t slot = block - heap.slots().data();
  if (!heap.make_room()) return nullptr;
  block = heap.slots().data() + slot;  // the room may be elsewhere
  void* const before = block->address;
  void* memory = elc::state::resized(before, static_cast<size_t>(block->size), size);
  if (memory != nullptr && memory != before && process().is_prepared) process().gone.note(before);
  if (memory != nullptr) heap.moved(block, memory, size);
  return memory;
}

}  // namespace

extern "C" {

ELC_EXPORT void* ELC_malloc(size_t size) {
  return enter([&] { return elc::state::reallocated(nullptr, size); }, size, ELC_BYTE);
}

ELC_EXPORT void* ELC_calloc(size_t count, size_t size) {
  return enter([&] { return zeroed(count, size); }, count * size, ELC_BYTE);
}

// A block that the table does not know becomes known.
ELC_EXPORT void* ELC_realloc(void* old, size_t size) {
  Block* block = old == nullptr ? nullptr : process().heap.find(old);
  if (block == nullptr) return enter([&] { return elc::state::reallocated(old, size); }, size, ELC_BYTE);
  return resize(block, size);
}

ELC_EXPORT void ELC_free(void* memory) {
  if (memory == nullptr) return;
  process().heap.remove(memory);
  if (process().is_prepared) process().gone.note(memory);
  free(memory);
}

ELC_EXPORT void* ELC_new(ELC_Type type, size_t count) {
  const size_t element = static_cast<size_t>(process().types.size_of(type));
  if (element == 0) {
    outcome(Result::error("ELC_new: there is no type %d; types come from ELC_Struct and ELC_Union", type));
    return nullptr;
  }
  return enter([&] { return zeroed(count, element); }, count * element, type);
}

ELC_EXPORT void* ELC_resize(void* old, size_t count) {
  Block* block = old == nullptr ? nullptr : process().heap.find(old);
  if (block == nullptr) {
    outcome(Result::error("ELC_resize: the block is not one of ELC_new or ELC_malloc"));
    return nullptr;
  }
  const size_t element = block->guessed ? 1 : static_cast<size_t>(process().types.size_of(block->type));
  const size_t before = static_cast<size_t>(block->size);
  if (count > PTRDIFF_MAX / element) return nullptr;
  uint8_t* memory = static_cast<uint8_t*>(resize(block, count * element));
  if (memory != nullptr && count * element > before) memset(memory + before, 0, count * element - before);
  return memory;
}

ELC_EXPORT int ELC_Set_type(void* memory, ELC_Type type) {
  Block* block = memory == nullptr ? nullptr : process().heap.find(memory);
  if (block == nullptr) return outcome(Result::error("ELC_Set_type: the block is not one of ELC_malloc"));
  const size_t element = static_cast<size_t>(process().types.size_of(type));
  if (element == 0)
    return outcome(
        Result::error("ELC_Set_type: there is no type %d; types come from ELC_Struct and ELC_Union", type));
  if (block->size > 0 && block->size < element)
    return outcome(
        Result::error("ELC_Set_type: the block of %llu bytes does not hold an element of %zu bytes",
                      static_cast<unsigned long long>(block->size), element));
  block->type = type;
  block->guessed = false;
  return ELC_OK;
}
}
