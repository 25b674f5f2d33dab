#include "mpi/serial/representation_code.h"

#include <span>

#include "base/wire.h"
#include "portable_format/long_double.h"

namespace elc::mpi {
namespace {

using namespace format;

// From the lowest bit: byte order, format of long double, its bytes in memory, the widths in the order of
// kWidths, the signs of char and wchar_t. The highest bit is set, so that no code is 0.
constexpr uint64_t kMark = uint64_t{1} << 63;
constexpr int kOrderBits = 1, kFormatBits = 3, kBytesBits = 5, kWidthBits = 4;
constexpr Kind kWidths[] = {kBool, kShort, kInt, kLong, kLlong, kSize, kPtrdiff, kWchar};

class Bits {
 public:
  explicit Bits(uint64_t word = 0) : word_(word) {}
  void put(uint64_t value, int bits) {
    word_ |= value << at_;
    at_ += bits;
  }
  uint64_t take(int bits) {
    const uint64_t value = word_ & ((uint64_t{1} << bits) - 1);
    word_ >>= bits;
    return value;
  }
  uint64_t word() const { return word_; }

 private:
  uint64_t word_;
  int at_ = 0;
};

}  // namespace

uint64_t representation_code(const Representation& r, uint32_t long_double_bytes) {
  Bits bits;
  bits.put(static_cast<uint64_t>(r.order), kOrderBits);
  bits.put(static_cast<uint64_t>(r.long_double), kFormatBits);
  bits.put(long_double_bytes, kBytesBits);
  for (const Kind kind : kWidths) bits.put(r.width[kind], kWidthBits);
  bits.put(r.is_signed[kChar], 1);
  bits.put(r.is_signed[kWchar], 1);
  return bits.word() | kMark;
}

uint64_t native_representation_code() {
  static uint64_t code = 0;
  if (code == 0) code = representation_code(Representation::here(), sizeof(long double));
  return code;
}

bool same_lengths(uint64_t code, uint64_t other) {
  constexpr int kBits = kBytesBits + kWidthBits * static_cast<int>(std::size(kWidths));
  return ((code ^ other) >> (kOrderBits + kFormatBits) & ((uint64_t{1} << kBits) - 1)) == 0;
}

Result representation_of(uint64_t code, Representation* representation, uint32_t* long_double_bytes) {
  Representation r = Representation::here();
  if (code == 0) code = native_representation_code();
  Bits bits(code & ~kMark);
  r.order = static_cast<ByteOrder>(bits.take(kOrderBits));
  const uint64_t format = bits.take(kFormatBits);
  const uint64_t bytes = bits.take(kBytesBits);
  for (const Kind kind : kWidths) r.width[kind] = static_cast<uint8_t>(bits.take(kWidthBits));
  r.is_signed[kChar] = bits.take(1) != 0;
  r.is_signed[kWchar] = bits.take(1) != 0;
  r.long_double = static_cast<LongDouble>(format);
  r.width[kLdouble] = long_double_width(static_cast<LongDouble>(format));
  r.width[kLdoubleComplex] = static_cast<uint8_t>(2 * r.width[kLdouble]);
  r.width[kUshort] = r.width[kShort];
  r.width[kUint] = r.width[kInt];
  r.width[kUlong] = r.width[kLong];
  r.width[kUllong] = r.width[kLlong];
  r.width[kPointer] = r.width[kFunction] = r.width[kSize];

  // The format knows which machines it can read; a long double may have padding behind it, but not much.
  Bytes form;
  Encoder out(&form);
  r.encode(out);
  Decoder in(form);
  const bool possible = Representation::decode(in, representation).ok();
  if (!possible || (code & kMark) == 0 || bits.word() != 0 || bytes < r.width[kLdouble] ||
      bytes > uint64_t{r.width[kLdouble]} + 6)
    return Result::error("a message in transit says that it comes from a machine that cannot be (code %llx)",
                         static_cast<unsigned long long>(code));
  *long_double_bytes = static_cast<uint32_t>(bytes);
  return Result();
}

}  // namespace elc::mpi
