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
  if (mpi3 && shape == 3) { /* each sends to its right-hand neighbour, and perhaps to itself */
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
static void note_topology(long k, MPI_Comm comm) {
  int me, kind, n = 0, rest = 0, here = -1, lists[4][kMostNeighbours];
  (void)rest;
  MPI_Comm_rank(comm, &me);
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
/* Who they are, and what an operation with them moves: a block for each, of which a grid's may be nobody. MPI may read
 * the counts until the operation is complete. */
enum { kBlock = 2 };
typedef struct Neighbours {
  int in_degree, out_degree, sources[kMostNeighbours], destinations[kMostNeighbours];
  int counts[kMostNeighbours], offsets[kMostNeighbours];
  MPI_Aint bytes[kMostNeighbours];
  MPI_Datatype types[kMostNeighbours];
} Neighbours;

static void find_neighbours(MPI_Comm comm, Neighbours *n) {
  int kind, me, dimensions, weighted;
  n->in_degree = n->out_degree = 0;
  MPI_Comm_rank(comm, &me);
  MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    MPI_Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; d++) MPI_Cart_shift(comm, d, 1, &n->sources[2 * d], &n->sources[2 * d + 1]);
    n->in_degree = 2 * dimensions;
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, me, &n->in_degree);
    MPI_Graph_neighbors(comm, me, n->in_degree, n->sources);
  } else if (kind == MPI_DIST_GRAPH) {
    MPI_Dist_graph_neighbors_count(comm, &n->in_degree, &n->out_degree, &weighted);
    MPI_Dist_graph_neighbors(comm, n->in_degree, n->sources, MPI_UNWEIGHTED, n->out_degree, n->destinations, MPI_UNWEIGHTED);
  }
  if (kind != MPI_DIST_GRAPH) {
    n->out_degree = n->in_degree;
    memcpy(n->destinations, n->sources, sizeof n->sources);
  }
  for (int i = 0; i < kMostNeighbours; i++) {
    n->counts[i] = kBlock;
    n->offsets[i] = kBlock * i;
    n->bytes[i] = (MPI_Aint)(kBlock * i * (int)sizeof(uint64_t));
    n->types[i] = kNumber;
  }
}

#define AMONG(NAME, INAME, ...)                    \
  do {                                             \
    if (request == NULL) MPI_##NAME(__VA_ARGS__);  \
    else MPI_##INAME(__VA_ARGS__, request);        \
  } while (0)

/* One operation, blocking or not: gives away coins. */
static void among(long k, MPI_Comm comm, const Neighbours *n, uint64_t *to, uint64_t *from, MPI_Request *request) {
  const int how = (int)(ask(k, 27) % 5), same = how < 2;
  const uint64_t x = coin(rank);
  for (int i = 0; i < kMostNeighbours * kBlock; i++) {
    to[i] = mix(x, (uint64_t)i);
    from[i] = 0;
  }
  for (int i = 0; i < n->out_degree; i++)
    for (int j = 0; j < kBlock && n->destinations[i] >= 0; j++) freely -= to[same ? j : kBlock * i + j];
  switch (how) {
    case 0: AMONG(Neighbor_allgather, Ineighbor_allgather, to, kBlock, kNumber, from, kBlock, kNumber, comm); break;
    case 1:
      AMONG(Neighbor_allgatherv, Ineighbor_allgatherv, to, kBlock, kNumber, from, n->counts, n->offsets, kNumber, comm);
      break;
    case 2: AMONG(Neighbor_alltoall, Ineighbor_alltoall, to, kBlock, kNumber, from, kBlock, kNumber, comm); break;
    case 3:
      AMONG(Neighbor_alltoallv, Ineighbor_alltoallv, to, n->counts, n->offsets, kNumber, from, n->counts, n->offsets, kNumber, comm);
      break;
    default:
      AMONG(Neighbor_alltoallw, Ineighbor_alltoallw, to, n->counts, n->bytes, n->types, from, n->counts, n->bytes, n->types, comm);
  }
}

static void take_from(const Neighbours *n, const uint64_t *from) {
  for (int i = 0; i < n->in_degree; i++)
    for (int j = 0; j < kBlock && n->sources[i] >= 0; j++) freely += from[kBlock * i + j];
}

static void among_neighbours(long k, MPI_Comm comm) {
  uint64_t to[kMostNeighbours * kBlock], from[kMostNeighbours * kBlock];
  Neighbours n;
  int kind;
  MPI_Topo_test(comm, &kind);
  if (kind == MPI_UNDEFINED) return;
  find_neighbours(comm, &n);
  among(k, comm, &n, to, from, NULL);
  take_from(&n, from);
}

/* One that goes on while other operations come. */
void begin_neighbours(long k) {
  static Neighbours all[kSlots]; /* not registered: what a restart finds is complete */
  const int s = slot(k);
  make_topology(k, &life[s]);
  if (life[s] == MPI_COMM_NULL) return;
  find_neighbours(life[s], &all[s]);
  among(k, life[s], &all[s], out[s], in[s], &receiving[s]);
}

void end_neighbours(long k) {
  const int s = slot(k);
  Neighbours n;
  if (life[s] == MPI_COMM_NULL) return;
  finish_receive(k, &receiving[s], &last);
  find_neighbours(life[s], &n);
  take_from(&n, in[s]);
  note_topology(k, life[s]);
  MPI_Comm_free(&life[s]);
}
#else
void begin_neighbours(long k) { (void)k; }
void end_neighbours(long k) { (void)k; }
#endif

/* What it is, and one operation between neighbours, where there are any. */
void use_topology(long k, MPI_Comm comm) {
  note_topology(k, comm);
#if MPI_VERSION >= 3
  if (mpi3) among_neighbours(k, comm);
#endif
}
