// The pending queue: messages that the library has taken from MPI before the application received them (PROTOCOL.md,
// section 5), in the order of arrival. Receives and probes look here first. Whatever they ask for, the time does not
// depend on how many messages there are.
#ifndef ELC_LINE_QUEUE_H
#define ELC_LINE_QUEUE_H

#include "base/hash_map.h"
#include "line/types.h"

namespace elc::line {

class PendingQueue {
 public:
  PendingQueue() = default;
  PendingQueue(const PendingQueue&) = delete;
  PendingQueue& operator=(const PendingQueue&) = delete;
  ~PendingQueue();

  bool empty() const { return all_.first == nullptr; }
  // Whether there is none of this communicator.
  bool empty(Comm comm) const { return comm >= comms_.size() || comms_[comm].size() == 0; }
  // The queue takes over the caller's reference.
  void add(Message* message);
  // Takes a message out; its reference passes to the caller.
  void remove(Message* message);

  // The first message of this pattern for which `fits(message)` is true, or nullptr.
  template <class F>
  Message* find(const Pattern& pattern, F fits) const {
    if (empty(pattern.comm)) return nullptr;
    const List* list = comms_[pattern.comm].find(class_key(pattern.source, pattern.tag));
    if (list == nullptr) return nullptr;
    const size_t view = view_of(pattern.source == kAnySource, pattern.tag == kAnyTag);
    for (Message* m = list->first; m != nullptr; m = m->links[view].after)
      if (fits(*m)) return m;
    return nullptr;
  }

  // Calls visit(message) for each, in the order of arrival.
  template <class F>
  void each(F visit) const {
    for (Message* m = all_.first; m != nullptr; m = m->links[kAll].after) visit(*m);
  }

 private:
  struct List {
    Message* first = nullptr;
    Message* last = nullptr;
  };
  // A message is in one list for each way to ask for it, by Message::links.
  static constexpr size_t kViews = 4, kAll = 4;
  static size_t view_of(bool any_source, bool any_tag) { return (any_source ? 1u : 0u) + (any_tag ? 2u : 0u); }
  static uint64_t key_of(const Message& m, size_t view) {
    return class_key((view & 1) != 0 ? kAnySource : m.source, (view & 2) != 0 ? kAnyTag : m.tag);
  }
  static void append(List& list, Message* message, size_t view);
  static void take_out(List& list, Message* message, size_t view);

  Vector<HashMap<List>> comms_;  // by communicator, then by class_key
  List all_;
};

}  // namespace elc::line

#endif
