// What a line and a restart cost a process when there are many: control messages, bytes of them, memory of src/line.
#ifndef ELC_TESTS_SIM_SCALE_H
#define ELC_TESTS_SIM_SCALE_H

#include <cstdint>
#include <string>

namespace sim {

enum class Pattern : uint8_t {
  kNeighbours,  // a ring: two partners, a message on its way to each
  kReplay,      // the same, and every second process has an orphan and is late for an operation: the restart has a log
  kGrid,        // rows and columns of a square have communicators
  kManager,     // all with process 0
  kAllToAll,
  kEnd
};
const char* name(Pattern pattern);

// Of all processes.
struct Share {
  double mean = 0;
  uint64_t most = 0;  // of one
};

struct Price {
  bool right = false;  // the line has committed; the restart has come to its end
  Share messages;      // control messages, sent and received
  Share bytes;         // of those
  Share memory;        // at most at any time, with the tables of what was sent and received
  Share in_mpi;        // messages of the collective operations that MPI executes for the protocol
  uint64_t depth = 0;  // of the longest chain of messages
};

struct Costs {
  Price line, restart;
};

// Processes that have talked in this pattern take a line, which commits, and all of them restart from it.
Costs run_scale(Pattern pattern, int processes);

// Prints what it costs where there are 4, 16, ... and at last `most` processes.
// false: something grows faster than with the number of partners and the logarithm of that of processes.
bool print_scale(int most);

}  // namespace sim

#endif
