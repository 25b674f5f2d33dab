// Receives, probes and the pending queue: what is counted as received when, and who answers a receive (PROTOCOL.md,
// sections 1, 5 and 8).
#ifndef ELC_LINE_RECEIVES_H
#define ELC_LINE_RECEIVES_H

#include "line/comms.h"
#include "line/coordinator.h"
#include "line/counts.h"
#include "line/postings.h"
#include "line/queue.h"
#include "line/replay.h"
#include "line/window.h"

namespace elc::line {

class Receives {
 public:
  // Counts receives in `counts`, tells `window` what it sees, binds receives to what `replay` says.
  Receives(const Host& host, const Comms& comms, Counts& counts, Window& window, Replay& replay)
      : host_(host), comms_(comms), counts_(counts), window_(window), replay_(replay) {}

  // ---- What the application does (see Coordinator) ----
  bool post(Posting& posting) {
    posting.number = ++numbered_;
    return place(posting);
  }
  // The usual case, where nothing is queued or replayed: MPI has it.
  void post_usual(Posting& posting) {
    posting.number = ++numbered_;
    posting.order = ++events_;
    postings_.add(posting);
  }
  // The same for one that is posted and observed at once. false: it has to be posted, because of others, or a probe.
  bool receive_usual(Comm comm, Rank source, Tag tag) {
    if (!none_posted(comm) || !shown_.empty()) [[unlikely]] return false;
    ++numbered_;
    ++events_;
    ++counts_.at(source, comm, tag).received;
    return true;
  }
  // Nothing is posted, and no probe has shown anything.
  bool none_posted() const { return postings_.empty() && shown_.empty(); }
  // `answer`: what it had received already, or nullptr.
  bool post_again(Posting& posting, Message* answer);
  void observe(Posting& posting, Rank source, Tag tag);
  // Where nothing is queued, replayed or kept either: whether to observe this receive is to count it, because it is the
  // first of its communicator and no probe has shown anything; and the same done.
  bool is_usual(const Posting& posting) const { return posting.open && posting.before == nullptr && shown_.empty(); }
  void observe_usual(Posting& posting, Rank source, Tag tag) {
    ++counts_.at(source, posting.pattern.comm, tag).received;
    postings_.remove_first(posting);
  }
  Fate cancel(Posting& posting);
  void withdraw(Posting& posting) { unlink(posting); }
  Message* queued(const Pattern& pattern);
  Message* take_queued(const Pattern& pattern);
  Message* take_matched(Comm comm, Rank source, Tag tag);
  bool holds(Comm comm) const;
  bool may_show(Comm comm, Rank source, Tag tag) const;
  void on_probe(Comm comm, Rank source, Tag tag);
  // A receive has been posted that does not fit the log, since unbind_held().
  bool left_log() const { return left_log_; }
  // No message is queued.
  bool queue_empty() const { return queue_.empty(); }
  // And no receive has been answered from the queue or is held: MPI has all.
  bool idle() const { return queue_.empty() && answered_ == 0 && held_ == 0; }
  // From now on no receive is known here, and none is told.
  void stop();
  // No receive of this communicator is open.
  bool none_posted(Comm comm) const { return postings_.first(comm) == nullptr; }
  // Nobody will receive any more on it: it was freed here, and no receive is pending.
  bool gone(Comm comm) const { return comms_[comm].freed && none_posted(comm); }
  // No receive of it is open, no message of it is queued or was shown.
  bool none_of(Comm comm) const;

  // ---- Progress ----
  // Envelopes and data of receives that count although the application has not observed them.
  void look_at_counted();
  // Gives held receives to whoever can answer them now.
  void try_held();
  // Receives that are held go on as the application called them.
  void unbind_held();

  // Whether a receive has counted that the application has not seen complete.
  bool any_counted() const {
    bool any = false;
    postings_.each([&](const Posting& p) { any = any || p.counted; });
    return any;
  }

  // ---- The local checkpoint (section 3) ----
  // What belongs to the past is made so: what probes have shown is taken, and what the queue and MPI have decided is
  // counted. false: MPI has not told all of it yet, or a receive is pending on a communicator that was freed, which
  // a restart could not post again.
  bool settle_past();
  // There was no memory for a message that had to be taken: the line cannot be taken or kept.
  bool starved() const { return starved_; }
  // What of this the line saves, and what of it the window holds.
  void snapshot(Saved* saved);
  // Takes what is missing in `window` where it is certain to be that (section 5); `take`: also from MPI. Stops where it is
  // starved.
  void drain(bool take);
  // What MPI has matched at the end of the window is an outcome too, though the application has not observed it. The
  // sender of a synchronous message may have.
  void record_matched();
  // The line has ended: what was kept for it is let go.
  void forget_logs();

  // ---- Recovery ----
  void number_from(uint64_t number) { numbered_ = number; }
  // A message in transit, with a reference for the queue.
  void fill_queue(Message* message) {
    message->order = ++events_;
    queue_.add(message);
  }

 private:
  bool freed_pending() const;
  // By a probe, and not received yet. One for a class: a probe shows the first message of it that nobody has, and what
  // was shown before is that one, or is with a receive that had it by then.
  struct Shown {
    Comm comm = 0;
    Rank source = 0;
    Tag tag = 0;
    uint64_t order = 0;  // of the last event before that (Message::order): receives given to MPI later can get it
  };

  bool place(Posting& posting);
  void bind(Posting& posting);
  bool strays(const Posting& posting) const;
  bool settle(Posting& posting);
  void unlink(Posting& posting);
  bool answer_from_queue(Posting& posting);
  bool held_back(const Posting& posting) const;
  bool held_before(const Posting& posting, const Pattern& pattern) const;

  void count(Posting& posting);
  void count_receive(Posting& posting, Rank source, Tag tag);
  void count_queued(Posting& posting);
  void count_message(const Message& message);
  void imply(Posting& posting);
  void imply_until(const Posting* end, Comm comm, Rank source, Tag tag);
  void resolve(Posting& posting, Rank source, Tag tag);
  void log_observed(Posting& posting, Rank source, Tag tag);
  void fill_log(Posting& posting);

  void forget_shown(Comm comm, Rank source, Tag tag, uint64_t order);
  Posting* next_taker() const;
  bool settle_shown();
  void count_before(Message& message);
  bool take_shown();
  void imply_queued();
  Message* take_message(Comm comm, Rank source, Tag tag, bool counted);  // nullptr: starved

  Message* completion_of(Posting& posting);
  void drain_postings(Comm comm);
  bool drain_stream(Comm comm, Rank source);

  const Host& host_;
  const Comms& comms_;
  Counts& counts_;
  Window& window_;
  Replay& replay_;
  Postings postings_;
  PendingQueue queue_;
  Vector<Shown> shown_;
  uint64_t numbered_ = 0;  // postings and matched probes so far
  uint64_t events_ = 0;    // receives given to MPI and messages taken from it so far (Message::order)
  // Of the postings:
  size_t unresolved_ = 0;
  size_t cancelled_ = 0;
  size_t answered_ = 0;    // from the queue
  size_t held_ = 0;
  bool starved_ = false;
  bool left_log_ = false;
  bool look_ = false;      // a counted one may have an envelope or data to come
};

}  // namespace elc::line

#endif
