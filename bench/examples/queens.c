/* queens.c - in how many ways n queens can stand on an n x n board, none attacking another: re-entry.
 *
 *     mpicc queens.c $(pkg-config --cflags --libs elc) -o queens
 *     elc run -n 4 --every 1 -- ./queens 15                 kill a process; the answer is the same
 *
 * Here the state is the stack: a line is taken within calls within calls. A function that can be on the stack then says
 * what its variables are, and puts a label before each call that leads to a site. After a failure the same calls
 * are made again, from label to label, the variables get their values back, and the program stands where it stood. */
#include <elc.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kLabelledRows = 4 }; /* further down, a subtree is counted in no time, and no line is taken within */

static unsigned board, mine; /* all columns; those in which this process puts the first queen. Made by every run */

/* The rest of the board, without labels: compilers make this fast, and hardly what labels jump into. */
static long count(unsigned columns, unsigned left, unsigned right) {
  long found = 0;
  if (columns == board) return 1;
  for (unsigned spots = board & ~(columns | left | right); spots != 0; spots &= spots - 1) {
    const unsigned queen = spots & -spots;
    found += count(columns | queen, (left | queen) << 1, (right | queen) >> 1);
  }
  return found;
}

/* Puts a queen into `row`; the bits are columns that queens of the rows above attack, straight and aslant. */
static void place(int row, unsigned columns, unsigned left, unsigned right, long *found) {
  unsigned spots = 0, queen = 0;
  ELC_ENTER();
  ELC_VAR(row);
  ELC_VAR(columns);
  ELC_VAR(left);
  ELC_VAR(right);
  ELC_PTR(found); /* a pointer to registered data: main's variable, wherever that is after a restart */
  ELC_VAR(spots);
  ELC_VAR(queen);
  ELC_RESUME(); /* in a restart it jumps to the label at which this call of the function was */
  for (spots = board & ~(columns | left | right) & (row == 0 ? mine : board); spots != 0; spots &= spots - 1) {
    queen = spots & -spots;
    if (row == kLabelledRows) {
      *found += count(columns | queen, (left | queen) << 1, (right | queen) >> 1);
      ELC_AT(1);
      ELC_Checkpoint(); /* here a line may be taken */
    } else {
      ELC_AT(2);
      place(row + 1, columns | queen, (left | queen) << 1, (right | queen) >> 1, found);
    }
  }
  ELC_END();
  ELC_Leave(); /* before every return */
}

int main(int argc, char **argv) {
  int rank, ranks, n = argc > 1 ? atoi(argv[1]) : 12;
  long found = 0, all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  board = (1u << n) - 1;
  for (int column = rank; column < n; column += ranks) mine |= 1u << column;
  ELC_ENTER();
  ELC_VAR(found);
  ELC_VAR(all);
  ELC_RESUME();
  ELC_AT(1);
  place(0, 0, 0, 0, &found);
  ELC_AT(2); /* a labelled MPI call is a site, too */
  MPI_Reduce(&found, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  ELC_END();
  ELC_Leave();
  if (rank == 0) printf("result: %ld\n", all);
  MPI_Finalize();
  return 0;
}
