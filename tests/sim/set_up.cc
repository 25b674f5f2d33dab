// What the program's set-up may leave under way: nothing, because a restart runs it again.
#include <doctest/doctest.h>

#include "sim/job.h"

using namespace sim;

namespace {

void receive(Job& job, Rank self, Comm comm, Rank source, line::Tag tag) {
  line::Posting posting;
  posting.pattern = {comm, source, tag};
  CHECK(job[self].post(posting));
  job[self].observe(posting, source, tag);
}

uint64_t account(Job& job, Rank processes) {
  uint64_t all = 0;
  for (Rank r = 0; r < processes; ++r) all ^= job[r].account();
  return all;
}

}  // namespace

TEST_CASE("the accounts of all give 0 where all that was sent has been received, of each class") {
  Job job(3, options());
  const Comm comm = add_comm(job, 3);
  CHECK(account(job, 3) == 0);
  job[0].on_send(1, comm, 5);
  CHECK(account(job, 3) != 0);
  receive(job, 1, comm, 0, 4);
  CHECK(account(job, 3) != 0);
  receive(job, 1, comm, 0, 5);
  job[0].on_send(1, comm, 4);
  CHECK(account(job, 3) == 0);
  job[2].on_send(2, comm, 5);
  job[1].on_send(0, comm, 5);
  CHECK(account(job, 3) != 0);
  receive(job, 2, comm, 2, 5);
  receive(job, 0, comm, 1, 5);
  CHECK(account(job, 3) == 0);
}

TEST_CASE("what has counted and was not observed is under way; what is on a communicator that was freed is nobody's") {
  Job job(2, options());
  const Comm comm = add_comm(job, 2);
  line::Posting first;
  first.pattern = {comm, 0, 1};
  for (int i = 0; i < 2; ++i) job[0].on_send(1, comm, 1);
  CHECK(job[1].post(first));
  CHECK(account(job, 2) != 0);
  receive(job, 1, comm, 0, 1);  // the first one has its message by then
  CHECK(first.counted);
  CHECK(account(job, 2) != 0);
  job[1].observe(first, 0, 1);
  CHECK(account(job, 2) == 0);
  job[0].on_send(1, comm, 1);
  for (Rank r = 0; r < 2; ++r) job[r].free_comm(comm);
  CHECK(account(job, 2) == 0);
}

TEST_CASE("lines are refused where the set-up has left something under way") {
  for (const uint64_t left : {0, 1}) {
    Job job(3, options());
    for (Rank r = 0; r < 3; ++r) job[r].end_set_up(r == 1 ? 7 + left : r == 2 ? 7 : 0);
    take_line(job, 3);
    REQUIRE(job.ended.size() == 3);
    for (const auto& e : job.ended) {
      CHECK(e.committed == (left == 0));
      if (left != 0) CHECK(e.reason == line::kSetUpUnderWay);
    }
  }
}
