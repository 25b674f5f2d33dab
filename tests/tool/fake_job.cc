// A job without MPI, for tests of `elc run`: launcher and ranks in one process, unless it starts ranks.
//
//     fake_job RANKS STEPS [STEPS...]
//
// The n-th attempt in a directory of lines does the n-th word of STEPS (the last one again and again):
// steps with commas between them. Each attempt adds a line to the file "log" in the current directory.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "elc.h"
#include "portable_format/types.h"
#include "portable_format/writer.h"
#include "state/state.h"
#include "store/store.h"

namespace fs = std::filesystem;
using namespace elc;

namespace {

std::string dir, argument;
uint32_t ranks = 1;
uint64_t next_line = 1, run_number = 0, base = 0;
store::Control control;

std::string variable(const char* name) {
  const char* value = getenv(name);
  return value != nullptr ? value : "";
}

[[noreturn]] void fail(const std::string& why) {
  fprintf(stderr, "fake_job: %s\n", why.c_str());
  _exit(99);
}

void need(const Result& status) {
  if (!status.ok()) fail(status.message());
}

void rank_file(uint64_t line, uint32_t rank) {
  store::RankFile file;
  need(file.open(dir.c_str(), line, run_number, rank));
  const format::TypeTable types;
  format::Writer writer(&types, file.sink());
  store::write_label(writer, {line, run_number, rank, ranks});
  writer.begin_section("data");
  const std::string data(5000, static_cast<char>('a' + rank));
  writer.encoder().opaque(data.data(), data.size());
  writer.end_section();
  need(state::save_files(writer, 0));
  need(writer.finish());
  need(file.finish());
}

void files() {
  for (uint32_t rank = 0; rank < ranks; ++rank) rank_file(next_line, rank);
}

void line() {
  files();
  store::Commit record;
  record.line = next_line++;
  record.run = run_number;
  record.base = base;
  record.ranks = ranks;
  record.cost = 250000;
  need(store::commit(dir.c_str(), record));
}

std::string newest_file() { return store::rank_path(dir.c_str(), next_line - 1, ranks - 1).c_str(); }

void change_byte(const std::string& path, long at) {
  FILE* file = fopen(path.c_str(), "r+b");
  if (file == nullptr || fseek(file, at, SEEK_SET) != 0) fail("cannot change " + path);
  const int byte = fgetc(file);
  fseek(file, at, SEEK_SET);
  fputc(byte ^ 1, file);
  fclose(file);
}

// A process out of the launcher's sight: another session, another parent, deaf to SIGTERM.
void orphan() {
  int ready[2];
  if (pipe(ready) != 0) fail("pipe");
  if (fork() == 0) {
    setsid();
    if (fork() != 0) _exit(0);
    signal(SIGTERM, SIG_IGN);
    signal(SIGHUP, SIG_IGN);
    std::ofstream("pids", std::ios::app) << getpid() << std::endl;
    close(ready[0]);
    close(ready[1]);
    for (;;) pause();
  }
  close(ready[1]);
  char byte;
  if (read(ready[0], &byte, 1) != 0) fail("read");  // until the last copy of the other end is closed
  close(ready[0]);
}

void no_orphans() {
  std::ifstream in("pids");
  for (pid_t process; in >> process;)
    if (kill(process, 0) == 0) fail("process " + std::to_string(process) + " is still there");
}

std::vector<pid_t> rank_processes;

// Ranks that do what the argument says (as_rank), with the environment that MPICH gives them. They know nothing of
// libELC. Returns when all are what they shall be.
void start_ranks() {
  int ready[2];
  if (pipe(ready) != 0) fail("pipe");
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    const pid_t process = fork();
    if (process == 0) {
      setenv("PMI_RANK", std::to_string(rank).c_str(), 1);
      const std::string end = std::to_string(ready[1]);
      close(ready[0]);
      execl("/proc/self/exe", "rank", "rank", argument.c_str(), end.c_str(), nullptr);
      _exit(98);
    }
    rank_processes.push_back(process);
    std::ofstream("pids", std::ios::app) << process << std::endl;
  }
  close(ready[1]);
  char byte;
  if (read(ready[0], &byte, 1) != 0) fail("read");
  close(ready[0]);
}

[[noreturn]] void as_rank(const std::string& what, int ready) {
  if (what == "leave" && fork() == 0) std::ofstream("pids", std::ios::app) << getpid() << std::endl;
  else if (what == "leave") _exit(0);
  close(ready);
  if (what == "work")  // for 3 seconds of processor time
    while (clock() < 3 * CLOCKS_PER_SEC) {
    }
  else
    for (;;) pause();
  _exit(0);
}

void wait_for_request() {
  for (;;) {
    const store::Order request = control.look();
    if (request != store::Order::kNone) return;
    usleep(5000);
  }
}

