// MPI standard, chapter 3: blocking and non-blocking sends and receives.
#include "mpi/background.h"
#include "mpi/datatype.h"
#include "mpi/requests.h"
#include "mpi/runtime.h"

namespace elc::mpi {
namespace {

using SendCall = int (*)(ELC_CONST void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

// The communicator of a call that moves messages; nullptr where the call concerns nobody else
// (MPI_PROC_NULL) or the library cannot follow it.
Communicator* followed(MPI_Comm comm, int peer) {
  if (peer == MPI_PROC_NULL) return nullptr;
  Communicator* c = runtime.comms.find(comm);
  if (c == nullptr) {
    cannot_checkpoint(kOtherCommunicator);
    return nullptr;
  }
  // An argument that MPI will refuse is MPI's to report.
  if (peer != MPI_ANY_SOURCE && (peer < 0 || static_cast<size_t>(peer) >= c->members.size())) return nullptr;
  return c;
}

// Accounts for a send. true: the receiver has it already.
bool count_send(MPI_Comm comm, int to, int tag) {
  Communicator* c = followed(comm, to);
  if (c == nullptr || tag < 0) return false;
  return runtime.process->on_send(c->world(to), c->slot, tag);
}

// In a replay, until all are released, sends are finished in the background: a logged outcome may say that one was complete, and the
// receiver, whose receives may be held back, may need what this process does next to come to it.

// A blocking send as a non-blocking one that the library waits for, so that it looks meanwhile.
int send(ELC_CONST void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, SendCall call) {
  labelled_call();
  tick();
  if (count_send(comm, to, tag)) return MPI_SUCCESS;
  if (runtime.process->sends_in_background()) return send_copy(buffer, count, type, to, tag, comm);
  MPI_Request handle;
  const int code = call(buffer, count, type, to, tag, comm, &handle);
  if (code != MPI_SUCCESS) return code;
  int result = MPI_SUCCESS;
  wait_until([&] {
    int flag = 0;
    result = PMPI_Test(&handle, &flag, MPI_STATUS_IGNORE);
    return flag != 0 || result != MPI_SUCCESS;
  });
  return result;
}

int start_send(ELC_CONST void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request, SendCall call) {
  labelled_call();
  tick();
  const bool suppressed = count_send(comm, to, tag);
  if (suppressed || runtime.process->sends_in_background()) {
    const int code = suppressed ? MPI_SUCCESS : send_copy(buffer, count, type, to, tag, comm);
    if (code != MPI_SUCCESS) return code;
    Request* r = requests.make_send();
    r->placeholder = true;
    *request = Requests::placeholder();
    requests.bind(r, *request);
    return MPI_SUCCESS;
  }
  const int code = call(buffer, count, type, to, tag, comm, request);
  if (code == MPI_SUCCESS) requests.add_send(*request);
  return code;
}

void fill(Receive* r, void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag) {
  r->buffer = buffer;
  r->count = count;
  r->type = type;
  r->comm = comm;
  r->posting.pattern = pattern_of(*comm, source, tag);
}

// Waits for a receive that only the library knows, and observes it. In a labelled call the place is
// a site as long as nothing has been observed.
int finish(Receive* r, MPI_Status* status, bool site) {
  wait_until([&] {
    if (receive_complete(*r)) return true;
    if (site) site_while_waiting(&r->posting);
    return false;
  });
  return observe_receive(*r, status);
}

int receive(void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag, MPI_Status* status,
            bool site) {
  Receive r;
  fill(&r, buffer, count, type, comm, source, tag);
  const int code = start_receive(r);
  return code != MPI_SUCCESS ? code : finish(&r, status, site);
}

int start_request(void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag,
                  MPI_Request* request) {
  Request* r = requests.make_receive();
  fill(&r->receive, buffer, count, type, comm, source, tag);
  const int code = start_receive(r->receive);
  if (code != MPI_SUCCESS) return code;
  r->type_number = retain(type);
  r->placeholder = r->receive.handle == MPI_REQUEST_NULL;
  *request = r->placeholder ? Requests::placeholder() : r->receive.handle;
  requests.bind(r, *request);
  return MPI_SUCCESS;
}

int send_and_receive(ELC_CONST void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                     MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status* status) {
  Communicator* c = followed(comm, from);
  Receive r;
  if (c != nullptr) {
    fill(&r, in, in_count, in_type, c, from, in_tag);
    const int code = start_receive(r);
    if (code != MPI_SUCCESS) return code;
  } else {
    const int code = PMPI_Irecv(in, in_count, in_type, from, in_tag, comm, &r.handle);
    if (code != MPI_SUCCESS) return code;
  }
  MPI_Request sent = MPI_REQUEST_NULL;
  if (!count_send(comm, to, out_tag)) {
    const int code = runtime.process->sends_in_background()
                         ? send_copy(out, out_count, out_type, to, out_tag, comm)
                         : PMPI_Isend(out, out_count, out_type, to, out_tag, comm, &sent);
    if (code != MPI_SUCCESS) return code;
  }
  wait_until([&] {
    int flag = 1;
    if (sent != MPI_REQUEST_NULL) PMPI_Test(&sent, &flag, MPI_STATUS_IGNORE);
    return flag != 0;
  });
  if (c != nullptr) return finish(&r, status, false);
  return PMPI_Wait(&r.handle, status);
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

#define ELC_SEND_ARGUMENTS ELC_CONST void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm

ELC_EXPORT int MPI_Send(ELC_SEND_ARGUMENTS) {
  if (!following()) return PMPI_Send(buffer, count, type, to, tag, comm);
  return send(buffer, count, type, to, tag, comm, PMPI_Isend);
}

ELC_EXPORT int MPI_Ssend(ELC_SEND_ARGUMENTS) {
  if (!following()) return PMPI_Ssend(buffer, count, type, to, tag, comm);
  return send(buffer, count, type, to, tag, comm, PMPI_Issend);
}

// A ready send is executed as a standard send: its receive may have been answered from the queue.
ELC_EXPORT int MPI_Rsend(ELC_SEND_ARGUMENTS) {
  if (!following()) return PMPI_Rsend(buffer, count, type, to, tag, comm);
  return send(buffer, count, type, to, tag, comm, PMPI_Isend);
}

ELC_EXPORT int MPI_Bsend(ELC_SEND_ARGUMENTS) {
  if (!following()) return PMPI_Bsend(buffer, count, type, to, tag, comm);
  return send(buffer, count, type, to, tag, comm, PMPI_Ibsend);
}

ELC_EXPORT int MPI_Isend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  if (!following()) return PMPI_Isend(buffer, count, type, to, tag, comm, request);
  return start_send(buffer, count, type, to, tag, comm, request, PMPI_Isend);
}

ELC_EXPORT int MPI_Issend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  if (!following()) return PMPI_Issend(buffer, count, type, to, tag, comm, request);
  return start_send(buffer, count, type, to, tag, comm, request, PMPI_Issend);
}

ELC_EXPORT int MPI_Irsend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  if (!following()) return PMPI_Irsend(buffer, count, type, to, tag, comm, request);
  return start_send(buffer, count, type, to, tag, comm, request, PMPI_Isend);
}

ELC_EXPORT int MPI_Ibsend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  if (!following()) return PMPI_Ibsend(buffer, count, type, to, tag, comm, request);
  return start_send(buffer, count, type, to, tag, comm, request, PMPI_Ibsend);
}

