#ifndef _XOPEN_SOURCE
#define _XOPEN_SOURCE 700  // realpath is in the base of POSIX.1-2008, but the GNU C library shows it with XSI only
#endif
#include "state/library.h"

#include <errno.h>
#include <libgen.h>
#include <locale.h>
#include <pwd.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/clocks.h"
#include "state/process.h"
#include "state/state.h"

extern "C" ELC_WEAK time_t timegm(struct tm* time);  // which not every system has; a program that calls it does

namespace elc::state {
namespace {

constexpr int kMostAtExit = 256;
constexpr size_t kTextSize = 256;
enum Disposition : int { kUnchanged = 0, kDefault, kIgnored, kFunction };

struct Library {
  char* strtok_at;
  char* text;     // blocks: what asctime and ctime return,
  struct tm* time;  // and localtime and gmtime
  passwd* user;     // and getpwuid and getpwnam
  char locale[kTextSize];
  int rounding[kRoundingWords];
  int buffers[2];  // of stdout and stderr: 1 + the mode that the program has asked for
  void (*handlers[kSignals])(void);
  int dispositions[kSignals];
  int handler_flags[kSignals];
  uint64_t blocked[kSignals];  // while the handler runs
  int error;                   // errno
  void (*at_exit[kMostAtExit])(void);
  int at_exit_count;
  int identities[kIdentities];  // 0: the program has not asked
  bool is_used;
  const ELC_Program_rounding* round_by;
  TypeId type_of_time, type_of_user;
  Vector<char*>* texts;  // copies that the program has
};

int noted_error = 0;

// So often the C library calls the program's handlers, each time the last of those that are left: a constructor may have registered some
// before a restart does that.
int calls_at_exit = 0;

Library& library() {
  static Library& all = *make<Library>();
  return all;
}

FILE* buffered_stream(int i) { return i == 0 ? stdout : stderr; }

void note_signal(int number, const struct sigaction& set) {
  Library& l = library();
  l.handlers[number] = nullptr;
  l.dispositions[number] = set.sa_handler == SIG_DFL ? kDefault : set.sa_handler == SIG_IGN ? kIgnored : kFunction;
  if (l.dispositions[number] == kFunction) l.handlers[number] = reinterpret_cast<void (*)(void)>(set.sa_handler);
  l.handler_flags[number] = set.sa_flags;
  l.blocked[number] = bits_of(set.sa_mask);
}

// To memory of the program's, in which a line looks at all bytes.
void tell_signal(const struct sigaction& from, struct sigaction* to) {
  memset(to, 0, sizeof *to);
  to->sa_handler = from.sa_handler;
  to->sa_flags = from.sa_flags;
  to->sa_mask = set_of(bits_of(from.sa_mask));
}

void set_signal(int number) {
  const Library& l = library();
  struct sigaction set = {};
  set.sa_handler = l.dispositions[number] == kDefault ? SIG_DFL : SIG_IGN;
  if (l.dispositions[number] == kFunction) set.sa_handler = reinterpret_cast<void (*)(int)>(l.handlers[number]);
  set.sa_flags = l.handler_flags[number];
  set.sa_mask = set_of(l.blocked[number]);
  sigaction(number, &set, nullptr);
}

struct tm* keep_zone(struct tm* time) {
#if ELC_HAVE_TM_ZONE
  if (time != nullptr) time->tm_zone = lasting_copy(time->tm_zone);
#endif
  return time;
}

// Where `call` may set it: what else is there may be nothing.
template <class F>
auto keeping_zone(void* of, F call) {
  struct tm* const time = static_cast<struct tm*>(of);
#if ELC_HAVE_TM_ZONE
  const char* const before = time->tm_zone;
  const auto result = call(time);
  if (time->tm_zone != before) keep_zone(time);
  return result;
#else
  return call(time);
#endif
}

struct tm* kept_time(const struct tm* found) {
  Library& l = library();
  if (found == nullptr) return nullptr;
  if (l.time == nullptr) l.time = static_cast<struct tm*>(ELC_new(l.type_of_time, 1));
  if (l.time == nullptr) return nullptr;
  *l.time = *found;
  keep_zone(l.time);
  return l.time;
}

passwd* kept_user(const passwd* found) {
  Library& l = library();
  if (found == nullptr) return nullptr;
  if (l.user == nullptr) l.user = static_cast<passwd*>(ELC_new(l.type_of_user, 1));
  if (l.user == nullptr) return nullptr;
  *l.user = *found;
  for (char* passwd::*text : {&passwd::pw_name, &passwd::pw_passwd, &passwd::pw_gecos, &passwd::pw_dir, &passwd::pw_shell})
    l.user->*text = lasting_copy(l.user->*text);
  return l.user;
}

char* kept_text(const char* found) {
  constexpr size_t kMost = 64;  // of asctime 26, or more for years of more than four digits
  Library& l = library();
  if (found == nullptr || strlen(found) >= kMost) return nullptr;
  if (l.text == nullptr) l.text = static_cast<char*>(ELC_new(ELC_CHAR, kMost));
  return l.text == nullptr ? nullptr : strcpy(l.text, found);
}

}  // namespace

char* lasting_copy(const char* text) {
  if (text == nullptr) return nullptr;
  Library& l = library();
  if (l.texts == nullptr) l.texts = make<Vector<char*>>();
  for (char* const known : *l.texts)
    if (strcmp(known, text) == 0) return known;
  char* const copy = static_cast<char*>(ELC_new(ELC_CHAR, strlen(text) + 1));
  if (copy != nullptr) l.texts->push_back(strcpy(copy, text));
  return copy;
}

void register_all(std::span<const LibraryVariable> all) {
  for (const LibraryVariable& one : all) outcome(add_global(one.name.text(), one.address, one.type, one.count));
}

int* identity(Identity which) {
  static const pid_t own = getpid();
  return getpid() == own ? &library().identities[which] : nullptr;
}

void register_library(const ELC_Program& program) {
  Library& l = library();
  note_arithmetic();
  if (program.reads_input != 0) register_input();
  l.is_used = program.uses_library != 0;
  l.round_by = program.rounding;
  if (!l.is_used) return;
  const ELC_Field fields[] = {{"tm_sec", offsetof(struct tm, tm_sec), ELC_INT, 1},     {"tm_min", offsetof(struct tm, tm_min), ELC_INT, 1},
                              {"tm_hour", offsetof(struct tm, tm_hour), ELC_INT, 1},   {"tm_mday", offsetof(struct tm, tm_mday), ELC_INT, 1},
                              {"tm_mon", offsetof(struct tm, tm_mon), ELC_INT, 1},     {"tm_year", offsetof(struct tm, tm_year), ELC_INT, 1},
                              {"tm_wday", offsetof(struct tm, tm_wday), ELC_INT, 1},   {"tm_yday", offsetof(struct tm, tm_yday), ELC_INT, 1},
                              {"tm_isdst", offsetof(struct tm, tm_isdst), ELC_INT, 1},
#if ELC_HAVE_TM_ZONE
                              {"tm_gmtoff", offsetof(struct tm, tm_gmtoff), ELC_LONG, 1},
                              {"tm_zone", offsetof(struct tm, tm_zone), ELC_POINTER, 1}
#endif
  };
  l.type_of_time = ELC_Struct("what localtime returns", sizeof(struct tm), static_cast<int>(sizeof fields / sizeof fields[0]), fields);
  const ELC_Field parts[] = {{"pw_name", offsetof(passwd, pw_name), ELC_POINTER, 1},   {"pw_passwd", offsetof(passwd, pw_passwd), ELC_POINTER, 1},
                             {"pw_uid", offsetof(passwd, pw_uid), ELC_UINT, 1},        {"pw_gid", offsetof(passwd, pw_gid), ELC_UINT, 1},
                             {"pw_gecos", offsetof(passwd, pw_gecos), ELC_POINTER, 1}, {"pw_dir", offsetof(passwd, pw_dir), ELC_POINTER, 1},
                             {"pw_shell", offsetof(passwd, pw_shell), ELC_POINTER, 1}};
  l.type_of_user = ELC_Struct("what getpwuid returns", sizeof(passwd), static_cast<int>(sizeof parts / sizeof parts[0]), parts);
  const LibraryVariable all[] = {{"place of strtok", &l.strtok_at, ELC_POINTER, 1},
                                 {"result of asctime", &l.text, ELC_POINTER, 1},
                                 {"result of localtime", &l.time, ELC_POINTER, 1},
                                 {"result of getpwuid", &l.user, ELC_POINTER, 1},
                                 {"name of the locale", l.locale, ELC_CHAR, kTextSize},
                                 {"rounding and exceptions", l.rounding, ELC_INT, kRoundingWords},
                                 {"buffers of streams", l.buffers, ELC_INT, 2},
                                 {"signal handlers", l.handlers, ELC_FUNCTION, kSignals},
                                 {"dispositions of signals", l.dispositions, ELC_INT, kSignals},
                                 {"flags of signal handlers", l.handler_flags, ELC_INT, kSignals},
                                 {"signals that handlers block", l.blocked, ELC_UINT64, kSignals},
                                 {"value of errno", &l.error, ELC_INT, 1},
                                 {"numbers of the process", l.identities, ELC_INT, kIdentities},
                                 {"exit handlers", l.at_exit, ELC_FUNCTION, kMostAtExit},
                                 {"number of exit handlers", &l.at_exit_count, ELC_INT, 1}};
  register_all(all);
  register_options();
  register_environment();
}

Result take_library() {
  ELC_TRY(take_input());
  take_clocks();
  Library& l = library();
  ELC_TRY(check_arithmetic(l.round_by));
  if (!l.is_used) return Result();
  const char* const locale = setlocale(LC_ALL, nullptr);
  if (locale == nullptr || strlen(locale) >= kTextSize) return Result::error("the program's locale has no name that a line could hold");
  strcpy(l.locale, locale);
  if (l.round_by != nullptr) take_rounding(*l.round_by, l.rounding);
  for (int i = 1; i < kSignals; ++i) {
    struct sigaction now;
    const bool is_by_program = l.dispositions[i] == kFunction && sigaction(i, nullptr, &now) == 0;
    if (is_by_program && now.sa_handler == SIG_DFL) note_signal(i, now);  // it was for once (SA_RESETHAND)
  }
  take_environment();
  ELC_TRY(take_options());
  l.error = noted_error;
  return Result();
}

bool is_buffer_set(FILE* stream) {
  for (int i = 0; i < 2; ++i)
    if (stream == buffered_stream(i)) return library().buffers[i] != 0;
  return false;
}

static void run_last_handler() {
  Library& l = library();
  if (l.at_exit_count > 0) l.at_exit[--l.at_exit_count]();
}

static bool call_at_exit() {
  if (atexit(run_last_handler) != 0) return false;
  ++calls_at_exit;
  return true;
}

void note_error(int error) { noted_error = error; }

void bring_back_error() {
  if (library().is_used) errno = library().error;
}

Result put_library() {
  put_unions();
  ELC_TRY(put_input());
  put_clocks();
  Library& l = library();
  if (!l.is_used) return Result();
  put_options();
  put_environment();
  const char* const locale = setlocale(LC_ALL, nullptr);
  if ((locale == nullptr || strcmp(locale, l.locale) != 0) && setlocale(LC_ALL, l.locale) == nullptr)
    return Result::error("the program had the locale '%s', which is not there", l.locale);
  for (int i = 0; i < 2; ++i)
    if (l.buffers[i] != 0) setvbuf(buffered_stream(i), nullptr, l.buffers[i] - 1, 0);
  for (int i = 1; i < kSignals; ++i)
    if (l.dispositions[i] != kUnchanged) set_signal(i);
  while (calls_at_exit < l.at_exit_count && call_at_exit()) {
  }
  ELC_TRY(put_rounding(l.round_by, l.rounding));
  put_timers();
  return Result();
}

}  // namespace elc::state

