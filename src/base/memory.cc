#include "base/memory.h"

#include <stdlib.h>

#include "base/message.h"

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

}  // namespace elc
