#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "base/message.h"

namespace elc {
namespace {

// Small pieces: a table that needs a few bytes takes little of what may not come back.
constexpr size_t kPieces = 64, kPieceSize = 16 * 1024, kEnough = 48;

// Threads may run short at the same time: one is in a call of MPI, another one in ELC_malloc.
class Locked {
 public:
  Locked() { pthread_mutex_lock(&lock_); }
  ~Locked() { pthread_mutex_unlock(&lock_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  static pthread_mutex_t lock_;
};
pthread_mutex_t Locked::lock_ = PTHREAD_MUTEX_INITIALIZER;

void* reserve[kPieces];
volatile sig_atomic_t is_short = 0;  // asked without the lock

// false: nothing is left of it.
bool give_up_a_piece() {
  const Locked locked;
  for (void*& piece : reserve) {
    if (piece == nullptr) continue;
    is_short = 1;
    release(std::exchange(piece, nullptr));
    return true;
  }
  return false;
}

}  // namespace

void* allocate(size_t size) { return reallocate(nullptr, size); }

void* reallocate(void* old, size_t size) {
  for (;;) {
    if (void* memory = try_reallocate(old, size)) [[likely]] return memory;
    if (!give_up_a_piece()) out_of_memory(size, "a table of the library");
  }
}

void* try_reallocate(void* old, size_t size) { return realloc(old, size == 0 ? 1 : size); }

void out_of_memory(size_t size, const char* what) {
  say("out of memory: %zu bytes for %s; the program cannot go on", size, what);
  abort();
}

bool set_reserve_aside() {
  const Locked locked;
  size_t there = 0;
  for (void*& piece : reserve) {
    if (piece == nullptr) piece = try_allocate(kPieceSize);
    if (piece != nullptr) there++;
  }
  if (there < kEnough) return false;
  is_short = 0;
  return true;
}

bool memory_is_short() { return is_short != 0; }

void release(void* memory) { free(memory); }

}  // namespace elc
