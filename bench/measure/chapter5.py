"""Chapter 5 of the thesis, tests 1 to 5: each benchmark in three modes, and in two more where elc-cc is built.

source                the program without libELC
protocol              with libELC, which follows all messages, but no recovery line is taken
checkpoint            the same, and four lines are taken and written to disk
unchanged             the program without libELC, compiled by elc-cc: all messages are followed, no line is taken
unchanged checkpoint  the same, and about four lines are taken, by time"""
import statistics

from .results import percent, spread
from .runs import Failed

PART = "chapter5"
MODES = ("source", "protocol", "checkpoint")
UNCHANGED = ("unchanged", "unchanged checkpoint")
PROGRAMS = dict({mode: "%s" for mode in MODES}, source="%s-plain", **{mode: "%s-unchanged" for mode in UNCHANGED})


class Benchmark:
    """A benchmark, its sizes, and what the thesis reports: (its size, protocol %, checkpoint %) per table."""

    def __init__(self, title, full, quick, by_time, thesis):
        self.title, self.full, self.quick, self.by_time, self.thesis = title, full, quick, by_time, thesis


BENCHMARKS = {
    "gauss_jordan": Benchmark(
        "Gauss-Jordan elimination (thesis 5.3)", "--size 5000", "--size 1600", False,
        [("4,000 unknowns", 12.25, 34.45), ("8,000", 7.42, 11.25), ("16,000", 0.2, 2.15)]),
    "laplace": Benchmark(
        "Laplace solver (thesis 5.4)", "--size 1024 --iterations 18000", "--size 512 --iterations 5000", False,
        [("512 x 512, 4 processes", 4.35, 8.98), ("512 x 512, 16 processes", 3.58, 6.50),
         ("1024 x 1024, 16 processes", 1.21, 2.43)]),
    "neurosys": Benchmark(
        "NeuronSys (thesis 5.5)", "--size 64 --iterations 440000", "--size 64 --iterations 20000", False,
        [("64 neurons, 4 processes", 27.04, 29.44), ("64, 8 processes", 5.18, 9.94), ("64, 16 processes", 1.30, 7.38)]),
    "hard_disks": Benchmark(
        "Monte-Carlo simulation of hard disks (thesis 5.6; lines by time interval)",
        "--size 32 --iterations 20000 --chains 18", "--size 16 --iterations 10000", True,
        [("16 disks, 10,000 sweeps", 24.87, 33.15), ("32 disks, 10,000 sweeps", 15.86, 23.83),
         ("32 disks, 20,000 sweeps", 11.77, 14.32)]),
    "matmul": Benchmark(
        "Matrix multiplication (thesis 5.7, which took no lines in it)",
        "--size 2048 --iterations 12", "--size 1024 --iterations 4", False,
        [("512 x 512", 2.33, None), ("1024 x 1024", 2.85, None), ("2048 x 2048", 2.79, None)]),
}


def measure(bench, results, options):
    for name, benchmark in BENCHMARKS.items():
        if not options.only or name in options.only:
            measure_one(bench, results, options, name, benchmark)


def run_mode(bench, results, name, benchmark, mode, arguments):
    lines = None if mode == "source" else bench.lines()
    arguments, variables = list(arguments), {}
    if mode == "unchanged checkpoint" or (mode == "checkpoint" and benchmark.by_time):
        variables["ELC_EVERY"] = "%.3f" % (results.median(PART, name, "source", "time") / 4.6)
    elif mode == "checkpoint":
        arguments += ["--lines", "4"]
    try:
        return bench.run(PROGRAMS[mode] % name, arguments, lines, variables)
    finally:
        if lines:
            bench.drop(lines)


def modes_of(results, name):
    """Those in which it was measured."""
    return [mode for mode in MODES + UNCHANGED if results.values(PART, name, mode, "time")]


def row(title, cells):
    print("  %-8s" % title + "".join(" %11s" % cell for cell in cells), flush=True)


def measure_one(bench, results, options, name, benchmark):
    modes = MODES + (UNCHANGED if bench.has(PROGRAMS[UNCHANGED[0]] % name) else ())
    arguments = (benchmark.quick if options.quick else benchmark.full).split()
    expected = None
    print("%s\n%s %s" % (benchmark.title, name, " ".join(arguments)), flush=True)
    row("runs", [mode.replace("unchanged checkpoint", "with lines") for mode in modes])
    for number in range(1, options.repeat + 1):
        seconds = []
        for mode in modes:
            run = run_mode(bench, results, name, benchmark, mode, arguments)
            expected = expected or run.result()
            if run.result() != expected:
                raise Failed("%s in %s mode: %s, but %s before" % (name, mode, run.result(), expected))
            if not mode.endswith("checkpoint") and run.lines:
                raise Failed("%s in %s mode took %d lines" % (name, mode, run.lines))
            results.add(PART, name, mode, number, "time", "s", run.seconds)
            if mode.endswith("checkpoint"):
                results.add(PART, name, mode, number, "lines", "", run.lines)
                results.add(PART, name, mode, number, "bytes of a line", "B", run.bytes)
            seconds.append(run.seconds)
        row(number, ["%.3f" % value for value in seconds])
    tell(results, name, benchmark)


def overhead(results, name, mode):
    """Of the medians, in percent."""
    return percent(results.median(PART, name, mode, "time"), results.median(PART, name, "source", "time"))


def tell(results, name, benchmark):
    modes = modes_of(results, name)
    for title, middle in (("average", statistics.mean), ("median", statistics.median)):
        row(title, ["%.3f" % middle(results.values(PART, name, mode, "time")) for mode in modes])
    row("overhead", [""] + ["%.2f%%" % overhead(results, name, mode) for mode in modes[1:]])
    lines = [sorted({int(n) for n in results.values(PART, name, mode, "lines")}) for mode in modes if mode.endswith("checkpoint")]
    print("  of the medians; lines taken: %s" % "; ".join(", ".join(map(str, taken)) for taken in lines))
    for size, protocol, checkpoint in benchmark.thesis:
        row("thesis", ["", "%.2f%%" % protocol, "none" if checkpoint is None else "%.2f%%" % checkpoint, " " + size])
    print(flush=True)


def table(results):
    """Head and rows of the report's table."""
    names = results.names(PART, "case")
    modes = [mode for mode in MODES + UNCHANGED if any(mode in modes_of(results, name) for name in names)]
    head = (["benchmark"] + [mode + " (s)" for mode in modes] + [mode + " over source" for mode in modes[1:]] +
            ["thesis: protocol", "thesis: checkpoint"])
    rows = []
    for name in names:
        thesis = BENCHMARKS[name].thesis
        rows.append([BENCHMARKS[name].title] + [spread(results.values(PART, name, mode, "time")) for mode in modes] +
                    ["%.2f %%" % overhead(results, name, mode) for mode in modes[1:]] +
                    [span([row[1] for row in thesis]), span([row[2] for row in thesis if row[2] is not None])])
    return head, rows


def span(values):
    return "%.2f to %.2f %%" % (min(values), max(values)) if values else "none"


def figure(axes, results):
    names = results.names(PART, "case")
    modes = [mode for mode in MODES[1:] + UNCHANGED if all(mode in modes_of(results, name) for name in names)]
    width = 0.8 / len(modes)
    for place, mode in enumerate(modes):
        axes.bar([i + width * place for i in range(len(names))], [overhead(results, name, mode) for name in names], width, label=mode)
    axes.set_xticks([i + 0.4 - width / 2 for i in range(len(names))], names)
    axes.set_ylabel("over source mode (%)")
    axes.axhline(0, color="black", linewidth=0.5)
    axes.legend()
