// MPI datatypes: packing agrees with MPI's own, numbers mean the same under every MPI, types live as long as
// needed.
#include "random_types.h"

using namespace elc;
using namespace elc::mpi;

TEST_CASE("pack and unpack agree with MPI's own") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  Random random(seed);
  for (int round = 0; round < 400; ++round) {
    CAPTURE(round);
    Types types(random);
    MPI_Datatype type = types.committed();
    const int count = draw(random, 1, 4);
    const std::string of_type = described(datatypes().find(type));
    CAPTURE(of_type);
    CAPTURE(count);
    Memory memory(type, count, random);
    const std::string all = packed(memory, count, type);
    REQUIRE(all.size() == packed_size(type) * static_cast<size_t>(count));
    REQUIRE_MESSAGE(all == packed_by_mpi(memory, count, type), "not as MPI packs it");
    int size = 0;
    PMPI_Type_size(type, &size);
    REQUIRE(static_cast<uint64_t>(size) == packed_size(type));

    Memory ours(type, count, random);
    Memory theirs = ours;
    const std::string before = packed(ours, count, type);
    Unpacked result;
    REQUIRE(unpack(data_of(all), all.size(), native_representation_code(), ours.base(), count, type, &result)
                .ok());
    unpack_by_mpi(all, theirs, count, type);
    REQUIRE(ours.bytes == theirs.bytes);
    REQUIRE(result.size == all.size());
    REQUIRE(!result.truncated);

    // A part of a message, and one that is too long.
    const size_t cut = static_cast<size_t>(draw(random, 0, static_cast<int>(all.size())));
    REQUIRE(packed(memory, count, type, cut) == all.substr(0, cut));
    Memory partly(type, count, random);
    const std::string old = packed(partly, count, type);
    Memory expected = partly;
    const std::string mixed = all.substr(0, cut) + old.substr(cut);
    REQUIRE(unpack(data_of(mixed), mixed.size(), 0, expected.base(), count, type, &result).ok());
    REQUIRE(unpack(data_of(all), cut, 0, partly.base(), count, type, &result).ok());
    REQUIRE(partly.bytes == expected.bytes);
    const std::string longer = all + "x";
    REQUIRE(unpack(data_of(longer), longer.size(), 0, partly.base(), count, type, &result).ok());
    REQUIRE(result.truncated);
    REQUIRE(packed(partly, count, type) == all);
  }
}

TEST_CASE("long doubles are packed as MPI packs them") {
  struct Pair {
    long double value;
    int place;
  };
  Pair sent[6], got[6];
  memset(static_cast<void*>(sent), 0, sizeof sent);
  memset(static_cast<void*>(got), 0, sizeof got);
  for (int i = 0; i < 6; ++i) sent[i] = {i / 3.0L, i};
  MPI_Datatype type;
  MPI_Type_vector(2, 2, 4, MPI_LONG_DOUBLE_INT, &type);
  MPI_Type_commit(&type);
  std::string bytes(packed_size(type), '\0');
  CHECK(bytes.size() == 4 * (sizeof(long double) + sizeof(int)));
  MPI_Status status;
  MPI_Sendrecv(sent, 1, type, 0, 1, bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, 0, 1,
               MPI_COMM_SELF, &status);
  Unpacked result;
  CHECK(unpack(data_of(bytes), bytes.size(), 0, got, 1, type, &result).ok());
  for (int i : {0, 1, 4, 5}) CHECK((got[i].value == sent[i].value && got[i].place == i));
  CHECK(got[2].value == 0);
  Bytes out;
  CHECK(pack(sent, 1, type, SIZE_MAX, &out).ok());
  memset(static_cast<void*>(got), 0, sizeof got);
  MPI_Sendrecv(out.data(), static_cast<int>(out.size()), MPI_BYTE, 0, 1, got, 1, type, 0, 1, MPI_COMM_SELF,
               &status);
  for (int i : {0, 1, 4, 5}) CHECK((got[i].value == sent[i].value && got[i].place == i));
  MPI_Type_free(&type);
}

TEST_CASE("large and simple types are packed in few pieces") {
  MPI_Datatype column, matrix;
  MPI_Type_vector(1000, 1, 1000, MPI_DOUBLE, &column);
  MPI_Type_contiguous(1000, MPI_DOUBLE, &matrix);
  CHECK(layout_of(datatypes().find(column), false).pieces.size() == 1);
  CHECK(layout_of(datatypes().find(matrix), false).pieces.size() == 1);
  MPI_Datatype nested = matrix;
  for (int i = 0; i < 40; ++i) {
    MPI_Datatype next;
    MPI_Type_contiguous(2, nested, &next);
    MPI_Type_free(&nested);
    nested = next;
  }
  CHECK(packed_size(nested) == uint64_t{8000} << 40);  // more than an int holds
  const Layout& layout = layout_of(datatypes().find(nested), false);
  CHECK(layout.pieces.size() == 1);
  if (static_cast<uint64_t>(extent_of(nested)) == packed_size(nested))  // an older MPI counts extents in int
    CHECK(layout.pieces[0].nested == nullptr);
  MPI_Type_free(&nested);
  MPI_Type_free(&column);
  CHECK(derived() == 0);
}

