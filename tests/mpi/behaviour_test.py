#!/usr/bin/env python3
"""behaviour_test.py BUILD [TEST...]: what the library does in a job, by short scenes (tests/programs/scenes.c). Without names
a sixth of them, as the seed divides a half among the MPIs; with ELC_TEST_ALL all of them, each in all its ways. With ELC_TEST_RESTART=BUILD the
restarts are made under that build: another MPI, another processor.

No test waits for a time: it waits for what has to happen, and fails when that has not happened after very long.
"""

import concurrent.futures
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402
from draw import SEED, drawn, part_of  # noqa: E402
sys.path.insert(0, os.path.join(HERE, "..", "format"))
import second_reader  # noqa: E402

BUILD = RESTART = None
PATIENCE = 120 # seconds; only a hang takes so long
REFUSED, STOPPED = 65, 75


class Jobs(unittest.TestCase):
    """What the tests have in common: jobs of one program, and what is to be true of them."""
    program = "scenes"

    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="elc-scene-")
        self.lines = os.path.join(self.home, "lines")
        self.scratch = launch.Scratch()
        self.jobs = []

    def tearDown(self):
        for job in self.jobs:
            if job.running():
                job.destroy()
            job.close()
        self.scratch.remove()
        shutil.rmtree(self.home, ignore_errors=True)

    # ---- Jobs ----

    def start(self, *arguments, ranks=3, directory=None, build=None, **variables):
        build = build or BUILD
        variables.setdefault("ELC_DIR", directory or self.lines)
        here = os.getcwd()
        os.chdir(self.home)
        try:
            job = launch.Job(build, ranks, build.program(self.program), arguments, variables, self.scratch)
        finally:
            os.chdir(here)
        self.jobs.append(job)
        return job

    def run_scene(self, *arguments, **keywords):
        """A job from start to end, however it ends."""
        job = self.start(*arguments, **keywords)
        self.end(job)
        return job

    def end(self, job):
        if not job.wait(PATIENCE):
            stacks = job.stacks()
            job.destroy()
            self.fail("no end after %d s: a hang?\n%s\n%s" % (PATIENCE, stacks, job.complaints()))
        job.vanish()

    def await_(self, job, condition, what):
        end = time.monotonic() + PATIENCE
        while not condition():
            if not job.running() or time.monotonic() > end:
                stacks = job.stacks()
                job.destroy()
                self.fail("%s did not happen\n%s\n%s" % (what, stacks, job.complaints()))
            time.sleep(0.01)

    def stop(self, job):
        open(os.path.join(self.home, "stop"), "w").close()
        self.end(job)
        os.unlink(os.path.join(self.home, "stop"))
        self.assert_right(job)

    def committed(self):
        return launch.committed(self.lines)

    def needs_mpi_3(self):
        if BUILD.mpi == "lam":
            self.skipTest("of MPI 3")

    def needs_one_mpi(self):
        if BUILD.mpi != RESTART.mpi:
            self.skipTest("the program is another one under each MPI")

    def fails_by_itself(self, mpi, processor):
        if any(b.mpi == mpi and processor in b.name for b in (BUILD, RESTART)):
            self.skipTest("without the library this MPI crashes or hangs there")

    def needs_one_machine(self):
        if BUILD.runner != RESTART.runner:
            self.skipTest("bytes that only machines alike understand")

    # ---- What is to be true ----

    def assert_right(self, job):
        self.assertEqual(job.popen.returncode, 0, job.complaints())
        self.assertEqual(job.result(), "ok", job.complaints())

    def assert_begins(self, job, step):
        self.assertIn("begins with step %d\n" % step, job.complaints())

    def killed_and_restarted(self, *scene, die=0, line=1, **keywords):
        """The scene's process `die` is killed when line `line` has committed (None: one or another); the restart is right."""
        job = self.run_scene(*scene, str(die), **keywords)
        if BUILD.mpi != "lam":  # whose mpirun does not care for a process that has been in MPI_Finalize
            self.assertNotEqual(job.popen.returncode, 0, "nobody was killed\n" + job.complaints())
        line = line or self.committed()[-1]
        self.assertEqual(self.committed()[-1:], [line], job.complaints())
        job = self.run_scene(*scene, str(die), build=RESTART, **keywords)
        self.assertIn("restarting from line %d " % line, job.complaints())
        self.assert_right(job)


class Copies(Jobs):
    """Lines that are written while the program runs on: by a copy of the process, or by a thread from a copy of its data."""
    program = "copies"

    def setUp(self):
        super().setUp()
        if BUILD.runner or BUILD.inside:
            self.skipTest("there are no copies under emulation")

    def run_scene(self, *arguments, **keywords):
        keywords.setdefault("ELC_BACKGROUND", "fork")
        return super().run_scene(*arguments, ELC_VERBOSE="2", **keywords)

    def test_changed(self): self.killed_and_restarted("changed")

    def test_changed_heap(self): self.killed_and_restarted("changed_heap")

    def test_together(self):
        """Ranks that write to one file, whoever does it."""
        for how, most in drawn(self.id(), ("fork", "node"), ("fork", "2"), ("copy", "2"), ("no", "node")):
            with self.subTest(how, most=most):
                self.lines = os.path.join(self.home, how + most)
                self.killed_and_restarted("changed", ELC_BACKGROUND=how, ELC_AGGREGATE=most, ELC_INCREMENTAL="3")
                line = os.path.join(self.lines, "line-%06d" % self.committed()[-1])
                alone = ["rank-%06d.elc" % rank for rank in range(3)]
                self.assertEqual(sorted(name for name in os.listdir(line) if name.endswith(".elc")),
                                 alone if BUILD.mpi == "lam" else ["ranks-000000-000002.elc"] if most == "node" else
                                 [alone[2], "ranks-000000-000001.elc"])
                for path in launch.rank_files(line):
                    second_reader.read(path, 3)

    def test_own_children(self):
        self.assert_right(self.run_scene("own_children"))

    def compressed(self, **keywords):
        for value in drawn(self.id(), "1", "1,3"):
            with self.subTest(value):
                self.lines = os.path.join(self.home, value)
                self.killed_and_restarted("compressed", ELC_COMPRESS=value, **keywords)
                with open(os.path.join(self.lines, "line-000001", "rank-000001.elc"), "rb") as file:
                    data = second_reader.File(file.read())
                self.assertLess(data.stored["vars"], len(data.sections["vars"]) * 0.8)

    def test_compressed(self): self.compressed()
    def test_compressed_by_the_process(self): self.compressed(ELC_BACKGROUND="no")

    def test_by_a_thread(self):
        for scene in drawn(self.id(), "changed", "changed_heap", "of_shared_memory"):
            with self.subTest(scene):
                self.lines = os.path.join(self.home, scene)
                self.killed_and_restarted(scene, ELC_BACKGROUND="copy")
                job = self.run_scene(scene, ELC_BACKGROUND="copy", directory=os.path.join(self.home, scene + "-others"))
                self.assertIn("line 1 is written by a thread, from a copy of its data, while the program runs on, because "
                              "ELC_BACKGROUND=copy", job.complaints())
                self.assertEqual(job.popen.returncode, 0, job.complaints())

    def test_compressed_by_a_thread(self): self.compressed(ELC_BACKGROUND="copy")

    def test_shared_memory(self):
        self.killed_and_restarted("of_shared_memory")
        job = self.run_scene("of_shared_memory", directory=os.path.join(self.home, "others"))
        self.assertIn("line 1 is written while the program waits, because some of its data lie in memory that processes share",
                      job.complaints())

    def test_dead_copy(self):
        job = self.run_scene("dead_copy")
        self.assert_right(job)
        self.assertIn("rank 2: line 1 is abandoned, the program runs on: the copy of the process that wrote it was ended by "
                      "signal 9", job.complaints())


