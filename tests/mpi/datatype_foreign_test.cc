// Messages of other kinds of machines, unpacked into MPI datatypes.
#include <stddef.h>

#include "elc.h"
#include "random_types.h"
#include "state/state.h"

using namespace elc;
using namespace elc::mpi;

namespace {

// A message of another machine, written scalar by scalar.
struct Message {
  format::ByteOrder order;
  std::string bytes;
  void put(uint64_t value, int width) {
    for (int i = 0; i < width; ++i)
      bytes += static_cast<char>(value >> 8 * (order == format::ByteOrder::kLittle ? i : width - 1 - i));
  }
  void put_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, 4);
    put(bits, 4);
  }
  void put_double(double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    put(bits, 8);
  }
};

struct Record {
  char letter;
  double x;
  int id[3];
  long big;
  short small;
  unsigned long mask;
  float y;
  wchar_t wide;
  unsigned char raw[2];
};

MPI_Datatype record_type() {
  int lengths[] = {1, 1, 2, 1, 1, 1, 1, 1, 2};  // id[2] is not sent
  MPI_Aint at[] = {offsetof(Record, letter), offsetof(Record, x),     offsetof(Record, id),
                   offsetof(Record, big),    offsetof(Record, small), offsetof(Record, mask),
                   offsetof(Record, y),      offsetof(Record, wide),  offsetof(Record, raw)};
  MPI_Datatype types[] = {MPI_CHAR,          MPI_DOUBLE, MPI_INT,   MPI_LONG, MPI_SHORT,
                          MPI_UNSIGNED_LONG, MPI_FLOAT,  MPI_WCHAR, MPI_BYTE};
  MPI_Datatype fields, made;
  MPI_Type_create_struct(9, lengths, at, types, &fields);
  MPI_Type_create_resized(fields, 0, sizeof(Record), &made);
  MPI_Type_free(&fields);
  MPI_Type_commit(&made);
  return made;
}

// 32-bit, big-endian, wchar_t of 2 bytes, char unsigned, long double of 16 bytes.
uint64_t big_endian_32() {
  format::Representation r = format::Representation::here();
  r.order = format::ByteOrder::kBig;
  r.long_double = format::LongDouble::kBinary128;
  r.width[format::kLong] = r.width[format::kSize] = r.width[format::kPtrdiff] = 4;
  r.width[format::kWchar] = 2;
  r.is_signed[format::kChar] = false;
  r.is_signed[format::kWchar] = false;
  return representation_code(r, 16);
}

}  // namespace

// What the program has registered is this alone.
static void register_memory(void* memory, size_t size) {
  state::reset();
  REQUIRE(ELC_Register("memory", memory, ELC_UCHAR, size) == ELC_OK);
}

TEST_CASE("the code of a representation can be reversed") {
  format::Representation r;
  uint32_t bytes = 0;
  CHECK(native_representation_code() != 0);
  CHECK(representation_of(native_representation_code(), &r, &bytes).ok());
  CHECK(r == format::Representation::here());
  CHECK(bytes == sizeof(long double));
  CHECK(representation_of(big_endian_32(), &r, &bytes).ok());
  CHECK(r.width[format::kUlong] == 4);
  CHECK(!r.is_signed[format::kChar]);
  CHECK(representation_code(r, bytes) == big_endian_32());
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  Random random(seed);
  for (int i = 0; i < 10000; ++i) {
    const uint64_t code = random();
    if (code == 0 || !representation_of(code, &r, &bytes).ok()) continue;
    CHECK(representation_code(r, bytes) == code);
  }
}

