// The hash of pieces, against its definition; and that it sees each bit and its place.
#include "portable_format/piece_hash.h"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <vector>

#include "tests/format/support.h"

using namespace elc::format;

namespace {

// Four digits of 32 bits, the lowest first.
void add_product(uint64_t a, uint64_t b, uint64_t sum[4]) {
  const uint64_t x[] = {a & 0xffffffff, a >> 32}, y[] = {b & 0xffffffff, b >> 32};
  for (size_t i = 0; i < 2; ++i)
    for (size_t j = 0; j < 2; ++j) {
      uint64_t carry = x[i] * y[j];
      for (size_t at = i + j; at < 4; ++at) {
        const uint64_t digit = sum[at] + (carry & 0xffffffff);
        sum[at] = digit & 0xffffffff;
        carry = (carry >> 32) + (digit >> 32);
      }
    }
}

PieceHash by_definition(const PieceKey& key, const uint8_t* data, size_t size) {
  std::vector<uint64_t> words((size + 15) / 16 * 2);
  if (size > 0) std::memcpy(words.data(), data, size);
  uint64_t sums[2][4] = {};
  for (size_t pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < words.size(); i += 2)
      add_product(words[i] + key.words[i + 2 * pass], words[i + 1] + key.words[i + 1 + 2 * pass], sums[pass]);
  const auto word = [&](size_t pass, size_t i) { return sums[pass][i] | sums[pass][i + 1] << 32; };
  return {{word(0, 0), word(0, 2), word(1, 0), word(1, 2)}};
}

}  // namespace

TEST_CASE("the hash of a piece is NH by its definition, of any length anywhere, and sees each change of a bit") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  std::mt19937_64 random(seed);
  PieceKey key;
  for (uint64_t& word : key.words) word = random();
  std::vector<uint8_t> bytes(kPieceSize + 16);
  for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
  for (int round = 0; round < 300; ++round) {
    const size_t size = round < 40 ? static_cast<size_t>(round) : round == 40 ? kPieceSize : random() % (kPieceSize + 1);
    uint8_t* const piece = bytes.data() + random() % 16;
    const PieceHash hash = hash_of_piece(key, piece, size);
    REQUIRE_MESSAGE(hash == by_definition(key, piece, size), size);
    if (size == 0) continue;
    const size_t bit = random() % (8 * size);
    const auto mask = static_cast<uint8_t>(1 << bit % 8);
    piece[bit / 8] = static_cast<uint8_t>(piece[bit / 8] ^ mask);
    CHECK_FALSE(hash_of_piece(key, piece, size) == hash);
    piece[bit / 8] = static_cast<uint8_t>(piece[bit / 8] ^ mask);
  }
}
