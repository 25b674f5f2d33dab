// What coordinates a job: the interface between the wrappers of MPI calls and a protocol.
//
// Events come in by the functions of Coordinator: what the application does, what arrives on the control channel, that
// time passes. Actions go out through Host. A coordinator is pure: it knows no MPI, no files, no clock, so that the
// same object code runs in a job (src/mpi) and in the simulator (tests/sim). It is not thread-safe.
//
// EventLogging (event_logging.h) is the coordinator that there is.
#ifndef ELC_LINE_COORDINATOR_H
#define ELC_LINE_COORDINATOR_H

#include "base/memory.h"
#include "base/result.h"
#include "line/saved.h"
#include "line/types.h"

namespace elc::line {

// Why a line is not committed: the process that said so (the one of the lowest rank that did) and its words, at most
// kLongestReason bytes of one line.
struct Refusal {
  Rank rank = 0;
  const char* text = "";
};
inline constexpr size_t kLongestReason = 200;
// The reason of a line that MPI_Finalize has met.
inline constexpr const char* kProgramEnds = "the program ends";
// And of lines that end_set_up forbids.
inline constexpr const char* kSetUpUnderWay =
    "the program's set-up, which a restart runs again, leaves a message under way, or a collective operation that other ranks "
    "call behind it: end both before ELC_Restore";
// And of lines that messages cross where the program may know by a synchronous send that its message was received.
inline constexpr const char* kSynchronous =
    "messages cross it, MPI_Issend or MPI_Ssend was called, and the program looks for messages without waiting (MPI_Iprobe, MPI_Test): the next one may be quieter; elc.7, ELC_EARLY_SENDS";

// What can be said of a receive that the application cancels.
enum class Fate : uint8_t {
  kOpen,       // MPI has it: call MPI_Cancel; withdraw or observe tells what became of it
  kReceived,   // it has its message, or will have: it is received as if nothing had been asked
  kWithdrawn,  // MPI never had it; it is cancelled, and forgotten here
};

// What the layer below does for the protocol. No function may call back into the coordinator, except where said. None
// may block.
struct Host {
  void* context = nullptr;

  // Sends `size` bytes to process `to` on the control channel: reliable, in order for each pair.
  void (*send_control)(void* context, Rank to, const uint8_t* data, size_t size) = nullptr;

  // Whether the layer above can be saved here; otherwise the line is taken at a later site. nullptr: it always can. `is_begun`: it is known that
  // another process has taken its checkpoint for it.
  bool (*settled)(void* context, bool is_begun) = nullptr;

  // Release (PROTOCOL.md, section 8): this process votes for it, once in a restart; and whether all have, asked until they
  // have. What it takes for that to be known everywhere goes on while processes are inside blocking operations of MPI.
  void (*vote_for_release)(void* context) = nullptr;
  bool (*all_voted_for_release)(void* context) = nullptr;

  // ---- Files. A failure is the reason with which the line will be refused; all processes are told. ----
  // Saves the local state of line `line`. May call add_cost.
  Result (*save_state)(void* context, LineNumber line) = nullptr;
  // Whether all of that is in this process's file; asked until it is, or has failed. nullptr: it is when save_state returns.
  Result (*state_saved)(void* context, LineNumber line, bool* saved) = nullptr;
  // Completes this process's file with `saved` and begins to make it stable. May call add_cost.
  Result (*save_line)(void* context, LineNumber line, const Saved& saved) = nullptr;
  // After that: what told addresses the file has, in any order (see ToldAddress); and whether some of those of all processes are
  // addresses of what this process's file has, so that a restart would have it elsewhere. nullptr, both: the program has none.
  void (*told_addresses)(void* context, Vector<ToldAddress>* out) = nullptr;
  Result (*check_told)(void* context, const Vector<ToldAddress>& all) = nullptr;
  // Whether that file is stable; asked until it is, or has failed. May call add_cost.
  Result (*line_stable)(void* context, LineNumber line, bool* stable) = nullptr;
  // Writes the commit record; called on process 0 alone, when all files are stable, and again until *done, or it has failed:
  // then there is no record.
  Result (*commit)(void* context, LineNumber line, uint64_t points, uint64_t cost, bool* done) = nullptr;
  // The line has ended here: committed, or else refused for this reason, which is the same at all processes; the text
  // is valid during the call. May call knows and committed_line.
  void (*ended)(void* context, LineNumber line, bool committed, const Refusal& refusal) = nullptr;
  // Process 0 has told all that lines were removed (tell_removed). May not call back.
  void (*removed)(void* context) = nullptr;
  // Freed communicators were forgotten without a line: see knows. nullptr: nobody wants to hear it.
  void (*forgotten)(void* context) = nullptr;

