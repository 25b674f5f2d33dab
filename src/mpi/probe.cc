// MPI standard, chapter 3.8: probes.
#include "mpi/outcome.h"
#include "mpi/requests.h"
#include "mpi/runtime.h"

namespace elc::mpi {
namespace {

// What a probe with these arguments shows now: the pending queue first, then MPI.
bool shows(const Communicator& comm, int source, int tag, MPI_Status* status) {
  const line::Pattern pattern = pattern_of(comm, source, tag);
  const line::Message* queued = runtime.process->quiet() ? nullptr : runtime.process->queued(pattern);
  if (queued != nullptr) {
    if (!queued->arrived) return false;
    set_status(status, comm.local(queued->source), queued->tag,
               {queued->content.size(), queued->representation});
    return true;
  }
  int flag = 0;
  PMPI_Iprobe(source, tag, comm.handle, &flag, status);
  if (flag == 0) return false;
  const line::Rank from = comm.world(status->MPI_SOURCE);
  if (!runtime.process->may_show(pattern.comm, from, status->MPI_TAG)) return false;
  runtime.process->on_probe(pattern.comm, from, status->MPI_TAG);
  return true;
}

void wait_for(const Communicator& comm, int source, int tag, MPI_Status* status, bool site) {
  wait_until([&] {
    if (shows(comm, source, tag, status)) return true;
    if (site) site_while_waiting(nullptr);
    return false;
  });
}

// Outcomes name ranks of the world, which every MPI has.
int probe(const Communicator& comm, int source, int tag, MPI_Status* status, bool site) {
  MPI_Status shown = {};
  Outcome outcome(line::NdKind::kProbe);
  const auto again = [&] { return shows(comm, comm.local(outcome.at(0)), outcome.at(1), &shown); };
  if (!outcome.replayed() || !outcome.repeat(again)) {
    wait_for(comm, source, tag, &shown, site);
    outcome.add(comm.world(shown.MPI_SOURCE));
    outcome.add(shown.MPI_TAG);
  }
  outcome.record();
  if (status != MPI_STATUS_IGNORE) *status = shown;
  return MPI_SUCCESS;
}

int iprobe(const Communicator& comm, int source, int tag, int* flag, MPI_Status* status) {
  MPI_Status shown = {};
  Outcome outcome(line::NdKind::kIprobe);
  const auto again = [&] { return shows(comm, comm.local(outcome.at(1)), outcome.at(2), &shown); };
  if (outcome.replayed()) *flag = outcome.at(0) != 0 && outcome.repeat(again) ? 1 : 0;
  if (!outcome.replayed()) {
    *flag = shows(comm, source, tag, &shown) ? 1 : 0;
    outcome.add(*flag);
    outcome.add(*flag != 0 ? comm.world(shown.MPI_SOURCE) : 0);
    outcome.add(*flag != 0 ? shown.MPI_TAG : 0);
  }
  outcome.record();
  if (*flag != 0 && status != MPI_STATUS_IGNORE) *status = shown;
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!following()) return PMPI_Probe(source, tag, comm, status);
  const bool site = labelled_call();
  tick();
  const Communicator* c = source == MPI_PROC_NULL ? nullptr : runtime.comms.find(comm);
  return c == nullptr ? PMPI_Probe(source, tag, comm, status) : probe(*c, source, tag, status, site);
}

ELC_EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  if (!following()) return PMPI_Iprobe(source, tag, comm, flag, status);
  labelled_call();
  tick();
  const Communicator* c = source == MPI_PROC_NULL ? nullptr : runtime.comms.find(comm);
  if (c == nullptr) return PMPI_Iprobe(source, tag, comm, flag, status);
  return iprobe(*c, source, tag, flag, status);
}
