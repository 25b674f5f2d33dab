#include "sim/faults.h"

#ifdef ELC_TEST_FAULTS
namespace elc::line {
Rule left_out{};
}
#endif

namespace sim {

using elc::line::Rule;

static const Variant kVariants[] = {
    {"orphans", "orphans are not suppressed", Fault::kSendOrphans, Rule{}},
    {"residue", "the residue is forgotten", Fault::kNone, Rule::kResidue},
    {"window", "W1 is dropped too early", Fault::kNone, Rule::kLogUntilHeld},
    {"queue", "the pending queue is ignored", Fault::kIgnoreQueue, Rule{}},
    {"crossing", "a crossing collective runs again", Fault::kRepeatCrossing, Rule{}},
    {"outcomes", "outcomes are not replayed", Fault::kForgetOutcomes, Rule{}},
    {"completion", "receives are counted by completion alone", Fault::kNone, Rule::kObserveEarlier},
    {"arriving", "draining past an incomplete receive", Fault::kNone, Rule::kLookAtPostings},
    {"probe", "a probe does not count", Fault::kForgetProbes, Rule{}},
    {"late", "ready before late operations have ended", Fault::kNone, Rule::kLateStarted},
    {"replay", "ready in the middle of a replay", Fault::kNone, Rule::kReplayed},
    {"abandoned", "an abandoned line forgets its counts", Fault::kNone, Rule::kGiveBack},
    {"ready", "a ready send stays one", Fault::kReadySend, Rule{}},
    {"freed", "a freed communicator is forgotten at once", Fault::kNone, Rule::kKeepFreed},
    {"twice", "a probed message counts twice", Fault::kNone, Rule::kCountOnce},
    {"ibarrier", "a non-blocking barrier is not counted", Fault::kUncountedIbarrier, Rule{}},
    {"stable", "a line commits before its files are stable", Fault::kNone, Rule::kStable},
    {"background", "a released process waits in a send", Fault::kNone, Rule::kBackground, true},
    {"cancelled", "a cancelled receive counts by what later ones observe", Fault::kNone, Rule::kCancelled},
    {"held", "a receive is cancelled that is held, in a line of the replay", Fault::kNone, Rule::kCancelledHeld, true},
    {"unfollowed", "an operation that cannot be logged crosses a line", Fault::kNone, Rule::kUnfollowed},
    {"group", "a call on a group crosses a line", Fault::kNone, Rule::kGroupCalls},
    {"members", "an operation of a group is not told to its members", Fault::kNone, Rule::kTellMembers},
    {"allfreed", "a communicator is forgotten that some member still has", Fault::kNone, Rule::kAllFreed},
    {"together", "a checkpoint between forgetting here and there", Fault::kNone, Rule::kForgetTogether},
    {"never", "a line after the last", Fault::kNone, Rule::kNever},
    {"matched", "what a matched probe takes is not kept", Fault::kNone, Rule::kMatched},
    {"epoch", "a window's members take a line where they have not agreed to", Fault::kNone, Rule::kAgreeOnEpoch},
    {"untouched", "a line is taken behind an operation on a window", Fault::kNone, Rule::kUntouched},
    {"putoff", "operations on a window are issued before all have taken the line", Fault::kNone, Rule::kPutOff},
    {"fence", "they are issued before all have come to the fence", Fault::kNone, Rule::kIssueTogether},
    {"chance", "what fences and files tell by chance is in lines", Fault::kChanceTells, Rule{}},
    {"halfmade", "a line is taken while a communicator is being made", Fault::kHalfMade, Rule{}},
    {"joined", "an intercommunicator is named by its members", Fault::kJoinedByMembers, Rule{}},
    {"halves", "a line is taken between the halves of a call on a file", Fault::kBetweenHalves, Rule{}},
    {"move", "who is late for a transfer leaves out its part", Fault::kMoveFromLog, Rule{}},
    {"starts", "starts of persistent operations are counted on their communicator", Fault::kStartsOnParent, Rule{}},
    {"init", "the call that makes a persistent operation crosses a line", Fault::kInitCrosses, Rule{}},
    {"half", "a restart makes a persistent operation again that others have freed", Fault::kMadeForSome, Rule{}},
    {"status", "a receive of which the program knows is saved as if it did not", Fault::kForgetStatus, Rule{}, true},
    {"vote", "a vote for release waits for a look", Fault::kNone, Rule::kVoteAtOnce, true},
    {"ways", "calls of a pair make up for those of the other way", Fault::kNone, Rule::kPairWays, true},
    {"order", "messages in transit lose their order", Fault::kNone, Rule::kStreamOrder},
};

std::span<const Variant> variants() { return kVariants; }

}  // namespace sim
