#include "cc/handles.h"

#include <algorithm>

#include "cc/program.h"
#include "cc/types.h"
#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

namespace {

constexpr char kSign = '@';  // in HandleFacts::declared, before each name

// A status is none.
bool is_handle(QualType type) { return !type->isRecordType() && is_handle_of_mpi(type); }

// Which handle it is, by name; empty: none.
std::string name_of_handle(QualType type) {
  if (!is_handle(type)) return "";
  const auto* named = type->getAs<TypedefType>();
  while (is_handle(named->desugar())) named = named->desugar()->getAs<TypedefType>();
  return named->getDecl()->getName().str();
}

QualType element_of(QualType type) {
  if (const ArrayType* array = type->getAsArrayTypeUnsafe()) return array->getElementType();
  return type->isPointerType() ? type->getPointeeType() : QualType();
}

// Whether a value of the type is a handle, or has one in it.
bool is_here(QualType type) {
  while (const ArrayType* array = type->getAsArrayTypeUnsafe()) type = array->getElementType();
  if (is_handle(type)) return true;
  const RecordDecl* record = type->getAsRecordDecl();
  if (record == nullptr || (record = record->getDefinition()) == nullptr) return false;
  return std::any_of(record->field_begin(), record->field_end(), [](const FieldDecl* field) { return is_here(field->getType()); });
}

std::string name_of(const RecordDecl* record) { return QualType(record->getTypeForDecl(), 0).getCanonicalType().getAsString(); }

// Whether what is of the one is of the other, handle for handle, and may not be written by it where it might not before.
bool are_same(QualType from, QualType to) {
  const std::string of = name_of_handle(from), as = name_of_handle(to);
  if (!of.empty() || !as.empty()) return of == as;
  const QualType a = element_of(from), b = element_of(to);
  if (a.isNull() != b.isNull()) return false;
  if (!a.isNull()) return (b.isConstQualified() || !a.isConstQualified()) && are_same(a, b);
  const auto *f = from->getAs<FunctionType>(), *g = to->getAs<FunctionType>();
  if (f != nullptr && g != nullptr) {
    const auto *p = dyn_cast<FunctionProtoType>(f), *q = dyn_cast<FunctionProtoType>(g);
    if (p == nullptr || q == nullptr || p->getNumParams() != q->getNumParams() || p->isVariadic() != q->isVariadic()) return false;
    return are_same(f->getReturnType(), g->getReturnType()) && std::equal(p->param_type_begin(), p->param_type_end(), q->param_type_begin(), are_same);
  }
  return from.getCanonicalType().getUnqualifiedType() == to.getCanonicalType().getUnqualifiedType();
}

// Of a type: the handles and structs that it is of, each behind a sign.
std::string parts_of(QualType type) {
  if (const std::string name = name_of_handle(type); !name.empty()) return kSign + name;
  if (const QualType element = element_of(type); !element.isNull()) return "*" + parts_of(element);
  if (const RecordDecl* record = type->getAsRecordDecl()) return kSign + name_of(record);
  const auto* function = type->getAs<FunctionType>();
  if (function == nullptr) return "";
  std::string all = parts_of(function->getReturnType()) + kSign + "(";
  if (const auto* prototype = dyn_cast<FunctionProtoType>(function))
    for (const QualType parameter : prototype->param_types()) all += parts_of(parameter) + kSign + ",";
  return all;
}

// The operand that is the pointer.
const Expr* moved(const BinaryOperator* sum) { return sum->getLHS()->getType()->isPointerType() ? sum->getLHS() : sum->getRHS(); }

const ParmVarDecl* parameter_of(const Expr* e) {
  const auto* named = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
  const auto* parameter = named == nullptr ? nullptr : dyn_cast<ParmVarDecl>(named->getDecl());
  return parameter != nullptr && parameter->getType()->isVoidPointerType() ? parameter : nullptr;
}

// Of the parameters that are pointers to anything.
class ParameterVisitor : public Visitor {
 public:
  ParameterVisitor(const Unit& unit, HandleFacts* facts) : unit_(unit), facts_(*facts) {}

