// MPI datatypes in a line: saved, made again, recognised.
#include "elc.h"
#include "random_types.h"
#include "state/process.h"
#include "state/state.h"

using namespace elc;
using namespace elc::mpi;

// By what it is made, and of how much.
static std::vector<int> envelope_of(MPI_Datatype type) {
  std::vector<int> all(4);
  MPI_Type_get_envelope(type, &all[0], &all[1], &all[2], &all[3]);
  return all;
}

TEST_CASE("a table is saved and restored") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  Random random(seed);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    struct Kept {
      uint64_t number;
      MPI_Aint extent;
      std::vector<int> envelope;
      Memory memory;
      std::string bytes;
    };
    std::vector<Kept> kept;
    Types types(random);
    for (int i = draw(random, 1, 5); i > 0; --i) {
      MPI_Datatype type = types.committed();
      Memory memory(type, 2, random);
      kept.push_back({number_of(type), extent_of(type), envelope_of(type), memory, packed(memory, 2, type)});
    }
    const std::string table = saved_table();
    const size_t before = derived();

    // In the same run nothing is made twice.
    REQUIRE(restore_table(table).ok());
    REQUIRE(derived() == before);

    types.free_all();
    REQUIRE(derived() == 0);
    // A new process: some set-up that makes other types first, or none.
    datatypes().next = kFirstDerived;
    if (round % 2 == 0) types.any(2);
    const Result status = restore_table(table);
    REQUIRE_MESSAGE(status.ok(), std::string(status.message()));
    for (Kept& k : kept) {
      MPI_Datatype type;
      REQUIRE(handle_of(k.number, &type).ok());
      REQUIRE(number_of(type) == k.number);
      REQUIRE(extent_of(type) == k.extent);
      REQUIRE_MESSAGE(envelope_of(type) == k.envelope, described(datatypes().find(type)));
      REQUIRE_MESSAGE(packed(k.memory, 2, type) == k.bytes, described(datatypes().find(type)));
      REQUIRE_MESSAGE(packed_by_mpi(k.memory, 2, type) == k.bytes, described(datatypes().find(type)));
    }
    REQUIRE(restore_table(saved_table()).ok());
    MPI_Datatype another;
    MPI_Type_contiguous(2, MPI_INT, &another);
    for (const Kept& k : kept) REQUIRE(number_of(another) > k.number);
    MPI_Type_free(&another);
    types.free_all();
    std::vector<MPI_Datatype> left;  // the program frees its restored types
    datatypes().by_number.each([&left](uint64_t number, Datatype* type) {
      if (number >= kFirstDerived && type->owned > 0) left.push_back(type->handle);
    });
    for (MPI_Datatype& handle : left) MPI_Type_free(&handle);
    REQUIRE(derived() == 0);
  }
}

TEST_CASE("the set-up of a restart makes the same types, at other addresses") {
  datatypes().next = kFirstDerived;
  int lengths[] = {1, 1};
  MPI_Datatype olds[] = {MPI_INT, MPI_DOUBLE}, pair, vector;
  MPI_Aint at[] = {1000, 2000};
  MPI_Type_create_struct(2, lengths, at, olds, &pair);
  MPI_Type_vector(2, 1, 3, pair, &vector);
  MPI_Type_commit(&vector);
  const std::string table = saved_table();
  MPI_Type_free(&vector);
  MPI_Type_free(&pair);

  datatypes().next = kFirstDerived;
  at[0] = 5008;
  at[1] = 4000;
  MPI_Type_create_struct(2, lengths, at, olds, &pair);
  MPI_Type_vector(2, 1, 3, pair, &vector);
  CHECK(restore_table(table).ok());
  CHECK(derived() == 2);
  CHECK(number_of(pair) == kFirstDerived);
  CHECK(number_of(vector) == kFirstDerived + 1);
  CHECK(datatypes().find(vector)->committed);
  CHECK(datatypes().find(pair)->arguments.addresses[0] == 5008);
  MPI_Type_free(&vector);
  MPI_Type_free(&pair);

  // Another program: its types get numbers of their own.
  datatypes().next = kFirstDerived;
  MPI_Type_contiguous(7, MPI_INT, &pair);
  CHECK(restore_table(table).ok());
  CHECK(derived() == 3);
  CHECK(number_of(pair) == kFirstDerived + 2);
  MPI_Datatype restored;
  CHECK(handle_of(kFirstDerived, &restored).ok());
  CHECK(datatypes().find(restored)->arguments.addresses[0] == 1000);
  MPI_Type_free(&pair);
  for (uint64_t number : {kFirstDerived, kFirstDerived + 1}) {
    CHECK(handle_of(number, &restored).ok());
    MPI_Type_free(&restored);
  }
  CHECK(derived() == 0);
}

