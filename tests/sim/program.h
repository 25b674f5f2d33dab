// The programs that simulated processes run: a list of MPI calls for each process.
#ifndef ELC_TESTS_SIM_PROGRAM_H
#define ELC_TESTS_SIM_PROGRAM_H

#include <cstdint>
#include <string>
#include <vector>

#include "line/types.h"
#include "sim/random.h"

namespace sim {

using elc::line::Rank;
using elc::line::Tag;

// Peers and tags beside the plain numbers. kAny is MPI_ANY_SOURCE and MPI_ANY_TAG.
constexpr int kAny = -1;
constexpr int kNull = -2;    // MPI_PROC_NULL
constexpr int kProbed = -3;  // what the last probe (or the last receive) has shown
constexpr int kRight = -4;   // neighbours in the communicator's ring
constexpr int kLeft = -5;
constexpr int kFirst = -6;    // the communicator's process 0
constexpr int kHashTag = -7;  // depends on everything that the process has observed
constexpr int kNdTag = -8;    // drawn, through ELC_ND

enum class Op : uint8_t {
  kSend,
  kIsend,
  kRecv,
  kIrecv,
  kSendrecv,
  kProbe,
  kIprobe,       // kIprobe: one call
  kIprobeUntil,  // calls until it shows something
  kWait,         // `how` with `slots`
  kCollective,
  kIcollective,
  kBatchSend,
  kBatchRecv,  // a drawn number of messages, announced by a first one
  kServe,      // master: receives `count` requests from anybody and answers each
  kGatherAny,  // process 0 of a communicator receives one message from each other member
  kSite,
  kSiteNow,
  kRequest,
  kNd,
  kLines,   // visits sites until a line commits that was not yet asked for (`count`: the last part, without failures)
  kMaybe,   // a call of ELC_ND or none, as it happens, logged nowhere
  kEither,  // two receives in either order, as it happens: `tag`, `slot` and `tag2`, `made`
  kCompute,
  kCancel,         // `slot`
  kWaitCancelled,  // `slot`; receives one message from `peer`, by it or by another receive
  kMprobe,         // a matched probe, and the receive of its message
  kImprobe,        // the same by calls that do not wait
  kGetStatus,      // of the request in `slot`, which stays
  kGroupCall,      // of the ranks in `slots`; `tag` is its number
  kNever,          // no line can be taken from now on
  kJoin,           // two groups, `comm` of each: `slots` are all of both, the first `count` of them one group; `tag` is its number
  kFence,          // of the window `comm`
  kAccess,         // adds to the memory of `peer` in the window `comm`; `kind`: kReduce, or kAllreduce, which shows what was there
  kStore,          // adds to its own memory, without MPI
  kLoad,           // reads it
  kBegin,          // begins to write to the file `comm`, alone or (`group`) all members together
  kEnd,            // and has written
  kFinalize,
};

// Standard: complete at once (the MPI has a buffer) unless `rendezvous`.
enum class Mode : uint8_t { kStandard, kRendezvous, kBuffered, kSynchronous, kReady };

enum class How : uint8_t {
  kWait,
  kWaitall,
  kWaitany,
  kWaitsome,
  kTest,
  kTestall,
  kTestany,
  kTestsome,  // until all are done
  kTestOnce,
  kTestanyOnce,
  kTestsomeOnce,
};

enum class Kind : uint8_t {
  kBarrier,
  kBcast,
  kReduce,
  kAllreduce,
  kGather,
  kAllgather,
  kScatter,
  kAlltoall,
  kScan,
  kDup,
  kSplit,
  kFree,
  kJoin,
  kMerge,   // of an intercommunicator's groups
  kWindow,  // makes one of the same members
  kFence,
  kOpen,    // a file
  kMove,    // writes to it: who is late for it does that alone
  kPersistent,  // makes a persistent operation of the same members: kIcollective on it starts it, kFree ends it
};

// What makes something that has a handle.
constexpr bool makes(Kind kind) {
  return kind == Kind::kDup || kind == Kind::kSplit || kind == Kind::kMerge || kind == Kind::kWindow || kind == Kind::kOpen ||
         kind == Kind::kPersistent;
}

struct Instr {
  Op op = Op::kCompute;
  bool label = false;  // the call is a site
  bool large = false;  // the data arrive after the match
  Mode mode = Mode::kStandard;
  How how = How::kWait;
  Kind kind = Kind::kBarrier;
  int comm = 0;  // a handle of the process's table
  int peer = 0;  // a rank of the world, or a word above
  int tag = 0;
  int peer2 = 0;   // kSendrecv: the source; kCollective: the root
  int tag2 = 0;    // kSendrecv: of the receive
  int slot = 0;    // of the request
  int made = 0;    // the new handle
  int colour = 0;  // kSplit: fixed; -1: by hash, one of two
  int count = 0;
  bool unfollowed = false;  // kCollective: the library cannot log it
  bool group = false;       // kCollective: of the ranks in `slots`, whose communicator there is when the first call is made
  std::vector<int> slots = {};
};

struct Program {
  int processes = 0;
  int slots = 2;  // requests of a process (0 and 1 are those of blocking calls)
  int handles = 1;
  bool strays = false;  // takes another way in a replay than it took before
  std::vector<std::vector<Instr>> code;
};

// A random program that no schedule of a correct MPI can bring to a halt.
Program generate(Random& random);

std::string describe(const Instr& instr);

}  // namespace sim

#endif
