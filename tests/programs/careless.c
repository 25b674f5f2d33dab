/* careless.c - a program that has forgotten something, which ELC_CHECK tells, for tests/mpi/behaviour_test.py.
 *
 *     careless nothing|stack|gone|stream|reading|random|pointer|blocks */
#include <elc.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int step, rank;
static const char *what = "";

static int is(const char *scene) { return strcmp(what, scene) == 0; }

/* Until process 0 says so: a process that called more often than the others while a line is written would have the next one
 * wait until they have called as often. */
static void together(int (*is_over)(unsigned), unsigned until) {
  int over = 0;
  for (; !over; step++) {
    ELC_Checkpoint_now();
    over = rank == 0 && is_over(until);
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

static int is_committed(unsigned line) { return ELC_Line() >= line; }
static int is_refused(unsigned unused) {
  char refused[4096];
  (void)unused;
  snprintf(refused, sizeof refused, "%s/refused", getenv("ELC_DIR"));
  return access(refused, F_OK) == 0;
}

static void lines(unsigned until) { together(is_committed, until); }

/* Registers a variable of its own, and returns. */
static void register_own(void) {
  volatile int own[100];
  own[0] = 1;
  ELC_Register("own", (void *)own, ELC_INT, 100);
}

static int deeper(int n) {
  volatile char room[20000];
  room[n] = (char)n;
  if (n == 0) register_own();
  return n == 0 ? room[0] : deeper(n - 1) + room[n];
}

struct item {
  int number;
  int *to;
};

/* Five blocks of the heap with pointers to what nothing registers. */
static void make_blocks(void) {
  const ELC_Field fields[] = {ELC_FIELD(struct item, number), ELC_POINTER_FIELD(struct item, to)};
  const ELC_Type type = ELC_Struct("struct item", sizeof(struct item), 2, fields);
  int i;
  for (i = 0; i < 5; i++) {
    struct item *item = ELC_new(type, 1);
    item->to = malloc(sizeof *item->to);
  }
}

int main(int argc, char **argv) {
  char *page;
  FILE *plain = NULL, *known = NULL;
  int *points = NULL, set_up;
  what = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  set_up = rand(); /* comes again in a restart */
  page = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE, open("/dev/zero", O_RDWR), 0);
  ELC_VAR(step);
  ELC_VAR(set_up);
  if (is("stack")) deeper(3);
  if (is("gone")) ELC_Register("page", page, ELC_CHAR, 1000);
  if (is("pointer")) {
    points = malloc(sizeof *points);
    ELC_PTR(points);
  }
  if (is("blocks")) make_blocks();
  known = ELC_fopen(rank == 0 ? "known-0" : rank == 1 ? "known-1" : "known-2", "w");
  ELC_Restore();
  if (is("stream")) plain = fopen(rank == 0 ? "plain-0" : "plain-1", "a");
  if (is("reading")) {
    plain = fopen(rank == 0 ? "read-0" : "read-1", "w+");
    fputs("text", plain);
    plain = freopen(rank == 0 ? "read-0" : "read-1", "r", plain);
    if (getc(plain) != 't') return 1;
  }
  lines(1);
  if (is("random")) set_up += rand();
  if (is("gone")) {
    /* Freed memory may be somebody else's at once; this is nobody's. */
    mprotect(page, 65536, PROT_NONE);
    together(is_refused, 0);
  } else {
    lines(3);
  }
  if (plain != NULL) fclose(plain);
  ELC_fclose(known);
  if (rank == 0) printf("result: ok\n");
  MPI_Finalize();
  return 0;
}
