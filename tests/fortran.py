"""Programs in Fortran: the tests compile them themselves, where the MPI of a build has a compiler for them."""

import os
import re
import shutil
import subprocess

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
MODULE = os.path.join(TOP, "include", "elc.F90")


class Absent(Exception):
    """The MPI has no compiler for Fortran, or not this way of knowing MPI."""


def compiler(mpi):
    for name in ("mpifort." + mpi, "mpif90." + mpi, "mpif77." + mpi):
        if shutil.which(name) is not None:
            return name
    raise Absent("there is no Fortran compiler for " + mpi)


def compile_program(build, sources, program, *options):
    """Compiles and links in the folder of the program; what the compiler says if it fails, else None."""
    if not build.links_alone:
        raise Absent("the archive of this build does not link by itself")
    done = subprocess.run([compiler(build.mpi), "-w", *options, *sources, "-L" + os.path.join(build.path, "src", "mpi"), "-lelc",
                           "-lz", "-o", program], cwd=os.path.dirname(program), capture_output=True, text=True)
    missing = re.search(r"Cannot (?:open|read) module file .?(\w+)\.mod", done.stderr)
    if done.returncode != 0 and missing:
        raise Absent("%s has no module %s for this compiler" % (build.mpi, missing[1]))
    return done.stderr if done.returncode != 0 else None
