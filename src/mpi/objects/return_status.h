// A status of the MPI at hand, and one of a message that was counted on another machine.
#ifndef ELC_MPI_OBJECTS_RETURN_STATUS_H
#define ELC_MPI_OBJECTS_RETURN_STATUS_H

#include <mpi.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/vector.h"

namespace elc::mpi {

// Bytes of a message as they count on the machine with this code (representation_code.h; 0: this one).
struct Counted {
  uint64_t bytes = 0;
  uint64_t representation = 0;
};

// The lengths that statuses have of another machine.
struct ForeignCounts {
  Vector<Counted> counts;
  HashMap<size_t> places;
  size_t next = 0;
};

// A status as MPI would give it, but for MPI_ERROR, which a call that completes one operation leaves alone. The bytes of another machine have no meaning before it is known of which type the
// message is: MPI_Get_count and MPI_Get_elements are told. `status` may be MPI_STATUS_IGNORE.
void set_status(MPI_Status* status, int source, int tag, const Counted& counted);
// Copies a status in the same way.
void give_status(MPI_Status* to, const MPI_Status& status);
// What the completion of a send tells that MPI does not have: only whether it was cancelled is defined, but a receive from
// MPI_PROC_NULL may share its handle.
void set_status_of_send(MPI_Status* status);
// A status that says "cancelled", and whether one does.
MPI_Status cancelled_status();
bool is_cancelled(const MPI_Status& status);
// What set_status was given, or what MPI has set.
Counted counted(const MPI_Status& status);

}  // namespace elc::mpi

#endif
