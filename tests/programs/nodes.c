/* nodes.c - a large linked structure with cross pointers, which is walked and changed for ever: a program of the
 * restart matrix.
 *
 * libELC: restore in place. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "coins.h"

static long nodes = 20000, rounds = 50, seed = 1;

typedef struct Node {
  char colour;
  long number;
  double weight;
  struct Node *next, *before, *across, **back; /* back: to the `across` of some node */
} Node;

static Node *first;
static long turn;
static Digest digest = DIGEST_START;

/* Node number n has its number, and pointers that follow from it; the table is for those who make them. */
static void build(ELC_Type node_type) {
  Node **all = allocate((size_t)nodes, sizeof *all);
  for (long i = 0; i < nodes; i++) all[i] = ELC_NEW(node_type, sizeof *all[i], 1);
  for (long i = 0; i < nodes; i++) {
    Node *node = all[i];
    node->number = i;
    node->colour = (char)i;
    node->weight = 1.0 / (double)(i + 1);
    node->next = all[(i + 1) % nodes];
    node->before = all[(i + nodes - 1) % nodes];
    node->across = all[mix((uint64_t)seed, (uint64_t)i) % (uint64_t)nodes];
    node->back = &all[mix((uint64_t)seed + 1, (uint64_t)i) % (uint64_t)nodes]->across;
  }
  first = all[0];
  free(all);
}

/* Walks all nodes, digests where their pointers lead to, and turns some round. */
static void walk(void) {
  Node *node = first;
  for (long i = 0; i < nodes; i++, node = node->next) {
    if (node->number != i || node->colour != (char)i || node->weight != 1.0 / (double)(i + 1) ||
        node->next->before != node) {
      fprintf(stderr, "nodes: node %ld is damaged\n", i);
      MPI_Abort(MPI_COMM_WORLD, 3);
    }
    digest_integer(&digest, node->across->number);
    digest_integer(&digest, (*node->back)->number);
    if (mix((uint64_t)turn, (uint64_t)i) % 16 == 0) node->across = *node->back;
  }
}

int main(int argc, char **argv) {
  const Option options[] = {{"nodes", &nodes, 1, 100000000, 0, "in the structure"},
                            {"rounds", &rounds, 1, 1000000000, 0, "how often all are visited"},
                            {"seed", &seed, 0, 1000000000, 0, "of the cross pointers"},
                            {0}};
  int rank;
  read_options(argc, argv, "Walks a linked structure with cross pointers.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  ELC_Field fields[] = {ELC_FIELD(Node, colour),        ELC_FIELD(Node, number),         ELC_FIELD(Node, weight),
                        ELC_POINTER_FIELD(Node, next),  ELC_POINTER_FIELD(Node, before), ELC_POINTER_FIELD(Node, across),
                        ELC_POINTER_FIELD(Node, back)};
  const ELC_Type node_type = ELC_Struct("Node", sizeof(Node), 7, fields);
  ELC_PTR(first);
  ELC_VAR(turn);
  ELC_VAR(digest);
  if (ELC_Restore() == ELC_FRESH) build(node_type);
  for (; turn < rounds; turn++) {
    ELC_Checkpoint();
    walk();
  }
  report_totals(0, (uint64_t)digest);
  MPI_Finalize();
  return 0;
}
