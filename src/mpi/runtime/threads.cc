#include "mpi/runtime/threads.h"

#include "base/attention.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

// How often this thread has taken the lock: a callback of the program in MPI (the delete function of an attribute, an
// error handler) may call MPI again. Its address names the thread.
constinit thread_local unsigned held = 0;

}  // namespace

constinit thread_local unsigned Entered::depth = 0;

void expect_threads() {
#if ELC_HAVE_INIT_THREAD
  int provided = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&provided);
  runtime.threads.several = provided >= MPI_THREAD_SERIALIZED;
  attend(kThreads, runtime.threads.several);
#endif
}

void Entered::enter() {
  if (held++ == 0) pthread_mutex_lock(&runtime.threads.lock);
  if (depth == 1) ++runtime.threads.inside;
  if (!runtime.coordinator->recording()) return;
  Threads& t = runtime.threads;
  if (t.first == nullptr) t.first = &held;
  t.mixed = t.mixed || t.first != &held;
}

void Entered::leave() {
  if (depth == 1) --runtime.threads.inside;
  if (--held == 0) pthread_mutex_unlock(&runtime.threads.lock);
}

void enter_call(const char* call) { Entered::begin(call); }

void leave_call() { Entered::end(); }

Released::Released() {
  if (!runtime.threads.several || held == 0) return;
  depth_ = held;
  held = 0;
  pthread_mutex_unlock(&runtime.threads.lock);
}

Released::~Released() {
  if (depth_ == 0) return;
  pthread_mutex_lock(&runtime.threads.lock);
  held = depth_;
}

bool alone() { return runtime.threads.inside <= (Entered::depth > 0 ? 1u : 0u); }

void watch_threads() {
  runtime.threads.first = nullptr;
  runtime.threads.mixed = false;
}

}  // namespace elc::mpi
