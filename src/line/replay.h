// What is left of the log of the line that the job was restarted from, until all processes are released
// (PROTOCOL.md, section 8): outcomes to repeat, receives to bind, sends to suppress, and the votes for release.
#ifndef ELC_LINE_REPLAY_H
#define ELC_LINE_REPLAY_H

#include "line/saved.h"

namespace elc::line {

class Replay {
 public:
  // Takes over the outcomes, the bound receives and the receives that were pending.
  void load(Saved& saved);

  // Whether this process repeats outcomes; and whether some process may.
  bool on() const { return on_; }
  bool anywhere() const { return anywhere_; }

  // The logged outcome of the call that comes, or nullptr. Valid until the next call. *misfit: the log has one of
  // another kind: the program takes another way.
  const Bytes* outcome(NdKind kind, bool* misfit);
  // What the posting of this number received, or nullptr.
  const BoundReceive* bound(uint64_t number) const;
  // Nothing depends on what is left of outcomes and bound receives.
  void forget_log();
  // The receives that were pending at the checkpoint.
  const Vector<SavedPosting>& pending() const { return pending_; }

  // Sends that their receivers have already.
  void add_suppressions(uint64_t count) { to_suppress_ += count; }
  void suppressed() { --to_suppress_; }
  bool suppresses() const { return to_suppress_ > 0; }

  // Release: a process votes when it has used up what it must not do again; when all have, it is released.
  bool voted() const { return voted_; }
  void vote() { voted_ = true; }
  void release() { on_ = false; }
  void all_released() { anywhere_ = false; }

 private:
  bool on_ = false;
  bool anywhere_ = false;
  bool voted_ = false;
  uint64_t to_suppress_ = 0;
  Vector<SavedOutcome> outcomes_;
  size_t next_ = 0;    // of outcomes_
  uint32_t uses_ = 0;  // of that one
  Vector<BoundReceive> bound_;
  Vector<SavedPosting> pending_;
};

}  // namespace elc::line

#endif
