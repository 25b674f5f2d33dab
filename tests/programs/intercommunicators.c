/* intercommunicators.c - two groups and what joins them (MPI standard, chapter 7.6), while a line is taken. Each scene is
 * one test of tests/mpi/behaviour_test.py, which compares its result with that of the program without the library.
 *
 *     intercommunicators SCENE EARLY [DIE]     EARLY: the ranks that act before their checkpoint, a bit for each; the others
 *                                              act behind theirs. DIE: a rank that kills itself when the line has committed,
 *                                              in a run from the start */
#include <elc.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mix.h"

enum { kTag = 5, kMost = 16, kOperations = 24, kRequests = 24, kMade = 5, kSends = 24 };
static const char *lines = ""; /* the directory of the lines */
static int rank, ranks, early, fresh, alone, done; /* done: of the scene's parts */
static int first, me, mine, others; /* in the first group; this process in its group; sizes of this group and of the other */
static int in[kOperations][kMost], out[kOperations][kMost];
static uint64_t digest;
static MPI_Comm own = MPI_COMM_NULL, both = MPI_COMM_NULL, again = MPI_COMM_NULL, made[kMade];
static MPI_Request requests[kRequests], sends[kSends];
static int sent[kSends];
static int counts[kMost], offsets[kMost], ones[kMost], places[kMost], shares[kMost]; /* of what operations move */

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "intercommunicators: rank %d: wrong: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* ---- The groups: of the even and the odd ranks, these backwards; or rank 0 alone ---- */

static int is_first(int of) { return alone ? of == 0 : of % 2 == 0; }

/* World ranks by those in the group. */
static int of_group(int is_the_first, int which) {
  for (int i = 0; i < ranks; i++) {
    int r = is_the_first ? i : ranks - 1 - i;
    if (is_first(r) == is_the_first && which-- == 0) return r;
  }
  return -1;
}
static int other(int which) { return of_group(!first, which); }

static void find_groups(void) {
  first = is_first(rank);
  mine = others = 0;
  for (int r = 0; r < ranks; r++) ++*(is_first(r) == first ? &mine : &others);
  for (int i = 0; i < mine; i++)
    if (of_group(first, i) == rank) me = i;
}

static void join(MPI_Comm *joined) {
  int of_first = alone ? 0 : 1;
  MPI_Intercomm_create(own, first ? of_first : 0, MPI_COMM_WORLD, other(first ? 0 : of_first), kTag, joined);
}

static void split(void) {
  find_groups();
  MPI_Comm_split(MPI_COMM_WORLD, first, first ? rank : -rank, &own);
  if (!alone || !first) return;
  MPI_Comm_free(&own);
  own = MPI_COMM_SELF;
}
static void join_twice(void) {
  split();
  join(&both);
  join(&again);
}
static void join_alone(void) {
  alone = 1;
  join_twice();
}
static void nothing(void) { find_groups(); }

/* ---- Messages ---- */

static int value(int from, int to, int which) { return 1000 * from + 10 * to + which; }

/* Of the other group: who has sent it is known by the status, and of each sender they come in their order. */
static int came[2][kMost];
static void note(MPI_Comm comm, int got, const MPI_Status *status) {
  int count, *next = &came[comm == again][status->MPI_SOURCE];
  MPI_Get_count((MPI_Status *)status, MPI_INT, &count);
  check(status->MPI_SOURCE >= 0 && status->MPI_SOURCE < others && count == 1, "a status");
  check(got == value(other(status->MPI_SOURCE), rank, *next) && status->MPI_TAG == kTag + *next, "a message");
  *next = (*next + 1) % 3;
  digest += mix((uint64_t)got, (uint64_t)status->MPI_TAG);
}

/* LAM keeps one message for a receiver. */
static void send(MPI_Comm comm) {
  for (int k = 0; k < 3 * others; k++) {
    int which = (comm == again ? 3 * others : 0) + k, to = k / 3, i = k % 3;
    sent[which] = value(rank, other(to), i);
    MPI_Isend(&sent[which], 1, MPI_INT, to, kTag + i, comm, &sends[which]);
  }
}

static void receive(MPI_Comm comm) {
  MPI_Status status;
  MPI_Request request;
  for (int i = 0; i < 3 * others; i++) {
    int got = -1;
    if (i % 4 == 0) {
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
    } else if (i % 4 == 1) {
      MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
      MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, &status);
    } else if (i % 4 == 2) {
      MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &request);
      MPI_Wait(&request, &status);
    } else {
#if MPI_VERSION >= 3
      MPI_Message message;
      MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &message, &status);
      MPI_Mrecv(&got, 1, MPI_INT, &message, &status);
