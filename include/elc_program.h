/* elc_program.h - programs that a tool has prepared as a whole (elc-cc(1)): what their main calls first, and what takes the place
 * of some functions of the C library and of MPI in them. Functions are described by elc_frame.h. Nothing of this is for programs
 * that are written by hand.
 *
 * A module is what a source file has at file scope. Its types are made before its variables are registered, by a function of it;
 * a variable that is constant is known by its place alone, so that pointers to it can be saved: a restart writes nothing there.
 *
 * MPI is initialised at the beginning of main, so that a restart has it before it enters the program's functions again; the
 * program's own call, wherever it is, has nothing left to do. */
#ifndef ELC_PROGRAM_H
#define ELC_PROGRAM_H

#include <stdarg.h>
#include <stddef.h>

#include "elc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ELC_Program_variable {
  const char *name;       /* unique in the program */
  void *address;
  const ELC_Type *type;
  const ELC_Type *target; /* of pointers: what they point to, if that is one scalar type; else NULL */
  size_t count;
  int is_constant;
} ELC_Program_variable;

/* What the program gives a function to. */
enum {
  ELC_PROGRAM_OPERATION = 1,    /* MPI_Op_create */
  ELC_PROGRAM_ERROR_HANDLER = 2 /* MPI_Comm_create_errhandler, or MPI_Errhandler_create */
};

typedef struct ELC_Program_function { /* whose address is taken */
  const char *name; /* in frames, too; unique in the program */
  void (*function)(void);
  int given_to;
} ELC_Program_function;

typedef struct ELC_Program_module {
  void (*make_types)(void);
  const ELC_Program_variable *variables;
  size_t variable_count;
  const ELC_Program_function *functions;
  size_t function_count;
} ELC_Program_module;

/* Functions of <fenv.h>, which are in a library that the archive is not linked with: fegetround, fesetround, fetestexcept,
 * feclearexcept and feraiseexcept; and fegetexcept, feenableexcept and fedisableexcept, or NULL where there are none. All are NULL in a
 * program that calls none of them. And what reads and sets MXCSR, the register of x86 processors (SSE), in a program that does so itself;
 * else NULL. */
typedef struct ELC_Program_rounding {
  int (*get)(void), (*set)(int), (*test)(int), (*clear)(int), (*raise)(int), (*enabled)(void), (*enable)(int), (*disable)(int);
  unsigned (*control)(void);
  void (*set_control)(unsigned to);
} ELC_Program_rounding;

/* A constant of MPI, or the size of a type, that the program may keep in variables: where it is another number no restart goes on. */
typedef struct ELC_Program_number {
  const char *name;
  const char *place; /* in the program: where it is named, or the function called that gives it */
  int value;
  int is_kept; /* 0: not before one of those below gives it */
  const char *functions; /* by name, with blanks between: in the variables of these alone, while they are on the stack; NULL: anywhere */
} ELC_Program_number;

typedef struct ELC_Program {
  const ELC_Program_module *const *modules; /* NULL among them: one that is not part of this executable */
  size_t module_count;
  int thread_level;  /* that the program asks MPI for; -1: it calls MPI_Init */
  int draws_numbers; /* it calls rand, random, drand48 or the like, whose state is part of lines */
  int reads_input;   /* the standard one */
  int reads_clocks;  /* other than the calendar's */
  int makes_keyvals; /* keys of attributes of communicators */
  int uses_library;  /* it calls something of what stands below under "what the C library keeps" */
  int aligns;        /* it asks for memory that is aligned; more than 1: it rounds addresses to multiples of so many bytes */
  int aligns_large;  /* the same in what has as many; 0: it does not */
  int apart;         /* so many bytes before a block of memory a pointer may lead */
  const ELC_Program_rounding *rounding; /* NULL: it does not set or ask how numbers are rounded, or for exceptions of theirs */
  int (*in_parallel)(void); /* whether it is called by one thread of several. They may call malloc and its relatives and ask for the time, and
                             * call nothing else of this. NULL: there is one thread */
  void (*settings)(int is_restart); /* called when its variables are registered (0), and when a restart has those of the line (1) */
  const ELC_Program_number *numbers;
  size_t number_count;
  const char *executable, *executable_end; /* in memory; NULL: the linker does not say where that is */
  int has_foreign_addresses; /* in pointers, of other processes: they came with other data, and the program does not follow them */
  int has_long_doubles; /* 0: no struct of its own has one */
  int makes_pointers; /* of numbers, which it may keep there */
  int probes; /* it looks for messages, or at requests, without waiting for each, or gives up to wait */
} ELC_Program;

