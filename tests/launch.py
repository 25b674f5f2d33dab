"""How the tests start an MPI program under the MPI of a build, watch it and clean up after it.

Every process of a job carries a mark in its environment, and only marked processes are ever killed: ranks that a
daemon has started are found as well as those that mpirun has, and nothing else is touched.
"""

import contextlib
import glob
import hashlib
import itertools
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

MPIS = ("openmpi", "mpich", "lam")
_MARK = "ELC_TEST_MARK"
_marks = itertools.count(1)
_unclean = set()  # jobs that have been started and not cleaned up after


class Build:
    """A build directory: which MPI it is for, where its programs are."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        with open(os.path.join(self.path, "meson-info", "intro-buildoptions.json")) as f:
            options = {option["name"]: option["value"] for option in json.load(f)}
        self.mpi = options["mpi"]
        self.sanitized = options["b_sanitize"] != "none"
        # Whether what a user types links its archive: without a sanitizer's runtime, and without clang's intermediate code.
        self.links_alone = not self.sanitized and not (options["b_lto"] and self._made_by_clang())
        # What starts a program of another processor here (tests/foreign/prepare): words before its path.
        self.runner = self._words("runner")
        # What starts a launcher of another processor: words before it.
        self.inside = self._words("inside")
        self.name = os.path.basename(self.path)

    def _made_by_clang(self):
        with open(os.path.join(self.path, "meson-info", "intro-targets.json")) as f:
            return any("clang" in word for target in json.load(f) for source in target["target_sources"] for word in source["compiler"])

    def _words(self, name):
        path = os.path.join(self.path, name)
        if not os.path.exists(path):
            return []
        with open(path) as f:
            return f.read().splitlines()

    def program(self, name):
        """The path of a program, by its name in bench/ or tests/; None if it is not built."""
        for folder in ("bench", "bench/examples", "tests/kill", "tests/mpi", "tests/memory", "src/tool"):
            path = os.path.join(self.path, folder, name)
            if os.path.isfile(path):
                return path
        return None


def launcher(mpi, ranks, names):
    """The beginning of a command line; `names` are the variables that the ranks shall see."""
    if mpi == "openmpi":
        return ["mpirun.openmpi", "--oversubscribe", "-n", str(ranks)]
    if mpi == "mpich":
        return ["mpiexec.mpich", "-n", str(ranks)]
    return ["mpirun.lam", "-x", ",".join(sorted(names)), "-np", str(ranks)]


def environment(mpi, scratch):
    """What the MPI needs to run here: as root, more ranks than processors, its files in `scratch`."""
    if mpi != "openmpi":
        return {}
    return {
        "OMPI_ALLOW_RUN_AS_ROOT": "1",
        "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
        "OMPI_MCA_mpi_yield_when_idle": "1",
        # What a rank says at its end comes from itself: on its way by mpirun 4.1 often loses it.
        "OMPI_MCA_orte_base_help_aggregate": "0",
        "OMPI_MCA_osc": "pt2pt,sm",  # windows without reading a neighbour's memory, which most containers forbid
        "OMPI_MCA_rmaps_base_oversubscribe": "1",
        # Open MPI 4.1's other component, treematch, was seen to hang in MPI_Dist_graph_create, without the library.
        "OMPI_MCA_topo": "basic",
        "OMPI_MCA_btl_vader_backing_directory": scratch,
        "TMPDIR": scratch,
    }


class Scratch:
    """A directory for what an MPI leaves behind when it is killed: in memory where that is possible. Each job has a
    part of its own, because another one may run at the same time."""

    def __init__(self):
        base = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        self.path = tempfile.mkdtemp(prefix="elc-", dir=base)

    def part(self):
        return tempfile.mkdtemp(dir=self.path)

    def remove(self):
        shutil.rmtree(self.path, ignore_errors=True)


class Job:
    """One start of a program, in the background. `tool`: the words of `elc run`, which starts it then. `directory`:
    where it works, if not here."""

    def __init__(self, build, ranks, program, arguments, variables, scratch, tool=None, directory=None):
        self.mpi = mpi = build.mpi
        self.inside = build.inside
        self.program = program
        # The executables that its ranks can be seen to be. Only a runner is looked for: which() sees no file in
        # a directory that is open to root alone, whatever rights a user has been given (as_user).
        self.images = {os.path.realpath(path) for path in [shutil.which(word) for word in build.runner[:1]] + [program]}
        self.mark = "%d-%d-%d" % (os.getpid(), next(_marks), time.monotonic_ns())
        self.scratch = scratch.part()
        own = dict(variables)
        own[_MARK] = self.mark
        full = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
        full.update(environment(mpi, self.scratch))
        full.update(own)
        words = build.runner + [program] + [str(a) for a in arguments]
        if tool is None:
            command = build.inside + launcher(mpi, ranks, own) + words
        else:
            command = tool + ["-n", str(ranks), "--mpi", mpi, "--"] + words
        self.command = command
        self.output = tempfile.TemporaryFile()
        self.errors = tempfile.TemporaryFile()
        _unclean.add(self)
        self.popen = subprocess.Popen(command, env=full, stdin=subprocess.DEVNULL, stdout=self.output,
                                      stderr=self.errors, start_new_session=True, cwd=directory)

    # ---- Its processes ----

    def processes(self):
        """Pids of all living processes with this job's mark; the launcher is one of them."""
        needle = ("%s=%s\0" % (_MARK, self.mark)).encode()
        found = []
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open("/proc/%s/environ" % name, "rb") as f:
                    if needle not in f.read() + b"\0":
                        continue
                with open("/proc/%s/stat" % name) as f:
                    if f.read().rsplit(")", 1)[1].split()[0] in "ZX":
                        continue
            except OSError:
                continue
            found.append(int(name))
        return found

    def ranks(self):
        """Pids of the program's processes."""
        found = []
        for pid in self.processes():
            try:
                if os.readlink("/proc/%d/exe" % pid) in self.images:
                    found.append(pid)
            except OSError:
                pass
        return sorted(found)

    def launchers(self):
        ranks = set(self.ranks())
        return [pid for pid in self.processes() if pid not in ranks]

    def running(self):
        return self.popen.poll() is None

    # ---- Its end ----

    def wait(self, seconds, enough=lambda: False):
        """Waits until it has ended, or until `enough()`; False when that takes longer."""
        end = time.monotonic() + seconds
        while self.running() and not enough():
            if time.monotonic() > end:
                return False
            time.sleep(0.002)
        return True

    def vanish(self, seconds=20.0):
        """Waits until no process is left of an ended job, and after some time kills those that stay."""
        end = time.monotonic() + seconds
        while time.monotonic() < end and self.processes():
            time.sleep(0.01)
        self.destroy()

    def destroy(self):
        """Kills all of it."""
        end = time.monotonic() + 60
        while True:
            left = self.processes()
            if not left and not self.running():
                break
            if time.monotonic() > end:  # a test that waits for ever says nothing
                raise RuntimeError("these processes of %s cannot be killed: %s" % (self.command, left))
            kill(left)
            time.sleep(0.01)
        self.clean()

    def clean(self):
        shutil.rmtree(self.scratch, ignore_errors=True)
        _unclean.discard(self)
        if self.mpi == "openmpi" and self.popen.returncode != 0:
            # Killed while it opens a file (TRAFFIC_FILE), it leaves a semaphore by that name, which the next job waits for.
            for left in glob.glob("/dev/shm/sem.OMPIO_lines.data*"):
                with contextlib.suppress(OSError):
                    os.remove(left)
        left = self.mpi == "lam" and not self.inside and self.popen.returncode != 0
        if left and not _unclean:  # lamclean would end other jobs, too
            subprocess.run(["lamclean"], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           stderr=subprocess.DEVNULL, timeout=60)

    def close(self):
        """Forgets its output."""
        self.output.close()
        self.errors.close()

    def text(self):
        """Standard output so far."""
        return _read(self.output)

    def complaints(self):
        """Standard error so far."""
        return _read(self.errors)

    def result(self):
        """The digest of the line `result: DIGEST`; None if there is none."""
        for line in self.text().splitlines():
            if line.startswith("result: "):
                return line[len("result: "):].strip()
        return None

    def stacks(self):
        """Where every rank stands, for a report of a hang."""
        if shutil.which("gdb") is None:
            return "(gdb is not installed: no stacks)"
        parts = []
        for pid in self.ranks():
            try:
                run = subprocess.run(["gdb", "-p", str(pid), "-batch", "-ex", "thread apply all bt 30"],
                                     stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                     timeout=120)
                frames = [l for l in run.stdout.decode(errors="replace").splitlines() if l.startswith("#")]
            except subprocess.TimeoutExpired:  # a report of a hang is one without them, too
                frames = ["(gdb has not told in time)"]
            parts.append("process %d\n%s" % (pid, "\n".join(frames)))
        return "\n".join(parts)


