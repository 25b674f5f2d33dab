// Structs, unions, pointers and other handles; tables of types against each other.
#include <doctest/doctest.h>
#include <stddef.h>
#include <stdio.h>

#include <complex>

#include "tests/format/support.h"

using namespace elc;
using namespace elc::format;

namespace {

struct Point {
  char tag;
  alignas(8) double x, y;  // the same layout on every processor
};

struct Shape {
  int kind;
  union Body {
    Point corner[2];
    long count;
    char name[11];
  } body;
  short after;
};

struct Node {
  int8_t id;
  Node* next;
  long double weight;
  Point points[3];
  bool open;
  void (*action)();
  FILE* stream;
  void* comm;
  int32_t status[5];
  unsigned char bytes[3];
  std::complex<float> wave[2];
  size_t sizes[40];
  Point many[50];
};

int active_body(const void*, const void* enclosing) { return static_cast<const Shape*>(enclosing)->kind; }

#define FIELD(S, f, type) \
  FieldSpec { #f, offsetof(S, f), type, 1 }
#define FIELDS(S, f, type, n) \
  FieldSpec { #f, offsetof(S, f), type, n }

struct Made {
  TypeTable types;
  TypeId point = 0, body = 0, shape = 0, node = 0;

  Made() {
    types.set_size(kMpiComm, sizeof(void*));
    types.set_size(kMpiStatus, 20);
    const FieldSpec p[] = {FIELD(Point, tag, kChar), FIELD(Point, x, kDouble), FIELD(Point, y, kDouble)};
    REQUIRE(types.make_struct("struct point", sizeof(Point), p, &point).ok());
    const FieldSpec b[] = {FIELDS(Shape::Body, corner, point, 2), FIELD(Shape::Body, count, kLong),
                           FIELDS(Shape::Body, name, kChar, 11)};
    REQUIRE(types.make_union("union body", sizeof(Shape::Body), b, active_body, &body).ok());
    const FieldSpec s[] = {FIELD(Shape, kind, kInt), FIELD(Shape, body, body), FIELD(Shape, after, kShort)};
    REQUIRE(types.make_struct("struct shape", sizeof(Shape), s, &shape).ok());
    const FieldSpec n[] = {FIELD(Node, id, kInt8),
                           FIELD(Node, next, kPointer),
                           FIELD(Node, weight, kLdouble),
                           FIELDS(Node, points, point, 3),
                           FIELD(Node, open, kBool),
                           FIELD(Node, action, kFunction),
                           FIELD(Node, stream, kFile),
                           FIELD(Node, comm, kMpiComm),
                           FIELD(Node, status, kMpiStatus),
                           FIELDS(Node, bytes, kUchar, 3),
                           FIELDS(Node, wave, kFloatComplex, 2),
                           FIELDS(Node, sizes, kSize, 40),
                           FIELDS(Node, many, point, 50)};
    REQUIRE(types.make_struct("struct node", sizeof(Node), n, &node).ok());
  }
};

std::vector<Point> some_points(size_t n) {
  std::vector<Point> points(n);
  memset(static_cast<void*>(points.data()), 0, n * sizeof(Point));
  for (size_t i = 0; i < n; ++i) {
    points[i].tag = static_cast<char>(i);
    points[i].x = static_cast<double>(i) / 3;
    points[i].y = -points[i].x;
  }
  return points;
}

std::vector<Node> some_nodes(size_t n) {
  std::vector<Node> nodes(n);
  memset(static_cast<void*>(nodes.data()), 0, n * sizeof(Node));
  for (size_t i = 0; i < n; ++i) {
    Node& d = nodes[i];
    d.id = static_cast<int8_t>(i);
    d.next = reinterpret_cast<Node*>(i * 77777);
    d.weight = static_cast<long double>(i) * 0.25L;
    for (Point& p : d.points) p = some_points(i + 1)[i];
    d.open = i % 2 == 1;
    d.action = reinterpret_cast<void (*)()>(i);
    d.stream = reinterpret_cast<FILE*>(i + 1);
    d.comm = reinterpret_cast<void*>(i + 2);
    for (int k = 0; k < 4; ++k) d.status[k] = static_cast<int32_t>(i) - (k < 3 ? 2 : -3);
    memcpy(d.bytes, &i, 3);
    d.wave[1] = {static_cast<float>(i), -1.5f};
    for (size_t k = 0; k < 40; ++k) d.sizes[k] = i * k;
    for (size_t k = 0; k < 50; ++k) d.many[k].y = static_cast<double>(i * k);
  }
  return nodes;
}

// Memory that is to be equal but for padding: all leaves in the packed form of this machine.
std::string packed(const TypeTable& types, TypeId type, const void* address, size_t count) {
  return write_file(types, {},
                    [&](Writer& w) { CHECK(w.write_value(type, address, count, plain_encoder()).ok()); });
}

template <class T>
void crosses(const TypeTable& types, TypeId type, const std::vector<T>& values) {
  for (const Machine& machine : machines()) {
    CAPTURE(machine.name);
    WriterOptions options;
    options.representation = &machine.representation;
    MemoryFile file;
    file.bytes = write_file(types, options, [&](Writer& w) {
      const Result status = w.write_value(type, values.data(), values.size(), plain_encoder());
      CHECK_MESSAGE(status.ok(), status.message());
    });
    Reader reader;
    const Result opened = reader.open(file.source());
    REQUIRE_MESSAGE(opened.ok(), opened.message());
    const TypeId from = reader.types().find(types.info(type).name);
    Cursor cursor;
    REQUIRE(cursor.open(&reader, "values").ok());
    Result status = cursor.check_value(from, types, type, values.size(), plain_decoder());
    CHECK_MESSAGE(status.ok(), status.message());
    CHECK(cursor.finish().ok());
    REQUIRE(cursor.open(&reader, "values").ok());
    CHECK(cursor.skip_value(from, values.size()).ok());
    CHECK(cursor.finish().ok());
    std::vector<T> back(values.size());
    memset(static_cast<void*>(back.data()), 0, back.size() * sizeof(T));
    for (size_t i = 0; i < back.size(); ++i)
      if constexpr (std::is_same_v<T, Shape>) back[i].body.count = 0;
    REQUIRE(cursor.open(&reader, "values").ok());
    status = cursor.read_value(from, types, type, back.data(), back.size(), plain_decoder());
    CHECK_MESSAGE(status.ok(), status.message());
    CHECK(cursor.finish().ok());
    CHECK(packed(types, type, back.data(), back.size()) == packed(types, type, values.data(), values.size()));
  }
}

}  // namespace

TEST_CASE("types that were made last are forgotten, and made again") {
  Made made;
  const TypeId end = made.types.end();
  for (uint64_t count = 1; count < 4; ++count) {
    TypeId one = 0, other = 0;
    const FieldSpec first[] = {{"at_0", 0, made.point, count}}, second[] = {{"at_0", 0, made.node, count}};
    REQUIRE(made.types.make_struct("struct one", count * sizeof(Point), first, &one).ok());
    REQUIRE(made.types.make_struct("struct other", count * sizeof(Node), second, &other).ok());
    CHECK(one == end);
    CHECK(made.types.find("struct other") == other);
    CHECK(made.types.fields(one)[0].count == count);
    made.types.shorten(other);
    CHECK(made.types.find("struct other") == kNone);
    CHECK(made.types.find("struct one") == one);
    made.types.shorten(end);
    CHECK(made.types.find("struct one") == kNone);
    CHECK(made.types.end() == end);
    CHECK(made.types.find("struct node") == made.node);
    CHECK(made.types.fields(made.node).size() == 13);
  }
}

TEST_CASE("structs with every kind of field, nested and in arrays, cross between all machines") {
  Made made;
  crosses(made.types, made.point, some_points(100000));
  crosses(made.types, made.node, some_nodes(100));
}

TEST_CASE("unions cross with the member that is in use, or none") {
  Made made;
  std::vector<Shape> shapes(1000);
  memset(static_cast<void*>(shapes.data()), 0, shapes.size() * sizeof(Shape));
  for (size_t i = 0; i < shapes.size(); ++i) {
    Shape& s = shapes[i];
    s.kind = static_cast<int>(i % 4) - 1;
    s.after = static_cast<short>(i);
    if (s.kind == 0) s.body.corner[1] = some_points(i)[i - 1];
    if (s.kind == 1) s.body.count = -static_cast<long>(i);
    if (s.kind == 2) snprintf(s.body.name, sizeof s.body.name, "name %d", static_cast<int>(i % 1000));
  }
  crosses(made.types, made.shape, shapes);
  shapes[7].kind = 3;
  Result status;
  write_file(made.types, {}, [&](Writer& w) { status = w.write_value(made.shape, shapes.data(), 100, {}); });
  CHECK(std::string(status.message()) ==
        "[7].body: which member of the union is in use is not known: its function says 3, and there are 3");
}

TEST_CASE("errors inside nested values name the whole place") {
  if (sizeof(long) != 8) return;
  Made made;
  const Representation narrow = machines()[2].representation;
  WriterOptions options;
  options.representation = &narrow;
  std::vector<Node> nodes = some_nodes(10);
  nodes[3].sizes[17] = static_cast<size_t>(uint64_t{1} << 33);
  CHECK(write_file(
            made.types, options,
            [&](Writer& w) { CHECK(!w.write_value(made.node, nodes.data(), 10, plain_encoder()).ok()); }) ==
        "error: [3].sizes[17]: the value 8589934592 does not fit a `size_t` of 4 bytes, whose limit is "
        "4294967295");
  std::vector<Shape> shapes(2);
  shapes[0].kind = -1;
  shapes[1].kind = 1;
  shapes[1].body.count = static_cast<long>(int64_t{1} << 40);
  CHECK(write_file(made.types, options,
                   [&](Writer& w) { CHECK(!w.write_value(made.shape, shapes.data(), 2, {}).ok()); }) ==
        "error: [1].body.count: the value 1099511627776 does not fit a `long` of 4 bytes, whose limit is "
        "2147483647");
  nodes[3].sizes[17] = 0;
  LeafDecoder decoder = plain_decoder();
  decoder.pointer = [](void*, const PointerLeaf& in, void*) {
    return in.position + (in.block << 16) == 77777 * 4 ? Result::error("points to nothing") : Result();
  };
  MemoryFile file;
  file.bytes = write_file(made.types, {}, [&](Writer& w) {
    CHECK(w.write_value(made.node, nodes.data(), 10, plain_encoder()).ok());
  });
  Reader reader;
  REQUIRE(reader.open(file.source()).ok());
  Cursor cursor;
  REQUIRE(cursor.open(&reader, "values").ok());
  const Result status = cursor.check_value(made.node, made.types, made.node, 10, decoder);
  CHECK(std::string(status.message()) == "[4].next: points to nothing");
}

TEST_CASE("types that do not fit are refused with the place") {
  Made made;
  const auto refused = [&](TypeId from, const TypeTable& memory, TypeId to) {
    const Result status = fits(made.types, from, Representation::here(), memory, to, false);
    return std::string(status.message());
  };
  TypeTable other;
  TypeId point, shape;
  const FieldSpec p[] = {{"tag", 0, kChar, 1}, {"x", 8, kFloat, 1}, {"y", 16, kDouble, 1}};
  REQUIRE(other.make_struct("struct point", 24, p, &point).ok());
  CHECK(refused(made.point, other, point) == ".x: `double` in the file, `float` in the program");
  CHECK(refused(kInt, other, kUint) == "`int` in the file, `unsigned int` in the program");
  CHECK(refused(made.point, other, kInt) == "`struct point` in the file, `int` in the program");
  const FieldSpec q[] = {{"tag", 0, kChar, 2}};
  REQUIRE(other.make_struct("q", 24, q, &shape).ok());
  CHECK(refused(made.point, other, shape) == ".tag: 1 elements in the file, 2 in the program");
  const FieldSpec r[] = {{"flag", 0, kChar, 1}};
  REQUIRE(other.make_struct("r", 24, r, &shape).ok());
  CHECK(refused(made.point, other, shape) == "field 1 is `tag` in the file, `flag` in the program");
  const FieldSpec t[] = {{"tag", 0, kChar, 1}};
  REQUIRE(other.make_struct("t", 24, t, &shape).ok());
  CHECK(refused(made.point, other, shape) == "`struct point` has 3 fields in the file, 1 in the program");
  for (const Machine& machine : machines()) {
    CHECK(fits(made.types, kByte, machine.representation, made.types, kByte, false).ok());  // if they are zeros
    CHECK(fits(made.types, made.node, machine.representation, made.types, made.node, false).ok());
  }
}

TEST_CASE("neighbours that another machine has with another sign are read each with its own") {
  if (Representation::here().width[kWchar] != 4 || !Representation::here().is_signed[kWchar]) return;
  Representation narrow = Representation::here();
  narrow.width[kWchar] = 2;
  narrow.is_signed[kWchar] = false;
  TypeTable there, here;
  TypeId from, to;
  const FieldSpec saved[] = {{"a", 0, kWchar, 1}, {"b", 4, kShort, 1}};
  const FieldSpec wanted[] = {{"a", 0, kWchar, 1}, {"b", 4, kWchar, 1}};
  REQUIRE(there.make_struct("pair", 8, saved, &from).ok());
  REQUIRE(here.make_struct("pair", 8, wanted, &to).ok());
  struct {
    wchar_t a;
    short b;
  } value = {0xffff, -1};
  WriterOptions options;
  options.representation = &narrow;
  MemoryFile file;
  file.bytes = write_file(there, options, [&](Writer& w) { CHECK(w.write_value(from, &value, 1, {}).ok()); });
  Reader reader;
  REQUIRE(reader.open(file.source()).ok());
  Cursor cursor;
  REQUIRE(cursor.open(&reader, "values").ok());
  wchar_t back[2] = {};
  CHECK(cursor.read_value(from, here, to, back, 1, {}).ok());
  CHECK(back[0] == 0xffff);
  CHECK(back[1] == -1);
}

TEST_CASE("making types: what is wrong is said, what is the same is the same type") {
  Made made;
  TypeTable& types = made.types;
  TypeId type = 0;
  const auto make = [&](std::vector<FieldSpec> fields, uint64_t size = 24, const char* name = "t") {
    const Result status = types.make_struct(name, size, fields, &type);
    CHECK((type == kNone) == !status.ok());
    return std::string(status.message());
  };
  CHECK(make({{"tag", 0, kChar, 1}, {"x", 8, kDouble, 1}, {"y", 16, kDouble, 1}}, 24, "struct point") ==
        "ok");
  CHECK(type == made.point);
  CHECK(make({{"tag", 0, kChar, 1}}, 24, "struct point") ==
        "type `struct point` was made before with another size or other fields; give this one another name");
  CHECK(make({}) == "type `t` has no fields");
  CHECK(make({{"a", 0, kInt, 0}}) == "type `t`: field `a` has no elements");
  CHECK(make({{"a", 20, kInt, 2}}) == "type `t`: field `a` ends outside the 24 bytes of the type");
  CHECK(make({{"a", 0, kDouble, ~uint64_t{0} / 4}}).find("makes it too large") != std::string::npos);
  CHECK(make({{"a", 0, 9999, 1}}) == "type `t`: field `a` has a type that is not known here (9999)");
  CHECK(make({{"a", 0, -5, 1}}) == "type `t`: field `a` has a type that is not known here (-5)");
  CHECK(make({{"a", 4, kInt, 1}, {"b", 0, kInt, 1}}).find("ascending order") != std::string::npos);
  CHECK(make({{"a", 0, kInt, 2}, {"b", 4, kInt, 1}}).find("ascending order") != std::string::npos);
  CHECK(make({{"a\n", 0, kInt, 1}}) == "type `t`: a field needs a name of 1 to 65536 printable characters");
  CHECK(make({{"a", 0, kMpiRequest, 1}}).find("not known here") != std::string::npos);
  TypeId inner = kInt;
  std::string last = "ok";
  for (int i = 0; i < 70 && last == "ok"; ++i) {
    last = make({{"a", 0, inner, 1}}, 4, ("nest " + std::to_string(i)).c_str());
    inner = type;
  }
  CHECK(last.find("nest more than 64 deep") != std::string::npos);
}

TEST_CASE("the table of a file is the table of the program") {
  Made made;
  MemoryFile file;
  file.bytes = write_file(made.types, {}, [](Writer&) {});
  Reader reader;
  REQUIRE(reader.open(file.source()).ok());
  const TypeTable& types = reader.types();
  CHECK(types.end() == made.types.end());
  CHECK(types.find("struct node") == made.node);
  CHECK(types.info(made.node).size == sizeof(Node));
  CHECK(types.info(made.node).leaves == made.types.info(made.node).leaves);
  CHECK(std::string(types.fields(made.point)[2].name) == "y");
}

TEST_CASE("positions: every byte of nested arrays there and back") {
  Made made;
  const TypeTable& types = made.types;
  const Representation& here = Representation::here();
  const auto there_and_back = [&](TypeId type, uint64_t count, const void* block) {
    size_t wild = 0;
    const uint64_t size = count * types.info(type).size;
    for (uint64_t offset = 0; offset <= size; ++offset) {
      uint64_t position = 0, back = 0;
      if (!types.position(type, count, offset, block, &position)) {
        ++wild;
        continue;
      }
      REQUIRE(types.offset(type, count, position, here, &back));
      CHECK(back == offset);
    }
    uint64_t position = 0;
    CHECK(!types.position(type, count, size + 1, block, &position));
    return wild;
  };
  CHECK(there_and_back(kByte, 100, nullptr) == 0);
  CHECK(there_and_back(kDouble, 100, nullptr) == 0);
  CHECK(there_and_back(kDoubleComplex, 10, nullptr) == 0);
  CHECK(there_and_back(made.point, 7, nullptr) ==
        7 * 6);  // of 7 bytes of padding the first is the end of tag
  const std::vector<Node> nodes = some_nodes(3);
  there_and_back(made.node, 3, nodes.data());
  std::vector<Shape> shapes(3);
  for (Shape& s : shapes) s.kind = static_cast<int>(&s - shapes.data());
  there_and_back(made.shape, 3, shapes.data());
  there_and_back(made.shape, 3, nullptr);
}

TEST_CASE("positions are the same under another layout") {
  Made made;
  TypeTable packed_tight;
  TypeId point, array;
  const FieldSpec p[] = {{"tag", 0, kChar, 1}, {"x", 1, kDouble, 1}, {"y", 9, kDouble, 1}};
  REQUIRE(packed_tight.make_struct("struct point", 17, p, &point).ok());
  const FieldSpec a[] = {{"first", 0, kShort, 1}, {"points", 2, point, 5}};
  REQUIRE(packed_tight.make_struct("array", 87, a, &array).ok());
  TypeId loose;
  const FieldSpec b[] = {{"first", 0, kShort, 1}, {"points", 8, made.point, 5}};
  REQUIRE(made.types.make_struct("array", 128, b, &loose).ok());
  uint64_t position = 0, offset = 0;
  const Representation& here = Representation::here();
  // &block[2].points[3].y
  REQUIRE(made.types.position(loose, 4, 2 * 128 + 8 + 3 * 24 + 16, nullptr, &position));
  CHECK(position == 2 * 16 + 1 + 3 * 3 + 2);
  REQUIRE(packed_tight.offset(array, 4, position, here, &offset));
  CHECK(offset == 2 * 87 + 2 + 3 * 17 + 9);
  char text[100];
  made.types.place(loose, 4, leaf_of(position), text, sizeof text);
  CHECK(std::string(text) == "[2].points[3].y");
  // One past the end, and the end of `first`, before padding.
  REQUIRE(made.types.position(loose, 4, 4 * 128, nullptr, &position));
  REQUIRE(packed_tight.offset(array, 4, position, here, &offset));
  CHECK(offset == 4 * 87);
  REQUIRE(made.types.position(loose, 4, 2, nullptr, &position));
  CHECK(extra_of(position) == kPastLeaf);
  REQUIRE(packed_tight.offset(array, 4, position, here, &offset));
  CHECK(offset == 2);
  CHECK(!made.types.position(loose, 4, 3, nullptr, &position));
  // Inside a scalar: only where it is as wide.
  REQUIRE(made.types.position(kLong, 4, 9, nullptr, &position));
  Representation narrow = here;
  set_widths(&narrow, here.width[kLong] == 8 ? 4 : 8, 4, 4, 4);
  CHECK(made.types.offset(kLong, 4, position, here, &offset));
  CHECK(!made.types.offset(kLong, 4, position, narrow, &offset));
  CHECK(!made.types.offset(kLong, 4, 5, here, &offset));
  CHECK(!made.types.offset(kLong, 4, ~uint64_t{0}, here, &offset));
  // Before a block nothing is to be read, and positions there are told.
  CHECK(leaves_before(position_before(3)) == 3);
  CHECK(leaves_before(make_position(4, kPastLeaf)) == 0);
  CHECK(!made.types.offset(kLong, 4, position_before(1), here, &offset));
  pointer_text({kFirstById + 3, position_before(2)}, text, sizeof text);
  CHECK(std::string(text) == "heap block 3 - 2");
}

TEST_CASE("a union's position goes by the active member") {
  Made made;
  Shape shape;
  uint64_t position = 0;
  const uint64_t at = offsetof(Shape, body) + 8;  // corner[0].x or name[8]
  shape.kind = 0;
  REQUIRE(made.types.position(made.shape, 1, at, &shape, &position));
  CHECK(position == 1 + 1);
  shape.kind = 2;
  REQUIRE(made.types.position(made.shape, 1, at, &shape, &position));
  CHECK(position == 1 + 6 + 1 + 8);
  shape.kind = -1;
  REQUIRE(made.types.position(made.shape, 1, at, &shape, &position));
  CHECK(position == 1 + 1);
}

TEST_CASE("a value is shown leaf by leaf, and the visitor can stop") {
  Made made;
  std::vector<Shape> shapes(2);
  shapes[0] = {};
  shapes[0].kind = 1;
  shapes[0].body.count = -5;
  shapes[0].after = 3;
  shapes[1] = {};
  shapes[1].kind = -1;
  const void* pointers[] = {nullptr, reinterpret_cast<void*>(0x50007)};
  const std::complex<double> z = {0.5, -2};
  for (const Machine& machine : machines()) {
    WriterOptions options;
    options.representation = &machine.representation;
    MemoryFile file;
    file.bytes = write_file(made.types, options, [&](Writer& w) {
      CHECK(w.write_value(made.shape, shapes.data(), 2, {}).ok());
      CHECK(w.write_value(kPointer, pointers, 2, plain_encoder()).ok());
      CHECK(w.write_value(kDoubleComplex, &z, 1, {}).ok());
    });
    Reader reader;
    REQUIRE(reader.open(file.source()).ok());
    struct Seen {
      std::string text;
      int most;
    } seen = {"", 4};
    const LeafVisitor visitor = {&seen, [](void* context, const char* path, Kind, const char* text) {
                                   Seen& s = *static_cast<Seen*>(context);
                                   s.text += std::string(path) + "=" + text + ";";
                                   return --s.most > 0;
                                 }};
    Cursor cursor;
    REQUIRE(cursor.open(&reader, "values").ok());
    CHECK(cursor.show_value(made.shape, 2, visitor).ok());
    seen.most = 100;
    CHECK(cursor.show_value(kPointer, 2, visitor).ok());
    CHECK(cursor.show_value(kDoubleComplex, 1, visitor).ok());
    CHECK(cursor.finish().ok());
    CHECK(seen.text ==
          "[0].kind=1;[0].body.count=-5;[0].after=3;[1].kind=-1;"
          "[0]=NULL;[1]=block 5 + 7;.re=0.5;.im=-2;");
  }
}

TEST_CASE("what the layer above forgets or misuses is said") {
  Made made;
  const void* pointer = nullptr;
  Result status;
  write_file(made.types, {}, [&](Writer& w) { status = w.write_value(kPointer, &pointer, 1, {}); });
  CHECK(std::string(status.message()) == "a pointer cannot be saved or restored here");
  write_file(made.types, {}, [&](Writer& w) { status = w.write_value(kMpiRequest, &pointer, 1, {}); });
  CHECK(std::string(status.message()) == "type number 36 is not known");
  const unsigned char bytes[] = {0x5a, 0};
  MemoryFile file;
  file.bytes = write_file(made.types, {}, [&](Writer& w) {
    CHECK(w.write_value(kByte, bytes, 2, {}).ok());
    w.encoder().boolean(true);
  });
  Reader reader;
  REQUIRE(reader.open(file.source()).ok());
  Cursor cursor;
  CHECK(std::string(cursor.open(&reader, "vars").message()) == "the file has no section `vars`");
  REQUIRE(cursor.open(&reader, "values").ok());
  std::string seen;
  CHECK(cursor
            .show_value(kByte, 2,
                        {&seen,
                         [](void* context, const char* path, Kind, const char* text) {
                           *static_cast<std::string*>(context) += std::string(path) + "=" + text + ";";
                           return true;
                         }})
            .ok());
  CHECK(seen == "[0]=0x5a;[1]=0x00;");
  CHECK(std::string(cursor.finish().message()) == "section `values` has 4 bytes that nothing reads");
  REQUIRE(cursor.open(&reader, "values").ok());
  CHECK(std::string(cursor.skip_value(kByte, 7).message()) ==
        "section `values` is too short for 7 elements of type `bytes`");
  REQUIRE(cursor.open(&reader, "values").ok());
  CHECK(!cursor.skip_value(9999, 1).ok());
  CHECK(cursor.u32() == 0);
  char text[200];
  machines()[4].representation.describe(text, sizeof text);
  CHECK(std::string(text) ==
        "big-endian, int 4, long 8, pointer 8, wchar_t 4, char signed, long double IEEE quad");
}

TEST_CASE("the first leaf of an element need not lie at its beginning") {
  TypeTable types;
  TypeId inner, outer;
  const FieldSpec i[] = {{"x", 8, kDouble, 1}, {"n", 20, kInt, 1}};
  REQUIRE(types.make_struct("inner", 24, i, &inner).ok());
  const FieldSpec o[] = {{"inner", 16, inner, 2}};
  REQUIRE(types.make_struct("outer", 80, o, &outer).ok());
  for (uint64_t element = 0; element < 3; ++element) {
    uint64_t position, offset;
    REQUIRE(types.position(outer, 3, element * 80 + 24, nullptr, &position));
    CHECK(position == element * 4);
    REQUIRE(types.offset(outer, 3, position, Representation::here(), &offset));
    CHECK(offset == element * 80 + 24);
    REQUIRE(types.offset(outer, 3, make_position(element * 4, kPastLeaf), Representation::here(), &offset));
    CHECK(offset == element * 80 + 32);
  }
}
