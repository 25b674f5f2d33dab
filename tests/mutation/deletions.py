#!/usr/bin/env python3
"""What elc doctor finds: registrations are deleted from programs, one at a time; does it name the variable?

Each program is examined as it is first, where the doctor has to find nothing. Then, for each registration of its source
(ELC_VAR, ELC_ARRAY, ELC_SAVE, OnVarDef and their like), a copy of the source without it is built and examined. The verdict:

    named     exit code 1, and a variable that was not registered is told whose name is that of the registration
    seen      exit code 1, but the name is not among them
    missed    exit code 0, or 3
    harmless  exit code 0 or 3, and a person has said why nothing is lost
    refused   exit code 2: without it no line is taken, and the reason that is told has its name
    trouble   exit code 2: the program does not run without it, or no line can be taken
    no build  it does not compile

    tests/mutation/deletions.py --build build --results DIR             the benchmarks and programs of the tests
    tests/mutation/deletions.py --build build --results DIR --only laplace,nodes
    tests/mutation/deletions.py --build build --results DIR --more FILE   programs of others, from a file (see PROGRAMS)
    tests/mutation/deletions.py --results DIR --print                   the table of what was done so far

What has a result in DIR is not done again. FILE is JSON: a list of objects with the fields of Program. An MPI job
is started for each run of the doctor, so this takes some ten seconds for each deletion. Exit code 0: the doctor was quiet about
what is whole, and named all that mattered but one in twenty; 1: it did not; 2: it could not be run."""

import argparse
import dataclasses
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "tests"))
import launch  # noqa: E402

PATIENCE = 900  # seconds; only a hang takes so long
FLAGS = ["-g", "-O0", "-D_POSIX_C_SOURCE=200809L", "-ffp-contract=off"]  # that variables stay where they are

REGISTRATION = re.compile(r"\b(ELC_(?:VAR|ARRAY|ARRAY2|ARRAY3|ALLOCATED|STATIC|PTR|STRUCT|FILEVAR|COMM|DATATYPE|REQUEST|STATUS|MPIFILE|MPIWIN|"
                          r"GROUP|INFO|OP|ERRHANDLER|RAW|SAVE|RANDOM|FUNC)|OnVarDef|OnPtrDef|OnStrDef)\s*\(")


@dataclasses.dataclass
class Program:
    name: str
    folder: str                     # all of it is copied
    source: str                     # that has the registrations, in the folder
    words: str = ""                 # of its command line
    ranks: int = 2
    build: str = ""                 # a shell command in the copy, with {flags}, {library} and {mpi}; else the compiler is called
    binary: str = "program"         # what it makes
    others: str = ""                # further sources
    options: str = "--lines 1"      # of the doctor
    harmless: dict = dataclasses.field(default_factory=dict)  # by the registered text: why nothing is lost
    also: dict = dataclasses.field(default_factory=dict)      # by the registered text: another name of the same memory
    only: str = ""                  # a regular expression: only these registrations


BENCH, TESTS, EXAMPLES = "bench", "tests/programs", "bench/examples"
PROGRAMS = [
    Program("laplace", BENCH, "laplace.c", "--size 24", 4, others="common.c", options="--at 294",  # it ends after 320
            harmless={"finished": "it is 0 at each checkpoint of the loop", "gathered": "likewise", "converged": "it is set before it is read",
                      "whole": "it is filled behind the loop"}),
    Program("gauss_jordan", BENCH, "gauss_jordan.c", "--size 30", others="common.c",
            harmless={"x": "it is filled in the last step", "whole": "a block for two steps at the beginning; it is NULL at both lines"}),
    Program("neurosys", BENCH, "neurosys.c", "--size 8 --iterations 2400", others="common.c"),
    Program("hard_disks", BENCH, "hard_disks.c", "--size 4 --iterations 60", others="common.c", options="--lines 3",
            harmless={"done": "pairs are counted after each tenth sweep, and blocks have twenty", "from": "the restart's call passes the same one",
                      "header": "get() has used it before the next label", "counts": "the last message of get() fills it", "status": "likewise", "good": "master() sets it",
                      "next": "these lines are in get(), behind whose call it is set", "chain": "likewise", "blocks": "without --lines nothing asks for it"}),
    Program("matmul", BENCH, "matmul.c", "--size 40", others="common.c",
            harmless={"&slave": "it is set before it is read", "&block": "likewise", "&status": "likewise, but at label 4", "&good": "likewise",
                      "&a": "it has been sent, and is only freed", "&taskid": "the label has chosen the branch", "&numtasks": "master() has it"}),
    Program("forgetful", TESTS, "forgetful.c", "nothing",
            harmless={**{name: "nothing that is printed depends on it" for name in ("field", "weight", "local", "particles->mass", "tally", "clocked", "garbage")},
                      **{name: "it is used when the program's word is `pending`, and no other time" for name in ("early", "pending")}}),
    Program("nodes", TESTS, "nodes.c", "--nodes 200 --rounds 60", others="../../bench/common.c"),
    Program("integers", TESTS, "integers.c", "--rounds 200", others="../../bench/common.c"),
    Program("types", TESTS, "types.c", "--rounds 60", others="../../bench/common.c",
            harmless={"sent": "each round sets it before it is sent, and what is in transit is in the line", "parcel": "it is as the set-up has made it",
                      "strided": "likewise", "other": "likewise"}),
    # frames.c is made of chance: no two of its runs come to the same sites, which the doctor says, and it judges only how they end.
    Program("stencil", EXAMPLES, "stencil.c", "60"),
    Program("workers", EXAMPLES, "workers.c", "40",
            harmless={"answer": "it is set before it is read", "stopped": "of one worker it is 0 until the loop ends"}),
    Program("queens", EXAMPLES, "queens.c", "8",
            harmless={"row": "the restart's call passes the same one", "found": "likewise", "queen": "it is set before it is read",
                      "all": "it is set by the last call of MPI"}),
]


