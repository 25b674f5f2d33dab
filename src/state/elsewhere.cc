// Whether a line that is taken here could be restored on other machines.
#include <stddef.h>
#include <stdint.h>

#include "state/process.h"
#include "state/state.h"

namespace elc::state {

// What was there at the last line stays, as a rule; a buffer that is there for one exchange does not, and one that nothing is in yet is for
// a message. What pointers alone tell of memory is found when a line is taken (guess_types), and is not known here.
bool has_new_bytes(uint64_t* looked_at) {
  Process& p = process();
  const Vector<Block>& all = p.heap.slots();
  for (size_t i = p.is_prepared ? all.size() : 0; i-- > 0; ++*looked_at) {  // the youngest are behind, as a rule
    const Block& block = all[i];
    if (block.type == format::kByte && !block.guessed && block.id >= p.first_since_line && block.size > 0 && p.heap.find(block.address) == &block) return true;
  }
  return false;
}

}  // namespace elc::state
