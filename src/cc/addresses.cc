#include "cc/addresses.h"

#include <algorithm>
#include <set>

#include "cc/known.h"
#include "cc/types.h"
#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

namespace {

constexpr uint64_t kOfVectors = 64;  // and of lines of the cache: to what programs round that do not say it in a constant
constexpr uint64_t kPage = 4096;     // so far all memory may be aligned; and what is as large to what a variable says
constexpr uint64_t kMost = uint64_t{1} << 30;  // and so far what is at least as large

// What may be in an integer, or what a pointer leads to: a set of these.
enum Holds : unsigned {
  kNothing = 0,
  kAddress = 1,
  kMinus = 2,      // an address with the other sign
  kQuotient = 4,   // an address without its last bits
  kRest = 8,       // how far an address is behind a multiple of something
  kPadding = 16,   // how far the next one is
  kBytes = 32,     // of a pointer: it leads to those of addresses
  kLow = 64,       // an address without its first bits
  kMasked = 128,   // by a variable: one that is rounded, or a rest
  kHandle = 256,   // of MPI, where those are integers: as a restart has another one, all that is computed with it is a number
  kPart = 512,     // with kAddress or kHandle: a part of one, as a byte is, or made of such
};
constexpr unsigned kWhole = kAddress | kMinus | kLow;
constexpr unsigned kNumbers = kQuotient | kRest | kLow;  // which lines must not have
constexpr unsigned kPlaces = kNumbers | kAddress | kMasked | kHandle;  // nor where something is found by them

// What a difference holds.
unsigned differs(unsigned left, unsigned right) {
  unsigned both = left & ~(kAddress | kMinus);
  if ((left & kAddress) != 0 && (right & kAddress) == 0) both |= kAddress;
  if ((left & kMinus) != 0 && (right & kMinus) == 0) both |= kMinus;
  if ((right & kAddress) != 0 && (left & kAddress) == 0) both |= kMinus;
  if ((right & kMinus) != 0 && (left & kMinus) == 0) both |= kAddress;
  if ((right & kQuotient) != 0) both ^= kQuotient;
  if ((right & kLow) != 0) both ^= kLow;
  if ((left & kAddress) != 0) return both & ~(kRest | kPadding);  // it is rounded
  if ((right & kRest) != 0) both = (left & kRest) != 0 ? both & ~kRest : both | kPadding;
  if ((right & kPadding) != 0) both |= kRest;
  return both;
}

// Where what is in an integer was an address, or may have been.
struct Sources {
  std::set<const Expr*> conversions;
  bool are_all = true;  // not what came from memory, say, or from other files

  void add(const Sources& more) {
    conversions.insert(more.conversions.begin(), more.conversions.end());
    are_all &= more.are_all;
  }
};

const Sources kUnknown = {{}, false};

class AddressVisitor : public Visitor {
 public:
  explicit AddressVisitor(const Unit& unit) : unit_(unit), context_(unit.context()) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    if (unit_.in_system_header(function->getLocation()) || !function->doesThisDeclarationHaveABody()) return true;
    const FunctionDecl* const outer = function_;
    function_ = function;
    for (unsigned i = 0; i < function->getNumParams(); ++i) {
      const unsigned what = may_be_given(function->getParamDecl(i));
      if (what == kNothing) continue;
      may_be_given_.insert(function);
      if (is_given_({function, i})) holds(function->getParamDecl(i), what == kAddress ? kAddress | kPart : what, kUnknown);  // nobody says of what
    }
    const bool all = Visitor::TraverseFunctionDecl(function);
    function_ = outer;
    return all;
  }

