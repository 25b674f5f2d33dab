#include "portable_format/convert.h"

#include <string.h>

#include <bit>
#include <type_traits>

#include "portable_format/integer.h"
#include "portable_format/long_double.h"

namespace elc::format {
namespace {

constexpr bool kBigHere = std::endian::native == std::endian::big;

// Leaves at equal distances: adjacent ones, or a column of single ones. One::from and One::to are the widths;
// One::leaf returns true for a value that does not fit.
template <class One>
bool each(const uint8_t* from, size_t from_step, uint8_t* to, size_t to_step, size_t count) {
  bool bad = false;
  if (from_step == One::from && to_step == One::to) {  // a loop that a compiler vectorises
    for (size_t i = 0; i < count; ++i) bad |= One::leaf(from + i * One::from, to + i * One::to);
  } else {
    for (; count > 0; --count, from += from_step, to += to_step) bad |= One::leaf(from, to);
  }
  return !bad;
}

template <class T>
struct SwapOne {
  static constexpr size_t from = sizeof(T), to = sizeof(T);
  static bool leaf(const uint8_t* f, uint8_t* t) {
    T v;
    memcpy(&v, f, sizeof v);
    v = reversed(v);
    memcpy(t, &v, sizeof v);
    return false;
  }
};

// Short runs of bytes, of N to 2 N, as two pieces that may overlap.
template <size_t N>
void copy_short(const uint8_t* from, size_t from_stride, uint8_t* to, size_t to_stride, size_t elements,
                size_t bytes) {
  struct Piece {
    uint8_t bytes[N];
  };
  for (size_t e = 0; e < elements; ++e, from += from_stride, to += to_stride) {
    Piece head, tail;
    memcpy(&head, from, N);
    memcpy(&tail, from + bytes - N, N);
    memcpy(to, &head, N);
    memcpy(to + bytes - N, &tail, N);
  }
}

// From one width to another of the same sign, the source perhaps swapped: the frequent ones, int to long and
// back.
template <class From, class To, bool Swap>
struct IntegerOne {
  static constexpr size_t from = sizeof(From), to = sizeof(To);
  static bool leaf(const uint8_t* f, uint8_t* t) {
    std::make_unsigned_t<From> bits;
    memcpy(&bits, f, sizeof bits);
    if constexpr (Swap) bits = reversed(bits);
    const From v = static_cast<From>(bits);
    const To w = static_cast<To>(v);
    memcpy(t, &w, sizeof w);
    return static_cast<From>(w) != v;
  }
};

struct BoolOne {  // a byte each
  static constexpr size_t from = 1, to = 1;
  static bool leaf(const uint8_t* f, uint8_t* t) {
    *t = *f != 0;
    return false;
  }
};

template <size_t From, size_t To>
struct ExtendedOne {  // an 80-bit long double between its 10 bytes and memory
  static constexpr size_t from = From, to = To;
  static bool leaf(const uint8_t* f, uint8_t* t) {
    memcpy(t, f, 10);
    return false;
  }
};

struct ZeroOne {  // a byte each
  static constexpr size_t from = 1, to = 1;
  static bool leaf(const uint8_t* f, uint8_t* t) {
    *t = 0;
    return *f != 0;
  }
};

using Loop = bool (*)(const uint8_t*, size_t, uint8_t*, size_t, size_t);

bool copy(const uint8_t* from, size_t from_stride, uint8_t* to, size_t to_stride, size_t elements,
          size_t bytes) {
  if (from_stride == bytes && to_stride == bytes) {
    bytes *= elements;
    elements = 1;
  }
  if (elements == 1 || bytes > 32) {
    for (size_t e = 0; e < elements; ++e) memcpy(to + e * to_stride, from + e * from_stride, bytes);
    return true;
  }
  const auto loop = bytes >= 16  ? copy_short<16>
                    : bytes >= 8 ? copy_short<8>
                    : bytes >= 4 ? copy_short<4>
                    : bytes >= 2 ? copy_short<2>
                                 : copy_short<1>;
  loop(from, from_stride, to, to_stride, elements, bytes);
  return true;
}

// The frequent conversions between 4 and 8 bytes; nullptr for the others.
Loop loop_for(const Conversion& c) {
  if (c.to_swap || c.from_signed != c.to_signed) return nullptr;
  const bool widen = c.from_width == 4 && c.to_width == 8;
  if (!widen && !(c.from_width == 8 && c.to_width == 4)) return nullptr;
  static constexpr Loop kLoops[2][2][2] = {
      {{each<IntegerOne<uint64_t, uint32_t, false>>, each<IntegerOne<uint64_t, uint32_t, true>>},
       {each<IntegerOne<int64_t, int32_t, false>>, each<IntegerOne<int64_t, int32_t, true>>}},
      {{each<IntegerOne<uint32_t, uint64_t, false>>, each<IntegerOne<uint32_t, uint64_t, true>>},
       {each<IntegerOne<int32_t, int64_t, false>>, each<IntegerOne<int32_t, int64_t, true>>}}};
  return kLoops[widen][c.from_signed][c.from_swap];
}

// The format of this machine, in its byte order, but for the padding in memory.
Loop extended_loop(const Conversion& c) {
  if (c.from_format != LongDouble::kExtended || c.to_format != c.from_format || c.from_swap || c.to_swap)
    return nullptr;
  constexpr size_t kMemory = sizeof(long double) < 10 ? 10 : sizeof(long double);
  return c.to_file ? each<ExtendedOne<kMemory, 10>> : each<ExtendedOne<10, kMemory>>;
}

// One long double between memory, whose bytes lie as the compiler lays them, and its packed form.
void long_double_from_memory(const uint8_t* from, LongDouble format, size_t width, uint8_t* packed) {
  if (format == LongDouble::kExtended68k) {  // two bytes of padding follow the exponent
    memcpy(packed, from, 2);
    memcpy(packed + 2, from + width - 8, 8);
  } else {
    memcpy(packed, from, format == LongDouble::kExtended ? 10 : width);
  }
}

void long_double_to_memory(const uint8_t* packed, LongDouble format, size_t width, uint8_t* to) {
  if (format == LongDouble::kExtended68k) {
    memcpy(to, packed, 2);
    memset(to + 2, 0, width - 10);
    memcpy(to + width - 8, packed + 2, 8);
  } else {
    memcpy(to, packed, format == LongDouble::kExtended ? 10 : width);
  }
}

void reverse_bytes(uint8_t* bytes, size_t size) {
  for (size_t i = 0; i < size / 2; ++i) {
    const uint8_t b = bytes[i];
    bytes[i] = bytes[size - 1 - i];
    bytes[size - 1 - i] = b;
  }
}

void swap_long_double(LongDouble format, uint8_t* packed, size_t width) {
  if (format != LongDouble::kDoubleDouble) return reverse_bytes(packed, width);
  reverse_bytes(packed, 8);
  reverse_bytes(packed + 8, 8);
}

// Bytes of the packed form on the side with this format.
size_t packed_bytes(LongDouble format) {
  if (format == LongDouble::kBinary64) return 8;
  return format == LongDouble::kExtended || format == LongDouble::kExtended68k ? 10 : 16;
}

bool long_double(const Conversion& c, const uint8_t* from, uint8_t* to) {
  uint8_t packed[16];
  if (c.to_file)
    long_double_from_memory(from, c.from_format, c.from_width, packed);
  else
    memcpy(packed, from, c.from_width);
  if (c.from_format != c.to_format) {
    const LongDoubleParts value = unpack(c.from_format, kBigHere != c.from_swap, packed);
    if (!pack(value, c.to_format, kBigHere != c.to_swap, packed)) return false;
  } else if (c.from_swap != c.to_swap) {
    swap_long_double(c.from_format, packed, packed_bytes(c.from_format));
  }
  if (c.to_file)
    memcpy(to, packed, c.to_width);
  else
    long_double_to_memory(packed, c.to_format, c.to_width, to);
  return true;
}

bool one(const Conversion& c, const uint8_t* from, uint8_t* to) {
  if (c.what == Convert::kLongDouble) return long_double(c, from, to);
  if (c.what == Convert::kReal) {
    const uint32_t bits = static_cast<uint32_t>(load_integer(from, sizeof bits, c.from_swap, false));
    const double wide = std::bit_cast<float>(bits);
    memcpy(to, &wide, sizeof wide);
    return true;
  }
  const uint64_t bits = load_integer(from, c.from_width, c.from_swap, c.from_signed);
  if (c.what == Convert::kBool) {
    store_integer(to, c.to_width, c.to_swap, bits != 0);
    return true;
  }
  store_integer(to, c.to_width, c.to_swap, bits);
  return integer_fits(bits, c.from_signed, c.to_width, c.to_signed);
}

// What can fail, without a place for it: into a scratch buffer.
bool check(const Conversion& c, const uint8_t* from, size_t from_stride, size_t elements, size_t count) {
  if (!can_fail(c)) return true;
  constexpr size_t kPiece = 128;
  uint8_t scratch[kPiece * 16];
  if (count == 1) {
    for (size_t e = 0; e < elements; e += kPiece) {
      const size_t n = elements - e < kPiece ? elements - e : kPiece;
      if (!convert(c, from + e * from_stride, from_stride, scratch, c.to_width, n, 1)) return false;
    }
    return true;
  }
  for (size_t e = 0; e < elements; ++e)
    for (size_t i = 0; i < count; i += kPiece) {
      const size_t n = count - i < kPiece ? count - i : kPiece;
      if (!convert(c, from + e * from_stride + i * c.from_width, 0, scratch, 0, 1, n)) return false;
    }
  return true;
}

}  // namespace

Conversion conversion_for(Kind kind, const Representation& packed, Direction direction, Kind packed_kind) {
  if (packed_kind == kNone) packed_kind = kind;
  const Representation& mine = Representation::here();
  Conversion c;
  c.kind = kind;
  c.to_file = direction == Direction::kToFile;
  const bool swap = packed.order != mine.order;
  const uint8_t packed_width = static_cast<uint8_t>(packed.packed_width(packed_kind));
  const uint8_t memory_width = kind == kLdouble ? sizeof(long double)
                               : kind == kFile  ? sizeof(void*)
                                                : mine.width[kind];
  c.from_width = c.to_file ? memory_width : packed_width;
  c.to_width = c.to_file ? packed_width : memory_width;
  c.from_swap = swap && !c.to_file;
  c.to_swap = swap && c.to_file;
  c.from_signed = c.to_file ? mine.is_signed[kind] : packed.is_signed[packed_kind];
  c.to_signed = c.to_file ? packed.is_signed[packed_kind] : mine.is_signed[kind];
  c.from_format = (c.to_file ? mine : packed).long_double;
  c.to_format = (c.to_file ? packed : mine).long_double;
  const Convert same_width = swap && packed_width > 1 ? Convert::kSwap : Convert::kCopy;
  if (is_handle(kind))
    c.what = Convert::kHandle;
  else if (kind == kBool)
    c.what = c.to_file && packed_width == memory_width ? same_width : Convert::kBool;
  else if (kind == kLdouble &&
           !(c.from_format == c.to_format && packed_width == memory_width && (!swap || packed_width == 8)))
    c.what = Convert::kLongDouble;
  else if (packed_kind == kFloat && kind == kDouble)
    c.what = Convert::kReal;
  else if (packed_width != memory_width || (packed_kind != kind && c.from_signed != c.to_signed))
    c.what = Convert::kInteger;
  else
    c.what = same_width;
  return c;
}

bool convert(const Conversion& c, const uint8_t* from, size_t from_stride, uint8_t* to, size_t to_stride,
             size_t elements, size_t count) {
  if (to == nullptr) return check(c, from, from_stride, elements, count);
  if (c.what == Convert::kCopy) return copy(from, from_stride, to, to_stride, elements, count * c.from_width);
  Loop loop = nullptr;
  if (c.what == Convert::kSwap)
    loop = c.from_width == 2   ? each<SwapOne<uint16_t>>
           : c.from_width == 4 ? each<SwapOne<uint32_t>>
                               : each<SwapOne<uint64_t>>;
  else if (c.what == Convert::kBool && c.from_width == 1 && c.to_width == 1)
    loop = each<BoolOne>;
  else if (c.what == Convert::kZeros)
    loop = each<ZeroOne>;
  else if (c.what == Convert::kInteger)
    loop = loop_for(c);
  else if (c.what == Convert::kLongDouble)
    loop = extended_loop(c);
  if (from_stride == count * c.from_width && to_stride == count * c.to_width) {
    count *= elements;  // all are adjacent
    elements = 1;
  }
  if (loop != nullptr) {  // over the elements or over the leaves, whichever are more
    bool fits = true;
    if (count < elements) {
      for (; count > 0; --count, from += c.from_width, to += c.to_width)
        fits &= loop(from, from_stride, to, to_stride, elements);
    } else {
      for (; elements > 0; --elements, from += from_stride, to += to_stride)
        fits &= loop(from, c.from_width, to, c.to_width, count);
    }
    return fits;
  }
  for (size_t e = 0; e < elements; ++e)
    for (size_t i = 0; i < count; ++i)
      if (!one(c, from + e * from_stride + i * c.from_width, to + e * to_stride + i * c.to_width))
        return false;
  return true;
}

}  // namespace elc::format
