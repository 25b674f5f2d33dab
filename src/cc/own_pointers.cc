#include "cc/own_pointers.h"

#include <utility>

#include "cc/known.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"

namespace elc::cc {

using namespace clang;

// Goes through a body, from each expression to what its value is made of. `leaves`: somebody else gets that value.
class OwnPointers::Look {
 public:
  Look(OwnPointers& all, Given& given) : all_(all), context_(all.unit_.context()), given_(given) {}

  void statement(const Stmt* s) {
    if (s == nullptr) return;
    if (const auto* e = dyn_cast<Expr>(s)) return value(e, false);
    if (const auto* back = dyn_cast<ReturnStmt>(s)) return value(back->getRetValue(), true);
    if (const auto* declaration = dyn_cast<DeclStmt>(s)) {
      for (const Decl* declared : declaration->decls())
        if (const auto* variable = dyn_cast<VarDecl>(declared)) value(variable->getInit(), true);
    }
    // What clang says to be in it are the variables of around it that it uses, which threads share; the rest is the body.
    if (const auto* body = dyn_cast<CapturedStmt>(s)) statement(body->getCapturedStmt());
    const bool is_known = isa<CompoundStmt, IfStmt, ForStmt, WhileStmt, DoStmt, SwitchStmt, SwitchCase, LabelStmt, AttributedStmt, DeclStmt>(s);
    for (const Stmt* child : s->children()) {
      const auto* const e = dyn_cast_or_null<Expr>(child);
      if (isa<DeclStmt>(s) && e != nullptr) continue;  // initial values
      if (!is_known && e != nullptr) value(e, true);
      else statement(child);
    }
  }

 private:
  void value(const Expr* e, bool leaves) {
    if (e == nullptr) return;
    e = e->IgnoreParens();
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) {
      if (leaves) given_.variables.insert(reference->getDecl()->getCanonicalDecl());
    } else if (const auto* cast = dyn_cast<CastExpr>(e)) {
      if (cast->getCastKind() == CK_ArrayToPointerDecay) return address(cast->getSubExpr(), leaves);
      const CastKind kind = cast->getCastKind();
      value(cast->getSubExpr(), kind == CK_PointerToIntegral || (leaves && kind != CK_PointerToBoolean && kind != CK_ToVoid));
    } else if (const auto* one = dyn_cast<UnaryOperator>(e)) {
      if (one->getOpcode() == UO_AddrOf) return address(one->getSubExpr(), leaves);
      value(one->getSubExpr(), leaves && one->getOpcode() != UO_Deref && one->getOpcode() != UO_LNot);
    } else if (const auto* both = dyn_cast<BinaryOperator>(e)) {
      binary(both, leaves);
    } else if (const auto* choice = dyn_cast<ConditionalOperator>(e)) {
      value(choice->getCond(), false);
      value(choice->getTrueExpr(), leaves);
      value(choice->getFalseExpr(), leaves);
    } else if (const auto* member = dyn_cast<MemberExpr>(e)) {
      value(member->getBase(), false);
    } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
      value(element->getLHS(), false);
      value(element->getRHS(), false);
    } else if (const auto* call = dyn_cast<CallExpr>(e)) {
      value(call->getCallee(), false);
      const bool keeps = !all_.keeps_none(call), is_pointer = call->getType()->isPointerType();
      for (unsigned i = 0; i < call->getNumArgs(); ++i) value(call->getArg(i), !all_.takes(call, i) && (keeps || (leaves && is_pointer)));
    } else if (const auto* block = dyn_cast<StmtExpr>(e)) {
      const CompoundStmt* const body = block->getSubStmt();
      for (const Stmt* s : body->body()) {
        const auto* const last = s == body->body_back() ? dyn_cast<Expr>(s) : nullptr;
        last != nullptr ? value(last, leaves) : statement(s);
      }
    } else {
      given_.wants_arguments |= isa<VAArgExpr>(e);
      for (const Stmt* child : e->children())
        if (const auto* part = dyn_cast_or_null<Expr>(child)) value(part, true);
        else statement(child);
    }
  }

  void binary(const BinaryOperator* both, bool leaves) {
    const Expr *const left = both->getLHS(), *const right = both->getRHS();
    if (both->getOpcode() == BO_Assign) {
      value(left, leaves);
      return value(right, true);
    }
    const bool is_moved = both->getType()->isPointerType() && (both->isAdditiveOp() || both->isCompoundAssignmentOp());
    value(left, leaves && is_moved);
    value(right, leaves && (is_moved || both->getOpcode() == BO_Comma));
  }

  // Of what is at a place: that of its beginning is the pointer itself.
  void address(const Expr* place, bool leaves) {
    place = place->IgnoreParens();
    if (const auto* member = dyn_cast<MemberExpr>(place)) {
      const auto* const field = dyn_cast<FieldDecl>(member->getMemberDecl());
      const bool is_first = field == nullptr || context_.getFieldOffset(field) == 0;
      member->isArrow() ? value(member->getBase(), leaves && is_first) : address(member->getBase(), leaves && is_first);
    } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(place)) {
      Expr::EvalResult number;
      const bool is_first = !element->getIdx()->EvaluateAsInt(number, context_) || number.Val.getInt() == 0;
      value(element->getBase(), leaves && is_first);
      value(element->getIdx(), false);
    } else if (const auto* one = dyn_cast<UnaryOperator>(place); one != nullptr && one->getOpcode() == UO_Deref) {
      value(one->getSubExpr(), leaves);
    } else if (const auto* reference = dyn_cast<DeclRefExpr>(place)) {
      given_.variables.insert(reference->getDecl()->getCanonicalDecl());
    } else {
      value(place, leaves);
    }
  }

  OwnPointers& all_;
  const ASTContext& context_;
  Given& given_;
};

const OwnPointers::Given& OwnPointers::given_by(const FunctionDecl* function) {
  const auto [at, is_new] = given_.try_emplace(function->getCanonicalDecl());
  if (!is_new) return at->second;
  Given given;
  Look(*this, given).statement(function->getBody());
  given.is_known = true;
  return at->second = std::move(given);
}

bool OwnPointers::has(const FunctionDecl* function, const VarDecl* variable) {
  const bool is_pointer = variable->isLocalVarDeclOrParm() && variable->hasLocalStorage() && variable->getType()->isPointerType();
  if (!is_pointer) return false;
  const Given& given = given_by(function);
  return given.is_known && !given.wants_arguments && !given.variables.contains(variable->getCanonicalDecl());
}

bool OwnPointers::keeps_none(const CallExpr* call) const {
  const FunctionDecl* const callee = callee_of(call);
  if (callee == nullptr || program_.defines(unit_, callee) || is_mpi(callee->getName().str())) return false;
  const Known& known = program_.known(callee->getName().str());
  return known.kind == Known::Kind::kPlain && !known.keeps_pointers;
}

bool OwnPointers::takes(const CallExpr* call, unsigned argument) {
  const FunctionDecl* const callee = callee_of(call);
  const FunctionDecl* body = nullptr;
  if (callee == nullptr || !callee->hasBody(body) || callee->hasAttr<WeakAttr>() || program_.reaches_site(unit_, callee)) return false;
  return argument < body->getNumParams() && has(body, body->getParamDecl(argument));
}

}  // namespace elc::cc
