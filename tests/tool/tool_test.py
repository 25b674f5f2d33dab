"""The command elc, with a fake job in the place of launcher and ranks.

    python3 tool_test.py ELC FAKE_JOB CLOCK_SHIM [unittest's arguments]
"""
import errno
import fcntl
import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from draw import part_of, SEED  # noqa: E402

GOLDEN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "x86-64-lam", "line-000001", "rank-000000.elc")
ELC, FAKE_JOB, CLOCK_SHIM = (os.path.abspath(p) for p in sys.argv[1:4])
FAIL_SHIM = os.path.join(os.path.dirname(CLOCK_SHIM), "fail_shim.so")
DEADLINE = 60  # seconds until a thing that must happen has not happened


def until(what, condition):
    end = time.monotonic() + DEADLINE
    while not condition():
        if time.monotonic() > end:
            raise AssertionError("waited in vain for " + what)
        time.sleep(0.01)


def alive(process):
    try:
        os.kill(process, 0)
    except OSError as error:
        return error.errno != errno.ESRCH
    try:
        with open("/proc/%d/stat" % process) as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return not os.path.isdir("/proc/self")


def catches(process, number):
    with open("/proc/%d/status" % process) as f:
        caught = next(line.split()[1] for line in f if line.startswith("SigCgt:"))
    return int(caught, 16) >> (number - 1) & 1 == 1


