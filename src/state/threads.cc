// Threads that a prepared program makes itself (pthread_create): they call nothing of the library but for memory and the time, and no line is
// taken while there are any.
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "base/result.h"
#include "elc_program.h"
#include "state/process.h"

namespace elc::state {

namespace {

struct Thread {
  void* (*run)(void*);
  void* given;
  pthread_t id;
  bool is_over, is_detached;
  Thread* next;
};

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_once_t once = PTHREAD_ONCE_INIT;
pthread_key_t ends;  // its destructor is called however a thread comes to its end
bool has_ends = false;
Thread* threads = nullptr;  // that may be running, or have to be joined
pthread_t first;            // that calls MPI

// As the program gives it: of some C libraries it is an integer, of others a pointer.
pthread_t thread_of(unsigned long id) {
  pthread_t thread;
  static_assert(sizeof thread == sizeof id);
  memcpy(&thread, &id, sizeof thread);
  return thread;
}

void forget(Thread** at) {
  Thread* const thread = *at;
  *at = thread->next;
  free(thread);
}

Thread** place_of(pthread_t id) {
  Thread** at = &threads;
  while (*at != nullptr && ((*at)->is_detached || pthread_equal((*at)->id, id) == 0)) at = &(*at)->next;
  return at;
}

void end(void* ended) {
  pthread_mutex_lock(&lock);
  auto* const thread = static_cast<Thread*>(ended);
  thread->is_over = true;
  Thread** at = &threads;
  while (*at != nullptr && *at != thread) at = &(*at)->next;
  if (*at != nullptr && thread->is_detached) forget(at);
  pthread_mutex_unlock(&lock);
}

void make_ends() { has_ends = pthread_key_create(&ends, end) == 0; }

void* run(void* started) {
  auto* const thread = static_cast<Thread*>(started);
  pthread_setspecific(ends, thread);
  return thread->run(thread->given);
}

}  // namespace

void note_first_thread() { first = pthread_self(); }

Result check_threads() {
  pthread_mutex_lock(&lock);
  const bool has = threads != nullptr;
  pthread_mutex_unlock(&lock);
  if (!has) return Result();
  return Result::error("a thread that the program has made (pthread_create) has not come to its end, or has not been joined: no line is taken before "
                       "that is so (pthread_join)");
}

}  // namespace elc::state

extern "C" {

ELC_EXPORT int ELC_Program_thread_create(void* id, const void* attributes, void* (*function)(void*), void* given) {
  using namespace elc::state;
  pthread_once(&once, make_ends);
  auto* const thread = static_cast<Thread*>(has_ends ? calloc(1, sizeof(Thread)) : nullptr);
  if (thread == nullptr) return EAGAIN;
  const auto* const how = static_cast<const pthread_attr_t*>(attributes);
  int state = PTHREAD_CREATE_JOINABLE;
  if (how != nullptr) pthread_attr_getdetachstate(how, &state);
  thread->run = function;
  thread->given = given;
  thread->is_detached = state == PTHREAD_CREATE_DETACHED;
  pthread_mutex_lock(&lock);  // it may be over at once
  const int code = pthread_create(&thread->id, how, run, thread);
  if (code == 0) {
    *static_cast<pthread_t*>(id) = thread->id;
    thread->next = threads;
    threads = thread;
  } else {
    free(thread);
  }
  pthread_mutex_unlock(&lock);
  return code;
}

ELC_EXPORT int ELC_Program_thread_join(unsigned long id, void** value) {
  using namespace elc::state;
  const pthread_t thread = thread_of(id);
  const int code = pthread_join(thread, value);
  pthread_mutex_lock(&lock);
  if (Thread** const at = place_of(thread); code == 0 && *at != nullptr) forget(at);
  pthread_mutex_unlock(&lock);
  return code;
}

ELC_EXPORT int ELC_Program_thread_detach(unsigned long id) {
  using namespace elc::state;
  const pthread_t thread = thread_of(id);
  pthread_mutex_lock(&lock);
  const int code = pthread_detach(thread);
  if (Thread** const at = place_of(thread); code == 0 && *at != nullptr) {
    (*at)->is_detached = true;
    if ((*at)->is_over) forget(at);
  }
  pthread_mutex_unlock(&lock);
  return code;
}

ELC_EXPORT int ELC_Program_in_thread(void) { return pthread_equal(pthread_self(), elc::state::first) == 0; }
}
