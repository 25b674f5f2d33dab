// What the local variables of a program are, and what its variables lead to in memory of malloc: by their names, as far as
// the program's debug information and what `elc doctor` has of its memory tell (examination.h).
#ifndef ELC_TOOL_REACH_H
#define ELC_TOOL_REACH_H

#include <stdint.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "memory_file.h"

namespace elc::tool {

// A piece of memory, of `size` bytes.
struct Place {
  uint64_t begin = 0, size = 0;
  bool pointer = false;       // it is one
  std::string way, file;      // as the file "change" says it: "1f0*18" in a file or on the "[stack]"; no way: it is too long for that
};

// A local variable or a member of one, or elements of a block: "sim->atoms->r[]".
struct Reached {
  std::string name, about;    // for people; "in main(), double, force.c:17"
  std::vector<Place> places;  // more than one: of each element
};

// The debug information of the programs that ranks run; it is read once.
class Programs {
 public:
  Programs();
  ~Programs();
  // All that this memory has; the same key is the same thing in another run. Empty where there is no debug information,
  // or it was not built in.
  std::map<std::string, Reached> reached(const MemoryFile& memory);
  // The name of what is there, or of the function; "" for none.
  std::string at(const MemoryFile& memory, uint64_t address);

 private:
  struct Inside;
  std::unique_ptr<Inside> inside_;
};

}  // namespace elc::tool

#endif
