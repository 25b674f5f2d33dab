#include "mpi/objects/communicators.h"

#include <string.h>

#include "base/attention.h"
#include "base/sort.h"
#include "mpi/objects/gather.h"
#include "mpi/objects/topologies.h"
#include "mpi/runtime/error_handlers.h"
#include "mpi/runtime/runtime.h"
#include "state/state.h"

namespace elc::mpi {

line::Identity Origin::identity() const {
  uint64_t hash = mix64(parent + 0x9e3779b97f4a7c15u);
  hash = mix64(hash ^ (number + 0x9e3779b97f4a7c15u));
  hash = mix64(hash ^ (static_cast<uint64_t>(colour) + 0x9e3779b97f4a7c15u));
  // Each process has its own, of which it makes others as often as it likes.
  if (parent == kSelfIdentity) hash = mix64(hash ^ (static_cast<uint64_t>(runtime.rank) + 0x9e3779b97f4a7c15u));
  return hash <= kSelfIdentity ? hash + kSelfIdentity + 1 : hash;
}

int Communicator::local(line::Rank world_rank) const {
  if (is_world) return world_rank;
  const int* found = rank_of.find(static_cast<uint32_t>(world_rank));
  return found == nullptr ? MPI_UNDEFINED : *found;
}

bool Communicator::is_root(int root) const {
#ifdef MPI_ROOT
  if (is_inter()) return root == MPI_ROOT;
#endif
  return rank == root;
}

static void forget(Attributes* attributes, int keyval) {
  for (size_t i = attributes->size(); i-- > 0;)
    if ((*attributes)[i].keyval == keyval) attributes->erase(i);
}

void Communicator::attribute_is_deleted(int keyval) {
  forget(&attributes, keyval);
  if (in_setup()) forget(&of_set_up, keyval);
}

void Communicator::attribute_is_set(const KeptAttribute& attribute) {
  attribute_is_deleted(attribute.keyval);
  attributes.push_back(attribute);
  if (in_setup()) of_set_up.push_back(attribute);
}

Communicator* Communicators::search(MPI_Comm handle) {
  Communicator** found = by_handle_.find(handle_key(handle));
  if (found == nullptr) return nullptr;
  last_handle_ = handle;
  last_ = *found;
  return last_;
}

Communicator* Communicators::find_identity(line::Identity identity) const {
  Communicator* const* found = by_identity_.find(identity);
  return found == nullptr ? nullptr : *found;
}

Vector<line::Rank> world_ranks(MPI_Group group) {
  int size = 0;
  MPI_Group world;
  PMPI_Group_size(group, &size);
  Vector<int> locals;
  for (int i = 0; i < size; ++i) locals.push_back(i);
  Vector<line::Rank> ranks;
  ranks.resize(static_cast<size_t>(size));
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, size, locals.data(), world, ranks.data());
  PMPI_Group_free(&world);
  return ranks;
}

int rank_in(const Vector<line::Rank>& group) {
  for (size_t i = group.size(); i-- > 0;)
    if (group[i] == runtime.rank) return static_cast<int>(i);
  return -1;
}

Vector<line::Rank> members_in_world(MPI_Comm comm) {
  MPI_Group group;
  PMPI_Comm_group(comm, &group);
  Vector<line::Rank> ranks = world_ranks(group);
  PMPI_Group_free(&group);
  return ranks;
}

Vector<line::Rank> others_in_world(MPI_Comm comm) {
  int inter = 0;
  MPI_Group group;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter == 0) return Vector<line::Rank>();
  PMPI_Comm_remote_group(comm, &group);
  Vector<line::Rank> ranks = world_ranks(group);
  PMPI_Group_free(&group);
  return ranks;
}

Vector<line::Rank> all_in_world(MPI_Comm comm) {
  Vector<line::Rank> all = members_in_world(comm);
  const Vector<line::Rank> others = others_in_world(comm);
  all.append(others.data(), others.size());
  return all;
}

uint64_t account_of(line::Identity identity, line::Comm slot, int rank, size_t members) {
  if (members < 2) return 0;
  const uint64_t operation = mix64(identity + runtime.coordinator->operations(slot));
  const auto local = static_cast<uint64_t>(rank);
  return mix64(operation + local) ^ mix64(operation + (local + 1) % members);
}

