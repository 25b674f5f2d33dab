"""Programs that are right with lines, and after a restart."""

import os
import shutil
import subprocess

from cases import Cases, launch, PROGRAM


class Right(Cases):
    """Found by attack."""

    def test_streams_that_are_opened_anew(self):
        """The standard ones, too: what went to the file behind the line is gone in a restart, and comes again."""
        self.write("prog.c", r"""
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int i, rank, sum;
  FILE *log = stdout, *other, *in = stdin;
  char name[20];
  if (freopen("numbers", "r", stdin) != in) return 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  sprintf(name, "first-%d", rank);
  other = fopen(name, "w");
  fputs("one", other);
  sprintf(name, "out-%d", rank);
  if (freopen(name, "w", stdout) != stdout) return 1;
  sprintf(name, "other-%d", rank);
  other = freopen(name, "a", other);
  sprintf(name, "err-%d", rank);
  if (rank == 1 && freopen(name, "w", stderr) == NULL) return 1;
  for (i = 0; i < 100; i++) {
    int number = -1;
    INPUT("%d", &number);
    MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    fprintf(i & 1 ? log : stdout, "%d %d\n", i, sum);
    fprintf(other, "%d\n", sum);
    if (rank == 1) fprintf(stderr, "error %d\n", sum);
  }
  MPI_Finalize();
  return 0;
}
""")
        self.write("numbers", "".join("%d\n" % (7 * i) for i in range(100)))
        names = ["%s-%d" % (what, rank) for what in ("first", "out", "other") for rank in range(2)] + ["err-1"]
        for how in "scanf(__VA_ARGS__)", "fscanf(stdin, __VA_ARGS__)", "(i & 1 ? scanf(__VA_ARGS__) : fscanf(in, __VA_ARGS__))":
            define = "-DINPUT(...)=" + how
            self.cc("prog.c", "-w", define, "-o", "prog")
            self.cc("prog.c", "-w", define, "-o", "plain", "-felc-off")
            expected = None
            for program, site, variables in (("plain", None, {}), ("prog", 40, {}), ("prog", None, {"ELC_RESTART": "1"})):
                said = self.start(program) if program == "plain" else self.planned(program, site, **variables)[1]
                files = {}
                for name in names:
                    with open(os.path.join(self.home, name), encoding="utf-8") as file:
                        files[name] = [text for text in file if not text.startswith("elc: ")]  # what the library says goes there, too
                    if program == "plain" or "ELC_RESTART" in variables:
                        os.remove(os.path.join(self.home, name))
                expected = expected or files
                self.assertEqual(files, expected, said)
                self.assertEqual("restarting from line" in said, bool(variables))
            shutil.rmtree(os.path.join(self.home, "lines"))

    def test_called_before_they_are_declared(self):
        """As programs from before prototypes have it, which GCC takes with a warning."""
        self.write("prog.c", """
#include <mpi.h>
#include <stdio.h>
int total;
main(argc, argv) int argc; char **argv; {
  int i, over;
  MPI_Init(&argc, &argv);
  for (i = 0; i < 100; i++) { add(i); twice(); }
  report();
  MPI_Finalized(&over);
  if (!over) MPI_Finalize();
  return 0;
}
void add(i) int i; { int s; MPI_Allreduce(&i, &s, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); total += s; }
void twice(void) { add(2); }
void report(void) { int r; MPI_Comm_rank(MPI_COMM_WORLD, &r); if (r == 0) printf("result: %d\\n", total); }
""")
        self.cc("prog.c", "-w", "-g", "-o", "prog")
        self.assert_restarts("prog", "result: 10300\n")

    def test_data_behind_a_header(self):
        self.right("struct vec { long n; int flag; } *v;", "if (!v) { v = calloc(1, sizeof *v + 8 * sizeof(double)); v->n = 8; }"
                   "{ double *d = (double *)(v + 1); d[i % 8] += i * 1.25 + deep(i, 1); result += d[1] * 3 + d[2]; }")

    def test_structs_that_end_with_more(self):
        """Pointers in them are set anew, and what comes behind them is bytes, wherever it begins, also when they have grown."""
        self.right("""
            struct text { struct text *next; int n; char s[]; } *texts;
            struct row { int n; double *more; double v[1]; } *rows[4];
            struct set { int n, most; struct set *self; long v[0]; } *kept;""", """
            { struct text *t = malloc(sizeof *t + i % 40 + 1); t->n = i % 40; memset(t->s, 'a' + i % 7, i % 40); t->s[i % 40] = 0; t->next = texts;
              if (texts != NULL && texts->next != NULL) { free(texts->next); texts->next = NULL; } texts = t; }
            for (int k = 0; rows[3] == NULL && k < 4; k++) {
              rows[k] = calloc(1, sizeof(struct row) + k * 2 * sizeof(double)); rows[k]->n = 1 + 2 * k; rows[k]->more = k > 0 ? rows[k - 1]->v : NULL;
            }
            if (kept == NULL || kept->n == kept->most) {
              const int most = kept == NULL ? 1 : 2 * kept->most; struct set *old = kept;
              kept = realloc(kept, sizeof *kept + most * sizeof(long)); kept->most = most; kept->self = kept; if (old == NULL) kept->n = 0;
            }
            kept->v[kept->self->n++] = deep(i, 1);
            for (int k = 1; k < 4; k++) { rows[k]->v[i % rows[k]->n] += k * deep(i, 1); rows[k]->more[0] += 1; result += rows[k]->v[rows[k]->n - 1]; }
            for (const struct text *t = texts; t != NULL; t = t->next) result += strlen(t->s) * t->s[0] + t->n;
            result += kept->self->v[i / 2];""")

    def test_names_of_functions(self):
        """__func__ and its like are strings; so is what a string is, whose address is taken."""
        self.right("""
static const char *name, *again, (*whole)[6];
static long length(const char *of, const char *in) { long n = deep(strlen(of), 0); return n + strlen(of) + strlen(in) + (of == in); }""", """
name = again = __func__; whole = &"whole";
result += length(__FUNCTION__, __func__) + length("other", __func__) + (name == __func__) + (again == name) + sizeof __func__ + strlen(*whole);
printf("%s", i == 1000 ? __func__ : "");""")

    def test_strings_that_are_the_same(self):
        self.right('#define NONE "none"\nstatic const char *name = NONE; static const void *wide = L"none";\nstatic const char *pick(int i) { return i % 2 ? NONE : "other"; }',
                   "{ const char *own = NONE; deep(1, 1); result += (name == NONE) + 2 * (pick(i) == name) + 4 * (own == NONE) + 8 * (wide == L\"none\") + 16 * (wide == NONE); }")

    def test_directives_of_variables_with_other_names(self):
        """Clang refers to the bound of a loop where the program does not name it."""
        self.right("static double a[100];\nstatic long filled(const int n) { int k; deep(n, 1);\n#pragma omp parallel for\n"
                   "for (k = 0; k < n; k++) a[k] = k;\nreturn (long)a[n - 1]; }",
                   "{ int n = 10; deep(1, 1); if (i % 2) { int n = 20; deep(2, 1);\n#pragma omp parallel for collapse(2)\n"
                   "for (int k = 0; k < n; k++) for (int l = 0; l < n; l++) a[k] = k + l - l;\nresult += n; } result += filled(n); result += n + (long)a[3]; }",
                   "-fopenmp")

    def test_parts_of_paths(self):
        self.right("#include <libgen.h>\nstatic char path[] = \"a/b\", file[] = \"file\", *folder, *here, *last, *none;",
                   "if (i == 0) { none = basename(NULL); last = basename(path); folder = dirname(path); here = dirname(file); }"
                   "deep(1, 1); result += *folder + *here + *last + *none;")

    def test_names_of_variables(self):
        self.right('long a[3]; extern long b[3] __attribute__((alias("a"))); static long c; extern long d __attribute__((alias("c")));\nstatic long *to = &d;',
                   "b[i % 3] += i; d += i; deep(1, 1); a[i % 3] += 2; result += b[i % 3] + c + (to == &c) + (&a[1] == &b[1]);")

    def test_names_that_the_compiler_knows(self):
        self.right("double rintf(double x); double rintf(double x) { deep(1, 1); return x + 1; } static unsigned __int128 cut(unsigned __int128 n) { n &= (unsigned long)-1; return n; }",
                   "result += rintf(i) + cut(i);", "-O2")

    def test_wide_strings(self):
        self.right("""#include <wchar.h>
static const wchar_t *at = L"wide" L" and wider";
static long length(const wchar_t *text) { long n = deep(0, 1); return n + wcslen(text); }""", """
result += length(at) + length(L"\\x4f60") + length(at + 3); if (i == 20) at = L"other";""")

    def test_thread_of_its_own(self):
        """Where there is one thread, its variables are variables."""
        self.right("""
struct my__thread { long x[2]; };
extern __thread long first; static __thread long second = 3, *third; _Thread_local long first = 1;
static struct my__thread __thread of_name;
static long next(void) { static __thread long calls; return ++calls; }""", """
extern __thread long first;
if (third == NULL) third = &second;
first += i; *third += first; of_name.x[1] += next();
result += first + second + of_name.x[1];""")

    def test_literals_outside_of_functions(self):
        """Pointers in tables that lead to compound literals, some in others, of structs that the file has and strings."""
        self.right("""
struct part { const char *name; const double *values; struct part *next; int count; };
static const struct part parts[] = {{"one", (const double[]){1, 2, 3}, NULL, 3},
  {.name = "two", .values = (double[2]){4, 5}, .next = &(struct part){"in two", (const double[]){6}, NULL, 1}, .count = 2}};
static long *changed = (long[3]){1, 2}, (*whole)[2] = &(long[2]){7, 8}, by_value[2] = {[1] = 9};
static struct part plain = (struct part){"plain", NULL, NULL, 0};
static struct { int n; struct part of; } with = {2, ((struct part){"with", NULL, NULL, 1})}, all[] = {{.of = (struct part){"of", NULL, NULL, 2}}};
static struct part list[] = {(struct part){"list", NULL, NULL, 3}, [2] = (struct part){"last", NULL, NULL, 4}};
static const struct part *at = parts;""", """
with.of.count += i; all[0].of.count += list[2].count++; result += with.of.count + all[0].of.count + strlen(with.of.name) + strlen(list[i % 2 * 2].name);
changed[2] += i + ++(*whole)[1];
if (i % 5 == 0) at = at->next != NULL ? at->next : &parts[i % 2];
result += changed[2] % 100 + (*whole)[1] + strlen(at->name) + strlen(plain.name) + by_value[1];
{ int k; for (k = 0; k < at->count; k++) result += (long)at->values[k]; }""")

    def test_vectors(self):
        """The compiler's own headers are for that compiler: clang does not understand all that is in their functions."""
        if subprocess.run(["gcc", "-dumpmachine"], capture_output=True, text=True).stdout[:6] != "x86_64":
            self.skipTest("its header is another processor's")
        self.right("#include <immintrin.h>\nstatic __m128d *sums;", """
if (!sums) sums = _mm_malloc(4 * sizeof *sums, 16), sums[0] = sums[1] = sums[2] = sums[3] = _mm_set1_pd(1);
sums[i % 4] = _mm_add_pd(_mm_mul_pd(sums[(i + 1) % 4], _mm_set1_pd(0.5)), _mm_cvtepi32_pd(_mm_set1_epi32(i)));
{ double two[2]; _mm_storeu_pd(two, sums[i % 4]); deep(i, 2); result += two[0] * 8 + two[1]; result += ((size_t)sums & 15); }""", "-O2")

    def test_operands_on_the_left(self):
        """C leaves open what comes first, but compilers do not."""
        self.right("static long next; static long take(void) { return ++next; } static long more(long x) { next += 10; return deep(x, 1); }",
                   "result += take() % 7 + more(i) + (next * 2 - more(i % 3)) + (more(1) * (next % 5 + 1) > more(2));")

    def test_another_compiler(self):
        """For clang the C library's headers define types that GCC has itself."""
        if shutil.which("clang") is None:
            self.skipTest("there is no clang")
        self.environment["ELC_CC"] = "clang"
        self.right("#include <math.h>\nstatic double half;", "half += 0.5; result += (long)sqrt(half) + deep(i, 1);", "-lm")

    def test_a_stream_at_its_end(self):
        with open(os.path.join(self.home, "data"), "w") as file:
            file.write("1 2 3 4 5")
        self.right("static FILE *data; static long read_of;", """
if (!data) data = fopen("%s/data", "r");
{ long n; while (fscanf(data, "%%ld", &n) == 1) read_of += n; }
deep(i, 1); result += read_of + 1000 * (feof(data) != 0);""" % self.home)

    def test_cells_used_again(self):
        self.right("struct a { double x; int n; }; struct b { long n; int k, c; }; static struct b *cell;",
                   "if (!cell) { void *p = calloc(1, sizeof(struct a)); struct a *a = p; a->n = 7; cell = p; }"
                   "cell->c += i; cell->k = i; cell->n = deep(i, 1); result += cell->c;")

    def test_marks(self):
        self.right("static void *mark = (void *)-1, *kept[3];", "kept[1] = (void *)42L; deep(1, 1);"
                   "result += (mark == (void *)-1) + ((long)kept[1] == (i ? 42 : 42));")

    def test_truth(self):
        self.right("static int take(_Bool b, long x) { return deep(x, 1) && b; } static long big(void) { return deep(1, 1) ? 1L << 32 : 0; }",
                   "result += take(big(), 1) + take(0.25 * deep(1, 1), 2);")

    def test_types_of_blocks(self):
        self.right("enum { N = 4 }; struct S { int a; }; typedef int T;",
                   "result += N + sizeof(struct S) + sizeof(T);"
                   "{ enum { N = 7 }; struct S { int a, b, c; } s = {1, 2, N}; typedef double T; T t = deep(N, 1); result += s.c + t + sizeof(T); }")

    def test_types_that_move(self):
        """Out of functions, where those of another function have their names; bit-fields, attributes, what depends on variables."""
        self.right("""
static int s1(int x) { static enum { A, B } s; static struct P { int a, b; } p; s = s == A ? B : A; p.a += s; return p.a + deep(x, 1); }
static int s2(int x) { static enum { A = 7, B } s; static struct P { long c; } p; s = s == A ? B : A; p.c += s; return p.c + deep(x, 1); }
static int s3(int x) { struct Q { int a; }; typedef struct { struct Q q; int n; } R; static R r; static struct Q *to = &r.q; to->a += x; return r.q.a; }
static int bits(int n) { int A = n; typedef __typeof__(A) T; struct B { T t; unsigned f : 3, g : 5; } b = {1, 2, 3}; b.f += deep(n, 1);
  { enum { C = 9 } e = C; b.g += deep(e, 1); } return b.f * 100 + b.g + b.t; }
static int packed(int n) { struct __attribute__((packed)) S { char c; int i; } s = {1, n}; struct U { char c; int i; } __attribute__((packed)) u, *v = &u;
  u.i = deep(s.i, 1); v->c = sizeof s + sizeof u; return u.i + v->c; }
static int several(int n) { typedef struct { int x; } a, *b; a y = {n}; b z = &y; z->x += deep(1, 1); return y.x; }
static int heap(int n) { struct H { struct { unsigned a : 4, b : 9; }; struct H *next; } *p = malloc(sizeof *p); p->a = n; p->b = n * 3;
  p->next = 0; n = deep(1, 1) + p->a + p->b; free(p); return n; }
static int asserted(int n) { int x[4]; _Static_assert(sizeof x == 16, "x"); x[0] = deep(n, 1); return x[0]; }
static int mixed(int n) { int a = n, asserted(int), b = 2; return asserted(a) + b + deep(1, 1); }""",
                   "result += s1(i) + s2(i) + s3(i) + bits(i % 9) + packed(i) + several(i) + heap(i % 16) + asserted(i) + mixed(i);")

    def test_what_is_constant(self):
        """Members, bit-fields too, parameters, those in registers, main's."""
        self.write("first.c", "int first(int x){static int n=1;return n+=x;}\nint second(int x){return x;}")  # without a blank
        global PROGRAM
        outer, PROGRAM = PROGRAM, PROGRAM.replace("char **argv", "char *const *const argv").replace("&argv", "(char ***)&argv")
        try:
            self.right("""
struct K { const int a; int b; const unsigned c : 5, d : 3; };
static struct K make(int n) { struct K k = {n, n + 1, n + deep(1, 0), 3}; return k; }
static int use(int n) { struct K k = make(n), l = n ? make(n + 1) : k; return k.a + l.b + deep(make(2).a, 0) + k.c * 3 + l.d; }
static int in(register struct K k, const struct K l, register const int z){return deep(k.b, 0) + k.a + l.b + z + k.c;}
int first(int), second(int);""", "result += use(i) + in(make(i), make(3), i) + first(second(i)) + (argv[0] != 0);", "first.c")
        finally:
            PROGRAM = outer

    def test_blocks_without_calls(self):
        """Literals whose block has none, assembly that is for the compiler alone, blocks in expressions of declarations."""
        self.right("", "{ int *p = __builtin_malloc(8), k = ({ int twice = i * 2; twice + 1; }), l = deep(k, 1); p[1] = l;"
                   ' { int *q = (int[]){i, 2}; p[1] += q[0] + q[1]; } __asm__ volatile ("" : "+r"(l) : : "memory");'
                   " k = deep(l, 1); result += p[1] + k; free(p); }")

    def test_expressions_of_gcc(self):
        """?: without its middle, what is not evaluated, vectors, a function whose type is declared with it."""
        self.right("typedef double v2 __attribute__((vector_size(16))); static v2 sum; struct Made { int a; } made(int x) { static int n; n += deep(x, 0);"
                   " return (struct Made){n % 8}; } static v2 add(v2 a, v2 b) { deep(1, 0); return a + b; }",
                   "{ long x = deep(i % 2, 0) - 2 ?: 7, n = 0; v2 v = {i, x}; result += x + __builtin_constant_p(deep(n++, 0)) + n;"
                   " sum = add(v, sum); result += sum[0] + sum[1] + made(i).a; }")

    def test_values_of_ranges(self):
        self.right("", "{ int a[4] = {[0 ... 2] = deep(i, 1), [3] = 5}; result += a[0] + a[1] * 3 + a[2] * 5 + a[3]; }")

    def test_statement_expressions(self):
        self.right("", "{ int k; for (k = 0; k < 4; k++) result += ({ if (k == 2) continue; deep(k, 1); }) * 2; }")

    def test_arrays_of_variable_length(self):
        self.right("static long sum; static void add(long *a, int n) { while (n-- > 0) sum += a[n]; }"
                   "static void all(int n) { long a[n], b[n][3]; int k; for (k = 0; k < n; k++) { a[k] = deep(k, 1); b[k][k % 3] = k; }"
                   " deep(1, 1); for (k = 0; k < n; k++) a[k] += b[k][k % 3]; return add(a, n); }", "all(i % 5 + 1); result += sum;")
        # Lengths by calls, of several arguments, and of such that can reach MPI.
        self.right("static int larger(int a, int b) { return a > b ? a : b; } static int after(int a, int b) { deep(1, 1); return larger(a, b); }"
                   "static long all(int n) { long a[larger(n, 3)], b[after(n, 2)][after(deep(0, 0) + 2, n)], c[after(after(n, 4), 1)], s = 0; int k;"
                   " for (k = 0; k < n; k++) { a[k] = deep(k, 1); b[k][1] = k; c[k] = a[k]; } deep(1, 1); for (k = 0; k < n; k++) s += a[k] + b[k][1] * c[k];"
                   " return s + sizeof b + sizeof c; }", "result += all(i % 5 + 1);")

    def test_rows_of_variable_length(self):
        """Arrays that are given to somebody as a whole, and pointers to rows: parameters, variables that change, pointers to such."""
        self.right("""
static double sum(int n, int m, double a[n][m]) { double s = 0; for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) { s += a[k][j]; if (j == 0) deep(1, 1); } return s; }
static void step(int n, int m, const double (*from)[m], double (*b)[m]) {
  double (*a)[m] = malloc(n * sizeof *a); memcpy(a, from, n * sizeof *a);
  for (int k = 0; k < 3; k++) {
    for (int i = 0; i < n; i++) { for (int j = 0; j < m; j++) b[i][j] = a[i][(j + 1) % m] + k; deep(1, 1); }
    double (*t)[m] = a; a = b; b = t;
  }
  m = 1; deep(1, 1); a[1][0] += sizeof a[0] / sizeof a[0][0];
  free(b);
}
static void fill(int n, int m, int q, int (*c)[m][q + 1]) { for (int k = 0; k < n; k++) { memset(c[k], k, sizeof c[k]); deep(1, 1); c[k][0][0]++; } c++; deep(1, 1); c[0][1][1] = 7; }
static long work(int n) {
  int m = n + 2; long r = 0;
  double a[n][m], row[m]; int c[n][m][4]; char name[n * 8]; double (*heap)[m] = malloc(n * sizeof(double[m])), (*none)[m] = NULL, (**at)[m] = &heap, (*whole)[n][m] = &a;
  const double *last;
  for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) heap[k][j] = a[k][j] = k * j;
  MPI_Bcast(a, n * m, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  step(n, m, a, heap); fill(n, m, 3, c);
  memcpy(row, heap[1], sizeof row); deep(1, 1); last = row + m - 1; snprintf(name, sizeof name, "%d of %d", n, m); deep(1, 1);
  r += sum(n, m, *whole) + (*at)[1][2] + *last + strlen(name) + c[1][1][1] + (none == NULL) + sizeof a + sizeof(row);
  { double (*rest)[m] = *at + 1; for (int k = 3; k-- > 0 && rest < *at + n; rest++) { r += (*rest)[k]; deep(1, 1); } }
  heap = realloc(heap, (n + 1) * sizeof *heap); deep(1, 1); heap[n][m - 1] = 5; r += heap[n][m - 1] + (long)((char *)(heap + 1) - (char *)heap);
  for (int k = 0; k < 3; k++) { int t[k + 1][k + 2]; memset(t, 0, sizeof t); t[k][k] = k; deep(1, 1); r += t[k][k] + sizeof t; if (k == 1) continue; deep(1, 1); }
  free(heap);
  return r;
}""", "result = result % 100000 + work(i % 7 + 2);")

    def test_arrays_of_variable_length_in_directives(self):
        self.right("static double in_parallel(int n, int m) { double a[n][m], v[m], s = 0;\n#pragma omp parallel for collapse(2)\n"
                   "for (int k = 0; k < n; k++) for (int j = 0; j < m; j++) a[k][j] = k + j;\ndeep(1, 1);\n#pragma omp parallel for reduction(+:s) shared(v)\n"
                   "for (int j = 0; j < m; j++) { v[j] = j; for (int k = 0; k < n; k++) s += a[k][j] * (j + 1); }\ndeep(1, 1); return s + v[1] + a[1][1] + sizeof a; }",
                   "result += in_parallel(3, i % 5 + 2);", "-fopenmp")

    def test_addresses_of_arrays_of_variable_length(self):
        """&a is that of the beginning, where any address is wanted."""
        self.right("static long all(int n) { long a[n], b[n + 1], sum = 0; int k; for (k = 0; k < n; k++) a[k] = deep(k, 1); MPI_Bcast(&a, n, MPI_LONG, 0, MPI_COMM_WORLD);"
                   " memcpy(&b, &a, n * sizeof(long)); deep(1, 1); for (k = 0; k < n; k++) sum += b[k] * (k + 1); { int c[n]; memset(&c, 1, n * sizeof(int)); sum += c[n - 1]; }"
                   " return sum; }", "result += all(i % 5 + 1);")

    def test_parts_of_arrays_of_variable_length(self):
        """Addresses of elements and of what is in them, and rows."""
        self.right("struct part { long a, b[3]; }; static long sum(const long *of, int n) { long s = 0; while (n--) s += *of++; return s; }",
                   "{ struct part p[i % 3 + 1]; long v[i % 4 + 2][3], *last = &p[i % 3].b[1]; long (*b)[3] = &p[0].b; int k; memset(p, 0, sizeof(struct part) * (i % 3 + 1));"
                   "for (k = 0; k < 3; k++) v[1][k] = k; *last = i; result += deep(*last, 1) - deep(i, 1) + sum(v[1], 3) - 3 + (*b)[2] + (p[i % 3].b[1] - i) + (&v[1][2] - v[1] - 2); }")

    def test_alloca(self):
        """Its memory lives as long as the function: from turn to turn, and in each call of it by itself."""
        self.right("#include <alloca.h>\nstruct item { struct item *next; long value; };"
                   "static long listed(int n) { struct item *list = NULL, *a; long s = 0; int k;"
                   "  for (k = 0; k < n; k++) { a = alloca(sizeof *a); a->next = list; a->value = k; list = a; deep(k, 1); if (n > 3 && k == 2) s += listed(2) - 1; }"
                   "  for (k = 0; k < 300; k++) MPI_Barrier(MPI_COMM_WORLD);"
                   "  if (n == 4) { for (a = list; a; a = a->next) s += a->value; return s; }"
                   "  for (a = list; a; a = a->next) s += a->value; return s; }"
                   "static long leaf(int n) { char *p = alloca(n + 1); memset(p, 1, n); p[n] = 0; return strlen(p); }",
                   "result += listed(4) - 6 + leaf(i) - i;")

    def test_variable_arguments(self):
        """A function that is done with them before it calls MPI."""
        self.right("#include <stdarg.h>\nstatic long all(int n, ...) { long s = 0; int k; va_list of; va_start(of, n); for (k = 0; k < n; k++) s += va_arg(of, long); va_end(of);"
                   " for (k = 0; k < 300; k++) MPI_Barrier(MPI_COMM_WORLD); return deep(s, 2) - deep(0, 2); }"
                   "static long told(const char *how, ...) { char text[50]; { va_list of; va_start(of, how); vsnprintf(text, 50, how, of); va_end(of); }"
                   " MPI_Barrier(MPI_COMM_WORLD); return strlen(text); }"
                   "static long ended(int n, ...) { va_list of; long s; va_start(of, n); s = va_arg(of, long); s += deep(s, n) - deep(0, n); va_end(of); return s; }",
                   'result += all(3, 1L, 2L, (long)i) - 2 * (i + 3) + told("%d %s", 12, "ab") - 5 + ended(2, (long)i) - 3 * i;')

    def test_jumps(self):
        """Out of functions none of which is there when a line is taken."""
        self.right("#include <setjmp.h>\nstatic jmp_buf out; static int depth(int n) { if (n > 20) longjmp(out, n); return depth(n + 3); }"
                   "static int how(int n) { int c = setjmp(out); return c ? c : depth(n); }",
                   "result += how(i % 20) - 21 >= 0 && how(0) == 21 ? 0 : 1000;")

    def test_what_the_library_keeps(self):
        """Places, settings, handlers and results of the C library."""
        self.right(r"""
#define _GNU_SOURCE
#include <errno.h>
#include <fenv.h>
#include <locale.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
extern int asprintf(char **, const char *, ...); extern int feenableexcept(int); extern int fegetexcept(void);
static int heard; static long ends;
static void hear(int s) { heard += s == SIGUSR1; }
static int own; static void bye(void) { if (own == 0) printf("bye %d\n", heard); }
static char text[] = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30", *word, *why, *said, zone[20];
static struct tm *when; static time_t zero;
""", r"""
if (i == 0) {
  setvbuf(stdout, NULL, _IOFBF, 0); atexit(bye); own = rank; signal(SIGUSR1, hear); setlocale(LC_ALL, "C.UTF-8"); fesetround(FE_UPWARD);
  feenableexcept(FE_INVALID); why = strerror(ENOENT); when = gmtime(&zero); word = strtok(text, " ");
}
raise(SIGUSR1); deep(1, 1);
if (word) { result += atoi(word); word = strtok(NULL, " "); }
free(said); asprintf(&said, "%d:%s", i, why); result += strlen(said) + fegetround() + fegetexcept() + when->tm_year;
strftime(zone, sizeof zone, "%Z", when); result += zone[0] + strlen(setlocale(LC_ALL, NULL));
{ volatile double one = 1, three = 3; result += one / three > 1 / 3.; }
""", "-lm")

    def test_profiling_interface(self):
        """Its names are those of MPI, but in text."""
        self.right('#define CALL(name) P##name\nstatic const char *what = "PMPI_Barrier", letter = \'\\\'\', *other = "\\"PMPI_"; int PMPI_own = 3;\nstatic int (*by)(MPI_Comm, int *) = PMPI_Comm_rank;',
                   "{ int sum, me; double begin = PMPI_Wtime(); by(MPI_COMM_WORLD, &me); if (me != rank || begin > PMPI_Wtime()) result = -1; deep(1, 1);"
                   " PMPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CALL(MPI_Barrier)(MPI_COMM_WORLD);"
                   " result += sum + strlen(what) + strlen(other) + letter + PMPI_own; }")

    def test_positions_in_files(self):
        self.right("static FILE *file; static fpos_t at;",
                   "{ char line[20] = \"\"; fpos_t here; if (file == NULL) { file = fopen(rank == 0 ? \"positions-0\" : \"positions-1\", \"w+\"); fputs(\"one\\ntwo\\nthree\\n\", file);"
                   " rewind(file); fgets(line, 20, file); fgetpos(file, &at); } fgetpos(file, &here); fsetpos(file, &at); deep(1, 1); fgets(line, 20, file); result += strlen(line) + line[1];"
                   " if (i % 3 == 2) fsetpos(file, &here); }")

    def test_initial_values_that_gcc_computes(self):
        self.right("#include <math.h>\nstatic const double pi = 4 * atan(1.0); double table[2] = {sqrt(2.25), 1}; const double other = acos(-1.0);",
                   "{ static double half = sqrt(0.25); half += pi * i + table[i % 2] - other * i; deep(1, 1); result += half; }", "-lm")

    def test_what_is_said_of_statements(self):
        """It stays where nothing in them can reach MPI."""
        self.right("", """switch (i % 4) { case 0: result++; __attribute__((fallthrough)); case 1: deep(1, 1); result += 2; [[fallthrough]]; default: result += 3; }
{ int k;
#pragma GCC unroll 4
  for (k = 0; k < 8; k++) result += k;
#pragma unroll 4
  for (k = 0; k < 4; k++) result += deep(k, 1);
#pragma unroll(2)
  for (k = 0; k < 4; k++) result += k;
#pragma GCC ivdep
  for (k = 0; k < 4; k++) deep(k, 1); }""")

    def test_structs_by_macros_of_system_headers(self):
        outside = """#include <sys/queue.h>
struct node { long n; TAILQ_ENTRY(node) link; LIST_ENTRY(node) also; };
static TAILQ_HEAD(all, node) all = TAILQ_HEAD_INITIALIZER(all); LIST_HEAD(some, node) some;"""
        inside = """{ struct node *one = malloc(sizeof *one), *k; one->n = i;
  TAILQ_INSERT_TAIL(&all, one, link); if (i % 3 == 0) LIST_INSERT_HEAD(&some, one, also);
  deep(1, 1); TAILQ_FOREACH(k, &all, link) result += k->n; LIST_FOREACH(k, &some, also) result -= k->n; }"""
        self.right(outside, inside)

    def test_a_static_that_leads_to_its_function(self):
        self.right("static long down(int n) { static long (*self)(int) = down; return n == 0 ? deep(1, 1) : self(n - 1) + n; }", "result += down(i % 4);")

    def test_atomic_and_wide_numbers(self):
        """Of 128 bits and more: bytes, which is told."""
        self.right("""#include <poll.h>
#include <stdatomic.h>
static _Atomic long all; static struct pollfd polled[2]; static unsigned __int128 wide[2] = {1, 2}; static int lock;
static unsigned __int128 half(unsigned __int128 x) { unsigned __int128 kept = x / 2; deep(1, 1); return kept + 1; }""",
                   """{ atomic_int n = i; while (__sync_lock_test_and_set(&lock, 1)) {} n++; atomic_fetch_add(&all, i); wide[i % 2] *= 1000003; wide[0] += half(wide[1]);
  polled[i % 2].fd += __sync_fetch_and_add(&lock, 1); __sync_lock_release(&lock); deep(1, 1); result += n + all + (long)(wide[0] % 1001) + polled[1].fd; }""")

    def test_what_others_may_change(self):
        """A process has looked at it behind its part of the line, and told the other one before that took its own: a restart sees the same."""
        outside = """#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/times.h>
#include <unistd.h>
static int step;
static double seen(int k) {
  struct stat about, other; struct tms used; struct rusage all; FILE *made; volatile double work = 0; int n;
  for (n = 0; n < 300000 * (k % 3 + 1); n++) work += n;
  if (k % 5 == 0) return made = fopen("seen", "w"), fclose(made), stat(stat(".", &other) == 0 ? "seen" : "", &about), about.st_mtim.tv_nsec;
  if (k % 5 == 1) return times(&used) + used.tms_utime;
  if (k % 5 == 2) return getrusage(RUSAGE_SELF, &all), all.ru_utime.tv_usec;
  return k % 5 == 3 ? access("there", F_OK) : (made = fopen("new", "r")) == NULL ? 7 : fclose(made);
}
static double given[15], kept[15];"""
        inside = """if (i < 15) {
  if (rank == 1) given[i] = seen(i), MPI_Send(&given[i], 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  else MPI_Recv(&kept[i], 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
} else if (i == 15) { int k;
  if (rank == 1) MPI_Send(given, 15, MPI_DOUBLE, 0, 2, MPI_COMM_WORLD); else MPI_Recv(given, 15, MPI_DOUBLE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (k = 0; k < 15 && rank == 0; k++) result += given[k] != kept[k]; }"""
        self.write("prog.c", PROGRAM.replace("result += deep(i, 5);", "if (i >= 15) result += deep(i, 5);") % (outside, inside))
        self.cc("prog.c", "-w", "-D_GNU_SOURCE", "-o", "prog")
        lines, right = os.path.join(self.home, "lines"), None
        for before in self.chance.sample(range(3, 12), 4):
            for name in ("seen", "new"):
                if os.path.exists(os.path.join(self.home, name)): os.remove(os.path.join(self.home, name))
            is_there = self.chance.randrange(2)
            if is_there: self.write("there", "")
            out, said = self.planned("prog", (before + 3, before))
            right = right or out
            self.assertEqual(out, right, said)
            self.assertEqual(launch.committed(lines), [1], said)
            self.write("new", "")
            if is_there: os.remove(os.path.join(self.home, "there"))
            else: self.write("there", "")
            again, said = self.planned("prog", ELC_RESTART="1")
            self.assertEqual(again, right, "%d %s" % (before, said))
            os.remove(os.path.join(self.home, "there")) if not is_there else None
            shutil.rmtree(lines)

    def test_errno(self):
        """Of a call that failed before MPI was asked whether one has failed anywhere; neither a line nor a restart changes it."""
        self.right("#include <errno.h>", 'errno = 0; { FILE *none = fopen(i % 2 ? "not/there" : ".", "w"); long bad = none == NULL; deep(1, 1);'
                   ' result += errno == (i % 2 ? ENOENT : EISDIR) ? bad : 1000; result += strcmp(strerror(errno), strerror(i % 2 ? ENOENT : EISDIR)) != 0; }')

    def test_results_as_they_are_declared(self):
        self.right("#include <signal.h>\n#include <time.h>\n#include <unistd.h>\nstatic int signals; static void caught(int n) { signals += n; }",
                   """{ time_t t = 86400L * i; char text[] = "one,two", *copy = strdup("copy"); void (*before)(int);
  result += localtime(&t)->tm_year + (*gmtime(&t)).tm_mon + (sizeof *localtime(&t) == sizeof(struct tm)) + ctime(&t)[3] + *asctime(gmtime(&t));
  result += (getenv("PATH")[0] == 0) + strtok(text, ",")[0] + *strerror(0) + getcwd(NULL, 0)[0] + strdup("x")[0];
  before = signal(SIGUSR1, caught); deep(1, 1); if (before == caught) signal(SIGUSR1, caught)(1); result += signals + copy[1]; }""", "-D_GNU_SOURCE")

    def test_times_of_day(self):
        """With the names of their zones, which the C library has."""
        self.right("#include <time.h>\nstatic struct tm kept[6];", """{ time_t t = 86400L * i; char text[64] = ""; int k;
  localtime_r(&t, &kept[0]), gmtime_r(&t, &kept[1]), kept[2] = kept[1], mktime(&kept[2]), kept[3] = kept[1], timegm(&kept[3]);
  memset(&kept[4], 0, sizeof kept[4]), strptime("2005-06-07", "%%Y-%%m-%%d", &kept[4]), mktime(&kept[4]), kept[5] = *localtime(&t);
  { struct tm none; memset(&none, 'A', sizeof none); strptime("2001", "%%Y", &none), mktime(&none); result += none.tm_year; memset(&none, 0, sizeof none); }
  deep(1, 1);
  for (k = 0; k < 6; k++) strftime(text, sizeof text, "%%Z %%j", &kept[k]), result += strlen(text) + text[0] + atol(text + 4); }
  { char why[64]; const char *said = strerror_r(i %% 3, why, sizeof why); deep(1, 1); result += said[1] + strlen(said); }""".replace("%%", "%"), "-D_GNU_SOURCE")

    def test_handlers_for_once(self):
        self.right("#include <signal.h>\nstatic int caught; static void note(int n) { caught++; } static struct sigaction before;",
                   """{ struct sigaction set, now; if (i == 0) memset(&set, 0, sizeof set), set.sa_handler = note, set.sa_flags = SA_RESETHAND, sigaction(SIGUSR2, &set, &before);
  if (i == 3) raise(SIGUSR2); deep(1, 1); sigaction(SIGUSR2, NULL, &now); deep(1, 1); result += caught + (now.sa_handler == SIG_DFL) + (before.sa_handler == SIG_DFL); }""")

    def test_locks_without_threads(self):
        """A program that could have several, in one that has one: a lock is open, or the program opens it."""
        self.right("""#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct { long n; pthread_mutex_t own; } *shared;
static long next(void) { long n; pthread_mutex_lock(&lock); n = ++shared->n; pthread_cond_signal(&changed); pthread_mutex_unlock(&lock); return n; }""",
                   """if (i == 0) shared = calloc(1, sizeof *shared), pthread_mutex_init(&shared->own, NULL);
pthread_mutex_lock(&shared->own); deep(1, 1); result += next(); if (pthread_mutex_trylock(&shared->own) == 0) result = 0; pthread_mutex_unlock(&shared->own);""", "-lpthread")

    def test_clocks(self):
        """They go on from where the line was taken, also those of a processor."""
        outside = """#include <sys/resource.h>
#include <sys/times.h>
#include <time.h>
static double (*wall)(void) = MPI_Wtime, last[6];
static long back(void) {
  long n = 0;
  int k;
  volatile double work = 0;
  struct timespec t, p;
  struct tms used;
  struct rusage all;
  for (k = 0; k < 100000; k++) work += k;
  clock_gettime(CLOCK_MONOTONIC, &t), clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &p), getrusage(RUSAGE_SELF, &all);
  double now[] = {wall(), clock(), t.tv_sec + 1e-9 * t.tv_nsec, p.tv_sec + 1e-9 * p.tv_nsec, times(&used), all.ru_utime.tv_sec + 1 + 1e-6 * all.ru_utime.tv_usec};
  for (k = 0; k < 6; k++) n += now[k] < last[k], last[k] = k == 5 ? now[k] - 1 : now[k];
  return n;
}"""
        self.right(outside, "result += back();", "-D_GNU_SOURCE")

    def test_functions_that_only_tables_name(self):
        self.right("static int (*drawn)(void) = rand; static void (*set)(unsigned) = srand;", "if (i == 0) set(5); result += drawn();")

    def test_unions_of_numbers_of_one_type(self):
        """By name and by index; no word of it, and machines of another representation may have it."""
        outside = ("typedef union { struct { double x, y, z; }; double v[3]; } vector; typedef union { float m[2][2]; struct { float a, b; } row[2]; } matrix;"
                   "static struct particle { vector at; int id; matrix m; } *all; static union { long one; long many[2]; } counts;")
        inside = ("if (all == NULL) all = calloc(4, sizeof *all); all[i % 4].at.v[i % 3] += i; all[i % 4].m.m[1][i % 2] += 1; counts.many[i % 2]++; deep(1, 1);"
                  "result += all[1].at.x + all[2].at.z + all[3].m.row[1].b + counts.one;")
        self.write("prog.c", PROGRAM % (outside, inside))
        self.assertEqual("", self.cc("prog.c", "-o", "prog"))
        self.right(outside, inside)

    def test_stack(self):
        """Arrays of blocks that follow each other, some with initial values, take more of it than compilers take."""
        block = "{ double a[300000]%s; a[i] += i; deep(1, 1); result += a[i]; }"
        self.right("", "if (i == 9) memset(memset((char[4]){0}, 1, 4), 0, 4);" + "".join(block % initial for initial in (" = {0}", " = {1, 2}", " = {[7] = 1.5}")) +
                   '{ char text[3000000] = ""; text[i] = i; deep(1, 1); result += text[i]; }')

    def test_alignment_by_the_type(self):
        self.right("typedef float vector[16] __attribute__((aligned(64))); static long is_off(void *at) { return (unsigned long)at % 64; }",
                   "{ char c = i; vector v = {1}; char d = c; vector w; static char e; static vector x; w[0] = x[1] = v[0]; deep(c, 1); result += is_off(v) + is_off(w) + is_off(x) + w[0] + c + d + e; }")

    def test_members_that_are_never_set(self):
        """What a function leaves out of a struct that it copies to the heap is nothing: not what the stack had there."""
        self.right("""struct part { double at[3], by[3]; int n; };
static char table[64];
__attribute__((noinline)) static void leave_addresses(void) { char *volatile p[64]; int k; for (k = 0; k < 64; k++) p[k] = table + k; }
__attribute__((noinline)) static struct part *made(double x) {
  struct part one, *kept = malloc(sizeof *kept);
  one.at[0] = one.at[1] = one.at[2] = x;
  one.n = 1;
  *kept = one;
  return kept;
}
static struct part *all[100];""", "leave_addresses(); all[i] = made(i); deep(1, 1); result += all[i]->at[1] + all[i / 2]->n;")

    def test_standard_output_that_is_closed(self):
        self.right("", "if (i == 0 && rank != 0) fclose(stdout); deep(1, 1); if (rank != 0) printf(\"%d\\n\", i);")

    def test_reading_what_is_written(self):
        """To its end, which is farther on when it is restarted."""
        self.right("static FILE *out, *in;", "{ char line[20]; if (out == NULL) { const char *name = rank == 0 ? \"both-0\" : \"both-1\"; out = fopen(name, \"w\"); in = fopen(name, \"r\"); }"
                   " fprintf(out, \"%d\\n\", i * i); fflush(out); while (fgets(line, 20, in)) result += atol(line); deep(1, 1); clearerr(in); }")

    def test_the_left_side_is_read_before_the_call(self):
        """Of operators that compilers evaluate so, when the call changes it."""
        self.right("static long level = 90; static int shrink(int *n) { deep(1, 1); *n = *n / 2 + 1; return 1; } static long lower(void) { deep(1, 1); level = level * 2 / 3 + 9; return level + 2; }",
                   "{ int n = 100 + i, m = 50 + i; static short s = 1000; result += n - shrink(&n); result += 3 * ((n - shrink(&n)) % 100) + n / shrink(&n) + (m << shrink(&m)) - m % (shrink(&m) + 2);"
                   " result += level - lower() - (level - lower()) % 7 + level / lower(); s = s - lower() % 3; result += s; }")

    def test_names_that_hide_others(self):
        """A parameter has a typedef's name, a block declares what another block has as a variable of its own, a frame's own names."""
        self.right(r"""
typedef struct { int a, b; } pair; typedef struct { double x; } both; long shared = 5;
static pair give(int k) { pair p = {k, 2}; deep(1, 1); return p; }
static long hidden(int pair) { return give(pair).a + pair; }
static long hides(const both both) { return (long)both.x + give(3).b; }
static long shares(void) { long sum = 0; { extern long shared; shared += deep(1, 1) & 1; sum = shared; } { long shared = deep(2, 1); sum += shared; } return sum; }
static long digraphs(int i) <% int elc_f = i, elc_h<:2:> = <%3, 4%>; deep(1, 1); return elc_f + elc_h<:1:>; %>
""", "{ both b = {i}; result += hidden(i) + hides(b) + shares() + digraphs(i); }")

    def test_pointers_to_anything(self):
        """They lead to streams and functions, too: in variables, in lists and in tables from malloc."""
        self.right("""struct item { struct item *next; void *what; int kind; }; static struct item *all; static void *log_of, *none, **table; static int heard;
static int twice(int x) { return 2 * x; } static int minus(int x) { return -x; }
static void add(void *what, int kind) { struct item *one = malloc(sizeof *one); one->next = all; one->what = what; one->kind = kind; all = one; }""",
                   """{ struct item *at; long size = 0; if (i == 0) { log_of = fopen(rank == 0 ? "any-0" : "any-1", "w+"); add(log_of, 0); add((void *)twice, 1); add((void *)minus, 1); add(stderr, 2); none = stdin;
table = malloc(5 * sizeof *table); table[0] = (void *)minus; table[1] = log_of; table[2] = all; table[3] = NULL; table[4] = stdout; }
deep(1, 1);
for (at = all; at != NULL; at = at->next) { if (at->kind == 0) fprintf((FILE *)at->what, "%d\\n", i); if (at->kind == 1) result += ((int (*)(int))at->what)(i); if (at->kind == 2) result += at->what == (void *)stderr; }
fseek((FILE *)table[1], 0, SEEK_END); size = ftell((FILE *)log_of); result += size + ((int (*)(int))table[0])(1) + (table[2] == all) + (none == stdin) + (table[4] == stdout); }""")

    def test_numbers_in_pointers_to_functions(self):
        """As SIG_IGN and SIG_ERR are, in variables and on the heap."""
        self.right("#include <signal.h>\ntypedef void (*handler)(int); static handler before, none = SIG_ERR; static struct { handler f; int n; } *all; static int heard; static void hear(int s) { heard += s; }",
                   "if (i == 0) { signal(SIGUSR1, SIG_IGN); signal(SIGUSR2, hear); all = calloc(3, sizeof *all); all[1].f = SIG_IGN; all[2].f = SIG_ERR; } before = signal(SIGUSR1, i % 2 ? SIG_IGN : hear);"
                   " deep(1, 1); raise(SIGUSR1); signal(SIGUSR1, before); result += heard + (before == SIG_IGN) + 3 * (none == SIG_ERR) + 5 * (all[1].f == SIG_IGN) + 7 * (all[2].f == SIG_ERR) + 9 * (all[0].f == SIG_DFL);")

    def test_statics_that_need_what_is_inside(self):
        """Functions and variables that the block declares, and the size of another variable."""
        self.right(r"""
static long use(int i) {
  int later(int);
  extern long table[4];
  char line[80];
  double m[3][4];
  static int (*f)(int) = later;
  static long *t = &table[1];
  static const size_t most = sizeof line, all = sizeof m / sizeof m[0] + sizeof(m[0][0]);
  static struct { int (*g)(int); int n; } s = {later, sizeof line * 2};
  static char buffer[sizeof line];
  deep(1, 1);
  t[i % 2]++;
  snprintf(line, most, "%d", i);
  buffer[i % 80] += line[0];
  return f(i) + (long)all + s.g(1) + s.n + (long)sizeof buffer + buffer[i % 7] + *t;
}
long table[4] = {1, 2, 3, 4};
int later(int i) { return 3 * i; }
""", "result += use(i);")

    def test_unions_of_pointers(self):
        """It does not matter which of them is in use; and an attribute that clang does not know."""
        self.right("#include <signal.h>\nextern void *made(int) __attribute__((__malloc__, __malloc__(free), __alloc_size__(1)));"
                   "union both { long *l; void *v; char *c; } u; static int heard; static void hear(int s) { heard += s; }",
                   "{ struct sigaction s = {0}; s.sa_handler = hear; sigemptyset(&s.sa_mask); if (i == 0) { sigaction(SIGUSR2, &s, NULL); u.l = calloc(4, 8); }"
                   " deep(1, 1); raise(SIGUSR2); u.l[i % 4] += i; result += u.l[1] + heard; }")

    def test_standard_input(self):
        """What was read is not read again; what was not, and was there, comes from the line."""
        self.write("prog.c", PROGRAM % ("", "int n = 0; char c = 0; if (rank == 0 && scanf(\"%d%c\", &n, &c) == 2) result += n + c; deep(1, 1);"
                                        "if (rank == 0 && i == 60) result += 7 * fgetc(stdin);"
                                        "if (i == 99) result += feof(stdin) != 0; "
                                        "{ int k; for (k = 0; k < 300; k++) MPI_Barrier(MPI_COMM_WORLD); }"))
        self.cc("prog.c", "-w", "-o", "prog")
        numbers = " ".join(str(n) for n in range(80)) + "\n"
        expected = self.start("prog", given=numbers)
        self.assertRegex(expected, "result: [0-9]+\n$")
        lines = os.path.join(self.home, "lines")
        self.assertEqual(self.start("prog", given=numbers, ELC_DIR=lines, ELC_EVERY="0.001", ELC_KEEP="1000"), expected)
        taken = sorted(int(name[5:]) for name in os.listdir(lines) if name.startswith("line-"))
        self.assertTrue(taken)
        for line in (taken[0], taken[len(taken) // 2], taken[-1]):
            self.assertIn(expected, self.start("prog", ELC_DIR=lines, ELC_RESTART=str(line)))

    def test_aligned_memory_and_bound_processors(self):
        self.right("#include <malloc.h>\n#include <sched.h>\nstatic double *a, *b; static long *c; static cpu_set_t here;"
                   "static long off(void *p, long by) { return (long)p % by != 0; }",
                   "{ cpu_set_t set; void *p; CPU_ZERO(&set); sched_getaffinity(0, sizeof set, &set); if (i % 7 == 0) sched_setaffinity(0, sizeof set, &set);"
                   "if (!a) { a = posix_memalign(&p, 4096, 24) ? 0 : p; b = aligned_alloc(256, 512); c = memalign(64, 40); here = set; memset(a, 0, 24); memset(b, 0, 512); memset(c, 0, 40); }"
                   "deep(i, 1); a[i % 3] += i * 0.5; b[i % 64] += i; c[i % 5] += (CPU_COUNT(&set) == CPU_COUNT(&here));"
                   "result += a[1] + b[7] + c[2] + 1000000 * (off(a, 4096) + off(b, 256) + off(c, 64)); }", "-D_GNU_SOURCE")

    def test_inline_without_a_definition(self):
        """That no file has otherwise: the compiler had to put it where it is called."""
        self.right("__attribute__((always_inline)) inline long once(long x) { return deep(x, 1) + 1; }", "result += once(i);", "-O2", "-std=gnu11")

    def test_vectors_without_threads(self):
        self.right("", """{ int k; long s = 0; deep(1, 1);
    #pragma omp simd reduction(+ : s)
    for (k = 0; k < 8; k++) s += k * i;
    result += s; }""", "-fopenmp-simd")

    def test_strings_found_in_strings(self):
        self.right("static const char *at;", 'at = strchr("0123456789", \'0\' + i % 10); deep(1, 1); result += *at;')


    def test_numbers_of_other_sizes(self):
        """Memory that a pointer to longer numbers leads into, too, and one to shorter ones or a member alone."""
        outside = "struct held { int *n; }; static struct held first, *all[100]; static int *numbers; static long *of_first, *of_numbers, *within; static double *of_others; static int *others;"
        inside = """
if (i == 0) {
  numbers = malloc(400 * sizeof *numbers); first.n = malloc(100 * sizeof *first.n);
  for (int k = 0; k < 400; k++) numbers[k] = k, first.n[k / 4] = k;
  of_first = (long *)first.n; of_numbers = (long *)numbers; within = (long *)(numbers + 200);
  others = malloc(100 * sizeof *others); of_others = (double *)others;
  for (int k = 0; k < 100; k++) others[k] = k;
}
of_others[i / 2] *= 2; result += others[i];
of_first[i / 2] += i; of_numbers[i] ^= i << 3; within[2]++;
result += numbers[i] + first.n[i] + numbers[204]; """
        self.right(outside, inside)

    def test_numbers_of_other_sizes_again(self):
        """A restart knows no better what they are: its lines have bytes, too."""
        self.write("prog.c", PROGRAM % ("struct held { int *n; }; static struct held first; static long *of_first;",
                                        "if (i == 0) { first.n = malloc(400); of_first = (long *)first.n; } first.n[i] += i; result += first.n[i / 2];"))
        self.cc("prog.c", "-o", "prog")
        lines = os.path.join(self.home, "lines")
        for restart in ({}, {"ELC_RESTART": "1"}):
            before = launch.newest(lines)
            _, said = self.planned("prog", 20, **restart)
            self.assertGreater(launch.newest(lines), before, said)
            said = self.run_words(self.tool, "show", "--dir", lines, str(launch.newest(lines)))
            self.assertRegex(said, r"1 block +bytes\[400\]")
            finished = os.path.join(lines, "finished")
            if os.path.exists(finished):
                os.remove(finished)

    def test_another_directory(self):
        """Each rank goes to one of its own; a file from before, and those that are there. Then one in which a restart touches nothing."""
        outside = "#include <unistd.h>\n#include <sys/stat.h>\nstatic FILE *before, *here; static char name[20], at[4096];"
        inside = """
if (i == 3) {
  sprintf(name, "before%d", rank); before = fopen(name, "w"); sprintf(name, "home%d", rank); mkdir(name, 0777);
  if (chdir(name) != 0) result = -1;
  here = fopen("here", "w+");
}
if (i == 60 && chdir("..") != 0) result = -1;
if (i > 3) { fprintf(before, "%d\\n", i); fprintf(here, "%d\\n", i); result += ftell(before) + ftell(here) + strlen(getcwd(at, sizeof at)); }
if (i == 99) { fclose(before); fclose(here); before = fopen("home0/here", "r"); fseek(before, 0, SEEK_END); result += ftell(before); }"""
        self.right(outside, inside)
        self.write("prog.c", PROGRAM % (outside, 'if (i == 3 && chdir("/usr") != 0) result = -1;'))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line("abandoned.*: the directory in which the program works: .* lies in /usr, and a restart touches files only below")

    def test_compound_literals(self):
        """They live as long as their blocks, whoever leads to them."""
        self.right("""
struct pair { int a, b, all[3]; }; struct list { struct pair *of; const char *name; };
static double norm(const double *v, int n) { double s = 0; while (n-- > 0) s += v[n] * v[n]; return s; }
static int count(int k) { return 3 * k + 1; }
static int *keep(int *p) { return p; }
static int use(int *p) { int s = 0, k; for (k = 0; k < 3; k++) { deep(1, 1); s += ++*p; } return s; }
static int *kept;
""", """
{ int got = 0, x = i, *q = keep((int[]){i, 2, 3}), *p = &(struct pair){1, i}.b, *r = (struct pair){1, 2, {3, i, 5}}.all; double s, two[2], v[4] = {1, 2, 3, i};
  struct list l = {&(struct pair){.a = i, .all = {1, i, 3}}, "a literal"}; char text[20];
  kept = (int[2]){i, i + 1};
  MPI_Sendrecv(&(int){count(i)}, 1, MPI_INT, 1 - rank, 0, &got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, &(MPI_Status){0});
  result += got;
  MPI_Allreduce(&(double){norm(v, 4)}, &s, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allreduce((double[]){norm(v, 2), norm(v, 3)}, two, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv(strcpy((char[20]){0}, rank ? "one" : "zero"), 20, MPI_CHAR, 1 - rank, 0, text, 20, MPI_CHAR, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(&(int){x++}, 1, MPI_INT, 0, MPI_COMM_WORLD);
  result += s + two[0] + two[1] + strlen(text) + use(&(struct pair){10 + rank}.a) + use((int[]){i, 1}) + x;
  deep(1, 1); ++*p; q[0]++; r[1]++; l.of->all[1]++; kept[0] += deep(1, 1) + kept[1];
  result += *p + q[0] + q[2] + r[1] + r[2] + l.of->all[1] + l.of->all[2] + l.of->a + kept[0] + strlen(l.name); }
""")

    def test_arrays_of_results(self):
        """In a struct that a function returns, or that another value is: they are there as long as the call that is given them."""
        self.right("""
struct row { double v[4]; }; struct table { int n; struct row rows[2]; }; struct name { char s[16]; };
static struct row some = {{1, 2, 3, 4}}, other = {{5, 6, 7, 8}};
static struct row make(int k) { struct row x; int i; for (i = 0; i < 4; i++) x.v[i] = k + i; return x; }
static struct table tables(int k) { struct table t = {k, {make(k), make(k + 1)}}; return t; }
static struct name named(int k) { struct name n; sprintf(n.s, "name%d", k); return n; }
static double use(const double *v, int n) { double s = 0; int i; for (i = 0; i < n; i++) { deep(1, 1); s = s * 3 + v[i]; } return s; }
static double both(double *a, double *b) { a[0]++; b[1]++; deep(1, 1); return a[0] + b[1] + a[3] * b[3]; }
static int length(const char *s) { deep(1, 1); return strlen(s); }
struct view { const double *at; int n; };
static double of_view(struct view w) { return use(w.at, w.n); }
static double of_views(const struct view *w) { return use(w->at, w->n); }
""", """
{ double sum[4];
  result += use(make(i).v, 4) + both(make(i).v, make(i + 1).v) + use((i % 2 ? some : other).v, 4) + use(({ struct row q = make(5); q; }).v, 4) + length(named(i).s);
  result += of_view((struct view){make(i).v, 3}) + of_views(&(struct view){make(i + 2).v, 2});
  result += use(tables(i).rows[1].v, 3) + use(make(i).v + 1, 2) + use(make(deep(1, 1)).v, 2) + use(1 + tables(i).rows[0].v, 2);
  MPI_Allreduce(make(i).v, sum, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); result += sum[3];
  MPI_Sendrecv(make(i + rank).v, 4, MPI_DOUBLE, 1 - rank, 0, sum, 4, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); result += sum[0]; }
""")

    def test_back_to_before_a_declaration(self):
        self.right("static int *p;", "{ int n = 0; p = 0; again: deep(1, 1); if (p) result += *p; int x = 42 + n + i; p = &x; if (n++ < 4) goto again; result += *p; }")

    def test_main_that_is_called_again(self):
        self.write("prog.c", """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  static int depth, sum; int one = 1, all, mine = depth++, i;
  if (mine == 0) MPI_Init(&argc, &argv);
  for (i = 0; i < 20; i++) { MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); sum += all * (mine + 1) + argc; }
  if (mine < 3) main(argc + 1, argv);
  for (i = 0; i < 5; i++) { MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); sum += all + argc; }
  if (mine > 0) return 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &mine);
  if (mine == 0) printf("%d\\n", sum);
  MPI_Finalize();
  return 0;
}
""")
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_restarts("prog", self.start("plain"))

    def test_functions_that_may_be_missing(self):
        """Weak ones that nobody defines: whether there is one a program may ask."""
        self.right("extern void hook(int) __attribute__((weak)); extern int other(void) __attribute__((weak));",
                   "if (hook) hook(i); if (other != NULL && i) result += other(); result += !hook + (other ? 1 : 2); deep(1, 1);")

    def test_attributes_of_typedefs(self):
        """A variable has them in its new place, too."""
        self.right("""
typedef float loose __attribute__((vector_size(16), aligned(4))); typedef float four __attribute__((vector_size(16)));
typedef unsigned __attribute__((may_alias)) bits;
static float numbers[100];
__attribute__((noinline)) static int look(float *f) { bits *p = (bits *)f; int s = 0, k; for (k = 0; k < 3; k++) { f[0] = k + 1.0f; *p ^= 0x80000000u; if (f[0] < 0) s++; if (k == 1) deep(1, 1); } return s; }
""", "{ loose *p = (loose *)(numbers + 1 + i % 4); four s; int k; for (k = 0; k < 100; k++) numbers[k] = k; deep(1, 1); s = *p + p[1]; result += s[0] + s[3] + look(numbers); }", "-O3")
