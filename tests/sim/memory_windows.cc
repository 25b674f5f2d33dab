// Memory windows under fences (PROTOCOL.md, section 6): random programs of fences, operations and sites over
// the coordinator. Of each line that commits, the memory that p has saved has to have what others had called
// for it before their checkpoints, and nothing else. Operations reach memory at any time until the fence.
#include <doctest/doctest.h>

#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "line/epochs.h"
#include "line/rules.h"
#include "sim/job.h"
#include "sim/random.h"

using namespace sim;
using line::Epochs;
using line::LineNumber;

namespace {

constexpr size_t kWindows = 2;

struct Operation {
  size_t id;
  Rank target;
};

class Fenced {
 public:
  explicit Fenced(uint64_t seed)
      : random_(seed), processes_(random_.between(2, 4)), job_(processes_, options()) {
    for (size_t w = 0; w < kWindows; ++w) {
      Window& window = windows_[w];
      for (Rank r = 0; r < processes_; ++r)
        if (w == 0 || r < 2 || random_.chance(0.5)) window.members.push_back(r);
      for (const Rank r : window.members)
        ends_[r][w].slot = job_[r].add_comm(w + 3, static_cast<uint32_t>(window.members.size()));
    }
    for (Rank r = 0; r < processes_; ++r) busy_.push_back(random_.chance(0.3) ? 0.02 : 0.3);
    fences_ = std::vector<size_t>(static_cast<size_t>(random_.between(4, 24)));
    for (size_t& w : fences_) w = random_.chance(0.7) ? 0 : 1;
    next_.resize(static_cast<size_t>(processes_));
    job_.settled = [this](Rank r) {
      bool ready = true;
      each_window(r,
                  [&](End& end, size_t) { ready = ready && end.epochs.ready_for(job_[r].last_line() + 1); });
      return ready;
    };
    job_.saves = [this](Rank r, LineNumber l) { saved_[l][r] = {calls_[r], copy_of(r)}; };
  }

  // What is wrong; and how many lines have committed.
  std::string run(int* committed) {
    for (int turns = 0; turns < 20000 && wrong_.empty(); ++turns) {
      bool all_done = true;
      for (const size_t at : next_) all_done = all_done && at == fences_.size();
      if (all_done) break;
      step(static_cast<Rank>(random_.below(static_cast<uint64_t>(processes_))));
      if (random_.chance(0.5)) deliver();
      if (random_.chance(0.05)) job_[random_rank()].request();
    }
    job_.settle();
    for (const auto& e : job_.ended)
      if (e.committed && e.rank == 0) check(e.line), ++*committed;
    return wrong_;
  }

 private:
  struct End {  // of a window at one process
    Epochs epochs;
    Comm slot = 0;
    int stage = 0;  // of the fence that it is in; 0: in none
    unsigned words[Epochs::kWords] = {};
    std::vector<Operation> put_off;
    std::set<size_t> memory;
    int epoch = 0;
  };
  struct Window {
    std::vector<Rank> members;
    std::vector<Operation> under_way;
  };
  struct Saved {
    std::set<size_t> calls;
    std::map<size_t, std::pair<int, std::set<size_t>>> windows;
  };

  Rank random_rank() { return static_cast<Rank>(random_.below(static_cast<uint64_t>(processes_))); }
  bool is_member(Rank r, size_t w) const { return ends_.at(r).count(w) > 0; }
  template <class F>
  void each_window(Rank r, F f) {
    for (auto& [w, end] : ends_[r]) f(end, w);
  }
  std::map<size_t, std::pair<int, std::set<size_t>>> copy_of(Rank r) {
    std::map<size_t, std::pair<int, std::set<size_t>>> copy;
    each_window(r, [&](End& end, size_t w) { copy[w] = {end.epoch, end.memory}; });
    return copy;
  }

