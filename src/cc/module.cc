#include "cc/module.h"

#include <fcntl.h>

#include <functional>

#include "cc/addresses.h"
#include "cc/function.h"
#include "cc/moves.h"
#include "cc/orders.h"
#include "cc/ranks.h"
#include "cc/visitor.h"
#include "clang/AST/Attr.h"
#include "clang/AST/ParentMapContext.h"
#include "elc_program.h"

namespace elc::cc {

using namespace clang;

namespace {

// The bytes of a string as a literal of C.
std::string in_quotes(StringRef bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const char octal[] = {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
                          static_cast<char>('0' + (byte & 7)), '\0'};
    if (isalnum(byte) != 0 || c == ' ' || c == '_') out += c;
    else out += octal;
  }
  return out + "\"";
}

const VarDecl* definition_of(const VarDecl* variable) {
  if (const VarDecl* definition = variable->getDefinition()) return definition;
  const VarDecl* acting = variable->getActingDefinition();
  return acting != nullptr ? acting : variable;
}

// A parameter or result in a declaration that needs none of the file's types.
std::string bare(QualType type) {
  if (type->isPointerType()) return "void *";
  if (const auto* named = type->getAs<EnumType>()) type = named->getDecl()->getIntegerType();
  return type.getCanonicalType().getUnqualifiedType().getAsString();
}

}  // namespace

// Goes over the file: strings, static locals, functions that are replaced, conversions of memory.
class FileVisitor : public Visitor {
 public:
  explicit FileVisitor(Module& module) : m_(module), unit_(module.unit_) {}

  bool VisitCallExpr(CallExpr* call) override {
    if (const Pragma* const pragma = unit_.pragma_of(call)) give_type(call, *pragma);
    const FunctionDecl* callee = callee_of(call);
    // What is converted has been seen before.
    if (!seen_.contains(call) && m_.program_.characters().gives_memory(unit_, call)) give(call, call->getType()->getPointeeType(), true);
    for (const Expr* argument : call->arguments()) give_behind(call, argument);
    if (callee == nullptr) return true;
    direct_.insert(call->getCallee()->IgnoreParenImpCasts());
    if (m_.program_.defines(unit_, callee)) return true;
    give_result(call, callee);
    each_passing_self(call, [this](const Expr* self) { followed_.insert(self); });
    const Known known = m_.program_.known(callee->getName().str());
    if (known.kind == Known::Kind::kUnknown) return true;
    if (known.looks_outside) repeat(call, known);
    if (known.file != Known::File::kNone) follow_file(call, known);
    if (known.makes >= 0 || known.frees >= 0) follow_made(call, known);
    if (call->getType()->isPointerType() || known.keeps_pointers) return true;  // perhaps into what it was given
    for (const Expr* argument : call->arguments()) keep(argument);
    return true;
  }


