"""Numbers that are others on another machine, under another MPI, or in another run."""

import os
import re
import shutil

from cases import ANSWER, Cases, launch, PROGRAM


class Sizes(Cases):
    """Sizes of types that a program keeps in variables: where they are others there is no restart."""

    OUTSIDE = """
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
struct cell { double x; int n; struct cell *next; %s };
struct pool { size_t width; void *cells; };
static struct pool pool;
static size_t kept; static long *table;
static void release(void *p) { if (p != NULL) free(p); }
static void forget(void **at) { release(*at); *at = NULL; }
static void *grab(size_t n) { void *p = calloc(1, n); if (!p) exit(1); return p; }
static size_t times(int n, size_t width) { return n * width; }
static void init(struct pool *p, size_t width) { p->width = width; p->cells = grab(10 * width); }
static void *local(int n) { size_t bytes = times(n, sizeof(struct cell)), more; more = bytes += sizeof(long); bytes++; return grab(more); }
static size_t framed(int n) { size_t bytes = n * sizeof(struct pool); deep(1, 1); return bytes > 9; }
static int make(const MPI_Aint *at) {
  int n[2] = {1, 1}; MPI_Datatype of[2] = {MPI_DOUBLE, MPI_INT}, t; MPI_Type_create_struct(2, n, at, of, &t); MPI_Type_free(&t); return 0;
}
static int made(void) {
  int n[3] = {1, 1, 1}; MPI_Aint at[3] = {offsetof(struct cell, x), 0, sizeof(struct cell)}; MPI_Datatype of[3] = {MPI_DOUBLE, MPI_INT, MPI_CHAR}, t;
  at[1] = offsetof(struct cell, n); MPI_Type_create_struct(3, n, at, of, &t); MPI_Type_free(&t); return sizeof n / sizeof(int) - 3;
}
static int several(int n, ...) { __builtin_va_list all; __builtin_va_start(all, n); kept = __builtin_va_arg(all, size_t); __builtin_va_end(all); return n - 1; }
static int told(const char *text, ...) { __builtin_va_list all, also; int n; __builtin_va_start(all, text); __builtin_va_copy(also, all); n = vsnprintf(NULL, 0, text, also); __builtin_va_end(all); return n > 0; }
static void *got(size_t n) { void *p = malloc(n); if (p == NULL) told("no %%d bytes", (int)n); return p; }
static void copied(void) { size_t n = sizeof(struct cell); memcpy(&kept, &n, sizeof n); }
static const size_t places[] = {offsetof(struct cell, n), sizeof(struct cell)};
"""

    def found(self, inside, more=""):
        self.write("prog.c", PROGRAM % (self.OUTSIDE % more, inside))
        said = self.cc("prog.c", "-w", "-o", "prog", "-felc-report")
        return set(re.findall(r"elc-cc: .*prog\.c:\d+: (\S+ \(.*\)|sizes of types|numbers (?:of the same sizes on all machines )?in memory of others|the order of bytes|the greatest [a-z ]+) may be in variables: a restart needs a machine", said))

    def test_text_as_far_behind_as_its_struct_says(self):
        self.restarts_from_all(PROGRAM % ("""typedef struct record { struct record *next; int offset; } record; static record *all, *a;
static record *make(const char *text, record *next) { record *r = malloc(sizeof *r + strlen(text) + 1); r->next = next; r->offset = sizeof *r; strcpy((char *)r + r->offset, text); return r; }""",
            """{ char text[20]; sprintf(text, "text%d", i * i); all = make(text, all); a = all; for (int k = 0; k < i % 5 && a->next; k++) a = a->next; result = result % 100003 * 31 + ((char *)a + a->offset)[4] + *((char *)a + a->offset + 1); }"""), "12 77")

    def test_sizes_in_front_of_memory(self):
        """An allocator of the program's sums up what it has given, of tables of pointers, too."""
        self.restarts_from_all(PROGRAM % ("""static size_t given; static void *get(size_t n) { size_t *p = malloc(n + 16); p[0] = n; given += n; return p + 2; }
static void *more(void *p, size_t n) { size_t *q = (size_t *)p - 2; given -= q[0]; q = realloc(q, n + 16); q[0] = n; given += n; return q + 2; }
static void let(void *p) { size_t *q = (size_t *)p - 2; given -= *q; free(q); }
typedef struct cell { struct cell *next[2]; double u; } cell; static cell **all, *one; static int n;""", """if (all == NULL) all = get(8);
one = get(sizeof *one); one->u = i; one->next[0] = n > 0 ? all[n - 1] : NULL; all = more(all, (n + 1) * sizeof *all); all[n++] = one; if (i % 5 == 4) let(all[--n]);
result += given + (long)all[n / 2]->u;"""), "12 77")

    def test_where_they_are_kept(self):
        """Not what functions that no line finds on the stack compute with, nor what is compared, or is a distance from a pointer."""
        self.assertEqual(self.found("""
{ struct cell *a = grab(i * sizeof *a + sizeof(struct cell)), *b = local(i), copy; char text[sizeof(struct cell)]; int k;
  memset(&copy, 0, sizeof copy); memcpy(text, &copy, sizeof text);
  assert(sizeof(struct cell) > 8 && offsetof(struct cell, next) > 4);
  for (k = 0; k < sizeof places / sizeof places[0] && k < sizeof(long); k++) result += text[k * sizeof(int)];
  if (sizeof(long) == 4 || (char *)a + offsetof(struct cell, next) != (char *)&a->next) result++;
  result += sizeof(double) / 8 + sizeof(int) + sizeof(float) - 12; free(a); free(b); }"""), set())
        for inside, kept in (("init(&pool, sizeof(struct cell)); free(pool.cells);", "sizeof (struct cell)"),
                             ("kept = offsetof(struct cell, next);", "offsetof (struct cell, next)"),
                             ("result += framed(i);", "sizeof (struct pool)"),
                             ("result += times(i, sizeof(long)) > 9;", None),
                             ("kept = times(i, sizeof(long));", "sizeof (long)"),
                             ("{ size_t (*by)(int, size_t) = times; kept = by(i, sizeof(void *)); }", "sizeof (void *)"),
                             ("table = grab(8); table[0] = 3 + sizeof(MPI_Request); free(table);", "sizeof (MPI_Request)" if self.build.mpi != "mpich" else None),  # an int
                             ("{ MPI_Aint at[2] = {0, offsetof(struct cell, n)}; result += make(at) > 0; }", "offsetof (struct cell, n)"),
                             ("result += made();", None),
                             ("result += several(1, sizeof(struct pool));", "sizeof (struct pool)"),
                             ("free(got(sizeof(struct cell))); result += told(\"%d\", (int)sizeof(struct pool)) - 1;", None),
                             ("copied();", "sizeof (struct cell)"),
                             ("{ struct cell c; kept = (char *)&c.next - (char *)&c; }", "sizes of types"),
                             ("{ struct cell c; char *a = (char *)&c, *b; b = (char *)&c.next; kept = b - a; }", "sizes of types"),
                             ("{ struct cell c; void *p = &c.next; char *a = (char *)&c, *b = p; kept = b - a; }", "sizes of types"),
                             ("{ char text[9] = \"abc\", *end = strchr(text, 'c'); kept = end - text; }", None),
                             ("{ struct cell c; MPI_Aint a, b; MPI_Get_address(&c, &a); MPI_Get_address(&c.next, &b); kept = b - a; }", "sizes of types"),
                             ("{ struct cell c[2]; kept = (size_t)(c + 1) - (size_t)c; }", "sizes of types"),
                             ("{ char *a = malloc(i + 1), *b = a + i; result += b - a - i; free(a); }", None),
                             ("{ int n; MPI_Type_size(MPI_LONG, &n); result += n > 4; }", "sizes of types"),
                             ("{ double *work = malloc(20 * sizeof *work); int *pieces = (int *)(work + 10); pieces[i % 20] = i; result += pieces[i % 20] - i; free(work); }",
                              "numbers of the same sizes on all machines in memory of others"),
                             ("{ static double work[20]; long *pieces = (long *)&work[10]; pieces[i % 10] = i; result += pieces[i % 10] - i; }", "numbers in memory of others"),
                             ("{ double x = i; float single[4] = {i}; result += ((unsigned *)&x)[1] > 9 && *(unsigned *)single > 9; }", None),
                             ("{ struct { double x, y; } *pair = calloc(1, sizeof *pair); double *flat = (double *)pair; result += flat[1]; free(pair); }", None),
                             ("kept = __LONG_MAX__; deep(1, 1); result += kept == __LONG_MAX__;", "the greatest long"),
                             ("kept = (size_t)-1;", "the greatest unsigned long"),
                             ("kept = -1;", "the greatest unsigned long"),
                             ("{ size_t no = -1; kept = no; }", "the greatest unsigned long"),
                             ("kept = sizeof(long) == 8;", "sizeof (long)"),
                             ("{ int one = 1; if (*(char *)&one) kept = 1; }", "the order of bytes"),
                             ("{ union { int i; char c[4]; } u = {1}; kept = u.c[0]; }", "the order of bytes"),
                             ("{ static double work[20]; struct { double x; int n; } cells[2] = {{i}}; memcpy(work, cells, sizeof cells); }", "numbers in memory of others"),
                             ("{ static double work[20]; memcpy(&work[i % 20], &i, sizeof i); }", "numbers of the same sizes on all machines in memory of others"),
                             ("{ int words[2]; long all = i; memcpy(words, &all, sizeof all > 8 ? 8 : sizeof all); }", "numbers in memory of others"),
                             ("{ double x[2] = {i}; struct { double x, y; } cell; struct cell a = {i}, b; char text[90]; int64_t bits; uint64_t all[2]; memcpy(&cell, x, sizeof x);"
                              "memcpy(&b, &a, sizeof a); memcpy(text, &b, sizeof b); memcpy(&a, text, sizeof a); memcpy(&bits, x, 8); memcpy(all, x, 16); result += bits + all[0] == 1; }", None),
                             ("if (sizeof(long) == 4 && kept == -1) abort();", None),
                             ("if (kept == (size_t)-1 || result == __LONG_MAX__) abort();", None),
                             ("{ size_t n = sizeof(long double); deep(1, n > 9); }", "sizeof (long double)")):
            with self.subTest(inside):
                self.assertEqual(self.found(inside), {kept} - {None})

    def test_where_they_are_others(self):
        inside, lines = "kept = sizeof(struct cell);", os.path.join(self.home, "lines")
        self.found(inside)
        self.take_line("prog")
        restart = {"ELC_DIR": lines, "ELC_RESTART": str(launch.newest(lines))}
        self.assertIn(ANSWER, self.start("prog", **restart))
        self.found(inside, "double y;")
        said = self.run_words(*launch.launcher(self.build.mpi, 2, ["PATH", *restart]), os.path.join(self.home, "prog"), code=None, **restart)
        self.assertRegex(said, r"the program may have sizeof \(struct cell\) in its variables \(\S*prog.c:\d+\), which is \d+ in the line, and \d+ in "
                               "this program on this machine")
        self.assertIn("nothing was changed", said)


    def test_variables_of_functions(self):
        """They matter while the function is on the stack: in a line from elsewhere the size may be another one."""
        outside = """#include <stddef.h>
struct cell { int n; %s };
static long held(size_t n, int i) { long r = deep(i, 2); return r + (n > 3); }
static long given(size_t n, int i) { return held(n, i) + i; }"""
        inside = "if (i == 40) result += given(sizeof(struct cell), i);"
        lines, restart = os.path.join(self.home, "lines"), {}
        for site, goes in (20, True), (42, False), (70, True):
            with self.subTest(site):
                self.write("prog.c", PROGRAM % (outside % "", inside))
                self.cc("prog.c", "-w", "-o", "prog")
                expected, _ = self.planned("prog", (site, site))
                restart = {"ELC_DIR": lines, "ELC_RESTART": str(launch.newest(lines))}
                self.write("prog.c", PROGRAM % (outside % "double y;", inside))
                self.cc("prog.c", "-w", "-o", "prog")
                said = self.run_words(*launch.launcher(self.build.mpi, 2, ["PATH", *restart]), os.path.join(self.home, "prog"), code=0 if goes else None, **restart)
                if goes:
                    self.assertIn(expected.strip(), said)
                else:
                    self.assertRegex(said, r"the program may have sizeof \(struct cell\) in its variables \(\S*prog.c:\d+\), which is 4 in the line, and 16 in")
                shutil.rmtree(lines)


