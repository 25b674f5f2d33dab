// Completed receives, messages that can be taken early (PROTOCOL.md, section 5).
#include "mpi/runtime/messages.h"

#include "mpi/datatype/datatype.h"
#include "mpi/objects/background.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

Communicator* communicator_of(line::Comm slot) {
  return runtime.comms.find_identity(runtime.coordinator->identity(slot));
}

bool posting_complete(void*, const line::Posting& posting, line::Rank* source, line::Tag* tag) {
  Receive& r = Receive::of(const_cast<line::Posting&>(posting));
  if (!complete_in_mpi(r) || !has_message(r)) return false;
  *source = r.comm->world(r.status.MPI_SOURCE);
  *tag = r.status.MPI_TAG;
  return true;
}

void copy_data(void*, const line::Posting& posting, line::Message* message) { keep_data(Receive::of(posting), message); }

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

void strayed(void*) {
  give_up(Result::error("after the restart the program makes other calls than before the line, although other processes have "
                        "messages or results that depend on those; the line is as it was. Restart with the program as "
                        "it was, under the same MPI if it does something else there; give what differs between runs "
                        "(clocks, inputs) to ELC_ND"));
}

// The message was just shown, and this process makes no receive in between: a receive of its envelope
// takes it.
bool take(void*, line::Message* message) {
  const Communicator* c = communicator_of(message->comm);
  const int source = c->local(message->source);
  int flag = 0;
  MPI_Status status;
  PMPI_Iprobe(source, message->tag, c->handle, &flag, &status);
  const size_t bytes = flag != 0 ? static_cast<size_t>(counted(status).bytes) : 0;
  message->representation = native_representation_code();
  if (!message->content.make_room(bytes)) return false;
  message->content.resize(bytes);
  Taken t;
  t.message = line::retain(message);
  const Bulk bulk(bytes, MPI_BYTE);
  PMPI_Irecv(message->content.data(), bulk.count(), bulk.type(), source, message->tag, c->handle, &t.handle);
  runtime.taken.push_back(t);
  sweep_taken();
  return true;
}

}  // namespace

void keep_data(const Receive& r, line::Message* message) {
  message->representation = native_representation_code();
  message->arrived = true;
  const Result packed = pack(r.buffer, r.count, r.type, static_cast<size_t>(counted(r.status).bytes), &message->content);
  if (!packed.ok() && known(r.type)) spoil_line(kNoMemory);
  else if (!packed.ok()) cannot_checkpoint("a message was received with a datatype that libELC does not follow");
  if (truncated(r)) spoil_line("a message was longer than the buffer of its receive, and what was lost belongs to the line");
}

void sweep_taken() {
  Vector<Taken>& taken = runtime.taken;
  for (size_t i = taken.size(); i-- > 0;) {
    int flag = 0;
    PMPI_Test(&taken[i].handle, &flag, MPI_STATUS_IGNORE);
    if (flag == 0) continue;
    taken[i].message->arrived = true;
    line::let_go(taken[i].message);
    taken[i] = taken.back();
    taken.pop_back();
  }
}

void spoil_line(const char* why) {
  runtime.spoiled.line = runtime.coordinator->last_line();
  runtime.spoiled.why = why;
}

void spoil_replay(const char* why, const char* more) {
  if (!runtime.active || !runtime.coordinator->recording()) return;
  runtime.spoiled.replay = runtime.coordinator->last_line();
  runtime.spoiled.why_replay = why;
  runtime.spoiled.more_of_why = more;
}

const char* spoiled(line::LineNumber line) {
  return runtime.spoiled.line == line ? runtime.spoiled.why : memory_is_short() ? kNoMemory : nullptr;
}

Result unspoiled(line::LineNumber line, bool replay) {
  if (const char* why = spoiled(line)) return Result::error("%s; the next one is asked for as usual", why);
  if (replay && runtime.spoiled.replay == line)
    return Result::error("%s%s; the next one is asked for as usual", runtime.spoiled.why_replay, runtime.spoiled.more_of_why);
  return Result();
}

void fill_message_host(line::Host* host) {
  host->posting_complete = posting_complete;
  host->copy_data = copy_data;
  host->start_receive = start_receive;
  host->probe = probe;
  host->take = take;
  host->strayed = strayed;
}

}  // namespace elc::mpi
