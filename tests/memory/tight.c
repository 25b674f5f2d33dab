/* tight.c - a short program that makes the library allocate in every way, for a test in which memory runs out
 * (memory_test.py).
 *
 *     tight run           some rounds of four steps, a line asked for in each; at the end one more, which has to commit
 *     tight die           process 0 kills itself in the middle, when a line has committed there; not in a restart
 *     tight limit         one process: eats what RLIMIT_AS allows, has a line abandoned, lets go, has a line committed
 *
 * Messages lie across lines, the heap and a file grow; the result does not depend on how memory is. */
#include <elc.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "inject.h"

enum { kPhases = 4, kSends = 4, kSteps = 5 * kPhases, kDie = 2 * kPhases + 2, kLarge = 50000, kSmall = 100, kRows = 30, kNodes = 50,
       kKept = 100000 };

struct node {
  struct node *next;
  long value;
};

static int rank, ranks, step;
static unsigned target;
static uint64_t digest;
static ELC_Type node_type;
static struct node *list;
static double *growing;
static long grown;
static int large_out[kLarge], large_in[kLarge], small_out[kSmall], small_in[kSmall], wild_in[kSmall];
static int square[kRows * kRows], column_in[kRows], shown_from;
static char kept[kKept];
static MPI_Request sends[kSends], receive;
static MPI_Datatype column;
static FILE *output;

static void mix(uint64_t value) { digest = (digest ^ value) * 0x100000001b3u; }

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "tight: rank %d, step %d: wrong: %s\n", rank, step, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* A program that has to let something go when there is no memory. */
static void *surely(void *memory) {
  if (memory == NULL) memory_back();
  return memory;
}

static void grow(void) {
  double *larger;
  for (int i = 0; i < kNodes; i++) {
    struct node *made;
    do made = surely(ELC_new(node_type, 1)); while (made == NULL);
    made->next = list;
    made->value = step * 1000 + i;
    list = made;
  }
  do larger = surely(ELC_realloc(growing, (size_t)(grown + 500) * sizeof *growing)); while (larger == NULL);
  growing = larger;
  for (int i = 0; i < 500; i++) growing[grown++] = step + i;
  if (step % kPhases == 3) { /* every second one goes */
    for (struct node *at = list; at != NULL && at->next != NULL; at = at->next) {
      struct node *gone = at->next;
      at->next = gone->next;
      ELC_free(gone);
    }
  }
}

static void count_all(void) {
  for (struct node *at = list; at != NULL; at = at->next) mix((uint64_t)at->value);
  for (long i = 0; i < grown; i++) mix((uint64_t)growing[i]);
}

/* What the messages of this round hold. */
static int content(int of, int i) { return step / kPhases * 1000 * of + i; }

static void send(void) {
  const int to = (rank + 1) % ranks;
  for (int i = 0; i < kLarge; i++) large_out[i] = content(1, i);
  for (int i = 0; i < kSmall; i++) small_out[i] = content(2, i);
  for (int i = 0; i < kRows * kRows; i++) square[i] = content(3, i);
  MPI_Irecv(small_in, kSmall, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &receive);
  MPI_Isend(large_out, kLarge, MPI_INT, to, 1, MPI_COMM_WORLD, &sends[0]);
  MPI_Isend(small_out, kSmall, MPI_INT, to, 2, MPI_COMM_WORLD, &sends[1]);
  MPI_Isend(square, 1, column, to, 3, MPI_COMM_WORLD, &sends[2]);
  MPI_Isend(small_out, kSmall, MPI_INT, to, 4, MPI_COMM_WORLD, &sends[3]);
}

/* A message that a probe has shown is taken for a line. */
static void look(void) {
  int flag = 0, count;
  MPI_Status status;
  while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &flag, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  check(count == kLarge, "the length of the large message");
  shown_from = status.MPI_SOURCE;
}

static void receive_all(void) {
  int index;
  MPI_Status status, statuses[kSends];
  MPI_Recv(large_in, kLarge, MPI_INT, shown_from, 1, MPI_COMM_WORLD, &status);
  MPI_Waitany(1, &receive, &index, &status);
  MPI_Recv(column_in, kRows, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
  MPI_Recv(wild_in, kSmall, MPI_INT, MPI_ANY_SOURCE, 4, MPI_COMM_WORLD, &status);
  MPI_Waitall(kSends, sends, statuses);
  for (int i = 0; i < kLarge; i++) check(large_in[i] == content(1, i), "the large message");
  for (int i = 0; i < kSmall; i++) check(small_in[i] == content(2, i), "the small message");
  for (int i = 0; i < kRows; i++) check(column_in[i] == content(3, i * kRows), "the column");
  for (int i = 0; i < kSmall; i++) check(wild_in[i] == content(2, i), "the message to anybody");
}

static void together(void) {
  MPI_Comm copy;
  long sum = 0, mine = rank + step, all[64];
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  check(sum == (long)ranks * step + (long)ranks * (ranks - 1) / 2, "a sum");
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Allgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, copy);
  MPI_Comm_free(&copy);
  for (int i = 0; i < ranks; i++) check(all[i] == i + step, "what all have said");
  for (int i = 0; i < kLarge; i++) large_in[i] = rank;
  MPI_Bcast(large_in, kLarge, MPI_INT, step / kPhases % ranks, MPI_COMM_WORLD);
  check(large_in[kLarge - 1] == step / kPhases % ranks, "what one has said");
  mix((uint64_t)sum);
}

