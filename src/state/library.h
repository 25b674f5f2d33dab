// What the C library keeps for a program that a tool has prepared (elc_program.h): settings, and places in memory of its own.
#ifndef ELC_STATE_LIBRARY_H
#define ELC_STATE_LIBRARY_H

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <span>

#include "base/result.h"
#include "portable_format/types.h"

struct ELC_Program;
struct ELC_Program_rounding;

namespace elc::state {

// The name of a variable of lines that is none of the program's: it has a blank, as no name in C.
class LibraryName {
 public:
  consteval LibraryName(const char* text) : text_(text) {
    const char* at = text;
    while (*at != ' ') ++at;  // behind its end: does not compile
  }
  const char* text() const { return text_; }

 private:
  const char* text_;
};

// What becomes a variable of lines.
struct LibraryVariable {
  LibraryName name;
  void* address;
  format::TypeId type;
  size_t count = 1;
};
void register_all(std::span<const LibraryVariable> all);

// A copy of a text of the C library, which the program may keep as long as it runs: one of each.
char* lasting_copy(const char* text);

// What the program may use of it becomes variables of lines.
void register_library(const ELC_Program& program);
// Before a line: as it is now. After a restart: as the line has it.
Result take_library();
Result put_library();

constexpr int kSignals = 65;  // of Linux, from 1
// Signals as bits, of which the first is that of signal 1.
uint64_t bits_of(const sigset_t& set);
sigset_t set_of(uint64_t bits);

// What the program has set of its process (environment.cc). Timers are put last: what they call finds all else.
void register_environment();
void take_environment();
void put_environment();
void put_timers();
// getopt() goes on where it was (options.cc).
void register_options();
Result take_options();
void put_options();
// errno is that of the line again, where the program uses it.
void bring_back_error();

// How numbers are rounded and which exceptions they raise (rounding.cc).
constexpr int kRoundingWords = 3;
void take_rounding(const ELC_Program_rounding& by, int state[kRoundingWords]);
Result put_rounding(const ELC_Program_rounding* by, const int state[kRoundingWords]);
// What arithmetic does when the program begins; and if it does other things now, which a restart would not bring back. `by`: nullptr, or what
// a restart does bring back.
void note_arithmetic();
Result check_arithmetic(const ELC_Program_rounding* by);

// The numbers of the process, its parent and its group: what the program has been told once is told in restarts, too, as it may have put
// them into names of files, or other processes know them. Of this process; nullptr: of one that the program has forked, which has its own.
enum Identity : int { kOwn, kParent, kGroup, kIdentities };
int* identity(Identity which);

// Whether the program has said how its standard output, or error, is buffered, as far as that is seen.
bool is_buffer_set(FILE* stream);

// The standard input (input.cc), in the same way.
void register_input();
bool is_own_input(FILE* stream);  // that stands for the standard input
void gives_back_input();          // by ungetc
// freopen of it. What it reads from now on is another file's; nullptr: that cannot be opened, and nothing comes.
FILE* reopen_input(const char* path);
Result take_input();
Result put_input();

}  // namespace elc::state

#endif
