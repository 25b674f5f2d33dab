/* copies.c - lines that a copy of the process writes (ELC_BACKGROUND=fork), for tests/mpi/behaviour_test.py.
 *
 *     copies SCENE [DIE]      DIE: a rank that kills itself where the scene says so, in a run from the start
 *
 * What is to happen while a copy writes is made to happen then: the data have a union, whose function is called in the
 * copy, too, and waits there for the process, or ends the copy. Where there are no copies (the processor is emulated, or
 * the system is another one) the scenes go the same way without. */
#include <elc.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kCount = 100000, kSmooth = 600000 };

union Either {
  int number;
  double other;
};

/* Shared by a process and its copy, and registered in one scene. */
struct Shared {
  volatile int changed, waited; /* the process has changed its data; the copy has waited for that */
  int data[kCount];
};

static int rank, ranks, die = -1, restarted, step;
static int data[kCount];
static double smooth[kSmooth]; /* some chunks of a file */
static union Either either;
static struct Shared *shared;
static pid_t self;
static int waits, dies; /* what the union's function does in a copy */
static volatile sig_atomic_t children;

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "copies: rank %d, step %d: wrong: %s\n", rank, step, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static int active(const void *value, const void *enclosing) {
  (void)value;
  (void)enclosing;
  if (getpid() == self) return 0;
  if (dies) raise(SIGKILL);
  if (waits) while (!shared->changed) sched_yield();
  shared->waited = waits;
  return 0;
}

static void change(int by) {
  for (int i = 0; i < kCount; i++) data[i] = i * by;
  either.number = by;
}

static void check_data(const int *of, int by) {
  for (int i = 0; i < kCount; i++) check(of[i] == i * by, "the data");
}

static void until_line(unsigned line) {
  while (ELC_Line() < line) ELC_Checkpoint();
}

static void die_here(void) {
  if (rank == die && !restarted) raise(SIGKILL);
}

static void take_line(void) {
  unsigned before = ELC_Line();
  if (rank == 0) ELC_Checkpoint_now();
  else while (!ELC_Checkpoint() && ELC_Line() == before) {}
}

/* A line has what there was at its checkpoint, whatever the process does while it is written. */
static int changed(void) {
  waits = 1;
  if (!restarted) change(3);
  if (step == 0) {
    step = 1;
    take_line();
  }
  check_data(data, 3);
  check(either.number == 3, "the union");
  change(5);
  shared->changed = 1;
  until_line(1);
  MPI_Barrier(MPI_COMM_WORLD);
  die_here();
  check_data(data, 5);
  return restarted || shared->waited;
}

/* Several chunks, which the process or its copy compresses, with or without more threads. */
static int compressed(void) {
  int i;
  if (!restarted) for (i = 0; i < kSmooth; i++) smooth[i] = 1.0 / (1 + i);
  if (step == 0) {
    step = 1;
    take_line();
  }
  for (i = 0; i < kSmooth; i++) check(smooth[i] == 1.0 / (1 + i), "the numbers");
  memset(smooth, 0, sizeof smooth);
  until_line(1);
  MPI_Barrier(MPI_COMM_WORLD);
  die_here();
  return 1;
}

static void on_child(int signal) {
  (void)signal;
  children++;
}

static int waited_for(pid_t child) {
  int status;
  pid_t found;
  while ((found = wait(&status)) < 0 && errno == EINTR) {}
  return found == child;
}

/* The program hears of its own children, and of no others. */
static int own_children(void) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = on_child;
  sigaction(SIGCHLD, &action, NULL);
  waits = 1;
  take_line();
  const pid_t child = fork();
  if (child == 0) _exit(0);
  check(waited_for(child), "wait() returns another process");
  shared->changed = 1;
  until_line(1);
  check(wait(NULL) < 0 && errno == ECHILD, "wait() finds a process that the program has not made");
  check(children == 1, "signals of children");
  return shared->waited;
}

/* Memory that processes share is not as it was in a copy: the process writes the line. */
static int of_shared_memory(void) {
  if (!restarted) for (int i = 0; i < kCount; i++) shared->data[i] = 7 * i;
  if (step == 0) {
    step = 1;
    take_line();
  }
  check_data(shared->data, 7);
  for (int i = 0; i < kCount; i++) shared->data[i] = 9 * i;
  until_line(1);
  MPI_Barrier(MPI_COMM_WORLD);
  die_here();
  return 1;
}

/* A copy that dies takes its line with it, and nothing else. */
static int dead_copy(void) {
  int there;
  dies = rank == ranks - 1;
  take_line();
  while (ELC_Line() < 1) {
    dies = 0; /* for copies that are made from now on */
    if (rank == 0) ELC_Checkpoint_now();
    else ELC_Checkpoint();
  }
  there = (int)ELC_Line();
  check(there > 1, "the line of a copy that has died is there");
  return 1;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  const ELC_Field members[] = {ELC_FIELD(union Either, number), ELC_FIELD(union Either, other)};
  ELC_Type type;
  int result = 0;
  if (argc > 2) die = atoi(argv[2]);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  self = getpid();
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, open("/dev/zero", O_RDWR), 0);
  check(shared != MAP_FAILED, "shared memory");
  type = ELC_Union("either", sizeof either, 2, members, active);
  ELC_VAR(step);
  ELC_Register("either", &either, type, 1);
  ELC_VAR(data);
  if (strcmp(name, "compressed") == 0) ELC_VAR(smooth);
  if (strcmp(name, "of_shared_memory") == 0) ELC_Register("shared", shared->data, ELC_INT, kCount);
  restarted = ELC_Restore() == ELC_RESTARTED;
  if (strcmp(name, "changed") == 0) result = changed();
  else if (strcmp(name, "compressed") == 0) result = compressed();
  else if (strcmp(name, "own_children") == 0) result = own_children();
  else if (strcmp(name, "of_shared_memory") == 0) result = of_shared_memory();
  else if (strcmp(name, "dead_copy") == 0) result = dead_copy();
  else check(0, "the name of the scene");
  if (rank == 0) printf("result: %s\n", result ? "ok" : "without a copy");
  MPI_Finalize();
  return 0;
}
