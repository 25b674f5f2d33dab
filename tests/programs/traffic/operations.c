/* operations.c - which operation comes when, and messages. */
#include "traffic.h"

enum { kStretch = 150 }; /* operations; MPI_Cancel refuses lines, so that there have to be some without it */

/* What operation k is: the same at all processes. `what` numbers the questions. */
uint64_t ask(long k, int what) { return mix(mix((uint64_t)seed, (uint64_t)k), (uint64_t)what); }

int may_cancel(long k) { return ask(k / kStretch, 14) % 3 == 0; }
/* Of messages that another operation may receive. */
static int any_order_of(Kind kind) { return kind == kWildKind || kind == kProbeKind || kind == kMatchedKind; }
static int is_between(Kind kind) { return kind == kBetweenKind || kind == kAcrossKind || kind == kJoinedKind; }

Kind kind_of(long k) {
  Kind kind = (Kind)(ask(k, 0) % kKinds);
  if (may_cancel(k) && ask(k, 20) % 3 == 0) return kCancelKind;
  if (kind == kCancelKind && !may_cancel(k)) return kPoolKind;
  if (kind == kMatchedKind && !mpi3) kind = kProbeKind;
  if (kind == kNeighbourKind && !mpi3) kind = kSplitKind;
  if (kind == kPackedKind && !mpi3) kind = kTypedKind;
  if (kind == kRepeatedKind && !mpi3) kind = kStartedKind;
  return ranks == 1 && (any_order_of(kind) || is_between(kind)) ? kNullKind : kind;
}
Shape shape_of(long k) {
  Shape shape = (Shape)(ask(k, 15) % kShapes);
  return ranks == 1 && (shape == kArrivedShape || shape == kLateShape || shape == kAnyShape) ? kSilentShape : shape;
}
/* Whether the messages of this operation may be received by another one. */
static int any_order(long k) {
  Kind kind = kind_of(k);
  if (kind == kCancelKind) return shape_of(k) == kAnyShape;
  return any_order_of(kind);
}
/* To the partner: 0 and `ranks` are oneself, but not where nothing says when a message is received. */
static int distance(long k) {
  int two = kind_of(k) == kCancelKind && (shape_of(k) == kArrivedShape || shape_of(k) == kLateShape);
  if (any_order(k) || two) return 1 + (int)(ask(k, 1) % (uint64_t)(ranks - 1));
  return (int)(ask(k, 1) % (uint64_t)(ranks + 1));
}
int delay(long k) {
  Kind kind = kind_of(k);
  if (kind == kProbeKind || kind == kMatchedKind) return 3; /* one at a time */
  return (int)(ask(k, 2) % kSlots);
}
int slot(long k) { return (int)(k % kSlots); }
int to_of(long k) { return (rank + distance(k)) % ranks; }
int from_of(long k) { return (rank + 2 * ranks - distance(k)) % ranks; }
MPI_Comm comm_of(long k) { return ask(k, 10) % 2 == 0 ? MPI_COMM_WORLD : copy; }

