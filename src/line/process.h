// One process's side of the coordination protocol, Event Logging: recovery lines by counted
// envelopes (thesis 3.3; the optimised logs of the Event Logging paper, 4.2; extended as the
// project's protocol describes, whose section numbers are cited here).
//
// Pure: no MPI, no files, no clock. Events come in by calls; actions go out through Host. The same
// object code runs in a job (src/mpi) and in the simulator (tests/sim).
#ifndef ELC_LINE_PROCESS_H
#define ELC_LINE_PROCESS_H

#include "base/hash_map.h"
#include "base/status.h"
#include "line/consensus.h"
#include "line/counts.h"
#include "line/rules.h"
#include "line/saved.h"
#include "line/types.h"

namespace elc::line {

// What has become of a file that is being written to a disk.
enum class Stable : uint8_t { kNotYet, kYes, kFailed };

// What the layer below does for the protocol. No function may call back into Process, except where
// said. None may block.
struct Host {
  void* context = nullptr;

  // Sends `size` bytes to process `to` on the control channel: reliable, in order for each pair.
  void (*send_control)(void* context, Rank to, const uint8_t* data, size_t size) = nullptr;

  // Saves the local state (protocol section 3, b) of line `line`. false: it cannot be done now (the
  // layer below has said why): the line will be abandoned.
  bool (*save_state)(void* context, LineNumber line) = nullptr;
  // Completes this process's file with `saved` and begins to make it stable (section 7). Same result.
  bool (*save_line)(void* context, LineNumber line, const Saved& saved) = nullptr;
  // Whether that file is stable; asked until it is, or has failed.
  Stable (*line_stable)(void* context, LineNumber line) = nullptr;
  // Writes the commit record; called on process 0 alone, when all files are stable.
  bool (*commit)(void* context, LineNumber line, uint64_t points, uint64_t cost) = nullptr;
  // The messages held for this line exceed Options::max_transit; it will be abandoned.
  void (*too_much_in_transit)(void* context, LineNumber line, uint64_t bytes) = nullptr;
  // The line has ended here, committed or abandoned.
  void (*ended)(void* context, LineNumber line, bool committed) = nullptr;

  // Whether MPI has completed this started receive, without taking it from the application; then
  // its source and tag.
  bool (*posting_complete)(void* context, const Posting& posting, Rank* source, Tag* tag) = nullptr;
  // Copies the data of a completed receive into `message` (content and representation).
  void (*copy_data)(void* context, const Posting& posting, Message* message) = nullptr;
  // Gives a held receive to MPI, with its own pattern or, where it is bound, with its bound envelope.
  void (*start_receive)(void* context, Posting& posting) = nullptr;

