// What the program has set of its process: variables of the environment, limits, timers, signals that are blocked.
#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // for putenv and timers
#endif
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/library.h"
#include "state/process.h"
#include "state/state.h"

extern "C" char** environ;

namespace elc::state {
namespace {

constexpr int kMostVariables = 64;
constexpr int kLimits = 16;  // of Linux
constexpr uint64_t kNoLimit = UINT64_MAX;
constexpr int kTimers[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
constexpr int kTimerWords = 4;  // until it ends, and then each time: seconds and microseconds of both

struct Environment {
  char* variables[kMostVariables];  // NAME=VALUE, or NAME of one that was removed
  int are_copies[kMostVariables];   // 0: the memory is the program's (putenv)
  int variable_count;
  char** copy;  // of all, for a program that asks for them
  uint64_t limits[kLimits][2];  // by the resource: 1 + the limit, and 1 + the highest; 0: as it was at the beginning
  rlimit first[kLimits];
  int64_t timers[sizeof kTimers / sizeof *kTimers][kTimerWords];
  uint64_t blocked;  // signals
  uint64_t pending;  // those that have come meanwhile
  int blocks;        // the program has said which are blocked
};

Environment& environment() {
  static Environment all;
  return all;
}

size_t length_of_name(const char* variable) {
  const char* const end = strchr(variable, '=');
  return end == nullptr ? strlen(variable) : static_cast<size_t>(end - variable);
}

void note_variable(char* variable, bool is_copy) {
  Environment& e = environment();
  const size_t length = length_of_name(variable);
  int i = 0;
  while (i < e.variable_count && (length_of_name(e.variables[i]) != length || strncmp(e.variables[i], variable, length) != 0)) ++i;
  if (i == kMostVariables) return ELC_Program_unfit("setenv() or putenv() of more than 64 variables, which is what lines have of the environment");
  if (i < e.variable_count && e.are_copies[i] != 0) ELC_free(e.variables[i]);
  e.variables[i] = variable;
  e.are_copies[i] = is_copy;
  if (i == e.variable_count) ++e.variable_count;
}

char* joined(const char* name, const char* value) {
  const size_t length = strlen(name), more = value == nullptr ? 0 : 1 + strlen(value);
  char* const text = static_cast<char*>(ELC_new(ELC_CHAR, length + more + 1));
  if (text == nullptr) return nullptr;
  memcpy(text, name, length);
  text[length] = '\0';
  if (value == nullptr) return text;
  text[length] = '=';
  strcpy(text + length + 1, value);
  return text;
}

void note_copy(const char* name, const char* value) {
  char* const copy = joined(name, value);
  if (copy == nullptr) return ELC_Program_unfit("setenv() or unsetenv(), and there is no memory to note it");
  note_variable(copy, true);
}

uint64_t number_of(rlim_t limit) { return limit == RLIM_INFINITY ? kNoLimit : static_cast<uint64_t>(limit) + 1; }
rlim_t limit_of(uint64_t number) { return number == kNoLimit ? RLIM_INFINITY : static_cast<rlim_t>(number - 1); }

// As far as the process may.
void put_limit(int resource, const uint64_t (&saved)[2]) {
  rlimit limit;
  if (saved[0] == 0 || getrlimit(resource, &limit) != 0) return;
  limit.rlim_max = std::min(limit.rlim_max, limit_of(saved[1]));
  limit.rlim_cur = std::min(limit.rlim_max, limit_of(saved[0]));
  setrlimit(resource, &limit);
}

void note_mask() {
  Environment& e = environment();
  sigset_t now;
  if (sigprocmask(SIG_SETMASK, nullptr, &now) != 0) return;
  e.blocks = 1;
  e.blocked = bits_of(now);
}

void put_mask() {
  const Environment& e = environment();
  const sigset_t all = set_of(e.blocked);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  for (int i = 1; i < kSignals; ++i)
    if ((e.pending >> (i - 1) & 1) != 0) raise(i);
}

}  // namespace

uint64_t bits_of(const sigset_t& set) {
  uint64_t bits = 0;
  for (int i = 1; i < kSignals; ++i)
    if (sigismember(&set, i) == 1) bits |= uint64_t{1} << (i - 1);
  return bits;
}

// All of its bytes are set: a line looks at those that a program has.
sigset_t set_of(uint64_t bits) {
  sigset_t set;
  memset(&set, 0, sizeof set);
  for (int i = 1; i < kSignals; ++i)
    if ((bits >> (i - 1) & 1) != 0) sigaddset(&set, i);
  return set;
}

void register_environment() {
  Environment& e = environment();
  const LibraryVariable all[] = {{"variables of the environment", e.variables, ELC_POINTER, kMostVariables},
                                 {"copies of variables of the environment", e.are_copies, ELC_INT, kMostVariables},
                                 {"number of variables of the environment", &e.variable_count, ELC_INT, 1},
                                 {"copy of the environment", &e.copy, ELC_POINTER, 1},
                                 {"limits of resources", e.limits, ELC_UINT64, sizeof e.limits / sizeof(uint64_t)},
                                 {"timers of the process", e.timers, ELC_INT64, sizeof e.timers / sizeof(int64_t)},
                                 {"signals that are blocked", &e.blocked, ELC_UINT64, 1},
                                 {"signals that are pending", &e.pending, ELC_UINT64, 1},
                                 {"signals that were blocked", &e.blocks, ELC_INT, 1}};
  register_all(all);
  for (int i = 0; i < kLimits; ++i) getrlimit(i, &e.first[i]);
}

// Limits and timers are asked of the system: what the program has said of them may have had another form, on systems of 32 bits.
void take_environment() {
  Environment& e = environment();
  for (int i = 0; i < kLimits; ++i) {
    rlimit now;
    if (getrlimit(i, &now) != 0) continue;
    const bool is_set = e.limits[i][0] != 0 || now.rlim_cur != e.first[i].rlim_cur || now.rlim_max != e.first[i].rlim_max;
    if (is_set) e.limits[i][0] = number_of(now.rlim_cur), e.limits[i][1] = number_of(now.rlim_max);
  }
  sigset_t come;
  e.pending = e.blocks != 0 && sigpending(&come) == 0 ? bits_of(come) & e.blocked : 0;
  for (size_t i = 0; i < sizeof kTimers / sizeof *kTimers; ++i) {
    itimerval now = {};
    getitimer(kTimers[i], &now);
    e.timers[i][0] = now.it_value.tv_sec;
    e.timers[i][1] = now.it_value.tv_usec;
    e.timers[i][2] = now.it_interval.tv_sec;
    e.timers[i][3] = now.it_interval.tv_usec;
  }
}

void put_environment() {
  const Environment& e = environment();
  for (int i = 0; i < e.variable_count; ++i) {
    if (strchr(e.variables[i], '=') != nullptr) putenv(e.variables[i]);
    else unsetenv(e.variables[i]);
  }
  if (e.variable_count > 0) tzset();
  for (int i = 0; i < kLimits; ++i) put_limit(i, e.limits[i]);
}

void put_timers() {
  const Environment& e = environment();
  if (e.blocks != 0) put_mask();
  for (size_t i = 0; i < sizeof kTimers / sizeof *kTimers; ++i) {
    itimerval set = {};
    set.it_value.tv_sec = static_cast<time_t>(e.timers[i][0]);
    set.it_value.tv_usec = static_cast<suseconds_t>(e.timers[i][1]);
    set.it_interval.tv_sec = static_cast<time_t>(e.timers[i][2]);
    set.it_interval.tv_usec = static_cast<suseconds_t>(e.timers[i][3]);
    setitimer(kTimers[i], &set, nullptr);
  }
}

}  // namespace elc::state

extern "C" {

ELC_EXPORT char** ELC_Program_environment(void) {
  char**& copy = elc::state::environment().copy;
  size_t count = 0, same = 0;
  while (environ != nullptr && environ[count] != nullptr) ++count;
  while (copy != nullptr && same < count && copy[same] != nullptr && strcmp(copy[same], environ[same]) == 0) ++same;
  if (copy != nullptr && same == count && copy[count] == nullptr) return copy;
  // What main() was given stays, and what there was before a restart, which is no call that changes the environment.
  static char** changed = nullptr;
  const bool is_first = copy == nullptr;
  if (copy == changed) ELC_free(copy);
  copy = static_cast<char**>(ELC_new(ELC_POINTER, count + 1));
  if (!is_first) changed = copy;
  for (size_t i = 0; copy != nullptr && i < count; ++i) copy[i] = elc::state::lasting_copy(environ[i]);
  return copy;
}

ELC_EXPORT int ELC_Program_setenv(const char* name, const char* value, int overwrite) {
  const bool is_set = overwrite != 0 || name == nullptr || getenv(name) == nullptr;
  const int code = setenv(name, value, overwrite);
  if (code == 0 && is_set) elc::state::note_copy(name, value);
  return code;
}

ELC_EXPORT int ELC_Program_unsetenv(const char* name) {
  const int code = unsetenv(name);
  if (code == 0) elc::state::note_copy(name, nullptr);
  return code;
}

ELC_EXPORT int ELC_Program_putenv(char* variable) {
  const int code = putenv(variable);
  if (code == 0) elc::state::note_variable(variable, false);
  return code;
}

ELC_EXPORT int ELC_Program_sigprocmask(int how, const void* to, void* before) {
  sigset_t known;
  memset(&known, 0, sizeof known);  // the system does not set all of it, and a line looks at all bytes
  const int code = sigprocmask(how, static_cast<const sigset_t*>(to), &known);
  if (code == 0 && before != nullptr) memcpy(before, &known, sizeof known);
  if (code == 0 && to != nullptr) elc::state::note_mask();
  return code;
}

}  // extern "C"