# ---- Registrations in a source ----

@dataclasses.dataclass
class Registration:
    begin: int    # in the text
    end: int      # behind its parenthesis
    line: int
    macro: str
    argument: str  # what is registered
    instead: str   # what stands there when it is deleted

    @property
    def name(self):
        """The last name in the argument: "gid" of atoms->gid[0]."""
        names = re.findall(r"[A-Za-z_]\w*", re.sub(r"\[.*?\]|\(\s*void\s*\*\s*\)", "", self.argument))
        return names[-1] if names else ""


def without_comments(text):
    """The same text, with comments and strings as blanks."""
    blank = lambda found: re.sub(r"[^\n]", " ", found.group())  # noqa: E731
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|^[ \t]*#(?:\\\n|[^\n])*', blank, text, flags=re.DOTALL | re.MULTILINE)


def arguments_of(text, at):
    """The arguments from a parenthesis on, with their places, and what is behind it."""
    depth, begin, found = 0, at + 1, []
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
        if depth == 0 or (depth == 1 and text[i] == ","):
            found.append((begin, i))
            begin = i + 1
        if depth == 0:
            return found, i + 1
    raise ValueError("a parenthesis is not closed")


def registrations_of(text):
    plain, found = without_comments(text), []
    for match in REGISTRATION.finditer(plain):
        arguments, end = arguments_of(plain, match.end() - 1)
        texts = [text[a:b].strip() for a, b in arguments]
        line = text.count("\n", 0, match.start()) + 1
        if match.group(1) == "ELC_SAVE":
            for i, one in enumerate(texts):
                others = ", ".join(texts[:i] + texts[i + 1:])
                found.append(Registration(match.start(), end, line, "ELC_SAVE", one, f"ELC_SAVE({others})" if others else "(void)0"))
        else:
            found.append(Registration(match.start(), end, line, match.group(1), texts[0], "(void)0"))
    return found


# ---- Building and examining ----

class Failed(Exception):
    pass


def build(program, build_dir, place):
    binary = os.path.join(place, program.binary)
    mpi = launch.Build(build_dir).mpi
    if program.build:
        words = {"{flags}": f"-I{TOP}/include", "{library}": f"{build_dir}/src/mpi/libelc.a -lz -lm", "{mpi}": mpi}
        text = program.build
        for word, instead in words.items():
            text = text.replace(word, instead)
        command = ["sh", "-c", text]
    else:
        include = [os.path.join(TOP, folder) for folder in ("include", BENCH, TESTS, EXAMPLES)]
        others = [os.path.normpath(os.path.join(TOP, program.folder, other)) for other in program.others.split()]
        command = ["mpicc." + mpi, *FLAGS, "-w", *("-I" + folder for folder in include), program.source, *others,
                   os.path.join(build_dir, "src", "mpi", "libelc.a"), "-lz", "-lm", "-o", binary]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(done.stderr[-2000:])
    return binary


def examine(program, build_dir, text):
    """Builds the program with this text in the place of its source, and examines it: the doctor's exit code and what it says."""
    scratch, place = launch.Scratch(), tempfile.mkdtemp(prefix="elc-deletions-")
    try:
        code = os.path.join(place, "source")
        shutil.copytree(os.path.join(TOP, program.folder), code, symlinks=True)
        with open(os.path.join(code, program.source), "w") as f:
            f.write(text)
        binary = build(program, build_dir, code)
        work = os.path.join(place, "work")
        os.mkdir(work)
        environment = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
        environment.update(launch.environment(launch.Build(build_dir).mpi, scratch.part()))
        words = shlex.split(program.words.replace("{source}", code))
        command = [os.path.join(build_dir, "src", "tool", "elc"), "doctor", "--mpi", launch.Build(build_dir).mpi, "-n", str(program.ranks), *shlex.split(program.options), "--", binary, *words]
        done = subprocess.run(command, cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE)
        return done.returncode, done.stdout + done.stderr
    finally:
        scratch.remove()
        shutil.rmtree(place, ignore_errors=True)


