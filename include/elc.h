/* elc.h - libELC: checkpoint and restart of running MPI programs, on any machine, under any MPI.
 *
 * C99 and C++ (the typed macros: C11, or older C, also of 1989, by GCC or clang). Link with -lelc -lz. All functions may be called by
 * one thread at a time, while no other is inside MPI. Unless said otherwise a function returns ELC_OK or ELC_ERROR; an
 * error is explained in one line on standard error and changes nothing.
 *
 * The methods are those of P. Zhao, "libELC - A Portable Library Enabling Fault Tolerance of MPI
 * Programs in Heterogeneous Environments", 2005 (the thesis below): chapter 3 for the Event
 * Logging protocol, chapter 4 for the state of a process. See elc(7) for the environment variables.
 *
 * The five lines a program needs ("restore in place"):
 *
 *     #include <elc.h>
 *     ...
 *     ELC_VAR(step);                       after MPI_Init and the allocation of its data:
 *     ELC_ARRAY(field, n);                 what is to be saved, by name and type
 *     ELC_Restore();                       once, before the loop; fills the data in a restart
 *     while (step < last) { ELC_Checkpoint(); ... }      a site: where a line may be taken
 */
#ifndef ELC_H
#define ELC_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <wchar.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ELC_OK 0
#define ELC_ERROR (-1)

/* ---- Version ------------------------------------------------------------------------------ */

/* What a program is compiled against. ELC_VERSION can be compared: 1.2.3 is 10203, and
 *     #if ELC_VERSION >= 10203
 * is true for it and for all later ones. */
#define ELC_VERSION_MAJOR 0
#define ELC_VERSION_MINOR 1
#define ELC_VERSION_PATCH 0
#define ELC_VERSION (ELC_VERSION_MAJOR * 10000 + ELC_VERSION_MINOR * 100 + ELC_VERSION_PATCH)
#define ELC_VERSION_STRING "0.1.0"

/* What it is linked with: the ELC_VERSION_STRING of that library. May be called at any time. */
const char *ELC_Version(void);

/* ---- Lines -------------------------------------------------------------------------------- */

/* What ELC_Restore found. */
#define ELC_FRESH 0     /* a run from the start */
#define ELC_RESTARTED 1 /* registered data, files and messages are those of a recovery line */

/* Restore in place. Called once by every process, after MPI_Init and after the set-up: the data
 * are registered, communicators and datatypes that every run makes are made, no message is in
 * flight. In a restart it is collective: every registered thing gets the value of the line, files
 * are rolled back, messages in transit will be received, and the program goes on from the call of
 * ELC_Checkpoint at which the line was taken (so the loop must be governed by registered data).
 * Data that do not fit the line (a name missing on either side, another type or count) are
 * an error: every process says what does not fit and the job ends; nothing was changed.
 * Returns ELC_FRESH or ELC_RESTARTED. */
int ELC_Restore(void);

/* How many elements the line that is to be restored has of a variable: between MPI_Init and ELC_Restore, for a program to
 * allocate as much. -1 in a run from the start, and where the line has no variable of this name. */
int64_t ELC_Saved_count(const char *name);

/* A site: this process takes its local checkpoint here if a line has been asked for - by the
 * interval timer, a signal, `elc`, or another process. Costs a few nanoseconds to a few hundred
 * otherwise. Never waits for other processes. Returns 1 if a local checkpoint was taken, else 0 - also
 * in re-entry, where a restart makes the call again in which the line was taken. */
int ELC_Checkpoint(void);

/* A site that also asks for a line by itself: the k-th call of each process belongs to the same
 * point of the program, and one point makes one line, whichever process comes first (the thesis's
 * ELC_DoCKPT made one for each). Returns as ELC_Checkpoint, but 1 in the call that a restart makes
 * again. */
int ELC_Checkpoint_now(void);

/* The number of the last committed line that this process knows of; 0 before the first. */
unsigned ELC_Line(void);

/* ---- Types -------------------------------------------------------------------------------- */

/* A type is a small number. Scalars are those of C; the library makes others from them. Types are
 * never destroyed. All processes of a job need not make the same types. */
typedef int32_t ELC_Type;

