// Going over what clang has read of a file. Its RecursiveASTVisitor is a template that takes a compiler ten seconds for each class
// that is one; this is one such class for all who go, whose functions are virtual.
#ifndef ELC_CC_VISITOR_H
#define ELC_CC_VISITOR_H

#include "clang/AST/ASTContext.h"

namespace elc::cc {

// What can be visited: a kind of node, and how it is given.
#define ELC_VISITED(M)                                                                                                              \
  M(AddrLabelExpr, clang::AddrLabelExpr*) M(ArraySubscriptExpr, clang::ArraySubscriptExpr*) M(AsmStmt, clang::AsmStmt*)             \
  M(BinaryOperator, clang::BinaryOperator*) M(BuiltinTypeLoc, clang::BuiltinTypeLoc) M(CallExpr, clang::CallExpr*)                  \
  M(CaseStmt, clang::CaseStmt*) M(CastExpr, clang::CastExpr*) M(CompoundLiteralExpr, clang::CompoundLiteralExpr*)                   \
  M(ConditionalOperator, clang::ConditionalOperator*) M(DeclRefExpr, clang::DeclRefExpr*) M(DeclStmt, clang::DeclStmt*)             \
  M(DeclaratorDecl, clang::DeclaratorDecl*) M(DoStmt, clang::DoStmt*) M(EnumConstantDecl, clang::EnumConstantDecl*)                 \
  M(ForStmt, clang::ForStmt*) M(GenericSelectionExpr, clang::GenericSelectionExpr*) M(GotoStmt, clang::GotoStmt*)                   \
  M(IfStmt, clang::IfStmt*) M(ImplicitCastExpr, clang::ImplicitCastExpr*) M(IntegerLiteral, clang::IntegerLiteral*)                 \
  M(MemberExpr, clang::MemberExpr*) M(OMPExecutableDirective, clang::OMPExecutableDirective*) M(OffsetOfExpr, clang::OffsetOfExpr*) \
  M(PredefinedExpr, clang::PredefinedExpr*) M(RecordDecl, clang::RecordDecl*) M(ReturnStmt, clang::ReturnStmt*)                     \
  M(SwitchStmt, clang::SwitchStmt*) M(TagDecl, clang::TagDecl*) M(TagTypeLoc, clang::TagTypeLoc)                                    \
  M(TypedefNameDecl, clang::TypedefNameDecl*) M(TypedefTypeLoc, clang::TypedefTypeLoc)                                              \
  M(TypeOfExprTypeLoc, clang::TypeOfExprTypeLoc)                                                                                    \
  M(UnaryExprOrTypeTraitExpr, clang::UnaryExprOrTypeTraitExpr*) M(UnaryOperator, clang::UnaryOperator*)                             \
  M(VAArgExpr, clang::VAArgExpr*) M(VarDecl, clang::VarDecl*) M(WhileStmt, clang::WhileStmt*)
// What can be gone through in another way, or not at all.
#define ELC_TRAVERSED(M)                                                                                                            \
  M(Attr, clang::Attr*) M(CompoundStmt, clang::CompoundStmt*) M(ConstantArrayTypeLoc, clang::ConstantArrayTypeLoc)                  \
  M(DeclStmt, clang::DeclStmt*) M(FunctionDecl, clang::FunctionDecl*) M(StaticAssertDecl, clang::StaticAssertDecl*)                 \
  M(UnaryExprOrTypeTraitExpr, clang::UnaryExprOrTypeTraitExpr*) M(VarDecl, clang::VarDecl*)

// The functions mean what those of RecursiveASTVisitor do: a node is visited before what is in it; false ends it all.
class Visitor {
 public:
  Visitor() = default;
  Visitor(const Visitor&) = delete;
  Visitor& operator=(const Visitor&) = delete;
  virtual ~Visitor() = default;

  bool TraverseDecl(clang::Decl* declared);
  bool TraverseStmt(clang::Stmt* statement);
  bool TraverseTypeLoc(clang::TypeLoc type);

#define ELC_VISIT(KIND, NODE) \
  virtual bool Visit##KIND(NODE) { return true; }
  ELC_VISITED(ELC_VISIT)
#undef ELC_VISIT
#define ELC_TRAVERSE(KIND, NODE) virtual bool Traverse##KIND(NODE node);
  ELC_TRAVERSED(ELC_TRAVERSE)
#undef ELC_TRAVERSE
  // Before a statement is visited, and behind all that is in it.
  virtual bool dataTraverseStmtPre(clang::Stmt*) { return true; }
  virtual bool dataTraverseStmtPost(clang::Stmt*) { return true; }

 private:
  class Walk;
  Walk* walk_ = nullptr;  // that is under way
};

}  // namespace elc::cc

#endif