  bool VisitDeclRefExpr(DeclRefExpr* reference) override {
    const size_t begin = unit_.begin_of(reference->getLocation()), end = unit_.end_of(reference->getLocation());
    if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl())) {
      const auto known = m_.statics_.find(variable->getCanonicalDecl());
      if (known != m_.statics_.end()) m_.edits_.replace(begin, end, known->second);
      const bool is_foreign = variable->isExternallyVisible() && variable->getDefinition() == nullptr;
      const std::string name = variable->getName().str(), why = is_foreign ? m_.program_.why_foreign(name) : "";
      const bool is_environment = name == "environ" || name == "__environ", is_name = name == "program_invocation_name" || name == "program_invocation_short_name";
      if (why.empty() && is_foreign && (is_environment || is_name)) {
        const std::string taken = is_environment ? "ELC_Program_environment()" : "ELC_Program_text(" + name + ")";
        if (values_.contains(reference)) m_.edits_.replace(begin, end, taken);
        else refuse_lines(reference, "lines do not have what it leads to", "code that sets " + name, "(*(", ", &" + name + "))");
      }
      if (!why.empty()) refuse_lines(reference, why, "code that uses '" + name + "'", "(*(", ", &" + name + "))");
    } else if (const auto* function = dyn_cast<FunctionDecl>(reference->getDecl())) {
      const std::string name = function->getName().str();
      const bool own = m_.program_.defines(unit_, function);
      const Known known = m_.program_.known(name);
      std::string symbol = name;
      // The C library has two of this name.
      const bool is_of_posix = name == "strerror_r" && !function->getReturnType()->isPointerType();
      if (!own && known.kind == Known::Kind::kReplaced && !is_of_posix) {
        symbol = known.text;
        m_.edits_.replace(begin, end, symbol);
        declare(symbol, function);
      }
      const std::string why = own || followed_.contains(reference) ? "" : known.kind == Known::Kind::kUnfit ? known.text : m_.program_.why_foreign(name);
      if (!why.empty() && !is_asked_for(reference)) {
        if (function->getBuiltinID() != 0 && name.starts_with("__builtin_")) refuse_lines(reference, why, name + "()", "(", ", " + name + ")");
        else refuse_lines(reference, why, name + "()", "(*(", ", &" + name + "))");
        if (function->isImplicit()) declare(name, function);  // by the call, which is none of a mere name now
      }
      if (!own && !direct_.contains(reference) && !name.starts_with("__atomic_")) add_function(symbol, name, false);  // no pointer can lead there
    }
    return true;
  }

  bool VisitCastExpr(CastExpr* cast) override {
    if (cast->getCastKind() == CK_ArrayToPointerDecay) {
      add_string(cast->getSubExpr());
      lift(cast->getSubExpr());
      return true;
    }
    if (cast->getCastKind() == CK_LValueToRValue) values_.insert(cast->getSubExpr()->IgnoreParens());
    if (cast->getCastKind() != CK_BitCast && cast->getCastKind() != CK_NoOp) return true;
    const QualType to = cast->getType();
    if (!to->isPointerType() || to->isFunctionPointerType() || to->isVoidPointerType()) return true;
    const Expr* source = cast->getSubExpr()->IgnoreParenCasts();
    const auto* call = dyn_cast<CallExpr>(source);
    if (call == nullptr) return see_pointer(cast, source);
    if (seen_.contains(call) || unit_.pragma_of(call) != nullptr) return true;
    const QualType from = call->getType();
    if (!from->isPointerType()) return true;
    const bool is_of_numbers = from->getPointeeType()->isArithmeticType() && m_.types_.holds_addresses(to->getPointeeType());
    if (!(from->isVoidPointerType() || from->getPointeeType()->isAnyCharacterType() || is_of_numbers || begins_with(to->getPointeeType(), from->getPointeeType()))) return true;
    if (!may_allocate(call)) return true;
    m_.lift(to->getPointeeType());
    give(call, to->getPointeeType());
    return true;
  }

  bool may_allocate(const CallExpr* call) const {
    const FunctionDecl* callee = callee_of(call);
    return callee == nullptr || m_.program_.defines(unit_, callee) || m_.program_.known(callee->getName().str()).allocates;
  }

  // *(void **)&p = malloc(size): p has what it is for.
  void give_by_address(const BinaryOperator* assignment) {
    const auto* const there = dyn_cast<UnaryOperator>(assignment->getLHS()->IgnoreParens());
    const auto* const cast = there == nullptr || there->getOpcode() != UO_Deref ? nullptr : dyn_cast<CastExpr>(there->getSubExpr()->IgnoreParens());
    const auto* const call = dyn_cast<CallExpr>(assignment->getRHS()->IgnoreParenCasts());
    if (cast == nullptr || call == nullptr || !assignment->getType()->isVoidPointerType() || !call->getType()->isVoidPointerType()) return;
    const QualType from = cast->getSubExpr()->IgnoreParenCasts()->getType();
    if (!from->isPointerType() || !from->getPointeeType()->isPointerType() || seen_.contains(call) || unit_.pragma_of(call) != nullptr || !may_allocate(call)) return;
    const QualType element = from->getPointeeType()->getPointeeType();
    if (element->isVoidType() || element->isFunctionType()) return;
    m_.lift(element);
    give(call, element);
  }

  bool VisitUnaryOperator(UnaryOperator* op) override {
    if (op->getOpcode() != UO_AddrOf) return true;
    add_string(op->getSubExpr());
    lift(op->getSubExpr());
    return true;
  }

  // A list is gone over as it was written, where nothing says that a struct or a vector in it becomes a value.
  bool dataTraverseStmtPre(Stmt* statement) override {
    if (const auto* list = dyn_cast<InitListExpr>(statement)) {
      if (list->isSemanticForm() && list->getSyntacticForm() != nullptr) list = list->getSyntacticForm();
      for (const Expr* element : list->inits()) {
        if (const auto* designated = dyn_cast<DesignatedInitExpr>(element)) element = designated->getInit();
        if (!element->getType()->isArrayType()) values_.insert(element->IgnoreParens());
      }
    }
    return true;
  }

  bool VisitCompoundLiteralExpr(CompoundLiteralExpr* e) override {
    if (e->isFileScope() && !values_.contains(e)) refuse(e);
    return true;
  }

  // The C library's own streams have a restart's; which other one a variable of its has, lines do not say.
  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (both->getOpcode() == BO_Assign) give_by_address(both);
    const auto* const to = both->isAssignmentOp() ? dyn_cast<DeclRefExpr>(both->getLHS()->IgnoreParens()) : nullptr;
    const std::string name = to == nullptr ? "" : to->getDecl()->getName().str();
    if ((name == "stdin" || name == "stdout" || name == "stderr") && unit_.in_system_header(to->getDecl()->getLocation()))
      refuse_lines(to, "lines do not have which stream it is when the program has set it; use freopen()", "code that sets " + name, "(*(", ", &" + name + "))");
    return true;
  }

  // Where there is but one thread, what each has is what all have.
  bool VisitVarDecl(VarDecl* variable) override {
    if (variable->getInit() != nullptr) values_.insert(variable->getInit()->IgnoreParens());
    clear(variable);
    if (variable->getTLSKind() == VarDecl::TLS_None || m_.program_.has_threads() || variable->isStaticLocal()) return true;
    const std::string& text = unit_.text();
    const auto is_of_word = [&](size_t at) { return isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_'; };
    const size_t end = unit_.begin_of(variable->getLocation());
    for (const std::string word : {"__thread", "_Thread_local"})
      for (size_t at = unit_.begin_of(variable->getBeginLoc()); (at = text.find(word, at)) < end; at += word.size())
        if ((at == 0 || !is_of_word(at - 1)) && !is_of_word(at + word.size()) && of_threads_.insert(at).second)
          m_.edits_.replace(at, at + word.size(), "");
    return true;
  }

  bool TraverseVarDecl(VarDecl* variable) override {
    const bool outer = in_initialiser_;
    if (!in_initialiser_) declared_ = unit_.begin_of(variable->getBeginLoc());
    in_initialiser_ |= variable->hasGlobalStorage();
    const bool all = Visitor::TraverseVarDecl(variable);
    in_initialiser_ = outer;
    return all;
  }

  void add_function(const std::string& symbol, const std::string& name, int given_to) {
    if (!functions_.insert(name).second) return;
    m_.functions_ += "{\"" + name + "\", (void (*)(void))" + symbol + ", " + std::to_string(given_to) + "}, ";
    ++m_.function_count_;
  }

 private:
  // As ELC_Program_as has it; empty: none.
  std::string type_of_memory(const CallExpr* call, QualType element, bool are_text) const {
    const std::string type = m_.types_.of_memory(element, are_text);
    const bool is_open = element->isRecordType() && !type.empty() && type.find('+') == std::string::npos && asks_for_more(call, element);
    return is_open ? type + " + " + std::to_string(ELC_PROGRAM_OPEN) : type;
  }

  // The memory that the call returns holds elements of this type.
  void give(const CallExpr* call, QualType element, bool is_as_it_is = false, bool are_text = false) {
    seen_.insert(call);
    const std::string type = type_of_memory(call, element, are_text || m_.program_.characters().are_text(unit_, call));
    if (type.empty()) return;
    std::string before = "ELC_Program_as(", behind = ", " + type + ")";
    if (is_as_it_is) before = "((" + m_.declaration(call->getType(), "", call->getBeginLoc()) + ")" + before, behind += ")";
    m_.memory_[call] = {before, behind};
    m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()), before, behind);
  }

  // The memory to which a call makes a pointer lead, that is given to it as one to anything: get((void **)&p, size).
  void give_behind(const CallExpr* call, const Expr* argument) {
    const FunctionDecl* const callee = callee_of(call);
    const std::string name = callee == nullptr ? "" : callee->getName().str();
    const auto* address = dyn_cast<UnaryOperator>(argument->IgnoreParenCasts());
    const QualType to = argument->IgnoreParenImpCasts()->getType(), result = call->getType();
    if (address == nullptr || address->getOpcode() != UO_AddrOf) return;
    if (name != "MPI_Alloc_mem" && name != "MPI_Win_allocate" && (!to->isPointerType() || !to->getPointeeType()->isVoidPointerType())) return;
    if (!address->getSubExpr()->getType()->isPointerType() || in_initialiser_ || m_.program_.reaches_mpi(unit_, call)) return;
    const QualType element = address->getSubExpr()->getType()->getPointeeType();
    if (element->isFunctionType() || element->isAnyCharacterType() || !(result->isVoidType() || result->isIntegerType() || result->isPointerType())) return;
    m_.lift(element);
    const std::string type = type_of_memory(call, element, false);
    if (type.empty()) return;
    const std::string place = "elc_at" + std::to_string(++places_);
    m_.edits_.wrap(unit_.begin_of(argument->getBeginLoc()), unit_.end_of(argument->getEndLoc()), "(" + place + " = (void **)(", "))");
    m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()),
                   "({ void **" + place + "; " + (result->isVoidType() ? "" : bare(result) + " elc_given = "),
                   "; ELC_Program_as(*" + place + ", " + type + "); " + (result->isVoidType() ? "" : "elc_given; ") + "})");
  }

  // Whether the program asks there whether there is such a function: if (hook), hook != NULL.
  bool is_asked_for(const DeclRefExpr* reference) const {
    DynTypedNode node = DynTypedNode::create(*reference);
    for (;;) {
      const auto parents = unit_.context().getParents(node);
      if (parents.size() != 1) return false;
      const auto* const inner = node.get<Expr>();
      node = parents[0];
      if (node.get<ImplicitCastExpr>() != nullptr || node.get<ParenExpr>() != nullptr) continue;
      if (const auto* choice = node.get<ConditionalOperator>()) return choice->getCond() == inner;  // else it may be what comes of it
      const auto* both = node.get<BinaryOperator>();
      const auto* one = node.get<UnaryOperator>();
      if (both != nullptr) return both->isEqualityOp() || both->isLogicalOp();
      return one != nullptr ? one->getOpcode() == UO_LNot : node.get<IfStmt>() != nullptr;
    }
  }

  // Whether it is given the size of one element and something more, as of text behind a struct.
  bool asks_for_more(const CallExpr* call, QualType element) const {
    const auto is_size = [&](const Stmt* e) {
      const auto* size = dyn_cast<UnaryExprOrTypeTraitExpr>(e);
      return size != nullptr && size->getKind() == UETT_SizeOf && unit_.context().hasSameUnqualifiedType(size->getTypeOfArgument(), element);
    };
    const std::function<int(const Stmt*)> sizes_in = [&](const Stmt* e) {
      int all = is_size(e) ? 1 : 0;
      for (const Stmt* child : e->children()) all += child == nullptr || isa<UnaryExprOrTypeTraitExpr>(e) ? 0 : sizes_in(child);
      return all;
    };
    const std::function<bool(const Expr*)> is_term = [&](const Expr* e) {
      e = e->IgnoreParenCasts();
      const auto* sum = dyn_cast<BinaryOperator>(e);
      return sum != nullptr && sum->getOpcode() == BO_Add ? is_term(sum->getLHS()) || is_term(sum->getRHS()) : is_size(e);
    };
    for (const Expr* argument : call->arguments()) {
      const auto* sum = dyn_cast<BinaryOperator>(argument->IgnoreParenCasts());
      if (sum != nullptr && sum->getOpcode() == BO_Add && is_term(sum) && sizes_in(sum) == 1) return true;
    }
    return false;
  }

  // The type that a pragma says.
  void give_type(const CallExpr* call, const Pragma& pragma) {
    const auto* named = dyn_cast_or_null<TypedefNameDecl>(unit_.declared(pragma.name));
    const QualType type = named == nullptr ? QualType() : named->getUnderlyingType();
    if (type.isNull() || (m_.types_.of_memory(type).empty() && !type->isAnyCharacterType()))
      return m_.error(call->getBeginLoc(), "#pragma elc type (" + pragma.place + "): lines have no memory of the type " + pragma.words[0]);
    give(call, type, false, type->isAnyCharacterType());
  }

  // Whether a struct begins with another, and has more: memory that a program gives for the one may be for the other.
  bool begins_with(QualType whole, QualType first) const {
    const RecordDecl* const part = first->getAsRecordDecl();
    for (const RecordDecl* record = whole->getAsRecordDecl(); part != nullptr && record != nullptr && record->isStruct() && record->getDefinition() != nullptr;) {
      record = record->getDefinition();
      if (record->field_empty()) return false;
      const FieldDecl* const field = *record->field_begin();
      record = field->isBitField() ? nullptr : field->getType()->getAsRecordDecl();
      if (record != nullptr && record->getCanonicalDecl() == part->getCanonicalDecl()) return unit_.context().getTypeSize(whole) > unit_.context().getTypeSize(first);
    }
    return false;
  }

  // A pointer that no call has returned says what memory is, too; where that holds addresses, a line has to know it, and a restart
  // elsewhere where it is more than it was made for.
  bool see_pointer(CastExpr* cast, const Expr* source) {
    const QualType from = source->getType(), to = cast->getType()->getPointeeType();
    const bool is_more = from->isPointerType() && begins_with(to, from->getPointeeType());
    if (!from->isPointerType() || !(from->isVoidPointerType() || from->getPointeeType()->isArithmeticType() || is_more)) return true;
    if (to->isIncompleteType() || !(is_more || m_.types_.holds_addresses(to)) || in_initialiser_ || !seen_.insert(source).second) return true;
    if (source->isNullPointerConstant(unit_.context(), Expr::NPC_ValueDependentIsNull) != Expr::NPCK_NotNull) return true;
    if (source->getType().isConstQualified() || from->getPointeeType().isConstQualified()) return true;
    m_.lift(to);
    const std::string type = m_.types_.of_memory(to);
    const auto* const sum = dyn_cast<BinaryOperator>(source);
    const bool is_simple = isa<DeclRefExpr, MemberExpr, ArraySubscriptExpr>(source) ||
                           ((isa<ConditionalOperator>(source) || (sum != nullptr && sum->isAdditiveOp())) && !m_.program_.reaches_mpi(unit_, source));
    if (!type.empty() && is_simple)
      m_.edits_.wrap(unit_.begin_of(source->getBeginLoc()), unit_.end_of(source->getEndLoc()), "ELC_Program_as(", ", " + type + ")");
    return true;
  }

  // What a function that keeps no pointers is given.
  void keep(const Expr* e) {
    e = e->IgnoreParenCasts();
    if (const auto* choice = dyn_cast<ConditionalOperator>(e)) {
      keep(choice->getTrueExpr());
      keep(choice->getFalseExpr());
    } else if (literal_of(e) != nullptr) {
      kept_.insert(literal_of(e));
    }
  }

  // A string, or __func__.
  static const StringLiteral* literal_of(const Expr* e) {
    const auto* name = dyn_cast<PredefinedExpr>(e->IgnoreParens());
    return name != nullptr ? name->getFunctionName() : dyn_cast<StringLiteral>(e->IgnoreParens());
  }

  // The string that becomes a pointer there is a variable: one for all that are the same, as compilers have it and programs rely on that
  // compare pointers to them.
  void add_string(const Expr* e) {
    const StringLiteral* const literal = literal_of(e);
    if (literal == nullptr || kept_.contains(literal)) return;
    const size_t begin = unit_.begin_of(e->IgnoreParens()->getBeginLoc()), end = unit_.end_of(e->IgnoreParens()->getEndLoc());
    const auto* of_function = dyn_cast<PredefinedExpr>(e->IgnoreParens());
    const std::string kind = of_function == nullptr ? literal->getType().getCanonicalType().getAsString() : PredefinedExpr::getIdentKindName(of_function->getIdentKind()).str();
    std::string& name = names_[{kind, literal->getBytes().str()}];
    if (!name.empty()) return m_.edits_.replace(begin, end, name);
    name = "elc_s" + std::to_string(++m_.string_count_);
    const bool is_wide = !literal->isAscii() && !literal->isUTF8();
    const QualType element = unit_.context().getBaseElementType(literal->getType()).getCanonicalType().getUnqualifiedType();
    Described characters = m_.described(is_wide ? element : QualType(unit_.context().CharTy));
    characters.count = literal->getLength() + 1;
    m_.strings_ += "static " + (is_wide ? element.getAsString() : "char") + " " + name + "[" + std::to_string(characters.count) + "] = " +
                   (is_wide ? unit_.text().substr(begin, end - begin) : in_quotes(literal->getBytes())) + "; ";
    m_.add_entry(m_.program_.file_name(unit_) + ":string " + std::to_string(m_.string_count_), name, characters, true);
    m_.edits_.replace(begin, end, name);
  }

  void refuse(const CompoundLiteralExpr* literal) {
    m_.error(literal->getBeginLoc(), "a compound literal outside of functions that lines cannot have: give it a name");
  }

  // Whether its type, or a variable in it, is declared with what it is a part of.
  bool needs_what_follows(const CompoundLiteralExpr* literal) const {
    struct Finder : Visitor {
      std::set<const Decl*> found;
      bool VisitDeclRefExpr(DeclRefExpr* e) override { return found.insert(e->getDecl()), true; }
    } finder;
    finder.TraverseStmt(const_cast<Expr*>(literal->getInitializer()));
    if (const TagDecl* tag = unit_.context().getBaseElementType(literal->getType())->getAsTagDecl()) finder.found.insert(tag);
    return std::any_of(finder.found.begin(), finder.found.end(), [&](const Decl* d) { return unit_.begin_of(d->getBeginLoc()) >= declared_; });
  }

  // A compound literal outside of functions to which a pointer leads is a variable, before that which is declared with it.
  void lift(const Expr* e) {
    const auto* literal = dyn_cast<CompoundLiteralExpr>(e->IgnoreParens());
    if (literal == nullptr || !literal->isFileScope()) return;
    values_.insert(literal);
    if (needs_what_follows(literal)) return refuse(literal);
    const std::string name = "elc_l" + std::to_string(m_.literals_.size() + 1);
    Described described;
    std::string why;
    if (!m_.types_.describe(literal->getType(), &described, &why, m_.program_.characters().are_text(unit_, literal)))
      return m_.error(literal->getBeginLoc(), "a compound literal cannot be part of lines: " + why);
    m_.literals_.push_back({literal, name, declared_});
    m_.add_entry(m_.program_.file_name(unit_) + ":literal " + std::to_string(m_.literals_.size()), name, described, literal->getType().isConstant(unit_.context()));
    m_.edits_.replace(unit_.begin_of(literal->getBeginLoc()), unit_.end_of(literal->getEndLoc()), name);
  }

  // What it sees may be another thing when a restart does again what a process has done behind its part of the line.
  void repeat(const CallExpr* call, const Known& known) {
    const Expr* const to = known.fills >= 0 && static_cast<unsigned>(known.fills) < call->getNumArgs() ? call->getArg(static_cast<unsigned>(known.fills)) : nullptr;
    m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()), "({ void *elc_to = 0; __typeof__(sizeof 0) elc_n = 0; int elc_r = ",
                   "; ELC_Program_outside(elc_r, elc_to, elc_n); })");
    if (to != nullptr)
      m_.edits_.wrap(unit_.begin_of(to->getBeginLoc()), unit_.end_of(to->getEndLoc()), "({ __auto_type elc_a = ", "; elc_to = (void *)elc_a; elc_n = sizeof *elc_a; elc_a; })");
    const Expr* const path = call->getNumArgs() > 0 ? call->getArg(0) : nullptr;
    if (path != nullptr && path->getType()->isPointerType() && path != to)
      m_.edits_.wrap(unit_.begin_of(path->getBeginLoc()), unit_.end_of(path->getEndLoc()), "ELC_Program_asks_of(", ")");
  }

  // What takes a function's place returns a void * for any pointer.
  void give_result(const CallExpr* call, const FunctionDecl* callee) {
    const QualType type = call->getType();
    if (type->isVoidPointerType() || !type->isPointerType() || m_.program_.known(callee->getName().str()).kind != Known::Kind::kReplaced) return;
    m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()), "((" + m_.declaration(type, "", call->getBeginLoc()) + ")", ")");
  }

  // A call by its name of what opens a file, or does something to one.
  void follow_file(const CallExpr* call, const Known& known) {
    const Expr* const callee = call->getCallee()->IgnoreParenImpCasts();
    const std::string name = callee_of(call)->getName().str();
    const std::string why = ", " + in_quotes(name + "() (" + unit_.place(callee->getBeginLoc()) + "): " + known.text) + ")";
    const Expr* around = call;
    std::string before = "ELC_Program_opened(", after = why;
    if (known.file == Known::File::kUsed) {
      Expr::EvalResult order;
      const bool duplicates = name.starts_with("fcntl") && (call->getNumArgs() < 2 || !call->getArg(1)->EvaluateAsInt(order, unit_.context()) ||
                                                           order.Val.getInt() == F_DUPFD || order.Val.getInt() == F_DUPFD_CLOEXEC);
      if (call->getNumArgs() == 0 || duplicates) return;
      around = call->getArg(0);
      before = "ELC_Program_used(";
    } else if (known.file != Known::File::kOpened) {
      before = "((" + call->getType().getAsString() + ")ELC_Program_opened_" + (known.file == Known::File::kOpenedStream ? "stream(" : "directory(");
      after += ")";
    }
    m_.edits_.wrap(unit_.begin_of(around->getBeginLoc()), unit_.end_of(around->getEndLoc()), before, after);
    followed_.insert(callee);
  }

  // A call by its name of what makes something in memory of the C library's, or frees it.
  void follow_made(const CallExpr* call, const Known& known) {
    const auto place = static_cast<unsigned>(std::max(known.makes, known.frees));
    if (call->getNumArgs() <= place) return;
    const Expr* const callee = call->getCallee()->IgnoreParenImpCasts();
    const Expr* const object = call->getArg(place);
    const std::string why = in_quotes(callee_of(call)->getName().str() + "() (" + unit_.place(callee->getBeginLoc()) + "): " + known.text);
    const bool makes = known.makes >= 0;
    m_.edits_.wrap(unit_.begin_of(object->getBeginLoc()), unit_.end_of(object->getEndLoc()), makes ? "ELC_Program_makes(" : "ELC_Program_frees(", makes ? ", " + why + ")" : ")");
    if (makes) m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()), "ELC_Program_made(", ")");
    followed_.insert(callee);
  }

  // What a function leaves out of a struct is what was there before: perhaps an address that a line would find in numbers to which the
  // struct is copied. Vectors and matrices are set as a whole, and often.
  void clear(const VarDecl* variable) {
    constexpr int64_t kMost = 1024;  // so much costs little
    const ASTContext& context = unit_.context();
    const QualType type = variable->getType();
    if (!variable->hasLocalStorage() || variable->getInit() != nullptr || isa<ParmVarDecl>(variable) || variable->hasAttrs() || unit_.in_system_header(variable->getLocation())) return;
    if (type->isVariablyModifiedType() || type.isConstQualified() || !context.getBaseElementType(type)->isStructureType() || context.getBaseElementType(type)->getAsRecordDecl()->isImplicit()) return;
    if (const QualType number = only_number(type); !number.isNull() && number->isFloatingType()) return;
    const int64_t size = context.getTypeSizeInChars(type).getQuantity();
    if (size < context.getTypeSizeInChars(context.VoidPtrTy).getQuantity() || size > kMost) return;
    m_.edits_.wrap(unit_.begin_of(variable->getLocation()), unit_.end_of(variable->getEndLoc()), "", " = {0}");
  }

  // From where this is evaluated on.
  void refuse_lines(const DeclRefExpr* reference, const std::string& why, const std::string& what, const std::string& before, const std::string& behind) {
    if (in_initialiser_) return m_.error(reference->getLocation(), what + ": " + why);
    const std::string unfit = "ELC_Program_unfit(" + in_quotes(what + " (" + unit_.place(reference->getLocation()) + "): " + why) + ")";
    m_.edits_.replace(unit_.begin_of(reference->getLocation()), unit_.end_of(reference->getLocation()), before + unfit + behind);
  }

  void declare(const std::string& symbol, const FunctionDecl* function) {
    std::string parameters;
    for (const ParmVarDecl* parameter : function->parameters())
      parameters += (parameters.empty() ? "" : ", ") + bare(parameter->getType());
    if (function->isVariadic()) parameters += ", ...";
    if (symbol == "ELC_Program_init") parameters = "int *, char ***";
    // Numbers that have another size where files may be large.
    if (symbol == "ELC_Program_truncate") parameters = "const char *, long long";
    if (symbol == "ELC_Program_mmap") parameters = "void *, __typeof__(sizeof 0), int, int, int, long long";
    if (symbol == "ELC_Program_init_thread") parameters = "int *, char ***, int, int *";
    m_.replaced_[symbol] = "extern " + bare(function->getReturnType()) + " " + symbol + "(" + (parameters.empty() && function->hasPrototype() ? "void" : parameters) + "); ";
  }

  Module& m_;
  const Unit& unit_;
  std::set<const Expr*> direct_;
  std::set<const Expr*> followed_;  // names in calls of which the library is told
  std::set<const StringLiteral*> kept_;
  std::map<std::pair<std::string, std::string>, std::string> names_;  // of the variables that strings are, by their type, or that they are a function's name
  std::set<const Expr*> seen_;
  int places_ = 0;                // to which calls make pointers lead
  std::set<const Expr*> values_;  // literals to which no pointer leads, or which have a name already
  std::set<size_t> of_threads_;   // the words that said so
  bool in_initialiser_ = false;  // of a variable of the file, where nothing can be called
  size_t declared_ = 0;          // where the declaration begins that is gone over
  std::set<std::string> functions_;
};

