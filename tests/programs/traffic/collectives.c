/* collectives.c - collective operations, at once or while other operations come. */
#include "collective.h"
#include "traffic.h"

static Operation most(void) { return mpi3 ? kOperations : kReduce_scatter_block; }

/* Coins balance here too. */
void collective(long k, MPI_Comm comm) {
  const Collective c = draw_collective(ask(k, 11), most(), comm);
  uint64_t many[kMostNumbers], result[kMostNumbers];
  freely -= put_in(&c, coin(rank), many);
  call_collective(&c, many, result, comm, NULL);
  freely += take_out(&c, result);
  if (is_known(&c)) note(result[0]);
}

void begin_collective(long k) { collective(k, comm_of(k)); }

static Collective started[kSlots]; /* not registered: what a restart finds is complete */

/* One that goes on while other operations come. */
void begin_started(long k) {
  Collective *c = &started[slot(k)];
  *c = draw_collective(ask(k, 11), most(), comm_of(k));
  freely -= put_in(c, coin(rank), out[slot(k)]);
  call_collective(c, out[slot(k)], in[slot(k)], comm_of(k), mpi3 ? &receiving[slot(k)] : NULL);
}

void end_started(long k) {
  const Collective c = draw_collective(ask(k, 11), most(), comm_of(k));
  if (mpi3) finish_receive(k, &receiving[slot(k)], &last);
  freely += take_out(&c, in[slot(k)]);
  if (is_known(&c)) note(in[slot(k)][0]);
}

/* ---- Persistent ones: two at a time, which each process starts and ends in an order of its own, one to three times ---- */

static MPI_Request repeated[2 * kSlots];

#if MPI_VERSION >= 4
#define INIT(NAME) MPI_##NAME##_init
#elif defined OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(NAME) MPIX_##NAME##_init
#endif

#ifdef INIT
enum { kRoom = 2 * kMostRanks }; /* of a buffer of one */

static uint64_t *buffer(uint64_t (*of)[kMost], long k, int which) { return of[slot(k)] + which * kRoom; }

/* What process `of` puts in for process `to`. */
static uint64_t number(long k, int round, int of, int to) { return mix(mix(ask(k, 33), (uint64_t)(4 * of + round)), (uint64_t)to); }

/* Which is the i-th for this process. */
static int in_order(long k, int i) { return (int)((ask(k, 34) + (uint64_t)(rank + i)) % 2); }

static MPI_Request *request_of(long k, int which) { return &repeated[2 * slot(k) + which]; }

/* MPICH 4.0 by itself does those with a root that gathers or scatters once only. */
static int second_of(long k) { return (int)(ask(k, 35) % 3); }
static int root_of(long k) { return (int)(ask(k, 36) % (uint64_t)ranks); }

static void start_repeated(long k, int round) {
  for (int i = 0; i < ranks; i++) buffer(out, k, 0)[i] = buffer(out, k, 1)[i] = number(k, round, rank, i);
  memset(buffer(in, k, 0), 0, 2 * kRoom * sizeof(uint64_t));
  if (second_of(k) == 1 && rank == root_of(k)) buffer(in, k, 1)[0] = number(k, round, rank, 0);
  for (int i = 0; i < 2; i++) {
    if (ask(k, 16) % 2 == 0) MPI_Start(request_of(k, in_order(k, i)));
    else MPI_Startall(1, request_of(k, in_order(k, i)));
  }
}

static void check_repeated(long k, int round) {
  uint64_t sum = 0;
  int right = 1;
  for (int of = 0; of < ranks; of++) {
    sum += number(k, round, of, 0);
    if (second_of(k) == 0) right = right && buffer(in, k, 1)[of] == number(k, round, of, rank);
  }
  if (second_of(k) == 1) right = buffer(in, k, 1)[0] == number(k, round, root_of(k), 0);
  if (!right || buffer(in, k, 0)[0] != sum) fail(k, "the result of another start");
}

void begin_repeated(long k) {
  const MPI_Comm comm = comm_of(k);
  MPI_Request *first = request_of(k, 0), *second = request_of(k, 1);
  INIT(Allreduce)(buffer(out, k, 0), buffer(in, k, 0), 1, kNumber, MPI_SUM, comm, MPI_INFO_NULL, first);
  switch (second_of(k)) {
    case 0: INIT(Alltoall)(buffer(out, k, 1), 1, kNumber, buffer(in, k, 1), 1, kNumber, comm, MPI_INFO_NULL, second); break;
    case 1: INIT(Bcast)(buffer(in, k, 1), 1, kNumber, root_of(k), comm, MPI_INFO_NULL, second); break;
    default: INIT(Barrier)(comm, MPI_INFO_NULL, second);
  }
  start_repeated(k, 0);
}

void end_repeated(long k) {
  const int rounds = 1 + (int)(ask(k, 17) % 3);
  for (int round = 0; round < rounds; round++) {
    if (round > 0) start_repeated(k, round);
    for (int i = 0; i < 2; i++) {
      MPI_Request *request = request_of(k, in_order(k, 1 - i));
      int flag = ask(k, 18) % 2 == 0;
      if (flag) MPI_Wait(request, MPI_STATUS_IGNORE);
      while (!flag) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    }
    check_repeated(k, round);
  }
  for (int i = 0; i < 2; i++) MPI_Request_free(request_of(k, in_order(k, i)));
}
#else
void begin_repeated(long k) { (void)k; }
void end_repeated(long k) { (void)k; }
#endif

void register_collectives(void) {
  for (int i = 0; i < 2 * kSlots; i++) repeated[i] = MPI_REQUEST_NULL;
  ELC_REQUEST(repeated);
}

/* ---- The operation that is the program's own ---- */

MPI_Op take_first;

static void first_of_two(void *left, void *right, int *count, MPI_Datatype *type) {
  (void)type;
  memcpy(right, left, (size_t)*count * sizeof(uint64_t));
}

void set_up_collectives(void) { MPI_Op_create(first_of_two, 0, &take_first); }
void close_collectives(void) { MPI_Op_free(&take_first); }
