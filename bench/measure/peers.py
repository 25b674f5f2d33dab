"""The same lines by other systems, side by side: bench/large with libELC, VeloC, FTI and DMTCP (those that are there).

longest stop      the longest that the program stood still: in the call that takes a line, or in a step
committed after   from the beginning of a line until it is where it is to be (of VeloC: in its last place; of FTI: the call has returned)
time of the steps the whole run, with three lines; of plain: without
bytes of a line   on the disk
restart           from the start of the job to where it goes on with its first step"""
import glob
import os
import re
import shutil
import subprocess
import time

from .lines import LINES, check_room
from .results import spread
from .runs import Failed, launch, size_of

PART = "peers"
QUANTITIES = (("longest stop", "s"), ("committed after", "s"), ("time of the steps", "s"), ("bytes of a line", "B"), ("restart", "s"))
STEPS = 1200
PATIENCE = 900


def total(directory):
    return sum(size_of(folder) for folder, _, names in os.walk(directory) if names)


class Peer:
    """One of them in a directory of its own. `take`: its lines are taken by the program."""

    def __init__(self, bench, options, size):
        self.bench, self.options, self.size = bench, options, size
        self.home = bench.lines()
        self.extra = {}

    def close(self):
        self.bench.drop(self.home)

    def arguments(self, steps, lines):
        return ["--size", self.size, "--steps", steps, "--lines", lines, "--progress"]

    def start(self, steps, lines):
        return launch.Job(self.bench.build, self.bench.ranks, self.program, self.arguments(steps, lines), self.extra, self.bench.scratch)

    def wait_for(self, job, pattern, seconds=PATIENCE):
        """Until what it prints has it."""
        if not job.wait(seconds, lambda: re.search(pattern, job.text())) or not re.search(pattern, job.text()):
            raise Failed("%s: no `%s`:\n%s%s" % (self.name, pattern, job.text()[-2000:], job.complaints()[-2000:]))

    def whole(self):
        """A run with lines: its values."""
        job = self.start(STEPS, LINES)
        if not job.wait(PATIENCE) or job.popen.returncode != 0:
            raise Failed("%s failed:\n%s%s" % (self.name, job.text()[-2000:], job.complaints()[-4000:]))
        text = job.text()
        self.end(job)
        return {name: float(re.search(r"^%s: ([0-9.]+)" % name, text, re.M).group(1))
                for name in ("longest stop", "slowest step", "steps", "committed after")}

    def measure(self):
        values = self.whole()
        yield "longest stop", max(values["longest stop"], values["slowest step"])
        yield "committed after", values["committed after"]
        yield "time of the steps", values["steps"]
        self.clear()
        job = self.start(10 ** 7, 10 ** 5)
        self.wait_for(job, r"committed line")
        self.end(job)
        yield "bytes of a line", self.bytes()
        begin = time.monotonic()
        job = self.start(10 ** 7, 0)
        self.wait_for(job, r"^ready at step [1-9]|\nready at step [1-9]")
        yield "restart", time.monotonic() - begin
        self.end(job)

    def end(self, job):
        job.destroy()
        job.close()

    def clear(self):
        for name in os.listdir(self.home):
            shutil.rmtree(os.path.join(self.home, name), ignore_errors=True)


class LibELC(Peer):
    name = "libELC"

    def __init__(self, bench, options, size):
        super().__init__(bench, options, size)
        self.program = bench.build.program("large")
        self.extra = {"ELC_DIR": os.path.join(self.home, "lines"), "ELC_KEEP": "1"}

    def bytes(self):
        lines = self.extra["ELC_DIR"]
        return size_of(os.path.join(lines, "line-%06d" % launch.committed(lines)[-1]))


class Plain(Peer):
    name = "plain"

    def measure(self):
        self.program = self.bench.build.program("large-plain")
        values = self.whole()
        yield "longest stop", values["slowest step"]
        yield "time of the steps", values["steps"]


