// What processes ask of each other and agree upon, without programs: when something is said, and to whom it is not.
#include <doctest/doctest.h>

#include "line/rules.h"
#include "sim/job.h"
#include "sim/memory.h"

using namespace sim;

namespace {

// Why a line is refused that this call crosses, or in which a receive is cancelled.
std::string crossing(const char* call) {
  return std::string(call) + " crosses the line, and cannot be repeated; the next one is asked for as usual";
}
constexpr const char* kCancelled = "MPI_Cancel was called for a receive while messages crossed the line; the next one is asked for as usual";

}  // namespace

TEST_CASE("a line is asked for once, and not by who has said that he ends") {
  Job job(3, options());
  CHECK(!job[1].due());
  job[1].request();
  CHECK((job[1].due() && !job.sent.empty()));
  job.sent.clear();
  job[1].request();
  job[1].request_line(1);
  CHECK(job.sent.empty());
  for (const Rank r : {0, 2}) job[r].request();
  job.settle();
  for (Rank r = 0; r < 3; ++r) CHECK((!job[r].busy() && job[r].site() && job[r].line_open() && job[r].busy()));
  job[1].request();
  CHECK(!says(job, 1, line::Control::Word::kRequest));
  job.settle();
  for (Rank r = 0; r < 3; ++r) CHECK((job[r].committed_line() == 1 && !job[r].line_open() && !job[r].due()));
  CHECK((job.ended.size() == 3 && job.ended[0].committed));
  job[1].request_line(1);
  CHECK((job.sent.empty() && !job[1].due()));

  job[1].finalize();
  CHECK(says(job, 1, line::Control::Word::kVote));
  job.settle();
  job[1].request();
  CHECK((job.sent.empty() && !job[1].finished() && job[1].busy()));
  for (const Rank r : {0, 2}) job[r].finalize();
  job.settle();
  for (Rank r = 0; r < 3; ++r) CHECK(job[r].finished());
}

TEST_CASE("nobody hears of a line before its record is there, and nobody waits for that") {
  for (const bool records : {true, false}) {
    Job job(3, options());
    job.recorded = false;
    for (Rank r = 0; r < 3; ++r) job[r].request();
    job.settle();
    for (Rank r = 0; r < 3; ++r) CHECK(job[r].site());
    job.settle();
    for (Rank r = 0; r < 3; ++r) CHECK((job[r].line_open() && job[r].committed_line() == 0));
    for (Rank r = 0; r < 3; ++r) CHECK(!job[r].site());
    for (Rank r = 0; r < 3; ++r) job[r].finalize();
    job.settle();
    CHECK((job.ended.empty() && !job[0].finished()));
    (records ? job.recorded : job.records) = records;
    job.settle();
    CHECK(job.ended.size() == 3);
    for (const auto& e : job.ended) CHECK((e.committed == records && e.reason == (records ? "" : "no record")));
    for (Rank r = 0; r < 3; ++r) CHECK(job[r].finished());
  }
}

// Whose address it is knows nobody but the process itself: it hears of it when all have saved theirs.
TEST_CASE("a line that has an address of another process as a number is refused by that one, and else all are asked once") {
  for (const bool is_own : {true, false}) {
    Job job(5, options());
    job.told[3] = {{77, false, false, 0}, {5, true, false, 0}};
    job.told[4] = {{77, false, false, 0}};
    job.told[2] = {{6, false, false, 0}};
    job.own[2] = 6;  // which it has said that it is not
    job.own[1] = is_own ? 77 : 78;
    open_line(job, 5);
    job.settle();
    REQUIRE(job.ended.size() == 5);
    for (const auto& e : job.ended) CHECK((e.committed == !is_own && e.reason == (is_own ? "rank 3 has its address" : "")));
    job.ended.clear();
    job.told.clear();
    open_line(job, 5);
    job.settle();
    for (const auto& e : job.ended) CHECK(e.committed);
  }
}