  bool VisitDeclaratorDecl(DeclaratorDecl* declared) override {
    const auto* const function = dyn_cast<FunctionDecl>(declared);
    if ((function != nullptr || isa<VarDecl>(declared)) && declared->isExternallyVisible()) facts_.declared.emplace(declared->getName().str(), parts_of(declared->getType()));
    if (function == nullptr || !function->doesThisDeclarationHaveABody()) return true;
    for (const ParmVarDecl* parameter : function->parameters())
      if (parameter->getType()->isVoidPointerType()) facts_.given[place_of(parameter)];
    return true;
  }
  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* const callee = callee_of(call);
    for (unsigned i = 0; callee != nullptr && i < call->getNumArgs(); ++i) {
      const ParmVarDecl* const parameter = parameter_of(call->getArg(i));
      if (parameter == nullptr || !call->getArg(i)->getType()->isVoidPointerType()) continue;
      facts_.given[place_of(parameter)].insert({Program::key_of(unit_, callee), i});
      know(call->getArg(i));
    }
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (both->isEqualityOp() || both->isLogicalOp()) know(both->getLHS()), know(both->getRHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* one) override {
    if (one->getOpcode() == UO_LNot) know(one->getSubExpr());
    return true;
  }
  bool VisitRecordDecl(RecordDecl* record) override {
    if (record->isCompleteDefinition() && types_.mentioned(QualType(record->getTypeForDecl(), 0))) facts_.structs.insert(name_of(record));
    return true;
  }
  bool VisitIfStmt(IfStmt* choice) override { return know(choice->getCond()), true; }
  bool VisitConditionalOperator(ConditionalOperator* choice) override { return know(choice->getCond()), true; }
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    const ParmVarDecl* const parameter = parameter_of(e);
    if (parameter != nullptr && !known_.contains(e)) facts_.used.insert(place_of(parameter));
    return true;
  }

 private:
  void know(const Expr* e) { known_.insert(e->IgnoreParenCasts()); }
  ParameterKey place_of(const ParmVarDecl* parameter) const {
    const auto* const function = dyn_cast<FunctionDecl>(parameter->getDeclContext());
    return {function == nullptr ? "" : Program::key_of(unit_, function), parameter->getFunctionScopeIndex()};
  }

  const Unit& unit_;
  HandleFacts& facts_;
  const std::set<std::string> none_;
  HandleTypes types_{none_};
  std::set<const Expr*> known_;
};

// Goes over all that a file does with values. What is not known to leave handles where they are, does not.
class Flow {
 public:
  Flow(const Unit& unit, const Program& program, const std::set<const Expr*>& told) : unit_(unit), program_(program), told_(told), types_(program.structs_of_handles()) {}

  void look_at(const Decl* declared) {
    if (const auto* variable = dyn_cast<VarDecl>(declared)) {
      if (variable->getInit() != nullptr) become(variable->getInit(), variable->getType()), look_into(variable->getInit());
    } else if (const auto* record = dyn_cast<RecordDecl>(declared)) {
      look_at_record(record);
    } else if (const auto* function = dyn_cast<FunctionDecl>(declared); function != nullptr && function->doesThisDeclarationHaveABody()) {
      function_ = function;
      for (const Decl* inner : function->decls())
        if (isa<RecordDecl>(inner)) look_at_record(cast<RecordDecl>(inner));
      look_into(function->getBody());
    }
  }

  const HandlesLeave& where() const { return where_; }

 private:
  // Who has a pointer to a struct that leads to a handle by another one has not got its bytes.
  void leave(const Expr* e) {
    const QualType type = type_of(e), element = element_of(type), seen = element.isNull() ? type : element;
    where_.join({unit_.place(e->getBeginLoc()), seen->isFunctionType() || is_here(seen)});
  }

  // A pointer in one that is read as another leads to what nobody has said.
  void look_at_record(const RecordDecl* record) {
    record = record->getDefinition();
    if (record == nullptr) return;
    if (is_packed(record)) where_.join({unit_.place(record->getLocation()), true});
    if (!record->isUnion() || record->field_empty()) return;
    const QualType first = record->field_begin()->getType();
    for (const FieldDecl* field : record->fields())
      if ((types_.mentioned(field->getType()) || types_.mentioned(first)) && !are_same(field->getType(), first))
        where_.join({unit_.place(record->getLocation()), is_here(QualType(record->getTypeForDecl(), 0))});
  }

  // Whether a handle may lie there where no integer does.
  bool is_packed(const RecordDecl* record) const {
    const ASTContext& context = unit_.context();
    const uint64_t size = context.getTypeSize(context.IntTy);
    const QualType whole(record->getTypeForDecl(), 0);
    return is_here(whole) && (context.getTypeAlign(whole) < size || std::any_of(record->field_begin(), record->field_end(), [&](const FieldDecl* field) {
             return is_here(field->getType()) && context.getFieldOffset(field) % size != 0;
           }));
  }

