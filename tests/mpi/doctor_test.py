#!/usr/bin/env python3
"""doctor_test.py BUILD: elc doctor finds what a program has forgotten (tests/programs/forgetful.c), and nothing where nothing is.

All of it under one MPI, where jobs start fast; what depends on an MPI, under each."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402

PATIENCE = 600  # seconds; only a hang takes so long


class DoctorTest(unittest.TestCase):
    def setUp(self):
        self.scratch = launch.Scratch()
        self.place = tempfile.mkdtemp(prefix="elc-doctor-")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
        self.environment.update(launch.environment(BUILD.mpi, self.scratch.part()))

    def tearDown(self):
        self.scratch.remove()
        shutil.rmtree(self.place, ignore_errors=True)

    def doctor(self, code, *words, options=("--lines", "1"), program="forgetful", ranks="2"):
        done = subprocess.run([BUILD.program("elc"), "doctor", "-n", ranks, "--mpi", BUILD.mpi, *options, "--", BUILD.program(program),
                               *words], cwd=self.place, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE)
        self.assertIn(done.returncode, code if isinstance(code, tuple) else (code,), done.stdout + done.stderr)
        self.text = done.stdout
        return done.stdout

    def assert_proven(self, what):
        self.assertRegex(self.text, "proven: not registered, and changed since the start: " + what)
        self.assertEqual(self.text.count("proven:"), self.text.count("after a restart"), self.text)

    def assert_what_lies_in_memory(self, what):
        """Where the debug information is not read it is found, but not named; nothing else is accused."""
        if "look at local variables" in self.text:
            self.assertNotIn("proven", self.text)
            self.assertNotIn("suspected", self.text)
            self.assertFalse(READS_DEBUG_INFORMATION, self.text)
        else:
            self.assert_proven(what)


class UnderEach(DoctorTest):
    def test_nothing(self):
        self.doctor(0, "nothing", options=("--lines", "2"))
        self.assertIn("nothing differs: 2 restarts went as the run without a failure did", self.text)

    def test_lines_that_rely_on_others(self):
        self.environment["ELC_INCREMENTAL"] = "4"
        self.doctor(0, "nothing", options=("--lines", "3"))

    def test_pending_receive(self):
        """What a part of its message has written is nobody's value yet."""
        self.doctor(0, "pending", options=("--at", "7", "--at", "15"))

    def test_static_variable_of_a_function(self):
        self.doctor(1, "static", options=("--at", "7", "--at", "15"))
        self.assertIn("twice with lines at site 7 and site 15\n", self.text)
        self.assertRegex(self.text, r"sum on rank 0 and 1 other differs from site 15 on \(\S+ instead of \S+\), in floating-point values "
                                    r"alone")
        self.assertRegex(self.text, r"rank 1 prints: rank 1: \S+\n +instead of: +rank 1: ")
        self.assert_proven(r"calls \((4 bytes, in forgetful|in count_calls\(\), int, forgetful.c:\d+)\): 0 instead of 6 on rank 0")

    def test_state_of_rand(self):
        self.doctor(1, "rand")
        self.assert_proven(r"the state of rand\(\)")