TEST_CASE("a message of a big-endian 32-bit machine is unpacked into structs") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  Random random(seed);
  MPI_Datatype type = record_type(), spread;
  MPI_Type_vector(3, 2, 4, type, &spread);  // a strided type of structs
  Message message{format::ByteOrder::kBig, {}};
  Record sent[6];
  memset(sent, 0, sizeof sent);
  for (Record& r : sent) {
    r.letter = static_cast<char>(draw(random, 0, 127));
    r.x = draw(random, -1000000, 1000000) / 7.0;
    r.id[0] = static_cast<int>(random());
    r.id[1] = static_cast<int>(random());
    r.big = static_cast<int32_t>(random());
    r.small = static_cast<short>(random());
    r.mask = static_cast<uint32_t>(random());
    r.y = static_cast<float>(draw(random, -1000000, 1000000)) / 3.0f;
    r.wide = static_cast<wchar_t>(random() % 65536);
    r.raw[0] = static_cast<unsigned char>(random());
    r.raw[1] = static_cast<unsigned char>(random());
    message.put(static_cast<unsigned char>(r.letter), 1);
    message.put_double(r.x);
    message.put(static_cast<uint32_t>(r.id[0]), 4);
    message.put(static_cast<uint32_t>(r.id[1]), 4);
    message.put(static_cast<uint64_t>(r.big), 4);
    message.put(static_cast<uint16_t>(r.small), 2);
    message.put(r.mask, 4);
    message.put_float(r.y);
    message.put(static_cast<uint64_t>(r.wide), 2);
    message.put(r.raw[0], 1);
    message.put(r.raw[1], 1);
  }
  const size_t one = message.bytes.size() / 6;
  CHECK(packed_size(type, big_endian_32()) == one);
  CHECK(packed_size(spread, big_endian_32()) == 6 * one);
  CHECK(packed_size(spread) == 6 * (one + 4 + 4 + 2));

  Record got[10];
  memset(got, 0, sizeof got);
  register_memory(got, sizeof got);
  Unpacked result;
  Result status =
      unpack(data_of(message.bytes), message.bytes.size(), big_endian_32(), got, 1, spread, &result);
  CHECK_MESSAGE(status.ok(), std::string(status.message()));
  CHECK(!result.truncated);
  CHECK(result.size == packed_size(spread));
  const int where[6] = {0, 1, 4, 5, 8, 9};
  const auto equal = [](const Record& a, const Record& b) {
    return a.letter == b.letter && a.x == b.x && a.id[0] == b.id[0] && a.id[1] == b.id[1] && b.id[2] == 0 &&
           a.big == b.big && a.small == b.small && a.mask == b.mask && a.y == b.y && a.wide == b.wide &&
           memcmp(a.raw, b.raw, 2) == 0;
  };
  for (int i = 0; i < 6; ++i) CHECK(equal(sent[i], got[where[i]]));
  CHECK(got[2].x == 0);

  // The first half of the message, received as elements of the struct; and a buffer that is too small.
  memset(got, 0, sizeof got);
  CHECK(unpack(data_of(message.bytes), 3 * one + 1 + 8 + 4, big_endian_32(), got, 6, type, &result).ok());
  for (int i = 0; i < 3; ++i) CHECK(equal(sent[i], got[i]));
  CHECK(got[3].x == sent[3].x);
  CHECK(got[3].id[0] == sent[3].id[0]);
  CHECK(got[3].id[1] == 0);
  CHECK(result.size == 3 * packed_size(type) + 13);
  CHECK(unpack(data_of(message.bytes), message.bytes.size(), big_endian_32(), got, 5, type, &result).ok());
  CHECK(result.truncated);
  CHECK(result.size == 5 * packed_size(type));
  status = unpack(data_of(message.bytes), one + 3, big_endian_32(), got, 5, type, &result);
  CHECK(std::string(status.message()).find("double") != std::string::npos);
  MPI_Type_free(&spread);
  MPI_Type_free(&type);
  CHECK(derived() == 0);
}

