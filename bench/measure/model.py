"""The thesis's model (5.2) beside what was measured: in checkpoint mode a program takes T = T_exe + PO + CO, where the
protocol's overhead PO = C_p N_op is what protocol mode takes more than source mode, and the lines' CO = N_ckpt
(g / IO_speed + C_m N_msg). Here g is the size of a line as it lies on the disk and IO_speed that of dd with one fsync a file;
what is left of CO is the other term, negative where lines are written in the background while the program computes."""
from . import chapter5
from . import lines as large_lines


def io_speed(results):
    """Bytes a second, of all dd together; None where it was not measured."""
    for case in results.names(large_lines.PART, "case"):
        seconds = results.median(large_lines.PART, case, "dd", "committed after")
        size = results.median(large_lines.PART, case, "no", "bytes of a line")
        if seconds and size:
            return size / seconds
    return None


def table(results):
    head = ["benchmark", "T_exe (s)", "PO (s)", "lines", "bytes of a line", "predicted N g / IO_speed (s)",
            "measured CO (s)", "C_m N_msg of all lines, or what the background hides (s)"]
    speed, rows = io_speed(results), []
    for name in results.names(chapter5.PART, "case"):
        source, protocol, checkpoint = (results.median(chapter5.PART, name, mode, "time") for mode in chapter5.MODES)
        taken = results.median(chapter5.PART, name, "checkpoint", "lines")
        size = results.median(chapter5.PART, name, "checkpoint", "bytes of a line")
        predicted = taken * size / speed if speed and taken and size else None
        rows.append([name, "%.3f" % source, "%.3f" % (protocol - source), "%d" % taken, "%d" % (size or 0),
                     "not measured" if predicted is None else "%.3f" % predicted, "%.3f" % (checkpoint - protocol),
                     "" if predicted is None else "%.3f" % (checkpoint - protocol - predicted)])
    return head, rows
