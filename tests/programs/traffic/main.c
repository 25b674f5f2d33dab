/* main.c - traffic: every kind of message at once, and whatever else of MPI is followed: a program for the kill test.
 *
 * All processes run the same sequence of operations, which follows from --seed: point-to-point messages in
 * every mode to a partner at some distance (perhaps itself, perhaps MPI_PROC_NULL), received by every kind of
 * call, up to seven operations later; derived datatypes; probes, matched ones where MPI has them; persistent requests;
 * requests that are freed under way; a farm whose jobs go to whoever asks first; collectives, blocking, not, and persistent, also
 * between neighbours and between groups; communicators and intercommunicators made, used and freed; what has a handle,
 * in variables; files of MPI; a memory window under fences; receives that are cancelled, with a message, without one, and
 * in a race with it: who has cancelled a receive receives the message then, so that the answer does not depend on how that
 * ends. A file each has the operations of a topic.
 *
 * An operation begins in one micro-step and ends in a later one, and each process has its own random
 * micro-steps before which it calls ELC_Checkpoint: so messages, receives, probes, collectives and the life of
 * communicators lie across recovery lines in every way there is.
 *
 * Every message carries a coin (coins.h). What does not depend on timing is checked on the spot.
 *
 * libELC: restore in place. */
#include "traffic.h"

enum { kPhases = 3 }; /* micro-steps of an operation: begin, end those that are due, after */

long seed = 1, operations = 400, work = 20, large = 12, mpi3 = 0, own = 0, native = 0, windows = 0;
static long lines = 0;
int rank, ranks;

long step;
uint64_t fixed, freely;
MPI_Comm copy, revoked, wild;
MPI_Status last;
MPI_Request sending[kSlots], receiving[kSlots], wild_receiving[kSlots];
uint64_t expected[kSlots];
MPI_Comm life[kSlots];
uint64_t out[kSlots][kMost], in[kSlots][kMost], wild_in[kSlots][kMost];
uint64_t scratch[kMost];

static const struct Action {
  void (*begin)(long k), (*end)(long k), (*after)(long k);
} actions[kKinds] = {
    [kPlainKind] = {begin_plain, end_plain, NULL},
    [kPoolKind] = {begin_pool, end_pool, NULL},
    [kTaglessKind] = {begin_tagless, end_tagless, NULL},
    [kWildKind] = {begin_wild, end_wild, NULL},
    [kProbeKind] = {begin_probe, end_probe, after_probe},
    [kTypedKind] = {begin_typed, end_typed, NULL},
    [kFarmKind] = {begin_farm, end_farm, NULL},
    [kExchangeKind] = {exchange, NULL, NULL},
    [kNullKind] = {to_nobody, NULL, NULL},
    [kLifeKind] = {begin_life, end_life, NULL},
    [kSplitKind] = {begin_life, end_life, NULL},
    [kCollectiveKind] = {begin_collective, NULL, NULL},
    [kReadyKind] = {begin_ready, end_ready, NULL},
    [kMatchedKind] = {begin_matched, end_matched, after_matched},
    [kPersistentKind] = {begin_persistent, end_persistent, NULL},
    [kFreedKind] = {begin_freed, end_freed, NULL},
    [kCancelKind] = {begin_cancel, end_cancel, after_cancel},
    [kStartedKind] = {begin_started, end_started, NULL},
    [kFileKind] = {begin_file, end_file, NULL},
    [kReadKind] = {begin_read, end_read, NULL},
    [kWindowKind] = {begin_window, end_window, NULL},
    [kBetweenKind] = {begin_between, end_between, NULL},
    [kAcrossKind] = {begin_across, end_across, NULL},
    [kJoinedKind] = {begin_joined, end_joined, NULL},
    [kNeighbourKind] = {begin_neighbours, end_neighbours, NULL},
    [kHandleKind] = {begin_handles, end_handles, NULL},
    [kPackedKind] = {begin_packed, end_packed, NULL},
    [kRepeatedKind] = {begin_repeated, end_repeated, NULL},
};

