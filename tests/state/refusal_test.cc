// Lines that do not fit are refused with a message that says what and where, and nothing is changed.
#include "helper.h"

namespace {

struct Point {
  double x, y;
};
ELC_Type make_point(bool third) {
  const ELC_Field fields[] = {ELC_FIELD(Point, x), {third ? "z" : "y", offsetof(Point, y), ELC_DOUBLE, 1}};
  return ELC_Struct("struct Point", sizeof(Point), 2, fields);
}

struct Program {
  int n = 1;
  double x[3] = {1, 2, 3};
  int* p = &n;
  long big = 5;
};

// Registers a Program in main() with the help of `differently`, and tries the line; the data must stay as
// they are.
template <class F>
std::string refusal(Line& line, F differently) {
  new_process();
  Program data;
  data.n = 11, data.x[2] = 33, data.big = 55, data.p = nullptr;
  ELC_Enter("main");
  ELC_Set_label(1);
  differently(data);
  const std::string why = text(line.check());
  CHECK(why != "ok");
  CHECK(data.n == 11);
  CHECK(data.x[2] == 33);
  CHECK(data.big == 55);
  CHECK(data.p == nullptr);
  MESSAGE(why);
  return why;
}

}  // namespace

TEST_CASE("each misfit is refused before anything changes") {
  new_process();
  Program data;
  ELC_Enter("main");
  ELC_Set_label(1);
  int n = 1;
  double x[3] = {1, 2, 3};
  int* p = &n;
  long big = 5;
  ELC_VAR(n), ELC_VAR(x), ELC_PTR(p), ELC_VAR(big);
  Line line;
  elc::state::take_label();
  REQUIRE_OK(line.save());

  std::string why = refusal(line, [](Program& d) {
    ELC_Register("n", &d.n, ELC_INT, 1), ELC_Register("x", d.x, ELC_DOUBLE, 3),
        ELC_Register("big", &d.big, ELC_LONG, 1);
  });
  CHECK(contains(why, "'p'"));
  CHECK(contains(why, "main()"));

  why = refusal(line, [](Program& d) {
    ELC_Register("n", &d.n, ELC_INT, 1), ELC_Register("x", d.x, ELC_DOUBLE, 2),
        ELC_Register("p", &d.p, ELC_POINTER, 1);
    ELC_Register("big", &d.big, ELC_LONG, 1);
  });
  CHECK(contains(why, "'x' of main() is double[2] in the program, but double[3] in the line"));

  why = refusal(line, [](Program& d) {
    ELC_Register("n", &d.n, ELC_FLOAT, 1), ELC_Register("x", d.x, ELC_DOUBLE, 3),
        ELC_Register("p", &d.p, ELC_POINTER, 1);
    ELC_Register("big", &d.big, ELC_LONG, 1);
  });
  CHECK(contains(why, "'n' of main() is float in the program, but int in the line"));

  static int extra = 3;
  why = refusal(line, [](Program& d) {
    ELC_Register("n", &d.n, ELC_INT, 1), ELC_Register("x", d.x, ELC_DOUBLE, 3),
        ELC_Register("p", &d.p, ELC_POINTER, 1);
    ELC_Register("big", &d.big, ELC_LONG, 1), ELC_VAR(extra);
  });
  CHECK(contains(why, "'extra' (int) of main()"));

  why = refusal(line, [](Program&) { ELC_Leave(); });
  CHECK(contains(why, "taken in main"));

  why = refusal(line, [](Program&) { ELC_Enter("solve"); });
  CHECK(contains(why, "main > solve"));
}

