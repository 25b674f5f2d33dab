#include "line/line.h"

#include "base/sort.h"
#include "line/rules.h"

namespace elc::line {

// ---- The local checkpoint (section 3) ----

void Line::take(uint64_t calls, const char* group_call) {
  group_call_ = group_call;
  saved_.line = number_;
  saved_.calls = saved_.points = calls;
  parts_.counts.freeze(&frozen_);
  replayed_ = parts_.replay.on() && applies(Rule::kReplayed);
  parts_.operations.begin_line(&saved_);
  parts_.receives.snapshot(&saved_);
  parts_.window.begin();
  const Result state = parts_.host.save_state(parts_.host.context, number_);
  if (!state.ok()) refuse(state.message());
  else send_logs();
}

void Line::refuse(const char* reason) {
  if (refused()) return;
  reason_ = Text::copy(reason);
  parts_.window.end();
  parts_.operations.stop_keeping();
}

void Line::refuse_crossing(const char* call) {
  if (refused()) return;
  refuse_while_open(Text::format("%s crosses the line, and cannot be repeated; the next one is asked for as usual", call).c_str());
}

void Line::send_logs() {
  Vector<WireCount> counts;
  for (size_t i = 0; i < frozen_.size(); ++i) {
    const ClassEntry& e = frozen_[i];
    if (e.count.sent > 0) counts.push_back({parts_.comms[e.comm].identity, e.tag, e.count.sent, e.count.synchronous});
    const bool last = i + 1 == frozen_.size() || frozen_[i + 1].peer != e.peer;
    if (!last || counts.empty()) continue;
    parts_.control.send_log(e.peer, number_, std::move(counts));
    counts = Vector<WireCount>();
  }
}

// ---- Identification (section 4) ----

// residue' = residue + S - R for every class, and what of it is not held yet.
void Line::identify() {
  Vector<Residue> terms;
  parts_.counts.residues(&terms);
  for (const ClassEntry& e : frozen_)
    if (e.count.received > 0) terms.push_back({e.peer, e.comm, e.tag, -static_cast<int64_t>(e.count.received)});
  parts_.control.each_log(number_, [&](Rank from, const Vector<WireCount>& counts) {
    for (const WireCount& c : counts)
      terms.push_back({from, parts_.comms.intern(c.comm), c.tag, static_cast<int64_t>(c.count), c.synchronous});
  });
  // Uncounted messages of the pending queue are in transit, and held.
  Vector<Residue> queued;
  parts_.window.each_held([&](const Message& m) {
    if (!m.counted) queued.push_back({m.source, m.comm, m.tag, 0});
  });
  const auto order = [](const Residue& a, const Residue& b) {
    return before(a.peer, a.comm, a.tag, b.peer, b.comm, b.tag);
  };
  sort(terms, order);
  sort(queued, order);
  Vector<Missing> missing;
  size_t q = 0;
  for (size_t i = 0; i < terms.size();) {
    Residue sum = terms[i];
    for (++i; i < terms.size() && !order(sum, terms[i]); ++i) {
      sum.value += terms[i].value;
      sum.synchronous = sum.synchronous || terms[i].synchronous;
    }
    if (sum.value == 0) continue;
    if (sum.tag == kMemberTag) {
      parts_.comms[sum.comm].heard_of = true;
      continue;
    }
    if (sum.tag == kGroupTag) {  // who made the call before its checkpoint knows its name
      if (sum.value < 0 && applies(Rule::kGroupCalls)) refuse_crossing(group_call_);
      continue;
    }
    residue_.push_back(sum);
    if (sum.value > 0 && sum.synchronous && looks_) refuse(kSynchronous);
    while (q < queued.size() && order(queued[q], sum)) ++q;
    int64_t absent = sum.value;
    for (; q < queued.size() && !order(sum, queued[q]); ++q) --absent;
    if (absent > 0) missing.push_back({sum.peer, sum.comm, sum.tag, static_cast<uint64_t>(absent)});
  }
  parts_.window.identified(std::move(missing));
}

// ---- The phases (section 3) ----

void Line::taken_by_all(const Vote& result) {
  agreed_ = true;
  voted_ = false;
  if (result.account != 0) refuse(kSetUpUnderWay);
  looks_ = result.looks;
  saved_.points = result.points;
  parts_.operations.agreed(result.comms);
}

void Line::ready_everywhere(const Vote& result) {
  phase_ = Phase::kClosed;
  if (result.orphans && result.looks && waited_) refuse(kSynchronous);
  if (refused()) return;  // perhaps since its vote
  if (result.orphans) parts_.receives.record_matched();
  parts_.window.close(result.orphans);
  saved_.replay = result.orphans;
}

// Looks for what is in transit.
void Line::hold(bool last) {
  parts_.window.sift();
  if (!parts_.window.sifted()) return;
  parts_.receives.drain(parts_.options.drain || last);
  if (parts_.receives.starved()) refuse(kNoMemoryForMessage);
}

bool Line::everything_held() const {
  if (!parts_.window.sifted()) return false;
  // Nobody will receive any more on a communicator that is gone here: such a message is lost in any run.
  for (const Missing& m : parts_.window.missing())
    if (m.count > 0 && !parts_.receives.gone(m.comm)) return false;
  if (!parts_.window.all_arrived()) return false;
  for (const SavedPosting& p : saved_.receives)
    if (p.answer.message != nullptr && !p.answer.message->arrived) return false;
  return parts_.operations.pending_ended();
}

Line::Step Line::cast(ConsensusKind kind, ConsensusKind* cast, Vote* own) const {
  own->line = number_;
  own->looks = parts_.host.looks != nullptr && parts_.host.looks(parts_.host.context);
  if (refused()) own->refuse(parts_.self, reason_.c_str());
  *cast = kind;
  return Step::kVote;
}

Line::Step Line::step(bool last, ConsensusKind* kind, Vote* own) {
  if (const char* call = parts_.operations.unfollowed()) refuse_crossing(call);
  switch (phase_) {
    case Phase::kTaken:
      if (agreed_) {
        identify();
        phase_ = Phase::kKnown;
        return Step::kAgain;
      }
      if (voted_ || (!refused() && !parts_.control.delivered())) return Step::kWait;
      voted_ = true;
      own->comms = parts_.operations.votes();
      own->points = saved_.points;
      own->account = parts_.set_up;
      return cast(kTakenConsensus, kind, own);
    case Phase::kKnown: {
      if (!refused()) hold(last);
      if (voted_) return Step::kWait;
      const bool replaying = parts_.replay.on() && applies(Rule::kReplayed);
      const bool late = applies(Rule::kLateStarted) && !parts_.operations.late_ended();
      if (!refused() && (late || replaying)) {
        if (!last || replaying) return Step::kWait;
        refuse(kProgramEnds);  // without them
      }
      voted_ = true;
      own->orphans = replayed_ || parts_.operations.any_crosses();
      for (const Residue& r : residue_) own->orphans = own->orphans || r.value < 0;
      return cast(kReadyConsensus, kind, own);
    }
    case Phase::kClosed:
      if (!refused()) hold(last);
      if (!refused()) {
        if (!everything_held() || !state_saved()) return Step::kWait;
        const Result finished = refused() ? Result() : finish_file();
        if (!finished.ok()) refuse(finished.message());
      }
      phase_ = Phase::kSaved;
      return Step::kAgain;
    case Phase::kSaved:
      if (!refused() && !are_told_ && applies(Rule::kStable)) {
        bool stable = false;
        const Result written = parts_.host.line_stable(parts_.host.context, number_, &stable);
        if (!written.ok()) refuse(written.message());
        else if (!stable) return Step::kWait;
      }
      phase_ = Phase::kDone;
      own->points = saved_.points;
      own->cost = cost_;
      if (!refused()) tell_addresses(own);
      return cast(kDoneConsensus, kind, own);
    case Phase::kDone: return Step::kWait;
  }
  return Step::kWait;
}

void Line::tell_addresses(Vote* own) {
  if (are_told_ || parts_.host.told_addresses == nullptr) return;
  Vector<ToldAddress> addresses;
  parts_.host.told_addresses(parts_.host.context, &addresses);
  for (ToldAddress& t : addresses) t.holder = parts_.self;
  own->tell(std::move(addresses));
}

void Line::told_by_all(const Vote& result) {
  are_told_ = true;
  phase_ = Phase::kSaved;
  if (refused() || parts_.host.check_told == nullptr) return;
  Vector<ToldAddress> asked;  // of an address that this process alone has it has said itself that it is none
  for (const ToldAddress& t : result.told)
    if (t.holder != parts_.self || t.asks_holder) asked.push_back(t);
  const Result checked = parts_.host.check_told(parts_.host.context, asked);
  if (!checked.ok()) refuse(checked.message());
}

// Where it could not be saved, the line is refused, and there is nothing to wait for.
bool Line::state_saved() {
  if (parts_.host.state_saved == nullptr) return true;
  bool saved = false;
  const Result result = parts_.host.state_saved(parts_.host.context, number_, &saved);
  if (!result.ok()) refuse(result.message());
  return saved || refused();
}

Result Line::finish_file() {
  uint64_t bytes = 0;
  for (Message* m : parts_.window.take_held()) {
    bytes += m->content.size();
    SavedMessage kept;
    kept.comm = parts_.comms[m->comm].identity;
    kept.message = m;
    saved_.messages.push_back(std::move(kept));
  }
  for (const Residue& r : residue_)
    saved_.classes.push_back({r.peer, parts_.comms[r.comm].identity, r.tag, r.value});
  parts_.operations.save(&saved_);
  parts_.window.save_outcomes(&saved_);
  parts_.window.stop_keeping();
  parts_.operations.stop_keeping();
  const uint64_t most = parts_.options.max_transit;
  if (most != 0 && bytes > most) {
    return Result::error("%llu bytes of messages are in transit, and ELC_MAX_TRANSIT allows %llu: raise it",
                         static_cast<unsigned long long>(bytes), static_cast<unsigned long long>(most));
  }
  return parts_.host.save_line(parts_.host.context, number_, saved_);
}

// ---- The end of a line (section 7) ----

void Line::end(bool committed) {
  if (committed) {
    forget_freed();
    Vector<Residue> residues;
    for (const Residue& r : residue_)
      if (parts_.comms[r.comm].identity != 0) residues.push_back(r);
    if (applies(Rule::kResidue)) parts_.counts.set_residues(residues);
  } else if (applies(Rule::kGiveBack)) {
    parts_.counts.thaw(frozen_);
  }
  parts_.receives.forget_logs();
  parts_.window.end();
  parts_.operations.end_line();
  parts_.control.forget_logs(number_);
}

// A freed communicator on whose operations all members agree concerns no line from now on.
void Line::forget_freed() {
  for (Comm comm = 0; comm < parts_.comms.size(); ++comm) {
    const CommState& c = parts_.comms[comm];
    if (!c.freed || !parts_.operations.unchanged(comm) || !parts_.receives.none_of(comm)) continue;
    if (!parts_.operations.crosses(c.identity)) parts_.comms.forget(comm);
  }
}

}  // namespace elc::line
