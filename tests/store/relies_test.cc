// Lines that rely on others: those stay as long as they are needed, and where they are gone nothing is taken for whole.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "faulty_disk.h"
#include "portable_format/pieces.h"
#include "store/store.h"

namespace fs = std::filesystem;
using namespace elc;
using test::FaultyDisk;

namespace {

constexpr uint64_t kRun = 77;

// A run of one rank, whose data change a little from line to line.
struct Run {
  const char* dir;
  format::Pieces pieces;
  std::vector<double> data = std::vector<double>(100000, 0.5);
  std::vector<uint64_t> chain;

  explicit Run(const char* where) : dir(where) {
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i) * 1.25;
    REQUIRE(pieces.prepare());
  }

  store::Commit record(uint64_t line) const {
    store::Commit record;
    record.line = line;
    record.run = kRun;
    record.ranks = 1;
    for (const uint64_t base : chain) record.relies_on.push_back(base);
    return record;
  }

  Result take(uint64_t line, bool whole) {
    if (whole) chain.clear();
    data[line] += 1;
    store::RankFile file;
    ELC_TRY(file.open(dir, line, kRun, 0));
    const format::TypeTable types;
    format::Writer writer(&types, file.sink());
    pieces.start(whole);
    writer.refer_to(&pieces);
    store::write_label(writer, {line, kRun, 0, 1});
    writer.begin_section("data", true);
    ELC_TRY(writer.write_value(format::kDouble, data.data(), data.size(), {}));
    ELC_TRY(writer.finish());
    ELC_TRY(file.finish());
    const Result committed = store::commit(dir, record(line));
    if (!committed.ok()) file.discard();
    ELC_TRY(committed);
    file.keep();
    pieces.adopt(writer.as_base(line), writer.sections());
    chain.push_back(line);
    return {};
  }
};

std::string fault(const char* dir, const store::Commit& record) {
  store::RankSource source;
  format::Reader reader;
  const Result status = store::open_verified(dir, record, 0, &source, &reader);
  return status.ok() ? "" : status.message();
}

std::string fault(const char* dir, uint64_t line) {
  store::Commit record;
  const Result status = store::read_commit(dir, line, &record);
  return status.ok() ? fault(dir, record) : status.message();
}

std::vector<uint64_t> lines(const char* dir) {
  store::Survey there;
  REQUIRE(store::survey(dir, &there).ok());
  std::vector<uint64_t> all;
  for (const store::Line& line : there.lines) all.push_back(line.number);
  return all;
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("what a kept line relies on is kept, and goes when it is not needed any more") {
  FaultyDisk disk;
  Run run(disk.dir());
  for (uint64_t line = 1; line <= 4; ++line) {
    REQUIRE(run.take(line, line == 1).ok());
    REQUIRE(store::clean(disk.dir(), 1, kRun).ok());
    CHECK(fault(disk.dir(), line) == "");
  }
  CHECK(lines(disk.dir()) == std::vector<uint64_t>{1, 2, 3, 4});
  REQUIRE(run.take(5, true).ok());
  REQUIRE(store::clean(disk.dir(), 2, 0).ok());  // the one before the newest, too
  CHECK(lines(disk.dir()) == std::vector<uint64_t>{1, 2, 3, 4, 5});
  REQUIRE(run.take(6, false).ok());
  REQUIRE(store::clean(disk.dir(), 2, 0).ok());
  CHECK(lines(disk.dir()) == std::vector<uint64_t>{5, 6});
  CHECK(fault(disk.dir(), 6) == "");
}

TEST_CASE("a record that cannot be read now may name any line") {
  FaultyDisk disk;
  Run run(disk.dir());
  for (uint64_t line = 1; line <= 3; ++line) REQUIRE(run.take(line, line != 2).ok());
  const std::string record = store::commit_path(disk.dir(), 2).c_str();
  fs::rename(record, record + ".aside");
  fs::create_directory(record);  // an error that is none of the file
  store::clean(disk.dir(), 1, 0).ok();
  fs::remove(record);
  fs::rename(record + ".aside", record);
  CHECK(fault(disk.dir(), 3) == "");
}

TEST_CASE("no line commits without those that it relies on") {
  FaultyDisk disk;
  Run run(disk.dir());
  REQUIRE(run.take(1, true).ok());
  REQUIRE(store::remove_line(disk.dir(), 1).ok());
  const Result status = run.take(2, false);
  CHECK((!status.ok() && std::string(status.message()).rfind(store::kReliedGone, 0) == 0));
  CHECK(lines(disk.dir()).empty());
  REQUIRE(run.take(3, true).ok());
  CHECK(fault(disk.dir(), 3) == "");
}

TEST_CASE("parts in files that are gone, damaged, or not of the line's record") {
  FaultyDisk disk;
  Run run(disk.dir());
  for (uint64_t line = 1; line <= 3; ++line) REQUIRE(run.take(line, line == 1).ok());
  REQUIRE(fault(disk.dir(), 3) == "");
  const fs::path base = store::rank_path(disk.dir(), 1, 0).c_str();
  SUBCASE("not of the record") {
    store::Commit record = run.record(3);
    record.relies_on.clear();
    CHECK(says(fault(disk.dir(), record), "relies on a file of line 1, which does not belong to it"));
  }
  SUBCASE("the file is gone") {
    fs::remove(base);
    CHECK(says(fault(disk.dir(), 3), "line-000001/rank-000000.elc is missing"));
  }
  SUBCASE("the line is gone, and so no automatic restart takes those that rely on it") {
    fs::remove_all(base.parent_path());
    CHECK(says(fault(disk.dir(), 3), "line-000001"));
    store::Survey there;
    REQUIRE(store::survey(disk.dir(), &there).ok());
    uint64_t line = there.restartable();
    const Result status = store::pass_over_incomplete(there, disk.dir(), Config(), &line);
    CHECK((!status.ok() && says(status.message(), "line-000001 is missing")));
  }
  SUBCASE("cut short") {
    fs::resize_file(base, fs::file_size(base) - 1);
    CHECK(says(fault(disk.dir(), 3), "parts of it are in the file of line 1, which cannot be used"));
  }
  SUBCASE("that of another line") {
    fs::copy_file(store::rank_path(disk.dir(), 2, 0).c_str(), base, fs::copy_options::overwrite_existing);
    CHECK(says(fault(disk.dir(), 3), "which cannot be used"));
  }
  SUBCASE("by its path alone") {
    store::RankSource source;
    format::Reader reader;
    REQUIRE(source.open(store::rank_path(disk.dir(), 3, 0).c_str()).ok());
    CHECK((reader.open(source.source()).ok() && reader.verify().ok()));
  }
}