  bool VisitCallExpr(CallExpr* call) override {
    if (function_ == nullptr) return true;
    called_.insert(call->getCallee()->IgnoreParenImpCasts());
    const FunctionDecl* const callee = call->getDirectCallee();
    if (callee != nullptr && (unit_.in_system_header(callee->getLocation()) || callee->getBuiltinID() != 0)) {
      see_copy(call, callee);
      // What another one makes of a number, and returns, is another number.
      if (!call->getType()->isVoidType() && !call->getType()->isPointerType() && !gives_what_it_is_given(callee) && !is_mpi(callee->getName().str()))
        for (unsigned i = 0; i < call->getNumArgs() && i < callee->getNumParams(); ++i) make(call->getArg(i), kNumbers | kAddress | kHandle);
      return true;
    }
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      if (callee == nullptr) make(call->getArg(i), kNumbers);  // nobody knows to whom
      else pass(callee->getDefinition() != nullptr ? callee->getDefinition() : callee, i, call->getArg(i));
    }
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    const auto* function = dyn_cast<FunctionDecl>(e->getDecl());
    if (function != nullptr && !called_.contains(e)) grown_ |= pointed_to_.insert(function->getCanonicalDecl()).second;
    return true;
  }

  bool VisitCastExpr(CastExpr* cast) override {
    if (cast->getCastKind() == CK_LValueToRValue) look_at_half(cast->getSubExpr());
    if (function_ != nullptr && cast->getCastKind() == CK_IntegralToFloating) make(cast->getSubExpr(), kQuotient | kWhole | kHandle);
    return true;
  }

  bool VisitCompoundLiteralExpr(CompoundLiteralExpr* e) override {
    if (const auto* list = dyn_cast<InitListExpr>(e->getInitializer()); function_ != nullptr && list != nullptr) initialise(nullptr, list);
    return true;
  }

  bool VisitReturnStmt(ReturnStmt* s) override {
    if (function_ == nullptr || s->getRetValue() == nullptr || !function_->getReturnType()->isIntegerType()) return true;
    const bool is_called_by = pointed_to_.contains(function_->getCanonicalDecl()), is_made = is_called_by || function_->isExternallyVisible();
    if (is_made) make(s->getRetValue(), !is_called_by ? kNumbers : is_integer_handle(function_->getReturnType()) ? kNumbers | kAddress : kNumbers | kAddress | kHandle);
    if (hides_address(s->getRetValue())) found_[function_].made.push_back(s->getRetValue());
    holds(function_, of(s->getRetValue()) & (is_made ? ~kNumbers : ~0u), sources_if_held(s->getRetValue()));
    return true;
  }

  bool VisitVarDecl(VarDecl* variable) override {
    if (function_ == nullptr || variable->getInit() == nullptr) return true;
    if (const auto* list = dyn_cast<InitListExpr>(variable->getInit())) initialise(variable, list);
    else give(variable, variable->getInit());
    return true;
  }

  bool VisitArraySubscriptExpr(ArraySubscriptExpr* e) override {
    if (function_ != nullptr) make(e->getIdx(), kPlaces | kMinus);
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* one) override {
    if (one->isIncrementDecrementOp()) look_at_half(one->getSubExpr());
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (function_ == nullptr) return true;
    const Expr *const left = both->getLHS(), *const right = both->getRHS();
    const BinaryOperatorKind how = operation(both);
    if (both->isCompoundAssignmentOp()) look_at_half(left);
    see_rounding(how, left, right);
    unsigned result = kNothing;
    if (combine(how, left, right, &result) || orders(both) || marks_address(both) || takes_bits(how, left, right)) found_[function_].made.push_back(both);
    for (const auto& [pointer, number] : {std::pair(left, right), std::pair(right, left)}) {
      if (how != BO_Add || !pointer->getType()->isPointerType()) continue;
      make(number, is_null(pointer) ? kNumbers : kPlaces);
    }
    if (how == BO_Sub && left->getType()->isPointerType()) make(right, kQuotient);
    if (both->getOpcode() == BO_Assign) assign(left, of(right), right, sources_if_held(right));
    else if (both->isCompoundAssignmentOp()) assign(left, result, both, sources_if_held(both));
    return true;
  }

  // Over what the variables hold that have been found so far.
  AddressesOfUnit all(const std::function<bool(const Parameter&)>& is_given) {
    is_given_ = is_given;
    until_known([this] { TraverseDecl(context_.getTranslationUnitDecl()); });
    for (auto& [function, numbers] : found_)
      for (const Expr* made : numbers.made)
        if (std::vector<const Expr*> wholes; are_wholes(made, &wholes) && !wholes.empty()) numbers.wholes[made] = wholes;
        else if (const Sources from = sources_of(made); from.are_all && !from.conversions.empty()) numbers.sources[made] = from.conversions;
    return {found_, given_, may_be_given_};
  }
  // A function that is given these.
  AddressIfGiven alone(const FunctionDecl* function, unsigned first, unsigned end) {
    alone_ = true;
    function_ = function;
    for (unsigned i = first; i < end; ++i) holds(function->getParamDecl(i), may_be_given(function->getParamDecl(i)), kUnknown);
    until_known([&] { TraverseStmt(function->getBody()); });
    return {found_[function], given_};
  }

 private:
  template <class Look>
  void until_known(Look look) {
    do {
      grown_ = false;
      found_.clear();
      look();
    } while (grown_);
  }

  static BinaryOperatorKind operation(const BinaryOperator* both) {
    return both->isCompoundAssignmentOp() ? BinaryOperator::getOpForCompoundAssignment(both->getOpcode()) : both->getOpcode();
  }

  void holds(const Decl* what, unsigned more, const Sources& from) {
    if (more == kNothing) return;
    unsigned& known = holding_[what->getCanonicalDecl()];
    grown_ = grown_ || (known | more) != known;
    known |= more;
    Sources& sources = sources_[what->getCanonicalDecl()];
    const size_t before = sources.conversions.size();
    const bool were_all = sources.are_all;
    sources.add(from);
    grown_ = grown_ || sources.conversions.size() != before || sources.are_all != were_all;
  }
  unsigned held(const Decl* what) const {
    const auto found = holding_.find(what->getCanonicalDecl());
    return found == holding_.end() ? kNothing : found->second;
  }

  // If it has one of these, it is a number that lines must not have.
  void make(const Expr* e, unsigned which) {
    unsigned what = of(e);
    if ((what & kPadding) != 0) what &= ~static_cast<unsigned>(kRest | kMasked);  // of a variable that has both in turn
    if (e->getType()->isIntegerType() && (what & which) != 0) found_[function_].made.push_back(e);
  }

  void pass(const FunctionDecl* to, unsigned number, const Expr* given) {
    const bool is_declared = number < to->getNumParams();
    if (!is_declared && to->hasPrototype()) return;  // as to printf()
    if (is_declared && to->doesThisDeclarationHaveABody() && !alone_) return give(to->getParamDecl(number), given);
    make(given, kNumbers);
    const unsigned what = is_declared ? may_be_given(to->getParamDecl(number)) : kAddress | kBytes;
    const unsigned is = of(given);
    if ((what & is) != 0 || ((what & kAddress) != 0 && (is & kHandle) != 0)) given_.insert({to, number});
  }

  void give(const ValueDecl* to, const Expr* value) { holds(to, of(value) & may_hold(to->getType()), sources_if_held(value)); }

  unsigned may_hold(QualType type) const {
    while (const auto* array = context_.getAsArrayType(type)) type = array->getElementType();
    if (type->isBooleanType()) return kNothing;
    return type->isIntegerType() ? ~static_cast<unsigned>(kBytes) : leads_to_numbers(type) ? kBytes : kNothing;
  }

  // A variable or a member; nullptr: it has no name.
  void initialise(const ValueDecl* whole, const InitListExpr* list) {
    const RecordDecl* const record = list->getType()->getAsRecordDecl();
    const RecordDecl::field_iterator none;
    auto field = record != nullptr && record->isStruct() ? record->field_begin() : none;
    for (const Expr* part : list->inits()) {
      while (field != none && field->isUnnamedBitfield()) ++field;
      const ValueDecl* const to = record == nullptr ? whole : field != none ? *field++ : nullptr;
      if (const auto* inner = dyn_cast<InitListExpr>(part)) initialise(to, inner);
      else if (to != nullptr) give(to, part);
      if (is_part_of_word(to) && (of(part) & kAddress) != 0) found_[function_].made.push_back(part);
      if (record != nullptr) make(part, kNumbers);
    }
  }

  // `value`: what it is made of.
  void assign(const Expr* to, unsigned what, const Expr* value, const Sources& from) {
    to = to->IgnoreParens();
    while (const auto* element = dyn_cast<ArraySubscriptExpr>(to)) {
      const Expr* const of_array = element->getBase()->IgnoreParenImpCasts();
      if (!of_array->getType()->isArrayType()) break;
      to = of_array;
    }
    const auto* member = dyn_cast<MemberExpr>(to);
    const auto* reference = dyn_cast<DeclRefExpr>(to);
    const ValueDecl* const target = member != nullptr ? member->getMemberDecl() : reference != nullptr ? reference->getDecl() : nullptr;
    const auto* variable = dyn_cast_or_null<VarDecl>(target);
    const bool is_made = variable == nullptr || !variable->hasLocalStorage();
    if (is_made) make(value, kNumbers);
    const bool is_part = is_part_of_word(target) && (of(value) & kAddress) != 0;
    if (is_part || (is_made && hides_address(value))) found_[function_].made.push_back(value);
    if (target != nullptr) holds(target, what & may_hold(target->getType()) & (is_made ? ~kNumbers : ~0u), from);
  }

  static bool is_part_of_word(const ValueDecl* to) {
    const auto* field = dyn_cast_or_null<FieldDecl>(to);
    return field != nullptr && field->isBitField();
  }

  // It is one no more as lines look for them: with the other sign, or with a mark in its upper bits.
  bool hides_address(const Expr* value) const { return (of(value) & kMinus) != 0; }
  bool marks_address(const BinaryOperator* both) const {
    constexpr int kBits = 48;  // of an address
    if (operation(both) != BO_Or && operation(both) != BO_Add) return false;
    for (const auto& [address, mark] : {std::pair(both->getLHS(), both->getRHS()), std::pair(both->getRHS(), both->getLHS())}) {
      if ((of(address) & kAddress) == 0) continue;
      const auto* shift = dyn_cast<BinaryOperator>(mark->IgnoreParenCasts());
      uint64_t number = 0, by = 0;
      const bool is_high = constant(mark, &number) ? number >> kBits != 0 && number >> kBits != 0xffff  // a little less
                                                   : shift != nullptr && shift->getOpcode() == BO_Shl && constant(shift->getRHS(), &by) && by >= kBits;
      if (is_high) return true;
    }
    return false;
  }

  // Some of the last bits, but not all that say how it is aligned: which these are is another matter in a restart.
  bool takes_bits(BinaryOperatorKind how, const Expr* left, const Expr* right) const {
    uint64_t mask = 0;
    const bool is_left = (of(left) & kWhole) != 0;
    if (how != BO_And || !(is_left || (of(right) & kWhole) != 0) || !constant(is_left ? right : left, &mask)) return false;
    return mask >= kOfVectors && mask < kPage && (mask & (mask + 1)) != 0;
  }

  // As it is, or what was there before.
  static bool gives_what_it_is_given(const FunctionDecl* callee) {
    const llvm::StringRef name = callee->getDeclName().isIdentifier() ? callee->getName() : "";
    return name.startswith("__builtin_expect") || name.startswith("__sync_") || name.startswith("__atomic_");
  }

  // memcpy() of a pointer's bytes into integers.
  void see_copy(const CallExpr* call, const FunctionDecl* callee) {
    if (!callee->getDeclName().isIdentifier() || (callee->getName() != "memcpy" && callee->getName() != "memmove") || call->getNumArgs() < 2) return;
    if ((of(call->getArg(1)) & kBytes) == 0) return;
    const Expr* to = call->getArg(0)->IgnoreParenCasts();
    if (const auto* address = dyn_cast<UnaryOperator>(to); address != nullptr && address->getOpcode() == UO_AddrOf) to = address->getSubExpr();
    assign(to, kAddress, to, kUnknown);
    if (const RecordDecl* record = to->getType()->getAsRecordDecl(); record != nullptr && record->getDefinition() != nullptr)
      for (const FieldDecl* field : record->getDefinition()->fields()) holds(field, kAddress & may_hold(field->getType()), kUnknown);
  }

  bool constant(const Expr* e, uint64_t* value) const {
    Expr::EvalResult result;
    if (!e->EvaluateAsInt(result, context_)) return false;
    *value = result.Val.getInt().extOrTrunc(64).getZExtValue();
    return true;
  }

  bool is_null(const Expr* pointer) const {
    Expr::EvalResult result;
    return pointer->EvaluateAsRValue(result, context_) && result.Val.isNullPointer();
  }

  static bool is_power_of_two(uint64_t number) { return number != 0 && (number & (number - 1)) == 0; }

  // Of the last bits of an address all that so many have.
  static bool is_rest(uint64_t mask) { return mask < kMost && is_power_of_two(mask + 1); }

  // By what addresses are rounded, or asked how they are aligned.
  void see_rounding(BinaryOperatorKind how, const Expr* left, const Expr* right) {
    const bool shifts = how == BO_Shl && undoes(left, BO_Shr, right);  // to the right and back
    if (shifts) left = cast<BinaryOperator>(initial(left->IgnoreParenCasts()))->getLHS();
    const bool both_ways = how == BO_And || how == BO_Or;
    if (!shifts && !both_ways && how != BO_Rem && how != BO_Div) return;
    const bool is_left = (of(left) & kWhole) != 0;
    if (!is_left && (!both_ways || (of(right) & kWhole) == 0)) return;
    const Expr* const by = is_left ? right : left;
    uint64_t to = 0, number = 0;
    if (constant(by, &number)) {
      if (how == BO_Or && !is_rest(number)) return;
      to = shifts ? uint64_t{1} << std::min<uint64_t>(number, 63) : number & (~number + 1);
      if (both_ways && (number < kPage || is_rest(number)))
        for (to = 1; to <= number;) to *= 2;
      if (to <= kMallocAlignment || to > kMost || (both_ways && number < kPage && number >= kOfVectors && to != number + 1)) return;
    }
    if (how == BO_Or && to == 0) {  // (address | (n - 1)) + 1, and no mark
      const auto* less = dyn_cast<BinaryOperator>(initial(by->IgnoreParenCasts()));
      if (less == nullptr || less->getOpcode() != BO_Sub) return;
    }
    const int bytes = static_cast<int>(to);
    found_[function_].rounded_to.add(to == 0 ? Rounding{kOfVectors, kPage} : to > kPage ? Rounding{0, bytes} : Rounding{bytes, 0});
  }

  // A pointer to integers, or to bytes of any kind.
  static bool leads_to_numbers(QualType type) {
    return type->isPointerType() && (type->getPointeeType()->isVoidType() || type->getPointeeType()->isIntegerType());
  }

  bool has_pointer(QualType type) const {
    while (const auto* array = context_.getAsArrayType(type)) type = array->getElementType();
    if (type->isPointerType() || is_integer_handle(type)) return true;
    const RecordDecl* const record = type->getAsRecordDecl();
    if (record == nullptr || record->getDefinition() == nullptr) return false;
    for (const FieldDecl* field : record->getDefinition()->fields())
      if (has_pointer(field->getType())) return true;
    return false;
  }

  // What a function may be given as a parameter that matters.
  unsigned may_be_given(const ParmVarDecl* parameter) const {
    const QualType type = parameter->getType();
    if (type->isIntegerType()) return context_.getTypeSize(type) >= context_.getTypeSize(context_.IntTy) ? kAddress : kNothing;
    return type->isPointerType() && (type->getPointeeType()->isVoidType() || type->getPointeeType()->isCharType()) ? kBytes : kNothing;
  }

  // What a variable says may be an alignment.
  bool is_alignment(const Expr* e) const {
    uint64_t value = 0;
    return !constant(e, &value) || (is_power_of_two(value) && value <= kMost);
  }

  // Whether an address that is divided by the one is as it was, but for its last bits, when it is multiplied by the other.
  bool undoes(const Expr* divided, BinaryOperatorKind how, const Expr* by) const {
    divided = initial(divided->IgnoreParenCasts());
    const auto* quotient = dyn_cast<BinaryOperator>(divided);
    if (quotient == nullptr || quotient->getOpcode() != how) return false;
    uint64_t first = 0, second = 0;
    if (constant(quotient->getRHS(), &first) || constant(by, &second)) return constant(by, &second) && first == second;
    llvm::FoldingSetNodeID one, other;
    quotient->getRHS()->IgnoreParenCasts()->Profile(one, context_, true);
    by->IgnoreParenCasts()->Profile(other, context_, true);
    return one == other;
  }

  // Of a variable of the function that has an initial value: that.
  static const Expr* initial(const Expr* e) {
    const auto* reference = dyn_cast<DeclRefExpr>(e);
    const auto* variable = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    return variable != nullptr && variable->hasLocalStorage() && variable->getInit() != nullptr ? variable->getInit()->IgnoreParenCasts() : e;
  }

  // Which of two handles comes first.
  bool orders(const BinaryOperator* both) const {
    const Expr *const left = both->getLHS(), *const right = both->getRHS();
    return both->isRelationalOp() && ((of(left) & of(right) & kHandle) != 0 || (is_handle_of_mpi(left->getType()) && is_handle_of_mpi(right->getType())));
  }

  // Of what lies behind a multiple.
  static unsigned rest_of(unsigned what) {
    return ((what & (kAddress | kLow | kRest | kMasked)) != 0 ? kRest : 0u) | ((what & (kMinus | kPadding)) != 0 ? kPadding : 0u);
  }

  unsigned masked(unsigned what, const Expr* mask) const {
    uint64_t number = 0;
    if (constant(mask, &number)) {
      if (number < kOfVectors) return kNothing;  // as blocks are aligned, it is the same after a restart
      return number < kPage || is_rest(number) ? rest_of(what) : what;
    }
    const Expr* const form = initial(mask->IgnoreParenCasts());
    const auto* sign = dyn_cast<UnaryOperator>(form);
    if (sign != nullptr && (sign->getOpcode() == UO_Not || sign->getOpcode() == UO_Minus)) return what;
    return isa<BinaryOperator>(form) || (what & kMinus) != 0 ? rest_of(what) : kMasked;
  }

  // Returns whether a number is made there.
  bool combine(BinaryOperatorKind how, const Expr* left, const Expr* right, unsigned* result) const {
    const unsigned l = of(left), r = of(right);
    uint64_t number = 0;
    *result = kNothing;
    if (how == BO_Sub && left->getType()->isPointerType() && right->getType()->isPointerType()) {  // the address of nothing is 0
      *result = is_null(right) && !is_null(left) ? kAddress : kNothing;
      return false;
    }
    if ((l | r) == kNothing) return false;
    if (((l | r) & kHandle) != 0 && (BinaryOperator::isMultiplicativeOp(how) || BinaryOperator::isAdditiveOp(how) || BinaryOperator::isShiftOp(how) || BinaryOperator::isBitwiseOp(how)))
      return true;
    switch (how) {
      case BO_Add:
        *result = (l & r) == 0 && ((l | r) & (kAddress | kMinus)) == (kAddress | kMinus) ? (l | r) & ~(kAddress | kMinus) : l | r;
        if (((l | r) & kAddress) != 0) *result &= ~static_cast<unsigned>(kPadding | kRest | kMasked);  // it is rounded
        return false;
      case BO_Or:
        *result = l | r;
        return false;
      case BO_Sub:
        *result = differs(l, r);
        return false;
      case BO_And:
        if (((l | r) & kQuotient) != 0) return true;
        *result = r == kNothing ? masked(l, right) : l == kNothing ? masked(r, left) : l | r;
        return false;
      case BO_Rem:
        if ((l & kQuotient) != 0 || ((l & kWhole) != 0 && !is_alignment(right))) return true;
        *result = constant(right, &number) && number <= kOfVectors && (l & kWhole) != 0 ? kNothing : rest_of(l);
        return false;
      case BO_Xor:
        return true;
      case BO_Mul:
      case BO_Shl:
        if (((l | r) & kWhole) != 0) return true;
        *result = l | r;
        if ((*result & kQuotient) == 0) return false;
        *result = undoes(left, how == BO_Mul ? BO_Div : BO_Shr, right) || (how == BO_Mul && undoes(right, BO_Div, left)) ? kAddress : kNothing;
        return *result == kNothing;
      case BO_Div:
      case BO_Shr:
        if ((l & (kMinus | kLow)) != 0) return true;
        *result = (l & (kAddress | kQuotient)) != 0 ? static_cast<unsigned>(kQuotient) : l & (kRest | kPadding | kMasked);
        return false;
      default:
        return false;
    }
  }

  Sources sources_if_held(const Expr* e) const { return of(e) == kNothing ? Sources() : sources_of(e); }
  // Of what of() says of it, or of a part of it.
  Sources sources_of(const Expr* e) const {
    struct Seen : Visitor {
      explicit Seen(const AddressVisitor& of) : by(of) {}
      void see(const Expr* one) { from.are_all &= (by.of(one) & (kAddress | kHandle)) == 0; }
      void see(const Decl* held) {
        if (const auto known = by.sources_.find(held->getCanonicalDecl()); known != by.sources_.end()) from.add(known->second);
      }
      bool VisitCastExpr(CastExpr* cast) override {
        if (cast->getCastKind() != CK_PointerToIntegral || by.of(cast) == kNothing) return true;
        // A variable's address that is known to the compiler may stand where nothing is computed.
        if (cast->getSubExpr()->isConstantInitializer(by.context_, false)) from.are_all = false;
        else from.conversions.insert(cast);
        return true;
      }
      bool dataTraverseStmtPre(Stmt* statement) override {
        if (const auto* one = dyn_cast<Expr>(statement); one != nullptr && is_integer_handle(one->getType())) from.are_all = false;
        return true;
      }
      bool VisitDeclRefExpr(DeclRefExpr* reference) override { return see(reference->getDecl()), true; }
      bool VisitMemberExpr(MemberExpr* member) override { return see(member->getMemberDecl()), true; }
      bool VisitArraySubscriptExpr(ArraySubscriptExpr* element) override {
        if (leads_to(element) != nullptr) see(element);
        return true;
      }
      bool VisitUnaryOperator(UnaryOperator* one) override {
        if (one->getOpcode() == UO_Deref) see(one);
        return true;
      }
      bool VisitBinaryOperator(BinaryOperator* both) override {
        if (both->getOpcode() == BO_Sub && both->getLHS()->getType()->isPointerType() && both->getRHS()->getType()->isPointerType()) see(both);
        return true;
      }
      const AddressVisitor& by;
      Sources from;
    } seen(*this);
    seen.TraverseStmt(const_cast<Expr*>(e));
    return seen.from;
  }

  // Of a pointer, or one behind it, that is an integer which is taken for one, as MPI_Aint_add() of a size is: the integer.
  static const Expr* made_of(const Expr* pointer) {
    pointer = pointer->IgnoreParens();
    if (const auto* both = dyn_cast<BinaryOperator>(pointer); both != nullptr && both->isAdditiveOp())
      return made_of(both->getLHS()->getType()->isPointerType() ? both->getLHS() : both->getRHS());
    const auto* cast = dyn_cast<CastExpr>(pointer);
    if (cast == nullptr) return nullptr;
    return cast->getCastKind() == CK_IntegralToPointer ? cast->getSubExpr() : cast->getSubExpr()->getType()->isPointerType() ? made_of(cast->getSubExpr()) : nullptr;
  }

  unsigned of(const Expr* e) const {
    e = e->IgnoreParens();
    uint64_t number = 0;
    if (is_integer_handle(e->getType())) return constant(e, &number) ? kNothing : kHandle;
    if (const auto* cast = dyn_cast<CastExpr>(e)) {
      const Expr* const from = cast->getSubExpr();
      const QualType to = cast->getType();
      // A place in a struct, as that of a member of one at the address 0, is a constant.
      if (cast->getCastKind() == CK_PointerToIntegral) {
        if (const Expr* const integer = made_of(from); constant(e, &number) || (integer != nullptr && of(integer) == kNothing)) return kNothing;
        return narrowed(kAddress, from->getType(), to);
      }
      if (to->isIntegerType() && from->getType()->isIntegerType())
        return to->isBooleanType() ? kNothing : narrowed(widened(of(from), from->getType(), to), from->getType(), to);
      if (leads_to_numbers(to)) return bytes_of(from, to->getPointeeType()->isCharType());
      return to->isPointerType() ? of(from) & kBytes : kNothing;
    }
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) return held(reference->getDecl());
    if (const auto* member = dyn_cast<MemberExpr>(e)) return held(member->getMemberDecl());
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
      const Expr* const base = element->getBase()->IgnoreParenImpCasts();
      return base->getType()->isArrayType() ? of(base) : of_bytes(e, element->getBase());
    }
    if (const auto* call = dyn_cast<CallExpr>(e)) {
      const FunctionDecl* const callee = call->getDirectCallee();
      unsigned of_arguments = kNothing;
      if (callee != nullptr && gives_what_it_is_given(callee))
        for (const Expr* argument : call->arguments()) of_arguments |= of(argument);
      return callee != nullptr ? held(callee) | of_arguments : kNothing;
    }
    if (const auto* block = dyn_cast<StmtExpr>(e)) {
      const CompoundStmt* const body = block->getSubStmt();
      const auto* last = body->body_empty() ? nullptr : dyn_cast<Expr>(body->body_back());
      return last != nullptr ? of(last) : kNothing;
    }
    if (const auto* choice = dyn_cast<BinaryConditionalOperator>(e)) return of(choice->getCommon()) | of(choice->getFalseExpr());
    if (const auto* choice = dyn_cast<ConditionalOperator>(e)) return of(choice->getTrueExpr()) | of(choice->getFalseExpr());
    if (const auto* one = dyn_cast<UnaryOperator>(e)) {
      const unsigned what = of(one->getSubExpr());
      switch (one->getOpcode()) {
        case UO_Minus:
        case UO_Not:
          if ((what & kHandle) != 0) return kHandle;
          return differs(kNothing, what);
        case UO_Deref:
          return of_bytes(e, one->getSubExpr());
        case UO_AddrOf:
          if (const Expr* const pointer = leads_to(one->getSubExpr())) return of(pointer) & kBytes;
          return (what & (kAddress | kHandle)) != 0 ? kBytes : kNothing;
        case UO_LNot:
          return kNothing;
        default:
          return what;
      }
    }
    const auto* both = dyn_cast<BinaryOperator>(e);
    if (both == nullptr) return kNothing;
    if (both->getOpcode() == BO_Assign || both->getOpcode() == BO_Comma) return of(both->getRHS());
    if (is_behind(both) || is_before(both)) return kNothing;
    unsigned result = kNothing;
    combine(operation(both), both->getLHS(), both->getRHS(), &result);
    return both->getType()->isPointerType() ? result & kBytes : result;
  }

  // Of a pointer that is made one to bytes (characters) or integers.
  unsigned bytes_of(const Expr* pointer, bool are_characters) const {
    const QualType type = pointer->getType();
    if (type->isArrayType()) {
      const QualType element = context_.getAsArrayType(type)->getElementType();
      return element->isPointerType() || (of(pointer) & kAddress) != 0 ? kBytes : kNothing;
    }
    if (!type->isPointerType() || (are_characters && is_behind(pointer))) return kNothing;
    const bool has = type->getPointeeType()->isPointerType() || (are_characters && has_pointer(type->getPointeeType()));
    return has ? kBytes : of(pointer) & kBytes;
  }

  // What an allocator of the program's keeps in front of what it gives, of which it does not know what that is: (size_t *)p - 2.
  bool is_before(const BinaryOperator* moved) const {
    if (moved->getOpcode() != BO_Sub || !leads_to_numbers(moved->getType())) return false;
    const auto* const cast = dyn_cast<ExplicitCastExpr>(moved->getLHS()->IgnoreParenImpCasts());
    const Expr* const memory = cast == nullptr ? nullptr : cast->getSubExpr()->IgnoreParenImpCasts();
    uint64_t by = 0;
    return memory != nullptr && isa<DeclRefExpr>(memory) && memory->getType()->isVoidPointerType() && constant(moved->getRHS(), &by) && static_cast<int64_t>(by) > 0;
  }

  // What lies behind one struct, as text does for which there is room in the same block: p + 1, &p[1], (char *)p + sizeof *p; or as far behind
  // its beginning as it says itself: (char *)p + p->offset.
  bool is_behind(const Expr* e) const {
    e = e->IgnoreParenCasts();
    const Expr *base = nullptr, *by = nullptr;
    if (const auto* sum = dyn_cast<BinaryOperator>(e); sum != nullptr && sum->getOpcode() == BO_Add) base = sum->getLHS(), by = sum->getRHS();
    if (const auto* at = dyn_cast<UnaryOperator>(e); at != nullptr && at->getOpcode() == UO_AddrOf)
      if (const auto* element = dyn_cast<ArraySubscriptExpr>(at->getSubExpr()->IgnoreParens())) base = element->getBase(), by = element->getIdx();
    if (base == nullptr || !base->getType()->isPointerType()) return false;
    const QualType of_struct = base->IgnoreParenCasts()->getType();
    if (!of_struct->isPointerType() || !of_struct->getPointeeType()->isRecordType() || of_struct->getPointeeType()->isIncompleteType()) return false;
    const QualType element = base->getType()->getPointeeType();
    if (!element->isVoidType() && (element->isIncompleteType() || element->isFunctionType())) return false;
    const auto* const own = dyn_cast<MemberExpr>(by->IgnoreParenImpCasts());
    const auto* const of = own == nullptr || !own->isArrow() ? nullptr : dyn_cast<DeclRefExpr>(own->getBase()->IgnoreParenImpCasts());
    const auto* const from = dyn_cast<DeclRefExpr>(base->IgnoreParenCasts());
    if (of != nullptr && from != nullptr && of->getDecl() == from->getDecl()) return true;
    uint64_t number = 0;
    const uint64_t size = static_cast<uint64_t>(step_of(context_, element));
    return constant(by, &number) && number * size == static_cast<uint64_t>(context_.getTypeSizeInChars(of_struct->getPointeeType()).getQuantity());
  }

  // A byte of an address, say, that becomes a longer integer.
  unsigned widened(unsigned what, QualType from, QualType to) const {
    const bool is_longer = context_.getTypeSize(to) > context_.getTypeSize(from);
    return is_longer && ((what & kAddress) != 0 ? !has_whole(from, kAddress) : (what & kHandle) != 0 && !has_whole(from, kHandle)) ? what | kPart : what;
  }

  // Whether there is room for it.
  bool has_whole(QualType type, unsigned what) const {
    return context_.getTypeSize(type) >= context_.getTypeSize(what == kHandle ? context_.IntTy : context_.VoidPtrTy);
  }

  unsigned narrowed(unsigned what, QualType from, QualType to) const {
    if ((what & (kAddress | kMinus)) == 0 || context_.getTypeSize(to) >= context_.getTypeSize(from)) return what;
    return (what & ~static_cast<unsigned>(kAddress | kMinus)) | kLow;
  }

  // Whether the addresses in what is computed there are whole, and may be asked for their values in their places.
  bool are_wholes(const Expr* e, std::vector<const Expr*>* wholes) const {
    e = e->IgnoreParens();
    const auto* one = dyn_cast<UnaryOperator>(e);
    const auto* both = dyn_cast<BinaryOperator>(e);
    if (const auto* either = dyn_cast<ConditionalOperator>(e)) return are_wholes(either->getTrueExpr(), wholes) && are_wholes(either->getFalseExpr(), wholes);
    if (const auto* cast = dyn_cast<CastExpr>(e)) {
      if (cast->getCastKind() != CK_PointerToIntegral && cast->getCastKind() != CK_LValueToRValue) return are_wholes(cast->getSubExpr(), wholes);
      const bool is_pointer = cast->getCastKind() == CK_PointerToIntegral;
      if (!is_pointer && of(cast) == kNothing) return true;
      const unsigned what = of(cast);
      if (!is_pointer && ((what != kAddress && what != kHandle) || !has_whole(cast->getType(), what) || cast->getType()->isEnumeralType())) return false;
      wholes->push_back(is_pointer ? cast->getSubExpr() : cast);
      return true;
    }
    if (one != nullptr && one->isArithmeticOp()) return are_wholes(one->getSubExpr(), wholes);
    if (both != nullptr && !both->isAssignmentOp() && !both->isCommaOp() && both->getType()->isIntegerType() && both->getLHS()->getType()->isIntegerType() &&
        both->getRHS()->getType()->isIntegerType())
      return are_wholes(both->getLHS(), wholes) && are_wholes(both->getRHS(), wholes);
    if (both != nullptr && both->isCompoundAssignmentOp()) return of(both->getLHS()) == kNothing && are_wholes(both->getRHS(), wholes);
    const bool compares_pointers = both != nullptr && both->getType()->isIntegerType() && both->getLHS()->getType()->isPointerType();
    return of(e) == kNothing && !compares_pointers;
  }

  // Of what a pointer leads to, or an element there: that pointer.
  static const Expr* leads_to(const Expr* e) {
    e = e->IgnoreParens();
    if (const auto* one = dyn_cast<UnaryOperator>(e)) return one->getOpcode() == UO_Deref ? one->getSubExpr() : nullptr;
    const auto* element = dyn_cast<ArraySubscriptExpr>(e);
    return element != nullptr && !element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType() ? element->getBase() : nullptr;
  }

  // An integer as long as half an address. In a list of whatever there is a pointer leads to an address here and to an integer there, and in
  // a block with pointers in front there are integers behind them: so it is looked at when it is read.
  bool may_be_half(const Expr* e) const {
    return e->getType()->isIntegerType() && !e->getType()->isBooleanType() && context_.getTypeSize(e->getType()) == 32 && context_.getTypeSize(context_.VoidPtrTy) == 64;
  }
  void look_at_half(const Expr* e) {
    const Expr* const pointer = function_ == nullptr ? nullptr : leads_to(e);
    if (pointer != nullptr && may_be_half(e) && (of(pointer) & kBytes) != 0) found_[function_].looked_at.push_back(e->IgnoreParens());
  }

  // What is read there.
  unsigned of_bytes(const Expr* e, const Expr* pointer) const {
    if (may_be_half(e)) return kNothing;
    return e->getType()->isIntegerType() && (of(pointer) & kBytes) != 0 ? kAddress : kNothing;
  }

  const Unit& unit_;
  ASTContext& context_;
  const FunctionDecl* function_ = nullptr;
  bool alone_ = false;  // this function, and none that it calls
  std::function<bool(const Parameter&)> is_given_;
  std::set<Parameter> given_;
  std::set<const FunctionDecl*> may_be_given_;
  std::set<const Expr*> called_;             // what stands for functions in calls
  std::set<const Decl*> pointed_to_;         // functions, by what may call them
  std::map<const Decl*, unsigned> holding_;  // variables, members, and functions that return it: what
  std::map<const Decl*, Sources> sources_;   // and from where
  bool grown_ = false;                       // that has, since
  std::map<const FunctionDecl*, NumbersOfAddresses> found_;
};

}  // namespace

AddressesOfUnit numbers_of_addresses(const Unit& unit, const std::function<bool(const Parameter&)>& is_given) {
  return AddressVisitor(unit).all(is_given);
}

std::map<unsigned, AddressIfGiven> if_given_addresses(const Unit& unit, const FunctionDecl* function) {
  std::map<unsigned, AddressIfGiven> all;
  const unsigned count = function->getNumParams();
  if (AddressVisitor(unit).alone(function, 0, count).nothing()) return all;
  for (unsigned i = 0; i < count; ++i)
    if (AddressIfGiven found = AddressVisitor(unit).alone(function, i, i + 1); !found.nothing()) all.emplace(i, std::move(found));
  return all;
}

}  // namespace elc::cc