TEST_CASE("numbers and handles of predefined types") {
  CHECK(number_of(MPI_DATATYPE_NULL) == kNullDatatype);
  CHECK(number_of(MPI_CHAR) == 1);
  CHECK(number_of(MPI_INT) == 9);
  CHECK(number_of(MPI_DOUBLE) == 16);
  CHECK(number_of(MPI_LONG_DOUBLE_INT) == 38);
  MPI_Datatype type = MPI_INT;
  CHECK(handle_of(kNullDatatype, &type).ok());
  CHECK(type == MPI_DATATYPE_NULL);
  for (uint64_t number = 1; number < kFirstDerived; ++number) {
    if (predefined_name(number) == nullptr || number == 39 || number == 40) continue;  // MPI_LB, MPI_UB
    const Result status = handle_of(number, &type);
    CAPTURE(datatype_name(number));
    if (!status.ok()) {
      CHECK(std::string(status.message()).find(predefined_name(number)) != std::string::npos);
      continue;
    }
    int size = 0;
    PMPI_Type_size(type, &size);
    CHECK(size > 0);
    CHECK(packed_size(type) == static_cast<uint64_t>(size));
    CHECK(extent(type) == extent_of(type));
    uint64_t same = number_of(type);
    MPI_Datatype again;
    CHECK(handle_of(same, &again).ok());
    CHECK(again == type);
  }
  // What an older MPI lacks has a stand-in.
  CHECK(handle_of(21, &type).ok());  // MPI_INT32_T
  CHECK(packed_size(type) == 4);
  CHECK(handle_of(22, &type).ok());  // MPI_INT64_T
  CHECK(packed_size(type) == 8);
  CHECK(handle_of(28, &type).ok());  // MPI_C_DOUBLE_COMPLEX
  CHECK(packed_size(type) == 16);
}

TEST_CASE("null, freed and garbage handles are told apart") {
  MPI_Datatype garbage, type;
  memset(static_cast<void*>(&garbage), 0x5a, sizeof garbage);
  CHECK(number_of(garbage) == kNoDatatype);
  CHECK(!known(MPI_DATATYPE_NULL));
  CHECK(packed_size(MPI_DATATYPE_NULL) == 0);
  CHECK(std::string(handle_of(123456, &type).message()).find("123456") != std::string::npos);
  Bytes out;
  CHECK(!pack(nullptr, 1, MPI_DATATYPE_NULL, 100, &out).ok());
  Unpacked result;
  CHECK(!unpack(nullptr, 0, 0, nullptr, 1, MPI_DATATYPE_NULL, &result).ok());
  MPI_Type_contiguous(3, MPI_INT, &type);
  const MPI_Datatype copy = type;
  CHECK(number_of(type) >= kFirstDerived);
  MPI_Type_free(&type);
  CHECK(type == MPI_DATATYPE_NULL);
  CHECK(number_of(copy) == kNoDatatype);
  CHECK(derived() == 0);
}

TEST_CASE("a freed type stays as long as it is needed") {
  MPI_Datatype base, user, handle;
  MPI_Type_vector(2, 1, 2, MPI_INT, &base);
  MPI_Type_commit(&base);
  MPI_Type_contiguous(2, base, &user);
  const uint64_t of_base = number_of(base);
  CHECK(retain(base) == of_base);
  CHECK(retain(MPI_INT) == number_of(MPI_INT));
  MPI_Type_free(&base);
  CHECK(handle_of(of_base, &handle).ok());
  int numbers[4] = {1, 2, 3, 4};
  Bytes out;
  CHECK(pack(numbers, 1, handle, 100, &out).ok());
  CHECK(out.size() == 8);
  CHECK(retain_number(of_base));
  release(of_base);
  MPI_Type_free(&user);
  CHECK(handle_of(of_base, &handle).ok());
  release(of_base);
  CHECK(!handle_of(of_base, &handle).ok());
  release(of_base);
  release(number_of(MPI_INT));
  CHECK(derived() == 0);
}

TEST_CASE("types made by calls that are not wrapped are learned") {
  Random random(1);
  MPI_Datatype inner, outer, middle;
  PMPI_Type_vector(3, 1, 2, MPI_INT, &inner);
  PMPI_Type_contiguous(2, inner, &middle);
  PMPI_Type_dup(middle, &outer);
  PMPI_Type_commit(&outer);
  CHECK(number_of(outer) == kNoDatatype);
  CHECK(known(outer));
  CHECK(number_of(outer) >= kFirstDerived);
  Memory memory(outer, 2, random);
  CHECK(packed(memory, 2, outer) == packed_by_mpi(memory, 2, outer));
  MPI_Type_free(&outer);
  PMPI_Type_free(&middle);
  PMPI_Type_free(&inner);
  CHECK(derived() == 0);
}

TEST_CASE("handles from MPI_Type_get_contents are counted") {
  MPI_Datatype inner, outer, again;
  MPI_Type_contiguous(3, MPI_INT, &inner);
  MPI_Type_contiguous(2, inner, &outer);
  int count = 0;
  MPI_Aint none = 0;
  MPI_Type_get_contents(outer, 1, 0, 1, &count, &none, &again);
  CHECK(count == 2);
  MPI_Type_free(&inner);
  CHECK(packed_size(again) == 12);
  MPI_Datatype third;
  MPI_Type_contiguous(2, again, &third);
  MPI_Type_free(&again);
  MPI_Type_free(&outer);
  CHECK(packed_size(third) == 24);
  MPI_Type_free(&third);
  CHECK(derived() == 0);
}
