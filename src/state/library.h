// What the C library keeps for a program that a tool has prepared (elc_program.h): settings, and places in memory of its own.
#ifndef ELC_STATE_LIBRARY_H
#define ELC_STATE_LIBRARY_H

#include <stddef.h>

#include "base/result.h"

struct ELC_Program;

namespace elc::state {

// What the program may use of it becomes variables of lines.
void register_library(const ELC_Program& program);
// Before a line: as it is now. After a restart: as the line has it.
Result take_library();
Result put_library();

// The standard input (input.cc), in the same way.
void register_input();
Result take_input();
Result put_input();

}  // namespace elc::state

#endif