  // The expressions one of which is the value.
  template <class F>
  void each_source(const Expr* e, F visit) const {
    e = e->IgnoreParenImpCasts();
    if (const auto* either = dyn_cast<ConditionalOperator>(e)) {
      each_source(either->getTrueExpr(), visit);
      each_source(either->getFalseExpr(), visit);
    } else if (const auto* or_else = dyn_cast<BinaryConditionalOperator>(e)) {
      each_source(or_else->getCommon(), visit);
      each_source(or_else->getFalseExpr(), visit);
    } else if (const auto* both = dyn_cast<BinaryOperator>(e); both != nullptr && both->getOpcode() == BO_Comma) {
      each_source(both->getRHS(), visit);
    } else if (const auto* block = dyn_cast<StmtExpr>(e); block != nullptr && !block->getSubStmt()->body_empty() && isa<Expr>(block->getSubStmt()->body_back())) {
      each_source(cast<Expr>(block->getSubStmt()->body_back()), visit);
    } else if (const auto* chosen = dyn_cast<GenericSelectionExpr>(e); chosen != nullptr && !chosen->isResultDependent()) {
      each_source(chosen->getResultExpr(), visit);
    } else {
      visit(e);
    }
  }

  static QualType type_of(const Expr* e) {
    const auto* both = dyn_cast<BinaryOperator>(e);
    return both != nullptr && both->getOpcode() == BO_Assign ? both->getLHS()->getType() : e->getType();
  }

  bool is_mentioned(const Expr* e) {
    bool is = false;
    each_source(e, [&](const Expr* source) { is |= types_.mentioned(type_of(source)); });
    return is;
  }

  // What ELC_Program_as is told of: of p = q = malloc(size) that is the call.
  bool is_told(const Expr* e) const {
    for (;;) {
      e = e->IgnoreParenCasts();
      if (told_.contains(e)) return true;
      const auto* both = dyn_cast<BinaryOperator>(e);
      if (both == nullptr || both->getOpcode() != BO_Assign) return false;
      e = both->getRHS();
    }
  }

  void become(const Expr* e, QualType to) {
    each_source(e, [&](const Expr* source) { become_of(source, to); });
  }

  void become_of(const Expr* e, QualType to) {
    if (const auto* list = dyn_cast<InitListExpr>(e)) {
      if (!list->isSemanticForm() && list->getSemanticForm() != nullptr) list = list->getSemanticForm();
      const RecordDecl* const record = to->getAsRecordDecl();
      if (record != nullptr && record->isUnion()) {
        if (list->getNumInits() > 0 && list->getInitializedFieldInUnion() != nullptr) become(list->getInit(0), list->getInitializedFieldInUnion()->getType());
        return;
      }
      std::vector<QualType> members;
      if (record != nullptr)
        for (const FieldDecl* field : record->getDefinition()->fields())
          if (!field->isUnnamedBitfield()) members.push_back(field->getType());
      const QualType element = element_of(to).isNull() ? to : element_of(to);
      for (unsigned i = 0; i < list->getNumInits(); ++i) become(list->getInit(i), i < members.size() ? members[i] : element);
      return;
    }
    if (isa<ImplicitValueInitExpr>(e) || isa<NoInitExpr>(e)) return;
    const QualType from = type_of(e);
    if (to->isVoidType() || to->isBooleanType() || !(types_.mentioned(from) || types_.mentioned(to)) || are_same(from, to)) return;
    if (from->isFunctionType() && to->isPointerType() && are_same(from, to->getPointeeType())) return;
    Expr::EvalResult number;
    if (e->isNullPointerConstant(unit_.context(), Expr::NPC_ValueDependentIsNull) != Expr::NPCK_NotNull || (e->getType()->isIntegerType() && e->EvaluateAsInt(number, unit_.context()))) return;
    if (stays_in_its_memory(e, to)) return pass_all(e);
    if (!(types_.mentioned(to) && to->isPointerType() && is_told(e))) leave(e);
  }

  // Casts in the beginning of an expression that say nothing.
  const Expr* pass(const Expr* e) {
    for (e = e->IgnoreParenImpCasts(); isa<CStyleCastExpr>(e); e = cast<CStyleCastExpr>(e)->getSubExpr()->IgnoreParenImpCasts()) passed_.insert(e);
    return e;
  }

