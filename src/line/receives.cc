#include "line/receives.h"

#include "base/sort.h"
#include "line/rules.h"

namespace elc::line {

// ---- Who answers a receive ----

// Decides it: MPI (true), the pending queue, or, in replay, nobody yet.
bool Receives::place(Posting& posting) {
  postings_.add(posting);
  if (queue_.empty() && !replay_.on()) {
    posting.order = ++events_;
    return true;
  }
  bind(posting);
  if (!settle(posting)) {
    posting.state = Posting::State::kHeld;
    ++held_;
    return false;
  }
  return posting.state == Posting::State::kStarted;
}

bool Receives::post_again(Posting& posting, Message* answer) {
  if (answer == nullptr) return place(posting);
  postings_.add(posting);
  posting.state = Posting::State::kQueued;
  posting.message = retain(answer);
  count(posting);
  ++answered_;
  return false;
}

// Replay: a wildcard receive takes what it took before.
void Receives::bind(Posting& posting) {
  if (!posting.pattern.wildcard()) return;
  const BoundReceive* b = replay_.bound(posting.number);
  if (b == nullptr) return;
  left_log_ = !posting.pattern.matches(b->source, b->tag);  // this process goes another way
  if (left_log_) return;
  posting.bound = true;
  posting.bound_source = b->source;
  posting.bound_tag = b->tag;
}

// Whether a bound receive cannot get what it is bound to, because another message is first in the
// stream: the sender has taken another way than in the log.
bool Receives::strays(const Posting& posting) const {
  const Pattern& pattern = posting.pattern;
  const Pattern stream{pattern.comm, posting.bound_source, pattern.tag};
  bool another = false;
  const Message* own = queue_.find(stream, [&](const Message& m) {
    if (m.tag == posting.bound_tag) return true;  // in the order of receipt: it need not be the first
    another = another || !held_before(posting, {m.comm, m.source, m.tag});
    return false;
  });
  if (own != nullptr) return false;
  if (another) return true;
  Rank source;
  Tag tag;
  return host_.probe(host_.context, stream, &source, &tag) && tag != posting.bound_tag &&
         !held_before(posting, {pattern.comm, source, tag});
}

// Finds who answers a receive that is not held back; false: it has to wait. A bound receive is given
// to MPI only when the message it is bound to has been shown, so that release can set it free.
bool Receives::settle(Posting& posting) {
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
  posting.order = ++events_;
  return true;
}

void Receives::unlink(Posting& posting) {
  postings_.remove(posting);
  if (posting.state == Posting::State::kQueued) --answered_;
  if (posting.state == Posting::State::kHeld) --held_;
  if (posting.unresolved) --unresolved_;
  if (posting.cancelled) --cancelled_;
  let_go(posting.log);
  posting.log = nullptr;
}

bool Receives::answer_from_queue(Posting& posting) {
  Pattern pattern = posting.pattern;
  if (posting.bound) pattern.source = posting.bound_source, pattern.tag = posting.bound_tag;
  Message* m = queue_.find(pattern, [](const Message&) { return true; });
  if (m == nullptr) return false;
  queue_.remove(m);
  posting.state = Posting::State::kQueued;
  posting.message = m;  // the queue's reference
  ++answered_;
  return true;
}

// Whether an earlier receive, still held, could get what this one is to get.
bool Receives::held_back(const Posting& posting) const {
  if (posting.bound) return held_before(posting, {posting.pattern.comm, posting.bound_source, posting.bound_tag});
  return held_before(posting, posting.pattern);
}

// Whether a receive posted before this one is held and could get a message of `pattern`.
bool Receives::held_before(const Posting& posting, const Pattern& pattern) const {
  if (held_ == 0) return false;
  for (const Posting* p = postings_.first(posting.pattern.comm); p != &posting; p = p->after)
    if (p->state == Posting::State::kHeld && p->pattern.overlaps(pattern)) return true;
  return false;
}

void Receives::try_held() {
  if (held_ == 0) return;
  postings_.each([&](Posting& p) {
    if (p.state != Posting::State::kHeld || !settle(p)) return;
    --held_;
    if (p.state == Posting::State::kStarted) host_.start_receive(host_.context, p);
  });
}

void Receives::unbind_held() {
  left_log_ = false;
  postings_.each([](Posting& p) {
    if (p.state == Posting::State::kHeld) p.bound = false;
  });
}

Message* Receives::queued(const Pattern& pattern) {
  Message* m = queue_.find(
      pattern, [&](const Message& candidate) { return may_show(candidate.comm, candidate.source, candidate.tag); });
  if (m != nullptr) imply_until(nullptr, m->comm, m->source, m->tag);
  return m;
}

Message* Receives::take_queued(const Pattern& pattern) {
  Message* m = queued(pattern);
  if (m == nullptr) return nullptr;
  queue_.remove(m);
  ++numbered_;
  count_message(*m);
  return m;
}

// Numbered like a posting: its place is between those before and after it.
Message* Receives::take_matched(Comm comm, Rank source, Tag tag) {
  imply_until(nullptr, comm, source, tag);
  ++numbered_;
  ++counts_.at(source, comm, tag).received;
  const uint64_t order = ++events_;
  forget_shown(comm, source, tag, order);
  return window_.keeping() && applies(Rule::kMatched) ? window_.place(order, comm, source, tag) : nullptr;
}

bool Receives::holds(Comm comm) const {
  for (const Posting* p = postings_.first(comm); p != nullptr; p = p->after)
    if (p->state == Posting::State::kHeld) return true;
  return false;
}

bool Receives::may_show(Comm comm, Rank source, Tag tag) const {
  if (held_ == 0) return true;
  for (const Posting* p = postings_.first(comm); p != nullptr; p = p->after)
    if (p->state == Posting::State::kHeld && p->pattern.matches(source, tag)) return false;
  return true;
}

// ---- Observing (section 1) ----

void Receives::observe(Posting& posting, Rank source, Tag tag) {
  if (posting.before != nullptr) imply_until(&posting, posting.pattern.comm, source, tag);
  if (posting.state == Posting::State::kQueued) {
    if (!posting.counted) count_queued(posting);
  } else {
    if (!posting.counted) count_receive(posting, source, tag);
    else if (posting.unresolved) resolve(posting, source, tag);
    log_observed(posting, source, tag);
  }
  unlink(posting);
}

void Receives::count_receive(Posting& posting, Rank source, Tag tag) {
  ++counts_.at(source, posting.pattern.comm, tag).received;
  forget_shown(posting.pattern.comm, source, tag, posting.order);
  window_.record_receive(posting, source, tag);
}

void Receives::count_queued(Posting& posting) {
  const Message& m = *posting.message;
  count_message(m);
  window_.record_receive(posting, m.source, m.tag);
}

// Of the queue: what a probe has shown counts already.
void Receives::count_message(const Message& m) {
  if (!m.counted || !applies(Rule::kCountOnce)) ++counts_.at(m.source, m.comm, m.tag).received;
}

// One that counts has been matched, by what was observed since: it will be received.
Fate Receives::cancel(Posting& posting) {
  if (posting.state == Posting::State::kHeld) {
    unlink(posting);
    return Fate::kWithdrawn;
  }
  if (posting.state == Posting::State::kQueued || (posting.counted && applies(Rule::kCancelled))) return Fate::kReceived;
  if (!posting.cancelled && applies(Rule::kCancelled)) {
    posting.cancelled = true;
    ++cancelled_;
    postings_.close(posting);
  }
  return Fate::kOpen;
}

void Receives::stop() { postings_.clear(); }

void Receives::record_matched() {
  postings_.each([&](Posting& p) {
    Rank source;
    Tag tag;
    if (p.state == Posting::State::kStarted && p.pattern.wildcard() && !p.counted &&
        host_.posting_complete(host_.context, p, &source, &tag))
      window_.record_receive(p, source, tag);
  });
}

// Every earlier receive that this message could have matched was matched to an earlier message, by MPI
// or by the pending queue.
void Receives::imply_until(const Posting* end, Comm comm, Rank source, Tag tag) {
  if (!applies(Rule::kObserveEarlier)) return;
  postings_.each_open(end, comm, source, tag, [&](Posting& p) {
    if (p.state != Posting::State::kHeld) imply(p);
    return true;
  });
}

void Receives::count(Posting& posting) {
  posting.counted = true;
  postings_.close(posting);
}

void Receives::imply(Posting& posting) {
  const Comm comm = posting.pattern.comm;
  if (posting.state == Posting::State::kQueued) {
    Message& m = *posting.message;
    if (!posting.repeated) count(posting);
    imply_until(&posting, comm, m.source, m.tag);
    // What the call that is made again will find in the queue carries its count itself.
    if (posting.repeated) return count_before(m);
    return count_queued(posting);
  }
  count(posting);
  Rank source = posting.pattern.source;
  Tag tag = posting.pattern.tag;
  posting.unresolved =
      posting.pattern.wildcard() && !host_.posting_complete(host_.context, posting, &source, &tag);
  if (posting.unresolved) {
    ++unresolved_;
    look_ = true;
  } else {
    if (posting.pattern.wildcard()) imply_until(&posting, comm, source, tag);
    count_receive(posting, source, tag);
  }
  // Its place among the messages of the window is here, though its data may come later.
  if (window_.keeping() && !posting.logged) {
    posting.log = window_.place(posting.order, comm, posting.unresolved ? kAnySource : source, tag);
    posting.logged = posting.log != nullptr;
    look_ = look_ || posting.logged;
  }
}

// The envelope of a counted wildcard receive has become known (before the next checkpoint: see settle_past).
void Receives::resolve(Posting& posting, Rank source, Tag tag) {
  posting.unresolved = false;
  --unresolved_;
  imply_until(&posting, posting.pattern.comm, source, tag);
  count_receive(posting, source, tag);
  window_.record_late(posting, source, tag);  // it was implied in the window, which may have closed since
  if (posting.log != nullptr) {
    posting.log->source = source;
    posting.log->tag = tag;
  }
}

void Receives::log_observed(Posting& posting, Rank source, Tag tag) {
  if (!posting.counted && !posting.logged && window_.keeping())
    posting.log = window_.place(posting.order, posting.pattern.comm, source, tag);
  fill_log(posting);
}

void Receives::fill_log(Posting& posting) {
  if (posting.log == nullptr || posting.log->arrived) return;
  host_.copy_data(host_.context, posting, posting.log);
  posting.log->arrived = true;
}

void Receives::look_at_counted() {
  if (!look_) return;
  bool again = false;
  look_ = false;  // true again where something is implied
  postings_.each([&](Posting& p) {
    if (!p.unresolved && (p.log == nullptr || p.log->arrived)) return;
    Rank source;
    Tag tag;
    if (!host_.posting_complete(host_.context, p, &source, &tag)) {
      again = true;
      return;
    }
    if (p.unresolved) resolve(p, source, tag);
    fill_log(p);
  });
  look_ = look_ || again;
}

bool Receives::none_of(Comm comm) const {
  for (const Shown& s : shown_)
    if (s.comm == comm) return false;
  return none_posted(comm) && queue_.empty(comm);
}

// ---- Probes: what was shown belongs to the receiver's past ----

void Receives::on_probe(Comm comm, Rank source, Tag tag) {
  imply_until(nullptr, comm, source, tag);
  forget_shown(comm, source, tag, UINT64_MAX);
  shown_.push_back({comm, source, tag, events_});
}

// A message of this class was received, by what asked MPI for it at `order`: so one shown before was received, too.
void Receives::forget_shown(Comm comm, Rank source, Tag tag, uint64_t order) {
  for (size_t i = 0; i < shown_.size(); ++i) {
    const Shown& s = shown_[i];
    if (s.comm == comm && s.source == source && s.tag == tag && s.order < order) return shown_.erase(i);
  }
}

// The first receive that was given to MPI when a message was there which a probe had shown, and which fits it: it was
// matched at once, to that one or to another one. Of those before it is known what they have.
Posting* Receives::next_taker() const {
  for (const Shown& s : shown_)
    for (Posting* p = postings_.first(s.comm); p != nullptr; p = p->after)
      if (p->open && p->order > s.order && p->pattern.matches(s.source, s.tag)) return p;
  return nullptr;
}

// Messages of a class count in the order in which they were sent: with one, all before it.
void Receives::count_before(Message& message) {
  if (message.counted) return;
  message.counted = true;
  ++counts_.at(message.source, message.comm, message.tag).received;
}

// At the checkpoint: what receives posted since have taken of what was shown counts. false: MPI has not told yet what
// one of them has.
bool Receives::settle_shown() {
  while (unresolved_ == 0) {
    Posting* taker = next_taker();
    if (taker == nullptr) return true;
    imply(*taker);
  }
  return false;
}

// And what is still with MPI goes into the pending queue and counts, with what its stream has before it: the queue is
// looked at first, also for any tag. Without memory for one of them it stays shown, with those that follow.
bool Receives::take_shown() {
  Vector<Shown> shown;
  shown.swap(shown_);
  for (const Shown& s : shown) {
    Rank source;
    Tag tag;
    if (!host_.probe(host_.context, {s.comm, s.source, s.tag}, &source, &tag)) continue;  // taken with another
    do {
      host_.probe(host_.context, {s.comm, s.source, kAnyTag}, &source, &tag);
      imply_until(nullptr, s.comm, source, tag);
      queue_.find({s.comm, source, tag}, [&](Message& m) {
        count_before(m);
        return false;
      });
      if (take_message(s.comm, source, tag, true) == nullptr) {
        shown_.append(&s, static_cast<size_t>(shown.end() - &s));
        return false;
      }
      ++counts_.at(source, s.comm, tag).received;
    } while (tag != s.tag);
  }
  return true;
}

// At the checkpoint: what the queue has answered is decided, hence also what receives posted earlier
// got. (The call that is made again is not: it may get another message.)
void Receives::imply_queued() {
  postings_.each([&](Posting& p) {
    if (p.state == Posting::State::kQueued && !p.counted && !p.repeated) imply(p);
  });
}

Message* Receives::take_message(Comm comm, Rank source, Tag tag, bool counted) {
  Message* m = make<Message>();
  m->comm = comm;
  m->source = source;
  m->tag = tag;
  m->counted = counted;
  m->order = events_ + 1;
  starved_ = !host_.take(host_.context, m);
  if (starved_) {
    let_go(m);
    return nullptr;
  }
  ++events_;
  queue_.add(m);
  return m;
}

// ---- The local checkpoint (section 3) ----

bool Receives::settle_past() {
  starved_ = false;
  if (cancelled_ > 0 || freed_pending()) return false;
  look_at_counted();
  if (!settle_shown()) return false;
  if (!take_shown()) return false;
  imply_queued();
  look_at_counted();
  return unresolved_ == 0;
}

bool Receives::freed_pending() const {
  for (Comm comm = 0; comm < comms_.size(); ++comm)
    if (comms_[comm].freed && !none_posted(comm)) return true;
  return false;
}

// A counted receive is complete as far as the line is concerned; its data may be on their way.
Message* Receives::completion_of(Posting& posting) {
  Message* m = make<Message>();
  m->comm = posting.pattern.comm;
  m->counted = true;
  m->order = posting.order;
  m->source = posting.pattern.source;
  m->tag = posting.pattern.tag;
  if (posting.pattern.wildcard()) host_.posting_complete(host_.context, posting, &m->source, &m->tag);
  posting.log = retain(m);
  look_ = true;
  return m;
}

void Receives::snapshot(Saved* saved) {
  saved->postings = numbered_;
  postings_.each([&](Posting& p) {
    Message* answer = nullptr;
    if (p.state == Posting::State::kQueued) answer = retain(p.message);
    else if (p.counted) answer = completion_of(p);
    if (p.repeated) {  // the call that is made again finds in the queue what it has here
      --saved->postings;
      if (answer != nullptr) window_.hold(answer);
      return;
    }
    SavedPosting entry;
    entry.number = p.number;
    entry.comm = comms_[p.pattern.comm].identity;
    entry.source = p.pattern.source;
    entry.tag = p.pattern.tag;
    entry.answer.message = answer;
    entry.answer.comm = entry.comm;
    saved->receives.push_back(std::move(entry));
  });
  queue_.each([&](Message& m) { window_.hold(retain(&m)); });
  sort(saved->receives, [](const SavedPosting& a, const SavedPosting& b) { return a.number < b.number; });
}

void Receives::forget_logs() {
  postings_.each([](Posting& p) {
    let_go(p.log);
    p.log = nullptr;
    p.logged = false;
  });
}

// ---- Holding what is in transit (section 5) ----

void Receives::drain(bool take) {
  for (Comm comm = 0; comm < comms_.size(); ++comm) {
    if (!comms_[comm].made) continue;
    Rank previous = kAnySource;
    bool any = false;
    for (const Missing& m : window_.missing()) any = any || (m.comm == comm && m.count > 0);
    if (!any) continue;
    drain_postings(comm);
    if (!take || comms_[comm].freed) continue;
    for (const Missing& m : window_.missing()) {
      if (m.comm != comm || m.count == 0 || m.source == previous) continue;
      previous = m.source;
      if (!drain_stream(comm, m.source)) return;
    }
  }
}

// Receives that MPI has completed and the application has not looked at: an in-transit message in
// them is logged from their buffer. An earlier incomplete receive that could have matched it holds a
// message that was sent before; then this one has to wait.
void Receives::drain_postings(Comm comm) {
  HashMap<bool> incomplete;  // patterns
  for (Posting* p = postings_.first(comm); p != nullptr; p = p->after) {
    if (p->state != Posting::State::kStarted || p->logged || p->counted) continue;
    Rank source;
    Tag tag;
    if (!host_.posting_complete(host_.context, *p, &source, &tag)) {
      incomplete.at(class_key(p->pattern.source, p->pattern.tag)) = true;
      continue;
    }
    const auto some = [&](Rank s, Tag t) { return incomplete.find(class_key(s, t)) != nullptr; };
    const bool waits = some(source, tag) || some(source, kAnyTag) || some(kAnySource, tag) || some(kAnySource, kAnyTag);
    Missing* absent = waits ? nullptr : window_.missing(source, comm, tag);
    if (absent == nullptr) continue;
    --absent->count;
    p->logged = true;
    Message* m = make<Message>();
    m->comm = comm;
    m->source = source;
    m->tag = tag;
    m->order = p->order;
    host_.copy_data(host_.context, *p, m);
    m->arrived = true;
    window_.hold(m);
  }
}

bool Receives::drain_stream(Comm comm, Rank source) {
  Rank from;
  Tag tag;
  while (host_.probe(host_.context, {comm, source, kAnyTag}, &from, &tag)) {
    Missing* absent = window_.missing(source, comm, tag);
    if (absent == nullptr) return true;
    // A receive that has not counted and is not complete may hold the missing one.
    bool waits = false;
    postings_.each_open(nullptr, comm, source, tag, [&](const Posting& p) {
      Rank s;
      Tag t;
      waits = p.state == Posting::State::kStarted && !host_.posting_complete(host_.context, p, &s, &t);
      return !waits;
    });
    if (waits && applies(Rule::kLookAtPostings)) return true;
    Message* m = take_message(comm, source, tag, false);
    if (m == nullptr) return false;
    --absent->count;
    forget_shown(comm, source, tag, m->order);
    window_.hold(retain(m));
  }
  return true;
}

}  // namespace elc::line
