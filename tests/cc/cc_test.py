#!/usr/bin/env python3
"""cc_test.py BUILD [TEST...]: elc-cc as a compiler. Projects are built as their owners do it, with the MPI's own wrapper; what
elc-cc refuses names file and line. That its programs survive is for the kill test (--programs unchanged)."""

import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402
from draw import SEED  # noqa: E402

BUILD = None
WRAPPER = {"openmpi": ("mpicc.openmpi", "OMPI_CC"), "mpich": ("mpicc.mpich", "MPICH_CC"), "lam": ("mpicc.lam", "LAMMPICC")}

# What a program needs to be one: calls that reach MPI, three functions deep.
PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static long deep(long x, int n);
%s
static long deep(long x, int n) {
  long sum = 0;
  if (n > 0) return deep(x + 1, n - 1) + n;
  MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}
int main(int argc, char **argv) {
  long result = 0;
  int i, rank;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 100; i++) {
    result += deep(i, 5);
    %s
  }
  if (rank == 0) printf("result: %%ld\n", result);
  MPI_Finalize();
  return 0;
}
"""


class Cases(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="elc cc ")  # a name with blanks
        self.wrapper, variable = WRAPPER[BUILD.mpi]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
        self.environment.update(launch.environment(BUILD.mpi, self.home))
        self.environment[variable] = os.path.join(BUILD.path, "src", "cc", "elc-cc")
        self.environment["ELC_CC"] = "gcc"
        self.chance = random.Random("%d %s" % (SEED, self.id()))

    def tearDown(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def run_words(self, *words, code=0, given="", **variables):
        done = subprocess.run(words, cwd=self.home, env=dict(self.environment, **variables), input=given,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, "%s\n%s" % (words, done.stdout))
        return done.stdout

    def cc(self, *words, **keywords):
        return self.run_words(self.wrapper, *words, **keywords)

    def start(self, program, ranks=2, given="", **variables):
        names = ["PATH", *variables]
        return self.run_words(*launch.launcher(BUILD.mpi, ranks, names), os.path.join(self.home, program), given=given, **variables)

    def planned(self, program, site=None, **variables):
        """What it prints, and what is said; its two processes take a line at this site or beside it (src/mpi/runtime/examination.h)."""
        looked = tempfile.mkdtemp(dir=self.home)
        with open(os.path.join(looked, "plan"), "w") as file:
            for rank in range(2):
                file.write("%d 0 1%s\n" % (rank, "" if site is None else " %d" % (site + rank * self.chance.randrange(-1, 2))))
        said = self.start(program, ELC_DIR=os.path.join(self.home, "lines"), ELC_DOCTOR=looked, ELC_EVERY="0", ELC_VERBOSE="1", **variables)
        with open(os.path.join(looked, "out-0")) as file:
            return file.read(), said

    def assert_restarts(self, program, expected):
        """It has the answer with a line, and goes on from there."""
        lines, site = os.path.join(self.home, "lines"), self.chance.randrange(2, 99)
        out, said = self.planned(program, site)
        self.assertEqual(out, expected, said)
        self.assertEqual(launch.committed(lines), [1], "site %d\n%s" % (site, said))
        out, said = self.planned(program, ELC_RESTART="1")
        self.assertIn("restarting from line", said)
        self.assertEqual(out, expected, "site %d\n%s" % (site, said))
        shutil.rmtree(lines)

    def take_line(self, program):
        """In the middle; returns what is said."""
        out, said = self.planned(program, self.chance.randrange(30, 90))
        self.assertIn("result: ", out)
        return said

    def assert_refuses_line(self, pattern):
        """Such a line is not taken, and the program goes on."""
        self.assertRegex(self.take_line("prog"), pattern)
        self.assertEqual(launch.committed(os.path.join(self.home, "lines")), [])
        shutil.rmtree(os.path.join(self.home, "lines"))

    def right(self, outside, inside, *words):
        """The answer is the plain program's, and a restart's, too."""
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-w", "-o", "plain", *words, "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog", *words)
        self.assert_restarts("prog", self.start("plain"))


class Projects(Cases):
    DALLY = "{ int k; for (k = 0; k < 300; k++) MPI_Barrier(MPI_COMM_WORLD); }"
    ANSWER = "result: 12400\n"  # of two ranks: 100 times 2 * (i + 5) + 15, summed

    def test_one_command(self):
        self.write("prog.c", PROGRAM % ("", ""))
        self.cc("prog.c", "-O2", "-Wall", "-o", "prog")
        self.assert_restarts("prog", self.ANSWER)

    def test_objects_archives_and_responses(self):
        """Compiled one by one, some in an archive, some joined by ld -r; words from a file; a member that nobody wants, and that
        could not be linked."""
        parts = {"include/part one.h": "long first(long), second(long), third(long);\n",
                 "first.c": '#include "part one.h"\n#include <mpi.h>\nstatic int calls;\nlong first(long x) { calls++; '
                            "MPI_Barrier(MPI_COMM_WORLD); return second(x) + calls - calls; }\n",
                 "second.c": '#include "part one.h"\nstatic int calls;\nlong second(long x) { calls += 2; return third(x) + (calls & 0); }\n',
                 "third.c": '#include "part one.h"\nlong third(long x) { return x * FACTOR; }\n',
                 "unwanted.c": "int nobody_has_this(void);\nunion { int *p; long n; } refused;\n"
                               "int unwanted(void) { return nobody_has_this() + (refused.p == 0); }\n"}
        for name, text in parts.items():
            self.write(name, text)
        self.write("prog.c", PROGRAM % ('#include "part one.h"', "result += first(i) - i * 3;"))
        self.write("words", '-Iinclude "-DFACTOR=3" -O1\n-g')
        for name in ("prog", "first", "second", "third", "unwanted"):
            self.cc("@words", "-c", name + ".c")
        self.run_words("ar", "rcs", "libparts.a", "third.o", "unwanted.o")
        self.run_words("ld", "-r", "first.o", "second.o", "-o", "joined.o")
        self.cc("prog.o", "joined.o", "-L.", "-lparts", "-o", "prog")
        self.assert_restarts("prog", self.ANSWER)
        self.assertNotIn(".elc", self.run_words("readelf", "-S", "-W", "prog"))

    def test_files_of_one_name(self):
        """Functions, variables, strings and structs of files that are called the same are told apart."""
        for folder, members in ("a", "long n; double x;"), ("b", "double x; int n[3];"):
            self.write(folder + "/part.h", "struct Part { %s };\n" % members)
            self.write(folder + "/part.c", """#include <mpi.h>
