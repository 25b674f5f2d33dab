#include "cc/function.h"

#include <algorithm>
#include <iterator>

#include "cc/visitor.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclOpenMP.h"
#include "clang/AST/ExprOpenMP.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/StmtOpenMP.h"
#include "llvm/Support/xxhash.h"

namespace elc::cc {

using namespace clang;

namespace {

bool is_scalar(QualType type) { return (type->isScalarType() || type->isAnyComplexType()) && !type.isVolatileQualified(); }

bool is_characters(QualType type) { return type->isArrayType() && type->getBaseElementTypeUnsafe()->isAnyCharacterType(); }

// Before it is used: what holds addresses, or is looked at for such that it should not hold; and what costs little, because what was
// there before may be no value of a narrower machine.
bool is_zeroed(ASTContext& context, QualType type) {
  constexpr int64_t kLittle = 4096;
  const QualType element = context.getBaseElementType(type);
  const bool may_be_address = element->isIntegerType() && context.getTypeSize(element) == context.getTypeSize(context.VoidPtrTy);
  return element->isRecordType() || element->isPointerType() || may_be_address || is_characters(type) ||
         context.getTypeSizeInChars(type).getQuantity() <= kLittle;
}

// What is not evaluated has no labels.
bool is_unevaluated(const Stmt* s) { return isa<UnaryExprOrTypeTraitExpr>(s) || isa<OffsetOfExpr>(s); }

// The variable whose memory an lvalue is part of, without a pointer between.
const VarDecl* variable_of(const Expr* e) {
  for (;;) {
    e = e->IgnoreParens();
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) return dyn_cast<VarDecl>(reference->getDecl());
    if (const auto* member = dyn_cast<MemberExpr>(e); member != nullptr && !member->isArrow()) {
      e = member->getBase();
    } else if (const auto* subscript = dyn_cast<ArraySubscriptExpr>(e)) {
      const Expr* base = subscript->getBase()->IgnoreParens();
      const auto* decay = dyn_cast<ImplicitCastExpr>(base);
      if (decay == nullptr || decay->getCastKind() != CK_ArrayToPointerDecay) return nullptr;
      e = decay->getSubExpr();
    } else if (const auto* part = dyn_cast<UnaryOperator>(e); part != nullptr && (part->getOpcode() == UO_Real || part->getOpcode() == UO_Imag)) {
      e = part->getSubExpr();
    } else {
      return nullptr;
    }
  }
}

bool has_union(QualType type) {
  const auto* const record = type->getBaseElementTypeUnsafe()->getAs<RecordType>();
  if (record == nullptr) return false;
  const auto has = [](const FieldDecl* field) { return has_union(field->getType()); };
  return record->isUnionType() || std::any_of(record->getDecl()->field_begin(), record->getDecl()->field_end(), has);
}

bool returns(const Stmt* s) {
  if (s == nullptr || isa<ReturnStmt>(s)) return s != nullptr;
  for (const Stmt* child : s->children())
    if (returns(child)) return true;
  return false;
}

}  // namespace

// What has to be known of a body before it is written: whose address is taken, what is assigned, what is refused.
class BodyVisitor : public Visitor {
 public:
  explicit BodyVisitor(Function& f) : f_(f) {}

