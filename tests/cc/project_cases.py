"""Projects are built as their owners do it, and options are as those of a compiler."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from cases import ANSWER, Cases, PROGRAM, WRAPPER


class Projects(Cases):
    def test_functions_named_as_those_of_fortran(self):
        """MPI's entries for Fortran have such names where compilers add no underscores."""
        self.right("static long told; void mpi_init(int n) { told = n; } int mpi_send(int n) { return n + 1; } void mpi_barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }",
                   "mpi_init(i); mpi_barrier(); result += mpi_send(told);")

    def test_headers_of_a_library_that_is_installed(self):
        """CMake names their directories by -isystem; what is in them is the program's as by -I."""
        self.write("inst alled/include/list.h", """
            #include <stdlib.h>
            struct entry { int v; struct entry *next; }; struct list { struct entry *first; long size; };
            static inline void put(struct list *l, int v) { struct entry *e = malloc(sizeof *e); e->v = v; e->next = l->first; l->first = e; l->size++; }""")
        for words in (("-isystem", "inst alled/include"), ("-isysteminst alled/include",), ("-Iinst alled/include",)):
            self.right("#include <list.h>\nstatic struct list *all; static long sum(struct list l) { long s = 0; struct entry *e; s += deep(1, 1); for (e = l.first; e; e = e->next) s += e->v; return s + l.size; }",
                       "if (all == NULL) all = calloc(1, sizeof *all); put(all, i); result += sum(*all);", *words)
        # Those of a C library stay the system's, wherever they are.
        self.write("c library/include/stdio.h", "#include_next <stdio.h>\n")
        self.write("c library/include/seen.h", "static inline int counts(void) { static int n; return ++n; }\n")
        self.write("prog.c", PROGRAM % ("#include <seen.h>", "result += counts();"))
        self.assertIn("counts(): it is in none of the files", self.cc("-isystem", "c library/include", "prog.c", "-o", "prog"))

    def test_one_command(self):
        self.write("prog.c", PROGRAM % ("", ""))
        self.cc("prog.c", "-O2", "-Wall", "-o", "prog")
        self.assert_restarts("prog", ANSWER)

    def test_what_is_compiled_is_kept(self):
        """Also how long a file is, which has another type in programs of 32 bits than in the library."""
        self.write("prog.c", PROGRAM % ("#include <unistd.h>\n#include <sys/mman.h>", 'if (i < 0) { truncate("x", i); mmap(NULL, i, 0, 0, -1, 4096); }'))
        place = re.search("what is compiled of prog.c: (.*)", self.cc("prog.c", "-w", "-felc-keep", "-o", "prog")).group(1)
        with open(place) as file:
            text = file.read()
        for part in ("elc_f.elc_h.label", "ELC_Program_truncate(const char *, long long)", "int, int, int, long long)"):
            self.assertIn(part, text)
        shutil.rmtree(os.path.dirname(os.path.dirname(place)))

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
        self.assert_restarts("prog", ANSWER)
        self.assertNotIn(".elc", self.run_words("readelf", "-S", "-W", "prog"))

    def test_ended_by_a_signal(self):
        """In the middle of anything, and all of its processes."""
        many = "".join("static long f%d(long *v, int n) { long *p = v + n; deep(1, 1); return p[-1]; }\n" % k for k in range(200))
        self.write("prog.c", PROGRAM % (many, "{ long v[2] = {i, i}; result += f7(v, 1); }"))
        for _ in range(20):
            job = subprocess.Popen([self.wrapper, "prog.c", "-w", "-o", "prog"], cwd=self.home, env=self.environment, start_new_session=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(self.chance.random() * .5)
            try:
                os.killpg(job.pid, signal.SIGTERM)
                job.wait(60)
                deadline = time.monotonic() + 60
                while time.monotonic() < deadline:
                    os.killpg(job.pid, 0)
                    time.sleep(.02)
                os.killpg(job.pid, signal.SIGKILL)
                self.fail("some of it is still there")
            except ProcessLookupError:
                job.wait(60)

    def test_compiled_once(self):
        """What elc-cc has nothing to do with is what the compile step has made of it, also of an archive's members; not what calls MPI by its
        other names, and not where the linker would compile it."""
        there = tempfile.mkdtemp(prefix="elc-cc-")
        self.addCleanup(shutil.rmtree, there)
        compiler, log = os.path.join(there, "cc"), os.path.join(there, "log")
        with open(compiler, "w") as file:
            file.write('#!/bin/sh\nfor word; do case " $* $word" in *" cpp-output "*.i) echo "${word##*/}" >> %s;; esac; done\nexec gcc "$@"\n' % log)
        os.chmod(compiler, 0o755)
        self.environment["ELC_CC"] = compiler
        self.write("leaf.c", "#include <mpi.h>\n#include <stdio.h>\nlong leaf(long x) { return x * FACTOR + (MPI_COMM_NULL == MPI_COMM_WORLD); }\n")
        self.write("kept.c", "static long last; long kept(long x) { long was = last; last = x % 10; return was; }\n")
        self.write("made.c", "#include <stdlib.h>\nlong *made(long x) { long *p = malloc(sizeof *p); *p = x; return p; }\n")
        self.write("other.c", "#include <mpi.h>\nint other(void) { int n; PMPI_Comm_size(MPI_COMM_WORLD, &n); return n; }\n")
        self.write("prog.c", PROGRAM % ("#include <stdlib.h>\nlong leaf(long), kept(long), *made(long); int other(void);", "{ long *p = made(leaf(i) + kept(i)); result += *p * other(); free(p); }"))
        for flags, again in ((("-O2",), {"prog.i", "kept.i", "made.i", "other.i"}), (("-O2", "-flto"), {"prog.i", "kept.i", "made.i", "other.i", "leaf.i"})):
            for name in ("prog", "leaf", "kept", "made", "other"):
                self.cc(*flags, "-DFACTOR=3", "-c", name + ".c")
            self.run_words("ar", "rcs", "libleaf.a", "leaf.o", "kept.o")
            self.cc(*flags, "prog.o", "made.o", "other.o", "libleaf.a", "-o", "prog")
            with open(log) as file:
                self.assertEqual(set(file.read().split()), again)
            os.remove(log)
            shutil.copy(os.path.join(self.home, "prog"), os.path.join(self.home, "prog" + flags[-1]))
        for name in ("prog", "leaf", "kept", "made", "other"):
            self.cc("-DFACTOR=3", "-c", name + ".c", "-felc-off")
        self.cc("prog.o", "leaf.o", "kept.o", "made.o", "other.o", "-o", "plain", "-felc-off")
        for program in ("prog-O2", "prog-flto"):
            self.assert_restarts(program, self.start("plain"))

    def test_shared_libraries(self):
        """Of the program's own, which are part of it: one that needs another, an archive in it, a library that the program does not name,
        a function that the program has instead of a library's, and what is called before main()."""
        self.write("one.c", "#include <math.h>\n#include <mpi.h>\nstatic long total; long counted; static long part(long x) { return x * 2; }\n"
                            "long one(long x) { long s; x = part(x); MPI_Allreduce(&x, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); counted++; return total += s + (long)sqrt(counted); }\n")
        self.write("two.c", "#include <mpi.h>\nlong one(long), three(long), hook(long);\nstatic long part(long x) { return x + 1; }\nlong two(long x) { MPI_Barrier(MPI_COMM_WORLD); return three(one(hook(part(x)))); }\n")
        self.write("hook.c", "long hook(long x) { return x; }\n")
        self.write("starts.c", "extern long counted; static __attribute__((constructor)) void start(void) { counted = 5; }\n")
        self.write("three.c", "static long last; long three(long x) { long was = last; last = x % 1000; return was; }\n")
        self.write("unwanted.c", "long nowhere(void); long unwanted(void) { return nowhere(); }\n")
        self.write("prog.c", PROGRAM % ("long two(long); extern long counted; long hook(long x) { return x + 2; }", "result += two(i) + counted;"))
        for off in (), ("-felc-off",):
            self.cc("-fPIC", "-c", "-O1", "three.c", "unwanted.c", *off)
            self.run_words("ar", "rcs", "libthree.a", "three.o", "unwanted.o")
            os.makedirs(os.path.join(self.home, "lib"), exist_ok=True)
            self.cc("-shared", "-fPIC", "one.c", "-Wl,-soname,libone.so.1", "-o", "lib/libone.so.1", "-lm", *off)
            self.cc("-shared", "-fPIC", "two.c", "hook.c", "starts.c", "lib/libone.so.1", "-L.", "-lthree", "-Wl,-rpath,$ORIGIN", "-o", "lib/libtwo.so", *off)
            if not off: self.run_words("strip", "lib/libtwo.so")
            self.cc("prog.c", "-Llib", "-ltwo", "lib/libone.so.1", "-ltwo", "-Wl,-rpath," + os.path.join(self.home, "lib").replace(" ", "\\ "), "-o", "plain" if off else "prog", *off)
            if not off: os.rename(os.path.join(self.home, "lib"), os.path.join(self.home, "gone"))
        out = self.start("plain", LD_LIBRARY_PATH=os.path.join(self.home, "lib"))
        self.assertNotEqual(out, ANSWER)
        self.assert_restarts("prog", out)

    def test_other_names(self):
        """Of functions, as Fortran has them, weak ones and such that are chosen; what is called before main() and by a handler of that."""
        self.write("other.c", """#include <mpi.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
static long total, caught; static char text[] = "1 22 333 4444";
static void on_signal(int n) { caught += rand() % 10 + n; }
static __attribute__((constructor)) void start(void) { signal(SIGUSR1, on_signal); }
static long all(long x) { long s; MPI_Allreduce(&x, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); return total += s + caught; }
long all_(long x) __attribute__((alias("all")));
long word(int i) { const char *w; strcpy(text, "1 22 333 4444"); w = strtok(i % 4 == 0 ? text : NULL, " "); return w == NULL ? 0 : strlen(w); }
long word_(int i) __attribute__((weak, alias("word")));
long also(int i) { return i + drand48() * 10; }
extern long also_(int i);
#pragma weak also_ = also
static long one(void) { return all(1); }
static long (*choose(void))(void) { return one; }
long chosen(void) __attribute__((ifunc("choose")));
""")
        self.write("prog.c", PROGRAM % ("#include <signal.h>\nlong all_(long), word_(int), also_(int), chosen(void);", "raise(SIGUSR1); result += all_(i) + word_(i) + also_(i) + chosen();"))
        self.cc("prog.c", "other.c", "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", "other.c", "-w", "-o", "prog")
        for _ in range(3):
            self.assert_restarts("prog", self.start("plain"))

    def test_libraries_of_others(self):
        """Where all that calls MPI is in one that elc-cc has not compiled no line can be taken, and that is told."""
        self.write("one.c", "#include <mpi.h>\nlong one(long x) { long s; MPI_Allreduce(&x, &s, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); return s; }\n")
        self.write("prog.c", "#include <mpi.h>\nlong one(long);\nint main(int argc, char **argv) { MPI_Init(&argc, &argv); one(1); MPI_Finalize(); return 0; }\n")
        self.cc("-shared", "-fPIC", "one.c", "-o", "libone.so", "-felc-off")
        self.assertIn("sends, receives or waits by MPI: the program is linked without libELC, and takes no lines", self.cc("prog.c", "-L.", "-lone", "-o", "prog"))
        self.write("two.c", "long other(long); long two(long x) { return other(x); }\n")
        os.makedirs(os.path.join(self.home, "deep"))
        self.write("other.c", "long other(long x) { return x + 1; }\n")
        self.cc("-shared", "-fPIC", "other.c", "-Wl,-soname,libother.so", "-o", "deep/libother.so")
        self.cc("-shared", "-fPIC", "two.c", "deep/libother.so", "-Wl,-soname,libtwo.so", "-o", "libtwo.so")
        self.write("plain.c", "long two(long);\nint main(void) { return (int)two(-1); }\n")
        self.cc("plain.c", "libtwo.so", "-Wl,-rpath-link,deep", "-o", "nothing")
        self.write("calls.c", PROGRAM % ("long two(long);", "result += two(i);"))
        self.cc("calls.c", "libtwo.so", "-Wl,-rpath-link", "-Wl,deep/", "-Wl,-rpath-link,deep", "-o", "calls")
        self.assertIn("result: ", self.start("calls"))

    def test_headers_of_libraries(self):
        """By -isystem, and that say it of themselves: what they define is part of lines."""
        self.write("sys/lib.h", "static int lib_state; static double lib_sum[3]; int lib_level; static const char *lib_name = \"lib\";\n#define NEXT() (lib_state = lib_state * 5 + 1)\n")
        self.write("own/gen.h", "#pragma GCC system_header\nstatic long gen_state = 3;\n")
        self.write("prog.c", PROGRAM % ('#include <lib.h>\n#include "gen.h"', "lib_level += i & 1; lib_sum[i % 3] += i; gen_state += i; deep(1, 1); result += NEXT() % 1000 + lib_level + lib_sum[1] + lib_name[0] + gen_state;"))
        words = ("-w", "-isystem", "sys", "-Iown", "prog.c", "-o")
        self.cc(*words, "plain", "-felc-off")
        self.cc(*words, "prog")
        self.assert_restarts("prog", self.start("plain"))

    def test_characters_of_sources(self):
        """What the preprocessor has converted is not converted again; and the name of a file may have any character."""
        with open(os.path.join(self.home, "prog.c"), "w", encoding="latin-1") as file:
            file.write('#line 7 "a \\"strange\\" name.c"\n' + PROGRAM % ("", 'const char *word = "\u00e9t\u00e9"; char letters[] = "\u00e9"; deep(1, 1); result += strlen(word) + sizeof letters + strlen(__FILE__);'))
        self.cc("prog.c", "-finput-charset=ISO-8859-1", "-o", "plain", "-felc-off")
        self.cc("prog.c", "-finput-charset=ISO-8859-1", "-o", "prog")
        self.assert_restarts("prog", self.start("plain"))
        self.assertIn("would have other characters", self.cc("prog.c", "-fexec-charset=ISO-8859-1", "-o", "prog", code=1))

    def test_files_of_one_name(self):
        """Functions, variables, strings and structs of files that are called the same are told apart."""
        for folder, members in ("a", "long n; double x;"), ("b", "double x; int n[3];"):
            self.write(folder + "/part.h", "struct Part { %s };\n" % members)
            self.write(folder + "/part.c", """#include <mpi.h>
#include "part.h"
static long setgid(long x);
static struct Part kept;
static long reach(long x) { static long calls; long sum; const char *name = "%s"; MPI_Allreduce(&x, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); kept.x += 1; return sum + name[0] + ++calls; }
static long setgid(long x) { return reach(x) + (long)kept.x; }
long part_%s(long x) { return setgid(x); }
""" % (folder, folder))
        self.write("prog.c", PROGRAM % ("long part_a(long), part_b(long);", "result += part_a(result % 7) + part_b(i);"))
        self.cc("prog.c", "a/part.c", "b/part.c", "-o", "prog")
        self.cc("-felc-off", "prog.c", "a/part.c", "b/part.c", "-o", "plain")
        self.assert_restarts("prog", self.start("plain"))
        # What one file defines for itself says nothing of what another one calls.
        self.write("prog.c", PROGRAM % ("#include <unistd.h>\nlong part_a(long), part_b(long);", 'result += setgid(1);'))
        self.assertIn("prog.c:22: setgid(): what it sets", self.cc("prog.c", "a/part.c", "b/part.c", "-o", "prog"))

    def test_variables_in_common(self):
        self.write("other.c", "long shared; double table[4];\nvoid other(void) { shared += 1; table[1] += shared; }\n")
        self.write("prog.c", PROGRAM % ("long shared; double table[4]; void other(void);", "other(); result += shared + table[1];"))
        self.cc("-fcommon", "prog.c", "other.c", "-o", "prog")
        self.cc("-fcommon", "prog.c", "other.c", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))

    def test_common_blocks(self):
        """As f2c makes them: each file has its own names, and perhaps less of them; not as other types."""
        inside = "{ int k; other(i); com_.n += i; for (k = 0; k < 4; k++) result += (long)com_.x[k] + (long)blank_.v[k]; result += com_.n; }"
        self.write("prog.c", PROGRAM % ("struct { double x[4]; int n; } com_; struct { double v[8]; } blank_; void other(int);", inside))
        self.write("other.c", "struct { double y[2], z[2]; int m; } com_; struct { double u[8], w[9]; } blank_;\n"
                   "void other(int i) { com_.z[i % 2] += com_.m; blank_.w[i % 9]++; blank_.u[i % 8] += i + blank_.w[8]; }\n")
        self.cc("-fcommon", "prog.c", "other.c", "-o", "prog")
        self.cc("-fcommon", "prog.c", "other.c", "-o", "plain", "-felc-off")
        self.assert_restarts("prog", self.start("plain"))
        self.write("other.c", "struct { double y[3]; int k[2], m; } com_;\nvoid other(int i) { com_.k[i % 2] += com_.m; }\n")
        self.cc("-fcommon", "prog.c", "other.c", "-o", "prog")
        self.assert_refuses_line("files of the program define 'com_' as variables of different types")

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

    def test_library_of_another_mpi(self):
        """Which would be a thousand messages of the linker."""
        self.write("prog.c", PROGRAM % ("", ""))
        there = tempfile.mkdtemp(prefix="elc-cc-")
        self.addCleanup(shutil.rmtree, there)
        library = os.path.join(there, "libelc.a")
        with open(os.path.join(self.build.path, "src", "mpi", "libelc.a"), "rb") as file:
            content = file.read()
        with open(library, "wb") as file:
            file.write(content.replace(b"ompi_mpi_comm_world", b"lam_mpi_comm_world_") if self.build.mpi == "openmpi" else content + b"ompi_mpi_comm_world")
        said = self.cc("prog.c", "-felc-library=" + library, "-o", "prog", code=1)
        self.assertRegex(said, r"libelc\.a is for .*, and prog\.c for .*: -felc-library=PATH names the one that was built for that")
        self.assertNotIn("undefined reference", said)
        self.assertIn("libelc.anone is not found: -felc-library=PATH says where the library is", self.cc("prog.c", "-felc-library=" + library + "none", "-o", "prog", code=1))

    def test_installed(self):
        there = tempfile.mkdtemp(prefix="elc-cc-")  # a wrapper's compiler has no blanks in its name
        self.addCleanup(shutil.rmtree, there)
        self.run_words("meson", "install", "--no-rebuild", "-C", self.build.path, "--destdir", there)
        for folder, _, files in os.walk(there):
            if "elc-cc" in files:
                self.environment[WRAPPER[self.build.mpi][1]] = os.path.join(folder, "elc-cc")
        self.write("prog.c", PROGRAM % ("", ""))
        self.cc("prog.c", "-o", "prog")
        self.assertEqual(self.start("prog"), ANSWER)
