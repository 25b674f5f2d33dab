// The formats of long double, converted by way of sign, exponent and significand.
#ifndef ELC_FORMAT_LONG_DOUBLE_H
#define ELC_FORMAT_LONG_DOUBLE_H

#include <stdint.h>

#include "portable_format/representation.h"

namespace elc::format {

// A floating-point number of any format: (-1)^negative * high:low / 2^127 * 2^exponent, the topmost bit of
// the significand set. Of a NaN the significand's other bits are the payload, the quiet bit first.
struct LongDoubleParts {
  enum Class : uint8_t { kZero, kFinite, kInfinite, kNan } kind = kZero;
  bool negative = false;
  int32_t exponent = 0;
  uint64_t high = 0, low = 0;
};

// Bytes of a packed value; 0 for a format that is none.
constexpr uint8_t long_double_width(LongDouble format) {
  switch (format) {
    case LongDouble::kBinary64:
      return 8;
    case LongDouble::kExtended:
    case LongDouble::kExtended68k:
      return 10;
    case LongDouble::kBinary128:
    case LongDouble::kDoubleDouble:
      return 16;
  }
  return 0;
}

// From the packed form of a value in byte order `big`. The sum of two doubles is rounded to 127 bits.
LongDoubleParts unpack(LongDouble format, bool big, const uint8_t* from);
// The reverse, rounded to nearest, ties to even; a NaN keeps the payload bits that there is room for, and
// stays a NaN. False if a finite value is too large for the format. Two doubles are the nearest one and the
// nearest to what remains.
bool pack(const LongDoubleParts& value, LongDouble format, bool big, uint8_t* to);

}  // namespace elc::format

#endif
