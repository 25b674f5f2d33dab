// A small job writes lines to a disk that fails, fills up, or dies with it, at every system call in turn.
#include <doctest/doctest.h>
#include <errno.h>
#include <stdlib.h>

#include <cstdio>
#include <memory>
#include <set>

#include "faulty_disk.h"
#include "store/store.h"

namespace fs = std::filesystem;
using namespace elc;
using test::FaultyDisk;

namespace {

constexpr uint32_t kRanks = 2;
constexpr uint32_t kKeep = 2;

// How the ranks write.
store::Ranks together;

void each_way_of_writing() {
  SUBCASE("each alone") { together = {}; }
  SUBCASE("to one file") { together = {0, kRanks - 1, 1}; }
}

// What a rank writes: small pieces that are gathered and, in one file, a large one that is not.
std::vector<std::string> pieces(uint64_t line, uint32_t rank) {
  const std::string mark = std::to_string(line) + "." + std::to_string(rank) + ";";
  return {mark, "", std::string(line == 2 && rank == 0 ? 300000 : 3000, static_cast<char>('a' + line % 26)),
          mark + mark};
}

std::string content(uint64_t line, uint32_t rank) {
  std::string all;
  for (const std::string& piece : pieces(line, rank)) all += piece;
  return all;
}

struct Job {
  const char* dir;
  uint64_t run;
  uint64_t base = 0;
  uint64_t next = 1;               // line
  uint64_t acknowledged = 0;       // newest line whose commit returned success
  uint64_t acknowledged_done = 0;  // set when mark_finished returned success

  // Like a run of a program: goes on from what is there. False if the disk does not let it.
  static bool start(const char* dir, Job* job) {
    store::Survey there;
    if (!store::survey(dir, &there).ok()) return false;
    *job = Job{dir, store::new_run(), there.restartable(), there.highest + 1, 0, 0};
    return true;
  }

  // As a job does that goes on meanwhile.
  template <class File>
  static bool in_background(File& file) {
    bool done = false;
    while (!done)
      if (!file.advance(&done).ok()) return false;
    return true;
  }

  // One line of all ranks; abandoned by all if one cannot.
  bool line() {
    const uint64_t number = next++;
    std::vector<std::unique_ptr<store::RankFile>> files;
    bool good = true;
    for (uint32_t rank = 0; rank < kRanks; ++rank) {
      auto file = std::make_unique<store::RankFile>();
      good = file->open(dir, number, run, rank, together).ok() && good;
      files.push_back(std::move(file));
    }
    for (uint32_t rank = 0; good && rank < kRanks; ++rank)
      for (const std::string& piece : pieces(number, rank))
        good = good && files[rank]->write(piece.data(), piece.size()).ok();
    for (auto& file : files) good = good && (number % 2 == 0 ? file->finish().ok() : in_background(*file));
    store::Commit record;
    record.line = number;
    record.run = run;
    record.base = base;
    record.ranks = kRanks;
    store::CommitFile commit;
    Vector<store::Ranks> all;
    if (!together.alone()) all.push_back(together);
    good = good && commit.begin(dir, record, all).ok() && (number % 2 == 0 ? commit.finish().ok() : in_background(commit));
    if (!good) {
      for (auto& file : files) file->discard();
      return false;
    }
    acknowledged = number;
    store::clean(dir, kKeep, 0).ok();
    return true;
  }

