// Rank files in the format of portable_format: the label, and a check of all that can be checked.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "faulty_disk.h"
#include "portable_format/types.h"
#include "store/store.h"

namespace fs = std::filesystem;
using namespace elc;
using test::FaultyDisk;

namespace {

constexpr uint32_t kRanks = 3;

void write_rank(const char* dir, const store::Label& label, uint32_t place) {
  store::RankFile file;
  REQUIRE(file.open(dir, label.line, 77, place).ok());
  const format::TypeTable types;
  format::Writer writer(&types, file.sink());
  store::write_label(writer, label);
  writer.begin_section("data");
  const std::string data(2000000, static_cast<char>('a' + label.rank));
  writer.encoder().opaque(data.data(), data.size());
  writer.end_section();
  REQUIRE(writer.finish().ok());
  REQUIRE(file.finish().ok());
}

store::Commit write_line(const char* dir) {
  for (uint32_t rank = 0; rank < kRanks; ++rank) write_rank(dir, {5, 77, rank, kRanks}, rank);
  store::Commit record;
  record.line = 5;
  record.run = 77;
  record.ranks = kRanks;
  REQUIRE(store::commit(dir, record).ok());
  return record;
}

std::string fault(const char* dir, const store::Commit& record, uint32_t rank) {
  store::RankSource source;
  format::Reader reader;
  const Result status = store::open_verified(dir, record, rank, &source, &reader);
  return status.ok() ? "" : status.message();
}

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("a whole line, and what can be read from it afterwards") {
  FaultyDisk disk;
  const store::Commit record = write_line(disk.dir());
  for (uint32_t rank = 0; rank < kRanks; ++rank) {
    store::RankSource source;
    format::Reader reader;
    const Result status = store::open_verified(disk.dir(), record, rank, &source, &reader);
    REQUIRE_MESSAGE(status.ok(), status.message());
    format::Cursor in;
    REQUIRE(in.open(&reader, "data").ok());
    Bytes data;
    in.opaque(&data, 1 << 24);
    REQUIRE(in.finish().ok());
    CHECK(data.size() == 2000000);
    CHECK(data[1999999] == 'a' + rank);
  }
}

TEST_CASE("what is verified later is found where it is read, or where something has failed") {
  FaultyDisk disk;
  const store::Commit record = write_line(disk.dir());
  const std::string path = store::rank_path(disk.dir(), 5, 1).c_str();
  const auto later = [](const char* section) { return std::string(section) == "data"; };
  const auto change = [&](std::streamoff at) {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(at);
    file.put('?');
  };
  change(1500000);
  for (const bool asked : {false, true}) {
    store::RankSource source;
    format::Reader reader;
    const Result opened = store::open_verified(disk.dir(), record, 1, &source, &reader, later);
    REQUIRE_MESSAGE(opened.ok(), opened.message());
    format::Cursor in;
    Bytes data;
    REQUIRE(in.open(&reader, "data").ok());
    if (!asked) in.opaque(&data, 1 << 24);
    CHECK(in.ok() == asked);
    const Result rest = store::verify_rest(source, &reader);
    CHECK_MESSAGE(says(rest.message(), path + " cannot be used: section `data`: chunk "), std::string(rest.message()));
  }
  for (std::streamoff at = 300; at < 1000; at += 100) change(at);  // of other sections, or of the first chunk's header
  CHECK(says(fault(disk.dir(), record, 1), path));
}

TEST_CASE("a missing, short, changed, exchanged or foreign file is named with what is wrong") {
  FaultyDisk disk;
  const store::Commit record = write_line(disk.dir());
  const std::string path = store::rank_path(disk.dir(), 5, 1).c_str();
  SUBCASE("missing") {
    fs::remove(path);
    CHECK(says(fault(disk.dir(), record, 1), "missing"));
  }
  SUBCASE("a directory") {
    fs::remove(path);
    fs::create_directory(path);
    CHECK(says(fault(disk.dir(), record, 1), "not a file"));
  }
  SUBCASE("short") {
    for (const uintmax_t size : {uintmax_t{0}, uintmax_t{100}, fs::file_size(path) - 1}) {
      fs::resize_file(path, size);
      CHECK(says(fault(disk.dir(), record, 1), "cannot be used"));
    }
  }
  SUBCASE("changed") {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(1500000);
    file.put('?');
    file.close();
    CHECK(says(fault(disk.dir(), record, 1), "cannot be used"));
  }
  SUBCASE("exchanged") {
    fs::copy_file(store::rank_path(disk.dir(), 5, 2).c_str(), path, fs::copy_options::overwrite_existing);
    CHECK(says(fault(disk.dir(), record, 1), "does not belong there"));
  }
  SUBCASE("of another number of ranks") {
    write_rank(disk.dir(), {5, 77, 1, kRanks + 1}, 1);
    CHECK(says(fault(disk.dir(), record, 1), "rank 1 of 4"));
  }
  SUBCASE("of another run") {
    write_rank(disk.dir(), {5, 78, 1, kRanks}, 1);
    CHECK(says(fault(disk.dir(), record, 1), "another run"));
  }
  CHECK(says(fault(disk.dir(), record, 1), path));
  CHECK(fault(disk.dir(), record, 0) == "");
  CHECK(fault(disk.dir(), record, 2) == "");
}
