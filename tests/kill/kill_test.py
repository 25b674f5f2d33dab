#!/usr/bin/env python3
"""The kill test: any program, killed at any moment, any number of times, ends with the answer of an uninterrupted run.

    kill_test.py --build DIR [--build DIR ...] [--minutes M | --kills N] [--seed S] [--cases N] [--programs A,B]

A case is one program with random parameters and 1 to 6 ranks. It runs with lines often; random ranks, and sometimes
the launcher, get SIGKILL at a random moment, or at one that is watched for: during a checkpoint, during a commit, during
a restart; it is started again and killed again, several times; then it runs to its end, and its digest must be that of
the plain program. Half of the cases run under `elc run`, the others under the MPI's launcher with nothing but
environment variables. With builds for several MPIs, a case goes from one MPI to another at its restarts.

Every choice follows from --seed S and the number of the case: `--seed S --case C` makes case C again (the moments depend
on the machine, too). Only processes that the test has started are killed.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402


class Failure(Exception):
    """What the library must never do; the job's output is in it."""


# ---- Programs and their parameters -------------------------------------------------------------

def laplace(r):
    return [1, 4, 4, 4], ["--size", r.randint(8, 100), "--iterations", r.randint(500, 4000), "--no-stop"]


def gauss_jordan(r):
    return [1, 2, 3, 4, 5, 6], ["--size", r.randint(40, 900)]


def neurosys(r):
    return [1, 2, 3, 4, 5, 6], ["--size", r.randint(6, 64), "--iterations", r.randint(500, 5000),
                                "--seed", r.randint(1, 1000)]


def hard_disks(r):
    return [2, 3, 4, 5, 6], ["--size", 2 * r.randint(3, 8), "--iterations", r.randint(500, 4000),
                             "--chains", r.randint(1, 8), "--block", r.randint(1, 20), "--seed", r.randint(1, 1000)]


def matmul(r):
    return [2, 3, 4, 5, 6], ["--size", r.randint(10, 200), "--iterations", r.randint(20, 100)]


def traffic(r):
    return [1, 2, 3, 3, 4, 4, 5, 6], ["--seed", r.randint(1, 100000), "--operations", r.randint(500, 6000),
                                      "--work", r.choice([1, 20, 100]), "--large", r.choice([5, 12, 50])]


def frames(r):
    return [1, 2, 3, 3, 4, 4, 5, 6], ["--seed", r.randint(1, 100000), "--rounds", r.randint(200, 1500),
                                      "--work", r.choice([1, 20, 100])]


def described(r):
    return [1, 2, 3, 3, 4, 4, 5, 6], ["--seed", r.randint(1, 100000), "--rounds", r.randint(500, 6000),
                                      "--work", r.choice([1, 20, 100])]


def lists(r):
    return [1, 2, 3, 4], ["--rounds", r.randint(200, 2000), "--work", r.choice([1, 20, 100])]


def mm(r):
    return [2, 3, 4], []


def stencil(r):
    return [1, 2, 3, 4], [r.randint(1000, 20000)]


def queens(r):
    return [1, 2, 3, 4], [r.randint(12, 15)]


def workers(r):
    return [2, 3, 4], [r.randint(1000, 20000)]


