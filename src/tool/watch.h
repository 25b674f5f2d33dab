// What can be seen of a job from outside: its processes on this machine. Ranks on other machines are not seen, so
// nothing is concluded about a job before every rank of it has been seen here, or the launcher shows by itself that
// it is stuck. Where the system does not tell enough (no /proc), nothing is ever concluded.
#ifndef ELC_TOOL_WATCH_H
#define ELC_TOOL_WATCH_H

#include <stdint.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "job.h"
#include "processes.h"

namespace elc::tool {

// Since when something has been so, at every look: for one who waits until that is `length` microseconds. Who has not
// looked for half of that was stopped, perhaps with all the others, and begins again.
class Span {
 public:
  explicit Span(uint64_t length) : most_between_(std::max(length / 2, uint64_t{2000000})) {}
  void note(bool so, uint64_t time) {
    if (!so) begin_ = end_ = 0;
    else if (begin_ == 0 || time - end_ > most_between_) begin_ = end_ = time;
    else end_ = time;
  }
  void forget() { begin_ = end_ = 0; }
  uint64_t length() const { return end_ - begin_; }

 private:
  uint64_t most_between_;
  uint64_t begin_ = 0, end_ = 0;
};

class Watch {
 public:
  // The lengths, in microseconds, that deserted() and left_quiet(), and quiet(), are wanted for.
  Watch(const Command& command, unsigned ranks, uint64_t deserted, uint64_t quiet)
      : command_(command), ranks_(ranks), window_(std::min(quiet / 10, kLongestWindow)), deserted_(deserted),
        quiet_(quiet), left_quiet_(deserted) {}

  void look(const Job& job);
  // Something was seen elsewhere, or done: whatever lasts begins anew.
  void moved() {
    deserted_.forget();
    quiet_.forget();
    left_quiet_.forget();
  }

  bool saw_all_ranks() const { return seen_.size() == ranks_; }
  // For how long no rank has lived although the launcher goes on; microseconds.
  uint64_t deserted() const { return deserted_.length(); }
  // For how long all ranks that live have used less than a tenth of a processor each.
  uint64_t quiet() const { return quiet_.length(); }
  // Processes that ranks which have ended have left; and for how long these have been as quiet.
  const std::map<pid_t, std::string>& left() const { return left_; }
  uint64_t left_quiet() const { return left_quiet_.length(); }

 private:
  using Numbers = std::set<pid_t>;
  static constexpr uint64_t kLongestWindow = 2000000;

  int rank_of(pid_t process) const;
  bool deserted(const Processes& all, const Job& job, const Numbers& of_launcher, const Numbers& ranks) const;
  bool busy(const Processes& all, const Numbers& some, uint64_t time) const;
  void measure(const Processes& all, const Numbers& ranks, uint64_t time);

  const Command& command_;
  unsigned ranks_;
  uint64_t window_;  // microseconds over which the use of processors is measured
  std::set<int> seen_;  // ranks
  std::map<pid_t, std::string> left_;
  Span deserted_, quiet_, left_quiet_;
  uint64_t next_look_ = 0;
  uint64_t measured_ = 0;                                // when
  std::map<std::pair<pid_t, uint64_t>, uint64_t> used_;  // processor time by then, of a process and its birth
};

}  // namespace elc::tool

#endif
