/* laplace.c - Laplace's equation on a square by finite differences, in square blocks on a square grid
 * of processes, after the solver of Robb Newman and Xianneng Shen (method: Fox et al., Solving Problems
 * on Concurrent Processors, 1988).
 *
 * The boundary is 100 at the top and 0 elsewhere; the interior starts at the average of the boundary.
 * Successive over-relaxation: the upper left and lower right quadrant of each block are "red", the
 * other two "black". An iteration is: exchange edges, relax red, exchange edges, relax black. No red
 * quadrant touches another across the edge of a block, so the answer does not depend on timing.
 *
 * libELC: restore in place. Lines with --lines K: at the start, at the end, and K-2 at equal distances
 * between. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "elc_or_plain.h"

static const double kTop = 100.0, kStart = 25.0, kOmega = 1.2, kStopBelow = 0.001;
enum { kLookEvery = 20, kUp = 0, kDown = 1, kLeft = 2, kRight = 3 };

/* One process's block of `rows` x `columns` points, with a rim that belongs to its neighbours. */
typedef struct Block {
  int rows, columns, stride; /* stride: columns + 2 */
  int neighbour[4];          /* MPI_PROC_NULL at the edge of the square */
  MPI_Datatype column;       /* one column of the block */
  double *m;                 /* (rows + 2) * stride numbers */
} Block;

static Block make_block(int n, int grid, int rank) {
  Block b;
  int row = rank / grid, column = rank % grid;
  b.rows = share_of(n, grid, row);
  b.columns = share_of(n, grid, column);
  b.stride = b.columns + 2;
  b.neighbour[kUp] = row > 0 ? rank - grid : MPI_PROC_NULL;
  b.neighbour[kDown] = row < grid - 1 ? rank + grid : MPI_PROC_NULL;
  b.neighbour[kLeft] = column > 0 ? rank - 1 : MPI_PROC_NULL;
  b.neighbour[kRight] = column < grid - 1 ? rank + 1 : MPI_PROC_NULL;
  MPI_Type_vector(b.rows, 1, b.stride, MPI_DOUBLE, &b.column);
  MPI_Type_commit(&b.column);
  b.m = allocate((size_t)(b.rows + 2) * b.stride, sizeof(double));
  for (int i = 1; i <= b.rows; i++)
    for (int j = 1; j <= b.columns; j++) b.m[i * b.stride + j] = kStart;
  if (row == 0)
    for (int j = 1; j <= b.columns; j++) b.m[j] = kTop;
  return b;
}

/* A message is tagged with the side of the sender at which it leaves. */
static void exchange(Block *b) {
  double *m = b->m;
  int s = b->stride, count = 0;
  MPI_Request requests[8];
  MPI_Status statuses[8];
  if (b->neighbour[kUp] != MPI_PROC_NULL)
    MPI_Irecv(m + 1, b->columns, MPI_DOUBLE, b->neighbour[kUp], kDown, MPI_COMM_WORLD, &requests[count++]);
  if (b->neighbour[kDown] != MPI_PROC_NULL)
    MPI_Irecv(m + (b->rows + 1) * s + 1, b->columns, MPI_DOUBLE, b->neighbour[kDown], kUp, MPI_COMM_WORLD,
              &requests[count++]);
  if (b->neighbour[kLeft] != MPI_PROC_NULL)
    MPI_Irecv(m + s, 1, b->column, b->neighbour[kLeft], kRight, MPI_COMM_WORLD, &requests[count++]);
  if (b->neighbour[kRight] != MPI_PROC_NULL)
    MPI_Irecv(m + s + b->columns + 1, 1, b->column, b->neighbour[kRight], kLeft, MPI_COMM_WORLD,
              &requests[count++]);
  if (b->neighbour[kUp] != MPI_PROC_NULL)
    MPI_Isend(m + s + 1, b->columns, MPI_DOUBLE, b->neighbour[kUp], kUp, MPI_COMM_WORLD, &requests[count++]);
  if (b->neighbour[kDown] != MPI_PROC_NULL)
    MPI_Isend(m + b->rows * s + 1, b->columns, MPI_DOUBLE, b->neighbour[kDown], kDown, MPI_COMM_WORLD,
              &requests[count++]);
  if (b->neighbour[kLeft] != MPI_PROC_NULL)
    MPI_Isend(m + s + 1, 1, b->column, b->neighbour[kLeft], kLeft, MPI_COMM_WORLD, &requests[count++]);
  if (b->neighbour[kRight] != MPI_PROC_NULL)
    MPI_Isend(m + s + b->columns, 1, b->column, b->neighbour[kRight], kRight, MPI_COMM_WORLD,
              &requests[count++]);
  MPI_Waitall(count, requests, statuses);
}