using elc::state::keep_zone;
using elc::state::keeping_zone;
using elc::state::kept_text;
using elc::state::kept_time;
using elc::state::kept_user;
using elc::state::lasting_copy;
using elc::state::library;

extern "C" {

// What a system leaves free behind the stack, as Linux does, is more than this.
ELC_EXPORT void ELC_Program_stack(void) {
  constexpr rlim_t kMost = rlim_t{64} << 20, kTimes = 4;
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= kMost) return;
  limit.rlim_cur = std::min(limit.rlim_cur * kTimes, kMost);
  if (limit.rlim_max != RLIM_INFINITY) limit.rlim_cur = std::min(limit.rlim_cur, limit.rlim_max);
  setrlimit(RLIMIT_STACK, &limit);
}

ELC_EXPORT char* ELC_Program_text(const char* text) { return lasting_copy(text); }
ELC_EXPORT char* ELC_Program_getenv(const char* name) { return lasting_copy(getenv(name)); }
ELC_EXPORT char* ELC_Program_strerror(int error) { return lasting_copy(strerror(error)); }
ELC_EXPORT char* ELC_Program_strsignal(int number) { return lasting_copy(strsignal(number)); }
// Where there is no other part of a path they return a string of the C library's.
ELC_EXPORT char* ELC_Program_dirname(char* path) {
  char* const part = dirname(path);
  return part == path ? part : lasting_copy(part);
}
ELC_EXPORT char* ELC_Program_basename(char* path) {
  const bool is_empty = path == nullptr || *path == '\0';
  return is_empty ? lasting_copy(basename(path)) : basename(path);
}
ELC_EXPORT void* ELC_Program_getpwuid(unsigned user) { return kept_user(getpwuid(user)); }
ELC_EXPORT void* ELC_Program_getpwnam(const char* name) { return kept_user(getpwnam(name)); }
ELC_EXPORT char* ELC_Program_getlogin(void) { return lasting_copy(getlogin()); }

