// Pointers and the heap.
#include <sys/mman.h>
#include <time.h>

#include <memory>

#include "elc_program.h"
#include "helper.h"
#include "state/asked.h"
#include "state/blocks.h"
#include "state/process.h"

namespace {

struct Node {
  int value;
  Node* next;
  Node* other;
};
ELC_Type make_node() {
  const ELC_Field fields[] = {ELC_FIELD(Node, value), ELC_POINTER_FIELD(Node, next),
                              ELC_POINTER_FIELD(Node, other)};
  return ELC_Struct("struct Node", sizeof(Node), 3, fields);
}

int add(int a, int b) { return a + b; }
int multiply(int a, int b) { return a * b; }

}  // namespace

TEST_CASE("pointers to everything a pointer can point to") {
  new_process();
  ELC_Type node = make_node();
  struct Roots {
    int scalar = 5;
    int array[10] = {};
    int* to_scalar;
    int* to_middle;
    int* past_end;
    int** to_pointer;
    Node* to_block;
    Node** to_field;
    int* into_block;
    double* raw;
    void* null = nullptr;
    int (*function)(int, int);
    void enter() {
      ELC_VAR(scalar), ELC_VAR(array), ELC_PTR(to_scalar), ELC_PTR(to_middle), ELC_PTR(past_end),
          ELC_PTR(to_pointer);
      ELC_PTR(to_block), ELC_PTR(to_field), ELC_PTR(into_block), ELC_PTR(raw), ELC_PTR(null);
      ELC_Register("function", reinterpret_cast<void*>(&function), ELC_FUNCTION, 1);
      ELC_FUNC(add), ELC_FUNC(multiply);
    }
  };
  Roots a;
  a.enter();
  Node* nodes = static_cast<Node*>(ELC_new(node, 5));
  for (int i = 0; i < 5; ++i)
    nodes[i].value = i * i, nodes[i].next = &nodes[(i + 3) % 5], nodes[i].other = nodes + 5;
  a.array[4] = 44;
  a.to_scalar = &a.scalar, a.to_middle = &a.array[4], a.past_end = a.array + 10, a.to_pointer = &a.to_middle;
  a.to_block = nodes, a.to_field = &nodes[3].other, a.into_block = &nodes[4].value;
  a.raw = static_cast<double*>(ELC_malloc(10 * sizeof(double)));
  for (int i = 0; i < 10; ++i) a.raw[i] = i;
  a.raw += 7;
  a.function = multiply;
  Line line;
  REQUIRE_OK(line.save());

  new_process();
  make_node();
  Roots b;
  memset(static_cast<void*>(&b), 0x5a, sizeof b);
  b.enter();
  REQUIRE_OK(line.restore());
  CHECK(b.scalar == 5);
  CHECK(b.to_scalar == &b.scalar);
  CHECK(b.to_middle == &b.array[4]);
  CHECK(b.past_end == b.array + 10);
  CHECK(b.to_pointer == &b.to_middle);
  CHECK(b.to_field == &b.to_block[3].other);
  CHECK(b.into_block == &b.to_block[4].value);
  CHECK(*b.into_block == 16);
  for (int i = 0; i < 5; ++i) CHECK(b.to_block[i].next == &b.to_block[(i + 3) % 5]);
  CHECK(b.to_block[0].other == b.to_block + 5);
  CHECK(b.raw[0] == 7);
  CHECK(b.raw[-7] == 0);
  CHECK(b.null == nullptr);
  CHECK(b.function(6, 7) == 42);
}

TEST_CASE("one past the end of a variable is not the variable of another type that follows") {
  new_process();
  struct Together {
    double first[4] = {1, 2, 3, 4};
    int second[2] = {5, 6};
    double* end = first + 4;
    int* begin = second;
  } a;
  static_assert(offsetof(Together, second) == 4 * sizeof(double));
  ELC_VAR(a.first), ELC_VAR(a.second), ELC_PTR(a.end), ELC_PTR(a.begin);
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  struct Apart {
    int second[2];
    double between;
    double first[4];
    double* end;
    int* begin;
  } b;
  ELC_Register("a.first", b.first, ELC_DOUBLE, 4), ELC_Register("a.second", b.second, ELC_INT, 2);
  ELC_Register_pointer("a.end", &b.end, 1, ELC_DOUBLE), ELC_Register_pointer("a.begin", &b.begin, 1, ELC_INT);
  REQUIRE_OK(line.restore());
  CHECK(b.end == b.first + 4);
  CHECK(b.begin == b.second);
}

// As begin_program of a program that elc-cc has prepared.
static void new_prepared_process() {
  new_process();
  elc::state::process().is_prepared = true;
  elc::state::process().apart = 16;
}