def told(output):
    """The names of the variables that the doctor accuses."""
    found = re.findall(r"^  (?:proven|suspected): not registered, and changed since the start: (.*)$", output, re.MULTILINE)
    return found + re.findall(r"^  in the line, .* point to nothing that is registered: to (\S+)$", output, re.MULTILINE)


def is_named(program, registration, output):
    names = {registration.name, program.also.get(registration.argument, registration.name)}
    if registration.macro == "ELC_RANDOM":
        return any(one.startswith("the state of") for one in told(output))
    # What is in front of the first parenthesis: "sim->atoms->gid[3]".
    return any(names & set(re.findall(r"[A-Za-z_]\w*", one.split(" (")[0])) for one in told(output))


def verdict_of(program, registration, code, output):
    if code == 1:
        return "named" if is_named(program, registration, output) else "seen"
    if code == 2 and re.search(r"there is no line: it was refused.*\b" + re.escape(registration.name) + r"\b", output):
        return "refused"
    if registration.argument in program.harmless:
        return "harmless"
    return {0: "missed", 2: "trouble", 3: "missed"}.get(code, "trouble")


def essence(output):
    """What the doctor says first, in one line."""
    names = told(output)
    if names:
        return names[0]
    lines = [line.strip() for line in output.splitlines() if line.startswith("  ")] or output.splitlines()[-1:]
    return lines[0] if lines else ""


def run_one(program, build_dir, text, registration, results):
    name = f"{program.name}-{registration.line}-{re.sub(r'[^A-Za-z0-9]+', '_', registration.argument)}" if registration else program.name + "-whole"
    path = os.path.join(results, name + ".json")
    if os.path.exists(path):
        return
    begin = time.time()
    try:
        edited = text[:registration.begin] + registration.instead + text[registration.end:] if registration else text
        code, output = examine(program, build_dir, edited)
        if code in (0, 3) and "--lines 1" in program.options:  # so quiet it has to be at as many lines as users have
            code, output = examine(dataclasses.replace(program, options=program.options.replace("--lines 1", "--lines 3")), build_dir, edited)
        verdict = verdict_of(program, registration, code, output) if registration else {0: "quiet", 3: "quiet"}.get(code, "FALSE ALARM" if code == 1 else "trouble")
    except Failed as error:
        code, output, verdict = -1, str(error), "no build"
    result = {"program": program.name, "line": registration.line if registration else 0,
              "deleted": f"{registration.macro}({registration.argument})" if registration else "(nothing)", "verdict": verdict, "code": code,
              "why": program.harmless.get(registration.argument, "") if registration and verdict == "harmless" else "",
              "says": essence(output), "output": output, "seconds": round(time.time() - begin, 1)}
    with open(path, "w") as f:
        json.dump(result, f, indent=1)
    print(f"{program.name} {result['line']} {result['deleted']}: {verdict} ({result['seconds']} s)", flush=True)


# ---- The table ----

def print_table(results):
    all_of = []
    for name in sorted(os.listdir(results)):
        if name.endswith(".json"):
            with open(os.path.join(results, name)) as f:
                all_of.append(json.load(f))
    all_of.sort(key=lambda one: (one["program"], one["line"], one["deleted"]))
    print("| program | line | deleted | verdict | what the doctor says |\n|---|---|---|---|---|")
    for one in all_of:
        says = (one["why"] or one["says"]).replace("|", "\\|")[:140]
        print(f"| {one['program']} | {one['line'] or ''} | `{one['deleted']}` | {one['verdict']} | {says} |")
    counts = {}
    for one in all_of:
        counts[one["verdict"]] = counts.get(one["verdict"], 0) + 1
    matter = sum(counts.get(verdict, 0) for verdict in ("named", "refused", "seen", "missed", "trouble"))
    named = counts.get("named", 0) + counts.get("refused", 0)
    print("\n" + ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items())))
    if matter > 0:
        print(f"of {matter} that matter, {named} are named: {100 * named / matter:.0f} %")
    return counts.get("FALSE ALARM", 0) == 0 and 20 * named >= 19 * matter


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--build", help="a build directory with libelc.a and elc; under MPICH jobs start fastest")
    p.add_argument("--results", required=True, help="a directory: a file for each deletion")
    p.add_argument("--only", help="names of programs, with commas between them")
    p.add_argument("--more", help="a JSON file with further programs")
    p.add_argument("--print", action="store_true", help="only the table")
    options = p.parse_args()
    os.makedirs(options.results, exist_ok=True)
    if not options.print:
        if not options.build:
            p.error("--build is needed")
        programs = list(PROGRAMS)
        if options.more:
            with open(options.more) as f:
                programs += [Program(**one) for one in json.load(f)]
        if options.only:
            programs = [one for one in programs if one.name in options.only.split(",")]
        for program in programs:
            with open(os.path.join(TOP, program.folder, program.source)) as f:
                text = f.read()
            for registration in [None] + registrations_of(text):
                if registration is None or re.search(program.only, registration.argument):
                    run_one(program, os.path.abspath(options.build), text, registration, options.results)
    return 0 if print_table(options.results) else 1


if __name__ == "__main__":
    sys.exit(main())
