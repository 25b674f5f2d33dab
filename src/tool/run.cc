#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "base/config.h"
#include "facts.h"
#include "input.h"
#include "job.h"
#include "launcher.h"
#include "lines.h"
#include "output.h"
#include "processes.h"
#include "state/streams.h"
#include "terminal.h"
#include "text.h"
#include "watch.h"

namespace elc::tool {
namespace {

using nlohmann::json;

constexpr int kJobGrace = 5;             // seconds that the launcher gets to end its ranks
constexpr int kKeeperTakes = 5000;       // milliseconds, at most, to end what a killed elc run has left
constexpr int kLookEvery = 400;          // milliseconds between looks at the directory
constexpr uint64_t kAskAgain = 2000000;  // microseconds; a job that is starting may not listen yet
constexpr uint64_t kDeserted = 15 * 1000000;     // microseconds; a launcher ends in a second when all its ranks have
constexpr uint64_t kSuspicious = 600 * 1000000;  // microseconds; without --stall, when to say that nothing moves
constexpr unsigned kTries = 2;                   // from one line, that may end in the same way

// What signals have asked for. The handlers only count.
volatile sig_atomic_t term_signals = 0, end_signal = 0, line_signals = 0;

void on_signal(int number) {
  if (number == SIGTERM) term_signals = term_signals + 1;
  if (number == SIGUSR1) line_signals = line_signals + 1;
  if (number == SIGINT || number == SIGHUP) end_signal = number;
}

// One that comes just before a wait is seen after it, which is soon. SIGHUP and SIGINT that are ignored stay
// so (nohup; a script's `elc run &`).
void catch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  for (const int number : {SIGTERM, SIGUSR1, SIGINT, SIGHUP}) {
    struct sigaction old = {};
    sigaction(number, nullptr, &old);
    if ((number == SIGHUP || number == SIGINT) && old.sa_handler == SIG_IGN) continue;
    sigaction(number, &action, nullptr);
  }
  signal(SIGPIPE, SIG_IGN);
}

// Whatever comes of it: it may help the next attempt.
void call_shell(const std::string& command) {
  FILE* const shell = popen(("exec </dev/null >/dev/null 2>&1; " + command).c_str(), "r");  // system() would ignore SIGINT
  if (shell != nullptr) pclose(shell);
}

std::string line_name(uint64_t line) { return "line " + std::to_string(line); }

// The exit code that a shell would see.
int exit_code(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

double age_of(const store::Commit& commit) {  // in microseconds
  const uint64_t time = time_of_day();
  return static_cast<double>(time - std::min(time, commit.time));
}

std::string describe(int wait_status) {
  if (WIFSIGNALED(wait_status))
    return "its launcher was killed by signal " + std::to_string(WTERMSIG(wait_status));
  return "exit code " + std::to_string(WEXITSTATUS(wait_status));
}

class Supervisor {
 public:
  explicit Supervisor(const RunOptions& options)
      : options_(options), terminal_(options.json, options.quiet) {
    catch_signals();
  }

  int run();

 private:
  // What became of one attempt.
  struct End {
    int status = 0;         // of the launcher
    std::string how;        // in words
    bool finished = false;  // the program ended by itself
    bool has_line = false;  // a line committed after the end was asked for
  };

  void prepare();
  void wait_for_job();
  void check_settings();
  uint64_t first_line();
  void survey_lines();
  [[noreturn]] void refuse_unread(uint64_t line, const std::string& why) const;
  std::string damage(uint64_t line) const;
  uint64_t newest_whole(uint64_t line, uint64_t said);
  uint64_t older(uint64_t line) const;
  std::string cut_by_older(uint64_t line) const;
  uint64_t next_line(uint64_t failed, const End& end);
  void say_start(uint64_t line);
  Command command(uint64_t line);
  End attempt(uint64_t line);
  bool start(Job* job, const Command& words);
  End judge(int status);
  void wait(Job* job);
  void request(store::Order what);
  void handle_signals(Job* job);
  void watch(Job* job, Watch* watch);
  void watch_what_is_left(Watch* watch);
  void watch_for_stall(Job* job, const Watch& watch);
  void end_attempt(Job* job, const char* event, const std::string& why);
  void look();
  void pass_on_output(bool all);
  void say_commit(const store::Line& line);
  int stop(const End& end);
  static bool asked_to_end() { return end_signal != 0 || term_signals > 0; }
  std::optional<int> last_code(const End& end);
  // 0: the mark of the run before has gone, with the directory perhaps.
  bool marked(const store::Survey& there) const {
    return there.finished_run != 0 && there.finished_run != finished_run_;
  }
  bool must_mark(const store::Survey& there) const;
  std::string progress() const;

  const RunOptions& options_;
  Terminal terminal_;
  Input input_;
  Output output_;
  std::string dir_;
  std::map<std::string, std::string> settings_;  // of the ranks
  store::Lock lock_;
  store::Survey there_;  // what was there when the line for the attempt was chosen
  unsigned ranks_ = 0;
  uint64_t floor_ = 0;          // the highest line before this command: newer ones are of its own runs
  uint64_t finished_ = 0;       // lines up to this one are of runs that finished before this command
  uint64_t finished_run_ = 0;   // the last of them
  uint64_t start_ = 0;          // the line of the first attempt
  uint64_t newest_ = 0;         // committed line
  std::optional<uint64_t> size_;  // of the newest
  uint64_t newest_before_ = 0;  // the newest line when the attempt began
  unsigned in_a_row_ = 0;       // restarts without a new line
  unsigned restarts_ = 0;
  uint64_t stall_ = 0;          // microseconds; 0: nothing is ended for that
  struct Tries {
    std::string how;  // the last one ended
    unsigned times = 0;
  };
  std::map<uint64_t, Tries> tries_;  // from each line since the newest one committed
  // Of the attempt that runs:
  bool stopping_ = false;
  bool end_asked_ = false;
  int hurried_ = 0;
  int lines_asked_ = 0;
  uint64_t stop_since_ = 0;  // the newest line when the end was asked for
  uint64_t deadline_ = 0, ask_again_ = 0;
  bool too_late_ = false;
  bool marks_end_ = false;  // Command's
  std::string given_up_;  // why the attempt was ended here though nobody asked; empty: it was not
  std::string refused_;   // why there was no line, when it was last looked at
  bool moved_ = false;    // since the watch was told
  bool said_problem_ = false, said_left_ = false, said_quiet_ = false, said_unseen_ = false;
  uint64_t began_ = 0;
  uint64_t quiet_asked_ = 0;  // when a job that did not move was asked for a line; 0: it was not
  bool marked_ = false;  // the program says that it has finished: it ends by itself
};

void Supervisor::prepare() {
  if (options_.dir.empty()) throw Refusal(kUsage, "--dir is empty: name a directory for lines");
  std::error_code gone;
  dir_ = tidy(std::filesystem::absolute(options_.dir, gone));
  if (gone)
    throw Refusal(kCannot, "the current directory cannot be named: " + gone.message() + "; give --dir as a whole path");
  check_settings();
  Result status = store::prepare(dir_.c_str());
  if (!status.ok()) throw Refusal(kCannot, status.message());
  status = lock_.take(dir_.c_str(), "elc.lock");
  if (!status.ok()) throw Refusal(kCannot, status.message());
  wait_for_job();
  adopt_orphans();
  there_ = survey(dir_);
  floor_ = there_.highest;
  finished_ = there_.finished;
  finished_run_ = there_.finished_run;
  output_.open(options_.output, dir_);
  newest_ = there_.newest;
  if (newest_ > 0) size_ = line_size(dir_, newest_);
}

// A job whose elc run was killed is ended by its keeper in a moment (processes.h); any other gets as long to end.
void Supervisor::wait_for_job() {
  const struct timespec moment = {0, 50 * 1000000L};
  for (const uint64_t until = now() + kKeeperTakes * 1000;; nanosleep(&moment, nullptr)) {
    store::Lock job;
    const Result status = job.take(dir_.c_str(), "job.lock");
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
  double stall = 0;
  if (!options_.stall.empty() && parse_seconds(options_.stall.c_str(), &stall))
    stall_ = static_cast<uint64_t>(stall * 1e6);
  Config config;
  const Result status = read_config(&config);
  if (!status.ok()) throw Refusal(kUsage, status.message());
  store::configure(config);
  try {
    if (!options_.launcher.empty() && split_words(options_.launcher).empty())
      throw std::runtime_error("it is empty: give a command such as 'mpirun --hostfile hosts'");
  } catch (const std::runtime_error& wrong) {
    throw Refusal(kUsage, std::string("--launcher: ") + wrong.what());
  }
  if (options_.launcher.empty() && find_program(options_.program.front()).empty())
    throw Refusal(127, "there is no program '" + options_.program.front() + "' that can be executed");
}

// One look at the directory for all that is decided by it. A line that cannot be read is not passed over for another
// one, which would have it removed: it may be whole, and the best.
void Supervisor::survey_lines() {
  there_ = survey(dir_);
  for (const store::Line& line : there_.lines) {
    const bool before = options_.from == "auto" ? line.number > finished_ : line.number == start_;
    if (line.unread && (before || line.number > floor_)) refuse_unread(line.number, line.damage.c_str());
  }
}

void Supervisor::refuse_unread(uint64_t line, const std::string& why) const {
  throw Refusal(kCannot, line_name(line) + " may be whole, but: " + why + "; try again when it can be read, or choose " +
                             "with --from where to begin");
}

// Why the line cannot be used; empty: it can. It may have been damaged or removed since it was seen to commit.
std::string Supervisor::damage(uint64_t line) const {
  const store::Line* at = there_.find(line);
  if (at == nullptr) return "it has gone from " + dir_;
  if (!at->committed) return at->damage.empty() ? "its commit record has gone" : at->damage.c_str();
  const std::vector<Fault> found = faults(dir_, at->commit, 1, asked_to_end);
  if (found.empty()) return "";
  if (found.front().unread) refuse_unread(line, found.front().why);
  return found.front().why;
}

// The line to begin with, whole, and the number of ranks.
uint64_t Supervisor::first_line() {
  uint64_t line = 0;
  if (options_.from == "auto") {
    survey_lines();
    line = newest_whole(there_.restartable(), finished_);
  } else if (options_.from != "no") {
    if (!parse_whole(options_.from.c_str(), &line) || line == 0)
      throw Refusal(kUsage, "--from " + options_.from + " is not allowed: auto, no, or the number of a line");
    require_line(dir_, line);
    start_ = line;
    survey_lines();
    const store::Line* found = there_.find(line);
    if (found == nullptr || !found->committed)
      throw Refusal(kDamaged, line_name(line) + " in " + dir_ + " has not committed" +
                                  (found == nullptr || found->damage.empty() ? "" : std::string(": ") + found->damage.c_str()) +
                                  "; `elc ls " + dir_ + "` shows those that have");
    if (const std::string why = damage(line); !why.empty())
      throw Refusal(kDamaged, line_name(line) + " is not whole: " + why);
  }
  ranks_ = options_.ranks;
  if (line > 0) {
    const unsigned of_line = there_.find(line)->commit.ranks;
    if (ranks_ != 0 && ranks_ != of_line)
      throw Refusal(kUsage, line_name(line) + " in " + dir_ + " is of " + count_text(of_line, "rank") +
                                ", not " + std::to_string(ranks_) + ": use -n " + std::to_string(of_line) +
                                ", another --dir, or --from no to begin anew");
    ranks_ = of_line;
  }
  if (ranks_ == 0) ranks_ = processors();
  return line;
}

// `line`, or the first one before it in its history that is whole; says which were passed over. Newer ones up to `said`
// are of no matter: it has been said, or the user has chosen.
uint64_t Supervisor::newest_whole(uint64_t line, uint64_t said) {
  bool passed = false;
  auto pass_over = [&](uint64_t number, const std::string& why) {
    terminal_.say("passed-over", "passing over " + line_name(number) + ": " + why,
                  {{"line", number}, {"why", why}});
    passed = true;
  };
  for (size_t i = there_.lines.size(); i-- > 0;) {
    const store::Line& other = there_.lines[i];
    const bool newer = other.number > line && other.number > said;
    if (newer && !other.damage.empty()) pass_over(other.number, other.damage.c_str());
  }
  while (line > 0) {
    const std::string why = damage(line);
    if (why.empty()) return line;
    pass_over(line, why);
    line = older(line);
  }
  if (passed)
    throw Refusal(kDamaged, "no line in " + dir_ +
                                " is whole; --from no begins anew and leaves them until a new line "
                                "has committed");
  return 0;
}

// The line before it in its history; 0: none that this command may use. Where its record does not tell any more, the
// newest one that this command has seen commit or began with.
uint64_t Supervisor::older(uint64_t line) const {
  const store::Line* at = there_.find(line);
  if (at != nullptr && at->committed) {
    const uint64_t found = there_.predecessor(line);
    return found > finished_ || found == start_ ? found : 0;
  }
  const uint64_t least = line == start_ && options_.from == "auto" ? finished_ : floor_;
  for (size_t i = there_.lines.size(); i-- > 0;) {
    const store::Line& other = there_.lines[i];
    if (other.number < line && other.committed && (other.number > least || other.number == start_)) return other.number;
  }
  return 0;
}

// A file on which the line relies and whose content it has not: a restart from an older line cuts it, and from this one no
// other could be made then. Empty: there is none. A line that cannot be read has one, for all that is known.
std::string Supervisor::cut_by_older(uint64_t line) const {
  for (uint32_t rank = 0; rank < ranks_; ++rank) {
    const std::string path = store::rank_path(dir_.c_str(), line, rank).c_str();
    try {
      const json facts = file_facts(path, 0);
      for (const json& stream : facts.value("streams", json::array()))
        if (stream["kind"] == "append" && stream["mode"] != state::kOutputMode && stream["mode"] != state::kWrittenMode) return stream["path"];
      for (const json& file : facts.value("mpi", json::object()).value("files", json::array()))
        if (file["mode"] == "write") return file["path"];
    } catch (const Refusal&) {
      return path;
    }
  }
  return "";
}

// The line for the attempt after a failed one: the newest that is whole, unless that has failed too often in the same
// way. Then perhaps it is the line's fault, and the older ones are tried; and the newest again when there are no more.
uint64_t Supervisor::next_line(uint64_t failed, const End& end) {
  if (newest_ > newest_before_) tries_.clear();
  Tries& tries = tries_[failed];
  tries.times = tries.how == end.how ? tries.times + 1 : 1;
  tries.how = end.how;
  survey_lines();
  const uint64_t newest = newest_whole(newest_ > floor_ ? newest_ : start_, floor_);
  for (uint64_t line = newest; line > 0; line = older(line)) {
    if (line < start_ && options_.from != "auto") break;  // the user has named the oldest
    if (tries_[line].times >= kTries || !damage(line).empty()) continue;
    if (const std::string file = line == newest ? "" : cut_by_older(newest); !file.empty()) {
      terminal_.say("not-older",
                    count_text(kTries, "attempt") + " from " + line_name(failed) + " have failed in the same way (" + end.how +
                        "): no older line is tried, which would cut the file '" + file + "', and " + line_name(newest) +
                        " could not be restarted any more; --from takes an older one all the same",
                    {{"line", newest}, {"file", file}});
      break;
    }
    if (line != newest && line != failed)
      terminal_.say("older",
                    count_text(kTries, "attempt") + " from " + line_name(failed) + " have failed in the same way (" +
                        end.how + "): trying the older " + line_name(line) + "; nothing is removed before a new line",
                    {{"line", line}, {"failed", failed}});
    return line;
  }
  tries_.clear();
  return newest;
}

void Supervisor::say_start(uint64_t line) {
  const json facts = {{"line", line}, {"ranks", ranks_}, {"dir", dir_}, {"restarts", restarts_}};
  const std::string ranks = count_text(ranks_, "rank");
  if (line > 0) {
    const double age = age_of(there_.find(line)->commit) / 1e6;
    const char* what = restarts_ > 0 ? "restarting from " : "continuing from ";
    terminal_.say("start",
                  what + line_name(line) + " of " + dir_ + ", " + seconds_text(age) + " old, on " + ranks,
                  facts);
  } else {
    terminal_.say("start", "starting on " + ranks + "; lines go to " + dir_, facts, restarts_ > 0);
  }
}

Command Supervisor::command(uint64_t line) {
  bool lacks;
  const std::string output = output_.begin(line, ranks_, &lacks);
  if (lacks)
    terminal_.say("no-output", line_name(line) + " was taken without --output: '" + options_.output + "' begins with what the job writes from there on",
                  {{"line", line}});
  LaunchRequest request;
  request.launcher = options_.launcher;
  request.mpi = options_.mpi;
  request.ranks = ranks_;
  request.program = options_.program;
  std::map<std::string, std::string> environment = settings_;
  if (!output.empty()) environment["ELC_OUTPUT"] = output;
  environment["ELC_RESTART"] = line > 0 ? std::to_string(line) : "no";
  return launch_command(request, environment);
}

void Supervisor::say_commit(const store::Line& line) {
  const double cost = static_cast<double>(line.commit.cost) / 1e6;
  size_ = line_size(dir_, line.number);
  if (terminal_.live()) return;
  terminal_.say("line",
                line_name(line.number) + " committed: " + size_text(size_) + " in " + seconds_text(cost),
                {{"line", line.number}, {"bytes", size_fact(size_)}, {"cost", cost}}, false);
}

// Looks for new lines.
void Supervisor::look() {
  store::Survey there;
  if (!store::survey(dir_.c_str(), &there).ok()) return;  // a line may be going away just now
  marked_ = marked(there);
  if (Text why; store::read_refusal(dir_.c_str(), &why).ok() && refused_ != why.c_str()) {
    refused_ = why.c_str();
    moved_ = true;
  }
  for (const store::Line& line : there.lines) {
    if (!line.committed || line.number <= newest_) continue;
    newest_ = line.number;
    in_a_row_ = 0;
    moved_ = true;
    say_commit(line);
  }
  if (!terminal_.live()) return;
  std::string text = "[elc] running";
  if (const store::Line* line = there.find(there.newest); line != nullptr && line->number > there.finished)
    text = "[elc] " + line_name(line->number) + ", " +
           seconds_text(std::floor(age_of(line->commit) / 1e6)) +
           " ago, " + size_text(size_) + " in " + seconds_text(static_cast<double>(line->commit.cost) / 1e6);
  if (restarts_ > 0) text += "; " + count_text(restarts_, "restart");
  terminal_.status(text);
}

// What keeps the job from being asked, a full disk say, is said once.
void Supervisor::request(store::Order what) {
  const Result status = store::request(dir_.c_str(), what);
  if (!status.ok() && !said_problem_) terminal_.say("problem", status.message());
  said_problem_ = !status.ok();
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
    request(store::Order::kLine);
  }
  if (!stopping_ || end_asked_ || hurried_ > 0) return;
  if (marked_ && now() < deadline_) return;
  if (newest_ > stop_since_ || now() >= deadline_) {
    too_late_ = newest_ <= stop_since_;
    end_asked_ = true;
    job->end(kJobGrace);
  } else if (now() >= ask_again_) {
    ask_again_ = now() + kAskAgain;
    request(store::Order::kStop);
  }
}

// Ends the attempt, which is then a failed one.
void Supervisor::end_attempt(Job* job, const char* event, const std::string& why) {
  given_up_ = why;
  terminal_.say(event, why + ": ending the job", {{"line", newest_}});
  job->end(kJobGrace);
}

// Is there still anything to wait for?
void Supervisor::watch(Job* job, Watch* watch) {
  if (end_asked_ || hurried_ > 0 || !given_up_.empty()) return;
  if (moved_) {
    watch->moved();
    moved_ = said_quiet_ = false;
    quiet_asked_ = 0;
  }
  watch->look(*job);
  if (watch->deserted() < kDeserted) return watch_for_stall(job, *watch);
  if (watch->left().empty()) return end_attempt(job, "deserted", "no rank lives and the launcher does not end");
  watch_what_is_left(watch);
}

// A launcher waits for all that can still write to its output. Those that work may be about to end.
void Supervisor::watch_what_is_left(Watch* watch) {
  std::string names;
  for (const auto& [number, name] : watch->left())
    names += (names.empty() ? "" : ", ") + name + " (process " + std::to_string(number) + ")";
  const bool idle = watch->left_quiet() >= kDeserted;
  if (idle) {
    for (const auto& [number, name] : watch->left()) kill(number, SIGKILL);
    watch->moved();
  }
  if (!idle && said_left_) return;
  said_left_ = true;
  terminal_.say("left",
                "all ranks have ended, and one has left " + names +
                    (idle ? ", which does nothing: killed, so that the launcher ends" : ": waiting for its end"));
}

// Ranks that wait for each other, or for a file, use no processor; but an MPI may, whose ranks look again and again.
void Supervisor::watch_for_stall(Job* job, const Watch& watch) {
  if (stopping_) return;
  const uint64_t limit = stall_ != 0 ? stall_ : kSuspicious;
  const std::string span = seconds_text(static_cast<double>(limit) / 1e6);
  if (stall_ != 0 && !watch.saw_all_ranks() && !said_unseen_ && now() - began_ >= limit) {
    said_unseen_ = true;
    terminal_.say("unseen", "not all ranks were seen on this machine: --stall does nothing");
  }
  if (watch.quiet() < limit / 2) quiet_asked_ = 0;
  else if (stall_ != 0 && quiet_asked_ == 0) {
    quiet_asked_ = now();
    request(store::Order::kLine);  // a job that can take a line does, and so moves
  }
  if (watch.quiet() < limit || said_quiet_ || now() - quiet_asked_ < limit / 2) return;
  said_quiet_ = true;
  const std::string seen = "for " + span + " no rank has worked and there was no line";
  if (stall_ != 0) end_attempt(job, "stalled", seen + " (--stall)");
  else terminal_.say("quiet", seen + ": perhaps the job hangs; elc run --stall ends and restarts such a job");
}

// Waits for output of the job, input for it, its end, a signal, or the time for the next look.
void Supervisor::wait(Job* job) {
  struct pollfd some[] = {{job->descriptor(), POLLIN, 0}, {terminal_.from(0), POLLIN, 0}, {terminal_.from(1), POLLIN, 0},
                          input_.from(), input_.to()};
  if (poll(some, 5, kLookEvery) <= 0) return;  // those of -1 are passed over
  if (some[3].revents != 0 || some[4].revents != 0) input_.move();
  for (int channel = 0; channel < 2; ++channel)
    if (some[channel + 1].revents != 0) terminal_.pass_on(channel);
}

// That there can be no process now, or no descriptor, is a failure as others are.
bool Supervisor::start(Job* job, const Command& words) {
  try {
    input_.open();
    terminal_.open_outputs();
    job->start(words, {input_.give(), terminal_.out(), terminal_.err(), input_.own()});
  } catch (const std::system_error& error) {
    input_.close_given();
    terminal_.close_outputs();
    terminal_.say("problem", error.what());
    return false;
  }
  input_.close_given();
  terminal_.close_outputs();
  return true;
}

void Supervisor::pass_on_output(bool all) {
  if (const std::string why = output_.pass_on(all); !why.empty()) terminal_.say("problem", why);
}

Supervisor::End Supervisor::attempt(uint64_t line) {
  stopping_ = end_asked_ = too_late_ = marked_ = false;
  moved_ = said_left_ = said_quiet_ = said_unseen_ = false;
  quiet_asked_ = 0;
  given_up_.clear();
  began_ = now();
  hurried_ = 0;
  stop_since_ = newest_before_ = newest_;
  Job job;
  const Command words = command(line);
  marks_end_ = words.marks_end;
  Watch seen(words, ranks_, kDeserted, stall_ != 0 ? stall_ : kSuspicious);
  std::optional<int> status;
  if (!start(&job, words)) return judge(kNotStarted);
  uint64_t next_look = 0;
  while (!(status = job.ended())) {
    handle_signals(&job);
    wait(&job);
    if (now() < next_look && !stopping_) continue;
    next_look = now() + kLookEvery * 1000;
    look();
    pass_on_output(false);
    watch(&job, &seen);
  }
  terminal_.drain();
  pass_on_output(true);
  terminal_.status("");
  look();
  const End end = judge(*status);
  if (!end.finished && !words.clean_up.empty()) call_shell(words.clean_up);
  return end;
}

// The program may end in the moment in which it is asked to. The exit code of a launcher that was told to end its job
// is its own, not the program's: it counts only where nobody told it.
Supervisor::End Supervisor::judge(int status) {
  const int code = exit_code(status);
  const bool ended_here = end_asked_ || hurried_ > 0 || !given_up_.empty();
  End end;
  end.status = status;
  end.how = !given_up_.empty() ? given_up_ : describe(status) + (code == 0 ? " without MPI_Finalize" : "");
  end.has_line = stopping_ && newest_ > stop_since_;
  const store::Survey there = survey(dir_);
  marked_ = marked(there);
  // A rank that was ended after MPI_Finalize may have had something to do yet.
  if (marked_) end.finished = code == 0 || (code != 128 + SIGKILL && !ended_here);
  // Launchers end with 0 for many reasons: MPICH's on SIGINT, LAM's when a rank is killed in MPI_Init.
  else end.finished = code == 0 && !ended_here && !end.has_line && !must_mark(there);
  if (marked_ && !end.finished) {
    const Result taken_back = store::unmark_finished(dir_.c_str(), finished_, finished_run_);
    if (!taken_back.ok()) throw Refusal(kCannot, taken_back.message());
  }
  return end;
}

// Whether the program is known to say by itself that it has finished: it has the library, or has taken a line with it.
bool Supervisor::must_mark(const store::Survey& there) const {
  return marks_end_ || start_ > 0 || newest_ > floor_ || there.newest > floor_;
}

// The exit code after signals have ended the job.
int Supervisor::stop(const End& end) {
  const std::string newest =
      newest_ > 0 ? "the newest line is " + std::to_string(newest_) : "there is no line";
  const char* what = began_ == 0 ? "nothing was started; " : "the job has ended; ";
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
          what + newest,
      {{"line", newest_}, {"code", code}});
  return code;
}

// The exit code with which to end after a failure; nothing if the job is to be restarted.
std::optional<int> Supervisor::last_code(const End& end) {
  const int code = exit_code(end.status);
  const bool has_line = newest_ > newest_before_;
  // A shell's codes, which what has worked before may have too.
  if (WIFEXITED(end.status) && (code == 126 || code == 127) && restarts_ == 0 && !has_line) {
    terminal_.say("not-started", "the program or its launcher could not be started (" + end.how + "), see above; not trying again",
                  {{"code", code}});
    return code;
  }
  // The library's own codes (src/mpi/runtime/runtime.h), which another attempt would not change. A program may have them
  // for reasons of its own.
  if (code == kDamaged && !has_line) {
    terminal_.say("refused", "the job has ended with code 65 and without a line, as when the library refuses it (see above); "
                             "not trying again", {{"code", code}});
    return code;
  }
  if (code == kStopped && has_line) {
    terminal_.say("stopped", line_name(newest_) + " has committed and the job has ended with code 75, as one that is asked to "
                             "stop; the same command goes on from it",
                  {{"line", newest_}, {"code", kStopped}});
    return kStopped;
  }
  if (in_a_row_ < options_.max_restarts) return std::nullopt;
  terminal_.say("gave-up",
                "the job failed again (" + end.how + "); giving up after " +
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
    if (asked_to_end()) return stop(End());
    say_start(line);
    const End end = attempt(line);
    if (end.finished) return exit_code(end.status);
    if (asked_to_end()) return stop(end);
    if (const std::optional<int> code = last_code(end)) return *code;
    terminal_.say("failed",
                  "the job failed (" + end.how + "); restart " + std::to_string(in_a_row_ + 1) +
                      " of at most " + std::to_string(options_.max_restarts) + progress(),
                  {{"code", exit_code(end.status)}});
    if (end.status == kNotStarted) sleep(1);  // for want of processes, say: there may be some in a moment
    ++in_a_row_;
    ++restarts_;
    line = next_line(line, end);
  }
}

}  // namespace

int run(const RunOptions& options) { return Supervisor(options).run(); }

}  // namespace elc::tool
