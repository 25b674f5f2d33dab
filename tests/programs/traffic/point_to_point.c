/* point_to_point.c - messages by every kind of call that sends, receives or probes. */
#include "traffic.h"

static uint64_t sent_to[kMostRanks][kTags + 1], received_from[kMostRanks][kTags + 1]; /* the last: on `tagless` */
static MPI_Comm tagless, probed, matched;
static MPI_Datatype strided, pairs;
static MPI_Status shown;

/* Blocking receives: in the order of sending, each class. */
void end_plain(long k) {
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

void begin_plain(long k) {
  int to = to_of(k), tag = send_tag(k);
  send_message(k, compose(out[slot(k)], length_of(k), sent_to[to][tag]++), to, tag, copy, kInOrder);
}

/* A receive that is posted now and completed later: non-overtaking says which message it gets. */
void begin_pool(long k) {
  int to = to_of(k), from = from_of(k), tag = send_tag(k);
  expected[slot(k)] = received_from[from][tag]++;
#if MPI_VERSION >= 4
  if (own) MPI_Irecv_c(in[slot(k)], kMost, kNumber, from, tag, copy, &receiving[slot(k)]);
  else
#endif
  MPI_Irecv(in[slot(k)], kMost, kNumber, from, tag, copy, &receiving[slot(k)]);
  send_message(k, compose(out[slot(k)], length_of(k), sent_to[to][tag]++), to, tag, copy, kPosted);
}

void end_pool(long k) {
  finish_receive(k, &receiving[slot(k)], &last);
  if (last.MPI_SOURCE != from_of(k)) fail(k, "a status that names another source");
  if (examine(k, in[slot(k)], &last) != expected[slot(k)]) fail(k, "a message out of its order");
}

/* All tags of one source: in the order of sending, too. Half of the receives are posted early. */
void begin_tagless(long k) {
  int to = to_of(k), from = from_of(k), early = ask(k, 10) % 2 == 0;
  if (early) {
    expected[slot(k)] = received_from[from][kTags]++;
    MPI_Irecv(in[slot(k)], kMost, kNumber, from, MPI_ANY_TAG, tagless, &receiving[slot(k)]);
  }
  send_message(k, compose(out[slot(k)], length_of(k), sent_to[to][kTags]++), to, (int)(ask(k, 6) % 3), tagless,
       kInOrder);
}

void end_tagless(long k) {
  int from = from_of(k), early = ask(k, 10) % 2 == 0;
  uint64_t wanted = early ? expected[slot(k)] : received_from[from][kTags]++;
  if (early) finish_receive(k, &receiving[slot(k)], &last);
  else MPI_Recv(in[slot(k)], kMost, kNumber, from, MPI_ANY_TAG, tagless, &last);
  if (examine(k, in[slot(k)], &last) != wanted) fail(k, "a message out of its order");
}

/* Wildcard receives, half of them posted early. All messages on `wild` are received by such. */
void begin_wild(long k) {
  if (ask(k, 10) % 2 == 0)
    MPI_Irecv(wild_in[slot(k)], kMost, kNumber, MPI_ANY_SOURCE, MPI_ANY_TAG, wild, &wild_receiving[slot(k)]);
  send_message(k, compose(out[slot(k)], length_of(k), (uint64_t)rank), to_of(k), (int)(ask(k, 6) % 4), wild, kAnyOrder);
}

void end_wild(long k) {
  uint64_t *m = wild_in[slot(k)];
  if (ask(k, 10) % 2 == 0) finish_receive(k, &wild_receiving[slot(k)], &last);
  else MPI_Recv(m, kMost, kNumber, MPI_ANY_SOURCE, MPI_ANY_TAG, wild, &last);
  if (examine(k, m, &last) != (uint64_t)last.MPI_SOURCE) fail(k, "a message under another source");
}

/* The sender draws the tag; the receiver learns it by a probe, a micro-step before it receives. */
void begin_probe(long k) {
  int tag = (int)(coin(rank) % 4);
  send_message(k, compose(out[slot(k)], length_of(k), (uint64_t)tag), to_of(k), tag, probed, kAnyOrder);
}

void end_probe(long k) {
  int flag = 0;
  if (ask(k, 10) % 2 == 0) MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, probed, &shown);
  else while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, probed, &flag, &shown);
}

void after_probe(long k) {
  MPI_Recv(scratch, kMost, kNumber, shown.MPI_SOURCE, shown.MPI_TAG, probed, &last);
  if (examine(k, scratch, &last) != (uint64_t)shown.MPI_TAG) fail(k, "a message under another tag");
}

/* The same by matched probes. Where a site comes before the receive, no line can be taken there. */
#if MPI_VERSION >= 3
static MPI_Message message; /* not registered: no line has one */
static int have_message;
#endif

