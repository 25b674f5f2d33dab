// What the parts of the store tell each other.
#ifndef ELC_STORE_RECORDS_H
#define ELC_STORE_RECORDS_H

#include <stdint.h>

#include "base/result.h"
#include "base/text.h"
#include "store/aggregate.h"
#include "store/files.h"

namespace elc::store {

// Names in the directory of lines, and in that of a line.
inline constexpr char kCommitName[] = "commit", kRunName[] = "run", kFinishedName[] = "finished",
                      kRefusedName[] = "refused";
inline constexpr uint64_t kHighestBefore = 4000000000;  // lines are numbered with 32 bits: enough are left for a run

Text line_name(uint64_t line);
Text rank_name(uint32_t rank);
// Of what a rank writes alone or with others.
Text file_name(uint32_t rank, const Ranks& together);
// The rank in such a name, of which `end` is the end; false for any other name.
bool rank_number(const char* name, const char* end, uint32_t* rank);
// The number in such a name; false for any other name. No run makes lines of more than 32 bits.
bool line_number(const char* name, uint64_t* line);

uint64_t microseconds_now();  // since 1970

// The directory of a line that is there.
Result open_line(const char* dir, uint64_t line, Directory* top, Directory* place);

// Makes or opens the directory of a line that `run` takes; fails where another run has it. The name is given to a
// directory that already says whose it is, so that of two jobs only one gets it, locks or not.
Result claim_line(const Directory& top, uint64_t line, uint64_t run, uint32_t rank, Directory* place, bool* made);
// Whether the directory of a line is still that of the run.
Result check_claim(const Directory& place, uint64_t run);
// Gives up what claim_line made of a line that has nothing else in it.
void release_line(const Directory& top, uint64_t line, const Directory& place);
// Is `name` one under which claim_line begins? That of which line.
bool unclaimed_line(const char* name, uint64_t* line);

// The mark that mark_finished left; zeros if there is none.
Result read_finished(const Directory& top, uint64_t* line, uint64_t* run);

}  // namespace elc::store

#endif
