#include "base/config.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string_view>

#include "base/vector.h"

namespace elc {
namespace {

using Getter = char* (*)(const char* name);

struct SignalName {
  const char* name;
  int number;
};

// Those that POSIX has, that a process can handle, and that do not say that the program is at an end: after SIGSEGV and its
// like, or SIGABRT, it must not go on to a site, and SIGCHLD and SIGPIPE come of themselves.
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

// The directory is used until the end, also after the program has changed its own.
Result read_dir(Text* dir, const char* value) {
  if (value[0] == '/') {
    *dir = Text::copy(value);
    return {};
  }
  Vector<char> here;
  here.resize(256);
  while (getcwd(here.data(), here.size()) == nullptr) {
    if (errno != ERANGE)
      return Result::error(
          "ELC_DIR=%s is relative and there is no current directory: %s; use an absolute path", value,
          strerror(errno));
    here.resize(here.size() * 2);
  }
  *dir = Text::format("%s/%s", here.data(), value);
  return {};
}

bool read_timer(Config* config, const char* value) {
  if (strcmp(value, "auto") == 0) {
    config->timer = Timer::kAuto;
    return true;
  }
  if (!parse_seconds(value, &config->every)) return false;
  config->timer = config->every > 0 ? Timer::kFixed : Timer::kOff;
  return true;
}

bool read_mtbf(Config* config, const char* value) { return parse_seconds(value, &config->mtbf) && config->mtbf > 0; }

bool read_keep(Config* config, const char* value) {
  uint64_t keep = 0;
  if (!parse_whole(value, &keep) || keep < 1 || keep > UINT32_MAX) return false;
  config->keep = static_cast<uint32_t>(keep);
  return true;
}

bool read_restart(Config* config, const char* value) {
  if (strcmp(value, "auto") == 0) {
    config->restart = Restart::kNewest;
  } else if (strcmp(value, "no") == 0) {
    config->restart = Restart::kNone;
  } else {
    config->restart = Restart::kLine;
    return parse_whole(value, &config->restart_line) && config->restart_line > 0;
  }
  return true;
}

bool read_signal(Config* config, const char* value) { return parse_signal(value, &config->signal); }

bool read_file_roots(Config* config, const char* value) {
  for (const char* name = value; name != nullptr; name = strchr(name, ':')) {
    if (*name == ':') ++name;
    if (*name != '/' && *name != ':' && *name != '\0') return false;
  }
  config->file_roots = Text::copy(value);
  return true;
}

bool read_output(Config* config, const char* value) {
  config->output = Text::copy(value);
  return value[0] == '/';
}

bool read_drain(Config* config, const char* value) {
  config->drain = strcmp(value, "wait") == 0 ? Drain::kWait : Drain::kDrain;
  return config->drain == Drain::kWait || strcmp(value, "drain") == 0;
}

bool read_trust(Config* config, const char* value) {
  config->trust = strcmp(value, "any") == 0 ? Trust::kAny : Trust::kSelf;
  return config->trust == Trust::kAny || strcmp(value, "self") == 0;
}

bool read_readers(Config* config, const char* value) {
  config->readers = strcmp(value, "all") == 0     ? Readers::kAll
                    : strcmp(value, "group") == 0 ? Readers::kGroup
                                                  : Readers::kOwner;
  return config->readers != Readers::kOwner || strcmp(value, "owner") == 0;
}

bool read_background(Config* config, const char* value) {
  config->background = strcmp(value, "fork") == 0 ? Background::kFork
                       : strcmp(value, "copy") == 0 ? Background::kCopy
                       : strcmp(value, "no") == 0 ? Background::kNo
                                                  : Background::kAuto;
  return config->background != Background::kAuto || strcmp(value, "auto") == 0;
}

bool read_huge_pages(Config* config, const char* value) {
  config->huge_pages = strcmp(value, "no") != 0;
  return !config->huge_pages || strcmp(value, "yes") == 0;
}

bool read_early_sends(Config* config, const char* value) {
  config->early_sends = strcmp(value, "yes") == 0;
  return config->early_sends || strcmp(value, "no") == 0;
}

bool read_aggregate(Config* config, const char* value) {
  uint64_t most = 1;
  if (strcmp(value, "node") == 0) most = kAllOfMachine;
  else if (strcmp(value, "no") != 0 && (!parse_whole(value, &most) || most < 1 || most > kAllOfMachine)) return false;
  config->aggregate = static_cast<uint32_t>(most);
  return true;
}

bool read_incremental(Config* config, const char* value) {
  uint64_t whole = 0;
  if (!parse_whole(value, &whole) || whole < 1 || whole > kMostIncremental) return false;
  config->incremental = static_cast<uint32_t>(whole);
  return true;
}

bool read_compress(Config* config, const char* value) {
  if (strcmp(value, "no") == 0) return true;
  uint64_t threads = 0;
  if (value[0] < '1' || value[0] > '9' || (value[1] != '\0' && value[1] != ',')) return false;
  if (value[1] == ',' && (!parse_whole(value + 2, &threads) || threads < 1 || threads > kMostCompressThreads)) return false;
  config->compress = value[0] - '0';
  config->compress_threads = static_cast<unsigned>(threads);
  return true;
}

bool read_max_transit(Config* config, const char* value) { return parse_bytes(value, &config->max_transit); }

constexpr double kLate = 60, kLeastLate = 10;  // seconds, where ELC_LATE is not set

bool read_late(Config* config, const char* value) { return parse_seconds(value, &config->late); }

bool read_small(const char* value, uint64_t most, int* small) {
  uint64_t whole = 0;
  if (!parse_whole(value, &whole) || whole > most) return false;
  *small = static_cast<int>(whole);
  return true;
}

bool read_check(Config* config, const char* value) {
  int check = 0;
  const bool allowed = read_small(value, 1, &check);
  config->check = check != 0;
  return allowed;
}

bool read_strict(Config* config, const char* value) {
  int strict = 0;
  const bool allowed = read_small(value, 1, &strict);
  config->strict = strict != 0;
  return allowed;
}

bool read_verbose(Config* config, const char* value) { return read_small(value, 2, &config->verbose); }

constexpr struct {
  const char* name;
  bool (*read)(Config* config, const char* value);  // false: not allowed
  const char* allowed;
} kVariables[] = {
    {"ELC_EVERY", read_timer, "seconds between lines (30, 0.5, 15m, 2h), 0 for none, or auto"},
    {"ELC_MTBF", read_mtbf, "the mean time between failures: seconds, or 30m, 12h, 7d"},
    {"ELC_KEEP", read_keep, "the number of lines to keep, at least 1"},
    {"ELC_RESTART", read_restart, "auto, no, or the number of a line"},
    {"ELC_SIGNAL", read_signal,
     "a signal that may ask for a line (HUP, INT, QUIT, USR1, USR2, ALRM, TERM, CONT, TSTP, URG, XCPU, XFSZ, VTALRM), its "
     "number, or that of a real-time signal"},
    {"ELC_FILE_ROOTS", read_file_roots, "directories with their absolute names, colons between them"},
    {"ELC_OUTPUT", read_output, "the absolute name of a file, which elc run --output sets"},
    {"ELC_DRAIN", read_drain, "drain or wait"},
    {"ELC_MAX_TRANSIT", read_max_transit, "a number of bytes: 1000000, 64M, 2G"},
    {"ELC_LATE", read_late, "seconds, or 5m, 1h; 0 for never"},
    {"ELC_TRUST", read_trust, "self or any"},
    {"ELC_READERS", read_readers, "owner, group or all"},
    {"ELC_BACKGROUND", read_background, "auto, fork, copy or no"},
    {"ELC_HUGE_PAGES", read_huge_pages, "yes or no"},
    {"ELC_EARLY_SENDS", read_early_sends, "yes or no"},
    {"ELC_AGGREGATE", read_aggregate, "no, node, or how many ranks of a machine write to one file"},
    {"ELC_COMPRESS", read_compress, "no, or a level of zlib from 1 to 9, with a number of threads from 1 to 12: 1, or 1,4"},
    {"ELC_INCREMENTAL", read_incremental, "how often a line is whole: 1 (each) to 256 (one of so many)"},
    {"ELC_CHECK", read_check, "0 or 1"},
    {"ELC_STRICT", read_strict, "0 or 1"},
    {"ELC_VERBOSE", read_verbose, "0 (problems), 1 (each line) or 2 (more)"},
};

constexpr size_t kLongestName = 32;

// How many letters have to be put in, left out or changed to make one name the other (Levenshtein's distance).
size_t distance_of(std::string_view a, std::string_view b) {
  size_t row[kLongestName + 1];  // of a's first letters to each beginning of b
  if (a.size() > kLongestName || b.size() > kLongestName) return kLongestName;
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t before = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t changed = before + (a[i - 1] != b[j - 1]);
      before = row[j];
      const size_t longer = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
      row[j] = changed < longer ? changed : longer;
    }
  }
  return row[b.size()];
}

