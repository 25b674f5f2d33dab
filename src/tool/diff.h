// `elc diff`: two lines, files or directories of lines, value by value.
#ifndef ELC_TOOL_DIFF_H
#define ELC_TOOL_DIFF_H

#include <stdint.h>

#include <string>
#include <vector>

#include "compare.h"

namespace elc::tool {

// Exit codes, as diff has them.
constexpr int kSame = 0, kDiffer = 1, kTrouble = 2;

struct DiffOptions {
  std::string a, b;                // lines by number or directory, files, or directories of lines
  std::string dir;                 // for numbers
  std::vector<uint64_t> ranks;     // empty: all
  CompareOptions compare;
  bool json = false;
};

// Throws Refusal where there is trouble.
int diff(const DiffOptions& options);

}  // namespace elc::tool

#endif
