// What a line holds of the messages that are on their way, and of the receives that wait for them, without programs.
#include <doctest/doctest.h>

#include "sim/job.h"

using namespace sim;

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
  for (Rank r = 0; r < 2; ++r) job[r].add_comm(2, 2);
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
  CHECK(job.held == std::vector<uint64_t>{receive.order, receive.order + 1});
  const line::Saved saved = file_of(job, 1);
  for (const line::SavedMessage& m : saved.messages) CHECK((m.comm == 1 && m.message->tag == 7));
  job[1].observe(receive, 0, 7);
}

// The first receive has its message and was not observed; a later message that it fits is in the queue.
TEST_CASE("what the queue answers counts at a checkpoint, with receives before it, unless the call is made again") {
  for (const bool repeated : {false, true}) {
    Job job(2, options());
    const Comm comm = add_comm(job, 2);
    line::Posting first, second;
    first.pattern = {comm, line::kAnySource, line::kAnyTag}, second.pattern = {comm, 0, 7};
    CHECK(job[1].post(first));
    job.complete[&first] = {1, 5};
    job[1].on_send(1, comm, 5);
    job[0].on_send(1, comm, 7);
    job.there = {{0, 7}};
    take_line(job, 2);
    CHECK((job[1].committed_line() == 1 && job.there.empty()));
    second.repeated = repeated;
    CHECK(!job[1].post(second));
    take_line(job, 2);
    CHECK(job[1].committed_line() == 2);
    CHECK(first.counted == !repeated);
    const line::Saved saved = file_of(job, 1);
    CHECK(saved.receives.size() == (repeated ? 1 : 2));
    CHECK((saved.receives[0].answer.message == nullptr) == repeated);
    job[1].observe(first, 1, 5);
    job[1].observe(second, 0, 7);
    line::let_go(second.message);
  }
}

// A probe has shown (0, 8), so that what the stream has before it is the past: the queue has three of (0, 7), one of
// which a call that is made again has got; one more is with MPI.
TEST_CASE("what comes before a message that a probe has shown counts once, wherever it is") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  for (int i = 0; i < 3; ++i) job[0].on_send(1, comm, 7);
  job.there = {{0, 7}, {0, 7}, {0, 7}};
  take_line(job, 2);
  CHECK((job[1].committed_line() == 1 && job.there.empty()));
  job[0].on_send(1, comm, 7);
  job[0].on_send(1, comm, 8);
  job.there = {{0, 7}, {0, 8}};
  job[1].on_probe(comm, 0, 8);
  line::Posting receive;
  receive.pattern = {comm, 0, line::kAnyTag}, receive.repeated = true;
  CHECK(!job[1].post(receive));
  const auto all_received = [&] {
    const line::Saved saved = file_of(job, 1);
    CHECK(saved.classes.empty());
    for (const line::SavedMessage& m : saved.messages) CHECK(m.message->counted);
    return saved.messages.size();
  };
  take_line(job, 2);
  CHECK((job[1].committed_line() == 2 && job.there.empty()));
  CHECK(all_received() == 5);
  job[1].observe(receive, 0, 7);
  line::let_go(receive.message);
  take_line(job, 2);
  CHECK(job[1].committed_line() == 3);
  CHECK(all_received() == 4);
}

// The data of what counts come when they come, and the program may wait for them somewhere else.
TEST_CASE("a line gets the data of a receive that counts when they are here, once, whatever is received meanwhile") {
  for (const bool before : {true, false}) {  // it counts before the checkpoint, or behind it
    Job job(2, options());
    const Comm comm = add_comm(job, 2);
    line::Posting p[4];
    for (int i = 0; i < 4; ++i) p[i].pattern = {comm, 0, i / 2 + 1};
    for (int i = 0; i < 2; ++i) {
      CHECK(job[1].post(p[i]));
      job[0].on_send(1, comm, 1);
    }
    job.stable = false;
    if (before) job[1].observe(p[1], 0, 1);
    open_line(job, 2);
    if (!before) job[1].observe(p[1], 0, 1);
    job.settle();
    for (int i = 2; i < 4; ++i) CHECK(job[1].post(p[i]));
    job[1].observe(p[3], 0, 2);
    job.settle();
    CHECK(job.files.count(1) == 0);
    for (const int i : {0, 2}) job.complete[&p[i]] = {0, i / 2 + 1};
    job.settle();
    CHECK(job.files.count(1) == 1);
    for (const int i : {0, 2}) job[1].observe(p[i], 0, i / 2 + 1);
    CHECK((job.copied[&p[0]] == 1 && job.copied[&p[2]] == 0));
    CHECK(job.held.size() == (before ? 0 : 2));
    job.stable = true;
    job.settle();
    CHECK(job[1].committed_line() == 1);
  }
}

