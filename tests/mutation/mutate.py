#!/usr/bin/env python3
"""Mutation test of the coordination protocol: does what CI runs on the simulator see small faults of src/line?

Makes mutants of src/line's sources by rule (a comparison turned, a statement left out, a constant changed, ...), one at
a time, compiles each against the simulator's objects of a build directory and runs what CI runs: random schedules, the
scenes, storms, the broken variants. A mutant is caught when one of them fails or does not end. Prints a line for each and
a table at the end; what is alive and changes nothing is explained in the file `survivors` beside this script.

    tests/mutation/mutate.py --build build --sample 200        a random sample
    tests/mutation/mutate.py --build build -j2                 all: hours
    tests/mutation/mutate.py --build build --only line.cc:120  those of one line, again
    tests/mutation/mutate.py --list                            what there would be

Exit code 0: each mutant was caught, changes no machine code or is explained; 1: some are alive; 2: it could not be run.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import random
import re
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LINE = os.path.join(TOP, "src", "line")
SURVIVORS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "survivors")

# ---- Sources as tokens ----

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|^[ \t]*\#[^\n]*)
  | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])')
  | (?P<number>(?:0[xX][0-9a-fA-F']+|[0-9][0-9']*)(?:[uUlL]*))
  | (?P<word>[A-Za-z_]\w*)
  | (?P<operator><<=|>>=|->\*|<=>|\+\+|--|->|<=|>=|==|!=|&&|\|\||\+=|-=|\*=|/=|\|=|&=|::|\[\[|\]\]|.)
""", re.VERBOSE | re.DOTALL | re.MULTILINE)


class Token:
    __slots__ = ("kind", "text", "start", "end")

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)


class Source:
    """A file of src/line: its text and its tokens, without comments and preprocessor lines."""

    def __init__(self, name):
        self.name = name
        with open(os.path.join(LINE, name)) as f:
            self.text = f.read()
        self.lines = [line.strip() for line in self.text.splitlines()]
        self.tokens = [Token(m.lastgroup, m.group(), m.start()) for m in TOKEN.finditer(self.text)
                       if m.lastgroup != "skip"]
        self.closing = {}  # index of an opening bracket to that of its closing one
        self.inside = set()  # indices of tokens in functions
        open_ones, functions = [], 0
        for i, t in enumerate(self.tokens):
            if functions > 0:
                self.inside.add(i)
            if t.text in "([{" or t.text == "[[":
                open_ones.append(i)
                functions += self.begins_function(i)
            elif (t.text in ")]}" or t.text == "]]") and open_ones:
                opening = open_ones.pop()
                self.closing[opening] = i
                functions -= self.begins_function(opening)

        self.for_parts = set()  # indices of tokens in for (...), but those in braces
        for i, t in enumerate(self.tokens):
            if t.text != "for" or self.tokens[i + 1].text != "(":
                continue
            j = i + 2
            while j < self.closing[i + 1]:
                self.for_parts.add(j)
                j = self.closing[j] if self.tokens[j].text == "{" else j + 1

    def begins_function(self, i):
        """Whether this is the opening brace of a function, or of something in one."""
        if self.tokens[i].text != "{":
            return False
        while i > 0 and self.tokens[i - 1].text not in ";{}":
            i -= 1
            if self.tokens[i].text in ("namespace", "struct", "class", "enum"):
                return False
        return True

    def line_of(self, offset):
        return self.text.count("\n", 0, offset) + 1

    def line_text(self, offset):
        """The line of code, behind as many of those before it as tell it from others that read the same."""
        at = self.line_of(offset) - 1
        for first in range(at, -1, -1):
            wanted, count = self.lines[first:at + 1], at + 1 - first
            if sum(self.lines[i:i + count] == wanted for i in range(len(self.lines))) == 1:
                break
        return " / ".join(wanted)


class Mutant:
    def __init__(self, source, rule, start, end, new):
        self.source, self.rule, self.start, self.end, self.new = source, rule, start, end, new
        self.file = source.name
        self.line, self.last_line = source.line_of(start), source.line_of(end)
        self.code = source.line_text(start)
        old = " ".join(source.text[start:end].split())
        self.change = f"{old} -> {' '.join(new.split())}" if rule != "left out" else f"{old} ->"

    def key(self):
        """What it is called in the list of survivors: stays the same when lines move."""
        return self.file, self.code, self.rule, self.change

    def text(self):
        return self.source.text[:self.start] + self.new + self.source.text[self.end:]


