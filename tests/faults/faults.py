#!/usr/bin/env python3
"""faults.py --build BUILD [--sample N] [--seed S]: each call on a file that a job or the command `elc` makes goes wrong.

A scene is a job or a command on a directory of lines. It runs once to count its calls of each kind (fault.c), and then
once for each call, each error that it may have, and each manner: it fails once, or from then on; it does a part of its
work; the process is killed before it, or after a part of it. After each:

- the job ends with the right answer, or says why it cannot go on, and does not hang;
- a line that was said to have committed is whole (elc verify), or was removed for a newer one;
- the next start goes on from the newest line, ends with the right answer, and leaves nothing behind.

Two scenes cut the power at a call: what was not flushed is lost, half there, or there, and so are names in directories,
each by itself. The job is started again from what is left.

A job is of a single process without a launcher, which MPICH starts in no time, or of two with the fault in one of them.
"""

import argparse
import collections
import concurrent.futures
import errno
import hashlib
import itertools
import os
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402

PATIENCE = 120  # seconds; only a hang takes so long
ABORTED = 3  # the exit code of the program when it says itself what it cannot do
TRIES = 5  # until a fault comes: how many calls there are depends a little on time
FULL = ("ENOSPC", "EDQUOT")
OPENING = ("EINTR", "EMFILE", "ENOMEM", "EIO", "ESTALE", "EACCES") + FULL
WRITING = ("EINTR", "EIO", "ESTALE") + FULL
LOOKING = ("EINTR", "EIO", "ESTALE", "ENOMEM")
# The order is that of fault.c. The errors that a call may have; what never is a reason to fail from then on is below.
KINDS = {
    "open": OPENING, "read": ("EINTR", "EIO", "ESTALE"), "pread": ("EINTR", "EIO", "ESTALE"), "write": WRITING,
    "fsync": WRITING, "aio_fsync": ("EAGAIN",) + WRITING, "close": WRITING, "rename": WRITING + ("ENOMEM",),
    "unlink": LOOKING + ("EACCES",), "mkdir": WRITING + ("EACCES",), "statat": LOOKING, "fstat": LOOKING, "stat": LOOKING,
    "access": LOOKING, "ftruncate": WRITING, "fchmod": ("EINTR", "EIO", "EPERM"), "fdopendir": ("EMFILE", "ENOMEM"),
    "readdir": ("EINTR", "EIO", "ESTALE"), "closedir": ("EIO",), "realpath": LOOKING, "dup2": ("EINTR", "EMFILE", "EIO"),
    "fcntl": ("EINTR", "EMFILE", "ENOLCK", "EIO"), "fopen": OPENING, "fdopen": ("ENOMEM",),
    "freopen": ("EMFILE", "ENOMEM"), "fflush": WRITING, "fclose": WRITING, "fseeko": ("EIO",), "ftello": ("EIO",)}
LASTING = ("EIO", "ENOSPC", "EMFILE", "ENOMEM")
FOR_THE_USER = ("EACCES", "EPERM")  # does not pass by itself: another attempt would fail as well
PARTS = {"read": ("short",), "pread": ("short",), "write": ("short", "torn")}

Fault = collections.namedtuple("Fault", "scene kind number how error")
Ended = collections.namedtuple("Ended", "code output errors hung")


class Wrong(Exception):
    pass


class Unheard(Exception):
    """Nothing was said, or it was lost."""


def manners(kind):
    """What can become of a call: (how, error)."""
    for error in KINDS[kind]:
        yield "once", error
        if error in LASTING:
            yield "lasting", error
    for how in PARTS.get(kind, ()) + ("kill",):
        yield how, "-"


# ---- Processes -------------------------------------------------------------------------------------

def members(session):
    """The processes of a session."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/stat" % name) as f:
                if int(f.read().rsplit(")", 1)[1].split()[3]) == session:
                    found.append(int(name))
        except OSError:
            pass
    return found


def run(command, home, variables):
    """Runs a command in a session of its own, which is ended when that takes very long."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("ELC_", "FAULT_"))}
    environment.update(variables)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                   start_new_session=True)
        hung = False
        try:
            process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            hung = True
            for left in iter(lambda: members(process.pid), []):
                launch.kill(left)
                process.poll()
                time.sleep(0.01)
        texts = [os.pread(f.fileno(), 1 << 24, 0).decode(errors="replace") for f in (out, err)]
        return Ended(process.wait(), texts[0], texts[1], hung)