// A line of a machine whose int has 64 bits, written by hand: an int "counter" with a value.
static Line line_of_a_wide_machine(long long value) {
  elc::format::Representation wide = elc::format::Representation::here();
  wide.width[elc::format::kInt] = 8;
  elc::format::WriterOptions options;
  options.representation = &wide;
  Line line;
  const auto append = [](void* context, const void* data, size_t size) {
    auto* bytes = static_cast<std::vector<uint8_t>*>(context);
    bytes->insert(bytes->end(), static_cast<const uint8_t*>(data), static_cast<const uint8_t*>(data) + size);
    return elc::Result();
  };
  elc::format::Writer writer(&elc::state::types(), {&line.bytes, append}, options);
  elc::Encoder& out = writer.encoder();
  writer.begin_section("vars");
  out.u32(1), out.u64(0), out.u64(0), out.u64(1);  // layout, frames, functions, variables
  out.u32(0), out.string("counter"), out.i32(ELC_INT), out.u64(1);
  REQUIRE_OK(writer.write_value(ELC_LLONG, &value, 1, {}));  // as 64 bits as the machine's int
  writer.end_section();
  writer.begin_section("heap");
  out.u32(1), out.u64(1), out.u64(0);  // layout, next id, runs
  writer.end_section();
  writer.begin_section("files");
  out.u32(1), out.boolean(false), out.boolean(false), out.boolean(false),
      out.u64(0);  // layout, terminals, streams
  writer.end_section();
  REQUIRE_OK(writer.finish());
  return line;
}

TEST_CASE("a value that does not fit this machine names its variable, and nothing is changed") {
  new_process();
  Line fitting = line_of_a_wide_machine(-12345), too_large = line_of_a_wide_machine(1LL << 40);
  int counter = 3;
  ELC_VAR(counter);
  const std::string why = text(too_large.restore());
  CHECK(contains(why, "'counter' of the globals"));
  CHECK(contains(why, "1099511627776"));
  CHECK(counter == 3);
  REQUIRE_OK(fitting.restore());
  CHECK(counter == -12345);
}

TEST_CASE("types of heap blocks") {
  new_process();
  ELC_Type point = make_point(false);
  Point* p = static_cast<Point*>(ELC_new(point, 3));
  ELC_PTR(p);
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  p = nullptr;
  ELC_PTR(p);
  std::string why = text(line.check());
  CHECK(contains(why, "'p' of the globals"));
  CHECK(contains(why, "struct Point"));
  CHECK(p == nullptr);
  new_process();
  make_point(true);
  ELC_PTR(p);
  why = text(line.check());
  CHECK(contains(why, "`y` in the file, `z` in the program"));

  new_process();  // no pointer leads to it
  point = make_point(false);
  ELC_new(point, 1);
  REQUIRE_OK(line.save());
  new_process();
  CHECK(contains(text(line.check()), "a heap block of 1 elements of struct Point"));
}

TEST_CASE("a hundred types that the program has not made: the message is that of the first") {
  new_process();
  struct One {
    int value;
  };
  constexpr int kTypes = 100;
  One* blocks[kTypes] = {};
  ELC_Register_pointer("blocks", blocks, kTypes, ELC_NO_TYPE);
  for (int i = 0; i < kTypes; ++i) {
    const ELC_Field field = ELC_FIELD(One, value);
    blocks[i] = static_cast<One*>(ELC_new(ELC_Struct(("type " + std::to_string(i)).c_str(), sizeof(One), 1, &field), 1));
  }
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  CHECK(contains(text(line.check()), "the program has made no type"));
  ELC_Register_pointer("blocks", blocks, kTypes, ELC_NO_TYPE);
  CHECK(text(line.check()) ==
        "'blocks' of the globals: [0]: it points to a heap block that cannot be restored: the program has made no type "
        "'type 0' (ELC_Struct, ELC_Union; OnStructureDef)");
}

TEST_CASE("bytes do not go to another machine") {
  new_process();
  struct Secret {
    int a;
    double b;
  } secret = {1, 2};
  ELC_RAW(secret);
  const elc::format::Representation machine = foreign_machine();
  Line line;
  REQUIRE_OK(line.save());
  REQUIRE_OK(line.restore());
  REQUIRE_OK(line.save(&machine));
  const std::string why = text(line.check());
  CHECK(contains(why, "'secret' of the globals"));
  CHECK(contains(why, "bytes"));
}

