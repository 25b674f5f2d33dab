#!/usr/bin/env python3
"""fortran_module_test.py BUILD: the module elc for programs in Fortran: data and handles come back, under another MPI, too,
or are refused."""

import math
import os
import random
import re
import shutil
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, ".."))
import fortran  # noqa: E402
import launch  # noqa: E402

BUILD = None
PATIENCE = 120  # seconds; only a hang takes so long
INTEGERS = {"COMM": "integer", "TYPE": "integer", "REQUEST": "integer", "STATUS": "integer",
            "GROUP": "integer", "INFO": "integer", "OP": "integer", "ERRHANDLER": "integer",
            "SIZE": "(MPI_STATUS_SIZE)", "SIZES": "(MPI_STATUS_SIZE, 2)", "SOURCE": "(MPI_SOURCE)", "VAL": ""}
WAYS = {  # what the source says
    "mpif.h": {"USE": "", "INCLUDE": "include 'mpif.h'", **INTEGERS},
    "mpi": {"USE": "use mpi", "INCLUDE": "", **INTEGERS},
    "mpi_f08": {"USE": "use mpi_f08", "INCLUDE": "", "COMM": "type(MPI_Comm)", "TYPE": "type(MPI_Datatype)",
                "GROUP": "type(MPI_Group)", "INFO": "type(MPI_Info)", "OP": "type(MPI_Op)",
                "ERRHANDLER": "type(MPI_Errhandler)", "REQUEST": "type(MPI_Request)", "STATUS": "type(MPI_Status)", "SIZE": "", "SIZES": "(2)",
                "SOURCE": "%MPI_SOURCE", "VAL": "%MPI_VAL"},
}

DRAWN = random.choice(sorted(WAYS))

# Each kind of data that the module elc registers: how it is declared, and its i-th value. Of complex ones, too.
KINDS = {
    "i1": ("integer(int8)", "int(i - 100, int8)"), "i2": ("integer(int16)", "int(-i * 99, int16)"),
    "i4": ("integer(int32)", "-huge(1_int32) + i"), "i8": ("integer(int64)", "huge(1_int64) - i"),
    "r4": ("real(real32)", "1 / real(i, real32)"), "r8": ("real(real64)", "-1 / real(i, real64)"),
    "rl": ("real(c_long_double)", "1 + i * least"),
    "c4": ("complex(real32)", "cmplx(i, -1 / real(i), real32)"),
    "c8": ("complex(real64)", "cmplx(-i, 1 / real(i), real64)"),
    "cl": ("complex(c_long_double)", "cmplx(-i, 1 - i * least, c_long_double)"),
    "l1": ("logical(1)", "mod(i, 3) == 0"), "l2": ("logical(2)", "mod(i, 3) == 1"), "l4": ("logical", "mod(i, 5) < 2"),
    "l8": ("logical(8)", "mod(i, 2) == 0"),
    "s1": ("character", "achar(64 + mod(i, 60))"),
    "s5": ("character(len=5)", "'a' // achar(64 + mod(i, 60)) // char(228) // ' b'"),
}
SHAPES = ((), (6,), (3, 4), (2, 3, 4), (1, 2, 1, 3, 1, 2, 1), (2,) * 3 + (1,) * 9 + (3,) * 3)


