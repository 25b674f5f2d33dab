// What is declared of variables besides their types: shapes, statics of functions; and the state of random numbers.
#define _XOPEN_SOURCE 700
#include <stdlib.h>

#include "helper.h"
#include "state/random.h"
#include "typed.h"

namespace {

// What the section says of each variable: "a 0: 2 3; ".
std::string declared(Line& line) {
  elc::format::Reader reader;
  REQUIRE_OK(line.open(&reader));
  if (!reader.has_section("declared")) return "no section";
  elc::format::Cursor in;
  REQUIRE_OK(in.open(&reader, "declared"));
  std::string all;
  CHECK(in.u32() == 1);
  for (uint64_t n = in.count(20); n > 0; --n) {
    all += std::to_string(in.u64());
    all += " " + std::to_string(in.u32()) + ":";
    for (uint64_t d = in.count(8); d > 0; --d) all += " " + std::to_string(in.u64());
    all += "; ";
  }
  REQUIRE_OK(in.finish());
  return all;
}

// A static in two processes: the functions of a template have one name.
template <int process> int counted() {
  static int calls = 0;
  static double sums[2][3];
  ELC_STATIC(calls);
  ELC_STATIC(sums);
  sums[1][2] += 0.5;
  return ++calls * 100 + static_cast<int>(sums[1][2] * 2);
}

struct Drawn {
  int rand_number;
  long random_number, mrand_number;
  double drand_number;
  bool operator==(const Drawn&) const = default;
};
Drawn draw() { return {rand(), random(), mrand48(), drand48()}; }

}  // namespace

TEST_CASE("shapes are in the line, and one that differs is refused") {
  double matrix[4][5] = {}, cube[2][3][4] = {}, row[7] = {}, one = 1;
  double(*rows)[5] = matrix;
  std::vector<float> plane(6), space(24);
  float *at = plane.data(), *deep = space.data();
  const auto enter = [&] {
    new_process();
    return ELC_VAR(matrix) + ELC_VAR(cube) + ELC_VAR(row) + ELC_VAR(one) + ELC_ARRAY2(at, 3, 2) + ELC_ARRAY3(deep, 2, 3, 4);
  };
  REQUIRE(enter() == ELC_OK);
  matrix[3][4] = 34;
  plane[5] = 5;
  Line line;
  REQUIRE_OK(line.save());
  CHECK(declared(line) == "0 0: 4 5; 1 0: 2 3 4; 4 0: 3 2; 5 0: 2 3 4; ");
  REQUIRE(enter() == ELC_OK);
  matrix[3][4] = 0;
  plane[5] = 0;
  REQUIRE_OK(line.restore());
  CHECK(matrix[3][4] == 34);
  CHECK(plane[5] == 5);

  REQUIRE(enter() == ELC_OK);
  ELC_Unregister("at");
  REQUIRE(ELC_ARRAY2(at, 2, 3) == ELC_OK);
  CHECK(contains(text(line.check()), "'at' of the globals is float[2][3] in the program, but float[3][2] in the line"));
  ELC_Unregister("at");
  REQUIRE(ELC_ARRAY(at, 6) == ELC_OK);  // says nothing of a shape
  REQUIRE_OK(line.restore());
  ELC_Unregister("matrix");
  REQUIRE(ELC_Register("matrix", rows, ELC_DOUBLE, 20) == ELC_OK);
  REQUIRE_OK(line.restore());
  ELC_Unregister("matrix");
  REQUIRE(ELC_ARRAY(rows, 4) == ELC_OK);
  REQUIRE_OK(line.save());
  CHECK(declared(line) == "0 0: 2 3 4; 3 0: 2 3 4; 5 0: 4 5; ");
}

TEST_CASE("shapes in C of 1989, 1999 and 2011; a file without any has no section") {
  for (int (*enter)() : {typed_register_c11, typed_register_c99, typed_register_gnu89}) {
    new_process();
    REQUIRE(enter() == 0);
    Line line;
    REQUIRE_OK(line.save());
    CHECK(declared(line) == "13 0: 2 3; 14 0: 2 3 4; 15 0: 2 3 4 5; ");
  }
  new_process();
  int x = 0;
  ELC_VAR(x);
  Line line;
  REQUIRE_OK(line.save());
  CHECK(declared(line) == "no section");
}