  // One of the first messages of a pair arrives.
  void deliver() {
    if (job_.sent.empty()) return;
    const auto chosen = job_.sent[random_.below(job_.sent.size())];
    const auto first = std::find_if(job_.sent.begin(), job_.sent.end(), [&](const Job::Message& m) {
      return m.from == chosen.from && m.to == chosen.to;
    });
    std::rotate(job_.sent.begin(), first, first + 1);
    job_.deliver();
  }

  void reach(size_t w, const Operation& o) { ends_[o.target][w].memory.insert(o.id); }
  void issue(size_t w, const Operation& o) {
    if (random_.chance(0.5))
      reach(w, o);
    else
      windows_[w].under_way.push_back(o);
  }

  void step(Rank r) {
    job_[r].poll();
    size_t& at = next_[static_cast<size_t>(r)];
    if (at == fences_.size()) return;
    const size_t w = fences_[at];
    const bool fence = is_member(r, w);
    if (fence && ends_[r][w].stage > 0) return go_on(r, w, at);
    if (random_.chance(busy_[static_cast<size_t>(r)])) {
      job_[r].site();
    } else if (random_.chance(0.5)) {
      call(r);
    } else if (!fence) {
      ++at;
    } else {
      if (random_.chance(0.2)) job_[r].site();  // it has a label
      ends_[r][w].stage = 1;
    }
  }

  void call(Rank r) {
    const size_t w = random_.below(kWindows);
    if (!is_member(r, w) || ends_[r][w].epoch == 0) return;
    const Operation o{++operations_, random_.pick(windows_[w].members)};
    calls_[r].insert(o.id);
    of_window_[o.id] = {w, o.target};
    if (ends_[r][w].epochs.put_off(job_[r]))
      ends_[r][w].put_off.push_back(o);
    else
      issue(w, o);
  }

  unsigned greatest(size_t w, size_t word) {
    unsigned most = 0;
    for (const Rank m : windows_[w].members) most = std::max(most, told_[{w, m}][word]);
    return most;
  }

  // 1: it has come. 2: all have, if need be. 3: all that was issued has arrived, and it says what it knows. 4: it has heard
  // of all, and the epoch begins.
  void go_on(Rank r, size_t w, size_t& at) {
    End& end = ends_[r][w];
    Window& window = windows_[w];
    auto& told = told_[{w, r}];
    switch (end.stage) {
      case 1:
        end.stage = 2;
        return;
      case 2:
        if (end.epochs.agreed() && line::applies(line::Rule::kIssueTogether) && !all_in(end, w, 2)) return;
        end.epochs.end();
        for (const Operation& o : end.put_off) issue(w, o);
        end.put_off.clear();
        end.stage = 3;
        return;
      case 3:
        if (!all_in(end, w, 3)) return;
        for (const Operation& o : window.under_way) reach(w, o);
        window.under_way.clear();
        end.epochs.say(job_[r], end.words);
        std::copy(end.words, end.words + Epochs::kWords, told.begin());
        end.stage = 4;
        return;
      default:
        break;
    }
    if (!all_in(end, w, 4)) return;
    unsigned all[Epochs::kWords];
    for (size_t i = 0; i < Epochs::kWords; ++i) all[i] = greatest(w, i);
    end.stage = 0;
    ++end.epoch;
    end.epochs.begin(job_[r], all);
    const LineNumber last = job_[r].last_line();
    const bool inside = random_.chance(0.3) && job_[r].site();
    const uint64_t number = job_[r].start_collective(end.slot);
    if (inside && job_[r].last_line() != last)
      job_[r].end_collective(end.slot, number, elc::Bytes());
    else
      job_[r].end_unfollowed(end.slot, number, "MPI_Win_fence");
    ++at;
  }
  // Whether all members have come to this stage of the fence in which this one is, or have that behind them.
  bool all_in(const End& end, size_t w, int stage) {
    for (const Rank m : windows_[w].members) {
      const End& other = ends_[m][w];
      if (other.epoch < end.epoch || (other.epoch == end.epoch && other.stage < stage)) return false;
    }
    return true;
  }

