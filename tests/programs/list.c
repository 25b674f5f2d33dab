/* list.c - a program written against libELC.h whose data are a list of structs on the heap, with structs and pointers
 * in them: a program of the kill test.
 *
 * libELC: re-entry by libELC.h. A restart jumps over the OnStrDef of each node. */
#include <libELC.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../bench/common.h"

struct mark {
  double weight;
  struct node *marked; /* some node that was there before */
};

struct node {
  int number;
  struct mark mark;
  struct node *next;
};

static long rounds = 300, work = 100;

static void describe(void) {
  StructureDesc mark, node;
  int in_mark[1] = {(int)offsetof(struct mark, marked)}, in_node[1] = {(int)offsetof(struct node, next)};
  int inner[1] = {(int)offsetof(struct node, mark)};
  char inner_name[MAX_STRUCT_NAME_LENGTH] = "struct mark";
  memset(&mark, 0, sizeof mark);
  memset(&node, 0, sizeof node);
  strcpy(mark.name, "struct mark");
  mark.ptrCount = 1;
  mark.ptrOffset = in_mark;
  OnStructureDef(mark);
  strcpy(node.name, "struct node");
  node.ptrCount = 1;
  node.ptrOffset = in_node;
  node.strCount = 1;
  node.strOffset = inner;
  node.strName = inner_name;
  OnStructureDef(node);
}

static void dally(void) {
  volatile unsigned long x = 1;
  for (long i = 0; i < work * 100; i++) x = x * 3 + (unsigned long)i;
}

/* Of all nodes, and of what their marks point to. */
static Digest digest_of(const struct node *head) {
  Digest digest = DIGEST_START;
  for (const struct node *node = head; node != NULL; node = node->next) {
    digest_integer(&digest, node->number);
    digest_doubles(&digest, &node->mark.weight, 1);
    if (node->mark.marked != NULL) digest_integer(&digest, node->mark.marked->number);
  }
  return digest;
}

static void build(int LABEL, int FID) {
  int i = 0, rank = 0;
  double mine = 0, sum = 0;
  struct node *head = NULL, *node = NULL;
  Digest digest, all = 0;
  OnCallEnter(LABEL, FID);
  OnVarDef(&i, sizeof i);
  OnVarDef(&rank, sizeof rank);
  OnVarDef(&mine, sizeof mine);
  OnVarDef(&sum, sizeof sum);
  OnPtrDef(&head, 1);
  OnPtrDef(&node, 1);
  describe();
  if (STATE_FLAG == ELC_RECOVERY) switch (g_flowTail->LABEL) {
      case 1: goto L1;
      case 2: goto L2;
    }
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (i = 0; i < rounds; i++) {
    node = ELC_malloc(sizeof *node);
    OnStrDef(node, sizeof *node, "struct node");
    memset(node, 0, sizeof *node);
    node->number = i * 10 + rank;
    node->mark.marked = i % 3 == 0 ? head : head == NULL ? NULL : head->mark.marked;
    node->next = head;
    head = node;
    mine = node->number + sum / (i + 1);
    if (i % 7 == 0) {
    L1:
      ELC_DoCKPT(1, 0);
    }
  L2:
    ELC_MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, 2, 0);
    node->mark.weight = sum;
    dally();
  }
  digest = digest_of(head);
  MPI_Reduce(&digest, &all, 1, MPI_UNSIGNED_LONG_LONG, MPI_BXOR, 0, MPI_COMM_WORLD);
  if (rank == 0) print_result(all);
  OnCallReturn();
}

int main(int argc, char **argv) {
  const Option options[] = {{"rounds", &rounds, 1, 1000000, 0, "nodes that each process makes"},
                            {"work", &work, 0, 1000000, 0, "between them, in arbitrary units"},
                            {0}};
  read_options(argc, argv, "Builds a list of structs with libELC.h.", options);
  ELC_MPI_Init(&argc, &argv);
  OnCallEnter(0, 0);
  build(1, 0);
  OnCallReturn();
  ELC_MPI_Finalize();
  return 0;
}
