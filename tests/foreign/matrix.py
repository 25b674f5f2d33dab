#!/usr/bin/env python3
"""matrix.py --build DIR --build DIR ...: a line that was taken on one machine is restarted on every other.

    matrix.py --build DIR ... [--chain NAME,NAME,...] [--programs A,B | --programs unchanged] [--seed S] [--rounds N]
              [--links N]

For each ordered pair of builds (other processors: tests/foreign/prepare; other MPIs) and each program: it runs under the
first until a line has committed, and a random moment longer; all of it is killed; it goes on under the second from that
line and ends with the digest that it has without libELC on this machine. With --chain a job goes through the builds one
after the other instead, and is killed in each when a new line has committed; traffic/rich is killed only when a line
has committed that has messages in transit, orphans and results of crossing collectives, with --links only when it relies on
N others, as an incremental one does. The programs use operations
alone that IEEE 754 rounds exactly, so every digest is the same on all machines, and must be.

Ends with a table; a cell says how many restarts were right. Every random choice follows from the seed.
"""

import argparse
import itertools
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402

PATIENCE = 300  # seconds; only a hang takes so long


class Failure(Exception):
    pass


# Name (with a slash: only if it is asked for): ranks, and arguments for a run of about `n` times half a second here.
# Two ranks: MPICH never yields a processor.
PROGRAMS = {
    "laplace": lambda r, n: (1, ["--size", r.randint(60, 100), "--iterations", n * r.randint(10000, 20000), "--no-stop"]),
    "gauss_jordan": lambda r, n: (2, ["--size", int(r.randint(1000, 1200) * n ** (1 / 3))]),
    "matmul": lambda r, n: (2, ["--size", r.randint(80, 120), "--iterations", n * r.randint(800, 1000)]),
    "hard_disks": lambda r, n: (2, ["--size", 2 * r.randint(3, 5), "--iterations", n * r.randint(8000, 12000),
                                    "--chains", r.randint(2, 5), "--seed", r.randint(1, 1000)]),
    "traffic": lambda r, n: (2, ["--seed", r.randint(1, 100000), "--operations", n * r.randint(2000, 3000),
                                 "--work", 20]),
    "traffic/rich": lambda r, n: PROGRAMS["traffic"](r, n),
    "types": lambda r, n: (2, ["--seed", r.randint(1, 100000), "--rounds", n * r.randint(1000, 1500), "--work", 20]),
    "nodes": lambda r, n: (1, ["--seed", r.randint(1, 100000), "--nodes", r.randint(5000, 20000), "--rounds", n * 200]),
    "integers": lambda r, n: (1, ["--seed", r.randint(1, 100000), "--rounds", n * r.randint(15000, 20000)]),
    "nodes/million": lambda r, n: (1, ["--seed", r.randint(1, 100000), "--nodes", 1000000, "--rounds", n * 10]),
    "frames": lambda r, n: (2, ["--seed", r.randint(1, 100000), "--rounds", n * r.randint(1000, 1500), "--work", 20]),
}
# With no word of libELC, compiled by elc-cc. Of these statics and varied have bytes, and go to no other representation; expressions has sizes in
# variables, and requests displacements in a datatype, that are others with 32 bits.
UNCHANGED = ["expressions", "statements", "recursion", "pointers", "statics", "requests", "multi", "varied", "jacobi"]
PROGRAMS.update(("unchanged/" + name, lambda r, n: (2, [n * r.randint(2000, 3000)])) for name in UNCHANGED)


def report(job):
    return "%s\ncode %s\n--- output\n%s\n--- errors\n%s" % (" ".join(job.command), job.popen.returncode, job.text()[-2000:],
                                                            job.complaints()[-4000:])