  void check(LineNumber l) {
    auto& saved = saved_[l];
    for (size_t w = 0; w < kWindows; ++w)
      for (const Rank m : windows_[w].members)
        if (saved[m].windows[w].first != saved[windows_[w].members[0]].windows[w].first)
          wrong_ = "several epochs";
    for (const auto& [id, at] : of_window_) {
      const auto [w, target] = at;
      bool called = false;
      for (const auto& [r, state] : saved) called = called || state.calls.count(id) > 0;
      const bool there = saved[target].windows[w].second.count(id) > 0;
      if (called != there) wrong_ = called ? "an operation is lost" : "an operation comes twice";
    }
  }

  Random random_;
  Rank processes_;
  Job job_;
  std::map<Rank, std::map<size_t, End>> ends_;
  Window windows_[kWindows];
  std::vector<double> busy_;    // how often each comes to a site
  std::vector<size_t> fences_;  // of which window; the same order for all
  std::vector<size_t> next_;    // among them, for each process
  size_t operations_ = 0;
  std::map<Rank, std::set<size_t>> calls_;
  std::map<size_t, std::pair<size_t, Rank>> of_window_;
  std::map<std::pair<size_t, Rank>, std::array<unsigned, Epochs::kWords>> told_;
  std::map<LineNumber, std::map<Rank, Saved>> saved_;
  std::string wrong_;
};

}  // namespace

TEST_CASE("what is in the memory of a window is what was called before the checkpoints") {
  int committed = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    const std::string wrong = Fenced(seed).run(&committed);
    CHECK_MESSAGE(wrong.empty(), "seed " << seed << ": " << wrong);
  }
  printf("memory windows: %d lines have committed\n", committed);
  CHECK(committed > 1000);
}

TEST_CASE("members of a window agree on a line if one was asked for, and all have ended the one before") {
  Job job(2, options());
  Epochs epochs[2];
  const auto agreed_behind_a_fence = [&] {
    unsigned all[Epochs::kWords] = {};
    for (Rank r = 0; r < 2; ++r) {
      unsigned words[Epochs::kWords];
      epochs[r].end();
      epochs[r].say(job[r], words);
      for (size_t i = 0; i < Epochs::kWords; ++i) all[i] = std::max(all[i], words[i]);
    }
    for (Rank r = 0; r < 2; ++r) epochs[r].begin(job[r], all);
    CHECK(epochs[0].agreed() == epochs[1].agreed());
    return epochs[0].agreed();
  };
  CHECK((!agreed_behind_a_fence() && !job[0].due()));
  job[0].request();
  CHECK((agreed_behind_a_fence() && job[1].due()));  // which has not heard of it otherwise
  for (Rank r = 0; r < 2; ++r) CHECK(job[r].site());
  while (job[0].line_open()) {
    for (Rank r = 0; r < 2; ++r) job[r].poll();
    job.deliver();
  }
  job[0].request();
  CHECK((job[1].line_open() && !agreed_behind_a_fence()));
  job.settle();
  CHECK(agreed_behind_a_fence());
}

#ifdef ELC_TEST_FAULTS
TEST_CASE("without its rules it is not") {
  using line::Rule;
  for (const Rule rule :
       {Rule::kAgreeOnEpoch, Rule::kUntouched, Rule::kPutOff, Rule::kIssueTogether}) {
    line::left_out = rule;
    std::string wrong;
    int committed = 0;
    uint64_t seed = 1;
    for (; seed <= 20000 && wrong.empty(); ++seed) wrong = Fenced(seed).run(&committed);
    line::left_out = Rule{};
    printf("  %6llu rule %u: %s\n", static_cast<unsigned long long>(seed - 1), static_cast<unsigned>(rule),
           wrong.c_str());
    CHECK_MESSAGE(!wrong.empty(), "not seen: rule " << static_cast<unsigned>(rule));
  }
}
#endif
