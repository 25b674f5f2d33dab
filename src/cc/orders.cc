#include "cc/orders.h"

#include <map>
#include <set>

#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

namespace {

class OrderVisitor : public Visitor {
 public:
  explicit OrderVisitor(const Unit& unit) : unit_(unit), context_(unit.context()) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    if (unit_.in_system_header(function->getLocation())) return true;
    const FunctionDecl* const outer = function_;
    function_ = function;
    const bool all = Visitor::TraverseFunctionDecl(function);
    function_ = outer;
    return all;
  }

  bool VisitUnaryOperator(UnaryOperator* one) override {
    if (one->isIncrementDecrementOp()) note_moved(one->getSubExpr());
    return true;
  }

  bool VisitVarDecl(VarDecl* variable) override {
    if (variable->getInit() != nullptr && goes_through_memory(variable->getInit())) moved_.insert(variable->getCanonicalDecl());
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (both->isCompoundAssignmentOp() || (both->getOpcode() == BO_Assign && goes_through_memory(both->getRHS()))) note_moved(both->getLHS());
    const bool is_order = both->isRelationalOp() || (both->getOpcode() == BO_Sub && compares() && !both->getLHS()->getType()->isVariablyModifiedType());
    if (function_ == nullptr || !is_order || !is_address(both->getLHS()) || !is_address(both->getRHS())) return true;
    compared_.emplace_back(function_, both);
    compared_with_[{function_, text_of(both->getLHS())}].insert(text_of(both->getRHS()));
    compared_with_[{function_, text_of(both->getRHS())}].insert(text_of(both->getLHS()));
    return true;
  }

  std::vector<std::pair<const FunctionDecl*, const BinaryOperator*>> all() {
    TraverseDecl(context_.getTranslationUnitDecl());
    std::vector<std::pair<const FunctionDecl*, const BinaryOperator*>> watched;
    for (const auto& [function, both] : compared_)
      if (is_watched(function, both->getLHS()) && is_watched(function, both->getRHS())) watched.emplace_back(function, both);
    return watched;
  }

 private:
  // Whether qsort() and the like may be given the function.
  bool compares() const {
    if (function_ == nullptr || function_->getNumParams() != 2 || !function_->getReturnType()->isIntegerType()) return false;
    return function_->getParamDecl(0)->getType()->isVoidPointerType() && function_->getParamDecl(1)->getType()->isVoidPointerType();
  }

  static const Expr* bare(const Expr* e) { return e->IgnoreParenCasts(); }

  bool is_address(const Expr* e) const {
    for (const Expr* outer = e->IgnoreParens(); const auto* cast = dyn_cast<CastExpr>(outer); outer = cast->getSubExpr()->IgnoreParens())
      if (cast->getType()->isIntegerType() && context_.getTypeSize(cast->getType()) < context_.getTypeSize(context_.VoidPtrTy)) return false;
    const QualType type = bare(e)->getType();
    if (type->isArrayType()) return true;
    return type->isPointerType() && !type->isFunctionPointerType() && !bare(e)->isNullPointerConstant(context_, Expr::NPC_ValueDependentIsNotNull);
  }

  // A variable or a member.
  static const Decl* kept_in(const Expr* e) {
    e = bare(e);
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) return reference->getDecl()->getCanonicalDecl();
    if (const auto* member = dyn_cast<MemberExpr>(e)) return member->getMemberDecl()->getCanonicalDecl();
    return nullptr;
  }

  void note_moved(const Expr* e) {
    if (const Decl* const where = kept_in(e); where != nullptr && e->getType()->isPointerType()) moved_.insert(where);
  }

  // Of a pointer: it is so far from another one, or into an array.
  static bool goes_through_memory(const Expr* e) {
    e = bare(e);
    if (e->getType()->isArrayType()) return true;
    if (!e->getType()->isPointerType()) return false;
    if (const auto* either = dyn_cast<ConditionalOperator>(e)) return goes_through_memory(either->getTrueExpr()) || goes_through_memory(either->getFalseExpr());
    if (const auto* one = dyn_cast<UnaryOperator>(e)) return one->isIncrementDecrementOp() || (one->getOpcode() == UO_AddrOf && isa<ArraySubscriptExpr>(bare(one->getSubExpr())));
    const auto* both = dyn_cast<BinaryOperator>(e);
    return both != nullptr && both->isAdditiveOp();
  }

  llvm::FoldingSetNodeID text_of(const Expr* e) const {
    llvm::FoldingSetNodeID text;
    bare(e)->Profile(text, context_, true);
    return text;
  }

  bool is_watched(const FunctionDecl* function, const Expr* e) const {
    const Decl* const where = kept_in(e);
    return !goes_through_memory(e) && (where == nullptr || !moved_.contains(where)) && compared_with_.at({function, text_of(e)}).size() == 1;
  }

  const Unit& unit_;
  ASTContext& context_;
  const FunctionDecl* function_ = nullptr;
  std::set<const Decl*> moved_;
  std::vector<std::pair<const FunctionDecl*, const BinaryOperator*>> compared_;
  std::map<std::pair<const FunctionDecl*, llvm::FoldingSetNodeID>, std::set<llvm::FoldingSetNodeID>> compared_with_;
};

}  // namespace

std::vector<std::pair<const FunctionDecl*, const BinaryOperator*>> orders_of_addresses(const Unit& unit) { return OrderVisitor(unit).all(); }

}  // namespace elc::cc
