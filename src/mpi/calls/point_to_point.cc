// MPI standard, chapter 3: blocking and non-blocking sends and receives.
#include "mpi/calls/point_to_point.h"

#include "mpi/datatype/datatype.h"
#include "mpi/runtime/runtime.h"
#include "mpi/runtime/short_way.h"

namespace elc::mpi {

// true: the receiver has it already.
static bool count_send(const MessageArguments& a, const Communicator& comm) {
  const line::Rank to = comm.world(a.peer);
  const bool is_there = runtime.coordinator->on_send(to, comm.slot, a.tag);
  if (a.send == PMPI_Issend && !runtime.config.early_sends) {
    runtime.sends_synchronously = true;
    runtime.coordinator->sent_synchronously(to, comm.slot, a.tag);
  }
  return is_there;
}

// A send that the library finishes.
static int send_from_copy(const MessageArguments& a, uint64_t* copy = nullptr) {
  MPI_Request checked;  // perhaps MPI will not be asked: it has to look at the arguments now
  const int peer = a.peer == MPI_PROC_NULL ? 0 : a.peer;  // see Requests::placeholder()
  const int code = PMPI_Send_init(a.buffer, a.count, a.type, peer, a.tag, a.comm, &checked);
  if (code != MPI_SUCCESS) return code;
  PMPI_Request_free(&checked);
  const Communicator* c = followed(a.comm, a.peer);
  if (c != nullptr && count_send(a, *c)) return MPI_SUCCESS;
  return send_copy(a.buffer, a.count, a.type, a.peer, a.tag, a.comm,
                   a.send == PMPI_Issend && runtime.probes && !runtime.config.early_sends ? copy : nullptr);
}

int start_send(const MessageArguments& a, MPI_Request* request, uint64_t* copy) {
  *request = MPI_REQUEST_NULL;
  if (copy != nullptr) *copy = 0;
  // In a replay, until all are released, sends are finished in the background: a logged outcome may say that one was
  // complete, and the receiver, whose receives may be held back, may need what this process does next to come to it.
  if (runtime.coordinator->sends_in_background()) return send_from_copy(a, copy);
  const int code = a.send(a.buffer, a.count, a.type, a.peer, a.tag, a.comm, request);
  if (code != MPI_SUCCESS) return code;
  // It counts as of before the call: nothing has looked in between. What has failed does not count.
  const Communicator* c = followed(a.comm, a.peer);
  if (c != nullptr) count_send(a, *c);
  return MPI_SUCCESS;
}

int finish_receive(Receive* r, MPI_Status* status, bool site) {
  wait_until([&] {
    if (receive_complete(*r)) return true;
    if (site) site_while_waiting(&r->posting);
    return false;
  });
  Unheard unheard;
  const int code = observe_receive(*r, &unheard);
  give_status(status, r->status);
  unheard.tell();
  return code;
}

namespace {

// Waits for what only the library waits for; an MPI error code.
int finish(MPI_Request* handle, MPI_Status* status) {
  int code = MPI_SUCCESS;
  wait_until([&] {
    int flag = 0;
    code = PMPI_Test(handle, &flag, status);
    return flag != 0 || code != MPI_SUCCESS;
  });
  return code;
}

// A blocking send as a non-blocking one that the library waits for, so that it looks meanwhile.
int send(const MessageArguments& a) {
  labelled_call();
  tick();
  MPI_Request handle;
  const int code = start_send(a, &handle);
  if (code != MPI_SUCCESS) return code;
  if (is_synchronous(a)) runtime.coordinator->waited_synchronously();
  used_unfollowed(a.comm, a.peer);
  return handle == MPI_REQUEST_NULL ? MPI_SUCCESS : finish(&handle, MPI_STATUS_IGNORE);
}

int send_request(const MessageArguments& a, MPI_Request* request, const char* call) {
  labelled_call();
  tick();
  MPI_Request handle;
  uint64_t copy;
  const int code = start_send(a, &handle, &copy);
  if (code != MPI_SUCCESS) return code;
  if (handle == MPI_REQUEST_NULL) {
    Request* r = runtime.requests->make_send();
    r->placeholder = true;
    r->receive.done = true;
    r->copy = copy;
    r->synchronous = is_synchronous(a);
    handle = Requests::placeholder();
    runtime.requests->bind(r, handle);
  } else if (is_synchronous(a) && runtime.comms.find(a.comm) != nullptr) {
    runtime.requests->add_synchronous(handle);
  } else if (a.peer == MPI_PROC_NULL || runtime.comms.find(a.comm) != nullptr) {
    runtime.requests->add_send(handle);
  } else {
    made_unfollowed(a.comm, a.peer, handle, call);
  }
  *request = handle;
  return MPI_SUCCESS;
}

int receive(void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag, MPI_Status* status,
            bool site) {
  Receive r;
  fill(&r, buffer, count, type, comm, source, tag);
  const int code = start_receive(r);
  return code != MPI_SUCCESS ? code : finish_receive(&r, status, site);
}

// From a communicator that is not followed, or from nobody: nothing is counted.
int receive_unfollowed(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                       MPI_Status* status) {
  if (source == MPI_PROC_NULL) return PMPI_Recv(buffer, count, type, source, tag, comm, status);
  MPI_Request handle;
  const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, &handle);
  if (code != MPI_SUCCESS) return code;
  used_unfollowed(comm, source);
  return finish(&handle, status);
}

int receive_request(void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag,
                    MPI_Request* request) {
  Request* r = runtime.requests->make_receive();
  fill(&r->receive, buffer, count, type, comm, source, tag);
  const int code = start_receive(r->receive);
  if (code != MPI_SUCCESS) {
    runtime.requests->unmake(r);
    return code;
  }
  r->type_number = retain(type);
  r->placeholder = r->receive.handle == MPI_REQUEST_NULL;
  *request = r->placeholder ? Requests::placeholder() : r->receive.handle;
  runtime.requests->bind(r, *request);
  return MPI_SUCCESS;
}

int receive_request(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request,
                    const char* call) {
  Communicator* c = followed(comm, source);
  if (c != nullptr) return receive_request(buffer, count, type, c, source, tag, request);
  const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, request);
  if (code != MPI_SUCCESS) return code;
  if (source == MPI_PROC_NULL) runtime.requests->add_null_receive(*request);
  else made_unfollowed(comm, source, *request, call);
  return MPI_SUCCESS;
}

