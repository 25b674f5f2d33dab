/* Preloaded by tests of `elc`: the system fails. ELC_TEST_FAIL is NAME:FIRST:COUNT: from opening the file NAME for the
   FIRST-th time on, COUNT times, that fails with EIO. By fork:FIRST:COUNT processes cannot be made - each counts those that
   it has made and those that its parent had - and by keeper:FIRST:COUNT not by `elc` itself. By
   process:FIRST:COUNT a process ends while its file in /proc is read.
*/
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int fails(const char *name) {
  static long calls;
  const char *what = getenv("ELC_TEST_FAIL");
  char wanted[64];
  long first, count;
  if (what == NULL || sscanf(what, "%63[^:]:%ld:%ld", wanted, &first, &count) != 3) return 0;
  if (strcmp(name, wanted) != 0) return 0;
  ++calls;
  return calls >= first && calls - first < count;
}

#define OPENAT(name)                                                \
  int name(int dir, const char *path, int flags, ...) {             \
    static int (*real)(int, const char *, int, ...);                \
    if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, #name);    \
    va_list more;                                                   \
    va_start(more, flags);                                          \
    const mode_t mode = va_arg(more, mode_t);                       \
    va_end(more);                                                   \
    if (!fails(path)) return real(dir, path, flags, mode);          \
    errno = EIO;                                                    \
    return -1;                                                      \
  }

OPENAT(openat)
OPENAT(openat64)

ssize_t read(int file, void *to, size_t size) {
  static ssize_t (*real)(int, void *, size_t);
  char link[64], path[256] = "";
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "read");
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (readlink(link, path, sizeof path - 1) < 0 || strncmp(path, "/proc/", 6) != 0 || !fails("process"))
    return real(file, to, size);
  errno = ESRCH;
  return -1;
}

static pid_t elc;

__attribute__((constructor)) static void loaded(void) { elc = getpid(); }

pid_t fork(void) {
  static pid_t (*real)(void);
  if (real == NULL) *(void **)&real = dlsym(RTLD_NEXT, "fork");
  if (!fails("fork") && !(getpid() == elc && fails("keeper"))) return real();
  errno = EAGAIN;
  return -1;
}
