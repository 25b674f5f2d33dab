// A restart between MPI_Init and the site where the line was taken (protocol section 8).
#ifndef ELC_MPI_RESTART_H
#define ELC_MPI_RESTART_H

#include "base/status.h"

namespace elc::mpi {

// Collective: goes on only if `mine` is a success at every process. Otherwise the lowest rank that
// fails says why, `after` is said, and the job ends.
void agree(const Status& mine, const char* after = "nothing was changed");

}  // namespace elc::mpi

#endif
