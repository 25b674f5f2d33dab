// MPI standard, chapters 3.7 to 3.9: what is done to requests besides completing them.
#include "mpi/runtime/outcome.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

// Frees a request that the library does not follow. If its operation is over, it is completed instead, which leaves a
// persistent one to be freed.
int free_unfollowed(MPI_Request* request) {
  const uint64_t key = handle_key(*request);
  if (!is_obstacle(HandleKind::kRequest, key)) return PMPI_Request_free(request);
  int over = runtime.obstacles.idle(key) ? 1 : 0;
  int code = over != 0 ? MPI_SUCCESS : PMPI_Test(request, &over, MPI_STATUS_IGNORE);
  if (*request != MPI_REQUEST_NULL) code = PMPI_Request_free(request);
  if (*request != MPI_REQUEST_NULL) return code;
  remove_obstacle(HandleKind::kRequest, key);
  if (over == 0) cannot_checkpoint("MPI_Request_free was called for an operation that was under way and that libELC does not follow");
  return code;
}

// The last operation of the request. While one is under way it is an error, which MPI may tell.
int free_collective(Request* record, MPI_Request* request) {
  const CollectiveArguments& a = *record->persistent->collective;
  if (record->active && !collective_complete(*record)) {
    cannot_checkpoint("MPI_Request_free was called for a persistent collective operation that was under way");
    if (record->collective != nullptr) record->collective->end(MPI_ERR_REQUEST);
  }
  if (a.made != 0) {
    runtime.coordinator->end_collective(a.slot, runtime.coordinator->start_collective(a.slot), Bytes());
    runtime.coordinator->free_comm(a.slot);
  }
  runtime.requests->release(record, *request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

int cancel(Request* record, MPI_Request request) {
  Receive& r = record->receive;
  if (record->is_persistent_collective()) {  // an error, which MPI may tell
    MPI_Request in_mpi = record->persistent->collective->request;
    const int code = PMPI_Cancel(&in_mpi);
    if (code == MPI_SUCCESS) cannot_checkpoint("MPI_Cancel was called for a persistent collective operation");
    return code;
  }
  record->usual = false;
  const bool accounted = record->active && record->kind == Request::Kind::kReceive && r.comm != nullptr && !r.matched;
  if (accounted && !r.done) {
    const line::Fate fate = runtime.coordinator->cancel(r.posting);
    if (fate == line::Fate::kReceived) return MPI_SUCCESS;
    if (fate == line::Fate::kWithdrawn) {
      r.comm = nullptr;
      r.posting = line::Posting();
      r.status = cancelled_status();
      r.done = true;
      return MPI_SUCCESS;
    }
  }
  // What the library has received or sent by itself is not cancelled: it completes as usual.
  MPI_Request in_mpi = record->in_mpi(request);
  if (in_mpi == MPI_REQUEST_NULL) return record->active ? MPI_SUCCESS : PMPI_Cancel(&in_mpi);
  const int code = PMPI_Cancel(&in_mpi);
  if (code != MPI_SUCCESS) return code;
  r.cancelled = true;
  if (record->kind == Request::Kind::kSend) runtime.requests->hinder(record, request, "MPI_Cancel");
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

// The operation goes on without the program's handle. A receive is completed by the library, at no moment that a replay
// could find again.
ELC_EXPORT int MPI_Request_free(MPI_Request* request) {
  if (!following()) return PMPI_Request_free(request);
  const Entered entered("MPI_Request_free");
  labelled_call();
  Request* record = runtime.requests->find(*request);
  if (record == nullptr) return free_unfollowed(request);
  const MPI_Request handle = *request;
  if (record->is_persistent_collective()) return free_collective(record, request);
  if (record->kind == Request::Kind::kCollective) {  // an error, which MPI may tell
    const int code = PMPI_Request_free(request);
    if (code != MPI_SUCCESS) return code;
    record->collective->end(MPI_ERR_REQUEST);
    runtime.requests->release(record, handle);
    return code;
  }
  *request = MPI_REQUEST_NULL;
  const Receive& r = record->receive;
  if (record->active && record->kind == Request::Kind::kReceive && r.comm != nullptr) {
    spoil_replay("MPI_Request_free was called for a receive");
    runtime.requests->abandon(record, handle);
    return MPI_SUCCESS;
  }
  if (record->active && r.cancelled) cannot_checkpoint("MPI_Request_free was called for a send after MPI_Cancel");
  MPI_Request in_mpi = record->in_mpi(handle);
  runtime.requests->release(record, handle);
  return in_mpi == MPI_REQUEST_NULL ? MPI_SUCCESS : PMPI_Request_free(&in_mpi);
}

ELC_EXPORT int MPI_Cancel(MPI_Request* request) {
  if (!following()) return PMPI_Cancel(request);
  const Entered entered("MPI_Cancel");
  runtime.probes = true;
  labelled_call();
  Request* record = runtime.requests->find(*request);
  return record == nullptr ? PMPI_Cancel(request) : cancel(record, *request);
}

#if ELC_HAVE_REQUEST_GET_STATUS
namespace {

// Looks at a request without completing it.
int look_at(Request& record, MPI_Request request, int* flag, MPI_Status* status) {
  if (record.is_persistent_collective()) {
    *flag = collective_complete(record) ? 1 : 0;
    if (*flag != 0) set_status_of_send(status);
    return record.receive.code;
  }
  const MPI_Request in_mpi = record.in_mpi(request);
  if (in_mpi != MPI_REQUEST_NULL) return PMPI_Request_get_status(in_mpi, flag, status);
  Receive& r = record.receive;
  const bool receive = record.kind == Request::Kind::kReceive;
  *flag = (receive ? receive_complete(r) : is_received(record.copy)) ? 1 : 0;
  if (*flag == 0) return MPI_SUCCESS;
  const elc::line::Message* m = r.posting.message;
  if (!receive) set_status_of_send(status);
  else if (m == nullptr) give_status(status, r.status);
  else set_status(status, r.comm->local(m->source), m->tag, {m->content.size(), m->representation});
  return MPI_SUCCESS;
}

}  // namespace

ELC_EXPORT int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (!following()) return PMPI_Request_get_status(request, flag, status);
  const Entered entered("MPI_Request_get_status");
  runtime.probes = true;
  labelled_call();
  tick();
  Request* record = runtime.requests->find(request);
  if (record == nullptr) return PMPI_Request_get_status(request, flag, status);
  if (!record->active) return PMPI_Request_get_status(MPI_REQUEST_NULL, flag, status);
  int code = MPI_SUCCESS;
  Outcome outcome(elc::line::NdKind::kTest);
  const auto looked = [&] {
    code = look_at(*record, request, flag, status);
    return *flag != 0 || code != MPI_SUCCESS;
  };
  if (outcome.replayed()) *flag = outcome.at(0) != 0 && outcome.repeat(looked) ? 1 : 0;
  if (!outcome.replayed()) {
    looked();
    outcome.add(*flag);
  }
  outcome.record();
  // The program knows now what a line would have as not received yet.
  if (*flag != 0 && record->receive.comm != nullptr) runtime.requests->hinder(record, request, "MPI_Request_get_status");
  return code;
}
#endif
