#include "portable_format/long_double.h"

#include <bit>
#include <utility>

namespace elc::format {
namespace {

// Significand bits (with the leading one), the exponents of the smallest and largest normal numbers, and what
// is added to an exponent in the exponent field.
struct Shape {
  int precision, least, most, bias;
  bool explicit_one;  // the leading bit is stored
  int bytes;
};

// For the 68881, unlike for the 8087, the exponent field 0 means one less than 1: no exponent is shared.
constexpr Shape kShapes[] = {
    {53, -1022, 1023, 1023, false, 8},      {64, -16382, 16383, 16383, true, 10},
    {113, -16382, 16383, 16383, false, 16}, {},
    {64, -16383, 16383, 16383, true, 10},
};

const Shape& shape_of(LongDouble format) { return kShapes[static_cast<uint32_t>(format)]; }

struct Wide {  // 128 bits
  uint64_t high, low;
};

Wide left(Wide w, int n) {
  if (n >= 128) return {0, 0};
  if (n >= 64) return {w.low << (n - 64), 0};
  if (n == 0) return w;
  return {w.high << n | w.low >> (64 - n), w.low << n};
}

Wide right(Wide w, int n) {
  if (n >= 128) return {0, 0};
  if (n >= 64) return {0, w.high >> (n - 64)};
  if (n == 0) return w;
  return {w.high >> n, w.low >> n | w.high << (64 - n)};
}

bool is_zero(Wide w) { return (w.high | w.low) == 0; }

// w / 2^n, rounded to nearest, ties to even.
Wide rounded_right(Wide w, int n) {
  if (n <= 0) return w;
  if (n > 128) return {0, 0};
  Wide result = right(w, n);
  const Wide rest = left(w, 128 - n);
  const uint64_t half = uint64_t{1} << 63;
  const bool more = rest.high > half || (rest.high == half && rest.low != 0);
  const bool tie = rest.high == half && rest.low == 0;
  if (more || (tie && (result.low & 1) != 0)) {
    ++result.low;
    if (result.low == 0) ++result.high;
  }
  return result;
}

// The bytes of a packed value as one number.
Wide gather(const uint8_t* from, int bytes, bool big) {
  Wide w = {0, 0};
  for (int i = 0; i < bytes; ++i) {
    w = left(w, 8);
    w.low |= from[big ? i : bytes - 1 - i];
  }
  return w;
}

void scatter(Wide w, uint8_t* to, int bytes, bool big) {
  for (int i = 0; i < bytes; ++i) {
    to[big ? bytes - 1 - i : i] = static_cast<uint8_t>(w.low);
    w = right(w, 8);
  }
}

// The number of significand bits that are stored.
int stored_bits(const Shape& s) { return s.explicit_one ? s.precision : s.precision - 1; }

int leading_zeros(Wide w) { return w.high != 0 ? std::countl_zero(w.high) : 64 + std::countl_zero(w.low); }

// Of two finite numbers or zeros. What is below the last bit is kept as its being odd.
LongDoubleParts sum(LongDoubleParts a, LongDoubleParts b) {
  if (b.kind == LongDoubleParts::kZero) return a;
  if (a.kind == LongDoubleParts::kZero) return b;
  const bool smaller = a.exponent != b.exponent ? a.exponent < b.exponent
                       : a.high != b.high       ? a.high < b.high
                                                : a.low < b.low;
  if (smaller) std::swap(a, b);
  const int shift = a.exponent - b.exponent < 128 ? a.exponent - b.exponent + 1 : 128;
  const Wide x = right({a.high, a.low}, 1);
  Wide y = right({b.high, b.low}, shift);
  if (!is_zero(left({b.high, b.low}, 128 - shift))) y.low |= 1;
  Wide total;
  if (a.negative == b.negative) {
    total.low = x.low + y.low;
    total.high = x.high + y.high + (total.low < x.low ? 1 : 0);
  } else {
    total.low = x.low - y.low;
    total.high = x.high - y.high - (x.low < y.low ? 1 : 0);
  }
  if (is_zero(total)) return LongDoubleParts();
  const int zeros = leading_zeros(total);
  total = left(total, zeros);
  a.exponent += 1 - zeros;
  a.high = total.high;
  a.low = total.low;
  return a;
}

bool pack_two(const LongDoubleParts& value, bool big, uint8_t* to) {
  if (!pack(value, LongDouble::kBinary64, big, to)) return false;
  LongDoubleParts rest;
  if (value.kind == LongDoubleParts::kFinite) {
    rest = unpack(LongDouble::kBinary64, big, to);
    rest.negative = !rest.negative;
    rest = sum(value, rest);
  }
  return pack(rest, LongDouble::kBinary64, big, to + 8);
}

}  // namespace

LongDoubleParts unpack(LongDouble format, bool big, const uint8_t* from) {
  if (format == LongDouble::kDoubleDouble) {
    const LongDoubleParts first = unpack(LongDouble::kBinary64, big, from);
    const LongDoubleParts second = unpack(LongDouble::kBinary64, big, from + 8);
    return first.kind <= LongDoubleParts::kFinite && second.kind <= LongDoubleParts::kFinite ? sum(first, second) : first;
  }
  const Shape& s = shape_of(format);
  const Wide all = gather(from, s.bytes, big);
  const int bits = stored_bits(s);
  const int32_t field_mask = s.most + s.bias + 1;  // all ones
  const Wide sign_and_exponent = right(all, bits);
  const int32_t field = static_cast<int32_t>(sign_and_exponent.low) & field_mask;
  Wide significand = left(all, 128 - bits);
  if (!s.explicit_one) significand = right(significand, 1);
  LongDoubleParts value;
  value.negative = (sign_and_exponent.low & (static_cast<uint64_t>(field_mask) + 1)) != 0;
  constexpr uint64_t kTop = uint64_t{1} << 63;
  if (field == field_mask) {
    value.kind =
        (significand.high & ~kTop) == 0 && significand.low == 0 ? LongDoubleParts::kInfinite : LongDoubleParts::kNan;
    value.high = significand.high | kTop;
    value.low = significand.low;
    return value;
  }
  value.exponent = field - s.bias;
  if (!s.explicit_one && field != 0) significand.high |= kTop;
  if (value.exponent < s.least) value.exponent = s.least;
  if (is_zero(significand)) return value;
  value.kind = LongDoubleParts::kFinite;
  const int zeros = leading_zeros(significand);
  significand = left(significand, zeros);
  value.exponent -= zeros;
  value.high = significand.high;
  value.low = significand.low;
  return value;
}

bool pack(const LongDoubleParts& value, LongDouble format, bool big, uint8_t* to) {
  if (format == LongDouble::kDoubleDouble) return pack_two(value, big, to);
  const Shape& s = shape_of(format);
  const int bits = stored_bits(s);
  int32_t field = 0;
  Wide significand = {0, 0};
  if (value.kind == LongDoubleParts::kInfinite || value.kind == LongDoubleParts::kNan) {
    field = s.most + s.bias + 1;
    significand = right({value.high, value.low}, 128 - s.precision);
    const Wide fraction = left(significand, 128 - s.precision + 1);
    if (value.kind == LongDoubleParts::kInfinite)
      significand = left({0, 1}, s.precision - 1);
    else if (is_zero(fraction))  // the payload was cut to that of an infinity
      significand = right({uint64_t{3} << 62, 0}, 128 - s.precision);
  } else if (value.kind == LongDoubleParts::kFinite) {
    int32_t exponent = value.exponent;
    const int64_t below = exponent < s.least ? static_cast<int64_t>(s.least) - exponent : 0;  // denormal
    const int64_t drop = 128 - s.precision + below;
    significand = rounded_right({value.high, value.low}, drop > 129 ? 129 : static_cast<int>(drop));
    if (below > 0) exponent = s.least;
    if (!is_zero(right(significand, s.precision))) {  // rounded up to the next power of two
      significand = right(significand, 1);
      ++exponent;
    }
    if (exponent > s.most) return false;
    const bool normal = !is_zero(right(significand, s.precision - 1));
    field = normal || s.least + s.bias == 0 ? exponent + s.bias : 0;
  }
  significand = right(left(significand, 128 - bits), 128 - bits);
  const Wide top = left({0, static_cast<uint64_t>(field) |
                                (value.negative ? static_cast<uint64_t>(s.most + s.bias + 1) + 1 : 0)},
                        bits);
  scatter({significand.high | top.high, significand.low | top.low}, to, s.bytes, big);
  return true;
}

}  // namespace elc::format
