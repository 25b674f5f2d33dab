#include "cc/unit.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Lex/Lexer.h"
#include "clang/Tooling/Tooling.h"

namespace elc::cc {
namespace {

// Whether what is at a place of a text is one in a list of attributes.
bool is_attribute(const std::string& text, size_t at) {
  if (at > 0 && (isalnum(static_cast<unsigned char>(text[at - 1])) != 0 || text[at - 1] == '_')) return false;
  int depth = 0;
  for (size_t i = at; i-- > 0 && text[i] != ';' && text[i] != '{';) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth < 2) continue;
    const size_t end = text.find_last_not_of(' ', i == 0 ? 0 : i - 1);
    constexpr size_t kLength = 13;
    return end != std::string::npos && end + 1 >= kLength && text.compare(end + 1 - kLength, kLength, "__attribute__") == 0;
  }
  return false;
}

// GCC's attribute malloc may have arguments, clang's has none: blanks, so that all places stay.
void blank_malloc_attributes(std::string* text) {
  for (const std::string word : {"__malloc__", "malloc"}) {
    for (size_t at = 0; (at = text->find(word, at)) != std::string::npos; at += word.size()) {
      size_t open = at + word.size();
      while (open < text->size() && (*text)[open] == ' ') ++open;
      if (open >= text->size() || (*text)[open] != '(') continue;
      if (!is_attribute(*text, at)) continue;
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

}  // namespace

bool Unit::parse() {
  text_ = record_.text;
  blank_malloc_attributes(&text_);
  std::vector<std::string> arguments = {"-x", "c", "-fsyntax-only", "-undef", "-w", "-Wno-everything", "-fgnuc-version=12.2.0",
                                        "-D_Float32=float", "-D_Float64=double", "-D_Float32x=double", "-D_Float64x=long double",
                                        record_.target.find("86") == std::string::npos ? "-D_Float128=long double" : "-D_Float128=__float128"};
  std::string standard = "-std=gnu17";
  for (const std::string& flag : record_.flags) {
    if (flag.starts_with("-std=")) standard = flag;
    if (flag == "-ansi") standard = "-std=c89";
    if (flag == "-m32" || flag == "-funsigned-char" || flag == "-fsigned-char" || flag == "-fshort-enums") arguments.push_back(flag);
  }
  arguments.push_back(standard);
  if (!record_.target.empty()) arguments.insert(arguments.end(), {"-target", record_.target});
  ast_ = clang::tooling::buildASTFromCodeWithArgs(text_, arguments, "elc-cc-input.c", "elc-cc");
  return ast_ != nullptr && !ast_->getDiagnostics().hasErrorOccurred();
}

size_t Unit::begin_of(clang::SourceLocation at) const { return sources().getFileOffset(sources().getFileLoc(at)); }

size_t Unit::end_of(clang::SourceLocation last) const {
  const clang::SourceLocation at = sources().getFileLoc(last);
  return sources().getFileOffset(at) + clang::Lexer::MeasureTokenLength(at, sources(), context().getLangOpts());
}

std::string Unit::file(clang::SourceLocation at) const {
  const clang::PresumedLoc presumed = sources().getPresumedLoc(sources().getFileLoc(at));
  return presumed.isValid() ? presumed.getFilename() : record_.source;
}

unsigned Unit::line(clang::SourceLocation at) const {
  const clang::PresumedLoc presumed = sources().getPresumedLoc(sources().getFileLoc(at));
  return presumed.isValid() ? presumed.getLine() : 0;
}

std::string Unit::place(clang::SourceLocation at) const { return file(at) + ":" + std::to_string(line(at)); }

}  // namespace elc::cc