// Two ints side by side, such as the numbers of two neighbours, are one by chance where there is much memory; a number of as many bytes is not.
TEST_CASE("what consists of smaller numbers is an address only where something begins") {
  if (sizeof(void*) != 2 * sizeof(int)) return;
  struct Two {
    int a, b;
  };
  constexpr size_t kSize = 4096;
  for (const uint64_t there : {uint64_t{0x700000001000}, uint64_t{0x700080000000}}) {  // the lower half is what a program may count, or is not
    const auto place = static_cast<uintptr_t>(there);
    void* const memory = mmap(reinterpret_cast<void*>(place), kSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory == reinterpret_cast<void*>(place));
    for (const size_t inside : {0, 50}) {
      new_prepared_process();
      const auto two = static_cast<ELC_Type>(ELC_Struct("Two", sizeof(Two), 2, std::initializer_list<ELC_Field>{{"a", 0, ELC_INT, 1}, {"b", sizeof(int), ELC_INT, 1}}.begin()));
      REQUIRE(elc::state::process().heap.make_room());
      elc::state::process().heap.add(memory, kSize / 2, ELC_DOUBLE);
      const double* const number = static_cast<double*>(memory) + inside;
      for (const ELC_Type type : {ELC_Type{ELC_INT}, two, ELC_Type{ELC_LONG}}) {
        void* const block = ELC_new(type, 2);
        memcpy(block, &number, sizeof number);
        Line line;
        const elc::Result saved = line.save();
        CHECK(saved.ok() == (inside > 0 && static_cast<uint32_t>(place) < 1 << 28 && type != ELC_LONG));
        if (!saved.ok()) CHECK(contains(text(saved), "holds an address"));
        ELC_free(block);
      }
      elc::state::process().heap.remove(memory);  // which malloc has not made
    }
    REQUIRE(munmap(memory, kSize) == 0);
  }
}

struct Rows {
  double* vector;
  int* integers;
  char* text;
  long* longs;
  double** rows;
  void enter() { ELC_PTR(vector), ELC_PTR(integers), ELC_PTR(text), ELC_PTR(longs), ELC_PTR(rows); }
};

TEST_CASE("where blocks are kept apart, an array may count from 1") {
  const elc::format::Representation there = foreign_machine();
  for (const elc::format::Representation* machine : {static_cast<const elc::format::Representation*>(nullptr), &there}) {
    new_prepared_process();
    Rows a = {};
    a.enter();
    a.vector = static_cast<double*>(ELC_new(ELC_DOUBLE, 3)) - 1;
    a.integers = static_cast<int*>(ELC_new(ELC_INT, 5)) - 3;
    a.text = static_cast<char*>(ELC_new(ELC_CHAR, 7)) - 1;
    a.longs = static_cast<long*>(ELC_new(ELC_LONG, 2)) - 1;
    a.rows = static_cast<double**>(ELC_new(ELC_POINTER, 2)) - 1;
    for (int i = 1; i <= 2; ++i) {
      double* const row = static_cast<double*>(ELC_new(ELC_DOUBLE, 2)) - 1;
      row[1] = 10 * i + 1, row[2] = 10 * i + 2;
      a.rows[i] = row;
    }
    a.vector[3] = 3, a.integers[7] = 7, a.text[1] = 'a', a.longs[2] = 2;
    Line line;
    REQUIRE_OK(line.save(machine));

    new_prepared_process();
    Rows b = {};
    b.enter();
    REQUIRE_OK(line.restore());
    CHECK(b.vector[3] == 3);
    CHECK(b.integers[7] == 7);
    CHECK(b.text[1] == 'a');
    CHECK(b.longs[2] == 2);
    for (int i = 1; i <= 2; ++i) {
      CHECK(b.rows[i][1] == 10 * i + 1);
      CHECK(b.rows[i][2] == 10 * i + 2);
      CHECK(elc::state::process().heap.find(b.rows[i] + 1) != nullptr);
    }
    for (const void* block : std::initializer_list<const void*>{b.vector + 1, b.integers + 3, b.text + 1, b.longs + 1, b.rows + 1})
      CHECK(elc::state::process().heap.find(block) != nullptr);

    // A program that does not keep its blocks apart could not tell such a pointer in its own lines.
    new_process();
    b.enter();
    CHECK(contains(text(line.restore()), "before a block of memory: this program does not follow that"));
  }
}

TEST_CASE("what is before a block, but not by whole elements, or for elements of another type, or too far, is not before it") {
  new_prepared_process();
  Rows a = {};
  a.enter();
  double* const block = static_cast<double*>(ELC_new(ELC_DOUBLE, 3));
  const auto place = [&](intptr_t bytes) { return reinterpret_cast<uintptr_t>(block) - static_cast<uintptr_t>(bytes); };
  Line line;
  for (const intptr_t bytes : {4, 12, 7}) {
    a.vector = reinterpret_cast<double*>(place(bytes));
    REQUIRE_OK(line.save());
    CHECK(elc::state::process().blocks->encode(a.vector, ELC_DOUBLE).block == elc::format::kWildBlock);
  }
  CHECK(elc::state::process().blocks->encode(reinterpret_cast<void*>(place(8)), ELC_INT).block == elc::format::kWildBlock);
  CHECK(elc::state::process().blocks->encode(reinterpret_cast<void*>(place(8)), ELC_DOUBLE).block != elc::format::kWildBlock);
  if (sizeof(void*) == 8) {
    a.vector = reinterpret_cast<double*>(place(24));
    CHECK(contains(text(line.save()), "24 bytes before a block of memory"));
  }
  struct {
    double of_nobody, array[5];
  } variables = {};
  ELC_Register("array", variables.array, ELC_DOUBLE, 5);
  a.vector = variables.array - 1;
  CHECK(contains(text(line.save()), "8 bytes before 'array' of the globals"));
}

