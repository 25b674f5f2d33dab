#include "cc/program.h"

#include <algorithm>

#include "cc/addresses.h"
#include "cc/numbers.h"
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

bool makes_error_handler(const std::string& name) {
  return name == "MPI_Errhandler_create" || name == "MPI_Comm_create_errhandler" || name == "MPI_Win_create_errhandler" || name == "MPI_File_create_errhandler";
}

}  // namespace

class Collector : public Visitor {
 public:
  Collector(Program& program, const Unit& unit) : program_(program), unit_(unit) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    if (unit_.in_system_header(function->getLocation())) return true;
    FunctionFacts* const outer = facts_;
    see_other_name(function);
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
    if (name == "MPI_Init_thread") ask_for_level(call);
    for (unsigned i = 0; i < call->getNumArgs(); ++i) look_at_argument(name, call->getArg(i));
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr* reference) override {
    if (const auto* function = dyn_cast<FunctionDecl>(reference->getDecl())) {
      const std::string key = Program::key_of(unit_, function);
      if (unit_.profiles(reference)) program_.profiled_.emplace(function->getName().str(), unit_.place(reference->getLocation()));
      if (!direct_.contains(reference)) {
        taken_.insert(key);
        const std::string name = function->getName().str();
        if (is_site(name)) program_.has_sites_ = true, program_.pointed_sites_.emplace(name, unit_.place(reference->getLocation()));
      }
      here().refers.insert(key);
      if (!has_own_body(function) && !keeps_nothing(function)) {
        here().uses.emplace(function->getName().str(), unit_.place(reference->getLocation()));
        see_setting(function);
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

  // A variable that is as long as a constant says has another type under another MPI, which a restart sees.
  bool TraverseConstantArrayTypeLoc(ConstantArrayTypeLoc at) override { return TraverseTypeLoc(at.getElementLoc()); }

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
  bool VisitUnaryOperator(UnaryOperator* one) override {
    if (one->getType()->isPointerType() && one->isDecrementOp()) keep_apart(one->getSubExpr(), nullptr, 1);
    const auto* element = one->getOpcode() == UO_AddrOf ? dyn_cast<ArraySubscriptExpr>(one->getSubExpr()->IgnoreParens()) : nullptr;
    if (element != nullptr) keep_apart(element->getBase(), element->getIdx(), -1);
    return true;
  }

  // A pointer to a function that becomes one of another signature may be called as that.
  bool VisitCastExpr(CastExpr* cast) override {
    const QualType from = cast->getSubExpr()->getType(), to = cast->getType();
    if (cast->getCastKind() == CK_BitCast && from->isFunctionPointerType() && to->isFunctionPointerType())
      program_.unite(Program::signature_of(from->getPointeeType()), Program::signature_of(to->getPointeeType()));
    return true;
  }

  void finish() {
    for (const std::string& key : taken_) program_.functions_[key].is_address_taken = true;
    program_.check_pragmas(unit_, pragmas_);
  }

 private:
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

  // By so many elements, which are subtracted (1) or added (-1); by one where that is no constant. What takes too much memory is left.
  void keep_apart(const Expr* pointer, const Expr* by, int sign) {
    constexpr int64_t kMost = 1024, kUnit = 16;
    const QualType element = pointer->getType()->getPointeeType();
    if (element->isIncompleteType() || element->isFunctionType() || element->isVariableArrayType() || unit_.in_system_header(pointer->getBeginLoc())) return;
    Expr::EvalResult number;
    const bool is_constant = by != nullptr && by->EvaluateAsInt(number, unit_.context());
    const int64_t elements = sign * (is_constant ? number.Val.getInt().getExtValue() : 1), size = unit_.context().getTypeSizeInChars(element).getQuantity();
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
    for (const Stmt* child : s->children())
      if (!only_computes(child)) return false;
    return true;
  }

  void see_threaded(const CallExpr* call, const FunctionDecl* callee) {
    ThreadedCall threaded = {unit_.place(call->getBeginLoc()), key_, "", "", ""};
    if (callee == nullptr) threaded.signature = Program::signature_of(pointee_of_callee(call));
    else threaded.name = callee->getName().str(), threaded.key = Program::key_of(unit_, callee);
    program_.threaded_.push_back(threaded);
  }

  void see_setting(const FunctionDecl* function) {
    const std::string name = function->getName().str();
    if (!known_function(name).is_setting || function->getNumParams() != 1) return;
    const auto text = [](QualType type) { return type.getCanonicalType().getUnqualifiedType().getAsString(); };
    program_.settings_[name] = {text(function->getReturnType()), text(function->getParamDecl(0)->getType())};
  }

  void ask_for_level(const CallExpr* call) {
    Expr::EvalResult level;
    const bool known = call->getNumArgs() > 2 && call->getArg(2)->EvaluateAsInt(level, unit_.context());
    constexpr int kMultiple = 3;  // of MPI's four levels
    program_.thread_level_ = std::max(program_.thread_level_, known ? static_cast<int>(level.Val.getInt().getExtValue()) : kMultiple);
  }

  void look_at_argument(const std::string& receiver, const Expr* argument) {
    const Expr* e = argument->IgnoreParenCasts();
    if (const auto* address = dyn_cast<UnaryOperator>(e); address != nullptr && address->getOpcode() == UO_AddrOf)
      e = address->getSubExpr()->IgnoreParenCasts();
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
    if (const int made = makes_of(receiver); made != 0 && !callback.key.empty()) program_.given_[callback.key] |= made;
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
  std::map<const FunctionDecl*, bool> keeping_nothing_;  // definitions in headers of the system
  std::set<std::string> taken_;
  std::set<const Pragma*> pragmas_;  // in front of what they are for
};

std::string spelling(const RecordDecl* record) {
  if (const TypedefNameDecl* name = record->getTypedefNameForAnonDecl()) return name->getName().str();
  if (record->getName().empty()) return "";
  return record->getKindName().str() + " " + record->getName().str();
}

std::string Program::signature_of(QualType function) {
  const FunctionType* type = function.isNull() ? nullptr : function->getAs<FunctionType>();
  if (type == nullptr) return "?";
  const auto* prototype = dyn_cast<FunctionProtoType>(type);
  std::string text = type->getReturnType().getCanonicalType().getUnqualifiedType().getAsString();
  if (prototype == nullptr) return text + " ()";
  text += " (";
  for (const QualType parameter : prototype->param_types()) text += parameter.getCanonicalType().getUnqualifiedType().getAsString() + ",";
  return text + (prototype->isVariadic() ? "...)" : ")");
}

std::string Program::key_of(const Unit& unit, const FunctionDecl* function) {
  const std::string name = function->getName().str();
  const FunctionDecl* definition = function->getDefinition();
  const bool own = definition != nullptr && !definition->isExternallyVisible();
  return own ? name + "@" + std::to_string(unit.number()) : name;
}

void Program::add(const Unit& unit) {
  files_.push_back(unit.record().source);
  Collector collector(*this, unit);
  collector.TraverseDecl(unit.context().getTranslationUnitDecl());
  collector.finish();
  characters_.add(unit);
  add_sizes(unit);
  add_addresses(unit);
  if (!options_.has_common_ranks) return;
  const RankFacts ranks = ranks_in(unit);
  ranks_.lost.insert(ranks.lost.begin(), ranks.lost.end());
  ranks_.called.insert(ranks.called.begin(), ranks.called.end());
}

void Program::add_addresses(const Unit& unit) {
  const auto places = [&](const NumbersOfAddresses& numbers, std::set<std::string>* to) {
    for (const Expr* made : numbers.made) to->insert(unit.place(made->getBeginLoc()));
  };
  const auto keys = [&](const std::set<Parameter>& given, std::set<ParameterKey>* to) {
    for (const auto& [function, number] : given) to->insert({key_of(unit, function), number});
  };
  const AddressesOfUnit all = numbers_of_addresses(unit, [](const Parameter&) { return false; });
  for (const auto& [function, numbers] : all.functions) {
    FunctionFacts& facts = functions_[key_of(unit, function)];
    places(numbers, &facts.computes_with_addresses);
    facts.rounds_addresses = std::max(facts.rounds_addresses, numbers.rounded_to);
  }
  keys(all.given, &given_addresses_);
  for (const FunctionDecl* function : all.may_be_given)
    for (const auto& [number, found] : if_given_addresses(unit, function)) {
      IfGivenAddress& facts = functions_[key_of(unit, function)].if_given_address[number];
      places(found.made, &facts.computes);
      facts.rounds = found.made.rounded_to;
      keys(found.given, &facts.gives);
    }
}

// What is given goes on from function to function.
void Program::follow_given_addresses() {
  std::vector<ParameterKey> left(given_addresses_.begin(), given_addresses_.end());
  while (!left.empty()) {
    const auto [key, number] = left.back();
    left.pop_back();
    const auto function = functions_.find(key);
    if (function == functions_.end()) continue;
    FunctionFacts& facts = function->second;
    const auto given = facts.if_given_address.find(number);
    if (given == facts.if_given_address.end()) continue;
    facts.computes_with_addresses.insert(given->second.computes.begin(), given->second.computes.end());
    facts.rounds_addresses = std::max(facts.rounds_addresses, given->second.rounds);
    for (const ParameterKey& next : given->second.gives)
      if (given_addresses_.insert(next).second) left.push_back(next);
  }
}

void Program::check_pragmas(const Unit& unit, const std::set<const Pragma*>& seen) {
  for (const Pragma& pragma : unit.pragmas()) {
    if (pragma.kind == Pragma::Kind::kStateless) options_.stateless.insert(pragma.words.begin(), pragma.words.end());
    else if (seen.contains(&pragma)) continue;
    else if (pragma.kind == Pragma::Kind::kTransient) misplaced_.push_back(pragma.place + ": '#pragma elc transient' stands in front of a variable of a file, or a static one of a function");
    else if (pragma.kind == Pragma::Kind::kType) misplaced_.push_back(pragma.place + ": '#pragma elc type' stands in front of a statement with a call that returns a void * or char *");
    else misplaced_.push_back(pragma.place + ": '#pragma elc union' stands in front of a union in a struct");
  }
}

void Program::add_sizes(const Unit& unit) {
  const std::string file = unit.record().source;
  values_of_numbers_.emplace(kAnySize, any_size(unit));
  const auto holder = [&unit](const Holder& h) { return key_of(unit, h.function) + " " + h.what; };
  for (const auto& [function, sizes] : sizes_in(unit)) {
    FunctionFacts& facts = function == nullptr ? at_file_scope_ : functions_[key_of(unit, function)];
    for (const Size& size : sizes.kept) facts.numbers.emplace(add_size(size, file), size.place);
    for (const auto& [size, to] : sizes.given) given_sizes_.push_back({add_size(size, file), size.place, holder(to), function == nullptr ? "" : key_of(unit, function)});
    for (const Holder& h : sizes.keeps) keeps_.insert(holder(h));
    for (const auto& [from, to] : sizes.gives) given_by_[holder(to)].insert(holder(from));
  }
}

// Its name among the numbers; types of several files may have one name.
std::string Program::add_size(const Size& size, const std::string& file) {
  std::string name = size.name;
  for (const std::string& more : {" of " + file, " at " + size.place}) {
    if (values_of_numbers_.emplace(name, size.value).first->second == size.value) break;
    name = size.name + more;
  }
  values_of_numbers_.emplace(name, size.value);
  return name;
}

std::string Program::find(std::string signature) const {
  for (auto next = united_.find(signature); next != united_.end(); next = united_.find(signature)) signature = next->second;
  return signature;
}

void Program::unite(const std::string& a, const std::string& b) {
  const std::string left = find(a), right = find(b);
  if (left != right) united_[left] = right;
}

void Program::conclude(std::vector<std::string>* errors) {
  follow_given_addresses();
  characters_.conclude();
  errors->insert(errors->end(), misplaced_.begin(), misplaced_.end());
  // Facts of functions that are not defined say no more than that their address is taken.
  for (auto f = functions_.begin(); f != functions_.end();) f = f->second.name.empty() ? functions_.erase(f) : std::next(f);
  // Without a prototype a function may be called as any that returns the same.
  std::map<std::string, std::string> open;
  for (const auto& [key, f] : functions_)
    for (const std::string& s : f.calls_by)
      if (s.ends_with(" ()")) open[s.substr(0, s.size() - 3)] = s;
  for (const auto& [key, f] : functions_) {
    if (!f.is_address_taken) continue;
    const std::string returns = f.signature.substr(0, f.signature.find(" ("));
    if (const auto o = open.find(returns); o != open.end()) unite(f.signature, o->second);
    if (f.signature.ends_with(" ()")) {
      for (const auto& [other, g] : functions_)
        for (const std::string& s : g.calls_by)
          if (s.substr(0, s.find(" (")) == returns) unite(f.signature, s);
    }
  }
  find_reachable();
  for (bool grows = true; grows;) {
    grows = false;
    for (const auto& [key, f] : functions_) {
      if (instrumented_.contains(key) || !reachable_.contains(key)) continue;
      bool reaches = f.calls_site || (key == "main" && has_sites_) || options_.everywhere;
      for (const std::string& callee : f.calls) reaches |= instrumented_.contains(callee);
      for (const std::string& signature : f.calls_by) reaches |= targets_.contains(find(signature));
      if (!reaches) continue;
      instrumented_.insert(key);
      if (f.is_address_taken) targets_.insert(find(f.signature));
      grows = true;
    }
  }
  for (const Callback& c : callbacks_) {
    if (external_.contains(c.receiver) || !reachable_.contains(c.by) || known(c.receiver).kind == Known::Kind::kUnknown) continue;
    const bool reaches = c.key.empty() ? targets_.contains(find(c.signature)) : instrumented_.contains(c.key);
    if (!reaches) continue;
    if (makes_error_handler(c.receiver) && !c.key.empty()) {
      if (error_handlers_.insert(c.key).second)
        warnings_.push_back(c.place + ": " + functions_.at(c.key).name + "() can reach MPI, and MPI may call it: when it has been called no line is taken");
      continue;
    }
    const std::string what = c.key.empty() ? "a function that can reach MPI" : functions_.at(c.key).name + "(), which can reach MPI,";
    errors->push_back(c.place + ": " + what + " may be given to " + c.receiver +
                      "(), which is not the program's: a restart could not come back through it");
  }
  for (const auto& [name, place] : profiled_)
    if (external_.contains(name)) errors->push_back(place + ": P" + name + "() in a program that defines " + name + "(), in whose place the library is");
  for (const auto& [name, place] : pointed_sites_)
    if (!external_.contains(name)) warnings_.push_back(place + ": there is a pointer to " + name + "(): no line is taken in calls by it");
  check_threads(errors);
  find_kept_sizes();
  find_numbers();
  std::set<std::string> told;
  const auto see = [&](const FunctionFacts& f) {
    for (const auto& [name, place] : f.uses) {
      const Known k = external_.contains(name) ? Known() : known(name);
      draws_numbers_ |= k.draws_numbers;
      uses_library_ |= k.keeps;
      rounds_ |= k.rounds;
      reads_input_ |= k.reads_input;
      reads_clocks_ |= k.reads_clock;
      aligns_ = std::max(aligns_, k.aligns ? 1 : 0);
      gets_attributes_ |= k.gets_attributes;
      makes_keyvals_ |= k.makes_keyvals;
      allocates_windows_ |= k.allocates_windows;
      attaches_ |= k.attaches;
    }
    reads_input_ |= f.uses_variables.contains("stdin");
    check_foreign(f, &told, errors);
  };
  see(at_file_scope_);
  for (const std::string& key : reachable_) {
    const FunctionFacts& f = functions_.at(key);
    see(f);
    aligns_ = std::max(aligns_, f.rounds_addresses);
    if (!options_.may_compute_with_addresses)
      for (const std::string& place : f.computes_with_addresses)
        warnings_.push_back(place + ": " + f.name + "(): " + kComputesWithAddress + ": when it has been called no line is taken (-felc-address-numbers)");
  }
  find_ranks(errors);
}

// From main, and from what initialisers of variables hold.
void Program::find_reachable() {
  std::vector<std::string> next = {"main"};
  next.insert(next.end(), at_file_scope_.refers.begin(), at_file_scope_.refers.end());
  while (!next.empty()) {
    const std::string key = next.back();
    next.pop_back();
    const auto f = functions_.find(key);
    if (f == functions_.end() || !reachable_.insert(key).second) continue;
    next.insert(next.end(), f->second.refers.begin(), f->second.refers.end());
  }
}

// Frames are in lines, and with them all variables of their functions.
void Program::find_kept_sizes() {
  std::vector<std::string> next;
  const auto keep = [&](const std::string& holder) {
    if (keeps_.insert(holder).second) next.push_back(holder);
  };
  const auto has_frame = [&](const std::string& holder) { return !holder.ends_with("=") && instrumented_.contains(holder.substr(0, holder.rfind(' '))); };
  next.assign(keeps_.begin(), keeps_.end());
  for (const GivenSize& given : given_sizes_)
    if (has_frame(given.to)) keep(given.to);
  for (const auto& [to, from] : given_by_) {
    if (has_frame(to)) keep(to);
    for (const std::string& holder : from)
      if (has_frame(holder)) keep(holder);
  }
  while (!next.empty()) {
    const auto from = given_by_.find(next.back());
    next.pop_back();
    if (from == given_by_.end()) continue;
    for (const std::string& holder : from->second) keep(holder);
  }
  for (const GivenSize& given : given_sizes_) {
    if (!keeps_.contains(given.to)) continue;
    (given.by.empty() ? at_file_scope_ : functions_.at(given.by)).numbers.emplace(given.name, given.place);
  }
}

void Program::find_ranks(std::vector<std::string>* errors) {
  bool are_other = false;
  std::map<std::string, int> own;
  for (const auto& [name, common] : common_ranks()) {
    const auto value = values_of_numbers_.find(name);
    if (value == values_of_numbers_.end()) return;
    own[name] = static_cast<int>(value->second);
    are_other |= value->second != common;
  }
  if (!are_other || !options_.has_common_ranks) return;
  std::set<std::string> lost = ranks_.lost;
  for (const auto& [key, place] : ranks_.called)
    if (instrumented_.contains(key)) lost.insert(place + ": a rank comes from a call that can reach MPI");
  const std::string others = !stateless_.empty() ? stateless_ : foreign_.empty() ? "" : *foreign_.begin();
  if (!others.empty()) lost.insert("no file that elc-cc has compiled has " + others + ", which may call MPI, too");
  for (const std::string& why : lost) errors->push_back(why + " (-felc-common-ranks)");
  own_ranks_ = own;
  for (const auto& [name, common] : common_ranks())
    if (const auto number = numbers_.find(name); number != numbers_.end()) number->second.value = common;
}

void Program::find_numbers() {
  const auto add = [&](const std::string& name, const std::string& place, bool is_kept) {
    for (const auto& [constant, value] : values_of_numbers_) {
      if (constant != name && !(name.ends_with("_") && constant.starts_with(name)) && !(name == any_number() && constant.starts_with("MPI"))) continue;
      Number& number = numbers_[constant];
      if (number.place.empty() || (is_kept && !number.is_kept)) number = {value, place, is_kept};
    }
  };
  const auto add_all = [&](const FunctionFacts& f) {
    for (const auto& [name, place] : f.numbers) add(name, place, true);
    for (const auto& [to, name, place] : f.given)
      if (names_.contains(to)) add(name, place, true);
    for (const auto& [function, place] : f.uses) {
      const Given& given = given_by(function);
      for (const std::string& name : given.names) add(name, place, !given.is_seen);
    }
  };
  add_all(at_file_scope_);
  for (const std::string& key : reachable_) add_all(functions_.at(key));
  numbers_.erase(any_number());
}

int Program::given_to(const Unit& unit, const clang::FunctionDecl* function) const {
  const auto found = given_.find(key_of(unit, function));
  return found == given_.end() ? 0 : found->second;
}

// One thread calls MPI and has frames; what other functions of the library keep is for one thread, too, but memory.
void Program::check_threads(std::vector<std::string>* errors) const {
  for (const std::string& place : devices_) errors->push_back(place + ": a directive of OpenMP after which something may be under way or elsewhere, which lines do not have");
  std::set<std::string> seen, told;
  std::vector<ThreadedCall> next;
  for (const ThreadedCall& call : threaded_)
    if (reachable_.contains(call.by)) next.push_back(call);
  const auto report = [&](const ThreadedCall& call, const std::string& what, const std::string& place) {
    if (told.insert(what + place).second)
      errors->push_back(place + ": " + what + " may be called by threads of OpenMP, in the directive around " + call.place + ": call it outside of directives");
  };
  while (!next.empty()) {
    const ThreadedCall call = next.back();
    next.pop_back();
    const auto check = [&](const std::string& name, const std::string& place) {
      const Known k = known(name);
      if (!k.is_for_threads && (is_mpi(name) || k.keeps || k.kind == Known::Kind::kReplaced)) report(call, name + "()", place);
    };
    if (call.key.empty()) {
      for (const auto& [key, f] : functions_)
        if (f.is_address_taken && find(f.signature) == find(call.signature)) next.push_back({call.place, call.by, f.name, key, ""});
      continue;
    }
    const auto f = functions_.find(call.key);
    if (f == functions_.end()) {
      check(call.name, call.place);
      continue;
    }
    if (!seen.insert(call.key).second) continue;
    if (instrumented_.contains(call.key)) report(call, f->second.name + "(), which can reach MPI,", call.place);
    for (const auto& [name, place] : f->second.uses)
      if (!external_.contains(name)) check(name, place);
    for (const std::string& key : f->second.calls)
      if (functions_.contains(key)) next.push_back({call.place, call.by, functions_.at(key).name, key, ""});
    for (const std::string& signature : f->second.calls_by) next.push_back({call.place, call.by, "", "", signature});
  }
}

void Program::check_foreign(const FunctionFacts& of, std::set<std::string>* told, std::vector<std::string>* errors) {
  for (const auto& [name, place] : of.uses) {
    if (external_.contains(name) || !told->insert(name).second) continue;
    const Known k = known(name);
    if (is_stateless(name)) stateless_ = name;
    if (k.kind == Known::Kind::kUnfit && k.file != Known::File::kUsed)
      warnings_.push_back(place + ": " + name + "(): " + k.text + (k.file == Known::File::kNone ? ": when it has been called no line is taken" : ""));
    if (k.kind == Known::Kind::kRefused) errors->push_back(place + ": " + name + "(): " + k.text);
    if (k.kind == Known::Kind::kPlain && !k.returns_own && returning_pointers_.contains(name) && !is_stateless(name))
      errors->push_back(place + ": " + name + "(): what it returns a pointer to is not the program's, and not part of lines");
    if (k.kind != Known::Kind::kUnknown) continue;
    foreign_.insert(name);
    warnings_.push_back(place + ": " + name + "(): " + why_foreign(name) + ": when it has been called no line is taken");
  }
  for (const auto& [name, place] : of.uses_variables) {
    if (variables_.contains(name) || is_known_variable(name) || is_stateless(name) || !told->insert(name).second) continue;
    foreign_.insert(name);
    warnings_.push_back(place + ": the variable '" + name + "': " + why_foreign(name) + ": when it has been used no line is taken");
  }
}

Known Program::known(const std::string& name) const {
  Known k = options_.stateless.contains(name) ? Known() : known_function(name);
  if (k.kind == Known::Kind::kUnknown && is_stateless(name)) k.kind = Known::Kind::kPlain;
  return k;
}

bool Program::is_stateless(const std::string& name) const {
  return std::any_of(options_.stateless.begin(), options_.stateless.end(), [&](const std::string& said) {
    return said.ends_with("*") ? name.starts_with(said.substr(0, said.size() - 1)) : name == said;
  });
}

std::string Program::why_foreign(const std::string& name) const {
  if (!foreign_.contains(name)) return "";
  return "it is in none of the files that elc-cc has compiled; compile these with elc-cc, too, or say -felc-stateless=" + name +
         " if it keeps nothing from call to call, keeps no pointer that it is given, and calls no function of the program";
}

std::vector<std::string> Program::names_of_instrumented() const {
  std::vector<std::string> names;
  for (const std::string& key : instrumented_) names.push_back(functions_.at(key).place + ": " + functions_.at(key).name + "()");
  return names;
}

bool Program::reaches_site(const Unit& unit, const FunctionDecl* function) const {
  return instrumented_.contains(key_of(unit, function));
}

bool Program::may_reach_site(const CallExpr* by_pointer) const {
  const QualType type = by_pointer->getCallee()->getType();
  return targets_.contains(find(signature_of(type->isPointerType() ? type->getPointeeType() : type)));
}

bool Program::reaches_mpi(const Unit& unit, const Stmt* s) const {
  if (const auto* call = dyn_cast<CallExpr>(s)) {
    const FunctionDecl* callee = callee_of(call);
    if (callee == nullptr ? may_reach_site(call) : is_site(callee->getName().str()) || reaches_site(unit, callee)) return true;
  }
  return std::any_of(s->child_begin(), s->child_end(), [&](const Stmt* child) { return child != nullptr && reaches_mpi(unit, child); });
}

std::string Program::name_of(const Unit& unit, const FunctionDecl* function) const {
  const std::string name = function->getName().str();
  const auto count = names_.find(name);
  return count == names_.end() || count->second < 2 ? name : file_name(unit) + ":" + name;
}

std::string Program::file_name(const Unit& unit) const {
  const std::string source = "/" + unit.record().source;
  for (size_t at = source.rfind('/');; at = source.rfind('/', at - 1)) {
    const std::string end = source.substr(at);
    const auto has_it = [&](const std::string& other) { return at == 0 ? "/" + other == end : ("/" + other).ends_with(end); };
    if (std::count_if(files_.begin(), files_.end(), has_it) == 1) return end.substr(1);
    if (at == 0) return end.substr(1) + "#" + std::to_string(unit.number());
  }
}

bool Program::begins_mpi() const {
  return std::any_of(functions_.begin(), functions_.end(), [](const auto& one) { return one.second.uses.contains("MPI_Init") || one.second.uses.contains("MPI_Init_thread"); });
}

bool Program::defines(const Unit& unit, const FunctionDecl* function) const {
  const auto f = functions_.find(key_of(unit, function));
  return f != functions_.end() && !f->second.name.empty();
}

bool Program::is_other_name(const Unit& unit, const FunctionDecl* function) const {
  const auto f = functions_.find(key_of(unit, function));
  return f != functions_.end() && f->second.is_other_name;
}

bool Program::is_address_taken(const Unit& unit, const FunctionDecl* function) const {
  const auto f = functions_.find(key_of(unit, function));
  return f != functions_.end() && f->second.is_address_taken;
}

}  // namespace elc::cc
