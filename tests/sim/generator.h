// Random programs that cannot deadlock. A program is written down as a sequence of steps that a
// single observer could execute one after the other: a blocking call appears only where everything
// that it waits for has been provided by an earlier (or the same) step. Whatever the schedule, the
// first step that is not complete can then go on. What stays open, for MPI or for the program itself,
// is which message a wildcard gets, what is drawn, and all timing.
#ifndef ELC_TESTS_SIM_GENERATOR_H
#define ELC_TESTS_SIM_GENERATOR_H

#include <deque>
#include <map>
#include <tuple>

#include "sim/program.h"

namespace sim {

constexpr int kUnknown = -9;  // a tag that is chosen at run time

// One communicator; several may share a handle (the parts of a split).
struct CommModel {
  int handle;
  std::vector<Rank> members;
  bool freed = false;
  // A process receives from one other only, by rank; else empty. There a wildcard leaves no choice either.
  std::vector<Rank> partner = {};
  int first = 0;  // members of the first group of an intercommunicator; 0: it is none
};

// A memory window.
struct WindowModel : CommModel {
  bool live = true;
  bool busy = false;  // since the last fence memory may change
};

// A persistent operation: kind and root, and of each member its request and, while that is started, its place among the open ones.
struct PersistentModel : CommModel {
  size_t made_on = 0;
  Kind kind = Kind::kBarrier;
  int root = 0;
  std::map<Rank, int> slots = {};
  std::map<Rank, int> started = {};
};

// Messages and receives of one stream (communicator, source, destination) that the other side has not
// matched yet. Within one stream MPI leaves no choice, so the model knows which matches which.
struct StreamModel {
  struct Send {
    Tag tag;
    int request;  // index of the sender's open request, or -1
  };
  struct Receive {
    Tag tag;
    int request;
  };
  std::deque<Send> sends;
  std::deque<Receive> receives;
};

// A receiver on a communicator is exact (every receive names its source) or wild (none does); wild
// ones count only.
struct ReceiverModel {
  bool wild = false;
  bool any_tag = false;             // all of its receives are (ANY_SOURCE, ANY_TAG)
  std::map<Tag, int> sent, posted;  // by tag; with any_tag all under kAny
  std::vector<int> senders;         // open requests of sends that end when all is received
};

// A request that the program has not waited for.
struct OpenRequest {
  Rank owner;
  int slot;
  size_t comm;    // index of the CommModel
  bool may_wait;  // what it waits for has been provided
  bool done = false;
  Tag wild_tag = kAny;
  int wild_number = 0;  // the k-th wild receive under wild_tag; 0 for others
};

class Generator {
 public:
  explicit Generator(Random& random) : random_(random) {}
  Program run();

 private:
  bool chance(double p) { return random_.chance(p); }
  Instr& add(Rank rank, Op op) {
    auto& code = program_.code[static_cast<size_t>(rank)];
    code.emplace_back();
    code.back().op = op;
    code.back().label = chance(labelled_);
    return code.back();
  }
  size_t pick_comm() {
    for (;;) {
      const size_t c = random_.below(comms_.size());
      if (!comms_[c].freed) return c;
    }
  }
  // How a receive or probe asks for what p sends.
  int asked(size_t comm, Rank p) { return !comms_[comm].partner.empty() && chance(0.6) ? kAny : p; }
  Tag drawn_tag() { return chance(0.5) ? kHashTag : kNdTag; }
  Rank pick_member(size_t comm) { return random_.pick(comms_[comm].members); }
  StreamModel& stream(size_t comm, Rank from, Rank to) { return streams_[{comm, from, to}]; }
  ReceiverModel& receiver(size_t comm, Rank to) { return receivers_[{comm, to}]; }
  int new_slot(Rank rank) { return 2 + slots_[static_cast<size_t>(rank)]++; }
  int open(Rank owner, int slot, size_t comm, bool may_wait) {
    requests_.push_back({owner, slot, comm, may_wait});
    return static_cast<int>(requests_.size()) - 1;
  }
  void provide(int request) {
    if (request >= 0) requests_[static_cast<size_t>(request)].may_wait = true;
  }
  Tag small_tag() { return random_.between(0, 2); }
  Mode mode() {
    static const Mode modes[] = {Mode::kStandard, Mode::kStandard, Mode::kRendezvous, Mode::kBuffered,
                                 Mode::kSynchronous};
    return modes[random_.below(5)];
  }
  static bool blocks(Mode m) { return m == Mode::kRendezvous || m == Mode::kSynchronous; }

  bool send(size_t comm, Rank p, Rank q);
  bool send_exact(size_t comm, Rank p, Rank q);
  void send_wild(size_t comm, Rank p, Rank q);
  bool receive(size_t comm, Rank q);
  bool receive_exact(size_t comm, Rank p, Rank q);
  bool receive_wild(size_t comm, Rank q);
  bool early_receive(size_t comm, Rank p, Rank q);
  bool exchange(size_t comm);
  bool rendezvous(size_t comm);
  bool ready_send(size_t comm);
  bool batch(size_t comm);
  bool serve(size_t comm);
  void collective(size_t comm);
  void icollective(size_t comm);
  void make_comm(size_t parent, int parts = 0);
  void dynamic_block(size_t parent);
  void free_comm(size_t comm);
  void lines(bool last);
  bool either(size_t comm, Rank q);
  void look_around(Rank rank);
  void come_and_go(size_t parent);
  // rare.cc
  void rare(size_t comm);
  void free_soon(size_t parent);
  bool cancelled(size_t comm, Rank p, Rank q);
  bool matched_probes(size_t comm, Rank p, Rank q);
  void unfollowed(size_t comm);
  void group_call();
  void group_operation();
  // objects.cc
  void object(size_t comm);
  std::vector<Instr*> all(const CommModel& comm, Op op, Kind kind);
  void join(size_t parent);
  void window(size_t parent);
  void fence(WindowModel& window);
  void free_window(WindowModel& window);
  void file(size_t parent);
  void idup(size_t parent);
  bool started_again(size_t comm, Rank p, Rank q);
  // persistent.cc
  void persistent(size_t parent);
  void make_persistent(size_t parent);
  void wait_for_start(PersistentModel& operation, Rank rank);
  void end_persistent(size_t which);
  void end_persistent_of(size_t parent);
  void wait(Rank rank, bool all);
  void test(Rank rank);
  void local(Rank rank);
  void settle_receiver(size_t comm, Rank q);
  void settle_comm(size_t comm);
  bool clean(size_t comm, Rank p, Rank q);
  void step();

  Random& random_;
  Program program_;
  std::vector<CommModel> comms_;
  std::vector<CommModel> groups_;  // with handles of communicators that are no program's
  std::vector<WindowModel> windows_;
  std::vector<CommModel> files_;
  std::vector<PersistentModel> persistent_;
  std::map<std::tuple<size_t, Rank, Rank>, StreamModel> streams_;
  std::map<std::pair<size_t, Rank>, ReceiverModel> receivers_;
  std::vector<OpenRequest> requests_;
  std::vector<int> slots_;
  double rare_ = 0, objects_ = 0, labelled_ = 0.5, wild_ = 0.3, drawn_ = 0.2, probed_ = 0.3;
  int next_tag_ = 100;
  static constexpr size_t kSteps = 20;
  uint32_t weights_[kSteps] = {};
};

}  // namespace sim

#endif
