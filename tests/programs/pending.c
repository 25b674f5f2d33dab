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

#if MPI_VERSION >= 3

enum { kMost = 64, kMostRanks = 8 };
static const char *lines = ""; /* the directory of the lines */
static int rank, ranks, early, fresh;
static int in[kMost], out[kMost], counts[kMostRanks], offsets[kMostRanks];
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
    {"group_freed", set_up_copy, begin_group_freed, end_group_freed},
    {"group_alone", set_up_group_alone, begin_group_alone, end_group_alone},
    {"idup", set_up_copy, begin_and_end_idup, end_idup},
    {"idup_attribute", set_up_attribute, begin_and_end_idup, end_idup},
    {"idup_pending", set_up_copy, begin_idup, end_idup},
    {"wild", set_up_copy, begin_wild, end_wild},
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
