/* coins.h - numbers of the programs of the kill test.
 *
 * A coin differs from run to run and goes through ELC_ND. Whoever sends one subtracts it from his total, whoever
 * receives it adds it, so the grand total does not depend on coins, nor on who matched whom - unless a message
 * or a result is lost, doubled, changed, or made anew with another coin after somebody has seen the first. */
#ifndef TESTS_COINS_H
#define TESTS_COINS_H

#include <mpi.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "../../bench/common.h"
#include "mix.h"
#include "more_plain.h"

#define kNumber MPI_UNSIGNED_LONG_LONG

/* LAM buffers next to nothing of a standard send, as MPI allows. */
#ifdef LAM_MPI
enum { kBuffers = 0 };
#else
enum { kBuffers = 1 };
#endif

/* No signalling NaN, seen as a double: LAM on i386 packs what is not contiguous through registers of the x87, which
 * quiet it, and one of 4,096 random numbers is one. */
static inline uint64_t quiet(uint64_t x) { return (x >> 52 & 0x7ff) == 0x7ff ? x | (uint64_t)1 << 51 : x; }

static inline uint64_t coin(int rank) {
  static uint64_t turn;
  struct timespec t;
  uint64_t x;
  clock_gettime(CLOCK_REALTIME, &t);
  x = mix(mix((uint64_t)t.tv_nsec, (uint64_t)t.tv_sec), mix((uint64_t)(size_t)&x, turn++ * 64 + (uint64_t)rank));
  x = quiet(x);
  ELC_ND(x);
  return x;
}

/* Work in arbitrary units. */
static inline void dally_for(uint64_t units) {
  volatile uint64_t x = 1;
  for (uint64_t i = 0; i < units * 100; i++) x = x * 3 + i;
}

/* Prints a digest of the grand total and of what each process has found that does not depend on timing. */
static inline void report_totals(uint64_t freely, uint64_t fixed) {
  uint64_t total = 0, *fixed_of;
  int rank, ranks;
  Digest digest = DIGEST_START;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  fixed_of = allocate((size_t)ranks, sizeof *fixed_of);
  MPI_Reduce(&freely, &total, 1, kNumber, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Gather(&fixed, 1, kNumber, fixed_of, 1, kNumber, 0, MPI_COMM_WORLD);
  digest_integer(&digest, (int64_t)total);
  for (int i = 0; i < ranks; i++) digest_integer(&digest, (int64_t)fixed_of[i]);
  if (rank == 0) print_result(digest);
  free(fixed_of);
}

#endif
