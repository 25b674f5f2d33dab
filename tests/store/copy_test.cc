// Copies of the process: what they report, that the program does not notice them, and that they end with it.
#include "store/copy.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <string>

#include "base/memory.h"
#include "store/crew.h"
#include "store/system.h"

using namespace elc;

namespace {

constexpr size_t kMemory = 1 << 20;

bool there_are_copies() {
  const pid_t copy = store::copy_process();
  if (copy == 0) _exit(0);
  if (copy > 0) store::wait_for_copy(copy, nullptr, true);
  return copy > 0;
}

Result until_ended(store::Copy* copy, Bytes* report) {
  bool ended = false;
  for (;;) {
    const Result result = copy->look(&ended, report);
    if (ended || !result.ok()) return result;
    sched_yield();
  }
}

Result report_much(void* size, Bytes* report) {
  report->resize(*static_cast<size_t*>(size));
  for (size_t i = 0; i < report->size(); ++i) (*report)[i] = static_cast<uint8_t>(i * 7);
  return {};
}

}  // namespace

TEST_CASE("a copy reports, more than a pipe holds, too") {
  if (!there_are_copies()) return;
  for (size_t size : {size_t{0}, size_t{1}, size_t{300000}}) {
    store::Copy copy;
    Bytes report;
    REQUIRE(copy.start(kMemory + 4 * size, -1, report_much, &size).ok());
    CHECK(copy.running());
    const Result result = until_ended(&copy, &report);
    REQUIRE_MESSAGE(result.ok(), result.message());
    CHECK(copy.reported());
    CHECK(!copy.running());
    REQUIRE(report.size() == size);
    for (size_t i = 0; i < size; ++i) REQUIRE(report[i] == static_cast<uint8_t>(i * 7));
  }
}

TEST_CASE("a copy's failure, its death, and its lack of memory") {
  if (!there_are_copies()) return;
  store::Copy copy;
  Bytes report;
  REQUIRE(copy.start(kMemory, -1, [](void*, Bytes*) { return Result::caused(ENOSPC, "no space in %s", "here"); }, nullptr).ok());
  Result result = until_ended(&copy, &report);
  CHECK(std::strcmp(result.message(), "no space in here") == 0);
  CHECK(result.cause() == ENOSPC);
  CHECK(copy.reported());

  REQUIRE(copy.start(kMemory, -1, [](void*, Bytes*) {
    raise(SIGKILL);
    return Result();
  }, nullptr).ok());
  result = until_ended(&copy, &report);
  CHECK(std::strstr(result.message(), "was ended by signal 9") != nullptr);
  CHECK(!copy.reported());

  REQUIRE(copy.start(kMemory, -1, [](void*, Bytes* more) {
    return more->make_room(2 * kMemory) ? Result() : Result::error("no room");
  }, nullptr).ok());
  result = until_ended(&copy, &report);
  CHECK(std::strcmp(result.message(), "no room") == 0);
}

TEST_CASE("what was there before can grow in a copy, and nothing of it comes back") {
  if (!there_are_copies()) return;
  Bytes before;
  before.append(reinterpret_cast<const uint8_t*>("before"), 6);
  store::Copy copy;
  Bytes report;
  REQUIRE(copy.start(kMemory, -1, [](void* old, Bytes* text) {
    Bytes& bytes = *static_cast<Bytes*>(old);
    for (int i = 0; i < 1000; ++i) bytes.push_back('x');
    text->append(bytes.data(), bytes.size());
    return Result();
  }, &before).ok());
  REQUIRE(until_ended(&copy, &report).ok());
  CHECK(report.size() == 1006);
  CHECK(std::memcmp(report.data(), "beforex", 7) == 0);
  CHECK(before.size() == 6);
}

namespace {

// What a crew does: each of it says that it has been here.
struct Seen {
  std::atomic<unsigned> number[store::Crew::kMost] = {}, all = 0;
  static void note(void* seen, unsigned i) {
    Seen& s = *static_cast<Seen*>(seen);
    ++s.number[i];
    ++s.all;
  }
  bool each_once(unsigned threads) const {
    bool once = all == threads;
    for (unsigned i = 0; i < threads; ++i) once = once && number[i] == 1;
    return once;
  }
};

}  // namespace

