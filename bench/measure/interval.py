"""The optimal interval between lines (thesis 5.8), predicted and observed: bench/large is killed at random moments and
started again until it ends, with lines at several intervals.

The thesis expects EPET = T_O + T_O/T_UP T_R + T_O/dt T_C + T_O/T_UP dt/2, least where dt = sqrt(2 T_C T_UP) (J. W. Young,
A first order approximation to the optimum checkpoint interval, 1974): T_O is the time without lines and failures, T_C
what a line costs, T_R what a start and the set-up cost, T_UP the mean time between failures, dt the interval. (The thesis counts in whole
minutes, and has (1 + dt)/2 for dt/2.) T_O, T_C and T_R are measured first; failures are drawn from an
exponential distribution, the same for each interval."""
import math
import random
import time

from .results import spread
from .runs import Failed, launch

PART = "interval"
PARTS_OF_BEST = (0.25, 0.5, 1.0, 2.0, 4.0)
FAILURES = 4  # expected in a run


def epet(t_o, t_c, t_r, t_up, dt):
    return t_o + t_o / t_up * t_r + t_o / dt * t_c + t_o / t_up * dt / 2


def measure(bench, results, options):
    arguments = ["--size", 32 if options.quick else 128, "--steps", 2500 if options.quick else 8000]
    print("The optimal interval (thesis 5.8): large %s" % " ".join(map(str, arguments)), flush=True)
    t_o, t_c, t_r, expected = measure_costs(bench, results, arguments, 1 if options.quick else 3)
    t_up = t_o / FAILURES
    best = math.sqrt(2 * t_c * t_up)
    print("  T_O %.3f s, T_C %.4f s, T_R %.3f s, T_UP %.3f s: the optimum is %.3f s" % (t_o, t_c, t_r, t_up, best))
    print("  %12s %12s %12s %10s" % ("interval", "predicted", "observed", "failures"))
    rounds = 1 if options.quick else options.repeat
    for number in range(1, rounds + 1):
        for part in PARTS_OF_BEST:
            case = "%.3f s" % (part * best)
            if number == 1:
                results.add(PART, case, "predicted", 0, "time", "s", epet(t_o, t_c, t_r, t_up, part * best))
            seed = options.seed + number
            seconds, failures = run_with_failures(bench, arguments, part * best, t_up, random.Random(seed), expected)
            results.add(PART, case, "observed", number, "time", "s", seconds)
            results.add(PART, case, "observed", number, "failures", "", failures)
            print("  %12s %12.3f %12.3f %10d   seed %d" % (case, results.median(PART, case, "predicted", "time"), seconds,
                                                         failures, seed), flush=True)
    print(flush=True)


def measure_costs(bench, results, arguments, times):
    """T_O, T_C and T_R, as medians, and the right result."""
    lines_taken = 20
    for number in range(1, times + 1):
        lines = bench.lines()
        try:
            done = bench.run("large", arguments, lines)
            results.add(PART, "costs", "T_O", number, "time", "s", done.seconds)
        finally:
            bench.drop(lines)
        lines = bench.lines()
        try:
            with_lines = bench.run("large", arguments, lines, {"ELC_EVERY": "%.3f" % (done.seconds / lines_taken)})
        finally:
            bench.drop(lines)
        cost = max(with_lines.seconds - done.seconds, 0.0) / max(with_lines.lines, 1)
        results.add(PART, "costs", "T_C", number, "time", "s", max(cost, 0.0005))  # less cannot be seen in a difference
        start = bench.run("large", arguments[:2] + ["--steps", 1])
        results.add(PART, "costs", "T_R", number, "time", "s", start.seconds)
    return tuple(results.median(PART, "costs", name, "time") for name in ("T_O", "T_C", "T_R")) + (done.result(),)


def run_with_failures(bench, arguments, interval, t_up, drawn, expected):
    """Seconds from the first start to the end, and how often it was killed."""
    lines = bench.lines()
    begin, failures = time.monotonic(), 0
    try:
        while True:
            job = bench.start("large", arguments, lines, {"ELC_EVERY": "%.3f" % interval})
            up = time.monotonic() + drawn.expovariate(1.0 / t_up)
            job.wait(3600, lambda: time.monotonic() > up)
            if not job.running():
                break
            failures += 1
            launch.kill(job.ranks())
            job.destroy()
            job.close()
        seconds = time.monotonic() - begin
        text, code = job.text(), job.popen.returncode
        job.vanish()
        job.close()
        if code != 0 or expected not in text:
            raise Failed("after %d failures, lines every %.3f s: code %d, and not %s:\n%s" % (failures, interval, code, expected, text))
        return seconds, failures
    finally:
        bench.drop(lines)


def table(results):
    head = ["interval", "predicted (s)", "observed (s)", "failures"]
    rows = [[case] + [spread(results.values(PART, case, variant, quantity))
                      for variant, quantity in (("predicted", "time"), ("observed", "time"), ("observed", "failures"))]
            for case in results.names(PART, "case") if case != "costs"]
    costs = ["%s %.4g s" % (name, results.median(PART, "costs", name, "time")) for name in ("T_O", "T_C", "T_R")]
    return head, rows + [[", ".join(costs)] + [""] * 3]


def figure(axes, results):
    cases = [case for case in results.names(PART, "case") if case != "costs"]
    intervals = [float(case.split()[0]) for case in cases]
    axes.plot(intervals, [results.median(PART, case, "predicted", "time") for case in cases], label="predicted")
    for i, case in enumerate(cases):
        values = results.values(PART, case, "observed", "time")
        axes.plot([intervals[i]] * len(values), values, "o", color="C1", label="observed" if i == 0 else None)
    axes.set_xscale("log")
    axes.set_xlabel("interval (s)")
    axes.set_ylabel("seconds")
    axes.legend()