void forget_of_set_up(line::Identity identity) {
  for (size_t i = runtime.set_up.size(); i-- > 0;)
    if (runtime.set_up[i] == identity) return runtime.set_up.erase(i);
}

void Communicator::error_handler_is(uint64_t handler) {
  error_handler = handler;
  if (handler != LocalObjects::kErrorsAreFatal) attend(kErrors, true);  // whatever comes later
}

Communicator* Communicators::add(MPI_Comm handle, line::Identity identity, const Origin& origin) {
  Communicator* c = make<Communicator>();
  c->handle = handle;
  c->identity = identity;
  c->origin = origin;
  PMPI_Comm_rank(handle, &c->rank);
  c->members = members_in_world(handle);
  Vector<line::Rank> others = others_in_world(handle);
  if (!others.empty()) {
    c->own = std::move(c->members);
    c->members = std::move(others);
  }
  const int size = static_cast<int>(c->members.size());
  c->is_world = !c->is_inter();
  for (int i = 0; i < size; ++i) c->is_world = c->is_world && c->members[static_cast<size_t>(i)] == i;
  if (!c->is_world)
    for (int i = 0; i < size; ++i) c->rank_of.at(static_cast<uint32_t>(c->world(i))) = i;
  if (!c->is_inter()) c->topology = topology_of(handle);
  MPI_Errhandler handler = error_handler_of(handle);
  c->error_handler_is(runtime.locals.number_of_error_handler(handler));
  let_go(handler);
  enter(c);
  by_handle_.at(handle_key(handle)) = c;
  last_handle_ = MPI_COMM_NULL;
  last_ = nullptr;
  return c;
}

void Communicators::enter(Communicator* c) {
  c->place = all_.size();
  all_.push_back(c);
  by_identity_.at(c->identity) = c;
}

Communicator* Communicators::add_group(const Origin& origin, const Vector<line::Rank>& members) {
  Communicator* c = make<Communicator>();
  c->identity = origin.identity();
  c->origin = origin;
  c->members.append(members.data(), members.size());
  c->rank = rank_in(members);
  enter(c);
  if (Communicator* parent = find_identity(origin.parent); parent != nullptr && parent->handle != MPI_COMM_NULL) {
    c->is_group = true;
    parent->groups.push_back(c->identity);
  }
  return c;
}

void Communicators::forget_handle(Communicator* communicator) {
  by_handle_.remove(handle_key(communicator->handle));
  begun.forget(communicator->handle);
  communicator->handle = MPI_COMM_NULL;
  last_handle_ = MPI_COMM_NULL;
  last_ = nullptr;
}

void Communicators::remove(Communicator* c) {
  by_identity_.remove(c->identity);
  all_.back()->place = c->place;
  all_[c->place] = all_.back();
  all_.pop_back();
  destroy(c);
}

void forget_freed_communicators() {
  const line::Coordinator& coordinator = *runtime.coordinator;
  // The protocol knows one as long as something is under way on it; who has stopped does not know any more.
  if (coordinator.stopped() && (!runtime.requests->empty() || runtime.matched.size() > 0 || !alone())) return;
  runtime.comms.remove_freed([&](const Communicator& c) { return !coordinator.stopped() && coordinator.knows(c.identity); });
}

bool find_attribute(MPI_Comm comm, int keyval, KeptAttribute* found) {
  const ErrorsReturned returned(comm);
  int flag = 0;
  void* value = nullptr;
#if MPI_VERSION >= 2
  const int code = PMPI_Comm_get_attr(comm, keyval, &value, &flag);
#else
  const int code = PMPI_Attr_get(comm, keyval, &value, &flag);
#endif
  const bool unknown = code != MPI_SUCCESS;
  *found = {keyval, unknown ? nullptr : value, unknown, ""};
  return unknown || flag != 0;
}

static int delete_attribute(MPI_Comm comm, int keyval) {
#if MPI_VERSION >= 2
  return PMPI_Comm_delete_attr(comm, keyval);
#else
  return PMPI_Attr_delete(comm, keyval);
#endif
}

static int set_attribute(MPI_Comm comm, int keyval, void* value) {
#if MPI_VERSION >= 2
  return PMPI_Comm_set_attr(comm, keyval, value);
#else
  return PMPI_Attr_put(comm, keyval, value);
#endif
}

