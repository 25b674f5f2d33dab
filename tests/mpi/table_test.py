#!/usr/bin/env python3
"""table_test.py BUILD: every function that the MPI of a build exports, for C and for Fortran in every spelling, is one that
the table knows (src/mpi/calls/table.txt), and libelc.a has a wrapper of it exactly where the table says that it has."""

import collections
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, ".."), os.path.join(HERE, "..", "..", "src", "mpi", "calls")]
import launch  # noqa: E402
import table  # noqa: E402

FUNCTION = re.compile(r"P?MPIX?_\w+|p?mpix?r?_\w+")
SUFFIXES = ("_f08ts_large_", "_f08_large_", "_f08ts_", "_f08_", "_f08", "_f90__", "_f90_", "_f90", "_f", "__", "_", "")


def output(*words):
    if shutil.which(words[0]) is None:
        return ""
    run = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return run.stdout if run.returncode == 0 else ""


def libraries(mpi):
    """Paths of the shared libraries that the compiler wrappers of an MPI link."""
    found = {}
    for wrapper, show in (("mpicc", "-showme"), ("mpicc", "-show"), ("mpifort", "-showme"), ("mpifort", "-show"),
                          ("mpif77", "-showme"), ("mpif77", "-show")):
        words = output("%s.%s" % (wrapper, mpi), show).split()
        places = [w for w in words if w.startswith("-L")]
        for name in [w[2:] for w in words if w.startswith("-l")]:
            path = output("cc", *places, "-print-file-name=lib%s.so" % name).strip()
            for place in places:
                if os.path.exists(os.path.join(place[2:], "lib%s.so" % name)):
                    path = os.path.join(place[2:], "lib%s.so" % name)
            if os.path.exists(path):
                found[os.path.realpath(path)] = name
    return sorted(found)


def functions(*arguments):
    """Names of the functions of MPI that `nm ARGUMENTS` shows as defined."""
    names = set()
    for line in output("nm", "-P", "--defined-only", *arguments).splitlines():
        words = line.split()
        if len(words) >= 2 and words[1] in "TW" and FUNCTION.fullmatch(words[0].partition("@")[0]):
            names.add(words[0].partition("@")[0])
    return names


class Accounts:
    """What the table says of a symbol, whatever its spelling."""

    def __init__(self, mpi, c_names):
        self.table = table.Table()
        known = set(self.table.entries) | set(table.FORTRAN_FORMS) | {n for n in c_names if not n.startswith("P")}
        self.by_lower = {}
        for name in known:
            self.by_lower.setdefault(name.lower(), name)
            self.by_lower.setdefault(name.lower().replace("mpix_", "mpi_"), name)
        self.mpi = mpi

    def routine(self, symbol):
        """The function in C that a spelling for Fortran stands for; None if there is none."""
        lower = re.sub(r"^(p?mpix?)r_", r"\1_", symbol.lower())
        lower = re.sub(r"^p", "", lower)
        lower = re.sub(r"_sizeof_[a-z0-9]+_(r\d+|scalar)_$", "_sizeof", lower)
        for suffix in SUFFIXES:
            if lower.endswith(suffix) and lower[:len(lower) - len(suffix)] in self.by_lower:
                return self.by_lower[lower[:len(lower) - len(suffix)]]
        return None

    @staticmethod
    def is_c(symbol):
        name = re.sub(r"^P", "", symbol)
        return name.startswith("MPI") and re.search(r"[a-z]", name) and not re.search(r"_f(08)?$", name)

    def expected(self, symbol):
        """Of a symbol without P: "followed", "refused" (a wrapper has to be there), "nothing", or None: unaccounted."""
        if self.is_c(symbol):
            entry = self.table.find(symbol)
            return {"unknown": "refused", "followed": "followed", "nothing": "nothing", "through": "nothing"}.get(
                entry.verb, "refused" if entry.refuses else "followed")
        routine = self.routine(symbol)
        if routine is None:
            return None
        entry = self.table.find(table.FORTRAN_FORMS.get(routine, routine))
        if entry.verb in ("nothing", "through"):
            return "nothing"
        names = (routine, routine.replace("MPIX_", "MPI_"))
        past = any(make(name) == symbol for spellings, _, _ in table.FORTRAN[self.mpi] for make in spellings for name in names)
        return "refused" if past else "by C"


def main():
    build = launch.Build(sys.argv[1])
    archive = functions(os.path.join(build.path, "src", "mpi", "libelc.a"))
    paths = libraries(build.mpi)
    exported = set().union(*(functions("-D", path) for path in paths))
    accounts = Accounts(build.mpi, {name for name in exported if Accounts.is_c(name)})
    count, faults = collections.Counter(), []
    for symbol in sorted(exported):
        if symbol[0] in "pP":
            twin = re.sub(r"^(p?mpix?)r_", r"\1_", symbol)[1:]
            count["of the profiling interface"] += 1
            if twin not in exported and accounts.expected(twin) is None:
                faults.append("%s is unaccounted" % symbol)
            continue
        what = accounts.expected(symbol)
        count[what] += 1
        if what is None:
            faults.append("%s is unaccounted" % symbol)
        elif what in ("followed", "refused") and symbol not in archive:
            # Requests that only a file can wait for (table.FILE_REQUEST).
            if not (build.mpi == "lam" and re.match(r"MPI_File_i(read|write)", symbol)):
                faults.append("%s is %s, says the table, but libelc.a does not have it" % (symbol, what))
        elif what == "by C" and symbol in archive:
            faults.append("%s comes by its function in C, but libelc.a has it, too" % symbol)
    print("%s: %s" % (build.mpi, ", ".join(os.path.basename(p) for p in paths if functions("-D", p))))
    print("%d functions: %s" % (sum(count.values()), ", ".join("%d %s" % (n, what) for what, n in count.most_common())))
    unknown = sorted(n for n in exported if accounts.is_c(n) and n[0] != "P" and accounts.table.find(n).verb == "unknown")
    if unknown:
        print("refused because the table does not have them: " + ", ".join(unknown))
    if not exported or not any(symbol.islower() for symbol in exported):
        print("no functions for Fortran: they are not installed")
    print("\n".join(faults[:50]))
    print("%d unaccounted" % len(faults))
    sys.exit(1 if faults or not exported else 0)


if __name__ == "__main__":
    main()
