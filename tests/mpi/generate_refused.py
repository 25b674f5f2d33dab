"""A program in C that calls what libELC does not follow, for the mpi.h in use: C on the standard output. Each call that the
table says to refuse for a time, and that can be made without much around it, is a case: what makes something, and what
ends that.

    refused                 goes through all cases; behind each it takes a line; at the end process 1 kills itself
    refused stop            restarted from one of these lines, it ends with the case behind which that was taken
    refused NAME            calls this one, which refuses for ever
    refused names           shows the names of these

    python3 generate_refused.py COMPILER [ARGUMENT...]
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src", "mpi", "calls"))
import table  # noqa: E402

HEAD = r"""/* Made by generate_refused.py from table.txt and mpi.h. */
%s
#include <elc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRoom = 64 };
static int rank, ranks, left, right, step, behind, sum;
static int from[kRoom], to[kRoom], keyval, own_keyval, own_type_keyval, flag;
static MPI_Datatype type;
static MPI_Request request;
static MPI_Status status;
static MPI_Comm comm;
static MPI_Group group;
static MPI_Op op;
static MPI_Errhandler handler;

%s

static void add_up(void *a, void *b, int *n, MPI_Datatype *t) {
  (void)t;
  for (int i = 0; i < *n; i++) ((int *)b)[i] += ((int *)a)[i];
}

