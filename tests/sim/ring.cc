#include "sim/ring.h"

#include <malloc.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <vector>

#include "line/event_logging.h"

namespace sim {
namespace {

namespace line = elc::line;

class Ring {
 public:
  explicit Ring(int processes) : sent_(static_cast<size_t>(processes)) {
    for (int r = 0; r < processes; ++r) members_.push_back(std::make_unique<Member>(*this, r, processes));
  }

  RingResult run(int messages);

 private:
  struct Member {
    Member(Ring& r, line::Rank self, line::Rank processes)
        : ring(r), rank(self), process(host(), self, processes, line::Options()) {
      process.add_comm(1, static_cast<uint32_t>(processes));
    }
    line::Host host();
    Ring& ring;
    line::Rank rank;
    bool message_here = false;  // one from the left, with MPI
    line::EventLogging process;
  };
  struct Control {
    line::Rank from, to;
    uint64_t depth;
    std::vector<uint8_t> bytes;
  };

  static size_t allocated() { return mallinfo2().uordblks; }
  void receive(Member& m);
  void settle();

  std::vector<std::unique_ptr<Member>> members_;
  std::vector<uint64_t> sent_;
  std::deque<Control> control_;
  RingResult result_;
  uint64_t depth_ = 0;          // of what is being handled
  size_t start_ = allocated();  // of memory, before anything was made
};

line::Host Ring::Member::host() {
  line::Host h;
  h.context = this;
  h.send_control = [](void* c, line::Rank to, const uint8_t* data, size_t size) {
    Member& m = *static_cast<Member*>(c);
    Ring& ring = m.ring;
    ring.result_.bytes += size;
    ++ring.result_.messages;
    ring.result_.most_messages =
        std::max(ring.result_.most_messages, ++ring.sent_[static_cast<size_t>(m.rank)]);
    ring.control_.push_back({m.rank, to, ring.depth_ + 1, std::vector<uint8_t>(data, data + size)});
  };
  h.save_state = [](void*, line::LineNumber) { return elc::Result(); };
  h.save_line = [](void*, line::LineNumber, const line::Saved& saved) {
    const bool right = saved.messages.size() == 1 && saved.classes.size() == 1;  // the message on its way
    return right ? elc::Result() : elc::Result::error("not one message in transit");
  };
  h.line_stable = [](void*, line::LineNumber, bool* stable) {
    *stable = true;
    return elc::Result();
  };
  h.commit = [](void* c, line::LineNumber, uint64_t, uint64_t) {
    static_cast<Member*>(c)->ring.result_.committed = true;
    return elc::Result();
  };
  h.ended = [](void*, line::LineNumber, bool, const line::Refusal&) {};
  h.posting_complete = [](void*, const line::Posting&, line::Rank*, line::Tag*) { return false; };
  h.copy_data = [](void*, const line::Posting&, line::Message*) {};
  h.probe = [](void* c, const line::Pattern&, line::Rank* source, line::Tag* tag) {
    Member& m = *static_cast<Member*>(c);
    const int n = static_cast<int>(m.ring.members_.size());
    *source = (m.rank + n - 1) % n;
    *tag = 7;
    return m.message_here;
  };
  h.strayed = [](void*) {};
  h.take = [](void* c, line::Message* message) {
    static_cast<Member*>(c)->message_here = false;
    message->arrived = true;
    return true;
  };
  return h;
}

void Ring::receive(Member& m) {
  line::Posting posting;
  const line::Rank left =
      (m.rank + static_cast<int>(members_.size()) - 1) % static_cast<int>(members_.size());
  posting.pattern = {0, left, 7};
  m.process.post(posting);
  m.process.observe(posting, left, 7);
}

void Ring::settle() {
  size_t handled = 0;
  while (!control_.empty()) {
    const Control c = std::move(control_.front());
    control_.pop_front();
    depth_ = c.depth;
    result_.most_depth = std::max(result_.most_depth, depth_);
    line::EventLogging& p = members_[static_cast<size_t>(c.to)]->process;
    p.on_control(c.from, c.bytes.data(), c.bytes.size());
    p.poll();
    p.site();
    if (++handled % members_.size() == 0)
      result_.memory_in_line = std::max(result_.memory_in_line, (allocated() - start_) / members_.size());
  }
}

RingResult Ring::run(int messages) {
  const int n = static_cast<int>(members_.size());
  for (auto& m : members_)
    for (int i = 0; i < messages; ++i) m->process.on_send((m->rank + 1) % n, 0, 7);
  for (auto& m : members_) {
    for (int i = 1; i < messages; ++i) receive(*m);
    m->message_here = true;
  }
  result_.memory = (allocated() - start_) / members_.size();
  members_[0]->process.request();
  members_[0]->process.site();
  settle();
  return result_;
}

}  // namespace

RingResult run_ring(int processes, int messages) { return Ring(processes).run(messages); }

}  // namespace sim