#include "part.h"
static long setenv(long x);
static struct Part kept;
static long reach(long x) { static long calls; long sum; const char *name = "%s"; MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); kept.x += 1; return sum + name[0] + ++calls; }
static long setenv(long x) { return reach(x) + (long)kept.x; }
long part_%s(long x) { return setenv(x); }
""" % (folder, folder))
        self.write("prog.c", PROGRAM % ("long part_a(long), part_b(long);", "result += part_a(result % 7) + part_b(i);"))
        self.cc("prog.c", "a/part.c", "b/part.c", "-o", "prog")
        self.cc("-felc-off", "prog.c", "a/part.c", "b/part.c", "-o", "plain")
        self.assert_restarts("prog", self.start("plain"))
        # What one file defines for itself says nothing of what another one calls.
        self.write("prog.c", PROGRAM % ("#include <stdlib.h>\nlong part_a(long), part_b(long);", 'result += setenv("NAME", "x", 1);'))
        self.assertIn("prog.c:22: setenv(): what it sets", self.cc("prog.c", "a/part.c", "b/part.c", "-o", "prog"))

    def test_variables_in_common(self):
        self.write("other.c", "long shared; double table[4];\nvoid other(void) { shared += 1; table[1] += shared; }\n")
        self.write("prog.c", PROGRAM % ("long shared; double table[4]; void other(void);", "other(); result += shared + table[1];"))
        self.cc("-fcommon", "prog.c", "other.c", "-o", "prog")
        self.cc("-fcommon", "prog.c", "other.c", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))

    def test_as_the_compiler(self):
        """What is not for elc-cc is the compiler's: preprocessing, dependencies, assembly, versions, errors with their places."""
        self.write("a.c", '#include "a.h"\nint f(void) { return A; }\n')
        self.write("a.h", "#define A 3\n")
        self.assertIn("return 3", self.cc("-E", "a.c"))
        self.assertIn("a.h", self.cc("-MM", "a.c"))
        self.cc("-S", "a.c")
        self.cc("-MMD", "-MF", "a.d", "-c", "a.c", "-o", "a.o")
        with open(os.path.join(self.home, "a.d")) as file:
            self.assertIn("a.h", file.read())
        self.assertIn("Free Software", self.cc("--version"))
        self.write("wrong.c", "int f(void) {\n  return nothing;\n}\n")
        self.assertRegex(self.cc("-c", "wrong.c", code=1), r"wrong\.c:2:.*nothing")
        self.write("plain.c", '#include <stdio.h>\nint main(void) { puts("plain"); return 0; }\n')
        self.cc("plain.c", "-o", "plain")
        self.assertEqual(self.run_words(os.path.join(self.home, "plain")), "plain\n")
        self.assertIn("-felc-what is no option of elc-cc", self.cc("-felc-what", "-c", "a.c", code=1))

    def test_lines_of_the_source(self):
        """A debugger sees the program as it was written."""
        self.write("prog.c", PROGRAM % ("", ""))
        self.cc("-g", "prog.c", "-o", "prog")
        told = self.run_words("readelf", "--debug-dump=decodedline", "prog")
        with open(os.path.join(self.home, "prog.c")) as file:
            calls = [n for n, text in enumerate(file, 1) if "MPI_Allreduce" in text or "result += deep" in text]
        for line in calls:
            self.assertRegex(told, r"prog\.c +%d " % line)

    def test_installed(self):
        there = tempfile.mkdtemp(prefix="elc-cc-")  # a wrapper's compiler has no blanks in its name
        self.addCleanup(shutil.rmtree, there)
        self.run_words("meson", "install", "--no-rebuild", "-C", BUILD.path, "--destdir", there)
        for folder, _, files in os.walk(there):
            if "elc-cc" in files:
                self.environment[WRAPPER[BUILD.mpi][1]] = os.path.join(folder, "elc-cc")
        self.write("prog.c", PROGRAM % ("", ""))
        self.cc("prog.c", "-o", "prog")
        self.assertEqual(self.start("prog"), self.ANSWER)


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

    def test_attributes_of_mpi(self):
        """Pointers to what is in memory of MPI's."""
        self.right("static int *most, *is_global;", "{ int flag, *universe; MPI_Attr_get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global, &flag); if (!flag) is_global = &flag;"
                   " if (i == 0) MPI_Attr_get(MPI_COMM_WORLD, MPI_TAG_UB, &most, &flag); MPI_Attr_get(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &universe, &flag);"
                   " if (!flag) universe = &flag; deep(1, 1); result += (*most >= 32767) + 2 * (*is_global == 0) + 4 * (*universe > 0); }")

    def test_attributes_of_windows(self):
        if BUILD.mpi == "lam":
            self.skipTest("of MPI 2")
        self.right("static MPI_Win w; static MPI_Aint *size; static int *unit; static double data[5]; static void *base;",
                   "{ int flag; if (i == 0) { MPI_Win_create(data, sizeof data, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &w); "
                   "MPI_Win_get_attr(w, MPI_WIN_SIZE, &size, &flag); MPI_Win_get_attr(w, MPI_WIN_BASE, &base, &flag); "
                   "MPI_Win_get_attr(w, MPI_WIN_DISP_UNIT, &unit, &flag); } deep(1, 1); "
                   "result += *size + *unit + 3 * (base == data); if (i == 99) MPI_Win_free(&w); }")

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

    ERRORS = """
static MPI_Comm with; static MPI_Errhandler kept; static long failed;
static void once(MPI_Comm *comm, int *code, ...) { failed += *comm == with; }
static void %s(MPI_Comm *comm, int *code, ...) { failed += 1000; }"""
    FAILS = """
if (i == 0) {
  MPI_Errhandler other; CREATE(%s, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &with); CREATE(once, &kept); SET(with, kept);
  SET(MPI_COMM_WORLD, other); MPI_Errhandler_free(&other);
}
{ MPI_Errhandler now; GET(with, &now); result += now == kept; if (FREES) MPI_Errhandler_free(&now); }
if (i %% 3 == 1) MPI_Send(&i, 1, MPI_INT, 77, 0, with);
if (i == 90) SET(with, MPI_ERRORS_RETURN);
if (i %% 7 == 1) MPI_Send(&i, 1, MPI_INT, 77, 0, MPI_COMM_WORLD);
result += failed;"""

    def names_of_errors(self):
        """MPI-1 has other names, and MPI_Errhandler_get gives what is not to be freed."""
        spelled = "MPI_Errhandler_%s" if BUILD.mpi == "lam" else "MPI_Comm_%s_errhandler"
        return ["-D%s=%s" % (what.upper(), spelled % what) for what in ("create", "set", "get")] + ["-DFREES=%d" % (BUILD.mpi != "lam")]

    def test_error_handlers(self):
        self.right(self.ERRORS % "often", self.FAILS % "often", *self.names_of_errors())

    def test_other_error_handlers(self):
        """They have numbers in the line, by their functions' names."""
        lines = os.path.join(self.home, "lines")
        for name in ("often", "at_times"):
            self.write("prog.c", PROGRAM % (self.ERRORS % name, self.FAILS % name))
            self.cc("prog.c", "-w", "-o", name, *self.names_of_errors())
        self.take_line("often")
        said = self.start("at_times", code=65, ELC_DIR=lines, ELC_RESTART=str(launch.newest(lines)))
        self.assertIn("functions that MPI calls, by a checksum of their names, in its variables (at_times() for errors, once() for errors)", said)

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

    def test_aligned_memory(self):
        """Also where a restart has got it; and that of MPI_Alloc_mem."""
        self.right("#include <stdint.h>\nstatic double *a, *b, *m; static char *c;",
                   "if (i == 0) { posix_memalign((void **)&a, 64, 24); b = aligned_alloc(4096, 8192); c = aligned_alloc(256, 3);"
                   " MPI_Alloc_mem(80, MPI_INFO_NULL, &m); memset(a, 0, 24); memset(b, 0, 8192); memset(c, 0, 3); memset(m, 0, 80); } deep(1, 1); a[i % 3] += i; b[i] = i; m[i % 10] += a[1]; c[i % 3] += 1;"
                   "result += m[3] + b[i / 2] + c[1] + 7 * (((uintptr_t)a % 64) + ((uintptr_t)b % 4096) + (uintptr_t)c % 256);"
                   "if (i == 99) { MPI_Free_mem(m); free(a); free(b); free(c); }")

    def test_addresses_that_are_rounded(self):
        """What a program finds in its memory by rounding the address of a block a restart finds, too."""
        for rounded, most in (("((size_t)raw + 63) & ~(size_t)63", 64), ("((size_t)raw + align - 1) / align * align", 64), ("(size_t)raw + 256 - (size_t)raw % 256", 256)):
            with self.subTest(rounded):
                self.right("static size_t align = 64; static char *all[40];\nstatic long *in(char *raw) { return (long *)(%s); }" % rounded,
                           "{ int j = i %% 40, k; size_t size = 160 + 16 * j; if (i >= 80) { all[j] = realloc(all[j], size + %d + 8 * i); for (k = 0; k < 20; k++) in(all[j])[k] = k; }"
                           " else if (i < 40) { all[j] = malloc(size + %d); for (k = 0; k < 20; k++) in(all[j])[k] = k * j; }"
                           " deep(1, 1); for (k = 0; k < 20; k++) result += in(all[i * 7 %% (i < 40 ? i + 1 : 40)])[k]; }" % (most, most))

    def test_aligned_tables(self):
        """By the program, behind what it does not use: the memory is what it has there, if that is all."""
        allocator = """
static void *aligned(size_t size, int p) { int shift = 1 << p; unsigned long mask = shift - 1; char *raw = malloc(size + shift); return (void *)((unsigned long)(raw + shift) & ~mask); }
static double x[8], **t; static struct { double **at; } *in;
"""
        inside = "if (!t) { int k; t = aligned(8 * sizeof *t, %d); for (k = 0; k < 8; k++) t[k] = x + k; %s } *t[i %% 8] += i; deep(1, 1); result += *t[(i + 1) %% 8];"
        for p in (3, 5, 6): self.right(allocator, inside % (p, ""))
        self.write("prog.c", PROGRAM % (allocator, inside % (6, "((int *)t)[-2] = 7;")))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("'prog.c:t' of the globals leads there")

    def test_aligned_structs(self):
        """Whose size is no multiple of the alignment: the memory is larger than they are."""
        self.right("struct cell { struct cell *next; long a, b, c; double x; }; static struct cell *one, *three;", """
if (!one) {
  void *p;
  one = posix_memalign(&p, 16, sizeof *one) ? 0 : p; three = posix_memalign(&p, 64, 3 * sizeof *three) ? 0 : p;
  memset(one, 0, sizeof *one); memset(three, 0, 3 * sizeof *three);
  one->next = three; three->next = three + 1; three[1].next = three + 2; three[2].next = one;
}
deep(i, 1); one = one->next; one->a += i; one->x += one->a * 0.5; result += one->next->a + one->x + 1000 * ((size_t)three % 64) + (size_t)one % 8;""")

    def test_memory_or_none(self):
        """What a choice is converted to a pointer to, all that it may be points to."""
        self.right("struct cell { struct cell *next; long n; }; static struct cell *all, *cells; static void *spare;", """
{ struct cell *c = i % 3 != 0 ? malloc(sizeof *c) : NULL, *d = i < 50 ? (spare = malloc(sizeof *d)) : spare;
  if (c) { c->next = all; c->n = i; all = c; }
  d->n = i; d->next = all; cells = d; deep(i, 1); result += d->n + (d->next ? d->next->n : 7) + (all && all->next ? all->next->n : 0); }""")

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
                                        "if (i == 99) result += feof(stdin) != 0; " + Projects.DALLY))
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
            said = self.run_words(os.path.join(BUILD.path, "src", "tool", "elc"), "show", "--dir", lines, str(launch.newest(lines)))
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


