// Pointers that a function has for itself: it looks through them, moves and compares them, and gives them to functions of its file that
// do no more than that either. Nobody else gets their values, so that these are gone when it is left.
#ifndef ELC_CC_OWN_POINTERS_H
#define ELC_CC_OWN_POINTERS_H

#include <map>
#include <set>

#include "cc/program.h"
#include "cc/unit.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace elc::cc {

class OwnPointers {
 public:
  OwnPointers(const Unit& unit, const Program& program) : unit_(unit), program_(program) {}

  // Whether this is one; of a variable or parameter of the function, which has a body.
  bool has(const clang::FunctionDecl* function, const clang::VarDecl* variable);
  // Whether the function that is called has the argument of this number as one, and can reach no MPI: no line is taken meanwhile.
  bool takes(const clang::CallExpr* call, unsigned argument);

 private:
  struct Given {
    std::set<const clang::Decl*> variables;  // whose values, or addresses, somebody else gets
    bool wants_arguments = false;            // a variable number of them
    bool is_known = false;                   // false: it is looked at
  };
  class Look;

  // Whether it is one that keeps no pointer which it is given; it may return one.
  bool keeps_none(const clang::CallExpr* call) const;
  const Given& given_by(const clang::FunctionDecl* function);

  const Unit& unit_;
  const Program& program_;
  std::map<const clang::FunctionDecl*, Given> given_;
};

}  // namespace elc::cc

#endif