ELC_EXPORT int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  if (!following()) return PMPI_Recv(buffer, count, type, source, tag, comm, status);
  const bool site = labelled_call();
  tick();
  Communicator* c = followed(comm, source);
  if (c == nullptr) return PMPI_Recv(buffer, count, type, source, tag, comm, status);
  return receive(buffer, count, type, c, source, tag, status, site);
}

ELC_EXPORT int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  if (!following()) return PMPI_Irecv(buffer, count, type, source, tag, comm, request);
  labelled_call();
  tick();
  Communicator* c = followed(comm, source);
  if (c != nullptr) return start_request(buffer, count, type, c, source, tag, request);
  const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, request);
  if (code == MPI_SUCCESS) requests.add_send(*request);  // from MPI_PROC_NULL: complete, nothing is counted
  return code;
}

ELC_EXPORT int MPI_Sendrecv(ELC_CONST void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                            int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                            MPI_Status* status) {
  if (!runtime.active)
    return PMPI_Sendrecv(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
  labelled_call();
  tick();
  return send_and_receive(out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status);
}

ELC_EXPORT int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from,
                                    int in_tag, MPI_Comm comm, MPI_Status* status) {
  if (!runtime.active)
    return PMPI_Sendrecv_replace(buffer, count, type, to, out_tag, from, in_tag, comm, status);
  labelled_call();
  tick();
  int room = 0, size = 0;
  PMPI_Pack_size(count, type, comm, &room);
  elc::Bytes packed;
  packed.resize(static_cast<size_t>(room));
  const int code = PMPI_Pack(buffer, count, type, packed.data(), room, &size, comm);
  if (code != MPI_SUCCESS) return code;
  return send_and_receive(packed.data(), size, MPI_PACKED, to, out_tag, buffer, count, type, from, in_tag, comm, status);
}
