/* requests.c - requests that are persistent, freed under way, or cancelled. */
#include "traffic.h"

enum { kLasting = 3 };
static MPI_Request lasting[kLasting];
static long lasting_since[kLasting]; /* the operation that has posted it; -1: not posted */
static uint64_t lasting_in[kLasting][kMost];

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

void begin_persistent(long k) {
  uint64_t *m = out[slot(k)];
  int tag = kPersistentTag + (int)(k % 10000), length = length_of(k), to = to_of(k), how = (int)(ask(k, 7) % 3);
  int from = ask(k, 10) % 2 == 0 ? from_of(k) : MPI_ANY_SOURCE;
  MPI_Recv_init(in[slot(k)], kMost, kNumber, from, tag, copy, &receiving[slot(k)]);
  if (how == 0 && length < 200 && to != rank) MPI_Bsend_init(m, length, kNumber, to, tag, copy, &sending[slot(k)]);
  else if (how == 1) MPI_Ssend_init(m, length, kNumber, to, tag, copy, &sending[slot(k)]);
  else MPI_Send_init(m, length, kNumber, to, tag, copy, &sending[slot(k)]);
  start_persistent(k, 0);
}

void end_persistent(long k) {
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
void begin_freed(long k) {
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

void end_freed(long k) {
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
    send_message(k, compose(out[slot(k)], length_of(k), (uint64_t)k), to_of(since), tag, revoked, kInOrder);
    if (ask(k, 18) % 2 == 0) dally_for(100);
    MPI_Cancel(&lasting[i]);
    finish_or_receive(k, &lasting[i], lasting_in[i], from_of(since), tag, revoked);
    if (examine(k, lasting_in[i], &last) != (uint64_t)k) fail(k, "a message of another operation");
  }
  MPI_Irecv(lasting_in[i], kMost, kNumber, from_of(k), next, revoked, &lasting[i]);
  lasting_since[i] = k;
}

void close_requests(void) {
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
  send_message(k, compose(out[slot(k)], length_of(k), (uint64_t)(2 * k)), to, tag, revoked, kInOrder);
  if (shape_of(k) == kRaceShape) return;
  MPI_Bsend(m, compose(m, kHeader + 1, (uint64_t)(2 * k + 1)), kNumber, to, tag, revoked);
}

/* At the same time as the receive is cancelled. */
static int sent_late(long k) {
  return (shape_of(k) == kRaceShape || shape_of(k) == kLateShape) && ask(k, 17) % 4 != 0;
}

void begin_cancel(long k) {
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
      send_message(k, compose(m, length_of(k), (uint64_t)rank), to_of(k), (int)(ask(k, 6) % 4), wild, kAnyOrder);
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

void end_cancel(long k) {
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

void after_cancel(long k) {
  if (shape_of(k) != kLastingShape && finished_apart(k)) finish_cancel(k);
}

void set_up_requests(void) {
  for (int i = 0; i < kLasting; i++) {
    lasting[i] = MPI_REQUEST_NULL;
    lasting_since[i] = -1;
  }
}

void register_requests(void) {
  ELC_REQUEST(lasting);
  ELC_VAR(lasting_since);
  ELC_VAR(lasting_in);
}
