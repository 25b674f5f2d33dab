"""The wrappers of what libELC does not follow, for the mpi.h in use: C++ on the standard output.

    python3 generate_wrappers.py MPI COMPILER [ARGUMENT...]
"""

import sys

import table

HEAD = """// Made by generate_wrappers.py from table.txt and mpi.h.
%s
#include "mpi/calls/fortran.h"
#include "mpi/calls/refused.h"

using namespace elc::mpi;
"""

# MPI is also called by shared libraries, which no linker takes members from an archive for once it is past it, and by
# those of the MPI itself (its routines for Fortran): a program has all wrappers or none.
TAIL = """
namespace elc::mpi {

extern void (*const kFollowed[])();
void (*const kFollowed[])() = {
%s};

void all_wrappers() {
%s}

}  // namespace elc::mpi
"""


# What mpi.h declares and the MPI does not have.
ABSENT = {"lam": ("MPI_Win_call_errhandler", "MPI_Win_lock", "MPI_Win_test", "MPI_Win_unlock")}


def guarded(prototype, body, unless="!following()"):
    """A wrapper that, if the library does not follow, only passes on."""
    lines = ["", "ELC_EXPORT " + prototype.declaration() + " {",
             "  if (%s) return %s;" % (unless, prototype.call("P" + prototype.name))]
    return "\n".join(lines + ["  " + line for line in body] + ["}"]) + "\n"


def refuses(prototype, why):
    return guarded(prototype, ["{", '  const Entered entered("%s");' % prototype.name,
                               '  cannot_checkpoint("%s, %s");' % (prototype.name, why), "}",
                               "return " + prototype.call("P" + prototype.name) + ";"])


def of_first(prototype, kinds):
    """The first parameter, which is a handle of these kinds, or the address of one."""
    first = prototype.parameters[0]
    if first.type not in kinds:
        raise SystemExit("table.txt: the first parameter of %s is no %s" % (prototype.name, " or ".join(kinds)))
    return first.name