  void all() {
    for (int i = 0; i < 4; ++i) line();
    if (store::mark_finished(dir, run).ok()) acknowledged_done = run;
  }
};

std::string read(const char* dir, uint64_t line, uint32_t rank) {
  store::RankSource file;
  const Result status = file.open(dir, line, rank);
  if (!status.ok()) return status.message();
  const format::Source source = file.source();
  std::string all(source.size, '\0');
  REQUIRE(source.read_at(source.context, 0, all.data(), all.size()).ok());
  return all;
}

// Every line that counts as committed is whole, and the newest is no older than what was promised.
void check_whole(const char* dir, uint64_t promised) {
  store::Survey there;
  const Result status = store::survey(dir, &there);
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(there.newest >= promised);
  for (const store::Line& line : there.lines) {
    CHECK_MESSAGE(line.damage.empty(), line.damage.c_str());
    if (!line.committed) continue;
    CHECK(line.commit.ranks == kRanks);
    for (uint32_t rank = 0; rank < kRanks; ++rank)
      CHECK(read(dir, line.number, rank) == content(line.number, rank));
  }
}

// After one more line on a good disk only the lines to keep are there, and no temporary file.
void check_goes_on(const char* dir) {
  Job job{};
  REQUIRE(Job::start(dir, &job));
  REQUIRE(job.line());
  check_whole(dir, job.acknowledged);
  store::Survey there;
  REQUIRE(store::survey(dir, &there).ok());
  CHECK(there.lines.size() <= kKeep);
  for (const store::Line& line : there.lines) CHECK(line.committed);
  for (const auto& entry : fs::recursive_directory_iterator(dir))
    if (entry.path().parent_path() != dir || entry.is_directory())
      CHECK_MESSAGE(entry.path().string().find(".tmp") == std::string::npos, entry.path().string());
}

uint64_t seed() {
  const char* given = getenv("ELC_TEST_SEED");
  const uint64_t seed = given != nullptr ? strtoull(given, nullptr, 10) : std::random_device()();
  printf("ELC_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

// The calls that a job makes after its start.
struct Calls {
  uint64_t first, last;
};

Calls calls_of_a_job(unsigned looks) {
  FaultyDisk disk;
  disk.slow(looks);
  Job job{};
  REQUIRE(Job::start(disk.dir(), &job));
  const uint64_t first = disk.calls() + 1;
  job.all();
  REQUIRE(job.acknowledged == 4);
  const uint64_t last = disk.calls();
  check_whole(disk.dir(), 4);
  return {first, last};
}

// What a plain start of a program goes on from; 0 if it refuses.
uint64_t started_from(const char* dir) {
  store::Survey there;
  const Config config;
  uint64_t line = 0;
  const bool starts = store::survey(dir, &there).ok() && store::line_to_restart(there, dir, config, &line).ok() &&
                      store::pass_over_incomplete(there, dir, config, &line).ok();
  return starts ? line : 0;
}

}  // namespace

TEST_CASE("a kill at any system call leaves every committed line whole") {
  each_way_of_writing();
  const Calls calls = calls_of_a_job(2);
  for (uint64_t n = calls.first; n <= calls.last; ++n) {
    CAPTURE(n);
    FaultyDisk disk;
    disk.slow(2);
    Job job{};
    REQUIRE(Job::start(disk.dir(), &job));
    disk.die_at(n);
    job.all();
    REQUIRE(disk.dead());
    disk.repair();
    check_whole(disk.dir(), job.acknowledged);
    check_goes_on(disk.dir());
  }
}

TEST_CASE("a power cut at any system call loses nothing that was promised") {
  each_way_of_writing();
  std::mt19937_64 random(seed());
  const Calls calls = calls_of_a_job(2);
  for (uint64_t step = 0; step < 3 * (calls.last - calls.first + 2); ++step) {
    const uint64_t n = calls.first + step / 3;
    CAPTURE(n);
    FaultyDisk disk;
    disk.slow(2);
    Job job{};
    REQUIRE(Job::start(disk.dir(), &job));
    disk.die_at(n);
    job.all();
    disk.repair();
    disk.cut_power(random);
    check_whole(disk.dir(), job.acknowledged);
    store::Survey there;
    REQUIRE(store::survey(disk.dir(), &there).ok());
    if (job.acknowledged_done != 0) CHECK(there.finished_run == job.run);
    check_goes_on(disk.dir());
  }
}

TEST_CASE("a call that fails costs at most its line") {
  each_way_of_writing();
  const Calls calls = calls_of_a_job(0);
  for (const int error : {EIO, ENOSPC, EINTR}) {
    for (uint64_t n = calls.first; n <= calls.last; ++n) {
      CAPTURE(n);
      CAPTURE(error);
      FaultyDisk disk;
      Job job{};
      REQUIRE(Job::start(disk.dir(), &job));
      disk.fail_at(n, error);
      job.all();
      CHECK_MESSAGE(!disk.failed().empty(), n);
      CHECK(job.next == 5);
      if (error == EINTR && disk.failed() != "close" && disk.failed() != "close_list") CHECK(job.acknowledged == 4);
      check_whole(disk.dir(), job.acknowledged);
      CHECK(job.acknowledged >= 3);
      disk.repair();
      check_goes_on(disk.dir());
    }
  }
}

TEST_CASE("a line whose commit fails, and the removal of its record too, is passed over") {
  each_way_of_writing();
  uint64_t first = 0, last = 0;
  {
    FaultyDisk disk;
    Job job{};
    REQUIRE(Job::start(disk.dir(), &job));
    REQUIRE(job.line());
    first = disk.calls() + 1;
    REQUIRE(job.line());
    last = disk.calls();
  }
  uint64_t passed_over = 0;
  for (uint64_t n = first; n <= last; ++n) {
    for (uint64_t m = n + 1; m < n + 3; ++m) {
      CAPTURE(n);
      CAPTURE(m);
      FaultyDisk disk;
      Job job{};
      REQUIRE(Job::start(disk.dir(), &job));
      REQUIRE(job.line());
      disk.fail_at(n, EIO);
      disk.fail_also_at(m);
      job.line();
      disk.repair();
      const uint64_t line = started_from(disk.dir());
      CHECK(line >= job.acknowledged);
      store::Survey there;
      REQUIRE(store::survey(disk.dir(), &there).ok());
      if (line < there.newest) ++passed_over;
      for (uint32_t rank = 0; rank < kRanks; ++rank)
        CHECK(read(disk.dir(), line, rank) == content(line, rank));
      // The next line is not removed with the one that was passed over, nor is the one before.
      REQUIRE(Job::start(disk.dir(), &job));
      job.base = line;
      REQUIRE(job.line());
      CHECK(started_from(disk.dir()) == job.acknowledged);
      check_whole(disk.dir(), job.acknowledged);
    }
  }
  CHECK(passed_over > 0);
}

TEST_CASE("a start from a disk of which a call fails takes the newest line, or refuses") {
  for (const int error : {EIO, EINTR, EACCES, EMFILE, ENOTDIR}) {
    bool failed = true;
    for (uint64_t n = 1; failed; ++n) {
      CAPTURE(n);
      CAPTURE(error);
      FaultyDisk disk;
      Job job{};
      REQUIRE(Job::start(disk.dir(), &job));
      REQUIRE(job.line());
      REQUIRE(job.line());
      disk.fail_at(disk.calls() + n, error);
      const bool starts = store::prepare(disk.dir()).ok() && Job::start(disk.dir(), &job);
      if (starts) CHECK(job.next == 3);
      const uint64_t line = starts ? started_from(disk.dir()) : 0;
      failed = !disk.failed().empty();
      CHECK((line == 2 || (line == 0 && failed)));
      if (error == EINTR) CHECK(line == 2);
    }
  }
}

TEST_CASE("a full disk at any write: the old line stays, nothing half-written stays, and it goes on") {
  each_way_of_writing();
  uint64_t writes = 0;
  {
    FaultyDisk disk;
    disk.slow(2);
    Job job{};
    REQUIRE(Job::start(disk.dir(), &job));
    job.all();
    writes = disk.writes();
  }
  for (uint64_t n = 1; n <= writes; ++n) {
    CAPTURE(n);
    FaultyDisk disk;
    disk.slow(2);
    Job job{};
    REQUIRE(Job::start(disk.dir(), &job));
    disk.full_at_write(n);
    job.all();
    check_whole(disk.dir(), job.acknowledged);
    for (const auto& entry : fs::recursive_directory_iterator(disk.dir()))
      CHECK_MESSAGE(entry.path().string().find(".tmp") == std::string::npos, entry.path().string());
    store::Survey there;
    REQUIRE(store::survey(disk.dir(), &there).ok());
    for (const store::Line& line : there.lines) CHECK(line.committed);
    disk.repair();
    check_goes_on(disk.dir());
  }
}

TEST_CASE("a full disk is said with the path, the reason and what to do") {
  FaultyDisk disk;
  store::RankFile file;
  REQUIRE(file.open(disk.dir(), 1, 9, 0).ok());
  disk.full_at_write(1);
  const std::string large(1 << 20, 'x');
  const Result status = file.write(large.data(), large.size());
  REQUIRE(!status.ok());
  const std::string text = status.message();
  CHECK(text.find(disk.dir()) != std::string::npos);
  CHECK(text.find("No space left") != std::string::npos);
  CHECK(text.find("ELC_DIR") != std::string::npos);
  CHECK(!file.write("x", 1).ok());
  CHECK(std::string(file.finish().message()) == text);
  CHECK(fs::is_empty(disk.dir()));
}
