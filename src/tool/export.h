// Variables of a line for other programs, and as pictures.
#ifndef ELC_TOOL_EXPORT_H
#define ELC_TOOL_EXPORT_H

#include <stdint.h>

#include <string>
#include <utility>
#include <vector>

namespace elc::tool {

// What an element of an array is, and how its bytes lie: little-endian, without padding.
struct Layout {
  struct Field;
  enum class What { kBool, kSigned, kUnsigned, kChar, kFloat, kComplex, kStruct } what = What::kUnsigned;
  uint64_t width = 0;  // bytes
  std::vector<Field> fields;
};
struct Layout::Field {
  std::string name;
  Layout layout;
  uint64_t count = 1;  // elements, one behind the other
};

// A variable of one rank, or of several that were joined.
struct Array {
  Layout layout;
  std::vector<uint64_t> shape;  // the last extent is that of neighbours
  std::string bytes;

  uint64_t elements() const;
};

// What there is of a line, by the ranks in `ranks`. `what`: a line's number (in `dir`) or directory, or a file of a line;
// `rank` -1: all. `variable`: its name, or FUNCTION.NAME. A pointer to a block of the heap is the block. Throws Refusal.
struct Ranks {
  uint64_t line = 0;
  std::vector<std::pair<uint32_t, std::string>> files;
};
Ranks ranks_of(const std::string& what, const std::string& dir, int64_t rank);
Array load(const std::string& file, const std::string& variable);
// Arrays that differ in no extent but that of `axis`, one behind the other there. A scalar counts as an array of one.
Array join(const std::vector<Array>& parts, uint64_t axis);
// An element that is a number; of a complex one the absolute value.
double number(const Layout& layout, const char* at);

struct ExportOptions {
  std::string what, dir, variable, format, output;
  int64_t rank = -1, axis = -1;  // -1: all, each by itself
};
int export_variable(const ExportOptions& options);

}  // namespace elc::tool

#endif
