// Whether a line that is taken here could be restored on other machines.
#include <stddef.h>
#include <stdint.h>

#include "state/process.h"
#include "state/state.h"

namespace elc::state {

// What was there at the last line stays, as a rule; a buffer that is there for one exchange does not, and one that nothing is in yet is for
// a message. What pointers alone tell of memory is found when a line is taken (guess_types), and is not known here.
bool has_new_bytes() {
  Process& p = process();
  if (!p.is_prepared) return false;
  for (const Block& block : p.heap.slots())
    if (block.type == format::kByte && !block.guessed && block.id >= p.first_since_line && block.size > 0 && p.heap.find(block.address) == &block) return true;
  return false;
}

}  // namespace elc::state