class Addresses(Cases):
    """What MPI_Get_address gave, in variables of the type MPI_Aint and in datatypes, for MPI_BOTTOM: other addresses in a restart."""

    OUTSIDE = """
struct at { int n; MPI_Aint where[2]; };
static MPI_Aint d[3], *e, extent = 8;
static struct at s;
static double *a, fixed[4]; static int *b;
static MPI_Datatype kept, twice, pairs;
static void make(MPI_Datatype *t, MPI_Aint *d) {
  int n[3] = {5, 10, 4}; MPI_Datatype of[3] = {MPI_DOUBLE, MPI_INT, MPI_DOUBLE};
  MPI_Type_create_struct(3, n, d, of, t); MPI_Type_commit(t);
}
static void begin(void) {
  int one[2] = {2, 3};
  a = calloc(10, sizeof *a); b = calloc(10, sizeof *b); e = malloc(2 * sizeof *e);
  MPI_Get_address(a, d); MPI_Get_address(b, d + 1); MPI_Get_address(fixed, d + 2);
  d[0] += 5 * (MPI_Aint)sizeof *a;  /* nobody has asked for this one */
  e[0] = d[2]; e[1] = extent;
  MPI_Get_address(a + 1, s.where); MPI_Get_address(b, s.where + 1);
  make(&kept, d);
  MPI_Type_contiguous(1, kept, &twice); MPI_Type_commit(&twice);
  MPI_Type_create_hindexed(1, one, s.where, MPI_DOUBLE, &pairs); MPI_Type_commit(&pairs);
}
static double go(int i, int rank, MPI_Datatype t) {
  int k, other = rank == 0;
  MPI_Request r;
  for (k = 0; k < 10; k++) a[k] += i * 0.25 + rank, b[k] += k * i;
  for (k = 0; k < 4; k++) fixed[k] += k - rank;
  if (rank) MPI_Irecv(MPI_BOTTOM, 1, t, other, 3, MPI_COMM_WORLD, &r);
  deep(1, 1);
  if (rank) MPI_Wait(&r, MPI_STATUS_IGNORE);
  else MPI_Send(MPI_BOTTOM, 1, t, other, 3, MPI_COMM_WORLD);
  return a[7] + b[3] + fixed[2];
}
"""

    def test_places(self):
        self.right(self.OUTSIDE, """
MPI_Aint local[3]; MPI_Datatype t;
if (!a) begin();
local[0] = d[0]; local[1] = d[1]; local[2] = e[0];
deep(1, 2);
make(&t, i % 2 ? d : local);
result += go(i, rank, t) + go(i, rank, kept) + go(i, rank, twice) + go(i, rank, pairs);
deep(1, 1);
MPI_Type_free(&t);
result += e[1] + extent + (local[1] == d[1]) + (s.where[0] + 4 * (MPI_Aint)sizeof *a == d[0]);""")

    def test_messages_that_cross_lines(self):
        self.right(self.OUTSIDE, """
if (!a) begin();
{ int k; MPI_Request r;
  for (k = 0; k < 10; k++) a[k] += i * 0.25 + rank, b[k] += k * i;
  if (rank == 0) MPI_Send(MPI_BOTTOM, 1, kept, 1, 3, MPI_COMM_WORLD);
  else { MPI_Irecv(MPI_BOTTOM, 1, kept, 0, 3, MPI_COMM_WORLD, &r); MPI_Wait(&r, MPI_STATUS_IGNORE); }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 1) MPI_Send(MPI_BOTTOM, 1, kept, 0, 3, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(MPI_BOTTOM, 1, kept, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (i == 99) { MPI_Type_free(&kept); MPI_Type_free(&twice); MPI_Type_free(&pairs); }
  result += a[7] + b[3] + fixed[2]; }""")

    def test_variables_of_functions(self):
        self.right("""
static long below(MPI_Datatype outer, int i, int rank) {
  double x[3] = {i, rank, 1}; int n = i;
  int counts[2] = {3, 1}; MPI_Datatype of[2] = {MPI_DOUBLE, MPI_INT}, t; MPI_Aint d[2];
  MPI_Get_address(x, d); MPI_Get_address(&n, d + 1);
  deep(1, 1);
  MPI_Type_create_struct(2, counts, d, of, &t); MPI_Type_commit(&t);
  MPI_Bcast(MPI_BOTTOM, 1, t, i % 2, MPI_COMM_WORLD);
  MPI_Bcast(MPI_BOTTOM, 1, outer, i % 2, MPI_COMM_WORLD);
  deep(1, 1);
  MPI_Bcast(MPI_BOTTOM, 1, t, 0, MPI_COMM_WORLD);
  MPI_Type_free(&t);
  return x[0] + x[1] * 3 + n;
}""", """
double y[5] = {i * 3, rank, 7}; MPI_Aint at; int five = 5; MPI_Datatype t;
MPI_Get_address(y, &at);
MPI_Type_create_hindexed(1, &five, &at, MPI_DOUBLE, &t); MPI_Type_commit(&t);
result += below(t, i, rank) + y[0] + y[1] + y[2];
MPI_Type_free(&t);""")

    def test_blocks_that_come_and_go(self):
        self.right("static MPI_Aint last;", """
int n[2] = {3, 3}; MPI_Datatype of[2] = {MPI_LONG, MPI_INT}, t; MPI_Aint d[2]; MPI_Status status;
long *x = malloc(3 * sizeof *x); int *y = malloc(3 * sizeof *y);
x[0] = x[1] = x[2] = i; y[0] = y[1] = y[2] = rank;
MPI_Get_address(x, d); MPI_Get_address(y, d + 1);
deep(1, 1);
MPI_Type_create_struct(2, n, d, of, &t); MPI_Type_commit(&t);
deep(1, 1);
MPI_Sendrecv(MPI_BOTTOM, 1, t, rank, 5, MPI_BOTTOM, 1, t, rank, 5, MPI_COMM_WORLD, &status);
last = d[0];
deep(1, 1);
result += x[2] + y[1];
MPI_Type_free(&t); free(x); free(y);""")

    def test_a_distance_of_two_blocks(self):
        """It would be another one: no lines while a variable has it."""
        self.write("prog.c", PROGRAM % ("static MPI_Aint d[2]; static double *a, *b;",
                                        "if (!a) { a = malloc(80); b = malloc(80); MPI_Get_address(a, d); MPI_Get_address(b, d + 1); d[1] -= d[0]; d[0] = 0; }"))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line(r"saving 'prog.c:d' of the globals: \[1\]: an MPI_Aint is -?\d+, the distance of two blocks of memory")


