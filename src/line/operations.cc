#include "line/operations.h"

#include "base/sort.h"
#include "line/rules.h"

namespace elc::line {

const Bytes* Operations::find(const Vector<Operation>& operations, Comm comm, uint64_t number) {
  for (const Operation& o : operations)
    if (o.comm == comm && o.number == number) return &o.result;
  return nullptr;
}

void Operations::forget(Vector<Operation>& operations, Comm comm, uint64_t number) {
  for (size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].comm != comm || operations[i].number != number) continue;
    operations.erase(i);
    return;
  }
}

// ---- What the application does ----

bool Operations::wants(Comm comm, uint64_t number) const {
  if (!keeping_) return false;
  if (number <= at_checkpoint(comm)) {
    for (const Operation& o : awaited_)
      if (o.comm == comm && o.number == number) return !o.complete;
    return false;
  }
  return !agreed_ || late_for(comm, number);
}

void Operations::end(Comm comm, uint64_t number, Bytes result, const char* unfollowed) {
  const bool wanted = wants(comm, number);
  forget(logged_, comm, number);
  forget(pending_, comm, number);
  if (!wanted) return;
  if (!applies(Rule::kUnfollowed)) unfollowed = nullptr;
  for (Operation& o : awaited_) {
    if (o.comm != comm || o.number != number) continue;
    if (unfollowed != nullptr) unfollowed_ = unfollowed;
    o.complete = true;
    o.result = std::move(result);
    return;
  }
  if (agreed_ && unfollowed != nullptr) unfollowed_ = unfollowed;
  results_.push_back({comm, number, true, std::move(result), unfollowed});
}

// ---- Recovery ----

void Operations::load(Saved& saved) {
  for (SavedResult& r : saved.crossing)
    logged_.push_back({comms_.intern(r.comm), r.number, true, std::move(r.result), nullptr});
}

// ---- A line ----

void Operations::begin_line(Saved* saved) {
  keeping_ = true;
  for (Comm comm = 0; comm < comms_.size(); ++comm) {
    const CommState& c = comms_[comm];
    checkpoint_.push_back(c.operations);
    if (c.made) saved->comms.push_back({c.identity, c.operations, c.size, c.freed});
  }
  for (const Operation& o : pending_) awaited_.push_back({o.comm, o.number, false, Bytes(), nullptr});
}

Vector<CommVote> Operations::votes() const {
  Vector<CommVote> votes;
  for (Comm comm = 0; comm < checkpoint_.size(); ++comm) {
    const CommState& c = comms_[comm];
    if (c.identity == 0 || c.size <= 1 || !c.made) continue;
    votes.push_back({c.identity, c.size, 1, checkpoint_[comm], checkpoint_[comm]});
  }
  sort(votes, [](const CommVote& a, const CommVote& b) { return a.identity < b.identity; });
  return votes;
}

void Operations::agreed(const Vector<CommVote>& crossing) {
  agreed_ = true;
  for (const CommVote& v : crossing) crossing_.push_back({v.identity, v.most});
  Vector<Operation> kept;
  for (Operation& o : results_) {
    if (!late_for(o.comm, o.number)) continue;
    if (o.unfollowed != nullptr) unfollowed_ = o.unfollowed;
    kept.push_back(std::move(o));
  }
  results_.swap(kept);
}

bool Operations::crosses(Identity identity) const {
  for (const Crossing& c : crossing_)
    if (c.identity == identity) return true;
  return false;
}

bool Operations::late_for(Comm comm, uint64_t number) const {
  for (const Crossing& c : crossing_)
    if (c.identity == comms_[comm].identity) return number <= c.last;
  return false;
}

bool Operations::late_ended() const {
  for (const Crossing& c : crossing_) {
    const Comm* comm = comms_.find(c.identity);
    if (comm == nullptr || !comms_[*comm].made) continue;  // not a member
    const uint64_t before = at_checkpoint(*comm);
    uint64_t held = 0;
    for (const Operation& o : results_) held += o.comm == *comm ? 1 : 0;
    if (held < c.last - before) return false;
  }
  return true;
}

bool Operations::pending_ended() const {
  for (const Operation& o : awaited_)
    if (!o.complete) return false;
  return true;
}

void Operations::save(Saved* saved) {
  for (Operation& o : results_) saved->crossing.push_back({comms_[o.comm].identity, o.number, std::move(o.result)});
  for (Operation& o : awaited_) saved->pending.push_back({comms_[o.comm].identity, o.number, std::move(o.result)});
}

void Operations::end_line() {
  keeping_ = agreed_ = false;
  unfollowed_ = nullptr;
  checkpoint_.clear();
  crossing_.clear();
  results_.clear();
  awaited_.clear();
}

}  // namespace elc::line
