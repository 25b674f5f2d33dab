// What the C library is asked for where the program wants a block.
#ifndef ELC_STATE_ASKED_H
#define ELC_STATE_ASKED_H

#include <stddef.h>

namespace elc::state {

// Bytes of memory for a block of `size`: at least one, so that each block has an address of its own, and one more than the
// block has where the C library, or what has taken the place of its malloc, puts blocks right behind each other, so that one
// past the end of a block is not the beginning of another. SIZE_MAX, which no memory has, where that is no number.
size_t asked_for(size_t size);

// That memory for `count` elements of `size`, zeroed. nullptr, with errno, as calloc has it.
void* zeroed(size_t count, size_t size);

}  // namespace elc::state

#endif
