"""Statements, expressions, functions and their names."""

import os
import shutil

from cases import Cases, launch, PROGRAM


class Code(Cases):
    """Found by attack: right with lines, and after a restart."""

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

    def test_names_of_functions(self):
        """__func__ and its like are strings; so is what a string is, whose address is taken."""
        self.right("""
static const char *name, *again, (*whole)[6];
static long length(const char *of, const char *in) { long n = deep(strlen(of), 0); return n + strlen(of) + strlen(in) + (of == in); }""", """
name = again = __func__; whole = &"whole";
static const char *const own = __func__, *all[2] = {__FUNCTION__ + 1, "other"}; result += strlen(own) + strlen(all[0]) + (own == __func__);
result += length(__FUNCTION__, __func__) + length("other", __func__) + (name == __func__) + (again == name) + sizeof __func__ + strlen(*whole);
printf("%s", i == 1000 ? __func__ : "");""")

    def test_directives_of_variables_with_other_names(self):
        """Clang refers to the bound of a loop where the program does not name it."""
        self.right("static double a[100];\nstatic long filled(const int n) { int k; deep(n, 1);\n#pragma omp parallel for\n"
                   "for (k = 0; k < n; k++) a[k] = k;\nreturn (long)a[n - 1]; }",
                   "{ int n = 10; deep(1, 1); if (i % 2) { int n = 20; deep(2, 1);\n#pragma omp parallel for collapse(2)\n"
                   "for (int k = 0; k < n; k++) for (int l = 0; l < n; l++) a[k] = k + l - l;\nresult += n; } result += filled(n); result += n + (long)a[3]; }",
                   "-fopenmp")

    def test_what_stands_behind_an_abort(self):
        """Functions for errors, which threads may call, end the program in all ways there are; a label is one to come there."""
        outside = """static void die(int e) { int code; fflush(stdout); code = MPI_Abort(MPI_COMM_WORLD, e); code = MPI_Finalize(); if (code) fprintf(stderr, "%%d", code); exit(e); }
            static int jumped(int n) { if (n < 200) goto end; MPI_Abort(MPI_COMM_WORLD, 1); n = 5; end: return n + (int)deep(n, 1); }"""
        self.right(outside, """int t = 0, k;
#pragma omp parallel for private(k) reduction(+ : t)
            for (k = 0; k < 100; k++) { t += i * k; if (t < 0) die(1); }
            result += t + jumped(i);""", "-fopenmp")

    def test_variables_that_a_directive_names(self):
        """Nobody defines it, and nothing but a clause asks for it, as in HPhi."""
        self.right("extern const char *nowhere;", """int t = 0, k;
#pragma omp parallel for default(none) private(k) shared(nowhere, i) reduction(+ : t)
            for (k = 0; k < 100; k++) t += i * k;
            result += t;""", "-fopenmp")

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

    def test_blocks_without_calls(self):
        """Literals whose block has none, assembly that is for the compiler alone, blocks in expressions of declarations."""
        self.right("", "{ int *p = __builtin_malloc(8), k = ({ int twice = i * 2; twice + 1; }), l = deep(k, 1); p[1] = l;"
                   ' { int *q = (int[]){i, 2}; p[1] += q[0] + q[1]; } __asm__ volatile ("" : "+r"(l) : : "memory");'
                   " k = deep(l, 1); result += p[1] + k; free(p); }")

    def test_no_blank_behind_a_word(self):
        self.right("static double *from(int lo, int n) { double *p = malloc(n * sizeof *p); return(double*)p-lo; }\nstatic void *at(char *p, int i) { if (p) return(char*)p+i*8;else(void)i; return 0; }\nstatic const char *named(int i) { if (i) return\"text\"; return 0; }",
                   "{ double *v = from(1, 10), x; v[3] = i; result += deep(3, 1); memcpy(&x, at((char *)(v + 1), 2), 8); result += (long)x + strlen(named(1)); free(v + 1); }")

    def test_expressions_of_gcc(self):
        """?: without its middle, what is not evaluated, vectors, a function whose type is declared with it."""
        self.right("typedef double v2 __attribute__((vector_size(16))); static v2 sum; struct Made { int a; } made(int x) { static int n; n += deep(x, 0);"
                   " return (struct Made){n % 8}; } static v2 add(v2 a, v2 b) { deep(1, 0); return a + b; }",
                   "{ long x = deep(i % 2, 0) - 2 ?: 7, n = 0; v2 v = {i, x}; result += x + __builtin_constant_p(deep(n++, 0)) + n;"
                   " sum = add(v, sum); result += sum[0] + sum[1] + made(i).a; }")

    def test_one_name_for_all_kinds(self):
        """In the file, of a variable, and of an enumerator or a type in a block."""
        self.right("static int N = 4; typedef int T; static long f(void) { return 3; } enum { E = 5 };", """
{ enum { N = 9 }; result += deep(N, 1); } { int N = i; deep(N, 1); result += N; }
{ typedef char T; deep(1, 1); result += sizeof(T); } { int T = i; result += deep(T, 1) + T; }
{ enum { f = 7 }; result += deep(f, 1); } { int f = i; deep(f, 1); result += f; } { typedef short f; deep(1, 1); result += sizeof(f); }
{ int E = i + 1; deep(E, 1); result += E; } { enum { E = 11 }; result += deep(E, 1); } { typedef double E; E x = 2; result += deep(1, 1) * x; }
result += N + sizeof(T) + f() + E;""")

    def test_commas_where_values_become_variables(self):
        self.right("""
static int many(int n) { int a[n], s; a[0] = n; deep(1, 1); s = a[0] * 5; return a[0] = 7, s; }
static long called(int n) { int a[n]; a[0] = deep(1, 1); return a[0]++, deep(2, 1) + a[0]; }
static long last(int n) { int a[n]; deep(1, 1); a[0] = n; return deep(1, 1), a[0]++, n; }
static struct two { long a, b; } two(int n) { char *p = __builtin_alloca(n); struct two t = {n, 3}; p[0] = 0; deep(1, 1); return p[0]++, t.b++, t; }
static void none(int n) { int a[n]; a[0] = 1; deep(1, 1); return (void)a[0], (void)n; }""", """
{ int k = 3; long x = i % 2 ? k++, 5 : deep(1, 2), y = i % 3 ? deep(2, 1) : (k += 2, 7), z = ({ deep(1, 1); k++, 11; }), w = (deep(1, 1), k++, k);
  struct two t = i % 2 ? k++, two(4) : two(5), u = ({ deep(1, 1); k++, t; });
  none(3);
  if (k++, deep(1, 1)) result += many(i % 5 + 1) + called(3) + last(2);
  result += x + 2 * y + 3 * z + w + t.b + u.a + k; }""")

    def test_statement_expressions(self):
        self.right("", "{ int k; for (k = 0; k < 4; k++) result += ({ if (k == 2) continue; deep(k, 1); }) * 2; }")

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

    def test_profiling_interface(self):
        """Its names are those of MPI, but in text."""
        self.right('#define CALL(name) P##name\nstatic const char *what = "PMPI_Barrier", letter = \'\\\'\', *other = "\\"PMPI_"; int PMPI_own = 3;\nstatic int (*by)(MPI_Comm, int *) = PMPI_Comm_rank;',
                   "{ int sum, me; double begin = PMPI_Wtime(); by(MPI_COMM_WORLD, &me); if (me != rank || begin > PMPI_Wtime()) result = -1; deep(1, 1);"
                   " PMPI_Allreduce(&i, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD); CALL(MPI_Barrier)(MPI_COMM_WORLD);"
                   " result += sum + strlen(what) + strlen(other) + letter + PMPI_own; }")

    def test_labels_without_statements(self):
        """A declaration follows, or nothing: as in C23, and in GCC from 11 on."""
        self.right("""
            typedef struct { int a, b; } pair;
            static int labels(int i) {
              int s = 0;
              switch (i % 5) {
                case 0: /* nothing */
                  int z = deep(1, 1); s += z; break;
                case 1: case 2: { if (s) goto inner; s += deep(2, 1); inner: }
                case 3: pair p = {i, deep(1, 1)}; s += p.a + p.b; break;
                default: static int kept; kept += deep(1, 1); s += kept; }
              if (i & 1) goto end;
              s += deep(1, 1);
              end: struct { double d; } last = {s * 0.5};
              s += i ? (int)last.d : deep(1, 1);
              switch (s & 3) { case 0: s++; break; case 1: } return s; }
            static void at_end(int *i) { if (*i > 5) goto out; *i += deep(1, 1); out: }""", "{ int k = i; at_end(&k); result += labels(i) + k; }")

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

    def test_results_as_they_are_declared(self):
        self.right("#include <signal.h>\n#include <time.h>\n#include <unistd.h>\nstatic int signals; static void caught(int n) { signals += n; }",
                   """{ time_t t = 86400L * i; char text[] = "one,two", *copy = strdup("copy"); void (*before)(int);
  result += localtime(&t)->tm_year + (*gmtime(&t)).tm_mon + (sizeof *localtime(&t) == sizeof(struct tm)) + ctime(&t)[3] + *asctime(gmtime(&t));
  result += (getenv("PATH")[0] == 0) + strtok(text, ",")[0] + *strerror(0) + getcwd(NULL, 0)[0] + strdup("x")[0];
  before = signal(SIGUSR1, caught); deep(1, 1); if (before == caught) signal(SIGUSR1, caught)(1); result += signals + copy[1]; }""", "-D_GNU_SOURCE")

    def test_functions_that_only_tables_name(self):
        self.right("static int (*drawn)(void) = rand; static void (*set)(unsigned) = srand;", "if (i == 0) set(5); result += drawn();")

    def test_pointers_to_functions_of_other_signatures(self):
        """What casts, and functions and pointers without prototypes, let a pointer call, and nothing more: neither the handler of the signal nor
        the operation is given a function that can reach MPI."""
        self.right("""
#include <signal.h>
typedef long (*Any)(); typedef long (*Call)(void *, long); typedef void (*Work)(int *, void *);
static long one(long *p, long n) { return *p + deep(n, 1); }
static long two(p, n) long *p; long n; { return *p - deep(n, 1); }
static Any any = (Any)one; static long (*old)(long *, long) = two;
static void nothing(void) {} static void (*handler)(void) = nothing;
static void on_signal(int s) { handler(); }
static void sum(long *a, long *b) { *b += deep(*a, 1); } static void (*both)(long *, long *) = sum;
static void most(const long *in, long *inout, const int *n, const MPI_Datatype *t) { for (int k = 0; k < *n; k++) if (in[k] > inout[k]) inout[k] = in[k]; }
static void reduce(long *a, long *b, MPI_User_function *by) { MPI_Op op; MPI_Op_create(by, 1, &op); MPI_Allreduce(a, b, 1, MPI_LONG, op, MPI_COMM_WORLD); MPI_Op_free(&op); }
static void fold(int *n, long *to) { long x = *n; reduce(&x, to, (MPI_User_function *)most); }
static void launch(Work f, void *p, int n) { f(&n, p); }
static void plus(long *p) { ++*p; } static struct { void (*ends)(); } ends = {(void (*)())plus};""", """
{ long x = i, y = 0; signal(SIGUSR1, on_signal); both(&x, &y); launch((Work)fold, &x, i + rank); ends.ends(&x);
  result += ((Call)any)(&x, 2) + any(&x, 3L) + old(&x, 1) + y; }""")

    def test_functions_that_files_declare_otherwise(self):
        """Than they are defined, where a pointer leads to them."""
        self.write("other.c", "struct s { long n; }; long deeper(long x, int n);\nlong by_struct(void *p) { return deeper(*(long *)p, 1); }\nlong by_none(long x, long n) { return deeper(x, 1) + n; }\n")
        self.right("struct s { long n; }; extern long by_struct(struct s *), by_none(); static long (*one)(struct s *) = by_struct, (*two)(long, long) = by_none; long deeper(long x, int n) { return deep(x, n); }",
                   "{ struct s s = {i}; result += one(&s) + two(3, rank); }", "other.c")

    def test_transparent_unions(self):
        """An argument becomes the union without a word of the program's."""
        self.right("typedef union { int *i; float *f; } both __attribute__((transparent_union));\nstatic long first(both p) { return *p.i; }\n"
                   "static long second(long before, both p) { return before + *p.i + deep(1, 1); }",
                   "{ int n = i; result += first(&n) + deep(1, 1) + second(deep(2, 1), &n); }")

    def test_flags_of_the_standard(self):
        self.right("#include <stdatomic.h>\nstatic atomic_flag flag = ATOMIC_FLAG_INIT;",
                   "if (!atomic_flag_test_and_set(&flag)) result += 3; if (i % 3 == 0) atomic_flag_clear(&flag); deep(1, 1);")

    def test_pointers_to_streams_that_are_closed(self):
        """They lead to nothing, but are not NULL."""
        self.restarts_from_all(PROGRAM % ("static FILE *log; static void *any;", 'if (i == 0) { log = fopen("/dev/null", "w"); any = log; fclose(log); } result += (log != NULL) + (any == (void *)log); deep(1, 1);'), "30 71")

    def test_pointers_to_functions_that_are_copied(self):
        """By memcpy(), which calls none: some can reach MPI."""
        self.right("static void *table[2]; static long (*by)(long, int);", "if (i == 0) { table[1] = (void *)deep; memcpy(&by, table + 1, sizeof by); } result += by(1, 1);")

    def test_stack(self):
        """Arrays of blocks that follow each other, some with initial values, take more of it than compilers take."""
        block = "{ double a[300000]%s; a[i] += i; deep(1, 1); result += a[i]; }"
        self.right("", "if (i == 9) memset(memset((char[4]){0}, 1, 4), 0, 4);" + "".join(block % initial for initial in (" = {0}", " = {1, 2}", " = {[7] = 1.5}")) +
                   '{ char text[3000000] = ""; text[i] = i; deep(1, 1); result += text[i]; }')

    def test_the_left_side_is_read_before_the_call(self):
        """Of operators that compilers evaluate so, when the call changes it."""
        self.right("static long level = 90; static int shrink(int *n) { deep(1, 1); *n = *n / 2 + 1; return 1; } static long lower(void) { deep(1, 1); level = level * 2 / 3 + 9; return level + 2; }",
                   "{ int n = 100 + i, m = 50 + i; static short s = 1000; result += n - shrink(&n); result += 3 * ((n - shrink(&n)) % 100) + n / shrink(&n) + (m << shrink(&m)) - m % (shrink(&m) + 2);"
                   " result += level - lower() - (level - lower()) % 7 + level / lower(); s = s - lower() % 3; result += s; }")

    def test_letters_in_names(self):
        """GCC's preprocessor writes those that are none of ASCII as numbers, as a program may; in strings they are what they are."""
        self.right("""
            static struct größe { int höhe; } große; static double füll(const double größe, double *const feld, int n) {
              double s = 0; for (int k = 0; k < n; k++) { feld[k] = größe * k + deep(1, 1); s += feld[k] + größe; } return s; }""", """
            double feld[4]; struct größe { double höhe[2]; } größe = {{i, 2}}; große.höhe++;
            int t\\u00e9 = deep(i, 1); { int té = 2; result += té + deep(té, 1) + (strcmp("\\u00e9", "\u00e9") == 0); }
            result += t\\u00e9 + füll(i + .5, feld, 4) + große.höhe + größe.höhe[0];""")

    def test_tables_of_labels(self):
        """Of an interpreter that does not reach MPI: they are where the labels are, and always the same."""
        outside = """static long run(const unsigned char *c) {
              static %s op[] = {&&add, &&twice, &&less, &&halt}; static long calls; static const int by[] = {&&twice - &&add, 0};
              long a = by[1] + 1; calls++; goto *op[*c++];
              add: a += 3; goto *op[*c++]; twice: a *= 2; goto *op[*c++]; less: a--; goto *op[*c++]; halt: return a + calls; }
              static unsigned char code[] = {0, 1, 2, 1, 1, 0, 3};"""
        for kind in "void *const", "void *", "const void *const":
            with self.subTest(kind):
                self.right(outside % kind, "code[i % 6] = i % 3; result += run(code);")
        self.write("prog.c", PROGRAM % ((outside % "void *").replace("calls++;", "op[calls % 3] = op[calls++ % 2];"), "result += run(code);"))
        self.assertIn("the static variable 'op' has addresses of labels, and may be changed", self.cc("prog.c", "-w", "-o", "prog", code=1))

    def test_buffers_for_jumps_in_structs(self):
        """As those have that a library's errors come back through: they go with the function that has set them."""
        self.right("""
            #include <setjmp.h>
            static struct stack { int depth; jmp_buf back[3]; int caught; } stack; static struct one { int n; jmp_buf back; } *made;
            static void fail(int by) { if (by & 1) longjmp(made->back, by); longjmp(stack.back[stack.depth], by); }
            static int guarded(int i) {
              int got; stack.depth = i % 3;
              if ((got = setjmp(i & 1 ? made->back : stack.back[stack.depth])) == 0) fail(i + 2);
              memset(made->back, 0, sizeof made->back); stack.caught += got; return got; }""", """
            if (!made) made = calloc(1, sizeof *made);
            result += guarded(i); made->n += i; deep(1, 1); result += stack.caught % 7 + made->n;""")

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

    def test_inline_where_it_is_called(self):
        """The compiler takes other decisions in a function that is changed."""
        self.write("prog.c", r"""#include <math.h>
#include <mpi.h>
#include <stdio.h>
typedef struct { float x, y, z; } vector;
inline float norm(const vector *v) { return sqrtf(v->x * v->x + v->y * v->y + v->z * v->z); }
inline void normalize(vector *v) { float f = 1.f / norm(v); v->x *= f; v->y *= f; v->z *= f; }
double used(float a) { vector d = {a, 1, 1}; normalize(&d); return d.x; }
int main(int argc, char **argv) {
  int rank, size, width = 60; double sum = 0;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank); MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (rank == 0) for (int i = 1; i < size; ++i) MPI_Send(&width, 1, MPI_INT, i, 0, MPI_COMM_WORLD);
  else MPI_Recv(&width, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank != 0) {
    int region = rank - 1;
    while (region < 50) {
      for (int k = 0; k < width; ++k) { vector d = {region, k, 1}; normalize(&d); sum += d.x + d.y + used(k); }
      MPI_Send(&rank, 1, MPI_INT, 0, 0, MPI_COMM_WORLD); MPI_Recv(&region, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Send(&sum, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
  } else {
    int who;
    for (int next = size - 1; next < 50 + size - 1; ++next) { MPI_Recv(&who, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE); MPI_Send(&next, 1, MPI_INT, who, 0, MPI_COMM_WORLD); }
    MPI_Recv(&sum, 1, MPI_DOUBLE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf("result: %.9g\n", sum);
  }
  MPI_Finalize();
}
""")
        for level in "-O1", "-O3":
            self.cc("prog.c", "-std=c99", level, "-w", "-o", "plain", "-felc-off", "-lm")
            self.cc("prog.c", "-std=c99", level, "-w", "-o", "prog", "-lm")
            self.assertEqual(self.start("plain"), self.start("prog"))

    def test_inline_without_a_definition(self):
        """That no file has otherwise: the compiler had to put it where it is called."""
        self.right("__attribute__((always_inline)) inline long once(long x) { return deep(x, 1) + 1; }", "result += once(i);", "-O2", "-std=gnu11")

    def test_functions_with_few_calls_that_reach_mpi(self):
        """They have frames for these alone, and what a restart needs is another function of the same parameters."""
        outside = """struct pair { int a; double b; char c[3]; }; typedef int (*of_int)(int); enum { SMALL = 3 } last; static long sent; static char to[8];
union number { int n; char c[4]; };
static int twice(int n) { return 2 * n; }
static int thrice(int n) { return 3 * n; }
static void flush(int n) { int k; for (k = 0; k < 2; k++) sent += deep(n, 1); }
static void put(const void *what, int size, unsigned long to_whom) { char box[4] = {1, 2}; if (sent % 4 == 0) { flush(size + box[1]); sent += box[0]; } sent += *(const char *)what + (int)to_whom; }
extern void told(int n); inline void told(int n) { if (n % 3) flush(n); sent++; }
__attribute__((visibility("default"))) struct pair paired(struct pair p, const int n) { struct pair q = {n, p.b, "ab"}; if (n > SMALL) put(q.c, p.a, 3); q.a += n; return q; }
static int (*chosen(int n, of_int one, int (*other)(int)))(int) { if (n % 2) told(n); return n % 4 < 2 ? one : other; }
static int summed(int a[], int (*rows)[2], _Bool all, char c, short s, int n) { if (a[0] > n) put(&c, n, s); return a[0] + rows[1][1] + all + c + s; }
static float halved(float of, int n) { float half = of; if (n % 2) told(n); return half / 2; }
static const char *named(int n) { if (n % 2) told(n + 1); return __func__; }
static void *noted(void *p, union number *u) { if (u->n % 2) told(u->c[0] != 0); memcpy(to, p, 3); return to; }
static int walked(int n);
static int also(int n) { if (n == 0) return 0; return walked(n - 1) + 1; }
static int walked(int n) { if (n == 2) told(n); return also(n); }
static int lined(void) { if (sent % 2) told(1); return __LINE__; }"""
        inside = """{ int a[2] = {i, 2}, rows[2][2] = {{1, 2}, {3, i}}; union number u = {i}; struct pair p = {i, i / 2.0, "p"}; p = paired(p, i);
result += p.a + (long)p.b + p.c[0] + chosen(i, twice, thrice)(i) + summed(a, rows, i % 2, i, -i, 30) + (long)(8 * halved(i, i)) + strlen(named(i)) + walked(i % 7) + lined();
told(i); result += ((char *)noted("xyz", (void *)&u))[i % 3] + sent; }"""
        self.restarts_from_all(PROGRAM % (outside, inside), "41 97 203 250 333 391")

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

    def test_parameters_of_an_enum_without_a_name(self):
        self.right("static long area(long a, enum { UP, DOWN } which) { a += deep(which, 1); which = which == UP ? DOWN : UP; return deep(a, 1) + which; }", "result += area(i, i & 1);")

    def test_functions_that_may_be_missing(self):
        """Weak ones that nobody defines: whether there is one a program may ask."""
        self.right("extern void hook(int) __attribute__((weak)); extern int other(void) __attribute__((weak)); extern int number __attribute__((weak));",
                   "if (hook) hook(i); if (other != NULL && i) result += other(); result += !hook + (other ? 1 : 2); if (&hook != 0) hook(2); if (&number) number++; result += &number == NULL; deep(1, 1);")
