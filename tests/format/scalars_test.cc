// Every scalar of C, from and to every machine.
#include <doctest/doctest.h>
#include <elc.h>
#include <float.h>
#include <math.h>

#include <complex>
#include <limits>

#include "tests/format/support.h"

using namespace elc;
using namespace elc::format;

template <int public_number, Kind kind>
constexpr bool kSame = public_number == static_cast<int>(kind);
static_assert(kSame<ELC_BOOL, kBool> && kSame<ELC_LONG, kLong> && kSame<ELC_LDOUBLE, kLdouble> &&
              kSame<ELC_WCHAR, kWchar> && kSame<ELC_UINT64, kUint64> && kSame<ELC_BYTE, kByte> &&
              kSame<ELC_POINTER, kPointer> && kSame<ELC_FILE, kFile> && kSame<ELC_MPI_STATUS, kMpiStatus> &&
              ELC_FIRST_MADE_TYPE == kFirstMade);

namespace {

// Writes an array as another machine would, reads it here (checking first), and returns the error or "".
template <class T>
std::string round_trip(const Representation& machine, TypeId type, const std::vector<T>& values,
                       std::vector<T>* back) {
  TypeTable types;
  WriterOptions options;
  options.representation = &machine;
  MemoryFile file;
  file.bytes = write_file(types, options, [&](Writer& w) {
    const Result written = w.write_value(type, values.data(), values.size(), {});
    CAPTURE(written.message());
  });
  if (file.bytes.substr(0, 5) == "error") return file.bytes;
  Reader reader;
  Result status = reader.open(file.source());
  REQUIRE_MESSAGE(status.ok(), status.message());
  CHECK(reader.representation() == machine);
  Cursor check, cursor;
  REQUIRE(check.open(&reader, "values").ok());
  status = check.check_value(type, types, type, values.size(), {});
  if (status.ok()) CHECK(check.finish().ok());
  back->assign(values.size(), T());
  REQUIRE(cursor.open(&reader, "values").ok());
  const Result read = cursor.read_value(type, types, type, back->data(), values.size(), {});
  CHECK(std::string(read.message()) == status.message());
  if (read.ok()) CHECK(cursor.finish().ok());
  return read.ok() ? "" : read.message();
}

// Values that all machines have are bit for bit the same after the journey; `width` 0 for all widths.
template <class T>
void all_cross(TypeId type, const std::vector<T>& values) {
  for (const Machine& machine : machines()) {
    CAPTURE(machine.name);
    CAPTURE(kind_name(static_cast<Kind>(type)));
    std::vector<T> back;
    CHECK(round_trip(machine.representation, type, values, &back) == "");
    CHECK(memcmp(back.data(), values.data(), values.size() * sizeof(T)) == 0);
  }
}

// From the least to the most of the narrowest width in machines().
template <class T>
std::vector<T> integers(int narrowest) {
  using Limits = std::numeric_limits<T>;
  const int unused =
      static_cast<int>(sizeof(T)) > narrowest ? 8 * (static_cast<int>(sizeof(T)) - narrowest) : 0;
  std::vector<T> values = {0, 1, 2, 100, static_cast<T>(Limits::max() >> unused)};
  if (Limits::is_signed) {
    values.push_back(static_cast<T>(-1));
    values.push_back(static_cast<T>(Limits::min() >> unused));
  }
  for (int i = 0; i < 1000; ++i) values.push_back(static_cast<T>(i * 30 % 127));
  return values;
}

template <class T>
T from_bits(uint64_t bits) {
  T value;
  static_assert(sizeof value <= sizeof bits);
  memcpy(&value, &bits, sizeof value);
  return value;
}

}  // namespace

TEST_CASE("integers of every kind cross between all machines") {
  all_cross<char>(kChar, {'a', '\n', static_cast<char>(0xc3), static_cast<char>(0x80), 0});
  all_cross(kSchar, integers<signed char>(1));
  all_cross(kUchar, integers<unsigned char>(1));
  all_cross(kShort, integers<short>(2));
  all_cross(kUshort, integers<unsigned short>(2));
  all_cross(kInt, integers<int>(2));
  all_cross(kUint, integers<unsigned>(2));
  all_cross(kLong, integers<long>(4));
  all_cross(kUlong, integers<unsigned long>(4));
  all_cross(kLlong, integers<long long>(8));
  all_cross(kUllong, integers<unsigned long long>(8));
  all_cross<wchar_t>(kWchar, {L'a', 0, 0xe9, 0x20ac, 0x7fff});
  all_cross(kSize, integers<size_t>(4));
  all_cross(kPtrdiff, integers<ptrdiff_t>(4));
  all_cross(kInt8, integers<int8_t>(1));
  all_cross(kUint8, integers<uint8_t>(1));
  all_cross(kInt16, integers<int16_t>(2));
  all_cross(kUint16, integers<uint16_t>(2));
  all_cross(kInt32, integers<int32_t>(4));
  all_cross(kUint32, integers<uint32_t>(4));
  all_cross(kInt64, integers<int64_t>(8));
  all_cross(kUint64, integers<uint64_t>(8));
  all_cross<uint8_t>(kBool, {0, 1, 1, 0});
}

