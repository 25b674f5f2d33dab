/* changed.c - a program that is another one when its line is restarted, for tests/mpi/behaviour_test.py.
 *
 *     changed old|new|old_pending|new_pending [DIE]      DIE: a rank that kills itself when line 1 has committed, in a run from the start */
#include <elc.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
  const int is_new = argc > 1 && strncmp(argv[1], "new", 3) == 0, die = argc > 2 ? atoi(argv[2]) : -1;
  const int receives = argc > 1 && strstr(argv[1], "pending") != NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  int rank = 0, right = 1, everywhere = 0, i;
  int step = 0, count = 0, added = 17;
  double gone = 1;
  long long wide = 0;
  float small[4] = {0};
  double large[6] = {9, 9, 9, 9, 9, 9};
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ELC_VAR(step);
  if (is_new) {
    ELC_Register("field", large, ELC_DOUBLE, 6);
    ELC_WAS("count");
    ELC_VAR(wide);
    if (rank == 1) ELC_VAR(added); /* only there */
  } else {
    ELC_Register("field", small, ELC_FLOAT, 4);
    ELC_VAR(count);
    ELC_VAR(gone);
  }
  if (receives) ELC_REQUEST(request);
  const int restarted = ELC_Restore() == ELC_RESTARTED;
  for (; step < 10; step++) {
    if (step == 5) {
      if (receives && !restarted) MPI_Irecv(small, 4, MPI_FLOAT, rank, 5, MPI_COMM_WORLD, &request);
      if (ELC_Line() < 1) ELC_Checkpoint_now();
      while (ELC_Line() < 1) ELC_Checkpoint();
      if (rank == die && !restarted) raise(SIGKILL);
      if (receives) {
        float values[4] = {1, 2, 3, 4};
        MPI_Send(values, 4, MPI_FLOAT, rank, 5, MPI_COMM_WORLD);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      }
    }
    count--;
    for (i = 0; i < 4; i++) small[i] += (float)(rank + i) * 0.5f;
    wide--;
    for (i = 0; i < 4; i++) large[i] += (rank + i) * 0.5;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (is_new && restarted) {
    right = wide == -10 && added == 17 && large[4] == 9 && large[5] == 9;
    for (i = 0; i < 4; i++) right = right && large[i] == 10 * (rank + i) * 0.5;
  }
  MPI_Reduce(&right, &everywhere, 1, MPI_INT, MPI_MIN, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("result: %s\n", everywhere ? "ok" : "wrong");
  MPI_Finalize();
  return 0;
}