/* Until all that are agreed on have committed. Process 0 asks for them, again and again: one that memory has run out in is
 * abandoned. */
static void await_lines(void) {
  for (long i = 0; ELC_Line() < target; i++)
    if (rank == 0 && i % 2000 == 0) ELC_Checkpoint_now();
    else ELC_Checkpoint();
}

/* So many lines more. A restart goes on with the step, where all know it already. */
static void agree_on(unsigned more) {
  target = ELC_Line() + more;
  ELC_ND(target); /* it would be another one in a restart, and others have this one */
  MPI_Bcast(&target, 1, MPI_UNSIGNED, 0, MPI_COMM_WORLD);
}

static void one_step(void) {
  int chance = step;
  ELC_ND(chance);
  check(chance == step, "a value that is repeated");
  if (step == kSteps) {
    memory_back();
    agree_on(2); /* one may be open that has met the lack of memory */
    return;
  }
  switch (step % kPhases) {
    case 0: send(); break;
    case 1: look(); break;
    case 2: receive_all(); break;
    case 3: together(); break;
  }
  grow();
  agree_on(1);
  fprintf(output, "rank %d step %d\n", rank, step);
}

/* ---- All that a limit allows ---- */

static void *eaten[100000];

static int limit(void) {
  char refused[4096];
  struct rlimit most;
  long size = 0, meals = 0;
  FILE *about = fopen("/proc/self/statm", "r");
  agree_on(1);
  await_lines();
  check(about != NULL && fscanf(about, "%ld", &size) == 1, "how large the process is");
  fclose(about);
  getrlimit(RLIMIT_AS, &most);
  most.rlim_cur = (rlim_t)size * (rlim_t)sysconf(_SC_PAGESIZE) + (8 << 20);
  check(setrlimit(RLIMIT_AS, &most) == 0, "the limit");
  for (size_t piece = 1 << 20; piece >= 64; piece /= 2)
    for (void *more; meals < 100000 && (more = malloc(piece)) != NULL;) eaten[meals++] = more;
  snprintf(refused, sizeof refused, "%s/refused", getenv("ELC_DIR"));
  while (access(refused, F_OK) != 0) ELC_Checkpoint_now();
  fprintf(stderr, "tight: abandoned\n");
  while (meals > 0) free(eaten[--meals]);
  agree_on(1);
  await_lines();
  return 0;
}

int main(int argc, char **argv) {
  const int die = argc > 1 && strcmp(argv[1], "die") == 0, limited = argc > 1 && strcmp(argv[1], "limit") == 0;
  unsigned long own, total = 0; /* of this process; of all */
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 0; i < kSends; i++) sends[i] = MPI_REQUEST_NULL;
  receive = MPI_REQUEST_NULL;
  MPI_Type_vector(kRows, 1, kRows, MPI_INT, &column);
  MPI_Type_commit(&column);
  char name[40];
  snprintf(name, sizeof name, "output.%d", rank);
  output = ELC_fopen(name, "w");
  check(output != NULL, "the file");
  const ELC_Field fields[] = {ELC_POINTER_FIELD(struct node, next), ELC_FIELD(struct node, value)};
  node_type = ELC_Struct("struct node", sizeof(struct node), 2, fields);
  check(node_type != ELC_NO_TYPE, "the type");
  ELC_VAR(step);
  ELC_VAR(target);
  ELC_VAR(digest);
  ELC_PTR(list);
  ELC_PTR(growing);
  ELC_VAR(grown);
  ELC_VAR(large_out);
  ELC_VAR(large_in);
  ELC_VAR(small_out);
  ELC_VAR(small_in);
  ELC_VAR(wild_in);
  ELC_VAR(square);
  ELC_VAR(column_in);
  ELC_VAR(kept);
  ELC_REQUEST(sends);
  ELC_REQUEST(receive);
  ELC_DATATYPE(column);
  ELC_VAR(shown_from);
  ELC_FILEVAR(output);
  const int restarted = ELC_Restore() == ELC_RESTARTED;
  memory_step(step);
  if (limited) {
    limit();
  } else {
    for (; step <= kSteps; step++) {
      if (rank == 0) ELC_Checkpoint_now();
      else ELC_Checkpoint();
      memory_step(step);
      if (die && step == kDie) {
        await_lines();
        if (rank == 0 && !restarted) raise(SIGKILL);
      }
      one_step();
    }
    await_lines();
    count_all();
  }
  ELC_fclose(output);
  own = (unsigned long)digest;
  MPI_Reduce(&own, &total, 1, MPI_UNSIGNED_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("result: %lx\n", total);
  MPI_Finalize();
  return 0;
}
