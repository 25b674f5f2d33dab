// A directory that others may be able to write to. What lies in it is reached by its descriptor and through no symbolic
// link, made exclusively, opened without waiting for the other end of a pipe, believed if it is of somebody who is
// trusted, and removed only where it is a regular file of exactly a name that the library gives.
#ifndef ELC_STORE_DIRECTORY_H
#define ELC_STORE_DIRECTORY_H

#include <errno.h>

#include <type_traits>

#include "base/result.h"
#include "base/text.h"
#include "store/system.h"

namespace elc::store {

class Directory {
 public:
  Directory() = default;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { close(); }

  // At the path that the user has chosen, links and all. `found`: one that is not there is no error, and false.
  Result open(const char* path, bool* found = nullptr);
  // One in another: a directory itself, made by somebody who is trusted.
  Result open_in(const Directory& parent, const char* name, bool* found = nullptr);
  void close();

  bool is_open() const { return fd_ >= 0; }
  int fd() const { return fd_; }
  const char* path() const { return path_.c_str(); }
  Text path_of(const char* name) const;

  // Makes renames and removals in it lasting: at once, or begun elsewhere with the descriptor, which returned `flushed`
  // with errno.
  Result flush() const;
  Result flushed(int flushed) const;

  // Calls visit(name) for each thing in it, until that is false, if it says anything.
  template <class Visit>
  Result each(Visit visit) const {
    DIR* list = nullptr;
    ELC_TRY(open_list(&list));
    for (;;) {
      const struct dirent* entry = system_calls.next(list);
      if (entry == nullptr && errno == EINTR) continue;
      if (entry == nullptr) break;
      if constexpr (std::is_void_v<decltype(visit(entry->d_name))>) visit(entry->d_name);
      else if (!visit(entry->d_name)) return close_list(list, 0);
    }
    return close_list(list, errno);
  }

 private:
  Result open_at(int dir, const char* name, int flags, bool* found);
  Result open_list(DIR** list) const;
  Result close_list(DIR* list, int error) const;

  Text path_;
  int fd_ = -1;
};

}  // namespace elc::store

#endif
