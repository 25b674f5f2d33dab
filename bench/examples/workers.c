/* workers.c - a manager hands out tasks to whoever asks next: restore in place, with wildcards.
 *
 *     mpicc workers.c $(pkg-config --cflags --libs elc) -o workers
 *     elc run -n 4 --every 1 -- ./workers 20000             kill a process; the answer is the same
 *
 * Who asks first is decided by chance. A restart may decide otherwise, and does not have to know: where the state of
 * another process depends on what was decided, the library repeats it, until it does not matter any more. */
#include <elc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kManager = 0, kAnswer = 1, kTask = 2, kStop = -1 };

/* Global, so that the functions share them; registered by every process, whichever of them it uses. */
static long task, answer; /* of a worker: what it is to do, and what came out; task 0 is none yet */
static long given, sum;   /* of the manager: tasks handed out, and the answers so far */
static int stopped;       /* of the manager: workers that have been told that there is no more */

static long work_on(long number) { /* the steps of the Collatz sequence, for 200 numbers */
  long steps = 0;
  for (long i = 0; i < 200; i++)
    for (long n = 200 * number + i; n > 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) steps++;
  return steps;
}

/* In both loops a site comes before each message. A process takes part in a line at its next site, and the line is
 * finished when all have: one that waited for long without a site would hold up all lines. */
static void manage(int workers, long tasks) {
  while (stopped < workers) {
    MPI_Status status;
    ELC_Checkpoint();
    MPI_Recv(&answer, 1, MPI_LONG, MPI_ANY_SOURCE, kAnswer, MPI_COMM_WORLD, &status);
    sum += answer;
    task = given < tasks ? ++given : kStop;
    if (task == kStop) stopped++;
    MPI_Send(&task, 1, MPI_LONG, status.MPI_SOURCE, kTask, MPI_COMM_WORLD);
  }
}

static void work(void) {
  while (task != kStop) {
    ELC_Checkpoint();
    answer = task == 0 ? 0 : work_on(task);
    MPI_Send(&answer, 1, MPI_LONG, kManager, kAnswer, MPI_COMM_WORLD);
    MPI_Recv(&task, 1, MPI_LONG, kManager, kTask, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

int main(int argc, char **argv) {
  int rank, ranks;
  long tasks = argc > 1 ? atol(argv[1]) : 2000;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ELC_VAR(task);
  ELC_VAR(answer);
  ELC_VAR(given);
  ELC_VAR(sum);
  ELC_VAR(stopped);
  ELC_Restore(); /* in a restart the variables have the values of the line now, and the loops go on from them */
  if (rank == kManager) manage(ranks - 1, tasks);
  else work();
  if (rank == kManager) printf("result: %ld\n", sum);
  MPI_Finalize();
  return 0;
}
