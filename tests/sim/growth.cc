#include "sim/growth.h"

#include <malloc.h>

#include <algorithm>
#include <ctime>
#include <cstdio>
#include <vector>

#include "line/event_logging.h"
#include "sim/random.h"

namespace sim {
namespace {

namespace line = elc::line;
using line::kAnySource;
using line::kAnyTag;
using line::Rank;
using line::Tag;

// One of two processes, whose MPI completes every receive and shows a row of messages when asked to.
class Alone {
 public:
  Alone() : process(host(), 0, 2, line::Options()) { process.add_comm(1, 2); }

  // Fills the pending queue: `n` messages are shown to a probe, and taken by a checkpoint that ends at once.
  void fill_queue(size_t n, bool each_its_tag) {
    line::Saved saved;
    saved.line = 1;
    saved.comms.push_back({1, 0, 2, false});
    for (size_t i = 0; i < n; ++i) {
      line::SavedMessage m;
      m.comm = 1;
      m.message = elc::make<line::Message>();
      m.message->source = 1;
      m.message->tag = each_its_tag ? static_cast<Tag>(i) : 5;
      m.message->arrived = true;
      saved.messages.push_back(std::move(m));
    }
    (void)process.load(std::move(saved));
  }

  line::Host host() {
    line::Host h;
    h.context = this;
    h.send_control = [](void*, Rank, const uint8_t*, size_t) {};
    h.posting_complete = [](void*, const line::Posting& p, Rank* source, Tag* tag) {
      *source = 1;
      *tag = p.pattern.tag == kAnyTag ? 5 : p.pattern.tag;
      return true;
    };
    h.probe = [](void*, const line::Pattern&, Rank*, Tag*) { return false; };
    return h;
  }

  line::EventLogging process;
};

// `n` receives are posted, and waited for in the opposite order.
void reversed(size_t n, bool each_its_tag, Rank source) {
  Alone a;
  std::vector<line::Posting> postings(n);
  for (size_t i = 0; i < n; ++i) {
    postings[i].pattern = {0, source, each_its_tag ? static_cast<Tag>(i) : 5};
    a.process.post(postings[i]);
  }
  for (size_t i = n; i-- > 0;) a.process.observe(postings[i], 1, each_its_tag ? static_cast<Tag>(i) : 5);
}

void take_one(Alone& a, Rank source, Tag tag) {
  line::Posting p;
  p.pattern = {0, source, tag};
  if (a.process.post(p)) return;
  a.process.observe(p, p.message->source, p.message->tag);
  line::let_go(p.message);
}

enum class Order { kForward, kBackward, kMixed };

void queue(size_t n, bool each_its_tag, Order order, Rank source, bool any_tag, bool probe) {
  Alone a;
  a.fill_queue(n, each_its_tag);
  std::vector<Tag> tags(n);
  for (size_t i = 0; i < n; ++i) tags[i] = each_its_tag ? static_cast<Tag>(i) : 5;
  if (order == Order::kBackward) std::reverse(tags.begin(), tags.end());
  Random random(1);
  if (order == Order::kMixed)
    for (size_t i = n; i > 1; --i) std::swap(tags[i - 1], tags[random.below(i)]);
  for (Tag tag : tags) {
    if (probe) (void)a.process.queued({0, source, any_tag ? kAnyTag : tag});
    else take_one(a, source, any_tag ? kAnyTag : tag);
  }
}

size_t allocated() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Two processes make and free communicators; control messages go to and fro at once. The bytes that they hold at the
// end.
size_t communicators(size_t n, bool messages) {
  const size_t before = allocated();
  struct Pair {
    struct Side {
      Pair* pair;
      Rank rank;
      line::EventLogging* process;
    } sides[2];
  } pair;
  const auto host = [&](Rank rank) {
    pair.sides[rank] = {&pair, rank, nullptr};
    line::Host h;
    h.context = &pair.sides[rank];
    h.send_control = [](void* c, Rank to, const uint8_t* data, size_t size) {
      auto& side = *static_cast<Pair::Side*>(c);
      side.pair->sides[to].process->on_control(side.rank, data, size);
    };
    return h;
  };
  line::EventLogging first(host(0), 0, 2, line::Options()), second(host(1), 1, 2, line::Options());
  pair.sides[0].process = &first;
  pair.sides[1].process = &second;
  for (auto& side : pair.sides) side.process->add_comm(1, 2);
  for (size_t i = 0; i < n; ++i) {
    const line::Identity identity = mix64(i + 2);
    for (auto& side : pair.sides) {
      side.process->start_collective(0);
      const line::Comm comm = side.process->add_comm(identity, 2);
      if (messages) side.process->on_send(1 - side.rank, comm, 5);
    }
    for (auto& side : pair.sides) {
      const line::Comm comm = side.process->add_comm(identity, 2);
      if (messages) {
        line::Posting p;
        p.pattern = {comm, 1 - side.rank, 5};
        side.process->post(p);
        side.process->observe(p, 1 - side.rank, 5);
      }
      side.process->start_collective(comm);
      side.process->free_comm(comm);
    }
    for (auto& side : pair.sides) side.process->poll();
  }
  return allocated() - before;
}

template <class Case>
void measure(const char* name, size_t n, Case run) {
  printf("  %-62s", name);
  for (const size_t size : {n / 10, n}) {
    const clock_t begin = clock();  // of the processor: others may be at work
    run(size);
    const double seconds = static_cast<double>(clock() - begin) / CLOCKS_PER_SEC;
    printf("  %8.0f ns", seconds * 1e9 / static_cast<double>(size));
  }
  printf("\n");
}

}  // namespace

void print_growth(size_t n) {
  printf("for each of %zu, and of %zu:\n", n / 10, n);
  measure("receives waited for in the opposite order, one tag", n, [](size_t k) { reversed(k, false, 1); });
  measure("the same, each with its own tag", n, [](size_t k) { reversed(k, true, 1); });
  measure("the same, from any source", n, [](size_t k) { reversed(k, true, kAnySource); });
  measure("pending messages of one tag, received by it", n,
          [](size_t k) { queue(k, false, Order::kForward, 1, false, false); });
  measure("pending messages, each with its own tag, in their order", n,
          [](size_t k) { queue(k, true, Order::kForward, 1, false, false); });
  measure("the same, in the opposite order", n, [](size_t k) { queue(k, true, Order::kBackward, 1, false, false); });
  measure("the same, in random order, from any source", n,
          [](size_t k) { queue(k, true, Order::kMixed, kAnySource, false, false); });
  measure("the same, by receives of any tag", n, [](size_t k) { queue(k, true, Order::kMixed, 1, true, false); });
  measure("a probe into them, in random order", n, [](size_t k) { queue(k, true, Order::kMixed, 1, false, true); });
  measure("communicators made and freed", n, [](size_t k) { communicators(k, false); });
  measure("the same, with a message on each", n, [](size_t k) { communicators(k, true); });
  for (const size_t k : {n, 10 * n})
    printf("  two processes hold after %zu communicators: %zu bytes\n", k, communicators(k, true));
}

}  // namespace sim
