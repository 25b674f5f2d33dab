// MPI handles and statuses in the program's variables, as numbers in a file and back.
#ifndef ELC_MPI_OBJECTS_HANDLES_H
#define ELC_MPI_OBJECTS_HANDLES_H

#include "state/state.h"

namespace elc::mpi {

// Communicators by their identity, datatypes and requests by the library's own numbers; 0 is the null
// handle, the two of section.h what is none.
state::HandleCodec handle_codec();

// A rank or a tag of a call or a status, as format::StatusLeaf has it.
int32_t saved_rank(int rank);
int32_t saved_tag(int tag);
int rank_of(int32_t saved);
int tag_of(int32_t saved);

}  // namespace elc::mpi

#endif
