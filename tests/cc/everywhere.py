#!/usr/bin/env python3
"""everywhere.py BUILD DIRECTORY [PROGRAM...] [--lines N]: C programs without MPI, one a file, as compilers' test suites
have them (c-testsuite, GCC's torture tests; from a copy of yours). Each is compiled plain, and by elc-cc with frames in all its
functions and a site at the beginning of each (-felc-everywhere); both have to print the same. With --lines it is examined by
`elc doctor`, too: lines at N of its sites, a restart from each, compared with the run without a failure."""

import argparse
import collections
import glob
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402
from cc_test import WRAPPER  # noqa: E402

PATIENCE = 120  # seconds


class Suite:
    def __init__(self, build, lines):
        self.build, self.lines = build, lines
        self.home = tempfile.mkdtemp(prefix="elc-everywhere-")
        self.wrapper, variable = WRAPPER[build.mpi]
        self.environment = dict(os.environ, ELC_CC="gcc", **launch.environment(build.mpi, self.home))
        self.environment[variable] = os.path.join(build.path, "src", "cc", "elc-cc")
        self.tally = collections.Counter()

    def run(self, *words):
        """Exit code and output; None after very long."""
        here = tempfile.mkdtemp(dir=self.home)
        try:
            done = subprocess.run(words, cwd=here, env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, timeout=PATIENCE)
            return done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return None
        finally:
            shutil.rmtree(here, ignore_errors=True)

    def outcome(self, source):
        plain, program = os.path.join(self.home, "plain"), os.path.join(self.home, "program")
        flags = ["-w", "-std=gnu11", source, "-lm", "-o"]
        if self.run("gcc", *flags, plain)[0] != 0:
            return "not compiled by gcc either", ""
        code, said = self.run(self.wrapper, *flags, program, "-felc-everywhere")
        if code != 0:
            made = "does not compile" in said or "elc-cc: " not in said
            return "FAILED: made something that does not compile" if made else "refused", said
        expected, found = self.run(plain), self.run(program)
        if expected != found:
            return "FAILED: another answer", "%s\n%s" % (expected, found)
        if not self.lines:
            return "same", ""
        elc = self.build.program("elc")
        examined = self.run(elc, "doctor", "-n", "1", "--mpi", self.build.mpi, "--lines", str(self.lines), "--", program)
        if examined is None or examined[0] != 0:
            return "FAILED: examined by elc doctor", "" if examined is None else examined[1]
        return "same, and right after %d restarts at most" % self.lines, ""

    def all(self, sources):
        for source in sources:
            outcome, said = self.outcome(source)
            self.tally[outcome] += 1
            if not outcome.startswith("same"):
                print("%s: %s\n    %s" % (source, outcome, said.strip()[-600:].replace("\n", "\n    ")), flush=True)
        shutil.rmtree(self.home, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("directory")
    p.add_argument("programs", nargs="*", help="names without .c (default: all)")
    p.add_argument("--lines", type=int, default=0)
    options = p.parse_args()
    suite = Suite(launch.Build(options.build), options.lines)
    names = options.programs or sorted(os.path.basename(f)[:-2] for f in glob.glob(os.path.join(options.directory, "*.c")))
    suite.all(os.path.abspath(os.path.join(options.directory, name + ".c")) for name in names)
    for outcome, count in sorted(suite.tally.items()):
        print("%4d %s" % (count, outcome))
    sys.exit(any(outcome.startswith("FAILED") for outcome in suite.tally))


if __name__ == "__main__":
    main()
