// The library in a running MPI process: what the wrappers share.
//
// The archive defines MPI_X for the calls that matter and does its work around PMPI_X (the profiling
// interface of the MPI standard). A wrapper of a call that moves messages does, in this order:
// account for it with line::Coordinator, give it to MPI (or not, in recovery), and now and then look for
// control messages. Without ELC_DIR the library is passive: wrappers only call PMPI_X.
#ifndef ELC_MPI_RUNTIME_RUNTIME_H
#define ELC_MPI_RUNTIME_RUNTIME_H

#include <errno.h>
#include <mpi.h>
#include <sched.h>
#include <sys/types.h>

#include "base/compiler.h"
#include "base/config.h"
#include "base/hash_map.h"
#include "base/result.h"
#include "base/text.h"
#include "line/event_logging.h"
#include "mpi/calls/matched_probe.h"
#include "mpi/objects/background.h"
#include "mpi/objects/begun.h"
#include "mpi/objects/communicators.h"
#include "mpi/objects/files.h"
#include "mpi/objects/local_objects.h"
#include "mpi/objects/obstacles.h"
#include "mpi/objects/requests.h"
#include "mpi/objects/windows.h"
#include "mpi/runtime/examination.h"
#include "mpi/runtime/inside.h"
#include "mpi/runtime/messages.h"
#include "mpi/runtime/threads.h"
#include "store/store.h"

namespace elc::mpi {

struct Checks;
struct LineFile;  // line_file.cc
struct Restart;   // restart.cc
struct Requested; // runtime.cc

struct Runtime {
  bool active = false;        // ELC_DIR is set and MPI is initialised: wrappers work
  const char* call = "";      // the call of MPI that the program has entered last
  bool probes = false;        // the program looks for messages, or at requests, without waiting for each (MPI_Iprobe, MPI_Test), or gives up to wait (MPI_Cancel)
  bool sends_synchronously = false;  // it has
  bool waits = false;         // it is in a call that waits for requests
  Threads threads;
  int look_countdown = 0;     // wrapped calls until the next look at the clock
  uint64_t next_look = 0;     // when it pays to look for control messages again
  Told<line::EventLogging*> coordinator;

  Config config;
  int rank = 0;
  int size = 0;
  MPI_Comm control = {};       // control messages, and the library's own collectives
#if MPI_VERSION >= 3
  MPI_Request release = {};    // the barrier that is the vote for release
#else
  int votes_for_release = 0;               // heard so far
#endif
  MPI_Comm self = {};          // messages of the library to itself
  Communicators comms;
  Files files;
  Vector<line::Identity> set_up;  // communicators and files that there were when the set-up was over
  Obstacles obstacles;
  LocalObjects locals;
  Windows windows;
  Told<Requests> requests;
  ForeignCounts foreign_counts;  // in statuses
  Vector<Outgoing> outgoing;     // sends of the library
  Vector<Taken> taken;           // messages on their way into the pending queue
  MatchedMessages matched;
  Spoiled spoiled;
  Requested* requested = nullptr;  // requests for lines: timer, control file
  Checks* checks = nullptr;        // checks.h
  LineFile* line_file = nullptr;   // of the open line
  Restart* restart = nullptr;      // from MPI_Init until everything is in place
  Examination* examination = nullptr;  // of a run of `elc doctor`

