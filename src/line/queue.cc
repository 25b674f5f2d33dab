#include "line/queue.h"

namespace elc::line {

PendingQueue::~PendingQueue() {
  for (Message* m = all_.first; m != nullptr;) {
    Message* const next = m->links[kAll].after;
    let_go(m);
    m = next;
  }
}

void PendingQueue::append(List& list, Message* message, size_t view) {
  Message::Link& link = message->links[view];
  link = {list.last, nullptr};
  (list.last == nullptr ? list.first : list.last->links[view].after) = message;
  list.last = message;
}

void PendingQueue::take_out(List& list, Message* message, size_t view) {
  const Message::Link link = message->links[view];
  (link.before == nullptr ? list.first : link.before->links[view].after) = link.after;
  (link.after == nullptr ? list.last : link.after->links[view].before) = link.before;
}

void PendingQueue::add(Message* message) {
  if (message->comm >= comms_.size()) comms_.resize(message->comm + 1);
  HashMap<List>& lists = comms_[message->comm];
  for (size_t view = 0; view < kViews; ++view) append(lists.at(key_of(*message, view)), message, view);
  append(all_, message, kAll);
}

void PendingQueue::remove(Message* message) {
  HashMap<List>& lists = comms_[message->comm];
  for (size_t view = 0; view < kViews; ++view) {
    const uint64_t key = key_of(*message, view);
    List& list = lists.at(key);
    take_out(list, message, view);
    if (list.first == nullptr) lists.remove(key);
  }
  take_out(all_, message, kAll);
  if (lists.size() == 0) lists.clear();
}

}  // namespace elc::line
