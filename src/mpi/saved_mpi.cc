#include "mpi/saved_mpi.h"

#include "base/sort.h"
#include "mpi/datatype.h"
#include "mpi/requests.h"
#include "mpi/runtime.h"
#include "state/state.h"

namespace elc::mpi {

namespace {

Status save_receive(const Receive& receive, SavedRequest* s) {
  s->posting = receive.posting.number;
  s->buffer = state::locate(receive.buffer);
  s->count = receive.count;
  s->type = number_of(receive.type);
  s->comm = receive.comm->identity;
  if (s->buffer.block == format::kWildBlock && s->count > 0)
    return Status::error("a receive is pending into memory that is not registered (%p): register its buffer", receive.buffer);
  if (s->type == kNoDatatype)
    return Status::error("a receive is pending with a datatype that libELC did not see made");
  return Status();
}

}  // namespace

Status save_mpi(SavedMpi* saved) {
  saved->site = runtime.site;
  for (size_t i = 0; i < runtime.comms.size(); ++i) saved->comms.push_back(describe(*runtime.comms.at(i)));
  Encoder types(&saved->datatypes);
  save_datatypes(types);
  saved->request_numbers = requests.numbers();
  Status status;
  requests.each([&](MPI_Request, Request& r) {
    SavedRequest s;
    s.number = r.number;
    s.kind = r.kind;
    s.uses = r.uses;
    if (r.kind == Request::Kind::kReceive && status.ok()) status = save_receive(r.receive, &s);
    saved->requests.push_back(s);
  });
  sort(saved->requests, [](const SavedRequest& a, const SavedRequest& b) {
    return a.posting != b.posting ? a.posting < b.posting : a.number < b.number;
  });
  return status;
}

void make_requests(const SavedMpi& saved) {
  requests.numbers_from(saved.request_numbers);
  for (const SavedRequest& s : saved.requests) {
    Request* r = s.kind == Request::Kind::kSend ? requests.make_send() : requests.make_receive();
    r->number = s.number;
    r->placeholder = true;
    r->uses = s.uses;
    requests.bind(r, Requests::placeholder());
  }
  requests.numbers_from(saved.request_numbers);
}

void post_again(const SavedMpi& saved) {
  for (const SavedRequest& s : saved.requests) {
    if (s.kind != Request::Kind::kReceive) continue;
    MPI_Request handle;
    requests.find_handle(s.number, &handle);
    Request* r = requests.find(handle);
    Receive& receive = r->receive;
    receive.buffer = state::address_of(s.buffer);
    receive.count = s.count;
    receive.comm = runtime.comms.find_identity(s.comm);
    const Status typed = handle_of(s.type, &receive.type);
    if (receive.comm == nullptr || !typed.ok() || (receive.buffer == nullptr && s.count > 0)) {
      give_up(Status::error("a receive that was pending cannot be posted again: its buffer, datatype or communicator is "
                            "not part of the saved state (register the buffer)"));
    }
    retain_number(s.type);
    r->type_number = s.type;
    if (runtime.process->post_again(receive.posting, s.posting)) give_to_mpi(receive);
  }
}

}  // namespace elc::mpi
