// The processes of a job, however they were started.
#ifndef ELC_TOOL_PROCESSES_H
#define ELC_TOOL_PROCESSES_H

#include <stdint.h>
#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

namespace elc::tool {

// From now on orphans among the descendants of this process become its children, where the system has
// such a thing (Linux; found by the build). Elsewhere orphans are out of reach unless their parents are
// killed after them.
void adopt_orphans();

// From now on this process, and the program that it becomes, gets SIGTERM when `parent` dies, where the system has such a
// thing (Linux; found by the build).
void end_with_parent(pid_t parent);

// From now on this process, and what it starts, has everything at the same addresses in each run, where the system has such a
// thing (Linux; found by the build) and allows it.
void keep_addresses();

struct Process {
  pid_t parent = 0;
  std::string name;   // of its program, cut by the system
  char state = '?';   // as ps shows it
  uint64_t born = 0;  // when, to tell it from a later one with the same number
  uint64_t used = 0;  // microseconds of processor time, with that of the children that it has buried
  bool has_buried = false;  // children
  bool dead() const { return state == 'Z' || state == 'X'; }
  bool stopped() const { return state == 'T' || state == 't'; }
};
using Processes = std::map<pid_t, Process>;

// All that there are on this machine: from /proc, or from ps, which tells the parents alone.
Processes processes();

// Those that descend from `ancestor`, zombies included; parents first.
std::vector<pid_t> descendants(const Processes& all, pid_t ancestor);

// Kills all descendants and waits until none is left.
void kill_descendants();

}  // namespace elc::tool

#endif
