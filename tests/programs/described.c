/* described.c - frames that are described by constant data (elc_frame.h), under fire: a program for the kill test.
 *
 * Written as a tool would have transformed a program that has no word of libELC in its functions: variables whose address is
 * taken are saved where they are, the others in slots. What crosses between processes are coins (coins.h). Without ELC_DIR it is
 * the plain program. */
#include <elc_frame.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coins.h"

enum { kRingTag = 1, kTreeTag, kPoolTag = 10 };
enum { kPool = 3 };

static long seed = 1, rounds = 200, work = 20;
static int rank, ranks;
static uint64_t freely, fixed;

static const ELC_Type integer = ELC_INT, whole = ELC_LONG, number = ELC_UINT64, pointer = ELC_POINTER, request = ELC_MPI_REQUEST,
                      status_type = ELC_MPI_STATUS;

#define SLOT(frame, name, type) {#name, &type, NULL, 1, offsetof(struct frame, name), 0}
#define POINTER(frame, name, to, count) {#name, &pointer, &to, count, offsetof(struct frame, name), count > 1}
#define PLACE(frame, name, type, count) {#name, &type, NULL, count, offsetof(struct frame, name), 1}

static uint64_t ask(long k, int what) { return mix(mix((uint64_t)seed, (uint64_t)k), (uint64_t)what); }

/* The sum of the coins of processes first ... last - 1, at the first one. */
struct Tree {
  ELC_Frame frame;
  uint64_t *sum, *x;
  MPI_Status *status;
  int first, last;
};
static const ELC_Frame_variable tree_variables[] = {
    SLOT(Tree, first, integer), SLOT(Tree, last, integer), POINTER(Tree, sum, number, 1),
    PLACE(Tree, x, number, 1), PLACE(Tree, status, status_type, 1)};
static const unsigned short tree_all[] = {1, 2, 3, 4, 5, 0}, tree_few[] = {1, 2, 3, 0};
static const unsigned short *const tree_live[] = {tree_all, tree_few, tree_all, tree_few, tree_few};
static const ELC_Frame_function tree_function = {"tree", tree_variables, tree_live, 5, NULL, NULL};

static void tree(int first, int last, uint64_t *sum) {
  uint64_t x = 0;
  int middle = (first + last + 1) / 2;
  MPI_Status status = {0};
  struct Tree f;
  ELC_FRAME_ENTER(f.frame, tree_function);
  f.x = &x, f.status = &status;
  f.first = first, f.last = last, f.sum = sum;
  if (ELC_Reentering) {
    const int label = ELC_Reenter(&f.frame);
    if (label == 2 || label == 4) tree(0, 0, NULL);
    if (label != 0) {
      first = f.first, last = f.last, sum = f.sum;
      middle = (first + last + 1) / 2;
    }
    switch (label) {
      case 1: goto at1;
      case 2: goto behind2;
      case 3: goto at3;
      case 4: goto behind4;
      case 5: goto at5;
      default: break;
    }
  }
  if (last - first == 1) {
    x = coin(rank);
    freely -= x;
    *sum = x;
  at1:
    ELC_FRAME_SITE(f.frame, 1);
    ELC_Checkpoint();
    ELC_FRAME_BEHIND(f.frame);
  } else if (rank < middle) {
    ELC_FRAME_CALL(f.frame, 2);
    tree(first, middle, sum);
  behind2:
    ELC_FRAME_BEHIND(f.frame);
    if (rank == first) {
    at3:
      ELC_FRAME_SITE(f.frame, 3);
      MPI_Recv(&x, 1, kNumber, middle, kTreeTag, MPI_COMM_WORLD, &status);
      ELC_FRAME_BEHIND(f.frame);
      *sum += x;
    }
  } else {
    ELC_FRAME_CALL(f.frame, 4);
    tree(middle, last, sum);
  behind4:
    ELC_FRAME_BEHIND(f.frame);
    if (rank == middle) {
    at5:
      ELC_FRAME_SITE(f.frame, 5);
      MPI_Ssend(sum, 1, kNumber, first, kTreeTag, MPI_COMM_WORLD);
      ELC_FRAME_BEHIND(f.frame);
    }
  }
  ELC_FRAME_LEAVE(f.frame);
}

