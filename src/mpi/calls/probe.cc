// MPI standard, chapter 3.8: probes.
#include "mpi/calls/probe.h"

namespace elc::mpi {

int check(const Probe& p) {
  if (runtime.coordinator->quiet()) return MPI_SUCCESS;
  int flag;
  MPI_Status ignored;
  return PMPI_Iprobe(p.source, p.tag, p.comm->handle, &flag, &ignored);
}

namespace {

// Whether a probe with these arguments shows something now, or fails: the pending queue first, then MPI.
bool shows(Probe* p, int source, int tag) {
  const Communicator& comm = *p->comm;
  const line::Pattern pattern = pattern_of(comm, source, tag);
  const line::Message* queued = runtime.coordinator->quiet() ? nullptr : runtime.coordinator->queued(pattern);
  if (queued != nullptr) {
    if (!queued->arrived) return false;
    set_status(&p->status, comm.local(queued->source), queued->tag, {queued->content.size(), queued->representation});
    return true;
  }
  int flag = 0;
  p->code = PMPI_Iprobe(source, tag, comm.handle, &flag, &p->status);
  if (p->code != MPI_SUCCESS) return true;
  if (flag == 0) return false;
  const line::Rank from = comm.world(p->status.MPI_SOURCE);
  if (!runtime.coordinator->may_show(pattern.comm, from, p->status.MPI_TAG)) return false;
  runtime.coordinator->on_probe(pattern.comm, from, p->status.MPI_TAG);
  return true;
}

// On a communicator that is not followed, or for nobody.
int probe_unfollowed(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (!is_obstacle(HandleKind::kComm, handle_key(comm))) return PMPI_Probe(source, tag, comm, status);
  int code = MPI_SUCCESS;
  wait_until([&] {
    int flag = 0;
    code = PMPI_Iprobe(source, tag, comm, &flag, status);
    return flag != 0 || code != MPI_SUCCESS;
  });
  return code;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status* status) {
  ELC_FOLLOW(Probe, (source, tag, comm, status));
  const bool site = labelled_call();
  tick();
  Communicator* c = followed(comm, source);
  if (c != nullptr) return probe_until<Probe>(elc::line::NdKind::kProbe, {c, source, tag}, shows, status, site);
  const int code = probe_unfollowed(source, tag, comm, status);
  if (code == MPI_SUCCESS) used_unfollowed(comm, source);
  return code;
}

ELC_EXPORT int MPI_Iprobe(int source, int tag, MPI_Comm comm, int* flag, MPI_Status* status) {
  ELC_FOLLOW(Iprobe, (source, tag, comm, flag, status));
  runtime.probes = true;
  labelled_call();
  tick();
  Communicator* c = followed(comm, source);
  if (c != nullptr) return probe_once<Probe>(elc::line::NdKind::kIprobe, {c, source, tag}, shows, flag, status);
  const int code = PMPI_Iprobe(source, tag, comm, flag, status);
  if (code == MPI_SUCCESS) used_unfollowed(comm, source);
  return code;
}