TEST_CASE("that lines are removed each hears once, but from who does not end") {
  Job job(6, options());
  job[0].tell_removed();
  job.settle();
  std::sort(job.told_of_removal.begin(), job.told_of_removal.end());
  CHECK(job.told_of_removal == std::vector<Rank>{1, 2, 3, 4, 5});
  for (Rank r = 0; r < 6; ++r) job[r].finalize();
  job.settle();
  CHECK(job[0].finished());
  job[0].tell_removed();
  CHECK(job.sent.empty());
}

TEST_CASE("who cannot save its state refuses, for that reason, keeps nothing, and its call takes no line") {
  Job job(3, options());
  const Comm comm = job[0].add_comm(1, 3);
  job[0].request();
  job.settle();
  job.fails = 0;
  CHECK((job[2].site() && job[2].recording()));
  CHECK(!job[0].site());
  CHECK((job[0].line_open() && !job[0].recording()));
  CHECK(job[0].take_matched(comm, 1, 0) == nullptr);
  CHECK(!job[0].wants_result(comm, job[0].start_collective(comm)));
  job[0].never();
  job[1].site();
  job.settle();
  REQUIRE(job.ended.size() == 3);
  for (const auto& e : job.ended) CHECK((!e.committed && e.reason == "no space"));
}

TEST_CASE("a line is refused for what the program does while it is open, unless its file is complete") {
  for (const bool complete : {false, true}) {
    Job job(2, options());
    job[1].refuse_line("early");
    job[0].request();
    job.settle();
    job.stable = false;
    for (Rank r = 0; r < 2; ++r) CHECK(job[r].site());
    if (complete) job.settle();
    CHECK(job.ended.empty());
    job[1].refuse_line("call");
    job.stable = true;
    job.settle();
    REQUIRE(job.ended.size() == 2);
    for (const auto& e : job.ended) CHECK((e.committed == complete && e.reason == (complete ? "" : "call")));
  }
}

TEST_CASE("who declines a line while the one before it is open has something to look after when that has ended") {
  Job job(2, options());
  open_line(job, 2);
  job[1].decline(2, "apart");
  CHECK(job[1].last_line() == 1);
  while (job[1].line_open()) {
    for (Rank r = 0; r < 2; ++r) job[r].poll();
    job.deliver();
  }
  CHECK((job[1].committed_line() == 1 && !job[1].due() && job[1].busy()));
  job[1].poll();
  CHECK((job[1].last_line() == 2 && !job[1].recording()));
  job[0].site();
  job.settle();
  CHECK((job.ended.back().reason == "apart" && !job[1].busy()));
}

// Each has made the call by which it sends before its checkpoint, and makes the one by which it receives behind it: as many
// calls at both.
static Job pairs_cross() {
  Job job(2, options());
  job[0].request();
  job.settle();
  for (Rank r = 0; r < 2; ++r) job[r].on_pair_call(1 - r, true, "MPI_Psend_init");
  for (Rank r = 0; r < 2; ++r) CHECK(job[r].site());
  for (Rank r = 0; r < 2; ++r) job[r].on_pair_call(1 - r, false, "MPI_Precv_init");
  job.settle();
  return job;
}
TEST_CASE("calls of a pair that cross a line both ways do not make up for each other") {
  Job job = pairs_cross();
  CHECK((job.ended.size() == 2 && !job.ended[0].committed && job.ended[0].reason == crossing("MPI_Psend_init")));
  take_line(job, 2);
  CHECK(job.ended.back().committed);
#ifdef ELC_TEST_FAULTS
  line::left_out = line::Rule::kPairWays;
  CHECK(pairs_cross().ended[0].committed);
  line::left_out = line::Rule{};
#endif
}

TEST_CASE("an operation that is not followed and that all make behind the line does not concern it") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  open_line(job, 2);
  for (Rank r = 0; r < 2; ++r) job[r].end_unfollowed(comm, job[r].start_collective(comm), "call");
  job.settle();
  CHECK(job[1].committed_line() == 1);
}

