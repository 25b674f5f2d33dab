// A variable of a line as a picture.
#ifndef ELC_TOOL_PLOT_H
#define ELC_TOOL_PLOT_H

#include <stdint.h>

#include <string>

namespace elc::tool {

struct PlotOptions {
  std::string what, dir, variable;  // as of `elc export`
  std::string output;               // a file in PNG, by gnuplot; empty: in the terminal
  int64_t rank = -1;
};
int plot(const PlotOptions& options);

}  // namespace elc::tool

#endif
