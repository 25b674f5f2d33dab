#include "state/clocks.h"

#include <time.h>

#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

struct Clocks {
  double (*wall)();  // nullptr: the program reads none
  int64_t added[kClocks];
  int64_t when[kClocks];  // of a line: what they said
};
constinit Clocks clocks = {};

int64_t by_system(Clock clock) {
  if (clock == kWall) return static_cast<int64_t>(clocks.wall() * static_cast<double>(kSecond));
  if (clock == kUser || clock == kSystem) {
    struct rusage used = {};
    getrusage(RUSAGE_SELF, &used);
    return nanoseconds(clock == kUser ? used.ru_utime : used.ru_stime);
  }
  struct timespec now = {};
  clock_gettime(clock == kMonotonic ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &now);
  return int64_t{now.tv_sec} * kSecond + now.tv_nsec;
}

}  // namespace

void register_clocks(double (*wall)()) {
  clocks.wall = wall;
  outcome(add_global(kClocksVariable, clocks.when, ELC_INT64, kClocks));
}

int64_t ahead(Clock clock) { return clocks.added[clock]; }

void take_clocks() {
  if (clocks.wall == nullptr) return;
  for (int i = 0; i < kClocks; ++i) clocks.when[i] = by_system(static_cast<Clock>(i)) + clocks.added[i];
}

void put_clocks() {
  if (clocks.wall == nullptr || clocks.when[kMonotonic] == 0) return;  // the line is of a program that read none
  for (int i = 0; i < kClocks; ++i) clocks.added[i] = clocks.when[i] - by_system(static_cast<Clock>(i));
}

}  // namespace elc::state