// What is sent cannot be taken back: before that, MPI looks at the arguments of the receive beside it. Nor can a receive
// that the queue answers, or whose message is there: it is posted behind the send, which may fail.
int send_and_receive(const MessageArguments& out, void* in, int in_count, MPI_Datatype in_type, int from, int in_tag,
                     MPI_Status* status) {
  int code = check_receive(in, in_count, in_type, from, in_tag, out.comm);
  if (code != MPI_SUCCESS) return code;
  MPI_Request sent;
  code = start_send(out, &sent);
  if (code != MPI_SUCCESS) return code;
  used_unfollowed(out.comm, from);
  used_unfollowed(out.comm, out.peer);
  Communicator* c = followed(out.comm, from);
  Receive r;
  if (c != nullptr) {
    fill(&r, in, in_count, in_type, c, from, in_tag);
    code = start_receive(r);
  } else if (from != MPI_PROC_NULL) {
    code = PMPI_Irecv(in, in_count, in_type, from, in_tag, out.comm, &r.handle);
  }
  const int finished = sent == MPI_REQUEST_NULL ? MPI_SUCCESS : finish(&sent, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS) return code;
  const int received = c != nullptr             ? finish_receive(&r, status, false)
                       : from == MPI_PROC_NULL ? PMPI_Recv(in, in_count, in_type, from, in_tag, out.comm, status)
                                               : finish(&r.handle, status);
  return finished != MPI_SUCCESS ? finished : received;
}

// ---- The long ways of the calls that have a short one ----

ELC_NOINLINE int isend(ELC_CONST void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* request) {
  if (open_short_way("MPI_Isend") || (short_way_is_open() && begun.keep_send(comm, to, tag)))
    return MPI_Isend(buffer, count, type, to, tag, comm, request);
  ELC_FOLLOW(Isend, (buffer, count, type, to, tag, comm, request));
  return send_request({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Isend}, request, "MPI_Isend");
}

ELC_NOINLINE int irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Request* request) {
  if (open_short_way("MPI_Irecv") || (short_way_is_open() && begun.keep_receive(comm, source, tag, type)))
    return MPI_Irecv(buffer, count, type, source, tag, comm, request);
  if (Communicator* const c = short_way_is_open() ? followed(comm, source) : nullptr) {
    const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, request);
    if (code == MPI_SUCCESS) runtime.requests->add_usual(buffer, count, type, c, source, tag, *request);
    return code;
  }
  ELC_FOLLOW(Irecv, (buffer, count, type, source, tag, comm, request));
  labelled_call();
  tick();
  return receive_request(buffer, count, type, source, tag, comm, request, "MPI_Irecv");
}

