#include "sim/network.h"

#include <algorithm>

namespace sim {

int Network::send(const Message& message) {
  const int id = static_cast<int>(messages_.size());
  messages_.push_back(message);
  const Key key{message.source, message.dest, message.context};
  auto [at, made] = stream_of_.try_emplace(key, static_cast<int>(streams_.size()));
  if (made) streams_.emplace_back();
  Stream& s = streams_[static_cast<size_t>(at->second)];
  if (s.first == s.queue.size()) active_.push_back(at->second);
  s.queue.push_back(id);
  return id;
}

Network::Matching& Network::matching(Rank dest, uint64_t context) {
  if (matching_.size() <= static_cast<size_t>(dest)) matching_.resize(static_cast<size_t>(dest) + 1);
  return matching_[static_cast<size_t>(dest)][context];
}

static bool matches(Rank source, Tag tag, const Network::Message& m) {
  return (source == kAny || source == m.source) && (tag == kAny || tag == m.tag);
}

void Network::match(int message, int receive) {
  Message& m = messages_[static_cast<size_t>(message)];
  m.matched = true;
  receives_[static_cast<size_t>(receive)].message = message;
  if (m.large)
    arriving_.push_back(message);
  else
    m.here = true;
}

int Network::receive(Rank dest, uint64_t context, Rank source, Tag tag) {
  const int id = static_cast<int>(receives_.size());
  receives_.push_back({dest, context, source, tag, -1});
  Matching& q = matching(dest, context);
  for (size_t i = 0; i < q.unexpected.size(); ++i) {
    const int message = q.unexpected[i];
    if (!matches(source, tag, messages_[static_cast<size_t>(message)])) continue;
    q.unexpected.erase(q.unexpected.begin() + static_cast<long>(i));
    match(message, id);
    return id;
  }
  q.posted.push_back(id);
  return id;
}

bool Network::cancel(int receive) {
  const Receive& r = receives_[static_cast<size_t>(receive)];
  if (r.message >= 0) return false;
  std::erase(matching(r.dest, r.context).posted, receive);
  return true;
}

bool Network::complete(int receive) const {
  const int m = receives_[static_cast<size_t>(receive)].message;
  return m >= 0 && messages_[static_cast<size_t>(m)].here;
}

const Network::Message& Network::message_of(int receive) const {
  return messages_[static_cast<size_t>(receives_[static_cast<size_t>(receive)].message)];
}

const Network::Message* Network::probe(Rank dest, uint64_t context, Rank source, Tag tag) const {
  if (matching_.size() <= static_cast<size_t>(dest)) return nullptr;
  const auto& contexts = matching_[static_cast<size_t>(dest)];
  const auto q = contexts.find(context);
  if (q == contexts.end()) return nullptr;
  for (int m : q->second.unexpected)
    if (matches(source, tag, messages_[static_cast<size_t>(m)])) return &messages_[static_cast<size_t>(m)];
  return nullptr;
}

const Network::Message& Network::head(size_t stream) const {
  const Stream& s = streams_[static_cast<size_t>(active_[stream])];
  return messages_[static_cast<size_t>(s.queue[s.first])];
}

void Network::deliver(size_t stream) {
  Stream& s = streams_[static_cast<size_t>(active_[stream])];
  const int id = s.queue[s.first++];
  if (s.first == s.queue.size()) {
    s.queue.clear();
    s.first = 0;
    active_[stream] = active_.back();
    active_.pop_back();
  }
  const Message& m = messages_[static_cast<size_t>(id)];
  Matching& q = matching(m.dest, m.context);
  for (size_t i = 0; i < q.posted.size(); ++i) {
    const Receive& r = receives_[static_cast<size_t>(q.posted[i])];
    if (!matches(r.source, r.tag, m)) continue;
    const int receive = q.posted[i];
    q.posted.erase(q.posted.begin() + static_cast<long>(i));
    match(id, receive);
    return;
  }
  if (m.ready && violation_->empty()) *violation_ = "a ready send found no receive";
  q.unexpected.push_back(id);
}

void Network::arrive(size_t i) {
  messages_[static_cast<size_t>(arriving_[i])].here = true;
  arriving_[i] = arriving_.back();
  arriving_.pop_back();
}

size_t Network::left_over() const {
  size_t n = 0;
  for (const Message& m : messages_) n += m.matched ? 0 : 1;
  return n;
}

// ---- Collective operations ----

size_t Collectives::index(const Operation& o, Rank rank) {
  return static_cast<size_t>(std::find(o.members.begin(), o.members.end(), rank) - o.members.begin());
}

int Collectives::join(uint64_t context, const std::vector<Rank>& members, Rank self,
                      const Contribution& contribution) {
  Context& c = contexts_[context];
  const size_t n = c.next[self]++;
  if (n == c.operations.size()) {
    c.operations.push_back(static_cast<int>(operations_.size()));
    operations_.push_back({context, members, std::vector<Contribution>(members.size())});
  }
  const int id = c.operations[n];
  Operation& o = operations_[static_cast<size_t>(id)];
  for (const Contribution& other : o.contributions) {
    const bool same = other.kind == contribution.kind && other.root == contribution.root &&
                      (contribution.kind == Kind::kBarrier || other.number == contribution.number);
    if (!other.joined || same || !violation_->empty()) continue;
    *violation_ = "members of a communicator call different collective operations";
  }
  Contribution& mine = o.contributions[index(o, self)];
  mine = contribution;
  mine.joined = true;
  return id;
}

namespace {

// Whether this one is of the other group, if there are two.
bool is_other(const Contribution& mine, size_t me, size_t i) {
  const auto first = static_cast<size_t>(mine.first);
  return first == 0 || (me < first) != (i < first);
}

}  // namespace

bool Collectives::complete(int operation, Rank self) const {
  const Operation& o = operations_[static_cast<size_t>(operation)];
  const size_t me = index(o, self);
  const Contribution& mine = o.contributions[me];
  const auto root = static_cast<size_t>(mine.root);
  const auto joined = [&](size_t i) { return o.contributions[i].joined; };
  const auto others = [&] {
    for (size_t i = 0; i < o.contributions.size(); ++i)
      if (is_other(mine, me, i) && !joined(i)) return false;
    return true;
  };
  switch (mine.kind) {
    case Kind::kBcast:
    case Kind::kScatter:
      return joined(root) || !is_other(mine, me, root);
    case Kind::kReduce:
    case Kind::kGather:
      return me != root || others();
    case Kind::kScan:
      for (size_t i = 0; i < me; ++i)
        if (!joined(i)) return false;
      return true;
    case Kind::kFree:
    case Kind::kMove:
    case Kind::kPersistent:  // MPI may let one go on
      return true;
    case Kind::kOpen:
      return joined(0);
    case Kind::kJoin:
      return joined(0) && joined(static_cast<size_t>(mine.first));
    case Kind::kDup:
    case Kind::kMerge:
      return std::all_of(o.contributions.begin(), o.contributions.end(), [](const Contribution& c) { return c.joined; });
    default:
      return others();
  }
}

uint64_t Collectives::most(int operation, Rank self) const {
  const Operation& o = operations_[static_cast<size_t>(operation)];
  const size_t me = index(o, self);
  uint64_t most = 0;
  for (size_t i = 0; i < o.contributions.size(); ++i)
    if (is_other(o.contributions[me], me, i)) most = std::max(most, o.contributions[i].value);
  return most;
}

std::array<unsigned, elc::line::Epochs::kWords> Collectives::most_words(int operation) const {
  std::array<unsigned, elc::line::Epochs::kWords> most = {};
  for (const Contribution& c : operations_[static_cast<size_t>(operation)].contributions)
    for (size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], c.words[i]);
  return most;
}