TEST_CASE("a restart sets a pointer before a block by whole elements alone, and no farther than there are addresses") {
  new_prepared_process();
  const elc::format::TypeTable& types = elc::state::types();
  const auto offset = [&types](elc::format::Kind kind, uint64_t leaves, uint64_t extra = 0) {
    uint64_t found = 0;
    const bool is = elc::state::offset_in(types, kind, 5, 3, elc::format::position_before(leaves) | elc::format::make_position(0, extra),
                                          elc::format::Representation::here(), &found);
    return is ? static_cast<int64_t>(found) : 1;
  };
  using namespace elc::format;
  CHECK(offset(kDouble, 1) == -8);
  CHECK(offset(kDouble, 2) == -16);
  CHECK(offset(kDouble, 300) == -2400);
  CHECK(offset(kDouble, 1, 4) == 1);
  CHECK(offset(kChar, 16) == -16);
  CHECK(offset(kDoubleComplex, 2) == -16);
  CHECK(offset(kDoubleComplex, 1) == 1);  // half of one
  CHECK(offset(kChar, kMaxLeaves / 2) == 1);
}

TEST_CASE("a pointer that was moved before a block by any distance is there in a restart, and in the lines of that") {
  const auto moved = [](const void* from, ptrdiff_t bytes) {
    const uintptr_t at = reinterpret_cast<uintptr_t>(from);
    return static_cast<double*>(ELC_Program_moved(reinterpret_cast<void*>(at), reinterpret_cast<void*>(at - static_cast<uintptr_t>(bytes))));
  };
  for (const bool in_two_steps : {false, true}) {
    new_prepared_process();
    Rows a = {}, b = {};
    a.enter();
    double *const other = static_cast<double*>(ELC_new(ELC_DOUBLE, 3000)), *const block = static_cast<double*>(ELC_new(ELC_DOUBLE, 3));
    const ptrdiff_t distance = 8 * (other < block ? block - (other + 100) : 5000);  // into the other one, or to where nothing is
    block[1] = 5;
    a.vector = in_two_steps ? moved(moved(block + 1, distance), 8) : moved(block, distance);
    Line line, later;
    REQUIRE_OK(line.save());
    for (Line* from : {&line, &later}) {
      new_prepared_process();
      b = {};
      b.enter();
      REQUIRE_OK(from->restore());
      CHECK(b.vector[distance / 8 + 1] == 5);
      CHECK(elc::state::process().heap.slots()[1].address - reinterpret_cast<uint8_t*>(b.vector) == distance);
      REQUIRE_OK(later.save());
    }
    new_process();
    b.enter();
    CHECK(contains(text(line.restore()), "before a block of memory"));
  }
  new_prepared_process();
  Rows a = {};
  a.enter();
  double* const block = static_cast<double*>(ELC_new(ELC_DOUBLE, 3));
  Line line;
  a.vector = moved(block, 100);
  CHECK(contains(text(line.save()), "100 bytes before a block of 24 bytes (double)"));
  a.vector = moved(block, -100);
  CHECK(contains(text(line.save()), "76 bytes behind a block of 24 bytes (double)"));
  a.vector = moved(block + 2, 16);
  REQUIRE_OK(line.save());
  const size_t known = elc::state::process().moved.size();
  for (double* const end : {block + 1, block + 3}) CHECK(moved(end, reinterpret_cast<uint8_t*>(end) - reinterpret_cast<uint8_t*>(block)) == block);
  CHECK(elc::state::process().moved.size() == known);  // not of what goes back to where its block begins
  a.vector = moved(block, 800);
  for (int i = 0; i < 20000; ++i) moved(block, 1000 + 8 * i);  // some are forgotten, but not this one
  REQUIRE_OK(line.save());
  ELC_free(block);
  REQUIRE_OK(line.save());  // of nothing any more
  CHECK(elc::state::process().moved.size() == 0);
}

TEST_CASE("a pointer to nothing between where another was moved and its block is so many elements before that, or may be of two and is refused") {
  new_prepared_process();
  Rows a = {};
  a.enter();
  double* const block = static_cast<double*>(ELC_new(ELC_DOUBLE, 3));
  const uintptr_t at = reinterpret_cast<uintptr_t>(block);
  ELC_Program_moved(block, reinterpret_cast<void*>(at - 80000000));
  a.vector = reinterpret_cast<double*>(at - 79999992);
  Line line;
  REQUIRE_OK(line.save());
  double* const other = static_cast<double*>(ELC_new(ELC_DOUBLE, 3));
  ELC_Program_moved(other, reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(other) - 88000000));
  Line none;
  CHECK(contains(text(none.save()), "between where two others were moved"));
  new_prepared_process();
  Rows b = {};
  b.enter();
  REQUIRE_OK(line.restore());
  CHECK(elc::state::process().heap.slots()[0].address - reinterpret_cast<uint8_t*>(b.vector) == 79999992);
  CHECK(ELC_Program_moves != 0);
}

TEST_CASE("a line looks at no memory that was freed") {
  new_prepared_process();
  const ELC_Field fields[] = {{"c", 0, ELC_CHAR, 1}, {"gap_at_1", 1, ELC_BYTE, 7}, {"d", 8, ELC_DOUBLE, 1}};
  const ELC_Type type = ELC_Struct("gap", 16, 3, fields);
  elc::state::process().types_with_gaps.at(static_cast<uint64_t>(type)) = type;
  REQUIRE(ELC_new(type, 1) != nullptr);
  ELC_free(ELC_new(type, size_t{4} << 20));  // so much goes back to the system
  Line line;
  REQUIRE_OK(line.save());
}

