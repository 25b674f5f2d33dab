// Rules of the protocol that the simulator's tests leave out, one at a time, to prove that its checker
// sees the lack. Only objects compiled with ELC_TEST_FAULTS can leave out anything: the library cannot.
#ifndef ELC_LINE_RULES_H
#define ELC_LINE_RULES_H

#include <stdint.h>

namespace elc::line {

enum class Rule : uint32_t {
  kObserveEarlier = 1,  // trap 1: observing a receive observes those posted earlier
  kLookAtPostings,      // trap 2: no taking past an incomplete receive that may hold the message
  kLogUntilHeld,        // trap 3: W1 goes on until everything in transit is held
  kLateStarted,         // trap 5: ready only when all late operations have started
  kReplayed,            // trap 6: a line begun in a replay is ready after it, and keeps W3
  kGiveBack,            // trap 7: an abandoned line gives its counts back
  kKeepFreed,           // trap 10: a freed communicator counts as long as a line needs it
  kCountOnce,           // trap 11: what a probe's message counts, its receive does not count again
  kResidue,             // section 4: what is still in transit is in the next line's account
  kStable,              // section 7: a file is stable before the line commits
  kStreamOrder,         // section 5: messages in transit are kept in the order of their stream
  kBackground,          // section 8: no send waits for its receive until all are released
  kCancelled,           // trap 12: nothing is implied for a cancelled receive before its fate is known
  kCancelledHeld,       // trap 12: one that is withdrawn in a replay refuses the line that is open
  kUnfollowed,          // section 6: an unfollowed operation that crosses refuses the line
  kGroupCalls,          // section 6: so does a call on a group
  kPairWays,            // section 6: and one of a pair, whatever that has called the other way
  kAllFreed,            // section 6: what is forgotten without a line, all members have freed
  kForgetTogether,      // section 6: nobody takes a checkpoint before all have forgotten
  kNever,               // section 7: who knows that there will be no line takes none
  kMatched,             // section 3: what a matched probe takes in the window is kept
  kTellMembers,         // section 6: who has called on a group tells its members, who may know nothing of it
  kAgreeOnEpoch,        // section 6: members of a memory window take a line where they have agreed to
  kUntouched,           // section 6: each before its first operation there
  kPutOff,              // section 6: operations behind it wait for the next fence
  kIssueTogether,       // section 6: to which all members have come when they are issued
  kVoteAtOnce,          // section 8: who has used up what keeps it from release says so at once, not when it looks
};

#ifdef ELC_TEST_FAULTS
extern Rule left_out;
inline bool applies(Rule rule) { return rule != left_out; }
#else
constexpr bool applies(Rule) { return true; }
#endif

}  // namespace elc::line

#endif