enum {
  ELC_NO_TYPE = 0, /* what a failed constructor returns */
  ELC_BOOL, ELC_CHAR, ELC_SCHAR, ELC_UCHAR, ELC_SHORT, ELC_USHORT, ELC_INT, ELC_UINT, ELC_LONG,
  ELC_ULONG, ELC_LLONG, ELC_ULLONG, ELC_FLOAT, ELC_DOUBLE, ELC_LDOUBLE, ELC_FLOAT_COMPLEX,
  ELC_DOUBLE_COMPLEX, ELC_LDOUBLE_COMPLEX, ELC_WCHAR, ELC_SIZE, ELC_PTRDIFF,
  ELC_INT8, ELC_UINT8, ELC_INT16, ELC_UINT16, ELC_INT32, ELC_UINT32, ELC_INT64, ELC_UINT64,
  ELC_BYTE,     /* raw memory: restored only on a machine of the same representation */
  ELC_POINTER,  /* any object pointer: into registered data, ELC_malloc'ed blocks, or NULL */
  ELC_FUNCTION, /* a function pointer: to a function named by ELC_FUNC, or NULL */
  ELC_FILE,     /* a FILE *: opened by ELC_fopen, stdin, stdout, stderr, or NULL */
  ELC_MPI_COMM, ELC_MPI_DATATYPE, ELC_MPI_REQUEST, ELC_MPI_STATUS, ELC_MPI_FILE, ELC_MPI_WIN, ELC_MPI_GROUP,
  ELC_MPI_INFO, ELC_MPI_OP, ELC_MPI_ERRHANDLER,
  ELC_MPI_AINT, /* an MPI_Aint: a number, or an address of registered data, which is in a line what a pointer is */
  ELC_FIRST_MADE_TYPE = 256 /* numbers between are for kinds to come: they are part of the file format */
};

/* A field of a struct or a member of a union: `count` consecutive elements of `type` at `offset`
 * bytes from the beginning. The name is copied. */
typedef struct ELC_Field {
  const char *name;
  size_t offset;
  ELC_Type type;
  size_t count;
} ELC_Field;

/* A struct of `size` bytes with `n` fields in ascending order of offset. What lies between fields
 * is neither saved nor restored. `name` identifies the type: making a struct of a known name again
 * returns the known type if it is the same, and is an error otherwise. Returns ELC_NO_TYPE on error.
 *     ELC_Field f[] = {ELC_FIELD(struct node, id), ELC_POINTER_FIELD(struct node, next)};
 *     node = ELC_Struct("struct node", sizeof(struct node), 2, f);
 * A struct that contains pointers to itself needs nothing special: pointers have no target type. */
ELC_Type ELC_Struct(const char *name, size_t size, int n, const ELC_Field fields[]);

/* A union of `size` bytes. `active(u, enclosing)` returns the index of the member in use, or -1 for
 * none; `u` points to the union, `enclosing` to the innermost struct that holds it (or to the union
 * itself), whose fields before the union are valid when it is asked. */
ELC_Type ELC_Union(const char *name, size_t size, int n, const ELC_Field members[],
                   int (*active)(const void *u, const void *enclosing));

/* A bit-field has no address: it is saved as a scalar of type `saved_as`, an integer or ELC_BOOL, which `get`
 * returns and `set` stores again; `of` is the struct that it is a field of. The type that this returns is for one field
 * of a struct; the field's offset does not count. A value that the bit-field of another program does not keep is
 * an error in a restart. Returns ELC_NO_TYPE on error.
 *     struct message { unsigned urgent : 1; int level : 5; double load; };
 *     ELC_BITS(message_level, struct message, level)         outside of functions: makes the two functions
 *     ELC_Field f[] = {ELC_BITS_FIELD(level, message_level, ELC_INT), ... ELC_FIELD(struct message, load)}; */
ELC_Type ELC_Accessor(ELC_Type saved_as, int64_t (*get)(const void *of), void (*set)(void *of, int64_t value));
#define ELC_BITS(name, S, f)                                                                       \
  static int64_t name##_get(const void *of) { return (int64_t)((const S *)of)->f; }                \
  static void name##_set(void *of, int64_t value) { ((S *)of)->f = value; }
