/* common.c - see common.h. */
#include "common.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostOptions = 16 };

/* Before MPI_Init only the launcher's variables tell which rank this is. */
static int speaks(void) {
  static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "LAMRANK"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *rank = getenv(names[i]);
    if (rank != NULL && atoi(rank) != 0) return 0;
  }
  return 1;
}

static void print_help(const char *program, const char *purpose, const Option *options) {
  printf("%s\n\nusage: %s [options]\n", purpose, program);
  for (const Option *o = options; o->name != NULL; o++) {
    char left[40];
    snprintf(left, sizeof left, "--%s%s", o->name, o->is_flag ? "" : " N");
    if (o->is_flag) printf("  %-16s %s\n", left, o->help);
    if (!o->is_flag) printf("  %-16s %s (%ld)\n", left, o->help, *o->value);
  }
  printf("  %-16s %s\n", "--help", "this text");
}

static void refuse(const char *program, const char *option, const char *text, const Option *o) {
  if (speaks()) {
    fprintf(stderr, "%s: --%s %s: a whole number from %ld to %ld is wanted (see --help)\n", program, option,
            text, o->least, o->most);
  }
  exit(2);
}

void read_options(int argc, char **argv, const char *purpose, const Option *options) {
  struct option table[kMostOptions + 2];
  const char *slash = strrchr(argv[0], '/');
  const char *program = slash != NULL ? slash + 1 : argv[0];
  int count = 0, which = 0, found;
  memset(table, 0, sizeof table);
  for (; options[count].name != NULL && count < kMostOptions; count++) {
    table[count].name = options[count].name;
    table[count].has_arg = options[count].is_flag ? no_argument : required_argument;
  }
  table[count].name = "help";
  opterr = speaks();
  while ((found = getopt_long(argc, argv, "", table, &which)) == 0) {
    const Option *o = &options[which];
    char *end;
    long value;
    if (which == count) {
      if (speaks()) print_help(program, purpose, options);
      exit(0);
    }
    if (o->is_flag) {
      *o->value = 1;
      continue;
    }
    value = strtol(optarg, &end, 10);
    if (end == optarg || *end != '\0' || value < o->least || value > o->most) {
      refuse(program, o->name, optarg, o);
    }
    *o->value = value;
  }
  if (found != -1) exit(2);
  if (optind < argc) {
    if (speaks()) fprintf(stderr, "%s: '%s' is not an option (see --help)\n", program, argv[optind]);
    exit(2);
  }
}

void *allocate(size_t count, size_t size) {
  void *block = calloc(count > 0 ? count : 1, size);
  if (block == NULL) {
    fprintf(stderr, "no memory for %zu elements of %zu bytes\n", count, size);
    exit(1);
  }
  return block;
}

int share_of(int n, int parts, int i) { return n / parts + (i < n % parts); }

int share_start(int n, int parts, int i) { return i * (n / parts) + (i < n % parts ? i : n % parts); }

int owner_of(int n, int parts, int which) {
  int large = n / parts + 1, cut = n % parts * large;
  return which < cut ? which / large : n % parts + (which - cut) / (n / parts);
}

int line_due(long i, long n, long lines) {
  long k;
  if (lines <= 0 || i <= 0 || i > n) return 0;
  k = (long)((double)i * (double)lines / (double)n + 0.5); /* the place nearest to i */
  return k > 0 && i == (long)((double)k * (double)n / (double)lines);
}

uint64_t random_seed(uint64_t seed) {
  uint64_t z = seed + 0x9e3779b97f4a7c15u; /* one step of splitmix64 */
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  z ^= z >> 31;
  return z != 0 ? z : 1;
}

uint64_t random_bits(uint64_t *state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545f4914f6cdd1du;
}

double random_unit(uint64_t *state) { return (double)(random_bits(state) >> 11) * 0x1p-53; }

void digest_integer(Digest *digest, int64_t value) {
  uint64_t bits = (uint64_t)value;
  for (int i = 0; i < 8; i++) *digest = (*digest ^ (bits >> (8 * i) & 0xff)) * 1099511628211u;
}

void digest_doubles(Digest *digest, const double *values, size_t count) {
  for (size_t i = 0; i < count; i++) {
    int64_t bits;
    memcpy(&bits, &values[i], sizeof bits);
    digest_integer(digest, bits);
  }
}

void print_result(Digest digest) {
  printf("result: %016llx\n", (unsigned long long)digest);
  fflush(stdout);
}
