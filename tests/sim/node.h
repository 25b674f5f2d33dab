// One simulated process: the program's state (all that a checkpoint saves of it), the wrapped MPI
// calls, and its line::Coordinator.
#ifndef ELC_TESTS_SIM_NODE_H
#define ELC_TESTS_SIM_NODE_H

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "line/coordinator.h"
#include "line/epochs.h"
#include "sim/network.h"
#include "sim/program.h"

namespace sim {

class World;

struct CommInfo {
  uint64_t identity = 0;
  bool live = false;
  std::vector<Rank> members;
  int first = 0;  // members of the first group of an intercommunicator; 0: it is none
  bool persistent = false;  // a persistent operation, made on the communicator of this handle
  int made_on = 0;
};

struct Request {
  enum class What : uint8_t { kNone, kSend, kReceive, kCollective };
  What what = What::kNone;
  bool complete = false;  // a collective that the library has seen complete
  bool has_value = false;
  int comm = 0;
  Rank source = kAny;  // of a receive
  Tag tag = kAny;
  uint64_t posting = 0;  // counted by the program: the order in which MPI matches
  uint64_t number = 0;   // the library's number of the receive or operation
  uint64_t value = 0;    // a collective's result
  bool cancel = false;   // of a receive: it was cancelled
  bool withdrawn = false;  // and it has received nothing: the protocol has said so at once
  size_t record = 0;     // its entry in App::collectives
  bool shown = false;    // of a receive: its status was asked for, and told
  Rank shown_source = 0;
  Tag shown_tag = 0;
};

// The logical execution, which goes back with the state at a recovery. The checker reads it.
struct SentClass {
  Rank dest = 0;
  uint64_t comm = 0;
  Tag tag = 0;
  std::vector<uint64_t> contents;
};
struct Received {
  Rank source = 0;
  uint64_t comm = 0;
  Tag tag = 0;
  uint64_t posting = 0;
  uint64_t index = 0;
  uint64_t content = 0;
};
struct Shown {  // by a probe, or a status: the first `count` messages of a class at least were there
  Rank source = 0;
  uint64_t comm = 0;
  Tag tag = 0;
  uint64_t count = 0;
};
struct CollectiveRecord {
  uint64_t comm = 0;
  uint64_t number = 0;
  uint64_t counted = 0;  // the same, to the protocol
  Contribution contribution;
  int made = 0;  // the handle of the new communicator
  bool unfollowed = false;
  bool group = false;  // of no communicator that the library knows
  std::vector<Rank> members;
  bool ended = false;
  bool has_value = false;
  uint64_t value = 0;
};
// A process's side of a memory window.
struct Access {  // an operation of this process
  int epoch = 0;  // fences before it
  Rank target = 0;
  uint64_t content = 0;
  bool fetches = false;
  bool executed = false;
  uint64_t before = 0;  // what it found
};
struct Load {
  int epoch = 0;
  uint64_t value = 0;
};
struct Window {
  int handle = 0;
  uint64_t identity = 0;
  bool live = false;
  bool fenced = false;
  int fences = 0;
  uint64_t memory = 0;  // into which all add
  std::vector<Access> accesses;
  std::vector<Load> loads;
};
struct Written {  // to a file
  uint64_t place = 0;
  uint64_t content = 0;
  bool done = true;
};

// All of the program's state.
struct App {
  size_t at = 0;       // the instruction
  int stage = 0;       // within it
  uint64_t count = 0;  // loops within it
  uint64_t hash = 0;   // of everything observed
  uint64_t postings = 0;
  uint64_t calls = 0;  // of kSiteNow
  Rank probed_source = 0;
  Tag probed_tag = 0;
  bool done = false;
  std::vector<CommInfo> comms;
  std::vector<Request> requests;
  std::vector<SentClass> sent;
  std::vector<Received> received;
  std::vector<Shown> shown;
  std::vector<CollectiveRecord> collectives;
  std::vector<Window> windows;
  std::vector<Written> written;
  bool writing = false;  // between the halves of a call
};

class Node {
 public:
  Node(World& world, Rank self);
  ~Node();
  Node(const Node&) = delete;

