// MPI standard, chapters 6 and 7: making and freeing communicators. A collective operation on the parent,
// whose logged result is the identity of what it made (PROTOCOL.md, section 6).
#include <limits.h>
#include <string.h>

#include "mpi/calls/collective.h"
#include "mpi/calls/refused.h"
#include "mpi/objects/communicators.h"
#include "mpi/objects/topologies.h"

namespace elc::mpi {
namespace {

// Hands out the communicator that a restart has made for this call.
int replay(Collective* operation, MPI_Comm* made) {
  Decoder in(*operation->logged());
  SavedCommunicator saved;
  if (!decode_result(in, static_cast<uint32_t>(runtime.size), &saved)) {
    give_up(Result::error("operation %llu on a communicator makes a communicator, which it did not before; restart "
                          "from an older line",
                          static_cast<unsigned long long>(operation->number())));
  }
  Communicator* c = runtime.comms.find_identity(saved.identity);
  *made = c == nullptr ? MPI_COMM_NULL : c->handle;
  Bytes again;
  again.append(operation->logged()->data(), operation->logged()->size());
  operation->end_with(std::move(again));
  return MPI_SUCCESS;
}

// Made of one that the library does not follow: no more followed than that.
int make_obstacle(MPI_Comm parent, MPI_Comm* made, int code) {
  if (code != MPI_SUCCESS || *made == MPI_COMM_NULL) return code;
  const char* call = runtime.obstacles.call_of(HandleKind::kComm, handle_key(parent));
  if (call != nullptr) add_obstacle(HandleKind::kComm, handle_key(*made), call);
  else cannot_checkpoint(kUnseenCommunicator);
  return code;
}

// The colour of calls that know of none, and make one communicator or several that have no process in common: the
// first of its members, or of its two groups the lower one.
constexpr int64_t kFirstMember = -1 - int64_t{INT_MAX};

line::Rank first_member(MPI_Comm comm) {
  const Vector<line::Rank> members = members_in_world(comm), others = others_in_world(comm);
  return others.empty() || members[0] < others[0] ? members[0] : others[0];
}

#if MPI_VERSION >= 3
// What it makes is followed when that is complete; until then no restart could make it again.
template <class Call>
int begin_communicator(MPI_Comm parent, MPI_Comm* made, MPI_Request* request, const char* name, Call call) {
  Collective operation(parent);
  if (operation.logged() != nullptr) {
    *request = runtime.requests->make_complete();
    return replay(&operation, made);
  }
  const int code = released_inside(call);
  const Communicator* comm = operation.comm();
  if (comm == nullptr) {
    if (code == MPI_SUCCESS) made_unfollowed(parent, 0, *request, name);
    return make_obstacle(parent, made, code);
  }
  if (code != MPI_SUCCESS) return operation.end_failed(code);
  Making* making = make<Making>();
  making->made = made;
  making->origin = {comm->identity, operation.number(), 0};
  making->parents.append(comm->attributes.data(), comm->attributes.size());
  making->call = name;
  runtime.coordinator->pending_collective(comm->slot, operation.number());
  if (Request* r = runtime.requests->add_collective(*request, comm->slot, operation.number(), Vector<Region>(), making))
    runtime.requests->hinder(r, *request, name);
  return MPI_SUCCESS;
}
#endif

// The operation that makes it has been counted.
template <class Call>
int make_counted(Collective operation, int64_t colour, MPI_Comm* made, const char* name, Call call) {
  if (operation.logged() != nullptr) return replay(&operation, made);
  const int code = released_inside(call);
  if (code != MPI_SUCCESS) return operation.end_unlogged(name, code);
  const Communicator& parent = *operation.comm();
  const Origin origin{parent.identity, operation.number(),
                      colour == kFirstMember && *made != MPI_COMM_NULL ? first_member(*made) : colour};
  end_making(parent.slot, operation.number(), follow(*made, origin, parent.attributes, name), name);
  return MPI_SUCCESS;
}

// Whether it hands on attributes.
bool copies(const char* call) { return strstr(call, "dup") != nullptr; }

}  // namespace

Bytes follow(MPI_Comm made, const Origin& origin, const Attributes& parents, const char* call) {
  SavedCommunicator saved;
  if (made != MPI_COMM_NULL) {
    Communicator* c = runtime.comms.add(made, origin.identity(), origin);
    c->slot = runtime.coordinator->add_comm(c->identity, static_cast<uint32_t>(c->processes()));
    if (in_setup()) runtime.set_up.push_back(c->identity);
    if (!c->topology.fits(c->members.size())) cannot_checkpoint("a communicator has a topology that libELC does not know");
    saved = describe(*c);
    Refused(call, nullptr).inherits(c, parents);
    // Functions were called that copy attributes, or it has an error handler that a restart has not.
    if ((copies(call) && !parents.empty()) || !c->attributes.empty() || c->error_handler == 0) return Bytes();
  }
  Bytes result;
  Encoder out(&result);
  out.u32(kLayout);
  saved.encode(out);
  return result;
}

namespace {

template <class Call>
int make_communicator(MPI_Comm parent, int64_t colour, MPI_Comm* made, const char* name, Call call) {
  if (!following()) return call();
  const Entered entered(name);
  Collective operation(parent);
  if (operation.comm() == nullptr) return make_obstacle(parent, made, released(call));
  return make_counted(std::move(operation), colour, made, name, call);
}

#if MPI_VERSION >= 3
// World ranks of the members of a group, all of them members of `parent` and this process among them; none: no such group.
Vector<line::Rank> members_of(MPI_Group group, const Communicator& parent) {
  if (group == MPI_GROUP_NULL) return Vector<line::Rank>();
  Vector<line::Rank> members = world_ranks(group);
  for (const line::Rank rank : members)
    if (rank == MPI_UNDEFINED || parent.local(rank) == MPI_UNDEFINED) return Vector<line::Rank>();
  return rank_in(members) >= 0 ? std::move(members) : Vector<line::Rank>();
}

// The calls of these members on the parent, which are told of the next one.
Communicator* group_on(const Communicator& parent, const Vector<line::Rank>& members) {
  uint64_t hash = members.size();
  Vector<line::Rank> others;
  for (const line::Rank rank : members) {
    hash = mix64(hash + static_cast<uint64_t>(rank));
    if (rank != runtime.rank) others.push_back(rank);
  }
  const Origin origin{parent.identity, kCallsOnGroup, static_cast<int64_t>(hash)};
  Communicator* group = runtime.comms.find_identity(origin.identity());
  if (group == nullptr) {
    group = runtime.comms.add_group(origin, members);
    group->slot = runtime.coordinator->add_comm(group->identity, static_cast<uint32_t>(members.size()));
  }
  runtime.coordinator->tell_members(group->slot, others.data(), others.size());
  return group;
}

constexpr const char* kCreateGroup = "MPI_Comm_create_group";

// Open MPI 4.1 leaves what this makes the parent's topology, which is of others, and so what is duplicated of it.
int take_topology(MPI_Comm* comm) {
  int kind = MPI_UNDEFINED, rank = 0;
  if (*comm != MPI_COMM_NULL) PMPI_Topo_test(*comm, &kind);
  if (kind == MPI_UNDEFINED) return MPI_SUCCESS;
  MPI_Comm plain = MPI_COMM_NULL;
  PMPI_Comm_rank(*comm, &rank);
  const int code = PMPI_Comm_split(*comm, 0, rank, &plain);
  PMPI_Comm_free(comm);
  *comm = plain;
  return code;
}

// The calls of each group are counted like the operations of a communicator of its own. Two threads at once might be counted
// in one order here and in another one elsewhere.
int create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* made) {
  const auto call = [&] {
    const int code = PMPI_Comm_create_group(parent, group, tag, made);
    return code == MPI_SUCCESS ? take_topology(made) : code;
  };
  const Communicator* known = runtime.comms.find(parent);
  const Vector<line::Rank> members = known == nullptr ? Vector<line::Rank>() : members_of(group, *known);
  if (members.empty() || tag < 0) {
    const int code = make_obstacle(parent, made, released(call));
    if (code == MPI_SUCCESS) Refused(kCreateGroup, nullptr).together(*made);
    return code;
  }
  Communicator* calls = group_on(*known, members);
  if (calls->in_call) cannot_checkpoint("two threads called MPI_Comm_create_group for one group at once");
  calls->in_call = true;
  const int code = make_counted(Collective(calls), 0, made, kCreateGroup, call);
  calls->in_call = false;
  return code;
}
#endif

// ---- Joining two groups (chapter 7.6) ----

constexpr const char* kJoin = "MPI_Intercomm_create";

// What the calls of two groups have made has an origin of both. Each tells the other what its own call is; kNullIdentity: not
// that of a communicator that is followed.
Origin origin_of_joined(MPI_Comm own, MPI_Comm joined, line::Identity mine) {
  int rank = 0;
  line::Identity other = kNullIdentity;
  PMPI_Comm_rank(own, &rank);
  released_inside([&] {
    if (rank == 0)
      PMPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, 0, kJoinTag, &other, sizeof other, MPI_BYTE, 0, kJoinTag, joined, MPI_STATUS_IGNORE);
    return PMPI_Bcast(&other, sizeof other, MPI_BYTE, 0, own);
  });
  if (mine == kNullIdentity || other == kNullIdentity) return Origin();
  const bool first = mine < other;
  return {first ? mine : other, kJoined, static_cast<int64_t>(first ? other : mine)};
}

