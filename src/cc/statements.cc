// What is in a function that gets a frame: statements and expressions with labels in them, written anew.
#include "cc/function.h"
#include "cc/ranks.h"
#include "cc/visitor.h"
#include "clang/AST/StmtOpenMP.h"

namespace elc::cc {

using namespace clang;

namespace {

bool has_constants(const ASTContext& context, QualType type) {
  const auto* record = context.getBaseElementType(type)->getAs<RecordType>();
  if (record == nullptr) return false;
  for (const FieldDecl* field : record->getDecl()->fields())
    if (context.getBaseElementType(field->getType()).isConstQualified() || has_constants(context, field->getType())) return true;
  return false;
}

// As memset leaves it.
bool is_zero(const Expr* e) {
  e = e->IgnoreParenImpCasts();
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    if (!list->isSemanticForm()) list = list->getSemanticForm();
    return list != nullptr && std::all_of(list->begin(), list->end(), [](const Stmt* part) { return part != nullptr && is_zero(cast<Expr>(part)); });
  }
  if (const auto* number = dyn_cast<IntegerLiteral>(e)) return number->getValue() == 0;
  if (const auto* number = dyn_cast<FloatingLiteral>(e)) return number->getValue().isPosZero();
  if (const auto* text = dyn_cast<StringLiteral>(e)) return text->getLength() == 0;
  return isa<ImplicitValueInitExpr>(e);
}

// Of what cannot be assigned: an initialiser, or a struct with constant members.
std::string copied(const std::string& name, const std::string& value) {
  return "{ __typeof__(" + name + ") elc_i = " + value + "; __builtin_memcpy((void *)&" + name + ", &elc_i, sizeof elc_i); } ";
}

}  // namespace

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

std::string Function::line_mark(SourceLocation at) const {
  std::string name;
  for (const char c : unit_.file(at)) name += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
  return "\n# " + std::to_string(unit_.line(at)) + " \"" + name + "\"\n";
}

// ---- Statements ----