TEST_CASE("a function that the program no longer names") {
  new_process();
  static int (*compare)(const void*, const void*) = nullptr;
  static const auto by_size = [](const void*, const void*) { return 0; };
  compare = by_size;
  ELC_Register("compare", reinterpret_cast<void*>(&compare), ELC_FUNCTION, 1);
  ELC_Register_function("by_size", reinterpret_cast<void (*)()>(compare));
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  ELC_Register("compare", reinterpret_cast<void*>(&compare), ELC_FUNCTION, 1);
  const std::string why = text(line.check());
  CHECK(contains(why, "'compare' of the globals"));
  CHECK(contains(why, "ELC_FUNC(by_size)"));
  new_process();  // named, but no longer used: fine
  compare = nullptr;
  ELC_Register_function("by_size", reinterpret_cast<void (*)()>(+by_size));
  ELC_Register("compare", reinterpret_cast<void*>(&compare), ELC_FUNCTION, 1);
  REQUIRE_OK(line.save());
  new_process();
  ELC_Register("compare", reinterpret_cast<void*>(&compare), ELC_FUNCTION, 1);
  REQUIRE_OK(line.check());
}

TEST_CASE("a function that was left without ELC_Leave, and is called again") {
  new_process();
  int n = 1;
  Line line;
  const auto enter = [&n](int label) {
    ELC_Enter("solve");
    ELC_VAR(n);
    ELC_Set_label(label);
  };
  ELC_Enter("main");
  ELC_Set_label(1);
  enter(1);  // and returns
  ELC_Set_label(1);  // of main, as it thinks
  enter(2);
  elc::state::take_label();
  CHECK(contains(text(line.save()), "solve() was left without ELC_Leave"));
  ELC_Leave();
  ELC_Leave();
  ELC_Set_label(1);
  enter(2);
  elc::state::take_label();
  REQUIRE_OK(line.save());
}

TEST_CASE("a variable of another size than its type, as a pointer to a struct is") {
  new_process();
  const ELC_Type type = make_point(false);
  Point point = {1, 2};
  Point* const to_it = &point;
  double three[3] = {};
  CHECK(ELC_STRUCT(point, type) == ELC_OK);
  Line line;
  REQUIRE_OK(line.save());
  CHECK(ELC_STRUCT(to_it, type) == ELC_ERROR);
  CHECK(contains(text(line.save()), "'to_it' could not be registered"));
  new_process();
  CHECK(ELC_STRUCT(three, make_point(false)) == ELC_ERROR);
  CHECK(ELC_STRUCT(three, ELC_NO_TYPE) == ELC_ERROR);
}

TEST_CASE("memory of no type that has addresses in it") {
  new_process();
  struct Cell {
    long value;
    Cell* next;
  };
  Cell* first = static_cast<Cell*>(ELC_malloc(sizeof(Cell)));
  *first = {1, nullptr};
  ELC_PTR(first);
  Line line;
  REQUIRE_OK(line.save());
  first->next = static_cast<Cell*>(ELC_malloc(sizeof(Cell)));
  *first->next = {2, nullptr};
  CHECK(contains(text(line.save()), "bytes from ELC_malloc, of which no type is known, holds at byte"));
  const ELC_Field fields[] = {ELC_FIELD(Cell, value), ELC_POINTER_FIELD(Cell, next)};
  REQUIRE(ELC_Set_type(first, ELC_Struct("Cell", sizeof(Cell), 2, fields)) == ELC_OK);
  REQUIRE_OK(line.save());
}

