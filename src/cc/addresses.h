// Numbers that are made of addresses, such as a place in a table that a hash of a pointer says: a restart has other addresses, and what
// was put by the old ones is not found again.
#ifndef ELC_CC_ADDRESSES_H
#define ELC_CC_ADDRESSES_H

#include <map>
#include <vector>

#include "cc/unit.h"

namespace elc::cc {

// What a function makes of them. Values are followed through variables of functions, and what functions of the file are given and
// return, and no further; what becomes a pointer again, and differences of addresses, are no numbers.
struct NumbersOfAddresses {
  std::vector<const clang::Expr*> made;
  // A multiple of so many bytes, and more than malloc's, to which addresses are rounded, or by which is asked how they are aligned: the
  // program then finds places in its blocks that way, and will find them by the new addresses. 0: none.
  int rounded_to = 0;
};
std::map<const clang::FunctionDecl*, NumbersOfAddresses> numbers_of_addresses(const Unit& unit);

}  // namespace elc::cc

#endif
