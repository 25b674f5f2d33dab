// Small data on the wire and in files: XDR (RFC 4506), big-endian, units of four bytes.
#ifndef ELC_BASE_WIRE_H
#define ELC_BASE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include <string_view>

#include "base/vector.h"

namespace elc {

using Bytes = Vector<uint8_t>;

// Encodes into a sink: a function that takes the bytes in order. A sink that can fail keeps its
// failure to itself until the end (the encoder cannot do anything about it).
class Encoder {
 public:
  using Sink = void (*)(void* context, const void* data, size_t size);
  Encoder(Sink sink, void* context) : sink_(sink), context_(context) {}
  explicit Encoder(Bytes* bytes)
      : Encoder([](void* c, const void* d, size_t n) { static_cast<Bytes*>(c)->append(static_cast<const uint8_t*>(d), n); },
                bytes) {}

  void u32(uint32_t value);
  void u64(uint64_t value);
  void i32(int32_t value) { u32(static_cast<uint32_t>(value)); }
  void i64(int64_t value) { u64(static_cast<uint64_t>(value)); }
  void boolean(bool value) { u32(value ? 1 : 0); }
  // opaque<>: a u64 length, the bytes, zeros to a multiple of four. (RFC 4506 has a 32-bit
  // length; a message in transit may be longer.)
  void opaque(const void* data, size_t size);
  void string(std::string_view text) { opaque(text.data(), text.size()); }

 private:
  Sink sink_;
  void* context_;
};

// Decodes from a buffer that it does not own and does not trust. After the first thing that does
// not fit, ok() is false and every further call returns zero or an empty range; nothing is read
// outside the buffer.
class Decoder {
 public:
  Decoder(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  explicit Decoder(const Bytes& bytes) : Decoder(bytes.data(), bytes.size()) {}

  uint32_t u32();
  uint64_t u64();
  int32_t i32() { return static_cast<int32_t>(u32()); }
  int64_t i64() { return static_cast<int64_t>(u64()); }
  bool boolean();  // anything but 0 and 1 fails
  std::string_view opaque();  // points into the buffer
  std::string_view string() { return opaque(); }
  // A count of things that each take at least `least` bytes of what is left; fails if they cannot.
  size_t count(size_t least);

  bool ok() const { return ok_; }
  void fail() { ok_ = false; at_ = end_; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }
  const uint8_t* at() const { return at_; }

 private:
  const uint8_t* take(uint64_t size);  // nullptr where there is not as much

  const uint8_t* at_;
  const uint8_t* end_;
  bool ok_ = true;
};

}  // namespace elc

#endif
