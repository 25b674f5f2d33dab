/* forgetful.c - a program for elc doctor: a sum over steps, in which one thing or another is not registered.
 *
 *     forgetful WHAT [table | rate]
 *
 * WHAT is what it forgets: nothing, a static variable, a global one, the state of rand() or of drand48(), a flag that is as
 * it should be again after one step, a local variable, an array of malloc ("heap"), a member of a struct ("member") or of the
 * structs of a list ("list") there, a field of a struct that is registered ("field"), a file. "clock": nothing, but a value
 * depends on the time; "dated": nothing, but the time is in the name of a file; "stamped": nothing, but the time is in a
 * file, and a number that a restart has otherwise in its name; "garbage": nothing, but a value is an address, as is one that
 * nobody has set; "pending": nothing, but the buffer of a receive that is pending has other bytes after a restart; "fail": it
 * ends in failure. With "table" it prints one, with a column of times of which some are the same in each run, but not after a
 * restart; with "rate" such a time with its unit. */
#define _XOPEN_SOURCE 700
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <elc.h>

enum { kSteps = 40 };

static double sum;
static double field[100];
static int step;
double weight = 1.5;    /* changes with the steps */
static int first_time = 1;
static double scratch[50]; /* never registered, and never missed */
static double *buffer;     /* nor this, which points to what is made anew */

struct particle {
  double mass; /* registered */
  int hits;
  struct particle *next;
};
static struct particle *particles; /* a list of two */

struct tally {
  int kept; /* a field that is declared */
  int lost; /* none, and counted */
};
static struct tally tally;

static double early[6]; /* the first counts steps, the last four are received */
static MPI_Request pending = MPI_REQUEST_NULL;
static struct {
  int kept;
  struct timespec stamp; /* no field, and set behind ELC_Restore: nothing that is saved changes by that */
} clocked;

static double forget(const char *what, double *history) {
  double value = 0;
  if (strcmp(what, "heap") == 0) value = history[step % 10] += 3;
  if (strcmp(what, "member") == 0) value = ++particles->hits;
  if (strcmp(what, "list") == 0) value = particles->next->hits += 2;
  if (strcmp(what, "field") == 0) value = ++tally.lost;
  return value;
}

static int count_calls(void) {
  static int calls;
  return ++calls;
}

/* Its static is registered, and what the macro keeps for itself is nobody's. */
static int count_steps(void) {
  static int steps;
  ELC_STATIC(steps);
  return ++steps;
}

static double one_step(const char *what, int rank, int *local, double *history) {
  double value = 0.001 * (rank + 1) + step;
  int i;
  for (i = 0; i < 50; i++) scratch[i] = value + i;
  for (i = 0; i < 50; i++) buffer[i] = scratch[i] / 2;
  if (strcmp(what, "static") == 0) value += count_calls();
  weight *= 1.01;
  if (strcmp(what, "global") == 0) value *= weight;
  if (strcmp(what, "rand") == 0) value += rand() % 1000;
  if (strcmp(what, "drand48") == 0) value += drand48();
  if (first_time && step > 0 && strcmp(what, "flag") == 0) value += 1000;
  first_time = 0;
  value += count_steps();
  *local += 2;
  if (strcmp(what, "local") == 0) value += *local;
  if (strcmp(what, "clock") == 0) value += MPI_Wtime();
  value += forget(what, history);
  return value + buffer[7];
}

static int since_start; /* steps of this process; never registered, and only printed in the place of times */
static long garbage;

static void print_row(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  printf("%d %.6f %.6f %ld\n", step, sum, field[step], step % 3 == 0 ? (long)since_start : now.tv_nsec + 1000);
}

static void write_stamp(void) {
  char name[64];
  FILE *stamp;
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  snprintf(name, sizeof name, "stamp.%d", since_start);
  stamp = fopen(name, "w");
  fprintf(stamp, "%ld\n", now.tv_nsec);
  fclose(stamp);
}

