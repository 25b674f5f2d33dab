// Pointers that a program moves to before what they are of, by a distance that it computes, as where an array counts from a number: from
// its value alone nobody could tell whose such a pointer is. The library is told (ELC_Program_moved) where it may outlive the statement.
#ifndef ELC_CC_MOVES_H
#define ELC_CC_MOVES_H

#include "cc/edits.h"
#include "cc/program.h"
#include "cc/unit.h"

namespace elc::cc {

void follow_moves(const Unit& unit, const Program& program, Edits* edits);

}  // namespace elc::cc

#endif