TEST_CASE("lines leave nothing behind") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  size_t used = 0;
  for (int n = 0; n < 300; ++n) {
    if (n == 100) used = sim::bytes_in_use();
    job[0].on_send(1, comm, 7);
    job.there = {{0, 7}};
    take_line(job, 2);
    REQUIRE(job[1].committed_line() == static_cast<line::LineNumber>(n + 1));
    line::let_go(job[1].take_queued({comm, 0, 7}));
    job.ended.clear(), job.held.clear();
  }
  CHECK(sim::bytes_in_use() <= used + 4096);
}

TEST_CASE("a line waits for the results of what was pending at the checkpoint") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  const uint64_t number = job[0].start_collective(comm);
  job[0].pending_collective(comm, number);
  job[1].end_collective(comm, job[1].start_collective(comm), byte(1));
  take_line(job, 2);
  CHECK((job.ended.empty() && job[0].wants_result(comm, number)));
  job[0].end_collective(comm, number, byte(1));
  job.settle();
  CHECK((job[0].committed_line() == 1 && job[1].committed_line() == 1));
}

TEST_CASE("of several reasons to refuse a line the first is told") {
  Job job(2, options());
  open_line(job, 2);
  for (const char* why : {"first", "second"}) job[1].refuse_line(why);
  job.settle();
  REQUIRE(job.ended.size() == 2);
  for (const auto& e : job.ended) CHECK((!e.committed && e.reason == "first"));
}

TEST_CASE("one operation that is not followed refuses the line, whatever ends beside it") {
  for (const bool first : {false, true}) {
    Job job(2, options());
    Comm comm[2] = {};
    for (int i = 0; i < 2; ++i)
      for (Rank r = 0; r < 2; ++r) comm[i] = job[r].add_comm(static_cast<line::Identity>(1 + i), 2);
    uint64_t number[2];
    for (int i = 0; i < 2; ++i) job[0].pending_collective(comm[i], number[i] = job[0].start_collective(comm[i]));
    open_line(job, 2);
    for (const int i : {first ? 0 : 1, first ? 1 : 0}) {
      if (i == 0) job[0].end_unfollowed(comm[i], number[i], "call");
      else job[0].end_collective(comm[i], number[i], byte(1));
      job[1].end_collective(comm[i], job[1].start_collective(comm[i]), byte(1));
    }
    job.settle();
    REQUIRE(job.ended.size() == 2);
    for (const auto& e : job.ended) CHECK((!e.committed && e.reason == crossing("call")));
  }
}

// A line ends with the first agreement in which somebody says no: nobody waits for what it would need else.
TEST_CASE("a line that one refuses ends although others lack something") {
  for (const bool first : {true, false}) {
    Job job(3, options());
    const Comm comm = add_comm(job, 3);
    job[1].start_collective(comm);
    job[1].on_send(0, comm, 0);  // never arrives
    job[0].request();
    job.settle();
    job.fails = first ? 2 : -1;
    for (Rank r = 0; r < 3; ++r) CHECK(job[r].site() == (job.fails != r));
    job.settle();
    if (!first) {
      CHECK(job.ended.empty());
      line::Posting receive;
      receive.pattern = {comm, 0, 0};
      CHECK(job[2].post(receive));
      CHECK(job[2].cancel(receive) == line::Fate::kOpen);
      job[0].end_collective(comm, job[0].start_collective(comm), elc::Bytes());
      job.settle();
      job[2].withdraw(receive);
    }
    CHECK(job.ended.size() == 3);
    for (const auto& e : job.ended) CHECK((!e.committed && e.reason == (first ? "no space" : kCancelled)));
  }
}

// The line covers as many program points as a process had come to that could not take it at once.
TEST_CASE("a program point that meets an open line asks for one only if that did not cover it") {
  for (const int calls : {2, 3}) {
    Job job(2, options());
    const Comm comm = job[1].add_comm(1, 2);
    line::Posting receive;
    receive.pattern = {comm, 0, 0};
    CHECK(job[1].post(receive));
    CHECK(job[1].cancel(receive) == line::Fate::kOpen);
    CHECK(!job[1].site_now());
    job[1].withdraw(receive);
    job.settle();
    CHECK(job[0].site_now());
    for (int i = 1; i < calls; ++i) CHECK(!job[0].site_now());
    CHECK(job[1].site_now());
    job.settle();
    CHECK(job[0].committed_line() == 1);
    CHECK(job[0].due() == (calls == 3));
    CHECK(job[1].due() == (calls == 3));
  }
}

