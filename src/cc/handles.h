// MPI's handles, where those are integers: whether they stay in variables, members and memory of their own types. Where they do, no number
// that equals one is looked at (elc_program.h, ELC_Program_mixes_handles): what else a program has, equals one soon.
#ifndef ELC_CC_HANDLES_H
#define ELC_CC_HANDLES_H

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cc/unit.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace elc::cc {

class Program;

// Which types are handles of MPI, or lead to some: by pointers, members, parameters and results, at any depth. Of what a file does not
// know the content of, those have `named`.
class HandleTypes {
 public:
  explicit HandleTypes(const std::set<std::string>& named) : named_(named) {}
  bool mentioned(clang::QualType type);

 private:
  bool find(clang::QualType type, std::set<const clang::RecordDecl*>* seen);
  const std::set<std::string>& named_;
  std::map<const clang::RecordDecl*, bool> known_;
};

// A parameter of the function of this key.
using ParameterKey = std::pair<std::string, unsigned>;

// What one file says of it for all others.
struct HandleFacts {
  std::map<ParameterKey, std::set<ParameterKey>> given;  // each that is a void *, and what else it is given to
  std::set<ParameterKey> used;                           // of those: by more than to be given on, or compared
  std::set<std::string> structs;                         // that mention handles
  std::set<std::pair<std::string, std::string>> declared;  // names that other files know: handles and structs that they are of
};
HandleFacts handle_facts(const Unit& unit);
// Whether there are any in what `declared` says, or structs that mention some.
bool speaks_of_handles(const std::string& declared, const std::set<std::string>& structs);

// (struct s *)((char *)p + n), where p is a pointer to such.
bool stays_in_its_memory(const clang::Expr* e, clang::QualType to);

// A function that is none of the program's: that it prints the argument, frees it or takes its address, and no more.
bool only_frees_argument(const std::string& function, unsigned argument);

// Where a handle may leave its type, or come to memory that nobody tells the library of.
struct HandlesLeave {
  std::string place;      // empty: nowhere
  bool anywhere = false;  // also to where no integer lies, as its bytes or its number do
  void join(const HandlesLeave& other) {
    if (place.empty() || (other.anywhere && !anywhere)) place = other.place;
    anywhere |= other.anywhere;
  }
};

// In this file. `told`: what becomes a pointer to something by way of ELC_Program_as, and has its memory described.
HandlesLeave where_handles_leave(const Unit& unit, const Program& program, const std::set<const clang::Expr*>& told);

}  // namespace elc::cc

#endif
