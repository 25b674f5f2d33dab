// One attempt to run the program: a launcher and all that descends from it. It runs under a keeper, a
// small process between `elc` and the launcher, which ends the job when `elc` itself is killed.
#ifndef ELC_TOOL_JOB_H
#define ELC_TOOL_JOB_H

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace elc::tool {

struct Command {
  std::vector<std::string> words;
  std::map<std::string, std::string> environment;  // in addition to that of `elc`
  bool marks_end = false;       // the program is known to be linked with libELC, which says when it has finished
  bool only_launches = false;   // the launcher is an MPI's: it has nothing to do when all ranks have ended
  bool only_below = false;      // and whatever it starts stays below it, or has a process there that stands for it
  std::string rank_variable;    // of the environment of each rank: its number
  std::string directory;        // where it works; empty: here
  bool same_addresses = false;  // in each run, where the system can do that
  std::string clean_up;         // for the shell, between two attempts: what the MPI leaves behind when it is killed; or empty
  std::string proxy;            // name of a program that the launcher may keep between itself and ranks; empty: none
};

// Descriptors that are to be its standard input, output and error, and the other end of a pipe to its input, which it must
// not hold itself (-1: none).
struct Streams {
  int in, out, err;
  int other_end_of_in;
};

constexpr int kNotStarted = 126 << 8;  // the wait status of a launcher that there was no process for

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();  // ends it at once

  // Starts it; throws std::system_error if there can be no new process. A launcher that cannot be executed ends with exit
  // code 127 and says why.
  void start(const Command& command, const Streams& streams);
  // The processes that it consists of on this machine, while it runs: all others are below these two.
  pid_t keeper() const { return keeper_; }
  pid_t launcher() const { return launcher_; }
  // Becomes readable when there is something for ended() to see.
  int descriptor() const { return line_; }
  // The wait status of the launcher once nothing of the job is left.
  std::optional<int> ended();
  // Asks for its end: SIGTERM to the launcher, which knows best how to end ranks, and after `grace`
  // seconds SIGKILL to all that is left.
  void end(int grace);

 private:
  int line_ = -1;  // to the keeper
  pid_t keeper_ = 0;
  pid_t launcher_ = 0;  // a child of the keeper; the keeper's other children are orphans
};

}  // namespace elc::tool

#endif
