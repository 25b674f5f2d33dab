/* common.h - what the five benchmark programs share: options, even shares, places for recovery lines,
 * random numbers and the digest of an answer. Knows nothing of MPI and nothing of libELC. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <stddef.h>
#include <stdint.h>

/* An option `--name N`, or, where `is_flag` is set, `--name` alone, which stores 1. `*value` holds
 * the default beforehand and is what --help shows. N must lie between `least` and `most`. */
typedef struct Option {
  const char *name;
  long *value;
  long least, most;
  int is_flag;
  const char *help;
} Option;

/* Reads the options of the command line into the values of `options` (the last one has no name).
 * --help prints `purpose` and the options and ends the program with 0; a wrong option is named on
 * standard error and ends it with 2. May be called before MPI_Init: where a launcher has started
 * several ranks, only the first one speaks. */
void read_options(int argc, char **argv, const char *purpose, const Option *options);

/* malloc of count * size zeroed bytes; says so and ends the program where there is no memory. */
void *allocate(size_t count, size_t size);

/* Deals out `n` things to `parts` as evenly as possible, in order: part `i` has share_of() things,
 * the first of them is number share_start(). owner_of() says which part has thing number `which`. */
int share_of(int n, int parts, int i);
int share_start(int n, int parts, int i);
int owner_of(int n, int parts, int which);

/* Whether step `i` of `n` is one of `lines` places at equal distances, of which the last is `n`
 * itself. lines = 4, n = 10000: 2500, 5000, 7500, 10000. */
int line_due(long i, long n, long lines);

/* Random numbers. The state is one number, so that it can be saved and sent (libc's rand cannot).
 * The generator is xorshift64* (S. Vigna, An experimental exploration of Marsaglia's xorshift
 * generators, scrambled, 2016). */
uint64_t random_seed(uint64_t seed); /* the state that follows from a seed; never 0 */
uint64_t random_bits(uint64_t *state);
double random_unit(uint64_t *state); /* 0 <= r < 1, 53 bits */

/* A digest of an answer: FNV-1a, 64 bits, over the 64-bit patterns of its numbers, lowest byte
 * first, so that machines of different byte order agree on it. */
typedef uint64_t Digest;
#define DIGEST_START 14695981039346656037u
void digest_integer(Digest *digest, int64_t value);
void digest_doubles(Digest *digest, const double *values, size_t count);

/* Prints the line `result: <digest>` by which a run is compared with another. */
void print_result(Digest digest);

#endif