// The type without names of typedefs, but for those that have attributes which it has not without.
static QualType with_attributes(ASTContext& context, QualType type) {
  const Qualifiers qualifiers = type.getCanonicalType().getLocalQualifiers();
  for (QualType sugar = type; sugar.getTypePtr() != sugar.getSingleStepDesugaredType(context).getTypePtr(); sugar = sugar.getSingleStepDesugaredType(context)) {
    const auto* const named = dyn_cast<TypedefType>(sugar.getTypePtr());
    const bool matters = named != nullptr && (named->getDecl()->hasAttr<AlignedAttr>() || named->getDecl()->hasAttr<MayAliasAttr>());
    if (matters && named->getDecl()->getDeclContext()->isTranslationUnit()) return context.getQualifiedType(context.getTypedefType(named->getDecl()), qualifiers);
  }
  const QualType canonical = type.getCanonicalType();
  if (const auto* pointer = type->getAs<PointerType>(); pointer != nullptr && !pointer->getPointeeType()->isFunctionType()) {
    const QualType pointee = with_attributes(context, pointer->getPointeeType());
    return pointee.isCanonical() ? canonical : context.getQualifiedType(context.getPointerType(pointee), qualifiers);
  }
  if (const auto* array = context.getAsConstantArrayType(type)) {
    const QualType element = with_attributes(context, array->getElementType());
    return element.isCanonical() ? canonical : context.getConstantArrayType(element, array->getSize(), nullptr, ArrayType::Normal, 0);
  }
  return canonical;
}

