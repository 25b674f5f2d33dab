// What the open line keeps of what the application sees of messages and of chance: W1 and W3 of PROTOCOL.md, section 3,
// and the messages in transit that are found in W1 or taken from MPI (section 5).
#ifndef ELC_LINE_WINDOW_H
#define ELC_LINE_WINDOW_H

#include "line/saved.h"

namespace elc::line {

// In-transit messages of a class that the line does not hold yet.
struct Missing {
  Rank source = 0;
  Comm comm = 0;
  Tag tag = 0;
  uint64_t count = 0;
};

class Window {
 public:
  Window() = default;
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  ~Window() { end(); }

  // The local checkpoint is taken: from now on outcomes are recorded and contents kept.
  void begin();
  // The window closes; the outcomes of section 3, W3 stay in the line, or are dropped.
  void close(bool keep_outcomes);
  // The line needs no more contents.
  void stop_keeping() { keeping_ = false; }
  // The line has ended: everything is let go.
  void end();

  // ---- W3 ----
  bool recording() const { return recording_; }
  void record(NdKind kind, const Bytes& outcome);
  // What a receive got; of one that was implied in the window, perhaps only after that has closed.
  void record_receive(const Posting& posting, Rank source, Tag tag);
  void record_late(const Posting& posting, Rank source, Tag tag);
  // Moves the outcomes to `saved`.
  void save_outcomes(Saved* saved);

  // ---- W1 ----
  // Whether the open line has a use for contents of messages.
  bool keeping() const { return keeping_; }
  // A place among what the application receives (`order`: see Message), to be filled when the data are here; with a reference for the caller. nullptr where the line needs none. Source kAnySource: not known yet.
  Message* place(uint64_t order, Comm comm, Rank source, Tag tag);
  // It is known what is in transit and not held: sorted by source, communicator, tag.
  void identified(Vector<Missing>&& missing);
  // Holds of it what is in transit, and lets the rest go. Stops at a receive whose envelope is not known yet.
  void sift();
  bool sifted() const { return seen_.empty(); }

  // ---- What is in transit ----
  const Vector<Missing>& missing() const { return missing_; }
  // Messages of this class are missing: the entry, to be counted down; else nullptr.
  Missing* missing(Rank source, Comm comm, Tag tag);
  // Holds a message of the pending queue, or one that a receive has; the reference passes to the window.
  void hold(Message* message) { held_.push_back(message); }
  template <class F>
  void each_held(F visit) const {
    for (const Message* m : held_) visit(*m);
  }
  bool all_arrived() const;
  // Moves them out, with their references, in the order of their streams.
  Vector<Message*> take_held();

 private:
  bool recording_ = false;
  bool keeping_ = false;
  bool known_ = false;
  bool keep_outcomes_ = false;
  Vector<SavedOutcome> outcomes_;
  Vector<BoundReceive> bound_;
  Vector<Message*> seen_;  // in the order of observation, as far as not sifted
  bool ordered_ = true;    // that is the order of Message::order
  Vector<Missing> missing_;
  Vector<Message*> held_;  // in transit
};

}  // namespace elc::line

#endif
