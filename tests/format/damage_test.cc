// Files that are cut, changed or made up.
#include <doctest/doctest.h>

#include <optional>

#include "tests/format/examine.h"
#include "tests/format/support.h"

using namespace elc;
using namespace elc::format;

namespace {

Result open_and_verify(const std::string& bytes) {
  MemoryFile file;
  file.bytes = bytes;
  Reader reader;
  ELC_TRY(reader.open(file.source()));
  return reader.verify();
}

std::string small_file() {
  TypeTable types;
  TypeId pair;
  const FieldSpec fields[] = {{"a", 0, kInt, 1}, {"b", 4, kFloat, 1}};
  CHECK(types.make_struct("pair", 8, fields, &pair).ok());
  return write_file(types, {}, [&](Writer& w) {
    const double values[] = {1, 2, 3};
    w.encoder().string("hello");
    CHECK(w.write_value(kDouble, values, 3, {}).ok());
    w.cut();
    w.encoder().u64(9);
  });
}

void mutate(std::string* bytes, std::mt19937_64& random) {
  const auto below = [&](size_t n) { return static_cast<size_t>(random() % n); };
  for (size_t n = 1 + below(4); n > 0 && !bytes->empty(); --n) {
    const size_t at = below(bytes->size());
    const size_t length = std::min(bytes->size() - at, 1 + below(8));
    switch (below(6)) {
      case 0:
        (*bytes)[at] = static_cast<char>(random());
        break;
      case 1:
        (*bytes)[at] = static_cast<char>((*bytes)[at] ^ (1 << below(8)));
        break;
      case 2:
        bytes->erase(at, length);
        break;
      case 3:
        bytes->insert(at, bytes->substr(below(bytes->size()), length));
        break;
      case 4:
        bytes->replace(at, length, std::string(length, static_cast<char>(below(2) * 255)));
        break;
      case 5:
        (*bytes)[at] = static_cast<char>((*bytes)[at] + (below(2) == 0 ? 1 : -1));
        break;
    }
  }
}

}  // namespace

TEST_CASE("every change of a byte and every cut is found") {
  for (const std::string& file : {small_file(), sample_file(1, 9)}) {
    REQUIRE(open_and_verify(file).ok());
    for (size_t at = 0; at < file.size(); ++at) {
      std::string changed = file;
      for (const int bit : {0x01, 0x80, 0xff}) {
        changed[at] = static_cast<char>(file[at] ^ bit);
        CHECK_MESSAGE(!open_and_verify(changed).ok(), at);
      }
      CHECK_MESSAGE(!open_and_verify(file.substr(0, at)).ok(), at);
      if (file.size() < 2000) examine(changed);
    }
    for (size_t more = 1; more < 100; ++more) CHECK(!open_and_verify(file + std::string(more, '\0')).ok());
    CHECK(!open_and_verify(file + file).ok());
  }
}

TEST_CASE("a sample of every machine can be read, and is whole") {
  for (size_t machine = 0; machine < machines().size(); ++machine)
    for (const int compression : {0, 6}) CHECK(examine(sample_file(machine, compression)));
}

