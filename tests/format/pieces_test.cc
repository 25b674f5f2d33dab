// Files that refer to earlier ones: what is read is what was written, whatever changed, moved, came or went; and files that
// are not what they were are refused.
#include "portable_format/pieces.h"

#include <doctest/doctest.h>

#include <map>
#include <memory>
#include <random>

#include "portable_format/checksum.h"
#include "tests/format/support.h"

using namespace elc;
using namespace elc::format;

namespace {

// The files of one process in some lines.
struct Chain {
  std::map<uint64_t, MemoryFile> files;
  Pieces pieces;
  uint64_t line = 0;

  static Source source_of(Chain* chain, uint64_t line) {
    Source source = chain->files[line].source();
    struct At {
      Chain* chain;
      MemoryFile* file;
    };
    static std::vector<std::unique_ptr<At>> kept;
    kept.push_back(std::make_unique<At>(At{chain, &chain->files[line]}));
    source.context = kept.back().get();
    source.read_at = [](void* context, uint64_t offset, void* data, size_t size) {
      const Source file = static_cast<At*>(context)->file->source();
      return file.read_at(file.context, offset, data, size);
    };
    source.open_base = [](void* context, uint64_t base, Source* opened) {
      Chain* const of = static_cast<At*>(context)->chain;
      if (of->files.count(base) == 0) return Result::error("the file of line %d is missing", static_cast<int>(base));
      *opened = source_of(of, base);
      return Result();
    };
    return source;
  }

  // A file with these arrays, and small values between them, which is then kept, or not.
  void write(const std::vector<std::vector<double>>& arrays, bool whole, int level, bool keep = true) {
    TypeTable types;
    MemoryFile& file = files[++line];
    std::vector<char> memory(Compressor::memory(1));
    Compressor compressor(memory.data(), level > 0 ? level : 1, 1);
    Writer writer(&types, file.sink());
    pieces.start(whole);
    writer.refer_to(&pieces);
    writer.begin_section("small");
    writer.encoder().u64(line);
    if (level > 0) writer.end_section(), writer.compress_with(&compressor);
    writer.begin_section("values", true);
    writer.encoder().u64(arrays.size());
    for (const std::vector<double>& array : arrays) writer.encoder().u64(array.size());
    writer.end_piece();
    uint64_t number = 0;
    for (const std::vector<double>& array : arrays) {
      writer.cut_before(++number, array.size() * sizeof(double));
      REQUIRE(writer.write_value(kDouble, array.data(), array.size(), {}).ok());
    }
    writer.end_section();
    writer.compress_with(nullptr);
    compressor.stop();
    const Result status = writer.finish();
    REQUIRE_MESSAGE(status.ok(), status.message());
    if (keep) pieces.adopt(writer.as_base(line), writer.sections());
  }

  Result read(uint64_t from, std::vector<std::vector<double>>* arrays) {
    Reader reader;
    ELC_TRY(reader.open(source_of(this, from)));
    ELC_TRY(reader.verify());
    Cursor cursor;
    ELC_TRY(cursor.open(&reader, "values"));
    arrays->resize(static_cast<size_t>(cursor.count(8)));
    for (std::vector<double>& array : *arrays) array.resize(static_cast<size_t>(cursor.u64()));
    TypeTable types;
    for (std::vector<double>& array : *arrays)
      ELC_TRY(cursor.read_value(kDouble, types, kDouble, array.data(), array.size(), {}));
    return cursor.finish();
  }

