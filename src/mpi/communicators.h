// Communicators as the library knows them: identity, members, number of operations.
#ifndef ELC_MPI_COMMUNICATORS_H
#define ELC_MPI_COMMUNICATORS_H

#include <mpi.h>
#include <string.h>

#include "base/hash_map.h"
#include "mpi/section.h"

namespace elc::mpi {

// An MPI handle as a key: a pointer in Open MPI and LAM, an int in MPICH.
template <class Handle>
inline uint64_t handle_key(Handle handle) {
  static_assert(sizeof(Handle) <= sizeof(uint64_t));
  uint64_t key = 0;
  memcpy(&key, &handle, sizeof handle);
  return key;
}

struct Communicator {
  MPI_Comm handle = MPI_COMM_NULL;
  line::Identity identity = 0;
  Origin origin;
  line::Comm slot = 0;         // in line::Process
  int rank = 0;                // of this process in it
  bool is_world = false;       // ranks are those of the world
  Vector<line::Rank> members;  // world ranks, by rank in the communicator
  HashMap<int> rank_of;        // the reverse, unless is_world

  line::Rank world(int local) const { return members[static_cast<size_t>(local)]; }
  int local(line::Rank world_rank) const;
};

class Communicators {
 public:
  // The communicator of a handle, or nullptr for one that the library has not seen made.
  Communicator* find(MPI_Comm handle) {
    if (handle == last_handle_) [[likely]] return last_;
    return search(handle);
  }
  Communicator* find_identity(line::Identity identity);
  // Adds one that exists in MPI. The members are asked of MPI.
  Communicator* add(MPI_Comm handle, line::Identity identity, const Origin& origin);
  // It was freed: its handle means nothing any more. It stays until no line needs it.
  void forget_handle(Communicator* communicator);
  size_t size() const { return all_.size(); }
  Communicator* at(size_t i) { return all_[i]; }
  void remove(size_t i);

 private:
  Communicator* search(MPI_Comm handle);

  MPI_Comm last_handle_ = {};  // no handle; MPI_COMM_NULL is no constant in Open MPI
  Communicator* last_ = nullptr;
  HashMap<Communicator*> by_handle_;
  Vector<Communicator*> all_;
};

SavedCommunicator describe(const Communicator& communicator);

// Makes the communicators of a line that are not there yet: those in `saved` and in the logged results
// of every process. Collective over the world (section 8, step 1).
void make_again(const Vector<SavedCommunicator>& saved);

}  // namespace elc::mpi

#endif
