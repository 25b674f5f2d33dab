/* matmul.c - matrix multiplication, the columns dealt out in turn to slaves.
 *
 * The master sends A to every slave and then deals four columns of B a message, in turn; a slave sends
 * back the same columns of the product and gets its next ones. Results are taken in the order in which
 * they come; the tag of a message tells which columns it carries. A[i][j] = i + j and B[i][j] = i * j
 * are whole numbers, so the product is exact and known.
 *
 * libELC: written with the names and signatures of the thesis (libELC.h): functions take a label and
 * the number of an inline call, OnCallEnter and OnVarDef record the shadow stack, and a restart jumps
 * from label to label. Lines with --lines K: K at equal distances. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "common.h"
#include "libelc_or_plain.h"

enum { kColumns = 4, kMatrixTag = 0, kStopTag = 1, kFirstBlockTag = 2 };

/* The user's parameters: the same in every process and every run. */
static long size = 1024, iterations = 4, lines = 0;
static int blocks; /* messages that carry B */

static int columns_of(int block) {
  int left = (int)size - block * kColumns;
  return left < kColumns ? left : kColumns;
}

static void make_matrices(double *a, double *b) {
  for (long i = 0; i < size; i++)
    for (long j = 0; j < size; j++) {
      a[i * size + j] = (double)(i + j);
      b[j * size + i] = (double)(i * j); /* column by column */
    }
}

/* Four columns of the product; fewer in the last block. */
static void multiply(const double *a, const double *b, double *c, int columns) {
  const double *b0 = b, *b1 = columns > 1 ? b + size : b, *b2 = columns > 2 ? b + 2 * size : b,
               *b3 = columns > 3 ? b + 3 * size : b;
  for (long i = 0; i < size; i++) {
    const double *row = a + i * size;
    double sums[kColumns] = {0.0, 0.0, 0.0, 0.0};
    for (long k = 0; k < size; k++) {
      sums[0] += row[k] * b0[k];
      sums[1] += row[k] * b1[k];
      sums[2] += row[k] * b2[k];
      sums[3] += row[k] * b3[k];
    }
    for (int j = 0; j < columns; j++) c[j * size + i] = sums[j];
  }
}

/* Row i of column j of the product. */
static double element(long i, long j) {
  int64_t n = size, first = n * (n - 1) / 2, second = (n - 1) * n * (2 * n - 1) / 6;
  return (double)(j * (i * first + second));
}

/* Every element of the sum of all products is a whole number below 2^53, so that it is exact. */
static int is_exact(void) {
  double n = (double)size;
  return n * n * n * n * 5.0 / 6.0 * (double)iterations < 9007199254740992.0;
}

/* Says what was verified; returns 0 if something is wrong. */
static int verify(const double *c) {
  long wrong = 0;
  for (long j = 0; j < size; j++)
    for (long i = 0; i < size; i++) wrong += c[j * size + i] != (double)iterations * element(i, j);
  printf("verified: %ld of %ld elements exact: %s\n", size * size - wrong, size * size,
         wrong == 0 ? "right" : "WRONG");
  return wrong == 0;
}

/* Returns 0 if the answer is wrong. */
static int master(int numtasks, int LABEL, int FID) {
  double *a = NULL, *b = NULL, *c = NULL, *answer = NULL;
  int slave = 0, block = 0, next = 0, turn = 0, good;
  long done = 0;
  MPI_Status status;
  double begin = MPI_Wtime();

  OnCallEnter(LABEL, FID);
  OnVarDef(&numtasks, sizeof(int)); /* a restart passes what main has before its variables are back */
  OnVarDef(&slave, sizeof(int));
  OnVarDef(&block, sizeof(int));
  OnVarDef(&next, sizeof(int));
  OnVarDef(&turn, sizeof(int));
  OnVarDef(&done, sizeof(long));
  OnPtrDef(&a, 1);
  OnPtrDef(&b, 1);
  OnPtrDef(&c, 1);
  OnPtrDef(&answer, 1);
  OnVarDef(&status, sizeof(MPI_Status));
  if (STATE_FLAG == ELC_RECOVERY) {
    switch (g_flowTail->LABEL) {
      case 1:
        goto K1;
      case 2:
        goto K2;
      case 3:
        goto K3;
      case 4:
        goto K4;
      case 5:
        goto K5;
      case 6:
        goto K6;
    }
  }

  a = ELC_malloc(size * size * sizeof(double));
  b = ELC_malloc(size * size * sizeof(double));
  c = ELC_calloc(size * size, sizeof(double));
  answer = ELC_malloc(kColumns * size * sizeof(double));
  make_matrices(a, b);
  for (slave = 1; slave < numtasks; slave++) {
  K1:
    ELC_MPI_Send(a, (int)(size * size), MPI_DOUBLE, slave, kMatrixTag, MPI_COMM_WORLD, 1, 0);
  }
  for (turn = 0; turn < iterations; turn++) {
    for (slave = 1; slave < numtasks && slave <= blocks; slave++) {
    K2:
      ELC_MPI_Send(b + (slave - 1) * kColumns * size, (int)(columns_of(slave - 1) * size), MPI_DOUBLE, slave,
                   kFirstBlockTag + slave - 1, MPI_COMM_WORLD, 2, 0);
    }
    while (done < (long)(turn + 1) * blocks) {
    K3:
      ELC_MPI_Recv(answer, (int)(kColumns * size), MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                   &status, 3, 0);
      block = status.MPI_TAG - kFirstBlockTag;
      for (long i = 0; i < columns_of(block) * size; i++) c[block * kColumns * size + i] += answer[i];
      done++;
      next = block + numtasks - 1;
      if (next < blocks) {
      K4:
        ELC_MPI_Send(b + next * kColumns * size, (int)(columns_of(next) * size), MPI_DOUBLE,
                     status.MPI_SOURCE, kFirstBlockTag + next, MPI_COMM_WORLD, 4, 0);
      }
      if (done < iterations * blocks && line_due(done, iterations * blocks, lines + 1)) {
      K5:
        ELC_DoCKPT(5, 0);
      }
    }
  }
  for (slave = 1; slave < numtasks; slave++) {
  K6:
    ELC_MPI_Send(b, 0, MPI_DOUBLE, slave, kStopTag, MPI_COMM_WORLD, 6, 0);
  }
  printf("time: %.3f s\n", MPI_Wtime() - begin);
  good = verify(c);
  {
    Digest digest = DIGEST_START;
    digest_doubles(&digest, c, (size_t)(size * size));
    print_result(digest);
  }
  ELC_free(a);
  ELC_free(b);
  ELC_free(c);
  ELC_free(answer);
  OnCallReturn();
  return good;
}