  // From the start of the program, or from a line.
  void start();
  void restart(const App& app, const elc::Bytes& saved);
  // The state as a checkpoint saves it now.
  App saved_app() const;

  // One call of the program, or one look while it waits.
  void step();
  // What the library does on its own: non-blocking operations that have ended, then the protocol.
  void progress();

  // Whether it looks at control messages now.
  bool looks() const;
  void on_control(Rank from, const uint8_t* data, size_t size);
  // Whether its program is at its end.
  bool ends() const { return instr().op == Op::kFinalize; }
  // Whether the library still follows what the program does.
  bool follows() const { return !process->stopped(); }
  bool said_never() const { return never_; }
  // How often process 0 has said that lines are removed, or this one has heard it.
  int removals() const { return removals_; }
  const Instr& instr() const;
  // For a trace: where it stands and what it waits for.
  std::string situation() const;
  // What counts as received at a checkpoint has been received by MPI.
  void check_counted() const;
  bool has_queued(int handle) const { return process->queued({slot_of(handle), kAny, kAny}) != nullptr; }
  // Why the line cannot have its state, if it cannot; and why it cannot be replayed.
  const char* hindrance() const;
  const char* spoiled(elc::line::LineNumber line) const { return spoiled_ == line ? why_spoiled_ : nullptr; }
  // The window with this identity; nullptr: it has none.
  Window* window(uint64_t identity);

  App app;
  std::unique_ptr<elc::line::Coordinator> process;
  bool dead = false;

 private:
  // The parts of a request that are not state.
  struct Live : elc::line::Posting {
    int receive = -1;    // with MPI
    int sent = -1;       // the message whose match ends it
    int operation = -1;  // collective
    bool withdrawn = false;  // cancelled: it has received nothing
    bool known = false;      // the protocol knows that
  };
  struct Taken {  // by a matched probe
    Rank source = 0;
    Tag tag = 0;
    int receive = -1;  // with MPI; else from the queue
    elc::line::Message* message = nullptr;
  };
  struct Arriving {
    elc::line::Message* message;
    int receive;
  };
  using Pattern = elc::line::Pattern;
  using NdKind = elc::line::NdKind;

  std::unique_ptr<elc::line::Coordinator> make_coordinator();
  void begin_running();
  void complete_collectives(const elc::line::Saved& saved);
  void next();
  bool site();
  bool quiet_file() const;
  void site_now();
  void taken();
  void check_point();
  void observe(uint64_t value) { app.hash = combine(app.hash, value); }
  size_t index_in(const CommInfo& comm) const;
  Rank peer_of(const Instr& instr, int peer) const;
  Tag send_tag(int tag);
  elc::line::Comm slot_of(int handle) const { return slots_[static_cast<size_t>(handle)]; }
  CommInfo& comm(int handle) { return app.comms[static_cast<size_t>(handle)]; }

  // mpi.cc: the wrapped calls
  elc::line::Host host();
  void send(int handle, Rank to, Tag tag, uint64_t extra, const Instr& instr, size_t slot);
  void post(size_t slot, int handle, Rank source, Tag tag, bool may_repeat = false);
  void start_receive(Live& live);
  void log_posting(size_t slot);
  bool complete(size_t slot);
  Payload finish(size_t slot, Rank* source = nullptr, Tag* tag = nullptr);
  bool look(int handle, Rank source, Tag tag, Rank* shown_source, Tag* shown_tag);
  bool ask(NdKind kind);
  void misfit();
  void strayed();
  void record(NdKind kind, const std::vector<uint32_t>& value);
  uint64_t nd();
  bool begin_collective(const Instr& instr, int* operation, size_t* record);
  void end_collective(int handle, size_t record, const CollectiveResult& result, bool has_value);
  elc::Bytes encode(const CollectiveResult& result, bool has_value) const;
  CollectiveResult decode(const elc::Bytes& bytes, bool* has_value) const;
  void make_comm(int handle, const CollectiveResult& result);
  void poll_collectives();
  void poll_arriving();

