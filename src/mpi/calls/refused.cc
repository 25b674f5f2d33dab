#include "mpi/calls/refused.h"

namespace elc::mpi {
namespace {

// Not 0.
uint64_t value_of(const void* pointer, int64_t size) {
  return mix64(reinterpret_cast<uintptr_t>(pointer) ^ mix64(static_cast<uint64_t>(size))) | 1;
}

}  // namespace

void Refused::together(MPI_Comm made) const {
  if (made == MPI_COMM_NULL) return;
  Vector<line::Rank> others;
  for (const line::Rank rank : all_in_world(made))
    if (rank != MPI_UNDEFINED && rank != runtime.rank) others.push_back(rank);
  runtime.coordinator->on_group_call(others.data(), others.size(), call_);
}

void Refused::paired(MPI_Comm handle, int peer, bool sends) const {
  if (peer == MPI_PROC_NULL) return;
  if (peer == MPI_ANY_SOURCE) return cannot_checkpoint("a call was made with whoever makes it as well, which libELC does not follow");
  const Communicator* comm = followed(handle, peer);
  if (comm == nullptr) return used_unfollowed(handle, peer);
  const line::Rank other = comm->world(peer);
  if (other != runtime.rank) runtime.coordinator->on_pair_call(other, sends, call_);
}

void Refused::type_attribute(MPI_Datatype type, int keyval, bool there, const void* value) const {
  const uint64_t object = handle_key(type);
  const uint64_t key = object * 0x9E3779B97F4A7C15u ^ static_cast<uint32_t>(keyval);
  set_local_obstacle(HandleKind::kAttribute, key, object, there ? value_of(value, 0) : 0, call_, place_);
}

void Refused::buffer(const void* buffer, int64_t size) const {
  set_local_obstacle(HandleKind::kBuffer, 0, 0, buffer != nullptr ? value_of(buffer, size) : 0, call_, place_);
}

void Refused::inherits(Communicator* made, const Attributes& parents) const {
  error_handler(made);
  KeptAttribute copy;
  for (const KeptAttribute& parent : parents)
    if (find_attribute(made->handle, parent.keyval, &copy)) {
      copy.call = call_;
      made->attribute_is_set(copy);
    }
}

void Refused::error_handler(MPI_Comm handle, MPI_Errhandler handler) const {
  Communicator* comm = runtime.comms.find(handle);
  if (comm == nullptr) return;
  comm->error_handler_is(runtime.locals.number_of_error_handler(handler));
  error_handler(comm);
}

void Refused::error_handler(Communicator* comm) const {
  const uint64_t key = handle_key(comm->handle);
  remove_obstacle(HandleKind::kErrhandler, key);
  if (comm->error_handler == 0 && !in_setup()) add_obstacle(HandleKind::kErrhandler, key, call_, place_);
}

int end_counted(Collective* operation, const Refused& now, int code) {
  if (operation->comm() != nullptr) return operation->end_unlogged(now.call(), code);
  operation->over(code);  // a communicator of which the library knows nothing
  return code;
}

int members(MPI_Comm handle) {
  Communicator* comm = runtime.comms.find(handle);
  return comm == nullptr ? -1 : static_cast<int>(comm->members.size());
}

int own_members(MPI_Comm handle) {
  Communicator* comm = runtime.comms.find(handle);
  return comm == nullptr ? -1 : static_cast<int>(comm->is_inter() ? comm->own.size() : comm->members.size());
}

#if MPI_VERSION >= 3
// -1: it has no neighbours, and MPI will say so.
static int neighbours(MPI_Comm comm, bool to) {
  InsideMpi inside;
  int kind = MPI_UNDEFINED, count = -1, out = 0, weighted = 0, rank = 0;
  if (runtime.comms.find(comm) == nullptr || PMPI_Topo_test(comm, &kind) != MPI_SUCCESS) return -1;
  PMPI_Comm_rank(comm, &rank);
  if (kind == MPI_CART && PMPI_Cartdim_get(comm, &count) == MPI_SUCCESS) return 2 * count;
  if (kind == MPI_GRAPH) PMPI_Graph_neighbors_count(comm, rank, &count);
  if (kind == MPI_DIST_GRAPH) PMPI_Dist_graph_neighbors_count(comm, &count, &out, &weighted);
  return kind == MPI_DIST_GRAPH && to ? out : count;
}

int destinations(MPI_Comm comm) { return neighbours(comm, true); }
int sources(MPI_Comm comm) { return neighbours(comm, false); }
#endif

bool is_root(int root, MPI_Comm handle) {
  Communicator* comm = runtime.comms.find(handle);
  return comm != nullptr && comm->is_root(root);
}

}  // namespace elc::mpi
