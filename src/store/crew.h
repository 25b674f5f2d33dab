// Some threads that do the same, of the library's own: they call no MPI, allocate nothing and hear no signals.
#ifndef ELC_STORE_CREW_H
#define ELC_STORE_CREW_H

#include <pthread.h>
#include <stddef.h>

namespace elc::store {

class Crew {
 public:
  static constexpr unsigned kMost = 16;
  // Bytes that each takes in a copy of the process.
  static constexpr size_t kStack = size_t{256} << 10;

  Crew() = default;
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls work(context, i) on each of up to `wanted` threads. How many there are: none, where the system has no more.
  unsigned start(unsigned wanted, void (*work)(void* context, unsigned i), void* context);
  // The same in a copy of the process (copy.h), where locks of the C library may be held for ever: by the system alone,
  // on stacks of allocate(). These end with the copy, and nobody waits for them.
  unsigned start_in_copy(unsigned wanted, void (*work)(void* context, unsigned i), void* context);
  // Until all that start() has begun have come back.
  void wait();

 private:
  struct Member {
    Crew* crew = nullptr;
    unsigned number = 0;
    pthread_t thread = {};
  };
  static void run(void* member);

  void (*work_)(void* context, unsigned i) = nullptr;
  void* context_ = nullptr;
  Member members_[kMost];
  unsigned waited_for_ = 0;
};

}  // namespace elc::store

#endif