  // ---- Messages in MPI's hands ----
  // Whether MPI has completed this started receive, without taking it from the application; then its source and tag.
  // Not asked about one that is being cancelled.
  bool (*posting_complete)(void* context, const Posting& posting, Rank* source, Tag* tag) = nullptr;
  // Copies the data of a completed receive into `message` (content and representation). Where there is no memory for them,
  // save_line has to fail for the line that is open.
  void (*copy_data)(void* context, const Posting& posting, Message* message) = nullptr;
  // Gives a held receive to MPI, with its own pattern or, where it is bound, with its bound envelope.
  void (*start_receive)(void* context, Posting& posting) = nullptr;
  // The first message that MPI shows for `pattern`, not taken: its source and tag; false if none.
  bool (*probe)(void* context, const Pattern& pattern, Rank* source, Tag* tag) = nullptr;
  // Starts to take the message just shown with message's envelope; sets message->arrived when its content is there.
  // The host holds a reference of its own while it is arriving. false: there is no memory for it, and it stays in MPI.
  bool (*take)(void* context, Message* message) = nullptr;
  // Whether the program goes on where a message has not come: it looks for messages, or at receives, without waiting for each, or gives up
  // to wait. nullptr: it does not.
  bool (*looks)(void* context) = nullptr;
  // Whether messages are usual from now on (Coordinator::usual), where that has changed. nullptr: nobody wants to hear it.
  void (*usual)(void* context, bool usual) = nullptr;
  // The program takes another way than in the log, although others depend on what it did then: what they have seen will
  // not come again. Where the call returns, the log is forgotten and the program goes on.
  void (*strayed)(void* context) = nullptr;
};

class Coordinator {
 public:
  virtual ~Coordinator() = default;
  static void operator delete(void* memory) { release(memory); }
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  // ---- Communicators ----
  // The slot of the communicator with this identity and number of members; made here now.
  virtual Comm add_comm(Identity identity, uint32_t size) = 0;
  // It was freed here: a collective operation like any other (count it before). Its slot is kept as long as a line may
  // need it.
  virtual void free_comm(Comm comm) = 0;
  virtual Identity identity(Comm comm) const = 0;
  // Whether it still means anything to this process or to a line.
  virtual bool knows(Identity identity) const = 0;

  // ---- Messages ----
  // The usual case: no line is open, nothing is queued, held or replayed, here or elsewhere, and lines can still be taken. A
  // message that is sent is counted and no more, a receive is noted and given to MPI.
  bool usual() const { return usual_; }

  // ---- Sends ----
  // Counts a send, when the call is made. true: the receiver has this message already; do not send it, return success.
  virtual bool on_send(Rank to, Comm comm, Tag tag) = 0;
  // Of the last send to this class, which has been counted, the program learns when its message is received (MPI_Issend).
  virtual void sent_synchronously(Rank to, Comm comm, Tag tag) = 0;
  // The program has waited for one to be received. A restart does not, in a replay (section 8): while it is `sends_in_background`.
  virtual void waited_synchronously() = 0;
  // Whether a send must not wait for its receive, which may be held back in a replay.
  bool sends_in_background() const { return sends_in_background_; }

