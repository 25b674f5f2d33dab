// The rules of the store on a disk that works.
#include "store/store.h"

#include <doctest/doctest.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "faulty_disk.h"

namespace fs = std::filesystem;
using namespace elc;
using test::FaultyDisk;

namespace {

void rank_file(const char* dir, uint64_t line, uint32_t rank, uint64_t run = 9) {
  store::RankFile file;
  const Result status = file.open(dir, line, run, rank);
  REQUIRE_MESSAGE(status.ok(), status.message());
  REQUIRE(file.write("x", 1).ok());
  REQUIRE(file.finish().ok());
}

void line(const char* dir, uint64_t number, uint64_t run, uint64_t base = 0) {
  rank_file(dir, number, 0, run);
  store::Commit record;
  record.line = number;
  record.run = run;
  record.base = base;
  record.ranks = 1;
  const Result status = store::commit(dir, record);
  REQUIRE_MESSAGE(status.ok(), status.message());
}

std::string numbers(const char* dir) {
  store::Survey there;
  REQUIRE(store::survey(dir, &there).ok());
  std::string text;
  for (const store::Line& l : there.lines) text += (text.empty() ? "" : " ") + std::to_string(l.number);
  return text;
}

uint64_t restartable(const char* dir) {
  store::Survey there;
  REQUIRE(store::survey(dir, &there).ok());
  return there.restartable();
}

uint64_t before(const char* dir, uint64_t line) {
  store::Survey there;
  REQUIRE(store::survey(dir, &there).ok());
  return there.predecessor(line);
}

void clean(const char* dir, uint32_t keep) {
  const Result status = store::clean(dir, keep, 0);
  REQUIRE_MESSAGE(status.ok(), status.message());
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

}  // namespace

TEST_CASE("the commit record keeps what was put in") {
  FaultyDisk disk;
  for (const uint32_t rank : {0, 1, 2}) rank_file(disk.dir(), 7, rank, 1234567890123456789u);
  store::Commit in;
  in.line = 7, in.run = 1234567890123456789u, in.base = 5, in.calls = 42, in.ranks = 3;
  in.cost = 1500000;
  REQUIRE(store::commit(disk.dir(), in).ok());
  store::Commit out;
  REQUIRE(store::read_commit(disk.dir(), 7, &out).ok());
  CHECK(out.line == in.line);
  CHECK(out.run == in.run);
  CHECK(out.base == in.base);
  CHECK(out.calls == in.calls);
  CHECK(out.ranks == in.ranks);
  CHECK(out.cost == in.cost);
  CHECK(out.time > 1600000000000000u);
}

TEST_CASE("a line of which a rank's file is not there does not commit") {
  FaultyDisk disk;
  for (const uint32_t rank : {0, 2}) rank_file(disk.dir(), 1, rank);
  store::Commit record;
  record.line = 1, record.run = 9, record.ranks = 3;
  const Result status = store::commit(disk.dir(), record);
  REQUIRE(!status.ok());
  CHECK(std::string(status.message()).find("rank-000001.elc is not there, which its rank has written: ELC_DIR has to be "
                                           "one directory for all ranks") != std::string::npos);
  CHECK(restartable(disk.dir()) == 0);
}

TEST_CASE("a commit record with any byte changed, or cut short, does not count") {
  FaultyDisk disk;
  line(disk.dir(), 3, 1);
  const std::string path = store::commit_path(disk.dir(), 3).c_str();
  std::string good;
  {
    std::ifstream in(path, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  store::Commit record;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    write(path, bad);
    CHECK(!store::read_commit(disk.dir(), 3, &record).ok());
    write(path, good.substr(0, i));
    CHECK(!store::read_commit(disk.dir(), 3, &record).ok());
  }
  store::Survey there;
  REQUIRE(store::survey(disk.dir(), &there).ok());
  CHECK(!there.find(3)->committed);
  CHECK(!there.find(3)->damage.empty());
  uint64_t from = 0;
  const Result alone = store::line_to_restart(there, disk.dir(), Config(), &from);
  CHECK(std::string(alone.message()).find("begin anew with ELC_RESTART=no") != std::string::npos);
  write(path, good);
  fs::rename(store::line_path(disk.dir(), 3).c_str(), store::line_path(disk.dir(), 4).c_str());
  const Result moved = store::read_commit(disk.dir(), 4, &record);
  CHECK(std::string(moved.message()).find("line 3") != std::string::npos);
}

TEST_CASE("an empty directory and one that is not there hold no lines") {
  FaultyDisk disk;
  CHECK(numbers(disk.dir()) == "");
  CHECK(restartable(disk.dir()) == 0);
  CHECK(numbers((std::string(disk.dir()) + "/nowhere").c_str()) == "");
}

TEST_CASE("prepare makes all of a path, and says what stands in the way") {
  FaultyDisk disk;
  const std::string deep = std::string(disk.dir()) + "/a/b/c";
  REQUIRE(store::prepare(deep.c_str()).ok());
  CHECK(fs::is_directory(deep));
  REQUIRE(store::prepare(deep.c_str()).ok());
  write(deep + "/file", "");
  const Result status = store::prepare((deep + "/file/d").c_str());
  CHECK(std::string(status.message()).find(deep + "/file") != std::string::npos);
  fs::create_symlink("nothing", deep + "/link");
  CHECK(std::string(store::prepare((deep + "/link").c_str()).message()).find("a symbolic link that leads nowhere") !=
        std::string::npos);
}

TEST_CASE("clean keeps the newest committed lines and what may be in the making") {
  FaultyDisk disk;
  line(disk.dir(), 1, 9);
  line(disk.dir(), 2, 9);
  rank_file(disk.dir(), 3, 0);  // abandoned
  line(disk.dir(), 4, 9);
  line(disk.dir(), 5, 9);
  rank_file(disk.dir(), 6, 0);  // being written
  SUBCASE("2") {
    clean(disk.dir(), 2);
    CHECK(numbers(disk.dir()) == "4 5 6");
  }
  SUBCASE("1") {
    clean(disk.dir(), 1);
    CHECK(numbers(disk.dir()) == "5 6");
  }
  SUBCASE("0 never removes the newest") {
    clean(disk.dir(), 0);
    CHECK(numbers(disk.dir()) == "5 6");
  }
  SUBCASE("many") {
    clean(disk.dir(), 100);
    CHECK(numbers(disk.dir()) == "1 2 4 5 6");
  }
}

TEST_CASE("of its own run process 0 removes the records, and each rank its file") {
  FaultyDisk disk;
  constexpr uint32_t kRanks = 40;
  const auto take = [&](uint64_t number, uint64_t run) {
    for (uint32_t rank = 0; rank < kRanks; ++rank) rank_file(disk.dir(), number, rank, run);
    store::Commit record;
    record.line = number, record.run = run, record.ranks = kRanks;
    REQUIRE(store::commit(disk.dir(), record).ok());
  };
  const auto files = [&](uint64_t number) {
    const fs::path place = store::line_path(disk.dir(), number).c_str();
    return fs::exists(place) ? std::distance(fs::directory_iterator(place), fs::directory_iterator()) : -1;
  };
  static int unlinked;
  static decltype(store::system_calls.unlink) unlink;
  unlink = store::system_calls.unlink;
  store::system_calls.unlink = [](int at, const char* name) {
    ++unlinked;
    return unlink(at, name);
  };
  const auto clean_up = [&](uint64_t run) {
    unlinked = 0;
    REQUIRE(store::clean(disk.dir(), 1, run).ok());
    return unlinked;
  };
  bool gone = true;
  take(1, 8);
  take(2, 9);
  CHECK(clean_up(9) == 2 + static_cast<int>(kRanks));  // nobody else would do it
  CHECK(files(1) == -1);
  take(3, 9);
  REQUIRE(store::remove_own(disk.dir(), 2, 0, &gone).ok());
  CHECK((!gone && files(2) == kRanks + 2));  // it is a line still
  CHECK(clean_up(9) == 2);
  CHECK((numbers(disk.dir()) == "2 3" && restartable(disk.dir()) == 3 && before(disk.dir(), 3) == 0));
  CHECK(files(2) == kRanks);
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    unlinked = 0;
    REQUIRE(store::remove_own(disk.dir(), 2, rank, &gone).ok());
    CHECK((gone && unlinked == 1 && files(2) == (rank + 1 < kRanks ? static_cast<int>(kRanks - rank - 1) : -1)));
  }
  REQUIRE(store::remove_own(disk.dir(), 2, 0, &gone).ok());
  CHECK(gone);
  take(4, 9);
  CHECK(clean_up(9) == 2);
  take(5, 9);
  REQUIRE(store::remove_own(disk.dir(), 3, 7, &gone).ok());
  CHECK(clean_up(9) == 2 + static_cast<int>(kRanks - 1));  // what its ranks have not done in time
  CHECK((files(3) == -1 && files(4) == kRanks));
  store::system_calls.unlink = unlink;
}

TEST_CASE("clean removes nothing before the first commit") {
  FaultyDisk disk;
  rank_file(disk.dir(), 1, 0);
  rank_file(disk.dir(), 2, 0);
  clean(disk.dir(), 1);
  CHECK(numbers(disk.dir()) == "1 2");
}

TEST_CASE("clean removes left-over temporary files and leaves files of others") {
  FaultyDisk disk;
  rank_file(disk.dir(), 1, 0);
  write(std::string(store::line_path(disk.dir(), 1).c_str()) + "/rank-000001.elc.tmp77", "half");
  rank_file(disk.dir(), 2, 0);
  const std::string notes = std::string(store::line_path(disk.dir(), 2).c_str()) + "/notes.txt";
  write(notes, "mine");
  write(std::string(disk.dir()) + "/line-x", "mine");
  for (const char* left : {"finished.tmp77", "refused.tmp77", "refused"}) write(std::string(disk.dir()) + "/" + left, "half");
  write(std::string(disk.dir()) + "/finished.tmpx", "mine");
  line(disk.dir(), 3, 9);
  REQUIRE(store::mark_finished(disk.dir(), 9).ok());
  REQUIRE(store::unmark_finished(disk.dir(), 0, 1).ok());
  clean(disk.dir(), 1);
  CHECK(numbers(disk.dir()) == "2 3");
  CHECK(fs::exists(std::string(disk.dir()) + "/finished"));
  CHECK(fs::exists(std::string(disk.dir()) + "/finished.tmpx"));
  for (const char* left : {"finished.tmp77", "refused.tmp77", "refused"})
    CHECK_MESSAGE(!fs::exists(std::string(disk.dir()) + "/" + left), left);
  CHECK(fs::exists(notes));
  CHECK(!fs::exists(store::rank_path(disk.dir(), 2, 0).c_str()));
  CHECK(fs::exists(std::string(disk.dir()) + "/line-x"));
}

TEST_CASE("notes are read behind a line, whole, and left out when no committed line needs them") {
  FaultyDisk disk;
  const auto bytes = [](const std::string& text) {
    Bytes all;
    all.append(reinterpret_cast<const uint8_t*>(text.data()), text.size());
    return all;
  };
  const auto read = [&](uint64_t behind) {
    store::Notes notes;
    Vector<Bytes> found;
    notes.keep(disk.dir(), 3);
    REQUIRE(notes.read(behind, &found).ok());
    std::string text;
    for (const Bytes& note : found) text += (text.empty() ? "" : " ") + std::string(reinterpret_cast<const char*>(note.data()), std::min<size_t>(note.size(), 9));
    return text;
  };
  const std::string path = std::string(disk.dir()) + "/notes-3";
  store::Notes notes;
  notes.keep(disk.dir(), 3);
  CHECK(read(0).empty());
  REQUIRE((notes.add(4, bytes("of 4")).ok() && notes.add(5, bytes("of 5")).ok() && notes.add(4, bytes("again")).ok()));
  CHECK(read(4) == "of 4 of 5 again");
  CHECK(read(5) == "of 5");
  CHECK(read(6).empty());
  std::ofstream(path, std::ios::app) << "half";  // of a record
  CHECK(read(4) == "of 4 of 5 again");
  fs::resize_file(path, fs::file_size(path) - 4);

  // While there is a line that may be restarted all behind it is kept, however much that is.
  line(disk.dir(), 5, 9);
  line(disk.dir(), 6, 9, 5);
  const std::string large(100000, 'x');
  for (int i = 0; i < 40; ++i) REQUIRE(notes.add(6, bytes("large " + large)).ok());
  CHECK(read(4).substr(0, 20) == "of 5 large xxx large");
  fs::remove_all(store::line_path(disk.dir(), 5).c_str());
  for (int i = 0; i < 80; ++i) REQUIRE(notes.add(7, bytes("large " + large)).ok());
  CHECK(read(4).substr(0, 19) == "large xxx large xxx");
  fs::remove_all(store::line_path(disk.dir(), 6).c_str());
  line(disk.dir(), 8, 9);
  for (int i = 0; i < 200; ++i) REQUIRE(notes.add(8, bytes("l " + large)).ok());
  CHECK(read(4).substr(0, 3) == "l x");
  REQUIRE(notes.forget().ok());
  CHECK(read(0).empty());

  // A call that fails loses no note, and says which file it is.
  REQUIRE(notes.add(8, bytes("kept")).ok());
  disk.full_at_write(1);
  const Result full = notes.add(8, bytes("lost"));
  CHECK((!full.ok() && strstr(full.message(), "notes-3") != nullptr));
  disk.repair();
  CHECK(read(8) == "kept");
  REQUIRE(notes.add(8, bytes("behind it")).ok());
  CHECK(read(8) == "kept behind it");
  std::ofstream(path, std::ios::app) << "half of one";  // of a process that was killed
  store::Notes others;
  others.keep(disk.dir(), 3);
  REQUIRE(others.add(8, bytes("more")).ok());
  CHECK(read(8) == "kept behind it more");
}

TEST_CASE("of a file to which two processes write the second is told, until the first has given it up") {
  using Use = store::FileLocks::Use;
  FaultyDisk disk;
  store::system_calls = store::kRealSystem;
  int to_child[2], from_child[2];
  REQUIRE((pipe(to_child) == 0 && pipe(from_child) == 0));
  const pid_t child = fork();
  if (child == 0) {
    store::FileLocks locks;
    Vector<store::FileLocks::File> files;
    size_t other;
    char go;
    for (const uint64_t number : {uint64_t{40}, UINT64_MAX}) files.push_back({number, Use::kAlone});
    files.push_back({80, Use::kWrites});
    files.push_back({88, Use::kUnwritten});
    files.push_back({96, Use::kUnappended});
    files.push_back({104, Use::kAppends});
    files.push_back({112, Use::kReads});
    bool good = locks.take(disk.dir(), 1, files, &other).ok() && other == 7;
    good = good && write(from_child[1], "", 1) == 1 && read(to_child[0], &go, 1) == 1;
    good = good && locks.take(disk.dir(), 1, {}, &other).ok() && write(from_child[1], "", 1) == 1;
    good = good && read(to_child[0], &go, 1) == 1;
    _exit(good ? 0 : 1);
  }
  char there;
  REQUIRE(read(from_child[0], &there, 1) == 1);
  store::FileLocks locks;
  const auto takes = [&](uint64_t number, Use use) {
    Vector<store::FileLocks::File> files;
    files.push_back({48, Use::kAlone});
    files.push_back({number, use});
    size_t other = 0;
    REQUIRE(locks.take(disk.dir(), 1, files, &other).ok());
    REQUIRE(other >= 1);
    return other == 2;
  };
  for (const Use use : {Use::kUnwritten, Use::kUnappended, Use::kWrites, Use::kAppends, Use::kReads, Use::kAlone}) {
    const bool is_idle = use == Use::kUnwritten || use == Use::kUnappended;
    CHECK(!takes(UINT64_MAX, use));
    const bool reads = use == Use::kReads;
    CHECK(takes(80, use) == (is_idle || reads));
    CHECK(takes(88, use) == (is_idle || reads || use == Use::kWrites));
    CHECK(takes(96, use) == (use != Use::kAlone));
    CHECK(takes(104, use) == (reads || use == Use::kUnappended));
    CHECK(takes(112, use) == (use != Use::kAlone));
  }
  CHECK(locks.is_written_elsewhere(1, 40));
  CHECK(locks.is_written_elsewhere(1, 80));
  CHECK(!locks.is_written_elsewhere(1, 88));
  CHECK(!locks.is_written_elsewhere(1, 96));
  CHECK(locks.is_written_elsewhere(1, 104));
  CHECK(!locks.is_written_elsewhere(1, 112));
  CHECK(!locks.is_written_elsewhere(1, 48));  // it is here
  {
    Vector<store::FileLocks::File> files;
    files.push_back({80, Use::kAlone});
    size_t other = 0;
    CHECK((locks.take(disk.dir(), 2, files, &other).ok() && other == 1));  // for another line
    CHECK(!locks.is_written_elsewhere(2, 80));
  }
  REQUIRE((write(to_child[1], "", 1) == 1 && read(from_child[0], &there, 1) == 1));
  CHECK(takes(UINT64_MAX, Use::kAlone));
  CHECK(takes(80, Use::kWrites));
  CHECK(takes(88, Use::kAlone));
  CHECK(!locks.is_written_elsewhere(1, 80));
  REQUIRE(write(to_child[1], "", 1) == 1);
  int code = -1;
  REQUIRE(waitpid(child, &code, 0) == child);
  CHECK(code == 0);
  for (const int fd : {to_child[0], to_child[1], from_child[0], from_child[1]}) close(fd);
}

TEST_CASE("two processes may clean at once") {
  FaultyDisk disk;
  for (uint64_t n = 1; n <= 40; ++n) line(disk.dir(), n, 9);
  store::system_calls = store::kRealSystem;
  const pid_t child = fork();
  if (child == 0) _exit(store::clean(disk.dir(), 2, 0).ok() ? 0 : 1);
  clean(disk.dir(), 2);
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(numbers(disk.dir()) == "39 40");
}

TEST_CASE("history: a restart from an older line gives up what came after it") {
  FaultyDisk disk;
  line(disk.dir(), 1, 100);
  line(disk.dir(), 2, 100);
  line(disk.dir(), 3, 100);
  CHECK(restartable(disk.dir()) == 3);
  CHECK(before(disk.dir(), 3) == 2);
  line(disk.dir(), 4, 200, 1);
  CHECK(restartable(disk.dir()) == 4);
  CHECK(before(disk.dir(), 4) == 1);
  line(disk.dir(), 5, 200, 1);
  line(disk.dir(), 6, 300, 5);
  CHECK(before(disk.dir(), 6) == 5);
  CHECK(before(disk.dir(), 5) == 4);
  CHECK(before(disk.dir(), 4) == 1);
  CHECK(before(disk.dir(), 1) == 0);
  clean(disk.dir(), 100);
  CHECK(numbers(disk.dir()) == "1 4 5 6");
}

TEST_CASE("after a finished run the next one begins anew and counts on") {
  FaultyDisk disk;
  line(disk.dir(), 1, 100);
  line(disk.dir(), 2, 100);
  rank_file(disk.dir(), 3, 0);
  const std::string stray = std::string(disk.dir()) + "/line-4294967295";
  fs::create_directory(stray);
  REQUIRE(store::mark_finished(disk.dir(), 100).ok());
  fs::remove(stray);
  store::Survey there;
  REQUIRE(store::survey(disk.dir(), &there).ok());
  CHECK(there.finished == 3);
  CHECK(there.finished_run == 100);
  CHECK(there.highest == 3);
  CHECK(there.restartable() == 0);
  Config config;
  uint64_t from = 9;
  REQUIRE(store::line_to_restart(there, disk.dir(), config, &from).ok());
  CHECK(from == 0);
  config.restart = Restart::kLine;
  config.restart_line = 2;
  REQUIRE(store::line_to_restart(there, disk.dir(), config, &from).ok());
  CHECK(from == 2);
  // The new run is killed before and after its first line.
  rank_file(disk.dir(), 4, 0);
  CHECK(restartable(disk.dir()) == 0);
  line(disk.dir(), 5, 200);
  CHECK(restartable(disk.dir()) == 5);
  CHECK(before(disk.dir(), 5) == 0);
  clean(disk.dir(), 5);
  CHECK(numbers(disk.dir()) == "5");
}

TEST_CASE("numbers go on after all lines were removed") {
  FaultyDisk disk;
  line(disk.dir(), 1, 100);
  REQUIRE(store::mark_finished(disk.dir(), 100).ok());
  REQUIRE(store::remove_line(disk.dir(), 1).ok());
  store::Survey there;
  REQUIRE(store::survey(disk.dir(), &there).ok());
  CHECK(there.highest == 1);
}

TEST_CASE("a line that was asked for and is not there is an error that names it") {
  FaultyDisk disk;
  rank_file(disk.dir(), 1, 0);
  store::Survey there;
  REQUIRE(store::survey(disk.dir(), &there).ok());
  Config config;
  config.restart = Restart::kLine;
  uint64_t from = 0;
  for (const uint64_t wanted : {1, 2}) {
    config.restart_line = wanted;
    const Result status = store::line_to_restart(there, disk.dir(), config, &from);
    CHECK(std::string(status.message()).find("line " + std::to_string(wanted)) != std::string::npos);
  }
}

TEST_CASE("a file that is flushed in the background is there when that is done, and not before") {
  FaultyDisk disk;
  disk.slow(3);
  store::RankFile file;
  REQUIRE(file.open(disk.dir(), 1, 9, 0).ok());
  REQUIRE(file.write("abc", 3).ok());
  bool done = false;
  int looks = 0;
  for (; !done; ++looks) {
    CHECK(!fs::exists(disk.dir() + std::string("/line-000001/commit")));
    REQUIRE(file.advance(&done).ok());
    if (looks < 3) CHECK(!fs::exists(store::rank_path(disk.dir(), 1, 0).c_str()));
  }
  CHECK(looks > 6);  // for the file, and for its directory
  CHECK(fs::file_size(store::rank_path(disk.dir(), 1, 0).c_str()) == 3);
}

TEST_CASE("what a line relies on is flushed before its file has its name; where it cannot be, there is no line") {
  for (const int error : {EIO, ENOSPC, ESTALE, EINVAL}) {  // the last: it need not be flushed there
    bool told = false;
    for (uint64_t n = 1; n < 30; ++n) {
      FaultyDisk disk;
      disk.slow(2);
      disk.fail_at(n, error);
      store::RankFile file;
      if (!file.open(disk.dir(), 1, 7, 0).ok()) continue;
      file.rely_on(Descriptor(::open((disk.dir() + std::string("/log")).c_str(), O_RDWR | O_CREAT, 0600)), "log");
      REQUIRE(file.write("abc", 3).ok());
      bool done = false;
      Result status;
      while (status.ok() && !done) status = file.advance(&done);
      const bool named = fs::exists(store::rank_path(disk.dir(), 1, 0).c_str());
      CHECK(named == status.ok());
      if (std::string(status.message()).find("relies on the file 'log'") == std::string::npos) continue;
      told = true;
      CHECK(disk.failed() == "fsync");
      CHECK(std::string(status.message()).find(strerror(error)) != std::string::npos);
    }
    CHECK(told == (error != EINVAL));
  }
}

TEST_CASE("the system's flush: in the background, and at once where it was not begun") {
  const store::System& system = store::kRealSystem;
  const fs::path path = fs::temp_directory_path() / ("elc-flush-" + std::to_string(getpid()));
  const int fd = system.open(AT_FDCWD, path.c_str(), O_CREAT | O_WRONLY, 0600);
  REQUIRE(fd >= 0);
  REQUIRE(system.write(fd, "abc", 3) == 3);
  CHECK(system.end_flush(fd) == 0);
  CHECK(!system.flushing());
  system.start_flush(fd);
  while (system.flushing()) sched_yield();
  CHECK(system.end_flush(fd) == 0);
  system.start_flush(fd);
  CHECK(system.end_flush(fd) == 0);
  system.close(fd);
  fs::remove(path);
  system.start_flush(fd);
  CHECK(system.end_flush(fd) == -1);
  CHECK(errno == EBADF);
}

TEST_CASE("an abandoned line goes, and with the last rank its directory") {
  FaultyDisk disk;
  store::RankFile first, second;
  REQUIRE(first.open(disk.dir(), 1, 9, 0).ok());
  REQUIRE(second.open(disk.dir(), 1, 9, 1).ok());
  REQUIRE(first.finish().ok());
  first.discard();
  CHECK(numbers(disk.dir()) == "1");
  // One that comes late finds it abandoned by some, and is not told that it is another job's.
  store::RankFile late;
  CHECK(late.open(disk.dir(), 1, 9, 2).ok());
  late.discard();
  second.discard();
  CHECK(numbers(disk.dir()) == "");
  {
    store::RankFile forgotten;
    REQUIRE(forgotten.open(disk.dir(), 2, 9, 0).ok());
  }
  CHECK(numbers(disk.dir()) == "");
}

TEST_CASE("the file of a committed line stays when the next line is abandoned before it has one") {
  FaultyDisk disk;
  store::RankFile file;
  REQUIRE(file.open(disk.dir(), 1, 9, 0).ok());
  REQUIRE(file.finish().ok());
  file.keep();
  file.discard();
  CHECK(fs::exists(store::rank_path(disk.dir(), 1, 0).c_str()));
}

TEST_CASE("requests: each is seen once, old ones and other texts are not") {
  FaultyDisk disk;
  REQUIRE(store::request(disk.dir(), store::Order::kStop).ok());
  store::Control control;
  control.open(disk.dir());
  CHECK(control.look() == store::Order::kNone);
  REQUIRE(store::request(disk.dir(), store::Order::kLine).ok());
  CHECK(control.look() == store::Order::kLine);
  CHECK(control.look() == store::Order::kNone);
  REQUIRE(store::request(disk.dir(), store::Order::kLine).ok());
  CHECK(control.look() == store::Order::kLine);
  REQUIRE(store::request(disk.dir(), store::Order::kStop).ok());
  CHECK(control.look() == store::Order::kStop);
  const std::string path = std::string(disk.dir()) + "/control";
  fs::remove(path);
  CHECK(control.look() == store::Order::kNone);
  write(path, "line\n");
  CHECK(control.look() == store::Order::kLine);
  write(path, "");
  CHECK(control.look() == store::Order::kNone);
  write(path, "lines please\n");
  CHECK(control.look() == store::Order::kNone);
  write(path, "stop");
  CHECK(control.look() == store::Order::kStop);
}

TEST_CASE("why a line was refused: one line of text, until a line has committed") {
  FaultyDisk disk;
  const char* dir = disk.dir();
  Text why;
  REQUIRE(store::read_refusal(dir, &why).ok());
  CHECK(why.empty());
  REQUIRE(store::write_refusal(dir, 7, "rank 3: a window\nand more").ok());
  REQUIRE(store::write_refusal(dir, 8, "rank 3: a window").ok());
  REQUIRE(store::read_refusal(dir, &why).ok());
  CHECK(why.view() == "line 8: rank 3: a window");
  CHECK(numbers(dir) == "");
  line(dir, 9, 1);
  REQUIRE(store::clean(dir, 2, 0).ok());
  REQUIRE(store::read_refusal(dir, &why).ok());
  CHECK(why.empty());
  REQUIRE(store::forget_refusal(dir).ok());
  REQUIRE(store::write_refusal(dir, 10, std::string(100000, 'x').c_str()).ok());
  REQUIRE(store::read_refusal(dir, &why).ok());
  CHECK(why.view().size() > 1000);
}

TEST_CASE("the mark of a finished run can be taken back") {
  FaultyDisk disk;
  const char* dir = disk.dir();
  line(dir, 1, 11);
  REQUIRE(store::mark_finished(dir, 11).ok());
  CHECK(restartable(dir) == 0);
  REQUIRE(store::unmark_finished(dir, 0, 0).ok());
  CHECK(restartable(dir) == 1);
  REQUIRE(store::mark_finished(dir, 11).ok());
  line(dir, 2, 12);
  REQUIRE(store::mark_finished(dir, 12).ok());
  REQUIRE(store::unmark_finished(dir, 1, 11).ok());
  CHECK(restartable(dir) == 2);
  store::Survey there;
  REQUIRE(store::survey(dir, &there).ok());
  CHECK(there.finished == 1);
  CHECK(there.finished_run == 11);
}

TEST_CASE("a second job in the same directory is refused while the first lives") {
  FaultyDisk disk;
  int ready[2], end[2];
  REQUIRE(pipe(ready) == 0);
  REQUIRE(pipe(end) == 0);
  const pid_t child = fork();
  char byte = 0;
  if (child == 0) {
    close(end[1]);
    store::Lock lock;
    byte = lock.take(disk.dir(), "job.lock").ok() ? 'y' : 'n';
    if (::write(ready[1], &byte, 1) != 1) _exit(1);
    _exit(read(end[0], &byte, 1) < 0);
  }
  REQUIRE(read(ready[0], &byte, 1) == 1);
  CHECK(byte == 'y');
  {
    store::Lock lock;
    const Result status = lock.take(disk.dir(), "job.lock");
    REQUIRE(!status.ok());
    CHECK(std::string(status.message()).find(std::to_string(child)) != std::string::npos);
  }
  close(end[1]);
  REQUIRE(waitpid(child, nullptr, 0) == child);
  store::Lock lock;
  CHECK(lock.take(disk.dir(), "job.lock").ok());
}
