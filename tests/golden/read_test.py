#!/usr/bin/env python3
"""read_test.py BUILD [TEST...]: the files of lines, of the first version that landed and of this one.

Every line under tests/golden, and some that programs of this build make here, are whole for `elc verify`; the second
reader (tests/format/second_reader.py), made from FORMAT.md alone, sees in every file what `elc show --json` shows. Then
FORMAT.md's rules of versions: files as a later version may write them, and what this one does with them.
"""

import glob
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "format")]
import launch  # noqa: E402
from draw import drawn, part_of, SEED  # noqa: E402
import second_reader  # noqa: E402

BUILD = None
PATIENCE = 120  # seconds; only a hang takes so long
EVERYTHING = 2 ** 64 - 1


def elc(*words):
    return subprocess.run([BUILD.program("elc")] + [str(w) for w in words], capture_output=True, text=True)


def first_difference(a, b, place=""):
    """Where two values of JSON differ; None if they do not."""
    if type(a) is not type(b):
        return "%s: %r and %r" % (place, a, b)
    if isinstance(a, dict):
        for key in sorted(set(a) | set(b)):
            if key not in a or key not in b:
                return "%s: %s is missing" % (place, key)
            if (found := first_difference(a[key], b[key], place + "." + key)) is not None:
                return found
        return None
    if isinstance(a, list):
        for i, (x, y) in enumerate(zip(a, b)):
            if (found := first_difference(x, y, "%s[%d]" % (place, i))) is not None:
                return found
        return None if len(a) == len(b) else "%s: %d and %d elements" % (place, len(a), len(b))
    return None if a == b else "%s: %r and %r" % (place, a, b)


def u32(*numbers):
    return b"".join(n.to_bytes(4, "big") for n in numbers)


def ints(*lists):
    return b"".join(u64(len(l)) + b"".join(n.to_bytes(4, "big", signed=True) for n in l) for l in lists)


def u64(*numbers):
    return b"".join(n.to_bytes(8, "big") for n in numbers)


def sealed(data):
    return data + u32(zlib.crc32(data))


def opaque(data):
    return u64(len(data)) + data + bytes(-len(data) % 4)


def rewritten(path, major=1, minor=6, kinds=0, later=b"", flag=0, sections=None):
    """The file as another version might write it: `kinds` more kinds, `later` behind the fields of the header, `flag`
    on all chunks of a section "new", other content of `sections`."""
    with open(path, "rb") as file:
        data = file.read()
    machine = data[20:int.from_bytes(data[16:20], "big") - 4]
    count = int.from_bytes(machine[8:12], "big") + kinds
    machine = machine[:8] + u32(count) + machine[12:] + u32(4) * kinds + later
    out = sealed(data[:8] + u32(major, minor, 20 + len(machine) + 4) + machine)
    content = dict(second_reader.File(data).sections)
    content.update(sections or {})
    index = u32(0x454c4369) + u64(len(content))
    for number, (name, section) in enumerate(content.items()):
        pieces = [section[i:i + 2 ** 20] for i in range(0, len(section), 2 ** 20)]
        index += opaque(name.encode()) + u64(len(section), len(pieces))
        for i, piece in enumerate(pieces):
            entry = u32(len(piece), len(piece), flag if name == "new" else 0, zlib.crc32(piece))
            index += u64(len(out)) + entry
            out += sealed(u32(0x454c4363, number) + u64(i) + entry) + piece
    return out + index + sealed(u32(0x454c4374) + u64(len(out), len(index), len(out) + len(index) + 36) +
                                u32(zlib.crc32(index)))


