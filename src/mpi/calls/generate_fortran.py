"""Entry points for Fortran, where those of an MPI do not come by the C functions that libELC wraps: C++ on the standard
output. Each calls the function in C, with its arguments as they are there; or, where they cannot be, notices that it
was called and passes them on as they are.

    python3 generate_fortran.py MPI COMPILER [ARGUMENT...]
"""

import sys

import table

HEAD = """// Made by generate_fortran.py from table.txt and mpi.h.
#include "mpi/calls/fortran_arguments.h"

using namespace elc::mpi;

extern "C" {
"""

HANDLES = {"MPI_" + kind: kind + "Handle"
           for kind in ("Comm", "Datatype", "Request", "Message", "Group", "Op", "Info", "Errhandler", "Win")}
STARTS = ("MPI_Init", "MPI_Init_thread")
# What MPI-1 has INTEGERs for, not addresses.
NARROW = ("MPI_Type_hvector", "MPI_Type_hindexed", "MPI_Type_struct")


def word_of(prototype, i):
    """The word that is the i-th argument of the function in C."""
    return "a%d" % (i + 1 - (2 if prototype.name in STARTS else 0))


def words_of(prototype):
    """Arguments in Fortran: those of C, the error code, and the length of each string, which compilers pass behind."""
    if prototype.name in STARTS:
        return len(prototype.parameters) - 1
    strings = sum(p.type.replace("const", "").split()[0].startswith("char") for p in prototype.parameters)
    return len(prototype.parameters) + 1 + strings


def length(name, prototype, parameter):
    """How many elements an array of handles, statuses or narrow addresses has; None: not known."""
    numbers = {p.name: "integer(a%d)" % (i + 1) for i, p in enumerate(prototype.parameters)}
    if name == "MPI_Type_get_contents":
        return numbers.get("max_datatypes")
    if name in ("MPI_Type_create_struct", "MPI_Type_struct", "MPI_Type_hindexed", "MPI_Startall") or \
            parameter.type.split()[0] in ("MPI_Request", "MPI_Status"):
        return "integer(a1)"
    return None


def converted(mpi, name, prototype, entry):
    """(declarations, arguments) for the call of the function in C; None if they cannot be had."""
    declarations, arguments = [], []
    if prototype.written("MPI_Comm") and prototype.written("MPI_Request"):
        return None  # the communicator comes later
    for i, p in enumerate(prototype.parameters):
        word, of, array = word_of(prototype, i), p.type.replace("const ", ""), bool(p.array)
        base = of.rstrip("* ")
        count = length(name, prototype, p)

        def declare(what, then="data()"):
            declarations.append("%s c%d(%s);" % (what[0], i + 1, ", ".join((word,) + what[1:])))
            arguments.append("c%d.%s" % (i + 1, then))

        if "(" in p.type:
            return None
        if name in STARTS and i < 2:  # the arguments of main
            arguments.append("nullptr")
            continue
        if name in ("MPI_Waitany", "MPI_Testany") and of == "int *" and p.name in ("index", "indx"):
            declare(("Indices",))
        elif "indices" in p.name and name in ("MPI_Waitsome", "MPI_Testsome"):
            declare(("Indices", "a3", "integer(a1)"))
        elif "weights" in p.name:
            if mpi != "openmpi":
                return None
            arguments.append("weights(%s)" % word)
        elif p.array == "[][3]":
            arguments.append("triples(%s)" % word)
        elif base == "int":
            arguments.append("integer(%s)" % word if of == "int" and not array else "integers(%s)" % word)
        elif base == "MPI_Aint" and name in NARROW:
            if array:
                declare(("Widened", count))
            else:
                arguments.append("integer(%s)" % word)
        elif base == "MPI_Aint":
            arguments.append("address(%s)" % word if of == "MPI_Aint" and not array else "addresses(%s)" % word)
        elif of in HANDLES and not array:
            arguments.append("handle<%s>(%s)" % (HANDLES[of], word))
        elif base in HANDLES and not array:
            declare(("Handles<%s>" % HANDLES[base], "1"))
        elif base in HANDLES and count is not None:
            declare(("Handles<%s>" % HANDLES[base], count))
        elif base == "MPI_Status" and (array or p.name == "array_of_statuses"):
            declare(("Statuses", count), "all()")
        elif base == "MPI_Status":
            declare(("Statuses", "1"), "one()")
        elif of == "void *" and entry.verb == "followed" and mpi == "openmpi":
            arguments.append("buffer(%s)" % word)
        else:
            return None
    return declarations, arguments


def does(mpi, name, prototype, entry, profiling, words):
    """The lines of the entry point that leads to this symbol of the profiling interface."""
    passed = ", ".join([profiling] + words)
    what = '"%s was called from Fortran, which libELC does not follow with this MPI"' % name
    if "_f08ts_" in profiling and entry.verb == "followed":
        return ["by_way_of_c(%s, %s);" % (what, passed)]
    in_c = None if "_large_" in profiling or "_f08ts_" in profiling else converted(mpi, name, prototype, entry)
    if in_c is not None and name == prototype.name and not name.startswith("MPIX_"):
        declarations, arguments = in_c
        # A linker may leave out the MPI's library for Fortran where nothing but these is called of it.
        unless = "if (!following() && is_there(%s)) return pass_on(%s);" % (profiling, passed)
        return ([] if name in STARTS else [unless]) + declarations + [
            "give_code(%s, %s(%s));" % (words[-1], name, ", ".join(arguments))]
    of_set_up = entry.verb == "changes" or (entry.verb == "makes" and "local" in entry.features)
    return ["%s(%s, %s);" % ("notice_after_set_up" if of_set_up else "notice", what, passed)]


def entry_points(symbols, profiling, words, body):
    """One that does it, and what else it is called."""
    parameters, arguments = ", ".join("Word " + w for w in words), ", ".join(words)
    text = "\nELC_WEAK void %s(%s);\nELC_EXPORT void %s(%s) {\n%s}\n" % (
        profiling, ", ".join(["Word"] * len(words)), symbols[0], parameters, "".join("  %s\n" % line for line in body))
    for symbol in symbols[1:]:
        text += "ELC_EXPORT void %s(%s) { %s(%s); }\n" % (symbol, parameters, symbols[0], arguments)
    return text


def generate(mpi, compiler):
    text = HEAD
    for name, prototype, entry in table.fortran_entries(table.prototypes(compiler), table.Table()):
        words = ["a%d" % (i + 1) for i in range(words_of(prototype))]
        for spellings, profiling in table.FORTRAN[mpi]:
            symbol = profiling(name)
            text += entry_points([make(name) for make in spellings], symbol, words,
                                 does(mpi, name, prototype, entry, symbol, words))
    return text + "\n}  // extern \"C\"\n\nvoid elc::mpi::fortran_entry_points() {}\n"


if __name__ == "__main__":
    print(generate(sys.argv[1], sys.argv[2:]), end="")
