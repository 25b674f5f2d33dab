"""Entry points for Fortran, where those of an MPI do not come by the C functions that libELC wraps: C++ on the standard
output. Each notices that it was called, and passes on its arguments as they are.

    python3 generate_fortran.py MPI COMPILER [ARGUMENT...]
"""

import sys

import table

HEAD = """// Made by generate_fortran.py from table.txt and mpi.h.
#include "mpi/calls/fortran.h"

using namespace elc::mpi;

extern "C" {
"""


def words_of(prototype):
    """Arguments in Fortran: those of C, the error code, and the length of each string, which compilers pass behind."""
    strings = sum(p.type.replace("const", "").split()[0].startswith("char") for p in prototype.parameters)
    return len(prototype.parameters) + 1 + strings


def entry_points(symbols, profiling, name, words):
    """One that does it, and what else it is called."""
    parameters = ", ".join("Word a%d" % (i + 1) for i in range(words))
    arguments = ", ".join("a%d" % (i + 1) for i in range(words))
    if name in ("MPI_Init", "MPI_Init_thread"):
        body = "start_from_fortran(%s, %s);" % (profiling, arguments)
    elif name == "MPI_Finalize":
        body = "finish_from_fortran(%s, %s);" % (profiling, arguments)
    else:
        body = 'notice("%s was called from Fortran, which libELC does not follow with this MPI", %s, %s);' % (
            name, profiling, arguments)
    text = "\nELC_WEAK void %s(%s);\nELC_EXPORT void %s(%s) {\n  %s\n}\n" % (
        profiling, ", ".join(["Word"] * words), symbols[0], parameters, body)
    for symbol in symbols[1:]:
        text += "ELC_EXPORT void %s(%s) { %s(%s); }\n" % (symbol, parameters, symbols[0], arguments)
    return text


def generate(mpi, compiler):
    text = HEAD
    for name, prototype, _ in table.fortran_entries(table.prototypes(compiler), table.Table()):
        for spellings, profiling in table.FORTRAN[mpi]:
            text += entry_points([make(name) for make in spellings], profiling(name), name, words_of(prototype))
    return text + "\n}  // extern \"C\"\n\nvoid elc::mpi::fortran_entry_points() {}\n"


if __name__ == "__main__":
    print(generate(sys.argv[1], sys.argv[2:]), end="")
