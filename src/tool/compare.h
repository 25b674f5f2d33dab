// Two files of lines, value by value, whatever machines they come from.
#ifndef ELC_TOOL_COMPARE_H
#define ELC_TOOL_COMPARE_H

#include <stdint.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace elc::tool {

struct CompareOptions {
  double tolerance = 0;             // floating-point values are the same if they differ by so much of the larger one
  std::vector<std::string> only;    // variables, by name; nothing else is compared then. Empty: all, and what else there is
  std::vector<std::string> without; // variables to leave out
  bool without_pending = false;     // and what operations that are pending are to write: it may have come, or a part of it

  bool wants(const std::string& variable) const;
};

// Where two values differ, and both.
struct Pair {
  std::string place;  // "[3].x"; "" in a lone scalar
  std::string a, b;
};

// What differs between two files: a variable, a block of the heap, a message ...
struct Difference {
  std::string what;           // "variable", "heap block", "message", "pending receive", "file", "MPI" ...
  std::string name;
  std::string owner;          // of a variable: its function; empty: a global
  std::string type;
  std::string note;           // what is different about it, besides values or instead of them
  uint64_t values = 0;        // that were compared
  uint64_t different = 0;     // of these
  uint64_t floating = 0;      // of the different ones: floating-point values
  std::optional<Pair> first;
  std::optional<Pair> largest;     // of those with a distance
  long double distance = 0;        // of the largest
  bool only_floating() const { return note.empty() && different > 0 && floating == different; }
};

struct Comparison {
  std::string a, b;                        // the files
  uint64_t values = 0;                     // that were compared
  uint64_t within = 0;                     // of these: different, but within the tolerance
  std::vector<Difference> differences;     // in the order of the files
  std::vector<std::string> not_compared;   // what cannot be, and why
};

// Throws Refusal where a file cannot be read.
Comparison compare_files(const std::string& a, const std::string& b, const CompareOptions& options);

// "sum (double) in solve()" and what is different about it: for people, on one line and up to two more, indented.
std::string text_of(const Difference& difference);
nlohmann::json facts_of(const Comparison& comparison);

}  // namespace elc::tool

#endif
