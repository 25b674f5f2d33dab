#!/usr/bin/env python3
"""export_test.py ELC WRITE_LINE: `elc export` of the line that write_line makes. NumPy reads the files if it is there, and
a reader of a few lines in any case."""

import ast
import csv
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None


def read_npy(path):
    """The description, the shape, and the elements one after the other."""
    with open(path, "rb") as file:
        data = file.read()
    assert data[:8] == b"\x93NUMPY\1\0", data[:8]
    size, = struct.unpack("<H", data[8:10])
    assert (10 + size) % 64 == 0 and data[9 + size:10 + size] == b"\n"
    header = ast.literal_eval(data[10:10 + size].decode("latin1"))
    assert sorted(header) == ["descr", "fortran_order", "shape"] and header["fortran_order"] is False
    at = 10 + size

    def take(descr, count=1):
        nonlocal at
        values = []
        for _ in range(count):
            if isinstance(descr, list):
                values.append(tuple(take(d, math.prod(*s) if s else 1) if s else take(d)[0] for _, d, *s in descr))
                continue
            kind, width = descr[1], int(descr[2:])
            part = data[at:at + width]
            at += width
            if kind == "S":
                values.append(part.rstrip(b"\0"))
            elif kind == "c":
                values.append(complex(*struct.unpack("<2" + {8: "f", 16: "d"}[width], part)))
            else:
                code = {"f": {4: "f", 8: "d"}, "b": {1: "?"}, "i": {1: "b", 2: "h", 4: "i", 8: "q"},
                        "u": {1: "B", 2: "H", 4: "I", 8: "Q"}}[kind][width]
                values.append(struct.unpack("<" + code, part)[0])
        return values
    values = take(header["descr"], math.prod(header["shape"]))
    assert at == len(data), "bytes behind the array"
    if numpy is not None:
        array = numpy.load(path)
        assert array.shape == header["shape"] and array.dtype == numpy.dtype(header["descr"])
        if not isinstance(header["descr"], list):
            assert array.reshape(-1).tolist() == values
    return header["descr"], header["shape"], values


