// Section "mpi" of a rank file: the MPI objects of a process (FORMAT.md).
#ifndef ELC_MPI_SAVED_MPI_H
#define ELC_MPI_SAVED_MPI_H

#include "base/wire.h"
#include "mpi/communicators.h"
#include "mpi/requests.h"
#include "mpi/runtime.h"
#include "portable_format/value.h"

namespace elc::mpi {

struct SavedRequest {
  uint64_t number = 0;
  Request::Kind kind = Request::Kind::kSend;
  uint32_t uses = 1;
  // Of a receive:
  uint64_t posting = 0;
  format::PointerLeaf buffer;
  int32_t count = 0;
  uint64_t type = 0;
  line::Identity comm = 0;
};

struct SavedMpi {
  Site site = Site::kCheckpoint;
  Vector<SavedCommunicator> comms;  // the program's; those that were freed too, while a line may need them
  uint64_t request_numbers = 0;
  Vector<SavedRequest> requests;
  Bytes datatypes;  // as save_datatypes wrote them

  void encode(Encoder& out) const;
  static Status decode(Decoder& in, int processes, SavedMpi* saved);
};

// The objects of this process now; after state::save, which knows where buffers are. An error: a receive
// is pending whose buffer or datatype is not part of what can be saved.
Status save_mpi(SavedMpi* saved);

// Makes handles for the saved requests; later, when the program's memory is back, posts its receives
// again in their order.
void make_requests(const SavedMpi& saved);
void post_again(const SavedMpi& saved);

}  // namespace elc::mpi

#endif
