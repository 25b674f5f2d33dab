/* integers.c - heap arrays of integers that are other integers of C on other machines (int64_t is long or long long,
 * size_t unsigned int or unsigned long, wchar_t int or long), untyped and typed by the compiler, grown and changed for
 * ever: a program of the restart matrix.
 *
 * libELC: restore in place. */
#include <mpi.h>
#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#include "coins.h"

static long rounds = 50, seed = 1;
static long turn, count;
static int64_t *wide, *of_new;
static uint64_t *unsigned_wide;
static size_t *sizes, *sizes_of_new, *middle;
static ptrdiff_t *distances;
static wchar_t *text;
static long *longs;
static int *ints;
static Digest digest = DIGEST_START;

/* The arrays are as long as each other, so that those of one type lie in the line side by side. */
static void make(long n) {
  ELC_free(wide);
  ELC_free(longs);
  ELC_free(unsigned_wide);
  ELC_free(sizes);
  ELC_free(distances);
  ELC_free(text);
  ELC_free(ints);
  ELC_free(of_new);
  ELC_free(sizes_of_new);
  wide = ELC_malloc((size_t)n * sizeof *wide);
  longs = ELC_malloc((size_t)n * sizeof *longs);
  unsigned_wide = ELC_malloc((size_t)n * sizeof *unsigned_wide);
  sizes = ELC_malloc((size_t)n * sizeof *sizes);
  distances = ELC_malloc((size_t)n * sizeof *distances);
  text = ELC_malloc((size_t)n * sizeof *text);
  ints = ELC_malloc((size_t)n * sizeof *ints);
  of_new = ELC_NEW(ELC_TYPE_OF(*of_new), sizeof *of_new, (size_t)n);
  sizes_of_new = ELC_NEW(ELC_TYPE_OF(*sizes_of_new), sizeof *sizes_of_new, (size_t)n);
  middle = &sizes[n / 2];
  for (long i = 0; i < n; i++) {
    const uint64_t x = mix((uint64_t)seed, (uint64_t)(turn * n + i));
    wide[i] = of_new[i] = (int64_t)x;
    unsigned_wide[i] = x;
    sizes[i] = sizes_of_new[i] = (size_t)(x >> 33);
    distances[i] = (ptrdiff_t)(x >> 34) - (1 << 29);
    longs[i] = (long)(x >> 35) - (1 << 28);
    text[i] = (wchar_t)(x >> 44);
    ints[i] = (int)(x >> 36) - (1 << 27);
  }
  count = n;
}

static void visit(void) {
  for (long i = 0; i < count; i++) {
    const int64_t all[] = {wide[i],      (int64_t)unsigned_wide[i], of_new[i], (int64_t)sizes[i], (int64_t)sizes_of_new[i],
                           distances[i], longs[i],                  text[i],   ints[i],           (int64_t)*middle};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) digest_integer(&digest, all[k]);
    wide[i] = wide[(i + 1) % count] ^ turn;
    sizes[i] = sizes[(i + 1) % count] / 2 + (size_t)i;
  }
}

int main(int argc, char **argv) {
  const Option options[] = {{"rounds", &rounds, 1, 1000000000, 0, "how often all are visited"},
                            {"seed", &seed, 0, 1000000000, 0, "of the numbers"},
                            {0}};
  read_options(argc, argv, "Keeps arrays of integers on the heap.", options);
  MPI_Init(&argc, &argv);
  ELC_VAR(turn);
  ELC_VAR(count);
  ELC_VAR(digest);
  ELC_PTR(wide);
  ELC_PTR(of_new);
  ELC_PTR(unsigned_wide);
  ELC_PTR(sizes);
  ELC_PTR(sizes_of_new);
  ELC_PTR(middle);
  ELC_PTR(distances);
  ELC_PTR(text);
  ELC_PTR(longs);
  ELC_PTR(ints);
  ELC_Restore();
  for (; turn < rounds; turn++) {
    if (turn % 64 == 0) make(100 + turn % 1000);
    ELC_Checkpoint();
    visit();
  }
  report_totals(0, (uint64_t)digest);
  MPI_Finalize();
  return 0;
}
