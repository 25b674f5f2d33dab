// A source file of the program, preprocessed and parsed.
#ifndef ELC_CC_UNIT_H
#define ELC_CC_UNIT_H

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "cc/pragmas.h"
#include "clang/AST/ASTContext.h"
#include "clang/Frontend/ASTUnit.h"

namespace elc::cc {

// What the compile step has kept beside an object.
struct Record {
  std::string source;              // as the user named it
  std::string path;                // from the root
  std::string target;              // of the compiler: its processor and system
  std::vector<std::string> flags;  // of the compiler, as they matter for text that is preprocessed
  std::string text;                // the C compiler's, preprocessed
  std::vector<std::string> defined, undefined;  // in a shared library, symbols of its object; none is defined: nobody has to ask for it
};

class Unit {
 public:
  static constexpr char kProfiling = '\f';  // white space, in front of such a name

  Unit(Record record, size_t number) : record_(std::move(record)), number_(number) {}

  // False, with a message, where the text is not understood.
  bool parse();
  bool parsed() const { return ast_ != nullptr; }
  void forget() { ast_.reset(); }

  const Record& record() const { return record_; }
  size_t number() const { return number_; }
  clang::ASTContext& context() const { return ast_->getASTContext(); }
  clang::SourceManager& sources() const { return ast_->getSourceManager(); }
  const std::string& text() const { return text_; }
  const std::vector<Pragma>& pragmas() const { return pragmas_; }
  // The one of this kind that stands in front of a declaration; nullptr: there is none.
  const Pragma* pragma_of(const clang::DeclaratorDecl* declared, Pragma::Kind kind) const;
  // The one that says what the memory is which this call gives.
  const Pragma* pragma_of(const clang::CallExpr* call) const;
  // What take_pragmas() has declared; nullptr: it is not there.
  const clang::NamedDecl* declared(const std::string& name) const;

  // Offsets in text(): where a token begins, and where the last one of a range ends.
  size_t begin_of(clang::SourceLocation at) const;
  size_t end_of(clang::SourceLocation last) const;
  // Whether the program names what this refers to there. Else it is of clang's own making.
  bool names(const clang::DeclRefExpr* e) const;
  // Whether the program names a function of MPI's profiling interface there, of which the one without P is called.
  bool profiles(const clang::DeclRefExpr* e) const;
  // "file:line" of the program's own source.
  std::string place(clang::SourceLocation at) const;
  unsigned line(clang::SourceLocation at) const;
  std::string file(clang::SourceLocation at) const;
  // Not what a macro of such a header has made in a file of the program's.
  bool in_system_header(clang::SourceLocation at) const { return sources().isInSystemHeader(at) && !own_files_.contains(file(at)); }

 private:
  void find_own_files();
  bool parse_again(std::vector<std::pair<size_t, size_t>> bodies = {});
  bool names_what_is_lost() const;

  Record record_;
  size_t number_;
  std::string text_;  // as it is parsed: what clang does not know of GCC's is blank
  std::vector<Pragma> pragmas_;
  std::set<std::string> own_files_;  // of the program
  std::set<std::string> files_of_libraries_;  // of these, those that a build names by -isystem
  std::vector<std::pair<size_t, size_t>> bodies_of_builtins_;  // in the text: what a header has of functions that clang has itself
  std::unique_ptr<clang::ASTUnit> ast_;
};

// Whether it is a va_list.
bool is_argument_list(clang::QualType type);

}  // namespace elc::cc

#endif
