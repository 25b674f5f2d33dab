// A directory that others can write to: what they put there leads the library nowhere, and keeps nothing waiting.
#include <doctest/doctest.h>
#include <errno.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "faulty_disk.h"
#include "store/store.h"

namespace fs = std::filesystem;
using namespace elc;
using test::FaultyDisk;

namespace {

constexpr uint64_t kRun = 77;

void line(const char* dir, uint64_t number, uint64_t run = kRun) {
  store::RankFile file;
  REQUIRE(file.open(dir, number, run, 0).ok());
  REQUIRE(file.write("x", 1).ok());
  REQUIRE(file.finish().ok());
  store::Commit record;
  record.line = number;
  record.run = run;
  record.ranks = 1;
  const Result status = store::commit(dir, record);
  REQUIRE_MESSAGE(status.ok(), status.message());
  file.keep();
}

void write(const fs::path& path, const std::string& text = "mine") { std::ofstream(path) << text; }

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

// What a plain start says: "line N", or why it refuses.
std::string start(const char* dir) {
  store::Survey there;
  const Config config;
  uint64_t line = 0;
  Result status = store::survey(dir, &there);
  if (status.ok()) status = store::line_to_restart(there, dir, config, &line);
  if (status.ok()) status = store::pass_over_incomplete(there, dir, config, &line);
  return status.ok() ? "line " + std::to_string(line) : status.message();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

mode_t mode(const fs::path& path) {
  struct stat about;
  REQUIRE(::stat(path.c_str(), &about) == 0);
  return about.st_mode & 0777;
}

// As if everything were somebody else's.
int foreign(int fd, struct stat* about) {
  const int result = store::kRealSystem.file_status(fd, about);
  about->st_uid = geteuid() + 1;
  return result;
}

// A call that waits for the other end of a pipe ends the test.
struct Alarm {
  Alarm() { alarm(60); }
  ~Alarm() { alarm(0); }
};

}  // namespace

TEST_CASE("a link in the place of a line is followed by nothing: not to read, to write or to remove") {
  FaultyDisk disk;
  const std::string dir = disk.dir(), outside = dir + "/../outside", link = dir + "/line-000002";
  line(disk.dir(), 1);
  fs::create_directory(outside);
  for (const char* name : {"commit", "run", "rank-000000.elc", "rank-list"}) write(outside + "/" + name);
  fs::create_directory_symlink(outside, link);
  CHECK(says(start(disk.dir()), link + " is a symbolic link"));
  CHECK(!store::remove_line(disk.dir(), 2).ok());
  store::RankFile file;
  CHECK(!file.open(disk.dir(), 2, kRun, 0).ok());
  file.discard();
  line(disk.dir(), 3);
  CHECK(start(disk.dir()) == "line 3");
  CHECK(store::clean(disk.dir(), 1, 0).ok());
  CHECK(fs::is_symlink(link));
  for (const char* name : {"commit", "run", "rank-000000.elc", "rank-list"})
    CHECK(read(outside + "/" + name) == "mine");
}

TEST_CASE("links in the place of files are not followed") {
  FaultyDisk disk;
  const std::string dir = disk.dir(), target = dir + "/../target", place = dir + "/line-000002";
  write(target);
  line(disk.dir(), 1);
  const auto put = [&](const std::string& path) { fs::create_symlink(target, path); };
  SUBCASE("the temporary file of a rank") {
    store::RankFile file;
    REQUIRE(file.open(disk.dir(), 2, kRun, 1).ok());
    put(place + "/rank-000000.elc.tmp" + std::to_string(getpid()));
    store::RankFile other;
    CHECK(!other.open(disk.dir(), 2, kRun, 0).ok());
  }
  SUBCASE("the commit record") {
    line(disk.dir(), 2);
    fs::remove(place + "/commit");
    put(place + "/commit");
    CHECK(says(start(disk.dir()), place + "/commit is a symbolic link"));
    CHECK(!store::remove_line(disk.dir(), 2).ok());
  }
  SUBCASE("the mark of a finished run") {
    put(dir + "/finished");
    CHECK(says(start(disk.dir()), "finished is a symbolic link"));
  }
  SUBCASE("a lock") {
    put(dir + "/job.lock");
    store::Lock lock;
    CHECK(says(lock.take(disk.dir(), "job.lock").message(), "job.lock is a symbolic link"));
    CHECK(!store::job_runs(disk.dir()));
  }
  SUBCASE("why there was no line") {
    put(dir + "/refused");
    CHECK(!store::forget_refusal(disk.dir()).ok());
    CHECK(fs::is_symlink(dir + "/refused"));
    CHECK(store::write_refusal(disk.dir(), 7, "a reason").ok());
  }
  SUBCASE("a request") {
    store::Control control;
    control.open(disk.dir());
    write(target, "stop\n");
    put(dir + "/control");
    CHECK(control.look() == store::Order::kNone);
    write(target);
  }
  SUBCASE("the file of a rank") {
    line(disk.dir(), 2);
    fs::remove(place + "/rank-000000.elc");
    put(place + "/rank-000000.elc");
    store::Commit record;
    REQUIRE(store::read_commit(disk.dir(), 2, &record).ok());
    store::RankSource source;
    format::Reader reader;
    CHECK(says(store::open_verified(disk.dir(), record, 0, &source, &reader).message(), "is a symbolic link"));
  }
  CHECK(read(target) == "mine");
}

TEST_CASE("the path to the directory is the user's: links in it are followed") {
  FaultyDisk disk;
  const std::string link = std::string(disk.dir()) + "-link";
  fs::create_directory_symlink(disk.dir(), link);
  REQUIRE(store::prepare(link.c_str()).ok());
  line(link.c_str(), 1);
  CHECK(start(link.c_str()) == "line 1");
}

TEST_CASE("pipes keep nobody waiting") {
  const Alarm alarm;
  FaultyDisk disk;
  const std::string dir = disk.dir();
  line(disk.dir(), 1);
  line(disk.dir(), 2);
  const auto pipe = [&](const std::string& path) {
    fs::remove(path);
    REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  };
  std::string path;
  SUBCASE("finished") { path = dir + "/finished"; }
  SUBCASE("commit") { path = dir + "/line-000002/commit"; }
  if (!path.empty()) {
    pipe(path);
    CHECK(says(start(disk.dir()), path + " is not a file"));
    return;
  }
  pipe(dir + "/job.lock");
  CHECK(!store::job_runs(disk.dir()));
  store::Lock lock;
  CHECK(!lock.take(disk.dir(), "job.lock").ok());
  store::Control control;
  control.open(disk.dir());
  pipe(dir + "/control");
  CHECK(control.look() == store::Order::kNone);
  pipe(dir + "/refused");
  Text why;
  CHECK(!store::read_refusal(disk.dir(), &why).ok());
  pipe(dir + "/line-000002/rank-000000.elc");
  store::RankSource source;
  CHECK(!source.open(disk.dir(), 2, 0).ok());
  CHECK(!source.open((dir + "/line-000002/rank-000000.elc").c_str()).ok());
}

TEST_CASE("only files of exactly the library's names are removed with a line") {
  FaultyDisk disk;
  line(disk.dir(), 1);
  const std::string place = std::string(disk.dir()) + "/line-000001/";
  const char* const others[] = {"commit.txt", "commit-notes", "rank-list", "rank-000000.elc.bak", "rank-0.elc", "runs",
                                "rank-000000.elc.tmp", "rank-000000.elc.tmp7x", "rank-4294967296.elc", "commit.tmp"};
  for (const char* name : others) write(place + name);
  const char* const ours[] = {"commit", "run", "rank-000000.elc", "rank-000001.elc.tmp88", "commit.tmp9"};
  for (const char* name : {ours[3], ours[4]}) write(place + name);
  fs::create_directory(place + "rank-000007.elc");
  REQUIRE(store::remove_line(disk.dir(), 1).ok());
  for (const char* name : others) CHECK_MESSAGE(fs::exists(place + name), name);
  for (const char* name : ours) CHECK_MESSAGE(!fs::exists(place + name), name);
  CHECK(fs::is_directory(place + "rank-000007.elc"));
}

TEST_CASE("only the owner can read what is made, whatever the umask, unless asked for") {
  FaultyDisk disk;
  const std::string top = std::string(disk.dir()) + "/deep/lines";
  const mode_t umask_before = umask(0);
  Config config;
  mode_t extra = 0;
  SUBCASE("owner") {}
  SUBCASE("group") { config.readers = Readers::kGroup, extra = 0040; }
  SUBCASE("all") { config.readers = Readers::kAll, extra = 0044; }
  store::configure(config);
  REQUIRE(store::prepare(top.c_str()).ok());
  store::Lock lock;
  REQUIRE(lock.take(top.c_str(), "job.lock").ok());
  line(top.c_str(), 1);
  REQUIRE(store::request(top.c_str(), store::Order::kLine).ok());
  REQUIRE(store::write_refusal(top.c_str(), 2, "a reason").ok());
  REQUIRE(store::mark_finished(top.c_str(), kRun).ok());
  store::configure(Config());
  umask(umask_before);
  CHECK(mode(top) == (0700 | extra | extra >> 2));
  for (const auto& entry : fs::recursive_directory_iterator(top))
    CHECK_MESSAGE(mode(entry.path()) == (entry.is_directory() ? 0700 | extra | extra >> 2 : 0600 | extra),
                  entry.path().string());
}

TEST_CASE("lines of another user are refused unless asked for") {
  FaultyDisk disk;
  line(disk.dir(), 1);
  store::system_calls.file_status = foreign;
  CHECK(says(start(disk.dir()), "ELC_TRUST=any"));
  store::Commit record;
  CHECK(!store::read_commit(disk.dir(), 1, &record).ok());
  store::RankSource source;
  CHECK(!source.open(disk.dir(), 1, 0).ok());
  Config config;
  config.trust = Trust::kAny;
  store::configure(config);
  CHECK(start(disk.dir()) == "line 1");
  CHECK(source.open(disk.dir(), 1, 0).ok());
  store::configure(Config());
  // What another user asks for is not done, and what that one has left is not removed.
  store::system_calls.file_status = store::kRealSystem.file_status;
  store::Control control;
  control.open(disk.dir());
  write(std::string(disk.dir()) + "/control", "stop\n");
  line(disk.dir(), 2);
  store::system_calls.file_status = foreign;
  CHECK(control.look() == store::Order::kNone);
  CHECK(!store::remove_line(disk.dir(), 1).ok());
  store::system_calls.file_status = store::kRealSystem.file_status;
  CHECK(fs::exists(store::commit_path(disk.dir(), 1).c_str()));
}

TEST_CASE("two jobs in one directory do not write into each other's lines") {
  FaultyDisk disk;
  const char* const dir = disk.dir();
  store::RankFile first, second, late;
  REQUIRE(first.open(dir, 1, 11, 0).ok());
  REQUIRE(first.write("first", 5).ok());
  CHECK(says(second.open(dir, 1, 22, 1).message(), "another job"));
  second.discard();
  REQUIRE(late.open(dir, 1, 11, 1).ok());
  REQUIRE(late.finish().ok());
  REQUIRE(first.finish().ok());
  store::Commit record;
  record.line = 1, record.run = 22, record.ranks = 2;
  CHECK(!store::commit(dir, record).ok());
  record.run = 11;
  REQUIRE(store::commit(dir, record).ok());
  first.keep();
  late.keep();
  CHECK(!second.open(dir, 1, 22, 0).ok());
  second.discard();
  CHECK(read(store::rank_path(dir, 1, 0).c_str()) == "first");
  CHECK(start(dir) == "line 1");
}

TEST_CASE("a line that another job removes while it is taken does not commit") {
  FaultyDisk disk;
  store::RankFile file;
  REQUIRE(file.open(disk.dir(), 1, 11, 0).ok());
  REQUIRE(file.finish().ok());
  // Between the look at whose line it is and the record.
  static const char* dir;
  dir = disk.dir();
  static int (*rename)(int, const char*, const char*);
  rename = store::system_calls.rename;
  store::system_calls.rename = [](int at, const char* from, const char* to) {
    if (std::string(to) == "commit") {
      store::system_calls.rename = rename;
      fs::remove(std::string(dir) + "/line-000001/run");
      fs::remove(std::string(dir) + "/line-000001/rank-000000.elc");
    }
    return rename(at, from, to);
  };
  store::Commit record;
  record.line = 1, record.run = 11, record.ranks = 1;
  CHECK(!store::commit(dir, record).ok());
  CHECK(!fs::exists(store::commit_path(dir, 1).c_str()));
}

TEST_CASE("names of lines that no run can have made are no lines; numbers that leave no room for others refuse") {
  FaultyDisk disk;
  line(disk.dir(), 1);
  for (const char* name : {"line-4294967300", "line-18446744073709551614", "line-18446744073709551615",
                           "line-99999999999999999999", "line-7", "line-0000008"})
    fs::create_directory(std::string(disk.dir()) + "/" + name);
  store::Survey there;
  REQUIRE(store::survey(disk.dir(), &there).ok());
  CHECK(there.highest == 1);
  CHECK(start(disk.dir()) == "line 1");
  fs::create_directory(std::string(disk.dir()) + "/line-4294967295");
  CHECK(says(start(disk.dir()), "4294967295"));
}

TEST_CASE("a new directory lasts, and so do those above it that were made") {
  FaultyDisk disk;
  const std::string dir = std::string(disk.dir()) + "/a/b";
  REQUIRE(store::prepare(dir.c_str()).ok());
  std::mt19937_64 random(1);
  for (int i = 0; i < 10; ++i) disk.cut_power(random);
  CHECK(fs::is_directory(dir));
}
