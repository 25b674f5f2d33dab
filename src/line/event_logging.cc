#include "line/event_logging.h"

#include "line/rules.h"

namespace elc::line {
namespace {

// Stand for no communicator: what is counted for calls on groups, and of pairs by who sends (section 6).
constexpr Identity kGroupCalls = ~Identity{0}, kUpwards = kGroupCalls - 1, kDownwards = kGroupCalls - 2;

constexpr const char* kNever = "no line can be taken any more";

}  // namespace

EventLogging::EventLogging(const Host& host, Rank self, Rank processes, Options options)
    : host_(host),
      self_(self),
      processes_(processes),
      options_(options),
      operations_(comms_),
      receives_(host_, comms_, counts_, window_, replay_),
      control_(host_, self, processes),
      forgetting_(comms_, counts_, operations_, receives_, options.most_freed) {
  set_flags();
}

// What is asked in every call is kept where that is quick.
void EventLogging::set_flags() {
  replaying_ = replay_.on();
  recording_ = window_.recording();
  sends_in_background_ = applies(Rule::kBackground) ? replay_.anywhere() : replay_.on();
  set_usual(running_ && line_ == nullptr && !stopped_ && !replay_.on() && !replay_.anywhere() && receives_.idle());
  if (!all_stopped_ || stopped_ || line_ != nullptr || !receives_.idle()) return;
  stopped_ = true;
  set_usual(false);
  receives_.stop();
}

void EventLogging::set_usual(bool usual) {
  if (usual == usual_) return;
  usual_ = usual;
  if (host_.usual != nullptr) host_.usual(host_.context, usual);
}

// ---- Communicators and messages ----

Comm EventLogging::add_comm(Identity identity, uint32_t size) {
  const Comm comm = comms_.intern(identity);
  comms_[comm].size = size;
  comms_[comm].made = true;
  return comm;
}

void EventLogging::free_comm(Comm comm) {
  comms_[comm].freed = true;
  if (!applies(Rule::kKeepFreed)) comms_[comm].made = false;
  if (forgetting_.freed() && !never_) begin_forgetting(forgetting_.next_round(), self_);
}

void EventLogging::sent_synchronously(Rank to, Comm comm, Tag tag) {
  counts_.at(to, comm, tag).synchronous = true;
}

void EventLogging::waited_synchronously() {
  if (line_ != nullptr) line_->waited_synchronously();
}

bool EventLogging::on_send(Rank to, Comm comm, Tag tag) {
  ClassCount& c = counts_.at(to, comm, tag);
  ++c.sent;
  return c.suppress != 0 && suppress(c);
}

bool EventLogging::suppress(ClassCount& c) {
  --c.suppress;
  replay_.suppressed();
  if (!replay_.suppresses() && applies(Rule::kVoteAtOnce)) step_release();
  return true;
}

// It would have to be logged by what becomes of it: with MPI, that may be either; held, the same call may find it
// answered in a restart.
Fate EventLogging::cancel(Posting& posting) {
  if (stopped_) return Fate::kOpen;
  const Fate fate = receives_.cancel(posting);
  if ((fate == Fate::kOpen || (fate == Fate::kWithdrawn && applies(Rule::kCancelledHeld))) && line_ != nullptr)
    line_->refuse_while_open("MPI_Cancel was called for a receive while messages crossed the line; the next one is asked for as usual");
  return fate;
}

void EventLogging::end_collective(Comm comm, uint64_t number, Bytes result) {
  operations_.end(comm, number, std::move(result), nullptr);
  if (applies(Rule::kVoteAtOnce)) step_release();
}

void EventLogging::end_unfollowed(Comm comm, uint64_t number, const char* call) {
  operations_.end(comm, number, Bytes(), call);
  if (applies(Rule::kVoteAtOnce)) step_release();
}

// Of what two processes count for each other the same is sent and received, unless one of them has its checkpoint
// before the call and the other one behind it.
void EventLogging::count_with(const Rank* others, size_t count, Comm comm, Tag tag) {
  for (size_t i = 0; i < count; ++i) {
    ClassCount& c = counts_.at(others[i], comm, tag);
    ++c.sent;
    ++c.received;
  }
}

void EventLogging::tell_members(Comm comm, const Rank* others, size_t count) {
  if (applies(Rule::kTellMembers)) count_with(others, count, comm, kMemberTag);
}

void EventLogging::on_group_call(const Rank* others, size_t count, const char* call) {
  count_with(others, count, comms_.intern(kGroupCalls), kGroupTag);
  group_call_ = call;
}

void EventLogging::on_pair_call(Rank other, bool sends, const char* call) {
  const bool upwards = sends == (self_ < other) || !applies(Rule::kPairWays);
  count_with(&other, 1, comms_.intern(upwards ? kUpwards : kDownwards), kGroupTag);
  group_call_ = call;
}

// ---- Nondeterminism ----

const Bytes* EventLogging::replay_outcome(NdKind kind) {
  bool misfit;
  const Bytes* logged = replay_.outcome(kind, &misfit);
  if (misfit) end_replay();
  return logged;
}

void EventLogging::record_outcome(NdKind kind, const Bytes& outcome) {
  if (recording_) window_.record(kind, outcome);
}

void EventLogging::end_replay() {
  if (depended_on()) host_.strayed(host_.context);
  forget_log();
}

// Nothing depends on the outcomes that are left; receives that were bound go on as the application
// called them.
void EventLogging::forget_log() {
  replay_.forget_log();
  receives_.unbind_held();
  receives_.try_held();
}

// ---- Asking for a line (section 2) ----

void EventLogging::request() {
  if (line_ == nullptr) request_line(last_line_ + 1);
}

void EventLogging::request_line(LineNumber line) {
  // Who has voted to finish asks for nothing: the others may have left when his request comes.
  if (never_ || finalize_voted_ || line <= requested_ || line <= last_line_) return;
  requested_ = line;
  control_.flood_request(line, self_);
}

void EventLogging::decline(LineNumber line, const char* reason) {
  if (line <= last_line_) return;
  request_line(line);
  declined_ = line;
  why_declined_ = reason;
  poll();
}

bool EventLogging::asks_now() {
  if (++calls_ <= points_) return false;  // this program point has its line
  if (line_ != nullptr) {
    early_call_ = true;
    return false;
  }
  request();
  return true;
}

// A message that has counted and not been observed is under way for the application.
uint64_t EventLogging::account() const {
  return counts_.account(self_, comms_) ^ (receives_.any_counted() ? mix64(static_cast<uint32_t>(self_)) : 0);
}

// ---- The open line ----

void EventLogging::open_line() {
  set_usual(false);
  const Line::Parts parts{host_,   self_,     options_, comms_,  counts_, operations_,
                          window_, receives_, replay_,  control_, set_up_};
  line_ = make<Line>(parts, ++last_line_);
}

bool EventLogging::take() {
  if (host_.settled != nullptr && !host_.settled(host_.context, control_.has_logs(last_line_ + 1))) return false;
  set_usual(false);  // messages may be queued, whether or not a line is opened
  // Which messages belong to the past is known only when MPI has told what they are: at a later site.
  const bool settled = receives_.settle_past();
  if (!settled && !receives_.starved()) return false;
  open_line();
  if (settled) line_->take(calls_, group_call_);
  else line_->refuse(kNoMemoryForMessage);  // the line is voted down
  const bool taken = !line_->refused();
  poll();
  return taken;
}

void EventLogging::add_cost(uint64_t cost) {
  if (line_ != nullptr) line_->add_cost(cost);
}

void EventLogging::step_line() {
  while (line_ != nullptr) {
    ConsensusKind kind;
    Vote own;
    switch (line_->step(finalizing_, &kind, &own)) {
      case Line::Step::kWait: return;
      case Line::Step::kAgain: break;
      case Line::Step::kVote: vote(kind, own); break;
    }
  }
}

void EventLogging::close(const Vote& result) {
  Line* line = line_;
  if (line == nullptr) return;
  if (result.yes()) {
    committed_ = line->number();
    points_ = line->points();
  }
  line->end(result.yes());
  line_ = nullptr;
  if (result.yes()) forgetting_.committed();
  set_flags();
  host_.ended(host_.context, line->number(), result.yes(), {result.refuser, result.reason.c_str()});
  destroy(line);
  if (early_call_ && calls_ > points_) request();
  early_call_ = false;
}

// ---- Votes ----

void EventLogging::vote(ConsensusKind kind, const Vote& own) {
  Vote merged;
  if (control_.vote(kind, own, &merged)) conclude(kind, merged);
}

// Process 0 has all votes.
void EventLogging::conclude(ConsensusKind kind, Vote& merged) {
  if (kind == kDoneConsensus && merged.yes() && merged.told.empty()) {
    commits_ = true;
    committing_ = static_cast<Vote&&>(merged);
    step_commit();
    return;
  }
  control_.announce(kind, merged);
  decide(kind, merged);
}

// A line is committed before anybody is told; what that takes of the disk, nobody waits for.
void EventLogging::step_commit() {
  if (!commits_) return;
  bool done = false;
  const Result status = host_.commit(host_.context, committing_.line, committing_.points, committing_.cost, &done);
  if (status.ok() && !done) return;
  commits_ = false;
  Vote result = static_cast<Vote&&>(committing_);
  if (!status.ok()) result.refuse(self_, status.message());
  control_.announce(kDoneConsensus, result);
  decide(kDoneConsensus, result);
}

void EventLogging::decide(ConsensusKind kind, const Vote& result) {
  const bool ours = line_ != nullptr && result.line == line_->number();
  switch (kind) {
    case kTakenConsensus:
      if (ours && result.yes()) line_->taken_by_all(result);
      else if (ours) close(result);
      break;
    case kReadyConsensus:
      if (ours && result.yes()) line_->ready_everywhere(result);
      else if (ours) close(result);
      break;
    case kDoneConsensus:
      if (ours && result.yes() && !result.told.empty()) line_->told_by_all(result);
      else close(result);
      break;
    case kRestartConsensus:
      running_ = true;
      step_release();
      break;
    case kReleasedConsensus: replay_.all_released(); break;
    case kStoppedConsensus: all_stopped_ = true; break;
    case kFreedConsensus: forget(result); break;
    case kForgottenConsensus: forgetting_.end(); break;
    case kFinalizeConsensus: finished_ = true; break;
    case kConsensusKinds: break;
  }
  set_flags();
}

// ---- Forgetting freed communicators (section 6) ----

// Everybody votes once in a round, and at once: who finalizes meanwhile waits for its end.
void EventLogging::begin_forgetting(uint32_t round, Rank from) {
  if (!forgetting_.begin(round)) return;
  control_.flood_forget(round, from);
  const bool free = line_ == nullptr && requested_ <= last_line_ && !finalizing_ && !replay_.anywhere() && running_;
  Vote own = free ? forgetting_.offer() : Vote();
  if (!free) own.refuse(self_, "busy");
  vote(kFreedConsensus, own);
}

void EventLogging::forget(const Vote& freed) {
  if (!forgetting_.forget(freed)) return;
  if (host_.forgotten != nullptr) host_.forgotten(host_.context);
  vote(kForgottenConsensus, Vote());
}

// ---- Progress ----

void EventLogging::on_control(Rank from, const uint8_t* data, size_t size) {
  Control::Heard heard = control_.receive(from, data, size);
  switch (heard.what) {
    case Control::Heard::What::kNothing: break;
    case Control::Heard::What::kRequest:
      if (heard.line <= requested_ || heard.line <= last_line_) break;
      requested_ = heard.line;
      control_.flood_request(heard.line, from);
      break;
    case Control::Heard::What::kForget: begin_forgetting(heard.line, from); break;
    case Control::Heard::What::kNever: hear_never(from); break;
    case Control::Heard::What::kRemoved:
      control_.flood_removed(from);
      host_.removed(host_.context);
      break;
    case Control::Heard::What::kOrphans: take_orphans(from, heard.counts); break;
    case Control::Heard::What::kVoted: conclude(heard.kind, heard.vote); break;
    case Control::Heard::What::kDecided: decide(heard.kind, heard.vote); break;
  }
}

void EventLogging::poll() {
  if (!running_) step_recovery();
  if (!running_) return;
  receives_.look_at_counted();
  receives_.try_held();
  const bool declines = declined_ > last_line_;
  if ((finalizing_ || never_ || declines) && line_ == nullptr && requested_ > last_line_) {
    // Takes part in the line only to vote it down: there will be no checkpoint for it here.
    open_line();
    line_->refuse(declines ? why_declined_ : never_ ? kNever : kProgramEnds);
  }
  step_line();
  step_commit();
  step_release();
  set_flags();
  if (never_ && line_ == nullptr && !replay_.anywhere() && !stop_voted_ && !finalize_voted_) {
    stop_voted_ = true;
    vote(kStoppedConsensus, Vote());
  }
  if (finalizing_ && line_ == nullptr && !replay_.anywhere() && !forgetting_.on() && !finalize_voted_) {
    finalize_voted_ = true;
    vote(kFinalizeConsensus, Vote());
  }
}

// A line that is open somewhere ends like any other, by votes: somebody may have voted to commit it.
void EventLogging::hear_never(Rank from) {
  if (never_) return;
  never_ = true;
  control_.flood_never(from);
  if (line_ != nullptr) line_->refuse_while_open(kNever);
}

void EventLogging::finalize() {
  finalizing_ = true;
  poll();
}

// ---- Recovery (section 8) ----

Result EventLogging::load(Saved&& saved) {
  last_line_ = committed_ = requested_ = saved.line;
  points_ = saved.points;
  calls_ = saved.calls;
  for (const SavedComm& c : saved.comms) {
    CommState& state = comms_[comms_.intern(c.identity)];
    state.operations = c.operations;
    state.size = c.size;
    state.freed = c.freed;
    // Also one that was freed, and has no handle here: its count is wanted by members that still have it.
    state.made = true;
  }
  Vector<Residue> residues;
  for (const SavedClass& c : saved.classes) {
    if (c.peer >= processes_)
      return Result::error("the line speaks of rank %d, but there are %d processes", c.peer, processes_);
    residues.push_back({c.peer, comms_.intern(c.comm), c.tag, c.residue});
  }
  counts_.set_residues(residues);
  for (SavedMessage& m : saved.messages) {
    m.message->comm = comms_.intern(m.comm);
    receives_.fill_queue(retain(m.message));
  }
  for (SavedPosting& p : saved.receives)
    if (p.answer.message != nullptr) p.answer.message->comm = comms_.intern(p.answer.comm);
  receives_.number_from(saved.postings);
  operations_.load(saved);
  replay_.load(saved);
  running_ = false;
  set_flags();
  return Result();
}

void EventLogging::start_recovery() {
  running_ = false;
  set_usual(false);
  Vector<Residue> residues;
  counts_.residues(&residues);
  HashMap<Vector<WireCount>> orphans;
  for (const Residue& r : residues)
    if (r.value < 0)
      orphans.at(static_cast<uint32_t>(r.peer))
          .push_back({comms_[r.comm].identity, r.tag, static_cast<uint64_t>(-r.value)});
  orphans.each([&](uint64_t peer, Vector<WireCount>& counts) {
    const Rank to = static_cast<Rank>(peer);
    if (to == self_) take_orphans(self_, counts);
    else control_.send_orphans(to, counts);
  });
  told_orphans_ = true;
  poll();
}

void EventLogging::take_orphans(Rank from, const Vector<WireCount>& counts) {
  for (const WireCount& c : counts) {
    counts_.at(from, comms_.intern(c.comm), c.tag).suppress += c.count;
    replay_.add_suppressions(c.count);
  }
}

void EventLogging::step_recovery() {
  if (!told_orphans_ || restart_voted_ || !control_.delivered()) return;
  restart_voted_ = true;
  vote(kRestartConsensus, Vote());
}

bool EventLogging::post_again(Posting& posting, uint64_t number) {
  set_usual(false);
  posting.number = number;
  const SavedPosting& saved = *find_posting(replay_.pending(), number);
  posting.pattern = {comms_.intern(saved.comm), saved.source, saved.tag};
  return receives_.post_again(posting, saved.answer.message);
}

void EventLogging::step_release() {
  if (!replay_.on()) return;
  if (!replay_.voted()) {
    if (!finalizing_ && depended_on()) return;
    replay_.vote();
    host_.vote_for_release(host_.context);
  }
  if (!host_.all_voted_for_release(host_.context)) return;
  replay_.release();
  set_flags();
  forget_log();
  vote(kReleasedConsensus, Vote());
}

}  // namespace elc::line
