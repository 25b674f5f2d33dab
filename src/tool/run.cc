#include "run.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>

#include "base/config.h"
#include "job.h"
#include "launcher.h"
#include "lines.h"
#include "processes.h"
#include "terminal.h"
#include "text.h"

namespace elc::tool {
namespace {

using nlohmann::json;

constexpr int kJobGrace = 5;             // seconds that the launcher gets to end its ranks
constexpr int kKeeperTakes = 5000;       // milliseconds, at most, to end what a killed elc run has left
constexpr int kLookEvery = 400;          // milliseconds between looks at the directory
constexpr uint64_t kAskAgain = 2000000;  // microseconds; a job that is starting may not listen yet

// What signals have asked for. The handlers only count.
volatile sig_atomic_t term_signals = 0, end_signal = 0, line_signals = 0;

void on_signal(int number) {
  if (number == SIGTERM) term_signals = term_signals + 1;
  if (number == SIGUSR1) line_signals = line_signals + 1;
  if (number == SIGINT || number == SIGHUP) end_signal = number;
}

// The signals stay blocked but while the loop waits, so that none is missed between a look and a wait.
sigset_t catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  sigset_t blocked, before;
  sigemptyset(&blocked);
  for (const int number : {SIGTERM, SIGUSR1, SIGINT, SIGHUP}) {
    struct sigaction old = {};
    sigaction(number, nullptr, &old);
    if (number == SIGHUP && old.sa_handler == SIG_IGN) continue;  // nohup
    sigaction(number, &action, nullptr);
    sigaddset(&blocked, number);
  }
  signal(SIGPIPE, SIG_IGN);
  sigprocmask(SIG_BLOCK, &blocked, &before);
  for (const int number : {SIGTERM, SIGUSR1, SIGINT, SIGHUP}) sigdelset(&before, number);
  return before;
}

std::string line_name(uint64_t line) { return "line " + std::to_string(line); }

// The exit code that a shell would see.
int exit_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

std::string describe(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return "its launcher was killed by signal " + std::to_string(WTERMSIG(wait_status));
  return "exit code " + std::to_string(WEXITSTATUS(wait_status));
}

class Supervisor {
 public:
  explicit Supervisor(const RunOptions& options)
      : options_(options), terminal_(options.json, options.quiet), waiting_mask_(catch_signals()) {}

  int run();

 private:
  // What became of one attempt.
  struct End {
    int status = 0;         // of the launcher
    bool finished = false;  // the program ended by itself
    bool has_line = false;  // a line committed after the end was asked for
  };

  void prepare();
  void wait_for_job();
  void check_settings();
  uint64_t first_line();
  uint64_t newest_whole(uint64_t line);
  void say_start(uint64_t line);
  Command command(uint64_t line);
  End attempt(uint64_t line);
  void wait(Job* job);
  void handle_signals(Job* job);
  void look();
  void say_commit(const store::Line& line);
  int stop(const End& end);
  bool asked_to_end() const { return end_signal != 0 || term_signals > 0; }
  std::optional<int> last_code(const End& end);
  std::string progress() const;