# ---- Rules ----

COMPARISONS = {"<": ("<=", ">"), "<=": ("<", ">="), ">": (">=", "<"), ">=": (">", "<="), "==": ("!=",), "!=": ("==",)}
SWAPPED = {"&&": "||", "||": "&&", "++": "--", "--": "++", "+=": "-=", "-=": "+=", "+": "-", "-": "+"}
TWINS = {"min": "max", "first": "last", "before": "after", "begin": "end", "true": "false", "sent": "received",
         "source": "tag", "least": "most", "break": "continue"}
TWINS.update({b: a for a, b in TWINS.items()})
MEMBERS = {"first", "last", "before", "after", "begin", "end", "sent", "received", "least", "most"}
COMPOUND = {"using", "struct", "class", "enum", "namespace", "template", "typedef", "static_assert", "extern", "if", "for",
            "while", "switch", "do", "else", "case", "default", "inline", "[["}


def enumerators(sources):
    """The next one of each enumerator, in the order of its declaration."""
    following = {}
    for source in sources:
        for m in re.finditer(r"\benum\s+(?:class\s+)?(\w+)[^{};]*\{([^}]*)\}", source.text):
            names = re.findall(r"\b(k[A-Z]\w*)\b", re.sub(r"//[^\n]*|=[^,]*", "", m.group(2)))
            for i, name in enumerate(names):
                following.setdefault(name, names[(i + 1) % len(names)])
    return following


def asks_rule(source, i, step):
    """Whether the operand beside an operator is `applies(...)`, which is true in the library."""
    tokens, closing = source.tokens, source.closing
    if step > 0:
        return tokens[i + 1].text == "applies" and tokens[closing[i + 2] + 1].text in (")", "&&", ";", "?")
    opening = next((a for a, b in closing.items() if b == i - 1), None)
    return opening is not None and tokens[opening - 1].text == "applies" and tokens[opening - 2].text in ("(", "=", "return")


def spaced(source, token):
    """A binary operator: the sources' format puts spaces around it, and none around those of types."""
    before, after = source.text[token.start - 1], source.text[token.end:token.end + 1]
    return before in " \n" and after in " \n"


