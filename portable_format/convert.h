// Conversion of runs of scalars between two representations, in loops that a compiler vectorises.
#ifndef ELC_FORMAT_CONVERT_H
#define ELC_FORMAT_CONVERT_H

#include <stddef.h>
#include <stdint.h>

#include "portable_format/representation.h"

namespace elc::format {

enum class Direction : uint8_t { kToFile, kFromFile };

enum class Convert : uint8_t {
  kCopy,        // the same bytes
  kSwap,        // the same bytes in reverse, 2, 4 or 8 of them
  kBool,        // 0 or not 0
  kInteger,     // another width: checked
  kReal,        // a float that becomes a double
  kLongDouble,  // by way of sign, exponent and significand: checked
  kZeros,       // bytes of a value, of which another machine can have zeros alone: checked
  kHandle,      // a leaf of the layer above
  kNested,      // a plan of its own
};

// What is done to a leaf: from one width (and byte order) to another.
struct Conversion {
  Convert what = Convert::kCopy;
  Kind kind = kNone;
  uint8_t from_width = 0, to_width = 0;
  bool from_swap = false, to_swap = false;  // that side is not in this machine's byte order
  bool from_signed = false, to_signed = false;
  bool to_file = false;  // memory is the side that is converted from
  LongDouble from_format = {}, to_format = {};
};

// The conversion of a leaf of `kind` (not complex) between its packed form on `packed` and this machine's
// memory. The width in memory of MPI's handles is left 0. An integer may have another kind in the packed form.
Conversion conversion_for(Kind kind, const Representation& packed, Direction direction, Kind packed_kind = kNone);

// Converts `elements` times `count` leaves; consecutive leaves are adjacent, elements `from_stride` and
// `to_stride` bytes apart. `to` nullptr: only checks. False if a value does not fit; then the rest may be
// converted or not.
bool convert(const Conversion& conversion, const uint8_t* from, size_t from_stride, uint8_t* to,
             size_t to_stride, size_t elements, size_t count);

// Can some value of this conversion not fit?
inline bool can_fail(const Conversion& c) {
  return c.what == Convert::kInteger || c.what == Convert::kZeros || (c.what == Convert::kLongDouble && c.from_format != c.to_format);
}

// Why the leaf at `from` did not fit: "the value 1099511627776 does not fit a `long` of 4 bytes, whose limit
// is 2147483647". At most `size` bytes.
void explain_misfit(const Conversion& conversion, const uint8_t* from, char* text, size_t size);
// The value of a scalar in the representation `of` (packed) as text; not of complex kinds,
// which are two leaves, nor of handles.
void scalar_text(Kind kind, const Representation& of, const uint8_t* from, char* text, size_t size);

}  // namespace elc::format

#endif
