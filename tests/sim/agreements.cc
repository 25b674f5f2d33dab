// What processes ask of each other and agree upon, without programs: when something is said, and to whom it is not.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "line/control.h"
#include "line/event_logging.h"
#include "sim/channel.h"

namespace {

namespace line = elc::line;
using line::Comm;
using line::Rank;
using Job = sim::Channel<line::EventLogging>;

line::Options options(size_t most_freed = 5) {
  line::Options o;
  o.most_freed = most_freed;
  return o;
}

// What has been said and has not arrived.
bool says(const Job& job, Rank from, line::Control::Word word) {
  return std::any_of(job.sent.begin(), job.sent.end(), [&](const Job::Message& m) {
    return m.from == from &&
           elc::Decoder(reinterpret_cast<const uint8_t*>(m.bytes.data()), m.bytes.size()).u32() == static_cast<uint32_t>(word);
  });
}

// Communicator 1, of all.
Comm add_comm(Job& job, Rank processes) {
  Comm comm = 0;
  for (Rank r = 0; r < processes; ++r) comm = job[r].add_comm(1, static_cast<uint32_t>(processes));
  return comm;
}

// All have their local checkpoint, and nothing has been said of it yet.
void open_line(Job& job, Rank processes) {
  job[0].request();
  job.settle();
  for (Rank r = 0; r < processes; ++r) CHECK(job[r].site());
}

void take_line(Job& job, Rank processes) {
  open_line(job, processes);
  job.settle();
}

elc::Bytes byte(uint8_t value) {
  elc::Bytes bytes;
  bytes.push_back(value);
  return bytes;
}

// A restart in which each process has to repeat an operation, so that nobody is released.
void restart(Job& job, Rank processes, line::Saved (*saved)(Rank)) {
  for (Rank r = 0; r < processes; ++r) REQUIRE(job[r].load(saved(r)).ok());
  for (Rank r = 0; r < processes; ++r) job[r].start_recovery();
  job.settle();
  for (Rank r = 0; r < processes; ++r) REQUIRE(job[r].running());
}

// From process 0, with tag 0.
line::SavedMessage in_transit() {
  line::SavedMessage m;
  m.comm = 1;
  m.message = elc::make<line::Message>();
  m.message->source = m.message->tag = 0;
  m.message->arrived = true;
  return m;
}

line::Saved repeats_operation(Rank) {
  line::Saved s;
  s.replay = true;
  s.comms.push_back({1, 4, 3, false});
  s.crossing.push_back({1, 5, byte(5)});
  return s;
}

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

// In the checkpoint, of what a probe has shown; or behind it, of what is in transit. The memory does not come back.
TEST_CASE("a line ends where there is no memory for a message that it has to hold, and the next one is taken") {
  for (const bool shown : {false, true}) {
    Job job(2, options());
    const Comm comm = add_comm(job, 2);
    job[0].on_send(1, comm, 7);
    job.there = {{0, 7}};
    if (shown) job[1].on_probe(comm, 0, 7);
    job.memory = false;
    job[0].request();
    job.settle();
    CHECK(job[0].site());
    CHECK(job[1].site() == !shown);
    job.settle();
    REQUIRE(job.ended.size() == 2);
    for (const auto& e : job.ended) CHECK((!e.committed && e.reason == line::kNoMemoryForMessage));
    job.memory = true;
    line::Posting receive;
    receive.pattern = {comm, 0, 3};
    CHECK((job[1].post(receive) && job[1].cancel(receive) == line::Fate::kOpen));
    job[0].request();
    job.settle();
    CHECK((job[0].site() && !job[1].site() && !job[1].line_open()));
    job[1].withdraw(receive);
    CHECK(job[1].site());
    job.settle();
    CHECK((job[0].committed_line() == 2 && job.there.empty()));
    line::Message* m = job[1].take_queued({comm, 0, 7});
    REQUIRE(m != nullptr);
    line::let_go(m);
  }
}

TEST_CASE("what a probe has shown while a line is open, and the line has taken, no later receive is taken to have") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  job[0].on_send(1, comm, 7);
  open_line(job, 2);
  job.there = {{0, 7}};
  job[1].on_probe(comm, 0, 7);
  job.settle();
  CHECK((job[1].committed_line() == 1 && job.there.empty()));
  line::let_go(job[1].take_queued({comm, 0, 7}));
  line::Posting receive;
  receive.pattern = {comm, 0, 7};
  CHECK(job[1].post(receive));
  take_line(job, 2);
  CHECK(job[1].committed_line() == 2);
  CHECK(job[1].cancel(receive) == line::Fate::kOpen);
}

