// Variables of every kind go into a line and come back into a process with other addresses.
#include "helper.h"

namespace {

struct Everything {
  bool b = true;
  char c = 'x';
  signed char sc = -5;
  unsigned char uc = 250;
  short s = -30000;
  unsigned short us = 60000;
  int i = -2000000000;
  unsigned u = 4000000000u;
  long l = -1234567;
  unsigned long ul = 7654321;
  long long ll = -1234567890123456789;
  unsigned long long ull = 12345678901234567890u;
  float f = 1.25f;
  double d = -1.0 / 3.0;
  long double ld = 2.5L;
  size_t size = 42;
  int8_t i8 = -8;
  uint64_t u64 = ~uint64_t{0};
  double matrix[3][4] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  char text[8] = "abc";
  int cube[2][3][4] = {};
  __complex__ double z = 0;

  void enter() {
    ELC_VAR(b), ELC_VAR(c), ELC_VAR(sc), ELC_VAR(uc), ELC_VAR(s), ELC_VAR(us), ELC_VAR(i), ELC_VAR(u),
        ELC_VAR(l);
    ELC_VAR(ul), ELC_VAR(ll), ELC_VAR(ull), ELC_VAR(f), ELC_VAR(d), ELC_VAR(ld), ELC_VAR(size), ELC_VAR(i8);
    ELC_VAR(u64), ELC_VAR(matrix), ELC_VAR(text), ELC_VAR(cube), ELC_VAR(z);
  }
  bool same(const Everything& o) const {
    return b == o.b && c == o.c && sc == o.sc && uc == o.uc && s == o.s && us == o.us && i == o.i &&
           u == o.u && l == o.l && ul == o.ul && ll == o.ll && ull == o.ull && f == o.f && d == o.d &&
           ld == o.ld && size == o.size && i8 == o.i8 && u64 == o.u64 &&
           memcmp(matrix, o.matrix, sizeof matrix) == 0 && memcmp(text, o.text, sizeof text) == 0 &&
           memcmp(cube, o.cube, sizeof cube) == 0 && z == o.z;
  }
};

void zero(Everything& e) {
  memset(e.matrix, 0, sizeof e.matrix), memset(e.text, 0, sizeof e.text), memset(e.cube, 1, sizeof e.cube);
  e.b = false, e.c = e.sc = e.uc = 0, e.s = e.us = 0, e.i = e.u = 0, e.l = e.ul = 0, e.ll = e.ull = 0;
  e.f = 0, e.d = 0, e.ld = 0, e.size = 0, e.i8 = 0, e.u64 = 0, e.z = 0;
}

}  // namespace

TEST_CASE("scalars and arrays of every type") {
  for (const bool foreign : {false, true}) {
    CAPTURE(foreign);
    new_process();
    Everything before;
    before.cube[1][2][3] = 77;
    __real__ before.z = 3, __imag__ before.z = -4;
    before.enter();
    Line line;
    const elc::format::Representation machine = foreign_machine();
    if (foreign) before.u64 = 7;  // an unsigned long, which has 4 bytes there
    REQUIRE_OK(line.save(foreign ? &machine : nullptr));
    new_process();
    Everything after;
    zero(after);
    after.enter();
    REQUIRE_OK(line.restore());
    CHECK(after.same(before));
  }
}

TEST_CASE("arrays behind pointers, in any order of registration, and after ELC_Unregister") {
  new_process();
  std::vector<double> field(100000);
  for (size_t i = 0; i < field.size(); ++i) field[i] = 1.0 / static_cast<double>(i + 1);
  int step = 17, gone = 3;
  double* x = field.data();
  ELC_VAR(step), ELC_VAR(gone), ELC_ARRAY(x, field.size());
  CHECK(ELC_Unregister("gone") == ELC_OK);
  CHECK(ELC_Unregister("gone") == ELC_ERROR);
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  std::vector<double> other(100000);
  x = other.data();
  step = 0;
  ELC_ARRAY(x, other.size()), ELC_VAR(step);
  REQUIRE_OK(line.restore());
  CHECK(step == 17);
  CHECK(other == field);
}

