#include "line/control.h"

namespace elc::line {
namespace {

using Word = Control::Word;

Bytes begin(Word word) {
  Bytes bytes;
  Encoder(&bytes).u32(static_cast<uint32_t>(word));
  return bytes;
}

Bytes vote_message(Word word, ConsensusKind kind, const Vote& vote) {
  Bytes bytes = begin(word);
  Encoder out(&bytes);
  out.u32(kind);
  vote.encode(out);
  return bytes;
}

// false: not a vote.
bool decode_vote(Decoder& in, ConsensusKind* kind, Vote* vote) {
  *kind = static_cast<ConsensusKind>(in.u32());
  return Vote::decode(in, vote) && *kind < kConsensusKinds;
}

Bytes counts_message(Word word, LineNumber line, const Vector<WireCount>& counts) {
  Bytes bytes = begin(word);
  Encoder out(&bytes);
  out.u32(line);
  out.u64(counts.size());
  for (const WireCount& c : counts) {
    out.u64(c.comm);
    out.i32(c.tag);
    out.u64(c.count);
    out.boolean(c.synchronous);
  }
  return bytes;
}

Vector<WireCount> decode_counts(Decoder& in) {
  Vector<WireCount> counts;
  const size_t n = in.count(24);
  for (size_t i = 0; i < n; ++i) {
    WireCount c;
    c.comm = in.u64();
    c.tag = in.i32();
    c.count = in.u64();
    c.synchronous = in.boolean();
    counts.push_back(c);
  }
  return counts;
}

}  // namespace

Control::Heard Control::receive(Rank from, const uint8_t* data, size_t size) {
  Heard heard;
  Decoder in(data, size);
  switch (static_cast<Word>(in.u32())) {
    case Word::kRequest:
      heard.what = Heard::What::kRequest;
      heard.line = in.u32();
      break;
    case Word::kVote:
      if (!decode_vote(in, &heard.kind, &heard.vote)) break;
      consensus_[heard.kind].add_child(heard.vote);
      if (forward(heard.kind, &heard.vote)) heard.what = Heard::What::kVoted;
      break;
    case Word::kResult:
      if (!decode_vote(in, &heard.kind, &heard.vote)) break;
      announce(heard.kind, heard.vote);
      heard.what = Heard::What::kDecided;
      break;
    case Word::kLog: {
      const LineNumber line = in.u32();
      logs_.push_back({line, from, decode_counts(in)});
      send(from, begin(Word::kAcknowledge));
      break;
    }
    case Word::kOrphans:
      heard.what = Heard::What::kOrphans;
      in.u32();
      heard.counts = decode_counts(in);
      send(from, begin(Word::kAcknowledge));
      break;
    case Word::kAcknowledge: --unacknowledged_; break;
    case Word::kRemoved: heard.what = Heard::What::kRemoved; break;
    case Word::kNever: heard.what = Heard::What::kNever; break;
    case Word::kForget:
      heard.what = Heard::What::kForget;
      heard.line = in.u32();
      break;
  }
  return heard;
}

void Control::flood_number(Word word, uint32_t number, Rank except) {
  Bytes bytes = begin(word);
  Encoder(&bytes).u32(number);
  flood(bytes, except);
}

void Control::flood_request(LineNumber line, Rank except) { flood_number(Word::kRequest, line, except); }

void Control::flood_forget(uint32_t round, Rank except) { flood_number(Word::kForget, round, except); }

void Control::flood_never(Rank except) { flood(begin(Word::kNever), except); }

void Control::flood_removed(Rank except) { flood(begin(Word::kRemoved), except); }

void Control::flood(const Bytes& bytes, Rank except) {
  if (self_ != 0 && tree_parent(self_) != except) send(tree_parent(self_), bytes);
  for (int i = 0; i < tree_children(self_, processes_); ++i) {
    const Rank child = 2 * self_ + 1 + i;
    if (child != except) send(child, bytes);
  }
}

// ---- Votes ----

bool Control::vote(ConsensusKind kind, const Vote& own, Vote* merged) {
  consensus_[kind].add_own(own);
  return forward(kind, merged);
}

// Once this process and its children have voted: on to the parent, or, at the root, to be decided.
bool Control::forward(ConsensusKind kind, Vote* merged) {
  if (!consensus_[kind].complete(tree_children(self_, processes_))) return false;
  *merged = consensus_[kind].take();
  if (self_ == 0) return true;
  send(tree_parent(self_), vote_message(Word::kVote, kind, *merged));
  return false;
}

void Control::announce(ConsensusKind kind, const Vote& result) {
  const Bytes bytes = vote_message(Word::kResult, kind, result);
  for (int i = 0; i < tree_children(self_, processes_); ++i) send(2 * self_ + 1 + i, bytes);
}

// ---- Logs and orphans ----

void Control::send_log(Rank to, LineNumber line, Vector<WireCount> counts) {
  if (to == self_) {
    logs_.push_back({line, self_, std::move(counts)});
    return;
  }
  ++unacknowledged_;
  send(to, counts_message(Word::kLog, line, counts));
}

void Control::send_orphans(Rank to, const Vector<WireCount>& counts) {
  ++unacknowledged_;
  send(to, counts_message(Word::kOrphans, 0, counts));
}

void Control::forget_logs(LineNumber line) {
  Vector<Log> later;
  for (Log& log : logs_)
    if (log.line > line) later.push_back(std::move(log));
  logs_.swap(later);
}

}  // namespace elc::line
