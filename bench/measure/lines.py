"""What a line with much data costs: bench/large, whose data change all the time.

plain     the program without libELC
auto      lines as the library takes them by itself, in the background where that is possible
copy      ELC_BACKGROUND=copy: by a thread, from a copy of the data in memory
no        ELC_BACKGROUND=no: the program waits while a line is written
incremental  ELC_INCREMENTAL, where a hundredth of the data changes: lines behind the first
dd        as many bytes by as many dd with one fsync each, at the same time
A restart is measured against reading the line's files (cat, all at once)."""
import os
import shutil
import subprocess
import time

from .results import spread
from .runs import Failed, launch, line

PART = "lines"
VARIANTS = {"plain": None, "auto": {}, "copy": {"ELC_BACKGROUND": "copy"}, "no": {"ELC_BACKGROUND": "no"}}
# Where a hundredth of the data changes.
FEW = {"plain": None, "auto": {}, "incremental": {"ELC_INCREMENTAL": "256"}}
QUANTITIES = (("longest stop", "s"), ("committed after", "s"), ("slowest step", "s"), ("time of the steps", "s"),
              ("bytes of a line", "B"), ("restart", "s"))
LEAST_STEPS, LINES = 1200, 3


def measure(bench, results, options):
    size = options.size or (64 if options.quick else 1024)
    case = "%d processes of %d MiB" % (bench.ranks, size)
    print("Lines with much data: %s" % case, flush=True)
    check_room(bench, size)
    few = case + ", of which 1 % changes"
    changes_all, changes_few = [], ["--part", 100, "--changing", 1]
    of_all, of_few = (["--size", size, "--lines", LINES, *changes, "--steps", enough_steps(bench, size, changes)] for changes in (changes_all, changes_few))
    for number in range(1, options.repeat + 1):
        measure_all(bench, results, case, VARIANTS, number, of_all)
        results.add(PART, case, "dd", number, "committed after", "s", dd(bench, size))
        restart(bench, results, case, number, size)
        measure_all(bench, results, few, FEW, number, of_few)
    for case in (case, few):
        for variant in results.names(PART, "variant"):
            for quantity, unit in QUANTITIES:
                values = results.values(PART, case, variant, quantity)
                if values:
                    print("  %-12s %-20s %s %s" % (variant, quantity, spread(values), unit))
        print(flush=True)


def enough_steps(bench, size, changes):
    """From line to line they take three times what a line takes to be written: each has committed when the next one is due."""
    some = 20
    seconds = bench.run("large-plain", ["--size", size, *changes, "--steps", some]).value("steps") / some
    return max(LEAST_STEPS, int((LINES + 1) * 3 * dd(bench, size) / seconds))


def measure_all(bench, results, case, variants, number, arguments):
    expected = None
    for variant, variables in variants.items():
        expected = measure_one(bench, results, case, variant, variables, number, arguments, expected)


def check_room(bench, size):
    """Two lines are there at a time, and a third is being written."""
    needed = 3 * bench.ranks * size << 20
    free = shutil.disk_usage(bench.directory).free
    if free < needed:
        raise Failed("%s has %d MiB free, and three lines take %d: choose another with --dir, or a smaller --size"
                     % (bench.directory, free >> 20, needed >> 20))


def measure_one(bench, results, case, variant, variables, number, arguments, expected):
    lines = None if variables is None else bench.lines()
    try:
        done = bench.run("large-plain" if variables is None else "large", arguments, lines,
                         {} if variables is None else {**variables, "ELC_KEEP": "1"})
    finally:
        if lines:
            bench.drop(lines)
    if expected not in (None, done.result()):
        raise Failed("%s: %s, but %s before" % (variant, done.result(), expected))
    results.add(PART, case, variant, number, "time of the steps", "s", done.value("steps"))
    results.add(PART, case, variant, number, "slowest step", "s", done.value("slowest step"))
    if variables is not None:
        results.add(PART, case, variant, number, "longest stop", "s", done.value("longest stop"))
        results.add(PART, case, variant, number, "committed after", "s", done.value("committed after"))
        results.add(PART, case, variant, number, "bytes of a line", "B", done.bytes)
        if done.lines != LINES:
            raise Failed("%s took %d lines, not %d:\n%s" % (variant, done.lines, LINES, done.errors))
    return done.result()


def at_once(commands):
    begin = time.monotonic()
    started = [subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for command in commands]
    if any([process.wait() for process in started]):
        raise Failed("failed: " + " ".join(commands[0]))
    return time.monotonic() - begin


def dd(bench, size):
    folder = bench.lines()
    try:
        return at_once([["dd", "if=/dev/zero", "of=" + os.path.join(folder, str(i)), "bs=1M", "count=%d" % size, "conv=fsync"]
                        for i in range(bench.ranks)])
    finally:
        bench.drop(folder)


def restart(bench, results, case, number, size):
    """A job is killed when it has a line; then one that ends where that line is, against the set-up of the plain program."""
    lines = bench.lines()
    try:
        job = bench.start("large", ["--size", size, "--steps", 10 ** 7, "--lines", 10 ** 5], lines)
        if not job.wait(600, lambda: launch.committed(lines)):
            raise Failed("no line in ten minutes:\n" + job.complaints())
        job.destroy()
        job.close()
        newest = line(lines, launch.committed(lines)[-1])
        files = [os.path.join(newest, name) for name in os.listdir(newest)]
        results.add(PART, case, "cat", number, "restart", "s", at_once([["cat", name] for name in files]))
        plain = bench.run("large-plain", ["--size", size, "--steps", 1])
        again = bench.run("large", ["--size", size, "--steps", 1], lines)
        results.add(PART, case, "auto", number, "restart", "s", again.value("set-up") - plain.value("set-up"))
    finally:
        bench.drop(lines)


def table(results):
    head = ["case", "variant"] + ["%s (%s)" % quantity for quantity in QUANTITIES]
    rows = []
    for case in results.names(PART, "case"):
        for variant in results.names(PART, "variant"):
            rows.append([case, variant] + [spread(results.values(PART, case, variant, quantity)) for quantity, _ in QUANTITIES])
    return head, rows


def figure(axes, results):
    case = results.names(PART, "case")[0]
    shown = list(VARIANTS)[1:] + ["dd"]
    for place, quantity in enumerate(("longest stop", "committed after")):
        for i, variant in enumerate(shown):
            values = results.values(PART, case, variant, quantity)
            axes.plot([i + 0.2 * place] * len(values), values, "o" if place else "x", color="C%d" % place,
                      label=quantity if i == 0 else None)
    axes.set_xticks(range(len(shown)), shown)
    axes.set_ylabel("seconds")
    axes.set_yscale("log")
    axes.legend()
