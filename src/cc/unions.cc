#include "cc/unions.h"

#include <algorithm>
#include <map>

#include "cc/program.h"
#include "cc/types.h"
#include "cc/visitor.h"
#include "clang/AST/RecordLayout.h"
#include "clang/AST/StmtOpenMP.h"

namespace elc::cc {

using namespace clang;

namespace {

constexpr uint64_t kWord = 8;  // where addresses have 32 bits numbers are as addresses are, and nothing is told

uint64_t size_of(const ASTContext& context, QualType type) { return static_cast<uint64_t>(context.getTypeSizeInChars(type).getQuantity()); }

// Calls visit(offset, size, is_pointer) for each scalar that is at `offset`. false: not all of it can be gone over.
template <class F>
bool each_scalar(const ASTContext& context, QualType type, uint64_t offset, F visit) {
  constexpr uint64_t kMost = 65536;
  if (const ConstantArrayType* const array = context.getAsConstantArrayType(type)) {
    const uint64_t count = array->getSize().getZExtValue(), size = size_of(context, array->getElementType());
    if (count * std::max<uint64_t>(size, 1) > kMost) return false;
    for (uint64_t i = 0; i < count; ++i)
      if (!each_scalar(context, array->getElementType(), offset + i * size, visit)) return false;
    return true;
  }
  if (type->isArrayType() || type->isAtomicType()) return false;
  if (const RecordDecl* record = type->getAsRecordDecl()) {
    record = record->getDefinition();
    if (record == nullptr) return false;
    const ASTRecordLayout& layout = context.getASTRecordLayout(record);
    for (const FieldDecl* field : record->fields()) {
      const uint64_t at = layout.getFieldOffset(field->getFieldIndex());
      if (field->isBitField()) visit(offset + at / 8, (at % 8 + field->getBitWidthValue(context) + 7) / 8, false);
      else if (!each_scalar(context, field->getType(), offset + at / 8, visit)) return false;
    }
    return true;
  }
  visit(offset, size_of(context, type), type->isPointerType());
  return true;
}

// Whether some of these bytes are of a word. `words`: in order.
bool are_of_words(const std::vector<uint64_t>& words, uint64_t at, uint64_t size) {
  const auto word = std::lower_bound(words.begin(), words.end(), at < kWord ? 0 : at - kWord + 1);
  return word != words.end() && *word < at + size;
}

class Uses : public Visitor {
 public:
  explicit Uses(const Unit& unit) : unit_(unit), context_(unit.context()) {}
  UnionUses take() { return std::move(uses_); }

  // Nobody writes by the address of what is constant there, nor leaves out some of a whole union where the C library or MPI is given it.
  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* const callee = callee_of(call);
    const bool is_of_system = callee != nullptr && (unit_.in_system_header(callee->getLocation()) || callee->getBuiltinID() != 0);
    for (const Expr* argument : call->arguments()) {
      if (is_of_system && gives_size_of(call, argument))
        for (const auto* cast = dyn_cast<CastExpr>(argument->IgnoreParens()); cast != nullptr; cast = dyn_cast<CastExpr>(cast->getSubExpr()->IgnoreParens())) given_.insert(cast);
      const auto* address = dyn_cast<UnaryOperator>(argument->IgnoreParenImpCasts());
      if (address != nullptr && address->getOpcode() == UO_AddrOf && address->getSubExpr()->getType().isConstQualified()) judge(address->getSubExpr());
    }
    return true;
  }

  // Whether a call is given that, too, as memcpy is of what it copies as a whole.
  bool gives_size_of(const CallExpr* call, const Expr* pointer) const {
    const QualType type = pointer->IgnoreParenCasts()->getType(), of = type->isPointerType() ? type->getPointeeType() : type->isArrayType() ? context_.getAsArrayType(type)->getElementType() : QualType();
    if (of.isNull() || of->isIncompleteType()) return false;
    return std::any_of(call->arg_begin(), call->arg_end(), [&](const Expr* argument) {
      Expr::EvalResult number;
      return argument->getType()->isIntegerType() && argument->EvaluateAsInt(number, context_) && number.Val.getInt() == static_cast<int64_t>(size_of(context_, of));
    });
  }

