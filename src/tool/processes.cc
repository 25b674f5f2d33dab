#include "processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>

#if defined(ELC_HAVE_SUBREAPER) || defined(ELC_HAVE_PDEATHSIG)
#include <sys/prctl.h>
#endif

#if defined(ELC_HAVE_PERSONALITY)
#include <sys/personality.h>
#endif

#include "content.h"

namespace fs = std::filesystem;

namespace elc::tool {
namespace {

// The name stands in parentheses and may hold anything; what follows it are one letter and numbers.
bool read_process(const fs::path& place, Process* process) {
  const std::string line = content_of(place / "stat");
  const size_t begin = line.find('('), end = line.rfind(')');
  if (begin == std::string::npos || end == std::string::npos) return false;
  int parent = 0;
  unsigned long long used[4] = {}, born = 0, faults_of_buried = 0;
  if (sscanf(line.c_str() + end + 1,
             " %c %d %*d %*d %*d %*d %*u %*u %llu %*u %*u %llu %llu %llu %llu %*d %*d %*d %*d %llu", &process->state,
             &parent, &faults_of_buried, &used[0], &used[1], &used[2], &used[3], &born) != 8)
    return false;
  process->has_buried = faults_of_buried != 0;  // no process lives without a page fault
  static const auto ticks = static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  process->name = line.substr(begin + 1, end - begin - 1);
  process->parent = parent;
  process->born = born;
  process->used = (used[0] + used[1] + used[2] + used[3]) * 1000000 / ticks;
  return true;
}

Processes processes_from_proc() {
  Processes all;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t number = 0;
    const auto [stop, bad] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (bad != std::errc() || *stop != '\0') continue;
    Process process;
    if (read_process(at->path(), &process)) all[number] = process;
  }
  return all;
}

Processes processes_from_ps() {
  Processes all;
  FILE* list = popen("ps -A -o pid= -o ppid=", "r");
  if (list == nullptr) return all;
  long number = 0, parent = 0;
  while (fscanf(list, "%ld %ld", &number, &parent) == 2)
    all[static_cast<pid_t>(number)].parent = static_cast<pid_t>(parent);
  pclose(list);
  return all;
}

}  // namespace

void keep_addresses() {
#if defined(ELC_HAVE_PERSONALITY)
  const int now = personality(0xffffffff);
  if (now >= 0) personality(static_cast<unsigned long>(now) | ADDR_NO_RANDOMIZE);
#endif
}

void adopt_orphans() {
#ifdef ELC_HAVE_SUBREAPER
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

void end_with_parent([[maybe_unused]] pid_t parent) {
#ifdef ELC_HAVE_PDEATHSIG
  prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
  if (getppid() != parent) raise(SIGTERM);  // it has died before
#endif
}

Processes processes() {
  const Processes all = processes_from_proc();
  return all.empty() ? processes_from_ps() : all;
}

std::vector<pid_t> descendants(const Processes& all, pid_t ancestor) {
  std::map<pid_t, std::vector<pid_t>> children;
  for (const auto& [number, process] : all) children[process.parent].push_back(number);
  std::vector<pid_t> found = children[ancestor];
  for (size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t> more = children[found[i]];
    found.insert(found.end(), more.begin(), more.end());
  }
  return found;
}

void kill_descendants() {
  for (;;) {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const std::vector<pid_t> left = descendants(processes(), getpid());
    if (left.empty()) return;
    for (const pid_t process : left) kill(process, SIGKILL);
    // A dying process takes its time; another may have been born meanwhile.
    struct timeval moment = {0, 10000};
    select(0, nullptr, nullptr, nullptr, &moment);
  }
}

}  // namespace elc::tool
