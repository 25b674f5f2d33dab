// Random programs: the steps of single processes, and how a program is put together.
#include <algorithm>

#include "sim/generator.h"

namespace sim {

// ---- Sends ----

bool Generator::send(size_t comm, Rank p, Rank q) {
  if (!receiver(comm, q).wild) return send_exact(comm, p, q);
  send_wild(comm, p, q);
  return true;
}

bool Generator::send_exact(size_t comm, Rank p, Rank q) {
  StreamModel& s = stream(comm, p, q);
  Tag tag = small_tag();
  const bool first_is_any = !s.receives.empty() && s.receives.front().tag == kAny;
  if (!s.receives.empty() && !first_is_any && chance(0.7))
    tag = s.receives[random_.below(s.receives.size())].tag;
  if (tag == kAny) tag = small_tag();
  bool unknown = chance(drawn_) && (s.receives.empty() || first_is_any);
  int matched = -1;
  for (size_t i = 0; i < s.receives.size() && matched < 0; ++i)
    if (s.receives[i].tag == kAny || s.receives[i].tag == tag) matched = static_cast<int>(i);
  if (unknown) matched = first_is_any ? 0 : -1;
  const bool nonblocking = chance(0.4);
  const int slot = nonblocking ? new_slot(p) : 1;
  Instr& i = add(p, nonblocking ? Op::kIsend : Op::kSend);
  i.comm = comms_[comm].handle;
  i.peer = q;
  i.tag = unknown ? drawn_tag() : tag;
  i.slot = slot;
  i.mode = mode();
  if (!nonblocking && matched < 0 && blocks(i.mode)) i.mode = Mode::kStandard;
  i.large = chance(0.1);
  const int request = nonblocking ? open(p, slot, comm, matched >= 0 || !blocks(i.mode)) : -1;
  if (matched >= 0) {
    provide(s.receives[static_cast<size_t>(matched)].request);
    s.receives.erase(s.receives.begin() + matched);
  } else {
    s.sends.push_back({unknown ? kUnknown : tag, request});
  }
  return true;
}

void Generator::send_wild(size_t comm, Rank p, Rank q) {
  ReceiverModel& r = receiver(comm, q);
  const bool nonblocking = chance(0.4);
  const int slot = nonblocking ? new_slot(p) : 1;
  Instr& i = add(p, nonblocking ? Op::kIsend : Op::kSend);
  i.comm = comms_[comm].handle;
  i.peer = q;
  i.tag = small_tag();
  i.slot = slot;
  i.large = chance(0.1);
  if (nonblocking) i.mode = mode();
  if (r.any_tag) {
    ++r.sent[kAny];
    if (chance(drawn_)) i.tag = drawn_tag();
  } else {
    ++r.sent[i.tag];
  }
  if (nonblocking) {
    const int request = open(p, slot, comm, !blocks(i.mode));
    if (blocks(i.mode)) r.senders.push_back(request);
  }
  for (OpenRequest& o : requests_) {
    if (o.owner != q || o.comm != comm || o.wild_number == 0) continue;
    if (o.wild_number <= r.sent[o.wild_tag]) o.may_wait = true;
  }
}

// ---- Receives ----

bool Generator::receive(size_t comm, Rank q) {
  if (receiver(comm, q).wild) return receive_wild(comm, q);
  std::vector<Rank> sources;
  for (Rank p : comms_[comm].members)
    if (!stream(comm, p, q).sends.empty()) sources.push_back(p);
  return !sources.empty() && receive_exact(comm, random_.pick(sources), q);
}

// A receive for a message that has been sent.
bool Generator::receive_exact(size_t comm, Rank p, Rank q) {
  StreamModel& s = stream(comm, p, q);
  if (s.sends.empty()) return false;
  size_t which = 0;
  Tag tag = kAny;
  if (chance(0.6) && s.sends.front().tag != kUnknown) {
    size_t known = 0;
    while (known < s.sends.size() && s.sends[known].tag != kUnknown) ++known;
    tag = s.sends[random_.below(known)].tag;
    while (s.sends[which].tag != tag) ++which;
  }
  const int handle = comms_[comm].handle;
  provide(s.sends[which].request);
  s.sends.erase(s.sends.begin() + static_cast<long>(which));
  const bool probed = chance(probed_);
  if (probed) {  // probe first, then receive what was shown
    Instr& probe = add(q, chance(0.5) ? Op::kProbe : Op::kIprobeUntil);
    probe.comm = handle;
    probe.peer = asked(comm, p);
    probe.tag = tag;
    look_around(q);
    tag = kProbed;
  }
  if (chance(0.5)) {
    Instr& i = add(q, Op::kRecv);
    i.comm = handle;
    i.peer = asked(comm, p);
    i.tag = tag;
  } else {
    const int slot = new_slot(q);
    Instr& i = add(q, Op::kIrecv);
    i.comm = handle;
    i.peer = asked(comm, p);
    i.tag = tag;
    i.slot = slot;
    open(q, slot, comm, true);
    if (probed) look_around(q);
  }
  return true;
}

bool Generator::receive_wild(size_t comm, Rank q) {
  ReceiverModel& r = receiver(comm, q);
  const Tag key = r.any_tag ? kAny : small_tag();
  const int handle = comms_[comm].handle;
  const bool available = r.sent[key] > r.posted[key];
  if (available && chance(0.6)) {
    ++r.posted[key];
    const bool probed = chance(probed_ + 0.1);
    if (probed) {
      Instr& probe = add(q, chance(0.5) ? Op::kProbe : Op::kIprobeUntil);
      probe.comm = handle;
      probe.peer = kAny;
      probe.tag = key;
      look_around(q);
    }
    const bool nonblocking = chance(0.4);
    const int slot = nonblocking ? new_slot(q) : 0;
    Instr& i = add(q, nonblocking ? Op::kIrecv : Op::kRecv);
    i.comm = handle;
    i.peer = probed && chance(0.8) ? kProbed : kAny;
    i.tag = probed && i.peer == kProbed ? kProbed : key;
    i.slot = slot;
    if (nonblocking) {
      const int request = open(q, slot, comm, true);
      requests_[static_cast<size_t>(request)].wild_tag = key;
      requests_[static_cast<size_t>(request)].wild_number = r.posted[key];
      if (probed) look_around(q);
    }
    return true;
  }
  if (r.posted[key] > r.sent[key] + 2) return false;
  const int slot = new_slot(q);
  Instr& i = add(q, Op::kIrecv);
  i.comm = handle;
  i.peer = kAny;
  i.tag = key;
  i.slot = slot;
  const int request = open(q, slot, comm, available);
  requests_[static_cast<size_t>(request)].wild_tag = key;
  requests_[static_cast<size_t>(request)].wild_number = ++r.posted[key];
  return true;
}

// A receive for a message that will be sent.
bool Generator::early_receive(size_t comm, Rank p, Rank q) {
  if (receiver(comm, q).wild) return receive_wild(comm, q);
  StreamModel& s = stream(comm, p, q);
  Tag tag = chance(0.3) ? kAny : small_tag();
  if (tag == kAny && !s.sends.empty()) return false;
  for (const StreamModel::Send& m : s.sends)
    if (m.tag == kUnknown || m.tag == tag) return false;
  const int slot = new_slot(q);
  Instr& i = add(q, Op::kIrecv);
  i.comm = comms_[comm].handle;
  i.peer = asked(comm, p);
  i.tag = tag;
  i.slot = slot;
  s.receives.push_back({tag, open(q, slot, comm, false)});
  return true;
}

// Nothing is on its way from p to q, nor waited for.
bool Generator::clean(size_t comm, Rank p, Rank q) {
  const StreamModel& s = stream(comm, p, q);
  return !receiver(comm, q).wild && s.sends.empty() && s.receives.empty();
}

// ---- Waits, and what a process does alone ----

void Generator::wait(Rank rank, bool all) {
  std::vector<int> slots;
  for (OpenRequest& o : requests_) {
    if (o.owner != rank || o.done || !o.may_wait || (!all && chance(0.4))) continue;
    o.done = true;
    slots.push_back(o.slot);
  }
  if (slots.empty()) return;
  for (size_t i = slots.size() - 1; i > 0; --i)
    if (chance(0.5)) std::swap(slots[i], slots[random_.below(i + 1)]);
  Instr& i = add(rank, Op::kWait);
  i.how = static_cast<How>(random_.below(static_cast<uint64_t>(How::kTestOnce)));
  if (slots.size() > 1 && i.how == How::kTest) i.how = How::kTestall;
  i.slots = slots;
}

void Generator::test(Rank rank) {
  std::vector<int> slots;
  for (const OpenRequest& o : requests_)
    if (o.owner == rank && !o.done && chance(0.6)) slots.push_back(o.slot);
  if (slots.empty()) return;
  if (objects_ > 0 && chance(0.3)) {
    add(rank, Op::kGetStatus).slot = slots[0];
    return;
  }
  Instr& i = add(rank, Op::kWait);
  i.how = slots.size() == 1 ? How::kTestOnce : chance(0.5) ? How::kTestanyOnce : How::kTestsomeOnce;
  i.slots = slots;
}

void Generator::local(Rank rank) {
  switch (random_.below(8)) {
    case 0:
      add(rank, Op::kSite);
      break;
    case 1:
      add(rank, Op::kSiteNow);
      break;
    case 2:
      add(rank, Op::kRequest);
      break;
    case 3:
    case 4:
      add(rank, Op::kNd);
      break;
    case 5:
      test(rank);
      break;
    case 6: {
      const size_t comm = pick_comm();
      const std::vector<Rank>& members = comms_[comm].members;
      const bool member = std::find(members.begin(), members.end(), rank) != members.end();
      Instr& i = add(rank, Op::kIprobe);
      i.comm = member ? comms_[comm].handle : 0;
      i.peer = member && chance(0.5) ? random_.pick(members) : kAny;
      i.tag = random_.between(-1, 2);
      break;
    }
    default:
      add(rank, Op::kCompute);
      break;
  }
}

// Everything that was sent to q on this communicator is received, and all receives are answered.
void Generator::settle_receiver(size_t comm, Rank q) {
  ReceiverModel& r = receiver(comm, q);
  if (r.wild) {
    for (Tag tag = kAny; tag <= 2; ++tag) {
      while (r.sent[tag] < r.posted[tag]) {
        const Rank p = pick_member(comm);
        Instr& i = add(p, Op::kSend);
        i.comm = comms_[comm].handle;
        i.peer = q;
        i.tag = tag != kAny ? tag : program_.strays ? small_tag() : kHashTag;
        ++r.sent[tag];
      }
      while (r.posted[tag] < r.sent[tag]) {
        Instr& i = add(q, Op::kRecv);
        i.comm = comms_[comm].handle;
        i.peer = kAny;
        i.tag = tag;
        ++r.posted[tag];
      }
    }
    for (OpenRequest& o : requests_)
      if (o.owner == q && o.comm == comm && o.wild_number > 0) o.may_wait = true;
  } else {
    for (Rank p : comms_[comm].members) {
      StreamModel& s = stream(comm, p, q);
      while (!s.receives.empty() || !s.sends.empty()) {
        if (!s.receives.empty())
          send_exact(comm, p, q);
        else
          receive_exact(comm, p, q);
      }
    }
  }
  std::vector<int> slots;
  for (OpenRequest& o : requests_) {
    if (o.owner != q || o.comm != comm || o.done || !o.may_wait) continue;
    o.done = true;
    slots.push_back(o.slot);
  }
  if (slots.empty()) return;
  Instr& i = add(q, Op::kWait);
  i.how = chance(0.5) ? How::kWaitall : How::kWaitany;
  i.slots = slots;
}

void Generator::settle_comm(size_t comm) {
  const std::vector<Rank> members = comms_[comm].members;
  for (Rank q : members) settle_receiver(comm, q);
  // Nothing more is sent here, hence no message that a receive might take in place of an earlier one.
  for (Rank q : members)
    for (int request : receiver(comm, q).senders) provide(request);
  for (Rank q : members) settle_receiver(comm, q);
}

void Generator::step() {
  size_t comm = pick_comm();
  if (chance(rare_)) return rare(comms_[comm].partner.empty() ? comm : 0);
  if (chance(objects_)) return object(comms_[comm].partner.empty() ? comm : 0);
  uint32_t total = 0;
  for (uint32_t w : weights_) total += w;
  uint32_t at = random_.below(total);
  size_t what = 0;
  while (at >= weights_[what]) at -= weights_[what++];
  // Patterns in which a process receives from several.
  const bool several = what == 6 || what == 7 || what == 9 || what == 10 || what == 11;
  if (several && !comms_[comm].partner.empty()) comm = 0;
  const Rank q = pick_member(comm);
  const Rank p = comms_[comm].partner.empty() ? pick_member(comm) : comms_[comm].partner[static_cast<size_t>(q)];
  switch (what) {
    case 0:
      send(comm, p, q);
      break;
    case 1:
      receive(comm, q);
      break;
    case 2:
      early_receive(comm, p, q);
      break;
    case 3:
      wait(random_.between(0, program_.processes - 1), false);
      break;
    case 4:
      local(random_.between(0, program_.processes - 1));
      break;
    case 5:
      collective(comm);
      break;
    case 6:
      exchange(comm);
      break;
    case 7:
      rendezvous(comm);
      break;
    case 8:
      icollective(comm);
      break;
    case 9:
      ready_send(comm);
      break;
    case 10:
      batch(comm);
      break;
    case 11:
      serve(comm);
      break;
    case 12:
      make_comm(comm);
      break;
    case 13:
      dynamic_block(comm);
      break;
    case 14:
      free_comm(comm);
      break;
    case 15:  // a program point common to all, or to most
      for (Rank r = 0; r < program_.processes; ++r)
        if (!chance(0.1)) add(r, Op::kSiteNow);
      break;
    case 16:
      lines(false);
      break;
    case 17:
      come_and_go(comm);
      break;
    case 18:  // several at one place that one process comes to
      for (int n = random_.between(1, 4); n > 0; --n) add(p, Op::kSiteNow);
      break;
    case 19:
      if (program_.strays && chance(0.5))
        either(comm, q);
      else
        add(q, program_.strays ? Op::kMaybe : Op::kSite);
      break;
  }
}

// What a process does between looking at a message and receiving it, and after: where a checkpoint matters most.
void Generator::look_around(Rank rank) {
  if (chance(0.3)) add(rank, Op::kRequest);
  if (chance(0.4)) add(rank, chance(0.7) ? Op::kSite : Op::kSiteNow);
  for (int n = random_.between(0, 2); n > 0; --n) local(rank);
}

// Lines go on committing, whatever the others are waiting for.
void Generator::lines(bool last) {
  for (const WindowModel& w : windows_)
    if (w.live) return;  // it may wait for a fence
  const int name = next_tag_++;
  for (Rank r = 0; r < program_.processes; ++r) {
    Instr& i = add(r, Op::kLines);
    i.tag = name;
    i.count = last ? 1 : 0;
  }
}

// Two receives of different tags, in the order that comes.
bool Generator::either(size_t comm, Rank q) {
  ReceiverModel& r = receiver(comm, q);
  if (!r.wild || r.any_tag) return false;
  const Tag tags[] = {0, 1};
  int slots[2];
  for (int k : {0, 1}) {
    if (r.posted[tags[k]] > r.sent[tags[k]] + 2) return false;
  }
  for (int k : {0, 1}) {
    slots[k] = new_slot(q);
    const int request = open(q, slots[k], comm, r.sent[tags[k]] > r.posted[tags[k]]);
    requests_[static_cast<size_t>(request)].wild_tag = tags[k];
    requests_[static_cast<size_t>(request)].wild_number = ++r.posted[tags[k]];
  }
  Instr& i = add(q, Op::kEither);
  i.comm = comms_[comm].handle;
  i.peer = kAny;
  i.tag = tags[0];
  i.tag2 = tags[1];
  i.slot = slots[0];
  i.made = slots[1];
  return true;
}

Program Generator::run() {
  const int n = chance(0.8) ? random_.between(2, 4) : chance(0.9) ? random_.between(5, 9) : random_.between(10, 33);
  program_.processes = n;
  program_.code.resize(static_cast<size_t>(n));
  slots_.resize(static_cast<size_t>(n));
  CommModel world{0, {}};
  for (Rank r = 0; r < n; ++r) world.members.push_back(r);
  comms_.push_back(world);
  labelled_ = chance(0.2) ? 0 : 0.2 + 0.2 * random_.between(0, 4);
  wild_ = 0.25 * random_.between(0, 4);
  rare_ = chance(0.5) ? 0 : 0.1 * random_.between(1, 4);
  drawn_ = 0.2 * random_.between(0, 3);
  probed_ = 0.2 * random_.between(0, 4);
  program_.strays = chance(0.06);
  if (program_.strays) drawn_ = 0;
  objects_ = program_.strays || chance(0.6) ? 0 : 0.1 * random_.between(1, 5);
  for (Rank q : world.members) {
    receiver(0, q).wild = chance(wild_);
    receiver(0, q).any_tag = receiver(0, q).wild && chance(0.5);
  }
  // Some kinds of steps are frequent in one program, others in another; some programs know a few only.
  static const uint32_t usual[kSteps] = {14, 12, 6, 8, 14, 5, 3, 3, 2, 1, 2, 2, 1, 1, 1, 3, 1, 1, 1, 1};
  const double without = chance(0.6) ? 0.3 : 0.7;
  const bool even = chance(0.3);
  for (size_t i = 0; i < kSteps; ++i)
    weights_[i] = chance(without) ? 0 : (even ? 4 : usual[i]) * static_cast<uint32_t>(random_.between(1, 4));
  if (program_.strays) {
    weights_[10] = weights_[13] = 0;  // their messages follow from what is drawn
    weights_[19] += 10;
  }
  weights_[4] += 4;
  weights_[0] += 4;
  if (chance(0.4)) {  // a communicator in which each receives from one other only
    make_comm(0);
    CommModel& c = comms_.back();
    if (comms_.size() > 1 && c.members.size() > 0) {
      c.partner.resize(static_cast<size_t>(n));
      for (Rank q : c.members) {
        c.partner[static_cast<size_t>(q)] = random_.pick(c.members);
        receiver(comms_.size() - 1, q) = ReceiverModel();
      }
    }
  }
  const int steps = chance(0.15) ? random_.between(40, 160) : random_.between(4, 40);
  for (int i = 0; i < steps; ++i) step();
  for (WindowModel& w : windows_)
    if (w.live) free_window(w);
  while (!persistent_.empty() && chance(0.8)) end_persistent(0);
  for (size_t c = 0; c < comms_.size(); ++c)
    if (!comms_[c].freed) settle_comm(c);
  for (Rank r = 0; r < n; ++r) wait(r, true);
  if (chance(0.5)) lines(true);
  for (Rank r = 0; r < n; ++r) {
    add(r, Op::kFinalize);
    program_.slots = std::max(program_.slots, 2 + slots_[static_cast<size_t>(r)]);
  }
  return std::move(program_);
}

Program generate(Random& random) { return Generator(random).run(); }

}  // namespace sim