/* Relaxes the rows [i0, i1) and columns [j0, j1) in place; returns the sum of the absolute changes. */
static double relax(double *m, int stride, int i0, int i1, int j0, int j1) {
  double change = 0.0;
  for (int i = i0; i < i1; i++) {
    double *row = m + (size_t)i * stride;
    for (int j = j0; j < j1; j++) {
      double old = row[j];
      double sum = row[j - stride] + row[j + stride] + row[j + 1] + row[j - 1];
      row[j] = kOmega / 4.0 * sum + (1.0 - kOmega) * old;
      change += fabs(row[j] - old);
    }
  }
  return change;
}

/* The red or the black quadrants of the block whose upper left interior point is (i, j). */
static double relax_colour(double *m, int stride, int i, int j, int rows, int columns, int black) {
  int im = i + rows / 2, jm = j + columns / 2, ie = i + rows, je = j + columns;
  if (black) return relax(m, stride, i, im, jm, je) + relax(m, stride, im, ie, j, jm);
  return relax(m, stride, i, im, j, jm) + relax(m, stride, im, ie, jm, je);
}

/* Puts the blocks of all processes, gathered in pieces of equal size, into a square of n x n. */
static void assemble(double *whole, const double *pieces, int piece, int n, int grid) {
  for (int rank = 0; rank < grid * grid; rank++) {
    int i0 = share_start(n, grid, rank / grid), j0 = share_start(n, grid, rank % grid);
    int rows = share_of(n, grid, rank / grid), columns = share_of(n, grid, rank % grid);
    const double *from = pieces + (size_t)rank * piece;
    for (int i = 0; i < rows; i++)
      memcpy(whole + (size_t)(i0 + i) * n + j0, from + (size_t)i * columns, columns * sizeof(double));
  }
}

