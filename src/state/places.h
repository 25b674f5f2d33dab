// Where files lie that a restart may touch, and the way there. A line is data that somebody may have made: its names of
// files open only regular files of this user, below directories that the user has named, and never through a link.
#ifndef ELC_STATE_PLACES_H
#define ELC_STATE_PLACES_H

#include <sys/stat.h>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"

namespace elc::state {

// The directories below which a restart may touch files.
class FileRoots {
 public:
  FileRoots();                 // the current directory
  void add(const char* list);  // ELC_FILE_ROOTS: absolute names with colons between them
  // A directory as it is from where the process began, if it is below that; else as it is.
  Text from_start(const char* directory) const;
  Text at_start(const char* path) const;  // the other way

 private:
  friend class Place;
  Vector<Text> names_;  // the first is where the process began; empty where that could not be found
  int error_ = 0;       // why
};

// The one device that is taken for a file: what is written there is gone, and nothing is to be read.
bool is_null_device(const char* path);

// What is to be done with a file. Only to read it is allowed where it belongs to another user.
enum class Access { kRead, kChange };

// A name in an open directory.
class Place {
 public:
  // Finds the directory of `path`; a relative one from the current directory. Fails if the directory is not there, or is
  // not one of `roots` nor below one, wherever links lead.
  Result find(const FileRoots& roots, const char* path);

  // Whether there is a file of the name. Fails if a restart must not touch it.
  Result look(Access access, struct stat* about, bool* there) const;
  // Opens it, without waiting and never anything but what look() allows, with these flags of open().
  Result open(Access access, int flags, Descriptor* file) const;

  int directory() const { return way_.back().get(); }
  const char* name() const { return name_.c_str(); }
  // Its directory and those above it, up to the root.
  Vector<Descriptor>& way() { return way_; }

 private:
  Result enter(const char* root, const char* rest);
  Result judge(Access access, const struct stat& about) const;

  Text path_;  // as it was given
  Text name_;
  Vector<Descriptor> way_;
};

}  // namespace elc::state

#endif