/* Initialises MPI, registers what the modules have, and returns a copy of argv that lines have. What cannot be registered is told,
 * and no lines are taken. The program has no word of libELC: in a program that registers by itself nothing is defined. */
char **ELC_Program_begin(const ELC_Program *program, int argc, char **argv);

/* Before main(), as a constructor: the stack may become larger. Functions that were written anew have a place for each variable of
 * blocks that follow each other, and copies of initial values. */
void ELC_Program_stack(void);

/* Before constructors of the program that make memory: types may be made, also those that hold handles of MPI. */
void ELC_Program_types(void);

/* In the place of MPI_Init, MPI_Init_thread, MPI_Initialized and MPI_Wtime. */
int ELC_Program_init(int *argc, char ***argv);
int ELC_Program_init_thread(int *argc, char ***argv, int required, int *provided);
int ELC_Program_initialized(int *flag);
double ELC_Program_wtime(void);

/* MPI_Get_address and MPI_Address. Datatypes that are made with the distance of two blocks of memory are seen by them. */
int ELC_Program_get_address(const void *location, void *address);

/* rename: what a line has of a file goes with its name. */
int ELC_Program_rename(const char *from, const char *to);
int ELC_Program_truncate(const char *path, long long length); /* the same of what it has */
int ELC_Program_remove(const char *path); /* in a restart: whether or not the run that was given up has done it */
int ELC_Program_unlink(const char *path);
int ELC_Program_rmdir(const char *path);
int ELC_Program_mkdir(const char *path, unsigned int mode); /* the same of making a directory */
/* The program asks for what the name leads to (access, stat). In a restart the job ends if it is not what it was in the line. Returns the name. */
const char *ELC_Program_asks_of(const char *path);
const char *ELC_Program_opens(const char *path); /* the same of open(), of what has to be there */

/* Those that MPI has itself; pointers to them are in lines, as are those to what it says of a window. */
#define ELC_PROGRAM_ATTRIBUTES 8
extern int ELC_Program_attributes[ELC_PROGRAM_ATTRIBUTES];

/* MPI_Buffer_attach and MPI_Buffer_detach. MPI gets memory of the library's, of the same size, so that what it writes there is in no line,
 * and a restart gives it such memory again. What the program has given is in lines as two variables. */
extern void *ELC_Program_buffer; /* NULL: none */
extern int ELC_Program_buffer_size;
int ELC_Program_buffer_attach(void *buffer, int size);
int ELC_Program_buffer_detach(void *buffer, int *size);

/* MPI_Op_create and MPI_Op_free; MPI_Comm_create_errhandler or MPI_Errhandler_create, and MPI_Errhandler_free. What is made of
 * functions that the modules name has been made by ELC_Program_begin, as by a set-up; the program gets these. */
int ELC_Program_op_create(void (*function)(void), int commute, void *op);
int ELC_Program_op_free(void *op);
int ELC_Program_errhandler_create(void (*function)(void), void *handler);
int ELC_Program_errhandler_free(void *handler);

/* Keys of attributes of communicators: so many have been made by ELC_Program_begin, as by a set-up, with functions that call the
 * program's, and the program gets numbers of its own for them. A line has of each the program's function that copies (NULL: nobody
 * copies), the one that deletes (NULL: none) and their extra state; whether it has not been freed, whether values are copied as they
 * are, and how many attributes it has.
 * In the place of MPI_Comm_create_keyval and MPI_Keyval_create, MPI_Comm_free_keyval, MPI_Comm_set_attr, MPI_Comm_delete_attr and
 * those that MPI-1 has for them; ELC_Program_get_attr knows the numbers, too. elc-cc declares them as MPI has them. */
#define ELC_PROGRAM_KEYVALS 32
extern void *ELC_Program_keyval_pointers[ELC_PROGRAM_KEYVALS][3];
extern int ELC_Program_keyval_numbers[ELC_PROGRAM_KEYVALS][3];

/* MPI_Win_allocate, by malloc and MPI_Win_create; MPI_Win_free; what is said of windows in MPI_Win_get_attr is in memory that lines have.
 * The memory of windows is a list of pairs: the next one, and the memory. */
extern void *ELC_Program_windows;

