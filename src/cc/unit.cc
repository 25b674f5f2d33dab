#include "cc/unit.h"

#include <ctype.h>

#include <algorithm>
#include <map>

#include "cc/arguments.h"
#include "cc/edits.h"
#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/TextDiagnosticPrinter.h"
#include "clang/Lex/Lexer.h"
#include "clang/Parse/ParseDiagnostic.h"
#include "clang/Sema/SemaDiagnostic.h"
#include "clang/Tooling/Tooling.h"

namespace elc::cc {
namespace {

// Whether `at` is in the list of an __attribute__((...)).
bool is_in_attribute(const std::string& text, size_t at) {
  int open = 0;
  while (at > 0 && open < 2) {
    const char c = text[--at];
    if (c == ';' || c == '{' || c == '}') return false;
    open += c == '(' ? 1 : c == ')' ? -1 : 0;
  }
  while (at > 0 && text[at - 1] == ' ') --at;
  return at >= 13 && text.compare(at - 13, 13, "__attribute__") == 0;
}

// GCC's attribute malloc may have arguments, clang's has none: blanks, so that all places stay.
void blank_malloc_attributes(std::string* text) {
  for (const std::string word : {"__malloc__", "malloc"}) {
    for (size_t at = 0; (at = text->find(word, at)) != std::string::npos; at += word.size()) {
      size_t open = at + word.size();
      while (open < text->size() && (*text)[open] == ' ') ++open;
      if (open >= text->size() || (*text)[open] != '(') continue;
      if (!is_in_attribute(*text, at)) continue;
      int depth = 0;
      for (size_t i = open; i < text->size(); ++i) {
        const char c = (*text)[i];
        depth += c == '(' ? 1 : c == ')' ? -1 : 0;
        if (c != '\n') (*text)[i] = ' ';
        if (depth == 0) break;
      }
    }
  }
}

// GCC gives its own atomic_flag a value in braces, which clang does not take for what is _Atomic; its functions take one without as well.
void blank_atomic_flag(std::string* text) {
  const std::string begin = "typedef _Atomic struct", end = "} atomic_flag;";
  for (size_t at = 0; (at = text->find(begin, at)) != std::string::npos; at += begin.size())
    if (const size_t close = text->find('}', at); close != std::string::npos && text->compare(close, end.size(), end) == 0) text->replace(at + 8, 7, 7, ' ');
}

// By PMPI_Send a program means MPI_Send, and the library sees that: kProfiling takes the place of the P, so that all places stay.
void name_mpi(std::string* text) {
  char quote = 0;  // of the literal around
  for (size_t i = 0; i + 5 < text->size(); ++i) {
    const char c = (*text)[i];
    if (quote != 0 && c == '\\') ++i;
    else if (quote != 0) quote = c == quote || c == '\n' ? 0 : quote;
    else if (c == '"' || c == '\'') quote = c;
    else if (c == 'P' && text->compare(i, 5, "PMPI_") == 0 && (i == 0 || !is_of_word((*text)[i - 1])))
      (*text)[i] = Unit::kProfiling;
  }
}

// Behind the colon before `at`, if nothing else is between but white space and what the preprocessor says of lines. 0: there is none.
size_t behind_colon(const std::string& text, size_t at) {
  while (at > 0) {
    const size_t line = text.rfind('\n', at - 1) + 1, last = text.find_last_not_of(" \t\n\f", at - 1);
    if (last == std::string::npos || text[line] == '#') at = line > 0 ? line - 1 : 0;
    else if (last < line) at = last + 1;
    else return text[last] == ':' ? last + 1 : 0;
  }
  return 0;
}

// Keeps where errors are in headers of the system, and tells the others.
class Errors : public clang::TextDiagnosticPrinter {
 public:
  Errors(const std::string& text, const std::set<std::string>& files_of_libraries)
      : TextDiagnosticPrinter(llvm::errs(), options()), text_(text), files_of_libraries_(files_of_libraries) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& info) override {
    if (info.getID() == clang::diag::note_previous_implicit_declaration && !conflicts_.empty()) conflicts_.back().with_implicit = true;
    if (level < clang::DiagnosticsEngine::Error) return;
    if (info.getID() == clang::diag::err_init_element_not_constant) return;  // as the compiler has it, which has compiled it: 4 * atan(1)
    if (const unsigned what = info.getID(); what == clang::diag::err_expected_expression || what == clang::diag::err_unexpected_typedef ||
                                            what == clang::diag::err_expected_statement || what == clang::diag::err_label_end_of_compound_statement) {
      const size_t behind = behind_colon(text_, info.getSourceManager().getFileOffset(info.getSourceManager().getFileLoc(info.getLocation())));
      if (behind != 0) bare_labels_.insert(behind);
    }
    if (!bare_labels_.empty()) return;  // it may follow from that
    if (info.hasSourceManager() && info.getLocation().isValid() && info.getSourceManager().isInSystemHeader(info.getLocation()) &&
        !files_of_libraries_.contains(info.getSourceManager().getPresumedLoc(info.getLocation()).getFilename())) {
      defines_builtins_ |= info.getID() == clang::diag::err_builtin_definition;
      llvm::SmallString<100> text;
      info.FormatDiagnostic(text);
      in_headers_.push_back({info.getSourceManager().getFileLoc(info.getLocation()), text.str().str()});
      return;
    }
    if (info.getID() == clang::diag::err_conflicting_types) {
      llvm::SmallString<100> text;
      info.FormatDiagnostic(text);
      conflicts_.push_back({clang::DeclarationName::getFromOpaqueInteger(info.getRawArg(0)), info.getSourceManager().getFileLoc(info.getLocation()), text.str().str(), false});
      return;
    }
    are_others_ = true;
    TextDiagnosticPrinter::HandleDiagnostic(level, info);
  }

