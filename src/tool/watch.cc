#include "watch.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/config.h"
#include "content.h"
#include "text.h"

namespace elc::tool {
namespace {

constexpr uint64_t kLookEvery = 400 * 1000;  // microseconds between looks, at least
constexpr uint64_t kLookShare = 100;         // a look may take one part in so many of the time
constexpr uint64_t kLookAtMost = 2000000;    // microseconds; Span wants some looks in its length
constexpr uint64_t kBusyShare = 10;          // who uses less than one part in so many of a processor is quiet

std::string variable_in(const std::string& environment, const std::string& name) {
  const std::string begin = '\0' + name + '=';
  const size_t at = environment.find(begin);
  return at == std::string::npos ? "" : environment.c_str() + at + begin.size();
}

// Whoever reads our output reads slowly: the launcher, which has it too, may be waiting for that.
bool output_is_stuck() {
  struct pollfd outputs[] = {{STDOUT_FILENO, POLLOUT, 0}, {STDERR_FILENO, POLLOUT, 0}};
  if (poll(outputs, 2, 0) < 0) return true;
  return std::any_of(std::begin(outputs), std::end(outputs), [](const pollfd& output) { return output.revents == 0; });
}

}  // namespace

// -1: it is no rank of this job. What a rank starts has its variables, too.
int Watch::rank_of(pid_t process) const {
  const std::string environment = '\0' + content_of("/proc/" + std::to_string(process) + "/environ");
  if (variable_in(environment, "ELC_DIR") != command_.environment.at("ELC_DIR")) return -1;
  uint64_t rank = 0;
  return parse_whole(variable_in(environment, command_.rank_variable).c_str(), &rank) && rank < ranks_
             ? static_cast<int>(rank)
             : -1;
}

// Did one of them use its tenth of a processor since the last measurement?
bool Watch::busy(const Processes& all, const Numbers& some, uint64_t time) const {
  return std::any_of(some.begin(), some.end(), [&](pid_t number) {
    const Process& process = all.at(number);
    const auto before = used_.find({number, process.born});
    const uint64_t used = process.used - (before == used_.end() ? 0 : std::min(before->second, process.used));
    return process.stopped() || used * kBusyShare > time - measured_;
  });
}

// An MPI's launcher that has no living process below itself and does not end. It is stuck when it leaves its dead
// unburied, when every rank was here, or when it has buried what it had and starts nothing by other means: ranks that
// were started so may live elsewhere.
bool Watch::deserted(const Processes& all, const Job& job, const Numbers& of_launcher, const Numbers& ranks) const {
  const auto launcher = all.find(job.launcher());
  if (!command_.only_launches || launcher == all.end() || launcher->second.dead() || launcher->second.stopped() ||
      !ranks.empty() || output_is_stuck())
    return false;
  bool unburied = false;
  for (const pid_t number : of_launcher) {
    const Process& process = all.at(number);
    if (!process.dead() && (command_.proxy.empty() || process.name != command_.proxy)) return false;
    unburied = unburied || (process.dead() && process.parent == job.launcher());
  }
  return unburied || saw_all_ranks() || (command_.only_below && launcher->second.has_buried);
}

void Watch::measure(const Processes& all, const Numbers& ranks, uint64_t time) {
  Numbers left;
  for (const auto& [number, name] : left_) left.insert(number);
  quiet_.note(saw_all_ranks() && !ranks.empty() && !busy(all, ranks, time), time);
  left_quiet_.note(!left.empty() && !busy(all, left, time), time);
  used_.clear();
  for (const Numbers& some : {ranks, left})
    for (const pid_t number : some) used_[{number, all.at(number).born}] = all.at(number).used;
  measured_ = time;
}

void Watch::look(const Job& job) {
  const uint64_t time = now();
  if (time < next_look_) return;
  const Processes all = processes();
  const std::vector<pid_t> below = descendants(all, job.launcher()), kept = descendants(all, job.keeper());
  const Numbers of_launcher(below.begin(), below.end());
  left_.clear();
  for (const pid_t number : kept)
    if (number != job.launcher() && !of_launcher.contains(number) && !all.at(number).dead())
      left_[number] = all.at(number).name;
  Numbers ranks;
  const auto launcher = all.find(job.launcher());
  const uint64_t born = launcher == all.end() ? UINT64_MAX : launcher->second.born;  // ranks are younger
  for (const auto& [number, process] : all) {
    if (process.dead() || process.born < born || number == job.launcher()) continue;
    const int rank = rank_of(number);
    if (rank < 0) continue;
    seen_.insert(rank);
    if (!left_.contains(number)) ranks.insert(number);
  }
  deserted_.note(deserted(all, job, of_launcher, ranks), time);
  if (measured_ == 0 || time - measured_ >= window_) measure(all, ranks, time);
  next_look_ = time + std::clamp((now() - time) * kLookShare, kLookEvery, kLookAtMost);
}

}  // namespace elc::tool
