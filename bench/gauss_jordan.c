/* gauss_jordan.c - a dense system of linear equations by Gauss-Jordan elimination with pivoting, the
 * rows dealt out evenly.
 *
 * Rank 0 sets the system up and sends every process its rows. In step k the processes agree on the
 * pivot (MAXLOC over the rows not used yet), its owner sends the scaled pivot row to all, and everybody
 * eliminates column k from all of its other rows. The solution reaches rank 0 by an Allreduce. The
 * coefficients are pseudo-random in [-1, 1); the right-hand side is the sum of the odd columns (counted
 * from 1), so the solution is known: 1, 0, 1, 0, ...
 *
 * The original (J. Meyer, University of Nebraska at Omaha) could not be found; this is a program of
 * the same method, size and communication, not a copy of it.
 *
 * libELC: restore in place, with one block of the heap. Lines with --lines 4: after the set-up, after
 * the distribution, half-way, at the end; more lines divide the elimination further. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common.h"
#include "elc_or_plain.h"

enum { kRowsTag = 1, kSetUp = -2, kDistribute = -1 };

/* Coefficient (i, j), the same on every machine and in every process. */
static double coefficient(int i, int j) {
  uint64_t state = random_seed((uint64_t)i * 0x100000001b3u + (uint64_t)j);
  return 2.0 * random_unit(&state) - 1.0;
}

/* Equation i: n coefficients and the right-hand side. */
static void make_equation(double *row, int n, int i) {
  row[n] = 0.0;
  for (int j = 0; j < n; j++) {
    row[j] = coefficient(i, j);
    if (j % 2 == 0) row[n] += row[j];
  }
}

