// A line of three ranks in the directory given, without a program: variables of all kinds, for tests of `elc export`. Rank 2's
// file is that of another machine: big-endian, long of four bytes.
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "elc.h"
#include "portable_format/writer.h"
#include "state/process.h"
#include "state/state.h"
#include "store/store.h"

using namespace elc;

namespace {

struct Particle {
  char name[8];
  double x[3];
  bool alive;
  long long id;
};
struct Holder {
  int kind;
  union {
    int i;
    double d;
  } u;
};

void need(const Result& status) {
  if (status.ok()) return;
  fprintf(stderr, "write_line: %s\n", status.message());
  exit(1);
}

format::Representation other_machine() {
  using namespace format;
  Representation r = Representation::here();
  r.order = r.order == ByteOrder::kLittle ? ByteOrder::kBig : ByteOrder::kLittle;
  r.long_double = LongDouble::kBinary128;
  r.width[kLong] = 4;
  r.width[kLdouble] = 16;
  r.width[kLdoubleComplex] = 32;
  return r;
}

void write_rank(const char* dir, uint32_t rank) {
  state::reset();
  state::process().apart = 16;
  const int r = static_cast<int>(rank);
  int step = 7 + r;
  double field[2][3], wide[2][2] = {}, infinite[3] = {1e308 * 10, -1e308 * 10, 0.1};
  std::vector<float> part(2 + rank);
  long number = -5 - r;
  long double precise = 0.1L;
  std::complex<double> wave[2] = {{1, -2}, {0.5, r + 0.25}};
  char text[2][6] = {"one", "t,\"o"};
  bool flags[3] = {true, false, r == 2};
  int empty[1];
  for (int i = 0; i < 6; ++i) field[i / 3][i % 3] = 100 * r + i;
  for (size_t i = 0; i < part.size(); ++i) part[i] = static_cast<float>(10 * r) + static_cast<float>(i);
  Particle particles[2] = {{"a", {1, 2, 3}, true, -1}, {"bee", {4, 5, r + 0.5}, false, 1LL << 60}};
  Holder holder = {0, {3}};
  const ELC_Field fields[] = {ELC_FIELD(Particle, name), ELC_FIELD(Particle, x), ELC_FIELD(Particle, alive), ELC_FIELD(Particle, id)};
  const ELC_Type particle = ELC_Struct("Particle", sizeof(Particle), 4, fields);
  const ELC_Field members[] = {{"i", 0, ELC_INT, 1}, {"d", 0, ELC_DOUBLE, 1}};
  const ELC_Type either = ELC_Union("either", sizeof holder.u, 2, members, [](const void*, const void*) { return 0; });
  const ELC_Field of_holder[] = {{"kind", 0, ELC_INT, 1}, {"u", offsetof(Holder, u), either, 1}};
  const ELC_Type holds = ELC_Struct("Holder", sizeof(Holder), 2, of_holder);
  // As the module elc registers real(8) matrix(2, 3) and logical is.
  const ELC_Field column[] = {{"elements", 0, ELC_DOUBLE, 2}}, logical[] = {{"logical", 0, ELC_INT, 1}};
  double matrix[6] = {11, 21, 12, 22, 13, 23};
  int is = 1;
  double* heap = static_cast<double*>(ELC_new(ELC_DOUBLE, 3));
  double *inside = heap + 1, *nothing = nullptr, *at_wide = wide[0], *from_one = heap - 1;
  for (int i = 0; i < 3; ++i) heap[i] = i + r;

  ELC_VAR(step);
  ELC_VAR(field);
  ELC_ARRAY2(at_wide, 2, 2);
  ELC_ARRAY(part.data(), part.size());
  ELC_VAR(number);
  ELC_VAR(precise);
  ELC_Register("wave", wave, ELC_DOUBLE_COMPLEX, 2);
  ELC_VAR(text);
  ELC_VAR(flags);
  ELC_VAR(infinite);
  ELC_Register("empty", empty, ELC_INT, 0);
  ELC_STRUCT(particles, particle);
  ELC_STRUCT(holder, holds);
  ELC_Register("matrix", matrix, ELC_Struct("double (2)", 16, 1, column), 3);
  ELC_Register("is", &is, ELC_Struct("logical32", 4, 1, logical), 1);
  ELC_PTR(heap);
  ELC_PTR(inside);
  ELC_PTR(nothing);
  ELC_PTR(from_one);
  ELC_Enter("main");
  int local = 1, twice = 2;
  ELC_VAR(local);
  ELC_VAR(twice);
  ELC_Set_label(1);
  ELC_Enter("part");
  int x = 3;
  ELC_VAR(x);
  ELC_Register("twice", &wide[1][1], ELC_DOUBLE, 0);
  ELC_Set_label(2);
  state::take_label();

  static const format::Representation other = other_machine();
  format::WriterOptions options;
  if (rank == 2) options.representation = &other;
  store::RankFile file;
  need(file.open(dir, 1, 77, rank));
  format::Writer writer(&state::types(), file.sink(), options);
  store::write_label(writer, {1, 77, rank, 3});
  need(state::save(writer, {}));
  need(writer.finish());
  need(file.finish());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 1;
  for (uint32_t rank = 0; rank < 3; ++rank) write_rank(argv[1], rank);
  store::Commit record;
  record.line = 1;
  record.run = 77;
  record.ranks = 3;
  need(store::commit(argv[1], record));
}