class Refused(Cases):
    """What cannot be right after a restart is an error, with file and line, before there is a program."""

    def refuses(self, message, outside="", inside="", line=None, words=()):
        self.write("prog.c", PROGRAM % (outside, inside))
        said = self.cc("prog.c", "-o", "prog", *words, code=1)
        self.assertIn(message, said)
        self.assertRegex(said, r"elc-cc: prog\.c:\d+: ")
        self.assertFalse(os.path.exists(os.path.join(self.home, "prog")))
        return said

    def test_unknown_function(self):
        self.write("other.s", ".globl other\nother: ret\n.section .note.GNU-stack\n")
        self.run_words("gcc", "-c", "other.s")
        self.refuses("other() is in none of the files that elc-cc has compiled", "void other(void);", "other();", words=["other.o"])
        self.cc("prog.c", "other.o", "-o", "prog", "-felc-stateless=other")

    def test_linear_algebra(self):
        """It is known, with what the compiler of Fortran adds to names, and without; what only looks like it is not."""
        names = ("cblas_dgemm", "dgemm_", "idamax", "zdscal_", "LAPACKE_dgesv")
        self.write("prog.c", PROGRAM % ("".join("int %s();" % name for name in names), "result += i > 1000 ? %s : 0;" % " + ".join("%s()" % name for name in names)))
        self.write("lib.s", "".join(".globl %s\n%s: ret\n" % (name, name) for name in names) + ".section .note.GNU-stack\n")
        self.cc("prog.c", "lib.s", "-o", "known")
        self.refuses("dgemmy_() is in none of the files", "int dgemmy_();", "result += dgemmy_();")

    def test_functions_of_system_headers(self):
        """Seen through are those that call the compiler's own functions and each other, and nothing else."""
        self.write("sys/seen.h", """
#include <mpi.h>
#include <stdlib.h>
static inline int half(int x) { return x / 2; }
static inline int bits(int x) { return __builtin_popcount(half(x)); }
static inline int drawn(void) { return rand(); }
static inline int waits(void) { return MPI_Barrier(MPI_COMM_WORLD); }
static inline int calls(int (*f)(int)) { return f(1); }
static inline int counts(void) { static int n; return ++n; }
static inline int again(int x) { return x == 0 ? 0 : again(x - 1); }
""")
        self.write("prog.c", PROGRAM % ("#include <seen.h>\n", "result += bits(i);"))
        self.cc("-isystem", "sys", "prog.c", "-o", "seen")
        for name, argument in (("drawn", ""), ("waits", ""), ("calls", "half"), ("counts", ""), ("again", "3")):
            self.refuses(name + "() is in none of the files", "#include <seen.h>\n", "result += %s(%s);" % (name, argument), words=["-isystem", "sys"])

    def test_unknown_variable(self):
        self.refuses("the variable 'environ' is in none of the files", "extern char **environ;", "result += environ != 0;")

    def test_environment(self):
        self.write("prog.c", "#include <mpi.h>\nint main(int argc, char **argv, char **all) { MPI_Init(&argc, &argv); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return all[0] == 0; }")
        self.assertIn("prog.c:2: main(), which can reach MPI: the environment that main() is given is not part of lines", self.cc("prog.c", "-o", "prog", code=1))

    def test_jumps(self): self.refuses("setjmp(): a restart cannot set", "#include <setjmp.h>\njmp_buf b;", "if (setjmp(b)) i++;")
    def test_contexts(self): self.refuses("getcontext(): a restart cannot set", "#include <ucontext.h>\nstatic ucontext_t *c;", "result += getcontext(c);")

    def test_exit_handlers(self):
        self.refuses("bye(), which can reach MPI, may be given to atexit()", "void bye(void) { MPI_Barrier(MPI_COMM_WORLD); }", "atexit(bye);")

    def test_threads(self):
        said = self.refuses("deep(), which can reach MPI, may be called by threads of OpenMP, in the directive around", """
#include <omp.h>
static int each;
#pragma omp threadprivate(each)
static long pure(long x) { return x + 1; }
static long (*by)(long) = pure, (*other)(long, int) = deep;
static void note(void) { FILE *f = fopen("note", "a"); fclose(f); }""", """{ int k;
    #pragma omp parallel for
    for (k = 0; k < 4; k++) { deep(k, 1); note(); result += by(k); }
    #pragma omp parallel
    {
      #pragma omp master
      MPI_Barrier(MPI_COMM_WORLD);
      each += getenv("PATH") != NULL;
    }
    #pragma omp target
    result++; }""", words=["-fopenmp"])
        for what in ("MPI_Barrier() may be called by threads", "fopen() may be called by threads", "getenv() may be called by threads", "'each' is of each thread",
                     "a directive of OpenMP after which something may be under way or elsewhere"):
            self.assertIn(what, said)
        self.assertNotIn("pure()", said)

    def test_results_of_others(self): self.refuses("what it returns a pointer to is not the program", inside="{ void *p = __builtin_return_address(0); result += p != 0; }")
    def test_profiling(self): self.refuses("PMPI_Barrier(): libELC does not see it", inside="PMPI_Barrier(MPI_COMM_WORLD);")

    def test_callback(self):
        compare = "static int compare(const void *a, const void *b) { MPI_Barrier(MPI_COMM_WORLD); return a < b; }\nint v[2];"
        self.refuses("compare(), which can reach MPI, may be given to qsort()", compare, "qsort(v, 2, sizeof *v, compare);")
        pointer = compare + "\nint (*by)(const void *, const void *) = compare;"
        self.refuses("a function that can reach MPI may be given to qsort()", pointer, "qsort(v, 2, sizeof *v, by); by(v, v);")

    def test_union(self):
        for member in ("void (*p)(void)", "FILE *p", "MPI_Comm p"):
            self.refuses("union u may hold a function, a stream or an object of MPI, and nothing says when", "union u { long n; %s; } u;" % member, "u.n = i;")

    def test_open_struct(self):
        self.refuses("ends with an array whose size", "struct s { int n; long more[]; } *p, s;", "s.n = i;")

    def test_struct_of_the_system(self):
        self.refuses("is of a system header", "#include <pthread.h>\npthread_mutex_t m;", "result += sizeof m - sizeof m;")

    def test_each_threads_own(self):
        self.refuses("'t' is of each thread", "__thread int t;", "\n#pragma omp parallel\n t = i;", words=["-fopenmp"])


    def test_alloca(self): self.refuses("alloca() and directives", "#include <alloca.h>", "{ char *p = alloca(10);\n#pragma omp parallel\np[0] = 1; }", words=("-fopenmp",))
    def test_assembly(self): self.refuses("inline assembly", inside='__asm__ volatile ("nop");')
    def test_literals_outside(self):
        for outside in ("static struct part { int n; struct part *next; } first = {1, &(struct part){2, 0}};", "static void *first = (struct { int a, b; }[]){{1, 2}};",
                        "struct part { struct part *next; int n; }; static struct part first = {&(struct part){&first, 2}, 1};",
                        "struct part { int a, b; }; static int *first = &((struct part){1, 2}).b;"):
            self.refuses("a compound literal outside of functions", outside, "result += sizeof first;")

    def test_cleanup(self):
        """The function is called where the variable ends, and no text says so."""
        outside = "%s static void ended(int *p) { %s } static void use(int n) { __attribute__((cleanup(ended))) int local = n; %s }"
        self.refuses("'local' has an attribute cleanup", outside % ("", "", "deep(1, 1);"), "use(i);")
        self.refuses("'local' has an attribute cleanup", outside % ("", "MPI_Barrier(MPI_COMM_WORLD);", ""), "use(i);")
        self.refuses("-felc-stateless=others", outside % ("void others(int);", "others(*p);", ""), "use(i);")
        self.right(outside % ("static int ends;", "ends += *p;", "local++;"), "use(i); result += ends; deep(1, 1);")

    def test_literal(self): self.refuses("the address of a compound literal", inside="{ int *p = (int[]){1, 2}; deep(p[1], 1); }")
    def test_computed_goto(self): self.refuses("a computed goto", inside="{ void *p = &&there; goto *p; there: deep(1, 1); }")

    def test_variable_arguments(self):
        """No line is taken in a function that wants them later; a pointer may not lead to it."""
        many = "#include <stdarg.h>\nstatic long many(int n, ...) { va_list of; long s = 0; va_start(of, n); %s va_end(of); return s; }"
        lines, looked = os.path.join(self.home, "lines"), 0
        for body in ("MPI_Barrier(MPI_COMM_WORLD); s = va_arg(of, int);", 'MPI_Barrier(MPI_COMM_WORLD); vsprintf((char[9]){0}, "", of);',
                     'va_list *at = &of; MPI_Barrier(MPI_COMM_WORLD); vsprintf((char[9]){0}, "", *at);', "while (n-- > 1) s += deep(va_arg(of, int), 1);",
                     "{ int k; for (k = 0; k < n; k++) { va_end(of); va_start(of, n); s += va_arg(of, int); deep(s, 1); } }",
                     "again: s += va_arg(of, int); if (n-- > 1) goto again;"):
            outside = many % (body + (" va_end(of); deep(1, 1); va_start(of, n); " if "goto" in body else ""))
            self.write("prog.c", PROGRAM % (outside, "deep(1, 1); many(2, 2, 3); deep(1, 1);"))
            self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
            said = self.cc("prog.c", "-w", "-o", "prog")
            self.assertRegex(said, r"prog\.c:\d+: no line is taken in many\(\): variable arguments \(prog\.c:\d+\) are wanted after a call that can reach MPI")
            right = self.start("plain")
            for site in self.chance.sample(range(20, 30), 2):
                out, said = self.planned("prog", site)
                self.assertEqual(out, right, said)
                for line in launch.committed(lines):
                    looked += 1
                    out, said = self.planned("prog", ELC_RESTART=str(line))
                    self.assertIn("restarting from line", said)
                    self.assertEqual(out, right, "site %d\n%s" % (site, said))
                shutil.rmtree(lines, ignore_errors=True)
            os.remove(os.path.join(self.home, "prog"))
            self.refuses("are wanted after a call that can reach MPI", outside + " static long (*pointer)(int, ...) = many;", "pointer(1, 2);")
        self.assertGreater(looked, 2)
        self.refuses("are wanted after a call that can reach MPI", "#include <stdarg.h>\nstatic long one(va_list *of) { MPI_Barrier(MPI_COMM_WORLD); return va_arg(*of, int); }"
                     "static long many(int n, ...) { va_list of; long s; va_start(of, n); s = one(&of); va_end(of); return s; } static long (*pointer)(va_list *) = one;", "pointer(0); many(1, 2);")

    def test_arrays_of_variable_length_in_clauses(self):
        """Of what is named there a directive makes its own; elements of shared ones are used as they are."""
        uses = "static long use(int n, int (*a)[n]) { deep(1, 1); return a[0][0]; }"
        for inside in ("long m[i + 1][i + 2]; int k;\n#pragma omp parallel for shared(m)\nfor (k = 0; k <= i; k++) m[k][k] = k;\ndeep(m[i][i], 1);",
                       "long v[i + 1]; int k; v[0] = 0;\n#pragma omp parallel for firstprivate(v)\nfor (k = 0; k <= i; k++) v[k] = k;\ndeep(v[0], 1);"):
            self.refuses("is of variable length", uses, "{ %s }" % inside, words=("-fopenmp",))
        for length in ("count++", "*at", "9 / count", "sizes.n[0]"):
            self.refuses("is more than sums and products", "static struct { int n[1]; } sizes; static int count; static long use(int *at, double (*a)[%s]) { deep(1, 1); return a[0][0]; }" % length,
                         "{ double a[9] = {0}; use(&i, (void *)a); }")
        self.refuses("is of variable length", "static long like(int n) { long a[n]; a[0] = 1; n++; __typeof__(a) b; b[0] = 2; deep(1, 1); return a[0] + b[0] + sizeof b; }", "like(i + 1);")

    def test_no_main(self):
        self.write("prog.c", PROGRAM.replace("int main", "int other_main") % ("", ""))
        self.write("main.s", ".globl main\nmain: ret\n.section .note.GNU-stack\n")
        self.run_words("gcc", "-c", "main.s")
        self.assertIn("main() is in none of the files", self.cc("prog.c", "main.o", "-o", "prog", code=1))


