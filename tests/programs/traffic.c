/* traffic.c - every kind of message at once: a program for the kill test.
 *
 * All processes run the same sequence of operations, which follows from --seed: point-to-point messages in
 * every mode to a partner at some distance (perhaps itself, perhaps MPI_PROC_NULL), received by every kind of
 * call, up to seven operations later; derived datatypes; probes, matched ones where MPI has them; persistent requests;
 * requests that are freed under way; a farm whose jobs go to whoever asks first; collectives, blocking and not;
 * communicators made, used and freed; files of MPI; a memory window under fences; receives that are cancelled, with a message, without one, and in a race with it:
 * who has cancelled a receive receives the message then, so that the answer does not depend on how that ends.
 *
 * An operation begins in one micro-step and ends in a later one, and each process has its own random
 * micro-steps before which it calls ELC_Checkpoint: so messages, receives, probes, collectives and the life of
 * communicators lie across recovery lines in every way there is.
 *
 * Every message carries a coin (coins.h). What does not depend on timing is checked on the spot.
 *
 * libELC: restore in place. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives.h"

enum {
  kSlots = 8,      /* operations under way */
  kPhases = 3,     /* micro-steps of an operation: begin, end those that are due, after */
  kMostRanks = 64,
  kHeader = 4,     /* of a message: coin, sequence number, length, sum of the rest */
  kMost = 12000,   /* numbers in a message */
  kTags = 6,       /* classes of ordinary messages; those below kPoolTags are received by blocking calls */
  kPoolTags = 3,
  kReplyTag = 40,
  kReadyTag = 60,
  kTypedTag = 80,
  kFreedTag = 100,
  kCancelTag = 120,
  kSilentTag = 140, /* of no message */
  kFarmTag = 1000,  /* and the number of the operation: a process may be many of them ahead */
  kPersistentTag = 20000, /* the same */
  kLastingTag = 1000,     /* the same, of the operation that has posted the receive */
  kLasting = 3,
  kStretch = 150, /* operations; MPI_Cancel refuses lines, so that there have to be some without it */
  kStride = 3
};

typedef enum Kind {
  kPlainKind, kPoolKind, kTaglessKind, kWildKind, kProbeKind, kTypedKind, kFarmKind, kExchangeKind, kNullKind,
  kLifeKind, kSplitKind, kCollectiveKind, kReadyKind, kMatchedKind, kPersistentKind, kFreedKind, kCancelKind, kStartedKind,
  kFileKind, kWindowKind,
  kKinds
} Kind;

/* What there is for a receive that is cancelled. */
typedef enum Shape {
  kSilentShape,  /* nothing ever */
  kDupShape,     /* nothing, on a communicator that is made for it */
  kArrivedShape, /* a message: a later one of its class has been received */
  kRaceShape,    /* a message, at some time */
  kLateShape,    /* two, of which the other one is received between the cancelling and the waiting */
  kAnyShape,     /* a message for whoever receives any */
  kLastingShape, /* many operations later, perhaps a message */
  kShapes
} Shape;

static long seed = 1, operations = 400, work = 20, lines = 0, large = 12, own = 0, windows = 0;
static int rank, ranks;

/* ---- The state: all of it registered --------------------------------------------------------- */

static long step;        /* micro-steps done */
static uint64_t fixed;   /* digest of what does not depend on timing */
static uint64_t freely;  /* this process's part of the grand total */
static uint64_t sent_to[kMostRanks][kTags + 1], received_from[kMostRanks][kTags + 1]; /* the last: on `tagless` */
static uint64_t expected[kSlots]; /* sequence number of the message that a slot's receive will get */
static MPI_Request sending[kSlots], receiving[kSlots], wild_receiving[kSlots];
static MPI_Request lasting[kLasting];
static long lasting_since[kLasting]; /* the operation that has posted it; -1: not posted */
static MPI_Comm copy, tagless, wild, probed, matched, revoked, life[kSlots];
static MPI_Datatype strided, pairs;
static MPI_File files[kSlots], lasting_file; /* TRAFFIC_FILE names them; without it nothing is written */
static const char *file_name;
enum { kSum = kSlots, kConstant, kWindowNumbers }; /* places in the memory window, behind those of slots */
static uint64_t shared[kWindowNumbers], sum, given[kSlots], fetched[kSlots]; /* sum: what kSum has to be */
static long put_since[kSlots]; /* the last fence, by this operation; -1: by none */
static MPI_Win window;
static MPI_Status shown, last;
static uint64_t out[kSlots][kMost], in[kSlots][kMost], wild_in[kSlots][kMost], lasting_in[kLasting][kMost];
static uint64_t scratch[kMost];

static void register_state(void) {
  ELC_VAR(step);
  ELC_VAR(fixed);
  ELC_VAR(freely);
  ELC_VAR(sent_to);
  ELC_VAR(received_from);
  ELC_VAR(expected);
  ELC_REQUEST(sending);
  ELC_REQUEST(receiving);
  ELC_REQUEST(wild_receiving);
  ELC_REQUEST(lasting);
  ELC_VAR(lasting_since);
  ELC_COMM(copy);
  ELC_COMM(tagless);
  ELC_COMM(wild);
  ELC_COMM(probed);
  ELC_COMM(matched);
  ELC_COMM(revoked);
  ELC_COMM(life);
  ELC_MPIFILE(files);
  ELC_DATATYPE(strided);
  ELC_DATATYPE(pairs);
  ELC_STATUS(shown);
  ELC_STATUS(last);
  ELC_VAR(out);
  ELC_VAR(in);
  ELC_VAR(wild_in);
  ELC_VAR(lasting_in);
  ELC_VAR(scratch);
  if (windows) {
    ELC_VAR(shared);
    ELC_VAR(sum);
    ELC_VAR(given);
    ELC_VAR(fetched);
    ELC_VAR(put_since);
    ELC_MPIWIN(window);
  }
}

/* ---- Numbers ---------------------------------------------------------------------------------- */

/* What operation k is: the same at all processes. `what` numbers the questions. */
static uint64_t ask(long k, int what) { return mix(mix((uint64_t)seed, (uint64_t)k), (uint64_t)what); }

static int may_cancel(long k) { return ask(k / kStretch, 14) % 3 == 0; }
static Kind kind_of(long k) {
  Kind kind = (Kind)(ask(k, 0) % kKinds);
  if (may_cancel(k) && ask(k, 20) % 3 == 0) return kCancelKind;
  if (kind == kCancelKind && !may_cancel(k)) return kPoolKind;
  if (kind == kMatchedKind && !own) kind = kProbeKind;
  return ranks == 1 && (kind == kWildKind || kind == kProbeKind || kind == kMatchedKind) ? kNullKind : kind;
}
static Shape shape_of(long k) {
  Shape shape = (Shape)(ask(k, 15) % kShapes);
  return ranks == 1 && (shape == kArrivedShape || shape == kLateShape || shape == kAnyShape) ? kSilentShape : shape;
}
/* Whether the messages of this operation may be received by another one. */
static int any_order(long k) {
  Kind kind = kind_of(k);
  if (kind == kCancelKind) return shape_of(k) == kAnyShape;
  return kind == kWildKind || kind == kProbeKind || kind == kMatchedKind;
}
/* To the partner: 0 and `ranks` are oneself, but not where nothing says when a message is received. */
static int distance(long k) {
  int two = kind_of(k) == kCancelKind && (shape_of(k) == kArrivedShape || shape_of(k) == kLateShape);
  if (any_order(k) || two) return 1 + (int)(ask(k, 1) % (uint64_t)(ranks - 1));
  return (int)(ask(k, 1) % (uint64_t)(ranks + 1));
}
static int delay(long k) {
  Kind kind = kind_of(k);
  if (kind == kProbeKind || kind == kMatchedKind) return 3; /* one at a time */
  return (int)(ask(k, 2) % kSlots);
}
static int slot(long k) { return (int)(k % kSlots); }
static int to_of(long k) { return (rank + distance(k)) % ranks; }
static int from_of(long k) { return (rank + 2 * ranks - distance(k)) % ranks; }