  bool VisitUnaryOperator(UnaryOperator* op) override {
    const VarDecl* variable = variable_of(op->getSubExpr());
    if (variable != nullptr && op->getOpcode() == UO_AddrOf) f_.address_taken_.insert(variable->getCanonicalDecl());
    if (variable != nullptr && op->isIncrementDecrementOp()) f_.assigned_.insert(variable->getCanonicalDecl());
    if (op->getOpcode() == UO_AddrOf && op->getSubExpr()->getType()->isArrayType()) f_.measured_.insert(array_of(op->getSubExpr()));
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* op) override {
    const bool is_arithmetic = !op->isComparisonOp() && op->getOpcode() != BO_Assign && op->getOpcode() != BO_Comma;
    f_.computes_ |= is_arithmetic && (op->getType()->hasFloatingRepresentation() || op->getRHS()->getType()->hasFloatingRepresentation());
    if (!op->isAssignmentOp()) return true;
    if (const VarDecl* variable = variable_of(op->getLHS())) f_.assigned_.insert(variable->getCanonicalDecl());
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr* cast) override {
    if (cast->getCastKind() == CK_LValueToRValue) values_.insert(cast->getSubExpr()->IgnoreParens());
    return true;
  }
  // A literal lives as long as its block, and may be led to all that time; but for what is only read, or given to the C library.
  bool VisitCompoundLiteralExpr(CompoundLiteralExpr* e) override {
    const bool is_pure = !e->HasSideEffects(f_.unit_.context()) && !f_.has_label(e);
    const bool is_written = e->getLParenLoc().isValid();  // else clang has made it, of an argument that is a transparent union
    const bool lasts = is_written && !e->isFileScope() && !values_.contains(e) && !(fine_.contains(e) && is_pure);
    if (lasts && directives_ == 0 && f_.has_label(block_)) f_.literals_[block_].push_back({e, 0});
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr* e) override {
    QualType type = e->getDecl()->getType();
    while (const auto* pointer = dyn_cast<PointerType>(type)) type = pointer->getPointeeType();
    if (is_argument_list(type) && !ended_.contains(e)) see_arguments(e);
    return true;
  }
  // One without an instruction is for the compiler alone.
  bool VisitAsmStmt(AsmStmt* statement) override {
    const auto* gcc = dyn_cast<GCCAsmStmt>(statement);
    if (gcc == nullptr || gcc->isAsmGoto() || !gcc->getAsmString()->getString().trim().empty())
      f_.refuse(static_cast<Stmt*>(statement)->getBeginLoc(), "inline assembly may have a state that lines do not know");
    for (unsigned i = 0; gcc != nullptr && i < gcc->getNumOutputs(); ++i)
      if (const VarDecl* variable = variable_of(gcc->getOutputExpr(i))) f_.assigned_.insert(variable->getCanonicalDecl());
    return true;
  }
  bool VisitAddrLabelExpr(AddrLabelExpr* e) override {
    f_.refuse(e->getBeginLoc(), "a computed goto");
    return true;
  }
  bool VisitGenericSelectionExpr(GenericSelectionExpr* e) override {
    if (f_.has_label(e)) f_.refuse(e->getBeginLoc(), "a call that can reach MPI in a _Generic");
    return true;
  }
  bool VisitVAArgExpr(VAArgExpr* e) override { return see_arguments(e), true; }
  bool VisitPredefinedExpr(PredefinedExpr*) override { return f_.names_itself_ = true, true; }
  bool VisitGotoStmt(GotoStmt*) override { return f_.has_jumps_ = true, true; }
  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* callee = callee_of(call);
    const auto is_rounded = [](const Expr* e) { return e->getType()->hasFloatingRepresentation() || e->IgnoreParenImpCasts()->getType()->hasFloatingRepresentation(); };
    f_.computes_ |= is_rounded(call) || std::any_of(call->arg_begin(), call->arg_end(), is_rounded);
    if (callee == nullptr) return true;
    // Those of <tgmath.h>, of which clang does not know what they return.
    if (callee->isImplicit() && callee->getBuiltinID() == 0 && callee->getName().startswith("__builtin_") && f_.has_label(around(call)))
      f_.refuse(call->getBeginLoc(), callee->getName().str() + "(), and calls that can reach MPI in one statement: put its value into a variable");
    if (!f_.module_.program().defines(f_.unit_, callee) && !callee->getName().startswith("MPI_") && !call->getType()->isPointerType())
      for (const Expr* argument : call->arguments()) mark(argument);
    const std::string name = callee->getName().str();
    if (is_setjmp(name)) f_.refuse(call->getBeginLoc(), name + "(): a restart cannot set the place to which longjmp goes");
    if (name == "__builtin_va_end") {  // which does nothing, and does not see what was started
      for (const Expr* argument : call->arguments()) ended_.insert(argument->IgnoreParenImpCasts());
    } else if (name.starts_with("__builtin_va_")) {
      see_arguments(call);
    }
    if (is_alloca(name)) {
      f_.uses_alloca_ = true;
      const Expr* const called = call->getCallee();
      f_.module_.edits().replace(f_.unit_.begin_of(called->getBeginLoc()), f_.unit_.end_of(called->getEndLoc()), "ELC_Program_alloca(&elc_a)");
    } else if (name.starts_with("__builtin_alloca")) {
      f_.refuse(call->getBeginLoc(), "the memory of " + name + "() cannot be part of lines: use malloc");
    }
    return true;
  }
  // What a directive of OpenMP makes for each thread is of the variable's type.
  bool VisitOMPExecutableDirective(OMPExecutableDirective* directive) override {
    for (const OMPClause* clause : directive->clauses()) {
      for (const Stmt* child : const_cast<OMPClause*>(clause)->children()) {
        const auto* e = dyn_cast_or_null<Expr>(child);
        while (e != nullptr && isa<OMPArraySectionExpr>(e->IgnoreParenImpCasts())) e = cast<OMPArraySectionExpr>(e->IgnoreParenImpCasts())->getBase();
        if (e == nullptr) continue;
        f_.named_.insert(variable_of(e->IgnoreParenImpCasts()));
        if (clause->getClauseKind() != llvm::omp::OMPC_shared) f_.measured_.insert(variable_of(e->IgnoreParenImpCasts()));
      }
    }
    f_.has_tasks_ |= isOpenMPTaskingDirective(directive->getDirectiveKind());
    f_.has_directives_ = true;
    return true;
  }
  bool TraverseCompoundStmt(CompoundStmt* block) override {
    const Stmt* const outer = block_;
    block_ = block;
    const bool all = Visitor::TraverseCompoundStmt(block);
    block_ = outer;
    return all;
  }
  bool VisitUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr* e) override {
    if (e->isArgumentType()) return true;
    f_.measured_.insert(variable_of(e->getArgumentExpr()));
    values_.insert(e->getArgumentExpr()->IgnoreParens());
    return true;
  }

  bool dataTraverseStmtPre(Stmt* statement) override {
    if (isa<ForStmt, WhileStmt, DoStmt>(statement)) loops_.push_back(statement);
    if (isa<OMPExecutableDirective>(statement)) ++directives_;
    return true;
  }
  bool dataTraverseStmtPost(Stmt* statement) override {
    if (!loops_.empty() && loops_.back() == statement) loops_.pop_back();
    if (isa<OMPExecutableDirective>(statement)) --directives_;
    return true;
  }

 private:
  void see_arguments(const Stmt* s) {
    const SourceLocation at = s->getBeginLoc();
    if (!f_.last_argument_.isValid() || f_.unit_.begin_of(f_.last_argument_) < f_.unit_.begin_of(at)) f_.last_argument_ = at;
    f_.loops_with_arguments_.insert(loops_.begin(), loops_.end());
  }
  // The variable of which it is the whole, or what some subscripts say.
  static const VarDecl* array_of(const Expr* e) {
    for (e = e->IgnoreParens(); const auto* subscript = dyn_cast<ArraySubscriptExpr>(e);) e = subscript->getBase()->IgnoreParenImpCasts();
    const auto* reference = dyn_cast<DeclRefExpr>(e);
    return reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
  }
  // The whole expression.
  const Stmt* around(const Expr* e) const {
    DynTypedNode node = DynTypedNode::create(*e);
    const Stmt* whole = e;
    for (;;) {
      const auto parents = f_.unit_.context().getParents(node);
      if (parents.size() != 1 || (parents[0].get<Expr>() == nullptr && parents[0].get<VarDecl>() == nullptr && parents[0].get<DeclStmt>() == nullptr)) return whole;
      node = parents[0];
      if (const auto* const outer = node.get<Stmt>()) whole = outer;
    }
  }
  // What is given to a call that comes back before the next line.
  void mark(const Expr* e) {
    for (;;) {
      e = e->IgnoreParens();
      fine_.insert(e);
      const auto* at = dyn_cast<UnaryOperator>(e);
      if (const auto* cast = dyn_cast<CastExpr>(e)) e = cast->getSubExpr();
      else if (at != nullptr && at->getOpcode() == UO_AddrOf) e = at->getSubExpr();
      else return;
    }
  }

  Function& f_;
  const Stmt* block_ = nullptr;
  int directives_ = 0;  // of OpenMP, around what is seen
  std::set<const Expr*> fine_, values_, ended_;
  std::vector<const Stmt*> loops_;  // around what is seen
};

