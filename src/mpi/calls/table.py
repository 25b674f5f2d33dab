"""The table of MPI's functions (table.txt) and the prototypes of the mpi.h in use, for what is made of them."""

import os
import re
import subprocess

TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "table.txt")

# MPI's handles: what makes one an obstacle, its kind there, and the values that are no objects.
HANDLES = {
    "MPI_Comm": ("kComm", ["MPI_COMM_NULL"]),
    "MPI_Win": ("kWin", ["MPI_WIN_NULL"]),
    "MPI_File": ("kFile", ["MPI_FILE_NULL"]),
    "MPI_Request": ("kRequest", ["MPI_REQUEST_NULL"]),
    "MPI_Session": ("kSession", ["MPI_SESSION_NULL"]),
    "MPI_Group": ("kGroup", ["MPI_GROUP_NULL", "MPI_GROUP_EMPTY"]),
    "MPI_Op": ("kOp", ["MPI_OP_NULL"]),
    "MPI_Errhandler": ("kErrhandler", ["MPI_ERRHANDLER_NULL", "MPI_ERRORS_ARE_FATAL", "MPI_ERRORS_RETURN"]),
    "MPI_Info": ("kInfo", ["MPI_INFO_NULL"]),
}
# Requests of MPI I/O as it was before MPI-2.0 was out: nothing but their file can wait for them.
FILE_REQUEST = "MPIO_Request"
# What has no handle: the kind as an obstacle. A keyval is known by its number, the others are counted.
WITHOUT_HANDLE = {"keyval": "kKeyval", "port": "kOther", "name": "kOther", "code": "kOther",
                  "tools": "kOther"}
THROUGH = ("info", "session", "message", "request", "communicator", "window", "file", "tools")
FEATURES = ("local", "value", "collectively", "together", "paired", "persistent", "entered", "by hand")


class Entry:
    """What the table says of one function. `verb` is followed, nothing, makes, frees, through, hinders, refuses, changes, attribute,
    errhandler, collectively, or, for what the table does not say itself, large or unknown."""

    def __init__(self, name, verb, kind=None, features=(), advice=""):
        self.name, self.verb, self.kind, self.features, self.advice = name, verb, kind, frozenset(features), advice

    @property
    def refuses(self):
        """Whether it has a wrapper that the build generates."""
        if self.verb == "nothing":
            return "entered" in self.features
        return self.verb not in ("followed", "through") and "by hand" not in self.features


def parse_entry(line):
    what, _, advice = line.partition("|")
    name, _, doing = what.partition(" ")
    features = [f for f in FEATURES if re.search(r"\b%s\b" % f, doing)]
    words = re.sub(r"\b(%s)\b" % "|".join(FEATURES), "", doing).split()
    verb = words[0] if words else "collectively"
    kind = words[1] if len(words) > 1 else None
    known = {"followed": (), "nothing": (), "refuses": (), "changes": ("buffer",), "attribute": (), "errhandler": (),
             "collectively": (), "otherwise": (), "makes": WITHOUT_HANDLE, "frees": WITHOUT_HANDLE, "through": THROUGH,
             "hinders": ("file",)}
    if verb not in known or len(words) > 2 or (kind is not None and kind not in known[verb]) or \
            (verb == "collectively" and "collectively" not in features):
        raise SystemExit("table.txt: what is this? " + line)
    return Entry("MPIX_" + name[5:] if name.startswith("MPIX_") else "MPI_" + name, verb, kind, features, advice.strip())


class Table:
    def __init__(self, path=TABLE):
        self.chapters = []  # (title, [Entry])
        self.entries = {}
        with open(path) as file:
            for line in file:
                line = line.rstrip()
                if line.startswith("= "):
                    self.chapters.append((line[2:], []))
                elif line and not line.startswith("#"):
                    entry = parse_entry(line)
                    if entry.name in self.entries:
                        raise SystemExit("table.txt: twice: " + entry.name)
                    self.entries[entry.name] = entry
                    self.chapters[-1][1].append(entry)

    def find(self, name):
        """The entry of a C function, also of MPI_X_c and MPIX_X; one that the table does not know is `unknown`."""
        standard = re.sub(r"^MPIX_", "MPI_", name)
        for base in (name, standard):
            if base in self.entries:
                return self.entries[base]
        if standard.endswith("_c"):
            base = self.find(standard[:-2])
            if base.verb == "followed":
                return Entry(name, "large")
            if base.verb != "unknown":
                return base
        return Entry(name, "unknown")


# ---- Prototypes ----

class Parameter:
    def __init__(self, text, number):
        """`text`: as in the header; unnamed ones get a name."""
        text = " ".join(text.split())
        self.array = ""
        pointer = re.match(r"(.*\(\s*\*\s*)(\w*)(\s*\).*)$", text)  # to a function, or to an array
        if pointer:
            self.name = pointer[2] or "a%d" % number
            self.type = text
            self.declaration = pointer[1] + self.name + pointer[3]
            return
        self.array = "".join(re.findall(r"\[[^\]]*\]", text))
        text = re.sub(r"\s*\[[^\]]*\]", "", text)
        words = re.match(r"(.*[\s*])(\w+)$", text)
        types = ("int", "char", "void", "long", "double", "float", "short", "unsigned", "size_t")
        if words and words[2] not in types and not words[2].startswith(("MPI_", "MPIO_")) and \
                words[1].strip() not in ("const", "struct", "enum", "union"):
            self.type, self.name = words[1].strip(), words[2]
        else:
            self.type, self.name = text, "a%d" % number
        self.declaration = self.type + (" " if not self.type.endswith("*") else "") + self.name + self.array

    def points_to(self):
        """What a pointer or an array that the call may write is of; None for anything else."""
        if self.array:
            return None if self.type.startswith("const") else self.type
        match = re.fullmatch(r"(\w+)\s*\*", self.type)
        return match[1] if match else None