class Forgotten(DoctorTest):
    def test_global_variable(self):
        self.doctor(1, "global")
        self.assert_proven(r"weight \(.*\): 1.5 instead of 1\.8")

    def test_state_of_drand48(self):
        self.doctor(1, "drand48")
        self.assert_proven(r"the state of drand48\(\)")

    def test_flag_that_is_soon_as_it_was(self):
        self.doctor(1, "flag")
        self.assert_proven(r"first_time \(.*\): 1 instead of 0")

    def test_local_variable(self):
        self.doctor(1, "local")
        self.assert_what_lies_in_memory(r"local \(in main\(\), int, forgetful.c:\d+\): 0 instead of \d+")

    def test_memory_of_malloc(self):
        self.doctor(1, "heap")
        self.assert_what_lies_in_memory(r"history\[\] \(in main\(\), double \*, forgetful.c:\d+\)")

    def test_members_in_memory_of_malloc(self):
        self.doctor(1, "member")
        self.assert_what_lies_in_memory(r"particles->hits \(int, forgetful.c:\d+\): 0 instead of \d+")
        self.doctor(1, "list")
        self.assert_what_lies_in_memory(r"particles->next->hits \(int, forgetful.c:\d+\): 0 instead of \d+")

    def test_field_that_is_not_declared(self):
        self.doctor(1, "field")
        self.assert_proven(r"tally \(.*\)")

    def test_file(self):
        self.doctor(1, "file")
        self.assertRegex(self.text, r"log has something else from byte 0 on \(line 1\), \d+ bytes instead of \d+")
        self.assertNotIn("sum on rank", self.text)
        self.assertFalse(os.path.exists(os.path.join(self.place, "log")))

    def test_file_that_is_called_by_the_time(self):
        self.doctor(0, "dated", options=("--lines", "2"))
        self.assertRegex(self.text, r"what is written to log\.\d+\.\d+, log\.\d+\.\d+ differs without a failure")

    def test_file_with_times_that_is_called_otherwise(self):
        self.doctor(0, "stamped")
        self.assertIn("what is written to stamp.40 differs without a failure", self.text)

    def test_what_differs_without_a_failure(self):
        self.doctor(3, "clock", options=("--lines", "2"))
        self.assertRegex(self.text, "two runs without a failure differ: .*sum")
        self.assertIn("nothing differs in what could be judged", self.text)
        self.doctor(0, "clock", options=("--without", "sum", "--without", "field"))
        self.doctor(0, "clock", options=("--tolerance", "0.9"))

    def test_what_nobody_has_set(self):
        """It is the same in two runs, because addresses are, and another one after a restart."""
        with open("/proc/sys/kernel/randomize_va_space") as f:
            if f.read().strip() == "0":
                self.skipTest("this system gives each process the same addresses")
        self.doctor(3, "garbage", options=("--lines", "2"))
        self.assertIn("another run without a failure differs in garbage, too, and that is not judged", self.text)

    def test_table_with_times(self):
        """What is taken for a time is told, and the other columns are judged."""
        self.doctor(3, "nothing", "table")
        self.assertRegex(self.text, r"rank 0 prints after a restart, and it is taken for a time and not judged: 21 \S+ \S+ 3\n"
                                    r" +instead of: +21 \S+ \S+ 22\n")
        self.assertIn("nothing differs in what could be judged", self.text)
        self.doctor(1, "global", "table")
        self.assertRegex(self.text, r"rank 0 prints: 19 \S+ \S+ \d{4,}\n +instead of: +19 ")

    def test_unit_of_time(self):
        """"12 steps/us": as in the table, where no column tells."""
        self.doctor(3, "nothing", "rate")
        self.assertRegex(self.text, r"taken for a time and not judged: rate: 21 steps/us\n +instead of: +rate: 40 steps/us")

    def test_lines_stay(self):
        """Each restart has a directory of its own."""
        self.doctor(1, "global", options=("--lines", "2"))
        place = os.path.join(self.place, "elc-doctor")
        self.assertEqual(launch.committed(os.path.join(place, "run-1", "lines")), [1, 2])
        self.assertEqual(launch.committed(os.path.join(place, "from-1", "lines")), [1, 2])
        self.doctor(0, "nothing")  # of an older examination nothing is left
        self.assertFalse(os.path.exists(os.path.join(place, "from-2")))

    def test_trouble(self):
        os.mkdir(os.path.join(self.place, "mine"))
        open(os.path.join(self.place, "mine", "file"), "w").close()
        self.doctor(2, "nothing", options=("--dir", "mine"))
        self.assertTrue(os.path.exists(os.path.join(self.place, "mine", "file")))
        self.doctor(2, "nothing", options=("--at", "1000"))
        self.doctor(2, "fail")


class Untouched(DoctorTest):
    """No false alarm in programs that forget nothing; two of them deal out work as it comes."""

    def test_benchmarks(self):
        for program, words in (("laplace", "--size 24 --iterations 60"), ("gauss_jordan", "--size 30"), ("neurosys", "--size 8 --iterations 60"),
                               ("hard_disks", "--size 4 --iterations 60"), ("matmul", "--size 24")):
            with self.subTest(program):
                self.doctor((0, 3), *words.split(), program=program, ranks="4" if program == "laplace" else "2")


if __name__ == "__main__":
    BUILD = launch.Build(sys.argv.pop(1))
    # What elc was built with; and of this processor the library tells the registers.
    READS_DEBUG_INFORMATION = "libdw" in subprocess.run(["ldd", BUILD.program("elc")], capture_output=True, text=True).stdout \
        and os.uname().machine == "x86_64"
    if BUILD.mpi != "mpich":
        del Forgotten, Untouched
    unittest.main(verbosity=2)
