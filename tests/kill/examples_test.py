#!/usr/bin/env python3
"""examples_test.py BUILD: each program of bench/examples, killed when a line has committed and started again, goes on
from a line and ends with the answer of a run without lines. The one in Fortran is compiled here, where there is a compiler."""

import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fortran  # noqa: E402
import launch  # noqa: E402

PATIENCE = 300  # seconds; only a hang takes so long
RANKS = 3
# Sizes, each more work than the one before it: one is enough if the program is killed before its end.
EXAMPLES = {"stencil": (5000, 50000, 500000), "queens": (13, 15, 16), "workers": (2000, 20000, 200000)}
FORTRAN_EXAMPLES = {"heat": (2000, 20000, 200000)}


def start(build, program, size, variables, scratch):
    # MPICH never yields the processor.
    ranks = min(RANKS, 2) if build.mpi == "mpich" else RANKS
    return launch.Job(build, ranks, program, [size], variables, scratch)


def end(job, right):
    """Waits for the end; what the job says must be so."""
    over = job.wait(PATIENCE)
    text = "" if over else "no end: a hang?\n" + job.stacks() + "\n"
    job.vanish() if over else job.destroy()
    if not over or (right and (job.popen.returncode != 0 or job.result() is None)):
        sys.exit("%s%s: code %s\n%s" % (text, " ".join(job.command), job.popen.returncode, job.complaints()))
    return job.result()


def killed(build, program, size, directory, scratch):
    """Starts the program and kills a rank when a line has committed; False if the program is over before."""
    job = start(build, program, size, {"ELC_DIR": directory, "ELC_EVERY": "0.02"}, scratch)
    job.wait(PATIENCE, lambda: launch.committed(directory))
    ranks = job.ranks()
    if ranks:
        launch.kill(ranks[-1:])
    end(job, False)
    return bool(ranks) and bool(launch.committed(directory)) and not os.path.exists(os.path.join(directory, "finished"))


def test(build, program, sizes, home, scratch):
    name = os.path.basename(program)
    for size in sizes:
        directory = os.path.join(home, "%s-%d" % (name, size))
        if not killed(build, program, size, directory, scratch):
            continue
        again = start(build, program, size, {"ELC_DIR": directory}, scratch)
        answer = end(again, True)
        if "restarting from line " not in again.complaints():
            sys.exit("%s did not restart from a line\n%s" % (name, again.complaints()))
        expected = end(start(build, program, size, {}, scratch), True)
        if answer != expected:
            sys.exit("%s %d: %s, and without lines %s" % (name, size, answer, expected))
        print("%s %d: killed, restarted from a line, %s" % (name, size, answer), flush=True)
        return
    sys.exit("%s was always over before it could be killed" % name)


def compiled(build, name, home):
    source, program = os.path.join(fortran.TOP, "bench", "examples", name + ".f90"), os.path.join(home, name)
    try:
        complaints = fortran.compile_program(build, [fortran.MODULE, source], program, "-O2")
    except fortran.Absent as why:
        print("%s: left out: %s" % (name, why), flush=True)
        return None
    if complaints is not None:
        sys.exit("%s could not be compiled\n%s" % (name, complaints))
    return program


def main():
    build = launch.Build(sys.argv[1])
    home, scratch = tempfile.mkdtemp(prefix="elc-examples-"), launch.Scratch()
    try:
        for name, sizes in EXAMPLES.items():
            test(build, build.program(name), sizes, home, scratch)
        for name, sizes in FORTRAN_EXAMPLES.items():
            program = compiled(build, name, home)
            if program is not None:
                test(build, program, sizes, home, scratch)
    finally:
        scratch.remove()
        shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main()