void Function::emit(const Stmt* s) {
  if (const auto* declaration = dyn_cast<DeclStmt>(s)) return emit_declaration(declaration);
  out_ += line_mark(s->getBeginLoc());
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
    out_ += "if (" + (is_seldom(i) ? "__builtin_expect(!!(" + condition + "), 0)" : condition) + ") ";
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
  } else if (const auto* a = dyn_cast<AttributedStmt>(s)) {
    emit(a->getSubStmt());  // what is said of a loop is of one as it is
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

// In a function that enters its frame late: what it does for many things at once, which waits for others. What it is made of would be put
// into the function, and that no more into those that call it.
bool Function::is_seldom(const IfStmt* choice) const {
  struct Waits : Visitor {
    const Function& f;
    bool found = false;
    explicit Waits(const Function& function) : f(function) {}
    bool VisitCallExpr(CallExpr* call) override {
      const FunctionDecl* const callee = callee_of(call);
      found |= f.kind_of(call) == Call::kSite || (callee != nullptr && f.module_.enters_early(callee));
      return true;
    }
  } waits(*this);
  if (enters_late_ && choice->getElse() == nullptr && has_label(choice->getThen())) waits.TraverseStmt(const_cast<Stmt*>(choice->getThen()));
  return waits.found;
}

// What lives from the beginning of the block: its literals, and where a goto may lead back, what pointers may lead to before it is declared.
void Function::begin_scope(const CompoundStmt* block) {
  if (const auto known = literals_.find(block); known != literals_.end())
    for (const Literal& literal : known->second) scope_.push_back(literal.variable);
  for (const Stmt* child : block->body()) {
    const auto* const statement = dyn_cast<DeclStmt>(child);
    if (!has_jumps_ || statement == nullptr) continue;
    for (const Decl* d : statement->decls()) {
      const auto* const variable = dyn_cast<VarDecl>(d);
      const auto moved = variable == nullptr ? moved_.end() : moved_.find(variable->getCanonicalDecl());
      if (moved != moved_.end() && variables_[moved->second].in_place) scope_.push_back(moved->second);
    }
  }
}

void Function::emit_children(const CompoundStmt* compound) {
  const size_t scope = scope_.size();
  begin_scope(compound);
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
    const auto* const variable = dyn_cast<VarDecl>(d);
    if (variable != nullptr && variable->hasLocalStorage()) {
      if (!moved_.contains(variable->getCanonicalDecl())) continue;  // a list of arguments, which is over before a line is taken
      const size_t moved = moved_.at(variable->getCanonicalDecl());
      if (std::find(scope_.begin(), scope_.end(), moved) == scope_.end()) push_scope(moved);
      if (variable->getType()->isVariablyModifiedType()) emit_extents(variable);
      if (variable->getInit() == nullptr) continue;
      out_ += line_mark(variable->getLocation());
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
  const Variable v = variables_[moved_.at(variable->getCanonicalDecl())];  // there may be more, in what follows
  const bool is_array = variable->getType()->isArrayType();
  out_ += line_mark(variable->getLocation());
  std::string extents;
  size_t dimensions = 0;
  auto extent = v.extents.begin();
  QualType element = variable->getType();
  while (element->isPointerType()) element = element->getPointeeType();
  for (; const ArrayType* array = unit_.context().getAsArrayType(element); element = array->getElementType(), ++dimensions) {
    const auto* fixed = dyn_cast<ConstantArrayType>(array);
    std::string size = fixed != nullptr ? std::to_string(fixed->getSize().getZExtValue()) : value_of(cast<VariableArrayType>(array)->getSizeExpr());
    if (fixed == nullptr && !v.extents.empty()) {
      const std::string& name = variables_[*extent++].name;
      out_ += name + " = " + size + "; ";
      size = name;
    }
    extents += size + ", ";
  }
  if (!is_array) return;
  const std::string memory = module_.types().of_elements(element, module_.program().characters().are_text(unit_, variable)), type = memory.empty() ? "0" : memory;
  if (memory.empty()) module_.leave_handles(element, variable->getLocation());
  out_ += "{ const __typeof__(sizeof 0) elc_x[] = {" + extents + "}; " + v.name + " = ELC_Program_array(" + v.name + ", " + std::to_string(dimensions) +
          ", elc_x, sizeof *" + v.name + ", " + type + "); } ";
}

void Function::emit_initial(const VarDecl* variable) {
  const Expr* init = variable->getInit();
  const std::string name = variables_[moved_.at(variable->getCanonicalDecl())].itself();
  const size_t scope = scope_.size();
  const Expr* plain = init->IgnoreParens();
  if (isa<InitListExpr>(plain) || isa<StringLiteral>(plain)) {
    const std::string value = value_of(init);
    out_ += is_zero(init) ? "__builtin_memset((void *)&" + name + ", 0, sizeof " + name + "); " : copied(name, value);
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

static const char* const kWide = "a bit-field of more bits than an int has, in an expression with calls that can reach MPI: put it into a variable before";

// An assignment, also to what has constant members.
std::string Function::set(const std::string& name, QualType type, const std::string& value) const {
  if (!has_constants(unit_.context(), type)) return name + " = " + value + "; ";
  return copied(name, value);
}

std::string Function::truth_of(const Expr* e) { return "((" + value_of(e) + ") != 0)"; }

std::string Function::value_of(const Expr* e, bool is_used) {
  if (!has_label(e)) return is_comma(e) ? "(" + text(e) + ")" : text(e);
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
    if (valued && (is_wide(choice->getTrueExpr()) || is_wide(choice->getFalseExpr()))) refuse(e->getBeginLoc(), kWide);
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
  begin_scope(e->getSubStmt());
  for (const Stmt* child : e->getSubStmt()->body()) {
    const auto* last = valued && child == e->getSubStmt()->body_back() ? dyn_cast<Expr>(child) : nullptr;
    if (last == nullptr) {
      emit(child);
    } else {
      if (is_wide(last)) refuse(e->getBeginLoc(), kWide);
      const std::string value = value_of(last);
      out_ += set(result, e->getType(), value);
    }
  }
  out_ += " }";
  scope_.resize(scope);
  return result;
}

// A bit-field of more bits than an int has is of a type that C has no name for.
bool Function::is_wide(const Expr* e) const {
  const FieldDecl* const bits = e->IgnoreParenImpCasts()->getSourceBitField();
  return bits != nullptr && bits->getBitWidthValue(unit_.context()) > unit_.context().getIntWidth(unit_.context().IntTy);
}

// C leaves open what comes first, but compilers have a number on the left before they call what is on the right, and programs rely on
// it, as with rand() % 6 + f(); so it is with what comes first in a list. When a variable alone is read they do not agree on.
std::set<const Expr*> Function::operands_before_calls(const Expr* e) const {
  std::set<const Expr*> first;
  // What the call may change, of operators whose left side is never read behind it.
  const auto may_change = [&](const Expr* left) {
    const auto* const both = dyn_cast<BinaryOperator>(e);
    const auto* const variable = dyn_cast<VarDecl>(cast<DeclRefExpr>(left)->getDecl());
    const bool is_ordered = both != nullptr && (both->isMultiplicativeOp() || both->isShiftOp() || both->getOpcode() == BO_Sub) && both->getOpcode() != BO_Mul;
    return is_ordered && variable != nullptr && (!variable->hasLocalStorage() || address_taken_.contains(variable->getCanonicalDecl()));
  };
  const auto see = [&](const Expr* left) {
    const Expr* const inner = left->IgnoreParenImpCasts();
    if (!left->getType()->isArithmeticType() || (isa<DeclRefExpr>(inner) && !may_change(inner)) || left->isEvaluatable(unit_.context())) return;
    if (isa<CallExpr>(inner) && has_label(inner)) return;  // is kept anyway
    if (is_wide(inner)) return;
    Described d;
    std::string why;
    if (module_.types().describe(left->getType(), &d, &why)) first.insert(left);
  };
  if (const auto* both = dyn_cast<BinaryOperator>(e); both != nullptr && !both->isAssignmentOp() && has_label(both->getRHS())) see(both->getLHS());
  if (const auto* list = dyn_cast<InitListExpr>(e)) {
    unsigned end = list->getNumInits();
    while (end > 0 && !has_label(list->getInit(end - 1))) --end;
    for (unsigned i = 0; i + 1 < end; ++i)
      if (!isa<InitListExpr, DesignatedInitExpr>(list->getInit(i))) see(list->getInit(i));
  }
  return first;
}

// The text of an expression in which those below that have labels have been evaluated before.
std::string Function::substituted(const Expr* e) {
  if (const auto* list = dyn_cast<InitListExpr>(e); list != nullptr && list->isSemanticForm() && list->getSyntacticForm() != nullptr)
    e = list->getSyntacticForm();  // what several elements have is there once
  std::vector<Edits::Edit> values;
  const std::set<const Expr*> first = operands_before_calls(e);
  for (const Stmt* child : e->children()) {
    const auto* below = dyn_cast_or_null<Expr>(child);
    if (below == nullptr || (!has_label(below) && !first.contains(below))) continue;
    values.push_back({unit_.begin_of(below->getBeginLoc()), unit_.end_of(below->getEndLoc()), true, "", ""});
    std::string value = value_of(below);
    if (first.contains(below)) {
      const std::string kept = variables_[temporary(below->getType())].name;
      out_ += set(kept, below->getType(), value);
      value = kept;
    }
    values.back().before = isa<InitListExpr>(below) || isa<DesignatedInitExpr>(below) ? value : "(" + value + ")";
  }
  return module_.edits().text(unit_.begin_of(e->getBeginLoc()), unit_.end_of(e->getEndLoc()), values);
}

// A pointer into an array of a struct that is a value, as of a function's result, leads to memory that the compiler has for it as long as
// the statement lasts: here it is a variable. `values`: those structs, outside of calls.
void Function::find_values(const Stmt* s, std::vector<const Expr*>* values) const {
  const auto* cast = dyn_cast<ImplicitCastExpr>(s);
  if (cast != nullptr && cast->getCastKind() == CK_ArrayToPointerDecay) {
    const Expr* of = cast->getSubExpr()->IgnoreParens();
    for (;;) {
      const auto* member = dyn_cast<MemberExpr>(of);
      const auto* element = dyn_cast<ArraySubscriptExpr>(of);
      if (member != nullptr && !member->isArrow()) of = member->getBase()->IgnoreParens();
      else if (element != nullptr && element->getBase()->IgnoreParenImpCasts()->getType()->isArrayType()) of = element->getBase()->IgnoreParenImpCasts();
      else break;
    }
    const auto* call = dyn_cast<CallExpr>(of);
    if (of->isPRValue() && of->getType()->isRecordType()) {
      if (call == nullptr || kind_of(call) == Call::kPlain) values->push_back(of);
      return;
    }
  }
  if (isa<CallExpr, StmtExpr>(s)) return;
  for (const Stmt* child : s->children())
    if (child != nullptr) find_values(child, values);
}

// Whether there is a call with a label that is in none of the values.
bool Function::calls_beside(const Stmt* s, const std::vector<const Expr*>& values) const {
  if (!has_label(s) || std::find(values.begin(), values.end(), s) != values.end()) return false;
  if (isa<CallExpr>(s)) return true;
  return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* child) { return child != nullptr && calls_beside(child, values); });
}

std::string Function::value_in_memory(const Expr* e, const std::vector<const Expr*>& values) {
  std::vector<Edits::Edit> kept;
  for (const Expr* value : values) {
    const std::string text = value_of(value), name = variables_[temporary(value->getType())].name;
    out_ += set(name, value->getType(), text);
    kept.push_back({unit_.begin_of(value->getBeginLoc()), unit_.end_of(value->getEndLoc()), true, name, ""});
  }
  if (calls_beside(e, values)) refuse(e->getBeginLoc(), "an array of a struct that is a value, and calls that can reach MPI beside it: give it a name");
  return module_.edits().text(unit_.begin_of(e->getBeginLoc()), unit_.end_of(e->getEndLoc()), kept);
}

// What has an effect, or is a call itself, is evaluated before the variables are stored; a call that is made again does not
// evaluate it again.
std::string Function::argument(const Expr* e, QualType type, bool is_rank) {
  std::vector<const Expr*> values;
  if (e->getType()->isPointerType() || e->getType()->isRecordType()) find_values(e, &values);
  if (values.empty() && !has_label(e) && !e->HasSideEffects(unit_.context())) return text(e);
  const std::string value = values.empty() ? value_of(e) : value_in_memory(e, values);
  if (type->isVariablyModifiedType()) {  // of what the function that is called knows
    const size_t kept = temporary(unit_.context().VoidPtrTy);
    out_ += variables_[kept].name + " = (void *)(" + value + "); ";
    return variables_[kept].name;
  }
  const size_t kept = temporary(type);
  // What is kept is the program's, as a restart may be under another MPI.
  out_ += set(variables_[kept].name, type, is_rank ? "elc_rank_of(" + value + ")" : value);
  return is_rank ? "elc_rank(" + variables_[kept].name + ")" : variables_[kept].name;
}

bool Function::stays(const Expr* place) const {
  const auto is_kept = [this](const Expr* value) {  // a number, or a pointer
    const auto* reference = dyn_cast<DeclRefExpr>(value->IgnoreParenImpCasts());
    const auto* v = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    return v != nullptr && v->hasLocalStorage() && !address_taken_.contains(v->getCanonicalDecl());
  };
  place = place->IgnoreParens();
  if (isa<DeclRefExpr>(place)) return true;
  if (const auto* member = dyn_cast<MemberExpr>(place)) return member->isArrow() ? is_kept(member->getBase()) : stays(member->getBase());
  if (const auto* pointed = dyn_cast<UnaryOperator>(place)) return pointed->getOpcode() == UO_Deref && is_kept(pointed->getSubExpr());
  const auto* element = dyn_cast<ArraySubscriptExpr>(place);
  if (element == nullptr || !(isa<IntegerLiteral>(element->getIdx()->IgnoreParenImpCasts()) || is_kept(element->getIdx()))) return false;
  const Expr* const array = element->getBase()->IgnoreImpCasts();
  return array->getType()->isArrayType() ? stays(array) : is_kept(array);
}

std::string Function::call(const CallExpr* call, Call kind, bool is_used) {
  std::string callee = text(call->getCallee()), arguments;
  if (has_label(call->getCallee()) || (callee_of(call) == nullptr && call->getCallee()->HasSideEffects(unit_.context())))
    callee = argument(call->getCallee(), call->getCallee()->getType());
  const QualType called = call->getCallee()->getType();
  const auto* prototype = (called->isPointerType() ? called->getPointeeType() : called)->getAs<FunctionProtoType>();
  for (unsigned i = 0; i < call->getNumArgs(); ++i) {
    const bool known = prototype != nullptr && i < prototype->getNumParams();
    arguments += (arguments.empty() ? "" : ", ") + argument(call->getArg(i), known ? prototype->getParamType(i) : call->getArg(i)->getType(),
                                                                  module_.program().translates_ranks() && is_rank(call, i));
  }
  Label label;
  label.is_site = kind == Call::kSite;
  label.live = live_at(call, label.is_site);
  const std::string number = std::to_string(labels_.size() + 1), place = "elc_L" + number + ": ";
  const bool valued = is_used && !call->getType()->isVoidType();
  std::string result;
  if (valued) result = variables_[temporary(call->getType())].name;
  if (!label.is_site) label.again = again(call, result);
  label.result = result;
  const FunctionDecl* const named = callee_of(call);
  if (kind == Call::kInstrumented && named != nullptr && !module_.program().is_other_name(unit_, named)) label.callee = named->getName().str();
  label.number = number_of_label(call);
  labels_.push_back(label);
  const std::string made = valued ? set(result, call->getType(), callee + "(" + arguments + ")") : callee + "(" + arguments + "); ";
  out_ += before_call(label.live) + (label.is_site ? place : "") + "elc_f.elc_h.label = " + number + "; elc_f.elc_h.is_site = " +
          (label.is_site ? "1; " : "0; ") + made + (label.is_site ? "" : place) + behind_call();
  for (const auto& [place, type] : module_.led_by(call))
    if (stays(place)) out_ += "ELC_Program_as(" + text(place) + ", " + type + "); ";
  return result.empty() ? result : module_.with_memory(call, result);
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
  std::string what = callee != nullptr ? text : "((__typeof__(&*(" + text + ")))ELC_Program_target())";
  // The compiler would compute itself what one of that name returns for 0.
  if (callee != nullptr && callee->getBuiltinID() != 0) what = "({ __typeof__(&" + text + ") volatile elc_b = " + text + "; elc_b; })";
  const std::string made = what + "(" + arguments + ")";
  return result.empty() ? made + "; " : set(result, call->getType(), made);
}

}  // namespace elc::cc
