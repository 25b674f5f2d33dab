// Sends that the library finishes by itself, from copies of their data: control messages, and the program's
// sends in a replay.
#ifndef ELC_MPI_OBJECTS_BACKGROUND_H
#define ELC_MPI_OBJECTS_BACKGROUND_H

#include <mpi.h>

#include "base/wire.h"

namespace elc::mpi {

// One that MPI has not sent yet.
struct Outgoing {
  MPI_Request handle = MPI_REQUEST_NULL;
  Bytes bytes;
  uint64_t copy = 0;  // of a synchronous one its number
};

// Bytes as MPI is to be told of them: where they are too many for a count, as one element of a datatype that lives as
// long as this. `type`: MPI_BYTE or MPI_PACKED.
class Bulk {
 public:
  Bulk(size_t bytes, MPI_Datatype type);
  ~Bulk();
  Bulk(const Bulk&) = delete;
  Bulk& operator=(const Bulk&) = delete;

  int count() const { return count_; }
  MPI_Datatype type() const { return type_; }

 private:
  int count_;
  MPI_Datatype type_;
  bool made_ = false;
};

// The elements of a program's send without gaps, as elements of MPI_PACKED. An MPI error code. Without memory for them, also
// when those that MPI has sent are forgotten, the job ends: the program's send may not wait for its receive.
int pack_send(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm, Bytes* packed);

// Sends `bytes`, all of them, as `bytes.size()` elements of `type` (MPI_BYTE or MPI_PACKED). An MPI error code. `copy`: it is
// sent synchronously, under this number; nullptr: it is not.
int send_in_background(Bytes bytes, MPI_Datatype type, int to, int tag, MPI_Comm comm, uint64_t* copy = nullptr);
// The same for the arguments of a program's send.
int send_copy(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, uint64_t* copy);
// Whether the receive of the synchronous send of this number has begun; also of 0.
bool is_received(uint64_t copy);

// Forgets those that MPI has sent; true if none is left.
bool sweep_background();

}  // namespace elc::mpi

#endif