def surrounded(prototype, entry, call, caller, variable):
    """Statements that make the call with what surrounds it by the words of its line in the table, and return its code;
    None if that is nothing. `call`: statements that return the code; `caller`: whence the program calls; `variable`: of a
    parameter with the address of a handle, that of the program's variable."""
    before, after = [], []  # `after` only if it succeeded
    local = "_local" if entry.features & {"local", "value"} else ""
    counted = False
    if "collectively" in entry.features:
        comms = prototype.of_type("MPI_Comm")
        if not comms:
            raise SystemExit("table.txt: %s has no communicator" % prototype.name)
        before.append("Collective operation(%s);" % comms[0].name)
        counted = True
    if entry.verb in ("makes", "frees") and entry.kind is not None:
        kind = table.WITHOUT_HANDLE[entry.kind]
        number = str(list(table.WITHOUT_HANDLE).index(entry.kind))
        if entry.kind == "keyval":
            keyval = "*" + prototype.written("int")[0].name
            if entry.verb == "frees":
                before.append("const int gone = %s;" % keyval)
                keyval = "gone"
            number = keyval
        after.append(("now.makes%s(HandleKind::%s, %s);" % (local, kind, number)) if entry.verb == "makes" else
                     "remove_obstacle(HandleKind::%s, handle_key(%s));" % (kind, number))
    elif entry.verb in ("makes", "frees"):
        any_handle = False
        for handle, (kind, nulls) in table.HANDLES.items():
            for parameter in prototype.written(handle):
                any_handle = True
                if entry.verb == "makes" and handle == "MPI_Request" and "persistent" in entry.features:
                    after.append("now.makes_idle(*%s);" % parameter.name)
                elif entry.verb == "makes":
                    what = ["HandleKind::" + kind, "*" + parameter.name] + [variable(parameter)] * bool(local) + nulls
                    after.append("now.makes%s(%s);" % (local, ", ".join(what)))
                else:
                    before.append("const uint64_t gone = key_at(%s);" % parameter.name)
                    after.append("remove_obstacle(HandleKind::%s, gone, %s);" % (kind, variable(parameter)))
        if not any_handle and any(p.points_to() == table.FILE_REQUEST for p in prototype.parameters):
            return None  # the file refuses
        if not any_handle:
            raise SystemExit("table.txt: %s hands out nothing" % prototype.name)
    elif entry.kind == "buffer":
        detached = "detach" in prototype.name
        after.append("now.buffer(%s);" % ("nullptr, 0" if detached else ", ".join(p.name for p in prototype.parameters)))
    elif entry.verb == "otherwise":
        changes = "true" if "local" in entry.features else "false"
        before.append('now.uses(%s, "used by %s", %s);' % (prototype.of_type("MPI_Win")[0].name, prototype.name, changes))
    elif entry.verb == "changes":
        after.append("now.changes(HandleKind::kInfo, %s);" % of_first(prototype, ["MPI_Info"]))
    elif entry.verb == "hinders":
        after.append("now.hinders(%s);" % of_first(prototype, ["MPI_File"]))
    elif entry.verb == "attribute":
        value = [p.name for p in prototype.parameters[2:]]
        after.append("now.%s_attribute(%s, %s, %s);" %
                     ("type" if prototype.of_type("MPI_Datatype") else "comm",
                      of_first(prototype, ["MPI_Comm", "MPI_Datatype"]), prototype.parameters[1].name,
                      "true, " + value[0] if value else "false"))
    elif entry.verb == "errhandler":
        after.append("now.error_handler(%s, %s);" % (of_first(prototype, ["MPI_Comm"]), prototype.parameters[1].name))
    if entry.verb == "makes" and prototype.written("MPI_Comm") and prototype.written("MPI_Request"):
        # The communicator is there before the call is over, or nobody sees when it comes.
        made = prototype.written("MPI_Comm")[0].name
        before.append("if (%s != nullptr) *%s = MPI_COMM_NULL;" % (made, made))
        after.append('if (*%s == MPI_COMM_NULL) cannot_checkpoint("%s has not told yet what it makes");' % (made, prototype.name))
    if "paired" in entry.features:
        peers = [p for p in prototype.parameters if p.name in ("dest", "source")]
        if len(peers) != 1 or not prototype.of_type("MPI_Comm"):
            raise SystemExit("table.txt: %s has no peer" % prototype.name)
        sends = "true" if "send" in prototype.name else "false"  # some MPIs call the peer of a receive `dest`, too
        after.append("now.paired(%s, %s, %s);" % (prototype.of_type("MPI_Comm")[0].name, peers[0].name, sends))
    if "together" in entry.features:
        after.append("now.together(*%s);" % prototype.written("MPI_Comm")[0].name)
    body = ['const Entered entered("%s");' % prototype.name, "labelled_call();"]
    named = after or counted or entry.verb == "otherwise"
    body += ['const Refused now("%s", %s);' % (prototype.name, caller)] if named else []
    body += before + ["const int code = released([&] {", "  InsideMpi inside;"] + ["  " + c for c in call] + ["});"]
    if counted:
        body.append("end_counted(&operation, now, code);")
    if after:
        body += ["if (code != MPI_SUCCESS) return code;"] + after
    return body + ["return code;"]


def wrapper(prototype, entry):
    body = surrounded(prototype, entry, ["return " + prototype.call("P" + prototype.name) + ";"], "ELC_CALLER()",
                      lambda parameter: parameter.name)
    return body and guarded(prototype, body)