ELC_EXPORT void* ELC_Program_localtime(const void* at) { return kept_time(localtime(static_cast<const time_t*>(at))); }
ELC_EXPORT void* ELC_Program_gmtime(const void* at) { return kept_time(gmtime(static_cast<const time_t*>(at))); }
ELC_EXPORT char* ELC_Program_asctime(const void* time) { return kept_text(asctime(static_cast<const struct tm*>(time))); }
ELC_EXPORT char* ELC_Program_ctime(const void* at) {
  const struct tm* const time = kept_time(localtime(static_cast<const time_t*>(at)));
  return time == nullptr ? nullptr : kept_text(asctime(time));
}

ELC_EXPORT void* ELC_Program_localtime_r(const void* at, void* to) { return keep_zone(localtime_r(static_cast<const time_t*>(at), static_cast<struct tm*>(to))); }
ELC_EXPORT void* ELC_Program_gmtime_r(const void* at, void* to) { return keep_zone(gmtime_r(static_cast<const time_t*>(at), static_cast<struct tm*>(to))); }
ELC_EXPORT long ELC_Program_mktime(void* time) { return static_cast<long>(keeping_zone(time, [](struct tm* t) { return mktime(t); })); }
ELC_EXPORT long ELC_Program_timegm(void* time) { return static_cast<long>(keeping_zone(time, [](struct tm* t) { return timegm(t); })); }
ELC_EXPORT char* ELC_Program_strptime(const char* text, const char* format, void* to) {
  return keeping_zone(to, [&](struct tm* t) { return strptime(text, format, t); });
}
ELC_EXPORT char* ELC_Program_strerror_r(int error, char* to, size_t size) {
  snprintf(to, size, "%s", strerror(error));
  return to;
}

