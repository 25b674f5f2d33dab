#include "cc/function.h"

#include <algorithm>

#include "cc/visitor.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclOpenMP.h"
#include "clang/AST/StmtOpenMP.h"

namespace elc::cc {

using namespace clang;

namespace {

const std::string kBehind = "elc_f.elc_h.label = elc_f.elc_h.is_site = 0; ";

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

bool has_constants(const ASTContext& context, QualType type) {
  const auto* record = context.getBaseElementType(type)->getAs<RecordType>();
  if (record == nullptr) return false;
  for (const FieldDecl* field : record->getDecl()->fields())
    if (context.getBaseElementType(field->getType()).isConstQualified() || has_constants(context, field->getType())) return true;
  return false;
}

// Of what cannot be assigned: an initialiser, or a struct with constant members.
std::string copied(const std::string& name, const std::string& value) {
  return "{ __typeof__(" + name + ") elc_i = " + value + "; __builtin_memcpy((void *)&" + name + ", &elc_i, sizeof elc_i); } ";
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

// A va_list.
bool is_argument_list(QualType type) {
  if (const auto* adjusted = type->getAs<DecayedType>()) type = adjusted->getOriginalType();
  while (const auto* named = type->getAs<TypedefType>()) {
    if (named->getDecl()->getName() == "__builtin_va_list") return true;
    type = named->getDecl()->getUnderlyingType();
  }
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
    if (op->getOpcode() == UO_AddrOf && isa<CompoundLiteralExpr>(op->getSubExpr()->IgnoreParens())) see_literal(op);
    if (op->getOpcode() == UO_AddrOf && op->getSubExpr()->getType()->isArrayType()) f_.measured_.insert(array_of(op->getSubExpr()));
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* op) override {
    if (!op->isAssignmentOp()) return true;
    if (const VarDecl* variable = variable_of(op->getLHS())) f_.assigned_.insert(variable->getCanonicalDecl());
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr* cast) override {
    if (cast->getCastKind() != CK_ArrayToPointerDecay) return true;
    const Expr* const array = cast->getSubExpr()->IgnoreParens();
    if (isa<CompoundLiteralExpr>(array)) see_literal(cast);
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
  bool VisitGotoStmt(GotoStmt*) override { return f_.has_jumps_ = true, true; }
  bool VisitCallExpr(CallExpr* call) override {
    if (f_.kind_of(call) != Function::Call::kInstrumented)
      for (const Expr* argument : call->arguments()) mark(argument);
    const FunctionDecl* callee = callee_of(call);
    if (callee == nullptr) return true;
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
    if (!e->isArgumentType()) f_.measured_.insert(variable_of(e->getArgumentExpr()));
    return true;
  }

  bool dataTraverseStmtPre(Stmt* statement) override {
    if (isa<ForStmt, WhileStmt, DoStmt>(statement)) loops_.push_back(statement);
    return true;
  }
  bool dataTraverseStmtPost(Stmt* statement) override {
    if (!loops_.empty() && loops_.back() == statement) loops_.pop_back();
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
  // Literals in what is given to a call that comes back before the next line live as long as they are wanted.
  void mark(const Expr* e) {
    for (;;) {
      e = e->IgnoreParens();
      fine_.insert(e);
      if (const auto* cast = dyn_cast<CastExpr>(e)) e = cast->getSubExpr();
      else return;
    }
  }
  void see_literal(const Expr* e) {
    // It lives as long as its block.
    if (!fine_.contains(e) && f_.has_label(block_)) f_.refuse(e->getBeginLoc(), "the address of a compound literal: give it a name");
  }

  Function& f_;
  const Stmt* block_ = nullptr;
  std::set<const Expr*> fine_, ended_;
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
  if (inside.find("__label__") != std::string::npos) refuse(function->getLocation(), "labels of blocks (__label__)");
  BodyVisitor(*this).TraverseStmt(function->getBody());
  if (last_argument_.isValid()) check_arguments(function->getBody());
  if (last_argument_.isValid() && module.program().everywhere()) refuse(last_argument_, "variable arguments are wanted after a line that is taken everywhere");
  if (uses_alloca_ && has_directives_) refuse(function->getLocation(), "alloca() and directives of OpenMP: use malloc");
  if (function->isMain() && function->getNumParams() > 2 && function->getParamDecl(2)->isReferenced())
    refuse(function->getParamDecl(2)->getLocation(), "the environment that main() is given is not part of lines: use getenv()");
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
    } else if (v.type.isConstQualified() || (v.in_place && parameter->getStorageClass() == SC_Register)) {
      // A restart has to set it, by its address.
      v.name = free_variable(v.name);
      v.type = v.type.getUnqualifiedType();
      copies_ += module_.declaration(v.type, v.name, parameter->getLocation()) + " = " + v.shown + "; ";
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
  find_moved(function->getBody());
  ReturnVisitor(*this).TraverseStmt(function->getBody());
  struct Renamer : Visitor {
    Function& f;
    explicit Renamer(Function& function) : f(function) {}
    bool VisitDeclRefExpr(DeclRefExpr* e) override {
      const auto* variable = dyn_cast<VarDecl>(e->getDecl());
      const auto known = variable == nullptr ? f.moved_.end() : f.moved_.find(variable->getCanonicalDecl());
      if (known == f.moved_.end()) return true;
      const Variable& v = f.variables_[known->second];
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
    if (variable->hasAttr<CleanupAttr>()) refuse(variable->getLocation(), "'" + v.shown + "' has an attribute cleanup");
    moved_[variable->getCanonicalDecl()] = add(v);
  }
}

DeclContext::lookup_result Function::declared_outside(const std::string& name) const {
  ASTContext& context = unit_.context();
  return context.getTranslationUnitDecl()->lookup(DeclarationName(&context.Idents.get(name)));
}

// What moves to the beginning of a function may hide nothing there.
std::string Function::free_variable(const std::string& name) const {
  return free_name(name, [&](const std::string& candidate) { return declared_outside(candidate).empty() && !names_.contains(candidate); });
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
  const bool is_as_it_was = is_row && !measured_.contains(variable);  // a pointer does as well
  if (element.isNull() || element->isVariablyModifiedType() || has_tasks_ || (named_.contains(variable) && !is_as_it_was))
    return refuse(variable->getLocation(), "'" + v->shown + "', which is of variable length, lives while a call can reach MPI: use malloc");
  v->type = is_array ? element.getUnqualifiedType() : element;
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
      const Expr* const size = dyn_cast<VariableArrayType>(array) != nullptr ? cast<VariableArrayType>(array)->getSizeExpr() : nullptr;
      if (size == nullptr || size->HasSideEffects(context)) return refuse(variable->getLocation(), "the length of the rows of '" + v->shown + "' has an effect");
      const size_t begin = unit_.begin_of(size->getBeginLoc());
      copies_ += module_.declaration(extent.type, extent.name, variable->getLocation()) + " = " + unit_.text().substr(begin, unit_.end_of(size->getEndLoc()) - begin) + "; ";
    }
    text += "[" + extent.name + "]";
    v->extents.push_back(add(extent));
  }
  if (is_as_it_was) return;
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
void Function::check_arguments(const Stmt* s) {
  if (s == nullptr || !has_label(s)) return;
  const auto* call = dyn_cast<CallExpr>(s);
  const bool is_early = call != nullptr && kind_of(call) != Call::kPlain && unit_.begin_of(call->getBeginLoc()) < unit_.begin_of(last_argument_);
  if (!function_->isVariadic() || has_jumps_ || is_early || loops_with_arguments_.contains(s))
    return refuse(s->getBeginLoc(), "variable arguments (" + unit_.place(last_argument_) + ") are wanted after a call that can reach MPI");
  for (const Stmt* child : s->children()) check_arguments(child);
}

size_t Function::add(Variable variable) {
  variables_.push_back(std::move(variable));
  return variables_.size() - 1;
}

std::string Function::leave() const {
  std::string out;
  for (const std::string& array : arrays_) out += array + "; ";
  return out + "ELC_Innermost = elc_f.elc_h.caller; ";
}

void Function::refuse(SourceLocation at, const std::string& what) {
  is_refused_ = true;
  module_.error(at, function_->getName().str() + "(), which can reach MPI: " + what);
}

// ---- Text ----

std::string Function::text(const Stmt* s) { return module_.edits().text(unit_.begin_of(s->getBeginLoc()), unit_.end_of(s->getEndLoc())); }

size_t Function::end_of(const Stmt* s) const {
  if (isa<CompoundStmt>(s) || isa<DeclStmt>(s) || isa<NullStmt>(s)) return unit_.end_of(s->getEndLoc());
  if (const auto* i = dyn_cast<IfStmt>(s)) return end_of(i->getElse() != nullptr ? i->getElse() : i->getThen());
  if (const auto* w = dyn_cast<WhileStmt>(s)) return end_of(w->getBody());
  if (const auto* f = dyn_cast<ForStmt>(s)) return end_of(f->getBody());
  if (const auto* w = dyn_cast<SwitchStmt>(s)) return end_of(w->getBody());
  if (const auto* c = dyn_cast<SwitchCase>(s)) return end_of(c->getSubStmt());
  if (const auto* l = dyn_cast<LabelStmt>(s)) return end_of(l->getSubStmt());
  if (const auto* a = dyn_cast<AttributedStmt>(s)) return end_of(a->getSubStmt());
  if (const auto* d = dyn_cast<OMPExecutableDirective>(s)) {
    if (!d->hasAssociatedStmt()) return unit_.text().find('\n', unit_.begin_of(s->getBeginLoc()));
    return end_of(d->getRawStmt());
  }
  const std::string& all = unit_.text();
  size_t at = unit_.end_of(s->getEndLoc());
  while (at < all.size() && all[at] != ';') {
    if (all[at] == '#') at = all.find('\n', at);
    else ++at;
  }
  return at + 1;
}

void Function::say_line(SourceLocation at) {
  out_ += "\n# " + std::to_string(unit_.line(at)) + " \"" + unit_.file(at) + "\"\n";
}

// ---- Statements ----

void Function::emit(const Stmt* s) {
  if (const auto* declaration = dyn_cast<DeclStmt>(s)) return emit_declaration(declaration);
  say_line(s->getBeginLoc());
  if (!has_label(s)) {
    out_ += module_.edits().text(unit_.begin_of(s->getBeginLoc()), end_of(s));
    if (isa<OMPExecutableDirective>(s)) out_ += "\n";
    return;
  }
  const size_t scope = scope_.size();
  if (const auto* compound = dyn_cast<CompoundStmt>(s)) {
    out_ += "{ ";
    emit_children(compound);
    out_ += " }";
  } else if (const auto* e = dyn_cast<Expr>(s)) {
    const std::string value = value_of(e, false);
    if (!value.empty()) out_ += value + "; ";
  } else if (const auto* i = dyn_cast<IfStmt>(s)) {
    out_ += "{ ";
    const std::string condition = value_of(i->getCond());
    scope_.resize(scope);
    out_ += "if (" + condition + ") ";
    emit_block(i->getThen());
    if (i->getElse() != nullptr) {
      out_ += " else ";
      emit_block(i->getElse());
    }
    out_ += " }";
  } else if (const auto* w = dyn_cast<WhileStmt>(s)) {
    emit_loop(nullptr, w->getCond(), nullptr, w->getBody());
  } else if (const auto* f = dyn_cast<ForStmt>(s)) {
    emit_loop(f->getInit(), f->getCond(), f->getInc(), f->getBody());
  } else if (const auto* d = dyn_cast<DoStmt>(s)) {
    emit_do(d);
  } else if (const auto* w = dyn_cast<SwitchStmt>(s)) {
    out_ += "{ ";
    const std::string condition = value_of(w->getCond());
    scope_.resize(scope);
    out_ += "switch (" + condition + ") ";
    emit_block(w->getBody());
    out_ += " }";
  } else if (const auto* c = dyn_cast<CaseStmt>(s)) {
    out_ += "case " + text(c->getLHS()) + (c->getRHS() != nullptr ? " ... " + text(c->getRHS()) : "") + ": ";
    emit_block(c->getSubStmt());
  } else if (const auto* c = dyn_cast<DefaultStmt>(s)) {
    out_ += "default: ";
    emit_block(c->getSubStmt());
  } else if (const auto* l = dyn_cast<LabelStmt>(s)) {
    out_ += l->getDecl()->getName().str() + ": ";
    emit_block(l->getSubStmt());
  } else if (const auto* r = dyn_cast<ReturnStmt>(s)) {
    out_ += "{ ";
    const std::string value = value_of(r->getRetValue());
    if (value.empty() || function_->getReturnType()->isVoidType())
      out_ += (value.empty() ? "" : value + "; ") + leave() + "return; }";
    else
      out_ += module_.declaration(function_->getReturnType().getUnqualifiedType(), "elc_x", r->getBeginLoc()) + " = " + value + "; " + leave() + "return elc_x; }";
  } else {
    refuse(s->getBeginLoc(), std::string("a call that can reach MPI in a statement of this kind (") + s->getStmtClassName() + ")");
  }
  scope_.resize(scope);
}

void Function::emit_children(const CompoundStmt* compound) {
  const size_t scope = scope_.size();
  for (const Stmt* child : compound->body()) emit(child);
  scope_.resize(scope);
}

void Function::emit_block(const Stmt* s) {
  out_ += "{ ";
  const size_t scope = scope_.size();
  if (const auto* compound = dyn_cast<CompoundStmt>(s); compound != nullptr && has_label(s)) emit_children(compound);
  else emit(s);
  scope_.resize(scope);
  out_ += " ;}";
}

void Function::emit_declaration(const DeclStmt* statement) {
  for (const Decl* d : statement->decls()) {
    if (const auto* variable = dyn_cast<VarDecl>(d); variable != nullptr && is_argument_list(variable->getType())) {
      continue;  // it is over before a line is taken
    } else if (variable != nullptr && variable->hasLocalStorage()) {
      push_scope(moved_.at(variable->getCanonicalDecl()));
      if (variable->getType()->isVariablyModifiedType()) emit_extents(variable);
      if (variable->getInit() == nullptr) continue;
      say_line(variable->getLocation());
      emit_initial(variable);
    } else if (variable != nullptr && variable->isStaticLocal()) {
      continue;  // a variable of the file now
    } else if (const auto* function = dyn_cast<FunctionDecl>(d); function != nullptr && !statement->isSingleDecl()) {
      declared_ += module_.declaration(function->getType(), function->getName().str(), function->getLocation()) + "; ";
    } else if (isa<FunctionDecl>(d) || variable != nullptr) {
      declared_ += module_.edits().text(unit_.begin_of(d->getBeginLoc()), unit_.end_of(d->getEndLoc())) + "; ";
    } else if (!isa<TypeDecl>(d) && !isa<StaticAssertDecl>(d) && !isa<EmptyDecl>(d)) {  // types have moved, assertions have been made
      refuse(d->getLocation(), std::string("a declaration of this kind (") + d->getDeclKindName() + ")");
    }
  }
}

void Function::emit_extents(const VarDecl* variable) {
  if (is_refused_) return;
  const Variable& v = variables_[moved_.at(variable->getCanonicalDecl())];
  const bool is_array = variable->getType()->isArrayType();
  say_line(variable->getLocation());
  std::string extents;
  auto extent = v.extents.begin();
  QualType element = variable->getType();
  while (element->isPointerType()) element = element->getPointeeType();
  for (; const ArrayType* array = unit_.context().getAsArrayType(element); element = array->getElementType()) {
    const auto* fixed = dyn_cast<ConstantArrayType>(array);
    if (fixed == nullptr) {
      const std::string name = variables_[*extent++].name, size = value_of(cast<VariableArrayType>(array)->getSizeExpr());
      out_ += name + " = " + size + "; ";
      extents += ", " + name;
    } else {
      extents += ", " + std::to_string(fixed->getSize().getZExtValue());
    }
  }
  if (!is_array) return;
  const std::string memory = module_.types().of_memory(element), type = memory.empty() ? "0" : memory;
  extents.erase(0, 2);
  const std::string count = std::to_string(std::count(extents.begin(), extents.end(), ',') + 1);
  out_ += "{ const __typeof__(sizeof 0) elc_x[] = {" + extents + "}; " + v.name + " = ELC_Program_array(" + v.name + ", " + count +
          ", elc_x, sizeof *" + v.name + ", " + type + "); } ";
}

void Function::emit_initial(const VarDecl* variable) {
  const Expr* init = variable->getInit();
  const std::string name = variables_[moved_.at(variable->getCanonicalDecl())].name;
  const size_t scope = scope_.size();
  const Expr* plain = init->IgnoreParens();
  if (isa<InitListExpr>(plain) || isa<StringLiteral>(plain)) {
    const std::string value = value_of(init);
    out_ += copied(name, value);
  } else {
    const std::string value = value_of(init);
    out_ += variable->getType()->isVariablyModifiedType() ? name + " = (void *)(" + value + "); " : set(name, variable->getType(), value);
  }
  scope_.resize(scope);
}

// Continue goes to the step, or to the condition.
void Function::emit_loop(const Stmt* init, const Expr* condition, const Expr* step, const Stmt* body) {
  const size_t scope = scope_.size();
  out_ += "{ ";
  if (init != nullptr) emit(init);
  if (init != nullptr && isa<Expr>(init)) out_ += "; ";
  const bool plain = !has_label(condition) && !has_label(step);
  if (plain) {
    out_ += " for (; " + (condition == nullptr ? "" : text(condition)) + "; " + (step == nullptr ? "" : text(step)) + ") ";
    emit_block(body);
  } else {
    const std::string label = "elc_C" + std::to_string(next_++);
    if (step != nullptr) redirect_continues(body, label);
    out_ += " for (;;) { ";
    if (condition != nullptr) {
      const size_t inner = scope_.size();
      const std::string value = value_of(condition);
      scope_.resize(inner);
      out_ += "if (!(" + value + ")) break; ";
    }
    emit_block(body);
    if (step != nullptr) {
      out_ += " " + label + ": ; ";
      const size_t inner = scope_.size();
      const std::string value = value_of(step, false);
      scope_.resize(inner);
      if (!value.empty()) out_ += value + "; ";
    }
    out_ += " }";
  }
  out_ += " }";
  scope_.resize(scope);
}

void Function::emit_do(const DoStmt* loop) {
  if (!has_label(loop->getCond())) {
    out_ += "do ";
    emit_block(loop->getBody());
    out_ += " while (" + text(loop->getCond()) + "); ";
    return;
  }
  const std::string label = "elc_C" + std::to_string(next_++);
  redirect_continues(loop->getBody(), label);
  out_ += "do { ";
  emit_block(loop->getBody());
  out_ += " " + label + ": ; ";
  const size_t scope = scope_.size();
  const std::string value = value_of(loop->getCond());
  scope_.resize(scope);
  out_ += "if (!(" + value + ")) break; } while (1); ";
}

void Function::redirect_continues(const Stmt* s, const std::string& label) {
  if (s == nullptr || isa<ForStmt>(s) || isa<WhileStmt>(s) || isa<DoStmt>(s)) return;
  if (isa<ContinueStmt>(s)) module_.edits().replace(unit_.begin_of(s->getBeginLoc()), unit_.end_of(s->getEndLoc()), "goto " + label);
  for (const Stmt* child : s->children()) redirect_continues(child, label);
}

// ---- Expressions ----

size_t Function::temporary(QualType type) {
  Variable v;
  v.name = v.shown = "elc_r" + std::to_string(next_++);
  v.type = type.getUnqualifiedType();
  if (v.type->isVariablyModifiedType()) refuse(function_->getLocation(), "a part of an expression points to rows of variable length: give it a name");
  v.in_place = !is_scalar(v.type);
  const size_t number = add(v);
  scope_.push_back(number);
  return number;
}

// An assignment, also to what has constant members.
std::string Function::set(const std::string& name, QualType type, const std::string& value) const {
  if (!has_constants(unit_.context(), type)) return name + " = " + value + "; ";
  return copied(name, value);
}

std::string Function::truth_of(const Expr* e) { return "((" + value_of(e) + ") != 0)"; }

std::string Function::value_of(const Expr* e, bool is_used) {
  if (!has_label(e)) return text(e);
  if (const auto* paren = dyn_cast<ParenExpr>(e)) {
    const std::string value = value_of(paren->getSubExpr(), is_used);
    return value.empty() ? value : "(" + value + ")";
  }
  if (const auto* mark = dyn_cast<UnaryOperator>(e); mark != nullptr && mark->getOpcode() == UO_Extension)
    return value_of(mark->getSubExpr(), is_used);
  if (const auto* cast = dyn_cast<ImplicitCastExpr>(e)) return value_of(cast->getSubExpr(), is_used);
  if (const auto* c = dyn_cast<CallExpr>(e)) {
    const Call kind = kind_of(c);
    return kind == Call::kPlain ? substituted(e) : call(c, kind, is_used);
  }
  if (const auto* op = dyn_cast<BinaryOperator>(e)) {
    if (op->getOpcode() == BO_Comma) {
      const std::string first = value_of(op->getLHS(), false);
      if (!first.empty()) out_ += first + "; ";
      return value_of(op->getRHS(), is_used);
    }
    if (op->isLogicalOp()) {
      const bool all = op->getOpcode() == BO_LAnd;
      const std::string result = variables_[temporary(unit_.context().IntTy)].name;
      out_ += result + " = " + truth_of(op->getLHS()) + "; if (" + (all ? "" : "!") + result + ") { ";
      const std::string second = truth_of(op->getRHS());
      out_ += result + " = " + second + "; } ";
      return result;
    }
  }
  if (const auto* choice = dyn_cast<ConditionalOperator>(e)) {
    const bool valued = is_used && !e->getType()->isVoidType();
    const std::string condition = value_of(choice->getCond());
    const std::string result = valued ? variables_[temporary(e->getType())].name : "";
    out_ += "if (" + condition + ") { ";
    const std::string first = value_of(choice->getTrueExpr(), valued);
    if (!first.empty()) out_ += valued ? set(result, e->getType(), first) : first + "; ";
    out_ += "} else { ";
    const std::string second = value_of(choice->getFalseExpr(), valued);
    if (!second.empty()) out_ += valued ? set(result, e->getType(), second) : second + "; ";
    out_ += "} ";
    return result;
  }
  if (const auto* choice = dyn_cast<BinaryConditionalOperator>(e)) {
    const std::string result = variables_[temporary(e->getType())].name, first = value_of(choice->getCommon());
    out_ += result + " = " + first + "; if (!" + result + ") { ";
    const std::string second = value_of(choice->getFalseExpr());
    out_ += result + " = " + second + "; } ";
    return result;
  }
  if (const auto* block = dyn_cast<StmtExpr>(e)) return value_of_block(block, is_used);
  if (const auto* cast = dyn_cast<CStyleCastExpr>(e); cast != nullptr && cast->getType()->isVoidType())
    return value_of(cast->getSubExpr(), false);
  if (isa<BinaryOperator>(e) || isa<UnaryOperator>(e) || isa<ArraySubscriptExpr>(e) || isa<MemberExpr>(e) || isa<CStyleCastExpr>(e) ||
      isa<InitListExpr>(e) || isa<DesignatedInitExpr>(e) || isa<CompoundLiteralExpr>(e))
    return substituted(e);
  refuse(e->getBeginLoc(), std::string("a call that can reach MPI in an expression of this kind (") + e->getStmtClassName() + ")");
  return "0";
}

// A statement expression: the value is that of its last statement.
std::string Function::value_of_block(const StmtExpr* e, bool is_used) {
  const bool valued = is_used && !e->getType()->isVoidType();
  const std::string result = valued ? variables_[temporary(e->getType())].name : "";
  const size_t scope = scope_.size();
  if (valued && !isa<Expr>(e->getSubStmt()->body_back())) refuse(e->getBeginLoc(), "a statement expression whose value has a label");
  out_ += "{ ";
  for (const Stmt* child : e->getSubStmt()->body()) {
    const auto* last = valued && child == e->getSubStmt()->body_back() ? dyn_cast<Expr>(child) : nullptr;
    if (last == nullptr) {
      emit(child);
    } else {
      const std::string value = value_of(last);
      out_ += set(result, e->getType(), value);
    }
  }
  out_ += " }";
  scope_.resize(scope);
  return result;
}

// C leaves open what comes first, but compilers have a number on the left before they call what is on the right, and programs rely on
// it, as with rand() % 6 + f(). When a variable alone is read they do not agree on.
const Expr* Function::operand_before_calls(const Expr* e) const {
  const auto* both = dyn_cast<BinaryOperator>(e);
  if (both == nullptr || both->isAssignmentOp() || !has_label(both->getRHS())) return nullptr;
  const Expr* const left = both->getLHS();
  const Expr* const inner = left->IgnoreParenImpCasts();
  if (!left->getType()->isArithmeticType() || isa<DeclRefExpr>(inner) || left->isEvaluatable(unit_.context())) return nullptr;
  if (isa<CallExpr>(inner) && has_label(inner)) return nullptr;  // is kept anyway
  Described d;
  std::string why;
  return module_.types().describe(left->getType(), &d, &why) ? left : nullptr;
}

// The text of an expression in which those below that have labels have been evaluated before.
std::string Function::substituted(const Expr* e) {
  if (const auto* list = dyn_cast<InitListExpr>(e); list != nullptr && list->isSemanticForm() && list->getSyntacticForm() != nullptr)
    e = list->getSyntacticForm();  // what several elements have is there once
  std::vector<Edits::Edit> values;
  const Expr* const first = operand_before_calls(e);
  for (const Stmt* child : e->children()) {
    const auto* below = dyn_cast_or_null<Expr>(child);
    if (below == nullptr || (!has_label(below) && below != first)) continue;
    values.push_back({unit_.begin_of(below->getBeginLoc()), unit_.end_of(below->getEndLoc()), true, "", ""});
    std::string value = value_of(below);
    if (below == first) {
      const std::string kept = variables_[temporary(first->getType())].name;
      out_ += set(kept, first->getType(), value);
      value = kept;
    }
    values.back().before = isa<InitListExpr>(below) || isa<DesignatedInitExpr>(below) ? value : "(" + value + ")";
  }
  return module_.edits().text(unit_.begin_of(e->getBeginLoc()), unit_.end_of(e->getEndLoc()), values);
}

// What has an effect, or is a call itself, is evaluated before the variables are stored; a call that is made again does not
// evaluate it again.
std::string Function::argument(const Expr* e, QualType type) {
  if (!has_label(e) && !e->HasSideEffects(unit_.context())) return text(e);
  const std::string value = value_of(e);
  if (type->isVariablyModifiedType()) {  // of what the function that is called knows
    const size_t kept = temporary(unit_.context().VoidPtrTy);
    out_ += variables_[kept].name + " = (void *)(" + value + "); ";
    return variables_[kept].name;
  }
  const size_t kept = temporary(type);
  out_ += set(variables_[kept].name, type, value);
  return variables_[kept].name;
}

std::string Function::call(const CallExpr* call, Call kind, bool is_used) {
  std::string callee = text(call->getCallee()), arguments;
  if (has_label(call->getCallee()) || (callee_of(call) == nullptr && call->getCallee()->HasSideEffects(unit_.context())))
    callee = argument(call->getCallee(), call->getCallee()->getType());
  const QualType called = call->getCallee()->getType();
  const auto* prototype = (called->isPointerType() ? called->getPointeeType() : called)->getAs<FunctionProtoType>();
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const bool known = prototype != nullptr && i < prototype->getNumParams();
    arguments += (arguments.empty() ? "" : ", ") + argument(call->getArg(i), known ? prototype->getParamType(i) : call->getArg(i)->getType());
  }
  Label label;
  label.is_site = kind == Call::kSite;
  label.live = scope_;
  const std::string number = std::to_string(labels_.size() + 1), place = "elc_L" + number + ": ";
  const bool valued = is_used && !call->getType()->isVoidType();
  std::string result;
  if (valued) result = variables_[temporary(call->getType())].name;
  if (!label.is_site) label.again = again(call, result);
  label.result = result;
  labels_.push_back(label);
  const std::string made = valued ? set(result, call->getType(), callee + "(" + arguments + ")") : callee + "(" + arguments + "); ";
  out_ += store(label.live) + (label.is_site ? place : "") + "elc_f.elc_h.label = " + number + "; elc_f.elc_h.is_site = " +
          (label.is_site ? "1; " : "0; ") + made + (label.is_site ? "" : place) + kBehind;
  const std::string memory = module_.memory_of(call);
  return memory.empty() || result.empty() ? result : "ELC_Program_as(" + result + ", " + memory + ")";
}

// In a restart the function is entered with arguments that do not count: it has its own from the line.
std::string Function::again(const CallExpr* call, const std::string& result) const {
  std::string arguments;
  const FunctionDecl* callee = callee_of(call);
  const QualType pointer = call->getCallee()->getType();
  const auto* prototype = (pointer->isPointerType() ? pointer->getPointeeType() : pointer)->getAs<FunctionProtoType>();
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    QualType type = prototype != nullptr && i < prototype->getNumParams() ? prototype->getParamType(i) : call->getArg(i)->getType();
    type = type.getUnqualifiedType();
    if (!arguments.empty()) arguments += ", ";
    if (type->isRecordType() || type->isVectorType()) arguments += "(" + module_.declaration(type, "", call->getBeginLoc()) + "){0}";
    else if (prototype == nullptr) arguments += "(" + module_.declaration(type, "", call->getBeginLoc()) + ")0";
    else arguments += "0";
  }
  const std::string text = module_.edits().text(unit_.begin_of(call->getCallee()->getBeginLoc()), unit_.end_of(call->getCallee()->getEndLoc()));
  const std::string what = callee != nullptr ? text : "((__typeof__(&*(" + text + ")))ELC_Program_target())";
  const std::string made = what + "(" + arguments + ")";
  return result.empty() ? made + "; " : set(result, call->getType(), made);
}

// ---- The frame ----

std::string Function::store(const std::vector<size_t>& live) const {
  std::string out;
  for (const size_t i : live) {
    const Variable& v = variables_[i];
    if (!v.in_place && v.is_changed) out += "elc_f." + v.name + " = " + v.name + "; ";
  }
  return out;
}

std::string Function::restore(const std::vector<size_t>& live, const std::string& but) const {
  std::string out;
  for (const size_t i : live) {
    const Variable& v = variables_[i];
    if (!v.in_place && v.name != but) out += v.name + " = elc_f." + v.name + "; ";
  }
  return out;
}

std::string Function::beginning() {
  std::string moved, members, enter, described, lists, all, ways;
  std::set<std::string> shown;
  for (const Variable& v : variables_) {
    const SourceLocation at = v.declared != nullptr ? v.declared->getLocation() : function_->getLocation();
    const bool is_set = is_scalar(v.type);  // from the beginning, as parameters are
    const bool may_hide = v.is_parameter && module_.types().may_hide_address(v.type);  // a line has to look at it
    const bool is_cleared = !is_set && !v.is_parameter && (is_zeroed(unit_.context(), v.type) || module_.types().holds_addresses(v.type));
    if (!v.is_parameter) {
      moved += module_.declaration(v.type, v.name, at);
      if (v.declared != nullptr && v.declared->hasAttr<AlignedAttr>())
        moved += " __attribute__((aligned(" + std::to_string(unit_.context().getDeclAlign(v.declared).getQuantity()) + ")))";
      moved += is_set ? " = 0; " : "; ";
      if (is_cleared) enter += "__builtin_memset((void *)&" + v.name + ", 0, sizeof " + v.name + "); ";
    }
    members += (v.in_place ? "void *" + v.name : module_.declaration(v.type, v.name, at)) + "; ";
    if (v.in_place) enter += "elc_f." + v.name + " = (void *)&" + v.name + "; ";
    else if (!v.is_changed) enter += "elc_f." + v.name + " = " + v.name + "; ";
    Described d;
    std::string why;
    if (!module_.types().describe(v.type, &d, &why)) {
      refuse(at, (v.is_parameter || v.declared != nullptr ? "'" + v.shown + "'" : "a part of an expression") + " lives while a call can reach MPI, and cannot be part of lines: " + why);
      continue;
    }
    std::string name = v.shown;
    for (int n = 2; !shown.insert(name).second; ++n) name = v.shown + " " + std::to_string(n);
    described += "{\"" + name + "\", &" + d.type + ", " + (d.target.empty() ? "0" : "&" + d.target) + ", " + std::to_string(d.count) +
                 ", __builtin_offsetof(struct elc_frame, " + v.name + "), " + (!v.in_place ? "0" : is_set || is_cleared || may_hide ? "2" : "1") + "}, ";
  }
  for (size_t i = 0; i < labels_.size(); ++i) {
    const std::string number = std::to_string(i + 1);
    lists += "elc_l" + number + "[] = {";
    for (const size_t v : labels_[i].live) lists += std::to_string(v + 1) + ", ";
    lists += i + 1 < labels_.size() ? "0}, " : "0}; ";
    all += "elc_l" + number + ", ";
    ways += "case " + number + ": " + labels_[i].again + restore(labels_[i].live, labels_[i].result) + "goto elc_L" + number + "; ";
  }
  std::string out = declared_ + copies_ + moved;
  for (const std::string& name : lists_) out += "__builtin_va_list " + name + "; ";
  out += "struct elc_frame { struct ELC_Frame elc_h; " + members + "} elc_f; ";
  out += "static const struct ELC_Frame_variable elc_v[] = {" + described + "{0, 0, 0, 0, 0, 0}}; ";
  if (!labels_.empty()) out += "static const unsigned short " + lists;
  out += "static const unsigned short *const elc_l[] = {" + all + "}; ";
  out += "static const struct ELC_Frame_function elc_fn = {\"" + module_.program().name_of(unit_, function_) + "\", elc_v, elc_l, " +
         std::to_string(labels_.size()) + "}; ";
  if (function_->isMain()) {
    const bool has_words = function_->getNumParams() > 1;
    const std::string count = has_words ? variables_[moved_.at(function_->getParamDecl(0))].name : "0";
    const std::string words = has_words ? variables_[moved_.at(function_->getParamDecl(1))].name : "";
    out += (has_words ? words + " = " : "") + "ELC_Program_begin(&elc_program, " + count + ", " + (has_words ? words : "(char **)0") + "); ";
  }
  if (function_->isMain() && module_.program().everywhere()) out += "atexit(elc_end); ";
  if (module_.program().is_error_handler(unit_, function_))
    out += "ELC_Program_unfit(\"" + function_->getName().str() + "(), which MPI may have called in the middle of a call\"); ";
  out += "elc_f.elc_h.caller = ELC_Innermost; elc_f.elc_h.function = &elc_fn; " + kBehind + "ELC_Innermost = &elc_f.elc_h; " + enter;
  out += "if (__builtin_expect(ELC_Reentering, 0)) switch (ELC_Reenter(&elc_f.elc_h)) { " + ways + "default: break; } ";
  return out;
}

Edits::Edit Function::transform() {
  const auto* body = cast<CompoundStmt>(function_->getBody());
  const size_t begin = unit_.begin_of(body->getLBracLoc()) + 1, end = unit_.begin_of(body->getRBracLoc());
  if (module_.program().everywhere()) {
    labels_.push_back({true, scope_, "", ""});
    out_ += store(scope_) + "elc_L1: elc_f.elc_h.label = elc_f.elc_h.is_site = 1; ELC_Checkpoint(); " + kBehind;
  }
  emit_children(body);
  say_line(body->getRBracLoc());
  out_ += leave();
  if (function_->isMain()) out_ += "return 0; ";
  if (is_refused_) return {begin, end, true, "", ""};
  return {begin, end, true, " " + beginning() + out_, ""};
}

}  // namespace elc::cc
