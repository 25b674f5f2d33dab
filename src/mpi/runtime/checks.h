// What a program may have forgotten, told where it can be seen at a line: ELC_CHECK. Each thing once.
#ifndef ELC_MPI_RUNTIME_CHECKS_H
#define ELC_MPI_RUNTIME_CHECKS_H

#include "base/result.h"
#include "base/vector.h"
#include "state/state.h"

namespace elc::mpi {

struct Checks;  // Runtime::checks; nullptr without ELC_CHECK

// In MPI_Init, where the library works.
void begin_checks();
// Before the state is looked at: registered memory that is gone, for which the line fails, or on a stack that was left; random
// numbers that are drawn.
Result check_memory();
// Files that are open for writing, but for these, which the line has.
void check_files(const Vector<state::Written>& known);

}  // namespace elc::mpi

#endif