  // Places behind labels that no statement follows, but a declaration or the end of a block: GCC lets that pass from 11 on. Where there
  // are some, nothing is told.
  const std::set<size_t>& bare_labels() const { return bare_labels_; }

  // Whether a header of the system defines functions that clang has itself.
  bool defines_builtins() const { return defines_builtins_; }

  // Functions without a result that are called before they are declared, which GCC lets pass. Tells of other conflicts.
  std::vector<std::string> called_early(clang::ASTUnit& ast) {
    std::vector<std::string> names;
    for (const Conflict& conflict : conflicts_) {
      bool is_void = false;
      for (const clang::Decl* d : ast.getASTContext().getTranslationUnitDecl()->decls()) {
        const auto* function = dyn_cast<clang::FunctionDecl>(d);
        is_void = is_void || (function != nullptr && function->getDeclName() == conflict.name && function->getReturnType()->isVoidType());
      }
      if (conflict.with_implicit && is_void) names.push_back(conflict.name.getAsString());
      else tell(ast, conflict.at, conflict.text);
    }
    return are_others_ ? std::vector<std::string>() : names;
  }

  // What the compiler's own headers have in functions, such as those of vectors, is for that compiler, which gets it again: nobody
  // looks at it here. Declarations that are not understood are another thing.
  bool all_in_functions(clang::ASTUnit& ast) {
    const clang::SourceManager& sources = ast.getSourceManager();
    const auto offset = [&](clang::SourceLocation at) { return sources.getFileOffset(sources.getFileLoc(at)); };
    std::map<unsigned, unsigned> functions;  // by where they begin, where they end
    for (const clang::Decl* d : ast.getASTContext().getTranslationUnitDecl()->decls())
      if (const auto* function = dyn_cast<clang::FunctionDecl>(d); function != nullptr && function->doesThisDeclarationHaveABody() && function->getBody() != nullptr)
        functions[offset(function->getBeginLoc())] = offset(function->getEndLoc());
    const auto in_function = [&](clang::SourceLocation at) {
      const auto behind = functions.upper_bound(offset(at));
      return behind != functions.begin() && offset(at) <= std::prev(behind)->second;
    };
    for (const auto& [at, text] : in_headers_) {
      if (in_function(at)) continue;
      tell(ast, at, text);
      break;
    }
    return !are_others_;
  }

 private:
  static clang::DiagnosticOptions* options() {
    auto* const all = new clang::DiagnosticOptions;
    all->ShowPresumedLoc = true;  // the program's own files
    return all;
  }

  struct Conflict {
    clang::DeclarationName name;
    clang::SourceLocation at;
    std::string text;
    bool with_implicit;
  };

  void tell(clang::ASTUnit& ast, clang::SourceLocation at, const std::string& text) {
    const clang::PresumedLoc place = ast.getSourceManager().getPresumedLoc(at);
    llvm::errs() << place.getFilename() << ":" << place.getLine() << ": error: " << text << "\n";
    are_others_ = true;
  }

  const std::string& text_;
  const std::set<std::string>& files_of_libraries_;
  std::set<size_t> bare_labels_;
  std::vector<Conflict> conflicts_;  // of two declarations
  std::vector<std::pair<clang::SourceLocation, std::string>> in_headers_;
  bool are_others_ = false;
  bool defines_builtins_ = false;
};

// Functions and variables.
std::vector<const clang::ValueDecl*> invalid_declarations(const clang::ASTUnit& ast) {
  std::vector<const clang::ValueDecl*> all;
  for (const clang::Decl* d : ast.getASTContext().getTranslationUnitDecl()->decls())
    if (const auto* one = dyn_cast<clang::ValueDecl>(d); one != nullptr && one->isInvalidDecl() && one->getIdentifier() != nullptr) all.push_back(one);
  return all;
}

}  // namespace