void fail(long k, const char *what) {
  fprintf(stderr, "traffic: rank %d, step %ld, operation %ld of kind %d: %s\n", rank, step, k, (int)kind_of(k), what);
  /* Launchers may end without having read what was said just before an abort. */
  struct timespec pause = {0, 200000000};
  nanosleep(&pause, NULL);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

void note(uint64_t value) { fixed = mix(fixed, value); }

/* Work of random length, other at each process. */
void dally(long k) {
  uint64_t turns = mix(ask(k, 3), (uint64_t)rank);
  if (turns % 8 == 0) dally_for((turns >> 8) % 100 * (uint64_t)work);
}

/* ---- Messages --------------------------------------------------------------------------------- */

int length_of(long k) {
  if (!any_order(k) && ask(k, 4) % (uint64_t)large == 0) return kMost - (int)(ask(k, 5) % 1000);
  return kHeader + (int)(ask(k, 5) % 40);
}

/* Fills a message and counts its coin. */
int compose(uint64_t *m, int length, uint64_t sequence) {
  m[0] = coin(rank);
  freely -= m[0];
  m[1] = sequence;
  m[2] = (uint64_t)length;
  m[3] = 0;
  for (int i = kHeader; i < length; i++) {
    m[i] = mix(m[0], (uint64_t)i);
    m[3] += m[i];
  }
  return length;
}

/* A message that has come; returns its sequence number. */
uint64_t examine(long k, const uint64_t *m, const MPI_Status *status) {
  int length = 0;
  uint64_t sum = 0;
  MPI_Get_count((MPI_Status *)status, kNumber, &length);
  if (length < kHeader || m[2] != (uint64_t)length) fail(k, "a message of a wrong length");
  for (int i = kHeader; i < length; i++) {
    if (m[i] != mix(m[0], (uint64_t)i)) fail(k, "a message whose content is damaged");
    sum += m[i];
  }
  if (m[3] != sum) fail(k, "a message whose sum is wrong");
  freely += m[0];
  return m[1];
}

int send_tag(long k) {
  return kind_of(k) == kPoolKind ? kPoolTags + (int)(ask(k, 6) % (kTags - kPoolTags)) : (int)(ask(k, 6) % kPoolTags);
}

/* Sends from the slot of k in one of the modes. */
void send_message(long k, int length, int to, int tag, MPI_Comm comm, Order order) {
  uint64_t *m = out[slot(k)];
  MPI_Request *request = &sending[slot(k)];
  int small = length < 200 && to != rank;
  switch (ask(k, 7) % 6) {
    case 0:
      if (small && ((kBuffers && mpi3) || order == kPosted)) {
#if MPI_VERSION >= 4
        if (own) { MPI_Send_c(m, length, kNumber, to, tag, comm); return; }
#endif
        MPI_Send(m, length, kNumber, to, tag, comm);
        return;
      }
      break;
    case 1:
      if (order != kPosted) break;
      if (to != rank) { MPI_Ssend(m, length, kNumber, to, tag, comm); return; }
      /* fall through */
    case 2:
      if (order == kAnyOrder) break;
      MPI_Issend(m, length, kNumber, to, tag, comm, request);
      return;
    case 3:
      if (small) { MPI_Bsend(m, length, kNumber, to, tag, comm); return; }
      break;
    case 4:
      if (small) { MPI_Ibsend(m, length, kNumber, to, tag, comm, request); return; }
      break;
    default: break;
  }
  MPI_Isend(m, length, kNumber, to, tag, comm, request);
}

/* Before the slot of k is used again: by then all that this message could wait for has been done. */
void finish_send(long k) {
  int flag = 0;
  if (ask(k, 8) % 2 == 0) MPI_Wait(&sending[slot(k)], MPI_STATUS_IGNORE);
  while (!flag) MPI_Test(&sending[slot(k)], &flag, MPI_STATUS_IGNORE);
}

/* Completes a receive in one of the ways that there are. */
void finish_receive(long k, MPI_Request *request, MPI_Status *status) {
  MPI_Request two[2];
  MPI_Status statuses[2];
  int flag = 0, index, indices[2], count;
  two[0] = MPI_REQUEST_NULL;
  two[1] = *request;
  switch (ask(k, 9) % 9) {
    case 0: MPI_Wait(request, status); return;
    case 1: while (!flag) MPI_Test(request, &flag, status); return;
    case 2: MPI_Waitall(2, two, statuses); *status = statuses[1]; break;
    case 3: while (!flag) MPI_Testall(2, two, &flag, statuses); *status = statuses[1]; break;
    case 4: MPI_Waitany(2, two, &index, status); break;
    case 5: while (!flag) MPI_Testany(2, two, &index, &flag, status); break;
    case 6: MPI_Waitsome(2, two, &count, indices, statuses); *status = statuses[0]; break;
    case 7: /* with any MPI, because a run may go from one to another in between */
#if MPI_VERSION >= 3
      if (mpi3)
        while (!flag) MPI_Request_get_status(*request, &flag, status);
#endif
      MPI_Wait(request, status);
      return;
    default:
      for (count = 0; count == 0;) MPI_Testsome(2, two, &count, indices, statuses);
      *status = statuses[0];
  }
  *request = two[1];
  if (*request != MPI_REQUEST_NULL && kind_of(k) != kPersistentKind) fail(k, "a request that is complete and not null");
}
