"""Entry points for Fortran, where those of an MPI do not come by the C functions that libELC wraps: C++ on the standard
output. fortran.h says what they do.

    python3 generate_fortran.py MPI COMPILER [ARGUMENT...]
"""

import re
import sys

import generate_wrappers
import table

HEAD = """// Made by generate_fortran.py from table.txt and mpi.h.
%s
#include "mpi/calls/fortran.h"
#include "mpi/calls/refused.h"

using namespace elc::mpi;

namespace {

%s
}  // namespace

extern "C" {
"""

# Handles by their type in C: the name in the functions that convert them.
CONVERTED = {"MPI_Comm": "Comm", "MPI_Datatype": "Type", "MPI_Errhandler": "Errhandler", "MPI_File": "File",
             "MPI_Group": "Group", "MPI_Info": "Info", "MPI_Message": "Message", "MPI_Op": "Op", "MPI_Request": "Request",
             "MPI_Session": "Session", "MPI_Win": "Win"}
# Integers of C that are LOGICAL in Fortran.
LOGICAL = {"commute", "flag", "high", "periods", "remain_dims", "reorder", "weighted"}
# Functions of MPI-1, in whose Fortran addresses are INTEGER.
OLD_ADDRESSES = {"MPI_Type_hvector", "MPI_Type_hindexed", "MPI_Type_struct"}
# Functions that look at the first handle whose address they get. Others make what they get the address of.
CHANGES = re.compile(r"MPI_(\w+_free|\w+_close|Comm_disconnect|Cancel|Imrecv|Mrecv|Start|Test|Type_commit|Wait)")
# Addresses of the program's memory, beside what is called a buffer; the last is where MPI puts one.
MEMORY = {"origin_addr", "result_addr", "compare_addr", "base", "baseptr"}


def words_of(prototype):
    """Arguments in Fortran: those of C, the error code, and the length of each string, which compilers pass behind."""
    strings = sum(p.type.replace("const", "").split()[0].startswith("char") for p in prototype.parameters)
    return len(prototype.parameters) + 1 + strings


