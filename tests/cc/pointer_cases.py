"""Where pointers lead: to before, behind and between what they are of, and to where they were moved."""

import os
import shutil

from cases import Cases, launch, PROGRAM


class Pointers(Cases):
    def test_pointers_that_are_set_later(self):
        """Behind the numbers of a block; NULL when the line is taken, and set by way of a pointer that is there already."""
        self.restarts_from_all(r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct field { double *values; struct field **owner; int n; };
static struct field *made(int n) {
  struct field *f = malloc(sizeof *f);
  f->values = (double *)malloc(sizeof(double) * n + sizeof(struct field *));
  memset(f->values, 0, sizeof(double) * n);
  f->owner = (struct field **)(f->values + n);
  f->n = n;
  *f->owner = NULL;
  return f;
}
int main(int argc, char **argv) {
  struct field *all[4];
  double sum = 0;
  int i, k, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (k = 0; k < 4; k++) all[k] = made(100 + k);
  for (i = 0; i < 100; i++) {
    MPI_Barrier(MPI_COMM_WORLD);
    for (k = 0; k < 4; k++) {
      if (i % 25 == 5 * k) *all[k]->owner = i % 50 < 25 ? all[(k + 1) % 4] : NULL;
      all[k]->values[i % all[k]->n] += i + k;
      sum += (*all[k]->owner == NULL ? k : (*all[k]->owner)->n) + all[k]->values[i / 2];
    }
  }
  if (rank == 0) printf("%.17g\n", sum);
  MPI_Finalize();
  return 0;
}
""", "4 25 46 80", "7 14 28")

    def test_pointers_behind_a_struct(self):
        """An array of no size or of one element, with which a struct ends: of pointers, or of structs with some; growing, and all NULL at first."""
        program = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct cell { double x; struct cell *next; };
struct table { int n; struct cell *s[]; };
struct names { size_t n; char *name[1]; };
struct list { struct list *next; int n; struct entry { char *key; int value; struct table *of; } all[]; };
struct rows { int n; double *row[0]; };
struct jobs { int n; MPI_Request all[]; };
static struct names *grow(struct names *m, size_t n) { m = realloc(m, sizeof *m + (n - 1) * sizeof(char *)); while (m->n < n) { char b[20]; sprintf(b, "name %zu", m->n); m->name[m->n++] = strdup(b); } return m; }
int main(int argc, char **argv) {
  int i, k, rank, got[3]; double result = 0, all;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  struct table *t = malloc(sizeof *t + 12 * sizeof *t->s); t->n = 12; for (k = 0; k < 12; k++) t->s[k] = NULL;
  struct names *m = grow(calloc(1, sizeof *m), 3); struct list *lists = NULL;
  struct rows *r = malloc(sizeof *r + 5 * sizeof(double *)); r->n = 5; for (k = 0; k < 5; k++) r->row[k] = calloc(3, sizeof(double));
  struct jobs *jobs = malloc(sizeof *jobs + 3 * sizeof *jobs->all); jobs->n = 3; for (k = 0; k < 3; k++) jobs->all[k] = MPI_REQUEST_NULL;
  for (i = 0; i < 100; i++) {
    if (i % 9 == 4) { struct cell *c = malloc(sizeof *c); c->x = i; c->next = t->s[(i + 1) % 12]; t->s[i % 12] = c; }
    if (i % 20 == 10) m = grow(m, m->n + i % 3 + 1);
    if (i % 30 == 12) { struct list *l = calloc(1, sizeof *l + (i % 7 + 1) * sizeof l->all[0]); l->n = i % 7 + 1; for (k = 0; k < l->n; k++) l->all[k] = (struct entry){m->name[k % m->n], i + k, k % 2 ? t : NULL}; l->next = lists; lists = l; }
    for (k = 0; k < 3; k++) MPI_Irecv(&got[k], 1, MPI_INT, rank, k, MPI_COMM_WORLD, &jobs->all[k]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (k = 0; k < 3; k++) { int n = i * k; MPI_Send(&n, 1, MPI_INT, rank, k, MPI_COMM_WORLD); }
    MPI_Waitall(jobs->n, jobs->all, MPI_STATUSES_IGNORE);
    for (k = 0; k < 12; k++) for (struct cell *c = t->s[k]; c; c = c->next) { result += c->x; c->x += k; }
    for (size_t n = 0; n < m->n; n++) result += strlen(m->name[n]) * m->name[n][5];
    for (struct list *l = lists; l; l = l->next) for (k = 0; k < l->n; k++) result += l->all[k].value + l->all[k].key[5] + (l->all[k].of ? l->all[k].of->n : 0);
    for (k = 0; k < r->n; k++) result += r->row[k][i % 3] += k + got[1];
  }
  MPI_Reduce(&result, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%.15g\n", all);
  MPI_Finalize();
  return 0;
}
"""
        self.restarts_from_all(program, "3 20 35 80 131", "60 71 190")
        self.restarts_from_all(program, "%d" % self.chance.randrange(1, 300))

    def test_pointers_to_behind_variables(self):
        """An array, a struct that ends with one, or a number, of the file or of a function: another executable has others behind it."""
        self.write("prog.c", PROGRAM % (r"""
struct stack { double *top, *end; double v[6]; };
static double a[4] = {1, 2, 3, 4}, b[2] = {5, 6}, c[8], d = 3; static int k[5]; static const double table[3] = {7, 8, 9}; double shared[4], other[4];
static double *ends[6] = {a + 4, b + 2, c + 8, &d + 1, shared + 4, other + 4}, *begins[6] = {a, b, c, &d, shared, other}; static int *end_of_k = k + 5;
static const double *end_of_table = table + 3;
static double push(struct stack *s, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) {
    *--s->top = deep(i, 1);
    if (s->top == s->v) while (s->top != s->end) sum += deep(1, 1) + *s->top++;
  }
  return sum;
}
static double add(double *from, const double *to) { double sum = 0; for (; from != to; from++) sum += *from += deep(1, 1); return sum; }
static double work(int steps) {
  double t = 0, u = 1, v = 2, w = 3, *tab[] = {&u, &v, &w, &t}, **at = tab + 1, x[3] = {1, 2, 3}, y[3] = {4, 5, 6}; double *const *end = tab + 4;
  struct stack s, r; static double kept[2], last[2];
  s.top = s.end = s.v + 6, r.top = r.end = r.v + 6;
  for (int i = 0; i < steps; i++) {
    for (double **q = tab; q != end; q++) **q += deep(1, 1);
    *at[-1] += 1; t += deep(i, 1) + **at;
    if (++at == end) at = tab + 1;
    t += push(&s, 8) + push(&r, 5) + add(x, x + 3) + add(y, y + 3) + add(&u, &u + 1) + add(kept, kept + 2) + add(last, last + 2);
  }
  return t + u + v + w;
}
""", """
if (i < 4) {
  for (int n = 0; n < 6; n++) result += (long)add(begins[n], ends[n]);
  for (int *q = k; q != end_of_k; q++) result += *q += deep(1, 1);
  for (const double *q = table; q != end_of_table; q++) result += (long)*q + deep(1, 1);
  if (i == 2) result += (long)work(6);
}"""))
        levels = ["-O0", "-O1", "-O2", "-O3"]
        for level in levels:
            self.cc("prog.c", "-w", level, "-o", "prog" + level)
        self.cc("prog.c", "-w", "-O1", "-o", "plain", "-felc-off")
        expected = self.start("plain")
        for level in levels:
            out, said = self.planned("prog" + level, " ".join(str(self.chance.randrange(i * 60, i * 60 + 55)) for i in range(1, 7)), ELC_KEEP="20")
            self.assertEqual(out, expected, said)
            for line in reversed(launch.committed(os.path.join(self.home, "lines"))):
                other = self.chance.choice(levels)
                out, said = self.planned("prog" + other, ELC_KEEP="20", ELC_RESTART=str(line))
                self.assertEqual(out, expected, "a line of %s restarted by %s\n%s" % (level, other, said))
            shutil.rmtree(os.path.join(self.home, "lines"))

    def test_matrices_without_rows(self):
        """As nrutil.c of Numerical Recipes makes them: the pointer to the first row is written behind the block, and leads nowhere, or is not even that."""
        self.right("""
#define NR_END 1
static float **matrix(int nrl, int nrh, int ncl, int nch) {
  int i, nrow = nrh - nrl + 1, ncol = nch - ncl + 1; float **m;
  m = (float **)malloc((nrow + NR_END) * sizeof(float *)); m += NR_END; m -= nrl;
  m[nrl] = (float *)malloc((nrow * ncol + NR_END) * sizeof(float)); m[nrl] += NR_END; m[nrl] -= ncl;
  for (i = nrl + 1; i <= nrh; i++) m[i] = m[i - 1] + ncol;
  for (i = nrl; i <= nrh; i++) for (int j = ncl; j <= nch; j++) m[i][j] = i + j;
  return m; }
static float **none, **some; static int **two;
""", """
if (i == 0) { none = matrix(1, 0, 1, 20), some = matrix(1, rank, 1, 20); two = (int **)malloc(2 * sizeof *two); two[0] = (int *)malloc(8); two[2] = two[0] + 1; two[2][0] = 7; }
deep(1, 1); result += (none[1] != NULL) + (rank == 1 ? (long)some[1][1 + i % 20] : 0) + two[2][0]; two[0][1]++;
""")

    def test_pointers_that_are_moved_in_steps(self):
        """What comes up on the way is no pointer of the program's, and may be one to other memory."""
        begin = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
"""
        loop = r"""
  for (j = 0; j < 10; j++) {
    for (i = 0, s = rank; i < COUNT; i++) s += VALUE;
    MPI_Allreduce(&s, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
  }
  for (i = right = 0; i < COUNT; i++) right += RIGHT;
  if (rank == 0) printf("%.0f, %d of %d are right\n", sum, right, COUNT);
  MPI_Finalize();
  return 0;
}
"""
        declared = "  int i, j, k, rank, right; double s, all, sum = 0; char *hole;\n  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);\n"
        # Up through the next block, and down again.
        self.restarts_from_all(begin + r"""
double *a, *b, *p; enum { COUNT = 1 };
double *at(double *v, int up, int down) { return v + up - down; }
int main(int argc, char **argv) {
""" + declared + r"""
  a = malloc(100 * sizeof *a); hole = malloc(5000); b = malloc(2000 * sizeof *b); free(hole);
  for (i = 0; i < 100; i++) a[i] = i;
  k = b - a + 3; p = at(a, k, k - 50);
""" + loop.replace("VALUE", "*p").replace("RIGHT", "p == a + 50"), "3 7")
        # An array that counts from many numbers, while rows lead into another one.
        self.restarts_from_all(begin + r"""
enum { N = 2000, ROW = 10, M = 3000, COUNT = N / ROW };
double *a, *b, *rows[COUNT];
double *at(int lo, int i) { return a - lo + i; }
int main(int argc, char **argv) {
""" + declared + r"""
  b = malloc(N * sizeof *b); hole = malloc(5000); a = malloc(M * sizeof *a); free(hole);
  for (i = 0; i < N; i++) b[i] = i;
  for (i = 0; i < M; i++) a[i] = -i;
  for (i = 0; i < COUNT; i++) rows[i] = b + i * ROW;
  for (k = 700; k < 2600; k++) sum += *at(k, k + 1) + *(1 + at(k, k) - 1);
""" + loop.replace("VALUE", "*rows[i] * (i + j)").replace("RIGHT", "rows[i] == b + i * ROW"), "3 7")
        # As SPOOLES finds the diagonals of its fronts.
        self.restarts_from_all(begin + r"""
enum { N = 40, D = 12, COUNT = N * D };
typedef struct front { double *entries, *diagonal[D]; } front;
front *fronts[N]; char *holes[N];
double *diagonal(front *f, int i) { return f->entries + (2 * i + 1) * D - i * i - i - 1; }
int main(int argc, char **argv) {
""" + declared + r"""
  for (i = 0; i < N; i++) {
    fronts[i] = malloc(sizeof **fronts); fronts[i]->entries = malloc(D * D * sizeof(double)); holes[i] = malloc(100 + 32 * i);
    for (j = 0; j < D * D; j++) fronts[i]->entries[j] = i * j;
    for (k = 0; k < D; k++) fronts[i]->diagonal[k] = diagonal(fronts[i], k);
  }
  for (i = 0; i < N; i++) free(holes[i]);
""" + loop.replace("VALUE", "++*fronts[i / D]->diagonal[i % D]").replace("RIGHT", "fronts[i / D]->diagonal[i % D] == diagonal(fronts[i / D], i % D)"), "3 7")

    def test_pointers_to_memory_that_is_gone(self):
        """A block that is one with the one before it when both are free, and then a smaller first one: the next begins 16 bytes behind it."""
        self.right("static int *a, *b, *c; static double *d, *w;", """
            if (i == 0) {
              w = (double *)malloc(10 * sizeof(double)) - 1; for (int k = 1; k <= 10; k++) w[k] = k;
              a = malloc(20000 * sizeof *a); b = malloc(20000 * sizeof *b); a[7] = b[9] = 3; result += a[7] + b[9]; free(a); free(b);
              c = malloc(20004 * sizeof *c); d = malloc(5000 * sizeof *d); for (int k = 0; k < 5000; k++) c[k] = d[k] = k;
            }
            deep(1, 1); result += c[i] + d[i * 3] + w[i % 10 + 1];""")

    def test_pointers_that_were_moved_for_a_moment(self):
        """In a function's variable, through which it looks where that is in range: what else has such a value later leads where it leads."""
        # Always by an odd number, which is no multiple of 16: no block can begin there.
        moved = "static double *rows[400]; static struct cell { double x[8]; int n; } *cells; static double *table;"
        work = """
            if (!cells) { cells = calloc(40, sizeof *cells); table = calloc(4000, sizeof *table); for (int k = 0; k < 400; k++) rows[k] = table + 7 * k; }
            for (int k = 0; k < 2000; k += 2) { struct cell *at = cells + k - 1981; if (k >= 1981 && k < 2021) at->x[k % 7] += i, at->n++; if (k % 700 == 0) deep(1, 1); }
            for (int k = 0; k < 400; k++) rows[k][k % 7] += k * i; free(malloc(i * 100)); deep(1, 1);
            for (int k = 0; k < 400; k++) result += (long)rows[k][k % 7] % 5 + (rows[k] != table + 7 * k);
            result += cells[i % 40].n;"""
        self.right(moved, work)
        # In an array, or by the address of what is there, somebody else gets it; a function that wants its arguments late has no frame.
        kept = " static struct cell *far[2], *first; static long by = 1001; static long lost; static long late(int n, va_list list) { struct cell *at = cells - by; long x = deep(n, 1); return x + va_arg(list, int) + at[by].n; }"
        kept += " static long give(int n, ...) { va_list list; va_start(list, n); n = late(n, list); va_end(list); return n; }"
        self.right("#include <stdarg.h>\n" + moved + kept, work + "if (i == 0) { struct cell *two[2] = {cells - by, NULL}, *one = cells - by; far[0] = two[0]; first = &one[0]; lost += one == far[0]; }"
                   " deep(1, 1); result += far[0][by + i % 40].n + first[by + i % 30].n + lost + (first == cells - by);")
        self.write("prog.c", PROGRAM % ("#include <stdarg.h>\n" + moved + kept, "if (i == 0) cells = calloc(40, sizeof *cells); result += give(i, 3);"))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        self.assertEqual(self.start("prog"), self.start("plain"))
        # Kept in a variable of the file, it is where it was moved to, and what leads there otherwise has no line.
        self.restarts_from_all(PROGRAM % (moved + " static struct cell *base; static long by = 1001;", work + "if (i == 0) base = cells - by; result += base[by + i % 40].n;"), "9 30 40", "4 41")

    def test_pointers_that_others_get(self):
        """From a function that reaches no MPI, in all ways in which somebody may get what its variables hold; it also goes through them, and gives
        them to functions that only look. On the way to its block, a pointer leads to nothing, or to other memory."""
        outside = r"""
struct pair { double *first; int n; };
static double *kept[14], *m; static struct pair pairs[2]; %s
static void keep(int i, double *p) { kept[i] = p; }
static void keep_later(int i, double *p) { double *q; q = p; keep(i, q); }
static double *same(double *p) { p += 1; return p - 1; }
static double look(const double *p, int n) { double s = 0; while (n-- > 0) s += *p++; return s; }
static double look_on(double *p, int n) { return n == 0 ? 0 : look(p, 1) + look_on(p + 1, n - 1); }
static void put(struct pair *to, double *p, int n) { to->first = p; to->n = n; }
static void swap(double **a, double **b) { double *t = *a; *a = *b; *b = t; }
static double *chosen(double *a, double *b, int first) { return first ? a : b; }
static long use(double *m, int n, int low) {
  double s = 0, *end; int i, j;
  for (j = 0; j < 3; j++) { for (i = 0; i < n; i++) { s += look(m, 1) + look_on(m, 1); m += 1; } m -= n; }
  keep(0, m - low); keep_later(1, m - low);
  kept[2] = same(m - low); kept[3] = m -= low; m += low;
  put(&pairs[0], m - 2 * low, n); { struct pair one = {m - low, n}; pairs[1] = one; }
  kept[4] = chosen(m - low, m, low > 0); kept[5] = (s += 1, m - low);
  { double *a = m - low, *b = m; swap(&a, &b); kept[6] = b; }
  memcpy(&kept[7], &(double *){m - low}, sizeof(double *)); kept[8] = ({ double *t = m - low; t; });
  end = m + n; while (end > m) s += *--end;
  m = m - low; s += m[low]; kept[9] = &m[0]; keep(10, m); kept[11] = &*(m + 1); kept[12] = &m[2]; j = 3; kept[13] = m + j;
  return (long)s;
}
"""
        inside = r"""
    int k, low = 10 + (i - i %% 5) * 100;
    if (!m) { %s m = malloc(20 * sizeof *m); for (k = 0; k < 20; k++) m[k] = k + rank; }
    if (i %% 5 == 0) result += use(m, 20, low);
    deep(1, 1); m[i %% 20] += 1;
    for (k = 0; k < 11; k++) result += (long)kept[k][low + k] * (k + 1);
    for (k = 11; k < 14; k++) result += (long)kept[k][low - k + 10];
    result += (long)(pairs[0].first[2 * low] + pairs[1].first[low + 5]);"""
        self.restarts_from_all(PROGRAM % (outside % "", inside % ""), "2 6 13 20 31 44 60", "3 50")
        other = outside % "static double *other;", inside % "other = calloc(12500, sizeof *other);"
        self.restarts_from_all(PROGRAM % other, "2 6 13 20 31 44 60", "3 50")

    def test_pointers_that_threads_give(self):
        """In the body of a directive, which reaches no MPI, variables that are declared there are put elsewhere."""
        self.right(r"""
static double *kept[4], *m;
static void fill(double *from, int low) {
  int k;
#pragma omp parallel for
  for (k = 0; k < 4; k++) { double *own = from - low - k, *other; other = own; kept[k] = other; }
}""", r"""
    if (!m) { m = malloc(20 * sizeof *m); for (int k = 0; k < 20; k++) m[k] = k + rank; }
    if (i % 5 == 0) fill(m, 100 + i);
    deep(1, 1);
    for (int k = 0; k < 4; k++) result += (long)kept[k][100 + i - i % 5 + 2 * k];""", "-fopenmp")

    def test_numbers_that_are_given_as_any_memory(self):
        """`bufs[0] = (void **)A` of doubles, and of pointers in memory that was taken for numbers; which they are may change."""
        outside = r"""
static void **bufs[4], ***kept; static int x[64];
static double *aligned(int n) { void *all = malloc(n * sizeof(double)); return memset(all, 0, n * sizeof(double)), (double *)((((size_t)all + 7) / 8) * 8); }
static double *a, *later, *pointers; static int **to; static long sum;
"""
        inside = r"""
if (i == 0) { a = aligned(100), later = aligned(100), pointers = aligned(64); to = (int **)pointers; for (int k = 0; k < 100; k++) a[k] = -0.3 * k - 0.1; }
bufs[0] = (void **)(a + 0), bufs[1] = (void **)(a + i % 90), bufs[2] = (void **)(later + 0), kept = (void ***)bufs[0];
if (i > 40) later[i % 100] -= 0.7 * i;
if (i > 60) for (int k = 0; k < 64; k++) x[k] = k * k, to[k] = &x[(i + k) % 64];
{ double got[2]; MPI_Sendrecv(bufs[1], 2, MPI_DOUBLE, rank, 1, got, 2, MPI_DOUBLE, rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE); a[i % 90] += got[1]; sum += (long)got[0]; }
for (int k = 0; k < 64; k++) sum += to[k] ? *to[k] : 1;
result += sum + (long)later[50] + (bufs[0] == (void **)a) + (kept == (void ***)a);"""
        self.restarts_from_all(PROGRAM % (outside, inside), "5 90 130 170", "60 150")