namespace {

constexpr size_t kChunks = 40, kValues = 100;  // in each

// Chunks of one length, and a shorter one.
std::string file_of_chunks(int compression) {
  const TypeTable types;
  std::vector<uint8_t> memory(compression > 0 ? Compressor::memory(1) : 0);
  std::optional<Compressor> compressor;
  MemoryFile file;
  Writer w(&types, file.sink());
  if (compression > 0) w.compress_with(&compressor.emplace(memory.data(), compression, 1));
  w.begin_section("values");
  for (size_t chunk = 0; chunk <= kChunks; ++chunk) {
    std::vector<int> values(chunk < kChunks ? kValues : kValues / 2, static_cast<int>(chunk));
    CHECK(w.write_value(kInt, values.data(), values.size(), {}).ok());
    w.cut();
  }
  w.end_section();
  CHECK(w.finish().ok());
  return file.bytes;
}

// Where the chunks of section "values" begin, from their headers.
std::vector<size_t> places_of_chunks(const std::string& file) {
  std::vector<size_t> places;
  const std::string magic = "ELCc";
  for (size_t at = 0; (at = file.find(magic, at)) != std::string::npos; ++at) places.push_back(at);
  REQUIRE(places.size() >= kChunks + 1);
  const auto behind = [&](size_t at) { return Decoder(reinterpret_cast<const uint8_t*>(file.data()) + at + 4, 4).u32(); };
  const uint32_t section = behind(places.front());
  std::vector<size_t> found;
  for (const size_t place : places)
    if (behind(place) == section) found.push_back(place);
  return found;
}

// By verify(), and by reading all of it where verify() has left it out.
std::vector<std::string> found_in(const std::string& bytes, unsigned threads) {
  std::vector<std::string> found;
  for (const bool later : {false, true}) {
    MemoryFile file;
    file.bytes = bytes;
    Reader reader;
    reader.use_threads(threads);
    REQUIRE(reader.open(file.source()).ok());
    if (!later) {
      found.push_back(reader.verify().message());
      continue;
    }
    REQUIRE(reader.verify([](const char* section) { return strcmp(section, "values") == 0; }).ok());
    std::vector<int> values(kChunks * kValues + kValues / 2, -1);
    Cursor in;
    REQUIRE(in.open(&reader, "values").ok());
    in.bytes(values.data(), values.size() * sizeof(int));
    found.push_back(in.finish().message());
    for (size_t i = 0; i < values.size() && in.ok(); ++i) REQUIRE(values[i] == static_cast<int>(i / kValues));
  }
  return found;
}

}  // namespace

TEST_CASE("several threads name the first chunk that is damaged, wherever that is, and read what is whole") {
  for (const int compression : {0, 6}) {
    const std::string whole = file_of_chunks(compression);
    const std::vector<size_t> places = places_of_chunks(whole);
    REQUIRE(places.size() == kChunks + 1);
    for (const unsigned threads : {1u, 2u, 5u, 100u}) {
      for (const std::string& says : found_in(whole, threads)) CHECK(says == "ok");
      for (size_t i = 0; i < places.size(); ++i) {
        for (const bool in_header : {false, true}) {
          std::string changed = whole;
          changed[places[i] + (in_header ? 3 : kChunkHeaderSize)] ^= 1;
          if (i + 1 < places.size()) changed[places.back() + kChunkHeaderSize] ^= 1;
          if (i + 2 < places.size()) changed[places[i + 2]] ^= 1;
          const std::string what = "section `values`: " + std::string(in_header ? "the header of " : "") + "chunk " +
                                   std::to_string(i) + " is damaged";
          for (const std::string& says : found_in(changed, threads)) CHECK_MESSAGE(says.find(what) == 0, says, " for ", what);
        }
      }
    }
  }
}

TEST_CASE("random changes behind sound checksums crash nothing") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  std::mt19937_64 random(seed);
  const size_t all = machines().size();
  std::vector<std::string> samples;
  for (size_t machine = 0; machine < all; ++machine)
    samples.push_back(sample_file(machine, machine % 2 == 0 ? 0 : 6));
  int sound = 0;
  for (int round = 0; round < 6000; ++round) {
    const size_t machine = random() % all;
    if (round % 2 == 0) {
      std::string file = samples[machine];
      mutate(&file, random);
      reseal(&file);
      sound += examine(file);
    } else {
      std::string types = section_of(samples[machine], "types"),
                  values = section_of(samples[machine], "values");
      mutate(random() % 2 == 0 ? &types : &values, random);
      examine(assemble(random() % 4 == 0 ? random() % all : machine, {{"types", types}, {"values", values}}));
    }
  }
  CHECK(sound < 6000);
}

