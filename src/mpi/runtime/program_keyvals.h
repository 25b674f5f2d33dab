// Keys of attributes of prepared programs (elc_program.h).
#ifndef ELC_MPI_RUNTIME_PROGRAM_KEYVALS_H
#define ELC_MPI_RUNTIME_PROGRAM_KEYVALS_H

namespace elc::mpi {

// At the beginning of the program.
void make_keyvals();
// MPI's, of the program's; one that is none of those is itself.
int keyval_of(int key);

}  // namespace elc::mpi

#endif
