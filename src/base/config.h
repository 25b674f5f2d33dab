// What the user sets by environment variables (elc(7) lists them for people). `elc run` sets the
// same variables, so that everything works without it too.
#ifndef ELC_BASE_CONFIG_H
#define ELC_BASE_CONFIG_H

#include <stdint.h>

#include "base/result.h"
#include "base/text.h"

namespace elc {

// Where a run begins: ELC_RESTART.
enum class Restart {
  kNewest,  // auto: from the newest committed line, unless the run that made it finished
  kNone,    // no: from the start
  kLine,    // a number: from that line
};

// When the timer asks for a line: ELC_EVERY.
enum class Timer {
  kOff,    // not set, or 0: lines come from calls of the program, from signals and from requests
  kFixed,  // every so many seconds
  kAuto,   // at the optimal interval, from the measured cost of a line and the MTBF
};

// How messages in transit are held (section 5 of the protocol): ELC_DRAIN.
enum class Drain { kDrain, kWait };

// Whose lines a restart believes: ELC_TRUST.
enum class Trust { kSelf, kAny };

// Who may read the lines that are taken: ELC_READERS.
enum class Readers { kOwner, kGroup, kAll };

// Who writes the data of a line: ELC_BACKGROUND.
enum class Background {
  kAuto,  // a copy of the process, where that is safe and pays; else a thread, or the process
  kFork,  // a copy of the process wherever that can be
  kCopy,  // a thread, from a copy of the data
  kNo,    // the process, before the program runs on
};

constexpr uint32_t kMostIncremental = 256;  // of ELC_INCREMENTAL
constexpr unsigned kMostCompressThreads = 12;  // of ELC_COMPRESS

constexpr uint32_t kAllOfMachine = UINT32_MAX;  // as ELC_AGGREGATE

struct Config {
  Text dir;                   // ELC_DIR, made absolute; empty: the library is passive
  Timer timer = Timer::kOff;  // ELC_EVERY
  double every = 0;           // seconds, with Timer::kFixed
  double mtbf = 86400;        // ELC_MTBF, seconds
  uint32_t keep = 2;          // ELC_KEEP, committed lines, at least 1
  Restart restart = Restart::kNewest;
  uint64_t restart_line = 0;  // with Restart::kLine, at least 1
  int signal = 0;             // ELC_SIGNAL, 0 for none
  Text file_roots;            // ELC_FILE_ROOTS: absolute names with colons between them
  Text output;                // ELC_OUTPUT: absolute; a rank's standard output goes to a file of this name, a point and its number
  Drain drain = Drain::kDrain;
  uint64_t max_transit = UINT64_MAX;  // ELC_MAX_TRANSIT, bytes held in transit by one process
  double late = -1;                   // ELC_LATE, seconds until a rank says that it comes to no site; 0: never
  Trust trust = Trust::kSelf;
  Readers readers = Readers::kOwner;
  Background background = Background::kAuto;
  bool huge_pages = true;             // ELC_HUGE_PAGES
  bool early_sends = false;           // ELC_EARLY_SENDS
  uint32_t aggregate = 1;             // ELC_AGGREGATE: so many ranks of a machine write to one file
  uint32_t incremental = 1;           // ELC_INCREMENTAL: every so manieth line is whole
  int compress = 0;                   // ELC_COMPRESS, zlib's level; 0: no
  unsigned compress_threads = 0;      // with it, behind a comma; 0: as many as there are processors for a rank
  bool check = false;                 // ELC_CHECK
  bool strict = false;                // ELC_STRICT
  int verbose = 0;                    // ELC_VERBOSE: 0 problems only, 1 each line, 2 more
};

// Reads the variables through `get` (getenv, but for tests). A value that is not allowed is an
// error that names the variable, the value and what is allowed; `config` is then unusable.
Result read_config(Config* config, char* (*get)(const char* name));
Result read_config(Config* config);

// What is to be said of names in the environment ("NAME=value", the last one null) that are nearly those of variables; empty for nothing.
Text misspelt_variables(const char* const* environment);

// The values' own syntax, shared with the command line of `elc`. Each returns false for a text that
// is not of the form, and leaves `value` alone.
// Seconds: "90", "0.5", "15m", "2h", "1d"; not negative, at most 1e9.
bool parse_seconds(const char* text, double* value);
// A whole number in decimal.
bool parse_whole(const char* text, uint64_t* value);
// Bytes: a whole number, with K, M, G or T for powers of 1024.
bool parse_bytes(const char* text, uint64_t* value);
// A signal: "USR1", "SIGUSR1" or a number.
bool parse_signal(const char* text, int* value);

}  // namespace elc

#endif