#define ELC_BITS_FIELD(f, name, saved_as) {#f, 0, ELC_Accessor(saved_as, name##_get, name##_set), 1}

/* ---- Nondeterminism ---------------------------------------------------------------------------- */

/* Passes a value that would differ between two executions of the same program point (a clock, a
 * random device, an input) through the library, so that recovery can repeat it where another
 * process depends on it. `value` points to `count` scalars of `type`, overwritten in a replay;
 * ELC_ND(x) is the same for a variable x. ELC_ERROR if `type` is no scalar. */
int ELC_Nondeterministic(void *value, ELC_Type type, size_t count);

/* ---- Registered data ---------------------------------------------------------------------- */

/* Registers `count` elements of `type` at `address` under `name` (copied). Between ELC_Enter and
 * ELC_Leave the name belongs to the frame and goes with it; otherwise it is global: unique in the
 * process, valid until ELC_Unregister. Static and global variables are registered like any other.
 * Regions may not overlap. Without one that could not be registered no line is taken, until its memory is
 * registered after all, or ELC_Unregister says that the program does without it. */
int ELC_Register(const char *name, void *address, ELC_Type type, size_t count);
int ELC_Unregister(const char *name);
/* The same of an array of that many dimensions, up to 16; the last extent is that of neighbours in memory. A line that has
 * another shape is refused in a restart. */
int ELC_Register_shape(const char *name, void *address, ELC_Type type, int dimensions, const size_t extents[]);
/* `count` object pointers at `address`, of which the compiler knows that they point to scalars of type
 * `target` (ELC_NO_TYPE: it does not). Blocks from ELC_malloc that they point to, and of which nothing
 * better is known, are saved as such scalars. ELC_PTR uses it. */
int ELC_Register_pointer(const char *name, void *address, size_t count, ELC_Type target);

/* Data that change their place and size. `where` says, before a line and when registered data are looked at, where the
 * `*count` elements of the object are now; they stay there until the data of the line are written, which may be in a copy of
 * the process. 0: it has said it; else no line is taken. `room` makes room for `count` elements in a restart, in place of those of the set-up, and returns where; NULL: there is
 * no memory, and the restart ends. `restored`, if it is not NULL, is called when all values of the line are there; not 0: the
 * program can do nothing with them, and the restart ends. They may call nothing of this library, and must not throw. Where the
 * object cannot be registered no line is taken. */
typedef struct ELC_Resizing {
  int (*where)(void *object, void **address, size_t *count);
  void *(*room)(void *object, size_t count);
  int (*restored)(void *object);
} ELC_Resizing;
/* As ELC_Register, of such an object; `how` is copied. A line may have another number of elements than the program. */
int ELC_Register_resizing(const char *name, ELC_Type type, void *object, const ELC_Resizing *how);

/* The array of `*count` elements of `type` to which the pointer at `pointer` leads, and both of these: a restart frees what the
 * set-up has put there, and lets it point to memory from malloc with the elements of the line, NULL where there are none.
 * `count` is the address of an integer of `count_type`. ELC_ALLOCATED(p, n) says it of a pointer to scalars and its count,
 * which are variables; p is NULL, or comes from malloc, calloc or realloc. */
int ELC_Register_allocated(const char *name, void *pointer, ELC_Type type, void *count, ELC_Type count_type);

/* The next variable that is registered had this name when lines were taken that do not have its own: ELC_WAS("old"). "": it is
 * new, and none of those that the program no longer has. ELC_OK. */
int ELC_Was(const char *old_name);
#define ELC_WAS(old_name) ELC_Was(old_name)

/* Names a function, so that pointers to it can be saved: ELC_FUNC(compare). Before ELC_Restore. */
int ELC_Register_function(const char *name, void (*function)(void));
#define ELC_FUNC(f) ELC_Register_function(#f, (void (*)(void))(f))

/* A static variable of a function, an array of `dimensions` extents (0: a scalar), of scalars, under the name FUNCTION.NAME.
 * May be called whenever the function is, before the variable is used; does nothing but the first time. In a restart the
 * variable gets its value of the line there, if that is behind ELC_Restore. Nothing that is saved may point to it, unless the
 * set-up registers it. Where it cannot be registered no line is taken. ELC_STATIC(x) calls it. */
