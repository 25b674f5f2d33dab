// The predefined datatypes: their fixed numbers, and what each is in memory.
#include <stddef.h>
#include <wchar.h>

#include <algorithm>

#include "base/memory.h"
#include "mpi/datatype/datatype_table.h"

namespace elc::mpi {
namespace {

using namespace format;

// A predefined type under every MPI. The numbers are part of the file format and never change.
struct Predefined {
  uint8_t number;
  uint8_t kind;           // of Fortran types the usual one: the size that MPI gives decides
  uint8_t count = 1;      // 2: two of `kind`
  uint8_t second = kNone; // of a pair
};

enum Number : uint8_t {
  kMpiChar = 1,
  kMpiSignedChar,
  kMpiUnsignedChar,
  kMpiByte,
  kMpiPacked,
  kMpiWchar,
  kMpiShort,
  kMpiUnsignedShort,
  kMpiInt,
  kMpiUnsigned,
  kMpiLong,
  kMpiUnsignedLong,
  kMpiLongLong,
  kMpiUnsignedLongLong,
  kMpiFloat,
  kMpiDouble,
  kMpiLongDouble,
  kMpiCBool,
  kMpiInt8,
  kMpiInt16,
  kMpiInt32,
  kMpiInt64,
  kMpiUint8,
  kMpiUint16,
  kMpiUint32,
  kMpiUint64,
  kMpiCFloatComplex,
  kMpiCDoubleComplex,
  kMpiCLongDoubleComplex,
  kMpiAint,
  kMpiOffset,
  kMpiCount,
  kMpiFloatInt,
  kMpiDoubleInt,
  kMpiLongInt,
  kMpi2Int,
  kMpiShortInt,
  kMpiLongDoubleInt,
  kMpiLb,
  kMpiUb,
  kMpiCxxBool,
  kMpiCxxFloatComplex,
  kMpiCxxDoubleComplex,
  kMpiCxxLongDoubleComplex,

