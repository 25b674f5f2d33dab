/* large.c - what a line with much data costs a program: each process has `--size` MiB of doubles, changes a part of them in
 * each step and exchanges a number with its neighbours. Prints how long the program stood still for lines, and what a step took
 * at most, and how long after its beginning a line was committed (looked at once a step). Lines: with --lines K at equal
 * distances, or by ELC_EVERY. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"
#ifdef BENCH_PEER /* another library instead of libELC: peers/ */
#include BENCH_PEER
#else
#include "elc_or_plain.h"
#define PEER_END() ((void)0)
#endif

enum { kMost = 3 };

static long size = 64, steps = 400, lines = 0, part = 16, changing = 0, progress = 0;

static void say(const char *what, long number) {
  if (!progress) return;
  printf("%s %ld\n", what, number);
  fflush(stdout);
}

static double greater(double a, double b) { return a > b ? a : b; }

int main(int argc, char **argv) {
  const Option options[] = {{"size", &size, 1, 65536, 0, "MiB of doubles a process"},
                            {"steps", &steps, 1, 100000000, 0, "steps"},
                            {"lines", &lines, 0, 1000000, 0, "recovery lines at equal distances"},
                            {"part", &part, 1, 1000000, 0, "one of so many parts of the data changes in a step"},
                            {"changing", &changing, 0, 1000000, 0, "so many of these parts change, the others never do; 0: all"},
                            {"progress", &progress, 0, 1, 1, "say when it is ready, every ten steps, and when a line is committed"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  int rank = 0, ranks = 0;
  long step = 0;
  double still = 0.0, of_all = 0.0, slowest = 0.0, durable = 0.0, taken = 0.0; /* seconds */
  unsigned line = 0;
  Digest digest = DIGEST_START;

  read_options(argc, argv, "What a line with much data costs.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const double begin = MPI_Wtime();
  const size_t n = (size_t)size << 17, piece = n / (size_t)part > 0 ? n / (size_t)part : 1;
  double *data = allocate(n, sizeof *data);
  ELC_VAR(step);
  ELC_ARRAY(data, n); /* before it is touched: elc(7), Lines in the background */
  for (size_t i = 0; i < n; i++) data[i] = rank + 1.0 / (double)(1 + i);
  ELC_Restore();
  const double ready = MPI_Wtime();
  line = ELC_Line();
  if (rank == 0) say("ready at step", step);
  for (; step < steps; step++) {
    const double before = MPI_Wtime();
    const int took = line_due(step, steps, lines + 1) ? ELC_Checkpoint_now() : ELC_Checkpoint();
    const double after = MPI_Wtime();
    if (took) taken = before;
    if (ELC_Line() != line) {
      durable = greater(durable, MPI_Wtime() - taken);
      line = ELC_Line();
      if (rank == 0) say("committed line", (long)line);
    }
    if (rank == 0 && step % 10 == 0) say("step", step);
    const size_t from = piece * ((size_t)step % (size_t)(changing > 0 ? changing : part)) % n, to = from + piece < n ? from + piece : n;
    for (size_t i = from; i < to; i++) data[i] = data[i] * 0.999 + 0.001 * (double)(i & 7);
    double edge = data[from];
    MPI_Sendrecv_replace(&edge, 1, MPI_DOUBLE, (rank + 1) % ranks, 0, (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE);
    data[from] += edge * 1e-9;
    still = greater(still, after - before);
    of_all += after - before;
    slowest = greater(slowest, MPI_Wtime() - after);
  }
  const double end = MPI_Wtime();
  digest_doubles(&digest, data, n);
  double mine[kMost] = {still, of_all, slowest}, worst[kMost];
  uint64_t word = digest, all = 0;
  MPI_Reduce(mine, worst, kMost, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(&word, &all, sizeof word, MPI_BYTE, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("set-up: %.6f s\nsteps: %.6f s\nlongest stop: %.6f s\nall stops: %.6f s\nslowest step: %.6f s\ncommitted after: %.6f s\n",
           ready - begin, end - ready, worst[0], worst[1], worst[2], durable);
    print_result(all);
  }
  free(data);
  PEER_END();
  MPI_Finalize();
  return 0;
}
