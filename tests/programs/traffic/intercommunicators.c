/* intercommunicators.c - the processes of even and of odd rank, and what joins them: messages and collective operations
 * from one group to the other, and communicators that are made of it. */
#include "traffic.h"

static MPI_Comm side, joined; /* none of one process */
enum { kJoinTag = 9000 };

/* ---- Messages: each process of the smaller group has a partner in the other one ---- */

static int has_partner(void) { return rank / 2 < ranks / 2; }
/* Its rank in its group. */
static int partner(long k) {
  const int pairs = ranks / 2, d = (int)(ask(k, 1) % (uint64_t)pairs);
  return (rank / 2 + (rank % 2 == 0 ? d : pairs - d)) % pairs;
}
static int posted_early(long k) { return ask(k, 10) % 2 == 0; }

void begin_between(long k) {
  const int s = slot(k), tag = (int)(k % 10000), from = ask(k, 16) % 2 == 0 ? MPI_ANY_SOURCE : partner(k);
  if (!has_partner()) return;
  if (posted_early(k)) MPI_Irecv(in[s], kMost, kNumber, from, tag, joined, &receiving[s]);
  send_message(k, compose(out[s], length_of(k), (uint64_t)k), partner(k), tag, joined, posted_early(k) ? kPosted : kInOrder);
}

void end_between(long k) {
  const int s = slot(k), tag = (int)(k % 10000);
  if (!has_partner()) return;
  if (posted_early(k)) {
    finish_receive(k, &receiving[s], &last);
  } else {
    MPI_Probe(MPI_ANY_SOURCE, tag, joined, &last);
    MPI_Recv(in[s], kMost, kNumber, last.MPI_SOURCE, tag, joined, &last);
  }
  if (last.MPI_SOURCE != partner(k)) fail(k, "a status that names another source in the other group");
  if (examine(k, in[s], &last) != (uint64_t)k) fail(k, "a message of another operation between groups");
}

/* ---- Collective operations, on numbers that balance ---- */

typedef enum Across {
  kBarrierAcross, kBcastAcross, kGatherAcross, kReduceAcross, kAllgatherAcross, kAlltoallAcross, kAllreduceAcross,
  kSafeAcrosses, /* the others hang under LAM by themselves */
  kGathervAcross = kSafeAcrosses, kScatterAcross, kScattervAcross, kAllgathervAcross, kAlltoallvAcross,
  kReduce_scatterAcross, kReduce_scatter_blockAcross, kAcrosses
} Across;

/* One of them, as a member has it. MPI may read the counts until it is complete. */
typedef struct Join {
  Across what;
  int me, here, there; /* its rank in its group; the sizes of this group and of the other one */
  int from_root;       /* whether the root is in this group: the first process there */
  int root;            /* the argument */
  int counts[kMostRanks], offsets[kMostRanks], shares[kMostRanks], total, total_there;
} Join;

static Join draw_join(long k, MPI_Comm comm) {
  Join j;
  j.what = (Across)(ask(k, 12) % (mpi3 ? kAcrosses : kSafeAcrosses));
  MPI_Comm_rank(comm, &j.me);
  MPI_Comm_size(comm, &j.here);
  MPI_Comm_remote_size(comm, &j.there);
  j.from_root = (int)(ask(k, 13) % 2) == rank % 2;
  j.root = !j.from_root ? 0 : j.me == 0 ? MPI_ROOT : MPI_PROC_NULL;
  j.total = j.total_there = 0;
  for (int i = 0; i < kMostRanks; i++) {
    j.counts[i] = j.what == kAlltoallvAcross ? 1 + (j.me + i) % 2 : 1 + (int)(mix(ask(k, 19), (uint64_t)i) % 3);
    j.shares[i] = j.there;
    j.offsets[i] = j.total;
    j.total += j.counts[i];
    if (i < j.there) j.total_there += j.counts[i];
  }
  return j;
}

static int is_root(const Join *j) { return j->root == MPI_ROOT; }