class ToolTest(unittest.TestCase):
    launcher = FAKE_JOB

    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="elc-tool-")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
        self.running = []

    def tearDown(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
            process.stderr.close()
        for process in self.pids():
            if alive(process):
                os.kill(process, signal.SIGKILL)
        shutil.rmtree(self.place)

    def path(self, *parts):
        return os.path.join(self.place, *parts)

    def read(self, name):
        try:
            with open(self.path(name)) as file:
                return file.read()
        except FileNotFoundError:
            return ""

    def pids(self):
        return [int(word) for word in self.read("pids").split()]

    def log(self):
        return self.read("log").splitlines()

    def restarts(self):
        """From which line each attempt began."""
        return [line.split()[0].partition("=")[2] for line in self.log()]

    def new_log(self):
        os.remove(self.path("log"))

    def elc(self, *arguments, code=0):
        done = subprocess.run([ELC, *arguments], cwd=self.place, env=self.environment, capture_output=True,
                              text=True, timeout=DEADLINE, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.stdout, self.stderr = done.stdout, done.stderr
        return done.stdout

    def words(self, steps, options, ranks=2):
        number = [] if ranks is None else ["-n", str(ranks)]
        return ["run", *number, "--dir", "lines", "--launcher", self.launcher + " {n}", *options, "--", *steps]

    def run_elc(self, *steps, options=(), code=0, ranks=2):
        self.elc(*self.words(steps, options, ranks), code=code)

    def start(self, *steps, options=(), ranks=2):
        process = subprocess.Popen([ELC, *self.words(steps, options, ranks)], cwd=self.place, env=self.environment,
                                   stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.running.append(process)
        return process

    def wait_for(self, name):
        until("file " + name, lambda: os.path.exists(self.path(name)))

    def wait_to_hear(self, process, words):
        line = process.stderr.readline()
        while words not in line:
            self.assertNotEqual(line, "", "it has ended without a word of: " + words)
            line = process.stderr.readline()

    def end(self, process, code):
        message = process.communicate(timeout=DEADLINE)[1]
        self.assertEqual(process.returncode, code, message)
        self.stderr = message
        return message

    def lines(self):
        return json.loads(self.elc("ls", "--json", "lines"))


class ExitCodes(ToolTest):
    def test_a_program_that_ends_is_not_restarted(self):
        self.run_elc("finish:0")
        self.assertEqual(self.restarts(), ["no"])

    def test_its_exit_code_is_passed_on(self):
        self.run_elc("line,finish:7", code=7)
        self.assertEqual(self.restarts(), ["no"])

    def test_success_without_the_mark_of_the_library_is_none(self):
        """Launchers end with 0 when they are interrupted, or when a rank has died before its MPI_Init."""
        for mpi in ("openmpi", "mpich", "lam"):
            with self.subTest(mpi):
                self.run_elc("line,exit:0", "finish:0", options=("--mpi", mpi))
                self.assertEqual(self.restarts(), ["no", "1"])
                self.assertIn("exit code 0 without MPI_Finalize", self.stderr)
                shutil.rmtree(self.path("lines"))
                self.new_log()

    def test_success_without_the_mark_and_without_a_line_is_none_either(self):
        """Of a program with the library: it would have said its end. Of any other nothing is known but its code."""
        with open(self.path("prog"), "w") as file:
            file.write("ELC_MAX_TRANSIT")
        os.chmod(self.path("prog"), 0o755)
        with open(self.path("fake"), "w") as file:
            file.write("#!/bin/sh\nexec %s 1 exit:0 finish:0\n" % FAKE_JOB)
        os.chmod(self.path("fake"), 0o755)
        for mpi in ("openmpi", "mpich", "lam"):
            with self.subTest(mpi):
                self.elc("run", "--dir", "lines", "--mpi", mpi, "--launcher", "./fake {n}", "--", "./prog")
                self.assertEqual(self.restarts(), ["no", "no"])
                self.new_log()
                self.run_elc("exit:0", options=("--mpi", mpi, "--from", "no"))
                self.assertEqual(self.restarts(), ["no"])
                self.new_log()

    def test_success_without_the_mark_and_without_a_line_of_its_own_is_an_end(self):
        self.run_elc("line,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.new_log()
        self.run_elc("exit:0", options=["--from", "no"])
        self.assertEqual(self.restarts(), ["no"])

    def test_wrong_arguments(self):
        for arguments in (["run"], ["run", "-n", "0", "--", "x"], ["run", "--every", "soon", "--", "x"],
                          ["run", "--bogus", "--", "x"], ["run", "--from", "maybe", "--", FAKE_JOB], ["nothing"],
                          ["run", "--mpi", "x", "--", "x"], ["run", "--launcher", "mpirun 'x", "--", FAKE_JOB],
                          ["run", "-d", "", "--", FAKE_JOB], ["rm", "--", "-1"], []):
            self.elc(*arguments, code=64)
            self.assertNotEqual(self.stderr, "")

    def test_arguments_that_are_none(self):
        """One sentence, in the words of this command and not of what it is made of."""
        os.mkdir(self.path("folder"))
        long = "d" * 5000
        for arguments, code in ((["run", "--", "./folder"], 127), (["run", "--", "/"], 127), (["run", "--", ""], 127),
                                (["run", "--", long], 127), (["run", "-n", "99999999999", "--", "true"], 64),
                                (["run", "--grace", "-1", "--", "true"], 64), (["run", "-n", "--", "true"], 64),
                                (["run", "--stall", "soon", "--", "true"], 64), (["run", "-d", long, "--", "true"], 74),
                                (["run", "-n", "2", "-n", "3", "--", "true"], 64), (["ls", long], 74), (["rm"], 64),
                                (["run", "-d", "/proc/elc-lines", "--", "true"], 74), (["verify", long], 74),
                                (["show", long], 74), (["ls", "a", "b"], 64), (["show"], 64)):
            self.elc(*arguments, code=code)
            self.assertEqual(len(self.stderr.splitlines()), 1, arguments)
            self.assertTrue(self.stderr.startswith("elc: "), arguments)
            for word in ("filesystem", "basic_", "std::", "required", "convert", "TEXT", "what():"):
                self.assertNotIn(word, self.stderr, arguments)

    def test_a_current_directory_that_has_gone(self):
        command = "mkdir gone && cd gone && rmdir ../gone && exec %s run -- true" % ELC
        done = subprocess.run(["sh", "-c", command], cwd=self.place, env=self.environment, capture_output=True,
                              text=True, timeout=DEADLINE)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (74, 1), done.stderr)
        self.assertIn("--dir", done.stderr)

    def test_a_bad_variable_is_refused_before_anything_starts(self):
        self.environment["ELC_KEEP"] = "none"
        self.run_elc("finish:0", code=64)
        self.assertIn("ELC_KEEP=none", self.stderr)
        self.assertEqual(self.log(), [])

    def test_a_program_that_is_not_there(self):
        self.elc("run", "--dir", "lines", "--", "./nowhere", code=127)
        self.assertIn("./nowhere", self.stderr)
        self.elc("run", "--dir", "lines", "--launcher", "./no-launcher", "--", "./nowhere", code=127)
        self.assertEqual(self.stderr.count("no-launcher"), 1)
        self.elc("run", "--dir", "lines", "--launcher", " ", "--", "true", code=64)
        self.assertNotIn("starting", self.stderr)

    def test_every_command_has_help(self):
        for command in ("run", "ls", "show", "diff", "doctor", "verify", "rm"):
            self.assertIn(command, self.elc(command, "--help"))


class Restarts(ToolTest):
    def test_from_the_newest_line(self):
        self.run_elc("line,line,kill", "line,kill", "finish:0")
        self.assertEqual(self.restarts(), ["no", "2", "3"])

    def test_a_line_that_never_committed_is_nothing(self):
        self.run_elc("line,half,kill", "line,finish:0")
        self.assertEqual(self.restarts(), ["no", "1"])
        self.assertEqual([l["line"] for l in self.lines()["lines"] if l["committed"]], [1, 3])

    def test_a_kill_after_finalize_is_a_failure_too(self):
        self.run_elc("line,line,mark,kill", "damage,mark,kill", "finish:3", code=3)
        self.assertEqual(self.restarts(), ["no", "2", "1"])

    def test_a_kill_after_finalize_is_a_failure_for_the_next_command_too(self):
        self.run_elc("line,line,mark,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.run_elc("finish:0")
        self.assertEqual(self.restarts(), ["no", "2"])

    def test_gives_up_when_there_is_never_a_line(self):
        self.run_elc("exit:3", options=["--max-restarts", "2"], code=3)
        self.assertEqual(self.restarts(), ["no"] * 3)
        self.assertIn("giving up after 2 restarts", self.stderr)

    def test_gives_up_when_there_is_no_new_line(self):
        self.run_elc("line,kill", "kill", options=["--max-restarts", "2"], code=128 + signal.SIGKILL)
        self.assertEqual(self.restarts(), ["no", "1", "1"])

    def test_progress_resets_the_count(self):
        self.run_elc("line,kill", "line,kill", "kill", "line,kill", "finish:0", options=["--max-restarts", "2"])
        self.assertEqual(self.restarts(), ["no", "1", "2", "2", "3"])

    def test_no_restarts_at_all(self):
        self.run_elc("line,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.assertEqual(self.restarts(), ["no"])

    def test_not_when_the_library_refuses(self):
        self.run_elc("line,kill", "exit:65", code=65)
        self.assertEqual(self.restarts(), ["no", "1"])

    def test_not_when_somebody_asked_the_job_to_stop(self):
        self.run_elc("line,kill", "line,exit:75", code=75)
        self.assertEqual(self.restarts(), ["no", "1"])
        self.assertEqual(self.lines()["restart"], 2)

    def test_a_shells_codes_of_what_has_been_started(self):
        for code in (126, 127):
            with self.subTest(code):
                self.run_elc("line,exit:%d" % code, "exit:%d" % code, "finish:0")
                self.assertEqual(self.restarts(), ["no", "1", "1"])
                shutil.rmtree(self.path("lines"))
                self.new_log()

    def test_not_when_it_cannot_be_started(self):
        self.run_elc("exit:127", code=127)
        self.assertEqual(self.restarts(), ["no"])
        self.assertIn("could not be started", self.stderr)

    def test_when_there_is_no_process_for_it(self):
        """For the keeper, or for the launcher, which the keeper makes."""
        self.launcher = "env -u LD_PRELOAD " + FAKE_JOB
        for process, restarts in (("keeper:1", []), ("fork:2", []), ("keeper:2", ["no", "1"]), ("fork:3", ["no", "1"])):
            with self.subTest(process):
                self.environment.update(LD_PRELOAD=FAIL_SHIM, ELC_TEST_FAIL=process + ":1")
                self.run_elc("line,kill", "finish:0", code=0 if restarts else 126)
                self.assertIn("cannot start a process", self.stderr)
                self.assertEqual(self.restarts(), restarts)
                shutil.rmtree(self.path("lines"))
                if restarts:
                    self.new_log()

    def test_a_process_that_ends_while_it_is_looked_at(self):
        self.launcher = "env -u LD_PRELOAD " + FAKE_JOB
        for first in (1, 2, 5, 20, 60):
            with self.subTest(first):
                self.environment.update(LD_PRELOAD=FAIL_SHIM, ELC_TEST_FAIL="process:%d:3" % first)
                self.run_elc("line,kill", "finish:0")
                self.assertEqual(self.restarts(), ["no", "1"])
                shutil.rmtree(self.path("lines"))
                self.new_log()

    def test_settings_reach_the_ranks(self):
        self.run_elc("finish:0", options=["--every", "1.5m", "--keep", "4", "--mtbf", "2d"], ranks=3)
        self.assertEqual(self.log(), ["restart=no ranks=3 every=1.5m keep=4 mtbf=2d"])

    def test_closed_descriptors_are_not_those_of_something_else(self):
        for closed in ("<&- >&- 2>&-", ">&- 2>&-", "2>&-"):
            with self.subTest(closed):
                command = " ".join("'%s'" % word for word in [ELC, *self.words(["line,line,kill", "finish:0"], [])])
                done = subprocess.run(["sh", "-c", command + " " + closed], cwd=self.place, env=self.environment,
                                      timeout=DEADLINE)
                self.assertEqual(done.returncode, 0)
                self.assertEqual(self.restarts(), ["no", "2"])
                with open(self.path("lines", "elc.lock")) as lock:
                    self.assertEqual(lock.read(), "")
                shutil.rmtree(self.path("lines"))
                self.new_log()

    def test_more_descriptors_than_select_knows(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if hard != resource.RLIM_INFINITY and hard < 4000:
            self.skipTest("there cannot be so many descriptors")
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4000), hard))
        some = [os.open(os.devnull, os.O_RDONLY) for _ in range(3900)]
        try:
            done = subprocess.run([ELC, *self.words(["line,kill", "finish:0"], [])], cwd=self.place, env=self.environment,
                                  stderr=subprocess.PIPE, text=True, timeout=DEADLINE, pass_fds=some)
        finally:
            for descriptor in some:
                os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.restarts(), ["no", "1"])

    def test_messages_as_json(self):
        self.run_elc("line,kill", "line,finish:0", options=["--json"])
        events = [json.loads(line) for line in self.stderr.splitlines()]
        self.assertEqual([e["event"] for e in events], ["start", "line", "failed", "start", "line"])
        self.assertEqual(events[2]["code"], 128 + signal.SIGKILL)
        self.assertEqual(events[3]["line"], 1)


class StandardInput(ToolTest):
    """What an attempt has read, the next one gets again."""
    WHOLE = "".join("%d\n" % i for i in range(60000))  # more than a pipe holds

    def run_with(self, *steps, source, code=0):
        self.running.append(subprocess.Popen([ELC, *self.words(steps, ())], cwd=self.place, env=self.environment,
                                             stderr=subprocess.PIPE, text=True, stdin=source))
        self.end(self.running[-1], code)

    def pipe(self):
        """A process that writes all of it into a pipe, and its end."""
        writer = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdout.write(open(sys.argv[1]).read())", self.file()],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(lambda: (writer.stdout.close(), writer.wait()))
        return writer.stdout

    def file(self):
        with open(self.path("whole"), "w") as file:
            file.write(self.WHOLE)
        return file.name

    def test_of_a_pipe(self):
        self.run_with("read:5,line,kill", "read:200000,line,kill", "read,finish:0", source=self.pipe())
        self.assertEqual(self.read("input"), self.WHOLE[:5] + "\n" + self.WHOLE[:200000] + "\n" + self.WHOLE + "\n")

    def test_of_a_file(self):
        with open(self.file()) as file:
            os.lseek(file.fileno(), 10, os.SEEK_SET)
            self.run_with("read:5,line,kill", "read,finish:0", source=file)
        self.assertEqual(self.read("input"), self.WHOLE[10:15] + "\n" + self.WHOLE[10:] + "\n")

    def test_that_comes_later(self):
        end, begin = os.pipe()
        process = subprocess.Popen([ELC, *self.words(("read:3,line,kill", "read:3,touch:again,read,finish:0"), ())],
                                   cwd=self.place, env=self.environment, stderr=subprocess.PIPE, text=True, stdin=end)
        self.running.append(process)
        os.close(end)
        os.write(begin, b"abcd")
        self.wait_for("again")
        os.write(begin, b"efg")
        os.close(begin)
        self.end(process, 0)
        self.assertEqual(self.read("input"), "abc\nabc\ndefg\n")

    def test_that_nobody_reads(self):
        self.run_with("line,kill", "finish:0", source=self.pipe())
        self.assertEqual(self.restarts(), ["no", "1"])

    def test_that_cannot_be_kept(self):
        self.environment["TMPDIR"] = self.path("nowhere")
        self.run_with("read,finish:0", source=self.pipe(), code=74)
        self.assertIn("what the job reads from standard input cannot be kept for a restart: ", self.stderr)
        self.assertIn("; give it as a file", self.stderr)


class FailingLines(ToolTest):
    """A line from which attempts fail again and again in the same way."""

    def test_the_older_one_is_tried(self):
        self.run_elc("line,line,kill", "exit:9", "exit:9", "line,finish:0")
        self.assertEqual(self.restarts(), ["no", "2", "2", "1"])
        self.assertIn("2 attempts from line 2 have failed in the same way (exit code 9): trying the older line 1", self.stderr)
        self.assertEqual([l["line"] for l in self.lines()["lines"] if l["committed"]], [1, 2, 3])

    def test_not_where_the_newest_would_be_lost(self):
        self.run_elc("append,line,line,kill", "exit:9", "exit:9", "append,line,finish:0")
        self.assertEqual(self.restarts(), ["no", "2", "2", "2"])
        self.assertIn("no older line is tried, which would cut the file '", self.stderr)
        self.assertIn("appended', and line 2 could not be restarted any more", self.stderr)

    def test_and_then_the_newest_again(self):
        self.run_elc("line,line,kill", "exit:9", "exit:9", "kill", "kill", "exit:9", "exit:9", "line,finish:0",
                     options=["--max-restarts", "9"])
        self.assertEqual(self.restarts(), ["no", "2", "2", "1", "1", "2", "2", "1"])

    def test_not_when_they_fail_in_different_ways(self):
        self.run_elc("line,line,kill", "exit:9", "exit:8", "exit:9", "finish:0")
        self.assertEqual(self.restarts(), ["no", "2", "2", "2", "2"])

    def test_not_after_a_new_line(self):
        self.run_elc("line,line,kill", "exit:9", "line,exit:9", "exit:9", "finish:0")
        self.assertEqual(self.restarts(), ["no", "2", "2", "3", "3"])

    def test_not_one_that_is_damaged(self):
        self.run_elc("line,line,damage,line,kill", "exit:9", "exit:9", "finish:0")
        self.assertEqual(self.restarts(), ["no", "3", "3", "1"])

    def test_not_below_the_line_that_was_asked_for(self):
        self.run_elc("line,line,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.new_log()
        self.run_elc("exit:9", "exit:9", "finish:0", options=["--from", "2"])
        self.assertEqual(self.restarts(), ["2", "2", "2"])

    def test_not_one_of_another_run(self):
        self.run_elc("line,finish:0")
        self.new_log()
        self.run_elc("line,kill", "exit:9", "exit:9", "finish:0")
        self.assertEqual(self.restarts(), ["no", "2", "2", "2"])


class DamagedLines(ToolTest):
    def test_the_newest_older_line_that_is_whole(self):
        for damage, why in (("damage", "rank-000001.elc"), ("cut", "rank-000001.elc"), ("missing", "missing"),
                            ("exchange", "does not belong there"), ("bad-commit", "commit record")):
            with self.subTest(damage):
                self.run_elc("line,line,%s,kill" % damage, "finish:0")
                self.assertEqual(self.restarts(), ["no", "1"])
                passed = [l for l in self.stderr.splitlines() if "passing over line 2" in l]
                self.assertEqual(len(passed), 1, self.stderr)
                self.assertIn(why, passed[0])
                shutil.rmtree(self.path("lines"))
                self.new_log()

    def test_one_that_is_damaged_when_it_has_been_seen(self):
        """Its record, or all of it, or the directory."""
        place = self.path("lines", "line-000002")
        damages = {"is damaged": lambda: open(os.path.join(place, "commit"), "w").close(),
                   "its commit record has gone": lambda: os.remove(os.path.join(place, "commit")),
                   "it has gone": lambda: shutil.rmtree(place)}
        for why, damage in damages.items():
            with self.subTest(why):
                job = self.start("line,line,wait-for:go,kill", "finish:0")
                self.wait_to_hear(job, "line 2 committed")
                damage()
                open(self.path("go"), "w").close()
                self.end(job, 0)
                self.assertEqual(self.restarts(), ["no", "1"])
                self.assertRegex(self.stderr, "passing over line 2: .*" + why)
                os.remove(self.path("go"))
                shutil.rmtree(self.path("lines"))
                self.new_log()
        job = self.start("line,wait-for:go,kill")
        self.wait_to_hear(job, "line 1 committed")
        shutil.rmtree(self.path("lines"))
        open(self.path("go"), "w").close()
        self.end(job, 65)
        self.assertIn("passing over line 1: it has gone", self.stderr)

    def test_one_that_was_begun_from(self):
        self.run_elc("line,line,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.new_log()
        job = self.start("touch:up,wait-for:go,kill", "finish:0")
        self.wait_for("up")
        shutil.rmtree(self.path("lines", "line-000002"))
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(self.restarts(), ["2", "1"])

    def test_what_was_passed_over_stays_passed_over(self):
        self.run_elc("line,line,damage,kill", "line,kill", "damage,kill", "finish:0")
        self.assertEqual(self.restarts(), ["no", "1", "3", "1"])

    def test_no_line_is_whole(self):
        self.run_elc("line,line,damage,kill", "finish:0", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        os.remove(self.path("lines", "line-000001", "rank-000000.elc"))
        self.new_log()
        self.run_elc("finish:0", code=65)
        self.assertIn("passing over line 2", self.stderr)
        self.assertIn("passing over line 1", self.stderr)
        self.assertEqual(self.log(), [])
        self.run_elc("finish:0", options=["--from", "no"])

    def test_a_line_that_was_asked_for_is_not_replaced_by_another(self):
        self.run_elc("line,line,damage,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.run_elc("finish:0", options=["--from", "2"], code=65)
        self.assertIn("rank-000001.elc", self.stderr)


class UnreadLines(ToolTest):
    """What cannot be read is not damaged, and nothing else is taken for it."""
    launcher = "env -u LD_PRELOAD " + FAKE_JOB

    def setUp(self):
        super().setUp()
        self.run_elc("line,line,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.new_log()

    def fail(self, name, first, count):
        self.environment.update(LD_PRELOAD=FAIL_SHIM, ELC_TEST_FAIL="%s:%d:%d" % (name, first, count))

    def test_it_is_tried_again(self):
        for name in ("commit", "rank-000001.elc"):
            for first in range(1, 7):
                with self.subTest(name, first=first):
                    self.fail(name, first, 1)
                    self.run_elc("finish:0", "finish:0", options=["--from", "auto"])
                    self.assertEqual(self.restarts(), ["2"])
                    self.assertNotIn("passing over", self.stderr)
                os.remove(self.path("lines", "finished"))
                self.new_log()

    def test_and_never_passed_over(self):
        for name in ("commit", "rank-000001.elc"):
            for options in ([], ["--from", "2"]):
                with self.subTest(name, options=options):
                    self.fail(name, 3 if name == "commit" else 1, 1000)
                    self.run_elc("finish:0", options=options, code=74)
                    self.assertIn("Input/output error", self.stderr)
                    self.assertEqual(self.log(), [])

    def test_something_else_in_its_place_is_damage(self):
        os.remove(self.path("lines", "line-000002", "commit"))
        job = self.start("line,touch:up,wait-for:go,kill", "finish:0")
        self.wait_to_hear(job, "line 3 committed")
        os.rename(self.path("lines", "line-000003", "rank-000001.elc"), self.path("line-3"))
        os.mkfifo(self.path("lines", "line-000003", "rank-000001.elc"))
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(self.restarts(), ["1", "1"])

    def test_one_that_is_not_wanted_may_be_unread(self):
        self.fail("commit", 1, 1000)
        self.run_elc("finish:0", options=["--from", "no"])
        self.assertEqual(self.restarts(), ["no"])

    def test_verify_tells_them_apart(self):
        self.fail("rank-000001.elc", 1, 1000)
        self.elc("verify", "lines", code=74)
        self.assertIn("line 2 cannot be read", self.stdout)


class Directories(ToolTest):
    def unfinished(self):
        self.run_elc("line,line,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.new_log()

    def test_an_unfinished_run_is_continued(self):
        self.unfinished()
        self.run_elc("line,finish:0", ranks=None)
        self.assertEqual(self.log()[0].split()[:2], ["restart=2", "ranks=2"])
        self.assertIn("continuing from line 2", self.stderr)

    def test_not_with_another_number_of_ranks(self):
        self.unfinished()
        self.run_elc("finish:0", ranks=3, code=64)
        self.assertIn("2 ranks", self.stderr)
        self.assertEqual(self.log(), [])

    def test_a_finished_run_is_followed_by_a_new_one(self):
        self.run_elc("line,line,finish:0")
        self.new_log()
        self.run_elc("kill", "line,kill", "finish:0", ranks=3)
        self.assertEqual(self.restarts(), ["no", "no", "3"])

    def test_by_a_path_through_a_link(self):
        """The name above it is that of what the link leads to: for every command, and for the ranks."""
        os.makedirs(self.path("far", "away"))
        os.symlink(os.path.join("far", "away"), self.path("link"))
        there = os.path.join("link", "..", ".", "lines")
        self.elc("run", "-n", "2", "--dir", there + "/", "--launcher", self.launcher + " {n}", "--", "line,kill", "finish:0")
        self.assertEqual(self.restarts(), ["no", "1"])
        self.assertEqual(os.listdir(self.path("far")).count("lines"), 1)
        self.assertFalse(os.path.exists(self.path("lines")))
        for what in (there, os.path.join(there, "line-000001", ".")):
            self.assertIn("line 1 is whole", self.elc("verify", what))
        self.assertIn("line 1:", self.elc("show", os.path.join(there, "line-000001/")))

    def test_one_that_has_gone_is_no_sign_of_an_end(self):
        self.run_elc("line,finish:0")
        self.new_log()
        job = self.start("touch:up,wait-for:go,exit:3", "finish:0")
        self.wait_for("up")
        shutil.rmtree(self.path("lines"))
        os.mkdir(self.path("lines"))
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(self.restarts(), ["no", "no"])

    def test_to_begin_anew(self):
        self.unfinished()
        self.run_elc("kill", "line,kill", "finish:0", options=["--from", "no"], ranks=4)
        self.assertEqual(self.restarts(), ["no", "no", "3"])
        self.new_log()
        self.environment["ELC_RESTART"] = "3"
        self.run_elc("finish:0", ranks=None)
        self.assertEqual(self.restarts(), ["3"])

    def test_to_begin_anew_beside_damaged_lines(self):
        self.run_elc("line,bad-commit,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)
        self.new_log()
        self.run_elc("kill", "finish:0", options=["--from", "no"])
        self.assertEqual(self.restarts(), ["no", "no"])

    def test_to_go_back(self):
        self.unfinished()
        self.run_elc("kill", "line,kill", "kill", "finish:0", options=["--from", "1"])
        self.assertEqual(self.restarts(), ["1", "1", "3", "3"])
        self.run_elc("finish:0", options=["--from", "77"], code=64)
        self.assertIn("there is no line 77", self.stderr)

    def test_one_at_a_time(self):
        first = self.start("touch:up,pause")
        self.wait_for("up")
        self.run_elc("finish:0", code=74)
        self.assertIn("another job is using", self.stderr)
        first.send_signal(signal.SIGINT)
        self.end(first, 130)

    def test_a_job_that_elc_does_not_run_has_the_directory(self):
        os.makedirs(self.path("lines"))
        with open(self.path("lines", "job.lock"), "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            self.run_elc("finish:0", code=74)
            self.assertIn("another job is using", self.stderr)
            self.assertFalse(os.path.exists(self.path("log")))
            job = self.start("finish:0")  # waits: whoever has it may be about to end
            fcntl.lockf(lock, fcntl.LOCK_UN)
        self.end(job, 0)


class Signals(ToolTest):
    def test_term_takes_a_line_and_ends_with_a_code_that_says_so(self):
        job = self.start("touch:up,request,line,pause", "finish:0")
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.end(job, 75)
        self.assertIn("line 1 has committed", self.stderr)
        self.run_elc("finish:0")
        self.assertEqual(self.restarts(), ["no", "1"])

    def test_term_before_the_start(self):
        """What comes while the directory is looked at, which may take long, is heard: nothing is started."""
        os.makedirs(self.path("lines"))
        with open(self.path("lines", "job.lock"), "w") as lock:
            fcntl.lockf(lock, fcntl.LOCK_EX)
            job = self.start("finish:0")
            until("a handler for SIGTERM", lambda: catches(job.pid, signal.SIGTERM))
            job.send_signal(signal.SIGTERM)
            fcntl.lockf(lock, fcntl.LOCK_UN)
        self.assertIn("nothing was started", self.end(job, 128 + signal.SIGTERM))
        self.assertFalse(os.path.exists(self.path("log")))

    def test_term_when_the_job_ends_by_itself_after_the_line(self):
        job = self.start("touch:up,request,line,exit:1")
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.end(job, 75)

    def test_term_when_no_line_can_be_had(self):
        job = self.start("line,touch:up,deaf,pause", options=["--grace", "1"])
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.assertIn("the newest line is 1", self.end(job, 128 + signal.SIGTERM))

    def test_term_when_the_program_finishes_meanwhile(self):
        job = self.start("touch:up,request,finish:5")
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.end(job, 5)

    def test_term_when_the_program_has_finished_is_no_reason_to_end_it(self):
        job = self.start("on-term,touch:up,request,mark,line,wait-for:go,exit:0")
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.wait_to_hear(job, "line 1 committed")
        open(self.path("go"), "w").close()
        self.end(job, 0)

    def test_term_that_ends_the_job_when_the_program_finishes(self):
        """The launcher's exit code is not the program's, which goes on from its line."""
        job = self.start("mark-on-term,touch:up,request,line,pause", "finish:0")
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.end(job, 75)
        self.run_elc("finish:0")
        self.assertEqual(self.restarts(), ["no", "1"])

    def test_term_that_ends_the_job_of_another_run_when_the_program_finishes(self):
        self.run_elc("line,finish:0")
        self.new_log()
        job = self.start("mark-on-term,touch:up,pause", options=["--grace", "3600"])
        self.wait_for("up")
        job.send_signal(signal.SIGINT)
        self.end(job, 130)
        self.run_elc("finish:0")
        self.assertEqual(self.restarts(), ["no", "no"])

    def test_term_when_the_program_ends_well_without_a_mark(self):
        job = self.start("touch:up,request,exit:0")
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.end(job, 0)

    def test_a_second_term_ends_at_once(self):
        job = self.start("touch:up,request,touch:asked,pause", options=["--grace", "3600"])
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.wait_for("asked")
        job.send_signal(signal.SIGTERM)
        self.end(job, 128 + signal.SIGTERM)

    def test_int_ends_at_once(self):
        job = self.start("orphan,touch:up,deaf,pause")
        self.wait_for("up")
        job.send_signal(signal.SIGINT)
        self.end(job, 128 + signal.SIGINT)
        self.assertEqual([p for p in self.pids() if alive(p)], [])

    def test_int_that_is_ignored_does_not_end_it(self):
        """As for a script's `elc run &`."""
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            job = self.start("touch:up,request,finish:0")
        finally:
            signal.signal(signal.SIGINT, before)
        self.wait_for("up")
        job.send_signal(signal.SIGINT)
        job.send_signal(signal.SIGUSR1)
        self.end(job, 0)

    def test_usr1_takes_a_line(self):
        job = self.start("touch:up,request,line,finish:0")
        self.wait_for("up")
        job.send_signal(signal.SIGUSR1)
        self.end(job, 0)
        self.assertEqual(self.lines()["newest"], 1)


class Clocks(ToolTest):
    """Somebody sets the clock of the machine while a time runs."""

    def setUp(self):
        super().setUp()
        self.environment.update(LD_PRELOAD=CLOCK_SHIM, ELC_TEST_CLOCK=self.path("shift"))

    def set_clock(self, seconds):
        with open(self.path("shift.new"), "w") as file:
            file.write(str(seconds))
        os.rename(self.path("shift.new"), self.path("shift"))

    def test_forward_during_the_grace(self):
        job = self.start("touch:up,request,touch:asked,wait-for:set,request,line,pause", options=["--grace", "3000"])
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.wait_for("asked")
        self.set_clock(3600)
        open(self.path("set"), "w").close()
        self.end(job, 75)  # elc asks a second time, with an hour gone by the clock

    def test_back_during_the_grace(self):
        job = self.start("deaf,touch:up,request,touch:asked,pause", options=["--grace", "2"])
        self.wait_for("up")
        job.send_signal(signal.SIGTERM)
        self.wait_for("asked")
        self.set_clock(-3600)
        self.end(job, 128 + signal.SIGTERM)
        self.assertIn("no line within 2 seconds", self.stderr)

    def test_back_while_the_launcher_is_given_time_to_end(self):
        job = self.start("slow-on-term,touch:up,pause")
        self.wait_for("up")
        job.send_signal(signal.SIGINT)
        self.wait_for("told")
        self.set_clock(-3600)
        self.end(job, 128 + signal.SIGINT)


@unittest.skipUnless(os.path.isdir("/proc/self/task"), "needs /proc")
class Waiting(ToolTest):
    """A job that has nothing to wait for."""

    def setUp(self):
        super().setUp()
        os.symlink(FAKE_JOB, self.path("mpiexec.fake"))
        self.launcher = self.path("mpiexec.fake")
        self.options = ["--mpi", "mpich"]

    def hurry(self):
        self.environment.update(LD_PRELOAD=CLOCK_SHIM, ELC_TEST_SPEED="5")

    def test_a_launcher_that_does_not_bury_its_ranks(self):
        """Open MPI's, when a rank is killed in its MPI_Init at a bad moment."""
        self.hurry()
        self.run_elc("ranks:idle,line,kill-ranks,pause", "finish:0", options=self.options)
        self.assertEqual(self.restarts(), ["no", "1"])
        self.assertIn("no rank lives and the launcher does not end", self.stderr)

    def test_a_launcher_that_goes_on_when_all_its_ranks_are_buried(self):
        self.hurry()
        # The request comes when it has seen them all.
        self.run_elc("ranks:idle,request,kill-ranks,bury,deaf,pause", "finish:0",
                     options=[*self.options, "--stall", "20"])
        self.assertEqual(len(self.log()), 2)
        self.assertIn("no rank lives and the launcher does not end", self.stderr)

    def of_one_rank_fewer(self):
        """Words for a launcher that elc chooses, and that starts one rank fewer: never are all of them seen."""
        with open(self.path("mpiexec.mpich"), "w") as file:
            file.write('#!/bin/sh\nn=$2\nshift 3\nexec %s $((n - 1)) "$@"\n' % FAKE_JOB)
        os.chmod(self.path("mpiexec.mpich"), 0o755)
        self.environment["PATH"] = self.place + ":" + self.environment["PATH"]
        return ["run", "-n", "3", "--dir", "lines", "--mpi", "mpich", "--", "/bin/sh"]

    def test_a_launcher_whose_ranks_were_buried_before_they_were_seen(self):
        self.hurry()
        self.elc(*self.of_one_rank_fewer(), "ranks:idle,kill-ranks,bury,deaf,pause", "finish:0")
        self.assertEqual(len(self.log()), 2)
        self.assertIn("no rank lives and the launcher does not end", self.stderr)

    def test_a_launcher_whose_ranks_may_have_been_started_by_a_batch_system(self):
        self.hurry()
        self.environment["PBS_JOBID"] = "1"
        words = self.of_one_rank_fewer()
        job = subprocess.Popen([ELC, *words, "ranks:idle,kill-ranks,bury,touch:up,wait-for:go,finish:0"], cwd=self.place,
                               env=self.environment, stderr=subprocess.PIPE, text=True, stdin=subprocess.DEVNULL)
        self.running.append(job)
        self.wait_for("up")
        time.sleep(4)
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(len(self.log()), 1)

    def test_a_launcher_of_the_users_own_may_have_more_to_do(self):
        self.hurry()
        self.launcher = FAKE_JOB
        job = self.start("ranks:idle,kill-ranks,bury,touch:up,wait-for:go,finish:0")
        self.wait_for("up")
        time.sleep(4)
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(len(self.log()), 1)

    def test_what_a_rank_has_left_behind(self):
        """It holds the output open, for whose end the launcher waits; the launcher's exit code is what counts."""
        self.hurry()
        self.run_elc("output-of-ranks:leave,finish:3", options=self.options, ranks=1, code=3)
        self.assertEqual(self.restarts(), ["no"])
        self.assertIn("all ranks have ended, and one has left", self.stderr)
        self.assertIn("killed, so that the launcher ends", self.stderr)

    def test_ranks_that_do_nothing(self):
        self.run_elc("ranks:idle,line,pause", "finish:0", options=[*self.options, "--stall", "2"])
        self.assertEqual(self.restarts(), ["no", "1"])
        self.assertIn("no rank has worked and there was no line", self.stderr)

    def test_ranks_that_do_nothing_are_told_of(self):
        self.environment.update(LD_PRELOAD=CLOCK_SHIM, ELC_TEST_SPEED="200")
        job = self.start("ranks:idle,touch:up,wait-for:go,finish:0", options=self.options)
        self.wait_to_hear(job, "perhaps the job hangs")
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(len(self.log()), 1)

    def test_a_job_that_takes_a_line_when_asked_moves(self):
        job = self.start("ranks:idle,request,line,request,line,request,line,finish:0",
                         options=[*self.options, "--stall", "2"])
        self.end(job, 0)
        self.assertEqual(self.restarts(), ["no"])

    def test_ranks_that_work(self):
        self.run_elc("ranks:work,bury,finish:0", options=[*self.options, "--stall", "2.5"], ranks=1)
        self.assertEqual(self.restarts(), ["no"])

    def test_ranks_that_are_stopped_wait_for_somebody(self):
        job = self.start("ranks:idle,touch:up,wait-for:go,finish:0", options=[*self.options, "--stall", "1"], ranks=1)
        self.wait_for("up")
        for process in self.pids():
            os.kill(process, signal.SIGSTOP)
        time.sleep(4)
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(len(self.log()), 1)

    def test_ranks_elsewhere(self):
        """Of three ranks two are here: nothing is known about the third."""
        with open(self.path("mpiexec.two"), "w") as file:
            file.write('#!/bin/sh\nshift\nexec %s 2 "$@"\n' % FAKE_JOB)
        os.chmod(self.path("mpiexec.two"), 0o755)
        self.launcher = self.path("mpiexec.two")
        job = self.start("ranks:idle,wait-for:go,finish:0", options=[*self.options, "--stall", "1"], ranks=3)
        self.wait_to_hear(job, "not all ranks were seen on this machine")
        open(self.path("go"), "w").close()
        self.end(job, 0)
        self.assertEqual(len(self.log()), 1)


class Leftovers(ToolTest):
    def test_none_is_there_when_the_next_attempt_begins(self):
        self.run_elc("orphan,orphan,line,kill", "no-orphans,orphan,kill", "no-orphans,finish:0")
        self.assertEqual(len(self.pids()), 3)
        self.assertEqual([p for p in self.pids() if alive(p)], [])

    def test_none_when_the_program_has_ended(self):
        self.run_elc("orphan,finish:0")
        self.assertEqual([p for p in self.pids() if alive(p)], [])

    def test_none_when_elc_is_killed(self):
        job = self.start("orphan,touch:up,deaf,pause")
        self.wait_for("up")
        job.kill()
        job.wait()
        until("the end of the orphan", lambda: not any(map(alive, self.pids())))

    @unittest.skipUnless(sys.platform == "linux", "other systems do not tell a process that its parent has died")
    def test_the_launcher_is_told_when_elc_and_the_keeper_are_killed(self):
        """As `killall -9 elc` does."""
        job = self.start("slow-on-term,touch:up,wait-for:told")
        self.wait_for("up")
        with open("/proc/%d/task/%d/children" % (job.pid, job.pid)) as children:
            keeper = int(children.read().split()[0])
        job.send_signal(signal.SIGSTOP)  # it would end the job
        os.kill(keeper, signal.SIGKILL)
        job.kill()
        job.wait()
        self.wait_for("told")

    @unittest.skipUnless(os.path.isdir("/proc/self/task"), "needs /proc")
    def test_none_when_the_keeper_is_killed(self):
        job = self.start("orphan,touch:up,pause", "no-orphans,finish:0")
        self.wait_for("up")
        with open("/proc/%d/task/%d/children" % (job.pid, job.pid)) as children:
            os.kill(int(children.read().split()[0]), signal.SIGKILL)
        self.end(job, 0)
        self.assertEqual(len(self.log()), 2)


class Looking(ToolTest):
    def setUp(self):
        super().setUp()
        self.run_elc("line,line,half,line,kill", options=["--max-restarts", "0"], code=128 + signal.SIGKILL)

    def test_ls(self):
        text = self.elc("ls", "lines")
        self.assertIn("newest", text)
        self.assertIn("never committed", text)
        found = self.lines()
        self.assertEqual([(l["line"], l["committed"]) for l in found["lines"]],
                         [(1, True), (2, True), (3, False), (4, True)])
        self.assertEqual(found["restart"], 4)
        self.assertEqual(found["lines"][3]["ranks"], 2)
        self.assertEqual(found["lines"][3]["cost"], 0.25)
        self.environment["ELC_DIR"] = "lines"
        self.assertEqual(self.elc("ls"), text)
        self.elc("ls", "nowhere", code=64)

    def test_what_others_have_put_there(self):
        """Nothing is followed, waited for or removed."""
        os.mkfifo(self.path("lines", "control"))
        os.mkdir(self.path("outside"))
        with open(self.path("outside", "commit"), "w") as file:
            file.write("mine")
        os.symlink(self.path("outside"), self.path("lines", "line-000009"))
        os.mkdir(self.path("lines", "line-18446744073709551614"))
        found = self.lines()
        self.assertEqual([l["line"] for l in found["lines"]], [1, 2, 3, 4, 9])
        self.assertIn("symbolic link", found["lines"][-1]["damage"])
        self.assertEqual(found["lines"][-1]["bytes"], 0)
        self.elc("rm", "9", "-d", "lines", code=74)
        self.assertIn("symbolic link", self.stderr)
        self.assertEqual(os.listdir(self.path("outside")), ["commit"])
        os.unlink(self.path("lines", "line-000002", "commit"))
        os.mkfifo(self.path("lines", "line-000002", "commit"))
        self.assertRegex(self.elc("ls", "lines"), r"(?m)^ +2 .*commit is not a file")
        self.elc("verify", "lines", code=65)
        os.unlink(self.path("lines", "line-000009"))
        os.mkfifo(self.path("lines", "finished"))
        self.elc("ls", "lines", code=74)
        self.assertIn("finished is not a file", self.stderr)

    def test_ls_of_a_running_job_says_why_lines_are_refused(self):
        why = "rank 1: a window made by MPI_Win_create"
        job = self.start("lock,refuse:%s,touch:up,wait-for:go,line,clean,touch:taken,wait-for:end,finish:0" % why)
        self.wait_for("up")
        found = self.lines()
        self.assertEqual((found["running"], found["refused"]), (True, "line 5: " + why))
        self.assertIn("the running job takes no line: line 5: " + why, self.elc("ls", "lines"))
        open(self.path("go"), "w").close()
        self.wait_for("taken")
        found = self.lines()
        self.assertEqual((found["running"], found["refused"]), (True, ""))
        self.assertNotIn("takes no line", self.elc("ls", "lines"))
        open(self.path("end"), "w").close()
        self.end(job, 0)

    def test_what_a_job_that_has_ended_was_refused_is_no_news(self):
        self.run_elc("lock,refuse:something,exit:0", options=["--from", "no"])
        self.assertTrue(os.path.exists(self.path("lines", "refused")))
        found = self.lines()
        self.assertEqual((found["running"], found["refused"]), (False, ""))
        self.assertNotIn("something", self.elc("ls", "lines"))
        self.elc("rm", "1", "-d", "lines")
        self.assertFalse(os.path.exists(self.path("lines", "refused")))

    def test_verify(self):
        self.assertIn("line 4 is whole", self.elc("verify", "lines"))
        with open(self.path("lines", "line-000002", "rank-000001.elc"), "r+b") as file:
            file.seek(3000)
            file.write(b"?")
        self.elc("verify", "lines", code=65)
        self.assertIn("line 2 is not whole", self.stdout)
        self.elc("verify", "4", "--dir", "lines")
        self.elc("verify", "lines/line-000002/", code=65)
        result = json.loads(self.elc("verify", "--json", "lines", code=65))
        self.assertEqual([l["line"] for l in result["lines"] if not l["whole"]], [2])
        self.elc("verify", "3", "-d", "lines", code=65)
        self.assertIn("never committed", self.stdout)
        self.elc("verify", "nonsense", code=64)
        self.elc("verify", "99", "-d", "lines", code=64)
        self.assertIn("there is no line 99", self.stderr)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no full device here")
    def test_output_that_cannot_be_written(self):
        for words in (["ls"], ["ls", "--json"], ["verify"], ["show", "4"]):
            with open("/dev/full", "w") as full:
                done = subprocess.run([ELC, *words, *(["--dir"] if words[0] != "ls" else []), "lines"], cwd=self.place,
                                      env=self.environment, stdout=full, stderr=subprocess.PIPE, text=True,
                                      timeout=DEADLINE, stdin=subprocess.DEVNULL)
            self.assertEqual(done.returncode, 74, done.stderr)
            self.assertIn("not all of the output could be written", done.stderr)

    def test_verify_of_a_line_without_files(self):
        self.run_elc("line,kill", options=["--max-restarts", "0", "--from", "no"], code=128 + signal.SIGKILL, ranks=150)
        for rank in range(150):
            os.remove(self.path("lines", "line-000005", "rank-%06d.elc" % rank))
        self.elc("verify", "5", "-d", "lines", code=65)
        self.assertEqual(self.stdout.count("is missing"), 100)
        self.assertIn("only the first 100 faults", self.stdout)

    def test_show_where_memory_is_short(self):
        """All of it, or one sentence: with a little more memory each time, until it is enough."""
        show = [ELC, "show", "--all", "--json", GOLDEN]
        wanted = subprocess.run(show, capture_output=True, check=True).stdout
        codes = set()
        for size in range(2 << 20, 1 << 30, 1 << 18):
            done = subprocess.run(show, capture_output=True,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)))
            codes.add(done.returncode)
            if done.returncode == 0:
                break
            begun = done.returncode not in (127, -signal.SIGSEGV) and not any(
                words in done.stderr for words in (b"without an active exception", b"AddressSanitizer"))
            if begun:  # before, the loader and the constructors of libraries have their own words
                self.assertIn(b"memory", done.stderr)
        else:
            self.skipTest("this build takes very much memory, as with a sanitizer")
        self.assertEqual(done.stdout, wanted)
        self.assertIn(74, codes)

    def test_show(self):
        text = self.elc("show", "4", "--dir", "lines")
        self.assertIn("line 4: 2 ranks", text)
        self.assertIn("rank 0 of 2", text)
        self.assertEqual(text, self.elc("show", "lines/line-000004"))
        self.assertIn("rank 1 of 2", self.elc("show", "4", "--dir", "lines", "--rank", "1"))
        self.assertIn("rank 1 of 2", self.elc("show", "lines/line-000004/rank-000001.elc"))
        facts = json.loads(self.elc("show", "--json", "4", "--dir", "lines"))
        self.assertEqual(facts["file"]["rank"], 0)
        self.assertEqual([s["name"] for s in facts["file"]["sections"]][:2], ["label", "data"])
        self.elc("show", "4", "--dir", "lines", "--values", "3")
        self.elc("show", "4", "--dir", "lines", "--values", "0", code=64)
        self.elc("show", "4", "--dir", "lines", "--values", "3", "--all", code=64)
        self.elc("show", "9", "--dir", "lines", code=64)
        self.elc("show", "4", "--dir", "lines", "--rank", "2", code=64)
        self.elc("show", "log", code=65)

    def test_rm(self):
        self.elc("rm", "--dir", "lines", "1", "3")
        self.assertEqual([l["line"] for l in self.lines()["lines"]], [2, 4])
        self.elc("rm", "--dir", "lines", "4", code=64)
        self.elc("rm", "--dir", "lines", "9", code=64)
        self.elc("rm", "--dir", "lines", "--force", "4")
        self.assertEqual([l["line"] for l in self.lines()["lines"]], [2])

    def test_rm_while_a_job_runs(self):
        job = self.start("touch:up,pause")
        self.wait_for("up")
        self.elc("rm", "--dir", "lines", "1", code=74)
        self.elc("rm", "--dir", "lines", "--force", "1")
        job.send_signal(signal.SIGINT)
        self.end(job, 130)


class Launchers(ToolTest):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("bin"))
        self.environment["PATH"] = self.path("bin") + ":/usr/bin:/bin"
        for name in ("mpirun.openmpi", "mpiexec.mpich", "mpirun.lam"):
            self.program("bin/" + name, '#!/bin/sh\necho "$0" "$@" > %s\n' % self.path("command"))

    def program(self, name, content):
        with open(self.path(name), "w") as file:
            file.write(content)
        os.chmod(self.path(name), 0o755)

    def command(self, *arguments):
        self.elc("run", "--dir", "lines", *arguments)
        words = self.read("command").split()
        return [os.path.basename(words[0]), *words[1:]]

    def test_by_what_the_program_is_linked_to(self):
        for library, launcher in (("libmpi.so.40", "mpirun.openmpi"), ("libmpich.so.12", "mpiexec.mpich"),
                                  ("liblam.so.4", "mpirun.lam")):
            self.program("prog", "\x7fELF %s\n" % library)
            words = self.command("-n", "3", "--", "./prog", "-x", "--", "y")
            self.assertEqual(words[0], launcher)
            self.assertEqual(words[-6:], ["-np" if "lam" in launcher else "-n", "3", "./prog", "-x", "--", "y"])

    def test_what_lam_keeps_is_swept_away(self):
        """Between two attempts, where no other process of the session is seen."""
        self.program("prog", "liblam.so.4")
        self.program("bin/lamclean", "#!/bin/sh\necho >> %s\n" % self.path("swept"))
        self.program("bin/mpirun.lam", "#!/bin/sh\nexit 3\n")
        for others, times in (("0 somebody", 0), ("", 3)):
            self.program("bin/mpitask", "#!/bin/sh\necho TASK\n" + ("echo %s\n" % others if others else ""))
            self.elc("run", "--dir", "lines", "--max-restarts", "2", "-n", "2", "--", "./prog", code=3)
            self.assertEqual(len(self.read("swept")) if os.path.exists(self.path("swept")) else 0, times)

    def test_by_option(self):
        self.program("prog", "#!/bin/sh\n")
        self.assertEqual(self.command("--mpi", "mpich", "-n", "1", "./prog")[0], "mpiexec.mpich")

    def test_variables_are_passed_to_other_nodes(self):
        self.program("prog", "libmpi.so.40")
        self.environment["ELC_VERBOSE"] = "1"
        words = self.command("-n", "1000", "--every", "5", "--", "./prog")
        passed = [words[i + 1] for i, word in enumerate(words) if word == "-x"]
        self.assertEqual(passed, ["ELC_DIR", "ELC_EVERY", "ELC_RESTART", "ELC_VERBOSE"])
        self.assertIn("--oversubscribe", words)
        self.program("prog", "liblam.so.4")
        self.assertIn("ELC_DIR,ELC_EVERY,ELC_RESTART,ELC_VERBOSE", self.command("-n", "2", "--every", "5", "--", "./prog"))

    def test_a_command_of_the_users_own(self):
        self.program("prog", "libmpich.so")
        self.program("bin/start", '#!/bin/sh\necho "$0" "$@" > %s\n' % self.path("command"))
        self.assertEqual(self.command("--launcher", "start -a 'b c' --tasks={n}", "-n", "4", "--", "./prog", "d"),
                         ["start", "-a", "b", "c", "--tasks=4", "./prog", "d"])
        self.assertEqual(self.command("--launcher", "start", "-n", "4", "--", "./prog"), ["start", "-n", "4", "./prog"])


class OnATerminal(ToolTest):
    def start_there(self, controller, terminal, steps, options=()):
        def foreground():
            os.setsid()
            fcntl.ioctl(terminal, termios.TIOCSCTTY, 0)

        process = subprocess.Popen([ELC, *self.words([steps], options)], cwd=self.place, env=self.environment,
                                   stdin=terminal, stdout=terminal, stderr=terminal, preexec_fn=foreground)
        os.close(terminal)
        return process

    def read_all(self, controller, seen=lambda text: None):
        text = b""
        while True:
            try:
                piece = os.read(controller, 4096)
            except OSError:  # how Linux tells the end of a terminal
                break
            if not piece:
                break
            text += piece
            seen(text)
        os.close(controller)
        return text

    def test_the_last_line_is_shown_and_output_comes_through(self):
        controller, terminal = pty.openpty()
        process = self.start_there(controller, terminal, "say:hello,line,touch:up,wait-for:seen,finish:0")

        def seen(text):
            if b"[elc] line 1, " in text and not os.path.exists(self.path("seen")):
                open(self.path("seen"), "w").close()

        text = self.read_all(controller, seen)
        self.assertEqual(process.wait(timeout=DEADLINE), 0, text)
        self.assertIn(b"hello", text)
        self.assertIn(b"[elc] line 1, ", text)

    def test_no_output_is_lost_where_writing_does_not_wait(self):
        controller, terminal = pty.openpty()
        fcntl.fcntl(terminal, fcntl.F_SETFL, fcntl.fcntl(terminal, fcntl.F_GETFL) | os.O_NONBLOCK)
        process = self.start_there(controller, terminal, "say:%s,touch:said,finish:0" % ("#" * 100000))
        self.wait_for("said")
        text = self.read_all(controller)
        self.assertEqual(process.wait(timeout=DEADLINE), 0, text)
        self.assertEqual(text.count(b"#"), 100000)

    def test_output_of_a_job_where_a_terminal_stops_those_in_the_background(self):
        controller, terminal = pty.openpty()
        settings = termios.tcgetattr(terminal)
        settings[3] |= termios.TOSTOP
        termios.tcsetattr(terminal, termios.TCSANOW, settings)
        process = self.start_there(controller, terminal, "say:hello,finish:0", ["-q"])
        text = self.read_all(controller)
        self.assertEqual(process.wait(timeout=DEADLINE), 0, text)
        self.assertIn(b"hello", text)


if __name__ == "__main__":
    print("the tool, seed %d (ELC_TEST_SEED)" % SEED, flush=True)
    unittest.main(argv=[sys.argv[0], *(sys.argv[4:] or part_of(sys.modules["__main__"], range(2), 0))])