/* Rank 0 sends every process its rows and keeps its own. */
static void distribute(const double *whole, double *rows, int n, int rank, int ranks) {
  size_t width = (size_t)n + 1, mine = (size_t)share_of(n, ranks, rank) * width;
  if (rank > 0) {
    MPI_Recv(rows, (int)mine, MPI_DOUBLE, 0, kRowsTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  memcpy(rows, whole, mine * sizeof(double));
  for (int to = 1; to < ranks; to++)
    MPI_Send((void *)(whole + share_start(n, ranks, to) * width), (int)(share_of(n, ranks, to) * width),
             MPI_DOUBLE, to, kRowsTag, MPI_COMM_WORLD);
}

/* The row with the largest coefficient of column k among those of all processes that are not used
 * yet; the lowest number where two are equal. */
static int find_pivot(const double *rows, const int *used_for, int n, int k, int rank, int ranks) {
  struct {
    double size;
    int row;
  } best = {-1.0, n}, found;
  int count = share_of(n, ranks, rank), first = share_start(n, ranks, rank);
  for (int r = 0; r < count; r++) {
    double size = fabs(rows[(size_t)r * (n + 1) + k]);
    if (used_for[r] >= 0 || size <= best.size) continue;
    best.size = size;
    best.row = first + r;
  }
  MPI_Allreduce(&best, &found, 1, MPI_DOUBLE_INT, MPI_MAXLOC, MPI_COMM_WORLD);
  return found.row;
}

/* Step k of the elimination; `pivot` is room for a row. */
static void eliminate(double *rows, int *used_for, double *pivot, int n, int k, int rank, int ranks) {
  int row = find_pivot(rows, used_for, n, k, rank, ranks), owner = owner_of(n, ranks, row);
  int count = share_of(n, ranks, rank), mine = -1;
  if (owner == rank) {
    double *own;
    mine = row - share_start(n, ranks, rank);
    own = rows + (size_t)mine * (n + 1);
    for (int j = k + 1; j <= n; j++) own[j] /= own[k];
    own[k] = 1.0;
    memcpy(pivot + k, own + k, (n + 1 - k) * sizeof(double));
    used_for[mine] = k;
  }
  MPI_Bcast(pivot + k, n + 1 - k, MPI_DOUBLE, owner, MPI_COMM_WORLD);
  for (int r = 0; r < count; r++) {
    double *other = rows + (size_t)r * (n + 1), factor = other[k];
    if (r == mine) continue;
    for (int j = k + 1; j <= n; j++) other[j] -= factor * pivot[j];
    other[k] = 0.0;
  }
}

/* Every process puts in the unknowns that its rows were used for; all get all of them. */
static void collect(const double *rows, const int *used_for, double *x, int n, int rank, int ranks) {
  double *mine = allocate(n, sizeof(double));
  int count = share_of(n, ranks, rank);
  for (int r = 0; r < count; r++) mine[used_for[r]] = rows[(size_t)r * (n + 1) + n];
  MPI_Allreduce(mine, x, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  free(mine);
}

/* The thesis's places for K = 4; a smaller K leaves out the first ones, a larger one divides the
 * elimination evenly. `step` is the next step: kDistribute means that the set-up is done. */
static int line_here(int step, int n, long lines) {
  if (step == kDistribute) return lines >= 4;
  if (step == 0) return lines >= 3;
  if (step == n + 1) return lines >= 2;
  return step > 0 && step < n && line_due(step, n, lines > 3 ? lines - 2 : lines > 0 ? 2 : 0);
}

/* Each process makes its equations anew and looks at its part of Ax - b. Returns 0 if it is wrong. */
static int verify(const double *x, int n, int rank, int ranks) {
  double *row = allocate((size_t)n + 1, sizeof(double)), mine[2] = {0.0, 0.0}, sums[2], error = 0.0;
  int first = share_start(n, ranks, rank), count = share_of(n, ranks, rank), good;
  for (int i = first; i < first + count; i++) {
    double residue;
    make_equation(row, n, i);
    residue = -row[n];
    for (int j = 0; j < n; j++) residue += row[j] * x[j];
    mine[0] += residue * residue;
    mine[1] += row[n] * row[n];
  }
  MPI_Reduce(mine, sums, 2, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  for (int j = 0; j < n; j++) error = fmax(error, fabs(x[j] - (j % 2 == 0 ? 1.0 : 0.0)));
  good = rank != 0 || (error < 1e-6 && sqrt(sums[0] / sums[1]) < 1e-9);
  if (rank == 0)
    printf("verified: ||Ax-b|| / ||b|| = %.3g, largest error of an unknown %.3g: %s\n",
           sqrt(sums[0] / sums[1]), error, good ? "right" : "WRONG");
  free(row);
  return good;
}

int main(int argc, char **argv) {
  long size = 2000, lines = 0;
  const Option options[] = {
      {"size", &size, 2, 40000, 0, "equations and unknowns"},
      {"lines", &lines, 0, 1000000, 0, "recovery lines: after set-up, distribution, half-way, at the end"},
      {NULL, NULL, 0, 0, 0, NULL}};
  int rank, ranks, n, count, step = kSetUp, good = 1;
  int *used_for;                           /* the unknown that a row was the pivot of, or -1 */
  double *rows, *pivot, *x, *whole = NULL; /* whole: the system before it is dealt out, on rank 0 */
  double begin;

  read_options(argc, argv, "Linear equations by Gauss-Jordan elimination, the rows dealt out evenly.",
               options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  begin = MPI_Wtime();
  n = (int)size;
  if (n < ranks) {
    if (rank == 0)
      fprintf(stderr, "gauss_jordan: --size %d: at least one equation for each of %d processes\n", n, ranks);
    MPI_Finalize();
    return 2;
  }
  count = share_of(n, ranks, rank);
  rows = allocate((size_t)count * (n + 1), sizeof(double));
  used_for = allocate(count, sizeof(int));
  for (int r = 0; r < count; r++) used_for[r] = -1;
  pivot = allocate((size_t)n + 1, sizeof(double));
  x = allocate(n, sizeof(double));

  ELC_VAR(step);
  ELC_ARRAY(rows, (size_t)count * (n + 1));
  ELC_ARRAY(used_for, count);
  ELC_ARRAY(x, n);
  ELC_PTR(whole);
  ELC_Restore();

  for (;; step++) {
    if (line_here(step, n, lines))
      ELC_Checkpoint_now();
    else
      ELC_Checkpoint();
    if (step == kSetUp && rank == 0) {
      whole = ELC_NEW(ELC_DOUBLE, sizeof(double), (size_t)n * (n + 1));
      if (whole == NULL) {
        fprintf(stderr, "gauss_jordan: no memory for %d equations on rank 0\n", n);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
      for (int i = 0; i < n; i++) make_equation(whole + (size_t)i * (n + 1), n, i);
    } else if (step == kDistribute) {
      distribute(whole, rows, n, rank, ranks);
      ELC_free(whole);
      whole = NULL;
    } else if (step >= 0 && step < n) {
      eliminate(rows, used_for, pivot, n, step, rank, ranks);
    } else if (step == n) {
      collect(rows, used_for, x, n, rank, ranks);
    } else if (step == n + 1) {
      break;
    }
  }
  if (rank == 0) printf("time: %.3f s\n", MPI_Wtime() - begin);
  good = verify(x, n, rank, ranks);
  if (rank == 0) {
    Digest digest = DIGEST_START;
    digest_doubles(&digest, x, n);
    print_result(digest);
  }
  MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
  free(rows);
  free(used_for);
  free(pivot);
  free(x);
  MPI_Finalize();
  return good ? 0 : 1;
}
