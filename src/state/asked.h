// What the C library is asked for where the program wants a block.
#ifndef ELC_STATE_ASKED_H
#define ELC_STATE_ASKED_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/compiler.h"

namespace elc::state {

struct Block;

// Bytes of memory for a block of `size`: at least one, so that each block has an address of its own, and one more than the
// block has where the C library, or what has taken the place of its malloc, puts blocks right behind each other, so that one
// past the end of a block is not the beginning of another. SIZE_MAX, which no memory has, where that is no number.
size_t asked_for(size_t size);

// asked_for() of sizes from 1 to `most`, which is 0 until it is known: the rest is for few instructions.
struct Asking {
  size_t most, more, mask, less;
};
extern Asking asking;
// What it depends on has changed: Process::apart, is_prepared.
void ask_otherwise();

// Whether the program has written to what is behind a block, which it may find there without harm: of a prepared program's,
// where that is 0 at first.
bool is_written_behind(const Block& block);

// All blocks from now on begin at a multiple of so many bytes: of a program that finds places in a block by its address, and has to find
// them again in a restart.
// 0: at what malloc does. Of at least `large` bytes: at a multiple of that, if it is not 0.
void align_all(size_t alignment, size_t large);

// `alignment`, or that of all of this size.
size_t aligned_for(size_t alignment, size_t size);

// That memory for `count` elements of `size`, zeroed. nullptr, with errno, as calloc has it.
void* zeroed(size_t count, size_t size);
ELC_INLINE void* zeroed(size_t size) {
  if (size - 1 >= asking.most) [[unlikely]] return zeroed(1, size);
  return calloc(1, ((size + asking.more) & asking.mask) - asking.less);
}

// The same, at a multiple of `alignment`.
void* zeroed_at(size_t alignment, size_t size);

// What realloc does.
void* reallocated(void* old, size_t size);

// The same of a block of `before` bytes, which is aligned as all are.
void* resized(void* old, size_t before, size_t size);

}  // namespace elc::state

#endif
