#include "cc/file_visitor.h"

#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "cc/module.h"
#include "clang/AST/ParentMapContext.h"
#include "clang/AST/StmtOpenMP.h"
#include "elc_program.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

namespace elc::cc {

using namespace clang;

// A parameter or result in a declaration that needs none of the file's types.
static std::string bare(QualType type) {
  if (type->isPointerType()) return "void *";
  if (const auto* named = type->getAs<EnumType>()) type = named->getDecl()->getIntegerType();
  return type.getCanonicalType().getUnqualifiedType().getAsString();
}

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
    if (may_scan_into_memory(call, callee)) refuse_memory_of_scanf(call, callee->getName().str());
    if (m_.program_.defines(unit_, callee)) return true;
    give_result(call, callee);
    each_passing_self(call, [this](const Expr* self) { followed_.insert(self); });
    const Known known = m_.program_.known(callee->getName().str());
    if (known.kind == Known::Kind::kUnknown) return true;
    if (known.looks_outside) repeat(call, known);
    if (known.file != Known::File::kNone) follow_file(call, known);
    if (known.makes >= 0 || known.frees >= 0) follow_made(call, known);
    follow_process(call, callee->getName().str());
    if ((callee->getName() == "fileno" || callee->getName() == "fileno_unlocked") && call->getNumArgs() == 1 && keeps_value(call)) keep_number(call);
    // Perhaps into what it was given; also by way of a pointer that it sets, as strtod does.
    const auto is_set = [this](const Expr* argument) {
      const QualType type = argument->IgnoreParenCasts()->getType();
      return type->isPointerType() && type->getPointeeType()->isPointerType() && argument->isNullPointerConstant(unit_.context(), Expr::NPC_ValueDependentIsNull) == Expr::NPCK_NotNull;
    };
    if (call->getType()->isPointerType() || known.keeps_pointers || std::any_of(call->arg_begin(), call->arg_end(), is_set)) return true;
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
      if (!why.empty() && !is_asked_for(reference) && !named_.contains(reference)) refuse_lines(reference, why, "code that uses '" + name + "'", "(*(", ", &" + name + "))");
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
      std::string why = own || followed_.contains(reference) ? "" : known.kind == Known::Kind::kUnfit ? known.text : m_.program_.why_foreign(name);
      if (why.empty() && !own && name == "seed48" && !is_for_nothing(reference)) why = "what it returns leads into the C library, which is not part of lines";
      if (!why.empty() && !is_asked_for(reference)) {
        if (function->getBuiltinID() != 0 && name.starts_with("__builtin_")) refuse_lines(reference, why, name + "()", "(", ", " + name + ")");
        else refuse_lines(reference, why, name + "()", "(*(", ", &" + name + "))");
        if (function->isImplicit()) declare(name, function);  // by the call, which is none of a mere name now
      }
      if (!own && !direct_.contains(reference) && !name.starts_with("__atomic_")) m_.add_function(symbol, name, false);  // no pointer can lead there
    }
    return true;
  }

  // What a clause names is not used there.
  bool VisitOMPExecutableDirective(OMPExecutableDirective* directive) override {
    for (const OMPClause* clause : directive->clauses())
      for (const Stmt* named : const_cast<OMPClause*>(clause)->children()) named_.insert(named);
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
    return see_source(cast, cast->getSubExpr());
  }

  // What becomes such a pointer by the cast.
  bool see_source(CastExpr* cast, const Expr* source) {
    const QualType to = cast->getType();
    source = source->IgnoreParenCasts();
    // p = slot->memory = malloc(size), (n++, malloc(size)): the last has what it is for.
    for (const auto* both = dyn_cast<BinaryOperator>(source); both != nullptr && (both->getOpcode() == BO_Assign || both->getOpcode() == BO_Comma) && both->getType()->isVoidPointerType();
         both = dyn_cast<BinaryOperator>(source))
      source = both->getRHS()->IgnoreParenCasts();
    // Else it is seen as a whole.
    if (const auto* choice = dyn_cast<ConditionalOperator>(source); choice != nullptr && choice->getType()->isVoidPointerType() && m_.program_.reaches_mpi(unit_, choice))
      return see_source(cast, choice->getTrueExpr()) && see_source(cast, choice->getFalseExpr());
    const auto* call = dyn_cast<CallExpr>(source);
    if (call == nullptr) return see_pointer(cast, source);
    if (seen_.contains(call) || unit_.pragma_of(call) != nullptr) return true;
    const QualType from = call->getType();
    if (!from->isPointerType()) return true;
    if (give_behind_rows(call, to)) return true;
    const bool is_of_numbers = from->getPointeeType()->isArithmeticType() && m_.types_.holds_addresses(to->getPointeeType());
    if (!(from->isVoidPointerType() || from->getPointeeType()->isAnyCharacterType() || is_of_numbers || begins_with(to->getPointeeType(), from->getPointeeType()))) return true;
    if (!may_allocate(call) && !finds(call)) return true;
    m_.lift(to->getPointeeType());
    give(call, to->getPointeeType());
    return true;
  }

  // (double ***)get_3d(n, m, k, sizeof(double)), of a void ***: what the pointers lead to that it has made.
  bool give_behind_rows(const CallExpr* call, QualType to) {
    QualType from = call->getType();
    int levels = 0;
    for (; from->isPointerType() && to->isPointerType(); from = from->getPointeeType(), to = to->getPointeeType()) ++levels;
    if (levels < 2 || !from->isVoidType() || to->isVoidType() || to->isFunctionType() || to->isIncompleteType() || !may_allocate(call)) return false;
    m_.lift(to);
    const std::string type = with_handles(m_.types_.of_memory(to), to);
    if (type.empty()) return false;
    seen_.insert(call);
    give_as(call, "ELC_Program_as_rows(", ", " + std::to_string(levels) + ", " + type + ")");
    return true;
  }

  bool may_allocate(const CallExpr* call) const {
    const FunctionDecl* callee = callee_of(call);
    return callee == nullptr || m_.program_.defines(unit_, callee) || m_.program_.known(callee->getName().str()).allocates;
  }

  // The C library's, in memory that it is given.
  bool finds(const CallExpr* call) const {
    const FunctionDecl* const callee = callee_of(call);
    const std::string name = callee == nullptr ? "" : callee->getName().str();
    return (name == "bsearch" || name == "lfind" || name == "lsearch") && !m_.program_.defines(unit_, callee);
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
    if (variable->getTLSKind() == VarDecl::TLS_None || m_.program_.has_threads() || m_.program_.makes_threads() || variable->isStaticLocal()) return true;
    const std::string& text = unit_.text();
    const size_t end = unit_.begin_of(variable->getLocation());
    for (const std::string word : {"__thread", "_Thread_local"})
      for (size_t at = unit_.begin_of(variable->getBeginLoc()); (at = text.find(word, at)) < end; at += word.size())
        if ((at == 0 || !is_of_word(text[at - 1])) && !is_of_word(text[at + word.size()]) && of_threads_.insert(at).second)
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

 private:
  // As ELC_Program_as has it; empty: none.
  std::string type_of_memory(const CallExpr* call, QualType element, bool are_text) const {
    std::string type = m_.types_.of_memory(element, are_text);
    if (element->isRecordType() && !type.empty() && type.find('+') == std::string::npos && asks_for_more(call, element)) type += " + " + std::to_string(ELC_PROGRAM_OPEN);
    return with_handles(type, element);
  }
  std::string with_handles(const std::string& type, QualType element) const {
    return type.empty() || !m_.handles_.mentioned(element) ? type : type + " + " + std::to_string(ELC_PROGRAM_HANDLES);
  }

  // The memory that the call returns holds elements of this type.
  void give(const CallExpr* call, QualType element, bool is_as_it_is = false, bool are_text = false) {
    seen_.insert(call);
    const std::string type = type_of_memory(call, element, are_text || m_.program_.characters().are_text(unit_, call));
    if (type.empty()) return;
    m_.told_.insert(call);
    std::string before = "ELC_Program_as(", behind = ", " + type + ")";
    if (is_as_it_is) before = "((" + m_.declaration(call->getType(), "", call->getBeginLoc()) + ")" + before, behind += ")";
    give_as(call, before, behind);
  }
  void give_as(const CallExpr* call, const std::string& before, const std::string& behind) {
    m_.memory_[call] = {before, behind};
    m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()), before, behind);
  }

  // Where the format is not written in the call nothing says what is read. Others are variadic functions that may give theirs to vsscanf().
  static bool may_scan_into_memory(const CallExpr* call, const FunctionDecl* callee) {
    if (!callee->isVariadic()) return false;
    const unsigned format = callee->getNumParams() - 1;
    const bool is_told = format < call->getNumArgs() && isa<StringLiteral>(call->getArg(format)->IgnoreParenCasts());
    return (callee->getName().contains("scanf") && !is_told) || std::any_of(call->arg_begin(), call->arg_end(), asks_for_memory);
  }
  // A format with %ms, %mc or %m[; or %as and %a[, as that was before C99, if it goes with a pointer to a pointer.
  static bool asks_for_memory(const Expr* argument) {
    const auto* const text = dyn_cast<StringLiteral>(argument->IgnoreParenCasts());
    std::string format;  // also of wide characters
    for (unsigned i = 0; text != nullptr && i < text->getLength(); ++i) format += text->getCodeUnit(i) < 128 ? static_cast<char>(text->getCodeUnit(i)) : '?';
    for (size_t at = format.find('%'); at != std::string::npos; at = format.find('%', at + 1)) {
      const size_t kind = format.find_first_not_of("0123456789$'I", at + 1);
      if (kind == std::string::npos || kind + 1 >= format.size()) continue;
      if (StringRef(format[kind] == 'm' ? "scSC[l" : format[kind] == 'a' ? "sS[" : "").contains(format[kind + 1])) return true;
    }
    return false;
  }
  // By %m it gives memory that the C library has made, which lines do not have; to a pointer, which nothing else is read into.
  void refuse_memory_of_scanf(const CallExpr* call, const std::string& name) {
    for (const Expr* argument : call->arguments()) {
      const QualType type = argument->IgnoreParenCasts()->getType();
      const bool is_place = type->isPointerType() && type->getPointeeType()->isPointerType();
      if (is_place && argument->isNullPointerConstant(unit_.context(), Expr::NPC_ValueDependentIsNull) == Expr::NPCK_NotNull)
        return m_.error(argument->getBeginLoc(), name + "() into a pointer, as with %m: lines do not have the memory to which it leads then; read into an array");
    }
  }

  // The memory to which a call makes a pointer lead, that is given to it as one to anything: get((void **)&p, size).
  void give_behind(const CallExpr* call, const Expr* argument) {
    const FunctionDecl* const callee = callee_of(call);
    const std::string name = callee == nullptr ? "" : callee->getName().str();
    const auto* address = dyn_cast<UnaryOperator>(argument->IgnoreParenCasts());
    const QualType to = argument->IgnoreParenImpCasts()->getType(), result = call->getType();
    if (address == nullptr || address->getOpcode() != UO_AddrOf) return;
    // Of the program's own, as anything: grab(&p, n * sizeof *p). Whether it has made the pointer lead elsewhere is seen when it has returned.
    const bool is_anything = callee != nullptr && m_.program_.defines(unit_, callee) && argument->getType()->isVoidPointerType() && asks_for_size(call);
    if (!is_anything && name != "MPI_Alloc_mem" && name != "MPI_Win_allocate" && (!to->isPointerType() || !to->getPointeeType()->isVoidPointerType())) return;
    // A call behind which a restart goes on: what it has made lead elsewhere is asked for once more there.
    const bool goes_on = m_.program_.reaches_mpi(unit_, call);
    if (!address->getSubExpr()->getType()->isPointerType() || in_initialiser_ || (goes_on && (is_anything || address->getSubExpr()->HasSideEffects(unit_.context())))) return;
    const QualType element = address->getSubExpr()->getType()->getPointeeType();
    if (element->isFunctionType() || element->isAnyCharacterType() || !(result->isVoidType() || result->isIntegerType() || result->isPointerType())) return;
    m_.lift(element);
    const std::string type = type_of_memory(call, element, false);
    if (type.empty()) return;
    if (goes_on) {
      m_.led_[call].emplace_back(address->getSubExpr(), type);
      return;
    }
    const std::string place = "elc_at" + std::to_string(++places_), before = "elc_was" + std::to_string(places_);
    m_.edits_.wrap(unit_.begin_of(argument->getBeginLoc()), unit_.end_of(argument->getEndLoc()), "(" + place + " = (void **)(", is_anything ? "), " + before + " = *" + place + ", (void *)" + place + ")" : "))");
    m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()),
                   "({ void **" + place + (is_anything ? ", *" + before : "") + "; " + (result->isVoidType() ? "" : "__auto_type elc_given = "),
                   "; " + std::string(is_anything ? "if (*" + place + " != " + before + ") " : "") + "ELC_Program_as(*" + place + ", " + type + "); " + (result->isVoidType() ? "" : "elc_given; ") + "})");
  }

  static bool has_size(const Stmt* e) {
    const auto* size = dyn_cast<UnaryExprOrTypeTraitExpr>(e);
    return (size != nullptr && size->getKind() == UETT_SizeOf) || std::any_of(e->child_begin(), e->child_end(), [](const Stmt* child) { return child != nullptr && has_size(child); });
  }
  static bool asks_for_size(const CallExpr* call) {
    return std::any_of(call->arg_begin(), call->arg_end(), [](const Expr* argument) { return has_size(argument); });
  }

  // Whether the program asks there whether there is such a function, or variable: if (hook), &hook != NULL.
  bool is_asked_for(const DeclRefExpr* reference) const {
    DynTypedNode node = DynTypedNode::create(*reference);
    for (bool is_place = isa<FunctionDecl>(reference->getDecl());;) {
      const auto parents = unit_.context().getParents(node);
      if (parents.size() != 1) return false;
      const auto* const inner = node.get<Expr>();
      node = parents[0];
      const auto* const address = node.get<UnaryOperator>();
      if (address != nullptr && address->getOpcode() == UO_AddrOf) {
        is_place = true;
        continue;
      }
      if (node.get<ParenExpr>() != nullptr) continue;
      if (!is_place) return false;
      if (node.get<ImplicitCastExpr>() != nullptr) continue;
      if (const auto* choice = node.get<ConditionalOperator>()) return choice->getCond() == inner;  // else it may be what comes of it
      const auto* both = node.get<BinaryOperator>();
      const auto* one = node.get<UnaryOperator>();
      if (both != nullptr) return both->isEqualityOp() || both->isLogicalOp();
      return one != nullptr ? one->getOpcode() == UO_LNot : node.get<IfStmt>() != nullptr;
    }
  }

  // Whether nobody asks for what the function returns that is called by this name.
  bool is_for_nothing(const DeclRefExpr* reference) const {
    DynTypedNode node = DynTypedNode::create(*reference);
    for (bool is_called = false;;) {
      const auto parents = unit_.context().getParents(node);
      if (parents.size() != 1) return false;
      const auto* const inner = node.get<Expr>();
      node = parents[0];
      const auto* const outer = node.get<Expr>();
      const auto* const cast = node.get<CastExpr>();
      if (const auto* choice = node.get<IfStmt>()) return is_called && choice->getCond() != inner;
      if (node.get<CompoundStmt>() != nullptr || (cast != nullptr && cast->getCastKind() == CK_ToVoid)) return is_called;
      if (outer == nullptr) return false;
      if (cast == nullptr && !isa<ParenExpr>(outer) && (is_called || !isa<CallExpr>(outer))) return false;
      is_called |= isa<CallExpr>(outer);
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
    m_.told_.erase(call);  // of what it is converted to
  }

  // The members that the one has are those with which the other begins.
  static bool begins_with_members(const RecordDecl* whole, const RecordDecl* first) {
    if (whole == nullptr || first == nullptr || !whole->isStruct() || !first->isStruct() || (whole = whole->getDefinition()) == nullptr || (first = first->getDefinition()) == nullptr) return false;
    auto other = whole->field_begin();
    for (const FieldDecl* member : first->fields()) {
      if (other == whole->field_end() || member->isBitField() || other->isBitField()) return false;
      if (!lie_alike(member->getType(), other->getType())) return false;
      ++other;
    }
    return !first->field_empty() && other != whole->field_end();
  }

  // Whether a struct begins with another, or as that does, and has more: memory that a program gives for the one may be for the other.
  bool begins_with(QualType whole, QualType first) const {
    if (begins_with_members(whole->getAsRecordDecl(), first->getAsRecordDecl())) return true;
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
    const auto* const sum = dyn_cast<BinaryOperator>(source);
    // (struct node **)(p + 1): what is behind a struct in the same block, or behind pointers.
    const bool is_behind = sum != nullptr && sum->isAdditiveOp() && from->isPointerType() && (from->getPointeeType()->isRecordType() || from->getPointeeType()->isPointerType());
    if (!from->isPointerType() || !(from->isVoidPointerType() || from->getPointeeType()->isArithmeticType() || is_more || is_behind)) return true;
    if (to->isIncompleteType() || !(is_more || m_.types_.holds_addresses(to)) || in_initialiser_ || !seen_.insert(source).second) return true;
    if (source->isNullPointerConstant(unit_.context(), Expr::NPC_ValueDependentIsNull) != Expr::NPCK_NotNull) return true;
    if (source->getType().isConstQualified() || from->getPointeeType().isConstQualified()) return true;
    m_.lift(to);
    const std::string memory = m_.types_.of_memory(to);
    std::string type = stays_in_its_memory(source, cast->getType()) ? memory : with_handles(memory, to);
    const bool is_of_numbers = from->getPointeeType()->isArithmeticType() && !from->getPointeeType()->isAnyCharacterType();
    if (is_of_numbers && to->isPointerType() && !type.empty()) type += " + " + std::to_string(ELC_PROGRAM_NUMBERS);
    const bool is_simple = isa<DeclRefExpr, MemberExpr, ArraySubscriptExpr>(source) ||
                           ((isa<ConditionalOperator>(source) || (sum != nullptr && sum->isAdditiveOp())) && !m_.program_.reaches_mpi(unit_, source));
    if (type.empty() || !is_simple) return true;
    m_.told_.insert(source);
    const int64_t in_front = elements_in_front(cast) * unit_.context().getTypeSizeInChars(to).getQuantity();
    const std::string distance = std::to_string(in_front);
    const std::string before = in_front == 0 ? "ELC_Program_as(" : "((void *)((char *)ELC_Program_as((char *)(";
    const std::string behind = in_front == 0 ? ", " + type + ")" : ") - " + distance + ", " + type + ") + " + distance + "))";
    m_.edits_.wrap(unit_.begin_of(source->getBeginLoc()), unit_.end_of(source->getEndLoc()), before, behind);
    return true;
  }

  // ((struct head *)p - 1)->size, ((struct head *)p)[-1].size: by so many elements what is looked at lies before what is converted.
  int64_t elements_in_front(const CastExpr* cast) const {
    DynTypedNode node = DynTypedNode::create(*cast);
    const Expr* inner = cast;
    for (;;) {
      const auto parents = unit_.context().getParents(node);
      if (parents.size() != 1) return 0;
      node = parents[0];
      if (node.get<ParenExpr>() == nullptr) break;
      inner = node.get<ParenExpr>();
    }
    Expr::EvalResult by;
    const auto* const both = node.get<BinaryOperator>();
    const auto* const element = node.get<ArraySubscriptExpr>();
    const bool is_sum = both != nullptr && both->isAdditiveOp() && both->getType()->isPointerType() && both->getLHS() == inner;
    const Expr* const number = is_sum ? both->getRHS() : element != nullptr && element->getLHS() == inner ? element->getRHS() : nullptr;
    if (number == nullptr || !number->EvaluateAsInt(by, unit_.context())) return 0;
    const int64_t distance = by.Val.getInt().getExtValue();
    return std::max<int64_t>(0, is_sum && both->getOpcode() == BO_Sub ? distance : -distance);
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
    // By what it is: another compilation of the file may have others in front of it. What the type of a wide one is called differs.
    const std::string sort = of_function != nullptr ? kind : is_wide ? std::to_string(literal->getCharByteWidth()) : "";
    m_.add_entry(m_.program_.file_name(unit_) + ":string " + llvm::utohexstr(llvm::xxHash64(sort + " " + literal->getBytes().str())), name, characters, true);
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
    m_.add_entry(m_.unique_name(m_.program_.file_name(unit_) + ":literal of line " + std::to_string(unit_.line(literal->getBeginLoc()))), name, described, literal->getType().isConstant(unit_.context()));
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

  // Whether a file is opened that has to be there, or not to be another one: by its name and constant flags.
  bool opens_what_is_there(const CallExpr* call, const std::string& name, unsigned path) const {
    Expr::EvalResult directory, flags;
    if (!name.starts_with("open") || call->getNumArgs() < path + 2 || !call->getArg(path + 1)->EvaluateAsInt(flags, unit_.context())) return false;
    if (path > 0 && (!call->getArg(0)->EvaluateAsInt(directory, unit_.context()) || directory.Val.getInt() != AT_FDCWD)) return false;
    const int64_t how = flags.Val.getInt().getExtValue();
    return (how & O_TRUNC) == 0 && ((how & O_CREAT) == 0 || (how & (O_EXCL | O_APPEND)) == 0);
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
    const unsigned at = name.starts_with("openat") ? 1 : 0;
    if (const Expr* path = known.file == Known::File::kOpened && opens_what_is_there(call, name, at) ? call->getArg(at) : nullptr)
      m_.edits_.wrap(unit_.begin_of(path->getBeginLoc()), unit_.end_of(path->getEndLoc()), "ELC_Program_opens(", ")");
    followed_.insert(callee);
  }

  // What is given the number of a process finds that of this run.
  void follow_process(const CallExpr* call, const std::string& name) {
    static const std::map<std::string, unsigned> all = {{"kill", 0}, {"sched_getaffinity", 0}, {"sched_setaffinity", 0}, {"getpriority", 1}, {"setpriority", 1}};
    const auto found = all.find(name);
    if (found == all.end() || call->getNumArgs() <= found->second) return;
    Expr::EvalResult which;  // of a priority: whose it is
    if (found->second > 0 && (!call->getArg(0)->EvaluateAsInt(which, unit_.context()) || which.Val.getInt() != PRIO_PROCESS)) return;
    const Expr* const number = call->getArg(found->second);
    m_.edits_.wrap(unit_.begin_of(number->getBeginLoc()), unit_.end_of(number->getEndLoc()), "ELC_Program_process(", ")");
  }

  // Whether the value of a call is anything but the argument of a function of the C library, or compared.
  bool keeps_value(const CallExpr* call) const {
    DynTypedNode node = DynTypedNode::create(*call);
    for (;;) {
      const auto parents = unit_.context().getParents(node);
      if (parents.size() != 1) return true;
      node = parents[0];
      if (node.get<ImplicitCastExpr>() != nullptr || node.get<ParenExpr>() != nullptr) continue;
      if (const auto* both = node.get<BinaryOperator>()) return !both->isComparisonOp();
      if (const auto* outer = node.get<CallExpr>()) {
        const FunctionDecl* const callee = callee_of(outer);
        return callee == nullptr || m_.program_.defines(unit_, callee);
      }
      return node.get<CompoundStmt>() == nullptr;
    }
  }

  // The number of a stream's descriptor: a restart may open its file by another one.
  void keep_number(const CallExpr* call) {
    const Expr* const stream = call->getArg(0);
    const std::string place = "elc_at" + std::to_string(++places_);
    if (in_initialiser_) return;
    m_.edits_.wrap(unit_.begin_of(stream->getBeginLoc()), unit_.end_of(stream->getEndLoc()), "(" + place + " = (void *)(", "))");
    m_.edits_.wrap(unit_.begin_of(call->getBeginLoc()), unit_.end_of(call->getEndLoc()), "({ void *" + place + "; int elc_n = ",
                   "; ELC_Program_keeps_number(elc_n, " + place + ", " + in_quotes("fileno() (" + unit_.place(call->getBeginLoc()) +
                   "): the program keeps the number of a stream's descriptor, and a restart may have another one; while the stream is open no line is taken; use fileno() where the number is needed") + "); })");
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

  // What a function leaves out of a struct or union is what was there before: perhaps an address that a line would find in numbers to which it
  // is copied. Vectors and matrices are set as a whole, and often.
  void clear(const VarDecl* variable) {
    constexpr int64_t kMost = 1024;  // so much costs little
    const ASTContext& context = unit_.context();
    const QualType type = variable->getType();
    if (!variable->hasLocalStorage() || variable->getInit() != nullptr || isa<ParmVarDecl>(variable) || variable->hasAttrs() || unit_.in_system_header(variable->getLocation())) return;
    if (type->isVariablyModifiedType() || type.isConstQualified() || !context.getBaseElementType(type)->isRecordType() || context.getBaseElementType(type)->getAsRecordDecl()->isImplicit()) return;
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
  std::set<const Stmt*> named_;   // in clauses of OpenMP
  int places_ = 0;                // to which calls make pointers lead
  std::set<const Expr*> values_;  // literals to which no pointer leads, or which have a name already
  std::set<size_t> of_threads_;   // the words that said so
  bool in_initialiser_ = false;  // of a variable of the file, where nothing can be called
  size_t declared_ = 0;          // where the declaration begins that is gone over
};

std::unique_ptr<Visitor> visitor_of_file(Module& module) { return std::make_unique<FileVisitor>(module); }

}  // namespace elc::cc