class Unfit(Cases):
    """Functions after whose call there are no lines: a warning, and a run that does not call them has lines."""

    def unfit(self, why, outside, call, *words):
        for when, called in (("i < 0", False), ("i == 1", True)):
            self.write("prog.c", PROGRAM % (outside, "if (%s) { %s }" % (when, call)))
            said = self.cc("prog.c", "-w", "-D_GNU_SOURCE", "-o", "prog", *words)
            self.assertRegex(said, r"elc-cc: warning: prog\.c:\d+: " + re.escape(why) + ".*: when it has been called no line is taken")
            if called:
                self.assert_refuses_line(r"abandoned.*: the program has called " + re.escape(why.split(":")[0]) + r" \(prog\.c:\d+\)" + re.escape(why[why.index(":"):]))
            else:
                self.assert_restarts("prog", Projects.ANSWER)

    def test_settings(self): self.unfit("setenv(): what it sets is lost", "#include <stdlib.h>", 'if (setenv("NAME", "x", 1) != 0) result++;')
    def test_descriptors(self):
        self.unfit("dup2(): the stream that", "#include <fcntl.h>\n#include <unistd.h>", 'dup2(2, 20);')
        for call in 'read(0, &result, 0)', 'fcntl(2, F_DUPFD, 20)', 'fcntl(open("/dev/null", O_RDONLY), F_DUPFD_CLOEXEC, 20)', 'lseek(fileno(stderr), 0, SEEK_CUR)':
            with self.subTest(call):
                self.write("prog.c", PROGRAM % ("#include <fcntl.h>\n#include <unistd.h>", "if (i == 1) %s;" % call))
                self.cc("prog.c", "-w", "-D_GNU_SOURCE", "-o", "prog")
                self.assert_refuses_line(r"the program has called %s\(\) .*: what it does to a file that the program has not" % call.split("(")[0])

    FILES = r"""
#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
static long one(const char *name) {
  char text[16] = "";
  const int file = open(name, O_RDONLY), again = dup(file);
  const long size = lseek(file, 0, SEEK_END);
  if (file < 0 || fcntl(again, F_GETFD) < 0 || pread(again, text, 4, 0) != 4) abort();
  if (close(file) != 0 || close(again) != 0 || close(again) == 0) abort();
  return size + text[0];
}
static long entries(const char *name) {
  long n = 0;
  struct dirent *e;
  DIR *all = opendir(name);
  while ((e = readdir(all)) != NULL) n += strcmp(e->d_name, ".") == 0;
  closedir(all);
  return n;
}
static long streams(void) {
  char made[] = "made-XXXXXX", word[16] = "";
  int number;
  FILE *in = popen("echo one", "r"), *out = fdopen(number = mkstemp(made), "w"), *gone;
  if (in == NULL || fgets(word, sizeof word, in) == NULL || pclose(in) != 0) abort();
  if (out == NULL || number < 0 || fputs(word, out) < 0 || fclose(out) != 0) abort();
  if ((gone = tmpfile()) == NULL || fclose(gone) != 0 || system("exit 3") == 0) abort();
  number = one(made);
  remove(made);
  return number;
}
"""

    def test_files_that_are_closed_again(self):
        """Lines are taken behind and before, whatever the files' descriptors are used for then."""
        self.right(self.FILES, 'result += one("prog.c") + entries(".") + streams(); if (i == 40) { FILE *kept = fopen("prog.c", "r"); result += fgetc(kept); }',
                   "-D_GNU_SOURCE")

    def test_files_that_are_open(self):
        """A line is refused while one of them is open, by name, and the next one is not."""
        for what, opens, closes in (("open", "file = open(\"prog.c\", O_RDONLY)", "close(file)"), ("mkstemp", "file = mkstemp(name)", "close(file)"),
                                    ("opendir", "at = opendir(\".\")", "closedir(at)"), ("popen", "at = popen(\"cat >/dev/null\", \"w\")", "pclose(at)"),
                                    ("fdopen", "at = fdopen(open(\"prog.c\", O_RDONLY), \"r\")", "fclose(at)"), ("tmpfile", "at = tmpfile()", "fclose(at)"),
                                    ("dup", "file = dup(2)", "close(file)")):
            with self.subTest(what):
                outside = "#include <dirent.h>\n#include <fcntl.h>\n#include <unistd.h>\nstatic int file; static void *at; static char name[] = \"new-XXXXXX\";"
                self.write("prog.c", PROGRAM % (outside, "if (i == 1) %s; if (i == 95) %s;" % (opens, closes)))
                said = self.cc("prog.c", "-w", "-D_GNU_SOURCE", "-o", "prog")
                self.assertRegex(said, r"elc-cc: warning: prog\.c:\d+: %s\(\): while what it opens is open no line is taken" % what)
                self.assert_refuses_line(r"abandoned.*: the program has called %s\(\) \(prog\.c:\d+\): while what it opens is open" % what)
                self.write("prog.c", PROGRAM % (outside, "if (i == 0) { %s; %s; }" % (opens, closes)))
                self.cc("prog.c", "-w", "-D_GNU_SOURCE", "-o", "prog")
                self.assert_restarts("prog", Projects.ANSWER)

    def test_declared_by_the_call(self): self.unfit("pipe(): other processes", "", 'int ends[2]; result += pipe(ends);')
    def test_memory_of_others(self): self.unfit("canonicalize_file_name(): its memory", "#include <stdlib.h>", 'free(canonicalize_file_name("."));')
    def test_other_processes(self): self.unfit("pipe(): other processes", "#include <unistd.h>", 'int ends[2]; result += pipe(ends);')
    def test_by_a_pointer(self): self.unfit("setenv(): what it sets is lost", "", 'int (*by)(const char *, const char *, int) = setenv; result += by("NAME", "x", 1);')
    def test_names_of_threads(self): self.unfit("pthread_self(): what it returns", "#include <pthread.h>\nstatic pthread_t first;", "first = pthread_self();")

    HASHES = """#include <stdint.h>
static long *kept[64]; static struct table { size_t size, mask, at; uintptr_t key; long *where[64]; unsigned (*by)(const void *); } t = {64, 63}; static uintptr_t pair[2];
static unsigned hash(unsigned long key) { return (unsigned)(key >> 7 & 1); }
static size_t at(void *p) { return (size_t)p; }
static size_t place(void *p, size_t size) { return (size_t)p % size; }
static unsigned by_pointer(const void *p) { return (unsigned)(uintptr_t)p; }
size_t known_outside(void *p, size_t size) { return (size_t)p % size; }
static unsigned of_bytes(const void *key, size_t n) { const unsigned char *s = key; unsigned h = 5381; while (n-- > 0) h = h * 33 + *s++; return h; }
static unsigned of_one(const char *s, int n) { unsigned h = 0; for (int k = 0; k < n; k++) { h += s[k]; h += h << 10; } return h; }
"""

    def test_numbers_of_addresses(self):
        """As tables have them that are searched by pointers: after a restart nothing would be found there."""
        for function, use in (("main", "kept[(uintptr_t)&i >> 4 & 63] = NULL;"), ("hash", "hash((unsigned long)&i);"), ("main", "kept[place(&i, t.size)] = NULL;"),
                              ("known_outside", "known_outside(&i, 64);"), ("of_bytes", "int *p = &i; of_bytes(&p, sizeof p);"), ("of_one", "uintptr_t k = (uintptr_t)&i; of_one((char *)&k, sizeof k);")):
            with self.subTest(use):
                self.unfit(function + "(): it computes with an address as a number", self.HASHES, use)
        self.write("prog.c", PROGRAM % ("", "srand((unsigned)(unsigned long)&i * 31);"))
        self.assertEqual("", self.cc("prog.c", "-w", "-o", "prog", "-felc-address-numbers"))
        self.assert_restarts("prog", Projects.ANSWER)

    def test_where_numbers_of_addresses_are_seen(self):
        uses = """kept[(size_t)&i / sizeof i % 61] = 0;
uintptr_t h = (uintptr_t)&i, g; g = h + 1; kept[3] = g * 31 > 7 ? kept[2] : NULL;
unsigned long h = (unsigned long)(char *)&i; h ^= 5; if (h == 0) kept[0] = 0;
kept[at(&i) * 3 % 5] = 0;
t.where[(uintptr_t)&i % t.size] = 0;
t.where[(uintptr_t)&i & (t.size - 1)] = 0;
size_t h = (uintptr_t)&i & t.mask; t.where[h] = 0;
kept[((size_t)&i & 0x3f0) >> 4] = 0;
kept[((size_t)&i & 0xff0) / 64 % t.size] = 0;
t.at = (uintptr_t)&i % t.size;
struct table u = {1, (size_t)&i % t.size}; t.mask = u.size;
long **slot = t.where + (uintptr_t)&i % t.size; *slot = 0;
kept[(uint8_t)(uintptr_t)&i / 4 % 64] = 0;
t.key = (uintptr_t)&i; kept[t.key * 7 % 64] = 0;
pair[1] = (uintptr_t)&i; kept[(pair[1] >> 5) % 64] = 0;
uintptr_t two[2] = {1, (uintptr_t)&i}; kept[two[1] / 8 % 64] = 0;
struct table u = {.key = (uintptr_t)&i}; kept[u.key / 8 % 64] = 0;
int *p = &i; unsigned char *byte = (unsigned char *)(&p); kept[byte[1] * 3 % 64] = 0;
int *p = &i; uintptr_t k; memcpy(&k, &p, sizeof k); kept[k * 3 % 64] = 0;
kept[((char *)&i - (char *)0) / 4 % 61] = 0;
t.by = by_pointer; kept[t.by(&i) % 61] = 0;
kept[({ uintptr_t k = (uintptr_t)&i; k % t.size; })] = 0;
struct table u; u = (struct table){.key = (uintptr_t)&i}; kept[u.key / 8 % 64] = 0;
kept[(int)((uintptr_t)&i * 0.618) % 64] = 0;
static unsigned known; known = (unsigned)(uintptr_t)&i; if (known == 7) kept[0] = 0;
int *p = &i; unsigned char b[8]; memcpy(b, &p, sizeof p); kept[b[1] * 5 % 64] = 0;
int *p = &i; struct { unsigned low, high; } w; memcpy(&w, &p, sizeof w); kept[(w.low ^ w.high) % 64] = 0;
qsort(kept, 64, sizeof *kept, by_address);
qsort(all, 2, sizeof *all, by_member);""".split("\n")
        functions = ("static struct named { char *name; int n; } all[2];\n"
                     "static int by_address(const void *a, const void *b) { const long *x = *(long **)a, *y = *(long *const *)b; return x < y ? -1 : x > y; }\n"
                     "static int by_member(const void *a, const void *b) { return (int)(((struct named *)a)->name - ((const struct named *)b)->name); }\n")
        functions += "".join("static void f%d(int i) { %s }\n" % (n, use) for n, use in enumerate(uses))
        calls = "".join("f%d(i); " % n for n in range(len(uses)))
        functions += "static unsigned of_key(const char *s) { return s[0] * 31; } static void g(int i) { struct { int n; void *p; } key = {1, &i}; of_key((char *)&key); }\n"
        self.write("prog.c", PROGRAM % (self.HASHES + functions, "if (i < 0) { %s g(i); }" % calls))
        told = set(re.findall(r"(\w+)\(\): it computes with an address as a number", self.cc("prog.c", "-w", "-o", "prog")))
        self.assertEqual([], [use for n, use in enumerate(uses) if "f%d" % n not in told and "qsort" not in use and "by_pointer" not in use])
        self.assertLessEqual({"of_key", "by_address", "by_member", "by_pointer"}, told)

    def test_numbers_of_addresses_in_another_file(self):
        self.write("hash.c", "unsigned hash(unsigned long key, int seed) { return (unsigned)(key >> 7) + seed; }\n"
                             "unsigned again(int seed, unsigned long key) { unsigned long k = key; return hash(k + 8, seed); }\n"
                             "unsigned other(unsigned long n) { return n * 31 % 7; }\n")
        declared = "unsigned hash(unsigned long, int), again(int, unsigned long), other(unsigned long);\n"
        for use, is_told in (("hash((unsigned long)&i, 1);", True), ("again(2, (unsigned long)&i);", True), ("again(other(5), hash(i, 3));", False)):
            with self.subTest(use):
                self.write("prog.c", PROGRAM % (declared, use))
                told = self.cc("prog.c", "hash.c", "-w", "-o", "prog")
                if not is_told:
                    self.assertEqual("", told)
                    self.assert_restarts("prog", Projects.ANSWER)
                    continue
                self.assertIn("hash.c:1: hash(): it computes with an address as a number", told)
                self.assert_refuses_line(r"abandoned: rank.*the program has called hash\(\) \(hash\.c:1\): it computes with an address as a number")

    def test_what_is_no_number_of_an_address(self):
        """It is compared, becomes a pointer again, or says how memory is aligned."""
        self.write("prog.c", PROGRAM % ("""#include <stdint.h>
struct s { int a, b; }; static char memory[1000]; static struct header { size_t padding, align, at; char *begin; } header = {0, 64};
static size_t page_mask = ~(size_t)4095; static void called_back(uintptr_t user) { char *p = (char *)user; if (p == NULL) abort(); } static void (*by)(uintptr_t) = called_back;
static size_t behind(const void *p, size_t n) { return (uintptr_t)p % n; }
int is_aligned(const void *p, size_t n) { return (uintptr_t)p % n == 0; }
char *next(char *p, size_t n) { size_t offset = (uintptr_t)p % n; return offset == 0 ? p : p + (n - offset); }
static void swap(void *a, void *b, size_t n) { char *x = a, *y = b; while (n-- > 0) { char c = *x; *x++ = *y; *y++ = c; } }
static int by_value(const void *a, const void *b) { const char *x = *(char **)a, *y = *(char **)b, *end = x + 2; while (x < end && *x == *y) x++, y++; return a < b ? *x - *y : *x < *y; }
#define NEXT(p, n) ((char *)0 + (((char *)(p) - (char *)0 + (n)) & ~(n)))
""", """
{ char *p = memory + 3, *q = memory; size_t n = (size_t)p, size = sizeof memory, align = 64, mask = align - 1;
  p += (64 - n % 64) % 64; p = (char *)(((size_t)p + align - 1) / align * align); p = (char *)(((size_t)p + 255) & ~(size_t)255);
  result += (((size_t)p & 255) != 0) + ((size_t)p % align) + (((size_t)p - (size_t)memory) * 3 > 3 * size) + (&i == (int *)((size_t)&i + 0) ? 0 : 1);
  result += (size_t)&((struct s *)0)->b * 2 / sizeof(int) - 2;
  p = (char *)((uintptr_t)p >> 6 << 6); p = (char *)((uintptr_t)p & ~mask); p = (char *)(((uintptr_t)p + mask) & -align); p -= (uintptr_t)p & mask;
  p += -(uintptr_t)p & mask; p = next(p, align); p = NEXT(p, 63); if (behind(p, align) != 0) p += align - behind(p, align);
  { size_t o = (uintptr_t)p % align; if (o) o = align - o; header.begin = (char *)((uintptr_t)p + o); p += o; }
  header.begin = (char *)(((uintptr_t)p + header.align - 1) / header.align * header.align); header.at = (uintptr_t)p & page_mask;
  { size_t high = ~(header.align - 1), pages = (uintptr_t)p / size; header.begin = (char *)((((uintptr_t)p + align - 1) & high)); header.begin = (char *)(pages * size); }
  if (((int)(uintptr_t)p & 7) != 0 || (unsigned)(size_t)p % 16 > 7) q = memory; by((uintptr_t)p); header.at = 0;
  header.padding = (align - ((uintptr_t)p & mask)) & mask; header.begin = p + header.padding; if (!is_aligned(header.begin, align)) result++;
  { double *x = (double *)memory; size_t k = 0, peel = ((align - (uintptr_t)x % align) % align) / sizeof *x; for (; k < peel; k++) x[k] = 0; x[k] = 1; }
  snprintf(memory, sizeof memory, "%lx %zu", (unsigned long)&i, (size_t)p % align); swap(&p, &q, sizeof p); if (p != memory) result++;
  { char *two[2] = {p, p + 1}; qsort(two, 2, sizeof *two, by_value); } }"""))
        self.assertEqual("", self.cc("prog.c", "-w", "-o", "prog"))
        self.assert_restarts("prog", Projects.ANSWER)

    def test_locks_of_threads(self):
        """In memory, of the file, and of a function in which a line is taken."""
        for outside, call in (("static omp_lock_t *lock;", "lock = calloc(1, sizeof *lock); omp_init_lock(lock);"), ("static omp_lock_t lock;", "omp_init_lock(&lock);"),
                              ("", "omp_lock_t lock; omp_init_lock(&lock); deep(1, 1);")):
            with self.subTest(call):
                self.unfit("omp_init_lock(): a lock of OpenMP", "#include <omp.h>\n" + outside, call, "-fopenmp")
        self.unfit("omp_init_nest_lock(): a lock of OpenMP", "#include <omp.h>\nstatic omp_nest_lock_t lock;", "omp_init_nest_lock(&lock);", "-fopenmp")

    def test_in_an_initialiser(self):
        self.write("prog.c", PROGRAM % ("static int (*by)(const char *, const char *, int) = setenv;", 'result += by("NAME", "x", 1);'))
        self.assertIn("setenv(): what it sets", self.cc("prog.c", "-o", "prog", code=1))

    def test_an_error_handler(self):
        if BUILD.mpi == "lam":
            self.skipTest("it has no MPI_Comm_create_errhandler")
        self.write("prog.c", PROGRAM % ("static void on_error(MPI_Comm *comm, int *code, ...) { deep(1, 1); MPI_Abort(*comm, *code); }",
                                        "if (i == 0) { MPI_Errhandler h; MPI_Comm_create_errhandler(on_error, &h); MPI_Errhandler_free(&h); }"))
        self.assertIn("on_error() can reach MPI, and MPI may call it", self.cc("prog.c", "-o", "prog"))
        self.assert_restarts("prog", Projects.ANSWER)

    def test_characters_that_are_read_again(self):
        """By ungetc, what was read: as if it had not been. Another character is in no line."""
        with open(os.path.join(self.home, "data"), "w") as file:
            file.write("".join("%d,%d;" % (i, i * i) for i in range(200)))
        inside = """
if (!data) data = fopen("%s/data", "r");
{ int n = 0, c; long v = 0; while ((c = getc(data)) >= '0' && c <= '9') v = v * 10 + c - '0';
  if (c != EOF) { %s } deep(1, 1); if (getc(data) != c) result++; result += v; }"""
        self.right("static FILE *data;", inside % (self.home, "n = ungetc(c, data); result += n != c;"))
        self.write("prog.c", PROGRAM % ("static FILE *data;", inside % (self.home, "ungetc('x', data);")))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"ungetc\(\) with another character")


