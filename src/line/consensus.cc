#include "line/consensus.h"

#include <algorithm>

namespace elc::line {
namespace {

// Whether nothing about this communicator can concern the line any more.
bool agreed(const CommVote& v) { return v.voters == v.size && v.least == v.most; }

// Both lists in one; `drop`: without what is agreed.
Vector<CommVote> merged(const Vector<CommVote>& a, const Vector<CommVote>& b, bool drop) {
  Vector<CommVote> all;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    CommVote v;
    if (j == b.size() || (i < a.size() && a[i].identity < b[j].identity)) {
      v = a[i++];
    } else if (i == a.size() || b[j].identity < a[i].identity) {
      v = b[j++];
    } else {
      v = a[i++];
      const CommVote& w = b[j++];
      v.voters += w.voters;
      v.least = std::min(v.least, w.least);
      v.most = std::max(v.most, w.most);
    }
    if (!drop || !agreed(v)) all.push_back(v);
  }
  return all;
}

void encode_comms(Encoder& out, const Vector<CommVote>& comms) {
  out.u64(comms.size());
  for (const CommVote& v : comms) {
    out.u64(v.identity);
    out.u32(v.size);
    out.u32(v.voters);
    out.u64(v.least);
    out.u64(v.most);
  }
}

void decode_comms(Decoder& in, Vector<CommVote>* comms) {
  const size_t n = in.count(32);
  for (size_t i = 0; i < n; ++i) {
    CommVote v;
    v.identity = in.u64();
    v.size = in.u32();
    v.voters = in.u32();
    v.least = in.u64();
    v.most = in.u64();
    comms->push_back(v);
  }
}

}  // namespace

void Vote::refuse(Rank rank, const char* text) {
  refuser = rank;
  reason = shorten(text, kLongestReason);
}

void Vote::merge(const Vote& other) {
  line = std::max(line, other.line);
  if (!other.yes() && (yes() || other.refuser < refuser)) refuse(other.refuser, other.reason.c_str());
  orphans = orphans || other.orphans;
  looks = looks || other.looks;
  points = std::max(points, other.points);
  cost = std::max(cost, other.cost);
  account ^= other.account;
  comms = merged(comms, other.comms, true);
  freed = merged(freed, other.freed, false);
}

void Vote::encode(Encoder& out) const {
  out.u32(line);
  out.i32(refuser);
  out.string(reason.view());
  out.boolean(orphans);
  out.boolean(looks);
  out.u64(points);
  out.u64(cost);
  out.u64(account);
  encode_comms(out, comms);
  encode_comms(out, freed);
}

bool Vote::decode(Decoder& in, Vote* vote) {
  vote->line = in.u32();
  vote->refuser = in.i32();
  vote->reason = Text::copy(in.string());
  vote->orphans = in.boolean();
  vote->looks = in.boolean();
  vote->points = in.u64();
  vote->cost = in.u64();
  vote->account = in.u64();
  decode_comms(in, &vote->comms);
  decode_comms(in, &vote->freed);
  return in.ok();
}

}  // namespace elc::line
