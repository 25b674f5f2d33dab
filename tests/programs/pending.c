/* pending.c - collective operations that do not block, going on while a line is taken. Each scene is one test of
 * tests/mpi/behaviour_test.py.
 *
 *     pending SCENE EARLY [DIE]      EARLY: the ranks that begin it before their checkpoint, a bit for each; the others
 *                                    begin it behind theirs. DIE: a rank that kills itself when the line has committed, in
 *                                    a run from the start */
#include <elc.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#if MPI_VERSION >= 3

enum { kMost = 64, kMostRanks = 8 };
static const char *lines = ""; /* the directory of the lines */
static int rank, ranks, early, fresh;
static int in[kMost], out[kMost], counts[kMostRanks], offsets[2 * kMostRanks];
static MPI_Datatype types[kMostRanks];
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
static MPI_Status statuses[2];

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "pending: rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int sum_of_ranks(void) { return ranks * (ranks - 1) / 2; }

static void set_up_copy(void) { MPI_Comm_dup(MPI_COMM_WORLD, &comm); }

static void begin_barrier(void) { MPI_Ibarrier(comm, &requests[0]); }
static void end_one(void) { MPI_Wait(&requests[0], MPI_STATUS_IGNORE); }

static void begin_sum(void) {
  out[0] = rank;
  out[1] = 1;
  MPI_Iallreduce(out, in, 2, MPI_INT, MPI_SUM, comm, &requests[0]);
}
static void end_sum(void) {
  for (int flag = 0; !flag;) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  check(in[0] == sum_of_ranks() && in[1] == ranks, "a sum");
}

/* Two at once, completed in the other order. */
static void begin_two(void) {
  in[0] = rank == 1 ? 77 : 0;
  out[0] = rank;
  MPI_Ibcast(in, 1, MPI_INT, 1, comm, &requests[0]);
  MPI_Iscan(out, in + 1, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
}
static void end_two(void) {
  int index;
  MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
  check(index == 0 && in[0] == 77 && in[1] == rank * (rank + 1) / 2, "two operations");
}

static void begin_in_place(void) {
  in[rank] = rank + 10;
  MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in, 1, MPI_INT, comm, &requests[0]);
}
static void end_in_place(void) {
  int count, index;
  MPI_Waitsome(1, requests, &count, &index, statuses);
  for (int i = 0; i < ranks; i++) check(in[i] == i + 10, "numbers of all");
}

/* At one member alone, on a communicator and with datatypes that are gone when it ends. */
static void begin_and_free(void) {
  MPI_Datatype strided;
  MPI_Type_vector(2, 1, 3, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  out[0] = rank;
  out[3] = -rank;
  MPI_Ireduce(out, in, 1, MPI_INT, MPI_SUM, ranks - 1, comm, &requests[0]);
  MPI_Ibcast(rank == 0 ? out : in + 8, 1, strided, 0, comm, &requests[1]);
  MPI_Type_free(&strided);
#ifndef OPEN_MPI /* whose 4.1 crashes in it by itself */
  MPI_Comm_free(&comm);
#endif
}
static void end_freed(void) {
  int flag = 0;
  while (!flag) MPI_Testall(2, requests, &flag, statuses);
  if (rank == ranks - 1) check(in[0] == sum_of_ranks(), "a sum at the last member");
  if (rank > 0) check(in[8] == 0 && in[9] == 0 && in[11] == 0, "what was sent");
}

/* Each member with other counts and types of its own. */
static void begin_different(void) {
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1;
    offsets[i] = (int)(i * sizeof(int));
    types[i] = MPI_INT;
    out[i] = 10 * rank + i;
  }
  MPI_Ialltoallw(out, counts, offsets, types, in, counts, offsets, types, comm, &requests[0]);
}
static void end_different(void) {
  MPI_Waitall(2, requests, statuses);
  for (int i = 0; i < ranks; i++) check(in[i] == 10 * i + rank, "a number of each");
}

