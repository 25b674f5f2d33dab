// The communicators that a process or a line knows, each in a slot of a table (PROTOCOL.md, section 6).
#ifndef ELC_LINE_COMMS_H
#define ELC_LINE_COMMS_H

#include "base/hash_map.h"
#include "line/types.h"

namespace elc::line {

struct CommState {
  Identity identity = 0;    // 0: the slot is free
  uint64_t operations = 0;  // collective operations started here, coll[c] of section 1
  uint32_t size = 0;        // members
  bool made = false;        // here
  bool heard_of = false;    // by a line, from members that have made it: this process is one, too
  bool freed = false;
};

class Comms {
 public:
  // The slot of this communicator, made if need be.
  Comm intern(Identity identity);
  // nullptr: nobody has spoken of it.
  const Comm* find(Identity identity) const { return slots_.find(identity); }
  // The slot may be used again.
  void forget(Comm comm);

  CommState& operator[](Comm comm) { return states_[comm]; }
  const CommState& operator[](Comm comm) const { return states_[comm]; }
  // Slots, also free ones.
  Comm size() const { return static_cast<Comm>(states_.size()); }

 private:
  Vector<CommState> states_;
  HashMap<Comm> slots_;
  Vector<Comm> free_;
};

}  // namespace elc::line

#endif