class Counter:
    """The file that fault.c writes to."""
    SIZE = 8 * (len(KINDS) + 2)

    def __init__(self, path):
        self.path = path
        with open(path, "wb") as f:
            f.write(bytes(self.SIZE))

    def read(self):
        with open(self.path, "rb") as f:
            numbers = struct.unpack("=%dQ" % (self.SIZE // 8), f.read())
        return dict(zip(KINDS, numbers)), numbers[-2], numbers[-1]


# ---- Scenes ------------------------------------------------------------------------------------------

OUTCOMES = ("right", "told", "refused", "killed", "missed", "wrong")
SENTENCE = re.compile(r"^(elc|files): .{10,}$", re.MULTILINE)
# What a command that goes on could not find out.
UNKNOWN = re.compile(r"\bdamaged?\b|\bcannot\b|\bnull\b|(?<!\S)\?(?=[\s,])")
USUAL = ("committed", "restarting from line", "continuing from line", "starting on")


def complaints(ended):
    """What was said beside the usual."""
    return "\n".join(l for l in ended.errors.splitlines() if not any(word in l for word in USUAL))


def all_names(home):
    return [os.path.join(folder, name) for folder, folders, names in os.walk(home) for name in folders + names]


class Scene:
    """What goes wrong in it, from the directory that it begins with to what has to be true after it."""

    def __init__(self, name, bench, faulty):
        self.name, self.bench = name, bench
        self.faulty = faulty  # the program in which calls go wrong
        self.template = os.path.join(bench.root, "template-" + name.replace(" ", "-"))

    @staticmethod
    def lines_of(home):
        return os.path.join(home, "some", "lines")

    def shim(self, home, counter, fault=None):
        variables = {"LD_PRELOAD": self.bench.shim, "FAULT_UNDER": home, "FAULT_PROGRAM": self.faulty,
                     "FAULT_COUNTS": counter.path}
        if fault:
            variables.update(FAULT_KIND=fault.kind, FAULT_AT=str(fault.number), FAULT_HOW=fault.how,
                             FAULT_ERRNO=str(getattr(errno, fault.error, 0)))
        return variables

    def start(self, home, counter=None, fault=None):
        """Runs it once, in a copy of the template: without a counter without fault.c."""
        raise NotImplementedError

    def count(self):
        """Runs it without a fault, for the numbers of calls and for what is right."""
        home = self.template + "-counted"
        shutil.copytree(self.template, home)
        counter = Counter(home + ".counts")
        self.reference = self.start(home, counter)
        shutil.rmtree(home)
        if self.reference.code != 0:
            raise Wrong("%s fails without a fault: %s" % (self.name, self.reference))
        self.counts = counter.read()[0]

    def faults(self):
        for kind, count in self.counts.items():
            for number in range(1, count + 1):
                for how, error in manners(kind):
                    yield Fault(self.name, kind, number, how, error)

    def judge(self, home, ended, fault, injected):
        """What has become of it: one of OUTCOMES; raises Wrong."""
        raise NotImplementedError


class Job(Scene):
    """A job that begins, or goes on after a kill. `at`: the rank in which calls go wrong. `under`: elc run, with faults
    in that or in the program."""

    def __init__(self, name, bench, ranks=1, at=0, restart=False, keep=1, lines=2, under_elc=False, faulty="files", pieces=None,
                 together=False):
        super().__init__(name, bench, faulty)
        self.ranks, self.at, self.keep, self.lines, self.under_elc, self.pieces = ranks, at, keep, lines, under_elc, pieces
        self.together = together
        os.mkdir(self.template)
        for rank in range(ranks):
            with open(os.path.join(self.template, "list-%d" % rank), "w") as f:
                f.write("\n".join(str(n * n % 1000 + rank) for n in range(60)))
        self.find_answer()
        if restart:
            self.interrupt()

    def variables(self, home):
        pieces = {"ELC_INCREMENTAL": str(self.pieces)} if self.pieces else {}
        return {"ELC_DIR": self.lines_of(home), "ELC_KEEP": str(self.keep), "ELC_VERBOSE": "1",
                "ELC_AGGREGATE": "node" if self.together else "no", **pieces}

    def command(self, shim, patience=10000):
        program = [self.bench.files, "--steps", "30", "--lines", str(self.lines + 1), "--patience", str(patience)]
        if self.under_elc:
            under = ["run", "-n", "1", "--launcher", "env RANKS={n}", "--max-restarts", "3", "--"]
            return [self.bench.elc] + under + program
        if self.ranks == 1:
            return program
        command = ["mpiexec.mpich"]
        for rank in range(self.ranks):
            own = shim if rank == self.at else {}
            command += ([":"] if rank else []) + ["-n", "1"]
            command += list(itertools.chain(*(("-env", k, v) for k, v in own.items()))) + program
        return command

    def start(self, home, counter=None, fault=None):
        shim = self.shim(home, counter, fault) if counter else {}
        # A line that is refused never comes.
        patience = 200 if fault and fault.how not in ("kill", "torn") else 10000
        return run(self.command(shim, patience), home, {**self.variables(home), **(shim if self.ranks == 1 else {})})

    def state(self, home, ended):
        """What a run must end with: what it says - more than once where it was killed at its very end - and its files."""
        found = sorted({l for l in ended.output.splitlines() if l.startswith("result: ")})
        for name in itertools.product(("log", "table", "list"), range(self.ranks)):
            with open(os.path.join(home, "%s-%d" % name), "rb") as f:
                found.append(hashlib.sha256(f.read()).hexdigest())
        return found

    def find_answer(self):
        home = self.template + "-plain"
        shutil.copytree(self.template, home)
        command = self.command({}, patience=0)
        ended = run(command[command.index(self.bench.files):] if self.under_elc else command, home, {})
        if ended.code != 0:
            raise Wrong("the program fails without lines: %s" % (ended,))
        self.answer = self.state(home, ended)
        shutil.rmtree(home)

    def interrupt(self):
        """Makes the template that of a job that was killed while it took its last line."""
        scene = Job(self.name + " before", self.bench, self.ranks, keep=self.keep, lines=self.lines, pieces=self.pieces,
                    together=self.together)
        scene.count()
        last = Fault(self.name, "ftello", scene.counts["ftello"], "kill", "-")
        for _ in range(TRIES):
            shutil.rmtree(self.template)
            shutil.copytree(scene.template, self.template)
            ended = scene.start(self.template, Counter(self.template + ".counts"), last)
            if ended.code != 0 and launch.newest(self.lines_of(self.template)) == self.lines - 1:
                return
        raise Wrong("the job was not killed in its last line: %s" % (ended,))

    def faults(self):
        # A kill of elc run itself ends the job.
        return (f for f in super().faults() if self.faulty == "files" or f.how not in ("kill", "torn"))

    def judge(self, home, ended, fault, injected):
        said = [int(n) for n in re.findall(r"line (\d+) (?:has )?committed", ended.errors)]
        acknowledged = max(said + [launch.newest(self.lines_of(self.template))])
        if ended.hung:
            raise Wrong("it hangs")
        if ended.code == 0:
            if self.state(home, ended) != self.answer:
                raise Wrong("it ends with 0 and a wrong answer")
            outcome = "told" if complaints(ended) else "right"
        elif fault.how in ("kill", "torn") and injected and not self.under_elc:
            outcome = "killed"
        elif self.ranks > 1 and ended.code == ABORTED and not complaints(ended):
            raise Unheard  # MPICH's launcher may end without having read what was said just before MPI_Abort
        elif ended.code < 0 or not SENTENCE.search(complaints(ended)):
            raise Wrong("it ends with code %d and does not say why" % ended.code)
        elif self.under_elc and self.faulty == "files" and fault.how == "once" and fault.error not in FOR_THE_USER:
            raise Wrong("elc run gives up after a single failure in the program")
        else:
            outcome = "refused"
        self.check_lines(home, acknowledged)
        finished = os.path.exists(os.path.join(self.lines_of(home), "finished"))
        if ended.code != 0 or not finished:
            self.check_goes_on(home, acknowledged, finished)
        return outcome

    def check_lines(self, home, acknowledged):
        """Only a line that nobody was told of may be less than whole."""
        if not os.path.isdir(self.lines_of(home)):
            return
        verified = run([self.bench.elc, "verify", self.lines_of(home)], home, {})
        broken = [int(n) for n in re.findall(r"line (\d+) (?:is not whole|cannot be read)", verified.output)]
        if any(n <= acknowledged for n in broken) or verified.code not in (0, 65):
            raise Wrong("elc verify says: %s%s" % (verified.output, verified.errors))

    def check_goes_on(self, home, acknowledged, finished=False):
        again = self.start(home)
        from_lines = [int(n) for n in re.findall(r"(?:restarting|continuing) from line (\d+)", again.errors)]
        if again.hung or again.code != 0 or self.state(home, again) != self.answer:
            raise Wrong("the next start goes wrong (code %d): %s%s" % (again.code, again.output, again.errors))
        if acknowledged and not finished and (not from_lines or from_lines[0] < acknowledged):
            raise Wrong("line %d had committed, and the next start goes on from %s"
                        % (acknowledged, from_lines or "no line"))
        # What lies beside the lines is small, and of processes that were killed.
        left = [n for n in all_names(home) if ".elc-restoring" in n or (".tmp" in n and "/line-" in n)]
        if left and "committed" in again.errors:
            raise Wrong("left behind: %s" % " ".join(left))


class Disk:
    """What a disk may hold after a cut of the power, by the trace that fault.c has left: names that were not flushed with
    their directory are there or not, what was not flushed of a file is there, or not, or half."""

    def __init__(self, home, saved, before):
        self.contents = {}  # the path of what is in a file now, by its number
        self.flushed = dict(before)  # of what is in it for certain
        self.directories = {}  # {name: (is a directory, number)}, by number
        self.pending = []  # changes of directories that were not flushed
        for folder, folders, names in os.walk(home):
            own = self.directories.setdefault(os.stat(folder).st_ino, {})
            for name in folders + names:
                path = os.path.join(folder, name)
                number = os.stat(path).st_ino
                own[name] = (name in folders, number)
                if name in names:
                    self.contents[number] = path
        self.root = os.stat(home).st_ino
        with open(os.path.join(saved, "trace")) as f:
            self.replay(saved, [line.split() for line in f])

    def replay(self, saved, changes):
        for what, number, *rest in changes:
            if what == "flush":
                self.pending = [change for change in self.pending if change[1] != int(number)]
                if rest != ["0"]:
                    self.flushed[int(number)] = os.path.join(saved, rest[0])
                continue
            if what in ("rename", "unlink"):  # the file that has lost this name
                path = os.path.join(saved, rest[-1])
                rest[-1] = os.stat(path).st_ino if rest[-1] != "0" else 0
                if rest[-1]:
                    self.contents.setdefault(rest[-1], path)
            self.pending.append((what, int(number), *rest))

    def lose_name(self, what, directory, *rest):
        """Undoes a change; the later ones have been undone, or are on the disk without it."""
        names = self.directories.get(directory, {})
        if what in ("create", "mkdir"):
            if names.get(rest[0], (None, 0))[1] == int(rest[1]):
                del names[rest[0]]
        elif what == "rename" and rest[1] in names:
            names[rest[0]] = names.pop(rest[1])
            if rest[2]:
                names[rest[1]] = (False, rest[2])
        elif what == "unlink" and rest[0] not in names:
            names[rest[0]] = (False, rest[1])
        elif what == "rmdir" and rest[0] not in names:
            names[rest[0]] = (True, int(rest[1]))
            self.directories.setdefault(int(rest[1]), {})

    def cut(self, home, lost, chance):
        """Makes `home` what is left. `lost` says what is: names, contents, all, or some of both."""
        for change in reversed(self.pending):
            if lost in ("all", "names") or (lost.startswith("some") and chance.random() < 0.5):
                self.lose_name(*change)
        self.write(self.root, home, lost, chance)

    def write(self, number, path, lost, chance):
        os.mkdir(path)
        for name, (is_directory, inner) in self.directories[number].items():
            if is_directory:
                self.write(inner, os.path.join(path, name), lost, chance)
                continue
            whole = self.content(self.contents[inner])
            certain = self.content(self.flushed.get(inner))
            half = (len(certain) + len(whole)) // 2 if whole.startswith(certain) else len(whole) // 2
            torn = whole[:half] + certain[half:]
            choices = {"all": [certain], "contents": [certain], "names": [whole]}.get(
                lost, [whole, certain, torn, torn + bytes(max(0, len(whole) - len(torn)))])
            with open(os.path.join(path, name), "wb") as f:
                f.write(whole if whole == certain else chance.choice(choices))

    @staticmethod
    def content(path):
        if path is None:
            return b""
        with open(path, "rb") as f:
            return f.read()


class PowerCut(Job):
    """A job whose machine loses its power at a call."""
    KINDS = ("open", "write", "fsync", "aio_fsync", "close", "rename", "unlink", "mkdir", "ftruncate", "ftello", "fclose")
    LOST = ("all", "names", "contents", "some-1", "some-2", "some-3")

    def shim(self, home, counter, fault=None):
        variables = super().shim(home, counter, fault)
        if fault and fault.how == "cut":
            variables.update(FAULT_HOW="kill", FAULT_SAVED=home + ".saved")
        return variables

    def faults(self):
        for kind in self.KINDS:
            for number in range(1, self.counts[kind] + 1):
                for lost in self.LOST:
                    yield Fault(self.name, kind, number, "cut", lost)

    def start(self, home, counter=None, fault=None):
        if not fault or fault.how != "cut":
            return super().start(home, counter, fault)
        saved = home + ".saved"
        os.mkdir(saved)
        files = [path for path in all_names(home) if os.path.isfile(path)]
        before = {os.stat(path).st_ino: self.template + path[len(home):] for path in files}
        ended = super().start(home, counter, fault)
        disk = Disk(home, saved, before)
        disk.cut(home + ".cut", fault.error, random.Random("%s" % (fault,)))
        shutil.rmtree(home)
        shutil.rmtree(saved)
        os.rename(home + ".cut", home)
        return ended

    def judge(self, home, ended, fault, injected):
        if not injected:
            return "missed"
        said = [int(n) for n in re.findall(r"line (\d+) has committed", ended.errors)]
        acknowledged = max(said + [launch.newest(self.lines_of(self.template))])
        self.check_lines(home, acknowledged)
        self.check_goes_on(home, acknowledged, os.path.exists(os.path.join(self.lines_of(home), "finished")))
        return "killed"


class Command(Scene):
    """A command that looks at the lines of a job that was killed, or removes one that the job does not need."""

    def __init__(self, name, bench, words, job, changes=False):
        super().__init__(name, bench, "elc")
        self.words, self.job, self.changes = words, job, changes
        shutil.copytree(job.template, self.template)

    def start(self, home, counter=None, fault=None):
        return run([self.bench.elc] + self.words, home, self.shim(home, counter, fault) if counter else {})

    def judge(self, home, ended, fault, injected):
        if ended.hung:
            raise Wrong("it hangs")
        if ended.code == 0:
            same = (ended.output, ended.errors) == (self.reference.output, self.reference.errors)
            outcome = "right" if same else "told"
            if outcome == "told" and not UNKNOWN.search(ended.output):
                raise Wrong("it ends with 0 and says something else than without a fault")
        elif fault.how in ("kill", "torn") and injected:
            outcome = "killed"
        elif ended.code < 0 or not (SENTENCE.search(ended.errors) or re.search(r"(not whole|cannot be read): ", ended.output)):
            raise Wrong("it ends with code %d and does not say why" % ended.code)
        else:
            outcome = "refused"
        if not self.changes:
            if self.digests(home) != self.digests(self.template):
                raise Wrong("it has changed something")
            return outcome
        newest = launch.newest(self.lines_of(self.template))
        if ended.code == 0 and launch.committed(self.lines_of(home)) != [newest]:
            raise Wrong("it ends with 0 and has not removed the line")
        self.job.check_lines(home, newest)
        self.job.check_goes_on(home, newest)
        return outcome

    @staticmethod
    def digests(home):
        return {path[len(home):]: digest for path, digest in launch.contents(os.path.join(home, "some")).items()}


class Bench:
    """The programs, and where all happens: in memory where that is possible, as there are thousands of jobs."""

    def __init__(self, build):
        self.build = launch.Build(build)
        self.files = os.path.join(self.build.path, "tests", "faults", "files")
        self.shim = os.path.join(self.build.path, "tests", "faults", "fault.so")
        self.elc = self.build.program("elc")
        self.scratch = launch.Scratch()
        self.root = os.path.realpath(self.scratch.path)
        self.cases = itertools.count(1)

    def scenes(self, wanted):
        def job(name, **how):
            if name in wanted:
                yield Job(name, self, **how)

        yield from job("run")
        yield from job("restart", restart=True)
        for at in (0, 1):
            yield from job("run of 2, rank %d" % at, ranks=2, at=at)
            yield from job("restart of 2, rank %d" % at, ranks=2, at=at, restart=True)
            yield from job("run of 2 together, rank %d" % at, ranks=2, at=at, together=True)
            yield from job("restart of 2 together, rank %d" % at, ranks=2, at=at, together=True, restart=True)
        if "power cut" in wanted:
            yield PowerCut("power cut", self)
        if "power cut in a restart" in wanted:
            yield PowerCut("power cut in a restart", self, restart=True)
        yield from job("run in pieces", pieces=3, lines=5)
        yield from job("restart in pieces", pieces=3, lines=3, restart=True)
        if "power cut in pieces" in wanted:
            yield PowerCut("power cut in pieces", self, pieces=2, lines=4)
        yield from job("elc run, program", under_elc=True)
        yield from job("elc run on, program", under_elc=True, restart=True)
        yield from job("elc run", under_elc=True, faulty="elc")
        yield from job("elc run on", under_elc=True, faulty="elc", restart=True)
        commands = {"elc ls": ["ls", "some/lines"], "elc ls --json": ["ls", "--json", "some/lines"],
                    "elc verify": ["verify", "some/lines"], "elc show": ["show", "2", "--dir", "some/lines"],
                    "elc show --all": ["show", "2", "--all", "--dir", "some/lines"],
                    "elc rm": ["rm", "1", "--dir", "some/lines"]}
        chosen = [name for name in commands if name in wanted]
        if chosen:
            lines = Job("lines for commands", self, keep=3, lines=3, restart=True)
            for name in chosen:
                yield Command(name, self, commands[name], lines, changes=name == "elc rm")

    def case(self, scene, fault):
        """Runs one case: its outcome, and if that is wrong why."""
        for _ in range(TRIES):
            try:
                outcome, why = self.attempt(scene, fault)
            except Unheard:
                outcome, why = "wrong", "it ends with code %d, and does not say why in %d tries" % (ABORTED, TRIES)
                continue
            if outcome != "missed":
                break
        return outcome, why

    def attempt(self, scene, fault):
        home = os.path.join(self.root, "case-%d" % next(self.cases))
        shutil.copytree(scene.template, home)
        counter = Counter(home + ".counts")
        try:
            ended = scene.start(home, counter, fault)
            _, injected, caller = counter.read()
            try:
                outcome = scene.judge(home, ended, fault, injected)
                return (outcome if injected else "missed"), ""
            except Wrong as wrong:
                where = self.place(scene.faulty, caller) if injected else "the fault did not come"
                return "wrong", "%s\n  at %s\n  code %d\n%s%s" % (wrong, where, ended.code, ended.output[-800:],
                                                               ended.errors[-4000:])
        finally:
            shutil.rmtree(home, ignore_errors=True)
            os.remove(counter.path)

    def place(self, program, caller):
        """Where in the sources the call is."""
        if shutil.which("addr2line") is None:
            return hex(caller)
        path = self.elc if program == "elc" else self.files
        return subprocess.run(["addr2line", "-Cfpsie", path, hex(caller - 1)], stdout=subprocess.PIPE,
                              check=True).stdout.decode().strip().replace("\n", " ")


SCENES = ("run", "restart", "run of 2, rank 0", "restart of 2, rank 0", "run of 2, rank 1", "restart of 2, rank 1",
          "run of 2 together, rank 0", "restart of 2 together, rank 0", "run of 2 together, rank 1", "restart of 2 together, rank 1",
          "power cut", "power cut in a restart", "run in pieces", "restart in pieces", "power cut in pieces",
          "elc run, program", "elc run on, program", "elc run", "elc run on", "elc ls", "elc ls --json",
          "elc verify", "elc show", "elc show --all", "elc rm")


def table(results):
    """How often each call went wrong, and what became of it."""
    rows = collections.defaultdict(collections.Counter)
    for fault, outcome in results:
        rows[fault.kind][outcome] += 1
        rows["all"][outcome] += 1
    print("%-10s %10s" % ("call", "injections") + "".join("%9s" % o for o in OUTCOMES))
    for kind in list(KINDS) + ["all"]:
        row = rows[kind]
        if row:
            print("%-10s %10d" % (kind, sum(row.values())) + "".join("%9s" % (row[o] or "") for o in OUTCOMES))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", required=True, help="a build directory for MPICH")
    p.add_argument("--sample", type=int, help="so many faults, chosen at random (default: all)")
    p.add_argument("--part", metavar="K/N", help="the K-th of N parts of them, which are the same for the same --seed")
    p.add_argument("--minutes", type=float, help="stop after these, with the table of what has been done")
    p.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1000000), help="default: a new one")
    p.add_argument("--scene", action="append", choices=SCENES, help="default: all")
    p.add_argument("--kind", action="append", choices=KINDS, help="calls of this kind alone")
    p.add_argument("--fault", nargs=4, metavar=("KIND", "NUMBER", "HOW", "ERROR"), help="this one alone")
    p.add_argument("-j", "--jobs", type=int, default=os.cpu_count(), help="at the same time")
    options = p.parse_args()
    bench = Bench(options.build)
    try:
        return run_all(options, bench)
    finally:
        bench.scratch.remove()