int delete_attributes(MPI_Comm comm, const Attributes& attributes) {
  int code = MPI_SUCCESS;
  KeptAttribute now;
  for (size_t i = attributes.size(); i-- > 0 && code == MPI_SUCCESS;)
    if (find_attribute(comm, attributes[i].keyval, &now) && !now.unknown) code = delete_attribute(comm, now.keyval);
  return code;
}

// ---- In a line ----

static Text name_of(MPI_Comm comm) {
  char name[MPI_MAX_OBJECT_NAME + 1] = "";
  int length = 0;
  if (comm != MPI_COMM_NULL) PMPI_Comm_get_name(comm, name, &length);
  return Text::copy(name);
}

SavedCommunicator describe(const Communicator& communicator) {
  SavedCommunicator saved;
  saved.identity = communicator.identity;
  saved.origin = communicator.origin;
  saved.members.append(communicator.members.data(), communicator.members.size());
  saved.topology = copy_of(communicator.topology);
  saved.own.append(communicator.own.data(), communicator.own.size());
  saved.error_handler = communicator.error_handler;
  saved.name = name_of(communicator.handle);
  return saved;
}

static bool is_among(const Attributes& attributes, const KeptAttribute& one) {
  for (const KeptAttribute& a : attributes)
    if (a == one) return true;
  return false;
}

Result save_attributes(const Communicator& communicator, SavedCommunicator* saved) {
  for (const KeptAttribute& a : communicator.attributes) {
    SavedAttribute& s = saved->attributes.push_back({});
    s.keyval = runtime.locals.keyvals.number_of(handle_key(a.keyval));
    const auto address = reinterpret_cast<uintptr_t>(a.value);
    // Just behind a variable is not in it: what is there would be elsewhere in another build.
    const bool in_state = state::is_registered(address, 1);
    if (is_among(communicator.of_set_up, a)) s.value = {format::kWildBlock, 0};
    else if (!in_state && address <= SavedAttribute::kNumbers) s.value = {format::kNullBlock, address};
    else if (in_state && !a.unknown) s.value = state::locate(a.value);
    else
      return Result::error("there is an attribute made by %s after the program's set-up, and its value (%p) is neither an address in "
                           "registered memory nor a number below %llu: register what it points to", a.call, a.value,
                           static_cast<unsigned long long>(SavedAttribute::kNumbers + 1));
    if (s.keyval == 0)
      return Result::error("there is an attribute made by %s whose key the program's set-up has not made: make it there", a.call);
  }
  return {};
}

namespace {

bool equal(const Vector<line::Rank>& a, const Vector<line::Rank>& b) {
  return a.size() == b.size() && (a.empty() || memcmp(a.data(), b.data(), a.size() * sizeof(line::Rank)) == 0);
}

// One of these processes, in this order. Collective over the world; MPI_COMM_NULL for the others.
MPI_Comm make_of(const Vector<line::Rank>& members, const Vector<line::Rank>& own) {
  const bool here = rank_in(own) >= 0;
  const int key = rank_in(here ? own : members);
  MPI_Comm made = MPI_COMM_NULL;
  InsideMpi inside;
  PMPI_Comm_split(runtime.control, key < 0 ? MPI_UNDEFINED : here ? 1 : 0, key < 0 ? 0 : key, &made);
  if (made == MPI_COMM_NULL || own.empty()) return made;
  MPI_Comm group = made;
  PMPI_Intercomm_create(group, 0, runtime.control, (here ? members : own)[0], kJoinTag, &made);
  PMPI_Comm_free(&group);
  return made;
}

#if MPI_VERSION >= 3
// The same, by these processes alone: one with no other group, or the own one.
MPI_Comm make_alone(const SavedCommunicator& c) {
  constexpr int kTags = 0x4000;  // above those of the library's messages, and below what every MPI allows
  const Vector<line::Rank>& group = c.own.empty() ? c.members : c.own;
  MPI_Group world, of_them;
  MPI_Comm made = MPI_COMM_NULL;
  const InsideMpi inside;
  PMPI_Comm_group(runtime.control, &world);
  PMPI_Group_incl(world, static_cast<int>(group.size()), group.data(), &of_them);
  PMPI_Comm_create_group(runtime.control, of_them, kTags + static_cast<int>(c.identity % kTags), &made);
  PMPI_Group_free(&of_them);
  PMPI_Group_free(&world);
  if (c.own.empty()) return made;
  MPI_Comm own = made;
  PMPI_Intercomm_create(own, 0, runtime.control, c.members[0], kJoinTag, &made);
  PMPI_Comm_free(&own);
  return made;
}

// Whether all members of each of these have it, so that they come together where each goes through its own in one order. (Who
// has freed one may have forgotten it, where another one has not.)
bool all_members_have(const Vector<const SavedCommunicator*>& mine) {
  uint64_t account = 0;  // as account_of: what each says of itself and of the next member cancels out
  for (const SavedCommunicator* c : mine) {
    const Vector<line::Rank>& group = c->own.empty() ? c->members : c->own;
    const size_t before = &group == &c->own && c->members[0] < c->own[0] ? c->members.size() : 0;
    const size_t all = c->members.size() + c->own.size(), position = before + static_cast<size_t>(rank_in(group));
    account ^= mix64(mix64(c->identity) + position) ^ mix64(mix64(c->identity) + (position + 1) % all);
  }
  const unsigned halves[] = {static_cast<unsigned>(account), static_cast<unsigned>(account >> 32)};
  unsigned all[] = {0, 0};
  PMPI_Allreduce(halves, all, 2, MPI_UNSIGNED, MPI_BXOR, runtime.control);
  return all[0] == 0 && all[1] == 0;
}
#else
bool all_members_have(const Vector<const SavedCommunicator*>&) { return false; }
MPI_Comm make_alone(const SavedCommunicator&) { return MPI_COMM_NULL; }
#endif

void enter_again(const SavedCommunicator& c, MPI_Comm made) {
  const InsideMpi inside;
  MPI_Errhandler handler = error_handler_of(MPI_COMM_WORLD);
  set_error_handler(made, handler);
  let_go(handler);
  give_topology(&made, c.topology);
  runtime.comms.add(made, c.identity, c.origin);
}

}  // namespace

