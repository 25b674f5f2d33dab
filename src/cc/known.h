// What is known of functions that no source of the program defines. What is not known is refused.
#ifndef ELC_CC_KNOWN_H
#define ELC_CC_KNOWN_H

#include <stdint.h>

#include <string>

namespace elc::cc {

constexpr uint64_t kMallocAlignment = 16;  // bytes

struct Known {
  enum class Kind {
    kUnknown,   // may keep state, or call functions of the program
    kPlain,     // keeps nothing of what a restart needs, and no pointer that it is given
    kReplaced,  // by the function `text`
    kUnfit,     // for the reason `text`: a run that has called it takes no lines from then on
    kRefused,   // for the reason `text`
  };
  // Of an unfit one called by its name: what it returns, or has first, is a file, and lines are refused while that is open.
  enum class File { kNone, kOpened, kOpenedStream, kOpenedDirectory, kUsed };
  Kind kind = Kind::kUnknown;
  std::string text;
  bool returns_own = false;    // of a plain one: if it returns a pointer, then into what it was given, or to what nobody keeps
  bool draws_numbers = false;  // of rand, random or drand48
  bool keeps = false;          // in the C library, what lines have
  bool rounds = false;         // numbers otherwise than usual
  bool sets_control = false;   // the same, by a register
  bool aligns = false;         // memory
  bool gets_attributes = false;  // of MPI
  bool makes_keyvals = false;    // of such
  bool probes = false;           // it looks for messages, or at requests, without waiting for each, or gives up to wait
  bool keeps_pointers = false;   // that it is given, for later
  bool allocates_windows = false;
  bool attaches = false;         // a buffer for sends
  bool reads_input = false;    // the standard one
  bool reads_clock = false;    // other than the calendar's
  bool returns_memory = false; // its result is memory that it is given
  bool allocates = false;      // its result may be memory that nobody has given a type
  bool is_for_threads = false;  // of MPI, or one whose state lines have: threads may call it, and at the same time
  File file = File::kNone;
  bool looks_outside = false;   // at what other programs may change at any time
  int fills = -1;               // and this argument leads to where it puts what it sees
  int makes = -1;              // of an unfit one called by its name: this argument leads to what it makes in memory of its own, which lines are refused for
  int frees = -1;              // and to what it frees
  bool is_setting = false;     // of a replaced one: its last call is repeated in a restart
};

Known known_function(const std::string& name);

// A variable of the C library that programs may use.
bool is_known_variable(const std::string& name);

// Calls of MPI at which lines are taken: those that wait for others, and those by which a program polls.
bool is_site(const std::string& name);
// What gives memory of the function that calls it, and what has to be called by one that no line finds on the stack.
bool is_alloca(const std::string& name);
bool is_setjmp(const std::string& name);
inline bool is_mpi(const std::string& name) { return name.starts_with("MPI_"); }

}  // namespace elc::cc

#endif
