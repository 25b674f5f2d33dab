// MPI standard, chapter 3.9: persistent requests. The program's handle is that of a request of MPI that is never started; a
// start is the library's own way of a non-blocking call with the same arguments. So a restart needs those arguments alone.
#include "mpi/calls/point_to_point.h"
#include "mpi/datatype/datatype.h"
#include "mpi/runtime/runtime.h"
#include "state/state.h"

namespace elc::mpi {
namespace {

// MPI has made the request, and looked at its arguments.
int init(const MessageArguments& arguments, MPI_Request request, const char* call) {
  Request* r = arguments.send != nullptr ? runtime.requests.make_send() : runtime.requests.make_receive();
  r->placeholder = true;
  r->active = false;
  const line::Identity made_on = runtime.comms.identity_of(arguments.comm);
  r->persistent = make<Persistent>(arguments, made_on);
  r->type_number = retain(arguments.type);
  runtime.requests.bind(r, request);
  if (in_setup()) runtime.requests.add_to_set_up(r);
  else if (made_on == kNullIdentity) runtime.requests.hinder(r, request, call);
  used_unfollowed(arguments.comm, arguments.peer);
  return MPI_SUCCESS;
}

int start_receive_of(const MessageArguments& a, Receive* r) {
  Communicator* c = followed(a.comm, a.peer);
  if (c == nullptr) return PMPI_Irecv(a.buffer, a.count, a.type, a.peer, a.tag, a.comm, &r->handle);
  fill(r, a.buffer, a.count, a.type, c, a.peer, a.tag);
  return start_receive(*r);
}

int start(MPI_Request* request) {
  Request* r = runtime.requests.find(*request);
  if (r == nullptr) {
    runtime.obstacles.set_idle(handle_key(*request), false);
    return PMPI_Start(request);
  }
  if (r->persistent == nullptr || r->active) {  // MPI says what it thinks of it
    MPI_Request none = MPI_REQUEST_NULL;
    return PMPI_Start(&none);
  }
  if (runtime.comms.identity_of(r->persistent->comm) != r->persistent->made_on) {  // freed; MPI has kept it for this request
    cannot_checkpoint("a persistent request was started after its communicator had been freed");
    runtime.requests.leave_to_mpi(r, *request);
    return start(request);
  }
  r->receive = Receive();
  const MessageArguments& a = *r->persistent;
  const int code = a.send != nullptr ? start_send(a, &r->receive.handle) : start_receive_of(a, &r->receive);
  if (code != MPI_SUCCESS) return code;
  if (r->persistent->made_on == kNullIdentity) runtime.requests.hinder(r, *request, "MPI_Start");
  r->receive.done = a.send != nullptr && r->receive.handle == MPI_REQUEST_NULL;
  r->active = true;
  return MPI_SUCCESS;
}

}  // namespace
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