class Case:
    """One program with random arguments: what it gives without libELC, and journeys of it."""

    def __init__(self, name, seed, here, builds, links):
        self.links = links
        self.name, self.seed, self.here, self.length = name, seed, here, 0
        self.builds = builds  # on the way
        self.program = name.removeprefix("unchanged/").split("/")[0]
        self.asks_rich = name.endswith("/rich")
        self.random = random.Random(seed)
        self.scratch = launch.Scratch()
        self.lengthen()

    def lengthen(self):
        """Twice as long as before, with the other arguments as they were."""
        self.length = 2 * self.length or 1
        self.ranks, arguments = PROGRAMS[self.name](random.Random(self.seed), self.length)
        if self.program == "traffic":
            arguments += launch.traffic_arguments(self.builds)
        self.arguments = [str(a) for a in arguments]
        self.expected = self.digest(self.here)

    def __str__(self):
        return "%s %s on %d ranks" % (self.name, " ".join(self.arguments), self.ranks)

    def job(self, build, program, variables):
        return launch.Job(build, self.ranks, build.program(program), self.arguments, variables, self.scratch)

    def end(self, job):
        if not job.wait(PATIENCE):
            stacks = job.stacks()
            job.destroy()
            raise Failure("no end: a hang?\n%s\n%s" % (stacks, report(job)))
        job.vanish()

    def digest(self, build):
        """Of the uninterrupted program without libELC."""
        job = self.job(build, self.program + "-plain", {})
        self.end(job)
        if job.popen.returncode != 0 or job.result() is None:
            raise Failure("the plain program failed\n" + report(job))
        digest = job.result()
        job.close()
        return digest

    def is_of_machine(self, build):
        """Whether the plain program says another thing there: some that nobody changed mix what a long may hold."""
        return self.name.startswith("unchanged/") and self.digest(build) != self.expected

    def rich(self, lines):
        """Whether the newest line has all that a line can have, and relies on as many others, if that is asked for."""
        newest = launch.newest(lines)
        found = []
        try:
            if self.links and launch.relied_on(self.here.program("elc"), lines, newest) < self.links:
                return False
            if self.asks_rich:
                found = launch.messages(self.here.program("elc"), lines, newest)
        except (OSError, StopIteration, subprocess.CalledProcessError):
            return False  # the job goes on meanwhile, and has removed it
        return not self.asks_rich or all(any(m[kind] for m in found) for kind in ("in_transit", "orphans", "crossing_results"))

    def new_line(self, lines, seen):
        """A function that says whether a line that this stage may be killed after is there; it judges each line once."""
        def found():
            nonlocal seen
            newest = launch.newest(lines)
            if newest <= seen:
                return False
            seen = newest
            return self.rich(lines)
        return found

    def stage(self, build, lines, last):
        """Starts it with the lines that there are; if this is not the last stage, kills it when there is a newer one.
        Whether it was killed."""
        newest = launch.newest(lines)
        job = self.job(build, self.program, {"ELC_DIR": lines, "ELC_EVERY": "0.02", "TYPES_DIR": os.path.dirname(lines),
                                             "TRAFFIC_FILE": lines + ".data", "ELC_FILE_ROOTS": os.path.dirname(lines),
                                             "ELC_AGGREGATE": self.random.choice(["no", "node", "2"]),
                                             "ELC_INCREMENTAL": str(2 * self.links) if self.links else self.random.choice(["1", "2", "8"]),
                                             "ELC_BACKGROUND": self.random.choice(["no", "fork", "copy"]),
                                             "ELC_COMPRESS": self.random.choice(["no", "1", "1,2"])})
        if not last:
            # A job that is to have a rich line goes on until it has one: just behind a restart there is nothing in transit.
            if not job.wait(PATIENCE, self.new_line(lines, newest)):
                stacks = job.stacks()
                job.destroy()
                raise Failure("no new line that will do (the newest is %d): a hang?\n%s\n%s" %
                              (launch.newest(lines), stacks, report(job)))
            if not self.asks_rich and not self.links:
                job.wait(self.random.random() * 0.05)
        killed = not last and job.running()
        if killed:
            job.destroy()
            killed = job.result() is None
        else:
            self.end(job)
        if newest and "restarting from line" not in job.complaints():
            raise Failure("it did not restart from line %d\n%s" % (newest, report(job)))
        if not killed and job.result() != self.expected and (last or not self.is_of_machine(build)):
            raise Failure("the result is %s, it should be %s\n%s" % (job.result(), self.expected, report(job)))
        job.close()
        return killed

    def journey(self, builds):
        """Through all builds; the number of restarts. Fewer than asked for if the program was too quick."""
        home = tempfile.mkdtemp(prefix="elc-matrix-")
        lines = os.path.join(home, "lines")
        right = False
        try:
            for number, build in enumerate(builds):
                killed = self.stage(build, lines, number + 1 == len(builds))
                while killed and not self.rich(lines):  # a newer one was in time for the kill
                    killed = self.stage(build, lines, False)
                if not killed:
                    right = True
                    return number
            raise AssertionError("a journey ends")
        finally:
            if right:
                shutil.rmtree(home, ignore_errors=True)
            else:
                print("its lines are in %s" % lines, flush=True)


