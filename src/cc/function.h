// A function that can be on the stack when a line is taken: it gets a frame (elc_frame.h), and a label at each call that can
// reach a site. Only statements that contain such a call are written anew.
#ifndef ELC_CC_FUNCTION_H
#define ELC_CC_FUNCTION_H

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cc/edits.h"
#include "cc/liveness.h"
#include "cc/module.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/Stmt.h"

namespace elc::cc {

// Behind a call: no label is where the function is.
// Where text of an expression becomes the value of a variable, this one needs parentheses.
inline bool is_comma(const clang::Expr* e) {
  const auto* both = llvm::dyn_cast<clang::BinaryOperator>(e->IgnoreImpCasts());
  return both != nullptr && both->getOpcode() == clang::BO_Comma;
}

inline const std::string kBehind = "elc_f.elc_h.label = elc_f.elc_h.is_site = 0; ";
inline const std::string kEnter = "elc_f.elc_h.caller = ELC_Innermost; elc_f.elc_h.function = &elc_fn; ELC_Innermost = &elc_f.elc_h; ";
inline const std::string kIsAgain = "if (__builtin_expect(ELC_Reentering, 0)) ";
inline const std::string kLeave = "ELC_Innermost = elc_f.elc_h.caller; ";

class Function {
 public:
  // Puts the changes that do not depend on others into the module's edits: names of variables that move, returns.
  Function(Module& module, const clang::FunctionDecl* function);

  // What is between the braces, when all changes of the file are known.
  Edits::Edit transform();
  // Then: what is behind the function, and what comes before it for that; empty: nothing.
  const std::string& behind() const { return behind_; }
  const std::string& before() const { return before_; }
  const clang::FunctionDecl* function() const { return function_; }
  bool enters_late() const { return enters_late_; }

 private:
  friend class BodyVisitor;
  friend class ReturnVisitor;

  struct Variable {
    std::string name;      // in the text
    std::string shown;     // in lines
    clang::QualType type;
    bool is_parameter = false;
    bool in_place = false;  // saved where it is; else from a member of the frame into which it is stored
    bool is_changed = true;  // after the function has begun
    const clang::VarDecl* declared = nullptr;  // nullptr: a temporary
    std::string used;             // what is in the text for it; empty: its name
    std::vector<size_t> extents;  // variables: of the arrays that it is or points to, where one is of variable length
    std::vector<size_t> named;    // where in the text
    bool is_apart = false;        // a member of a struct that has more behind it
    std::string itself() const { return is_apart ? "(" + name + "." + kApart + ")" : name; }
  };
  static constexpr const char* kApart = "elc_v";
  struct Label {
    bool is_site;
    std::vector<size_t> live;  // variables
    std::string again;         // of a call: the statement that makes it in a restart
    std::string result;        // the variable that has its value then; empty: none
    std::string callee;        // the name of the function that is called; empty: not known
    int number = 0;            // by which lines know it
  };
  struct Literal {
    const clang::CompoundLiteralExpr* e;
    size_t variable;
  };
  enum class Call { kPlain, kSite, kInstrumented };

  // ---- Analysis
  Call kind_of(const clang::CallExpr* call) const;
  bool has_label(const clang::Stmt* statement) const;
  void find_declared(const clang::Stmt* statement);
  void find_moved(const clang::Stmt* statement);
  void move(const clang::DeclStmt* statement);
  void move_literals();
  bool wants_arguments_late(const clang::Stmt* statement) const;
  void change_array(const clang::VarDecl* variable, Variable* v);
  void set_apart(Variable* v) const;
  bool is_plain(const clang::Expr* size) const;
  void push_scope(size_t variable);
  void begin_scope(const clang::CompoundStmt* block);
  bool enters_for_calls();
  bool may_be_entered_apart() const;
  void count_labels(const clang::Stmt* statement, bool in_loop, bool always);
  size_t add(Variable variable);
  std::string free_variable(const std::string& name) const;
  clang::DeclContext::lookup_result declared_outside(const std::string& name) const;  // of functions