TEST_CASE("what a made-up file announces is not believed") {
  const auto error_of = [](const std::string& bytes) {
    MemoryFile file;
    file.bytes = bytes;
    Reader reader;
    const Result status = reader.open(file.source());
    return std::string(status.message());
  };
  const std::string types = section_of(small_file(), "types");
  CHECK(error_of(assemble(0, {{"types", types}})) == "ok");
  CHECK(error_of("") == "not a checkpoint file, or cut short: it has 0 bytes");
  CHECK(error_of(std::string(1000, 'x')) == "not a checkpoint file: it does not begin like one");
  std::string newer = small_file();
  newer[11] = 2;
  CHECK(error_of(newer) == "written in version 2 of the file format, but this libELC reads version 1: use the newer "
                         "libELC");
  const auto table = [&](const std::function<void(Encoder&)>& fill) {
    Bytes bytes;
    Encoder out(&bytes);
    fill(out);
    return error_of(
        assemble(0, {{"types", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size())}}));
  };
  CHECK(table([](Encoder& e) { e.u64(1ull << 60); }) == "the file's table of types is cut short");
  const auto one_type = [&](uint32_t kind, int32_t of, uint64_t count) {
    return table([&](Encoder& e) {
      e.u64(1);
      e.u32(kind);
      e.string("t");
      e.u64(8);
      e.u64(1);
      e.string("f");
      e.i32(of);
      e.u64(count);
    });
  };
  CHECK(one_type(kStruct, kInt, 1) == "ok");
  CHECK(one_type(kStruct, kFirstMade, 1).find("not known") != std::string::npos);  // itself
  CHECK(one_type(kStruct, -1, 1).find("not known") != std::string::npos);
  CHECK(one_type(kStruct, kInt, 0).find("no elements") != std::string::npos);
  CHECK(one_type(kStruct, kInt, ~0ull).find("too large") != std::string::npos);
  CHECK(one_type(kInt, kInt, 1).find("not allowed") != std::string::npos);
}

TEST_CASE("an error of the sink comes out at the end, and nothing is written after it") {
  struct Full {
    size_t room, calls_after;
  };
  for (const size_t room : {size_t{0}, size_t{100}, size_t{300}, size_t{2000000}}) {
    Full full = {room, 0};
    const Sink sink = {&full, [](void* context, const void*, size_t size) {
                         Full& f = *static_cast<Full*>(context);
                         if (f.room == 0) ++f.calls_after;
                         if (size > f.room) {
                           f.room = 0;
                           return Result::error("the disk is full");
                         }
                         f.room -= size;
                         return Result();
                       }};
    TypeTable types;
    Writer writer(&types, sink);
    writer.begin_section("values");
    const std::vector<int> values(1000000);
    (void)writer.write_value(kInt, values.data(), values.size(), {});
    const Result status = writer.finish();
    CHECK(std::string(status.message()) == "the disk is full");
    CHECK(full.calls_after <= 1);
  }
}

TEST_CASE("an error of the source is the error of the reader") {
  const std::string sample = sample_file(0, 0);
  struct Failing {
    const std::string* bytes;
    int left;
  };
  for (int good = 0; good < 40; ++good) {
    Failing failing = {&sample, good};
    Reader reader;
    Result status =
        reader.open({&failing, sample.size(), [](void* context, uint64_t offset, void* data, size_t size) {
                       Failing& f = *static_cast<Failing*>(context);
                       if (f.left-- <= 0) return Result::error("I/O error");
                       memcpy(data, f.bytes->data() + offset, size);
                       return Result();
                     }});
    if (status.ok()) status = reader.verify();
    if (!status.ok()) CHECK(std::string(status.message()) == "I/O error");
  }
}

TEST_CASE("the writer's own mistakes are errors") {
  TypeTable types;
  MemoryFile file;
  for (const std::string& name : {std::string("types"), std::string(""), std::string("twice"),
                                  std::string(64, 'x'), std::string("a b")}) {
    Writer writer(&types, file.sink());
    writer.begin_section("twice");
    writer.end_section();
    writer.begin_section(name.c_str());
    CHECK(!writer.finish().ok());
  }
  Writer writer(&types, file.sink());
  writer.encoder().u32(1);
  CHECK(!writer.finish().ok());
}
