/* collective.h - any collective operation, blocking or not, on numbers that balance: what all members put in together is
 * what they take out. */
#ifndef TESTS_COLLECTIVE_H
#define TESTS_COLLECTIVE_H

#include <mpi.h>
#include <stdint.h>

#include "../coins.h"

enum { kMostMembers = 64, kMostNumbers = 2 * kMostMembers + kMostMembers * kMostMembers };

typedef enum Operation {
  kBarrier, kBcast, kReduce, kGather, kGatherv, kScatter, kScatterv, kAllgather, kAllgatherv, kAllreduce, kAlltoall,
  kAlltoallv, kAlltoallw, kReduce_scatter, kScan, kExscan, kLargest, kFirst,
  kReduce_scatter_block, /* of MPI 3 */
  kOperations
} Operation;

/* One of them, as a member has it. MPI may read the counts until the operation is complete. */
typedef struct Collective {
  Operation what;
  int root, me, size, total;
  int counts[kMostMembers], offsets[kMostMembers], bytes[kMostMembers];
  MPI_Datatype types[kMostMembers];
} Collective;

/* `draw`: the same at all members; `most`: one behind the last operation that there may be. */
static Collective draw_collective(uint64_t draw, Operation most, MPI_Comm comm) {
  Collective c;
  c.what = (Operation)(mix(draw, 1) % (uint64_t)most);
  MPI_Comm_rank(comm, &c.me);
  MPI_Comm_size(comm, &c.size);
  c.root = (int)(mix(draw, 2) % (uint64_t)c.size);
  c.total = 0;
  for (int i = 0; i < c.size; i++) {
    c.counts[i] = c.what == kAlltoallv || c.what == kAlltoallw ? 1 + (c.me + i) % 2 : 1 + (int)(mix(mix(draw, 3), (uint64_t)i) % 3);
    c.offsets[i] = c.total;
    c.bytes[i] = c.total * (int)sizeof(uint64_t);
    c.types[i] = kNumber;
    c.total += c.counts[i];
  }
  return c;
}

static int numbers_in(const Collective *c) {
  switch (c->what) {
    case kBarrier: return 0;
    case kBcast: return c->me == c->root;
    case kScatter: return c->me == c->root ? c->size : 0;
    case kScatterv: return c->me == c->root ? c->total : 0;
    case kGatherv: case kAllgatherv: return c->counts[c->me];
    case kAlltoall: case kReduce_scatter_block: return c->size;
    case kAlltoallv: case kAlltoallw: case kReduce_scatter: return c->total;
    default: return 1;
  }
}

static int numbers_out(const Collective *c) {
  switch (c->what) {
    case kBarrier: return 0;
    case kBcast: return c->me != c->root;
    case kReduce: return c->me == c->root;
    case kGather: return c->me == c->root ? c->size : 0;
    case kGatherv: return c->me == c->root ? c->total : 0;
    case kAllgather: case kAlltoall: return c->size;
    case kAllgatherv: case kAlltoallv: case kAlltoallw: return c->total;
    case kScatterv: case kReduce_scatter: return c->counts[c->me];
    case kExscan: return c->me > 0;
    default: return 1;
  }
}

/* How many members take a number out that this one puts in. */
static uint64_t takers(const Collective *c) {
  switch (c->what) {
    case kBcast: return (uint64_t)(c->size - 1);
    case kAllgather: case kAllgatherv: case kAllreduce: return (uint64_t)c->size;
    case kScan: return (uint64_t)(c->size - c->me);
    case kExscan: return (uint64_t)(c->size - c->me - 1);
    default: return 1;
  }
}

/* Whether the result follows from the members alone: the largest rank, the rank of the first one. */
static int is_known(const Collective *c) { return c->what == kLargest || c->what == kFirst; }

/* Fills `in`; the sum of what goes in by it. */
static uint64_t put_in(const Collective *c, uint64_t x, uint64_t *in) {
  const int n = numbers_in(c);
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) sum += in[i] = mix(x, (uint64_t)i);
  if (!is_known(c)) return sum * takers(c);
  in[0] = (uint64_t)c->me + 1;
  return 0;
}

