// Leaves as text, for messages and for `elc show`.
#include <float.h>
#include <stdio.h>
#include <string.h>

#include "portable_format/convert.h"
#include "portable_format/integer.h"

namespace elc::format {
namespace {

void integer_text(uint64_t bits, bool is_signed, char* text, size_t size) {
  if (is_signed)
    snprintf(text, size, "%lld", static_cast<long long>(bits));
  else
    snprintf(text, size, "%llu", static_cast<unsigned long long>(bits));
}

void long_double_text(const Representation& of, const uint8_t* from, char* text, size_t size) {
  const Conversion c = conversion_for(kLdouble, of, Direction::kFromFile);
  long double value = 0;
  if (convert(c, from, 0, reinterpret_cast<uint8_t*>(&value), 0, 1, 1))
    snprintf(text, size, "%.*Lg", of.long_double == LongDouble::kBinary64 ? 17 : LDBL_DECIMAL_DIG, value);
  else
    snprintf(text, size, "too large for a long double of this machine");
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
    snprintf(text, size, "%.9g", static_cast<double>(value));
  } else if (kind == kDouble) {
    double value;
    memcpy(&value, &bits, sizeof value);
    snprintf(text, size, "%.17g", value);
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
