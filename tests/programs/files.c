/* files.c - keeps a log that it appends to, a table that it writes anywhere, and a list that it reads, beside some data in
 * memory: the program of the tests in which calls of the system fail. It asks for lines itself, and says what it cannot do.
 *
 * libELC: restore in place. The log is opened by the set-up in every run, table and list only in a run from the start. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "coins.h"

enum { kLarge = 40000, kRecords = 1500, kRecord = 64, kFailed = 3 };

static long steps = 40, lines = 4, patience = 10000;
static long step;
static double large[kLarge];
static int small_part[1000];
static Digest digest = DIGEST_START;
static FILE *record_log, *table, *list;
static int rank, ranks;

static void need(int good, const char *what) {
  if (good) return;
  fprintf(stderr, "files: rank %d cannot %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, kFailed);
}

static FILE *open_file(const char *name, const char *mode) {
  char path[64];
  snprintf(path, sizeof path, "%s-%d", name, rank);
  FILE *file = ELC_fopen(path, mode);
  need(file != NULL, "open its files");
  return file;
}

static void write_record(long number) {
  char text[kRecord + 1];
  memset(text, '.', sizeof text);
  snprintf(text, sizeof text, "%ld %016llx", number, (unsigned long long)mix((uint64_t)step, (uint64_t)number));
  text[kRecord - 1] = '\n';
  need(fseek(table, number * kRecord, SEEK_SET) == 0 && fwrite(text, kRecord, 1, table) == 1, "write to its table");
}

static void begin(void) {
  need(ftruncate(fileno(record_log), 0) == 0, "empty its log");
  table = open_file("table", "w+");
  list = open_file("list", "r");
  for (long i = 0; i < kRecords; i++) write_record(i);
  for (int i = 0; i < kLarge; i++) large[i] = 1.0 / (i + 1 + rank);
}

/* Each process gives its neighbour a number. */
static void work(void) {
  long given = 0, got = 0;
  need(fscanf(list, "%ld", &given) == 1, "read its list");
  given += rank;
  MPI_Sendrecv(&given, 1, MPI_LONG, (rank + 1) % ranks, 1, &got, 1, MPI_LONG, (rank + ranks - 1) % ranks, 1, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  large[mix((uint64_t)step, 1) % kLarge] += (double)got;
  small_part[step % 1000] += (int)got;
  digest_integer(&digest, got);
  for (int i = 0; i < 3; i++) write_record((long)(mix((uint64_t)step, (uint64_t)i) % kRecords));
  need(fprintf(record_log, "step %ld: %ld\n", step, got) > 0, "write to its log");
}

static double milliseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Lets the library finish the line. One that is refused is waited for in vain, as long as --patience says. */
static void let_finish(unsigned line) {
  int none = 0, same = 0;
  for (const double begun = milliseconds(); ELC_Line() == line && milliseconds() - begun < (double)patience; sched_yield())
    MPI_Sendrecv(&none, 1, MPI_INT, 0, 2, &same, 1, MPI_INT, 0, 2, MPI_COMM_SELF, MPI_STATUS_IGNORE);
}

static void digest_file(FILE *file) {
  int c;
  need(fflush(file) == 0 && !ferror(file), "write its files");
  rewind(file);
  while ((c = getc(file)) != EOF) digest_integer(&digest, c);
  need(!ferror(file), "read its files");
}

int main(int argc, char **argv) {
  const Option options[] = {{"steps", &steps, 1, 10000, 0, "numbers to read from the list"},
                            {"lines", &lines, 0, 1000, 0, "recovery lines at equal distances"},
                            {"patience", &patience, 0, 100000, 0, "milliseconds to wait for a line"},
                            {0}};
  read_options(argc, argv, "Keeps files.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  record_log = open_file("log", "a+");
  ELC_VAR(step);
  ELC_VAR(large);
  ELC_VAR(small_part);
  ELC_VAR(digest);
  ELC_FILEVAR(record_log);
  ELC_FILEVAR(table);
  ELC_FILEVAR(list);
  int again = ELC_Restore() == ELC_RESTARTED; /* the first call of ELC_Checkpoint_now is one that has been made */
  if (!again) begin();
  for (; step < steps; step++) {
    if (line_due(step, steps, lines)) {
      const unsigned line = ELC_Line();
      ELC_Checkpoint_now();
      if (!again) let_finish(line);
      again = 0;
    }
    work();
  }
  digest_doubles(&digest, large, kLarge);
  for (int i = 0; i < 1000; i++) digest_integer(&digest, small_part[i]);
  digest_file(record_log);
  digest_file(table);
  need(ELC_fcloseall() == 0, "close its files");
  report_totals(0, (uint64_t)digest);
  MPI_Finalize();
  return 0;
}
