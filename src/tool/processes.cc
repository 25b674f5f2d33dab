#include "processes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#ifdef ELC_HAVE_SUBREAPER
#include <sys/prctl.h>
#endif

namespace fs = std::filesystem;

namespace elc::tool {
namespace {

using Children = std::map<pid_t, std::vector<pid_t>>;

// The parent is the second word after the name, which stands in parentheses and may hold anything.
pid_t parent_of(const fs::path& process) {
  std::ifstream in(process / "stat");
  std::string line;
  std::getline(in, line);
  const size_t end = line.rfind(')');
  int parent = 0;
  if (end == std::string::npos || sscanf(line.c_str() + end + 1, " %*c %d", &parent) != 1) return 0;
  return parent;
}

Children children_from_proc() {
  Children children;
  std::error_code error;
  for (fs::directory_iterator at("/proc", error), end; !error && at != end; at.increment(error)) {
    const std::string name = at->path().filename();
    pid_t process = 0;
    const auto [stop, bad] = std::from_chars(name.data(), name.data() + name.size(), process);
    if (bad != std::errc() || *stop != '\0') continue;
    if (const pid_t parent = parent_of(at->path()); parent > 0) children[parent].push_back(process);
  }
  return children;
}

Children children_from_ps() {
  Children children;
  FILE* list = popen("ps -A -o pid= -o ppid=", "r");
  if (list == nullptr) return children;
  long process = 0, parent = 0;
  while (fscanf(list, "%ld %ld", &process, &parent) == 2)
    children[static_cast<pid_t>(parent)].push_back(static_cast<pid_t>(process));
  pclose(list);
  return children;
}

}  // namespace

void adopt_orphans() {
#ifdef ELC_HAVE_SUBREAPER
  prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
#endif
}

std::vector<pid_t> descendants() {
  Children children = children_from_proc();
  if (children.empty()) children = children_from_ps();
  std::vector<pid_t> found = children[getpid()];
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
    const std::vector<pid_t> left = descendants();
    if (left.empty()) return;
    for (const pid_t process : left) kill(process, SIGKILL);
    // A dying process takes its time; another may have been born meanwhile.
    struct timeval moment = {0, 10000};
    select(0, nullptr, nullptr, nullptr, &moment);
  }
}

}  // namespace elc::tool
