#include "base/write.h"

#include <errno.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

namespace elc {

ssize_t write_unsignalled(int fd, const void* data, size_t size) {
  sigset_t both, before, pending;
  sigemptyset(&both);
  sigaddset(&both, SIGPIPE);
  sigaddset(&both, SIGXFSZ);
  sigprocmask(SIG_BLOCK, &both, &before);
  sigpending(&pending);
  const ssize_t written = ::write(fd, data, size);
  const int error = errno;
  const int raised = written >= 0 ? 0 : error == EPIPE ? SIGPIPE : error == EFBIG ? SIGXFSZ : 0;
  if (raised != 0 && sigismember(&pending, raised) == 0) {  // one that was there before is the program's
    sigset_t own;
    sigemptyset(&own);
    sigaddset(&own, raised);
    const struct timespec at_once = {0, 0};
    while (sigtimedwait(&own, nullptr, &at_once) < 0 && errno == EINTR) {}
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

}  // namespace elc
