// Programs that have changed since the line was taken: each change, and what becomes of it. Strictly, each is refused.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>

#include "helper.h"

namespace {

// Registered by both programs as the cases say; what they are is of the program at hand.
union {
  bool b[64];
  char c[64];
  short h[64];
  unsigned short uh[64];
  int i[64];
  unsigned u[64];
  long l[64];
  int64_t l64[64];
  uint64_t u64[64];
  float f[64];
  double d[64];
  float grid_f[4][8];
  double grid[4][8];
  int64_t any[128];
} x, y;
void* p;
int* ip;
int64_t* lp;
double* dp;
float* fp;

void reg(const char* name, void* address, ELC_Type type, size_t count) { REQUIRE(ELC_Register(name, address, type, count) == ELC_OK); }
void pointer(const char* name, void* address, size_t count, ELC_Type to) { REQUIRE(ELC_Register_pointer(name, address, count, to) == ELC_OK); }
void shape(const char* name, void* address, ELC_Type type, std::initializer_list<size_t> extents) {
  REQUIRE(ELC_Register_shape(name, address, type, static_cast<int>(extents.size()), extents.begin()) == ELC_OK);
}
ELC_Type pair_of(ELC_Type a, ELC_Type b, size_t size_a, size_t size_b) {
  const ELC_Field fields[] = {{"a", 0, a, 1}, {"b", size_a, b, 1}};
  return ELC_Struct("pair", size_a + size_b, 2, fields);
}

using Step = std::function<void()>;
struct Case {
  const char* what;
  Step before, after;       // registers, with the values that the line has, or that the set-up has
  const char* outcome;      // "=": nothing to tell; "+TEXT": restored, and that is told; "-TEXT": refused
  std::function<bool()> right = [] { return true; };  // behind the restart
  bool strictly_too = false;  // also with ELC_STRICT
};

const Case kCases[] = {
    {"nothing", [] { x.i[0] = 5, reg("x", x.i, ELC_INT, 3); }, [] { reg("x", x.i, ELC_INT, 3); }, "=", [] { return x.i[0] == 5; }, true},
    {"another order", [] { x.i[0] = 5, y.i[0] = 6, reg("x", x.i, ELC_INT, 1), reg("y", y.i, ELC_INT, 1); },
     [] { reg("y", y.i, ELC_INT, 1), reg("x", x.i, ELC_INT, 1); }, "=", [] { return x.i[0] == 5 && y.i[0] == 6; }, true},
    // ---- Variables that are new, gone, renamed ----
    {"a new scalar", [] { x.i[0] = 5, reg("x", x.i, ELC_INT, 1); },
     [] { y.d[0] = 2.5, reg("x", x.i, ELC_INT, 1), reg("y", y.d, ELC_DOUBLE, 1); },
     "+'y' (double) of the globals is not in the line: it keeps the value of the set-up", [] { return x.i[0] == 5 && y.d[0] == 2.5; }},
    {"a new array", [] { reg("x", x.i, ELC_INT, 1); }, [] { y.i[63] = 9, reg("x", x.i, ELC_INT, 1), reg("y", y.i, ELC_INT, 64); },
     "+'y' (int[64]) of the globals is not in the line", [] { return y.i[63] == 9; }},
    {"a new pointer", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("x", x.i, ELC_INT, 1), reg("p", &p, ELC_POINTER, 1); },
     "-the program has registered 'p' (pointer) of the globals, which the line does not have"},
    {"a variable that is gone", [] { x.i[0] = 5, reg("x", x.i, ELC_INT, 1), reg("y", y.d, ELC_DOUBLE, 4); }, [] { reg("x", x.i, ELC_INT, 1); },
     "+the line has 'y' (double[4]) of the globals, which the program has not registered: it is left out", [] { return x.i[0] == 5; }},
    {"the first variable is gone", [] { y.i[0] = 7, reg("x", x.d, ELC_DOUBLE, 9), reg("y", y.i, ELC_INT, 2); }, [] { reg("y", y.i, ELC_INT, 2); },
     "+the line has 'x'", [] { return y.i[0] == 7; }},
    {"a pointer that is gone", [] { p = &x, reg("x", x.i, ELC_INT, 1), reg("p", &p, ELC_POINTER, 1); }, [] { reg("x", x.i, ELC_INT, 1); },
     "+the line has 'p' (pointer)"},
    {"a variable that is gone, to which a pointer leads", [] { p = y.d, reg("p", &p, ELC_POINTER, 1), reg("y", y.d, ELC_DOUBLE, 4); },
     [] { reg("p", &p, ELC_POINTER, 1); }, "-it points to 'y' of the globals, which the program has not registered any more"},
    {"one is gone and another new", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("y", y.i, ELC_INT, 1); },
     "-if they are the same, say ELC_WAS(\"x\") right before it is registered, and ELC_WAS(\"\") if it is new"},
    {"the same, of other types", [] { reg("x", x.i, ELC_INT, 1); }, [] { y.d[0] = 3, reg("y", y.d, ELC_DOUBLE, 1); }, "+the line has 'x'",
     [] { return y.d[0] == 3; }},
    {"the same, of other lengths", [] { reg("x", x.i, ELC_INT, 2); }, [] { y.i[0] = 3, reg("y", y.i, ELC_INT, 1); }, "+the line has 'x'",
     [] { return y.i[0] == 3; }},
    {"the same, and wider", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("y", y.l64, ELC_INT64, 1); }, "-say ELC_WAS(\"x\")"},
    {"renamed", [] { x.i[0] = 5, reg("x", x.i, ELC_INT, 1); }, [] { ELC_WAS("x"), reg("y", y.i, ELC_INT, 1); },
     "+'y' of the globals is 'x' in the line", [] { return y.i[0] == 5; }},
    {"renamed and wider", [] { x.i[0] = -5, reg("x", x.i, ELC_INT, 1); }, [] { ELC_WAS("x"), reg("y", y.l64, ELC_INT64, 1); },
     "+'y' of the globals is 'x' in the line", [] { return y.l64[0] == -5; }},
    {"renamed, one of two", [] { x.i[0] = 5, y.i[0] = 6, reg("x", x.i, ELC_INT, 1), reg("y", y.i, ELC_INT, 1); },
     [] { ELC_WAS("x"), reg("z", x.i, ELC_INT, 1), reg("y", y.i, ELC_INT, 1); }, "+'z'", [] { return x.i[0] == 5 && y.i[0] == 6; }},
    {"two change their names", [] { x.i[0] = 5, y.i[0] = 6, reg("x", x.i, ELC_INT, 1), reg("y", y.i, ELC_INT, 1); },
     [] { ELC_WAS("y"), reg("b", y.i, ELC_INT, 1), ELC_WAS("x"), reg("a", x.i, ELC_INT, 1); }, "+'a' of the globals is 'x'",
     [] { return x.i[0] == 5 && y.i[0] == 6; }},
    {"a line of the new name", [] { x.i[0] = 5, reg("y", x.i, ELC_INT, 1); }, [] { ELC_WAS("x"), reg("y", y.i, ELC_INT, 1); }, "=",
     [] { return y.i[0] == 5; }, true},
    {"a line of both names", [] { reg("x", x.i, ELC_INT, 1), reg("y", y.i, ELC_INT, 1); }, [] { ELC_WAS("x"), reg("y", y.i, ELC_INT, 1); },
     "-the line has both 'x' and 'y', which ELC_WAS makes one variable of the program"},
    {"a name that no line had", [] { reg("x", x.i, ELC_INT, 1); },
     [] { reg("x", x.i, ELC_INT, 1), ELC_WAS("z"), y.i[0] = 4, reg("y", y.i, ELC_INT, 1); }, "+'y' (int) of the globals is not in the line",
     [] { return y.i[0] == 4; }},
    {"one is gone, another is said to be new", [] { reg("x", x.i, ELC_INT, 1); }, [] { ELC_WAS(""), y.i[0] = 8, reg("y", y.i, ELC_INT, 1); },
     "+the line has 'x'", [] { return y.i[0] == 8; }},
    {"a pointer to what was renamed", [] { p = x.i + 2, reg("p", &p, ELC_POINTER, 1), reg("x", x.i, ELC_INT, 4); },
     [] { reg("p", &p, ELC_POINTER, 1), ELC_WAS("x"), reg("y", y.i, ELC_INT, 4); }, "+'y'", [] { return p == y.i + 2; }},
    // ---- Arrays ----
    {"an array has grown", [] { x.i[4] = 5, reg("x", x.i, ELC_INT, 5); }, [] { x.i[7] = 77, reg("x", x.i, ELC_INT, 8); },
     "+'x' of the globals is int[8] in the program, and int[5] in the line: the other elements keep the values of the set-up",
     [] { return x.i[4] == 5 && x.i[7] == 77; }},
    {"a scalar has become an array", [] { x.d[0] = 5, reg("x", x.d, ELC_DOUBLE, 1); }, [] { x.d[1] = 7, reg("x", x.d, ELC_DOUBLE, 2); },
     "+'x' of the globals is double[2] in the program", [] { return x.d[0] == 5 && x.d[1] == 7; }},
    {"an array of characters has grown", [] { memcpy(x.c, "abc", 4), reg("x", x.c, ELC_CHAR, 4); }, [] { reg("x", x.c, ELC_CHAR, 64); }, "+'x'",
     [] { return strcmp(x.c, "abc") == 0; }},
    {"an array is shorter", [] { reg("x", x.i, ELC_INT, 5); }, [] { reg("x", x.i, ELC_INT, 4); },
     "-'x' of the globals is int[4] in the program, but int[5] in the line"},
    {"bytes have become more", [] { reg("x", x.c, ELC_BYTE, 8); }, [] { reg("x", x.c, ELC_BYTE, 16); }, "-'x' of the globals is bytes[16]"},
    {"pointers have become more", [] { p = nullptr, reg("p", &p, ELC_POINTER, 1); }, [] { reg("x", x.any, ELC_INT, 1), reg("p", x.any + 8, ELC_POINTER, 2); },
     "-'p' of the globals is pointer[2]"},
    {"the first extent has grown", [] { x.grid[1][7] = 5, shape("x", x.grid, ELC_DOUBLE, {2, 8}); }, [] { x.grid[3][0] = 3, shape("x", x.grid, ELC_DOUBLE, {4, 8}); },
     "+'x' of the globals is double[4][8] in the program, and double[2][8] in the line", [] { return x.grid[1][7] == 5 && x.grid[3][0] == 3; }},
    {"another extent has grown", [] { shape("x", x.grid, ELC_DOUBLE, {4, 4}); }, [] { shape("x", x.grid, ELC_DOUBLE, {4, 8}); }, "-'x' of the globals is double[4][8]"},
    {"extents are the other way round", [] { shape("x", x.grid, ELC_DOUBLE, {4, 8}); }, [] { shape("x", x.grid, ELC_DOUBLE, {8, 4}); }, "-'x' of the globals is double[8][4]"},
    {"a shape, longer, where there was none", [] { reg("x", x.d, ELC_DOUBLE, 16); }, [] { shape("x", x.d, ELC_DOUBLE, {4, 8}); }, "-'x' of the globals is double[4][8]"},
    {"the end of an array that has grown", [] { p = x.i + 5, reg("x", x.i, ELC_INT, 5), reg("p", &p, ELC_POINTER, 1); },
     [] { reg("x", y.i, ELC_INT, 8), reg("p", &p, ELC_POINTER, 1); }, "+'x'", [] { return p == y.i + 5; }},
    // ---- Types ----
    {"int to int64_t", [] { x.i[0] = -5, x.i[2] = 1 << 30, reg("x", x.i, ELC_INT, 3); }, [] { reg("x", y.l64, ELC_INT64, 3); },
     "+'x' of the globals is ", [] { return y.l64[0] == -5 && y.l64[2] == 1 << 30; }},
    {"short to int", [] { x.h[1] = -7, reg("x", x.h, ELC_SHORT, 2); }, [] { reg("x", y.i, ELC_INT, 2); }, "+'x'", [] { return y.i[1] == -7; }},
    {"unsigned to uint64_t", [] { x.u[0] = 0xfffffff0u, reg("x", x.u, ELC_UINT, 1); }, [] { reg("x", y.u64, ELC_UINT64, 1); }, "+'x'",
     [] { return y.u64[0] == 0xfffffff0u; }},
    {"unsigned to int64_t", [] { x.u[0] = 0xfffffff0u, reg("x", x.u, ELC_UINT, 1); }, [] { reg("x", y.l64, ELC_INT64, 1); }, "+'x'",
     [] { return y.l64[0] == 0xfffffff0u; }},
    {"int to unsigned", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("x", y.u, ELC_UINT, 1); }, "-`int` in the file, `unsigned int` in the program"},
    {"int to uint64_t", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("x", y.u64, ELC_UINT64, 1); }, "-'x' of the globals is "},
    {"int64_t to int", [] { x.l64[0] = 1, reg("x", x.l64, ELC_INT64, 1); }, [] { reg("x", y.i, ELC_INT, 1); }, "-'x' of the globals is int"},
    {"float to double", [] { x.f[0] = 0.1f, x.f[1] = -3.5f, reg("x", x.f, ELC_FLOAT, 2); }, [] { reg("x", y.d, ELC_DOUBLE, 2); },
     "+'x' of the globals is double[2] in the program, and float[2] in the line", [] { return y.d[0] == static_cast<double>(0.1f) && y.d[1] == -3.5; }},
    {"float to double, and more of them", [] { x.f[0] = 0.5f, reg("x", x.f, ELC_FLOAT, 2); }, [] { y.d[2] = 9, reg("x", y.d, ELC_DOUBLE, 3); }, "+'x'",
     [] { return y.d[0] == 0.5 && y.d[2] == 9; }},
    {"double to float", [] { reg("x", x.d, ELC_DOUBLE, 1); }, [] { reg("x", x.f, ELC_FLOAT, 1); }, "-`double` in the file, `float` in the program"},
    {"complex", [] { x.f[0] = 1.5f, x.f[1] = 2.5f, reg("x", x.f, ELC_FLOAT_COMPLEX, 1); }, [] { reg("x", y.d, ELC_DOUBLE_COMPLEX, 1); }, "+'x'",
     [] { return y.d[0] == 1.5 && y.d[1] == 2.5; }},
    {"int to double", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("x", x.d, ELC_DOUBLE, 1); }, "-`int` in the file, `double` in the program"},
    {"char to int", [] { reg("x", x.c, ELC_CHAR, 1); }, [] { reg("x", x.i, ELC_INT, 1); }, "-`char` in the file, `int` in the program"},
    {"int to bool", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("x", x.b, ELC_BOOL, 1); }, "-`int` in the file, `bool` in the program"},
    {"int to a pointer", [] { reg("x", x.i, ELC_INT, 1); }, [] { reg("x", &p, ELC_POINTER, 1); }, "-`int` in the file, `pointer` in the program"},
    {"a pointer into what has become wider", [] { p = x.i + 2, reg("p", &p, ELC_POINTER, 1), reg("x", x.i, ELC_INT, 4); },
     [] { reg("p", &p, ELC_POINTER, 1), reg("x", y.l64, ELC_INT64, 4); }, "+'x'", [] { return p == y.l64 + 2; }},
    // ---- Structs ----
    {"a field has become wider", [] { x.i[0] = -1, x.i[1] = 7, reg("x", x.i, pair_of(ELC_INT, ELC_INT, 4, 4), 1); },
     [] { reg("x", y.l64, pair_of(ELC_INT64, ELC_INT64, 8, 8), 1); }, "+'x'", [] { return y.l64[0] == -1 && y.l64[1] == 7; }},
    {"a field more", [] { reg("x", x.i, pair_of(ELC_INT, ELC_INT, 4, 4), 1); },
     [] {
       const ELC_Field fields[] = {{"a", 0, ELC_INT, 1}, {"b", 4, ELC_INT, 1}, {"c", 8, ELC_INT, 1}};
       reg("x", x.i, ELC_Struct("pair", 12, 3, fields), 1);
     }, "-`pair` has 2 fields in the file, 3 in the program"},
    {"another name of a field", [] { reg("x", x.i, pair_of(ELC_INT, ELC_INT, 4, 4), 1); },
     [] {
       const ELC_Field fields[] = {{"a", 0, ELC_INT, 1}, {"c", 4, ELC_INT, 1}};
       reg("x", x.i, ELC_Struct("pair", 8, 2, fields), 1);
     }, "-field 2 is `b` in the file, `c` in the program"},
    {"more structs", [] { x.i[1] = 3, reg("x", x.i, pair_of(ELC_INT, ELC_INT, 4, 4), 1); },
     [] { x.i[3] = 4, reg("x", x.i, pair_of(ELC_INT, ELC_INT, 4, 4), 2); }, "+'x'", [] { return x.i[1] == 3 && x.i[3] == 4; }},
    // ---- The heap ----
    {"a block of int, for a pointer to int64_t",
     [] { ip = static_cast<int*>(ELC_malloc(3 * sizeof *ip)), ip[0] = -4, ip[2] = 6, pointer("p", &ip, 1, ELC_INT); },
     [] { lp = nullptr, pointer("p", &lp, 1, ELC_INT64); }, "=", [] { return lp[0] == -4 && lp[2] == 6; }},
    {"a block of float, for a pointer to double",
     [] { fp = static_cast<float*>(ELC_malloc(3 * sizeof *fp)), fp[0] = 0.5f, fp[2] = -6, pointer("p", &fp, 1, ELC_FLOAT); },
     [] { dp = nullptr, pointer("p", &dp, 1, ELC_DOUBLE); }, "=", [] { return dp[0] == 0.5 && dp[2] == -6; }},
    {"a block of structs, of which a field has become wider",
     [] { x.any[0] = 0, p = ELC_new(pair_of(ELC_INT, ELC_INT, 4, 4), 1), memcpy(p, "\1\0\0\0\2\0\0\0", 8), reg("p", &p, ELC_POINTER, 1); },
     [] { pair_of(ELC_INT64, ELC_INT64, 8, 8), reg("p", &p, ELC_POINTER, 1); }, "=",
     [] { return static_cast<int64_t*>(p)[0] == (elc::format::Representation::here().order == elc::format::ByteOrder::kLittle ? 1 : 1 << 24); }},
};