std::string Module::declaration(QualType type, const std::string& name, SourceLocation at) {
  PrintingPolicy policy(unit_.context().getLangOpts());
  policy.SuppressTagKeyword = false;
  policy.Bool = false;
  std::string out;
  llvm::raw_string_ostream stream(out);
  // Without the names that typedefs have: a variable of the function may hide one.
  with_attributes(unit_.context(), type).print(stream, policy, name);
  stream.flush();
  if (out.find("(unnamed") == std::string::npos && out.find("(anonymous") == std::string::npos) return out;
  error(at, "the type of '" + name + "' has no name: give the struct, union or enum one");
  return "int " + name;
}

std::string Module::alignment(const VarDecl* variable) const {
  const ASTContext& context = unit_.context();
  const int64_t by = context.getDeclAlign(variable, true).getQuantity();
  if (!variable->hasAttr<AlignedAttr>() && by <= context.getTypeAlignInChars(variable->getType().getCanonicalType()).getQuantity()) return "";
  return " __attribute__((aligned(" + std::to_string(by) + ")))";
}

void Module::add_variable(const VarDecl* variable, const std::string& symbol, const std::string& name) {
  if (variable->hasAttr<AliasAttr>() || variable->hasAttr<WeakRefAttr>()) return;  // another name of one that lines have
  if (!registered_.insert(variable->getCanonicalDecl()).second) return;
  const std::string shown = variable->getName().str();
  bool is_transient = false;
  for (const VarDecl* declared : variable->redecls()) is_transient |= unit_.pragma_of(declared, Pragma::Kind::kTransient) != nullptr;
  if ((variable->getTLSKind() != VarDecl::TLS_None && program_.has_threads()) || variable->hasAttr<OMPThreadPrivateDeclAttr>()) return error(variable->getLocation(), "'" + shown + "' is of each thread, which lines cannot have");
  Described described;
  std::string why;
  const QualType element = unit_.context().getBaseElementType(variable->getType());
  // What is in a buffer for jumps goes with the function that has set it; nobody waits for a lock where there is one thread.
  if (is_transient || Types::is_jump_buffer(element) || Types::is_lock(element)) {
    described = this->described(unit_.context().UnsignedCharTy);
    described.count = static_cast<uint64_t>(unit_.context().getTypeSizeInChars(variable->getType()).getQuantity());
    return add_entry(unique_name(name), symbol, described, true);
  }
  Types::More more;
  if (!types_.describe_variable(variable, variable->getType(), &described, &more, &why)) return error(variable->getLocation(), "'" + shown + "' cannot be part of lines: " + why);
  const bool is_constant = variable->getType().isConstant(unit_.context());
  if (described.count > 0) add_entry(unique_name(name), symbol, described, is_constant);
  if (!more.member.empty()) add_entry(unique_name(name + "." + more.member), symbol + "." + more.member, more.described, is_constant);
}

