#include "cc/moves.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "cc/known.h"
#include "cc/own_pointers.h"
#include "cc/visitor.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace elc::cc {

using namespace clang;

namespace {

const VarDecl* named_variable(const Expr* e) {
  const auto* const reference = dyn_cast<DeclRefExpr>(e->IgnoreParens());
  return reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
}

class MoveVisitor : public Visitor {
 public:
  MoveVisitor(const Unit& unit, const Program& program, Edits& edits) : unit_(unit), program_(program), edits_(edits), own_pointers_(unit, program) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    const bool allocated = allocates_, kept = keeps_, had_frame = has_frame_;
    const FunctionDecl* const outer = function_;
    if (function->doesThisDeclarationHaveABody()) {
      function_ = function;
      allocates_ = allocates(function->getBody());
      has_frame_ = program_.reaches_site(unit_, function);
      keeps_ = allocates_ || has_frame_ || gives_pointers(function->getBody());
    }
    const bool all = Visitor::TraverseFunctionDecl(function);
    allocates_ = allocated, keeps_ = kept, has_frame_ = had_frame;
    function_ = outer;
    return all;
  }

  bool TraverseVarDecl(VarDecl* variable) override {
    const bool outer = in_initialiser_;
    in_initialiser_ |= variable->hasGlobalStorage();
    const bool all = Visitor::TraverseVarDecl(variable);
    in_initialiser_ = outer;
    return all;
  }