def mutants_of(source, following):
    tokens = source.tokens

    def mutant(rule, first, last, new):
        return Mutant(source, rule, first.start, last.end, new)

    def previous(i):
        return tokens[i - 1].text if i > 0 else ""

    depth_of_enum = set()
    for i, t in enumerate(tokens):
        if t.text == "enum":
            j = i
            while j < len(tokens) and tokens[j].text not in "{;":
                j += 1
            if j < len(tokens) and tokens[j].text == "{":
                depth_of_enum.update(range(j, source.closing.get(j, j)))

    for i, t in enumerate(tokens):
        if i in depth_of_enum or previous(i) == "operator":
            continue
        if t.text in COMPARISONS and spaced(source, t):
            for new in COMPARISONS[t.text]:
                yield mutant("comparison", t, t, new)
        elif t.text in ("&&", "||") and spaced(source, t):
            yield mutant("logic", t, t, SWAPPED[t.text])
            if not asks_rule(source, i, 1):
                yield mutant("right side left out", t, t, "|| false &&")
            if not asks_rule(source, i, -1):
                yield mutant("left side left out", t, t, "&& false ||")
        elif t.text in ("++", "--", "+=", "-=") or (t.text in "+-" and spaced(source, t)):
            yield mutant("arithmetic", t, t, SWAPPED[t.text])
        elif t.text == "-" and tokens[i + 1].kind == "word" and previous(i) in "(,=?:[":
            yield mutant("sign", t, t, "")
        elif t.text == "!" and (tokens[i + 1].kind == "word" or tokens[i + 1].text == "("):
            yield mutant("negation", t, t, "")
        elif t.text == "?" and spaced(source, t):
            yield mutant("condition", t, t, "|| true ?")
            yield mutant("condition", t, t, "&& false ?")
        elif i not in source.inside and previous(i) == "=" and tokens[i + 1].text in ";,":
            pass  # what a member is before anything is known
        elif t.kind == "number":
            value = int(t.text.rstrip("uUlL").replace("'", ""), 0)
            for new in {0: (1,), 1: (0, 2)}.get(value, (value + 1, value - 1)):
                yield mutant("constant", t, t, str(new))
        elif t.text in ("true", "false"):
            yield mutant("constant", t, t, TWINS[t.text])
        elif t.text in ("min", "max") and previous(i) == "::":
            yield mutant("twin", t, t, TWINS[t.text])
        elif t.text in MEMBERS and previous(i) in (".", "->"):
            yield mutant("twin", t, t, TWINS[t.text])
        elif t.text == "push_back" and previous(i) in (".", "->"):
            yield mutant("other end", t, tokens[i + 1], "insert(0, ")
        elif t.text in ("back", "pop_back") and previous(i) == ".":
            yield mutant("other end", t, tokens[i + 2], "data()[0]" if t.text == "back" else "erase(0)")
        elif t.text in following and tokens[i + 1].text != "=" and previous(i) != "case":
            yield mutant("constant", t, t, following[t.text])
        elif t.text in ("if", "while") and i + 1 < len(tokens) and tokens[i + 1].text == "(":
            opening, closing = tokens[i + 1], tokens[source.closing[i + 1]]
            condition = source.text[opening.end:closing.start]
            if ";" in condition or re.match(r"\s*(const )?\w+[*&]? \w+ =", condition):
                continue
            yield mutant("condition", opening, closing, "(false)")
            if t.text == "if" and not re.fullmatch(r"applies\(Rule::\w+\)", condition):
                yield mutant("condition", opening, closing, "(true)")
        elif t.text == "for" and tokens[i + 1].text == "(":
            yield mutant("loop left out", t, t, "if (false) for")
        elif t.text == "else" and tokens[i + 1].text != "if":
            yield mutant("else left out", t, t, "else if (false)")
        if begins_statement(source, i):
            last = end_of_statement(source, i)
            ends_function = t.text == "return" and previous(i) in ";{}" and tokens[last + 1].text == "}" if last else False
            if last is not None and not ends_function and not is_declaration(source, i, last):
                yield mutant("left out", t, tokens[last], ";")


def ends_condition(source, i):
    """Whether the token is the closing parenthesis of if (...), for (...), while (...)."""
    if source.tokens[i].text != ")":
        return False
    opening = next((a for a, b in source.closing.items() if b == i), None)
    return opening is not None and source.tokens[opening - 1].text in ("if", "for", "while")


def begins_statement(source, i):
    """Whether a statement begins at this token."""
    if i not in source.inside or i in source.for_parts:
        return False
    before = source.tokens[i - 1].text
    if before == ":":  # of a label, not of a condition
        j = i - 2
        while source.tokens[j].text not in (";", "{", "}", "?", "case", "default"):
            j -= 1
        return source.tokens[j].text in ("case", "default")
    return before in ";{}" or before == "else" or ends_condition(source, i - 1)


def end_of_statement(source, i):
    """The semicolon of the simple statement or declaration that begins at this token; None where there is none."""
    tokens = source.tokens
    if tokens[i].text in COMPOUND or tokens[i].text in ";{})" or tokens[i].kind in ("number", "string"):
        return None
    j = i
    while j < len(tokens) and tokens[j].text != ";":
        if tokens[j].text in "})":
            return None
        j = source.closing[j] + 1 if j in source.closing else j + 1
    return j if j < len(tokens) else None


def is_declaration(source, i, last):
    """Whether this statement declares something: two words side by side, or a type with & or * before a name."""
    if source.tokens[i].text in ("return", "break", "continue"):
        return False
    head = source.text[source.tokens[i].start:source.tokens[last].end]
    return re.match(r"(?:(?:static|const|constexpr) )*(?:[\w:]+(?:<[^=;]*>)?(?:::\w+)?)(?:\s*[&*](?: const\b)?)*\s+[&*]*\w+\s*(?:[;=({,]|\[)", head) \
        is not None and not re.match(r"\w+ (?:=|\+=|-=)", head)


# ---- Many mutants in one program ----

# A place that can be written so that a variable chooses among its mutants.
Unit = collections.namedtuple("Unit", "kind start end")