TEST_CASE("in front of a block no other ends, whatever its size and however it was made") {
  new_prepared_process();
  int roots = 0;
  ELC_VAR(roots);
  Random random = {test_seed("in front of a block")};
  std::vector<char*> blocks;
  for (int i = 0; i < 3000; ++i) {
    const size_t size = random.below(random.below(8) == 0 ? 5000 : 200);
    if (blocks.size() > 100 && random.below(2) == 0) {
      const size_t at = random.below(blocks.size());
      ELC_free(blocks[at]);
      blocks.erase(blocks.begin() + static_cast<ptrdiff_t>(at));
      continue;
    }
    void* made = nullptr;
    switch (random.below(4)) {
      case 0: made = ELC_malloc(size); break;
      case 1: made = ELC_calloc(size, 1); break;
      case 2: made = ELC_Program_aligned_alloc(size_t{8} << random.below(5), size); break;
      default:
        made = ELC_realloc(blocks.empty() ? nullptr : blocks.back(), size);
        if (!blocks.empty()) blocks.pop_back();
    }
    blocks.push_back(static_cast<char*>(made));
  }
  elc::state::process().heap.arrange();
  for (const elc::state::Block& block : elc::state::process().heap.slots()) memset(block.address, 0, block.size);
  Line line;
  REQUIRE_OK(line.save());
  for (const char* block : blocks)
    for (uintptr_t before = 1; before <= elc::state::process().apart; ++before) {
      const elc::format::PointerLeaf leaf = elc::state::process().blocks->encode(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(block) - before));
      CHECK(leaf.block == elc::state::process().blocks->encode(block).block);
      CHECK(leaf.position == elc::format::position_before(before));
    }
}

TEST_CASE("where a variable ends and another begins, a pointer leads to the one that begins with what it points to, else to the end") {
  struct Pair {
    int first;
    double second;
  };
  struct Other {
    int first;
    float second[3];
  };
  struct Outer {
    Pair pair;
    int more;
  };
  const ELC_Field of_pair[] = {ELC_FIELD(Pair, first), ELC_FIELD(Pair, second)};
  const ELC_Field of_other[] = {ELC_FIELD(Other, first), ELC_FIELD(Other, second)};
  enum What { kScalar, kPair, kOther, kOuter };
  struct Type {
    What what;
    ELC_Type scalar;
  };
  const auto number_of = [&](const Type& type) {
    const ELC_Type pair = ELC_Struct("struct Pair", sizeof(Pair), 2, of_pair);
    const ELC_Field of_outer[] = {ELC_TYPED_FIELD(Outer, pair, pair), ELC_FIELD(Outer, more)};
    return type.what == kScalar  ? type.scalar
           : type.what == kPair  ? pair
           : type.what == kOther ? ELC_Struct("struct Other", sizeof(Other), 2, of_other)
                                 : ELC_Struct("struct Outer", sizeof(Outer), 2, of_outer);
  };
  struct Case {
    Type before, variable;
    bool begins;
  };
  const Type integer = {kScalar, ELC_INT}, pair = {kPair, 0};
  for (const Case& test : {Case{integer, {kScalar, ELC_MPI_REQUEST}, true},  // as MPICH has it
                           Case{integer, integer, true}, Case{integer, pair, true}, Case{pair, pair, true}, Case{pair, {kOuter, 0}, true},
                           Case{integer, {kScalar, ELC_UINT}, false}, Case{integer, {kScalar, ELC_BYTE}, false},
                           Case{{kScalar, ELC_DOUBLE}, {kScalar, ELC_DOUBLE_COMPLEX}, false}, Case{pair, integer, false},
                           Case{pair, {kOther, 0}, false}, Case{pair, {kScalar, ELC_BYTE}, false},
                           Case{pair, {kScalar, ELC_MPI_REQUEST}, false}, Case{{kScalar, ELC_DOUBLE}, {kScalar, ELC_MPI_REQUEST}, false}}) {
    CAPTURE(test.before.what);
    CAPTURE(test.variable.what);
    CAPTURE(test.variable.scalar);
    alignas(16) char memory[128] = {}, elsewhere[128] = {};
    new_process();
    void* pointer = memory + 32;
    const ELC_Type before = number_of(test.before), variable = number_of(test.variable);
    const size_t size = ELC_Sizeof(before);
    ELC_Register("before", memory + 32 - size, before, 1);
    ELC_Register("variable", memory + 32, variable, 1);
    ELC_Register_pointer("pointer", &pointer, 1, before);
    Line line;
    REQUIRE_OK(line.save());
    new_process();
    number_of(test.before), number_of(test.variable);
    ELC_Register("before", elsewhere, before, 1);
    ELC_Register("variable", elsewhere + 64, variable, 1);
    ELC_Register_pointer("pointer", &pointer, 1, before);
    REQUIRE_OK(line.restore());
    CHECK(pointer == (test.begins ? elsewhere + 64 : elsewhere + size));
  }
}

