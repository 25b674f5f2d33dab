// Random programs, and how they run: what stands beside communicators. Intercommunicators, memory windows under fences, files
// of MPI; and communicators that come without waiting, requests that are started again, and the status of one that stays.
#include "line/rules.h"
#include "sim/generator.h"
#include "sim/world.h"

namespace sim {

namespace line = elc::line;

// ---- Generator ----

void Generator::object(size_t comm) {
  size_t intra = comm;  // those of a part of the processes rather than of all
  for (int tries = 0; (tries < 3 && intra == 0) || comms_[intra].freed || comms_[intra].first > 0; ++tries)
    intra = tries < 3 ? random_.below(comms_.size()) : 0;
  const Rank p = pick_member(comm), q = pick_member(comm);
  switch (random_.below(12)) {
    case 0:
      return join(intra);
    case 1:
    case 2:
    case 3:
    case 4:
      return window(intra);
    case 5:
    case 6:
      return file(intra);
    case 7:
      return idup(comm);
    case 8:
    case 9:
    case 10:
      return persistent(intra);
    default:
      started_again(comm, p, q);
  }
}

// All members call this; the calls are given back to be completed.
std::vector<Instr*> Generator::all(const CommModel& comm, Op op, Kind kind) {
  std::vector<Instr*> calls;
  for (Rank m : comm.members) {
    Instr& i = add(m, op);
    i.comm = comm.handle;
    i.kind = kind;
    calls.push_back(&i);
  }
  return calls;
}

void Generator::join(size_t parent) {
  if (comms_[parent].members.size() < 2) return;
  const size_t before = comms_.size();
  make_comm(parent, 2);
  if (comms_.size() != before + 2) return;
  for (int n = random_.between(1, 2); n > 0; --n) {
    CommModel joined{program_.handles++, comms_[before].members};
    joined.first = static_cast<int>(joined.members.size());
    for (Rank m : comms_[before + 1].members) joined.members.push_back(m);
    const int number = next_tag_++;
    for (const size_t group : {before, before + 1})
      for (Instr* i : all(comms_[group], Op::kJoin, Kind::kJoin)) {
        i->unfollowed = true;
        i->made = joined.handle;
        i->tag = number;
        i->count = joined.first;
        for (Rank m : joined.members) i->slots.push_back(m);
      }
    comms_.push_back(joined);
    if (chance(0.5)) collective(comms_.size() - 1);
  }
}

// Between fences all may add to the memory of others, or each may read its own.
void Generator::window(size_t parent) {
  std::vector<WindowModel*> live;
  for (WindowModel& w : windows_)
    if (w.live) live.push_back(&w);
  if (live.empty() || (live.size() < 3 && chance(0.15))) {
    WindowModel made{{program_.handles++, comms_[parent].members}};
    for (Instr* i : all(comms_[parent], Op::kCollective, Kind::kWindow)) i->unfollowed = true, i->made = made.handle;
    fence(made);
    windows_.push_back(made);
    return;
  }
  WindowModel& w = *random_.pick(live);
  for (int epochs = random_.between(1, 3); epochs > 0; --epochs) {
    fence(w);
    for (int n = random_.between(0, 4); n > 0; --n) {
      const Rank m = random_.pick(w.members);
      if (chance(0.3)) look_around(m);
      Instr& i = add(m, !w.busy ? Op::kLoad : chance(0.2) ? Op::kStore : Op::kAccess);
      i.comm = w.handle;
      i.peer = random_.pick(w.members);
      i.kind = chance(0.4) ? Kind::kAllreduce : Kind::kReduce;
    }
  }
  if (chance(0.1)) free_window(w);
}

void Generator::fence(WindowModel& w) {
  all(w, Op::kFence, Kind::kFence);
  for (Rank m : w.members)
    if (chance(0.5)) add(m, chance(0.8) ? Op::kSite : Op::kSiteNow);
  w.busy = chance(0.75);
}

void Generator::free_window(WindowModel& w) {
  if (w.busy) fence(w);
  for (Instr* i : all(w, Op::kCollective, Kind::kFree)) i->unfollowed = true;
  w.live = false;
}

// What its members write together, and what one of them writes while it does something else.
void Generator::file(size_t parent) {
  if (files_.empty() || chance(0.3)) {
    CommModel made{program_.handles++, comms_[parent].members};
    for (Instr* i : all(comms_[parent], Op::kCollective, Kind::kOpen)) i->unfollowed = true, i->made = made.handle;
    files_.push_back(made);
  }
  const size_t which = random_.below(files_.size());
  const CommModel& f = files_[which];
  for (int n = random_.between(1, 4); n > 0; --n) {
    const bool together = chance(0.7);
    if (together && chance(0.6)) {
      all(f, Op::kCollective, Kind::kMove);
      continue;
    }
    const Rank alone = random_.pick(f.members);
    for (Rank m : f.members) {
      if (!together && m != alone) continue;
      Instr& i = add(m, Op::kBegin);
      i.comm = f.handle;
      i.kind = Kind::kMove;
      i.group = together;
      look_around(m);
      add(m, Op::kEnd);
    }
  }
  if (!chance(0.3)) return;
  for (Instr* i : all(f, Op::kCollective, Kind::kFree)) i->unfollowed = true;
  files_.erase(files_.begin() + static_cast<long>(which));
}

// A communicator that is there when the request is complete.
void Generator::idup(size_t parent) {
  CommModel made{program_.handles++, comms_[parent].members};
  made.first = comms_[parent].first;
  for (Rank m : made.members) {
    Instr& i = add(m, Op::kIcollective);
    i.comm = comms_[parent].handle;
    i.kind = Kind::kDup;
    i.made = made.handle;
    i.slot = new_slot(m);
    const int slot = i.slot;
    look_around(m);
    Instr& w = add(m, Op::kWait);
    w.how = chance(0.5) ? How::kWait : How::kWaitany;
    w.slots = {slot};
  }
  comms_.push_back(made);
  if (chance(0.6)) collective(comms_.size() - 1);
  if (chance(0.6)) free_comm(comms_.size() - 1);
}

// Persistent requests: of one slot again and again, and tested where they are not active, too.
bool Generator::started_again(size_t comm, Rank p, Rank q) {
  if (p == q || !clean(comm, p, q)) return false;
  const int receive = new_slot(q), send = new_slot(p);
  const Tag tag = small_tag();
  const auto use = [&](Rank rank, Op op, Rank peer, int slot) {
    Instr& i = add(rank, op);
    i.comm = comms_[comm].handle;
    i.peer = peer;
    i.tag = tag;
    i.slot = slot;
    i.large = chance(0.2);
  };
  const auto wait = [&](Rank rank, int slot) {
    look_around(rank);
    Instr& i = add(rank, Op::kWait);
    i.how = chance(0.5) ? How::kWaitall : How::kTest;
    i.slots = {slot};
    if (!chance(0.3)) return;
    Instr& t = add(rank, Op::kWait);
    t.how = How::kTestOnce;
    t.slots = {slot};
  };
  for (int n = random_.between(2, 3); n > 0; --n) {
    const bool first = chance(0.5);
    if (first) use(q, Op::kIrecv, p, receive);
    use(p, Op::kIsend, q, send);
    if (!first) use(q, Op::kIrecv, p, receive);
    wait(p, send);
    wait(q, receive);
  }
  return true;
}

// ---- Node ----

// What happens here depends on chance, and is not logged: no line in which others depend on it.
void Node::spoil_replay(const char* why) {
  if (!process->recording() || world_.config.fault == Fault::kChanceTells) return;
  spoiled_ = process->last_line();
  why_spoiled_ = why;
}

const char* Node::hindrance() const {
  if (!ready_for(process->last_line())) return "there is a window that has been between two fences for long";
  const Fault fault = world_.config.fault;
  for (const Request& r : app.requests) {
    if (r.shown && fault != Fault::kForgetStatus) return "MPI_Request_get_status has told of a receive";
    if (r.what != Request::What::kCollective || r.complete || fault == Fault::kHalfMade) continue;
    if (makes(app.collectives[r.record].contribution.kind)) return "MPI_Comm_idup is under way";
  }
  return nullptr;
}

void Node::do_get_status(const Instr& i) {
  const size_t slot = static_cast<size_t>(i.slot);
  Request& r = app.requests[slot];
  if (r.what == Request::What::kNone) return next();
  if (!forced_) site();
  ask(NdKind::kTest);
  const bool told = forced_ ? !forced_->empty() : complete(slot);
  if (told && r.what != Request::What::kSend && !complete(slot)) return;  // what the log says is to come
  record(NdKind::kTest, told ? std::vector<uint32_t>{0} : std::vector<uint32_t>());
  observe(told ? 1 : 0);
  if (told && r.what == Request::What::kReceive) {
    const Live& live = live_[slot];
    const bool queued = live.state == line::Posting::State::kQueued;
    r.shown = true;
    r.shown_source = queued ? live.message->source : world_.network->message_of(live.receive).source;
    r.shown_tag = queued ? live.message->tag : world_.network->message_of(live.receive).tag;
    observe(combine(static_cast<uint64_t>(r.shown_source), static_cast<uint64_t>(r.shown_tag)));
    has_seen({r.shown_source, comm(r.comm).identity, r.shown_tag,
              (queued ? unpack(live.message->content) : world_.network->message_of(live.receive).payload)[0] + 1});
  }
  next();
}

// Two groups that have no communicator together make one, each by an operation on its own.
void Node::do_join(const Instr& i) {
  const uint64_t context = combine(0x6a6f696e, static_cast<uint64_t>(i.tag));
  if (app.stage == 0) {
    site();
    int none;
    begin_collective(i, &none, &record_);
    CollectiveRecord r;
    r.comm = context;
    r.number = 1;
    for (int m : i.slots) r.members.push_back(m);
    r.contribution.kind = Kind::kJoin;
    r.contribution.number = 1;
    r.contribution.value = identity_of(comm(i.comm).identity, app.collectives[record_].contribution.number, 0);
    r.contribution.first = i.count;
    r.contribution.joined = r.group = true;
    app.collectives.push_back(r);
    operation_ = world_.collectives->join(context, r.members, self_, r.contribution);
    app.stage = 1;
    return;
  }
  if (!world_.collectives->complete(operation_, self_)) return;
  CollectiveRecord& r = app.collectives[record_ + 1];
  CollectiveResult result = world_.collectives->result(operation_, self_, &r.has_value);
  r.value = result.value;
  r.ended = true;
  observe(r.value);
  if (world_.config.fault == Fault::kJoinedByMembers) {
    result.identity = result.members.size();
    for (Rank m : result.members) result.identity = combine(result.identity, static_cast<uint64_t>(m));
  }
  std::vector<Rank> others;
  for (Rank m : i.slots)
    if (m != self_) others.push_back(m);
  if (follows()) process->on_group_call(others.data(), others.size(), "MPI_Intercomm_create");
  ++world_.stats.joined;
  make_comm(i.made, result);
  end_collective(i.comm, record_, CollectiveResult(), false);
  next();
}

// ---- Windows: what src/mpi/calls/windows.cc does ----

constexpr int kMostUnsettled = 30;

Window* Node::window(uint64_t identity) {
  for (Window& w : app.windows)
    if (w.identity == identity) return &w;
  return nullptr;
}

void Node::make_window(int handle, const CollectiveResult& result) {
  Window made;
  made.handle = handle;
  made.identity = result.identity;
  made.live = true;
  app.windows.push_back(made);
  epochs_[static_cast<size_t>(handle)].reset(false);
}

void Node::restore_windows() {
  for (const Window& w : app.windows) epochs_[static_cast<size_t>(w.handle)].reset(w.fenced);
}

bool Node::ready_for(line::LineNumber line) const {
  return std::all_of(app.windows.begin(), app.windows.end(), [&](const Window& w) {
    return !w.live || epochs_[static_cast<size_t>(w.handle)].ready_for(line);
  });
}

bool Node::settled() {
  if (ready_for(process->last_line() + 1)) return true;
  if (++unsettled_ < kMostUnsettled) return false;
  unsettled_ = 0;
  return true;
}

void Node::join_fence(int stage, const Contribution& mine) {
  const CommInfo& c = comm(instr().comm);
  fence_ = stage;
  operation_ = world_.collectives->join(combine(c.identity, static_cast<uint64_t>(stage)), c.members, self_, mine);
}

// 1: it has come. 2: what was put off is issued. 3: all that was issued has arrived, and it says what it knows. The state of
// the program is as of before the fence in all of them.
void Node::do_fence(const Instr& i) {
  const size_t handle = static_cast<size_t>(i.comm);
  Window& w = window_of(i.comm);
  line::Epochs& epochs = epochs_[handle];
  if (operation_ >= 0 && !world_.collectives->complete(operation_, self_)) return;
  switch (fence_) {
    case 0:
      site();
      if (process->logged_result(slot_of(i.comm), process->operations(slot_of(i.comm)) + 1) != nullptr) return end_fence(i, true);
      fence_ = 1;
      if (epochs.agreed() && line::applies(line::Rule::kIssueTogether)) join_fence(1, {});
      return;
    case 1:
      epochs.end();
      for (size_t access : put_off_[handle]) issue(w, access);
      put_off_[handle].clear();
      return join_fence(2, {});
    case 2: {
      world_.reach_all(w.identity);
      spoil_replay("MPI_Win_fence was called while messages crossed the line");
      w.fenced = true;
      unsettled_ = 0;
      Contribution mine;
      unsigned words[line::Epochs::kWords];
      epochs.say(*process, words);
      std::copy(words, words + line::Epochs::kWords, mine.words.begin());
      return join_fence(3, mine);
    }
    default:
      break;
  }
  const auto most = world_.collectives->most_words(operation_);
  unsigned words[line::Epochs::kWords];
  std::copy(most.begin(), most.end(), words);
  operation_ = -1;
  epochs.begin(*process, words);
  const line::LineNumber last = process->last_line();
  site();
  end_fence(i, process->last_line() != last);
}

// `known`: its result is logged, where others have counted it before their checkpoints.
void Node::end_fence(const Instr& i, bool known) {
  int none;
  if (!begin_collective(i, &none, &record_)) {
    CollectiveRecord& r = app.collectives[record_];
    if (known) end_collective(i.comm, record_, CollectiveResult(), false);
    else process->end_unfollowed(slot_of(i.comm), r.contribution.number, "MPI_Win_fence");
    r.ended = true;
  }
  Window& w = window_of(i.comm);
  for (const Access& a : w.accesses)
    if (a.epoch == w.fences && a.fetches) observe(a.before);
  ++w.fences;
  ++world_.stats.fences;
  fence_ = 0;
  next();
}

void Node::do_access(const Instr& i) {
  site();
  Window& w = window_of(i.comm);
  const size_t access = w.accesses.size();
  w.accesses.push_back({w.fences, i.peer, combine(app.hash, access), i.kind == Kind::kAllreduce});
  const size_t handle = static_cast<size_t>(i.comm);
  ++world_.stats.accesses;
  if (epochs_[handle].put_off(*process)) put_off_[handle].push_back(access), ++world_.stats.put_off;
  else issue(w, access);
  next();
}

void Node::issue(Window& w, size_t access) {
  world_.accesses.push_back({w.identity, self_, access});
  if (world_.chance.chance(0.5)) world_.reach(world_.accesses.size() - 1);
}

void Node::do_store(const Instr& i) {
  Window& w = window_of(i.comm);
  const uint64_t content = combine(app.hash, w.accesses.size());
  w.accesses.push_back({w.fences, self_, content, false, true, w.memory});
  w.memory += content;
  next();
}

void Node::do_load(const Instr& i) {
  Window& w = window_of(i.comm);
  w.loads.push_back({w.fences, w.memory});
  observe(w.memory);
  next();
}

// ---- Files ----

bool Node::quiet_file() const { return !app.writing || world_.config.fault == Fault::kBetweenHalves; }

// Each operation writes to a place of its own.
void Node::write(uint64_t file, uint64_t number, uint64_t content) {
  ++world_.stats.writes;
  app.written.push_back({combine(file, number), content});
  if (!repeats_ || world_.config.fault != Fault::kMoveFromLog) world_.files[{self_, combine(file, number)}] = content;
}

void Node::do_begin(const Instr& i) {
  site();
  const uint64_t file = comm(i.comm).identity;
  uint64_t number = combine(~uint64_t{0}, app.written.size());
  repeats_ = false;
  if (i.group) {
    int none;
    if (!begin_collective(i, &none, &record_)) end_collective(i.comm, record_, CollectiveResult(), false);
    number = app.collectives[record_].contribution.number;
  }
  if (repeats_) {
    write(file, number, app.hash);
  } else {
    app.written.push_back({combine(file, number), app.hash, false});
    begun_write_ = true;
  }
  app.writing = true;
  next();
}

void Node::do_end() {
  ++world_.stats.writes;
  Written& w = app.written.back();
  if (begun_write_) world_.files[{self_, w.place}] = w.content;
  w.done = true;
  begun_write_ = false;
  app.writing = false;
  next();
}

// ---- Checks ----

// What another process reads or finds is the sum of what was added before.
void World::check_window(Rank target, const Window& w, const std::vector<const App*>& apps, bool at_end) {
  std::map<int, std::map<uint64_t, uint64_t>> found;  // by epoch: what was there, and what was added
  std::map<int, uint64_t> sums;
  uint64_t sum = 0;
  for (const App* app : apps)
    for (const Window& other : app->windows) {
      if (other.identity != w.identity) continue;
      for (const Access& a : other.accesses) {
        if (a.target != target) continue;
        sum += a.content;
        sums[a.epoch] += a.content;
        if (at_end && !a.executed) fail("rank %d: an operation on a window was never executed", target);
        if (!found[a.epoch].emplace(a.before, a.content).second)
          fail("rank %d: two operations on a window have found the same", target);
      }
    }
  if (w.memory != sum) fail("rank %d: the memory of a window is not what was added to it", target);
  if (!at_end) return;
  uint64_t before = 0;
  for (auto& [epoch, steps] : found) {
    uint64_t memory = before;
    for (size_t n = steps.size(); n > 0; --n) {
      const auto step = steps.find(memory);
      if (step == steps.end()) return fail("rank %d: an operation on a window has not found what others added", target);
      memory += step->second;
    }
    before += sums[epoch];
  }
  for (const Load& l : w.loads) {
    uint64_t due = 0;
    for (auto& [epoch, added] : sums) due += epoch < l.epoch ? added : 0;
    if (l.value != due) fail("rank %d has read from a window what was not there", target);
  }
}

void World::check_objects(const std::vector<const App*>& apps, bool at_end) {
  size_t places = 0;
  for (Rank r = 0; r < program.processes; ++r) {
    const App& app = *apps[static_cast<size_t>(r)];
    for (const Window& w : app.windows)
      if (w.live || at_end) check_window(r, w, apps, at_end);
    for (const Written& p : app.written) {
      if (!p.done) fail("rank %d: a line has half of what is written to a file", r);
      const auto there = files.find({r, p.place});
      if (there == files.end() || there->second != p.content) fail("rank %d: a file has not what was written to it", r);
    }
    places += app.written.size();
  }
  if (at_end && places != files.size()) fail("a file has what was never written to it");
}

// ---- World ----

void World::reach(size_t i) {
  const Reach r = accesses[i];
  accesses[i] = accesses.back();
  accesses.pop_back();
  Access& a = nodes[static_cast<size_t>(r.origin)]->window(r.window)->accesses[r.access];
  Window* w = nodes[static_cast<size_t>(a.target)]->window(r.window);
  if (w == nullptr || !w->live) return fail("rank %d has no window for what rank %d adds", a.target, r.origin);
  a.before = w->memory;
  a.executed = true;
  w->memory += a.content;
}

void World::reach_all(uint64_t window) {
  for (size_t i = 0; i < accesses.size();) {
    if (accesses[i].window == window) reach(i);
    else ++i;
  }
}

// A restart cuts files: what was written behind its checkpoint is gone.
void World::cut_files() {
  std::erase_if(files, [&](const auto& entry) {
    const auto& [rank, place] = entry.first;
    const auto& written = nodes[static_cast<size_t>(rank)]->app.written;
    return std::none_of(written.begin(), written.end(), [&, p = place](const Written& w) { return w.place == p && w.done; });
  });
}

}  // namespace sim
