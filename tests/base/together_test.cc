// One task in several threads.
#include "base/together.h"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <vector>

using elc::together;

namespace {

struct Task {
  std::vector<std::atomic<int>> done = std::vector<std::atomic<int>>(1000);  // how often each piece was
  elc::Pieces pieces{1000};
  std::atomic<unsigned> calls = 0, deaf = 0, in_caller = 0;
  pthread_t caller = pthread_self();

  void work() {
    ++calls;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    if (pthread_equal(caller, pthread_self()) != 0) ++in_caller;
    else if (sigismember(&blocked, SIGTERM) == 1 && sigismember(&blocked, SIGUSR1) == 1) ++deaf;
    for (size_t i; pieces.take(&i);) ++done[i];
  }
};

}  // namespace

TEST_CASE("every piece of a task is done once when all have ended, and only the caller hears signals") {
  for (const unsigned threads : {0u, 1u, 2u, 7u, elc::kMostTogether, 10000u}) {
    Task task;
    sigset_t before, after;
    pthread_sigmask(SIG_SETMASK, nullptr, &before);
    together(threads, [](void* of, unsigned) { static_cast<Task*>(of)->work(); }, &task);
    pthread_sigmask(SIG_SETMASK, nullptr, &after);
    for (const std::atomic<int>& done : task.done) REQUIRE(done == 1);
    CHECK(task.in_caller == 1);
    CHECK(task.calls == task.deaf + 1);
    CHECK(task.calls <= (threads == 0 ? 1 : threads < elc::kMostTogether ? threads : elc::kMostTogether));
    CHECK(sigismember(&before, SIGTERM) == sigismember(&after, SIGTERM));
  }
}

TEST_CASE("each has a number of its own") {
  std::vector<std::atomic<int>> called(elc::kMostTogether);
  together(elc::kMostTogether, [](void* of, unsigned n) { ++(*static_cast<std::vector<std::atomic<int>>*>(of))[n]; }, &called);
  CHECK(called[0] == 1);
  for (const std::atomic<int>& times : called) CHECK(times <= 1);
}

TEST_CASE("pieces come in order, and none after the stop") {
  elc::Pieces pieces(10);
  for (size_t expected = 0; expected < 4; ++expected) {
    size_t piece = 99;
    CHECK(pieces.take(&piece));
    CHECK(piece == expected);
  }
  pieces.stop();
  size_t piece;
  CHECK_FALSE(pieces.take(&piece));
}