// The first may have what was shown; when it is known to have something else, the second has it.
TEST_CASE("a receive that has what a probe has shown counts also where others are known later") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  job[0].on_send(1, comm, 1);
  job.there = {{0, 1}};
  job[1].on_probe(comm, 0, 1);
  job.there.clear();
  line::Posting any, exact;
  any.pattern = {comm, line::kAnySource, line::kAnyTag}, exact.pattern = {comm, 0, 1};
  for (line::Posting* p : {&any, &exact}) CHECK(job[1].post(*p));
  job[0].request();
  job.settle();
  CHECK((job[0].site() && !job[1].site()));
  job[1].on_send(1, comm, 5);
  job.complete[&any] = {1, 5}, job.complete[&exact] = {0, 1};
  CHECK(job[1].site());
  job.settle();
  CHECK(job[1].committed_line() == 1);
  CHECK(job[1].cancel(exact) == line::Fate::kReceived);
  job[1].observe(any, 1, 5);
  job[1].observe(exact, 0, 1);
}

TEST_CASE("what the receive of a call that is made again has is held beside what is in transit") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  for (int i = 0; i < 2; ++i) job[0].on_send(1, comm, 7);
  job.there = {{0, 7}};
  job[1].on_probe(comm, 0, 7);
  line::Posting receive;
  receive.pattern = {comm, 0, 7}, receive.repeated = true;
  CHECK(job[1].post(receive));
  job.complete[&receive] = {0, 7};
  take_line(job, 2);
  CHECK((job[1].committed_line() == 1 && job.there.empty()));
  CHECK(job.held.size() == 2);
  job[1].observe(receive, 0, 7);
}

// Process 1 has posted four receives; of (0, 1) one message is in transit, which the second of them has. What is
// observed tells first that the third is complete, then what it has, and by that of the second.
TEST_CASE("a message that is implied after a later one of its stream was sent before it") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  line::Posting p[4];
  const line::Pattern patterns[] = {{comm, 1, 9}, {comm, 0, line::kAnyTag}, {comm, line::kAnySource, 1}, {comm, 1, 1}};
  for (int i = 0; i < 4; ++i) {
    p[i].pattern = patterns[i];
    CHECK(job[1].post(p[i]));
  }
  const uint64_t in_transit = p[1].order;
  job[0].on_send(1, comm, 1);
  open_line(job, 2);
  job[0].on_send(1, comm, 1);
  job[1].observe(p[0], 1, 9);
  job[1].observe(p[3], 1, 1);
  job.complete[&p[1]] = job.complete[&p[2]] = {0, 1};
  job.settle();
  CHECK(job[1].committed_line() == 1);
  CHECK(job.held == std::vector<uint64_t>{in_transit});
  for (const int i : {1, 2}) job[1].observe(p[i], 0, 1);
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
    for (const auto& e : job.ended) CHECK((!e.committed && e.reason == "call"));
  }
}

TEST_CASE("a line that is to wait takes nothing out of the MPI") {
  line::Options waits = options();
  waits.drain = false;
  Job job(2, waits);
  const Comm comm = add_comm(job, 2);
  job[0].on_send(1, comm, 7);
  open_line(job, 2);
  job.there = {{0, 7}};
  job.settle();
  CHECK((job.ended.empty() && job.there.size() == 1));
  line::Posting receive;
  receive.pattern = {comm, 0, 7};
  CHECK(job[1].post(receive));
  job[1].observe(receive, 0, 7);
  job.settle();
  CHECK((job[1].committed_line() == 1 && job.held.size() == 1));
}

