// Integers of any width and byte order, one at a time.
#ifndef ELC_FORMAT_INTEGER_H
#define ELC_FORMAT_INTEGER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <bit>

#include "base/compiler.h"

namespace elc::format {

// The other byte order. Compilers make one instruction of each.
ELC_INLINE uint16_t reversed(uint16_t v) { return static_cast<uint16_t>(v << 8 | v >> 8); }
ELC_INLINE uint32_t reversed(uint32_t v) {
  return v << 24 | (v & 0xff00) << 8 | (v >> 8 & 0xff00) | v >> 24;
}
ELC_INLINE uint64_t reversed(uint64_t v) {
  v = (v & 0x00ff00ff00ff00ff) << 8 | (v >> 8 & 0x00ff00ff00ff00ff);
  v = (v & 0x0000ffff0000ffff) << 16 | (v >> 16 & 0x0000ffff0000ffff);
  return v << 32 | v >> 32;
}

// The integer of `width` (1 to 8) bytes at `from`, in this machine's byte order or (`swap`) the other one; a
// signed one is sign-extended.
inline uint64_t load_integer(const uint8_t* from, size_t width, bool swap, bool is_signed) {
  const bool big = (std::endian::native == std::endian::big) != swap;
  uint64_t bits = 0;
  for (size_t i = 0; i < width; ++i) bits = bits << 8 | from[big ? i : width - 1 - i];
  const int unused = static_cast<int>(64 - 8 * width);
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(bits << unused) >> unused) : bits;
}

// The same for an unsigned one of 8 bytes.
inline uint64_t load_word(const uint8_t* from, bool swap) {
  uint64_t bits;
  memcpy(&bits, from, sizeof bits);
  return swap ? reversed(bits) : bits;
}

inline void store_integer(uint8_t* to, size_t width, bool swap, uint64_t bits) {
  const bool big = (std::endian::native == std::endian::big) != swap;
  for (size_t i = 0; i < width; ++i, bits >>= 8) to[big ? width - 1 - i : i] = static_cast<uint8_t>(bits);
}

// Does the integer that load_integer returned exist in `width` bytes?
inline bool integer_fits(uint64_t bits, bool from_signed, size_t width, bool to_signed) {
  const bool negative = from_signed && static_cast<int64_t>(bits) < 0;
  const int used = static_cast<int>(8 * width) - (to_signed ? 1 : 0);  // bits of magnitude
  if (negative) return to_signed && (~bits >> (used - 1) >> 1) == 0;
  return (bits >> (used - 1) >> 1) == 0;
}

}  // namespace elc::format

#endif
