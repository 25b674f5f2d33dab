/* growth.c - does anything grow? Two processes do the same thing many times; for each of two numbers of times this
 * prints what one of them takes, and by how much the memory of process 0 has grown. Run it plain and with the library:
 *
 *     mpirun -n 2 growth-plain        ELC_DIR=lines mpirun -n 2 growth
 *
 *   receives       are posted together and waited for one by one, the last one first
 *   communicators  are made by MPI_Comm_dup, used for a message and freed
 *   messages       there and back */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

static int rank;

/* Of this process, in KiB; 0 where the system does not tell. */
static long memory(void) {
  char line[128];
  long size = 0;
  FILE *from = fopen("/proc/self/status", "r");
  if (from == NULL) return 0;
  while (fgets(line, sizeof line, from) != NULL)
    if (strncmp(line, "VmRSS:", 6) == 0) size = strtol(line + 6, NULL, 10);
  fclose(from);
  return size;
}

static void receives(long n) {
  MPI_Request *requests = allocate((size_t)n, sizeof *requests);
  int *values = allocate((size_t)n, sizeof *values);
  if (rank == 0) {
    for (long i = 0; i < n; ++i) MPI_Irecv(&values[i], 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &requests[i]);
    MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    for (long i = n; i-- > 0;) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    MPI_Send(NULL, 0, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) MPI_Send(&i, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    MPI_Recv(NULL, 0, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  free(values);
  free(requests);
}

static void communicators(long n) {
  for (long i = 0; i < n; ++i) {
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, 0, comm);
    else MPI_Recv(&(int){0}, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE);
    MPI_Comm_free(&comm);
  }
}

static void messages(long n) {
  int value = 0;
  for (long i = 0; i < n; ++i) {
    if (rank == 0) MPI_Send(&value, 1, MPI_INT, 1, (int)(i % 8), MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_INT, 1 - rank, (int)(i % 8), MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&value, 1, MPI_INT, 0, (int)(i % 8), MPI_COMM_WORLD);
  }
}

static void measure(const char *what, void (*repeat)(long), long most) {
  repeat(most / 100);  /* what is allocated once */
  for (long n = most / 10; n <= most; n *= 10) {
    const long before = memory();
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    repeat(n);
    const double end = MPI_Wtime();
    if (rank == 0) printf("%-14s %10ld  %8.0f ns each  %6ld KiB more\n", what, n, (end - begin) / (double)n * 1e9, memory() - before);
  }
}

int main(int argc, char **argv) {
  long receives_most = 100000, communicators_most = 1000000, messages_most = 10000000;
  const Option options[] = {{"receives", &receives_most, 1000, 100000000, 0, "how many at most"},
                            {"communicators", &communicators_most, 1000, 1000000000, 0, "the same"},
                            {"messages", &messages_most, 1000, 1000000000, 0, "the same"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  int size;
  read_options(argc, argv, "Does anything grow?", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fprintf(stderr, "growth: this takes 2 processes\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  measure("receives", receives, receives_most);
  measure("communicators", communicators, communicators_most);
  measure("messages", messages, messages_most);
  MPI_Finalize();
  return 0;
}