/* MPI_Alloc_mem and MPI_Free_mem, by malloc; MPI_Cart_shift and MPI_Group_translate_ranks, which give MPI_PROC_NULL, as the
 * number that the program has for it. elc-cc declares them as MPI has them. */

/* What a conversion says of the memory at `block`: that it holds elements of `type`. Sets the type of a block from ELC_malloc that
 * has none; does nothing where there is no block. One whose size is no multiple of the type's remains bytes, unless
 * that is by its alignment. With ELC_PROGRAM_OPEN added to the type, that of a struct which ends with more than it says, it is one
 * element, and bytes behind it. With ELC_PROGRAM_NUMBERS, of pointers, it was a pointer to numbers that was converted, and the memory may
 * have those yet: where a line finds what is no pointer there, it is bytes. Returns `block`. */
#define ELC_PROGRAM_OPEN 0x40000000
#define ELC_PROGRAM_NUMBERS 0x10000000
void *ELC_Program_as(void *block, ELC_Type type);

/* The same of memory to which pointers at `block` lead, and to which those there lead: it holds pointers, and behind so many of them, with
 * those at `block`, elements of `type`. Only if a block of these is the last that was made. */
void *ELC_Program_as_rows(void *block, int levels, ELC_Type type);

/* Where MPI's handles are integers, what equals one among bytes and other numbers may be one, and lines with such are refused: of most
 * programs only if handles may come there. They may when ELC_Program_mixes_handles() was called, as a module does that lets one leave its
 * type, in its make_types, with the place, and `anywhere` if its bytes may go to places where no integer lies; and from when on memory is said
 * to be of a type with ELC_PROGRAM_HANDLES added, as all are that mention handles, and is not of that type then, or is found to be of it no
 * more: the variable says so, which lines have. */
#define ELC_PROGRAM_HANDLES 0x20000000
void ELC_Program_mixes_handles(const char *where, int anywhere);

/* A variable is in a section that the program goes through: no restart goes on where those of the section lie in another order. Each once, by
 * make_types. */
void ELC_Program_in_section(const char *section, const char *name, const void *address);
extern int ELC_Program_mixed_handles;

/* What is behind one element of such a struct are elements of `tail`, as its last member is an array of these: pointers there are
 * found. */
void ELC_Program_tail(ELC_Type type, ELC_Type tail);

/* The program has moved a pointer back by a distance that it computes, from `from` to `to`, which it returns: `to` may lead to before the
 * memory that it is of, or into other memory. A line has it as so many elements before that. _on: only if `from` is such a pointer, or behind `to`.
 * _here: for a variable of this function, whose value nobody else gets; so is _on, unless `function` is NULL. */
void *ELC_Program_moved(void *from, void *to);
void *ELC_Program_moved_on(void *from, void *to, const struct ELC_Frame_function *function);
void *ELC_Program_moved_here(void *from, void *to, const struct ELC_Frame_function *function);
extern int ELC_Program_moves; /* 0: there is no such pointer */

/* The function of the frame that a restart enters next, for a call by a pointer, which is not back yet. */
void (*ELC_Program_target(void))(void);

/* malloc and its relatives, with memory that is zeroed: what a line has of it is the program's. */
void *ELC_Program_malloc(size_t size);
void *ELC_Program_calloc(size_t count, size_t size);
void *ELC_Program_realloc(void *block, size_t size);
void ELC_Program_free(void *block);

/* posix_memalign, aligned_alloc and memalign, with memory that is zeroed. If they align by more than malloc does, its size is a multiple
 * of the alignment, and so tells a restart how to align it. */
int ELC_Program_posix_memalign(void **block, size_t alignment, size_t size);
void *ELC_Program_aligned_alloc(size_t alignment, size_t size);
void *ELC_Program_mm_malloc(size_t size, size_t alignment); /* _mm_malloc, of <xmmintrin.h> */
void *ELC_Program_valloc(size_t size); /* and pvalloc */
size_t ELC_Program_usable_size(void *block); /* malloc_usable_size: no more than was asked for, which a restart has again */

/* mmap, munmap and mremap. Memory that nobody else has (MAP_PRIVATE and MAP_ANONYMOUS) is as that of aligned_alloc; while there is other,
 * lines are refused. */
void *ELC_Program_mmap(void *address, size_t size, int protection, int flags, int descriptor, long long offset);
int ELC_Program_munmap(void *address, size_t size);
void *ELC_Program_mremap(void *before, size_t old_size, size_t size, int flags, ...);