TEST_CASE("structs, nested, with padding that is left alone") {
  struct Point {
    char tag;
    double x, y;
  };
  struct Body {
    Point corner[2];
    int id;
    Body* next;
  };
  const auto make = [](ELC_Type* body) {
    const ELC_Field point_fields[] = {ELC_FIELD(Point, tag), ELC_FIELD(Point, x), ELC_FIELD(Point, y)};
    const ELC_Type point = ELC_Struct("struct Point", sizeof(Point), 3, point_fields);
    const ELC_Field body_fields[] = {ELC_TYPED_FIELD(Body, corner, point), ELC_FIELD(Body, id),
                                     ELC_POINTER_FIELD(Body, next)};
    *body = ELC_Struct("struct Body", sizeof(Body), 3, body_fields);
    REQUIRE(*body != ELC_NO_TYPE);
    CHECK(ELC_Struct("struct Body", sizeof(Body), 3, body_fields) == *body);
    CHECK(ELC_Struct("struct Body", sizeof(Body), 2, body_fields) == ELC_NO_TYPE);
    CHECK(ELC_Sizeof(*body) == sizeof(Body));
  };
  new_process();
  ELC_Type body;
  make(&body);
  Body bodies[3] = {};
  for (int i = 0; i < 3; ++i) {
    bodies[i].corner[0] = {'a', 1.5 * i, 2};
    bodies[i].corner[1] = {'b', -1.5 * i, 3};
    bodies[i].id = 10 + i;
    bodies[i].next = &bodies[(i + 1) % 3];
  }
  ELC_STRUCT(bodies, body);
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  make(&body);
  Body copy[3];
  memset(static_cast<void*>(copy), 0xee, sizeof copy);
  REQUIRE(ELC_Register("bodies", copy, body, 3) == ELC_OK);
  REQUIRE_OK(line.restore());
  for (int i = 0; i < 3; ++i) {
    CHECK(copy[i].corner[1].x == -1.5 * i);
    CHECK(copy[i].corner[0].tag == 'a');
    CHECK(copy[i].id == 10 + i);
    CHECK(copy[i].next == &copy[(i + 1) % 3]);
    CHECK(reinterpret_cast<const uint8_t*>(&copy[i])[1] == 0xee);
  }
}

namespace {

struct Shape {
  int kind;
  union {
    double radius;
    int sides[3];
    Shape* group;
  } u;
};
int active_member(const void*, const void* enclosing) { return static_cast<const Shape*>(enclosing)->kind; }

ELC_Type make_shape() {
  using U = decltype(Shape::u);
  const ELC_Field members[] = {ELC_FIELD(U, radius), ELC_FIELD(U, sides), ELC_POINTER_FIELD(U, group)};
  const ELC_Type u = ELC_Union("union shape", sizeof(U), 3, members, active_member);
  const ELC_Field fields[] = {ELC_FIELD(Shape, kind), ELC_TYPED_FIELD(Shape, u, u)};
  return ELC_Struct("struct shape", sizeof(Shape), 2, fields);
}

}  // namespace

TEST_CASE("unions with a discriminator") {
  new_process();
  ELC_Type type = make_shape();
  Shape* shapes = static_cast<Shape*>(ELC_new(type, 4));
  shapes[0].kind = 0, shapes[0].u.radius = 2.5;
  shapes[1].kind = 1, shapes[1].u.sides[0] = 3, shapes[1].u.sides[1] = 4, shapes[1].u.sides[2] = 5;
  shapes[2].kind = 2, shapes[2].u.group = &shapes[1];
  shapes[3].kind = -1;
  int* side = &shapes[1].u.sides[2];
  ELC_PTR(shapes), ELC_PTR(side);
  Line line;
  const elc::format::Representation machine = foreign_machine();
  for (const bool foreign : {false, true}) {
    REQUIRE_OK(line.save(foreign ? &machine : nullptr));
    new_process();
    type = make_shape();
    shapes = nullptr, side = nullptr;
    ELC_PTR(shapes), ELC_PTR(side);
    REQUIRE_OK(line.restore());
    CHECK(shapes[0].u.radius == 2.5);
    CHECK(shapes[1].u.sides[1] == 4);
    CHECK(side == &shapes[1].u.sides[2]);
    CHECK(*side == 5);
    CHECK(shapes[2].u.group == &shapes[1]);
    CHECK(shapes[3].kind == -1);
  }
}