  // The casts on the way to what it is of.
  void pass_all(const Expr* e) {
    for (const auto* sum = dyn_cast<BinaryOperator>(pass(e)); sum != nullptr && sum->isAdditiveOp() && sum->getType()->isPointerType();)
      sum = dyn_cast<BinaryOperator>(pass(moved(sum)));
  }

  void call(const CallExpr* e) {
    const FunctionDecl* const callee = callee_of(e);
    const std::string name = callee == nullptr ? "" : callee->getName().str();
    const QualType type = e->getCallee()->getType();
    const auto* const prototype = (type->isPointerType() ? type->getPointeeType() : type)->getAs<FunctionProtoType>();
    if (is_mpi(name) && (name.ends_with("_c2f") || name.ends_with("_toint")) && e->getNumArgs() > 0) leave(e->getArg(0)->IgnoreParenImpCasts());
    for (unsigned i = 0; i < e->getNumArgs(); ++i) {
      const Expr* const given = e->getArg(i);
      const bool is_own = callee != nullptr && program_.defines(unit_, callee);
      if (callee != nullptr && (is_own ? program_.only_frees(Program::key_of(unit_, callee), i) : only_frees_argument(name, i))) {
        pass(given);
        continue;
      }
      if (!is_own && copies_alike(e, name, i)) continue;
      if (prototype != nullptr && i < prototype->getNumParams()) become(given, prototype->getParamType(i));
      else if (is_mentioned(given)) leave(given);
    }
  }

  // memcpy() from what has a type to what has the same.
  bool copies_alike(const CallExpr* e, const std::string& name, unsigned argument) const {
    static const std::set<std::string> all = {"memcpy", "memmove", "__builtin_memcpy", "__builtin_memmove"};
    return argument < 2 && all.contains(name) && e->getNumArgs() > 1 && are_same(e->getArg(1)->IgnoreParenImpCasts()->getType(), e->getArg(0)->IgnoreParenImpCasts()->getType());
  }

  // Whether the value of an operand stays what it is, or says nothing but whether it is another.
  static bool is_harmless(const Stmt* of, const Expr* operand) {
    const bool is_pointer = !is_handle(type_of(operand)) && (operand->getType()->isPointerType() || operand->getType()->isArrayType() || operand->getType()->isFunctionType());
    if (isa<ParenExpr, ImplicitCastExpr, MemberExpr, StmtExpr, CompoundLiteralExpr, InitListExpr, ConditionalOperator, BinaryConditionalOperator, OpaqueValueExpr, GenericSelectionExpr>(of)) return true;
    if (isa<CStyleCastExpr, CallExpr, DesignatedInitExpr, VAArgExpr>(of)) return true;  // seen as a whole
    if (isa<ArraySubscriptExpr>(of)) return is_pointer;
    if (const auto* one = dyn_cast<UnaryOperator>(of)) return one->getOpcode() == UO_AddrOf || one->getOpcode() == UO_Deref || one->getOpcode() == UO_LNot || one->getOpcode() == UO_Extension || (one->isIncrementDecrementOp() && is_pointer);
    if (const auto* both = dyn_cast<BinaryOperator>(of)) return both->isComparisonOp() || both->isLogicalOp() || both->getOpcode() == BO_Assign || both->getOpcode() == BO_Comma || is_pointer;
    return !isa<Expr>(of) && !isa<SwitchStmt, AsmStmt>(of);
  }

  void look_into(const Stmt* s) {
    if (s == nullptr || isa<UnaryExprOrTypeTraitExpr>(s)) return;
    if (const auto* region = dyn_cast<CapturedStmt>(s)) return look_into(region->getCapturedStmt());  // of a directive of OpenMP
    if (const auto* both = dyn_cast<BinaryOperator>(s); both != nullptr && both->getOpcode() == BO_Assign) become(both->getRHS(), both->getLHS()->getType());
    else if (both != nullptr && both->getLHS()->getType()->isPointerType() && both->getRHS()->getType()->isPointerType() && (both->isComparisonOp() || both->getOpcode() == BO_Sub)) pass(both->getLHS()), pass(both->getRHS());
    else if (const auto* cast = dyn_cast<CStyleCastExpr>(s); cast != nullptr && !passed_.contains(cast)) become(cast->getSubExpr(), cast->getTypeAsWritten());
    else if (const auto* literal = dyn_cast<CompoundLiteralExpr>(s)) become(literal->getInitializer(), literal->getType());
    else if (const auto* returned = dyn_cast<ReturnStmt>(s); returned != nullptr && returned->getRetValue() != nullptr) become(returned->getRetValue(), function_->getReturnType());
    else if (const auto* argument = dyn_cast<VAArgExpr>(s); argument != nullptr && types_.mentioned(argument->getType())) leave(argument);
    else if (const auto* given = dyn_cast<CallExpr>(s)) call(given);
    else if (const auto* declared = dyn_cast<DeclStmt>(s))
      for (const Decl* d : declared->decls())
        if (const auto* variable = dyn_cast<VarDecl>(d); variable != nullptr && variable->getInit() != nullptr) become(variable->getInit(), variable->getType());
    for (const Stmt* child : s->children()) {
      const auto* const e = dyn_cast_or_null<Expr>(child);
      if (e != nullptr && is_mentioned(e) && !is_harmless(s, e->IgnoreParenImpCasts())) leave(e);
      look_into(child);
    }
  }