  kMpiCharacter = 64,
  kMpiLogical,
  kMpiInteger,
  kMpiReal,
  kMpiDoublePrecision,
  kMpiComplex,
  kMpiDoubleComplex,
  kMpi2Integer,
  kMpi2Real,
  kMpi2DoublePrecision,
  kMpiInteger1,
  kMpiInteger2,
  kMpiInteger4,
  kMpiInteger8,
  kMpiInteger16,
  kMpiReal4,
  kMpiReal8,
  kMpiReal16,
  kMpiComplex8,
  kMpiComplex16,
  kMpiComplex32,
};

const Predefined kPredefined[] = {
    {kMpiChar, kChar},
    {kMpiSignedChar, kSchar},
    {kMpiUnsignedChar, kUchar},
    {kMpiByte, kByte},
    {kMpiPacked, kByte},
    {kMpiWchar, kWchar},
    {kMpiShort, kShort},
    {kMpiUnsignedShort, kUshort},
    {kMpiInt, kInt},
    {kMpiUnsigned, kUint},
    {kMpiLong, kLong},
    {kMpiUnsignedLong, kUlong},
    {kMpiLongLong, kLlong},
    {kMpiUnsignedLongLong, kUllong},
    {kMpiFloat, kFloat},
    {kMpiDouble, kDouble},
    {kMpiLongDouble, kLdouble},
    {kMpiCBool, kBool},
    {kMpiInt8, kInt8},
    {kMpiInt16, kInt16},
    {kMpiInt32, kInt32},
    {kMpiInt64, kInt64},
    {kMpiUint8, kUint8},
    {kMpiUint16, kUint16},
    {kMpiUint32, kUint32},
    {kMpiUint64, kUint64},
    {kMpiCFloatComplex, kFloat, 2},
    {kMpiCDoubleComplex, kDouble, 2},
    {kMpiCLongDoubleComplex, kLdouble, 2},
    {kMpiAint, kPtrdiff},
    {kMpiOffset, kInt64},
    {kMpiCount, kInt64},
    {kMpiFloatInt, kFloat, 1, kInt},
    {kMpiDoubleInt, kDouble, 1, kInt},
    {kMpiLongInt, kLong, 1, kInt},
    {kMpi2Int, kInt, 2},
    {kMpiShortInt, kShort, 1, kInt},
    {kMpiLongDoubleInt, kLdouble, 1, kInt},
    {kMpiLb, kNone, 0},
    {kMpiUb, kNone, 0},
    {kMpiCxxBool, kBool},
    {kMpiCxxFloatComplex, kFloat, 2},
    {kMpiCxxDoubleComplex, kDouble, 2},
    {kMpiCxxLongDoubleComplex, kLdouble, 2},
    {kMpiCharacter, kChar},
    {kMpiLogical, kInt32},
    {kMpiInteger, kInt32},
    {kMpiReal, kFloat},
    {kMpiDoublePrecision, kDouble},
    {kMpiComplex, kFloat, 2},
    {kMpiDoubleComplex, kDouble, 2},
    {kMpi2Integer, kInt32, 2},
    {kMpi2Real, kFloat, 2},
    {kMpi2DoublePrecision, kDouble, 2},
    {kMpiInteger1, kInt8},
    {kMpiInteger2, kInt16},
    {kMpiInteger4, kInt32},
    {kMpiInteger8, kInt64},
    {kMpiInteger16, kByte, 16},
    {kMpiReal4, kFloat},
    {kMpiReal8, kDouble},
    {kMpiReal16, kByte, 16},
    {kMpiComplex8, kFloat, 2},
    {kMpiComplex16, kDouble, 2},
    {kMpiComplex32, kByte, 32},
};

// The handles that the MPI at hand has.
const struct {
  Number number;
  MPI_Datatype handle;
} kHandles[] = {
    {kMpiChar, MPI_CHAR},
#ifdef MPI_SIGNED_CHAR
    {kMpiSignedChar, MPI_SIGNED_CHAR},
#endif
    {kMpiUnsignedChar, MPI_UNSIGNED_CHAR},
    {kMpiByte, MPI_BYTE},
    {kMpiPacked, MPI_PACKED},
#ifdef MPI_WCHAR
    {kMpiWchar, MPI_WCHAR},
#endif
    {kMpiShort, MPI_SHORT},
    {kMpiUnsignedShort, MPI_UNSIGNED_SHORT},
    {kMpiInt, MPI_INT},
    {kMpiUnsigned, MPI_UNSIGNED},
    {kMpiLong, MPI_LONG},
    {kMpiUnsignedLong, MPI_UNSIGNED_LONG},
    {kMpiLongLong, MPI_LONG_LONG_INT},
#ifdef MPI_UNSIGNED_LONG_LONG
    {kMpiUnsignedLongLong, MPI_UNSIGNED_LONG_LONG},
#endif
    {kMpiFloat, MPI_FLOAT},
    {kMpiDouble, MPI_DOUBLE},
    {kMpiLongDouble, MPI_LONG_DOUBLE},
#ifdef MPI_INT8_T  // MPI-2.2
    {kMpiCBool, MPI_C_BOOL},
    {kMpiInt8, MPI_INT8_T},
    {kMpiInt16, MPI_INT16_T},
    {kMpiInt32, MPI_INT32_T},
    {kMpiInt64, MPI_INT64_T},
    {kMpiUint8, MPI_UINT8_T},
    {kMpiUint16, MPI_UINT16_T},
    {kMpiUint32, MPI_UINT32_T},
    {kMpiUint64, MPI_UINT64_T},
    {kMpiCFloatComplex, MPI_C_FLOAT_COMPLEX},
    {kMpiCDoubleComplex, MPI_C_DOUBLE_COMPLEX},
    {kMpiCLongDoubleComplex, MPI_C_LONG_DOUBLE_COMPLEX},
    {kMpiAint, MPI_AINT},
    {kMpiOffset, MPI_OFFSET},
#endif
#ifdef MPI_COUNT
    {kMpiCount, MPI_COUNT},
#endif
    {kMpiFloatInt, MPI_FLOAT_INT},
    {kMpiDoubleInt, MPI_DOUBLE_INT},
    {kMpiLongInt, MPI_LONG_INT},
    {kMpi2Int, MPI_2INT},
    {kMpiShortInt, MPI_SHORT_INT},
    {kMpiLongDoubleInt, MPI_LONG_DOUBLE_INT},
#ifdef MPI_LB
    {kMpiLb, MPI_LB},
    {kMpiUb, MPI_UB},
#endif
#ifdef MPI_CXX_BOOL
    {kMpiCxxBool, MPI_CXX_BOOL},
#endif
#ifdef MPI_CXX_FLOAT_COMPLEX
    {kMpiCxxFloatComplex, MPI_CXX_FLOAT_COMPLEX},
    {kMpiCxxDoubleComplex, MPI_CXX_DOUBLE_COMPLEX},
    {kMpiCxxLongDoubleComplex, MPI_CXX_LONG_DOUBLE_COMPLEX},
#endif
#ifdef MPI_INTEGER
    {kMpiCharacter, MPI_CHARACTER},
    {kMpiLogical, MPI_LOGICAL},
    {kMpiInteger, MPI_INTEGER},
    {kMpiReal, MPI_REAL},
    {kMpiDoublePrecision, MPI_DOUBLE_PRECISION},
    {kMpiComplex, MPI_COMPLEX},
    {kMpiDoubleComplex, MPI_DOUBLE_COMPLEX},
    {kMpi2Integer, MPI_2INTEGER},
    {kMpi2Real, MPI_2REAL},
    {kMpi2DoublePrecision, MPI_2DOUBLE_PRECISION},
#endif
#if MPI_VERSION >= 2  // older headers may have these names without the types
#ifdef MPI_INTEGER1
    {kMpiInteger1, MPI_INTEGER1},
#endif
#ifdef MPI_INTEGER2
    {kMpiInteger2, MPI_INTEGER2},
#endif
#ifdef MPI_INTEGER4
    {kMpiInteger4, MPI_INTEGER4},
#endif
#ifdef MPI_INTEGER8
    {kMpiInteger8, MPI_INTEGER8},
#endif
#ifdef MPI_INTEGER16
    {kMpiInteger16, MPI_INTEGER16},
#endif
#ifdef MPI_REAL4
    {kMpiReal4, MPI_REAL4},
#endif
#ifdef MPI_REAL8
    {kMpiReal8, MPI_REAL8},
#endif
#ifdef MPI_REAL16
    {kMpiReal16, MPI_REAL16},
#endif
#ifdef MPI_COMPLEX8
    {kMpiComplex8, MPI_COMPLEX8},
#endif
#ifdef MPI_COMPLEX16
    {kMpiComplex16, MPI_COMPLEX16},
#endif
#ifdef MPI_COMPLEX32
    {kMpiComplex32, MPI_COMPLEX32},
#endif
#endif
};

const Predefined* find_predefined(uint64_t number) {
  for (const Predefined& p : kPredefined)
    if (p.number == number) return &p;
  return nullptr;
}

template <class First>
struct Pair {
  First first;
  int second;
};

int64_t second_offset(Kind first) {
  switch (first) {
    case kFloat:
      return offsetof(Pair<float>, second);
    case kDouble:
      return offsetof(Pair<double>, second);
    case kLong:
      return offsetof(Pair<long>, second);
    case kShort:
      return offsetof(Pair<short>, second);
    default:
      return offsetof(Pair<long double>, second);
  }
}

// A Fortran type has the width that Fortran's compiler gave it when the MPI was built.
Kind of_width(Kind usual, uint64_t width) {
  if (usual == kFloat || usual == kDouble) return width == 4 ? kFloat : width == 8 ? kDouble : kNone;
  switch (width) {
    case 1:
      return kInt8;
    case 2:
      return kInt16;
    case 4:
      return kInt32;
    case 8:
      return kInt64;
    default:
      return kNone;
  }
}

Scalars scalars_of(const Predefined& type) {
  Scalars s{static_cast<Kind>(type.kind), type.count, static_cast<Kind>(type.second), 0, false};
  if (s.second != kNone) s.second_offset = second_offset(s.kind);
  s.opaque = s.kind == kByte && type.number != kMpiByte;
  return s;
}

uint64_t size_of(const Scalars& s) {
  return uint64_t{s.count} * memory_width(s.kind) + (s.second == kNone ? 0 : memory_width(s.second));
}

void add(DatatypeTable* table, uint64_t number, MPI_Datatype handle) {
  const Predefined& type = *find_predefined(number);
  int size = 0;
  if (handle == MPI_DATATYPE_NULL || PMPI_Type_size(handle, &size) != MPI_SUCCESS) return;
  Scalars scalars = scalars_of(type);
  const bool takes_its_width = number > kMpiCharacter || number == kMpiOffset || number == kMpiCount;
  if (takes_its_width && !scalars.opaque && static_cast<uint64_t>(size) != size_of(scalars))
    scalars.kind = of_width(scalars.kind, static_cast<uint64_t>(size) / type.count);
  if (static_cast<uint64_t>(size) != size_of(scalars)) return;  // not there, or unlike the compiler's
  if (size == 0 && number != kMpiLb && number != kMpiUb) return;
  Datatype* record = make<Datatype>();
  record->number = number;
  record->handle = handle;
  record->scalars = scalars;
  record->size = size_of(scalars);
  record->alignment = std::max(memory_alignment(scalars.kind), memory_alignment(scalars.second));
  record->committed = true;
  table->by_number.at(number) = record;
  Datatype*& by_handle = table->by_handle.at(handle_key(handle));
  if (by_handle == nullptr) by_handle = record;  // MPIs may have two names for one type
}

template <class T>
struct Aligned {
  char before;
  T scalar;
};

template <class T>
constexpr uint8_t alignment() {
  return offsetof(Aligned<T>, scalar);  // not alignof: they differ on i386
}

enum class Class { kNothing, kBytes, kSigned, kUnsigned, kFloating };

Class class_of(Kind kind) {
  if (kind == kNone) return Class::kNothing;
  if (kind == kByte) return Class::kBytes;
  if (kind == kBool) return Class::kUnsigned;
  if (is_integer(kind)) return Representation::here().is_signed[kind] ? Class::kSigned : Class::kUnsigned;
  return Class::kFloating;
}

bool integral(Class c) { return c == Class::kSigned || c == Class::kUnsigned; }

// Alike in memory. `loosely`: an unsigned integer may stand for a signed one.
bool alike(const Scalars& a, const Scalars& b, bool loosely) {
  const Class of_a = class_of(a.kind), of_b = class_of(b.kind);
  const bool same_class = of_a == of_b || (loosely && integral(of_a) && integral(of_b));
  return same_class && a.count == b.count && memory_width(a.kind) == memory_width(b.kind) &&
         a.second == b.second && !a.opaque && !b.opaque;
}

// Has the kind another width elsewhere? Then it should not stand for one that has not.
bool varies(Kind kind) {
  return kind == kLong || kind == kUlong || kind == kWchar || kind == kPtrdiff || kind == kBool;
}

}  // namespace

uint32_t memory_width(Kind kind) {
  return kind == kLdouble ? sizeof(long double) : Representation::here().width[kind];
}

namespace {

constexpr uint8_t alignment_of(Kind kind) {
  switch (kind) {
    case kBool:
      return alignment<bool>();
    case kShort:
    case kUshort:
      return alignment<short>();
    case kInt:
    case kUint:
      return alignment<int>();
    case kLong:
    case kUlong:
      return alignment<long>();
    case kLlong:
    case kUllong:
      return alignment<long long>();
    case kFloat:
    case kFloatComplex:
      return alignment<float>();
    case kDouble:
    case kDoubleComplex:
      return alignment<double>();
    case kLdouble:
    case kLdoubleComplex:
      return alignment<long double>();
    case kWchar:
      return alignment<wchar_t>();
    case kSize:
      return alignment<size_t>();
    case kPtrdiff:
      return alignment<ptrdiff_t>();
    case kInt16:
    case kUint16:
      return alignment<int16_t>();
    case kInt32:
    case kUint32:
      return alignment<int32_t>();
    case kInt64:
    case kUint64:
      return alignment<int64_t>();
    default:
      return 1;
  }
}

struct Alignments {
  uint8_t of[kKindCount] = {};
  constexpr Alignments() {
    for (uint32_t k = 0; k < kKindCount; ++k) of[k] = alignment_of(static_cast<Kind>(k));
  }
};
constexpr Alignments kAlignments;

}  // namespace

uint32_t memory_alignment(Kind kind) { return kAlignments.of[kind]; }

Datatype* stand_in(uint64_t number) {
  const Predefined* type = find_predefined(number);
  if (type == nullptr || type->kind == kNone) return nullptr;
  const Scalars wanted = scalars_of(*type);
  for (const bool loosely : {false, true})
    for (const bool varying : {false, true})
      for (const Predefined& candidate : kPredefined) {
        Datatype* found = datatypes().numbered(candidate.number);
        if (found == nullptr || (varies(found->scalars.kind) && !varying)) continue;
        if (alike(wanted, found->scalars, loosely)) return found;
      }
  return nullptr;
}

void load_predefined(DatatypeTable* table) {
  for (const auto& type : kHandles) add(table, type.number, type.handle);
}

}  // namespace elc::mpi
