/* stencil.c - heat in a rod, each process with a piece of it: restore in place.
 *
 *     mpicc stencil.c $(pkg-config --cflags --libs elc) -o stencil
 *     elc run -n 4 --every 1 -- ./stencil 200000            kill a process; the answer is the same
 *
 * The whole program runs again after a failure, from main on; ELC_Restore then puts the data of the last recovery
 * line into the registered variables, and the loop goes on from there. The messages between neighbours are started
 * in one step and awaited in the next, so that some are on their way whenever a line is taken: the library takes care
 * of them. */
#include <elc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kPoints = 20000 }; /* of each process; places 0 and kPoints + 1 are copies of the neighbours' */

static double rod[kPoints + 2], next[kPoints + 2];
static MPI_Request requests[4];
static int left, right;

static void start_exchange(void) {
  MPI_Irecv(&rod[0], 1, MPI_DOUBLE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&rod[kPoints + 1], 1, MPI_DOUBLE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&rod[1], 1, MPI_DOUBLE, left, 2, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(&rod[kPoints], 1, MPI_DOUBLE, right, 1, MPI_COMM_WORLD, &requests[3]);
}

int main(int argc, char **argv) {
  int rank, ranks;
  long step = 0, steps = argc > 1 ? atol(argv[1]) : 20000;
  double heat = 0, all = 0;

  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  left = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  right = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  if (rank == 0) rod[0] = 1; /* one end is hot and stays so; the other is cold */

  /* What a line has to hold: all that the loop needs and the lines above do not make again. `next` is written before
   * it is read, so it is not in it. Requests that are pending go with the data they are for. */
  ELC_VAR(step);
  ELC_VAR(rod);
  ELC_REQUEST(requests);
  /* What comes before ELC_Restore runs in every run, what it returns tells a run from the start from a restart: there
   * the messages of the line are on their way already. */
  if (ELC_Restore() == ELC_FRESH) start_exchange();

  for (; step < steps; step++) {
    ELC_Checkpoint(); /* here a line may be taken; a restart goes on from here */
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 1; i <= kPoints; i++) next[i] = rod[i] + 0.25 * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
    for (int i = 1; i <= kPoints; i++) rod[i] = next[i];
    start_exchange();
  }
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);

  for (int i = 1; i <= kPoints; i++) heat += rod[i];
  MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("result: %.17g\n", all);
  MPI_Finalize();
  return 0;
}