  store::Lock job_lock;        // of process 0
  store::FileLocks file_locks;
  store::Notes notes;
  pid_t finalized = 0;         // process 0, when it has been in MPI_Finalize
  bool exiting = false;        // the exit of process 0 has begun
  uint64_t run = 0;            // Commit::run
  uint64_t restart_line = 0;   // the line that this run starts from; 0: from the start
  bool restored = true;        // false from MPI_Init until the state of restart_line is in place
  bool restore_returned = false;  // ELC_Restore has: the program's set-up is over
  Site site = Site::kCheckpoint;  // where the checkpoint being taken stands
  bool skip_call = false;      // the next ELC_Checkpoint_now is the one in which the line was taken
  const char* cannot = nullptr;  // why no line can be taken any more (section 9, I6); nullptr: it can
};

// Never destroyed: the program may call MPI and the library in its exit handlers.
union RuntimeStorage {
  Runtime value;
  constexpr RuntimeStorage() : value() {}
  ~RuntimeStorage() {}
};
extern RuntimeStorage runtime_storage;
inline constexpr Runtime& runtime = runtime_storage.value;

// Whether a wrapper that is called now is called by the program, with the library at work.
inline bool following() { return runtime.active && inside_mpi == 0; }
// The same for one that begins something: not where no line can be taken any more, so that nothing is recorded.
inline bool counting() { return following() && !runtime.coordinator->stopped(); }

// Calls a function of MPI that may wait for other processes, and that MPI may carry out by functions that the program is
// linked with.
template <class F>
int released_inside(F call) {
  return released([&] {
    InsideMpi inside;
    return call();
  });
}

// The beginning of the wrapper of MPI_NAME, which begins something: goes straight to MPI unless it counts; else the call
// is entered.
#define ELC_FOLLOW(NAME, ARGUMENTS)              \
  if (!counting()) return PMPI_##NAME ARGUMENTS; \
  const Entered entered("MPI_" #NAME)

inline void Entered::begin(const char* call) {
  runtime.call = call;
  ++depth;
  if (runtime.threads.several) [[unlikely]] enter();
}
inline void Entered::end() {
  if (runtime.threads.several) [[unlikely]] leave();
  --depth;
}
inline Entered::Entered(const char* call) { begin(call); }
inline Entered::~Entered() { end(); }

// ---- Looking for requests and control messages -------------------------------------------------

// Receives what there is on the control channel, lets the protocol go on, and on process 0 looks at
// the clock and at the control file.
void look();

// Microseconds of a clock that only runs forward.
uint64_t now();

// Looks if that pays: in proportion to what the last look took, which may be much where a probe yields the
// processor. So looking costs the program a thousandth of its time (a delay of one process is one of all that
// wait for it), and a fifth while a line is open.
void look_if_due();

// What the library does on its own account between calls of the program leaves errno as it was; a line has it.
class KeptError {
 public:
  KeptError() : error_(errno) { state::note_error(error_); }
  ~KeptError() { errno = error_; }
  KeptError(const KeptError&) = delete;
  KeptError& operator=(const KeptError&) = delete;

 private:
  const int error_;
};

// On the usual path of every wrapped call.
inline void tick() {
  if (--runtime.look_countdown < 0) [[unlikely]] look_if_due();
}

// Calls `done` until it is true; meanwhile looks and yields. The one way in which the library waits. Other threads may
// come in between.
template <class F>
void wait_until(F done) {
  for (unsigned spins = 1; !done(); ++spins) {
    if (spins % 16 == 0 || runtime.threads.several) {
      const Released released;
      sched_yield();
    }
    if (spins % 64 == 0 || runtime.look_countdown <= 0) look();
  }
}

// At the beginning of every wrapped call that can have a label (ELC_AT): if it has one, it is a site,
// or, in a restart, perhaps the place where the state is to be restored. true: it has one.
bool labelled_call();

// Whether a site may take its local checkpoint here and now: a line was asked for, no other thread is in MPI, this one is in
// no callback, and nothing is under way on a file.
inline bool may_take_line() {
  return runtime.coordinator->due() && (runtime.examination == nullptr || is_examined_site()) && alone() && !called_back() &&
         files_are_quiet();
}

// A site within a labelled call that waits, and that a restart makes again from its beginning.
// `repeated` is the receive that the call has posted, if it has.
void site_while_waiting(line::Posting* repeated);

// ---- Lines and restart --------------------------------------------------------------------------

// This process's side of the protocol, connected to MPI and the store.
line::EventLogging* make_coordinator();

// The timer begins to run.
void start_clock();
// Does nothing: whoever calls it is linked with all wrappers (calls/generate_wrappers.py).
void all_wrappers();
// The ranks in MPI_COMM_WORLD on the machine of this one that name the same place, ascending, for which all ask together.
// None: MPI does not tell.
Vector<uint32_t> ranks_of_machine(const store::Identity& place);
// After PMPI_Init: reads the configuration, makes the control channel, finds the line to restart from.
void start();
// Before PMPI_Finalize.
void finish();

// Restores the state of the line here: all processes call it. Ends the job on failure.
void restore();
// The memory for sends with a buffer that the line has, if MPI had got that from a program that a tool has prepared.
void attach_again();
// Before that, in a restart: state::saved_count of its line.
Result saved_count(const char* name, int64_t* count);
// Coordinator::account, and of the collective operations.
uint64_t account_of_set_up();

// Before a type is made that holds handles of MPI: how large they are.
void set_handle_sizes();

// Ends the job with this exit code: called by one process, at once; or by all together, in good order.
// `at_once`: without what the program does at its exit.
[[noreturn]] void end_job(int code);
[[noreturn]] void end_together(int code, bool at_once);

// Says the failure and ends the job; with other processes, they end too.
[[noreturn]] void give_up(const Result& why);
inline constexpr int kExitRefused = 65;   // EX_DATAERR: the line cannot be restored here
inline constexpr int kExitCannot = 74;    // EX_IOERR: the system has failed, and may not do so again
inline int exit_code_of(const Result& failure) { return failure.may_pass() ? kExitCannot : kExitRefused; }
inline constexpr int kExitStopped = 75;   // EX_TEMPFAIL: a line was taken and the job ended, as asked

// From now on lines are refused, for ever, because of `what` (a literal). Said once. For what has an end: obstacles.h.
void cannot_checkpoint(const char* what);
// What it says of a communicator that the library did not see made, and that is no obstacle.
inline constexpr const char* kUnseenCommunicator = "a communicator was used that libELC did not see made";

// " (called at 0x1234 in the program)" for a place in it; "" for nullptr.
Text caller_text(const void* place);

// ---- Whether a call that moves messages is followed ------------------------------------------------

// Its communicator, if the library follows it and the call concerns another process: nullptr also for MPI_PROC_NULL and
// for a rank that MPI will refuse.
inline Communicator* followed(MPI_Comm comm, int peer) {
  Communicator* c = runtime.comms.find(comm);
  if (c == nullptr || (static_cast<unsigned>(peer) >= c->members.size() && peer != MPI_ANY_SOURCE)) return nullptr;
  return c;
}
// A call on a communicator that is perhaps not followed has done its work.
inline void used_unfollowed(MPI_Comm comm, int peer) {
  if (runtime.comms.find(comm) != nullptr || peer == MPI_PROC_NULL) [[likely]] return;
  if (!is_obstacle(HandleKind::kComm, handle_key(comm))) cannot_checkpoint(kUnseenCommunicator);
}

}  // namespace elc::mpi

#endif
