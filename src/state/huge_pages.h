// Huge pages of the system for what a program has that is large. A copy of the process is made in a tenth of the time where memory
// lies in such, what the program changes behind it costs it less, and so does the first touch of what malloc has given.
//
// What is never touched takes memory with what is beside it then: of 2 megabytes, say, of which a byte is. So no more is asked for than
// a process could fill.
#ifndef ELC_STATE_HUGE_PAGES_H
#define ELC_STATE_HUGE_PAGES_H

#include <stdint.h>

namespace elc::state {

// For memory that was just made. Whether the system was asked: not for what is small, nor beyond what use_huge_pages (state.h) allows.
bool ask_for_huge_pages(void* memory, uint64_t size);
// Such memory is given back.
void return_huge_pages(uint64_t size);

}  // namespace elc::state

#endif
