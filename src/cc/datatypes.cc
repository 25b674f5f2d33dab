#include "cc/datatypes.h"

#include "cc/characters.h"
#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

namespace {

constexpr char kVariable = '=';  // what a variable's name begins with here

bool is_datatype(QualType type) {
  const auto* named = type->getAs<TypedefType>();
  return named != nullptr && named->getDecl()->getName() == "MPI_Datatype";
}

bool makes_one(const std::string& function) {
  static const std::set<std::string> all = {"MPI_Type_contiguous", "MPI_Type_vector", "MPI_Type_hvector", "MPI_Type_create_hvector", "MPI_Type_indexed",
                                            "MPI_Type_hindexed", "MPI_Type_create_hindexed", "MPI_Type_create_indexed_block", "MPI_Type_create_hindexed_block",
                                            "MPI_Type_create_subarray", "MPI_Type_create_darray", "MPI_Type_create_resized", "MPI_Type_dup", "MPI_Type_struct",
                                            "MPI_Type_create_struct"};
  return all.contains(function);
}

// The variable, or the member of structs, that a value is in, or in an array of. Behind a pointer anything may be.
std::string datatype_variable(const Unit& unit, const Expr* e) {
  e = e->IgnoreParenCasts();
  while (const auto* element = dyn_cast<ArraySubscriptExpr>(e)) {
    e = element->getBase()->IgnoreParenCasts();
    if (!e->getType()->isArrayType()) return "";
  }
  const ValueDecl* declared = nullptr;
  if (const auto* member = dyn_cast<MemberExpr>(e)) declared = member->getMemberDecl();
  if (const auto* reference = dyn_cast<DeclRefExpr>(e)) declared = reference->getDecl();
  const bool is = declared != nullptr && isa<FieldDecl, VarDecl>(declared) && !isa<ParmVarDecl>(declared) && !declared->getType()->isPointerType();
  return is || (declared != nullptr && is_datatype(declared->getType()) && !isa<ParmVarDecl>(declared)) ? kVariable + name_in_program(unit, declared) : "";
}

}  // namespace

// What is put into variables, and those whose addresses get elsewhere.
class DatatypeVisitor : public Visitor {
 public:
  DatatypeVisitor(Datatypes& all, const Unit& unit) : all_(all), unit_(unit) {}

  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* const callee = call->getDirectCallee();
    const std::string name = callee == nullptr ? "" : callee->getName().str();
    const bool makes = makes_one(name);
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      const Expr* const argument = call->getArg(i);
      if (!argument->getType()->isPointerType() || !is_datatype(argument->getType()->getPointeeType())) continue;
      const bool is_result = makes && i + 1 == call->getNumArgs();
      if (is_result || makes || name == "MPI_Type_commit" || name == "MPI_Type_free") followed_.insert(argument->IgnoreParenCasts());
      if (!is_result) continue;
      const Expr* const made = pointed_by(argument);
      for (unsigned k = 0; k < i && made != nullptr; ++k) {
        const Expr* const of = call->getArg(k);
        if (Datatypes::is_one(of)) put(made, Datatypes::name_of(unit_, of));
        else if (of->getType()->isPointerType() && is_datatype(of->getType()->getPointeeType())) put(made, pointed_by(of) == nullptr ? "" : datatype_variable(unit_, pointed_by(of)));
      }
    }
    return true;
  }
  bool VisitBinaryOperator(BinaryOperator* both) override {
    if (both->getOpcode() == BO_Assign && Datatypes::is_one(both->getLHS())) put(both->getLHS(), Datatypes::name_of(unit_, both->getRHS()));
    return true;
  }
  bool VisitVarDecl(VarDecl* variable) override {
    if (variable->getInit() != nullptr) put_all(kVariable + name_in_program(unit_, variable), variable->getType(), variable->getInit());
    return true;
  }
  bool dataTraverseStmtPre(Stmt* statement) override {
    const auto* const list = dyn_cast<InitListExpr>(statement);
    if (list == nullptr) return true;
    const auto* const semantic = list->isSemanticForm() ? list : list->getSemanticForm();
    const RecordDecl* const record = semantic == nullptr ? nullptr : semantic->getType()->getAsRecordDecl();
    if (record == nullptr || record->isUnion()) return true;
    unsigned i = 0;
    for (const FieldDecl* field : record->fields()) {
      if (field->isUnnamedBitfield()) continue;
      if (i >= semantic->getNumInits()) break;
      put_all(kVariable + name_in_program(unit_, field), field->getType(), semantic->getInit(i++));
    }
    return true;
  }
  bool VisitArraySubscriptExpr(ArraySubscriptExpr* element) override {
    followed_.insert(element->getBase()->IgnoreParenCasts());
    return true;
  }
  bool VisitUnaryOperator(UnaryOperator* one) override {
    if (one->getOpcode() == UO_AddrOf && Datatypes::is_one(one->getSubExpr()) && !followed_.contains(one)) put(one->getSubExpr(), "");
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr* cast) override {
    const Expr* const array = cast->getSubExpr();
    if (cast->getCastKind() == CK_ArrayToPointerDecay && is_datatype(unit_.context().getBaseElementType(array->getType())) && !followed_.contains(array->IgnoreParenCasts())) put(array, "");
    return true;
  }

 private:
  // What an address is of: a variable, or an array.
  static const Expr* pointed_by(const Expr* pointer) {
    const Expr* const e = pointer->IgnoreParenCasts();
    if (const auto* address = dyn_cast<UnaryOperator>(e); address != nullptr && address->getOpcode() == UO_AddrOf) return address->getSubExpr();
    return e->getType()->isArrayType() ? e : nullptr;
  }
  void put(const Expr* to, const std::string& name) {
    if (const std::string variable = datatype_variable(unit_, to); !variable.empty()) all_.made_of_[variable].insert(name);
  }
  void put_all(const std::string& variable, QualType type, const Expr* value) {
    if (!is_datatype(unit_.context().getBaseElementType(type))) return;
    if (const auto* list = dyn_cast<InitListExpr>(value)) {
      for (const Expr* element : list->inits()) put_all(variable, unit_.context().getBaseElementType(type), element);
    } else if (!isa<ImplicitValueInitExpr>(value)) {
      all_.made_of_[variable].insert(Datatypes::name_of(unit_, value));
    }
  }

  Datatypes& all_;
  const Unit& unit_;
  std::set<const Expr*> followed_;  // addresses of which it is known what is done with them
};

