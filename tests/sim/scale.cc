#include "sim/scale.h"

#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <vector>

#include "line/event_logging.h"
#include "sim/memory.h"

namespace sim {
namespace {

namespace line = elc::line;
using line::kAnySource;
using line::Rank;
using line::Tag;

constexpr line::Identity kWorld = 1, kRows = 1000, kColumns = 2000000000;
constexpr Tag kUsual = 7, kEarly = 8;  // of what is an orphan
constexpr int kMessages = 3;           // from each process to each of its partners
constexpr int kLate = 1;               // of 2: a process that is late for the last operation

class Job {
 public:
  Job(Pattern pattern, int processes);
  Price take_line();
  Price restart();

 private:
  struct Member {
    Member(Job& j, Rank r) : job(j), rank(r) {}
    line::Host host();
    Job& job;
    Rank rank;
    std::unique_ptr<line::Coordinator> process;
    std::vector<Rank> partners;
    std::vector<Rank> on_its_way;  // from these, a message that MPI shows
    elc::Bytes saved;
    bool late = false;
    uint64_t messages = 0, bytes = 0, in_mpi = 0;
    size_t memory = 0, most = 0;
  };
  struct Control {
    Rank from, to;
    uint64_t depth;
    std::vector<uint8_t> bytes;
  };

  // What the protocol does in `act` for this process, with what it takes of memory.
  template <class F>
  void in(Member& m, F act) {
    const size_t before = bytes_in_use();
    act();
    m.memory += bytes_in_use() - before;
    m.most = std::max(m.most, m.memory);
  }
  bool replays() const { return pattern_ == Pattern::kReplay; }
  void make(Member& m);
  void add_comms(Member& m) const;
  static void receive(Member& m, Rank from, Rank asked, Tag tag);
  static void operate(Member& m) { m.process->end_collective(0, m.process->start_collective(0), elc::Bytes()); }
  Rank right_of(const Member& m) const { return (m.rank + 1) % n_; }
  std::vector<Member*> those(bool late) const;
  void settle();
  Price price(bool right) const;
  static Share share(const std::vector<uint64_t>& of_each);

