/* objects.c - communicators, processes and threads that come and go, each scene for one test of
 * tests/mpi/behaviour_test.py.
 *
 *     objects SCENE [DIE]      DIE: a rank that kills itself when the line has committed, in a run from the start
 *
 * A scene makes something, asks for a line while it is there, lets it go, and asks again: the library refuses the
 * first line with the name of the call and takes the second. At the end process 0 prints "result: ok". */
#include <elc.h>
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks, die = -1, step, sum, key;
static MPI_Comm kept = MPI_COMM_NULL;

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "objects: rank %d, step %d: wrong: %s\n", rank, step, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Asks for a line, and goes on when everybody has been at this place. */
static void ask(void) {
  ELC_Checkpoint_now();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* Goes on until a line has committed that begins here; in a run from the start, one process dies then. */
static void commit(void) {
  const char *lines = getenv("ELC_DIR");
  unsigned newest;
  if (lines == NULL || *lines == '\0') return;
  /* The first line that ends may have begun before somebody was here; the second has not. */
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 2; i++)
    for (newest = ELC_Line(); ELC_Line() == newest;) ELC_Checkpoint_now();
  MPI_Barrier(MPI_COMM_WORLD);
}

/* What a communicator is good for: everybody learns of everybody. */
static void use(MPI_Comm comm) {
  int mine = rank + 1, all = 0, size, other, from_left = -1, me;
  MPI_Comm_size(comm, &size);
  MPI_Comm_rank(comm, &me);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, comm);
  MPI_Sendrecv(&me, 1, MPI_INT, (me + 1) % size, 7, &from_left, 1, MPI_INT, (me + size - 1) % size, 7, comm,
               MPI_STATUS_IGNORE);
  other = (me + size - 1) % size;
  check(from_left == other, "a message on a communicator");
  sum += all;
}

#if MPI_VERSION >= 2 || defined LAM_MPI
/* Children run as without the library: they find no lock of their parent's. */
static void spawn(const char *program) {
  char *arguments[] = {(char *)"child", NULL};
  MPI_Comm children;
  int value = 0;
  MPI_Comm_spawn((char *)program, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &children, MPI_ERRCODES_IGNORE);
  ask();
  if (rank == 0) MPI_Recv(&value, 1, MPI_INT, 0, 1, children, MPI_STATUS_IGNORE);
  if (rank == 0) check(value == 42, "what the child sends");
  MPI_Comm_disconnect(&children);
}

static void child(MPI_Comm parent) {
  int value = 42;
  check(ELC_Checkpoint_now() == 0 && ELC_Line() == 0, "a child has no part in lines");
  MPI_Send(&value, 1, MPI_INT, 0, 1, parent);
  MPI_Comm_disconnect(&parent);
}

/* The next communicator may get the handle of one that was disconnected. */
static void disconnect(void) {
  for (int i = 0; i < 50; i++) {
    MPI_Comm made;
    if (i % 2 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &made);
    else MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
    use(made);
    MPI_Comm_disconnect(&made);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &kept);
}

/* An attribute of one communicator is another one, which goes with it (as libraries keep their own). */
static int delete_inner(MPI_Comm comm, int key, void *value, void *extra) {
  (void)comm, (void)key, (void)extra;
  MPI_Comm_free((MPI_Comm *)value);
  free(value);
  return MPI_SUCCESS;
}

static void attribute(void) {
  for (int i = 0; i < 50; i++) {
    MPI_Comm outer, *inner = malloc(sizeof *inner);
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, delete_inner, &key, NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &outer);
    MPI_Comm_split(MPI_COMM_WORLD, i % 2 == 0 ? 0 : rank % 2, 0, inner);
    use(*inner);
    MPI_Comm_set_attr(outer, key, inner);
    MPI_Comm_free(&outer);
    MPI_Comm_free_keyval(&key);
  }
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, 0, &kept);
}

/* The set-up gives MPI_COMM_WORLD an attribute, which duplicates get a copy of, and an error handler. */
static void set_up_world(void) {
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, &sum);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
}

static void inherit(void) {
  MPI_Comm gone;
  MPI_Comm_dup(MPI_COMM_WORLD, &gone);
  MPI_Comm_set_errhandler(gone, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&gone);
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  ask();
  MPI_Comm_delete_attr(kept, key);
}

static void check_inherited(void) {
  int flag = 1;
  void *value;
  MPI_Comm_get_attr(kept, key, &value, &flag);
  check(!flag, "an attribute that was deleted");
  check(MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, kept) != MPI_SUCCESS, "an error that is returned");
}

