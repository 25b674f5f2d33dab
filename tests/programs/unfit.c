/* unfit.c - values that another machine cannot hold: a program of tests/foreign/refusals.py.
 *
 *     unfit KIND      long, size, difference, element, heap, bytes, message, collective (with 2 ranks); zeros, which fit; memory, zeros that fit where all sizes are the same
 *
 * It takes line after line until it is killed; in a restart it says "result: ok" and ends. The message is in
 * transit then, and the collective operation crosses the one line that there is.
 *
 * libELC: re-entry. */
#include <elc.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct Place {
  char name[3];
  long at[4];
};

static int restarted, rank;
static const int64_t kLarge = INT64_C(1) << 40;

/* Process 1 starts the operation before its checkpoint, process 0 after it. */
static void cross(void) {
  long number = rank == 1 ? (long)kLarge : 5;
  int taken = 0, flag;
  ELC_ENTER();
  ELC_VAR(number);
  ELC_RESUME();
  if (rank == 1) MPI_Bcast(&number, 1, MPI_LONG, 1, MPI_COMM_WORLD);
  number = 5;
  while (!taken && !restarted) {
    ELC_AT(1);
    taken = rank == 0 ? ELC_Checkpoint_now() : ELC_Checkpoint();
  }
  if (rank == 0) MPI_Bcast(&number, 1, MPI_LONG, 1, MPI_COMM_WORLD);
  while (!restarted) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  ELC_END();
  ELC_Leave();
}

static void work(const char *kind) {
  long number = 5, *block = NULL;
  void *memory = NULL;
  size_t size = 5;
  ptrdiff_t difference = 5;
  struct Place places[3] = {0};
  unsigned char bytes[8] = {1, 2, 3};
  const ELC_Field fields[] = {ELC_FIELD(struct Place, name), ELC_FIELD(struct Place, at)};
  const ELC_Type place = ELC_Struct("struct Place", sizeof(struct Place), 2, fields);
  ELC_ENTER();
  ELC_VAR(number);
  ELC_PTR(block);
  ELC_PTR(memory);
  ELC_VAR(size);
  ELC_VAR(difference);
  ELC_STRUCT(places, place);
  if (strcmp(kind, "bytes") == 0 || strcmp(kind, "zeros") == 0) ELC_RAW(bytes);
  ELC_RESUME();
  if (strcmp(kind, "long") == 0) number = (long)kLarge;
  if (strcmp(kind, "zeros") == 0) memset(bytes, 0, sizeof bytes);
  if (strcmp(kind, "size") == 0) size = (size_t)kLarge;
  if (strcmp(kind, "difference") == 0) difference = (ptrdiff_t)-kLarge;
  if (strcmp(kind, "element") == 0) places[2].at[1] = (long)-kLarge;
  if (strcmp(kind, "memory") == 0) {
    memory = ELC_malloc(40);
    memset(memory, 0, 40);
  }
  if (strcmp(kind, "heap") == 0) {
    block = ELC_new(ELC_LONG, 10);
    block[7] = (long)kLarge;
  }
  if (strcmp(kind, "message") == 0) {
    static long message;
    static MPI_Request sending; /* this run is killed before it could end */
    message = (long)kLarge;
    MPI_Isend(&message, 1, MPI_LONG, 0, 7, MPI_COMM_SELF, &sending);
  }
  do {
    ELC_AT(1);
    ELC_Checkpoint_now();
  } while (!restarted);
  if (strcmp(kind, "message") == 0) MPI_Recv(&number, 1, MPI_LONG, 0, 7, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  ELC_END();
  ELC_Leave();
}

int main(int argc, char **argv) {
  const char *kind = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ELC_ENTER();
  restarted = ELC_Recovering();
  ELC_RESUME();
  if (strcmp(kind, "collective") == 0) {
    ELC_AT(1);
    cross();
  } else {
    ELC_AT(2);
    work(kind);
  }
  ELC_END();
  ELC_Leave();
  if (restarted && rank == 0) printf("result: ok\n");
  MPI_Finalize();
  return 0;
}
