// One task in several threads.
#ifndef ELC_BASE_TOGETHER_H
#define ELC_BASE_TOGETHER_H

#include <pthread.h>
#include <stddef.h>

namespace elc {

constexpr unsigned kMostTogether = 64;

// Calls work(context, n) with n from 0 to `threads` - 1, at most kMostTogether, all at a time: the first in this thread, the
// others in threads of the library's own, which call no MPI, hear no signals and have ended when this returns. Where the
// system starts no more of them the calls are fewer, so each does what there still is to do of the task.
void together(unsigned threads, void (*work)(void* context, unsigned n), void* context);

// The pieces of a task, 0 to `count` - 1, for whichever thread asks next.
class Pieces {
 public:
  explicit Pieces(size_t count) : count_(count) {}
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;

  // false: none is left. Whoever has taken one does it, also after stop(): so of pieces that fail the first is among those
  // that were done.
  bool take(size_t* piece);
  void stop();  // no more are given out

 private:
  pthread_mutex_t lock_ = PTHREAD_MUTEX_INITIALIZER;  // for what follows
  size_t next_ = 0;
  size_t count_;
};

}  // namespace elc

#endif
