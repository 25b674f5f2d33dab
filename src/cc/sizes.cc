#include "cc/sizes.h"

#include "cc/types.h"
#include "cc/visitor.h"
#include "clang/AST/Expr.h"
#include "clang/Basic/TargetInfo.h"

namespace elc::cc {

using namespace clang;

namespace {

// Whether a type has the same size everywhere: that must not depend on what a name stands for here.
bool is_fixed(QualType type) {
  while (const ArrayType* array = type->getAsArrayTypeUnsafe()) type = array->getElementType();
  if (const auto* named = type->getAs<TypedefType>()) {
    static const std::set<std::string> all = {"int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t", "uint32_t", "int64_t", "uint64_t"};
    return all.contains(named->getDecl()->getName().str()) || is_fixed(named->desugar());
  }
  if (const auto* complex = type->getAs<ComplexType>()) return is_fixed(complex->getElementType());
  if (type->isEnumeralType()) return true;
  const auto* builtin = type->getAs<BuiltinType>();
  if (builtin == nullptr) return false;
  switch (builtin->getKind()) {
    case BuiltinType::Long:
    case BuiltinType::ULong:
    case BuiltinType::LongDouble:
    case BuiltinType::Int128:
    case BuiltinType::UInt128:
      return false;
    default:
      return true;
  }
}

// Whether a function takes none of its further arguments itself, and gives them to none but those that print.
bool only_prints(const Unit& unit, const Stmt* s) {
  static const std::set<std::string> all = {"__builtin_va_start", "__builtin_va_end", "__builtin_va_copy", "vprintf", "vfprintf", "vsprintf", "vsnprintf", "vdprintf",
                                            "vasprintf", "__vprintf_chk", "__vfprintf_chk", "__vsprintf_chk", "__vsnprintf_chk", "vwarn", "vwarnx", "vsyslog"};
  if (isa<VAArgExpr>(s)) return false;
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* const callee = call->getDirectCallee();
    const FunctionDecl* const definition = callee == nullptr ? nullptr : callee->getDefinition();
    if (callee != nullptr && (definition == nullptr || unit.in_system_header(definition->getLocation())) && all.contains(callee->getName().str())) return true;
  }
  if (const auto* reference = dyn_cast<DeclRefExpr>(s); reference != nullptr && is_argument_list(reference->getDecl()->getType())) return false;
  return std::all_of(s->child_begin(), s->child_end(), [&](const Stmt* child) { return child == nullptr || only_prints(unit, child); });
}

class SizeVisitor : public Visitor {
 public:
  explicit SizeVisitor(const Unit& unit) : unit_(unit) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    if (unit_.in_system_header(function->getLocation())) return true;
    const FunctionDecl* const outer = function_;
    if (function->doesThisDeclarationHaveABody()) {
      function_ = function;
      // What is in memory that it is given may go anywhere.
      for (const ParmVarDecl* parameter : function->parameters())
        if (!parameter->getType()->isIntegerType()) here().keeps.insert(holder_of(parameter));
      if (function->isVariadic() && !only_prints(unit_, function->getBody())) here().keeps.insert({function, kMore});
    }
    const bool all = Visitor::TraverseFunctionDecl(function);
    function_ = outer;
    return all;
  }

  // Constants are those of the program that goes on.
  bool TraverseVarDecl(VarDecl* variable) override {
    const bool is_constant = variable->hasGlobalStorage() && unit_.context().getBaseElementType(variable->getType()).isConstQualified();
    return is_constant || Visitor::TraverseVarDecl(variable);
  }

