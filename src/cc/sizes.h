// Sizes that a program computes with: sizeof, _Alignof, offsets in structs, and the greatest number of a type. One that is kept in a variable is another number on a
// machine that lays types out differently, so that a restart there would be wrong.
#ifndef ELC_CC_SIZES_H
#define ELC_CC_SIZES_H

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cc/unit.h"
#include "clang/AST/Decl.h"

namespace elc::cc {

struct Size {
  std::string name, place;  // "sizeof (struct cell)", where
  long long value = 0;
};

// Where a number goes: a parameter or another variable of a function, or what it returns.
struct Holder {
  const clang::FunctionDecl* function = nullptr;
  std::string what;
  bool operator<(const Holder& other) const { return std::tie(function, what) < std::tie(other.function, other.what); }
};

// What a function does with sizes, and with numbers that may be such. What is only compared, or becomes a distance from a pointer, goes
// nowhere.
struct SizesOfFunction {
  std::vector<Size> kept;  // in memory
  std::vector<std::pair<Size, Holder>> given;
  std::set<Holder> keeps;  // what these have goes to memory
  std::vector<std::pair<Holder, Holder>> gives;
};

// That of a type that is not known: its value is how types are laid out.
inline constexpr const char* kAnySize = "sizes of types";
long long any_size(const Unit& unit);  // of integers, doubles and pointers
// How a long double is laid out, which is another thing on most machines; 0: the program has none there.
long long size_of_long_double(const Unit& unit);
// The bytes of numbers in memory that is numbers of another type: its value is how both are laid out.
inline constexpr const char* kOtherNumbers = "numbers in memory of others";
inline constexpr const char* kOtherFixedNumbers = "numbers of the same sizes on all machines in memory of others";  // its value: the order of bytes
// Which byte of a number comes first, which a program asks for by the first one's address.
inline constexpr const char* kOrderOfBytes = "the order of bytes";

// nullptr: initialisers of variables that are no constants.
std::map<const clang::FunctionDecl*, SizesOfFunction> sizes_in(const Unit& unit);

}  // namespace elc::cc

#endif
