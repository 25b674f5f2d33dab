// Where a program asks which of two pointers comes first: in memory of one block a restart has the same order, and another one of blocks.
#ifndef ELC_CC_ORDERS_H
#define ELC_CC_ORDERS_H

#include <utility>
#include <vector>

#include "cc/unit.h"

namespace elc::cc {

// The comparisons, and differences that functions for qsort() return, which are to be watched when they are done, and the functions that
// they are in. Others are of pointers that go through memory, as to its end, and of one with two others, as whether it is in an array.
std::vector<std::pair<const clang::FunctionDecl*, const clang::BinaryOperator*>> orders_of_addresses(const Unit& unit);

}  // namespace elc::cc

#endif