std::string Module::unique_name(const std::string& name) {
  std::string unique = name;
  for (int n = 2; !names_.insert(unique).second; ++n) unique = name + " " + std::to_string(n);
  return unique;
}

Described Module::described(QualType scalar) {
  Described one;
  std::string why;
  types_.describe(scalar, &one, &why);  // lines have all scalars
  return one;
}

void Module::add_entry(const std::string& name, const std::string& symbol, const Described& described, bool is_constant) {
  variables_ += "{\"" + name + "\", (void *)&" + symbol + ", &" + described.type + ", " +
                (described.target.empty() ? "0" : "&" + described.target) + ", " + std::to_string(described.count) + ", " +
                (is_constant ? "1" : "0") + "}, ";
  ++variable_count_;
}

namespace {

// The functions that are defined here, and where text of the file's scope can be put before each.
std::vector<Definition> definitions(const Unit& unit) {
  std::vector<Definition> all;
  size_t last = 0;
  for (const Decl* d : unit.context().getTranslationUnitDecl()->decls()) {
    if (d->isImplicit() || d->getEndLoc().isInvalid()) continue;
    const auto* function = dyn_cast<FunctionDecl>(d);
    const bool body = function != nullptr && function->doesThisDeclarationHaveABody();
    if (body && !unit.in_system_header(d->getLocation())) all.push_back({function, last});
    size_t end = unit.end_of(d->getEndLoc());
    if (isa<TagDecl>(d)) {
      end = unit.text().find_first_not_of(" \t\n", end_of_type(unit, d));
      if (end == std::string::npos || unit.text()[end] != ';') continue;  // the type of what comes next
    } else if (!body) {
      end = unit.text().find(';', end - 1);
    }
    if (end != std::string::npos) last = std::max(last, body ? end : end + 1);
  }
  return all;
}

}  // namespace