// Where fields and elements follow each other without gaps, and have some in the restart.
TEST_CASE("one past an array in a struct is its end, where the next field, or element, is farther") {
  struct Close {
    double x;
    int v[2];
    float f;
    int more[3];
  };
  struct Apart {
    double x;
    int v[2];
    double gap;
    float f;
    int more[3];
    int gaps[6];
  };
  const ELC_Field close[] = {ELC_FIELD(Close, x), ELC_FIELD(Close, v), ELC_FIELD(Close, f), ELC_FIELD(Close, more)};
  const ELC_Field apart[] = {ELC_FIELD(Apart, x), ELC_FIELD(Apart, v), ELC_FIELD(Apart, f), ELC_FIELD(Apart, more)};
  static_assert(sizeof(Close) == offsetof(Close, more) + sizeof Close{}.more);
  int* ends[4];
  float* to_float;
  double* to_next;
  char* to_character;
  const auto enter = [&] {
    ELC_Register_pointer("ends", ends, 4, ELC_INT);
    ELC_Register_pointer("to_float", &to_float, 1, ELC_FLOAT), ELC_Register_pointer("to_next", &to_next, 1, ELC_DOUBLE);
    ELC_Register_pointer("to_character", &to_character, 1, ELC_CHAR);
  };
  new_process();
  Close global[2] = {};
  ELC_Register("global", global, ELC_Struct("struct S", sizeof(Close), 4, close), 2);
  Close* block = static_cast<Close*>(ELC_calloc(2, sizeof(Close)));
  ELC_Set_type(block, ELC_Struct("struct S", sizeof(Close), 4, close));
  ELC_Register_pointer("block", &block, 1, ELC_Struct("struct S", sizeof(Close), 4, close));
  ends[0] = global[0].v + 2, ends[1] = global[0].more + 3, ends[2] = block[1].v + 2, ends[3] = block[1].more + 3;
  to_float = &global[1].f, to_next = &global[1].x, to_character = reinterpret_cast<char*>(&global[1]);
  enter();
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  Apart other[2] = {}, *there = nullptr;
  ELC_Register("global", other, ELC_Struct("struct S", sizeof(Apart), 4, apart), 2);
  ELC_Register_pointer("block", &there, 1, ELC_Struct("struct S", sizeof(Apart), 4, apart));
  enter();
  REQUIRE_OK(line.restore());
  CHECK((ends[0] == other[0].v + 2 && ends[1] == other[0].more + 3 && ends[2] == there[1].v + 2 && ends[3] == there[1].more + 3));
  CHECK((to_float == &other[1].f && to_next == &other[1].x && to_character == reinterpret_cast<char*>(&other[1])));
}

TEST_CASE("integers on the heap are what the pointers of the program say, where the line has other lengths") {
  new_process();
  long* a[4];
  const elc::format::Representation there = foreign_machine();
  ELC_Register_pointer("a", a, 4, ELC_LONG);
  for (int i = 0; i < 4; ++i) {
    a[i] = static_cast<long*>(ELC_malloc(3 * sizeof(long)));
    for (int k = 0; k < 3; ++k) a[i][k] = -10 * i - k;
  }
  Line line;
  REQUIRE_OK(line.save(&there));

  // As wchar_t, which is a long of 4 bytes there and an int here.
  new_process();
  int* b[4];
  ELC_Register_pointer("a", b, 4, ELC_INT);
  REQUIRE_OK(line.restore());
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) CHECK(b[i][k] == -10 * i - k);
  b[0] = static_cast<int*>(ELC_resize(b[0], 4));
  CHECK(b[0][2] == -2);
  CHECK(b[0][3] == 0);

  new_process();
  long* c[4];
  ELC_Register_pointer("a", c, 4, ELC_LONG);
  REQUIRE_OK(line.restore());
  for (int i = 0; i < 4; ++i)
    for (int k = 0; k < 3; ++k) CHECK(c[i][k] == -10 * i - k);
}

TEST_CASE("of blocks side by side those are other integers that pointers say so of; pointers that disagree are told") {
  new_process();
  long *first, *second, *third, *again;
  const elc::format::Representation there = foreign_machine();
  ELC_PTR(first), ELC_PTR(second), ELC_PTR(third), ELC_PTR(again);
  for (long** block : {&first, &second, &third}) {
    *block = static_cast<long*>(ELC_malloc(2 * sizeof(long)));
    (*block)[0] = (*block)[1] = 7 + (block == &second);
  }
  again = second + 1;
  Line line;
  REQUIRE_OK(line.save(&there));

  new_process();
  int *other, *other_again;
  ELC_PTR(first), ELC_PTR(third);
  ELC_Register_pointer("second", &other, 1, ELC_INT), ELC_Register_pointer("again", &other_again, 1, ELC_INT);
  REQUIRE_OK(line.restore());
  CHECK(first[1] == 7);
  CHECK(other[0] == 8);
  CHECK(other[1] == 8);
  CHECK(other_again == other + 1);
  CHECK(third[0] == 7);

  new_process();
  ELC_PTR(first), ELC_PTR(third), ELC_PTR(again);
  short* narrow;
  ELC_Register_pointer("second", &narrow, 1, ELC_SHORT);
  const std::string why = text(line.check());
  CHECK(contains(why, "a heap block of 2 elements of long: to one pointer of the program each has"));
}

