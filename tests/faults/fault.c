/* Preloaded by faults.py: counts the calls of the C library that touch files below one directory, and lets one of them go
 * wrong. What a process is to do stands in its environment:
 *
 *   FAULT_UNDER    the directory; calls on other files are left alone
 *   FAULT_PROGRAM  the name of the program; others, and children that it forks, are left alone
 *   FAULT_COUNTS   a file for the numbers of faults.py: calls of each kind, and whether the fault has come
 *   FAULT_KIND     of the call that goes wrong; empty or none: nothing does
 *   FAULT_AT       which one of its kind, from 1
 *   FAULT_HOW      once: it fails, as the next ones of its kind do with lasting; short: it does a part of its work;
 *                  kill: the process is killed before it; torn: after a part of its work
 *   FAULT_ERRNO    with which it fails
 *   FAULT_SAVED    empty, or a directory on the same file system. What a cut of the power may undo is written to `trace`
 *                  in it, and numbered there are the files that lost a name, and what was in files when they were flushed
 *
 * A call that fails is not executed, except that a close closes, and that what a flush of a stream does not bring to its
 * file is lost or kept as the C library does it. */
#undef _FILE_OFFSET_BITS /* both names of each call are here */
#define _GNU_SOURCE
#define _LARGEFILE64_SOURCE
#include <aio.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The order is that of faults.py. */
typedef enum Kind {
  kOpen, kRead, kPread, kWrite, kFsync, kAioFsync, kClose, kRename, kUnlink, kMkdir, kStatAt, kFstat, kStat, kAccess,
  kTruncate, kFchmod, kFdopendir, kReaddir, kClosedir, kRealpath, kDup2, kFcntl, kFopen, kFdopen, kFreopen, kFflush,
  kFclose, kFseeko, kFtello, kKinds
} Kind;

static const char *const names[kKinds] = {
    "open",  "read",     "pread",  "write",     "fsync",   "aio_fsync", "close",    "rename", "unlink", "mkdir",
    "statat", "fstat",   "stat",   "access",    "ftruncate", "fchmod",  "fdopendir", "readdir", "closedir", "realpath",
    "dup2",  "fcntl",    "fopen",  "fdopen",    "freopen", "fflush",    "fclose",   "fseeko", "ftello"};

typedef enum How { kNone, kOnce, kLasting, kShort, kKill, kTorn } How;
static const char *const hows[] = {"none", "once", "lasting", "short", "kill", "torn"};

/* Shared with faults.py by a file, so that a kill loses nothing of it. */
typedef struct Counts {
  uint64_t calls[kKinds];
  uint64_t injected; /* how many calls went wrong */
  uint64_t caller;   /* of the first of them, from the start of what it lies in */
} Counts;

static Counts none, *counts = &none;
static char under[PATH_MAX];
static size_t under_length;
static pid_t process; /* 0: nothing is counted */
static Kind wanted = kKinds;
static uint64_t at;
static How how;
static int error;
static const char *saved_in;
static unsigned saved;
static int trace = -1;

static void find(void *function, const char *name) {
  void *found = dlsym(RTLD_NEXT, name);
  memcpy(function, &found, sizeof found);
  if (found == NULL) abort();
}

