/* windows.c - windows under fences (MPI standard, chapter 12), while lines are taken. Each scene is one test
 * of tests/mpi/behaviour_test.py, which compares its result with that of the program without the library.
 *
 *     windows SCENE [DIE]      DIE: a rank that kills itself when a line has committed, in a run from the
 * start, at the place WHERE (environment): 0 at the beginning of a step, 1 in an epoch, 2 behind it
 *
 * With LATER (environment) the windows are made behind the set-up. */
#include <elc.h>
#include <mpi.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mix.h"

#define kNumber MPI_UNSIGNED_LONG_LONG
typedef unsigned long long Number;

enum { kCells = 64, kSteps = 60, kAsked = 10 };
static int rank, ranks, right, die = -1, where, fresh, lines;
static const char *directory = "";
static Number field[kCells], other[kCells], taken[kCells], contribution[kCells];
static int step;
static MPI_Win window = MPI_WIN_NULL, second = MPI_WIN_NULL;
static MPI_Comm part = MPI_COMM_NULL;

static void check(int is_right, const char *what) {
  if (is_right) return;
  fprintf(stderr, "windows: rank %d, step %d: wrong: %s\n", rank, step, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void make(Number *memory, MPI_Comm comm, MPI_Win *made) {
  MPI_Win_create(memory, kCells * sizeof *memory, sizeof *memory, MPI_INFO_NULL, comm, made);
}

/* A place at which the rank may end. */
static void place(int which) {
  if (fresh && rank == die && which == where && ELC_Line() > 0) raise(SIGKILL);
}

/* A long time, to let the others go ahead. */
static void dally(int turns) {
  for (volatile int i = 0; i < turns * 20000; i++) continue;
}

static void contribute(void) {
  for (int i = 0; i < kCells; i++)
    contribution[i] = step < kSteps ? mix((uint64_t)(rank * kCells + i), (uint64_t)step) : 0;
}

static void accumulate(MPI_Win into, int target) {
  MPI_Accumulate(contribution, kCells, kNumber, target, 0, kCells, kNumber, MPI_SUM, into);
}

static void change(Number *memory) {
  if (step < kSteps)
    for (int i = 0; i < kCells; i++) memory[i] = memory[i] * 3 + (Number)i;
}

/* A line is asked for once, by all ranks. */
static void site(void) {
  if (lines && step == kAsked)
    ELC_Checkpoint_now();
  else
    ELC_Checkpoint();
}

/* ---- One step of each scene. From kSteps on it changes nothing. ---- */

static void make_one(void) { make(field, MPI_COMM_WORLD, &window); }

static void sums(void) {
  place(0);
  site();
  contribute();
  MPI_Win_fence(0, window);
  for (int i = 1; i < ranks; i++) accumulate(window, (rank + i) % ranks);
  place(1);
  MPI_Win_fence(0, window);
  place(2);
  change(field);
}

/* The site is in the epoch of the operations, and some come to it late. */
static void late(void) {
  contribute();
  if (step % ranks == rank) dally(20);
  place(0);
  site();
  accumulate(window, right);
  place(1);
  MPI_Win_fence(0, window);
  place(2);
}
static void make_late(void) {
  make(field, MPI_COMM_WORLD, &window);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
}

/* The same with datatypes that are gone before the fence. */
static void late_types(void) {
  MPI_Datatype strided, pair;
  contribute();
  if (step % ranks == rank) dally(20);
  site();
  MPI_Type_vector(kCells / 2, 1, 2, kNumber, &strided);
  MPI_Type_commit(&strided);
  MPI_Type_contiguous(2, kNumber, &pair);
  MPI_Type_commit(&pair);
  MPI_Accumulate(contribution, 1, strided, right, 1, kCells / 4, pair, MPI_SUM, window);
  MPI_Type_free(&strided);
  MPI_Type_free(&pair);
  place(1);
  MPI_Win_fence(0, window);
}

/* Reading, writing and messages between. */
static void make_exchange(void) {
  make(field, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
}
static void exchange(void) {
  Number sum = 0;
  place(0);
  site();
  contribute();
  MPI_Get(taken, kCells / 2, kNumber, right, 0, kCells / 2, kNumber, window);
  if (step < kSteps)
    MPI_Put(contribution, kCells / 2, kNumber, right, kCells / 2, kCells / 2, kNumber, window);
  place(1);
  MPI_Win_fence(0, window);
  MPI_Sendrecv_replace(&taken[1], 1, kNumber, right, 1, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Allreduce(&taken[2], &sum, 1, kNumber, MPI_SUM, MPI_COMM_WORLD);
  if (step < kSteps)
    for (int i = 0; i < kCells / 2; i++) field[i] = mix(field[i] + sum, taken[i] + field[i + kCells / 2]);
  place(2);
  MPI_Win_fence(0, window);
}

/* Two windows with other members each, and one of no memory. */
static void make_two(void) {
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &part);
  make(field, MPI_COMM_WORLD, &window);
  if (rank == 0) return;
  make(other, part, &second);
  MPI_Comm_free(&part);
}
static void two(void) {
  site();
  contribute();
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  accumulate(window, right);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  place(0);
  if (rank > 0) {
    MPI_Win_fence(0, second);
    accumulate(second, 0);
    MPI_Win_fence(0, second);
  }
  place(1);
  if (step < kSteps) field[step] += other[step];
}

/* Half of the ranks come to a site in every second step only. */
static void uneven(void) {
  if (rank % 2 == 0 || step % 2 == 0) site();
  contribute();
  if (rank % 2 == 1 && step % 3 > 0) accumulate(window, right);
  place(step % 3);
  MPI_Win_fence(0, window);
  change(field);
  MPI_Win_fence(0, window);
}

#if MPI_VERSION >= 3
static void make_allocated(void) {
  Number *memory;
  MPI_Win_allocate(kCells * sizeof(Number), sizeof(Number), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  for (int i = 0; i < kCells; i++) memory[i] = (Number)i;
  ELC_Register("memory", memory, ELC_TYPE_OF(*memory), kCells);
  MPI_Win_fence(0, window);
}
static void allocated(void) {
  static Number swapped, found, one = 1;
#ifndef OPEN_MPI
  static Number none;
#endif
  Number *memory;
  int flag;
  MPI_Win_get_attr(window, MPI_WIN_BASE, &memory, &flag);
  place(0);
  site();
  contribute();
  if (step < kSteps) {
    MPI_Get_accumulate(contribution, 8, kNumber, taken, 8, kNumber, right, 8, 8, kNumber, MPI_SUM, window);
    MPI_Fetch_and_op(&one, &found, kNumber, right, 3, MPI_SUM, window);
#ifndef OPEN_MPI /* whose 4.1 crashes in it by itself */
    MPI_Compare_and_swap(&contribution[9], &none, &swapped, kNumber, right, 0, window);
#endif
  }
  place(1);
  MPI_Win_fence(0, window);
  if (step < kSteps) field[step] += found + swapped + taken[step % 8] + memory[8 + step % 8];
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
}
#endif

/* Never used: no fence comes. */
static void unused(void) {
  place(0);
  site();
  if (step < kSteps) field[step] = mix((uint64_t)step, (uint64_t)rank);
}

/* ---- What refuses lines until it is gone ---- */

static int over(void) {
  char refused[4096];
  snprintf(refused, sizeof refused, "%s/refused", directory);
  return !lines || ELC_Line() > 0 || access(refused, F_OK) == 0;
}
static void post(void) {
  MPI_Group group;
  MPI_Win_get_group(window, &group);
  MPI_Win_post(group, 0, window);
  MPI_Win_start(group, 0, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Group_free(&group);
}
static int goes_on; /* fences follow */
#if MPI_VERSION >= 3
static void lock(void) {
  MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, window);
  MPI_Win_unlock(rank, window);
}
static void lock_once(void) {
  MPI_Win_fence(0, window);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  if (rank == 1) lock();
  goes_on = 1;
}
#endif
static void fence_once(void) { MPI_Win_fence(0, window); }
static void make_elsewhere(void) { make(taken, MPI_COMM_WORLD, &window); }
static void make_on_heap(void) { make(ELC_new(ELC_TYPE_OF(field[0]), kCells), MPI_COMM_WORLD, &window); }
static void make_none(void) {}
#if MPI_VERSION >= 3
static void allocate_one(void) {
  Number *memory;
  MPI_Win_allocate(kCells * sizeof(Number), sizeof(Number), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
}
#endif
static void nothing(void) {}

/* `use` first; then a line is asked for, which is refused; then the window is freed, and the next is taken.
 */
static void refused(void (*use)(void)) {
  int all, mine;
  if (!fresh) return; /* it is gone */
  use();
  do {
    if (goes_on) MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
    mine = (step == 0 ? ELC_Checkpoint_now() : ELC_Checkpoint(), over());
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    step = 1;
  } while (!all);
  if (lines) check(ELC_Line() == 0, "a line that was to be refused");
  MPI_Win_free(&window);
  while (lines && ELC_Line() == 0) ELC_Checkpoint_now();
  place(where);
}

/* ---- Re-entry: the sites are the fences ---- */

/* Each epoch has an operation, so that they are behind the fences; or not, so that they may be before them.
 */
static void by_fences(int each) {
  int mine = 0, all = 0;
  ELC_ENTER();
  ELC_VAR(each);
  ELC_VAR(mine);
  ELC_VAR(all);
  ELC_RESUME();
  ELC_AT(1);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, window);
  for (; step < kSteps || !all; step++) {
    place(0);
    contribute();
    accumulate(window, right);
    place(1);
    ELC_AT(2);
    MPI_Win_fence(0, window);
    place(2);
    if (!each) {
      change(field);
      ELC_AT(3);
      MPI_Win_fence(0, window);
    }
    if (step < kSteps) continue;
    mine = !lines || !fresh || ELC_Line() > 0;
    ELC_AT(4);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  ELC_END();
  ELC_Leave();
}

/* The sites are the fences at some ranks, and behind them at the others. */
static void beside_fences(void) {
  int mine = 0, all = 0;
  ELC_ENTER();
  ELC_VAR(mine);
  ELC_VAR(all);
  ELC_RESUME();
  for (; step < kSteps || !all; step++) {
    if (rank == 0) {
      ELC_AT(1);
      MPI_Win_fence(0, window);
    } else {
      if (!ELC_Recovering()) MPI_Win_fence(0, window);
      ELC_AT(2);
      ELC_Checkpoint();
    }
    place(0);
    contribute();
    accumulate(window, right);
    ELC_AT(3);
    MPI_Win_fence(0, window);
    change(field);
    mine = !lines || !fresh || ELC_Line() > 0;
    if (step < kSteps) continue;
    ELC_AT(4);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  }
  ELC_END();
  ELC_Leave();
}
static void each_epoch(void) { by_fences(1); }
static void every_second_epoch(void) { by_fences(0); }

static const struct Scene {
  const char *name;
  void (*make)(void), (*run)(void);
  enum { kInPlace, kRefused, kReEntry } kind;
} scenes[] = {
    {"sums", make_one, sums, kInPlace},
    {"late", make_late, late, kInPlace},
    {"late_types", make_late, late_types, kInPlace},
    {"exchange", make_exchange, exchange, kInPlace},
    {"two", make_two, two, kInPlace},
    {"uneven", make_late, uneven, kInPlace},
    {"unused", make_one, unused, kInPlace},
#if MPI_VERSION >= 3
    {"allocated", make_allocated, allocated, kInPlace},
    {"lock", make_one, lock, kRefused},
    {"lock_once", make_one, lock_once, kRefused},
    {"allocated_later", make_none, allocate_one, kRefused},
#endif
    {"post", make_one, post, kRefused},
    {"fence_once", make_one, fence_once, kRefused},
    {"elsewhere", make_elsewhere, nothing, kRefused},
    {"on_heap", make_on_heap, nothing, kRefused},
    {"each_epoch", make_one, each_epoch, kReEntry},
    {"second_epoch", make_one, every_second_epoch, kReEntry},
    {"beside_fences", make_one, beside_fences, kReEntry},
};

static void report(void) {
  uint64_t digest = 0;
  Number total = 0, mine;
  for (int i = 0; i < kCells; i++) digest = mix(digest, mix(field[i], other[i]));
  mine = mix(digest, (uint64_t)rank);
  MPI_Reduce(&mine, &total, 1, kNumber, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("result: %016llx\n", total);
}

int main(int argc, char **argv) {
  const struct Scene *scene = NULL;
  int all = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  right = (rank + 1) % ranks;
  for (size_t i = 0; i < sizeof scenes / sizeof *scenes; i++)
    if (argc > 1 && strcmp(argv[1], scenes[i].name) == 0) scene = &scenes[i];
  check(scene != NULL, "the arguments");
  if (argc > 2) die = atoi(argv[2]);
  if (getenv("WHERE") != NULL) where = atoi(getenv("WHERE"));
  if (getenv("ELC_DIR") != NULL) directory = getenv("ELC_DIR");
  lines = *directory != '\0';
  const char *instead = getenv("OTHER");
  if (instead == NULL && getenv("LATER") == NULL)
    scene->make();
  else if (instead != NULL && *instead == '1')
    make(other, MPI_COMM_WORLD, &window);
  else if (instead != NULL && *instead == '2')
    MPI_Win_create(field, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  ELC_VAR(step);
  ELC_VAR(field);
  ELC_VAR(other);
  if (scene->kind != kRefused) { /* else it is gone at the line */
    ELC_MPIWIN(window);
    ELC_MPIWIN(second);
  }
  fresh = scene->kind == kReEntry ? !ELC_Recovering() : ELC_Restore() == ELC_FRESH;
  if (fresh && getenv("LATER") != NULL) scene->make();
  if (scene->kind == kRefused) {
    refused(scene->run);
  } else if (scene->kind == kReEntry) {
    scene->run();
  } else {
    /* Until all know of a line. */
    for (; step < kSteps || !all; step++) {
      int mine = !lines || !fresh || ELC_Line() > 0;
      scene->run();
      if (step >= kSteps) MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    }
  }
  if (scene->kind != kRefused) {
    if (fresh && lines && rank == die) raise(SIGKILL);
    if (window != MPI_WIN_NULL) MPI_Win_free(&window);
    if (second != MPI_WIN_NULL) MPI_Win_free(&second);
  }
  report();
  MPI_Finalize();
  return 0;
}
