// What a restarted process repeats, what it holds until then, and when it is free to go on, without programs.
#include <doctest/doctest.h>

#include "sim/job.h"

using namespace sim;

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

TEST_CASE("who has not begun its recovery says nothing, but that there will be no line") {
  Job job(2, options());
  for (Rank r = 0; r < 2; ++r) REQUIRE(job[r].load(line::Saved()).ok());
  for (Rank r = 0; r < 2; ++r) {
    job[r].never();
    job[r].poll();
    CHECK(!says(job, r, line::Control::Word::kVote));
  }
  job.settle();
  for (Rank r = 0; r < 2; ++r) CHECK((!job[r].running() && !job[r].stopped()));
  for (Rank r = 0; r < 2; ++r) job[r].start_recovery();
  job.settle();
  for (Rank r = 0; r < 2; ++r) CHECK((job[r].running() && job[r].stopped()));
}

// Where the program keeps it, there may be something else by then.
TEST_CASE("who has stopped looks at no receive any more") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  line::Posting any, exact;
  any.pattern = {comm, line::kAnySource, 1}, exact.pattern = {comm, 0, 1};
  for (line::Posting* p : {&any, &exact}) CHECK(job[1].post(*p));
  job[1].observe(exact, 0, 1);
  CHECK(any.unresolved);
  job[0].never();
  job.settle();
  CHECK(job[1].stopped());
  job.complete[&any] = {0, 1};
  job.settle();
  CHECK(any.unresolved);
}

// ---- Release ----

TEST_CASE("who has nothing left to repeat says so at once") {
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
    CHECK(job.for_release.contains(1) == (what == 3));
    job.settle();
    CHECK(job[1].replaying() == (what != 3));
    CHECK(job[1].quiet() == (what == 3));
    CHECK(job[1].sends_in_background() == (what != 3));
    CHECK(job[0].busy() == (what != 3));
    if (what == 3) continue;
    if (what == 0) {
      CHECK(!job[1].on_send(0, comm, 2));
      CHECK(!job.for_release.contains(1));
      CHECK(job[1].on_send(0, comm, 3));
    } else {
      CHECK(job[1].start_collective(comm) == 5);
      REQUIRE(job[1].logged_result(comm, 5) != nullptr);
      if (what == 1) job[1].end_collective(comm, 5, elc::Bytes());
      else job[1].end_unfollowed(comm, 5, "call");
    }
    CHECK(job.for_release.contains(1));
    job.settle();
    for (Rank r = 0; r < 2; ++r) CHECK((!job[r].replaying() && !job[r].sends_in_background() && !job[r].busy()));
    CHECK(!job[1].on_send(0, comm, 3));
  }
}

TEST_CASE("who ends repeats nothing more, and says so") {
  Job job(3, options());
  restart(job, 3, repeats_operation);
  CHECK(!job.for_release.contains(1));
  job[1].finalize();
  CHECK(job.for_release.contains(1));
  while (!job.sent.empty()) {
    job.deliver();
    for (Rank r = 0; r < 3; ++r) CHECK(!says(job, r, line::Control::Word::kResult));
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

// A receive is bound to a message with tag 7 of process 1. Whether it waits, and what it gets in the end: of the queue,
// of MPI as it is bound, or of MPI as it was called.
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
      {{6, 9}, {}, 9, State::kHeld, false, 0},
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
      for (const line::Tag tag : c.queue) s.messages.push_back(in_transit(1, tag));
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
      p.answer = in_transit(1, 7);
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

// Who frees a communicator waits for that.
TEST_CASE("a communicator holds a receive until that is given to MPI, whatever was posted before it") {
  Job job(3, options());
  restart(job, 3, receives_bound);
  const Comm comm = job[0].add_comm(1, 3), other = job[0].add_comm(2, 3);
  line::Posting exact, any;
  exact.pattern = {comm, 2, 6}, any.pattern = {comm, line::kAnySource, 8};
  CHECK(job[0].post(exact));
  CHECK(!job[0].holds(comm));
  CHECK(!job[0].post(any));
  CHECK((job[0].holds(comm) && !job[0].holds(other)));
  job.there = {{1, 8}};
  job.settle();
  CHECK((job.started.size() == 1 && !job[0].holds(comm)));
  for (line::Posting* p : {&exact, &any}) job[0].withdraw(*p);
}

// Before it was posted a probe had shown another message, which it fits. That one is not for it.
TEST_CASE("a receive that is held has nothing at a checkpoint") {
  Job job(3, options());
  restart(job, 3, receives_bound);
  Comm comm = 0;
  for (Rank r = 0; r < 3; ++r) comm = job[r].add_comm(1, 3);
  job.there = {{2, 7}};
  job[0].on_probe(comm, 2, 7);
  line::Posting any;
  any.pattern = {comm, line::kAnySource, 7};
  CHECK(!job[0].post(any));
  job[0].request();
  job.settle();
  for (Rank r = 0; r < 3; ++r) CHECK(job[r].site());
  CHECK((!any.counted && job.there.empty()));
  CHECK(job[0].cancel(any) == line::Fate::kWithdrawn);
}

TEST_CASE("a receive that is held is withdrawn at once when it is cancelled") {
  Job job(3, options());
  restart(job, 3, receives_bound);
  const Comm comm = job[0].add_comm(1, 3);
  line::Posting receive, later, other;
  receive.pattern = {comm, line::kAnySource, 7};
  CHECK(!job[0].post(receive));
  later.pattern = {comm, line::kAnySource, 8};
  CHECK(!job[0].post(later));
  CHECK((!job[0].may_show(comm, 1, 7) && !job[0].may_show(comm, 1, 8)));
  CHECK(job[0].cancel(later) == line::Fate::kWithdrawn);
  CHECK(job[0].cancel(receive) == line::Fate::kWithdrawn);
  CHECK(job[0].may_show(comm, 1, 7));
  other.pattern = {comm, 2, 7};
  CHECK(job[0].post(other));
  job[0].withdraw(other);
  job.settle();
  CHECK(job.started.empty());
}