static void fail(long k, const char *what) {
  fprintf(stderr, "traffic: rank %d, step %ld, operation %ld of kind %d: %s\n", rank, step, k, (int)kind_of(k), what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void note(uint64_t value) { fixed = mix(fixed, value); }

/* Work of random length, other at each process. */
static void dally(long k) {
  uint64_t turns = mix(ask(k, 3), (uint64_t)rank);
  if (turns % 8 == 0) dally_for((turns >> 8) % 100 * (uint64_t)work);
}

/* ---- Messages --------------------------------------------------------------------------------- */

static int length_of(long k) {
  if (!any_order(k) && ask(k, 4) % (uint64_t)large == 0) return kMost - (int)(ask(k, 5) % 1000);
  return kHeader + (int)(ask(k, 5) % 40);
}

/* Fills a message and counts its coin. */
static int compose(uint64_t *m, int length, uint64_t sequence) {
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
static uint64_t examine(long k, const uint64_t *m, const MPI_Status *status) {
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

static int send_tag(long k) {
  return kind_of(k) == kPoolKind ? kPoolTags + (int)(ask(k, 6) % (kTags - kPoolTags)) : (int)(ask(k, 6) % kPoolTags);
}

/* When a send may wait for its receive. */
typedef enum Order {
  kAnyOrder, /* never: messages of later operations may be received first */
  kInOrder,  /* until the slot is used again */
  kPosted    /* at once: the receive was posted before */
} Order;

/* Sends from the slot of k in one of the modes. */
static void send(long k, int length, int to, int tag, MPI_Comm comm, Order order) {
  uint64_t *m = out[slot(k)];
  MPI_Request *request = &sending[slot(k)];
  int small = length < 200 && to != rank;
  switch (ask(k, 7) % 6) {
    case 0:
      if (small && ((kBuffers && own) || order == kPosted)) { MPI_Send(m, length, kNumber, to, tag, comm); return; }
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
static void finish_send(long k) {
  int flag = 0;
  if (ask(k, 8) % 2 == 0) MPI_Wait(&sending[slot(k)], MPI_STATUS_IGNORE);
  while (!flag) MPI_Test(&sending[slot(k)], &flag, MPI_STATUS_IGNORE);
}

/* Completes a receive in one of the ways that there are. */
static void finish_receive(long k, MPI_Request *request, MPI_Status *status) {
  MPI_Request two[2];
  MPI_Status statuses[2];
  int flag = 0, index, indices[2], count;
  two[0] = MPI_REQUEST_NULL;
  two[1] = *request;
  switch (ask(k, 9) % 8) {
    case 0: MPI_Wait(request, status); return;
    case 1: while (!flag) MPI_Test(request, &flag, status); return;
    case 2: MPI_Waitall(2, two, statuses); *status = statuses[1]; break;
    case 3: while (!flag) MPI_Testall(2, two, &flag, statuses); *status = statuses[1]; break;
    case 4: MPI_Waitany(2, two, &index, status); break;
    case 5: while (!flag) MPI_Testany(2, two, &index, &flag, status); break;
    case 6: MPI_Waitsome(2, two, &count, indices, statuses); *status = statuses[0]; break;
    default:
      for (count = 0; count == 0;) MPI_Testsome(2, two, &count, indices, statuses);
      *status = statuses[0];
  }
  *request = two[1];
  if (*request != MPI_REQUEST_NULL && kind_of(k) != kPersistentKind) fail(k, "a request that is complete and not null");
}

/* ---- Kinds of operations ------------------------------------------------------------------------ */

/* Blocking receives: in the order of sending, each class. */
static void end_plain(long k) {
  int from = from_of(k), tag = send_tag(k), flag = 0;
  if (ask(k, 10) % 3 == 0) {
    MPI_Probe(from, tag, copy, &last);
  } else if (ask(k, 10) % 3 == 1) {
    while (!flag) MPI_Iprobe(from, tag, copy, &flag, &last);
  }
  MPI_Recv(scratch, kMost, kNumber, from, tag, copy, &last);
  if (last.MPI_SOURCE != from || last.MPI_TAG != tag) fail(k, "a status that names another message");
  if (examine(k, scratch, &last) != received_from[from][tag]++) fail(k, "a message out of its order");
}

static void begin_plain(long k) {
  int to = to_of(k), tag = send_tag(k);
  send(k, compose(out[slot(k)], length_of(k), sent_to[to][tag]++), to, tag, copy, kInOrder);
}

/* A receive that is posted now and completed later: non-overtaking says which message it gets. */
static void begin_pool(long k) {
  int to = to_of(k), from = from_of(k), tag = send_tag(k);
  expected[slot(k)] = received_from[from][tag]++;
  MPI_Irecv(in[slot(k)], kMost, kNumber, from, tag, copy, &receiving[slot(k)]);
  send(k, compose(out[slot(k)], length_of(k), sent_to[to][tag]++), to, tag, copy, kPosted);
}

static void end_pool(long k) {
  finish_receive(k, &receiving[slot(k)], &last);
  if (last.MPI_SOURCE != from_of(k)) fail(k, "a status that names another source");
  if (examine(k, in[slot(k)], &last) != expected[slot(k)]) fail(k, "a message out of its order");
}

/* All tags of one source: in the order of sending, too. Half of the receives are posted early. */
static void begin_tagless(long k) {
  int to = to_of(k), from = from_of(k), early = ask(k, 10) % 2 == 0;
  if (early) {
    expected[slot(k)] = received_from[from][kTags]++;
    MPI_Irecv(in[slot(k)], kMost, kNumber, from, MPI_ANY_TAG, tagless, &receiving[slot(k)]);
  }
  send(k, compose(out[slot(k)], length_of(k), sent_to[to][kTags]++), to, (int)(ask(k, 6) % 3), tagless,
       kInOrder);
}

static void end_tagless(long k) {
  int from = from_of(k), early = ask(k, 10) % 2 == 0;
  uint64_t wanted = early ? expected[slot(k)] : received_from[from][kTags]++;
  if (early) finish_receive(k, &receiving[slot(k)], &last);
  else MPI_Recv(in[slot(k)], kMost, kNumber, from, MPI_ANY_TAG, tagless, &last);
  if (examine(k, in[slot(k)], &last) != wanted) fail(k, "a message out of its order");
}

/* Wildcard receives, half of them posted early. All messages on `wild` are received by such. */
static void begin_wild(long k) {
  if (ask(k, 10) % 2 == 0)
    MPI_Irecv(wild_in[slot(k)], kMost, kNumber, MPI_ANY_SOURCE, MPI_ANY_TAG, wild, &wild_receiving[slot(k)]);
  send(k, compose(out[slot(k)], length_of(k), (uint64_t)rank), to_of(k), (int)(ask(k, 6) % 4), wild, kAnyOrder);
}

static void end_wild(long k) {
  uint64_t *m = wild_in[slot(k)];
  if (ask(k, 10) % 2 == 0) finish_receive(k, &wild_receiving[slot(k)], &last);
  else MPI_Recv(m, kMost, kNumber, MPI_ANY_SOURCE, MPI_ANY_TAG, wild, &last);
  if (examine(k, m, &last) != (uint64_t)last.MPI_SOURCE) fail(k, "a message under another source");
}

/* The sender draws the tag; the receiver learns it by a probe, a micro-step before it receives. */
static void begin_probe(long k) {
  int tag = (int)(coin(rank) % 4);
  send(k, compose(out[slot(k)], length_of(k), (uint64_t)tag), to_of(k), tag, probed, kAnyOrder);
}

static void end_probe(long k) {
  int flag = 0;
  if (ask(k, 10) % 2 == 0) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, probed, &shown);
  else while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, probed, &flag, &shown);
}

static void after_probe(long k) {
  MPI_Recv(scratch, kMost, kNumber, shown.MPI_SOURCE, shown.MPI_TAG, probed, &last);
  if (examine(k, scratch, &last) != (uint64_t)shown.MPI_TAG) fail(k, "a message under another tag");
}

/* The same by matched probes. Where a site comes before the receive, no line can be taken there. */
#if MPI_VERSION >= 3
static MPI_Message message; /* not registered: no line has one */
static int have_message;
#endif

static void begin_matched(long k) {
  int tag = (int)(coin(rank) % 4);
  send(k, compose(out[slot(k)], length_of(k), (uint64_t)tag), to_of(k), tag, matched, kAnyOrder);
}

static void receive_matched(long k) {
  uint64_t *m = in[slot(k)];
#if MPI_VERSION >= 3
  have_message = 0;
  if (ask(k, 16) % 2 == 0) {
    MPI_Mrecv(m, kMost, kNumber, &message, &last);
  } else {
    MPI_Imrecv(m, kMost, kNumber, &message, &receiving[slot(k)]);
    finish_receive(k, &receiving[slot(k)], &last);
  }
  if (message != MPI_MESSAGE_NULL) fail(k, "a matched message that was received and is not null");
#else
  MPI_Recv(m, kMost, kNumber, last.MPI_SOURCE, last.MPI_TAG, matched, &last);
#endif
  if (examine(k, m, &last) != (uint64_t)last.MPI_TAG) fail(k, "a matched message under another tag");
}

static void end_matched(long k) {
#if MPI_VERSION >= 3
  int flag = 0;
  if (ask(k, 10) % 2 == 0) MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, matched, &message, &last);
  else while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, matched, &flag, &message, &last);
  have_message = ask(k, 17) % 8 == 0;
  if (!have_message) receive_matched(k);
#else
  MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, matched, &last);
  receive_matched(k);
#endif
}

static void after_matched(long k) {
#if MPI_VERSION >= 3
  if (have_message) receive_matched(k);
#else
  (void)k;
#endif
}

/* Derived datatypes with gaps, which a receive has to leave alone. */
static void begin_typed(long k) {
  uint64_t *m = out[slot(k)], *to = in[slot(k)];
  int count = 2 + (int)(ask(k, 5) % 30);
  for (int i = 0; i < kStride * 40; i++) to[i] = 77;
  m[0] = coin(rank);
  freely -= m[0];
  for (int i = 1; i < kStride * count; i++) m[i] = quiet(mix(m[0], (uint64_t)i));
  if (ask(k, 10) % 2 == 0) {
    MPI_Irecv(to, count, strided, from_of(k), kTypedTag + slot(k), copy, &receiving[slot(k)]);
    MPI_Isend(m, count, strided, to_of(k), kTypedTag + slot(k), copy, &sending[slot(k)]);
  } else {
    MPI_Irecv(to, count, pairs, from_of(k), kTypedTag + slot(k), copy, &receiving[slot(k)]);
    MPI_Issend(m, count, pairs, to_of(k), kTypedTag + slot(k), copy, &sending[slot(k)]);
  }
}

static void end_typed(long k) {
  const uint64_t *m = in[slot(k)];
  int count = 2 + (int)(ask(k, 5) % 30), elements = 0, is_pair = ask(k, 10) % 2 != 0;
  finish_receive(k, &receiving[slot(k)], &last);
  MPI_Get_count(&last, is_pair ? pairs : strided, &elements);
  if (elements != count) fail(k, "a message of derived type with a wrong count");
  for (int i = 1; i < kStride * count; i++) {
    int gap = i % kStride == 1 || (!is_pair && i % kStride == 2);
    if (m[i] != (gap ? 77 : quiet(mix(m[0], (uint64_t)i)))) fail(k, gap ? "a gap was written to" : "a wrong element");
  }
  freely += m[0];
}

/* Everybody asks the master, who deals out jobs in the order in which they come to ask. */
static int master_of(long k) { return (int)(ask(k, 5) % (uint64_t)ranks); }

static void begin_farm(long k) {
  uint64_t question = (uint64_t)rank;
  if (rank == master_of(k)) return;
  if (kBuffers && ask(k, 10) % 2 == 0) MPI_Send(&question, 1, kNumber, master_of(k), kFarmTag + (int)(k % 10000), copy);
  else MPI_Bsend(&question, 1, kNumber, master_of(k), kFarmTag + (int)(k % 10000), copy);
}

static void end_farm(long k) {
  uint64_t job = 0, question = 0;
  if (rank != master_of(k)) {
    MPI_Recv(&job, 1, kNumber, master_of(k), kReplyTag + slot(k), copy, MPI_STATUS_IGNORE);
    freely += mix(job, (uint64_t)k);
    return;
  }
  for (job = 1; job < (uint64_t)ranks; job++) {
    MPI_Recv(&question, 1, kNumber, MPI_ANY_SOURCE, kFarmTag + (int)(k % 10000), copy, &last);
    if (question != (uint64_t)last.MPI_SOURCE) fail(k, "a question under another source");
    MPI_Send(&job, 1, kNumber, last.MPI_SOURCE, kReplyTag + slot(k), copy);
  }
}

static void exchange(long k) {
  int to = to_of(k), from = from_of(k), length = length_of(k);
  uint64_t *m = out[slot(k)];
  compose(m, length, (uint64_t)k);
  if (ask(k, 10) % 2 == 0) {
    MPI_Sendrecv(m, length, kNumber, to, kReadyTag + kSlots + slot(k), scratch, kMost, kNumber, from,
                 kReadyTag + kSlots + slot(k), copy, &last);
  } else {
    memcpy(scratch, m, (size_t)length * sizeof *m);
    MPI_Sendrecv_replace(scratch, length, kNumber, to, kReadyTag + kSlots + slot(k), from,
                         kReadyTag + kSlots + slot(k), copy, &last);
  }
  if (examine(k, scratch, &last) != (uint64_t)k) fail(k, "an exchange of another operation");
}

static void to_nobody(long k) {
  MPI_Request two[2];
  MPI_Status statuses[2];
  scratch[0] = 5;
  MPI_Send(scratch, 1, kNumber, MPI_PROC_NULL, 1, copy);
  MPI_Recv(scratch, 1, kNumber, MPI_PROC_NULL, 1, copy, &last);
  if (last.MPI_SOURCE != MPI_PROC_NULL || scratch[0] != 5) fail(k, "a receive from nobody");
  MPI_Isend(scratch, 1, kNumber, MPI_PROC_NULL, 1, copy, &two[0]);
  MPI_Irecv(scratch, 1, kNumber, MPI_PROC_NULL, 1, copy, &two[1]);
  MPI_Waitall(2, two, statuses);
}

/* A receive is known to be posted before the ready send begins. */
static void begin_ready(long k) {
  int go = 1, came = 0;
  MPI_Irecv(in[slot(k)], kMost, kNumber, from_of(k), kReadyTag + slot(k), copy, &receiving[slot(k)]);
  compose(out[slot(k)], length_of(k), (uint64_t)k);
  MPI_Sendrecv(&go, 1, MPI_INT, from_of(k), kReplyTag + kSlots + slot(k), &came, 1, MPI_INT, to_of(k),
               kReplyTag + kSlots + slot(k), copy, MPI_STATUS_IGNORE);
  if (came != 1) fail(k, "a token that is none");
  if (ask(k, 10) % 2 == 0) {
    MPI_Rsend(out[slot(k)], length_of(k), kNumber, to_of(k), kReadyTag + slot(k), copy);
  } else {
    MPI_Irsend(out[slot(k)], length_of(k), kNumber, to_of(k), kReadyTag + slot(k), copy, &sending[slot(k)]);
  }
}

static void end_ready(long k) {
  finish_receive(k, &receiving[slot(k)], &last);
  if (examine(k, in[slot(k)], &last) != (uint64_t)k) fail(k, "a ready message of another operation");
}

static int cancelled(const MPI_Status *status) {
  int flag = 0;
  MPI_Test_cancelled((MPI_Status *)status, &flag);
  return flag;
}

/* Persistent requests, used one to three times. */
static void start_persistent(long k, int round) {
  MPI_Request both[2];
  int first = (int)(ask(k, 18) % 2);
  compose(out[slot(k)], length_of(k), (uint64_t)(4 * k + round));
  both[first] = receiving[slot(k)];
  both[1 - first] = sending[slot(k)];
  if (ask(k, 16) % 2 == 0) {
    MPI_Startall(2, both);
  } else {
    MPI_Start(&both[0]);
    MPI_Start(&both[1]);
  }
  receiving[slot(k)] = both[first];
  sending[slot(k)] = both[1 - first];
}

static void begin_persistent(long k) {
  uint64_t *m = out[slot(k)];
  int tag = kPersistentTag + (int)(k % 10000), length = length_of(k), to = to_of(k), how = (int)(ask(k, 7) % 3);
  int from = ask(k, 10) % 2 == 0 ? from_of(k) : MPI_ANY_SOURCE;
  MPI_Recv_init(in[slot(k)], kMost, kNumber, from, tag, copy, &receiving[slot(k)]);
  if (how == 0 && length < 200 && to != rank) MPI_Bsend_init(m, length, kNumber, to, tag, copy, &sending[slot(k)]);
  else if (how == 1) MPI_Ssend_init(m, length, kNumber, to, tag, copy, &sending[slot(k)]);
  else MPI_Send_init(m, length, kNumber, to, tag, copy, &sending[slot(k)]);
  start_persistent(k, 0);
}

static void end_persistent(long k) {
  MPI_Request *request = &receiving[slot(k)];
  int rounds = 1 + (int)(ask(k, 17) % 3);
  for (int round = 0; round < rounds; round++) {
    if (round > 0) start_persistent(k, round);
    finish_receive(k, request, &last);
    if (last.MPI_SOURCE != from_of(k)) fail(k, "a status that names another source");
    if (examine(k, in[slot(k)], &last) != (uint64_t)(4 * k + round)) fail(k, "a message of another start");
    finish_send(k);
    if (*request == MPI_REQUEST_NULL || sending[slot(k)] == MPI_REQUEST_NULL) fail(k, "a persistent request is gone");
  }
  if (may_cancel(k)) { /* all messages of the operation have come */
    MPI_Start(request);
    MPI_Cancel(request);
    finish_receive(k, request, &last);
    if (!cancelled(&last)) fail(k, "a persistent receive without a message that is not cancelled");
  }
  MPI_Request_free(request);
  MPI_Request_free(&sending[slot(k)]);
}

/* Sends whose request is freed at once; an answer says when the buffer may be used again. */
static void begin_freed(long k) {
  uint64_t *m = out[slot(k)];
  int tag = kFreedTag + slot(k), to = to_of(k), length = compose(m, length_of(k), (uint64_t)k);
  MPI_Request request;
  MPI_Irecv(in[slot(k)], kMost, kNumber, from_of(k), tag, copy, &receiving[slot(k)]);
  switch (ask(k, 7) % 3) {
    case 0: MPI_Isend(m, length, kNumber, to, tag, copy, &request); break;
    case 1: MPI_Issend(m, length, kNumber, to, tag, copy, &request); break;
    default:
      MPI_Send_init(m, length, kNumber, to, tag, copy, &request);
      MPI_Start(&request);
  }
  MPI_Request_free(&request);
  if (request != MPI_REQUEST_NULL) fail(k, "a request that was freed and is not null");
}

static void end_freed(long k) {
  int mine = 1, came = 0, tag = kFreedTag + kSlots + slot(k);
  finish_receive(k, &receiving[slot(k)], &last);
  if (examine(k, in[slot(k)], &last) != (uint64_t)k) fail(k, "a message of another operation");
  MPI_Sendrecv(&mine, 1, MPI_INT, from_of(k), tag, &came, 1, MPI_INT, to_of(k), tag, copy, MPI_STATUS_IGNORE);
  if (came != 1) fail(k, "an answer that is none");
}

/* ---- Receives that are cancelled ------------------------------------------------------------------ */

/* Completes a receive that was to be cancelled, where there is a message: it has that, or another receive gets it now.
 * Whether it was cancelled. */
static int finish_or_receive(long k, MPI_Request *request, uint64_t *m, int from, int tag, MPI_Comm comm) {
  int gone;
  finish_receive(k, request, &last);
  gone = cancelled(&last);
  if (gone) MPI_Recv(m, kMost, kNumber, from, tag, comm, &last);
  return gone;
}

/* The same where there is none. */
static void finish_silent(long k, MPI_Request *request) {
  finish_receive(k, request, &last);
  if (!cancelled(&last)) fail(k, "a receive without a message that is not cancelled");
}

/* Of those that wait long, ends one and begins another one. */
static void last_and_begin(long k) {
  int i = (int)(ask(k, 16) % kLasting);
  long since = lasting_since[i];
  int tag = kLastingTag + (int)(since % 10000), next = kLastingTag + (int)(k % 10000);
  if (since >= 0 && ask(k, 17) % 2 == 0) {
    MPI_Cancel(&lasting[i]);
    finish_silent(k, &lasting[i]);
  } else if (since >= 0) {
    send(k, compose(out[slot(k)], length_of(k), (uint64_t)k), to_of(since), tag, revoked, kInOrder);
    if (ask(k, 18) % 2 == 0) dally_for(100);
    MPI_Cancel(&lasting[i]);
    finish_or_receive(k, &lasting[i], lasting_in[i], from_of(since), tag, revoked);
    if (examine(k, lasting_in[i], &last) != (uint64_t)k) fail(k, "a message of another operation");
  }
  MPI_Irecv(lasting_in[i], kMost, kNumber, from_of(k), next, revoked, &lasting[i]);
  lasting_since[i] = k;
}

static void end_lasting(void) {
  for (int i = 0; i < kLasting; i++) {
    if (lasting_since[i] < 0) continue;
    MPI_Cancel(&lasting[i]);
    finish_silent(lasting_since[i], &lasting[i]);
  }
}

/* One message, or two, for a receive that is cancelled. */
static void send_to_cancelled(long k) {
  uint64_t m[kHeader + 1];
  int to = to_of(k), tag = kCancelTag + slot(k);
  send(k, compose(out[slot(k)], length_of(k), (uint64_t)(2 * k)), to, tag, revoked, kInOrder);
  if (shape_of(k) == kRaceShape) return;
  MPI_Bsend(m, compose(m, kHeader + 1, (uint64_t)(2 * k + 1)), kNumber, to, tag, revoked);
}

/* At the same time as the receive is cancelled. */
static int sent_late(long k) {
  return (shape_of(k) == kRaceShape || shape_of(k) == kLateShape) && ask(k, 17) % 4 != 0;
}

static void begin_cancel(long k) {
  uint64_t *m = out[slot(k)];
  MPI_Request *request = &receiving[slot(k)];
  int any = ask(k, 16) % 2 == 0, from = any ? MPI_ANY_SOURCE : from_of(k), tag = kCancelTag + slot(k);
  switch (shape_of(k)) {
    case kSilentShape:
      MPI_Irecv(in[slot(k)], kMost, kNumber, from, kSilentTag, revoked, request);
      return;
    case kDupShape:
      MPI_Comm_dup(ask(k, 17) % 2 == 0 ? MPI_COMM_WORLD : revoked, &life[slot(k)]);
      MPI_Irecv(in[slot(k)], kMost, kNumber, from, any ? MPI_ANY_TAG : 1, life[slot(k)], request);
      return;
    case kLastingShape: last_and_begin(k); return;
    case kAnyShape:
      MPI_Irecv(wild_in[slot(k)], kMost, kNumber, MPI_ANY_SOURCE, MPI_ANY_TAG, wild, &wild_receiving[slot(k)]);
      send(k, compose(m, length_of(k), (uint64_t)rank), to_of(k), (int)(ask(k, 6) % 4), wild, kAnyOrder);
      return;
    default: break;
  }
  MPI_Irecv(in[slot(k)], kMost, kNumber, from_of(k), tag, revoked, request);
  if (!sent_late(k)) send_to_cancelled(k);
}

static void finish_cancel(long k) {
  uint64_t *m = in[slot(k)], had;
  MPI_Request *request = &receiving[slot(k)];
  int from = from_of(k), tag = kCancelTag + slot(k), early = ask(k, 19) % 2 == 0, gone;
  switch (shape_of(k)) {
    case kSilentShape: finish_silent(k, request); return;
    case kDupShape:
      if (early) MPI_Comm_free(&life[slot(k)]);
      finish_silent(k, request);
      if (!early) MPI_Comm_free(&life[slot(k)]);
      return;
    case kAnyShape:
      finish_or_receive(k, &wild_receiving[slot(k)], wild_in[slot(k)], MPI_ANY_SOURCE, MPI_ANY_TAG, wild);
      if (examine(k, wild_in[slot(k)], &last) != (uint64_t)last.MPI_SOURCE) fail(k, "a message under another source");
      return;
    default: break;
  }
  gone = finish_or_receive(k, request, m, from, tag, revoked);
  had = examine(k, m, &last);
  if (shape_of(k) == kArrivedShape && gone) fail(k, "a receive that has a message and is cancelled");
  if (shape_of(k) == kRaceShape ? had != (uint64_t)(2 * k)
                                : had != (uint64_t)(2 * k + gone) || expected[slot(k)] != (uint64_t)(2 * k + 1 - gone))
    fail(k, "a message out of its order");
}

/* A site may come before it is complete. */
static int finished_apart(long k) { return ask(k, 18) % 2 == 0; }

static void end_cancel(long k) {
  uint64_t *m = wild_in[slot(k)];
  int from = from_of(k), tag = kCancelTag + slot(k);
  Shape shape = shape_of(k);
  if (shape == kLastingShape) return;
  if (shape == kArrivedShape) MPI_Recv(m, kMost, kNumber, from, tag, revoked, &last);
  if (shape == kArrivedShape) expected[slot(k)] = examine(k, m, &last);
  MPI_Cancel(shape == kAnyShape ? &wild_receiving[slot(k)] : &receiving[slot(k)]);
  if (shape == kLateShape) MPI_Irecv(m, kMost, kNumber, from, tag, revoked, &wild_receiving[slot(k)]);
  if (sent_late(k)) send_to_cancelled(k);
  if (shape == kLateShape) {
    finish_receive(k, &wild_receiving[slot(k)], &last);
    expected[slot(k)] = examine(k, m, &last);
  }
  if (!finished_apart(k)) finish_cancel(k);
}

static void after_cancel(long k) {
  if (shape_of(k) != kLastingShape && finished_apart(k)) finish_cancel(k);
}

/* ---- Collectives --------------------------------------------------------------------------------- */

/* One of them, at once. Coins balance here too. */
static void collective(long k, MPI_Comm comm) {
  const Collective c = draw_collective(ask(k, 11), comm);
  uint64_t many[kMostNumbers], result[kMostNumbers];
  freely -= put_in(&c, coin(rank), many);
  call_collective(&c, many, result, comm, NULL);
  freely += take_out(&c, result);
  if (c.what == kLargest) note(result[0]);
}

static Collective started[kSlots]; /* not registered: what a restart finds is complete */

static MPI_Comm comm_of(long k) { return ask(k, 10) % 2 == 0 ? MPI_COMM_WORLD : copy; }

/* One that goes on while other operations come. */
static void begin_started(long k) {
  Collective *c = &started[slot(k)];
  *c = draw_collective(ask(k, 11), comm_of(k));
  freely -= put_in(c, coin(rank), out[slot(k)]);
  call_collective(c, out[slot(k)], in[slot(k)], comm_of(k), own ? &receiving[slot(k)] : NULL);
}

static void end_started(long k) {
  const Collective c = draw_collective(ask(k, 11), comm_of(k));
  if (own) finish_receive(k, &receiving[slot(k)], &last);
  freely += take_out(&c, in[slot(k)]);
  if (c.what == kLargest) note(in[slot(k)][0]);
}

/* ---- Topologies --------------------------------------------------------------------------------- */

enum { kMostNeighbours = 8 };

/* A grid, of which perhaps a row is taken, or a ring. Not all processes have to be in it. */
static void make_topology(long k, MPI_Comm *made) {
  const int members = ranks > 1 ? ranks - (int)(ask(k, 22) % 2) : 1, shape = (int)(ask(k, 21) % 4);
  const int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  int extents[2] = {0, 0}, periodic[2] = {(int)(ask(k, 23) % 2), (int)(ask(k, 24) % 2)}, remain[2] = {0, 0};
  int index[kMostRanks], edges[2 * kMostRanks];
  MPI_Comm grid;
  (void)right, (void)left;
#if MPI_VERSION >= 3
  if (own && shape == 3) { /* each sends to its right-hand neighbour, and perhaps to itself */
    const int both = (int)(ask(k, 25) % 2), weights[2] = {rank + 1, 7};
    const int from[2] = {left, rank}, to[2] = {right, rank}, degree = 1 + both;
    if (ask(k, 26) % 3 == 0)
      MPI_Dist_graph_create_adjacent(copy, degree, from, weights, degree, to, weights, MPI_INFO_NULL, 0, made);
    else if (ask(k, 26) % 3 == 1)
      MPI_Dist_graph_create_adjacent(copy, degree, from, MPI_UNWEIGHTED, degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
    else
      MPI_Dist_graph_create(copy, 1, &rank, &degree, to, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, made);
    return;
  }
#endif
  if (shape == 2) {
    for (int i = 0; i < members; i++) {
      index[i] = 2 * (i + 1);
      edges[2 * i] = (i + 1) % members;
      edges[2 * i + 1] = (i + members - 1) % members;
    }
    MPI_Graph_create(copy, members, index, edges, 0, made);
    return;
  }
  MPI_Dims_create(members, 2, extents);
  if (ask(k, 28) % 2 == 0) {
    int place;
    MPI_Cart_map(copy, 2, extents, periodic, &place);
    if (own) note((uint64_t)place);
  }
  if (shape != 1) {
    MPI_Cart_create(copy, 2, extents, periodic, own ? 1 : 0, made);
    return;
  }
  MPI_Cart_create(copy, 2, extents, periodic, 0, &grid);
  *made = MPI_COMM_NULL;
  if (grid == MPI_COMM_NULL) return;
  remain[ask(k, 25) % 2] = 1;
  MPI_Cart_sub(grid, remain, made);
  MPI_Comm_free(&grid);
}

/* Of a grid or a graph: what it is, which is part of the result. */
static void note_topology(long k, MPI_Comm comm, int me) {
  int kind, n = 0, rest = 0, here = -1, lists[4][kMostNeighbours];
  (void)rest;
  MPI_Topo_test(comm, &kind);
  note((uint64_t)(kind == MPI_CART ? 1 : kind == MPI_GRAPH ? 2 : kind == MPI_UNDEFINED ? 3 : 4));
  if (kind == MPI_CART) {
    MPI_Cartdim_get(comm, &n);
    MPI_Cart_get(comm, n, lists[0], lists[1], lists[2]);
    MPI_Cart_rank(comm, lists[2], &here);
    if (here != me) fail(k, "coordinates that are another process's");
    for (int d = 0; d < n; d++) note((uint64_t)(lists[0][d] * 2 + (lists[1][d] != 0)));
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, me, &n);
    MPI_Graph_neighbors(comm, me, n, lists[0]);
    for (int i = 0; i < n; i++) note((uint64_t)lists[0][i]);
  }
#if MPI_VERSION >= 3
  if (kind == MPI_DIST_GRAPH) {
    int weighted;
    uint64_t sum = 0; /* MPI_Dist_graph_create puts them in no certain order */
    MPI_Dist_graph_neighbors_count(comm, &n, &rest, &weighted);
    MPI_Dist_graph_neighbors(comm, n, lists[0], weighted ? lists[1] : MPI_UNWEIGHTED, rest, lists[2],
                             weighted ? lists[3] : MPI_UNWEIGHTED);
    for (int i = 0; i < n; i++) sum += (uint64_t)(lists[0][i] + (weighted ? 100 * lists[1][i] : 0));
    for (int i = 0; i < rest; i++) sum += 1000 * (uint64_t)(lists[2][i] + (weighted ? 100 * lists[3][i] : 0));
    note(sum);
  }
#endif
}

#if MPI_VERSION >= 3
/* A block for each neighbour, of which a grid's may be nobody. */
static void among_neighbours(long k, MPI_Comm comm) {
  enum { kBlock = 2 };
  int kind, in_degree = 0, out_degree = 0, weighted, me;
  int sources[kMostNeighbours], destinations[kMostNeighbours], counts[kMostNeighbours], offsets[kMostNeighbours];
  MPI_Aint bytes[kMostNeighbours];
  MPI_Datatype types[kMostNeighbours];
  uint64_t given[kMostNeighbours * kBlock], got[kMostNeighbours * kBlock];
  const int how = (int)(ask(k, 27) % 5), same = how < 2;
  const uint64_t x = coin(rank);
  MPI_Comm_rank(comm, &me);
  MPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) {
    int dimensions;
    MPI_Cartdim_get(comm, &dimensions);
    for (int d = 0; d < dimensions; d++) MPI_Cart_shift(comm, d, 1, &sources[2 * d], &sources[2 * d + 1]);
    in_degree = out_degree = 2 * dimensions;
    memcpy(destinations, sources, sizeof sources);
  } else if (kind == MPI_GRAPH) {
    MPI_Graph_neighbors_count(comm, me, &in_degree);
    MPI_Graph_neighbors(comm, me, in_degree, sources);
    out_degree = in_degree;
    memcpy(destinations, sources, sizeof sources);
  } else if (kind == MPI_DIST_GRAPH) {
    MPI_Dist_graph_neighbors_count(comm, &in_degree, &out_degree, &weighted);
    MPI_Dist_graph_neighbors(comm, in_degree, sources, MPI_UNWEIGHTED, out_degree, destinations, MPI_UNWEIGHTED);
  } else {
    return;
  }
  for (int i = 0; i < kMostNeighbours; i++) {
    counts[i] = kBlock;
    offsets[i] = kBlock * i;
    bytes[i] = (MPI_Aint)(kBlock * i * (int)sizeof(uint64_t));
    types[i] = kNumber;
  }
  for (int i = 0; i < kMostNeighbours * kBlock; i++) {
    given[i] = mix(x, (uint64_t)i);
    got[i] = 0;
  }
  for (int i = 0; i < out_degree; i++)
    for (int j = 0; j < kBlock && destinations[i] >= 0; j++) freely -= given[same ? j : kBlock * i + j];
  switch (how) {
    case 0: MPI_Neighbor_allgather(given, kBlock, kNumber, got, kBlock, kNumber, comm); break;
    case 1: MPI_Neighbor_allgatherv(given, kBlock, kNumber, got, counts, offsets, kNumber, comm); break;
    case 2: MPI_Neighbor_alltoall(given, kBlock, kNumber, got, kBlock, kNumber, comm); break;
    case 3: MPI_Neighbor_alltoallv(given, counts, offsets, kNumber, got, counts, offsets, kNumber, comm); break;
    default: MPI_Neighbor_alltoallw(given, counts, bytes, types, got, counts, bytes, types, comm);
  }
  for (int i = 0; i < in_degree; i++)
    for (int j = 0; j < kBlock && sources[i] >= 0; j++) freely += got[kBlock * i + j];
}
#endif

