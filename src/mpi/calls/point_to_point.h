// What the wrappers of point-to-point communication share.
#ifndef ELC_MPI_CALLS_POINT_TO_POINT_H
#define ELC_MPI_CALLS_POINT_TO_POINT_H

#include "mpi/objects/requests.h"

namespace elc::mpi {

// Whether its completion tells of a receive.
inline bool is_synchronous(const MessageArguments& arguments) { return arguments.send == PMPI_Issend && arguments.peer != MPI_PROC_NULL; }

// Starts a send, and accounts for it. An MPI error code: then nothing has happened. `request` is MPI_REQUEST_NULL if
// nothing is left to wait for, because it is suppressed or goes on in the background: then `copy`, of a synchronous one,
// is what is_received asks for, or 0. nullptr: nobody asks.
int start_send(const MessageArguments& arguments, MPI_Request* request, uint64_t* copy = nullptr);

// Waits for a receive that only the library knows, and observes it. An MPI error code. In a labelled call the place is a
// site as long as nothing has been observed.
int finish_receive(Receive* receive, MPI_Status* status, bool site);

}  // namespace elc::mpi

#endif
