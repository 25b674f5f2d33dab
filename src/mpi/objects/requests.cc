#include "mpi/objects/requests.h"

#include "base/message.h"
#include "mpi/datatype/datatype.h"
#include "mpi/runtime/error_handlers.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

Request* Requests::blank() {
  if (pool_.empty()) return make<Request>();
  Request* const r = pool_.back();
  pool_.pop_back();
  r->reset();
  return r;
}

Request* Requests::fresh() {
  Request* const r = blank();
  r->number = ++numbers_;
  return r;
}

void Requests::add(MPI_Request handle, RequestKind kind) {
  if (handle == MPI_REQUEST_NULL) return;
  Place& p = place(handle_key(handle));
  if (p.key == handle_key(handle) && p.record == nullptr) {
    ++p.uses;
    return;
  }
  Request* r = find(handle);
  if (r != nullptr) {
    end_collective(r);
    ++r->uses;
    return;
  }
  r = fresh();
  r->kind = kind;
  bind(r, handle);
}

Request* Requests::make_record(Place& place) {
  Request* const r = blank();
  r->number = place.number;
  r->uses = place.uses;
  place.record = r;
  return r;
}

void Requests::add_usual(void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag, MPI_Request handle) {
  Request* r = spare_;
  if (r == nullptr) {
    r = blank();
    r->kind = RequestKind::kReceive;
    r->usual = true;
  } else {
    spare_ = r->next;
  }
  fill(&r->receive, buffer, count, type, comm, source, tag);
  r->receive.handle = handle;
  r->number = ++numbers_;
  r->type_number = find_type(type) ? last_type_number_ : retain(type);
  runtime.coordinator->post_usual(r->receive.posting);
  const uint64_t key = handle_key(handle);
  Place& p = place(key);
  if (p.key != kNoKey || by_handle_.size() != 0) return bind(r, handle);
  p.key = key;
  p.record = r;
}

bool Requests::find_type(MPI_Datatype type) {
  if (type == last_type_) return true;
  const uint64_t number = number_of(type);
  if (number >= kFirstDerived) return false;
  last_type_ = type;
  last_type_number_ = number;
  last_type_bytes_ = packed_size(type);
  return true;
}

void Requests::let_type_go(Request* receive) { elc::mpi::release(receive->type_number); }

void Requests::learn_complete_handle() {
  MPI_Request received[2], sent[2];
  for (MPI_Request& request : received) PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, 0, runtime.self, &request);
  for (MPI_Request& request : sent) PMPI_Isend(nullptr, 0, MPI_BYTE, 0, 0, runtime.self, &request);
  if (sent[0] == sent[1]) complete_key_ = handle_key(sent[0]);
  for (MPI_Request& request : received) PMPI_Wait(&request, MPI_STATUS_IGNORE);
  for (MPI_Request& request : sent) PMPI_Wait(&request, MPI_STATUS_IGNORE);
}

bool Requests::empty() const {
  for (const Place& p : places_)
    if (p.key != kNoKey) return false;
  return complete_.key == kNoKey && by_handle_.size() == 0 && abandoned_.empty();
}

void Requests::take_out(MPI_Request handle) {
  Place& p = place(handle_key(handle));
  if (p.key == handle_key(handle)) p.key = kNoKey;
  else by_handle_.remove(handle_key(handle));
}

// Of one that shares its handle, which is complete therefore.
void Requests::end_collective(Request* request) {
  if (request->collective == nullptr) return;
  request->collective->end(MPI_SUCCESS);
  forget_collective(request);
  request->kind = RequestKind::kSend;
}

void Requests::forget_collective(Request* request) {
  if (request->collective == nullptr) return;
  destroy(request->collective);
  request->collective = nullptr;
  --collectives_;
}

bool Requests::add_complete(MPI_Request handle) {
  if (handle != MPI_REQUEST_NULL && find(handle) == nullptr) return false;
  add_send(handle);
  return true;
}

void Requests::add_synchronous(MPI_Request handle) {
  if (is_complete_handle(handle)) return add_send(handle);
  if (add_complete(handle)) return;
  Request* r = make_send();
  r->synchronous = true;
  bind(r, handle);
}

Request* Requests::add_collective(MPI_Request handle, line::Comm comm, uint64_t number, Vector<Region> regions, Making* making) {
  PendingCollective* pending = make<PendingCollective>(comm, number, std::move(regions));
  pending->making = making;
  if (add_complete(handle)) {
    pending->end(MPI_SUCCESS);
    destroy(pending);
    return nullptr;
  }
  Request* r = fresh();
  r->kind = RequestKind::kCollective;
  r->collective = pending;
  ++collectives_;
  bind(r, handle);
  return r;
}