TEST_CASE("a crew does its work") {
  Seen seen;
  store::Crew crew;
  const unsigned threads = crew.start(4, Seen::note, &seen);
  CHECK((threads == 4 || threads == 0));
  crew.wait();
  CHECK(seen.each_once(threads));
}

TEST_CASE("a crew in a copy does its work, and is as large as there is memory for its stacks") {
  if (!there_are_copies()) return;
  for (const unsigned fit : {0u, 3u}) {
    store::Copy copy;
    Bytes report;
    REQUIRE(copy.start((fit + 1) * store::Crew::kStack - 1024, -1, [](void*, Bytes* out) {
      Seen seen;
      store::Crew crew;
      const unsigned threads = crew.start_in_copy(5, Seen::note, &seen);
      while (seen.all < threads) sched_yield();
      crew.wait();
      out->push_back(static_cast<uint8_t>(seen.each_once(threads) ? threads : 99));
      return Result();
    }, nullptr).ok());
    const Result result = until_ended(&copy, &report);
    REQUIRE_MESSAGE(result.ok(), result.message());
    REQUIRE(report.size() == 1);
    CHECK(report[0] == fit);
  }
}

TEST_CASE("a copy is ended before its process where memory runs out") {
  std::ifstream file("/proc/self/oom_score_adj");
  if (!there_are_copies() || !file) return;
  store::Copy copy;
  Bytes report;
  REQUIRE(copy.start(kMemory, -1, [](void*, Bytes* text) {
    uint8_t is[16];
    const int fd = open("/proc/self/oom_score_adj", O_RDONLY);
    const ssize_t size = read(fd, is, sizeof is);
    if (size > 0) text->append(is, static_cast<size_t>(size));
    return Result();
  }, nullptr).ok());
  REQUIRE(until_ended(&copy, &report).ok());
  CHECK(std::string(reinterpret_cast<const char*>(report.data()), report.size()) == "1000\n");
  int own = 1000;
  file >> own;
  CHECK(own < 1000);
}

TEST_CASE("what a copy cannot do without and has no memory for ends it, whoever holds the lock of the reserve") {
  if (!there_are_copies()) return;
  store::Copy copy;
  Bytes report;
  REQUIRE(copy.start(kMemory, -1, [](void*, Bytes*) {
    allocate(2 * kMemory);
    return Result();
  }, nullptr).ok());
  CHECK(std::strstr(until_ended(&copy, &report).message(), "was ended by signal 6") != nullptr);
}

TEST_CASE("a copy that is ended, and what the program's wait() finds") {
  if (!there_are_copies()) return;
  const auto for_ever = [](void*, Bytes*) -> Result {
    for (;;) pause();
  };
  store::Copy copy;
  REQUIRE(copy.start(kMemory, -1, for_ever, nullptr).ok());
  Bytes report;
  bool ended = true;
  CHECK(copy.look(&ended, &report).ok());
  CHECK(!ended);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  CHECK(wait(nullptr) == child);
  copy.end();
  CHECK(!copy.running());
  CHECK(wait(nullptr) < 0);
  CHECK(errno == ECHILD);
}

TEST_CASE("a copy ends when its process has died") {
  if (!there_are_copies()) return;
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t process = fork();
  if (process == 0) {
    close(ends[0]);
    struct Work {
      store::Copy copy;
      int pipe;
    } work = {{}, ends[1]};
    const Result started = work.copy.start(kMemory, ends[1], [](void* w, Bytes*) -> Result {
      for (;;) {
        static_cast<Work*>(w)->copy.still_wanted();
        sched_yield();
      }
    }, &work);
    raise(SIGKILL);
  }
  close(ends[1]);
  CHECK(waitpid(process, nullptr, 0) == process);
  char c;
  CHECK(read(ends[0], &c, 1) == 0);  // the copy had the other end as well
  close(ends[0]);
}
