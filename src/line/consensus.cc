#include "line/consensus.h"

#include <algorithm>

namespace elc::line {
namespace {

// Whether nothing about this communicator can concern the line any more.
bool agreed(const CommVote& v) { return v.voters == v.size && v.least == v.most; }

}  // namespace

Vote Vote::copy() const {
  Vote v;
  v.line = line;
  v.yes = yes;
  v.orphans = orphans;
  v.points = points;
  v.cost = cost;
  v.comms.append(comms.data(), comms.size());
  return v;
}

void Vote::merge(const Vote& other) {
  line = std::max(line, other.line);
  yes = yes && other.yes;
  orphans = orphans || other.orphans;
  points = std::max(points, other.points);
  cost = std::max(cost, other.cost);
  Vector<CommVote> merged;
  size_t i = 0, j = 0;
  while (i < comms.size() || j < other.comms.size()) {
    CommVote v;
    if (j == other.comms.size() || (i < comms.size() && comms[i].identity < other.comms[j].identity)) {
      v = comms[i++];
    } else if (i == comms.size() || other.comms[j].identity < comms[i].identity) {
      v = other.comms[j++];
    } else {
      v = comms[i++];
      const CommVote& w = other.comms[j++];
      v.voters += w.voters;
      v.least = std::min(v.least, w.least);
      v.most = std::max(v.most, w.most);
    }
    if (!agreed(v)) merged.push_back(v);
  }
  comms.swap(merged);
}

void Vote::encode(Encoder& out) const {
  out.u32(line);
  out.boolean(yes);
  out.boolean(orphans);
  out.u64(points);
  out.u64(cost);
  out.u64(comms.size());
  for (const CommVote& v : comms) {
    out.u64(v.identity);
    out.u32(v.size);
    out.u32(v.voters);
    out.u64(v.least);
    out.u64(v.most);
  }
}

bool Vote::decode(Decoder& in, Vote* vote) {
  vote->line = in.u32();
  vote->yes = in.boolean();
  vote->orphans = in.boolean();
  vote->points = in.u64();
  vote->cost = in.u64();
  const size_t n = in.count(32);
  for (size_t i = 0; i < n; ++i) {
    CommVote v;
    v.identity = in.u64();
    v.size = in.u32();
    v.voters = in.u32();
    v.least = in.u64();
    v.most = in.u64();
    vote->comms.push_back(v);
  }
  return in.ok();
}

}  // namespace elc::line
