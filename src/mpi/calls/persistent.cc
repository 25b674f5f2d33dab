// MPI standard, chapters 3.9 and 6.13: persistent requests. The program's handle of one for messages is that of a request of MPI
// that is never started; a start is the library's own way of a non-blocking call with the same arguments. So a restart needs
// those arguments alone.
//
// One for a collective operation is MPI's own, which MPI starts, and which a restart makes again by the same call. Several may be
// started in another order by each member, so nothing else could take their place. To the protocol each is a communicator of
// its own, with the members of the one on which it was made; its starts, and its end, are operations there (PROTOCOL.md, section
// 6).
#include "mpi/calls/collective.h"
#include "mpi/calls/point_to_point.h"
#include "mpi/datatype/datatype.h"
#include "mpi/runtime/runtime.h"
#include "state/state.h"

namespace elc::mpi {
namespace {

// MPI has made the request, and looked at its arguments.
int init(const MessageArguments& arguments, MPI_Request request, const char* call) {
  Request* r = arguments.send != nullptr ? runtime.requests->make_send() : runtime.requests->make_receive();
  r->placeholder = true;
  r->active = false;
  const line::Identity made_on = runtime.comms.identity_of(arguments.comm);
  r->persistent = make<Persistent>(arguments, made_on);
  r->type_number = retain(arguments.type);
  runtime.requests->bind(r, request);
  if (in_setup()) runtime.requests->add_to_set_up(r);
  else if (made_on == kNullIdentity) runtime.requests->hinder(r, request, call);
  used_unfollowed(arguments.comm, arguments.peer);
  return MPI_SUCCESS;
}

int start_receive_of(const MessageArguments& a, Receive* r) {
  Communicator* c = followed(a.comm, a.peer);
  if (c == nullptr) return PMPI_Irecv(a.buffer, a.count, a.type, a.peer, a.tag, a.comm, &r->handle);
  fill(r, a.buffer, a.count, a.type, c, a.peer, a.tag);
  return start_receive(*r);
}

int start_collective(Request* r, MPI_Request request) {
  const CollectiveArguments& a = *r->persistent->collective;
  const bool followed = a.made != 0;
  const uint64_t number = followed ? runtime.coordinator->start_collective(a.slot) : 0;
  const Bytes* logged = followed && !runtime.coordinator->ignores_results() ? runtime.coordinator->logged_result(a.slot, number) : nullptr;
  r->receive = Receive();
  if (logged != nullptr) {
    repeat_collective(a.slot, number, a.writes.all(), *logged);
    r->receive.done = r->active = true;
    return MPI_SUCCESS;
  }
  MPI_Request handle = a.request;
  const int code = PMPI_Start(&handle);
  if (code != MPI_SUCCESS) {
    if (followed) end_failed_collective(a.slot, number);
    return code;
  }
  r->receive.handle = handle;
  r->active = true;
  if (!followed) {
    runtime.requests->hinder(r, request, "MPI_Start");
    return code;
  }
  runtime.coordinator->pending_collective(a.slot, number);
  Vector<Region> writes;
  writes.append(a.writes.all().data(), a.writes.all().size());
  runtime.requests->begin_collective(r, a.slot, number, std::move(writes));
  return code;
}

int start(MPI_Request* request) {
  Request* r = runtime.requests->find(*request);
  if (r == nullptr) {
    runtime.obstacles.set_idle(handle_key(*request), false);
    return PMPI_Start(request);
  }
  if (r->persistent == nullptr || r->active) {  // MPI says what it thinks of it
    MPI_Request none = MPI_REQUEST_NULL;
    return PMPI_Start(&none);
  }
  if (r->is_persistent_collective()) return start_collective(r, *request);
  if (runtime.comms.identity_of(r->persistent->comm) != r->persistent->made_on) {  // freed; MPI has kept it for this request
    if (r->persistent->made_again)
      give_up(Result::error("a persistent request that the restart has made again was started after its communicator had been freed, "
                            "which MPI has not kept for it: free the communicator later, or restart from an older line"));
    cannot_checkpoint("a persistent request was started after its communicator had been freed");
    runtime.requests->leave_to_mpi(r, *request);
    return start(request);
  }
  r->receive = Receive();
  const MessageArguments& a = *r->persistent;
  r->copy = 0;
  r->synchronous = is_synchronous(a);
  const int code = a.send != nullptr ? start_send(a, &r->receive.handle, &r->copy) : start_receive_of(a, &r->receive);
  if (code != MPI_SUCCESS) return code;
  if (r->persistent->made_on == kNullIdentity) runtime.requests->hinder(r, *request, "MPI_Start");
  r->receive.done = a.send != nullptr && r->receive.handle == MPI_REQUEST_NULL;
  r->active = true;
  return MPI_SUCCESS;
}

}  // namespace

void made_persistent(const char* name, MPI_Comm comm, CollectiveArguments* kept) {
  Request* r = runtime.requests->make_collective(kept, comm, kept->comm);
  runtime.requests->bind(r, kept->request);
  if (in_setup()) runtime.requests->add_to_set_up(r);
  else if (kept->made == 0) runtime.requests->hinder(r, kept->request, name);
}

}  // namespace elc::mpi

using namespace elc::mpi;

#define ELC_SEND_INIT(NAME, CALL)                                                                              \
  ELC_EXPORT int MPI_##NAME(ELC_CONST void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, \
                            MPI_Request* request) {                                                            \
    const int code = PMPI_##NAME(buffer, count, type, to, tag, comm, request);                                 \
    if (!counting() || code != MPI_SUCCESS) return code;                                                       \
    const Entered entered("MPI_" #NAME);                                                                       \
    elc::state::take_label();  /* no site: MPI has made the request */                                         \
    return init({const_cast<void*>(buffer), count, type, to, tag, comm, CALL}, *request, "MPI_" #NAME);        \
  }

ELC_SEND_INIT(Send_init, PMPI_Isend)
ELC_SEND_INIT(Bsend_init, PMPI_Ibsend)
ELC_SEND_INIT(Ssend_init, PMPI_Issend)
ELC_SEND_INIT(Rsend_init, PMPI_Isend)  // see MPI_Rsend

ELC_EXPORT int MPI_Recv_init(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                             MPI_Request* request) {
  const int code = PMPI_Recv_init(buffer, count, type, source, tag, comm, request);
  if (!counting() || code != MPI_SUCCESS) return code;
  const Entered entered("MPI_Recv_init");
  elc::state::take_label();
  return init({buffer, count, type, source, tag, comm, nullptr}, *request, "MPI_Recv_init");
}

ELC_EXPORT int MPI_Start(MPI_Request* request) {
  if (!following()) return PMPI_Start(request);
  const Entered entered("MPI_Start");
  labelled_call();
  tick();
  return start(request);
}

ELC_EXPORT int MPI_Startall(int count, MPI_Request* array) {
  if (!following() || count < 0 || (count > 0 && array == nullptr)) return PMPI_Startall(count, array);
  const Entered entered("MPI_Startall");
  labelled_call();
  tick();
  for (int i = 0; i < count; ++i) {
    const int code = start(&array[i]);
    if (code != MPI_SUCCESS) return code;
  }
  return MPI_SUCCESS;
}
