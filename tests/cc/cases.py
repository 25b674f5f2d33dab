"""What the tests of elc-cc share: a directory, the compiler, and how a program takes a line and is restarted from it."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402
from draw import SEED  # noqa: E402

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

ANSWER = "result: 12400\n"  # of two ranks, with nothing more: 100 times 2 * (i + 5) + 15, summed


class Cases(unittest.TestCase):
    build = None  # launch.Build: set by cc_test.py

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="elc cc ")  # a name with blanks
        self.wrapper, variable = WRAPPER[self.build.mpi]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
        self.environment.update(launch.environment(self.build.mpi, self.home))
        self.environment[variable] = os.path.join(self.build.path, "src", "cc", "elc-cc")
        self.tool = os.path.join(self.build.path, "src", "tool", "elc")
        self.environment["ELC_CC"] = "gcc"
        self.environment["MALLOC_PERTURB_"] = "128"  # not drawn: a plain program that reads what malloc left, as 0x7f, has always the same answer
        self.chance = random.Random("%d %s" % (SEED, self.id()))

    def tearDown(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def write(self, name, text):
        path = os.path.join(self.home, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        return path

    def read(self, name):
        with open(os.path.join(self.home, name)) as file:
            return file.read()

    def run_words(self, *words, code=0, given="", **variables):
        done = subprocess.run(words, cwd=self.home, env=dict(self.environment, **variables), input=given,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        if code is not None:
            self.assertEqual(done.returncode, code, "%s\n%s" % (words, done.stdout))
        return done.stdout

    def cc(self, *words, **keywords):
        return self.run_words(self.wrapper, *words, **keywords)

    def start(self, program, ranks=2, given="", code=0, **variables):
        names = ["PATH", *variables]
        return self.run_words(*launch.launcher(self.build.mpi, ranks, names), os.path.join(self.home, program), given=given, code=code, **variables)

    def planned(self, program, site=None, code=0, **variables):
        """What it prints, and what is said; its two processes take a line at this site or beside it (src/mpi/runtime/examination.h), or each at its own; lines at several,
        if it is a text with these."""
        looked = tempfile.mkdtemp(dir=self.home)
        with open(os.path.join(looked, "plan"), "w") as file:
            for rank in range(2):
                own = site[rank] if isinstance(site, tuple) else site if site is None or isinstance(site, str) else site + rank * self.chance.randrange(-1, 2)
                file.write("%d 0 1%s\n" % (rank, "" if own is None else " %s" % own))
        said = self.start(program, code=code, ELC_DIR=os.path.join(self.home, "lines"), ELC_DOCTOR=looked, ELC_EVERY="0", ELC_VERBOSE="1", **variables)
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

    def restarts_from_all(self, program, sites, more=None, others=()):
        """With lines at these sites the answer is the plain program's, and so it is behind a restart from each; from the first with lines
        at `more`, too. `others`: files of the program that are there."""
        self.write("prog.c", program)
        self.cc("prog.c", *others, "-w", "-o", "plain", "-felc-off")
        self.cc("prog.c", *others, "-w", "-o", "prog")
        expected = self.start("plain")
        out, said = self.planned("prog", sites, ELC_KEEP="20")
        self.assertEqual(out, expected, said)
        self.assertEqual(launch.committed(os.path.join(self.home, "lines")), list(range(1, len(sites.split()) + 1)), said)
        for line in range(len(sites.split()), 0, -1):  # a restart removes those behind its own
            out, said = self.planned("prog", more if line == 1 else None, ELC_KEEP="20", ELC_RESTART=str(line))
            self.assertIn("restarting from line", said)
            self.assertNotIn("abandoned", said)
            self.assertEqual(out, expected, said)
        shutil.rmtree(os.path.join(self.home, "lines"))

    def take_line(self, program, **variables):
        """In the middle; returns what is said."""
        out, said = self.planned(program, self.chance.randrange(30, 90), **variables)
        self.assertIn("result: ", out)
        return said

    def assert_refuses_line(self, pattern, **variables):
        """Such a line is not taken, and the program goes on."""
        self.assertRegex(self.take_line("prog", **variables), pattern)
        self.assertEqual(launch.committed(os.path.join(self.home, "lines")), [])
        shutil.rmtree(os.path.join(self.home, "lines"))

    def right(self, outside, inside, *words):
        """The answer is the plain program's, and a restart's, too."""
        self.write("prog.c", PROGRAM % (outside, inside))
        self.cc("prog.c", "-w", "-o", "plain", *words, "-felc-off")
        self.cc("prog.c", "-w", "-o", "prog", *words)
        self.assert_restarts("prog", self.start("plain"))
