// A recovery line from the local checkpoint to commit or abandon (sections 2 to 7).
#include <algorithm>

#include "base/sort.h"
#include "line/process.h"
#include "line/rules.h"

namespace elc::line {

// ---- Asking for a line (section 2) ----

void Process::request() {
  if (line_ == nullptr) request_line(last_line_ + 1);
}

void Process::request_line(LineNumber line) {
  if (line <= requested_ || line <= last_line_) return;
  requested_ = line;
  flood_request(self_);
}

bool Process::site_now() {
  if (++calls_ <= points_) return false;  // this program point has its line
  if (line_ != nullptr) {
    early_call_ = true;
    return false;
  }
  request();
  return site();
}

// ---- The local checkpoint (section 3) ----

void Process::open_line() {
  line_ = make<OpenLine>();
  line_->number = ++last_line_;
  line_->saved.line = line_->number;
}

bool Process::take() {
  take_shown();
  imply_queued();
  look_at_counted();
  // Which messages belong to the past is known only when MPI has told what they are: at a later site.
  if (unresolved_postings_ > 0) return false;
  open_line();
  counts_.freeze(&line_->frozen);
  snapshot();
  window_open_ = true;
  if (!host_.save_state(host_.context, line_->number)) {
    line_->refused = true;
    window_open_ = false;
  } else {
    send_logs();
  }
  const bool taken = !line_->refused;
  poll();
  return taken;
}

// Takes part in the next line only to vote it down: there will be no more sites here.
void Process::refuse() {
  open_line();
  line_->refused = true;
}

void Process::snapshot() {
  OpenLine& line = *line_;
  line.replayed = replaying_ && applies(Rule::kReplayed);
  line.saved.calls = calls_;
  line.saved.postings = postings_;
  for (const CommState& c : comms_) {
    line.operations.push_back(c.operations);
    if (c.made || c.operations > 0) line.saved.comms.push_back({c.identity, c.operations, c.size, c.freed});
  }
  for (const CommState& c : comms_) {
    for (Posting* p = c.first; p != nullptr; p = p->after) {
      if (!p->repeated) continue;
      --line.saved.postings;
      // The call that is made again finds in the queue what it has here.
      if (p->state == Posting::State::kQueued) line.held.push_back(retain(p->message));
      else if (p->counted) line.held.push_back(completion_of(*p));
    }
  }
  for (Message* m : queue_) line.held.push_back(retain(m));
  for (const Operation& o : pending_operations_) line.pending.push_back({o.comm, o.number, false, Bytes()});
  snapshot_receives();
}

// A counted receive is complete as far as the line is concerned; its data may be on their way.
Message* Process::completion_of(Posting& posting) const {
  Message* m = make<Message>();
  m->comm = posting.pattern.comm;
  m->counted = true;
  m->source = posting.pattern.source;
  m->tag = posting.pattern.tag;
  if (posting.pattern.wildcard()) host_.posting_complete(host_.context, posting, &m->source, &m->tag);
  posting.log = retain(m);
  posting.logged = true;
  return m;
}

void Process::snapshot_receives() {
  for (const CommState& c : comms_) {
    for (Posting* p = c.first; p != nullptr; p = p->after) {
      if (p->repeated) continue;
      SavedPosting saved;
      saved.number = p->number;
      saved.comm = c.identity;
      saved.source = p->pattern.source;
      saved.tag = p->pattern.tag;
      if (p->state == Posting::State::kQueued) saved.answer.message = retain(p->message);
      else if (p->counted) saved.answer.message = completion_of(*p);
      saved.answer.comm = c.identity;
      line_->saved.receives.push_back(std::move(saved));
    }
  }
  look_at_counted();
  sort(line_->saved.receives, [](const SavedPosting& a, const SavedPosting& b) { return a.number < b.number; });
}

void Process::send_logs() {
  const Vector<ClassEntry>& frozen = line_->frozen;
  Vector<WireCount> counts;
  for (size_t i = 0; i < frozen.size(); ++i) {
    const ClassEntry& e = frozen[i];
    if (e.count.sent > 0) counts.push_back({comms_[e.comm].identity, e.tag, e.count.sent});
    const bool last = i + 1 == frozen.size() || frozen[i + 1].peer != e.peer;
    if (!last || counts.empty()) continue;
    send_counts(e.peer, false, line_->number, counts);
    counts.clear();
  }
}

Vector<CommVote> Process::comm_votes() const {
  Vector<CommVote> votes;
  for (size_t i = 0; i < line_->operations.size(); ++i) {
    const CommState& c = comms_[i];
    if (c.identity == 0 || c.size <= 1 || !c.made) continue;
    votes.push_back({c.identity, c.size, 1, line_->operations[i], line_->operations[i]});
  }
  sort(votes, [](const CommVote& a, const CommVote& b) { return a.identity < b.identity; });
  return votes;
}

// ---- Identification (section 4) ----

void Process::taken_by_all(const Vote& result) {
  if (line_ == nullptr || result.line != line_->number) return;
  if (!result.yes) return close(false);
  line_->agreed = true;
  line_->voted = false;
  line_->saved.points = result.points;
  for (const CommVote& v : result.comms) line_->crossing.push_back({v.identity, v.most});
  Vector<Operation> kept;
  for (Operation& o : line_->results)
    if (late_for(o.comm, o.number)) kept.push_back(std::move(o));
  line_->results.swap(kept);
}

// residue' = residue + S - R for every class, and what of it is not held yet.
void Process::identify() {
  OpenLine& line = *line_;
  Vector<Residue> terms;
  counts_.residues(&terms);
  for (const ClassEntry& e : line.frozen)
    if (e.count.received > 0)
      terms.push_back({e.peer, e.comm, e.tag, -static_cast<int64_t>(e.count.received)});
  for (const Log& log : logs_) {
    if (log.line != line.number) continue;
    for (const WireCount& c : log.counts)
      terms.push_back({log.from, intern(c.comm), c.tag, static_cast<int64_t>(c.count)});
  }
  // Uncounted messages of the pending queue are in transit, and held.
  Vector<Residue> queued;
  for (const Message* m : line.held)
    if (!m->counted) queued.push_back({m->source, m->comm, m->tag, 0});
  const auto order = [](const Residue& a, const Residue& b) {
    return before(a.peer, a.comm, a.tag, b.peer, b.comm, b.tag);
  };
  sort(terms, order);
  sort(queued, order);
  size_t q = 0;
  for (size_t i = 0; i < terms.size();) {
    Residue sum = terms[i];
    for (++i; i < terms.size() && !order(sum, terms[i]); ++i) sum.value += terms[i].value;
    if (sum.value == 0) continue;
    line.residue.push_back(sum);
    while (q < queued.size() && order(queued[q], sum)) ++q;
    int64_t absent = sum.value;
    for (; q < queued.size() && !order(sum, queued[q]); ++q) --absent;
    if (absent > 0) line.missing.push_back({sum.peer, sum.comm, sum.tag, static_cast<uint64_t>(absent)});
  }
}

Process::Missing* Process::missing(Rank source, Comm comm, Tag tag) {
  Vector<Missing>& all = line_->missing;
  Missing* m = std::lower_bound(all.begin(), all.end(), 0, [&](const Missing& a, int) {
    return before(a.source, a.comm, a.tag, source, comm, tag);
  });
  if (m == all.end() || m->source != source || m->comm != comm || m->tag != tag || m->count == 0) return nullptr;
  return m;
}

// Adds a message that a receive holds or held, in the order of its stream: what was taken into the
// queue after that receive was posted came later, else the receive would have it.
void Process::hold(Message* message) {
  Vector<Message*>& held = line_->held;
  size_t at = 0;
  for (; at < held.size(); ++at) {
    const Message& h = *held[at];
    if (h.comm == message->comm && h.source == message->source && h.order >= message->order &&
        applies(Rule::kStreamOrder))
      break;
  }
  held.insert(at, message);
}

// Keeps of W1 what is in transit: the first ones of each class. Stops at a receive whose envelope is
// not known yet.
void Process::sort_window() {
  OpenLine& line = *line_;
  size_t sorted = 0;
  for (; sorted < line.window.size(); ++sorted) {
    Message* m = line.window[sorted];
    if (m->source == kAnySource) break;
    Missing* absent = missing(m->source, m->comm, m->tag);
    if (absent != nullptr) {
      --absent->count;
      hold(m);
    } else {
      let_go(m);
    }
  }
  Vector<Message*> rest;
  rest.append(line.window.data() + sorted, line.window.size() - sorted);
  line.window.swap(rest);
}

// ---- Holding what is in transit (section 5) ----

void Process::drain() {
  for (Comm comm = 0; comm < comms_.size(); ++comm) {
    if (!comms_[comm].made || comms_[comm].freed) continue;
    Rank previous = kAnySource;
    bool any = false;
    for (const Missing& m : line_->missing) any = any || (m.comm == comm && m.count > 0);
    if (!any) continue;
    drain_postings(comm);
    if (!options_.drain && !finalizing_) continue;
    for (size_t i = 0; i < line_->missing.size(); ++i) {
      const Missing m = line_->missing[i];
      if (m.comm != comm || m.count == 0 || m.source == previous) continue;
      previous = m.source;
      drain_stream(comm, m.source);
    }
  }
}

// Receives that MPI has completed and the application has not looked at: an in-transit message in
// them is logged from their buffer. An earlier incomplete receive that could have matched it holds a
// message that was sent before; then this one has to wait.
void Process::drain_postings(Comm comm) {
  Vector<const Posting*> incomplete;
  for (Posting* p = comms_[comm].first; p != nullptr; p = p->after) {
    if (p->state != Posting::State::kStarted || p->logged || p->counted) continue;
    Rank source;
    Tag tag;
    if (!host_.posting_complete(host_.context, *p, &source, &tag)) {
      incomplete.push_back(p);
      continue;
    }
    bool waits = false;
    for (const Posting* q : incomplete) waits = waits || q->pattern.matches(source, tag);
    Missing* absent = waits ? nullptr : missing(source, comm, tag);
    if (absent == nullptr) continue;
    --absent->count;
    p->logged = true;
    Message* m = make<Message>();
    m->comm = comm;
    m->source = source;
    m->tag = tag;
    m->order = p->number;
    host_.copy_data(host_.context, *p, m);
    m->arrived = true;
    hold(m);
  }
}

void Process::drain_stream(Comm comm, Rank source) {
  for (;;) {
    Rank from;
    Tag tag;
    if (!host_.probe(host_.context, {comm, source, kAnyTag}, &from, &tag)) return;
    Missing* absent = missing(source, comm, tag);
    if (absent == nullptr) return;
    for (const Posting* p = comms_[comm].first; p != nullptr; p = p->after) {
      if (p->state != Posting::State::kStarted || !p->pattern.matches(source, tag)) continue;
      if (!applies(Rule::kLookAtPostings)) continue;
      Rank s;
      Tag t;
      if (!host_.posting_complete(host_.context, *p, &s, &t)) return;  // it may hold the missing one
    }
    --absent->count;
    if (!shown_.empty()) forget_shown(comm, source, tag);
    line_->held.push_back(retain(take_message(comm, source, tag, false)));
  }
}

// ---- Collective operations (section 6) ----

bool Process::late_for(Comm comm, uint64_t number) const {
  if (comm < line_->operations.size() && number <= line_->operations[comm]) return false;
  for (const Crossing& c : line_->crossing)
    if (c.identity == comms_[comm].identity) return number <= c.last;
  return false;
}

// Ended, not only started: one that makes a communicator brings in the operations on that one.
bool Process::late_operations_ended() const {
  const OpenLine& line = *line_;
  for (const Crossing& c : line.crossing) {
    const Comm* comm = comm_of_.find(c.identity);
    if (comm == nullptr || !comms_[*comm].made) continue;  // not a member
    const uint64_t before = *comm < line.operations.size() ? line.operations[*comm] : 0;
    uint64_t held = 0;
    for (const Operation& o : line.results) held += o.comm == *comm ? 1 : 0;
    if (before < c.last && held < c.last - before) return false;
  }
  return true;
}

// ---- The phases (section 3) ----

bool Process::everything_held() const {
  const OpenLine& line = *line_;
  if (!line.window.empty()) return false;
  // Nobody will receive any more on a communicator that was freed here: such a message is lost in any run.
  for (const Missing& m : line.missing)
    if (m.count > 0 && !comms_[m.comm].freed) return false;
  for (const Message* m : line.held)
    if (!m->arrived) return false;
  for (const SavedPosting& p : line.saved.receives)
    if (p.answer.message != nullptr && !p.answer.message->arrived) return false;
  for (const Operation& o : line.pending)
    if (!o.complete) return false;
  return late_operations_ended();
}

// One step of the open line; true if there may be another.
bool Process::step_line() {
  OpenLine& line = *line_;
  Vote own;
  own.line = line.number;
  switch (line.phase) {
    case Phase::kTaken:
      if (line.agreed) {
        identify();
        line.phase = Phase::kKnown;
        sort_window();
        return true;
      }
      if (line.voted || (!line.refused && unacknowledged_ > 0)) return false;
      line.voted = true;
      if (line.refused) own.yes = false;
      else own.comms = comm_votes();
      own.points = line.saved.calls;
      vote(kTakenConsensus, own);
      return true;
    case Phase::kKnown:
    case Phase::kReady: {
      sort_window();
      if (line.window.empty()) drain();
      if (line.voted) return false;
      const bool late = applies(Rule::kLateStarted) && !late_operations_ended();
      if (late || (replaying_ && applies(Rule::kReplayed))) {
        if (!finalizing_ || replaying_) return false;
        own.yes = false;  // the program ends without them
      }
      line.voted = true;
      own.orphans = line.replayed || !line.crossing.empty();
      for (const Residue& r : line.residue) own.orphans = own.orphans || r.value < 0;
      line.phase = Phase::kReady;
      vote(kReadyConsensus, own);
      return true;
    }
    case Phase::kClosed:
      sort_window();
      if (line.window.empty()) drain();
      if (!everything_held()) return false;
      line.refused = !finish_file();
      line.phase = Phase::kSaved;
      return true;
    case Phase::kSaved:
      if (!line.refused && applies(Rule::kStable)) {
        const Stable stable = host_.line_stable(host_.context, line.number);
        if (stable == Stable::kNotYet) return false;
        line.refused = stable == Stable::kFailed;
      }
      line.phase = Phase::kDone;
      own.yes = !line.refused;
      own.points = line.saved.points;
      own.cost = line.cost;
      vote(kDoneConsensus, own);
      return true;
    case Phase::kDone: return false;
  }
  return false;
}

void Process::ready_everywhere(const Vote& result) {
  if (line_ == nullptr || result.line != line_->number) return;
  if (!result.yes) return close(false);
  line_->phase = Phase::kClosed;
  if (result.orphans) record_matched();
  window_open_ = false;
  line_->saved.replay = result.orphans;
  if (result.orphans) return;
  line_->saved.outcomes.clear();
  line_->saved.bound.clear();
}

bool Process::finish_file() {
  OpenLine& line = *line_;
  Saved& saved = line.saved;
  uint64_t bytes = 0;
  for (Message* m : line.held) {
    bytes += m->content.size();
    SavedMessage kept;
    kept.comm = comms_[m->comm].identity;
    kept.message = m;
    saved.messages.push_back(std::move(kept));
  }
  line.held.clear();
  for (const Residue& r : line.residue) saved.classes.push_back({r.peer, comms_[r.comm].identity, r.tag, r.value});
  for (Operation& o : line.results) saved.crossing.push_back({comms_[o.comm].identity, o.number, std::move(o.result)});
  for (Operation& o : line.pending) saved.pending.push_back({comms_[o.comm].identity, o.number, std::move(o.result)});
  sort(saved.bound, [](const BoundReceive& a, const BoundReceive& b) { return a.number < b.number; });
  if (options_.max_transit != 0 && bytes > options_.max_transit) {
    host_.too_much_in_transit(host_.context, line.number, bytes);
    return false;
  }
  return host_.save_line(host_.context, line.number, saved);
}

// ---- The end of a line (section 7) ----

void Process::close(bool committed) {
  OpenLine* line = line_;
  if (line == nullptr) return;
  if (committed) {
    committed_ = line->number;
    points_ = line->saved.points;
    forget_freed();
    Vector<Residue> residues;
    for (const Residue& r : line->residue)
      if (comms_[r.comm].identity != 0) residues.push_back(r);
    if (applies(Rule::kResidue)) counts_.set_residues(residues);
  } else if (applies(Rule::kGiveBack)) {
    counts_.thaw(line->frozen);
  }
  for (const CommState& c : comms_) {
    for (Posting* p = c.first; p != nullptr; p = p->after) {
      let_go(p->log);
      p->log = nullptr;
      p->logged = false;
    }
  }
  for (Message* m : line->window) let_go(m);
  for (Message* m : line->held) let_go(m);
  Vector<Log> later;
  for (Log& log : logs_)
    if (log.line > line->number) later.push_back(std::move(log));
  logs_.swap(later);
  line_ = nullptr;
  window_open_ = false;
  host_.ended(host_.context, line->number, committed);
  destroy(line);
  if (early_call_ && calls_ > points_) request();
  early_call_ = false;
}

// A freed communicator on whose operations all members agree concerns no line from now on.
void Process::forget_freed() {
  for (size_t i = 0; i < line_->operations.size(); ++i) {
    CommState& c = comms_[i];
    if (!c.freed || line_->operations[i] != c.operations || c.first != nullptr) continue;
    bool crosses = false;
    for (const Crossing& x : line_->crossing) crosses = crosses || x.identity == c.identity;
    if (crosses) continue;
    comm_of_.remove(c.identity);
    c = CommState();
    free_slots_.push_back(static_cast<Comm>(i));
  }
}

}  // namespace elc::line
