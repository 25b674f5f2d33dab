#include "mpi/objects/collective_arguments.h"

#include <limits.h>

#include "mpi/calls/refused.h"
#include "mpi/datatype/datatype.h"
#include "mpi/runtime/runtime.h"
#if ELC_HAVE_MPIX_BCAST_INIT
#include <mpi-ext.h>
#endif

namespace elc::mpi {

Regions::~Regions() {
  for (const uint64_t type : types_) elc::mpi::release(type);
}

void Regions::add(const Region& region, uint64_t type) {
  regions_.push_back(region);
  types_.push_back(type);
}

void Regions::add(const Region& region) { add(region, retain(region.type)); }

// ---- One side ----

bool Side::begin(const void* buffer) {
  in_place = elc::mpi::in_place(buffer);
  if (!in_place) base = const_cast<void*>(buffer);
  return !in_place;
}

void Side::even(const void* buffer, int count, MPI_Datatype type, int n) {
  if (!begin(buffer)) return;
  const MPI_Aint step = extent(type) * count;
  for (int i = 0; i < n; ++i) blocks.add({static_cast<uint8_t*>(base) + i * step, count, type});
}

void Side::at_offsets(const void* buffer, const int* block_counts, const int* block_offsets, MPI_Datatype type, int n) {
  if (!begin(buffer)) return;
  const MPI_Aint step = extent(type);
  for (int i = 0; i < n; ++i) blocks.add({static_cast<uint8_t*>(base) + block_offsets[i] * step, block_counts[i], type});
}

void Side::in_a_row(const void* buffer, const Vector<int>& block_counts, MPI_Datatype type) {
  if (!begin(buffer)) return;
  MPI_Aint at = 0;
  for (const int count : block_counts) {
    blocks.add({static_cast<uint8_t*>(base) + at, count, type});
    at += extent(type) * count;
  }
}

void* Side::buffer() const {
#ifdef MPI_IN_PLACE
  if (in_place) return MPI_IN_PLACE;
#endif
  return base;
}

bool Side::flatten(Shape shape) {
  int i = 0;
  for (const Region& block : blocks.all()) {
    // Of what is empty the place may mean nothing any more.
    const MPI_Aint at = block.count == 0 ? 0 : static_cast<uint8_t*>(block.buffer) - static_cast<uint8_t*>(base);
    const MPI_Aint step = shape == Shape::kOffsets ? extent(block.type) : 1;
    const MPI_Aint offset = step == 0 ? 0 : at / step;
    if (offset * step != at && step != 0) return false;
    if (shape == Shape::kEven && block.count > 0 && at != MPI_Aint{i} * block.count * extent(block.type)) return false;
    if (shape != Shape::kDisplacements && (offset < INT_MIN || offset > INT_MAX)) return false;
    counts.push_back(block.count);
    offsets.push_back(static_cast<int>(offset));
    displacements.push_back(offset);
    types.push_back(block.type);
    ++i;
  }
  return true;
}

// ---- All of them ----

void CollectiveArguments::set_op(MPI_Op operation) {
  op = operation;
  op_number = runtime.locals.number_of_operation(operation);
}

void CollectiveArguments::is_made(const Communicator& on, uint64_t by) {
  comm = on.identity;
  made = by;
  position = on.position();
  processes = on.processes();
  add_slot();
}

void CollectiveArguments::add_slot() { slot = runtime.coordinator->add_comm(identity(), static_cast<uint32_t>(processes)); }

Result CollectiveArguments::make_again(const Communicator& on) {
  ELC_TRY(flatten(on));
  if (init(on.handle) == MPI_SUCCESS) return {};
  return Result::error("a persistent collective operation cannot be made again: MPI refuses %s", collective_name(call));
}

#if ELC_HAVE_BCAST_INIT || ELC_HAVE_MPIX_BCAST_INIT
#if ELC_HAVE_BCAST_INIT
#define ELC_INIT(NAME) PMPI_##NAME##_init
#else
#define ELC_INIT(NAME) PMPIX_##NAME##_init
#endif

Result CollectiveArguments::flatten(const Communicator& on) {
  using Shape = Side::Shape;
  const int size = static_cast<int>(on.members.size());
  const int own = on.is_inter() ? static_cast<int>(on.own.size()) : size;
  // How many blocks MPI will read of, where that is not a single count.
  Shape from_shape = Shape::kEven, to_shape = Shape::kEven;
  int from_blocks = 0, to_blocks = 0, all_counts = 0;
  switch (call) {
    case Collectively::kGatherv: to_shape = Shape::kOffsets, to_blocks = on.is_root(root) ? size : 0; break;
    case Collectively::kScatterv: from_shape = Shape::kOffsets, from_blocks = on.is_root(root) ? size : 0; break;
    case Collectively::kAllgatherv: to_shape = Shape::kOffsets, to_blocks = size; break;
    case Collectively::kAlltoallv: from_shape = to_shape = Shape::kOffsets, from_blocks = to_blocks = size; break;
    case Collectively::kAlltoallw: from_shape = to_shape = Shape::kBytes, from_blocks = to_blocks = size; break;
    case Collectively::kReduce_scatter:
      from_shape = to_shape = Shape::kDisplacements;
      all_counts = from_blocks = own, to_blocks = from.in_place ? own : 1;
      break;
    case Collectively::kNeighbor_allgatherv: to_shape = Shape::kOffsets, to_blocks = sources(on.handle); break;
    case Collectively::kNeighbor_alltoallv:
    case Collectively::kNeighbor_alltoallw:
      from_shape = to_shape = call == Collectively::kNeighbor_alltoallv ? Shape::kOffsets : Shape::kDisplacements;
      from_blocks = destinations(on.handle), to_blocks = sources(on.handle);
      break;
    default: break;
  }
  const auto right = [](Side* side, Shape shape, int blocks) {
    const bool all = shape == Shape::kEven || side->in_place || side->blocks.all().size() == static_cast<size_t>(blocks);
    return all && side->flatten(shape);
  };
  if (right(&from, from_shape, from_blocks) && right(&to, to_shape, to_blocks) && counts.size() == static_cast<size_t>(all_counts))
    return {};
  return Result::error("a persistent collective operation cannot be made again: its buffers lie otherwise than in the run of the line");
}

int CollectiveArguments::init(MPI_Comm c) {
  const MPI_Info none = MPI_INFO_NULL;  // a restart gives no hints
  const Side &f = from, &t = to;
  const Side& data = t.blocks.all().empty() ? f : t;  // of a reduction
  switch (call) {
    case Collectively::kBarrier: return ELC_INIT(Barrier)(c, none, &request);
    case Collectively::kBcast: return ELC_INIT(Bcast)(t.buffer(), t.count(), t.type(), root, c, none, &request);
    case Collectively::kGather:
      return ELC_INIT(Gather)(f.buffer(), f.count(), f.type(), t.buffer(), t.count(), t.type(), root, c, none, &request);
    case Collectively::kGatherv:
      return ELC_INIT(Gatherv)(f.buffer(), f.count(), f.type(), t.buffer(), t.counts.data(), t.offsets.data(),
                               t.type(), root, c, none, &request);
    case Collectively::kScatter:
      return ELC_INIT(Scatter)(f.buffer(), f.count(), f.type(), t.buffer(), t.count(), t.type(), root, c, none, &request);
    case Collectively::kScatterv:
      return ELC_INIT(Scatterv)(f.buffer(), f.counts.data(), f.offsets.data(), f.type(), t.buffer(), t.count(),
                                t.type(), root, c, none, &request);
    case Collectively::kAllgather:
      return ELC_INIT(Allgather)(f.buffer(), f.count(), f.type(), t.buffer(), t.count(), t.type(), c, none, &request);
    case Collectively::kAllgatherv:
      return ELC_INIT(Allgatherv)(f.buffer(), f.count(), f.type(), t.buffer(), t.counts.data(), t.offsets.data(),
                                  t.type(), c, none, &request);
    case Collectively::kAlltoall:
      return ELC_INIT(Alltoall)(f.buffer(), f.count(), f.type(), t.buffer(), t.count(), t.type(), c, none, &request);
    case Collectively::kAlltoallv:
      return ELC_INIT(Alltoallv)(f.buffer(), f.counts.data(), f.offsets.data(), f.type(), t.buffer(),
                                 t.counts.data(), t.offsets.data(),
                                 t.type(), c, none, &request);
    case Collectively::kAlltoallw:
      return ELC_INIT(Alltoallw)(f.buffer(), f.counts.data(), f.offsets.data(), f.types.data(), t.buffer(), t.counts.data(),
                                 t.offsets.data(), t.types.data(), c, none, &request);
    case Collectively::kReduce: return ELC_INIT(Reduce)(f.buffer(), t.buffer(), data.count(), data.type(), op, root,
                                                        c, none, &request);
    case Collectively::kAllreduce: return ELC_INIT(Allreduce)(f.buffer(), t.buffer(), data.count(), data.type(), op,
                                                              c, none, &request);
    case Collectively::kReduce_scatter:
      return ELC_INIT(Reduce_scatter)(f.buffer(), t.buffer(), counts.data(), data.type(), op, c, none, &request);
    case Collectively::kReduce_scatter_block:
      return ELC_INIT(Reduce_scatter_block)(f.buffer(), t.buffer(), data.count(), data.type(), op, c, none, &request);
    case Collectively::kScan: return ELC_INIT(Scan)(f.buffer(), t.buffer(), data.count(), data.type(), op, c, none, &request);
    case Collectively::kExscan: {
      // The first process gets nothing, but MPI wants to see a buffer.
      void* const into = t.blocks.all().empty() ? static_cast<void*>(this) : t.buffer();
      return ELC_INIT(Exscan)(f.buffer(), into, data.count(), data.type(), op, c, none, &request);
    }
    case Collectively::kNeighbor_allgather:
      return ELC_INIT(Neighbor_allgather)(f.buffer(), f.count(), f.type(), t.buffer(), t.count(), t.type(), c, none,
                                          &request);
    case Collectively::kNeighbor_allgatherv:
      return ELC_INIT(Neighbor_allgatherv)(f.buffer(), f.count(), f.type(), t.buffer(), t.counts.data(),
                                           t.offsets.data(), t.type(), c,
                                           none, &request);
    case Collectively::kNeighbor_alltoall:
      return ELC_INIT(Neighbor_alltoall)(f.buffer(), f.count(), f.type(), t.buffer(), t.count(), t.type(), c, none, &request);
    case Collectively::kNeighbor_alltoallv:
      return ELC_INIT(Neighbor_alltoallv)(f.buffer(), f.counts.data(), f.offsets.data(), f.type(), t.buffer(),
                                          t.counts.data(),
                                          t.offsets.data(), t.type(), c, none, &request);
    case Collectively::kNeighbor_alltoallw:
      return ELC_INIT(Neighbor_alltoallw)(f.buffer(), f.counts.data(), f.displacements.data(), f.types.data(),
                                          t.buffer(), t.counts.data(),
                                          t.displacements.data(), t.types.data(), c, none, &request);
    case Collectively::kEnd: break;
  }
  return MPI_ERR_INTERN;
}
#else
Result CollectiveArguments::flatten(const Communicator&) {
  return Result::error("a persistent collective operation cannot be made again: this MPI has none");
}

int CollectiveArguments::init(MPI_Comm) { return MPI_ERR_INTERN; }
#endif

}  // namespace elc::mpi
