// The system calls of the store, and the one thing in the library that not every system has: fsync in the
// background, by the asynchronous I/O of POSIX. ELC_HAVE_AIO (1 or 0) says whether a program gets it without a
// further library, as the build has found out.
#include "store/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/write.h"

#if ELC_HAVE_AIO
#include <aio.h>
#endif

namespace elc::store {
namespace {

static_assert(sizeof(off_t) >= 8, "files of more than 2 GiB: compile with -D_FILE_OFFSET_BITS=64, as meson does");

int real_open(int dir, const char* name, int flags, mode_t mode) { return above_standard(::openat(dir, name, flags, mode)); }
int status(int dir, const char* name, struct stat* about) { return ::fstatat(dir, name, about, AT_SYMLINK_NOFOLLOW); }
int file_status(int fd, struct stat* about) { return ::fstat(fd, about); }
int real_rename(int dir, const char* from, const char* to) { return ::renameat(dir, from, dir, to); }
int real_unlink(int dir, const char* name) { return ::unlinkat(dir, name, 0); }
int real_rmdir(int dir, const char* name) { return ::unlinkat(dir, name, AT_REMOVEDIR); }

// By a descriptor of its own, which goes with the list.
DIR* open_list(int dir) {
  const int fd = real_open(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  DIR* list = ::fdopendir(fd);
  if (list == nullptr) ::close(fd);
  return list;
}

struct dirent* next(DIR* list) {
  errno = 0;
  return ::readdir(list);
}

#if ELC_HAVE_AIO

aiocb request;
bool requested = false;

void start_flush(int fd) {
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

#else  // all of it where its result is asked for

void start_flush(int) {}
bool flushing() { return false; }
int end_flush(int fd) { return ::fsync(fd); }

#endif

}  // namespace

const System kRealSystem = {real_open,   status,  file_status, ::read,      write_unsignalled, ::fsync,
                            start_flush, flushing, end_flush,  ::close,     real_rename, real_unlink,
                            ::mkdirat,   real_rmdir, open_list, next,       ::closedir};
System system_calls = kRealSystem;

}  // namespace elc::store
