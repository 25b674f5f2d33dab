/* communicators.c - communicators that are made, used and freed. */
#include "traffic.h"

static void use(long k, MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  collective(k, comm);
  use_topology(k, comm);
}

static int half_of(long k, int process) { return (int)(mix(ask(k, 10), (uint64_t)process) % 2); }

/* Of the processes of one half, in the opposite order; or, where it stands for MPI_Comm_split_type, of all. */
static void create(long k, MPI_Comm *made, int all) {
  int members[kMostRanks], count = 0;
  MPI_Group whole, part;
  for (int i = 0; i < ranks; i++) {
    const int process = all ? i : ranks - 1 - i;
    if (all || half_of(k, process)) members[count++] = process;
  }
  MPI_Comm_group(copy, &whole);
  MPI_Group_incl(whole, count, members, &part);
  MPI_Comm_create(copy, part, made);
  MPI_Group_free(&whole);
  MPI_Group_free(&part);
}

void begin_life(long k) {
  MPI_Comm *c = &life[slot(k)];
  if (kind_of(k) == kLifeKind) MPI_Comm_dup(ask(k, 10) % 2 == 0 ? MPI_COMM_WORLD : copy, c);
  else if (ask(k, 17) % 2 == 0) make_topology(k, c);
  else if (ask(k, 18) % 3 == 0) MPI_Comm_split(copy, half_of(k, rank), ranks - rank, c);
  else if (ask(k, 18) % 3 == 1) create(k, c, 0);
#if MPI_VERSION >= 3
  else MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, c);
#else
  else create(k, c, 1); /* the same on one machine */
#endif
  use(k, *c);
  if (kind_of(k) == kSplitKind) return;
  MPI_Irecv(in[slot(k)], kMost, kNumber, MPI_ANY_SOURCE, 0, *c, &receiving[slot(k)]);
  send(k, compose(out[slot(k)], length_of(k), (uint64_t)rank), to_of(k), 0, *c, kPosted);
}

void end_life(long k) {
  MPI_Comm *c = &life[slot(k)];
  if (kind_of(k) == kLifeKind) {
    finish_receive(k, &receiving[slot(k)], &last);
    if (examine(k, in[slot(k)], &last) != (uint64_t)from_of(k)) fail(k, "a message of another process");
  }
  use(k, *c);
  if (*c != MPI_COMM_NULL) MPI_Comm_free(c);
}