class Lines(Cases):
    """What is found out when a line is taken."""

    def refused(self, message, outside, inside, *words):
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-o", "prog", *words)
        self.assert_refuses_line(re.escape(message))

    def test_address_in_bytes(self):
        """A block that is taken for numbers and has an address in it, as pools of memory have."""
        self.refused("holds an address", "static char *pool; static long *kept; struct n { struct n *next; };",
                     "if (pool == NULL) { pool = malloc(4096); kept = malloc(8); }"
                     "memcpy(pool + 8, &kept, sizeof kept);")
        self.assert_refuses_line("; .prog.c:pool. of the globals leads there")
        self.refused("holds an address", "static double *pool;",
                     "if (pool == NULL) pool = malloc(4096); ((double **)pool)[3] = pool;")

    def test_stream_in_other_memory(self):
        """Of which nothing says that it has one, as pools of memory and pointers to anything have."""
        for way, outside, inside in (("bytes", "static char *pool; struct to { long n; FILE *file; };",
                                      "if (pool == NULL) { pool = malloc(4096); ((struct to *)(pool + 64))->file = stdout; }"),
                                     ("pointer", "static void *to[2];", "to[1] = stderr;"),
                                     ("opened", "static void *to;", 'if (to == NULL) to = fopen("file", "w");')):
            with self.subTest(way):
                self.refused("a stream", outside, inside)

    def test_foreign_addresses(self):
        """Structs that are sent whole, with a pointer of the sender's that nobody follows."""
        particle = "struct particle { long n; struct particle *of_sender; }; static struct particle *all;"
        inside = ("if (all == NULL) all = malloc(10 * sizeof *all);"
                  "{ struct { long n, address; } sent = {i, 0x123456789ab0}; memcpy(&all[i % 10], &sent, sizeof sent); } deep(1, 1);"
                  "result += all[i % 10].n - i;")
        if struct.calcsize("P") == 8:
            self.refused("link with -felc-foreign-addresses", particle, inside)
            self.right(particle, inside, "-felc-foreign-addresses")

    def test_pointer_to_what_lines_lack(self):
        self.write("other.c", 'static char own[4] = "own"; void give(char **to) { *to = own; }')
        self.run_words("gcc", "-c", "other.c")
        self.refused("points to something of the program that lines do not have", "void give(char **to); static char *given;",
                     "give(&given); result += given[0] == 'x';", "other.o", "-felc-stateless=give")

    def test_address_in_variables_of_functions(self):
        for declared, is_wrong in (("unsigned long kept[3]; kept[1] = (unsigned long)&result;", "kept[1] == 0"),
                                   ("struct { int n; unsigned long at; } kept; kept.at = (unsigned long)&result;", "kept.at == 0"),
                                   ("unsigned long kept, *to = &kept; *to = (unsigned long)&result;", "*to == 0"),
                                   ("static long at[1000]; long kept[1000]; kept[7] = (long)&at[3];", "kept[7] == 0")):
            with self.subTest(declared):
                self.refused("holds an address", "", "if (i == 0) { %s int k; for (k = 0; k < 100; k++) deep(1, 1); result += %s; }" % (declared, is_wrong))

    def test_one_before_a_block_is_no_end_of_another(self):
        """Of blocks whose sizes fill what the C library has for them, the end lies where an array that counts from 1 begins. In a
        restart, which makes them in the order in which the program did, there is another one in front."""
        for size, kind, before in (24, "double", 1), (40, "int", 2), (104, "struct pair", 1):
            with self.subTest("%d bytes, %s, %d" % (size, kind, before)):
                self.right("struct pair { long n; double x; }; static char *front[300], *between; static %s *a; static long sum(char *b, int n) "
                           "{ long s = 0; while (n-- > 0) s += b[n]; return s; }"
                           "static void make(void) { int k; for (k = 0; k < 300; k++) { front[k] = malloc(%d); a = (%s *)malloc(10 * sizeof *a) - %d; }"
                           "for (k = 290; k < 300; k++) free(front[k]); between = malloc(500); for (k = 290; k < 300; k++) "
                           "{ front[k] = malloc(%d); memset(front[k], 1, %d); } memset(a + %d, 1, 10 * sizeof *a); }"
                           % (kind, size, kind, before, size, size, before),
                           "if (a == NULL) make(); deep(1, 1); memset(a + %d + i %% 10, i & 7, sizeof *a);"
                           "result += sum((char *)(a + %d), 10 * sizeof *a) + sum(front[i / 10 + 290], %d);" % (before, before, size))

    # Of the first edition of Numerical Recipes: what it returns leads to before the memory, and so do the rows of its matrices.
    NRUTIL = r"""
static double *dvector(int nl, int nh) { double *v = (double *)malloc((unsigned)(nh - nl + 1) * sizeof(double)); return v - nl; }
static int *ivector(int nl, int nh) { int *v = (int *)malloc((unsigned)(nh - nl + 1) * sizeof(int)); return v - nl; }
static unsigned char *cvector(int nl, int nh) { unsigned char *v = (unsigned char *)malloc((unsigned)(nh - nl + 1)); return v - nl; }
static double **dmatrix(int nrl, int nrh, int ncl, int nch) {
  int i;
  double **m = (double **)malloc((unsigned)(nrh - nrl + 1) * sizeof(double *));
  m -= nrl;
  for (i = nrl; i <= nrh; i++) {
    m[i] = (double *)malloc((unsigned)(nch - ncl + 1) * sizeof(double));
    m[i] -= ncl;
  }
  return m;
}
static double **convert_matrix(double *a, int nrl, int nrh, int ncl, int nch) {
  int i, j, ncol = nch - ncl + 1;
  double **m = (double **)malloc((unsigned)(nrh - nrl + 1) * sizeof(double *));
  m -= nrl;
  for (i = nrl, j = 0; i <= nrh; i++, j++) m[i] = a + ncol * j - ncl;
  return m;
}
static void free_dvector(double *v, int nl) { free(v + nl); }
static void free_dmatrix(double **m, int nrl, int nrh, int ncl) { int i; for (i = nrh; i >= nrl; i--) free(m[i] + ncl); free(m + nrl); }
"""

    def test_counts_from_one_in_other_elements(self):
        """A pointer of another type than the block's elements, of which it is not a whole number before it, is no place in a line."""
        self.write("prog.c", PROGRAM % ("struct pair { double re, im; };", """static struct pair *pairs; static double *values;
    if (i == 0) { pairs = malloc(40 * sizeof *pairs); values = (double *)pairs - 1; }
    values[1] = i; result += (long)values[1];"""))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("values' .*a pointer in it leads to 8 bytes before a block of memory")

    def test_large_elements_that_count_from_one(self):
        """Blocks are as far apart as the program subtracts from pointers."""
        self.right("""struct row { double x[5]; int k; }; static struct row *rows, *later, *by_index, *by_sum; static double *from_three; static long *between[8];
static struct row *make(int n) { struct row *v = (struct row *)malloc(n * sizeof *v); int i; for (i = 0; i < n; i++) v[i].k = i, v[i].x[2] = i; v--; return v; }""",
                   """if (i % 7 == 0) {
      static int n; between[n % 8] = malloc(40 + 16 * (n % 3)); memset(between[n % 8], 1, 40); n++;
      if (rows != NULL) free(rows + 1), free(later + 1), free(from_three + 3);
      rows = make(3 + i % 5); later = (struct row *)malloc(4 * sizeof *later) - 1; memset(later + 1, 0, 4 * sizeof *later);
      from_three = (double *)calloc(9, sizeof(double)) - 3;
      if (by_index != NULL) free(by_index + 1), free(by_sum + 2);
      by_index = &((struct row *)calloc(2, sizeof *rows))[-1], by_sum = -2 + (struct row *)calloc(2, sizeof *rows);
    }
    by_index[1].k += i, by_sum[2].k += by_index[1].k, result += by_sum[2].k;
    deep(1, 1); later[2].k += i, from_three[4] += rows[2].k; result += rows[3].k + (long)rows[3].x[2] + later[2].k + (long)from_three[4] + later[4].k;""")

    def test_arrays_that_count_from_one(self):
        """Eigenvalues by Jacobi's rotations: globals, variables of functions, members of structs, rows, memory that grows or was freed."""
        outside = self.NRUTIL + r"""
#include <math.h>
struct pair { double re, im; };
struct problem { int n; double **a, *d; struct pair *z; struct { int *of; } index; };
static struct problem problem;
static double **global, *gone, *grown;
static unsigned char *kinds;
static double sweep(double **a, double *d, int n) {
  int i, j, k, *order = ivector(2, n + 1);
  double off = 0, *b = dvector(1, n), **rows = dmatrix(1, n, 0, n);
  for (i = 1; i <= n; i++) { b[i] = d[i]; order[i + 1] = i; deep(1, 1); }
  for (i = 1; i < n; i++)
    for (j = i + 1; j <= n; j++) {
      double theta, t, c, s;
      if (fabs(a[i][j]) < 1e-12) continue;
      theta = (a[j][j] - a[i][i]) / (2 * a[i][j]);
      t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
      c = 1 / sqrt(t * t + 1), s = t * c;
      for (k = 1; k <= n; k++) { double x = a[k][i], y = a[k][j]; a[k][i] = c * x - s * y; a[k][j] = s * x + c * y; rows[k][i] = x; }
      for (k = 1; k <= n; k++) { double x = a[i][k], y = a[j][k]; a[i][k] = c * x - s * y; a[j][k] = s * x + c * y; rows[i][0] += y; }
      deep(1, 1);
    }
  for (i = 1; i <= n; i++) { d[order[i + 1]] = a[i][i]; off += fabs(d[i] - b[i]); deep(1, 1); }
  free(order + 2);
  free_dvector(b, 1);
  free_dmatrix(rows, 1, n, 0);
  return off;
}
static double solve(int n, int step) {
  static double *flat;
  int i, j;
  double **m, sum = 0;
  if (flat == NULL) flat = (double *)malloc(100 * sizeof(double));
  for (i = 0; i < n * n; i++) flat[i] = 1.0 / (1 + i / n + i % n + step);
  m = convert_matrix(flat, 1, n, 1, n);
  sum += sweep(m, problem.d, n);
  for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) problem.a[i][j] = m[i][j], sum += (i + 1) * m[i][j], problem.z[i].im += m[i][j];
  free(m + 1);
  return sum;
}
static void begin(void) {
  int i;
  problem.n = 5, problem.a = dmatrix(1, 5, 1, 5), problem.d = dvector(1, 5), problem.z = (struct pair *)calloc(5, sizeof(struct pair)) - 1;
  problem.index.of = ivector(1, 5), kinds = cvector(1, 9), global = dmatrix(2, 4, 2, 3), gone = dvector(1, 3), grown = dvector(1, 2);
  for (i = 1; i <= 5; i++) problem.d[i] = 0, problem.index.of[i] = 6 - i;
  for (i = 1; i <= 9; i++) kinds[i] = i;
  grown[1] = 1, grown[2] = 2, global[4][3] = 43, global[2][2] = 22;
  free(gone + 1);
}
"""
        inside = r"""
    if (i == 0) begin();
    if (i % 10 == 3) { int n = i / 10 + 3; grown = (double *)realloc(grown + 1, n * sizeof(double)) - 1; grown[n] = n; }
    result += (long)(1e6 * solve(problem.n, i)) + kinds[i % 9 + 1] + (long)grown[2] + (long)(global[4][3] += global[2][2]) + problem.index.of[i % 5 + 1];
    result += (long)(1e3 * problem.z[i % 5 + 1].im);
"""
        self.right(outside, inside, self.chance.choice(["-O0", "-O2"]), "-lm")

    def test_arrays_that_begin_far_before_their_memory(self):
        """By a number that a variable has: nobody keeps so much free."""
        if struct.calcsize("P") != 8:
            return
        self.refused("before a block of memory", "static double *a; static int by = 3;", "if (i == 0) a = (double *)malloc(80) - by;")

    def test_address_of_no_value(self):
        self.refused("but to no value there", "static struct { unsigned a : 4, b : 12; long n; } bits; static char *at;", "at = (char *)&bits + 1;")

    def test_address_in_a_union(self):
        """Of which nothing says which member is in use: numbers are in lines, and addresses in none."""
        union = "union { long n; double d; char *text; } "
        for where in ("static struct { int kind; %s u; } kept[2];", "static %s kept[2];"):
            of = "kept[1].u" if "kind" in where else "kept[1]"
            with self.subTest(where):
                self.write("prog.c", PROGRAM % (where % union, of + ".n = 1; deep(1, 1); result += " + of + ".n + i;"))
                self.assertRegex(self.cc("prog.c", "-o", "prog"), r"elc-cc: warning: prog\.c:7: .* is saved as bytes: .*; while it holds an address no line is taken")
                self.assert_restarts("prog", self.start("prog"))
                self.refused("holds an address", where % union + " static char all[10];", of + ".text = all; deep(1, 1); result += " + of + ".text != all;")

    def test_address_in_a_parameter(self):
        """That is a union, and nothing else holds it."""
        self.write("prog.c", PROGRAM % ("struct v { int kind; union { long n; char *text; } u; }; static char all[10]; static long f(struct v one, int n) {"
                                        "long s = 0; while (n-- > 0) s += deep(1, 1) + (one.u.text != all); return s; }", "result += f((struct v){1, {.text = all}}, 400);"))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line(r"saving 'one' of f\(\): memory of 16 bytes, which is taken for prog\.c:struct v, holds an address")

    def test_distance_of_blocks(self):
        """Datatypes of one block are right, wherever it is; one that goes from a block to another is of this run alone."""
        make = ("static char *one, *two; static MPI_Datatype type; static void make(char *a, char *b) { MPI_Aint at[2]; int k[2] = {8, 8};"
                "MPI_Get_address(a, at); MPI_Get_address(b, at + 1); at[1] -= at[0]; at[0] = 0;"
                "MPI_Type_create_hindexed(2, k, at, MPI_CHAR, &type); MPI_Type_commit(&type); }")
        self.refused("the distance of two blocks of memory", make, "if (!one) { one = malloc(100); two = malloc(5000); make(one + 8, two); }")
        self.write("prog.c", PROGRAM % (make, "if (!two) { two = malloc(5000); one = malloc(100); make(two + 8, two + 4000); } if (i == 99) MPI_Type_free(&type);"))
        self.cc("prog.c", "-o", "prog")
        self.assert_restarts("prog", Projects.ANSWER)


