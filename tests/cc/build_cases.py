"""What is the same in another compilation of the same sources, which has other calls, texts and variables, or links them in another order."""

import os
import re
import shutil

from cases import Cases, launch, PROGRAM


class Builds(Cases):
    def lines_of(self, program, sites):
        """The output of its run, in which a line is taken at each."""
        out, said = self.planned(program, sites, ELC_KEEP="20")
        self.assertEqual(launch.committed(os.path.join(self.home, "lines")), list(range(1, len(sites.split()) + 1)), said)
        shutil.copytree(os.path.join(self.home, "lines"), os.path.join(self.home, "taken"))
        return out

    def restarted(self, program, line, code=0):
        shutil.rmtree(os.path.join(self.home, "lines"))
        shutil.copytree(os.path.join(self.home, "taken"), os.path.join(self.home, "lines"))
        return self.planned(program, ELC_RESTART=str(line), ELC_KEEP="20", code=code)

    def test_calls_that_not_all_have(self):
        """In front of those that all have, and behind them: a restart goes on at the same call, or ends where there is none."""
        self.write("prog.c", r"""
#include <mpi.h>
#include <stdio.h>
static void sync(void) { MPI_Barrier(MPI_COMM_WORLD); }
static long red(long x) { MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); return x % 1000003; }
static long step(long x, int i) {
#ifdef MORE
  { long k = red(x) + red(i); sync(); x += k - k; }
#endif
  { long k = x + i; x = red(k) + red(k * 2) + k; }
  x = red(x * 3); MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_LONG, MPI_MAX, MPI_COMM_WORLD);
  MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); x = red(x + 1);
#ifndef MORE
  sync();
#endif
  return x;
}
int main(int argc, char **argv) {
  int i, rank; long x = 1;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 9; i++) { x = step(x, i); if (rank == 0) printf("%d %ld\n", i, x); }
  MPI_Finalize();
  return 0;
}
""")
        self.cc("prog.c", "-o", "more", "-DMORE")
        self.cc("prog.c", "-o", "less", "-O2")
        for one, other, calls, own in (("more", "less", 9, (1, 2, 3)), ("less", "more", 7, (7,))):
            out = self.lines_of(one, " ".join(map(str, range(2 * calls + 1, 3 * calls + 1))))  # in the third step
            for line in range(1, calls + 1):
                found, said = self.restarted(other, line, code=None if line in own else 0)
                if line in own:
                    self.assertIn("step() does not make the call in which the line was taken", said)
                else:
                    self.assertTrue(found != "" and out.endswith(found), "%s\n%s" % (found, said))
            shutil.rmtree(os.path.join(self.home, "taken"))
            shutil.rmtree(os.path.join(self.home, "lines"))

    def test_calls_of_one_line(self):
        """Of which not all compilations have the first: they differ in what they are given."""
        self.write("prog.c", r"""
#include <mpi.h>
#include <stdio.h>
#ifdef MORE
#define FIRST(X) X(a)
#else
#define FIRST(X)
#endif
#define ALL(X) FIRST(X) X(b) X(c) X(d)
#define SUM(v) MPI_Allreduce(MPI_IN_PLACE, &v, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD); v %= 10007;
static long a, b, c, d;
static void step(int i) { b += i; c += b; d += c; ALL(SUM) }
int main(int argc, char **argv) {
  int i, rank;
  MPI_Init(&argc, &argv); MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < 9; i++) { step(i); if (rank == 0) printf("%d %ld %ld %ld\n", i, b, c, d); }
  MPI_Finalize();
  return 0;
}
""")
        self.cc("prog.c", "-o", "more", "-DMORE")
        self.cc("prog.c", "-o", "less", "-O2")
        out = self.lines_of("more", "13 14 15 16")
        for line in (1, 2, 3, 4):
            found, said = self.restarted("less", line, code=None if line == 1 else 0)
            if line == 1: self.assertIn("step() does not make the call in which the line was taken", said)
            else: self.assertTrue(found != "" and out.endswith(found), "%s\n%s" % (found, said))

    def test_texts_that_not_all_have(self):
        """Pointers lead to the same texts, wherever these are in the file."""
        self.write("prog.c", PROGRAM % (r"""
#ifdef MORE
#define CHECK(x) if (!(x)) fail("chk")
#else
#define CHECK(x)
#endif
static const char *last; static void fail(const char *s) { last = s; }
static const char *pick(int c) { if (c == 0) return "red"; CHECK(c > 0); if (c == 1) return "sky"; CHECK(c < 9); return c == 2 ? "mud" : "ice"; }
static const char *kept[100];""", r"""
    kept[i] = pick(i % 4); deep(1, 1);
    for (int k = 0; k <= i; k++) result += kept[k][0] * (k + 1) + kept[k][2] + (kept[k] == pick(1));
#ifndef MORE
    if (result < 0) fail("sum"), fail("all");
#endif
    result += last ? last[0] : 0;"""))
        self.cc("prog.c", "-w", "-o", "more", "-DMORE")
        self.cc("prog.c", "-w", "-o", "less", "-O2")
        for one, other in (("more", "less"), ("less", "more")):
            out = self.lines_of(one, "40 90")
            for line in (1, 2):
                found, said = self.restarted(other, line)
                self.assertEqual(found, out, said)
                self.assertNotIn("left out", said)
            shutil.rmtree(os.path.join(self.home, "taken"))
            shutil.rmtree(os.path.join(self.home, "lines"))

    def test_variables_that_not_all_have(self):
        """Of a name that another one of the function has."""
        self.write("prog.c", PROGRAM % (r"""
static long count(long x) {
#ifdef MORE
  { static int n; n += 3; x += n - n; }
#endif
  { static int n = 100; n += 2; x += n; }
  return x;
}""", "result += count(i); deep(1, 1);"))
        self.cc("prog.c", "-w", "-o", "more", "-DMORE")
        self.cc("prog.c", "-w", "-o", "less")
        for one, other in (("more", "less"), ("less", "more")):
            out = self.lines_of(one, "50")
            self.assertEqual(self.restarted(one, 1)[0], out)
            self.assertRegex(self.restarted(other, 1, code=None)[1], r"the line has 'count\.n.*, and the program has 'count\.n.* instead: it is another one")
            shutil.rmtree(os.path.join(self.home, "taken"))
            shutil.rmtree(os.path.join(self.home, "lines"))

    def test_variables_that_only_checks_ask_for(self):
        """Without these nobody asks for them behind the call; with them, a line that has them not is refused, and so is a pointer to one."""
        self.write("prog.c", PROGRAM % (r"""
#include <assert.h>
static long *last;
static long twice(long n) { long before = n * 3, sum = deep(n, 1); assert(before == n * 3 && sum > 0); return sum; }
static long kept(long n) { long own = n; last = LAST; n = deep(n, 1) + *last; last = 0; return n; }
static long there; """, "result += twice(i); last = &there; result += kept(i);"))
        self.cc("prog.c", "-w", "-o", "checked", "-DLAST=(assert(n>=0),&n)")
        self.cc("prog.c", "-w", "-o", "plain", "-O2", "-DNDEBUG", "-DLAST=&n")
        self.cc("prog.c", "-w", "-o", "other", "-DNDEBUG", "-DLAST=&own")
        out = self.lines_of("checked", "30 31 32 33")
        results = []
        for line in (1, 2, 3, 4):
            found, said = self.restarted("plain", line)
            self.assertEqual(found, out, said)
            said = self.restarted("other", line, code=None)[1]
            results.append(bool(re.search("which the program has not registered|has registered '|which the line does not have", said)))
        self.assertIn(True, results)
        shutil.rmtree(os.path.join(self.home, "taken"))
        shutil.rmtree(os.path.join(self.home, "lines"))
        self.lines_of("plain", "30 31 32 33")
        refused = [re.search("the program has registered '(before|sum|n)' .* which the line does not have", self.restarted("checked", line, code=None)[1]) for line in (1, 2, 3, 4)]
        self.assertTrue(any(refused))

    def test_objects_in_another_order(self):
        """Of files of one name, and of one file that was compiled several times."""
        text = "static int n = %s; static struct part { long v; struct part *next; } *parts; long %s(long x) { struct part *p = malloc(sizeof *p); p->v = x + n++; p->next = parts; parts = p; for (x = 0; p; p = p->next) x += p->v; return x; }\n"
        self.write("one/util.c", "#include <stdlib.h>\n" + text % ("1", "one"))
        self.write("two/util.c", "#include <stdlib.h>\n" + text % ("50", "two"))
        self.write("kind.c", "#include <stdlib.h>\n#define JOIN(a, b) a##b\n#define NAME(b) JOIN(kind, b)\n" + text % ("100 * KIND", "NAME(KIND)"))
        self.write("main.c", PROGRAM % ("long one(long), two(long), kind3(long), kind4(long);", "result += one(i) + 2 * two(i) + 3 * kind3(i) + 4 * kind4(i); deep(1, 1);"))
        for folder in ("one", "two"):
            self.run_words("sh", "-c", "cd %s && %s -c util.c -o ../%s.o" % (folder, self.wrapper, folder))
        for kind in ("3", "4"):
            self.cc("-c", "kind.c", "-DKIND=" + kind, "-o", "kind%s.o" % kind)
        self.cc("-c", "main.c")
        self.cc("main.o", "one.o", "two.o", "kind3.o", "kind4.o", "-o", "prog")
        self.cc("kind4.o", "two.o", "one.o", "main.o", "kind3.o", "-o", "other")
        out = self.lines_of("prog", "50")
        found, said = self.restarted("other", 1)
        self.assertEqual(found, out, said)
