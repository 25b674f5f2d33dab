// Many processes in a ring take one line: what a line costs when there are a hundred thousand.
#ifndef ELC_TESTS_SIM_RING_H
#define ELC_TESTS_SIM_RING_H

#include <cstddef>
#include <cstdint>

namespace sim {

struct RingResult {
  bool committed = false;
  uint64_t messages = 0;       // control messages in all
  uint64_t most_messages = 0;  // sent by one process
  uint64_t bytes = 0;          // of control messages in all
  uint64_t most_depth = 0;     // of the chain of messages from the request to the last end
  size_t memory = 0;           // allocated for a process, with its tables, before the line
  size_t memory_in_line = 0;   // the same at most while the line is open, control messages included
};

// Each process sends `messages` messages to its right neighbour and receives as many from its left,
// takes its checkpoint with one message still on its way, and goes on.
RingResult run_ring(int processes, int messages);

}  // namespace sim

#endif