#else
      MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &status);
#endif
    }
    note(comm, got, &status);
  }
}

/* Sent before the line, or by some behind it; received behind it. */
static void send_all(void) {
  send(both);
  send(again);
}
static void receive_all(void) {
  static MPI_Status statuses[kSends];
  receive(again);
  receive(both);
  MPI_Waitall(kSends, sends, statuses);
}

/* All of it at once: what comes from one that is late is an orphan to one that is early. */
static void exchange(void) {
  int message = rank, nobody = -7;
  MPI_Status status;
  MPI_Sendrecv_replace(&message, 1, MPI_INT, me < others ? me : MPI_PROC_NULL, 9, me < others ? me : MPI_PROC_NULL, 9, both, &status);
  check(message == (me < others ? other(me) : rank), "what was exchanged");
  check(status.MPI_SOURCE == (me < others ? me : MPI_PROC_NULL), "from whom");
  MPI_Recv(&nobody, 1, MPI_INT, MPI_PROC_NULL, kTag, again, &status);
  check(nobody == -7 && status.MPI_SOURCE == MPI_PROC_NULL, "a message from nobody");
  send_all();
  receive_all();
}

/* Receives that are pending at the line: of one sender each, of anybody, and one that is persistent. */
static void post(void) {
  for (int i = 0; i < others; i++) MPI_Irecv(in[i], 1, MPI_INT, i, kTag, both, &requests[i]);
  for (int i = 0; i < others; i++)
    MPI_Irecv(in[others + i], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, again, &requests[others + i]);
  MPI_Recv_init(in[2 * others], 1, MPI_INT, others - 1, 9, both, &requests[2 * others]);
  MPI_Start(&requests[2 * others]);
}
static void answer(void) {
  for (int to = 0; to < others; to++) {
    int message = value(rank, other(to), 0), last = me == mine - 1;
    MPI_Send(&message, 1, MPI_INT, to, kTag, both);
    MPI_Send(&message, 1, MPI_INT, to, kTag, again);
    if (last) MPI_Send(&message, 1, MPI_INT, to, 9, both);
  }
  for (int i = 0; i < 2 * others; i++) {
    MPI_Status status;
    MPI_Wait(&requests[i], &status);
    check(i >= others || status.MPI_SOURCE == i, "who has sent it");
    check(in[i][0] == value(other(status.MPI_SOURCE), rank, 0) && status.MPI_TAG == kTag, "a message");
    digest += mix((uint64_t)in[i][0], 0);
    in[i][0] = 0;
  }
  MPI_Wait(&requests[2 * others], MPI_STATUS_IGNORE);
  check(in[2 * others][0] == value(other(others - 1), rank, 0), "a message to a persistent request");
  MPI_Request_free(&requests[2 * others]);
}

/* ---- Collective operations ---- */

static void find_counts(void) {
  for (int i = 0; i < kMost; i++) {
    counts[i] = i < 4 ? i + 1 : 0;
    offsets[i] = i == 0 ? 0 : offsets[i - 1] + counts[i - 1];
    ones[i] = 1;
    places[i] = i;
    shares[i] = others;
  }
}

/* The argument, where this one of the first group is the root, or of the second. */
static int root_of(int is_the_first, int which) {
  if (first != is_the_first) return which;
  return me == which ? MPI_ROOT : MPI_PROC_NULL;
}

#if MPI_VERSION >= 3
enum { kAll = 21 };
#define OPERATION(NAME, INAME, ...)         \
  if (request != NULL)                      \
    MPI_##INAME(__VA_ARGS__, request);      \
  else                                      \
    MPI_##NAME(__VA_ARGS__);                \
  break
#else
enum { kAll = 19 };
#define OPERATION(NAME, INAME, ...) \
  MPI_##NAME(__VA_ARGS__);          \
  break
#endif

