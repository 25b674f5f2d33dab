#!/usr/bin/env python3
"""everywhere.py BUILD DIRECTORY [PROGRAM...] [--lines N]: C programs without MPI, one a file, as compilers' test suites
have them (c-testsuite, GCC's torture tests; from a copy of yours). Each is compiled plain, and by elc-cc with frames in all its
functions and a site at the beginning of each (-felc-everywhere); both have to print the same and end the same way. With --lines a
third run takes lines at N of its sites, and is restarted from each, at other addresses: the restart has to print what the run has
printed behind the line. With --doctor `elc doctor` examines it, which sees more and takes longer.

everywhere.py BUILD --csmith N [--seed S]: the same with N programs that csmith makes, of the seeds from S."""

import argparse
import collections
import concurrent.futures
import glob
import os
import random
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402
from cases import WRAPPER  # noqa: E402

PATIENCE = 120  # seconds
PATIENCE_WITH_PROGRAMS = 5  # of csmith: some never end
CSMITH = "/usr/include/csmith"
# One process that talks to nobody: what an MPI looks for at its beginning costs more than most of the programs.
ALONE = {"openmpi": {"OMPI_MCA_ess_singleton_isolated": "1", "OMPI_MCA_btl": "self", "OMPI_MCA_pml": "ob1",
                     "OMPI_MCA_coll": "basic,self,libnbc,inter", "HWLOC_COMPONENTS": "-pci,-linuxio"}}


def read(*path):
    with open(os.path.join(*path), "rb") as file:
        return file.read()


class Case:
    """A program, and what becomes of it in a directory of its own."""

    def __init__(self, suite, name, options, patience=PATIENCE):
        self.suite, self.name, self.options, self.patience = suite, name, options, patience
        self.home = tempfile.mkdtemp(dir=suite.home)

    def run(self, *words, patience=PATIENCE, **variables):
        """Exit code and output; None after very long."""
        here = tempfile.mkdtemp(dir=self.home)
        try:
            done = subprocess.run(words, cwd=here, env=dict(self.suite.environment, **variables), stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=patience)
            return done.returncode, done.stdout.decode(errors="replace")
        except subprocess.TimeoutExpired:
            return None
        finally:
            shutil.rmtree(here, ignore_errors=True)

    def outcome(self, source):
        try:
            return self.compare(source)
        finally:
            shutil.rmtree(self.home, ignore_errors=True)

    def compare(self, source):
        plain, program = os.path.join(self.home, "plain"), os.path.join(self.home, "program")
        flags = ["-w", "-std=gnu11", *self.options, source, "-lm", "-o"]
        if self.run(self.suite.compiler, *flags, plain)[0] != 0:
            return "not compiled by %s either" % self.suite.compiler, ""
        expected = self.run(plain, patience=self.patience)
        if expected is None:
            return "does not end", ""
        made = self.run(self.suite.wrapper, *flags, program, "-felc-everywhere")
        if made is None:
            return "FAILED: its compilation does not end", ""
        code, said = made
        if code != 0:
            is_made = "does not compile" in said or "elc-cc: " not in said
            return "FAILED: made something that does not compile" if is_made else "refused", said
        found = self.run(program)
        if expected != found:
            return "FAILED: another answer", "%s\n%s" % (expected, found)
        if self.suite.doctor:
            return self.examine(program)
        return self.restart(program) if self.suite.lines else ("same", "")

    def examine(self, program):
        elc = self.suite.build.program("elc")
        examined = self.run(elc, "doctor", "-n", "1", "--mpi", self.suite.build.mpi, "--lines", str(self.suite.lines or 2), "--", program)
        if examined is None or examined[0] != 0:
            return "FAILED: examined by elc doctor", "" if examined is None else examined[1]
        return "same, and elc doctor has nothing to say", ""

    # ---- Lines at sites that are named, and restarts from them: by the plan of an examination (src/mpi/runtime/examination.h)

    def planned(self, program, name, plan, restart="no"):
        """Exit code, what was printed, and the messages."""
        looked = os.path.join(self.home, name)
        os.makedirs(looked)
        with open(os.path.join(looked, "plan"), "w") as file:
            file.write("0 0 1%s\n" % "".join(" %d" % site for site in plan))
        done = self.run(program, ELC_DIR=os.path.join(self.home, "lines"), ELC_DOCTOR=looked, ELC_EVERY="0", ELC_KEEP="1000", ELC_RESTART=restart,
                        ELC_VERBOSE="1", ELC_INCREMENTAL="1")
        out = os.path.join(looked, "out-0")
        return done and done[0], read(out) if os.path.exists(out) else b"", done and done[1]

    def restart(self, program):
        os.makedirs(os.path.join(self.home, "lines"), mode=0o700)
        code, out, said = self.planned(program, "counted", [])
        if not os.path.exists(os.path.join(self.home, "counted", "sites-0")):
            return "same; it ends without MPI_Finalize", ""
        sites = int(read(self.home, "counted", "sites-0"))
        at = sorted(random.Random(self.name).sample(range(1, sites + 1), min(sites, self.suite.lines)))
        code, out, said = self.planned(program, "taken", at)
        if code is None:
            return "same; it does not end with lines", ""
        points = []
        for number in range(1, len(at) + 1):
            path = os.path.join(self.home, "taken", "point-%d-0" % number)
            if os.path.exists(path):
                _, line, _, site, _, printed = read(path).split(b"\n", 1)[0].split()
                points.append((int(line), int(site), int(printed)))
        committed = set(launch.committed(os.path.join(self.home, "lines")))
        right = 0
        for line, site, printed in reversed(points):
            if line not in committed:
                continue
            again = self.planned(program, "again-%d" % line, [], str(line))
            if again[:2] != (code, out[printed:]):
                return ("FAILED: another answer after a restart",
                        "line %d of site %d of %d: %s instead of %s\n%s" % (line, site, sites, again[:2], (code, out[printed:]), again[2]))
            right += 1
        if right < len(at):
            return "same; a line was refused", said
        return "same, and right after %d restarts" % right, ""


