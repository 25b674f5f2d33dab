#include "base/together.h"

#include <signal.h>

namespace elc {

bool Pieces::take(size_t* piece) {
  pthread_mutex_lock(&lock_);
  const bool left = next_ < count_;
  if (left) *piece = next_++;
  pthread_mutex_unlock(&lock_);
  return left;
}

void Pieces::stop() {
  pthread_mutex_lock(&lock_);
  count_ = next_;
  pthread_mutex_unlock(&lock_);
}

#if ELC_HAVE_THREADS

namespace {

// For what the library calls there; memory that is not touched costs nothing.
constexpr size_t kStack = size_t{1} << 20;

struct Helper {
  void (*work)(void* context, unsigned n);
  void* context;
  unsigned n;
  pthread_t thread;
};

void* help(void* self) {
  const Helper& helper = *static_cast<const Helper*>(self);
  helper.work(helper.context, helper.n);
  return nullptr;
}

}  // namespace

void together(unsigned threads, void (*work)(void* context, unsigned n), void* context) {
  Helper helpers[kMostTogether];
  unsigned started = 1;
  pthread_attr_t attributes;
  if (threads > 1 && pthread_attr_init(&attributes) == 0) {
    pthread_attr_setstacksize(&attributes, kStack);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; started < threads && started < kMostTogether; ++started) {
      Helper& helper = helpers[started];
      helper.work = work;
      helper.context = context;
      helper.n = started;
      if (pthread_create(&helper.thread, &attributes, help, &helper) != 0) break;
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    pthread_attr_destroy(&attributes);
  }
  work(context, 0);
  while (--started > 0) pthread_join(helpers[started].thread, nullptr);
}

#else

void together(unsigned, void (*work)(void* context, unsigned n), void* context) { work(context, 0); }

#endif

}  // namespace elc