  // calls.cc: one function for each kind of instruction
  void do_receive(const Instr& instr);
  void do_sendrecv(const Instr& instr);
  bool do_look(const Instr& instr, Rank* source, Tag* tag);
  void do_probe(const Instr& instr);
  void do_iprobe(const Instr& instr);
  void do_wait(const Instr& instr);
  void do_wait_each(const Instr& instr);
  void do_wait_some(const Instr& instr, NdKind kind);
  void do_barrier(const Instr& instr);
  void do_collective(const Instr& instr);
  void do_icollective(const Instr& instr);
  void do_batch_send(const Instr& instr);
  void do_batch_receive(const Instr& instr);
  void do_serve(const Instr& instr);
  void do_gather_any(const Instr& instr);
  void do_lines(const Instr& instr);
  void do_either(const Instr& instr);

  // rare.cc
  void do_cancel(const Instr& instr);
  void do_wait_cancelled(const Instr& instr);
  void do_mprobe(const Instr& instr);
  bool take(int handle, Rank source, Tag asked, Tag tag);
  Payload taken_payload();
  void do_group_call(const Instr& instr);
  void join_group(const Instr& instr);
  void do_get_status(const Instr& instr);
  void has_seen(const Shown& seen);

  // objects.cc
  void spoil_replay(const char* why);
  void do_join(const Instr& instr);
  bool ready_for(elc::line::LineNumber line) const;
  bool settled();
  void make_window(int handle, const CollectiveResult& result);
  void restore_windows();
  void do_fence(const Instr& instr);
  void join_fence(int stage, const Contribution& mine);
  void end_fence(const Instr& instr, bool known);
  void do_access(const Instr& instr);
  void issue(Window& window, size_t access);
  void do_store(const Instr& instr);
  void do_load(const Instr& instr);
  Window& window_of(int handle) { return *window(comm(handle).identity); }
  void write(uint64_t file, uint64_t number, uint64_t content);
  void do_begin(const Instr& instr);
  void do_end();

  // persistent.cc
  // The handle on which an operation on this one is counted.
  int counted_on(int handle) const;
  void make_persistent(int handle, int made_on);
  void make_persistent_again();
  bool is_half_freed(int handle) const;

  World& world_;
  Rank self_;
  std::vector<elc::line::Comm> slots_;  // by handle
  std::vector<Live> live_;              // by request
  std::vector<bool> with_mpi_;          // by handle: a persistent operation that MPI has
  std::vector<Arriving> arriving_;
  int operation_ = -1;  // of a blocking collective
  size_t record_ = 0;
  Taken taken_;
  int fence_ = 0;  // how far it has come in one
  int rounds_ = 0;  // of a barrier
  bool repeats_ = false;  // the operation that has begun, whose result is logged
  std::vector<elc::line::Epochs> epochs_;     // by handle
  std::vector<std::vector<size_t>> put_off_;  // accesses, by handle
  int unsettled_ = 0;                         // sites since the last fence
  elc::line::LineNumber spoiled_ = 0;
  const char* why_spoiled_ = nullptr;
  bool begun_write_ = false;  // the last of App::written is under way
  bool never_ = false;  // was said here
  bool tells_ = false;
  int removals_ = 0;
  bool begun_ = false;
  bool early_ = false;    // a program point has met an open line
  bool judged_ = false;   // which has ended since
  bool asked_ = false;  // this call has asked for its logged outcome
  std::optional<std::vector<uint32_t>> forced_;
};

}  // namespace sim

#endif
