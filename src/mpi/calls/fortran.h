// What the generated entry points for Fortran are made of (generate_fortran.py). What they call of the MPI's library for
// Fortran need not be there: a program in C that no part in Fortran is linked with has it not.
//
// Most call the function in C, as it is for C programs (fortran_arguments.h). What follows is for the others.
//
// An argument of a Fortran routine is an address, or behind all others the length of a string; a descriptor of an array is
// passed by its address, too. So all are words of a pointer's size, and are passed on without a look at them. Where a
// routine has fewer than it is called with here (lengths that a compiler does not pass), the others are
// whatever lies in registers or on the stack, and nobody looks at them either: the one who calls takes them off.
#ifndef ELC_MPI_CALLS_FORTRAN_H
#define ELC_MPI_CALLS_FORTRAN_H

#include "base/compiler.h"
#include "mpi/runtime/inside.h"

#if !ELC_HAVE_WEAK
#define ELC_WEAK
#endif

namespace elc::mpi {

using Word = void*;

// Does nothing: whoever calls it is linked with the entry points.
void fortran_entry_points();

// MPI was called in a way that the library does not follow; `what`: a literal.
void called_from_fortran(const char* what);
// The same for a call that a restart makes again, if the set-up makes it.
void called_after_set_up(const char* what);
// A routine of MPI that calls the function in C, of whatever it has made of its arguments: has it?
bool begin_way_by_c();
void end_way_by_c(bool followed, const char* what);
// The program calls a routine that its MPI does not have: only this archive let it be linked.
[[noreturn]] void missing_in_fortran();

template <class... Words>
bool is_there(void (*routine)(Words...)) {
  return routine != nullptr;
}

// `routine`: that of the profiling interface.
template <class... Words>
void pass_on(void (*routine)(Words...), Words... words) {
  if (!is_there(routine)) missing_in_fortran();
  InsideMpi inside;
  routine(words...);
}

template <class... Words>
void notice(const char* what, void (*routine)(Words...), Words... words) {
  called_from_fortran(what);
  pass_on(routine, words...);
}

template <class... Words>
void notice_after_set_up(const char* what, void (*routine)(Words...), Words... words) {
  called_after_set_up(what);
  pass_on(routine, words...);
}

template <class... Words>
void by_way_of_c(const char* what, void (*routine)(Words...), Words... words) {
  const bool followed = begin_way_by_c();
  pass_on(routine, words...);
  end_way_by_c(followed, what);
}

}  // namespace elc::mpi

#endif
