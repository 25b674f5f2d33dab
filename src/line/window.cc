#include "line/window.h"

#include <algorithm>

#include "base/sort.h"
#include "line/rules.h"

namespace elc::line {

void Window::begin() { recording_ = keeping_ = true; }

void Window::close(bool keep_outcomes) {
  recording_ = false;
  keep_outcomes_ = keep_outcomes;
  if (keep_outcomes) return;
  outcomes_.clear();
  bound_.clear();
}

void Window::end() {
  for (Message* m : seen_) let_go(m);
  for (Message* m : held_) let_go(m);
  recording_ = keeping_ = known_ = keep_outcomes_ = false;
  outcomes_.clear();
  bound_.clear();
  seen_.clear();
  ordered_ = true;
  missing_.clear();
  held_.clear();
}

// ---- W3 ----

void Window::record(NdKind kind, const Bytes& outcome) {
  if (!outcomes_.empty()) {
    SavedOutcome& last = outcomes_.back();
    const bool same = last.kind == kind && last.value.size() == outcome.size() && last.times != UINT32_MAX &&
                      (outcome.empty() || memcmp(last.value.data(), outcome.data(), outcome.size()) == 0);
    if (same) {
      ++last.times;
      return;
    }
  }
  SavedOutcome added;
  added.kind = kind;
  added.value.append(outcome.data(), outcome.size());
  outcomes_.push_back(std::move(added));
}

void Window::record_receive(const Posting& posting, Rank source, Tag tag) {
  if (recording_ && posting.pattern.wildcard()) bound_.push_back({posting.number, source, tag});
}

void Window::record_late(const Posting& posting, Rank source, Tag tag) {
  if (keep_outcomes_) bound_.push_back({posting.number, source, tag});
}

void Window::save_outcomes(Saved* saved) {
  sort(bound_, [](const BoundReceive& a, const BoundReceive& b) { return a.number < b.number; });
  saved->outcomes = std::move(outcomes_);
  saved->bound = std::move(bound_);
}

// ---- W1 ----

Message* Window::place(uint64_t order, Comm comm, Rank source, Tag tag) {
  if (known_ && !applies(Rule::kLogUntilHeld)) return nullptr;
  if (known_ && seen_.empty() && source != kAnySource && missing(source, comm, tag) == nullptr) return nullptr;
  Message* m = make<Message>();
  m->comm = comm;
  m->source = source;
  m->tag = tag;
  m->order = order;
  ordered_ = ordered_ && (seen_.empty() || seen_.back()->order < order);
  seen_.push_back(retain(m));
  return m;
}

void Window::identified(Vector<Missing>&& absent) {
  missing_ = std::move(absent);
  known_ = true;
}

void Window::sift() {
  // In the order of each class, even where one is implied after a later one.
  if (!ordered_) elc::sort(seen_, [](Message* a, Message* b) { return a->order < b->order; });
  ordered_ = true;
  size_t sifted = 0;
  for (; sifted < seen_.size(); ++sifted) {
    Message* m = seen_[sifted];
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
  rest.append(seen_.data() + sifted, seen_.size() - sifted);
  seen_.swap(rest);
}

// ---- What is in transit ----

Missing* Window::missing(Rank source, Comm comm, Tag tag) {
  Missing* m = std::lower_bound(missing_.begin(), missing_.end(), 0, [&](const Missing& a, int) {
    return before(a.source, a.comm, a.tag, source, comm, tag);
  });
  if (m == missing_.end() || m->source != source || m->comm != comm || m->tag != tag || m->count == 0) return nullptr;
  return m;
}

bool Window::all_arrived() const {
  for (const Message* m : held_)
    if (!m->arrived) return false;
  return true;
}

// In the order of each stream. What was taken into the queue after a receive had been given to MPI came later than what
// that receive has, else the receive would have it; what was taken before came earlier.
Vector<Message*> Window::take_held() {
  if (applies(Rule::kStreamOrder)) elc::sort(held_, [](Message* a, Message* b) { return a->order < b->order; });
  return static_cast<Vector<Message*>&&>(held_);
}

}  // namespace elc::line
