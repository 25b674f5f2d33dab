#include "line/operations.h"

#include "base/sort.h"
#include "line/rules.h"

namespace elc::line {

Operations::Operation& Operations::Table::at(Comm comm, uint64_t number) {
  if (comm >= operations_.size()) operations_.resize(comm + 1);
  HashMap<Operation>& of = operations_[comm];
  const size_t before = of.size();
  Operation& operation = of.at(number);
  size_ += of.size() - before;
  return operation;
}

void Operations::Table::remove(Comm comm, uint64_t number) {
  if (find(comm, number) == nullptr) return;
  operations_[comm].remove(number);
  --size_;
}

// ---- What the application does ----

bool Operations::wants(Comm comm, uint64_t number) const {
  if (!keeping_) return false;
  if (number <= at_checkpoint(comm)) {
    const Operation* o = awaited_.find(comm, number);
    return o != nullptr && !o->complete;
  }
  return !agreed_ || late_for(comm, number);
}

void Operations::end(Comm comm, uint64_t number, Bytes result, const char* unfollowed) {
  const bool wanted = wants(comm, number);
  logged_.remove(comm, number);
  pending_.remove(comm, number);
  if (!wanted) return;
  if (!applies(Rule::kUnfollowed)) unfollowed = nullptr;
  if (Operation* o = awaited_.find(comm, number)) {
    if (unfollowed != nullptr) unfollowed_ = unfollowed;
    o->complete = true;
    o->result = std::move(result);
    ++awaited_ended_;
    return;
  }
  if (agreed_ && unfollowed != nullptr) unfollowed_ = unfollowed;
  results_.push_back({comm, number, std::move(result), unfollowed});
}

// ---- Recovery ----

void Operations::load(Saved& saved) {
  for (SavedResult& r : saved.crossing)
    logged_.at(comms_.intern(r.comm), r.number).result = std::move(r.result);
}

// ---- A line ----

void Operations::begin_line(Saved* saved) {
  keeping_ = true;
  for (Comm comm = 0; comm < comms_.size(); ++comm) {
    const CommState& c = comms_[comm];
    checkpoint_.push_back(c.operations);
    if (c.made) saved->comms.push_back({c.identity, c.operations, c.size, c.freed});
  }
  pending_.each([&](Comm comm, uint64_t number, Operation&) { awaited_.at(comm, number); });
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
  Vector<Ended> kept;
  for (Ended& r : results_) {
    if (!late_for(r.comm, r.number)) continue;
    if (r.unfollowed != nullptr) unfollowed_ = r.unfollowed;
    kept.push_back(std::move(r));
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
    if (comm == nullptr || !(comms_[*comm].made || comms_[*comm].heard_of)) continue;  // not a member
    const uint64_t before = at_checkpoint(*comm);
    uint64_t held = 0;
    for (const Ended& r : results_) held += r.comm == *comm ? 1 : 0;
    if (held < c.last - before) return false;
  }
  return true;
}

void Operations::save(Saved* saved) {
  for (Ended& r : results_) saved->crossing.push_back({comms_[r.comm].identity, r.number, std::move(r.result)});
  awaited_.each([&](Comm comm, uint64_t number, Operation& o) {
    saved->pending.push_back({comms_[comm].identity, number, std::move(o.result)});
  });
}

void Operations::end_line() {
  keeping_ = agreed_ = false;
  unfollowed_ = nullptr;
  checkpoint_.clear();
  crossing_.clear();
  results_.clear();
  awaited_.clear();
  awaited_ended_ = 0;
}

}  // namespace elc::line
