#include "line/forgetting.h"

#include "base/sort.h"
#include "line/rules.h"

namespace elc::line {

bool Forgetting::begin(uint32_t round) {
  if (round <= round_) return false;
  round_ = round;
  on_ = true;
  return true;
}

bool Forgetting::can_forget(Comm comm) const {
  return comms_[comm].freed && receives_.none_of(comm) && operations_.none_pending(comm);
}

Vote Forgetting::offer() const {
  Vote vote;
  for (Comm comm = 0; comm < comms_.size(); ++comm)
    if (can_forget(comm)) vote.freed.push_back({comms_[comm].identity, comms_[comm].size, 1, 0, 0});
  sort(vote.freed, [](const CommVote& a, const CommVote& b) { return a.identity < b.identity; });
  return vote;
}

bool Forgetting::forget(const Vote& result) {
  freed_ = 0;
  if (!result.yes()) {
    on_ = false;
    return false;
  }
  HashMap<bool> slots;
  for (const CommVote& v : result.freed) {
    if (v.voters != v.size && applies(Rule::kAllFreed)) continue;
    if (const Comm* comm = comms_.find(v.identity)) slots.at(*comm) = true;
  }
  counts_.forget(slots);
  slots.each([&](uint64_t comm, bool) { comms_.forget(static_cast<Comm>(comm)); });
  return true;
}

}  // namespace elc::line