TEST_CASE("registrations that cannot be") {
  new_process();
  int a[10] = {}, b = 0;
  CHECK(ELC_VAR(a) == ELC_OK);
  CHECK(ELC_VAR(a) == ELC_ERROR);                                  // twice
  CHECK(ELC_Register("a", &b, ELC_INT, 1) == ELC_ERROR);           // a name twice
  CHECK(ELC_Register("part", &a[3], ELC_INT, 1) == ELC_ERROR);     // overlap
  CHECK(ELC_Register("past", &a[9], ELC_DOUBLE, 1) == ELC_ERROR);  // overlap at the end
  CHECK(ELC_Register("none", nullptr, ELC_INT, 1) == ELC_ERROR);
  CHECK(ELC_Register("huge", &b, ELC_INT, SIZE_MAX / 2) == ELC_ERROR);
  CHECK(ELC_Register("odd", &b, 12345, 1) == ELC_ERROR);
  CHECK(ELC_Register(nullptr, &b, ELC_INT, 1) == ELC_ERROR);
  CHECK(ELC_Register("", &b, ELC_INT, 1) == ELC_ERROR);
  double* block = static_cast<double*>(ELC_malloc(80));
  CHECK(ELC_ARRAY(block, 10) == ELC_ERROR);
  for (const char* name : {"part", "past", "none", "huge", "odd", "", "block"}) {
    CHECK(contains(text(Line().save()), "could not be registered"));
    CHECK(ELC_Unregister(name) == ELC_OK);
  }
  CHECK(contains(text(Line().save()), "'a' could not be registered"));
  CHECK(ELC_Register("other", &b, ELC_INT, 1) == ELC_OK);
  CHECK(ELC_Unregister("other") == ELC_OK);
  ELC_Enter("main");
  CHECK(ELC_Register("a", &b, ELC_INT, 1) == ELC_OK);  // another scope
  Line line;
  ELC_Set_label(1);
  elc::state::take_label();
  REQUIRE_OK(line.save());
  CHECK(ELC_Register("inside", block + 2, ELC_DOUBLE, 1) == ELC_OK);
  CHECK(contains(text(line.save()), "'inside' of main() lies in a block of 80 bytes"));
  CHECK(ELC_Unregister("inside") == ELC_OK);
  CHECK(ELC_Register("global part", &a[2], ELC_INT, 2) == ELC_OK);
  CHECK(contains(text(line.save()), "'global part' of main() overlaps 'a' of the globals"));
  CHECK(ELC_Unregister("global part") == ELC_OK);
  static double shared[5];
  CHECK(ELC_VAR(shared) == ELC_OK);  // a static of a function that calls itself
  ELC_Enter("again");
  CHECK(ELC_VAR(shared) == ELC_OK);
  ELC_Set_label(1);
  ELC_Leave();
  ELC_Set_label(1);
  ELC_Enter("again");
  CHECK(ELC_VAR(shared) == ELC_OK);
  ELC_Set_label(1);
  REQUIRE_OK(line.save());
}

TEST_CASE("no line is taken without a variable that could not be registered, until it is") {
  const auto refused = [](const char* name) {
    const std::string why = text(Line().save());
    CAPTURE(why);
    CHECK(why.find(std::string("'") + name + "'") != std::string::npos);
    CHECK(contains(why, "could not be registered, so a line would not be whole"));
  };
  static int a[10], b[10], many[40];
  for (const bool among_many : {false, true}) {
    new_process();
    for (int i = 0; among_many && i < 40; ++i) REQUIRE(ELC_Register(("v" + std::to_string(i)).c_str(), &many[i], ELC_INT, 1) == ELC_OK);
    REQUIRE(ELC_ARRAY(a, 10) == ELC_OK);
    CHECK(ELC_ARRAY(a, 10) == ELC_ERROR);  // nothing is missing
    REQUIRE_OK(Line().save());
    CHECK(ELC_Register("a", b, ELC_INT, 10) == ELC_ERROR);
    refused("a");
    CHECK(ELC_Register("less", b, ELC_INT, 9) == ELC_OK);
    refused("a");
    CHECK(ELC_Unregister("less") == ELC_OK);
    CHECK(ELC_Register("b", b, ELC_INT, 10) == ELC_OK);
    REQUIRE_OK(Line().save());
    CHECK(ELC_Register("part", a + 5, ELC_INT, 5) == ELC_ERROR);
    refused("part");
    CHECK(ELC_Unregister("a") == ELC_OK);
    refused("part");
    CHECK(ELC_Register("part", a + 5, ELC_INT, 5) == ELC_OK);
    REQUIRE_OK(Line().save());
    CHECK(ELC_Register("late", nullptr, ELC_INT, 3) == ELC_ERROR);
    refused("late");
    CHECK(ELC_Register("late", a, ELC_INT, 5) == ELC_OK);
    REQUIRE_OK(Line().save());
    ELC_Enter("f");
    CHECK(ELC_Register("x", nullptr, ELC_INT, 3) == ELC_ERROR);
    ELC_Leave();
    refused("x");
    ELC_Enter("f");
    CHECK(ELC_Register("x", b, ELC_INT, 3) == ELC_OK);
    ELC_Leave();
    refused("x");
  }
}

