// Random programs, and how they run: calls that few programs make. Cancelled receives, matched probes, operations that
// the library does not follow, and the end of all lines.
#include "sim/generator.h"
#include "sim/world.h"

namespace sim {

namespace line = elc::line;

// ---- Generator ----

void Generator::rare(size_t comm) {
  const Rank p = pick_member(comm), q = pick_member(comm);
  switch (random_.below(10)) {
    case 0:
    case 1:
    case 2:
      cancelled(comm, p, q);
      break;
    case 3:
    case 4:
      matched_probes(comm, p, q);
      break;
    case 5:
      unfollowed(comm);
      break;
    case 6:
      if (chance(0.4)) group_call();
      else group_operation();
      break;
    case 7:
      if (chance(0.3)) add(p, Op::kNever);
      break;
    default:
      free_soon(comm);
      break;
  }
}

// Of two messages one may be received by a receive that is cancelled, and is waited for after a later one. Who it was
// that received none receives the other.
bool Generator::cancelled(size_t comm, Rank p, Rank q) {
  if (p == q || !clean(comm, p, q)) return false;
  const int handle = comms_[comm].handle;
  const Tag tag = next_tag_++;
  const auto receive = [&](Op op) {
    Instr& i = add(q, op);
    i.comm = handle;
    i.peer = p;
    i.tag = tag;
    i.slot = op == Op::kIrecv ? new_slot(q) : 0;
    return i.slot;
  };
  const auto some = [&] {
    for (int n = random_.between(0, 2); n > 0; --n) local(q);
  };
  const auto send = [&] {
    Instr& i = add(p, Op::kSend);
    i.comm = handle;
    i.peer = q;
    i.tag = tag;
    i.large = chance(0.2);
    if (chance(0.3)) local(p);
  };
  const bool early = chance(0.5);
  if (early) send(), send();
  const int first = receive(Op::kIrecv);
  some();
  const int second = chance(0.5) ? receive(Op::kIrecv) : 0;
  some();
  add(q, Op::kCancel).slot = first;
  if (!early) send(), send();
  if (chance(0.7)) some();
  if (second != 0) add(q, Op::kWait).slots = {second};
  else receive(Op::kRecv);
  if (chance(0.7)) some();
  Instr& i = add(q, Op::kWaitCancelled);
  i.comm = handle;
  i.peer = p;
  i.tag = tag;
  i.slot = first;
  return true;
}

// Communicators that are freed soon after they were made.
void Generator::free_soon(size_t parent) {
  const std::vector<Rank> members = comms_[parent].members;
  for (int n = random_.between(1, 4); n > 0; --n) {
    const int handle = program_.handles++;
    for (Rank m : members) {
      Instr& i = add(m, Op::kCollective);
      i.comm = comms_[parent].handle;
      i.kind = Kind::kDup;
      i.made = handle;
    }
    const Rank p = pick_member(parent), q = pick_member(parent);
    for (int k = random_.between(0, 2); k > 0; --k) {
      Instr& s = add(p, Op::kSend);
      s.comm = handle;
      s.peer = q;
      Instr& r = add(q, Op::kRecv);
      r.comm = handle;
      r.peer = p;
    }
    for (Rank m : members) {
      if (chance(0.2)) local(m);
      Instr& i = add(m, Op::kCollective);
      i.comm = handle;
      i.kind = Kind::kFree;
    }
  }
}

bool Generator::matched_probes(size_t comm, Rank p, Rank q) {
  if (p == q || !clean(comm, p, q)) return false;
  const Tag tag = small_tag();
  const bool any = chance(0.4);
  for (int n = random_.between(1, 3); n > 0; --n) {
    Instr& s = add(p, Op::kSend);
    s.comm = comms_[comm].handle;
    s.peer = q;
    s.tag = any && !program_.strays && chance(0.5) ? kHashTag : tag;
    s.large = chance(0.2);
    Instr& r = add(q, chance(0.3) ? Op::kRecv : chance(0.5) ? Op::kMprobe : Op::kImprobe);
    r.comm = comms_[comm].handle;
    r.peer = p;
    r.tag = any ? kAny : tag;
    if (chance(0.5)) local(q);
  }
  return true;
}

void Generator::unfollowed(size_t comm) {
  for (Rank m : comms_[comm].members) {
    Instr& i = add(m, Op::kCollective);
    i.comm = comms_[comm].handle;
    i.kind = Kind::kAllreduce;
    i.unfollowed = true;
  }
}

void Generator::group_call() {
  std::vector<int> members;
  for (Rank r = 0; r < program_.processes; ++r)
    if (chance(0.6)) members.push_back(r);
  if (members.size() < 2) return;
  const int number = next_tag_++;
  for (int m : members) {
    Instr& i = add(m, Op::kGroupCall);
    i.tag = number;
    i.slots = members;
  }
}

// Operations that the members of a group alone know of. What they make of it is a communicator like others.
void Generator::group_operation() {
  if (groups_.empty() || chance(0.4)) {
    CommModel group{program_.handles++, {}};
    for (Rank r = 0; r < program_.processes; ++r)
      if (chance(0.6)) group.members.push_back(r);
    if (group.members.empty()) return;
    groups_.push_back(group);
  }
  const size_t which = random_.below(groups_.size());
  const CommModel group = groups_[which];
  const auto all = [&](Kind kind, int made) {
    for (Rank m : group.members) {
      Instr& i = add(m, Op::kCollective);
      i.comm = group.handle;
      i.group = true;
      i.slots = group.members;
      i.kind = kind;
      i.made = made;
      if (chance(0.3)) local(m);
    }
  };
  const size_t before = comms_.size();
  if (chance(0.4)) {
    CommModel made{program_.handles++, group.members};
    all(Kind::kDup, made.handle);
    comms_.push_back(made);
  } else {  // of these kinds one lets a member go on while others have not called
    all(chance(0.3) ? Kind::kAllreduce : chance(0.5) ? Kind::kBcast : Kind::kReduce, 0);
  }
  if (comms_.size() > before && chance(0.6)) collective(before);
  if (comms_.size() > before && chance(0.6)) free_comm(before);
  if (chance(0.7)) return;
  all(Kind::kFree, 0);
  groups_.erase(groups_.begin() + static_cast<long>(which));
}

// ---- Node ----

void Node::do_cancel(const Instr& i) {
  const size_t slot = static_cast<size_t>(i.slot);
  Request& request = app.requests[slot];
  Live& live = live_[slot];
  request.cancel = true;
  const line::Fate fate = follows() ? process->cancel(live) : line::Fate::kOpen;
  live.withdrawn = fate == line::Fate::kWithdrawn;
  if (fate == line::Fate::kOpen) live.withdrawn = world_.network->cancel(live.receive);
  live.known = fate != line::Fate::kOpen;
  request.withdrawn = fate == line::Fate::kWithdrawn;
  world_.log(self_, "cancels request %zu: fate %d, withdrawn %d", slot, static_cast<int>(fate), live.withdrawn);
  next();
}

// Waits for a cancelled receive; if it has received nothing, a new one takes its place.
void Node::do_wait_cancelled(const Instr& i) {
  const size_t slot = static_cast<size_t>(i.slot);
  if (app.stage == 1) return do_receive(i);
  Live& live = live_[slot];
  if (live.withdrawn || app.requests[slot].withdrawn) {
    if (live.withdrawn && !live.known && follows()) process->withdraw(live);
    live = Live();
    app.requests[slot] = Request();
    observe(1);
    post(0, i.comm, peer_of(i, i.peer), i.tag);
    app.stage = 1;
  } else if (complete(slot)) {
    finish(slot);
    next();
  } else {
    site();
  }
}

// A matched probe and the receive of its message, without a site between them.
void Node::do_mprobe(const Instr& i) {
  const bool once = i.op == Op::kImprobe;
  const NdKind kind = once ? NdKind::kImprobe : NdKind::kMprobe;
  if (app.stage == 0) {
    if (!forced_) site();
    ask(kind);
    Rank source = peer_of(i, i.peer);
    Tag tag = i.tag;
    const bool none = forced_ && forced_->empty();
    if (forced_ && !none) {
      const Rank logged_source = static_cast<Rank>((*forced_)[0]);
      const Tag logged_tag = static_cast<Tag>((*forced_)[1]);
      if ((source != kAny && source != logged_source) || (tag != kAny && tag != logged_tag)) misfit();
      else source = logged_source, tag = logged_tag;
    }
    if (none || !take(i.comm, source, i.tag, tag)) {
      if (!once || (forced_ && !none)) return;
      record(kind, {});
      observe(0);
      asked_ = false;
      return forced_.reset();
    }
    app.probed_source = taken_.source;
    app.probed_tag = taken_.tag;
    record(kind, {static_cast<uint32_t>(taken_.source), static_cast<uint32_t>(taken_.tag)});
    app.stage = 1;
  } else {
    if (taken_.receive >= 0 ? !world_.network->complete(taken_.receive) : !taken_.message->arrived) return;
    const Payload payload = taken_payload();
    world_.log(self_, "receives from %d comm %d tag %d #%llu (matched probe)", taken_.source, i.comm, taken_.tag,
               static_cast<unsigned long long>(payload[0]));
    app.received.push_back(
        {taken_.source, comm(i.comm).identity, taken_.tag, app.postings++, payload[0], payload[1]});
    observe(combine(combine(static_cast<uint64_t>(taken_.source), static_cast<uint64_t>(taken_.tag)), payload[1]));
    next();
  }
}

// Takes what is there, from the queue or from MPI: `tag` where the queue has it, else the first of the stream, which
// in a replay must have that tag.
bool Node::take(int handle, Rank source, Tag asked, Tag tag) {
  const line::Comm slot = slot_of(handle);
  taken_ = Taken();
  taken_.message = process->take_queued({slot, source, tag});
  if (taken_.message != nullptr) {
    taken_.source = taken_.message->source;
    taken_.tag = taken_.message->tag;
    return true;
  }
  const uint64_t context = comm(handle).identity;
  const Network::Message* m = world_.network->probe(self_, context, source, asked);
  if (m == nullptr || !process->may_show(slot, m->source, m->tag)) return false;
  if (tag != kAny && m->tag != tag) {
    misfit();
    return false;
  }
  taken_.source = m->source;
  taken_.tag = m->tag;
  taken_.receive = world_.network->receive(self_, context, taken_.source, taken_.tag);
  if (follows()) taken_.message = process->take_matched(slot, taken_.source, taken_.tag);
  return true;
}

// Fills what a line wants of it.
Payload Node::taken_payload() {
  line::Message* m = taken_.message;
  Payload payload;
  if (taken_.receive < 0) {
    payload = unpack(m->content);
  } else {
    payload = world_.network->message_of(taken_.receive).payload;
    if (m != nullptr) m->content = pack(payload), m->arrived = true;
  }
  line::let_go(m);
  taken_.message = nullptr;
  return payload;
}

// The communicator is there when the first of its operations is called here, and needs no call of MPI.
void Node::join_group(const Instr& i) {
  if (!comm(i.comm).live) {
    CollectiveResult group;
    group.identity = combine(0x6d656d62657273, static_cast<uint64_t>(i.comm));
    group.members = i.slots;
    make_comm(i.comm, group);
  }
  std::vector<Rank> others;
  for (Rank r : i.slots)
    if (r != self_) others.push_back(r);
  process->tell_members(slot_of(i.comm), others.data(), others.size());
}

// Like a collective operation of a communicator that nobody follows.
void Node::do_group_call(const Instr& i) {
  const uint64_t context = combine(0x67726f7570, static_cast<uint64_t>(i.tag));
  if (app.stage == 0) {
    site();
    std::vector<Rank> others;
    for (Rank r : i.slots)
      if (r != self_) others.push_back(r);
    if (follows()) process->on_group_call(others.data(), others.size(), "MPI_Comm_create_group");
    CollectiveRecord r;
    r.comm = context;
    r.number = 1;
    r.members = i.slots;
    r.contribution.kind = Kind::kAllreduce;
    r.contribution.number = 1;
    r.contribution.value = app.hash;
    r.contribution.joined = r.group = true;
    app.collectives.push_back(r);
    record_ = app.collectives.size() - 1;
    operation_ = world_.collectives->join(context, i.slots, self_, r.contribution);
    app.stage = 1;
    return;
  }
  if (!world_.collectives->complete(operation_, self_)) return;
  CollectiveRecord& r = app.collectives[record_];
  r.value = world_.collectives->result(operation_, self_, &r.has_value).value;
  r.ended = true;
  observe(r.value);
  next();
}

}  // namespace sim