TEST_CASE("a type that was freed and is needed is restored") {
  datatypes().next = kFirstDerived;
  MPI_Datatype base, user;
  MPI_Type_vector(2, 1, 2, MPI_INT, &base);
  MPI_Type_commit(&base);
  const uint64_t number = retain(base);
  MPI_Type_free(&base);
  const std::string table = saved_table();
  release(number);
  CHECK(derived() == 0);
  CHECK(restore_table(table).ok());
  CHECK(retain_number(number));
  CHECK(handle_of(number, &user).ok());
  int numbers[3] = {1, 2, 3};
  Bytes out;
  CHECK(pack(numbers, 1, user, 100, &out).ok());
  CHECK(out.size() == 8);
  release(number);
  CHECK(derived() == 0);
}

// As on most processors: what else differs is how a long double is laid out. Where no struct of the program has one, displacements are as
// they were.
TEST_CASE("a type with gaps is restored where nothing but long doubles is laid out in another way, if the program has none") {
  using format::Kind;
  datatypes().next = kFirstDerived;
  int lengths[] = {1, 1};
  MPI_Datatype olds[] = {MPI_CHAR, MPI_DOUBLE}, pair;
  MPI_Aint at[] = {0, 24};
  MPI_Type_create_struct(2, lengths, at, olds, &pair);
  MPI_Type_commit(&pair);
  const std::string table = saved_table();
  MPI_Type_free(&pair);
  // The next number, how many kinds, and of each width and alignment.
  const auto aligned = [&table](Kind kind) {
    std::string other = table;
    char& alignment = other[16 + (size_t{kind} - 1) * 8 + 7];
    alignment = static_cast<char>(alignment + 8);
    return other;
  };
  struct Long {
    long double x;
  };
  for (const char* program : {"of elc-cc", "with a long double", "with one in a struct", "by hand"}) {
    CAPTURE(program);
    const std::string which = program;
    state::reset();
    state::process().is_prepared = which != "by hand";
    state::process().has_long_doubles = which == "with a long double" || which == "by hand";
    const ELC_Field field[] = {ELC_FIELD(Long, x)};
    if (which == "with one in a struct") REQUIRE(ELC_Struct("struct Long", sizeof(Long), 1, field) != ELC_NO_TYPE);
    for (const Kind kind : {format::kLdouble, format::kLdoubleComplex, format::kDouble, format::kLong}) {
      CAPTURE(kind);
      datatypes().next = kFirstDerived;
      const bool is = restore_table(aligned(kind)).ok();
      CHECK(is == (which == "of elc-cc" && (kind == format::kLdouble || kind == format::kLdoubleComplex)));
      MPI_Datatype restored;
      if (!is || !handle_of(kFirstDerived, &restored).ok()) continue;
      CHECK(datatypes().find(restored)->arguments.addresses[1] == 24);
      MPI_Type_free(&restored);
    }
  }
  state::reset();
  CHECK(derived() == 0);
}

TEST_CASE("damaged tables are refused and never crash") {
  const uint64_t seed = test_seed();
  MESSAGE("ELC_SEED=" << seed);
  Random random(seed);
  std::string table;
  {
    Types types(random);
    for (int i = 0; i < 4; ++i) types.committed();
    table = saved_table();
  }
  for (size_t size = 0; size < table.size(); size += 7) CHECK(!restore_table(table.substr(0, size)).ok());
  REQUIRE(derived() == 0);
  int refused = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bad = table;
    for (int i = draw(random, 1, 3); i > 0; --i) bad[random() % bad.size()] = static_cast<char>(random());
    refused += !restore_table(bad).ok();
    std::vector<MPI_Datatype> left;
    std::vector<uint64_t> numbers;
    datatypes().by_number.each([&](uint64_t number, Datatype* type) {
      if (number < kFirstDerived) return;
      numbers.push_back(number);
      if (type->owned > 0) left.push_back(type->handle);
    });
    for (MPI_Datatype& type : left) MPI_Type_free(&type);
    for (uint64_t number : numbers) {  // those that were freed and that nothing needs
      Datatype* type = datatypes().numbered(number);
      if (type != nullptr) drop_if_unused(type);
    }
    REQUIRE(derived() == 0);
    datatypes().next = kFirstDerived;
  }
  MESSAGE(refused << " of 3000 damaged tables refused");
  CHECK(refused > 0);
}

