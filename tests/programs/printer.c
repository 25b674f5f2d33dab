/* printer STEPS [N]: each rank writes a line in its own steps, some of them in two parts. In step N rank 0 gives up.
   It knows nothing of where its output goes. */
#include <elc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  int step = 0, steps, rank;
  double sum = 0;
  MPI_Init(&argc, &argv);
  steps = argc > 1 ? atoi(argv[1]) : 100;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ELC_VAR(step);
  ELC_VAR(sum);
  printf("set-up of %d\n", rank);
  ELC_Restore();
  while (step < steps) {
    double part = (step + 1.0) / (rank + 2.0), all;
    int k;
    if (argc > 2 && rank == 0 && step == atoi(argv[2])) {
      printf("rank 0 gives up\n");
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    if (step % (rank + 2) == 0) printf("rank %d step %d ", rank, step);
    for (k = 0; k < 20; k++) MPI_Barrier(MPI_COMM_WORLD);
    MPI_Allreduce(&part, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    sum += all;
    if (step % (rank + 2) == 0) printf("sum %.17g\n", sum);
    step++;
    ELC_Checkpoint();
  }
  printf("end of %d\n", rank);
  MPI_Finalize();
  return 0;
}
