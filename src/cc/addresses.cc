#include "cc/addresses.h"

#include <algorithm>
#include <set>

#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

namespace {

constexpr uint64_t kOfMalloc = 16;
constexpr uint64_t kOfVectors = 64;  // and of lines of the cache: to what programs round that do not say it in a constant
constexpr uint64_t kPage = 4096;     // so far memory may be aligned

class AddressVisitor : public Visitor {
 public:
  explicit AddressVisitor(const Unit& unit) : unit_(unit), context_(unit.context()) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    if (unit_.in_system_header(function->getLocation()) || !function->doesThisDeclarationHaveABody()) return true;
    const FunctionDecl* const outer = function_;
    function_ = function;
    for (unsigned i = 0; i < function->getNumParams(); ++i) {
      if (!may_be_address(function->getParamDecl(i))) continue;
      may_be_given_.insert({function, i});
      if (is_given_({function, i})) holding_.insert(function->getParamDecl(i)->getCanonicalDecl());
    }
    const bool all = Visitor::TraverseFunctionDecl(function);
    function_ = outer;
    return all;
  }

  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* const callee = call->getDirectCallee();
    if (callee == nullptr || unit_.in_system_header(callee->getLocation())) return true;
    const FunctionDecl* const definition = callee->getDefinition();
    for (unsigned i = 0; i < call->getNumArgs() && i < callee->getNumParams(); ++i) {
      if (definition != nullptr && !alone_) give(definition->getParamDecl(i), call->getArg(i));
      else if (may_be_address(callee->getParamDecl(i)) && has_address(call->getArg(i)))
        given_.insert({definition != nullptr ? definition : callee, i});
    }
    return true;
  }

  bool VisitReturnStmt(ReturnStmt* s) override {
    if (function_ != nullptr && s->getRetValue() != nullptr && function_->getReturnType()->isIntegerType() && has_address(s->getRetValue()))
      holding_.insert(function_->getCanonicalDecl());
    return true;
  }

  bool VisitVarDecl(VarDecl* variable) override {
    if (function_ == nullptr || variable->getInit() == nullptr) return true;
    give(variable, variable->getInit());
    if (variable->hasLocalStorage()) see_bytes(variable->getInit());
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* both) override {
    const Expr *const left = both->getLHS(), *const right = both->getRHS();
    if (function_ == nullptr) return true;
    if (both->getOpcode() == BO_Assign) see_bytes(right);
    if (both->isAssignmentOp())
      if (const auto* to = dyn_cast<DeclRefExpr>(left->IgnoreParens())) give(dyn_cast<VarDecl>(to->getDecl()), right);
    see_rounding(both);
    switch (both->isCompoundAssignmentOp() ? BinaryOperator::getOpForCompoundAssignment(both->getOpcode()) : both->getOpcode()) {
      case BO_Rem:
        if (has_address(left) && !is_alignment(right)) found_[function_].made.push_back(both);
        break;
      case BO_Shr:
      case BO_Shl:
        if (has_address(left)) found_[function_].made.push_back(both);
        break;
      case BO_Xor:
        if (has_address(left) || has_address(right)) found_[function_].made.push_back(both);
        break;
      case BO_Mul:  // by what it was divided by: it is rounded
        if (is_of_address(left, false) || is_of_address(right, false)) found_[function_].made.push_back(both);
        break;
      default:
        break;
    }
    return true;
  }

  // Over what the variables hold that have been found so far.
  AddressesOfUnit all(const std::function<bool(const Parameter&)>& is_given) {
    is_given_ = is_given;
    until_known([this] { TraverseDecl(context_.getTranslationUnitDecl()); });
    return {found_, given_, may_be_given_};
  }
  AddressIfGiven alone(const Parameter& parameter) {
    alone_ = true;
    function_ = parameter.first;
    holding_.insert(parameter.first->getParamDecl(parameter.second)->getCanonicalDecl());
    until_known([&] { TraverseStmt(parameter.first->getBody()); });
    return {found_[parameter.first], given_};
  }

 private:
  template <class Look>
  void until_known(Look look) {
    size_t known = 0;
    do {
      known = holding_.size();
      found_.clear();
      look();
    } while (holding_.size() > known);
  }

  void give(const VarDecl* variable, const Expr* value) {
    if (variable != nullptr && variable->hasLocalStorage() && variable->getType()->isIntegerType() && has_address(value))
      holding_.insert(variable->getCanonicalDecl());
  }

  // A variable that leads to the bytes of a pointer.
  void see_bytes(const Expr* value) {
    const auto* cast = dyn_cast<CStyleCastExpr>(value->IgnoreParenImpCasts());
    if (cast == nullptr || !cast->getType()->isPointerType() || !cast->getType()->getPointeeType()->isCharType()) return;
    const auto* address = dyn_cast<UnaryOperator>(cast->getSubExpr()->IgnoreParenImpCasts());
    if (address != nullptr && address->getOpcode() == UO_AddrOf && address->getSubExpr()->getType()->isPointerType()) found_[function_].made.push_back(cast);
  }

  bool constant(const Expr* e, uint64_t* value) const {
    Expr::EvalResult result;
    if (!e->EvaluateAsInt(result, context_)) return false;
    *value = static_cast<uint64_t>(result.Val.getInt().getExtValue());
    return true;
  }

  // A mask is one less than what it rounds to, or has that as its lowest bit.
  void see_rounding(const BinaryOperator* both) {
    const BinaryOperatorKind how = both->isCompoundAssignmentOp() ? BinaryOperator::getOpForCompoundAssignment(both->getOpcode()) : both->getOpcode();
    if (how != BO_And && how != BO_Rem && how != BO_Div) return;
    const bool is_left = has_address(both->getLHS());
    if (!is_left && (how != BO_And || !has_address(both->getRHS()))) return;
    uint64_t to = kOfVectors, number = 0;
    if (constant(is_left ? both->getRHS() : both->getLHS(), &number)) {
      to = how == BO_And && (number & 1) != 0 ? number + 1 : number & (~number + 1);
      if (to <= kOfMalloc || to > kPage || (to & (to - 1)) != 0) return;
    }
    int& rounded_to = found_[function_].rounded_to;
    rounded_to = std::max(rounded_to, static_cast<int>(to));
  }

  bool has_address(const Expr* e) const { return is_of_address(e, true); }

  // Or what is left of one.
  bool may_be_address(const ParmVarDecl* parameter) const {
    const QualType type = parameter->getType();
    return type->isIntegerType() && context_.getTypeSize(type) >= context_.getTypeSize(context_.IntTy);
  }

  // What a variable says may be one.
  bool is_alignment(const Expr* e) const {
    uint64_t value = 0;
    return !constant(e, &value) || ((value & (value - 1)) == 0 && value <= kPage);
  }

  // Whether it has the bits of an address that are not the same everywhere.
  bool is_of_address(const Expr* e, bool or_quotient) const {
    e = e->IgnoreParens();
    uint64_t number = 0;
    if (const auto* cast = dyn_cast<CastExpr>(e)) {
      // A place in a struct, as that of a member of one at the address 0, is a constant.
      if (cast->getCastKind() == CK_PointerToIntegral) return !constant(e, &number);
      return cast->getType()->isIntegerType() && cast->getSubExpr()->getType()->isIntegerType() && is_of_address(cast->getSubExpr(), or_quotient);
    }
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) return holding_.contains(reference->getDecl()->getCanonicalDecl());
    if (const auto* call = dyn_cast<CallExpr>(e); call != nullptr && call->getDirectCallee() != nullptr)
      return holding_.contains(call->getDirectCallee()->getCanonicalDecl());
    if (const auto* choice = dyn_cast<ConditionalOperator>(e))
      return is_of_address(choice->getTrueExpr(), or_quotient) || is_of_address(choice->getFalseExpr(), or_quotient);
    const auto* both = dyn_cast<BinaryOperator>(e);
    if (both == nullptr) return false;
    const Expr *const left = both->getLHS(), *const right = both->getRHS();
    switch (both->getOpcode()) {
      case BO_Add:
      case BO_Or:
        return is_of_address(left, or_quotient) || is_of_address(right, or_quotient);
      case BO_Sub:
        return is_of_address(left, or_quotient) != is_of_address(right, or_quotient);
      case BO_And:  // with a few bits it is how the memory is aligned
        for (const Expr* mask : {left, right})
          if (constant(mask, &number) && number < kPage) return false;
        return is_of_address(left, or_quotient) || is_of_address(right, or_quotient);
      case BO_Div:
        return or_quotient && is_of_address(left, or_quotient);
      case BO_Assign:
      case BO_Comma:
        return is_of_address(right, or_quotient);
      default:
        return false;
    }
  }

  const Unit& unit_;
  ASTContext& context_;
  const FunctionDecl* function_ = nullptr;
  bool alone_ = false;  // this function, and none that it calls
  std::function<bool(const Parameter&)> is_given_;
  std::set<Parameter> given_, may_be_given_;
  std::set<const Decl*> holding_;  // variables, and functions that return it
  std::map<const FunctionDecl*, NumbersOfAddresses> found_;
};

}  // namespace

AddressesOfUnit numbers_of_addresses(const Unit& unit, const std::function<bool(const Parameter&)>& is_given) {
  return AddressVisitor(unit).all(is_given);
}

AddressIfGiven if_given_address(const Unit& unit, const Parameter& parameter) { return AddressVisitor(unit).alone(parameter); }

}  // namespace elc::cc