def large(prototype, narrow):
    """MPI_X_c by MPI_X, which is followed."""
    whole = refuses(prototype, "which libELC does not follow, was called")
    if narrow is None or len(narrow.parameters) != len(prototype.parameters):
        return whole
    body, arguments, fit = [], [], []
    comm = next((p.name for p in prototype.of_type("MPI_Comm")), None)
    names = {p.name: p for p in prototype.parameters}
    for wide, small in zip(prototype.parameters, narrow.parameters):
        if wide.type == small.type and wide.array == small.array:
            arguments.append(wide.name)
        elif wide.array and prototype.written("MPI_Request"):
            return whole  # MPI may read its arrays until the operation is over
        elif wide.array:
            of = small.type.replace("const ", "")
            of_members = "own_members(%s)" if "educe_scatter" in prototype.name else "members(%s)"
            length = next((n for n in ("count", "ndims") if n in names), of_members % comm)
            if length in names and names[length].type != "int":
                length = "static_cast<int>(%s)" % length
            significant = "true"
            if "eighbor" in prototype.name:
                length = "%s(%s)" % ("destinations" if wide.name.startswith("s") else "sources", comm)
            elif "root" in names:
                significant = "is_root(root, %s)" % comm
            elif wide.name.startswith("s") and "sendbuf" in names:
                significant = "!in_place(sendbuf)"
            body.append("Narrowed<%s> narrow_%s(%s, %s, %s);" % (of, wide.name, wide.name, length, significant))
            fit.append("narrow_%s.fit()" % wide.name)
            arguments.append("narrow_%s.data()" % wide.name)
        elif "*" not in wide.type and "*" not in small.type:
            if small.type == "int":
                fit.insert(0, "fits(%s)" % wide.name)
                arguments.append("static_cast<int>(%s)" % wide.name)
            else:  # an address
                fit.insert(0, "static_cast<%s>(%s) == %s" % (small.type, wide.name, wide.name))
                arguments.append("static_cast<%s>(%s)" % (small.type, wide.name))
        else:
            return whole
    scalars = [f for f in fit if not f.startswith("narrow_")]
    arrays = [f for f in fit if f.startswith("narrow_")]
    call = "return %s(%s);" % (narrow.name, ", ".join(arguments))
    lines = ["if (%s) {" % " && ".join(scalars)] if scalars else ["{"]
    lines += ["  " + line for line in body]
    lines += ["  %s%s" % ("if (%s) " % " && ".join(arrays) if arrays else "", call), "}"]
    lines += ['cannot_checkpoint("%s was called with a count above 2^31-1, which libELC does not follow");' %
              prototype.name, "return " + prototype.call("P" + prototype.name) + ";"]
    of_obstacle = " || is_obstacle(HandleKind::kComm, handle_key(%s))" % comm if comm else ""
    return guarded(prototype, lines, "!following()" + of_obstacle)


def hands_out(prototype):
    return [h for h in table.HANDLES if prototype.written(h)]


def generate(mpi, compiler):
    known, found = table.Table(), table.prototypes(compiler)
    text = HEAD % table.INCLUDES
    for name, prototype in sorted(found.items()):
        if name in ABSENT.get(mpi, ()):
            continue
        entry = known.find(name)
        if entry.verb in ("nothing", "through") and hands_out(prototype):
            raise SystemExit("table.txt: %s hands out %s" % (name, hands_out(prototype)))
        made = None
        if entry.verb == "large":
            made = large(prototype, found.get(name[:-2]))
        elif entry.verb == "unknown":
            made = refuses(prototype, "which libELC does not know, was called")
        elif entry.verb == "refuses":
            made = refuses(prototype, "which libELC does not follow, was called")
        elif entry.refuses:
            made = wrapper(prototype, entry)
        text += made or ""
    followed = "".join("    reinterpret_cast<void (*)()>(%s),\n" % n for n in sorted(found) if known.find(n).verb == "followed")
    fortran = "#if ELC_HAVE_WEAK\n  fortran_entry_points();\n#endif\n" if table.FORTRAN[mpi] else ""
    return text + TAIL % (followed, fortran)


if __name__ == "__main__":
    print(generate(sys.argv[1], sys.argv[2:]), end="")
