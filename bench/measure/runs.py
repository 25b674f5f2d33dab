"""How the benchmarks are run: the programs of a build under its MPI, with lines in a directory of their own."""
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tests"))
import launch  # noqa: E402

LIMIT = 3600.0  # seconds that a run may take


class Failed(Exception):
    """A run that did not end as it should; its output is in it."""


class Run:
    def __init__(self, seconds, text, errors, lines, size):
        self.seconds, self.text, self.errors = seconds, text, errors
        self.lines = lines  # committed by it and those before it
        self.bytes = size   # of the newest line

    def value(self, name):
        """The number behind `name: ` in what it has printed."""
        for line in self.text.splitlines():
            if line.startswith(name + ": "):
                return float(line[len(name) + 2:].split()[0])
        raise Failed("no `%s` in what it printed:\n%s%s" % (name, self.text, self.errors))

    def result(self):
        for line in self.text.splitlines():
            if line.startswith("result: "):
                return line
        raise Failed("it gave no result:\n%s%s" % (self.text, self.errors))


class Bench:
    def __init__(self, build, ranks, directory):
        self.build = launch.Build(build)
        self.ranks = ranks
        self.directory = directory or self.build.path
        self.scratch = launch.Scratch()

    def close(self):
        self.scratch.remove()

    def has(self, program):
        return self.build.program(program) is not None

    def lines(self):
        """A new directory for lines; the caller removes it (drop)."""
        return tempfile.mkdtemp(prefix="elc-bench-", dir=self.directory)

    @staticmethod
    def drop(directory):
        shutil.rmtree(directory, ignore_errors=True)

    def start(self, program, arguments, lines=None, variables=None, ranks=None):
        path = self.build.program(program)
        if path is None:
            raise Failed("no %s in %s: build first (ninja -C %s)" % (program, self.build.path, self.build.path))
        variables = dict(variables or {})
        if lines:
            variables["ELC_DIR"] = lines
        return launch.Job(self.build, ranks or self.ranks, path, arguments, variables, self.scratch)

    def run(self, program, arguments, lines=None, variables=None, ranks=None):
        """Runs it to its end; the time is that of the whole command."""
        begin = time.monotonic()
        job = self.start(program, arguments, lines, variables, ranks)
        ended = job.wait(LIMIT)
        seconds = time.monotonic() - begin
        if not ended:
            job.destroy()
            raise Failed("%s: no end after %.0f s" % (" ".join(job.command), LIMIT))
        job.vanish()
        text, errors, code = job.text(), job.complaints(), job.popen.returncode
        job.close()
        if code != 0:
            raise Failed("%s failed (code %d):\n%s%s" % (" ".join(job.command), code, text, errors))
        committed = launch.committed(lines) if lines else []
        newest = committed[-1] if committed else 0
        return Run(seconds, text, errors, newest, size_of(line(lines, newest)) if newest else 0)


def line(directory, number):
    """The directory of a line."""
    return os.path.join(directory, "line-%06d" % number)


def size_of(directory):
    return sum(os.lstat(os.path.join(directory, name)).st_size for name in os.listdir(directory))