TEST_CASE("many structs of another machine, strided both ways") {
  const int n = 10000;
  MPI_Datatype type = record_type(), backwards;
  MPI_Type_create_hvector(n, 1, -static_cast<MPI_Aint>(sizeof(Record)), type, &backwards);
  Message message{format::ByteOrder::kBig, {}};
  for (int i = 0; i < n; ++i) {
    message.put(static_cast<unsigned char>(i % 100), 1);
    message.put_double(i / 3.0);
    message.put(static_cast<uint32_t>(-i), 4);
    message.put(static_cast<uint32_t>(i * 7), 4);
    message.put(static_cast<uint32_t>(-i - 1), 4);
    message.put(static_cast<uint16_t>(i % 1000), 2);
    message.put(0xffff0000u + static_cast<uint32_t>(i), 4);
    message.put_float(static_cast<float>(i));
    message.put(static_cast<uint64_t>(i), 2);
    message.put(0xa, 1);
    message.put(0xb, 1);
  }
  const auto right = [](const Record& r, int i) {
    return r.letter == i % 100 && r.x == i / 3.0 && r.id[0] == -i && r.id[1] == i * 7 && r.id[2] == -77 &&
           r.big == -i - 1 && r.small == i % 1000 && r.mask == 0xffff0000u + static_cast<unsigned>(i) &&
           r.y == static_cast<float>(i) && r.wide == static_cast<wchar_t>(i) && r.raw[0] == 0xa &&
           r.raw[1] == 0xb;
  };
  std::vector<Record> got(n);
  register_memory(got.data(), n * sizeof(Record));
  for (Record& r : got) r.id[2] = -77;
  Unpacked result;
  REQUIRE(unpack(data_of(message.bytes), message.bytes.size(), big_endian_32(), got.data(), n, type, &result)
              .ok());
  CHECK(result.size == n * packed_size(type));
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += !right(got[static_cast<size_t>(i)], i);
  CHECK(wrong == 0);
  REQUIRE(unpack(data_of(message.bytes), message.bytes.size(), big_endian_32(), &got[n - 1], 1, backwards,
                 &result)
              .ok());
  wrong = 0;
  for (int i = 0; i < n; ++i) wrong += !right(got[static_cast<size_t>(n - 1 - i)], i);
  CHECK(wrong == 0);
  MPI_Type_free(&backwards);

  // One value in the middle does not fit.
  format::Representation r = format::Representation::here();
  r.width[format::kInt] = 8;
  int lengths[] = {1, 2};
  MPI_Aint at[] = {0, 8};
  MPI_Datatype olds[] = {MPI_DOUBLE, MPI_INT}, pair;
  MPI_Type_create_struct(2, lengths, at, olds, &pair);
  struct Pair {
    double x;
    int i[2];
  };
  std::vector<Pair> pairs(n);
  message = {r.order, {}};
  for (int i = 0; i < n; ++i) {
    message.put_double(i);
    message.put(static_cast<uint64_t>(i), 8);
    message.put(i == 7777 ? uint64_t{1} << 50 : static_cast<uint64_t>(-i), 8);
  }
  const uint64_t wide = representation_code(r, sizeof(long double));
  const Result status =
      unpack(data_of(message.bytes), message.bytes.size(), wide, pairs.data(), n, pair, &result);
  CHECK(std::string(status.message()).find("1125899906842624") != std::string::npos);
  for (int i : {0, 7776}) CHECK((pairs[i].x == i && pairs[i].i[0] == i && pairs[i].i[1] == -i));
  MPI_Type_free(&pair);
  MPI_Type_free(&type);
  CHECK(derived() == 0);
}

TEST_CASE("pair types and long double of other machines") {
  Message message{format::ByteOrder::kBig, {}};
  struct {
    double value;
    int place;
  } pairs[2] = {};
  message.put_double(2.5);
  message.put(7, 4);
  message.put_double(-0.125);
  message.put(static_cast<uint32_t>(-8), 4);
  Unpacked result;
  CHECK(
      unpack(data_of(message.bytes), message.bytes.size(), big_endian_32(), pairs, 2, MPI_DOUBLE_INT, &result)
          .ok());
  CHECK(pairs[0].value == 2.5);
  CHECK(pairs[0].place == 7);
  CHECK(pairs[1].value == -0.125);
  CHECK(pairs[1].place == -8);

  // IEEE quad: 1.5 and -2.
  message.bytes.clear();
  message.put(0x3fff800000000000u, 8);
  message.put(0, 8);
  message.put(0xc000000000000000u, 8);
  message.put(0, 8);
  long double values[3] = {9, 9, 9};
  CHECK(unpack(data_of(message.bytes), 32, big_endian_32(), values, 3, MPI_LONG_DOUBLE, &result).ok());
  CHECK(values[0] == 1.5L);
  CHECK(values[1] == -2.0L);
  CHECK(values[2] == 9);
  CHECK(result.size == 2 * sizeof(long double));

  // x87 in the 12 bytes of a 32-bit machine.
  format::Representation r = format::Representation::here();
  r.order = format::ByteOrder::kLittle;
  r.long_double = format::LongDouble::kExtended;
  r.width[format::kLong] = 4;
  const uint64_t x87 = representation_code(r, 12);
  message.order = format::ByteOrder::kLittle;
  message.bytes.clear();
  for (int i = 0; i < 2; ++i) {
    message.put(uint64_t{3} << 62, 8);  // 1.5 and 3
    message.put(static_cast<uint64_t>(0x3fff + i), 2);
    message.put(0xeeee, 2);  // padding
  }
  CHECK(packed_size(MPI_LONG_DOUBLE, x87) == 12);
  CHECK(unpack(data_of(message.bytes), 24, x87, values, 2, MPI_LONG_DOUBLE, &result).ok());
  CHECK(values[0] == 1.5L);
  CHECK(values[1] == 3.0L);
}

