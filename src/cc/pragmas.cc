#include "cc/pragmas.h"

#include <algorithm>
#include <cctype>

#include "cc/edits.h"

namespace elc::cc {
namespace {

std::string trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t") + 1 - begin);
}

bool is_name(const std::string& word) {
  return !word.empty() && isdigit(static_cast<unsigned char>(word[0])) == 0 &&
         std::all_of(word.begin(), word.end(), is_of_word);
}

// Behind a character or string that begins at `at`.
size_t behind_quotes(const std::string& text, size_t at) {
  const char quote = text[at++];
  while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

// The parts between separators that stand outside of parentheses and quotes.
std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    const size_t next = c == '\'' || c == '"' ? std::min(behind_quotes(text, at), text.size()) : at + 1;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == separator && depth == 0) parts.emplace_back();
    else parts.back() += text.substr(at, next - at);
    at = next;
  }
  for (std::string& part : parts) part = trimmed(part);
  return parts;
}

// "TAG VALUE: MEMBER, VALUE: MEMBER".
bool read_cases(const std::string& rest, Pragma* pragma) {
  const size_t space = rest.find(' ');
  if (space == std::string::npos) return false;
  pragma->words.push_back(rest.substr(0, space));
  for (const std::string& part : split(rest.substr(space), ',')) {
    const std::vector<std::string> both = split(part, ':');
    if (both.size() != 2 || both[0].empty() || (both[1] != "-" && !is_name(both[1]))) return false;
    pragma->words.insert(pragma->words.end(), both.begin(), both.end());
  }
  return std::all_of(rest.begin(), rest.begin() + static_cast<std::ptrdiff_t>(space), [](char c) { return is_of_word(c) || c == '.'; });
}

bool read(const std::string& said, Pragma* pragma) {
  const size_t space = said.find(' ');
  const std::string word = said.substr(0, space), rest = space == std::string::npos ? "" : trimmed(said.substr(space));
  if (word == "transient") {
    pragma->kind = Pragma::Kind::kTransient;
    return rest.empty();
  }
  if (word == "type") {
    pragma->kind = Pragma::Kind::kType;
    pragma->words = {rest};
    return !rest.empty();
  }
  if (word == "stateless") {
    pragma->kind = Pragma::Kind::kStateless;
    pragma->words = split(rest, ',');
    return std::all_of(pragma->words.begin(), pragma->words.end(), [](const std::string& name) { return is_name(name.ends_with("*") ? name.substr(0, name.size() - 1) : name); });
  }
  pragma->kind = Pragma::Kind::kUnion;
  return word == "union" && read_cases(rest, pragma);
}

// Declarations by which clang says what the type is, or the values.
std::string declarations(const Pragma& pragma) {
  if (pragma.kind == Pragma::Kind::kType) return "typedef __typeof__(" + pragma.words[0] + ") " + pragma.name + ";";
  if (pragma.kind != Pragma::Kind::kUnion) return "";
  std::string out;
  for (size_t i = 1; i < pragma.words.size(); i += 2)
    if (pragma.words[i] != "default") out += "enum { " + pragma.name + "_" + std::to_string(i / 2) + " = (" + pragma.words[i] + ") }; ";
  return out;
}

// The first semicolon from here on.
size_t end_of_statement(const std::string& text, size_t at) {
  while (at < text.size() && text[at] != ';') at = text[at] == '\'' || text[at] == '"' ? behind_quotes(text, at) : at + 1;
  return std::min(at, text.size());
}

}  // namespace

bool take_pragmas(std::string* text, std::vector<Pragma>* pragmas, std::vector<std::string>* errors) {
  pragmas->clear();
  const std::string word = "#pragma elc";
  if (text->find(word) == std::string::npos) return true;
  std::string file, appended;
  size_t line = 1, waiting = 0;  // of the pragmas, those from here on stand in front of what comes next
  for (size_t at = 0; at < text->size(); ++line) {
    const size_t end = std::min(text->find('\n', at), text->size());
    const size_t first = text->find_first_not_of(" \t", at);
    const std::string now = trimmed(text->substr(at, end - at));
    if (now.starts_with("# ")) {  // of the preprocessor: # LINE "FILE"
      const size_t quote = now.find('"');
      line = strtoul(now.c_str() + 2, nullptr, 10) - 1;
      if (quote != std::string::npos) file = now.substr(quote + 1, now.rfind('"') - quote - 1);
    } else if (now == word || now.starts_with(word + " ")) {
      Pragma pragma = {Pragma::Kind::kTransient, 0, 0, file + ":" + std::to_string(line), {}, "elc_pragma_" + std::to_string(pragmas->size())};
      const std::string said = trimmed(now.substr(word.size()));
      if (!read(said, &pragma))
        errors->push_back(pragma.place + ": '#pragma elc " + said + "' is none that elc-cc knows: transient, type TYPE, stateless FUNCTION, ..., or union MEMBER VALUE: MEMBER, ...");
      if (const std::string more = declarations(pragma); !more.empty()) appended += "\n# " + std::to_string(line) + " \"" + file + "\"\n" + more;
      pragmas->push_back(pragma);
      std::fill(text->begin() + static_cast<std::ptrdiff_t>(at), text->begin() + static_cast<std::ptrdiff_t>(end), ' ');
    } else if (!now.empty() && now[0] != '#') {
      for (; waiting < pragmas->size(); ++waiting) (*pragmas)[waiting].begin = first, (*pragmas)[waiting].end = end_of_statement(*text, first);
    }
    at = end + 1;
  }
  if (!appended.empty()) *text += appended + "\n";
  return errors->empty();
}

}  // namespace elc::cc
