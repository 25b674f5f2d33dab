#include "portable_format/representation.h"

#include <float.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <wchar.h>

#include <bit>

#include "portable_format/long_double.h"

namespace elc::format {
namespace {

static_assert(sizeof(float) == 4 && FLT_MANT_DIG == 24 && sizeof(double) == 8 && DBL_MANT_DIG == 53,
              "float and double have to be those of IEEE 754");
static_assert(CHAR_BIT == 8);

// clang-format off
const char* const kNames[kKindCount] = {
    "?", "bool", "char", "signed char", "unsigned char", "short", "unsigned short", "int", "unsigned int",
    "long", "unsigned long", "long long", "unsigned long long", "float", "double", "long double",
    "float complex", "double complex", "long double complex", "wchar_t", "size_t", "ptrdiff_t",
    "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t",
    "bytes", "pointer", "function", "FILE *", "MPI_Comm", "MPI_Datatype", "MPI_Request", "MPI_Status", "MPI_File",
    "MPI_Win", "MPI_Group", "MPI_Info", "MPI_Op", "MPI_Errhandler", "MPI_Aint"};
// clang-format on

constexpr LongDouble long_double_here() {
  if (LDBL_MANT_DIG == 53) return LongDouble::kBinary64;
  if (LDBL_MANT_DIG == 113) return LongDouble::kBinary128;
  if (LDBL_MANT_DIG == 106) return LongDouble::kDoubleDouble;
  // The 68881's format has one exponent more at the lower end than the 8087's.
  return LDBL_MIN_EXP == -16381 ? LongDouble::kExtended : LongDouble::kExtended68k;
}

const char* long_double_name(LongDouble format) {
  switch (format) {
    case LongDouble::kBinary64:
      return "double";
    case LongDouble::kExtended:
      return "x87";
    case LongDouble::kBinary128:
      return "IEEE quad";
    case LongDouble::kDoubleDouble:
      return "two doubles";
    case LongDouble::kExtended68k:
      return "68k";
  }
  return "?";
}

template <class T>
constexpr void set_integer(Representation* r, Kind kind) {
  r->width[kind] = sizeof(T);
  r->is_signed[kind] = static_cast<T>(-1) < static_cast<T>(1);
}

constexpr Representation find_out() {
  Representation r;
  r.order = std::endian::native == std::endian::little ? ByteOrder::kLittle : ByteOrder::kBig;
  r.long_double = long_double_here();
  r.width[kBool] = sizeof(bool);
  set_integer<char>(&r, kChar);
  set_integer<signed char>(&r, kSchar);
  set_integer<unsigned char>(&r, kUchar);
  set_integer<short>(&r, kShort);
  set_integer<unsigned short>(&r, kUshort);
  set_integer<int>(&r, kInt);
  set_integer<unsigned>(&r, kUint);
  set_integer<long>(&r, kLong);
  set_integer<unsigned long>(&r, kUlong);
  set_integer<long long>(&r, kLlong);
  set_integer<unsigned long long>(&r, kUllong);
  set_integer<wchar_t>(&r, kWchar);
  set_integer<size_t>(&r, kSize);
  set_integer<ptrdiff_t>(&r, kPtrdiff);
  set_integer<int8_t>(&r, kInt8);
  set_integer<uint8_t>(&r, kUint8);
  set_integer<int16_t>(&r, kInt16);
  set_integer<uint16_t>(&r, kUint16);
  set_integer<int32_t>(&r, kInt32);
  set_integer<uint32_t>(&r, kUint32);
  set_integer<int64_t>(&r, kInt64);
  set_integer<uint64_t>(&r, kUint64);
  r.width[kFloat] = 4;
  r.width[kDouble] = 8;
  r.width[kLdouble] = long_double_width(r.long_double);
  r.width[kFloatComplex] = 8;
  r.width[kDoubleComplex] = 16;
  r.width[kLdoubleComplex] = static_cast<uint8_t>(2 * r.width[kLdouble]);
  r.width[kByte] = 1;
  r.width[kPointer] = sizeof(void*);
  r.width[kFunction] = sizeof(void (*)());
  return r;
}

constexpr Representation kHere = find_out();

constexpr uint32_t kSignedBit = 256;
constexpr uint32_t kLeastKinds = 37;  // those of version 1.0; kMpiFile and those behind it are of 1.2

// Widths that every machine has, and those that the conversions cover.
bool possible(const Representation& r, Kind kind) {
  const uint8_t width = r.width[kind];
  const Representation& mine = Representation::here();
  switch (kind) {
    case kLdouble:
      return width == long_double_width(r.long_double);
    case kLdoubleComplex:
      return width == 2 * long_double_width(r.long_double);
    case kChar:
    case kSchar:
    case kUchar:
    case kFloat:
    case kDouble:
    case kFloatComplex:
    case kDoubleComplex:
    case kInt8:
    case kUint8:
    case kInt16:
    case kUint16:
    case kInt32:
    case kUint32:
    case kInt64:
    case kUint64:
    case kByte:
      return width == mine.width[kind];
    case kPointer:
    case kFunction:
      return width <= 64;
    default:
      if (is_handle(kind)) return width == 0;
      return width == 1 || width == 2 || width == 4 || width == 8;
  }
}

}  // namespace

const char* kind_name(Kind kind) {
  if (kind == kStruct) return "struct";
  if (kind == kUnion) return "union";
  return kind < kKindCount ? kNames[kind] : "?";
}

bool is_floating(Kind kind) { return kind == kFloat || kind == kDouble || kind == kLdouble; }

bool is_integer(Kind kind) {
  return (kind >= kChar && kind <= kUllong) || (kind >= kWchar && kind <= kUint64);
}

bool is_complex(Kind kind) { return kind >= kFloatComplex && kind <= kLdoubleComplex; }

Kind part_of_complex(Kind kind) {
  return is_complex(kind) ? static_cast<Kind>(kFloat + (kind - kFloatComplex)) : kind;
}

const Representation& Representation::here() { return kHere; }

bool Representation::operator==(const Representation& other) const {
  if (order != other.order || long_double != other.long_double) return false;
  for (uint32_t k = 1; k < kKindCount; ++k)
    if (width[k] != other.width[k] || is_signed[k] != other.is_signed[k]) return false;
  return true;
}

bool Representation::lays_out_as(const Representation& other) const {
  if (width[kPointer] != 8) return false;
  for (uint32_t k = 1; k < kKindCount; ++k)
    if (k != kLdouble && k != kLdoubleComplex && width[k] != other.width[k]) return false;
  return true;
}

uint32_t Representation::packed_width(Kind kind) const {
  if (has_position(kind)) return 16;
  if (kind == kMpiStatus) return 32;
  if (is_handle(kind)) return 8;
  return kind < kKindCount ? width[kind] : 0;
}

void Representation::describe(char* text, size_t size) const {
  snprintf(text, size, "%s-endian, int %d, long %d, pointer %d, wchar_t %d, char %s, long double %s",
           order == ByteOrder::kLittle ? "little" : "big", width[kInt], width[kLong], width[kPointer],
           width[kWchar], is_signed[kChar] ? "signed" : "unsigned", long_double_name(long_double));
}

void Representation::encode(Encoder& out) const {
  out.u32(static_cast<uint32_t>(order));
  out.u32(static_cast<uint32_t>(long_double));
  out.u32(kKindCount - 1);
  for (uint32_t k = 1; k < kKindCount; ++k) out.u32(width[k] | (is_signed[k] ? kSignedBit : 0));
}

Result Representation::decode(Decoder& in, Representation* out) {
  Representation r;
  const uint32_t order = in.u32();
  const uint32_t long_double = in.u32();
  const uint32_t kinds = in.u32();
  if (!in.ok() || order > 1 || long_double > static_cast<uint32_t>(LongDouble::kExtended68k) ||
      kinds < kLeastKinds || kinds > kStruct - 1)
    return Result::error("the file's header describes a machine that is not known to this version");
  r.order = static_cast<ByteOrder>(order);
  r.long_double = static_cast<LongDouble>(long_double);
  for (uint32_t k = 1; k <= kinds; ++k) {
    const uint32_t word = in.u32();
    if (k >= kKindCount) continue;  // of a newer version; a file that uses one is refused with its types
    const Kind kind = static_cast<Kind>(k);
    r.width[k] = static_cast<uint8_t>(word);
    r.is_signed[k] = (word & kSignedBit) != 0;
    const bool free_sign = kind == kChar || kind == kWchar;
    if (word > 511 || !possible(r, kind) || (!free_sign && r.is_signed[k] != here().is_signed[k]))
      return Result::error("the file's header gives `%s` a representation that cannot be converted",
                           kind_name(kind));
  }
  if (!in.ok()) return Result::error("the file's header is too short");
  *out = r;
  return Result();
}

}  // namespace elc::format