TEST_CASE("shapes that there are not") {
  new_process();
  int x[6] = {};
  const size_t huge[] = {SIZE_MAX / 2, 4}, none[] = {0, SIZE_MAX}, ones[17] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  CHECK(ELC_Register_shape("x", x, ELC_INT, 2, huge) == ELC_ERROR);
  CHECK(ELC_Register_shape("x", x, ELC_INT, 17, ones) == ELC_ERROR);
  CHECK(ELC_Register_shape("x", x, ELC_INT, -1, ones) == ELC_ERROR);
  CHECK(ELC_Register_shape("x", x, ELC_INT, 16, ones) == ELC_OK);
  CHECK(ELC_Register_shape("none", nullptr, ELC_INT, 2, none) == ELC_OK);
  CHECK(ELC_Register_shape("scalar", &x[1], ELC_INT, 0, nullptr) == ELC_OK);
  Line line;
  REQUIRE_OK(line.save());
  CHECK(declared(line) == "0 0: 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1; 1 0: 0 " + std::to_string(SIZE_MAX) + "; ");
  REQUIRE_OK(line.restore());
}

TEST_CASE("what is declared of a line's variables is not trusted") {
  struct Entry {
    uint64_t variable;
    uint32_t flags;
    std::vector<uint64_t> extents;
  };
  static int x[6];
  // A line with the variable x of 6 integers in main() and another, global.
  const auto line_with = [](uint32_t layout, const std::vector<Entry>& entries, uint64_t count, Line* line) {
    const auto append = [](void* context, const void* data, size_t size) {
      auto* bytes = static_cast<std::vector<uint8_t>*>(context);
      bytes->insert(bytes->end(), static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + size);
      return elc::Result();
    };
    line->bytes.clear();
    elc::format::Writer writer(&elc::state::types(), {&line->bytes, append}, {});
    writer.begin_section("vars");
    elc::Encoder& out = writer.encoder();
    out.u32(1), out.u64(1), writer.text("main"), out.i32(1), out.u64(0), out.u64(2);
    out.u32(0), writer.text("y"), out.i32(ELC_INT), out.u64(1);
    out.u32(1), writer.text("x"), out.i32(ELC_INT), out.u64(6);
    REQUIRE_OK(writer.write_value(ELC_INT, x, 1, {}));
    REQUIRE_OK(writer.write_value(ELC_INT, x, 6, {}));
    writer.end_section();
    writer.begin_section("declared");
    writer.encoder().u32(layout), writer.encoder().u64(count);
    for (const Entry& e : entries) {
      writer.encoder().u64(e.variable), writer.encoder().u32(e.flags), writer.encoder().u64(e.extents.size());
      for (const uint64_t extent : e.extents) writer.encoder().u64(extent);
    }
    writer.end_section();
    writer.begin_section("heap");
    writer.encoder().u32(1), writer.encoder().u64(1), writer.encoder().u64(0);
    writer.end_section();
    REQUIRE_OK(elc::state::save_files(writer, 0));
    return writer.finish();
  };
  const auto check = [&](uint32_t layout, const std::vector<Entry>& entries, uint64_t count) {
    new_process();
    static int y;
    ELC_VAR(y);
    ELC_Enter("main");
    ELC_VAR(x);
    Line line;
    REQUIRE_OK(line_with(layout, entries, count, &line));
    return text(line.check());
  };
  CHECK(check(1, {{0, 1, {}}, {1, 0, {2, 3}}}, 2) == "ok");
  CHECK(contains(check(2, {}, 0), "layout 2"));
  const std::vector<Entry> contradictions[] = {
      {{1, 0, {2, 4}}}, {{1, 0, {6}}}, {{1, 0, {0, 6}}}, {{1, 0, {5, UINT64_MAX}}}, {{1, 0, {UINT64_MAX, 1}}}, {{1, 1, {}}},
      {{1, 0, {}}, {0, 1, {}}}, {{2, 0, {}}}, {{0, 2, {}}}, {{1, 0, std::vector<uint64_t>(17, 1)}}};
  for (const std::vector<Entry>& entries : contradictions)
    CHECK(contains(check(1, entries, entries.size()), "the checkpoint file is damaged"));
  CHECK(check(1, {{0, 1, {}}}, 2) != "ok");   // cut
  CHECK(check(1, {{0, 1, {}}}, 0) != "ok");   // too long
  CHECK(check(1, {}, UINT64_MAX) != "ok");
}