  // ---- Statements
  void emit(const clang::Stmt* statement);
  void emit_children(const clang::CompoundStmt* statement);
  void emit_declaration(const clang::DeclStmt* statement);
  void emit_extents(const clang::VarDecl* variable);
  std::string leave() const;
  void emit_initial(const clang::VarDecl* variable);
  void emit_loop(const clang::Stmt* init, const clang::Expr* condition, const clang::Expr* step, const clang::Stmt* body);
  void emit_do(const clang::DoStmt* loop);
  void emit_block(const clang::Stmt* statement);  // in braces
  bool is_seldom(const clang::IfStmt* choice) const;
  void redirect_continues(const clang::Stmt* statement, const std::string& label);
  std::string line_mark(clang::SourceLocation at) const;
  std::string text(const clang::Stmt* e);
  size_t end_of(const clang::Stmt* statement) const;  // with its semicolon

  // ---- Expressions: what comes before is emitted, the value is what is returned.
  std::string value_of(const clang::Expr* e, bool is_used = true);
  std::string call(const clang::CallExpr* call, Call kind, bool is_used);
  // Whether a call does not change which place in memory this is.
  bool stays(const clang::Expr* place) const;
  std::string value_of_block(const clang::StmtExpr* e, bool is_used);
  void find_values(const clang::Stmt* s, std::vector<const clang::Expr*>* values) const;
  bool calls_beside(const clang::Stmt* s, const std::vector<const clang::Expr*>& values) const;
  std::string value_in_memory(const clang::Expr* e, const std::vector<const clang::Expr*>& values);
  std::string argument(const clang::Expr* e, clang::QualType type, bool is_rank = false);
  bool is_wide(const clang::Expr* e) const;
  std::set<const clang::Expr*> operands_before_calls(const clang::Expr* e) const;
  std::string substituted(const clang::Expr* e);
  std::string truth_of(const clang::Expr* e);
  size_t temporary(clang::QualType type);
  std::string set(const std::string& name, clang::QualType type, const std::string& value) const;
  void refuse(clang::SourceLocation at, const std::string& what);

  // ---- The frame
  std::string stored(const Variable& variable) const;
  std::string before_call(const std::vector<size_t>& live) const;
  std::string behind_call() const { return enters_late_ ? kLeave : kBehind; }
  std::string restore(const std::vector<size_t>& live, const std::string& but) const;
  std::string again(const clang::CallExpr* call, const std::string& result) const;
  std::vector<size_t> live_at(const clang::CallExpr* call, bool is_site) const;
  int number_of_label(const clang::CallExpr* call);
  bool is_listed_at_once(const clang::VarDecl* variable) const;
  std::vector<int> which_of_its_name() const;
  struct FrameText {
    std::string made;            // the declarations
    std::string clear;           // what a line is to look at
    std::string clear_unlisted;  // of that, what is declared without all its values
    std::string enter, reenter;
  };
  FrameText frame();
  std::string beginning();
  std::string entered_again();

  Module& module_;
  const Unit& unit_;
  const clang::FunctionDecl* function_;
  mutable std::map<const clang::Stmt*, bool> labelled_;
  std::set<const clang::VarDecl*> address_taken_, assigned_, measured_, named_;  // the last in directives
  std::vector<std::string> arrays_;  // of variable length, and what alloca gave: calls that give their memory back
  std::map<const clang::VarDecl*, size_t> moved_;
  std::map<const clang::Stmt*, std::vector<Literal>> literals_;  // compound literals that last, by their blocks
  std::vector<Variable> variables_;
  std::vector<Label> labels_;
  std::set<int> numbers_;  // of those
  std::vector<size_t> scope_;
  mutable std::unique_ptr<Liveness> liveness_;  // as soon as a label asks for it
  std::map<const clang::Stmt*, std::string> continues_;  // statements whose continue is a goto
  std::string out_, declared_, copies_, before_, behind_;
  std::set<std::string> names_ = {"elc_f", "elc_h"};
  int next_ = 1;
  bool is_refused_ = false;
  bool is_left_alone_ = false;  // it has neither frame nor labels: no line is taken in it
  bool has_tasks_ = false, has_directives_ = false;  // of OpenMP
  bool has_typeof_ = false;
  bool has_jumps_ = false;  // goto
  bool uses_alloca_ = false;
  bool has_labels_in_loops_ = false;
  int labels_always_come_to_ = 0;
  bool enters_late_ = false;  // the frame is there for each call with a label, and not between them
  bool computes_ = false;     // with numbers whose rounding may depend on what the compiler makes of the function
  bool names_itself_ = false;  // __func__
  clang::SourceLocation last_argument_;  // of those that are variable: where they are used last
  std::set<const clang::Stmt*> loops_with_arguments_;
  std::set<std::string> lists_;  // variables that are lists of arguments
};

}  // namespace elc::cc

#endif
