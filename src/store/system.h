// The system calls by which the store looks at a disk and changes it, behind pointers, so that tests can let each of
// them fail, or let the machine die at each of them.
#ifndef ELC_STORE_SYSTEM_H
#define ELC_STORE_SYSTEM_H

#include <dirent.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

namespace elc::store {

// As in POSIX: -1 (or nullptr) and errno on failure. A name is one in the directory `dir`, or a path by AT_FDCWD.
struct System {
  int (*open)(int dir, const char* name, int flags, mode_t mode);
  int (*status)(int dir, const char* name, struct stat* about);  // of a link, not of what it leads to
  int (*file_status)(int fd, struct stat* about);
  ssize_t (*read)(int fd, void* data, size_t size);
  ssize_t (*write)(int fd, const void* data, size_t size);
  int (*fsync)(int fd);
  // fsync in the background, of one file at a time: begun; whether it is still going on; waited for, with
  // the result of fsync. The last alone does all of it, where the first could not or was not called.
  void (*start_flush)(int fd);
  bool (*flushing)();
  int (*end_flush)(int fd);
  int (*close)(int fd);
  int (*rename)(int dir, const char* from, const char* to);
  int (*unlink)(int dir, const char* name);
  int (*mkdir)(int dir, const char* name, mode_t mode);
  int (*rmdir)(int dir, const char* name);
  // What is in a directory that is open. The end is nullptr with errno 0.
  DIR* (*open_list)(int dir);
  struct dirent* (*next)(DIR* list);
  int (*close_list)(DIR* list);
};

extern const System kRealSystem;
extern System system_calls;  // kRealSystem, but in tests

}  // namespace elc::store

#endif
