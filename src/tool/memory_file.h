// What the library writes down of a process's memory in the runs of `elc doctor` (src/mpi/runtime/examination.h).
#ifndef ELC_TOOL_MEMORY_FILE_H
#define ELC_TOOL_MEMORY_FILE_H

#include <stdint.h>

#include <map>
#include <string>
#include <vector>

namespace elc::tool {

struct MemoryFile {
  struct Range {
    uint64_t begin = 0, end = 0;
    bool holds(uint64_t address) const { return begin <= address && address < end; }
  };
  // Static variables of a program or a library.
  struct Region : Range {
    uint64_t base = 0;     // where the file begins in memory
    std::string path;
    std::string bytes;
  };

  uint64_t line = 0, site = 0, printed = 0;
  std::vector<Range> variables;          // that are registered, and blocks of the heap
  std::vector<Range> registered;         // what is saved of them, ascending
  std::vector<Range> mapped;     // all that an address can point to
  std::vector<Region> regions;
  std::vector<Region> others;            // the heap and the stack: "[heap]", "[stack]"
  std::map<std::string, uint64_t> files; // where each lies in memory
  std::vector<uint64_t> registers;       // by their numbers in debug information; empty: not known
  std::string random, rand48;    // the states of random() and drand48(); empty: not known

  bool is_registered(uint64_t address) const;
  bool is_address(uint64_t value) const;
  // These bytes; nullptr: not all of them were written down.
  const char* at(uint64_t address, uint64_t size) const;
};

// Throws Refusal where it is not whole.
MemoryFile read_memory(const std::string& path);

}  // namespace elc::tool

#endif