Text text_of(const Origin& origin) {
  if (origin.number == kJoined) return Text::copy("by MPI_Intercomm_create");
  return Text::format("as operation %llu on its parent", static_cast<unsigned long long>(origin.number));
}

Result fits_set_up(const Vector<SavedCommunicator>& saved) {
  const auto call_of = [](const Origin& origin) { return Origin{origin.parent, origin.number, 0}.identity(); };
  HashMap<const Communicator*> made;
  for (size_t i = 0; i < runtime.comms.size(); ++i) {
    const Communicator* c = runtime.comms.at(i);
    if (c->handle != MPI_COMM_NULL && c->identity > kSelfIdentity) made.at(call_of(c->origin)) = c;
  }
  for (const SavedCommunicator& then : saved) {
    const Communicator* const* found = made.find(call_of(then.origin));
    if (found == nullptr) continue;
    const Communicator& now = **found;
    if (now.identity == then.identity && equal(now.members, then.members) && equal(now.own, then.own)) {
      if (now.topology == then.topology) continue;
      return Result::error("the set-up gives a communicator another topology than in the run of the line (%s); see that it gives "
                           "the same arguments", text_of(now.origin).c_str());
    }
    return Result::error("the set-up makes a communicator of %zu processes where it made one of %zu, or others, in the "
                         "run of the line (%s); see that it gives the same arguments, and that these do not depend on the machine",
                         now.processes(), then.members.size() + then.own.size(), text_of(now.origin).c_str());
  }
  return {};
}

void make_again(const Vector<SavedCommunicator>& saved) {
  // Those that the set-up of this run has made are there at all their members: not wanted by any.
  const auto wanted = [](const SavedCommunicator& c) {
    return c.identity > kSelfIdentity && !c.is_of_group() && runtime.comms.find_identity(c.identity) == nullptr;
  };
  Vector<const SavedCommunicator*> mine;
  for (const SavedCommunicator& c : saved)
    if (wanted(c)) mine.push_back(&c);
  sort(mine, [](const SavedCommunicator* a, const SavedCommunicator* b) { return a->identity < b->identity; });
  if (all_members_have(mine)) {
    for (const SavedCommunicator* c : mine) enter_again(*c, make_alone(*c));
  } else {
    // All together, each of which has to hear of all that there are.
    line::Identity previous = kNullIdentity;
    size_t at = 0;
    for (const SavedCommunicator& c : gather_wanted(saved, wanted)) {
      if (c.identity == previous) continue;
      previous = c.identity;
      while (at < mine.size() && mine[at]->identity < c.identity) ++at;
      const bool own = at < mine.size() && mine[at]->identity == c.identity;
      MPI_Comm made = make_of(c.members, c.own);
      // Each process knows its own neighbours.
      if (made != MPI_COMM_NULL) enter_again(own ? *mine[at] : c, made);
    }
  }
  for (const SavedCommunicator& c : saved)
    if (c.is_of_group() && runtime.comms.find_identity(c.identity) == nullptr) runtime.comms.add_group(c.origin, c.members);
}