class Careless(Jobs):
    """What ELC_CHECK tells of a program."""
    program = "careless"

    def setUp(self):
        super().setUp()
        if BUILD.runner or BUILD.inside:
            self.skipTest("the memory of a process under emulation is not its own")

    def told(self, scene, *sentences, check="1", ranks=2):
        job = self.run_scene(scene, ranks=ranks, ELC_CHECK=check)
        self.assert_right(job)
        for sentence in sentences:
            for rank in range(ranks):
                said = [line for line in job.complaints().splitlines() if "rank %d: " % rank in line and sentence in line]
                self.assertEqual(len(said), 1, "%s, of rank %d\n%s" % (sentence, rank, job.complaints()))
        if not sentences:
            self.assertNotIn("ELC_CHECK", job.complaints())
            self.assertNotIn("nothing that is registered", job.complaints())
        return job

    def test_nothing(self): self.told("nothing")

    def test_unasked(self):
        for scene in ("stack", "stream", "reading", "random", "pointer"):
            with self.subTest(scene):
                self.lines = os.path.join(self.home, scene)
                self.told(scene, check="0")

    def test_stack(self): self.told("stack", "'own' is registered, and was a variable of a function that has returned")
    def test_stream(self): self.told("stream", "plain-")
    def test_reading(self): self.told("reading", "read-")
    def test_random(self): self.told("random", "ELC_RANDOM() puts it there")

    def test_pointer(self):
        job = self.run_scene("pointer", ELC_CHECK="1")
        self.assertIn("'points' of the globals: 1 of its pointers point to nothing that is registered", job.complaints())

    def test_pointers_of_blocks(self):
        """One message in a line, whatever the number of blocks."""
        job = self.run_scene("blocks", ranks=2, ELC_CHECK="1")
        self.assert_right(job)
        said = [line for line in job.complaints().splitlines() if "rank 1: saving" in line]
        self.assertIn(len(said), range(1, 5), job.complaints())
        for line in said:
            self.assertIn("'struct item' of the heap: 5 of its pointers, in 5 blocks, point to nothing that is registered", line)

    def test_memory_that_is_gone(self):
        job = self.run_scene("gone", ELC_CHECK="1")
        self.assert_right(job)
        self.assertIn("'page' is registered, and its memory is not there any more", job.complaints())
        self.assertTrue(self.committed(), job.complaints())


class Changed(Jobs):
    """A program that is another one when its line is restarted (tests/state/changed_test.cc has all kinds of changes)."""
    program = "changed"

    def test_changed(self):
        job = self.run_scene("old", "0")
        self.assertEqual(self.committed(), [1], job.complaints())
        job = self.run_scene("new", build=RESTART, ELC_STRICT="1")
        self.assertNotEqual(job.popen.returncode, 0, job.complaints())
        self.assertIn("'field' of the globals is double[6] in the program, but float[4] in the line", job.complaints())
        self.assertEqual(self.committed(), [1], job.complaints())
        job = self.run_scene("new", build=RESTART)
        self.assert_right(job)
        told = "the program is not that of the line: "
        for change in ("rank 0: %s'wide' of the globals is 'count' in the line", "rank 0: %s'field' of the globals is double[6]",
                       "rank 0: %sthe line has 'gone'", "rank 1: %s'added' (int) of the globals is not in the line"):
            self.assertIn(change % told, job.complaints())
        self.assertNotIn("rank 2: " + told, job.complaints())

    def test_receive_into_what_has_changed(self):
        job = self.run_scene("old_pending", "0")
        self.assertEqual(self.committed(), [1], job.complaints())
        job = self.run_scene("new_pending", build=RESTART)
        self.assertNotEqual(job.popen.returncode, 0, job.complaints())
        self.assertEqual(self.committed(), [1], job.complaints())
        self.assertEqual(self.run_scene("old_pending", build=RESTART).popen.returncode, 0)


class Containers(Jobs):
    """Values of C++, and arrays that change their size."""
    program = "containers"

    def test_all(self): self.killed_and_restarted("all")

    def test_scopes(self):
        job = self.run_scene("scopes")
        self.assert_right(job)
        self.assertEqual(self.committed()[-1:], [4], job.complaints())

    def refused(self, scene, name):
        job = self.run_scene(scene)
        self.assert_right(job)
        self.assertIn("%s could not be registered, so a line would not be whole" % name, job.complaints())
        self.assertEqual(self.committed(), [], job.complaints())

    def test_pending(self): self.killed_and_restarted("pending")

    def test_persistent_of_the_set_up(self):
        job = self.run_scene("persistent")
        self.assert_right(job)
        self.assertIn("the set-up has made a persistent request, and its memory may have another place in a restart", job.complaints())
        self.assertEqual(self.committed(), [], job.complaints())

    def test_twice(self): self.refused("twice", "'a'")
    def test_recursive(self): self.refused("recursive", "'link.left[]'")


