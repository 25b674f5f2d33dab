/* fti.h - large.c with FTI: checkpoints of level 1 (local files); the configuration's path is in PEER_CONFIGURATION. */
#ifndef BENCH_PEERS_FTI_H
#define BENCH_PEERS_FTI_H

#include <fti.h>
#include <stdlib.h>

static int checkpoints;

#define ELC_VAR(x) (FTI_Init(getenv("PEER_CONFIGURATION"), MPI_COMM_WORLD), FTI_Protect(0, &(x), 1, FTI_LONG))
#define ELC_ARRAY(p, n) FTI_Protect(1, (p), (int64_t)(n), FTI_DBLE)

static void ELC_Restore(void) {
  if (FTI_Status() != 0) FTI_Recover();
}
static int ELC_Checkpoint(void) { return 0; }
static int ELC_Checkpoint_now(void) {
  FTI_Checkpoint(++checkpoints, 1);
  return 1;
}
static unsigned ELC_Line(void) { return (unsigned)checkpoints; } /* it is there when the call returns */
static void PEER_END(void) { FTI_Finalize(); }

#endif
