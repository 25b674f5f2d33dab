// What no line has: the memory of a process in one run of `elc doctor` beside the same rank's in another, and which variables
// that are not registered, which states of random numbers, are not the same in both.
#ifndef ELC_TOOL_UNREGISTERED_H
#define ELC_TOOL_UNREGISTERED_H

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "memory_file.h"
#include "reach.h"
#include "symbols.h"

namespace elc::tool {

// A variable in no line, in the memory of a rank.
struct Suspect {
  std::string key;                  // the same in all ranks
  std::string name, about;          // "calls", "in force(), int, force.c:17"
  std::string values;               // of the lowest rank: "57 instead of 0"
  std::set<unsigned> ranks;
  bool lasts = false;               // still differs at a later point
  struct Piece {
    std::string head, bytes;        // of the file "change"
  };
  std::map<unsigned, std::vector<Piece>> change;
  std::string text() const { return name + (about.empty() ? "" : " (" + about + ")"); }
};
using Suspects = std::map<std::string, Suspect>;  // by their keys

class Unregistered {
 public:
  explicit Unregistered(Programs& programs) : programs_(programs) {}

  // What is in `b` otherwise than in `a`; what changes it back is that of `a`. Pointers are told, but not changed: what they point to may
  // lie elsewhere.
  Suspects compare(const MemoryFile& a, const MemoryFile& b, unsigned rank);
  // The programs and libraries without a table of symbols, whose variables are not looked at.
  const std::set<std::string>& nameless() const { return nameless_; }

 private:
  const Symbols& symbols_of(const std::string& path);
  void compare_regions(const MemoryFile& a, const MemoryFile::Region& x, const MemoryFile& b, const MemoryFile::Region& y, unsigned rank, Suspects* found);
  void compare_reached(const MemoryFile& a, const MemoryFile& b, unsigned rank, Suspects* found);

  Programs& programs_;
  std::map<std::string, std::unique_ptr<Symbols>> symbols_;  // by path
  std::set<std::string> nameless_;
};

}  // namespace elc::tool

#endif