CollectiveResult Collectives::result(int operation, Rank self, bool* has_value) const {
  const Operation& o = operations_[static_cast<size_t>(operation)];
  return result_of(o.contributions, o.members, index(o, self), o.context, has_value);
}

CollectiveResult result_of(const std::vector<Contribution>& all, const std::vector<Rank>& members, size_t me,
                           uint64_t context, bool* has_value) {
  const Contribution& mine = all[me];
  const size_t root = static_cast<size_t>(mine.root);
  const auto fold = [&](size_t end) {
    uint64_t sum = 0;
    for (size_t i = 0; i < end; ++i)
      if (is_other(mine, me, i)) sum = combine(sum, all[i].value);
    return sum;
  };
  CollectiveResult r;
  *has_value = true;
  switch (mine.kind) {
    case Kind::kBarrier:
    case Kind::kFree:
    case Kind::kFence:
    case Kind::kMove:
      *has_value = false;
      break;
    case Kind::kBcast:
      *has_value = me != root && is_other(mine, me, root);
      if (*has_value) r.value = all[root].value;
      break;
    case Kind::kScatter:
      *has_value = is_other(mine, me, root);
      if (*has_value) r.value = combine(all[root].value, me);
      break;
    case Kind::kReduce:
    case Kind::kGather:
      *has_value = me == root;
      if (me == root) r.value = fold(all.size());
      break;
    case Kind::kAllreduce:
    case Kind::kAllgather:
      r.value = fold(all.size());
      break;
    case Kind::kAlltoall:
      for (size_t i = 0; i < all.size(); ++i)
        if (is_other(mine, me, i)) r.value = combine(r.value, combine(all[i].value, me));
      break;
    case Kind::kScan:
      r.value = fold(me + 1);
      break;
    case Kind::kJoin: {  // its identity is made of what both groups bring, the lower one first
      *has_value = mine.first > 0;
      if (!*has_value) break;
      const auto [low, high] = std::minmax(all[0].value, all[static_cast<size_t>(mine.first)].value);
      r.identity = r.value = identity_of(low, ~uint64_t{0}, high);
      r.members = members;
      r.first = mine.first;
      break;
    }
    case Kind::kDup:
    case Kind::kSplit:
    case Kind::kMerge:
    case Kind::kWindow:
    case Kind::kOpen:
    case Kind::kPersistent:
      for (size_t i = 0; i < all.size(); ++i)
        if (all[i].value == mine.value) r.members.push_back(members[i]);
      r.identity = identity_of(context, mine.number, mine.value);
      r.value = r.identity;
      if (mine.kind == Kind::kDup) r.first = mine.first;
      break;
  }
  return r;
}

}  // namespace sim