  const RunOptions& options_;
  Terminal terminal_;
  sigset_t waiting_mask_;
  std::string dir_;
  std::map<std::string, std::string> settings_;  // of the ranks
  store::Lock lock_;
  unsigned ranks_ = 0;
  uint64_t floor_ = 0;          // the highest line before this command: newer ones are of its own runs
  uint64_t finished_ = 0;       // lines up to this one are of runs that finished before this command
  uint64_t start_ = 0;          // the line of the first attempt
  uint64_t newest_ = 0;         // committed line
  uint64_t size_ = 0;           // of the newest
  uint64_t newest_before_ = 0;  // the newest line when the attempt began
  uint64_t before_finish_ = 0;  // the run that had finished last when the attempt began
  unsigned in_a_row_ = 0;       // restarts without a new line
  unsigned restarts_ = 0;
  // Of the attempt that runs:
  bool stopping_ = false;
  bool end_asked_ = false;
  int hurried_ = 0;
  int lines_asked_ = 0;
  uint64_t stop_since_ = 0;  // the newest line when the end was asked for
  uint64_t deadline_ = 0, ask_again_ = 0;
  bool too_late_ = false;
};

void Supervisor::prepare() {
  if (options_.dir.empty()) throw Refusal(kUsage, "--dir is empty: name a directory for lines");
  dir_ = std::filesystem::absolute(options_.dir).lexically_normal().string();
  while (dir_.size() > 1 && dir_.back() == '/') dir_.pop_back();
  check_settings();
  Status status = store::prepare(dir_.c_str());
  if (!status.ok()) throw Refusal(kCannot, status.message());
  status = lock_.take(dir_.c_str(), "elc.lock");
  if (!status.ok()) throw Refusal(kCannot, status.message());
  wait_for_job();
  adopt_orphans();
  const store::Survey there = survey(dir_);
  floor_ = there.highest;
  finished_ = there.finished;
  newest_ = there.newest;
  if (newest_ > 0) size_ = line_size(dir_, newest_);
}

// A job whose elc run was killed is ended by its keeper in a moment (processes.h); any other gets as long to end.
void Supervisor::wait_for_job() {
  const struct timespec moment = {0, 50 * 1000000L};
  for (const uint64_t until = now() + kKeeperTakes * 1000;; nanosleep(&moment, nullptr)) {
    store::Lock job;
    const Status status = job.take(dir_.c_str(), "job.lock");
    if (status.ok()) return;
    if (now() >= until) throw Refusal(kCannot, status.message());
  }
}

// A setting that the ranks would refuse is refused here, once and before anything starts.
void Supervisor::check_settings() {
  settings_["ELC_DIR"] = dir_;
  if (!options_.every.empty()) settings_["ELC_EVERY"] = options_.every;
  if (!options_.mtbf.empty()) settings_["ELC_MTBF"] = options_.mtbf;
  if (!options_.keep.empty()) settings_["ELC_KEEP"] = options_.keep;
  for (const auto& [name, value] : settings_) setenv(name.c_str(), value.c_str(), 1);
  Config config;
  const Status status = read_config(&config);
  if (!status.ok()) throw Refusal(kUsage, status.message());
  try {
    split_words(options_.launcher);
  } catch (const std::runtime_error& wrong) {
    throw Refusal(kUsage, std::string("--launcher: ") + wrong.what());
  }
  if (options_.launcher.empty() && find_program(options_.program.front()).empty())
    throw Refusal(127, "there is no program " + options_.program.front() + " that can be executed");
}

// The line to begin with, whole, and the number of ranks.
uint64_t Supervisor::first_line() {
  const store::Survey there = survey(dir_);
  uint64_t line = 0;
  if (options_.from == "auto") {
    line = newest_whole(there.restartable());
  } else if (options_.from != "no") {
    if (!parse_whole(options_.from.c_str(), &line) || line == 0)
      throw Refusal(kUsage, "--from " + options_.from + " is not allowed: auto, no, or the number of a line");
    require_line(dir_, line);
    const store::Line* found = there.find(line);
    if (found == nullptr || !found->committed)
      throw Refusal(kDamaged, line_name(line) + " in " + dir_ + " has not committed" +
                                  (found == nullptr || found->damage.empty() ? "" : std::string(": ") + found->damage.c_str()) +
                                  "; `elc ls " + dir_ + "` shows those that have");
    const auto why = faults(dir_, found->commit, 1);
    if (!why.empty()) throw Refusal(kDamaged, line_name(line) + " is not whole: " + why.front());
  }
  ranks_ = options_.ranks;
  if (line > 0) {
    const unsigned of_line = there.find(line)->commit.ranks;
    if (ranks_ != 0 && ranks_ != of_line)
      throw Refusal(kUsage, line_name(line) + " in " + dir_ + " is of " + count_text(of_line, "rank") +
                                ", not " + std::to_string(ranks_) + ": use -n " + std::to_string(of_line) +
                                ", another --dir, or --from no to begin anew");
    ranks_ = of_line;
  }
  if (ranks_ == 0) ranks_ = processors();
  return line;
}

// `line`, or the first one before it in its history that is whole; says which were passed over.
uint64_t Supervisor::newest_whole(uint64_t line) {
  const store::Survey there = survey(dir_);
  bool passed = false;
  auto pass_over = [&](uint64_t number, const std::string& why) {
    terminal_.say("passed-over", "passing over " + line_name(number) + ": " + why,
                  {{"line", number}, {"why", why}});
    passed = true;
  };
  for (size_t i = there.lines.size(); i-- > 0;) {
    const store::Line& other = there.lines[i];
    const bool newer = other.number > line && other.number > finished_;
    if (newer && !other.damage.empty()) pass_over(other.number, other.damage.c_str());
  }
  while (line > 0) {
    const auto why = faults(dir_, there.find(line)->commit, 1);
    if (why.empty()) return line;
    pass_over(line, why.front());
    line = there.predecessor(line);
    if (line <= finished_ && line != start_) line = 0;
  }
  if (passed)
    throw Refusal(kDamaged, "no line in " + dir_ +
                                " is whole; --from no begins anew and leaves them until a new line "
                                "has committed");
  return 0;
}

void Supervisor::say_start(uint64_t line) {
  const json facts = {{"line", line}, {"ranks", ranks_}, {"dir", dir_}, {"restarts", restarts_}};
  const std::string ranks = count_text(ranks_, "rank");
  if (line > 0) {
    const store::Survey there = survey(dir_);
    const double age = static_cast<double>(now() - std::min(now(), there.find(line)->commit.time)) / 1e6;
    const char* what = restarts_ > 0 ? "restarting from " : "continuing from ";
    terminal_.say("start",
                  what + line_name(line) + " of " + dir_ + ", " + seconds_text(age) + " old, on " + ranks,
                  facts);
  } else {
    terminal_.say("start", "starting on " + ranks + "; lines go to " + dir_, facts, restarts_ > 0);
  }
}

Command Supervisor::command(uint64_t line) {
  LaunchRequest request;
  request.launcher = options_.launcher;
  request.mpi = options_.mpi;
  request.ranks = ranks_;
  request.program = options_.program;
  std::map<std::string, std::string> environment = settings_;
  environment["ELC_RESTART"] = line > 0 ? std::to_string(line) : "no";
  return launch_command(request, environment);
}

void Supervisor::say_commit(const store::Line& line) {
  const double cost = static_cast<double>(line.commit.cost) / 1e6;
  size_ = line_size(dir_, line.number);
  if (terminal_.live()) return;
  terminal_.say("line",
                line_name(line.number) + " committed: " + bytes_text(size_) + " in " + seconds_text(cost),
                {{"line", line.number}, {"bytes", size_}, {"cost", cost}}, false);
}

// Looks for new lines.
void Supervisor::look() {
  store::Survey there;
  if (!store::survey(dir_.c_str(), &there).ok()) return;  // a line may be going away just now
  for (const store::Line& line : there.lines) {
    if (!line.committed || line.number <= newest_) continue;
    newest_ = line.number;
    in_a_row_ = 0;
    say_commit(line);
  }
  if (!terminal_.live()) return;
  std::string text = "[elc] running";
  if (const store::Line* line = there.find(there.newest); line != nullptr && line->number > there.finished)
    text = "[elc] " + line_name(line->number) + ", " +
           seconds_text(static_cast<double>((now() - std::min(now(), line->commit.time)) / 1000000)) +
           " ago, " + bytes_text(size_) + " in " + seconds_text(static_cast<double>(line->commit.cost) / 1e6);
  if (restarts_ > 0) text += "; " + count_text(restarts_, "restart");
  terminal_.status(text);
}

void Supervisor::handle_signals(Job* job) {
  const int hurry = end_signal != 0 ? 2 : term_signals;
  if (hurry >= 2 && hurried_ < 2) {
    hurried_ = 2;
    terminal_.say("ending", "ending the job at once");
    job->end(1);
  }
  if (hurry == 1 && !stopping_) {
    stopping_ = true;
    stop_since_ = newest_;
    deadline_ = now() + uint64_t{options_.grace} * 1000000;
    terminal_.say("stopping", "SIGTERM: taking a line, for at most " + count_text(options_.grace, "second") +
                                  ", then ending the job; again to end at once");
  }
  if (line_signals > lines_asked_) {
    lines_asked_ = line_signals;
    store::request(dir_.c_str(), store::Request::kLine).ok();
  }
  if (!stopping_ || end_asked_ || hurried_ > 0) return;
  if (newest_ > stop_since_ || now() >= deadline_) {
    too_late_ = newest_ <= stop_since_;
    end_asked_ = true;
    job->end(kJobGrace);
  } else if (now() >= ask_again_) {
    ask_again_ = now() + kAskAgain;
    const Status status = store::request(dir_.c_str(), store::Request::kStop);
    if (!status.ok()) terminal_.say("problem", status.message());
  }
}

// Waits for output of the job, its end, a signal, or the time for the next look.
void Supervisor::wait(Job* job) {
  fd_set read_set;
  FD_ZERO(&read_set);
  int highest = job->descriptor();
  FD_SET(highest, &read_set);
  for (int channel = 0; channel < 2; ++channel) {
    const int from = terminal_.from(channel);
    if (from < 0) continue;
    FD_SET(from, &read_set);
    highest = std::max(highest, from);
  }
  const struct timespec moment = {0, kLookEvery * 1000000L};
  const int ready = pselect(highest + 1, &read_set, nullptr, nullptr, &moment, &waiting_mask_);
  if (ready <= 0) return;
  for (int channel = 0; channel < 2; ++channel)
    if (const int from = terminal_.from(channel); from >= 0 && FD_ISSET(from, &read_set))
      terminal_.pass_on(channel);
}

Supervisor::End Supervisor::attempt(uint64_t line) {
  stopping_ = end_asked_ = too_late_ = false;
  hurried_ = 0;
  stop_since_ = newest_before_ = newest_;
  before_finish_ = survey(dir_).finished_run;
  Job job;
  terminal_.open_outputs();
  job.start(command(line), terminal_.out(), terminal_.err());
  terminal_.close_outputs();
  std::optional<int> status;
  uint64_t next_look = 0;
  while (!(status = job.ended())) {
    handle_signals(&job);
    wait(&job);
    if (now() < next_look && !stopping_) continue;
    next_look = now() + kLookEvery * 1000;
    look();
  }
  terminal_.drain();
  terminal_.status("");
  look();
  const store::Survey there = survey(dir_);
  End end;
  end.status = *status;
  // A rank that was killed after MPI_Finalize may have had something to do yet.
  const bool marked = there.finished_run != before_finish_;
  const bool killed = exit_code(*status) == 128 + SIGKILL && !asked_to_end();
  end.finished = (marked && !killed) || (exit_code(*status) == 0 && !asked_to_end());
  end.has_line = stopping_ && newest_ > stop_since_;
  // A program that ended well without saying so (its MPI_Finalize was not the library's) is done too.
  if (end.finished && !marked && there.restartable() > 0)
    store::mark_finished(dir_.c_str(), store::new_run()).ok();
  return end;
}

// The exit code after signals have ended the job.
int Supervisor::stop(const End& end) {
  const std::string newest =
      newest_ > 0 ? "the newest line is " + std::to_string(newest_) : "there is no line";
  if (end.has_line) {
    terminal_.say(
        "stopped",
        line_name(newest_) + " has committed and the job has ended; the same command goes on from it",
        {{"line", newest_}, {"code", kStopped}});
    return kStopped;
  }
  const int code = 128 + (end_signal != 0 ? end_signal : SIGTERM);
  terminal_.say(
      "ended",
      (too_late_ ? "no line within " + count_text(options_.grace, "second") + "; " : std::string()) +
          "the job has ended; " + newest,
      {{"line", newest_}, {"code", code}});
  return code;
}

// The exit code with which to end after a failure; nothing if the job is to be restarted.
std::optional<int> Supervisor::last_code(const End& end) {
  const int code = exit_code(end.status);
  if (WIFEXITED(end.status) && (code == 126 || code == 127)) return code;  // it could not be started
  // The library's own codes (src/mpi/runtime.h), which another attempt would not change.
  if (code == kDamaged && newest_ == newest_before_) {
    terminal_.say("refused", "the library refused it, see above; not trying again", {{"code", code}});
    return code;
  }
  if (newest_ > newest_before_ && code == kStopped) {
    terminal_.say("stopped", line_name(newest_) + " has committed and the job has ended, as it was asked to",
                  {{"line", newest_}, {"code", kStopped}});
    return kStopped;
  }
  if (in_a_row_ < options_.max_restarts) return std::nullopt;
  terminal_.say("gave-up",
                "the job failed again (" + describe(end.status) + "); giving up after " +
                    count_text(in_a_row_, "restart") + progress(),
                {{"code", code}, {"restarts", restarts_}});
  return code != 0 ? code : 1;
}

std::string Supervisor::progress() const {
  return newest_ > floor_ || start_ > 0 ? " without a new line" : " without a first line";
}

int Supervisor::run() {
  prepare();
  uint64_t line = start_ = first_line();
  for (;;) {
    say_start(line);
    const End end = attempt(line);
    if (end.finished) return exit_code(end.status);
    if (asked_to_end()) return stop(end);
    if (const std::optional<int> code = last_code(end)) return *code;
    terminal_.say("failed",
                  "the job failed (" + describe(end.status) + "); restart " + std::to_string(in_a_row_ + 1) +
                      " of at most " + std::to_string(options_.max_restarts) + progress(),
                  {{"code", exit_code(end.status)}});
    ++in_a_row_;
    ++restarts_;
    line = newest_whole(newest_ > floor_ ? newest_ : start_);
    if (asked_to_end()) return stop(End());
  }
}

}  // namespace

int run(const RunOptions& options) { return Supervisor(options).run(); }

}  // namespace elc::tool