  bool VisitCastExpr(CastExpr* cast) override {
    const CastKind kind = cast->getCastKind();
    if (kind == CK_LValueToRValue || kind == CK_ToVoid) judge(cast->getSubExpr());
    if (kind == CK_ToUnion)
      if (const RecordDecl* record = cast->getType()->getAsRecordDecl(); is_mixed(record) && !cast->getSubExpr()->getType()->isPointerType()) unseen(record, cast->getBeginLoc());
    const QualType from = cast->getSubExpr()->getType(), to = cast->getType();
    if (kind == CK_BitCast && from->isPointerType() && to->isPointerType()) {
      see_both(from->getPointeeType(), to->getPointeeType(), cast->getBeginLoc());
      see_both(to->getPointeeType(), from->getPointeeType(), cast->getBeginLoc());
      // To whatever may write some of it.
      const RecordDecl* const whole = from->getPointeeType()->getAsRecordDecl();
      if (is_mixed(whole) && (to->isVoidPointerType() || to->getPointeeType()->isAnyCharacterType()) && !given_.contains(cast)) unseen(whole, cast->getBeginLoc());
    }
    return true;
  }

  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (both->isAssignmentOp()) store(both, both->getLHS());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* op) override {
    if (op->isIncrementDecrementOp()) store(op, op->getSubExpr());
    return true;
  }
  bool VisitUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr* e) override {
    if (!e->isArgumentType()) judge(e->getArgumentExpr());
    return true;
  }
  bool VisitTypeOfExprTypeLoc(TypeOfExprTypeLoc type) override {
    judge(type.getUnderlyingExpr());
    return true;
  }
  // Whatever else becomes of it: its address is taken, say.
  bool VisitMemberExpr(MemberExpr* member) override { return see_other(member); }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr* element) override { return see_other(element); }

  // In a struct that is packed they may lie anywhere.
  bool VisitRecordDecl(RecordDecl* record) override {
    if (!record->isCompleteDefinition() || record->isInvalidDecl() || context_.getTypeAlign(QualType(record->getTypeForDecl(), 0)) >= 8 * kWord) return true;
    each_mixed(QualType(record->getTypeForDecl(), 0), 0, [&](const RecordDecl* mixed, uint64_t) { unseen(mixed, record->getLocation()); });
    return true;
  }

  bool TraverseFunctionDecl(FunctionDecl* function) override {
    ++functions_;
    const bool all = Visitor::TraverseFunctionDecl(function);
    --functions_;
    return all;
  }
  bool TraverseVarDecl(VarDecl* variable) override {
    const bool outer = is_static_;
    is_static_ = variable->hasGlobalStorage();
    const bool all = Visitor::TraverseVarDecl(variable);
    is_static_ = outer;
    return all;
  }
  bool dataTraverseStmtPre(Stmt* statement) override {
    if (isa<OMPAtomicDirective>(statement)) ++atomics_;
    if (const auto* list = dyn_cast<InitListExpr>(statement)) see_list(list);
    return true;
  }
  bool dataTraverseStmtPost(Stmt* statement) override {
    if (isa<OMPAtomicDirective>(statement)) --atomics_;
    return true;
  }

 private:
  bool is_mixed(const RecordDecl* record) { return record != nullptr && !words(record).empty(); }
  const std::vector<uint64_t>& words(const RecordDecl* record) {
    const auto [at, is_new] = words_.emplace(record->getCanonicalDecl(), std::vector<uint64_t>());
    if (is_new) at->second = words_of(unit_, record);
    return at->second;
  }
  // Of arrays the first.
  template <class F>
  void each_mixed(QualType type, uint64_t offset, F visit) {
    const RecordDecl* record = context_.getBaseElementType(type)->getAsRecordDecl();
    if (record == nullptr || (record = record->getDefinition()) == nullptr || record->isInvalidDecl()) return;
    if (is_mixed(record)) visit(record, offset);
    for (const FieldDecl* field : record->fields()) each_mixed(field->getType(), offset + context_.getFieldOffset(field) / 8, visit);
  }
  // What a pointer leads to is taken for another type, as in *(long *)&u = 5, which may have numbers there.
  void see_both(QualType whole, QualType other, SourceLocation place) {
    if (other->isIncompleteType() || other->isFunctionType() || other->isAnyCharacterType() || context_.hasSameUnqualifiedType(whole, other)) return;
    each_mixed(whole, 0, [&](const RecordDecl* mixed, uint64_t begin) {
      bool covers = false;
      const bool all = each_scalar(context_, other, 0, [&](uint64_t at, uint64_t size, bool is_pointer) {
        covers |= !is_pointer && at + size > begin && are_of_words(words(mixed), at < begin ? 0 : at - begin, at < begin ? at + size - begin : size);
      });
      bool is_seen = false;
      each_mixed(other, 0, [&](const RecordDecl* one, uint64_t at) {
        if (at != begin || words(one) != words(mixed)) return;
        uses_.alike.push_back({key_of_union(unit_, one), key_of_union(unit_, mixed)});
        is_seen = true;
      });
      if ((covers || !all) && !is_seen) unseen(mixed, place);
    });
  }
  void unseen(const RecordDecl* record, SourceLocation at) { uses_.unseen.try_emplace(key_of_union(unit_, record), unit_.place(at)); }

  // Whether what is at this place of the union may be a number where there may be a pointer.
  bool covers(const RecordDecl* record, QualType type, uint64_t offset) {
    bool covers = false;
    const bool all = each_scalar(context_, type, offset, [&](uint64_t at, uint64_t size, bool is_pointer) {
      covers |= !is_pointer && are_of_words(words(record), at, size);
    });
    return covers || !all;
  }

  // The unions in which what the expression names is a number in a pointer's place. What it consists of is seen thereby.
  std::vector<const RecordDecl*> judge(const Expr* e) {
    std::vector<const RecordDecl*> found;
    QualType type = e->getType();
    uint64_t offset = 0;
    for (;;) {
      e = e->IgnoreParens();
      if (const auto* member = dyn_cast<MemberExpr>(e)) {
        seen_.insert(e);
        const auto* const field = dyn_cast<FieldDecl>(member->getMemberDecl());
        if (field == nullptr) return found;
        const RecordDecl* const record = field->getParent();
        const uint64_t at = context_.getFieldOffset(field);
        if (field->isBitField()) type = QualType(record->getTypeForDecl(), 0);  // some of what is there
        else offset += at / 8;
        if (is_mixed(record) && covers(record, type, offset)) found.push_back(record), offset_ = offset;
        if (member->isArrow()) return found;
        e = member->getBase();
      } else if (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
        seen_.insert(e);
        e = element->getBase()->IgnoreParenImpCasts();
        if (!e->getType()->isArrayType()) return found;
        type = e->getType();  // any of them
        offset = 0;
      } else {
        return found;
      }
    }
  }

  static bool is_bit_field(const Expr* e) {
    const auto* member = dyn_cast<MemberExpr>(e->IgnoreParens());
    const auto* field = member == nullptr ? nullptr : dyn_cast<FieldDecl>(member->getMemberDecl());
    return field != nullptr && field->isBitField();
  }

  // Of a word of another such union, by a member that is a number: what is there is an address, or has been noted.
  bool is_copy(const Expr* whole, const std::vector<const RecordDecl*>& to) {
    const auto* both = dyn_cast<BinaryOperator>(whole);
    const auto* value = both == nullptr || both->getOpcode() != BO_Assign ? nullptr : dyn_cast<ImplicitCastExpr>(both->getRHS()->IgnoreParens());
    if (value == nullptr || value->getCastKind() != CK_LValueToRValue || size_of(context_, value->getType()) != kWord || !context_.hasSameUnqualifiedType(value->getType(), both->getLHS()->getType())) return false;
    const std::vector<const RecordDecl*> from = judge(value->getSubExpr());
    if (from.empty() || offset_ % kWord != 0) return false;
    for (const RecordDecl* one : from)
      for (const RecordDecl* other : to) uses_.alike.push_back({key_of_union(unit_, one), key_of_union(unit_, other)});
    return true;
  }

  // Which has no address.
  static bool is_in_register(const Expr* e) {
    for (const auto* member = dyn_cast<MemberExpr>(e = e->IgnoreParens()); member != nullptr && !member->isArrow(); member = dyn_cast<MemberExpr>(e)) e = member->getBase()->IgnoreParens();
    const auto* reference = dyn_cast<DeclRefExpr>(e);
    const auto* variable = reference == nullptr ? nullptr : dyn_cast<VarDecl>(reference->getDecl());
    return variable != nullptr && variable->getStorageClass() == SC_Register;
  }

  void store(const Expr* whole, const Expr* to) {
    const std::vector<const RecordDecl*> unions = judge(to);
    if (unions.empty() || functions_ == 0) return;  // outside of functions nothing is done
    if (is_bit_field(to) || is_in_register(to) || atomics_ > 0) {
      for (const RecordDecl* record : unions) unseen(record, whole->getBeginLoc());
      return;
    }
    const auto* const step = dyn_cast<UnaryOperator>(whole);
    const bool is_word = to->getType()->isArithmeticType() && !to->getType()->isAnyComplexType() && size_of(context_, to->getType()) == kWord && offset_ % kWord == 0;
    if (is_word && is_copy(whole, unions)) return;
    UnionUses::Store one = {whole, to->IgnoreParens(), {}, is_word && !(step != nullptr && step->isPostfix())};
    for (const RecordDecl* record : unions) one.unions.insert(key_of_union(unit_, record));
    uses_.stores.push_back(one);
  }

  bool see_other(const Expr* e) {
    if (seen_.contains(e)) return true;
    const bool is_value = e->isPRValue();  // of a struct that a function returns
    for (const RecordDecl* record : judge(e))
      if (!is_value) unseen(record, e->getBeginLoc());
    return true;
  }

  // As it was written, lists leave out braces of lists in them.
  void see_list(const InitListExpr* list) {
    if (!list->isSemanticForm()) list = list->getSemanticForm();
    if (list == nullptr || !lists_.insert(list).second) return;
    const RecordDecl* const record = list->getType()->getAsRecordDecl();
    const FieldDecl* const field = is_mixed(record) ? list->getInitializedFieldInUnion() : nullptr;
    if (field != nullptr && list->getNumInits() > 0 && covers(record, field->getType(), 0)) see_initial(record, field, list->getInit(0));
    for (const Expr* one : list->inits())
      if (const auto* below = dyn_cast_or_null<InitListExpr>(one)) see_list(below);
  }

  bool is_zero(const Expr* e) const {
    if (const auto* list = dyn_cast<InitListExpr>(e)) return std::all_of(list->begin(), list->end(), [&](const Stmt* one) { return one != nullptr && is_zero(cast<Expr>(one)); });
    Expr::EvalResult number;
    return isa<ImplicitValueInitExpr>(e) || (e->getType()->isIntegerType() && e->EvaluateAsInt(number, context_) && number.Val.getInt() == 0);
  }

  void see_initial(const RecordDecl* record, const FieldDecl* field, const Expr* value) {
    if (is_zero(value)) return;
    const QualType type = field->getType();
    const bool is_number = type->isArithmeticType() && !type->isAnyComplexType() && !field->isBitField();
    // The rest of a variable of a file is zero, and no such number looks like an address.
    Expr::EvalResult number;
    const uint64_t size = size_of(context_, type);
    if (is_number && is_static_ && type->isIntegerType() && value->EvaluateAsInt(number, context_) && (size < kWord || llvm::isInt<32>(number.Val.getInt().getExtValue()))) return;
    if (is_number && is_static_ && type->isFloatingType() && size <= kWord) return;
    if (!is_number || is_static_ || size != kWord) return unseen(record, value->getBeginLoc());
    uses_.initials.push_back({value, type, key_of_union(unit_, record)});
  }

  const Unit& unit_;
  const ASTContext& context_;
  UnionUses uses_;
  std::map<const Decl*, std::vector<uint64_t>> words_;
  std::set<const Expr*> seen_, given_;
  std::set<const InitListExpr*> lists_;
  bool is_static_ = false;
  uint64_t offset_ = 0;  // in the union, of what was judged last
  int functions_ = 0;  // around what is seen, as are these:
  int atomics_ = 0;  // directives of OpenMP around what is seen
};

}  // namespace

