/* scenes.c - short scenes with libELC under a real MPI, each for one test of tests/mpi/behaviour_test.py.
 *
 *     scenes SCENE [DIE]      DIE: a rank that kills itself where the scene says so, in a run from the start
 *
 * A scene is a sequence of steps; every line is taken between two steps, by ELC_Checkpoint, and a restart goes on
 * with the step of the line. Order between processes comes from messages and from ELC_Line, never from time.
 * What must be right is checked on the spot; at the end process 0 prints "result: ok". */
#define _XOPEN_SOURCE 700
#include <elc.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { kLarge = 300000, kTag = 5, kGoTag = 90, kMostSteps = 100 };

static int rank, ranks, restarted, die = -1;
static int resumed; /* this step is that of the line: its site is over */
static int step, a, b, c, d, ready;
static int large[kLarge], strided[3 * 64];
static MPI_Request first, second;
static MPI_Status status;
static MPI_Comm other = MPI_COMM_NULL;
static MPI_Datatype column;
static MPI_Op sum;
static FILE *input, *output;

static void check(int right, const char *what) {
  if (right) return;
  fprintf(stderr, "scenes: rank %d, step %d: wrong: %s\n", rank, step, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* Goes on until line `line` has committed, as far as this process knows. It may take a line here. */
static void until_line(unsigned line) {
  while (ELC_Line() < line) ELC_Checkpoint();
}

/* The same without a site: the process is busy elsewhere, but calls MPI. */
static void watch_line(unsigned line) {
  int flag;
  while (ELC_Line() < line) MPI_Iprobe(MPI_ANY_SOURCE, kTag + 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

/* The library hears of whatever it has been told. */
static void look_often(void) {
  int flag;
  for (int i = 0; i < 10000; i++) MPI_Iprobe(MPI_ANY_SOURCE, kTag + 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

static int all_have_a_line(void) {
  int mine, least;
  look_often();
  mine = (int)ELC_Line();
  MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return least > 0;
}

/* Takes a local checkpoint as soon as somebody has asked for one. */
static void until_taken(void) {
  while (!ready && !resumed) ready = ELC_Checkpoint();
}

static void die_here(void) {
  if (rank == die && !restarted) raise(SIGKILL);
}

static void token_to(int to) { MPI_Send(&step, 1, MPI_INT, to, kGoTag, MPI_COMM_WORLD); }
static void token_from(int from) {
  int dummy;
  MPI_Recv(&dummy, 1, MPI_INT, from, kGoTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* All others have taken their checkpoint and wait for process 0, which sends when the line has committed. */
static int waiting(int how) {
  int index, count, indices[2], flag = 0, value = 0;
  MPI_Request two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  switch (step) {
    case 0: if (rank == 0) ready = ELC_Checkpoint_now(); else until_taken(); return 1;
    case 1:
      if (rank == 0) {
        watch_line(1);
        die_here();
        for (int i = 1; i < ranks; i++) MPI_Send(&i, 1, MPI_INT, i, kTag, MPI_COMM_WORLD);
        return 1;
      }
      if (how == 0) MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
      if (how == 1) MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
      if (how == 2) {
        MPI_Probe(0, kTag, MPI_COMM_WORLD, &status);
        MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
      }
      if (how > 2) MPI_Irecv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &two[1]);
      if (how == 3) MPI_Wait(&two[1], &status);
      if (how == 4) MPI_Waitall(2, two, statuses);
      if (how == 5) MPI_Waitany(2, two, &index, &status);
      if (how == 6) MPI_Waitsome(2, two, &count, indices, statuses);
      if (how == 7) while (!flag) MPI_Test(&two[1], &flag, &status);
      check(value == rank, "the message that was waited for");
      return 1;
    default: return 0;
  }
}
static int wait_recv(void) { return waiting(0); }
static int wait_any(void) { return waiting(1); }
static int wait_probe(void) { return waiting(2); }
static int wait_wait(void) { return waiting(3); }
static int wait_waitall(void) { return waiting(4); }
static int wait_waitany(void) { return waiting(5); }
static int wait_waitsome(void) { return waiting(6); }
static int wait_test(void) { return waiting(7); }

/* The same where the waiting calls have labels: the others wait before anybody asks for a line. */
static void wait_at_label(int how) {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  ELC_ENTER();
  ELC_VAR(how);
  ELC_VAR(value);
  ELC_REQUEST(request);
  ELC_RESUME();
  ELC_AT(1);
  token_to(0);
  if (how == 0) {
    ELC_AT(2);
    MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
  } else if (how == 1) {
    ELC_AT(3);
    MPI_Probe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &status);
    ELC_AT(4);
    MPI_Recv(&value, 1, MPI_INT, status.MPI_SOURCE, kTag, MPI_COMM_WORLD, &status);
  } else {
    MPI_Irecv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &request);
    ELC_AT(5);
    MPI_Wait(&request, &status);
  }
  check(value == rank, "the message that was waited for at a label");
  ELC_END();
  ELC_Leave();
}

static void ask_at_label(void) {
  int to = 0;
  ELC_ENTER();
  ELC_VAR(to);
  ELC_RESUME();
  for (to = 1; to < ranks; to++) {
    ELC_AT(1);
    token_from(to);
  }
  ELC_AT(2);
  ELC_Checkpoint_now();
  watch_line(1);
  die_here();
  for (to = 1; to < ranks; to++) {
    ELC_AT(3);
    MPI_Send(&to, 1, MPI_INT, to, kTag, MPI_COMM_WORLD);
  }
  ELC_END();
  ELC_Leave();
}

static void labels(int how) {
  restarted = ELC_Recovering();
  ELC_ENTER();
  ELC_STATUS(status);
  ELC_RESUME();
  if (rank == 0) {
    ELC_AT(1);
    ask_at_label();
  } else {
    ELC_AT(2);
    wait_at_label(how);
  }
  ELC_END();
  ELC_Leave();
}

/* Sites after the call of the label before them, to which no restart could come back; then one with its own. */
static void stale_label(void) {
  restarted = ELC_Recovering();
  ELC_ENTER();
  ELC_VAR(a);
  ELC_VAR(b);
  ELC_RESUME();
  ELC_AT(1);
  MPI_Barrier(MPI_COMM_WORLD);
  a++;
  ELC_Checkpoint_now();
  MPI_Barrier(MPI_COMM_WORLD);
  look_often();
  check(ELC_Line() == 0, "no line at a site without a label");
  do {
    ELC_AT(2);
    ELC_Checkpoint_now();
  } while (!all_have_a_line());
  b++;
  die_here();
  check(a == 1 && b == 1, "nothing is done twice");
  ELC_END();
  ELC_Leave();
}

#if MPI_VERSION >= 3
/* The label of a matched receive is not that of the receive behind it, in which process 1 waits. */
static void spent_label(void) {
  int sent = 7;
  char packed[100];
  MPI_Message message;
  restarted = ELC_Recovering();
  ELC_ENTER();
  ELC_VAR(a);
  ELC_VAR(b);
  ELC_VAR(c);
  ELC_RESUME();
  if (rank == 1) {
    MPI_Mprobe(0, kTag, MPI_COMM_WORLD, &message, &status);
    ELC_AT(1);
    MPI_Mrecv(&a, 1, MPI_INT, &message, &status);
    MPI_Recv(&b, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD, &status);
  }
  if (rank == 2) {
    ELC_AT(4);
    MPI_Pack(&sent, 1, MPI_INT, packed, sizeof packed, &c, MPI_COMM_WORLD);
    MPI_Recv(&b, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD, &status);
    check(c == (int)sizeof sent, "what was packed once");
  }
  if (rank == 0) {
    MPI_Send(&sent, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
    ELC_AT(2);
    ELC_Checkpoint_now();
    look_often();
    check(restarted || ELC_Line() == 0, "no line at a receive without a label");
    MPI_Send(&sent, 1, MPI_INT, 1, kTag + 1, MPI_COMM_WORLD);
    MPI_Send(&sent, 1, MPI_INT, 2, kTag + 1, MPI_COMM_WORLD);
  }
  do { /* asked for again: the first one is refused if process 1 still has its message */
    ELC_AT(3);
    if (rank == 0) ELC_Checkpoint_now();
    else ELC_Checkpoint();
  } while (ELC_Line() == 0);
  die_here();
  if (rank == 1) check(a == 7 && b == 7, "what was received");
  ELC_END();
  ELC_Leave();
}
#endif

/* A datatype of addresses, from MPI_BOTTOM, of a, b and a block of the heap. */
static int *on_heap;
static MPI_Datatype addresses(void) {
  int lengths[3] = {1, 1, 2};
  MPI_Aint at[3];
  MPI_Datatype olds[3] = {MPI_INT, MPI_INT, MPI_INT}, type;
  MPI_Get_address(&a, &at[0]);
  MPI_Get_address(&b, &at[1]);
  MPI_Get_address(on_heap, &at[2]);
  MPI_Type_create_struct(3, lengths, at, olds, &type);
  MPI_Type_commit(&type);
  return type;
}

/* One of the distance of a and the heap, to be used from a. */
static MPI_Datatype distance(void) {
  int lengths[2] = {1, 1};
  MPI_Aint at[2];
  MPI_Datatype type;
  MPI_Get_address(&a, &at[0]);
  MPI_Get_address(on_heap, &at[1]);
  at[1] -= at[0];
  at[0] = 0;
  MPI_Type_create_hindexed(2, lengths, at, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/* A line has the type, and an address in an integer, as places. */
static void absolute(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Aint last = 0;
  restarted = ELC_Recovering();
  ELC_ENTER();
  ELC_VAR(a);
  ELC_VAR(b);
  ELC_PTR(on_heap);
  ELC_DATATYPE(type);
  ELC_AINT(last);
  ELC_RESUME();
  on_heap = ELC_new(ELC_INT, 2);
  type = addresses();
  MPI_Get_address(on_heap + 1, &last);
  a = 100 + rank;
  do {
    ELC_AT(1);
    ELC_Checkpoint_now();
  } while (!all_have_a_line());
  die_here();
  on_heap[0] = 200 + rank;
  on_heap[1] = 300 + rank;
  ELC_AT(2);
  MPI_Bcast(MPI_BOTTOM, 1, type, 0, MPI_COMM_WORLD);
  check(a == 100 && on_heap[0] == 200 && on_heap[1] == 300 && *(int *)last == 300, "what came to the addresses, in the restart");
  MPI_Type_free(&type);
  ELC_END();
  ELC_Leave();
}

/* While there is such a type no line is taken; when it is gone one is. */
static void far_apart(void) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  restarted = ELC_Recovering();
  ELC_ENTER();
  ELC_VAR(a);
  ELC_VAR(b);
  ELC_PTR(on_heap);
  ELC_DATATYPE(type);
  ELC_RESUME();
  on_heap = ELC_new(ELC_INT, 2);
  type = distance();
  ELC_AT(1);
  ELC_Checkpoint_now();
  ELC_AT(2);
  MPI_Barrier(MPI_COMM_WORLD);
  a = 100 + rank;
  on_heap[0] = 200 + rank;
  ELC_AT(3);
  MPI_Bcast(&a, 1, type, 0, MPI_COMM_WORLD);
  check(a == 100 && on_heap[0] == 200, "what came by the datatype");
  look_often();
  check(ELC_Line() == 0, "no line with a distance in it");
  MPI_Type_free(&type);
  do {
    ELC_AT(4);
    ELC_Checkpoint_now();
  } while (!all_have_a_line());
  die_here();
  check(a == 100 && on_heap[0] == 200, "what came by the datatype, in the restart");
  ELC_END();
  ELC_Leave();
}

/* The set-up makes the type, for its own addresses: a receive with it is pending when the line is taken. */
static int bottom(void) {
  int values[4] = {1, 2, 3, 4};
  switch (step) {
    case 0:
      if (rank == 1) MPI_Irecv(MPI_BOTTOM, 1, column, 0, kTag, MPI_COMM_WORLD, &first);
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      watch_line(1);
      die_here();
      if (rank == 0) MPI_Send(values, 4, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      if (rank == 1) {
        MPI_Wait(&first, &status);
        check(a == 1 && b == 2 && on_heap[0] == 3 && on_heap[1] == 4, "what came to the addresses");
      }
      return 1;
    default: return 0;
  }
}

/* ---- Finalize ---------------------------------------------------------------------------------------- */

static int finalize_one(void) {
  if (step > 0) return 0;
  if (rank == ranks - 1) ELC_Checkpoint_now();
  return 1;
}
static int finalize_all(void) {
  if (step > 0) return 0;
  ELC_Checkpoint_now();
  return 1;
}
/* A message that nobody receives is in transit over the line. */
static int finalize_unreceived(void) {
  if (step > 0) return 0;
  if (rank == 0) MPI_Send(&step, 1, MPI_INT, ranks - 1, kTag, MPI_COMM_WORLD);
  ELC_Checkpoint_now();
  return 1;
}
/* Process 0 asks while all others are in Finalize. */
static int finalize_late(void) {
  if (step > 0) return 0;
  if (rank == 0)
    for (int i = 0; i < 1000; i++) ELC_Checkpoint_now();
  return 1;
}

/* ---- Lines that cannot be taken ------------------------------------------------------------------------ */

/* The disk of the last process is full for a while. */
static int full_disk(void) {
  struct rlimit limit;
  int least, mine;
  if (step == 60) return 0;
  getrlimit(RLIMIT_FSIZE, &limit);
  if (step == 0) {
    signal(SIGXFSZ, SIG_IGN);
    limit.rlim_cur = 100000;
    if (rank == ranks - 1) setrlimit(RLIMIT_FSIZE, &limit);
  } else if (step == 30) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ELC_Checkpoint_now();
  MPI_Allreduce(&step, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  check(least == step, "the step of all");
  if (step == 30) check(ELC_Line() == 0, "no line on a full disk");
  if (step == 59) {  /* until there is one */
    do {
      ELC_Checkpoint_now();
      mine = (int)ELC_Line();
      MPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    } while (least == 0);
  }
  return 1;
}

/* Until the test has made the file "stop". */
static int run_on(void) {
  int stop;
  ELC_Checkpoint();
  stop = rank == 0 && access("stop", F_OK) == 0;
  ELC_ND(stop); /* another process may have gone on because it was not there yet */
  MPI_Bcast(&stop, 1, MPI_INT, 0, MPI_COMM_WORLD);
  b++;
  return !stop;
}

/* The control file orders a line while one is open. */
static int order_in_line(void) {
  char path[4096];
  FILE *order;
  double begin;
  int flag;
  if (step == 2) return 0;
  if (step == 1) return until_line(2), 1;
  if (rank != 0) return token_from(0), until_taken(), 1;
  ELC_Checkpoint_now();
  snprintf(path, sizeof path, "%s/control", getenv("ELC_DIR"));
  order = fopen(path, "w");
  check(order && fputs("line\n", order) >= 0 && fclose(order) == 0, "the control file");
  begin = MPI_Wtime(); /* the library looks several times a second */
  while (MPI_Wtime() < begin + 1) MPI_Iprobe(MPI_ANY_SOURCE, kTag + 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  for (int i = 1; i < ranks; i++) token_to(i);
  return 1;
}

static void adds_nothing(void *in, void *with, int *n, MPI_Datatype *type) { (void)in, (void)with, (void)n, (void)type; }

/* A line, then something that libELC does not follow, then a line that is refused; process `die` dies after
 * MPI_Finalize. */
static int refused_line(void) {
  static MPI_Op op;
  switch (step) {
    case 0: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 1: until_line(1); return 1;
    case 2: MPI_Op_create(adds_nothing, 1, &op); return 1;
    case 3: ELC_Checkpoint_now(); return 1;
    case 4: MPI_Op_free(&op); return 1;
    default: return 0;
  }
}

/* Two lines, then process `die` dies. */
static int two_lines(void) {
  if (step == 40) return 0;
  if (step == 10 || step == 20) ELC_Checkpoint_now();
  MPI_Allreduce(&step, &a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check(a == step * ranks, "the sum");
  if (step == 15) until_line(1);
  if (step == 25) until_line(2);
  if (step == 30) {
    MPI_Barrier(MPI_COMM_WORLD);
    die_here();
  }
  return 1;
}

static double much[1 << 19]; /* several chunks of a rank's file */

static void told_at_exit(void) { fprintf(stderr, "scenes: rank %d ends by exit\n", rank); }

/* The same of much data, with a file that is written before the lines and after them. */
static int much_data(void) {
  const int count = sizeof much / sizeof *much;
  if (step == 0 && rank == 0) output = ELC_fopen("log", "a");
  if (step == 0)
    for (int i = 0; i < count; i++) much[i] = rank + 0.5 * i;
  if (step == 39)
    for (int i = 0; i < count; i++) check(much[i] == rank + 0.5 * i, "the data");
  if (rank == 0 && (step == 5 || step == 28)) {
    fputs(step == 5 ? "before\n" : "after\n", output);
    fflush(output);
  }
  return two_lines();
}

/* A function that the set-up does not call has statics; the numbers that random() and its like draw are known before. */
static long numbers[3 * kMostSteps];

static void draw(long to[3]) {
  to[0] = rand();
  to[1] = random();
  to[2] = mrand48();
}

static void know_numbers(void) {
  for (int time = 0; time < 2; time++) {
    srandom(7);
    srand48(7);
    for (int i = 0; i < kMostSteps && time == 0; i++) draw(numbers + 3 * i);
  }
  ELC_RANDOM();
}

static void seventh_step(void) {
  static int calls = 0;
  static double steps[2][50];
  ELC_STATIC(calls);
  ELC_STATIC(steps);
  check(calls == step / 7, "the number of calls");
  for (int i = 0; i < calls; i++) check(steps[1][i] == 7 * i + 3, "the steps of the calls before");
  steps[1][calls++] = step;
}

static int statics(void) {
  long drawn[3];
  if (step == 60) return 0;
  if (step == 10 || step == 20 || step == 45) ELC_Checkpoint_now();
  draw(drawn);
  check(memcmp(drawn, numbers + 3 * step, sizeof drawn) == 0, "the random numbers");
  if (step % 7 == 3) seventh_step();
  MPI_Barrier(MPI_COMM_WORLD);
  if (step == 15) until_line(1);
  if (step == 25) until_line(2);
  if (step == 30) die_here();
  return 1;
}

/* An array grows from step to step. */
static int *list, length = 2;

static void begin_list(void) {
  const int64_t saved = ELC_Saved_count("list");
  check(ELC_Saved_count("listen") == -1 && ELC_Saved_count("") == -1, "a name that there is not");
  if (saved >= 0) length = (int)saved;
  list = calloc((size_t)length, sizeof *list);
  ELC_ARRAY(list, length);
}

static int grown(void) {
  if (step == 20) return 0;
  check(ELC_Saved_count("list") == -1, "a count outside of the set-up");
  check(length == 2 + 3 * step, "the length of the array");
  for (int i = 2; i < length; i++) check(list[i] == i + rank, "the array");
  if (step == 10) ELC_Checkpoint_now();
  ELC_Unregister("list");
  list = realloc(list, (size_t)(length + 3) * sizeof *list);
  for (int i = length; i < length + 3; i++) list[i] = i + rank;
  length += 3;
  ELC_ARRAY(list, length);
  MPI_Barrier(MPI_COMM_WORLD);
  if (step == 12) until_line(1);
  if (step == 15) die_here();
  return 1;
}

/* Children come and go while lines are taken: they end with exit(), and the library is none of theirs. */
static void have_child(void) {
  int code = 0;
  fflush(NULL);
  const pid_t child = fork();
  check(child >= 0, "fork");
  if (child == 0) {
    ELC_Checkpoint_now();
    exit(ELC_Line() == 0 ? 7 : 8);
  }
  check(waitpid(child, &code, 0) == child && WIFEXITED(code) && WEXITSTATUS(code) == 7, "the end of the child");
}

static int forks(void) {
  if (step == 6) return 0;
  ELC_Checkpoint_now();
  while (ELC_Line() <= (unsigned)step) {
    have_child();
    for (int i = rand() % 4; i >= 0; i--) ELC_Checkpoint();
  }
  if (step == 2) check(system("exit 3") >> 8 == 3, "system");
  MPI_Barrier(MPI_COMM_WORLD);
  if (step == 4) die_here();
  return 1;
}

/* ---- Messages in transit -------------------------------------------------------------------------------- */

/* 0 sends before its checkpoint, 1 receives after the line; with ELC_DRAIN=wait only that lets it commit. */
static int transit(void) {
  switch (step) {
    case 0:
      a = 1000 + rank;
      if (rank == 2) memset(&status, 0xff, sizeof status); /* one that nobody has set */
      if (rank == 0) MPI_Send(&a, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      if (rank == 0 && getenv("ELC_DRAIN") != NULL) {
        for (int i = 0; i < 1000; i++) ELC_Checkpoint();
        check(restarted || ELC_Line() == 0, "no line before the message was received");
        token_to(1);
      }
      if (rank == 1) {
        if (getenv("ELC_DRAIN") != NULL) token_from(0);
        else if (getenv("ELC_MAX_TRANSIT") == NULL) watch_line(1);
        MPI_Recv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
        check(b == 1000, "the message in transit");
      }
      return 1;
    case 3:
      if (getenv("ELC_MAX_TRANSIT") != NULL) { /* until the test has seen what it waits for */
        for (int flag; access("stop", F_OK) != 0;)
          MPI_Iprobe(MPI_ANY_SOURCE, kTag + 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        return 1;
      }
      watch_line(1);
      die_here();
      return 1;
    default: return 0;
  }
}

/* Trap 1: m1 and m2 of one class go to the receives A and B; 0 has its checkpoint between them, 1 after B. */
static int trap1(void) {
  switch (step) {
    case 0:
      if (rank == 1) {
        MPI_Irecv(&a, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &first);
        MPI_Irecv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &second);
      }
      c = 11;
      if (rank == 0) MPI_Send(&c, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); return 1;
    case 2:
      c = 22;
      if (rank == 0) MPI_Send(&c, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      if (rank == 1) MPI_Wait(&second, &status);
      return 1;
    case 3: if (rank != 0) until_taken(); return 1;
    case 4:
      watch_line(1);
      die_here();
      if (rank == 1) {
        MPI_Wait(&first, &status);
        check(a == 11 && b == 22, "the two messages of one class");
      }
      return 1;
    default: return 0;
  }
}

/* One call completes a receive and an earlier wildcard that stands behind it in the array. */
static int wildcard_behind(int together) {
  int flag = 0, count, indices[2];
  MPI_Request two[2];
  MPI_Status statuses[2];
  switch (step) {
    case 0:
      if (rank == 0) {
        MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &two[1]);
        MPI_Irecv(&b, 1, MPI_INT, 2, kTag, MPI_COMM_WORLD, &two[0]);
        token_to(1);
        token_from(2);
        if (together) MPI_Testall(2, two, &flag, statuses);
        else MPI_Testsome(2, two, &count, indices, statuses);
        check(together ? flag : count == 2, "both are complete");
        check(a == 1 && b == 2 && statuses[0].MPI_SOURCE == 2 && statuses[1].MPI_SOURCE == 1, "who has sent them");
      }
      if (rank == 1) token_from(0);
      if (rank == 2) token_from(1);
      if (rank > 0) MPI_Ssend(&rank, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
      if (rank > 0) token_to((rank + 1) % ranks);
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      watch_line(1);
      die_here();
      return 1;
    default: return 0;
  }
}
static int wildcard_behind_all(void) { return wildcard_behind(1); }
static int wildcard_behind_some(void) { return wildcard_behind(0); }

/* Trap 2: a posted receive holds a large message in transit; a later one of its class is small. */
static int trap2(void) {
  switch (step) {
    case 0:
      if (rank == 1) MPI_Irecv(large, kLarge, MPI_INT, 0, kTag, MPI_COMM_WORLD, &first);
      if (rank == 0) {
        for (int i = 0; i < kLarge; i++) large[i] = i;
        MPI_Isend(large, kLarge, MPI_INT, 1, kTag, MPI_COMM_WORLD, &first);
      }
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      c = 33;
      if (rank == 0) MPI_Send(&c, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      watch_line(1);
      die_here();
      if (rank == 1) MPI_Recv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
      if (rank < 2) MPI_Wait(&first, &status);
      if (rank == 1) {
        check(b == 33, "the small message behind the large one");
        for (int i = 0; i < kLarge; i++) check(large[i] == i, "the large message");
      }
      return 1;
    default: return 0;
  }
}

/* Trap 4: a probe shows a message, the checkpoint, the receive; the sender drew the tag after its own checkpoint. */
static int trap4(void) {
  switch (step) {
    case 0: if (rank == 0) ELC_Checkpoint_now(); return 1;
    case 1:
      if (rank == 0) {
        FILE *random = fopen("/dev/urandom", "rb");
        int tag = random == NULL ? 1 : getc(random) % 100;
        if (random != NULL) fclose(random);
        ELC_ND(tag);
        MPI_Send(&tag, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
      }
      if (rank == 1) {
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        a = status.MPI_TAG;
      }
      return 1;
    case 2: if (rank != 0) until_taken(); return 1;
    case 3:
      watch_line(1);
      die_here();
      if (rank == 1) {
        MPI_Recv(&b, 1, MPI_INT, 0, a, MPI_COMM_WORLD, &status);
        check(a == b, "the message that the probe had shown");
      }
      return 1;
    default: return 0;
  }
}

/* Process 1 has an orphan of process 0, which does something else after the restart before it comes to that. */
static int strays(void) {
  switch (step) {
    case 0: if (rank == 0) ELC_Checkpoint_now(); return 1;
    case 1:
      if (rank == 0) {
        int flag;
        if (restarted) MPI_Iprobe(MPI_ANY_SOURCE, kTag + 50, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        a = 5;
        ELC_ND(a);
        MPI_Send(&a, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      }
      if (rank == 1) MPI_Recv(&a, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
      return 1;
    case 2: if (rank != 0) until_taken(); return 1;
    case 3: watch_line(1); die_here(); return 1;
    default: return 0;
  }
}

/* Trap 8: a ready send to a receive that the pending queue has answered. */
static int trap8(void) {
  switch (step) {
    case 0:
      c = 44;
      if (rank == 0) MPI_Send(&c, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      watch_line(1);
      die_here();
      if (rank == 1) {
        MPI_Irecv(&a, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &first);  /* gets the message in transit */
        token_to(0);
        MPI_Recv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
        MPI_Wait(&first, &status);
        check(a == 44 && b == 55, "the ready message");
      }
      if (rank == 0) {
        token_from(1);
        c = 55;
        MPI_Rsend(&c, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      }
      return 1;
    default: return 0;
  }
}

/* Trap 10: a message on a communicator that the receiver had not made at its checkpoint; then one that is freed
 * before the line at process 0 alone. Process 0 takes its checkpoints late. */
static int trap10(int line) {
  switch (step) {
    case 0: case 5:
      if (rank != 0) ELC_Checkpoint_now();
      ready = 0;
      return 1;
    case 1: MPI_Comm_dup(MPI_COMM_WORLD, &other); return 1;
    case 2:
      c = 66;
      if (rank == 0) MPI_Send(&c, 1, MPI_INT, 1, kTag, other);
      return 1;
    case 3: case 7: if (rank == 0) until_taken(); return 1;
    case 4:
      watch_line(1);
      if (line == 1) die_here();
      if (rank == 1) {
        MPI_Recv(&b, 1, MPI_INT, 0, kTag, other, &status);
        check(b == 66, "the message on the new communicator");
      }
      return 1;
    case 6: MPI_Comm_free(&other); return 1;
    case 8:
      watch_line(2);
      if (line == 2) die_here();
      check(other == MPI_COMM_NULL, "the communicator that was freed");
      MPI_Comm_dup(MPI_COMM_WORLD, &other);
      MPI_Allreduce(&rank, &a, 1, MPI_INT, MPI_MAX, other);
      check(a == ranks - 1, "the communicator after it");
      MPI_Comm_free(&other);
      return 1;
    default: return 0;
  }
}
static int trap10_made(void) { return trap10(1); }
static int trap10_freed(void) { return trap10(2); }

/* Process 1 has logged what a probe showed, on which nobody depends: process 0 takes another way in the restart. The
 * log is kept because process 2 has an orphan; process 1 waits for the logged message when all are released. */
static int until_released(int barrier) {
  switch (step) {
    case 0:
      if (rank == 2 && !resumed) {
        MPI_Recv(&a, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (access("shown", F_OK) != 0) sched_yield();
      }
      if (rank == 0) ELC_Checkpoint_now(); else until_taken();
      return 1;
    case 1:
      if (rank == 0) {
        MPI_Send(&a, 1, MPI_INT, 2, kTag, MPI_COMM_WORLD);
        MPI_Send(&a, 1, MPI_INT, 1, restarted ? kTag + 2 : kTag + 1, MPI_COMM_WORLD);
      }
      if (rank == 1) {
        MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        check(status.MPI_TAG == (restarted ? kTag + 2 : kTag + 1), "the tag that was sent");
        MPI_Recv(&a, 1, MPI_INT, 0, status.MPI_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        fclose(fopen("shown", "w"));
      }
      if (barrier) MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 2: watch_line(1); die_here(); return 1;
    default: return 0;
  }
}
static int released(void) { return until_released(0); }
/* The others wait for process 1 in a barrier, where they do not look: their votes have to come to it from there. */
static int released_past(void) { return until_released(1); }

/* Process 2 has logged a wildcard receive and goes into a barrier; process 1, whose orphan keeps the log, can be
 * released then; process 0, which has heard of it, sends synchronously to that receive before it comes to the barrier.
 * Process 2 has nothing to look by: its receive may wait for the end of the barrier, the others may not wait for it. */
static int released_apart(void) {
  const char *waits = restarted ? "waits.again" : "waits";
  switch (step) {
    case 0:
      if (rank == 0 && !resumed) {
        MPI_Recv(&a, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        while (access(waits, F_OK) != 0) sched_yield();
      }
      if (rank == 0) until_taken(); else ELC_Checkpoint_now();
      return 1;
    case 1:
      if (rank == 1) {
        while (restarted && access(waits, F_OK) != 0) sched_yield();
        MPI_Send(&a, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
        look_often();
        token_to(0);
      }
      if (rank == 0) {
        token_from(1);
        look_often();
        a = 77;
        MPI_Ssend(&a, 1, MPI_INT, 2, kTag, MPI_COMM_WORLD);
      }
      if (rank == 2) {
        if (restarted) look_often();
        MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &first);
        fclose(fopen(waits, "w"));
      }
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 2) {
        MPI_Wait(&first, &status);
        check(b == 77, "the synchronous message");
      }
      return 1;
    case 2: watch_line(1); die_here(); return 1;
    default: return 0;
  }
}

/* Trap 11: two messages in transit of strided type; one is received by a blocking receive, another follows. */
static int trap11(void) {
  switch (step) {
    case 0:
      for (int i = 0; i < 3 * 64; i++) strided[i] = rank == 0 ? i : -1;
      if (rank == 0) MPI_Send(strided, 1, column, 1, kTag, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      watch_line(1);
      die_here();
      if (rank == 0) {
        for (int i = 0; i < 3 * 64; i++) strided[i] = 1000 + i;
        MPI_Send(strided, 1, column, 1, kTag, MPI_COMM_WORLD);
      }
      if (rank == 1) {
        MPI_Recv(strided, 1, column, 0, kTag, MPI_COMM_WORLD, &status);
        for (int i = 0; i < 3 * 64; i++) check(strided[i] == (i % 3 == 0 ? i : -1), "the message in transit, and its gaps");
        MPI_Recv(strided, 1, column, 0, kTag, MPI_COMM_WORLD, &status);
        for (int i = 0; i < 3 * 64; i++) check(strided[i] == (i % 3 == 0 ? 1000 + i : -1), "the message behind it");
      }
      return 1;
    default: return 0;
  }
}

/* Files of more than 4 GiB, which take no room: one is read, one is appended to. */
static int large_file(void) {
  const off_t far = (off_t)5 << 30;
  FILE *made;
  struct stat about;
  switch (step) {
    case 0:
      if (rank != 0) return 1;
      made = fopen("large", "w");
      check(made != NULL && fseeko(made, far, SEEK_SET) == 0 && fputs("ab", made) >= 0 && fclose(made) == 0,
            "a large file");
      input = ELC_fopen("large", "r");
      output = ELC_fopen("large", "a");
      check(fseeko(input, far, SEEK_SET) == 0 && getc(input) == 'a' && fputs("c", output) >= 0, "its end");
      return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      watch_line(1);
      if (rank != 0) return 1;
      fputs("d", output);
      fflush(output);
      die_here();
      check(getc(input) == 'b' && getc(input) == 'c' && getc(input) == 'd' && getc(input) == EOF, "what was read");
      check(ELC_fcloseall() == 0 && stat("large", &about) == 0 && about.st_size == far + 4, "what was appended");
      return 1;
    default: return 0;
  }
}

/* ---- Errors are MPI's own ---------------------------------------------------------------------------------- */

static int errors; /* calls of the error handler */

static void on_error(MPI_Comm *comm, int *code, ...) {
  (void)comm, (void)code;
  errors++;
}

static void own_error_handler(void) {
  MPI_Errhandler handler;
#if MPI_VERSION >= 2
  MPI_Comm_create_errhandler(on_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
#else
  MPI_Errhandler_create(on_error, &handler);
  MPI_Errhandler_set(MPI_COMM_WORLD, handler);
#endif
  errors = 0;
}

static int class_of(int code) {
  int kind = -1;
  MPI_Error_class(code, &kind);
  return kind;
}

/* The call fails with this class, and the handler is called once. (LAM does not call it from outside.) */
static void failed(int code, int kind, const char *call) {
#ifdef LAM_MPI
  errors = 1;
#endif
  if (errors != 1 || class_of(code) != kind)
    fprintf(stderr, "scenes: class %d, not %d, %d calls of the handler\n", class_of(code), kind, errors);
  check(errors == 1 && class_of(code) == kind, call);
  errors = 0;
}
#define FAILS(call, kind) failed(call, kind, #call)

static void wrong_arguments(void) {
  int flag, one = 0, two = 0;
  MPI_Request request;
  MPI_Comm world = MPI_COMM_WORLD;
  FAILS(MPI_Recv(&one, 1, MPI_INT, 0, -77, world, &status), MPI_ERR_TAG);
  FAILS(MPI_Recv(&one, 1, MPI_INT, ranks + 5, kTag, world, &status), MPI_ERR_RANK);
  FAILS(MPI_Recv(&one, -1, MPI_INT, 0, kTag, world, &status), MPI_ERR_COUNT);
  FAILS(MPI_Recv(&one, 1, MPI_DATATYPE_NULL, 0, kTag, world, &status), MPI_ERR_TYPE);
  FAILS(MPI_Recv(&one, 1, MPI_INT, 0, kTag, MPI_COMM_NULL, &status), MPI_ERR_COMM);
  FAILS(MPI_Irecv(&one, 1, MPI_INT, 0, -77, world, &request), MPI_ERR_TAG);
  FAILS(MPI_Irecv(&one, 1, MPI_INT, ranks + 5, kTag, world, &request), MPI_ERR_RANK);
  FAILS(MPI_Irecv(&one, -1, MPI_INT, 0, kTag, world, &request), MPI_ERR_COUNT);
  FAILS(MPI_Irecv(&one, 1, MPI_DATATYPE_NULL, 0, kTag, world, &request), MPI_ERR_TYPE);
  FAILS(MPI_Irecv(&one, 1, MPI_INT, 0, kTag, MPI_COMM_NULL, &request), MPI_ERR_COMM);
  FAILS(MPI_Probe(0, -77, world, &status), MPI_ERR_TAG);
  FAILS(MPI_Probe(-77, kTag, world, &status), MPI_ERR_RANK);
  FAILS(MPI_Iprobe(0, -77, world, &flag, &status), MPI_ERR_TAG);
  FAILS(MPI_Iprobe(-77, kTag, world, &flag, &status), MPI_ERR_RANK);
  FAILS(MPI_Send(&one, 1, MPI_INT, 0, -77, world), MPI_ERR_TAG);
  FAILS(MPI_Send(&one, 1, MPI_INT, ranks + 5, kTag, world), MPI_ERR_RANK);
  FAILS(MPI_Ssend(&one, -1, MPI_INT, 0, kTag, world), MPI_ERR_COUNT);
  FAILS(MPI_Rsend(&one, 1, MPI_DATATYPE_NULL, 0, kTag, world), MPI_ERR_TYPE);
  FAILS(MPI_Isend(&one, 1, MPI_INT, 0, -77, world, &request), MPI_ERR_TAG);
  FAILS(MPI_Issend(&one, 1, MPI_INT, ranks + 5, kTag, world, &request), MPI_ERR_RANK);
  FAILS(MPI_Isend(&one, 1, MPI_INT, 0, kTag, MPI_COMM_NULL, &request), MPI_ERR_COMM);
  FAILS(MPI_Sendrecv(&one, 1, MPI_INT, 0, kTag, &two, 1, MPI_INT, 0, -77, world, &status), MPI_ERR_TAG);
  FAILS(MPI_Sendrecv(&one, 1, MPI_INT, 0, -77, &two, 1, MPI_INT, 0, kTag, world, &status), MPI_ERR_TAG);
  FAILS(MPI_Sendrecv(&one, 1, MPI_INT, ranks + 5, kTag, &two, 1, MPI_INT, 0, kTag, world, &status), MPI_ERR_RANK);
  FAILS(MPI_Sendrecv_replace(&one, 1, MPI_INT, 0, -77, 0, kTag, world, &status), MPI_ERR_TAG);
  request = MPI_REQUEST_NULL;
  FAILS(MPI_Request_free(&request), MPI_ERR_REQUEST);
#ifndef LAM_MPI /* which says MPI_ERR_ARG */
  FAILS(MPI_Cancel(&request), MPI_ERR_REQUEST);
#endif
}

/* Process 0 sends two numbers where process 1 wants one, then one behind them, which is wanted. */
enum { kRecv, kSendrecv, kWait, kTest, kWaitall, kTestall, kWaitany, kWaitsome, kTestsome, kManners };

static void one_too_long(int manner) {
  const int two[2] = {5, 6}, behind = 7;
  int value = 0, after = 0, flag = 0, index = -1, count = 0, indices[2], code = MPI_SUCCESS;
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[2];
  if (rank == 0) {
    MPI_Send((void *)two, 2, MPI_INT, 1, kTag, MPI_COMM_WORLD);
    MPI_Send((void *)&behind, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
    token_from(1);
  }
  if (rank != 1) return;
  /* What fails takes no message. */
  MPI_Probe(0, kTag, MPI_COMM_WORLD, statuses);
  FAILS(MPI_Sendrecv((void *)&behind, 1, MPI_INT, ranks + 5, kTag, &value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, statuses),
        MPI_ERR_RANK);
  statuses[0].MPI_ERROR = statuses[1].MPI_ERROR = 4711;
  if (manner == kRecv) {
    FAILS(MPI_Recv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, statuses), MPI_ERR_TRUNCATE);
  } else if (manner == kSendrecv) {
    FAILS(MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, kTag, &value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, statuses),
          MPI_ERR_TRUNCATE);
  } else {
    MPI_Irecv(&value, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &both[0]);
  }
  if (manner == kWait) FAILS(MPI_Wait(&both[0], statuses), MPI_ERR_TRUNCATE);
  if (manner == kTest) {
    while (!flag) code = MPI_Test(&both[0], &flag, statuses);
    FAILS(code, MPI_ERR_TRUNCATE);
  }
  if (manner == kWaitany) {
    FAILS(MPI_Waitany(2, both, &index, statuses), MPI_ERR_TRUNCATE);
    check(index == 0, "the index of the one that was too long");
  }
  if (manner < kWaitall || manner == kWaitany) check(statuses[0].MPI_ERROR == 4711, "MPI_ERROR, which is left alone");
  if (manner == kWaitsome || manner == kTestsome) {
    while (count == 0)
      code = manner == kWaitsome ? MPI_Waitsome(2, both, &count, indices, statuses)
                                 : MPI_Testsome(2, both, &count, indices, statuses);
    FAILS(code, MPI_ERR_IN_STATUS);
    check(count == 1 && indices[0] == 0 && class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE, "the error in the status");
  }
  if (manner == kWaitall || manner == kTestall) {
    MPI_Irecv(&after, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &both[1]);
    if (manner == kWaitall) {
      code = MPI_Waitall(2, both, statuses);
    } else {
      while (!flag && code == MPI_SUCCESS) code = MPI_Testall(2, both, &flag, statuses);
    }
    FAILS(code, MPI_ERR_IN_STATUS);
    check(class_of(statuses[0].MPI_ERROR) == MPI_ERR_TRUNCATE, "the error in the first status");
    if (statuses[1].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&both[1], &statuses[1]);
    else check(statuses[1].MPI_ERROR == MPI_SUCCESS, "no error in the second status");
  } else {
    MPI_Recv(&after, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, statuses);
  }
  check(both[0] == MPI_REQUEST_NULL && both[1] == MPI_REQUEST_NULL, "the requests, which are over");
  check(after == 7 && errors == 0, "the message behind the one that was too long");
  token_to(0);
}

/* Whether the library works in this run. */
static int with_library(void) {
  const char *dir = getenv("ELC_DIR");
  return dir != NULL && *dir != '\0';
}

/* A line that process 0 asks for; without the library, nothing. */
static void asked_by_first(void) {
  if (!with_library()) return;
  if (rank == 0) ELC_Checkpoint_now(); else until_taken();
}

/* The same in all situations that the library can be in: idle, in a window, with messages in the queue, in a replay. */
static int wrong_calls(void) {
  switch (step) {
    case 0: case 1: case 2: case 3: case 4: case 5: case 6: case 7: case 8:
      wrong_arguments();
      one_too_long(step);
      return 1;
    case 9:  /* in transit: too long for its receive, and one behind it */
      a = 5, b = 6;
      strided[0] = 5, strided[1] = 6;
      if (rank == 0) MPI_Send(strided, 2, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      if (rank == 0) MPI_Send(&b, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 10: asked_by_first(); return 1;
    case 11:
      wrong_arguments();
      if (with_library()) watch_line(1);
      die_here();
      wrong_arguments();
      if (rank == 1) {
        FAILS(MPI_Recv(&a, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
        MPI_Recv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
        check(a == 5 && b == 6 && errors == 0, "the two messages in transit");
      }
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 12: case 13: case 14: case 15: case 16: case 17: case 18: case 19: case 20:
      one_too_long(step - 12);
      return 1;
    case 21: ready = 0; if (rank == 0) ELC_Checkpoint_now(); return 1;
    case 22: if (with_library()) until_line(2); return 1;
    default: return 0;
  }
}

/* ---- Requests ------------------------------------------------------------------------------------------------ */

enum { kPersistent = 3 };

/* One round of persistent requests from process 0 to 1, whose numbers begin with `from`. */
static void persistent_round(MPI_Request *requests, int *values, int from) {
  int flag, index, count, indices[kPersistent];
  MPI_Status statuses[kPersistent];
  for (int i = 0; i < kPersistent; i++) values[i] = rank == 0 ? from + i : -1;
  /* Inactive: complete for one, nothing for many. */
  status.MPI_SOURCE = 7;
  MPI_Wait(&requests[0], &status);
  check(status.MPI_SOURCE == MPI_ANY_SOURCE, "the empty status of an inactive request");
  MPI_Test(&requests[0], &flag, &status);
  check(flag == 1, "an inactive request, which is complete");
  MPI_Waitany(kPersistent, requests, &index, &status);
  check(index == MPI_UNDEFINED, "inactive requests in Waitany");
  MPI_Testany(kPersistent, requests, &index, &flag, &status);
  check(index == MPI_UNDEFINED && flag == 1, "inactive requests in Testany");
  MPI_Waitsome(kPersistent, requests, &count, indices, statuses);
  check(count == MPI_UNDEFINED, "inactive requests in Waitsome");
  MPI_Testsome(kPersistent, requests, &count, indices, statuses);
  check(count == MPI_UNDEFINED, "inactive requests in Testsome");
  MPI_Waitall(kPersistent, requests, statuses);
  MPI_Testall(kPersistent, requests, &flag, statuses);
  check(flag == 1, "inactive requests in Testall");
  MPI_Start(&requests[1]);
  MPI_Waitany(kPersistent, requests, &index, &status);
  check(index == 1, "the one that is active");
  MPI_Waitany(kPersistent, requests, &index, &status);
  check(index == MPI_UNDEFINED, "it is inactive again");
  MPI_Start(&requests[0]);
  MPI_Start(&requests[2]);
  switch (from % 4) {
    case 0: MPI_Waitall(kPersistent, requests, statuses); break;
    case 1: for (flag = 0; !flag;) MPI_Testall(kPersistent, requests, &flag, statuses); break;
    case 2:
      for (int done = 0; done < 2; done += count) MPI_Waitsome(kPersistent, requests, &count, indices, statuses);
      break;
    default:
      MPI_Wait(&requests[2], &status);
      for (flag = 0; !flag;) MPI_Test(&requests[0], &flag, &status);
  }
  for (int i = 0; i < kPersistent; i++) {
    check(values[i] == from + i, "the number of a persistent request");
    check(requests[i] != MPI_REQUEST_NULL, "a persistent request that stays");
  }
}

static void make_persistent(MPI_Request *requests, int *values) {
  for (int i = 0; i < kPersistent; i++) {
    if (rank != 0) MPI_Recv_init(&values[i], 1, MPI_INT, 0, kTag + i, MPI_COMM_WORLD, &requests[i]);
    else if (i == 0) MPI_Send_init(&values[i], 1, MPI_INT, 1, kTag + i, MPI_COMM_WORLD, &requests[i]);
    else if (i == 1) MPI_Ssend_init(&values[i], 1, MPI_INT, 1, kTag + i, MPI_COMM_WORLD, &requests[i]);
    else MPI_Rsend_init(&values[i], 1, MPI_INT, 1, kTag + i, MPI_COMM_WORLD, &requests[i]);
  }
}

static int persistent(void) {
  static MPI_Request requests[kPersistent];
  static int values[kPersistent];
  switch (step) {
    case 0: case 8:
      if (rank < 2) make_persistent(requests, values);
      return 1;
    case 1: case 2: case 3: case 4: case 10:
      if (rank < 2) persistent_round(requests, values, 4 * 10 * step + step);
      return 1;
    case 5:  /* refused */
      if (rank == 0 && with_library()) ELC_Checkpoint_now();
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank < 2)
        for (int i = 0; i < kPersistent; i++) MPI_Request_free(&requests[i]);
      return 1;
    case 6:  /* in transit: what the round of step 9 receives */
      for (int i = 0; rank == 0 && i < kPersistent; i++) {
        a = 4 * 10 * 9 + 9 + i;
        MPI_Send(&a, 1, MPI_INT, 1, kTag + i, MPI_COMM_WORLD);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 7:
      if (rank == 0 && with_library()) ELC_Checkpoint_now();
      if (with_library()) until_line(2);
      return 1;
    case 9: if (rank == 1) persistent_round(requests, values, 4 * 10 * step + step); return 1;
    case 11:
      if (rank < 2)
        for (int i = 0; i < kPersistent; i++) MPI_Request_free(&requests[i]);
      return 1;
    case 12: die_here(); return 1;
    default: return 0;
  }
}

/* Receives that are cancelled: before the line, and pending in it. */
static int cancelled_receives(void) {
  int flag = 0;
  switch (step) {
    case 0:
      if (rank == 0) {
        token_from(1);
        c = 11;
        MPI_Send(&c, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      }
      if (rank == 1) {
        MPI_Irecv(&a, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &first);
        MPI_Cancel(&first);
        MPI_Irecv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &second);
        token_to(0);
        MPI_Wait(&second, &status);
        check(b == 11, "the message, which is not for the one that was cancelled");
        MPI_Wait(&first, &status);
        MPI_Test_cancelled(&status, &flag);
        check(flag && first == MPI_REQUEST_NULL, "the receive that was cancelled");
      }
      return 1;
    case 1:
      c = 22;
      if (rank == 0) MPI_Send(&c, 1, MPI_INT, 1, kTag + 2, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 1) MPI_Irecv(&a, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD, &first);
      if (rank == 1) MPI_Irecv(&b, 1, MPI_INT, 0, kTag + 2, MPI_COMM_WORLD, &second);
      return 1;
    case 2: asked_by_first(); return 1;
    case 3:
      if (with_library()) watch_line(1);
      die_here();
      if (rank == 1) {
        MPI_Test_cancelled(&status, &flag);
        check(flag, "the status of the receive that was cancelled, behind the line");
        flag = 0;
#if MPI_VERSION >= 2
        MPI_Request_get_status(first, &flag, &status);
        check(!flag, "a receive that has nothing to receive yet");
        while (!flag) MPI_Request_get_status(second, &flag, &status);
        check(status.MPI_SOURCE == 0 && status.MPI_TAG == kTag + 2 && second != MPI_REQUEST_NULL, "what is known of a message");
#endif
        MPI_Wait(&second, &status);
        check(b == 22, "the message in transit");
        MPI_Cancel(&first);
        MPI_Wait(&first, &status);
        MPI_Test_cancelled(&status, &flag);
        check(flag, "the pending receive that was cancelled");
      }
      MPI_Barrier(MPI_COMM_WORLD);
      for (int i = 0; i < 3; i++) {
        c = 33 + i;
        if (rank == 0) MPI_Send(&c, 1, MPI_INT, 1, kTag + i, MPI_COMM_WORLD);
        if (rank == 1) MPI_Recv(&d, 1, MPI_INT, 0, kTag + i, MPI_COMM_WORLD, &status);
        check(rank != 1 || d == 33 + i, "a message after all");
      }
      return 1;
    case 4: ready = 0; if (rank == 0 && with_library()) ELC_Checkpoint_now(); return 1;
    case 5: if (with_library()) until_line(2); return 1;
    default: return 0;
  }
}

/* The line looks into the first of two receives that process 0 waits for together, and commits before the second message
 * is sent. */
static int wait_looked_at(void) {
  MPI_Request two[2];
  MPI_Status statuses[2];
  int count = 0;
  switch (step) {
    case 0:
      c = 11;
      if (rank == 0) MPI_Irecv(&a, 1, MPI_INT, MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &first);
      if (rank == 0) MPI_Irecv(&b, 1, MPI_INT, 1, kTag + 1, MPI_COMM_WORLD, &second);
      if (rank == 1) MPI_Send(&c, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD);
      return 1;
    case 1:
      if (rank == 2 && !resumed) token_from(0);
      if (rank == 0) ELC_Checkpoint_now(); else until_taken();
      return 1;
    case 2:
      if (rank == 0) {
        token_to(2);
        two[0] = first;
        two[1] = second;
        MPI_Waitall(2, two, statuses);
        first = second = MPI_REQUEST_NULL;
        MPI_Get_count(&statuses[0], MPI_INT, &count);
        check(a == 11 && statuses[0].MPI_SOURCE == 1 && statuses[0].MPI_TAG == kTag && count == 1, "the first message");
        check(b == 22 && statuses[1].MPI_SOURCE == 1 && statuses[1].MPI_TAG == kTag + 1, "the second message");
      }
      if (rank == 1) {
        watch_line(1);
        die_here();
        c = 22;
        MPI_Send(&c, 1, MPI_INT, 0, kTag + 1, MPI_COMM_WORLD);
      }
      return 1;
    default: return 0;
  }
}

/* A message of more than 2 GiB is in transit; others are exchanged in place. */
static int huge_message(void) {
  const int doubles = (1 << 28) + 1;
  static double *out;
  double *in;
  int count = 0;
  switch (step) {
    case 0:
      if (rank != 0) return 1;
      out = calloc((size_t)doubles, sizeof *out);
      check(out != NULL, "memory");
      out[0] = 1, out[doubles - 1] = 2;
      MPI_Isend(out, doubles, MPI_DOUBLE, 1, kTag, MPI_COMM_WORLD, &first);
      return 1;
    case 1: asked_by_first(); return 1;
    case 2:
      if (with_library()) watch_line(1);
      if (rank == 0) MPI_Wait(&first, &status);
      free(out);
      out = NULL;
      die_here();
      in = calloc((size_t)doubles, sizeof *in);
      if (rank == 1) {
        MPI_Recv(in, doubles, MPI_DOUBLE, 0, kTag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        check(count == doubles && in[0] == 1 && in[1] == 0 && in[doubles - 1] == 2, "the message of more than 2 GiB");
      }
      if (rank == 2) {
        in[doubles - 1] = 3;
        MPI_Sendrecv_replace(in, doubles, MPI_DOUBLE, 2, kTag, 2, kTag, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        check(count == doubles && in[doubles - 1] == 3, "what is replaced by itself");
      }
      free(in);
      return 1;
    default: return 0;
  }
}

/* Nothing at all is sent and received, in a run and in a replay: process 2 knows before its checkpoint what follows. */
static int empty_messages(void) {
  switch (step) {
    case 0:
      if (rank == 2 && !resumed) MPI_Recv(&a, 0, MPI_INT, 1, kTag, MPI_COMM_WORLD, &status);
      if (rank == 0) ELC_Checkpoint_now(); else until_taken();
      return 1;
    case 1:
      for (int to = 0; rank == 1 && to < 3; to += 2) MPI_Send(&a, 0, MPI_INT, to, kTag, MPI_COMM_WORLD);
      if (rank == 0) MPI_Recv(&a, 0, MPI_INT, 1, kTag, MPI_COMM_WORLD, &status);
      MPI_Sendrecv_replace(&b, 0, MPI_INT, (rank + 1) % ranks, kTag, (rank + ranks - 1) % ranks, kTag, MPI_COMM_WORLD, &status);
      return 1;
    case 2: watch_line(1); die_here(); return 1;
    default: return 0;
  }
}

#if MPI_VERSION >= 3
/* Messages taken by matched probes: of MPI, of the pending queue, of nobody, too long; and no line in between. */
static void match_two(int from) {
  MPI_Message message;
  MPI_Request request;
  int flag = 0, count = 0;
  if (rank != 1) return;
  status.MPI_ERROR = 4711;
  MPI_Mprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &message, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  check(status.MPI_SOURCE == 0 && status.MPI_TAG == kTag && count == 1 && status.MPI_ERROR == 4711, "the probe");
  MPI_Iprobe(0, kTag, MPI_COMM_WORLD, &flag, &status);
  MPI_Mrecv(&a, 1, MPI_INT, &message, &status);
  check(a == from && message == MPI_MESSAGE_NULL && status.MPI_SOURCE == 0, "the message that was matched");
  for (flag = 0; !flag;) MPI_Improbe(0, kTag, MPI_COMM_WORLD, &flag, &message, &status);
  MPI_Imrecv(&b, 1, MPI_INT, &message, &request);
  MPI_Wait(&request, &status);
  check(b == from + 1 && status.MPI_TAG == kTag, "the one behind it");
  MPI_Mprobe(MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &message, &status);
  check(message == MPI_MESSAGE_NO_PROC, "a message of nobody");
  MPI_Mrecv(&b, 1, MPI_INT, &message, &status);
  check(status.MPI_SOURCE == MPI_PROC_NULL, "nobody");
}

static void send_two(int from) {
  for (c = from; rank == 0 && c < from + 2; c++) MPI_Send(&c, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
}

static int wrong_matched(void) {
  static MPI_Message message;
  switch (step) {
    case 0:
      send_two(10);
      match_two(10);
      strided[0] = 5, strided[1] = 6;
      if (rank == 0) MPI_Send(strided, 2, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      if (rank == 1) {
        MPI_Mprobe(0, kTag, MPI_COMM_WORLD, &message, &status);
        FAILS(MPI_Mrecv(&a, 1, MPI_INT, &message, &status), MPI_ERR_TRUNCATE);
      }
      return 1;
    case 1:  /* refused */
      send_two(20);
      MPI_Barrier(MPI_COMM_WORLD);
      if (rank == 1) {
        MPI_Mprobe(0, kTag, MPI_COMM_WORLD, &message, &status);
        if (with_library()) ELC_Checkpoint_now();
        MPI_Mrecv(&a, 1, MPI_INT, &message, &status);
        MPI_Recv(&b, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, &status);
        check(a == 20 && b == 21, "the message that was matched while a line was asked for");
      }
      return 1;
    case 2:
      send_two(30);
      if (rank == 0) MPI_Send(strided, 2, MPI_INT, 1, kTag + 1, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 3:
      if (rank == 1 && with_library()) ELC_Checkpoint_now();
      if (with_library()) until_line(2);
      return 1;
    case 4:
      send_two(40);
      match_two(30);
      match_two(40);
      if (rank == 1) {
        MPI_Mprobe(0, kTag + 1, MPI_COMM_WORLD, &message, &status);
        FAILS(MPI_Mrecv(&a, -1, MPI_INT, &message, &status), MPI_ERR_COUNT);
        FAILS(MPI_Mrecv(&a, 1, MPI_INT, &message, &status), MPI_ERR_TRUNCATE);
      }
      return 1;
    case 5: MPI_Barrier(MPI_COMM_WORLD); die_here(); return 1;
    default: return 0;
  }
}

/* Process 1 matches a message of process 0, then one of process 2, and process 2 knows the order before its checkpoint: a
 * restart, where the second one is there first, has to repeat it. */
static int matched_again(void) {
  MPI_Message message;
  switch (step) {
    case 0:
      if (rank == 2 && !resumed) {
        while (access("matched", F_OK) != 0) sched_yield();
        MPI_Send(&rank, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
        MPI_Recv(&a, 1, MPI_INT, 1, kTag + 1, MPI_COMM_WORLD, &status);
      }
      if (rank == 0) ELC_Checkpoint_now(); else until_taken();
      return 1;
    case 1:
      if (rank == 0) MPI_Send(&rank, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD);
      if (rank == 1) {
        for (int i = 0, flag = 0; i < 2; i++, flag = 0) {
          if (i == 0) MPI_Mprobe(MPI_ANY_SOURCE, kTag, MPI_COMM_WORLD, &message, &status);
          else while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
          MPI_Mrecv(&b, 1, MPI_INT, &message, &status);
          check(b == status.MPI_SOURCE, "the message of its source");
          if (i == 0) a = b;
          if (i == 0) fclose(fopen("matched", "w"));
        }
        MPI_Send(&a, 1, MPI_INT, 2, kTag + 1, MPI_COMM_WORLD);
      }
      return 1;
    case 2:
      watch_line(1);
      die_here();
      if (rank == 1) MPI_Send(&a, 1, MPI_INT, 2, kTag + 2, MPI_COMM_WORLD);
      if (rank == 2) {
        MPI_Recv(&b, 1, MPI_INT, 1, kTag + 2, MPI_COMM_WORLD, &status);
        check(a == 0 && b == 0, "the order of the messages");
      }
      return 1;
    default: return 0;
  }
}

/* Requests of calls that are not followed end; then a line is taken. */
static int query(void *state, MPI_Status *to) {
  (void)state;
  MPI_Status_set_elements(to, MPI_INT, 3);
  MPI_Status_set_cancelled(to, 0);
  to->MPI_SOURCE = to->MPI_TAG = 9;
  return MPI_SUCCESS;
}
static int nothing_to_free(void *state) { return (void)state, MPI_SUCCESS; }
static int nothing_to_cancel(void *state, int complete) { return (void)state, (void)complete, MPI_SUCCESS; }

/* A communicator of all, in order, that the library does not follow. MPICH has no ports with every network. */
#if MPI_VERSION >= 4
static MPI_Session session;
static MPI_Comm not_followed(void) {
  MPI_Group group;
  MPI_Comm made;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "elc", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&group);
  return made;
}
static void free_not_followed(MPI_Comm *comm) {
  MPI_Comm_free(comm);
  MPI_Session_finalize(&session);
}
#else
static MPI_Comm not_followed(void) {
  char port[MPI_MAX_PORT_NAME] = "";
  MPI_Comm own, both, made;
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &own);
  if (rank == 0) MPI_Open_port(MPI_INFO_NULL, port);
  MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank == 0) MPI_Comm_accept(port, MPI_INFO_NULL, 0, own, &both);
  else MPI_Comm_connect(port, MPI_INFO_NULL, 0, own, &both);
  if (rank == 0) MPI_Close_port(port);
  MPI_Intercomm_merge(both, rank != 0, &made);
  MPI_Comm_free(&own);
  MPI_Comm_free(&both);
  return made;
}
static void free_not_followed(MPI_Comm *comm) { MPI_Comm_free(comm); }
#endif

static int other_requests(void) {
  MPI_Comm ring;
  MPI_Request some[4];
  MPI_Status statuses[4];
  int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, flag = 0;
  switch (step) {
    case 0:
      ring = not_followed();
      MPI_Ibarrier(MPI_COMM_WORLD, &some[0]);
      MPI_Grequest_start(query, nothing_to_free, nothing_to_cancel, NULL, &some[1]);
      MPI_Isend(&rank, 1, MPI_INT, next, kTag, ring, &some[2]);
      MPI_Irecv(&a, 1, MPI_INT, previous, kTag, ring, &some[3]);
      MPI_Grequest_complete(some[1]);
      MPI_Waitall(4, some, statuses);
      check(a == previous && statuses[3].MPI_SOURCE == previous && statuses[1].MPI_TAG == 9, "requests of all kinds");
      MPI_Recv_init(&b, 1, MPI_INT, previous, kTag, ring, &some[0]);
      MPI_Start(&some[0]);
      MPI_Send(&a, 1, MPI_INT, next, kTag, ring);
      for (; !flag;) MPI_Request_get_status(some[0], &flag, &status);
      MPI_Wait(&some[0], &status);
      MPI_Request_free(&some[0]);
      MPI_Mprobe(MPI_PROC_NULL, kTag, ring, &(MPI_Message){MPI_MESSAGE_NULL}, &status);
      free_not_followed(&ring);
      MPI_Irecv(&b, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &first);
      MPI_Wait(&first, &status);
      c = status.MPI_SOURCE; /* MPI_PROC_NULL, if the MPI is right */
      MPI_Irecv(&b, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &first);
#if MPI_VERSION >= 4
      b = rank == 0 ? 7 : 0;
      MPI_Bcast_init(&b, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &some[0]);
      MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &some[1]);
      for (int i = 0; i < 2; ++i) MPI_Start(&some[rank == 0 ? i : 1 - i]);
      MPI_Waitall(2, some, MPI_STATUSES_IGNORE);
      check(b == 7, "persistent operations that are started in any order");
      for (int i = 0; i < 2; ++i) MPI_Request_free(&some[i]);
#endif
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 1: asked_by_first(); return 1;
    case 2:
      watch_line(1);
      die_here();
      MPI_Wait(&first, &status);
      check(status.MPI_SOURCE == c, "a receive from nobody, pending in the line");
      return 1;
    default: return 0;
  }
}
#endif

#if MPI_VERSION >= 4
/* Process 2 makes its calls behind the line: a large message to it is in transit, one from it is waited for. */
static int send_and_receive(void) {
  const int next = (rank + 1) % ranks, previous = (rank + ranks - 1) % ranks, last = ranks - 1;
  if ((step == 0 && rank != last) || (step == 2 && rank == last)) {
    for (int i = 0; i < kLarge; i++) large[i] = rank;
    MPI_Isendrecv_replace(large, kLarge, MPI_INT, next, kTag, previous, kTag, MPI_COMM_WORLD, &first);
    MPI_Isendrecv(&rank, 1, MPI_INT, next, kTag + 1, &a, 1, MPI_INT, previous, kTag + 1, MPI_COMM_WORLD, &second);
  }
  switch (step) {
    case 0: MPI_Barrier(MPI_COMM_WORLD); return 1;
    case 1: asked_by_first(); return 1;
    case 2:
      watch_line(1);
      die_here();
      MPI_Wait(&second, &status);
      check(a == previous && status.MPI_SOURCE == previous && status.MPI_TAG == kTag + 1, "what MPI_Isendrecv receives");
      MPI_Wait(&first, &status);
      check(large[0] == previous && large[kLarge - 1] == previous, "what MPI_Isendrecv_replace receives");
      return 1;
    default: return 0;
  }
}

/* Process 0 is through with its part of a partitioned message before the line that is asked for, process 1 comes to its own
 * behind it. */
static int paired(void) {
  switch (step) {
    case 0:
      if (rank == 0) {
        MPI_Psend_init(&a, 1, 1, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &first);
        MPI_Request_free(&first);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 1: asked_by_first(); return 1;
    case 2:
      if (rank == 1) {
        MPI_Precv_init(&a, 1, 1, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &first);
        MPI_Request_free(&first);
      }
      MPI_Barrier(MPI_COMM_WORLD);
      return 1;
    case 3:
      while (ELC_Line() == 0) rank == 0 ? ELC_Checkpoint_now() : ELC_Checkpoint();
      return 1;
    case 4:
      die_here();
      MPI_Allreduce(&step, &a, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      check(a == step * ranks, "the sum");
      return 1;
    default: return 0;
  }
}

/* Several partitioned messages, waited for together. */
static int partitioned(void) {
  enum { kMessages = 3, kParts = 4, kEach = 5 };
  static int data[kMessages][kParts * kEach];
  MPI_Request requests[kMessages];
  MPI_Status statuses[kMessages];
  if (step == 1) asked_by_first();
  if (step > 0) return step == 1;
  for (int m = 0; m < kMessages && rank < 2; m++) {
    if (rank == 0) MPI_Psend_init(data[m], kParts, kEach, MPI_INT, 1, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[m]);
    else MPI_Precv_init(data[m], kParts, kEach, MPI_INT, 0, kTag, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[m]);
  }
  for (int round = 0; round < 3 && rank < 2; round++) {
    for (int m = 0; m < kMessages; m++) {
      for (int i = 0; i < kParts * kEach; i++) data[m][i] = rank == 0 ? 100 * round + 10 * m + i : -1;
      MPI_Start(&requests[m]);
      if (rank == 0) MPI_Pready_range(0, kParts - 1, requests[m]);
    }
    MPI_Waitall(kMessages, requests, statuses);
    for (int m = 0; m < kMessages && rank == 1; m++) {
      check(statuses[m].MPI_SOURCE == 0 && statuses[m].MPI_TAG == kTag, "the status of a partitioned message");
      for (int i = 0; i < kParts * kEach; i++) check(data[m][i] == 100 * round + 10 * m + i, "a partitioned message");
    }
  }
  for (int m = 0; m < kMessages && rank < 2; m++) MPI_Request_free(&requests[m]);
  return 1;
}
#endif

/* Process 0 has taken its checkpoint, and the others come to sites in the function of an operation, in the middle of a
 * call. */
static void sum_at_site(void *in, void *sums, int *count, MPI_Datatype *type) {
  (void)type;
  check(!ELC_Checkpoint(), "a line in a function that MPI calls");
  for (int i = 0; i < *count; i++) ((int *)sums)[i] += ((int *)in)[i];
}
static int called_back(void) {
  switch (step) {
    case 0:
      if (rank == 0) ready = ELC_Checkpoint_now();
      for (int i = 0; i < 200; i++) {
        int one = 1, all = 0;
        MPI_Allreduce(&one, &all, 1, MPI_INT, sum, MPI_COMM_WORLD);
        check(all == ranks, "the sum");
      }
      return 1;
    case 1: until_line(1); return 1;
    default: return 0;
  }
}

/* What each process has made of its own MPI_COMM_SELF is its own. */
static int self_dups(void) {
  int got = -1;
  switch (step) {
    case 0: MPI_Comm_dup(MPI_COMM_SELF, &other); return 1;
    case 1: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 2:
      watch_line(1);
      die_here();
      MPI_Sendrecv(&rank, 1, MPI_INT, 0, kTag, &got, 1, MPI_INT, 0, kTag, other, MPI_STATUS_IGNORE);
      check(got == rank, "the message to itself");
      MPI_Comm_free(&other);
      return 1;
    default: return 0;
  }
}

/* In the replay process 1 has to hold its receive back; it frees the communicator before it waits. */
static int held_and_freed(void) {
  MPI_Request pending = MPI_REQUEST_NULL;
  switch (step) {
    case 0: MPI_Comm_dup(MPI_COMM_WORLD, &other); return 1;
    case 1:
      b = 0;
      if (rank == 2 && !resumed) token_from(1); /* an orphan */
      if (rank == 1) ELC_Checkpoint_now(); else until_taken();
      if (rank == 1) {
        MPI_Irecv(&b, 1, MPI_INT, MPI_ANY_SOURCE, kTag, other, &pending);
        token_to(2);
        token_to(0);
      }
      if (rank == 0) {
        token_from(1);
        c = 42;
        MPI_Send(&c, 1, MPI_INT, 1, kTag, other);
      }
      MPI_Comm_free(&other);
      MPI_Wait(&pending, &status);
      if (rank == 1) check(b == 42 && status.MPI_SOURCE == 0, "what the freed communicator brought");
      return 1;
    case 2: watch_line(1); die_here(); return 1;
    default: return 0;
  }
}

/* The set-up has posted the first receive: in a restart it is not to take what is sent to a later one. */
static int posted_before(void) {
  const int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
  if (step == 8) return 0;
  if (step == 4 && !resumed) {
    if (rank == 0) ELC_Checkpoint_now(); else until_taken();
    watch_line(1);
    die_here();
  }
  c = 100 * rank + step;
  MPI_Send(&c, 1, MPI_INT, right, kTag, MPI_COMM_WORLD);
  MPI_Wait(&first, MPI_STATUS_IGNORE);
  check(a == 100 * left + step, "the message of this step");
  if (step < 7) MPI_Irecv(&a, 1, MPI_INT, left, kTag, MPI_COMM_WORLD, &first);
  return 1;
}

/* What is not followed, and may have told something by chance, is used behind a checkpoint; somebody whose checkpoint comes
 * later is told of it. */
static int told_by_chance(void) {
  MPI_Win window;
  switch (step) {
    case 0: MPI_Comm_split(MPI_COMM_WORLD, rank > 1, rank, &other); return 1;
    case 1:
      if (rank == 2) token_from(0); /* an orphan */
      if (rank == 0) ELC_Checkpoint_now(); else until_taken();
      if (rank < 2) {
#if MPI_VERSION >= 3
        MPI_Win_create_dynamic(MPI_INFO_NULL, other, &window);
#else
        MPI_Win_create(&b, sizeof b, sizeof b, MPI_INFO_NULL, other, &window);
#endif
        MPI_Win_free(&window);
        if (rank == 0) token_to(2);
      }
      return 1;
    case 2: if (rank == 0 && !resumed) ELC_Checkpoint_now(); until_line(2); return 1;
    case 3: die_here(); return 1;
    default: return 0;
  }
}

#if MPI_VERSION >= 3
/* The same of a file that was opened before: what it tells, others have written. */
static int told_by_file(void) {
  static MPI_File file;
  MPI_Offset size;
  switch (step) {
    case 0:
      MPI_Comm_split(MPI_COMM_WORLD, rank > 1, rank, &other);
      if (rank < 2) MPI_File_open(other, "told", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
      return 1;
    case 1:
      if (rank == 2) token_from(0); /* an orphan */
      if (rank == 0) ELC_Checkpoint_now(); else until_taken();
      if (rank == 0) {
        check(MPI_File_get_size(file, &size) == MPI_SUCCESS && size == 0, "the size of the file");
        token_to(2);
      }
      return 1;
    case 2:
      if (rank < 2) MPI_File_close(&file);
      if (rank == 0 && !resumed) ELC_Checkpoint_now();
      until_line(2);
      return 1;
    case 3: die_here(); return 1;
    default: return 0;
  }
}
#endif

static const struct Scene {
  const char *name;
  int (*run)(void); /* one step; 0: the scene is over */
} scenes[] = {
    {"wait_recv", wait_recv}, {"wait_any", wait_any}, {"wait_probe", wait_probe}, {"wait_wait", wait_wait},
    {"wait_waitall", wait_waitall}, {"wait_waitany", wait_waitany}, {"wait_waitsome", wait_waitsome},
    {"wait_test", wait_test}, {"finalize_one", finalize_one}, {"finalize_all", finalize_all},
    {"finalize_unreceived", finalize_unreceived}, {"finalize_late", finalize_late}, {"full_disk", full_disk},
    {"run_on", run_on}, {"order_in_line", order_in_line}, {"refused_line", refused_line}, {"two_lines", two_lines},
    {"much_data", much_data},
    {"statics", statics}, {"grown", grown}, {"forks", forks}, {"transit", transit},
    {"trap1", trap1}, {"trap2", trap2}, {"wildcard_behind_all", wildcard_behind_all}, {"wildcard_behind_some", wildcard_behind_some},
    {"trap4", trap4}, {"strays", strays}, {"trap8", trap8}, {"trap10_made", trap10_made}, {"trap10_freed", trap10_freed},
    {"trap11", trap11}, {"released", released}, {"released_past", released_past}, {"released_apart", released_apart}, {"large_file", large_file},
    {"wrong_calls", wrong_calls}, {"persistent", persistent},
#if MPI_VERSION >= 3
    {"told_by_file", told_by_file}, {"wrong_matched", wrong_matched}, {"matched_again", matched_again}, {"other_requests", other_requests},
#endif
#if MPI_VERSION >= 4
    {"send_and_receive", send_and_receive}, {"paired", paired}, {"partitioned", partitioned},
#endif
    {"cancelled_receives", cancelled_receives}, {"wait_looked_at", wait_looked_at}, {"huge_message", huge_message},
    {"empty_messages", empty_messages},
    {"bottom", bottom}, {"called_back", called_back}, {"self_dups", self_dups}, {"held_and_freed", held_and_freed},
    {"posted_before", posted_before}, {"told_by_chance", told_by_chance}};

static void in_place(const char *name, const char *variant) {
  const struct Scene *scene = NULL;
  double wrong_type = 0;
  int wrong_count[2] = {0, 0};
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (strcmp(scenes[i].name, name) == 0) scene = &scenes[i];
  check(scene != NULL, "the name of the scene");
  ELC_VAR(step);
  /* The program that does not fit: another type, another count, another name. */
  if (strcmp(variant, "type") == 0) ELC_Register("a", &wrong_type, ELC_DOUBLE, 1);
  else if (strcmp(variant, "count") == 0) ELC_Register("a", wrong_count, ELC_INT, 2);
  else if (strcmp(variant, "name") == 0) ELC_Register("another", &a, ELC_INT, 1);
  else ELC_VAR(a);
  ELC_VAR(b);
  ELC_VAR(c);
  ELC_VAR(d);
  ELC_VAR(ready);
  ELC_VAR(large);
  ELC_VAR(strided);
  ELC_PTR(on_heap);
  ELC_REQUEST(first);
  ELC_REQUEST(second);
  ELC_STATUS(status);
  ELC_COMM(other);
  ELC_FILEVAR(input);
  ELC_FILEVAR(output);
  if (scene->run == much_data) {
    ELC_VAR(much);
    atexit(told_at_exit);
  }
  if (strncmp(name, "wrong_", 6) == 0) own_error_handler();
  if (strcmp(name, "statics") == 0) know_numbers();
  if (strcmp(name, "grown") == 0) begin_list();
  MPI_Barrier(MPI_COMM_WORLD); /* everybody has come through MPI_Init */
  if (strcmp(name, "posted_before") == 0)
    MPI_Irecv(&a, 1, MPI_INT, (rank + ranks - 1) % ranks, kTag, MPI_COMM_WORLD, &first);
  restarted = resumed = ELC_Restore() == ELC_RESTARTED;
  if (rank == 0) fprintf(stderr, "scenes: begins with step %d\n", step);
  for (; scene->run(); step++) resumed = 0;
}

static void finalize_at_exit(void) { MPI_Finalize(); }

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  const int at_exit = argc > 3 && strcmp(argv[3], "at-exit") == 0;
  if (at_exit) atexit(finalize_at_exit);
  /* One of its synchronous sends crosses the line, and it never takes one for received. */
  if (strcmp(name, "persistent") == 0) setenv("ELC_EARLY_SENDS", "yes", 1);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 2) die = atoi(argv[2]);
  first = second = MPI_REQUEST_NULL;
  if (strcmp(name, "bottom") == 0) {
    on_heap = ELC_new(ELC_INT, 2);
    column = addresses();
  } else {
    MPI_Type_vector(64, 1, 3, MPI_INT, &column);
    MPI_Type_commit(&column);
  }
  if (strcmp(name, "called_back") == 0) MPI_Op_create(sum_at_site, 1, &sum);
  if (strncmp(name, "label_", 6) == 0) labels(name[6] - '0');
  else if (strcmp(name, "stale_label") == 0) stale_label();
#if MPI_VERSION >= 3
  else if (strcmp(name, "spent_label") == 0) spent_label();
#endif
  else if (strcmp(name, "absolute") == 0) absolute();
  else if (strcmp(name, "distance") == 0) far_apart();
  else in_place(name, argc > 3 ? argv[3] : "");
  MPI_Type_free(&column);
  if (rank == 0) printf("result: ok\n");
  if (at_exit) return 0;
  MPI_Finalize();
  if (strcmp(name, "refused_line") == 0) die_here();
  return 0;
}