  std::string failure(uint64_t from) {
    std::vector<std::vector<double>> arrays;
    const Result status = read(from, &arrays);
    return status.ok() ? "" : status.message();
  }
};

std::vector<double> random_array(std::mt19937_64& random, size_t size) {
  std::vector<double> array(size);
  for (double& x : array) x = static_cast<double>(random() >> 11);
  return array;
}

bool contains(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("random changes: every file of a chain says what was written") {
  const uint64_t seed = getenv("ELC_TEST_SEED") != nullptr ? strtoull(getenv("ELC_TEST_SEED"), nullptr, 10) : std::random_device{}();
  MESSAGE("ELC_TEST_SEED=" << seed);
  std::mt19937_64 random(seed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (int round = 0; round < 20; ++round) {
    Chain chain;
    REQUIRE(chain.pieces.prepare());
    std::vector<std::vector<double>> arrays;
    std::map<uint64_t, std::vector<std::vector<double>>> written;
    for (size_t i = below(6); i > 0; --i) arrays.push_back(random_array(random, below(below(2) == 0 ? 300 : 60000)));
    for (int step = 0; step < 8; ++step) {
      for (size_t changes = below(4); changes > 0 && !arrays.empty(); --changes) {
        std::vector<double>& array = arrays[below(arrays.size())];
        switch (below(6)) {
          case 0: if (!array.empty()) array[below(array.size())] += 1; break;
          case 1: arrays.insert(arrays.begin() + static_cast<std::ptrdiff_t>(below(arrays.size())), random_array(random, below(20000))); break;
          case 2: arrays.erase(arrays.begin() + static_cast<std::ptrdiff_t>(below(arrays.size()))); break;
          case 3: array.resize(below(40000)); break;
          case 4: std::swap(arrays[below(arrays.size())], arrays[below(arrays.size())]); break;
          case 5: arrays.push_back(array); break;
        }
      }
      chain.write(arrays, step == 0 || below(6) == 0, static_cast<int>(below(2)), below(5) != 0);
      written[chain.line] = arrays;
    }
    for (const auto& [line, expected] : written) {
      CAPTURE(line);
      std::vector<std::vector<double>> found;
      const Result status = chain.read(line, &found);
      REQUIRE_MESSAGE(status.ok(), status.message());
      CHECK(found == expected);
    }
  }
}

TEST_CASE("what has not changed is not written again, also where it has moved") {
  std::mt19937_64 random(1);
  Chain chain;
  REQUIRE(chain.pieces.prepare());
  std::vector<std::vector<double>> arrays = {random_array(random, 100000), random_array(random, 3), random_array(random, 200000)};
  chain.write(arrays, true, 0);
  const size_t whole = chain.files[1].bytes.size();
  chain.write(arrays, false, 0);
  CHECK(chain.files[2].bytes.size() < whole / 100);
  std::swap(arrays[0], arrays[2]);
  arrays[0][7] = 1;
  chain.write(arrays, false, 0);
  CHECK(chain.files[3].bytes.size() < whole / 20);
  chain.write(arrays, true, 0);
  CHECK(chain.files[4].bytes.size() > whole * 9 / 10);
  // What was not kept is not referred to.
  arrays[0][8] = 1;
  chain.write(arrays, false, 0, false);
  chain.files.erase(5);
  chain.write(arrays, false, 0);
  CHECK(chain.failure(6).empty());
}

TEST_CASE("files that are not those that were referred to are refused") {
  std::mt19937_64 random(2);
  Chain chain;
  REQUIRE(chain.pieces.prepare());
  std::vector<std::vector<double>> arrays = {random_array(random, 100000)};
  for (int line = 1; line <= 3; ++line) {
    arrays[0][0] += 1;
    arrays[0][99999] += 1;
    chain.write(arrays, line == 1, line == 2);
  }
  REQUIRE(chain.failure(3).empty());
  const std::string base = chain.files[1].bytes;
  SUBCASE("missing") {
    chain.files.erase(1);
    CHECK(contains(chain.failure(3), "line 1 is missing"));
  }
  SUBCASE("cut short") {
    chain.files[1].bytes.resize(base.size() - 1);
    CHECK(contains(chain.failure(3), "in the file of line 1, which cannot be used"));
  }
  SUBCASE("another line's") {
    chain.files[1].bytes = chain.files[2].bytes;
    CHECK(contains(chain.failure(3), "in the file of line 1, which cannot be used: it is another one now"));
  }
  SUBCASE("another file of the same length") {
    Chain other;
    REQUIRE(other.pieces.prepare());
    std::vector<std::vector<double>> others = {random_array(random, 100000)};
    other.write(others, true, 0);
    REQUIRE(other.files[1].bytes.size() == base.size());
    chain.files[1].bytes = other.files[1].bytes;
    CHECK(contains(chain.failure(3), "it is another one now"));
  }
  SUBCASE("damaged where a chunk is") {
    chain.files[1].bytes[base.size() / 2] ^= 1;
    CHECK(contains(chain.failure(3), "which is in the file of line 1, is damaged (its checksum)"));
  }
  SUBCASE("damaged where no chunk of it is") {
    const size_t label = base.find("small");  // in the index
    REQUIRE(label != std::string::npos);
    chain.files[1].bytes[label] ^= 1;
    CHECK(contains(chain.failure(3), "the file's index is damaged"));
  }
  SUBCASE("none at hand") {
    Reader reader;
    const Result status = reader.open(chain.files[3].source());
    CHECK((!status.ok() && contains(status.message(), "which is not at hand here")));
  }
}

TEST_CASE("an index that refers to what is not there is refused, and reads nothing outside") {
  std::mt19937_64 random(3);
  Chain chain;
  REQUIRE(chain.pieces.prepare());
  std::vector<std::vector<double>> arrays = {random_array(random, 30000)};
  chain.write(arrays, true, 0);
  chain.write(arrays, false, 0);
  REQUIRE(chain.failure(2).empty());
  const std::string good = chain.files[2].bytes;
  const auto word = [&](size_t at) {
    uint64_t value = 0;
    for (size_t i = 0; i < 8; ++i) value = value << 8 | static_cast<uint8_t>(good[at + i]);
    return value;
  };
  const size_t trailer = good.size() - kTrailerSize;
  const size_t index = static_cast<size_t>(word(trailer + 4)), length = static_cast<size_t>(word(trailer + 12));
  size_t refused = 0, all = 0;
  // Each byte of the index, with checksums that are right again.
  for (size_t at = index; at < index + length; ++at) {
    for (const int change : {1, 0x10, 0x80}) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ change);
      const auto put = [&](size_t to, uint32_t value) {
        for (size_t i = 0; i < 4; ++i) bad[to + i] = static_cast<char>(value >> (24 - 8 * i));
      };
      put(trailer + 28, crc32_of(bad.data() + index, length));
      put(trailer + 32, crc32_of(bad.data() + trailer, 32));
      chain.files[2].bytes = bad;
      std::vector<std::vector<double>> found;
      const Result status = chain.read(2, &found);
      ++all;
      if (!status.ok()) ++refused;
      else CHECK(found == arrays);
    }
  }
  CHECK(refused > all * 9 / 10);
}
