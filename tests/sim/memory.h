// The library's memory in the simulator: counted, and filled with nonsense where it means nothing.
#ifndef ELC_TESTS_SIM_MEMORY_H
#define ELC_TESTS_SIM_MEMORY_H

#include <cstddef>

namespace sim {

// Blocks that the library has allocated and not released.
size_t blocks();
// What they hold, in bytes.
size_t bytes_in_use();

// After so many calls of try_allocate and its like one finds no memory; a negative number: none.
void lack_memory_after(int calls);

}  // namespace sim

#endif
