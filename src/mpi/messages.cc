// The protocol's view of messages in MPI's hands: completed receives, messages that can be taken early
// (protocol section 5).
#include "base/message.h"
#include "mpi/datatype.h"
#include "mpi/line_file.h"
#include "mpi/requests.h"
#include "mpi/runtime.h"

namespace elc::mpi {
namespace {

Communicator* communicator_of(line::Comm slot) {
  return runtime.comms.find_identity(runtime.process->identity(slot));
}

bool posting_complete(void*, const line::Posting& posting, line::Rank* source, line::Tag* tag) {
  Receive& r = Receive::of(const_cast<line::Posting&>(posting));
  if (!complete_in_mpi(r)) return false;
  *source = r.comm->world(r.status.MPI_SOURCE);
  *tag = r.status.MPI_TAG;
  return true;
}

void copy_data(void*, const line::Posting& posting, line::Message* message) {
  const Receive& r = Receive::of(posting);
  message->representation = native_representation_code();
  const Status packed = pack(r.buffer, r.count, r.type, static_cast<size_t>(counted(r.status).bytes), &message->content);
  if (!packed.ok()) cannot_checkpoint("a message was received with a datatype that libELC does not follow");
}

void start_receive(void*, line::Posting& posting) { give_to_mpi(Receive::of(posting)); }

bool probe(void*, const line::Pattern& pattern, line::Rank* source, line::Tag* tag) {
  const Communicator* c = communicator_of(pattern.comm);
  if (c == nullptr || c->handle == MPI_COMM_NULL) return false;
  int flag = 0;
  MPI_Status status;
  PMPI_Iprobe(pattern.source == line::kAnySource ? MPI_ANY_SOURCE : c->local(pattern.source),
              pattern.tag == line::kAnyTag ? MPI_ANY_TAG : pattern.tag, c->handle, &flag, &status);
  if (flag == 0) return false;
  *source = c->world(status.MPI_SOURCE);
  *tag = status.MPI_TAG;
  return true;
}

// A message on its way into the pending queue.
struct Taken {
  MPI_Request handle = MPI_REQUEST_NULL;
  line::Message* message = nullptr;
};
Vector<Taken> taken;

// The message was just shown, and this process makes no receive in between: a receive of its envelope
// takes it.
void take(void*, line::Message* message) {
  const Communicator* c = communicator_of(message->comm);
  const int source = c->local(message->source);
  int flag = 0;
  MPI_Status status;
  PMPI_Iprobe(source, message->tag, c->handle, &flag, &status);
  const size_t bytes = flag != 0 ? static_cast<size_t>(counted(status).bytes) : 0;
  message->representation = native_representation_code();
  message->content.resize(bytes);
  Taken t;
  t.message = line::retain(message);
  PMPI_Irecv(message->content.data(), static_cast<int>(bytes), MPI_BYTE, source, message->tag, c->handle, &t.handle);
  taken.push_back(t);
  sweep_taken();
}

}  // namespace

void sweep_taken() {
  for (size_t i = taken.size(); i-- > 0;) {
    int flag = 0;
    PMPI_Test(&taken[i].handle, &flag, MPI_STATUS_IGNORE);
    if (flag == 0) continue;
    taken[i].message->arrived = true;
    line::let_go(taken[i].message);
    taken.erase(i);
  }
}

void fill_message_host(line::Host* host) {
  host->posting_complete = posting_complete;
  host->copy_data = copy_data;
  host->start_receive = start_receive;
  host->probe = probe;
  host->take = take;
}

}  // namespace elc::mpi