// Returns leave the frame. Those with a label in them are written anew.
class ReturnVisitor : public Visitor {
 public:
  explicit ReturnVisitor(Function& f) : f_(f) {}

  bool VisitReturnStmt(ReturnStmt* statement) override {
    if (f_.has_label(statement)) return true;
    const size_t begin = f_.unit_.begin_of(statement->getBeginLoc()), end = f_.end_of(statement);
    Edits& edits = f_.module_.edits();
    if (f_.arrays_.empty() || statement->getRetValue() == nullptr) {
      edits.wrap(begin, end, "{ " + f_.leave(), " }");
    } else if (statement->getRetValue()->getType()->isVoidType()) {
      edits.wrap(begin, end, "{ ", " " + f_.leave() + "return; }");
      edits.replace(begin, begin + std::string("return").size(), "");
    } else {
      // The value may be in memory that goes with the frame.
      edits.wrap(begin, end, "{ " + f_.module_.declaration(f_.function_->getReturnType().getUnqualifiedType(), "elc_x", statement->getBeginLoc()) + " = ",
                 " " + f_.leave() + "return elc_x; }");
      edits.replace(begin, begin + std::string("return").size(), "");
      const Expr* const value = statement->getRetValue();
      if (is_comma(value)) edits.wrap(f_.unit_.begin_of(value->getBeginLoc()), f_.unit_.end_of(value->getEndLoc()), "(", ")");
    }
    return true;
  }

 private:
  Function& f_;
};

// ---- Analysis ----

Function::Function(Module& module, const FunctionDecl* function) : module_(module), unit_(module.unit()), function_(function) {
  labelled_[function->getBody()] = true;  // main may have none
  const Stmt* body = function->getBody();
  const std::string inside = unit_.text().substr(unit_.begin_of(body->getBeginLoc()), unit_.end_of(body->getEndLoc()) - unit_.begin_of(body->getBeginLoc()));
  if (inside.find("#pragma pack") != std::string::npos) refuse(function->getLocation(), "#pragma pack in a function");
  has_typeof_ = inside.find("typeof") != std::string::npos;
  if (inside.find("__label__") != std::string::npos) refuse(function->getLocation(), "labels of blocks (__label__)");
  BodyVisitor(*this).TraverseStmt(function->getBody());
  if (last_argument_.isValid() && wants_arguments_late(function->getBody())) {
    const std::string what = "variable arguments (" + unit_.place(last_argument_) + ") are wanted after a call that can reach MPI";
    // By its name alone a line knows that it is on the stack.
    if (uses_alloca_ || function->isMain() || module.program().is_address_taken(unit_, function)) refuse(function->getLocation(), what);
    else module.warn(function->getLocation(), "no line is taken in " + function->getName().str() + "(): " + what);
    is_left_alone_ = true;
    return;
  }
  if (last_argument_.isValid() && module.program().everywhere()) refuse(last_argument_, "variable arguments are wanted after a line that is taken everywhere");
  if (uses_alloca_ && has_directives_) refuse(function->getLocation(), "alloca() and directives of OpenMP: use malloc");
  for (const ParmVarDecl* parameter : function->parameters()) {
    if (parameter->getName().empty()) continue;
    names_.insert(parameter->getName().str());
    Variable v;
    v.name = v.shown = parameter->getName().str();
    v.type = parameter->getType();
    if (const auto* decayed = v.type->getAs<DecayedType>()) v.type = decayed->getDecayedType();
    v.is_parameter = true;
    v.declared = parameter;
    v.in_place = !is_scalar(v.type) || address_taken_.contains(parameter);
    v.is_changed = assigned_.contains(parameter);
    if (v.type->isVariablyModifiedType()) {
      change_array(parameter, &v);
    } else if (v.type.isConstQualified() || (v.in_place && parameter->getStorageClass() == SC_Register) || !module_.alignment(parameter).empty()) {
      // A restart has to set it, by its address, which may have to be that of a variable.
      v.name = free_variable(v.name);
      v.type = v.type.getUnqualifiedType();
      copies_ += module_.declaration(v.type, v.name, parameter->getLocation()) + module_.alignment(parameter) + " = " + v.shown + "; ";
      names_.insert(v.name);
    }
    moved_[parameter] = add(v);
    push_scope(moved_[parameter]);
  }
  if (uses_alloca_) {
    Variable memory;
    memory.name = "elc_a";
    memory.shown = "memory of alloca";
    memory.type = unit_.context().VoidPtrTy;
    memory.in_place = true;
    scope_.push_back(add(memory));
    arrays_.push_back("ELC_Program_leave(&elc_a)");
  }
  find_declared(function->getBody());
  find_moved(function->getBody());
  move_literals();
  enters_late_ = enters_for_calls();
  ReturnVisitor(*this).TraverseStmt(function->getBody());
  struct Renamer : Visitor {
    Function& f;
    explicit Renamer(Function& function) : f(function) {}
    bool VisitDeclRefExpr(DeclRefExpr* e) override {
      const auto* variable = dyn_cast<VarDecl>(e->getDecl());
      const auto known = variable == nullptr ? f.moved_.end() : f.moved_.find(variable->getCanonicalDecl());
      if (known == f.moved_.end()) return true;
      Variable& v = f.variables_[known->second];
      v.named.push_back(f.unit_.begin_of(e->getLocation()));
      const std::string& used = v.used.empty() ? v.name : v.used;
      // What clang makes for directives of OpenMP names variables where the program does not.
      if (used != variable->getName() && f.unit_.names(e)) f.module_.edits().replace(f.unit_.begin_of(e->getLocation()), f.unit_.end_of(e->getLocation()), used);
      return true;
    }
  };
  Renamer(*this).TraverseStmt(function->getBody());
}