// The variable that somebody meant who wrote another name, if that is not quite another.
const char* meant_by(std::string_view name) {
  constexpr size_t kNear = 2;
  const char* meant = nullptr;
  size_t least = kNear + 1;
  const auto look_at = [&](const char* known) {
    if (const size_t distance = distance_of(name, known); distance < least) least = distance, meant = known;
  };
  look_at("ELC_DIR");
  for (const auto& variable : kVariables) look_at(variable.name);
  return least > 0 ? meant : nullptr;
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
    bool allowed = false;
    for (const SignalName& signal : kSignals) allowed |= number == static_cast<uint64_t>(signal.number);
#ifdef SIGRTMIN  // not a constant: a C library keeps the first of the kernel's for itself
    allowed |= number >= static_cast<uint64_t>(SIGRTMIN) && number <= static_cast<uint64_t>(SIGRTMAX);
#endif
    if (allowed) *value = static_cast<int>(number);
    return allowed;
  }
  if (strncmp(text, "SIG", 3) == 0) text += 3;
  for (const SignalName& signal : kSignals) {
    if (strcmp(text, signal.name) != 0) continue;
    *value = signal.number;
    return true;
  }
  return false;
}

Result read_config(Config* config, Getter get) {
  // An empty variable is one that is not set: scripts cannot always unset.
  auto value_of = [get](const char* name) {
    const char* value = get(name);
    return value != nullptr && value[0] == '\0' ? nullptr : value;
  };
  if (const char* v = value_of("ELC_DIR")) ELC_TRY(read_dir(&config->dir, v));
  for (const auto& variable : kVariables)
    if (const char* v = value_of(variable.name); v != nullptr && !variable.read(config, v))
      return Result::error("%s=%s is not allowed: set it to %s, or unset it", variable.name, v, variable.allowed);
  if (config->late < 0) {
    const double two = 2 * config->every;
    config->late = config->timer != Timer::kFixed ? kLate : two < kLeastLate ? kLeastLate : two;
  }
  return {};
}

Result read_config(Config* config) { return read_config(config, getenv); }

Text misspelt_variables(const char* const* environment) {
  Text all;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const char* const end = strchr(*environment, '=');
    const std::string_view name(*environment, end == nullptr ? 0 : static_cast<size_t>(end - *environment));
    const char* const meant = name.substr(0, 4) == "ELC_" ? meant_by(name) : nullptr;
    if (meant != nullptr)
      all = Text::format("%s%s%.*s is no variable of libELC: is %s meant?", all.c_str(), all.empty() ? "" : "; ", static_cast<int>(name.size()), name.data(), meant);
  }
  return all;
}

}  // namespace elc
