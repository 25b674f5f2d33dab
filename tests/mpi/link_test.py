#!/usr/bin/env python3
"""link_test.py BUILD: a C program links with `mpicc prog.o -lelc -lz` alone, and libelc.a asks for nothing of
libstdc++ and does nothing before main or at exit but what is known here. Its size is reported."""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import launch  # noqa: E402

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PROGRAM = """
#include <mpi.h>
#include <elc.h>
int main(int argc, char **argv) {
  int step = 0;
  MPI_Init(&argc, &argv);
  ELC_VAR(step);
  ELC_Restore();
  for (; step < 3; step++) ELC_Checkpoint();
  MPI_Finalize();
  return 0;
}
"""


SUM = """
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv) {
  int rank, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int i = 0; i < 3; i++) MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("the sum is %d\\n", sum);
  MPI_Finalize();
  return 0;
}
"""


def run(*words, **keywords):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **keywords)
    text = done.stdout.decode(errors="replace")
    if done.returncode != 0:
        sys.exit("%s: code %d\n%s" % (" ".join(words), done.returncode, text))
    return text


def symbols(archive):
    """(undefined, defined) names of all objects together."""
    undefined, defined = set(), set()
    for line in run("nm", "-P", archive).splitlines():
        words = line.split()
        if len(words) >= 2 and len(words[1]) == 1:
            (undefined if words[1] == "U" else defined).add(words[0])
    return undefined - defined, defined


# Who does something before main or registers something for the end: the state's hooks are set before the program registers
# its first variable, a run that has ended is marked at exit, a program of elc-cc that ends before its MPI_Init ends MPI, and
# what such a program registers is. (runtime.cc's __cxa_atexit is for a destructor without statements.) Every other static
# object is there without a constructor and stays without a destructor.
BEFORE_MAIN = {"runtime.cc"}
AT_EXIT = {"runtime.cc": {"__cxa_atexit"}, "restart.cc": {"atexit"}, "runtime_program.cc": {"atexit"},
           "state_library.cc": {"atexit"}}


def check_static_objects(archive):
    member = ""
    for line in run("size", "-A", archive).splitlines():
        words = line.split()
        if "(ex " in line:
            member = re.sub(r"\.o$", "", words[0])
        elif words and re.match(r"\.(init_array|ctors|preinit_array)", words[0]):
            if not member.endswith(tuple(BEFORE_MAIN)):
                sys.exit("%s does something before main (%s)" % (member, words[0]))
        elif words and re.match(r"\.(fini_array|dtors)", words[0]):
            sys.exit("%s does something behind main (%s)" % (member, words[0]))
    for line in run("nm", "-P", "-A", archive).splitlines():
        where, name, kind = line.split()[:3]
        allowed = [names for source, names in AT_EXIT.items() if source in where]
        if kind == "U" and "atexit" in name and not any(name in names for names in allowed):
            sys.exit("%s asks for %s" % (where, name))


def check_beside_plain(build, archive, home):
    """Without ELC_DIR a linked program runs beside one that is not linked: no collective operation is the library's."""
    if build.mpi == "lam":
        return
    with open(os.path.join(home, "sum.c"), "w") as f:
        f.write(SUM)
    mpicc = "mpicc." + build.mpi
    run(mpicc, "sum.c", "-o", "plain", cwd=home)
    run(mpicc, "sum.c", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", "-lz", "-o", "linked", cwd=home)
    variables = {k: v for k, v in os.environ.items() if not k.startswith("ELC_")}
    variables.update(launch.environment(build.mpi, home))
    for first, second in (("linked", "plain"), ("plain", "linked")):
        text = run(*launch.launcher(build.mpi, 1, ()), "./" + first, ":", "-n", "2", "./" + second, cwd=home, env=variables,
                   timeout=120)
        if "the sum is 3\n" not in text:
            sys.exit("a linked program beside one that is not: %s" % text)


def main():
    build = launch.Build(sys.argv[1])
    if not build.links_alone:
        sys.exit(77)
    archive = os.path.join(build.path, "src", "mpi", "libelc.a")
    undefined, _ = symbols(archive)
    check_static_objects(archive)
    foreign = sorted(n for n in undefined if n.startswith(("_Z", "__cxa", "__gxx", "_Unwind", "__cxxabi"))
                     and n != "__cxa_atexit")  # that one is the C library's
    if foreign:
        sys.exit("libelc.a asks for symbols of the C++ library: " + ", ".join(foreign))
    with tempfile.TemporaryDirectory() as home:
        with open(os.path.join(home, "prog.c"), "w") as f:
            f.write(PROGRAM)
        mpicc = "mpicc." + build.mpi
        run(mpicc, "-std=c11", "-I", os.path.join(SOURCE, "include"), "-c", "prog.c", cwd=home)
        run(mpicc, "prog.o", "-L" + os.path.dirname(archive), "-lelc", "-lz", "-o", "prog", cwd=home)
        # All of the archive, so that nothing that another program would need is left out.
        run(mpicc, "prog.o", "-Wl,--whole-archive", archive, "-Wl,--no-whole-archive", "-lz", "-o", "whole", cwd=home)
        check_beside_plain(build, archive, home)
    members = run("size", archive).splitlines()[1:]
    text = sum(int(line.split()[0]) for line in members)
    sections = [line.split() for line in run("size", "-A", archive).splitlines() if line.startswith(".text")]
    code = sum(int(section[1]) for section in sections)
    print("libelc.a for %s: %d objects, %d bytes of code, %d with constants and unwind tables, %d undefined symbols" %
          (build.mpi, len(members), code, text, len(undefined)))


if __name__ == "__main__":
    main()