Function::Call Function::kind_of(const CallExpr* call) const {
  const FunctionDecl* callee = callee_of(call);
  if (callee == nullptr) return module_.program().may_reach_site(call) ? Call::kInstrumented : Call::kPlain;
  if (module_.program().reaches_site(unit_, callee)) return Call::kInstrumented;
  return is_site(callee->getName().str()) ? Call::kSite : Call::kPlain;
}

bool Function::has_label(const Stmt* s) const {
  if (s == nullptr || is_unevaluated(s)) return false;
  const auto known = labelled_.find(s);
  if (known != labelled_.end()) return known->second;
  bool has = false;
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    if (call->isUnevaluatedBuiltinCall(unit_.context())) return labelled_[s] = false;  // __builtin_constant_p and its like
    has = kind_of(call) != Call::kPlain;
  }
  for (const Stmt* child : s->children()) has |= has_label(child);
  return labelled_[s] = has;
}

// What blocks declare of the file's, which is declared at the beginning, too: nothing else may have its name there.
void Function::find_declared(const Stmt* s) {
  if (s == nullptr) return;
  if (const auto* declaration = dyn_cast<DeclStmt>(s))
    for (const Decl* d : declaration->decls()) {
      const auto* variable = dyn_cast<VarDecl>(d);
      if (!isa<FunctionDecl>(d) && (variable == nullptr || !variable->hasExternalStorage())) continue;
      const std::string name = cast<NamedDecl>(d)->getName().str();
      names_.insert(name);
      for (const ParmVarDecl* parameter : function_->parameters())
        if (parameter->getName() == name) refuse(d->getLocation(), "'" + name + "' is declared in a block, and a parameter has the same name: give that another one");
    }
  for (const Stmt* child : s->children()) find_declared(child);
}

// Variables of blocks with labels move to the beginning of the function.
void Function::find_moved(const Stmt* s) {
  if (s == nullptr || !has_label(s)) return;
  for (const Stmt* child : s->children()) {
    if (const auto* declaration = dyn_cast_or_null<DeclStmt>(child)) move(declaration);
    find_moved(child);  // blocks in the expressions of a declaration, too
  }
}

void Function::move(const DeclStmt* statement) {
  module_.lift(statement);
  for (const Decl* d : statement->decls()) {
    if (isa<OMPDeclareReductionDecl, OMPDeclareMapperDecl, OMPAllocateDecl>(d)) refuse(d->getLocation(), "a declaration of OpenMP: put it outside of functions");
    const auto* variable = dyn_cast<VarDecl>(d);
    if (variable == nullptr || !variable->hasLocalStorage()) continue;
    if (is_argument_list(variable->getType())) {
      lists_.insert(variable->getName().str());
      continue;
    }
    Variable v;
    v.shown = variable->getName().str();
    v.name = free_variable(v.shown);
    names_.insert(v.name);
    Qualifiers dropped;
    v.type = unit_.context().getUnqualifiedArrayType(variable->getType(), dropped);
    if (variable->getType().isVolatileQualified()) v.type.addVolatile();
    v.declared = variable;
    v.in_place = !is_scalar(v.type) || address_taken_.contains(variable);
    if (v.type->isVariablyModifiedType()) change_array(variable, &v);
    else set_apart(&v);
    if (variable->hasAttr<CleanupAttr>()) refuse(variable->getLocation(), "'" + v.shown + "' has an attribute cleanup");
    moved_[variable->getCanonicalDecl()] = add(v);
  }
}

void Function::move_literals() {
  for (auto& [block, literals] : literals_) {
    for (Literal& literal : literals) {
      Variable v;
      v.name = free_variable("elc_literal" + std::to_string(next_++));
      v.shown = "a literal";
      Qualifiers dropped;
      v.type = unit_.context().getUnqualifiedArrayType(literal.e->getType(), dropped);
      v.in_place = true;
      names_.insert(v.name);
      module_.lift(v.type);
      set_apart(&v);
      literal.variable = add(v);
      module_.edits().wrap(unit_.begin_of(literal.e->getBeginLoc()), unit_.end_of(literal.e->getEndLoc()), "(*({ __builtin_memcpy((void *)&" + v.itself() + ", &",
                           ", sizeof " + v.itself() + "); &" + v.itself() + "; }))");
    }
  }
}

// No other variable begins where one ends to which pointers may lead: a pointer to there leads to no other one in a line.
void Function::set_apart(Variable* v) const {
  const auto* const record = v->type->getAs<RecordType>();
  v->is_apart = v->in_place && !has_directives_ && (record == nullptr || !record->getDecl()->hasFlexibleArrayMember());
  if (v->is_apart) v->used = v->itself();
}

DeclContext::lookup_result Function::declared_outside(const std::string& name) const {
  ASTContext& context = unit_.context();
  return context.getTranslationUnitDecl()->lookup(DeclarationName(&context.Idents.get(name)));
}

// What moves to the beginning of a function may hide nothing there.
std::string Function::free_variable(const std::string& name) const {
  return free_name(name, [&](const std::string& candidate) { return declared_outside(candidate).empty() && !names_.contains(candidate) && module_.reserve(function_, candidate); });
}