ELC_EXPORT char* ELC_Program_strtok(char* text, const char* separators) { return strtok_r(text, separators, &library().strtok_at); }

ELC_EXPORT char* ELC_Program_setlocale(int category, const char* name) { return lasting_copy(setlocale(category, name)); }

ELC_EXPORT int ELC_Program_atexit(void (*function)(void)) {
  auto& l = library();
  if (l.at_exit_count == elc::state::kMostAtExit || !elc::state::call_at_exit()) return -1;
  l.at_exit[l.at_exit_count++] = function;
  return 0;
}

ELC_EXPORT void* ELC_Program_signal(int number, void* handler) {
  const auto before = signal(number, reinterpret_cast<void (*)(int)>(handler));
  struct sigaction now;
  if (before != SIG_ERR && number > 0 && number < elc::state::kSignals && sigaction(number, nullptr, &now) == 0) elc::state::note_signal(number, now);
  return reinterpret_cast<void*>(before);
}

ELC_EXPORT int ELC_Program_sigaction(int number, const void* to, void* before) {
  const auto* const set = static_cast<const struct sigaction*>(to);
  struct sigaction known = {};  // the system does not set all of it
  const int code = sigaction(number, set, before == nullptr ? nullptr : &known);
  if (code == 0 && before != nullptr) elc::state::tell_signal(known, static_cast<struct sigaction*>(before));
  if (code == 0 && set != nullptr && number > 0 && number < elc::state::kSignals) elc::state::note_signal(number, *set);
  return code;
}

