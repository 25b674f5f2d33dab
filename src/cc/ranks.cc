#include "cc/ranks.h"

#include "cc/known.h"
#include "cc/numbers.h"
#include "cc/program.h"
#include "cc/visitor.h"

namespace elc::cc {

using namespace clang;

namespace {

// By the name of the parameter, which headers of MPI have from the standard.
bool takes_rank(const FunctionDecl* function, unsigned parameter) {
  static const std::set<std::string> names = {"dest", "source", "root", "rank", "target_rank"};
  for (const FunctionDecl* declared : function->redecls()) {
    if (parameter >= declared->getNumParams()) continue;
    const ParmVarDecl* const p = declared->getParamDecl(parameter);
    if (p->getType()->isIntegerType() && names.contains(p->getName().str())) return true;
  }
  return false;
}

// nullptr: it is none.
const FunctionDecl* of_mpi(const FunctionDecl* function) {
  return function != nullptr && is_mpi(function->getName().str()) && function->getDefinition() == nullptr ? function : nullptr;
}

// What a status says of the sender.
bool is_source(const MemberExpr* member) { return member->getMemberDecl()->getName() == "MPI_SOURCE"; }

class RankVisitor : public Visitor {
 public:
  // With edits, what is to be translated is; else it is found out whether it can be.
  RankVisitor(const Unit& unit, Edits* edits) : unit_(unit), edits_(edits) {}

  bool VisitCallExpr(CallExpr* call) override {
    const FunctionDecl* const callee = of_mpi(callee_of(call));
    if (callee == nullptr) return true;
    direct_.insert(call->getCallee()->IgnoreParenImpCasts());
    for (unsigned i = 0; i < call->getNumArgs(); ++i) {
      const Expr* const rank = call->getArg(i);
      if (i < callee->getNumParams() && callee->getParamDecl(i)->getName().empty() && callee->getParamDecl(i)->getType()->isIntegerType())
        lose(call->getBeginLoc(), "the MPI's header does not say which arguments of " + callee->getName().str() + "() are ranks");
      if (!takes_rank(callee, i)) continue;
      find_calls(rank);
      if (edits_ != nullptr) edits_->wrap(unit_.begin_of(rank->getBeginLoc()), unit_.end_of(rank->getEndLoc()), "elc_rank(", ")");
    }
    return true;
  }

  bool VisitCastExpr(CastExpr* cast) override {
    const auto* const member = cast->getCastKind() == CK_LValueToRValue ? dyn_cast<MemberExpr>(cast->getSubExpr()->IgnoreParens()) : nullptr;
    if (member == nullptr || !is_source(member)) return true;
    read_.insert(member);
    if (edits_ != nullptr) edits_->wrap(unit_.begin_of(member->getBeginLoc()), unit_.end_of(member->getEndLoc()), "elc_rank_of(", ")");
    return true;
  }

  bool VisitMemberExpr(MemberExpr* member) override {
    if (is_source(member) && !read_.contains(member)) lose(member->getBeginLoc(), "MPI_SOURCE of a status is not only read");
    return true;
  }

  bool VisitDeclRefExpr(DeclRefExpr* reference) override {
    const FunctionDecl* const function = of_mpi(dyn_cast<FunctionDecl>(reference->getDecl()));
    if (function == nullptr || direct_.contains(reference)) return true;
    for (unsigned i = 0; i < function->getNumParams(); ++i)
      if (takes_rank(function, i)) lose(reference->getLocation(), function->getName().str() + "() may be called by a pointer");
    return true;
  }

  bool VisitEnumConstantDecl(EnumConstantDecl* constant) override {
    const std::string name = constant->getName().str();
    if (name == any_number()) facts.lost.insert(unit_.record().source + ": constants of MPI are numbers in #if, or in strings");
    const auto common = common_ranks().find(number_named(name));
    if (edits_ == nullptr || common == common_ranks().end() || constant->getInitExpr() == nullptr) return true;
    const Expr* const value = constant->getInitExpr()->IgnoreImpCasts();
    edits_->replace(unit_.begin_of(value->getBeginLoc()), unit_.end_of(value->getEndLoc()), "(" + std::to_string(common->second) + ")");
    return true;
  }

  RankFacts facts;

 private:
  void lose(SourceLocation at, const std::string& why) { facts.lost.insert(unit_.place(at) + ": " + why); }

  void find_calls(const Stmt* s) {
    if (const auto* call = dyn_cast<CallExpr>(s)) {
      const FunctionDecl* const callee = callee_of(call);
      if (callee == nullptr) lose(call->getBeginLoc(), "a rank comes from a call by a pointer");
      else facts.called.emplace(Program::key_of(unit_, callee), unit_.place(call->getBeginLoc()));
    }
    for (const Stmt* child : s->children())
      if (child != nullptr) find_calls(child);
  }

  const Unit& unit_;
  Edits* edits_;
  std::set<const Expr*> direct_, read_;
};

}  // namespace

const std::map<std::string, int>& common_ranks() {
  static const std::map<std::string, int> all = {{"MPI_ANY_SOURCE", -1}, {"MPI_PROC_NULL", -2}, {"MPI_ROOT", -4}};
  return all;
}

RankFacts ranks_in(const Unit& unit) {
  RankVisitor visitor(unit, nullptr);
  visitor.TraverseDecl(unit.context().getTranslationUnitDecl());
  return visitor.facts;
}

bool is_rank(const CallExpr* call, unsigned argument) {
  const FunctionDecl* const callee = of_mpi(callee_of(call));
  return callee != nullptr && takes_rank(callee, argument);
}

std::string rank_functions(const std::map<std::string, int>& own) {
  std::string to_mpi, of_mpi;
  for (const auto& [name, common] : common_ranks()) {
    const std::string here = std::to_string(own.at(name)), there = std::to_string(common);
    to_mpi += "elc_r == " + there + " ? " + here + " : ";
    of_mpi += "elc_r == " + here + " ? " + there + " : ";
  }
  const std::string before = "static __inline__ __attribute__((__unused__)) int ";
  return before + "elc_rank(int elc_r) { return " + to_mpi + "elc_r; } " + before + "elc_rank_of(int elc_r) { return " + of_mpi + "elc_r; } ";
}

void translate_ranks(const Unit& unit, Edits* edits) { RankVisitor(unit, edits).TraverseDecl(unit.context().getTranslationUnitDecl()); }

}  // namespace elc::cc
