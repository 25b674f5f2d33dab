// The wrapped MPI calls of a simulated process: what src/mpi does over a real MPI.
#include <algorithm>

#include "sim/world.h"

namespace sim {

using elc::Bytes;
using elc::Decoder;
using elc::Encoder;
namespace line = elc::line;

Bytes pack(const Payload& payload) {
  Bytes bytes;
  Encoder out(&bytes);
  for (uint64_t word : payload) out.u64(word);
  return bytes;
}

Payload unpack(const Bytes& bytes) {
  Decoder in(bytes);
  Payload payload;
  for (uint64_t& word : payload) word = in.u64();
  return payload;
}

line::Host Node::host() {
  line::Host h;
  h.context = this;
  h.send_control = [](void* c, Rank to, const uint8_t* data, size_t size) {
    Node& n = *static_cast<Node*>(c);
    n.world_.send_control(n.self_, to, data, size);
  };
  h.vote_for_release = [](void* c) {
    Node& n = *static_cast<Node*>(c);
    n.world_.vote_for_release(n.self_);
  };
  h.all_voted_for_release = [](void* c) { return static_cast<Node*>(c)->world_.all_voted_for_release(); };
  h.removed = [](void* c) { ++static_cast<Node*>(c)->removals_; };
  h.settled = [](void* c, bool) { return static_cast<Node*>(c)->settled(); };
  h.save_state = [](void* c, line::LineNumber l) {
    Node& n = *static_cast<Node*>(c);
    return n.world_.save_state(n.self_, l);
  };
  h.state_saved = [](void* c, line::LineNumber l, bool* saved) {
    Node& n = *static_cast<Node*>(c);
    return n.world_.state_saved(n.self_, l, saved);
  };
  h.save_line = [](void* c, line::LineNumber l, const line::Saved& saved) {
    Node& n = *static_cast<Node*>(c);
    return n.world_.save_line(n.self_, l, saved);
  };
  h.line_stable = [](void* c, line::LineNumber l, bool* stable) {
    Node& n = *static_cast<Node*>(c);
    return n.world_.line_stable(n.self_, l, stable);
  };
  h.commit = [](void* c, line::LineNumber l, uint64_t points, uint64_t cost, bool* done) {
    return static_cast<Node*>(c)->world_.commit(l, points, cost, done);
  };
  h.ended = [](void* c, line::LineNumber l, bool committed, const line::Refusal& refusal) {
    Node& n = *static_cast<Node*>(c);
    n.world_.log(n.self_, "line %u %s", l, committed ? "committed" : "abandoned");
    if (!committed) n.world_.refused(n.self_, l, refusal);
    n.world_.ended(n.self_, l, committed);
    n.judged_ = n.early_;
    n.tells_ = committed && n.self_ == 0;
  };
  h.posting_complete = [](void* c, const line::Posting& posting, Rank* source, Tag* tag) {
    Node& n = *static_cast<Node*>(c);
    const Live& live = static_cast<const Live&>(posting);
    if (live.cancelled) n.world_.fail("rank %d: a receive that is being cancelled is looked at", n.self_);
    if (live.receive < 0 || !n.world_.network->complete(live.receive)) return false;
    const Network::Message& m = n.world_.network->message_of(live.receive);
    *source = m.source;
    *tag = m.tag;
    return true;
  };
  h.copy_data = [](void* c, const line::Posting& posting, line::Message* message) {
    Node& n = *static_cast<Node*>(c);
    if (n.world_.starved(n.self_, n.process->last_line())) return;
    message->content = pack(n.world_.network->message_of(static_cast<const Live&>(posting).receive).payload);
  };
  h.start_receive = [](void* c, line::Posting& posting) {
    static_cast<Node*>(c)->start_receive(static_cast<Live&>(posting));
  };
  h.probe = [](void* c, const Pattern& pattern, Rank* source, Tag* tag) {
    Node& n = *static_cast<Node*>(c);
    const auto is_it = [&](const CommInfo& i) { return i.live && i.identity == n.process->identity(pattern.comm); };
    if (std::none_of(n.app.comms.begin(), n.app.comms.end(), is_it))
      n.world_.fail("rank %d: MPI is asked about a communicator that it does not have", n.self_);
    const Network::Message* m =
        n.world_.network->probe(n.self_, n.process->identity(pattern.comm), pattern.source, pattern.tag);
    if (m == nullptr) return false;
    *source = m->source;
    *tag = m->tag;
    return true;
  };
  h.strayed = [](void* c) { static_cast<Node*>(c)->strayed(); };
  h.take = [](void* c, line::Message* message) {
    Node& n = *static_cast<Node*>(c);
    const uint64_t context = n.process->identity(message->comm);
    // A message that a probe has shown is taken before its line is open.
    if (n.world_.starved(n.self_, n.process->last_line() + (n.process->line_open() ? 0 : 1))) return false;
    n.world_.log(n.self_, "takes a message from %d tag %d", message->source, message->tag);
    const int receive = n.world_.network->receive(n.self_, context, message->source, message->tag);
    n.arriving_.push_back({line::retain(message), receive});
    n.poll_arriving();
    return true;
  };
  return h;
}

void Node::poll_arriving() {
  for (size_t i = 0; i < arriving_.size();) {
    if (!world_.network->complete(arriving_[i].receive)) {
      ++i;
      continue;
    }
    line::Message* m = arriving_[i].message;
    m->content = pack(world_.network->message_of(arriving_[i].receive).payload);
    m->arrived = true;
    line::let_go(m);
    arriving_.erase(arriving_.begin() + static_cast<long>(i));
  }
}

// ---- Sends ----

void Node::send(int handle, Rank to, Tag tag, uint64_t extra, const Instr& instr, size_t slot) {
  Request& request = app.requests[slot];
  request = Request();
  live_[slot] = Live();
  if (to == kNull) return;
  const uint64_t context = comm(handle).identity;
  const auto same = [&](const SentClass& s) { return s.dest == to && s.comm == context && s.tag == tag; };
  auto c = std::find_if(app.sent.begin(), app.sent.end(), same);
  if (c == app.sent.end()) c = app.sent.insert(c, {to, context, tag, {}});
  const uint64_t content = combine(app.hash, extra);
  const uint64_t index = c->contents.size();
  c->contents.push_back(content);
  request.what = Request::What::kSend;
  bool suppressed = follows() && process->on_send(to, slot_of(handle), tag);
  if (suppressed) ++world_.stats.suppressed;
  if (world_.config.fault == Fault::kSendOrphans) suppressed = false;
  world_.log(self_, "sends to %d comm %d tag %d #%llu%s", to, handle, tag,
             static_cast<unsigned long long>(index), suppressed ? " (suppressed)" : "");
  if (suppressed) return;
  ++world_.stats.messages;
  const bool large = instr.large || world_.chance.chance(world_.config.large);
  // The library executes a ready send as a standard one: its receive may have been answered from the
  // pending queue (trap 8).
  const bool ready = instr.mode == Mode::kReady && world_.config.fault == Fault::kReadySend;
  const int id = world_.network->send({self_, to, tag, context, {index, content, extra}, large, ready});
  const bool waits = instr.mode == Mode::kSynchronous ||
                     (instr.mode == Mode::kRendezvous && world_.chance.chance(world_.config.rendezvous));
  if (waits && !process->sends_in_background()) live_[slot].sent = id;
}

// ---- Receives ----

void Node::post(size_t slot, int handle, Rank source, Tag tag, bool may_repeat) {
  Request& request = app.requests[slot];
  request = Request();
  Live& live = live_[slot];
  live = Live();
  if (source == kNull) return;
  request.what = Request::What::kReceive;
  request.comm = handle;
  request.source = source;
  request.tag = tag;
  request.posting = app.postings++;
  live.pattern = {slot_of(handle), source, tag};
  live.repeated = may_repeat && world_.chance.chance(world_.config.repeat);
  const bool mpi = !follows() || process->post(live);
  request.number = live.number;
  if (mpi) start_receive(live);
  log_posting(slot);
  if (live.state != line::Posting::State::kHeld) return;
  ++world_.stats.held;
  if (!process->replaying()) world_.fail("rank %d: a receive is held although nothing is replayed", self_);
}

// A receive in which the process waits is pending in the saved state, or its call is made again.
App Node::saved_app() const {
  App saved = app;
  if (app.requests[0].what != Request::What::kReceive || !live_[0].repeated) return saved;
  saved.requests[0] = Request();
  --saved.postings;
  --saved.stage;
  return saved;
}

void Node::log_posting(size_t slot) {
  static const char* const states[] = {"with MPI", "from the queue", "held"};
  const Request& r = app.requests[slot];
  const Live& l = live_[slot];
  world_.log(self_, "receive %llu (request %zu, comm %d from %d tag %d): %s",
             static_cast<unsigned long long>(r.number), slot, r.comm, r.source, r.tag,
             states[static_cast<int>(l.state)]);
}

void Node::start_receive(Live& live) {
  if (live.receive >= 0) return world_.fail("rank %d: a receive is started twice", self_);
  const Rank source = live.bound ? live.bound_source : live.pattern.source;
  const Tag tag = live.bound ? live.bound_tag : live.pattern.tag;
  live.receive = world_.network->receive(self_, process->identity(live.pattern.comm), source, tag);
}

bool Node::complete(size_t slot) {
  const Request& request = app.requests[slot];
  const Live& live = live_[slot];
  switch (request.what) {
    case Request::What::kNone:
      return true;
    case Request::What::kSend:
      return live.sent < 0 || world_.network->received(live.sent);
    case Request::What::kCollective:
      return request.complete;
    case Request::What::kReceive:
      break;
  }
  if (live.state == line::Posting::State::kQueued) return live.message->arrived;
  return live.receive >= 0 && world_.network->complete(live.receive);
}

// The application sees the end of a request.
Payload Node::finish(size_t slot, Rank* source, Tag* tag) {
  Request request = app.requests[slot];
  app.requests[slot] = Request();
  if (request.what == Request::What::kCollective && request.has_value) observe(request.value);
  if (request.what != Request::What::kReceive) return {};
  Live& live = live_[slot];
  const bool queued = live.state == line::Posting::State::kQueued;
  Rank from;
  Tag with;
  Payload payload;
  if (queued) {
    from = live.message->source;
    with = live.message->tag;
    payload = unpack(live.message->content);
  } else {
    const Network::Message& m = world_.network->message_of(live.receive);
    from = m.source;
    with = m.tag;
    payload = m.payload;
  }
  world_.log(self_, "receives from %d comm %d tag %d #%llu%s", from, request.comm, with,
             static_cast<unsigned long long>(payload[0]), queued ? " (queue)" : "");
  if (request.shown && (request.shown_source != from || request.shown_tag != with))
    world_.fail("rank %d receives from %d with tag %d, and the status was another one", self_, from, with);
  if (follows()) process->observe(live, from, with);
  if (queued) {
    line::let_go(live.message);
    live.message = nullptr;
  }
  app.received.push_back({from, comm(request.comm).identity, with, request.posting, payload[0], payload[1]});
  observe(combine(combine(static_cast<uint64_t>(from), static_cast<uint64_t>(with)), payload[1]));
  if (source != nullptr) *source = from;
  if (tag != nullptr) *tag = with;
  return payload;
}

// So many messages of a class at least.
void Node::has_seen(const Shown& seen) {
  const auto of_class = [&](const Shown& s) { return s.source == seen.source && s.comm == seen.comm && s.tag == seen.tag; };
  auto shown = std::find_if(app.shown.begin(), app.shown.end(), of_class);
  if (shown == app.shown.end()) shown = app.shown.insert(shown, {seen.source, seen.comm, seen.tag, 0});
  shown->count = std::max(shown->count, seen.count);
}

// A look for a message, as MPI_Iprobe.
bool Node::look(int handle, Rank source, Tag tag, Rank* shown_source, Tag* shown_tag) {
  const Pattern pattern{slot_of(handle), source, tag};
  const bool quiet = process->quiet();
  const line::Message* queued = quiet && world_.config.shortcuts ? nullptr : process->queued(pattern);
  if (quiet && queued != nullptr) world_.fail("rank %d: all is quiet, and there is a message in the queue", self_);
  if (queued != nullptr) {
    *shown_source = queued->source;
    *shown_tag = queued->tag;
    return true;
  }
  const Network::Message* m = world_.network->probe(self_, comm(handle).identity, source, tag);
  if (m == nullptr || !process->may_show(pattern.comm, m->source, m->tag)) return false;
  if (world_.config.fault != Fault::kForgetProbes && follows()) process->on_probe(pattern.comm, m->source, m->tag);
  has_seen({m->source, m->context, m->tag, m->payload[0] + 1});
  *shown_source = m->source;
  *shown_tag = m->tag;
  return true;
}

// ---- Nondeterminism ----

// Asks once in a call for its logged outcome. Whether there is one.
bool Node::ask(NdKind kind) {
  if (asked_) return forced_.has_value();
  asked_ = true;
  forced_.reset();
  const Bytes* logged = world_.config.shortcuts && !process->replaying() ? nullptr : process->replay_outcome(kind);
  if (logged == nullptr) return false;
  ++world_.stats.replayed;
  Decoder in(*logged);
  std::vector<uint32_t> value(in.count(4));
  for (uint32_t& v : value) v = in.u32();
  forced_ = std::move(value);
  return true;
}

// Only programs that are made so do that while others depend on their way.
void Node::strayed() {
  world_.log(self_, "strays while others depend on it");
  world_.strayed = true;
  if (!world_.program.strays) world_.fail("rank %d: a program that does the same again was said to stray", self_);
}

// The program has taken another way than in the log.
void Node::misfit() {
  world_.log(self_, "the log does not fit");
  forced_.reset();
  process->end_replay();
}

void Node::record(NdKind kind, const std::vector<uint32_t>& value) {
  if (world_.config.shortcuts && !process->recording()) return;
  Bytes bytes;
  Encoder out(&bytes);
  out.u64(value.size());
  for (uint32_t v : value) out.u32(v);
  process->record_outcome(kind, bytes);
}

uint64_t Node::nd() {
  const Bytes* logged = process->replay_outcome(NdKind::kValue);
  if (logged != nullptr) ++world_.stats.replayed;
  const uint64_t value = logged != nullptr ? Decoder(*logged).u64() : world_.draw(self_);
  Bytes bytes;
  Encoder(&bytes).u64(value);
  process->record_outcome(NdKind::kValue, bytes);
  world_.log(self_, "draws %llx%s", static_cast<unsigned long long>(value),
             logged != nullptr ? " (replay)" : "");
  return value;
}

// ---- Collective operations ----

Bytes Node::encode(const CollectiveResult& result, bool has_value) const {
  Bytes bytes;
  Encoder out(&bytes);
  out.boolean(has_value);
  out.u64(result.value);
  out.u64(result.identity);
  out.u64(result.members.size());
  for (Rank r : result.members) out.i32(r);
  out.i32(result.first);
  return bytes;
}

CollectiveResult Node::decode(const Bytes& bytes, bool* has_value) const {
  Decoder in(bytes);
  CollectiveResult result;
  if (bytes.empty()) return result;
  *has_value = in.boolean();
  result.value = in.u64();
  result.identity = in.u64();
  result.members.resize(in.count(4));
  for (Rank& r : result.members) r = in.i32();
  result.first = in.i32();
  if (!in.ok() || in.left() != 0) world_.fail("rank %d: the logged result of a collective is damaged", self_);
  return result;
}

// Counts the operation and calls MPI, unless the library has the result: then true, and it has ended.
bool Node::begin_collective(const Instr& instr, int* operation, size_t* record) {
  const CommInfo& c = comm(instr.comm);
  const line::Comm slot = slot_of(counted_on(instr.comm));
  const bool counted = world_.config.fault != Fault::kUncountedIbarrier || instr.op != Op::kIcollective ||
                       instr.kind != Kind::kBarrier;
  const uint64_t n = counted ? process->start_collective(slot) : 0;
  CollectiveRecord r;
  r.comm = c.identity;
  r.number = 1;
  for (const CollectiveRecord& other : app.collectives) r.number += other.comm == c.identity ? 1 : 0;
  r.counted = n;
  if (r.number != n && world_.config.fault != Fault::kUncountedIbarrier && world_.config.fault != Fault::kStartsOnParent)
    world_.fail("rank %d: operation %llu of a communicator is counted as %llu", self_,
                static_cast<unsigned long long>(r.number), static_cast<unsigned long long>(n));
  r.members = c.members;
  r.made = instr.made;
  r.unfollowed = instr.unfollowed && (instr.kind != Kind::kPersistent || world_.config.fault != Fault::kInitCrosses);
  r.contribution.kind = instr.kind;
  r.contribution.number = r.number;
  r.contribution.first = c.first;
  r.contribution.joined = true;
  if (instr.kind == Kind::kBcast || instr.kind == Kind::kReduce || instr.kind == Kind::kGather ||
      instr.kind == Kind::kScatter)
    r.contribution.root = instr.peer2 % static_cast<int>(c.members.size());
  if (instr.kind == Kind::kSplit)
    r.contribution.value = instr.colour >= 0 ? static_cast<uint64_t>(instr.colour) : app.hash % 2;
  else if (!makes(instr.kind) && instr.kind != Kind::kBarrier)
    r.contribution.value = app.hash;
  app.collectives.push_back(r);
  *record = app.collectives.size() - 1;
  ++world_.stats.collectives;
  const Bytes* logged = process->logged_result(slot, n);
  world_.log(self_, "collective %d comm %d #%llu%s", static_cast<int>(instr.kind), instr.comm,
             static_cast<unsigned long long>(n), logged != nullptr ? " (logged)" : "");
  repeats_ = logged != nullptr && world_.config.fault != Fault::kRepeatCrossing;
  if (repeats_) {
    ++world_.stats.crossing;
    bool has_value = false;
    const CollectiveResult result = decode(*logged, &has_value);
    end_collective(instr.comm, *record, result, has_value);
    return true;
  }
  if (instr.op == Op::kCollective ? instr.kind != Kind::kBarrier : instr.op == Op::kIcollective)
    *operation = world_.collectives->join(c.identity, c.members, self_, r.contribution);
  return false;
}

// The operation has ended; for a blocking one the application sees the result now.
void Node::end_collective(int handle, size_t record, const CollectiveResult& result, bool has_value) {
  CollectiveRecord& r = app.collectives[record];
  const line::Comm slot = slot_of(counted_on(handle));
  const uint64_t n = r.counted;
  if (r.unfollowed)
    process->end_unfollowed(slot, n, "MPI_Neighbor_alltoall");
  else if (!world_.config.shortcuts || !process->ignores_results())
    process->end_collective(slot, n, !process->wants_result(slot, n) || r.contribution.kind == Kind::kFree
                                         ? Bytes() : encode(result, has_value));
  r.ended = true;
  r.has_value = has_value;
  r.value = result.value;
  if (makes(r.contribution.kind)) make_comm(r.made, result);
  if (r.contribution.kind == Kind::kWindow) make_window(r.made, result);
  if (r.contribution.kind == Kind::kPersistent) make_persistent(r.made, handle);
  if (r.contribution.kind != Kind::kFree) return;
  process->free_comm(slot_of(handle));
  comm(handle).live = false;
  if (Window* w = window(comm(handle).identity)) w->live = false;
}

void Node::make_comm(int handle, const CollectiveResult& result) {
  comm(handle) = {result.identity, true, result.members, result.first};
  slots_[static_cast<size_t>(handle)] =
      process->add_comm(result.identity, static_cast<uint32_t>(result.members.size()));
}

void Node::poll_collectives() {
  for (size_t slot = 0; slot < app.requests.size(); ++slot) {
    Request& request = app.requests[slot];
    const int operation = live_[slot].operation;
    if (request.what != Request::What::kCollective || request.complete) continue;
    if (!world_.collectives->complete(operation, self_)) continue;
    bool has_value;
    const CollectiveResult result = world_.collectives->result(operation, self_, &has_value);
    end_collective(request.comm, request.record, result, has_value);
    request.complete = true;
    request.has_value = has_value;
    request.value = result.value;
  }
}

}  // namespace sim