def unchanged(r):
    ranks = r.choice([1, 2, 3, 4])  # one alone waits for nobody, and is through a round in a microsecond
    return [ranks], [r.randint(100000, 600000) if ranks == 1 else r.randint(3000, 12000) // (ranks - 1)]


# Name: parameters, whether `--lines K` is an option (lines from the program as well as from the timer).
PROGRAMS = {
    "laplace": (laplace, True), "gauss_jordan": (gauss_jordan, True), "neurosys": (neurosys, True),
    "hard_disks": (hard_disks, True), "matmul": (matmul, True), "traffic": (traffic, True),
    "frames": (frames, False), "described": (described, False), "mm": (mm, False), "list": (lists, False),
    "stencil": (stencil, False), "queens": (queens, False), "workers": (workers, False),
}
# Programs with no word of libELC in them, which elc-cc has compiled: the plain twins of benchmarks are among them.
UNCHANGED = ["expressions", "statements", "recursion", "pointers", "statics", "requests", "multi", "varied", "jacobi", "threads"]
PROGRAMS.update((name, (unchanged, False)) for name in UNCHANGED)
for name in "laplace", "gauss_jordan", "neurosys", "hard_disks", "matmul":
    UNCHANGED.append(name + "-unchanged")
    PROGRAMS[name + "-unchanged"] = (PROGRAMS[name][0], False)
MOST_STUCK_STARTS = 2  # of a run: more of them are a fault
MOMENTS = ("random", "checkpoint", "commit", "restart")


class Tally:
    def __init__(self):
        self.cases = self.kills = self.killed_ranks = self.from_line = self.from_start = self.lines = 0
        self.crossed = self.unhurt = self.stuck_launchers = self.stuck_starts = self.chains = 0
        self.moments = dict.fromkeys(MOMENTS, 0)

    def __str__(self):
        moments = ", ".join("%s %d" % item for item in self.moments.items())
        return ("%d cases, %d kills (%s) of %d processes; restarts: %d from a line, %d from the start, %d under another "
                "MPI, %d of chains of five and more; %d lines committed; %d cases were over before a kill came; the launcher hung %d times, the MPI's "
                "MPI_Init %d times"
                % (self.cases, self.kills, moments, self.killed_ranks, self.from_line, self.from_start, self.crossed,
                   self.chains, self.lines, self.unhurt, self.stuck_launchers, self.stuck_starts))


# ---- One case ------------------------------------------------------------------------------------

class Case:
    """Its random choices, made before anything runs, and its run."""

    def __init__(self, number, seed, builds, options, tally):
        r = self.random = random.Random("%d/%d" % (seed, number))
        self.number = number
        self.options = options
        self.tally = tally
        names = [n for n in options.programs if any(b.program(n) for b in builds)]
        self.name = r.choice(names)
        make, has_lines = PROGRAMS[self.name]
        ranks, self.arguments = make(r)
        self.ranks = r.choice([n for n in ranks if n <= options.max_ranks] or [options.max_ranks])
        self.builds = [b for b in builds if b.program(self.name)]
        if self.name == "jacobi":  # it keeps MPI_PROC_NULL, which is another number in another MPI
            self.builds = [r.choice(self.builds)]
        if self.name == "traffic":
            self.arguments += launch.traffic_arguments(self.builds)
        self.every = r.choice([0.02, 0.05, 0.1, 0.3])
        self.extra = {}
        if has_lines and r.random() < 0.3:
            self.arguments += ["--lines", r.randint(2, 12)]
            if r.random() < 0.5:
                self.every = 0
        if r.random() < 0.15:
            self.extra["ELC_DRAIN"] = "wait"
        if r.random() < 0.3:
            self.extra["ELC_KEEP"] = str(r.randint(1, 4))
        if r.random() < 0.4:
            self.extra["ELC_BACKGROUND"] = r.choice(["fork", "copy"])
        if r.random() < 0.4:
            self.extra["ELC_INCREMENTAL"] = str(r.randint(2, 8))
        if r.random() < 0.4:
            self.extra["ELC_AGGREGATE"] = r.choice(["node", "2", "3"])
        if r.random() < 0.4:
            self.extra["ELC_COMPRESS"] = r.choice(["1", "1,2", "6,3"])
        if options.chains:
            self.every = r.choice([0.02, 0.05])
            self.extra.update(ELC_BACKGROUND=r.choice(["fork", "copy"]), ELC_INCREMENTAL=str(r.randint(5, 12)),
                              ELC_COMPRESS=r.choice(["1", "1,2", "6,3"]))
        self.tool = r.random() < 0.5 and all(b.program("elc") for b in self.builds) and not options.no_tool and not options.chains
        self.kills = r.randint(1, options.most_kills)
        if self.name == "traffic":
            self.arguments += ["--windows", int(all(b.mpi != "lam" for b in self.builds) and r.random() < 0.3)]
        self.home = tempfile.mkdtemp(prefix="elc-kill-", dir=options.scratch)
        self.directory = os.path.join(self.home, "lines")
        self.scratch = launch.Scratch()
        self.jobs = []
        self.highest = 0  # line seen committed

    def __str__(self):
        return "case %d: %s %s, %d ranks, ELC_EVERY=%g%s, %s, %s, %d kills" % (
            self.number, self.name, " ".join(str(a) for a in self.arguments), self.ranks, self.every,
            "".join(" %s=%s" % e for e in sorted(self.extra.items())), "elc run" if self.tool else "variables only",
            "+".join(b.name for b in self.builds), self.kills)

    # ---- Starting ----

    def plain(self, build):
        """Digest and time of the plain program; a program that has no plain twin runs passively."""
        program = build.program(self.name.removesuffix("-unchanged") + "-plain") or build.program(self.name)
        while True:
            begin = time.monotonic()
            job = self.launch(build, program, {})
            if self.finish(job, self.options.patience):
                break
        digest = job.result()
        if job.popen.returncode != 0 or digest is None:
            raise Failure("the plain program failed\n" + report(job))
        return digest, time.monotonic() - begin

    def start(self, build):
        variables = dict(self.extra, ELC_DIR=self.directory, ELC_VERBOSE="1", TRAFFIC_FILE=self.directory + ".data",
                         ELC_FILE_ROOTS=os.path.dirname(self.directory))
        if self.every > 0:
            variables["ELC_EVERY"] = "%g" % self.every
        tool = None
        if self.tool:
            tool = [build.program("elc"), "run", "--dir", self.directory, "--max-restarts", "100"]
        return self.launch(build, build.program(self.name), variables, tool)

    def launch(self, build, program, variables, tool=None):
        job = launch.Job(build, self.ranks, program, self.arguments, variables, self.scratch, tool)
        self.jobs.append(job)
        return job

    def finish(self, job, patience):
        """Waits for the end. A launcher that goes on without any rank is not the library's fault (Open MPI's does so
        when a rank is killed while it connects): it is killed, too. `elc run` finds that out by itself. Nor are ranks
        that wait for each other in the MPI's own MPI_Init (LAM's, very rarely), where the library has not begun: False
        then, and the job has been ended."""
        end, idle = time.monotonic() + patience, None
        while not job.wait(0.2):
            now = time.monotonic()
            idle = None if self.tool or job.ranks() else idle or now
            if idle and now - idle > 15:
                self.tally.stuck_launchers += 1
                launch.kill(job.launchers())
                idle = None
            if now > end:
                break
        else:
            job.vanish()
            return True
        stacks = job.stacks()
        job.destroy()
        if 0 < stacks.count("process ") == stacks.count(" PMPI_Init"):
            self.tally.stuck_starts += 1
            if self.tally.stuck_starts <= MOST_STUCK_STARTS:
                return False
        text = "no end after %.0f s: a hang?\n%s" % (patience, stacks)
        raise Failure(text + "\n" + report(job))

    # ---- Moments ----

    def await_moment(self, job, moment, duration):
        """Waits for the moment; False if the job is over, or the moment does not come."""
        r = self.random
        if moment == "random":
            return self.pause(job, r.uniform(0.0, 1.1) * duration)
        if moment == "restart":  # between the start of the ranks and a little after the restored state
            return (self.poll(job, lambda: len(job.ranks()) == self.ranks, duration) and
                    self.pause(job, r.choice([0, 0.01, 0.05, 0.1, 0.2, 0.3]) * r.random() * 2))
        # Not the first line that comes, but one of the first.
        self.pause(job, r.random() * 0.5 * duration)
        if moment == "checkpoint":
            return (self.poll(job, self.checkpoint_under_way, 0.7 * duration + 1) and
                    self.pause(job, r.choice([0, 0, 0.001, 0.003, 0.01]) * r.random()))
        return (self.poll(job, self.commit_under_way, 0.7 * duration + 1) and
                self.pause(job, r.choice([0, 0, 0.0005, 0.001, 0.002]) * r.random()))

    @staticmethod
    def poll(job, condition, limit):
        end = time.monotonic() + limit
        while job.running() and time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.0003)
        return False

    @staticmethod
    def pause(job, seconds):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not job.running():
                return False
            time.sleep(min(0.002, max(0.0, end - time.monotonic())))
        return job.running()

    def newest_files(self):
        lines = launch.lines_in(self.directory)
        return lines[max(lines)] if lines else set()

    def checkpoint_under_way(self):
        return any(".elc.tmp" in name for name in self.newest_files())

    def commit_under_way(self):
        files = self.newest_files()
        whole = sum(1 for name in files if name.endswith(".elc"))
        return whole == self.ranks or any(name.startswith("commit") for name in files)

    def finished_mark(self):
        try:
            with open(os.path.join(self.directory, "finished"), "rb") as f:
                return f.read()
        except OSError:
            return None

    # ---- Killing ----

    def kill(self, job):
        """Kills some ranks, perhaps with the launcher; the number of processes killed."""
        r = self.random
        ranks = job.ranks()
        if not ranks:
            return 0
        how = r.random()
        count = len(ranks) if how < 0.25 else 1 if how < 0.5 else r.randint(1, len(ranks))
        victims = r.sample(ranks, count)
        if r.random() < 0.15:
            launchers = job.launchers()
            victims += launchers if r.random() < 0.5 else launchers[:1]
        r.shuffle(victims)
        launch.kill(victims)
        return len(victims)

    def note_lines(self):
        done = launch.committed(self.directory)
        if done and done[-1] > self.highest:
            self.tally.lines += done[-1] - self.highest
            self.highest = done[-1]

    def check_start(self, job, newest):
        """A restart has to say that it begins with the newest committed line, and that was `newest` or later."""
        said = [int(l.split("restarting from line ")[1].split()[0]) for l in job.complaints().splitlines()
                if "restarting from line " in l]
        if said:
            self.tally.from_line += len(said)
            if newest and said[0] < newest and not self.tool:
                raise Failure("restarted from line %d although line %d had been committed\n%s"
                              % (said[0], newest, report(job)))
        return said

    def run(self):
        digests = [self.plain(b) for b in self.builds]
        digest, duration = digests[0]
        # An MPI that adds in another order has another answer: then a case stays with the first MPI.
        self.builds = [b for b, (d, _) in zip(self.builds, digests) if d == digest]
        self.tally.cases += 1
        left, hurt, previous = self.kills, 0, None
        patience = self.options.patience + 20 * duration
        while True:
            build = self.random.choice(self.builds)
            newest = (launch.committed(self.directory) or [0])[-1]
            mark = self.finished_mark()
            self.tally.crossed += previous is not None and previous is not build
            self.tally.chains += self.options.chains and newest != 0 and launch.relied_on(self.builds[0].program("elc"), self.directory, newest) >= 4
            if hurt and build.mpi == "lam":  # whose daemon keeps messages of ranks killed in MPI_Init: others may hang
                subprocess.run(["lamclean"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            job = self.start(build)
            killed = self.kill_often(job, left, duration, hurt) if left > 0 else 0
            left -= killed
            hurt += killed
            killed += not self.finish(job, patience)
            self.note_lines()
            said = self.check_start(job, newest)
            # LAM's mpirun ends with 0 also where a process was killed before its MPI_Init.
            ended = job.popen.returncode == 0 and job.result() is not None
            if previous is not None and not said and ended:
                if newest:
                    raise Failure("started from the beginning although line %d had been committed\n%s"
                                  % (newest, report(job)))
                self.tally.from_start += 1
            previous = build
            marked = self.finished_mark() != mark  # then a kill came when all was done and said
            if marked and job.result() is None:
                raise Failure("marked as finished without a result\n" + report(job))
            if marked or ended:
                break
            if killed == 0:
                raise Failure("ended with code %s without a kill\n%s" % (job.popen.returncode, report(job)))
            if self.options.verbose:
                print("    killed; ended with code %s; %s" % (job.popen.returncode, last_line(job)), flush=True)
        if hurt == 0:
            self.tally.unhurt += 1
        if job.result() != digest:
            raise Failure("the result is %s, the plain program's is %s\n%s" % (job.result(), digest, report(job)))

    def kill_often(self, job, left, duration, hurt):
        """Kills while the job runs; under `elc run` it restarts by itself. The number of kills."""
        done = 0
        while done < left and job.running():
            if self.tool and done > 0 and self.random.random() < 0.2:
                break
            moment = self.random.choice(MOMENTS[:3] if hurt + done == 0 else MOMENTS)
            if self.await_moment(job, moment, duration):
                count = self.kill(job)
                if count:
                    done += 1
                    self.tally.kills += 1
                    self.tally.killed_ranks += count
                    self.tally.moments[moment] += 1
                    if not self.tool:
                        return done
            elif moment == "random":
                break
            self.pause(job, 0.05)
        return done

    def clean(self, keep):
        for job in self.jobs:
            if job.running():
                job.destroy()
            job.close()
        self.scratch.remove()
        if not keep:
            shutil.rmtree(self.home, ignore_errors=True)


def last_line(job):
    lines = job.complaints().strip().splitlines()
    return lines[-1] if lines else ""


def report(job):
    return "%s\n--- output\n%s\n--- errors\n%s" % (" ".join(job.command), job.text()[-2000:], job.complaints()[-6000:])


# ---- All cases -------------------------------------------------------------------------------------

def parse():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", action="append", required=True, help="a build directory; several: restarts across MPIs")
    p.add_argument("--minutes", type=float, help="stop after the case that is under way then")
    p.add_argument("--kills", type=int, help="stop after so many kills")
    p.add_argument("--cases", type=int, help="stop after so many cases")
    p.add_argument("--case", type=int, help="this case alone")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1000000), help="default: a new one")
    p.add_argument("--programs", default=",".join(n for n in PROGRAMS if n not in UNCHANGED), help="default: all that are not unchanged; `unchanged`: all that are")
    p.add_argument("--max-ranks", type=int, default=6)
    p.add_argument("--most-kills", type=int, default=6, help="in one case")
    p.add_argument("--chains", action="store_true", help="each case with incremental lines, 5 to 12 for each whole one, compressed, "
                   "in the background, and variables only")
    p.add_argument("--no-tool", action="store_true", help="never under elc run")
    p.add_argument("--patience", type=float, default=120, help="seconds after which a run is a hang, at least")
    p.add_argument("--scratch", help="where lines are written (default: the directory for temporary files)")
    p.add_argument("--keep", action="store_true", help="keep the lines of a case that failed")
    p.add_argument("--go-on", action="store_true", help="go on after a failure")
    p.add_argument("-v", "--verbose", action="store_true")
    options = p.parse_args()
    options.programs = UNCHANGED if options.programs == "unchanged" else options.programs.split(",")
    if options.minutes is None and options.kills is None and options.cases is None and options.case is None:
        options.minutes = 1
    return options


def main():
    options = parse()
    builds = [launch.Build(b) for b in options.build]
    tally = Tally()
    end = None if options.minutes is None else time.monotonic() + 60 * options.minutes
    failures = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped: seed %d, %s" % (options.seed, tally)))
    print("kill test, seed %d, %s" % (options.seed, ", ".join("%s (%s)" % (b.path, b.mpi) for b in builds)), flush=True)
    number = 0 if options.case is None else options.case - 1
    while True:
        number += 1
        case = Case(number, options.seed, builds, options, tally)
        print(case, flush=True)
        failed = True
        try:
            case.run()
            failed = False
        except Failure as failure:
            failures += 1
            print("FAILED %s\n%s\nagain: --seed %d --case %d" % (case, failure, options.seed, number), flush=True)
            if options.keep:
                print("its lines are in %s" % case.directory, flush=True)
        finally:
            case.clean(failed and options.keep)
        if failures and not options.go_on:
            break
        if options.case is not None or (options.cases is not None and number >= options.cases):
            break
        if (end is not None and time.monotonic() >= end) or (options.kills is not None and tally.kills >= options.kills):
            break
    print("%s: seed %d, %s" % ("FAILED" if failures else "survived", options.seed, tally), flush=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