// An attribute or a pragma, which clang does not know.
void Module::refuse_orders() {
  const size_t at = unit_.text().find("scalar_storage_order");
  if (at == std::string::npos) return;
  const SourceManager& sources = unit_.sources();
  error(sources.getLocForStartOfFile(sources.getMainFileID()).getLocWithOffset(static_cast<int>(at)),
        "scalar_storage_order: elc-cc does not know how numbers lie in memory then");
}

// No line is taken when a function has made a number of an address.
void Module::watch_addresses() {
  const auto is_given = [this](const Parameter& p) { return program_.is_given_address(unit_, p.first, p.second); };
  std::set<const Expr*> watched;
  const auto computes = [this](const FunctionDecl* function, const Expr* where) {
    return in_quotes(function->getName().str() + "() (" + unit_.place(where->getBeginLoc()) + "): " + kComputesWithAddress + " (-felc-address-numbers, if it has not)");
  };
  for (const auto& [function, numbers] : numbers_of_addresses(unit_, is_given).functions) {
    for (const Expr* pointer : numbers.looked_at)
      edits_.wrap(unit_.begin_of(pointer->getBeginLoc()), unit_.end_of(pointer->getEndLoc()), "ELC_Program_half_at((const volatile void *)(", "), " + computes(function, pointer) + ")");
    for (const Expr* made : numbers.made) {
      const std::string why = computes(function, made);
      const auto wholes = numbers.wholes.find(made);
      if (wholes == numbers.wholes.end()) {
        edits_.wrap(unit_.begin_of(made->getBeginLoc()), unit_.end_of(made->getEndLoc()), "(ELC_Program_unfit(" + why + "), ", ")");
        continue;
      }
      for (const Expr* whole : wholes->second) {
        if (!watched.insert(whole).second) continue;
        std::string before = "ELC_Program_number_of((const volatile void *)(", behind = "), " + why + ")";
        if (whole->getType()->isIntegerType()) {
          before = "((" + whole->getType().getCanonicalType().getUnqualifiedType().getAsString() + ")(unsigned long)ELC_Program_number_of((const volatile void *)(unsigned long)(";
          behind += ")";
        }
        edits_.wrap(unit_.begin_of(whole->getBeginLoc()), unit_.end_of(whole->getEndLoc()), before, behind);
      }
    }
  }
  for (const auto& [function, both] : orders_of_addresses(unit_)) {
    const std::string why = function->getName().str() + "() (" + unit_.place(both->getBeginLoc()) + "): it asks which of two addresses comes first, and a restart has others (-felc-address-numbers, if that is of no account)";
    const size_t begin = unit_.begin_of(both->getBeginLoc()), end = unit_.end_of(both->getEndLoc()), at = unit_.begin_of(both->getOperatorLoc());
    const std::string how = both->getOpcodeStr().str();
    const std::string given = "(const volatile void *)(";
    std::string before = "(", then = how + " 0";
    if (both->getOpcode() == BO_Sub) {
      const QualType to = both->getLHS()->getType()->getPointeeType();
      before += "(" + both->getType().getCanonicalType().getAsString() + ")";
      then = "/ " + std::to_string(to.isNull() ? 1 : std::max<int64_t>(1, unit_.context().getTypeSizeInChars(to).getQuantity()));
    }
    edits_.wrap(begin, end, before + "(ELC_Program_order(", ", " + in_quotes(why) + ") " + then + "))");
    edits_.wrap(begin, unit_.end_of(both->getLHS()->getEndLoc()), given, ")");
    edits_.replace(at, at + how.size(), ",");
    edits_.wrap(unit_.begin_of(both->getRHS()->getBeginLoc()), end, given, ")");
  }
}

std::string Module::transform(size_t units) {
  TranslationUnitDecl* const file = unit_.context().getTranslationUnitDecl();
  name_tags();
  const std::vector<Definition> all = definitions(unit_);
  for (const Definition& d : all) find_types(d.function);
  for (const Definition& d : all) add_statics(d.function);
  std::vector<std::unique_ptr<Function>> functions;
  for (const Definition& d : all)
    if (program_.reaches_site(unit_, d.function)) functions.push_back(std::make_unique<Function>(*this, d.function));

  FileVisitor visitor(*this);
  for (Decl* d : file->decls()) {
    const bool is_of_system = unit_.in_system_header(d->getLocation());
    if (const auto* variable = dyn_cast<VarDecl>(d); variable != nullptr && (!is_of_system || variable->isReferenced())) {
      const bool external = variable->isExternallyVisible();
      const std::string name = variable->getName().str();
      if (variable->isThisDeclarationADefinition() != VarDecl::DeclarationOnly)
        add_variable(definition_of(variable), name,
                     external ? name : program_.file_name(unit_) + ":" + name);
    }
    if (!is_of_system || (isa<VarDecl>(d) && cast<VarDecl>(d)->isReferenced())) visitor.TraverseDecl(d);
  }
  for (const Definition& d : all)
    if (d.function->isMain()) add_process();
  for (const Definition& d : all)
    if (program_.is_address_taken(unit_, d.function)) visitor.add_function(d.function->getName().str(), program_.name_of(unit_, d.function), program_.given_to(unit_, d.function));

  follow_moves(unit_, program_, &edits_);
  if (!program_.may_compute_with_addresses()) watch_addresses();
  if (program_.translates_ranks()) translate_ranks(unit_, &edits_);
  rename_uses();
  refuse_orders();

  // From here on the changes are complete, and texts can be taken.
  std::vector<std::pair<size_t, std::string>> statics;
  for (const Definition& d : all) {
    std::string out;
    std::map<size_t, std::string> moved;  // in the order of the source: the one may need the other
    for (const DeclStmt* statement : lifted_)
      if (owners_.at(statement) == d.function) moved[unit_.begin_of(statement->getBeginLoc())] = lifted_text(statement);
    for (const auto& [name, inside] : inside_[d.function])
      out += (inside->isExternallyVisible() ? "extern " : "static ") + declaration(inside->getType(), name, inside->getLocation()) + "; ";
    for (const VarDecl* variable : static_order_) {
      if (variable->getDeclContext() != d.function) continue;
      const std::string& symbol = statics_.at(variable);
      std::string text = "static " + declaration(variable->getType(), symbol, variable->getLocation()) + alignment(variable);
      if (const auto* section = variable->getAttr<SectionAttr>()) text += " __attribute__((section(" + in_quotes(section->getName().str()) + ")))";
      if (variable->hasAttr<UsedAttr>()) text += " __attribute__((used))";
      if (const Expr* init = variable->getInit())
        text += " = " + edits_.text(unit_.begin_of(init->getBeginLoc()), unit_.end_of(init->getEndLoc()));
      moved[unit_.begin_of(variable->getLocation())] = text + "; ";
    }
    for (const auto& [place, text] : moved) out += text;
    if (!out.empty()) statics.emplace_back(d.place, d.place == 0 ? out + "\n" : out);  // where the first line mark is
  }
  for (const DeclStmt* statement : lifted_) leave_lifted(statement);
  std::vector<Edits::Edit> bodies;
  for (const auto& function : functions) bodies.push_back(function->transform());
  for (const auto& [place, text] : statics) edits_.replace(place, place, " " + text);
  for (size_t i = literals_.size(); i-- > 0;) {  // those that are in others come behind them
    const auto& [literal, name, place] = literals_[i];
    const Expr* const values = literal->getInitializer();
    edits_.replace(place, place, "static " + declaration(literal->getType(), name, literal->getBeginLoc()) + " = " +
                                     edits_.text(unit_.begin_of(values->getBeginLoc()), unit_.end_of(values->getEndLoc())) + "; ");
  }
  for (const Edits::Edit& body : bodies) edits_.replace_all(body.begin, body.end, body.before);
  const std::string text = edits_.text(0, unit_.text().size());
  const std::string calls = inlines(all);
  changes_ = text != unit_.text() || program_.everywhere() || variable_count_ > 0 || function_count_ > 0 ||
             !(replaced_.empty() && strings_.empty() && types_.variables().empty() && types_.makers().empty() && calls.empty());
  std::string out = prelude() + "\n" + text + "\n" + calls + module_text();
  for (const Definition& d : all)
    if (d.function->isMain()) return out.insert(prelude().size(), program_text(units));
  return out;
}