std::vector<uint64_t> words_of(const Unit& unit, const RecordDecl* record) {
  const ASTContext& context = unit.context();
  record = record->isUnion() ? record->getDefinition() : nullptr;
  if (record == nullptr || record->isInvalidDecl() || unit.in_system_header(record->getLocation()) || context.getTypeSize(context.VoidPtrTy) != 8 * kWord) return {};
  std::set<uint64_t> words;
  bool are_words = true;
  const QualType type(record->getTypeForDecl(), 0);
  const bool all = each_scalar(context, type, 0, [&](uint64_t at, uint64_t, bool is_pointer) {
    are_words &= !is_pointer || at % kWord == 0;
    if (is_pointer) words.insert(at);
  });
  if (!all || !are_words || context.getTypeAlign(type) < 8 * kWord) return {};
  return {words.begin(), words.end()};
}

// Files may have others of the same name. What is compatible in C has the same members.
std::string key_of_union(const Unit& unit, const RecordDecl* record) {
  const std::string name = spelling(record);
  if (!name.empty() && name.find(kUnnamed) == std::string::npos) {
    std::string key = name;
    for (const FieldDecl* field : record->getDefinition()->fields())
      key += " " + field->getNameAsString() + "@" + std::to_string(unit.context().getFieldOffset(field)) + ":" + std::to_string(unit.context().getTypeSize(field->getType()));
    return key;
  }
  // As a member of a struct: another file may have that at another line.
  if (const auto* around = dyn_cast<RecordDecl>(record->getDefinition()->getLexicalDeclContext()))
    for (const FieldDecl* field : around->fields())
      if (const RecordDecl* const own = unit.context().getBaseElementType(field->getType())->getAsRecordDecl(); own != nullptr && own->getCanonicalDecl() == record->getCanonicalDecl())
        return key_of_union(unit, around) + "." + std::to_string(field->getFieldIndex());
  const std::string place = unit.place(record->getDefinition()->getLocation());
  return place.substr(place.rfind('/') + 1);  // files may be named from several directories
}

UnionUses uses_of_unions(const Unit& unit) {
  Uses uses(unit);
  uses.TraverseDecl(unit.context().getTranslationUnitDecl());
  return uses.take();
}

}  // namespace elc::cc