class Read(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.home = tempfile.mkdtemp(prefix="elc-golden-")
        cls.scratch = launch.Scratch()
        cls.made = {}

    @classmethod
    def tearDownClass(cls):
        cls.scratch.remove()
        shutil.rmtree(cls.home, ignore_errors=True)

    # ---- Lines ----

    def run_job(self, directory, program, *arguments, until_line=False, **variables):
        """A job to its end, or killed when it has a line."""
        files = tempfile.mkdtemp(dir=self.home)
        variables.update(ELC_DIR=directory, TYPES_DIR=files, DATA=os.path.join(files, "data"), ELC_FILE_ROOTS=files)
        job = launch.Job(BUILD, 3, BUILD.program(program), arguments, variables, self.scratch)
        try:
            in_time = job.wait(PATIENCE, lambda: until_line and launch.committed(directory))
            self.assertTrue(in_time, "no end: a hang?\n" + job.complaints())
            job.destroy()
            return job.popen.returncode, job.text(), job.complaints()
        finally:
            job.close()

    def line_of(self, program, *arguments, **variables):
        """The directory of lines of a program that was killed, with the newest line; made once."""
        key = " ".join((program,) + arguments)
        if key not in self.made:
            directory = os.path.join(self.home, key.replace(" ", "_"))
            _, _, complaints = self.run_job(directory, program, *arguments, until_line=True, **variables)
            self.assertTrue(launch.committed(directory), complaints)
            self.made[key] = directory
        return self.made[key]

    def copy_of(self, directory):
        copy = tempfile.mkdtemp(dir=self.home)
        shutil.copytree(directory, copy, dirs_exist_ok=True)
        return copy

    def newest(self, directory):
        return os.path.join(directory, "line-%06d" % launch.committed(directory)[-1])

    def scene_lines(self):
        """Lines of a short program that has ended."""
        directory = os.path.join(self.home, "scene")
        if "scene" not in self.made:
            code, _, complaints = self.run_job(directory, "scenes", "two_lines")
            self.assertEqual(code, 0, complaints)
            self.made["scene"] = directory
        return self.copy_of(directory)

    # ---- What is to be true ----

    def shown(self, path, most):
        run = elc("show", "--json", path, *(["--all"] if most == EVERYTHING else ["--values", most] if most else []))
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def readers_agree(self, line, *counts):
        files = launch.rank_files(line)
        self.assertTrue(files, line)
        for path in files:
            for most in counts:
                difference = first_difference(self.shown(path, most), second_reader.read(path, most),
                                              os.path.basename(path))
                self.assertIsNone(difference, "`elc show` and the second reader: %s" % difference)

    def whole(self, line):
        run = elc("verify", line)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    # ---- Every version reads the files of the first ----

    def test_golden_lines(self):
        for line in sorted(glob.glob(os.path.join(HERE, "*", "line-*"))):
            with self.subTest(line=os.path.relpath(line, HERE)):
                self.whole(line)
                self.readers_agree(line, 0, EVERYTHING)

    def test_before_a_block(self):
        """Of the first version that has it: a program of elc-cc with arrays that count from 1, or 2; and what reads no farther."""
        path = os.path.join(HERE, "from_one.elc")
        self.assertIsNone(first_difference(self.shown(path, EVERYTHING), second_reader.read(path, EVERYTHING)))
        text = elc("show", "--all", path).stdout
        for place in ("one.c:v = heap block 3 - 1", "one.c:n = heap block 5 - 2", "[2] = heap block 9 - 1", "buffer heap block 10 - 1"):
            self.assertIn(place, text)
        self.assertEqual(elc("diff", path, path).returncode, 0)

    def test_lines_of_now(self):
        for program, arguments in (("traffic", ("--operations", "1000000")), ("frames", ("--rounds", "1000000")),
                                   ("types", ("--rounds", "1000000")), ("scenes", ("trap10_made",))):
            with self.subTest(program=program, arguments=arguments):
                together = drawn(program, "no", "2", "node")[0]
                line = self.newest(self.line_of(program, *arguments, ELC_EVERY="0.05", ELC_AGGREGATE=together))
                self.whole(line)
                self.readers_agree(line, 5, 5000)

    def test_one_file_of_several_ranks(self):
        if BUILD.mpi == "lam":
            self.skipTest("it does not tell which ranks are on one machine")
        directory = self.line_of("scenes", "trap10_made", "together", ELC_EVERY="0.05", ELC_AGGREGATE="node")
        line = self.newest(directory)
        path = os.path.join(line, "ranks-000000-000002.elc")
        self.assertEqual(sorted(os.listdir(line)), ["commit", "ranks-000000-000002.elc", "run"])
        run = elc("show", path)
        self.assertEqual(run.returncode, 65)
        self.assertIn("name one of them, as in %s/rank-000000.elc" % line, run.stderr)
        self.assertEqual(elc("diff", *[os.path.join(line, "rank-000001.elc")] * 2).returncode, 0)
        self.assertEqual(elc("show", os.path.join(line, "rank-000003.elc")).returncode, 64)
        with open(path, "rb") as file:
            data = file.read()
        for name, damaged in ("cut", data[:len(data) // 2]), ("table", data[:24] + bytes(24) + data[48:]):
            with self.subTest(name):
                copy = self.newest(self.copy_of(directory))
                with open(os.path.join(copy, "ranks-000000-000002.elc"), "wb") as file:
                    file.write(damaged)
                run = elc("verify", copy)
                self.assertEqual(run.returncode, 65, run.stdout + run.stderr)
                self.assertIn("ranks-000000-000002.elc", run.stdout)

    # ---- Files of a later version ----

    def rewrite(self, line, **changes):
        for path in glob.glob(os.path.join(line, "rank-*.elc")):
            data = rewritten(path, **changes)
            with open(path, "wb") as file:
                file.write(data)

    def test_rewriting_changes_nothing(self):
        line = self.newest(self.scene_lines())
        path = os.path.join(line, "rank-000001.elc")
        before = self.shown(path, 50)
        self.rewrite(line)
        after = self.shown(path, 50)
        for facts in (before, after):
            del facts["bytes"], facts["sections"]  # chunks are cut in other places
        self.assertEqual(before, after)

    def test_additions_are_passed_over(self):
        directory = self.scene_lines()
        line = os.path.join(directory, "line-000001")
        path = os.path.join(line, "rank-000001.elc")
        before = self.shown(path, 50)
        with open(path, "rb") as file:
            label = second_reader.File(file.read()).sections["label"]
        self.rewrite(line, minor=7, kinds=3, later=b"something more  ", sections={"new": b"whatever"})
        after = self.shown(path, 50)
        self.assertEqual(after["format"], "1.7")
        self.assertEqual(after["sections"][-1]["name"], "new")
        for name in ("bytes", "format", "sections"):
            del before[name], after[name]
        self.assertEqual(before, after)
        self.whole(line)
        self.readers_agree(line, 50)
        code, text, complaints = self.run_job(directory, "scenes", "two_lines", ELC_RESTART="1")
        self.assertEqual((code, "result: ok" in text), (0, True), complaints)
        with open(path, "wb") as file:  # more fields behind the label
            file.write(rewritten(self.newest(self.line_of("scenes", "transit", ELC_EVERY="0.05")) + "/rank-000001.elc",
                                 sections={"label": label + b"more"}))
        self.assertEqual(self.shown(path, 0)["line"], 1)
        self.readers_agree(line, 0)

    def test_what_is_not_known_is_refused(self):
        def layout(name):
            return lambda sections: {name: u32(layouts.get(name, 1) + 1) + sections[name][4:]}

        def new_kind(sections):
            return {"types": u64(1) + u32(254) + opaque(b"new") + u64(8, 1) + opaque(b"field") + u32(45) + u64(1)}

        def kind_of_type(sections):
            return {"types": u64(1) + u32(253) + opaque(b"new") + u64(8, 1) + opaque(b"field") + u32(7) + u64(1)}

        def variable(sections):
            return {"vars": sections["vars"].replace(opaque(b"step") + u32(7), opaque(b"step") + u32(45), 1)}

        nothing, newer = lambda sections: {}, "version 1.7 of the format, and this libELC knows 1.6"
        reads = "in version 2 of the file format, but this libELC reads version 1"
        layouts = {"heap": 2, "mpi": 5, "setup": 2}
        has = "section \"%s\" %shas layout %d, and this libELC reads "
        # What is new, how, whether it is the file or the restart that is refused, what is said.
        cases = [("major", dict(major=2), nothing, 65, reads),
                 ("flag", dict(minor=7, flag=32), lambda s: {"new": b"whatever"}, 65, newer),
                 ("kind of a field", dict(minor=7, kinds=1), new_kind, 65, newer),
                 ("kind of a type", dict(minor=7, kinds=1), kind_of_type, 65, newer),
                 ("kind of a variable", dict(minor=7, kinds=1), variable, 0, newer)]
        cases += [("layout of " + name, {}, layout(name), 0,
                   has % (name, "" if name in ("mpi", "setup", "line") else "of the checkpoint file ", layouts.get(name, 1) + 1))
                  for name in ("vars", "heap", "files", "mpi", "setup", "line")]
        for what, changes, sections, verified, message in cases:
            with self.subTest(what=what):
                directory = self.scene_lines()
                line = os.path.join(directory, "line-000001")
                path = os.path.join(line, "rank-000001.elc")
                with open(path, "rb") as file:
                    self.rewrite(line, **changes, sections=sections(second_reader.File(file.read()).sections))
                run = elc("show", "--values", 1, path)
                self.assertEqual((run.returncode, run.stdout), (65, ""))
                self.assertIn(message, run.stderr)
                self.assertEqual(run.stderr.count("\n"), 1)
                with self.assertRaises(AssertionError):
                    second_reader.read(path, 1)
                self.assertEqual(elc("verify", line).returncode, verified)
                code, _, complaints = self.run_job(directory, "scenes", "two_lines", ELC_RESTART="1")
                self.assertNotEqual(code, 0)
                self.assertIn(message, complaints)

    def of_first_communicator(self, right, wrong, encoded):
        """Both readers take the first communicator, MPI_COMM_WORLD of three processes, with these ends, or damage is told.
        `encoded`: from one of them, its members and what follows."""
        line = os.path.join(self.scene_lines(), "line-000001")
        path = os.path.join(line, "rank-000000.elc")
        with open(path, "rb") as file:
            whole = file.read()
        mpi = second_reader.File(whole).sections["mpi"]
        usual = ints([0, 1, 2]) + u32(0) + ints([])  # no topology, and no other group
        self.assertEqual(mpi[48:48 + len(usual)], usual)
        for number, one in enumerate(right + wrong):
            with self.subTest(one):
                with open(path, "wb") as file:
                    file.write(whole)
                data = rewritten(path, sections={"mpi": mpi[:48] + encoded(*one) + mpi[48 + len(usual):]})
                with open(path, "wb") as file:
                    file.write(data)
                if number < len(right):
                    self.readers_agree(line, 50)
                    yield self.shown(path, 50)["mpi"]["communicators"][0]
                else:
                    run = elc("show", path)
                    self.assertEqual(run.returncode, 65)
                    self.assertIn('section "mpi" is damaged', run.stderr)
                    with self.assertRaises(AssertionError):
                        second_reader.read(path, 1)

    def test_two_groups(self):
        right = [([0, 1], 0, [2]), ([2], 0, [1, 0])]
        wrong = [([0, 1], 0, [1]), ([0, 1], 0, [3]), ([0, 0], 0, [1]), ([0], 0, [2, 2]), ([], 0, [1]), ([0], 3, [1])]
        shown = self.of_first_communicator(right, wrong, lambda members, kind, own:
                                           ints(members) + u32(kind) + (ints([], [], [], []) if kind else b"") + ints(own))
        self.assertEqual([(c["size"], c["members"], c["own"]) for c in shown], [(3, [0, 1], [2]), (3, [2], [1, 0])])

    def test_topologies(self):
        right = [(1, [3], [1], [], []), (1, [3, 1], [0, 1], [], []), (2, [1, 2, 4], [1, 2, 0, 2], [], []),
                 (3, [0, 0], [2], [], []), (3, [-1, 0], [2, -1], [], []), (4, [2], [0, 1], [-5], [7, 8]), (3, [], [], [], [])]
        wrong = [(1, [2], [1], [], []), (1, [3], [1, 0], [], []), (1, [3], [2], [], []), (1, [-3, -1], [0, 0], [], []),
                 (1, [3], [1], [0], []), (1, [1 << 30, 1 << 30, 1 << 30, 3], [0, 0, 0, 0], [], []), (2, [1, 2], [0, 1], [], []),
                 (2, [1, 3, 2], [0, 1], [], []), (2, [0, 0, 1], [3], [], []), (2, [-1, 0, 0], [], [], []), (2, [1, 1, 1], [-1], [], []),
                 (3, [3], [], [], []), (3, [0], [-2], [], []), (3, [0], [], [1], []), (4, [0], [1], [], [1]), (5, [], [], [], [])]
        for shown in self.of_first_communicator(right, wrong, lambda kind, *lists:
                                                ints([0, 1, 2]) + u32(kind) + ints(*lists) + ints([])):
            self.assertIn("topology", shown)

    def test_a_receive_that_the_line_does_not_know(self):
        directory = self.copy_of(self.line_of("scenes", "wait_looked_at"))
        line = self.newest(directory)
        path = os.path.join(line, "rank-000000.elc")
        with open(os.path.join(self.scene_lines(), "line-000001", "rank-000000.elc"), "rb") as file:
            other = second_reader.File(file.read()).sections["line"]
        data = rewritten(path, sections={"line": other})
        with open(path, "wb") as file:
            file.write(data)
        code, _, complaints = self.run_job(directory, "scenes", "wait_looked_at", ELC_RESTART="1")
        self.assertNotEqual(code, 0)
        self.assertIn('section "mpi" names receive 1, which is not in section "line"', complaints)

    def test_a_pending_collective(self):
        directory = self.copy_of(self.line_of("pending", "two", "6"))
        line = self.newest(directory)
        path = os.path.join(line, "rank-000001.elc")
        requests = self.shown(path, 50)["mpi"]["requests"]
        self.assertEqual((requests[1]["kind"], len(requests[1]["writes"])), ("collective", 1))  # a scan; rank 0 is late
        self.readers_agree(line, 50)
        with open(path, "rb") as file:
            sections = second_reader.File(file.read()).sections
        with open(os.path.join(line, "rank-000000.elc"), "rb") as file:
            other = second_reader.File(file.read()).sections["line"]
        for changed, complaint in (({"line": other}, 'on a communicator, whose result is not'),
                                   ({"mpi": u32(1) + sections["mpi"][4:]}, 'section "mpi" is damaged')):
            with self.subTest(complaint):
                bad = self.copy_of(directory)
                path = os.path.join(self.newest(bad), "rank-000001.elc")
                data = rewritten(path, sections=changed)
                with open(path, "wb") as file:
                    file.write(data)
                code, _, complaints = self.run_job(bad, "pending", "two", "6", ELC_RESTART="1")
                self.assertNotEqual(code, 0)
                self.assertIn(complaint, complaints)

    def test_persistent_requests(self):
        for scene, number in (("set_up_started", 1 << 63), ("started_later", 1)):
            with self.subTest(scene):
                line = self.newest(self.line_of("lifetimes", scene, "1"))
                requests = self.shown(os.path.join(line, "rank-000001.elc"), 50)["mpi"]["requests"]
                self.assertEqual({r["kind"] for r in requests}, {"persistent"})
                self.assertEqual({(r["request"] >> 63, r["mode"], r["active"], r["posting"] > 0) for r in requests},
                                 {(number >> 63, "receive", True, True),
                                  (number >> 63, "send" if number > 1 else "synchronous send", True, False)})
                self.readers_agree(line, 50)

    def test_persistent_collective_operations(self):
        for scene, early, number, active in (("persistent", "7", 1 << 63, {True}), ("persistent_made", "7", 1, {True}),
                                             ("persistent_made", "0", 1, {False})):
            with self.subTest(scene, early=early):
                line = self.newest(self.line_of("pending", scene, early))
                requests = self.shown(os.path.join(line, "rank-000001.elc"), 50)["mpi"]["requests"]
                self.assertEqual({(r["kind"], r["request"] >> 63, r["active"]) for r in requests},
                                 {("persistent collective", number >> 63, a) for a in active})
                calls = [r["call"] for r in requests]
                self.assertEqual((len(calls), calls[1], calls[21]), (22, "MPI_Bcast_init", "MPI_Neighbor_alltoallw_init"))
                self.readers_agree(line, 50)

    def test_files_of_mpi(self):
        for scene, mode, viewed in (("together", "write", False), ("reading", "read", True)):
            with self.subTest(scene):
                line = self.newest(self.line_of("shared_files", scene, "7"))
                facts = self.shown(os.path.join(line, "rank-000001.elc"), 50)
                file, = facts["mpi"]["files"]
                self.assertEqual((file["mode"], "view" in file, file["numbers"], file["size"]), (mode, viewed, True, 3))
                handles = [v for v in facts["variables"] if v["name"] == "files"]
                self.assertEqual([v["value"] for v in handles[0]["values"]], ["file %x" % file["file"], "MPI_FILE_NULL"])
                self.readers_agree(line, 50)

    def test_what_belongs_to_a_process_alone(self):
        line = self.newest(self.line_of("objects", "locals", "1"))
        facts = self.shown(os.path.join(line, "rank-000001.elc"), 50)
        self.assertEqual(facts["mpi"]["local"]["groups"], [{"size": 3, "members": [0, 1, 2]}, {"size": 2, "members": [2, 0]}])
        self.assertEqual(facts["mpi"]["local"]["infos"], [{"size": 1, "hints": [{"key": "striping_unit", "value": "1048576"}]}])
        values = {v["name"]: [value["value"] for value in v["values"]] for v in facts["variables"]}
        self.assertEqual(values["groups"], ["group 0", "group 1", "MPI_GROUP_EMPTY", "MPI_GROUP_NULL"])
        self.assertEqual(values["infos"], ["info 0", "info 0", "MPI_INFO_NULL"])
        self.assertEqual(values["operations"], ["operation 1 of the set-up", "operation 0 of the set-up", "MPI_SUM", "MPI_OP_NULL",
                                                "MPI_MINLOC"])
        self.assertEqual(values["handlers"], ["error handler 1 of the set-up", "MPI_ERRORS_RETURN", "MPI_ERRHANDLER_NULL",
                                              "error handler 0 of the set-up"])
        self.assertIn(("ocean", "error handler 1 of the set-up"),
                      [(c.get("name"), c.get("error_handler")) for c in facts["mpi"]["communicators"]])
        self.readers_agree(line, 50)

    def test_attributes(self):
        line = self.newest(self.line_of("objects", "attributes", "1"))
        facts = self.shown(os.path.join(line, "rank-000001.elc"), 50)
        self.assertEqual(facts["mpi"]["local"]["keyvals"], 2)
        given = [[(a["key"], a["value"].split(" ")[0]) for a in c.get("attributes", [])] for c in facts["mpi"]["communicators"]]
        self.assertEqual(given, [[(1, "block")], [(1, "of")], [(1, "block"), (2, "7")]])
        self.readers_agree(line, 50)

    def test_windows(self):
        line = self.newest(self.line_of("windows", "sums", "1"))
        window, = self.shown(os.path.join(line, "rank-000001.elc"), 50)["mpi"]["windows"]
        self.assertEqual(window["size"], 3)
        self.readers_agree(line, 50)

    def test_what_is_declared(self):
        line = self.newest(self.line_of("scenes", "statics", "0"))
        path = os.path.join(line, "rank-000001.elc")
        facts = self.shown(path, 80)
        variables = {v["name"]: v for v in facts["variables"]}
        steps = variables["seventh_step.steps"]
        self.assertEqual((steps["type"], steps["static"], steps["owner"]), ("double[2][50]", True, ""))
        self.assertEqual(steps["values"][50], {"place": "[1][0]", "value": "3"})
        self.assertEqual([n for n, v in variables.items() if v["static"]], ["seventh_step.calls", "seventh_step.steps"])
        self.readers_agree(line, 80)
        with open(path, "rb") as file:
            self.assertIn("declared", second_reader.File(file.read()).sections)

    def test_records(self):
        directory = self.scene_lines()
        for name, path in (("commit", os.path.join(directory, "line-000001", "commit")),
                           ("finished", os.path.join(directory, "finished"))):
            with self.subTest(record=name), open(path, "r+b") as file:
                record = file.read()[:-4]
                for changed, refused in ((record + b"more", False), (record[:4] + u32(2) + record[8:], True)):
                    file.seek(0)
                    file.write(sealed(changed))
                    file.truncate()
                    file.flush()
                    run = elc("verify", os.path.join(directory, "line-000001"))
                    self.assertEqual(run.returncode != 0, refused, run.stdout + run.stderr)
                    if refused:
                        self.assertIn("has version 2, and this libELC knows version 1", run.stdout + run.stderr)
                file.seek(0)
                file.write(sealed(record))
                file.truncate()


if __name__ == "__main__":
    BUILD = launch.Build(sys.argv[1])
    print("golden files, seed %d (ELC_TEST_SEED)" % SEED, flush=True)
    unittest.main(argv=sys.argv[:1] + (sys.argv[2:] or part_of(sys.modules["__main__"], range(2), 0)))