/* The memory of an array of variable length, in the place of what it had before: elements of `element` bytes, as many as the product of
 * the extents. `extents` NULL: none any more. The program ends where there is no memory. */
void *ELC_Program_array(void *before, int dimensions, const size_t *extents, size_t element, ELC_Type type);

/* alloca, in a function that can be on the stack when a line is taken: it has a variable that is NULL at first, and gives that back
 * when it ends. The program ends where there is no memory. */
void *(*ELC_Program_alloca(void **of_function))(size_t size);
void ELC_Program_leave(void **of_function);

/* Of the C library, with results that lines have. That of getenv and of what follows it is a copy, which is made once. `from` is
 * a FILE *. */
char *ELC_Program_strdup(const char *text);
char *ELC_Program_strndup(const char *text, size_t most);
long ELC_Program_getline(char **line, size_t *size, void *from);
long ELC_Program_getdelim(char **line, size_t *size, int end, void *from);
int ELC_Program_asprintf(char **to, const char *format, ...);
int ELC_Program_vasprintf(char **to, const char *format, va_list values);
int ELC_Program_chdir(const char *path); /* lines have the directory; it has to be one below which a restart may touch files */
char *ELC_Program_getcwd(char *to, size_t size);
char *ELC_Program_get_current_dir_name(void);
char *ELC_Program_realpath(const char *path, char *to);
void *ELC_Program_reallocarray(void *old, size_t count, size_t size);
char *ELC_Program_getenv(const char *name);
char *ELC_Program_text(const char *text); /* such a copy of a text of the C library's */
char **ELC_Program_environment(void); /* in the place of environ: a copy of it, another one when it has changed */
char *ELC_Program_strerror(int error);
char *ELC_Program_dirname(char *path);
char *ELC_Program_basename(char *path); /* that of <libgen.h> */
char *ELC_Program_strsignal(int number);
char *ELC_Program_getlogin(void);
void *ELC_Program_getpwuid(unsigned user); /* a struct passwd * */
void *ELC_Program_getpwnam(const char *name);

/* What the C library keeps between calls: lines have it, and a restart sets it again. The memory of results is the program's. */
char *ELC_Program_strtok(char *text, const char *separators);
void *ELC_Program_localtime(const void *at); /* a struct tm *, of a time_t * */
void *ELC_Program_gmtime(const void *at);
int ELC_Program_getopt(int count, char *const *words, const char *options); /* they go on in a restart where they were */
int ELC_Program_getopt_long(int count, char *const *words, const char *options, const void *all, int *which); /* of struct option */
int ELC_Program_getopt_long_only(int count, char *const *words, const char *options, const void *all, int *which);
char *ELC_Program_asctime(const void *time);
char *ELC_Program_ctime(const void *at);
void *ELC_Program_localtime_r(const void *at, void *to); /* the names of zones are copies, as getenv's are */
void *ELC_Program_gmtime_r(const void *at, void *to);
long ELC_Program_mktime(void *time);
long ELC_Program_timegm(void *time);
char *ELC_Program_strptime(const char *text, const char *format, void *to);
char *ELC_Program_strerror_r(int error, char *to, size_t size); /* that of the GNU C library, with the text in `to` */
char *ELC_Program_setlocale(int category, const char *name);
int ELC_Program_atexit(void (*function)(void));
void *ELC_Program_signal(int number, void *handler);
int ELC_Program_sigaction(int number, const void *to, void *before);
int ELC_Program_setenv(const char *name, const char *value, int overwrite);
int ELC_Program_unsetenv(const char *name);
int ELC_Program_putenv(char *variable); /* its memory is the program's */
int ELC_Program_sigprocmask(int how, const void *to, void *before); /* and pthread_sigmask; sigset_t * */
/* The program calls a function that lines are not for: from now on there are none. The text, which stays, is told: "name() (place): why". */
void ELC_Program_unfit(const char *what);
/* A pointer of which a number is made: that is for no line, too, unless it is a number itself, which is the same in a restart. */
void *ELC_Program_number_of(const volatile void *pointer, const char *what);
/* 32 bits are read there, on a machine whose addresses have 64: that is for no line if they are half of one. Addresses are not below the
 * lowest, which is known when the program has begun. */
void ELC_Program_half_at(const volatile void *at, const char *what);
extern unsigned long ELC_Program_lowest;
/* Of places where pointers become integers, of which numbers are made later: whether one of them was no number itself, but an address. */
#define ELC_PROGRAM_SOURCES 256
extern unsigned char ELC_Program_sources[ELC_PROGRAM_SOURCES];
/* Of a word of a union in which there may be a pointer or a number: what looks like an address is saved as one, but for the numbers that the
 * program has noted; all else as bytes. */
