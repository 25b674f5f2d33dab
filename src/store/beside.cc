#include "store/beside.h"

#include <signal.h>

namespace elc::store {

bool Beside::possible() { return ELC_HAVE_THREADS; }

void* Beside::run(void* self) {
  Beside& beside = *static_cast<Beside*>(self);
  beside.work_(beside.context_);
  beside.set(&beside.running_, false);
  return nullptr;
}

void Beside::set(bool* flag, bool value) {
  pthread_mutex_lock(&lock_);
  *flag = value;
  pthread_mutex_unlock(&lock_);
}

bool Beside::is(const bool& flag) {
  pthread_mutex_lock(&lock_);
  const bool value = flag;
  pthread_mutex_unlock(&lock_);
  return value;
}

void Beside::start(void (*work)(void* context), void* context) {
  wait();
  work_ = work;
  context_ = context;
  set(&given_up_, false);
#if ELC_HAVE_THREADS
  set(&running_, true);
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