/* Attributes with values that a line has, and with one that only the set-up gives. */
static int keys[3], deletes;
static struct {
  double field[4], elsewhere; /* which begins just behind what is registered */
} values;

static int count_delete(MPI_Comm comm, int its_key, void *value, void *extra) {
  (void)comm, (void)its_key, (void)value, (void)extra;
  ++deletes;
  return MPI_SUCCESS;
}

static void set_up_attributes(void) {
  for (int i = 0; i < (getenv("ANOTHER_KEY") != NULL ? 3 : 2); i++)
    MPI_Comm_create_keyval(MPI_COMM_DUP_FN, count_delete, &keys[i], NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keys[0], &values.field[1]);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keys[1], &values.elsewhere);
  MPI_Comm_set_attr(MPI_COMM_SELF, keys[0], &values.elsewhere);
  ELC_VAR(deletes);
  ELC_VAR(values.field);
}

static void attributes(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  ask();
  MPI_Comm_delete_attr(kept, keys[1]);
  MPI_Comm_set_attr(kept, keys[1], (void *)7);
  MPI_Comm_set_attr(MPI_COMM_WORLD, keys[0], &values.field[3]);
  MPI_Comm_delete_attr(MPI_COMM_WORLD, keys[1]);
}

static void *attribute_of(MPI_Comm comm, int i) {
  void *value;
  int flag;
  MPI_Comm_get_attr(comm, keys[i], &value, &flag);
  return flag ? value : NULL;
}

static void check_attributes(void) {
  check(attribute_of(kept, 0) == &values.field[1] && attribute_of(kept, 1) == (void *)7, "attributes of what was made behind the set-up");
  check(attribute_of(MPI_COMM_WORLD, 0) == &values.field[3] && attribute_of(MPI_COMM_WORLD, 1) == NULL, "attributes that were changed");
  check(attribute_of(MPI_COMM_SELF, 0) == &values.elsewhere, "the attribute of the set-up");
  check(deletes == 3, "delete functions");
  MPI_Comm_free(&kept);
  check(deletes == 5, "delete functions of what was made again");
  kept = MPI_COMM_NULL;
}

/* Handles that are registered as what they are in C: an integer, a pointer, bytes. */
static MPI_Comm hidden;
static struct {
  int number;
  MPI_Datatype type;
} hiding, hidden_bytes;
static MPI_File hidden_file;
static MPI_Op hidden_op;

static void register_as_in_c(void) {
  const ELC_Type type = sizeof(MPI_Comm) == sizeof(int) ? ELC_INT : ELC_POINTER;
  const ELC_Field fields[] = {{"number", 0, ELC_INT, 1}, {"type", (size_t)((char *)&hiding.type - (char *)&hiding), type, 1}};
  ELC_Register("hidden", &hidden, type, 1);
  ELC_Register("hiding", &hiding, ELC_Struct("hiding", sizeof hiding, 2, fields), 1);
  ELC_RAW(hidden_bytes);
  ELC_Register("hidden_file", &hidden_file, ELC_POINTER, 1);
  ELC_RAW(hidden_op);
}

static void hide(void) {
  const char *where = getenv("HIDE");
  if (where != NULL && strcmp(where, "hidden_file") == 0) {
    char name[] = "hidden-0";
    name[sizeof name - 2] = (char)('0' + rank);
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &hidden_file);
    ask();
    MPI_File_close(&hidden_file);
    memset(&hidden_file, 0, sizeof hidden_file);
    return;
  }
  if (where != NULL && strcmp(where, "hidden_op") == 0) {
    hidden_op = MPI_SUM;
    ask();
    memset(&hidden_op, 0, sizeof hidden_op);
    return;
  }
  MPI_Datatype *type = where != NULL && strcmp(where, "hiding") == 0 ? &hiding.type : &hidden_bytes.type;
  if (where == NULL) MPI_Comm_dup(MPI_COMM_WORLD, &hidden);
  else MPI_Type_contiguous(3, MPI_INT, type);
  ask();
  if (where == NULL) MPI_Comm_free(&hidden);
  else MPI_Type_free(type);
  /* Null handles are MPI's, too. */
  memset(&hidden, 0, sizeof hidden);
  memset(type, 0, sizeof *type);
}

/* What belongs to a process alone, in variables. */
static MPI_Op operations[5];
static MPI_Group groups[4];
static MPI_Info infos[3];
static MPI_Errhandler handlers[4];
static int heard;