TEST_CASE("of many blocks side by side those are other integers that pointers say so of, and all pointers find theirs") {
  constexpr int kBlocks = 300;
  const elc::format::Representation there = foreign_machine();
  static long *longs[kBlocks], *into[kBlocks];
  static int* ints[kBlocks];
  new_process();
  ELC_Register_pointer("longs", longs, kBlocks, ELC_LONG);
  ELC_Register_pointer("ints", ints, kBlocks, ELC_LONG);
  ELC_Register_pointer("into", into, kBlocks, ELC_NO_TYPE);
  for (int i = 0; i < kBlocks; ++i) {
    long* block = static_cast<long*>(ELC_new(ELC_LONG, 3));
    for (int k = 0; k < 3; ++k) block[k] = 10 * i + k;
    const bool is_int = i % 3 == 1 || i > kBlocks - 20;
    longs[i] = is_int ? nullptr : block;
    ints[i] = is_int ? reinterpret_cast<int*>(block) : nullptr;
    into[i] = block + i % 4;
  }
  Line line;
  REQUIRE_OK(line.save(&there));

  new_process();
  memset(longs, 1, sizeof longs), memset(ints, 1, sizeof ints), memset(into, 1, sizeof into);
  ELC_Register_pointer("longs", longs, kBlocks, ELC_LONG);
  ELC_Register_pointer("ints", ints, kBlocks, ELC_INT);
  ELC_Register_pointer("into", into, kBlocks, ELC_NO_TYPE);
  REQUIRE_OK(line.restore());
  for (int i = 0; i < kBlocks; ++i) {
    const bool is_int = i % 3 == 1 || i > kBlocks - 20;
    REQUIRE((longs[i] != nullptr) == !is_int);
    REQUIRE((ints[i] != nullptr) == is_int);
    for (int k = 0; k < 3; ++k) CHECK((is_int ? ints[i][k] : longs[i][k]) == 10 * i + k);
    CHECK(into[i] == (is_int ? reinterpret_cast<long*>(ints[i] + i % 4) : longs[i] + i % 4));
  }
}

TEST_CASE("one past the end of a block is not the block that follows, nor the other way round") {
  new_process();
  static int memory[20];
  int* end = memory + 10;
  ELC_Register("low", memory, ELC_INT, 10);
  ELC_PTR(end);
  Line line;
  REQUIRE_OK(line.save());  // nothing follows: one past
  new_process();
  int other[10];
  ELC_Register("low", other, ELC_INT, 10);
  ELC_PTR(end);
  REQUIRE_OK(line.restore());
  CHECK(end == other + 10);

  new_process();
  end = memory + 10;
  ELC_Register("low", memory, ELC_INT, 10);
  ELC_Register("high", memory + 10, ELC_INT, 10);
  ELC_PTR(end);
  REQUIRE_OK(line.save());  // the beginning of what follows
  new_process();
  int high[10];
  ELC_Register("low", other, ELC_INT, 10);
  ELC_Register("high", high, ELC_INT, 10);
  ELC_PTR(end);
  REQUIRE_OK(line.restore());
  CHECK(end == high);
}

TEST_CASE("wild pointers are tolerated, and show themselves when used") {
  new_process();
  static int unknown[3];
  int *wild = &unknown[1], *fine = nullptr;
  int (*function)(int, int) = add;  // not registered
  ELC_PTR(wild), ELC_PTR(fine), ELC_Register("function", reinterpret_cast<void*>(&function), ELC_FUNCTION, 1);
  Line line;
  REQUIRE_OK(line.save());
  REQUIRE_OK(line.restore());
  CHECK(wild != nullptr);
  CHECK(wild != &unknown[1]);
  CHECK(reinterpret_cast<uintptr_t>(wild) > UINTPTR_MAX - 4096);
  CHECK(fine == nullptr);
  CHECK((function == add) == false);
  CHECK(elc::state::address_of(elc::state::locate(wild)) == nullptr);
}

TEST_CASE("addresses of the layer above") {
  new_process();
  double buffer[50] = {};
  ELC_VAR(buffer);
  double* block = static_cast<double*>(ELC_malloc(80));
  ELC_PTR(block);
  Line line;
  REQUIRE_OK(line.save());
  const auto in_variable = elc::state::locate(&buffer[20]), in_block = elc::state::locate(block + 3);
  new_process();
  double moved[50];
  ELC_Register("buffer", moved, ELC_DOUBLE, 50);
  ELC_PTR(block);
  REQUIRE_OK(line.restore());
  CHECK(elc::state::address_of(in_variable) == &moved[20]);
  CHECK(elc::state::address_of(in_block) == block + 3);
  CHECK(elc::state::address_of({0, 0}) == nullptr);
  CHECK(elc::state::address_of({999, 0}) == nullptr);
}

