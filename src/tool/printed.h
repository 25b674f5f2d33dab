// What a program prints after a restart, beside what it prints without a failure. Programs print what runs take, too, which
// differs each time; that is told from what they compute.
#ifndef ELC_TOOL_PRINTED_H
#define ELC_TOOL_PRINTED_H

#include <string>

namespace elc::tool {

struct PrintedOtherwise {
  std::string what;            // the first line that is, as of a rank: "prints: ..."; "" for nothing
  std::string taken_for_time;  // the first line before that which differs after the restart alone, and not in what it computes
};

// Of two runs without a failure and of the restart, what they print behind the line. Where the first two print as many lines, that
// is; otherwise nothing is judged.
PrintedOtherwise compare_printed(const std::string& first, const std::string& second, const std::string& restarted);

}  // namespace elc::tool

#endif
