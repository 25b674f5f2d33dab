#include "cc/liveness.h"

#include "clang/Analysis/CFG.h"

namespace elc::cc {

using namespace clang;

Liveness::Liveness(const FunctionDecl* function) : context_(std::make_unique<AnalysisDeclContext>(nullptr, function)) {
  CFG::BuildOptions& options = context_->getCFGBuildOptions();
  options.setAllAlwaysAdd();
  options.PruneTriviallyFalseEdges = false;  // on another machine another way may be one that nobody goes, and its labels ask for the same
  const CFG* const graph = context_->getCFG();
  if (graph == nullptr) return;
  variables_ = LiveVariables::create(*context_);
  for (const CFGBlock* block : *graph)
    for (const CFGElement& element : *block)
      if (const auto statement = element.getAs<CFGStmt>()) known_.insert(statement->getStmt());
}

bool Liveness::is_live(const CallExpr* call, const VarDecl* variable) const {
  return variables_ == nullptr || !known_.contains(call) || variables_->isLive(call, variable);
}

}  // namespace elc::cc
