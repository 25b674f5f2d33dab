// The MPI objects of a process for section "mpi" of its rank file, and from it.
#ifndef ELC_MPI_RUNTIME_SAVED_MPI_H
#define ELC_MPI_RUNTIME_SAVED_MPI_H

#include "line/saved.h"
#include "mpi/serial/section.h"

namespace elc::mpi {

// The objects of this process now; after state::save, which knows where buffers are. An error: a receive
// or collective operation is pending whose buffer or datatype is not part of what can be saved.
Result save_mpi(SavedMpi* saved);

// What the set-up has made, for section "setup".
void save_set_up(SavedSetUp* saved);
// Whether what the set-up of this run has made is what it made in the run of the line, where the program has no handles in
// registered variables. To be called before anything else is made; what the line has counts from now on.
Result check_set_up(SavedSetUp saved);

// An error: a receive or a collective operation that the program has a handle of is not among those that were pending at
// the line.
Result fits(const SavedMpi& saved, const line::Saved& line);

// Makes handles for the saved requests; later, when the program's memory is back, puts the results of its collective
// operations there, which are complete then, and posts its receives again in their order.
Result make_requests(const SavedMpi& saved);
Result complete_collectives(const SavedMpi& saved, const line::Saved& line);
void post_again(const SavedMpi& saved);

}  // namespace elc::mpi

#endif
