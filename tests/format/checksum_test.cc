// The checksum, where the processor helps, against zlib's.
#include "portable_format/checksum.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <random>
#include <vector>

#include "tests/format/support.h"

using namespace elc::format;

TEST_CASE("the CRC-32 of what RFC 1952 and others give") {
  CHECK(crc32_of("123456789", 9) == 0xcbf43926);
  CHECK(crc32_of("", 0) == 0);
  CHECK(crc32_of(std::vector<char>(1 << 20).data(), 1 << 20) == 0xa738ea1c);
}

TEST_CASE("the CRC-32 of bytes of any number anywhere, in one piece and in two, is zlib's") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  std::mt19937_64 random(seed);
  std::vector<uint8_t> bytes(100000);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  const auto check = [&](size_t at, size_t size) {
    const uint8_t* data = bytes.data() + at;
    const auto before = static_cast<uint32_t>(random());
    const auto expected = static_cast<uint32_t>(crc32(before, data, static_cast<uInt>(size)));
    REQUIRE_MESSAGE(crc32_of(data, size, before) == expected, at, ", ", size, ", ", before);
    const size_t first = random() % (size + 1);
    REQUIRE_MESSAGE(crc32_of(data + first, size - first, crc32_of(data, first, before)) == expected, at, ", ", size,
                    ", ", before, ", ", first);
  };
  for (size_t size = 0; size <= 600; ++size)
    for (size_t at = 0; at < 17; ++at) check(at, size);
  for (int i = 0; i < 200; ++i) {
    const size_t at = random() % bytes.size();
    check(at, random() % (bytes.size() - at + 1));
  }
}
