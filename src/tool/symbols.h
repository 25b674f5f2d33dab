// The names of the static variables of a program or a shared library.
#ifndef ELC_TOOL_SYMBOLS_H
#define ELC_TOOL_SYMBOLS_H

#include <stdint.h>

#include <map>
#include <string>

namespace elc::tool {

struct Symbol {
  uint64_t begin = 0, size = 0;  // from where the file begins in memory
  std::string linked;            // its name for the linker
  std::string name;              // for people
  std::string type, place;       // "double[8]", "force.c:17"; empty where there is no debug information
  std::string function;          // that it is a static variable of
};

class Symbols {
 public:
  // From the file's table of symbols, and its debug information where the command was built with libdw. A file without
  // either has none.
  explicit Symbols(const std::string& path);
  // nullptr: no variable is there.
  const Symbol* at(uint64_t offset) const;
  bool empty() const { return all_.empty(); }

 private:
  void read_table(const std::string& path);
  void read_debug_information(const std::string& path);

  uint64_t base_ = 0;                  // the address that the file's beginning has in its own tables
  std::map<uint64_t, Symbol> all_;     // by their beginning
};

}  // namespace elc::tool

#endif
