#include "job.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <system_error>

#include "processes.h"
#include "text.h"

namespace elc::tool {
namespace {

constexpr unsigned kLastGrace = 2;  // seconds, when `elc` is gone

void on_child(int) {}

// In the new process: the program of the launcher, in a process group of its own, so that signals from
// a terminal reach it only through `elc`.
[[noreturn]] void become_launcher(const Command& command, const Streams& streams, pid_t keeper) {
  setpgid(0, 0);
  if (command.same_addresses) keep_addresses();
  dup2(streams.in, STDIN_FILENO);
  dup2(streams.out, STDOUT_FILENO);
  dup2(streams.err, STDERR_FILENO);
  for (const int sign : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE, SIGTSTP, SIGCHLD})
    signal(sign, SIG_DFL);
  signal(SIGTTOU, SIG_IGN);  // where `stty tostop` holds, what such a group writes would stop it for ever
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  end_with_parent(keeper);  // who kills all processes called elc kills the keeper, too
  for (const auto& [name, value] : command.environment) setenv(name.c_str(), value.c_str(), 1);
  if (!command.directory.empty() && chdir(command.directory.c_str()) != 0) {
    fprintf(stderr, "elc: cannot work in %s: %s\n", command.directory.c_str(), strerror(errno));
    _exit(126);
  }
  std::vector<char*> words;
  for (const std::string& word : command.words) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  fprintf(stderr, "elc: cannot start %s: %s\n", words[0], strerror(errno));
  _exit(127);
}

class Keeper {
 public:
  explicit Keeper(int line) : line_(line) {}

  [[noreturn]] void run(const Command& command, const Streams& streams) {
    prepare();
    if (streams.other_end_of_in >= 0) close(streams.other_end_of_in);
    const pid_t keeper = getpid();
    launcher_ = fork();
    if (launcher_ == 0) become_launcher(command, streams, keeper);
    if (launcher_ < 0) fprintf(stderr, "elc: cannot start a process: %s\n", strerror(errno));
    for (const int fd : {streams.in, streams.out, streams.err}) close(fd);
    // To a number that select knows: more than 1024 descriptors may be open.
    dup2(line_, STDIN_FILENO);
    close(line_);
    line_ = STDIN_FILENO;
    tell(&launcher_, sizeof launcher_);
    if (launcher_ > 0) {
      setpgid(launcher_, launcher_);
      while (!reap() && (deadline_ == 0 || now() < deadline_)) listen();
      finish();
    }
    _exit(tell(&status_, sizeof status_) ? 0 : 1);
  }

 private:
  bool tell(const void* data, size_t size) { return write(line_, data, size) == static_cast<ssize_t>(size); }

  // In a group of its own, deaf to what ends the others, and the parent of the job's orphans.
  void prepare() {
    setpgid(0, 0);
    for (const int sign : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGPIPE, SIGTSTP})
      signal(sign, SIG_IGN);
    struct sigaction action = {};
    action.sa_handler = on_child;
    sigaction(SIGCHLD, &action, nullptr);
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, nullptr);
    adopt_orphans();
  }

  // Buries the dead; true once the launcher is among them.
  bool reap() {
    int status = 0;
    for (pid_t process; (process = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (process != launcher_) continue;
      status_ = status;
      reaped_ = true;
    }
    return reaped_;
  }

  // Waits for a word of `elc` - the seconds of grace - or a child's death.
  void listen() {
    fd_set read_set;
    FD_ZERO(&read_set);
    if (!deaf_) FD_SET(line_, &read_set);
    sigset_t none;
    sigemptyset(&none);
    const struct timespec second = {1, 0};
    if (pselect(line_ + 1, &read_set, nullptr, nullptr, deadline_ != 0 ? &second : nullptr, &none) <= 0)
      return;
    unsigned char grace = 0;
    const ssize_t n = read(line_, &grace, 1);
    if (n < 0) return;
    if (n == 0) deaf_ = true;  // `elc` is gone
    kill(-launcher_, SIGTERM);
    kill(-launcher_, SIGCONT);
    const uint64_t deadline = now() + uint64_t{n == 0 ? kLastGrace : grace} * 1000000;
    if (deadline_ == 0 || deadline < deadline_) deadline_ = deadline;
  }

  void finish() {
    kill(-launcher_, SIGKILL);
    if (!reaped_) waitpid(launcher_, &status_, 0);
    kill_descendants();
  }

  int line_;
  pid_t launcher_ = 0;
  int status_ = kNotStarted;
  bool reaped_ = false;
  uint64_t deadline_ = 0;
  bool deaf_ = false;
};

}  // namespace

Job::~Job() {
  if (line_ < 0) return;
  end(1);
  while (!ended()) {
    struct pollfd keeper = {line_, POLLIN, 0};
    poll(&keeper, 1, -1);
  }
}

void Job::start(const Command& command, const Streams& streams) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    throw std::system_error(errno, std::generic_category(), "cannot start a process");
  fcntl(ends[0], F_SETFD, FD_CLOEXEC);
  fcntl(ends[1], F_SETFD, FD_CLOEXEC);
  fflush(nullptr);
  keeper_ = fork();
  if (keeper_ < 0) {
    const int error = errno;
    close(ends[0]);
    close(ends[1]);
    throw std::system_error(error, std::generic_category(), "cannot start a process");
  }
  if (keeper_ == 0) {
    close(ends[0]);
    Keeper(ends[1]).run(command, streams);
  }
  close(ends[1]);
  line_ = ends[0];
  // The keeper's first word; without it, it has died, and ended() sees that.
  if (read(line_, &launcher_, sizeof launcher_) != sizeof launcher_) launcher_ = 0;
  fcntl(line_, F_SETFL, O_NONBLOCK);
}

std::optional<int> Job::ended() {
  int status = 0;
  const ssize_t n = read(line_, &status, sizeof status);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  // A keeper that died without a word was killed; what it kept is now below this process.
  if (n != sizeof status) {
    kill_descendants();
    status = SIGKILL;
  }
  close(line_);
  line_ = -1;
  waitpid(keeper_, nullptr, 0);
  return status;
}

void Job::end(int grace) {
  const unsigned char seconds = static_cast<unsigned char>(grace);
  if (line_ >= 0 && send(line_, &seconds, 1, MSG_NOSIGNAL) < 0 && errno != EPIPE) return;
}

}  // namespace elc::tool