class Export(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.TemporaryDirectory(prefix="elc-export-")
        cls.lines = os.path.join(cls.home.name, "lines")
        os.mkdir(cls.lines)
        subprocess.run([WRITE_LINE, cls.lines], check=True)

    @classmethod
    def tearDownClass(cls):
        cls.home.cleanup()

    def export(self, variable, *options, code=0, line="1"):
        done = subprocess.run([ELC, "export", line, variable, "-d", self.lines, *options], cwd=self.home.name, capture_output=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return (done.stdout if code == 0 else done.stderr).decode()

    def npy(self, variable, *options):
        self.export(variable, "-o", "out.npy", *options)
        return read_npy(os.path.join(self.home.name, "out.npy"))

    def json(self, variable, *options, line="1"):
        return json.loads(self.export(variable, "--format", "json", *options, line=line))

    def test_one_file_a_rank(self):
        told = self.export("field")
        for rank in range(3):
            name = "field-rank-%06d.npy" % rank
            self.assertIn(name + ": '<f8', shape (2, 3)\n", told)
            self.assertEqual(read_npy(os.path.join(self.home.name, name)),
                             ("<f8", (2, 3), [100 * rank + i for i in range(6)]))

    def test_scalars(self):
        for rank in range(3):
            r = ("--rank", str(rank))
            self.assertEqual(self.npy("step", *r), ("<i4", (), [7 + rank]))
            self.assertEqual(self.npy("number", *r), ("<i4" if rank == 2 else "<i8", (), [-5 - rank]))
            self.assertEqual(self.npy("precise", *r), ("<f8", (), [0.1]))
            self.assertEqual(self.npy("wave", *r), ("<c16", (2,), [1 - 2j, 0.5 + (rank + 0.25) * 1j]))
            self.assertEqual(self.npy("flags", *r), ("|b1", (3,), [True, False, rank == 2]))
            self.assertEqual(self.npy("at_wide", *r), ("<f8", (2, 2), [0, 0, 0, 0]))
            self.assertEqual(self.npy("text", *r)[:2], ("|S1", (2, 6)))
            self.assertEqual(b"".join(self.npy("text", *r)[2]), b'onet,"o')
            self.assertEqual(self.npy("empty", *r), ("<i4", (0,), []))
            self.assertEqual(self.npy("heap", *r), ("<f8", (3,), [rank, rank + 1, rank + 2]))

    def test_structs(self):
        descr = [("name", "|S1", (8,)), ("x", "<f8", (3,)), ("alive", "|b1"), ("id", "<i8")]
        for rank in range(3):
            found, shape, values = self.npy("particles", "--rank", str(rank))
            self.assertEqual((found, shape), (descr, (2,)))
            self.assertEqual([(b"".join(n), x, alive, id) for n, x, alive, id in values],
                             [(b"a", [1, 2, 3], True, -1), (b"bee", [4, 5, rank + 0.5], False, 2 ** 60)])
        self.assertIn("union", self.export("holder", "-r", "0", code=64))

    def test_fortran(self):
        self.assertEqual(self.npy("matrix", "-r", "0"), ("<f8", (2, 3), [11, 12, 13, 21, 22, 23]))
        self.assertEqual(self.npy("is", "-r", "2"), ("<i4", (), [1]))

    def test_joined(self):
        rows = [[100 * rank + 3 * i + j for j in range(3)] for rank in range(3) for i in range(2)]
        self.assertEqual(self.npy("field", "--join", "0"), ("<f8", (6, 3), sum(rows, [])))
        self.assertEqual(self.npy("field", "--join", "1"),
                         ("<f8", (2, 9), sum((rows[2 * rank + i] for i in range(2) for rank in range(3)), [])))
        self.assertEqual(self.npy("step", "-j", "0"), ("<i4", (3,), [7, 8, 9]))
        self.assertEqual(self.npy("part.data()", "-j", "0")[1:], ((9,), [0, 1, 10, 11, 12, 20, 21, 22, 23]))
        self.assertEqual(self.npy("empty", "-j", "0"), ("<i4", (0,), []))
        self.assertIn("no axis 2", self.export("field", "-j", "2", code=64))
        self.assertIn("cannot be joined", self.export("number", "-j", "0", code=64))  # of other lengths on the other machine
        self.assertIn("one file", self.export("field", "-o", "x.npy", code=64))

    def rows(self, variable, *options):
        return list(csv.reader(self.export(variable, "--format", "csv", "-o", "-", *options).splitlines()))

    def test_csv(self):
        self.assertEqual(self.rows("field", "-r", "1"), [["100", "101", "102"], ["103", "104", "105"]])
        self.assertEqual(self.rows("wave", "-r", "0"), [["1-2j"], ["0.5+0.25j"]])
        self.assertEqual(self.rows("text", "-r", "0"), [["one"], ['t,"o']])
        self.assertEqual(self.rows("step", "-j", "0"), [["7"], ["8"], ["9"]])
        self.assertEqual(self.rows("infinite", "-r", "2"), [["inf"], ["-inf"], ["0.1"]])
        self.assertEqual(self.rows("empty", "-r", "0"), [])
        self.assertEqual(self.rows("particles", "-r", "2"),
                         [["name", "x[0]", "x[1]", "x[2]", "alive", "id"], ["a", "1", "2", "3", "true", "-1"],
                          ["bee", "4", "5", "2.5", "false", str(2 ** 60)]])

    def test_json(self):
        facts = self.json("field")
        self.assertEqual((facts["line"], facts["variable"]), (1, "field"))
        self.assertEqual(facts["ranks"][2], {"rank": 2, "shape": [2, 3], "values": [[200, 201, 202], [203, 204, 205]]})
        self.assertEqual(self.json("wave", "-r", "1")["ranks"][0]["values"], [[1, -2], [0.5, 1.25]])
        self.assertEqual(self.json("text", "-r", "1")["ranks"][0]["values"], ["one", 't,"o'])
        self.assertEqual(self.json("infinite", "-r", "2")["ranks"][0]["values"], ["inf", "-inf", 0.1])
        self.assertEqual(self.json("step", "-j", "0")["values"], [7, 8, 9])
        self.assertEqual(self.json("particles", "-r", "0")["ranks"][0]["values"][1],
                         {"name": "bee", "x": [4, 5, 0.5], "alive": False, "id": 2 ** 60})

    def test_names(self):
        self.assertEqual(self.npy("local", "-r", "0")[2], [1])
        self.assertEqual(self.npy("part.x", "-r", "0")[2], [3])
        self.assertIn("one of main(), one of part()", self.export("twice", "-r", "0", code=64))
        self.assertEqual(self.npy("main.twice", "-r", "0")[2], [2])
        self.assertIn("no variable another", self.export("another", "-r", "0", code=64))
        self.assertIn("into the middle", self.export("inside", "-r", "0", code=64))
        self.assertEqual(self.npy("from_one", "-r", "1")[2], [1, 2, 3])  # that counts from 1
        self.assertIn("nothing that is saved", self.export("nothing", "-r", "0", code=64))
        self.assertIn("ranks 0 to 2", self.export("step", "-r", "3", code=64))
        self.export("step", line="2", code=64)

    def test_of_a_file(self):
        line = os.path.join(self.lines, "line-000001")
        self.assertEqual(self.json("step", line=os.path.join(line, "rank-000001.elc"))["ranks"],
                         [{"rank": 1, "shape": [], "values": 8}])
        self.assertEqual(self.json("step", "-j", "0", line=line)["values"], [7, 8, 9])
        self.assertIn("of rank 1", self.export("step", "-r", "0", line=os.path.join(line, "rank-000001.elc"), code=64))
        with open(os.path.join(line, "rank-000000.elc"), "rb") as file:
            data = bytearray(file.read())
        data[len(data) // 2] ^= 1
        with open(os.path.join(self.home.name, "damaged"), "wb") as file:
            file.write(data[:-1])
        self.export("step", line="damaged", code=65)

    def plot(self, variable, *options, code=0, **environment):
        done = subprocess.run([ELC, "plot", "1", variable, "-d", self.lines, *options], cwd=self.home.name, capture_output=True,
                              text=True, env={**os.environ, **environment})
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout if code == 0 else done.stderr

    def test_plot(self):
        lines = self.plot("field").splitlines()
        self.assertEqual(lines[0], "field of line 1, from 0 to 205")
        self.assertEqual(lines[1].split(), ["rank", "0", "rank", "1", "rank", "2"])
        self.assertEqual([line.split("|")[1::2] for line in lines[2:]], [["   ", "===", "@@@"], ["   ", "+++", "@@@"]])
        lines = self.plot("part.data()", "-r", "2").splitlines()
        self.assertEqual((lines[0], lines[1].split(), len(lines)), ("part.data() of line 1, from 20 to 23", ["rank", "2"], 14))
        self.assertEqual([line.split("|")[1].find("*") for line in lines[2:] if "*" in line], [3, 2, 1, 0])
        self.assertIn("|", self.plot("wave"))
        self.assertIn("?", self.plot("infinite"))
        self.assertIn("0 dimensions", self.plot("step", code=64))
        self.assertIn("no numbers", self.plot("particles", code=64))
        self.assertIn("is empty", self.plot("empty", code=64))

    def test_plot_by_gnuplot(self):
        """Whether a PNG comes of it, is gnuplot's affair: one that is not there is told, and one of the test's takes down what it hears."""
        nowhere = os.path.join(self.home.name, "bin")
        os.makedirs(nowhere)
        self.assertIn("is it installed?", self.plot("field", "-o", "x.png", code=74, PATH=nowhere))
        with open(os.path.join(nowhere, "gnuplot"), "w") as file:
            file.write("#!/bin/sh\nwhile read -r line; do echo \"$line\"; done > heard\n")
        os.chmod(os.path.join(nowhere, "gnuplot"), 0o755)
        self.assertEqual(self.plot("field", "-o", "it's.png", PATH=nowhere), "it's.png\n")
        with open(os.path.join(self.home.name, "heard")) as file:
            heard = file.read()
        self.assertIn("set output 'it''s.png'\n", heard)
        self.assertIn("set title 'rank 1'\n$data << ELC_END\n100 101 102\n103 104 105\nELC_END\nset cbrange [0:205]\n", heard)
        self.plot("infinite", "-o", "x.png", PATH=nowhere)
        with open(os.path.join(self.home.name, "heard")) as file:
            self.assertIn("NaN\nNaN\n0.10000000000000001\n", file.read())

    def test_where_nothing_can_be_written(self):
        self.assertIn("cannot write", self.export("step", "-r", "0", "-o", "nowhere/x.npy", code=74))


if __name__ == "__main__":
    ELC, WRITE_LINE = (os.path.abspath(path) for path in sys.argv[1:3])
    unittest.main(argv=sys.argv[:1], verbosity=2)