/* ---- Communicators ------------------------------------------------------------------------------ */

static void use(long k, MPI_Comm comm) {
  int me;
  if (comm == MPI_COMM_NULL) return;
  MPI_Comm_rank(comm, &me);
  collective(k, comm);
  note_topology(k, comm, me);
#if MPI_VERSION >= 3
  if (own) among_neighbours(k, comm);
#endif
}

static int half_of(long k, int process) { return (int)(mix(ask(k, 10), (uint64_t)process) % 2); }

/* Of the processes of one half, in the opposite order; or, where it stands for MPI_Comm_split_type, of all. */
static void create(long k, MPI_Comm *made, int all) {
  int members[kMostRanks], count = 0;
  MPI_Group whole, part;
  for (int i = 0; i < ranks; i++) {
    const int process = all ? i : ranks - 1 - i;
    if (all || half_of(k, process)) members[count++] = process;
  }
  MPI_Comm_group(copy, &whole);
  MPI_Group_incl(whole, count, members, &part);
  MPI_Comm_create(copy, part, made);
  MPI_Group_free(&whole);
  MPI_Group_free(&part);
}

static void begin_life(long k) {
  MPI_Comm *c = &life[slot(k)];
  if (kind_of(k) == kLifeKind) MPI_Comm_dup(ask(k, 10) % 2 == 0 ? MPI_COMM_WORLD : copy, c);
  else if (ask(k, 17) % 2 == 0) make_topology(k, c);
  else if (ask(k, 18) % 3 == 0) MPI_Comm_split(copy, half_of(k, rank), ranks - rank, c);
  else if (ask(k, 18) % 3 == 1) create(k, c, 0);
#if MPI_VERSION >= 3
  else MPI_Comm_split_type(copy, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, c);
#else
  else create(k, c, 1); /* the same on one machine */
#endif
  use(k, *c);
  if (kind_of(k) == kSplitKind) return;
  MPI_Irecv(in[slot(k)], kMost, kNumber, MPI_ANY_SOURCE, 0, *c, &receiving[slot(k)]);
  send(k, compose(out[slot(k)], length_of(k), (uint64_t)rank), to_of(k), 0, *c, kPosted);
}