/* The sum of what has come out; of a number that is known nothing. */
static uint64_t take_out(const Collective *c, const uint64_t *out) {
  const int n = is_known(c) ? 0 : numbers_out(c);
  uint64_t sum = 0;
  for (int i = 0; i < n; i++) sum += out[i];
  return sum;
}

#if MPI_VERSION >= 3
#define COLLECTIVE(NAME, INAME, ...) \
  do { \
    if (request == NULL) MPI_##NAME(__VA_ARGS__); \
    else MPI_##INAME(__VA_ARGS__, request); \
  } while (0)
#else
#define COLLECTIVE(NAME, INAME, ...) MPI_##NAME(__VA_ARGS__)
#endif

/* An operation of the program, which does not commute: the left one of two. Made by the set-up. */
extern MPI_Op take_first;

/* `request`: of one that does not block; NULL for one that does. A broadcast has its number in `out` at the root, too. */
static void call_collective(const Collective *c, uint64_t *in, uint64_t *out, MPI_Comm comm, MPI_Request *request) {
  const int mine = c->counts[c->me], root = c->root, *counts = c->counts, *offsets = c->offsets;
  MPI_Datatype *types = (MPI_Datatype *)c->types;
  (void)request;
  switch (c->what) {
    case kBarrier: COLLECTIVE(Barrier, Ibarrier, comm); break;
    case kBcast:
      if (c->me == root) out[0] = in[0];
      COLLECTIVE(Bcast, Ibcast, out, 1, kNumber, root, comm);
      break;
    case kReduce: COLLECTIVE(Reduce, Ireduce, in, out, 1, kNumber, MPI_SUM, root, comm); break;
    case kGather: COLLECTIVE(Gather, Igather, in, 1, kNumber, out, 1, kNumber, root, comm); break;
    case kGatherv: COLLECTIVE(Gatherv, Igatherv, in, mine, kNumber, out, (int *)counts, (int *)offsets, kNumber, root, comm); break;
    case kScatter: COLLECTIVE(Scatter, Iscatter, in, 1, kNumber, out, 1, kNumber, root, comm); break;
    case kScatterv:
      COLLECTIVE(Scatterv, Iscatterv, in, (int *)counts, (int *)offsets, kNumber, out, mine, kNumber, root, comm);
      break;
    case kAllgather: COLLECTIVE(Allgather, Iallgather, in, 1, kNumber, out, 1, kNumber, comm); break;
    case kAllgatherv:
      COLLECTIVE(Allgatherv, Iallgatherv, in, mine, kNumber, out, (int *)counts, (int *)offsets, kNumber, comm);
      break;
    case kAllreduce: COLLECTIVE(Allreduce, Iallreduce, in, out, 1, kNumber, MPI_SUM, comm); break;
    case kAlltoall: COLLECTIVE(Alltoall, Ialltoall, in, 1, kNumber, out, 1, kNumber, comm); break;
    case kAlltoallv:
      COLLECTIVE(Alltoallv, Ialltoallv, in, (int *)counts, (int *)offsets, kNumber, out, (int *)counts, (int *)offsets, kNumber, comm);
      break;
    case kAlltoallw:
      COLLECTIVE(Alltoallw, Ialltoallw, in, (int *)counts, (int *)c->bytes, types, out, (int *)counts, (int *)c->bytes, types, comm);
      break;
    case kReduce_scatter: COLLECTIVE(Reduce_scatter, Ireduce_scatter, in, out, (int *)counts, kNumber, MPI_SUM, comm); break;
    case kScan: COLLECTIVE(Scan, Iscan, in, out, 1, kNumber, MPI_SUM, comm); break;
    case kExscan: COLLECTIVE(Exscan, Iexscan, in, out, 1, kNumber, MPI_SUM, comm); break;
    case kFirst: COLLECTIVE(Allreduce, Iallreduce, in, out, 1, kNumber, take_first, comm); break;
#if MPI_VERSION >= 3
    case kReduce_scatter_block: COLLECTIVE(Reduce_scatter_block, Ireduce_scatter_block, in, out, 1, kNumber, MPI_SUM, comm); break;
#endif
    default: COLLECTIVE(Allreduce, Iallreduce, in, out, 1, kNumber, MPI_MAX, comm);
  }
}

#endif