void Requests::begin_collective(Request* request, line::Comm comm, uint64_t number, Vector<Region> regions) {
  request->collective = make<PendingCollective>(comm, number, std::move(regions));
  ++collectives_;
}

MPI_Request Requests::make_complete() {
  Request* r = make_send();
  r->placeholder = true;
  const MPI_Request handle = placeholder();
  bind(r, handle);
  return handle;
}

void Requests::look_at_collectives() {
  if (collectives_ == 0) return;
  each([]([[maybe_unused]] MPI_Request handle, Request& r) {
    if (r.collective == nullptr || r.collective->ended) return;
    if (r.persistent != nullptr) {
      collective_complete(r);
      return;
    }
#if MPI_VERSION >= 3
    int complete = 0;
    const int code = PMPI_Request_get_status(handle, &complete, MPI_STATUS_IGNORE);
    if (complete != 0 || code != MPI_SUCCESS) r.collective->end(code);
#endif
  });
}

Request* Requests::make_receive() {
  Request* r = fresh();
  r->kind = Request::Kind::kReceive;
  return r;
}

Request* Requests::make_collective(CollectiveArguments* arguments, MPI_Comm comm, line::Identity made_on) {
  Request* r = fresh();
  r->kind = RequestKind::kCollective;
  r->placeholder = true;
  r->active = false;
  MessageArguments on = {};
  on.comm = comm;
  r->persistent = make<Persistent>(on, made_on, false, arguments);
  return r;
}

void Requests::bind(Request* request, MPI_Request handle) {
  const uint64_t key = handle_key(handle);
  Place& p = place(key);
  const bool fits = p.key == kNoKey || p.key == key;
  if (Request** known = fits ? by_handle_.find(key) : &by_handle_.at(key)) {
    *known = request;
  } else {
    p.key = key;
    p.record = request;
  }
  if (request->placeholder) ++placeholders_;
}

void Requests::hinder(Request* request, MPI_Request handle, const char* call) {
  request->usual = false;
  if (!request->obstacle) add_obstacle(HandleKind::kRequest, handle_key(handle), call);
  request->obstacle = true;
}

void Requests::set_inactive(Request* request, MPI_Request handle) {
  request->active = false;
  forget_collective(request);
  const Persistent& p = *request->persistent;
  if (!request->obstacle || (p.made_on == kNullIdentity && !p.of_set_up)) return;
  remove_obstacle(HandleKind::kRequest, handle_key(handle));
  request->obstacle = false;
}

void Requests::add_to_set_up(Request* request) {
  request->persistent->of_set_up = true;
  request->number = kFirstPersistent + persistent_++;
}

void Requests::unbind(const Request& request, MPI_Request handle) {
  if (request.obstacle) remove_obstacle(HandleKind::kRequest, handle_key(handle));
  take_out(handle);
  if (!request.placeholder) return;
  if (request.is_persistent_collective()) {
    MPI_Request own = request.persistent->collective->request;
    if (own != handle && own != MPI_REQUEST_NULL) PMPI_Request_free(&own);
  }
  PMPI_Request_free(&handle);
  --placeholders_;
}

void Requests::leave_to_mpi(Request* request, MPI_Request handle) {
  take_out(handle);
  --placeholders_;
  unmake(request);
}

void Requests::unmake(Request* request) {
  if (request->type_number >= kFirstDerived) elc::mpi::release(request->type_number);
  if (request->persistent != nullptr) destroy(request->persistent->collective);
  destroy(request->persistent);
  request->persistent = nullptr;
  forget_collective(request);
  pool_.push_back(request);
}

void Requests::release(Request* request, MPI_Request handle) {
  if (--request->uses > 0) return;
  unbind(*request, handle);
  unmake(request);
}

void Requests::abandon(Request* request, MPI_Request handle) {
  unbind(*request, handle);
  abandoned_.push_back(request);
  add_obstacle(HandleKind::kRequest, handle_key(request), "MPI_Request_free, under way still,");
}

void Requests::end_set_up() {
  Vector<MPI_Request> handles;
  each([&](MPI_Request handle, Request& r) {
    if (r.of_set_up()) restored_.at(r.number) = handle_key(handle);
    const bool persistent = r.persistent != nullptr && r.active;
    if (r.kind == RequestKind::kReceive ? r.active : persistent || r.kind == RequestKind::kCollective) handles.push_back(handle);
  });
  for (MPI_Request handle : handles) {
    Request* r = find(handle);
    MPI_Request in_mpi = r->is_persistent_collective() && !r->receive.done ? r->receive.handle : r->in_mpi(handle);
    if (in_mpi != MPI_REQUEST_NULL) {
      MPI_Status status;
      if (r->kind == RequestKind::kReceive) PMPI_Cancel(&in_mpi);
      PMPI_Wait(&in_mpi, &status);
    }
    if (r->persistent != nullptr) {
      set_inactive(r, handle);
      continue;
    }
    r->uses = 1;
    release(r, handle);
  }
}

