"""What the C library keeps, and what a program has from the system."""

import os
import platform
import shutil
import unittest

from cases import Cases, launch, PROGRAM


class Library(Cases):
    """Found by attack: right with lines, and after a restart."""

    def test_options(self):
        """Looked for behind lines: in clusters, with words between them, long ones; by programs that do not ask where that is; anew, and from elsewhere."""
        program = """#define _GNU_SOURCE
#include <getopt.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static long sum(long mine) { long all; MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); return all; }
int main(int argc, char **argv) {
  static const struct option all[] = {{"name", required_argument, NULL, 'n'}, {"verbose", no_argument, NULL, 'v'}, {"level", optional_argument, NULL, 256}, {NULL, 0, NULL, 0}};
  char *words[] = {"prog", "one", "-vxn", "two", "--name=three", "four", "-x", "--level=5", "five", "-vvnsix", "--", "-v", NULL}, *other[] = {"it", "-abc", "-d", "seven", "-ab", NULL};
  int c, which = -1, rank, i; long result = 0;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  while ((c = getopt_long(12, words, "vxn:", all, &which)) != -1) { result = (result * 31 + c + which + sum(rank) + (c == 'n' ? optarg[0] : 0)) % 1000003; which = -1; }
  for (i = 1; i < 12; i++) result = (result * 31 + words[i][0] + words[i][strlen(words[i]) - 1]) % 1000003;
MORE
  if (rank == 0) printf("result: %ld\\n", result);
  MPI_Finalize(); return 0; }
"""
        again = """  result += optind; optind = 1;
  while ((c = getopt(5, other, "abcd:")) != -1) { result = (result * 31 + c + sum(rank)) % 1000003; if (c == 'd') break; }
  result += optind; optind = 0;
  while ((c = getopt(5, other, "abcd:")) != -1) result = (result * 31 + c + optind + sum(rank)) % 1000003;"""
        skips = """  optind = 0; char *few[] = {"it", "one", "-a", "two", "three", "-b", "four", NULL};
  while ((c = getopt(7, few, "ab")) != -1) { result = (result * 31 + c + sum(rank)) % 1000003; if (c == 'a') optind++; }
  for (i = 1; i < 7; i++) result = (result * 31 + few[i][0] + optind) % 1000003;
  result += sum(rank);"""
        self.restarts_from_all(program.replace("MORE", skips), "2 10 12", "2")
        out, said = self.planned("prog", "11 12", ELC_KEEP="9")
        self.assertRegex(said, r"line 1 is abandoned.*the program has set optind while it looks for its options")
        self.assertIn("line 2 has committed", said)
        shutil.rmtree(os.path.join(self.home, "lines"))
        for more, sites in ("", "2 4 6 8"), (again, "1 3 5 7 9 10 11 12 14 16"):
            self.restarts_from_all(program.replace("MORE", more), sites, "2 4")

    def test_settings_without_their_headers(self):
        """The C compiler takes such calls; one file may have the header, the main one have declared it otherwise."""
        self.right("", "if (i == 1) umask(027); deep(1, 1); if (i == 99) result += umask(022);")
        self.right("#include <sys/stat.h>\nvoid other(void); static unsigned set(unsigned to) { return umask(to); }", "if (i == 1) set(027); deep(1, 1); if (i == 99) result += set(022);")
        self.right("", "if (i == 1) omp_set_num_threads(3), omp_set_max_active_levels(2); deep(1, 1); result += omp_get_max_threads() + omp_get_max_active_levels();", "-fopenmp")
        self.right("int umask();", "if (i == 1) umask(026); deep(1, 1); if (i == 99) result += umask(022);")

    def test_compression(self):
        """What zlib does at once, and keeps nothing of."""
        self.right("#include <zlib.h>\nstatic unsigned char *packed; static double data[100]; static unsigned long sum;", """
            { int k; uLongf n = compressBound(sizeof data), m = sizeof data; if (!packed) packed = malloc(n); for (k = 0; k < 100; k++) data[k] = i + k / 10;
              compress2(packed, &n, (unsigned char *)data, sizeof data, 6); sum = crc32(sum, packed, n); result += deep(n, 1);
              result += uncompress((unsigned char *)data, &m, packed, n) == Z_OK; result += (long)data[i] + (long)(sum % 1000); }""", "-lz")

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

    def test_names_that_the_compiler_knows(self):
        self.right("double rintf(double x); double rintf(double x) { deep(1, 1); return x + 1; } static unsigned __int128 cut(unsigned __int128 n) { n &= (unsigned long)-1; return n; }",
                   "result += rintf(i) + cut(i);", "-O2")

    def test_a_stream_at_its_end(self):
        with open(os.path.join(self.home, "data"), "w") as file:
            file.write("1 2 3 4 5")
        self.right("static FILE *data; static long read_of;", """
if (!data) data = fopen("%s/data", "r");
{ long n; while (fscanf(data, "%%ld", &n) == 1) read_of += n; }
deep(i, 1); result += read_of + 1000 * (feof(data) != 0);""" % self.home)

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

    @unittest.skipUnless(platform.machine() == "x86_64", "what headers of x86 processors have")
    def test_the_register_of_arithmetic(self):
        """Functions that clang has itself, so that it would leave out the expressions which name them; and what they set."""
        outside = r"""
            #include <x86intrin.h>
            #include <fenv.h>
            static volatile double tiny = 1e-308, one = 1, three = 3;
            static void load(unsigned to) { __asm__ volatile("ldmxcsr %0" : : "m"(to)); }
            static void load_x87(unsigned short to) { __asm__ volatile("fldcw %0" : : "m"(to)); }"""
        inside = r"""{
            unsigned long long t = __rdtsc(), known = 0x3fd5555555555555; double third; memcpy(&third, &known, sizeof third);
            if (i == 1) { %s; }
            _mm_pause();
            result += deep(__rdtsc() > 0, 1) + (__rdtsc() >= t) + 2 * (tiny / 16 != 0) + 4 * (one / three > third) + 8 * (one / three < third) + (_mm_getcsr() & 0x8040);
            }"""
        for how in ("_mm_setcsr(_mm_getcsr() | 0x8040)", "_MM_SET_ROUNDING_MODE(_MM_ROUND_UP)", "_MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON); fesetround(FE_DOWNWARD)"):
            self.right(outside, inside % how, "-lm")
        for how, what in (("load(0x9fc0)", "what is near zero is zero"), ("load(0x3f80)", "numbers are rounded otherwise"), ("load_x87(0x027f)", "numbers are of another precision")):
            self.write("prog.c", PROGRAM % (outside, inside % how))
            self.cc("prog.c", "-w", "-o", "prog")
            self.assert_refuses_line("abandoned.*: arithmetic is not what it was when the program began .%s" % what)

    def test_positions_in_files(self):
        self.right("static FILE *file; static fpos_t at;",
                   "{ char line[20] = \"\"; fpos_t here; if (file == NULL) { file = fopen(rank == 0 ? \"positions-0\" : \"positions-1\", \"w+\"); fputs(\"one\\ntwo\\nthree\\n\", file);"
                   " rewind(file); fgets(line, 20, file); fgetpos(file, &at); } fgetpos(file, &here); fsetpos(file, &at); deep(1, 1); fgets(line, 20, file); result += strlen(line) + line[1];"
                   " if (i % 3 == 2) fsetpos(file, &here); }")

    def test_errno(self):
        """Of a call that failed before MPI was asked whether one has failed anywhere; neither a line nor a restart changes it."""
        self.right("#include <errno.h>", 'errno = 0; { FILE *none = fopen(i % 2 ? "not/there" : ".", "w"); long bad = none == NULL; deep(1, 1);'
                   ' result += errno == (i % 2 ? ENOENT : EISDIR) ? bad : 1000; result += strcmp(strerror(errno), strerror(i % 2 ? ENOENT : EISDIR)) != 0; }')

    def test_times_of_day(self):
        """With the names of their zones, which the C library has."""
        self.right("#include <time.h>\nstatic struct tm kept[6];", """{ time_t t = 86400L * i; char text[64] = ""; int k;
  localtime_r(&t, &kept[0]), gmtime_r(&t, &kept[1]), kept[2] = kept[1], mktime(&kept[2]), kept[3] = kept[1], timegm(&kept[3]);
  memset(&kept[4], 0, sizeof kept[4]), strptime("2005-06-07", "%%Y-%%m-%%d", &kept[4]), mktime(&kept[4]), kept[5] = *localtime(&t);
  { struct tm none; memset(&none, 'A', sizeof none); strptime("2001", "%%Y", &none), mktime(&none); result += none.tm_year; memset(&none, 0, sizeof none); }
  deep(1, 1);
  for (k = 0; k < 6; k++) strftime(text, sizeof text, "%%Z %%j", &kept[k]), result += strlen(text) + text[0] + atol(text + 4); }
  { char why[64]; const char *said = strerror_r(i %% 3, why, sizeof why); deep(1, 1); result += said[1] + strlen(said); }""".replace("%%", "%"), "-D_GNU_SOURCE")

    def test_exit_handlers(self):
        """Each is called once, behind a restart as well: those that a constructor registers, too, and what they register."""
        self.restarts_from_all(PROGRAM % ("""static int own; static void later(void) { if (own == 0) puts("later"); }
static void early(void) { if (own == 0) puts("early"); } static void bye(void) { if (own == 0) puts("bye"); atexit(later); }
__attribute__((constructor)) static void begin(void) { atexit(early); }""", "own = rank; if (i == 5) atexit(bye);"), "20 60")

    def test_exit_handlers_that_reach_mpi(self):
        """Lines are taken until one is called."""
        self.right("static void bye(void) { int over; MPI_Finalized(&over); if (!over) MPI_Barrier(MPI_COMM_WORLD); }", "if (i == 0) atexit(bye);")
        self.write("prog.c", PROGRAM % ('static void bye(void) { int k; for (k = 0; k < 200; k++) deep(1, 1); puts("result: none"); MPI_Finalize(); }', "if (i == 2) { atexit(bye); exit(0); }"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"the program has called bye\(\), which is called in the middle of a call of MPI, or at the exit")

    def test_seeds_that_come_back(self):
        """What seed48() returns nobody asks for; where somebody does, lines are refused."""
        for use in ("unsigned short *old = seed48(seed); result += old[0] & 0", "result += seed48(seed)[0] & 0", "(void)(*seed48(seed) = 0)"):
            self.write("prog.c", PROGRAM % ("static unsigned short seed[3] = {1, 2, 3};", "if (i == 0) { %s; }" % use))
            self.cc("prog.c", "-w", "-o", "prog")
            self.assert_refuses_line(r"abandoned.*: the program has called seed48\(\) \(prog\.c:\d+\): what it returns leads into the C library")
        # The program goes on with what it was told.
        self.write("prog.c", PROGRAM % ("", "static unsigned short seed[3] = {1, 2, 3}, *old; if (i % 20 == 0) old = seed48(seed); result += drand48() * 100; if (i % 20 == 10) result += seed48(old)[2];"))
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog")
        out, said = self.planned("prog", "12 25 31 47 58 66 71")
        self.assertIn("abandoned", said)
        self.assertEqual(out, self.start("plain"))
        self.right("static unsigned short seed[3] = {1, 2, 3};", "if (i == 0) (void)(seed48)(seed); deep(1, 1); result += drand48() * 100;")
        self.right("static unsigned short seed[3] = {1, 2, 3};", "if (i == 0) seed48(seed); deep(1, 1); result += drand48() * 100;")

    def test_environment(self):
        """What the program sets of it, by putenv in its own memory, too; many times one variable; by a pointer."""
        self.right("""
            #include <stdlib.h>
            static char own[40] = "OWN=one"; static int (*by)(const char *, const char *, int) = setenv;
            static int is(const char *name, const char *value) { const char *now = getenv(name); return now == NULL ? value == NULL : value != NULL && strcmp(now, value) == 0; }""", """
            char number[20];
            if (i == 0) { setenv("SET", "a", 1); setenv("SET", "b", 0); putenv("LITERAL=7"); putenv(own); setenv("GONE", "x", 1); unsetenv("GONE"); unsetenv("HOME"); }
            if (i == 50) { strcpy(own, "OWN=two"); by("SET", "c", 1); putenv("LITERAL"); }
            sprintf(number, "%d", i); setenv("COUNT", number, 1);
            deep(1, 1);
            if (!is("SET", i < 50 ? "a" : "c") || !is("LITERAL", i < 50 ? "7" : NULL) || !is("OWN", i < 50 ? "one" : "two") || !is("GONE", NULL) ||
                !is("HOME", NULL) || !is("COUNT", number)) abort();
            result += atoi(getenv("COUNT"));""")

    def test_all_variables_of_the_environment(self):
        """By `environ`, and as main() is given them."""
        outside = """
            extern char **environ; static char **kept; static char own[] = "MINE_OWN=1";
            static long mine(char **all) { long sum = 0; for (; *all != NULL; all++) { if (strncmp(*all, "MINE_", 5) == 0) sum += strlen(*all) + deep(1, 1); } return sum; }"""
        inside = """
            char number[20];
            if (i == 0) { setenv("MINE_A", "abc", 1); putenv(own); kept = environ; }
            sprintf(number, "%d", i); if (i > 50) setenv("MINE_B", number, 1);
            result += mine(environ) + mine(i < 50 ? kept : environ) + (getenv("MINE_A") != NULL);"""
        self.right(outside, inside)
        self.write("prog.c", (PROGRAM % (outside, inside + " result += mine(given) + given_count; if (*given == NULL) abort();"))
                   .replace("int argc, char **argv) {", "int argc, char **argv, char **given) {\n  int given_count = given != NULL;"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))
        self.write("prog.c", PROGRAM % (outside, "static char *none[1]; if (i == 1) environ = none; deep(1, 1);"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"code that sets environ \(prog\.c:\d+\): lines do not have what it leads to")

    def test_other_variables(self):
        self.right("#include <errno.h>\n#include <math.h>\n#include <time.h>\nstatic char *kept; extern int signgam;", """
            if (i == 0) { setenv("TZ", "XYZ3ABC", 1); tzset(); kept = program_invocation_short_name + 1; }
            double x = lgamma(i % 2 ? -0.5 : -1.5); deep(1, 1);
            result += signgam * 10 + (x > 0) + timezone + daylight + (kept[-1] == *program_invocation_short_name) + (strchr(program_invocation_name, '/') != NULL);""", "-D_GNU_SOURCE", "-lm")

    def test_numbers_of_processes(self):
        """Of the own process, its parent and group: what the program was told first, also in a name, and a signal finds it; a process that is forked has its own."""
        outside = """
            #include <signal.h>
            #include <sys/types.h>
            #include <sys/wait.h>
            #include <unistd.h>
            static pid_t own, parent, group; static int caught; static char name[100], again[100]; static void note(int n) { (void)n; caught++; }"""
        inside = """
            if (i == 0) { FILE *f; own = getpid(), parent = getppid(), group = getpgrp(); signal(SIGUSR1, note); sprintf(name, "made.%d", (int)getpid()); f = fopen(name, "w"); fputs("7", f); fclose(f); }
            deep(1, 1);
            kill(own, SIGUSR1); kill(getpid(), SIGUSR1);
            result += (own == getpid()) + 2 * (parent == getppid()) + 4 * (group == getpgrp()) + caught + getpriority(PRIO_PROCESS, getpid()) + (kill(parent, 0) == 0);
            sprintf(again, "made.%d", (int)getpid()); { FILE *f = fopen(again, "r"); result += f ? getc(f) : -1; if (f) fclose(f); }"""
        self.right("#include <sys/resource.h>\n" + outside, inside)
        self.write("prog.c", PROGRAM % (outside, "result += getsid(0) == 0;"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"the program has called getsid\(\)")
        self.write("prog.c", PROGRAM % (outside, "int told = 0, ends[2]; if (i == 99) { pid_t child; own = getpid(); child = fork(); if (child == 0) _exit(getpid() != own && getppid() == own); waitpid(child, &told, 0); result += WEXITSTATUS(told); }"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.cc("prog.c", "-w", "-o", "plain", "-felc-off")
        self.assertEqual(self.start("prog"), self.start("plain"))

    def test_attributes_of_threads(self):
        self.right("#include <pthread.h>\nstatic pthread_attr_t attributes; static void *run(void *to) { *(int *)to += 1; return NULL; }", """
            pthread_t thread; int got = i, state; size_t size;
            if (i == 0) { pthread_attr_init(&attributes); pthread_attr_setstacksize(&attributes, 1 << 20); }
            deep(1, 1);
            pthread_attr_getstacksize(&attributes, &size); pthread_attr_getdetachstate(&attributes, &state);
            pthread_create(&thread, &attributes, run, &got); pthread_join(thread, NULL); result += got + (size == 1 << 20) + 2 * (state == PTHREAD_CREATE_JOINABLE);""")

    def test_until_a_time(self):
        """By the clock that the program reads; and classes of characters, which are addresses of the C library."""
        self.right("#define _GNU_SOURCE\n#include <errno.h>\n#include <time.h>\nstatic struct timespec next;", """
            if (i == 0) clock_gettime(CLOCK_MONOTONIC, &next);
            next.tv_nsec += 1000; if (next.tv_nsec >= 1000000000) next.tv_nsec -= 1000000000, next.tv_sec++;
            deep(1, 1); result += clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL); { struct timespec now; clock_gettime(CLOCK_MONOTONIC, &now); result += now.tv_sec >= next.tv_sec; }""")
        self.write("prog.c", PROGRAM % ("#include <wctype.h>\nstatic wctype_t digits;", "if (i == 0) digits = wctype(\"digit\"); deep(1, 1); result += iswctype('3', digits) != 0;"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"the program has called wctype\(\)")

    def test_time_of_the_processor(self):
        """What the process has used, for itself and in the system, never becomes less."""
        self.right("#include <sys/resource.h>\n#include <sys/times.h>\n#include <time.h>\nstatic struct rusage last; static struct tms seen; static volatile double busy;", """
            struct rusage now; struct tms ticks; long k;
            if (i == 0) { clock_t until = clock() + CLOCKS_PER_SEC / 10; while (clock() < until) { getrusage(RUSAGE_SELF, &now); for (k = 0; k < 1000; k++) busy += k; } }
            getrusage(RUSAGE_SELF, &now); times(&ticks);
            result += (now.ru_utime.tv_sec - last.ru_utime.tv_sec) * 1000000L + now.ru_utime.tv_usec < last.ru_utime.tv_usec;
            result += (now.ru_stime.tv_sec - last.ru_stime.tv_sec) * 1000000L + now.ru_stime.tv_usec < last.ru_stime.tv_usec;
            result += 2 * (ticks.tms_utime < seen.tms_utime) + 2 * (ticks.tms_stime < seen.tms_stime);
            last = now; seen = ticks; deep(1, 1);""")

    def test_limits(self):
        self.right("#include <sys/resource.h>", """
            struct rlimit core, files; if (i == 0) { getrlimit(RLIMIT_NOFILE, &files); files.rlim_cur = 200; setrlimit(RLIMIT_NOFILE, &files); core.rlim_cur = core.rlim_max = 4096; setrlimit(RLIMIT_CORE, &core); }
            deep(1, 1);
            getrlimit(RLIMIT_NOFILE, &files); getrlimit(RLIMIT_CORE, &core); result += files.rlim_cur + core.rlim_max;""")

    def test_timers(self):
        """They run on, and signals that are blocked stay so: each round waits for the timer."""
        self.right("""
            #include <signal.h>
            #include <sys/time.h>
            #include <unistd.h>
            double timers[3]; static int locale;  /* whatever they are called */
            static volatile sig_atomic_t ticks, others; static void tick(int by) { (void)by; ticks = 1; } static void other(int by) { (void)by; others++; }""", """
            static const struct itimerval each = {{0, 1000}, {0, 1000}}; struct itimerval before; sigset_t mask, now;
            if (i == 0) {
              signal(SIGALRM, tick); signal(SIGUSR1, other); setitimer(ITIMER_REAL, &each, &before);
              sigemptyset(&mask); sigaddset(&mask, SIGUSR1); sigprocmask(SIG_BLOCK, &mask, NULL);
            }
            for (ticks = 0; !ticks;) {}
            raise(SIGUSR1);
            timers[i % 3] += ++locale;
            deep(1, 1);
            result += (long)timers[i % 3] % 100;
            sigprocmask(SIG_BLOCK, NULL, &now); result += sigismember(&now, SIGUSR1) + 7 * others;
            if (i == 99) { alarm(0); sigprocmask(SIG_UNBLOCK, &now, NULL); result += 1000 * others; }""")

    def test_users(self):
        self.right("#include <pwd.h>\n#include <unistd.h>\nstatic struct passwd *user;", """
            if (i == 0) user = getpwuid(getuid());
            deep(1, 1);
            if (user != NULL) result += strlen(user->pw_name) + user->pw_dir[0] + user->pw_uid + strlen(user->pw_shell);""")

    def test_handlers_for_once(self):
        self.right("#include <signal.h>\nstatic int caught; static void note(int n) { caught++; } static struct sigaction before;",
                   """{ struct sigaction set, now; if (i == 0) memset(&set, 0, sizeof set), set.sa_handler = note, set.sa_flags = SA_RESETHAND, sigaction(SIGUSR2, &set, &before);
  if (i == 3) raise(SIGUSR2); deep(1, 1); sigaction(SIGUSR2, NULL, &now); deep(1, 1); result += caught + (now.sa_handler == SIG_DFL) + (before.sa_handler == SIG_DFL); }""")

    def test_what_the_c_library_makes(self):
        """In memory of its own, which refuses lines until it is freed, and no longer; what could not be made does not."""
        outside = """#include <glob.h>
#include <langinfo.h>
#include <regex.h>
#include <wordexp.h>
static regmatch_t where[2]; static regex_t global; static struct both { long n; glob_t *found; regex_t of; } *both;
static int matches(const char *text) { regex_t one, *p = &one; int is, none = regcomp(p, "(", REG_EXTENDED);
  if (none == 0 || regcomp(p, "^\\\\([a-c]*\\\\)[0-9]*4$", 0) != 0) return 100; is = regexec(p, text, 2, where, 0) == 0; regfree(p); return is ? 10 + where[1].rm_eo : 0; }
static long words(void) { wordexp_t all; glob_t g; long n; if (wordexp("one two three", &all, 0) != 0) return 0; n = all.we_wordc; wordfree(&all);
  return n + (glob("/nothing/of/this/name*", 0, NULL, &g) == GLOB_NOMATCH) + nl_langinfo(CODESET)[0]; }"""
        inside = """{ char text[20]; if (both == NULL) both = calloc(1, sizeof *both); sprintf(text, "abc%d", i); deep(1, 1); result += matches(text) + words();
  if (i == 40) { regcomp(&global, "x[0-9]", 0); both->found = malloc(sizeof *both->found); glob("/*", 0, NULL, both->found); regcomp(&both->of, "y", 0); }
  if (i == 40 || i == 49) both->n += regexec(&global, "x1", 0, NULL, 0) + (both->found->gl_pathc > 0); result += both->n;
  if (i == 50) regfree(&global), globfree(both->found), regfree(&both->of); }"""
        self.restarts_from_all(PROGRAM % (outside, inside), "3 75 104 190", "60 71 199")
        self.write("prog.c", PROGRAM % (outside, inside.replace("i == 40)", "i == 0)").replace("i == 50)", "i == 99)")))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line(r"the program has called regcomp\(\) \(prog\.c:\d+\): while what it makes is not freed no line is taken; free it before")

    def test_pointers_to_what_a_library_has(self):
        """A restart has it elsewhere."""
        self.write("prog.c", PROGRAM % ("#include <langinfo.h>\nstatic char *letters;", "if (i == 0) letters = nl_langinfo(CODESET); deep(1, 1); result += letters[0];"))
        self.cc("prog.c", "-w", "-o", "prog")
        self.assert_refuses_line("letters' of the globals: a pointer in it points to what a library has, or to a file that is mapped")

    def test_threads_that_round_otherwise(self):
        """How numbers are rounded is a thread's own: that of the thread which calls MPI is part of lines."""
        self.right("""
#include <fenv.h>
#include <pthread.h>
static void *run(void *of) { volatile double *x = of, one = 1; fesetround(FE_UPWARD); *x = one / 3; return NULL; }""", """
{ pthread_t t; double x = 0; volatile double one = 1, y; if (i == 5) fesetround(FE_DOWNWARD);
  pthread_create(&t, NULL, run, &x); pthread_join(t, NULL); y = one / 3; deep(1, 1); result += (x > y) + 2 * (fegetround() == FE_DOWNWARD); }""", "-pthread", "-frounding-math", "-lm")

    def test_locks_without_threads(self):
        """A program that could have several, in one that has one: a lock is open, or the program opens it."""
        self.right("""#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct { long n; pthread_mutex_t own; } *shared;
static long next(void) { long n; pthread_mutex_lock(&lock); n = ++shared->n; pthread_cond_signal(&changed); pthread_mutex_unlock(&lock); return n; }""",
                   """if (i == 0) shared = calloc(1, sizeof *shared), pthread_mutex_init(&shared->own, NULL);
pthread_mutex_lock(&shared->own); deep(1, 1); result += next(); if (pthread_mutex_trylock(&shared->own) == 0) result = 0; pthread_mutex_unlock(&shared->own);""", "-lpthread")

    THREADS = r"""
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct work { long from, to; struct work *next; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; static pthread_cond_t more = PTHREAD_COND_INITIALIZER;
static struct work *queue, *done; static int is_closed; static long total;
static void *run(void *given) {
  for (;;) {
    long sum = 0, *squares = malloc(8 * sizeof *squares), i;
    struct work *w;
    pthread_mutex_lock(&lock);
    while (!queue && !is_closed) pthread_cond_wait(&more, &lock);
    w = queue; if (w) queue = w->next;
    pthread_mutex_unlock(&lock);
    for (i = w ? w->from : 0; w && i < w->to; i++) squares[i %% 8] = i * i, sum += squares[i %% 8];
    free(squares);
    if (!w) break;
    pthread_mutex_lock(&lock); total += sum; w->next = done; done = w; pthread_mutex_unlock(&lock);
  }
  if (given) pthread_exit(given);
  return NULL;
}
int main(int argc, char **argv) {
  int rank, i, k; long all = 0; void *given;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 40; i++) {
    pthread_t threads[3];
    is_closed = 0;
    for (k = 0; k < 3; k++) pthread_create(&threads[k], NULL, k == 1 ? &run : run, k == 2 ? &total : NULL);
    for (k = 0; k < 8; k++) {
      struct work *w = malloc(sizeof *w);
      w->from = k * 100 + rank; w->to = w->from + i;
      pthread_mutex_lock(&lock); w->next = queue; queue = w; pthread_cond_signal(&more); pthread_mutex_unlock(&lock);
    }
    %s
    pthread_mutex_lock(&lock); is_closed = 1; pthread_cond_broadcast(&more); pthread_mutex_unlock(&lock);
    for (k = 0; k < 3; k++) { pthread_join(threads[k], &given); all += given == &total; }
    while (i %% 5 != 4 && done) { struct work *w = done; done = w->next; free(w); }
    MPI_Allreduce(MPI_IN_PLACE, &total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    all = (all * 7 + total) %% 1000003;
  }
  for (; done; done = done->next) all += done->to;
  if (rank == 0) printf("result: %%ld\n", all);
  MPI_Finalize();
  return 0;
}
"""

    def test_threads(self):
        """No line is taken before they are joined; then all is as if there had been none."""
        self.restarts_from_all(self.THREADS % "", "5 12 20 31", "9 25")
        self.write("prog.c", self.THREADS % "MPI_Barrier(MPI_COMM_WORLD);")
        self.cc("prog.c", "-w", "-pthread", "-o", "prog")
        said = self.planned("prog", "4 9 14 19 24 29 34 39 44 49", ELC_KEEP="20")[1]
        taken = launch.committed(os.path.join(self.home, "lines"))
        self.assertIn("a thread that the program has made (pthread_create) has not come to its end, or has not been joined", said)
        self.assertTrue(0 < len(taken) < 10, said)
        self.write("prog.c", PROGRAM % ("#include <pthread.h>\n#include <unistd.h>\nstatic void *run(void *of) { for (;;) pause(); return of; }",
                                        "if (i == 0) { pthread_t other; pthread_create(&other, NULL, run, NULL); pthread_detach(other); }"))
        self.cc("prog.c", "-w", "-pthread", "-o", "prog")
        shutil.rmtree(os.path.join(self.home, "lines"))
        self.assert_refuses_line(r"a thread that the program has made \(pthread_create\) has not come to its end")

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

    def test_standard_output_that_is_closed(self):
        self.right("", "if (i == 0 && rank != 0) fclose(stdout); deep(1, 1); if (rank != 0) printf(\"%d\\n\", i);")

    def test_threads_that_end_the_job_if_something_is_wrong(self):
        """Their own, and those of OpenMP."""
        self.right("""
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
static void fail(const char *what) { int is; perror(what); MPI_Initialized(&is); if (is) MPI_Abort(MPI_COMM_WORLD, 1); exit(getpid() & 1); }
static double *get(int n) { double *p = malloc(n * sizeof *p); if (!p) fail("get"); return p; }
static void *work(void *p) { long *v = p; double *a = get(10); errno = 0; *v = strtol("123", NULL, 10); if (errno == ERANGE) *v = -1; a[3] = *v; *v += a[3]; free(a); errno = 7; return NULL; }""", """
{ pthread_t t; long v = 0, w = 0; int k; errno = i;
  if (pthread_create(&t, NULL, work, &v)) return 1;
  pthread_join(t, NULL);
#pragma omp parallel for reduction(+:w)
  for (k = 0; k < 10; k++) { double *p = get(100); p[k] = k + i; w += (long)p[k]; free(p); }
  deep(1, 1);
  result += v + w + errno; }""", "-fopenmp", "-pthread")

    def test_level_of_threads(self):
        """MPI is asked for what the program can ask for, and for the highest where nobody can tell: it is before the program knows."""
        for level, asked in ("argc > 5 ? MPI_THREAD_SERIALIZED : level", 2), ("argc > 5 ? atoi(argv[1]) : level", 3), ("other", 1), ("*&level", 3), ("level + 1", 3):
            with self.subTest(level):
                self.write("prog.c", r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
  int level = MPI_THREAD_SINGLE, other, given, now;
  if (argc > 4) level = other = MPI_THREAD_FUNNELED;
  else other = level;
  MPI_Init_thread(&argc, &argv, LEVEL, &given);
  MPI_Query_thread(&now);
  MPI_Barrier(MPI_COMM_WORLD);
  printf("%d\n", now);
  MPI_Finalize();
  return 0;
}
""".replace("LEVEL", level))
                self.cc("prog.c", "-o", "prog")
                self.assertEqual(int(self.start("prog", ranks=1)), asked)

    def test_where_a_thread_runs(self):
        """The thread's name goes to a function that keeps it nowhere."""
        self.right("#include <pthread.h>\n#include <sched.h>", "{ cpu_set_t set; CPU_ZERO(&set); pthread_getaffinity_np(pthread_self(), sizeof set, &set); result += CPU_COUNT(&set) > 0; }",
                   "-D_GNU_SOURCE")

    def test_reading_what_is_written(self):
        """To its end, which is farther on when it is restarted."""
        self.right("static FILE *out, *in;", "{ char line[20]; if (out == NULL) { const char *name = rank == 0 ? \"both-0\" : \"both-1\"; out = fopen(name, \"w\"); in = fopen(name, \"r\"); }"
                   " fprintf(out, \"%d\\n\", i * i); fflush(out); while (fgets(line, 20, in)) result += atol(line); deep(1, 1); clearerr(in); }")

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

    def test_vectors_without_threads(self):
        self.right("", """{ int k; long s = 0; deep(1, 1);
    #pragma omp simd reduction(+ : s)
    for (k = 0; k < 8; k++) s += k * i;
    result += s; }""", "-fopenmp-simd")

    def test_strings_found_in_strings(self):
        self.right("static const char *at;", 'at = strchr("0123456789", \'0\' + i % 10); deep(1, 1); result += *at;')
        self.right("static char *end;", 'result += strtol(i & 1 ? "12x" : "345y", &end, 10); deep(1, 1); result += *end;')

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
if (i > 2) { fprintf(before, "%d\\n", i); fprintf(here, "%d\\n", i); result += ftell(before) + ftell(here) + strlen(getcwd(at, sizeof at)); }
if (i == 99) { fclose(before); fclose(here); before = fopen("home0/here", "r"); fseek(before, 0, SEEK_END); result += ftell(before); }"""
        self.right(outside, inside)
        self.write("prog.c", PROGRAM % (outside, 'if (i == 3 && chdir("/usr") != 0) result = -1;'))
        self.cc("prog.c", "-o", "prog")
        self.assert_refuses_line("abandoned.*: the directory in which the program works: .* lies in /usr, and a restart touches files only below")
