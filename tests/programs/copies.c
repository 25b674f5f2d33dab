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

/* A ring of blocks, each of which has an array of its own. */
struct Node {
  struct Node *next;
  int number, count;
  int *numbers;
};
enum { kNodes = 20000 };

/* Shared by a process and its copy, and registered in one scene. */
struct Shared {
  volatile int changed, waited; /* the process has changed its data; the copy has waited for that */
  int data[kCount];
};

static int rank, ranks, die = -1, restarted, step;
static int data[kCount];
static double smooth[kSmooth]; /* some chunks of a file */
static union Either either;
static struct Node *ring;
static ELC_Type node_type;
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

static struct Node *make_node(int number, struct Node *next) {
  struct Node *made = ELC_new(node_type, 1);
  made->next = next;
  made->number = number;
  made->count = number % 50 == 0 ? 2000 : 1 + number % 7;
  made->numbers = ELC_new(ELC_INT, (size_t)made->count);
  for (int i = 0; i < made->count; i++) made->numbers[i] = number + i;
  return made;
}

static void remove_behind(struct Node *node) {
  struct Node *gone = node->next;
  node->next = gone->next;
  ELC_free(gone->numbers);
  ELC_free(gone);
}

/* What a line has of it: kNodes with the numbers 0, 2, 4 and so on. */
static void check_ring(void) {
  struct Node *node = ring;
  for (int n = 0; n < kNodes; n++, node = node->next) {
    check(node->number == 2 * n, "a node");
    for (int i = 0; i < node->count; i++) check(node->numbers[i] == 2 * n + i, "a node's numbers");
  }
  check(node == ring, "the end of the ring");
}

/* Of two nodes one goes, and where it was others are made. */
static void change_ring(void) {
  struct Node *node = ring;
  for (int n = 0; n < kNodes; n += 2, node = node->next) {
    remove_behind(node);
    if (n % 3 == 0) node->next = make_node(n + 1, node->next);
    node->numbers = ELC_resize(node->numbers, (size_t)(node->count += n % 5));
    for (int i = 0; i < node->count; i++) node->numbers[i] = -1;
  }
}

/* The same of the heap, whose blocks come and go. */
static int changed_heap(void) {
  waits = 1;
  if (!restarted) {
    struct Node *last = ring = make_node(0, NULL);
    ring->next = ring;
    for (int n = 1; n < 2 * kNodes; n++) last = last->next = make_node(n, ring);
    for (struct Node *node = ring; node->next != ring; node = node->next) {
      remove_behind(node); /* an odd one */
      if (node->next == ring) break;
    }
  }
  if (step == 0) {
    step = 1;
    take_line();
  }
  check_ring();
  change_ring();
  shared->changed = 1;
  until_line(1);
  MPI_Barrier(MPI_COMM_WORLD);
  die_here();
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
  const ELC_Field node_fields[] = {ELC_POINTER_FIELD(struct Node, next), ELC_FIELD(struct Node, number),
                                   ELC_FIELD(struct Node, count), ELC_POINTER_FIELD(struct Node, numbers)};
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
  node_type = ELC_Struct("node", sizeof *ring, 4, node_fields);
  ELC_PTR(ring);
  if (strcmp(name, "compressed") == 0) ELC_VAR(smooth);
  if (strcmp(name, "of_shared_memory") == 0) ELC_Register("shared", shared->data, ELC_INT, kCount);
  restarted = ELC_Restore() == ELC_RESTARTED;
  if (strcmp(name, "changed") == 0) result = changed();
  else if (strcmp(name, "changed_heap") == 0) result = changed_heap();
  else if (strcmp(name, "compressed") == 0) result = compressed();
  else if (strcmp(name, "own_children") == 0) result = own_children();
  else if (strcmp(name, "of_shared_memory") == 0) result = of_shared_memory();
  else if (strcmp(name, "dead_copy") == 0) result = dead_copy();
  else check(0, "the name of the scene");
  if (rank == 0) printf("result: %s\n", result ? "ok" : "without a copy");
  MPI_Finalize();
  return 0;
}