  const Unit& unit_;
  const Program& program_;
  const std::set<const Expr*>& told_;
  HandleTypes types_;
  std::set<const Expr*> passed_;  // casts
  const FunctionDecl* function_ = nullptr;
  HandlesLeave where_;
};

}  // namespace

bool HandleTypes::find(QualType type, std::set<const RecordDecl*>* seen) {
  if (is_handle(type)) return true;
  if (const QualType element = element_of(type); !element.isNull()) return find(element, seen);
  if (const auto* function = type->getAs<FunctionType>()) {
    const auto* prototype = dyn_cast<FunctionProtoType>(function);
    const auto parameters = prototype == nullptr ? ArrayRef<QualType>() : prototype->getParamTypes();
    return find(function->getReturnType(), seen) || std::any_of(parameters.begin(), parameters.end(), [&](QualType p) { return find(p, seen); });
  }
  const RecordDecl* record = type->getAsRecordDecl();
  if (record == nullptr) return false;
  if (record->getDefinition() == nullptr) return named_.contains(name_of(record));
  record = record->getDefinition();
  if (const auto known = known_.find(record); known != known_.end()) return known->second;
  const bool is = seen->insert(record).second && std::any_of(record->field_begin(), record->field_end(), [&](const FieldDecl* field) { return find(field->getType(), seen); });
  if (is) known_[record] = true;
  return is;
}

bool HandleTypes::mentioned(QualType type) {
  std::set<const RecordDecl*> seen;
  if (find(type, &seen)) return true;
  for (const RecordDecl* record : seen) known_[record] = false;  // not before: in a circle the one waits for the other
  return false;
}

bool stays_in_its_memory(const Expr* e, QualType to) {
  e = e->IgnoreParenCasts();
  for (const auto* sum = dyn_cast<BinaryOperator>(e); sum != nullptr && sum->isAdditiveOp() && sum->getType()->isPointerType(); sum = dyn_cast<BinaryOperator>(e)) e = moved(sum)->IgnoreParenCasts();
  return to->isPointerType() && e->getType()->isPointerType() && are_same(e->getType(), to);
}

bool only_frees_argument(const std::string& function, unsigned argument) {
  static const std::set<std::string> printing = {"printf", "fprintf", "sprintf", "snprintf"};
  static const std::set<std::pair<std::string, unsigned>> others = {{"free", 0}, {"realloc", 0}, {"memset", 0}, {"MPI_Get_address", 0}, {"MPI_Address", 0}};
  return printing.contains(function) || others.contains({function, argument});
}

HandleFacts handle_facts(const Unit& unit) {
  HandleFacts facts;
  ParameterVisitor visitor(unit, &facts);
  for (Decl* d : unit.context().getTranslationUnitDecl()->decls())
    if (!unit.in_system_header(d->getLocation())) visitor.TraverseDecl(d);
  return facts;
}

bool speaks_of_handles(const std::string& declared, const std::set<std::string>& structs) {
  for (size_t at = 0; (at = declared.find(kSign, at)) != std::string::npos;) {
    const size_t end = declared.find_first_of("@*", ++at);
    const std::string name = declared.substr(at, end == std::string::npos ? end : end - at);
    if (name.starts_with("MPI_") || structs.contains(name)) return true;
  }
  return false;
}

HandlesLeave where_handles_leave(const Unit& unit, const Program& program, const std::set<const Expr*>& told) {
  Flow flow(unit, program, told);
  for (const Decl* d : unit.context().getTranslationUnitDecl()->decls())
    if (!unit.in_system_header(d->getLocation())) flow.look_at(d);
  return flow.where();
}

}  // namespace elc::cc
