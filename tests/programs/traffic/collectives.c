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

/* ---- The operation that is the program's own ---- */

MPI_Op take_first;

static void first_of_two(void *left, void *right, int *count, MPI_Datatype *type) {
  (void)type;
  memcpy(right, left, (size_t)*count * sizeof(uint64_t));
}

void set_up_collectives(void) { MPI_Op_create(first_of_two, 0, &take_first); }
void close_collectives(void) { MPI_Op_free(&take_first); }
