// Which variables of a function may be asked for behind a call: clang's analysis of live variables, with each way that control may take.
#ifndef ELC_CC_LIVENESS_H
#define ELC_CC_LIVENESS_H

#include <memory>
#include <set>

#include "clang/Analysis/Analyses/LiveVariables.h"
#include "clang/Analysis/AnalysisDeclContext.h"

namespace elc::cc {

class Liveness {
 public:
  explicit Liveness(const clang::FunctionDecl* function);
  // Whether some way from where the call is made asks for the value that the variable has there. It may not look so of one whose address
  // is taken. true: also where nothing is known of the call.
  bool is_live(const clang::CallExpr* call, const clang::VarDecl* variable) const;

 private:
  std::unique_ptr<clang::AnalysisDeclContext> context_;
  std::unique_ptr<clang::LiveVariables> variables_;
  std::set<const clang::Stmt*> known_;
};

}  // namespace elc::cc

#endif
