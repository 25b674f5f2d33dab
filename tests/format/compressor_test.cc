// Chunks that are made smaller: what comes back, what is not tried, and several threads.
#include "portable_format/compressor.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cmath>
#include <thread>

#include "portable_format/checksum.h"
#include "tests/format/examine.h"
#include "tests/format/support.h"

using namespace elc;
using namespace elc::format;

namespace {

using Data = std::vector<uint8_t>;

template <class T, class Of>
Data values(size_t count, Of of) {
  Data data(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    const T value = of(i);
    memcpy(data.data() + i * sizeof(T), &value, sizeof(T));
  }
  return data;
}

// A compressor with its memory, and the threads that work for it.
struct Works {
  std::vector<uint8_t> memory;
  Compressor compressor;
  std::vector<std::thread> threads;
  explicit Works(unsigned wanted, int level = 1)
      : memory(Compressor::memory(wanted)), compressor(memory.data(), level, wanted) {
    for (unsigned i = 0; i < compressor.wanted(); ++i) threads.emplace_back([this, i] { compressor.work(i); });
    compressor.began(compressor.wanted());
  }
  ~Works() {
    compressor.stop();
    for (std::thread& thread : threads) thread.join();
  }
};

Data unpacked(const Packed& p) {
  Data data(p.payload, p.payload + p.stored);
  CHECK(crc32_of(p.payload, p.stored) == p.checksum);
  if (p.flags == 0) return data;
  Data inflated(p.raw), out(p.raw);
  uLongf length = p.raw;
  REQUIRE(uncompress(inflated.data(), &length, p.payload, p.stored) == Z_OK);
  REQUIRE(length == p.raw);
  const uint32_t width = p.flags & ~kChunkDeflated;
  if (width == 0) return inflated;
  unshuffle(inflated.data(), out.data(), out.size(), width);
  return out;
}

// Bytes that it takes in the file.
size_t packed_size(Compressor& compressor, const Data& data, size_t width, bool stays = true) {
  compressor.put(data.data(), data.size(), width, stays);
  const Packed& p = compressor.take();
  REQUIRE(unpacked(p) == data);
  CHECK(p.raw == data.size());
  CHECK(p.stored <= p.raw);
  CHECK((p.flags != 0) == (p.stored < p.raw));
  return p.stored;
}

}  // namespace

TEST_CASE("bytes are shuffled and come back, with what is left behind the last element") {
  for (const size_t width : {2, 4, 8})
    for (const size_t size : {0, 1, 7, 8, 9, 31, 1000, 1003}) {
      const Data data = values<uint8_t>(size, [](size_t i) { return static_cast<uint8_t>(i * i); });
      Data shuffled(size), again(size);
      shuffle(data.data(), shuffled.data(), size, width);
      for (size_t i = 0; i < size / width * width; ++i)
        CHECK(shuffled[i % width * (size / width) + i / width] == data[i]);
      unshuffle(shuffled.data(), again.data(), size, width);
      CHECK(again == data);
    }
}

TEST_CASE("chunks of any content and size come back, and no larger than they were") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  std::mt19937_64 random(seed);
  for (const int level : {1, 6, 9}) {
    Works works(1, level);
    for (int round = 0; round < 300; ++round) {
      const size_t most = round % 50 == 0 ? kChunkSize : round % 5 == 0 ? 140000 : 300;
      Data data(round % 51 == 0 ? kChunkSize : 1 + random() % most);
      const uint64_t alphabet = 1 + random() % 256, period = 1 + random() % 10000;
      for (size_t i = 0; i < data.size(); ++i)
        data[i] = static_cast<uint8_t>(random() % 8 != 0 && i >= period ? data[i - period] : random() % alphabet);
      packed_size(works.compressor, data, size_t{1} << random() % 4, random() % 2 == 0);
    }
  }
}

TEST_CASE("what becomes smaller, and what does not") {
  Works works(1);
  Compressor& c = works.compressor;
  std::mt19937_64 random(1);
  const size_t all = kChunkSize;
  const Data smooth = values<double>(all / 8, [](size_t i) { return std::sin(1 + static_cast<double>(i) * 1e-4); });
  CHECK(packed_size(c, smooth, 8) < all * 8 / 10);
  CHECK(packed_size(c, smooth, 8) < packed_size(c, smooth, 1));
  const Data noise = values<uint64_t>(all / 8, [&](size_t) { return random(); });
  CHECK(packed_size(c, noise, 8) == all);
  CHECK(packed_size(c, noise, 1) == all);
  CHECK(packed_size(c, Data(all), 4) < all / 200);
  // Each byte as often as each other, but in order.
  CHECK(packed_size(c, values<uint8_t>(all, [](size_t i) { return static_cast<uint8_t>(i); }), 1) < all / 50);
  CHECK(packed_size(c, values<int32_t>(all / 4, [](size_t i) { return static_cast<int32_t>(i); }), 4) < all / 50);
}

TEST_CASE("several threads make the same file as none") {
  TypeTable types;
  const size_t count = 1500000;
  std::vector<double> smooth(count);
  for (size_t i = 0; i < count; ++i) smooth[i] = std::sqrt(static_cast<double>(i));
  const auto file = [&](unsigned threads) {
    Works works(threads);
    CHECK((threads < 2 || works.compressor.wanted() == threads));
    return write_file(types, {}, [&](Writer& w) {
      w.compress_with(&works.compressor);
      for (int i = 0; i < 3; ++i) {
        w.encoder().u32(7);  // what comes next begins anywhere
        CHECK(w.write_value(kDouble, smooth.data(), count - static_cast<size_t>(i), {}).ok());
      }
      w.end_section();
      w.compress_with(nullptr);
    });
  };
  const std::string one = file(1);
  CHECK(one.size() < 3 * count * 8 * 3 / 4);
  for (const unsigned threads : {2u, 3u, kMostCompressThreads}) CHECK(file(threads) == one);
}

TEST_CASE("the memory of a compressor is bounded") {
  for (unsigned threads = 1; threads <= kMostCompressThreads; ++threads)
    CHECK(Compressor::memory(threads) + threads * (size_t{256} << 10) <= size_t{64} << 20);
}

TEST_CASE("flags of chunks that nobody writes are refused") {
  TypeTable types;
  Works works(1);
  MemoryFile good;
  const std::vector<double> zeros(1000);
  good.bytes = write_file(types, {}, [&](Writer& w) {
    w.compress_with(&works.compressor);
    CHECK(w.write_value(kDouble, zeros.data(), zeros.size(), {}).ok());
    w.end_section();
    w.compress_with(nullptr);
  });
  const size_t flags_of_index = [&] {
    const size_t name = good.bytes.rfind("values");
    return name + 8 + 8 + 8 + 8 + 4 + 4 + 3;  // behind padding, size, count, offset, stored, raw: the lowest byte
  }();
  REQUIRE(good.bytes[flags_of_index] == 9);
  for (const int flags : {2, 4, 8, 1 | 2 | 4, 1 | 4 | 8, 2 | 16, 32, 33, 128}) {
    MemoryFile bad;
    bad.bytes = good.bytes;
    bad.bytes[flags_of_index] = static_cast<char>(flags);
    reseal(&bad.bytes);
    Reader reader;
    const Result status = reader.open(bad.source());
    CHECK(std::string(status.message()) == "section `values` is stored in a way that this version does not know");
  }
}
