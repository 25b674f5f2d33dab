// Leaves as text, for messages and for `elc show`.
#include <stdio.h>
#include <string.h>

#include "base/vector.h"
#include "portable_format/convert.h"
#include "portable_format/integer.h"
#include "portable_format/long_double.h"

namespace elc::format {
namespace {

void integer_text(uint64_t bits, bool is_signed, char* text, size_t size) {
  if (is_signed)
    snprintf(text, size, "%lld", static_cast<long long>(bits));
  else
    snprintf(text, size, "%llu", static_cast<unsigned long long>(bits));
}

// The bits of a NaN behind the exponent, as C has them: printf leaves them out, and has other words for a sign.
void nan_text(bool negative, uint64_t high, uint64_t low, char* text, size_t size) {
  const char* sign = negative ? "-" : "";
  if (high != 0)
    snprintf(text, size, "%snan(0x%llx%016llx)", sign, static_cast<unsigned long long>(high),
             static_cast<unsigned long long>(low));
  else
    snprintf(text, size, "%snan(0x%llx)", sign, static_cast<unsigned long long>(low));
}

void double_text(double value, uint64_t bits, int width, char* text, size_t size) {
  const int fraction = width == 4 ? 23 : 52;
  if (value != value)
    nan_text((bits >> (8 * width - 1)) != 0, 0, bits & ((uint64_t{1} << fraction) - 1), text, size);
  else
    snprintf(text, size, "%.*g", width == 4 ? 9 : 17, value);
}

// A natural number in decimal: units of 10^9, the lowest first.
class Natural {
 public:
  void multiply_add(uint32_t factor, uint64_t carry) {
    for (uint32_t& unit : units_) {
      carry += uint64_t{unit} * factor;
      unit = static_cast<uint32_t>(carry % kUnit);
      carry /= kUnit;
    }
    for (; carry > 0; carry /= kUnit) units_.push_back(static_cast<uint32_t>(carry % kUnit));
  }
  void multiply_by_power(uint32_t base, int exponent) {  // base up to 5
    for (uint32_t factor = 1; exponent > 0; --exponent) {
      factor *= base;
      if (factor < 1u << 28 && exponent > 1) continue;
      multiply_add(factor, 0);
      factor = 1;
    }
  }
  // Its digits, the highest first; it is not 0.
  Vector<char> digits() const {
    Vector<char> all;
    for (size_t i = units_.size(); i-- > 0;) {
      char nine[16];
      snprintf(nine, sizeof nine, "%09lu", static_cast<unsigned long>(units_[i]));
      for (int k = 0; k < 9; ++k)
        if (!all.empty() || nine[k] != '0') all.push_back(nine[k]);
    }
    return all;
  }

