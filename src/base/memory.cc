#include "base/memory.h"

#include <stdlib.h>

#include "base/message.h"
#include "base/vector.h"

namespace elc {

void* allocate(size_t size) { return reallocate(nullptr, size); }

void* reallocate(void* old, size_t size) {
  void* memory = realloc(old, size == 0 ? 1 : size);
  if (memory == nullptr) {
    say("out of memory: %zu bytes for a table of the library; the program cannot go on", size);
    abort();
  }
  return memory;
}

void release(void* memory) { free(memory); }

namespace detail {

void* resize_array(void* data, size_t* capacity, size_t wanted, size_t size) {
  *capacity = wanted;
  return reallocate(data, wanted * size);
}

void* grow_array(void* data, size_t* capacity, size_t least, size_t size) {
  const size_t twice = *capacity * 2;
  return resize_array(data, capacity, twice > least ? twice : least, size);
}

}  // namespace detail

}  // namespace elc