  // ---- Receives ----
  // Posts `posting` (a new one, its pattern set by the caller, who keeps it where it is until observe, withdraw or
  // kWithdrawn). true: give it to MPI now. false: it is queued (wait for message->arrived) or held (wait until
  // start_receive or the pending queue has answered it).
  virtual bool post(Posting& posting) = 0;
  // Posts a receive again that was pending at the checkpoint, with its old pattern under its old number; in the order
  // of the numbers, all of which the line has, before any other. Result as of post.
  virtual bool post_again(Posting& posting, uint64_t number) = 0;
  // The application observes the completion of `posting`, with this envelope. Its data are where copy_data finds them
  // (or in posting.message, whose reference passes to the caller: let_go).
  virtual void observe(Posting& posting, Rank source, Tag tag) = 0;
  // The application cancels `posting`, which it has not observed: from now on nothing follows for it from what other
  // receives observe, until its fate is known. No line is taken in between.
  virtual Fate cancel(Posting& posting) = 0;
  // It was cancelled (or MPI refused it when it was started): it has received nothing and never will.
  virtual void withdraw(Posting& posting) = 0;

  // ---- Probes. First the pending queue is looked at, then MPI. ----
  // The first message of the pending queue that matches, or nullptr; perhaps still arriving. Belongs to the queue.
  virtual const Message* queued(const Pattern& pattern) = 0;
  // The same for a matched probe, which takes it: the reference passes to the caller (let_go).
  virtual Message* take_queued(const Pattern& pattern) = 0;
  // false: the message that MPI shows belongs to a receive that is held back in a replay; it is not to be shown.
  virtual bool may_show(Comm comm, Rank source, Tag tag) const = 0;
  // Whether a receive on this communicator is held.
  virtual bool holds(Comm comm) const = 0;
  // A probe has shown the application this message of MPI's.
  virtual void on_probe(Comm comm, Rank source, Tag tag) = 0;
  // A matched probe has taken this message from MPI: it is received. Where a line needs its content, a message to be
  // filled (content, representation, arrived) when that is here, with a reference for the caller (let_go); else
  // nullptr.
  virtual Message* take_matched(Comm comm, Rank source, Tag tag) = 0;
  // Nothing open, queued, held or replayed: a probe needs no look at the queue.
  virtual bool quiet() const = 0;

  // ---- Collective operations ----
  // Members of a communicator start the same operations in the same order; so far here:
  virtual uint64_t operations(Comm comm) const = 0;
  // Starts the next operation; its number.
  virtual uint64_t start_collective(Comm comm) = 0;
  // The usual case: no operation has a logged result or needs end_collective.
  virtual bool ignores_results() const = 0;
  // Recovery: the logged result of an operation that crosses the line: do not call MPI. Else nullptr. Forgotten by
  // end_collective.
  virtual const Bytes* logged_result(Comm comm, uint64_t number) const = 0;
  // Whether end_collective wants the result (what the call wrote into its receive buffer).
  virtual bool wants_result(Comm comm, uint64_t number) const = 0;
  virtual void end_collective(Comm comm, uint64_t number, Bytes result) = 0;
  // The same for one that the library cannot log: a line that it turns out to cross is refused, and the reason names
  // `call` (a literal: "MPI_Cart_create"). To be called whether or not results are ignored.
  virtual void end_unfollowed(Comm comm, uint64_t number, const char* call) = 0;
  // A non-blocking operation is started, and ended when it is seen complete. In between it is pending: this tells so,
  // at its start. A line has the results of those that it found pending (Saved::pending): a restart completes them.
  virtual void pending_collective(Comm comm, uint64_t number) = 0;
  // The next operation on this communicator may be the first that the other members (ranks of the world) ever hear of it:
  // no operation on another communicator has made it (MPI_Comm_create_group). A line that it crosses tells them.
  virtual void tell_members(Comm comm, const Rank* others, size_t count) = 0;
  // A call in which this process and these others (ranks of the world) take part and that is no collective operation
  // of a followed communicator (MPI_Intercomm_create): a line that it crosses is refused, and the reason
  // names `call` (a literal).
  virtual void on_group_call(const Rank* others, size_t count, const char* call) = 0;
  // The same for one of two calls by which a process that sends and one that receives come together (MPI_Psend_init,
  // MPI_Precv_init): in which order two processes make those of both ways they choose themselves.
  virtual void on_pair_call(Rank other, bool sends, const char* call) = 0;