// In other worlds nobody may answer.
bool is_of_this_world(MPI_Comm joined) {
  for (const line::Rank rank : all_in_world(joined))
    if (rank == MPI_UNDEFINED) return false;
  return true;
}

// A call of processes that are not the members of one communicator: no line may cross it, as none may cross one that is not
// followed. What it makes is followed.
template <class Call>
int join(MPI_Comm own, MPI_Comm* joined, const void* place, Call call) {
  Collective operation(own);
  const Refused now(kJoin, place);
  const int code = released_inside(call);
  if (code == MPI_SUCCESS) {
    now.together(*joined);
    const Communicator* parent = operation.comm();
    const line::Identity mine = parent == nullptr ? kNullIdentity : Origin{parent->identity, operation.number(), 0}.identity();
    const Origin origin = is_of_this_world(*joined) ? origin_of_joined(own, *joined, mine) : Origin();
    if (origin.parent != kNullIdentity) follow(*joined, origin, Attributes(), kJoin);
    else now.makes(HandleKind::kComm, *joined, MPI_COMM_NULL);
  }
  return end_counted(&operation, now, code);
}

// No group makes calls on it any more, which is an operation of each.
void end_groups(Communicator* comm) {
  line::Coordinator& process = *runtime.coordinator;
  for (const line::Identity identity : comm->groups) {
    Communicator* group = runtime.comms.find_identity(identity);
    if (group == nullptr) continue;
    process.end_collective(group->slot, process.start_collective(group->slot), Bytes());
    process.free_comm(group->slot);
    group->is_group = false;
  }
  comm->groups.clear();
}

