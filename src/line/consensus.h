// Agreement of all processes without blocking: votes are merged up a binary tree, the result comes
// down it. O(log N) steps, at most three messages for a process. Works on any MPI (LAM has no
// non-blocking all-reduce) and runs in the simulator like everything else.
#ifndef ELC_LINE_CONSENSUS_H
#define ELC_LINE_CONSENSUS_H

#include "base/text.h"
#include "line/coordinator.h"
#include "line/types.h"

namespace elc::line {

enum ConsensusKind : uint32_t {
  kTakenConsensus,     // consensus 1: all have their local checkpoint, all logs are delivered
  kReadyConsensus,     // consensus 2
  kDoneConsensus,      // consensus 3
  kRestartConsensus,   // all orphans are told (section 8, step 2)
  kReleasedConsensus,  // all are released (section 8, step 4), and have given MPI all their receives
  kStoppedConsensus,   // all know that there will be no line, and none is open (section 7)
  kFreedConsensus,      // what all members have freed (forgetting.h)
  kForgottenConsensus,
  kFinalizeConsensus,
  kConsensusKinds,
};

// What members of a communicator say of their operations on it (section 6).
struct CommVote {
  Identity identity = 0;
  uint32_t size = 0;
  uint32_t voters = 0;
  uint64_t least = 0;
  uint64_t most = 0;
};

struct Vote {
  LineNumber line = 0;
  Rank refuser = kNobody;  // the least: who says that the line is to be refused, and why
  Text reason;
  bool orphans = false;  // or: somebody has orphans, something crosses, somebody replayed
  bool looks = false;    // or: Host::looks
  uint64_t points = 0;   // max: D of section 2
  uint64_t cost = 0;     // max
  uint64_t account = 0;  // of the set-up; exclusive or
  // Communicators on whose operations not all members agree (or not all have been heard), sorted by
  // identity. Agreement removes an entry on its way up, so the list is short at the root.
  Vector<CommVote> comms;
  Vector<CommVote> freed;  // communicators that voters have freed, sorted by identity
  Vector<ToldAddress> told;  // in their files; sorted by address, none twice, kMostTold at most

  static constexpr size_t kMostTold = 4096;
  static constexpr Rank kNobody = -1;
  bool yes() const { return refuser == kNobody; }
  // Says no, for this reason, which is shortened to kLongestReason.
  void refuse(Rank rank, const char* text);
  void tell(Vector<ToldAddress> addresses);  // in any order

  void merge(const Vote& other);  // into Vote(): a copy, without what is agreed
  void encode(Encoder& out) const;
  static bool decode(Decoder& in, Vote* vote);
};

// This process's part of one agreement at a time.
class Consensus {
 public:
  void add_own(const Vote& vote) { own_ = true; merged_.merge(vote); }
  void add_child(const Vote& vote) { ++children_; merged_.merge(vote); }
  bool own() const { return own_; }
  // All that this process waits for has voted: `children` and itself.
  bool complete(int children) const { return own_ && children_ == children; }
  Vote take() {  // the merged vote; starts anew
    Vote merged = static_cast<Vote&&>(merged_);
    *this = Consensus();
    return merged;
  }

 private:
  bool own_ = false;
  int children_ = 0;
  Vote merged_;
};

inline Rank tree_parent(Rank rank) { return (rank - 1) / 2; }  // not for rank 0
inline int tree_children(Rank rank, Rank processes) {
  const int64_t first = 2 * static_cast<int64_t>(rank) + 1;
  return first >= processes ? 0 : first + 1 >= processes ? 1 : 2;
}

}  // namespace elc::line

#endif
