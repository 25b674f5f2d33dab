// A restart between MPI_Init and the site where the line was taken (PROTOCOL.md, section 8).
#ifndef ELC_MPI_RUNTIME_RESTART_H
#define ELC_MPI_RUNTIME_RESTART_H

#include "base/result.h"

namespace elc::mpi {

// Collective: goes on only if `mine` is a success at every process. Otherwise the lowest rank that
// fails says why, `after` is said, and the job ends.
void agree(const Result& mine, const char* after = "nothing was changed");

}  // namespace elc::mpi

#endif