TEST_CASE("shapes in frames go with them") {
  new_process();
  for (int i = 0; i < 3; ++i) {
    ELC_Enter("f");
    int x[2][3] = {}, y = 0;
    REQUIRE(ELC_VAR(x) + ELC_VAR(y) == ELC_OK);
    ELC_Set_label(1);
    elc::state::take_label();
    Line line;
    REQUIRE_OK(line.save());
    CHECK(declared(line) == "0 0: 2 3; ");
    ELC_Leave();
  }
}

TEST_CASE("a static is registered where it is, and filled there in a restart") {
  new_process();
  elc::state::restores_in_place();
  CHECK(counted<0>() == 101);
  CHECK(counted<0>() == 202);
  Line line;
  REQUIRE_OK(line.save());
  CHECK(declared(line) == "0 1:; 1 1: 2 3; ");
  CHECK(counted<0>() == 303);

  new_process();
  REQUIRE_OK(line.restore());
  Line second;  // before the function is called: the value goes on from line to line
  REQUIRE_OK(second.save());
  CHECK(declared(second) == "0 1:; 1 1: 2 3; ");
  new_process();
  REQUIRE_OK(second.restore());
  CHECK(counted<1>() == 303);
  CHECK(counted<1>() == 404);
  REQUIRE_OK(second.save());
  new_process();
  int calls = 7;
  double sums[2][3] = {};
  const size_t extents[] = {2, 3};
  ELC_Register_static("counted", "calls", &calls, ELC_INT, 0, nullptr);  // by the set-up
  REQUIRE_OK(second.restore());
  CHECK(calls == 4);
  ELC_Register_static("counted", "sums", sums, ELC_DOUBLE, 2, extents);
  CHECK(sums[1][2] == 2);
  sums[1][2] = 3;
  ELC_Register_static("counted", "sums", sums, ELC_DOUBLE, 2, extents);  // once more is nothing
  CHECK(sums[1][2] == 3);
}

TEST_CASE("a static belongs to no frame") {
  new_process();
  int x = 5;
  ELC_Enter("main");
  ELC_Set_label(1);
  ELC_Enter("f");
  ELC_Register_static("f", "x", &x, ELC_INT, 0, nullptr);
  ELC_Leave();
  ELC_Set_label(2);
  elc::state::take_label();
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  ELC_Enter("main");
  REQUIRE_OK(line.restore());
  x = 0;
  ELC_Enter("f");
  ELC_Register_static("f", "x", &x, ELC_INT, 0, nullptr);
  CHECK(x == 5);
}

TEST_CASE("integers of a static come from a machine with others") {
  const elc::format::Representation there = foreign_machine();
  long number = -7, list[3] = {1, -2, 2000000000};
  size_t size = 4000000000u;
  const size_t three[] = {3};
  const auto enter = [&] {
    ELC_Register_static("f", "number", &number, ELC_LONG, 0, nullptr);
    ELC_Register_static("f", "list", list, ELC_LONG, 1, three);
    ELC_Register_static("f", "size", &size, ELC_SIZE, 0, nullptr);
  };
  new_process();
  enter();
  Line line;
  REQUIRE_OK(line.save(&there));
  number = list[0] = list[1] = list[2] = 0, size = 0;
  new_process();
  REQUIRE_OK(line.restore());
  enter();
  CHECK(number == -7);
  CHECK((list[0] == 1 && list[1] == -2 && list[2] == 2000000000));
  CHECK(size == 4000000000u);
}

namespace {
std::string given_up;
struct GivenUp {};
}  // namespace