ELC_Type ELC_Program_word(void);
/* The program has put `size` bytes there, in such a union, that are no pointer: those of whole words that may be taken for addresses are
 * noted. */
void ELC_Program_number_in_union(const void *number, size_t size);
#define ELC_PROGRAM_NOTED 1024                             /* a power of two */
extern unsigned long ELC_Program_noted[ELC_PROGRAM_NOTED]; /* of those: at the upper 10 bits of 0x9e3779b97f4a7c15 times the number */
/* How far one pointer is behind another, in bytes. That is for no line if one of them leads to a block of the heap, and the other one
 * elsewhere; where there is nothing, below all memory, is before all in a restart, too. */
long long ELC_Program_order(const volatile void *a, const volatile void *b, const char *what);
/* pthread_create, pthread_join and pthread_detach, of pthread_t, as what they are; no line is taken while there are threads so made. */
int ELC_Program_thread_create(void *thread, const void *attributes, void *(*function)(void *), void *given);
int ELC_Program_thread_join(unsigned long thread, void **value);
int ELC_Program_thread_detach(unsigned long thread);
int ELC_Program_in_thread(void); /* whether it is called by another thread than ELC_Program_begin() was */
/* The program has opened a file by a function whose files lines do not have: none is taken while it is open. They return the first
 * argument: a descriptor, a FILE *, a DIR *. */
int ELC_Program_opened(int descriptor, const char *what);
void *ELC_Program_opened_stream(void *stream, const char *what);
void *ELC_Program_opened_directory(void *directory, const char *what);
/* The same of what functions of the C library make in memory of their own, as regcomp: around the argument that says where, around
 * the call (not 0: it has made nothing), and around the argument of the function that frees it. They return their first argument. */
void *ELC_Program_makes(void *object, const char *what);
int ELC_Program_made(int code);
void *ELC_Program_frees(void *object);
/* A descriptor, to which something is done that lines do not have: unfit, as above, unless the program has opened it itself so. */
int ELC_Program_used(int descriptor, const char *what);
void *ELC_Program_freopen(const char *path, const char *mode, void *stream); /* standard streams, too, are streams of lines then */
int ELC_Program_fclose(void *stream); /* the standard ones for output go nowhere then, after a restart as well */
int ELC_Program_fileno(void *stream); /* from now on something may be written to it that the stream does not know */
int ELC_Program_ungetc(int character, void *stream);
int ELC_Program_setvbuf(void *stream, char *buffer, int mode, size_t size);
void ELC_Program_setbuf(void *stream, char *buffer);
void ELC_Program_setbuffer(void *stream, char *buffer, size_t size);
void ELC_Program_setlinebuf(void *stream);

/* time, clock, gettimeofday, clock_gettime and timespec_get, as ELC_Nondeterministic has them repeated; those that
 * threads ask for are not, and no line is taken whose messages they may cross; `of` and `to` are those of the C library. Clocks that are
 * not the calendar's go on after a restart from where the line was taken. */
long ELC_Program_time(void *to);
/* So are the result of a function that has looked outside of the program, and the `seen` bytes that it has put to `at` (NULL: none); and
 * whether a file is there. */
int ELC_Program_outside(int result, void *at, size_t seen);
void *ELC_Program_fopen(const char *path, const char *mode);
long ELC_Program_clock(void);
long ELC_Program_times(void *to);
int ELC_Program_getrusage(int of, void *to);
int ELC_Program_gettimeofday(void *to, void *zone);
int ELC_Program_clock_gettime(int clock, void *to);
int ELC_Program_timespec_get(void *to, int base);
int ELC_Program_clock_nanosleep(int clock, int flags, const void *until, void *rest); /* until that clock says so which the program reads */
/* The numbers of the process and others are in restarts what the program was told first. */
int ELC_Program_getpid(void);
int ELC_Program_getppid(void);
int ELC_Program_getpgrp(void);
int ELC_Program_process(int told); /* of such a number, or of that of a group, which is negative: what it is for the system */
/* The program keeps the number of a stream's descriptor: while it is open no line is taken. Returns that. */
int ELC_Program_keeps_number(int descriptor, void *stream, const char *what);

#ifdef __cplusplus
}
#endif

#endif