/* How many numbers this member puts in, and how many members take each. */
static int numbers_given(const Join *j, uint64_t *takers) {
  *takers = 1;
  switch (j->what) {
    case kBarrierAcross: return 0;
    case kBcastAcross: *takers = (uint64_t)j->there; return is_root(j);
    case kScatterAcross: return is_root(j) ? j->there : 0;
    case kScattervAcross: return is_root(j) ? j->total_there : 0;
    case kGatherAcross: case kReduceAcross: return !j->from_root;
    case kGathervAcross: return j->from_root ? 0 : j->counts[j->me];
    case kAllgatherAcross: case kAllreduceAcross: *takers = (uint64_t)j->there; return 1;
    case kAllgathervAcross: *takers = (uint64_t)j->there; return j->counts[j->me];
    case kAlltoallAcross: return j->there;
    case kAlltoallvAcross: return j->total_there;
    default: return j->here * j->there;
  }
}

static int numbers_taken(const Join *j) {
  switch (j->what) {
    case kBarrierAcross: return 0;
    case kBcastAcross: case kScatterAcross: return !j->from_root;
    case kScattervAcross: return j->from_root ? 0 : j->counts[j->me];
    case kGatherAcross: return is_root(j) ? j->there : 0;
    case kGathervAcross: return is_root(j) ? j->total_there : 0;
    case kReduceAcross: return is_root(j);
    case kAllreduceAcross: return 1;
    case kAllgathervAcross: case kAlltoallvAcross: return j->total_there;
    default: return j->there;
  }
}

#if MPI_VERSION >= 3
#define ACROSS(NAME, INAME, ...) \
  if (request == NULL) MPI_##NAME(__VA_ARGS__); \
  else MPI_##INAME(__VA_ARGS__, request); \
  break
#else
#define ACROSS(NAME, INAME, ...) MPI_##NAME(__VA_ARGS__); break
#endif

static void call_across(Join *j, uint64_t *give, uint64_t *take, MPI_Comm comm, MPI_Request *request) {
  const int mine = j->counts[j->me], root = j->root;
  (void)request;
  switch (j->what) {
    case kBarrierAcross: ACROSS(Barrier, Ibarrier, comm);
    case kBcastAcross: ACROSS(Bcast, Ibcast, is_root(j) ? give : take, 1, kNumber, root, comm);
    case kGatherAcross: ACROSS(Gather, Igather, give, 1, kNumber, take, 1, kNumber, root, comm);
    case kReduceAcross: ACROSS(Reduce, Ireduce, give, take, 1, kNumber, MPI_SUM, root, comm);
    case kAllgatherAcross: ACROSS(Allgather, Iallgather, give, 1, kNumber, take, 1, kNumber, comm);
    case kAlltoallAcross: ACROSS(Alltoall, Ialltoall, give, 1, kNumber, take, 1, kNumber, comm);
    case kAllreduceAcross: ACROSS(Allreduce, Iallreduce, give, take, 1, kNumber, MPI_SUM, comm);
    case kGathervAcross: ACROSS(Gatherv, Igatherv, give, mine, kNumber, take, j->counts, j->offsets, kNumber, root, comm);
    case kScatterAcross: ACROSS(Scatter, Iscatter, give, 1, kNumber, take, 1, kNumber, root, comm);
    case kScattervAcross: ACROSS(Scatterv, Iscatterv, give, j->counts, j->offsets, kNumber, take, mine, kNumber, root, comm);
    case kAllgathervAcross: ACROSS(Allgatherv, Iallgatherv, give, mine, kNumber, take, j->counts, j->offsets, kNumber, comm);
    case kAlltoallvAcross:
      ACROSS(Alltoallv, Ialltoallv, give, j->counts, j->offsets, kNumber, take, j->counts, j->offsets, kNumber, comm);
    case kReduce_scatterAcross: ACROSS(Reduce_scatter, Ireduce_scatter, give, take, j->shares, kNumber, MPI_SUM, comm);
#if MPI_VERSION >= 3
    case kReduce_scatter_blockAcross:
      ACROSS(Reduce_scatter_block, Ireduce_scatter_block, give, take, j->there, kNumber, MPI_SUM, comm);
#endif
    default: break;
  }
}

