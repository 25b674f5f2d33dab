// The system calls by which the store changes a disk, behind pointers, so that tests can let each of
// them fail, or let the machine die at each of them.
#ifndef ELC_STORE_SYSTEM_H
#define ELC_STORE_SYSTEM_H

#include <stddef.h>
#include <sys/types.h>

namespace elc::store {

// As in POSIX: -1 and errno on failure.
struct System {
  int (*open)(const char* path, int flags, mode_t mode);
  ssize_t (*write)(int fd, const void* data, size_t size);
  int (*fsync)(int fd);
  // fsync in the background, of one file at a time: begun; whether it is still going on; waited for, with
  // the result of fsync. The last alone does all of it, where the first could not or was not called.
  void (*start_flush)(int fd);
  bool (*flushing)();
  int (*end_flush)(int fd);
  int (*close)(int fd);
  int (*rename)(const char* from, const char* to);
  int (*unlink)(const char* path);
  int (*mkdir)(const char* path, mode_t mode);
  int (*rmdir)(const char* path);
};

extern const System kRealSystem;
extern System system_calls;  // kRealSystem, but in tests

}  // namespace elc::store

#endif