static void largest(void *in, void *with, int *n, MPI_Datatype *type) {
  (void)type;
  for (int i = 0; i < *n; i++)
    if (abs(((int *)in)[i]) > abs(((int *)with)[i])) ((int *)with)[i] = ((int *)in)[i];
}

static void last(void *in, void *with, int *n, MPI_Datatype *type) {
  (void)in, (void)with, (void)n, (void)type;
}

static void hear(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  ++heard;
}

static void set_up_locals(void) {
  MPI_Errhandler gone;
  MPI_Comm_create_errhandler(hear, &gone);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, gone);
  MPI_Errhandler_free(&gone);
  MPI_Op_create(last, 0, &operations[0]);
  MPI_Op_create(largest, 1, &operations[1]);
  if (getenv("ANOTHER_OPERATION") != NULL) MPI_Op_create(last, 1, &operations[2]);
  MPI_Comm_create_errhandler(hear, &handlers[0]);
}

/* What is made here and not freed refuses no line; another operation does. */
static void locals(void) {
  MPI_Op other = operations[0];
  MPI_Group leaked;
  MPI_Comm_group(MPI_COMM_WORLD, &leaked);
  MPI_Comm_group(MPI_COMM_WORLD, &groups[0]);
  MPI_Group_incl(groups[0], 2, (int[]){2, 0}, &groups[1]);
  groups[2] = MPI_GROUP_EMPTY;
  groups[3] = MPI_GROUP_NULL;
  MPI_Info_create(&infos[0]);
  MPI_Info_set(infos[0], (char *)"striping_unit", (char *)"1048576");
  infos[1] = infos[0];
  infos[2] = MPI_INFO_NULL;
  operations[0] = operations[1];
  operations[1] = other;
  operations[2] = MPI_SUM;
  operations[3] = MPI_OP_NULL;
  operations[4] = MPI_MINLOC;
  handlers[1] = MPI_ERRORS_RETURN;
  handlers[2] = MPI_ERRHANDLER_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &kept);
  MPI_Comm_set_name(kept, (char *)"ocean");
  MPI_Comm_set_errhandler(kept, handlers[0]);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &handlers[3]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Op_create(last, 1, &other);
  ask();
  MPI_Op_free(&other);
}

/* Error handlers of the set-up that live on communicators alone, which lose them one after another. */
static void hear_otherwise(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  heard += 1000;
}

static void set_up_handlers(void) {
  MPI_Errhandler gone;
  for (int i = 0; i < 2; i++) {
    MPI_Comm_create_errhandler(hear, &gone);
    MPI_Comm_set_errhandler(i == 0 ? MPI_COMM_WORLD : MPI_COMM_SELF, gone);
    MPI_Errhandler_free(&gone);
  }
}

static void move_handlers(void) {
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &handlers[0]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_SELF, &kept);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
}

static void check_handlers(void) {
  MPI_Errhandler another;
  MPI_Comm_create_errhandler(hear_otherwise, &another);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handlers[0]);
#ifndef LAM_MPI
  MPI_Errhandler_free(&handlers[0]);
#endif
  MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, MPI_COMM_WORLD);
  check(heard == 1, "an error handler that was in a variable");
  MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, kept);
  check(heard == 2, "an error handler that a duplicate had");
  MPI_Errhandler_free(&another);
}

/* MPICH takes info objects with empty values. */
static void empty_value(void) {
  MPI_Info_create(&infos[0]);
  MPI_Info_set(infos[0], (char *)"empty", (char *)"");
}

static void check_empty_value(void) {
  int keys = -1;
  MPI_Info_get_nkeys(infos[0], &keys);
  check(keys == 1, "an empty value");
}

static void check_groups(void) {
  int positions[2] = {-1, -1}, two[2] = {0, 1}, size = -1, same = MPI_UNEQUAL;
  MPI_Comm made;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_compare(groups[0], world, &same);
  check(same == MPI_IDENT, "the group of all");
  MPI_Group_translate_ranks(groups[1], 2, two, world, positions);
  check(positions[0] == 2 && positions[1] == 0, "a group of two");
  MPI_Group_size(groups[2], &size);
  check(size == 0 && groups[2] == MPI_GROUP_EMPTY && groups[3] == MPI_GROUP_NULL, "the empty group, and none");
  MPI_Comm_create(MPI_COMM_WORLD, groups[1], &made);
  check((made == MPI_COMM_NULL) == (rank == 1), "a communicator of a group");
  if (made != MPI_COMM_NULL) {
    use(made);
    MPI_Comm_free(&made);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&groups[0]);
  MPI_Group_free(&groups[1]);
}

