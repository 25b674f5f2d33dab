#include "mpi/runtime/saved_mpi.h"

#include "base/sort.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/requests.h"
#include "mpi/runtime/runtime.h"
#include "state/state.h"

namespace elc::mpi {

namespace {

Result save_receive(const Receive& receive, SavedRequest* s) {
  if (receive.comm == nullptr) return Result();  // from MPI_PROC_NULL
  s->posting = receive.posting.number;
  s->buffer = state::locate(receive.buffer);
  s->count = receive.count;
  s->type = number_of(receive.type);
  s->comm = receive.comm->identity;
  if (s->buffer.block == format::kWildBlock && s->count > 0)
    return Result::error("a receive is pending into memory that is not registered (%p): register its buffer", receive.buffer);
  if (s->type == kNoDatatype)
    return Result::error("a receive is pending with a datatype that libELC did not see made");
  return Result();
}

}  // namespace

// They may be as large as the program's data: their size first.
static Result keep_datatypes(Bytes* kept) {
  size_t size = 0;
  Encoder measure([](void* sum, const void*, size_t more) { *static_cast<size_t*>(sum) += more; }, &size);
  ELC_TRY(save_datatypes(measure));
  if (!kept->make_room(size)) return no_memory(size, "the MPI datatypes in a line");
  Encoder out(kept);
  return save_datatypes(out);
}

Result save_mpi(SavedMpi* saved) {
  saved->site = runtime.site;
  for (size_t i = 0; i < runtime.comms.size(); ++i) saved->comms.push_back(describe(*runtime.comms.at(i)));
  ELC_TRY(check_displacements());
  ELC_TRY(keep_datatypes(&saved->datatypes));
  saved->request_numbers = runtime.requests.numbers();
  Result status;
  runtime.requests.each([&](MPI_Request, Request& r) {
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

Result names_postings(const SavedMpi& saved, const line::Saved& line) {
  for (const SavedRequest& s : saved.requests) {
    if (s.kind == Request::Kind::kReceive && s.comm != kNullIdentity &&
        line::find_posting(line.receives, s.posting) == nullptr)
      return Result::error("section \"mpi\" names receive %llu, which is not in section \"line\": they are of different lines",
                           static_cast<unsigned long long>(s.posting));
  }
  return {};
}

void make_requests(const SavedMpi& saved) {
  for (const SavedRequest& s : saved.requests) runtime.requests.make_again(s.kind, s.number)->uses = s.uses;
}

void post_again(const SavedMpi& saved) {
  for (const SavedRequest& s : saved.requests) {
    if (s.kind != Request::Kind::kReceive) continue;
    MPI_Request handle;
    runtime.requests.find_handle(s.number, &handle);
    Request* r = runtime.requests.find(handle);
    Receive& receive = r->receive;
    if (s.comm == kNullIdentity) {
      PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self, &receive.handle);
      continue;
    }
    receive.buffer = state::address_of(s.buffer);
    receive.count = s.count;
    receive.comm = runtime.comms.find_identity(s.comm);
    const Result typed = handle_of(s.type, &receive.type);
    const bool lost = receive.buffer == nullptr && s.buffer.block != format::kNullBlock;  // NULL is MPI_BOTTOM
    if (receive.comm == nullptr || !typed.ok() || (lost && s.count > 0)) {
      give_up(Result::error("a receive that was pending cannot be posted again: its buffer, datatype or communicator is "
                            "not part of the saved state (register the buffer)"));
    }
    retain_number(s.type);
    r->type_number = s.type;
    if (runtime.coordinator->post_again(receive.posting, s.posting)) give_to_mpi(receive);
  }
  runtime.requests.numbers_from(saved.request_numbers);
}

}  // namespace elc::mpi
