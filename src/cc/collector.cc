// What a file says of its functions: what they call and refer to, and what they may be called by.
#include <algorithm>
#include <functional>
#include <optional>

#include "cc/numbers.h"
#include "cc/program.h"
#include "cc/visitor.h"
#include "clang/AST/StmtOpenMP.h"
#include "elc_program.h"

namespace elc::cc {

using namespace clang;

namespace {

// Directives of OpenMP whose work is over when the program has come behind them, or behind the directive around them.
bool is_over_at_its_end(const OMPExecutableDirective* directive) {
  switch (directive->getDirectiveKind()) {
    case llvm::omp::OMPD_parallel:
    case llvm::omp::OMPD_for:
    case llvm::omp::OMPD_simd:
    case llvm::omp::OMPD_for_simd:
    case llvm::omp::OMPD_parallel_for:
    case llvm::omp::OMPD_parallel_for_simd:
    case llvm::omp::OMPD_sections:
    case llvm::omp::OMPD_section:
    case llvm::omp::OMPD_parallel_sections:
    case llvm::omp::OMPD_single:
    case llvm::omp::OMPD_master:
    case llvm::omp::OMPD_masked:
    case llvm::omp::OMPD_parallel_master:
    case llvm::omp::OMPD_critical:
    case llvm::omp::OMPD_ordered:
    case llvm::omp::OMPD_atomic:
    case llvm::omp::OMPD_barrier:
    case llvm::omp::OMPD_flush:
    case llvm::omp::OMPD_task:
    case llvm::omp::OMPD_taskwait:
    case llvm::omp::OMPD_taskyield:
    case llvm::omp::OMPD_taskgroup:
    case llvm::omp::OMPD_taskloop:
    case llvm::omp::OMPD_taskloop_simd:
    case llvm::omp::OMPD_cancel:
    case llvm::omp::OMPD_cancellation_point:
      return true;
    default:
      return false;
  }
}

int makes_of(const std::string& name) {
  if (name == "MPI_Op_create") return ELC_PROGRAM_OPERATION;
  return name == "MPI_Errhandler_create" || name == "MPI_Comm_create_errhandler" ? ELC_PROGRAM_ERROR_HANDLER : 0;
}

// The greatest number that an expression can be, where that and all that its variables are set to are constants.
class Greatest {
 public:
  explicit Greatest(const ASTContext& context) : context_(context) {}
  std::optional<int64_t> of(const Expr* e);

 private:
  // What a variable of this file is set to, where that is all that is done with it but reading.
  struct Values : Visitor {
    explicit Values(const VarDecl* of) : variable(of) {}
    bool VisitBinaryOperator(BinaryOperator* e) override {
      if (e->getOpcode() == BO_Assign && is_it(e->getLHS())) all.push_back(e->getRHS()), ++understood;
      return true;
    }
    bool VisitImplicitCastExpr(ImplicitCastExpr* e) override { return understood += e->getCastKind() == CK_LValueToRValue && is_it(e->getSubExpr()), true; }
    bool VisitDeclRefExpr(DeclRefExpr* e) override { return used += e->getDecl() == variable, true; }
    bool is_it(const Expr* e) const {
      const auto* named = dyn_cast<DeclRefExpr>(e->IgnoreParens());
      return named != nullptr && named->getDecl() == variable;
    }
    const VarDecl* variable;
    std::vector<const Expr*> all;
    int used = 0, understood = 0;
  };

