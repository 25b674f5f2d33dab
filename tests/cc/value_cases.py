"""Values of all types, wherever they are."""

import os
import subprocess

from cases import Cases, launch, PROGRAM


class Values(Cases):
    """Found by attack: right with lines, and after a restart."""

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

    def test_variables_that_end_with_more(self):
        """What an initialiser gives the array at their end is part of lines; what has no initialiser has nothing there."""
        self.right("""
            static double d[4];
            struct s { int n; int more[]; } a = {3, {1, 2, 3}}, none;
            static struct t { char *name; struct e { int k; double *p; } list[]; } t = {"abc", {{1, d}, {2, d + 2}}};
            static const struct t fixed = {"abc", {{1, d}, {2, d + 2}}};
            struct text { long n; char s[]; } text = {2, "hello"};
            int *in = &a.more[1]; struct e *last = &t.list[1]; struct s *whole = &a;""", """
            static struct s inner = {2, {7, 8}}; struct s own; own.n = i;
            inner.more[1]++; whole->more[2] += i; *in += 3; last->p[1] += 0.5; t.list[0].k++; text.s[i % 5]++; none.n++;
            deep(1, 1);
            result += own.n + inner.more[1] + a.more[2] + a.more[1] + fixed.list[1].p[1] + t.list[0].k + text.s[i % 5] + none.n;""")

    def test_strings_that_are_the_same(self):
        self.right('#define NONE "none"\nstatic const char *name = NONE; static const void *wide = L"none";\nstatic const char *pick(int i) { return i % 2 ? NONE : "other"; }',
                   "{ const char *own = NONE; deep(1, 1); result += (name == NONE) + 2 * (pick(i) == name) + 4 * (own == NONE) + 8 * (wide == L\"none\") + 16 * (wide == NONE); }")

    def test_parts_of_paths(self):
        self.right("#include <libgen.h>\nstatic char path[] = \"a/b\", file[] = \"file\", *folder, *here, *last, *none;",
                   "if (i == 0) { none = basename(NULL); last = basename(path); folder = dirname(path); here = dirname(file); }"
                   "deep(1, 1); result += *folder + *here + *last + *none;")

    def test_names_of_variables(self):
        self.right('long a[3]; extern long b[3] __attribute__((alias("a"))); static long c; extern long d __attribute__((alias("c")));\nstatic long *to = &d;',
                   "b[i % 3] += i; d += i; deep(1, 1); a[i % 3] += 2; result += b[i % 3] + c + (to == &c) + (&a[1] == &b[1]);")

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

    def test_variables_behind_calls(self):
        """Those that some way from the call asks for are right behind a restart, and those that none does are in no line: a pointer to what
        a library has is in the way of none."""
        program = r"""
#include <langinfo.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
static int calls;
static int call(int n) { int all; calls++; MPI_Allreduce(&n, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); return all; }
static int deep(int n) { return n > 0 ? deep(n - 1) : call(1); }
static long jumps(int n) { long a = n, b = 2 * n, c = 3; int k = 0;
again: c += a; if (k++ == 3) goto out; a = deep(k) + b; if (k & 1) goto odd; b = c; deep(1); goto again;
odd: b -= a; deep(1); a = b + 1; goto again;
out: deep(0); return a * 3 + b * 5 + c; }
static long device(int n) { long sum = 0, last = -1; int k = (n + 3) / 4;
  switch (n % 4) { case 0: do { sum += call(n); case 3: last = sum; case 2: sum = call(2) - sum; case 1: sum += last; deep(1); } while (--k > 0); }
  return sum * 2 + last; }
static long order(int n) { int x = n, y = n + 1, z = 5; long r = x + call(x) * y; r += call(y) + x; r = (call(1), y) + r; y = x = call(x + 1) + x; r += x > 3 ? call(z) + y : z; r += (call(n) > n && x < y) || z; int w = call(z) + z, v = w + y; return r + w * v; }
static long loops(int n) { long total = 0; int from = 1, left = n % 4 + 2, seen = 0;
  for (int i = 0, step = 1; i < left; i += step) { char *l = nl_langinfo(RADIXCHAR); int local = l[0] + i, later; if (i == 2) { seen = local; continue; } later = local * 2; total += call(local) + from; from = later; if (call(i) > 100) break; while (local-- > 44) total += deep(1) * later; }
  do { int inner = seen + left; if (inner % 2) { total += deep(2); continue; } total += call(inner) + inner; } while (left-- > call(1)); return total + seen + from; }
static long parts(int n) { struct { int a, b; double c; } s = {n, n + 1, .5}, t = s; int array[4] = {1, 2, 3, n}, *p = array + n % 4, *q = &array[1]; long r = *p; call(1); t.a += s.b; r += call(*q) + t.a; s = t; call(2); r += s.c * 4 + s.a; t.b = call(s.b); p = q; call(3); return r + t.b + *p + array[2]; }
static int early(int n, int unused, long used) { if (n % 3 == 0) return call(unused); used += n; if (call(n) < 0) return unused; for (;;) { if (used % 2) return deep(1) + used; used += call(1) | 1; n = used; } }
int main(int argc, char **argv) {
  long result = 0, all; int rank;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 8; i++) { long one = jumps(i), two = device(i + 1); result += one * 3 + two; one = order(i); result = result * 7 % 1000003 + one; result += loops(i) + parts(i); result = result * 5 % 1000003 + early(i, 2 * i, 3); }
  MPI_Reduce(&result, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld\n", all);
  MPI_Finalize();
  return 0;
}
"""
        sites = [40 * k + self.chance.randrange(1, 30) for k in range(7)]
        self.restarts_from_all(program, " ".join(map(str, sites)))

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

    def test_values_of_ranges(self):
        self.right("", "{ int a[4] = {[0 ... 2] = deep(i, 1), [3] = 5}; result += a[0] + a[1] * 3 + a[2] * 5 + a[3]; }")

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

    def test_initial_values_that_gcc_computes(self):
        self.right("#include <math.h>\nstatic const double pi = 4 * atan(1.0); double table[2] = {sqrt(2.25), 1}; const double other = acos(-1.0);",
                   "{ static double half = sqrt(0.25); half += pi * i + table[i % 2] - other * i; deep(1, 1); result += half; }", "-lm")

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

    def test_unions_of_numbers_of_one_type(self):
        """By name and by index; no word of it, and machines of another representation may have it."""
        outside = ("typedef union { struct { double x, y, z; }; double v[3]; } vector; typedef union { float m[2][2]; struct { float a, b; } row[2]; } matrix;"
                   "static struct particle { vector at; int id; matrix m; } *all; static union { long one; long many[2]; } counts;")
        inside = ("if (all == NULL) all = calloc(4, sizeof *all); all[i % 4].at.v[i % 3] += i; all[i % 4].m.m[1][i % 2] += 1; counts.many[i % 2]++; deep(1, 1);"
                  "result += all[1].at.x + all[2].at.z + all[3].m.row[1].b + counts.one;")
        self.write("prog.c", PROGRAM % (outside, inside))
        self.assertEqual("", self.cc("prog.c", "-o", "prog"))
        self.right(outside, inside)

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

    def test_pointers_to_anything(self):
        """They lead to streams and functions, too: in variables, in lists and in tables from malloc."""
        self.right("""struct item { struct item *next; void *what; int kind; }; static struct item *all; static void *log_of, *none, **table; static int heard;
static int twice(int x) { return 2 * x; } static int minus(int x) { return -x; }
static void add(void *what, int kind) { struct item *one = malloc(sizeof *one); one->next = all; one->what = what; one->kind = kind; all = one; }""",
                   """{ struct item *at; long size = 0; if (i == 0) { log_of = fopen(rank == 0 ? "any-0" : "any-1", "w+"); fputs("any\\n", log_of); add(log_of, 0); add((void *)twice, 1); add((void *)minus, 1); add(stderr, 2); none = stdin;
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

    def test_attributes_of_typedefs(self):
        """A variable has them in its new place, too."""
        self.right("""
typedef float loose __attribute__((vector_size(16), aligned(4))); typedef float four __attribute__((vector_size(16)));
typedef unsigned __attribute__((may_alias)) bits;
static float numbers[100];
__attribute__((noinline)) static int look(float *f) { bits *p = (bits *)f; int s = 0, k; for (k = 0; k < 3; k++) { f[0] = k + 1.0f; *p ^= 0x80000000u; if (f[0] < 0) s++; if (k == 1) deep(1, 1); } return s; }
""", "{ loose *p = (loose *)(numbers + 1 + i % 4); four s; int k; for (k = 0; k < 100; k++) numbers[k] = k; deep(1, 1); s = *p + p[1]; result += s[0] + s[3] + look(numbers); }", "-O3")
