// Characters that the program has given back to a stream (ungetc). What it has read, given back, is as if it had not been read, and
// lines need nothing of it; another character is in no line. Programs that read numbers do this for each of them: so it is found out when a
// line is taken, not before.
#ifndef ELC_STATE_UNREAD_H
#define ELC_STATE_UNREAD_H

#include <stdio.h>

#include "base/result.h"

namespace elc::state {

// Whether the program would read from the file what it will read of a stream that it has read last. The stream stays as it is.
Result check_given_back(FILE* file);

}  // namespace elc::state

#endif