static void end_life(long k) {
  MPI_Comm *c = &life[slot(k)];
  if (kind_of(k) == kLifeKind) {
    finish_receive(k, &receiving[slot(k)], &last);
    if (examine(k, in[slot(k)], &last) != (uint64_t)from_of(k)) fail(k, "a message of another process");
  }
  use(k, *c);
  if (*c != MPI_COMM_NULL) MPI_Comm_free(c);
}

/* ---- Files ------------------------------------------------------------------------------------------ */

enum { kFileBytes = 8 };
/* Bytes, because a file has the numbers of the machine that wrote it. */
static void fill_bytes(long k, unsigned char *bytes) {
  const uint64_t value = mix(ask(k, 31), (uint64_t)rank);
  for (int i = 0; i < kFileBytes; i++) bytes[i] = (unsigned char)(value >> 8 * i);
}
static int has_own_file(long k) { return ask(k, 30) % 2 == 0; }
static void name_file(long k, char *name, size_t size) { snprintf(name, size, "%s-%d", file_name, slot(k)); }
static MPI_Offset place_in_file(long k) { return (MPI_Offset)((has_own_file(k) ? 0 : k) * ranks + rank) * kFileBytes; }

/* What this process has written. */
static void check_file(long k, const char *name) {
  unsigned char right[kFileBytes], found[kFileBytes];
  FILE *file = fopen(name, "rb");
  fill_bytes(k, right);
  if (file == NULL || fseek(file, (long)place_in_file(k), SEEK_SET) != 0 || fread(found, 1, kFileBytes, file) != kFileBytes ||
      memcmp(found, right, kFileBytes) != 0)
    fail(k, "what was written to a file is not there");
  fclose(file);
}

