#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // realpath is in the base of POSIX.1-2008, but the GNU C library shows it with XSI only
#endif

#include "state/places.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

namespace elc::state {
namespace {

constexpr int kDirectory = O_RDONLY | O_DIRECTORY | O_CLOEXEC;

// The absolute name without links; empty, with errno, if there is nothing.
Text real_name(const char* path) {
  char* real = realpath(path, nullptr);
  if (real == nullptr) return Text();
  Text copy = Text::copy(real);
  free(real);
  return copy;
}

// What is left of a directory's name below a root; nullptr if it is not below.
const char* below(const Text& root, const Text& directory) {
  const size_t length = root.view() == "/" ? 0 : root.view().size();
  if (root.empty() || strncmp(root.c_str(), directory.c_str(), length) != 0) return nullptr;
  const char* rest = directory.c_str() + length;
  return *rest == '\0' || *rest == '/' ? rest : nullptr;
}

}  // namespace

FileRoots::FileRoots() {
  names_.push_back(real_name("."));
  error_ = names_[0].empty() ? errno : 0;
}

void FileRoots::add(const char* list) {
  for (const char* name = list; *name != '\0';) {
    const size_t length = strcspn(name, ":");
    if (length > 0) names_.push_back(Text::copy({name, length}));
    name += length + (name[length] == ':' ? 1 : 0);
  }
}

Text FileRoots::from_start(const char* directory) const {
  const char* const rest = below(names_[0], Text::copy(directory));
  if (rest == nullptr) return Text::copy(directory);
  return Text::copy(*rest == '/' ? rest + 1 : ".");
}

Text FileRoots::at_start(const char* path) const {
  return *path == '/' ? Text::copy(path) : Text::format("%s/%s", names_[0].c_str(), path);
}

bool is_null_device(const char* path) { return strcmp(path, "/dev/null") == 0; }

Result Place::find(const FileRoots& roots, const char* path) {
  way_.clear();
  path_ = Text::copy(path);
  const char* slash = strrchr(path, '/');
  const char* name = slash == nullptr ? path : slash + 1;
  name_ = Text::copy(name);
  if (name_.empty() || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
    return Result::error("'%s' is no name of a file", path);
  const Text given = slash == nullptr ? Text::copy(".")
                                      : Text::copy({path, static_cast<size_t>(slash == path ? 1 : slash - path)});
  const Text directory = real_name(given.c_str());
  if (directory.empty())
    return Result::caused(errno, "the directory of the file '%s' cannot be found: %s", path, strerror(errno));
  Result unknown;
  if (roots.error_ != 0)
    unknown = Result::caused(roots.error_, "the directory in which the job was started, below which a restart touches files, could "
                             "not be found: %s", strerror(roots.error_));
  for (const Text& root : roots.names_) {
    if (root.empty()) continue;
    const Text real = real_name(root.c_str());
    if (real.empty())
      unknown = Result::caused(errno, "%s, below which a restart touches files, cannot be found: %s", root.c_str(), strerror(errno));
    if (const char* rest = below(real, directory)) return enter(real.c_str(), rest);
  }
  if (roots.error_ != 0 || unknown.system_failed()) return unknown;
  return Result::error(
      "the file '%s' lies in %s, and a restart touches files only below the directory in which the job was started (%s) and "
      "those of ELC_FILE_ROOTS: if the program's files belong there, set ELC_FILE_ROOTS=%s",
      path, directory.c_str(), roots.names_[0].c_str(), directory.c_str());
}

// Step by step, so that no directory can become a link meanwhile.
Result Place::enter(const char* root, const char* rest) {
  way_.push_back(Descriptor(::open(root, kDirectory)));
  while (way_.back().open()) {
    rest += strspn(rest, "/");
    const Text part = Text::copy({rest, strcspn(rest, "/")});
    if (part.empty()) return Result();
    way_.push_back(Descriptor(openat(way_.back().get(), part.c_str(), kDirectory | O_NOFOLLOW)));
    rest += part.view().size();
  }
  return Result::caused(errno, "a directory on the way to the file '%s' cannot be read: %s", path_.c_str(), strerror(errno));
}

Result Place::judge(Access access, const struct stat& about) const {
  if (S_ISLNK(about.st_mode))
    return Result::error("'%s' is a symbolic link, which a restart does not follow: let the program open the file itself",
                         path_.c_str());
  if (!S_ISREG(about.st_mode))
    return Result::error("'%s' is not a regular file, and a restart opens no other", path_.c_str());
  if (access == Access::kChange && about.st_uid != geteuid())
    return Result::error("the file '%s' belongs to user %lu, and a restart changes only files of its own user, %lu",
                         path_.c_str(), static_cast<unsigned long>(about.st_uid), static_cast<unsigned long>(geteuid()));
  return Result();
}

Result Place::look(Access access, struct stat* about, bool* there) const {
  *there = fstatat(directory(), name(), about, AT_SYMLINK_NOFOLLOW) == 0;
  if (*there) return judge(access, *about);
  if (errno == ENOENT) return Result();
  return Result::caused(errno, "the file '%s' cannot be looked at: %s", path_.c_str(), strerror(errno));
}

// To open a device may already do something, so it is looked at before; and what has been opened is what counts.
Result Place::open(Access access, int flags, Descriptor* file) const {
  struct stat about;
  bool there;
  ELC_TRY(look(access, &about, &there));
  if (!there) return Result::error("the file '%s' is not there", path_.c_str());
  *file = Descriptor(openat(directory(), name(), flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (!file->open() || fstat(file->get(), &about) != 0)
    return Result::caused(errno, "the file '%s' cannot be opened: %s", path_.c_str(), strerror(errno));
  return judge(access, about);
}

}  // namespace elc::state