class Arguments:
    """The arguments of a routine, by position, as those of a function in C. `handles`: the types that can be converted."""

    def __init__(self, prototype, handles):
        self.prototype, self.handles = prototype, handles
        self.words = {p.name: "a%d" % (i + 1) for i, p in enumerate(prototype.parameters)}
        self.objects = []

    def word(self, *names):
        """The argument that has one of these names; None if there is none."""
        return next((self.words[n] for n in names if n in self.words), None)

    def length(self, string):
        """Where the length of a string is, behind all other arguments."""
        strings = [p for p in self.prototype.parameters if "char" in p.type]
        return "a%d" % (len(self.prototype.parameters) + 2 + strings.index(string))

    def object(self, parameter, what, *more):
        word = self.words[parameter.name]
        name = word.replace("a", "c")
        self.objects.append("%s %s(%s)" % (what, name, ", ".join((word,) + more)))
        return name + ".c()"

    def comm(self):
        comms = self.prototype.of_type("MPI_Comm")
        return "handle<CommNumber>(%s)" % self.words[comms[0].name] if comms else None

    def count(self):
        count = self.word("count", "incount")
        return "integer(%s)" % count if count else None

    def types(self, name):
        """How many datatypes an array of this name has; None: that is not known."""
        match = re.fullmatch(r"MPI_(I?)(neighbor_)?(alltoallw)(_init)?", self.prototype.name, re.I)
        if match and name in ("sendtypes", "recvtypes") and "sendbuf" in self.words:
            if match[2]:
                return "neighbours(%s, %s)" % (self.comm(), "true" if name == "sendtypes" else "false")
            length = "targets(%s)" % self.comm()
            return length if name == "recvtypes" else "is_in_place(%s) ? 0 : %s" % (self.words["sendbuf"], length)
        return self.count() if name == "array_of_types" else None

    def array(self, p, of):
        word, constant = self.words[p.name], p.type.startswith("const")
        if of == "int" and p.name in LOGICAL:
            length = self.word("ndims")
            length = "integer(%s)" % length if length else "dimensions(%s)" % self.comm() if self.comm() else None
            return self.object(p, "Logicals", length) if constant and length else None
        if of == "int" and p.name == "array_of_indices":
            n = self.word("outcount")
            return self.object(p, "Positions", "integers(%s)" % n) if n else None
        if of == "int":
            return ("weights(%s)" if "weights" in p.name else "integers(%s)") % word
        if of == "MPI_Aint" and self.prototype.name in OLD_ADDRESSES:
            return self.object(p, "OldAddresses", self.count()) if self.count() else None
        if of == "MPI_Aint":
            return "addresses(%s)" % word
        if of == "MPI_Status" and p.name == "array_of_statuses":
            return self.object(p, "Statuses", self.count()) if self.count() else None
        if of == "MPI_Request" and p.name == "array_of_requests" and not constant:
            return self.object(p, "ChangedHandles<RequestNumber>", self.count()) if self.count() else None
        if of == "MPI_Datatype" and "max_datatypes" in self.words:
            return self.object(p, "ChangedHandles<DatatypeNumber>", "integer(%s)" % self.words["max_datatypes"])
        if of == "MPI_Datatype" and self.types(p.name):
            # MPI_Type_struct has no const.
            handles = self.object(p, "Handles<DatatypeNumber>", self.types(p.name))
            return handles if constant else "const_cast<MPI_Datatype*>(%s)" % handles
        return None

    def convert(self, p):
        """The argument in C; None: nobody knows how."""
        word, handle = self.words[p.name], CONVERTED.get(p.type)
        if p.array == "[]" or p.name == "array_of_statuses":
            return self.array(p, re.sub(r"const|[\s*]", "", p.type))
        if p.array:
            return None
        if re.fullmatch(r"(const )?void \*", p.type) and ("buf" in p.name or p.name in MEMORY):
            return word if p.name == "baseptr" else "buffer(%s)" % word
        if p.type == "const char *":
            return self.object(p, "String", self.length(p))
        if p.type == "MPI_Offset":
            return "offset(%s)" % word
        if p.type == "int":
            return ("logical(%s)" if p.name in LOGICAL else "integer(%s)") % word
        if p.type == "MPI_Aint":
            return ("integer(%s)" if self.prototype.name in OLD_ADDRESSES else "address(%s)") % word
        if handle and p.type in self.handles:
            return "handle<%sNumber>(%s)" % (p.type[4:], word)
        of = p.points_to()
        if of in CONVERTED and of in self.handles:
            first = next(q for q in self.prototype.parameters if q.points_to() in CONVERTED) is p
            changed = CHANGES.fullmatch(self.prototype.name) and first
            return self.object(p, "%s<%sNumber>" % ("Changed" if changed else "Made", of[4:]))
        if of == "MPI_Status":
            return self.object(p, "Status")
        if of == "int" and p.name in LOGICAL:
            return self.object(p, "Flag")
        if of == "int" and p.name in ("index", "indx"):
            return self.object(p, "Position")
        if of == "int" and p.name in ("newrank", "outcount"):
            return "integers(%s)" % word
        return None


def by_c(prototype, handles):
    """Statements that call the function in C, and which condition they have; None if an argument cannot be converted."""
    arguments = Arguments(prototype, handles)
    converted = [arguments.convert(p) for p in prototype.parameters]
    if None in converted or prototype.result != "int":
        return None
    lines = [o + ";" for o in arguments.objects]
    lines += ["const int code = %s(%s);" % (prototype.name, ", ".join(converted))]
    lines += ["c%s.done(code);" % re.search(r" c(\d+)\(", o)[1] for o in arguments.objects]
    lines += ["ended(a%d, code);" % (len(prototype.parameters) + 1)]
    return lines, "converts_weights()" if any("weights(" in c for c in converted) else "converts_fortran()"


