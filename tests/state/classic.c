/* The registrations of libELC.h, as in the examples of the thesis. No MPI call is made: MPI is not linked. */
#include <stdlib.h>
#include <string.h>

#include "libELC.h"
#include "typed.h"

struct Property {
  double weight;
  char *label;
};
struct Node {
  int ID;
  struct Node *next;
  struct Property prop;
};

static int errors;
#define CHECK(condition) errors += !(condition)

static void describe(void) {
  StructureDesc node, property;
  memset(&node, 0x77, sizeof node); /* the papers set no size */
  memset(&property, 0x77, sizeof property);
  strcpy(node.name, "struct Node");
  node.ptrCount = 1;
  node.ptrOffset = (int *)malloc(sizeof(int));
  node.ptrOffset[0] = (int)offsetof(struct Node, next);
  node.strCount = 1;
  node.strDisp = (int *)malloc(sizeof(int));
  node.strDisp[0] = (int)offsetof(struct Node, prop);
  node.strName = (char *)malloc(MAX_STRUCT_NAME_LENGTH);
  strcpy(node.strName, "struct Property");
  OnStructureDef(node);
  strcpy(property.name, "struct Property");
  property.ptrCount = 1;
  property.ptrDisp = (int *)malloc(sizeof(int));
  property.ptrDisp[0] = (int)offsetof(struct Property, label);
  property.strCount = 0;
  OnStructureDef(property);
  free(node.ptrOffset), free(node.strDisp), free(node.strName), free(property.ptrDisp);
}

static int b_total;

/* FID 1: part of an expression. */
static int part(int value, int LABEL, int FID) {
  if (ELC_SKIP(FID)) return 0;
  OnCallEnter(LABEL, FID);
  CHECK(ELC_Classic_site(5, 0) == 0); /* a labelled call in it */
  OnCallReturn();
  return value;
}

static int whole(int a, int b, int LABEL, int FID) {
  OnCallEnter(LABEL, FID);
  OnVarDef(&a, sizeof(int));
  OnVarDef(&b, sizeof(int));
  CHECK(STATE_FLAG == ELC_NORMAL);
  CHECK(g_flowTail->LABEL == 0);
  b_total = a + b;
  OnCallReturn();
  return b_total;
}

int classic_run(void (*site)(void)) {
  int i = 3, *pi = &i, *array_of_pointers[4];
  double b[5], matrix[3][4], *heap;
  struct Node one, many[5], *list;
  FILE *file = NULL;
  MPI_Status status;
  memset(&status, 0, sizeof status);
  memset(b, 0, sizeof b), memset(matrix, 0, sizeof matrix), memset(&one, 0, sizeof one), memset(many, 0, sizeof many);
  memset(array_of_pointers, 0, sizeof array_of_pointers);
  errors = 0;
  OnCallEnter(0, 0);
  OnVarDef(&i, sizeof(int));
  OnVarDef(b, sizeof(double) * 5);
  OnVarDef(matrix, sizeof matrix);
  OnPtrDef(&pi, 1);
  OnPtrDef(array_of_pointers, 4);
  OnFileDef(&file);
  heap = ELC_malloc(7 * sizeof(double));
  OnPtrDef(&heap, 1);
  describe();
  describe(); /* again, the same */
  OnStrDef(&one, sizeof one, "struct Node");
  OnStrDef(many, sizeof(struct Node) * 5, "struct Node");
  list = ELC_malloc(2 * sizeof(struct Node));
  OnPtrDef(&list, 1);
  OnStrDef(list, 2 * sizeof(struct Node), "struct Node");
  memset(list, 0, 2 * sizeof(struct Node));
  list[1].next = list;
  many[4].prop.label = (char *)&i;
  CHECK(whole(part(1, 9, 1), part(2, 9, 2), 9, 0) == 3);
  ELC_Set_label(9);
  site();
  OnCallReturn();
  return errors;
}
