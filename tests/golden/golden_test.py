#!/usr/bin/env python3
"""golden_test.py BUILD: every golden line (make) is restarted under the build, and ends with the right answer."""

import os
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import launch  # noqa: E402

RANKS = 2
ARGUMENTS = ["--seed", "1", "--rounds", "1000"]
PATIENCE = 300  # seconds; only a hang takes so long


class Golden(unittest.TestCase):
    def setUp(self):
        self.scratch = launch.Scratch()
        self.home = tempfile.mkdtemp(prefix="elc-golden-")

    def tearDown(self):
        shutil.rmtree(self.home, ignore_errors=True)
        self.scratch.remove()

    def run_types(self, program, variables):
        job = launch.Job(BUILD, RANKS, BUILD.program(program), ARGUMENTS, variables, self.scratch)
        ended = job.wait(PATIENCE)
        job.destroy()
        self.assertTrue(ended, "a hang?\n" + job.complaints())
        self.assertEqual(job.popen.returncode, 0, job.complaints())
        return job

    def test_all(self):
        expected = self.run_types("types-plain", {}).result()
        self.assertIsNotNone(expected)
        names = sorted(n for n in os.listdir(HERE) if os.path.isdir(os.path.join(HERE, n)) and n != "__pycache__")
        self.assertGreaterEqual(len(names), 15, "the golden lines are not there")
        for name in names:
            with self.subTest(name):
                lines = os.path.join(self.home, name)
                shutil.copytree(os.path.join(HERE, name), lines)
                job = self.run_types("types", {"ELC_DIR": lines, "TYPES_DIR": lines, "ELC_FILE_ROOTS": lines})
                self.assertIn("restarting from line", job.complaints())
                self.assertEqual(job.result(), expected)

    def test_files_elsewhere(self):
        """A line whose files lie where the user has allowed none is refused; and that is told when they are opened."""
        lines = os.path.join(os.path.realpath(self.home), "elsewhere")
        shutil.copytree(os.path.join(HERE, "x86-64-openmpi"), lines)
        job = launch.Job(BUILD, RANKS, BUILD.program("types"), ARGUMENTS, {"ELC_DIR": lines, "TYPES_DIR": lines}, self.scratch)
        ended = job.wait(PATIENCE)
        job.destroy()
        self.assertTrue(ended, "a hang?\n" + job.complaints())
        self.assertNotEqual(job.popen.returncode, 0, job.complaints())
        self.assertIn("no line can be taken while 'types-in-0' is open", job.complaints())
        self.assertRegex(job.complaints(), "elc: rank [01]: the file 'types-.*set ELC_FILE_ROOTS=%s" % re.escape(lines))


if __name__ == "__main__":
    BUILD = launch.Build(sys.argv.pop(1))
    unittest.main(verbosity=2)
