// What the parts of the store tell each other.
#ifndef ELC_STORE_RECORDS_H
#define ELC_STORE_RECORDS_H

#include <stdint.h>

#include "base/status.h"

namespace elc::store {

uint64_t microseconds_now();  // since 1970

// The mark that mark_finished left; zeros if there is none.
Status read_finished(const char* dir, uint64_t* line, uint64_t* run);

}  // namespace elc::store

#endif