TEST_CASE("a static that is another in the program ends the job") {
  int x = 300;
  const size_t two[] = {2};
  new_process();
  ELC_Register_static("f", "x", &x, ELC_INT, 0, nullptr);
  Line line;
  REQUIRE_OK(line.save());
  const auto fails = [&](void* address, ELC_Type type, int dimensions, const char* part) {
    new_process();
    elc::state::give_up_hook = [](const elc::Result& why) {
      given_up = why.message();
      throw GivenUp();
    };
    REQUIRE_OK(line.restore());
    CHECK_THROWS_AS(ELC_Register_static("f", "x", address, type, dimensions, two), GivenUp);
    CHECK(contains(given_up, part));
  };
  double d = 0;
  signed char small = 0;
  unsigned many[2] = {};
  fails(&d, ELC_DOUBLE, 0, "'f.x' is double in the program, which cannot hold its value in the line (int)");
  fails(&small, ELC_SCHAR, 0, "'f.x' is signed char in the program");
  fails(many, ELC_INT, 1, "'f.x' has another shape in the program than in the line");
}

TEST_CASE("nothing points to a static that a restart finds late") {
  static int early = 1, late[3] = {1, 2, 3};
  int* p = &early;
  const size_t three[] = {3};
  new_process();
  ELC_PTR(p);
  ELC_Register_static("f", "early", &early, ELC_INT, 0, nullptr);
  elc::state::restores_in_place();
  ELC_Register_static("g", "late", late, ELC_INT, 1, three);
  Line line;
  REQUIRE_OK(line.save());
  p = &late[1];
  CHECK(contains(text(line.save()), "it points to the static 'g.late'"));
  CHECK_FALSE(elc::state::is_registered(reinterpret_cast<uintptr_t>(late), sizeof late));
  p = &early;
  REQUIRE_OK(line.save());
  // The set-up of the restart does not call f.
  new_process();
  ELC_PTR(p);
  CHECK(contains(text(line.check()), "it points to a static whose function the program has not called yet"));
}

TEST_CASE("statics among many variables, some of which go") {
  static int others[50], a[4], b, c;
  const size_t four[] = {4};
  const auto enter = [] {
    new_process();
    for (int i = 0; i < 50; ++i) REQUIRE(ELC_Register(("v" + std::to_string(i)).c_str(), &others[i], ELC_INT, 1) == ELC_OK);
  };
  const auto listed = [] {
    std::string names;
    elc::state::each_registered(&names, [](void* all, const char* name, const void*, uint64_t size) {
      *static_cast<std::string*>(all) += (name != nullptr ? name : "block of " + std::to_string(size)) + std::string(" ");
    });
    return names;
  };
  enter();
  for (int i = 0; i < 4; ++i) a[i] = i + 1;
  b = 20, c = 30;
  REQUIRE(ELC_Register_static("f", "a", a, ELC_INT, 1, four) == ELC_OK);
  REQUIRE(ELC_Register_static("f", "b", &b, ELC_INT, 0, nullptr) == ELC_OK);
  REQUIRE(ELC_Register_static("f", "c", &c, ELC_INT, 0, nullptr) == ELC_OK);
  Line line;
  REQUIRE_OK(line.save());

  enter();
  REQUIRE_OK(line.restore());
  memset(a, 0, sizeof a);
  for (int i = 1; i < 20; ++i) REQUIRE(ELC_Unregister(("v" + std::to_string(i)).c_str()) == ELC_OK);
  REQUIRE(ELC_Unregister("f.b") == ELC_OK);  // which waits
  CHECK(ELC_Unregister("f.b") == ELC_ERROR);
  REQUIRE(ELC_Register_static("f", "b", &b, ELC_INT, 0, nullptr) == ELC_OK);
  REQUIRE(ELC_Register_static("f", "a", a, ELC_INT, 1, four) == ELC_OK);
  CHECK((a[0] == 1 && a[3] == 4));
  REQUIRE(ELC_Register_static("f", "a", a, ELC_INT, 1, four) == ELC_OK);
  CHECK(ELC_Register("inside", &a[3], ELC_INT, 1) == ELC_ERROR);  // it is found where it is now
  REQUIRE(ELC_Unregister("inside") == ELC_OK);
  REQUIRE_OK(line.save());
  CHECK(elc::state::largest_block() == sizeof a);

  // The doctor sees what is registered at any time, and in an order that a restart has as well.
  void* blocks[3] = {ELC_malloc(1), ELC_malloc(2), ELC_malloc(3)};
  ELC_free(blocks[0]);
  ELC_malloc(4);
  ELC_free(blocks[1]);
  for (int i = 20; i < 48; ++i) REQUIRE(ELC_Unregister(("v" + std::to_string(i)).c_str()) == ELC_OK);
  REQUIRE(ELC_Unregister("f.a") == ELC_OK);
  CHECK(listed() == "v0 v48 v49 f.c f.b block of 3 block of 4 ");

  elc::state::give_up_hook = [](const elc::Result& why) {
    given_up = why.message();
    throw GivenUp();
  };
  CHECK_THROWS_AS(ELC_Register_static("f", "c", &others[48], ELC_INT, 0, nullptr), GivenUp);
  CHECK(contains(given_up, "'f.c' overlaps 'v48' of the globals"));
}