def units_of(source):
    """Statements and conditions, outer ones before inner ones."""
    tokens, units = source.tokens, []
    for i in sorted(source.inside):
        t = tokens[i]
        if t.text in ("if", "while", "for") and tokens[i + 1].text == "(":
            opening, closing = i + 1, source.closing[i + 1]
            semicolons, j = [], opening + 1
            while j < closing:
                if tokens[j].text == ";":
                    semicolons.append(j)
                j = source.closing[j] + 1 if j in source.closing else j + 1
            if t.text == "for":
                units.append(Unit("before", t.start, t.start))
            if t.text != "for" and not semicolons:
                units.append(Unit("value", tokens[opening].end, tokens[closing].start))
            elif len(semicolons) == 2 and semicolons[1] > semicolons[0] + 1:
                units.append(Unit("value", tokens[semicolons[0]].end + 1, tokens[semicolons[1]].start))
                if closing > semicolons[1] + 1:
                    units.append(Unit("void", tokens[semicolons[1]].end + 1, tokens[closing].start))
        elif t.text == "else":
            units.append(Unit("after", t.end, t.end))
        if begins_statement(source, i):
            last = end_of_statement(source, i)
            if last is None:
                continue
            if not is_declaration(source, i, last):
                units.append(Unit("statement", t.start, tokens[last].end))
                continue
            j = i
            while j < last and tokens[j].text != "=":
                j = source.closing[j] + 1 if j in source.closing else j + 1
            if j < last:
                units.append(Unit("value", tokens[j].end + 1, tokens[last].start))
    return sorted(units, key=lambda u: (u.start, -u.end))


def flat(text):
    """On one line, without comments."""
    return " ".join(re.sub(r"//[^\n]*", " ", text).split())


def together(source, mutants):
    """The text of a source in which the variable elc_mutant chooses among these mutants, given by number; and between
    which lines it does so, for those that it can choose."""
    by_unit = {}
    units = units_of(source)
    for number, m in mutants.items():
        if m.rule == "loop left out":
            fits = [u for u in units if u.kind == "before" and u.start == m.start]
        elif m.rule == "else left out":
            fits = [u for u in units if u.kind == "after" and u.start == m.end]
        else:
            fits = [u for u in units if u.kind not in ("before", "after") and within(u, m)]
        if fits:
            by_unit.setdefault(fits[-1], []).append(number)

    def render(start, end, inner):
        out, at = [], start
        for k, u in enumerate(inner):
            if u.start < at:
                continue  # inside the one before
            out.append(source.text[at:u.start])
            out.append(one(u, [v for v in inner[k + 1:] if v.start >= u.start and v.end <= u.end and v != u]))
            at = u.end
        out.append(source.text[at:end])
        return "".join(out)

    def one(u, inner):
        plain = render(u.start, u.end, inner)
        numbers = by_unit[u]
        if u.kind in ("before", "after"):
            return f" if (elc_mutant != {numbers[0]}) "
        others = []
        for number in numbers:
            m = mutants[number]
            start = u.start if m.start < u.start else m.start  # its parentheses may be those around the unit
            others.append((number, flat(source.text[u.start:start] + m.new + source.text[min(m.end, u.end):u.end])))
        if u.kind == "statement":
            return "{ " + "".join(f"if (elc_mutant == {n}) {{ {text} }} else " for n, text in others) + "{ " + plain + " } }"
        cast = "(void)" if u.kind == "void" else ""
        return "(" + "".join(f"elc_mutant == {n} ? {cast}({text}) : " for n, text in others) + f"{cast}({plain}))"

    chosen = sorted(by_unit, key=lambda u: (u.start, -u.end))
    text = render(0, len(source.text), chosen)
    places = {n: (source.line_of(u.start), source.line_of(u.end)) for u, numbers in by_unit.items() for n in numbers}
    return text, places


def within(unit, m):
    if unit.start <= m.start and m.end <= unit.end:
        return True
    # A condition with its parentheses.
    return m.rule == "condition" and m.start == unit.start - 1 and m.end == unit.end + 1


# ---- Compiling and running ----

VARIANTS = "every broken variant is seen"  # of variants.cc

