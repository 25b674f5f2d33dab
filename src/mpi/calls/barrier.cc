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
  if (process.ignores_results() || process.logged_result(comm->slot, process.operations(comm->slot) + 1) == nullptr) {
    unsigned known = process.last_line(), newest = 0;
    // Between two groups each hears of the other one; what that has heard is the answer.
    for (int rounds = comm->is_inter() ? 2 : 1; rounds > 0; --rounds) {
      const int code = released([&] { return PMPI_Allreduce(&known, &newest, 1, MPI_UNSIGNED, MPI_MAX, handle); });
      if (code != MPI_SUCCESS) return code;
      if (newest > known) known = newest;
    }
    if (known > process.last_line()) process.request_line(known);
    if (site) site_while_waiting(nullptr);
  }
  const uint64_t number = process.start_collective(comm->slot);
  if (!process.ignores_results()) process.end_collective(comm->slot, number, Bytes());
  return MPI_SUCCESS;
}

}  // namespace elc::mpi