class VeloC(Peer):
    """Asynchronous, the first place in memory (/dev/shm), the last on the disk."""
    name = "VeloC"

    def __init__(self, bench, options, size):
        super().__init__(bench, options, size)
        self.program = os.path.join(options.peers, "large-veloc")
        self.memory = os.path.join("/dev/shm", os.path.basename(self.home))
        self.disk = os.path.join(self.home, "persistent")
        path = os.path.join(self.home, "veloc.cfg")
        with open(path, "w", encoding="utf-8") as file:
            file.write("scratch = %s\npersistent = %s\nmode = async\nmax_versions = 1\nscratch_versions = 1\n" % (self.memory, self.disk))
        self.extra = {"PEER_CONFIGURATION": path, "VELOC_BIN": options.peers, "LD_LIBRARY_PATH": options.peers}
        self.clear()

    def clear(self):
        for folder in (self.memory, self.disk):
            shutil.rmtree(folder, ignore_errors=True)
            os.makedirs(folder)

    def end(self, job):
        """It leaves a process, and by what that leaves in shared memory the next job takes it for alive."""
        super().end(job)
        for path in glob.glob("/dev/shm/*veloc-*"):
            os.remove(path)

    def close(self):
        shutil.rmtree(self.memory, ignore_errors=True)
        super().close()

    def bytes(self):
        return total(self.disk)