def run_all(options, bench):
    scenes = {scene.name: scene for scene in bench.scenes(options.scene or SCENES)}
    for scene in scenes.values():
        scene.count()
    faults = [f for scene in scenes.values() for f in scene.faults() if not options.kind or f.kind in options.kind]
    if options.fault:
        kind, number, how, error = options.fault
        faults = [Fault(name, kind, int(number), how, error) for name in scenes]
    print("faults: seed %d, %d calls in %d scenes" % (options.seed, sum(sum(s.counts.values()) for s in scenes.values()),
                                                     len(scenes)), flush=True)
    random.Random(options.seed).shuffle(faults)
    if options.part:
        part, parts = (int(word) for word in options.part.split("/"))
        faults = faults[part - 1::parts]
    faults = faults[:options.sample]
    end = time.monotonic() + 60 * options.minutes if options.minutes else None
    results = []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        running = {pool.submit(bench.case, scenes[f.scene], f): f for f in faults}
        for future in concurrent.futures.as_completed(running):
            if end and time.monotonic() > end:
                pool.shutdown(cancel_futures=True)
                break
            fault = running[future]
            outcome, why = future.result()
            results.append((fault, outcome))
            if outcome == "wrong":
                print('WRONG --scene "%s" --fault %s %d %s %s\n  %s' % (fault + (why,)), flush=True)
    table(results)
    wrong = sum(outcome == "wrong" for _, outcome in results)
    print("%s: seed %d, %d of %d faults, %d wrong" % ("FAILED" if wrong else "survived", options.seed, len(results),
                                                      len(faults), wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