/* Those with a root have one in each group. */
static void operation(int which, MPI_Request *request) {
  int *to = in[which], *from = out[which], of_first = which % 2;
  /* MPICH 4.0 loses what MPI_Ibcast sends from another one than the first. */
  int root = root_of(of_first, of_first || which < 2 ? 0 : (first ? others : mine) - 1);
  (void)request;
  for (int i = 0; i < kMost; i++) from[i] = value(rank, which, i);
  if (which < 2 && root == MPI_ROOT) memcpy(to, from, 2 * sizeof *to);
#if MPI_VERSION < 2
  if ((which >= 4 && which < 10) || which == 14 || which == 16 || which == 18) return; /* LAM's hang between groups by themselves */
#endif
  switch (which < 12 ? which / 2 : which) {
    case 0: OPERATION(Bcast, Ibcast, to, 2, MPI_INT, root, both);
    case 1: OPERATION(Gather, Igather, from, 2, MPI_INT, to, 2, MPI_INT, root, both);
    case 2: OPERATION(Gatherv, Igatherv, from, counts[me], MPI_INT, to, counts, offsets, MPI_INT, root, both);
    case 3: OPERATION(Scatter, Iscatter, from, 2, MPI_INT, to, 2, MPI_INT, root, both);
    case 4: OPERATION(Scatterv, Iscatterv, from, counts, offsets, MPI_INT, to, counts[me], MPI_INT, root, both);
    case 5: OPERATION(Reduce, Ireduce, from, to, 3, MPI_INT, MPI_SUM, root, both);
    case 12: OPERATION(Barrier, Ibarrier, both);
    case 13: OPERATION(Allgather, Iallgather, from, 2, MPI_INT, to, 2, MPI_INT, both);
    case 14: OPERATION(Allgatherv, Iallgatherv, from, counts[me], MPI_INT, to, counts, offsets, MPI_INT, both);
    case 15: OPERATION(Alltoall, Ialltoall, from, 2, MPI_INT, to, 2, MPI_INT, both);
    case 16: OPERATION(Alltoallv, Ialltoallv, from, ones, places, MPI_INT, to, ones, places, MPI_INT, both);
    case 17: OPERATION(Allreduce, Iallreduce, from, to, 3, MPI_INT, MPI_MAX, both);
    case 18: OPERATION(Reduce_scatter, Ireduce_scatter, from, to, shares, MPI_INT, MPI_SUM, both);
#if MPI_VERSION >= 3
    case 19: OPERATION(Reduce_scatter_block, Ireduce_scatter_block, from, to, others, MPI_INT, MPI_SUM, both);
    case 20: {
      static int bytes[kMost];
      static MPI_Datatype types[kMost];
      for (int i = 0; i < kMost; i++) {
        bytes[i] = i * (int)sizeof(int);
        types[i] = MPI_INT;
      }
      OPERATION(Alltoallw, Ialltoallw, from, ones, bytes, types, to, ones, bytes, types, both);
    }
#endif
  }
}

static void operate(void) {
  for (int i = 0; i < kAll; i++) operation(i, NULL);
}

/* Something of each in the result. */
static void add_up(void) {
  for (int i = 0; i < kAll; i++)
    for (int k = 0; k < kMost; k++) digest += mix((uint64_t)(i * kMost + k), (uint64_t)in[i][k]);
}

#if MPI_VERSION >= 3
static void begin_all(void) {
  for (int i = 0; i < kAll; i++) operation(i, &requests[i]);
}
static void end_all(void) {
  static MPI_Status statuses[kAll];
  MPI_Waitall(kAll, requests, statuses);
  add_up();
}
#endif

/* ---- What is made of one ---- */

/* A message to each and a sum over it. */
static void use(MPI_Comm comm) {
  int inter, size, sum = -1, it = rank + 1;
  MPI_Comm_test_inter(comm, &inter);
  if (inter) MPI_Comm_remote_size(comm, &size);
  else MPI_Comm_size(comm, &size);
  for (int to = 0; to < size; to++) MPI_Send(&it, 1, MPI_INT, to, kTag, comm);
  for (int i = 0; i < size; i++) {
    MPI_Status status;
    int got;
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, kTag, comm, &status);
    digest += mix((uint64_t)got, (uint64_t)status.MPI_SOURCE);
  }
  MPI_Allreduce(&it, &sum, 1, MPI_INT, MPI_SUM, comm);
  digest += mix((uint64_t)sum, (uint64_t)size);
}

static void make(void) {
  MPI_Intercomm_merge(both, !first, &made[0]);
  MPI_Comm_dup(again, &made[1]);
#if MPI_VERSION >= 2
  MPI_Group group, some;
  int they[] = {0, mine - 1};
  MPI_Comm_split(both, me == 0, -me, &made[2]);
  MPI_Comm_group(both, &group);
  MPI_Group_incl(group, mine > 1 ? 2 : 1, they, &some);
  MPI_Comm_create(again, some, &made[3]);
  MPI_Group_free(&group);
  MPI_Group_free(&some);
#endif
#if MPI_VERSION >= 3
  MPI_Comm_idup(made[1], &made[4], &requests[0]);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
#endif
}
static void use_made(void) {
  for (int i = kMade; i-- > 0;) {
    if (made[i] == MPI_COMM_NULL) continue;
    use(made[i]);
    MPI_Comm_free(&made[i]);
  }
  use(both);
}