// In a restart a function begins with parameters that are 0: the compiler computes the lengths of rows from these, too.
bool Function::is_plain(const Expr* size) const {
  size = size->IgnoreParenImpCasts();
  const auto* reference = dyn_cast<DeclRefExpr>(size);
  if (size->isEvaluatable(unit_.context()) || (reference != nullptr && isa<VarDecl>(reference->getDecl()))) return true;
  if (const auto* cast = dyn_cast<CStyleCastExpr>(size)) return is_plain(cast->getSubExpr());
  if (const auto* member = dyn_cast<MemberExpr>(size)) return !member->isArrow() && is_plain(member->getBase());
  const auto* both = dyn_cast<BinaryOperator>(size);
  return both != nullptr && (both->isAdditiveOp() || both->getOpcode() == BO_Mul) && is_plain(both->getLHS()) && is_plain(both->getRHS());
}

// An array of variable length becomes a pointer to memory that goes with the frame, or when the declaration is come to again; so does a
// pointer to rows of variable length, since no label can be jumped to in the scope of one. The text has it back as what it was.
void Function::change_array(const VarDecl* variable, Variable* v) {
  const ASTContext& context = unit_.context();
  const bool is_array = v->type->isArrayType();
  QualType rows = v->type;
  std::string stars = "*";
  for (; rows->isPointerType(); rows = rows->getPointeeType()) stars += "*";
  const QualType element = rows->isArrayType() ? context.getBaseElementType(rows) : QualType();
  const bool is_row = is_array && !context.getAsArrayType(rows)->getElementType()->isArrayType();
  const bool is_as_it_was = is_row && !measured_.contains(variable) && !has_typeof_;  // a pointer does as well
  // The length of another was taken at its own declaration; and memory is aligned as malloc does.
  const size_t begin = unit_.begin_of(variable->getBeginLoc());
  const bool is_like_another = unit_.text().substr(begin, unit_.end_of(variable->getLocation()) - begin).find("typeof") != std::string::npos;
  if (is_array && !element.isNull() && (variable->hasAttr<AlignedAttr>() || context.getTypeAlign(element) > 8 * kMallocAlignment))
    return refuse(variable->getLocation(), "'" + v->shown + "', which is of variable length, is aligned by more than malloc does: use posix_memalign");
  if (element.isNull() || element->isVariablyModifiedType() || is_like_another || has_tasks_ || (named_.contains(variable) && !is_as_it_was))
    return refuse(variable->getLocation(), "'" + v->shown + "', which is of variable length, lives while a call can reach MPI: use malloc");
  v->type = element;
  if (is_array) v->type.removeLocalConst();
  for (size_t i = is_array ? 0 : 1; i < stars.size(); ++i) v->type = context.getPointerType(v->type);
  if (is_array) {
    v->in_place = false;
    arrays_.push_back("ELC_Program_array(" + v->name + ", 0, 0, 0, 0)");
  }
  if (v->is_parameter) {
    v->name = free_variable(v->shown);
    names_.insert(v->name);
    copies_ += module_.declaration(v->type, v->name, variable->getLocation()) + " = (void *)" + v->shown + "; ";
  }
  if (is_as_it_was) return;
  std::string text;
  for (QualType rest = rows; const auto* array = context.getAsArrayType(rest); rest = array->getElementType()) {
    if (const auto* fixed = dyn_cast<ConstantArrayType>(array)) {
      text += "[" + std::to_string(fixed->getSize().getZExtValue()) + "]";
      continue;
    }
    Variable extent;
    extent.shown = "extent of " + v->shown;
    extent.name = free_variable("elc_e" + std::to_string(next_++));
    names_.insert(extent.name);
    extent.type = context.getSizeType();
    extent.is_parameter = v->is_parameter;
    extent.is_changed = !v->is_parameter;
    if (v->is_parameter) {
      const auto* open = dyn_cast<VariableArrayType>(array);
      const Expr* const size = open != nullptr ? open->getSizeExpr() : nullptr;
      if (size == nullptr || !is_plain(size))
        return refuse(variable->getLocation(), "the length of the rows of '" + v->shown + "' is more than sums and products of variables");
      const size_t begin = unit_.begin_of(size->getBeginLoc());
      const std::string value = unit_.text().substr(begin, unit_.end_of(size->getEndLoc()) - begin);
      copies_ += module_.declaration(extent.type, extent.name, variable->getLocation()) + " = " + value + "; ";
    }
    text += "[" + extent.name + "]";
    v->extents.push_back(add(extent));
  }
  const bool is_set = address_taken_.contains(variable) || assigned_.contains(variable);
  if (!is_array && !is_set) stars.pop_back();
  const std::string pointer = "(" + module_.declaration(element, "(" + stars + ")" + text, variable->getLocation()) + ")";
  v->used = is_array ? "(*" + pointer + v->name + ")" : is_set ? "(*" + pointer + "&" + v->name + ")" : "(" + pointer + v->name + ")";
}

void Function::push_scope(size_t variable) {
  scope_.push_back(variable);
  const std::vector<size_t>& extents = variables_[variable].extents;
  scope_.insert(scope_.end(), extents.begin(), extents.end());
}

// Variable arguments are gone in a restart: the function has to be done with them when it first calls what can reach MPI.
bool Function::wants_arguments_late(const Stmt* s) const {
  if (s == nullptr || !has_label(s)) return false;
  const auto* call = dyn_cast<CallExpr>(s);
  const bool is_early = call != nullptr && kind_of(call) != Call::kPlain && unit_.begin_of(call->getBeginLoc()) < unit_.begin_of(last_argument_);
  if (!function_->isVariadic() || has_jumps_ || is_early || loops_with_arguments_.contains(s)) return true;
  for (const Stmt* child : s->children())
    if (wants_arguments_late(child)) return true;
  return false;
}

