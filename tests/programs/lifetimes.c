/* lifetimes.c - what the set-up has made and the program changes later, and what outlives the call, the communicator or
 * the handle that it came from. Each scene is one test of tests/mpi/behaviour_test.py.
 *
 *     lifetimes SCENE [DIE]      DIE: a rank that kills itself when the line has committed, in a run from the start
 *
 * A scene has three parts: its set-up, which a restart runs as well; what comes before the line, in a run from the start
 * alone, with a line asked for where the library has to refuse it; what comes after it. */
#include <elc.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if MPI_VERSION >= 2 || defined LAM_MPI

enum { kTag = 5, kRounds = 20 };
static const char *lines = "";  /* the directory of the lines */
static int rank, ranks, die = -1, fresh, step, sum, key, deleted, other;
static int in, out;  /* of messages */
static MPI_Comm outer = MPI_COMM_NULL, inner = MPI_COMM_NULL;
static MPI_Request first = MPI_REQUEST_NULL, second = MPI_REQUEST_NULL;
static MPI_Status statuses[2];

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "lifetimes: rank %d, step %d: wrong: %s\n", rank, step, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Asks for lines until one has been refused; one that commits is a fault, which nothing is said of then. */
static void ask(void) {
  const unsigned newest = ELC_Line();
  char refused[4096];
  snprintf(refused, sizeof refused, "%s/refused", lines);
  for (int over = *lines == '\0'; !over;) {
    ELC_Checkpoint_now();
    over = ELC_Line() != newest || access(refused, F_OK) == 0;
    MPI_Bcast(&over, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
}

/* Goes on until a line has committed that begins here. */
static void commit(void) {
  if (*lines == '\0') return;
  /* The first line that ends may have begun before somebody was here; the second has not. */
  for (int i = 0; i < 2; i++) {
    unsigned mine = ELC_Line(), newest;
    MPI_Allreduce(&mine, &newest, 1, MPI_UNSIGNED, MPI_MAX, MPI_COMM_WORLD);
    while (ELC_Line() <= newest) ELC_Checkpoint_now();
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static int left(void) { return (rank + ranks - 1) % ranks; }
static int right(void) { return (rank + 1) % ranks; }

/* ---- What the set-up has made is no more what it was ---- */

static void set_up_attribute(void) {
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Comm_set_attr(outer, key, &key);
}

static void undo_attribute(void) {
  MPI_Comm_delete_attr(MPI_COMM_WORLD, key);
  ask();
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &key);
  MPI_Comm_delete_attr(outer, key);
  MPI_Comm_free(&outer);
}

static void check_attribute(void) {
  void *value = NULL;
  int flag = 0;
  MPI_Comm_get_attr(MPI_COMM_WORLD, key, &value, &flag);
  check(flag && value == &key, "the attribute of the set-up");
}

enum { kRoom = 1000 + MPI_BSEND_OVERHEAD };
static char buffer[kRoom];

static void set_up_buffer(void) { MPI_Buffer_attach(buffer, kRoom); }

static void undo_buffer(void) {
  void *was;
  int size;
  MPI_Buffer_detach(&was, &size);
  check(was == buffer && size == kRoom, "the buffer that was attached");
  ask();
  MPI_Buffer_attach(buffer, kRoom);
}

/* LAM's MPI_Finalize crashes now and then where a buffer is left attached: it is not. */
static void use_buffer(void) {
  void *was;
  int size;
  out = rank;
  MPI_Bsend(&out, 1, MPI_INT, right(), kTag, MPI_COMM_WORLD);
  MPI_Recv(&in, 1, MPI_INT, left(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(in == left(), "a message by the buffer");
  MPI_Buffer_detach(&was, &size);
}

/* One object may have several handles, of which one is the set-up's. */
static MPI_Group of_set_up, of_later;

static void set_up_group(void) { MPI_Comm_group(MPI_COMM_WORLD, &of_set_up); }

static void free_group(void) {
  MPI_Comm_group(MPI_COMM_WORLD, &of_later);
  MPI_Group_free(&of_set_up);
  ask();
  MPI_Group_free(&of_later);
}

/* A handle may come back with another error handler behind it. */
static int said;
static void say_1(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, said = 1; }
static void say_2(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, said = 2; }
static void say_3(MPI_Comm *comm, int *code, ...) { (void)comm, (void)code, said = 3; }

static void install(void (*function)(MPI_Comm *, int *, ...)) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(function, &handler);
  MPI_Comm_set_errhandler(outer, handler);
  MPI_Errhandler_free(&handler);
}

static void set_up_handler(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  install(say_1);
}

static void change_handler(void) {
  install(say_2);
  install(say_3);
  ask();
  MPI_Comm_free(&outer);
}

/* The same set-up, but for what OTHER says. */
static void set_up_calls(void) {
  if (getenv("OTHER") == NULL) MPI_Bcast(&out, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
}

static void use_outer(void) {
  out = rank;
  MPI_Allreduce(&out, &in, 1, MPI_INT, MPI_SUM, outer);
  check(in == ranks * (ranks - 1) / 2, "a sum on a communicator of the set-up");
}

/* ---- Persistent requests, of the set-up and later ones ---- */

static void set_up_requests(void) {
  const int tag = getenv("OTHER") == NULL ? kTag : kTag + 1;
  MPI_Recv_init(&in, 1, MPI_INT, left(), tag, MPI_COMM_WORLD, &first);
  MPI_Send_init(&out, 1, MPI_INT, right(), tag, MPI_COMM_WORLD, &second);
}

static void use_requests(void) {
  MPI_Request all[2];
  all[0] = first, all[1] = second;
  for (int i = 0; i < kRounds; i++) {
    out = 100 * rank + i;
    MPI_Startall(2, all);
    if (i == 3 && fresh) commit();
    MPI_Waitall(2, all, statuses);
    check(all[0] == first && in == 100 * left() + i, "what a persistent receive got");
    sum += in;
    ELC_Checkpoint();
  }
}

/* Active when the line is taken: a message is under way, and one that has been received is not waited for. */
static void start_first(void) {
  out = 7 * rank;
  MPI_Start(&first);
  if (rank > 0) MPI_Start(&second);
}

static void go_on(void) {
  if (rank == 0) MPI_Start(&second);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  MPI_Wait(&second, MPI_STATUS_IGNORE);
  check(in == 7 * left(), "what a persistent receive got that was active at the line");
  use_requests();
  MPI_Request_free(&first);
  MPI_Request_free(&second);
}

static void make_requests(void) {
  MPI_Datatype pair;
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Type_contiguous(1, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Recv_init(&in, 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, outer, &first);
  MPI_Ssend_init(&out, 1, pair, right(), kTag, outer, &second);
  MPI_Type_free(&pair);
}

static void make_and_start(void) {
  make_requests();
  start_first();
}

/* With a buffer that no line has, a line is refused as long as it exists. */
static int wild;

static void make_wild(void) {
  MPI_Recv_init(&wild, 1, MPI_INT, left(), kTag, MPI_COMM_WORLD, &first);
  ask();
  MPI_Request_free(&first);
}

/* The same for a receive into an array of which a line has the beginning. */
static int partly[2];

static void receive_partly(void) {
  const int two[2] = {rank, rank + 1};
  MPI_Irecv(partly, 2, MPI_INT, left(), kTag, MPI_COMM_WORLD, &first);
  ask();
  MPI_Send((int *)two, 2, MPI_INT, right(), kTag, MPI_COMM_WORLD);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  check(partly[1] == left() + 1, "a message");
}

static void start_for_nobody(void) {
  MPI_Recv_init(&in, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &first);
  MPI_Start(&first);
}

static void end_for_nobody(void) {
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  check(first != MPI_REQUEST_NULL, "a persistent receive from nobody");
  MPI_Request_free(&first);
}

/* ---- What outlives what it came from ---- */

/* A receive without a handle is there until it is complete. */
static void free_receives(void) {
  MPI_Request request;
  int flag;
  MPI_Irecv(&in, 1, MPI_INT, left(), kTag + 1, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Request_free(&request);
  MPI_Irecv(&in, 1, MPI_INT, left(), kTag, MPI_COMM_WORLD, &request);
  MPI_Request_free(&request);
  ask();
  out = rank + 1;
  MPI_Send(&out, 1, MPI_INT, right(), kTag, MPI_COMM_WORLD);
  while (*(volatile int *)&in == 0) MPI_Iprobe(MPI_ANY_SOURCE, kTag + 2, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static void check_received(void) { check(in == left() + 1, "what a receive without a handle got"); }

/* As long as the program has not seen such a receive complete there is no line. */
static void outlive(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Irecv(&in, 1, MPI_INT, left(), kTag, outer, &first);
  MPI_Send(&rank, 1, MPI_INT, right(), kTag, outer);
  MPI_Comm_free(&outer);
  while (access("stop", F_OK) != 0) ELC_Checkpoint();
  MPI_Wait(&first, MPI_STATUS_IGNORE);
}

/* MPI keeps a communicator for a request that is not started yet. */
static void start_late(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Send_init(&out, 1, MPI_INT, right(), kTag, outer, &first);
  MPI_Irecv(&in, 1, MPI_INT, left(), kTag, outer, &second);
  MPI_Comm_free(&outer);
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);  /* perhaps with its handle */
  out = rank;
  MPI_Start(&first);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  MPI_Wait(&second, MPI_STATUS_IGNORE);
  MPI_Request_free(&first);
  MPI_Comm_free(&outer);
  check(in == left(), "a message of a communicator that was freed");
}

/* The same with one that a restart has made again: MPI has never heard of it. */
static void make_to_start_late(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Send_init(&out, 1, MPI_INT, right(), kTag, outer, &first);
}

static void start_made_again(void) {
  MPI_Comm_free(&outer);
  MPI_Start(&first);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
}

#if MPI_VERSION >= 3
static void send_ahead(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  out = rank;
  MPI_Isend(&out, 1, MPI_INT, right(), kTag, outer, &first);
}

static void match_late(void) {
  MPI_Message message;
  MPI_Mprobe(left(), kTag, outer, &message, MPI_STATUS_IGNORE);
  MPI_Comm_free(&outer);
  MPI_Mrecv(&in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  check(in == left(), "a matched message of a communicator that was freed");
}
#endif

/* A receive keeps its datatype. */
static int places[4];

static void post_and_free(void) {
  MPI_Datatype strided;
  MPI_Type_vector(2, 1, 3, MPI_INT, &strided);
  MPI_Type_commit(&strided);
  MPI_Irecv(places, 1, strided, left(), kTag, MPI_COMM_WORLD, &first);
  MPI_Type_free(&strided);
}

static void check_places(void) {
  const int two[2] = {rank + 1, rank + 2};
  MPI_Send((int *)two, 2, MPI_INT, right(), kTag, MPI_COMM_WORLD);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  check(places[0] == left() + 1 && places[3] == left() + 2, "a message with a datatype that was freed");
}

/* A communicator of the set-up that has a topology, of which the program makes others. */
static void set_up_grid(void) {
  int extents[2] = {0, 1}, periodic[2] = {getenv("OTHER") == NULL, 0};
  extents[0] = ranks;
  MPI_Cart_create(MPI_COMM_WORLD, 2, extents, periodic, 0, &outer);
}

static void take_column(void) {
  const int remain[2] = {1, 0};
  MPI_Cart_sub(outer, (int *)remain, &inner);
}

static void check_grids(void) {
  int dimensions, extents[2], periodic[2], coordinates[2], below, above;
  MPI_Cartdim_get(outer, &dimensions);
  check(dimensions == 2, "the dimensions of the set-up's grid");
  MPI_Cartdim_get(inner, &dimensions);
  MPI_Cart_get(inner, 1, extents, periodic, coordinates);
  check(dimensions == 1 && extents[0] == ranks && periodic[0] && coordinates[0] == rank, "a column of the grid");
  MPI_Cart_shift(inner, 0, 1, &below, &above);
  MPI_Sendrecv(&rank, 1, MPI_INT, above, kTag, &in, 1, MPI_INT, below, kTag, inner, MPI_STATUS_IGNORE);
  check(below == left() && in == left(), "a message along the column");
}

#if MPI_VERSION >= 3
/* Each names itself as a neighbour of all, the last first. With lines these come in order, in every run. */
static void set_up_graph(void) {
  int degree = 0, destinations[8], weights[8];
  for (int i = ranks; i-- > 0;) {
    destinations[degree] = i;
    weights[degree++] = 10 * rank + i;
  }
  MPI_Dist_graph_create(MPI_COMM_WORLD, 1, &rank, &degree, destinations, weights, MPI_INFO_NULL, 0, &outer);
}

static void check_graph(void) {
  int sources[8], destinations[8], weights[2][8];
  MPI_Dist_graph_neighbors(outer, ranks, sources, weights[0], ranks, destinations, weights[1]);
  if (*lines == '\0') return;
  for (int i = 0; i < ranks; i++)
    check(sources[i] == i && destinations[i] == i && weights[0][i] == 10 * i + rank && weights[1][i] == 10 * rank + i,
          "neighbours in order");
}
#endif

#if MPI_VERSION >= 3
/* A chain: the processes at its ends have nobody beside them, and nothing comes from there. */
static void make_chain(void) {
  const int both[2] = {rank > 0 ? rank - 1 : MPI_PROC_NULL, rank < ranks - 1 ? rank + 1 : MPI_PROC_NULL}, weights[2] = {1, 2};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, weights, 2, both, weights, MPI_INFO_NULL, 0, &outer);
}

static void use_chain(void) {
  int sources[2], destinations[2], weights[2][2];
  MPI_Dist_graph_neighbors(outer, 2, sources, weights[0], 2, destinations, weights[1]);
  check((sources[0] == MPI_PROC_NULL) == (rank == 0) && (sources[1] == MPI_PROC_NULL) == (rank == ranks - 1), "the ends of a chain");
  check(weights[0][1] == 2 && weights[1][0] == 1, "weights");
#ifndef OPEN_MPI /* whose 4.1 crashes in it by itself */
  int given[2] = {10 * rank, 10 * rank + 1}, got[2] = {-1, -1};
  MPI_Neighbor_alltoall(given, 1, MPI_INT, got, 1, MPI_INT, outer);
  check(got[0] == (rank == 0 ? -1 : 10 * (rank - 1) + 1) && got[1] == (rank == ranks - 1 ? -1 : 10 * (rank + 1)), "from neighbours");
#endif
}
#endif

/* What is under way when the set-up is over comes again in a restart, and for nobody. OTHER: there is something. */
static void leave_message(void) {
  if (getenv("OTHER") != NULL && rank == 0) MPI_Send(&rank, 1, MPI_INT, right(), kTag, MPI_COMM_WORLD);
}

static void leave_operation(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  if (getenv("OTHER") != NULL && rank == 0) MPI_Bcast(&rank, 1, MPI_INT, 0, outer);
}

static void receive_late(void) {
  if (getenv("OTHER") == NULL) return;
  if (outer != MPI_COMM_NULL && rank != 0) MPI_Bcast(&in, 1, MPI_INT, 0, outer);
  if (outer == MPI_COMM_NULL && rank == 1) MPI_Recv(&in, 1, MPI_INT, left(), kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check(in == 0, "what the set-up has sent");
  ask();
  MPI_Finalize();
  exit(0);
}

static MPI_Comm two_groups(void) {
  MPI_Comm own, both;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &own);
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, rank == 0 ? 1 : 0, kTag, &both);
  MPI_Comm_free(&own);
  return both;
}

/* What an object had goes with it, whoever follows the object. */
static void set_up_keys(void) {
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &other, NULL);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
}

static void free_owners(void) {
  MPI_Datatype type;
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Type_set_attr(type, other, &other);
  ask();
  MPI_Type_free(&type);
  outer = two_groups();
  MPI_Comm_set_attr(outer, key, &key);
  MPI_Comm_free(&outer);
}

/* ---- Delete functions ---- */

static int fails;
static int delete_or_fail(MPI_Comm comm, int its_key, void *value, void *extra) {
  (void)comm, (void)its_key, (void)value, (void)extra;
  return fails ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static void set_up_failure(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_or_fail, &key, NULL);
}

/* A communicator that could not be freed is there. */
static void fail_to_free(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Comm_set_attr(outer, key, &key);
  fails = 1;
  if (MPI_Comm_free(&outer) == MPI_SUCCESS) outer = MPI_COMM_NULL;  /* LAM does not look at the result */
  fails = 0;
  ask();
  if (outer != MPI_COMM_NULL) {
    use_outer();
    check(MPI_Comm_free(&outer) == MPI_SUCCESS, "to free it in the end");
  }
}

static int delete_inner(MPI_Comm comm, int its_key, void *value, void *extra) {
  (void)comm, (void)its_key, (void)value, (void)extra;
  ++deleted;
  MPI_Comm_free(&inner);
  return MPI_SUCCESS;
}

static void set_up_inner(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &outer);
  MPI_Comm_dup(MPI_COMM_WORLD, &inner);
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_inner, &key, NULL);
  MPI_Comm_set_attr(outer, key, &key);
  MPI_Comm_free_keyval(&key);
}

/* Process 1 frees before its checkpoint, the others behind theirs. */
static void free_across(void) {
  if (rank == 1 && fresh) MPI_Comm_free(&outer);
  while (fresh && *lines != '\0' && !ELC_Checkpoint_now()) continue;
  if (rank != 1) MPI_Comm_free(&outer);
  while (fresh && *lines != '\0' && ELC_Line() < 1) ELC_Checkpoint();
  MPI_Barrier(MPI_COMM_WORLD);
  if (fresh && rank == die) raise(SIGKILL);
  check(deleted == 1 && inner == MPI_COMM_NULL, "the delete function was called once");
  commit();
}

/* MPI_Finalize begins with the attributes of MPI_COMM_SELF. */
static int cancel_at_end(MPI_Comm comm, int its_key, void *value, void *extra) {
  int cancelled = 0;
  (void)comm, (void)its_key, (void)value, (void)extra;
  MPI_Cancel(&first);
  MPI_Wait(&first, &statuses[0]);
  MPI_Test_cancelled(&statuses[0], &cancelled);
  check(cancelled, "a receive that is cancelled in MPI_Finalize");
  return MPI_SUCCESS;
}

static void set_up_end(void) {
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, cancel_at_end, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, &key);
  MPI_Comm_free_keyval(&key);
}

static void post_for_the_end(void) { MPI_Irecv(&in, 1, MPI_INT, left(), kTag, MPI_COMM_WORLD, &first); }

/* ---- What statuses tell ---- */

static void set_up_errors(void) { MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN); }

static void truncate_one(void) {
  MPI_Request requests[2];
  int both[2] = {rank, rank}, got = 0, code;
  MPI_Irecv(&got, 1, MPI_INT, left(), kTag, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&in, 1, MPI_INT, left(), kTag + 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Send(both, 2, MPI_INT, right(), kTag, MPI_COMM_WORLD);
  MPI_Send(both, 1, MPI_INT, right(), kTag + 1, MPI_COMM_WORLD);
  MPI_Waitall(2, requests, statuses);
  MPI_Error_class(statuses[0].MPI_ERROR, &code);
  check(code == MPI_ERR_TRUNCATE, "the error of a message that was too long");
  MPI_Error_class(statuses[1].MPI_ERROR, &out);
  check(out == MPI_SUCCESS || out == MPI_ERR_PENDING, "the other one");
  if (out == MPI_ERR_PENDING) MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
}

static void check_statuses(void) {
  int code;
  MPI_Error_class(statuses[0].MPI_ERROR, &code);
  check(code == MPI_ERR_TRUNCATE, "the error in a status");
  MPI_Error_class(statuses[1].MPI_ERROR, &code);
  check(code == out, "the error in the other status");
}

static void post_to_nobody(void) {
  MPI_Isend(&out, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &first);
  MPI_Irecv(&in, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &second);
}

static void check_nobody(void) {
  MPI_Status status;
  int count = -1;
  MPI_Wait(&second, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  check(count == 0 && status.MPI_SOURCE != MPI_ANY_SOURCE, "the status of a receive from nobody");
  MPI_Wait(&first, MPI_STATUS_IGNORE);
}

/* ---- No line in a function that MPI calls ---- */

#if MPI_VERSION >= 3
static void asks(void *from, void *to, int *count, MPI_Datatype *type) {
  (void)type;
  check(!ELC_Checkpoint_now(), "a line in the function of an operation");
  for (int i = 0; i < *count; i++) ((int *)to)[i] += ((int *)from)[i];
}

static void reduce_locally(void) {
  MPI_Op op;
  int to = 1, from = 2;
  MPI_Op_create(asks, 1, &op);
  MPI_Reduce_local(&from, &to, 1, MPI_INT, op);
  check(to == 3, "the sum");
  MPI_Op_free(&op);
}
#endif

static const struct Scene {
  const char *name;
  void (*set_up)(void), (*before)(void), (*after)(void);
} scenes[] = {
    {"undo_attribute", set_up_attribute, undo_attribute, check_attribute},
    {"undo_buffer", set_up_buffer, undo_buffer, use_buffer},
    {"groups", set_up_group, free_group, NULL},
    {"handlers", set_up_handler, change_handler, NULL},
    {"set_up_calls", set_up_calls, NULL, use_outer},
    {"set_up_requests", set_up_requests, use_requests, use_requests},
    {"set_up_started", set_up_requests, start_first, go_on},
    {"made_later", NULL, make_requests, use_requests},
    {"started_later", NULL, make_and_start, go_on},
    {"receive_partly", NULL, receive_partly, NULL},
    {"made_wild", NULL, make_wild, NULL},
    {"started_for_nobody", NULL, start_for_nobody, end_for_nobody},
    {"free_receives", NULL, free_receives, check_received},
    {"outlive", NULL, outlive, NULL},
    {"start_late", NULL, NULL, start_late},
    {"start_made_again", NULL, make_to_start_late, start_made_again},
    {"owners", set_up_keys, free_owners, NULL},
    {"grids", set_up_grid, take_column, check_grids},
    {"leave_message", leave_message, receive_late, NULL},
    {"leave_operation", leave_operation, receive_late, NULL},
    {"freed_type", NULL, post_and_free, check_places},
    {"fail_to_free", set_up_failure, fail_to_free, NULL},
    {"free_across", set_up_inner, NULL, free_across},
    {"at_the_end", set_up_end, post_for_the_end, NULL},
    {"statuses", set_up_errors, truncate_one, check_statuses},
    {"nobody", NULL, post_to_nobody, check_nobody},
#if MPI_VERSION >= 3
    {"chain", NULL, make_chain, use_chain},
    {"graph", set_up_graph, NULL, check_graph},
    {"match_late", NULL, send_ahead, match_late},
    {"reduce_locally", NULL, NULL, reduce_locally},
#endif
};

int main(int argc, char **argv) {
  const struct Scene *scene = NULL;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (argc > 1 && strcmp(argv[1], scenes[i].name) == 0) scene = &scenes[i];
  if (argc > 2) die = atoi(argv[2]);
  if (getenv("ELC_DIR") != NULL) lines = getenv("ELC_DIR");
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  check(scene != NULL, "the name of the scene");
  if (scene->set_up != NULL) scene->set_up();
  ELC_VAR(step);
  ELC_VAR(sum);
  ELC_VAR(deleted);
  ELC_VAR(in);
  ELC_VAR(places);
  ELC_ARRAY(partly, 1);
  ELC_VAR(out);
  ELC_COMM(outer);
  ELC_COMM(inner);
  ELC_REQUEST(first);
  ELC_REQUEST(second);
  ELC_STATUS(statuses);
  fresh = ELC_Restore() == ELC_FRESH;
  if (scene->after == free_across) {
    free_across();
  } else {
    if (fresh) {
      if (scene->before != NULL) scene->before();
      ++step;
      commit();
      if (rank == die) raise(SIGKILL);
    }
    if (scene->after != NULL) scene->after();
  }
  if (rank == 0) printf("result: %d\n", sum);
  MPI_Finalize();
  return 0;
}

#else
int main(void) { return 0; }
#endif
