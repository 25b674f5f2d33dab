#include "mpi/requests.h"

#include "base/message.h"
#include "mpi/datatype.h"
#include "mpi/runtime.h"

namespace elc::mpi {

Requests requests;

Request* Requests::fresh() {
  Request* r;
  if (pool_.empty()) {
    r = make<Request>();
  } else {
    r = pool_.back();
    pool_.pop_back();
    *r = Request();
  }
  r->number = ++numbers_;
  return r;
}

void Requests::add_send(MPI_Request handle) {
  if (handle == MPI_REQUEST_NULL) return;
  Request*& r = by_handle_.at(handle_key(handle));
  if (r != nullptr) {
    ++r->uses;
    return;
  }
  r = fresh();
}

Request* Requests::make_receive() {
  Request* r = fresh();
  r->kind = Request::Kind::kReceive;
  return r;
}

void Requests::release(Request* request, MPI_Request handle) {
  if (--request->uses > 0) return;
  by_handle_.remove(handle_key(handle));
  if (request->placeholder) PMPI_Request_free(&handle);
  if (request->kind == Request::Kind::kReceive) elc::mpi::release(request->type_number);
  pool_.push_back(request);
}

MPI_Request Requests::placeholder() {
  MPI_Request handle = MPI_REQUEST_NULL;
  PMPI_Recv_init(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self, &handle);
  return handle;
}

bool Requests::find_handle(uint64_t number, MPI_Request* handle) {
  bool found = false;
  each([&](MPI_Request candidate, Request& r) {
    if (r.number != number) return;
    *handle = candidate;
    found = true;
  });
  return found;
}

// ---- Receives ----

line::Pattern pattern_of(const Communicator& comm, int source, int tag) {
  return {comm.slot, source == MPI_ANY_SOURCE ? line::kAnySource : comm.world(source),
          tag == MPI_ANY_TAG ? line::kAnyTag : tag};
}

int give_to_mpi(Receive& r) {
  const line::Posting& p = r.posting;
  const line::Rank source = p.bound ? p.bound_source : p.pattern.source;
  const line::Tag tag = p.bound ? p.bound_tag : p.pattern.tag;
  const int from = source == line::kAnySource ? MPI_ANY_SOURCE : r.comm->local(source);
  const int with = tag == line::kAnyTag ? MPI_ANY_TAG : tag;
#if ELC_HAVE_REQUEST_GET_STATUS
  return PMPI_Irecv(r.buffer, r.count, r.type, from, with, r.comm->handle, &r.handle);
#else
  // A started persistent receive can be looked at without losing its handle.
  const int code = PMPI_Recv_init(r.buffer, r.count, r.type, from, with, r.comm->handle, &r.handle);
  return code != MPI_SUCCESS ? code : PMPI_Start(&r.handle);
#endif
}

int start_receive(Receive& r) { return runtime.process->post(r.posting) ? give_to_mpi(r) : MPI_SUCCESS; }

bool complete_in_mpi(Receive& r) {
  if (r.done) return true;
  if (r.handle == MPI_REQUEST_NULL) return false;
  int flag = 0;
#if ELC_HAVE_REQUEST_GET_STATUS
  PMPI_Request_get_status(r.handle, &flag, &r.status);
#else
  PMPI_Test(&r.handle, &flag, &r.status);
  r.done = flag != 0;
#endif
  return flag != 0;
}

bool receive_complete(Receive& r) {
  switch (r.posting.state) {
    case line::Posting::State::kQueued: return r.posting.message->arrived;
    case line::Posting::State::kHeld: return false;
    case line::Posting::State::kStarted: break;
  }
  if (r.done) return true;
  int flag = 0;
  PMPI_Test(&r.handle, &flag, &r.status);
  r.done = flag != 0;
  return r.done;
}

int observe_receive(Receive& r, MPI_Status* status) {
#if !ELC_HAVE_REQUEST_GET_STATUS
  if (r.posting.state == line::Posting::State::kStarted && r.handle != MPI_REQUEST_NULL) PMPI_Request_free(&r.handle);
#endif
  if (r.posting.state == line::Posting::State::kQueued) {
    line::Message* m = r.posting.message;
    runtime.process->observe(r.posting, m->source, m->tag);
    Unpacked unpacked;
    const Status failure =
        unpack(m->content.data(), m->content.size(), m->representation, r.buffer, r.count, r.type, &unpacked);
    set_status(&r.status, r.comm->local(m->source), m->tag, {unpacked.size, 0});
    if (!failure.ok())  // no error code of MPI: the program would go on with half of a message
      give_up(Status::error("the message from rank %d with tag %d that was in transit cannot be received here: %s; the "
                            "line is as it was", m->source, m->tag, failure.message()));
    line::let_go(m);
    r.posting.message = nullptr;
    if (status != MPI_STATUS_IGNORE) *status = r.status;
    return unpacked.truncated ? call_error_handler(*r.comm, MPI_ERR_TRUNCATE) : MPI_SUCCESS;
  }
  if (status != MPI_STATUS_IGNORE) *status = r.status;
  int cancelled = 0;
  if (r.cancelled) PMPI_Test_cancelled(&r.status, &cancelled);
  if (cancelled != 0) runtime.process->withdraw(r.posting);
  else runtime.process->observe(r.posting, r.comm->world(r.status.MPI_SOURCE), r.status.MPI_TAG);
  return MPI_SUCCESS;
}

int call_error_handler(const Communicator& comm, int code) {
#if ELC_HAVE_COMM_CALL_ERRHANDLER
  PMPI_Comm_call_errhandler(comm.handle, code);
#else
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  PMPI_Errhandler_get(comm.handle, &handler);
  if (handler == MPI_ERRORS_ARE_FATAL) PMPI_Abort(comm.handle, code);
#endif
  return code;
}

}  // namespace elc::mpi
