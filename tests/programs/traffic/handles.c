/* handles.c - what has a handle, in registered variables from the beginning of an operation to its end: groups of every
 * make, infos, operations, error handlers, and what belongs to a communicator: its name, attributes and error handler. */
#include "traffic.h"

static MPI_Group groups[kSlots];
static MPI_Info infos[kSlots];
static MPI_Op operators[kSlots];
static MPI_Errhandler handlers[kSlots];

static MPI_Errhandler hear; /* of the set-up, which makes them again in a restart */
static MPI_Op exclusive;
static int keys[2];
static int heard;

static void note_error(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  ++heard;
}

static void add_exclusively(void *left, void *right, int *count, MPI_Datatype *type) {
  const uint64_t *from = left;
  uint64_t *to = right;
  (void)type;
  for (int i = 0; i < *count; i++) to[i] ^= from[i];
}

/* ---- Groups ---- */

/* Those ranks that are drawn, of which one is drawn always; in descending order. */
static int draw_ranks(long k, int *list) {
  int count = 0;
  for (int i = ranks - 1; i >= 0; i--)
    if (i == (int)(ask(k, 21) % (uint64_t)ranks) || mix(ask(k, 22), (uint64_t)i) % 2 == 0) list[count++] = i;
  return count;
}

static void make_group(long k, MPI_Group *made) {
  int list[kMostRanks], range[1][3] = {{0, 0, 1}};
  const int count = draw_ranks(k, list);
  MPI_Group whole, part;
  MPI_Comm_group(copy, &whole);
  MPI_Group_incl(whole, count, list, &part);
  switch (ask(k, 23) % 8) {
    case 0: MPI_Group_excl(whole, count - 1, list, made); break;
    case 1: range[0][0] = ranks - 1, range[0][2] = -1; MPI_Group_range_incl(whole, 1, range, made); break;
    case 2: range[0][1] = (ranks - 1) / 2; MPI_Group_range_excl(whole, 1, range, made); break;
    case 3: MPI_Group_union(part, whole, made); break;
    case 4: MPI_Group_intersection(whole, part, made); break;
    case 5: MPI_Group_difference(whole, part, made); break;
    default: MPI_Group_incl(whole, count, list, made);
  }
  MPI_Group_free(&whole);
  MPI_Group_free(&part);
}

/* It is what another one made by the same calls is, and good for a communicator. */
static void check_group(long k, MPI_Group *group) {
  MPI_Group again;
  MPI_Comm made;
  int same, me, there, size;
  make_group(k, &again);
  MPI_Group_compare(*group, again, &same);
  if (same != MPI_IDENT) fail(k, "a group of other processes");
  MPI_Group_free(&again);
  MPI_Group_size(*group, &size);
  MPI_Group_rank(*group, &me);
  if (size > 0) {
    MPI_Comm_create(copy, *group, &made);
    if ((made == MPI_COMM_NULL) != (me == MPI_UNDEFINED)) fail(k, "a communicator of others than the group");
    if (made != MPI_COMM_NULL) {
      MPI_Comm_rank(made, &there);
      if (there != me) fail(k, "a rank that is not the one of the group");
      collective(k, made);
      MPI_Comm_free(&made);
    }
  }
  if (*group == MPI_GROUP_EMPTY) *group = MPI_GROUP_NULL;
  else MPI_Group_free(group);
}

/* ---- Infos ---- */

static void name_value(long k, char *value, size_t size) { snprintf(value, size, "%llu", (unsigned long long)ask(k, 24)); }

static void make_info(long k, MPI_Info *made) {
  char value[64];
  MPI_Info_create(made);
  name_value(k, value, sizeof value);
  MPI_Info_set(*made, (char *)"traffic_value", value);
  if (ask(k, 25) % 2 == 0) MPI_Info_set(*made, (char *)"traffic_other", (char *)"gone");
  if (ask(k, 25) % 2 == 0) MPI_Info_delete(*made, (char *)"traffic_other");
  if (ask(k, 25) % 3 == 0) {
    MPI_Info first = *made;
    MPI_Info_dup(first, made);
    MPI_Info_free(&first);
  }
}

static void check_info(long k, MPI_Info *info) {
  char value[64], found[65] = "";
  int there = 0, number = 0;
  name_value(k, value, sizeof value);
  MPI_Info_get(*info, (char *)"traffic_value", 64, found, &there);
  MPI_Info_get_nkeys(*info, &number);
  if (!there || number != 1 || strcmp(value, found) != 0) fail(k, "an info object with other keys");
  MPI_Info_free(info);
}

/* ---- Operations ---- */

static MPI_Op operator_of(long k) {
  switch (ask(k, 26) % 3) {
    case 0: return MPI_MAX;
    case 1: return MPI_BXOR;
    default: return exclusive;
  }
}

/* MPICH 4.0 takes numbers of 64 bits without a sign for such with one. */
static uint64_t number_of(long k, int process) { return ask(k, 100 + process) >> 1; }

