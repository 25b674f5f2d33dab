/* collectives.c - collective operations, at once or while other operations come. */
#include "../collectives.h"
#include "traffic.h"

/* Coins balance here too. */
void collective(long k, MPI_Comm comm) {
  const Collective c = draw_collective(ask(k, 11), comm);
  uint64_t many[kMostNumbers], result[kMostNumbers];
  freely -= put_in(&c, coin(rank), many);
  call_collective(&c, many, result, comm, NULL);
  freely += take_out(&c, result);
  if (c.what == kLargest) note(result[0]);
}

void begin_collective(long k) { collective(k, comm_of(k)); }

static Collective started[kSlots]; /* not registered: what a restart finds is complete */

/* One that goes on while other operations come. */
void begin_started(long k) {
  Collective *c = &started[slot(k)];
  *c = draw_collective(ask(k, 11), comm_of(k));
  freely -= put_in(c, coin(rank), out[slot(k)]);
  call_collective(c, out[slot(k)], in[slot(k)], comm_of(k), own ? &receiving[slot(k)] : NULL);
}

void end_started(long k) {
  const Collective c = draw_collective(ask(k, 11), comm_of(k));
  if (own) finish_receive(k, &receiving[slot(k)], &last);
  freely += take_out(&c, in[slot(k)]);
  if (c.what == kLargest) note(in[slot(k)][0]);
}
