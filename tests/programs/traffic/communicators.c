/* communicators.c - communicators that are made, used and freed. */
#include "traffic.h"

static void use(long k, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  collective(k, comm);
  use_topology(k, comm);
}

/* Whether some processes alone may make one. Without the library Open MPI 4.1 was seen to hang now and then in it. */
static int alone(void) {
#ifdef OPEN_MPI
  return 0;
#else
  return own;
#endif
}

static int half_of(long k, int process) { return (int)(mix(ask(k, 10), (uint64_t)process) % 2); }

/* Of the processes of one half, in the opposite order, perhaps by these alone; or, where it stands for MPI_Comm_split_type, of all. */
static void create(long k, MPI_Comm *made, int all) {
  int members[kMostRanks], count = 0;
  MPI_Group whole, part;
  for (int i = 0; i < ranks; i++) {
    const int process = all ? i : ranks - 1 - i;
    if (all || half_of(k, process)) members[count++] = process;
  }
  MPI_Comm_group(copy, &whole);
  MPI_Group_incl(whole, count, members, &part);
#if MPI_VERSION >= 3
  /* MPICH 4.0 crashes where the group is not of the communicator itself. */
  if (alone() && !all && ask(k, 19) % 2 == 0) {
    *made = MPI_COMM_NULL;
    if (half_of(k, rank)) MPI_Comm_create_group(copy, part, slot(k), made);
  } else
#endif
    MPI_Comm_create(copy, part, made);
  MPI_Group_free(&whole);
  MPI_Group_free(&part);
}

/* How a duplicate is made. None is under way while others are made: without the library MPICH 4.0 hangs then in MPI_Comm_split of
 * an intercommunicator, once it has a hundred communicators, and Open MPI 4.1 crashes. (pending.c has it alone.) */
typedef enum Make { kDup, kInfoDup, kIdup } Make;
static Make make_of(long k) {
  const int draw = (int)(ask(k, 17) % 16);
  return !mpi3 || draw < 6 ? kDup : draw < 10 ? kInfoDup : kIdup;
}

static void duplicate(long k, MPI_Comm *made) {
  const MPI_Comm of = comm_of(k);
#if MPI_VERSION >= 3
  switch (make_of(k)) {
    case kInfoDup: MPI_Comm_dup_with_info(of, MPI_INFO_NULL, made); return;
    case kIdup:
      MPI_Comm_idup(of, made, &receiving[slot(k)]);
      MPI_Wait(&receiving[slot(k)], MPI_STATUS_IGNORE);
      return;
    default: break;
  }
#endif
  MPI_Comm_dup(of, made);
}

/*
On other processors MPICH (its device ch3) does not come out of MPI_Comm_disconnect now and then, without the library, too.
LAM's waits for what a buffered send has left under way, and gives its request back twice: then two others are one.
*/
static void let_go(long k, MPI_Comm *c, int may_disconnect) {
  if (!may_disconnect || !native || ask(k, 20) % 4 != 0) {
    MPI_Comm_free(c); /* with a message under way, perhaps */
    return;
  }
  finish_send(k);
  MPI_Comm_disconnect(c);
}

/* One with a message on it. */
static void begin_duplicate(long k, MPI_Comm *c) {
  duplicate(k, c);
  use(k, *c);
  MPI_Irecv(in[slot(k)], kMost, kNumber, MPI_ANY_SOURCE, 0, *c, &receiving[slot(k)]);
  send_message(k, compose(out[slot(k)], length_of(k), (uint64_t)rank), to_of(k), 0, *c, kPosted);
}

static void end_duplicate(long k, MPI_Comm *c) {
  finish_receive(k, &receiving[slot(k)], &last);
  if (examine(k, in[slot(k)], &last) != (uint64_t)from_of(k)) fail(k, "a message of another process");
  use(k, *c);
  let_go(k, c, mpi3 != 0); /* not with LAM, nor in a run that may come to it */
}

/* One of some processes, or with a topology. */
static void begin_part(long k, MPI_Comm *c) {
  if (ask(k, 17) % 2 == 0) make_topology(k, c);
  else if (ask(k, 18) % 3 == 0) MPI_Comm_split(copy, half_of(k, rank), ranks - rank, c);
  else if (ask(k, 18) % 3 == 1) create(k, c, 0);
#if MPI_VERSION >= 3
  else if (mpi3) MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, c);
#endif
  else create(k, c, 1);
  use(k, *c);
}

void begin_life(long k) {
  MPI_Comm *c = &life[slot(k)];
  if (kind_of(k) == kLifeKind) begin_duplicate(k, c);
  else begin_part(k, c);
}

void end_life(long k) {
  MPI_Comm *c = &life[slot(k)];
  if (kind_of(k) == kLifeKind) {
    end_duplicate(k, c);
    return;
  }
  use(k, *c);
  if (*c != MPI_COMM_NULL) let_go(k, c, 1);
}