def surrounded(prototype, entry, routine, words, handles):
    """Statements that call the routine with what surrounds the call in the wrapper in C; None if that cannot be."""
    if not entry.refuses or entry.verb in ("refuses", "unknown", "large") or \
            (prototype.written("MPI_Comm") and prototype.written("MPI_Request") and entry.verb == "makes"):
        return None
    declared, read = [], []
    for i, p in enumerate(prototype.parameters):
        word, of = "a%d" % (i + 1), p.points_to() if not p.array else None
        if p.type in CONVERTED and not p.array and p.type in handles:
            declared.append("[[maybe_unused]] const %s %s = handle<%sNumber>(%s);" % (p.type, p.name, p.type[4:], word))
        elif of in CONVERTED and of in handles:
            kind, variable = of[4:], "c%d" % (i + 1)
            before = "handle<%sNumber>(%s)" % (kind, word) if entry.verb == "frees" else "{}"
            declared.append("%s %s = %s;" % (of, variable, before))
            declared.append("[[maybe_unused]] %s* const %s = &%s;" % (of, p.name, variable))
            read.append("%s = handle<%sNumber>(%s);" % (variable, kind, word))
        elif of == "int":
            declared.append("[[maybe_unused]] int* const %s = integers(%s);" % (p.name, word))
        elif p.type == "int" and not p.array:
            declared.append("[[maybe_unused]] const int %s = integer(%s);" % (p.name, word))
        elif p.type == "void *" and entry.verb == "attribute":
            old = prototype.name.startswith("MPI_Attr")
            declared.append("void* const %s = reinterpret_cast<void*>(static_cast<MPI_Aint>(%s(%s)));" %
                            (p.name, "integer" if old else "address", word))
        elif p.type == "void *" and entry.kind == "buffer":
            declared.append("[[maybe_unused]] void* const %s = %s;" % (p.name, word))
        elif of in table.HANDLES:
            return None
    error = words[len(prototype.parameters)]
    call = ["pass_on(%s, %s);" % (routine, ", ".join(words))]
    call += ["if (integer(%s) == MPI_SUCCESS) {" % error] + ["  " + r for r in read] + ["}"] if read else []
    variables = {p.name: "a%d" % (i + 1) for i, p in enumerate(prototype.parameters)}
    body = generate_wrappers.surrounded(prototype, entry, call + ["return integer(%s);" % error], "caller",
                                        lambda parameter: variables[parameter.name])
    if body is None:
        return None
    lines = ["[[maybe_unused]] const void* const caller = ELC_CALLER();", "MPI_Fint unasked = MPI_SUCCESS;",
             "if (%s == nullptr) %s = &unasked;" % (error, error)]
    return lines + declared + ["[&]() -> int {"] + ["  " + line for line in body] + ["}();"], "converts_fortran()"


def statements(name, prototype, entry, kind, routine, words, handles):
    call = "%s, %s" % (routine, ", ".join(words))
    what = '"%s was called from Fortran, which libELC does not follow with this MPI"' % name
    noticed = "notice(%s, %s);" % (what, call)
    if name == "MPI_Init":
        return ["start_from_fortran([] { return PMPI_Init(nullptr, nullptr); }, a1, %s);" % call]
    if name == "MPI_Init_thread":
        return ["start_from_fortran([&] { return PMPI_Init_thread(nullptr, nullptr, integer(a1), integers(a2)); }, a3, %s);" % call]
    if name == "MPI_Finalize":
        return ["finish_from_fortran([] { return PMPI_Finalize(); }, a1, %s);" % call]
    if kind == "notice":
        return [noticed]
    if kind == "through C":
        return ["through_c(%s, %s);" % (what, call)]
    follow = by_c(prototype, handles) if entry.verb == "followed" else \
        surrounded(prototype, entry, routine, words, handles)
    if follow is None:
        return [noticed]
    lines, condition = follow
    return ["if (!follows_fortran()) return pass_on(%s);" % call, "if (!%s) return %s" % (condition, noticed)] + lines


def entry_points(symbols, routine, name, prototype, entry, kind, handles):
    """One that does it, and what else it is called: a name without underscores may be that of a function in C, too."""
    words = ["a%d" % (i + 1) for i in range(words_of(prototype))]
    parameters = ", ".join("Word " + w for w in words)
    lines = statements(name, prototype, entry, kind, routine, words, handles)
    text = "\nELC_WEAK void %s(%s);\nELC_EXPORT void %s(%s) {\n%s}\n" % (
        routine, ", ".join(["Word"] * len(words)), symbols[0], parameters, "".join("  %s\n" % line for line in lines))
    for symbol in symbols[1:]:
        may_be_of_program = symbol.islower() and not symbol.endswith("_")
        text += "%sELC_EXPORT void %s(%s) { %s(%s); }\n" % ("ELC_WEAK " if may_be_of_program else "", symbol, parameters, symbols[0], ", ".join(words))
    return text


def generate(mpi, compiler):
    found, text = table.prototypes(compiler), ""
    handles = {t for prototype in found.values() for p in prototype.parameters for t in (p.type, p.points_to())}
    handles &= set(CONVERTED)
    for name, prototype, entry in table.fortran_entries(found, table.Table()):
        for spellings, profiling, kind in table.FORTRAN[mpi]:
            text += entry_points([make(name) for make in spellings], profiling(name), name, prototype, entry, kind, handles)
    kinds = "".join("ELC_FORTRAN_HANDLE(%s, %s);\n" % (h[4:], CONVERTED[h]) for h in sorted(handles))
    return HEAD % (table.INCLUDES, kinds) + text + "\n}  // extern \"C\"\n\nvoid elc::mpi::fortran_entry_points() {}\n"


if __name__ == "__main__":
    print(generate(sys.argv[1], sys.argv[2:]), end="")
