// One task in several threads.
#ifndef ELC_BASE_TOGETHER_H
#define ELC_BASE_TOGETHER_H

namespace elc {

constexpr unsigned kMostTogether = 64;

// Calls work(context, n) with n from 0 to `threads` - 1, at most kMostTogether, all at a time: the first in this thread, the
// others in threads of the library's own, which call no MPI, hear no signals and have ended when this returns. Where the
// system starts no more of them the calls are fewer, so each does what there still is to do of the task.
void together(unsigned threads, void (*work)(void* context, unsigned n), void* context);

}  // namespace elc

#endif
