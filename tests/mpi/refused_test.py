#!/usr/bin/env python3
"""refused_test.py BUILD: one call of each kind that is refused (generate_refused.py). A line that is asked for while what it
has made exists is refused, and the call is named; when that is gone, one is taken, from which a restart is right. After a
call that refuses for ever none is."""

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
PATIENCE = 300  # seconds; only a hang takes so long
LIBRARY = """
#include <mpi.h>
static void nothing(void *in, void *with, int *n, MPI_Datatype *type) { (void)in, (void)with, (void)n, (void)type; }
int made_by_a_library(void);
int made_by_a_library(void) {
  static MPI_Op operation;
  return MPI_Op_create(nothing, 1, &operation);
}
"""
PROGRAM = """
#include <elc.h>
#include <mpi.h>
#include <stdio.h>
int made_by_a_library(void);
int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  ELC_Restore();
  made_by_a_library();
  ELC_Checkpoint_now();
  printf("result: ok\\n");
  MPI_Finalize();
  return 0;
}
"""


class Refused(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="elc-refused-")
        self.lines = os.path.join(self.home, "lines")
        self.scratch = launch.Scratch()

    def tearDown(self):
        self.scratch.remove()
        shutil.rmtree(self.home, ignore_errors=True)

    def run_program(self, *arguments, program=None, **variables):
        """What it says on standard output, and on standard error."""
        job = launch.Job(BUILD, 2, program or BUILD.program("refused"), arguments, dict(variables, ELC_DIR=self.lines),
                         self.scratch)
        ended = job.wait(PATIENCE)
        text, complaints = job.text(), job.complaints()
        if ended:
            job.vanish()
        else:
            job.destroy()
        job.close()
        self.assertTrue(ended, "it hangs\n" + text + complaints)
        self.assertIn("result: ok", text, complaints)
        return text, complaints

    def test_until_gone(self):
        text, complaints = self.run_program(ELC_KEEP="1000")
        refused = re.findall(r"^refused (\w+) by (\w+)$", text, re.M)
        taken = re.findall(r"^after (\w+) line (\d+) (answer \d+)$", text, re.M)
        self.assertEqual([name for name, _ in refused], [name for name, _, _ in taken], complaints)
        self.assertGreater(len(taken), 5)
        self.assertEqual([int(line) for _, line, _ in taken], launch.committed(self.lines))
        for name, by in refused:
            with self.subTest(name):
                self.assertRegex(complaints, r"\bmade by %s\b" % by)
        # Process 1 has killed itself. A line that was taken behind calls is good for a restart; to be quick, each behind
        # three more of them.
        for name, line, answer in taken[::-3]:
            with self.subTest(name):
                text, complaints = self.run_program("stop", ELC_KEEP="1000", ELC_RESTART=line)
                self.assertIn("restarting from line %s " % line, complaints)
                self.assertIn("after %s line %s %s\n" % (name, line, answer), text)

    def test_for_ever(self):
        names = subprocess.run([BUILD.program("refused"), "names"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        for name in names:
            with self.subTest(name):
                shutil.rmtree(self.lines, ignore_errors=True)
                _, complaints = self.run_program(name)
                self.assertRegex(complaints, r"\b%s\b" % name)
                self.assertEqual(launch.committed(self.lines), [])

    def test_shared_library(self):
        """What a shared library calls is seen, wherever the program's linker finds it."""
        if not BUILD.links_alone:
            self.skipTest("the archive of this build does not link by itself")
        files = {"lib.c": LIBRARY, "prog.c": PROGRAM}
        for name, source in files.items():
            with open(os.path.join(self.home, name), "w") as file:
                file.write(source)
        mpicc, root = "mpicc." + BUILD.mpi, os.path.join(HERE, "..", "..")
        elc = ["-L" + os.path.join(BUILD.path, "src", "mpi"), "-lelc", "-lz"]
        made = ["-L.", "-lmade", "-Wl,-rpath," + self.home]
        subprocess.run([mpicc, "-fPIC", "-shared", "lib.c", "-o", "libmade.so"], check=True, cwd=self.home)
        for words in (elc + made, made + elc):
            subprocess.run([mpicc, "-I" + os.path.join(root, "include"), "prog.c", *words, "-o", "prog"], check=True, cwd=self.home)
            shutil.rmtree(self.lines, ignore_errors=True)
            _, complaints = self.run_program(program=os.path.join(self.home, "prog"))
            self.assertRegex(complaints, r"\bMPI_Op_create\b")
            self.assertEqual(launch.committed(self.lines), [])


if __name__ == "__main__":
    BUILD = launch.Build(sys.argv.pop(1))
    unittest.main(verbosity=2)
