// Processes that draw each call when the one before it has ended, from what their MPI has at that moment. A program
// that is written down first has to come to its end under every schedule, and so there is much that it cannot do: here a
// receive may ask for anything at any time, be tested, be cancelled and be overtaken. What a process may have to do
// again after a restart, it does again: its calls until its window has closed. Then it goes another way.
//
// What is asked for and not sent is sent in the end. Only calls that the last process can provide for wait, and that one
// never does; so nothing waits for ever.
#include "sim/storm.h"

#include <algorithm>
#include <map>

#include "sim/world.h"

namespace sim {
namespace {

constexpr Rank kHelper = 2;  // never waits
constexpr int kProcesses = 3, kSlots = 10, kFirstSlot = 2, kHandles = 2;
constexpr size_t kPrologue = 1;  // makes the second communicator

Program empty_program() {
  Program p;
  p.processes = kProcesses;
  p.slots = kSlots;
  p.handles = kHandles;
  p.code.resize(kProcesses);
  for (auto& code : p.code) {
    code.push_back({.op = Op::kCollective, .kind = Kind::kDup, .made = 1});
    code.push_back({});
  }
  return p;
}

class Storm {
 public:
  Storm(uint64_t seed, bool trace) : random_(combine(seed, 6)), world_(empty_program(), make_config(seed), seed) {
    world_.trace = trace;
    calls_ = random_.between(20, 300);
    kills_ = random_.chance(0.2) ? 0 : random_.between(1, 4);
    requests_ = random_.chance(0.5) ? 0.02 : 0.1;
    exact_ = random_.chance(0.3) ? 0.9 : 0.5;
    tags_ = random_.between(1, 3);
    rare_ = random_.chance(0.5);
    reweigh();
  }
  Verdict run();

 private:
  static Config make_config(uint64_t seed);
  void reweigh();
  void event();
  void step(Rank rank);
  void kill();
  bool fits(Rank rank) const;
  void watch_windows();
  bool quiet() const;

  std::vector<Instr>& code(Rank rank) { return world_.program.code[static_cast<size_t>(rank)]; }
  Node& node(Rank rank) { return *world_.nodes[static_cast<size_t>(rank)]; }
  const Node& node(Rank rank) const { return *world_.nodes[static_cast<size_t>(rank)]; }
  int tag() { return random_.between(0, tags_ - 1); }
  int asked_source() { return random_.chance(exact_) ? random_.between(0, kProcesses - 1) : kAny; }
  int asked_tag() { return random_.chance(exact_) ? tag() : kAny; }
  std::vector<int> slots(Rank rank, Request::What what, bool cancelled = false) const;
  uint64_t started(Rank rank, int handle) const;

  Instr call(Rank rank);
  Instr usual(Rank rank);
  Instr last(Rank rank);
  Instr send(Rank rank);
  bool wanted(Rank rank, Instr* send);
  Instr blocking_receive(Rank rank);
  Instr test(Rank rank, std::vector<int> of);
  Instr collective(Rank rank, int handle);
  Instr wait_cancelled(Rank rank, int slot) const;
  bool there(Rank rank, int handle, Rank source, Tag tag) const;

  // More than any storm needs: beyond it something hangs.
  static constexpr uint64_t kMostEvents = 200000;

