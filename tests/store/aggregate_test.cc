// A file to which several ranks write together.
#include "store/aggregate.h"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "faulty_disk.h"
#include "store/records.h"
#include "store/store.h"

namespace fs = std::filesystem;
using namespace elc;
using test::FaultyDisk;

namespace {

constexpr uint64_t kLine = 5, kRun = 9;

std::string text_of(const store::Ranks& ranks) {
  return std::to_string(ranks.first) + "-" + std::to_string(ranks.last) + "/" + std::to_string(ranks.step);
}

std::string together(const std::vector<uint32_t>& machine, uint32_t rank, uint32_t most) {
  Vector<uint32_t> ranks;
  for (const uint32_t r : machine) ranks.push_back(r);
  return text_of(store::together_with(ranks, rank, most));
}

std::string parsed(const std::string& name) {
  store::Ranks ranks;
  return store::aggregate_ranks(name.data(), name.data() + name.size(), &ranks) ? text_of(ranks) : "";
}

std::string content(uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(random() % 3000000, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

void write(store::RankFile* file, const std::string& text, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (size_t at = 0; at < text.size();) {
    const size_t size = std::min<size_t>(text.size() - at, 1 + random() % 600000);
    REQUIRE(file->write(text.data() + at, size).ok());
    at += size;
  }
}

struct Read {
  Result status;
  std::string text;
};

Read read(store::RankSource* file, Result status) {
  std::string all;
  const format::Source source = file->source();
  if (status.ok()) {
    all.resize(source.size);
    status = source.read_at(source.context, 0, all.data(), all.size());
  }
  return {std::move(status), all};
}

Read read(const char* dir, uint32_t rank) {
  store::RankSource file;
  return read(&file, file.open(dir, kLine, rank));
}

// Of a line that was written in `dir`.
std::string path(const char* dir, const store::Ranks& ranks) {
  return std::string(store::line_path(dir, kLine).c_str()) + "/" + store::aggregate_name(ranks).c_str();
}

void take(const char* dir, const store::Ranks& ranks, uint64_t seed) {
  for (uint32_t rank = ranks.first; rank <= ranks.last; rank += ranks.step) {
    store::RankFile file;
    REQUIRE(file.open(dir, kLine, kRun, rank, ranks).ok());
    write(&file, content(seed + rank), seed);
    REQUIRE(file.finish().ok());
  }
}

bool says(const Result& status, const char* part) { return std::string(status.message()).find(part) != std::string::npos; }

uint64_t seed() {
  const char* given = getenv("ELC_TEST_SEED");
  const uint64_t seed = given != nullptr ? strtoull(given, nullptr, 10) : std::random_device()();
  printf("ELC_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

}  // namespace

TEST_CASE("who writes together") {
  CHECK(together({3}, 3, 100) == "3-3/1");
  for (const uint32_t rank : {0, 1, 2, 3}) CHECK(together({0, 1, 2, 3}, rank, UINT32_MAX) == "0-3/1");
  for (const uint32_t rank : {1, 5, 9}) CHECK(together({1, 5, 9}, rank, 100) == "1-9/4");
  CHECK(together({0, 1, 2, 3, 4}, 1, 2) == "0-1/1");
  CHECK(together({0, 1, 2, 3, 4}, 2, 2) == "2-3/1");
  CHECK(together({0, 1, 2, 3, 4}, 4, 2) == "4-4/1");
  CHECK(together({0, 1, 5, 9, 20}, 1, 100) == "0-1/1");
  CHECK(together({0, 1, 5, 9, 20}, 9, 100) == "5-9/4");
  CHECK(together({0, 1, 5, 9, 20}, 20, 100) == "20-20/1");
  CHECK(together({7, 4294967295}, 7, 100) == "7-4294967295/4294967288");
}

TEST_CASE("whatever ranks a machine has, each is told the same as those with which it writes, and no other") {
  std::mt19937_64 random(seed());
  for (int i = 0; i < 2000; ++i) {
    Vector<uint32_t> machine;
    for (uint32_t rank = 0; rank < 40; ++rank)
      if (random() % 3 != 0) machine.push_back(rank);
    const uint32_t most = 1 + static_cast<uint32_t>(random() % 12);
    for (const uint32_t rank : machine) {
      const store::Ranks found = store::together_with(machine, rank, most);
      REQUIRE((found.has(rank) && found.count() <= most));
      for (const uint32_t other : machine)
        REQUIRE(found.has(other) == (text_of(store::together_with(machine, other, most)) == text_of(found)));
      for (uint32_t with = found.first; with <= found.last; with += found.step)
        REQUIRE(std::find(machine.begin(), machine.end(), with) != machine.end());
    }
  }
}

TEST_CASE("names") {
  for (const store::Ranks& ranks : {store::Ranks{0, 3, 1}, {1, 13, 4}, {999999, 1000001, 2}, {0, UINT32_MAX, 1}})
    CHECK(parsed(store::aggregate_name(ranks).c_str()) == text_of(ranks));
  CHECK(std::string(store::aggregate_name({0, 3, 1}).c_str()) == "ranks-000000-000003.elc");
  CHECK(std::string(store::aggregate_name({1, 13, 4}).c_str()) == "ranks-000001-000013-4.elc");
  for (const char* name :
       {"ranks-.elc", "ranks-000000.elc", "ranks-000001-000001.elc", "ranks-000003-000000.elc", "ranks-000000-000003-1.elc",
        "ranks-000000-000003-2.elc", "ranks-000000-000004-0.elc", "ranks-0-3.elc", "ranks-000000-000003-.elc",
        "ranks-000000-000003.elc.tmp1", "ranks-000000-000003", "ranks-000000-4294967296.elc", "ranks-000000--00003.elc",
        "ranks-000000-000004-2-2.elc", "rank-000000.elc", "anks-000000-000003.elc", ""})
    CHECK_MESSAGE(parsed(name) == "", name);
}

TEST_CASE("processes that write at once") {
  const uint64_t first = seed();
  for (uint64_t at = first; at < first + 5; ++at) {
    CAPTURE(at);
    FaultyDisk disk;
    const store::Ranks ranks = at % 2 == 0 ? store::Ranks{0, 3, 1} : store::Ranks{2, 14, 4};
    std::vector<pid_t> processes;
    for (uint32_t rank = ranks.first; rank <= ranks.last; rank += ranks.step) {
      processes.push_back(::fork());
      REQUIRE(processes.back() >= 0);
      if (processes.back() > 0) continue;
      store::system_calls = store::kRealSystem;  // the disk is one process's
      store::RankFile file;
      Result status = file.open(disk.dir(), kLine, kRun, rank, ranks);
      if (rank % 4 < 2) file.keep_pace();
      const std::string text = content(at + rank);
      std::mt19937_64 random(at);
      for (size_t from = 0; status.ok() && from < text.size();) {
        const size_t size = std::min<size_t>(text.size() - from, 1 + random() % 600000);
        status = file.write(text.data() + from, size);
        from += size;
      }
      if (status.ok()) status = file.finish();
      if (!status.ok()) fprintf(stderr, "rank %u: %s\n", rank, status.message());
      _exit(status.ok() ? 0 : 1);
    }
    for (const pid_t process : processes) {
      int status = 1;
      REQUIRE(::waitpid(process, &status, 0) == process);
      CHECK(status == 0);
    }
    for (uint32_t rank = ranks.first; rank <= ranks.last; rank += ranks.step) CHECK((read(disk.dir(), rank).text == content(at + rank)));
    CHECK(!read(disk.dir(), 15).status.ok());
  }
}

TEST_CASE("what a copy of the process writes, and the process behind it") {
  FaultyDisk disk;
  store::RankFile file, other;
  const store::Ranks ranks = {0, 1, 1};
  REQUIRE((file.open(disk.dir(), kLine, kRun, 0, ranks).ok() && other.open(disk.dir(), kLine, kRun, 1, ranks).ok()));
  REQUIRE((file.write("a", 1).ok() && file.flush().ok()));
  REQUIRE((other.write("1", 1).ok() && other.flush().ok()));
  Bytes report;
  {
    const pid_t copy = ::fork();
    const std::string place = std::string(disk.dir()) + "/report";
    if (copy == 0) {
      Bytes own;
      Encoder out(&own);
      const bool good = file.write("bc", 2).ok() && file.flush().ok();
      file.hand_over(out);
      std::ofstream(place, std::ios::binary).write(reinterpret_cast<const char*>(own.data()), static_cast<std::streamsize>(own.size()));
      _exit(good ? 0 : 1);
    }
    int status = 1;
    REQUIRE((::waitpid(copy, &status, 0) == copy && status == 0));
    std::ifstream in(place, std::ios::binary);
    for (char c; in.get(c);) report.push_back(static_cast<uint8_t>(c));
  }
  REQUIRE((other.write("2", 1).ok() && other.flush().ok()));
  Decoder in(report);
  REQUIRE(file.take_over(in).ok());
  CHECK(file.size() == 3);
  REQUIRE((file.write("d", 1).ok() && file.finish().ok() && other.finish().ok()));
  CHECK(read(disk.dir(), 0).text == "abcd");
  CHECK(read(disk.dir(), 1).text == "12");
}

TEST_CASE("one is read by its rank's name; the file's own name says which those are") {
  FaultyDisk disk;
  const store::Ranks ranks = {0, 3, 1};
  take(disk.dir(), ranks, 1);
  store::RankSource file;
  CHECK(read(&file, file.open(store::rank_path(disk.dir(), kLine, 2).c_str())).text == content(3));
  const Result status = file.open(path(disk.dir(), ranks).c_str());
  CHECK((!status.ok() && says(status, "rank-000000.elc")));
  CHECK(says(file.open(store::rank_path(disk.dir(), kLine, 4).c_str()), "No such file"));
  CHECK(says(read(disk.dir(), 4).status, "rank-000004.elc is missing"));
}

TEST_CASE("a line commits with what its ranks have written together, and not without") {
  FaultyDisk disk;
  const store::Ranks ranks = {0, 3, 1};
  std::vector<store::RankFile> files(4);
  for (uint32_t rank = 0; rank < 4; ++rank) REQUIRE(files[rank].open(disk.dir(), kLine, kRun, rank, ranks).ok());
  store::Commit record;
  record.line = kLine, record.run = kRun, record.ranks = 5;
  Vector<store::Ranks> all;
  all.push_back(ranks);
  store::CommitFile commit;
  CHECK(says(commit.begin(disk.dir(), record, all), "rank-000004.elc is not there"));
  store::RankFile alone;
  REQUIRE((alone.open(disk.dir(), kLine, kRun, 4).ok() && alone.finish().ok()));
  for (const uint32_t rank : {3, 0, 1}) REQUIRE(files[rank].finish().ok());
  REQUIRE(commit.begin(disk.dir(), record, all).ok());
  CHECK(says(commit.finish(), "lacks what rank 2 has saved"));
  CHECK(!fs::exists(store::commit_path(disk.dir(), kLine).c_str()));
  REQUIRE(files[2].finish().ok());
  bool done = false;
  REQUIRE(commit.begin(disk.dir(), record, all).ok());
  while (!done) REQUIRE(commit.advance(&done).ok());
  store::Survey there;
  REQUIRE(store::survey(disk.dir(), &there).ok());
  uint64_t line = kLine;
  const Config config;
  REQUIRE((store::pass_over_incomplete(there, disk.dir(), config, &line).ok() && line == kLine));
  fs::remove(path(disk.dir(), ranks));
  CHECK(!store::pass_over_incomplete(there, disk.dir(), config, &line).ok());
  CHECK(says(commit.begin(disk.dir(), record, all), "ranks-000000-000003.elc is not there"));
}

TEST_CASE("where the file system does not append, the line is refused") {
  FaultyDisk disk;
  const store::Ranks ranks = {0, 1, 1};
  const auto set_append = store::system_calls.set_append;
  store::system_calls.set_append = [](int, bool) { return 0; };
  {
    store::RankFile a, b;
    REQUIRE((a.open(disk.dir(), kLine, kRun, 0, ranks).ok() && b.open(disk.dir(), kLine, kRun, 1, ranks).ok()));
    REQUIRE((a.write("one", 3).ok() && b.write("other", 5).ok() && a.finish().ok() && b.finish().ok()));
  }
  store::system_calls.set_append = set_append;
  store::Commit record;
  record.line = kLine, record.run = kRun, record.ranks = 2;
  Vector<store::Ranks> all;
  all.push_back(ranks);
  store::CommitFile commit;
  REQUIRE(commit.begin(disk.dir(), record, all).ok());
  CHECK(says(commit.finish(), "less than its ranks have written"));
}

TEST_CASE("an abandoned line goes with what was written together, and the first of them removes what is not kept") {
  FaultyDisk disk;
  const store::Ranks ranks = {0, 1, 1};
  {
    store::RankFile a, b;
    REQUIRE((a.open(disk.dir(), kLine, kRun, 0, ranks).ok() && b.open(disk.dir(), kLine, kRun, 1, ranks).ok()));
    REQUIRE(a.finish().ok());
    b.discard();
    a.discard();
    CHECK(fs::is_empty(disk.dir()));
  }
  take(disk.dir(), ranks, 1);
  fs::remove(std::string(store::line_path(disk.dir(), kLine).c_str()) + "/run");
  bool gone = false;
  REQUIRE((store::remove_own(disk.dir(), kLine, 1, &gone, ranks).ok() && gone));
  CHECK(fs::exists(path(disk.dir(), ranks)));
  REQUIRE((store::remove_own(disk.dir(), kLine, 0, &gone, ranks).ok() && gone));
  CHECK(fs::is_empty(disk.dir()));
}

TEST_CASE("a name of something else is not written to") {
  FaultyDisk disk;
  const store::Ranks ranks = {0, 1, 1};
  take(disk.dir(), {2, 3, 1}, 1);
  const fs::path precious = std::string(disk.dir()) + "/precious";
  std::ofstream(precious) << "precious";
  fs::create_hard_link(precious, path(disk.dir(), ranks));
  store::RankFile file;
  CHECK(says(file.open(disk.dir(), kLine, kRun, 0, ranks), "has another name"));
  file.discard();
  fs::create_symlink(precious, path(disk.dir(), ranks));
  CHECK(says(file.open(disk.dir(), kLine, kRun, 0, ranks), "symbolic link"));
  std::ifstream in(precious);
  std::string text;
  CHECK((in >> text && text == "precious"));
}

TEST_CASE("a changed byte of the beginning or of a table, a short file: an error, or nothing of it is read") {
  FaultyDisk disk;
  const store::Ranks ranks = {0, 1, 1};
  {
    store::RankFile a, b;
    REQUIRE((a.open(disk.dir(), kLine, kRun, 0, ranks).ok() && b.open(disk.dir(), kLine, kRun, 1, ranks).ok()));
    REQUIRE((a.write("one", 3).ok() && a.flush().ok() && b.write("other", 5).ok() && b.finish().ok() && a.write("two", 3).ok() && a.finish().ok()));
  }
  REQUIRE((read(disk.dir(), 0).text == "onetwo" && read(disk.dir(), 1).text == "other"));
  const std::string file = path(disk.dir(), ranks);
  std::string whole;
  {
    std::ifstream in(file, std::ios::binary);
    for (char c; in.get(c);) whole += c;
  }
  const auto put = [&](const std::string& text) { std::ofstream(file, std::ios::binary | std::ios::trunc) << text; };
  for (size_t i = 0; i < whole.size(); ++i) {
    for (const int bit : {1, 128}) {
      std::string changed = whole;
      changed[i] = static_cast<char>(changed[i] ^ bit);
      put(changed);
      for (const uint32_t rank : {0, 1}) {
        const Read found = read(disk.dir(), rank);
        const std::string right = rank == 0 ? "onetwo" : "other";
        size_t differing = 0;
        for (size_t at = 0; at < found.text.size() && at < right.size(); ++at) differing += found.text[at] != right[at];
        // What is in the data themselves, their own checksums tell.
        CHECK((!found.status.ok() || (found.text.size() == right.size() && differing <= 1)));
      }
    }
    put(whole.substr(0, i));
    for (const uint32_t rank : {0, 1}) {
      const Read found = read(disk.dir(), rank);
      CHECK((!found.status.ok() || found.text == (rank == 0 ? "onetwo" : "other")));
    }
  }
}
