// One memory window (MPI's), which fences alone synchronise, in one process: the epoch between two fences in
// which all its members take a line (PROTOCOL.md, section 6). What the members tell each other is carried by
// the layer above, which takes the greatest of each number.
#ifndef ELC_LINE_EPOCHS_H
#define ELC_LINE_EPOCHS_H

#include "line/coordinator.h"

namespace elc::line {

class Epochs {
 public:
  // ---- The fence that ends an epoch ----
  // Whether all members have to come to it before what was put off is issued: all of them do, or none.
  bool agreed() const { return line_ != 0; }
  void end() { line_ = 0; }

  // ---- And begins one ----
  static constexpr size_t kWords = 4;
  void say(const Coordinator& process, unsigned (&words)[kWords]) const;
  void begin(Coordinator& process, const unsigned (&greatest)[kWords]);

  // An operation of this process is called. true: it waits for the next fence.
  bool put_off(const Coordinator& process);

  // Whether a checkpoint for this line may be taken now.
  bool ready_for(LineNumber line) const;
  // Whether an operation waits for a fence.
  bool touched() const { return touched_; }
  // As a restart finds it: there was a fence, or not.
  void reset(bool fenced) {
    *this = Epochs();
    fenced_ = fenced;
  }

 private:
  bool fenced_ = false;   // there was one
  bool touched_ = false;  // an operation was called since
  LineNumber line_ = 0;   // to be taken in this epoch; 0: none
};

}  // namespace elc::line

#endif