void Requests::sweep_abandoned() {
  for (size_t i = 0; i < abandoned_.size();) {
    Request* r = abandoned_[i];
    if (!receive_complete(r->receive)) {
      ++i;
      continue;
    }
    abandoned_[i] = abandoned_.back();
    abandoned_.pop_back();
    Unheard unheard;
    observe_receive(r->receive, &unheard);
    remove_obstacle(HandleKind::kRequest, handle_key(r));
    unmake(r);
    unheard.tell();  // last: the program's error handler may free another request
  }
}

// Not of MPI_PROC_NULL: what MPICH 4.0 makes of the object of such a persistent request, when that was freed, is a persistent
// collective operation that never completes.
bool Requests::is_exchanging() {
  bool is = false;
  const auto look_at = [&](const Request* r) {
    is = is || (r != nullptr && r->active && (r->kind == Request::Kind::kCollective || (r->synchronous && !(r->receive.done && is_received(r->copy)))));
  };
  for (const Place& p : places_)
    if (p.key != kNoKey) look_at(p.record);
  by_handle_.each([&](uint64_t, Request*& r) { look_at(r); });
  return is;
}

bool Requests::settled_here() {
  constexpr unsigned kMost = 10000;
  if (runtime.probes && runtime.sends_synchronously && ++unsettled_sites_ < kMost && is_exchanging()) return false;
  unsettled_sites_ = 0;
  return true;
}

MPI_Request Requests::placeholder() {
  MPI_Request handle = MPI_REQUEST_NULL;
  PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, 0, runtime.self, &handle);
  return handle;
}

RequestArrays* Requests::borrow() {
  if (arrays_.empty()) return make<RequestArrays>();
  RequestArrays* arrays = arrays_.back();
  arrays_.pop_back();
  arrays->handles.clear();
  arrays->own.clear();
  return arrays;
}

bool Requests::find_handle(uint64_t number, MPI_Request* handle) {
  const uint64_t* key = restored_.find(number);
  if (key != nullptr) *handle = from_key<MPI_Request>(*key);
  return key != nullptr;
}

Request* Requests::make_again(RequestKind kind, uint64_t number) {
  Request* r = fresh();
  r->kind = kind;
  r->number = number;
  r->placeholder = true;
  const MPI_Request handle = placeholder();
  bind(r, handle);
  restored_.at(number) = handle_key(handle);
  return r;
}

void Requests::numbers_from(uint64_t number) {
  numbers_ = number;
  restored_.clear();
}

// ---- Receives ----

int give_to_mpi(Receive& r) {
  const line::Posting& p = r.posting;
  const line::Rank source = p.bound ? p.bound_source : p.pattern.source;
  const line::Tag tag = p.bound ? p.bound_tag : p.pattern.tag;
  const int from = source == line::kAnySource ? MPI_ANY_SOURCE : r.comm->local(source);
  const int with = tag == line::kAnyTag ? MPI_ANY_TAG : tag;
#if ELC_HAVE_REQUEST_GET_STATUS
  return PMPI_Irecv(r.buffer, r.count, r.type, from, with, r.comm->handle, &r.handle);
#else
  // A started persistent receive can be looked at without losing its handle.
  const int code = PMPI_Recv_init(r.buffer, r.count, r.type, from, with, r.comm->handle, &r.handle);
  return code != MPI_SUCCESS ? code : PMPI_Start(&r.handle);
#endif
}

int check_receive(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm) {
  MPI_Request checked;
  if (source == MPI_PROC_NULL) source = MPI_ANY_SOURCE;  // see placeholder()
  const int code = PMPI_Recv_init(buffer, count, type, source, tag, comm, &checked);
  if (code == MPI_SUCCESS) PMPI_Request_free(&checked);
  return code;
}

int start_receive(Receive& r) {
  if (!runtime.coordinator->quiet()) {  // perhaps MPI will not be asked: it has to look at the arguments now
    const line::Pattern& p = r.posting.pattern;
    const int code = check_receive(r.buffer, r.count, r.type, p.source == line::kAnySource ? MPI_ANY_SOURCE : r.comm->local(p.source),
                                   p.tag == line::kAnyTag ? MPI_ANY_TAG : p.tag, r.comm->handle);
    if (code != MPI_SUCCESS) return code;
  }
  if (!runtime.coordinator->post(r.posting)) return MPI_SUCCESS;
  const int code = give_to_mpi(r);
  if (code != MPI_SUCCESS) runtime.coordinator->withdraw(r.posting);
  return code;
}