namespace {

const SavedAttribute* find(const Vector<SavedAttribute>& saved, uint64_t keyval) {
  for (const SavedAttribute& s : saved)
    if (s.keyval == keyval) return &s;
  return nullptr;
}

bool has(const Communicator& comm, uint64_t keyval) {
  for (const KeptAttribute& a : comm.attributes)
    if (runtime.locals.keyvals.number_of(handle_key(a.keyval)) == keyval) return true;
  return false;
}

// Takes from it what it had not, or with another value.
Result take_attributes(Communicator* comm, const SavedCommunicator& then) {
  for (size_t i = comm->attributes.size(); i-- > 0;) {
    const int keyval = comm->attributes[i].keyval;
    const SavedAttribute* saved = find(then.attributes, runtime.locals.keyvals.number_of(handle_key(keyval)));
    if (saved != nullptr && saved->value.block == format::kWildBlock) continue;
    const int code = released_inside([&] { return delete_attribute(comm->handle, keyval); });
    if (code != MPI_SUCCESS) return Result::error("an attribute of a communicator, which the set-up has set, cannot be deleted");
    forget(&comm->attributes, keyval);
    if (i > comm->attributes.size()) i = comm->attributes.size();  // its delete function has deleted others
  }
  for (const SavedAttribute& saved : then.attributes) {
    int keyval = 0;
    ELC_TRY(runtime.locals.find_keyval(saved.keyval, &keyval));
    if (saved.value.block == format::kWildBlock && !has(*comm, saved.keyval))
      return Result::error("the set-up does not give a communicator an attribute that it gave it in the run of the line");
  }
  return {};
}

Result name_again(Communicator* comm, const SavedCommunicator& then) {
  const Text name = Text::copy(then.name.view(), MPI_MAX_OBJECT_NAME - 1);  // other MPIs have longer ones
  if (name.view() != name_of(comm->handle).view()) PMPI_Comm_set_name(comm->handle, const_cast<char*>(name.c_str()));
  if (then.error_handler == 0 || then.error_handler == comm->error_handler) return {};
  MPI_Errhandler handler;
  ELC_TRY(runtime.locals.find_error_handler(then.error_handler, &handler));
  set_error_handler(comm->handle, handler);
  comm->error_handler_is(then.error_handler);
  return {};
}

// Those of a line that say these things, and are there.
template <class F>
Result each_there(const Vector<SavedCommunicator>& saved, F visit) {
  for (const SavedCommunicator& then : saved) {
    Communicator* comm = runtime.comms.find_identity(then.identity);
    if (comm != nullptr && comm->handle != MPI_COMM_NULL && then.complete) ELC_TRY(visit(comm, then));
  }
  return {};
}

}  // namespace

Result name_again(const Vector<SavedCommunicator>& saved) {
  return each_there(saved, [](Communicator* comm, const SavedCommunicator& then) {
    ELC_TRY(name_again(comm, then));
    return take_attributes(comm, then);
  });
}

Result set_attributes_again(const Vector<SavedCommunicator>& saved) {
  return each_there(saved, [](Communicator* comm, const SavedCommunicator& then) {
    for (const SavedAttribute& s : then.attributes) {
      if (s.value.block == format::kWildBlock) continue;
      const bool number = s.value.block == format::kNullBlock;
      KeptAttribute a;
      a.call = "a call before the restart";
      ELC_TRY(runtime.locals.find_keyval(s.keyval, &a.keyval));
      void* value = number ? reinterpret_cast<void*>(static_cast<uintptr_t>(s.value.position)) : state::address_of(s.value);
      if (!number && value == nullptr) return Result::error("an attribute of a communicator is not part of the saved state");
      const InsideMpi inside;
      if (set_attribute(comm->handle, a.keyval, value) != MPI_SUCCESS)
        return Result::error("an attribute of a communicator cannot be set again");
      a.value = value;
      comm->attributes.push_back(a);
    }
    return Result();
  });
}

}  // namespace elc::mpi
