#!/usr/bin/env python3
"""output_test.py BUILD [SEED]: `elc run --output FILE`. Ranks are killed, and now and then elc run itself, and at the end the file has
what a run without a failure writes: each line once, whole, and each rank's in their order."""

import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402

PATIENCE = 300  # seconds; only a hang takes so long
RANKS = 2       # MPICH never yields the processor
STEPS = 8000


def fail(what, job, got=""):
    sys.exit("%s\n%s\n%s\n%s" % (what, " ".join(job.command), job.complaints()[-3000:], got))


class Run:
    def __init__(self, build, home, scratch):
        self.build, self.scratch = build, scratch
        self.lines, self.file = os.path.join(home, "lines"), os.path.join(home, "output")
        self.words = [build.program("elc"), "run", "--dir", self.lines, "--every", "0.05", "--max-restarts", "50", "--output", self.file]
        self.job = None

    def start(self, *words):
        self.job = launch.Job(self.build, RANKS, self.build.program("printer"), [STEPS], {}, self.scratch, self.words + list(words))

    def end(self, code=0):
        if not self.job.wait(PATIENCE):
            fail("no end: a hang?\n" + self.job.stacks(), self.job)
        self.job.vanish()
        if self.job.popen.returncode != code:
            fail("code %s, not %d" % (self.job.popen.returncode, code), self.job)

    def read(self):
        with open(self.file) as file:
            return file.read().splitlines()

    def commits_again(self):
        newest = launch.newest(self.lines) if launch.committed(self.lines) else 0
        return lambda: (launch.committed(self.lines) or [0])[-1] > newest


def of_ranks(lines):
    """Those of each rank, in their order. Set-up and end of a rank are its, too."""
    return [[l for l in lines if l.startswith("rank %d " % r) or l.endswith(" of %d" % r)] for r in range(RANKS)]


def wait_for_commit(run):
    run.job.wait(PATIENCE, run.commits_again())
    return run.job.running() and bool(run.job.ranks())


def last_words(build, home, scratch):
    """What a rank has written before it calls MPI_Abort, which writes no buffers, is there as it would be on a terminal."""
    file = os.path.join(home, "last")
    words = [build.program("elc"), "run", "--dir", os.path.join(home, "of last"), "--max-restarts", "0", "--output", file]
    job = launch.Job(build, RANKS, build.program("printer"), [STEPS, 5], {}, scratch, words)
    if not job.wait(PATIENCE):
        fail("no end: a hang?\n" + job.stacks(), job)
    job.vanish()
    with open(file) as said:
        text = said.read()
    if "rank 0 gives up\n" not in text:
        fail("the last words are lost", job, text[-300:])


def test(build, seed):
    chance = random.Random(seed)
    home, scratch = tempfile.mkdtemp(prefix="elc output "), launch.Scratch()
    run = Run(build, home, scratch)
    run.start()
    run.end()
    right = run.read()
    whole = of_ranks(right)
    if sum(map(len, whole)) != len(right) or [len(part) for part in whole] != [STEPS // 2 + 2, (STEPS + 2) // 3 + 2]:
        fail("the run without a failure wrote something else", run.job, "\n".join(right[:20]))
    # Again: the file begins anew, and the first part of what it has is that of another run until then.
    run.start("--from", "no")
    kills = 0
    for _ in range(chance.randint(2, 4)):
        if not wait_for_commit(run):
            break
        launch.kill([chance.choice(run.job.ranks())])
        kills += 1
    if wait_for_commit(run):  # elc run, and the same command goes on
        launch.kill([run.job.popen.pid])
        run.job.wait(PATIENCE)
        run.job.vanish()
        run.start()
        kills += 1
        if wait_for_commit(run) and chance.random() < 0.5:
            launch.kill(run.job.ranks())
            kills += 1
    run.end()
    if of_ranks(run.read()) != whole or len(run.read()) != len(right):
        fail("the file is another one after %d kills" % kills, run.job, "\n".join(run.read()[:40]))
    said = run.job.text()
    # A line that was left behind can be gone back to.
    line = launch.committed(run.lines)[0]
    run.start("--from", str(line))
    run.end()
    if of_ranks(run.read()) != whole:
        fail("the file is another one from line %d" % line, run.job, "\n".join(run.read()[:40]))
    if "set-up of 0" not in run.job.text() or said.count("set-up of 0") > kills:
        fail("what the set-up of a restart writes goes to elc run's own output", run.job, said)
    # What the line needs has gone.
    line = launch.newest(run.lines)
    for name in os.listdir(run.lines):
        if name.startswith("output-") and not name.endswith(".order"):
            os.remove(os.path.join(run.lines, name))
    before = run.read()
    run.start("--from", str(line))
    run.end(74)
    if run.read() != before:
        fail("a run that is refused has changed the file", run.job, "\n".join(run.read()[:40]))
    if "without --output the job goes on from it" not in run.job.complaints():
        fail("it is told what is missing", run.job)
    run.words = run.words[:-2]
    run.start("--from", str(line))
    run.end()
    last_words(build, home, scratch)
    scratch.remove()
    shutil.rmtree(home)
    print("%d kills: right" % kills)


if __name__ == "__main__":
    seed_of_run = int(sys.argv[2]) if len(sys.argv) > 2 else random.randrange(1000000)
    print("seed %d" % seed_of_run, flush=True)
    test(launch.Build(sys.argv[1]), seed_of_run)
