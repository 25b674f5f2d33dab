// The library in a running MPI process: what the wrappers share.
//
// The archive defines MPI_X for the calls that matter and does its work around PMPI_X (the profiling
// interface of the MPI standard). A wrapper of a call that moves messages does, in this order:
// account for it with line::Process, give it to MPI (or not, in recovery), and now and then look for
// control messages. Without ELC_DIR the library is passive: wrappers only call PMPI_X.
#ifndef ELC_MPI_RUNTIME_H
#define ELC_MPI_RUNTIME_H

#include <mpi.h>
#include <sched.h>

#include "base/compiler.h"
#include "base/config.h"
#include "base/hash_map.h"
#include "base/status.h"
#include "line/process.h"
#include "mpi/communicators.h"
#include "mpi/inside.h"
#include "store/store.h"

namespace elc::mpi {

struct Runtime {
  bool active = false;        // ELC_DIR is set and MPI is initialised: wrappers work
  int look_countdown = 0;     // wrapped calls until the next look at the clock
  uint64_t next_look = 0;     // when it pays to look for control messages again
  line::Process* process = nullptr;

  Config config;
  int rank = 0;
  int size = 0;
  MPI_Comm control = {};       // control messages, and the library's own collectives
  MPI_Comm self = {};          // messages of the library to itself
  Communicators comms;

  uint64_t run = 0;            // Commit::run
  uint64_t restart_line = 0;   // the line that this run starts from; 0: from the start
  bool restored = true;        // false from MPI_Init until the state of restart_line is in place
  Site site = Site::kCheckpoint;  // where the checkpoint being taken stands
  bool skip_call = false;      // the next ELC_Checkpoint_now is the one in which the line was taken
  const char* cannot = nullptr;  // why no line can be taken any more (section 9, I6); nullptr: it can
};

extern Runtime runtime;

// Whether a wrapper that is called now is called by the program, with the library at work.
inline bool following() { return runtime.active && inside_mpi == 0; }

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

// On the usual path of every wrapped call.
inline void tick() {
  if (--runtime.look_countdown < 0) [[unlikely]] look_if_due();
}

// Calls `done` until it is true; meanwhile looks and yields. The one way in which the library waits.
template <class F>
void wait_until(F done) {
  for (unsigned spins = 1; !done(); ++spins) {
    if (spins % 16 == 0) sched_yield();
    if (spins % 64 == 0 || runtime.look_countdown <= 0) look();
  }
}

// At the beginning of every wrapped call that can have a label (ELC_AT): if it has one, it is a site,
// or, in a restart, perhaps the place where the state is to be restored. true: it has one.
bool labelled_call();

// A site within a labelled call that waits, and that a restart makes again from its beginning.
// `repeated` is the receive that the call has posted, if it has.
void site_while_waiting(line::Posting* repeated);

// ---- Lines and restart --------------------------------------------------------------------------

// This process's side of the protocol, connected to MPI and the store.
line::Process* make_process();

// The timer begins to run.
void start_clock();
// After PMPI_Init: reads the configuration, makes the control channel, finds the line to restart from.
void start();
// Before PMPI_Finalize.
void finish();

// Restores the state of the line here: all processes call it. Ends the job on failure.
void restore();

// Ends the job with this exit code: called by one process, at once; or by all together, in good order.
[[noreturn]] void end_job(int code);
[[noreturn]] void end_together(int code);

// Says the failure and ends the job with exit code `code`; with other processes, they end too.
[[noreturn]] void give_up(const Status& why);
inline constexpr int kExitRefused = 65;   // EX_DATAERR: the line cannot be restored here
inline constexpr int kExitStopped = 75;   // EX_TEMPFAIL: a line was taken and the job ended, as asked

// What cannot_checkpoint() says of a communicator that was not seen made.
inline constexpr const char* kOtherCommunicator =
    "a communicator was made by another call than MPI_Comm_dup and MPI_Comm_split, which libELC follows";

// From now on lines are refused, because of `what` (a literal). Said once.
void cannot_checkpoint(const char* what);

}  // namespace elc::mpi

#endif