static void slave_work(int LABEL, int FID) {
  double *a = NULL, *columns = NULL, *answer = NULL;
  int block = 0;
  MPI_Status status;

  OnCallEnter(LABEL, FID);
  OnVarDef(&block, sizeof(int));
  OnPtrDef(&a, 1);
  OnPtrDef(&columns, 1);
  OnPtrDef(&answer, 1);
  OnVarDef(&status, sizeof(MPI_Status));
  if (STATE_FLAG == ELC_RECOVERY) {
    switch (g_flowTail->LABEL) {
      case 1:
        goto K1;
      case 2:
        goto K2;
      case 3:
        goto K3;
    }
  }

  a = ELC_malloc(size * size * sizeof(double));
  columns = ELC_malloc(kColumns * size * sizeof(double));
  answer = ELC_malloc(kColumns * size * sizeof(double));
K1:
  ELC_MPI_Recv(a, (int)(size * size), MPI_DOUBLE, 0, kMatrixTag, MPI_COMM_WORLD, &status, 1, 0);
  for (;;) {
  K2:
    ELC_MPI_Recv(columns, (int)(kColumns * size), MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status, 2, 0);
    if (status.MPI_TAG == kStopTag) break;
    block = status.MPI_TAG - kFirstBlockTag;
    multiply(a, columns, answer, columns_of(block));
  K3:
    ELC_MPI_Send(answer, (int)(columns_of(block) * size), MPI_DOUBLE, 0, kFirstBlockTag + block,
                 MPI_COMM_WORLD, 3, 0);
  }
  ELC_free(a);
  ELC_free(columns);
  ELC_free(answer);
  OnCallReturn();
}

int main(int argc, char **argv) {
  const Option options[] = {
      {"size", &size, 1, 16384, 0, "rows and columns of the matrices"},
      {"iterations", &iterations, 1, 1000000, 0, "times that the product is made and added up"},
      {"lines", &lines, 0, 1000000, 0, "recovery lines at equal distances"},
      {NULL, NULL, 0, 0, 0, NULL}};
  int taskid = 0, numtasks = 0, good = 1;

  read_options(argc, argv, "Matrix multiplication, the columns dealt out in turn to slaves.", options);
  blocks = (int)((size + kColumns - 1) / kColumns);
  OnCallEnter(0, 0);
  OnVarDef(&taskid, sizeof(int));
  OnVarDef(&numtasks, sizeof(int));
  OnVarDef(&good, sizeof(int));
  if (STATE_FLAG == ELC_RECOVERY) {
    ELC_MPI_Init(&argc, &argv);
    switch (g_flowTail->LABEL) {
      case 1:
        goto K1;
      case 2:
        goto K2;
    }
  }

  ELC_MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &taskid);
  MPI_Comm_size(MPI_COMM_WORLD, &numtasks);
  if (numtasks < 2 || !is_exact()) {
    if (taskid == 0 && numtasks < 2)
      fprintf(stderr, "matmul: a master needs slaves; start at least 2 processes\n");
    else if (taskid == 0)
      fprintf(stderr, "matmul: --size %ld --iterations %ld: the numbers would not be exact any more\n", size,
              iterations);
    ELC_MPI_Finalize();
    OnCallReturn();
    return 2;
  }
  if (taskid == 0) {
  K1:
    good = master(numtasks, 1, 0);
  } else {
  K2:
    slave_work(2, 0);
  }
  ELC_MPI_Finalize();
  OnCallReturn();
  return good ? 0 : 1;
}
