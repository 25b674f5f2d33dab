#!/usr/bin/env python3
"""fortran_test.py BUILD [OTHER_BUILD...]: programs in Fortran, by mpif.h, by the module mpi and by mpi_f08, as far as the
MPI of the build has them: their calls are followed, and come out as without the library; a job that is killed goes on from
its line, also under the MPI of another build; an object that is not followed refuses lines, and its call is named."""

import os
import random
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import fortran  # noqa: E402
import launch  # noqa: E402

BUILD = None
OTHERS = []
PATIENCE = 240  # seconds; only a hang takes so long
PROGRAMS = os.path.join(HERE, "..", "programs")
WAYS = {  # what the source says
    "mpif.h": {"USE": "", "INCLUDE": "include 'mpif.h'", "COMM": "integer"},
    "mpi": {"USE": "use mpi", "INCLUDE": "", "COMM": "integer"},
    "mpi_f08": {"USE": "use mpi_f08", "INCLUDE": "", "COMM": "type(MPI_Comm)"},
}
# -std=legacy: without a module the same routine gets arguments of several types.
FLAGS = {"mpif.h": ["-std=legacy"], "mpi": ["-DMODULE"], "mpi_f08": ["-DF08"]}
DRAWN = random.choice(sorted(WAYS))
RANKS, STEPS = 3, 8


class Fortran(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="elc-fortran-")
        self.scratch = launch.Scratch()

    def tearDown(self):
        self.scratch.remove()
        shutil.rmtree(self.home, ignore_errors=True)

    def compile(self, build, source, program, flags=()):
        path = os.path.join(self.home, program)
        if build.mpi == "mpich":  # whose 4.0 puts elsewhere, without the library, too
            flags = [*flags, "-DWITHOUT_WINDOWS"]
        try:
            self.assertIsNone(fortran.compile_program(build, [source], path, *flags))
        except fortran.Absent as why:
            self.skipTest(str(why))
        return path

    def start(self, build, ranks, program, *arguments, **variables):
        variables["FILES"] = self.home
        if build.mpi == "openmpi":
            # Where processors are busy, its MPI_Dist_graph_create has hung in here now and then, and not without this module.
            variables["OMPI_MCA_topo"] = "^treematch"
        return launch.Job(build, ranks, program, arguments, variables, self.scratch)

    def end(self, job):
        """Its result, and what it says on standard error."""
        ended = job.wait(PATIENCE)
        stacks = "" if ended else job.stacks()
        text, complaints, result = job.text(), job.complaints(), job.result()
        if not ended:
            job.destroy()
        else:
            job.vanish()
        job.close()
        self.assertTrue(ended, "it hangs\n" + stacks + complaints)
        self.assertIsNotNone(result, text + complaints)
        return result, complaints

    # ---- What is followed and what not ----

    def run_mode(self, program, mode):
        """Standard error, and how many lines there are."""
        lines = os.path.join(self.home, "lines-" + mode)
        result, complaints = self.end(self.start(BUILD, 2, program, mode, ELC_DIR=lines))
        self.assertEqual(result, "ok", complaints)
        return complaints, len(launch.committed(lines))

    def check(self, way):
        with open(os.path.join(PROGRAMS, "fortran.f90.in")) as file:
            text = file.read()
        for word, value in WAYS[way].items():
            text = text.replace("@%s@" % word, value)
        source = os.path.join(self.home, "prog.f90")
        with open(source, "w") as file:
            file.write(text)
        program = self.compile(BUILD, source, "prog")
        for mode, expected in (("still", 1), ("follow", 1), ("object", 0)):
            complaints, lines = self.run_mode(program, mode)
            self.assertEqual(lines, expected, complaints)
        self.assertRegex(complaints, "MPI_Buffer_attach")

    def test_mpif_h(self): self.check("mpif.h")
    def test_mpi(self): self.check("mpi")
    def test_mpi_f08(self): self.check("mpi_f08")

    # ---- All calls ----

    def build_calls(self, build, way):
        return self.compile(build, os.path.join(PROGRAMS, "fortran_calls.F90"), "calls-" + build.name, FLAGS[way])

    def run_calls(self, build, program, *arguments, **variables):
        # It takes no synchronous send for received.
        result, complaints = self.end(self.start(build, RANKS, program, *arguments, ELC_EARLY_SENDS="yes", **variables))
        self.assertNotIn("was called from Fortran", complaints)
        return result, complaints

    def killed(self, program, lines):
        """A job that does not end before it has a line, and then is killed."""
        job = self.start(BUILD, RANKS, program, STEPS, 10 ** 6, ELC_DIR=lines, ELC_EARLY_SENDS="yes")
        there = job.wait(PATIENCE, lambda: launch.committed(lines)) and job.running()
        job.destroy()
        self.assertTrue(there, job.text() + job.complaints())
        job.close()

    def check_calls(self, way):
        if BUILD.mpi == "lam":
            self.skipTest("its routines for Fortran call the functions in C")
        if way != DRAWN and not os.environ.get("ELC_TEST_ALL"):
            self.skipTest("this time it was %s (all of them: ELC_TEST_ALL)" % DRAWN)
        program, lines = self.build_calls(BUILD, way), os.path.join(self.home, "lines")
        plain, _ = self.run_calls(BUILD, program, STEPS, 0)
        followed, complaints = self.run_calls(BUILD, program, STEPS, 1, ELC_DIR=lines)
        self.assertEqual(followed, plain, complaints)
        self.assertTrue(launch.committed(lines), complaints)
        for build in [BUILD] + OTHERS:
            again = self.build_calls(build, way)
            shutil.rmtree(lines)
            self.killed(program, lines)
            after, complaints = self.run_calls(build, again, STEPS, 0, ELC_DIR=lines)
            self.assertIn("restarting from line", complaints)
            self.assertEqual(after, plain, complaints)

    def test_calls_mpif_h(self): self.check_calls("mpif.h")
    def test_calls_mpi(self): self.check_calls("mpi")
    def test_calls_mpi_f08(self): self.check_calls("mpi_f08")


if __name__ == "__main__":
    BUILD = launch.Build(sys.argv.pop(1))
    while len(sys.argv) > 1 and os.path.isdir(sys.argv[1]):
        OTHERS.append(launch.Build(sys.argv.pop(1)))
    try:
        fortran.compiler(BUILD.mpi)
    except fortran.Absent as absent:
        print(absent)
        sys.exit(77)
    unittest.main(verbosity=2)