static void write_file(long k, MPI_File file) {
  unsigned char bytes[kFileBytes];
  MPI_Status status;
  const MPI_Offset place = place_in_file(k);
  fill_bytes(k, bytes);
  switch (ask(k, 32) % 4) {
    case 0: MPI_File_write_at(file, place, bytes, kFileBytes, MPI_BYTE, &status); break;
    case 1: MPI_File_write_at_all(file, place, bytes, kFileBytes, MPI_BYTE, &status); break;
    case 2:
      MPI_File_seek(file, place, MPI_SEEK_SET);
      MPI_File_write_all(file, bytes, kFileBytes, MPI_BYTE, &status);
      break;
    default:
      MPI_File_write_at_all_begin(file, place, bytes, kFileBytes, MPI_BYTE);
      ELC_Checkpoint();
      MPI_File_write_at_all_end(file, bytes, &status);
  }
}

static void begin_file(long k) {
  char name[4096];
  if (file_name == NULL) return;
  if (!has_own_file(k)) {
    write_file(k, lasting_file);
    return;
  }
  name_file(k, name, sizeof name);
  if (MPI_File_open(comm_of(k), name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &files[slot(k)]) != MPI_SUCCESS)
    fail(k, "a file cannot be opened");
}

static void end_file(long k) {
  char name[4096];
  if (file_name == NULL || !has_own_file(k)) return;
  name_file(k, name, sizeof name);
  write_file(k, files[slot(k)]);
  MPI_File_close(&files[slot(k)]);
  check_file(k, name);
}