// A function that often returns without a call that has a label does better without a frame then. Of one that pointers lead to, or that
// may be called in another way than by its name, a line could not tell that it is missing.
bool Function::enters_for_calls() {
  const Program& program = module_.program();
  if (function_->isMain() || function_->isVariadic() || program.is_address_taken(unit_, function_) || program.is_handler(unit_, function_)) return false;
  if (uses_alloca_ || has_directives_ || has_jumps_ || !arrays_.empty()) return false;
  count_labels(function_->getBody(), false, true);
  return !has_labels_in_loops_ && labels_always_come_to_ <= 1;
}

// What a restart needs may be a function of its own, if it is the same there. Not where numbers are rounded: what the compiler makes of
// one expression in two places may not be the same to the last bit.
bool Function::may_be_entered_apart() const {
  const auto is_without_meaning_there = [](const Attr* a) {
    return isa<VisibilityAttr, UnusedAttr, UsedAttr, NoInlineAttr, AlwaysInlineAttr, GNUInlineAttr, HotAttr, ColdAttr, NonNullAttr, WarnUnusedResultAttr, WeakAttr>(a);
  };
  const auto is_fine = [](const ParmVarDecl* parameter) { return !parameter->getName().empty() && !parameter->getType()->isVariablyModifiedType(); };
  const auto* const type = function_->getType()->getAs<FunctionType>();
  const size_t begin = unit_.begin_of(function_->getBeginLoc()), body = unit_.begin_of(function_->getBody()->getBeginLoc());
  const bool defines_types = unit_.text().find('{', begin) < body;
  return enters_late_ && !computes_ && !names_itself_ && !defines_types && (isa<FunctionProtoType>(type) || function_->getNumParams() == 0) && type->getCallConv() == CC_C &&
         !type->getHasRegParm() && !type->getNoReturnAttr() && llvm::all_of(function_->attrs(), is_without_meaning_there) && llvm::all_of(function_->parameters(), is_fine);
}

void Function::count_labels(const Stmt* s, bool in_loop, bool always) {
  if (s == nullptr || !has_label(s)) return;
  if (const auto* call = dyn_cast<CallExpr>(s); call != nullptr && kind_of(call) != Call::kPlain) {
    has_labels_in_loops_ |= in_loop;
    labels_always_come_to_ += always ? 1 : 0;
  }
  in_loop |= isa<ForStmt, WhileStmt, DoStmt>(s);
  const auto* both = dyn_cast<BinaryOperator>(s);
  const bool chooses = isa<IfStmt, SwitchStmt, AbstractConditionalOperator>(s) || (both != nullptr && both->isLogicalOp());
  bool is_first = true;  // the condition
  for (const Stmt* child : s->children()) {
    if (child == nullptr) continue;
    count_labels(child, in_loop, always && (!chooses || is_first));
    is_first = false;
    if (isa<CompoundStmt>(s) && returns(child)) always = false;
  }
}

size_t Function::add(Variable variable) {
  variables_.push_back(std::move(variable));
  return variables_.size() - 1;
}

size_t Function::temporary(QualType type) {
  Variable v;
  v.name = "elc_r" + std::to_string(next_++);
  v.shown = "value";
  v.type = type.getUnqualifiedType();
  if (v.type->isVariablyModifiedType()) refuse(function_->getLocation(), "a part of an expression points to rows of variable length: give it a name");
  v.in_place = !is_scalar(v.type);
  const size_t number = add(v);
  scope_.push_back(number);
  return number;
}

std::string Function::leave() const {
  std::string out;
  for (const std::string& array : arrays_) out += array + "; ";
  return enters_late_ ? out : out + kLeave;
}

void Function::refuse(SourceLocation at, const std::string& what) {
  is_refused_ = true;
  module_.error(at, function_->getName().str() + "(), which can reach MPI: " + what);
}

// ---- The frame ----

std::string Function::stored(const Variable& v) const {
  return "elc_f." + v.name + " = " + (v.in_place ? "(void *)&" : "") + v.name + "; ";
}

std::string Function::before_call(const std::vector<size_t>& live) const {
  std::string out;
  for (const size_t i : live) {
    const Variable& v = variables_[i];
    if (enters_late_ || (!v.in_place && v.is_changed)) out += stored(v);
  }
  return enters_late_ ? out + kEnter : out;
}

std::string Function::restore(const std::vector<size_t>& live, const std::string& but) const {
  std::string out;
  for (const size_t i : live) {
    const Variable& v = variables_[i];
    if (!v.in_place && v.name != but) out += v.name + " = elc_f." + v.name + "; ";
  }
  return out;
}

// What may be asked for its value when the call has come back, or by the call of a site, which a restart makes anew: what is live there, and
// what is named in the same statement, whose parts have another order here. Whose address is taken may be reached in other ways.
std::vector<size_t> Function::live_at(const CallExpr* call, bool is_site) const {
  if (has_directives_) return scope_;
  const size_t begin = unit_.begin_of(call->getBeginLoc()), behind = unit_.end_of(call->getEndLoc());
  size_t from = begin, to = behind;
  for (DynTypedNode node = DynTypedNode::create(*call); node.get<Stmt>() != function_->getBody();) {
    const auto parents = unit_.context().getParents(node);
    if (parents.size() != 1) return scope_;
    node = parents[0];
    const Stmt* const outer = node.get<Stmt>();
    if (outer == nullptr || !isa<Expr, DeclStmt, ReturnStmt>(outer)) continue;
    from = std::min(from, unit_.begin_of(outer->getBeginLoc()));
    to = std::max(to, unit_.end_of(outer->getEndLoc()));
  }
  if (liveness_ == nullptr) liveness_ = std::make_unique<Liveness>(function_);
  const auto is_live = [&](size_t variable) {
    const Variable& v = variables_[variable];
    const auto is_beside = [&](size_t at) { return from <= at && at < to && (is_site || !(begin <= at && at < behind)); };
    const bool is_let_go = v.declared != nullptr && v.declared->getType()->isVariablyModifiedType();  // when the function returns
    return v.in_place || v.declared == nullptr || is_let_go || std::any_of(v.named.begin(), v.named.end(), is_beside) || liveness_->is_live(call, v.declared);
  };
  std::vector<size_t> live;
  std::copy_if(scope_.begin(), scope_.end(), std::back_inserter(live), is_live);
  return live;
}