class Programs(unittest.TestCase):
    def setUp(self):
        self.home = tempfile.mkdtemp(prefix="elc-fortran-")
        self.scratch = launch.Scratch()

    def tearDown(self):
        self.scratch.remove()
        shutil.rmtree(self.home, ignore_errors=True)

    def compile(self, text, build=None):
        """The path of the program, and what the compiler says if it cannot be."""
        build = build or BUILD
        folder = os.path.join(self.home, build.name)
        os.makedirs(folder, exist_ok=True)
        source, program = os.path.join(folder, "prog.f90"), os.path.join(folder, "prog")
        with open(source, "w") as file:
            file.write(text)
        try:
            return program, fortran.compile_program(build, [fortran.MODULE, source], program)
        except fortran.Absent as why:
            self.skipTest(str(why))

    def build(self, name, words, build=None):
        with open(os.path.join(HERE, "..", "programs", name)) as file:
            text = file.read()
        for word, value in words.items():
            text = text.replace("@%s@" % word, value)
        program, complaints = self.compile(text, build)
        self.assertIsNone(complaints)
        return program

    def start(self, build, program, arguments, lines, **variables):
        """What it has printed, and standard error."""
        job = launch.Job(build, 2, program, arguments, {"ELC_DIR": lines, **variables}, self.scratch)
        ended = job.wait(PATIENCE)
        text, complaints = job.text(), job.complaints()
        if not ended:
            job.destroy()
        else:
            job.vanish()
        job.close()
        self.assertTrue(ended, "it hangs\n" + complaints)
        return text, complaints


def others():
    """The build of the test, and the one of the other MPI beside it, if it is there."""
    path = os.path.join(os.path.dirname(BUILD.path), {"openmpi": "build-mpich", "mpich": "build"}.get(BUILD.mpi, ""))
    if BUILD.name not in ("build", "build-mpich") or not os.path.exists(os.path.join(path, "src", "mpi", "libelc.a")):
        return [BUILD]
    return [BUILD, launch.Build(path)]


class Module(Programs):
    """The module elc."""

    def take(self, program, arguments=()):
        """The directory of a line of the program, which ends when it is there."""
        lines = os.path.join(self.home, "lines")
        shutil.rmtree(lines, ignore_errors=True)
        _, complaints = self.start(BUILD, program, [*arguments, "take"], lines)
        self.assertEqual(len(launch.committed(lines)), 1, complaints)
        return lines

    def restart(self, build, program, arguments, lines, **variables):
        copy = os.path.join(self.home, "copy")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(lines, copy)
        return self.start(build, program, arguments, copy, **variables)

    def check_handles(self, way):
        if way != DRAWN and not os.environ.get("ELC_TEST_ALL"):
            self.skipTest("this time it was %s (all of them: ELC_TEST_ALL)" % DRAWN)
        lines = self.take(self.build("fortran_handles.f90.in", WAYS[way]))
        for build in others():
            program = self.build("fortran_handles.f90.in", WAYS[way], build)
            text, complaints = self.restart(build, program, ["go"], lines)
            self.assertIn("result: ok", text, complaints)

    def test_handles_mpif_h(self):
        self.check_handles("mpif.h")

    def test_handles_mpi(self):
        self.check_handles("mpi")

    def test_handles_mpi_f08(self):
        self.check_handles("mpi_f08")

    def test_data(self):
        """Every kind and rank."""
        words = {**WAYS["mpif.h"], **data_program()}
        lines = self.take(self.build("fortran_data.f90.in", words))
        for build in others():
            program = self.build("fortran_data.f90.in", words, build)
            text, complaints = self.restart(build, program, ["go"], lines)
            self.assertIn("result: ok", text, complaints)

    def test_misfits(self):
        """What has another type, shape or name than in the line is refused, and the message says what."""
        program = self.build("fortran_misfits.f90", {})
        lines = self.take(program, ["u34"])
        text, complaints = self.restart(BUILD, program, ["u34", "go"], lines)
        self.assertIn("result: ok", text, complaints)
        for change, expected in (
                ("u43", r"'u' of the globals is double \(4\)\[3\] in the program, but double \(3\)\[4\] in the line"),
                ("u12", r"'u' of the globals is double\[12\] in the program, but double \(3\)\[4\] in the line"),
                ("single", r"'u' of the globals is float \(3\)\[4\] in the program, but double \(3\)\[4\] in the line"),
                ("integer", r"'flag' of the globals is int32_t in the program, but logical32 in the line"),
                ("long", r"'text' of the globals is char\[8\] in the program, but char\[7\] in the line"),
                ("lacks", r"the line has 'flag' \(logical32\) of the globals, which the program has not registered")):
            text, complaints = self.restart(BUILD, program, [change, "go"], lines, ELC_STRICT="1")
            self.assertNotIn("result", text, change)
            self.assertRegex(complaints, expected, change)
        for change, expected in (("u43", r"'u' of the globals is double \(4\)\[3\] in the program"),
                                 ("u12", r"'u' of the globals is double\[12\] in the program"),
                                 ("single", r"'u' of the globals is float \(3\)\[4\] in the program")):
            text, complaints = self.restart(BUILD, program, [change, "go"], lines)
            self.assertNotIn("result", text, change)
            self.assertRegex(complaints, expected, change)

    def test_refused(self):
        """What cannot be registered is refused when it is, in one sentence."""
        program = self.build("fortran_refused.f90", {})
        text, complaints = self.start(BUILD, program, ["all"], os.path.join(self.home, "lines"))
        self.assertIn("result: ok", text, complaints)
        for expected in (r"elc_register: 'section' is not in one piece of memory: .*",
                         r"elc_register: 'row' is not in one piece of memory: .*",
                         r"elc_register: 'component' is not in one piece of memory: .*",
                         r"elc_register: 'absent' is not allocated, or a pointer that is not associated: .*",
                         r"elc_register: 'nothing' is not allocated, or a pointer that is not associated: .*",
                         r"'whole' is registered twice in the globals: .*", r"'again' overlaps 'whole' of the globals: .*",
                         r"ELC_Register: a name is needed", r"ELC_Unregister: 'unknown' is not registered here"):
            found = re.findall("^elc: rank 0: " + expected + "$", complaints, re.M)
            self.assertEqual(len(found), 1, expected + "\n" + complaints)
        text, complaints = self.start(BUILD, program, ["stop"], os.path.join(self.home, "lines"))
        self.assertNotIn("result", text)
        self.assertIn("ERROR STOP libelc: the program ends", complaints)

    def test_not_compiled(self):
        """What is no TARGET or no variable of a known kind does not compile: a copy could be registered."""
        for declaration, argument in (("integer :: i", "i"), ("integer, target :: i", "i + 1"), ("integer, target :: i", "(i)"),
                                      ("integer, target :: i(3)", "i([1, 3])"), ("integer, pointer :: i(:)", "i([1, 3])"), ("integer, parameter :: i = 1", "i"),
                                      ("type :: t; integer :: i; end type; type(t), target :: i", "i"),
                                      ("character(len=:), allocatable, target :: i", "i")):
            text = "use elc\nimplicit none\n%s\ncall elc_register('i', %s)\nend\n" % (declaration, argument)
            _, complaints = self.compile(text)
            self.assertIsNotNone(complaints, declaration + ": " + argument)
            self.assertIn("Error", complaints)