  // ---- The program's set-up, which a restart runs again ----
  // A number of what was sent and received so far, but on communicators that were freed: the numbers of all processes,
  // combined by exclusive or, give 0 where all that was sent has been received.
  virtual uint64_t account() const = 0;
  // The set-up is over, with this account: unless those of all processes give 0, lines are refused (kSetUpUnderWay).
  virtual void end_set_up(uint64_t account) = 0;

  // ---- Nondeterminism ----
  // Whether any call has to ask for a logged outcome, and whether outcomes are recorded: usually neither.
  bool replaying() const { return replaying_; }
  bool recording() const { return recording_; }
  // Replay: the logged outcome of the call that comes, or nullptr: do as MPI does. Valid until the next call.
  virtual const Bytes* replay_outcome(NdKind kind) = 0;
  virtual void record_outcome(NdKind kind, const Bytes& outcome) = 0;
  // The outcome just returned does not fit the call: the program takes another way than in the log, whose rest is
  // forgotten. That is its right behind the last thing that others depend on (Host::strayed).
  virtual void end_replay() = 0;

  // ---- Lines ----
  // Asks for a line (timer, signal); request_line for this one, which another member of a barrier has taken.
  virtual void request() = 0;
  virtual void request_line(LineNumber line) = 0;
  // The newest line that this process has been asked for or has taken.
  virtual LineNumber newest_line() const = 0;
  // No checkpoint is taken here for lines up to this one, which others have taken: they are refused, for this reason (a
  // literal).
  virtual void decline(LineNumber line, const char* reason) = 0;
  // Whether a site would try to take a local checkpoint.
  virtual bool due() const = 0;
  // A site: takes the local checkpoint if a line was asked for. true: taken.
  virtual bool site() = 0;
  // A site that asks for a line by itself, once for each program point. true: taken.
  virtual bool site_now() = 0;
  // The same where no local checkpoint can be taken at this moment: a later site does it.
  virtual void pass_now() = 0;
  // The last line that this process has taken or refused, and the last that it knows committed.
  virtual LineNumber last_line() const = 0;
  virtual LineNumber committed_line() const = 0;
  virtual bool line_open() const = 0;
  // The open line cannot be kept, for this reason of the layer above: it is refused, unless its file is complete. Nothing
  // is kept for it from now on.
  virtual void refuse_line(const char* reason) = 0;
  // The cost of the open line to this process, in the caller's unit: the largest of all goes to `commit`.
  virtual void add_cost(uint64_t cost) = 0;

  // Process 0 has removed the records of lines that are not kept any more: tells the others, not after the program's end.
  virtual void tell_removed() = 0;

  // ---- Progress ----
  virtual void on_control(Rank from, const uint8_t* data, size_t size) = 0;
  // Goes on with whatever can go on. To be called after control messages, now and then, and often while busy().
  virtual void poll() = 0;
  // Whether poll has something to look after by itself (a line, a replay).
  virtual bool busy() const = 0;

  // ---- Recovery ----
  // Takes over what the line has saved; before any event, in an object just made. Fails on a saved line that
  // contradicts itself.
  virtual Result load(Saved&& saved) = 0;
  // Goes on from there, together with the other processes, until running(). The communicators must have been added.
  virtual void start_recovery() = 0;
  virtual bool running() const = 0;
  // Lines are numbered above `line` from now on, the same at all processes; before the first request.
  virtual void number_from(LineNumber line) = 0;

  // ---- The end ----
  // No line can be taken from now on, for ever: all processes are told. An open line is refused.
  virtual void never() = 0;
  // All processes know that there will be no line, and nothing is open, queued, held or replayed here any more: events
  // of messages, operations and outcomes need not be told from now on (finalize has to be). Never false again.
  bool stopped() const { return stopped_; }
  // MPI_Finalize: finishes or refuses the open line; finished() when all processes are here.
  virtual void finalize() = 0;
  virtual bool finished() const = 0;

 protected:
  Coordinator() = default;

  // Asked in every call, so kept here.
  bool usual_ = false;
  bool sends_in_background_ = false;
  bool replaying_ = false;
  bool recording_ = false;
  bool stopped_ = false;
};

}  // namespace elc::line

#endif