static void set_up_ring(void) {
  const int periodic = 1;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &periodic, 0, &comm);
}
static void begin_exchange(void) {
  out[0] = 10 * rank;
  out[1] = 10 * rank + 1;
  MPI_Ineighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, comm, &requests[0]);
}
static void end_exchange(void) {
  int flag = 0;
  while (!flag) MPI_Request_get_status(requests[0], &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  check(in[0] == 10 * ((rank + ranks - 1) % ranks) + 1 && in[1] == 10 * ((rank + 1) % ranks), "from neighbours");
}

/* ---- What the members of a group alone call ---- */

static MPI_Comm made[2] = {MPI_COMM_NULL, MPI_COMM_NULL};

/* Called by these ranks alone: a communicator of them, the last first. (MPICH 4.0 crashes where the group is not of the
 * communicator itself.) */
static void make(MPI_Comm of, int first, int last, int tag, MPI_Comm *it) {
  MPI_Group whole, group;
  int range[1][3];
  range[0][0] = last, range[0][1] = first, range[0][2] = -1;
  MPI_Comm_group(of, &whole);
  MPI_Group_range_incl(whole, 1, range, &group);
  MPI_Comm_create_group(of, group, tag, it);
  MPI_Group_free(&whole);
  MPI_Group_free(&group);
}

static void check_made(MPI_Comm of, int first, int last) {
  int mine, all;
  MPI_Comm_rank(of, &mine);
  check(mine == last - rank, "a rank in what a group has made");
  MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, of);
  check(all == (first + last) * (last - first + 1) / 2, "a sum in what a group has made");
}

/* One that is freed again and one that is not, of two communicators. */
static void begin_group(void) {
  MPI_Comm gone;
  if (rank == 0) return;
  make(comm, 1, ranks - 1, 1, &gone);
  make(comm, 1, ranks - 1, 2, &made[0]);
  make(MPI_COMM_WORLD, 1, ranks - 1, 2, &made[1]);
  check_made(gone, 1, ranks - 1);
  MPI_Comm_free(&gone);
}
/* Of a communicator with a topology, which what is made has not, nor what is made of that. */
static void begin_group_of_ring(void) {
  MPI_Comm copy;
  begin_group();
  if (rank == 0) return;
  MPI_Comm_dup(made[0], &copy);
  MPI_Comm_free(&made[0]);
  made[0] = copy;
}
static void end_group(void) {
  for (int i = 0; i < 2 && rank > 0; i++) {
    MPI_Comm again;
    check_made(made[i], 1, ranks - 1);
    make(i == 0 ? comm : MPI_COMM_WORLD, 1, ranks - 1, 3, &again);
    check_made(again, 1, ranks - 1);
    MPI_Comm_free(&again);
    MPI_Comm_free(&made[i]);
  }
}