static void on_error(MPI_Comm *c, int *code, ...) { (void)c, (void)code; }
"""

DECLARATIONS = {"MPI_Win": "window", "MPI_File": "file", "MPI_Info": "info", "MPI_Session": "session"}
VARIABLES = dict(DECLARATIONS, MPI_Comm="comm", MPI_Request="request", MPI_Group="group", MPI_Op="op",
                 MPI_Errhandler="handler")
ENDS = {"MPI_Comm": "MPI_Comm_free(&comm);", "MPI_Win": "MPI_Win_free(&window);", "MPI_File": "MPI_File_close(&file);",
        "MPI_Session": "MPI_Session_finalize(&session);", "MPI_Group": "MPI_Group_free(&group);",
        "MPI_Op": "MPI_Op_free(&op);", "MPI_Info": "MPI_Info_free(&info);", "MPI_Errhandler": "MPI_Errhandler_free(&handler);",
        "MPI_Request": "MPI_Wait(&request, &status);"}

FREE = "MPI_Comm_free(&comm); "
# With something to read: Open MPI waits for ever for what a non-blocking call is to read of an empty file.
OPEN = ("MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file); "
        "MPI_File_write_at(file, 0, from, kRoom, MPI_INT, &status); ")
OPEN_TO_READ = OPEN + "MPI_File_close(&file); MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file); "
WINDOW = "MPI_Win_create(from, sizeof from, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window); MPI_Win_lock_all(0, window); "
WAIT = "MPI_Wait(&request, &status); "
UNLOCK = WAIT + "MPI_Win_unlock_all(window); MPI_Win_free(&window);"
PAIR = ("MPI_Start(&request); MPI_Start(&other_request); MPI_Pready(0, %s); " + WAIT + "MPI_Wait(&other_request, &status); "
        "MPI_Request_free(&request); MPI_Request_free(&other_request);")
# Cases that are more than a call with the usual arguments: (before, arguments, after[, just behind the call]). What is made
# before is gone when a line is asked for, or it is that which refuses, and is named (a name instead of what is behind).
CASES = {
    "MPI_Win_create": ("", "from, sizeof from, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &window", ""),
    "MPI_Win_allocate": ("", "64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window", ""),
    "MPI_Win_allocate_shared": ("", "64, sizeof(int), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window", ""),
    "MPI_Win_create_dynamic": ("", "MPI_INFO_NULL, MPI_COMM_WORLD, &window", ""),
    "MPI_File_open": ("", "MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file", ""),
    "MPI_File_set_errhandler": (OPEN, "file, MPI_ERRORS_RETURN", "MPI_File_close(&file);"),
    "MPI_File_seek_shared": (OPEN, "file, 0, MPI_SEEK_SET", "MPI_File_close(&file);"),
    "MPI_Psend_init": ("", "from, 1, 1, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request", PAIR % "request",
                       "MPI_Precv_init(to, 1, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &other_request);"),
    "MPI_Precv_init": ("", "to, 1, 1, MPI_INT, left, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &request", PAIR % "other_request",
                       "MPI_Psend_init(from, 1, 1, MPI_INT, right, 5, MPI_COMM_WORLD, MPI_INFO_NULL, &other_request);"),
    "MPI_Comm_idup": ("", "MPI_COMM_WORLD, &comm, &request", WAIT + FREE),
    "MPI_Comm_idup_with_info": ("", "MPI_COMM_WORLD, MPI_INFO_NULL, &comm, &request", WAIT + FREE),
    "MPI_Grequest_start": ("", "query, let_go, cancel, NULL, &request", "MPI_Grequest_complete(request); " + WAIT),
    "MPI_Rput": (WINDOW, "to, 1, MPI_INT, rank, 0, 1, MPI_INT, window, &request", UNLOCK, "MPI_Win_create"),
    "MPI_Rget": (WINDOW, "to, 1, MPI_INT, rank, 0, 1, MPI_INT, window, &request", UNLOCK, "MPI_Win_create"),
    "MPI_Raccumulate": (WINDOW, "to, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, window, &request", UNLOCK, "MPI_Win_create"),
    "MPI_Rget_accumulate": (WINDOW, "to, 1, MPI_INT, to + 1, 1, MPI_INT, rank, 0, 1, MPI_INT, MPI_SUM, window, &request",
                            UNLOCK, "MPI_Win_create"),
    "MPI_Session_init": ("", "MPI_INFO_NULL, MPI_ERRORS_RETURN, &session", ""),
    "MPI_Op_create": ("", "add_up, 1, &op", ""),
    "MPI_Info_set": ("", "own_info, \"key\", \"value\"", "MPI_Info_free(&own_info);"),
    "MPI_Comm_create_errhandler": ("", "on_error, &handler", ""),
    "MPI_Type_set_attr": ("", "MPI_INT, own_type_keyval, from", "MPI_Type_delete_attr(MPI_INT, own_type_keyval);"),
    "MPI_T_init_thread": ("", "MPI_THREAD_SINGLE, &flag", "MPI_T_finalize();"),
    "MPI_Comm_create_keyval": ("", "MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &keyval, 0", "MPI_Comm_free_keyval(&keyval);"),
    "MPI_Comm_set_attr": ("", "MPI_COMM_WORLD, own_keyval, from", "MPI_Comm_delete_attr(MPI_COMM_WORLD, own_keyval);"),
    "MPI_Comm_set_errhandler": ("MPI_Comm_create_errhandler(on_error, &handler); ", "MPI_COMM_WORLD, handler",
                                "MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);",
                                "MPI_Errhandler_free(&handler);"),
    "MPI_Buffer_attach": ("", "from, sizeof from", "MPI_Buffer_detach(&memory, &flag);"),
}
# What refuses for ever.
FOR_EVER = {
    "MPI_Type_create_f90_real": ("", "6, 30, &type", ""),
    "MPI_Type_create_f90_integer": ("", "6, &type", ""),
}
# What the callbacks of a generalized request are.
GREQUEST = """
static int query(void *state, MPI_Status *s) {
  (void)state;
  MPI_Status_set_elements(s, MPI_INT, 0);
  MPI_Status_set_cancelled(s, 0);
  s->MPI_SOURCE = s->MPI_TAG = MPI_UNDEFINED;
  return MPI_SUCCESS;
}
static int let_go(void *state) { return (void)state, MPI_SUCCESS; }
static int cancel(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }
"""


def usual(prototype):
    """Arguments of an operation on a file, from the types and names of its parameters."""
    arguments, buffers = [], ["from", "to"]
    if len([p for p in prototype.parameters if "void" in p.type]) == 1:
        buffers = ["to"]
    for p in prototype.parameters:
        kind = p.type.replace("const ", "").replace("const", "").strip()
        if kind == "void *" or kind == "void*":
            arguments.append(buffers.pop(0))
        elif kind.rstrip("* ") in VARIABLES and "*" in kind:
            arguments.append("&" + VARIABLES[kind.rstrip("* ")])
        else:
            known = {"MPI_Datatype": "MPI_INT", "int": "1", "MPI_File": "file", "MPI_Offset": "0", "MPI_Status*": "&status",
                     "MPI_Status *": "&status"}
            if kind not in known:
                return None
            arguments.append(known[kind])
    return ", ".join(arguments)


def of(prototype, before, arguments, after, behind=""):
    """A row of the program's table, and the functions in it."""
    name, named = prototype.name, prototype.name
    if behind.startswith("MPI_") and "(" not in behind:
        named, behind = behind, ""
    if not after:
        after = " ".join(ENDS[h] for h in ENDS if prototype.written(h))
    return '    {"%s", "%s", make_%s, end_%s},' % (name, named, name, name), \
        "static void make_%s(void) { %s%s(%s); %s}\nstatic void end_%s(void) { %s }\n" % (
            name, before, name, arguments, behind, name, after)


def cases(found, known):
    if any(p.points_to() == table.FILE_REQUEST for f in found.values() for p in f.parameters):
        found = {n: p for n, p in found.items() if n != "MPI_File_set_errhandler"}  # LAM's knows none of MPI's own handlers
    for name, prototype in sorted(found.items()):
        entry = known.find(name)
        if name in CASES:
            yield of(prototype, *CASES[name])
        elif entry.verb == "hinders" and not name.endswith(("_c", "_end")) and usual(prototype):
            end = "" if not prototype.written("MPI_Request") else WAIT
            behind = ""
            if name.endswith("_begin"):
                behind = "%send(file, %s, &status);" % (name[:-len("begin")], "to" if "read" in name else "from")
            yield of(prototype, OPEN_TO_READ if "read" in name else OPEN, usual(prototype), end + ENDS["MPI_File"], behind)