TEST_CASE("what cannot be read here is one clear error") {
  // A machine whose int has 8 bytes.
  format::Representation r = format::Representation::here();
  r.width[format::kInt] = 8;
  const uint64_t wide = representation_code(r, sizeof(long double));
  Message message{r.order, {}};
  message.put(5, 8);
  message.put(uint64_t{1} << 40, 8);
  int values[2] = {};
  Unpacked result;
  Result status = unpack(data_of(message.bytes), 16, wide, values, 2, MPI_INT, &result);
  MESSAGE(std::string(status.message()));
  CHECK(std::string(status.message()).find("1099511627776") != std::string::npos);
  CHECK(unpack(data_of(message.bytes), 8, wide, values, 2, MPI_INT, &result).ok());
  CHECK(values[0] == 5);
  status = unpack(data_of(message.bytes), 16, wide, values, 16, MPI_PACKED, &result);
  CHECK(std::string(status.message()).find("MPI_PACKED") != std::string::npos);
  status = unpack(data_of(message.bytes), 16, 12345, values, 2, MPI_INT, &result);
  CHECK(!status.ok());
}

// Nothing converts them, so they are no numbers here; of memory that is not registered nobody knows.
TEST_CASE("bytes of another machine are put where there are characters alone") {
  struct Mixed {
    double x;
    char text[8];
    signed char more[4];
    int n;
  };
  const uint64_t there = big_endian_32();
  const uint8_t message[64] = {1, 2, 3};
  Mixed mixed[3] = {};
  state::reset();
  const ELC_Field fields[] = {ELC_FIELD(Mixed, x), ELC_FIELD(Mixed, text), ELC_FIELD(Mixed, more), ELC_FIELD(Mixed, n)};
  const ELC_Type type = ELC_Struct("struct Mixed", sizeof(Mixed), 4, fields);
  REQUIRE(ELC_Register("mixed", mixed, type, 3) == ELC_OK);
  char* const text = static_cast<char*>(ELC_malloc(100));
  double* const numbers = static_cast<double*>(ELC_malloc(8 * sizeof(double)));
  ELC_Set_type(text, ELC_CHAR), ELC_Set_type(numbers, ELC_DOUBLE);
  char unknown[64] = {};
  Unpacked result;
  const auto takes = [&](void* to, int count, MPI_Datatype of) {
    const Result status = unpack(message, static_cast<size_t>(count), there, to, count, of, &result);
    if (!status.ok()) CHECK(std::string(status.message()).find(of == MPI_BYTE ? "MPI_BYTE" : "characters") != std::string::npos);
    return status.ok();
  };
  for (const MPI_Datatype of : {MPI_BYTE, MPI_CHAR, MPI_UNSIGNED_CHAR}) {
    CHECK(takes(text + 10, 64, of));
    CHECK(memcmp(text + 10, message, 64) == 0);
    CHECK(takes(mixed[1].text, 8, of));
    CHECK(takes(mixed[1].text + 2, 10, of));
    CHECK(takes(unknown, 64, of) == (of != MPI_BYTE));
    CHECK(!takes(mixed[1].text, 13, of));
    CHECK(!takes(&mixed[0], 8, of));
    CHECK(!takes(&mixed[0], sizeof(Mixed), of));
    CHECK(!takes(mixed[0].text, sizeof(Mixed), of));
    CHECK(!takes(numbers + 1, 16, of));
    CHECK(takes(numbers, 0, of));
    CHECK(unpack(message, 8, 0, numbers, 8, of, &result).ok());  // of this machine
  }
  MPI_Datatype strided;  // of 64 times a byte of text, every other: the last ones are behind it
  MPI_Type_vector(64, 1, 2, MPI_BYTE, &strided);
  CHECK(unpack(message, 40, there, text, 1, strided, &result).ok());
  CHECK(!unpack(message, 60, there, text, 1, strided, &result).ok());
  MPI_Type_free(&strided);
  ELC_free(text), ELC_free(numbers);
  state::reset();
}