// What a call is made with, in words that are the same for each MPI: variables, members and texts.
static void add_words(const Unit& unit, const Stmt* s, std::string* words) {
  if (s == nullptr) return;
  if (const auto* reference = dyn_cast<DeclRefExpr>(s)) {
    const auto* const variable = dyn_cast<VarDecl>(reference->getDecl());
    const bool is_own = variable != nullptr && !unit.in_system_header(variable->getLocation()) && !unit.file(variable->getLocation()).ends_with("mpi.h");
    if (is_own) *words += " " + variable->getName().str();
  }
  if (const auto* member = dyn_cast<MemberExpr>(s)) *words += "." + member->getMemberDecl()->getName().str();
  if (const auto* text = dyn_cast<StringLiteral>(s)) *words += " " + text->getBytes().str();
  for (const Stmt* child : s->children()) add_words(unit, child, words);
}

// Not by its place among the others: of one source a compilation may have other calls, for another MPI, or with -DNDEBUG. It is the line in the
// function, what is called and with what, and which of those; whoever sees it in a file can read the line.
int Function::number_of_label(const CallExpr* call) {
  constexpr unsigned kLines = 20000, kNames = 10000, kTimes = 10;
  const SourceLocation begin = function_->getLocation(), at = call == nullptr ? begin : call->getBeginLoc();
  const std::string file = unit_.file(at);
  std::string words = file == unit_.file(begin) ? "" : file.substr(file.rfind('/') + 1) + "/";
  if (call != nullptr && callee_of(call) != nullptr) words += callee_of(call)->getName().str();
  for (unsigned i = 0; call != nullptr && i < call->getNumArgs(); ++i) add_words(unit_, call->getArg(i), &words);
  const auto name = static_cast<unsigned>(llvm::xxHash64(words) % kNames);
  unsigned number = ((unit_.line(at) - unit_.line(begin)) % kLines * kNames + name) * kTimes + 1;
  while (!numbers_.insert(static_cast<int>(number)).second) ++number;
  return static_cast<int>(number);
}

// Whether all that it holds has values wherever it is declared.
bool Function::is_listed_at_once(const VarDecl* variable) const {
  if (variable == nullptr || variable->getInit() == nullptr || !isa<InitListExpr>(variable->getInit()) || has_union(variable->getType())) return false;
  const auto declares = [variable](const Stmt* child) {
    const auto* const statement = dyn_cast<DeclStmt>(child);
    return statement != nullptr && std::find(statement->decl_begin(), statement->decl_end(), variable) != statement->decl_end();
  };
  const auto* const body = cast<CompoundStmt>(function_->getBody());
  return std::any_of(body->body_begin(), body->body_end(), declares);
}

// Of variables that live at one label and have one name, which each is: whatever else the function has.
std::vector<int> Function::which_of_its_name() const {
  std::vector<std::set<size_t>> beside(variables_.size());
  for (const Label& label : labels_) {
    std::map<std::string, std::vector<size_t>> named;
    for (const size_t v : label.live) named[variables_[v].shown].push_back(v);
    for (const auto& [name, all] : named)
      for (const size_t v : all)
        for (const size_t other : all)
          if (other < v) beside[v].insert(other);
  }
  std::vector<int> which(variables_.size(), 1);
  for (size_t v = 0; v < which.size(); ++v)
    while (llvm::any_of(beside[v], [&](size_t other) { return which[other] == which[v]; })) ++which[v];
  return which;
}