def _read(file):
    return os.pread(file.fileno(), 1 << 24, 0).decode(errors="replace")


def kill(pids, number=signal.SIGKILL):
    for pid in pids:
        try:
            os.kill(pid, number)
        except OSError:
            pass


def traffic_arguments(builds):
    """What the program traffic may use in a run that comes to these builds."""
    mpis = {build.mpi for build in builds}
    return ["--mpi3", int("lam" not in mpis), "--own", int(len(mpis) == 1),
            "--native", int(not any(build.runner for build in builds))]


# ---- What lies in a directory of lines ----

def lines_in(directory):
    """{number: set of file names} of the lines in a directory."""
    found = {}
    try:
        names = os.listdir(directory)
    except OSError:
        return found
    for name in names:
        if not name.startswith("line-"):
            continue
        try:
            found[int(name[5:])] = set(os.listdir(os.path.join(directory, name)))
        except (OSError, ValueError):
            pass
    return found


def committed(directory):
    """Numbers of the committed lines."""
    return sorted(n for n, files in lines_in(directory).items() if "commit" in files)


def newest(directory):
    """The number of the newest committed line; 0 if there is none."""
    return max(committed(directory), default=0)


def listed(elc, directory, line):
    """What `elc ls` tells of a line."""
    text = subprocess.run([elc, "ls", "--json", directory], check=True, stdout=subprocess.PIPE).stdout
    return next(facts for facts in json.loads(text)["lines"] if facts["line"] == line)


