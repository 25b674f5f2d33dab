/* small.c - what libELC adds to small messages. This program is linked with the library; it makes each call as the
 * program's (MPI_X) and straight to MPI (PMPI_X) in turn, a few milliseconds each, so that whatever else the machine does
 * meets both alike:
 *
 *     ELC_DIR=lines mpirun -n 2 small
 *
 *   pair       MPI_Irecv, MPI_Isend, MPI_Waitall of 8 bytes to oneself
 *   four       the same with four of each at a time, each with a tag of its own
 *   there      half of a round trip of 8 bytes between process 0 and 1 (MPI_Send, MPI_Recv)
 *   long       the same of 1 MiB
 *   reduce     MPI_Allreduce of 8 bytes
 *   barrier    MPI_Barrier
 *
 * For each it prints nanoseconds without and with the library, of the fastest turn and of the median one, and their ratios;
 * that of the medians is the median of the ratios of neighbouring turns. With --count N one process does N pairs both ways
 * (and reductions) and measures nothing: bench/instructions counts there. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"

enum { kLong = 1 << 20, kAtOnce = 4, kWarm = 10 };

typedef struct Calls {
  int (*irecv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
  int (*isend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
  int (*waitall)(int, MPI_Request *, MPI_Status *);
  int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
  int (*recv)(void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
  int (*allreduce)(const void *, void *, int, MPI_Datatype, MPI_Op, MPI_Comm);
  int (*barrier)(MPI_Comm);
} Calls;

static const Calls followed = {MPI_Irecv, MPI_Isend, MPI_Waitall, MPI_Send, MPI_Recv, MPI_Allreduce, MPI_Barrier};
static const Calls plain = {PMPI_Irecv, PMPI_Isend, PMPI_Waitall, PMPI_Send, PMPI_Recv, PMPI_Allreduce, PMPI_Barrier};

static int rank;
static char bytes[kLong];

static void several(const Calls *to, long n, int at_once) {
  double in[kAtOnce], out = 1;
  MPI_Request requests[2 * kAtOnce];
  for (long i = 0; i < n; i += at_once) {
    for (int k = 0; k < at_once; ++k) to->irecv(&in[k], 1, MPI_DOUBLE, rank, k, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < at_once; ++k) to->isend(&out, 1, MPI_DOUBLE, rank, k, MPI_COMM_WORLD, &requests[at_once + k]);
    to->waitall(2 * at_once, requests, MPI_STATUSES_IGNORE);
  }
}

static void pair(const Calls *to, long n) { several(to, n, 1); }
static void four(const Calls *to, long n) { several(to, n, kAtOnce); }

static void there_and_back(const Calls *to, long n, int size) {
  for (long i = 0; i < n; i += 2) {
    if (rank == 0) to->send(bytes, size, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    if (rank < 2) to->recv(bytes, size, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1) to->send(bytes, size, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  }
}

static void there(const Calls *to, long n) { there_and_back(to, n, 8); }
static void longer(const Calls *to, long n) { there_and_back(to, n, kLong); }

static void reduce(const Calls *to, long n) {
  double in = 1, out;
  for (long i = 0; i < n; ++i) to->allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(const Calls *to, long n) {
  for (long i = 0; i < n; ++i) to->barrier(MPI_COMM_WORLD);
}

/* With names of their own, by which the instructions of each are found; called so that no compiler puts them into main. */
void count_plain(long n);
void count_followed(long n);
void count_plain_four(long n);
void count_followed_four(long n);
void count_plain_reduce(long n);
void count_followed_reduce(long n);
void count_plain(long n) { pair(&plain, n); }
void count_followed(long n) { pair(&followed, n); }
void count_plain_four(long n) { four(&plain, n); }
void count_followed_four(long n) { four(&followed, n); }
void count_plain_reduce(long n) { reduce(&plain, n); }
void count_followed_reduce(long n) { reduce(&followed, n); }
static void (*const volatile counted[])(long) = {count_plain,      count_followed,     count_plain_four,
                                                 count_followed_four, count_plain_reduce, count_followed_reduce};

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, long n) {
  qsort(values, (size_t)n, sizeof *values, ascending);
  return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

static double turn(void (*repeat)(const Calls *, long), const Calls *to, long n) {
  PMPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  repeat(to, n);
  return (MPI_Wtime() - begin) * 1e9 / (double)n;
}

static void measure(const char *what, void (*repeat)(const Calls *, long), long n, long turns) {
  double *without = allocate((size_t)turns, sizeof *without);
  double *with = allocate((size_t)turns, sizeof *with);
  double *ratio = allocate((size_t)turns, sizeof *ratio);
  for (long i = -kWarm; i < turns; ++i) {
    /* Which of the two is first changes, too. */
    const long k = i < 0 ? 0 : i;
    if (i % 2 == 0) without[k] = turn(repeat, &plain, n);
    with[k] = turn(repeat, &followed, n);
    if (i % 2 != 0) without[k] = turn(repeat, &plain, n);
    ratio[k] = with[k] / without[k];
  }
  const double middle = median(ratio, turns), without_median = median(without, turns), with_median = median(with, turns);
  if (rank == 0)
    printf("%-8s %10.1f %10.1f %7.3f  %10.1f %10.1f %7.3f\n", what, without[0], with[0], with[0] / without[0], without_median,
           with_median, middle);
  free(ratio);
  free(with);
  free(without);
}

int main(int argc, char **argv) {
  long count = 0, turns = 101, length = 1;
  const Option options[] = {{"count", &count, 0, 1000000000, 0, "do so many pairs both ways, and measure nothing"},
                            {"turns", &turns, 1, 100000, 0, "of each, without and with the library"},
                            {"length", &length, 1, 1000, 0, "of a turn, against that of the usual one"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  int size;
  read_options(argc, argv, "What does libELC add to small messages?", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (count > 0) {
    pair(&followed, 100); /* what is allocated once */
    four(&followed, 100);
    reduce(&followed, 100);
    for (size_t i = 0; i < sizeof counted / sizeof *counted; ++i) counted[i](count);
  } else {
    if (rank == 0) printf("ns       %29s  %29s\n", "fastest: plain, followed, ratio", "median: the same");
    measure("pair", pair, 4000 * length, turns);
    measure("four", four, 4000 * length, turns);
    if (size > 1) {
      measure("there", there, 4000 * length, turns);
      measure("long", longer, 40 * length, turns);
      measure("reduce", reduce, 2000 * length, turns);
      measure("barrier", barrier, 2000 * length, turns);
    }
  }
  MPI_Finalize();
  return 0;
}