 private:
  static constexpr uint32_t kUnit = 1000000000;
  Vector<uint32_t> units_;
};

// Rounds to `most` digits, ties to even, and removes zeros at the end; true if there is one digit more before the
// point now.
bool round_digits(Vector<char>* digits, size_t most) {
  bool up = false;
  if (digits->size() > most) {
    bool more = false;
    for (size_t i = most + 1; i < digits->size(); ++i) more |= (*digits)[i] != '0';
    const char next = (*digits)[most];
    up = next > '5' || (next == '5' && (more || ((*digits)[most - 1] - '0') % 2 == 1));
    digits->resize(most);
  }
  for (size_t i = digits->size(); up && i-- > 0;) {
    up = (*digits)[i] == '9';
    (*digits)[i] = up ? '0' : static_cast<char>((*digits)[i] + 1);
  }
  if (up) digits->insert(0, '1');
  while (digits->size() > 1 && digits->back() == '0') digits->pop_back();
  return up;
}

// As printf's %.*g, whatever the long double of this machine.
void finite_text(const LongDoubleParts& value, size_t most, char* text, size_t size) {
  Natural number;
  for (const uint64_t half : {value.high, value.low}) {
    number.multiply_add(1u << 16, half >> 48);
    number.multiply_add(1u << 16, half >> 32 & 0xffff);
    number.multiply_add(1u << 16, half >> 16 & 0xffff);
    number.multiply_add(1u << 16, half & 0xffff);
  }
  // high:low * 2^power = high:low * 5^-power / 10^-power
  const int power = value.exponent - 127;
  number.multiply_by_power(2, power);
  number.multiply_by_power(5, -power);
  Vector<char> digits = number.digits();
  int exponent = static_cast<int>(digits.size()) - 1 + (power < 0 ? power : 0);
  exponent += round_digits(&digits, most);
  const int n = static_cast<int>(digits.size());
  const char* d = digits.data();
  const char* sign = value.negative ? "-" : "";
  static const char kZeros[] = "000000000000000000000000000000000000";
  if (exponent < -4 || exponent >= static_cast<int>(most))
    snprintf(text, size, "%s%c%s%.*se%c%02d", sign, d[0], n > 1 ? "." : "", n - 1, d + 1, exponent < 0 ? '-' : '+',
             exponent < 0 ? -exponent : exponent);
  else if (exponent < 0)
    snprintf(text, size, "%s0.%.*s%.*s", sign, -exponent - 1, kZeros, n, d);
  else if (exponent >= n - 1)
    snprintf(text, size, "%s%.*s%.*s", sign, n, d, exponent - n + 1, kZeros);
  else
    snprintf(text, size, "%s%.*s.%.*s", sign, exponent + 1, d, n - exponent - 1, d + exponent + 1);
}

void long_double_text(const Representation& of, const uint8_t* from, char* text, size_t size) {
  if (of.long_double == LongDouble::kBinary64) return scalar_text(kDouble, of, from, text, size);
  const bool quad = of.long_double == LongDouble::kBinary128, two = of.long_double == LongDouble::kDoubleDouble;
  const LongDoubleParts value = unpack(of.long_double, of.order == ByteOrder::kBig, from);
  if (value.kind == LongDoubleParts::kFinite) return finite_text(value, quad ? 36 : two ? 33 : 21, text, size);
  if (value.kind != LongDoubleParts::kNan) {
    snprintf(text, size, "%s%s", value.negative ? "-" : "", value.kind == LongDoubleParts::kZero ? "0" : "inf");
    return;
  }
  const uint64_t fraction = value.high << 1 | value.low >> 63;  // and, of a quad, 48 bits more
  if (quad)
    nan_text(value.negative, fraction >> 16, fraction << 48 | (value.low << 1) >> 16, text, size);
  else
    nan_text(value.negative, 0, fraction >> (two ? 12 : 1), text, size);
}

}  // namespace

void scalar_text(Kind kind, const Representation& of, const uint8_t* from, char* text, size_t size) {
  const bool swap = of.order != Representation::here().order;
  const size_t width = of.width[kind];
  if (kind == kLdouble) return long_double_text(of, from, text, size);
  const bool is_signed = of.is_signed[kind];
  const uint64_t bits = load_integer(from, width, swap, is_signed);
  if (kind == kFloat) {
    const uint32_t half = static_cast<uint32_t>(bits);
    float value;
    memcpy(&value, &half, sizeof value);
    double_text(static_cast<double>(value), bits, 4, text, size);
  } else if (kind == kDouble) {
    double value;
    memcpy(&value, &bits, sizeof value);
    double_text(value, bits, 8, text, size);
  } else if (kind == kBool) {
    snprintf(text, size, "%s", bits != 0 ? "true" : "false");
  } else if (kind == kByte) {
    snprintf(text, size, "0x%02x", static_cast<unsigned>(bits));
  } else {
    integer_text(bits, is_signed, text, size);
  }
}

void explain_misfit(const Conversion& c, const uint8_t* from, char* text, size_t size) {
  if (c.what == Convert::kLongDouble) {
    snprintf(text, size, "the value is too large for a `long double` of the machine that reads");
    return;
  }
  if (c.what == Convert::kZeros) {
    snprintf(text, size, "%s", kBytesStay);
    return;
  }
  char value[32], limit[32];
  const uint64_t bits = load_integer(from, c.from_width, c.from_swap, c.from_signed);
  integer_text(bits, c.from_signed, value, sizeof value);
  const int magnitude = 8 * c.to_width - (c.to_signed ? 1 : 0);
  const uint64_t most = ~uint64_t{0} >> (64 - magnitude);
  const bool negative = c.from_signed && static_cast<int64_t>(bits) < 0;
  integer_text(negative ? (c.to_signed ? ~most : 0) : most, c.to_signed, limit, sizeof limit);
  snprintf(text, size, "the value %s does not fit a `%s` of %d bytes, whose limit is %s", value,
           kind_name(c.kind), c.to_width, limit);
}

}  // namespace elc::format
