// What processes tell each other on the control channel: requests, logs, orphans, votes and what is decided
// (PROTOCOL.md, sections 2, 3, 7 and 8).
#ifndef ELC_LINE_CONTROL_H
#define ELC_LINE_CONTROL_H

#include "line/consensus.h"
#include "line/coordinator.h"
#include "line/counts.h"

namespace elc::line {

class Control {
 public:
  enum class Word : uint32_t { kRequest = 1, kVote, kResult, kLog, kOrphans, kAcknowledge, kNever, kForget, kRemoved };

  Control(const Host& host, Rank self, Rank processes) : host_(host), self_(self), processes_(processes) {}

  // What a message has to say to the protocol.
  struct Heard {
    enum class What : uint8_t {
      kNothing,  // it was for this class
      kRequest,  // a line is asked for: `line`
      kNever,    // there will be no line
      kForget,   // a round of Forgetting is to begin: its number in `line`
      kRemoved,  // lines are removed
      kOrphans,  // `from` has these messages already: `counts`
      kVoted,    // the last vote for `kind` is here: see vote
      kDecided,  // `kind` is decided: `vote`
    };
    What what = What::kNothing;
    LineNumber line = 0;
    ConsensusKind kind = kConsensusKinds;
    Vote vote;
    Vector<WireCount> counts;
  };
  // Takes a message in. What it has to do with logs, acknowledgements and the tree of votes is done.
  Heard receive(Rank from, const uint8_t* data, size_t size);

  // Tells all processes, along the edges of the tree but the one to `except`: each gets it once, and on the edge on
  // which votes and results run too, so that it cannot overtake what it came after.
  void flood_request(LineNumber line, Rank except);
  void flood_never(Rank except);
  void flood_removed(Rank except);
  void flood_forget(uint32_t round, Rank except);

  // ---- Votes: up the tree, the result comes down ----
  // Casts this process's vote. true: at process 0, all have voted, *merged: decide and announce.
  bool vote(ConsensusKind kind, const Vote& own, Vote* merged);
  // Tells the children what is decided.
  void announce(ConsensusKind kind, const Vote& result);

  // ---- Logs and orphans: from each to each that is concerned ----
  void send_log(Rank to, LineNumber line, Vector<WireCount> counts);
  void send_orphans(Rank to, const Vector<WireCount>& counts);
  // All that were sent have been received.
  bool delivered() const { return unacknowledged_ == 0; }
  // Calls visit(from, counts) for each log of this line that has arrived.
  template <class F>
  void each_log(LineNumber line, F visit) const {
    for (const Log& log : logs_)
      if (log.line == line) visit(log.from, log.counts);
  }
  bool has_logs(LineNumber line) const {
    for (const Log& log : logs_)
      if (log.line == line) return true;
    return false;
  }
  // Forgets the logs of this line and of earlier ones.
  void forget_logs(LineNumber line);

 private:
  struct Log {  // a `sent` table
    LineNumber line = 0;
    Rank from = 0;
    Vector<WireCount> counts;
  };

  void flood_number(Word word, uint32_t number, Rank except);
  void flood(const Bytes& bytes, Rank except);
  void send(Rank to, const Bytes& bytes) { host_.send_control(host_.context, to, bytes.data(), bytes.size()); }
  bool forward(ConsensusKind kind, Vote* merged);

  const Host& host_;
  Rank self_;
  Rank processes_;
  Vector<Log> logs_;
  uint64_t unacknowledged_ = 0;
  Consensus consensus_[kConsensusKinds];
};

}  // namespace elc::line

#endif
