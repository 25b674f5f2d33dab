// The barrier: an all-reduce of the line number, so that it crosses a line only where that cannot be
// helped (PROTOCOL.md, section 6): programs order things outside MPI by it.
#include "mpi/calls/collective.h"

namespace elc::mpi {

int barrier(MPI_Comm handle) {
  const bool site = labelled_call();
  tick();
  Communicator* comm = runtime.comms.find(handle);
  if (comm == nullptr) {
    const int code = released([&] { return PMPI_Barrier(handle); });
    if (code == MPI_SUCCESS && !is_obstacle(HandleKind::kComm, handle_key(handle))) cannot_checkpoint(kUnseenCommunicator);
    return code;
  }
  line::Coordinator& process = *runtime.coordinator;
  // The operation is counted after it, so that a checkpoint as of before it can still be taken.
  if (process.logged_result(comm->slot, process.operations(comm->slot) + 1) == nullptr) {
    unsigned mine = process.last_line(), newest = 0;
    const int code = released([&] { return PMPI_Allreduce(&mine, &newest, 1, MPI_UNSIGNED, MPI_MAX, handle); });
    if (code != MPI_SUCCESS) return code;
    if (newest > mine) process.request_line(newest);
    if (site) site_while_waiting(nullptr);
  }
  process.end_collective(comm->slot, process.start_collective(comm->slot), Bytes());
  return MPI_SUCCESS;
}

}  // namespace elc::mpi