TEST_CASE("heap: sizes of nothing, growth, types") {
  new_process();
  ELC_Type node = make_node();
  void* empty = ELC_malloc(0);
  REQUIRE(empty != nullptr);
  int* grown = static_cast<int*>(ELC_realloc(nullptr, 4 * sizeof(int)));
  REQUIRE(ELC_Set_type(grown, ELC_INT) == ELC_OK);
  for (int i = 0; i < 4; ++i) grown[i] = i + 1;
  grown = static_cast<int*>(ELC_realloc(grown, 100000 * sizeof(int)));
  grown[99999] = 5;
  Node* list = static_cast<Node*>(ELC_new(node, 2));
  list = static_cast<Node*>(ELC_resize(list, 3000));
  CHECK(list[2999].next == nullptr);
  list[2999].next = &list[1];
  char* zeroed = static_cast<char*>(ELC_calloc(10, 10));
  CHECK(zeroed[99] == 0);
  ELC_free(malloc(10));  // not ours: libc's
  ELC_free(nullptr);
  char* mixed = static_cast<char*>(ELC_malloc(sizeof(Node) + 5));  // an element and a rest
  REQUIRE(ELC_Set_type(mixed, node) == ELC_OK);
  CHECK(ELC_Set_type(mixed, 9999) == ELC_ERROR);
  CHECK(ELC_Set_type(&node, ELC_INT) == ELC_ERROR);
  memcpy(mixed + sizeof(Node), "rest", 5);
  char* rest = mixed + sizeof(Node) + 2;
  memset(mixed, 0, sizeof(Node));
  ELC_PTR(empty), ELC_PTR(grown), ELC_PTR(list), ELC_PTR(zeroed), ELC_PTR(mixed), ELC_PTR(rest);
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  make_node();
  empty = nullptr, grown = nullptr, list = nullptr, zeroed = mixed = rest = nullptr;
  ELC_PTR(empty), ELC_PTR(grown), ELC_PTR(list), ELC_PTR(zeroed), ELC_PTR(mixed), ELC_PTR(rest);
  REQUIRE_OK(line.restore());
  REQUIRE(empty != nullptr);
  CHECK(grown[3] == 4);
  CHECK(grown[99999] == 5);
  CHECK(list[2999].next == &list[1]);
  CHECK(zeroed[99] == 0);
  CHECK(strcmp(mixed + sizeof(Node), "rest") == 0);
  CHECK(rest == mixed + sizeof(Node) + 2);
  // The restored blocks are ordinary blocks.
  list = static_cast<Node*>(ELC_resize(list, 1));
  ELC_free(list), ELC_free(empty), ELC_free(grown);
  REQUIRE_OK(line.save());
}

TEST_CASE("blocks that the set-up makes again are restored in place") {
  new_process();
  double* field = static_cast<double*>(ELC_new(ELC_DOUBLE, 100));
  int* grows = static_cast<int*>(ELC_new(ELC_INT, 10));
  double* later = nullptr;
  ELC_PTR(field), ELC_PTR(grows), ELC_PTR(later);
  grows = static_cast<int*>(ELC_resize(grows, 5000));
  grows[4999] = 1;
  later = static_cast<double*>(ELC_new(ELC_DOUBLE, 7));
  field[99] = 3.5, later[6] = 2.5;
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  field = static_cast<double*>(ELC_new(ELC_DOUBLE, 100));
  grows = static_cast<int*>(ELC_new(ELC_INT, 10));
  later = nullptr;
  double* unregistered = field;
  ELC_PTR(field), ELC_PTR(grows), ELC_PTR(later);
  REQUIRE_OK(line.restore());
  CHECK(field == unregistered);
  CHECK(field[99] == 3.5);
  CHECK(grows[4999] == 1);
  CHECK(later[6] == 2.5);
}

TEST_CASE("a block of bytes has the type of the pointer to it") {
  new_process();
  double* x = static_cast<double*>(ELC_malloc(10 * sizeof(double)));
  for (int i = 0; i < 10; ++i) x[i] = 1.0 / (i + 1);
  ELC_PTR(x);
  const elc::format::Representation machine = foreign_machine();
  Line line;
  REQUIRE_OK(line.save(&machine));
  new_process();
  x = nullptr;
  ELC_PTR(x);
  REQUIRE_OK(line.restore());
  CHECK(x[9] == 0.1);

  new_process();  // pointers that disagree leave it bytes
  x = static_cast<double*>(ELC_malloc(10 * sizeof(double)));
  memset(x, 0, 80);
  int* y = reinterpret_cast<int*>(x);
  ELC_PTR(x), ELC_PTR(y);
  REQUIRE_OK(line.save(&machine));
  const std::string why = text(line.restore());
  CHECK(contains(why, "'x'"));
  CHECK(contains(why, "byte"));
}

namespace {

// A random graph of blocks of random kinds whose pointers go anywhere, and its shape as numbers.
struct Graph {
  struct Item {
    Node* nodes;
    uint64_t count;
  };
  std::vector<Item> items;
  Node local[7];
  Node* root;