  const ASTContext& context_;
  std::set<const VarDecl*> under_way_;
};

std::optional<int64_t> Greatest::of(const Expr* e) {
  Expr::EvalResult value;
  if (e->EvaluateAsInt(value, context_)) return value.Val.getInt().getExtValue();
  e = e->IgnoreParenImpCasts();
  std::vector<const Expr*> all;
  if (const auto* either = dyn_cast<ConditionalOperator>(e)) {
    all = {either->getTrueExpr(), either->getFalseExpr()};
  } else if (const auto* assignment = dyn_cast<BinaryOperator>(e); assignment != nullptr && assignment->getOpcode() == BO_Assign) {
    all = {assignment->getRHS()};
  } else {
    const auto* named = dyn_cast<DeclRefExpr>(e);
    const auto* variable = named != nullptr ? dyn_cast<VarDecl>(named->getDecl()) : nullptr;
    if (variable == nullptr || isa<ParmVarDecl>(variable) || variable->isExternallyVisible() || !under_way_.insert(variable).second) return std::nullopt;
    Values values(variable);
    values.TraverseDecl(context_.getTranslationUnitDecl());
    if (values.used != values.understood) return std::nullopt;
    all = values.all;
    if (const Expr* first = variable->getAnyInitializer()) all.push_back(first);
  }
  std::optional<int64_t> greatest;
  for (const Expr* one : all) {
    const std::optional<int64_t> next = of(one);
    if (!next) return std::nullopt;
    greatest = std::max(greatest.value_or(*next), *next);
  }
  return greatest;
}

}  // namespace

class Collector : public Visitor {
 public:
  Collector(Program& program, const Unit& unit) : program_(program), unit_(unit) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    if (unit_.in_system_header(function->getLocation())) return true;
    FunctionFacts* const outer = facts_;
    see_other_name(function);
    program_.has_constructors_ |= function->hasAttr<ConstructorAttr>();
    // They are called by no call in the text.
    if (function->hasAttr<ConstructorAttr>() || function->hasAttr<DestructorAttr>() || function->hasAttr<UsedAttr>())
      program_.at_file_scope_.refers.insert(Program::key_of(unit_, function));
    if (function->doesThisDeclarationHaveABody()) {
      FunctionFacts& facts = program_.functions_[Program::key_of(unit_, function)];
      facts.name = function->getName().str();
      facts.place = unit_.place(function->getLocation());
      facts.signature = Program::signature_of(function->getType());
      facts.is_static = function->getStorageClass() == SC_Static;
      ++program_.names_[facts.name];
      if (!facts.is_static) program_.external_.insert(facts.name);
      facts_ = &facts;
      key_ = Program::key_of(unit_, function);
    }
    const bool all = Visitor::TraverseFunctionDecl(function);
    facts_ = outer;
    return all;
  }

  // Nobody comes to what stands behind MPI_Abort(), but by a label.
  bool TraverseCompoundStmt(CompoundStmt* block) override {
    bool is_over = false;
    for (Stmt* s : block->body()) {
      is_over = is_over && !has_label(s);
      if (!is_over && !TraverseStmt(s)) return false;
      is_over = is_over || aborts(s);
    }
    return true;
  }

