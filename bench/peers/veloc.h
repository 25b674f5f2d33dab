/* veloc.h - large.c with VeloC: the configuration's path is in PEER_CONFIGURATION. */
#ifndef BENCH_PEERS_VELOC_H
#define BENCH_PEERS_VELOC_H

#include <stdlib.h>
#include <veloc.h>

static int version;         /* of the last checkpoint */
static int going_on;        /* it is not known to have reached its last place */
static unsigned committed;

#define ELC_VAR(x) (VELOC_Init(MPI_COMM_WORLD, getenv("PEER_CONFIGURATION")), VELOC_Mem_protect(0, &(x), 1, sizeof(x)))
#define ELC_ARRAY(p, n) VELOC_Mem_protect(1, (p), (n), sizeof *(p))

static void ELC_Restore(void) {
  const int newest = VELOC_Restart_test("large", 0);
  if (newest > 0 && VELOC_Restart("large", newest) == VELOC_SUCCESS) version = newest;
}
static int ELC_Checkpoint(void) { return 0; }
static int ELC_Checkpoint_now(void) {
  VELOC_Checkpoint("large", ++version);
  going_on = 1;
  return 1;
}
static unsigned ELC_Line(void) {
  if (going_on && VELOC_Checkpoint_finished()) {
    going_on = 0;
    committed = (unsigned)version;
  }
  return committed;
}
static void PEER_END(void) {
  if (going_on) VELOC_Checkpoint_wait();
  VELOC_Finalize(0);
}

#endif
