#include "line/comms.h"

namespace elc::line {

Comm Comms::intern(Identity identity) {
  if (const Comm* known = slots_.find(identity)) return *known;
  Comm comm = size();
  if (free_.empty()) {
    states_.push_back(CommState());
  } else {
    comm = free_.back();
    free_.pop_back();
  }
  states_[comm].identity = identity;
  slots_.at(identity) = comm;
  return comm;
}

void Comms::forget(Comm comm) {
  slots_.remove(states_[comm].identity);
  states_[comm] = CommState();
  free_.push_back(comm);
}

}  // namespace elc::line
