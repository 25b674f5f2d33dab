// getopt() and its relatives in a program that a tool has prepared. What the C library keeps between two calls, as the place in a cluster of options
// and which words it has put behind them, nobody can ask for. So a restart, when the program goes on, calls it as often as the program had,
// with the words of the line.
#include <unistd.h>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/library.h"
#include "state/process.h"

extern "C" ELC_WEAK int getopt_long(int count, char* const* words, const char* options, const void* all, int* which);  // not in POSIX
extern "C" ELC_WEAK int getopt_long_only(int count, char* const* words, const char* options, const void* all, int* which);

namespace elc::state {
namespace {

// In lines.
struct {
  int calls;  // since the program began to look, each of which has found something
  int first;  // optind, then
  int next;   // optind, behind the last
  int now;    // optind, when the line was taken
  int is_changed;  // the program has set optind since: no line is taken then
} scan;

int made = 0;  // by this process, of those

// `call` gets a place for the number of a long option: what the program gave, or one that nobody reads.
template <class F>
int go_on(F call) {
  const int asked = optind;
  if (asked == 0) scan.calls = made = 0;  // the program begins anew
  if (scan.calls == 0) scan.first = asked, scan.is_changed = 0;
  else if (asked != scan.next) scan.is_changed = 1;
  if (made < scan.calls) {
    const int tells = opterr;
    optind = scan.first;
    opterr = 0;
    for (; made < scan.calls; ++made) call(true);
    opterr = tells;
    if (optind != scan.next) give_up(Result::error("getopt() finds other options than before the line: the words of the program have changed"));
    optind = asked;
  }
  const int found = call(false);
  scan.calls = made = found == -1 ? 0 : scan.calls + 1;
  scan.next = optind;
  return found;
}

}  // namespace

void register_options() {
  const LibraryVariable all[] = {{"place of getopt", &scan, ELC_INT, sizeof scan / sizeof(int)}};
  register_all(all);
}

Result take_options() {
  scan.now = optind;
  if (scan.calls == 0 || scan.is_changed == 0) return Result();
  return Result::error("the program has set optind while it looks for its options (getopt), and a restart would not go on there: a line is taken when it has seen all");
}

void put_options() {
  if (scan.calls > 0) optind = scan.now;  // also of a program that does not name it
}

}  // namespace elc::state

using elc::state::go_on;

extern "C" {

ELC_EXPORT int ELC_Program_getopt(int count, char* const* words, const char* options) {
  return go_on([=](bool) { return getopt(count, words, options); });
}

ELC_EXPORT int ELC_Program_getopt_long(int count, char* const* words, const char* options, const void* all, int* which) {
  int other = 0;
  return go_on([=, &other](bool again) { return getopt_long(count, words, options, all, again ? &other : which); });
}

ELC_EXPORT int ELC_Program_getopt_long_only(int count, char* const* words, const char* options, const void* all, int* which) {
  int other = 0;
  return go_on([=, &other](bool again) { return getopt_long_only(count, words, options, all, again ? &other : which); });
}
}
