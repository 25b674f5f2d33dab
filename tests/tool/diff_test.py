"""elc diff, on files made from golden ones of several machines with variables of the test's own.

    python3 diff_test.py ELC [unittest's arguments]
"""
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", folder) for folder in ("golden", "format")]
import second_reader  # noqa: E402
from read_test import opaque, rewritten, u32, u64  # noqa: E402

ELC = os.path.abspath(sys.argv[1])
GOLDEN = os.path.join(HERE, "..", "golden")
X86, BIG, SMALL = "x86-64-lam", "s390x-lam", "i386-lam"
CHAR, SHORT, INT, LONG, FLOAT, DOUBLE, DOUBLE_COMPLEX, POINTER = 2, 5, 7, 9, 13, 14, 17, 31
FORMS = {CHAR: "b", SHORT: "h", INT: "i", FLOAT: "f", DOUBLE: "d", DOUBLE_COMPLEX: "dd", POINTER: "QQ"}


class Machine:
    def __init__(self, name):
        self.path = os.path.join(GOLDEN, name, "line-000001", "rank-000000.elc")
        self.order = ">" if name == BIG else "<"
        self.long = "i" if name == SMALL else "q"

    def packed(self, kind, values):
        values = [part for value in values for part in ((value.real, value.imag) if kind == DOUBLE_COMPLEX else [value])]
        form = self.long if kind == LONG else FORMS[kind]
        return b"".join(struct.pack(self.order + form[0], value) for value in values)


