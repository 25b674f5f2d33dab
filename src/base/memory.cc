#include "base/memory.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

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

// Of live_on: where the next piece begins, and where the block ends.
uint8_t* own_at = nullptr;
uint8_t* own_end = nullptr;

void* of_own(void* old, size_t kept, size_t size) {
  constexpr size_t kAligned = alignof(max_align_t);
  const size_t room = static_cast<size_t>(own_end - own_at);
  if (size > room || room - size < kAligned) return nullptr;
  uint8_t* const piece = own_at;
  own_at += (size + kAligned - 1) / kAligned * kAligned;
  if (old != nullptr) memcpy(piece, old, kept < size ? kept : size);
  return piece;
}

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

void* allocate(size_t size) { return reallocate(nullptr, 0, size); }

void* reallocate(void* old, size_t kept, size_t size) {
  for (;;) {
    if (void* memory = try_reallocate(old, kept, size)) [[likely]] return memory;
    // In a copy the lock of the reserve may be held for ever.
    if (own_at != nullptr || !give_up_a_piece()) out_of_memory(size, "a table of the library");
  }
}

void* try_reallocate(void* old, size_t kept, size_t size) {
  if (own_at != nullptr) [[unlikely]] return of_own(old, kept, size == 0 ? 1 : size);
  return realloc(old, size == 0 ? 1 : size);
}

void* try_allocate_zeroed(size_t size) {
  if (own_at == nullptr) [[likely]] return calloc(1, size);
  void* memory = of_own(nullptr, 0, size);
  return memory == nullptr ? nullptr : memset(memory, 0, size);
}

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

void release(void* memory) {
  if (own_at == nullptr) free(memory);
}

void live_on(void* block, size_t size) {
  own_at = static_cast<uint8_t*>(block);
  own_end = own_at + size;
}

}  // namespace elc
