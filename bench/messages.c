/* messages.c - what a message costs. Process 0 sends a message to process 1 and gets one back, many times, for each of
 * some sizes; prints the time of half a round trip. Run it plain, with the library, and with Message Tagging (tagging.h):
 *
 *     mpirun -n 2 messages-plain      ELC_DIR=lines mpirun -n 2 messages      TAGGING=derived mpirun -n 2 messages-tagging */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"

/* Of `bytes` bytes, `times` there and back: seconds of one. Process 1 gives back what it got. */
static double half_round_trip(double *data, long bytes, long times, int rank) {
  const int count = (int)(bytes / (long)sizeof *data);
  double begin;
  MPI_Barrier(MPI_COMM_WORLD);
  begin = MPI_Wtime();
  for (long i = 0; i < times && rank < 2; i++) {
    if (rank == 0) MPI_Send(data, count, MPI_DOUBLE, 1, 0, MPI_COMM_WORLD);
    MPI_Recv(data, count, MPI_DOUBLE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(data, count, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    if (count > 0) data[i % count] += 1.0; /* as a program would */
  }
  return (MPI_Wtime() - begin) / (2.0 * (double)times);
}

int main(int argc, char **argv) {
  static const long kSizes[] = {8, 8 << 10, 512 << 10, 2 << 20, 8 << 20};
  long volume = 512, most = 100000;
  const Option options[] = {{"volume", &volume, 1, 1000000, 0, "MiB that are sent of each size, at most"},
                            {"times", &most, 1, 100000000, 0, "messages of each size, at most"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  int rank = 0, ranks = 0;
  Digest digest = DIGEST_START;
  double *data;

  read_options(argc, argv, "What a message costs, of several sizes.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < 2) {
    fprintf(stderr, "messages: start at least 2 processes\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  data = allocate((size_t)(8 << 20), 1);
  for (size_t i = 0; i < sizeof kSizes / sizeof *kSizes; i++) {
    long times = (volume << 20) / kSizes[i];
    if (times > most) times = most;
    if (times < 1) times = 1;
    half_round_trip(data, kSizes[i], times / 10 + 1, rank);
    double seconds = half_round_trip(data, kSizes[i], times, rank);
    if (rank == 0) printf("%ld bytes: %.3f us\n", kSizes[i], seconds * 1e6);
    digest_doubles(&digest, data, (size_t)kSizes[i] / sizeof *data);
  }
  if (rank == 0) print_result(digest);
  free(data);
  MPI_Finalize();
  return 0;
}