class Numbers(Cases):
    """Constants of MPI that a program keeps in variables: under an MPI with another number there is no restart."""

    def compile(self, *words, outside="", inside=""):
        """The constants that may be in variables."""
        self.write("prog.c", PROGRAM % (outside, inside))
        said = self.cc("prog.c", "-o", "prog", "-felc-report", *words)
        return {name for name in re.findall(r"elc-cc: .*prog\.c(?::\d+)?: (MPI_\w+) may be in variables", said)}

    def found(self, inside, outside=""):
        return self.compile(outside=outside, inside=inside)

    def test_where_they_are_seen(self):
        """Not where a call of MPI is merely given one, in the length of an array, and in what nobody calls."""
        send = "MPI_Send(&i, 0, MPI_INT, %s, 1, MPI_COMM_WORLD);"
        outside = """
            #define NONE MPI_PROC_NULL
            enum { nobody = NONE };
            int of_file[2] = {0, MPI_ERR_COMM};
            int returned(void) { return MPI_UNDEFINED; }
            int uncalled(void) { return MPI_ERR_TAG; }
            """
        inside = (send % "nobody" + send % "(i >= 0 ? MPI_PROC_NULL : MPI_ROOT)" + "i += of_file[0];"
                  "if (returned() == i || i == MPI_ANY_SOURCE) i++;"
                  "switch (-70 - i) { case MPI_KEYVAL_INVALID: i++; }"
                  "{ char name[MPI_MAX_PROCESSOR_NAME]; int n, is; MPI_Get_processor_name(name, &n); MPI_Topo_test(MPI_COMM_WORLD, &is); }"
                  "free(malloc(MPI_BSEND_OVERHEAD));")
        wanted = {"MPI_PROC_NULL", "MPI_ERR_COMM", "MPI_UNDEFINED", "MPI_ANY_SOURCE", "MPI_KEYVAL_INVALID", "MPI_BSEND_OVERHEAD", "MPI_CART", "MPI_GRAPH"}
        if self.build.mpi != "lam":
            wanted |= {"MPI_IN_PLACE", "MPI_STATUS_IGNORE", "MPI_DIST_GRAPH"}
            outside += "void *from = MPI_IN_PLACE;"
            inside += ("MPI_Allreduce(from, &i, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);"
                       "MPI_Alltoall(MPI_IN_PLACE, 0, MPI_INT, &i, 0, MPI_INT, MPI_COMM_WORLD);"
                       "{ MPI_Status *s = MPI_STATUS_IGNORE; MPI_Recv(&i, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, s);"
                       "MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE); }")
        self.assertEqual(self.found(inside, outside), wanted)
        self.assertEqual(self.found(send % "MPI_PROC_NULL + MPI_SUCCESS"), set())
        self.assertEqual(self.found("i += MPI_OWN;", "enum { MPI_OWN = 1 }; int kept = MPI_OWN;"), set())
        self.assertEqual(self.found("MPI_Mine(MPI_ERR_RANK);", "static int kept; void MPI_Mine(int what) { kept = what; }"), {"MPI_ERR_RANK"})

    def test_where_they_cannot_be_seen(self):
        """In #if and in strings they are what they were; then a program may have any of them."""
        text = "#define TEXT(x) #x\n#define TEXT_OF(x) TEXT(x)\nconst char *in = TEXT_OF(MPI_ANY_TAG);"
        for outside, inside in ((text, "result += in[0] == '(' || in[0] == '-' ? 0 : 1;"),
                                ("#if MPI_ANY_TAG < 0\n#define MORE 0\n#else\n#define MORE 1\n#endif", "result += MORE;")):
            self.assertLess({"MPI_PROC_NULL", "MPI_ANY_SOURCE", "MPI_ROOT"}, self.found(inside, outside))
            self.assert_restarts("prog", ANSWER)

    def test_in_what_a_macro_makes_a_string(self):
        """As assert does of what another macro gives it."""
        outside = "#include <assert.h>\n#define RIGHT(x) assert((x) == MPI_SUCCESS)\n#define TEXT(x) #x\n#define TEXT_OF(x) TEXT(x)\nconst char *in = TEXT_OF(is(MPI_ANY_TAG));"
        inside = ("RIGHT(MPI_Send(&i, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD)); if (i == MPI_UNDEFINED) i = MPI_ERR_TAG;"
                  "{ char right[20]; sprintf(right, \"%d\", MPI_ANY_TAG); result += strstr(in, right) == NULL || strstr(in, \"elc\") != NULL; }")
        self.assertEqual(self.found(inside, outside), {"MPI_ERR_TAG", "MPI_UNDEFINED", "MPI_ANY_TAG"})
        self.assert_restarts("prog", ANSWER)

    def test_the_programs_own(self):
        """A name that begins as MPI's do, and stands for an expression."""
        self.compile("-DMPI_OURS=(1LL<<5>>0)", "-DMPI_MORE=8>>2", inside="result += MPI_OURS - 32 + (MPI_MORE) - 2;")
        self.assert_restarts("prog", ANSWER)

    def other_mpi(self, number, outside, inside):
        """One that has this number for MPI_PROC_NULL, and for MPI_MINE."""
        self.write("other/mpi.h", "#ifndef OTHER\n#define OTHER\n#include_next <mpi.h>\n#define MPI_MINE NUMBER\n#endif\n")
        return self.compile("-Iother", "-DNUMBER=%d" % number, outside=outside, inside=inside)

    def test_lengths_of_what_is_led_to(self):
        """Memory in which a constant is the distance of rows has another one under another MPI; a variable that is so long is seen by itself."""
        free = "MPI_MAX_PROCESSOR_NAME"
        for outside, inside, is_kept in (("", "char (*rows)[%s] = calloc(2, sizeof *rows); rows[1][2] = i; result += rows[1][2] - i; free(rows);" % free, True),
                                         ("typedef char name[%s];" % free, "name *all = calloc(2, sizeof *all); result += all[1][0]; free(all);", True),
                                         ("static int of(char at[][%s]) { return at[1][0]; }" % free, "char *all = calloc(2, 1000); result += of((void *)all); free(all);", True),
                                         ("", "char *all = calloc(2, sizeof(char[%s])); result += all[1]; free(all);" % free, True),
                                         ("static char all[4][%s]; struct { char n[%s]; } one;" % (free, free), "char own[%s + 1]; own[0] = i; result += own[0] - i + all[1][0] + one.n[0];" % free, False),
                                         ("static int of(char at[%s]) { return at[1]; }" % free, "char own[9] = {0}; result += of(own);", False)):
            self.assertEqual(self.found(inside, outside), {free} if is_kept else set(), inside)

    def test_texts_as_long_as_a_constant_says(self):
        """What MPI_Get_processor_name and the like tell has room for another number of characters under another MPI; a text that ends there is restored."""
        self.write("other/mpi.h", "#ifndef OTHER\n#define OTHER\n#include_next <mpi.h>\n#undef MPI_MAX_PROCESSOR_NAME\n#define MPI_MAX_PROCESSOR_NAME 300\n#endif\n")
        outside = "static char kept[MPI_MAX_PROCESSOR_NAME + 1];"
        inside = ("char host[MPI_MAX_PROCESSOR_NAME]; int n; if (i == 0) { MPI_Get_processor_name(host, &n); memset(kept, 'k', LONG); kept[LONG] = 0; }"
                  " sprintf(host, \"%%d\", i); deep(1, 1); result += atoi(host) - i + (strlen(kept) != LONG);")
        lines = os.path.join(self.home, "lines")
        for others, length, fits in ((("-Iother",), 100, True), ((), 100, True), (("-Iother",), 290, False)):
            first, then = others, () if others else ("-Iother",)
            self.write("prog.c", PROGRAM % (outside, inside.replace("%%", "%")))
            self.cc("prog.c", "-w", "-o", "first", "-DLONG=%d" % length, *first)
            self.cc("prog.c", "-w", "-o", "then", "-DLONG=%d" % length, *then)
            self.take_line("first")
            out, said = self.planned("then", code=0 if fits else None, ELC_RESTART="1")
            if fits: self.assertEqual(out, ANSWER, said)
            else: self.assertRegex(said, r"'prog\.c:kept' of the globals: it has 301 characters in the line, and there is room for \d+ in the program")
            shutil.rmtree(lines)

    def test_another_mpi(self):
        outside, inside = "static int kept = MPI_MINE;", "result += kept - MPI_MINE;"
        lines = os.path.join(self.home, "lines")
        self.other_mpi(-17, outside, inside)
        self.take_line("prog")
        restart = {"ELC_DIR": lines, "ELC_RESTART": str(launch.newest(lines))}
        self.assertIn(ANSWER, self.start("prog", **restart))
        self.other_mpi(-18, outside, inside)
        said = self.run_words(*launch.launcher(self.build.mpi, 2, ["PATH", *restart]), os.path.join(self.home, "prog"), code=None, **restart)
        self.assertRegex(said, r"may have MPI_MINE in its variables \(prog\.c:\d+\), which is -17 in the line, and -18 in the MPI")
        self.assertIn("nothing was changed", said)
        self.assertNotIn("result: ", said)

    RANKS = """
static int left, right, any = MPI_ANY_SOURCE; static MPI_Comm row; static MPI_Status last;
static int next(int *at) { return ++*at; }
static void pass(long *v, int to, int from, MPI_Status *status) { MPI_Sendrecv(v, 1, MPI_LONG, to, 3, v + 1, 1, MPI_LONG, from, 3, MPI_COMM_WORLD, status); }
static long around(int rank, int i) {
  long v[2] = {i, 0}, n = 0, in = 0;
  int at = 0, sides[3], ends[2], sizes[1] = {2}, periodic[1] = {0}, k;
  MPI_Status both[2];
  MPI_Request requests[2];
  MPI_Group all, same;
  if (i == 0) {
    left = rank > 0 ? rank - 1 : MPI_PROC_NULL, right = rank < 1 ? rank + 1 : MPI_PROC_NULL;
    MPI_Cart_create(MPI_COMM_WORLD, 1, sizes, periodic, 0, &row);
  }
  MPI_Cart_shift(row, 0, 1, ends, ends + 1);
  if (ends[0] != left || ends[1] != right) abort();
  sides[0] = left, sides[1] = right, sides[2] = left;
  pass(v, right, left, &last);
  n += v[1] + (last.MPI_SOURCE == MPI_PROC_NULL ? 100 : last.MPI_SOURCE);
  MPI_Irecv(&in, 1, MPI_LONG, left == MPI_PROC_NULL ? left : any, 4, MPI_COMM_WORLD, requests);
  MPI_Isend(v, 1, MPI_LONG, sides[at++ + 1], 4, MPI_COMM_WORLD, requests + 1);
  MPI_Waitall(2, requests, both);
  n += in;
  at = 0;
  if (rank == 0) MPI_Send(v, 1, MPI_LONG, sides[next(&at)], 5, MPI_COMM_WORLD);
  else MPI_Recv(&in, 1, MPI_LONG, any, 5, MPI_COMM_WORLD, both), n += both[0].MPI_SOURCE == left, n += in;
  at = 0;
  MPI_Send(v, 1, MPI_LONG, sides[at++ * 0 + rank * 1], 6, MPI_COMM_WORLD);
  MPI_Comm_group(MPI_COMM_WORLD, &all), MPI_Group_incl(all, 1, (int[]){1}, &same);
  MPI_Group_translate_ranks(all, 3, sides, same, ends);
  MPI_Group_free(&all), MPI_Group_free(&same);
  for (k = 0; k < 2; k++) n += ends[k] == MPI_PROC_NULL ? 7 : ends[k] == MPI_UNDEFINED ? 5 : ends[k];
  return n;
}"""

    def test_ranks_that_are_none(self):
        """They are the same numbers under each MPI, if that is asked for; if it cannot be, that is an error."""
        outside = self.RANKS.replace("translate_ranks(all, 3", "translate_ranks(all, 2").replace("ends[2]", "ends[3]")
        lines, own, common = os.path.join(self.home, "lines"), -1 if self.build.mpi == "mpich" else -2, "-felc-common-ranks"
        for words, number in (((), own), ((common,), -2)):
            self.right(outside, "result += around(rank, i);", *words)
            self.take_line("prog")
            shown = self.run_words(self.tool, "show", "--dir", lines, str(launch.newest(lines)), "--values", "2")
            self.assertRegex(shown, r"MPI_PROC_NULL.*\n?.*\b1\b.*\n?.* %d\b" % number)
            shutil.rmtree(lines)
        for more, why in (("{ int *source = &last.MPI_SOURCE; result += *source == 9; }", "MPI_SOURCE of a status is not only read"),
                          ("{ void *by = (void *)MPI_Send; result += by == NULL; }", "MPI_Send() may be called by a pointer"),
                          ("if (i < 0) MPI_Send(&i, 1, MPI_INT, deep(i, 1), 9, MPI_COMM_WORLD);", "a rank comes from a call that can reach MPI"),
                          ("\n#if MPI_ANY_TAG < 0\nresult += 0;\n#endif\n", "constants of MPI are numbers in #if"),
                          ("if (i < 0) result += getpagesizes();", "no file that elc-cc has compiled has getpagesizes")):
            self.write("prog.c", PROGRAM % (outside + "int getpagesizes();", "result += around(rank, i);" + more))
            self.write("more.s", ".globl getpagesizes\ngetpagesizes: ret\n.section .note.GNU-stack\n")
            said = self.cc("prog.c", "more.s", "-w", "-o", "prog", common, code=0 if own == -2 else 1)
            (self.assertNotIn if own == -2 else self.assertIn)(why, said)

    def test_what_mpi_gives(self):
        """MPI_Cart_shift gives MPI_PROC_NULL at an edge; on a ring it gives ranks, and any MPI will do."""
        show = [self.tool, "show"]
        for periodic in (0, 1):
            self.assertEqual(self.found("if (i == 0) { int n[1] = {2}, p[1] = {%d}; MPI_Cart_create(MPI_COMM_WORLD, 1, n, p, 0, &ring);"
                                        "MPI_Cart_shift(ring, 0, 1, to, to + 1); }" % periodic,
                                        "static MPI_Comm ring; static int to[2];"), set())
            self.assert_restarts("prog", ANSWER)
            lines = os.path.join(self.home, "lines")
            self.take_line("prog")
            line = str(launch.newest(lines))
            self.assertRegex(self.run_words(*show, "--dir", lines, line, "--values", "2"),
                             r"MPI_PROC_NULL.*\n?.*\b%d\b" % (1 - periodic))
            shutil.rmtree(lines)