static void check_locals(void) {
  char text[MPI_MAX_OBJECT_NAME + 64] = "";
  int flag = 0, length = 0, mine = rank == 1 ? -10 : rank, all = 0;
  check_groups();
  MPI_Info_set(infos[1], (char *)"collective_buffering", (char *)"true");
  MPI_Info_get_nkeys(infos[0], &length);
  MPI_Info_get(infos[0], (char *)"striping_unit", 20, text, &flag);
  check(length == 2 && flag && strcmp(text, "1048576") == 0 && infos[2] == MPI_INFO_NULL, "an info object");
  MPI_Info_free(&infos[0]);
  MPI_Allreduce(&mine, &all, 1, MPI_INT, operations[0], MPI_COMM_WORLD);
  check(all == -10, "an operation of the set-up");
  MPI_Allreduce(&mine, &all, 1, MPI_INT, operations[2], MPI_COMM_WORLD);
  check(all == -8 && operations[3] == MPI_OP_NULL && operations[4] == MPI_MINLOC, "operations of MPI");
  MPI_Op_free(&operations[0]);
  MPI_Op_free(&operations[1]);
  MPI_Comm_get_name(kept, text, &length);
  check(strcmp(text, "ocean") == 0, "a name");
  MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, kept);
  check(heard == 1, "an error handler");
  MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, MPI_COMM_SELF);
  check(heard == 2, "an error handler that was freed");
  MPI_Comm_set_errhandler(kept, handlers[1]);
  check(MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, kept) != MPI_SUCCESS && heard == 2, "an error handler of MPI");
  MPI_Comm_set_errhandler(kept, handlers[3]);
  MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, kept);
  check(heard == 3 && handlers[2] == MPI_ERRHANDLER_NULL, "an error handler in a variable");
  check(MPI_Send(&rank, 1, MPI_INT, ranks + 5, 7, MPI_COMM_WORLD) != MPI_SUCCESS, "the error handler of all");
#ifndef LAM_MPI  /* which gives a handle that is not one more */
  MPI_Errhandler_free(&handlers[3]);
#endif
  MPI_Errhandler_free(&handlers[0]);
}
#endif

/* Threads that call MPI, all at once or one at a time, while the first one comes to sites. */
enum { kThreads = 3, kTurns = 300 };
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
static int one_at_a_time;
static int at_work = 0;
struct Worker {
  pthread_t thread;
  MPI_Comm comm;
  int number, sum;
};

/* Datatypes that only this thread has. */
static void use_types(int n) {
  MPI_Datatype types[4];
  int size = 0;
  for (int k = 0; k < 4; k++) {
    MPI_Type_vector(n + k, 1, 2, MPI_INT, &types[k]);
    MPI_Type_commit(&types[k]);
  }
  for (int k = 0; k < 4; k++) {
    MPI_Type_size(types[k], &size);
    check(size == (n + k) * (int)sizeof(int), "a datatype of a thread");
    MPI_Type_free(&types[k]);
  }
}

static void *work(void *argument) {
  struct Worker *w = argument;
  int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  for (int i = 0; i < kTurns; i++) {
    int out[2] = {rank + w->number, i}, in[2] = {-1, -1}, all = 0, flag = 0;
    MPI_Request requests[2];
    MPI_Status statuses[2];
    if (one_at_a_time) {
      /* Non-blocking calls alone: nobody waits for others with the turn in hand. */
      pthread_mutex_lock(&turn);
      MPI_Irecv(in, 2, MPI_INT, left, w->number, w->comm, &requests[0]);
      MPI_Isend(out, 2, MPI_INT, right, w->number, w->comm, &requests[1]);
      pthread_mutex_unlock(&turn);
      while (!flag) {
        pthread_mutex_lock(&turn);
        MPI_Testall(2, requests, &flag, statuses);
        pthread_mutex_unlock(&turn);
        sched_yield();
      }
    } else if (i % 3 == 0) {
      MPI_Sendrecv(out, 2, MPI_INT, right, w->number, in, 2, MPI_INT, left, w->number, w->comm, MPI_STATUS_IGNORE);
    } else if (i % 3 == 1) {
      MPI_Irecv(in, 2, MPI_INT, MPI_ANY_SOURCE, w->number, w->comm, &requests[0]);
      MPI_Isend(out, 2, MPI_INT, right, w->number, w->comm, &requests[1]);
      MPI_Waitall(2, requests, statuses);
    } else {
      MPI_Allreduce(&i, &all, 1, MPI_INT, MPI_SUM, w->comm);
      in[0] = left + w->number;
      in[1] = all / ranks;
    }
    if (!one_at_a_time) use_types(i);
    check(in[0] == left + w->number && in[1] == i, "what a thread received");
    w->sum += in[0] * (i % 7);
  }
  pthread_mutex_lock(&turn);
  --at_work;
  pthread_mutex_unlock(&turn);
  return NULL;
}

