// Hand-written programs under hand-written schedules: for the traps of PROTOCOL.md, section 10.
#ifndef ELC_TESTS_SIM_SCENE_H
#define ELC_TESTS_SIM_SCENE_H

#include <memory>
#include <string>
#include <vector>

#include "sim/world.h"

namespace sim {

// The program of a scene: calls are appended to a process's list. Communicator 0 is the world.
class Script {
 public:
  explicit Script(int processes) {
    program.processes = processes;
    program.slots = 10;
    program.handles = 3;
    program.code.resize(static_cast<size_t>(processes));
  }
  struct At {
    std::vector<Instr>& code;
    At& add(const Instr& i) {
      code.push_back(i);
      return *this;
    }
    At& send(Rank to, Tag tag, int comm = 0) {
      return add({.op = Op::kSend, .comm = comm, .peer = to, .tag = tag});
    }
    At& send_large(Rank to, Tag tag) { return add({.op = Op::kSend, .large = true, .peer = to, .tag = tag}); }
    At& rsend(Rank to, Tag tag) {
      return add({.op = Op::kSend, .mode = Mode::kReady, .peer = to, .tag = tag});
    }
    At& ssend(Rank to, Tag tag) {
      return add({.op = Op::kSend, .mode = Mode::kSynchronous, .peer = to, .tag = tag});
    }
    At& recv(int from, Tag tag, int comm = 0) {
      return add({.op = Op::kRecv, .comm = comm, .peer = from, .tag = tag});
    }
    At& labelled_recv(int from, Tag tag) {
      return add({.op = Op::kRecv, .label = true, .peer = from, .tag = tag});
    }
    At& irecv(int slot, int from, Tag tag) {
      return add({.op = Op::kIrecv, .peer = from, .tag = tag, .slot = slot});
    }
    At& wait(int slot) { return add({.op = Op::kWait, .slots = {slot}}); }
    At& test(int slot) { return add({.op = Op::kWait, .how = How::kTestOnce, .slots = {slot}}); }
    At& probe(int from, Tag tag) { return add({.op = Op::kProbe, .peer = from, .tag = tag}); }
    At& iprobe(int from, Tag tag) { return add({.op = Op::kIprobe, .peer = from, .tag = tag}); }
    At& collective(Kind kind, int comm = 0, int root = 0) {
      return add({.op = Op::kCollective, .kind = kind, .comm = comm, .peer2 = root});
    }
    At& labelled_barrier() { return add({.op = Op::kCollective, .label = true, .kind = Kind::kBarrier}); }
    At& icollective(int slot, Kind kind) { return add({.op = Op::kIcollective, .kind = kind, .slot = slot}); }
    At& dup(int made) { return add({.op = Op::kCollective, .kind = Kind::kDup, .made = made}); }
    At& nd() { return add({.op = Op::kNd}); }
    At& site() { return add({.op = Op::kSite}); }
    At& site_now() { return add({.op = Op::kSiteNow}); }
    At& compute() { return add({}); }
  };
  At on(Rank rank) { return {program.code[static_cast<size_t>(rank)]}; }

  Program program;
};

class Scene {
 public:
  explicit Scene(Script script, Fault fault = Fault::kNone, uint64_t max_transit = 0);

  // The process makes its next `calls` calls to their ends; a violation if it cannot.
  void run(Rank rank, int calls = 1);
  // One step: a call begins, or one look while it waits.
  void step(Rank rank) { world->step(rank); }
  // All messages on their way from one process to another arrive.
  void deliver(Rank from, Rank to);
  void deliver_all();
  // The data of the large messages from this process arrive.
  void data_of(Rank from);
  // Control messages are delivered and all processes look, until nothing changes.
  void settle() { settle_but(-1); }
  // So far that the window of `first` has closed, and that of `last` has not.
  void settle_until_closed(Rank first, Rank last);
  // A line is requested, and everybody hears of it.
  void request() {
    world->request(0);
    settle();
  }
  void kill() {
    world->kill();
    settle();
  }
  // Everything runs to its end and is checked.
  void finish();

  bool took(Rank rank) const { return world->nodes[static_cast<size_t>(rank)]->process->line_open(); }
  const std::string& violation() const { return world->violation; }

  std::unique_ptr<World> world;

 private:
  void settle_but(Rank deaf);
};

}  // namespace sim

#endif