TEST_CASE("floating point crosses bit for bit: NaN payloads, infinities, denormals, negative zero") {
  std::vector<double> doubles = {0.0,     -0.0,         1.0,      -1.5,      DBL_MIN,
                                 DBL_MAX, DBL_TRUE_MIN, INFINITY, -INFINITY, 0.1};
  for (const uint64_t bits :
       {0x7ff8000000000000u, 0x7ff0000000000001u, 0xfff0dead0000beefu, 0x000fffffffffffffu})
    doubles.push_back(from_bits<double>(bits));
  std::vector<float> floats = {0.f, -0.f, 1.f, FLT_MIN, FLT_MAX, FLT_TRUE_MIN, INFINITY, -INFINITY, 0.1f};
  for (const uint32_t bits : {0x7fc00000u, 0x7f800001u, 0xff80beefu, 0x007fffffu})
    floats.push_back(from_bits<float>(bits));
  all_cross(kDouble, doubles);
  all_cross(kFloat, floats);
  std::vector<std::complex<double>> pairs;
  for (size_t i = 0; i + 1 < doubles.size(); ++i) pairs.push_back({doubles[i], doubles[i + 1]});
  all_cross(kDoubleComplex, pairs);
  std::vector<std::complex<float>> small;
  for (size_t i = 0; i + 1 < floats.size(); ++i) small.push_back({floats[i], floats[i + 1]});
  all_cross(kFloatComplex, small);
}

TEST_CASE("long double crosses: what both formats have exactly, NaN payloads, rounding, overflow") {
  std::vector<long double> values = {0.0L,        -0.0L,      1.0L,     -1.5L,     0x1.fffffffffffffp+1023L,
                                     0x1p-1022L,  0x1p-1074L, INFINITY, -INFINITY, 3.0L,
                                     0x1.8p-1060L};
  const auto same = [](long double a, long double b) {
    return (isnan(a) && isnan(b)) || (a == b && signbit(a) == signbit(b));
  };
  values.push_back(static_cast<long double>(from_bits<double>(0x7ff8000000000123u)));
  for (const Machine& machine : machines()) {
    CAPTURE(machine.name);
    std::vector<long double> back;
    CHECK(round_trip(machine.representation, kLdouble, values, &back) == "");
    for (size_t i = 0; i < values.size(); ++i) CHECK_MESSAGE(same(values[i], back[i]), i);
    CHECK(static_cast<double>(back.back()) != 0);
    const double payload = static_cast<double>(back.back());
    uint64_t bits;
    memcpy(&bits, &payload, sizeof bits);
    CHECK(bits == 0x7ff8000000000123u);
  }
  if (LDBL_MANT_DIG == 53) return;
  for (const Machine& machine : machines()) {
    CAPTURE(machine.name);
    const bool one_double = machine.representation.long_double == LongDouble::kBinary64;
    const bool narrow = one_double || machine.representation.long_double == LongDouble::kDoubleDouble;
    std::vector<long double> back;
    CHECK(round_trip<long double>(machine.representation, kLdouble, {1.0L, LDBL_MAX}, &back) ==
          (narrow ? "error: [1]: the value is too large for a `long double` of the machine that reads" : ""));
    const std::vector<long double> third = {1.0L / 3, LDBL_MIN, nextafterl(0, 1)};
    CHECK(round_trip(machine.representation, kLdouble, third, &back) == "");
    CHECK(back[0] == (one_double ? static_cast<long double>(1.0 / 3) : third[0]));
    CHECK(back[1] == (narrow ? 0 : LDBL_MIN));
    if (machine.representation.long_double == LongDouble::kBinary128) CHECK(back[2] == third[2]);
  }
}

