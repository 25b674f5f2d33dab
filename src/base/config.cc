#include "base/config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vector.h"

namespace elc {
namespace {

using Getter = char* (*)(const char* name);

struct SignalName {
  const char* name;
  int number;
};

// Those that POSIX has and that a process can handle.
constexpr SignalName kSignals[] = {
    {"HUP", SIGHUP},   {"INT", SIGINT},   {"QUIT", SIGQUIT},     {"USR1", SIGUSR1}, {"USR2", SIGUSR2},
    {"ALRM", SIGALRM}, {"TERM", SIGTERM}, {"CONT", SIGCONT},     {"TSTP", SIGTSTP}, {"URG", SIGURG},
    {"XCPU", SIGXCPU}, {"XFSZ", SIGXFSZ}, {"VTALRM", SIGVTALRM},
};

struct Unit {
  char letter;
  uint64_t factor;
};

constexpr Unit kTimes[] = {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}};
constexpr Unit kSizes[] = {{'K', 1 << 10}, {'M', 1 << 20}, {'G', 1 << 30}, {'T', uint64_t{1} << 40}};

bool digit(char c) { return c >= '0' && c <= '9'; }

Status not_allowed(const char* name, const char* value, const char* allowed) {
  return Status::error("%s=%s is not allowed: set it to %s, or unset it", name, value, allowed);
}

// The directory is used until the end, also after the program has changed its own.
Status read_dir(Text* dir, const char* value) {
  if (value[0] == '/') {
    *dir = Text::copy(value);
    return {};
  }
  Vector<char> here;
  here.resize(256);
  while (getcwd(here.data(), here.size()) == nullptr) {
    if (errno != ERANGE)
      return Status::error(
          "ELC_DIR=%s is relative and there is no current directory: %s; use an absolute path", value,
          strerror(errno));
    here.resize(here.size() * 2);
  }
  *dir = Text::format("%s/%s", here.data(), value);
  return {};
}

Status read_timer(Config* config, const char* value) {
  if (strcmp(value, "auto") == 0) {
    config->timer = Timer::kAuto;
    return {};
  }
  if (!parse_seconds(value, &config->every))
    return not_allowed("ELC_EVERY", value, "seconds between lines (30, 0.5, 15m, 2h), 0 for none, or auto");
  config->timer = config->every > 0 ? Timer::kFixed : Timer::kOff;
  return {};
}

Status read_restart(Config* config, const char* value) {
  if (strcmp(value, "auto") == 0) {
    config->restart = Restart::kNewest;
  } else if (strcmp(value, "no") == 0) {
    config->restart = Restart::kNone;
  } else if (parse_whole(value, &config->restart_line) && config->restart_line > 0) {
    config->restart = Restart::kLine;
  } else {
    return not_allowed("ELC_RESTART", value, "auto, no, or the number of a line");
  }
  return {};
}

Status read_drain(Config* config, const char* value) {
  if (strcmp(value, "drain") == 0) {
    config->drain = Drain::kDrain;
  } else if (strcmp(value, "wait") == 0) {
    config->drain = Drain::kWait;
  } else {
    return not_allowed("ELC_DRAIN", value, "drain or wait");
  }
  return {};
}

Status read_keep(Config* config, const char* value) {
  uint64_t keep = 0;
  if (!parse_whole(value, &keep) || keep < 1 || keep > UINT32_MAX)
    return not_allowed("ELC_KEEP", value, "the number of lines to keep, at least 1");
  config->keep = static_cast<uint32_t>(keep);
  return {};
}

Status read_small(const char* name, const char* value, uint64_t most, const char* allowed, int* small) {
  uint64_t whole = 0;
  if (!parse_whole(value, &whole) || whole > most) return not_allowed(name, value, allowed);
  *small = static_cast<int>(whole);
  return {};
}

}  // namespace

bool parse_whole(const char* text, uint64_t* value) {
  uint64_t sum = 0;
  if (!digit(*text)) return false;
  for (; digit(*text); ++text) {
    const uint64_t next = static_cast<uint64_t>(*text - '0');
    if (sum > (UINT64_MAX - next) / 10) return false;
    sum = sum * 10 + next;
  }
  if (*text != '\0') return false;
  *value = sum;
  return true;
}

