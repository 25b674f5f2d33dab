/* unfit.c - values that another machine cannot hold: a program of tests/foreign/refusals.py.
 *
 *     unfit KIND      long, size, difference, element, heap, bytes, message
 *
 * It takes line after line until it is killed; in a restart it says "result: ok" and ends. The message is in
 * transit then.
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

static int restarted;
static const int64_t kLarge = INT64_C(1) << 40;

static void work(const char *kind) {
  long number = 5, *block = NULL;
  size_t size = 5;
  ptrdiff_t difference = 5;
  struct Place places[3] = {0};
  unsigned char bytes[8] = {1, 2, 3};
  const ELC_Field fields[] = {ELC_FIELD(struct Place, name), ELC_FIELD(struct Place, at)};
  const ELC_Type place = ELC_Struct("struct Place", sizeof(struct Place), 2, fields);
  ELC_ENTER();
  ELC_VAR(number);
  ELC_PTR(block);
  ELC_VAR(size);
  ELC_VAR(difference);
  ELC_STRUCT(places, place);
  if (strcmp(kind, "bytes") == 0) ELC_RAW(bytes);
  ELC_RESUME();
  if (strcmp(kind, "long") == 0) number = (long)kLarge;
  if (strcmp(kind, "size") == 0) size = (size_t)kLarge;
  if (strcmp(kind, "difference") == 0) difference = (ptrdiff_t)-kLarge;
  if (strcmp(kind, "element") == 0) places[2].at[1] = (long)-kLarge;
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
  MPI_Init(&argc, &argv);
  ELC_ENTER();
  restarted = ELC_Recovering();
  ELC_RESUME();
  ELC_AT(1);
  work(argc > 1 ? argv[1] : "");
  ELC_END();
  ELC_Leave();
  if (restarted) printf("result: ok\n");
  MPI_Finalize();
  return 0;
}