TEST_CASE("places are for types whose displacements may be addresses") {
  const auto with_a_place = [](MPI_Datatype type, size_t size) {
    std::string table = saved_table();
    MPI_Type_free(&type);
    table[table.size() - size + 15] |= 4;  // behind number, constructor and most of the flags
    return table + std::string(16, '\xff');  // wild
  };
  MPI_Datatype type;
  datatypes().next = kFirstDerived;
  MPI_Type_create_hvector(2, 1, 16, MPI_INT, &type);
  CHECK(!restore_table(with_a_place(type, 80)).ok());
  CHECK(derived() == 0);
  datatypes().next = kFirstDerived;
  int length = 2;  // not const: LAM's would change it, if one believes its header
  MPI_Aint at = 64;
  MPI_Type_create_hindexed(1, &length, &at, MPI_INT, &type);
  REQUIRE(restore_table(with_a_place(type, 80)).ok());
  REQUIRE(place_datatypes().ok());
  REQUIRE(handle_of(kFirstDerived, &type).ok());
  CHECK(datatypes().find(type)->arguments.addresses[0] == 0);
  MPI_Type_free(&type);
  CHECK(derived() == 0);
}

TEST_CASE("a type made of one that comes later is refused, also where the numbers are not in order") {
  datatypes().next = kFirstDerived + 5;
  const std::string none = saved_table();
  Bytes bytes;
  bytes.append(data_of(none), none.size() - 8);  // all but the count of types
  Encoder out(&bytes);
  out.u64(4);
  const auto contiguous = [&out](uint64_t number, uint64_t old) {
    out.u64(number);
    out.u32(2);  // contiguous
    out.u32(0);
    out.i64(0);
    out.i64(4);
    out.u64(1);
    out.i32(1);
    out.u64(0);
    out.u64(1);
    out.u64(old);
  };
  const uint64_t first = kFirstDerived, integer = number_of(MPI_INT);
  contiguous(first + 4, first + 1);
  contiguous(first + 2, integer);
  contiguous(first, integer);
  contiguous(first + 1, integer);
  const Result status = restore_table(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  CHECK(std::string(status.message()).find("not in order") != std::string::npos);
  CHECK(derived() == 0);
}

TEST_CASE("displacements go to a machine of another layout only where they are certain") {
  const auto table_of = [](int gap) {
    datatypes().next = kFirstDerived;
    int lengths[] = {2, 1, 1};
    MPI_Aint at[] = {0, static_cast<MPI_Aint>(2 * sizeof(long)),
                     static_cast<MPI_Aint>(3 * sizeof(long)) + gap};
    MPI_Datatype olds[] = {MPI_LONG, MPI_LONG, MPI_DOUBLE}, made;
    MPI_Type_create_struct(3, lengths, at, olds, &made);
    std::string table = saved_table();
    MPI_Type_free(&made);
    return table;
  };
  // The width of long (kind 9) as another machine writes it; its struct has no gaps there.
  const auto as_if_long_took = [](std::string table, int bytes) {
    table[8 + 8 + 8 * (format::kLong - 1) + 3] = static_cast<char>(bytes);
    return table;
  };
  const std::string dense = table_of(0);
  CHECK(restore_table(dense).ok());
  MPI_Datatype type;
  CHECK(handle_of(kFirstDerived, &type).ok());
  MPI_Type_free(&type);
  // Displacements 0, 16, 24 with a long of 4 bytes: there is a gap.
  Result status = restore_table(as_if_long_took(dense, 4));
  CHECK(std::string(status.message()).find("set-up") != std::string::npos);
  CHECK(derived() == 0);
  // A long of 4 bytes with displacements 0, 8, 12: none.
  std::string narrow = as_if_long_took(dense, 4);
  const auto big_endian = [](std::vector<int> values) {
    std::string text;
    for (int v : values) text += std::string(7, '\0') + static_cast<char>(v);
    return text;
  };
  if (sizeof(long) == 8) {
    const size_t where = narrow.find(big_endian({0, 16, 24}));
    REQUIRE(where != std::string::npos);
    narrow.replace(where, 24, big_endian({0, 8, 12}));
    const size_t bounds = narrow.find(big_endian({0, 32}));
    REQUIRE(bounds != std::string::npos);
    narrow.replace(bounds, 16, big_endian({0, 24}));
    CHECK(!restore_table(narrow).ok());  // 4 bytes after the double
    narrow.replace(bounds, 16, big_endian({0, 20}));
    status = restore_table(narrow);
    CHECK_MESSAGE(status.ok(), std::string(status.message()));
    CHECK(handle_of(kFirstDerived, &type).ok());
    CHECK(datatypes().find(type)->arguments.addresses[1] == 16);
    CHECK(datatypes().find(type)->arguments.addresses[2] == 24);
    MPI_Type_free(&type);
  }
  CHECK(!restore_table(as_if_long_took(table_of(8), 4)).ok());
  CHECK(derived() == 0);
}