TEST_CASE("two doubles are the nearest and the rest, and their sum is what was there") {
  if (LDBL_MANT_DIG != 64) return;
  const Machine powerpc = machines().back();
  REQUIRE(powerpc.representation.long_double == LongDouble::kDoubleDouble);
  std::vector<long double> values = {1.0L + 0x1p-60L,  1.0L - 0x1p-60L, -0x1.fffffffffffffffep+100L, 0.1L, -1e300L / 3,
                                     0x1.8p-1070L,     0x1p-1000L + 0x1p-1060L};
  std::mt19937_64 random(1);
  for (int i = 0; i < 1000; ++i)
    values.push_back(ldexpl(static_cast<long double>(random()), static_cast<int>(random() % 1800) - 900));
  std::vector<long double> back;
  CHECK(round_trip(powerpc.representation, kLdouble, values, &back) == "");
  CHECK(back == values);
  const auto pair = [&](double high, double low) {
    uint8_t packed[16];
    for (int i = 0; i < 2; ++i) {
      uint64_t bits;
      memcpy(&bits, i == 0 ? &high : &low, sizeof bits);
      for (int b = 7; b >= 0; --b, bits >>= 8) packed[8 * i + b] = static_cast<uint8_t>(bits);
    }
    long double value = 0;
    CHECK(convert(conversion_for(kLdouble, powerpc.representation, Direction::kFromFile), packed, 0,
                  reinterpret_cast<uint8_t*>(&value), 0, 1, 1));
    return value;
  };
  CHECK(pair(1, 0x1p-60) == 1.0L + 0x1p-60L);
  CHECK(pair(1, -0x1p-60) == 1.0L - 0x1p-60L);
  CHECK(pair(1, 0x1p-1000) == 1.0L);
  CHECK(pair(1, 0x1p-64) == 1.0L);               // a tie, to even
  CHECK(pair(1 + 0x1p-52, 0x1p-64) == 1.0L + 0x1p-52L);
  CHECK(pair(1, 0x1p-64 + 0x1p-116) == 1.0L + 0x1p-63L);
  CHECK(pair(0x1p-60, 1) == 1.0L + 0x1p-60L);     // not in order
  CHECK(pair(0, 0x1p-60) == 0x1p-60L);
  CHECK(signbit(pair(-0.0, 0)));
  CHECK(pair(1, -1) == 0.0L);
  CHECK(pair(INFINITY, 0) == INFINITY);
  CHECK(isnan(pair(NAN, 0)));
}

TEST_CASE("a value that does not fit is an error that names place, value and limit") {
  if (sizeof(long) != 8) return;
  std::vector<Machine> all = machines();
  std::vector<long> back;
  // This machine's writer plays the narrow machine here: it meets the value first.
  CHECK(round_trip<long>(all[2].representation, kLong, {1, 2, 1L << 40}, &back) ==
        "error: [2]: the value 1099511627776 does not fit a `long` of 4 bytes, whose limit is 2147483647");
  CHECK(round_trip<long>(all[5].representation, kLong, {-(1L << 31) - 1}, &back) ==
        "error: the value -2147483649 does not fit a `long` of 4 bytes, whose limit is -2147483648");
  std::vector<unsigned long> unsigned_back;
  CHECK(round_trip<unsigned long>(all[2].representation, kUlong, {1ul << 32}, &unsigned_back) ==
        "error: the value 4294967296 does not fit a `unsigned long` of 4 bytes, whose limit is 4294967295");
  // And reading: the file has an 8-byte int.
  Representation wide = all[4].representation;
  wide.width[kInt] = wide.width[kUint] = 8;
  TypeTable types;
  WriterOptions options;
  options.representation = &wide;
  MemoryFile file;
  const std::vector<uint64_t> words(1000, 5);
  file.bytes = write_file(types, options, [&](Writer& w) {
    CHECK(w.write_value(kUint64, words.data(), words.size(), {}).ok());
    const uint64_t big = 1ull << 32;
    CHECK(w.write_value(kUint64, &big, 1, {}).ok());
  });
  Reader reader;
  REQUIRE(reader.open(file.source()).ok());
  for (const bool check : {true, false}) {
    Cursor cursor;
    std::vector<int> out(1001);
    REQUIRE(cursor.open(&reader, "values").ok());
    const Result status = check ? cursor.check_value(kInt, types, kInt, 1001, {})
                                : cursor.read_value(kInt, types, kInt, out.data(), 1001, {});
    CHECK(std::string(status.message()) ==
          "[1000]: the value 4294967296 does not fit a `int` of 4 bytes, whose limit is 2147483647");
    CHECK(!cursor.ok());
  }
}

TEST_CASE("arrays longer than a chunk, at every place in it") {
  TypeTable types;
  std::vector<double> values(400000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i) * 0.37;
  for (const Machine& machine : machines()) {
    for (const int compression : {0, 1}) {
      WriterOptions options;
      options.representation = &machine.representation;
      MemoryFile file;
      std::vector<uint8_t> memory(Compressor::memory(1));
      Compressor compressor(memory.data(), 1, 1);
      file.bytes = write_file(types, options, [&](Writer& w) {
        if (compression > 0) w.compress_with(&compressor);
        for (int i = 0; i < 3; ++i) {
          w.encoder().u32(7);
          CHECK(w.write_value(kDouble, values.data(), values.size(), {}).ok());
        }
      });
      Reader reader;
      REQUIRE(reader.open(file.source()).ok());
      CHECK(reader.verify().ok());
      Cursor cursor;
      REQUIRE(cursor.open(&reader, "values").ok());
      std::vector<double> back(values.size());
      for (int i = 0; i < 3; ++i) {
        CHECK(cursor.u32() == 7);
        if (i == 1) {
          CHECK(cursor.skip_value(kDouble, values.size()).ok());
        } else {
          CHECK(cursor.read_value(kDouble, types, kDouble, back.data(), back.size(), {}).ok());
          CHECK(back == values);
        }
      }
      CHECK(cursor.finish().ok());
    }
  }
}