bool Unit::parse() {
  text_ = record_.text;
  blank_malloc_attributes(&text_);
  blank_atomic_flag(&text_);
  name_mpi(&text_);
  for (const auto& [begin, end] : bodies_of_builtins_)
    for (size_t i = begin; i <= end; ++i)
      if (text_[i] != '\n') text_[i] = i == begin ? ';' : ' ';
  find_own_files();
  std::vector<std::string> misunderstood;
  const bool all_pragmas = take_pragmas(&text_, &pragmas_, &misunderstood);
  for (const std::string& what : misunderstood) llvm::errs() << what << "\n";
  std::vector<std::string> arguments = {"-x", "c", "-fsyntax-only", "-undef", "-w", "-Wno-everything", "-ferror-limit=0", "-fgnuc-version=12.2.0",
                                        "-D_Float16=__fp16", "-Xclang", "-fallow-half-arguments-and-returns", "-fdouble-square-bracket-attributes"};
  // Types that GCC has itself; for other compilers headers of the C library define them.
  const std::string widest = record_.target.find("86") == std::string::npos ? "long double" : "__float128";
  for (const auto& [name, type] : std::map<std::string, std::string>{
           {"_Float32", "float"}, {"_Float64", "double"}, {"_Float32x", "double"}, {"_Float64x", "long double"}, {"_Float128", widest}})
    if (text_.find("typedef " + type + " " + name + ";") == std::string::npos) arguments.push_back("-D" + name + "=" + type);
  std::string standard = "-std=gnu17";
  for (const std::string& flag : record_.flags) {
    if (flag.starts_with("-std=")) standard = flag;
    if (flag == "-ansi") standard = "-std=c89";
    if (flag == "-fopenmp" || flag.starts_with("-fopenmp=")) arguments.push_back("-fopenmp");  // with -fopenmp-simd there are no threads
    if (flag == "-m32" || flag == "-funsigned-char" || flag == "-fsigned-char" || flag == "-fshort-enums" || flag == "-fms-extensions") arguments.push_back(flag);
  }
  arguments.push_back(standard);
  if (!record_.target.empty()) arguments.insert(arguments.end(), {"-target", record_.target});
  Errors errors(text_, files_of_libraries_);
  ast_ = clang::tooling::buildASTFromCodeWithArgs(text_, arguments, "elc-cc-input.c", "elc-cc", std::make_shared<clang::PCHContainerOperations>(),
                                                  clang::tooling::getClangStripDependencyFileAdjuster(), {}, &errors);
  if (ast_ == nullptr) return false;
  if (!errors.bare_labels().empty()) {
    for (auto at = errors.bare_labels().rbegin(); at != errors.bare_labels().rend(); ++at) record_.text.insert(*at, ";");
    return parse_again();
  }
  if (const std::vector<std::string> early = errors.called_early(*ast_); !early.empty()) {
    for (const std::string& name : early) record_.text.insert(0, "void " + name + "();\n");
    return parse_again();
  }
  if (errors.defines_builtins() && bodies_of_builtins_.empty()) {
    const auto offset = [this](clang::SourceLocation at) { return sources().getFileOffset(sources().getFileLoc(at)); };
    std::vector<std::pair<size_t, size_t>> bodies;
    for (const clang::ValueDecl* invalid : invalid_declarations(*ast_))
      if (const auto* function = dyn_cast<clang::FunctionDecl>(invalid); function != nullptr && function->getBuiltinID() != 0 && function->doesThisDeclarationHaveABody())
        bodies.push_back({offset(function->getBody()->getBeginLoc()), offset(function->getBody()->getEndLoc())});
    if (!bodies.empty()) return parse_again(std::move(bodies));
  }
  const bool is_understood = errors.all_in_functions(*ast_) && !names_what_is_lost();
  for (const auto& [begin, end] : bodies_of_builtins_) text_.replace(begin, end + 1 - begin, record_.text, begin, end + 1 - begin);  // for the compiler
  return is_understood && all_pragmas;
}

bool Unit::parse_again(std::vector<std::pair<size_t, size_t>> bodies) {
  bodies_of_builtins_ = std::move(bodies);
  pragmas_.clear();
  return parse();
}

// Of what is not understood clang leaves out whatever names it, the whole expression, without a word.
bool Unit::names_what_is_lost() const {
  const auto is_part_of_name = [this](size_t at) { return at < text_.size() && is_of_word(text_[at]); };
  const clang::SourceLocation first = sources().getLocForStartOfFile(sources().getMainFileID());
  for (const clang::ValueDecl* invalid : invalid_declarations(*ast_)) {
    const std::string name = invalid->getName().str();
    for (size_t at = text_.find(name); at != std::string::npos; at = text_.find(name, at + 1)) {
      const clang::SourceLocation here = first.getLocWithOffset(static_cast<int>(at));
      if ((at > 0 && is_part_of_name(at - 1)) || is_part_of_name(at + name.size()) || in_system_header(here)) continue;
      llvm::errs() << place(here) << ": error: '" << name << "', as a header of the system has it, is not understood\n";
      return true;
    }
  }
  return false;
}