static void open_lasting_file(void) {
  for (int i = 0; i < kSlots; i++) files[i] = MPI_FILE_NULL;
  file_name = getenv("TRAFFIC_FILE");
  if (file_name == NULL) return;
  if (rank == 0) MPI_File_delete((char *)file_name, MPI_INFO_NULL);
  MPI_Barrier(MPI_COMM_WORLD);
  if (MPI_File_open(MPI_COMM_WORLD, (char *)file_name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &lasting_file) !=
      MPI_SUCCESS)
    fail(0, "the file cannot be opened");
}

static void close_lasting_file(void) {
  if (file_name == NULL) return;
  MPI_File_close(&lasting_file);
  for (long k = 0; k < operations; k++)
    if (kind_of(k) == kFileKind && !has_own_file(k)) check_file(k, file_name);
}

/* ---- A memory window -------------------------------------------------------------------------------- */

#if MPI_VERSION >= 3
static uint64_t put_by(long k, int process) { return mix(ask(k, 33), (uint64_t)process); }
static uint64_t constant_of(int process) { return mix((uint64_t)seed, (uint64_t)process); }

/* What the operations since the last fence have done is there. */
static void check_window(void) {
  for (int s = 0; s < kSlots; s++) {
    const long k = put_since[s];
    if (k >= 0 && rank == (int)(k % ranks))
      for (int i = 0; i < ranks; i++) sum += put_by(k, i);
  }
  for (int s = 0; s < kSlots; s++) {
    const long k = put_since[s];
    if (k >= 0 && (shared[s] != put_by(k, from_of(k)) || shared[kSum] != sum || fetched[s] != constant_of(to_of(k))))
      fail(k, "what is in a memory window is wrong");
    put_since[s] = -1;
  }
}