  Pattern pattern_;
  int n_;
  int side_;  // of the square
  std::vector<std::unique_ptr<Member>> members_;
  std::deque<Control> control_;
  uint64_t depth_ = 0;  // of what is being handled
  uint64_t most_depth_ = 0;
  bool committed_ = false;
  int voted_for_release_ = 0;
};

line::Host Job::Member::host() {
  line::Host h;
  h.context = this;
  h.send_control = [](void* c, Rank to, const uint8_t* data, size_t size) {
    Member& m = *static_cast<Member*>(c);
    for (Member* end : {&m, m.job.members_[static_cast<size_t>(to)].get()}) {
      ++end->messages;
      end->bytes += size;
    }
    m.job.control_.push_back({m.rank, to, m.job.depth_ + 1, std::vector<uint8_t>(data, data + size)});
  };
  h.vote_for_release = [](void* c) {
    Member& m = *static_cast<Member*>(c);
    ++m.job.voted_for_release_;
    m.in_mpi += 2 * static_cast<uint64_t>(std::ceil(std::log2(m.job.n_)));  // of a barrier by dissemination
  };
  h.all_voted_for_release = [](void* c) {
    const Job& job = static_cast<Member*>(c)->job;
    return job.voted_for_release_ == job.n_;
  };
  h.save_state = [](void*, line::LineNumber) { return elc::Result(); };
  h.save_line = [](void* c, line::LineNumber, const line::Saved& saved) {
    Member& m = *static_cast<Member*>(c);
    const size_t before = bytes_in_use();
    elc::Encoder out(&m.saved);
    saved.encode(out);
    m.memory -= bytes_in_use() - before;  // a file
    return elc::Result();
  };
  h.line_stable = [](void*, line::LineNumber, bool* stable) {
    *stable = true;
    return elc::Result();
  };
  h.commit = [](void* c, line::LineNumber, uint64_t, uint64_t, bool* done) {
    static_cast<Member*>(c)->job.committed_ = *done = true;
    return elc::Result();
  };
  h.removed = [](void*) {};
  h.ended = [](void*, line::LineNumber, bool, const line::Refusal&) {};
  h.posting_complete = [](void*, const line::Posting&, Rank*, Tag*) { return false; };
  h.copy_data = [](void*, const line::Posting&, line::Message*) {};
  h.start_receive = [](void*, line::Posting&) {};
  h.strayed = [](void*) {};
  h.probe = [](void* c, const line::Pattern& pattern, Rank* source, Tag* tag) {
    for (const Rank from : static_cast<Member*>(c)->on_its_way)
      if (pattern.matches(from, kUsual)) return *source = from, *tag = kUsual, true;
    return false;
  };
  h.take = [](void* c, line::Message* message) {
    std::erase(static_cast<Member*>(c)->on_its_way, message->source);
    return message->arrived = true;
  };
  return h;
}

Job::Job(Pattern pattern, int processes)
    : pattern_(pattern), n_(processes), side_(static_cast<int>(std::sqrt(static_cast<double>(processes)))) {
  for (Rank r = 0; r < n_; ++r) members_.push_back(std::make_unique<Member>(*this, r));
  const auto meet = [&](Rank a, Rank b) {
    members_[static_cast<size_t>(a)]->partners.push_back(b);
    members_[static_cast<size_t>(b)]->partners.push_back(a);
  };
  for (Rank r = 0; r < n_; ++r) {
    if (pattern == Pattern::kManager && r > 0) meet(0, r);
    if (pattern == Pattern::kNeighbours || pattern == Pattern::kReplay) meet(r, (r + 1) % n_);
    if (pattern == Pattern::kGrid && r % side_ > 0) meet(r - 1, r);
    for (Rank other = 0; pattern == Pattern::kAllToAll && other < r; ++other) meet(other, r);
    members_[static_cast<size_t>(r)]->late = replays() && r % 2 == kLate;
  }
}

void Job::make(Member& m) {
  in(m, [&] {
    const line::Options options;
    m.process.reset(elc::make<line::EventLogging>(m.host(), m.rank, n_, options));
  });
}

void Job::add_comms(Member& m) const {
  m.process->add_comm(kWorld, static_cast<uint32_t>(n_));
  if (pattern_ != Pattern::kGrid || m.rank >= side_ * side_) return;
  m.process->add_comm(kRows + static_cast<line::Identity>(m.rank / side_), static_cast<uint32_t>(side_));
  m.process->add_comm(kColumns + static_cast<line::Identity>(m.rank % side_), static_cast<uint32_t>(side_));
}

std::vector<Job::Member*> Job::those(bool late) const {
  std::vector<Member*> all;
  for (auto& m : members_)
    if (m->late == late) all.push_back(m.get());
  return all;
}

void Job::receive(Member& m, Rank from, Rank asked, Tag tag) {
  line::Posting posting;
  posting.pattern = {0, asked, tag};
  m.process->post(posting);
  m.process->observe(posting, from, tag);
}

// Everything arrives, and all go on as far as they can; at a site, who is not late.
void Job::settle() {
  const auto look = [](Member& m) {
    m.process->poll();
    if (!m.late) m.process->site();
  };
  do {
    for (auto& m : members_) in(*m, [&] { look(*m); });
    while (!control_.empty()) {
      const Control c = std::move(control_.front());
      control_.pop_front();
      depth_ = c.depth;
      most_depth_ = std::max(most_depth_, depth_);
      Member& m = *members_[static_cast<size_t>(c.to)];
      in(m, [&] {
        m.process->on_control(c.from, c.bytes.data(), c.bytes.size());
        look(m);
      });
    }
    depth_ = 0;
    for (auto& m : members_) in(*m, [&] { m->process->poll(); });
  } while (!control_.empty());
}

Share Job::share(const std::vector<uint64_t>& of_each) {
  Share s;
  for (const uint64_t one : of_each) {
    s.mean += static_cast<double>(one) / static_cast<double>(of_each.size());
    s.most = std::max(s.most, one);
  }
  return s;
}

Price Job::price(bool right) const {
  Price p;
  p.right = right;
  const auto of_all = [&](auto what) {
    std::vector<uint64_t> all;
    for (auto& m : members_) all.push_back(what(*m));
    return share(all);
  };
  p.messages = of_all([](const Member& m) { return m.messages; });
  p.bytes = of_all([](const Member& m) { return m.bytes; });
  p.memory = of_all([](const Member& m) { return m.most; });
  p.in_mpi = of_all([](const Member& m) { return m.in_mpi; });
  p.depth = most_depth_;
  return p;
}

Price Job::take_line() {
  for (auto& m : members_) {
    make(*m);
    in(*m, [&] {
      add_comms(*m);
      for (const Rank to : m->partners)
        for (int i = 0; i < kMessages; ++i) m->process->on_send(to, 0, kUsual);
      for (const Rank from : m->partners) {
        for (int i = 1; i < kMessages; ++i) receive(*m, from, from, kUsual);
        m->on_its_way.push_back(from);
      }
      if (replays() && !m->late) operate(*m);
    });
  }
  members_[0]->process->request();
  settle();
  if (replays()) {
    // Those who have their checkpoint send to those who have none, and these are late for an operation.
    const std::vector<Member*> late = those(true);
    for (Member* m : those(false)) in(*m, [&] { m->process->on_send(right_of(*m), 0, kEarly); });
    for (Member* m : late) {
      in(*m, [&] { receive(*m, m->rank - 1, kAnySource, kEarly); });
      m->late = false;
    }
    settle();
    for (Member* m : late) in(*m, [&] { operate(*m); });
    settle();
  }
  in(*members_[0], [&] { members_[0]->process->tell_removed(); });
  settle();
  return price(committed_);
}

Price Job::restart() {
  most_depth_ = 0;
  for (auto& m : members_) {
    m->process.reset();
    m->messages = m->bytes = m->memory = m->most = 0;
    make(*m);
  }
  bool right = true;
  for (auto& m : members_) {
    in(*m, [&] {
      line::Saved saved;
      elc::Decoder in(m->saved);
      right = line::Saved::decode(in, &saved).ok() && m->process->load(std::move(saved)).ok() && right;
      add_comms(*m);
      m->late = m->process->logged_result(0, 1) != nullptr;
    });
  }
  for (auto& m : members_) in(*m, [&] { m->process->start_recovery(); });
  settle();
  for (auto& m : members_) right = right && m->process->running() && m->process->sends_in_background() == replays();
  if (replays()) {
    for (Member* m : those(true)) in(*m, [&] { operate(*m); });
    for (Member* m : those(false)) in(*m, [&] { right = m->process->on_send(right_of(*m), 0, kEarly) && right; });
    settle();
    for (auto& m : members_) right = right && !m->process->sends_in_background();
  }
  return price(right);
}

// ---- The table ----

struct Row {
  int processes;
  Costs costs;
};

void print(const char* what, const Price& p) {
  printf("  %-8s %9.1f %9" PRIu64 "  %10.0f %10" PRIu64 "  %10.0f %10" PRIu64 "  %6" PRIu64 "  %6" PRIu64 "%s\n", what,
         p.messages.mean, p.messages.most, p.bytes.mean, p.bytes.most, p.memory.mean, p.memory.most, p.in_mpi.most, p.depth,
         p.right ? "" : "  NOT RIGHT");
}

// What there may be of something, with so much of it where there are `before` processes.
double allowed(double before, int n_before, int n, double partners, double each_level) {
  return before * partners + each_level * std::log2(static_cast<double>(n) / n_before);
}

bool grows_slowly(const char* pattern, const char* what, const Price& before, const Price& now, int n_before, int n, bool most,
                  double partners) {
  const struct {
    const char* of;
    Share before, now;
    double each_level;
  } all[] = {{"messages", before.messages, now.messages, 2}, {"bytes", before.bytes, now.bytes, 200}, {"memory", before.memory, now.memory, 300}};
  bool right = true;
  for (const auto& a : all) {
    const double was = most ? static_cast<double>(a.before.most) : a.before.mean, is = most ? static_cast<double>(a.now.most) : a.now.mean;
    if (is <= allowed(was, n_before, n, partners, a.each_level)) continue;
    printf("GROWS TOO FAST: %s, %s: %.0f %s for %d processes, %.0f for %d\n", pattern, what, is, a.of, n, was, n_before);
    right = false;
  }
  return right;
}

}  // namespace

const char* name(Pattern pattern) {
  switch (pattern) {
    case Pattern::kNeighbours: return "neighbours";
    case Pattern::kReplay: return "neighbours, and a log";
    case Pattern::kGrid: return "rows and columns";
    case Pattern::kManager: return "manager and workers";
    case Pattern::kAllToAll: return "all to all";
    case Pattern::kEnd: break;
  }
  return "";
}

Costs run_scale(Pattern pattern, int processes) {
  Job job(pattern, processes);
  Costs costs;
  costs.line = job.take_line();
  costs.restart = job.restart();
  return costs;
}

bool print_scale(int most) {
  constexpr int kFirst = 64;  // below it a tree has no depth
  bool right = true;
  for (uint8_t i = 0; i < static_cast<uint8_t>(Pattern::kEnd); ++i) {
    const auto pattern = static_cast<Pattern>(i);
    printf("%s\n  %-8s %19s  %21s  %21s  %6s  %6s\n", name(pattern), "", "control messages", "bytes of them", "bytes of memory", "in MPI", "depth");
    printf("  %-8s %9s %9s  %10s %10s  %10s %10s\n", "", "mean", "most", "mean", "most", "mean", "most");
    Costs first;
    for (int n = 4;; n = n < most && n * 4 > most ? most : n * 4) {
      if (n > (pattern == Pattern::kAllToAll ? std::min(most, 1024) : most)) break;
      const Costs costs = run_scale(pattern, n);
      printf(" %d processes\n", n);
      print("line", costs.line);
      print("restart", costs.restart);
      fflush(stdout);
      right = right && costs.line.right && costs.restart.right;
      if (n == kFirst) first = costs;
      if (n <= kFirst) continue;
      const double times = static_cast<double>(n) / kFirst;
      const double mean = pattern == Pattern::kAllToAll ? times : 1;
      const double of_one = pattern == Pattern::kAllToAll || pattern == Pattern::kManager ? times
                            : pattern == Pattern::kGrid                                 ? std::sqrt(times)  // rows and columns that there are
                                                                                        : 1;
      for (const bool line : {true, false}) {
        const Price &before = line ? first.line : first.restart, &now = line ? costs.line : costs.restart;
        const char* what = line ? "a line" : "a restart";
        right = grows_slowly(name(pattern), what, before, now, kFirst, n, false, mean) && right;
        right = grows_slowly(name(pattern), what, before, now, kFirst, n, true, of_one) && right;
      }
    }
  }
  return right;
}

}  // namespace sim