int ELC_Register_static(const char *function, const char *name, void *address, ELC_Type type, int dimensions,
                        const size_t extents[]);

/* The state of rand, random and drand48 (and their like) is part of lines from now on. ELC_ERROR where the C library does
 * not let it be had; no line is taken then. No other thread may draw numbers at a site. */
int ELC_Register_random(void);
#define ELC_RANDOM() ELC_Register_random()

/* ---- Re-entry: frames and labels ----------------------------------------------------------- */

/* A function that can be on the stack when a line is taken registers its frame, and a label for
 * each call that can reach a site; at restart the same calls are made again, from label to label,
 * until the program stands in the very call in which it was. Nothing between is executed.
 *
 *     void solve(double *x, int n) {
 *       int i = 0;
 *       ELC_ENTER();
 *       ELC_VAR(i); ELC_PTR(x); ELC_VAR(n);
 *       ELC_RESUME();                      jumps to the label where a restart left off
 *       for (i = 0; i < n; i++) {
 *         ELC_AT(1); MPI_Sendrecv(...);    a labelled MPI call is a site
 *         ELC_AT(2); smooth(x, n);         a function with a frame of its own
 *       }
 *       ELC_END();
 *       ELC_Leave();                       before every return
 *     }
 *
 * ELC_RESUME opens a switch and ELC_END closes it: labels are positive and unique in the function;
 * variables are declared before ELC_RESUME; break and another switch may not cross an ELC_AT.
 * MPI_Init comes before the ELC_RESUME of main. In a restart the data are back after the ELC_RESUME of the
 * innermost function. The arguments of a labelled call may not change anything (no i++).
 * A label is for the one call that follows it. ELC_Checkpoint, ELC_Checkpoint_now and functions with a frame need one of
 * their own: where a call comes after the labelled one, a line that is asked for there is refused with a message,
 * because a restart would repeat what is between the two. An MPI call without a label is no site. Other calls (of a function
 * without a frame) need no label: the next call that may have one would take it, and a restart would repeat what is before
 * that. A program is either entered again or restored in place by ELC_Restore, not both. */
int ELC_Enter(const char *function);
int ELC_Enter_function(const char *function); /* the same; the name stays where it is */
int ELC_Leave(void);
void ELC_Set_label(int label);
int ELC_Resume_label(void); /* the label to jump to in this frame; 0 in a run from the start */
#define ELC_ENTER() ELC_Enter_function(__func__)
#define ELC_RESUME() switch (ELC_Resume_label()) { case 0:
/* (if (0), so that compilers do not take the case for one that was fallen into by mistake) */
#define ELC_AT(label) if (0) { case label: ELC_Set_label(label); } else ELC_Set_label(label)
#define ELC_END() }

/* Nonzero while a restart re-enters the frames: from the start of the program until the site. */
int ELC_Recovering(void);

/* ---- Heap ---------------------------------------------------------------------------------- */

/* malloc, calloc, realloc and free for memory that is to be saved. Blocks from ELC_malloc and
 * ELC_calloc are bytes until ELC_Set_type says better; the typed forms say so at once. In a restart
 * the blocks of the line are allocated again and pointers to them are set. */
void *ELC_malloc(size_t size);
void *ELC_calloc(size_t count, size_t size);
void *ELC_realloc(void *block, size_t size);
void ELC_free(void *block);
/* `count` elements of `type`, zeroed; NULL if there is no memory. ELC_resize keeps the type. */
void *ELC_new(ELC_Type type, size_t count);
void *ELC_resize(void *block, size_t count);
/* Declares what a block from ELC_malloc holds: elements of `type`, as many as fit. */
int ELC_Set_type(void *block, ELC_Type type);

/* ---- Files --------------------------------------------------------------------------------- */

/* fopen and fclose for streams that are part of the state. Saved with name, mode, offset and, where
 * the mode allows writing, content; at restart the file is brought back to the content of the line
 * and reopened into the same variable, which is registered with ELC_FILEVAR. A regular file, or /dev/null, below the
 * directory in which the job was started or one of ELC_FILE_ROOTS: elc(7). A line flushes the streams; where that fails,
 * what the program wrote may be lost: no line is taken until the stream is closed, and ELC_fclose returns EOF.
 * One rank writes to a file; others may have it open by "w", if they have written nothing: elc.3. */
