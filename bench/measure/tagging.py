"""Event Logging against Message Tagging (thesis 3.2.2 and 5.7): what a message costs, and the matrix multiplication.

source           the program without libELC
event logging    libELC with its directory of lines; no line is taken, as in the thesis
derived, copied, packed, header    Message Tagging in four ways (bench/tagging.h); `copied` is the thesis's"""
from .results import percent, spread
from .runs import Failed

PART = "tagging"
WAYS = ("derived", "copied", "packed", "header")
VARIANTS = ("source", "event logging") + WAYS
SIZES = (512 << 10, 2 << 20, 8 << 20)
# Matrices whose first message is of these sizes, and what the thesis reports for it: Event Logging, Message Tagging (%).
MATRICES = ((256, 60, 2.33, 4.85), (512, 20, 2.85, 7.40), (1024, 6, 2.79, 8.05))


def run(bench, program, arguments, variant, ranks=None):
    if variant == "source":
        return bench.run(program + "-plain", arguments, ranks=ranks)
    if variant in WAYS:
        return bench.run(program + "-tagging", arguments, variables={"TAGGING": variant}, ranks=ranks)
    lines = bench.lines()
    try:
        return bench.run(program, arguments, lines, ranks=ranks)
    finally:
        bench.drop(lines)


def megabytes(size):
    return "%d KiB" % (size >> 10) if size < 1 << 20 else "%d MiB" % (size >> 20)


def measure(bench, results, options):
    print("Event Logging against Message Tagging (thesis 5.7)", flush=True)
    volume, times = ("64", "2000") if options.quick else ("1024", "20000")
    matrices = [(256, 10)] if options.quick else MATRICES
    for number in range(1, options.repeat + 1):
        expected = {}
        for variant in VARIANTS:
            done = run(bench, "messages", ["--volume", volume, "--times", times], variant, ranks=2)
            same(expected, "messages", done, variant)
            for size in SIZES:
                results.add(PART, megabytes(size), variant, number, "half round trip", "us", done.value("%d bytes" % size))
            for size, iterations, *_ in matrices:
                case = "matmul %d x %d" % (size, size)
                done = run(bench, "matmul", ["--size", size, "--iterations", iterations], variant)
                same(expected, case, done, variant)
                results.add(PART, case, variant, number, "time", "s", done.seconds)
    print("  %-20s" % "" + "".join(" %16s" % variant for variant in VARIANTS))
    for case in results.names(PART, "case"):
        print("  %-20s" % case + "".join(" %16.4g" % median(results, case, variant) for variant in VARIANTS))
        print("  %-20s" % "  over source" + " %16s" % "" + "".join(" %15.2f%%" % over(results, case, variant) for variant in VARIANTS[1:]))
    print(flush=True)


def same(expected, case, done, variant):
    if expected.setdefault(case, done.result()) != done.result():
        raise Failed("%s, %s: %s, but %s before" % (case, variant, done.result(), expected[case]))


def quantity(case):
    return "time" if case.startswith("matmul") else "half round trip"


def median(results, case, variant):
    return results.median(PART, case, variant, quantity(case))


def over(results, case, variant):
    return percent(median(results, case, variant), median(results, case, "source"))


def table(results):
    head = ["case"] + list(VARIANTS) + ["thesis: event logging", "thesis: message tagging"]
    thesis = {"matmul %d x %d" % (row[0], row[0]): row[2:] for row in MATRICES}
    rows = []
    for case in results.names(PART, "case"):
        row = [case + (" (s)" if quantity(case) == "time" else " (us)")]
        for variant in VARIANTS:
            text = spread(results.values(PART, case, variant, quantity(case)))
            row.append(text if variant == "source" else "%s: %+.2f %%" % (text, over(results, case, variant)))
        rows.append(row + ["%.2f %%" % value for value in thesis.get(case, ())] + [""] * (0 if case in thesis else 2))
    return head, rows


def figure(axes, results):
    cases = [case for case in results.names(PART, "case") if quantity(case) != "time"]
    for variant in VARIANTS:
        axes.plot(cases, [median(results, case, variant) / median(results, case, "source") for case in cases], marker="o", label=variant)
    axes.set_ylabel("half round trip, as a multiple of source mode")
    axes.set_ylim(bottom=0)
    axes.legend()
