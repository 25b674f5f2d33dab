#include "line/replay.h"

#include <algorithm>

namespace elc::line {

void Replay::load(Saved& saved) {
  on_ = anywhere_ = saved.replay;
  outcomes_ = std::move(saved.outcomes);
  bound_ = std::move(saved.bound);
  pending_ = std::move(saved.receives);
}

const Bytes* Replay::outcome(NdKind kind, bool* misfit) {
  *misfit = false;
  if (!on_ || next_ >= outcomes_.size()) return nullptr;
  SavedOutcome& next = outcomes_[next_];
  *misfit = next.kind != kind;
  if (*misfit) return nullptr;
  if (++uses_ == next.times) {
    ++next_;
    uses_ = 0;
  }
  return &next.value;
}

const BoundReceive* Replay::bound(uint64_t number) const {
  const BoundReceive* b = std::lower_bound(bound_.begin(), bound_.end(), number,
                                           [](const BoundReceive& a, uint64_t n) { return a.number < n; });
  return b == bound_.end() || b->number != number ? nullptr : b;
}

void Replay::forget_log() {
  outcomes_.clear();
  bound_.clear();
}

}  // namespace elc::line
