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
};

class Job {
 public:
  Job() = default;
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;
  ~Job();  // ends it at once

  // Starts it; throws std::system_error if there can be no new process. `out` and `err`: descriptors
  // for its output. A launcher that cannot be executed ends with exit code 127 and says why.
  void start(const Command& command, int out, int err);
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
};

}  // namespace elc::tool

#endif
