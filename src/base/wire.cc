#include "base/wire.h"

namespace elc {

void Encoder::u32(uint32_t value) {
  const uint8_t bytes[4] = {static_cast<uint8_t>(value >> 24), static_cast<uint8_t>(value >> 16),
                            static_cast<uint8_t>(value >> 8), static_cast<uint8_t>(value)};
  sink_(context_, bytes, 4);
}

void Encoder::u64(uint64_t value) {
  u32(static_cast<uint32_t>(value >> 32));
  u32(static_cast<uint32_t>(value));
}

void Encoder::opaque(const void* data, size_t size) {
  static const uint8_t zeros[4] = {};
  u64(size);
  if (size > 0) sink_(context_, data, size);
  if (size % 4 != 0) sink_(context_, zeros, 4 - size % 4);
}

const uint8_t* Decoder::take(uint64_t size) {
  if (!ok_ || size > left()) {
    fail();
    return nullptr;
  }
  const uint8_t* from = at_;
  at_ += size;
  return from;
}

uint32_t Decoder::u32() {
  const uint8_t* b = take(4);
  if (b == nullptr) return 0;
  return static_cast<uint32_t>(b[0]) << 24 | static_cast<uint32_t>(b[1]) << 16 | static_cast<uint32_t>(b[2]) << 8 | b[3];
}

uint64_t Decoder::u64() {
  const uint64_t high = u32();
  return high << 32 | u32();
}

bool Decoder::boolean() {
  const uint32_t value = u32();
  if (value > 1) fail();
  return value == 1;
}

std::string_view Decoder::opaque() {
  const uint64_t size = u64();
  const uint8_t* from = take(size);
  if (from == nullptr || take((4 - size % 4) % 4) == nullptr) return {};
  return {reinterpret_cast<const char*>(from), static_cast<size_t>(size)};
}

size_t Decoder::count(size_t least) {
  const uint64_t n = u64();
  if (n > left() / least) {
    fail();
    return 0;
  }
  return static_cast<size_t>(n);
}

}  // namespace elc