  bool VisitBinaryOperator(BinaryOperator* both) override {
    const bool is_kept = keeps_ || !is_local(both->getLHS());
    const bool assigns = both->getOpcode() == BO_Assign;
    if (!is_kept || !(assigns || both->isCompoundAssignmentOp())) return true;
    is_only_here_ = is_own(named_variable(both->getLHS()));
    if ((has_frame_ || !is_only_here_) && follow_move(assigns ? both->getRHS() : both)) note_variable(named_variable(both->getLHS()));  // else no line has it
    is_only_here_ = false;
    return true;
  }
  bool VisitVarDecl(VarDecl* variable) override {
    is_only_here_ = is_own(variable);
    if (variable->getInit() != nullptr && keeps_ && (has_frame_ || !is_only_here_) && follow_move(variable->getInit())) note_variable(variable);
    is_only_here_ = false;
    return true;
  }
  bool VisitCompoundLiteralExpr(CompoundLiteralExpr* literal) override {
    if (keeps_) follow_move(literal);
    return true;
  }
  bool VisitReturnStmt(ReturnStmt* s) override {
    if (s->getRetValue() != nullptr) follow_move(s->getRetValue());
    return true;
  }
  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* callee = callee_of(call);
    if (callee == nullptr || program_.defines(unit_, callee))
      for (unsigned i = 0; i < call->getNumArgs(); ++i)
        if (!own_pointers_.takes(call, i)) follow_move(call->getArg(i));
    return true;
  }
  bool VisitForStmt(ForStmt* s) override {
    if (s->getInc() != nullptr) pass_step(s->getInc());
    return true;
  }

 private:
  void note_variable(const VarDecl* variable) {
    if (variable != nullptr) moved_variables_.insert(variable->getCanonicalDecl());
  }
  // Whether the pointer is that of a variable that was moved in this function, and may lead anywhere: so may what is a little behind.
  bool was_moved(const Expr* pointer) const {
    const VarDecl* const variable = named_variable(pointer->IgnoreParenImpCasts());
    return variable != nullptr && moved_variables_.contains(variable->getCanonicalDecl());
  }

  bool is_own(const VarDecl* variable) { return variable != nullptr && function_ != nullptr && own_pointers_.has(function_, variable); }

  static bool is_local(const Expr* e) {
    const VarDecl* const variable = named_variable(e);
    return variable != nullptr && variable->hasLocalStorage();
  }

  // Whether a function gets memory.
  bool allocates(const Stmt* s) const {
    const auto* call = dyn_cast<CallExpr>(s);
    if (call != nullptr && call->getType()->isPointerType()) {
      const FunctionDecl* callee = callee_of(call);
      const QualType to = call->getType()->getPointeeType();
      const bool is_of_anything = to->isVoidType() || to->isAnyCharacterType();
      const auto gets = [&](const Known& known) { return known.allocates && !known.returns_memory; };
      if (is_of_anything && (callee == nullptr || program_.defines(unit_, callee) || gets(program_.known(callee->getName().str())))) return true;
    }
    return any_part(s, [&](const Stmt* part) { return allocates(part); });
  }

  // Whether somebody else may have what is in its variables: it puts pointers, or structs, elsewhere, returns them, or gives them to
  // functions of the program.
  bool gives_pointers(const Stmt* s) const {
    const auto may_have = [](const Expr* e) { return e != nullptr && (e->getType()->isPointerType() || e->getType()->isRecordType()); };
    const auto* both = dyn_cast<BinaryOperator>(s);
    if (both != nullptr && both->getOpcode() == BO_Assign && may_have(both) && !is_local(both->getLHS())) return true;
    if (const auto* back = dyn_cast<ReturnStmt>(s); back != nullptr && may_have(back->getRetValue())) return true;
    if (const auto* call = dyn_cast<CallExpr>(s)) {
      const FunctionDecl* const callee = callee_of(call);
      const bool takes = callee == nullptr || program_.defines(unit_, callee) || program_.known(callee->getName().str()).returns_memory;  // memcpy
      if (takes && std::any_of(call->arg_begin(), call->arg_end(), may_have)) return true;
    }
    return any_part(s, [&](const Stmt* part) { return gives_pointers(part); });
  }

  // By what is computed, and added: it may be negative, which is seen when it is done.
  bool may_be_back(const Expr* pointer, const Expr* by) const {
    const auto* decay = dyn_cast<ImplicitCastExpr>(pointer->IgnoreParens());
    if (decay != nullptr && decay->getCastKind() == CK_ArrayToPointerDecay) return false;  // nothing may lead to before a variable
    by = by->IgnoreParenImpCasts();
    const ASTContext& context = unit_.context();
    const QualType type = by->getType().getAtomicUnqualifiedType();
    const bool has_sign = type->isSignedIntegerOrEnumerationType() || context.getTypeSize(type) >= context.getTypeSize(context.VoidPtrTy);
    return has_sign && !by->isEvaluatable(context);
  }

  // By a distance that is computed, or more than is kept free before blocks.
  bool is_far(const Expr* pointer, const Expr* by, bool subtracts) const {
    const QualType element = pointer->getType()->getPointeeType();
    Expr::EvalResult number;
    if (element->isIncompleteType() && !element->isVoidType()) return false;
    if (element->isFunctionType()) return false;
    const auto* one = dyn_cast<UnaryOperator>(by->IgnoreParenImpCasts());
    if (!by->EvaluateAsInt(number, unit_.context())) return subtracts || (one != nullptr && one->getOpcode() == UO_Minus);
    const int64_t elements = (subtracts ? 1 : -1) * number.Val.getInt().getExtValue();
    if (element->isVariableArrayType()) return elements > 0;
    const int64_t size = step_of(unit_.context(), element);
    return elements > 0 && size > 0 && elements > program_.apart() / size;
  }

  // How a loop goes on stays as it is written: directives of OpenMP want it so, and what such a pointer comes to nobody follows.
  void pass_step(const Expr* e) {
    e = e->IgnoreParens();
    const auto* both = dyn_cast<BinaryOperator>(e);
    moves_.insert(e);
    if (both != nullptr && both->getOpcode() == BO_Comma) pass_step(both->getLHS()), pass_step(both->getRHS());
  }

  static bool has_minus(const Expr* e) {
    e = e->IgnoreParenCasts();
    const auto* one = dyn_cast<UnaryOperator>(e);
    const auto* both = dyn_cast<BinaryOperator>(e);
    return (one != nullptr && one->getOpcode() == UO_Minus) ||
           (both != nullptr && (both->getOpcode() == BO_Sub || has_minus(both->getLHS()) || has_minus(both->getRHS())));
  }

  // The address of a part of p[n], or that itself where it is an array: a row.
  bool follow_place(const Expr* place, bool is_row) {
    for (;;) {
      place = place->IgnoreParens();
      const auto* member = dyn_cast<MemberExpr>(place);
      const auto* element = dyn_cast<ArraySubscriptExpr>(place);
      const auto* there = dyn_cast<UnaryOperator>(place);
      if (there != nullptr && there->getOpcode() == UO_Deref) return follow_move(there->getSubExpr());
      if (member == nullptr && element == nullptr) return false;
      if (member != nullptr && member->isArrow()) return follow_move(member->getBase());
      const auto* decay = element == nullptr ? nullptr : dyn_cast<ImplicitCastExpr>(element->getBase()->IgnoreParens());
      const bool is_of_array = decay != nullptr && decay->getCastKind() == CK_ArrayToPointerDecay;
      if (element != nullptr && !is_of_array) return follow_element(element, is_row);
      place = member != nullptr ? member->getBase() : decay->getSubExpr();
    }
  }

  // p[-n]
  bool follow_element(const ArraySubscriptExpr* element, bool is_row) {
    if (in_initialiser_ || !element->getBase()->getType()->isPointerType() || element->getBase() != element->getLHS() || program_.reaches_mpi(unit_, element)) return false;
    const bool is_far_away = has_minus(element->getIdx());
    const bool was_moved_before = was_moved(element->getBase());
    if (!is_far_away && !was_moved_before && !may_be_back(element->getBase(), element->getIdx())) return false;
    Expr::EvalResult number;
    if (!was_moved_before && element->getIdx()->EvaluateAsInt(number, unit_.context()) && !is_far(element->getBase(), element->getIdx(), false)) return false;
    if (!moves_.insert(element).second) return true;
    const size_t begin = unit_.begin_of(element->getBeginLoc()), end = unit_.begin_of(element->getRBracketLoc());
    const size_t open = unit_.text().find('[', unit_.end_of(element->getLHS()->getEndLoc()));
    edits_.wrap(begin, end + 1, "(*__extension__ ({ __auto_type elc_from = (", "");
    edits_.replace(open, open + 1, std::string("); (__typeof__(elc_from))") + (is_far_away && !is_row ? "ELC_Program_moved" : "elc_moved_up") + "((void *)elc_from, (void *)(elc_from + (");
    edits_.replace(end, end + 1, "))); }))");
    return true;
  }

  // A pointer that may be kept. Returns whether it is followed, so that what comes of it has to be, too.
  bool follow_move(Expr* e) {
    e = e->IgnoreParenCasts();
    if (auto* literal = dyn_cast<CompoundLiteralExpr>(e)) e = literal->getInitializer();
    if (auto* list = dyn_cast<InitListExpr>(e)) {
      for (Expr* init : list->inits()) follow_move(init);
      return false;
    }
    if (auto* choice = dyn_cast<ConditionalOperator>(e)) {
      const bool first = follow_move(choice->getTrueExpr());
      return follow_move(choice->getFalseExpr()) || first;
    }
    if (e->getType()->isArrayType()) return follow_place(e, true);
    if (const auto* address = dyn_cast<UnaryOperator>(e)) return address->getOpcode() == UO_AddrOf && follow_place(address->getSubExpr(), false);
    auto* both = dyn_cast<BinaryOperator>(e);
    if (both == nullptr || !both->getType()->isPointerType() || in_initialiser_ || moves_.contains(both)) return both != nullptr && moves_.contains(both);
    const BinaryOperatorKind how = both->getOpcode();
    if (how == BO_Assign || how == BO_Comma) return follow_move(both->getRHS());
    const bool subtracts = how == BO_Sub || how == BO_SubAssign, assigns = how == BO_SubAssign || how == BO_AddAssign;
    const bool is_first = both->getLHS()->getType()->isPointerType();
    if (!(subtracts || how == BO_Add || assigns)) return false;
    Expr* pointer = is_first ? both->getLHS() : both->getRHS();
    bool is_far_away = is_far(pointer, is_first ? both->getRHS() : both->getLHS(), subtracts);
    bool may_go_back = may_be_back(pointer, is_first ? both->getRHS() : both->getLHS());
    // In p + a - b it is p that is moved, once: what p + a is nobody keeps, and it may be anything.
    std::vector<BinaryOperator*> steps;
    while (auto* const step = assigns ? nullptr : dyn_cast<BinaryOperator>(pointer->IgnoreParenCasts())) {
      const bool is_step = step->getType()->isPointerType() && step->isAdditiveOp() && !moves_.contains(step);
      if (!is_step) break;
      const bool is_left = step->getLHS()->getType()->isPointerType();
      pointer = is_left ? step->getLHS() : step->getRHS();
      is_far_away |= is_far(pointer, is_left ? step->getRHS() : step->getLHS(), step->getOpcode() == BO_Sub);
      may_go_back |= may_be_back(pointer, is_left ? step->getRHS() : step->getLHS());
      steps.push_back(step);
    }
    may_go_back |= was_moved(pointer);
    if (!assigns && follow_move(pointer)) is_far_away = true;
    if (!(is_far_away || allocates_ || may_go_back) || program_.reaches_mpi(unit_, both)) return false;
    const bool is_here = is_only_here_ && (is_far_away || !allocates_);
    const bool moves_on = !is_far_away && allocates_;
    const std::string call = is_far_away ? "ELC_Program_moved" : moves_on ? "ELC_Program_moved_on" : "elc_moved_up";
    const VarDecl* const variable = named_variable(both->getLHS());
    if (assigns && variable != nullptr && variable->getStorageClass() == SC_Register) return false;
    moves_.insert(both);
    // The left side, the right one with what computes the result, and the result. A bit-field becomes an integer by the sign.
    const std::string sign = subtracts ? "-" : "+";
    const char* const left = assigns ? "elc_at = &(" : is_first ? "elc_from = (" : "elc_by = +(";
    const std::string right = assigns ? "elc_from = *elc_at; *elc_at " + sign + "= (" : is_first ? "elc_by = +(" : "elc_from = (";
    const std::string to = assigns ? "*elc_at" : "(elc_from " + sign + " elc_by)";
    const size_t at = unit_.begin_of(both->getOperatorLoc());
    const std::string base = steps.empty() ? "" : "void *elc_base; ", from = steps.empty() ? "(void *)elc_from" : "elc_base";
    edits_.wrap(unit_.begin_of(both->getBeginLoc()), unit_.end_of(both->getEndLoc()), "__extension__ ({ " + base + "__auto_type " + left,
                "); (__typeof__(elc_from))" + call + (is_here ? "_here(" : "(") + from + ", (void *)" + to + (is_here ? ", &elc_fn" : moves_on ? ", 0" : "") + "); })");
    edits_.replace(at, at + (assigns ? 2 : 1), "); __auto_type " + right);
    for (const BinaryOperator* step : steps) write_step(step, step == steps.back());
    return is_far_away;
  }

  // One of several in an expression, of which the first has what is moved.
  void write_step(const BinaryOperator* step, bool is_first_of_all) {
    moves_.insert(step);
    const bool is_left = step->getLHS()->getType()->isPointerType();
    const size_t at = unit_.begin_of(step->getOperatorLoc());
    edits_.wrap(unit_.begin_of(step->getBeginLoc()), unit_.end_of(step->getEndLoc()), std::string("__extension__ ({ __auto_type ") + (is_left ? "elc_from = (" : "elc_by = +("),
                std::string("); ") + (is_first_of_all ? "elc_base = (void *)elc_from; " : "") + "elc_from " + (step->getOpcode() == BO_Sub ? "-" : "+") + " elc_by; })");
    edits_.replace(at, at + 1, std::string("); __auto_type ") + (is_left ? "elc_by = +(" : "elc_from = ("));
  }

  const Unit& unit_;
  const Program& program_;
  Edits& edits_;
  bool allocates_ = false, keeps_ = false, has_frame_ = false;  // the function at hand
  const FunctionDecl* function_ = nullptr;
  OwnPointers own_pointers_;
  bool is_only_here_ = false;               // what is moved is for a variable of the function, whose value nobody else gets
  bool in_initialiser_ = false;             // of a variable of the file, where nothing can be called
  std::set<const VarDecl*> moved_variables_;
  std::set<const Expr*> moves_;             // that are followed already, or are not to be
};

}  // namespace

void follow_moves(const Unit& unit, const Program& program, Edits* edits) {
  MoveVisitor visitor(unit, program, *edits);
  for (Decl* d : unit.context().getTranslationUnitDecl()->decls())
    if (!unit.in_system_header(d->getLocation())) visitor.TraverseDecl(d);
}

}  // namespace elc::cc
