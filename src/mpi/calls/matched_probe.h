// Messages that a matched probe has taken (MPI standard, 3.8.2), until they are received.
#ifndef ELC_MPI_CALLS_MATCHED_PROBE_H
#define ELC_MPI_CALLS_MATCHED_PROBE_H

#include <mpi.h>

#include "base/hash_map.h"
#include "line/types.h"
#include "mpi/objects/communicators.h"

namespace elc::mpi {

struct MatchedMessage {
  Communicator* comm;
  line::Message* queued;  // from the pending queue; nullptr: MPI has it
  line::Message* log;     // of one that MPI has: what a line wants the content of, or nullptr
  MPI_Request sent;       // of the empty message that stands for one from the queue
};

// By the handle that the program has.
using MatchedMessages = HashMap<MatchedMessage>;

}  // namespace elc::mpi

#endif