// A restart fills the queue, the first line takes a message into it, and a receive has what came after that.
TEST_CASE("messages of one stream have their places, wherever they are") {
  Job job(2, options());
  for (Rank r = 0; r < 2; ++r) {
    line::Saved s;
    for (int i = 0; i < 3 && r == 1; ++i) s.messages.push_back(in_transit(0, 1 + i));
    for (int i = 0; i < 3 && r == 1; ++i) s.classes.push_back({0, 1, 1 + i, 1});
    REQUIRE(job[r].load(std::move(s)).ok());
  }
  const Comm comm = add_comm(job, 2);
  for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
  job.settle();
  job[0].on_send(1, comm, 4);
  job.there = {{0, 4}};
  take_line(job, 2);
  CHECK((job[1].committed_line() == 1 && job.there.empty()));
  line::Posting receive;
  receive.pattern = {comm, 0, 5};
  CHECK(job[1].post(receive));
  job[0].on_send(1, comm, 5);
  job.complete[&receive] = {0, 5};
  job.held.clear();
  take_line(job, 2);
  CHECK(job[1].committed_line() == 2);
  const line::Saved saved = file_of(job, 1);
  REQUIRE(saved.messages.size() == 5);
  for (int i = 0; i < 5; ++i) CHECK(saved.messages[static_cast<size_t>(i)].message->tag == 1 + i);
  for (size_t i = 1; i < 5; ++i) CHECK(job.held[i - 1] < job.held[i]);
  job[1].observe(receive, 0, 5);
}

TEST_CASE("no checkpoint while a receive is pending on a communicator that was freed") {
  Job job(2, options());
  const Comm comm[] = {add_comm(job, 2), job[1].add_comm(2, 2)};
  for (const Comm c : comm) {
    line::Posting receive;
    receive.pattern = {c, 0, 7};
    CHECK(job[1].post(receive));
    job[1].free_comm(c);
    job[1].request();
    CHECK(!job[1].site());
    job[1].observe(receive, 0, 7);
  }
  CHECK(job[1].site());
}

// What would show it, has it: the slot of a communicator that is forgotten is another one's soon.
TEST_CASE("a communicator with a message in the queue is not forgotten, by no line and no agreement") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  job[0].on_send(1, comm, 7);
  job.there = {{0, 7}};
  take_line(job, 2);
  CHECK((job[1].committed_line() == 1 && job.there.empty()));
  for (Rank r = 0; r < 2; ++r) job[r].free_comm(comm);
  for (line::Identity identity = 10; identity < 20; ++identity)
    for (Rank r = 0; r < 2; ++r) job[r].free_comm(job[r].add_comm(identity, 2));
  job.settle();
  CHECK((job.forgotten > 0 && !job[1].knows(10) && job[1].knows(1)));
  take_line(job, 2);
  CHECK((job[1].committed_line() == 2 && job[1].knows(1)));
  CHECK(file_of(job, 1).messages[0].comm == 1);
  for (line::Identity identity = 30; identity < 50; ++identity)
    CHECK(job[1].queued({job[1].add_comm(identity, 2), line::kAnySource, line::kAnyTag}) == nullptr);
}

// Process 1 has posted four receives; of (0, 1) one message is in transit, which the second of them has. What is
// observed tells first that the third is complete, then what it has, and by that of the second.
TEST_CASE("a message that is implied after a later one of its stream was sent before it") {
  for (const bool others : {true, false}) {  // are received before
    for (const bool more : {false, true}) {  // are received behind
      Job job(2, options());
      const Comm comm = add_comm(job, 2);
      line::Posting p[5];
      const line::Pattern patterns[] = {
          {comm, 1, 9}, {comm, 0, line::kAnyTag}, {comm, line::kAnySource, 1}, {comm, 1, 1}, {comm, 1, 8}};
      for (int i = 0; i < 5; ++i) {
        p[i].pattern = patterns[i];
        CHECK(job[1].post(p[i]));
      }
      const uint64_t in_transit = p[1].order;
      job[0].on_send(1, comm, 1);
      open_line(job, 2);
      job[0].on_send(1, comm, 1);
      if (others) job[1].observe(p[0], 1, 9), job[1].observe(p[3], 1, 1);
      else job[1].withdraw(p[0]), job[1].withdraw(p[3]), job[1].on_probe(comm, 1, 1);
      job.complete[&p[1]] = job.complete[&p[2]] = {0, 1};
      job[1].poll();
      if (more) job[1].observe(p[4], 1, 8);
      else job[1].withdraw(p[4]);
      job.settle();
      CHECK(job[1].committed_line() == 1);
      CHECK(job.held == std::vector<uint64_t>{in_transit});
      for (const int i : {1, 2}) job[1].observe(p[i], 0, 1);
    }
  }
}