static void gather(const Block *b, int n, int grid, int rank, double *whole) {
  int most = share_of(n, grid, 0), piece = most * most;
  double *mine = allocate(piece, sizeof(double)), *pieces = NULL;
  if (rank == 0) pieces = allocate((size_t)piece * grid * grid, sizeof(double));
  for (int i = 0; i < b->rows; i++)
    memcpy(mine + (size_t)i * b->columns, b->m + (size_t)(i + 1) * b->stride + 1,
           b->columns * sizeof(double));
  MPI_Gather(mine, piece, MPI_DOUBLE, pieces, piece, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  if (rank == 0) assemble(whole, pieces, piece, n, grid);
  free(mine);
  free(pieces);
}

/* One row of the exact solution of the difference equations, by separation of variables: row `i` of
 * n (0 at the top) is the sum over odd k of c_k sin(k pi x) sinh(mu_k y) / sinh(mu_k), where
 * cosh mu = 2 - cos(k pi / (n + 1)). */
static void exact_row(double *row, int n, int i) {
  const double pi = 3.14159265358979323846;
  memset(row, 0, n * sizeof(double));
  for (int k = 1; k <= n; k += 2) {
    double angle = k * pi / (n + 1), mu = acosh(2.0 - cos(angle));
    double c = 2.0 * kTop / (n + 1) * cos(angle / 2) / sin(angle / 2); /* sum of sines of a constant */
    double y = n - i; /* distance from the bottom; the quotient of sinh without overflow */
    double decay = exp(mu * (y - (n + 1))) * (1 - exp(-2 * mu * y)) / (1 - exp(-2 * mu * (n + 1)));
    double s0 = 0.0, s1 = sin(angle), twice = 2.0 * cos(angle);
    if (c * decay < 1e-14 && c * decay > -1e-14) continue;
    for (int j = 0; j < n; j++) { /* sin((j + 1) angle) by its recurrence */
      double s2 = twice * s1 - s0;
      row[j] += c * decay * s1;
      s0 = s1;
      s1 = s2;
    }
  }
}

/* The largest distance from the exact solution, looked at in at most 64 rows; `start` gets that of
 * the starting values. */
static double distance(const double *whole, int n, double *start) {
  double *row = allocate(n, sizeof(double)), worst = 0.0;
  int step = n <= 64 ? 1 : n / 64;
  *start = 0.0;
  for (int i = 0; i < n; i += step) {
    exact_row(row, n, i);
    for (int j = 0; j < n; j++) {
      worst = fmax(worst, fabs(whole[(size_t)i * n + j] - row[j]));
      *start = fmax(*start, fabs(kStart - row[j]));
    }
  }
  free(row);
  return worst;
}

/* Does the whole work again in this process alone, without messages; the bits must be the same. */
static int same_alone(const double *whole, int n, int grid, long iterations) {
  int stride = n + 2, same = 1;
  double *m = allocate((size_t)stride * stride, sizeof(double));
  for (int j = 1; j <= n; j++) m[j] = kTop;
  for (int i = 1; i <= n; i++)
    for (int j = 1; j <= n; j++) m[i * stride + j] = kStart;
  for (long t = 0; t < 2 * iterations; t++)
    for (int r = 0; r < grid; r++)
      for (int c = 0; c < grid; c++)
        relax_colour(m, stride, 1 + share_start(n, grid, r), 1 + share_start(n, grid, c),
                     share_of(n, grid, r), share_of(n, grid, c), (int)(t % 2));
  for (int i = 0; i < n && same; i++)
    same = memcmp(whole + (size_t)i * n, m + (size_t)(i + 1) * stride + 1, n * sizeof(double)) == 0;
  free(m);
  return same;
}

/* Says what was verified; returns 0 if something is wrong. */
static int verify(const double *whole, int n, int grid, long iterations, int converged, int check) {
  double start, off = distance(whole, n, &start), low = whole[0], high = whole[0];
  int good;
  for (size_t i = 0; i < (size_t)n * n; i++) {
    low = fmin(low, whole[i]);
    high = fmax(high, whole[i]);
  }
  good = low >= 0.0 && high <= kTop && off <= start && (!converged || n != 48 || grid != 2 || off < 0.01745);
  printf(
      "verified: %ld iterations%s; all points between the boundary values: %s; largest distance from the "
      "exact solution of the difference equations %.6f (at the start %.6f)\n",
      iterations, converged ? ", converged" : "", low >= 0.0 && high <= kTop ? "yes" : "NO", off, start);
  if (check) {
    int same = same_alone(whole, n, grid, iterations);
    printf("verified: one process alone comes to the same bits: %s\n", same ? "yes" : "NO");
    good = good && same;
  }
  return good;
}

int main(int argc, char **argv) {
  long size = 512, iterations = 5000, lines = 0, check = 0, go_on = 0;
  const Option options[] = {
      {"size", &size, 1, 32768, 0, "interior points along an edge of the square"},
      {"iterations", &iterations, 1, 1000000000, 0, "iterations at most"},
      {"no-stop", &go_on, 0, 1, 1, "does not stop when the changes have become small"},
      {"lines", &lines, 0, 1000000, 0, "recovery lines: at the start, at equal distances, at the end"},
      {"check", &check, 0, 1, 1, "does the work again in one process and compares the bits"},
      {NULL, NULL, 0, 0, 0, NULL}};
  int rank, ranks, grid = 1, good = 1;
  long iteration = 0;
  int finished = 0, converged = 0, gathered = 0;
  double change = 0.0; /* the absolute changes of all points of the block since the last look */
  double *m, *whole = NULL, begin;
  Block block;

  read_options(argc, argv, "Laplace's equation on a square, in blocks on a square grid of processes.",
               options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  begin = MPI_Wtime();
  while ((grid + 1) * (grid + 1) <= ranks) grid++;
  if (grid * grid != ranks || size < 2 * grid) {
    if (rank == 0 && grid * grid != ranks)
      fprintf(stderr, "laplace: %d processes do not make a square grid; start 1, 4, 9, 16, ...\n", ranks);
    else if (rank == 0)
      fprintf(stderr, "laplace: --size %ld: at least %d points for %d processes\n", size, 2 * grid, ranks);
    MPI_Finalize();
    return 2;
  }
  block = make_block((int)size, grid, rank);
  m = block.m;
  if (rank == 0) whole = allocate((size_t)size * size, sizeof(double));

  ELC_VAR(iteration);
  ELC_VAR(finished);
  ELC_VAR(converged);
  ELC_VAR(gathered);
  ELC_VAR(change);
  ELC_ARRAY(m, (size_t)(block.rows + 2) * block.stride);
  if (rank == 0) ELC_ARRAY(whole, (size_t)size * size);
  ELC_Restore();

  while (!finished) {
    if ((iteration == 0 && lines > 1) || line_due(iteration, iterations, lines - 1))
      ELC_Checkpoint_now();
    else
      ELC_Checkpoint();
    exchange(&block);
    change += relax_colour(m, block.stride, 1, 1, block.rows, block.columns, 0);
    exchange(&block);
    change += relax_colour(m, block.stride, 1, 1, block.rows, block.columns, 1);
    iteration++;
    if (iteration % kLookEvery == 0) {
      double sum;
      change /= (double)block.rows * block.columns;
      MPI_Allreduce(&change, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      converged = sum < ranks * kStopBelow && !go_on;
      change = 0.0;
    }
    finished = converged || iteration == iterations;
  }
  if (!gathered) {
    gather(&block, (int)size, grid, rank, whole);
    gathered = 1;
  }
  if (lines > 0) ELC_Checkpoint_now();

  if (rank == 0) {
    Digest digest = DIGEST_START;
    printf("time: %.3f s\n", MPI_Wtime() - begin);
    good = verify(whole, (int)size, grid, iteration, converged, (int)check);
    digest_integer(&digest, iteration);
    digest_doubles(&digest, whole, (size_t)size * size);
    print_result(digest);
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Type_free(&block.column);
  free(block.m);
  free(whole);
  MPI_Finalize();
  return good ? 0 : 1;
}
