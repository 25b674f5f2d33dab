/* scenes.c - short scenes with libELC under a real MPI, each for one test of tests/mpi/behaviour_test.py.
 *
 *     scenes SCENE [DIE]      DIE: a rank that kills itself where the scene says so, in a run from the start
 *
 * A scene is a sequence of steps; every line is taken between two steps, by ELC_Checkpoint, and a restart goes on
 * with the step of the line. Order between processes comes from messages and from ELC_Line, never from time.
 * What must be right is checked on the spot; at the end process 0 prints "result: ok". */
#include <elc.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

/* A line, then something that libELC does not follow, then a line that is refused; process `die` dies after
 * MPI_Finalize. */
static int refused_line(void) {
  int nothing = 0;
  MPI_Request persistent;
  switch (step) {
    case 0: if (rank == 0) ELC_Checkpoint_now(); else until_taken(); return 1;
    case 1: until_line(1); return 1;
    case 2:
      MPI_Recv_init(&nothing, 1, MPI_INT, MPI_PROC_NULL, kTag, MPI_COMM_WORLD, &persistent);
      MPI_Start(&persistent);
      MPI_Wait(&persistent, MPI_STATUS_IGNORE);
      MPI_Request_free(&persistent);
      return 1;
    case 3: ELC_Checkpoint_now(); return 1;
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

/* ---- Messages in transit -------------------------------------------------------------------------------- */

/* 0 sends before its checkpoint, 1 receives after the line; with ELC_DRAIN=wait only that lets it commit. */
static int transit(void) {
  switch (step) {
    case 0:
      a = 1000 + rank;
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
static int released(void) {
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
      return 1;
    case 2: watch_line(1); die_here(); return 1;
    default: return 0;
  }
}

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

static const struct Scene {
  const char *name;
  int (*run)(void); /* one step; 0: the scene is over */
} scenes[] = {
    {"wait_recv", wait_recv}, {"wait_any", wait_any}, {"wait_probe", wait_probe}, {"wait_wait", wait_wait},
    {"wait_waitall", wait_waitall}, {"wait_waitany", wait_waitany}, {"wait_waitsome", wait_waitsome},
    {"wait_test", wait_test}, {"finalize_one", finalize_one}, {"finalize_all", finalize_all},
    {"finalize_unreceived", finalize_unreceived}, {"finalize_late", finalize_late}, {"full_disk", full_disk},
    {"run_on", run_on}, {"refused_line", refused_line}, {"two_lines", two_lines}, {"transit", transit},
    {"trap1", trap1}, {"trap2", trap2},
    {"trap4", trap4}, {"trap8", trap8}, {"trap10_made", trap10_made}, {"trap10_freed", trap10_freed},
    {"trap11", trap11}, {"released", released}, {"released_apart", released_apart}, {"large_file", large_file}};

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
  ELC_REQUEST(first);
  ELC_REQUEST(second);
  ELC_STATUS(status);
  ELC_COMM(other);
  ELC_FILEVAR(input);
  ELC_FILEVAR(output);
  MPI_Barrier(MPI_COMM_WORLD); /* everybody has come through MPI_Init */
  restarted = resumed = ELC_Restore() == ELC_RESTARTED;
  if (rank == 0) fprintf(stderr, "scenes: begins with step %d\n", step);
  for (; scene->run(); step++) resumed = 0;
}

int main(int argc, char **argv) {
  const char *name = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 2) die = atoi(argv[2]);
  first = second = MPI_REQUEST_NULL;
  MPI_Type_vector(64, 1, 3, MPI_INT, &column);
  MPI_Type_commit(&column);
  if (strncmp(name, "label_", 6) == 0) labels(name[6] - '0');
  else in_place(name, argc > 3 ? argv[3] : "");
  MPI_Type_free(&column);
  if (rank == 0) printf("result: ok\n");
  MPI_Finalize();
  if (strcmp(name, "refused_line") == 0) die_here();
  return 0;
}
