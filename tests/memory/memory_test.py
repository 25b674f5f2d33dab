#!/usr/bin/env python3
"""memory_test.py --build BUILD [--sample N | --all] [--seed S]: memory runs out in the k-th allocation of the library.

The program (tight.c) is run for every step and allocation (or a sample of them), with one allocation that fails, or with
memory that is full from there on, for some steps or for ever; on the way from the start and in a restart. It has to end
with the right answer, its last line has to commit, and every line that was acknowledged has to be whole (elc verify). Only
before the library has set its reserve aside may the job end, and only a restart may refuse, saying why: then nothing has
changed, and the same restart with memory ends with the right answer.

At the end a table says how often what has come of it.
"""

import argparse
import collections
import concurrent.futures
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402

PATIENCE = 120  # seconds; only a hang takes so long
MOST = 60       # allocations of a step that are tried; who waits makes more and more of them, of one kind
LENGTHS = (1, 3, 0)  # steps that memory is full
Case = collections.namedtuple("Case", "ranks mode rank step k length restart")


def wish(case):
    return "%s:%d:%d:%d:%d" % (case.mode, case.rank, case.step, case.k, case.length)


class Failure(Exception):
    pass


class Trial:
    """The program in a directory of its own."""

    def __init__(self, build, elc, scratch, home):
        self.build, self.elc, self.scratch, self.home = build, elc, scratch, home
        self.lines = os.path.join(home, "lines")

    def run(self, ranks, what, **variables):
        """(exit code, result, what was said on standard error)."""
        job = launch.Job(self.build, ranks, self.build.program("tight"), [what], dict(variables, ELC_DIR=self.lines, ELC_COMPRESS="1"),
                         self.scratch, directory=self.home)
        over = job.wait(PATIENCE)
        stacks = "" if over else job.stacks()
        job.vanish() if over else job.destroy()
        result = job.popen.returncode, job.result(), job.complaints()
        job.close()
        if not over:
            raise Failure("no end: a hang?\n" + stacks + result[2])
        return result

    def verify(self):
        if not os.path.exists(self.lines):
            return  # the job ended before it made the directory
        done = subprocess.run([self.elc, "verify", self.lines], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            raise Failure("%s" % done.stdout.decode(errors="replace"))

    def try_case(self, case, expected):
        """The name of what has come of it."""
        before = launch.contents(self.lines)
        code, result, said = self.run(case.ranks, "run", ELC_TEST_MEMORY=wish(case))
        gone = "memory: gone" in said
        ended = "out of memory: " in said
        refused = case.restart and re.search("there is no memory for|out of memory: ", said)
        self.verify()
        if code == 0 and result == expected:
            if ended or (refused and not gone):
                raise Failure("it went on without memory?\n" + said)
            if not gone:
                return "not so many allocations"
            return "a line abandoned, right" if "is abandoned, the program runs on" in said else "right"
        if result is not None or not gone or not (ended or refused):
            raise Failure("code %d, result %s\n%s" % (code, result, said))
        if case.step >= 0 and not case.restart:
            raise Failure("the job has ended\n" + said)
        # Nothing has happened yet, or the line is as it was.
        if {k: v for k, v in launch.contents(self.lines).items() if k in before} != before:
            raise Failure("a restart that was refused has changed its lines\n" + said)
        code, result, said = self.run(case.ranks, "run")
        if code != 0 or result != expected or (case.restart and "restarting from line" not in said):
            raise Failure("afterwards: code %d, result %s\n%s" % (code, result, said))
        return "refused, then right" if case.restart else "no start, then right"


def all_cases(counts):
    """Every case, from the number of allocations by ranks, restart and step."""
    for (ranks, restart, step), count in sorted(counts.items()):
        for k in range(1, count + 1):
            for mode, lengths in (("once", (0,)), ("full", LENGTHS)):
                for length in lengths:
                    yield Case(ranks, mode, (k + length) % ranks, step, k, length, restart)


def by_limit(build, scratch):
    """RLIMIT_AS, and a program that eats all of it."""
    home = tempfile.mkdtemp(prefix="elc-memory-")
    try:
        trial = Trial(build, None, scratch, home)
        code, result, said = trial.run(1, "limit")
        if code != 0 or result is None or "is abandoned, the program runs on: " not in said:
            raise Failure("RLIMIT_AS: code %d, result %s\n%s" % (code, result, said))
        if said.count("is abandoned, the program runs on: ") != 1:
            raise Failure("the same trouble is said more than once\n" + said)
    finally:
        shutil.rmtree(home, ignore_errors=True)


class Test:
    def __init__(self, build, seed):
        self.build = build
        self.elc = os.path.join(build.path, "src", "tool", "elc")
        self.scratch = launch.Scratch()
        self.home = tempfile.mkdtemp(prefix="elc-memory-")
        self.random = random.Random(seed)
        self.expected, self.begun, self.counts = {}, {}, collections.Counter()

    def remove(self):
        self.scratch.remove()
        shutil.rmtree(self.home, ignore_errors=True)

    def prepare(self):
        """The right answers, and for each number of ranks a job that was killed and has a line to restart from."""
        for ranks in (1, 2):
            for what in ("run", "die"):
                home = os.path.join(self.home, "%s-%d" % (what, ranks))
                os.mkdir(home)
                trial = Trial(self.build, self.elc, self.scratch, home)
                code, result, said = trial.run(ranks, what, ELC_TEST_MEMORY="count")
                if (what == "run") != (code == 0 and result is not None):
                    raise Failure("%s with %d ranks: code %d\n%s" % (what, ranks, code, said))
                if what == "run":
                    self.expected[ranks] = result
                    self.count(ranks, False, said)
                else:
                    self.begun[ranks] = home
                    copy = home + "-again"
                    shutil.copytree(home, copy)
                    code, result, said = Trial(self.build, self.elc, self.scratch, copy).run(ranks, what, ELC_TEST_MEMORY="count")
                    if code != 0 or result != self.expected[ranks]:
                        raise Failure("a restart: code %d, result %s\n%s" % (code, result, said))
                    self.count(ranks, True, said)

    def count(self, ranks, restart, said):
        for step, calls in re.findall(r"memory: counted in step (-?\d+), allocation (\d+)", said):
            key = ranks, restart, int(step)
            most = int(calls) if step == "-1" else min(int(calls), MOST)
            self.counts[key] = max(self.counts[key], most)

    def one(self, case):
        home = tempfile.mkdtemp(dir=self.home)
        try:
            if case.restart:
                shutil.copytree(self.begun[case.ranks], home, dirs_exist_ok=True)
            return Trial(self.build, self.elc, self.scratch, home).try_case(case, self.expected[case.ranks])
        except Failure as failure:
            raise Failure("ELC_TEST_MEMORY=%s, %d ranks%s: %s" %
                          (wish(case), case.ranks, ", a restart" if case.restart else "", failure)) from None
        finally:
            shutil.rmtree(home, ignore_errors=True)

    def run(self, cases, together):
        table = collections.Counter()
        failures = []
        with concurrent.futures.ThreadPoolExecutor(together) as pool:
            futures = {pool.submit(self.one, case): case for case in cases}
            for future in concurrent.futures.as_completed(futures):
                case = futures[future]
                kind = (case.ranks, case.restart, case.mode, case.step == -1)
                try:
                    table[kind, future.result()] += 1
                except Failure as failure:
                    table[kind, "WRONG"] += 1
                    failures.append(str(failure))
                    print("WRONG: %s" % failure, flush=True)
        return table, failures


def show(table):
    outcomes = sorted({outcome for _, outcome in table})
    print("%-42s %s" % ("memory runs out", "  ".join(outcomes)))
    for kind in sorted({kind for kind, _ in table}):
        ranks, restart, mode, start = kind
        name = "%d rank%s, %s%s, %s" % (ranks, "s" if ranks > 1 else "", "restart" if restart else "run",
                                        ", at the start" if start else "", "once" if mode == "once" else "from then on")
        print("%-42s %s" % (name, "  ".join("%*d" % (len(o), table[kind, o]) for o in outcomes)))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--sample", type=int, default=60)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("-j", type=int, default=1, help="jobs at a time")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1000000))
    options = parser.parse_args()
    build = launch.Build(options.build)
    if shutil.which("gdb") is None:
        print("(gdb would show where a job hangs)")
    test = Test(build, options.seed)
    try:
        if build.mpi != "lam" and not build.sanitized:  # which end a program that asks them for memory that is not there
            by_limit(build, test.scratch)
        test.prepare()
        cases = list(all_cases(test.counts))
        print("%d cases" % len(cases))
        if not options.all:
            print("--seed %d" % options.seed)
            cases = test.random.sample(cases, options.sample)
        table, failures = test.run(cases, options.j)
    except Failure as failure:
        sys.exit(str(failure))
    finally:
        test.remove()
    show(table)
    if failures:
        sys.exit("%d of %d are wrong" % (len(failures), len(cases)))


if __name__ == "__main__":
    main()