static void check_operator(long k, MPI_Op *operator) {
  uint64_t mine = number_of(k, rank), all = 0, right = number_of(k, 0);
  if (*operator != operator_of(k)) fail(k, "another operation");
  for (int i = 1; i < ranks; i++) {
    const uint64_t its = number_of(k, i);
    right = *operator == MPI_MAX ? (its > right ? its : right) : its ^ right;
  }
  MPI_Allreduce(&mine, &all, 1, kNumber, *operator, copy);
  if (all != right) fail(k, "the result of an operation");
#if MPI_VERSION >= 3
  if (mpi3) {
    right = *operator == MPI_MAX ? all : all ^ mine;
    MPI_Reduce_local(&mine, &all, 1, kNumber, *operator);
    if (all != right) fail(k, "the result of an operation of one process");
  }
#endif
  *operator = MPI_OP_NULL;
}

/* ---- What a communicator has ---- */

static int has_handler(long k) { return ask(k, 27) % 2 == 0; }
static void *attribute_of(long k) {
  return ask(k, 28) % 2 == 0 ? (void *)&out[slot(k)][ask(k, 29) % kMost] : (void *)(1 + ask(k, 29) % 100);
}
static void name_communicator(long k, char *name, size_t size) { snprintf(name, size, "operation %ld", k); }

static void *attribute(long k, int key) {
  void *value = NULL;
  int there = 0;
  MPI_Comm_get_attr(life[slot(k)], key, &value, &there);
  return there ? value : NULL;
}

static void make_communicator(long k) {
  MPI_Comm *c = &life[slot(k)];
  char name[64];
  name_communicator(k, name, sizeof name);
  MPI_Comm_dup(copy, c);
  MPI_Comm_set_name(*c, name);
  MPI_Comm_set_attr(*c, keys[0], attribute_of(k));
  if (ask(k, 30) % 2 == 0) MPI_Comm_delete_attr(*c, keys[1]);
  handlers[slot(k)] = has_handler(k) ? hear : MPI_ERRORS_RETURN;
  MPI_Comm_set_errhandler(*c, handlers[slot(k)]);
}

static void check_communicator(long k) {
  MPI_Comm *c = &life[slot(k)];
  char name[64], found[MPI_MAX_OBJECT_NAME];
  const int before = heard;
  int length, code;
  name_communicator(k, name, sizeof name);
  MPI_Comm_get_name(*c, found, &length);
  if (strcmp(name, found) != 0) fail(k, "a communicator with another name");
  if (attribute(k, keys[0]) != attribute_of(k)) fail(k, "another attribute");
  if (attribute(k, keys[1]) != (ask(k, 30) % 2 == 0 ? NULL : (void *)&scratch[1])) fail(k, "another attribute that was copied");
  code = MPI_Send(scratch, 1, kNumber, ranks + 5, 0, *c);
  if (code == MPI_SUCCESS && !has_handler(k)) fail(k, "an error that is not returned");
  if (heard != before + has_handler(k)) fail(k, "another error handler");
  MPI_Comm_set_errhandler(*c, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(*c, handlers[slot(k)]);
  collective(k, *c);
  handlers[slot(k)] = MPI_ERRHANDLER_NULL;
  MPI_Comm_free(c);
}

/* ---- The operation ---- */

void begin_handles(long k) {
  const int s = slot(k);
  make_group(k, &groups[s]);
  make_info(k, &infos[s]);
  operators[s] = operator_of(k);
  make_communicator(k);
}

void end_handles(long k) {
  const int s = slot(k);
  check_group(k, &groups[s]);
  check_info(k, &infos[s]);
  check_operator(k, &operators[s]);
  check_communicator(k);
}

void set_up_handles(void) {
  for (int i = 0; i < kSlots; i++) {
    groups[i] = MPI_GROUP_NULL;
    infos[i] = MPI_INFO_NULL;
    operators[i] = MPI_OP_NULL;
    handlers[i] = MPI_ERRHANDLER_NULL;
  }
  MPI_Op_create(add_exclusively, 1, &exclusive);
  MPI_Comm_create_errhandler(note_error, &hear);
  for (int i = 0; i < 2; i++)
    MPI_Comm_create_keyval(i == 0 ? MPI_COMM_NULL_COPY_FN : MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &keys[i], NULL);
  MPI_Comm_set_attr(copy, keys[1], &scratch[1]);
}

void register_handles(void) {
  ELC_GROUP(groups);
  ELC_INFO(infos);
  ELC_OP(operators);
  ELC_ERRHANDLER(handlers);
}

void close_handles(void) {
  MPI_Op_free(&exclusive);
  MPI_Errhandler_free(&hear);
  MPI_Comm_delete_attr(copy, keys[1]);
  for (int i = 0; i < 2; i++) MPI_Comm_free_keyval(&keys[i]);
}
