// Collective operations: counted on each communicator; where they cross a line, their results are logged, and repeated
// after a restart (PROTOCOL.md, section 6; W2 of section 3).
#ifndef ELC_LINE_OPERATIONS_H
#define ELC_LINE_OPERATIONS_H

#include "line/comms.h"
#include "line/consensus.h"
#include "line/saved.h"

namespace elc::line {

class Operations {
 public:
  explicit Operations(Comms& comms) : comms_(comms) {}

  // ---- What the application does (see Coordinator) ----
  uint64_t start(Comm comm) { return ++comms_[comm].operations; }
  void pending(Comm comm, uint64_t number) { pending_.at(comm, number); }
  // `unfollowed`: the name of a call that cannot be logged; else nullptr.
  void end(Comm comm, uint64_t number, Bytes result, const char* unfollowed);
  bool wants(Comm comm, uint64_t number) const;
  bool none_pending(Comm comm) const { return pending_.none_of(comm); }
  // Neither a logged result nor a pending operation.
  bool idle() const { return logged_.size() + pending_.size() == 0; }

  // ---- Recovery ----
  void load(Saved& saved);
  const Bytes* logged_result(Comm comm, uint64_t number) const {
    const Operation* o = logged_.find(comm, number);
    return o == nullptr ? nullptr : &o->result;
  }
  // Results of operations that crossed the line are left to be repeated.
  bool repeats() const { return logged_.size() != 0; }

  // ---- A line ----
  // The local checkpoint: its counts and pending operations.
  void begin_line(Saved* saved);
  // What this process says of its communicators in consensus 1, sorted by identity.
  Vector<CommVote> votes() const;
  // Consensus 1 is done: these cross, the other results are dropped.
  void agreed(const Vector<CommVote>& crossing);
  bool any_crosses() const { return !crossing_.empty(); }
  bool crosses(Identity identity) const;
  // All operations that cross and that this process is late for have ended. (Ended, not only started: one that makes a
  // communicator brings in the operations on that one.)
  bool late_ended() const;
  // The name of one that the line would have to log and cannot; nullptr: there is none.
  const char* unfollowed() const { return unfollowed_; }
  // Those that were pending at the checkpoint have ended.
  bool pending_ended() const { return awaited_ended_ == awaited_.size(); }
  // Whether this process has started nothing on this communicator since the checkpoint.
  bool unchanged(Comm comm) const { return at_checkpoint(comm) == comms_[comm].operations; }
  // Moves the results to `saved`; the line needs no more.
  void save(Saved* saved);
  // No results are kept any more.
  void stop_keeping() { keeping_ = false; }
  void end_line();

 private:
  struct Operation {  // and perhaps its result
    bool complete = false;
    Bytes result;
  };
  struct Ended {  // the number-th on a communicator
    Comm comm = 0;
    uint64_t number = 0;
    Bytes result;
    const char* unfollowed = nullptr;
  };
  // By communicator and number.
  class Table {
   public:
    size_t size() const { return size_; }
    bool none_of(Comm comm) const { return comm >= operations_.size() || operations_[comm].size() == 0; }
    Operation* find(Comm comm, uint64_t number) {
      return comm < operations_.size() ? operations_[comm].find(number) : nullptr;
    }
    const Operation* find(Comm comm, uint64_t number) const { return const_cast<Table*>(this)->find(comm, number); }
    Operation& at(Comm comm, uint64_t number);  // made if it was not there
    void remove(Comm comm, uint64_t number);
    void clear() {
      operations_.clear();
      size_ = 0;
    }
    // Calls visit(comm, number, operation) for all.
    template <class F>
    void each(F visit) {
      for (Comm comm = 0; comm < operations_.size(); ++comm)
        operations_[comm].each([&](uint64_t number, Operation& operation) { visit(comm, number, operation); });
    }

   private:
    Vector<HashMap<Operation>> operations_;  // by communicator
    size_t size_ = 0;
  };
  struct Crossing {  // operations up to `last` were started by some member
    Identity identity = 0;
    uint64_t last = 0;
  };

  uint64_t at_checkpoint(Comm comm) const { return comm < checkpoint_.size() ? checkpoint_[comm] : 0; }
  bool late_for(Comm comm, uint64_t number) const;

  Comms& comms_;
  Table pending_;  // non-blocking ones that have not ended
  Table logged_;   // of the line restarted from: they crossed it

  // Of the open line.
  bool keeping_ = false;
  bool agreed_ = false;
  const char* unfollowed_ = nullptr;
  Vector<uint64_t> checkpoint_;  // operations by communicator
  Vector<Crossing> crossing_;
  Vector<Ended> results_;
  Table awaited_;  // pending at the checkpoint
  size_t awaited_ended_ = 0;
};

}  // namespace elc::line

#endif
