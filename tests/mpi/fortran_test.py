#!/usr/bin/env python3
"""fortran_test.py BUILD: programs in Fortran, by mpif.h, by the module mpi and by mpi_f08, as far as the MPI of the build
has them: their calls are followed, or lines are refused and the routine is named; never is a line taken over calls that
the library has not seen."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402

BUILD = None
PATIENCE = 120  # seconds; only a hang takes so long
WAYS = {  # what the source says
    "mpif.h": {"USE": "", "INCLUDE": "include 'mpif.h'", "COMM": "integer"},
    "mpi": {"USE": "use mpi", "INCLUDE": "", "COMM": "integer"},
    "mpi_f08": {"USE": "use mpi_f08", "INCLUDE": "", "COMM": "type(MPI_Comm)"},
}


def compiler(mpi):
    for name in ("mpifort." + mpi, "mpif90." + mpi, "mpif77." + mpi):
        if shutil.which(name) is not None:
            return name
    return None


class Fortran(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="elc-fortran-")
        self.scratch = launch.Scratch()

    def tearDown(self):
        self.scratch.remove()
        shutil.rmtree(self.home, ignore_errors=True)

    def build(self, way):
        with open(os.path.join(HERE, "..", "programs", "fortran.f90.in")) as file:
            text = file.read()
        for word, value in WAYS[way].items():
            text = text.replace("@%s@" % word, value)
        source, program = os.path.join(self.home, "prog.f90"), os.path.join(self.home, "prog")
        with open(source, "w") as file:
            file.write(text)
        done = subprocess.run([compiler(BUILD.mpi), "-w", source, "-L" + os.path.join(BUILD.path, "src", "mpi"), "-lelc",
                               "-lz", "-o", program], cwd=self.home, capture_output=True, text=True)
        if done.returncode != 0 and re.search(r"Cannot open module file|Cannot read module file", done.stderr):
            self.skipTest("%s has no module %s for this compiler" % (BUILD.mpi, way))
        self.assertEqual(done.returncode, 0, done.stderr)
        return program

    def run_mode(self, program, mode):
        """Standard error, and how many lines there are."""
        lines = os.path.join(self.home, "lines-" + mode)
        job = launch.Job(BUILD, 2, program, [mode], {"ELC_DIR": lines}, self.scratch)
        ended = job.wait(PATIENCE)
        text, complaints = job.text(), job.complaints()
        if not ended:
            job.destroy()
        else:
            job.vanish()
        job.close()
        self.assertTrue(ended, "it hangs\n" + complaints)
        self.assertIn("result: ok", text, complaints)
        return complaints, len(launch.committed(lines))

    def check(self, way):
        program = self.build(way)
        complaints, lines = self.run_mode(program, "still")
        self.assertEqual(lines, 1, complaints)
        complaints, lines = self.run_mode(program, "follow")
        self.assertEqual(lines, 1, complaints)
        complaints, lines = self.run_mode(program, "object")
        self.assertEqual(lines, 0, complaints)
        self.assertIn("MPI_Intercomm_create", complaints)

    def test_mpif_h(self):
        self.check("mpif.h")

    def test_mpi(self):
        self.check("mpi")

    def test_mpi_f08(self):
        self.check("mpi_f08")


if __name__ == "__main__":
    BUILD = launch.Build(sys.argv.pop(1))
    if compiler(BUILD.mpi) is None:
        print("there is no Fortran compiler for " + BUILD.mpi)
        sys.exit(77)
    unittest.main(verbosity=2)
