// What a persistent collective operation is called with, as long as its request is there: a restart gives it to MPI again.
#ifndef ELC_MPI_OBJECTS_COLLECTIVE_ARGUMENTS_H
#define ELC_MPI_OBJECTS_COLLECTIVE_ARGUMENTS_H

#include <mpi.h>

#include "base/result.h"
#include "base/vector.h"
#include "mpi/objects/collective_results.h"
#include "mpi/objects/communicators.h"
#include "mpi/serial/section.h"

namespace elc::mpi {

inline bool in_place(const void* buffer) {
#ifdef MPI_IN_PLACE
  return buffer == MPI_IN_PLACE;
#else
  return buffer == nullptr;
#endif
}

// Parts of the program's memory, each with its datatype, which is kept.
class Regions {
 public:
  Regions() = default;
  ~Regions();
  Regions(const Regions&) = delete;
  Regions& operator=(const Regions&) = delete;

  // `type`: the number of the region's datatype, one reference to which passes to this.
  void add(const Region& region, uint64_t type);
  void add(const Region& region);
  const Vector<Region>& all() const { return regions_; }
  const Vector<uint64_t>& types() const { return types_; }

 private:
  Vector<Region> regions_;
  Vector<uint64_t> types_;
};

// What it reads, or where it puts what it gets. Nothing, where the operation does not look at these arguments in this process.
struct Side {
  bool in_place = false;
  void* base = nullptr;
  Regions blocks;

  // As the call is given it: one block, so many side by side, of one size or of these, or some by their offsets in elements or in
  // bytes. Negative `n`: none.
  void one(const void* buffer, int count, MPI_Datatype type) { even(buffer, count, type, 1); }
  void even(const void* buffer, int count, MPI_Datatype type, int n);
  void in_a_row(const void* buffer, const Vector<int>& block_counts, MPI_Datatype type);
  void at_offsets(const void* buffer, const int* block_counts, const int* block_offsets, MPI_Datatype type, int n);
  template <class Offset>
  void in_bytes(const void* buffer, const int* block_counts, const Offset* at, const MPI_Datatype* block_types, int n) {
    if (!begin(buffer)) return;
    for (int i = 0; i < n; ++i) blocks.add({static_cast<uint8_t*>(base) + at[i], block_counts[i], block_types[i]});
  }

  // For a call of MPI, from the blocks.
  Vector<int> counts, offsets;
  Vector<MPI_Aint> displacements;
  Vector<MPI_Datatype> types;
  void* buffer() const;
  int count() const { return counts.empty() ? 0 : counts[0]; }
  MPI_Datatype type() const { return types.empty() ? MPI_INT : types[0]; }
  // Sets these. false: the blocks do not lie as such a call can say it.
  enum class Shape { kEven, kOffsets, kBytes, kDisplacements };
  bool flatten(Shape shape);

 private:
  bool begin(const void* buffer);
};

// To the protocol such a request is a communicator of its own, on which each start is an operation, and its end: of several
// requests each member may start another one first.
struct CollectiveArguments {
  // Made by operation `made` on this communicator; 0: of one that is not followed, of which nothing else is known.
  line::Identity comm = kNullIdentity;
  uint64_t made = 0;
  line::Comm slot = 0;
  int position = 0;
  size_t processes = 0;
  MPI_Request request = MPI_REQUEST_NULL;  // MPI's own, which MPI starts; none in a restart where members had freed it

  Collectively call = Collectively::kBarrier;
  int root = 0;
  MPI_Op op = MPI_OP_NULL;
  uint64_t op_number = 0;   // as of a variable; 0: one that no line can have
  Vector<int> counts;       // of MPI_Reduce_scatter_init
  Side from, to;
  Regions writes;           // what each start writes in this process

  void set_op(MPI_Op operation);
  line::Identity identity() const { return Origin{comm, made, 0}.identity(); }
  // Tells the protocol of it, made by that operation on this communicator; or again, in a restart.
  void is_made(const Communicator& on, uint64_t by);
  void add_slot();
  // In a restart: MPI makes the request. Collective over the communicator. Fails where the arguments do not fit it.
  Result make_again(const Communicator& on);

 private:
  Result flatten(const Communicator& on);
  int init(MPI_Comm on);
};

}  // namespace elc::mpi

#endif