// Those that the preprocessor names at last without saying that they are headers of the system: # LINE "FILE" FLAGS... (One that says so
// itself, by a pragma, is named without first.) And those of libraries that a build names so, to have no warnings of them, as CMake does.
void Unit::find_own_files() {
  own_files_.clear();
  files_of_libraries_.clear();
  std::vector<std::string> libraries;
  for (const std::string& flag : record_.flags)
    if (flag.starts_with(kSystemHeaders)) libraries.push_back(flag.substr(std::string(kSystemHeaders).size()) + "/");
  const std::string mark = "\n# ";
  for (size_t at = text_.starts_with(mark.substr(1)) ? 0 : text_.find(mark); at != std::string::npos; at = text_.find(mark, at + 1)) {
    const size_t end = std::min(text_.find('\n', at + 1), text_.size()), first = text_.find('"', at), last = text_.rfind('"', end);
    if (first >= last || last >= end) continue;
    const std::string name = text_.substr(first + 1, last - first - 1);
    if (std::any_of(libraries.begin(), libraries.end(), [&](const std::string& directory) { return name.starts_with(directory); })) files_of_libraries_.insert(name);
    if (text_.substr(last, end - last).find(" 3") == std::string::npos || files_of_libraries_.contains(name)) own_files_.insert(name);
    else own_files_.erase(name);
  }
}

const Pragma* Unit::pragma_of(const clang::DeclaratorDecl* declared, Pragma::Kind kind) const {
  if (pragmas_.empty()) return nullptr;
  const auto* field = dyn_cast<clang::FieldDecl>(declared);
  const bool is_anonymous = field != nullptr && field->isAnonymousStructOrUnion();
  const size_t begin = begin_of(is_anonymous ? field->getType()->getAsTagDecl()->getBeginLoc() : declared->getBeginLoc());
  for (const Pragma& pragma : pragmas_)
    if (pragma.kind == kind && pragma.begin == begin) return &pragma;
  return nullptr;
}

const clang::NamedDecl* Unit::declared(const std::string& name) const {
  const auto all = context().getTranslationUnitDecl()->lookup(clang::DeclarationName(&context().Idents.get(name)));
  return all.empty() ? nullptr : *all.begin();
}

const Pragma* Unit::pragma_of(const clang::CallExpr* call) const {
  const clang::QualType type = call->getType();
  if (pragmas_.empty() || !type->isPointerType() || !(type->isVoidPointerType() || type->getPointeeType()->isAnyCharacterType())) return nullptr;
  const size_t at = begin_of(call->getBeginLoc());
  for (const Pragma& pragma : pragmas_)
    if (pragma.kind == Pragma::Kind::kType && at >= pragma.begin && at < pragma.end) return &pragma;
  return nullptr;
}

size_t Unit::begin_of(clang::SourceLocation at) const { return sources().getFileOffset(sources().getFileLoc(at)); }

size_t Unit::end_of(clang::SourceLocation last) const {
  const clang::SourceLocation at = sources().getFileLoc(last);
  return sources().getFileOffset(at) + clang::Lexer::MeasureTokenLength(at, sources(), context().getLangOpts());
}

bool Unit::names(const clang::DeclRefExpr* e) const {
  const size_t begin = begin_of(e->getLocation());
  return text_.compare(begin, end_of(e->getLocation()) - begin, e->getDecl()->getNameAsString()) == 0;
}

bool Unit::profiles(const clang::DeclRefExpr* e) const {
  const size_t begin = begin_of(e->getLocation());
  return begin > 0 && text_[begin - 1] == kProfiling;
}

std::string Unit::file(clang::SourceLocation at) const {
  const clang::PresumedLoc presumed = sources().getPresumedLoc(sources().getFileLoc(at));
  return presumed.isValid() ? presumed.getFilename() : record_.source;
}

unsigned Unit::line(clang::SourceLocation at) const {
  const clang::PresumedLoc presumed = sources().getPresumedLoc(sources().getFileLoc(at));
  return presumed.isValid() ? presumed.getLine() : 0;
}

bool is_argument_list(clang::QualType type) {
  if (const auto* adjusted = type->getAs<clang::DecayedType>()) type = adjusted->getOriginalType();
  while (const auto* named = type->getAs<clang::TypedefType>()) {
    if (named->getDecl()->getName() == "__builtin_va_list") return true;
    type = named->getDecl()->getUnderlyingType();
  }
  return false;
}

std::string Unit::place(clang::SourceLocation at) const { return file(at) + ":" + std::to_string(line(at)); }

}  // namespace elc::cc
