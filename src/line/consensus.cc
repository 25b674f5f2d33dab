#include "line/consensus.h"

#include <algorithm>

#include "base/sort.h"

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

// Where both have one address, what is asked of it is the less exact.
Vector<ToldAddress> merged(const Vector<ToldAddress>& a, const Vector<ToldAddress>& b) {
  Vector<ToldAddress> all;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    const bool is_of_b = i == a.size() || (j < b.size() && b[j].address < a[i].address);
    const ToldAddress next = is_of_b ? b[j++] : a[i++];
    const bool is_new = all.empty() || all.back().address != next.address;
    if (is_new && all.size() == Vote::kMostTold) break;
    if (is_new) all.push_back(next);
    all.back().exact = all.back().exact && next.exact;
    all.back().asks_holder = all.back().asks_holder || next.asks_holder || all.back().holder != next.holder;
    all.back().holder = std::min(all.back().holder, next.holder);
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

void Vote::tell(Vector<ToldAddress> addresses) {
  sort(addresses, [](const ToldAddress& a, const ToldAddress& b) { return a.address < b.address; });
  told = merged(told, addresses);
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
  told = merged(told, other.told);
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
  out.u64(told.size());
  for (const ToldAddress& t : told) {
    out.u64(t.address);
    out.boolean(t.exact);
    out.boolean(t.asks_holder);
    out.i32(t.holder);
  }
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
  const size_t n = in.count(14);
  for (size_t i = 0; i < n; ++i) {
    ToldAddress t;
    t.address = in.u64();
    t.exact = in.boolean();
    t.asks_holder = in.boolean();
    t.holder = in.i32();
    vote->told.push_back(t);
  }
  return in.ok();
}

}  // namespace elc::line
