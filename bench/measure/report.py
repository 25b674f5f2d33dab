"""The page of what was measured: machine, versions, medians with their spread, plots (where matplotlib is there)."""
import base64
import html
import io
import os
import platform
import shutil
import subprocess

STYLE = """body { font: 15px/1.5 sans-serif; max-width: 75em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 } td, th { border: 1px solid #bbb; padding: .3em .6em; text-align: left;
font-size: 13px } th { background: #eee } img { max-width: 100% } pre { white-space: pre-wrap }"""


def first_line(command):
    if shutil.which(command[0]) is None:
        return None
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return next((line.strip() for line in done.stdout.splitlines() if line.strip()), None)


def from_file(path, name):
    """The first value of `name : value` in a file of /proc."""
    try:
        with open(path, encoding="utf-8") as file:
            return next((line.split(":", 1)[1].strip() for line in file if line.startswith(name)), None)
    except OSError:
        return None


def machine(bench, options):
    """What a reader needs to know: pairs of a name and a value."""
    versions = {"openmpi": ["mpirun.openmpi", "--version"], "mpich": ["mpichversion"], "lam": ["laminfo"]}
    about = [("processor", from_file("/proc/cpuinfo", "model name") or platform.processor()),
             ("processors", str(os.cpu_count())), ("memory", from_file("/proc/meminfo", "MemTotal")),
             ("system", "%s %s" % (platform.system(), platform.release())),
             ("MPI", first_line(versions[bench.build.mpi]) or bench.build.mpi), ("compiler", first_line(["cc", "--version"])),
             ("libELC", first_line([bench.build.program("elc") or "elc", "--version"])),
             ("lines in", "%s (%s)" % (bench.directory, first_line(["stat", "-f", "-c", "%T", bench.directory]))),
             ("load before", "%.2f" % options.load), ("processes", str(bench.ranks)), ("runs of each", str(options.repeat)),
             ("sizes", "quick: too short to judge by" if options.quick else "full")]
    return [(name, value) for name, value in about if value]


def rows_of(head, rows):
    def cells(kind, row):
        return "<tr>" + "".join("<%s>%s</%s>" % (kind, html.escape(str(cell)), kind) for cell in row) + "</tr>"
    return "<table>" + cells("th", head) + "".join(cells("td", row) for row in rows) + "</table>"


def picture(draw, results):
    """An <img>, or why there is none."""
    try:
        import matplotlib
    except ImportError:
        return "<p>No plot: matplotlib is not installed.</p>"
    matplotlib.use("Agg")
    from matplotlib import pyplot
    figure, axes = pyplot.subplots(figsize=(9, 4))
    draw(axes, results)
    figure.tight_layout()
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=100)
    pyplot.close(figure)
    return '<img alt="" src="data:image/png;base64,%s">' % base64.b64encode(data.getvalue()).decode()


def write(path, results, parts, bench, options):
    """`parts`: the modules that have measured something, and those that only compute."""
    page = ["<!DOCTYPE html><html><head><meta charset='utf-8'><title>libELC: benchmarks</title><style>%s</style></head><body>"
            % STYLE, "<h1>libELC: benchmarks</h1>", rows_of(("", ""), machine(bench, options)),
            "<p>Medians; in brackets the least and the greatest value, and values further from the quartiles than 1.5 "
            "times their distance. The variants of a part alternate.</p>"]
    for part in parts:
        head, rows = part.table(results)
        if not rows:
            continue
        title, _, text = part.__doc__.partition("\n\n")
        page += ["<h2>%s</h2>" % html.escape(title.split(":")[0]), "<pre>%s</pre>" % html.escape(part.__doc__), rows_of(head, rows)]
        if hasattr(part, "figure"):
            page.append(picture(part.figure, results))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(page + ["</body></html>\n"]))
