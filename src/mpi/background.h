// Sends that the library finishes by itself, from copies of their data: control messages, and the program's
// sends in a replay.
#ifndef ELC_MPI_BACKGROUND_H
#define ELC_MPI_BACKGROUND_H

#include <mpi.h>

#include "base/wire.h"

namespace elc::mpi {

// Sends `bytes`, all of them, as `bytes.size()` elements of `type` (MPI_BYTE or MPI_PACKED). An MPI error code.
int send_in_background(Bytes bytes, MPI_Datatype type, int to, int tag, MPI_Comm comm);
// The same for the arguments of a program's send.
int send_copy(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm);

// Forgets those that MPI has sent; true if none is left.
bool sweep_background();

}  // namespace elc::mpi

#endif