Function::FrameText Function::frame() {
  FrameText text;
  std::string moved, members, places, described, lists, all, callees, numbers, ways;
  const std::vector<int> shown = which_of_its_name();
  for (const Variable& v : variables_) {
    const SourceLocation at = v.declared != nullptr ? v.declared->getLocation() : function_->getLocation();
    const bool is_set = is_scalar(v.type);  // from the beginning, as parameters are
    const bool may_hide = v.is_parameter && module_.types().may_hide_address(v.type);  // a line has to look at it
    const bool is_cleared = !is_set && !v.is_parameter && (is_zeroed(unit_.context(), v.type) || module_.types().holds_addresses(v.type));
    if (!v.is_parameter) {
      moved += v.is_apart ? "struct { " + module_.declaration(v.type, kApart, at) + "; char elc_gap; } " + v.name : module_.declaration(v.type, v.name, at);
      if (v.declared != nullptr) moved += module_.alignment(v.declared);
      moved += !is_set ? "; " : v.is_apart ? " = {0}; " : " = 0; ";
      if (is_cleared) {
        const std::string cleared = "__builtin_memset((void *)&" + v.name + ", 0, sizeof " + v.name + "); ";
        text.clear += cleared;
        if (!is_listed_at_once(v.declared)) text.clear_unlisted += cleared;
      }
    }
    members += (v.in_place ? "void *" + v.name : module_.declaration(v.type, v.name, at)) + "; ";
    if (v.in_place || !v.is_changed) places += stored(v);
    Described d;
    Types::More none;  // C has none in functions
    std::string why;
    if (v.declared != nullptr ? !module_.types().describe_variable(v.declared, v.type, &d, &none, &why) : !module_.types().describe(v.type, &d, &why)) {
      refuse(at, (v.is_parameter || v.declared != nullptr ? "'" + v.shown + "'" : "a part of an expression") + " lives while a call can reach MPI, and cannot be part of lines: " + why);
      continue;
    }
    const int which = shown[static_cast<size_t>(&v - variables_.data())];
    const std::string name = v.shown + (which < 2 ? "" : " " + std::to_string(which));
    described += "{\"" + name + "\", &" + d.type + ", " + (d.target.empty() ? "0" : "&" + d.target) + ", " + std::to_string(d.count) +
                 ", __builtin_offsetof(struct elc_frame, " + v.name + "), " + (!v.in_place ? "0" : is_set || is_cleared || may_hide ? "2" : "1") + "}, ";
  }
  for (size_t i = 0; i < labels_.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    lists += "elc_l" + number + "[] = {";
    for (const size_t v : labels_[i].live) lists += std::to_string(v + 1) + ", ";
    lists += i + 1 < labels_.size() ? "0}, " : "0}; ";
    all += "elc_l" + number + ", ";
    callees += labels_[i].callee.empty() ? "0, " : "\"" + labels_[i].callee + "\", ";
    numbers += std::to_string(labels_[i].number) + ", ";
    ways += "case " + number + ": " + labels_[i].again + restore(labels_[i].live, labels_[i].result) + "goto elc_L" + number + "; ";
  }
  std::string& out = text.made;
  out = declared_ + copies_ + moved;
  for (const std::string& name : lists_) out += "__builtin_va_list " + name + "; ";
  out += "struct elc_frame { struct ELC_Frame elc_h; " + members + "} elc_f; ";
  out += "static const struct ELC_Frame_variable elc_v[] = {" + described + "{0, 0, 0, 0, 0, 0}}; ";
  if (!labels_.empty()) out += "static const unsigned short " + lists;
  out += "static const unsigned short *const elc_l[] = {" + all + "}; ";
  out += "static const char *const elc_c[] = {" + callees + "}; static const int elc_k[] = {" + numbers + "}; ";
  out += "static const struct ELC_Frame_function elc_fn = {\"" + module_.program().name_of(unit_, function_) + "\", elc_v, elc_l, " +
         std::to_string(labels_.size()) + ", elc_c, elc_k}; ";
  if (function_->isMain()) {
    const bool has_words = function_->getNumParams() > 1;
    for (unsigned i = 0; has_words && i < 2; ++i)
      if (function_->getParamDecl(i)->getName().empty()) return refuse(function_->getLocation(), "main() has a parameter without a name"), text;
    const std::string count = has_words ? variables_[moved_.at(function_->getParamDecl(0))].name : "0";
    const std::string words = has_words ? variables_[moved_.at(function_->getParamDecl(1))].name : "";
    out += "static int elc_begun; if (elc_begun++ == 0) { ";  // it may be called again
    out += (has_words ? words + " = " : "") + "ELC_Program_begin(&elc_program, " + count + ", " + (has_words ? words : "(char **)0") + "); ";
    const ParmVarDecl* const environment = function_->getNumParams() > 2 ? function_->getParamDecl(2) : nullptr;
    if (environment != nullptr && environment->isReferenced()) out += variables_[moved_.at(environment)].name + " = (void *)ELC_Program_environment(); ";
    out += "} ";
  }
  if (function_->isMain() && module_.program().everywhere()) out += "atexit(elc_end); ";
  if (module_.program().is_handler(unit_, function_))
    out += "ELC_Program_unfit(\"" + function_->getName().str() + "(), which is called in the middle of a call of MPI, or at the exit\"); ";
  text.enter = kEnter + kBehind + places;
  text.reenter = "switch (ELC_Reenter(&elc_f.elc_h)) { " + ways + "default: break; } ";
  return text;
}

// A function that enters its frame late may be called for each of many small things, and be put where it is called: it has what a restart
// needs elsewhere.
std::string Function::entered_again() {
  const std::string name = "elc_again_" + function_->getName().str();
  std::string parameters, arguments;
  for (const ParmVarDecl* parameter : function_->parameters()) {
    const std::string separator = parameters.empty() ? "" : ", ";
    parameters += separator + module_.declaration(parameter->getType(), parameter->getName().str(), parameter->getLocation());
    arguments += separator + parameter->getName().str();
  }
  const QualType result = function_->getReturnType();
  const std::string head = module_.declaration(result, name + "(" + (parameters.empty() ? "void" : parameters) + ")", function_->getLocation());
  const std::string call = name + "(" + arguments + "); ";
  const FrameText text = frame();
  before_ = "static " + head + " __attribute__((__noinline__)); ";
  behind_ = " static " + head + " { " + text.made + text.clear + text.enter + text.reenter + kLeave + out_ + "}" + line_mark(function_->getEndLoc());
  return text.made + kIsAgain + (result->isVoidType() ? "{ " + call + "return; } " : "return " + call) + text.clear_unlisted;
}

std::string Function::beginning() {
  if (may_be_entered_apart()) return entered_again();
  const FrameText text = frame();
  if (enters_late_) return text.made + text.clear + kIsAgain + "{ " + text.enter + text.reenter + kLeave + "} ";
  return text.made + text.clear + text.enter + kIsAgain + text.reenter;
}

Edits::Edit Function::transform() {
  const auto* body = cast<CompoundStmt>(function_->getBody());
  const size_t brace = unit_.begin_of(body->getLBracLoc());
  const size_t begin = brace + (unit_.text()[brace] == '<' ? 2 : 1), end = unit_.begin_of(body->getRBracLoc());
  if (is_left_alone_) return {begin, end, true, module_.edits().text(begin, end), ""};
  if (module_.program().everywhere()) {
    labels_.push_back({true, scope_, "", "", "", number_of_label(nullptr)});
    out_ += before_call(scope_) + "elc_L1: elc_f.elc_h.label = elc_f.elc_h.is_site = 1; ELC_Checkpoint(); " + behind_call();
  }
  emit_children(body);
  out_ += line_mark(body->getRBracLoc());
  out_ += leave();
  if (function_->isMain()) out_ += "return 0; ";
  if (is_refused_) return {begin, end, true, "", ""};
  return {begin, end, true, " " + beginning() + out_, ""};
}

}  // namespace elc::cc