// A collective operation on the communicator, its last. What is known of it is forgotten before MPI is called: the
// delete function of an attribute may free others, and a new communicator may get the handle.
int free_communicator(const char* name, MPI_Comm* handle, int (*call)(MPI_Comm*)) {
  // What MPI frees of its own inside other calls is nothing that the library has seen made.
  const Communicator* known = runtime.active ? runtime.comms.find(*handle) : nullptr;
  if (known != nullptr && known->identity <= kSelfIdentity) return call(handle);  // MPI says that this cannot be
  const Outside outside(known != nullptr);
  if (!following()) return call(handle);
  const Entered entered(name);
  const auto free = [&] { return call(handle); };
  Collective operation(*handle);
  const MPI_Comm comm = *handle;
  const uint64_t key = handle_key(comm);
  if (operation.comm() == nullptr) {
    const int code = released_inside(free);
    if (code != MPI_SUCCESS) return code;
    remove_obstacle(HandleKind::kComm, key);
    return code;
  }
  Communicator* c = operation.comm();
  // A receive that a replay holds back has still to be given to MPI. Its message was sent before its sender came here.
  wait_until([&] { return !runtime.coordinator->holds(c->slot); });
  // Other members freed it before the line: there is nobody to free it with, and the handle is dropped.
  const bool crosses = operation.logged() != nullptr;
  operation.end_with(Bytes());
  end_groups(c);
  runtime.coordinator->free_comm(c->slot);
  remove_obstacle(HandleKind::kErrhandler, key);
  if (in_setup()) forget_of_set_up(c->identity);
  const Attributes attributes = std::move(c->attributes);
  runtime.comms.forget_handle(c);
  if (runtime.coordinator->stopped()) forget_freed_communicators();
  if (!crosses) {
    const int code = released_inside(free);
    // The delete function of an attribute has failed: it is still there, but not at the other members.
    if (code != MPI_SUCCESS && *handle == comm)
      add_obstacle(HandleKind::kComm, key, "a call that is followed, and kept by an MPI_Comm_free that has failed");
    return code;
  }
  const int code = released_inside([&] { return delete_attributes(comm, attributes); });
  *handle = MPI_COMM_NULL;
  return code;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Comm_dup(MPI_Comm parent, MPI_Comm* made) {
  return make_communicator(parent, 0, made, "MPI_Comm_dup", [&] { return PMPI_Comm_dup(parent, made); });
}

ELC_EXPORT int MPI_Comm_split(MPI_Comm parent, int colour, int key, MPI_Comm* made) {
  return make_communicator(parent, colour, made, "MPI_Comm_split", [&] { return PMPI_Comm_split(parent, colour, key, made); });
}

ELC_EXPORT int MPI_Comm_create(MPI_Comm parent, MPI_Group group, MPI_Comm* made) {
  return make_communicator(parent, kFirstMember, made, "MPI_Comm_create", [&] { return PMPI_Comm_create(parent, group, made); });
}

#if MPI_VERSION >= 3
ELC_EXPORT int MPI_Comm_create_group(MPI_Comm parent, MPI_Group group, int tag, MPI_Comm* made) {
  if (!following()) return PMPI_Comm_create_group(parent, group, tag, made);
  const Entered entered(kCreateGroup);
  labelled_call();
  tick();
  return create_group(parent, group, tag, made);
}

// A restart makes it again of the same processes, wherever they are then.
ELC_EXPORT int MPI_Comm_split_type(MPI_Comm parent, int type, int key, MPI_Info info, MPI_Comm* made) {
  return make_communicator(parent, kFirstMember, made, "MPI_Comm_split_type",
                           [&] { return PMPI_Comm_split_type(parent, type, key, info, made); });
}

ELC_EXPORT int MPI_Comm_dup_with_info(MPI_Comm parent, MPI_Info info, MPI_Comm* made) {
  return make_communicator(parent, 0, made, "MPI_Comm_dup_with_info",
                           [&] { return PMPI_Comm_dup_with_info(parent, info, made); });
}

ELC_EXPORT int MPI_Comm_idup(MPI_Comm parent, MPI_Comm* made, MPI_Request* request) {
  ELC_FOLLOW(Comm_idup, (parent, made, request));
  return begin_communicator(parent, made, request, "MPI_Comm_idup", [&] { return PMPI_Comm_idup(parent, made, request); });
}
#endif

#if MPI_VERSION >= 4
ELC_EXPORT int MPI_Comm_idup_with_info(MPI_Comm parent, MPI_Info info, MPI_Comm* made, MPI_Request* request) {
  ELC_FOLLOW(Comm_idup_with_info, (parent, info, made, request));
  return begin_communicator(parent, made, request, "MPI_Comm_idup_with_info",
                            [&] { return PMPI_Comm_idup_with_info(parent, info, made, request); });
}
#endif

// ---- Chapter 7: with a topology; what it says is asked of what has been made ----

ELC_EXPORT int MPI_Cart_create(MPI_Comm parent, int dimensions, ELC_CONST int* extents, ELC_CONST int* periodic, int reorder,
                               MPI_Comm* made) {
  return make_communicator(parent, 0, made, "MPI_Cart_create",
                           [&] { return PMPI_Cart_create(parent, dimensions, extents, periodic, reorder, made); });
}

ELC_EXPORT int MPI_Cart_sub(MPI_Comm parent, ELC_CONST int* remain, MPI_Comm* made) {
  return make_communicator(parent, kFirstMember, made, "MPI_Cart_sub", [&] { return PMPI_Cart_sub(parent, remain, made); });
}

ELC_EXPORT int MPI_Graph_create(MPI_Comm parent, int nodes, ELC_CONST int* index, ELC_CONST int* edges, int reorder,
                                MPI_Comm* made) {
  return make_communicator(parent, 0, made, "MPI_Graph_create",
                           [&] { return PMPI_Graph_create(parent, nodes, index, edges, reorder, made); });
}

#if ELC_HAVE_DIST_GRAPH_CREATE
ELC_EXPORT int MPI_Dist_graph_create(MPI_Comm parent, int n, ELC_CONST int* sources, ELC_CONST int* degrees,
                                     ELC_CONST int* destinations, ELC_CONST int* weights, MPI_Info info, int reorder,
                                     MPI_Comm* made) {
  return make_communicator(parent, 0, made, "MPI_Dist_graph_create", [&] {
    const int code = PMPI_Dist_graph_create(parent, n, sources, degrees, destinations, weights, info, reorder, made);
    if (code == MPI_SUCCESS && following()) order_neighbours(made);
    return code;
  });
}

ELC_EXPORT int MPI_Dist_graph_create_adjacent(MPI_Comm parent, int in, ELC_CONST int* sources, ELC_CONST int* source_weights,
                                              int out, ELC_CONST int* destinations, ELC_CONST int* destination_weights,
                                              MPI_Info info, int reorder, MPI_Comm* made) {
  return make_communicator(parent, 0, made, "MPI_Dist_graph_create_adjacent", [&] {
    return PMPI_Dist_graph_create_adjacent(parent, in, sources, source_weights, out, destinations, destination_weights, info,
                                           reorder, made);
  });
}
#endif

// ---- Intercommunicators ----

ELC_EXPORT int MPI_Intercomm_create(MPI_Comm own, int leader, MPI_Comm peers, int other_leader, int tag, MPI_Comm* joined) {
  const auto call = [&] { return PMPI_Intercomm_create(own, leader, peers, other_leader, tag, joined); };
  if (!following()) return call();
  const Entered entered(kJoin);
  return join(own, joined, ELC_CALLER(), call);
}

ELC_EXPORT int MPI_Intercomm_merge(MPI_Comm both, int high, MPI_Comm* made) {
  return make_communicator(both, 0, made, "MPI_Intercomm_merge", [&] { return PMPI_Intercomm_merge(both, high, made); });
}

// ---- Freeing ----

ELC_EXPORT int MPI_Comm_free(MPI_Comm* handle) { return free_communicator("MPI_Comm_free", handle, PMPI_Comm_free); }

#if ELC_HAVE_COMM_DISCONNECT
ELC_EXPORT int MPI_Comm_disconnect(MPI_Comm* handle) { return free_communicator("MPI_Comm_disconnect", handle, PMPI_Comm_disconnect); }
#endif
