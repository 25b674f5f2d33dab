#include "cc/numbers.h"

#include <string.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <sstream>

#include "cc/edits.h"
#include "cc/sizes.h"

namespace elc::cc {
namespace {

constexpr const char* kPrefix = "elc_number_";
constexpr const char* kAny = "elc_any_number";

using Macros = std::map<std::string, std::string>;  // those without parameters

Macros macros_of(const std::string& text) {
  Macros all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string define, name, body;
    if (!(words >> define >> name) || define != "#define" || name.find('(') != std::string::npos) continue;
    std::getline(words >> std::ws, body);
    all[name] = body;
  }
  return all;
}

std::vector<std::string> tokens_of(const std::string& body) {
  std::vector<std::string> all;
  for (size_t at = 0; at < body.size();) {
    if (std::isspace(static_cast<unsigned char>(body[at])) != 0) {
      ++at;
      continue;
    }
    size_t end = at + 1;
    while (is_of_word(body[at]) && end < body.size() && is_of_word(body[end])) ++end;
    if ((body[at] == '<' || body[at] == '>') && end < body.size() && body[end] == body[at]) ++end;
    all.push_back(body.substr(at, end - at));
    at = end;
  }
  return all;
}

// What it stands for, without macros; words that are none are types. Empty: it is no number or pointer.
std::string expanded(const Macros& macros, const std::string& body, int depth) {
  std::string out;
  for (const std::string& token : tokens_of(body)) {
    const auto macro = macros.find(token);
    if (macro != macros.end()) {
      const std::string inner = depth == 0 ? "" : expanded(macros, macro->second, depth - 1);
      if (inner.empty()) return "";
      out += inner;
    } else if (is_of_word(token[0]) || token.find_first_of("()+-*/|<>&~") == 0) {
      out += token + " ";
    } else {
      return "";
    }
  }
  return out;
}

// Of a conversion in it: the type. Only pointers to what MPI's objects are not; those are known by their type.
bool is_number_or_pointer(const std::string& body, std::string* type) {
  for (const std::string& token : tokens_of(body)) {
    if (!is_of_word(token[0]) || std::isdigit(static_cast<unsigned char>(token[0])) != 0) continue;
    if (token != "void" && token != "int" && token != "char" && token != "MPI_Status") return false;
    if (!type->empty()) return false;  // several conversions
    *type = token;
  }
  if (type->empty()) return true;
  const size_t at = body.find(*type) + type->size();
  const std::string stars = body.substr(at, body.find(')', at) - at);
  if (*type == "int" && stars.find_first_not_of(' ') == std::string::npos) return type->clear(), true;
  *type += stars;
  return stars.find('*') != std::string::npos && stars.find_first_not_of("* ") == std::string::npos;
}

bool fits_int(const std::string& body) {
  for (const std::string& token : tokens_of(body))
    if (std::isdigit(static_cast<unsigned char>(token[0])) != 0 && strtoull(token.c_str(), nullptr, 0) > 0x7fffffff) return false;
  return true;
}

struct Piece {
  size_t begin, end;
};
// What stands in quotes, in preprocessed text.
std::vector<Piece> strings_in(const std::string& text) {
  std::vector<Piece> all;
  for (size_t at = 0; at < text.size(); ++at) {
    const char quote = text[at];
    if (quote == '#' && (at == 0 || text[at - 1] == '\n')) at = std::min(text.find('\n', at), text.size());  // the name of a file
    if (quote != '"' && quote != '\'') continue;
    const size_t begin = ++at;
    while (at < text.size() && text[at] != quote) at += text[at] == '\\' ? 2 : 1;
    all.push_back({begin, std::min(at, text.size())});
  }
  return all;
}

bool has_name(const Piece& piece, const std::string& named) {
  return named.substr(piece.begin, piece.end - piece.begin).find(kPrefix) != std::string::npos;
}

// Whether it says nothing beside such a number, so that the program may read that from it.
bool is_number_alone(const Piece& piece, const std::string& named) {
  for (const std::string& token : tokens_of(named.substr(piece.begin, piece.end - piece.begin)))
    if (is_of_word(token[0]) && std::isdigit(static_cast<unsigned char>(token[0])) == 0 && token != "int" && !token.starts_with(kPrefix)) return false;
  return true;
}

// The bytes of a character in UTF-8.
std::string utf8_of(uint32_t c) {
  if (c < 0x80) return std::string(1, static_cast<char>(c));
  constexpr uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  std::string bytes(1, static_cast<char>(kFirst[more] | c >> (6 * more)));
  for (int i = more; i-- > 0;) bytes += static_cast<char>(0x80 | (c >> (6 * i) & 0x3f));
  return bytes;
}

}  // namespace