  // A variable that is so long has another type elsewhere, which a restart sees; a comparison by the compiler is over.
  bool TraverseConstantArrayTypeLoc(ConstantArrayTypeLoc at) override { return TraverseTypeLoc(at.getElementLoc()); }
  bool TraverseStaticAssertDecl(StaticAssertDecl*) override { return true; }
  bool TraverseAttr(Attr*) override { return true; }

  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* callee = call->getDirectCallee();
    for (unsigned i = 0; callee != nullptr && i < call->getNumArgs(); ++i) {
      const bool is_more = callee->isVariadic() && i >= callee->getNumParams();
      if (!is_copied(callee, i)) use(call->getArg(i), {callee, is_more ? kMore : "#" + std::to_string(i)});
    }
    if (callee != nullptr && call->getType()->isIntegerType()) goes({callee, kReturned}, call);
    if (callee != nullptr && call->getNumArgs() == 2 && (callee->getName() == "MPI_Get_address" || callee->getName() == "MPI_Address")) see_address(call);
    if (callee != nullptr && call->getNumArgs() == 3 && is_copied(callee, 1) && is_copy_to_others(call->getArg(0), call->getArg(1)))
      see_others(call, call->getArg(1)->IgnoreParenImpCasts()->getType(), call->getArg(0)->IgnoreParenImpCasts()->getType());
    return true;
  }

  bool VisitReturnStmt(ReturnStmt* s) override {
    if (s->getRetValue() != nullptr && function_ != nullptr) use(s->getRetValue(), {function_, kReturned});
    return true;
  }

  bool VisitVarDecl(VarDecl* variable) override {
    if (variable->getInit() != nullptr && is_place(variable->getInit())) places_.insert(variable);
    if (variable->getInit() != nullptr && is_of_function(variable)) use(variable->getInit(), holder_of(variable));
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (is_used_up(both) && !is_comparison_of_sizes(both)) pass(both->getLHS()), pass(both->getRHS());
    const bool of_pointers = both->getLHS()->getType()->isPointerType() && both->getRHS()->getType()->isPointerType();
    const int places = is_place(both->getLHS()) + is_place(both->getRHS());
    if (both->getOpcode() == BO_Sub && !both->getType()->isPointerType() && places >= (of_pointers ? 1 : 2)) see_distance(both);
    if (const auto* to = dyn_cast<DeclRefExpr>(both->getLHS()->IgnoreParens()); to != nullptr && both->getOpcode() == BO_Assign && is_place(both->getRHS()))
      places_.insert(dyn_cast<VarDecl>(to->getDecl()));
    if (!both->isAssignmentOp()) return true;
    if (both->getType()->isPointerType()) return pass(both->getRHS());
    const DeclRefExpr* const to = whole_of(both->getLHS());
    if (to == nullptr) return true;
    used_[to].push_back({});
    use(both->getRHS(), holder_of(cast<VarDecl>(to->getDecl())));
    return true;
  }

  bool VisitUnaryOperator(UnaryOperator* one) override {
    if (one->getOpcode() == UO_LNot || one->isIncrementDecrementOp()) pass(one->getSubExpr());
    return true;
  }

  bool VisitArraySubscriptExpr(ArraySubscriptExpr* element) override { return pass(element->getIdx()); }
  bool VisitIfStmt(IfStmt* s) override { return pass(s->getCond()); }
  bool VisitWhileStmt(WhileStmt* s) override { return pass(s->getCond()); }
  bool VisitDoStmt(DoStmt* s) override { return pass(s->getCond()); }
  bool VisitForStmt(ForStmt* s) override { return pass(s->getCond()); }
  bool VisitSwitchStmt(SwitchStmt* s) override { return pass(s->getCond()); }
  bool VisitCaseStmt(CaseStmt* s) override { return pass(s->getLHS()); }
  bool VisitConditionalOperator(ConditionalOperator* e) override { return pass(e->getCond()); }

  // Not what is in it, which is not computed.
  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr* e) override {
    if (e->getKind() != UETT_SizeOf && e->getKind() != UETT_AlignOf && e->getKind() != UETT_PreferredAlignOf) return true;
    const QualType type = e->getTypeOfArgument();
    const bool is_size = e->getKind() == UETT_SizeOf;
    if (type->isVariableArrayType() || (is_size && is_fixed(type))) return true;
    see(e, (is_size ? "sizeof (" : "_Alignof (") + spelled(type, e->getBeginLoc()) + ")");
    return true;
  }

  bool VisitOffsetOfExpr(OffsetOfExpr* e) override {
    std::string members;
    for (unsigned i = 0; i < e->getNumComponents(); ++i)
      if (e->getComponent(i).getKind() == OffsetOfNode::Field) members += (members.empty() ? "" : ".") + e->getComponent(i).getField()->getName().str();
    see(e, "offsetof (" + spelled(e->getTypeSourceInfo()->getType(), e->getBeginLoc()) + ", " + members + ")");
    return true;
  }

  // LONG_MAX, ULONG_MAX, SIZE_MAX.
  bool VisitIntegerLiteral(IntegerLiteral* number) override {
    if (!is_fixed(number->getType()) && (number->getType()->isSignedIntegerType() ? number->getValue().isMaxSignedValue() : number->getValue().isMaxValue())) see_greatest(number);
    return true;
  }

  // offsetof as it was written before there was one; (size_t)-1; memory of doubles that is cut into integers; and the first byte of a number.
  bool VisitCastExpr(CastExpr* cast) override {
    if (cast->getCastKind() == CK_IntegralCast && cast->getType()->isUnsignedIntegerType() && !is_fixed(cast->getType())) {
      Expr::EvalResult value;
      if (cast->EvaluateAsInt(value, unit_.context()) && value.Val.getInt().isAllOnes()) see_greatest(cast);
    }
    if (cast->getCastKind() == CK_BitCast && isa<CStyleCastExpr>(cast) && is_of_other_numbers(cast)) see_others(cast, cast->getSubExpr()->IgnoreParenImpCasts()->getType(), cast->getType());
    if (cast->getCastKind() == CK_LValueToRValue && is_byte_of_number(cast->getSubExpr())) here().kept.push_back({kOrderOfBytes, unit_.place(cast->getBeginLoc()), order() + 1});
    if (cast->getCastKind() != CK_PointerToIntegral) return true;
    const auto* address = dyn_cast<UnaryOperator>(cast->getSubExpr()->IgnoreParenCasts());
    if (address == nullptr || address->getOpcode() != UO_AddrOf) return true;
    if (const auto* member = dyn_cast<MemberExpr>(address->getSubExpr()->IgnoreParens()))
      see(cast, "offset of " + member->getMemberDecl()->getName().str());
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr* reference) override {
    const auto* variable = dyn_cast<VarDecl>(reference->getDecl());
    if (variable != nullptr && is_of_function(variable)) goes(holder_of(variable), reference);
    return true;
  }

  std::map<const FunctionDecl*, SizesOfFunction> all;

 private:
  static constexpr const char *kReturned = "=", *kMore = "#...";

  // Whether a function of the C library copies to other memory what an argument points to.
  static bool is_copied(const FunctionDecl* callee, unsigned argument) {
    static const std::set<std::string> all = {"memcpy", "memmove", "mempcpy", "__builtin_memcpy", "__builtin_memmove", "__builtin_mempcpy"};
    return argument == 1 && all.contains(callee->getName().str());
  }

  SizesOfFunction& here() { return all[function_]; }

  int order() const { return unit_.context().getTargetInfo().isBigEndian() ? 1 : 0; }

  // Pointers to the ones, and to the others.
  void see_others(const Expr* e, QualType from, QualType to) {
    const QualType was = element_of(from), is = element_of(to);
    const bool are_fixed = !was.isNull() && !is.isNull() && is_fixed(was) && is_fixed(is);
    const long long value = are_fixed ? order() + 1 : any_size(unit_) * 2 + order();
    here().kept.push_back({are_fixed ? kOtherFixedNumbers : kOtherNumbers, unit_.place(e->getBeginLoc()), value});
  }

  // A number of the function that is at work, or memory for such.
  bool is_of_function(const VarDecl* variable) const {
    const QualType type = variable->getType();
    return function_ != nullptr && variable->hasLocalStorage() && (type->isIntegerType() || type->isArrayType() || type->isRecordType());
  }

  // The variable of the function in which an expression is a place.
  const DeclRefExpr* whole_of(const Expr* e) const {
    for (;;) {
      e = e->IgnoreParenImpCasts();
      if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) e = element->getBase();
      else if (const auto* member = dyn_cast<MemberExpr>(e); member != nullptr && !member->isArrow()) e = member->getBase();
      else break;
    }
    const auto* reference = dyn_cast<DeclRefExpr>(e);
    const auto* variable = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    return variable != nullptr && is_of_function(variable) ? reference : nullptr;
  }

  Holder holder_of(const VarDecl* variable) const {
    const auto* parameter = dyn_cast<ParmVarDecl>(variable);
    if (parameter != nullptr) return {function_, "#" + std::to_string(parameter->getFunctionScopeIndex())};
    return {function_, "@" + std::to_string(unit_.begin_of(variable->getLocation()))};
  }

  // sizeof a / sizeof a[0]
  static bool is_number_of_elements(const BinaryOperator* both) {
    const auto* whole = dyn_cast<UnaryExprOrTypeTraitExpr>(both->getLHS()->IgnoreParenCasts());
    const auto* part = dyn_cast<UnaryExprOrTypeTraitExpr>(both->getRHS()->IgnoreParenCasts());
    if (both->getOpcode() != BO_Div || whole == nullptr || part == nullptr || whole->getKind() != UETT_SizeOf || part->getKind() != UETT_SizeOf) return false;
    const ArrayType* array = whole->getTypeOfArgument()->getAsArrayTypeUnsafe();
    return array != nullptr && array->getElementType().getCanonicalType().getUnqualifiedType() ==
                                   part->getTypeOfArgument().getCanonicalType().getUnqualifiedType();
  }

  // What comes of it is no size.
  static bool is_used_up(const BinaryOperator* both) {
    const bool is_distance = both->isAdditiveOp() && both->getType()->isPointerType();
    return is_distance || both->isComparisonOp() || both->isLogicalOp() || is_number_of_elements(both);
  }

  // sizeof (long) == 8, of which the result may be kept.
  bool is_comparison_of_sizes(const BinaryOperator* both) const {
    Expr::EvalResult value;
    return both->isComparisonOp() && both->EvaluateAsInt(value, unit_.context());
  }

  // Of two such the distance in bytes may be that of members of a struct, or the size of an element.
  bool is_place(const Expr* e) const {
    const auto* const variable = dyn_cast<DeclRefExpr>(e->IgnoreParenImpCasts());
    if (variable != nullptr && places_.contains(dyn_cast<VarDecl>(variable->getDecl()))) return true;
    const auto* cast = dyn_cast<CastExpr>(e->IgnoreParenImpCasts());
    if (cast == nullptr || cast->getSubExpr()->IgnoreParens()->getType()->getPointeeOrArrayElementType()->isAnyCharacterType()) return false;
    const QualType type = cast->getType();
    return cast->getCastKind() == CK_PointerToIntegral || (type->isPointerType() && (type->getPointeeType()->isAnyCharacterType() || type->isVoidPointerType()));
  }

  bool pass(const Expr* e) {
    if (e != nullptr) use(e, {});
    return true;
  }

  // What an expression computes with goes there; to nobody, if that has no function.
  void use(const Expr* e, const Holder& to) {
    for (e = e->IgnoreParens(); const auto* cast = dyn_cast<CastExpr>(e); e = cast->getSubExpr()->IgnoreParens()) used_[cast].push_back(to);
    const auto* both = dyn_cast<BinaryOperator>(e);
    const auto* one = dyn_cast<UnaryOperator>(e);
    if (const auto* choice = dyn_cast<ConditionalOperator>(e)) {
      use(choice->getTrueExpr(), to);
      use(choice->getFalseExpr(), to);
    } else if (both != nullptr && (!is_used_up(both) || is_comparison_of_sizes(both))) {
      if (!both->isAssignmentOp() || both->isCompoundAssignmentOp()) use(both->getLHS(), to);
      use(both->getRHS(), to);
    } else if (one != nullptr && (one->isArithmeticOp() || one->isIncrementDecrementOp() || one->getOpcode() == UO_AddrOf)) {
      use(one->getSubExpr(), to);
    } else if (const auto* list = dyn_cast<InitListExpr>(e)) {
      for (const Expr* one_of : list->inits()) use(one_of, to);
    } else if (const DeclRefExpr* whole = whole_of(e)) {
      used_[whole].push_back(to);
    } else {
      used_[e].push_back(to);
    }
  }

  void goes(const Holder& from, const Expr* e) {
    const auto used = used_.find(e);
    if (used == used_.end()) here().keeps.insert(from);
    else
      for (const Holder& to : used->second)
        if (to.function != nullptr) here().gives.emplace_back(from, to);
  }

  void see(const Expr* e, const std::string& name) {
    Expr::EvalResult value;
    if (e->EvaluateAsInt(value, unit_.context())) see(e, {name, unit_.place(e->getBeginLoc()), value.Val.getInt().getExtValue()});
  }

  // A pointer to numbers becomes one to others. What looks into a number by its own address, as mathematical functions do, leaves it a number.
  bool is_of_other_numbers(const CastExpr* cast) const {
    const Expr* const from = cast->getSubExpr()->IgnoreParenImpCasts();
    const auto* address = dyn_cast<UnaryOperator>(from);
    if (address != nullptr && address->getOpcode() == UO_AddrOf && !isa<ArraySubscriptExpr>(address->getSubExpr()->IgnoreParens())) return false;
    const QualType was = element_of(from->getType()), is = element_of(cast->getType());
    if (was.isNull() || is.isNull() || was->isCharType() || is->isCharType()) return false;
    const ASTContext& context = unit_.context();
    return context.getTypeSize(was) != context.getTypeSize(is) || is_fixed(was) != is_fixed(is);
  }

  static const Expr* variable_at(const Expr* address) {
    const auto* one = dyn_cast<UnaryOperator>(address->IgnoreParenCasts());
    return one != nullptr && one->getOpcode() == UO_AddrOf ? one->getSubExpr() : nullptr;
  }

  // *(char *)&n, and that of a union with a number.
  static bool is_byte_of_number(const Expr* byte) {
    if (!byte->getType()->isAnyCharacterType()) return false;
    const auto* one = dyn_cast<UnaryOperator>(byte->IgnoreParens());
    const auto* element = dyn_cast<ArraySubscriptExpr>(byte->IgnoreParens());
    const Expr* const from = one != nullptr && one->getOpcode() == UO_Deref ? one->getSubExpr() : element != nullptr ? element->getBase() : nullptr;
    if (from == nullptr) return false;
    const auto is_wide = [](QualType type) { return type->isIntegerType() && !type->isAnyCharacterType() && !type->isBooleanType(); };
    if (const Expr* const variable = variable_at(from)) return is_wide(variable->getType());
    const auto* member = dyn_cast<MemberExpr>(from->IgnoreParenCasts());
    const auto* field = member == nullptr ? nullptr : dyn_cast<FieldDecl>(member->getMemberDecl());
    if (field == nullptr || !field->getParent()->isUnion() || !field->getType()->isArrayType()) return false;
    return std::any_of(field->getParent()->field_begin(), field->getParent()->field_end(), [&](const FieldDecl* other) { return is_wide(other->getType()); });
  }

  // Copied by memcpy. What a variable that is one number gets is that number.
  bool is_copy_to_others(const Expr* to, const Expr* from) const {
    if (const Expr* variable = variable_at(to); variable != nullptr && variable->getType()->isScalarType() && !isa<ArraySubscriptExpr>(variable->IgnoreParens())) return false;
    const auto type_of = [](const Expr* e) { return QualType(e->IgnoreParenImpCasts()->getType()->getPointeeOrArrayElementType(), 0); };
    std::vector<QualType> was, is;
    if (!list_numbers(type_of(from), &was) || !list_numbers(type_of(to), &is) || was.empty() || is.empty()) return false;
    // A struct is compared once; numbers are as many as there are in the other.
    size_t all = std::max(was.size(), is.size());
    if (type_of(from)->isRecordType()) all = std::min(all, was.size());
    if (type_of(to)->isRecordType()) all = std::min(all, is.size());
    const ASTContext& context = unit_.context();
    for (size_t i = 0; i < all; ++i) {
      const QualType a = was[i % was.size()], b = is[i % is.size()];
      if (context.getTypeSize(a) != context.getTypeSize(b) || is_fixed(a) != is_fixed(b) || a->isPointerType() != b->isPointerType()) return true;
    }
    return false;
  }

  // The numbers and pointers that a type consists of, in their order; not of one with characters, which may be anything.
  static bool list_numbers(QualType type, std::vector<QualType>* to) {
    constexpr size_t kMost = 1000;
    if (const auto* array = dyn_cast<ConstantArrayType>(type.getCanonicalType())) {
      std::vector<QualType> element;
      if (!list_numbers(array->getElementType(), &element)) return false;
      for (uint64_t i = 0; i < array->getSize().getZExtValue() && to->size() < kMost; ++i) to->insert(to->end(), element.begin(), element.end());
      return true;
    }
    if (const RecordDecl* record = type->getAsRecordDecl()) {
      return !record->isUnion() && record->isCompleteDefinition() &&
             std::all_of(record->field_begin(), record->field_end(), [&](const FieldDecl* field) { return !field->isBitField() && list_numbers(field->getType(), to); });
    }
    if (!type->isScalarType() || type->isAnyCharacterType()) return false;
    const auto* complex = type->getAs<ComplexType>();
    to->insert(to->end(), complex != nullptr ? 2 : 1, complex != nullptr ? complex->getElementType() : type);
    return true;
  }

  // What a pointer, or an array, leads to, if that is numbers of one kind.
  static QualType element_of(QualType type) {
    const Type* const to = type->getPointeeOrArrayElementType();
    QualType element(to, 0);
    if (const auto* complex = element->getAs<ComplexType>()) element = complex->getElementType();
    return only_number(element);
  }

  void see_greatest(const Expr* e) {
    const QualType type = e->getType();
    see(e, {"the greatest " + type.getCanonicalType().getUnqualifiedType().getAsString(), unit_.place(e->getBeginLoc()), static_cast<long long>(unit_.context().getTypeSize(type))});
  }

  // MPI tells the addresses of members, of which a program makes distances.
  void see_address(const CallExpr* call) {
    const Size size = {kAnySize, unit_.place(call->getBeginLoc()), any_size(unit_)};
    const auto* const to = dyn_cast<UnaryOperator>(call->getArg(1)->IgnoreParenImpCasts());
    const DeclRefExpr* const whole = whole_of(to != nullptr && to->getOpcode() == UO_AddrOf ? to->getSubExpr() : call->getArg(1));
    if (whole == nullptr) return here().kept.push_back(size);
    used_[whole].push_back({});
    here().given.emplace_back(size, holder_of(cast<VarDecl>(whole->getDecl())));
  }

  void see_distance(const Expr* e) { see(e, {kAnySize, unit_.place(e->getBeginLoc()), any_size(unit_)}); }

  void see(const Expr* e, const Size& size) {
    const auto used = used_.find(e);
    if (used == used_.end()) here().kept.push_back(size);
    else
      for (const Holder& to : used->second)
        if (to.function != nullptr) here().given.emplace_back(size, to);
  }

  // A type without a name is told by its place.
  std::string spelled(QualType type, SourceLocation at) const {
    const std::string text = type.getAsString();
    return text.find("unnamed") == std::string::npos && text.find("anonymous") == std::string::npos ? text : "the type at " + unit_.place(at);
  }

  const Unit& unit_;
  const FunctionDecl* function_ = nullptr;
  std::map<const Expr*, std::vector<Holder>> used_;  // and where the value goes
  std::set<const VarDecl*> places_;  // pointers to characters that have been given one to something else
};

}  // namespace

