// The control channel: requests, logs, orphans, votes and results.
#include "line/process.h"

namespace elc::line {
namespace {

enum class Word : uint32_t { kRequest = 1, kVote, kResult, kLog, kOrphans, kAcknowledge, kRelease };

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

}  // namespace

void Process::on_control(Rank from, const uint8_t* data, size_t size) {
  Decoder in(data, size);
  switch (static_cast<Word>(in.u32())) {
    case Word::kRequest: {
      const LineNumber line = in.u32();
      if (line <= requested_ || line <= last_line_) break;
      requested_ = line;
      flood_request(from);
      break;
    }
    case Word::kVote: receive_vote(in); break;
    case Word::kResult: receive_result(in); break;
    case Word::kLog: receive_counts(from, in, false); break;
    case Word::kOrphans: receive_counts(from, in, true); break;
    case Word::kAcknowledge: --unacknowledged_; break;
    case Word::kRelease: ++release_votes_; break;
  }
}

// Along the edges of the tree: each process gets it once, and on the edge on which votes and results
// run too, so that it cannot overtake what it came after.
void Process::flood_request(Rank except) {
  Bytes bytes = begin(Word::kRequest);
  Encoder(&bytes).u32(requested_);
  if (self_ != 0 && tree_parent(self_) != except) send(tree_parent(self_), bytes);
  for (int i = 0; i < tree_children(self_, processes_); ++i) {
    const Rank child = 2 * self_ + 1 + i;
    if (child != except) send(child, bytes);
  }
}

void Process::vote(ConsensusKind kind, const Vote& own) {
  consensus_[kind].add_own(own);
  forward(kind);
}

void Process::receive_vote(Decoder& in) {
  const uint32_t kind = in.u32();
  Vote child;
  if (!Vote::decode(in, &child) || kind >= kConsensusKinds) return;
  consensus_[kind].add_child(child);
  forward(static_cast<ConsensusKind>(kind));
}

// Once this process and its children have voted: on to the parent, or, at the root, the decision.
void Process::forward(ConsensusKind kind) {
  if (!consensus_[kind].complete(tree_children(self_, processes_))) return;
  Vote merged = consensus_[kind].take();
  if (self_ != 0) {
    send(tree_parent(self_), vote_message(Word::kVote, kind, merged));
    return;
  }
  // A line is committed before anybody is told.
  if (kind == kDoneConsensus && merged.yes)
    merged.yes = host_.commit(host_.context, merged.line, merged.points, merged.cost);
  announce(kind, merged);
}

void Process::announce(ConsensusKind kind, const Vote& result) {
  const Bytes bytes = vote_message(Word::kResult, kind, result);
  for (int i = 0; i < tree_children(self_, processes_); ++i) send(2 * self_ + 1 + i, bytes);
  decide(kind, result);
}

void Process::receive_result(Decoder& in) {
  const uint32_t kind = in.u32();
  Vote result;
  if (!Vote::decode(in, &result) || kind >= kConsensusKinds) return;
  announce(static_cast<ConsensusKind>(kind), result);
}

void Process::decide(ConsensusKind kind, const Vote& result) {
  switch (kind) {
    case kTakenConsensus: taken_by_all(result); break;
    case kReadyConsensus: ready_everywhere(result); break;
    case kDoneConsensus: close(result.yes); break;
    case kRestartConsensus:
      running_ = true;
      step_release();
      break;
    case kReleasedConsensus: replay_anywhere_ = false; break;
    case kFinalizeConsensus: finished_ = true; break;
    case kConsensusKinds: break;
  }
}

// To each process, not along the tree: there a vote could be held up in a process that waits, inside a collective
// operation of MPI, for one that waits for release. (Once in a restart, and only in one with a log.)
void Process::vote_release() {
  ++release_votes_;
  const Bytes bytes = begin(Word::kRelease);
  for (Rank r = 0; r < processes_; ++r)
    if (r != self_) send(r, bytes);
}

void Process::send_counts(Rank to, bool orphans, LineNumber line, const Vector<WireCount>& counts) {
  Bytes bytes = begin(orphans ? Word::kOrphans : Word::kLog);
  Encoder out(&bytes);
  out.u32(line);
  out.u64(counts.size());
  for (const WireCount& c : counts) {
    out.u64(c.comm);
    out.i32(c.tag);
    out.u64(c.count);
  }
  if (to == self_) {
    on_control(self_, bytes.data(), bytes.size());
    return;
  }
  ++unacknowledged_;
  send(to, bytes);
}

void Process::receive_counts(Rank from, Decoder& in, bool orphans) {
  Log log;
  log.line = in.u32();
  log.from = from;
  const size_t n = in.count(20);
  for (size_t i = 0; i < n; ++i) {
    WireCount c;
    c.comm = in.u64();
    c.tag = in.i32();
    c.count = in.u64();
    log.counts.push_back(c);
  }
  if (orphans) {
    for (const WireCount& c : log.counts) {
      counts_.at(from, intern(c.comm), c.tag).suppress += c.count;
      to_suppress_ += c.count;
    }
  } else {
    logs_.push_back(std::move(log));
  }
  if (from != self_) send(from, begin(Word::kAcknowledge));
}

}  // namespace elc::line