TEST_CASE("a line that is to wait takes nothing out of the MPI, unless the program ends") {
  for (const bool ends : {false, true}) {
    line::Options waits = options();
    waits.drain = false;
    Job job(2, waits);
    const Comm comm = add_comm(job, 2);
    job[0].on_send(1, comm, 7);
    open_line(job, 2);
    job.there = {{0, 7}};
    job.settle();
    CHECK((job.ended.empty() && job.there.size() == 1));
    CHECK(!job[1].quiet());
    line::Posting receive;
    receive.pattern = {comm, 0, 7};
    if (ends) {
      job[1].finalize();
    } else {
      CHECK(job[1].post(receive));
      job[1].observe(receive, 0, 7);
    }
    job.settle();
    CHECK((job[1].committed_line() == 1 && job.held.size() == 1));
    CHECK(job.there.empty() == ends);
  }
}

TEST_CASE("a line does not wait for a message on a communicator that is gone here") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  job[0].on_send(1, comm, 7);
  for (Rank r = 0; r < 2; ++r) job[r].free_comm(comm);
  take_line(job, 2);
  CHECK((job[1].committed_line() == 1 && job.held.empty()));
  for (Rank r = 0; r < 2; ++r) CHECK(job[r].add_comm(2, 2) == comm);  // which lacks nothing
  take_line(job, 2);
  CHECK(job[1].committed_line() == 2);
}

// The message from process 0 is with a receive that is not complete. MPI shows nothing of that process, a message that
// was sent behind the line, or one that is like what is missing.
TEST_CASE("a line takes what is in transit from one process while it waits for another one's") {
  for (const line::Tag shown : {-1, 3, 7}) {
    Job job(3, options());
    const Comm comm = add_comm(job, 3);
    for (const Rank r : {0, 1}) job[r].on_send(2, comm, 7);
    line::Posting receive;
    receive.pattern = {comm, 0, 7};
    CHECK(job[2].post(receive));
    open_line(job, 3);
    job.there = {{1, 7}};
    if (shown >= 0) job[0].on_send(2, comm, shown), job.there.push_back({0, shown});
    job.settle();
    CHECK((job.ended.empty() && job.there.size() == (shown >= 0 ? 1 : 0)));
    job.complete[&receive] = {0, 7};
    job.settle();
    CHECK((job[2].committed_line() == 1 && job.held.size() == 2));
    job[2].observe(receive, 0, 7);
  }
}

TEST_CASE("a line waits for what its wildcard receives have, and binds them if it is to be replayed") {
  for (const bool replayed : {true, false}) {
    Job job(2, options());
    const Comm comm = add_comm(job, 2);
    const auto join = [&](Rank r) { job[r].end_collective(comm, job[r].start_collective(comm), byte(1)); };
    join(0);
    if (!replayed) join(1);
    line::Posting any, exact;
    any.pattern = {comm, line::kAnySource, 1}, exact.pattern = {comm, 1, 1};
    for (line::Posting* p : {&any, &exact}) CHECK(job[1].post(*p));
    open_line(job, 2);
    if (replayed) join(1);
    job[1].observe(exact, 1, 1);
    job.settle();
    CHECK(job.ended.empty());
    job[0].on_send(1, comm, 1);
    job.complete[&any] = {0, 1};
    job.settle();
    CHECK(job[1].committed_line() == 1);
    CHECK(job.bound == (replayed ? std::vector<uint64_t>{any.number} : std::vector<uint64_t>()));
    job[1].observe(any, 0, 1);
  }
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
  CHECK((job[0].quiet() && !job[1].quiet()));
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
