/* elc_frame.h - frames of functions that are described by constant data, so that entering one is a few stores and leaving it is
 * one: for tools that transform programs. By hand, ELC_ENTER and its relatives (elc.h) are simpler; a program has frames of one
 * of the two ways, or its lines are refused.
 *
 * A function has a struct on its stack that begins with an ELC_Frame. Variables are saved where they are, by an address in that
 * struct, or in members of it (slots), into which the function stores them before a label and from which a restart takes them.
 * Each label has a list of the variables that live there.
 *
 *     struct Sum { ELC_Frame frame; long *total; long n; };
 *     static const ELC_Type number = ELC_LONG, pointer = ELC_POINTER;
 *     static const ELC_Frame_variable variables[] = {{"total", &pointer, &number, 1, offsetof(struct Sum, total), 0},
 *                                                    {"n", &number, NULL, 1, offsetof(struct Sum, n), 0}};
 *     static const unsigned short all[] = {1, 2, 0}, *const live[] = {all, all};
 *     static const char *const callees[] = {NULL, "sum"};
 *     static const ELC_Frame_function sum_function = {"sum", variables, live, 2, callees, NULL};
 *
 *     void sum(long n, long *total) {
 *       struct Sum f;
 *       ELC_FRAME_ENTER(f.frame, sum_function);
 *       if (ELC_Reentering) switch (ELC_Reenter(&f.frame)) {
 *         case 1: n = f.n, total = f.total; goto at1;           a call of MPI is made again
 *         case 2: sum(0, NULL); n = f.n, total = f.total; goto behind2;      a function is entered, and goes on in its middle
 *         default: break;
 *       }
 *       f.n = n, f.total = total;
 *     at1:
 *       ELC_FRAME_SITE(f.frame, 1);
 *       MPI_Allreduce(MPI_IN_PLACE, total, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
 *       ELC_FRAME_BEHIND(f.frame);
 *       if (n > 0) {
 *         f.n = n, f.total = total;
 *         ELC_FRAME_CALL(f.frame, 2);
 *         sum(n - 1, total);
 *       behind2:
 *         ELC_FRAME_BEHIND(f.frame);
 *       }
 *       ELC_FRAME_LEAVE(f.frame);                                before every return
 *     }
 *
 * main enters its frame behind MPI_Init. All is for the thread that calls MPI. A function that is left by longjmp or an
 * exception has to leave its frame: whoever catches that sets ELC_Innermost to its own. ELC_VAR and its relatives
 * register globals, wherever they are called. Where a call has no label of its own - it is over, which ELC_FRAME_BEHIND
 * says, or it came through foreign code - lines are refused. A function may also enter its frame for each call with a label and
 * leave it behind that, if all functions that call it have labels that name it (callees): where its frame is missing, the next
 * one on the stack is that of another function, and lines are refused as well.
 *
 * The method is the thesis's flow table (libELC, 2005, section 4.2.2.2), written down when a line is taken and not before. */
#ifndef ELC_FRAME_H
#define ELC_FRAME_H

#include <stddef.h>

#include "elc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ELC_Frame_variable {
  const char *name;       /* unique among those that live at a label */
  const ELC_Type *type;   /* where the type is when a line is taken: those of structs are made at run time */
  const ELC_Type *target; /* of pointers: what they point to, if that is one scalar type; else NULL */
  size_t count;
  size_t place;           /* in the function's struct, from the frame: the variable's, or that of its address */
  int is_elsewhere;       /* 1: `place` has its address; 2: the same, of memory that was zeroed when the frame was entered */
} ELC_Frame_variable;

typedef struct ELC_Frame_function {
  const char *name;
  const ELC_Frame_variable *variables;
  const unsigned short *const *live; /* of each label, from 1: 1 + the numbers of its variables, and 0 */
  int labels;
  const char *const *callees; /* of each label, from 1: the function that is called there, which has a frame; NULL: not known */
  const int *numbers; /* of each label, from 1: what lines have for it, by which another compilation of the function knows it; NULL: itself */
} ELC_Frame_function;

typedef struct ELC_Frame {
  struct ELC_Frame *caller;
  const ELC_Frame_function *function;
  int label;   /* of the call that is going on; 0: of none */
  int is_site; /* that is one of MPI, which the library has not seen yet */
} ELC_Frame;

extern ELC_Frame *ELC_Innermost; /* NULL: there is none */
extern int ELC_Reentering;       /* 0: a run from the start, or the data of the line are back */

#define ELC_FRAME_ENTER(frame, of) \
  ((frame).caller = ELC_Innermost, (frame).function = &(of), (frame).label = (frame).is_site = 0, ELC_Innermost = &(frame))
#define ELC_FRAME_LEAVE(frame) ((void)(ELC_Innermost = (frame).caller))
#define ELC_FRAME_SITE(frame, number) ((void)((frame).label = (number), (frame).is_site = 1))
#define ELC_FRAME_CALL(frame, number) ((void)((frame).label = (number), (frame).is_site = 0))
#define ELC_FRAME_BEHIND(frame) ((void)((frame).label = (frame).is_site = 0))

/* The label from which to go on in this frame, which has just been entered, with its variables at their places; 0: from the
 * start. Of the innermost frame of the line the data are back when it returns, and so they are in all its callers. Ends the
 * program with a message if the line was taken elsewhere. */
int ELC_Reenter(ELC_Frame *frame);

#ifdef __cplusplus
}
#endif

#endif