class Pragmas(Cases):
    """What a program says of itself."""

    VALUE = """
enum kind { NOTHING, WHOLE, REAL = 'r', TEXT, PAIR };
struct value {
  enum kind kind;
  #pragma elc union kind WHOLE: n, REAL: d, TEXT: text, PAIR: pair, NOTHING: -
  union { long n; double d; char *text; struct { struct value *left, *right; } pair; } u;
};
static struct value *all[100];
static struct value *make(enum kind kind, long n) {
  struct value *v = malloc(sizeof *v);
  memset(&v->u, 0x55, sizeof v->u);
  v->kind = kind;
  if (kind == WHOLE) v->u.n = n;
  if (kind == REAL) v->u.d = n / 8.0;
  if (kind == TEXT) sprintf(v->u.text = malloc(20), "%ld", n);
  if (kind == PAIR) v->u.pair.left = all[n / 2], v->u.pair.right = all[n / 3];
  return v;
}
static long sum(const struct value *v) {
  switch (v->kind) {
    case WHOLE: return v->u.n;
    case REAL: return v->u.d * 8;
    case TEXT: return atol(v->u.text);
    case PAIR: return sum(v->u.pair.left) + sum(v->u.pair.right);
    default: return 7;
  }
}
"""
    USE = "{ static const enum kind kinds[] = {NOTHING, WHOLE, REAL, TEXT, PAIR}; all[i] = make(kinds[i % 5], i); deep(1, 1); result += sum(all[i / 2]); }"

    def test_union(self):
        self.right(self.VALUE, self.USE)
        self.assertNotIn("warning", self.cc("prog.c", "-o", "prog"))

    def test_struct_of_several_files(self):
        """With a union, and with bit-fields: one type of lines."""
        header = self.VALUE[:self.VALUE.index("static struct")].replace("enum kind kind;", "enum kind kind; unsigned low : 3, high : 13;")
        self.write("value.h", header + "extern struct value other; void set(int n);\n")
        self.write("other.c", '#include <stdio.h>\n#include <stdlib.h>\n#include "value.h"\nstruct value other;\n'
                   'void set(int n) { free(other.u.text); other.kind = TEXT; sprintf(other.u.text = malloc(9), "%d", other.high = n); }\n')
        self.write("prog.c", PROGRAM % ('#include "value.h"\nstatic struct value one;', "one.kind = WHOLE; one.low = one.u.n += i; set(i); deep(1, 1); result += one.low + other.high + atol(other.u.text);"))
        self.cc("prog.c", "other.c", "-o", "plain", "-felc-off")
        self.cc("prog.c", "other.c", "-o", "prog")
        self.assert_restarts("prog", self.start("plain"))

    def test_union_of_another_kind(self):
        """A value that the pragma does not have: nobody knows what is in use."""
        self.write("prog.c", PROGRAM % (self.VALUE.replace(", PAIR: pair", ""), self.USE))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line("which member of the union is in use is not known")
        self.right(self.VALUE.replace(", PAIR: pair", ", default: pair"), self.USE)
        # One that has not been written yet is in no use.
        self.right(self.VALUE.replace(", NOTHING: -", ""), "struct value one; deep(1, 1); one.kind = WHOLE; one.u.n = i; all[0] = calloc(1, sizeof one); deep(1, 1); result += one.u.n + all[0]->kind;")

    def test_union_with_an_address_among_numbers(self):
        self.write("prog.c", PROGRAM % (self.VALUE, "if (!all[0]) all[0] = make(WHOLE, (long)all); deep(1, 1); result += sum(all[0]) != (long)all;"))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line("holds an address")

    def test_union_without_a_name(self):
        self.right("""
typedef struct {
  struct { unsigned kind : 3; } head;
  #pragma elc union head.kind 1: n, (1 + 1): at
  union { int n; const char *at; };
} any;
static any *last;""", "{ any *one = calloc(1, sizeof *one); if (i % 2) one->head.kind = 1, one->n = i; else one->head.kind = 2, one->at = \"text\" + i % 3; last = one;"
            "deep(1, 1); result += one->head.kind == 1 ? one->n : one->at[0]; }")

    def test_transient(self):
        """Lines do not have it: a restart has what it was at the beginning, at its place."""
        outside = """
#include <sys/socket.h>
#pragma elc transient
static struct sockaddr_storage from, *to; /* of a header of the system */
static char *kept; static void *all[3]; static long *where;
static int computed(int n) {
  #pragma elc transient
  static long cache[100];
  where = &cache[n];
  if (cache[n] == 0) cache[n] = n + 1;
  return cache[n];
}"""
        inside = "from.ss_family = i; if (!to) to = malloc(sizeof *to); all[0] = &from; deep(1, 1); result += computed(i) + (where != NULL) + (all[0] == &from) + (to == NULL || to != &from);"
        self.right(outside, inside)
        self.write("prog.c", PROGRAM % (outside.replace("#pragma elc transient\nstatic struct", "static struct"), inside))
        self.assertIn("cannot be part of lines", self.cc("prog.c", "-w", "-o", "prog", code=1))

    def test_type(self):
        """Of memory that nothing converts, or to something else."""
        outside = """
struct node { struct node *next; long n; };
static void *list;
static void *add(void *to, long n) {
  struct node one = {to, n};
  void *at;
  %s
  at = (char *)malloc(sizeof one);
  return memcpy(at, &one, sizeof one);
}
static long sum(void *of) { long s = 0; struct node one; for (; of; of = one.next) memcpy(&one, of, sizeof one), s += one.n; return s; }"""
        inside = "list = add(list, i); deep(1, 1); result += sum(list);"
        self.right(outside % "#pragma elc type struct node", inside)
        self.write("prog.c", PROGRAM % (outside % "", inside))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("holds an address")

    def test_stateless(self):
        self.write("other.s", ".globl other\nother: ret\n.globl another\nanother: ret\n.section .note.GNU-stack\n")
        self.write("prog.c", PROGRAM % ("#pragma elc stateless other, another\nvoid other(void), another(void);", "other(); another();"))
        self.cc("prog.c", "other.s", "-o", "prog")

    def test_not_understood(self):
        def said_of(pragmas):
            self.write("prog.c", PROGRAM % ("\n".join("#pragma elc %s\nstruct unused%d { int n; };" % (p, i) for i, p in enumerate(pragmas)), ""))
            return self.cc("prog.c", "-o", "prog", code=1)

        unknown = ("", "transiemt", "union kind", "union kind 1 n", "type", "stateless 1x", "transient x")
        said = said_of(unknown)
        for i, pragma in enumerate(unknown):
            self.assertIn("prog.c:%d: '#pragma elc %s' is none that elc-cc knows" % (7 + 2 * i, pragma), said)
        said = said_of(("union kind 1: n", "type long", "transient"))
        for i, place in enumerate(("a union in a struct", "a statement with a call that returns a void * or char *", "a variable of a file, or a static one of a function")):
            self.assertRegex(said, "prog.c:%d: '#pragma elc [a-z]*' stands in front of " % (7 + 2 * i) + re.escape(place))
        self.assertIn("prog.c:7:", said_of(("type struct nobody *(",)))
        self.write("prog.c", PROGRAM % ("struct nobody; void *at;", "\n#pragma elc type struct nobody\nat = malloc(8);"))
        self.assertRegex(self.cc("prog.c", "-o", "prog", code=1), r"#pragma elc type \(prog.c:\d+\): lines have no memory of the type struct nobody")

        union = " union { int a; int *b; } u; "
        wrong = (("int n; #pragma elc union kind 1: a\n" + union, "the struct has no member 'kind' before the union"),
                 ("#pragma elc union kind 1: a\n" + union + "int kind;", "the struct has no member 'kind' before the union"),
                 ("int kind; #pragma elc union kind 1: c\n" + union, "the union has no member 'c'"),
                 ("int kind; #pragma elc union kind 1: a, 1: b\n" + union, "the value 1 is there twice"))
        self.write("prog.c", PROGRAM % ("\n".join("struct s%d { %s } s%d;" % (i, text.replace("#", "\n#"), i) for i, (text, _) in enumerate(wrong)), ""))
        said = self.cc("prog.c", "-o", "prog", code=1)
        for i, (_, message) in enumerate(wrong):
            self.assertRegex(said, r"'s%d' cannot be part of lines: its member 'u': #pragma elc union \(prog.c:\d+\): %s" % (i, message))
        self.write("prog.c", PROGRAM % ("struct s { int kind;\n#pragma elc union kind NONE: a\n" + union + "} s;", ""))
        self.assertIn("'NONE'", self.cc("prog.c", "-o", "prog", code=1))


