#include "cc/characters.h"

#include <algorithm>

#include "cc/known.h"
#include "cc/program.h"
#include "cc/types.h"
#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

namespace {

// What pointers and arrays of any depth are of in the end.
QualType base_of(QualType type) {
  for (;;) {
    if (type->isPointerType()) type = type->getPointeeType();
    else if (const ArrayType* array = type->getAsArrayTypeUnsafe()) type = array->getElementType();
    else return type;
  }
}

bool are_characters(QualType base) { return base->isAnyCharacterType(); }
bool has_class(QualType type) { return are_characters(base_of(type)) || base_of(type)->isVoidType(); }
bool is_pointer(QualType type) { return type->isPointerType() || type->isArrayType(); }
bool is_array_of_characters(QualType type) { return type->isArrayType() && type->getBaseElementTypeUnsafe()->isAnyCharacterType(); }

// As it is written, below conversions that the compiler adds.
const Expr* written(const Expr* e) {
  for (;;) {
    e = e->IgnoreParens();
    const auto* cast = dyn_cast<ImplicitCastExpr>(e);
    if (cast == nullptr) return e;
    e = cast->getSubExpr();
  }
}

bool is_one_of(const char* names, const std::string& name) { return (" " + std::string(names) + " ").find(" " + name + " ") != std::string::npos; }

// Functions of the C library: pointers to anything that they are given lead to bytes for them, and to nothing else.
bool sees_bytes(const std::string& name) {
  return is_one_of("free ELC_free realloc memset memchr memrchr memcmp bcmp bzero explicit_bzero fread fwrite fread_unlocked fwrite_unlocked read write pread pwrite "
                   "send recv puts setvbuf setbuf", name);
}
bool brings_bytes(const std::string& name) { return is_one_of("fread fread_unlocked read pread recv", name); }
// It keeps numbers of its own in what it is given.
bool makes_state(const std::string& name) { return is_one_of("initstate initstate_r setstate setstate_r", name); }
bool copies(const std::string& name) { return is_one_of("memcpy memmove mempcpy bcopy", name); }
bool allocates(const std::string& name) { return is_one_of("malloc calloc valloc aligned_alloc memalign ELC_malloc ELC_calloc strdup strndup", name); }
// What they return leads to what they are given first.
bool returns_first(const std::string& name) {
  return is_one_of("strcpy strncpy strcat strncat stpcpy stpncpy strchr strrchr strchrnul strstr strcasestr strpbrk fgets gets getcwd memchr memrchr memset memcpy memmove "
                   "mempcpy basename dirname realpath index rindex inet_ntop", name);
}

}  // namespace