class Suite:
    def __init__(self, build, options):
        self.build, self.lines, self.doctor, self.jobs, self.loud = build, options.lines, options.doctor, options.jobs, options.loud
        self.home = tempfile.mkdtemp(prefix="elc-everywhere-")
        self.wrapper, variable = WRAPPER[build.mpi]
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
        self.compiler = options.compiler
        self.environment.update(launch.environment(build.mpi, self.home), ELC_CC=self.compiler, **ALONE.get(build.mpi, {}))
        self.environment[variable] = os.path.join(build.path, "src", "cc", "elc-cc")
        self.tally = collections.Counter()

    def file(self, path):
        return path, *Case(self, path, []).outcome(path)

    def random(self, seed):
        """Small programs that differ in kind, too; the arithmetic of some is in macros, with blocks in expressions, say."""
        draw = random.Random(seed)
        choices = ["--max-funcs", str(draw.choice((1, 2, 3, 4, 5, 6, 12))), "--max-block-depth", str(draw.randint(1, 4)), "--max-block-size",
                   str(draw.randint(2, 5)), "--max-pointer-depth", str(draw.randint(1, 4)), "--max-struct-fields", str(draw.randint(2, 12)),
                   "--max-expr-complexity", str(draw.randint(2, 10)), "--max-array-len-per-dim", "5"]
        for option in ("volatiles", "bitfields", "consts", "jumps", "unions", "packed-struct", "embedded-assigns", "inline-function",
                       "float", "comma-operators", "volatile-pointers", "const-pointers", "builtins"):
            likely = 0.25 if option in ("unions", "float", "builtins") else 0.6  # most unions may hold an address, and are refused
            choices.append(("--" if draw.random() < likely else "--no-") + option)
        # Without macros there are the same functions each time; for floating point there are no macros.
        macros = [] if "--float" in choices else draw.choice([[], *[["-DUSE_MATH_MACROS"]] * 2, *[["-DUSE_MATH_MACROS_NOTMP"]] * 3])
        options = ["-O%d" % draw.choice((0, 0, 0, 1, 2)), "-I", CSMITH, *macros]
        if "-DUSE_MATH_MACROS_NOTMP" in options:
            choices.append("--math-notmp")
        name = "csmith of seed %d" % seed
        case = Case(self, name, options, PATIENCE_WITH_PROGRAMS)
        source = os.path.join(case.home, "prog.c")
        made = case.run("csmith", "--seed", str(seed), "--output", source, *choices)
        if made is None or made[0] != 0:
            return name, "not made by csmith", ""
        return name, *case.outcome(source)

    def all(self, what, cases):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            for name, outcome, said in pool.map(what, cases):
                self.tally[outcome] += 1
                if self.loud or not outcome.startswith("same") or ";" in outcome:
                    print("%s: %s\n    %s" % (name, outcome, said.strip()[-600:].replace("\n", "\n    ")), flush=True)
        shutil.rmtree(self.home, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("build")
    p.add_argument("directory", nargs="?")
    p.add_argument("programs", nargs="*", help="names without .c (default: all)")
    p.add_argument("--lines", type=int, default=0)
    p.add_argument("--doctor", action="store_true")
    p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--csmith", type=int, metavar="N")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--compiler", default="gcc", help="the real one")
    p.add_argument("--loud", action="store_true", help="name what is right, too")
    options = p.parse_args()
    suite = Suite(launch.Build(options.build), options)
    if options.csmith is not None:
        suite.all(suite.random, range(options.seed, options.seed + options.csmith))
    else:
        names = options.programs or sorted(os.path.basename(f)[:-2] for f in glob.glob(os.path.join(options.directory, "*.c")))
        suite.all(suite.file, [os.path.abspath(os.path.join(options.directory, name + ".c")) for name in names])
    for outcome, count in sorted(suite.tally.items()):
        print("%4d %s" % (count, outcome))
    sys.exit(any(outcome.startswith("FAILED") for outcome in suite.tally))


if __name__ == "__main__":
    main()
