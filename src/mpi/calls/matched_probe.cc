// MPI standard, chapter 3.8.2: matched probes and receives. A message counts as received when it is matched; from then until
// it has been received no line is taken here.
#include "mpi/calls/matched_probe.h"

#include "mpi/calls/point_to_point.h"
#include "mpi/calls/probe.h"
#include "mpi/datatype/datatype.h"

#if MPI_VERSION >= 3

namespace elc::mpi {
namespace {

struct MatchedProbe : Probe {
  MPI_Message* message;
  const char* call;
};

// A handle for a message that MPI does not have: that of an empty one, sent to oneself.
MPI_Message token(MPI_Request* sent) {
  MPI_Message message;
  PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, runtime.self, sent);
  PMPI_Mprobe(0, 0, runtime.self, &message, MPI_STATUS_IGNORE);
  return message;
}

void matched(const MatchedProbe& p, const MatchedMessage& how) {
  runtime.matched.at(handle_key(*p.message)) = how;
  add_obstacle(HandleKind::kMessage, handle_key(*p.message), p.call);
}

// Whether a probe with these arguments takes a message now, or fails: from the pending queue first, then from MPI.
bool takes(MatchedProbe* p, int source, int tag) {
  Communicator& comm = *p->comm;
  const line::Pattern pattern = pattern_of(comm, source, tag);
  int flag = 0;
  if (!runtime.coordinator->quiet()) {
    const line::Message* first = runtime.coordinator->queued(pattern);
    if (first != nullptr) {
      if (!first->arrived) return false;
      line::Message* m = runtime.coordinator->take_queued(pattern);
      set_status(&p->status, comm.local(m->source), m->tag, {m->content.size(), m->representation});
      MPI_Request sent;
      *p->message = token(&sent);
      matched(*p, {&comm, m, nullptr, sent});
      return true;
    }
    PMPI_Iprobe(source, tag, comm.handle, &flag, &p->status);
    if (flag == 0) return false;
    source = p->status.MPI_SOURCE;
    tag = p->status.MPI_TAG;
    if (!runtime.coordinator->may_show(pattern.comm, comm.world(source), tag)) return false;
  }
  p->code = PMPI_Improbe(source, tag, comm.handle, &flag, p->message, &p->status);
  if (p->code != MPI_SUCCESS) return true;
  if (flag == 0) return false;
  matched(*p, {&comm, nullptr,
               runtime.coordinator->take_matched(pattern.comm, comm.world(p->status.MPI_SOURCE), p->status.MPI_TAG),
               MPI_REQUEST_NULL});
  return true;
}

// On a communicator that is not followed, or for nobody: a message that the probe has taken is an obstacle.
int unfollowed(int source, MPI_Comm comm, MPI_Message message, const char* call) {
  used_unfollowed(comm, source);
  if (message != MPI_MESSAGE_NO_PROC && message != MPI_MESSAGE_NULL)
    add_obstacle(HandleKind::kMessage, handle_key(message), call);
  return MPI_SUCCESS;
}

// Begins to receive a matched message; false: the library does not follow it, and has done nothing.
bool receive_matched(Receive* r, void* buffer, int count, MPI_Datatype type, MPI_Message* message) {
  const uint64_t key = handle_key(*message);
  const MatchedMessage* found = runtime.matched.find(key);
  if (found == nullptr) return false;
  r->buffer = buffer;
  r->count = count;
  r->type = type;
  r->comm = found->comm;
  r->matched = true;
  r->log = found->log;
  if (found->queued != nullptr) {
    MPI_Request checked, sent = found->sent;
    // MPI looks at the arguments.
    r->code = PMPI_Recv_init(buffer, count, type, MPI_ANY_SOURCE, 0, r->comm->handle_or_world(), &checked);
    if (r->code != MPI_SUCCESS) return true;
    PMPI_Request_free(&checked);
    PMPI_Mrecv(nullptr, 0, MPI_BYTE, message, MPI_STATUS_IGNORE);
    PMPI_Wait(&sent, MPI_STATUS_IGNORE);
    r->posting.state = line::Posting::State::kQueued;
    r->posting.message = found->queued;
  } else {
    r->code = PMPI_Imrecv(buffer, count, type, message, &r->handle);
  }
  if (r->code != MPI_SUCCESS) return true;
  runtime.matched.remove(key);
  remove_obstacle(HandleKind::kMessage, key);
  return true;
}

// The same for one that it does not follow.
int receive_unfollowed(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  const uint64_t key = handle_key(*message);
  const bool nobody = *message == MPI_MESSAGE_NO_PROC;
  const int code = PMPI_Imrecv(buffer, count, type, message, request);
  if (code != MPI_SUCCESS) return code;
  remove_obstacle(HandleKind::kMessage, key);
  if (nobody) runtime.requests->add_null_receive(*request);
  else add_obstacle(HandleKind::kRequest, handle_key(*request), "MPI_Imrecv");
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Mprobe(int source, int tag, MPI_Comm comm, MPI_Message* message, MPI_Status* status) {
  ELC_FOLLOW(Mprobe, (source, tag, comm, message, status));
  const bool site = labelled_call();
  tick();
  Communicator* c = followed(comm, source);
  if (c != nullptr)
    return probe_until<MatchedProbe>(elc::line::NdKind::kMprobe, {{c, source, tag}, message, "MPI_Mprobe"}, takes, status, site);
  const int code = released([&] { return PMPI_Mprobe(source, tag, comm, message, status); });
  return code != MPI_SUCCESS ? code : unfollowed(source, comm, *message, "MPI_Mprobe");
}

ELC_EXPORT int MPI_Improbe(int source, int tag, MPI_Comm comm, int* flag, MPI_Message* message, MPI_Status* status) {
  ELC_FOLLOW(Improbe, (source, tag, comm, flag, message, status));
  runtime.probes = true;
  labelled_call();
  tick();
  Communicator* c = followed(comm, source);
  if (c != nullptr)
    return probe_once<MatchedProbe>(elc::line::NdKind::kImprobe, {{c, source, tag}, message, "MPI_Improbe"}, takes, flag, status);
  const int code = PMPI_Improbe(source, tag, comm, flag, message, status);
  return code != MPI_SUCCESS || *flag == 0 ? code : unfollowed(source, comm, *message, "MPI_Improbe");
}

ELC_EXPORT int MPI_Mrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Status* status) {
  if (!following()) return PMPI_Mrecv(buffer, count, type, message, status);
  const Entered entered("MPI_Mrecv");
  labelled_call();
  tick();
  Receive r;
  if (receive_matched(&r, buffer, count, type, message)) return r.code != MPI_SUCCESS ? r.code : finish_receive(&r, status, false);
  const uint64_t key = handle_key(*message);
  const int code = released([&] { return PMPI_Mrecv(buffer, count, type, message, status); });
  if (code == MPI_SUCCESS) remove_obstacle(HandleKind::kMessage, key);
  return code;
}

ELC_EXPORT int MPI_Imrecv(void* buffer, int count, MPI_Datatype type, MPI_Message* message, MPI_Request* request) {
  if (!following()) return PMPI_Imrecv(buffer, count, type, message, request);
  const Entered entered("MPI_Imrecv");
  labelled_call();
  tick();
  Receive receive;
  if (!receive_matched(&receive, buffer, count, type, message))
    return receive_unfollowed(buffer, count, type, message, request);
  if (receive.code != MPI_SUCCESS) return receive.code;
  Request* r = runtime.requests->make_receive();
  r->receive = receive;
  r->type_number = retain(type);
  r->placeholder = receive.handle == MPI_REQUEST_NULL;
  *request = r->placeholder ? Requests::placeholder() : receive.handle;
  runtime.requests->bind(r, *request);
  runtime.requests->hinder(r, *request, "MPI_Imrecv");
  return MPI_SUCCESS;
}

#endif