FILE *ELC_fopen(const char *path, const char *mode);
int ELC_fclose(FILE *stream);
int ELC_fcloseall(void);

/* ---- Typed registration -------------------------------------------------------------------- */

/* ELC_PTR(p): a pointer variable. ELC_FILEVAR(f): a FILE * variable (or array). ELC_STRUCT(v, type): a variable
 * (or array) of a made type. ELC_COMM, ELC_DATATYPE, ELC_REQUEST, ELC_STATUS, ELC_MPIFILE, ELC_MPIWIN,
 * ELC_GROUP, ELC_INFO, ELC_OP, ELC_ERRHANDLER: variables (or arrays) that hold MPI handles or statuses.
 * ELC_AINT: those of the type MPI_Aint, which may be what MPI_Get_address gave.
 * ELC_RAW(v): bytes. */
#define ELC_FILEVAR(f) ELC_Note_local(#f, (void *)&(f), ELC_FILE, ELC_HOW_MANY_(FILE *, f), ELC_NO_TYPE)
#define ELC_STRUCT(v, type) ELC_Note_struct(#v, (void *)&(v), (type), sizeof(v))
#define ELC_COMM(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_COMM, ELC_HOW_MANY_(MPI_Comm, v), ELC_NO_TYPE)
#define ELC_DATATYPE(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_DATATYPE, ELC_HOW_MANY_(MPI_Datatype, v), ELC_NO_TYPE)
#define ELC_REQUEST(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_REQUEST, ELC_HOW_MANY_(MPI_Request, v), ELC_NO_TYPE)
#define ELC_MPIFILE(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_FILE, ELC_HOW_MANY_(MPI_File, v), ELC_NO_TYPE)
#define ELC_MPIWIN(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_WIN, ELC_HOW_MANY_(MPI_Win, v), ELC_NO_TYPE)
#define ELC_GROUP(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_GROUP, ELC_HOW_MANY_(MPI_Group, v), ELC_NO_TYPE)
#define ELC_INFO(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_INFO, ELC_HOW_MANY_(MPI_Info, v), ELC_NO_TYPE)
#define ELC_OP(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_OP, ELC_HOW_MANY_(MPI_Op, v), ELC_NO_TYPE)
#define ELC_ERRHANDLER(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_ERRHANDLER, ELC_HOW_MANY_(MPI_Errhandler, v), ELC_NO_TYPE)
#define ELC_AINT(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_AINT, ELC_HOW_MANY_(MPI_Aint, v), ELC_NO_TYPE)
#define ELC_STATUS(v) ELC_Note_local(#v, (void *)&(v), ELC_MPI_STATUS, ELC_HOW_MANY_(MPI_Status, v), ELC_NO_TYPE)
#define ELC_RAW(v) ELC_Note_local(#v, (void *)&(v), ELC_BYTE, sizeof(v), ELC_NO_TYPE)

/* The size in bytes that an element of `type` takes in memory here; 0 for no type. */
size_t ELC_Sizeof(ELC_Type type);

#define ELC_POINTER_FIELD(S, f) {#f, offsetof(S, f), ELC_POINTER, sizeof(((S *)0)->f) / sizeof(void *)}
#define ELC_TYPED_FIELD(S, f, type) {#f, offsetof(S, f), (type), sizeof(((S *)0)->f) / ELC_Sizeof(type)}

/* ELC_VAR(x): a scalar variable or array of scalars, any number of dimensions; the type is found by
 * the compiler. ELC_ARRAY(p, n): n scalars that pointer p points to (the name is that of p); ELC_ARRAY2(p, rows, columns)
 * and ELC_ARRAY3(p, planes, rows, columns) say how they are arranged.
 * ELC_FIELD(S, f): a field of scalars. ELC_TYPE_OF(lvalue): the type of a scalar lvalue. */
#ifdef __cplusplus
}
#endif

#include "elc_typed.h"

#endif
