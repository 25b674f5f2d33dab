// Communicators as the library knows them: identity, members, number of operations.
#ifndef ELC_MPI_OBJECTS_COMMUNICATORS_H
#define ELC_MPI_OBJECTS_COMMUNICATORS_H

#include <mpi.h>

#include "base/hash_map.h"
#include "mpi/objects/handle_key.h"
#include "mpi/serial/section.h"

namespace elc::mpi {

// An attribute that the program has set, or a copy of one.
struct KeptAttribute {
  int keyval = 0;
  const void* value = nullptr;
  bool unknown = false;  // MPI does not tell the value, because the keyval was freed
  const char* call = "";  // that has set it, or copied it

  bool operator==(const KeptAttribute& other) const {
    return keyval == other.keyval && value == other.value && unknown == other.unknown;
  }
};
using Attributes = Vector<KeptAttribute>;

// Or the calls of a group (kCallsOnGroup): without a handle.
struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  line::Identity identity = 0;
  Origin origin;
  line::Comm slot = 0;         // in line::Coordinator
  int rank = 0;                // of this process in it, or in its group of an intercommunicator
  bool is_world = false;       // ranks are those of the world
  uint64_t error_handler = 0;  // LocalObjects::number_of_error_handler
  Vector<line::Rank> members;  // world ranks, by rank in calls: of an intercommunicator those of the other group
  HashMap<int> rank_of;        // the reverse, unless is_world
  Vector<line::Rank> own;      // of an intercommunicator those of this process's group; of others empty
  Topology topology;
  Attributes attributes;       // in the order in which they were set
  Attributes of_set_up;        // what the set-up has set, whatever was set since
  size_t place = 0;            // among all
  Vector<line::Identity> groups;  // that have made calls on it
  bool is_group = false;          // until the communicator on which it makes its calls is freed
  bool in_call = false;           // of a group

  line::Rank world(int local) const { return members[static_cast<size_t>(local)]; }
  int local(line::Rank world_rank) const;
  bool is_inter() const { return !own.empty(); }
  size_t processes() const { return members.size() + own.size(); }
  // Of this process among all of them, in an order that is the same at all.
  int position() const { return own.empty() || own[0] < members[0] ? rank : rank + static_cast<int>(members.size()); }
  // Whether this process is the root of an operation, as its argument says; and whether the operation has a root for this
  // process: of an intercommunicator, the group of the root has none.
  bool is_root(int root) const;
  bool has_root(int root) const { return own.empty() || root >= 0; }
  // For calls that want a communicator: where this one was freed meanwhile, another one.
  MPI_Comm handle_or_world() const { return handle != MPI_COMM_NULL ? handle : MPI_COMM_WORLD; }
  // `handler`: LocalObjects::number_of_error_handler.
  void error_handler_is(uint64_t handler);
  void attribute_is_set(const KeptAttribute& attribute);
  void attribute_is_deleted(int keyval);
};

class Communicators {
 public:
  // The communicator of a handle, or nullptr for one that the library has not seen made.
  Communicator* find(MPI_Comm handle) {
    if (handle == last_handle_) [[likely]] return last_;
    return search(handle);
  }
  // The same, if it is the one found last; nullptr does not say that there is none.
  Communicator* last(MPI_Comm handle) const { return handle == last_handle_ ? last_ : nullptr; }
  Communicator* find_identity(line::Identity identity) const;
  // kNullIdentity for a handle that it does not find.
  line::Identity identity_of(MPI_Comm handle) {
    const Communicator* c = find(handle);
    return c == nullptr ? kNullIdentity : c->identity;
  }
  // Adds one that exists in MPI. The members are asked of MPI.
  Communicator* add(MPI_Comm handle, line::Identity identity, const Origin& origin);
  // Adds the calls that these members make on a communicator, which is there.
  Communicator* add_group(const Origin& origin, const Vector<line::Rank>& members);
  // It was freed: its handle means nothing any more. It stays until no line needs it.
  void forget_handle(Communicator* communicator);
  // Removes those that were freed and of which `needed` says that no line needs them any more.
  template <class F>
  void remove_freed(F needed) {
    for (size_t i = all_.size(); i-- > 0;)
      if (all_[i]->handle == MPI_COMM_NULL && !all_[i]->is_group && !needed(*all_[i])) remove(all_[i]);
  }
  size_t size() const { return all_.size(); }
  Communicator* at(size_t i) { return all_[i]; }

 private:
  void enter(Communicator* communicator);
  Communicator* search(MPI_Comm handle);
  void remove(Communicator* communicator);

  MPI_Comm last_handle_ = {};  // no handle; MPI_COMM_NULL is no constant in Open MPI
  Communicator* last_ = nullptr;
  HashMap<Communicator*> by_handle_;
  HashMap<Communicator*> by_identity_;
  Vector<Communicator*> all_;
};

// Those that were freed are forgotten when the protocol has forgotten them.
void forget_freed_communicators();

// Whether MPI has, or may have, an attribute of this keyval, and which.
bool find_attribute(MPI_Comm comm, int keyval, KeptAttribute* found);
// Deletes the attributes that the program has set, the last first: their delete functions are called. MPI's error code.
int delete_attributes(MPI_Comm comm, const Attributes& attributes);

// The ranks in the world of a group's processes, by rank. MPI_UNDEFINED for a process of another world.
Vector<line::Rank> world_ranks(MPI_Group group);
// This process's rank in a group; -1: it is none of them.
int rank_in(const Vector<line::Rank>& group);
// The same of a communicator's members: of an intercommunicator those of this process's group, and those of the other one
// (of what is none: none).
Vector<line::Rank> members_in_world(MPI_Comm comm);
Vector<line::Rank> others_in_world(MPI_Comm comm);
Vector<line::Rank> all_in_world(MPI_Comm comm);

// Of the library's own messages where two groups are joined.
inline constexpr int kJoinTag = 2;

// How it was made, for a message.
Text text_of(const Origin& origin);

// What a communicator, or what is one to the protocol, adds to account_of_set_up: members are at the same operation where what
// each says of itself and of the next one cancels out.
uint64_t account_of(line::Identity identity, line::Comm slot, int rank, size_t members);
// What the set-up has made is gone before it is over.
void forget_of_set_up(line::Identity identity);

SavedCommunicator describe(const Communicator& communicator);
// Adds its attributes, for a line.
Result save_attributes(const Communicator& communicator, SavedCommunicator* saved);

// Whether what the set-up of this run has made is what it made in the run of the line: the same operation makes the same
// communicator. Where it depends on the machine (MPI_Comm_split_type), it may not.
Result fits_set_up(const Vector<SavedCommunicator>& saved);

// Makes the communicators of a line that are not there yet: those in `saved` and in the logged results
// of every process. Collective over the world (section 8, step 1).
void make_again(const Vector<SavedCommunicator>& saved);
// Gives those that are there the names and error handlers that they had, and takes the attributes from them that they had not,
// or with another value: the delete functions are called, as they were in the run of the line.
Result name_again(const Vector<SavedCommunicator>& saved);
// Behind state::fill: gives them the attributes that they had.
Result set_attributes_again(const Vector<SavedCommunicator>& saved);

}  // namespace elc::mpi

#endif
