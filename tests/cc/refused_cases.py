"""What elc-cc refuses names file and line; what it cannot refuse by then refuses lines."""

import os
import re
import shutil
import subprocess

from cases import ANSWER, Cases, launch, PROGRAM


class Refused(Cases):
    """What cannot be right after a restart is an error, with file and line, before there is a program."""

    def refuses(self, message, outside="", inside="", line=None, words=()):
        self.write("prog.c", PROGRAM % (outside, inside))
        said = self.cc("prog.c", "-o", "prog", *words, code=1)
        self.assertIn(message, said)
        self.assertRegex(said, r"elc-cc: prog\.c:\d+: ")
        self.assertFalse(os.path.exists(os.path.join(self.home, "prog")))
        return said

    def test_threads(self):
        """Those of C11 are not followed; others call nothing of MPI, and nothing of what lines have but memory and the time."""
        self.refuses("thrd_create(): elc-cc follows threads that pthread_create() makes", "#include <threads.h>\nstatic thrd_t other; static int run(void *of) { return of == NULL; }",
                     "if (i == 0) thrd_create(&other, run, NULL);", words=("-pthread",))
        for calls, named in (("deep(1, 1)", "deep(), which can reach MPI,"), ("MPI_Barrier(MPI_COMM_WORLD)", "MPI_Barrier()"), ("fopen(\"f\", \"r\")", "fopen()")):
            for run, given in ("run", "run"), ("&run", "chosen"):
                with self.subTest(calls + given):
                    self.refuses(named + " may be called by a thread that is made at", "#include <pthread.h>\nstatic pthread_t other; static void use(void) { %s; } static void *run(void *of) { use(); return of; }"
                                 "static void *(*chosen)(void *) = %s;" % (calls, run), "if (i == 0) pthread_create(&other, NULL, %s, NULL);" % given, words=("-pthread",))

        self.refuses("a pointer to pthread_create()", "#include <pthread.h>\nstatic int (*make)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) = pthread_create; static void *run(void *of) { deep(1, 1); return of; }",
                     "if (i == 0) { pthread_t other; make(&other, NULL, run, NULL); pthread_join(other, NULL); }", words=("-pthread",))
        self.refuses("'own' is of each thread, which lines cannot have", "#include <pthread.h>\nstatic __thread int own; static void *run(void *of) { own++; return of; }",
                     "if (i == 0) { pthread_t other; pthread_create(&other, NULL, run, NULL); pthread_join(other, NULL); result += own; }", words=("-pthread",))

    def test_linear_algebra(self):
        """It is known, with what the compiler of Fortran adds to names, and without; what only looks like it is not."""
        names = ("cblas_dgemm", "dgemm_", "idamax", "zdscal_", "LAPACKE_dgesv")
        self.write("prog.c", PROGRAM % ("".join("int %s();" % name for name in names), "result += i > 1000 ? %s : 0;" % " + ".join("%s()" % name for name in names)))
        self.write("lib.s", "".join(".globl %s\n%s: ret\n" % (name, name) for name in names) + ".section .note.GNU-stack\n")
        self.cc("prog.c", "lib.s", "-o", "known")
        self.write("prog.c", PROGRAM % ("int dgemmy_();", "result += i > 1000 ? dgemmy_() : 0;"))
        self.write("lib.s", ".globl dgemmy_\ndgemmy_: ret\n.section .note.GNU-stack\n")
        self.assertIn("dgemmy_(): it is in none of the files", self.cc("prog.c", "lib.s", "-o", "unknown"))

    def test_functions_of_system_headers(self):
        """Seen through are those that call the compiler's own functions and each other, and nothing else."""
        self.write("sys/seen.h", """
#pragma GCC system_header
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
        self.assertEqual("", self.cc("-Isys", "prog.c", "-o", "seen"))
        for name, argument in (("drawn", ""), ("waits", ""), ("calls", "half"), ("counts", ""), ("again", "3")):
            self.write("prog.c", PROGRAM % ("#include <seen.h>\n", "result += %s(%s);" % (name, argument)))
            self.assertIn(name + "(): it is in none of the files", self.cc("-Isys", "prog.c", "-o", "seen"))

    def test_what_is_pointed_to_of_others(self):
        """Where nothing can be called, nothing can refuse lines."""
        for outside in ("int other(int); static int (*by)(int) = other;", "extern int other; static int *by = &other;"):
            self.refuses("it is in none of the files that elc-cc has compiled", outside, "result += by == 0;", words=["other.o"])

    def test_orders_of_bytes(self):
        self.refuses("scalar_storage_order: elc-cc does not know how numbers lie in memory then", 'static struct __attribute__((scalar_storage_order("big-endian"))) { int n; } other;',
                     "other.n = i;")

    def test_jumps(self): self.refuses("setjmp(): a restart cannot set", "#include <setjmp.h>\njmp_buf b;", "if (setjmp(b)) i++;")
    def test_memory_of_scanf(self):
        self.refuses("sscanf() into a pointer, as with %m: lines do not have the memory", "static char *word;", 'sscanf("a word", "%ms", &word);')
        self.refuses("sscanf() into a pointer, as with %m: lines do not have the memory", "static char *word; static const char *how = \"%ms\";", 'sscanf("a word", how, &word);')
        self.refuses("swscanf() into a pointer, as with %m: lines do not have the memory", "#include <wchar.h>\nstatic char *word;", 'swscanf(L"a word", L"%1$ms", &word);')
        self.refuses("sscanf() into a pointer, as with %m: lines do not have the memory", "static char *word;", 'sscanf("a word", "%as", &word);', words=["-std=gnu89"])
        self.refuses("scan() into a pointer, as with %m: lines do not have the memory", "#include <stdarg.h>\nstatic char *word; static void scan(const char *how, ...) { va_list all; va_start(all, how); vsscanf(\"a word\", how, all); va_end(all); }",
                     'scan("%4m[a-z]", &word);')
    def test_contexts(self): self.refuses("getcontext(): a restart cannot set", "#include <ucontext.h>\nstatic ucontext_t *c;", "result += getcontext(c);")

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

    def test_profiling(self):
        self.refuses("PMPI_Barrier() in a program that defines MPI_Barrier()", "static int count;\nint MPI_Barrier(MPI_Comm comm) { count++; return PMPI_Barrier(comm); }", "MPI_Barrier(MPI_COMM_WORLD);")

    def test_callback(self):
        compare = "static int compare(const void *a, const void *b) { MPI_Barrier(MPI_COMM_WORLD); return a < b; }\nint v[2];"
        self.refuses("compare(), which can reach MPI, may be given to qsort()", compare, "qsort(v, 2, sizeof *v, compare);")
        pointer = compare + "\nint (*by)(const void *, const void *) = compare;"
        self.refuses("a function that can reach MPI may be given to qsort()", pointer, "qsort(v, 2, sizeof *v, by); by(v, v);")

    def test_open_struct(self):
        self.refuses("begins in the padding of the struct", "struct s { long n; int m; char more[]; } s = {1, 2, {3}};", "s.n = i;")
        self.refuses("ends with a struct that ends with an array whose size", "struct s { int n; struct { int m; long more[]; } last; } s;", "s.n = i;")

    def test_struct_of_the_system(self):
        self.refuses("is of a system header", "#include <ucontext.h>\nucontext_t m;", "result += sizeof m - sizeof m;")

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
        self.right(outside % ("static int ends;", "ends += *p;", "local++;"), "use(i); result += ends; deep(1, 1);")

    def test_what_clang_does_not_know(self):
        """What functions return that it does not have, how wide some bit-fields are that GCC has, and other layouts."""
        self.refuses("__builtin_tgmath(), and calls that can reach MPI in one statement", "#include <tgmath.h>", "{ float f = i; result += sqrt(f) * deep(1, 1); }", words=["-lm"])
        self.refuses("a bit-field of more bits than an int has", "struct bits { unsigned long b : 40; } s;", "result += (i ? s.b : deep(1, 1)) > 3;")
        for flag in "-mms-bitfields", "-malign-double", "-fpack-struct":
            self.assertIn("elc-cc: " + flag, self.cc("prog.c", flag, "-o", "prog", code=1))

    def test_main_without_names(self):
        self.write("main.c", "#include <mpi.h>\nint main(int, char **argv) { MPI_Init(0, 0); MPI_Barrier(MPI_COMM_WORLD); MPI_Finalize(); return argv == 0; }\n")
        self.assertIn("main() has a parameter without a name", self.cc("main.c", "-w", "-o", "main", code=1))
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

    def test_names_that_the_linker_changes(self):
        self.write("prog.c", PROGRAM % ("long __real_deep(long x, int n);\nlong __wrap_deep(long x, int n) { return __real_deep(x, n); }", ""))
        for option in "-Wl,--wrap=deep", "-Wl,--defsym=other=deep":
            self.assertIn(option + ": functions would be called that the files do not name there", self.cc("prog.c", "-w", option, "-o", "prog", code=1))

    def test_a_line_that_waits(self):
        """For a process that is where none can be taken: it is told, and what elc-cc has said of that."""
        self.write("prog.c", PROGRAM % ("#include <stdarg.h>\n#include <unistd.h>\nstatic long many(int n, ...) { va_list of; long s; va_start(of, n); "
                                        'while (n++ < 10000000 && access("stop", F_OK) != 0) MPI_Barrier(MPI_COMM_WORLD); s = va_arg(of, int); va_end(of); return s; }', "if (i == 50) many(1, 2);"))
        self.assertIn("no line is taken in many()", self.cc("prog.c", "-w", "-o", "prog"))
        command = launch.launcher(self.build.mpi, 1, ["PATH", "ELC_DIR", "ELC_EVERY", "ELC_LATE"]) + [os.path.join(self.home, "prog")]
        variables = dict(self.environment, ELC_DIR=os.path.join(self.home, "lines"), ELC_EVERY="0.05", ELC_LATE="0.1")
        with subprocess.Popen(command, cwd=self.home, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as job:
            said = ""
            while "elc-cc has said when it compiled the program" not in said:
                line = job.stdout.readline()
                self.assertTrue(line, said)
                said += line
            self.write("stop", "")
            self.assertIn("result: ", job.stdout.read())

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
            self.assertRegex(said, r"elc-cc: warning: prog\.c:\d+: " + re.escape(why) + ".*: when it has (been called|done so) no line is taken")
            if called:
                self.assert_refuses_line(r"abandoned.*: the program has called " + re.escape(why.split(":")[0]) + r" \(prog\.c:\d+\)" + re.escape(why[why.index(":"):]))
            else:
                self.assert_restarts("prog", ANSWER)

    def test_functions_that_are_chosen(self):
        self.unfit("hcreate(): it keeps a state that is not part of lines", "#include <search.h>", "int (*make)(size_t) = i > 500 ? NULL : hcreate; make(40);")

    def test_functions_of_others(self):
        """Their callbacks may reach MPI, then. They may be called stateless, each by its name or all by how they begin."""
        self.write("other.c", "int other_one; int other_two(void) { return 0; } int other_three(int (*f)(void)) { return f(); }")
        self.run_words("gcc", "-c", "other.c")
        outside = "int other_two(void), other_three(int (*)(void)); extern int other_one; static int waits(void) { MPI_Barrier(MPI_COMM_WORLD); return 0; }"
        self.unfit("other_two(): it is in none of the files", outside, "result += other_two();", "other.o")
        self.unfit("other_three(): it is in none of the files", outside, "result += other_three(waits);", "other.o")
        self.unfit("other_two(): it is in none of the files", outside, "int (*by)(void) = other_two; result += by();", "other.o")
        for i, why in ((-1, None), (1, "code that uses 'other_one'")):
            self.write("prog.c", PROGRAM % (outside, "if (i == %d) result += ++other_one - 1;" % i))
            self.assertRegex(self.cc("prog.c", "-o", "prog", "other.o"), r"elc-cc: warning: prog\.c:\d+: the variable 'other_one': it is in none of the files.*: when it has been used no line is taken")
            if why is None: self.assert_restarts("prog", ANSWER)
            else: self.assert_refuses_line(r"the program has called code that uses 'other_one' \(prog\.c:\d+\): it is in none of the files")
        for words in ("-felc-stateless=other_one,other_two", "-felc-stateless=other*"):
            self.write("prog.c", PROGRAM % (outside, "result += other_two() + other_one;"))
            self.assertEqual("", self.cc("prog.c", "-o", "prog", "other.o", words))
            self.assert_restarts("prog", ANSWER)
        self.write("prog.c", PROGRAM % (outside, "result += other_three(waits);"))
        self.assertIn("waits(), which can reach MPI, may be given to other_three()", self.cc("prog.c", "-o", "prog", "other.o", "-felc-stateless=other*", code=1))

    def test_standard_streams_that_are_set(self):
        self.write("prog.c", PROGRAM % ("static FILE *before;", 'if (i == 1) before = stdout, stdout = fopen("out", "w"); if (i == 99) stdout = before;'))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line(r"the program has called code that sets stdout \(prog\.c:\d+\): lines do not have")

    def test_settings(self): self.unfit("setegid(): what it sets is lost", "#include <unistd.h>", "setegid(getegid());")
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
                self.assert_restarts("prog", ANSWER)

    def test_declared_by_the_call(self): self.unfit("pipe(): other processes", "", 'int ends[2]; result += pipe(ends);')
    def test_memory_of_others(self): self.unfit("canonicalize_file_name(): its memory", "#include <stdlib.h>", 'free(canonicalize_file_name("."));')
    def test_other_processes(self): self.unfit("pipe(): other processes", "#include <unistd.h>", 'int ends[2]; result += pipe(ends);')
    def test_by_a_pointer(self): self.unfit("seteuid(): what it sets is lost", "#include <unistd.h>", 'int (*by)(uid_t) = seteuid; result += by(geteuid());')
    def test_locks_of_other_kinds(self):
        self.unfit("pthread_mutexattr_settype(): a restart has such a lock", "#include <pthread.h>\nstatic pthread_mutex_t lock; static pthread_mutexattr_t kind;",
                   "pthread_mutexattr_init(&kind); pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE); pthread_mutex_init(&lock, &kind);")
        self.unfit("pthread_rwlock_rdlock(): a restart has such a lock", "#include <pthread.h>\nstatic pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;", "pthread_rwlock_rdlock(&lock);")

    def test_names_of_threads(self): self.unfit("pthread_self(): what it returns", "#include <pthread.h>\nstatic pthread_t first;", "first = pthread_self();")

    def test_numbers_of_fortran(self):
        """Open MPI counts what it is asked for; MPICH's are its handles, and are found."""
        self.write("prog.c", PROGRAM % ("static MPI_Fint number;", "if (i == 1) { MPI_Comm c; MPI_Comm_dup(MPI_COMM_SELF, &c); number = MPI_Comm_c2f(c); } if (i > 1) deep(1, 1);"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"the program has called MPI_Comm_c2f\(\) \(prog\.c:\d+\): in a restart the number is another" if self.build.mpi != "mpich" else "holds a handle of MPI")

    def test_handles_among_bytes(self):
        """Copied to a place that no handle is aligned to, as into a key or a record that is packed."""
        for outside, at in ("static char keys[3][12];", "keys[1] + 4"), ("static struct __attribute__((packed)) { char kind, bytes[9]; } *r;", "r->bytes"):
            with self.subTest(at):
                make = "if (!r) r = malloc(sizeof *r); " if "*r" in outside else ""
                self.write("prog.c", PROGRAM % (outside, make + "if (i == 0) { MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c); memcpy(%s, &c, sizeof c); }" % at))
                self.cc("prog.c", "-w", "-o", "prog")
                self.assert_refuses_line("a handle of MPI")

    def test_handles_among_numbers(self):
        """As the key of what a program keeps for each communicator."""
        for outside, key in (("static struct node { double x; long key; struct node *next; } *all;", "all->key"), ("static long all[100];", "all[99]"),
                             ("static int *all;", "all[7]") if self.build.mpi == "mpich" else ("static uintptr_t *all;", "all[7]")):
            with self.subTest(outside):
                make = "if (!all) all = calloc(10, sizeof *all); " if "*all" in outside else ""
                kind = "intptr_t" if "int *" not in outside else "int"
                self.write("prog.c", PROGRAM % ("#include <stdint.h>\n" + outside, make + "if (i == 0) { MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c); %s = (%s)c; }" % (key, kind)))
                self.cc("prog.c", "-w", "-o", "prog", "-felc-address-numbers")
                self.assert_refuses_line("a handle of MPI")
        if self.build.mpi == "mpich":
            self.write("prog.c", PROGRAM % ("#include <stdint.h>\nstatic struct { void *what; int n; } any;", "if (i == 0) { MPI_Comm c; MPI_Comm_dup(MPI_COMM_WORLD, &c); any.what = (void *)(intptr_t)c; }"))
            self.cc("prog.c", "-w", "-o", "prog")
            self.assert_refuses_line("what: a pointer in it has a handle of MPI .*keep it in a variable of MPI's type")

    def test_numbers_of_handles(self):
        """Where handles are integers: another restart has others, as if they were addresses; but for constants of MPI."""
        outside = """#include <stdint.h>
static int table[8]; static MPI_Comm own; static double x; static uint64_t key;
static int compare(const void *a, const void *b) { return *(const MPI_Comm *)a < *(const MPI_Comm *)b; }
static int given(MPI_Comm c) { return c == MPI_COMM_NULL || c != MPI_COMM_WORLD; }
static int hash(intptr_t n) { return (int)(n * 31 % 7); }
static int sum(const char *s, int n) { long all = 0; while (n-- > 0) all += (unsigned char)*s++; return (int)(all % 7); }
"""
        make = "if (i == 0) MPI_Comm_dup(MPI_COMM_WORLD, &own); "
        for use in ("table[(uintptr_t)own & 7] = 1;", "table[((unsigned)(uintptr_t)own >> 3) % 5] = 1;", "x = (double)(intptr_t)own;", "key = (uint64_t)(unsigned)(intptr_t)own << 16 | 7;",
                    "table[hash((intptr_t)own) & 1] = 1;", "{ unsigned k; memcpy(&k, &own, sizeof k); table[k % 7] = 1; }", "table[sum((char *)&own, sizeof own)] = 1;",
                    "{ unsigned char low = (unsigned char)(intptr_t)own; table[low & 7] = 1; }", "{ struct { int n; MPI_Comm c; } key = {3, own}; table[sum((char *)&key, sizeof key)] = 1; }",
                    "{ MPI_Comm two[2] = {own, MPI_COMM_WORLD}; qsort(two, 2, sizeof *two, compare); }"):
            with self.subTest(use):
                if self.build.mpi != "mpich" and "& 7]" in use:
                    continue  # pointers are aligned
                self.write("prog.c", PROGRAM % (outside, make + use))
                self.cc("prog.c", "-w", "-o", "prog")
                self.assert_refuses_line("it computes with an address as a number")
        self.right(outside, make + "result += given(own) + given(MPI_COMM_WORLD) * 3 + hash(5); if (own) deep(1, 1);")

    HASHES = """#include <stdint.h>
static long *kept[64]; static struct table { size_t size, mask, at; uintptr_t key; long *where[64]; unsigned (*by)(const void *); } t = {64, 63}; static uintptr_t pair[2];
static unsigned hash(unsigned long key) { return (unsigned)(key >> 7 & 1); }
static size_t at(void *p) { return (size_t)p; }
static size_t place(void *p, size_t size) { return (size_t)p % size; }
static unsigned by_pointer(const void *p) { return (unsigned)(uintptr_t)p; }
size_t known_outside(void *p, size_t size) { return (size_t)p % size; }
static unsigned of_bytes(const void *key, size_t n) { const unsigned char *s = key; unsigned h = 5381; while (n-- > 0) h = h * 33 + *s++; return h; }
static unsigned of_sum(const char *s, int n) { unsigned long h = 0; for (int k = 0; k < n; k++) h += (unsigned char)s[k]; return h % 61; }
static unsigned of_one(const char *s, int n) { unsigned h = 0; for (int k = 0; k < n; k++) { h += s[k]; h += h << 10; } return h; }
"""

    def test_numbers_of_addresses(self):
        """As tables have them that are searched by pointers: after a restart nothing would be found there."""
        for function, use in (("main", "kept[(uintptr_t)&i >> 4 & 63] = NULL;"), ("hash", "hash((unsigned long)&i);"), ("main", "kept[place(&i, t.size)] = NULL;"),
                              ("known_outside", "known_outside(&i, 64);"), ("of_bytes", "int *p = &i; of_bytes(&p, sizeof p);"), ("of_sum", "int *p = &i; kept[of_sum((char *)&p, sizeof p)] = NULL;"), ("of_one", "uintptr_t k = (uintptr_t)&i; of_one((char *)&k, sizeof k);")):
            with self.subTest(use):
                self.unfit(function + "(): it computes with an address as a number", self.HASHES, use)
        self.write("prog.c", PROGRAM % ("", "srand((unsigned)(unsigned long)&i * 31);"))
        self.assertEqual("", self.cc("prog.c", "-w", "-o", "prog", "-felc-address-numbers"))
        self.assert_restarts("prog", ANSWER)

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
uint64_t v = 0xfffc000000000000 | (uintptr_t)&i; kept[0] = (long *)(uintptr_t)(v & ~0xfffc000000000000) == NULL ? NULL : kept[1];
kept[turned(&i) == 7] = 0;
static uint64_t u; u = (uint64_t)&i | 5ull << 56; if (u == 7) kept[0] = 0;
static unsigned long u; u = (unsigned long)&i + ((unsigned long)i << 48); if (u == 7) kept[0] = 0;
kept[__builtin_popcountll((uintptr_t)&i) % 64] = 0;
static uint64_t u; u = __builtin_bswap64((uintptr_t)&i); if (u == 7) kept[0] = 0;
kept[ldiv((long)&i, 61).rem] = 0;
static long m; m = labs((long)&i); if (m == 7) kept[0] = 0;
static long m; m = -(long)&i; if (m == 7) kept[0] = 0;
static long m[2]; m[i & 1] = ~(long)&i; if (m[0] == 7) kept[0] = 0;
static struct { uint64_t tag : 8, at : 56; } b; b.at = (uint64_t)&i; if (b.tag == 7) kept[0] = 0;
struct { uint64_t tag : 8, at : 56; } b = {3, (uint64_t)&i}; if (b.tag == 7) kept[0] = 0;
size_t h = 5; h ^= (size_t)&i >> 4; kept[h % 61] = 0;
size_t h = 7; h *= (size_t)&i; kept[(h >> 20) % 61] = 0;
uint64_t h = 14695981039346656037ull; h ^= (uint64_t)(uintptr_t)&i; h *= 1099511628211ull; kept[h % 61] = 0;
unsigned h = 3, *q = &h; *q ^= (unsigned)(uintptr_t)&i; h |= 1; kept[h % 61] = 0;
unsigned char h = 3; h ^= (unsigned char)((size_t)&i >> 6); kept[h % 61] = 0;
if ((size_t)&i & 0x40) kept[5] = 0;
kept[!!((size_t)&i & 0x80) * 16] = 0;
int *p = &i; kept[(unsigned)half(&p) % 61] = 0;
void *p = malloc(5), *any[2] = {"four", &p}; kept[((unsigned *)any[1])[0] % 61] = 0;""".split("\n")
        functions = "static int half(const void *p) { return *(const int *)p; }\n"
        functions += "static uintptr_t turned(void *p) { return ~(uintptr_t)p; }\n"
        functions += "".join("static void f%d(int i) { %s }\n" % (n, use) for n, use in enumerate(uses))
        calls = "".join("if (use == %d) f%d(i); " % (n, n) for n in range(len(uses)))
        functions += "static unsigned of_key(const char *s) { return s[0] * 31; } static void g(int i) { struct { int n; void *p; } key = {1, &i}; of_key((char *)&key); }\n"
        calls = "{ const int use = atoi(getenv(\"USE\")); %s if (use == %d) g(i); }" % (calls, len(uses))
        self.write("prog.c", PROGRAM % (self.HASHES + functions, calls))
        told = set(re.findall(r"(\w+)\(\): it computes with an address as a number", self.cc("prog.c", "-w", "-o", "prog")))
        self.assertEqual([], [use for n, use in enumerate(uses) if "f%d" % n not in told and not re.search("by_pointer|turned|half|any", use)])
        self.assertLessEqual({"turned", "of_key", "by_pointer"}, told)
        for n, use in enumerate([*uses, "of_key"]):
            with self.subTest(use):
                self.assert_refuses_line("it computes with an address as a number", USE=str(n))

    def test_numbers_in_pointers(self):
        """That the program makes integers again, and computes with: they are no addresses when that is done."""
        self.right("""#include <stdint.h>
struct item { void *key, *value; struct item *next; long by; };
static struct item *all[7]; static int count[64]; static void *slot; static uintptr_t base = 3;
static unsigned place(void *key) { unsigned h = (unsigned)(uintptr_t)key; return h % 7; }
static long number(const struct item *i) { return (long)i->value; }
static void put(void *key, void *value) { struct item *i = malloc(sizeof *i); int h = place(key); *i = (struct item){key, value, all[h], (long)key}; all[h] = i; }
static struct item *find(void *key) { struct item *i = all[place(key)]; while (i && i->key != key) i = i->next; return i; }
static int local(uintptr_t id) { uintptr_t k = id; if (base == 4) k = id / 2; else k = id - base; return count[k % 64]; }
""", """
put((void *)(intptr_t)(i + 1), (void *)(intptr_t)(i % 9)); slot = (void *)(uintptr_t)(i * 5000);
deep(1, 1);
{ int k = (int)(intptr_t)find((void *)(intptr_t)(i + 1))->value, m = (short)number(find((void *)1)) * 2 + k; long h = (long)slot, both[2] = {h, k};
  deep(1, 1);
  count[k]++; count[m + 1] += 2; count[both[0] / 16 % 64]++; h ^= k; count[h % 64] += 3; count[find((void *)1)->by * 31 % 64]++; count[((long)slot * 3 + deep(1, 2)) % 64]++;
  slot = (void *)-(intptr_t)(h / 3 % 5); }
result += count[i % 64] + local((uintptr_t)slot) + (int)(intptr_t)slot;""")

    def test_addresses_behind_numbers_in_pointers(self):
        """No line any more when it has computed with one, also where it was made an integer before a line from which it was restarted."""
        self.write("prog.c", PROGRAM % ("#include <stdint.h>\nstatic int count[64];", "void *slot = i == 40 ? (void *)count : (void *)(intptr_t)i; "
                                        "{ int low = (int)(intptr_t)slot; deep(1, 1); if (low % 7 != 8) count[low / 5 & 63]++; }"))
        self.cc("prog.c", "-w", "-o", "prog")
        message = r"abandoned.*main\(\) \(prog\.c:\d+\): it computes with an address as a number"
        _, said = self.planned("prog", " ".join(map(str, range(70, 90))), ELC_KEEP="20")
        self.assertRegex(said, message)
        last = launch.newest(os.path.join(self.home, "lines"))
        self.assertGreater(last, 5)
        _, said = self.planned("prog", "95", ELC_KEEP="20", ELC_RESTART=str(last))
        self.assertIn("restarting from line", said)
        self.assertRegex(said, message)

    def test_integers_by_pointers_to_anything(self):
        """Which lead to addresses elsewhere: they are looked at when they are read."""
        outside = """struct list { void *what; struct list *next; }; static struct list *all;
struct model { int n, m; double *v; };
static void push(void *what) { struct list *l = malloc(sizeof *l); l->what = what; l->next = all; all = l; }
static struct model *make(int n) { struct model *m = malloc(sizeof *m); m->n = n; m->m = 0; m->v = calloc((size_t)n, sizeof *m->v); return m; }
static int *count(void) { static int n[2] = {5, 7}; return n; }"""
        self.right(outside, """
if (i == 0) { struct model *m = make(6); push(&m->n); push(&m->v); push(count()); push(&m->m); }
{ struct list *l = all->next; struct model *copy = make(*(int *)l->next->next->what); double **v = l->next->what;
  copy->n = ((int *)l->what)[1] * copy->n; (*v)[copy->n % 6] += i; result += (long)(*v)[i % 6] + copy->n / 7 * 3 + *(int *)all->what; free(copy->v); free(copy); }""")

    ORDERED = """#include <stdint.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
struct node { void *key; long value; struct node *left, *right; };
struct range { long *begin, *end; };
static struct node *root; static char cells[4000];
static int comes_first(const void *a, const void *b) { return a < b; }
static int by_address(const void *a, const void *b) { char *const *x = a, *const *y = b; return *x < *y ? -1 : *x > *y; }
static int by_member(const void *a, const void *b) { return (int)((long *)((const struct node *)a)->key - (long *)((const struct node *)b)->key); }
static int by_number(const void *a, const void *b) { return (intptr_t)((const struct node *)a)->key - (intptr_t)((const struct node *)b)->key > 0 ? 1 : -1; }
static int by_call(const void *a, const void *b) { return comes_first(*(void *const *)a, *(void *const *)b) ? -1 : 1; }
static struct node *put(struct node **at, void *key, long value) {
  while (*at) at = %s ? &(*at)->right : &(*at)->left;
  *at = calloc(1, sizeof **at); (*at)->key = key; (*at)->value = value;
  return *at;
}
static long found(void *key) {
  for (struct node *n = root; n; n = %s ? n->right : n->left) if (n->key == key) return n->value;
  return -1;
}
static long sum(const struct range *r) { long s = 0; for (long *p = r->begin; p < r->end; p++) s += *p; return s; }
static int owns(const char *pool, const char *end, const char *p) { return p >= pool && p < end; }
static long lower(long *low, long *high) { return low >= high ? 0 : *low + lower(low + 1, high - 1); }
int main(int argc, char **argv) {
  void *keys[40]; char *cell = malloc(4000); struct node all[40]; long i, s, t = 0, local[7] = {1, 2, 3, 4, 5, 6, 7}; struct range r; int rank;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  r.begin = calloc(10, sizeof *r.begin); r.end = r.begin + 10; r.begin[5] = 7;
  for (i = 0; i < 40; i++) keys[i] = %s;
  for (i = 0; i < 40; i++) all[i] = *put(&root, keys[i * 17 %% 40], i);
  %s
  for (i = 0; i < 100; i++) {
    MPI_Allreduce(&i, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    t = t * 3 + found(keys[i %% 40]) + sum(&r) + s + owns(cell, cell + 4000, cell + i) + owns(cells, cells + 9, keys[0]) + lower(local, local + 6) + all[i %% 40].value;
  }
  if (rank == 0) printf("result: %%ld\\n", t);
  MPI_Finalize();
}
"""

    def test_which_of_two_addresses_comes_first(self):
        """A restart has blocks of the heap in another order, but not what is in one of them."""
        blocks = "malloc(16 + i % 7 * 3000)"
        first = {"(*at)->key < key": "n->key < key", "comes_first((*at)->key, key)": "comes_first(n->key, key)", "(uintptr_t)(*at)->key < (uintptr_t)key": "(uintptr_t)n->key < (uintptr_t)key"}
        for how, again in first.items():
            with self.subTest(how):
                self.write("prog.c", self.ORDERED % (how, again, blocks, ""))
                self.cc("prog.c", "-w", "-o", "prog")
                self.assert_refuses_line(r"(put|comes_first)\(\) \(prog.c:\d+\): it asks which of two addresses comes first")
        for where in ("cell + i * 90", "cells + i * 90"):
            for how, again in first.items():
                with self.subTest(where + ": " + how):
                    self.restarts_from_all(self.ORDERED % (how, again, where, ""), "7 60")
        for sort in ("qsort(keys, 40, sizeof *keys, by_address);", "qsort(keys, 40, sizeof *keys, by_call);", "qsort(all, 40, sizeof *all, by_member);", "qsort(all, 40, sizeof *all, by_number);"):
            with self.subTest(sort):
                self.write("prog.c", self.ORDERED % ("1", "1", blocks, sort))
                self.cc("prog.c", "-w", "-o", "prog")
                self.assert_refuses_line(r"by_\w+\(\) \(prog.c:\d+\): it asks which of two addresses comes first" if "by_call" not in sort else r"comes_first\(\) ")
                self.restarts_from_all(self.ORDERED % ("1", "1", "cell + i * 90", sort), "7 60")

    def test_small_numbers_in_pointers(self):
        """As data that callbacks are given are often: they are no addresses, and lines are taken until one is."""
        outside = """#include <stdint.h>
static void *given[4]; static char kind; static int *in = (int *)2;
static char cells[1200]; static size_t width = 4;
static char *cell(long place) { return cells + width * (size_t)place; }
static unsigned spread(const void *key) { uintptr_t k = (uintptr_t)key; return k * 31 >> 3 ^ k; }
int number(void *data, int is_one) { long k = (long)data; return is_one ? (int)(intptr_t)data : 7 + *cell(k < 0 ? 0 : k) + spread(data) % 2; }"""
        inside = """for (int k = 0; k < 4; k++) given[k] = (void *)(intptr_t)(k * 100 - 1);
          %s deep(1, 1); kind = (char)(intptr_t)in; result += number(given[i & 3], i & 1) + kind;"""
        self.right(outside, inside % "")
        self.write("prog.c", PROGRAM % (outside, inside % "result += number(&i, 1) == 77;"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"the program has called number\(\) \(prog\.c:\d+\): it computes with an address")
        self.write("prog.c", PROGRAM % (outside, inside % "result += spread(&i) == 77;"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"the program has called spread\(\) \(prog\.c:\d+\): it computes with an address")

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
                    self.assert_restarts("prog", ANSWER)
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
  header.at = (size_t)p + -16; header.at = 0; p = (char *)((uintptr_t)p >> 6 << 6); p = (char *)((uintptr_t)p & ~mask); p = (char *)(((uintptr_t)p + mask) & -align); p -= (uintptr_t)p & mask;
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
        self.assert_restarts("prog", ANSWER)

    def test_locks_of_threads(self):
        """In memory, of the file, and of a function in which a line is taken."""
        for outside, call in (("static omp_nest_lock_t *lock;", "lock = calloc(1, sizeof *lock); omp_init_nest_lock(lock);"), ("static omp_nest_lock_t lock;", "omp_init_nest_lock(&lock);"),
                              ("", "omp_nest_lock_t lock; omp_init_nest_lock(&lock); deep(1, 1);")):
            with self.subTest(call):
                self.unfit("omp_init_nest_lock(): a lock of OpenMP", "#include <omp.h>\n" + outside, call, "-fopenmp")

    def test_locks_of_openmp(self):
        """GCC has those that are not nested in the program's memory, as a number: held over a line, and not."""
        self.right("#include <omp.h>\nstatic omp_lock_t locks[3], *held, *made;",
                   "{ int j, k; if (!made) { made = calloc(1, sizeof *made); omp_init_lock(made); held = locks + 2; for (j = 0; j < 3; j++) omp_init_lock(locks + j); }\n"
                   "if (i % 7 == 0) omp_set_lock(held); k = omp_test_lock(held); if (k && i % 5) omp_unset_lock(held), k += 2; result += k + deep(1, 1); if (i % 7 == 6) omp_unset_lock(held);\n"
                   "\n#pragma omp parallel for\nfor (j = 0; j < 16; j++) { omp_set_lock(locks + j % 2); result += j; omp_unset_lock(locks + j % 2); }\n omp_set_lock(made); omp_unset_lock(made); }", "-fopenmp")

    def test_in_an_initialiser(self):
        self.write("prog.c", PROGRAM % ("#include <unistd.h>\nstatic int (*by)(uid_t) = seteuid;", "result += by(geteuid());"))
        self.assertIn("seteuid(): what it sets", self.cc("prog.c", "-o", "prog", code=1))

    def test_characters_that_are_read_again(self):
        """By ungetc, what was read: as if it had not been. Another character is in no line."""
        with open(os.path.join(self.home, "data"), "w") as file:
            file.write("".join("%d,%d;" % (i, i * i) for i in range(200)))
        inside = """
if (!data) data = fopen("%s/data", "r");
{ int n = 0, c; long v = 0; while ((c = getc(data)) >= '0' && c <= '9') v = v * 10 + c - '0';
  if (c != EOF) { %s } deep(1, 1); if (getc(data) != c) result++; result += v; }"""
        self.right("static FILE *data;", inside % (self.home, "n = ungetc(c, data); result += n != c;"))
        self.write("prog.c", PROGRAM % ("static FILE *data;", "if (!data) { data = fopen(\"%s/data\", \"r\"); getc(data); ungetc('x', data); } deep(1, 1);" % self.home))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"ungetc\(\) has given a stream another character")
        # Which it has read again when a line is taken; of a file that is written, too, there is no line any more.
        self.right("static FILE *data;", inside % (self.home, "ungetc(c, data); ungetc('y', data); ungetc('x', data); if (getc(data) != 'x' || getc(data) != 'y') result++;"))
        self.write("prog.c", PROGRAM % ("static FILE *data;", inside.replace('"r"', '"r+"') % (self.home, "ungetc('x', data); getc(data); ungetc(c, data);")))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"ungetc\(\) with another character than it has read, of a file that it may write")
