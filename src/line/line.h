// One recovery line in one process, from the local checkpoint to commit or refusal (PROTOCOL.md, sections 3 to 7).
#ifndef ELC_LINE_LINE_H
#define ELC_LINE_LINE_H

#include "base/text.h"
#include "line/control.h"
#include "line/operations.h"
#include "line/receives.h"

namespace elc::line {

struct Options {
  bool drain = true;         // section 5: drain, or wait until the application receives
  uint64_t max_transit = 0;  // bytes of messages a line may hold here; 0: no limit
  size_t most_freed = 1000;  // freed communicators to remember before all agree to forget them (section 6)
};

class Line {
 public:
  // What a line works on; it owns none of it.
  struct Parts {
    const Host& host;
    const Rank self;
    const Options& options;
    Comms& comms;
    Counts& counts;
    Operations& operations;
    Window& window;
    Receives& receives;
    const Replay& replay;
    Control& control;
    const uint64_t set_up;  // its account
  };
  Line(const Parts& parts, LineNumber number) : parts_(parts), number_(number) {}

  LineNumber number() const { return number_; }
  // The program points that it covers (D of section 2); this process's own until consensus 1 is done.
  uint64_t points() const { return saved_.points; }
  void add_cost(uint64_t cost) { cost_ += cost; }

  // The local checkpoint: freezes the counts, saves the state, sends the logs. `calls`: of site_now so far;
  // `group_call`: the last one of on_group_call, or nullptr.
  void take(uint64_t calls, const char* group_call);
  // The program has waited for a synchronous send behind it.
  void waited_synchronously() { waited_ = true; }
  // It must not be committed, for this reason; the first counts. Nothing is kept for it from now on.
  void refuse(const char* reason);
  // The same because of what the application does; not if its file is complete.
  void refuse_while_open(const char* reason) {
    if (phase_ < Phase::kSaved) refuse(reason);
  }
  // The same because of this call, or operation, which crosses and cannot be repeated.
  void refuse_crossing(const char* call);
  bool refused() const { return !reason_.empty(); }

  // Does what can be done next. kVote: *own is to be cast in *kind. `last`: the program ends.
  enum class Step : uint8_t { kWait, kAgain, kVote };
  Step step(bool last, ConsensusKind* kind, Vote* own);
  // What consensus 1 and 2 have decided.
  void taken_by_all(const Vote& result);
  void ready_everywhere(const Vote& result);
  // And consensus 3, for the first time, where files have told addresses: all vote in it again.
  void told_by_all(const Vote& result);
  // It has ended: its residues are the job's, or its counts are given back. What was kept is let go.
  void end(bool committed);

 private:
  enum class Phase : uint8_t { kTaken, kKnown, kClosed, kSaved, kDone };

  void send_logs();
  void identify();
  void hold(bool last);
  bool everything_held() const;
  bool state_saved();
  Result finish_file();
  void forget_freed();
  void tell_addresses(Vote* own);
  Step cast(ConsensusKind kind, ConsensusKind* cast, Vote* own) const;

  Parts parts_;
  LineNumber number_;
  Phase phase_ = Phase::kTaken;
  Text reason_;
  bool voted_ = false;     // in the consensus of this phase
  bool agreed_ = false;    // consensus 1 is done
  bool replayed_ = false;  // this process was replaying at the checkpoint
  bool waited_ = false;    // waited_synchronously
  bool looks_ = false;     // Host::looks, of any process
  bool are_told_ = false;  // the addresses of consensus 3
  uint64_t cost_ = 0;
  const char* group_call_ = nullptr;
  Vector<ClassEntry> frozen_;
  Vector<Residue> residue_;  // residue' of section 4, once known
  Saved saved_;              // filled in as things become known
};

}  // namespace elc::line

#endif