// By hand, because strtod reads a decimal comma where the program has set such a locale.
bool parse_seconds(const char* text, double* value) {
  double sum = 0;
  bool any = false;
  for (; digit(*text); ++text, any = true) sum = sum * 10 + (*text - '0');
  if (*text == '.') {
    ++text;
    for (double place = 0.1; digit(*text); ++text, place /= 10, any = true) sum += place * (*text - '0');
  }
  if (!any) return false;
  double unit = 1;
  for (const Unit& other : kTimes) {
    if (*text != other.letter) continue;
    unit = static_cast<double>(other.factor);
    ++text;
    break;
  }
  if (*text != '\0' || sum * unit > 1e9) return false;
  *value = sum * unit;
  return true;
}

bool parse_bytes(const char* text, uint64_t* value) {
  char digits[32];
  const size_t length = strlen(text);
  if (length == 0 || length >= sizeof digits) return false;
  memcpy(digits, text, length + 1);
  uint64_t unit = 1;
  for (const Unit& other : kSizes) {
    if ((digits[length - 1] & ~0x20) != other.letter) continue;  // of any case
    unit = other.factor;
    digits[length - 1] = '\0';
    break;
  }
  uint64_t whole = 0;
  if (!parse_whole(digits, &whole) || whole > UINT64_MAX / unit) return false;
  *value = whole * unit;
  return true;
}

bool parse_signal(const char* text, int* value) {
  uint64_t number = 0;
  if (parse_whole(text, &number)) {
    if (number < 1 || number > 127 || number == SIGKILL || number == SIGSTOP) return false;
    *value = static_cast<int>(number);
    return true;
  }
  if (strncmp(text, "SIG", 3) == 0) text += 3;
  for (const SignalName& signal : kSignals) {
    if (strcmp(text, signal.name) != 0) continue;
    *value = signal.number;
    return true;
  }
  return false;
}

Status read_config(Config* config, Getter get) {
  // An empty variable is one that is not set: scripts cannot always unset.
  auto value_of = [get](const char* name) {
    const char* value = get(name);
    return value != nullptr && value[0] == '\0' ? nullptr : value;
  };
  if (const char* v = value_of("ELC_DIR")) ELC_TRY(read_dir(&config->dir, v));
  if (const char* v = value_of("ELC_EVERY")) ELC_TRY(read_timer(config, v));
  if (const char* v = value_of("ELC_MTBF"); v && (!parse_seconds(v, &config->mtbf) || config->mtbf <= 0))
    return not_allowed("ELC_MTBF", v, "the mean time between failures: seconds, or 30m, 12h, 7d");
  if (const char* v = value_of("ELC_KEEP")) ELC_TRY(read_keep(config, v));
  if (const char* v = value_of("ELC_RESTART")) ELC_TRY(read_restart(config, v));
  if (const char* v = value_of("ELC_SIGNAL"); v && !parse_signal(v, &config->signal))
    return not_allowed("ELC_SIGNAL", v, "a signal that can be handled: USR1, USR2, TERM ..., or its number");
  if (const char* v = value_of("ELC_DRAIN")) ELC_TRY(read_drain(config, v));
  if (const char* v = value_of("ELC_MAX_TRANSIT"); v && !parse_bytes(v, &config->max_transit))
    return not_allowed("ELC_MAX_TRANSIT", v, "a number of bytes: 1000000, 64M, 2G");
  int check = config->check_pointers;
  if (const char* v = value_of("ELC_CHECK_POINTERS"))
    ELC_TRY(read_small("ELC_CHECK_POINTERS", v, 1, "0 or 1", &check));
  config->check_pointers = check != 0;
  if (const char* v = value_of("ELC_VERBOSE"))
    ELC_TRY(read_small("ELC_VERBOSE", v, 2, "0 (problems), 1 (each line) or 2 (more)", &config->verbose));
  return {};
}

Status read_config(Config* config) { return read_config(config, getenv); }

}  // namespace elc