long long any_size(const Unit& unit) {
  const ASTContext& context = unit.context();
  long long all = 0;
  for (const CanQualType& type : {context.VoidPtrTy, context.LongTy, context.LongLongTy, context.DoubleTy})
    all = all * 47 + context.getTypeInfo(type).Width + context.getTypeInfo(type).Align / 8;
  return all % 1000000;
}

long long size_of_long_double(const Unit& unit) {
  struct Finder : Visitor {
    explicit Finder(const Unit& in) : unit(in) {}
    bool VisitBuiltinTypeLoc(BuiltinTypeLoc at) override {
      return found |= at.getTypePtr()->getKind() == BuiltinType::LongDouble && !unit.in_system_header(at.getBeginLoc()), true;
    }
    const Unit& unit;
    bool found = false;
  } finder(unit);
  finder.TraverseDecl(unit.context().getTranslationUnitDecl());
  const TypeInfo info = unit.context().getTypeInfo(unit.context().LongDoubleTy);
  return finder.found ? static_cast<long long>(info.Width * 47 + info.Align / 8) : 0;
}

std::map<const FunctionDecl*, SizesOfFunction> sizes_in(const Unit& unit) {
  SizeVisitor visitor(unit);
  visitor.TraverseDecl(unit.context().getTranslationUnitDecl());
  return std::move(visitor.all);
}

}  // namespace elc::cc
