#include "store/beside.h"

#include <signal.h>

namespace elc::store {

void* Beside::run(void* self) {
  Beside& beside = *static_cast<Beside*>(self);
  beside.work_(beside.context_);
  beside.set_running(false);
  return nullptr;
}

void Beside::set_running(bool running) {
  pthread_mutex_lock(&lock_);
  running_ = running;
  pthread_mutex_unlock(&lock_);
}

bool Beside::running() {
  pthread_mutex_lock(&lock_);
  const bool running = running_;
  pthread_mutex_unlock(&lock_);
  return running;
}

void Beside::start(void (*work)(void* context), void* context) {
  wait();
  work_ = work;
  context_ = context;
#if ELC_HAVE_THREADS
  set_running(true);
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  started_ = pthread_create(&thread_, nullptr, run, this) == 0;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#endif
  if (!started_) run(this);
}

void Beside::wait() {
#if ELC_HAVE_THREADS
  if (started_) pthread_join(thread_, nullptr);
#endif
  started_ = false;
}

}  // namespace elc::store
