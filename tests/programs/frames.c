/* frames.c - re-entry under fire: a program for the kill test.
 *
 * Everything happens in functions within functions, some of them recursive, and every MPI call has a label, so
 * that a line can be taken in each, also while it waits: in some rounds one process works for long, in
 * checkpoints of its own, while all others wait for it in a receive, a wait, a probe or a barrier. Buffers and a list
 * are on the heap. What crosses between processes are coins (coins.h).
 *
 * libELC: re-entry. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coins.h"

enum { kRingTag = 1, kTreeTag, kJobTag, kSlowTag, kPoolTag = 10, kAskTag = 1000 /* and the round: a worker may be ahead */ };
enum { kMostPool = 4, kKinds = 8 };

static long seed = 1, rounds = 200, work = 20;
static int rank, ranks;
static uint64_t freely; /* this process's part of the grand total */
static uint64_t fixed;  /* digest of what does not depend on timing */
static MPI_Comm other;

typedef struct Node {
  uint64_t value;
  struct Node *next;
} Node;

static ELC_Type node_type;
static Node *head;

static uint64_t ask(long k, int what) { return mix(mix((uint64_t)seed, (uint64_t)k), (uint64_t)what); }
static void note(uint64_t value) { fixed = mix(fixed, value); }

static void fail(long k, const char *what) {
  fprintf(stderr, "frames: rank %d, round %ld: %s\n", rank, k, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

/* ---- Kinds of rounds ----------------------------------------------------------------------------- */

static void ring(void) {
  uint64_t x = 0, y = 0;
  MPI_Status status = {0};
  ELC_ENTER();
  ELC_VAR(x);
  ELC_VAR(y);
  ELC_STATUS(status);
  ELC_RESUME();
  x = coin(rank);
  freely -= x;
  ELC_AT(1);
  MPI_Sendrecv(&x, 1, kNumber, (rank + 1) % ranks, kRingTag, &y, 1, kNumber, (rank + ranks - 1) % ranks, kRingTag,
               MPI_COMM_WORLD, &status);
  freely += y;
  ELC_END();
  ELC_Leave();
}

/* The sum of the coins of processes first ... last - 1, at the first one. */
static void tree(int first, int last, uint64_t *sum) {
  uint64_t x = 0;
  int middle = (first + last + 1) / 2;
  MPI_Status status = {0};
  ELC_ENTER();
  ELC_VAR(first);
  ELC_VAR(last);
  ELC_PTR(sum);
  ELC_VAR(x);
  ELC_STATUS(status);
  ELC_RESUME();
  if (last - first == 1) {
    x = coin(rank);
    freely -= x;
    *sum = x;
    ELC_AT(1);
    ELC_Checkpoint();
  } else if (rank < middle) {
    ELC_AT(2);
    tree(first, middle, sum);
    if (rank == first) {
      ELC_AT(3);
      MPI_Recv(&x, 1, kNumber, middle, kTreeTag, MPI_COMM_WORLD, &status);
      *sum += x;
    }
  } else {
    ELC_AT(4);
    tree(middle, last, sum);
    if (rank == middle) {
      ELC_AT(5);
      MPI_Ssend(sum, 1, kNumber, first, kTreeTag, MPI_COMM_WORLD);
    }
  }
  ELC_END();
  ELC_Leave();
}

static void sum_by_tree(void) {
  uint64_t sum = 0;
  ELC_ENTER();
  ELC_VAR(sum);
  ELC_RESUME();
  ELC_AT(1);
  tree(0, ranks, &sum);
  if (rank == 0) freely += sum;
  ELC_END();
  ELC_Leave();
}

/* Jobs go to whoever asks first. */
static void farm(long k, int master) {
  uint64_t job = 0, question = 0;
  MPI_Status status = {0};
  ELC_ENTER();
  ELC_VAR(k);
  ELC_VAR(master);
  ELC_VAR(job);
  ELC_VAR(question);
  ELC_STATUS(status);
  ELC_RESUME();
  if (rank == master) {
    for (job = 1; job < (uint64_t)ranks; job++) {
      ELC_AT(1);
      MPI_Recv(&question, 1, kNumber, MPI_ANY_SOURCE, kAskTag + (int)(k % 10000), MPI_COMM_WORLD, &status);
      if (question != mix((uint64_t)k, (uint64_t)status.MPI_SOURCE)) fail(k, "a question of another round");
      dally_for((uint64_t)work);
      ELC_AT(2);
      MPI_Send(&job, 1, kNumber, status.MPI_SOURCE, kJobTag, MPI_COMM_WORLD);
    }
  } else {
    question = mix((uint64_t)k, (uint64_t)rank);
    ELC_AT(3);
    MPI_Send(&question, 1, kNumber, master, kAskTag + (int)(k % 10000), MPI_COMM_WORLD);
    ELC_AT(4);
    MPI_Recv(&job, 1, kNumber, master, kJobTag, MPI_COMM_WORLD, &status);
    freely += mix(job, (uint64_t)k);
  }
  ELC_END();
  ELC_Leave();
}

/* A round of non-blocking messages between heap blocks, completed in the way `how`. */
static void complete(int n, MPI_Request *requests, int how) {
  int index = 0, left = 0, some[kMostPool] = {0};
  MPI_Status statuses[kMostPool];
  memset(statuses, 0, sizeof statuses);
  ELC_ENTER();
  ELC_VAR(n);
  ELC_PTR(requests);
  ELC_VAR(how);
  ELC_VAR(index);
  ELC_VAR(left);
  ELC_VAR(some);
  ELC_STATUS(statuses);
  ELC_RESUME();
  if (how == 0) {
    ELC_AT(1);
    MPI_Waitall(n, requests, statuses);
  } else if (how == 1) {
    for (left = n; left > 0; left--) {
      ELC_AT(2);
      MPI_Waitany(n, requests, &index, statuses);
    }
  } else if (how == 2) {
    for (left = n; left > 0; left -= index) {
      ELC_AT(3);
      MPI_Waitsome(n, requests, &index, some, statuses);
    }
  } else if (how == 3) {
    for (left = 0; left == 0;) {
      ELC_AT(4);
      MPI_Testall(n, requests, &left, statuses);
    }
  } else {
    for (left = 0; left < n; left++) {
      ELC_AT(5);
      MPI_Wait(&requests[left], statuses);
    }
  }
  ELC_END();
  ELC_Leave();
}

static void pool(long k) {
  int n = 1 + (int)(ask(k, 1) % kMostPool), i = 0, length = 2 + (int)(ask(k, 2) % 3000);
  uint64_t *out[kMostPool] = {NULL}, *in[kMostPool] = {NULL};
  MPI_Request sends[kMostPool], receives[kMostPool];
  for (i = 0; i < kMostPool; i++) sends[i] = receives[i] = MPI_REQUEST_NULL;
  ELC_ENTER();
  ELC_VAR(k);
  ELC_VAR(n);
  ELC_VAR(i);
  ELC_VAR(length);
  ELC_PTR(out);
  ELC_PTR(in);
  ELC_REQUEST(sends);
  ELC_REQUEST(receives);
  ELC_RESUME();
  for (i = 0; i < n; i++) {
    int distance = (int)(ask(k, 3 + i) % (uint64_t)ranks);
    in[i] = ELC_NEW(ELC_UINT64, sizeof(uint64_t), length);
    ELC_AT(1);
    MPI_Irecv(in[i], length, kNumber, (rank + ranks - (int)(ask(k, 3 + i) % (uint64_t)ranks)) % ranks, kPoolTag + i,
              MPI_COMM_WORLD, &receives[i]);
    distance = (int)(ask(k, 3 + i) % (uint64_t)ranks);
    out[i] = ELC_NEW(ELC_UINT64, sizeof(uint64_t), length);
    out[i][0] = coin(rank);
    freely -= out[i][0];
    for (int j = 1; j < length; j++) out[i][j] = mix(out[i][0], (uint64_t)j);
    MPI_Isend(out[i], length, kNumber, (rank + distance) % ranks, kPoolTag + i, MPI_COMM_WORLD, &sends[i]);
  }
  ELC_AT(2);
  complete(n, receives, (int)(ask(k, 9) % 5));
  ELC_AT(3);
  complete(n, sends, (int)(ask(k, 10) % 5));
  for (i = 0; i < n; i++) {
    freely += in[i][0];
    for (int j = 1; j < length; j++)
      if (in[i][j] != mix(in[i][0], (uint64_t)j)) fail(k, "a message whose content is damaged");
    ELC_free(in[i]);
    ELC_free(out[i]);
  }
  ELC_END();
  ELC_Leave();
}

/* The sender draws the tag, the receiver learns it by a probe. */
static void probed(long k, int to) {
  uint64_t x = 0, y = 0;
  MPI_Status status = {0};
  ELC_ENTER();
  ELC_VAR(k);
  ELC_VAR(to);
  ELC_VAR(x);
  ELC_VAR(y);
  ELC_STATUS(status);
  ELC_RESUME();
  x = coin(rank);
  freely -= x;
  ELC_AT(1);
  MPI_Bsend(&x, 1, kNumber, to, (int)(x % 5), other);
  ELC_AT(2);
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, other, &status);
  ELC_AT(3);
  MPI_Recv(&y, 1, kNumber, status.MPI_SOURCE, status.MPI_TAG, other, &status);
  if ((int)(y % 5) != status.MPI_TAG) fail(k, "a message under another tag");
  freely += y;
  ELC_END();
  ELC_Leave();
}

static void together(long k, int root) {
  uint64_t x = 0, y = 0, *many = NULL;
  ELC_ENTER();
  ELC_VAR(k);
  ELC_VAR(root);
  ELC_VAR(x);
  ELC_VAR(y);
  ELC_PTR(many);
  ELC_RESUME();
  x = coin(rank);
  many = ELC_NEW(ELC_UINT64, sizeof(uint64_t), ranks);
  if (ask(k, 1) % 6 == 0) {
    ELC_AT(1);
    MPI_Barrier(MPI_COMM_WORLD);
  } else if (ask(k, 1) % 6 == 1) {
    if (rank == root) freely -= x * (uint64_t)(ranks - 1);
    ELC_AT(2);
    MPI_Bcast(&x, 1, kNumber, root, other);
    if (rank != root) freely += x;
  } else if (ask(k, 1) % 6 == 2) {
    freely -= x;
    ELC_AT(3);
    MPI_Reduce(&x, &y, 1, kNumber, MPI_SUM, root, MPI_COMM_WORLD);
    if (rank == root) freely += y;
  } else if (ask(k, 1) % 6 == 3) {
    freely -= x * (uint64_t)ranks;
    ELC_AT(4);
    MPI_Allreduce(&x, &y, 1, kNumber, MPI_SUM, other);
    freely += y;
  } else if (ask(k, 1) % 6 == 4) {
    freely -= x;
    ELC_AT(5);
    MPI_Gather(&x, 1, kNumber, many, 1, kNumber, root, MPI_COMM_WORLD);
    for (int i = 0; i < ranks && rank == root; i++) freely += many[i];
  } else {
    for (int i = 0; i < ranks && rank == root; i++) freely -= (many[i] = mix(x, (uint64_t)i));
    ELC_AT(6);
    MPI_Scatter(many, 1, kNumber, &y, 1, kNumber, root, other);
    freely += y;
  }
  ELC_free(many);
  ELC_END();
  ELC_Leave();
}

static void labour(long turns) {
  long i = 0;
  ELC_ENTER();
  ELC_VAR(turns);
  ELC_VAR(i);
  ELC_RESUME();
  for (i = 0; i < turns; i++) {
    ELC_AT(1);
    ELC_Checkpoint();
    dally_for((uint64_t)work);
  }
  ELC_END();
  ELC_Leave();
}

/* One process works for long, the others wait for it, each in its own way. */
static void slow(long k, int worker) {
  uint64_t x = 0;
  int to = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status = {0};
  ELC_ENTER();
  ELC_VAR(k);
  ELC_VAR(worker);
  ELC_VAR(x);
  ELC_VAR(to);
  ELC_REQUEST(request);
  ELC_STATUS(status);
  ELC_RESUME();
  if (rank == worker) {
    ELC_AT(1);
    labour(20 + (long)(ask(k, 1) % 200));
    for (to = 0; to < ranks; to++) {
      if (to == rank) continue;
      x = coin(rank);
      freely -= x;
      ELC_AT(2);
      MPI_Send(&x, 1, kNumber, to, kSlowTag, MPI_COMM_WORLD);
    }
  } else if ((rank + k) % 3 == 0) {
    ELC_AT(3);
    MPI_Recv(&x, 1, kNumber, ask(k, 2) % 2 == 0 ? worker : MPI_ANY_SOURCE, kSlowTag, MPI_COMM_WORLD, &status);
    freely += x;
  } else if ((rank + k) % 3 == 1) {
    MPI_Irecv(&x, 1, kNumber, worker, kSlowTag, MPI_COMM_WORLD, &request);
    ELC_AT(4);
    MPI_Wait(&request, &status);
    freely += x;
  } else {
    ELC_AT(5);
    MPI_Probe(worker, kSlowTag, MPI_COMM_WORLD, &status);
    ELC_AT(6);
    MPI_Recv(&x, 1, kNumber, worker, kSlowTag, MPI_COMM_WORLD, &status);
    freely += x;
  }
  ELC_AT(7);
  MPI_Barrier(MPI_COMM_WORLD);
  ELC_END();
  ELC_Leave();
}

/* A list that grows at its head and shrinks at its tail. */
static void list(long k) {
  Node *node;
  for (uint64_t n = ask(k, 1) % 20; n > 0; n--) {
    node = ELC_NEW(node_type, sizeof *node, 1);
    node->value = mix(ask(k, 2), n + (uint64_t)rank);
    node->next = head;
    head = node;
  }
  for (uint64_t n = ask(k, 3) % 20; n > 0 && head != NULL; n--) {
    Node **last = &head;
    while ((*last)->next != NULL) last = &(*last)->next;
    note((*last)->value);
    ELC_free(*last);
    *last = NULL;
  }
  for (node = head; node != NULL; node = node->next) note(node->value);
}

/* ---- The sequence ---------------------------------------------------------------------------------- */

static void round_of(long k) {
  int someone = (int)(ask(k, 20) % (uint64_t)ranks);
  ELC_ENTER();
  ELC_VAR(k);
  ELC_VAR(someone);
  ELC_RESUME();
  if (ask(k, 0) % kKinds == 0) {
    ELC_AT(1);
    ring();
  } else if (ask(k, 0) % kKinds == 1) {
    ELC_AT(2);
    sum_by_tree();
  } else if (ask(k, 0) % kKinds == 2) {
    ELC_AT(3);
    farm(k, someone);
  } else if (ask(k, 0) % kKinds == 3) {
    ELC_AT(4);
    pool(k);
  } else if (ask(k, 0) % kKinds == 4) {
    ELC_AT(5);
    probed(k, (rank + 1 + someone) % ranks);
  } else if (ask(k, 0) % kKinds == 5) {
    ELC_AT(6);
    together(k, someone);
  } else if (ask(k, 0) % kKinds == 6) {
    ELC_AT(7);
    slow(k, someone);
  } else {
    list(k);
  }
  ELC_END();
  ELC_Leave();
}

static void all_rounds(void) {
  long k = 0;
  ELC_ENTER();
  ELC_VAR(k);
  ELC_RESUME();
  for (k = 0; k < rounds; k++) {
    note((uint64_t)k);
    ELC_AT(1);
    round_of(k);
  }
  ELC_END();
  ELC_Leave();
}

int main(int argc, char **argv) {
  const Option options[] = {{"seed", &seed, 0, 1000000000, 0, "seed of the sequence"},
                            {"rounds", &rounds, 1, 1000000000, 0, "length of the sequence"},
                            {"work", &work, 0, 1000000, 0, "work between messages, in arbitrary units"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  ELC_Field node[] = {ELC_FIELD(Node, value), ELC_POINTER_FIELD(Node, next)};
  const size_t room = 1 << 20;
  void *buffer;
  read_options(argc, argv, "Re-entry of nested functions, for the kill test.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  node_type = ELC_Struct("Node", sizeof(Node), 2, node);
  buffer = allocate(room, 1);
  MPI_Buffer_attach(buffer, (int)room);
  ELC_ENTER();
  ELC_VAR(freely);
  ELC_VAR(fixed);
  ELC_COMM(other);
  ELC_PTR(head);
  ELC_RESUME();
  ELC_AT(1);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  ELC_AT(2);
  all_rounds();
  ELC_END();
  ELC_Leave();
  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer);
  report_totals(freely, fixed);
  while (head != NULL) {
    Node *next = head->next;
    ELC_free(head);
    head = next;
  }
  MPI_Comm_free(&other);
  MPI_Finalize();
  return 0;
}
