// What memory the process has, as far as the system tells (/proc, Linux): else nothing.
#ifndef ELC_MPI_RUNTIME_MAPPINGS_H
#define ELC_MPI_RUNTIME_MAPPINGS_H

#include <stdint.h>

#include "base/vector.h"
#include "base/wire.h"

namespace elc::mpi {

// The content of a file, as far as it can be read.
void read_all(const char* path, Bytes* bytes);

// A part of the process's memory as /proc has it: "START-END rwxp OFFSET DEVICE INODE PATH".
struct Mapping {
  unsigned long begin = 0, end = 0;
  char rights[8] = "";
  const char* path = "";  // "" for none
};

class Mappings {
 public:
  Mappings();
  const Bytes& text() const { return raw_; }
  const Vector<Mapping>& all() const { return all_; }
  // Where the file is in memory; 0: nowhere.
  unsigned long base_of(const char* path) const;
  const char* path_at(uintptr_t address) const;
  // Whether all of these bytes can be read.
  bool readable(uintptr_t begin, uint64_t size) const;

 private:
  Bytes text_, raw_;
  Vector<Mapping> all_;
};

}  // namespace elc::mpi

#endif
