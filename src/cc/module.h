// What a source file has at file scope, for lines: its text with what static locals, strings and functions become, and the
// module that the program registers (elc_program.h).
#ifndef ELC_CC_MODULE_H
#define ELC_CC_MODULE_H

#include <map>
#include <set>
#include <string>
#include <vector>

#include "cc/edits.h"
#include "cc/program.h"
#include "cc/types.h"
#include "cc/unit.h"

namespace elc::cc {

// The name, or the first that is made of it, which is free.
template <class F>
std::string free_name(const std::string& name, F is_free) {
  std::string candidate = name;
  for (int n = 2; !is_free(candidate); ++n) candidate = name + "__" + std::to_string(n);
  return candidate;
}

// A function that a file defines.
struct Definition {
  const clang::FunctionDecl* function;
  size_t place;  // where its declaration begins, or something before
};

// Where a type's own text ends, with its attributes.
size_t end_of_type(const Unit& unit, const clang::Decl* type);

class Module {
 public:
  Module(const Program& program, const Unit& unit, std::vector<std::string>* errors)
      : program_(program), unit_(unit), errors_(errors), types_(program, unit), edits_(unit.text()), handles_(program.structs_of_handles()) {}

  // The text of the file as it is to be compiled; `units`: how many the program has.
  std::string transform(size_t units);
  // Whether that is another one, but for names of MPI's profiling interface, or registers anything: else what the compile step has made of
  // it will do.
  bool changes() const { return changes_; }

  const Program& program() const { return program_; }
  const Unit& unit() const { return unit_; }
  Types& types() { return types_; }
  const Types& types() const { return types_; }
  Edits& edits() { return edits_; }
  // The value of this call, of which it says what the memory is that it returns, if it does so.
  std::string with_memory(const clang::CallExpr* call, const std::string& value) const {
    const auto found = memory_.find(call);
    return found == memory_.end() ? value : found->second.first + value + found->second.second;
  }
  // What a call, behind which a restart goes on, has made lead to memory, and of which type.
  using Led = std::vector<std::pair<const clang::Expr*, std::string>>;
  // Of functions of the file: they have their frames from the beginning on.
  bool enters_early(const clang::FunctionDecl* function) const { return early_.contains(function->getCanonicalDecl()); }
  Led led_by(const clang::CallExpr* call) const {
    const auto found = led_.find(call);
    return found == led_.end() ? Led() : found->second;
  }
  // The types that a declaration in a function makes are to be the file's, before the function: what is moved there, too, or describes
  // them has to see them. The same of a type by itself, if a function has it.
  void lift(const clang::DeclStmt* statement);
  void lift(clang::QualType type);
  void error(clang::SourceLocation at, const std::string& what) { errors_->push_back(unit_.place(at) + ": " + what); }
  void warn(clang::SourceLocation at, const std::string& what) { warnings_.push_back(unit_.place(at) + ": " + what); }
  // What a user has to know, and what is saved as bytes.
  std::vector<std::string> notes() const {
    std::vector<std::string> all = warnings_;
    all.insert(all.end(), types_.notes().begin(), types_.notes().end());
    return all;
  }

  // Memory that is bytes may have handles there, if such elements mention any.
  void leave_handles(clang::QualType element, clang::SourceLocation at) {
    if (handles_.mentioned(element)) handles_leave_.join({unit_.place(at), false});
  }

  // A name for a variable of the function: no type or enumerator of it that moves out has it, or gets it later. false: one has.
  bool reserve(const clang::FunctionDecl* function, const std::string& name);

  // Of a declaration of `name`, as C writes it; empty, with an error, where the type has no name.
  std::string declaration(clang::QualType type, const std::string& name, clang::SourceLocation at);
  // What its declaration has to add where it is aligned otherwise than its type is.
  std::string alignment(const clang::VarDecl* variable) const;
  void align_in_place(const clang::VarDecl* variable);  // one of the file

 private:
  friend class FileVisitor;
  friend class TypeLifter;
  friend class Renamer;
  Described described(clang::QualType scalar);
  void add_entry(const std::string& name, const std::string& symbol, const Described& described, bool is_constant);
  std::string unique_name(const std::string& name);  // of a variable, in lines
  void add_function(const std::string& symbol, const std::string& name, int given_to);
  void add_variable(const clang::VarDecl* variable, const std::string& symbol, const std::string& name);
  void name_tags();
  void find_types(const clang::FunctionDecl* function);
  void rename(clang::NamedDecl* declared, const clang::FunctionDecl* function);
  void rename_uses();
  void note_inside(const clang::ValueDecl* named, const clang::FunctionDecl* function);
  std::string lifted_text(const clang::DeclStmt* statement);
  void leave_lifted(const clang::DeclStmt* statement);
  void add_statics(const clang::FunctionDecl* function);
  std::string source_of_numbers(const clang::Expr* source) const;
  void watch_addresses();
  void watch_unions();
  void refuse_orders();
  void add_process();
  std::string settings_text() const;
  std::string inlines(const std::vector<Definition>& all) const;
  std::string prelude() const;
  std::string module_text() const;
  std::string program_text(size_t units) const;

  const Program& program_;
  const Unit& unit_;
  std::vector<std::string>* errors_;
  Types types_;
  Edits edits_;
  std::map<const clang::VarDecl*, std::string> statics_;       // static locals, and what they are called now
  std::vector<const clang::VarDecl*> static_order_;
  struct Literal {
    const clang::CompoundLiteralExpr* literal;
    std::string name;  // that it gets
    size_t place;      // before which it is declared
  };
  std::vector<Literal> literals_;                               // outside of functions, to which pointers lead
  std::map<const clang::Decl*, std::set<const clang::DeclStmt*>> local_types_;  // and enumerators: what declares them
  std::map<const clang::DeclStmt*, const clang::FunctionDecl*> owners_;
  std::map<const clang::FunctionDecl*, std::set<std::string>> local_names_;  // of variables and functions
  std::set<const clang::DeclStmt*> lifted_, plain_;            // plain: typedefs of what depends on variables, written as what they are
  std::set<std::string> lifted_names_;
  std::map<const clang::FunctionDecl*, std::map<std::string, const clang::ValueDecl*>> inside_;  // by names
  std::map<const clang::Decl*, std::pair<std::string, std::string>> renamed_;  // types and enumerators: what they were called, and are
  std::vector<std::string> warnings_;
  std::map<const clang::CallExpr*, std::pair<std::string, std::string>> memory_;  // what comes before it, and behind
  std::map<const clang::CallExpr*, Led> led_;
  HandleTypes handles_;
  std::set<const clang::Expr*> told_;  // of which the library is told that memory there is of a type
  HandlesLeave handles_leave_;
  std::string in_sections_;                                     // variables, in such as the program goes through
  std::string strings_;                                         // text: their definitions
  std::string variables_, functions_;                           // text: initialisers of the module
  std::set<std::string> names_, function_names_;
  std::set<const clang::Decl*> registered_;
  std::set<const clang::VarDecl*> aligned_;
  std::map<std::string, std::string> replaced_;                 // text: declarations of what replaces functions
  std::set<const clang::FunctionDecl*> early_;
  bool notes_numbers_ = false;  // in unions
  bool notes_sources_ = false;  // pointers that become integers
  size_t string_count_ = 0, variable_count_ = 0, function_count_ = 0;
  bool changes_ = true;
};

}  // namespace elc::cc

#endif