static void threads(int provided) {
  struct Worker workers[kThreads];
  const int count = provided >= (one_at_a_time ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE) ? kThreads : 0;
  int left;
  for (int i = 0; i < count; i++) {
    workers[i].number = i;
    workers[i].sum = 0;
    MPI_Comm_dup(MPI_COMM_WORLD, &workers[i].comm);
  }
  at_work = left = count;
  for (int i = 0; i < count; i++) pthread_create(&workers[i].thread, NULL, work, &workers[i]);
  while (left > 0) {
    pthread_mutex_lock(&turn);
    ELC_Checkpoint();
    left = at_work;
    pthread_mutex_unlock(&turn);
    sched_yield();
  }
  for (int i = 0; i < count; i++) {
    pthread_join(workers[i].thread, NULL);
    sum += workers[i].sum;
    MPI_Comm_free(&workers[i].comm);
  }
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  int provided = MPI_THREAD_SINGLE;
  one_at_a_time = strcmp(name, "serialized") == 0;
  if (one_at_a_time) MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  else if (strcmp(name, "multiple") == 0) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 2) die = atoi(argv[2]);
#if MPI_VERSION >= 2 || defined LAM_MPI
  {
    MPI_Comm parent;
    MPI_Comm_get_parent(&parent);
    if (parent != MPI_COMM_NULL) {
      child(parent);
      MPI_Finalize();
      return 0;
    }
    if (strcmp(name, "inherit") == 0) set_up_world();
    if (strcmp(name, "locals") == 0) set_up_locals();
    if (strcmp(name, "attributes") == 0) set_up_attributes();
    if (strcmp(name, "handlers") == 0) set_up_handlers();
  }
#endif
  /* As a set-up does that looks at the machine. */
  if (strcmp(name, "set_up") == 0) MPI_Comm_split(MPI_COMM_WORLD, getenv("APART") == NULL ? 0 : rank % 2, 0, &kept);
  ELC_VAR(step);
  ELC_VAR(sum);
  ELC_COMM(kept);
#if MPI_VERSION >= 2 || defined LAM_MPI
  ELC_OP(operations);
  ELC_GROUP(groups);
  ELC_INFO(infos);
  ELC_ERRHANDLER(handlers);
  if (strcmp(name, "hide") == 0) register_as_in_c();
#endif
  if (ELC_Restore() == ELC_FRESH) {
#if MPI_VERSION >= 2 || defined LAM_MPI
    if (strcmp(name, "spawn") == 0) spawn(argv[0]);
    if (strcmp(name, "disconnect") == 0) disconnect();
    if (strcmp(name, "attribute") == 0) attribute();
    if (strcmp(name, "inherit") == 0) inherit();
    if (strcmp(name, "locals") == 0) locals();
    if (strcmp(name, "attributes") == 0) attributes();
    if (strcmp(name, "handlers") == 0) move_handlers();
    if (strcmp(name, "empty_value") == 0) empty_value();
    if (strcmp(name, "hide") == 0) hide();
#endif
    if (provided >= MPI_THREAD_SERIALIZED) threads(provided);
    commit();
    if (rank == die) raise(SIGKILL);
  }
  if (kept != MPI_COMM_NULL) use(kept);
  use(MPI_COMM_WORLD);
#if MPI_VERSION >= 2 || defined LAM_MPI
  if (strcmp(name, "inherit") == 0) check_inherited();
  if (strcmp(name, "locals") == 0) check_locals();
  if (strcmp(name, "attributes") == 0) check_attributes();
  if (strcmp(name, "handlers") == 0) check_handlers();
  if (strcmp(name, "empty_value") == 0) check_empty_value();
#endif
  if (rank == 0) printf("result: %d\n", sum);
  MPI_Finalize();
  return 0;
}
