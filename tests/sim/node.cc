// The interpreter of programs: one call, or one look of a waiting call, for each step.
#include "sim/node.h"

#include <algorithm>
#include <cstdio>

#include "line/event_logging.h"
#include "sim/world.h"

namespace sim {

namespace line = elc::line;

Node::Node(World& world, Rank self)
    : world_(world),
      self_(self),
      slots_(static_cast<size_t>(world.program.handles)),
      live_(static_cast<size_t>(world.program.slots)),
      with_mpi_(static_cast<size_t>(world.program.handles)),
      epochs_(static_cast<size_t>(world.program.handles)),
      put_off_(static_cast<size_t>(world.program.handles)) {}

Node::~Node() {
  process.reset();
  for (Live& live : live_) {
    line::let_go(live.message);
    line::let_go(live.log);
  }
  for (Arriving& a : arriving_) line::let_go(a.message);
  line::let_go(taken_.message);
}

std::unique_ptr<line::Coordinator> Node::make_coordinator() {
  const line::Options options{world_.config.drain, world_.config.max_transit, world_.config.most_freed};
  return std::unique_ptr<line::Coordinator>(
      elc::make<line::EventLogging>(host(), self_, world_.program.processes, options));
}

void Node::start() {
  const Rank n = world_.program.processes;
  process = make_coordinator();
  app = App();
  app.hash = static_cast<uint64_t>(self_);
  app.comms.resize(static_cast<size_t>(world_.program.handles));
  app.requests.resize(static_cast<size_t>(world_.program.slots));
  CollectiveResult world;
  world.identity = kWorldIdentity;
  for (Rank r = 0; r < n; ++r) world.members.push_back(r);
  make_comm(0, world);
  begun_ = true;
}

void Node::restart(const App& saved_app, const elc::Bytes& bytes) {
  process = make_coordinator();
  app = saved_app;
  line::Saved saved;
  elc::Decoder in(bytes);
  const elc::Result decoded = line::Saved::decode(in, &saved);
  if (!decoded.ok()) return world_.fail("rank %d: %s", self_, decoded.message());
  if (saved.replay) ++world_.stats.restart_replaying;
  for (const line::SavedClass& c : saved.classes) {
    if (c.residue < 0) world_.stats.orphans += static_cast<uint64_t>(-c.residue);
  }
  world_.stats.in_transit += saved.messages.size();
  const Fault fault = world_.config.fault;
  if (fault == Fault::kIgnoreQueue) saved.messages.clear();
  if (fault == Fault::kForgetOutcomes) {
    saved.outcomes.clear();
    saved.bound.clear();
  }
  complete_collectives(saved);
  const elc::Result loaded = process->load(std::move(saved));
  if (!loaded.ok()) return world_.fail("rank %d: %s", self_, loaded.message());
  for (size_t h = 0; h < app.comms.size(); ++h)
    if (app.comms[h].live)
      slots_[h] =
          process->add_comm(app.comms[h].identity, static_cast<uint32_t>(app.comms[h].members.size()));
  restore_windows();
  process->start_recovery();
}

// What was pending at the checkpoint is complete, with the results that the line has.
void Node::complete_collectives(const line::Saved& saved) {
  for (Request& request : app.requests) {
    if (request.what != Request::What::kCollective || request.complete) continue;
    const elc::Bytes* logged = nullptr;
    for (const line::SavedResult& r : saved.pending)
      if (r.comm == comm(counted_on(request.comm)).identity && r.number == request.number) logged = &r.result;
    if (logged == nullptr) return world_.fail("rank %d: a pending collective has no result", self_);
    const CollectiveResult result = decode(*logged, &request.has_value);
    request.complete = true;
    request.value = result.value;
    CollectiveRecord& r = app.collectives[request.record];
    r.ended = true;
    r.has_value = request.has_value;
    r.value = result.value;
  }
}

// The job runs again: receives that were pending at the checkpoint are pending again.
void Node::begin_running() {
  begun_ = true;
  world_.point(World::Moment::kRunning);
  make_persistent_again();
  std::vector<size_t> receives;
  for (size_t slot = 0; slot < app.requests.size(); ++slot) {
    Request& request = app.requests[slot];
    if (request.what == Request::What::kReceive && !request.withdrawn) receives.push_back(slot);
  }
  std::sort(receives.begin(), receives.end(),
            [&](size_t a, size_t b) { return app.requests[a].number < app.requests[b].number; });
  for (size_t slot : receives) {
    const Request& request = app.requests[slot];
    Live& live = live_[slot];
    live.pattern = {slot_of(request.comm), request.source, request.tag};
    if (process->post_again(live, request.number)) start_receive(live);
    log_posting(slot);
  }
}

// Inside a blocking collective MPI leaves no way to look, unless it is made of non-blocking ones.
bool Node::looks() const { return operation_ < 0 || world_.config.look_in_collectives; }

void Node::progress() {
  poll_arriving();
  if (begun_) poll_collectives();
  const char* spoiled = world_.spoiled(self_, process->last_line());
  if (spoiled != nullptr && world_.chance.chance(0.5)) process->refuse_line(spoiled);
  process->poll();
  if (tells_ && !process->finished()) {
    process->tell_removed();
    ++removals_;
  }
  tells_ = false;
  check_point();
}

void Node::on_control(Rank from, const uint8_t* data, size_t size) {
  process->on_control(from, data, size);
  check_point();
}

// A program point that has no line yet asks for one, at the latest when the line that was open has ended. (While freed
// communicators are being forgotten no line is due.)
void Node::check_point() {
  if (!judged_) return;
  judged_ = early_ = false;
  if (world_.doomed || world_.no_more) return;
  if (app.calls > world_.points_of(process->committed_line()) && !process->due() && !process->busy() && !ends())
    world_.fail("rank %d: a program point met an open line, and asks for none when that has ended", self_);
}

void Node::check_counted() const {
  for (const Live& live : live_)
    if (live.counted && live.state == line::Posting::State::kStarted && !world_.network->matched(live.receive))
      world_.fail("rank %d: receive %llu counts, and MPI has no message for it", self_,
                  static_cast<unsigned long long>(live.number));
}

const Instr& Node::instr() const { return world_.program.code[static_cast<size_t>(self_)][app.at]; }

std::string Node::situation() const {
  char text[200];
  snprintf(text, sizeof(text), "at instruction %zu stage %d: %s; line %u open %d replaying %d", app.at,
           app.stage, describe(instr()).c_str(), process->last_line(), process->line_open(),
           process->replaying());
  std::string result = text;
  for (size_t slot = 0; slot < app.requests.size(); ++slot) {
    const Request& r = app.requests[slot];
    const Live& l = live_[slot];
    if (r.what == Request::What::kNone) continue;
    snprintf(
        text, sizeof(text),
        "\n    request %zu: kind %d comm %d from %d tag %d; posting %llu state %d bound %d (%d %d) mpi %d",
        slot, static_cast<int>(r.what), r.comm, r.source, r.tag, static_cast<unsigned long long>(l.number),
        static_cast<int>(l.state), l.bound, l.bound_source, l.bound_tag, l.receive);
    result += text;
  }
  return result;
}

void Node::next() {
  ++app.at;
  app.stage = 0;
  app.count = 0;
  asked_ = false;
  forced_.reset();
  operation_ = -1;
}

// A labelled call is a site, also while it waits.
bool Node::site() {
  if (!instr().label || !quiet_file() || !process->site()) return false;
  taken();
  return true;
}

// What the line costs here: something else at each process.
void Node::taken() {
  const uint64_t cost = 10 + static_cast<uint64_t>(self_) * 7 % 5;
  process->add_cost(cost);
  process->add_cost(1);
  world_.cost(process->last_line(), cost + 1);
}

// One program point, one line.
void Node::site_now() {
  ++app.calls;
  const uint64_t points = world_.points_of(process->committed_line());
  const line::LineNumber last = process->last_line();
  const bool open = process->line_open(), due = process->due();
  if (!quiet_file() || world_.chance.chance(world_.config.pass)) process->pass_now();
  else if (process->site_now()) taken();
  if (app.calls <= points) {
    if ((process->last_line() != last || process->due() != due) && !world_.doomed)
      world_.fail("rank %d: a program point that has its line takes another", self_);
  } else if (open) {
    early_ = true;
  } else if (process->last_line() == last && !process->due() && !process->busy() && !world_.doomed && !world_.no_more) {
    world_.fail("rank %d: a program point asks for no line", self_);
  }
}

size_t Node::index_in(const CommInfo& c) const {
  return static_cast<size_t>(std::find(c.members.begin(), c.members.end(), self_) - c.members.begin());
}

Rank Node::peer_of(const Instr& instr, int peer) const {
  const CommInfo& c = app.comms[static_cast<size_t>(instr.comm)];
  const size_t n = c.members.size();
  switch (peer) {
    case kProbed:
      return app.probed_source;
    case kRight:
      return c.members[(index_in(c) + 1) % n];
    case kLeft:
      return c.members[(index_in(c) + n - 1) % n];
    case kFirst:
      return c.members[0];
    default:
      return peer;
  }
}

Tag Node::send_tag(int tag) {
  if (tag == kHashTag) return static_cast<Tag>(app.hash % 3);
  if (tag == kNdTag) {
    const uint64_t drawn = nd();
    observe(drawn);
    return static_cast<Tag>(drawn % 3);
  }
  return tag;
}

void Node::step() {
  ++world_.stats.steps;
  if (!process->running() || app.done) {
    progress();
    return;
  }
  if (!begun_) return begin_running();
  if (looks() && world_.chance.chance(world_.config.look)) progress();
  // What waits for an outcome of the log waits no longer than until release.
  if (forced_ && !process->replaying()) forced_.reset();
  const Instr& i = instr();
  switch (i.op) {
    case Op::kSend:
      if (app.stage == 0) {
        site();
        send(i.comm, peer_of(i, i.peer), send_tag(i.tag), 0, i, 1);
        app.stage = 1;
      } else if (complete(1)) {
        finish(1);
        next();
      } else {
        site();
      }
      break;
    case Op::kIsend:
      site();
      send(i.comm, peer_of(i, i.peer), send_tag(i.tag), 0, i, static_cast<size_t>(i.slot));
      next();
      break;
    case Op::kRecv:
      do_receive(i);
      break;
    case Op::kIrecv:
      site();
      post(static_cast<size_t>(i.slot), i.comm, peer_of(i, i.peer),
           i.tag == kProbed ? app.probed_tag : i.tag);
      next();
      break;
    case Op::kSendrecv:
      do_sendrecv(i);
      break;
    case Op::kProbe:
      do_probe(i);
      break;
    case Op::kIprobe:
    case Op::kIprobeUntil:
      do_iprobe(i);
      break;
    case Op::kWait:
      do_wait(i);
      break;
    case Op::kCollective:
      do_collective(i);
      break;
    case Op::kIcollective:
      do_icollective(i);
      break;
    case Op::kBatchSend:
      do_batch_send(i);
      break;
    case Op::kBatchRecv:
      do_batch_receive(i);
      break;
    case Op::kServe:
      do_serve(i);
      break;
    case Op::kGatherAny:
      do_gather_any(i);
      break;
    case Op::kSite:
      next();
      if (quiet_file() && process->site()) taken();
      break;
    case Op::kSiteNow:
      next();
      if (world_.config.lines) site_now();
      break;
    case Op::kRequest:
      next();
      if (world_.config.lines) process->request();
      break;
    case Op::kNd:
      observe(nd());
      next();
      break;
    case Op::kLines:
      do_lines(i);
      break;
    case Op::kMaybe:
      if (world_.entropy.chance(0.5)) nd();
      next();
      break;
    case Op::kEither:
      do_either(i);
      break;
    case Op::kCompute:
      observe(1);
      next();
      break;
    case Op::kCancel:
      do_cancel(i);
      break;
    case Op::kWaitCancelled:
      do_wait_cancelled(i);
      break;
    case Op::kMprobe:
    case Op::kImprobe:
      do_mprobe(i);
      break;
    case Op::kGetStatus:
      do_get_status(i);
      break;
    case Op::kJoin:
      do_join(i);
      break;
    case Op::kFence:
      do_fence(i);
      break;
    case Op::kAccess:
      do_access(i);
      break;
    case Op::kStore:
      do_store(i);
      break;
    case Op::kLoad:
      do_load(i);
      break;
    case Op::kBegin:
      do_begin(i);
      break;
    case Op::kEnd:
      do_end();
      break;
    case Op::kGroupCall:
      do_group_call(i);
      break;
    case Op::kNever:
      process->never();
      never_ = world_.no_more = true;
      next();
      break;
    case Op::kFinalize:
      if (app.stage == 0) process->finalize();
      app.stage = 1;
      progress();
      if (process->finished()) app.done = true;
      break;
  }
}

// ---- Receives and probes ----

void Node::do_receive(const Instr& i) {
  if (app.stage == 0) {
    site();
    post(0, i.comm, peer_of(i, i.peer), i.tag == kProbed ? app.probed_tag : i.tag, true);
    app.stage = 1;
  } else if (complete(0)) {
    finish(0, &app.probed_source, &app.probed_tag);
    next();
  } else {
    site();
  }
}

void Node::do_sendrecv(const Instr& i) {
  if (app.stage == 0) {
    site();
    post(0, i.comm, peer_of(i, i.peer2), i.tag2);
    send(i.comm, peer_of(i, i.peer), send_tag(i.tag), 0, i, 1);
    app.stage = 1;
  } else if (complete(0) && complete(1)) {
    finish(0, &app.probed_source, &app.probed_tag);
    finish(1);
    next();
  } else {
    site();
  }
}

// Looks for what a probe asks for, or in a replay for what it found then: 1 if it is there, 0 if not
// (or not yet).
bool Node::do_look(const Instr& i, Rank* source, Tag* tag) {
  *source = peer_of(i, i.peer);
  *tag = i.tag;
  if (!forced_) return look(i.comm, *source, *tag, source, tag);
  const Rank logged_source = static_cast<Rank>((*forced_)[0]);
  const Tag logged_tag = static_cast<Tag>((*forced_)[1]);
  const Tag asked = *tag;
  if ((*source == kAny || *source == logged_source) && (asked == kAny || asked == logged_tag)) {
    // The pending queue is in the order of receipt; MPI shows the order of sending.
    if (process->queued({slot_of(i.comm), logged_source, logged_tag}) != nullptr) {
      *source = logged_source;
      *tag = logged_tag;
      return true;
    }
    if (!look(i.comm, logged_source, asked, source, tag)) return false;
    if (*tag == logged_tag) return true;
  }
  misfit();
  return do_look(i, source, tag);
}

void Node::do_probe(const Instr& i) {
  if (!forced_) site();
  ask(NdKind::kProbe);
  Rank source;
  Tag tag;
  if (!do_look(i, &source, &tag)) return;
  world_.log(self_, "probes %d comm %d tag %d", source, i.comm, tag);
  record(NdKind::kProbe, {static_cast<uint32_t>(source), static_cast<uint32_t>(tag)});
  observe(combine(static_cast<uint64_t>(source), static_cast<uint64_t>(tag)));
  app.probed_source = source;
  app.probed_tag = tag;
  next();
}

void Node::do_iprobe(const Instr& i) {
  if (!forced_) site();
  ask(NdKind::kIprobe);
  Rank source = 0;
  Tag tag = 0;
  const bool found_none = forced_ && forced_->empty();
  const bool shown = !found_none && do_look(i, &source, &tag);
  if (!shown && !found_none && forced_) return;  // what the log says is to come
  if (shown)
    record(NdKind::kIprobe, {static_cast<uint32_t>(source), static_cast<uint32_t>(tag)});
  else
    record(NdKind::kIprobe, {});
  world_.log(self_, "iprobe: %d", shown ? tag : -1);
  observe(shown ? combine(static_cast<uint64_t>(source), static_cast<uint64_t>(tag)) : 0);
  asked_ = false;
  forced_.reset();
  if (shown && i.op == Op::kIprobeUntil) {
    app.probed_source = source;
    app.probed_tag = tag;
  }
  if (shown || i.op == Op::kIprobe) next();
}

// ---- Waits and tests ----

void Node::do_wait(const Instr& i) {
  switch (i.how) {
    case How::kWait:
      return do_wait_each(i);
    case How::kWaitall:
      for (int slot : i.slots)
        if (!complete(static_cast<size_t>(slot))) {
          site();
          return;
        }
      for (int slot : i.slots) finish(static_cast<size_t>(slot));
      return next();
    case How::kWaitany:
      return do_wait_some(i, NdKind::kWaitany);
    case How::kWaitsome:
      return do_wait_some(i, NdKind::kWaitsome);
    case How::kTest:
    case How::kTestOnce:
      return do_wait_some(i, NdKind::kTest);
    case How::kTestall:
      return do_wait_some(i, NdKind::kTestall);
    case How::kTestany:
    case How::kTestanyOnce:
      return do_wait_some(i, NdKind::kTestany);
    case How::kTestsome:
    case How::kTestsomeOnce:
      return do_wait_some(i, NdKind::kTestsome);
  }
}

void Node::do_wait_each(const Instr& i) {
  if (app.count == i.slots.size()) return next();
  const size_t slot = static_cast<size_t>(i.slots[app.count]);
  if (!complete(slot)) {
    site();
    return;
  }
  finish(slot);
  ++app.count;
}

// One call of a function that ends some of the requests, until all are done (or, `once`, one call).
// The outcome is the list of the positions that it ends.
void Node::do_wait_some(const Instr& i, NdKind kind) {
  std::vector<uint32_t> active, complete_ones;
  for (uint32_t k = 0; k < i.slots.size(); ++k) {
    if (app.requests[static_cast<size_t>(i.slots[k])].what == Request::What::kNone) continue;
    active.push_back(k);
  }
  if (active.empty()) return next();
  if (!forced_) site();
  ask(kind);
  std::vector<uint32_t> ended;
  for (uint32_t k : forced_.value_or(std::vector<uint32_t>()))
    if (std::find(active.begin(), active.end(), k) == active.end()) {
      misfit();
      break;
    }
  if (forced_) {
    // A send that had ended has ended, though MPI may want its receive first this time: the library
    // keeps a copy.
    ended = *forced_;
    for (uint32_t k : ended) {
      const size_t slot = static_cast<size_t>(i.slots[k]);
      if (app.requests[slot].what != Request::What::kSend && !complete(slot)) return;
    }
  } else {
    for (uint32_t k : active)
      if (complete(static_cast<size_t>(i.slots[k]))) complete_ones.push_back(k);
    const bool waits = kind == NdKind::kWaitany || kind == NdKind::kWaitsome;
    if (waits && complete_ones.empty()) return;
    const bool overlooked = !waits && world_.chance.chance(0.2);  // a test need not see what has arrived
    if (complete_ones.empty() || overlooked) {
    } else if (kind == NdKind::kTestall || kind == NdKind::kTest) {
      if (complete_ones.size() == active.size()) ended = complete_ones;
    } else if (kind == NdKind::kWaitany || kind == NdKind::kTestany) {
      ended = {world_.chance.pick(complete_ones)};
    } else {
      const uint32_t least = world_.chance.below(complete_ones.size());
      for (uint32_t k = 0; k < complete_ones.size(); ++k)
        if (k == least || world_.chance.chance(0.7)) ended.push_back(complete_ones[k]);
    }
  }
  record(kind, ended);
  observe(ended.size());
  for (uint32_t k : ended) {
    observe(k);
    finish(static_cast<size_t>(i.slots[k]));
  }
  asked_ = false;
  forced_.reset();
  if (i.how == How::kTestOnce || i.how == How::kTestanyOnce || i.how == How::kTestsomeOnce) next();
}

// ---- Collective operations ----

// A barrier is an all-reduce of the line number (section 6): who learns that another member is a line
// ahead takes its local checkpoint as of before the barrier.
void Node::do_barrier(const Instr& i) {
  const line::Comm slot = slot_of(i.comm);
  const CommInfo& c = comm(i.comm);
  if (app.stage == 0) {
    site();
    if (process->logged_result(slot, process->operations(slot) + 1) == nullptr ||
        world_.config.fault == Fault::kRepeatCrossing) {
      rounds_ = c.first > 0 ? 2 : 1;
      Contribution mine;
      mine.value = process->last_line();
      mine.first = c.first;
      operation_ = world_.collectives->join(c.identity, c.members, self_, mine);
      app.stage = 1;
      return;
    }
  } else {
    if (!world_.collectives->complete(operation_, self_)) return;
    const uint64_t most = std::max<uint64_t>(world_.collectives->most(operation_, self_), process->last_line());
    if (--rounds_ > 0) {  // each group tells the other one what it has heard
      Contribution mine;
      mine.value = most;
      mine.first = c.first;
      operation_ = world_.collectives->join(c.identity, c.members, self_, mine);
      return;
    }
    if (i.label && most > process->last_line() && world_.config.fault != Fault::kBarrierUnaware) {
      app.stage = 0;
      process->request_line(static_cast<line::LineNumber>(most));
      if (process->site()) taken();
    }
  }
  int none;
  if (!begin_collective(i, &none, &record_)) end_collective(i.comm, record_, CollectiveResult(), false);
  next();
}

void Node::do_collective(const Instr& i) {
  if (i.kind == Kind::kBarrier) return do_barrier(i);
  if (app.stage == 0) {
    site();
    if (i.group) join_group(i);
    if (!begin_collective(i, &operation_, &record_)) {
      app.stage = 1;
      return;
    }
  } else {
    if (!world_.collectives->complete(operation_, self_)) return;
    bool has_value;
    const CollectiveResult result = world_.collectives->result(operation_, self_, &has_value);
    end_collective(i.comm, record_, result, has_value);
  }
  const CollectiveRecord& r = app.collectives[record_];
  if (r.has_value) observe(r.value);
  if (i.kind == Kind::kMove) write(r.comm, r.contribution.number, r.contribution.value);
  if (i.kind == Kind::kOpen) {
    spoil_replay("MPI_File_open was called while messages crossed the line");
    observe(world_.files.size());
  }
  next();
}

void Node::do_icollective(const Instr& i) {
  site();
  const size_t slot = static_cast<size_t>(i.slot);
  Request& request = app.requests[slot];
  request = Request();
  live_[slot] = Live();
  request.what = Request::What::kCollective;
  request.comm = i.comm;
  request.complete = begin_collective(i, &live_[slot].operation, &request.record);
  const CollectiveRecord& r = app.collectives[request.record];
  request.number = r.counted;
  request.has_value = r.has_value;
  request.value = r.value;
  if (!request.complete && request.number > 0) process->pending_collective(slot_of(counted_on(i.comm)), request.number);
  if (comm(i.comm).persistent) {
    ++world_.stats.begun;
    if (!request.complete && !with_mpi_[static_cast<size_t>(i.comm)])
      world_.fail("rank %d starts a persistent operation that MPI does not have", self_);
  }
  next();
}

// ---- Patterns of several messages ----

void Node::do_batch_send(const Instr& i) {
  if (app.stage == 0) {
    site();
    const uint64_t drawn = nd();
    observe(drawn);
    app.count = drawn % 4;
    send(i.comm, peer_of(i, i.peer), i.tag, app.count, i, 1);
    app.stage = 1;
  } else if (app.count == 0) {
    next();
  } else {
    site();
    send(i.comm, peer_of(i, i.peer), send_tag(i.tag2), 0, i, 1);
    --app.count;
  }
}

void Node::do_batch_receive(const Instr& i) {
  switch (app.stage) {
    case 0:
      site();
      post(0, i.comm, peer_of(i, i.peer), i.tag, true);
      app.stage = 1;
      break;
    case 1:
    case 3:
      if (!complete(0)) {
        site();
      } else if (app.stage == 1) {
        app.count = finish(0)[2];
        app.stage = 2;
      } else {
        finish(0);
        --app.count;
        app.stage = 2;
      }
      break;
    case 2:
      if (app.count == 0) return next();
      site();
      post(0, i.comm, peer_of(i, i.peer), i.tag2, true);
      app.stage = 3;
      break;
  }
}

void Node::do_serve(const Instr& i) {
  if (app.stage == 0) {
    if (app.count == static_cast<uint64_t>(i.count)) return next();
    site();
    post(0, i.comm, kAny, i.tag, true);
    app.stage = 1;
  } else if (complete(0)) {
    finish(0, &app.probed_source, &app.probed_tag);
    send(i.comm, app.probed_source, i.tag2, 0, i, 1);
    ++app.count;
    app.stage = 0;
  } else {
    site();
  }
}

void Node::do_gather_any(const Instr& i) {
  const CommInfo& c = comm(i.comm);
  if (index_in(c) != 0) {
    site();
    send(i.comm, c.members[0], i.tag, 0, i, 1);
    return next();
  }
  if (app.stage == 0) {
    if (app.count + 1 == c.members.size()) return next();
    site();
    post(0, i.comm, kAny, i.tag, true);
    app.stage = 1;
  } else if (complete(0)) {
    finish(0);
    ++app.count;
    app.stage = 0;
  } else {
    site();
  }
}

// ---- Lines go on committing; the program takes another way ----

// In the middle of a program only where the library fetches what is in transit: the application does not.
void Node::do_lines(const Instr& i) {
  if (!world_.lives() || (!world_.config.drain && i.count == 0) || process->committed_line() >= world_.goal(i))
    return next();
  // A receive whose status the program has asked for refuses all lines until it is complete for the program.
  for (const Request& r : app.requests)
    if (r.shown) world_.give_up(i);
  // Where there will be no line, the library stops, once nothing is left that it has to follow.
  if (world_.no_more && (i.count == 0 || process->stopped())) return next();
  if (world_.chance.chance(0.1)) process->request();
  if (process->site()) taken();
}

void Node::do_either(const Instr& i) {
  const bool turned = world_.entropy.chance(0.5);
  for (const bool first : {!turned, turned})
    post(static_cast<size_t>(first ? i.slot : i.made), i.comm, peer_of(i, i.peer), first ? i.tag : i.tag2);
  next();
}

}  // namespace sim