// Functions that are inline, and that no file defines otherwise: the compiler has put them where they are called, all of them, and may
// not do so now. What is declared once without `inline` can be called; several files have it.
std::string Module::inlines(const std::vector<Definition>& all) const {
  std::string out;
  for (const Definition& d : all) {
    if (!program_.reaches_site(unit_, d.function) || !d.function->isInlineSpecified() || !d.function->isExternallyVisible()) continue;
    if (d.function->isInlineDefinitionExternallyVisible() || d.function->getStorageClass() == SC_Extern) continue;
    const std::string name = d.function->getName().str();
    out += "extern __typeof__(" + name + ") " + name + " __attribute__((__weak__)); ";
  }
  return out;
}

// What the process has beside the program's variables: the state of getopt() and the like, as far as the C library shows it, and settings.
void Module::add_process() {
  const ASTContext& context = unit_.context();
  for (const std::string name : {"optind", "opterr", "optopt", "optarg", "signgam", "timezone", "daylight"}) {
    if (!program_.uses_variable(name)) continue;
    const QualType type = name == "optarg" ? context.getPointerType(context.CharTy) : name == "timezone" ? QualType(context.LongTy) : QualType(context.IntTy);
    strings_ += "extern " + type.getAsString() + " " + name + "; ";
    add_entry(name, name, described(type), false);
  }
  for (const auto& [name, setting] : program_.settings()) {
    Described numbers = described(context.IntTy);
    numbers.count = 2;
    const std::string last = "elc_last_" + name;
    // By names of their own: the program's may be declared in another way here, or not at all.
    const std::string of = "elc_real_" + name, own = "elc_own_" + name, takes = "(" + setting.takes + ") __asm__(\"";
    strings_ += "extern " + setting.returns + " " + of + takes + name + "\"), " + own + takes + "elc_set_" + name + "\"); static int " + last + "[2]; " + setting.returns +
                " " + own + "(" + setting.takes + " to) { " + last + "[0] = 1; " + last + "[1] = (int)to; return " + of + "(to); } ";
    add_entry(name + "() was called with", last, numbers, false);
  }
  if (program_.gets_attributes()) {
    Described numbers = described(context.IntTy);
    numbers.count = ELC_PROGRAM_ATTRIBUTES;
    strings_ += "extern int ELC_Program_attributes[" + std::to_string(ELC_PROGRAM_ATTRIBUTES) + "]; ";
    add_entry("attributes of MPI", "ELC_Program_attributes", numbers, true);
  }
  if (program_.makes_keyvals()) {
    const std::string most = std::to_string(ELC_PROGRAM_KEYVALS);
    strings_ += "extern void *ELC_Program_keyval_pointers[" + most + "][3]; extern int ELC_Program_keyval_numbers[" + most + "][3]; ";
    Described pointers = described(context.VoidPtrTy), numbers = described(context.IntTy);
    pointers.count = numbers.count = 3 * ELC_PROGRAM_KEYVALS;
    add_entry("functions of keys of attributes", "ELC_Program_keyval_pointers", pointers, false);
    add_entry("keys of attributes", "ELC_Program_keyval_numbers", numbers, false);
  }
  if (program_.allocates_windows()) {
    strings_ += "extern void *ELC_Program_windows; ";
    add_entry("memory of windows", "ELC_Program_windows", described(context.VoidPtrTy), false);
  }
  if (program_.attaches()) {
    strings_ += "extern void *ELC_Program_buffer; extern int ELC_Program_buffer_size; ";
    add_entry("the buffer for sends", "ELC_Program_buffer", described(context.VoidPtrTy), false);
    add_entry("the size of the buffer for sends", "ELC_Program_buffer_size", described(context.IntTy), false);
  }
  if (!program_.has_threads()) return;
  // Programs have memory for as many threads as they have begun with.
  strings_ += "extern int omp_get_max_threads(void); extern void omp_set_num_threads(int); static int elc_threads; ";
  add_entry("omp_get_max_threads() at the beginning", "elc_threads", described(context.IntTy), false);
}

// Called at the beginning of a run, and when a restart has the data of the line.
std::string Module::settings_text() const {
  std::string out = "static void elc_settings(int is_restart) { ";
  if (program_.has_threads()) out += "if (is_restart) omp_set_num_threads(elc_threads); else elc_threads = omp_get_max_threads(); ";
  for (const auto& [name, setting] : program_.settings())
    out += "if (is_restart && elc_last_" + name + "[0]) elc_real_" + name + "((" + setting.takes + ")elc_last_" + name + "[1]); ";
  return out + "} ";
}