def generate(compiler):
    known, found = table.Table(), table.prototypes(compiler)
    declared = "\n".join("static %s %s;" % (t, v) for t, v in DECLARATIONS.items()
                         if any(p.type.rstrip("* ") == t for f in found.values() for p in f.parameters))
    if "MPI_Psend_init" in found:
        declared += "\nstatic MPI_Request other_request;"
    declared += "\nstatic MPI_Info own_info;\nstatic void *memory;\nstatic char path[4096];"
    text = HEAD % (table.INCLUDES, declared) + (GREQUEST if "MPI_Grequest_start" in found else "")
    rows, functions = [], ""
    for row, function in cases(found, known):
        rows.append(row)
        functions += function
    ever = [of(found[name], *FOR_EVER[name]) for name in FOR_EVER if name in found and known.find(name).verb == "refuses"]
    text += functions + "".join(f for _, f in ever)
    text += "\nstatic const struct { const char *name, *named; void (*make)(void); void (*end)(void); } cases[] = {\n"
    text += "\n".join(rows) + "\n}, for_ever[] = {\n" + "\n".join(r for r, _ in ever) + "\n    {NULL, NULL, NULL, NULL}};\n"
    return text + MAIN


MAIN = r"""
/* What all processes together have received up to here. */
static int answer(void) {
  int all = 0;
  MPI_Allreduce(&sum, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  return all;
}

/* A line is asked for while the thing is there, which all processes have. */
static void be_refused(void) {
  unsigned before = ELC_Line();
  MPI_Barrier(MPI_COMM_WORLD);
  cases[step].make();
  ELC_Checkpoint_now();
  MPI_Barrier(MPI_COMM_WORLD);
  if (ELC_Line() != before) {
    fprintf(stderr, "refused: a line was taken with what %s had made\n", cases[step].name);
    MPI_Abort(MPI_COMM_WORLD, 3);
  }
  cases[step].end();
  if (rank == 0) printf("refused %s by %s\n", cases[step].name, cases[step].named);
  fflush(stdout);
}

/* And when it is gone, with a message on its way. */
static void be_taken(void) {
  unsigned before = ELC_Line();
  int token = 100 * rank + step;
  MPI_Send(&token, 1, MPI_INT, right, 9, MPI_COMM_WORLD);
  behind = 1;
  ELC_Checkpoint_now();
  while (ELC_Line() == before) ELC_Checkpoint();
}

static void go_on(void) {
  int token = -1, all;
  MPI_Recv(&token, 1, MPI_INT, left, 9, MPI_COMM_WORLD, &status);
  sum += (step + 1) * token;
  behind = 0;
  all = answer();
  if (rank == 0) printf("after %s line %u answer %d\n", cases[step].name, ELC_Line(), all);
  fflush(stdout);
}

static void go_through(int stop) {
  for (; step < (int)(sizeof cases / sizeof *cases); step++) {
    if (!behind) {
      be_refused();
      be_taken();
    }
    go_on();
    if (stop) return;
  }
}

static void refuse_for_ever(const char *name) {
  for (size_t i = 0; for_ever[i].name != NULL; i++) {
    if (strcmp(for_ever[i].name, name) != 0) continue;
    for_ever[i].make();
    ELC_Checkpoint_now();
    for_ever[i].end();
    ELC_Checkpoint_now();
  }
}

int main(int argc, char **argv) {
  const char *what = argc > 1 ? argv[1] : "";
  if (strcmp(what, "names") == 0) {
    for (size_t i = 0; for_ever[i].name != NULL; i++) printf("%s\n", for_ever[i].name);
    return 0;
  }
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = (rank + ranks - 1) % ranks;
  right = (rank + 1) % ranks;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &own_keyval, 0);
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &own_type_keyval, 0);
  MPI_Info_create(&own_info);
  snprintf(path, sizeof path, "%s/file", getenv("ELC_DIR") != NULL ? getenv("ELC_DIR") : ".");
  ELC_VAR(step);
  ELC_VAR(behind);
  ELC_VAR(sum);
  ELC_Restore();
  if (strcmp(what, "") == 0 || strcmp(what, "stop") == 0) go_through(*what != '\0');
  else refuse_for_ever(what);
  if (rank == 0) printf("result: ok\n");
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (*what == '\0' && rank == 1) raise(SIGKILL);
  MPI_Finalize();
  return 0;
}
"""


if __name__ == "__main__":
    print(generate(sys.argv[1:]), end="")
