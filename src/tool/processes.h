// The processes of a job, however they were started.
#ifndef ELC_TOOL_PROCESSES_H
#define ELC_TOOL_PROCESSES_H

#include <sys/types.h>

#include <vector>

namespace elc::tool {

// From now on orphans among the descendants of this process become its children, where the system has
// such a thing (Linux; found by the build). Elsewhere orphans are out of reach unless their parents are
// killed after them.
void adopt_orphans();

// The processes that descend from this one, zombies included; parents first. From /proc, or from ps.
std::vector<pid_t> descendants();

// Kills all descendants and waits until none is left.
void kill_descendants();

}  // namespace elc::tool

#endif