std::string Module::prelude() const {
  std::string out =
      "struct ELC_Frame_variable { const char *name; const int *type, *target; unsigned long count, place; int is_elsewhere; }; "
      "struct ELC_Frame_function { const char *name; const struct ELC_Frame_variable *variables; const unsigned short *const *live; "
      "int labels; const char *const *callees; }; "
      "struct ELC_Frame { struct ELC_Frame *caller; const struct ELC_Frame_function *function; int label, is_site; }; "
      "extern struct ELC_Frame *ELC_Innermost; extern int ELC_Reentering; extern int ELC_Reenter(struct ELC_Frame *); "
      "struct ELC_Field { const char *name; unsigned long offset; int type; unsigned long count; }; "
      "extern int ELC_Struct(const char *, unsigned long, int, const struct ELC_Field *); "
      "extern int ELC_Union(const char *, unsigned long, int, const struct ELC_Field *, int (*)(const void *, const void *)); "
      "extern int ELC_Accessor(int, long long (*)(const void *), void (*)(void *, long long)); "
      "extern void *ELC_Program_as(void *, int); extern void ELC_Program_tail(int, int); extern void *ELC_Program_array(void *, int, const unsigned long *, unsigned long, int); extern void (*ELC_Program_target(void))(void); "
      "extern void *ELC_Program_moved(void *, void *), *ELC_Program_moved_here(void *, void *, const struct ELC_Frame_function *), *ELC_Program_moved_on(void *, void *); "
      "static __inline__ __attribute__((always_inline, unused)) void *elc_moved_up(void *from, void *to) { "
      "return __builtin_expect((char *)to < (char *)from, 0) ? ELC_Program_moved(from, to) : to; } "
      "static __inline__ __attribute__((always_inline, unused)) void *elc_moved_up_here(void *from, void *to, const struct ELC_Frame_function *function) { "
      "return __builtin_expect((char *)to < (char *)from, 0) ? ELC_Program_moved_here(from, to, function) : to; } "
      "extern void *(*ELC_Program_alloca(void **))(unsigned long); extern void ELC_Program_leave(void **); "
      "struct ELC_Program_variable { const char *name; void *address; const int *type, *target; unsigned long count; int is_constant; }; "
      "struct ELC_Program_function { const char *name; void (*function)(void); int given_to; }; "
      "struct ELC_Program_module { void (*make_types)(void); const struct ELC_Program_variable *variables; unsigned long variable_count; "
      "const struct ELC_Program_function *functions; unsigned long function_count; }; "
      "struct ELC_Program_rounding { int (*get)(void), (*set)(int), (*test)(int), (*clear)(int), (*raise)(int), (*enabled)(void), (*enable)(int), "
      "(*disable)(int); }; "
      "struct ELC_Program_number { const char *name, *place; int value, is_kept; }; "
      "struct ELC_Program { const struct ELC_Program_module *const *modules; unsigned long module_count; int thread_level, draws_numbers, reads_input, reads_clocks, makes_keyvals, "
      "uses_library, aligns, apart; const struct ELC_Program_rounding *rounding; int (*in_parallel)(void); void (*settings)(int); const struct ELC_Program_number *numbers; unsigned long number_count; "
      "const char *executable, *executable_end; int has_foreign_addresses, has_long_doubles; }; "
      "extern void ELC_Program_unfit(const char *); extern void *ELC_Program_number_of(const volatile void *, const char *); extern void *ELC_Program_half_at(const volatile void *, const char *); extern long long ELC_Program_order(const volatile void *, const volatile void *, const char *); extern int ELC_Program_outside(int, void *, unsigned long); extern const char *ELC_Program_asks_of(const char *); extern int ELC_Program_opened(int, const char *), ELC_Program_used(int, const char *), ELC_Program_made(int); extern void *ELC_Program_makes(void *, const char *), *ELC_Program_frees(void *); "
      "extern void *ELC_Program_opened_stream(void *, const char *), *ELC_Program_opened_directory(void *, const char *); "
      "extern char **ELC_Program_environment(void), *ELC_Program_text(const char *); extern char **ELC_Program_begin(const struct ELC_Program *, int, char **); ";
  if (program_.everywhere())
    out += "extern int ELC_Checkpoint(void); extern int MPI_Finalize(void); extern int atexit(void (*)(void)); "
           "static void elc_end(void) { MPI_Finalize(); } ";
  // size_t of a machine of 32 bits.
  const std::string size = QualType(unit_.context().getSizeType()).getAsString();
  for (size_t at = 0; (at = out.find("unsigned long", at)) != std::string::npos; at += size.size()) out.replace(at, 13, size);
  for (const auto& [symbol, text] : replaced_) out += text;
  if (program_.translates_ranks()) out += rank_functions(program_.own_ranks());
  return out + types_.variables() + strings_;
}

std::string Module::module_text() const {
  const std::string number = std::to_string(unit_.number());
  std::string out = "\n" + types_.functions() + "static void elc_make_types(void) { " + types_.makers() + "}\n";
  out += "static const struct ELC_Program_variable elc_variables[] = {" + variables_ + "{0, 0, 0, 0, 0, 0}};\n";
  out += "static const struct ELC_Program_function elc_functions[] = {" + functions_ + "{0, 0, 0}};\n";
  out += "extern const struct ELC_Program_module elc_module_" + number + ";\n";
  out += "const struct ELC_Program_module elc_module_" + number + " = {elc_make_types, elc_variables, " + std::to_string(variable_count_) +
         ", elc_functions, " + std::to_string(function_count_) + "};\n";
  return out;
}

std::string Module::program_text(size_t units) const {
  std::string out, list;
  for (size_t i = 0; i < units; ++i) {
    const std::string name = "elc_module_" + std::to_string(i);
    out += "extern const struct ELC_Program_module " + name + " __attribute__((weak)); ";
    list += "&" + name + ", ";
  }
  out += "static const struct ELC_Program_module *const elc_modules[] = {" + list + "}; ";
  if (program_.rounds()) {
    const bool is_gnu = unit_.record().target.find("gnu") != std::string::npos;
    out += "extern int fegetround(void), fesetround(int), fetestexcept(int), feclearexcept(int), feraiseexcept(int), fegetexcept(void), "
           "feenableexcept(int), fedisableexcept(int); static const struct ELC_Program_rounding elc_rounding = {fegetround, fesetround, "
           "fetestexcept, feclearexcept, feraiseexcept, " + std::string(is_gnu ? "fegetexcept, feenableexcept, fedisableexcept}; " : "0, 0, 0}; ");
  }
  out += "static const struct ELC_Program_number elc_numbers[] = {";
  for (const auto& [name, number] : program_.numbers())
    out += "{\"" + name + "\", " + in_quotes(number.place) + ", " + std::to_string(static_cast<int>(number.value)) + ", " + (number.is_kept ? "1}, " : "0}, ");
  out += "{0, 0, 0, 0}}; ";
  out += "extern void ELC_Program_stack(void); __attribute__((constructor)) static void elc_stack(void) { ELC_Program_stack(); } ";
  if (program_.has_threads()) out += "extern int omp_get_level(void); ";
  // Hidden: in the executable that may lie anywhere the first is at 0, where the dynamic linker of some machines finds no symbol.
  out += "extern const char __executable_start[] __attribute__((weak, visibility(\"hidden\"))), _end[] __attribute__((weak, visibility(\"hidden\"))); ";
  return out + settings_text() + "static const struct ELC_Program elc_program = {elc_modules, " + std::to_string(units) + ", " +
         std::to_string(program_.thread_level()) + ", " + (program_.draws_numbers() ? "1, " : "0, ") +
         (program_.reads_input() ? "1, " : "0, ") + (program_.reads_clocks() ? "1, " : "0, ") + (program_.makes_keyvals() ? "1, " : "0, ") + (program_.uses_library() ? "1, " : "0, ") + std::to_string(program_.aligns()) + ", " + std::to_string(program_.apart()) + ", " +
         (program_.rounds() ? "&elc_rounding, " : "0, ") + (program_.has_threads() ? "omp_get_level" : "0") + ", elc_settings, elc_numbers, " +
         std::to_string(program_.numbers().size()) + ", __executable_start, _end, " + (program_.has_foreign_addresses() ? "1, " : "0, ") + (program_.has_long_doubles() ? "1}; " : "0}; ");
}

}  // namespace elc::cc