void Datatypes::add(const Unit& unit) { DatatypeVisitor(*this, unit).TraverseDecl(unit.context().getTranslationUnitDecl()); }

bool Datatypes::is_one(const Expr* e) { return is_datatype(e->getType()); }

std::string Datatypes::name_of(const Unit& unit, const Expr* value) {
  const Expr* e = value->IgnoreParenCasts();
  if (const auto* address = dyn_cast<UnaryOperator>(e); address != nullptr && address->getOpcode() == UO_AddrOf) {  // Open MPI, LAM
    const auto* const object = dyn_cast<DeclRefExpr>(address->getSubExpr()->IgnoreParenCasts());
    const std::string name = object == nullptr ? "" : object->getDecl()->getName().str();
    return name.starts_with("ompi_mpi_") || name.starts_with("lam_mpi_") ? name : "";
  }
  Expr::EvalResult number;  // MPICH
  if (value->getType()->isIntegerType() && value->EvaluateAsInt(number, unit.context())) return std::to_string(number.Val.getInt().getZExtValue() & 0xffffffff);
  return datatype_variable(unit, e);
}

bool Datatypes::has_characters(const std::string& name) {
  static const std::set<std::string> all = {"ompi_mpi_char", "ompi_mpi_signed_char", "ompi_mpi_unsigned_char", "ompi_mpi_int8_t", "ompi_mpi_uint8_t",
                                            "ompi_mpi_byte", "lam_mpi_byte", "1275068685" /* MPICH's MPI_BYTE, 0x4c00010d */, "lam_mpi_char", "lam_mpi_unsigned_char", "1275068673" /* MPI_CHAR, 0x4c000101 */, "1275068696" /* MPI_SIGNED_CHAR, 0x4c000118 */,
                                            "1275068674" /* MPI_UNSIGNED_CHAR, 0x4c000102 */, "1275068727" /* MPI_INT8_T, 0x4c000137 */, "1275068731" /* MPI_UINT8_T, 0x4c00013b */};
  return all.contains(name);
}

std::set<std::string> Datatypes::bases_of(const std::string& name) const {
  std::set<std::string> seen, bases;
  return find_bases(name, &seen, &bases) ? bases : std::set<std::string>();
}

bool Datatypes::find_bases(const std::string& name, std::set<std::string>* seen, std::set<std::string>* bases) const {
  constexpr const char* kNull[] = {"ompi_mpi_datatype_null", "201326592" /* 0x0c000000 */};
  if (name.empty()) return false;
  if (name == kNull[0] || name == kNull[1] || !seen->insert(name).second) return true;
  if (name[0] != kVariable) return bases->insert(name), true;
  const auto made_of = made_of_.find(name);
  if (made_of == made_of_.end()) return false;
  for (const std::string& one : made_of->second)
    if (!find_bases(one, seen, bases)) return false;
  return true;
}

}  // namespace elc::cc