TEST_CASE("the end of all lines: an open one is refused, and nobody asks for another") {
  Job job(2, options());
  const Comm comm = job[0].add_comm(1, 2);
  job[1].add_comm(1, 2);
  job[0].on_send(1, comm, 0);  // never arrives
  take_line(job, 2);
  CHECK((job.ended.empty() && job[0].line_open() && job[1].line_open()));
  job[0].never();
  CHECK(says(job, 0, line::Control::Word::kNever));
  job.settle();
  REQUIRE(job.ended.size() == 2);
  for (const auto& e : job.ended) CHECK((!e.committed && e.reason == "no line can be taken any more"));
  CHECK((job[0].stopped() && job[1].stopped()));
  job[0].never();
  job[1].request();
  CHECK((job.sent.empty() && !job[1].due() && !job[0].busy() && !job[1].busy()));
  for (line::Identity identity = 10; identity < 20; ++identity) job[1].free_comm(job[1].add_comm(identity, 2));
  CHECK(job.sent.empty());
}

// The first may leave as soon as all have said that they end: what is said to it later would stay on its way.
TEST_CASE("who has said that it ends does not say besides that it stops") {
  Job job(2, options());
  job[1].finalize();
  CHECK(says(job, 1, line::Control::Word::kVote));
  job.settle();
  job[0].never();
  while (!job.sent.empty()) {
    job.deliver();
    for (Rank r = 0; r < 2; ++r) job[r].poll();
    CHECK(!says(job, 1, line::Control::Word::kVote));
  }
  job[0].finalize();
  job.settle();
  for (Rank r = 0; r < 2; ++r) CHECK((job[r].finished() && !job[r].stopped()));
}

TEST_CASE("a request that crosses the end of all lines is refused for it") {
  Job job(2, options());
  job[0].request();
  CHECK(job[0].site());
  job[1].never();
  job.settle();
  REQUIRE(job.ended.size() == 2);
  for (const auto& e : job.ended) CHECK((!e.committed && e.reason == "no line can be taken any more"));
  for (Rank r = 0; r < 2; ++r) CHECK(job[r].stopped());
}

TEST_CASE("who ends takes no line, and says why") {
  Job job(2, options());
  job[0].finalize();
  job[1].request();
  job.settle();
  CHECK(job[1].site());
  job.settle();
  REQUIRE(job.ended.size() == 2);
  for (const auto& e : job.ended) CHECK((!e.committed && e.reason == line::kProgramEnds));
}

// ---- Forgetting ----

namespace {

// Where no line is taken, all agree now and then to forget what all have freed: its slots are used again. The last
// slot that is used, where the last process, which is no member, is doing something else.
Comm last_slot(void (*busy)(Job&)) {
  Job job(3, options());
  if (busy != nullptr) busy(job);
  if (busy != nullptr && !job[0].busy()) job.sent.clear();  // nobody else hears of it
  Comm last = 0;
  for (line::Identity identity = 2; identity <= 200; ++identity) {
    for (Rank r = 0; r < 2; ++r) {
      const Comm comm = job[r].add_comm(identity, 2);
      last = std::max(last, comm);
      job[r].on_send(1, comm, 0);
      job[r].free_comm(comm);
    }
    CHECK((job.sent.empty() || job[0].busy() || job[1].busy()));
    while (!job.sent.empty()) job.deliver();
  }
  for (Rank r = 0; r < 3; ++r) CHECK(!job[r].finished());
  CHECK((job.forgotten > 0) == (busy == nullptr));
  if (busy == nullptr)
    for (Rank r = 0; r < 3; ++r) CHECK(!job[r].busy());
  return last;
}

}  // namespace