def travel(case, builds):
    """A journey that went all the way. A program that is over too early starts again, longer if that happens often."""
    end = time.monotonic() + 2 * PATIENCE
    for attempt in itertools.count(1):
        if case.journey(builds) == len(builds) - 1:
            return
        if time.monotonic() > end:
            raise Failure("it was over before it could be killed, %d times" % attempt)
        if attempt % 5 == 0:
            case.lengthen()


def show(chains, names, table, total):
    """What was right of `total`: a line for each chain, or a table of all pairs, from (down) and to (across)."""
    if chains:
        for route in chains:
            title = " to ".join(b.name for b in route)
            print("%-60s %d of %d" % (title, table.get(title, 0), total))
        return
    short = [name.replace("build-", "") for name in names]
    width = max(map(len, short)) + 1
    print("restarts that were right, of %d" % total)
    print("".join("%*s" % (width, name) for name in [""] + short))
    for source, name in zip(names, short):
        cells = ["" if source == target else table.get("%s to %s" % (source, target), 0) for target in names]
        print("".join("%*s" % (width, cell) for cell in [name] + cells))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", action="append", required=True)
    p.add_argument("--chain", action="append", default=[], help="names of builds, with commas")
    p.add_argument("--programs", default=",".join(name for name in PROGRAMS if "/" not in name))
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1000000))
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--links", type=int, default=0, help="others that a line relies on when its job is killed, at least (default: any)")
    options = p.parse_args()
    builds = {b.name: b for b in map(launch.Build, options.build)}
    routes = [[builds[name] for name in chain.split(",")] for chain in options.chain]
    if not routes:
        routes = [[a, b] for a in builds.values() for b in builds.values() if a is not b]
    programs = ["unchanged/" + name for name in UNCHANGED] if options.programs == "unchanged" else options.programs.split(",")
    here = next(b for b in builds.values() if not b.runner and not b.inside)
    print("restart matrix, seed %d" % options.seed, flush=True)
    table, failures = {}, 0
    for number in range(options.rounds):
        for name in programs:
            case = Case(name, "%d/%d/%s" % (options.seed, number, name), here, list(builds.values()), options.links)
            for route in routes:
                title = " to ".join(b.name for b in route)
                begin = time.monotonic()
                try:
                    travel(case, route)
                    table[title] = table.get(title, 0) + 1
                    print("%s: %s: right, %.1f s" % (title, case, time.monotonic() - begin), flush=True)
                except Failure as failure:
                    failures += 1
                    print("FAILED %s: %s\n%s" % (title, case, failure), flush=True)
            case.scratch.remove()
    show(routes if options.chain else None, list(builds), table, options.rounds * len(programs))
    print("%s: seed %d" % ("FAILED" if failures else "all right", options.seed), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
