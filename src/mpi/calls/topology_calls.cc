// MPI standard, chapter 7, but for what makes communicators: collective operations between neighbours. To a line
// they are like all others (PROTOCOL.md, section 6); what one writes is a block for each neighbour from whom this process
// receives.
#include "mpi/calls/collective.h"
#include "mpi/calls/refused.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/topologies.h"

using namespace elc::mpi;

ELC_BLOCKING(Cart_map, (MPI_Comm comm, int dimensions, ELC_CONST int* extents, ELC_CONST int* periodic, int* rank),
             (comm, dimensions, extents, periodic, rank), {
  now.wrote(rank, 1, MPI_INT);
})

ELC_BLOCKING(Graph_map, (MPI_Comm comm, int nodes, ELC_CONST int* index, ELC_CONST int* edges, int* rank),
             (comm, nodes, index, edges, rank), {
  now.wrote(rank, 1, MPI_INT);
})

#if MPI_VERSION >= 3
namespace elc::mpi {
namespace {

// `at` tells where the block of the n-th neighbour begins, in bytes.
template <class Count, class Type, class Place>
void wrote_by_neighbours(Collective& now, void* to, Count count, Type type, Place at) {
  const Vector<int> sources = sources_of(*now.comm());
  for (int n = 0; n < static_cast<int>(sources.size()); ++n)
    if (sources[static_cast<size_t>(n)] >= 0) now.wrote(static_cast<uint8_t*>(to) + at(n), count(n), type(n));
}

// Blocks of one size, one after the other.
void wrote_in_blocks(Collective& now, void* to, int count, MPI_Datatype type) {
  const MPI_Aint step = extent(type) * count;
  wrote_by_neighbours(now, to, [&](int) { return count; }, [&](int) { return type; }, [&](int n) { return n * step; });
}

void wrote_at_offsets(Collective& now, void* to, const int* counts, const int* offsets, MPI_Datatype type) {
  const MPI_Aint step = extent(type);
  wrote_by_neighbours(now, to, [&](int n) { return counts[n]; }, [&](int) { return type; }, [&](int n) { return offsets[n] * step; });
}

}  // namespace
}  // namespace elc::mpi

ELC_COLLECTIVE(Neighbor_allgather, Ineighbor_allgather, (const void* from, int from_count, MPI_Datatype from_type, void* to,
                                                         int to_count, MPI_Datatype to_type, MPI_Comm comm),
               (from, from_count, from_type, to, to_count, to_type, comm), ({
  kept.from.one(from, from_count, from_type);
  kept.to.even(to, to_count, to_type, sources(comm));
}), {
  wrote_in_blocks(now, to, to_count, to_type);
})

ELC_COLLECTIVE(Neighbor_allgatherv, Ineighbor_allgatherv, (const void* from, int from_count, MPI_Datatype from_type, void* to,
                                                           const int* counts, const int* offsets, MPI_Datatype to_type, MPI_Comm comm),
               (from, from_count, from_type, to, counts, offsets, to_type, comm), ({
  kept.from.one(from, from_count, from_type);
  kept.to.at_offsets(to, counts, offsets, to_type, sources(comm));
}), {
  wrote_at_offsets(now, to, counts, offsets, to_type);
})

ELC_COLLECTIVE(Neighbor_alltoall, Ineighbor_alltoall, (const void* from, int from_count, MPI_Datatype from_type, void* to, int to_count,
                                                       MPI_Datatype to_type, MPI_Comm comm),
               (from, from_count, from_type, to, to_count, to_type, comm), ({
  kept.from.even(from, from_count, from_type, destinations(comm));
  kept.to.even(to, to_count, to_type, sources(comm));
}), {
  wrote_in_blocks(now, to, to_count, to_type);
})

ELC_COLLECTIVE(Neighbor_alltoallv, Ineighbor_alltoallv, (const void* from, const int* from_counts, const int* from_offsets,
                                                         MPI_Datatype from_type, void* to, const int* to_counts, const int* to_offsets,
                                                         MPI_Datatype to_type, MPI_Comm comm),
               (from, from_counts, from_offsets, from_type, to, to_counts, to_offsets, to_type, comm), ({
  kept.from.at_offsets(from, from_counts, from_offsets, from_type, destinations(comm));
  kept.to.at_offsets(to, to_counts, to_offsets, to_type, sources(comm));
}), {
  wrote_at_offsets(now, to, to_counts, to_offsets, to_type);
})

ELC_COLLECTIVE(Neighbor_alltoallw, Ineighbor_alltoallw, (const void* from, const int* from_counts, const MPI_Aint* from_offsets,
                                                         const MPI_Datatype* from_types, void* to, const int* to_counts,
                                                         const MPI_Aint* to_offsets, const MPI_Datatype* to_types, MPI_Comm comm),
               (from, from_counts, from_offsets, from_types, to, to_counts, to_offsets, to_types, comm), ({
  kept.from.in_bytes(from, from_counts, from_offsets, from_types, destinations(comm));
  kept.to.in_bytes(to, to_counts, to_offsets, to_types, sources(comm));
}), {
  wrote_by_neighbours(now, to, [&](int n) { return to_counts[n]; }, [&](int n) { return to_types[n]; },
                      [&](int n) { return to_offsets[n]; });
})
#endif