class CharacterVisitor : public Visitor {
 public:
  CharacterVisitor(Characters& all, const Unit& unit) : all_(all), unit_(unit) {}

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    if (unit_.in_system_header(function->getLocation())) return true;
    const FunctionDecl* const outer = function_;
    if (function->doesThisDeclarationHaveABody()) {
      function_ = function;
      const std::string key = Program::key_of(unit_, function);
      all_.defined_.insert(key);
      // Where it is called without a prototype, or as another function, it may be given anything.
      for (unsigned i = 0; i < function->getNumParams(); ++i)
        if (const QualType type = function->getParamDecl(i)->getType(); type->isPointerType()) use(parameter(key, i), type, unit_.place(function->getLocation()));
      if (function->getReturnType()->isPointerType()) use(returned(function), function->getReturnType(), unit_.place(function->getLocation()));
    }
    const bool through = Visitor::TraverseFunctionDecl(function);
    function_ = outer;
    return through;
  }

  bool VisitVarDecl(VarDecl* variable) override {
    // Another file may have it as characters.
    if (variable->hasGlobalStorage() && variable->isExternallyVisible() && is_pointer(variable->getType()) && !has_class(variable->getType()) &&
        !unit_.in_system_header(variable->getLocation()))
      all_.see_other(all_.node(name_of(unit_, variable)), unit_.place(variable->getLocation()));
    if (is_array_of_characters(variable->getType()) && !unit_.in_system_header(variable->getLocation())) see_array(variable, variable->getName().str());
    if (variable->getInit() != nullptr && variable->getType()->isIntegerType()) all_.unite(holder(variable), value(variable->getInit()));
    else if (variable->getInit() != nullptr) initialise(variable->getType(), of(variable), variable->getInit());
    if (variable->getInit() != nullptr && variable->getType()->isPointerType()) note_sources(name_of(unit_, variable), variable->getInit());
    return true;
  }

  bool VisitRecordDecl(RecordDecl* record) override {
    if (unit_.in_system_header(record->getLocation()) || !record->isThisDeclarationADefinition()) return true;
    for (const FieldDecl* field : record->fields())
      if (is_array_of_characters(field->getType())) see_array(field, field->getName().str());
    add_members(record, &all_.members_[name_of(QualType(record->getTypeForDecl(), 0))]);
    if (record->isUnion()) see_union(record);
    return true;
  }

  bool VisitCompoundLiteralExpr(CompoundLiteralExpr* literal) override {
    initialise(literal->getType(), of(literal), literal->getInitializer());
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (both->isEqualityOp()) let_go(both->getLHS(), ""), let_go(both->getRHS(), "");
    if (both->getOpcode() == BO_Assign && is_null(both->getRHS())) let_go(both->getLHS(), "");
    if (both->isAssignmentOp() && both->getType()->isIntegerType()) {
      const bool adds = both->getOpcode() == BO_AddAssign || both->getOpcode() == BO_SubAssign;
      if (!both->isCompoundAssignmentOp() || both->getOpcode() == BO_AndAssign || both->getOpcode() == BO_OrAssign || both->getOpcode() == BO_XorAssign ||
          (adds && is_character_in_memory(both->getLHS()) && is_character_in_memory(both->getRHS())))
        all_.unite(value(both->getLHS()), value(both->getRHS()));
    }
    if (both->getOpcode() != BO_Assign || !both->getType()->isPointerType()) return true;
    all_.unite(of(both->getLHS()), of(both->getRHS()));
    if (const auto* to = dyn_cast<DeclRefExpr>(both->getLHS()->IgnoreParens())) {
      let_go(to, "");
      note_sources(name_of(unit_, to->getDecl()), both->getRHS());
    }
    return true;
  }

  bool VisitIfStmt(IfStmt* s) override { return let_go(s->getCond(), ""), true; }

  // Where a pointer leads to may be changed by others; the first member of a struct is where that is.
  bool VisitUnaryOperator(UnaryOperator* one) override {
    const auto* member = one->getOpcode() == UO_AddrOf ? dyn_cast<MemberExpr>(one->getSubExpr()->IgnoreParens()) : nullptr;
    const auto* field = member == nullptr ? nullptr : dyn_cast<FieldDecl>(member->getMemberDecl());
    if (field != nullptr && field->getFieldIndex() == 0 && field->getType()->isRecordType())
      all_.unite(seen(field->getType()), seen(QualType(field->getParent()->getTypeForDecl(), 0)));
    if (one->getOpcode() == UO_LNot) let_go(one->getSubExpr(), "");
    const auto* to = dyn_cast<DeclRefExpr>(one->getSubExpr()->IgnoreParens());
    if (one->getOpcode() == UO_AddrOf && to != nullptr && to->getType()->isPointerType()) all_.sources_[name_of(unit_, to->getDecl())].insert(Characters::kOthers);
    return true;
  }

  bool VisitReturnStmt(ReturnStmt* s) override {
    if (s->getRetValue() == nullptr || function_ == nullptr) return true;
    if (function_->getReturnType()->isIntegerType()) all_.unite(returned(function_), value(s->getRetValue()));
    if (!function_->getReturnType()->isPointerType()) return true;
    all_.unite(returned(function_), of(s->getRetValue()));
    let_go(s->getRetValue(), name_of_returned(function_));
    note_sources(name_of_returned(function_), s->getRetValue());
    return true;
  }

  bool VisitVAArgExpr(VAArgExpr* argument) override { return use_list(argument->getSubExpr()), true; }

  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* callee = callee_of(call);
    if (callee != nullptr && is_of_system(callee))
      for (const Expr* argument : call->arguments()) use_list(argument);
    if (callee == nullptr) {
      const std::string signature = signature_of(call);
      all_.called_.insert(signature);
      const auto* prototype = called_type(call)->getAs<FunctionProtoType>();
      for (unsigned i = 0; i < call->getNumArgs(); ++i) {
        if (prototype != nullptr && prototype->isVariadic() && i >= prototype->getNumParams()) {
          all_.unite(more(signature, call->getArg(i)->getType()), given(call->getArg(i), false));
          continue;
        }
        const std::string to = signature + "#" + std::to_string(i);
        all_.passed_.emplace_back(to, given(call->getArg(i), prototype != nullptr && i < prototype->getNumParams()));
        let_go(call->getArg(i), to);
      }
    } else {
      direct_.insert(call->getCallee()->IgnoreParenImpCasts());
      if (is_of_system(callee)) give_to_system(call, callee);
      else give(call, callee);
    }
    return true;
  }

  // A function that is not called there may be called as any of its kind.
  bool VisitDeclRefExpr(DeclRefExpr* reference) override {
    if (is_list(reference->getType()) && !lists_.contains(reference)) share_arguments();
    if (isa<ParmVarDecl>(reference->getDecl()) && !let_go_.contains(reference)) all_.let_go_[name_of(unit_, reference->getDecl())].insert(Characters::kOthers);
    const auto* function = dyn_cast<FunctionDecl>(reference->getDecl());
    if (function == nullptr || direct_.contains(reference)) return true;
    if (is_of_system(function)) return see_system(function), true;
    join(function, Program::signature_of(function->getType()));
    return true;
  }

  bool VisitCastExpr(CastExpr* cast) override {
    const QualType from = cast->getSubExpr()->getType(), to = cast->getType();
    if (cast->getCastKind() == CK_PointerToIntegral) all_.see_other(of(cast->getSubExpr()), place(cast));
    if (!to->isPointerType() || !is_pointer(from)) return true;
    if (from->isFunctionPointerType() || to->isFunctionPointerType()) {
      if (from->isFunctionPointerType() && to->isFunctionPointerType()) join_signatures(from->getPointeeType(), to->getPointeeType());
      else all_.see_other(of(cast->getSubExpr()), place(cast));
      return true;
    }
    if (has_class(from) && !has_class(to)) {
      const int node = of(cast->getSubExpr());
      if (isa<StringLiteral>(written(cast))) return true;
      if (are_characters(base_of(from))) all_.see_other(node, place(cast));
      use(node, to, place(cast));
    } else if (!has_class(from) && !has_class(to)) {
      see_as(base_of(from), base_of(to), place(cast));
    }
    return true;
  }

  static std::string name_of(const Unit& unit, const ValueDecl* declared) {
    if (const auto* field = dyn_cast<FieldDecl>(declared)) {
      const std::string record = named(field->getParent());
      if (!record.empty() && !field->getName().empty()) return record + "." + field->getName().str();
    } else if (const auto* parameter = dyn_cast<ParmVarDecl>(declared)) {
      if (const auto* function = dyn_cast<FunctionDecl>(parameter->getDeclContext()))
        return Program::key_of(unit, function) + "#" + std::to_string(parameter->getFunctionScopeIndex());
    } else if (const auto* variable = dyn_cast<VarDecl>(declared); variable != nullptr && variable->hasGlobalStorage() && variable->isExternallyVisible()) {
      return variable->getName().str();
    }
    return at(unit, declared->getCanonicalDecl()->getLocation());
  }

  // Not by the name that the module has given since to one that had none.
  static std::string named(const RecordDecl* record) {
    const std::string name = spelling(record);
    return name.find(kUnnamed) != std::string::npos ? "" : name;
  }
  static std::string name_of(const Unit& unit, const Expr* made) { return at(unit, made->getBeginLoc()) + "()"; }
  static std::string signature_of(const CallExpr* call) { return Program::signature_of(called_type(call)); }

 private:
  static QualType called_type(const CallExpr* call) {
    const QualType type = call->getCallee()->getType();
    return type->isPointerType() ? type->getPointeeType() : type;
  }

  static std::string at(const Unit& unit, SourceLocation location) { return std::to_string(unit.number()) + "@" + std::to_string(unit.begin_of(location)); }

  std::string place(const Expr* e) const { return unit_.place(e->getBeginLoc()); }
  bool is_of_system(const FunctionDecl* function) const { return unit_.in_system_header(function->getCanonicalDecl()->getLocation()) || function->getBuiltinID() != 0; }

  // Types of which one may be seen as the other have one name.
  std::string name_of(QualType type) const {
    type = type.getCanonicalType().getUnqualifiedType();
    if (const auto* enumerated = type->getAs<EnumType>(); enumerated != nullptr && !enumerated->getDecl()->getIntegerType().isNull())
      type = enumerated->getDecl()->getIntegerType();
    if (type->isSignedIntegerType() && !type->isBooleanType()) type = unit_.context().getCorrespondingUnsignedType(type);
    const auto* record = type->getAs<RecordType>();
    if (record == nullptr) return type.getAsString();
    const std::string name = named(record->getDecl());
    return name.empty() ? at(unit_, record->getDecl()->getLocation()) : name;
  }

  int parameter(const std::string& function, unsigned number, const char* of = "") { return all_.node(function + "#" + std::to_string(number) + of); }
  std::string name_of_returned(const FunctionDecl* function) const { return Program::key_of(unit_, function) + "="; }
  int returned(const FunctionDecl* function) { return all_.node(name_of_returned(function)); }
  // The arguments of a function that takes any number of them, or of those whose lists others have, too: what pointers among them lead to,
  // and from where numbers are.
  int more(const std::string& function, QualType type) { return all_.node(function + (type->isIntegerType() ? "...[]" : "...")); }

  bool is_list(QualType type) const {
    const ASTContext& context = unit_.context();
    const QualType list = context.getBuiltinVaListType();
    if (context.hasSameUnqualifiedType(type, list)) return true;
    return list->isArrayType() && type->isPointerType() && context.hasSameUnqualifiedType(type->getPointeeType(), context.getAsArrayType(list)->getElementType());
  }

  // A list that a function with such arguments has in a variable.
  const DeclRefExpr* own_list(const Expr* e) const {
    const auto* reference = dyn_cast<DeclRefExpr>(e->IgnoreParenCasts());
    const auto* variable = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    return variable != nullptr && variable->hasLocalStorage() && !isa<ParmVarDecl>(variable) ? reference : nullptr;
  }

  // By va_start and the like, or by the C library.
  void use_list(const Expr* e) {
    if (const DeclRefExpr* const own = own_list(e); own != nullptr && is_list(own->getType())) lists_.insert(own);
    else if (is_list(e->getType())) share_arguments();
  }

  // The function gives its list away, or has others.
  void share_arguments() {
    if (function_ == nullptr || !function_->isVariadic()) return;
    for (const QualType type : {unit_.context().VoidPtrTy, unit_.context().IntTy}) all_.unite(more(Program::key_of(unit_, function_), type), more("", type));
  }

  int of_argument(const VAArgExpr* e) {
    const bool is_own = function_ != nullptr && function_->isVariadic() && own_list(e->getSubExpr()) != nullptr;
    return more(is_own ? Program::key_of(unit_, function_) : "", e->getType());
  }

  static QualType return_type_of(QualType function) { return function->castAs<FunctionType>()->getReturnType(); }
  static Characters::Gives gives_of(QualType returned) {
    const QualType to = returned->getPointeeType();
    if (to.isNull()) return Characters::Gives::kOther;
    return to->isVoidType() ? Characters::Gives::kAnything : to->isAnyCharacterType() ? Characters::Gives::kCharacters : Characters::Gives::kOther;
  }

  // How many arguments functions may have that are called by pointers.
  static constexpr unsigned kMost = 32;

  void join(const FunctionDecl* function, const std::string& signature) {
    const std::string key = Program::key_of(unit_, function);
    const Characters::Gives gives = gives_of(function->getReturnType());
    all_.lead(signature, key, function->getNumParams(), gives);
    all_.taken_.insert({key, signature, function->getNumParams(), gives});
  }

  void join_signatures(QualType a, QualType b) {
    all_.lead(Program::signature_of(a), Program::signature_of(b), kMost, gives_of(return_type_of(b)));
    all_.lead(Program::signature_of(b), Program::signature_of(a), kMost, gives_of(return_type_of(a)));
  }

  void see_array(const ValueDecl* array, const std::string& name) {
    all_.arrays_.emplace(of(array), unit_.place(array->getLocation()) + ": '" + name + "'");
  }

  void use(int node, QualType pointer, const std::string& where) {
    if (node >= 0 && !has_class(pointer) && !pointer->isFunctionPointerType())
      all_.class_of(node).used.emplace(noted(base_of(pointer)), where);
  }

  // Of numbers: a variable, or the elements of one that is no characters.
  int holder(const ValueDecl* declared) {
    return all_.node(name_of(unit_, declared) + (is_pointer(declared->getType()) && !has_class(declared->getType()) ? "[]" : ""));
  }

  // Of an argument; without a prototype nothing says what it becomes.
  int given(const Expr* e, bool has_prototype) {
    if (e->getType()->isIntegerType()) return value(e);
    const int node = of(e);
    if (node >= 0 || has_prototype || !is_pointer(e->getType()) || e->getType()->isFunctionPointerType() || has_class(e->getType()) || is_null(e)) return node;
    return put(e->getType(), place(e));
  }

  std::vector<int> given(const CallExpr* call) {
    std::vector<int> all;
    for (const Expr* argument : call->arguments()) all.push_back(is_pointer(argument->getType()) ? of(argument) : -1);
    return all;
  }

  // The name of what a pointer is to.
  std::string noted(QualType type) {
    const std::string name = name_of(type);
    if (const auto* record = type->getAs<RecordType>(); record != nullptr && record->getDecl()->getDefinition() == nullptr) all_.opaque_.insert(name);
    return name;
  }

  int put(QualType pointer, const std::string& where) {
    const int node = all_.fresh();
    all_.class_of(node).put.emplace(noted(base_of(pointer)), where);
    return node;
  }

  int either(int a, int b) {
    all_.unite(a, b);
    return a >= 0 ? a : b;
  }

  static bool is_character_in_memory(const Expr* e) {
    e = written(e);
    const auto* one = dyn_cast<UnaryOperator>(e);
    return are_characters(e->getType()) && (isa<ArraySubscriptExpr>(e) || (one != nullptr && one->getOpcode() == UO_Deref));
  }

  // The class of the memory that a number is one character of, copied through variables: bytes of something else may be. What has been
  // computed is a number of its own.
  int value(const Expr* e) {
    e = e->IgnoreParens();
    if (!e->getType()->isIntegerType()) return -1;
    if (const auto* cast = dyn_cast<CastExpr>(e)) return value(cast->getSubExpr());
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) return isa<VarDecl>(reference->getDecl()) ? holder(reference->getDecl()) : -1;
    if (const auto* member = dyn_cast<MemberExpr>(e)) return holder(member->getMemberDecl());
    if (const auto* argument = dyn_cast<VAArgExpr>(e)) return of_argument(argument);
    if (const Expr* last = last_of(e)) return value(last);
    if (const auto* choice = dyn_cast<BinaryConditionalOperator>(e)) return either(value(choice->getCommon()), value(choice->getFalseExpr()));
    if (const auto* choice = dyn_cast<ConditionalOperator>(e)) return either(value(choice->getTrueExpr()), value(choice->getFalseExpr()));
    if (const auto* both = dyn_cast<BinaryOperator>(e)) {
      if (both->isAssignmentOp()) return value(both->getLHS());
      if (both->getOpcode() == BO_Comma) return value(both->getRHS());
      const bool adds = both->isAdditiveOp() || both->isShiftOp();
      if (!adds && !both->isBitwiseOp()) return -1;
      const int node = !adds || is_character_in_memory(both->getLHS()) ? value(both->getLHS()) : -1;
      const int with = !adds || is_character_in_memory(both->getRHS()) ? value(both->getRHS()) : -1;
      return either(node, with);
    }
    if (const auto* call = dyn_cast<CallExpr>(e)) {
      const FunctionDecl* callee = callee_of(call);
      return callee == nullptr ? all_.node(signature_of(call) + "=") : is_of_system(callee) ? -1 : returned(callee);
    }
    const auto* one = dyn_cast<UnaryOperator>(e);
    if (one != nullptr && one->getOpcode() != UO_Deref) return value(one->getSubExpr());
    if (one == nullptr && !isa<ArraySubscriptExpr>(e)) return -1;
    if (are_characters(e->getType())) return of(e);
    const Expr* base = written(one != nullptr ? one->getSubExpr() : cast<ArraySubscriptExpr>(e)->getBase());
    const auto* whole = dyn_cast<DeclRefExpr>(base);
    const auto* member = dyn_cast<MemberExpr>(base);
    return whole != nullptr ? holder(whole->getDecl()) : member != nullptr ? holder(member->getMemberDecl()) : -1;
  }

  int seen(QualType type) { return all_.node("struct " + name_of(type)); }  // as something else, as a whole

  // All in it that is characters, or leads to some.
  void add_members(const RecordDecl* record, std::set<int>* all) {
    for (const FieldDecl* field : record->fields()) {
      const auto* inner = unit_.context().getBaseElementType(field->getType())->getAs<RecordType>();
      if (inner != nullptr && inner->getDecl()->getDefinition() != nullptr) add_members(inner->getDecl()->getDefinition(), all);
      else if (has_class(field->getType())) all->insert(of(field));
    }
  }

  static bool are_all_characters(QualType type) {
    while (const ArrayType* array = type->getAsArrayTypeUnsafe()) type = array->getElementType();
    const auto* record = type->getAs<RecordType>();
    return record == nullptr ? are_characters(type)
                             : std::all_of(record->getDecl()->field_begin(), record->getDecl()->field_end(), [](const FieldDecl* f) { return are_all_characters(f->getType()); });
  }

  // Its members are the same memory, and those that are pointers lead to the same.
  void see_union(const RecordDecl* record) {
    const std::string where = unit_.place(record->getLocation());
    bool has_others = false;
    std::set<int> characters;
    std::vector<const FieldDecl*> pointers;
    for (const FieldDecl* field : record->fields()) {
      const QualType type = field->getType();
      has_others |= !are_all_characters(type);
      if (type->isPointerType()) pointers.push_back(field);
      else if (type->isRecordType()) add_members(type->castAs<RecordType>()->getDecl(), &characters);
      else if (has_class(type)) characters.insert(of(field));
    }
    for (const int node : characters)
      if (has_others) all_.see_other(node, where);
    for (const FieldDecl* one : pointers)
      for (const FieldDecl* other : pointers) {
        all_.unite(of(one), of(other));
        use(of(one), other->getType(), where);
      }
  }

  int of(const ValueDecl* declared) {
    if (!has_class(declared->getType())) return -1;
    const int node = all_.node(name_of(unit_, declared));
    if (base_of(declared->getType())->isVoidType() && (isa<FieldDecl>(declared) || declared->getType()->isArrayType())) all_.class_of(node).is_of_table = true;
    return node;
  }

  // Of statements in parentheses.
  static const Expr* last_of(const Expr* e) {
    const auto* statements = dyn_cast<StmtExpr>(e);
    return statements == nullptr || statements->getSubStmt()->body_empty() ? nullptr : dyn_cast<Expr>(statements->getSubStmt()->body_back());
  }

  int other(const Expr* e) {
    const int node = all_.fresh();
    all_.see_other(node, place(e));
    return node;
  }

  // The class of what a pointer leads to, or of a place. Negative: it has none.
  int of(const Expr* e) {
    e = e->IgnoreParens();
    if (const auto* reference = dyn_cast<DeclRefExpr>(e)) return of(reference->getDecl());
    if (const auto* member = dyn_cast<MemberExpr>(e)) return of(member->getMemberDecl());
    if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) return of(element->getBase());
    if (const auto* cast = dyn_cast<CastExpr>(e)) return of_cast(cast);
    if (const auto* one = dyn_cast<UnaryOperator>(e)) return of(one->getSubExpr());
    if (const auto* both = dyn_cast<BinaryOperator>(e)) {
      if (both->getOpcode() == BO_Comma) return of(both->getRHS());
      return of(is_pointer(both->getLHS()->getType()) || both->isAssignmentOp() ? both->getLHS() : both->getRHS());
    }
    if (const Expr* last = last_of(e)) return of(last);
    if (const auto* choice = dyn_cast<BinaryConditionalOperator>(e)) return either(of(choice->getCommon()), of(choice->getFalseExpr()));
    if (const auto* choice = dyn_cast<ConditionalOperator>(e)) return either(of(choice->getTrueExpr()), of(choice->getFalseExpr()));
    if (!has_class(e->getType()) || isa<StringLiteral, PredefinedExpr, ImplicitValueInitExpr>(e)) return -1;
    if (const auto* call = dyn_cast<CallExpr>(e)) return of_call(call);
    if (isa<CompoundLiteralExpr>(e)) return all_.node(name_of(unit_, e));
    if (const auto* argument = dyn_cast<VAArgExpr>(e)) return of_argument(argument);
    if (const auto* list = dyn_cast<InitListExpr>(e); list != nullptr && list->getNumInits() == 1) return of(list->getInit(0));
    return is_pointer(e->getType()) ? other(e) : -1;
  }

  int of_cast(const CastExpr* cast) {
    const QualType from = cast->getSubExpr()->getType(), to = cast->getType();
    if (cast->getCastKind() == CK_NullToPointer || !has_class(to)) return -1;
    if (!is_pointer(from)) return is_pointer(to) ? other(cast) : -1;
    if (has_class(from)) return of(cast->getSubExpr());
    if (is_null(cast->getSubExpr())) return -1;
    if (from->isFunctionPointerType()) return other(cast);
    const int node = put(from, place(cast));
    const Expr* e = written(cast->getSubExpr());
    const auto* one = dyn_cast<UnaryOperator>(e);
    if (e->getType()->isArrayType() || (one != nullptr && one->getOpcode() == UO_AddrOf)) all_.class_of(node).of_variables.insert(name_of(base_of(from)));
    if (are_characters(base_of(to))) all_.see_other(node, place(cast));
    return node;
  }

  int of_call(const CallExpr* call) {
    const FunctionDecl* callee = callee_of(call);
    const std::string name = callee == nullptr ? "" : callee->getName().str();
    const int node = all_.node(name_of(unit_, call));
    if (callee == nullptr || !is_of_system(callee)) {
      const std::string function = callee == nullptr ? signature_of(call) : Program::key_of(unit_, callee);
      const Characters::Gives gives = gives_of(callee == nullptr ? call->getType() : callee->getReturnType());
      if (gives == Characters::Gives::kOther) all_.unite(node, all_.node(function + "="));
      else if (returning_.insert(call).second) all_.returned_.push_back({node, function, given(call), gives == Characters::Gives::kCharacters});
    } else if ((returns_first(name) || name == "realloc") && call->getNumArgs() > 0) {
      all_.unite(node, of(call->getArg(0)));
    } else if (name == "bsearch" && call->getNumArgs() > 1) {
      all_.unite(node, of(call->getArg(1)));
    } else if (name == "strtok" || name == "strtok_r") {
      all_.unite(node, all_.node("strtok()"));
    }
    return node;
  }

  // Whether something else than characters is given by a pointer, too: what is not known may put that into them.
  bool gives_pointers_to_others(const CallExpr* call) const {
    return std::any_of(call->arg_begin(), call->arg_end(), [&](const Expr* e) {
      e = written(e);
      return is_pointer(e->getType()) && !has_class(e->getType()) && !e->getType()->isFunctionPointerType() && !is_null(e);
    });
  }

  // An integer that a function is given by a pointer.
  void share_numbers(const Expr* argument, int to) {
    const Expr* e = written(argument);
    if (!is_pointer(e->getType()) || !base_of(e->getType())->isIntegerType() || has_class(e->getType())) return;
    if (const auto* one = dyn_cast<UnaryOperator>(e); one != nullptr && one->getOpcode() == UO_AddrOf) e = written(one->getSubExpr());
    while (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) e = written(element->getBase());
    if (const auto* whole = dyn_cast<DeclRefExpr>(e)) all_.unite(holder(whole->getDecl()), to);
    else if (const auto* member = dyn_cast<MemberExpr>(e)) all_.unite(holder(member->getMemberDecl()), to);
  }

  void give(const CallExpr* call, const FunctionDecl* callee) {
    const std::string key = Program::key_of(unit_, callee);
    const bool gives_others = gives_pointers_to_others(call);
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      const Expr* argument = call->getArg(i);
      const bool is_more = callee->isVariadic() && i >= callee->getNumParams();
      const int node = given(argument, !is_more && callee->getType()->getAs<FunctionProtoType>() != nullptr);
      if (is_more) all_.unite(more(key, argument->getType()), node);
      if (is_more && gives_others) all_.given_anything_.emplace(more(key, argument->getType()), std::make_pair(key, place(argument)));
      if (is_more) continue;
      share_numbers(argument, parameter(key, i, "[]"));
      const std::string to = key + "#" + std::to_string(i);
      all_.passed_.emplace_back(to, node);
      let_go(argument, to);
      if (gives_others || i >= callee->getNumParams() || base_of(callee->getParamDecl(i)->getType())->isVoidType()) all_.given_anything_.emplace(parameter(key, i), std::make_pair(key, place(argument)));
    }
  }

  void give_to_system(const CallExpr* call, const FunctionDecl* callee) {
    std::string name = callee->getName().str();
    if (name.starts_with("__builtin_")) name = name.substr(10);
    if (is_mpi(name)) return give_to_mpi(call);
    if (copies(name) && call->getNumArgs() >= 2) return copy(call);
    if (name == "strtok" || name == "strtok_r") all_.unite(all_.node("strtok()"), of(call->getArg(0)));
    const bool returns_end = name.starts_with("strto") && call->getNumArgs() > 1 && !name.starts_with("strtok");
    if (returns_end) all_.unite(of(call->getArg(0)), of(call->getArg(1)));
    // What is not of the C library may put into one what the other leads to.
    const bool is_foreign = known_function(name).kind == Known::Kind::kUnknown || unit_.file(callee->getCanonicalDecl()->getLocation()).ends_with("zlib.h");
    const bool gives_others = is_foreign && gives_pointers_to_others(call);
    int all_given = -1;
    const DeclRefExpr* const last = reference_in(call);
    if (last != nullptr && (name == "qsort" || name == "bsearch")) direct_.insert(last);
    const FunctionDecl* const compares = name == "qsort" || name == "bsearch" ? function_in(call) : nullptr;
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      const Expr* argument = written(call->getArg(i));
      if (name == "free" || name == "ELC_free") let_go(argument, "");
      if (name == "realloc" && i == 0 && function_ != nullptr) let_go(argument, name_of_returned(function_));
      const int node = of(argument);
      if (node < 0 || !is_pointer(argument->getType())) continue;
      const bool is_more = i >= callee->getNumParams();
      if (is_foreign) {
        all_.unite(all_given, node);
        all_given = node;
      }
      if (gives_others || makes_state(name)) {
        all_.see_other(node, place(argument));
      } else if (is_more ? are_characters(base_of(argument->getType())) : are_characters(base_of(callee->getParamDecl(i)->getType()))) {
        see_text(argument);
      } else if (compares != nullptr) {
        for (unsigned p = 0; p < compares->getNumParams(); ++p) all_.unite(parameter(Program::key_of(unit_, compares), p), node);
      } else if (is_more ? name.find("scanf") != std::string::npos : !sees_bytes(name)) {
        all_.see_other(node, place(argument));
      } else if (brings_bytes(name)) {
        all_.class_of(node).is_copied = true;
        all_.unite(node, all_.node("files"));
      }
    }
    if (name == "fwrite" || name == "write" || name == "pwrite" || name == "fwrite_unlocked") go_through("files", call->getArg(name[0] == 'f' ? 0 : 1));
  }

  // What comes out of it may be what went in.
  void go_through(const std::string& way, const Expr* e) {
    e = written(e);
    const int node = of(e);
    if (node >= 0) all_.unite(node, all_.node(way));
    else all_.see_other(all_.node(way), place(e));
  }

  // A function of the C library that is called by a pointer.
  void see_system(const FunctionDecl* function) {
    const std::string name = function->getName().str(), signature = Program::signature_of(function->getType());
    all_.defined_.insert(signature);
    for (unsigned i = 0; i < function->getNumParams() && name != "free"; ++i) all_.let_go_[signature + "#" + std::to_string(i)].insert(Characters::kOthers);
    std::set<std::string>& sources = all_.sources_[signature + "="];
    if (!allocates(name)) sources.insert(Characters::kOthers);
    if (copies(name)) {
      all_.unite(parameter(signature, 0), parameter(signature, 1));
      all_.unite(parameter(signature, 0), all_.node(signature + "="));
      all_.class_of(parameter(signature, 0)).is_copied = true;
    } else if (!sees_bytes(name)) {
      for (unsigned i = 0; i < function->getNumParams(); ++i)
        if (function->getParamDecl(i)->getType()->isVoidPointerType()) all_.see_other(parameter(signature, i), unit_.place(function->getLocation()));
    }
  }

  static const DeclRefExpr* reference_in(const CallExpr* call) {
    if (call->getNumArgs() == 0) return nullptr;
    const Expr* e = call->getArg(call->getNumArgs() - 1)->IgnoreParenCasts();
    if (const auto* one = dyn_cast<UnaryOperator>(e); one != nullptr && one->getOpcode() == UO_AddrOf) e = one->getSubExpr()->IgnoreParenCasts();
    return dyn_cast<DeclRefExpr>(e);
  }

  static const FunctionDecl* function_in(const CallExpr* call) {
    const DeclRefExpr* const last = reference_in(call);
    return last == nullptr ? nullptr : dyn_cast<FunctionDecl>(last->getDecl());
  }

  // What goes as characters comes as that.
  void give_to_mpi(const CallExpr* call) {
    std::vector<std::string> datatypes;
    for (const Expr* argument : call->arguments())
      if (Datatypes::is_one(argument)) datatypes.push_back(Datatypes::name_of(unit_, argument));
    for (const Expr* argument : call->arguments()) {
      const Expr* e = written(argument);
      if (!is_pointer(e->getType()) || !argument->getType()->isVoidPointerType()) continue;
      const int node = of(e);
      const bool is_struct = node < 0 && base_of(e->getType())->isRecordType();
      if (node >= 0) all_.class_of(node).is_copied = true;
      all_.messages_.push_back({node, is_struct ? seen(base_of(e->getType())) : -1, place(e), datatypes});
    }
  }

  void copy(const CallExpr* call) {
    const Expr *a = written(call->getArg(0)), *b = written(call->getArg(1));
    const int to = of(a), from = of(b);
    if (to < 0 && from < 0) return see_as(base_of(a->getType()), base_of(b->getType()), place(a));
    for (const auto& [node, one, with] : {std::tuple(to, a, b), std::tuple(from, b, a)}) {
      if (node < 0) continue;
      all_.class_of(node).is_copied = true;
      if (!has_class(with->getType())) all_.see_other(node, place(one));
    }
    all_.unite(to, from);
  }

  // An array of characters that is given to a function as text.
  void see_text(const Expr* e) {
    while (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) e = written(element->getBase());
    if (is_array_of_characters(e->getType()) && isa<DeclRefExpr, MemberExpr>(e)) all_.texts_.insert(of(e));
  }

  static bool begins_with(QualType type, QualType first) {
    const auto* record = type->getAs<RecordType>();
    if (record == nullptr || !record->getDecl()->isStruct() || record->getDecl()->field_empty()) return false;
    const QualType own = record->getDecl()->field_begin()->getType().getCanonicalType().getUnqualifiedType();
    return own == first.getCanonicalType().getUnqualifiedType() || begins_with(own, first);
  }

  // Whether the members of one are the first of the other: their arrays of characters are the same memory.
  bool have_one_beginning(const RecordDecl* a, const RecordDecl* b) {
    if (a->getDefinition() == nullptr || b->getDefinition() == nullptr) return false;
    a = a->getDefinition(), b = b->getDefinition();
    auto left = a->field_begin(), right = b->field_begin();
    std::vector<std::pair<int, int>> same;
    for (; left != a->field_end() && right != b->field_end(); ++left, ++right) {
      if (!lie_alike(left->getType(), right->getType()) || left->isBitField() != right->isBitField()) return false;
      same.emplace_back(of(*left), of(*right));
    }
    for (const auto& [one, other] : same) all_.unite(one, other);
    return true;
  }

  // A struct that is seen as another: the characters of one may be what the other has there.
  void see_as(QualType from, QualType to, const std::string& where) {
    const std::string name = name_of(from), other = name_of(to);
    if (name == other || !(from->isRecordType() || to->isRecordType())) return;
    const bool are_structs = from->isStructureType() && to->isStructureType();
    const bool is_first = are_structs && (begins_with(from, to) || begins_with(to, from));
    if (is_first || (are_structs && have_one_beginning(from->castAs<RecordType>()->getDecl(), to->castAs<RecordType>()->getDecl()))) {
      all_.unite(seen(from), seen(to));
      return;
    }
    all_.see_other(seen(from), where);
    all_.see_other(seen(to), where);
  }

  void initialise(QualType type, int node, const Expr* init) {
    init = init->IgnoreParens();
    if (const auto* list = dyn_cast<InitListExpr>(init)) {
      if (!list->isSemanticForm() && list->getSemanticForm() != nullptr) list = list->getSemanticForm();
      const auto* record = type->getAs<RecordType>();
      const ArrayType* array = type->getAsArrayTypeUnsafe();
      if (record != nullptr && record->getDecl()->isUnion()) {
        if (list->getInitializedFieldInUnion() != nullptr && list->getNumInits() > 0)
          initialise(list->getInitializedFieldInUnion()->getType(), of(list->getInitializedFieldInUnion()), list->getInit(0));
      } else if (record != nullptr) {
        unsigned i = 0;
        for (const FieldDecl* field : record->getDecl()->fields()) {
          if (field->isUnnamedBitfield()) continue;
          if (i >= list->getNumInits()) break;
          initialise(field->getType(), of(field), list->getInit(i++));
        }
      } else {
        for (const Expr* one : list->inits()) initialise(array == nullptr ? type : array->getElementType(), node, one);
      }
    } else if (type->isPointerType()) {
      all_.unite(node, of(init));
    } else if (is_array_of_characters(type) && isa<StringLiteral>(init)) {
      all_.texts_.insert(node);
    } else if (are_characters(type)) {
      all_.unite(node, value(init));
    }
  }

  // What a pointer of a function's may have come from.
  void note_sources(const std::string& of, const Expr* e) {
    e = e->IgnoreParenCasts();
    std::set<std::string>& sources = all_.sources_[of];
    const auto* call = dyn_cast<CallExpr>(e);
    const auto* reference = dyn_cast<DeclRefExpr>(e);
    const auto* variable = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    if (const auto* choice = dyn_cast<ConditionalOperator>(e)) note_sources(of, choice->getTrueExpr()), note_sources(of, choice->getFalseExpr());
    else if (call != nullptr && callee_of(call) == nullptr) sources.insert(signature_of(call) + "=");
    else if (call != nullptr && callee_of(call)->getName() == "realloc" && call->getNumArgs() > 0) note_sources(of, call->getArg(0));
    else if (call != nullptr && !is_of_system(callee_of(call))) sources.insert(name_of_returned(callee_of(call)));
    else if (call != nullptr && allocates(callee_of(call)->getName().str())) return;
    else if (variable != nullptr && variable->hasLocalStorage()) sources.insert(name_of(unit_, variable));
    else if (!is_null(e)) sources.insert(Characters::kOthers);
  }

  // A parameter that is given to another function, or freed, or compared, and not used otherwise.
  void let_go(const Expr* e, const std::string& to) {
    e = written(e);
    if (const auto* cast = dyn_cast<CStyleCastExpr>(e); cast != nullptr && cast->getType()->isVoidPointerType()) e = written(cast->getSubExpr());
    if (const auto* one = dyn_cast<UnaryOperator>(e); one != nullptr && one->getOpcode() == UO_Deref && e->getType()->isPointerType()) e = written(one->getSubExpr());
    const auto* reference = dyn_cast<DeclRefExpr>(e);
    if (reference == nullptr || !isa<ParmVarDecl>(reference->getDecl()) || !let_go_.insert(reference).second) return;
    std::set<std::string>& all = all_.let_go_[name_of(unit_, reference->getDecl())];
    if (!to.empty()) all.insert(to);
  }

  bool is_null(const Expr* e) const { return e->isNullPointerConstant(unit_.context(), Expr::NPC_ValueDependentIsNull) != Expr::NPCK_NotNull; }

  Characters& all_;
  const Unit& unit_;
  const FunctionDecl* function_ = nullptr;
  std::set<const Expr*> direct_, let_go_, returning_, lists_;
};

void Characters::add(const Unit& unit) {
  datatypes_.add(unit);
  CharacterVisitor(*this, unit).TraverseDecl(unit.context().getTranslationUnitDecl());
}

std::string name_in_program(const Unit& unit, const ValueDecl* declared) { return CharacterVisitor::name_of(unit, declared); }

bool Characters::are_text(const Unit& unit, const ValueDecl* array) const {
  const auto found = nodes_.find(CharacterVisitor::name_of(unit, array));
  return found != nodes_.end() && is_text(found->second);
}

bool Characters::are_text(const Unit& unit, const Expr* made) const {
  const auto found = nodes_.find(CharacterVisitor::name_of(unit, made));
  return found != nodes_.end() && is_text(found->second);
}

bool Characters::gives_memory(const Unit& unit, const CallExpr* call) const {
  const FunctionDecl* const callee = callee_of(call);
  return giving_.contains(callee == nullptr ? CharacterVisitor::signature_of(call) : Program::key_of(unit, callee));
}

}  // namespace elc::cc