class Prototype:
    def __init__(self, result, name, parameters):
        self.result, self.name = " ".join(result.split()), name
        self.variadic = "..." in parameters
        self.parameters = [Parameter(p, i + 1) for i, p in enumerate(split(parameters))
                           if p.strip() not in ("void", "...")]

    def declaration(self):
        return "%s %s(%s)" % (self.result, self.name, ", ".join(p.declaration for p in self.parameters) or "void")

    def call(self, name):
        return "%s(%s)" % (name, ", ".join(p.name for p in self.parameters))

    def of_type(self, kind):
        return [p for p in self.parameters if p.type == kind and not p.array]

    def written(self, kind):
        return [p for p in self.parameters if not p.array and p.points_to() == kind]


def split(text):
    """Splits at the commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return parts + [text[start:]] if text.strip() else []


def without_attributes(text):
    while True:
        found = re.search(r"__(attribute|asm|extension)(__)?\s*\(", text)
        if found is None:
            return text
        depth, end = 1, found.end()
        while depth > 0:
            depth += (text[end] == "(") - (text[end] == ")")
            end += 1
        text = text[:found.start()] + " " + text[end:]


# What generated sources include, in the form that is preprocessed here.
INCLUDES = """#include <mpi.h>
#if defined __has_include
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif
"""


def prototypes(compiler):
    """{name: Prototype} of the functions MPI_* and MPIX_* that this compiler finds in mpi.h and that have a PMPI_ twin."""
    run = subprocess.run(compiler + ["-E", "-P", "-x", "c", "-"], input=INCLUDES, stdout=subprocess.PIPE, text=True)
    if run.returncode != 0:
        raise SystemExit("mpi.h could not be preprocessed: " + " ".join(compiler))
    text = without_attributes(run.stdout)
    found = {}
    for statement in re.split(r"[;{}]", text):
        match = re.fullmatch(r"\s*(?:extern\s+)?(?!typedef\b)([\w\s*]+?)\s*\b(P?MPIX?_\w+)\s*\((.*)\)\s*", statement, re.S)
        if match and match[1].strip() not in ("", "return"):
            found[match[2]] = Prototype(*match.groups())
    return {name: p for name, p in found.items() if not name.startswith("P") and "P" + name in found}


# ---- Fortran ----

# The symbols of routines for Fortran that do not come by the C entry points MPI_X, or not surely, by the name of the MPI:
# groups of spellings, each with the symbol of the profiling interface that all of a group lead to, and what their entry
# point does where the call is to be followed: "convert" its arguments for MPI_X, see whether it goes "through C" (in MPICH
# the routines that get a buffer do), or "notice" it only. In LAM, and in MPICH but for the module mpi_f08, a routine for
# Fortran calls MPI_X, which is enough.
def _lower(suffix, profiling="p"):
    return lambda name: re.sub("^mpix?", lambda m: profiling[:1] + m[0] + profiling[1:], name.lower()) + suffix


FORTRAN = {
    "openmpi": [
        ([_lower("_", ""), _lower("", ""), _lower("__", ""), str.upper, lambda name: name + "_f", lambda name: name + "_f08"],
         _lower("_"), "convert"),
        ([_lower("_f08_", "")], _lower("_f08_"), "convert"),
    ],
    "mpich": [([_lower(suffix, "")], _lower(suffix, "pr"), kind)
              for suffix, kind in (("_f08_", "convert"), ("_f08ts_", "through C"), ("_f08_large_", "notice"),
                                   ("_f08ts_large_", "through C"))],
    "lam": [],
}

# Routines of Fortran that have no function in C of that name: another form of one.
FORTRAN_FORMS = {"MPI_Win_allocate_cptr": "MPI_Win_allocate", "MPI_Win_allocate_shared_cptr": "MPI_Win_allocate_shared",
                 "MPI_Alloc_mem_cptr": "MPI_Alloc_mem", "MPI_Win_shared_query_cptr": "MPI_Win_shared_query"}


def fortran_entries(found, table):
    """[(routine, prototype in C, entry)] of the routines whose calls from Fortran matter."""
    routines = [(name, name) for name in found if not name.endswith("_c")]
    routines += [(form, name) for form, name in FORTRAN_FORMS.items() if name in found]
    entries = [(routine, found[name], table.find(name)) for routine, name in sorted(routines)]
    # The standard has three of MPICH's extensions without their X.
    entries += [(name.replace("MPIX_", "MPI_"), p, e) for name, p, e in entries if name.startswith("MPIX_Delete_")]
    return [e for e in entries if e[2].verb not in ("nothing", "through") or e[2].refuses]