  // The first message that MPI shows for `pattern`, not taken: its source and tag; false if none.
  bool (*probe)(void* context, const Pattern& pattern, Rank* source, Tag* tag) = nullptr;
  // Starts to take the message just shown with message's envelope; sets message->arrived when its
  // content is there. The host holds a reference of its own while it is arriving.
  void (*take)(void* context, Message* message) = nullptr;
};

struct Options {
  bool drain = true;           // section 5: drain, or wait until the application receives
  uint64_t max_transit = 0;    // bytes of messages a line may hold here; 0: no limit
};

class Process {
 public:
  Process(const Host& host, Rank self, Rank processes, Options options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // ---- Communicators (section 6) ----
  // The slot of the communicator with this identity and number of members; made here now.
  Comm add_comm(Identity identity, uint32_t size);
  // It was freed here: a collective operation like any other (count it before). Its slot is kept as
  // long as a line may need it.
  void free_comm(Comm comm);
  Identity identity(Comm comm) const { return comms_[comm].identity; }
  // Whether it still means anything to this process or to a line.
  bool knows(Identity identity) const { return comm_of_.find(identity) != nullptr; }
  uint64_t operations(Comm comm) const { return comms_[comm].operations; }

  // ---- Sends ----
  // Counts a send. true: the receiver has this message already; do not send it, return success.
  bool on_send(Rank to, Comm comm, Tag tag) {
    ClassCount& c = counts_.at(to, comm, tag);
    ++c.sent;
    if (c.suppress == 0) [[likely]] return false;
    return suppress(c);
  }

  // ---- Receives ----
  // Posts `posting` (pattern set by the caller). true: give it to MPI now. false: it is queued (wait
  // for message->arrived) or held (wait until start_receive or the queue has answered it).
  bool post(Posting& posting);
  // The application observes the completion of `posting`, with this envelope. Its data are where
  // copy_data finds them (or in posting.message, whose reference passes to the caller: let_go).
  void observe(Posting& posting, Rank source, Tag tag);
  // Takes back a receive that was never observed (cancelled).
  void withdraw(Posting& posting);
  // The first message of the pending queue that matches, or nullptr. For a probe of the application:
  // what it is shown belongs to its past.
  const Message* queued(const Pattern& pattern);
  // A probe has shown the application this message, which is not in the queue (section 1).
  void on_probe(Comm comm, Rank source, Tag tag);
  // Replay: false if the message that MPI shows belongs to a receive that is still held back.
  bool may_show(Comm comm, Rank source, Tag tag) const;

  // ---- Collective operations ----
  // Starts the next operation on `comm`; its number. Members start the same operations in the same order.
  uint64_t start_collective(Comm comm);
  // Recovery: the logged result of an operation that crosses the line: do not call MPI. Else nullptr.
  // Forgotten by end_collective.
  const Bytes* logged_result(Comm comm, uint64_t number) const;
  // Whether end_collective wants the result (what the call wrote into its receive buffer).
  bool wants_result(Comm comm, uint64_t number) const;
  void end_collective(Comm comm, uint64_t number, Bytes result);
  // The usual case: no operation has a logged result or needs end_collective.
  bool ignores_results() const {
    return line_ == nullptr && crossing_results_.empty() && pending_operations_.empty();
  }
  // A non-blocking operation is started, and ended when it is seen complete. In between it is
  // pending: `pending_collective` tells the line so at its start.
  void pending_collective(Comm comm, uint64_t number);

  // ---- Nondeterminism (section 3, W3; section 8, step 4) ----
  // Replay: the logged outcome of the call that comes, or nullptr: do as MPI does. Valid until the next call.
  const Bytes* replay_outcome(NdKind kind);
  void record_outcome(NdKind kind, const Bytes& outcome);
  // The outcome just returned does not fit the call: the program takes another way than in the log,
  // whose rest is forgotten.
  void end_replay();
  bool recording() const { return window_open_; }
  // Whether any call has to ask: in the usual case neither log nor replay is on.
  bool replaying() const { return replaying_; }
  // Whether a send must not wait for its receive: the receiver may hold that back, in a replay, and be inside a
  // call that does not look until this process comes to it. Until all are released.
  bool sends_in_background() const { return applies(Rule::kBackground) ? replay_anywhere_ : replaying_; }

  // ---- Lines (section 2) ----
  // Asks for a line (timer, signal, another member seen ahead in a barrier).
  void request();
  void request_line(LineNumber line);
  // A site: takes the local checkpoint if a line was asked for. true: taken.
  bool site() { return due() && take(); }
  bool due() const { return requested_ > last_line_ && line_ == nullptr && !finalizing_ && running_; }
  // A site that asks for a line by itself, once for each program point. true: taken.
  bool site_now();
  // The last line that this process has taken or refused, and the last that it knows committed.
  LineNumber last_line() const { return last_line_; }
  LineNumber committed_line() const { return committed_; }
  bool line_open() const { return line_ != nullptr; }
  // Nothing open, queued, held or replayed: a receive needs no look at the queue.
  bool quiet() const { return line_ == nullptr && queue_.empty() && !replaying_; }

  // ---- Progress ----
  void on_control(Rank from, const uint8_t* data, size_t size);
  // Goes on with whatever can go on. To be called after control messages, and often while busy().
  void poll();
  // Whether poll has something to look after by itself (a line, a replay).
  bool busy() const { return line_ != nullptr || replay_anywhere_ || !running_ || finalizing_; }
  // The cost of this line to this process, in the caller's unit: the largest goes to `commit`.
  void add_cost(uint64_t cost) { if (line_ != nullptr) line_->cost += cost; }

  // ---- Recovery (section 8) ----
  // Takes over what the line has saved; before any event, in an object just made. Fails on a saved
  // line that contradicts itself.
  Status load(Saved&& saved);
  // Tells the other processes of the orphans; running() when all have told. The communicators must
  // have been added.
  void start_recovery();
  bool running() const { return running_; }
  // Lines are numbered above `line` from now on, the same at all processes; before the first request.
  void number_from(LineNumber line) { last_line_ = requested_ = line; }
  // Posts a receive again that was pending at the checkpoint, with its old pattern under its old
  // number; in the order of the numbers. Result as of post.
  bool post_again(Posting& posting, uint64_t number);
  // The logged result of a non-blocking collective that was pending at the checkpoint.
  const Bytes* pending_result(Comm comm, uint64_t number) const;

  // ---- The end (section 7) ----
  // Finalize: finishes or refuses the open line; finished() when all processes are here.
  void finalize();
  bool finished() const { return finished_; }

 private:
  enum class Phase : uint8_t { kTaken, kKnown, kReady, kClosed, kSaved, kDone };

  struct CommState {
    Identity identity = 0;
    uint64_t operations = 0;  // coll[c] of section 1
    uint32_t size = 0;
    bool made = false;        // here; else only heard of
    bool freed = false;
    Posting* first = nullptr;  // receives not yet observed, in posting order
    Posting* last = nullptr;
  };

  struct Operation {  // the number-th operation on a communicator, and perhaps its result
    Comm comm = 0;
    uint64_t number = 0;
    bool complete = false;
    Bytes result;
  };

  struct Missing {  // in-transit messages of a class that the line does not hold yet
    Rank source = 0;
    Comm comm = 0;
    Tag tag = 0;
    uint64_t count = 0;
  };

  struct Crossing {  // an entry of consensus 1: operations up to `last` were started by some member
    Identity identity = 0;
    uint64_t last = 0;
  };

  struct Shown {
    Comm comm = 0;
    Rank source = 0;
    Tag tag = 0;
    Posting* claimed = nullptr;  // the receive that probably took it
  };

  struct Log {  // a `sent` table that has arrived
    LineNumber line = 0;
    Rank from = 0;
    Vector<WireCount> counts;
  };

  // The line that is open here: from the local checkpoint until committed or abandoned.
  struct OpenLine {
    LineNumber number = 0;
    Phase phase = Phase::kTaken;
    bool refused = false;   // not taken, or the state could not be saved
    bool voted = false;     // in the consensus of this phase
    bool agreed = false;    // consensus 1 is done: `crossing` and D are known
    bool replayed = false;  // this process was replaying at the checkpoint
    uint64_t cost = 0;
    Vector<ClassEntry> frozen;
    Vector<Residue> residue;       // residue' once known
    Vector<Missing> missing;
    Vector<Message*> window;       // W1 in the order of observation, as far as not yet sorted
    Vector<Message*> held;         // in transit: the queue of the checkpoint, then as they were found
    Vector<uint64_t> operations;   // by slot, at the checkpoint
    Vector<Crossing> crossing;
    Vector<Operation> results;     // W2
    Vector<Operation> pending;     // non-blocking operations pending at the checkpoint
    Saved saved;                   // filled in as things become known
  };

  // receive.cc
  bool suppress(ClassCount& count);
  bool place(Posting& posting);
  void bind(Posting& posting);
  bool strays(const Posting& posting) const;
  bool settle(Posting& posting);
  void link(Posting& posting);
  void unlink(Posting& posting);
  bool answer_from_queue(Posting& posting);
  bool held_back(const Posting& posting) const;
  bool held_before(const Posting& posting, const Pattern& pattern) const;
  void count_receive(Posting& posting, Rank source, Tag tag);
  void record_receive(const Posting& posting, Rank source, Tag tag);
  void imply(Posting& posting);
  void record_matched();
  void imply_until(const Posting* end, Comm comm, Rank source, Tag tag);
  void count_queued(Posting& posting);
  void resolve(Posting& posting, Rank source, Tag tag);
  bool logging() const;
  Message* log_place(const Posting& posting, Rank source, Tag tag);
  void log_observed(Posting& posting, Rank source, Tag tag);
  void fill_log(Posting& posting);
  void look_at_counted();
  void try_held();
  void forget_shown(Comm comm, Rank source, Tag tag);
  void claim_shown(Posting& posting);
  void count_before(Message* message, Comm comm, Rank source, Tag tag);
  void take_shown();
  void imply_queued();
  Message* take_message(Comm comm, Rank source, Tag tag, bool counted);

  // line.cc
  bool take();
  void refuse();
  void open_line();
  void snapshot();
  void snapshot_receives();
  Message* completion_of(Posting& posting) const;
  void send_logs();
  Vector<CommVote> comm_votes() const;
  void taken_by_all(const Vote& result);
  void ready_everywhere(const Vote& result);
  void identify();
  void sort_window();
  void hold(Message* message);
  bool step_line();
  bool late_operations_ended() const;
  bool everything_held() const;
  Missing* missing(Rank source, Comm comm, Tag tag);
  void drain();
  void drain_postings(Comm comm);
  void drain_stream(Comm comm, Rank source);
  bool finish_file();
  void close(bool committed);
  void forget_freed();
  bool late_for(Comm comm, uint64_t number) const;

  // control.cc
  void vote(ConsensusKind kind, const Vote& own);
  void forward(ConsensusKind kind);
  void announce(ConsensusKind kind, const Vote& result);
  void decide(ConsensusKind kind, const Vote& result);
  void receive_vote(Decoder& in);
  void receive_result(Decoder& in);
  void flood_request(Rank except);
  void vote_release();
  void send_counts(Rank to, bool orphans, LineNumber line, const Vector<WireCount>& counts);
  void receive_counts(Rank from, Decoder& in, bool orphans);
  void send(Rank to, const Bytes& bytes) { host_.send_control(host_.context, to, bytes.data(), bytes.size()); }
  Comm intern(Identity identity);

  // process.cc
  void step_recovery();
  void step_release();
  void forget_log();

  Host host_;
  Rank self_;
  Rank processes_;
  Options options_;

  Vector<CommState> comms_;
  HashMap<Comm> comm_of_;
  Vector<Comm> free_slots_;
  Counts counts_;
  Vector<Message*> queue_;  // the pending queue, in arrival order
  Vector<Shown> shown_;
  Vector<Operation> pending_operations_;
  uint64_t postings_ = 0;
  size_t counted_postings_ = 0;   // counted, not yet observed
  size_t unresolved_postings_ = 0;
  size_t held_postings_ = 0;

  OpenLine* line_ = nullptr;
  bool window_open_ = false;
  LineNumber last_line_ = 0;
  LineNumber requested_ = 0;
  LineNumber committed_ = 0;
  uint64_t calls_ = 0;        // of site_now
  uint64_t points_ = 0;       // D of section 2
  bool early_call_ = false;
  Vector<Log> logs_;
  uint64_t unacknowledged_ = 0;
  Consensus consensus_[kConsensusKinds];

  bool running_ = true;
  bool told_orphans_ = false;
  bool restart_voted_ = false;
  bool replaying_ = false;
  bool release_voted_ = false;
  Rank release_votes_ = 0;
  bool replay_anywhere_ = false;  // not all processes are known to be released
  uint64_t to_suppress_ = 0;
  Vector<Operation> crossing_results_;
  Vector<Operation> pending_results_;
  Vector<Outcome> outcomes_;      // W3 being replayed
  size_t next_outcome_ = 0;
  uint32_t outcome_uses_ = 0;
  Vector<BoundReceive> bound_;
  Vector<SavedPosting> saved_postings_;

  bool finalizing_ = false;
  bool finalize_voted_ = false;
  bool finished_ = false;
};

}  // namespace elc::line

#endif