/* The communicator is freed, and then what was made of it. */
static void begin_group_freed(void) {
  if (rank > 0) make(comm, 1, ranks - 1, 1, &made[0]);
  if (rank > 0) make(made[0], 0, ranks - 2, 1, &made[1]);
  if (rank > 0) MPI_Comm_free(&made[0]);
  MPI_Comm_free(&comm);
}
static void end_group_freed(void) {
  for (int i = 0; i < 2; i++) {
    int all = rank;
    if (rank > 0) MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, made[1]);
    check(rank == 0 || all == sum_of_ranks(), "a sum in what is left");
    if (rank > 0) MPI_Comm_free(&made[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    begin_group_freed();
  }
}

/* Of one process, of none, and of all. Some of it is made by the set-up. */
static void begin_group_alone(void) {
  make(comm, rank, rank, 0, &made[0]);
  make(MPI_COMM_SELF, 0, 0, 0, &made[1]);
  for (int i = 0; i < 2; i++) check_made(made[i], rank, rank);
}
static void set_up_group_alone(void) {
  MPI_Comm gone;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_create_group(comm, MPI_GROUP_EMPTY, 0, &gone);
  check(gone == MPI_COMM_NULL, "what nobody has made");
  begin_group_alone();
  for (int i = 0; i < 2; i++) MPI_Comm_free(&made[i]);
  make(MPI_COMM_WORLD, 0, ranks - 1, 4, &gone);
  check_made(gone, 0, ranks - 1);
  MPI_Comm_free(&gone);
}
static void end_group_alone(void) {
  for (int i = 0; i < 2; i++) {
    check_made(made[i], rank, rank);
    MPI_Comm_free(&made[i]);
  }
  begin_group_alone();
  make(MPI_COMM_WORLD, 0, ranks - 1, 4, &made[0]);
  check_made(made[0], 0, ranks - 1);
}

/* ---- A communicator that is made without blocking ---- */

static void begin_idup(void) {
  MPI_Comm_idup(comm, &made[0], &requests[0]);
}
static void begin_and_end_idup(void) {
  MPI_Comm gone;
  MPI_Comm_idup(comm, &gone, &requests[1]);
  begin_idup();
  MPI_Waitall(2, requests, statuses);
  MPI_Comm_free(&gone);
}
static void end_idup(void) {
  for (int i = 0; i < 2; i++) {
    int all;
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Allreduce(&rank, &all, 1, MPI_INT, MPI_SUM, made[0]);
    check(all == sum_of_ranks(), "a sum on a duplicate");
    MPI_Comm_free(&made[0]);
    begin_idup();
  }
  for (int flag = 0; !flag;) MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
  MPI_Comm_free(&made[0]);
}

/* A replay calls no function that copies attributes: who has this duplicate alone before its checkpoint refuses the line. */
static void set_up_attribute(void) {
  int key;
  set_up_copy();
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(comm, key, out);
}

/* Into memory that no line has: a line is refused as long as it is under way. */
static int wild[2];
static void begin_wild(void) {
  out[0] = rank;
  MPI_Iallreduce(out, wild, 1, MPI_INT, MPI_SUM, comm, &requests[0]);
}
static void end_wild(void) {
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  if (fresh) check(wild[0] == sum_of_ranks(), "a sum elsewhere");
}

/* ---- Persistent ones, in the MPIs that have them ---- */

#if MPI_VERSION >= 4
#define INIT(NAME) MPI_##NAME##_init
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(NAME) MPIX_##NAME##_init
#endif

#ifdef INIT
enum { kAll = 22, kRoom = 16 };
static MPI_Request all[kAll];
static int from[kAll][kRoom], to[kAll][kRoom];
static int round_of[kAll];
static int makes_before;
static int rooted; /* with MPI_Gather_init and MPI_Scatter_init, which MPICH 4.0 does not do twice by itself */
static MPI_Aint far[kMostRanks];
static MPI_Op product = MPI_OP_NULL;

/* What number i of this rank is in this round. */
static int number(int of, int i, int round) { return 1 + of + 3 * i + 5 * round; }
static int sum_of(int first, int last, int i, int round) {
  int sum = 0;
  for (int of = first; of <= last; of++) sum += number(of, i, round);
  return sum;
}

/* Each of its own: where it gets what. The ring's neighbours come first the left, then the right one. */
static void make_all(void) {
  const MPI_Info none = MPI_INFO_NULL;
  MPI_Datatype pair, strided;
  int n = 0, root = ranks - 1;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Type_vector(2, 1, 2, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  for (int i = 0; i < ranks; i++) {
    counts[i] = 1;
    offsets[i] = ranks - 1 - i;
    types[i] = MPI_INT;
    far[i] = (MPI_Aint)(offsets[i] * (int)sizeof(int));
    offsets[kMostRanks + i] = (int)far[i];
  }
#define MAKE(NAME, ...) INIT(NAME)(__VA_ARGS__, comm, none, &all[n]), n++
#define OUT from[n]
#define IN to[n]
  INIT(Barrier)(comm, none, &all[n]), n++;
  MAKE(Bcast, IN, 1, strided, root);
  if (rooted) MAKE(Gather, OUT, 2, MPI_INT, IN, 1, pair, root);
  else INIT(Barrier)(comm, none, &all[n]), n++;
  MAKE(Gatherv, OUT, 1, MPI_INT, IN, counts, offsets, MPI_INT, root);
  if (rooted) MAKE(Scatter, OUT, 1, pair, rank == root ? MPI_IN_PLACE : IN, 2, MPI_INT, root);
  else INIT(Barrier)(comm, none, &all[n]), n++;
  MAKE(Scatterv, OUT, counts, offsets, MPI_INT, IN, 1, MPI_INT, root);
  MAKE(Allgather, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, IN, 2, MPI_INT);
  MAKE(Allgatherv, OUT, 1, MPI_INT, IN, counts, offsets, MPI_INT);
  MAKE(Alltoall, OUT, 1, MPI_INT, IN, 1, MPI_INT);
  MAKE(Alltoallv, OUT, counts, offsets, MPI_INT, IN, counts, offsets, MPI_INT);
  MAKE(Alltoallw, OUT, counts, offsets + kMostRanks, types, IN, counts, offsets + kMostRanks, types);
  MAKE(Reduce, OUT, IN, 2, MPI_INT, MPI_SUM, root);
  MAKE(Allreduce, OUT, IN, 1, MPI_INT, product);
  MAKE(Reduce_scatter, MPI_IN_PLACE, IN, counts, MPI_INT, MPI_SUM);
  MAKE(Reduce_scatter_block, OUT, IN, 1, MPI_INT, MPI_SUM);
  MAKE(Scan, MPI_IN_PLACE, IN, 1, MPI_INT, MPI_SUM);
  MAKE(Exscan, OUT, IN, 1, MPI_INT, MPI_SUM);
  MAKE(Neighbor_allgather, OUT, 1, MPI_INT, IN, 1, MPI_INT);
  MAKE(Neighbor_allgatherv, OUT, 1, MPI_INT, IN, counts, offsets + ranks - 2, MPI_INT);
  MAKE(Neighbor_alltoall, OUT, 1, MPI_INT, IN, 1, MPI_INT);
  MAKE(Neighbor_alltoallv, OUT, counts, offsets + ranks - 2, MPI_INT, IN, counts, offsets + ranks - 2, MPI_INT);
  MAKE(Neighbor_alltoallw, OUT, counts, far, types, IN, counts, far, types);
#ifdef OPEN_MPI /* 4.1 by itself crashes without them; with lines they are kept */
  if (*lines == '\0') return;
#endif
  MPI_Type_free(&pair);
  MPI_Type_free(&strided);
}

/* Fills what the operations of the next round read, and starts them: the others in another order. */
static void start_all(void) {
  for (int k = 0; k < kAll; k++) {
    const int n = rank % 2 == 0 ? k : kAll - 1 - k, round = ++round_of[n];
    for (int i = 0; i < kRoom; i++) from[n][i] = number(rank, i, round), to[n][i] = n == 13 ? from[n][i] : -1;
    for (int i = 0; i < 2; i++) {
      if (n == 1 && rank == ranks - 1) to[n][2 * i] = number(rank, i, round);
      if (n == 6) to[n][2 * rank + i] = number(rank, i, round);
    }
    if (n == 15) to[n][0] = number(rank, 0, round);
    if (k < kAll / 2) MPI_Start(&all[n]);
    else MPI_Startall(1, &all[n]);
  }
}

static void check_number(int n, int place, int right) {
  char what[80];
  if (!rooted && (n == 2 || n == 4)) return;
  snprintf(what, sizeof what, "operation %d, place %d, round %d: %d, not %d", n, place, round_of[n], to[n][place], right);
  check(to[n][place] == right, what);
}

static void check_all(void) {
  const int root = ranks - 1, left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  const int r = round_of[0];
  int factors = 1;
  for (int of = 0; of < ranks; of++) factors *= number(of, 0, r);
  for (int i = 0; i < 2; i++) check_number(1, 2 * i, number(root, i, r));
  for (int of = 0; of < ranks; of++) {
    for (int i = 0; rank == root && i < 2; i++) check_number(2, 2 * of + i, number(of, i, r));
    if (rank == root) check_number(3, ranks - 1 - of, number(of, 0, r));
    for (int i = 0; i < 2; i++) check_number(6, 2 * of + i, number(of, i, r));
    check_number(7, ranks - 1 - of, number(of, 0, r));
    check_number(8, of, number(of, rank, r));
    check_number(9, ranks - 1 - of, number(of, ranks - 1 - rank, r));
    check_number(10, ranks - 1 - of, number(of, ranks - 1 - rank, r));
  }
  for (int i = 0; rank != root && i < 2; i++) check_number(4, i, number(root, 2 * rank + i, r));
  check_number(5, 0, number(root, ranks - 1 - rank, r));
  for (int i = 0; rank == root && i < 2; i++) check_number(11, i, sum_of(0, ranks - 1, i, r));
  check_number(12, 0, factors);
  check_number(13, 0, sum_of(0, ranks - 1, rank, r));
  check_number(14, 0, sum_of(0, ranks - 1, rank, r));
  check_number(15, 0, sum_of(0, rank, 0, r));
  if (rank > 0) check_number(16, 0, sum_of(0, rank - 1, 0, r));
  check_number(17, 0, number(left, 0, r));
  check_number(17, 1, number(right, 0, r));
  check_number(18, 1, number(left, 0, r));
  check_number(18, 0, number(right, 0, r));
  check_number(19, 0, number(left, 1, r));
  check_number(19, 1, number(right, 0, r));
  check_number(20, 1, number(left, 0, r));
  check_number(20, 0, number(right, 1, r));
  check_number(21, ranks - 1, number(left, ranks - 2, r));
  check_number(21, ranks - 2, number(right, ranks - 1, r));
}

/* In one of the ways in which requests are completed. What is not active or null is over at once. */
static void end_all(void) {
  MPI_Status each[kAll];
  int places[kAll], ended = 0, n, flag = 0;
  int way = round_of[0] % 5;
#ifdef MPICH /* 4.0 by itself takes inactive ones for complete, and fails in MPI_Testall */
  if (*lines == '\0') way = 0;
#endif
  switch (way) {
    case 0: MPI_Waitall(kAll, all, each); break;
    case 1:
      while (ended < kAll) {
        MPI_Waitsome(kAll, all, &n, places, each);
        check(n > 0 && n != MPI_UNDEFINED, "some that are complete");
        ended += n;
      }
      MPI_Testsome(kAll, all, &n, places, each);
      check(n == MPI_UNDEFINED, "none that is active");
      break;
    case 2:
      for (int i = 0; i < kAll; i++) MPI_Waitany(kAll, all, &n, each);
      MPI_Waitany(kAll, all, &n, each);
      check(n == MPI_UNDEFINED, "none that is active");
      break;
    case 3:
      for (int i = 0; i < kAll; i++) {
        for (flag = 0; !flag;) MPI_Request_get_status(all[i], &flag, each);
        MPI_Wait(&all[i], each);
        MPI_Wait(&all[i], each);
      }
      break;
    default:
      while (!flag) MPI_Testall(kAll, all, &flag, each);
      MPI_Testany(kAll, all, &n, &flag, each);
      check(n == MPI_UNDEFINED && flag, "none that is active");
  }
  check_all();
  for (int i = 0; i < kAll; i++) check(all[i] != MPI_REQUEST_NULL, "a request that stays");
}
static void free_all(void) {
  for (int i = 0; i < kAll; i++) MPI_Request_free(&all[i]);
  for (int i = 0; i < kAll; i++) check(all[i] == MPI_REQUEST_NULL, "a request that is gone");
}

static void multiply(void *a, void *b, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++) ((int *)b)[i] *= ((int *)a)[i];
}
static void register_all(void) {
  set_up_ring();
  MPI_Op_create(multiply, 1, &product);
  for (int i = 0; i < kAll; i++) all[i] = MPI_REQUEST_NULL;
  ELC_VAR(round_of);
  ELC_VAR(from);
  ELC_VAR(to);
  ELC_REQUEST(all);
}

/* Made by the set-up: started, twice at once, or not at all before the line. */
static void set_up_all(void) {
  register_all();
  make_all();
  start_all();
  end_all();
}
static void set_up_rooted(void) {
  rooted = 1;
  set_up_all();
}
static void set_up_made_rooted(void) {
  rooted = makes_before = 1;
  register_all();
}
static void begin_twice(void) {
  start_all();
  end_all();
  start_all();
}
static void end_rounds(void) {
  end_all();
  for (int i = 0; i < 5; i++) {
    start_all();
    end_all();
  }
#ifndef OPEN_MPI /* whose 4.1 crashes by itself */
  MPI_Op_free(&product);
  start_all();
  end_all();
#endif
  free_all();
}
static void end_idle(void) {
  start_all();
  end_rounds();
}
static void begin_nothing(void) {}

/* Made behind the set-up, by all before the line; some have started them. */
static void begin_made_and_idle(void) { make_all(); }
static void begin_made_later(void) {
  make_all();
  start_all();
  end_all();
}
static void set_up_made(void) {
  register_all();
  makes_before = 1;
}

/* Freed before the line by some. */
static void begin_gone(void) {
  start_all();
  end_all();
  free_all();
}

/* A copy of the communicator is gone, and MPI has kept it for the request. */
static void begin_without_communicator(void) {
  MPI_Comm copy;
  if (requests[0] == MPI_REQUEST_NULL) {
    MPI_Comm_dup(comm, &copy);
    INIT(Allreduce)(out, in, 1, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL, &requests[0]);
    MPI_Comm_free(&copy);
  }
  out[0] = rank;
  MPI_Start(&requests[0]);
}
static void set_up_without_communicator(void) {
  set_up_copy();
  begin_without_communicator();
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}
static void end_without_communicator(void) {
  for (int i = 0; i < 2; i++) {
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check(in[0] == sum_of_ranks(), "a sum without a communicator");
    if (i == 0) begin_without_communicator();
  }
  MPI_Request_free(&requests[0]);
}

/* What refuses a line as long as it is there. */
static void begin_unregistered(void) {
  INIT(Bcast)(wild, 1, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[0]);
}
static void begin_late_operation(void) {
  MPI_Op_create(multiply, 1, &product);
  INIT(Allreduce)(out, in, 1, MPI_INT, product, comm, MPI_INFO_NULL, &requests[0]);
  MPI_Op_free(&product);
}
static void end_request(void) { MPI_Request_free(&requests[0]); }

/* Made when requests of the library's own have been freed: the stand-ins of a receive that was pending and of a message to nobody. */
static void begin_receive(void) { MPI_Irecv(out, 1, MPI_INT, rank, 0, comm, &requests[0]); }
static void end_recycled(void) {
  MPI_Send(&ranks, 1, MPI_INT, rank, 0, comm);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  check(out[0] == ranks, "a message to itself");
  for (int i = 0; i < 2; i++) {
    if (i == 1) MPI_Sendrecv(out, 1, MPI_INT, MPI_PROC_NULL, 0, in, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE);
    INIT(Allreduce)(&rank, in, 1, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &requests[0]);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    check(in[0] == sum_of_ranks(), "a sum");
    MPI_Request_free(&requests[0]);
  }
}
static void begin_and_end_request(void) {
  INIT(Barrier)(comm, MPI_INFO_NULL, &requests[0]);
  end_request();
}
#endif

static const struct Scene {
  const char *name;
  void (*set_up)(void), (*begin)(void), (*end)(void);
} scenes[] = {
    {"barrier", set_up_copy, begin_barrier, end_one},
    {"sum", set_up_copy, begin_sum, end_sum},
    {"two", set_up_copy, begin_two, end_two},
    {"in_place", set_up_copy, begin_in_place, end_in_place},
    {"freed", set_up_copy, begin_and_free, end_freed},
    {"different", set_up_copy, begin_different, end_different},
    {"exchange", set_up_ring, begin_exchange, end_exchange},
    {"group", set_up_copy, begin_group, end_group},
    {"group_of_ring", set_up_ring, begin_group_of_ring, end_group},
    {"group_freed", set_up_copy, begin_group_freed, end_group_freed},
    {"group_alone", set_up_group_alone, begin_group_alone, end_group_alone},
    {"idup", set_up_copy, begin_and_end_idup, end_idup},
    {"idup_attribute", set_up_attribute, begin_and_end_idup, end_idup},
    {"idup_pending", set_up_copy, begin_idup, end_idup},
    {"wild", set_up_copy, begin_wild, end_wild},
#ifdef INIT
    {"persistent", set_up_all, start_all, end_rounds},
    {"persistent_rooted", set_up_rooted, start_all, end_rounds},
    {"persistent_rooted_made", set_up_made_rooted, start_all, end_rounds},
    {"persistent_twice", set_up_all, begin_twice, end_rounds},
    {"persistent_idle", set_up_all, begin_nothing, end_idle},
    {"persistent_made", set_up_made, start_all, end_rounds},
    {"persistent_made_idle", register_all, begin_made_and_idle, end_idle},
    {"persistent_gone", set_up_made, begin_gone, begin_nothing},
    {"persistent_gone_of_set_up", set_up_all, begin_gone, begin_nothing},
    {"persistent_without", set_up_without_communicator, begin_without_communicator, end_without_communicator},
    {"persistent_without_later", set_up_copy, begin_without_communicator, end_without_communicator},
    {"persistent_wild", set_up_copy, begin_unregistered, end_request},
    {"persistent_operation", set_up_copy, begin_late_operation, end_request},
    {"persistent_recycled", set_up_copy, begin_receive, end_recycled},
    {"persistent_crossing", set_up_copy, begin_and_end_request, begin_nothing},
#endif
};

/* Whether the line asked for has ended, which may be with a refusal. */
static int over(void) {
  char refused[4096];
  snprintf(refused, sizeof refused, "%s/refused", lines);
  return ELC_Line() > 0 || access(refused, F_OK) == 0;
}

int main(int argc, char **argv) {
  const struct Scene *scene = NULL;
  int die = argc > 3 ? atoi(argv[3]) : -1;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (argc > 2 && strcmp(argv[1], scenes[i].name) == 0) scene = &scenes[i];
  if (getenv("ELC_DIR") != NULL) lines = getenv("ELC_DIR");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(scene != NULL && ranks <= kMostRanks, "the arguments");
  early = atoi(argv[2]) >> rank & 1;
  scene->set_up();
  ELC_VAR(in);
  ELC_VAR(out);
  ELC_COMM(comm);
  ELC_COMM(made);
  ELC_REQUEST(requests);
  fresh = ELC_Restore() == ELC_FRESH;
#ifdef INIT
  if (fresh && makes_before) begin_made_later();
#endif
  if (fresh && early) scene->begin();
  while (fresh && *lines != '\0' && !ELC_Checkpoint_now() && !over()) continue;
  if (!early) scene->begin();
  while (fresh && *lines != '\0' && !over()) ELC_Checkpoint();
  if (fresh && rank == die) raise(SIGKILL);
  scene->end();
  check(requests[0] == MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL, "a request that is over");
  /* Operations of the communicators behind it match. */
  in[0] = 0;
  MPI_Allreduce(&rank, in, 1, MPI_INT, MPI_SUM, comm == MPI_COMM_NULL ? MPI_COMM_WORLD : comm);
  check(in[0] == sum_of_ranks(), "the next operation");
  while (fresh && *lines != '\0' && ELC_Line() == 0) ELC_Checkpoint_now();
  if (rank == 0) printf("result: %d\n", in[0]);
  MPI_Finalize();
  return 0;
}

#else
int main(void) { return 0; }
#endif
