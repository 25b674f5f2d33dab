#!/usr/bin/env python3
"""refusals.py FROM TO [--narrow]: what cannot be restored on another machine is refused there before anything changes.

    refusals.py BUILD BUILD [--narrow]     --narrow: the second one's long has 32 bits

tests/programs/unfit.c runs under the first build until a line has committed and is killed; the second build refuses to
restart it with one message that names variable, function, value and limit, and leaves the line as it is; the first one
then restarts from it.
"""

import argparse
import os
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402

PATIENCE = 300  # seconds; only a hang takes so long
REFUSED = 65
LARGE = 2 ** 40

# What the message says. The first are refused where a long has 32 bits, `bytes` on every other machine.
NARROW = {
    "long": ["'number' of work()", "the value %d does not fit a `long` of 4 bytes" % LARGE, "2147483647"],
    "size": ["'size' of work()", "the value %d does not fit" % LARGE, "4294967295"],
    "difference": ["'difference' of work()", "the value %d does not fit" % -LARGE, "-2147483648"],
    "element": ["'places' of work()", "[2].at[1]: the value %d does not fit a `long`" % -LARGE, "-2147483648"],
    "message": ["the message from rank 0 with tag 7", "the value %d does not fit a `long` of 4 bytes" % LARGE, "2147483647"],
    "collective": ["the result of collective operation 1 on a communicator", "the value %d does not fit a `long` of 4 bytes" % LARGE,
                   "2147483647"],
    "memory": ["'memory' of work(): it points to a heap block that cannot be restored", "bytes (from ELC_RAW"],
    "heap": ["a heap block of 10 elements of long", "[7]: the value %d does not fit a `long`" % LARGE, "2147483647"],
}
ALWAYS = {"bytes": ["'bytes' of work()", "bytes (from ELC_RAW"]}


class Failure(Exception):
    pass


def run(build, kind, lines, scratch, until=lambda: False):
    """Runs it to its end, or until `until()`; returns the job."""
    ranks = 2 if kind == "collective" else 1
    job = launch.Job(build, ranks, build.program("unfit"), [kind], {"ELC_DIR": lines}, scratch)
    in_time = job.wait(PATIENCE, until)
    if job.running():
        job.destroy()
    else:
        job.vanish()
    if not in_time:
        raise Failure("no end: a hang?\n" + job.complaints())
    return job


def refuse(source, target, kind, parts, scratch):
    home = tempfile.mkdtemp(prefix="elc-refusals-")
    lines = os.path.join(home, "lines")
    try:
        run(source, kind, lines, scratch, lambda: launch.committed(lines))
        before = launch.contents(lines)
        job = run(target, kind, lines, scratch)
        said = job.complaints()
        if job.popen.returncode != REFUSED or job.result() is not None:
            raise Failure("it was not refused (code %d)\n%s" % (job.popen.returncode, said))
        for part in parts + ["the line is as it was" if kind in ("message", "collective") else "nothing was changed"]:
            if part not in said:
                raise Failure("the message does not say «%s»:\n%s" % (part, said))
        if launch.contents(lines) != before:
            raise Failure("the refusal changed the lines")
        job = run(source, kind, lines, scratch)
        if job.result() != "ok":
            raise Failure("the line is lost for the machine that it was taken on\n" + job.complaints())
        return next(line for line in said.splitlines() if parts[0] in line)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def fit(source, target, kind, scratch):
    home = tempfile.mkdtemp(prefix="elc-refusals-")
    lines = os.path.join(home, "lines")
    try:
        run(source, kind, lines, scratch, lambda: launch.committed(lines))
        job = run(target, kind, lines, scratch)
        if job.result() != "ok":
            raise Failure("it was refused\n" + job.complaints())
    finally:
        shutil.rmtree(home, ignore_errors=True)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("source")
    p.add_argument("target")
    p.add_argument("--narrow", action="store_true")
    options = p.parse_args()
    source, target = launch.Build(options.source), launch.Build(options.target)
    scratch = launch.Scratch()
    failures = 0
    for kind, parts in {**(NARROW if options.narrow else {}), **ALWAYS}.items():
        try:
            print("%s to %s: %s" % (source.name, target.name, refuse(source, target, kind, parts, scratch)), flush=True)
        except Failure as failure:
            failures += 1
            print("FAILED %s to %s, %s: %s" % (source.name, target.name, kind, failure), flush=True)
    for kind in ("zeros",) if options.narrow else ("zeros", "memory"):
        try:
            fit(source, target, kind, scratch)
        except Failure as failure:
            failures += 1
            print("FAILED %s to %s, %s: %s" % (source.name, target.name, kind, failure), flush=True)
    scratch.remove()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