// Completes it in MPI, if that can be.
static bool test(Receive& r) {
  int flag = 0;
  r.status.MPI_SOURCE = MPI_PROC_NULL;  // stays where MPI fails without an envelope
  r.code = PMPI_Test(&r.handle, &flag, &r.status);
  r.done = flag != 0 || r.code != MPI_SUCCESS;
  return r.done;
}

bool complete_in_mpi(Receive& r) {
  if (r.done) return true;
  if (r.handle == MPI_REQUEST_NULL) return false;
#if ELC_HAVE_REQUEST_GET_STATUS
  int flag = 0;
  if (r.comm->handle == MPI_COMM_NULL) {  // freed meanwhile: MPI has kept it for this receive
    r.code = PMPI_Request_get_status(r.handle, &flag, &r.status);
    return flag != 0;
  }
  // The program's error handler is called when the program asks.
  const ErrorsReturned returned(r.comm->handle);
  r.code = PMPI_Request_get_status(r.handle, &flag, &r.status);
  return flag != 0;
#else
  return test(r);
#endif
}

bool collective_complete(Request& request) {
  Receive& r = request.receive;
  if (r.done) return true;
  int flag = 0;
  r.code = PMPI_Test(&r.handle, &flag, MPI_STATUS_IGNORE);
  r.done = flag != 0 || r.code != MPI_SUCCESS;
  if (r.done && request.collective != nullptr) request.collective->end(r.code);
  return r.done;
}

bool receive_complete(Receive& r) {
  switch (r.posting.state) {
    case line::Posting::State::kQueued: return r.posting.message->arrived;
    case line::Posting::State::kHeld: return false;
    case line::Posting::State::kStarted: break;
  }
  return r.done || test(r);
}

bool truncated(const Receive& r) {
  return r.code != MPI_SUCCESS || counted(r.status).bytes > packed_size(r.type) * static_cast<uint64_t>(r.count);
}

bool has_message(const Receive& r) {
  const int source = r.status.MPI_SOURCE;
  return !(r.cancelled && is_cancelled(r.status)) && source >= 0 && static_cast<size_t>(source) < r.comm->members.size();
}

static void account_for(Receive& r) {
  if (r.comm == nullptr) return;
  if (r.matched) {
    if (r.log != nullptr) keep_data(r, r.log);
    line::let_go(r.log);
    return;
  }
  if (!has_message(r)) runtime.coordinator->withdraw(r.posting);
  else runtime.coordinator->observe(r.posting, r.comm->world(r.status.MPI_SOURCE), r.status.MPI_TAG);
}

int observe_receive(Receive& r, Unheard* unheard) {
#if !ELC_HAVE_REQUEST_GET_STATUS
  if (r.posting.state == line::Posting::State::kStarted && r.handle != MPI_REQUEST_NULL) PMPI_Request_free(&r.handle);
#endif
  if (r.posting.state != line::Posting::State::kQueued) {
    account_for(r);
    return r.code;
  }
  line::Message* m = r.posting.message;
  if (!r.matched) runtime.coordinator->observe(r.posting, m->source, m->tag);
  Unpacked unpacked;
  const Result failure =
      unpack(m->content.data(), m->content.size(), m->representation, r.buffer, r.count, r.type, &unpacked);
  set_status(&r.status, r.comm->local(m->source), m->tag, {unpacked.size, 0});
  if (!failure.ok())  // no error code of MPI: the program would go on with half of a message
    give_up(Result::caused(failure.cause(), "the message from rank %d with tag %d that was in transit cannot be received here: "
                           "%s; the line is as it was", m->source, m->tag, failure.message()));
  line::let_go(m);
  r.posting.message = nullptr;
  if (!unpacked.truncated) return MPI_SUCCESS;
  *unheard = {MPI_ERR_TRUNCATE, r.comm};
  return MPI_ERR_TRUNCATE;
}

int Unheard::tell() const { return comm == nullptr ? code : call_error_handler(*comm, code); }

int call_error_handler(const Communicator& comm, int code) {
  const MPI_Comm handle = comm.handle_or_world();
#if ELC_HAVE_COMM_CALL_ERRHANDLER
  PMPI_Comm_call_errhandler(handle, code);
#else
  if (error_handler_of(handle) == MPI_ERRORS_ARE_FATAL) PMPI_Abort(handle, code);
#endif
  return code;
}

// ---- What is not followed ----

void made_unfollowed(MPI_Comm comm, int peer, MPI_Request request, const char* call) {
  used_unfollowed(comm, peer);
  add_obstacle(HandleKind::kRequest, handle_key(request), call);
}

}  // namespace elc::mpi