CHARACTERS = r"""#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stdarg.h>
static long deep(long x, int n);

/* What a pointer to anything leads to: variables of several types, text among them. */
struct option { char kind; void *at; size_t size; } options[10];
static int option_count;
static void add(char kind, void *at, size_t size) { options[option_count].kind = kind; options[option_count].at = at; options[option_count++].size = size; }
static void set(int i, const char *to) {
  switch (options[i].kind) {
    case 'i': sscanf(to, "%d", (int *)options[i].at); break;
    case 'd': sscanf(to, "%lf", (double *)options[i].at); break;
    default: strncpy(options[i].at, to, options[i].size - 1);
  }
}
static int number; static double real; static char text_option[20] = "none";

/* Through functions, pointers to functions, members, tables, results. */
static char text_given[30], text_kept[30], text_in_table[30], text_returned[30], text_called[30], text_sorted[4][12], text_sent[8], text_bytes[8];
static void give(char *to, const char *from) { strcpy(to, from); }
static void (*giver)(char *, const char *) = give;
struct named { int n; char text_member[12]; char *name; };
static struct named one = {1, "one", text_in_table}, *ones = &one;
static char *where(void) { return text_returned; }
static int compare(const void *a, const void *b) { return strcmp(a, b); }

static char other_cast[16], other_param[16], other_void[16], other_kept[16], other_table[16], other_called[16], other_returned[16], other_copied[16],
    other_sent[16], other_packed[64], other_chosen[2][16], other_chained[16], other_more[16], other_in_container[16], other_list[16], other_literal[16],
    other_byte_by_byte[16], other_through_int[16], other_by_function[16], other_as_number[16];
static void copy_bytes(char *to, const char *from, int n) { while (n-- > 0) *to++ = *from++; }
static int last_byte(const char *of) { int c = of[3]; return c & 0xff; }
static long fill_ints(a) int *a; { return a[0] = 4; }
static char text_copied[16], text_counted[16], other_undeclared[16], other_swapped[8], other_by_union[16], other_relayed[16], other_reversed[8];
union word { double d; char other_bytes[8]; };
union place { char *characters; double *numbers; };
struct packet { int kind; char other_content[40]; };
struct begin { int kind; };
struct cell { int kind; double x; };
struct record { char other_text[16]; };
static long (*filling)() = fill_ints;
static void fill_characters(char *to) { ((int *)to)[1] = 7; }
static void fill_anything(void *to) { long *at = to; *at = 5; }
static void fill_called(char *to) { *(short *)to = 3; }
static void (*filler)(char *) = fill_called;
struct holder { int n; char *buffer; char other_member[16]; };
static struct holder holder = {0, other_kept, ""};
static char *table[2] = {other_table, NULL};
static char *elsewhere(void) { return other_returned; }
static void fill_more(int n, ...) { va_list all; va_start(all, n); while (n-- > 0) *(int *)va_arg(all, char *) = 4; va_end(all); }
/* A container that copies what it is given. */
struct queue { char *memory; size_t size; } queue = {other_in_container, sizeof(int)};
static void put(struct queue *q, const void *from) { memcpy(q->memory, from, q->size); }
static void get(struct queue *q, void *to) { memcpy(to, q->memory, q->size); }
/* The same memory as another struct. */
struct message { int kind; char other_payload[16]; };
struct numbers { int kind; int more[4]; };
struct list { struct list *next; void *what; } *lists;
static void push(void *what) { struct list *l = malloc(sizeof *l); l->next = lists, l->what = what, lists = l; }

static void release(void *p) { if (p != NULL) free(p); }
static void forget(void **at) { release(*at); *at = NULL; }
static void *grab(size_t n) { void *p = malloc(n); if (p == NULL) exit(1); return p; }
static char *written, *numbers;
static double *reals;

static long deep(long x, int n) {
  long sum = 0;
  char text_local[20], other_local[16];
  strcpy(text_local, "local");
  *(int *)other_local = n;
  if (n > 0) return deep(x + 1, n - 1) + n + strlen(text_local) + *(int *)other_local;
  MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  return sum + *(int *)other_local;
}
int main(int argc, char **argv) {
  long result = 0;
  int i, rank, at = 0, out = 0;
  struct message message = {1, ""};
  char *chained, *again;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  add('i', &number, 0), add('d', &real, 0), add('s', text_option, sizeof text_option);
  set(0, "4"), set(1, "2.5"), set(2, "words");
  give(text_given, "given"), giver(text_called, "called"), strcpy(ones->name, "name"), strcpy(where(), "returned");
  for (i = 0; i < 4; i++) strcpy(text_sorted[i], i % 2 ? "b" : "a");
  qsort(text_sorted, 4, sizeof text_sorted[0], compare);
  strcpy(text_sent, "sent"), strcpy(text_bytes, "bytes");
  MPI_Bcast(text_sent, sizeof text_sent, MPI_CHAR, 0, MPI_COMM_WORLD);
  MPI_Bcast(text_bytes, sizeof text_bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
  snprintf(text_kept, sizeof text_kept, "%s", text_given);
  *(int *)other_cast = 1, fill_characters(other_param), fill_anything(other_void), *(double *)holder.buffer = 1.5, *(int *)table[0] = 2;
  filler(other_called), *(long *)elsewhere() = 4, memcpy(other_copied, &number, sizeof number), *(int *)holder.other_member = 1;
  MPI_Bcast(other_sent, 2, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Pack(&number, 1, MPI_INT, other_packed, sizeof other_packed, &at, MPI_COMM_WORLD);
  *(int *)(rank == 0 ? other_chosen[0] : other_chosen[1]) = 1;
  again = chained = other_chained, *(int *)again = 2, fill_more(1, other_more), put(&queue, &number), get(&queue, &out);
  ((struct numbers *)&message)->more[1] = 3;
  copy_bytes(other_byte_by_byte, (char *)&number, sizeof number), filling(other_undeclared);
  for (i = 0; i < 4; i++) { int c = ((char *)&number)[i]; other_through_int[i] = c; }
  other_by_function[0] = last_byte((char *)&real);
  { unsigned long where = (unsigned long)other_as_number; *(int *)where = 3; }
  for (i = 0; text_given[i] != 0; i++) text_copied[i] = text_given[i];
  for (i = 0; i < 9; i++) text_counted[i] = '0' + number % 10;
  { union word w; union place at; w.d = real; for (i = 0; i < 8; i++) other_swapped[i] = w.other_bytes[7 - i]; at.characters = other_by_union; *at.numbers++ = 1; }
  { static struct packet packet; struct begin *b = (struct begin *)&packet; struct cell cell = {1, 2}; ((double *)(b + 1))[0] = 4; memcpy(&packet, &cell, sizeof cell); }
  { struct record record; char *byte = (char *)&real; memcpy(&record, &real, sizeof real); number += record.other_text[0] != 0; other_reversed[0] = *byte; }
  MPI_Bcast(other_relayed, 8, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD), MPI_Bcast(&real, 8, MPI_SIGNED_CHAR, 0, MPI_COMM_WORLD);
  push(other_list), ((int *)lists->what)[0] = 2;
  { struct holder *h = &(struct holder){1, other_literal, ""}; *(int *)h->buffer = 1; }
  written = grab(8), release(written), numbers = grab(16), forget((void **)&numbers), reals = grab(8), forget((void **)&reals);
  written = grab(21), strcpy(written, "written"), numbers = grab(31), ((int *)numbers)[1] = 4, reals = grab(16), reals[0] = 1, reals[1] = 2;
  for (i = 0; i < 100; i++) result += deep(i, 5) + strlen(text_option) + strlen(written) + ((int *)numbers)[1] + (long)reals[1] + out + message.kind;
  if (rank == 0) printf("result: %ld\n", result);
  MPI_Finalize();
  return 0;
}
"""


