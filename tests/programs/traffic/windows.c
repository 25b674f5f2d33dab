/* windows.c - a memory window under fences. */
#include "traffic.h"

#if MPI_VERSION >= 3
enum { kSum = kSlots, kConstant, kWindowNumbers }; /* places in it, behind those of slots */
static uint64_t shared[kWindowNumbers], sum, given[kSlots], fetched[kSlots]; /* sum: what kSum has to be */
static long put_since[kSlots]; /* the last fence, by this operation; -1: by none */
static MPI_Win window;

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
void begin_window(long k) {
  if (!windows) return;
  MPI_Win_fence(ask(k, 34) % 2 == 0 ? 0 : MPI_MODE_NOSUCCEED, window);
  check_window();
  MPI_Win_fence(ask(k, 34) % 2 == 0 ? 0 : MPI_MODE_NOPRECEDE, window);
}

void end_window(long k) {
  const int s = slot(k);
  if (!windows) return;
  put_since[s] = k;
  given[s] = put_by(k, rank);
  MPI_Put(&given[s], 1, kNumber, to_of(k), s, 1, kNumber, window);
  MPI_Accumulate(&given[s], 1, kNumber, (int)(k % ranks), kSum, 1, kNumber, MPI_SUM, window);
  MPI_Get(&fetched[s], 1, kNumber, to_of(k), kConstant, 1, kNumber, window);
}

void set_up_windows(void) {
  if (!windows) return;
  shared[kConstant] = constant_of(rank);
  for (int s = 0; s < kSlots; s++) put_since[s] = -1;
  MPI_Win_create(shared, sizeof shared, sizeof shared[0], MPI_INFO_NULL, MPI_COMM_WORLD, &window);
}

void close_windows(void) {
  if (!windows) return;
  MPI_Win_fence(MPI_MODE_NOSUCCEED, window);
  check_window();
  MPI_Win_free(&window);
}

void register_windows(void) {
  if (!windows) return;
  ELC_VAR(shared);
  ELC_VAR(sum);
  ELC_VAR(given);
  ELC_VAR(fetched);
  ELC_VAR(put_since);
  ELC_MPIWIN(window);
}
#else
void begin_window(long k) { (void)k; }
void end_window(long k) { (void)k; }
void set_up_windows(void) { windows = 0; }
void close_windows(void) {}
void register_windows(void) {}
#endif
