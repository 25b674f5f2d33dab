/* traffic.h - what the files of the program traffic share: the sequence of operations, the state of the process, and how
 * messages are made, sent, received and examined. */
#ifndef TESTS_TRAFFIC_H
#define TESTS_TRAFFIC_H

#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../coins.h"

enum {
  kSlots = 8,      /* operations under way */
  kMostRanks = 64,
  kHeader = 4,     /* of a message: coin, sequence number, length, sum of the rest */
  kMost = 12000,   /* numbers in a message */
  kTags = 6,       /* classes of ordinary messages; those below kPoolTags are received by blocking calls */
  kPoolTags = 3,
  kReplyTag = 40,
  kReadyTag = 60,
  kTypedTag = 80,
  kFreedTag = 100,
  kPackedTag = 110,
  kCancelTag = 120,
  kSilentTag = 140, /* of no message */
  kFarmTag = 1000,  /* and the number of the operation: a process may be many of them ahead */
  kPersistentTag = 20000, /* the same */
  kLastingTag = 1000,     /* the same, of the operation that has posted the receive */
  kStride = 3
};

/* What there is of operations. */
typedef enum Kind {
  kPlainKind, kPoolKind, kTaglessKind, kWildKind, kProbeKind, kTypedKind, kFarmKind, kExchangeKind, kNullKind,
  kLifeKind, kSplitKind, kCollectiveKind, kReadyKind, kMatchedKind, kPersistentKind, kFreedKind, kCancelKind, kStartedKind,
  kFileKind, kReadKind, kWindowKind,
  kBetweenKind, kAcrossKind, kJoinedKind, kNeighbourKind, kHandleKind, kPackedKind, kRepeatedKind,
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

extern long seed, operations, work, large, mpi3, own, native, windows; /* the options */
extern int rank, ranks;

/* ---- The state of the process: all of it registered ---- */

extern long step;       /* micro-steps done */
extern uint64_t fixed;  /* digest of what does not depend on timing */
extern uint64_t freely; /* this process's part of the grand total */
extern MPI_Comm copy, revoked, wild;
extern MPI_Status last;

/* Of each operation under way. */
extern MPI_Request sending[kSlots], receiving[kSlots], wild_receiving[kSlots];
extern uint64_t expected[kSlots]; /* sequence number of the message that its receive will get */
extern MPI_Comm life[kSlots];
extern uint64_t out[kSlots][kMost], in[kSlots][kMost], wild_in[kSlots][kMost];
extern uint64_t scratch[kMost];

/* ---- The sequence (operations.c). All follows from the number k of the operation, the same at all processes ---- */

uint64_t ask(long k, int what); /* a random number; `what` numbers the questions */
int may_cancel(long k);
Kind kind_of(long k);
Shape shape_of(long k);
int delay(long k); /* from its beginning to its end, in operations */
int slot(long k);
int to_of(long k);
int from_of(long k);
MPI_Comm comm_of(long k);

void fail(long k, const char *what);
void note(uint64_t value); /* part of the answer */
void dally(long k);        /* work of random length, other at each process */

/* ---- Messages (operations.c) ---- */

/* When a send may wait for its receive. */
typedef enum Order {
  kAnyOrder, /* never: messages of later operations may be received first */
  kInOrder,  /* until the slot is used again */
  kPosted    /* at once: the receive was posted before */
} Order;

int length_of(long k);
int send_tag(long k);
/* Fills a message and counts its coin; returns its length. */
int compose(uint64_t *m, int length, uint64_t sequence);
/* A message that has come; returns its sequence number. */
uint64_t examine(long k, const uint64_t *m, const MPI_Status *status);
/* Sends from the slot of k in one of the modes. */
void send_message(long k, int length, int to, int tag, MPI_Comm comm, Order order);
/* Before the slot of k is used again: by then all that this message could wait for has been done. */
void finish_send(long k);
/* Completes a receive in one of the ways that there are. */
void finish_receive(long k, MPI_Request *request, MPI_Status *status);

/* ---- Topics, a file each: what begins an operation, what ends it, and what comes after that in a micro-step of its own.
 * set_up_* is called before the state is restored, close_* at the end, and register_* registers the topic's own state ---- */

/* point_to_point.c */
void begin_plain(long k);
void end_plain(long k);
void begin_pool(long k);
void end_pool(long k);
void begin_tagless(long k);
void end_tagless(long k);
void begin_wild(long k);
void end_wild(long k);
void begin_probe(long k);
void end_probe(long k);
void after_probe(long k);
void begin_matched(long k);
void end_matched(long k);
void after_matched(long k);
void begin_typed(long k);
void end_typed(long k);
void begin_packed(long k);
void end_packed(long k);
void begin_farm(long k);
void end_farm(long k);
void exchange(long k);
void to_nobody(long k);
void begin_ready(long k);
void end_ready(long k);
void set_up_point_to_point(void);
void register_point_to_point(void);
void close_point_to_point(void);

/* requests.c */
void begin_persistent(long k);
void end_persistent(long k);
void begin_freed(long k);
void end_freed(long k);
void begin_cancel(long k);
void end_cancel(long k);
void after_cancel(long k);
void set_up_requests(void);
void register_requests(void);
void close_requests(void);

/* collectives.c */
void collective(long k, MPI_Comm comm); /* one of them, at once */
void begin_collective(long k);
void begin_started(long k);
void end_started(long k);
void begin_repeated(long k);
void end_repeated(long k);
void set_up_collectives(void);
void register_collectives(void);
void close_collectives(void);

/* topologies.c */
void make_topology(long k, MPI_Comm *made);
void use_topology(long k, MPI_Comm comm);
void begin_neighbours(long k);
void end_neighbours(long k);

/* intercommunicators.c: messages and operations between two groups, and what is made of what joins them */
void begin_between(long k);
void end_between(long k);
void begin_across(long k);
void end_across(long k);
void begin_joined(long k);
void end_joined(long k);
void set_up_intercommunicators(void);
void register_intercommunicators(void);
void close_intercommunicators(void);

/* handles.c: what has a handle and is kept in registered variables */
void begin_handles(long k);
void end_handles(long k);
void set_up_handles(void);
void register_handles(void);
void close_handles(void);

/* communicators.c */
void begin_life(long k);
void end_life(long k);

/* files.c */
void begin_file(long k);
void end_file(long k);
void begin_read(long k);
void end_read(long k);
void set_up_files(void);
void register_files(void);
void close_files(void);

/* windows.c: under fences */
void begin_window(long k);
void end_window(long k);
void set_up_windows(void);
void register_windows(void);
void close_windows(void);

#endif