TEST_CASE("what cannot be registered again and again, at other places") {
  new_process();
  static int a, many[300];
  REQUIRE(ELC_VAR(a) == ELC_OK);
  for (int& one : many) CHECK(ELC_Register("a", &one, ELC_INT, 1) == ELC_ERROR);
  REQUIRE(ELC_Register("many", many, ELC_INT, 300) == ELC_OK);
  CHECK(contains(text(Line().save()), "'a' and more could not be registered"));  // it does not know all of them any more
}

TEST_CASE("structs and unions that cannot be") {
  new_process();
  const ELC_Field twice[] = {{"a", 0, ELC_INT, 1}, {"b", 2, ELC_INT, 1}};
  CHECK(ELC_Struct("overlap", 16, 2, twice) == ELC_NO_TYPE);
  const ELC_Field outside[] = {{"a", 0, ELC_INT, 1}, {"b", 8, ELC_DOUBLE, 2}};
  CHECK(ELC_Struct("outside", 16, 2, outside) == ELC_NO_TYPE);
  const ELC_Field unknown[] = {{"a", 0, 777, 1}};
  CHECK(ELC_Struct("unknown", 16, 1, unknown) == ELC_NO_TYPE);
  const ELC_Field nameless[] = {{nullptr, 0, ELC_INT, 1}};
  CHECK(ELC_Struct("nameless", 16, 1, nameless) == ELC_NO_TYPE);
  CHECK(ELC_Struct(nullptr, 16, 1, twice) == ELC_NO_TYPE);
  CHECK(ELC_Union("no function", 16, 1, twice, nullptr) == ELC_NO_TYPE);
}

TEST_CASE("a line that is damaged or cut short is refused") {
  const uint64_t seed = test_seed("damage");
  Random random = {seed};
  new_process();
  ELC_Type point = make_point(false);
  Point* p = static_cast<Point*>(ELC_new(point, 100));
  int n = 4;
  ELC_PTR(p), ELC_VAR(n);
  Line line;
  REQUIRE_OK(line.save());
  for (int i = 0; i < 400; ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    Line damaged;
    damaged.bytes = line.bytes;
    if (random.below(4) == 0) {
      damaged.bytes.resize(random.below(damaged.bytes.size()));
    } else {
      damaged.bytes[random.below(damaged.bytes.size())] ^= static_cast<uint8_t>(1 + random.below(255));
    }
    n = 99;
    elc::format::Reader reader;
    elc::Result opened = damaged.open(&reader);
    if (opened.ok()) opened = reader.verify();
    CHECK_FALSE(opened.ok());
    (void)damaged.check();  // whatever it says, it may not crash or change anything
    CHECK(n == 99);
  }
}

TEST_CASE("a name that no reader takes is refused where it is registered") {
  new_process();
  const std::string longest(65536, 'n'), longer = longest + "n";
  int a = 1, b = 2;
  REQUIRE(ELC_Register(longest.c_str(), &a, ELC_INT, 1) == ELC_OK);
  CHECK(ELC_Register(longer.c_str(), &b, ELC_INT, 1) == ELC_ERROR);
  CHECK(ELC_Unregister(longer.c_str()) == ELC_OK);
  CHECK(ELC_Register_function(longer.c_str(), [] {}) == ELC_ERROR);
  CHECK(ELC_Enter(longer.c_str()) == ELC_ERROR);
  const ELC_Field field = {longest.c_str(), 0, ELC_INT, 1}, too_long = {longer.c_str(), 0, ELC_INT, 1};
  CHECK(ELC_Struct(longest.c_str(), sizeof(int), 1, &field) != ELC_NO_TYPE);
  CHECK(ELC_Struct(longer.c_str(), sizeof(int), 1, &field) == ELC_NO_TYPE);
  CHECK(ELC_Struct("s", sizeof(int), 1, &too_long) == ELC_NO_TYPE);
  Line line;
  REQUIRE_OK(line.save());
  REQUIRE_OK(line.check());
  ELC_fopen("/dev/null", ("r" + longest).c_str());  // the mode goes into the line
  CHECK(contains(text(line.save()), "65537 bytes"));
  ELC_fcloseall();
}