class DiffTest(unittest.TestCase):
    def setUp(self):
        self.place = tempfile.mkdtemp(prefix="elc-diff-")
        self.environment = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}

    def tearDown(self):
        shutil.rmtree(self.place)

    def file(self, name, machine=X86, line=None, types=None, sections=None, **variables):
        """A file of a line with these variables, each a kind or type, its count and its values (or bytes), and the path."""
        machine = Machine(machine)
        directory = u32(1) + u64(0, 0, len(variables))
        values = b""
        for variable, (kind, content) in variables.items():
            count = 1 if isinstance(content, bytes) else len(content) // (2 if kind == POINTER else 1)
            directory += u32(0) + opaque(variable.encode()) + u32(kind) + u64(count)
            values += content if isinstance(content, bytes) else machine.packed(kind, content)
        sections = {"vars": directory + values, **(sections or {})}
        if types is not None:
            sections.update(types=types, heap=u32(1) + u64(1, 0))
        path = os.path.join(self.place, name)
        with open(path, "wb") as file:
            file.write(rewritten(machine.path, sections=sections))
        return path

    def diff(self, code, *words):
        done = subprocess.run([ELC, "diff", *words], cwd=self.place, env=self.environment, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.text, self.complaint = done.stdout, done.stderr
        return done.stdout

    def differences(self, *words, code=1):
        self.facts = json.loads(self.diff(code, "--json", *words))
        return self.facts["compared"][0]["differences"]


class Values(DiffTest):
    def test_the_same(self):
        a = self.file("a", x=(DOUBLE, [1.5, 2.5]), n=(INT, [3]))
        self.assertEqual(self.diff(0, a, a), "")
        facts = self.differences(a, a, code=0)
        self.assertEqual((facts, self.facts["same"], self.facts["values"] > 3), ([], True, True))

    def test_first_and_largest_and_how_many(self):
        a = self.file("a", x=(DOUBLE, [0.0] * 9000), n=(INT, [-3]), same=(INT, [1]))
        values = [0.0] * 9000
        values[17], values[8500], values[8999] = 0.5, -4.25, 1.0
        b = self.file("b", x=(DOUBLE, values), n=(INT, [4]), same=(INT, [1]))
        x, n = self.differences(a, b)
        self.assertEqual((x["name"], x["type"], x["values"], x["different"], x["floating"]), ("x", "double[9000]", 9000, 3, 3))
        self.assertEqual(x["first"], {"place": "[17]", "a": "0", "b": "0.5"})
        self.assertEqual(x["largest"], {"place": "[8500]", "a": "0", "b": "-4.25", "difference": 4.25})
        self.assertEqual((n["name"], n["different"], n["floating"], n["first"]), ("n", 1, 0, {"place": "", "a": "-3", "b": "4"}))
        self.assertEqual((self.facts["floating"], self.facts["other"]), (1, 1))
        self.diff(1, a, b)
        self.assertIn("variable x (double[9000]) differs in 3 of 9000 values, all floating-point\n"
                      "    first    [17]: 0 in A, 0.5 in B\n"
                      "    largest  [8500]: 0 in A, -4.25 in B, a difference of 4.25\n", self.text)
        self.assertIn("variable n (int): -3 in A, 4 in B\n", self.text)
        self.assertIn("2 things differ; 1 in floating-point values alone", self.text)

    def test_numbers_that_are_none(self):
        nan, other_nan = struct.unpack("<dd", u64(0x010000000000f87f, 0x020000000000f87f))
        a = self.file("a", x=(DOUBLE, [nan, nan, 0.0, float("inf"), float("inf")]))
        b = self.file("b", x=(DOUBLE, [other_nan, 1.0, -0.0, float("inf"), float("-inf")]))
        x, = self.differences(a, b)
        self.assertEqual((x["different"], x["first"]["place"]), (3, "[1]"))
        self.assertEqual(x["largest"]["difference"], "inf")
        x, = self.differences(a, b, "--tolerance", "0.5")
        self.assertEqual((x["different"], self.facts["within_tolerance"]), (2, 1))

    def test_tolerance(self):
        a = self.file("a", x=(DOUBLE, [1000.0, 1.0]), f=(FLOAT, [1.0]), n=(INT, [1000]))
        b = self.file("b", x=(DOUBLE, [1000.5, 1.0]), f=(FLOAT, [1.0]), n=(INT, [1000]))
        c = self.file("c", x=(DOUBLE, [1000.0, 1.0]), f=(FLOAT, [1.0]), n=(INT, [1001]))
        self.diff(1, a, b)
        self.diff(1, "--tolerance", "1e-4", a, b)
        self.assertEqual(self.diff(0, "--tolerance", "1e-3", a, b), "the same; 1 value differs within the tolerance\n")
        self.diff(1, "--tolerance", "1e-1", a, c)  # an integer is what it is
        self.diff(2, "--tolerance", "-1", a, b)
        self.diff(2, "--tolerance", "much", a, b)

    def test_variables_are_chosen(self):
        a = self.file("a", x=(DOUBLE, [1.0]), y=(DOUBLE, [1.0]), z=(INT, [1]))
        b = self.file("b", x=(DOUBLE, [2.0]), y=(DOUBLE, [1.0]), z=(INT, [2]))
        self.assertEqual([d["name"] for d in self.differences(a, b)], ["x", "z"])
        self.assertEqual([d["name"] for d in self.differences(a, b, "--variable", "z", "--variable", "y")], ["z"])
        self.assertEqual([d["name"] for d in self.differences("--without", "z", a, b)], ["x"])
        self.diff(0, a, b, "--variable", "y")
        self.diff(0, a, b, "--without", "x", "--without", "z")

    def test_other_variables(self):
        a = self.file("a", first=(INT, [1]), x=(DOUBLE, [1.0, 2.0]), y=(INT, [1]), type=(INT, [1]))
        b = self.file("b", y=(INT, [2]), x=(DOUBLE, [1.0, 2.5, 3.0]), type=(DOUBLE, [1.0]), last=(INT, [1]))
        found = {d["name"]: d for d in self.differences(a, b)}
        self.assertEqual(set(found), {"first", "x", "y", "type", "last"})
        self.assertEqual((found["first"]["note"], found["last"]["note"]), ("is only in A", "is only in B"))
        self.assertEqual((found["x"]["note"], found["x"]["values"], found["x"]["first"]["place"]), ("has 3 elements in B", 2, "[1]"))
        self.assertEqual((found["type"]["note"], found["y"]["first"]["b"]), ("is double in B", "2"))

    def test_pointers(self):
        """Blocks have other numbers where there are other variables."""
        a = self.file("a", x=(DOUBLE, [1.0, 2.0]), p=(POINTER, [1, 1]), q=(POINTER, [1, 0]), wild=(POINTER, [2 ** 64 - 1, 77]))
        b = self.file("b", new=(INT, [1]), x=(DOUBLE, [1.0, 2.0]), p=(POINTER, [2, 1]), q=(POINTER, [2, 1]),
                      wild=(POINTER, [2 ** 64 - 1, 78]))
        new = [d for d in self.differences(a, b) if d["name"] != "new"]
        self.assertEqual([d["name"] for d in new], ["q"])
        self.assertEqual(new[0]["first"], {"place": "", "a": "&x[0]", "b": "&x[1]"})
        heap = dict(types=u64(0), heap=u32(2) + u64(2, 1, 1, 1) + u32(DOUBLE) + u64(3, 0) + bytes(24))
        a = self.file("a", sections=heap, p=(POINTER, [2 ** 63 + 1, 2 ** 56 - 1]))
        b = self.file("b", sections=heap, p=(POINTER, [2 ** 63 + 1, 2]))
        self.assertEqual(self.differences(a, b)[0]["first"], {"place": "", "a": "heap block 1, [-1]", "b": "heap block 1[2]"})

    def test_structures_and_unions(self):
        def field(name, kind, count=1):
            return opaque(name.encode()) + u32(kind) + u64(count)
        types = (u64(2) + u32(255) + opaque(b"either") + u64(8, 2) + field("i", INT) + field("d", DOUBLE) +
                 u32(254) + opaque(b"node") + u64(32, 3) + field("z", DOUBLE_COMPLEX) + field("n", SHORT, 2) + field("u", 256))
        machine = Machine(X86)

        def node(z, n, member, value):
            return machine.packed(DOUBLE_COMPLEX, [z]) + machine.packed(SHORT, n) + struct.pack("<I", member) + \
                machine.packed((INT, DOUBLE)[member], [value])
        a = self.file("a", types=types, v=(257, node(1 + 2j, [3, 4], 1, 5.0)), w=(257, node(1 + 2j, [3, 4], 1, 5.0)))
        b = self.file("b", types=types, v=(257, node(1 + 3j, [3, 5], 1, 6.0)), w=(257, node(1 + 2j, [3, 4], 0, 5)))
        v, w = self.differences(a, b)
        self.assertEqual((v["different"], v["floating"], v["first"]), (3, 2, {"place": ".z.im", "a": "2", "b": "3"}))
        self.assertEqual(w["first"], {"place": ".u", "a": "d", "b": "i"})

    def test_unlike_machines(self):
        names = ("c", "s", "i", "l", "f", "d", "z", "p")
        kinds = (CHAR, SHORT, INT, LONG, FLOAT, DOUBLE, DOUBLE_COMPLEX, POINTER)
        values = ([-1, 2], [-300], [70000, -5], [-70000, 5], [0.1, 2.0], [0.1] * 10000, [1 + 2j], [1, 1])
        options = [word for name in names for word in ("--variable", name)]
        paths = {m: self.file(m, m, **dict(zip(names, zip(kinds, values)))) for m in (X86, BIG, SMALL)}
        values = values[:3] + ([-70000, 6],) + values[4:5] + ([0.1] * 9999 + [0.2],) + values[6:]
        other = self.file("other", **dict(zip(names, zip(kinds, values))))
        for machine in (BIG, SMALL):
            with self.subTest(machine):
                self.diff(0, paths[X86], paths[machine], *options)
                found = self.differences(other, paths[machine], *options)
                self.assertEqual([(d["name"], d["first"]["place"]) for d in found], [("l", "[1]"), ("d", "[9999]")])
        self.diff(0, paths[BIG], paths[SMALL], *options)


class WhatElseThereIs(DiffTest):
    def changed(self, **sections):
        path = os.path.join(self.place, "changed")
        with open(path, "wb") as file:
            file.write(rewritten(Machine(X86).path, sections=sections))
        return path

    def test_golden_lines_as_they_are(self):
        for name in (X86, BIG, SMALL):
            line = os.path.join(GOLDEN, name, "line-000001")
            self.assertEqual(self.diff(0, line, line), "")
        self.diff(1, os.path.join(GOLDEN, X86), os.path.join(GOLDEN, BIG))
        self.assertIn("not compared: from rank", self.text)

    def test_set_up_and_objects(self):
        original = Machine(X86).path
        found = self.differences(original, self.changed(setup=u32(1) + u64(1, 77) + u64(0)))
        self.assertEqual({d["what"] for d in found}, {"MPI"})
        self.assertEqual([d["name"] for d in found], ["setup"])

    def test_content(self):
        """One byte of a message, of a written file, and of the heap."""
        original = Machine(X86).path
        shown = json.loads(subprocess.run([ELC, "show", "--json", "--all", original], capture_output=True, check=True).stdout)
        with open(original, "rb") as file:
            sections = dict(second_reader.File(file.read()).sections)
        message = shown["messages"]["queue"][3]
        written = next(s for s in shown["streams"] if s.get("content"))
        for section, content, what, name in (
                ("line", message["content"], "message", "from rank %d, tag %d" % (message["source"], message["tag"])),
                ("files", written["content"], "open file", written["path"])):
            with self.subTest(what):
                content = bytes.fromhex(content)
                at = sections[section].index(content) + len(content) // 2
                other = sections[section][:at] + bytes([sections[section][at] ^ 1]) + sections[section][at + 1:]
                found, = self.differences(original, self.changed(**{section: other}))
                self.assertEqual((found["what"], found["name"][:len(name)], found["different"], found["first"]["place"]),
                                 (what, name, 1, "[%d]" % (len(content) // 2)))
                self.assertEqual(self.differences(original, self.changed(**{section: other}), "--variable", "here", code=0), [])
        heap = bytearray(sections["heap"])
        heap[-1] ^= 1
        found, = self.differences(original, self.changed(heap=bytes(heap)))
        self.assertEqual((found["what"], found["name"]), ("heap block", str(shown["blocks"][-1]["id"])))


class What(DiffTest):
    """What can be compared, and what is trouble."""

    def lines(self, name, *numbers):
        for number in numbers:
            shutil.copytree(os.path.join(GOLDEN, name, "line-000001"), os.path.join(self.place, name, "line-%06d" % number))
        return os.path.join(self.place, name)

    def test_lines_and_ranks(self):
        a = self.lines(X86, 1)
        b = os.path.join(self.place, "b")
        shutil.copytree(a, b)
        path = os.path.join(b, "line-000001", "rank-000001.elc")
        with open(os.path.join(a, "line-000001", "rank-000001.elc"), "rb") as file:
            original = file.read()
        with open(path, "wb") as file:
            file.write(rewritten(Machine(X86).path, sections={"vars": u32(1) + u64(0, 0, 0)}))
        for words in ((a, b), (os.path.join(a, "line-000001"), os.path.join(b, "line-000001/"))):
            self.diff(1, *words)
            self.assertIn("rank 1:\n", self.text)
            self.assertNotIn("rank 0:\n", self.text)
        words = (os.path.join(a, "line-000001"), os.path.join(b, "line-000001"))
        self.diff(0, "--rank", "0", *words)
        self.diff(1, "--rank", "0", "--rank", "1", *words)
        self.diff(2, "--rank", "2", *words)
        facts = json.loads(self.diff(1, "--json", *words))
        self.assertEqual([c["rank"] for c in facts["compared"]], [0, 1])
        with open(path, "wb") as file:
            file.write(original)
        self.diff(0, *words)
        self.diff(0, "1", "1", "--dir", b)

    def test_trouble(self):
        a = self.file("a", x=(INT, [1]))
        lines = self.lines(X86, 1)
        with open(os.path.join(self.place, "nonsense"), "w") as file:
            file.write("nonsense")
        for words in ((), (a,), (a, "nowhere"), (a, lines), (a, "nonsense"), ("1", "2", "-d", lines), ("--what", a, a),
                      (self.place, self.place)):
            with self.subTest(words):
                self.diff(2, *words)
                self.assertTrue(self.complaint.startswith("elc: "), self.complaint)

    @unittest.skipUnless(os.path.exists("/dev/full"), "there is no full device here")
    def test_output_that_cannot_be_written(self):
        a, b = self.file("a", x=(INT, [1])), self.file("b", x=(INT, [2]))
        with open("/dev/full", "w") as full:
            done = subprocess.run([ELC, "diff", a, b], env=self.environment, stdout=full, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
