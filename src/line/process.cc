// Communicators, collective operations, outcomes, progress and recovery.
#include "line/process.h"

#include "line/rules.h"

namespace elc::line {

Process::Process(const Host& host, Rank self, Rank processes, Options options)
    : host_(host), self_(self), processes_(processes), options_(options) {}

Process::~Process() {
  for (Message* m : queue_) let_go(m);
  if (line_ == nullptr) return;
  for (Message* m : line_->window) let_go(m);
  for (Message* m : line_->held) let_go(m);
  destroy(line_);
}

// ---- Communicators ----

Comm Process::intern(Identity identity) {
  const Comm* known = comm_of_.find(identity);
  if (known != nullptr) return *known;
  Comm comm = static_cast<Comm>(comms_.size());
  if (free_slots_.empty()) {
    comms_.push_back(CommState());
  } else {
    comm = free_slots_.back();
    free_slots_.pop_back();
  }
  comms_[comm].identity = identity;
  comm_of_.at(identity) = comm;
  return comm;
}

Comm Process::add_comm(Identity identity, uint32_t size) {
  const Comm comm = intern(identity);
  comms_[comm].size = size;
  comms_[comm].made = true;
  return comm;
}

void Process::free_comm(Comm comm) {
  comms_[comm].freed = true;
  if (!applies(Rule::kKeepFreed)) comms_[comm].made = false;
}

// ---- Collective operations (section 6) ----

uint64_t Process::start_collective(Comm comm) { return ++comms_[comm].operations; }

const Bytes* Process::logged_result(Comm comm, uint64_t number) const {
  for (const Operation& o : crossing_results_)
    if (o.comm == comm && o.number == number) return &o.result;
  return nullptr;
}

const Bytes* Process::pending_result(Comm comm, uint64_t number) const {
  for (const Operation& o : pending_results_)
    if (o.comm == comm && o.number == number) return &o.result;
  return nullptr;
}

void Process::pending_collective(Comm comm, uint64_t number) {
  pending_operations_.push_back({comm, number, false, Bytes()});
}

bool Process::wants_result(Comm comm, uint64_t number) const {
  if (line_ == nullptr || line_->refused || line_->phase >= Phase::kSaved) return false;
  if (comm < line_->operations.size() && number <= line_->operations[comm]) {
    for (const Operation& o : line_->pending)
      if (o.comm == comm && o.number == number) return !o.complete;
    return false;
  }
  return !line_->agreed || late_for(comm, number);
}

void Process::end_collective(Comm comm, uint64_t number, Bytes result) {
  const auto forget = [&](Vector<Operation>& operations) {
    for (size_t i = 0; i < operations.size(); ++i) {
      if (operations[i].comm != comm || operations[i].number != number) continue;
      operations.erase(i);
      return;
    }
  };
  const bool wanted = wants_result(comm, number);
  forget(crossing_results_);
  forget(pending_operations_);
  if (applies(Rule::kVoteAtOnce)) step_release();
  if (!wanted) return;
  for (Operation& o : line_->pending) {
    if (o.comm != comm || o.number != number) continue;
    o.complete = true;
    o.result = std::move(result);
    return;
  }
  line_->results.push_back({comm, number, true, std::move(result)});
}

// ---- Nondeterminism ----

const Bytes* Process::replay_outcome(NdKind kind) {
  if (!replaying_ || next_outcome_ >= outcomes_.size()) return nullptr;
  Outcome& next = outcomes_[next_outcome_];
  if (next.kind != kind) {  // the program takes another way: nothing depends on the rest
    end_replay();
    return nullptr;
  }
  if (++outcome_uses_ == next.times) {
    ++next_outcome_;
    outcome_uses_ = 0;
  }
  return &next.value;
}

void Process::record_outcome(NdKind kind, const Bytes& outcome) {
  if (!window_open_) return;
  Vector<Outcome>& outcomes = line_->saved.outcomes;
  if (!outcomes.empty()) {
    Outcome& last = outcomes.back();
    const bool same = last.kind == kind && last.value.size() == outcome.size() && last.times != UINT32_MAX &&
                      (outcome.empty() || memcmp(last.value.data(), outcome.data(), outcome.size()) == 0);
    if (same) {
      ++last.times;
      return;
    }
  }
  Outcome added;
  added.kind = kind;
  added.value.append(outcome.data(), outcome.size());
  outcomes.push_back(std::move(added));
}

// ---- Progress ----

void Process::poll() {
  if (!running_) step_recovery();
  if (!running_) return;
  look_at_counted();
  try_held();
  if (finalizing_ && line_ == nullptr && requested_ > last_line_) refuse();
  while (line_ != nullptr && step_line()) {
  }
  step_release();
  if (finalizing_ && line_ == nullptr && !replay_anywhere_ && !finalize_voted_) {
    finalize_voted_ = true;
    vote(kFinalizeConsensus, Vote());
  }
}

void Process::finalize() {
  finalizing_ = true;
  poll();
}

// ---- Recovery (section 8) ----

Status Process::load(Saved&& saved) {
  last_line_ = committed_ = requested_ = saved.line;
  points_ = saved.points;
  calls_ = saved.calls;
  postings_ = saved.postings;
  replaying_ = replay_anywhere_ = saved.replay;
  for (const SavedComm& c : saved.comms) {
    CommState& state = comms_[intern(c.identity)];
    state.operations = c.operations;
    state.size = c.size;
    state.freed = c.freed;
    // A freed communicator has no handle here, but its count is wanted by members that still have it.
    state.made = c.freed;
  }
  Vector<Residue> residues;
  for (const SavedClass& c : saved.classes) {
    if (c.peer >= processes_)
      return Status::error("the line speaks of rank %d, but there are %d processes", c.peer, processes_);
    residues.push_back({c.peer, intern(c.comm), c.tag, c.residue});
  }
  counts_.set_residues(residues);
  for (SavedMessage& m : saved.messages) {
    m.message->comm = intern(m.comm);
    queue_.push_back(retain(m.message));
  }
  for (SavedPosting& p : saved.receives)
    if (p.answer.message != nullptr) p.answer.message->comm = intern(p.answer.comm);
  saved_postings_ = std::move(saved.receives);
  for (SavedResult& r : saved.crossing)
    crossing_results_.push_back({intern(r.comm), r.number, true, std::move(r.result)});
  for (SavedResult& r : saved.pending)
    pending_results_.push_back({intern(r.comm), r.number, true, std::move(r.result)});
  outcomes_ = std::move(saved.outcomes);
  bound_ = std::move(saved.bound);
  running_ = false;
  return Status();
}

void Process::start_recovery() {
  running_ = false;
  Vector<Residue> residues;
  counts_.residues(&residues);
  HashMap<Vector<WireCount>> orphans;
  for (const Residue& r : residues)
    if (r.value < 0)
      orphans.at(static_cast<uint32_t>(r.peer))
          .push_back({comms_[r.comm].identity, r.tag, static_cast<uint64_t>(-r.value)});
  orphans.each([&](uint64_t peer, Vector<WireCount>& counts) {
    send_counts(static_cast<Rank>(peer), true, committed_, counts);
  });
  told_orphans_ = true;
  poll();
}

void Process::step_recovery() {
  if (!told_orphans_ || restart_voted_ || unacknowledged_ > 0) return;
  restart_voted_ = true;
  vote(kRestartConsensus, Vote());
}

bool Process::post_again(Posting& posting, uint64_t number) {
  posting.number = number;
  for (SavedPosting& saved : saved_postings_) {
    if (saved.number != number) continue;
    posting.pattern = {intern(saved.comm), saved.source, saved.tag};
    if (saved.answer.message == nullptr) break;
    link(posting);
    posting.state = Posting::State::kQueued;
    posting.message = retain(saved.answer.message);
    posting.counted = true;
    return false;
  }
  return place(posting);
}

void Process::step_release() {
  if (!replaying_ || !running_) return;
  if (!release_voted_) {
    if (!finalizing_ && (to_suppress_ > 0 || !crossing_results_.empty())) return;
    release_voted_ = true;
    vote_release();
  }
  if (release_votes_ < processes_) return;
  replaying_ = false;
  end_replay();
  vote(kReleasedConsensus, Vote());
}

// Nothing depends on the outcomes that are left; receives that were bound go on as the application
// called them.
void Process::end_replay() {
  forget_log();
  try_held();
}

void Process::forget_log() {
  outcomes_.clear();
  bound_.clear();
  next_outcome_ = 0;
  outcome_uses_ = 0;
  for (const CommState& c : comms_)
    for (Posting* p = c.first; p != nullptr; p = p->after)
      if (p->state == Posting::State::kHeld) p->bound = false;
}

}  // namespace elc::line