// A message of so many bytes MPI takes at once, wherever its receiver is: MPI_Send does not wait for that. (Where it did, the
// library would look around a little later.)
constexpr uint64_t kTakenAtOnce = 512;
bool is_short(int count, MPI_Datatype type) {
  const uint64_t bytes = runtime.requests.untold().bytes_of_usual(type);
  return bytes != 0 && static_cast<uint64_t>(count) * bytes <= kTakenAtOnce;
}

ELC_NOINLINE int send_long(ELC_CONST void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  if (open_short_way("MPI_Send") || (short_way_is_open() && runtime.requests.untold().find_type(type) && is_short(count, type) &&
                                     followed(comm, to) != nullptr))
    return MPI_Send(buffer, count, type, to, tag, comm);
  ELC_FOLLOW(Send, (buffer, count, type, to, tag, comm));
  return send({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Isend});
}

ELC_NOINLINE int receive_long(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm, MPI_Status* status) {
  if (open_short_way("MPI_Recv") || (short_way_is_open() && followed(comm, source) != nullptr))
    return MPI_Recv(buffer, count, type, source, tag, comm, status);
  ELC_FOLLOW(Recv, (buffer, count, type, source, tag, comm, status));
  const bool site = labelled_call();
  tick();
  Communicator* c = followed(comm, source);
  if (c == nullptr) return receive_unfollowed(buffer, count, type, source, tag, comm, status);
  return receive(buffer, count, type, c, source, tag, status, site);
}

// A receive that MPI has had for a little while, without a look around, is posted, and waited for if it is not complete.
ELC_NOINLINE int receive_posted(void* buffer, int count, MPI_Datatype type, int source, int tag, Communicator* c, MPI_Request handle,
                                MPI_Status* status, bool complete) {
  const Entered entered("MPI_Recv");
  Receive r;
  fill(&r, buffer, count, type, c, source, tag);
  runtime.coordinator->post(r.posting);
  if (complete) {
    runtime.coordinator->observe(r.posting, c->world(status->MPI_SOURCE), status->MPI_TAG);
    return MPI_SUCCESS;
  }
  r.handle = handle;
  return finish_receive(&r, status, false);
}

// So often it is looked whether a receive is complete, before others are looked after.
constexpr int kFirstLooks = 64;

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

#define ELC_SEND_ARGUMENTS ELC_CONST void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm

ELC_EXPORT int MPI_Send(ELC_SEND_ARGUMENTS) {
  const Communicator* const c = short_way() ? followed_last(comm, to) : nullptr;
  if (c == nullptr || !is_short(count, type)) [[unlikely]] return send_long(buffer, count, type, to, tag, comm);
  const int code = PMPI_Send(buffer, count, type, to, tag, comm);
  if (code != MPI_SUCCESS) return code;
  runtime.coordinator.untold().send_usual(c->world(to), c->slot, tag);
  return MPI_SUCCESS;
}

ELC_EXPORT int MPI_Ssend(ELC_SEND_ARGUMENTS) {
  ELC_FOLLOW(Ssend, (buffer, count, type, to, tag, comm));
  return send({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Issend});
}

// A ready send is executed as a standard send: its receive may have been answered from the queue.
ELC_EXPORT int MPI_Rsend(ELC_SEND_ARGUMENTS) {
  ELC_FOLLOW(Rsend, (buffer, count, type, to, tag, comm));
  return send({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Isend});
}

ELC_EXPORT int MPI_Bsend(ELC_SEND_ARGUMENTS) {
  ELC_FOLLOW(Bsend, (buffer, count, type, to, tag, comm));
  return send({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Ibsend});
}

ELC_EXPORT int MPI_Isend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  if (!short_way() || !begun.sends(comm, to, tag)) [[unlikely]] return isend(buffer, count, type, to, tag, comm, request);
  const int code = PMPI_Isend(buffer, count, type, to, tag, comm, request);
  if (code == MPI_SUCCESS) [[likely]] begun.add_send(*request);
  return code;
}

ELC_EXPORT int MPI_Issend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  ELC_FOLLOW(Issend, (buffer, count, type, to, tag, comm, request));
  return send_request({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Issend}, request, "MPI_Issend");
}

ELC_EXPORT int MPI_Irsend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  ELC_FOLLOW(Irsend, (buffer, count, type, to, tag, comm, request));
  return send_request({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Isend}, request, "MPI_Irsend");
}

ELC_EXPORT int MPI_Ibsend(ELC_SEND_ARGUMENTS, MPI_Request* request) {
  ELC_FOLLOW(Ibsend, (buffer, count, type, to, tag, comm, request));
  return send_request({const_cast<void*>(buffer), count, type, to, tag, comm, PMPI_Ibsend}, request, "MPI_Ibsend");
}

