// The kinds of leaves that a value is made of, and how a machine represents them.
#ifndef ELC_FORMAT_REPRESENTATION_H
#define ELC_FORMAT_REPRESENTATION_H

#include <stdint.h>

#include "base/result.h"
#include "base/wire.h"

namespace elc::format {

// The number of a type: a Kind, or kFirstMade and up for structs and unions of a TypeTable. The same
// numbers as ELC_Type of elc.h (src/state asserts it); they are part of the file format and never change.
using TypeId = int32_t;

// clang-format off
enum Kind : uint32_t {
  kNone = 0,
  kBool = 1, kChar, kSchar, kUchar, kShort, kUshort, kInt, kUint, kLong, kUlong, kLlong, kUllong,
  kFloat, kDouble, kLdouble, kFloatComplex, kDoubleComplex, kLdoubleComplex, kWchar, kSize, kPtrdiff,
  kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kInt64, kUint64,
  kByte,      // raw memory: fits only where the two representations are equal, or it is 0
  kPointer, kFunction, kFile, kMpiComm, kMpiDatatype, kMpiRequest, kMpiStatus, kMpiFile, kMpiWin, kMpiGroup, kMpiInfo, kMpiOp,
  kMpiErrhandler,
  kMpiAint,   // a number, or an address of the program's data
  kKindCount,  // kinds from here to kStruct - 1 are reserved for more handles
  kStruct = 254,
  kUnion = 255,
};
// clang-format on
constexpr TypeId kFirstMade = 256;

// The name of a kind as a C programmer writes it ("unsigned long", "pointer"); "?" for none.
const char* kind_name(Kind kind);
// Leaves whose value the layer above encodes: pointers, functions, files, MPI handles, statuses and addresses.
inline bool is_handle(Kind kind) { return kind >= kPointer && kind < kKindCount; }
// Of them, those that are a block and a position in a file.
inline bool has_position(Kind kind) { return kind == kPointer || kind == kMpiAint; }
inline bool is_character(Kind kind) { return kind >= kChar && kind <= kUchar; }
bool is_integer(Kind kind);       // of C, kBool and kByte excluded
bool is_floating(Kind kind);      // kFloat, kDouble, kLdouble
bool is_complex(Kind kind);       // two leaves: the real part, the imaginary part
Kind part_of_complex(Kind kind);  // kFloat for kFloatComplex ...; other kinds as they are

enum class ByteOrder : uint32_t { kLittle = 0, kBig = 1 };

enum class LongDouble : uint32_t {
  kBinary64 = 0,      // 8 bytes, the same as double
  kExtended = 1,      // x87: 10 bytes of value (in 12 or 16 of memory)
  kBinary128 = 2,     // IEEE quad, 16 bytes
  kDoubleDouble = 3,  // two doubles, 16 bytes: copied between equal machines, refused otherwise
  kExtended68k = 4,   // m68k: the 10 bytes with two of padding between exponent and significand
};

// Why bytes are refused that are not all zeros, and where something has another size.
inline constexpr const char* kBytesStay =
    "bytes (from ELC_RAW, ELC_BYTE or ELC_malloc; with elc-cc, what nothing says the type of) go to no machine of another representation; give it a type";

// What one has to know of a machine to read its values.
struct Representation {
  ByteOrder order = ByteOrder::kLittle;
  LongDouble long_double = LongDouble::kBinary64;
  uint8_t width[kKindCount] =
      {};  // bytes of a scalar in a packed value; a pointer: in memory; 0 for other handles
  bool is_signed[kKindCount] = {};  // of integer kinds: char and wchar_t differ between machines

  // The machine that runs.
  static const Representation& here();
  bool operator==(const Representation& other) const;
  // Everything has the same size, and on machines of 64 bits then also the same alignment, but perhaps long doubles.
  bool lays_out_as(const Representation& other) const;

  // Bytes that a leaf of `kind` takes in a packed value: scalars as `width`, a pointer 16, a status 24,
  // other handles 8. Complex kinds: both parts.
  uint32_t packed_width(Kind kind) const;

  // One line for people: "little-endian, int 4, long 8, size_t 8, wchar_t 4, long double x87". Cut to `size`.
  void describe(char* text, size_t size) const;

  void encode(Encoder& out) const;
  // Fails on widths that no conversion exists for.
  static Result decode(Decoder& in, Representation* out);
};

}  // namespace elc::format

#endif