class Scenes(Jobs):
    # ---- A line commits while others wait for long ----

    def test_wait_recv(self): self.killed_and_restarted("wait_recv")
    def test_wait_any(self): self.killed_and_restarted("wait_any")
    def test_wait_probe(self): self.killed_and_restarted("wait_probe")
    def test_wait_wait(self): self.killed_and_restarted("wait_wait")
    def test_wait_waitall(self): self.killed_and_restarted("wait_waitall")
    def test_wait_waitany(self): self.killed_and_restarted("wait_waitany")
    def test_wait_waitsome(self): self.killed_and_restarted("wait_waitsome")
    def test_wait_test(self): self.killed_and_restarted("wait_test")
    def test_site_in_recv(self): self.killed_and_restarted("label_0")
    def test_site_in_probe(self): self.killed_and_restarted("label_1")
    def test_site_in_wait(self): self.killed_and_restarted("label_2")

    def test_site_after_the_call_of_its_label(self):
        job = self.run_scene("stale_label", "0")
        self.assertIn("stale_label(), after the call at its label 1, has come to a site without a label", job.complaints())
        for rank, times in self.abandoned(job).items():
            self.assertEqual(times, 1, "rank %s said it several times\n%s" % (rank, job.complaints()))
        self.assertTrue(self.committed(), job.complaints())
        job = self.run_scene("stale_label", "0")
        self.assertIn("restarting from line", job.complaints())
        self.assert_right(job)

    def test_label_of_a_call_that_is_over(self):
        self.needs_mpi_3()
        self.killed_and_restarted("spent_label", line=None)  # the first is refused where process 1 still has its message

    # ---- Datatypes of addresses ----

    def test_datatype_of_addresses(self):
        self.killed_and_restarted("absolute", line=None)  # who does not know yet that it has committed asks for another

    def test_datatype_of_a_distance(self):
        job = self.run_scene("distance", "0")
        self.assertIn("an MPI datatype made by MPI_Type_create_hindexed has the displacement", job.complaints())
        for rank, times in self.abandoned(job).items():
            self.assertEqual(times, 1, "rank %s said it several times\n%s" % (rank, job.complaints()))
        self.assertTrue(self.committed(), job.complaints())
        job = self.run_scene("distance", "0")
        self.assertIn("restarting from line", job.complaints())
        self.assert_right(job)

    def test_datatype_of_addresses_of_the_set_up(self): self.killed_and_restarted("bottom", die=0)

    # ---- The traps of the protocol that can be staged ----

    def test_trap1_two_receives_of_one_class(self): self.killed_and_restarted("trap1", die=1)
    def test_wildcard_behind_all(self): self.killed_and_restarted("wildcard_behind_all")
    def test_wildcard_behind_some(self): self.killed_and_restarted("wildcard_behind_some")
    def test_trap2_large_message_in_transit(self): self.killed_and_restarted("trap2", die=1)
    def test_trap4_probe_before_the_line(self): self.killed_and_restarted("trap4", die=0)
    def test_trap8_ready_send(self): self.killed_and_restarted("trap8", die=1)
    def test_trap10_communicator_not_made_yet(self): self.killed_and_restarted("trap10_made", die=1)
    def test_trap10_communicator_freed_on_one_side(self): self.killed_and_restarted("trap10_freed", die=1, line=2)
    def test_trap11_strided(self): self.killed_and_restarted("trap11", die=1)
    def test_in_transit(self): self.killed_and_restarted("transit", die=1)
    def test_in_transit_without_drain(self): self.killed_and_restarted("transit", die=1, ELC_DRAIN="wait")

    # ---- Finalize ----

    def finalize(self, scene, **variables):
        job = self.run_scene(scene, **variables)
        self.assert_right(job)
        # The run is over: the next one begins anew.
        job = self.run_scene(scene, **variables)
        self.assert_right(job)
        self.assert_begins(job, 0)

    def test_finalize_one(self): self.finalize("finalize_one")
    def test_finalize_all(self): self.finalize("finalize_all")
    def test_finalize_unreceived(self): self.finalize("finalize_unreceived")
    def test_finalize_late(self): self.finalize("finalize_late")
    def test_finalize_timer(self): self.finalize("finalize_one", ELC_EVERY="0.001")
    def test_finalize_without_drain(self): self.finalize("finalize_unreceived", ELC_DRAIN="wait")

    def test_strays(self):
        """What others have received would not come again: no wrong result, a message."""
        job = self.run_scene("strays", "0")
        self.assertEqual(self.committed(), [1], job.complaints())
        job = self.run_scene("strays", "0")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("makes other calls than before the line", job.complaints())
        self.assertEqual(self.committed(), [1], job.complaints())

    def test_released(self):
        """A call that waits for what its log says is let go with everybody."""
        self.killed_and_restarted("released")

    def test_released_past_a_barrier(self):
        """The same where the others are inside a collective operation, from the end of their votes on."""
        self.killed_and_restarted("released_past")

    def test_released_apart(self):
        """A send to a process that does not know yet that all are released, and cannot look. The program probes and sends synchronously."""
        self.killed_and_restarted("released_apart", ELC_EARLY_SENDS="yes")

    def test_large_file(self):
        """Files of more than 4 GiB; tests/run tries it with 32 bits, too."""
        self.killed_and_restarted("large_file")

    # ---- Errors are MPI's own ----

    def as_without(self, scene):
        """What a scene checks is so without the library, too."""
        self.assert_right(self.run_scene(scene, ELC_DIR=""))

    def test_wrong_calls(self):
        if BUILD.mpi == "lam":
            self.skipTest("LAM by itself hangs after a message that was too long")
        self.fails_by_itself("mpich", "s390x")
        self.as_without("wrong_calls")
        self.killed_and_restarted("wrong_calls", die=1)

    def test_called_back(self):
        """A site in a function that MPI calls is none."""
        self.assert_right(self.run_scene("called_back"))
        self.assertEqual(self.committed(), [1])

    # ---- One step beside ----

    def test_finalize_at_exit(self):
        """In a function for the exit that is older than the library's: the run is finished all the same."""
        for _ in range(2):
            job = self.run_scene("two_lines", "-1", "at-exit")
            self.assertNotIn("restarting", job.complaints())
            self.assert_right(job)

    def test_self_dups(self): self.killed_and_restarted("self_dups", die=1)
    def test_held_and_freed(self): self.killed_and_restarted("held_and_freed", die=1)
    def test_posted_before(self): self.killed_and_restarted("posted_before", die=1)

    def test_told_by_chance(self):
        job = self.run_scene("told_by_chance", "1")
        self.assertRegex(job.complaints(), "MPI_Win_create(_dynamic)? was called, which libELC does not follow, while messages crossed")
        self.assertEqual(self.committed(), [2])
        self.assert_right(self.run_scene("told_by_chance", "1"))

    def test_told_by_file(self):
        if BUILD.mpi == "lam":
            self.skipTest("of MPI 3")
        job = self.run_scene("told_by_file", "1")
        self.assertIn("MPI_File_get_size was called, by which a process sees what others have written", job.complaints())
        self.assertEqual(self.committed(), [2])
        self.assert_right(self.run_scene("told_by_file", "1"))

    # ---- Requests ----

    def test_persistent(self):
        self.as_without("persistent")
        self.killed_and_restarted("persistent", die=1, line=2)
        self.assertEqual(self.committed(), [2])

    def test_cancelled_receives(self):
        self.as_without("cancelled_receives")
        self.killed_and_restarted("cancelled_receives", die=1)

    def test_wait_looked_at(self):
        self.assert_right(self.run_scene("wait_looked_at"))
        shutil.rmtree(self.lines)
        self.killed_and_restarted("wait_looked_at", die=1)

    def test_matched_probes(self):
        self.needs_mpi_3()
        self.as_without("wrong_matched")
        self.killed_and_restarted("wrong_matched", die=1, line=2)
        self.assertEqual(self.committed(), [2])

    def test_matched_probes_again(self):
        self.needs_mpi_3()
        self.killed_and_restarted("matched_again", die=1)

    def test_huge_message(self):
        """Of more than 2 GiB, in transit: takes 14 GiB of memory, and minutes."""
        self.needs_mpi_3()
        if not os.environ.get("ELC_TEST_HUGE"):
            self.skipTest("ELC_TEST_HUGE is not set")
        self.killed_and_restarted("huge_message", die=1)

    def test_empty_messages(self): self.killed_and_restarted("empty_messages", die=1)

    def test_other_requests(self):
        self.needs_mpi_3()
        self.killed_and_restarted("other_requests", die=1)

    def needs_mpi_4(self):
        if BUILD.mpi != "mpich":
            self.skipTest("of MPI 4")

    def test_send_and_receive(self):
        self.needs_mpi_4()
        self.killed_and_restarted("send_and_receive")

    def test_partitioned(self):
        self.needs_mpi_4()
        self.assert_right(self.run_scene("partitioned", "0"))

    def test_paired(self):
        """A line must not cross what two processes make together."""
        self.needs_mpi_4()
        job = self.run_scene("paired", "0")
        self.assertIn("MPI_Psend_init", job.complaints())
        self.assertTrue(self.committed(), job.complaints())
        job = self.run_scene("paired", "0")
        self.assertIn("restarting from line", job.complaints())
        self.assert_right(job)

    # ---- Lines that cannot be written ----

    def abandoned(self, job):
        """{rank: number of times that it has said so}"""
        said = {}
        for rank in re.findall(r"rank (\d+): line \d+ is abandoned, the program runs on", job.complaints()):
            said[rank] = said.get(rank, 0) + 1
        return said

    def test_full_disk(self):
        job = self.run_scene("full_disk")
        self.assert_right(job)
        self.assertEqual(self.abandoned(job), {"2": 1}, job.complaints())
        self.assertTrue(self.committed())
        for number, files in launch.lines_in(self.lines).items():
            self.assertFalse([f for f in files if "tmp" in f], "line %d" % number)

    def lost_directory(self, lose, bring_back):
        job = self.start("run_on", ELC_EVERY="0.02")
        self.await_(job, self.committed, "a first line")
        lose()
        self.await_(job, lambda: self.abandoned(job), "the message")
        self.assertTrue(job.running())
        newest = self.committed()[-1] if self.committed() else 0
        bring_back()
        newest = max([newest] + self.committed())
        self.await_(job, lambda: self.committed()[-1:] > [newest], "a line after the trouble")
        self.stop(job)
        for rank, times in self.abandoned(job).items():
            self.assertEqual(times, 1, "rank %s said it several times\n%s" % (rank, job.complaints()))

    def test_directory_removed(self):
        away = self.lines + ".away"

        def lose():
            os.rename(self.lines, away)
            open(self.lines, "w").close()  # nothing can be made in its place

        def bring_back():
            os.unlink(self.lines)
            os.rename(away, self.lines)
        self.lost_directory(lose, bring_back)

    def test_directory_read_only(self):
        os.chmod(self.home, 0o555)
        try:
            os.mkdir(os.path.join(self.home, "probe"))
            self.skipTest("who runs this may write everywhere")
        except OSError:
            pass
        finally:
            os.chmod(self.home, 0o755)
        self.lost_directory(lambda: os.chmod(self.lines, 0o555), lambda: os.chmod(self.lines, 0o755))

    def test_max_transit(self):
        job = self.start("transit", ELC_MAX_TRANSIT="2")
        self.await_(job, lambda: "ELC_MAX_TRANSIT" in job.complaints(), "the message")
        self.stop(job)
        self.assertEqual(self.committed(), [])

    def test_refused_line(self):
        """A line that is refused leaves the one before it whole; a kill after MPI_Finalize is a kill."""
        self.killed_and_restarted("refused_line")

    def test_forks(self):
        """Children that exit while a line is taken, or written, take nothing of it with them."""
        self.killed_and_restarted("forks", line=5)
        done = subprocess.run([BUILD.program("elc"), "verify", self.lines], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(done.stdout.count(" is whole"), 2, done.stdout)

    def test_statics(self):
        """Statics of a function that the set-up does not call, and random numbers."""
        self.killed_and_restarted("statics", line=2)
        shown = subprocess.run([BUILD.program("elc"), "show", "2", "-d", self.lines], capture_output=True, text=True).stdout
        for pattern in (r"seventh_step.calls +int .* static", r"seventh_step.steps +double\[2\]\[50\]", r"ELC_RANDOM.random +int32_t\[32\]"):
            self.assertRegex(shown, pattern)

    def test_grown(self): self.killed_and_restarted("grown")

    # ---- Restarts that are refused ----

    def two_lines(self):
        job = self.run_scene("two_lines", "0")
        self.assertNotEqual(job.popen.returncode, 0)
        self.assertEqual(self.committed(), [1, 2], job.complaints())

    def refused(self, pattern, *arguments, **keywords):
        before = launch.contents(self.lines)
        job = self.run_scene(*(arguments or ("two_lines",)), **keywords)
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertRegex(job.complaints(), pattern)
        self.assertIn("nothing was changed", job.complaints())
        self.assertNotIn("begins with", job.complaints())
        self.assertEqual(launch.contents(self.lines), before)

    def rank_file(self, line, rank):
        return os.path.join(self.lines, "line-%06d" % line, "rank-%06d.elc" % rank)

    def test_missing_file(self):
        self.two_lines()
        os.unlink(self.rank_file(2, 1))
        self.refused(re.escape(self.rank_file(2, 1)), ELC_RESTART="2")
        # Its commit may have failed half-way: the line before is taken, and that is said.
        job = self.run_scene("two_lines")
        self.assertIn("passing over line 2: %s is missing" % self.rank_file(2, 1), job.complaints())
        self.assert_right(job)
        self.assert_begins(job, 10)

    def test_damaged_file(self):
        self.two_lines()
        r = random.Random(SEED)
        for _ in range(4):
            path = self.rank_file(2, r.randrange(3))
            with open(path, "r+b") as f:
                whole = f.read()
                at = r.randrange(len(whole))
                f.seek(at)
                f.write(bytes([whole[at] ^ (1 << r.randrange(8))]))
            try:
                self.refused(re.escape(path))
            except AssertionError as failure:
                self.fail("byte %d of %d of %s (seed %d): %s" % (at, len(whole), path, SEED, failure))
            with open(path, "wb") as f:
                f.write(whole)
        with open(self.rank_file(2, 0), "r+b") as f:
            f.truncate(len(whole) // 2)
        self.refused(re.escape(self.rank_file(2, 0)))

    def test_damaged_data(self):
        """Found when they are read to where they belong: no file is changed, and the program's exit sees nothing of it."""
        log = os.path.join(self.home, "log")
        def logged():
            with open(log) as f:
                return f.read()
        self.run_scene("much_data", "0")
        path = self.rank_file(2, 1)
        with open(path, "r+b") as f:
            whole = f.read()
            f.seek(len(whole) * 2 // 3)
            f.write(bytes([whole[len(whole) * 2 // 3] ^ 4]))
        self.refused(re.escape(path) + " cannot be used: section `vars`: chunk [0-9]+ is damaged", "much_data")
        self.assertNotIn("by exit", self.run_scene("much_data").complaints())
        self.assertEqual(logged(), "before\nafter\n")
        with open(path, "wb") as f:
            f.write(whole)
        job = self.run_scene("much_data")
        self.assert_right(job)
        self.assert_begins(job, 20)
        self.assertIn("by exit", job.complaints())
        self.assertEqual(logged(), "before\nafter\n")

    def test_other_number_of_ranks(self):
        self.two_lines()
        self.refused("3 processes.* this job has 2", ranks=2)
        self.refused("3 processes.* this job has 4", ranks=4)

    def test_other_data(self):
        self.two_lines()
        self.refused(r"\ba\b", "two_lines", "9", "type")
        self.refused(r"\ba\b", "two_lines", "9", "count", ELC_STRICT="1")
        self.refused(r"\b(a|another)\b", "two_lines", "9", "name")
        job = self.run_scene("label_0", "0")  # which is entered again, and knows it at its first labelled call
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("at a labelled call, but the line was taken", job.complaints())
        job = self.run_scene("two_lines")
        self.assert_right(job)
        self.assert_begins(job, 20)

    def test_which_line(self):
        self.two_lines()
        self.refused("9", ELC_RESTART="9")
        job = self.run_scene("two_lines", "0", ELC_RESTART="1")
        self.assert_right(job)
        self.assert_begins(job, 10)
        # That run has ended by itself: there is nothing to restart, but for who asks by number.
        job = self.run_scene("two_lines", ELC_RESTART="auto")
        self.assert_begins(job, 0)
        self.assert_right(job)

    def test_no_restart(self):
        self.two_lines()
        job = self.run_scene("two_lines", ELC_RESTART="no")
        self.assert_begins(job, 0)
        self.assert_right(job)

    def test_wrong_variable(self):
        for name, value in (("ELC_EVERY", "often"), ("ELC_DRAIN", "perhaps"), ("ELC_RESTART", "-1"), ("ELC_KEEP", "0")):
            job = self.run_scene("two_lines", **{name: value})
            self.assertNotEqual(job.popen.returncode, 0)
            self.assertEqual(job.complaints().count("%s=%s" % (name, value)), 1, job.complaints())
            self.assertNotIn("begins with", job.complaints())

    def test_passive(self):
        """Without ELC_DIR the library does nothing."""
        open(os.path.join(self.home, "stop"), "w").close()
        job = self.run_scene("run_on", ELC_DIR="")
        self.assert_right(job)
        self.assertFalse(os.path.exists(self.lines))

    # ---- Requests from outside ----

    def test_signal_and_control_file(self):
        job = self.start("run_on", ELC_SIGNAL="USR1")
        self.await_(job, lambda: "begins with" in job.complaints(), "the beginning")
        r = random.Random(SEED)
        os.kill(r.choice(job.ranks()), signal.SIGUSR1)
        self.await_(job, lambda: self.committed() == [1], "the line asked for by a signal")
        with open(os.path.join(self.lines, "control"), "w") as f:
            f.write("line\n")
        self.await_(job, lambda: self.committed()[-1:] == [2], "the line asked for by the control file")
        with open(os.path.join(self.lines, "control"), "w") as f:
            f.write("stop\n")
        self.end(job)
        self.assertEqual(job.popen.returncode, STOPPED, job.complaints())
        job = self.start("run_on")
        self.await_(job, lambda: "begins with" in job.complaints(), "the restart")
        self.assertIn("restarting from line 3 ", job.complaints())
        self.stop(job)

    def test_order_while_a_line_is_open(self):
        job = self.run_scene("order_in_line")
        self.assertEqual(job.popen.returncode, 0, job.complaints())
        self.assertEqual(self.committed()[-1:], [2], job.complaints())

    def test_two_jobs(self):
        """A second job in the same directory is refused while the first one runs."""
        job = self.start("run_on")
        self.await_(job, lambda: "begins with" in job.complaints(), "the beginning")
        other = self.run_scene("run_on")
        self.assertEqual(other.popen.returncode, REFUSED, other.complaints())
        self.assertIn(self.lines, other.complaints())
        self.stop(job)


class Compared(Jobs):
    """Scenes whose result is that of the program without the library."""

    def scene(self, name, refusal=None, arguments=(), **keywords):
        plain = self.run_scene(name, *arguments, ELC_DIR="", **keywords)
        self.assertNotIn("elc:", plain.complaints())
        if name == "spawn" and plain.popen.returncode != 0:  # without a word, where the launcher ends the job first
            self.skipTest("this MPI cannot spawn here: " + plain.complaints()[:200])
        self.assertEqual(plain.popen.returncode, 0, plain.complaints())
        job = self.run_scene(name, *arguments, "1", **keywords)
        if refusal is not None:
            self.assertIn(refusal, job.complaints())
        self.assertTrue(self.committed(), job.complaints())
        job = self.run_scene(name, *arguments, "1", build=RESTART, **keywords)
        self.assertIn("restarting from line", job.complaints())
        self.assertEqual(job.popen.returncode, 0, job.complaints())
        self.assertEqual(job.result(), plain.result(), job.complaints())


class Objects(Compared):
    """Communicators, processes and threads that come and go (tests/programs/objects.c)."""
    program = "objects"

    def test_set_up(self):
        """A set-up that makes other communicators than in the run of the line: nothing of the line means them."""
        self.scene("set_up")
        line = str(self.committed()[-1])
        job = self.run_scene("set_up", "1", ELC_RESTART=line, APART="1")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("makes a communicator of", job.complaints())
        self.assertIn("nothing was changed", job.complaints())

    def test_disconnect(self): self.scene("disconnect")
    def test_attribute(self): self.scene("attribute")
    def test_inherited(self): self.scene("inherit")

    def test_attributes(self):
        self.scene("attributes", "there is an attribute made by MPI_Comm_dup after the program's set-up, and its value")
        job = self.run_scene("attributes", "1", ELC_RESTART=str(self.committed()[-1]), ANOTHER_KEY="1")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("which makes 3 keys, and made 2 in the run of the line", job.complaints())

    def test_spawn(self): self.scene("spawn", "MPI_Comm_spawn")

    def test_handles_registered_as_numbers(self):
        self.needs_one_mpi()
        self.needs_one_machine()
        self.scene("hide", "saving 'hidden' of the globals: it holds a handle of MPI and is not registered as such: use ELC_COMM")
        for variable in ("hiding", "hidden_bytes"):
            job = self.run_scene("hide", "6", ELC_RESTART="no", HIDE=variable)
            self.assertRegex(job.complaints(), r"saving '%s' of the globals: (\.type: )?it holds a handle of MPI and is not registered "
                             "as such: use ELC_DATATYPE" % variable)
        job = self.run_scene("hide", "6", ELC_RESTART="no", HIDE="hidden_file")
        self.assertIn("saving 'hidden_file' of the globals: it holds a handle of MPI and is not registered as such: use ELC_MPIFILE",
                      job.complaints())
        job = self.run_scene("hide", "6", ELC_RESTART="no", HIDE="hidden_op")
        refusal = "saving 'hidden_op' of the globals: it holds a handle of MPI and is not registered as such: use ELC_OP"
        self.assertEqual(refusal in job.complaints(), BUILD.mpi != "mpich")  # where it is a number, the same in all runs

    def test_error_handlers_that_move(self):
        if BUILD.mpi == "lam":
            self.skipTest("it forgets one that no communicator has")
        self.scene("handlers")

    def test_empty_value(self):
        if BUILD.mpi != "mpich" or RESTART.mpi != "mpich":
            self.skipTest("of MPICH")
        self.scene("empty_value")

    def test_handles(self):
        self.scene("locals", "there is an operation made by MPI_Op_create")
        line = str(self.committed()[-1])
        job = self.run_scene("locals", "1", ELC_RESTART=line, ANOTHER_OPERATION="1")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("a variable holds an operation of the set-up, which calls MPI_Op_create 3 times, and did so 2 times", job.complaints())

    def test_serialized(self): self.scene("serialized", ELC_EVERY="0.005")
    def test_multiple(self): self.scene("multiple", ELC_EVERY="0.005")


class Pending(Compared):
    """Collective operations that do not block, under way while a line is taken (tests/programs/pending.c)."""
    program = "pending"

    def scene_of(self, name, some=(0b001, 0b110)):
        """Begun before the line by all ranks, or by one or two of them."""
        self.needs_mpi_3()
        for early in drawn(name, 0b111, *some):
            with self.subTest(early=bin(early)):
                self.scene(name, arguments=(str(early),))
                shutil.rmtree(self.lines)

    def test_barrier(self): self.scene_of("barrier")
    def test_sum(self): self.scene_of("sum")
    def test_two(self): self.scene_of("two")
    def test_in_place(self): self.scene_of("in_place")
    def test_freed(self):
        self.needs_one_mpi()
        self.scene_of("freed")

    def test_different(self): self.scene_of("different")
    def test_exchange(self): self.scene_of("exchange")

    def test_group(self): self.scene_of("group", some=(0b010, 0b101))
    def test_group_of_a_ring(self): self.scene_of("group_of_ring", some=(0b010, 0b101))
    def test_group_of_what_is_freed(self): self.scene_of("group_freed", some=(0b010, 0b101))
    def test_groups_of_one(self): self.scene_of("group_alone")

    def test_duplicate(self): self.scene_of("idup", some=(0b010, 0b101))

    def test_pending_duplicate(self):
        self.refused_while_pending("idup_pending", "there is a request made by MPI_Comm_idup")

    def test_duplicate_with_attributes(self):
        self.refused_while_pending("idup_attribute", "MPI_Comm_idup")

    def refused_while_pending(self, name, complaint):
        self.needs_mpi_3()
        job = self.run_scene(name, "6")
        self.assertEqual(job.popen.returncode, 0, job.complaints())
        self.assertIn(complaint, job.complaints())
        self.assertTrue(self.committed(), job.complaints())

    def test_wild(self):
        self.refused_while_pending("wild", "a non-blocking collective operation is pending with a buffer that is not registered")

    def test_persistent(self): self.scene_of("persistent")
    def test_persistent_twice(self): self.scene_of("persistent_twice")
    def test_persistent_recycled(self): self.scene_of("persistent_recycled")
    def test_persistent_idle(self): self.scene_of("persistent_idle")
    def test_persistent_made(self): self.scene_of("persistent_made")
    def test_persistent_made_and_idle(self): self.scene_of("persistent_made_idle", some=(0,))
    def test_persistent_gone(self): self.scene_of("persistent_gone")
    def test_persistent_of_set_up_gone(self): self.scene_of("persistent_gone_of_set_up")

    def test_persistent_rooted(self):
        if "mpich" in (BUILD.mpi, RESTART.mpi):
            self.skipTest("whose 4.0 does not do it twice by itself")
        self.scene_of("persistent_rooted")
        self.scene_of("persistent_rooted_made")

    def test_persistent_without_communicator(self):
        if "openmpi" in (BUILD.mpi, RESTART.mpi):
            self.skipTest("whose 4.1 crashes in it by itself")
        self.scene_of("persistent_without")

    def test_persistent_refused(self):
        self.refused_while_pending("persistent_wild", "there is a persistent collective operation with a buffer that is not registered")
        self.refused_while_pending("persistent_operation",
                                   "there is a persistent collective operation with an operation that the program's set-up has not made")
        if BUILD.mpi != "openmpi":
            self.refused_while_pending("persistent_without_later", "there is a persistent request whose communicator was freed")
        self.refused_while_pending("persistent_crossing", "_Barrier_init")


class SharedFiles(Compared):
    """Files of MPI that are open while a line is taken (tests/programs/shared_files.c)."""
    program = "shared_files"

    def scene_of(self, name, some=True):
        """All ranks act before the line, or one or two of them."""
        for early in drawn(name, 0b111, 0b001, 0b110) if some else [0b111]:
            with self.subTest(early=bin(early)):
                self.scene(name, arguments=(str(early),))
                shutil.rmtree(self.lines)

    def numbers(self, name, **keywords):
        """The file has numbers, as the machine has them: a restart on another one is refused."""
        self.needs_one_machine()
        self.scene_of(name, **keywords)

    def test_bytes(self): self.scene_of("bytes")
    def test_together(self): self.numbers("together")
    def test_views(self): self.numbers("views")
    def test_reading(self): self.numbers("reading")
    def test_set_up(self): self.numbers("set_up")
    def test_halves(self): self.numbers("halves", some=False)

    def test_background(self):
        self.needs_mpi_3()  # its requests are MPI's own
        self.needs_one_machine()
        self.scene_of("background", some=False)

    def test_alone(self):
        self.numbers("alone")
        self.refused_while_open("alone", "the file 'same-0' is open in another rank, too, and written", DATA="same")

    def test_stream(self):
        for early in (0b111, 0b001, 0b110, 0):  # rank 0 has written when the line is taken, or nobody has
            with self.subTest(early=bin(early)):
                self.scene("stream", arguments=(str(early),))
                shutil.rmtree(self.lines)
        self.refused_while_open("stream_of_all", "the file 'data' is open in another rank, too, and written")
        shutil.rmtree(self.lines)
        self.refused_while_open("stream_closed", "the file 'data' is open for writing, and what is in it was written through another stream")

    def refused_while_open(self, name, complaint, **variables):
        """No line while it is open, and one when it is closed."""
        job = self.run_scene(name, "7", **variables)
        self.assertEqual((job.popen.returncode, job.result()), (0, "ok"), job.complaints())
        self.assertRegex(job.complaints(), complaint)
        self.assertTrue(self.committed(), job.complaints())

    def test_both(self): self.refused_while_open("both", "MPI_File_open for reading and writing")
    def test_shared(self): self.refused_while_open("shared", "MPI_File_write_shared")

    def test_several(self):
        self.needs_mpi_3()
        self.refused_while_open("several", "MPI_File_iwrite_at_all")

    def test_outside(self):
        with tempfile.TemporaryDirectory(prefix="elc-outside-") as outside:
            self.refused_while_open("together", "the file '.*' lies in", DATA=os.path.join(outside, "data"))

    def test_lost(self):
        """A restart without the file, or with a shorter one, changes nothing."""
        data = os.path.join(self.home, "data")
        self.run_scene("together", "7", "1")
        line = str(self.committed()[-1])
        with open(data, "rb") as file:
            content = file.read()
        for left, complaint in ((content[:30], "its content is lost"), (None, "is not there")):
            os.unlink(data)
            if left is not None:
                with open(data, "wb") as file:
                    file.write(left)
            job = self.run_scene("together", "7", ELC_RESTART=line)
            self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
            self.assertIn(complaint, job.complaints())
        with open(data, "wb") as file:
            file.write(content)
        self.assert_right(self.run_scene("together", "7", ELC_RESTART=line))

    def test_other_set_up(self):
        self.run_scene("set_up", "7", "1")
        job = self.run_scene("set_up", "7", DATA="other")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("the set-up does not open the file 'data'", job.complaints())


class Windows(Compared):
    """Windows under fences, and others (tests/programs/windows.c)."""
    program = "windows"

    def setUp(self):
        super().setUp()
        self.needs_mpi_3()

    def killed(self, name, places=(0, 1), **variables):
        """Killed in an epoch, and outside of one."""
        for where in drawn(name, *places):
            with self.subTest(where=where):
                self.scene(name, WHERE=str(where), **variables)
                shutil.rmtree(self.lines)

    def test_sums(self): self.killed("sums", (0, 1, 2))
    def test_operations_behind_the_checkpoint(self): self.killed("late")
    def test_datatypes_that_are_gone(self):
        self.fails_by_itself("mpich", "s390x")
        self.killed("late_types", (1,))

    def test_exchange(self): self.killed("exchange", (1, 2))
    def test_two_windows(self): self.killed("two")
    def test_allocated(self):
        self.needs_one_mpi()
        self.killed("allocated")

    def test_unused(self): self.killed("unused", (0,))
    def test_made_later(self):
        for name in drawn("later", "sums", "two", "late", "unused"):
            self.killed(name, LATER="1")

    def test_uneven(self): self.killed("uneven", (random.Random(SEED).choice((0, 1, 2)),), ELC_EVERY="0.02")

    # Re-entry: the sites are fences.
    def test_site_behind_a_fence(self): self.killed("each_epoch", ELC_EVERY="0.02")
    def test_site_before_a_fence(self): self.killed("second_epoch", ELC_EVERY="0.02")
    def test_site_beside_a_fence(self): self.killed("beside_fences", (0,), ELC_EVERY="0.02")

    # Refused until the window is gone.
    def test_locked(self): self.scene("lock", "there is a window made by MPI_Win_create and used by MPI_Win_lock")
    def test_posted(self): self.scene("post", "there is a window made by MPI_Win_create and used by MPI_Win_post")
    def test_locked_by_one(self):
        self.scene("lock_once", "there is a window made by MPI_Win_create and used otherwise than by fences in another rank")
    def test_long_epoch(self): self.scene("fence_once", "there is a window that has been between two fences at 1000 sites")
    def test_memory_that_is_not_registered(self):
        self.scene("elsewhere", "there is a window whose memory is not registered as one variable")
    def test_memory_of_the_heap(self): self.scene("on_heap", "there is a window whose memory is not registered as one variable")
    def test_allocated_later(self): self.scene("allocated_later", "there is a window made by MPI_Win_allocate (called at")

    def test_other_set_up(self):
        self.scene("sums", LATER="1")
        job = self.run_scene("sums", "1", ELC_RESTART=str(self.committed()[-1]))
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("the set-up makes a window, as operation 1 on a communicator, that was made behind it", job.complaints())
        shutil.rmtree(self.lines)
        self.scene("late")
        line = str(self.committed()[-1])
        for other, complaint in (("0", "the set-up does not make the window that it made in the run of the line, as operation 1"),
                                 ("1", "over other memory than in the run of the line"), ("2", "the set-up makes a window of 8 bytes")):
            with self.subTest(other=other):
                job = self.run_scene("late", "1", ELC_RESTART=line, OTHER=other)
                self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
                self.assertIn(complaint, job.complaints())


class Intercommunicators(Compared):
    """Two groups and what joins them (tests/programs/intercommunicators.c)."""
    program = "intercommunicators"

    def scene_of(self, name, *some, refusal=None):
        """All ranks act before the line, or one group, a single rank, or all but one."""
        for early in drawn(name, *(some or (0b11111, 0b10101, 0b01010, 0b00100, 0b11101))):
            with self.subTest(early=bin(early)):
                self.scene(name, refusal, arguments=(str(early),), ranks=5)
                shutil.rmtree(self.lines)

    def test_messages_in_transit(self): self.scene_of("sent")
    def test_exchange(self): self.scene_of("exchanged")
    def test_exchange_when_made_later(self): self.scene_of("exchanged_later")
    def test_group_of_one(self): self.scene_of("alone")
    def test_pending(self): self.scene_of("pending", 0b11111)
    def test_pending_when_made_later(self): self.scene_of("pending_later", 0b11111)
    def test_operations(self): self.scene_of("operations")
    def test_operations_when_made_later(self): self.scene_of("operations_later")

    def test_operations_of_a_group_of_one(self):
        if BUILD.mpi == "lam":
            self.skipTest("LAM's hang by themselves")
        self.scene_of("operations_alone")

    def test_operations_begun(self):
        self.needs_mpi_3()
        self.scene_of("begun")

    def test_made_of_one(self): self.made("made")
    def test_made_of_one_before(self): self.made("made_before", 0b11111)
    def made(self, name, *some):
        self.fails_by_itself("mpich", "s390x")
        self.scene_of(name, *some)

    def test_freed(self): self.scene_of("freed")
    def test_all_freed(self): self.scene_of("gone")
    def test_joined_across(self): self.scene_of("joined", 0b10101, 0b00100, 0b11101,
                                                      refusal="MPI_Intercomm_create crosses the line, and cannot be repeated; the next")

    def test_other_set_up(self):
        """One that joins others than in the run of the line."""
        self.scene("sent", arguments=("31",), ranks=5)
        line = str(self.committed()[-1])
        job = self.run_scene("sent", "31", "1", ranks=5, ELC_RESTART=line, ALONE="1")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("the set-up makes a communicator", job.complaints())
        self.assertIn("nothing was changed", job.complaints())


class Lifetimes(Compared):
    """What changes after the set-up, and what outlives what it came from (tests/programs/lifetimes.c)."""
    program = "lifetimes"

    def test_undone_attribute(self): self.scene("undo_attribute")

    def test_undone_buffer(self):
        self.scene("undo_buffer", "a buffer of the program's set-up was changed by MPI_Buffer_detach")

    def test_two_handles(self): self.scene("groups")
    def test_handle_that_comes_back(self): self.scene("handlers", "an error handler made by MPI_Comm_set_errhandler")
    def test_freed_receives(self): self.scene("free_receives", "a request made by MPI_Request_free")
    def test_receive_that_outlives_its_communicator(self):
        job = self.start("outlive", ELC_LATE="0.1", ELC_EVERY="0.05")
        self.await_(job, lambda: "has a receive pending on a communicator that was freed" in job.complaints(), "the message")
        open(os.path.join(self.home, "stop"), "w").close()
        self.end(job)
        self.assertEqual(job.popen.returncode, 0, job.complaints())
        self.assertTrue(self.committed(), job.complaints())

    def test_freed_type(self): self.scene("freed_type")
    def test_owners(self): self.scene("owners", "an attribute made by MPI_Type_set_attr")
    def test_failed_free(self): self.scene("fail_to_free", None if BUILD.mpi == "lam" else "an MPI_Comm_free that has failed")
    def test_free_across(self): self.scene("free_across")
    def test_at_the_end(self): self.scene("at_the_end")
    def test_statuses(self): self.scene("statuses")
    def test_nobody(self): self.scene("nobody")

    def test_matched_late(self):
        self.needs_mpi_3()
        self.scene("match_late")

    def of_another_set_up(self, name, complaint, refusal=None):
        self.scene(name, refusal)
        line = str(self.committed()[-1])
        job = self.run_scene(name, "1", ELC_RESTART=line, OTHER="1")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn(complaint, job.complaints())

    def test_grids(self): self.of_another_set_up("grids", "the set-up gives a communicator another topology")
    def test_chain(self):
        self.needs_mpi_3()
        self.scene("chain")

    def test_graph(self):
        self.needs_mpi_3()
        self.scene("graph")

    def under_way(self, name):
        complaint = "leaves a message under way, or a collective operation that other ranks call behind it"
        self.of_another_set_up(name, complaint)
        shutil.rmtree(self.lines)
        job = self.run_scene(name, OTHER="1")
        self.assertEqual((job.popen.returncode, self.committed()), (0, []), job.complaints())
        self.assertIn("is abandoned, the program runs on: the program's set-up, which a restart runs again, " + complaint,
                      job.complaints())

    def test_message_of_the_set_up(self): self.under_way("leave_message")
    def test_operation_of_the_set_up(self): self.under_way("leave_operation")

    def test_set_up_calls(self): self.of_another_set_up("set_up_calls", "the set-up makes a communicator, as operation 1")

    def test_set_up_requests(self):
        self.of_another_set_up("set_up_requests", "does not make the persistent request that was its 1-th")

    def test_started_in_the_set_up(self): self.scene("set_up_started")
    def test_requests_made_later(self): self.scene("made_later")
    def test_requests_started_later(self): self.scene("started_later")
    def test_receive_into_what_is_partly_registered(self):
        self.scene("receive_partly", "a receive is pending with a buffer that is not registered as one variable")

    def test_line_behind_a_refused_one_by_a_thread(self):
        if BUILD.runner or BUILD.inside:
            self.skipTest("there are no copies under emulation")
        self.scene("receive_partly", "a receive is pending with a buffer", ELC_BACKGROUND="copy", ELC_KEEP="9")
        for job in self.jobs:
            self.assertNotIn("a defect of libELC", job.complaints())

    def test_request_without_a_registered_buffer(self):
        self.scene("made_wild", "there is a persistent request with a buffer that is not registered")

    def test_started_for_nobody(self): self.scene("started_for_nobody")

    def refused_for_ever(self, name, complaint):
        """It works as without the library, and no line is taken from there on."""
        plain = self.run_scene(name, ELC_DIR="")
        job = self.run_scene(name)
        self.assertEqual((job.popen.returncode, job.result()), (0, plain.result()), job.complaints())
        self.assertIn(complaint + ": no line can be taken from now on", job.complaints())

    def test_started_late(self):
        self.refused_for_ever("start_late", "a persistent request was started after its communicator had been freed")

    def test_started_late_and_made_again(self):
        job = self.run_scene("start_made_again", "0")
        self.assertTrue(self.committed(), job.complaints())
        job = self.run_scene("start_made_again", "0")
        self.assertEqual(job.popen.returncode, REFUSED, job.complaints())
        self.assertIn("a persistent request that the restart has made again was started after its communicator had been freed",
                      job.complaints())

    def test_reduced_locally(self):
        self.needs_mpi_3()
        self.refused_for_ever("reduce_locally", "ELC_Checkpoint_now was called in a function that MPI calls")


def run_side_by_side(build):
    """Those of the tests that fall to this MPI, drawn anew each time (two thirds of them to none; all with ELC_TEST_ALL), two at a time: much of a
    job is the launcher's waiting. True: all is well."""
    mpi = launch.Build(build).mpi
    every = part_of(sys.modules["__main__"], [*launch.MPIS, *[None] * 2 * len(launch.MPIS)], mpi)
    environment = dict(os.environ, ELC_TEST_SEED=str(SEED))
    # Jobs of one LAM disturb each other.
    apart = [os.path.join(HERE, "..", "with_lam")] if mpi == "lam" else []
    parts = [subprocess.Popen([*other, sys.executable, __file__, build, *every[k::2]], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) for k, other in enumerate(([], apart))]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        for text in pool.map(lambda part: part.communicate()[0], parts):
            sys.stdout.buffer.write(text)
    sys.stdout.flush()
    return all(part.returncode == 0 for part in parts)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        sys.exit(0 if run_side_by_side(sys.argv[1]) else 1)
    BUILD = launch.Build(sys.argv.pop(1))
    RESTART = launch.Build(os.environ.get("ELC_TEST_RESTART", BUILD.path))
    print("behaviour under %s, seed %d (ELC_TEST_SEED)" % (BUILD.mpi, SEED), flush=True)
    unittest.main(verbosity=2)