/* Messages between blocks of the heap, from and to others, completed in an order that is drawn. */
struct Pool {
  ELC_Frame frame;
  uint64_t **out, **in;
  MPI_Request *requests;
  MPI_Status *status;
  long k;
  int i, length;
};
static const ELC_Frame_variable pool_variables[] = {
    POINTER(Pool, out, number, kPool), POINTER(Pool, in, number, kPool), PLACE(Pool, requests, request, 2 * kPool),
    PLACE(Pool, status, status_type, 1), SLOT(Pool, k, whole), SLOT(Pool, i, integer), SLOT(Pool, length, integer)};
static const unsigned short pool_all[] = {1, 2, 3, 4, 5, 6, 7, 0};
static const unsigned short *const pool_live[] = {pool_all, pool_all};
static const ELC_Frame_function pool_function = {"pool", pool_variables, pool_live, 2, NULL, NULL};

static void pool(long k) {
  int i, length = 2 + (int)(ask(k, 2) % 3000);
  uint64_t *out[kPool] = {NULL}, *in[kPool] = {NULL};
  MPI_Request requests[2 * kPool];
  MPI_Status status = {0};
  struct Pool f;
  for (i = 0; i < 2 * kPool; i++) requests[i] = MPI_REQUEST_NULL;
  ELC_FRAME_ENTER(f.frame, pool_function);
  f.out = out, f.in = in, f.requests = requests, f.status = &status;
  if (ELC_Reentering) {
    const int label = ELC_Reenter(&f.frame);
    if (label != 0) k = f.k, i = f.i, length = f.length;
    if (label == 1) goto at1;
    if (label == 2) goto at2;
  }
  for (i = 0; i < kPool; i++) {
    const int distance = (int)(ask(k, 3 + i) % (uint64_t)ranks);
    in[i] = ELC_new(ELC_UINT64, length);
    MPI_Irecv(in[i], length, kNumber, (rank + ranks - distance) % ranks, kPoolTag + i, MPI_COMM_WORLD, &requests[i]);
    out[i] = ELC_new(ELC_UINT64, length);
    out[i][0] = coin(rank);
    freely -= out[i][0];
    for (int j = 1; j < length; j++) out[i][j] = mix(out[i][0], (uint64_t)j);
    f.k = k, f.i = i, f.length = length;
  at1:
    ELC_FRAME_SITE(f.frame, 1);
    MPI_Isend(out[i], length, kNumber, (rank + (int)(ask(k, 3 + i) % (uint64_t)ranks)) % ranks, kPoolTag + i, MPI_COMM_WORLD,
              &requests[kPool + i]);
    ELC_FRAME_BEHIND(f.frame);
  }
  for (i = 0; i < 2 * kPool; i++) {
    f.k = k, f.i = i, f.length = length;
  at2:
    ELC_FRAME_SITE(f.frame, 2);
    MPI_Wait(&requests[(i + k) % (2 * kPool)], &status);
    ELC_FRAME_BEHIND(f.frame);
  }
  for (i = 0; i < kPool; i++) {
    freely += in[i][0];
    for (int j = 1; j < length; j++) {
      if (in[i][j] == mix(in[i][0], (uint64_t)j)) continue;
      fprintf(stderr, "described: rank %d, round %ld: a message whose content is damaged\n", rank, k);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    ELC_free(in[i]);
    ELC_free(out[i]);
  }
  ELC_FRAME_LEAVE(f.frame);
}

/* One process works for long, the others wait for it. */
struct Slow {
  ELC_Frame frame;
  uint64_t *x;
  long k, i;
  int worker;
};
static const ELC_Frame_variable slow_variables[] = {PLACE(Slow, x, number, 1), SLOT(Slow, k, whole), SLOT(Slow, i, whole),
                                                    SLOT(Slow, worker, integer)};
static const unsigned short slow_working[] = {2, 3, 4, 0}, slow_telling[] = {1, 4, 0};
static const unsigned short *const slow_live[] = {slow_working, slow_telling};
static const ELC_Frame_function slow_function = {"slow", slow_variables, slow_live, 2, NULL, NULL};

static void slow(long k, int worker) {
  uint64_t x = 0;
  long i = 0;
  struct Slow f;
  ELC_FRAME_ENTER(f.frame, slow_function);
  f.x = &x, f.k = k, f.worker = worker;
  if (ELC_Reentering) {
    const int label = ELC_Reenter(&f.frame);
    if (label != 0) worker = f.worker;
    if (label == 1) k = f.k, i = f.i;
    if (label == 1) goto at1;
    if (label == 2) goto at2;
  }
  if (rank == worker) {
    for (i = 0; i < 20 + (long)(ask(k, 1) % 100); i++) {
      f.i = i;
    at1:
      ELC_FRAME_SITE(f.frame, 1);
      ELC_Checkpoint();
      ELC_FRAME_BEHIND(f.frame);
      dally_for((uint64_t)work);
    }
    x = coin(rank);
    freely -= x * (uint64_t)(ranks - 1);
  }
at2:
  ELC_FRAME_SITE(f.frame, 2);
  MPI_Bcast(&x, 1, kNumber, worker, MPI_COMM_WORLD);
  ELC_FRAME_BEHIND(f.frame);
  if (rank != worker) freely += x;
  ELC_FRAME_LEAVE(f.frame);
}

struct Main {
  ELC_Frame frame;
  uint64_t *sum;
  long k;
};
static const ELC_Frame_variable main_variables[] = {PLACE(Main, sum, number, 1), SLOT(Main, k, whole)};
static const unsigned short main_all[] = {1, 2, 0}, main_few[] = {2, 0};
static const unsigned short *const main_live[] = {main_all, main_few, main_few};
static const ELC_Frame_function main_function = {"main", main_variables, main_live, 3, NULL, NULL};

int main(int argc, char **argv) {
  const Option options[] = {{"seed", &seed, 0, 1000000000, 0, "seed of the sequence"},
                            {"rounds", &rounds, 1, 1000000000, 0, "length of the sequence"},
                            {"work", &work, 0, 1000000, 0, "time between messages, in arbitrary units"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  uint64_t sum = 0;
  long k;
  struct Main f;
  read_options(argc, argv, "Described frames, for the kill test.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  ELC_VAR(freely);
  ELC_VAR(fixed);
  ELC_FRAME_ENTER(f.frame, main_function);
  f.sum = &sum;
  if (ELC_Reentering) switch (ELC_Reenter(&f.frame)) {
      case 1: tree(0, 0, NULL); k = f.k; goto behind1;
      case 2: pool(0); k = f.k; goto behind2;
      case 3: slow(0, 0); k = f.k; goto behind3;
      default: break;
    }
  for (k = 0; k < rounds; k++) {
    fixed = mix(fixed, (uint64_t)k);
    f.k = k;
    if (ask(k, 0) % 3 == 0) {
      sum = 0;
      ELC_FRAME_CALL(f.frame, 1);
      tree(0, ranks, &sum);
    behind1:
      ELC_FRAME_BEHIND(f.frame);
      if (rank == 0) freely += sum;
    } else if (ask(k, 0) % 3 == 1) {
      ELC_FRAME_CALL(f.frame, 2);
      pool(k);
    behind2:
      ELC_FRAME_BEHIND(f.frame);
    } else {
      ELC_FRAME_CALL(f.frame, 3);
      slow(k, (int)(ask(k, 20) % (uint64_t)ranks));
    behind3:
      ELC_FRAME_BEHIND(f.frame);
    }
  }
  ELC_FRAME_LEAVE(f.frame);
  report_totals(freely, fixed);
  MPI_Finalize();
  return 0;
}
