// Numbers that are made of addresses, such as a place in a table that a hash of a pointer says: a restart has other addresses, and what
// was put by the old ones is not found again.
#ifndef ELC_CC_ADDRESSES_H
#define ELC_CC_ADDRESSES_H

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "cc/unit.h"

namespace elc::cc {

// What a function makes of them. Followed are variables, what functions are given, and of the same file what functions return and what
// members of structs have got, by their names; not what is written through pointers to integers, or into unions. What becomes a pointer
// again, differences of addresses and comparisons are no numbers; nor is what is left of one, or missing to the next, by some number of
// bytes, as long as it is only compared, or memory is aligned by it.
// Multiples of so many bytes, and more than malloc's, to which addresses are rounded, or by which is asked how they are aligned: the
// program then finds places in its memory that way, and will find them by the new addresses. 0: none.
struct Rounding {
  int of_all = 0;
  int of_large = 0;  // in what has as many bytes

  void add(const Rounding& more) {
    of_all = std::max(of_all, more.of_all);
    of_large = std::max(of_large, more.of_large);
  }
};

struct NumbersOfAddresses {
  std::vector<const clang::Expr*> made;
  // Of those that are made of nothing but whole addresses, which are there as pointers or as integers: these. Their values tell when it is done
  // whether they are addresses.
  std::map<const clang::Expr*, std::vector<const clang::Expr*>> wholes;
  // Of others, where all that they are made of became integers in this file: where it did, by conversions of pointers. Their values tell
  // whether there were addresses among them, and not numbers that the program has put into pointers.
  std::map<const clang::Expr*, std::set<const clang::Expr*>> sources;
  // What is read by a pointer as an integer that may be half an address: what is there tells.
  std::vector<const clang::Expr*> looked_at;
  Rounding rounded_to;
};

// A parameter of a function, by its number.
using Parameter = std::pair<const clang::FunctionDecl*, unsigned>;

struct AddressesOfUnit {
  std::map<const clang::FunctionDecl*, NumbersOfAddresses> functions;
  std::set<Parameter> given;  // addresses as integers, or pointers to their bytes, to functions of other files
  std::set<const clang::FunctionDecl*> may_be_given;  // its functions, these definitions
};
// `is_given`: whether a function is given one by a function of another file.
AddressesOfUnit numbers_of_addresses(const Unit& unit, const std::function<bool(const Parameter&)>& is_given);

// What comes of it where a function, this definition, is given one as this parameter; nothing for those that are not there.
struct AddressIfGiven {
  NumbersOfAddresses made;
  std::set<Parameter> given;

  bool nothing() const { return made.made.empty() && made.rounded_to.of_all == 0 && made.rounded_to.of_large == 0 && given.empty(); }
};
std::map<unsigned, AddressIfGiven> if_given_addresses(const Unit& unit, const clang::FunctionDecl* function);

}  // namespace elc::cc

#endif
