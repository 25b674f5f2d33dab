#include "state/asked.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>

#include "state/process.h"

namespace elc::state {
namespace {

// Whether two of some blocks of a size that such a malloc has a class for touch each other. (That of the GNU C library keeps
// its own numbers between them.)
bool puts_side_by_side() {
  constexpr size_t kBlocks = 256, kSize = 64;
  void* blocks[kBlocks];
  bool touch = false;
  for (void*& block : blocks) block = malloc(kSize);
  for (const void* a : blocks)
    for (const void* b : blocks) touch |= a != nullptr && reinterpret_cast<uintptr_t>(a) + kSize == reinterpret_cast<uintptr_t>(b);
  for (void* block : blocks) free(block);
  return touch;
}

size_t alignment_of_all = 0, alignment_of_large = SIZE_MAX;

}  // namespace

Asking asking = {};

// Where all blocks are aligned, by posix_memalign, it stays unknown; of large ones, too.
void ask_otherwise() { asking = {}; }

// As much as the GNU C library gives for it in any case, if the program is prepared: so it is known what is there, and 0.
static Asking asking_of(const Process& p) {
  constexpr size_t kUnknown = SIZE_MAX, kUnit = 16, kBetween = sizeof(size_t);
  static size_t gap = kUnknown;
  if (gap == kUnknown) gap = puts_side_by_side() ? 1 : 0;
  if (!p.is_prepared) return {SIZE_MAX / 2, p.apart + gap, SIZE_MAX, 0};
  return {SIZE_MAX / 2, p.apart + gap + kBetween + kUnit - 1, ~(kUnit - 1), kBetween};
}

size_t asked_for(size_t size) {
  const Asking here = asking_of(process());
  if (alignment_of_all == 0) asking = here, asking.most = std::min(asking.most, alignment_of_large - 1);
  if (size == 0) size = 1;
  return size - 1 >= here.most ? SIZE_MAX : ((size + here.more) & here.mask) - here.less;
}

bool is_written_behind(const Block& block) {
  const auto size = static_cast<size_t>(block.size);
  const size_t end = asked_for(size - (block.has_word ? sizeof(uintptr_t) : 0));
  for (size_t at = size; at < end; ++at)
    if (block.address[at] != 0) return true;
  return false;
}

static void clear_behind(void* block, size_t size) {
  if (block != nullptr && process().is_prepared) memset(static_cast<uint8_t*>(block) + size, 0, asked_for(size) - size);
}

void* zeroed(size_t count, size_t size) {
  constexpr size_t kHalf = size_t{1} << (4 * sizeof(size_t));  // a product of less needs no division
  if ((count >= kHalf || size >= kHalf) && size != 0 && count > SIZE_MAX / size) {
    errno = ENOMEM;
    return nullptr;
  }
  // glibc's calloc seldom gives what has just been freed, as malloc does at once: a pointer that a program has left to that leads
  // nowhere, and not to, or before, other memory, of which a line could not have it.
  const size_t alignment = aligned_for(0, count * size);
  return alignment == 0 ? calloc(1, asked_for(count * size)) : zeroed_at(alignment, count * size);
}

void* zeroed_at(size_t alignment, size_t size) {
  void* memory = nullptr;
  if (const int code = posix_memalign(&memory, alignment, asked_for(size)); code != 0) {
    errno = code;
    return nullptr;
  }
  clear_behind(memory, size);
  return memset(memory, 0, size);
}

void* reallocated(void* old, size_t size) {
  void* const memory = realloc(old, asked_for(size));
  clear_behind(memory, size);
  return memory;
}

void* resized(void* old, size_t before, size_t size) {
  if (aligned_for(0, size) == 0) return reallocated(old, size);
  void* const memory = zeroed(1, size);
  if (memory == nullptr) return nullptr;
  memcpy(memory, old, std::min(before, size));
  free(old);
  return memory;
}

void align_all(size_t alignment, size_t large) {
  alignment_of_all = alignment;
  alignment_of_large = large == 0 ? SIZE_MAX : large;
  ask_otherwise();
}

size_t aligned_for(size_t alignment, size_t size) {
  return std::max({alignment, alignment_of_all, size >= alignment_of_large ? alignment_of_large : 0});
}

}  // namespace elc::state
