// Memory of the library itself. No operator new: it would need libstdc++ at link time.
//
// There are two ways to get it, and who asks has to know which is his:
//
// - allocate, for what is small whatever the program's data: tables that follow the number of its variables, requests,
//   communicators and classes of messages, names, messages to people. It always returns. Where the system has none left, it
//   takes of a reserve, and memory is short from then on: an open line is abandoned and new ones are refused, so that nothing
//   more is kept for a line, until there is enough of the reserve again.
// - try_allocate, for what is as large as the program's data: contents of messages, copies of sends, tables that follow the
//   blocks of its heap, sections of a line's file. It never touches the reserve. Who asks abandons the line, or refuses the
//   restart, or tells the program (as ELC_malloc does) when it fails.
//
// What cannot be handled: a system that promises more than it has and kills a process that uses it (the out-of-memory
// killer of Linux). There malloc never fails, and the line that has committed last is what remains.
#ifndef ELC_BASE_MEMORY_H
#define ELC_BASE_MEMORY_H

#include <stddef.h>

#include <new>
#include <utility>

namespace elc {

// They do not return without memory: a process whose reserve is used up cannot keep its promises, so it says so and aborts
// (the last committed line stays). Sizes read from a file never come here unchecked.
void* allocate(size_t size);
// Of what is at `old`, `kept` bytes are wanted.
void* reallocate(void* old, size_t kept, size_t size);

// nullptr: there is none, and `old` is as it was.
void* try_reallocate(void* old, size_t kept, size_t size);
inline void* try_allocate(size_t size) { return try_reallocate(nullptr, 0, size); }
// The same, of bytes that are 0; what is never touched of a large one takes no memory on most systems.
void* try_allocate_zeroed(size_t size);

// Says that there is no memory for `what`, of `size` bytes, without which the program cannot go on, and aborts.
[[noreturn]] void out_of_memory(size_t size, const char* what);

// The reserve: a megabyte in pieces, of which a shortage takes one after the other, so that the program does not get all of
// it at once. Its pages are not touched: what it keeps is a share of what a process may have (RLIMIT_AS, a system that does
// not overcommit). A process that takes lines sets it aside when it starts.
//
// Sets aside what is missing of it. true: there is enough of it, three quarters, and memory is not short any more. Not all:
// what tables have taken of it for good does not come back where the system has no memory but what is let go of.
bool set_reserve_aside();
// The reserve has been needed, and there has not been enough of it since.
bool memory_is_short();

// One object on the heap: make<T>(...) and destroy(p). destroy(nullptr) does nothing.
template <class T, class... Arguments>
T* make(Arguments&&... arguments) {
  return new (allocate(sizeof(T))) T{std::forward<Arguments>(arguments)...};
}

void release(void* memory);

// For a copy of a process (store/copy.h), in which a thread that is not there may hold the C library's lock: all memory
// comes from this block from now on, and none goes back.
void live_on(void* block, size_t size);

template <class T>
void destroy(T* object) {
  if (object == nullptr) return;
  object->~T();
  release(object);
}

}  // namespace elc

#endif