TEST_CASE("statics that are refused make lines impossible") {
  new_process();
  int x = 0;
  int* p = &x;
  Line line;
  CHECK(ELC_Register_static("f", "p", &p, ELC_POINTER, 0, nullptr) == ELC_ERROR);
  CHECK(contains(text(line.save()), "the static 'f.p' could not be registered"));
  new_process();
  int y = 0;
  CHECK(ELC_Register_static("f", "x", &x, ELC_INT, 0, nullptr) == ELC_OK);
  CHECK(ELC_Register_static("f", "x", &y, ELC_INT, 0, nullptr) == ELC_ERROR);  // of another function of this name
  CHECK(contains(text(line.save()), "the static 'f.x' could not be registered"));
  new_process();
  CHECK(ELC_Register_static("f", "x", &x, ELC_INT, 0, nullptr) == ELC_OK);
  ELC_Enter("f");
  CHECK(ELC_VAR(x) == ELC_OK);
  ELC_Set_label(1);
  elc::state::take_label();
  CHECK(contains(text(line.save()), "overlaps"));
}

TEST_CASE("random numbers go on where they were") {
  Drawn expected[3];
  Line line;
  for (const bool called_again : {true, false}) {
    for (const bool other_factor : {false, true}) {
      new_process();
      srandom(12);
      srand48(13);
      unsigned short parameters[7] = {1, 2, 3, 0x1235, 0x6789, 3, 17};
      if (other_factor) lcong48(parameters);
      const Drawn first = draw();
      srandom(12);
      srand48(13);
      if (other_factor) lcong48(parameters);
      REQUIRE(ELC_RANDOM() == ELC_OK);  // changes nothing
      CHECK(draw() == first);
      REQUIRE(ELC_RANDOM() == ELC_OK);
      REQUIRE_OK(line.save());
      for (Drawn& next : expected) next = draw();
      new_process();
      srandom(99);
      srand48(98);
      if (called_again) REQUIRE(ELC_RANDOM() == ELC_OK);
      REQUIRE_OK(line.restore());
      for (const Drawn& next : expected) CHECK(draw() == next);
      REQUIRE_OK(line.save());
    }
  }
}

TEST_CASE("random() with arrays of the program's") {
  static char small[64], large[256];
  for (const size_t size : {8, 32, 64, 128, 256}) {
    char* before = initstate(5, large, size);
    new_process();
    REQUIRE(ELC_RANDOM() == ELC_OK);
    random();
    Line line;
    REQUIRE_OK(line.save());
    const long next = random();
    REQUIRE_OK(line.restore());
    CHECK(random() == next);
    initstate(6, small, sizeof small);
    CHECK(contains(text(line.save()), "random() has another state array than when ELC_RANDOM was called"));
    setstate(large);
    REQUIRE_OK(line.save());
    new_process();  // whose set-up does not call initstate
    initstate(6, small, sizeof small);
    if (size != sizeof small) CHECK(contains(text(line.check()), "'ELC_RANDOM.random' of the globals is "));
    setstate(before);
  }
}

TEST_CASE("a state of random() that is none is refused") {
  new_process();
  REQUIRE(ELC_RANDOM() == ELC_OK);
  elc::state::RandomNumbers random;
  REQUIRE_OK(random.start());
  for (const int32_t first : {-1, 4, 3 + 5 * 31, 3 + 5 * 4000000}) {
    random.words()[0] = first;
    CHECK(contains(text(random.put()), "is none of this C library"));
  }
}