/* Under LAM those from a group of one process hang as well. */
static int can_operate(void) { return mpi3 || ranks > 3; }

static void give_across(Join *j, uint64_t *give, uint64_t *take, MPI_Comm comm, MPI_Request *request) {
  const uint64_t x = coin(rank);
  uint64_t takers;
  const int n = numbers_given(j, &takers);
  for (int i = 0; i < n; i++) freely -= (give[i] = mix(x, (uint64_t)i)) * takers;
  call_across(j, give, take, comm, request);
}

static void take_across(const Join *j, const uint64_t *take) {
  for (int i = 0, n = numbers_taken(j); i < n; i++) freely += take[i];
}

void begin_across(long k) {
  static Join all[kSlots]; /* not registered: what a restart finds is complete */
  const int s = slot(k);
  if (!can_operate()) return;
  all[s] = draw_join(k, joined);
  give_across(&all[s], out[s], in[s], joined, mpi3 ? &receiving[s] : NULL);
}

void end_across(long k) {
  const int s = slot(k);
  if (!can_operate()) return;
  const Join j = draw_join(k, joined);
  if (mpi3) finish_receive(k, &receiving[s], &last);
  take_across(&j, in[s]);
}

/* ---- Communicators that are made of it ---- */

static int other_leader(void) { return rank % 2 == 0 ? 1 : 0; }

#if MPI_VERSION >= 3
/* Of the first half of each group. (Open MPI 4.1 hangs where they are in another order.) */
static void create_across(MPI_Comm *made) {
  MPI_Group whole, part;
  int size, range[1][3] = {{0, 0, 1}};
  MPI_Comm_group(joined, &whole);
  MPI_Group_size(whole, &size);
  range[0][1] = (size - 1) / 2;
  MPI_Group_range_incl(whole, 1, range, &part);
  MPI_Comm_create(joined, part, made);
  MPI_Group_free(&whole);
  MPI_Group_free(&part);
}
#endif

static void join(long k, MPI_Comm *made) {
  switch (ask(k, 17) % (mpi3 ? 12 : 6)) {
    case 0: /* a line that it crosses is refused */
      MPI_Intercomm_create(side, 0, copy, other_leader(), kJoinTag, made);
      break;
    case 1: case 2: MPI_Comm_dup(joined, made); break;
#if MPI_VERSION >= 3
    case 6: case 7: MPI_Comm_split(joined, 0, -rank, made); break;
    case 8: case 9: create_across(made); break;
    case 10: {
      MPI_Request request;
      MPI_Comm_idup(joined, made, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      break;
    }
#endif
    default: MPI_Intercomm_merge(joined, ask(k, 18) % 2 == 0 ? rank % 2 == 0 : rank % 2 != 0, made);
  }
}

static void use_joined(long k, MPI_Comm comm) {
  uint64_t give[2 * kMostRanks * kMostRanks], take[2 * kMostRanks * kMostRanks];
  int is_between;
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_test_inter(comm, &is_between);
  if (!is_between) {
    collective(k, comm);
  } else if (can_operate()) {
    Join j = draw_join(k, comm);
    give_across(&j, give, take, comm, NULL);
    take_across(&j, take);
  }
}

void begin_joined(long k) {
  join(k, &life[slot(k)]);
  use_joined(k, life[slot(k)]);
}

void end_joined(long k) {
  MPI_Comm *c = &life[slot(k)];
  use_joined(k, *c);
  if (*c != MPI_COMM_NULL) MPI_Comm_free(c);
}

void set_up_intercommunicators(void) {
  side = joined = MPI_COMM_NULL;
  if (ranks == 1) return;
  MPI_Comm_split(copy, rank % 2, rank, &side);
  MPI_Intercomm_create(side, 0, copy, other_leader(), kJoinTag, &joined);
}

void register_intercommunicators(void) {
  ELC_COMM(side);
  ELC_COMM(joined);
}

void close_intercommunicators(void) {
  if (ranks == 1) return;
  MPI_Comm_free(&side);
  MPI_Comm_free(&joined);
}
