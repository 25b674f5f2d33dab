// The typed macros and libELC.h from C.
#include "typed.h"

#include "helper.h"
#include "state/process.h"

TEST_CASE("the compiler finds types in C of 1989, 1999 and 2011") {
  static const struct {
    int (*types)();
    int (*enter)();
    int (*touch)(int value, int set);
  } kStandards[] = {{typed_types_c11, typed_register_c11, typed_touch_c11},
                    {typed_types_c99, typed_register_c99, typed_touch_c99},
                    {typed_types_gnu89, typed_register_gnu89, typed_touch_gnu89}};
  for (const auto& standard : kStandards) {
    new_process();
    CHECK(standard.types() == 0);
    CHECK(standard.enter() == 0);
    CHECK(standard.touch(1, 1) == 18);
    Line line;
    REQUIRE_OK(line.save());
    CHECK(standard.touch(0, 1) == 18);
    REQUIRE_OK(line.restore());
    CHECK(standard.touch(1, 0) == 18);
  }
}

double*** rows_in_cxx(int make) {
  static double** rows;
  if (make) {
    rows = static_cast<double**>(ELC_malloc(2 * sizeof *rows));
    for (int i = 0; i < 2; ++i) {
      rows[i] = static_cast<double*>(ELC_malloc(3 * sizeof(double)));
      for (int k = 0; k < 3; ++k) rows[i][k] = 10 * i + k;
    }
  }
  return ELC_PTR(rows) == ELC_OK ? &rows : nullptr;
}

TEST_CASE("a pointer to rows leads to pointers, and these to the numbers") {
  for (double*** (*enter)(int) : {typed_rows_c11, typed_rows_c99, typed_rows_gnu89, rows_in_cxx}) {
    new_process();
    REQUIRE(enter(1) != nullptr);
    Line line;
    REQUIRE_OK(line.save());
    new_process();
    double*** const rows = enter(0);
    REQUIRE(rows != nullptr);
    *rows = nullptr;
    REQUIRE_OK(line.restore());
    for (int i = 0; i < 2; ++i) {
      REQUIRE(elc::state::process().heap.find((*rows)[i]) != nullptr);  // a block of this process
      for (int k = 0; k < 3; ++k) CHECK((*rows)[i][k] == 10 * i + k);
    }
  }
}

TEST_CASE("the papers' registrations") {
  new_process();
  for (uint32_t k = elc::format::kMpiComm; k < elc::format::kKindCount; ++k)
    elc::state::set_handle_size(static_cast<elc::format::Kind>(k), k == elc::format::kMpiStatus ? 24 : 8);
  static Line line;
  REQUIRE(classic_run([] {
            elc::state::take_label();
            REQUIRE_OK(line.save());
          }) == 0);
  elc::format::Reader reader;
  REQUIRE_OK(line.open(&reader));
  std::string shown;
  elc::format::Cursor in;
  REQUIRE_OK(in.open(&reader, "vars"));
  CHECK(in.u32() == 1);
  REQUIRE(in.count(1) == 1);
  CHECK(in.string() == "classic_run");
  CHECK(in.i32() == 9);
  REQUIRE(in.count(1) == 0);
  for (uint64_t n = in.count(1); n > 0; --n) {
    CHECK(in.u32() == 1);
    shown += std::string(in.string()) + " ";
    const int type = in.i32();
    shown += reader.types().known(type) ? reader.types().info(type).name : "?";
    shown += " " + std::to_string(in.u64()) + "; ";
  }
  CHECK(shown ==
        "i int 1; b double 5; matrix double 12; pi pointer 1; array_of_pointers pointer 4; file FILE * 1; "
        "heap pointer 1; "
        "one struct Node 1; many struct Node 5; list pointer 1; ");
}

extern "C" void ELC_Classic_variable(const char* name, void* address, ELC_Type type, size_t size);
extern "C" void ELC_Classic_enter(const char* function, int label, int fid);
extern "C" int ELC_Classic_skip(int fid);
extern "C" int ELC_Classic_site(int label, int fid);

TEST_CASE("what could not be registered by the papers' names makes lines impossible") {
  new_process();
  int a[4] = {};
  ELC_Classic_variable("a", a, ELC_INT, sizeof a);
  Line line;
  REQUIRE_OK(line.save());
  ELC_Classic_variable("&a[1]", &a[1], ELC_INT, sizeof a[1]);
  CHECK(contains(text(line.save()), "'&a[1]' could not be registered"));
}

TEST_CASE("FID: no site in an inline call, and in a restart it is passed over") {
  new_process();
  ELC_Classic_enter("main", 0, 0);
  CHECK(ELC_Classic_site(-3, 0) == 0);
  CHECK(elc::state::take_label());
  CHECK(ELC_Classic_site(-3, 1) == 0);
  CHECK_FALSE(elc::state::take_label());
  CHECK(ELC_Classic_skip(1) == 0);
  ELC_Classic_enter("part", -4, 1);
  ELC_Classic_enter("deeper", -5, 0);
  ELC_Set_label(1);
  CHECK_FALSE(elc::state::take_label());
  CHECK(elc::state::in_inline_call());
  Line line;
  CHECK(contains(text(line.save()), "without a label of its own"));
  ELC_Leave();
  ELC_Leave();
  CHECK_FALSE(elc::state::in_inline_call());
  ELC_Set_label(-6);
  CHECK(elc::state::take_label());

  elc::state::set_recovering(true);
  CHECK(ELC_Classic_site(-3, 1) == 1);
  CHECK(ELC_Classic_site(-3, 0) == 0);
  CHECK(ELC_Classic_skip(0) == 0);
  CHECK(ELC_Classic_skip(2) == 1);
}
