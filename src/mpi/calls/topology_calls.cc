// MPI standard, chapter 7, but for what makes communicators: blocking collective operations between neighbours. To a line
// they are like all others (PROTOCOL.md, section 6); what one writes is a block for each neighbour from whom this process
// receives.
#include "mpi/calls/collective.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/topologies.h"

using namespace elc::mpi;

ELC_EXPORT int MPI_Cart_map(MPI_Comm comm, int dimensions, ELC_CONST int* extents, ELC_CONST int* periodic, int* rank) {
  ELC_FOLLOW(Cart_map, (comm, dimensions, extents, periodic, rank));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Cart_map(comm, dimensions, extents, periodic, rank); });
  if (now.over(code)) return code;
  now.wrote(rank, 1, MPI_INT);
  return now.end(code);
}

ELC_EXPORT int MPI_Graph_map(MPI_Comm comm, int nodes, ELC_CONST int* index, ELC_CONST int* edges, int* rank) {
  ELC_FOLLOW(Graph_map, (comm, nodes, index, edges, rank));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Graph_map(comm, nodes, index, edges, rank); });
  if (now.over(code)) return code;
  now.wrote(rank, 1, MPI_INT);
  return now.end(code);
}

#if MPI_VERSION >= 3
namespace elc::mpi {
namespace {

// `at` tells where the block of the n-th neighbour begins, in bytes.
template <class Count, class Type, class Place>
int end_neighbourly(Collective& now, int code, void* to, Count count, Type type, Place at) {
  const Vector<int> sources = sources_of(*now.comm());
  for (int n = 0; n < static_cast<int>(sources.size()); ++n)
    if (sources[static_cast<size_t>(n)] >= 0) now.wrote(static_cast<uint8_t*>(to) + at(n), count(n), type(n));
  return now.end(code);
}

// Blocks of one size, one after the other.
int end_in_blocks(Collective& now, int code, void* to, int count, MPI_Datatype type) {
  const MPI_Aint step = extent(type) * count;
  return end_neighbourly(now, code, to, [&](int) { return count; }, [&](int) { return type; }, [&](int n) { return n * step; });
}

int end_at_offsets(Collective& now, int code, void* to, const int* counts, const int* offsets, MPI_Datatype type) {
  const MPI_Aint step = extent(type);
  return end_neighbourly(now, code, to, [&](int n) { return counts[n]; }, [&](int) { return type; },
                         [&](int n) { return offsets[n] * step; });
}

}  // namespace
}  // namespace elc::mpi

ELC_EXPORT int MPI_Neighbor_allgather(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                                      MPI_Datatype to_type, MPI_Comm comm) {
  ELC_FOLLOW(Neighbor_allgather, (from, from_count, from_type, to, to_count, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Neighbor_allgather(from, from_count, from_type, to, to_count, to_type, comm); });
  if (now.over(code)) return code;
  return end_in_blocks(now, code, to, to_count, to_type);
}

ELC_EXPORT int MPI_Neighbor_allgatherv(const void* from, int from_count, MPI_Datatype from_type, void* to, const int* counts,
                                       const int* offsets, MPI_Datatype to_type, MPI_Comm comm) {
  ELC_FOLLOW(Neighbor_allgatherv, (from, from_count, from_type, to, counts, offsets, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Neighbor_allgatherv(from, from_count, from_type, to, counts, offsets, to_type, comm);
  });
  if (now.over(code)) return code;
  return end_at_offsets(now, code, to, counts, offsets, to_type);
}

ELC_EXPORT int MPI_Neighbor_alltoall(const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                                     MPI_Datatype to_type, MPI_Comm comm) {
  ELC_FOLLOW(Neighbor_alltoall, (from, from_count, from_type, to, to_count, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] { return PMPI_Neighbor_alltoall(from, from_count, from_type, to, to_count, to_type, comm); });
  if (now.over(code)) return code;
  return end_in_blocks(now, code, to, to_count, to_type);
}

ELC_EXPORT int MPI_Neighbor_alltoallv(const void* from, const int* from_counts, const int* from_offsets, MPI_Datatype from_type,
                                      void* to, const int* to_counts, const int* to_offsets, MPI_Datatype to_type,
                                      MPI_Comm comm) {
  ELC_FOLLOW(Neighbor_alltoallv, (from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Neighbor_alltoallv(from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm);
  });
  if (now.over(code)) return code;
  return end_at_offsets(now, code, to, to_counts, to_offsets, to_type);
}

ELC_EXPORT int MPI_Neighbor_alltoallw(const void* from, const int* from_counts, const MPI_Aint* from_offsets,
                                      const MPI_Datatype* from_types, void* to, const int* to_counts,
                                      const MPI_Aint* to_offsets, const MPI_Datatype* to_types, MPI_Comm comm) {
  ELC_FOLLOW(Neighbor_alltoallw, (from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm));
  Collective now(comm);
  const int code = now.call([&] {
    return PMPI_Neighbor_alltoallw(from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm);
  });
  if (now.over(code)) return code;
  return end_neighbourly(now, code, to, [&](int n) { return to_counts[n]; }, [&](int n) { return to_types[n]; },
                         [&](int n) { return to_offsets[n]; });
}
#endif