/* Two fences: what is there is looked at where nobody puts anything. */
static void begin_window(long k) {
  if (!windows) return;
  MPI_Win_fence(ask(k, 34) % 2 == 0 ? 0 : MPI_MODE_NOSUCCEED, window);
  check_window();
  MPI_Win_fence(ask(k, 34) % 2 == 0 ? 0 : MPI_MODE_NOPRECEDE, window);
}

static void end_window(long k) {
  const int s = slot(k);
  if (!windows) return;
  put_since[s] = k;
  given[s] = put_by(k, rank);
  MPI_Put(&given[s], 1, kNumber, to_of(k), s, 1, kNumber, window);
  MPI_Accumulate(&given[s], 1, kNumber, (int)(k % ranks), kSum, 1, kNumber, MPI_SUM, window);
  MPI_Get(&fetched[s], 1, kNumber, to_of(k), kConstant, 1, kNumber, window);
}

static void make_window(void) {
  if (!windows) return;
  shared[kConstant] = constant_of(rank);
  for (int s = 0; s < kSlots; s++) put_since[s] = -1;
  MPI_Win_create(shared, sizeof shared, sizeof shared[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

static void free_window(void) {
  if (!windows) return;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  check_window();
  MPI_Win_free(&window);
}
#else
static void begin_window(long k) { (void)k; }
static void end_window(long k) { (void)k; }
static void make_window(void) { windows = 0; }
static void free_window(void) {}
#endif

/* ---- The sequence --------------------------------------------------------------------------------- */

static void begin(long k) {
  dally(k);
  if (k >= kSlots) finish_send(k - kSlots);
  if (k >= operations) return;
  switch (kind_of(k)) {
    case kPlainKind: begin_plain(k); break;
    case kPoolKind: begin_pool(k); break;
    case kTaglessKind: begin_tagless(k); break;
    case kWildKind: begin_wild(k); break;
    case kProbeKind: begin_probe(k); break;
    case kTypedKind: begin_typed(k); break;
    case kFarmKind: begin_farm(k); break;
    case kExchangeKind: exchange(k); break;
    case kNullKind: to_nobody(k); break;
    case kLifeKind: case kSplitKind: begin_life(k); break;
    case kCollectiveKind: collective(k, comm_of(k)); break;
    case kStartedKind: begin_started(k); break;
    case kFileKind: begin_file(k); break;
    case kWindowKind: begin_window(k); break;
    case kReadyKind: begin_ready(k); break;
    case kMatchedKind: begin_matched(k); break;
    case kPersistentKind: begin_persistent(k); break;
    case kFreedKind: begin_freed(k); break;
    case kCancelKind: begin_cancel(k); break;
    default: break;
  }
}

static void end(long k) {
  switch (kind_of(k)) {
    case kPlainKind: end_plain(k); break;
    case kPoolKind: end_pool(k); break;
    case kTaglessKind: end_tagless(k); break;
    case kWildKind: end_wild(k); break;
    case kProbeKind: end_probe(k); break;
    case kTypedKind: end_typed(k); break;
    case kFarmKind: end_farm(k); break;
    case kLifeKind: case kSplitKind: end_life(k); break;
    case kReadyKind: end_ready(k); break;
    case kMatchedKind: end_matched(k); break;
    case kPersistentKind: end_persistent(k); break;
    case kFreedKind: end_freed(k); break;
    case kStartedKind: end_started(k); break;
    case kFileKind: end_file(k); break;
    case kWindowKind: end_window(k); break;
    case kCancelKind: end_cancel(k); break;
    default: break;
  }
}

static void after(long k) {
  switch (kind_of(k)) {
    case kProbeKind: after_probe(k); break;
    case kMatchedKind: after_matched(k); break;
    case kCancelKind: after_cancel(k); break;
    default: break;
  }
}

static int due(long begun, long now) { return begun >= 0 && begun < operations && begun + delay(begun) == now; }

static void micro_step(void) {
  long k = step / kPhases;
  switch (step % kPhases) {
    case 0: begin(k); break;
    case 1:
      for (long j = k - kSlots + 1; j <= k; j++)
        if (due(j, k)) end(j);
      break;
    default:
      for (long j = k - kSlots + 1; j <= k; j++)
        if (due(j, k)) after(j);
      note((uint64_t)k);
  }
}

static void set_up(void) {
  MPI_Datatype wide;
  int lengths[2] = {1, 1};
  MPI_Aint offsets[2] = {0, 2 * sizeof(uint64_t)}, size = kStride * sizeof(uint64_t);
  MPI_Datatype types[2] = {kNumber, kNumber};
  MPI_Type_vector(1, 1, kStride, kNumber, &wide); /* one number, and a gap behind it */
  MPI_Type_create_resized(wide, 0, size, &strided);
  MPI_Type_commit(&strided);
  MPI_Type_free(&wide);
  MPI_Type_create_struct(2, lengths, offsets, types, &wide);
  MPI_Type_create_resized(wide, 0, size, &pairs);
  MPI_Type_commit(&pairs);
  MPI_Type_free(&wide);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_dup(MPI_COMM_WORLD, &tagless);
  MPI_Comm_dup(MPI_COMM_WORLD, &wild);
  MPI_Comm_dup(MPI_COMM_WORLD, &probed);
  MPI_Comm_dup(MPI_COMM_WORLD, &matched);
  MPI_Comm_dup(MPI_COMM_WORLD, &revoked);
  for (int i = 0; i < kSlots; i++) {
    sending[i] = receiving[i] = wild_receiving[i] = MPI_REQUEST_NULL;
    life[i] = MPI_COMM_NULL;
  }
  for (int i = 0; i < kLasting; i++) {
    lasting[i] = MPI_REQUEST_NULL;
    lasting_since[i] = -1;
  }
  open_lasting_file();
  make_window();
  memset(&shown, 0, sizeof shown);
  memset(&last, 0, sizeof last);
}

int main(int argc, char **argv) {
  const Option options[] = {{"seed", &seed, 0, 1000000000, 0, "seed of the sequence"},
                            {"operations", &operations, 1, 1000000000, 0, "length of the sequence"},
                            {"work", &work, 0, 1000000, 0, "time between messages, in arbitrary units"},
                            {"large", &large, 1, 1000000, 0, "one message of so many is large"},
                            {"own", &own, 0, 1, 0, "1: also what this MPI alone has, or allows"},
                            {"windows", &windows, 0, 1, 0, "1: a memory window, which has lines only behind its fences"},
                            {"lines", &lines, 0, 1000000, 0, "recovery lines at equal distances"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  const size_t room = 4 << 20;
  void *buffer;
  long last_step;
  read_options(argc, argv, "Messages of every kind, for the kill test.", options);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > kMostRanks) {
    if (rank == 0) fprintf(stderr, "traffic: at most %d processes\n", kMostRanks);
    MPI_Finalize();
    return 2;
  }
  buffer = allocate(room, 1);
  MPI_Buffer_attach(buffer, (int)room);
  set_up();
  register_state();
  ELC_Restore();
  for (last_step = (operations + kSlots) * kPhases; step < last_step; step++) {
    if (lines > 0 && line_due(step / kPhases, operations, lines) && step % kPhases == 0) ELC_Checkpoint_now();
    else if (mix(mix((uint64_t)seed, (uint64_t)step), 100 + (uint64_t)rank) % 3 == 0) ELC_Checkpoint();
    micro_step();
  }
  end_lasting();
  close_lasting_file();
  free_window();
  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer);
  report_totals(freely, fixed);
  MPI_Comm_free(&copy);
  MPI_Comm_free(&tagless);
  MPI_Comm_free(&wild);
  MPI_Comm_free(&probed);
  MPI_Comm_free(&matched);
  MPI_Comm_free(&revoked);
  MPI_Type_free(&strided);
  MPI_Type_free(&pairs);
  MPI_Finalize();
  return 0;
}
