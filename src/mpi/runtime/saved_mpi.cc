#include "mpi/runtime/saved_mpi.h"

#include "base/sort.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/handles.h"
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
    if (r.of_set_up) return;
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

static SavedPersistent describe(const Request& r) {
  const MessageArguments& a = *r.persistent;
  SavedPersistent s;
  s.number = r.number;
  s.kind = r.kind;
  s.count = a.count;
  s.type = number_of(a.type);
  s.comm = r.made_on;
  s.peer = saved_rank(a.peer);
  s.tag = saved_tag(a.tag);
  return s;
}

void save_set_up(SavedSetUp* saved) {
  saved->comms.append(runtime.set_up.data(), runtime.set_up.size());
  runtime.requests.each([&](MPI_Request, Request& r) {
    if (r.of_set_up) saved->requests.push_back(describe(r));
  });
  sort(saved->requests, [](const SavedPersistent& a, const SavedPersistent& b) { return a.number < b.number; });
}

Result check_set_up(SavedSetUp saved) {
  HashMap<bool> made;
  for (const line::Identity identity : saved.comms) made.at(identity) = true;
  for (const line::Identity identity : runtime.set_up) {
    if (made.find(identity) != nullptr) continue;
    const Communicator* c = runtime.comms.find_identity(identity);
    return Result::error("the set-up makes a communicator, as operation %llu on its parent, that it did not make in the run of "
                         "the line, or not as that operation; see that it calls the same collective operations",
                         c == nullptr ? 0 : static_cast<unsigned long long>(c->origin.number));
  }
  runtime.set_up = std::move(saved.comms);
  for (const SavedPersistent& then : saved.requests) {
    MPI_Request handle;
    const Request* now = runtime.requests.find_handle(then.number, &handle) ? runtime.requests.find(handle) : nullptr;
    if (now == nullptr || !(describe(*now) == then))
      return Result::error("the set-up does not make the persistent request that was its %llu-th in the run of the line, or "
                           "with other arguments", static_cast<unsigned long long>(then.number - kFirstPersistent + 1));
  }
  return {};
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
