#include "portable_format/piece_hash.h"

#include <string.h>

#include "base/compiler.h"

namespace elc::format {
namespace {

#ifdef ELC_WIDE
ELC_WIDE(Wide);
#endif

// A sum modulo 2^128 of products of 64 bits.
class Sum {
 public:
#ifdef ELC_WIDE
  void add(uint64_t a, uint64_t b) { sum_ += static_cast<Wide>(a) * b; }
  uint64_t low() const { return static_cast<uint64_t>(sum_); }
  uint64_t high() const { return static_cast<uint64_t>(sum_ >> 64); }

 private:
  Wide sum_ = 0;
#else
  void add(uint64_t a, uint64_t b) {
    const uint64_t a0 = a & 0xffffffff, a1 = a >> 32, b0 = b & 0xffffffff, b1 = b >> 32;
    const uint64_t low = a0 * b0, left = a1 * b0, right = a0 * b1;
    const uint64_t middle = (low >> 32) + (left & 0xffffffff) + (right & 0xffffffff);
    const uint64_t product = (middle << 32) | (low & 0xffffffff);
    low_ += product;
    high_ += a1 * b1 + (left >> 32) + (right >> 32) + (middle >> 32) + (low_ < product ? 1 : 0);
  }
  uint64_t low() const { return low_; }
  uint64_t high() const { return high_; }

 private:
  uint64_t low_ = 0, high_ = 0;
#endif
};

}  // namespace

PieceHash hash_of_piece(const PieceKey& key, const void* data, size_t size) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
  const uint64_t* k = key.words;
  Sum first, second;
  const auto add = [&](const uint8_t* pair) {
    uint64_t m[2];
    memcpy(m, pair, sizeof m);
    first.add(m[0] + k[0], m[1] + k[1]);
    second.add(m[0] + k[2], m[1] + k[3]);
    k += 2;
  };
  for (; size >= 16; size -= 16, at += 16) add(at);
  if (size > 0) {
    uint8_t last[16] = {};
    memcpy(last, at, size);
    add(last);
  }
  return {{first.low(), first.high(), second.low(), second.high()}};
}

}  // namespace elc::format