// A buffer of the program's is not used: what is in it would be that of the run of the line.
ELC_EXPORT void ELC_Program_unfit(const char* what) {
  if (elc::state::process().unfit == nullptr) elc::state::process().unfit = what;
}

ELC_EXPORT int ELC_Program_ungetc(int character, void* stream) { return elc::state::process().streams.give_back(character, static_cast<FILE*>(stream)); }

ELC_EXPORT int ELC_Program_setvbuf(void* stream, char*, int mode, size_t) {
  const int code = setvbuf(static_cast<FILE*>(stream), nullptr, mode, 0);
  for (int i = 0; i < 2 && code == 0; ++i)
    if (stream == elc::state::buffered_stream(i)) library().buffers[i] = 1 + mode;
  return code;
}

ELC_EXPORT void ELC_Program_setbuf(void* stream, char* buffer) { ELC_Program_setvbuf(stream, nullptr, buffer == nullptr ? _IONBF : _IOFBF, 0); }
ELC_EXPORT void ELC_Program_setbuffer(void* stream, char* buffer, size_t) { ELC_Program_setbuf(stream, buffer); }
ELC_EXPORT void ELC_Program_setlinebuf(void* stream) { ELC_Program_setvbuf(stream, nullptr, _IOLBF, 0); }

ELC_EXPORT long ELC_Program_getdelim(char** line, size_t* size, int end, void* from) {
  FILE* const stream = static_cast<FILE*>(from);
  if (line == nullptr || size == nullptr) {
    errno = EINVAL;
    return -1;
  }
  size_t length = 0;
  if (*line == nullptr) *size = 0;
  for (int c; (c = getc(stream)) != EOF;) {
    if (length + 2 > *size) {
      constexpr size_t kFirst = 120;
      const size_t more = *size < kFirst ? kFirst : 2 * *size;
      char* const memory = static_cast<char*>(*line == nullptr ? ELC_new(ELC_CHAR, more) : ELC_Program_realloc(*line, more));
      if (memory == nullptr) return -1;
      *line = memory;
      *size = more;
    }
    (*line)[length++] = static_cast<char>(c);
    (*line)[length] = '\0';
    if (c == end) break;
  }
  return length == 0 ? -1 : static_cast<long>(length);
}

ELC_EXPORT long ELC_Program_getline(char** line, size_t* size, void* from) { return ELC_Program_getdelim(line, size, '\n', from); }

ELC_PRINTF(2, 0) ELC_EXPORT int ELC_Program_vasprintf(char** to, const char* format, va_list values) {
  va_list again;
  va_copy(again, values);
  const int length = vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (length < 0) return length;
  *to = static_cast<char*>(ELC_new(ELC_CHAR, static_cast<size_t>(length) + 1));
  return *to == nullptr ? -1 : vsnprintf(*to, static_cast<size_t>(length) + 1, format, values);
}

ELC_PRINTF(2, 3) ELC_EXPORT int ELC_Program_asprintf(char** to, const char* format, ...) {
  va_list values;
  va_start(values, format);
  const int length = ELC_Program_vasprintf(to, format, values);
  va_end(values);
  return length;
}

ELC_EXPORT char* ELC_Program_getcwd(char* to, size_t size) {
  if (to != nullptr) return getcwd(to, size);
  char* const found = getcwd(nullptr, 0);
  char* const copy = found == nullptr ? nullptr : ELC_Program_strdup(found);
  free(found);
  return copy;
}

ELC_EXPORT char* ELC_Program_get_current_dir_name(void) { return ELC_Program_getcwd(nullptr, 0); }

ELC_EXPORT char* ELC_Program_realpath(const char* path, char* to) {
  if (to != nullptr) return realpath(path, to);
  char* const found = realpath(path, nullptr);
  char* const copy = found == nullptr ? nullptr : ELC_Program_strdup(found);
  free(found);
  return copy;
}

ELC_EXPORT void* ELC_Program_reallocarray(void* old, size_t count, size_t size) {
  if (size == 0 || count <= PTRDIFF_MAX / size) return ELC_Program_realloc(old, count * size);
  errno = ENOMEM;
  return nullptr;
}
}
