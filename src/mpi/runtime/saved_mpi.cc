#include "mpi/runtime/saved_mpi.h"

#include "base/sort.h"
#include "mpi/calls/point_to_point.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/handles.h"
#include "mpi/objects/requests.h"
#include "mpi/runtime/runtime.h"
#include "state/state.h"

namespace elc::mpi {

namespace {

// Whether all that such a call reads or writes lies in one place of this kind.
bool lies_in(bool (*place)(uintptr_t begin, uint64_t size), const Region& region) {
  MPI_Aint lower = 0, bytes = 0;
  if (PMPI_Type_get_true_extent(region.type, &lower, &bytes) != MPI_SUCCESS) return false;
  const MPI_Aint last = extent(region.type) * (region.count - 1);
  const MPI_Aint begin = lower + (last < 0 ? last : 0);
  const auto size = static_cast<uint64_t>(bytes + (last < 0 ? -last : last));
  return bytes == 0 || place(reinterpret_cast<uintptr_t>(region.buffer) + static_cast<uintptr_t>(begin), size);
}

// That a line has: what is beside it may be elsewhere in another build of the program.
bool is_registered(const Region& region) {
  return region.buffer == MPI_BOTTOM || lies_in(state::is_registered, region);  // check_displacements has looked
}

// `type`: the number of its datatype, which the program may have freed. `what`: whose buffer it is.
Result save_region(const Region& region, uint64_t type, const char* what, SavedRegion* s) {
  s->buffer = state::locate(region.buffer);
  s->count = region.count;
  s->type = type;
  if (s->type == kNoDatatype) return Result::error("%s with a datatype that libELC did not see made", what);
  if (s->count > 0 && (s->buffer.block == format::kWildBlock || !is_registered(region)))
    return Result::error("%s with a buffer that is not registered as one variable or block (%p): register it", what, region.buffer);
  return Result();
}

Result save_receive(const Request& request, SavedRequest* s) {
  const Receive& receive = request.receive;
  if (receive.comm == nullptr) return Result();  // from MPI_PROC_NULL
  s->posting = receive.posting.number;
  s->comm = receive.comm->identity;
  return save_region({receive.buffer, receive.count, receive.type}, request.type_number, "a receive is pending", &s->region);
}

Result save_regions(const Vector<Region>& regions, const Vector<uint64_t>& types, const char* what, Vector<SavedRegion>* s) {
  for (size_t i = 0; i < regions.size(); ++i) ELC_TRY(save_region(regions[i], types[i], what, &s->push_back({})));
  return Result();
}

// One that MPI has completed is complete for a restart, too: its result is where the program will find it.
Result save_collective(const PendingCollective& pending, SavedRequest* s) {
  s->kind = pending.ended ? RequestKind::kSend : RequestKind::kCollective;
  if (pending.ended) return Result();
  s->comm = runtime.coordinator->identity(pending.comm);
  s->operation = pending.number;
  return save_regions(pending.regions, pending.types, "a non-blocking collective operation is pending", &s->regions);
}

constexpr const char* kPersistentCollective = "there is a persistent collective operation";

// Where its blocks lie is told by what the call is given: a restart has them as far from it if they are in one variable.
Result save_side(const Side& side, SavedSide* s) {
  s->in_place = side.in_place;
  s->base = state::locate(side.base);
  ELC_TRY(save_regions(side.blocks.all(), side.blocks.types(), kPersistentCollective, &s->blocks));
  for (const SavedRegion& block : s->blocks)
    if (block.count > 0 && side.base != nullptr && block.buffer.block != s->base.block)
      return Result::error("%s with a buffer that is not registered as one variable or block (%p): register it", kPersistentCollective,
                           side.base);
  return Result();
}

int32_t saved_root(int root) {
#if MPI_VERSION >= 2
  if (root == MPI_ROOT) return kSavedRoot;
#endif
  return root == MPI_PROC_NULL ? kSavedNoRoot : root;
}

int root_of(int32_t saved) {
#if MPI_VERSION >= 2
  if (saved == kSavedRoot) return MPI_ROOT;
#endif
  return saved == kSavedNoRoot ? MPI_PROC_NULL : saved;
}

Result communicator_is_gone(const Persistent& p) {
  if (runtime.comms.identity_of(p.comm) == p.made_on) return Result();
  return Result::error("there is a persistent request whose communicator was freed: free the request, too");
}

Result save_persistent_collective(const Request& request, SavedRequest* s) {
  const Persistent& p = *request.persistent;
  const CollectiveArguments& a = *p.collective;
  s->kind = RequestKind::kPersistentCollective;
  s->call = a.call;
  s->comm = a.comm;
  s->made = a.made;
  s->root = saved_root(a.root);
  s->active = request.active;
  if (request.collective != nullptr && !request.collective->ended) s->operation = request.collective->number;
  const Result written = save_regions(a.writes.all(), a.writes.types(), kPersistentCollective, &s->regions);
  if (p.of_set_up) return s->operation != 0 ? written : Result();  // the set-up has the memory
  ELC_TRY(communicator_is_gone(p));
  ELC_TRY(written);
  s->op = a.op_number;
  if (a.op != MPI_OP_NULL && s->op == 0)
    return Result::error("%s with an operation that the program's set-up has not made: call MPI_Op_create before ELC_Restore",
                         kPersistentCollective);
  s->counts.append(a.counts.data(), a.counts.size());
  ELC_TRY(save_side(a.from, &s->from));
  return save_side(a.to, &s->to);
}

struct Sends {
  StartMode mode;
  int (*call)(ELC_CONST void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
};
constexpr Sends kSends[] = {{StartMode::kReceive, nullptr},
                            {StartMode::kSend, PMPI_Isend},
                            {StartMode::kBufferedSend, PMPI_Ibsend},
                            {StartMode::kSynchronousSend, PMPI_Issend}};

Result save_persistent(const Request& request, SavedRequest* s) {
  const Persistent& a = *request.persistent;
  ELC_TRY(communicator_is_gone(a));
  s->kind = RequestKind::kPersistent;
  for (const Sends& send : kSends)
    if (send.call == a.send) s->mode = send.mode;
  s->comm = a.made_on;
  s->peer = saved_rank(a.peer);
  s->tag = saved_tag(a.tag);
  s->active = request.active;
  if (request.active && request.receive.comm != nullptr) s->posting = request.receive.posting.number;
  const Result status = save_region({a.buffer, a.count, a.type}, request.type_number, "there is a persistent request", &s->region);
  return a.of_set_up ? Result() : status;  // the set-up has the memory
}

// A restart's set-up gives MPI the memory that it has then, before the data of the line may get another place. Where the buffers of
// collective operations are is not looked at.
Result check_place(const Request& request) {
  const Persistent& a = *request.persistent;
  const bool may_move = request.is_persistent_collective() ? state::has_resizing()
                                                           : a.count > 0 && lies_in(state::is_resizing, {a.buffer, a.count, a.type});
  if (!may_move) return Result();
  return Result::error("the set-up has made a persistent request, and its memory may have another place in a restart (%p): make it "
                       "behind ELC_Restore, or register the memory by ELC_ARRAY", a.buffer);
}

// Whether a restart has this memory, with this type.
bool find_region(const SavedRegion& saved, Region* region) {
  region->buffer = state::address_of(saved.buffer);
  region->count = saved.count;
  const bool lost = region->buffer == nullptr && saved.buffer.block != format::kNullBlock;  // NULL is MPI_BOTTOM
  return handle_of(saved.type, &region->type).ok() && !(lost && saved.count > 0);
}

const Bytes* find_result(const line::Saved& line, const SavedRequest& request) {
  for (const line::SavedResult& r : line.pending)
    if (r.comm == request.operated() && r.number == request.operation) return &r.result;
  return nullptr;
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
  for (size_t i = 0; i < runtime.comms.size(); ++i)
    ELC_TRY(save_attributes(*runtime.comms.at(i), &saved->comms.push_back(describe(*runtime.comms.at(i)))));
  ELC_TRY(check_displacements());
  ELC_TRY(keep_datatypes(&saved->datatypes));
  saved->request_numbers = runtime.requests->numbers();
  ELC_TRY(runtime.windows.save(&saved->windows));
  Result status;
  runtime.requests->each([&](MPI_Request, Request& r) {
    if (status.ok() && r.of_set_up()) status = check_place(r);
    if (r.of_set_up() && !r.active) return;
    SavedRequest s;
    s.number = r.number;
    s.kind = r.kind;
    s.uses = r.uses;
    if (!status.ok()) return;
    if (r.is_persistent_collective()) status = save_persistent_collective(r, &s);
    else if (r.persistent != nullptr) status = save_persistent(r, &s);
    else if (r.kind == RequestKind::kReceive) status = save_receive(r, &s);
    else if (r.kind == RequestKind::kCollective) status = save_collective(*r.collective, &s);
    saved->requests.push_back(std::move(s));
  });
  sort(saved->requests, [](const SavedRequest& a, const SavedRequest& b) {
    return a.posting != b.posting ? a.posting < b.posting : a.number < b.number;
  });
  ELC_TRY(status);
  runtime.locals.end_line(&saved->local);
  return save_files(&saved->files);
}

static SavedPersistent describe(const Request& r) {
  const Persistent& a = *r.persistent;
  SavedPersistent s;
  s.number = r.number;
  if (a.collective != nullptr) {
    s.kind = RequestKind::kPersistentCollective;
    s.count = static_cast<int32_t>(a.collective->call);
    s.type = a.collective->made;
    s.comm = a.made_on;
    s.peer = saved_root(a.collective->root);
    return s;
  }
  s.kind = r.kind;
  s.count = a.count;
  s.type = r.type_number;
  s.comm = a.made_on;
  s.peer = saved_rank(a.peer);
  s.tag = saved_tag(a.tag);
  return s;
}

void save_set_up(SavedSetUp* saved) {
  saved->comms.append(runtime.set_up.data(), runtime.set_up.size());
  runtime.requests->each([&](MPI_Request, Request& r) {
    if (r.of_set_up()) saved->requests.push_back(describe(r));
  });
  sort(saved->requests, [](const SavedPersistent& a, const SavedPersistent& b) { return a.number < b.number; });
}

Result check_set_up(SavedSetUp saved) {
  HashMap<bool> made;
  for (const line::Identity identity : saved.comms) made.at(identity) = true;
  for (const line::Identity identity : runtime.set_up) {
    if (made.find(identity) != nullptr) continue;
    if (const File* file = runtime.files.find_identity(identity))
      return Result::error("the set-up opens the file '%s', which it did not open in the run of the line, or not as operation %llu on "
                           "its communicator; see that it calls the same collective operations", file->saved.path.c_str(),
                           static_cast<unsigned long long>(file->saved.origin.number));
    const Communicator* c = runtime.comms.find_identity(identity);
    return Result::error("the set-up makes a communicator, %s, that it did not make in the run of "
                         "the line, or not as that operation; see that it calls the same collective operations",
                         text_of(c == nullptr ? Origin() : c->origin).c_str());
  }
  runtime.set_up = std::move(saved.comms);
  for (const SavedPersistent& then : saved.requests) {
    MPI_Request handle;
    const Request* now = runtime.requests->find_handle(then.number, &handle) ? runtime.requests->find(handle) : nullptr;
    if (now == nullptr || !(describe(*now) == then))
      return Result::error("the set-up does not make the persistent request that was its %llu-th in the run of the line, or "
                           "with other arguments", static_cast<unsigned long long>(then.number - kFirstPersistent + 1));
  }
  return {};
}

Result fits(const SavedMpi& saved, const line::Saved& line) {
  for (const SavedRequest& s : saved.requests) {
    if (s.operation != 0 && find_result(line, s) == nullptr)
      return Result::error("section \"mpi\" names collective operation %llu on a communicator, whose result is not in section "
                           "\"line\": they are of different lines", static_cast<unsigned long long>(s.operation));
    const bool receive = s.kind == RequestKind::kReceive ? s.comm != kNullIdentity : s.kind == RequestKind::kPersistent && s.posting != 0;
    if (receive && line::find_posting(line.receives, s.posting) == nullptr)
      return Result::error("section \"mpi\" names receive %llu, which is not in section \"line\": they are of different lines",
                           static_cast<unsigned long long>(s.posting));
  }
  return {};
}

Result make_requests(const SavedMpi& saved) {
  for (const SavedRequest& s : saved.requests) {
    MPI_Request handle;
    if (s.number >= kFirstPersistent) {
      if (runtime.requests->find_handle(s.number, &handle)) continue;
      return Result::error("section \"mpi\" names a persistent request that section \"setup\" does not have");
    }
    const bool receive = s.kind == RequestKind::kReceive || (s.kind == RequestKind::kPersistent && s.mode == StartMode::kReceive);
    const RequestKind kind = receive                                         ? RequestKind::kReceive
                             : s.kind == RequestKind::kPersistentCollective ? RequestKind::kCollective
                                                                             : RequestKind::kSend;
    runtime.requests->make_again(kind, s.number)->uses = s.uses;
  }
  return Result();
}

Result complete_collectives(const SavedMpi& saved, const line::Saved& line) {
  for (const SavedRequest& s : saved.requests) {
    if (s.operation == 0) continue;
    Vector<Region> regions;
    for (const SavedRegion& there : s.regions) {
      Region here;
      if (!find_region(there, &here))
        return Result::error("a non-blocking collective operation that was pending cannot be completed: its buffer or datatype is "
                             "not part of the saved state (register the buffer)");
      regions.push_back(here);
    }
    const Result completed = unpack_regions(regions, *find_result(line, s));
    if (!completed.ok())
      return Result::caused(completed.cause(), "the result of collective operation %llu on a communicator, which was pending, "
                            "cannot be used here: %s", static_cast<unsigned long long>(s.operation), completed.message());
  }
  return Result();
}

// A receive that was pending, whose buffer, count, type and communicator are set.
static void post_again(Receive* receive, const SavedRequest& s) {
  if (runtime.coordinator->post_again(receive->posting, s.posting)) give_to_mpi(*receive);
}

static void post_to_nobody(Receive* receive) {
  PMPI_Irecv(nullptr, 0, MPI_BYTE, MPI_PROC_NULL, 0, runtime.self, &receive->handle);
}

// What a request needs that a line has and MPI does not.
static Result find_again(const SavedRequest& s, Region* region, Communicator** comm) {
  *comm = runtime.comms.find_identity(s.comm);
  if (find_region(s.region, region) && *comm != nullptr) return Result();
  return Result::error("a receive that was pending, or a persistent request, cannot be made again: its buffer, datatype or "
                       "communicator is not part of the saved state (register the buffer)");
}

static Result make_persistent_again(Request* r, const SavedRequest& s) {
  if (s.number < kFirstPersistent) {
    Region region;
    Communicator* comm;
    ELC_TRY(find_again(s, &region, &comm));
    const MessageArguments arguments = {region.buffer, region.count, region.type, rank_of(s.peer), tag_of(s.tag), comm->handle,
                                        kSends[static_cast<size_t>(s.mode)].call};
    r->persistent = make<Persistent>(arguments, s.comm);
    r->persistent->made_again = true;
  }
  r->active = s.active;
  if (!s.active) return Result();
  const MessageArguments& a = *r->persistent;
  r->receive = Receive();
  if (a.send != nullptr) {
    r->receive.done = true;
  } else if (a.peer == MPI_PROC_NULL) {
    post_to_nobody(&r->receive);
  } else {
    fill(&r->receive, a.buffer, a.count, a.type, runtime.comms.find_identity(s.comm), a.peer, a.tag);
    post_again(&r->receive, s);
  }
  return Result();
}

static Result find_regions(const Vector<SavedRegion>& saved, Regions* regions) {
  for (const SavedRegion& there : saved) {
    Region here;
    if (!find_region(there, &here) || !retain_number(there.type))
      return Result::error("a persistent collective operation cannot be made again: its buffer or datatype is not part of the saved "
                           "state (register the buffer)");
    regions->add(here, there.type);
  }
  return {};
}

static Result find_side(const SavedSide& saved, Side* side) {
  side->in_place = saved.in_place;
  side->base = state::address_of(saved.base);
  return find_regions(saved.blocks, &side->blocks);
}

static Result make_collective_again(Request* r, const SavedRequest& s) {
  r->active = s.active;
  r->receive = Receive();
  r->receive.done = s.active;
  if (s.number >= kFirstPersistent) return {};
  const Communicator* comm = runtime.comms.find_identity(s.comm);
  if (comm == nullptr || comm->handle == MPI_COMM_NULL)
    return Result::error("a persistent collective operation cannot be made again: its communicator is not part of the saved state");
  CollectiveArguments* a = make<CollectiveArguments>();
  MessageArguments on = {};
  on.comm = comm->handle;
  r->persistent = make<Persistent>(on, s.comm, false, a);
  a->call = s.call;
  a->is_made(*comm, s.made);
  a->root = root_of(s.root);
  ELC_TRY(runtime.locals.find_operation(s.op, &a->op));
  a->op_number = s.op;
  a->counts.append(s.counts.data(), s.counts.size());
  ELC_TRY(find_side(s.from, &a->from));
  ELC_TRY(find_side(s.to, &a->to));
  return find_regions(s.regions, &a->writes);
}

// Whether others have freed the request before the line. What is left of it for this process are results, and its own call.
static bool is_half_freed(const CollectiveArguments& a) {
  const line::Coordinator& process = *runtime.coordinator;
  for (uint64_t number = process.operations(a.slot) + 1;; ++number) {
    const Bytes* logged = process.logged_result(a.slot, number);
    if (logged == nullptr || logged->empty()) return logged != nullptr;
  }
}

// MPI makes the persistent collective operations again of which all members have the request, in an order that is the same at all.
static void make_collectives_again() {
  Vector<CollectiveArguments*> all;
  runtime.requests->each([&](MPI_Request, Request& r) {
    if (r.is_persistent_collective() && r.persistent->collective->request == MPI_REQUEST_NULL) all.push_back(r.persistent->collective);
  });
  sort(all, [](const CollectiveArguments* a, const CollectiveArguments* b) {
    return a->comm != b->comm ? a->comm < b->comm : a->made < b->made;
  });
  for (CollectiveArguments* a : all) {
    if (is_half_freed(*a)) continue;
    const Result again = a->make_again(*runtime.comms.find_identity(a->comm));
    if (!again.ok()) give_up(again);
  }
}

static Result make_receive_again(Request* r, const SavedRequest& s) {
  if (s.comm == kNullIdentity) {
    post_to_nobody(&r->receive);
    return Result();
  }
  Region region;
  ELC_TRY(find_again(s, &region, &r->receive.comm));
  r->receive.buffer = region.buffer;
  r->receive.count = region.count;
  r->receive.type = region.type;
  post_again(&r->receive, s);
  return Result();
}

void post_again(const SavedMpi& saved) {
  for (const SavedRequest& s : saved.requests) {
    if (s.kind == RequestKind::kSend || s.kind == RequestKind::kCollective) continue;
    MPI_Request handle;
    runtime.requests->find_handle(s.number, &handle);
    Request* r = runtime.requests->find(handle);
    if (s.number < kFirstPersistent && retain_number(s.region.type)) r->type_number = s.region.type;
    const Result again = s.kind == RequestKind::kReceive      ? make_receive_again(r, s)
                         : s.kind == RequestKind::kPersistent ? make_persistent_again(r, s)
                                                              : make_collective_again(r, s);
    if (!again.ok()) give_up(again);
  }
  make_collectives_again();
  runtime.requests->numbers_from(saved.request_numbers);
}

}  // namespace elc::mpi