TEST_CASE("communicators that are made and freed without end need a few slots, unless somebody is busy") {
  CHECK(last_slot(nullptr) < 15);
  CHECK(last_slot([](Job& job) { job[2].request(); }) >= 198);
  CHECK(last_slot([](Job& job) { job[2].request(), job[2].site(); }) >= 198);
  CHECK(last_slot([](Job& job) { job[2].finalize(); }) >= 198);
  CHECK(last_slot([](Job& job) { job[2].start_recovery(); }) >= 198);
  CHECK(last_slot([](Job& job) { restart(job, 3, repeats_operation); }) >= 198);
}

TEST_CASE("a communicator with a message that a probe has shown, or with a receive, is not forgotten") {
  Job job(2, options());
  Comm shown = 0, posted = 0;
  for (Rank r = 0; r < 2; ++r) {
    shown = job[r].add_comm(9, 2);
    posted = job[r].add_comm(8, 2);
  }
  line::Posting receive;
  receive.pattern = {posted, 1, 0};
  CHECK(job[0].post(receive));
  job.there = {{1, 0}};
  job[0].on_probe(shown, 1, 0);
  for (Rank r = 0; r < 2; ++r)
    for (const Comm comm : {shown, posted}) job[r].free_comm(comm);
  for (line::Identity identity = 10; identity < 20; ++identity)
    for (Rank r = 0; r < 2; ++r) job[r].free_comm(job[r].add_comm(identity, 2));
  job.settle();
  CHECK((job.forgotten > 0 && job[0].knows(9) && job[0].knows(8) && !job[0].knows(10)));
  job[0].withdraw(receive);
}

TEST_CASE("a line that commits forgets what all have freed before it, but not where a receive is posted") {
  Job job(2, options());
  Comm later = 0;
  for (Rank r = 0; r < 2; ++r) {
    for (const line::Identity before : {10, 12}) job[r].free_comm(job[r].add_comm(before, 2));
    later = job[r].add_comm(11, 2);
  }
  open_line(job, 2);
  line::Posting receive;
  receive.pattern = {later, 0, 7};
  CHECK(job[1].post(receive));
  for (Rank r = 0; r < 2; ++r) job[r].free_comm(later);
  job.settle();
  CHECK(job[1].committed_line() == 1);
  for (Rank r = 0; r < 2; ++r) CHECK((!job[r].knows(10) && !job[r].knows(12)));
  CHECK(job[1].knows(11));
  job[1].observe(receive, 0, 7);
}

TEST_CASE("communicators are forgotten in whatever order each process has made them") {
  Job job(2, options());
  for (int i = 0; i < 6; ++i)
    for (Rank r = 0; r < 2; ++r) {
      const line::Identity identity = static_cast<line::Identity>(r == 0 ? 10 + i : 15 - i);
      job[r].free_comm(job[r].add_comm(identity, 2));
    }
  job.settle();
  for (line::Identity identity = 10; identity < 16; ++identity)
    for (Rank r = 0; r < 2; ++r) CHECK(!job[r].knows(identity));
}

TEST_CASE("a round of forgetting: no line in it, and a commit puts it off") {
  Job job(2, options());
  const auto free_some = [&](line::Identity from, int n) {
    for (line::Identity identity = from; n > 0; --n, ++identity)
      for (Rank r = 0; r < 2; ++r) job[r].free_comm(job[r].add_comm(identity, 2));
  };
  free_some(10, 5);
  CHECK(job.sent.empty());
  take_line(job, 2);
  CHECK(job[0].committed_line() == 1);
  free_some(20, 5);
  CHECK((job.sent.empty() && !job[0].busy()));
  job.fails = 1;
  job[0].request();
  job.settle();
  CHECK((job[0].site() && !job[1].site()));
  job.settle();
  job.fails = -1;
  CHECK((job.ended.size() == 4 && !job.ended[3].committed && job[0].committed_line() == 1));
  CHECK(job.forgotten == 0);
  free_some(30, 1);  // an abandoned line puts off nothing
  CHECK((job[0].busy() && says(job, 0, line::Control::Word::kForget)));
  job[1].request();
  CHECK(!job[0].due());
  job.settle();
  CHECK(job.forgotten == 2);
  for (Rank r = 0; r < 2; ++r) CHECK((!job[r].knows(30) && job[r].due()));
}
