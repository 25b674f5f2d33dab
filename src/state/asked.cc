#include "state/asked.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

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

}  // namespace

size_t asked_for(size_t size) {
  static signed char gap = -1;
  if (gap < 0) gap = puts_side_by_side() ? 1 : 0;
  if (size == 0) return 1;
  return size == SIZE_MAX ? size : size + static_cast<size_t>(gap);
}

void* zeroed(size_t count, size_t size) {
  constexpr size_t kHalf = size_t{1} << (4 * sizeof(size_t));  // a product of less needs no division
  if ((count >= kHalf || size >= kHalf) && size != 0 && count > SIZE_MAX / size) {
    errno = ENOMEM;
    return nullptr;
  }
  return calloc(1, asked_for(count * size));
}

}  // namespace elc::state