void clear() {
  memset(&x, 0, sizeof x);
  memset(&y, 0, sizeof y);
  p = nullptr;
}

std::string changes() {
  std::string all;
  for (const elc::Text& change : elc::state::changes()) all += std::string(change.c_str()) + "\n";
  return all;
}

}  // namespace

TEST_CASE("changes of a program between a line and its restart") {
  size_t told = 0, refused = 0;
  for (const Case& c : kCases) {
    for (const bool strict : {false, true}) {
      CAPTURE(c.what);
      CAPTURE(strict);
      new_process();
      clear();
      c.before();
      Line line;
      REQUIRE_OK(line.save());
      new_process();
      clear();
      c.after();
      elc::state::set_strict(strict);
      elc::format::Reader reader;
      REQUIRE_OK(line.open(&reader));
      const elc::Result checked = elc::state::check(reader);
      const bool refuses = c.outcome[0] == '-' || (strict && !c.strictly_too);
      CHECK_MESSAGE(checked.ok() == !refuses, text(checked));
      if (!checked.ok() && !strict) CHECK_MESSAGE(text(checked).find(c.outcome + 1) != std::string::npos, text(checked));
      if (!checked.ok()) continue;
      if (c.outcome[0] == '=') CHECK(changes() == "");
      else CHECK_MESSAGE(changes().find(c.outcome + 1) != std::string::npos, changes());
      REQUIRE_OK(line.restore());
      CHECK(c.right());
    }
    (c.outcome[0] == '-' ? refused : told)++;
  }
  MESSAGE(told << " changes are restored, " << refused << " refused");
  CHECK(told + refused >= 50);
}