#define REAL(RESULT, NAME, PARAMETERS)        \
  static RESULT(*real) PARAMETERS;            \
  if (real == NULL) find(&real, #NAME)

static const char *setting(const char *name) {
  const char *value = getenv(name);
  return value != NULL ? value : "";
}

__attribute__((constructor)) static void start(void) {
  if (strcmp(setting("FAULT_PROGRAM"), program_invocation_short_name) != 0) return;
  if (realpath(setting("FAULT_UNDER"), under) == NULL) abort();
  under_length = strlen(under);
  const int file = open(setting("FAULT_COUNTS"), O_RDWR | O_CLOEXEC);
  if (file < 0) abort();
  counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (counts == MAP_FAILED) abort();
  close(file);
  for (int i = 0; i < kKinds; i++)
    if (strcmp(names[i], setting("FAULT_KIND")) == 0) wanted = (Kind)i;
  for (int i = 0; i <= kTorn; i++)
    if (strcmp(hows[i], setting("FAULT_HOW")) == 0) how = (How)i;
  at = strtoull(setting("FAULT_AT"), NULL, 10);
  error = atoi(setting("FAULT_ERRNO"));
  saved_in = setting("FAULT_SAVED");
  if (*saved_in != '\0') {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/trace", saved_in);
    trace = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (trace < 0) abort();
  }
  process = getpid();
}

/* ---- Which calls --------------------------------------------------------------------------------------------- */

static int is_under(const char *path) {
  return strncmp(path, under, under_length) == 0 && (path[under_length] == '/' || path[under_length] == '\0');
}

static int is_under_fd(int fd) {
  char link[64], path[PATH_MAX];
  const int before = errno;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t size = readlink(link, path, sizeof path - 1);
  errno = before;
  if (size < 0) return 0;
  path[size] = '\0';
  return is_under(path);
}

static int is_under_at(int dir, const char *name) {
  char here[PATH_MAX];
  if (name[0] == '/') return is_under(name);
  if (dir != AT_FDCWD) return is_under_fd(dir);
  return getcwd(here, sizeof here) != NULL && is_under(here);
}

static void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Counts a call, and says what is to become of it. */
static How judge(Kind kind, int relevant, const void *caller) {
  if (!relevant || process == 0 || getpid() != process) return kNone;
  const uint64_t number = ++counts->calls[kind];
  if (kind != wanted || number < at || (number > at && how != kLasting)) return kNone;
  if (counts->injected++ == 0) {
    Dl_info place;
    counts->caller = dladdr(caller, &place) != 0 ? (uint64_t)((const char *)caller - (const char *)place.dli_fbase) : 0;
  }
  if (how == kKill) die();
  errno = error;
  return how;
}

#define JUDGE(KIND, RELEVANT) \
  (process == 0 ? kNone : judge(KIND, RELEVANT, __builtin_return_address(0)))

static int fails(How what) { return what == kOnce || what == kLasting; }

/* A call that does its work or fails. */
#define PLAIN(KIND, RESULT, NAME, PARAMETERS, ARGUMENTS, RELEVANT, FAILED) \
  RESULT NAME PARAMETERS {                                                 \
    REAL(RESULT, NAME, PARAMETERS);                                        \
    if (fails(JUDGE(KIND, RELEVANT))) return FAILED;                       \
    return real ARGUMENTS;                                                 \
  }

/* ---- What a cut of the power may undo ------------------------------------------------------------------------- */

/* Is this call to be traced? Meanwhile the calls that are made here are not. */
static int begin_note(int relevant) {
  if (trace < 0 || process == 0 || getpid() != process || !relevant) return 0;
  process = 0;
  return 1;
}

static void end_note(void) { process = getpid(); }

static unsigned long inode(int dir, const char *name) {
  struct stat about;
  return fstatat(dir, name, &about, AT_SYMLINK_NOFOLLOW) == 0 ? (unsigned long)about.st_ino : 0;
}

/* The directory in which a name is, and the name there. */
static unsigned long parent(int dir, const char **name) {
  char above[PATH_MAX];
  const char *slash = strrchr(*name, '/');
  if (slash == NULL) return inode(dir, ".");
  snprintf(above, sizeof above, "%.*s", (int)(slash - *name), *name);
  *name = slash + 1;
  return inode(dir, above);
}

static void note_new(const char *what, int dir, const char *name) {
  const unsigned long number = inode(dir, name), above = parent(dir, &name);
  dprintf(trace, "%s %lu %s %lu\n", what, above, name, number);
}

/* Another name for a file that may come back. */
static unsigned keep(int dir, const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%u", saved_in, ++saved);
  return linkat(dir, name, AT_FDCWD, path, 0) == 0 ? saved : 0;
}

static void note_flushed(int fd) {
  char path[PATH_MAX], data[65536];
  struct stat about;
  if (fstat(fd, &about) != 0) abort();
  unsigned number = 0;
  if (S_ISREG(about.st_mode)) {
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const int from = open(path, O_RDONLY);
    snprintf(path, sizeof path, "%s/%u", saved_in, number = ++saved);
    const int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (from < 0 || to < 0) abort();
    for (ssize_t size; (size = read(from, data, sizeof data)) > 0;)
      if (write(to, data, (size_t)size) != size) abort();
    close(from);
    close(to);
  }
  dprintf(trace, "flush %lu %u\n", (unsigned long)about.st_ino, number);
}

/* ---- The calls ------------------------------------------------------------------------------------------------ */

static mode_t mode_of(int flags, va_list rest) { return (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0; }

#define OPENAT(NAME)                                                \
  int NAME(int dir, const char *name, int flags, ...) {             \
    REAL(int, NAME, (int, const char *, int, ...));                 \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    const mode_t mode = mode_of(flags, rest);                       \
    va_end(rest);                                                   \
    if (fails(JUDGE(kOpen, is_under_at(dir, name)))) return -1;     \
    if ((flags & O_CREAT) == 0 || !begin_note(is_under_at(dir, name))) return real(dir, name, flags, mode); \
    const int is_new = inode(dir, name) == 0, result = real(dir, name, flags, mode); \
    if (is_new && result >= 0) note_new("create", dir, name);       \
    end_note();                                                     \
    return result;                                                  \
  }
OPENAT(openat)
OPENAT(openat64)

#define OPEN(NAME)                                                  \
  int NAME(const char *name, int flags, ...) {                      \
    REAL(int, NAME, (const char *, int, ...));                      \
    va_list rest;                                                   \
    va_start(rest, flags);                                          \
    const mode_t mode = mode_of(flags, rest);                       \
    va_end(rest);                                                   \
    if (fails(JUDGE(kOpen, is_under_at(AT_FDCWD, name)))) return -1; \
    return real(name, flags, mode);                                 \
  }
OPEN(open)
OPEN(open64)

ssize_t read(int fd, void *data, size_t size) {
  REAL(ssize_t, read, (int, void *, size_t));
  const How what = JUDGE(kRead, is_under_fd(fd));
  if (fails(what)) return -1;
  return real(fd, data, what == kShort && size > 1 ? size / 2 : size);
}

#define PREAD(NAME, OFFSET)                                                  \
  ssize_t NAME(int fd, void *data, size_t size, OFFSET offset) {             \
    REAL(ssize_t, NAME, (int, void *, size_t, OFFSET));                      \
    const How what = JUDGE(kPread, is_under_fd(fd));                         \
    if (fails(what)) return -1;                                              \
    return real(fd, data, what == kShort && size > 1 ? size / 2 : size, offset); \
  }
PREAD(pread, off_t)
PREAD(pread64, off64_t)

ssize_t write(int fd, const void *data, size_t size) {
  REAL(ssize_t, write, (int, const void *, size_t));
  const How what = JUDGE(kWrite, is_under_fd(fd));
  if (fails(what)) return -1;
  if (what == kNone) return real(fd, data, size);
  const ssize_t part = real(fd, data, size > 1 ? size / 2 : size);
  if (what == kTorn) die();
  return part;
}

int fsync(int fd) {
  REAL(int, fsync, (int));
  if (fails(JUDGE(kFsync, is_under_fd(fd)))) return -1;
  const int result = real(fd);
  if (result == 0 && begin_note(is_under_fd(fd))) {
    note_flushed(fd);
    end_note();
  }
  return result;
}

/* A flush in the background is refused with EAGAIN, and fails in the end with all others. */
static const struct aiocb *failing;

#define AIO(SUFFIX)                                                                       \
  int aio_fsync##SUFFIX(int operation, struct aiocb##SUFFIX *request) {                   \
    REAL(int, aio_fsync##SUFFIX, (int, struct aiocb##SUFFIX *));                          \
    const int will_fail = fails(JUDGE(kAioFsync, is_under_fd(request->aio_fildes)));      \
    if (will_fail && error == EAGAIN) return -1;                                          \
    failing = will_fail ? (const struct aiocb *)request : NULL;                               \
    return real(operation, request);                                                      \
  }                                                                                       \
  int aio_error##SUFFIX(const struct aiocb##SUFFIX *request) {                            \
    REAL(int, aio_error##SUFFIX, (const struct aiocb##SUFFIX *));                         \
    const int result = real(request);                                                     \
    return result == 0 && (const struct aiocb *)request == failing ? error : result;      \
  }                                                                                       \
  ssize_t aio_return##SUFFIX(struct aiocb##SUFFIX *request) {                             \
    REAL(ssize_t, aio_return##SUFFIX, (struct aiocb##SUFFIX *));                          \
    const ssize_t result = real(request);                                                 \
    if ((const struct aiocb *)request != failing) {                                       \
      if (result == 0 && begin_note(is_under_fd(request->aio_fildes))) {                  \
        note_flushed(request->aio_fildes);                                                \
        end_note();                                                                       \
      }                                                                                   \
      return result;                                                                      \
    }                                                                                     \
    failing = NULL;                                                                       \
    return -1;                                                                            \
  }
AIO()
AIO(64)

int close(int fd) {
  REAL(int, close, (int));
  const How what = JUDGE(kClose, is_under_fd(fd));
  const int result = real(fd);
  if (!fails(what)) return result;
  errno = error;
  return -1;
}

int renameat(int a, const char *from, int b, const char *to) {
  REAL(int, renameat, (int, const char *, int, const char *));
  if (fails(JUDGE(kRename, is_under_at(b, to)))) return -1;
  if (!begin_note(is_under_at(b, to))) return real(a, from, b, to);
  const unsigned kept = inode(b, to) != 0 ? keep(b, to) : 0;
  const int result = real(a, from, b, to), number = errno;
  if (result == 0) {
    const unsigned long above = parent(b, &to);
    if (above != parent(a, &from)) abort(); /* none does that */
    dprintf(trace, "rename %lu %s %s %u\n", above, from, to, kept);
  }
  end_note();
  errno = number;
  return result;
}

int unlinkat(int dir, const char *name, int flags) {
  REAL(int, unlinkat, (int, const char *, int));
  if (fails(JUDGE(kUnlink, is_under_at(dir, name)))) return -1;
  if (!begin_note(is_under_at(dir, name))) return real(dir, name, flags);
  const unsigned long old = inode(dir, name);
  const unsigned kept = (flags & AT_REMOVEDIR) == 0 && old != 0 ? keep(dir, name) : 0;
  const int result = real(dir, name, flags), number = errno;
  if (result == 0) {
    const unsigned long above = parent(dir, &name);
    if ((flags & AT_REMOVEDIR) != 0) dprintf(trace, "rmdir %lu %s %lu\n", above, name, old);
    else dprintf(trace, "unlink %lu %s %u\n", above, name, kept);
  }
  end_note();
  errno = number;
  return result;
}

int mkdirat(int dir, const char *name, mode_t mode) {
  REAL(int, mkdirat, (int, const char *, mode_t));
  if (fails(JUDGE(kMkdir, is_under_at(dir, name)))) return -1;
  const int result = real(dir, name, mode), number = errno;
  if (result == 0 && begin_note(is_under_at(dir, name))) {
    note_new("mkdir", dir, name);
    end_note();
  }
  errno = number;
  return result;
}

#define STATS(SUFFIX)                                                                                            \
  PLAIN(kStatAt, int, fstatat##SUFFIX, (int dir, const char *name, struct stat##SUFFIX *about, int flags),       \
        (dir, name, about, flags), is_under_at(dir, name), -1)                                                   \
  PLAIN(kFstat, int, fstat##SUFFIX, (int fd, struct stat##SUFFIX *about), (fd, about), is_under_fd(fd), -1)      \
  PLAIN(kStat, int, stat##SUFFIX, (const char *name, struct stat##SUFFIX *about), (name, about),                 \
        is_under_at(AT_FDCWD, name), -1)                                                                         \
  PLAIN(kStat, int, lstat##SUFFIX, (const char *name, struct stat##SUFFIX *about), (name, about),                \
        is_under_at(AT_FDCWD, name), -1)
STATS()
STATS(64)

PLAIN(kAccess, int, access, (const char *name, int mode), (name, mode), is_under_at(AT_FDCWD, name), -1)
PLAIN(kAccess, int, faccessat, (int dir, const char *name, int mode, int flags), (dir, name, mode, flags),
      is_under_at(dir, name), -1)

PLAIN(kTruncate, int, ftruncate, (int fd, off_t size), (fd, size), is_under_fd(fd), -1)
PLAIN(kTruncate, int, ftruncate64, (int fd, off64_t size), (fd, size), is_under_fd(fd), -1)
PLAIN(kFchmod, int, fchmod, (int fd, mode_t mode), (fd, mode), is_under_fd(fd), -1)

PLAIN(kFdopendir, DIR *, fdopendir, (int fd), (fd), is_under_fd(fd), NULL)
PLAIN(kReaddir, struct dirent *, readdir, (DIR *list), (list), is_under_fd(dirfd(list)), NULL)
PLAIN(kReaddir, struct dirent64 *, readdir64, (DIR *list), (list), is_under_fd(dirfd(list)), NULL)

int closedir(DIR *list) {
  REAL(int, closedir, (DIR *));
  const How what = JUDGE(kClosedir, is_under_fd(dirfd(list)));
  const int result = real(list);
  if (!fails(what)) return result;
  errno = error;
  return -1;
}

PLAIN(kRealpath, char *, realpath, (const char *restrict name, char *restrict real_name), (name, real_name),
      is_under_at(AT_FDCWD, name), NULL)
PLAIN(kDup2, int, dup2, (int from, int to), (from, to), is_under_fd(from), -1)

#define FCNTL(NAME)                                            \
  int NAME(int fd, int command, ...) {                         \
    REAL(int, NAME, (int, int, ...));                          \
    va_list rest;                                              \
    va_start(rest, command);                                   \
    void *argument = va_arg(rest, void *);                     \
    va_end(rest);                                              \
    if (fails(JUDGE(kFcntl, is_under_fd(fd)))) return -1;      \
    return real(fd, command, argument);                        \
  }
FCNTL(fcntl)
FCNTL(fcntl64)

/* ---- Streams ---------------------------------------------------------------------------------------------------- */

#define FOPEN(NAME)                                                                      \
  FILE *NAME(const char *restrict name, const char *restrict mode) {                     \
    REAL(FILE *, NAME, (const char *restrict, const char *restrict));                    \
    if (fails(JUDGE(kFopen, is_under_at(AT_FDCWD, name)))) return NULL;                  \
    if (!begin_note(is_under_at(AT_FDCWD, name))) return real(name, mode);               \
    const int is_new = inode(AT_FDCWD, name) == 0;                                       \
    FILE *file = real(name, mode);                                                       \
    if (is_new && file != NULL) note_new("create", AT_FDCWD, name);                      \
    end_note();                                                                          \
    return file;                                                                         \
  }
FOPEN(fopen)
FOPEN(fopen64)

PLAIN(kFdopen, FILE *, fdopen, (int fd, const char *mode), (fd, mode), is_under_fd(fd), NULL)

/* A stream that cannot be opened again is closed. */
#define FREOPEN(NAME)                                                                             \
  FILE *NAME(const char *restrict name, const char *restrict mode, FILE *restrict file) {         \
    REAL(FILE *, NAME, (const char *restrict, const char *restrict, FILE *restrict));             \
    if (!fails(JUDGE(kFreopen, is_under_fd(fileno(file))))) return real(name, mode, file);        \
    real("/", "w", file);                                                                         \
    errno = error;                                                                                \
    return NULL;                                                                                  \
  }
FREOPEN(freopen)
FREOPEN(freopen64)

/* Does something that flushes the stream while nothing can be written to its file. */
static int while_full(FILE *file, int (*act)(FILE *)) {
  const int fd = fileno(file), kept = dup(fd), full = open("/dev/full", O_WRONLY);
  if (kept < 0 || full < 0) abort();
  if (dup2(full, fd) < 0) abort();
  const int result = act(file);
  if (fcntl(fd, F_GETFD) >= 0) dup2(kept, fd); /* not closed */
  close(kept);
  close(full);
  errno = error;
  return result;
}

int fflush(FILE *file) {
  REAL(int, fflush, (FILE *));
  if (file == NULL || process == 0 || __fpending(file) == 0 || !fails(JUDGE(kFflush, is_under_fd(fileno(file)))))
    return real(file);
  process = 0;
  const int result = while_full(file, real);
  process = getpid();
  return result;
}

int fclose(FILE *file) {
  REAL(int, fclose, (FILE *));
  if (process == 0 || !fails(JUDGE(kFclose, is_under_fd(fileno(file))))) return real(file);
  process = 0;
  if (__fpending(file) > 0) while_full(file, real);
  else real(file);
  process = getpid();
  errno = error;
  return EOF;
}

PLAIN(kFseeko, int, fseeko, (FILE *file, off_t offset, int from), (file, offset, from), is_under_fd(fileno(file)), -1)
PLAIN(kFseeko, int, fseeko64, (FILE *file, off64_t offset, int from), (file, offset, from), is_under_fd(fileno(file)), -1)
PLAIN(kFtello, off_t, ftello, (FILE *file), (file), is_under_fd(fileno(file)), -1)
PLAIN(kFtello, off64_t, ftello64, (FILE *file), (file), is_under_fd(fileno(file)), -1)