# The programs: `sim` runs schedules, `scenes` all that doctest runs. The rest of tests/sim is in both.
MAIN, SCENES = {"main.cc"}, {"agreements.cc", "edges.cc", "in_transit.cc", "memory_windows.cc", "parts.cc", "repeats.cc", "set_up.cc", "traps.cc", "variants.cc", "test_main.cc"}


class Compiler:
    """Compiles as a build directory does those objects that can leave out rules."""

    def __init__(self, build):
        self.build = os.path.abspath(build)
        with open(os.path.join(self.build, "compile_commands.json")) as f:
            commands = [c for c in json.load(f) if "sim_variants.p" in c["output"]]
        self.sources = sorted(os.path.normpath(os.path.join(self.build, c["file"])) for c in commands)
        words = shlex.split(commands[0]["command"])
        self.command, skip = [], False
        for w in words[1 if os.path.basename(words[0]) == "ccache" else 0:]:
            if skip or w in ("-MF", "-MQ", "-o"):
                skip = not skip
            elif w not in ("-c", "-g", "-MD", commands[0]["file"]) and not w.startswith(("-O", "-W")):
                self.command.append(w)
        self.command += ["-O1", "-Werror=return-type"]

    def __call__(self, source, out, include=()):
        command = self.command[:1] + [*include] + self.command[1:] + ["-c", source, "-o", out]
        return subprocess.run(command, cwd=self.build, capture_output=True).returncode == 0

    def together(self, sources, out, include=()):
        """Several sources in one piece: most of the time goes into their headers."""
        with open(out + ".cc", "w") as f:
            f.writelines(f'#include "{source}"\n' for source in sources)
        return self(out + ".cc", out, include)

    def headers(self, sources):
        """Those of src/line that these sources include."""
        done = subprocess.run(self.command + ["-MM", "-MT", "x", *sources], cwd=self.build, capture_output=True,
                              text=True, check=True)
        words = done.stdout.replace("\\\n", " ").split()
        paths = {os.path.normpath(os.path.join(self.build, w)) for w in words}
        return {os.path.basename(path) for path in paths if os.path.dirname(path) == LINE}