// The message from process 0 is with a receive that is not complete; behind it there is a later one.
TEST_CASE("a line takes what is in transit from one process while it waits for another one's") {
  Job job(3, options());
  const Comm comm = add_comm(job, 3);
  for (const Rank r : {0, 1}) job[r].on_send(2, comm, 7);
  line::Posting receive;
  receive.pattern = {comm, 0, 7};
  CHECK(job[2].post(receive));
  open_line(job, 3);
  job[0].on_send(2, comm, 3);
  job.there = {{0, 3}, {1, 7}};
  job.settle();
  CHECK((job.ended.empty() && job.there.size() == 1));
  job.complete[&receive] = {0, 7};
  job.settle();
  CHECK((job[2].committed_line() == 1 && job.held.size() == 2));
  job[2].observe(receive, 0, 7);
}

TEST_CASE("a line that is to be replayed waits for what its wildcard receives have") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  job[0].end_collective(comm, job[0].start_collective(comm), byte(1));
  line::Posting any, exact;
  any.pattern = {comm, line::kAnySource, 1}, exact.pattern = {comm, 1, 1};
  for (line::Posting* p : {&any, &exact}) CHECK(job[1].post(*p));
  open_line(job, 2);
  job[1].end_collective(comm, job[1].start_collective(comm), byte(1));
  job[1].observe(exact, 1, 1);
  job.settle();
  CHECK(job.ended.empty());
  job[0].on_send(1, comm, 1);
  job.complete[&any] = {0, 1};
  job.settle();
  CHECK(job[1].committed_line() == 1);
  CHECK(job.bound == std::vector<uint64_t>{any.number});
  job[1].observe(any, 0, 1);
}

TEST_CASE("a receive that is cancelled twice is withdrawn once") {
  Job job(2, options());
  const Comm comm = job[1].add_comm(1, 2);
  line::Posting receive;
  receive.pattern = {comm, 0, 0};
  CHECK(job[1].post(receive));
  for (int i = 0; i < 2; ++i) CHECK(job[1].cancel(receive) == line::Fate::kOpen);
  job[0].request();
  job.settle();
  CHECK((job[0].site() && !job[1].site()));
  job[1].withdraw(receive);
  CHECK(job[1].site());
  job.settle();
  CHECK(job[1].committed_line() == 1);
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
    for (const auto& e : job.ended) CHECK((!e.committed && e.reason == (first ? "no space" : "MPI_Cancel of a receive")));
  }
}

