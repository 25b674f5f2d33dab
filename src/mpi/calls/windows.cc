// MPI standard, chapter 12: windows under fences (PROTOCOL.md, section 6). A window is a communicator of its
// own to the protocol, on which fences are the operations.
#include "mpi/objects/windows.h"

#include "mpi/calls/collective.h"
#include "mpi/calls/refused.h"
#include "mpi/datatype/datatype.h"

namespace elc::mpi {
namespace {

// ---- Making and freeing ----

// LAM/MPI has a part of MPI-2's windows, which nobody has tried with lines.
constexpr bool kFollowsWindows = MPI_VERSION >= 2;

// Whether all members have made it in their set-ups, or all behind them and over memory that a restart has before it is filled.
// They come to have a communicator of their own, without the attributes of the program's.
bool follow(MPI_Comm parent, bool own_memory, MPI_Comm* own) {
  if (!kFollowsWindows) return false;
  InsideMpi inside;
  const Released released;
  PMPI_Comm_split(parent, 0, 0, own);
  int mine[] = {in_setup() ? 1 : 0, !in_setup() && own_memory ? 1 : 0};
  int all[] = {0, 0};
  PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, *own);
  const bool followed = all[0] != 0 || all[1] != 0;
  if (!followed) PMPI_Comm_free(own);
  return followed;
}

// `memory` is there when MPI has made the window; `own_memory`: it is the program's.
template <class Call>
int make_window(const char* name, const void* place, MPI_Comm parent, bool own_memory, void* const* memory, MPI_Aint size,
                int unit, MPI_Win* made, Call call) {
  if (!following()) return call();
  const Entered entered(name);
  Collective operation(parent);
  const Refused now(name, place);
  const int code = released_inside(call);
  end_counted(&operation, now, code);
  if (code != MPI_SUCCESS) return code;
  MPI_Comm own = MPI_COMM_NULL;
  if (operation.comm() == nullptr || operation.comm()->is_inter() || !follow(parent, own_memory, &own)) {
    now.makes(HandleKind::kWin, *made, MPI_WIN_NULL);
    return code;
  }
  runtime.windows.add(*made, own, Origin{operation.comm()->identity, operation.number(), kColourOfWindow})
      ->set(name, *memory, size, unit, in_setup());
  return code;
}

int free_window(MPI_Win* window) {
  if (!following()) return PMPI_Win_free(window);
  const Entered entered("MPI_Win_free");
  labelled_call();
  tick();
  const uint64_t key = key_at(window);
  FollowedWindow* w = window == nullptr ? nullptr : runtime.windows.find(*window);
  const int code = released_inside([&] { return PMPI_Win_free(window); });
  if (code != MPI_SUCCESS) return code;
  remove_obstacle(HandleKind::kWin, key);
  if (w == nullptr) return code;
  line::Coordinator& process = *runtime.coordinator;
  process.end_unfollowed(w->slot, process.start_collective(w->slot), "MPI_Win_free");
  process.free_comm(w->slot);
  PMPI_Comm_free(&w->comm);
  runtime.windows.remove(w);
  return code;
}

// ---- Operations ----

int issue(const OneSided& o, MPI_Win window) {
  switch (o.call) {
    case OneSided::Call::kPut:
      return PMPI_Put(const_cast<void*>(o.origin), o.origin_count, o.origin_type, o.target, o.offset,
                      o.target_count, o.target_type, window);
    case OneSided::Call::kGet:
      return PMPI_Get(o.result, o.result_count, o.result_type, o.target, o.offset, o.target_count,
                      o.target_type, window);
    case OneSided::Call::kAccumulate:
      return PMPI_Accumulate(const_cast<void*>(o.origin), o.origin_count, o.origin_type, o.target, o.offset,
                             o.target_count, o.target_type, o.op, window);
#if MPI_VERSION >= 3
    case OneSided::Call::kGetAccumulate:
      return PMPI_Get_accumulate(o.origin, o.origin_count, o.origin_type, o.result, o.result_count,
                                 o.result_type, o.target, o.offset, o.target_count, o.target_type, o.op,
                                 window);
    case OneSided::Call::kFetchAndOp:
      return PMPI_Fetch_and_op(o.origin, o.result, o.origin_type, o.target, o.offset, o.op, window);
    case OneSided::Call::kCompareAndSwap:
      return PMPI_Compare_and_swap(o.origin, o.compare, o.result, o.origin_type, o.target, o.offset, window);
#else
    default: break;
#endif
  }
  return MPI_SUCCESS;
}

void release_types(const PutOff& put_off) {
  for (const uint64_t type : put_off.types) elc::mpi::release(type);
}

// false: the library does not know a datatype.
bool retain_types(PutOff* put_off) {
  const OneSided& o = put_off->operation;
  const MPI_Datatype types[] = {o.origin_type, o.result_type, o.target_type};
  bool known = true;
  for (size_t i = 0; i < 3; ++i) {
    put_off->types[i] = types[i] == MPI_DATATYPE_NULL ? kNullDatatype : retain(types[i]);
    known = known && put_off->types[i] != kNoDatatype;
  }
  if (!known) release_types(*put_off);
  return known;
}

// MPI may execute an operation at any time until the next fence, and the program leaves its buffers alone. So
// one that comes behind this process's checkpoint waits for the checkpoints of all.
int one_sided(const char* name, const OneSided& o, MPI_Win window) {
  if (!following()) return issue(o, window);
  const Entered entered(name);
  labelled_call();
  tick();
  const auto now = [&] { return released([&] { return issue(o, window); }); };
  FollowedWindow* w = runtime.windows.find(window);
  if (w == nullptr) return now();
  if (w->plain || !w->epochs.put_off(*runtime.coordinator)) return now();
  PutOff put_off{o, {}};
  if (!retain_types(&put_off)) {
    runtime.coordinator->refuse_line("an operation on a window has a datatype that libELC does not follow");
    return now();
  }
  w->put_off.push_back(put_off);
  return MPI_SUCCESS;
}

int issue_all(FollowedWindow* w) {
  int code = MPI_SUCCESS;
  const Vector<PutOff> put_off = std::move(w->put_off);
  for (const PutOff& p : put_off) {
    const int issued = released([&] { return issue(p.operation, w->handle); });
    if (code == MPI_SUCCESS) code = issued;
    InsideMpi inside;
    release_types(p);
  }
  return code;
}

// ---- Fences ----

void end_epoch(FollowedWindow* w) {
  if (w->epochs.agreed()) released([&] { return PMPI_Barrier(w->comm); });
  w->epochs.end();
}

void begin_epoch(FollowedWindow* w, int assertion) {
  line::Coordinator& process = *runtime.coordinator;
  runtime.windows.fenced();
  w->epoch = (assertion & MPI_MODE_NOSUCCEED) != 0 ? Epoch::kClosed : Epoch::kOpen;
  constexpr size_t kOtherwise = line::Epochs::kWords, kCounting = kOtherwise + 1;
  unsigned mine[kCounting + 1], all[kCounting + 1], words[line::Epochs::kWords];
  w->epochs.say(process, words);
  memcpy(mine, words, sizeof words);
  mine[kOtherwise] = w->used.empty() ? 0 : 1;
  mine[kCounting] = process.stopped() ? 0 : 1;
  released([&] { return PMPI_Allreduce(mine, all, kCounting + 1, MPI_UNSIGNED, MPI_MAX, w->comm); });
  if (all[kOtherwise] != 0) use_otherwise(w, "used otherwise than by fences in another rank");
  w->plain = all[kOtherwise] != 0 || all[kCounting] == 0;
  memcpy(words, all, sizeof words);
  if (!w->plain) w->epochs.begin(process, words);
}

int fence(int assertion, MPI_Win window) {
  if (!following()) return PMPI_Win_fence(assertion, window);
  const Entered entered("MPI_Win_fence");
  const bool site = labelled_call();
  tick();
  const auto call = [&] { return released_inside([&] { return PMPI_Win_fence(assertion, window); }); };
  FollowedWindow* w = runtime.windows.find(window);
  if (w == nullptr || w->plain) return call();
  line::Coordinator& process = *runtime.coordinator;
  // It is counted after it, so that a checkpoint as of before it can still be taken: a restart makes it
  // again, with nothing to do. Where another member has counted it before its checkpoint it has a result, and
  // is not made again.
  int issued = MPI_SUCCESS;
  bool known = process.logged_result(w->slot, process.operations(w->slot) + 1) != nullptr;
  if (!known) {
    end_epoch(w);
    issued = issue_all(w);
    const int code = call();
    if (code != MPI_SUCCESS) {
      use_otherwise(w, "left by an MPI_Win_fence that has failed");
      return code;
    }
    // What comes of it may depend on chance.
    spoil_replay("MPI_Win_fence was called while messages crossed the line");
    begin_epoch(w, assertion);
    const line::LineNumber last = process.last_line();
    if (site) site_while_waiting(nullptr);
    known = process.last_line() != last;
  }
  const uint64_t number = process.start_collective(w->slot);
  if (known) process.end_collective(w->slot, number, Bytes());
  else process.end_unfollowed(w->slot, number, "MPI_Win_fence");
  return issued;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Win_create(void* memory, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                              MPI_Win* made) {
  return make_window("MPI_Win_create", ELC_CALLER(), comm, true, &memory, size, unit, made,
                     [&] { return PMPI_Win_create(memory, size, unit, info, comm, made); });
}

ELC_EXPORT int MPI_Win_free(MPI_Win* window) { return free_window(window); }

ELC_EXPORT int MPI_Win_fence(int assertion, MPI_Win window) { return fence(assertion, window); }

ELC_EXPORT int MPI_Put(ELC_CONST void* from, int count, MPI_Datatype type, int target, MPI_Aint offset,
                       int target_count, MPI_Datatype target_type, MPI_Win window) {
  OneSided o{OneSided::Call::kPut};
  o.origin = from, o.origin_count = count, o.origin_type = type;
  o.target = target, o.offset = offset, o.target_count = target_count, o.target_type = target_type;
  return one_sided("MPI_Put", o, window);
}

ELC_EXPORT int MPI_Get(void* to, int count, MPI_Datatype type, int target, MPI_Aint offset, int target_count,
                       MPI_Datatype target_type, MPI_Win window) {
  OneSided o{OneSided::Call::kGet};
  o.result = to, o.result_count = count, o.result_type = type;
  o.target = target, o.offset = offset, o.target_count = target_count, o.target_type = target_type;
  return one_sided("MPI_Get", o, window);
}

ELC_EXPORT int MPI_Accumulate(ELC_CONST void* from, int count, MPI_Datatype type, int target, MPI_Aint offset,
                              int target_count, MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  OneSided o{OneSided::Call::kAccumulate};
  o.origin = from, o.origin_count = count, o.origin_type = type, o.op = op;
  o.target = target, o.offset = offset, o.target_count = target_count, o.target_type = target_type;
  return one_sided("MPI_Accumulate", o, window);
}

#if MPI_VERSION >= 3
ELC_EXPORT int MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* memory,
                                MPI_Win* made) {
  return make_window("MPI_Win_allocate", ELC_CALLER(), comm, false, static_cast<void**>(memory), size, unit, made,
                     [&] { return PMPI_Win_allocate(size, unit, info, comm, memory, made); });
}

ELC_EXPORT int MPI_Get_accumulate(const void* from, int count, MPI_Datatype type, void* to, int to_count,
                                  MPI_Datatype to_type, int target, MPI_Aint offset, int target_count,
                                  MPI_Datatype target_type, MPI_Op op, MPI_Win window) {
  OneSided o{OneSided::Call::kGetAccumulate};
  o.origin = from, o.origin_count = count, o.origin_type = type, o.op = op;
  o.result = to, o.result_count = to_count, o.result_type = to_type;
  o.target = target, o.offset = offset, o.target_count = target_count, o.target_type = target_type;
  return one_sided("MPI_Get_accumulate", o, window);
}

ELC_EXPORT int MPI_Fetch_and_op(const void* from, void* to, MPI_Datatype type, int target, MPI_Aint offset,
                                MPI_Op op, MPI_Win window) {
  OneSided o{OneSided::Call::kFetchAndOp};
  o.origin = from, o.result = to, o.origin_type = type, o.target = target, o.offset = offset, o.op = op;
  return one_sided("MPI_Fetch_and_op", o, window);
}

ELC_EXPORT int MPI_Compare_and_swap(const void* from, const void* compare, void* to, MPI_Datatype type,
                                    int target, MPI_Aint offset, MPI_Win window) {
  OneSided o{OneSided::Call::kCompareAndSwap};
  o.origin = from, o.compare = compare, o.result = to, o.origin_type = type, o.target = target,
  o.offset = offset;
  return one_sided("MPI_Compare_and_swap", o, window);
}
#endif