TEST_CASE("MPI handles go through the codec") {
  new_process();
  int comm = 7, requests[2] = {8, 9};
  REQUIRE(ELC_Register("comm", &comm, ELC_MPI_COMM, 1) == ELC_OK);
  REQUIRE(ELC_Register("requests", requests, ELC_MPI_REQUEST, 2) == ELC_OK);
  Line line;
  REQUIRE_OK(line.save());
  comm = requests[0] = requests[1] = 0;
  REQUIRE_OK(line.restore());
  CHECK(comm == 7);
  CHECK(requests[0] == 8);
  CHECK(requests[1] == 9);
}

TEST_CASE("no element, and a line of nothing") {
  new_process();
  Line line;
  REQUIRE_OK(line.save());
  REQUIRE_OK(line.restore());
  double* x = nullptr;
  ELC_ARRAY(x, 0), ELC_Register("p", &x, ELC_POINTER, 1);
  REQUIRE_OK(line.save());
  REQUIRE_OK(line.restore());
  CHECK(x == nullptr);
}

TEST_CASE("size_t and int64_t are other integers elsewhere, and fit") {
  new_process();
  elc::format::Representation machine = foreign_machine();
  struct Pair {
    size_t size;
    int64_t number;
  };
  unsigned size = 4000000000u;
  long long number = -5000000000;
  struct Other {
    unsigned size;
    long long number;
  } other = {7, -8};
  const ELC_Field other_fields[] = {ELC_FIELD(Other, size), ELC_FIELD(Other, number)};
  const ELC_Type other_type = ELC_Struct("struct pair", sizeof(Other), 2, other_fields);
  ELC_VAR(size), ELC_VAR(number), ELC_STRUCT(other, other_type);
  Line line;
  REQUIRE_OK(line.save(&machine));
  new_process();
  size_t my_size = 0;
  int64_t my_number = 0;
  Pair pair = {};
  const ELC_Field fields[] = {ELC_FIELD(Pair, size), ELC_FIELD(Pair, number)};
  const ELC_Type type = ELC_Struct("struct pair", sizeof(Pair), 2, fields);
  ELC_Register("size", &my_size, ELC_TYPE_OF(my_size), 1),
      ELC_Register("number", &my_number, ELC_TYPE_OF(my_number), 1);
  ELC_Register("other", &pair, type, 1);
  REQUIRE_OK(line.restore());
  CHECK(my_size == 4000000000u);
  CHECK(my_number == -5000000000);
  CHECK(pair.size == 7);
  CHECK(pair.number == -8);
  REQUIRE_OK(line.save());  // on one machine another width is another type
  new_process();
  int narrow = 0;
  ELC_Register("size", &my_size, ELC_TYPE_OF(my_size), 1), ELC_Register("number", &narrow, ELC_INT, 1);
  const std::string type_of_number = std::is_same_v<int64_t, long> ? "long" : "long long";
  CHECK(contains(text(line.check()), ("'number' of the globals is int in the program, but " + type_of_number).c_str()));
  new_process();
  unsigned short short_size = 0;
  ELC_Register("size", &short_size, ELC_USHORT, 1);
  const std::string type_of_size = std::is_same_v<size_t, unsigned long> ? "unsigned long" : "unsigned int";
  CHECK(contains(text(line.check()),
                 ("'size' of the globals is unsigned short in the program, but " + type_of_size + " in the line").c_str()));
}

namespace {

struct Flags {
  unsigned low : 3;
  int level : 5;
  double between;
  unsigned many : 17;
};
ELC_BITS(flags_low, Flags, low)
ELC_BITS(flags_level, Flags, level)
ELC_BITS(flags_many, Flags, many)

// The same in a program whose bit-fields are other ones.
struct Narrow {
  double between;
  int level : 4;
  unsigned many : 17;
  unsigned low : 3;
};
ELC_BITS(narrow_level, Narrow, level)
ELC_BITS(narrow_many, Narrow, many)
ELC_BITS(narrow_low, Narrow, low)

ELC_Type make_flags() {
  const ELC_Field fields[] = {ELC_BITS_FIELD(low, flags_low, ELC_UINT), ELC_BITS_FIELD(level, flags_level, ELC_INT),
                              ELC_FIELD(Flags, between), ELC_BITS_FIELD(many, flags_many, ELC_ULONG)};
  return ELC_Struct("Flags", sizeof(Flags), 4, fields);
}

}  // namespace