std::string with_letters(const std::string& text) {
  std::string out;
  size_t at = 0;
  const auto copy_to = [&](size_t end) {
    for (; at < end; ++at) {
      const size_t digits = text[at] != '\\' || at + 1 == end ? 0 : text[at + 1] == 'U' ? 8 : text[at + 1] == 'u' ? 4 : 0;
      const bool is = digits > 0 && at + 2 + digits <= end && text.find_first_not_of("0123456789abcdefABCDEF", at + 2) >= at + 2 + digits;
      if (!is) out += text[at];
      else out += utf8_of(static_cast<uint32_t>(std::stoul(text.substr(at + 2, digits), nullptr, 16))), at += 1 + digits;
    }
  };
  if (text.find("\\U") == std::string::npos && text.find("\\u") == std::string::npos) return text;
  for (const Piece& piece : strings_in(text)) {
    copy_to(piece.begin);
    out.append(text, piece.begin, piece.end - piece.begin);
    at = piece.end;
  }
  copy_to(text.size());
  return out;
}

std::string with_values_of_macros(const std::string& text, const std::string& defined) {
  const std::string word = "\n#pragma elc union ";  // as preprocessors write it, and behind a line mark
  if (text.find(word) == std::string::npos) return text;
  const Macros macros = macros_of(defined);
  std::string out;
  size_t at = 0;
  const auto copy_to = [&](size_t end) { out.append(text, at, end - at), at = end; };
  for (size_t begin; (begin = text.find(word, at)) != std::string::npos;) {
    const size_t end = std::min(text.find('\n', begin + 1), text.size());
    copy_to(std::min(text.find_first_of(" \t", text.find_first_not_of(" \t", begin + word.size())), end));  // behind the member
    for (bool is_value = true; at < end;) {
      const char c = text[at];
      const size_t quotes_end = c == '\'' ? text.find('\'', at + (text[at + 1] == '\\' ? 3 : 2)) : std::string::npos;
      size_t last = quotes_end == std::string::npos ? at + 1 : std::min(quotes_end + 1, end);
      while (is_of_word(c) && last < end && is_of_word(text[last])) ++last;
      if (c == ':' || c == ',') is_value = c == ',';
      const auto macro = is_value ? macros.find(text.substr(at, last - at)) : macros.end();
      const std::string value = macro == macros.end() ? "" : macro->second.starts_with("'") ? macro->second : expanded(macros, macro->second, 8);
      if (value.empty()) copy_to(last);
      else out += "(" + value + ")", at = last;
    }
  }
  copy_to(text.size());
  return out;
}

std::string header_of_numbers(const std::string& text) {
  const Macros macros = macros_of(text);
  if (!macros.contains("MPI_ANY_SOURCE")) return "";
  const auto known = macros.find("__INTPTR_TYPE__");  // of GCC and clang
  const std::string word = known == macros.end() ? "long" : known->second;
  std::string out = "#pragma GCC system_header\n#include_next <mpi.h>\n#ifndef ELC_NUMBERS\n#define ELC_NUMBERS\n";
  for (const auto& [name, body] : macros) {
    // The version is asked for in #if.
    if (!name.starts_with("MPI_") && !name.starts_with("MPIX_")) continue;
    if (name == "MPI_VERSION" || name == "MPI_SUBVERSION") continue;
    const std::string value = expanded(macros, body, 8);
    std::string type;
    if (value.find_first_of("0123456789") == std::string::npos || !is_number_or_pointer(value, &type) || !fits_int(value)) continue;
    const bool is_pointer = !type.empty();
    out += "#ifdef " + name + "\nenum { " + kPrefix + name + " = " + (is_pointer ? "(int)(" + word + ")(" : "(") + value + ") };\n#undef " +
           name + "\n#define " + name + " ((" + (is_pointer ? type + ")(" + word : "int") + ")" + kPrefix + name + ")\n#endif\n";
  }
  return out + "#endif\n";
}

