// What the library says to people: whole lines on standard error, "elc: ..." or "elc: rank 3: ...".
#ifndef ELC_BASE_MESSAGE_H
#define ELC_BASE_MESSAGE_H

#include "base/compiler.h"

namespace elc {

// The rank that messages name from now on; none before MPI_Init (and in the tool).
void set_message_rank(int rank);

// Writes one line (the newline is added) in one write, so that lines of ranks do not mix.
ELC_PRINTF(1, 2) void say(const char* format, ...);

}  // namespace elc

#endif