TEST_CASE("bit-fields go through their functions") {
  const elc::format::Representation machine = foreign_machine();
  for (const bool foreign : {false, true}) {
    new_process();
    Flags flags[2] = {{5, -16, 0.5, 99999}, {7, 15, 1.5, 131071}};
    double* inside = &flags[1].between;
    const ELC_Type type = make_flags();
    CHECK(type == make_flags());
    ELC_STRUCT(flags, type), ELC_PTR(inside);
    Line line;
    REQUIRE_OK(line.save(foreign ? &machine : nullptr));
    memset(flags, 0, sizeof flags);
    inside = nullptr;
    REQUIRE_OK(line.restore());
    CHECK(+flags[0].low == 5);
    CHECK(+flags[0].level == -16);
    CHECK(flags[0].between == 0.5);
    CHECK(+flags[0].many == 99999);
    CHECK(+flags[1].low == 7);
    CHECK(+flags[1].level == 15);
    CHECK(+flags[1].many == 131071);
    CHECK(inside == &flags[1].between);
  }
}

TEST_CASE("a value that a bit-field cannot keep is refused before anything changes") {
  new_process();
  const elc::format::Representation machine = foreign_machine();
  struct Outer {
    Flags flags;
  } outer = {{1, 9, 0.5, 3}};
  const ELC_Field outer_fields[] = {ELC_TYPED_FIELD(Outer, flags, make_flags())};
  const ELC_Type outer_type = ELC_Struct("Outer", sizeof(Outer), 1, outer_fields);
  ELC_STRUCT(outer, outer_type);
  for (const bool foreign : {false, true}) {
    Line line;
    new_process();
    ELC_Register("outer", &outer, (make_flags(), ELC_Struct("Outer", sizeof(Outer), 1, outer_fields)), 1);
    REQUIRE_OK(line.save(foreign ? &machine : nullptr));
    new_process();
    struct NarrowOuter {
      Narrow flags[1];
    } narrow = {{{7.5, 3, 4, 2}}};
    const ELC_Field fields[] = {{"low", 0, ELC_Accessor(ELC_UINT, narrow_low_get, narrow_low_set), 1},
                                ELC_BITS_FIELD(level, narrow_level, ELC_INT),
                                ELC_FIELD(Narrow, between), ELC_BITS_FIELD(many, narrow_many, ELC_ULONG)};
    const ELC_Type narrow_type = ELC_Struct("Flags", sizeof(Narrow), 4, fields);
    const ELC_Field narrow_outer[] = {ELC_TYPED_FIELD(NarrowOuter, flags, narrow_type)};
    const ELC_Type type = ELC_Struct("Outer", sizeof(NarrowOuter), 1, narrow_outer);
    ELC_Register("outer", &narrow, type, 1);
    const std::string why = text(line.restore());
    CHECK(contains(why, "'outer' of the globals: .flags.level: the value 9 does not fit the bit-field"));
    CHECK(narrow.flags[0].between == 7.5);
    CHECK(+narrow.flags[0].level == 3);
  }
}