static void receive_early(int from, int to) {
  double sent[4] = {1, 2, 3, 4};
  early[0] += 1;
  if (step == 2) MPI_Irecv(early + 2, 4, MPI_DOUBLE, from, 9, MPI_COMM_WORLD, &pending);
  if (step > 2 && step < 34) early[2 + step % 4] = since_start; /* as an MPI writes what comes, sooner or later */
  if (step == 34) MPI_Send(sent, 4, MPI_DOUBLE, to, 9, MPI_COMM_WORLD);
  if (step == 35) MPI_Wait(&pending, MPI_STATUS_IGNORE);
  if (step == 36) sum += early[0] + early[5];
}

int main(int argc, char **argv) {
  const int has_table = argc > 2 && strcmp(argv[2], "table") == 0, has_rate = argc > 2 && strcmp(argv[2], "rate") == 0;
  const char *what = argc > 1 ? argv[1] : "nothing";
  int rank, size, local = 0, i;
  FILE *log = NULL;
  double got, *history;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "fail") == 0) MPI_Abort(MPI_COMM_WORLD, 3);
  buffer = malloc(50 * sizeof *buffer);
  history = calloc(10, sizeof *history);
  particles = calloc(1, sizeof *particles);
  particles->next = calloc(1, sizeof *particles);
  srand(7 + (unsigned)rank);
  srand48(7 + rank);
  ELC_VAR(sum);
  ELC_VAR(step);
  ELC_VAR(particles->mass);
  ELC_Field fields[] = {ELC_FIELD(struct tally, kept)};
  const ELC_Type tally_type = ELC_Struct("struct tally", sizeof(struct tally), 1, fields);
  ELC_STRUCT(tally, tally_type);
  const ELC_Type clocked_type = ELC_Struct("clocked", sizeof clocked, 1, (ELC_Field[]){ELC_FIELD(struct tally, kept)});
  ELC_STRUCT(clocked, clocked_type);
  ELC_ARRAY(field, 100);
  ELC_ARRAY(early, 6);
  ELC_REQUEST(pending);
  if (strcmp(what, "global") != 0) ELC_VAR(weight);
  if (strcmp(what, "local") != 0) ELC_VAR(local);
  if (strcmp(what, "garbage") == 0) ELC_VAR(garbage);
  if (rank == 0) printf("set up for %d ranks\n", size);
  if (rank == 0 && strcmp(what, "file") == 0) log = fopen("log", "w");
  if (rank == 0 && strcmp(what, "dated") == 0) {
    char name[64];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    snprintf(name, sizeof name, "log.%010ld.%09ld", (long)now.tv_sec, now.tv_nsec);
    fclose(fopen(name, "w"));
  }
  ELC_Restore();
  clock_gettime(CLOCK_REALTIME, &clocked.stamp);
  for (; step < kSteps; step++) {
    ELC_Checkpoint();
    MPI_Sendrecv(&sum, 1, MPI_DOUBLE, (rank + 1) % size, 1, &got, 1, MPI_DOUBLE, (rank + size - 1) % size, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    tally.kept += 3;
    clocked.kept += 5;
    if (strcmp(what, "pending") == 0) receive_early((rank + 1) % size, (rank + size - 1) % size);
    sum += one_step(what, rank, &local, history) + got / 1024;
    for (i = 0; i < 100; i++) field[i] += sum / (i + 1);
    if (log != NULL) fprintf(log, "%d %.17g\n", step, sum);
    if (rank == 0 && step % 5 == 0) printf("step %d\n", step);
    since_start++;
    garbage = (long)&local + since_start;
    if (rank == 0 && has_table) print_row();
  }
  if (rank == 0 && has_rate) printf("rate: %d steps/us\n", since_start);
  if (log != NULL) fclose(log);
  if (rank == 0 && strcmp(what, "stamped") == 0) write_stamp();
  if (rank == 0) printf("time: %.3f s\n", MPI_Wtime());
  printf("rank %d: %.17g\n", rank, sum);
  MPI_Finalize();
  return 0;
}
