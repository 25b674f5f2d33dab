#include "store/beside.h"

#include <signal.h>

namespace elc::store {

void* Beside::run(void* self) {
  Beside& beside = *static_cast<Beside*>(self);
  beside.work_(beside.context_);
  beside.running_.store(false, std::memory_order_release);
  return nullptr;
}

void Beside::start(void (*work)(void* context), void* context) {
  wait();
  work_ = work;
  context_ = context;
#if ELC_HAVE_THREADS
  running_ = true;
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
