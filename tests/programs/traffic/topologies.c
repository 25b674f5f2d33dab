/* topologies.c - communicators with a topology, and operations between neighbours. */
#include "traffic.h"

enum { kMostNeighbours = 8 };

/* A grid, of which perhaps a row is taken, or a ring. Not all processes have to be in it. */
void make_topology(long k, MPI_Comm *made) {
  const int members = ranks > 1 ? ranks - (int)(ask(k, 22) % 2) : 1, shape = (int)(ask(k, 21) % 4);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  int extents[2] = {0, 0}, periodic[2] = {(int)(ask(k, 23) % 2), (int)(ask(k, 24) % 2)}, remain[2] = {0, 0};
  int index[kMostRanks], edges[2 * kMostRanks];
  MPI_Comm grid;
  (void)right, (void)left;
#if MPI_VERSION >= 3
  if (own && shape == 3) { /* each sends to its right-hand neighbour, and perhaps to itself */
    const int both = (int)(ask(k, 25) % 2), weights[2] = {rank + 1, 7};
    const int from[2] = {left, rank}, to[2] = {right, rank}, degree = 1 + both;
    if (ask(k, 26) % 3 == 0)
      MPI_Dist_graph_create_adjacent(copy, degree, from, weights, degree, to, weights, MPI_INFO_NULL, 0, made);
    else if (ask(k, 26) % 3 == 1)
      MPI_Dist_graph_create_adjacent(copy, degree, from, MPI_UNWEIGHTED, degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
    else
      MPI_Dist_graph_create(copy, 1, &rank, &degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
    return;
  }
#endif
  if (shape == 2) {
    for (int i = 0; i < members; i++) {
      index[i] = 2 * (i + 1);
      edges[2 * i] = (i + 1) % members;
      edges[2 * i + 1] = (i + members - 1) % members;
    }
    MPI_Graph_create(copy, members, index, edges, 0, made);
    return;
  }
  MPI_Dims_create(members, 2, extents);
  if (ask(k, 28) % 2 == 0) {
    int place;
    MPI_Cart_map(copy, 2, extents, periodic, &place);
    if (own) note((uint64_t)place);
  }
  if (shape != 1) {
    MPI_Cart_create(copy, 2, extents, periodic, own ? 1 : 0, made);
    return;
  }
  MPI_Cart_create(copy, 2, extents, periodic, 0, &grid);
  *made = MPI_COMM_NULL;
  if (grid == MPI_COMM_NULL) return;
  remain[ask(k, 25) % 2] = 1;
  MPI_Cart_sub(grid, remain, made);
  MPI_Comm_free(&grid);
}

/* Of a grid or a graph: what it is, which is part of the result. */
static void note_topology(long k, MPI_Comm comm, int me) {
  int kind, n = 0, rest = 0, here = -1, lists[4][kMostNeighbours];
  (void)rest;
  MPI_Topo_test(comm, &kind);
  note((uint64_t)(kind == MPI_CART ? 1 : kind == MPI_GRAPH ? 2 : kind == MPI_UNDEFINED ? 3 : 4));
  if (kind == MPI_CART) {
    MPI_Cartdim_get(comm, &n);
    MPI_Cart_get(comm, n, lists[0], lists[1], lists[2]);
    MPI_Cart_rank(comm, lists[2], &here);
    if (here != me) fail(k, "coordinates that are another process's");
    for (int d = 0; d < n; d++) note((uint64_t)(lists[0][d] * 2 + (lists[1][d] != 0)));
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, me, &n);
    MPI_Graph_neighbors(comm, me, n, lists[0]);
    for (int i = 0; i < n; i++) note((uint64_t)lists[0][i]);
  }
#if MPI_VERSION >= 3
  if (kind == MPI_DIST_GRAPH) {
    int weighted;
    uint64_t sum = 0; /* MPI_Dist_graph_create puts them in no certain order */
    MPI_Dist_graph_neighbors_count(comm, &n, &rest, &weighted);
    MPI_Dist_graph_neighbors(comm, n, lists[0], weighted ? lists[1] : MPI_UNWEIGHTED, rest, lists[2],
                             weighted ? lists[3] : MPI_UNWEIGHTED);
    for (int i = 0; i < n; i++) sum += (uint64_t)(lists[0][i] + (weighted ? 100 * lists[1][i] : 0));
    for (int i = 0; i < rest; i++) sum += 1000 * (uint64_t)(lists[2][i] + (weighted ? 100 * lists[3][i] : 0));
    note(sum);
  }
#endif
}

#if MPI_VERSION >= 3
/* A block for each neighbour, of which a grid's may be nobody. */
static void among_neighbours(long k, MPI_Comm comm) {
  enum { kBlock = 2 };
  int kind, in_degree = 0, out_degree = 0, weighted, me;
  int sources[kMostNeighbours], destinations[kMostNeighbours], counts[kMostNeighbours], offsets[kMostNeighbours];
  MPI_Aint bytes[kMostNeighbours];
  MPI_Datatype types[kMostNeighbours];
  uint64_t given[kMostNeighbours * kBlock], got[kMostNeighbours * kBlock];
  const int how = (int)(ask(k, 27) % 5), same = how < 2;
  const uint64_t x = coin(rank);
  MPI_Comm_rank(comm, &me);
  MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions;
    MPI_Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; d++) MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]);
    in_degree = out_degree = 2 * dimensions;
    memcpy(destinations, sources, sizeof sources);
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, me, &in_degree);
    MPI_Graph_neighbors(comm, me, in_degree, sources);
    out_degree = in_degree;
    memcpy(destinations, sources, sizeof sources);
  } else if (kind == MPI_DIST_GRAPH) {
    MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
    MPI_Dist_graph_neighbors(comm, in_degree, sources, MPI_UNWEIGHTED, out_degree, destinations, MPI_UNWEIGHTED);
  } else {
    return;
  }
  for (int i = 0; i < kMostNeighbours; i++) {
    counts[i] = kBlock;
    offsets[i] = kBlock * i;
    bytes[i] = (MPI_Aint)(kBlock * i * (int)sizeof(uint64_t));
    types[i] = kNumber;
  }
  for (int i = 0; i < kMostNeighbours * kBlock; i++) {
    given[i] = mix(x, (uint64_t)i);
    got[i] = 0;
  }
  for (int i = 0; i < out_degree; i++)
    for (int j = 0; j < kBlock && destinations[i] >= 0; j++) freely -= given[same ? j : kBlock * i + j];
  switch (how) {
    case 0: MPI_Neighbor_allgather(given, kBlock, kNumber, got, kBlock, kNumber, comm); break;
    case 1: MPI_Neighbor_allgatherv(given, kBlock, kNumber, got, counts, offsets, kNumber, comm); break;
    case 2: MPI_Neighbor_alltoall(given, kBlock, kNumber, got, kBlock, kNumber, comm); break;
    case 3: MPI_Neighbor_alltoallv(given, counts, offsets, kNumber, got, counts, offsets, kNumber, comm); break;
    default: MPI_Neighbor_alltoallw(given, counts, bytes, types, got, counts, bytes, types, comm);
  }
  for (int i = 0; i < in_degree; i++)
    for (int j = 0; j < kBlock && sources[i] >= 0; j++) freely += got[kBlock * i + j];
}
#endif

/* What it is, and one operation between neighbours, where there are any. */
void use_topology(long k, MPI_Comm comm) {
  int me;
  MPI_Comm_rank(comm, &me);
  note_topology(k, comm, me);
#if MPI_VERSION >= 3
  if (own) among_neighbours(k, comm);
#endif
}