class FTI(Peer):
    """As on two nodes."""
    name = "FTI"

    def __init__(self, bench, options, size):
        super().__init__(bench, options, size)
        self.program = os.path.join(options.peers, "large-fti")
        self.path = os.path.join(self.home, "fti.cfg")
        self.extra = {"PEER_CONFIGURATION": self.path, "LD_LIBRARY_PATH": options.peers}
        self.clear()

    def clear(self):
        super().clear()
        for name in ("local", "global", "meta"):
            os.makedirs(os.path.join(self.home, name), exist_ok=True)
        with open(self.path, "w", encoding="utf-8") as file:
            file.write("[basic]\nhead = 0\nnode_size = %d\nckpt_dir = %s\nglbl_dir = %s\nmeta_dir = %s\nckpt_l1 = 0\nckpt_l2 = 0\n"
                       "ckpt_l3 = 0\nckpt_l4 = 0\ndcp_l4 = 0\ninline_l2 = 1\ninline_l3 = 1\ninline_l4 = 1\nkeep_last_ckpt = 0\n"
                       "keep_l4_ckpt = 0\ngroup_size = %d\nmax_sync_intv = 0\nckpt_io = 1\nenable_staging = 0\nenable_dcp = 0\n"
                       "dcp_mode = 0\ndcp_block_size = 16384\nverbosity = 3\n[restart]\nfailure = 0\nexec_id = \n[injection]\nrank = 0\n"
                       "number = 0\nposition = 0\nfrequency = 0\n[advanced]\nblock_size = 1024\ntransfer_size = 16\n"
                       "general_tag = 2612\nckpt_tag = 711\nstage_tag = 406\nfinal_tag = 3107\nlocal_test = 1\nlustre_striping_unit = 4194304\n"
                       "lustre_striping_factor = -1\nlustre_striping_offset = -1\n"
                       % (self.bench.ranks // 2, *[os.path.join(self.home, name) for name in ("local", "global", "meta")], 2))

    def bytes(self):
        return total(os.path.join(self.home, "local"))


class DMTCP(Peer):
    """Of the plain program; lines are asked for from outside, and it stands still meanwhile."""
    name = "DMTCP"

    def __init__(self, bench, options, size):
        super().__init__(bench, options, size)
        self.program = bench.build.program("large-plain")
        self.begun = 0
        self.folder = os.path.join(self.home, "images")
        self.bin = options.dmtcp
        os.makedirs(self.folder)

    def tool(self, name):
        return os.path.join(self.bin, name)

    def begin(self, command):
        """The coordinator, and a job under it, whose words go to `output`."""
        self.begun += 1
        port = os.path.join(self.home, "port-%d" % self.begun)  # a coordinator that ends takes its file along, and another's of that name
        subprocess.run([self.tool("dmtcp_coordinator"), "--daemon", "--exit-on-last", "-q", "-p", "0", "--port-file", port,
                        "--ckptdir", self.folder], cwd=self.folder, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + PATIENCE
        while not os.path.exists(port) or not os.path.getsize(port):  # it is a process of its own
            if time.monotonic() > end:
                raise Failed("DMTCP: no coordinator")
            time.sleep(0.005)
        with open(port, encoding="utf-8") as file:
            self.number = file.read().strip()
        variables = dict(os.environ, DMTCP_COORD_PORT=self.number, DMTCP_GZIP="0", HWLOC_COMPONENTS="-linuxio", **launch.environment("openmpi", "/tmp"))
        self.output = open(os.path.join(self.home, "output"), "w+b")
        command = [word.replace("{port}", self.number) for word in command]
        return subprocess.Popen(command, cwd=self.folder, env=variables, stdin=subprocess.DEVNULL, stdout=self.output,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def text(self):
        with open(self.output.name, "rb") as file:
            return file.read().decode(errors="replace")

    def await_text(self, job, pattern, seconds=PATIENCE):
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text()):
            if job.poll() is not None or time.monotonic() > end:
                raise Failed("DMTCP: no `%s`:\n%s" % (pattern, self.text()[-4000:]))
            time.sleep(0.005)

    def command(self, *words):
        return subprocess.run([self.tool("dmtcp_command"), "-q", "-p", self.number] + list(words), check=False,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def job_command(self, steps):
        return [self.tool("dmtcp_launch"), "-q", "--no-gzip", "--ckptdir", self.folder] + \
            launch.launcher("openmpi", self.bench.ranks, []) + [self.program] + [str(a) for a in self.arguments(steps, 0)]

    def measure(self):
        job = self.begin(self.job_command(STEPS))
        took = []
        for number in range(1, LINES + 1):
            self.await_text(job, r"\bstep %d\n" % (STEPS * number // (LINES + 1) // 10 * 10))
            begin = time.monotonic()
            self.command("--bcheckpoint")
            took.append(time.monotonic() - begin)
        job.wait(PATIENCE)
        text = self.text()
        yield "longest stop", float(re.search(r"^slowest step: ([0-9.]+)", text, re.M).group(1))
        yield "committed after", max(took)
        yield "time of the steps", float(re.search(r"^steps: ([0-9.]+)", text, re.M).group(1))
        yield "bytes of a line", total(self.folder)
        job = self.begin(self.job_command(10 ** 7))
        self.await_text(job, r"\bstep 50\n")
        self.command("--bcheckpoint")
        self.command("--kill")
        job.wait(60)
        begin = time.monotonic()
        job = self.begin(["sh", os.path.join(self.folder, "dmtcp_restart_script.sh"), "-p", "{port}"])
        self.await_text(job, r"\bstep ")
        yield "restart", time.monotonic() - begin
        self.command("--kill")
        job.wait(60)


def measure(bench, results, options):
    size = options.size or (64 if options.quick else 1024)
    case = "%d processes of %d MiB" % (bench.ranks, size)
    peers = [Plain, LibELC]
    if options.peers:
        peers += [peer for peer, program in ((VeloC, "large-veloc"), (FTI, "large-fti"))
                  if os.access(os.path.join(options.peers, program), os.X_OK)]
    if options.dmtcp:
        peers.append(DMTCP)
    print("%s: %s" % (case, ", ".join(peer.name for peer in peers)), flush=True)
    check_room(bench, size)
    for number in range(1, options.repeat + 1):
        for peer in peers:
            one = peer(bench, options, size)
            try:
                for quantity, value in one.measure():
                    results.add(PART, case, peer.name, number, quantity, dict(QUANTITIES)[quantity], value)
                    print("  %-8s %-20s %12.4g %s" % (peer.name, quantity, value, dict(QUANTITIES)[quantity]), flush=True)
            except Failed as failure:
                print("  %-8s FAILED: %s" % (peer.name, failure), flush=True)
            finally:
                one.close()
    print(flush=True)


def table(results):
    head = ["case", "system"] + ["%s (%s)" % quantity for quantity in QUANTITIES]
    return head, [[case, name] + [spread(results.values(PART, case, name, quantity)) for quantity, _ in QUANTITIES]
                  for case in results.names(PART, "case") for name in results.names(PART, "variant")]