ELC_EXPORT int MPI_Recv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                        MPI_Status* status) {
  Communicator* const c = short_way() ? followed_last(comm, source) : nullptr;
  if (c == nullptr) [[unlikely]] return receive_long(buffer, count, type, source, tag, comm, status);
  MPI_Request handle;
  const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, &handle);
  if (code != MPI_SUCCESS) return code;
  MPI_Status own;
  MPI_Status* const to = status != MPI_STATUS_IGNORE ? status : &own;
  int complete = 0;
  for (int looks = 0; complete == 0 && looks < kFirstLooks; ++looks) PMPI_Test(&handle, &complete, to);
  if (complete != 0 && begun.none_receives() &&
      runtime.coordinator.untold().receive_usual(c->slot, c->world(to->MPI_SOURCE), to->MPI_TAG)) [[likely]]
    return MPI_SUCCESS;
  return receive_posted(buffer, count, type, source, tag, c, handle, complete != 0 ? to : status, complete != 0);
}

ELC_EXPORT int MPI_Irecv(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                         MPI_Request* request) {
  if (!short_way() || !begun.receives(comm, source, tag, type)) [[unlikely]]
    return irecv(buffer, count, type, source, tag, comm, request);
  begun.place()->buffer = buffer;
  begun.place()->count = count;
  const int code = PMPI_Irecv(buffer, count, type, source, tag, comm, request);
  if (code == MPI_SUCCESS) [[likely]] begun.add_receive(*request);
  return code;
}

ELC_EXPORT int MPI_Sendrecv(ELC_CONST void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in,
                            int in_count, MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm,
                            MPI_Status* status) {
  ELC_FOLLOW(Sendrecv, (out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, status));
  labelled_call();
  tick();
  return send_and_receive({const_cast<void*>(out), out_count, out_type, to, out_tag, comm, PMPI_Isend}, in, in_count, in_type, from, in_tag,
                          status);
}

ELC_EXPORT int MPI_Sendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from,
                                    int in_tag, MPI_Comm comm, MPI_Status* status) {
  ELC_FOLLOW(Sendrecv_replace, (buffer, count, type, to, out_tag, from, in_tag, comm, status));
  labelled_call();
  tick();
  elc::Bytes packed;
  const int code = pack_send(buffer, count, type, comm, &packed);
  if (code != MPI_SUCCESS) return code;
  const Bulk bulk(packed.size(), MPI_PACKED);
  return send_and_receive({packed.data(), bulk.count(), bulk.type(), to, out_tag, comm, PMPI_Isend}, buffer, count, type,
                          from, in_tag, status);
}

#if ELC_HAVE_ISENDRECV
namespace {

// The request stands for the receive alone: the send is complete as soon as the library has a copy of its data.
int send_and_receive_request(const MessageArguments& out, void* in, int in_count, MPI_Datatype in_type, int from, int in_tag,
                             MPI_Request* request, const char* call) {
  labelled_call();
  tick();
  int code = check_receive(in, in_count, in_type, from, in_tag, out.comm);
  if (code != MPI_SUCCESS) return code;
  code = send_from_copy(out);
  if (code != MPI_SUCCESS) return code;
  used_unfollowed(out.comm, out.peer);
  return receive_request(in, in_count, in_type, from, in_tag, out.comm, request, call);
}

}  // namespace

ELC_EXPORT int MPI_Isendrecv(const void* out, int out_count, MPI_Datatype out_type, int to, int out_tag, void* in, int in_count,
                             MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Request* request) {
  ELC_FOLLOW(Isendrecv, (out, out_count, out_type, to, out_tag, in, in_count, in_type, from, in_tag, comm, request));
  return send_and_receive_request({const_cast<void*>(out), out_count, out_type, to, out_tag, comm, PMPI_Isend}, in, in_count,
                                  in_type, from, in_tag, request, "MPI_Isendrecv");
}

ELC_EXPORT int MPI_Isendrecv_replace(void* buffer, int count, MPI_Datatype type, int to, int out_tag, int from, int in_tag,
                                     MPI_Comm comm, MPI_Request* request) {
  ELC_FOLLOW(Isendrecv_replace, (buffer, count, type, to, out_tag, from, in_tag, comm, request));
  return send_and_receive_request({buffer, count, type, to, out_tag, comm, PMPI_Isend}, buffer, count, type, from, in_tag,
                                  request, "MPI_Isendrecv_replace");
}
#endif