void begin_matched(long k) {
  int tag = (int)(coin(rank) % 4);
  send_message(k, compose(out[slot(k)], length_of(k), (uint64_t)tag), to_of(k), tag, matched, kAnyOrder);
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

void end_matched(long k) {
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

void after_matched(long k) {
#if MPI_VERSION >= 3
  if (have_message) receive_matched(k);
#else
  (void)k;
#endif
}

/* Derived datatypes with gaps, which a receive has to leave alone. */
void begin_typed(long k) {
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

void end_typed(long k) {
  const uint64_t *m = in[slot(k)];
  int count = 2 + (int)(ask(k, 5) % 30), elements = 0, is_pair = ask(k, 10) % 2 != 0;
  finish_receive(k, &receiving[slot(k)], &last);
  MPI_Get_count(&last, is_pair ? pairs : strided, &elements);
  if (elements != count) fail(k, "a message of derived type with a wrong count");
  MPI_Get_elements(&last, is_pair ? pairs : strided, &elements);
  if (elements != count * (is_pair ? 2 : 1)) fail(k, "a message of derived type with a wrong number of elements");
  for (int i = 1; i < kStride * count; i++) {
    int gap = i % kStride == 1 || (!is_pair && i % kStride == 2);
    if (m[i] != (gap ? 77 : quiet(mix(m[0], (uint64_t)i)))) fail(k, gap ? "a gap was written to" : "a wrong element");
  }
  freely += m[0];
}

/* A message that is made, and taken apart, in the representation that is the same everywhere. */
#if MPI_VERSION >= 3
enum { kPackedNumbers = 5, kPackedBytes = 8 * kPackedNumbers };
static unsigned char packed_out[kSlots][kPackedBytes], packed_in[kSlots][kPackedBytes];

/* What MPICH 4.0 packs as external32 on a big-endian processor has the bytes the other way round. */
void begin_packed(long k) {
  if (!native) return;
  const int s = slot(k);
  uint64_t m[kPackedNumbers];
  MPI_Aint position = 0;
  m[0] = coin(rank);
  freely -= m[0];
  for (int i = 1; i < kPackedNumbers; i++) m[i] = mix(m[0], (uint64_t)i);
  MPI_Pack_external("external32", m, kPackedNumbers, kNumber, packed_out[s], kPackedBytes, &position);
  if (position != kPackedBytes) fail(k, "numbers that were packed to another size");
  MPI_Irecv(packed_in[s], kPackedBytes, MPI_BYTE, from_of(k), kPackedTag + s, copy, &receiving[s]);
  MPI_Isend(packed_out[s], kPackedBytes, MPI_BYTE, to_of(k), kPackedTag + s, copy, &sending[s]);
}

void end_packed(long k) {
  if (!native) return;
  const int s = slot(k);
  uint64_t m[kPackedNumbers];
  MPI_Aint position = 0;
  finish_receive(k, &receiving[s], &last);
  MPI_Unpack_external("external32", packed_in[s], kPackedBytes, &position, m, kPackedNumbers, kNumber);
  for (int i = 1; i < kPackedNumbers; i++)
    if (m[i] != mix(m[0], (uint64_t)i)) fail(k, "a wrong number in what was packed");
  freely += m[0];
}
#else
void begin_packed(long k) { (void)k; }
void end_packed(long k) { (void)k; }
#endif

/* Everybody asks the master, who deals out jobs in the order in which they come to ask. */
static int master_of(long k) { return (int)(ask(k, 5) % (uint64_t)ranks); }

void begin_farm(long k) {
  uint64_t question = (uint64_t)rank;
  if (rank == master_of(k)) return;
  if (kBuffers && ask(k, 10) % 2 == 0) MPI_Send(&question, 1, kNumber, master_of(k), kFarmTag + (int)(k % 10000), copy);
  else MPI_Bsend(&question, 1, kNumber, master_of(k), kFarmTag + (int)(k % 10000), copy);
}

void end_farm(long k) {
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

void exchange(long k) {
  int to = to_of(k), from = from_of(k), length = length_of(k);
  uint64_t *m = out[slot(k)];
  compose(m, length, (uint64_t)k);
#if MPI_VERSION >= 4
  if (own && ask(k, 9) % 2 == 0) {
    MPI_Isendrecv(m, length, kNumber, to, kReadyTag + kSlots + slot(k), scratch, kMost, kNumber, from,
                  kReadyTag + kSlots + slot(k), copy, &receiving[slot(k)]);
    MPI_Wait(&receiving[slot(k)], &last);
    MPI_Status_set_elements(&last, kNumber, (int)scratch[2]); /* MPICH 4.0 forgets it */
  } else
#endif
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

void to_nobody(long k) {
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
void begin_ready(long k) {
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

void end_ready(long k) {
  finish_receive(k, &receiving[slot(k)], &last);
  if (examine(k, in[slot(k)], &last) != (uint64_t)k) fail(k, "a ready message of another operation");
}

void set_up_point_to_point(void) {
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
  MPI_Comm_dup(MPI_COMM_WORLD, &tagless);
  MPI_Comm_dup(MPI_COMM_WORLD, &probed);
  MPI_Comm_dup(MPI_COMM_WORLD, &matched);
  memset(&shown, 0, sizeof shown);
}

void register_point_to_point(void) {
  ELC_VAR(sent_to);
  ELC_VAR(received_from);
  ELC_COMM(tagless);
  ELC_COMM(probed);
  ELC_COMM(matched);
  ELC_DATATYPE(strided);
  ELC_DATATYPE(pairs);
  ELC_STATUS(shown);
#if MPI_VERSION >= 3
  ELC_VAR(packed_out);
  ELC_VAR(packed_in);
#endif
}

void close_point_to_point(void) {
  MPI_Comm_free(&tagless);
  MPI_Comm_free(&probed);
  MPI_Comm_free(&matched);
  MPI_Type_free(&strided);
  MPI_Type_free(&pairs);
}
