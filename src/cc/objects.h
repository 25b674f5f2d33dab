// What the compile step keeps in objects, and the objects and archives of the link step.
#ifndef ELC_CC_OBJECTS_H
#define ELC_CC_OBJECTS_H

#include <string>
#include <vector>

#include "cc/unit.h"

namespace elc::cc {

// A directory for files of this run.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  std::string file(const std::string& name);  // a new path whose name ends so
  void keep();
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  int next_ = 0;
  bool keeps_ = false;
};

// Runs a command, found in PATH, and waits for it. Its exit code.
int run(const std::vector<std::string>& command);
int run_quietly(const std::vector<std::string>& command);  // with no word of it

// The first line that it prints.
std::string output_of(const std::vector<std::string>& command, Scratch& scratch);

std::string read_file(const std::string& path);
bool write_file(const std::string& path, const std::string& content);

// Puts records into an object, or a shared library, by `objcopy`, the compiler's: a section that the linker leaves out of programs.
// False, with a message, if that failed.
bool add_records(const std::string& object, const std::vector<Record>& records, const std::string& objcopy, Scratch& scratch);

// An input of the link: an object, a shared library, or a member of an archive.
struct Member {
  std::string path;  // of the object; of a member a copy of it
  std::vector<Record> records;
  std::vector<std::string> defined, undefined;  // symbols
  bool runs_by_itself = false;  // some of it, before main() or behind
  bool is_wanted = false;
  bool is_shared_library = false;
  std::vector<std::string> needed, directories;  // of a shared library: others, and where it says that they are
};
// Of an object one; of an archive, or a shared library that elc-cc has made, as many as it has; empty for what is none of these.
std::vector<Member> members_of(const std::string& path, Scratch& scratch);

}  // namespace elc::cc

#endif