const std::map<std::string, std::function<void()>> steps = {
    {"line", line},
    {"half",
     [] {
       files();
       ++next_line;
     }},  // a line that never commits
    {"append", [] {
       if (ELC_fopen("appended", "a") == nullptr) fail("cannot open a file");
     }},  // lines have it from now on
    {"damage", [] { change_byte(newest_file(), 3000); }},
    {"cut", [] { fs::resize_file(newest_file(), fs::file_size(newest_file()) / 2); }},
    {"missing", [] { fs::remove(newest_file()); }},
    {"exchange",
     [] {
       fs::copy_file(store::rank_path(dir.c_str(), next_line - 2, ranks - 1).c_str(), newest_file(),
                     fs::copy_options::overwrite_existing);
     }},
    {"bad-commit", [] { change_byte(store::commit_path(dir.c_str(), next_line - 1).c_str(), 20); }},
    {"kill", [] { kill(getpid(), SIGKILL); }},
    {"exit", [] { _exit(atoi(argument.c_str())); }},
    {"mark", [] { need(store::mark_finished(dir.c_str(), run_number)); }},
    {"finish",
     [] {
       need(store::mark_finished(dir.c_str(), run_number));
       _exit(atoi(argument.c_str()));
     }},
    {"orphan", orphan},
    {"no-orphans", no_orphans},
    {"ranks", start_ranks},
    {"kill-ranks",
     [] {
       for (const pid_t process : rank_processes) kill(process, SIGKILL);
     }},
    {"bury",
     [] {
       for (const pid_t process : rank_processes) waitpid(process, nullptr, 0);
     }},
    // As a launcher that waits until nobody can write to the ranks' output any more.
    {"output-of-ranks",
     [] {
       int ends[2];
       if (pipe(ends) != 0) fail("pipe");
       dup2(ends[1], STDOUT_FILENO);
       start_ranks();
       close(STDOUT_FILENO);
       close(ends[1]);
       for (const pid_t process : rank_processes) waitpid(process, nullptr, 0);
       char byte;
       while (read(ends[0], &byte, 1) > 0) {
       }
     }},
    {"say",
     [] {
       printf("%s\n", argument.c_str());
       fflush(stdout);
     }},
    // From standard input, so many bytes or all, into the file "input"; and a line end.
    {"read",
     [] {
       std::ofstream input("input", std::ios::app);
       size_t left = argument.empty() ? SIZE_MAX : static_cast<size_t>(atoi(argument.c_str()));
       for (char byte; left > 0 && read(STDIN_FILENO, &byte, 1) == 1; --left) input << byte;
       input << std::endl;
     }},
    {"touch", [] { std::ofstream(argument.c_str()); }},
    {"wait-for",
     [] {
       while (!fs::exists(argument)) usleep(5000);
     }},
    {"request", wait_for_request},
    {"lock",
     [] {
       static store::Lock lock;
       need(lock.take(dir.c_str(), "job.lock"));
     }},
    {"refuse", [] { need(store::write_refusal(dir.c_str(), next_line++, argument.c_str())); }},
    {"clean", [] { need(store::clean(dir.c_str(), 2, 0)); }},
    {"deaf", [] { signal(SIGTERM, SIG_IGN); }},
    // As a launcher does that is told to end its job; the second one's program comes to its end just then.
    {"on-term", [] { signal(SIGTERM, [](int) { _exit(1); }); }},
    {"mark-on-term",
     [] {
       signal(SIGTERM, [](int) {
         need(store::mark_finished(dir.c_str(), run_number));
         _exit(1);
       });
     }},
    // As one that needs its time for that, and gets it.
    {"slow-on-term",
     [] {
       signal(SIGTERM, [](int) { close(open("told", O_CREAT | O_WRONLY, 0666)); });
     }},
    {"pause",
     [] {
       for (;;) pause();
     }},
};

void log_attempt() {
  std::ofstream log("log", std::ios::app);
  log << "restart=" << variable("ELC_RESTART") << " ranks=" << ranks << " every=" << variable("ELC_EVERY")
      << " keep=" << variable("ELC_KEEP") << " mtbf=" << variable("ELC_MTBF") << std::endl;
}

size_t attempt_number() {
  std::ifstream log("log");
  size_t lines = 0;
  for (std::string line; std::getline(log, line);) ++lines;
  return lines;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "rank") as_rank(argv[2], atoi(argv[3]));
  if (argc < 3) fail("fake_job RANKS STEPS [STEPS...]");
  dir = variable("ELC_DIR");
  ranks = static_cast<uint32_t>(atoi(argv[1]));
  const size_t attempt = attempt_number();
  log_attempt();
  store::Survey there;
  need(store::survey(dir.c_str(), &there));
  next_line = there.highest + 1;
  run_number = store::new_run();
  base = strtoull(variable("ELC_RESTART").c_str(), nullptr, 10);
  control.open(dir.c_str());
  std::istringstream words(argv[std::min(static_cast<size_t>(argc) - 1, attempt + 2)]);
  for (std::string word; std::getline(words, word, ',');) {
    const size_t colon = word.find(':');
    argument = colon == std::string::npos ? "" : word.substr(colon + 1);
    const auto step = steps.find(word.substr(0, colon));
    if (step == steps.end()) fail("no step " + word);
    step->second();
  }
  return 0;
}