static void join_and_post(void) {
  join_twice();
  post();
}
static void join_and_make(void) {
  join_twice();
  make();
}

/* Used, and freed while the line is under way. */
static void use_and_free(void) {
  post();
  answer();
  MPI_Comm_free(&both);
}
static void use_other(void) { use(again); }

/* Nothing of the kind refuses a line when it is gone. */
static void free_both(void) {
  MPI_Comm_free(&again);
  MPI_Comm_free(&both);
}

static const struct Scene {
  const char *name;
  void (*set_up)(void), (*prepare)(void), (*begin)(void), (*end)(void); /* prepare: by all, before the line */
} scenes[] = {
    {"sent", join_twice, NULL, send_all, receive_all},
    {"exchanged", join_twice, NULL, exchange, use_other},
    {"exchanged_later", nothing, join_twice, exchange, use_other},
    {"alone", join_alone, NULL, exchange, use_other},
    {"pending", join_twice, post, NULL, answer},
    {"pending_later", nothing, join_and_post, NULL, answer},
    {"operations", join_twice, NULL, operate, add_up},
    {"operations_alone", join_alone, NULL, operate, add_up},
    {"operations_later", nothing, join_twice, operate, add_up},
#if MPI_VERSION >= 3
    {"begun", join_twice, NULL, begin_all, end_all},
#endif
    {"made", join_twice, NULL, make, use_made},
    {"made_before", nothing, join_and_make, NULL, use_made},
    {"freed", join_twice, NULL, use_and_free, use_other},
    {"joined", nothing, NULL, join_twice, use_other},
    {"gone", nothing, join_twice, free_both, NULL},
};

/* Whether the line asked for has ended, which may be with a refusal. */
static int over(void) {
  char refused[4096];
  snprintf(refused, sizeof refused, "%s/refused", lines);
  return ELC_Line() > 0 || access(refused, F_OK) == 0;
}

static void run(void (*part)(void), int which) {
  if (done != which - 1) return;
  if (part != NULL) part();
  done = which;
}

int main(int argc, char **argv) {
  const struct Scene *scene = NULL;
  int die = argc > 3 ? atoi(argv[3]) : -1, follows;
  uint64_t share, total = 0;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (argc > 2 && strcmp(argv[1], scenes[i].name) == 0) scene = &scenes[i];
  if (getenv("ELC_DIR") != NULL) lines = getenv("ELC_DIR");
  follows = *lines != '\0';
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(scene != NULL && ranks > 2 && ranks < 6, "the arguments");
  early = atoi(argv[2]) >> rank & 1;
  for (int i = 0; i < kMade; i++) made[i] = MPI_COMM_NULL;
  for (int i = 0; i < kRequests; i++) requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < kSends; i++) sends[i] = MPI_REQUEST_NULL;
  if (getenv("ALONE") != NULL) alone = 1;
  scene->set_up();
  find_counts();
  ELC_VAR(in);
  ELC_VAR(out);
  ELC_VAR(digest);
  ELC_VAR(done);
  ELC_COMM(own);
  ELC_COMM(both);
  ELC_COMM(again);
  ELC_COMM(made);
  ELC_REQUEST(requests);
  ELC_REQUEST(sends);
  fresh = ELC_Restore() == ELC_FRESH;
  run(scene->prepare, 1);
  if (early) run(scene->begin, 2);
  while (fresh && follows && !ELC_Checkpoint_now() && !over()) continue;
  run(scene->begin, 2);
  while (fresh && follows && !over()) ELC_Checkpoint();
  if (fresh && rank == die && ELC_Line() > 0) raise(SIGKILL);
  if (done == 2) MPI_Barrier(MPI_COMM_WORLD);
  run(scene->end, 3);
  while (fresh && follows && ELC_Line() == 0) ELC_Checkpoint_now();
  if (fresh && rank == die) raise(SIGKILL);
  share = mix(digest, (uint64_t)rank);
  MPI_Reduce(&share, &total, 8, MPI_BYTE, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("result: %016llx\n", (unsigned long long)total);
  MPI_Finalize();
  return 0;
}