TEST_CASE("what is no bit-field of a struct") {
  new_process();
  Flags flags = {1, 2, 3, 300};
  CHECK(ELC_Accessor(ELC_DOUBLE, flags_low_get, flags_low_set) == ELC_NO_TYPE);
  CHECK(ELC_Accessor(ELC_POINTER, flags_low_get, flags_low_set) == ELC_NO_TYPE);
  CHECK(ELC_Accessor(ELC_INT, nullptr, flags_low_set) == ELC_NO_TYPE);
  const ELC_Field two[] = {{"low", 0, ELC_Accessor(ELC_INT, flags_low_get, flags_low_set), 2}};
  CHECK(ELC_Struct("two", sizeof(Flags), 1, two) == ELC_NO_TYPE);
  const ELC_Field one[] = {ELC_BITS_FIELD(low, flags_low, ELC_INT)};
  CHECK(ELC_Union("union", sizeof(Flags), 1, one, [](const void*, const void*) { return 0; }) == ELC_NO_TYPE);
  CHECK(ELC_Register("bits", &flags, ELC_Accessor(ELC_INT, flags_low_get, flags_low_set), 1) == ELC_ERROR);
  CHECK(ELC_Unregister("bits") == ELC_OK);
  CHECK(ELC_new(ELC_Accessor(ELC_INT, flags_low_get, flags_low_set), 1) == nullptr);
  // A value that the type it is saved as does not have.
  const ELC_Field narrow[] = {ELC_BITS_FIELD(many, flags_many, ELC_UCHAR)};
  const ELC_Type type = ELC_Struct("Many", sizeof(Flags), 1, narrow);
  ELC_STRUCT(flags, type);
  Line line;
  const std::string why = text(line.save());
  CHECK(contains(why, "'flags'"));
  CHECK(contains(why, "the bit-field's value 300 does not fit a `unsigned char`, as which it is saved"));
}

TEST_CASE("what is saved of structs are their fields, without what lies between them") {
  struct Inner {
    char kind;
    double value;
  };
  struct Outer {
    int first, undeclared;
    Inner inner[2];
    short last;
  };
  new_process();
  const ELC_Field of_inner[] = {ELC_FIELD(Inner, kind), ELC_FIELD(Inner, value)};
  const ELC_Type inner = ELC_Struct("Inner", sizeof(Inner), 2, of_inner);
  const ELC_Field of_outer[] = {ELC_FIELD(Outer, first), {"inner", offsetof(Outer, inner), inner, 2}, ELC_FIELD(Outer, last)};
  const ELC_Type outer = ELC_Struct("Outer", sizeof(Outer), 3, of_outer);
  static Outer two[2];
  static int plain[3];
  REQUIRE(ELC_Register("two", two, outer, 2) == ELC_OK);
  REQUIRE(ELC_Register("plain", plain, ELC_INT, 3) == ELC_OK);
  struct Saved {
    const char* base;
    std::string text;
  } saved = {reinterpret_cast<const char*>(two), ""};
  const auto listed = [](void* context, const char* name, const void* address, uint64_t size) {
    Saved& all = *static_cast<Saved*>(context);
    const bool is_two = name != nullptr && strcmp(name, "two") == 0;
    all.text += (is_two ? std::to_string(static_cast<const char*>(address) - all.base) : name) + ("+" + std::to_string(size) + " ");
  };
  elc::state::each_saved(&saved, listed);
  std::string expected;
  for (size_t i = 0; i < 2; ++i) {
    const size_t at = i * sizeof(Outer), in = at + offsetof(Outer, inner);
    expected += std::to_string(at) + "+4 " + std::to_string(in) + "+1 " + std::to_string(in + offsetof(Inner, value)) + "+" +
                std::to_string(sizeof(double) + 1) + " " + std::to_string(in + sizeof(Inner) + offsetof(Inner, value)) + "+" +
                std::to_string(sizeof(double) + sizeof(short)) + " ";
  }
  CHECK(saved.text == expected + "plain+12 ");
}

TEST_CASE("a wchar_t that is an int here and unsigned there") {
  new_process();
  const elc::format::Representation machine = foreign_machine();
  unsigned wide = 0x1f600, too_large = 0x1f600;
  ELC_VAR(wide), ELC_VAR(too_large);
  for (const bool fits : {true, false}) {
    too_large = fits ? 5 : 0x80000000u;
    Line line;
    REQUIRE_OK(line.save(&machine));
    new_process();
    int wide_here = 0, too_large_here = 0;
    ELC_Register("wide", &wide_here, ELC_INT, 1), ELC_Register("too_large", &too_large_here, ELC_INT, 1);
    const std::string why = text(line.restore());
    CHECK((why == "ok") == fits);
    if (!fits) CHECK(contains(why, "the value 2147483648 does not fit"));
    CHECK(wide_here == (fits ? 0x1f600 : 0));
    new_process();
    ELC_VAR(wide), ELC_VAR(too_large);
  }
}