static int is_due(long begun, long now) { return begun >= 0 && begun < operations && begun + delay(begun) == now; }

static void do_those_due(long now, int after) {
  for (long k = now - kSlots + 1; k <= now; k++) {
    const struct Action *action = &actions[k < 0 ? 0 : kind_of(k)];
    void (*act)(long) = after ? action->after : action->end;
    if (is_due(k, now) && act != NULL) act(k);
  }
}

static void begin(long k) {
  dally(k);
  if (k >= kSlots) finish_send(k - kSlots);
  if (k < operations) actions[kind_of(k)].begin(k);
}

static void micro_step(void) {
  const long k = step / kPhases;
  switch (step % kPhases) {
    case 0: begin(k); break;
    case 1: do_those_due(k, 0); break;
    default:
      do_those_due(k, 1);
      note((uint64_t)k);
  }
}

static void set_up(void) {
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_dup(MPI_COMM_WORLD, &wild);
  MPI_Comm_dup(MPI_COMM_WORLD, &revoked);
  for (int i = 0; i < kSlots; i++) {
    sending[i] = receiving[i] = wild_receiving[i] = MPI_REQUEST_NULL;
    life[i] = MPI_COMM_NULL;
  }
  memset(&last, 0, sizeof last);
  set_up_point_to_point();
  set_up_requests();
  set_up_collectives();
  set_up_intercommunicators();
  set_up_handles();
  set_up_files();
  set_up_windows();
}

static void register_state(void) {
  ELC_VAR(step);
  ELC_VAR(fixed);
  ELC_VAR(freely);
  ELC_VAR(expected);
  ELC_REQUEST(sending);
  ELC_REQUEST(receiving);
  ELC_REQUEST(wild_receiving);
  ELC_COMM(copy);
  ELC_COMM(wild);
  ELC_COMM(revoked);
  ELC_COMM(life);
  ELC_STATUS(last);
  ELC_VAR(out);
  ELC_VAR(in);
  ELC_VAR(wild_in);
  ELC_VAR(scratch);
  register_point_to_point();
  register_requests();
  register_collectives();
  register_intercommunicators();
  register_handles();
  register_files();
  register_windows();
}

static void close_all(void) {
  close_windows();
  close_files();
  close_requests();
  close_handles();
  close_intercommunicators();
  close_collectives();
  close_point_to_point();
  MPI_Comm_free(&copy);
  MPI_Comm_free(&wild);
  MPI_Comm_free(&revoked);
}

int main(int argc, char **argv) {
  const Option options[] = {{"seed", &seed, 0, 1000000000, 0, "seed of the sequence"},
                            {"operations", &operations, 1, 1000000000, 0, "length of the sequence"},
                            {"work", &work, 0, 1000000, 0, "time between messages, in arbitrary units"},
                            {"large", &large, 1, 1000000, 0, "one message of so many is large"},
                            {"mpi3", &mpi3, 0, MPI_VERSION >= 3, 0, "1: also what MPI has since its version 3"},
                            {"own", &own, 0, 1, 0, "1: also what this MPI alone has, or allows"},
                            {"native", &native, 0, 1, 0, "1: also what MPIs do not do right on some other processors"},
                            {"windows", &windows, 0, 1, 0, "1: a memory window, which has lines only behind its fences"},
                            {"lines", &lines, 0, 1000000, 0, "recovery lines at equal distances"},
                            {NULL, NULL, 0, 0, 0, NULL}};
  const size_t room = 4 << 20;
  void *buffer;
  long last_step;
  read_options(argc, argv, "Messages of every kind, for the kill test.", options);
  setenv("ELC_EARLY_SENDS", "yes", 1); /* it never takes a synchronous send for received */
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
  close_all();
  MPI_Buffer_detach(&buffer, &(int){0});
  free(buffer);
  report_totals(freely, fixed);
  MPI_Finalize();
  return 0;
}