class Runner:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.compile = Compiler(options.build)
        self.lock = threading.Lock()
        self.free = list(range(options.jobs))
        self.line = [s for s in self.compile.sources if os.path.dirname(s) == LINE]
        # What is compiled in one piece, by the name of its object; main.cc and doctest know nothing of src/line.
        here = os.path.join(TOP, "tests", "sim")
        sim = [os.path.join(here, f) for f in sorted(os.listdir(here)) if f.endswith(".cc")]
        common = [s for s in sim if os.path.basename(s) not in MAIN | SCENES]
        self.pieces = {"common": common, "traps": [s for s in sim if os.path.basename(s) in SCENES - {"test_main.cc"}]}
        self.users = {name: self.compile.headers(sources) for name, sources in self.pieces.items()}
        self.users.update({path: self.compile.headers([path]) for path in self.line})
        self.base = os.path.join(folder, "plain")
        os.mkdir(self.base)
        base = os.path.join(TOP, "src", "base")
        self.original = {}  # objects of the sources as they are
        self.compile_plain({
            "main": [os.path.join(here, "main.cc")], "doctest": [os.path.join(here, "test_main.cc")],
            "base": [os.path.join(base, f) for f in sorted(os.listdir(base)) if f.endswith(".cc") and f != "memory.cc"]})
        self.all_plain = False
        self.seconds = None  # what a program without a fault takes for `quick` schedules, the scenes and the storms
        self.chooser = os.path.join(self.base, "chooser.cc")
        with open(self.chooser, "w") as f:
            f.write('#include <cstdlib>\nextern "C" { int elc_mutant = getenv("ELC_MUTANT") ? atoi(getenv("ELC_MUTANT")) : 0; }\n')

    def compile_plain(self, wanted):
        for name, sources in wanted.items():
            self.original[name] = os.path.join(self.base, os.path.basename(name) + ".o")
            done = self.compile(name, self.original[name]) if name in self.line else \
                self.compile.together(sources, self.original[name])
            if not done:
                raise SystemExit(f"mutate: {name} does not compile")

    def all_in_one(self, sources, mutants):
        """One program that has most of the mutants (by number); the numbers of those."""
        folder = os.path.join(self.folder, "all")
        os.makedirs(os.path.join(folder, "line"))
        include = ["-I" + folder, "-include", os.path.join(folder, "chooser.h")]
        with open(include[-1], "w") as f:
            f.write('extern "C" { extern int elc_mutant; }\n')
        objects = dict(self.original)
        for name in self.users:
            objects[name] = os.path.join(folder, os.path.basename(name) + ".o")
        wanted, changed = dict(mutants), {source.name for source in sources}
        while changed:  # without what does not compile
            places = {}
            for source in sources:
                text, between = together(source, {n: m for n, m in wanted.items() if m.source is source})
                places.update(between)
                with open(os.path.join(folder, "line", source.name), "w") as f:
                    f.write(text)
            bad = set()
            for name, headers in self.users.items():
                if changed & (headers | {os.path.basename(name)}):
                    bad |= self.errors(name, os.path.join(folder, "line"), objects[name], include)
            dropped = {n for n, (first, last) in places.items()
                       if any(wanted[n].file == f and first <= line <= last for f, line in bad)}
            if bad and not dropped:
                raise SystemExit(f"mutate: nothing to leave out for the errors in {sorted(bad)}")
            changed = {wanted[n].file for n in dropped}
            wanted = {n: m for n, m in wanted.items() if n not in dropped}
        objects["chooser"] = os.path.join(folder, "chooser.o")
        self.compile(self.chooser, objects["chooser"])
        self.programs = os.path.join(folder, "sim"), os.path.join(folder, "scenes")
        if not self.link(objects, ("traps", "doctest"), self.programs[0]) or \
                not self.link(objects, ("main",), self.programs[1]):
            raise SystemExit("mutate: the program with all mutants is not linked")
        self.measure(*self.programs)
        return set(places)

    def measure(self, sim, scenes):
        """What takes many times as long as without a fault does not end."""
        def took(command):
            before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
            if self.fails(command, 600):
                raise SystemExit("mutate: the sources as they are do not pass, or the program of all mutants is wrong")
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
        self.seconds = [took(command) for command in
                        (self.schedules(sim, self.options.quick), self.scenes(scenes), self.storms(sim))]

    def limit(self, part):
        """Seconds of a processor: enough where it is not known yet."""
        return 60 if self.seconds is None else 2 + int(8 * self.seconds[part])

    def errors(self, name, folder, out, include):
        """Compiles, and says in which files and lines there were errors."""
        source = os.path.join(folder, os.path.basename(name))
        if name in self.pieces:
            source = out + ".cc"
            with open(source, "w") as f:
                f.writelines(f'#include "{path}"\n' for path in self.pieces[name])
        command = self.compile.command[:1] + include + self.compile.command[1:] + ["-c", source, "-o", out]
        result = subprocess.run([w for w in command if w != "-Werror=return-type"] + ["-fmax-errors=0", "-fdiagnostics-color=never"],
                                cwd=self.compile.build, capture_output=True, text=True)
        if result.returncode == 0:
            return set()
        found = re.findall(r"/line/(\w+\.(?:cc|h)):(\d+):\d+: (?:fatal )?error", result.stderr)
        if not found:
            raise SystemExit(f"mutate: {name} does not compile: {result.stderr[:2000]}")
        return {(name, int(line)) for name, line in found}

    def chosen(self, number):
        """The verdict of one that is in the program of all."""
        try:
            return self.judge(*self.programs, dict(os.environ, ELC_MUTANT=str(number)))
        except OSError as error:
            return f"error: {error!r}"

    def __call__(self, mutant):
        with self.lock:
            number = self.free.pop()
        try:
            return self.verdict(mutant, os.path.join(self.folder, str(number)))
        except OSError as error:  # one that could not be run does not end the others
            return f"error: {error!r}"
        finally:
            with self.lock:
                self.free.append(number)

    def verdict(self, mutant, folder):
        with self.lock:  # what the mutants of one program do not need
            if not self.all_plain:
                self.compile_plain(self.pieces | {path: [path] for path in self.line})
            self.all_plain = True
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(os.path.join(folder, "line"))
        source = os.path.join(folder, "line", mutant.file)
        with open(source, "w") as f:
            f.write(mutant.text())
        objects, same = dict(self.original), True
        header = mutant.file.endswith(".h")
        include = ["-I" + folder] if header else []
        concerned = [name for name, users in self.users.items() if mutant.file in users] if header else \
            [os.path.join(LINE, mutant.file)]
        for name in concerned:
            if name in self.pieces:
                continue
            objects[name] = os.path.join(folder, os.path.basename(name) + ".o")
            if not self.compile(name if header else source, objects[name], include):
                return "does not compile"
            with open(objects[name], "rb") as f, open(self.original[name], "rb") as g:
                same = same and f.read() == g.read()
        if same and not any(name in self.pieces for name in concerned):
            return "same code"
        return self.run(objects, [name for name in concerned if name in self.pieces], include, folder)

    def piece(self, name, objects, include, folder):
        objects[name] = os.path.join(folder, name + ".o")
        return self.compile.together(self.pieces[name], objects[name], include)

    def link(self, objects, without, out):
        chosen = [path for name, path in objects.items() if name not in without]
        return subprocess.run(["c++", "-s", "-o", out, *chosen], capture_output=True).returncode == 0

    def run(self, objects, again, include, folder):
        """The scenes are compiled only for what the first schedules do not catch."""
        sim, scenes = os.path.join(folder, "sim"), os.path.join(folder, "scenes")
        if "common" in again and not self.piece("common", objects, include, folder):
            return "does not compile"
        if not self.link(objects, ("traps", "doctest"), sim):
            return "does not compile"
        if self.fails(self.schedules(sim, self.options.quick), self.limit(0)):  # before the scenes are compiled
            return f"{self.options.quick} schedules"
        if "traps" in again and not self.piece("traps", objects, include, folder):
            return "does not compile"
        if not self.link(objects, ("main",), scenes):
            return "does not compile"
        return self.judge(sim, scenes)

    @staticmethod
    def scenes(program):
        return [program, "--abort-after=1", "--test-case-exclude=" + VARIANTS]

    def storms(self, sim):
        return self.schedules(sim, self.options.storms) + ["--storms"]

    def schedules(self, sim, number):
        return [sim, "--schedules", str(number), "--seed", str(self.options.first_seed)]

    def judge(self, sim, scenes, environment=None):
        """What CI runs, the cheapest first."""
        if self.fails(self.schedules(sim, self.options.quick), self.limit(0), environment):
            return f"{self.options.quick} schedules"
        if self.fails(self.scenes(scenes), self.limit(1), environment):
            return "scenes"
        if self.fails(self.storms(sim), self.limit(2), environment):
            return f"{self.options.storms} storms"
        if self.fails(self.schedules(sim, self.options.schedules), 600, environment):
            return f"{self.options.schedules} schedules"
        if not self.options.no_variants and self.fails([scenes, "--test-case=" + VARIANTS], 600, environment):
            return "variants"
        return "alive"

    @staticmethod
    def fails(command, seconds, environment=None):
        """Whether it ends otherwise than with 0, within so much time of a processor and 2 GB."""
        def limit():
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
                              preexec_fn=limit).returncode != 0


