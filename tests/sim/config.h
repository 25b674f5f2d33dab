// What a world is like, and what is counted in it. Includes nothing of the protocol.
#ifndef ELC_TESTS_SIM_CONFIG_H
#define ELC_TESTS_SIM_CONFIG_H

#include <cstddef>
#include <cstdint>

namespace sim {

// Deliberate faults of the layer around the protocol: each must be seen by the checker (variants.cc).
// Those inside the protocol are elc::line::Rule.
enum class Fault : uint8_t {
  kNone,
  kSendOrphans,        // orphans are not suppressed
  kIgnoreQueue,        // recovery does not fill the pending queue
  kRepeatCrossing,     // a crossing collective runs again
  kForgetOutcomes,     // no W3
  kForgetProbes,       // trap 4: what a probe has shown does not count
  kReadySend,          // trap 8: a ready send stays one
  kUncountedIbarrier,  // trap 11: a non-blocking barrier does not count as a collective
  kChanceTells,        // what fences and files tell by chance is in lines that are replayed
  kForgetStatus,       // a receive of which the program knows is saved as if it did not
  kHalfMade,           // a checkpoint while a communicator is being made
  kJoinedByMembers,    // the identity of an intercommunicator follows from its members
  kBetweenHalves,      // a checkpoint between the halves of a call on a file
  kMoveFromLog,        // who is late for a transfer leaves out its part
  kStartsOnParent,     // starts of persistent operations are counted on the communicator on which these were made
  kInitCrosses,        // the call that makes one crosses a line
  kMadeForSome,        // a restart makes one again that others have freed
  kBarrierUnaware,     // nothing wrong: barriers cross like any other operation
};

struct Config {
  bool lines = true;  // false: nobody asks for one (a check of the programs themselves)
  bool drain = true;
  uint64_t max_transit = 0;
  size_t most_freed = 1000;  // freed communicators before all agree to forget them
  double fail_state = 0, fail_line = 0, fail_commit = 0;  // probabilities
  double fail_memory = 0;                                 // of a message that a line has to hold: there is no memory for it
  double slow_disk = 0;                                   // of a look that finds a file not yet stable
  double slow_release = 0;                                // of a look that does not yet find that all have voted
  double large = 0;                                       // of a message whose data come later
  double rendezvous = 0;  // of a standard send that waits for its receive where it may
  bool shortcuts = false;  // the layer above leaves out the calls that it need not make
  double pass = 0;        // of a program point where no checkpoint can be taken
  double look = 1;        // of a look at the protocol at a call
  double repeat = 0;      // of a waiting receive that a restart makes again, instead of restoring it
  bool look_in_collectives = true;  // false: as the library does
  Fault fault = Fault::kNone;
};

struct Stats {
  uint64_t steps = 0, kills = 0, restarts = 0, starts = 0, lines = 0, abandoned = 0, messages = 0,
           collectives = 0;
  uint64_t suppressed = 0, crossing = 0, replayed = 0, in_transit = 0, orphans = 0, control = 0, held = 0;
  uint64_t restart_replaying = 0, lines_replaying = 0;
  uint64_t joined = 0, fences = 0, accesses = 0, put_off = 0, lines_fenced = 0, writes = 0;
  uint64_t persistent = 0, begun = 0, made_again = 0, half_freed = 0;
  void add(const Stats& other);
};

}  // namespace sim

#endif