class Characters(Cases):
    """Which memory of characters is text. The arrays of the program that are called other_... are something else, too."""
    def test_arrays(self):
        self.write("prog.c", CHARACTERS)
        said = self.cc("prog.c", "-w", "-o", "prog", "-felc-report")
        declared = set(re.findall(r"\b(?:other|text)_\w+(?=\[)", CHARACTERS))
        self.assertGreater(len(declared), 35)
        self.assertEqual(set(re.findall(r"elc-cc: prog\.c:\d+: '(\w+)' is saved as bytes: its characters may be something else \(prog\.c:\d+\)", said)),
                         {name for name in declared if name.startswith("other")})
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))

    def test_memory(self):
        self.write("prog.c", CHARACTERS)
        self.cc("prog.c", "-w", "-o", "prog")
        self.take_line("prog")
        show = os.path.join(BUILD.path, "src", "tool", "elc"), "show", "--json", os.path.join(self.home, "lines", "line-000001", "rank-000000.elc")
        self.assertLessEqual({"char[21]", "bytes[31]", "double[2]"}, {block["type"] for block in json.loads(self.run_words(*show))["heap"]})

    def test_functions_that_give_memory(self):
        """For anything, or what they were given: each call has what its own memory is. Blocks of odd sizes are something else than text."""
        outside = """
static char *take(size_t n) { char *p = (char *)calloc(n, 1); if (p == NULL) exit(1); return p; }
static char *twin(const char *of) { char *p = malloc(108); if (p != NULL) strcpy(p, of); return p; }
static char *called(size_t n) { return take(n); }
static char *numbered_for(int first, size_t n) { int *p = (int *)take(n); p[0] = first; return (char *)p; }
static char *by_pointer(size_t n) { return take(n); }
static char *(*caller)(size_t) = by_pointer;
static struct { void *(*get)(size_t); void (*let)(void *); void *(*other)(int, size_t); } hooks = {malloc, free, (void *(*)(int, size_t))numbered_for};
static void *more(void *p, size_t n) { void *q = p == NULL ? malloc(n) : realloc(p, n); if (!q) exit(1); return q; }
static char *longer(char *p, size_t n) { p = realloc(p, n); if (p == NULL) exit(1); return p; }
static void *checked(void *p) { if (p == NULL) exit(1); return p; }
static void *numbered(void *p, size_t n) { int *q = realloc(p, n); q[1] = 4; return q; }
static int *last;
static void renumber(void *p, size_t n) { last = more(p, n); last[0] = 7; }
static char *kept; static long *counts; static float *floats;
static void keep(void *p, size_t n) { kept = more(p, n); }
static void *copied(const void *from, size_t n) { void *p = take(n); memcpy(p, from, n); return p; }
static char *texts[8], *others[9], *word; static double *reals; static int *numbers;
"""
        inside = """
if (i == 0) {
  strcpy(texts[0] = take(100), "taken"); reals = (double *)take(160); reals[0] = 2.5;
  strcpy(texts[1] = more(NULL, 10), "more"); texts[1] = more(texts[1], 102);
  numbers = more(NULL, 8); numbers = more(numbers, 400); numbers[99] = 3;
  strcpy(texts[2] = longer(NULL, 11), "longer"); texts[2] = longer(texts[2], 104);
  strcpy(texts[3] = checked(malloc(106)), "checked"); counts = checked(malloc(320)); counts[39] = 4;
  others[0] = take(107); others[0] = numbered(others[0], 109);
  others[1] = take(10); renumber(others[1], 111); others[1] = (char *)last;
  others[2] = more(NULL, 113); *(int *)others[2] = 5;
  others[3] = take(12); *(int *)others[3] = 1; keep(others[3], 115); others[3] = kept;
  others[4] = longer(NULL, 117); ((short *)others[4])[2] = 5; others[4] = longer(others[4], 119);
  texts[5] = twin(twin("twin") + 1); texts[6] = &called(110)[0]; strcpy(texts[6], "called");
  others[6] = caller(122); ((int *)others[6])[3] = 4; others[7] = hooks.other(3, 123);
  texts[4] = caller(124); strcpy(texts[4], "by a pointer"); strcpy(texts[7] = hooks.get(126), "by another");
  hooks.let(hooks.get(17)); others[8] = hooks.get(125); *(float *)others[8] = 5; floats = (float *)caller(168); floats[41] = 6;
  others[5] = copied(reals, 121); word = copied("text", 5);
}
deep(1, 1); result += strlen(texts[0]) + reals[0] + numbers[99] + strlen(texts[1]) + strlen(texts[2]) + counts[39] + last[1] + others[2][0] + others[4][4] + strlen(texts[5]) + floats[41];
"""
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-w", "-o", "prog")
        self.take_line("prog")
        show = os.path.join(BUILD.path, "src", "tool", "elc"), "show", "--json", os.path.join(self.home, "lines", "line-000001", "rank-000000.elc")
        types = {block["type"] for block in json.loads(self.run_words(*show))["heap"]}
        self.assertLessEqual({"char[%d]" % n for n in (100, 102, 104, 106, 108, 110, 124, 126)} |
                             {"bytes[%d]" % n for n in (109, 111, 113, 115, 119, 121, 122, 123, 125)} | {"double[20]", "int[100]", "long[40]", "float[42]"}, types)
        shutil.rmtree(os.path.join(self.home, "lines"))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))

    def test_files(self):
        """A pointer is followed from file to file."""
        self.write("one.c", PROGRAM % ("char other[16], text[16], copied[16]; void copy(char *, char *, int), fill(char *); void say(char *);", "fill(other); say(text); copy(copied, (char *)&result, 4); result += other[0] + text[0] + copied[0] % 2;"))
        self.write("two.c", "#include <string.h>\nvoid fill(char *to) { *(int *)to = 7; }\nvoid say(char *to) { strcpy(to, \"said\"); }\n"
                            "void copy(char *to, char *from, int n) { while (n-- > 0) to[n] = from[n]; }\n")
        said = self.cc("one.c", "two.c", "-w", "-o", "prog", "-felc-report")
        self.assertEqual(re.findall(r"'(\w+)' is saved as bytes: its characters may be something else \((?:one|two)\.c:\d+\)", said), ["other", "copied"])


class Sizes(Cases):
    """Sizes of types that a program keeps in variables: where they are others there is no restart."""

    OUTSIDE = """
#include <assert.h>
#include <stddef.h>
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
static void copied(void) { size_t n = sizeof(struct cell); memcpy(&kept, &n, sizeof n); }
static const size_t places[] = {offsetof(struct cell, n), sizeof(struct cell)};
"""

    def found(self, inside, more=""):
        self.write("prog.c", PROGRAM % (self.OUTSIDE % more, inside))
        said = self.cc("prog.c", "-w", "-o", "prog", "-felc-report")
        return set(re.findall(r"elc-cc: .*prog\.c:\d+: (\S+ \(.*\)|sizes of types) may be in variables: a restart needs a machine", said))

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
                             ("table = grab(8); table[0] = 3 + sizeof(MPI_Request); free(table);", "sizeof (MPI_Request)"),
                             ("{ MPI_Aint at[2] = {0, offsetof(struct cell, n)}; result += make(at) > 0; }", "offsetof (struct cell, n)"),
                             ("result += made();", None),
                             ("result += several(1, sizeof(struct pool));", "sizeof (struct pool)"),
                             ("copied();", "sizeof (struct cell)"),
                             ("{ struct cell c; kept = (char *)&c.next - (char *)&c; }", "sizes of types"),
                             ("{ struct cell c[2]; kept = (size_t)(c + 1) - (size_t)c; }", "sizes of types"),
                             ("{ char *a = malloc(i + 1), *b = a + i; result += b - a - i; free(a); }", None),
                             ("{ int n; MPI_Type_size(MPI_LONG, &n); result += n > 4; }", "sizes of types"),
                             ("{ size_t n = sizeof(long double); deep(1, n > 9); }", "sizeof (long double)")):
            with self.subTest(inside):
                self.assertEqual(self.found(inside), {kept} - {None})

    def test_where_they_are_others(self):
        inside, lines = "kept = sizeof(struct cell);", os.path.join(self.home, "lines")
        self.found(inside)
        self.take_line("prog")
        restart = {"ELC_DIR": lines, "ELC_RESTART": str(launch.newest(lines))}
        self.assertIn(Projects.ANSWER, self.start("prog", **restart))
        self.found(inside, "double y;")
        said = self.run_words(*launch.launcher(BUILD.mpi, 2, ["PATH", *restart]), os.path.join(self.home, "prog"), code=None, **restart)
        self.assertRegex(said, r"the program may have sizeof \(struct cell\) in its variables \(\S*prog.c:\d+\), which is \d+ in the line, and \d+ in "
                               "this program on this machine")
        self.assertIn("nothing was changed", said)


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
        if BUILD.mpi != "lam":
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
            self.assert_restarts("prog", Projects.ANSWER)

    def test_in_what_a_macro_makes_a_string(self):
        """As assert does of what another macro gives it."""
        outside = "#include <assert.h>\n#define RIGHT(x) assert((x) == MPI_SUCCESS)\n#define TEXT(x) #x\n#define TEXT_OF(x) TEXT(x)\nconst char *in = TEXT_OF(is(MPI_ANY_TAG));"
        inside = ("RIGHT(MPI_Send(&i, 0, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD)); if (i == MPI_UNDEFINED) i = MPI_ERR_TAG;"
                  "{ char right[20]; sprintf(right, \"%d\", MPI_ANY_TAG); result += strstr(in, right) == NULL || strstr(in, \"elc\") != NULL; }")
        self.assertEqual(self.found(inside, outside), {"MPI_ERR_TAG", "MPI_UNDEFINED", "MPI_ANY_TAG"})
        self.assert_restarts("prog", Projects.ANSWER)

    def other_mpi(self, number, outside, inside):
        """One that has this number for MPI_PROC_NULL, and for MPI_MINE."""
        self.write("other/mpi.h", "#ifndef OTHER\n#define OTHER\n#include_next <mpi.h>\n#define MPI_MINE NUMBER\n#endif\n")
        return self.compile("-Iother", "-DNUMBER=%d" % number, outside=outside, inside=inside)

    def test_another_mpi(self):
        outside, inside = "static int kept = MPI_MINE;", "result += kept - MPI_MINE;"
        lines = os.path.join(self.home, "lines")
        self.other_mpi(-17, outside, inside)
        self.take_line("prog")
        restart = {"ELC_DIR": lines, "ELC_RESTART": str(launch.newest(lines))}
        self.assertIn(Projects.ANSWER, self.start("prog", **restart))
        self.other_mpi(-18, outside, inside)
        said = self.run_words(*launch.launcher(BUILD.mpi, 2, ["PATH", *restart]), os.path.join(self.home, "prog"), code=None, **restart)
        self.assertRegex(said, r"may have MPI_MINE in its variables \(prog\.c:\d+\), which is -17 in the line, and -18 in the MPI")
        self.assertIn("nothing was changed", said)
        self.assertNotIn("result: ", said)

    def test_what_mpi_gives(self):
        """MPI_Cart_shift gives MPI_PROC_NULL at an edge; on a ring it gives ranks, and any MPI will do."""
        show = [os.path.join(BUILD.path, "src", "tool", "elc"), "show"]
        for periodic in (0, 1):
            self.assertEqual(self.found("if (i == 0) { int n[1] = {2}, p[1] = {%d}; MPI_Cart_create(MPI_COMM_WORLD, 1, n, p, 0, &ring);"
                                        "MPI_Cart_shift(ring, 0, 1, to, to + 1); }" % periodic,
                                        "static MPI_Comm ring; static int to[2];"), set())
            self.assert_restarts("prog", Projects.ANSWER)
            lines = os.path.join(self.home, "lines")
            self.take_line("prog")
            line = str(launch.newest(lines))
            self.assertRegex(self.run_words(*show, "--dir", lines, line, "--values", "2"),
                             r"MPI_PROC_NULL.*\n?.*\b%d\b" % (1 - periodic))
            shutil.rmtree(lines)


def main():
    global BUILD
    BUILD = launch.Build(sys.argv[1])
    if not BUILD.links_alone:
        print("the archive of this build does not link by itself")
        sys.exit(77)
    print("elc-cc under %s, seed %d (ELC_TEST_SEED)" % (BUILD.mpi, SEED), flush=True)
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[2:]])


if __name__ == "__main__":
    main()
