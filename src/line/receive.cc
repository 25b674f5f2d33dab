// Sends, receives, probes: what is counted when (sections 1, 3, 5 and 8).
#include <algorithm>

#include "line/process.h"
#include "line/rules.h"

namespace elc::line {

bool Process::suppress(ClassCount& count) {
  --count.suppress;
  if (--to_suppress_ == 0 && applies(Rule::kVoteAtOnce)) step_release();
  return true;
}

bool Process::post(Posting& posting) {
  posting.number = ++postings_;
  return place(posting);
}

// Decides who answers a receive: MPI (true), the pending queue, or, in replay, nobody yet.
bool Process::place(Posting& posting) {
  link(posting);
  posting.state = Posting::State::kStarted;
  if (queue_.empty() && !replaying_) [[likely]] {
    if (!shown_.empty()) claim_shown(posting);
    return true;
  }
  bind(posting);
  if (!settle(posting)) {
    posting.state = Posting::State::kHeld;
    ++held_postings_;
    return false;
  }
  return posting.state == Posting::State::kStarted;
}

// Replay: a wildcard receive takes what it took before.
void Process::bind(Posting& posting) {
  if (!posting.pattern.wildcard()) return;
  const BoundReceive* b = std::lower_bound(bound_.begin(), bound_.end(), posting.number,
                                           [](const BoundReceive& a, uint64_t n) { return a.number < n; });
  if (b == bound_.end() || b->number != posting.number) return;
  if (!posting.pattern.matches(b->source, b->tag)) return forget_log();  // this process goes another way
  posting.bound = true;
  posting.bound_source = b->source;
  posting.bound_tag = b->tag;
}

// Whether a bound receive cannot get what it is bound to, because another message is first in the
// stream: the sender has taken another way than in the log.
bool Process::strays(const Posting& posting) const {
  const Pattern& pattern = posting.pattern;
  const Pattern stream{pattern.comm, posting.bound_source, pattern.tag};
  bool another = false;
  for (const Message* m : queue_) {
    if (m->comm != stream.comm || !stream.matches(m->source, m->tag)) continue;
    if (m->tag == posting.bound_tag) return false;  // in the order of receipt: it need not be the first
    another = another || !held_before(posting, {m->comm, m->source, m->tag});
  }
  if (another) return true;
  Rank source;
  Tag tag;
  return host_.probe(host_.context, stream, &source, &tag) && tag != posting.bound_tag &&
         !held_before(posting, {pattern.comm, source, tag});
}

// Finds who answers a receive that is not held back; false: it has to wait. A bound receive is given
// to MPI only when the message it is bound to has been shown, so that release can set it free.
bool Process::settle(Posting& posting) {
  if (held_back(posting)) return false;
  if (posting.bound && strays(posting)) {
    posting.bound = false;
    if (held_back(posting)) return false;
  }
  if (answer_from_queue(posting)) return true;
  if (posting.bound) {
    Rank source;
    Tag tag;
    const Pattern exact{posting.pattern.comm, posting.bound_source, posting.bound_tag};
    if (!host_.probe(host_.context, exact, &source, &tag)) return false;
  }
  posting.state = Posting::State::kStarted;
  if (!shown_.empty()) claim_shown(posting);
  return true;
}

void Process::link(Posting& posting) {
  CommState& c = comms_[posting.pattern.comm];
  posting.before = c.last;
  posting.after = nullptr;
  (c.last == nullptr ? c.first : c.last->after) = &posting;
  c.last = &posting;
}

void Process::unlink(Posting& posting) {
  CommState& c = comms_[posting.pattern.comm];
  (posting.before == nullptr ? c.first : posting.before->after) = posting.after;
  (posting.after == nullptr ? c.last : posting.after->before) = posting.before;
  posting.before = posting.after = nullptr;
  if (posting.counted && posting.state == Posting::State::kStarted) --counted_postings_;
  if (posting.state == Posting::State::kHeld) --held_postings_;
  if (posting.unresolved) --unresolved_postings_;
  for (Shown& s : shown_)
    if (s.claimed == &posting) s.claimed = nullptr;
  let_go(posting.log);
  posting.log = nullptr;
}

bool Process::answer_from_queue(Posting& posting) {
  for (size_t i = 0; i < queue_.size(); ++i) {
    Message* m = queue_[i];
    if (m->comm != posting.pattern.comm || !posting.pattern.matches(m->source, m->tag)) continue;
    if (posting.bound && (m->source != posting.bound_source || m->tag != posting.bound_tag)) continue;
    posting.state = Posting::State::kQueued;
    posting.message = m;  // the queue's reference
    queue_.erase(i);
    return true;
  }
  return false;
}

// Whether an earlier receive, still held, could get what this one is to get.
bool Process::held_back(const Posting& posting) const {
  if (posting.bound) return held_before(posting, {posting.pattern.comm, posting.bound_source, posting.bound_tag});
  return held_before(posting, posting.pattern);
}

// Whether a receive posted before this one is held and could get a message of `pattern`.
bool Process::held_before(const Posting& posting, const Pattern& pattern) const {
  if (held_postings_ == 0) return false;
  for (const Posting* p = comms_[posting.pattern.comm].first; p != &posting; p = p->after)
    if (p->state == Posting::State::kHeld && p->pattern.overlaps(pattern)) return true;
  return false;
}

void Process::try_held() {
  if (held_postings_ == 0) return;
  for (const CommState& c : comms_) {
    for (Posting* p = c.first; p != nullptr; p = p->after) {
      if (p->state != Posting::State::kHeld || !settle(*p)) continue;
      --held_postings_;
      if (p->state == Posting::State::kStarted) host_.start_receive(host_.context, *p);
    }
  }
}

const Message* Process::queued(const Pattern& pattern) {
  for (const Message* m : queue_) {
    if (m->comm != pattern.comm || !pattern.matches(m->source, m->tag) || !may_show(m->comm, m->source, m->tag)) continue;
    imply_until(nullptr, m->comm, m->source, m->tag);
    return m;
  }
  return nullptr;
}

bool Process::may_show(Comm comm, Rank source, Tag tag) const {
  if (held_postings_ == 0) return true;
  for (const Posting* p = comms_[comm].first; p != nullptr; p = p->after)
    if (p->state == Posting::State::kHeld && p->pattern.matches(source, tag)) return false;
  return true;
}

// ---- Observing ----

void Process::observe(Posting& posting, Rank source, Tag tag) {
  if (posting.before != nullptr) imply_until(&posting, posting.pattern.comm, source, tag);
  if (posting.state == Posting::State::kQueued) {
    if (!posting.counted) count_queued(posting);
  } else {
    if (!posting.counted) count_receive(posting, source, tag);
    else if (posting.unresolved) resolve(posting, source, tag);
    if (line_ != nullptr) log_observed(posting, source, tag);
  }
  unlink(posting);
}

void Process::withdraw(Posting& posting) { unlink(posting); }

void Process::count_receive(Posting& posting, Rank source, Tag tag) {
  ++counts_.at(source, posting.pattern.comm, tag).received;
  if (!shown_.empty()) forget_shown(posting.pattern.comm, source, tag);
  record_receive(posting, source, tag);
}

void Process::count_queued(Posting& posting) {
  const Message& m = *posting.message;
  if (!m.counted || !applies(Rule::kCountOnce)) ++counts_.at(m.source, m.comm, m.tag).received;
  record_receive(posting, m.source, m.tag);
}

void Process::record_receive(const Posting& posting, Rank source, Tag tag) {
  if (window_open_ && posting.pattern.wildcard()) line_->saved.bound.push_back({posting.number, source, tag});
}

// At the end of the window: what MPI has matched is an outcome too, though the application has not
// observed it. The sender of a synchronous message may have.
void Process::record_matched() {
  for (const CommState& c : comms_) {
    for (Posting* p = c.first; p != nullptr; p = p->after) {
      Rank source;
      Tag tag;
      if (p->state == Posting::State::kStarted && p->pattern.wildcard() && !p->counted &&
          host_.posting_complete(host_.context, *p, &source, &tag))
        record_receive(*p, source, tag);
    }
  }
}

// Every earlier receive that this message could have matched was matched to an earlier message, by MPI
// or by the pending queue.
void Process::imply_until(const Posting* end, Comm comm, Rank source, Tag tag) {
  if (!applies(Rule::kObserveEarlier)) return;
  for (Posting* p = comms_[comm].first; p != end; p = p->after)
    if (p->state != Posting::State::kHeld && !p->counted && p->pattern.matches(source, tag)) imply(*p);
}

void Process::imply(Posting& posting) {
  if (posting.state == Posting::State::kQueued) {
    Message* m = posting.message;
    posting.counted = !posting.repeated;
    imply_until(&posting, posting.pattern.comm, m->source, m->tag);
    // What the call that is made again will find in the queue carries its count itself.
    if (posting.repeated) return count_before(m, m->comm, m->source, m->tag);
    return count_queued(posting);
  }
  posting.counted = true;
  ++counted_postings_;
  Rank source = posting.pattern.source;
  Tag tag = posting.pattern.tag;
  posting.unresolved =
      posting.pattern.wildcard() && !host_.posting_complete(host_.context, posting, &source, &tag);
  if (posting.unresolved) {
    ++unresolved_postings_;
  } else {
    if (posting.pattern.wildcard()) imply_until(&posting, posting.pattern.comm, source, tag);
    ++counts_.at(source, posting.pattern.comm, tag).received;
    record_receive(posting, source, tag);
  }
  // Its place among the messages of the window is here, though its data may come later.
  if (logging() && !posting.logged) {
    posting.log = log_place(posting, posting.unresolved ? kAnySource : source, tag);
    posting.logged = posting.log != nullptr;
  }
  if (!posting.unresolved && !shown_.empty()) forget_shown(posting.pattern.comm, source, tag);
}

// The envelope of a counted wildcard receive has become known (before the next checkpoint: see take).
void Process::resolve(Posting& posting, Rank source, Tag tag) {
  posting.unresolved = false;
  --unresolved_postings_;
  const Comm comm = posting.pattern.comm;
  imply_until(&posting, comm, source, tag);
  ++counts_.at(source, comm, tag).received;
  record_receive(posting, source, tag);
  // It was implied in the window, which may have closed since.
  if (!window_open_ && posting.logged && line_ != nullptr && line_->saved.replay)
    line_->saved.bound.push_back({posting.number, source, tag});
  if (posting.log != nullptr) {
    posting.log->source = source;
    posting.log->tag = tag;
  }
  for (Shown& s : shown_)
    if (s.claimed == &posting) s.claimed = nullptr;
  if (!shown_.empty()) forget_shown(comm, source, tag);
}

// Whether the open line has a use for message contents.
bool Process::logging() const { return line_ != nullptr && !line_->refused && line_->phase < Phase::kSaved; }

// A new entry of W1 (with a reference for the caller), or nullptr where the line needs none.
Message* Process::log_place(const Posting& posting, Rank source, Tag tag) {
  const Comm comm = posting.pattern.comm;
  const bool known = line_->phase != Phase::kTaken;
  if (known && !applies(Rule::kLogUntilHeld)) return nullptr;
  if (known && line_->window.empty() && source != kAnySource && missing(source, comm, tag) == nullptr) return nullptr;
  Message* m = make<Message>();
  m->comm = comm;
  m->source = source;
  m->tag = tag;
  m->order = posting.number;
  // In posting order, which is that of each class, even where one is implied after a later one.
  Vector<Message*>& window = line_->window;
  size_t at = window.size();
  while (at > 0 && window[at - 1]->order > m->order) --at;
  window.insert(at, retain(m));
  return m;
}

void Process::log_observed(Posting& posting, Rank source, Tag tag) {
  if (!posting.counted && !posting.logged && logging()) posting.log = log_place(posting, source, tag);
  fill_log(posting);
}

void Process::fill_log(Posting& posting) {
  if (posting.log == nullptr || posting.log->arrived) return;
  host_.copy_data(host_.context, posting, posting.log);
  posting.log->arrived = true;
}

// Receives that count although the application has not observed them: their envelopes and data.
void Process::look_at_counted() {
  if (counted_postings_ == 0) return;
  for (const CommState& c : comms_) {
    for (Posting* p = c.first; p != nullptr; p = p->after) {
      if (!p->counted || p->state != Posting::State::kStarted) continue;
      if (!p->unresolved && (p->log == nullptr || p->log->arrived)) continue;
      Rank source;
      Tag tag;
      if (!host_.posting_complete(host_.context, *p, &source, &tag)) continue;
      if (p->unresolved) resolve(*p, source, tag);
      fill_log(*p);
    }
  }
}

// ---- Probes: what was shown belongs to the receiver's past ----

void Process::on_probe(Comm comm, Rank source, Tag tag) {
  imply_until(nullptr, comm, source, tag);
  for (const Shown& s : shown_)
    if (s.comm == comm && s.source == source && s.tag == tag && s.claimed == nullptr) return;
  shown_.push_back({comm, source, tag, nullptr});
}

void Process::forget_shown(Comm comm, Rank source, Tag tag) {
  for (size_t i = 0; i < shown_.size(); ++i) {
    if (shown_[i].comm != comm || shown_[i].source != source || shown_[i].tag != tag) continue;
    shown_.erase(i);
    return;
  }
}

// A receive that matches a message shown before is matched by MPI at once.
void Process::claim_shown(Posting& posting) {
  for (Shown& s : shown_) {
    if (s.comm != posting.pattern.comm || s.claimed != nullptr || !posting.pattern.matches(s.source, s.tag)) continue;
    s.claimed = &posting;
    return;
  }
}

// Messages of a class count in the order in which they were sent: with one, all before it.
void Process::count_before(Message* message, Comm comm, Rank source, Tag tag) {
  if (message->counted || message->comm != comm || message->source != source || message->tag != tag) return;
  message->counted = true;
  ++counts_.at(source, comm, tag).received;
}

// At the checkpoint: what was shown and is still with MPI goes into the pending queue and counts; so
// does what a receive posted since has taken. (If that receive took an earlier message, the one shown
// is taken here; if it took the one shown, a later one may be: that is no harm, it is saved as well.)
void Process::take_shown() {
  Vector<Shown> shown;
  shown.swap(shown_);
  for (const Shown& s : shown)
    if (s.claimed != nullptr && !s.claimed->counted) imply(*s.claimed);
  for (const Shown& s : shown) {
    Rank source;
    Tag tag;
    if (!host_.probe(host_.context, {s.comm, s.source, s.tag}, &source, &tag)) continue;
    do {  // with what its stream has before it: the queue is looked at first, also for any tag
      host_.probe(host_.context, {s.comm, s.source, kAnyTag}, &source, &tag);
      imply_until(nullptr, s.comm, source, tag);
      for (Message* m : queue_) count_before(m, s.comm, source, tag);
      take_message(s.comm, source, tag, true);
      ++counts_.at(source, s.comm, tag).received;
    } while (tag != s.tag);
  }
}

// At the checkpoint: what the queue has answered is decided, hence also what receives posted earlier
// got. (The call that is made again is not: it may get another message.)
void Process::imply_queued() {
  for (const CommState& c : comms_)
    for (Posting* p = c.first; p != nullptr; p = p->after)
      if (p->state == Posting::State::kQueued && !p->counted && !p->repeated) imply(*p);
}

Message* Process::take_message(Comm comm, Rank source, Tag tag, bool counted) {
  Message* m = make<Message>();
  m->comm = comm;
  m->source = source;
  m->tag = tag;
  m->counted = counted;
  m->order = postings_;
  queue_.push_back(m);
  host_.take(host_.context, m);
  return m;
}

}  // namespace elc::line