  bool VisitVarDecl(VarDecl* variable) override {
    if (variable->hasGlobalStorage()) see_pragma(variable, Pragma::Kind::kTransient);
    if (variable->hasGlobalStorage() && !variable->isStaticLocal() && variable->isExternallyVisible() &&
        variable->isThisDeclarationADefinition() != VarDecl::DeclarationOnly)
      program_.variables_.insert(variable->getName().str());
    // It is called where the variable ends, by no call in the text.
    if (const auto* cleanup = variable->getAttr<CleanupAttr>(); cleanup != nullptr && facts_ != nullptr) {
      const std::string key = Program::key_of(unit_, cleanup->getFunctionDecl());
      facts_->calls.insert(key);
      facts_->refers.insert(key);
      taken_.insert(key);
    }
    return true;
  }

  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* callee = callee_of(call);
    const std::string name = callee == nullptr ? "" : callee->getName().str();
    if (const Pragma* const pragma = unit_.pragma_of(call)) pragmas_.insert(pragma);
    if (directives_ > 0) see_threaded(call, callee);
    if (callee == nullptr) {
      if (facts_ != nullptr) facts_->calls_by.insert(Program::signature_of(pointee_of_callee(call)));
      return true;
    }
    direct_.insert(call->getCallee()->IgnoreParenImpCasts());
    if (is_mpi(name))
      for (const Expr* argument : call->arguments()) pass_number(name, argument);
    if (facts_ != nullptr) {
      if (is_site(name)) facts_->calls_site = program_.has_sites_ = true;
      facts_->calls.insert(Program::key_of(unit_, callee));
    }
    if (program_.defines(unit_, callee) || callee->getDefinition() != nullptr) return true;
    each_passing_self(call, [this](const Expr* self) { passed_.insert(self); });
    if (name == "MPI_Init_thread") ask_for_level(call);
    if (name == "pthread_create" && call->getNumArgs() > 2) see_thread(call, call->getArg(2));
    for (unsigned i = 0; i < call->getNumArgs(); ++i) look_at_argument(name, call->getArg(i));
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr* reference) override {
    if (const auto* function = dyn_cast<FunctionDecl>(reference->getDecl())) {
      if (passed_.contains(reference) && function->getName() == "pthread_self") return true;
      const std::string key = Program::key_of(unit_, function);
      if (unit_.profiles(reference)) program_.profiled_.emplace(function->getName().str(), unit_.place(reference->getLocation()));
      if (!direct_.contains(reference)) {
        taken_.insert(key);
        program_.functions_[key].taken_as.insert(Program::signature_of(function->getType()));
        const std::string name = function->getName().str();
        if (name == "pthread_create") program_.pointed_threads_.push_back(unit_.place(reference->getLocation()));
        if (is_site(name)) program_.has_sites_ = true, program_.pointed_sites_.emplace(name, unit_.place(reference->getLocation()));
      }
      here().refers.insert(key);
      if (!has_own_body(function) && !keeps_nothing(function)) {
        here().uses.emplace(function->getName().str(), unit_.place(reference->getLocation()));
        see_setting(function);
        if (is_of_plain_lock(function) || is_of_zlib(function)) program_.plain_as_declared_.insert(function->getName().str());
        if (function->getReturnType()->isPointerType()) program_.returning_pointers_.insert(function->getName().str());
      }
    } else if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl())) {
      if (variable->isExternallyVisible() && variable->getDefinition() == nullptr)
        program_.used_variables_.insert(variable->getName().str()), here().uses_variables.emplace(variable->getName().str(), unit_.place(reference->getLocation()));
    } else if (isa<EnumConstantDecl>(reference->getDecl()) && !passed_.contains(reference)) {
      const std::string name = number_of(reference->getDecl());
      if (!name.empty()) here().numbers.emplace(name, unit_.place(reference->getLocation()));
    }
    return true;
  }

  bool VisitEnumConstantDecl(EnumConstantDecl* constant) override {
    const std::string name = number_of(constant);
    if (!name.empty()) program_.values_of_numbers_[name] = constant->getInitVal().getExtValue();
    // Preprocessed without names: somewhere in the file there may be any of them.
    if (name == any_number()) program_.at_file_scope_.numbers.emplace(name, unit_.record().source);
    return true;
  }

  // A variable, or a member, that is as long as a constant says has another type under another MPI, which a restart sees; what is led to, or
  // asked for, by a type that has one does not tell it.
  bool TraverseConstantArrayTypeLoc(ConstantArrayTypeLoc at) override {
    return own_bounds_.contains(at.getSizeExpr()) ? TraverseTypeLoc(at.getElementLoc()) : Visitor::TraverseConstantArrayTypeLoc(at);
  }
  bool VisitDeclaratorDecl(DeclaratorDecl* declared) override {
    const bool is_parameter = isa<ParmVarDecl>(declared);
    if (isa<FunctionDecl>(declared) || declared->getTypeSourceInfo() == nullptr) return true;
    auto at = declared->getTypeSourceInfo()->getTypeLoc().IgnoreParens().getAs<ArrayTypeLoc>();
    for (bool is_first = true; at && (is_first || !is_parameter); at = at.getElementLoc().IgnoreParens().getAs<ArrayTypeLoc>(), is_first = false)
      own_bounds_.insert(at.getSizeExpr());
    return true;
  }

  bool VisitRecordDecl(RecordDecl* record) override {
    const std::string name = spelling(record);
    for (const FieldDecl* field : record->fields())
      if (unit_.context().getBaseElementType(field->getType())->isUnionType()) see_pragma(field, Pragma::Kind::kUnion);
    if (!record->isThisDeclarationADefinition() || name.empty() || unit_.in_system_header(record->getLocation())) return true;
    std::string content;
    for (const FieldDecl* field : record->fields()) {
      if (const Pragma* const cases = unit_.pragma_of(field, Pragma::Kind::kUnion))
        for (const std::string& word : cases->words) content += word + ",";
      content += field->getType().getCanonicalType().getAsString() + " " + field->getName().str();
      // In another file its own fields may be others.
      if (const auto* inner = unit_.context().getBaseElementType(field->getType())->getAsRecordDecl()) content += "{" + contents_[inner->getDefinition()] + "}";
      if (field->isBitField()) content += ":" + std::to_string(field->getBitWidthValue(unit_.context()));
      content += ";";
    }
    contents_[record] = content;
    const auto [known, is_new] = program_.structs_.emplace(name, content);
    if (!is_new && known->second != content) program_.ambiguous_.insert(name);
    return true;
  }

  // Where pointers may lead to before what they point to, as for arrays that count from 1.
  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (!both->getType()->isPointerType() || !(both->isAdditiveOp() || both->getOpcode() == BO_AddAssign || both->getOpcode() == BO_SubAssign)) return true;
    const bool subtracts = both->getOpcode() == BO_Sub || both->getOpcode() == BO_SubAssign, is_first = both->getLHS()->getType()->isPointerType();
    keep_apart(is_first ? both->getLHS() : both->getRHS(), is_first ? both->getRHS() : both->getLHS(), subtracts ? 1 : -1);
    return true;
  }
  bool VisitForStmt(ForStmt* loop) override {
    if (loop->getInc() != nullptr && adds_to_pointers(loop->getInc())) program_.apart_ = std::max(program_.apart_, kUnit);
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* one) override {
    if (one->getType()->isPointerType() && one->isDecrementOp()) keep_apart(one->getSubExpr(), nullptr, 1);
    return true;
  }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr* element) override { return keep_apart(element->getBase(), element->getIdx(), -1), true; }

  // A pointer to a function that becomes one of another signature may be called as that.
  bool VisitCastExpr(CastExpr* cast) override {
    if (cast->getCastKind() == CK_IntegralToPointer && !unit_.in_system_header(cast->getBeginLoc())) {
      constexpr int64_t kMark = 4096;  // what is nearer to zero is none of an address in any program
      Expr::EvalResult number;
      const bool is_mark = cast->getSubExpr()->EvaluateAsInt(number, unit_.context()) && number.Val.getInt().getExtValue() > -kMark && number.Val.getInt().getExtValue() < kMark;
      program_.makes_pointers_ |= !is_mark;
    }
    const QualType from = cast->getSubExpr()->getType(), to = cast->getType();
    // What becomes an address may have been made one before that of a block, as nobody sees.
    if (cast->getCastKind() == CK_IntegralToPointer && isa<BinaryOperator>(cast->getSubExpr()->IgnoreParenCasts()) && !unit_.in_system_header(cast->getBeginLoc()))
      program_.apart_ = std::max(program_.apart_, kUnit);
    if (cast->getCastKind() == CK_BitCast && from->isFunctionPointerType() && to->isFunctionPointerType())
      program_.becomes_[Program::signature_of(from->getPointeeType())].insert(Program::signature_of(to->getPointeeType()));
    return true;
  }

  void finish() {
    for (const std::string& key : taken_) program_.functions_[key].is_address_taken = true;
    program_.check_pragmas(unit_, pragmas_);
  }

 private:
  static constexpr int kUnit = 16;  // bytes: by so many of these blocks are apart, by one of them for what is no constant

  static bool has_label(const Stmt* s) {
    return isa<LabelStmt, SwitchCase>(s) || std::any_of(s->child_begin(), s->child_end(), [](const Stmt* child) { return child != nullptr && has_label(child); });
  }

  // code = MPI_Abort(comm, 1);
  static bool aborts(const Stmt* s) {
    const auto* e = dyn_cast<Expr>(s);
    const auto* assignment = e == nullptr ? nullptr : dyn_cast<BinaryOperator>(e->IgnoreParens());
    if (assignment != nullptr && assignment->getOpcode() == BO_Assign) e = assignment->getRHS();
    const auto* call = e == nullptr ? nullptr : dyn_cast<CallExpr>(e->IgnoreParenCasts());
    return call != nullptr && callee_of(call) != nullptr && callee_of(call)->getName() == "MPI_Abort";
  }

  // An alias, or a name for which the program chooses a function when it begins: as a function that calls those.
  void see_other_name(const FunctionDecl* function) {
    const auto* const alias = function->getAttr<AliasAttr>();
    const auto* const chosen = function->getAttr<IFuncAttr>();
    if (alias == nullptr && chosen == nullptr) return;
    const std::string of = (alias != nullptr ? alias->getAliasee() : chosen->getResolver()).str(), key = Program::key_of(unit_, function);
    FunctionFacts& facts = program_.functions_[key];
    facts.name = function->getName().str();
    facts.place = unit_.place(function->getLocation());
    facts.signature = Program::signature_of(function->getType());
    facts.is_other_name = true;
    program_.external_.insert(facts.name);
    for (const NamedDecl* named : unit_.context().getTranslationUnitDecl()->lookup(&unit_.context().Idents.get(of))) {
      const auto* const target = dyn_cast<FunctionDecl>(named);
      if (target == nullptr) continue;
      const std::string target_key = Program::key_of(unit_, target);
      facts.refers.insert(target_key);
      taken_.insert(target_key);
      if (alias != nullptr) facts.calls.insert(target_key);
      else facts.calls_by.insert(facts.signature);
    }
  }

  void see_pragma(const DeclaratorDecl* declared, Pragma::Kind kind) {
    if (const Pragma* const pragma = unit_.pragma_of(declared, kind)) pragmas_.insert(pragma);
  }

  // So many elements an expression subtracts from a pointer by constants; by one for each of those that it computes.
  int64_t subtracted(const Expr* pointer) const {
    const auto* both = dyn_cast<BinaryOperator>(pointer->IgnoreParens());
    if (both == nullptr || !both->isAdditiveOp() || !both->getType()->isPointerType() || !both->getLHS()->getType()->isPointerType()) return 0;
    Expr::EvalResult number;
    const bool is_constant = both->getRHS()->EvaluateAsInt(number, unit_.context()), subtracts = both->getOpcode() == BO_Sub;
    return (is_constant ? number.Val.getInt().getExtValue() : subtracts ? 1 : 0) * (subtracts ? 1 : -1) + subtracted(both->getLHS());
  }

  // What is computed, by the step of a loop, which nobody follows.
  bool adds_to_pointers(const Stmt* s) const {
    const auto* both = dyn_cast<BinaryOperator>(s);
    const bool adds = both != nullptr && both->getType()->isPointerType() && (both->getOpcode() == BO_Add || both->getOpcode() == BO_AddAssign);
    if (adds && !(both->getLHS()->getType()->isPointerType() ? both->getRHS() : both->getLHS())->isEvaluatable(unit_.context())) return true;
    return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* child) { return child != nullptr && adds_to_pointers(child); });
  }

  // By so many elements, which are subtracted (1) or added (-1); by one where they are subtracted and that is no constant. What is added is
  // followed where it may be kept (moves.cc). What takes too much memory is left. A program that does none of this has its blocks as malloc
  // has them: what lies between costs time where there are many small ones.
  void keep_apart(const Expr* pointer, const Expr* by, int sign) {
    constexpr int64_t kMost = 1024;
    if (!pointer->getType()->isPointerType()) return;  // of a vector
    const QualType element = pointer->getType()->getPointeeType();
    if ((element->isIncompleteType() && !element->isVoidType()) || element->isFunctionType() || element->isVariableArrayType() || unit_.in_system_header(pointer->getBeginLoc())) return;
    Expr::EvalResult number;
    const bool is_constant = by != nullptr && by->EvaluateAsInt(number, unit_.context());
    const int64_t elements = (is_constant ? sign * number.Val.getInt().getExtValue() : sign) + subtracted(pointer);
    const int64_t size = step_of(unit_.context(), element);
    if (elements <= 0 || elements > kMost || size > kMost || elements * size > kMost) return;
    program_.apart_ = std::max(program_.apart_, static_cast<int>((elements * size + kUnit - 1) / kUnit * kUnit));
  }

  FunctionFacts& here() { return facts_ != nullptr ? *facts_ : program_.at_file_scope_; }

  // What a call of MPI is given and nobody keeps, if it is none of the program's own.
  void pass_number(const std::string& to, const Expr* e) {
    e = e->IgnoreParenCasts();
    if (const auto* choice = dyn_cast<ConditionalOperator>(e)) {
      pass_number(to, choice->getTrueExpr());
      pass_number(to, choice->getFalseExpr());
    } else if (const auto* both = dyn_cast<BinaryOperator>(e); both != nullptr && (both->getOpcode() == BO_Or || both->getOpcode() == BO_Add)) {
      pass_number(to, both->getLHS());
      pass_number(to, both->getRHS());
    } else if (const auto* reference = dyn_cast<DeclRefExpr>(e)) {
      passed_.insert(reference);
      const std::string name = number_of(reference->getDecl());
      if (!name.empty()) here().given.emplace(to, name, unit_.place(reference->getLocation()));
    }
  }

  // A program may have constants of its own that are called so.
  std::string number_of(const ValueDecl* declared) const {
    if (!isa<EnumConstantDecl>(declared)) return "";
    const std::string file = unit_.file(declared->getLocation());
    const bool is_own = declared->getName().startswith("MPI_") && !file.substr(file.rfind('/') + 1).starts_with("mpi");
    return is_own ? "" : number_named(declared->getName().str());
  }

  static QualType pointee_of_callee(const CallExpr* call) {
    const QualType type = call->getCallee()->getType();
    return type->isPointerType() ? type->getPointeeType() : type;
  }

  bool has_own_body(const FunctionDecl* function) const {
    const FunctionDecl* definition = function->getDefinition();
    return definition != nullptr && !unit_.in_system_header(definition->getLocation());
  }

  // Whether an OpenMP lock is in the program's memory as a whole, as GCC's is: then it is as any number there. Others lead to the runtime's.
  static bool is_of_plain_lock(const FunctionDecl* function) {
    const std::string name = function->getName().str();
    if (!name.starts_with("omp_") || name.find("_nest_") != std::string::npos || function->getNumParams() == 0) return false;
    const QualType type = function->getParamDecl(0)->getType()->getPointeeType();
    const auto* const record = type.isNull() ? nullptr : type->getAsRecordDecl();
    return record != nullptr && record->getDefinition() != nullptr &&
           std::all_of(record->field_begin(), record->field_end(), [](const FieldDecl* f) { return f->getType()->isConstantArrayType(); });
  }

  // Its functions that keep nothing; other libraries may have some of these names.
  bool is_of_zlib(const FunctionDecl* function) const {
    static const std::set<std::string> all = {"compress", "compress2", "compressBound", "uncompress", "uncompress2", "crc32", "crc32_z", "crc32_combine", "crc32_combine64",
                                              "adler32", "adler32_z", "adler32_combine", "adler32_combine64", "zlibCompileFlags"};
    return all.contains(function->getName().str()) && unit_.file(function->getCanonicalDecl()->getLocation()).ends_with("/zlib.h");
  }

  // What a header of the system defines, such as those of vectors, is seen through, where nothing else is known of it: it may call the
  // compiler's own functions and others of such headers, and nothing else. (One that comes to itself again is not.)
  bool keeps_nothing(const FunctionDecl* function) {
    const FunctionDecl* definition = function->getDefinition();
    if (definition == nullptr || !unit_.in_system_header(definition->getLocation()) || known_function(function->getName().str()).kind != Known::Kind::kUnknown)
      return false;
    const auto [at, is_new] = keeping_nothing_.emplace(definition, false);
    if (is_new) at->second = only_computes(definition->getBody());
    return at->second;
  }

  static bool is_of_compiler(const std::string& name) {
    const Known known = known_function(name);
    return name.starts_with("__builtin_") && known.kind == Known::Kind::kPlain && !known.draws_numbers && !known.keeps && !known.reads_input;
  }

  bool only_computes(const Stmt* s) {
    if (s == nullptr) return true;
    if (isa<AsmStmt>(s)) return false;
    if (const auto* call = dyn_cast<CallExpr>(s); call != nullptr && callee_of(call) == nullptr && !isa<RecoveryExpr>(call->getCallee())) return false;
    if (const auto* reference = dyn_cast<DeclRefExpr>(s)) {
      if (const auto* variable = dyn_cast<VarDecl>(reference->getDecl()); variable != nullptr && variable->hasGlobalStorage() && !variable->getType().isConstQualified())
        return false;
      const auto* function = dyn_cast<FunctionDecl>(reference->getDecl());
      if (function != nullptr && !is_of_compiler(function->getName().str()) && !keeps_nothing(function)) return false;
    }
    if (const auto* declaration = dyn_cast<DeclStmt>(s))
      for (const Decl* d : declaration->decls())
        if (const auto* variable = dyn_cast<VarDecl>(d); variable != nullptr && variable->isStaticLocal()) return false;
    return !any_part(s, [&](const Stmt* part) { return !only_computes(part); });
  }

  void see_threaded(const CallExpr* call, const FunctionDecl* callee) {
    ThreadedCall threaded = {unit_.place(call->getBeginLoc()), key_, "", "", "", false};
    if (callee == nullptr) threaded.signature = Program::signature_of(pointee_of_callee(call));
    else threaded.name = callee->getName().str(), threaded.key = Program::key_of(unit_, callee);
    program_.threaded_.push_back(threaded);
  }

  // `run`: a function, or a pointer to one, that is given to pthread_create().
  void see_thread(const CallExpr* call, const Expr* run) {
    program_.makes_threads_ = true;
    const auto* const address = dyn_cast<UnaryOperator>(run->IgnoreParenCasts());
    const auto* const named = dyn_cast<DeclRefExpr>(address != nullptr && address->getOpcode() == UO_AddrOf ? address->getSubExpr()->IgnoreParenCasts() : run->IgnoreParenCasts());
    const auto* const function = named == nullptr ? nullptr : dyn_cast<FunctionDecl>(named->getDecl());
    ThreadedCall threaded = {unit_.place(call->getBeginLoc()), key_, "", "", "", true};
    if (function != nullptr) threaded.name = function->getName().str(), threaded.key = Program::key_of(unit_, function);
    else threaded.signature = Program::signature_of(run->getType()->getPointeeType());
    program_.threaded_.push_back(threaded);
  }

  void see_setting(const FunctionDecl* function) {
    const std::string name = function->getName().str();
    if (!known_function(name).is_setting) return;
    const auto text = [](QualType type) { return type.getCanonicalType().getUnqualifiedType().getAsString(); };
    if (function->getNumParams() == 1) program_.settings_[name] = {text(function->getReturnType()), text(function->getParamDecl(0)->getType())};
    else program_.settings_.try_emplace(name, name == "umask" ? Setting{"unsigned int", "unsigned int"} : Setting{"void", "int"});  // without its header
  }

  void ask_for_level(const CallExpr* call) {
    constexpr int kMultiple = 3;  // of MPI's four levels
    const std::optional<int64_t> level = call->getNumArgs() > 2 ? Greatest(unit_.context()).of(call->getArg(2)) : std::nullopt;
    program_.thread_level_ = std::max(program_.thread_level_, static_cast<int>(level.value_or(kMultiple)));
  }

  void look_at_argument(const std::string& receiver, const Expr* argument) {
    const Expr* e = argument->IgnoreParenCasts();
    const auto* const address = dyn_cast<UnaryOperator>(e);
    if (address != nullptr && address->getOpcode() == UO_AddrOf) {
      e = address->getSubExpr()->IgnoreParenCasts();
      const auto* const given = dyn_cast<DeclRefExpr>(e);
      const bool is_function = given != nullptr && isa<FunctionDecl>(given->getDecl());
      // Nothing that is known calls what a variable has which it is led to, as memcpy().
      if (!is_function && (is_mpi(receiver) || known_function(receiver).kind != Known::Kind::kUnknown)) return;
    }
    Callback callback;
    callback.receiver = receiver;
    callback.by = key_;
    callback.place = unit_.place(argument->getBeginLoc());
    if (const auto* reference = dyn_cast<DeclRefExpr>(e))
      if (const auto* function = dyn_cast<FunctionDecl>(reference->getDecl())) callback.key = Program::key_of(unit_, function);
    if (callback.key.empty()) {
      if (!argument->getType()->isFunctionPointerType() && !e->getType()->isFunctionPointerType()) return;
      const QualType type = argument->getType()->isFunctionPointerType() ? argument->getType() : e->getType();
      callback.signature = Program::signature_of(type->getPointeeType());
    }
    callback.makes = makes_of(receiver);
    program_.callbacks_.push_back(callback);
  }

 public:
  bool dataTraverseStmtPre(Stmt* statement) override {
    if (const auto* directive = dyn_cast<OMPExecutableDirective>(statement)) {
      ++directives_;
      program_.has_threads_ = true;
      if (!is_over_at_its_end(directive)) program_.devices_.push_back(unit_.place(directive->getBeginLoc()));
    }
    return true;
  }

  bool dataTraverseStmtPost(Stmt* statement) override {
    if (isa<OMPExecutableDirective>(statement)) --directives_;
    return true;
  }

 private:
  Program& program_;
  const Unit& unit_;
  FunctionFacts* facts_ = nullptr;
  std::string key_;  // of that function
  int directives_ = 0;  // of OpenMP, around what is seen
  std::map<const RecordDecl*, std::string> contents_;  // of structs of this file: their fields
  std::set<const Expr*> direct_, passed_;
  std::set<const Expr*> own_bounds_;  // of variables and members that are arrays
  std::map<const FunctionDecl*, bool> keeping_nothing_;  // definitions in headers of the system
  std::set<std::string> taken_;
  std::set<const Pragma*> pragmas_;  // in front of what they are for
};

void Program::collect(const Unit& unit) {
  Collector collector(*this, unit);
  collector.TraverseDecl(unit.context().getTranslationUnitDecl());
  collector.finish();
}

}  // namespace elc::cc