  void enter(ELC_Type node) {
    ELC_STRUCT(local, node);
    ELC_PTR(root);
  }
  Node* anywhere(Random& random) {
    const uint64_t i = random.below(items.size() + 1);
    if (random.below(10) == 0) return nullptr;
    if (i == items.size()) return &local[random.below(8)];
    return items[i].nodes + random.below(items[i].count + 1);
  }
  void fill(Random& random, Node* nodes, uint64_t count) {
    for (uint64_t k = 0; k < count; ++k)
      nodes[k] = {static_cast<int>(random.next()), anywhere(random), anywhere(random)};
  }
  void build(Random& random, ELC_Type node) {
    for (uint64_t i = 0, n = 1 + random.below(300); i < n; ++i) {
      const uint64_t count = 1 + random.below(5);
      items.push_back({static_cast<Node*>(ELC_new(node, count)), count});
      if (random.below(4) == 0) {
        const uint64_t gone = random.below(items.size());
        ELC_free(items[gone].nodes);
        items.erase(items.begin() + static_cast<long>(gone));
      }
    }
    for (Item& item : items) fill(random, item.nodes, item.count);
    fill(random, local, 7);
    root = anywhere(random);
  }
};

// Walks two graphs at once: same values, same shape.
bool equal(const Graph& a, const Graph& b, const Node* root_a, const Node* root_b) {
  std::vector<std::pair<const Node*, const Node*>> todo = {{root_a, root_b}};
  for (int i = 0; i < 7; ++i) todo.push_back({&a.local[i], &b.local[i]});
  std::vector<std::pair<const Node*, const Node*>> seen;
  const auto block_of = [](const Graph& g, const Node* n) -> const Graph::Item* {
    for (const Graph::Item& item : g.items)
      if (n >= item.nodes && n < item.nodes + item.count) return &item;
    return nullptr;
  };
  while (!todo.empty()) {
    const auto [x, y] = todo.back();
    todo.pop_back();
    if ((x == nullptr) != (y == nullptr)) return false;
    if (x == nullptr) continue;
    if (x >= a.local && x <= a.local + 7) {
      if (x - a.local != y - b.local) return false;
      if (x == a.local + 7) continue;
    } else if (block_of(a, x) == nullptr) {
      continue;  // one past the end
    }
    bool known = false;
    for (const auto& [s, t] : seen)
      if (s == x || t == y) {
        if (s != x || t != y) return false;
        known = true;
      }
    if (known) continue;
    seen.push_back({x, y});
    if (x->value != y->value) return false;
    todo.push_back({x->next, y->next});
    todo.push_back({x->other, y->other});
  }
  return true;
}

}  // namespace

TEST_CASE("random graphs, saved and restored again and again") {
  const uint64_t seed = test_seed("random graphs");
  Random random = {seed};
  const elc::format::Representation machine = foreign_machine();
  for (int round = 0; round < 60; ++round) {
    CAPTURE(seed);
    CAPTURE(round);
    new_process();
    auto before = std::make_unique<Graph>();
    ELC_Type node = make_node();
    before->enter(node);
    before->build(random, node);
    Line line;
    REQUIRE_OK(line.save(random.below(2) == 0 ? &machine : nullptr));
    elc::state::reset();  // the blocks stay, to compare with
    new_process();
    auto after = std::make_unique<Graph>();
    after->enter(make_node());
    REQUIRE_OK(line.restore());
    REQUIRE(equal(*before, *after, before->root, after->root));
    Line again;
    REQUIRE_OK(again.save());
    Line third;
    new_process();
    auto last = std::make_unique<Graph>();
    last->enter(make_node());
    REQUIRE_OK(again.restore());
    REQUIRE(equal(*before, *last, before->root, last->root));
    REQUIRE_OK(third.save());
    REQUIRE(third.bytes == again.bytes);
  }
}

TEST_CASE("a million linked nodes") {
  const auto seconds = [] {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
  };
  new_process();
  ELC_Type node = make_node();
  constexpr int kNodes = 1000000;
  Node* head = nullptr;
  std::vector<Node*> all;
  Random random = {7};
  double start = seconds();
  for (int i = 0; i < kNodes; ++i) {
    Node* n = static_cast<Node*>(ELC_new(node, 1));
    *n = {i, head, i == 0 ? nullptr : all[random.below(all.size())]};
    head = n;
    all.push_back(n);
  }
  ELC_PTR(head);
  printf("a million nodes: made in %.3f s\n", seconds() - start);
  Line line;
  start = seconds();
  REQUIRE_OK(line.save());
  printf("a million nodes: first save %.3f s, %.1f MB\n", seconds() - start,
         static_cast<double>(line.bytes.size()) * 1e-6);
  start = seconds();
  REQUIRE_OK(line.save());
  printf("a million nodes: second save %.3f s\n", seconds() - start);
  new_process();
  make_node();
  head = nullptr;
  ELC_PTR(head);
  start = seconds();
  REQUIRE_OK(line.restore());
  printf("a million nodes: restored in %.3f s\n", seconds() - start);
  int count = 0;
  bool right = true;
  for (const Node *n = head, *old = all.back(); n != nullptr; n = n->next, old = old->next) {
    right = right && n->value == kNodes - 1 - count++ && n != old;
    if (n->other != nullptr) right = right && n->other->value == old->other->value;
  }
  CHECK(right);
  CHECK(count == kNodes);
}

TEST_CASE("memory that is all 0 is gone over, and nothing that is not") {
  constexpr uint64_t kLength = 40;
  for (uint64_t other = 0; other <= kLength; ++other) {  // the one byte that is not 0; kLength: there is none
    uint8_t bytes[kLength] = {};
    if (other < kLength) bytes[other] = 1;
    for (const uint64_t size : {4, 8})
      for (uint64_t at = 0; at <= other && at < kLength; ++at) {
        const bool is_near = other - at < size;  // then nothing is gone over
        CHECK(elc::state::behind_zeros(bytes, at, kLength, size) == (is_near ? at : other - size + 1));
      }
  }
}
