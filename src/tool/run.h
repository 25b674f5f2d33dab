// `elc run`: starts a job, watches it, and restarts it from its newest whole line.
#ifndef ELC_TOOL_RUN_H
#define ELC_TOOL_RUN_H

#include <string>
#include <vector>

namespace elc::tool {

struct RunOptions {
  unsigned ranks = 0;  // 0: those of the line, or one for each processor
  std::string dir;
  std::string every, mtbf, keep;  // empty: as the environment has it
  std::string from = "auto";      // auto, no, or a line's number
  unsigned max_restarts = 5;      // in a row without a new line
  unsigned grace = 25;            // seconds for a last line after SIGTERM
  std::string stall;              // for how long nothing of the job may move; empty: for ever
  std::string output;             // a file for the standard output of the ranks; empty: it goes where that of elc run goes
  std::string launcher, mpi;
  bool json = false, quiet = false;
  std::vector<std::string> program;
};

int run(const RunOptions& options);

}  // namespace elc::tool

#endif
