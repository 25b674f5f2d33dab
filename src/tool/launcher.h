// Which MPI a program belongs to, and how its launcher is called.
#ifndef ELC_TOOL_LAUNCHER_H
#define ELC_TOOL_LAUNCHER_H

#include <string>
#include <vector>

#include "job.h"

namespace elc::tool {

// The file that a shell would execute under this name; empty if there is none.
std::string find_program(const std::string& name);

struct LaunchRequest {
  std::string launcher;  // the user's command, empty: found by the MPI
  std::string mpi;       // empty: found by the names of libraries in the program; that of this build for a script
  unsigned ranks = 1;
  std::vector<std::string> program;  // with its arguments
};

// The command line: LAUNCHER -n RANKS PROGRAM ARGUMENTS, with what the MPI at hand needs besides: as many
// ranks as asked for whatever the number of processors, root, and the ELC_ variables of `environment` on
// every node. {n} in the user's command stands for the number of ranks and replaces -n. Throws
// std::runtime_error, with what to do, if no launcher is found.
Command launch_command(const LaunchRequest& request, const std::map<std::string, std::string>& environment);

// Words of a command line: blanks separate, quotes and backslashes keep together.
std::vector<std::string> split_words(const std::string& text);

unsigned processors();

}  // namespace elc::tool

#endif