def data_program():
    """A program that registers data of every kind and rank."""
    lines = {"DECLARATIONS": [], "REGISTERED": [], "FILLED": [], "CHECKED": []}
    for kind, (what, value) in KINDS.items():
        for shape in SHAPES:
            name, rank = "%s_%d" % (kind, len(shape)), len(shape)
            dimensions = "(%s)" % ", ".join(map(str, shape)) if rank else ""
            values = "[(%s, i = 1, %d)]" % (value, math.prod(shape))
            values = "reshape(%s, shape(%s))" % (values, name) if rank else value
            other = ".neqv." if kind.startswith("l") else "/="
            lines["DECLARATIONS"].append("%s, target :: %s%s" % (what, name, dimensions))
            lines["REGISTERED"].append("call elc_register('%s', %s)" % (name, name))
            lines["FILLED"] += ["i = 7", "%s = %s" % (name, values)]
            lines["CHECKED"] += ["i = 7", "if (%s) stop 'wrong: %s'" % (
                ("any(%s %s %s)" if rank else "%s %s %s") % (name, other, values), name)]
    return {word: "\n  ".join(text) for word, text in lines.items()}


if __name__ == "__main__":
    BUILD = launch.Build(sys.argv.pop(1))
    try:
        fortran.compiler(BUILD.mpi)
    except fortran.Absent as absent:
        print(absent)
        sys.exit(77)
    unittest.main(verbosity=2)
