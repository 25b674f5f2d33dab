// Memory of the library itself. No operator new: it would need libstdc++ at link time.
#ifndef ELC_BASE_MEMORY_H
#define ELC_BASE_MEMORY_H

#include <stddef.h>

#include <new>
#include <utility>

namespace elc {

// malloc and realloc for the library's small tables. They do not return without memory: a
// process that has none left for a table cannot keep its promises, so it says so and aborts
// (the last committed line stays). Sizes read from a file never come here unchecked.
void* allocate(size_t size);
void* reallocate(void* old, size_t size);

// One object on the heap: make<T>(...) and destroy(p). destroy(nullptr) does nothing.
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  return new (allocate(sizeof(T))) T{std::forward<Arguments>(arguments)...};
}

void release(void* memory);

template <class T>
void destroy(T* object) {
  if (object == nullptr) return;
  object->~T();
  release(object);
}

}  // namespace elc

#endif
