// Unions of pointers and numbers: whether all that puts numbers where they may have a pointer is seen, so that an address there is told
// from a number when a line is taken (elc_program.h).
#ifndef ELC_CC_UNIONS_H
#define ELC_CC_UNIONS_H

#include <stdint.h>

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cc/unit.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace elc::cc {

// Where in a union its members, at any depth, have pointers, as offsets of bytes: none where those are not all words of it.
std::vector<uint64_t> words_of(const Unit& unit, const clang::RecordDecl* record);
// The same for all files of a program.
std::string key_of_union(const Unit& unit, const clang::RecordDecl* record);

struct UnionUses {
  // Expressions that put a number there, and what they put it into.
  struct Store {
    const clang::Expr *whole, *to;
    std::set<std::string> unions;  // keys
    bool is_word;                  // what it puts there is its value, and a whole word
  };
  std::vector<Store> stores;
  struct Initial {
    const clang::Expr* value;
    clang::QualType type;  // of the member
    std::string of;
  };
  std::vector<Initial> initials;  // what a number there is at first
  std::vector<std::pair<std::string, std::string>> alike;  // keys of two that are taken for each other: what is unseen of one is so of the other
  std::map<std::string, std::string> unseen;  // keys of those that may get numbers in other ways, and where
};
UnionUses uses_of_unions(const Unit& unit);

}  // namespace elc::cc

#endif
