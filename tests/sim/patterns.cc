// Random programs: steps in which several processes take part.
#include "sim/generator.h"

namespace sim {

// ---- Patterns of both sides ----

bool Generator::exchange(size_t comm) {
  const std::vector<Rank>& members = comms_[comm].members;
  const int handle = comms_[comm].handle;
  const size_t n = members.size();
  const bool ring = chance(0.5);
  if (ring) {
    for (size_t i = 0; i < n; ++i)
      if (!clean(comm, members[i], members[(i + 1) % n])) return false;
    const Tag tag = small_tag();
    const bool open_ended = chance(0.5);  // a shift with MPI_PROC_NULL at the ends
    const bool any = chance(0.3);
    for (size_t i = 0; i < n; ++i) {
      Instr& c = add(members[i], Op::kSendrecv);
      c.comm = handle;
      c.peer = open_ended && i + 1 == n ? kNull : members[(i + 1) % n];
      c.peer2 = open_ended && i == 0 ? kNull : members[(i + n - 1) % n];
      c.tag = any && !program_.strays && chance(0.5) ? kHashTag : tag;
      c.tag2 = any ? kAny : tag;
      c.mode = mode();
    }
    return true;
  }
  const Rank p = pick_member(comm), q = pick_member(comm);
  if (p == q || !clean(comm, p, q) || !clean(comm, q, p)) return false;
  for (const auto& [me, other] : {std::pair{p, q}, std::pair{q, p}}) {
    Instr& c = add(me, Op::kSendrecv);
    c.comm = handle;
    c.peer = c.peer2 = other;
    c.tag = chance(drawn_) ? kNdTag : small_tag();
    c.tag2 = kAny;
    c.mode = mode();
  }
  return true;
}

// A blocking send that waits for its receive, and the receive, in the same step.
bool Generator::rendezvous(size_t comm) {
  const Rank p = pick_member(comm), q = pick_member(comm);
  if (p == q || !clean(comm, p, q)) return false;
  Instr& s = add(p, Op::kSend);
  s.comm = comms_[comm].handle;
  s.peer = q;
  s.tag = chance(drawn_) ? kNdTag : small_tag();
  s.mode = chance(0.5) ? Mode::kSynchronous : Mode::kRendezvous;
  s.large = chance(0.3);
  const bool unknown = s.tag == kNdTag;
  const Tag tag = s.tag;
  const bool probed = chance(0.3);
  if (probed) {
    Instr& probe = add(q, chance(0.5) ? Op::kProbe : Op::kIprobeUntil);
    probe.comm = comms_[comm].handle;
    probe.peer = p;
    probe.tag = kAny;
    if (chance(0.5)) local(q);
  }
  Instr& r = add(q, Op::kRecv);
  r.comm = comms_[comm].handle;
  r.peer = p;
  r.tag = probed ? kProbed : unknown || chance(0.3) ? kAny : tag;
  return true;
}

// The receiver posts, says so, and gets a ready send.
bool Generator::ready_send(size_t comm) {
  const Rank p = pick_member(comm), q = pick_member(comm);
  if (p == q || !clean(comm, p, q) || !clean(comm, q, p)) return false;
  const int handle = comms_[comm].handle;
  const Tag tag = small_tag();
  const int slot = new_slot(q);
  Instr& post = add(q, Op::kIrecv);
  post.comm = handle;
  post.peer = p;
  post.tag = tag;
  post.slot = slot;
  Instr& go = add(q, Op::kSend);
  go.comm = handle;
  go.peer = p;
  go.tag = tag;
  Instr& wait = add(p, Op::kRecv);
  wait.comm = handle;
  wait.peer = q;
  wait.tag = tag;
  Instr& ready = add(p, Op::kSend);
  ready.comm = handle;
  ready.peer = q;
  ready.tag = tag;
  ready.mode = Mode::kReady;
  open(q, slot, comm, true);
  return true;
}

bool Generator::batch(size_t comm) {
  const Rank p = pick_member(comm), q = pick_member(comm);
  if (p == q || !clean(comm, p, q)) return false;
  const bool any = chance(0.5);
  const Tag tag = small_tag();
  Instr& s = add(p, Op::kBatchSend);
  s.comm = comms_[comm].handle;
  s.peer = q;
  s.tag = small_tag();
  s.tag2 = any ? (chance(0.5) ? kNdTag : kHashTag) : tag;
  const Tag header = s.tag;
  Instr& r = add(q, Op::kBatchRecv);
  r.comm = comms_[comm].handle;
  r.peer = p;
  r.tag = header;
  r.tag2 = any ? kAny : tag;
  return true;
}

// A master answers requests as they come.
bool Generator::serve(size_t comm) {
  const Rank master = pick_member(comm);
  if (receiver(comm, master).any_tag) return false;  // a slower message of an earlier step might be overtaken
  settle_receiver(comm, master);
  const int tag = next_tag_++;
  int requests = 0;
  for (Rank w : comms_[comm].members) {
    if (w == master || receiver(comm, w).wild || !clean(comm, master, w) || chance(0.2)) continue;
    const Tag answer = next_tag_;
    for (int n = random_.between(1, 2); n > 0; --n, ++requests) {
      Instr& ask = add(w, Op::kSend);
      ask.comm = comms_[comm].handle;
      ask.peer = master;
      ask.tag = tag;
      Instr& get = add(w, Op::kRecv);
      get.comm = comms_[comm].handle;
      get.peer = master;
      get.tag = answer;
    }
  }
  Instr& s = add(master, Op::kServe);
  s.comm = comms_[comm].handle;
  s.tag = tag;
  s.tag2 = next_tag_++;
  s.count = requests;
  return true;
}

// ---- Collective operations and communicators ----

// After an operation that no member leaves before all have come, receivers that have nothing open may
// turn from exact to wild and back.
void Generator::collective(size_t comm) {
  static const Kind kinds[] = {Kind::kBarrier,   Kind::kBarrier,  Kind::kBarrier, Kind::kAllreduce,
                               Kind::kAllgather, Kind::kAlltoall, Kind::kBcast,   Kind::kReduce,
                               Kind::kGather,    Kind::kScatter,  Kind::kScan};
  const bool inter = comms_[comm].first > 0;
  const Kind kind = kinds[random_.below(inter ? 10 : 11)];
  const bool synchronizes = !inter && (kind == Kind::kBarrier || kind == Kind::kAllreduce || kind == Kind::kAllgather ||
                                       kind == Kind::kAlltoall);
  std::vector<Rank> turning;
  if (synchronizes && comms_[comm].partner.empty() && chance(0.5)) {
    for (Rank q : comms_[comm].members) {
      bool quiet = !chance(0.3);
      for (Rank p : comms_[comm].members) {
        const StreamModel& s = stream(comm, p, q);
        quiet = quiet && s.sends.empty() && s.receives.empty();
      }
      if (!quiet) continue;
      settle_receiver(comm, q);
      turning.push_back(q);
    }
  }
  const int root = random_.between(0, 8);
  for (Rank m : comms_[comm].members) {
    Instr& i = add(m, Op::kCollective);
    i.comm = comms_[comm].handle;
    i.kind = kind;
    i.peer2 = root;
  }
  for (Rank q : turning) {
    ReceiverModel& r = receiver(comm, q);
    for (int request : r.senders) provide(request);
    r = ReceiverModel();
    r.wild = chance(wild_);
    r.any_tag = r.wild && chance(0.5);
  }
}

void Generator::icollective(size_t comm) {
  static const Kind kinds[] = {Kind::kBarrier, Kind::kBarrier, Kind::kAllreduce, Kind::kAllreduce, Kind::kBcast,
                               Kind::kReduce,  Kind::kGather,  Kind::kScatter,   Kind::kAlltoall,  Kind::kScan};
  const Kind kind = kinds[random_.below(comms_[comm].first > 0 ? 9 : 10)];
  const int root = random_.between(0, 8);
  for (Rank m : comms_[comm].members) {
    const int slot = new_slot(m);
    Instr& i = add(m, Op::kIcollective);
    i.comm = comms_[comm].handle;
    i.kind = kind;
    i.slot = slot;
    i.peer2 = root;
    open(m, slot, comm, true);
  }
}

// Of an intercommunicator another one, or one of both groups.
void Generator::make_comm(size_t parent, int parts) {
  size_t live = 0;
  for (const CommModel& c : comms_) live += c.freed ? 0 : 1;
  if (live > 6) return;
  const int handle = program_.handles++;
  const bool inter = comms_[parent].first > 0;
  if (parts == 0) parts = inter || chance(0.4) ? 1 : 2;
  const bool merged = inter && chance(0.5);
  std::vector<CommModel> made(static_cast<size_t>(parts));
  const std::vector<Rank> members = comms_[parent].members;
  for (Rank m : members) {
    Instr& i = add(m, Op::kCollective);
    i.comm = comms_[parent].handle;
    i.kind = merged ? Kind::kMerge : parts == 1 ? Kind::kDup : Kind::kSplit;
    i.made = handle;
    i.colour = random_.between(0, parts - 1);
    made[static_cast<size_t>(i.colour)].members.push_back(m);
  }
  for (CommModel& c : made) {
    c.handle = handle;
    if (!merged) c.first = comms_[parent].first;
    if (c.members.empty()) continue;
    comms_.push_back(c);
    for (Rank q : c.members) {
      ReceiverModel& r = receiver(comms_.size() - 1, q);
      r.wild = chance(wild_);
      r.any_tag = r.wild && chance(0.5);
    }
  }
}

// A communicator whose members depend on what the processes have observed.
void Generator::dynamic_block(size_t parent) {
  if (comms_[parent].first > 0) parent = 0;
  const int handle = program_.handles++;
  const std::vector<Rank> members = comms_[parent].members;
  for (Rank m : members) {
    Instr& i = add(m, Op::kCollective);
    i.comm = comms_[parent].handle;
    i.kind = Kind::kSplit;
    i.made = handle;
    i.colour = -1;
  }
  for (int n = random_.between(1, 4); n > 0; --n) {
    const uint32_t what = random_.below(4);
    const Kind kind = chance(0.5) ? Kind::kBarrier : chance(0.5) ? Kind::kAllreduce : Kind::kBcast;
    const Mode m = mode();
    for (Rank rank : members) {
      Instr& i = add(rank, what == 0 ? Op::kCollective : what == 1 ? Op::kGatherAny : Op::kSendrecv);
      i.comm = handle;
      i.kind = kind;
      i.mode = m;
      i.tag = i.tag2 = what == 1 ? 1 : 0;
      if (what > 1) {
        i.peer = kRight;
        i.peer2 = kLeft;
      }
      if (chance(0.3)) local(rank);
    }
  }
  if (chance(0.6)) {
    for (Rank rank : members) {
      Instr& i = add(rank, Op::kCollective);
      i.comm = handle;
      i.kind = Kind::kFree;
    }
  }
}

// Communicators that come and go.
void Generator::come_and_go(size_t parent) {
  for (int n = random_.between(1, 3); n > 0; --n) {
    const size_t before = comms_.size();
    make_comm(parent);
    for (size_t c = before; c < comms_.size(); ++c) {
      if (chance(0.6)) collective(c);
      if (chance(0.4)) send(c, pick_member(c), pick_member(c));
      if (chance(0.3)) local(pick_member(c));
      if (chance(0.8)) free_comm(c);
    }
  }
}

void Generator::free_comm(size_t comm) {
  if (comm == 0) return;
  end_persistent_of(comm);
  settle_comm(comm);
  for (Rank m : comms_[comm].members) {
    Instr& i = add(m, Op::kCollective);
    i.comm = comms_[comm].handle;
    i.kind = Kind::kFree;
  }
  comms_[comm].freed = true;
}

}  // namespace sim