def rank_files(line):
    """What `elc` takes for the files of the ranks in the directory of a line, some of which may have written to one together."""
    ranks = set()
    for name in os.listdir(line):
        numbers = [int(n) for n in re.findall(r"\d+", name)]
        if re.fullmatch(r"rank-\d+\.elc", name):
            ranks.add(numbers[0])
        elif re.fullmatch(r"ranks-\d+-\d+(-\d+)?\.elc", name):
            ranks.update(range(numbers[0], numbers[1] + 1, (numbers + [1])[2]))
    return [os.path.join(line, "rank-%06d.elc" % rank) for rank in sorted(ranks)]


def messages(elc, directory, line):
    """What `elc show` tells of the messages in each rank's file of a line."""
    shown = (subprocess.run([elc, "show", "--json", path], check=True, stdout=subprocess.PIPE).stdout
             for path in rank_files(os.path.join(directory, "line-%06d" % line)))
    return [json.loads(text)["messages"] for text in shown]


def relied_on(elc, directory, line):
    """How many others a line relies on; 0 without `elc`."""
    if elc is None:
        return 0
    shown = subprocess.run([elc, "ls", "--json", directory], check=True, stdout=subprocess.PIPE).stdout
    return next(len(facts["relies_on"]) for facts in json.loads(shown)["lines"] if facts["line"] == line)


def contents(directory):
    """A digest of each file of the lines in a directory, by its path."""
    found = {}
    for folder, _, names in os.walk(directory):
        for name in names:
            if name != "job.lock":
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    found[path] = hashlib.sha256(f.read()).hexdigest()
    return found