bool are_in_strings(const std::string& named) {
  for (const Piece& piece : strings_in(named))
    if (has_name(piece, named)) return true;
  return false;
}

std::string with_strings_of(const std::string& plain, const std::string& named) {
  const std::vector<Piece> right = strings_in(plain), found = strings_in(named);
  if (right.size() != found.size()) return "";
  for (const Piece& piece : found)
    if (has_name(piece, named) && is_number_alone(piece, named)) return "";
  std::string out;
  size_t at = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    out.append(named, at, found[i].begin - at).append(plain, right[i].begin, right[i].end - right[i].begin);
    at = found[i].end;
  }
  return out.append(named, at);
}

std::string any_of_numbers(const std::string& header) {
  std::string out = "\n";
  std::istringstream in(header);
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("enum ")) out += line + "\n";
  return out + "enum { " + kAny + " };\n";
}

std::string any_number() { return kAny; }

std::string number_named(const std::string& enumerator) {
  if (enumerator == std::string(kPrefix) + "MPI_SUCCESS") return "";  // 0 everywhere: MPI 4.0, section 9.4
  if (enumerator.starts_with(kPrefix)) return enumerator.substr(strlen(kPrefix));
  const bool is_constant = enumerator.starts_with("MPI_") && std::none_of(enumerator.begin(), enumerator.end(), [](char c) { return std::islower(static_cast<unsigned char>(c)) != 0; });
  return is_constant || enumerator == kAny ? enumerator : "";
}

const Given& given_by(const std::string& function) {
  static const std::map<std::string, Given> all = {
      {"MPI_Cart_shift", {{"MPI_PROC_NULL"}, true}},
      {"MPI_Group_translate_ranks", {{"MPI_PROC_NULL", "MPI_UNDEFINED"}, true}},
      {"MPI_Group_rank", {{"MPI_UNDEFINED"}}},
      {"MPI_Waitany", {{"MPI_UNDEFINED"}}},
      {"MPI_Waitsome", {{"MPI_UNDEFINED"}}},
      {"MPI_Testany", {{"MPI_UNDEFINED"}}},
      {"MPI_Testsome", {{"MPI_UNDEFINED"}}},
      {"MPI_Get_count", {{"MPI_UNDEFINED"}}},
      {"MPI_Get_elements", {{"MPI_UNDEFINED"}}},
      {"MPI_Comm_compare", {{"MPI_IDENT", "MPI_CONGRUENT", "MPI_SIMILAR", "MPI_UNEQUAL"}}},
      {"MPI_Group_compare", {{"MPI_IDENT", "MPI_SIMILAR", "MPI_UNEQUAL"}}},
      {"MPI_Topo_test", {{"MPI_CART", "MPI_GRAPH", "MPI_DIST_GRAPH", "MPI_UNDEFINED"}}},
      {"MPI_Type_get_envelope", {{"MPI_COMBINER_"}}},
      {"MPI_Error_class", {{"MPI_ERR_"}}},
      {"MPI_Init_thread", {{"MPI_THREAD_"}}},
      {"MPI_Query_thread", {{"MPI_THREAD_"}}},
      {"MPI_File_get_amode", {{"MPI_MODE_"}}},
      {"MPI_Type_size", {{kAnySize}}},
      {"MPI_Type_size_x", {{kAnySize}}},
      {"MPI_Type_extent", {{kAnySize}}},
      {"MPI_Type_lb", {{kAnySize}}},
      {"MPI_Type_ub", {{kAnySize}}},
      {"MPI_Type_get_extent", {{kAnySize}}},
      {"MPI_Type_get_extent_x", {{kAnySize}}},
      {"MPI_Type_get_true_extent", {{kAnySize}}},
      {"MPI_Type_get_true_extent_x", {{kAnySize}}},
      {"MPI_Pack_size", {{kAnySize}}},
  };
  static const Given none;
  const auto found = all.find(function);
  return found == all.end() ? none : found->second;
}

}  // namespace elc::cc
