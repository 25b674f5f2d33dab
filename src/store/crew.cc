#include "store/crew.h"

#include <signal.h>

#include "base/memory.h"
#include "store/system.h"

namespace elc::store {

void Crew::run(void* member) {
  const Member& m = *static_cast<Member*>(member);
  m.crew->work_(m.crew->context_, m.number);
}

unsigned Crew::start(unsigned wanted, void (*work)(void* context, unsigned i), void* context) {
  work_ = work;
  context_ = context;
#if ELC_HAVE_THREADS
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  while (waited_for_ < wanted && waited_for_ < kMost) {
    Member& m = members_[waited_for_];
    m.crew = this;
    m.number = waited_for_;
    const auto begin = [](void* member) -> void* {
      run(member);
      return nullptr;
    };
    if (pthread_create(&m.thread, nullptr, begin, &m) != 0) break;
    ++waited_for_;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
#else
  static_cast<void>(wanted);
#endif
  return waited_for_;
}

unsigned Crew::start_in_copy(unsigned wanted, void (*work)(void* context, unsigned i), void* context) {
  work_ = work;
  context_ = context;
  for (unsigned i = 0; i < wanted && i < kMost; ++i) {
    members_[i].crew = this;
    members_[i].number = i;
    void* const stack = try_allocate(kStack);
    if (stack == nullptr || !start_bare_thread(run, &members_[i], stack, kStack)) return i;
  }
  return wanted < kMost ? wanted : kMost;
}

void Crew::wait() {
#if ELC_HAVE_THREADS
  for (; waited_for_ > 0; --waited_for_) pthread_join(members_[waited_for_ - 1].thread, nullptr);
#endif
}

}  // namespace elc::store