// Of the receive that the queue has answered the fate is known.
TEST_CASE("a receive that has its message is cancelled in vain, and refuses no line") {
  Job job(2, options());
  for (Rank r = 0; r < 2; ++r) {
    line::Saved s;
    if (r == 1) {
      s.messages.push_back(in_transit());
      s.classes.push_back({0, 1, 0, 1});
    }
    REQUIRE(job[r].load(std::move(s)).ok());
  }
  const Comm comm = job[1].add_comm(1, 2);
  for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
  job.settle();
  job[0].request();
  job.settle();
  CHECK((job[0].site() && job[1].site()));
  line::Posting receive;
  receive.pattern = {comm, 0, 0};
  CHECK(!job[1].post(receive));
  CHECK(job[1].cancel(receive) == line::Fate::kReceived);
  job.settle();
  CHECK(job[1].committed_line() == 1);
  job[1].observe(receive, 0, 0);
  line::let_go(receive.message);
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

TEST_CASE("calls are followed until nothing is left in the queue") {
  for (const bool answered : {false, true}) {
    Job job(2, options());
    for (Rank r = 0; r < 2; ++r) {
      line::Saved s;
      if (r == 1) s.messages.push_back(in_transit());
      REQUIRE(job[r].load(std::move(s)).ok());
    }
    const Comm comm = job[1].add_comm(1, 2);
    for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
    CHECK((!job[0].running() && job[0].busy()));
    job.settle();
    CHECK((job[0].running() && !job[0].busy()));
    job[0].never();
    CHECK(job[0].busy());
    job.settle();
    CHECK((job[0].stopped() && !job[1].stopped() && !job[1].quiet()));
    CHECK((!job[0].busy() && !job[1].busy()));
    line::Posting receive;
    receive.pattern = {comm, 0, 0};
    if (answered) {
      CHECK(!job[1].post(receive));
      job.settle();
      CHECK((!job[1].stopped() && receive.state == line::Posting::State::kQueued));
      CHECK(job[1].cancel(receive) == line::Fate::kReceived);
      job[1].observe(receive, 0, 0);
      line::let_go(receive.message);
    } else {
      CHECK(job[1].queued({comm, 0, 1}) == nullptr);
      line::let_go(job[1].take_queued({comm, 0, line::kAnyTag}));
    }
    job.settle();
    CHECK((job[1].stopped() && job[1].quiet()));
    CHECK((job[1].post(receive) && !receive.open));
    CHECK(job[1].cancel(receive) == line::Fate::kOpen);
    CHECK(job[1].take_matched(comm, 0, 0) == nullptr);
  }
}

// ---- Release ----

TEST_CASE("who has nothing left to repeat says so at once") {
  using Word = line::Control::Word;
  for (const int what : {0, 1, 2, 3}) {
    Job job(2, options());
    const auto saved = [&](Rank r) {
      line::Saved s;
      s.replay = true;
      s.comms.push_back({1, 4, 2, false});
      if (r == 0 && what == 0) s.classes.push_back({1, 1, 3, -1});
      if (r == 1 && (what == 1 || what == 2)) s.crossing.push_back({1, 5, byte(5)});
      return s;
    };
    for (Rank r = 0; r < 2; ++r) REQUIRE(job[r].load(saved(r)).ok());
    const Comm comm = job[1].add_comm(1, 2);
    for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
    CHECK((!job[1].running() && job[1].busy()));
    while (!job[1].running()) {
      if (job.sent.empty()) job[0].poll();  // the other one does not look
      REQUIRE(!job.sent.empty());
      job.deliver();
    }
    CHECK(says(job, 1, Word::kRelease) == (what == 3));
    CHECK(job[1].replaying());
    job.settle();
    CHECK(job[1].replaying() == (what != 3));
    CHECK(job[1].sends_in_background() == (what != 3));
    CHECK(job[0].busy() == (what != 3));
    if (what == 3) continue;
    if (what == 0) {
      CHECK(!job[1].on_send(0, comm, 2));
      CHECK(!says(job, 1, Word::kRelease));
      CHECK(job[1].on_send(0, comm, 3));
    } else {
      CHECK(job[1].start_collective(comm) == 5);
      REQUIRE(job[1].logged_result(comm, 5) != nullptr);
      if (what == 1) job[1].end_collective(comm, 5, elc::Bytes());
      else job[1].end_unfollowed(comm, 5, "call");
    }
    CHECK(says(job, 1, Word::kRelease));
    job.settle();
    for (Rank r = 0; r < 2; ++r) CHECK((!job[r].replaying() && !job[r].sends_in_background() && !job[r].busy()));
    CHECK(!job[1].on_send(0, comm, 3));
  }
}

namespace {

line::Saved receives_bound(Rank rank) {
  line::Saved s = repeats_operation(rank);
  s.postings = 1;
  s.bound.push_back({2, 1, 7});
  s.bound.push_back({3, 1, 8});
  line::SavedOutcome o;
  o.kind = line::NdKind::kTest;
  s.outcomes.push_back(std::move(o));
  return s;
}

}  // namespace

// What was logged binds the calls that come, until one of them is another.
TEST_CASE("a program that takes another way than in the log gets what MPI has") {
  for (const int how : {0, 1, 2}) {
    Job job(3, options());
    restart(job, 3, receives_bound);
    const Comm comm = job[0].add_comm(1, 3);
    line::Posting first, second;
    first.pattern = {comm, line::kAnySource, 7};
    CHECK(!job[0].post(first));
    CHECK((first.state == line::Posting::State::kHeld && first.number == 2 && first.bound && first.bound_tag == 7));
    CHECK(!job[0].may_show(comm, 2, 7));
    CHECK(job[0].may_show(comm, 2, 6));
    job.settle();
    CHECK(job.started.empty());
    second.pattern = {comm, line::kAnySource, how == 2 ? 6 : 8};
    if (how == 0) job[0].end_replay();
    if (how == 1) CHECK(job[0].replay_outcome(line::NdKind::kProbe) == nullptr);
    const bool given = job[0].post(second);
    CHECK(given);
    job.settle();
    REQUIRE(job.started.size() == 1);
    CHECK((job.started[0] == &first && !first.bound && first.state == line::Posting::State::kStarted && !second.bound));
    CHECK(job[0].replay_outcome(line::NdKind::kTest) == nullptr);
    CHECK(job.strayed == 1);  // the operation has not been repeated
    job[0].withdraw(first);
    job[0].withdraw(second);
  }
}

// A receive is bound to a message with tag 7 of process 1. Whether it waits, and what it gets in the end: of the queue,
// of MPI as it is bound, or of MPI as it was called.
TEST_CASE("who takes another way behind the last thing that others depend on does not stray") {
  for (const bool behind : {false, true}) {
    Job job(2, options());
    for (Rank r = 0; r < 2; ++r) {
      line::Saved s;
      s.replay = true;
      s.comms.push_back({1, 4, 2, false});
      if (r == 0) s.crossing.push_back({1, 5, byte(5)});
      if (r == 0) s.classes.push_back({1, 1, 3, -1});
      line::SavedOutcome o;
      o.kind = line::NdKind::kTest;
      s.outcomes.push_back(std::move(o));
      REQUIRE(job[r].load(std::move(s)).ok());
    }
    const Comm comm = job[1].add_comm(1, 2);
    for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
    job.settle();
    if (behind) CHECK(job[1].on_send(0, comm, 3));
    job.settle();
    CHECK((job[1].replaying() && job[1].replay_outcome(line::NdKind::kProbe) == nullptr));
    CHECK(job.strayed == (behind ? 0 : 1));
  }
}

TEST_CASE("a bound receive waits for its message, unless its sender goes another way") {
  using State = line::Posting::State;
  struct Case {
    std::vector<line::Tag> queue, there;
    line::Tag before;  // what a receive asks for that was posted earlier and is held; 0: there is none
    State state;
    bool bound;
    line::Tag got;  // from the queue
  };
  const Case cases[] = {
      {{}, {}, 0, State::kHeld, true, 0},
      {{}, {7}, 0, State::kStarted, true, 0},
      {{}, {7, 9}, 0, State::kStarted, true, 0},
      {{}, {9, 7}, 0, State::kStarted, false, 0},
      {{}, {9, 7}, 9, State::kStarted, true, 0},
      {{}, {9, 7}, 8, State::kHeld, false, 0},
      {{}, {9}, 9, State::kHeld, true, 0},
      {{9, 7}, {}, 0, State::kQueued, true, 7},
      {{9}, {7}, 0, State::kQueued, false, 9},
      {{9}, {}, 0, State::kQueued, false, 9},
      {{9}, {}, 9, State::kHeld, true, 0},
      {{9, 6}, {}, 9, State::kHeld, false, 0},
      {{7}, {9}, 9, State::kQueued, true, 7},
      {{}, {7}, 9, State::kStarted, true, 0},
      {{}, {7}, 7, State::kHeld, true, 0},
      {{7}, {}, 7, State::kHeld, true, 0},
  };
  for (const Case& c : cases) {
    CAPTURE(&c - cases);
    Job job(2, options());
    for (Rank r = 0; r < 2; ++r) {
      line::Saved s;
      s.replay = true;
      s.comms.push_back({1, 4, 2, false});
      s.crossing.push_back({1, 5, byte(5)});
      for (const line::Tag tag : c.queue) {
        line::SavedMessage m;
        m.comm = 1;
        m.message = elc::make<line::Message>();
        m.message->source = 1, m.message->tag = tag;
        m.message->arrived = true;
        s.messages.push_back(std::move(m));
      }
      s.postings = c.before == 0 ? 1 : 0;
      s.bound.push_back({1, 0, c.before});
      s.bound.push_back({2, 1, 7});
      REQUIRE(job[r].load(std::move(s)).ok());
    }
    const Comm comm = job[0].add_comm(1, 2);
    for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
    job.settle();
    for (const line::Tag tag : c.there) job.there.push_back({1, tag});
    line::Posting before, receive;
    before.pattern = {comm, line::kAnySource, c.before};
    if (c.before != 0) CHECK(!job[0].post(before));
    receive.pattern = {comm, 1, line::kAnyTag};
    CHECK(job[0].post(receive) == (c.state == State::kStarted));
    REQUIRE(receive.number == 2);
    CHECK(receive.state == c.state);
    CHECK(receive.bound == c.bound);
    if (c.state == State::kQueued) CHECK(receive.message->tag == c.got);
    job.settle();
    CHECK((job.started.empty() && receive.state == c.state));
    if (c.before != 0) job[0].withdraw(before);
    if (c.state == State::kQueued) job[0].observe(receive, 1, c.got), line::let_go(receive.message);
    else job[0].withdraw(receive);
  }
}

TEST_CASE("what was held, and what was answered before, is followed to its end") {
  for (const bool held : {true, false}) {
    Job job(2, options());
    for (Rank r = 0; r < 2; ++r) {
      line::Saved s;
      s.replay = held;
      s.comms.push_back({1, 4, 2, false});
      if (held) s.crossing.push_back({1, 5, byte(5)});
      s.bound.push_back({1, 1, 7});
      line::SavedPosting p;
      p.number = 1;
      p.comm = 1;
      p.source = 1;
      p.tag = 7;
      p.answer.comm = 1;
      p.answer.message = elc::make<line::Message>();
      p.answer.message->source = 1, p.answer.message->tag = 7;
      p.answer.message->arrived = true;
      if (!held) s.receives.push_back(std::move(p)), s.postings = 1;
      REQUIRE(job[r].load(std::move(s)).ok());
    }
    const Comm comm = job[0].add_comm(1, 2);
    job[1].add_comm(1, 2);
    for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
    job.settle();
    line::Posting receive, more;
    receive.pattern = more.pattern = {comm, line::kAnySource, 7};
    if (held) {
      CHECK((!job[0].post(receive) && !job[0].post(more)));
      CHECK(job[0].cancel(more) == line::Fate::kWithdrawn);
      for (Rank r = 0; r < 2; ++r) job[r].end_collective(comm, job[r].start_collective(comm), elc::Bytes());
      job.settle();
      CHECK((job.started.size() == 1 && receive.state == line::Posting::State::kStarted));
    } else {
      CHECK(!job[0].post_again(receive, 1));
      CHECK((receive.state == line::Posting::State::kQueued && receive.pattern.source == 1));
    }
    job[0].never();
    job.settle();
    CHECK(job[1].stopped());
    CHECK(job[0].stopped() == held);
    if (held) continue;
    job[0].observe(receive, 1, 7);
    line::let_go(receive.message);
    job.settle();
    CHECK(job[0].stopped());
    CHECK(job[0].quiet());
  }
}

TEST_CASE("a receive that is held is withdrawn at once when it is cancelled") {
  Job job(3, options());
  restart(job, 3, receives_bound);
  const Comm comm = job[0].add_comm(1, 3);
  line::Posting receive, other;
  receive.pattern = {comm, line::kAnySource, 7};
  CHECK(!job[0].post(receive));
  CHECK(job[0].cancel(receive) == line::Fate::kWithdrawn);
  CHECK(job[0].may_show(comm, 1, 7));
  other.pattern = {comm, 2, 7};
  CHECK(job[0].post(other));
  job[0].withdraw(other);
  job.settle();
  CHECK(job.started.empty());
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
