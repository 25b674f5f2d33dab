// Takes the place of src/base/memory.cc: what is used after it was released, or before it was set, is seen to be
// nonsense at once, and what is not released is counted.
#include "sim/memory.h"

#include <cstdlib>
#include <cstring>

#include "base/memory.h"
#include "base/result.h"

namespace {

struct alignas(max_align_t) Header {
  size_t size;
};

constexpr int kNotSet = 0xa5, kReleased = 0xdb;
size_t count = 0, bytes = 0;
int tries = -1;  // before one finds no memory; negative: none

}  // namespace

namespace elc {

void* allocate(size_t size) { return reallocate(nullptr, 0, size); }

void* reallocate(void* old, size_t kept, size_t size) {
  Header* header = static_cast<Header*>(malloc(sizeof(Header) + size));
  if (header == nullptr) abort();
  header->size = size;
  ++count;
  bytes += size;
  memset(header + 1, kNotSet, size);
  if (old != nullptr) {
    memcpy(header + 1, old, kept < size ? kept : size);
    release(old);
  }
  return header + 1;
}

void* try_reallocate(void* old, size_t kept, size_t size) {
  if (tries >= 0 && tries-- == 0) return nullptr;
  return reallocate(old, kept, size);
}

void release(void* memory) {
  if (memory == nullptr) return;
  Header* header = static_cast<Header*>(memory) - 1;
  memset(memory, kReleased, header->size);
  --count;
  bytes -= header->size;
  free(header);
}

}  // namespace elc

namespace sim {

size_t blocks() {
  // The texts of the last errors are kept: from now on always as many.
  static const bool filled = [] {
    for (int i = 0; i < 1000; ++i) static_cast<void>(elc::Result::error("nothing"));
    return true;
  }();
  return filled ? count : 0;
}

size_t bytes_in_use() { return bytes; }

void lack_memory_after(int calls) { tries = calls; }

}  // namespace sim
