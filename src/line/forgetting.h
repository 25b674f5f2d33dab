// Freed communicators are remembered until a line has committed after all members have freed them. Where no line is
// taken for a long time, all processes agree now and then to forget them, in a round of two agreements (PROTOCOL.md,
// section 6):
//
//     freed      all have said which communicators they have freed and have no more use for; those that all their
//                members named are to be forgotten
//     forgotten  all have forgotten them, with their counts
//
// A process whose line is open, or that has heard of a request for one, names none and spoils the round. From its vote
// until the round is over it takes no checkpoint: so no line has one process on this side of it and one on the other.
#ifndef ELC_LINE_FORGETTING_H
#define ELC_LINE_FORGETTING_H

#include "line/comms.h"
#include "line/consensus.h"
#include "line/counts.h"
#include "line/operations.h"
#include "line/receives.h"

namespace elc::line {

class Forgetting {
 public:
  Forgetting(Comms& comms, Counts& counts, const Operations& operations, const Receives& receives, size_t most)
      : comms_(comms), counts_(counts), operations_(operations), receives_(receives), most_(most) {}

  // One more was freed here. true: it is time for a round.
  bool freed() { return ++freed_ > most_ && !on_; }
  // A line has committed, and has no use for those that all have freed.
  void committed() { freed_ = 0; }

  // The next round begins here, because this process or another one wants it. false: it has begun.
  bool begin(uint32_t round);
  uint32_t next_round() const { return round_ + 1; }
  bool on() const { return on_; }
  // This process's vote: what it can forget.
  Vote offer() const;
  // What all have freed is forgotten. false: the round is over with nothing done.
  bool forget(const Vote& result);
  // All have.
  void end() { on_ = false; }

 private:
  bool can_forget(Comm comm) const;

  Comms& comms_;
  Counts& counts_;
  const Operations& operations_;
  const Receives& receives_;
  const size_t most_;
  size_t freed_ = 0;  // since the last round or line
  uint32_t round_ = 0;
  bool on_ = false;
};

}  // namespace elc::line

#endif