  Random random_;
  World world_;
  int calls_ = 0, kills_ = 0, tags_ = 1;
  double requests_ = 0, exact_ = 0.5;
  uint64_t lines_before_ = 0;  // at the last start
  bool rare_ = false;
  bool ends_ = false;
  uint32_t weight_[4] = {};
  bool recording_[kProcesses] = {};
  std::map<elc::line::LineNumber, std::array<size_t, kProcesses>> closed_;  // instructions that a restart repeats
  std::vector<Instr> collectives_[kHandles];                            // the same for all members
};

Config Storm::make_config(uint64_t seed) {
  Random r(combine(seed, 5));
  Config c;
  c.drain = r.chance(0.8);
  if (r.chance(0.1)) c.fail_state = 0.1;
  if (r.chance(0.1)) c.fail_line = 0.1;
  if (r.chance(0.1)) c.fail_commit = 0.2;
  if (r.chance(0.5)) c.slow_disk = 0.8;
  c.large = r.chance(0.3) ? 0 : 0.4;
  c.look = r.chance(0.7) ? 1 : 0.2;
  c.shortcuts = r.chance(0.5);
  c.repeat = r.chance(0.3) ? 0 : 0.7;
  if (r.chance(0.5)) c.slow_release = 0.8;
  return c;
}

void Storm::reweigh() {
  for (uint32_t& w : weight_) w = 1u << random_.between(0, 5);
}

// ---- What may be called ----

std::vector<int> Storm::slots(Rank rank, Request::What what, bool cancelled) const {
  std::vector<int> found;
  for (int slot = kFirstSlot; slot < kSlots; ++slot) {
    const Request& r = node(rank).app.requests[static_cast<size_t>(slot)];
    if (r.what == what && r.cancel == cancelled) found.push_back(slot);
  }
  return found;
}

// Operations on this communicator that the process has in its past or is going to repeat.
uint64_t Storm::started(Rank rank, int handle) const {
  const App& app = node(rank).app;
  const uint64_t identity = app.comms[static_cast<size_t>(handle)].identity;
  uint64_t n = 0;
  for (const CollectiveRecord& c : app.collectives) n += c.comm == identity && c.contribution.kind != Kind::kDup ? 1 : 0;
  return n;
}

// Whether the message can be received at once.
bool Storm::there(Rank rank, int handle, Rank source, Tag tag) const {
  const Node& n = node(rank);
  return n.has_queued(handle) ||
         world_.network->probe(rank, n.app.comms[static_cast<size_t>(handle)].identity, source, tag) != nullptr;
}

// What somebody asks for that nobody may have sent.
bool Storm::wanted(Rank rank, Instr* send) {
  std::vector<Instr> all;
  const auto ask = [&](Rank to, int handle, int source, int with) {
    if (source != kAny && source != rank) return;
    all.push_back({.op = Op::kSend, .comm = handle, .peer = to, .tag = with == kAny ? tag() : with});
  };
  for (Rank to = 0; to < kProcesses; ++to) {
    const Node& n = node(to);
    for (const Request& r : n.app.requests)
      if (r.what == Request::What::kReceive) ask(to, r.comm, r.source, r.tag);
    if (to == rank) continue;  // has no call now
    const Instr& i = n.instr();
    if (i.op == Op::kRecv || i.op == Op::kProbe || i.op == Op::kMprobe || i.op == Op::kWaitCancelled)
      ask(to, i.comm, i.peer, i.tag);
    if (i.op == Op::kSendrecv) ask(to, i.comm, i.peer2, i.tag2);
  }
  if (all.empty()) return false;
  *send = random_.pick(all);
  return true;
}

Instr Storm::send(Rank rank) {
  Instr i = {.op = Op::kSend, .comm = random_.between(0, kHandles - 1), .peer = random_.between(0, kProcesses - 1), .tag = tag()};
  if (random_.chance(0.3)) wanted(rank, &i);
  if (tags_ == 3 && random_.chance(0.1)) i.tag = random_.chance(0.5) ? kHashTag : kNdTag;
  i.label = random_.chance(0.2);
  return i;
}

Instr Storm::blocking_receive(Rank rank) {
  static const std::vector<Op> ops = {Op::kRecv, Op::kRecv, Op::kRecv, Op::kProbe, Op::kMprobe, Op::kSendrecv};
  Instr i = {.op = random_.pick(ops), .label = random_.chance(0.5), .comm = random_.between(0, kHandles - 1),
             .peer = random_.chance(exact_) ? kHelper : kAny, .tag = asked_tag()};
  if (rank == kHelper) return {.op = Op::kSite};
  if (!there(rank, i.comm, i.peer, i.tag) && random_.chance(0.8)) return {.op = Op::kSite};
  if (i.op != Op::kSendrecv) return i;
  i.peer2 = i.peer, i.tag2 = i.tag;
  i.peer = random_.between(0, kProcesses - 1), i.tag = tag();
  return i;
}

Instr Storm::test(Rank, std::vector<int> of) {
  static const std::vector<How> hows = {How::kTestOnce, How::kTestOnce, How::kTestanyOnce, How::kTestsomeOnce};
  Instr i = {.op = Op::kWait, .label = random_.chance(0.3), .how = random_.pick(hows)};
  for (const int slot : of)
    if (random_.chance(0.7)) i.slots.push_back(slot);
  if (i.how == How::kTestOnce || i.slots.empty()) i.slots = {random_.pick(of)};
  return i;
}

Instr Storm::collective(Rank rank, int handle) {
  static const std::vector<Kind> kinds = {Kind::kBarrier, Kind::kBcast, Kind::kReduce, Kind::kAllreduce, Kind::kScan};
  auto& all = collectives_[handle];
  const uint64_t number = started(rank, handle);
  if (number == all.size()) {
    Instr i = {.op = Op::kIcollective, .kind = random_.pick(kinds), .comm = handle, .peer2 = random_.between(0, 2)};
    i.unfollowed = random_.chance(0.03);
    all.push_back(i);
  }
  Instr i = all[number];
  i.slot = slots(rank, Request::What::kNone)[0];
  i.label = random_.chance(0.3);
  return i;
}

Instr Storm::wait_cancelled(Rank rank, int slot) const {
  const Request& r = node(rank).app.requests[static_cast<size_t>(slot)];
  return {.op = Op::kWaitCancelled, .comm = r.comm, .peer = r.source, .tag = r.tag, .slot = slot};
}

Instr Storm::usual(Rank rank) {
  const std::vector<int> free = slots(rank, Request::What::kNone), pending = slots(rank, Request::What::kReceive),
                         cancelled = slots(rank, Request::What::kReceive, true),
                         operations = slots(rank, Request::What::kCollective);
  const uint32_t what = random_.below(100);
  if (what < 25) return send(rank);
  if (what < 45 && free.size() > 1)
    return {.op = Op::kIrecv, .label = random_.chance(0.2), .comm = random_.between(0, kHandles - 1), .peer = asked_source(), .tag = asked_tag(), .slot = random_.pick(free)};
  if (what < 60 && !pending.empty()) return test(rank, pending);
  if (what < 70) return blocking_receive(rank);
  if (what < 76) return {.op = Op::kIprobe, .comm = random_.between(0, kHandles - 1), .peer = asked_source(), .tag = asked_tag()};
  if (what < 86) return {.op = Op::kSite};
  if (what < 90) return {.op = Op::kNd};
  if (what < 93 && !free.empty()) return collective(rank, random_.between(0, kHandles - 1));
  if (what < 95 && !operations.empty()) return test(rank, operations);
  if (!rare_) return {};
  if (what < 97 && !pending.empty() && cancelled.empty() && rank != kHelper) {
    const int slot = random_.pick(pending), source = node(rank).app.requests[static_cast<size_t>(slot)].source;
    return source == kAny || source == kHelper ? Instr{.op = Op::kCancel, .slot = slot} : Instr{.op = Op::kSite};
  }
  if (what < 98 && !cancelled.empty()) return wait_cancelled(rank, cancelled[0]);
  if (what == 98) return {.op = Op::kSiteNow};
  if (what == 99 && random_.chance(0.02)) return {.op = Op::kNever};
  return {};
}

// Brings to an end what is open.
Instr Storm::last(Rank rank) {
  for (int handle = 0; handle < kHandles; ++handle)
    if (started(rank, handle) < collectives_[handle].size() && !slots(rank, Request::What::kNone).empty())
      return collective(rank, handle);
  if (const auto cancelled = slots(rank, Request::What::kReceive, true); !cancelled.empty())
    return wait_cancelled(rank, cancelled[0]);
  const std::vector<int> pending = slots(rank, Request::What::kReceive), operations = slots(rank, Request::What::kCollective);
  Instr i;
  const uint32_t what = random_.below(6);
  if (what == 0 && !operations.empty()) return test(rank, operations);
  if (what <= 2 && !pending.empty()) return test(rank, pending);
  if (what == 3 && world_.network->streams() == 0 && world_.network->arriving() == 0 && wanted(rank, &i)) return i;
  if (what == 4 && pending.empty())
    for (int handle = 0; handle < kHandles; ++handle)
      if (there(rank, handle, kAny, kAny)) return {.op = Op::kRecv, .comm = handle, .peer = kAny, .tag = kAny};
  return {.op = Op::kSite};
}

Instr Storm::call(Rank rank) {
  if (ends_) return last(rank);
  --calls_;
  return usual(rank);
}

// ---- What happens ----

// Whether the next call means something where the program stands now: after a restart without a log it may stand
// elsewhere than when the call was drawn.
bool Storm::fits(Rank rank) const {
  const App& app = node(rank).app;
  const Instr& i = node(rank).instr();
  if (app.stage != 0) return true;
  const Request& r = app.requests[static_cast<size_t>(i.slot)];
  switch (i.op) {
    case Op::kIrecv: return r.what == Request::What::kNone;
    case Op::kIcollective: return r.what == Request::What::kNone;
    case Op::kCancel: return r.what == Request::What::kReceive && !r.cancel;
    case Op::kWaitCancelled: return r.what == Request::What::kReceive && r.cancel;
    case Op::kWait:
      return std::none_of(i.slots.begin(), i.slots.end(), [&](int slot) { return app.requests[static_cast<size_t>(slot)].cancel; });
    default: return true;
  }
}

void Storm::step(Rank rank) {
  Node& n = node(rank);
  if (n.process->running() && !n.app.done && !fits(rank)) {
    code(rank).resize(n.app.at);
    code(rank).push_back(call(rank));
  }
  world_.step(rank);
  if (n.app.at == code(rank).size()) code(rank).push_back(call(rank));
}

// Remembers where a process stands when its window closes.
void Storm::watch_windows() {
  for (Rank r = 0; r < kProcesses; ++r) {
    const bool now = node(r).process->recording();
    if (recording_[r] && !now) closed_[node(r).process->last_line()][static_cast<size_t>(r)] = node(r).app.at + 1;
    recording_[r] = now;
  }
}

void Storm::kill() {
  --kills_;
  lines_before_ = world_.stats.lines;
  const auto closed = closed_.find(world_.committed());
  for (Rank r = 0; r < kProcesses; ++r) {
    code(r).resize(closed == closed_.end() ? kPrologue : closed->second[static_cast<size_t>(r)]);
    recording_[r] = false;
  }
  world_.kill();
  for (Rank r = 0; r < kProcesses; ++r)
    while (code(r).size() <= node(r).app.at) code(r).push_back({});
}

bool Storm::quiet() const {
  if (world_.network->left_over() > 0 || world_.network->arriving() > 0) return false;
  for (Rank r = 0; r < kProcesses; ++r) {
    const Node& n = node(r);
    // What a restart repeats of the calls before must not be cut off.
    if (!n.process->running() || n.process->replaying() || n.app.stage != 0) return false;
    for (const Request& request : n.app.requests)
      if (request.what != Request::What::kNone) return false;
    for (int handle = 0; handle < kHandles; ++handle)
      if (n.has_queued(handle) || started(r, handle) < collectives_[handle].size()) return false;
  }
  return true;
}

void Storm::event() {
  if (random_.below(100) == 0) reweigh();
  if (random_.chance(requests_)) world_.request(random_.between(0, kProcesses - 1));
  const size_t choices[4] = {1, world_.network->streams(), world_.network->arriving(), world_.control_pairs()};
  uint32_t total = 0;
  for (size_t i = 0; i < 4; ++i) total += choices[i] > 0 ? weight_[i] : 0;
  uint32_t at = random_.below(total);
  size_t what = 0;
  for (; choices[what] == 0 || at >= weight_[what]; ++what) at -= choices[what] > 0 ? weight_[what] : 0;
  switch (what) {
    case 0: step(random_.between(0, kProcesses - 1)); break;
    case 1: world_.deliver(random_.below(choices[1])); break;
    case 2: world_.arrive(random_.below(choices[2])); break;
    default: world_.deliver_control(random_.below(choices[3])); break;
  }
  watch_windows();
}

Verdict Storm::run() {
  bool over = false;
  for (uint64_t events = 0; !world_.failed() && !world_.finished(); ++events) {
    event();
    if (world_.failed()) break;
    if (!ends_ && kills_ > 0 && random_.below(world_.stats.lines > lines_before_ ? 60 : 1500) == 0) kill();
    ends_ = ends_ || calls_ <= 0;
    if (ends_ && !over && quiet()) {
      over = true;
      for (Rank r = 0; r < kProcesses; ++r) {
        code(r).resize(node(r).app.at);
        code(r).push_back({.op = Op::kLines, .tag = 1, .count = 1});
        code(r).push_back({.op = Op::kFinalize});
      }
    }
    if (events < kMostEvents) continue;
    world_.fail("no progress: after %llu events the processes are not done", static_cast<unsigned long long>(events));
    for (Rank r = 0; r < kProcesses; ++r) world_.log(r, "%s", node(r).situation().c_str());
  }
  if (!world_.failed()) world_.check();
  return {world_.violation, world_.stats};
}

}  // namespace

Verdict run_storm(uint64_t seed, bool trace) {
  return without_leaks([&] { return Storm(seed, trace).run(); });
}

}  // namespace sim