def all_mutants(sources, following):
    """Each once. Of several of one line that read the same, those behind the first have a number: < -> <= #2"""
    mutants, seen, same = [], set(), collections.Counter()
    for source in sources:
        for m in mutants_of(source, following):
            if (m.file, m.text()) in seen:
                continue
            seen.add((m.file, m.text()))
            same[m.key()] += 1
            if same[m.key()] > 1:
                m.change += f" #{same[m.key()]}"
            mutants.append(m)
    return mutants


# ---- Survivors that are explained ----

def fields_of(text):
    """(file, code, rule, change) of a line of output or of `survivors`; the code may have a | of its own. () for others."""
    parts = [part.strip() for part in text.split(" | ")]
    return () if len(parts) < 4 else (parts[0], " | ".join(parts[1:-2]), parts[-2], parts[-1])


def explained():
    """The reasons in `survivors`, by file, line of code, rule and change."""
    reasons = {}
    if os.path.exists(SURVIVORS):
        with open(SURVIVORS) as f:
            reason = None
            for number, text in enumerate(f, 1):
                text = text.rstrip("\n")
                if not text or text.startswith("#"):
                    continue
                if text.startswith("= "):
                    reason = text[2:]
                    continue
                fields = fields_of(text)
                if not fields or reason is None:
                    raise SystemExit(f"mutate: survivors:{number}: not FILE | CODE | RULE | CHANGE under a reason")
                reasons[fields] = reason
    return reasons


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default=os.path.join(TOP, "build"), help="a configured build directory with tests, for its compiler (default: build)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="mutants at a time (default 1)")
    parser.add_argument("--sample", type=int, help="so many, drawn by --seed (default: all)")
    parser.add_argument("--seed", type=int, help="of the sample (default: random, printed)")
    parser.add_argument("--only", action="append", help="FILE or FILE:LINE; may be given again")
    parser.add_argument("--again", metavar="OUTPUT", help="those that were alive in an earlier run, by what it has printed")
    parser.add_argument("--rule", help="of this rule only")
    parser.add_argument("--schedules", type=int, default=100000, help="as many as CI runs (default 100000)")
    parser.add_argument("--storms", type=int, default=8000, help="as many as CI runs (default 8000)")
    parser.add_argument("--quick", type=int, default=300, help="schedules before anything else (default 300)")
    parser.add_argument("--first-seed", type=int, default=1, help="of the schedules (default 1)")
    parser.add_argument("--no-variants", action="store_true", help="do not run the broken variants")
    parser.add_argument("--unexplained", action="store_true", help="leave out those that `survivors` explains")
    parser.add_argument("--one-by-one", action="store_true", help="compile each mutant for itself: tells what changes no code")
    parser.add_argument("--list", action="store_true", help="print the mutants and do nothing")
    options = parser.parse_args()

    sources = [Source(name) for name in sorted(os.listdir(LINE)) if name.endswith((".cc", ".h")) and name != "rules.h"]
    following = enumerators(sources)
    mutants = all_mutants(sources, following)
    if options.only:
        wanted = [tuple(o.rsplit(":", 1)) if ":" in o else (o, None) for o in options.only]
        mutants = [m for m in mutants
                   if any(m.file == f and (n is None or m.line == int(n)) for f, n in wanted)]
    if options.again:
        with open(options.again) as f:
            lived = [fields_of(line.removeprefix("alive")) for line in f if line.startswith("alive ")]
        wanted = {(place.rsplit(":", 1)[0], *rest) for place, *rest in lived}
        mutants = [m for m in mutants if m.key() in wanted]
    if options.rule:
        mutants = [m for m in mutants if m.rule == options.rule]
    reasons = explained()
    if options.unexplained:
        mutants = [m for m in mutants if m.key() not in reasons]
    if options.sample is not None and options.sample < len(mutants):
        seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 32)
        print(f"mutate: seed {seed}: {options.sample} of {len(mutants)}", flush=True)
        mutants = random.Random(seed).sample(mutants, options.sample)
    if options.list:
        for m in mutants:
            print(f"{m.file}:{m.line}: {m.rule}: {m.change}    {m.code}")
        print(f"{len(mutants)} mutants")
        return 0

    counts, alive = {}, []
    with tempfile.TemporaryDirectory(prefix="elc-mutation-") as folder:
        runner = Runner(folder, options)
        numbered = dict(enumerate(mutants, 1))
        chosen = set() if options.one_by_one else runner.all_in_one(sources, numbered)
        print(f"mutate: {len(mutants)} mutants, {len(chosen)} of them in one program", flush=True)
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            running = {pool.submit(runner.chosen, n) if n in chosen else pool.submit(runner, m): m
                       for n, m in numbered.items()}
            for future in concurrent.futures.as_completed(running):
                m, verdict = running[future], future.result()
                if verdict == "alive" and m.key() in reasons:
                    verdict = "explained"
                if verdict == "alive":
                    alive.append(m)
                counts[verdict] = counts.get(verdict, 0) + 1
                print(f"{verdict:16} {m.file}:{m.line} | {m.code} | {m.rule} | {m.change}", flush=True)
    print(f"\n{len(mutants)} mutants")
    for verdict in sorted(counts, key=counts.get, reverse=True):
        print(f"  {counts[verdict]:6} {verdict}")
    meaning = sum(n for v, n in counts.items() if v not in ("does not compile", "same code", "explained"))
    if meaning > 0:
        print(f"  caught: {100 * (meaning - len(alive)) / meaning:.1f} % of {meaning} that compile and are not explained")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
