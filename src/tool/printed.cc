#include "printed.h"

#include <algorithm>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>
#include <utility>
#include <vector>

namespace elc::tool {
namespace {

// Of tables: the shape of a row, and the number of a column.
using Columns = std::set<std::pair<std::string, size_t>>;

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

// What a run took, which differs from run to run and may look the same twice.
bool speaks_of_time(const std::string& line) {
  static const std::regex words("\\b(time|timing|elapsed|wall|clock|seconds?|secs?|[kmgt]?flops?|per second)\\b|[0-9] ?(ms|us|s|sec)\\b|/ ?[mun]?s(ec)?\\b",
                                std::regex::icase);
  return std::regex_search(line, words);
}

// Tables: lines of as many words, with numbers of as many places at the same ones.
std::vector<std::string> words_of(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}
std::string shape_of(const std::vector<std::string>& words) {
  std::string shape;
  int numbers = 0;
  for (const std::string& word : words) {
    const bool is_number = word.find_first_not_of("0123456789.+-eE:") == std::string::npos && word.find_first_of("0123456789") != std::string::npos;
    const size_t dot = word.find('.');
    shape += !is_number ? "w " : dot == std::string::npos ? "n " : "n" + std::to_string(word.size() - dot) + " ";
    numbers += is_number;
  }
  return numbers < 3 ? "" : shape;
}
// A column of times may be the same twice in one row, and is not in all of them.
Columns columns_that_vary(const std::vector<std::string>& one, const std::vector<std::string>& other) {
  Columns columns;
  for (size_t i = 0; i < one.size(); ++i) {
    const auto a = words_of(one[i]), b = words_of(other[i]);
    const std::string shape = shape_of(a);
    for (size_t k = 0; !shape.empty() && shape == shape_of(b) && k < a.size(); ++k)
      if (a[k] != b[k]) columns.insert({shape, k});
  }
  return columns;
}
// Whether two lines of a table differ in these alone.
bool differ_in(const Columns& columns, const std::string& one, const std::string& other) {
  const auto a = words_of(one), b = words_of(other);
  const std::string shape = shape_of(a);
  if (shape.empty() || shape != shape_of(b)) return false;
  for (size_t k = 0; k < a.size(); ++k)
    if (a[k] != b[k] && columns.count({shape, k}) == 0) return false;
  return true;
}

// Two lines of a table in which most columns are the same without a failure: of the others times are made.
bool are_of_a_table(const Columns& columns, const std::string& one, const std::string& other) {
  const std::string shape = shape_of(words_of(one));
  const auto vary = std::count_if(columns.begin(), columns.end(), [&](const auto& column) { return column.first == shape; });
  return !shape.empty() && shape == shape_of(words_of(other)) && 2 * vary < std::count(shape.begin(), shape.end(), 'n');
}

}  // namespace

PrintedOtherwise compare_printed(const std::string& first, const std::string& second, const std::string& restarted) {
  const auto wanted = lines_of(first), also = lines_of(second), found = lines_of(restarted);
  PrintedOtherwise otherwise;
  if (wanted.size() != also.size()) return otherwise;
  const Columns columns = columns_that_vary(wanted, also);
  for (size_t i = 0; i < std::max(wanted.size(), found.size()) && otherwise.what.empty(); ++i) {
    if (i >= found.size()) {
      otherwise.what = "does not print: " + wanted[i];
    } else if (i >= wanted.size()) {
      otherwise.what = "prints more: " + found[i];
    } else if (wanted[i] != found[i]) {
      const bool varies = wanted[i] != also[i], is_time = (speaks_of_time(wanted[i]) && speaks_of_time(found[i])) || differ_in(columns, wanted[i], found[i]);
      const std::string text = found[i] + "\n    instead of:  " + wanted[i];
      if (is_time && !varies && otherwise.taken_for_time.empty()) otherwise.taken_for_time = text;
      if (!is_time && (!varies || are_of_a_table(columns, wanted[i], found[i]))) otherwise.what = "prints: " + text;
    }
  }
  return otherwise;
}

}  // namespace elc::tool
