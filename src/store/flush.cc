// The system calls of the store, and the one thing of them that not every system has: fsync in the
// background, by the asynchronous I/O of POSIX. Without it a flush waits where its result is asked for.
#include <aio.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/system.h"

// Before version 2.34 of the GNU C library these are in a library of their own, which a program need not link.
#pragma weak aio_fsync
#pragma weak aio_error
#pragma weak aio_return
#pragma weak aio_suspend

namespace elc::store {
namespace {

struct aiocb request;
bool requested = false;

int real_open(const char* path, int flags, mode_t mode) { return ::open(path, flags, mode); }

void start_flush(int fd) {
  if (aio_fsync == nullptr) return;
  memset(&request, 0, sizeof request);
  request.aio_fildes = fd;
  request.aio_sigevent.sigev_notify = SIGEV_NONE;
  requested = aio_fsync(O_SYNC, &request) == 0;
}

bool flushing() { return requested && aio_error(&request) == EINPROGRESS; }

int end_flush(int fd) {
  if (!requested) return ::fsync(fd);
  requested = false;
  const struct aiocb* const list[] = {&request};
  while (aio_error(&request) == EINPROGRESS) aio_suspend(list, 1, nullptr);
  const int error = aio_error(&request);
  if (aio_return(&request) == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace

const System kRealSystem = {real_open, ::write, ::fsync, start_flush, flushing, end_flush,
                            ::close,   ::rename, ::unlink, ::mkdir,   ::rmdir};
System system_calls = kRealSystem;

}  // namespace elc::store
