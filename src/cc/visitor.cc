#include "cc/visitor.h"

#include "clang/AST/RecursiveASTVisitor.h"

namespace elc::cc {

class Visitor::Walk : public clang::RecursiveASTVisitor<Walk> {
 public:
  explicit Walk(Visitor& visitor) : visitor_(visitor), outer_(visitor.walk_) { visitor.walk_ = this; }
  Walk(const Walk&) = delete;
  Walk& operator=(const Walk&) = delete;
  ~Walk() { visitor_.walk_ = outer_; }

#define ELC_VISIT(KIND, NODE) \
  bool Visit##KIND(NODE node) { return visitor_.Visit##KIND(node); }
  ELC_VISITED(ELC_VISIT)
#undef ELC_VISIT
#define ELC_TRAVERSE(KIND, NODE)                                           \
  bool Traverse##KIND(NODE node) { return visitor_.Traverse##KIND(node); } \
  bool through_##KIND(NODE node) { return RecursiveASTVisitor::Traverse##KIND(node); }
  ELC_TRAVERSED(ELC_TRAVERSE)
#undef ELC_TRAVERSE
  bool dataTraverseStmtPre(clang::Stmt* statement) { return visitor_.dataTraverseStmtPre(statement); }
  bool dataTraverseStmtPost(clang::Stmt* statement) { return visitor_.dataTraverseStmtPost(statement); }

 private:
  Visitor& visitor_;
  Walk* const outer_;
};

bool Visitor::TraverseDecl(clang::Decl* declared) { return Walk(*this).TraverseDecl(declared); }
bool Visitor::TraverseStmt(clang::Stmt* statement) { return Walk(*this).TraverseStmt(statement); }
bool Visitor::TraverseTypeLoc(clang::TypeLoc type) { return Walk(*this).TraverseTypeLoc(type); }

#define ELC_TRAVERSE(KIND, NODE) \
  bool Visitor::Traverse##KIND(NODE node) { return walk_->through_##KIND(node); }
ELC_TRAVERSED(ELC_TRAVERSE)
#undef ELC_TRAVERSE

}  // namespace elc::cc
