// The command `elc`.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>

#include "base/config.h"
#include "base/message.h"
#include "diff.h"
#include "doctor.h"
#include "elc.h"
#include "export.h"
#include "lines.h"
#include "plot.h"
#include "run.h"

namespace {

using namespace elc::tool;

// Checks of values where the library has the syntax already.
std::string check_seconds(const std::string& text) {
  double value = 0;
  return elc::parse_seconds(text.c_str(), &value)
             ? ""
             : "seconds are wanted, such as 30, 0.5, 15m, 2h or 1d, not " + text;
}

std::string check_interval(const std::string& text) {
  const std::string problem = text == "auto" ? "" : check_seconds(text);
  return problem.empty() ? "" : "auto, or " + problem;
}

std::string check_whole(const std::string& text) {
  uint64_t value = 0;
  return elc::parse_whole(text.c_str(), &value) && value > 0
             ? ""
             : "a whole number above 0 is wanted, not " + text;
}

// Numbers that the command keeps in 32 bits.
std::string check_count(const std::string& text) {
  uint64_t value = 0;
  return elc::parse_whole(text.c_str(), &value) && value <= UINT32_MAX ? ""
                                                                       : "a whole number is wanted, not " + text;
}

std::string check_ranks(const std::string& text) {
  const std::string problem = check_whole(text);
  return problem.empty() ? check_count(text) : problem;
}

std::string check_mpi(const std::string& text) {
  return text == "openmpi" || text == "mpich" || text == "lam" ? "" : "openmpi, mpich or lam is wanted, not " + text;
}

std::string check_rank(const std::string& text) {
  uint64_t value = 0;
  return elc::parse_whole(text.c_str(), &value) ? "" : "the number of a rank is wanted, not " + text;
}

std::string check_tolerance(const std::string& text) {
  char* end = nullptr;
  const double value = strtod(text.c_str(), &end);
  return *end == '\0' && end != text.c_str() && value >= 0 && value < 1 ? "" : "a number from 0 to 1 is wanted, not " + text;
}

const char* const kDirHelp = "Directory of lines (default: $ELC_DIR, or elc-lines)";

void add_run(CLI::App& app, RunOptions& options, int& code) {
  CLI::App* run =
      app.add_subcommand("run", "Run an MPI program, and restart it from its lines when it fails");
  run->footer("The program comes last: elc run -n 4 --every 15m -- ./program --its-options");
  run->add_option("-n,--ranks", options.ranks,
                  "Number of ranks (default: those of the line to go on from, or one for each processor)")
      ->check(CLI::Validator(check_ranks, "RANKS"));
  run->add_option("-d,--dir", options.dir, kDirHelp);
  run->add_option("--every", options.every, "Time between lines: 30, 0.5, 15m, 2h, or auto")
      ->check(CLI::Validator(check_interval, "TIME|auto"));
  run->add_option("--mtbf", options.mtbf, "Mean time between failures, for --every auto (default: 24h)")
      ->check(CLI::Validator(check_seconds, "TIME"));
  run->add_option("--keep", options.keep, "Committed lines to keep (default: 2)")
      ->check(CLI::Validator(check_whole, "LINES"));
  run->add_option("--from", options.from, "Line to begin with: auto, no, or its number")
      ->capture_default_str();
  run->add_option("--max-restarts", options.max_restarts,
                  "Restarts in a row without a new line before giving up")
      ->check(CLI::Validator(check_count, ""))
      ->capture_default_str();
  run->add_option("--grace", options.grace, "Seconds that a last line may take after SIGTERM")
      ->check(CLI::Validator(check_count, ""))
      ->capture_default_str();
  run->add_option("--stall", options.stall,
                  "How long no rank may work, without a line, before the job is restarted (default: for ever)")
      ->check(CLI::Validator(check_seconds, "TIME"));
  run->add_option("--output", options.output, "File for the program's standard output; a restart brings it back to its line");
  run->add_option("--launcher", options.launcher,
                  "Command that starts the ranks; {n} stands for their number");
  run->add_option("--mpi", options.mpi,
                  "MPI of the program: openmpi, mpich or lam (default: as it is linked)")
      ->check(CLI::Validator(check_mpi, "openmpi|mpich|lam"));
  run->add_flag("--json", options.json, "Messages as JSON, one object a line, on standard error");
  run->add_flag("-q,--quiet", options.quiet, "No message for each line");
  run->prefix_command();  // without --, the first word that is no option begins the program's
  run->callback([run, &options, &code] {
    const std::vector<std::string> first = run->remaining();
    options.program.insert(options.program.begin(), first.begin(), first.end());
    if (options.program.empty())
      throw Refusal(kUsage, "no program: elc run [OPTIONS] -- PROGRAM [ARGUMENTS...]");
    if (options.program.front().rfind("-", 0) == 0)
      throw Refusal(kUsage,
                    options.program.front() + " is not an option of elc run; `elc run --help` lists them");
    code = elc::tool::run(options);
  });
}

std::string check_format(const std::string& text) {
  return text == "npy" || text == "csv" || text == "json" ? "" : "npy, csv or json is wanted, not " + text;
}

void add_export(CLI::App& app, ExportOptions& o, int& code) {
  CLI::App* command = app.add_subcommand("export", "Write a variable of a line as NumPy, CSV or JSON has it");
  command->add_option("what", o.what, "A line's number or directory, or a file of a line")->required();
  command->add_option("variable", o.variable, "The name of a variable, or FUNCTION.NAME")->required();
  command->add_option("-d,--dir", o.dir, kDirHelp);
  command->add_option("-r,--rank", o.rank, "The rank whose variable is wanted (default: all)")
      ->check(CLI::Validator(check_rank, "RANK"));
  command->add_option("-j,--join", o.axis, "The ranks' arrays are parts of one: the axis along which they lie, from 0")
      ->check(CLI::Validator(check_count, "AXIS"));
  command->add_option("-f,--format", o.format, "npy, csv or json (default: by the ending of the output, or npy)")
      ->check(CLI::Validator(check_format, "npy|csv|json"));
  command->add_option("-o,--output", o.output, "The file to write, or - (default: named after the variable; json: -)");
  command->callback([&] { code = export_variable(o); });
}

void add_compare(CLI::App& command, CompareOptions& options) {
  command.add_option("--tolerance", options.tolerance,
                     "Floating-point values are the same if they differ by no more than this part of the larger one (default: 0)")
      ->check(CLI::Validator(check_tolerance, ""));
  command.add_option("--without", options.without, "A variable to leave out; may be given more than once")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_diff(CLI::App& app, DiffOptions& o, int& code) {
  CLI::App* diff = app.add_subcommand("diff", "Compare two lines, value by value");
  diff->add_option("a", o.a, "A line's number or directory, a file of a line, or a directory of lines")->required();
  diff->add_option("b", o.b, "Another one")->required();
  diff->add_option("-d,--dir", o.dir, kDirHelp);
  diff->add_option("-r,--rank", o.ranks, "A rank to compare (default: all); may be given more than once")
      ->check(CLI::Validator(check_rank, "RANK"))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  diff->add_option("--variable", o.compare.only, "A variable to compare, and nothing else; may be given more than once")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_compare(*diff, o.compare);
  diff->add_flag("--json", o.json, "As JSON");
  diff->callback([&] { code = elc::tool::diff(o); });
}

void add_doctor(CLI::App& app, DoctorOptions& o, int& code) {
  CLI::App* doctor = app.add_subcommand("doctor", "Find out what a program has forgotten to register");
  o.compare.without_pending = true;
  doctor->footer("The program comes last: elc doctor -n 4 -- ./program --its-options");
  doctor->add_option("-n,--ranks", o.ranks, "Number of ranks")->check(CLI::Validator(check_ranks, "RANKS"))->capture_default_str();
  doctor->add_option("-d,--dir", o.dir, "Directory of the examination")->capture_default_str();
  CLI::Option* lines = doctor->add_option("--lines", o.lines, "How many lines to take and to restart from, spread over the run")
                           ->check(CLI::Validator(check_ranks, ""))
                           ->capture_default_str();
  doctor->add_option("--at", o.at, "A site where to take one instead, counted in each rank from 1; may be given more than once")
      ->check(CLI::Validator(check_whole, "SITE"))
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->excludes(lines);
  add_compare(*doctor, o.compare);
  doctor->add_option("--launcher", o.launcher, "Command that starts the ranks; {n} stands for their number");
  doctor->add_option("--mpi", o.mpi, "MPI of the program: openmpi, mpich or lam (default: as it is linked)")
      ->check(CLI::Validator(check_mpi, "openmpi|mpich|lam"));
  doctor->prefix_command();
  doctor->callback([doctor, &o, &code] {
    const std::vector<std::string> first = doctor->remaining();
    o.program.insert(o.program.begin(), first.begin(), first.end());
    if (o.program.empty()) throw Refusal(kUsage, "no program: elc doctor [OPTIONS] -- PROGRAM [ARGUMENTS...]");
    if (o.program.front().rfind("-", 0) == 0)
      throw Refusal(kUsage, o.program.front() + " is not an option of elc doctor; `elc doctor --help` lists them");
    code = elc::tool::doctor(o);
  });
}

void add_plot(CLI::App& app, PlotOptions& o, int& code) {
  CLI::App* command = app.add_subcommand("plot", "Draw a variable of a line, all ranks beside each other");
  command->add_option("what", o.what, "A line's number or directory, or a file of a line")->required();
  command->add_option("variable", o.variable, "The name of a variable, or FUNCTION.NAME")->required();
  command->add_option("-d,--dir", o.dir, kDirHelp);
  command->add_option("-r,--rank", o.rank, "The rank whose variable is wanted (default: all)")
      ->check(CLI::Validator(check_rank, "RANK"));
  command->add_option("-o,--output", o.output, "A PNG to make by gnuplot (default: in the terminal)");
  command->callback([&] { code = plot(o); });
}

struct OtherOptions {
  std::string dir = default_dir();
  std::string what;
  std::vector<uint64_t> lines;
  bool json = false, force = false;
  ShowOptions show;
};

void add_others(CLI::App& app, OtherOptions& o, int& code) {
  CLI::App* ls = app.add_subcommand("ls", "List the lines in a directory");
  ls->add_option("dir", o.dir, kDirHelp);
  ls->add_flag("--json", o.json, "As JSON");
  ls->callback([&] { code = list(o.dir, o.json); });

  CLI::App* show = app.add_subcommand("show", "Show what is in a line or in a file of it");
  show->add_option("what", o.show.what, "A file, the directory of a line, or a line's number")->required();
  show->add_option("-d,--dir", o.dir, kDirHelp);
  show->add_option("-r,--rank", o.show.rank, "The rank to show of a line (default: 0)")
      ->check(CLI::Validator(check_rank, "RANK"));
  CLI::Option* values = show->add_option("--values", o.show.values,
                                         "What is in variables, heap, files and messages too: the first N of each")
                            ->type_name("N")
                            ->check(CLI::Validator(check_whole, ""));
  show->add_flag_callback("--all", [&o] { o.show.values = UINT64_MAX; }, "The same, all of it")->excludes(values);
  show->add_flag("--json", o.show.json, "As JSON");
  show->callback([&] {
    o.show.dir = o.dir;
    code = elc::tool::show(o.show);
  });

  CLI::App* check = app.add_subcommand("verify", "Read all of a line, or of all lines, and check it");
  check->add_option("what", o.what,
                    "A line's number or directory, or a directory of lines (default: as --dir)");
  check->add_option("-d,--dir", o.dir, kDirHelp);
  check->add_flag("--json", o.json, "As JSON");
  check->callback([&] { code = verify(o.what.empty() ? o.dir : o.what, o.dir, o.json); });

  CLI::App* rm = app.add_subcommand("rm", "Remove lines");
  rm->add_option("lines", o.lines, "Numbers of lines")->required()->check(CLI::Validator(check_whole, ""));
  rm->add_option("-d,--dir", o.dir, kDirHelp);
  rm->add_flag("-f,--force", o.force, "Also the line that a restart needs, and while a job runs");
  rm->callback([&] { code = elc::tool::remove(o.lines, o.dir, o.force); });
}

// What was wrong with the arguments, in one sentence. CLI11 has its own words where it counts them.
std::string sentence(const CLI::ParseError& error) {
  const std::string text = error.what();
  const std::string option = text.substr(0, text.find(':'));
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr)
    return option + (text.find("At Most") != std::string::npos ? " is given more than once" : " needs a value");
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
    return "there is too much:" + text.substr(text.rfind(':') + 1);
  if (text == "A subcommand is required") return "a command is wanted";
  if (dynamic_cast<const CLI::RequiredError*>(&error) != nullptr)
    return text.substr(0, text.find(' ')) + " is not given";
  return text;
}

// Where a system call failed.
std::string sentence(const std::filesystem::filesystem_error& error) {
  const std::string path = error.path1().empty() ? "the current directory" : error.path1().string();
  return "cannot look at " + path + ": " + error.code().message();
}

constexpr const char* kNoMemory = "there is not enough memory";

int refuse(int code, const std::string& why) {
  elc::say("%s", why.c_str());
  return code;
}

// A descriptor that is closed would be given to a lock or a socket, and messages would go there.
void open_standard_descriptors() {
  int fd;
  do fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

int run_command(int argc, char** argv) {
  CLI::App app("elc: runs MPI programs with libELC, and looks after their recovery lines", "elc");
  app.set_version_flag("--version", "elc " ELC_VERSION_STRING " (" ELC_MPI_NAME ")");
  app.require_subcommand(1);
  RunOptions run_options;
  run_options.dir = default_dir();
  if (const char* from = getenv("ELC_RESTART"); from != nullptr && *from != '\0') run_options.from = from;
  OtherOptions other_options;
  DiffOptions diff_options;
  diff_options.dir = default_dir();
  int code = 0;
  // To look at lines, or to remove them, is not to do what they say; elc run goes by its environment.
  elc::Config anybody;
  anybody.trust = elc::Trust::kAny;
  elc::store::configure(anybody);
  add_run(app, run_options, code);
  add_others(app, other_options, code);
  ExportOptions export_options;
  export_options.dir = default_dir();
  add_export(app, export_options, code);
  PlotOptions plot_options;
  plot_options.dir = default_dir();
  add_plot(app, plot_options, code);
  add_diff(app, diff_options, code);
  DoctorOptions doctor_options;
  add_doctor(app, doctor_options, code);
  // These two have their own code for whatever is wrong.
  const std::string command = argc > 1 ? argv[1] : "";
  const bool compares = command == "diff" || command == "doctor";
  const auto refuse = [compares](int code, const std::string& why) { return ::refuse(compares ? kTrouble : code, why); };
  try {
    // What follows the first -- is the program's, whatever it looks like.
    std::vector<std::string> words(argv + 1, argv + argc);
    const auto dashes = std::find(words.begin(), words.end(), "--");
    if (dashes != words.end() && (words.front() == "run" || words.front() == "doctor")) {
      (words.front() == "run" ? run_options.program : doctor_options.program).assign(dashes + 1, words.end());
      words.erase(dashes, words.end());
    }
    const std::string first = words.empty() ? "-" : words.front();
    if (first[0] != '-' && app.get_subcommands([&](CLI::App* command) { return command->check_name(first); }).empty())
      throw Refusal(kUsage, "there is no command `" + first + "`; elc --help lists those that there are");
    std::reverse(words.begin(), words.end());  // as CLI11 wants it
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    return refuse(kUsage, sentence(error) + "; elc --help, and --help after a command, list what there is");
  } catch (const Refusal& refusal) {
    return refuse(refusal.code, refusal.what());
  } catch (const std::filesystem::filesystem_error& error) {
    return refuse(kCannot, sentence(error));
  } catch (const std::bad_alloc&) {
    return refuse(kCannot, kNoMemory);
  } catch (const std::exception& error) {
    return refuse(kCannot, error.what());
  }
  // Half an output is not to be taken for all of it.
  const bool written = fflush(stdout) == 0 && ferror(stdout) == 0;
  return written || (code != 0 && !compares) ? code : refuse(kCannot, "not all of the output could be written");
}

}  // namespace

int main(int argc, char** argv) {
  open_standard_descriptors();
  try {
    return run_command(argc, argv);
  } catch (const std::bad_alloc&) {  // by the options themselves
    return refuse(kCannot, kNoMemory);
  }
}
