#include "doctor.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "base/descriptor.h"
#include "content.h"
#include "diff.h"
#include "job.h"
#include "launcher.h"
#include "lines.h"
#include "memory_file.h"
#include "printed.h"
#include "processes.h"
#include "reach.h"
#include "state/clocks.h"
#include "text.h"
#include "unregistered.h"

namespace fs = std::filesystem;

namespace elc::tool {
namespace {

constexpr const char* kMark = "examination";            // a file in the directory: what is there may be removed
constexpr uintmax_t kMostBytes = uintmax_t{1} << 30;    // of the directory that is copied for each run
constexpr uint64_t kLeastPatience = 120 * 1000000ull;   // microseconds that a restart may take, whatever the run took
constexpr int kMostRepeats = 2;                         // more runs without a failure, before a difference is told
constexpr unsigned kMostTrials = 12;                    // restarts to see what the culprit is

void say_it(const std::string& text) {
  printf("%s\n", visible(text).c_str());
  fflush(stdout);
}

std::string number(uint64_t n) { return std::to_string(n); }

// "a", "b" and 3 more.
std::string list_of(const std::vector<std::string>& names, size_t most) {
  std::string text;
  for (size_t i = 0; i < names.size() && i < most; ++i) text += (i == 0 ? "" : ", ") + names[i];
  if (names.size() > most) text += " and " + number(names.size() - most) + " more";
  return text;
}

constexpr int kPartly = 3;  // an exit code: nothing differs, but not all could be judged

// ---- Runs ----

// One run of the program, to its end, with all that it left behind.
struct Run {
  std::string name, place;  // its directory, with "work", "lines" and "looked"
  int status = 0;
  bool hung = false;
  uint64_t took = 0;        // microseconds

  fs::path file(const std::string& what, unsigned rank) const {
    return fs::path(place) / "looked" / (what + "-" + number(rank));
  }
  std::string work() const { return place + "/work"; }
  std::string lines() const { return place + "/lines"; }
  bool ended_well() const { return !hung && WIFEXITED(status) && WEXITSTATUS(status) == 0; }
  std::string end() const {
    if (hung) return "does not end";
    if (WIFSIGNALED(status)) return "is killed by signal " + number(static_cast<uint64_t>(WTERMSIG(status)));
    return "ends with exit code " + number(static_cast<uint64_t>(WEXITSTATUS(status)));
  }
};

// The sites where lines are to be taken, of each rank.
struct Plan {
  uint64_t first = 1;                             // the number of the first point
  std::vector<uint64_t> before;                   // sites of each rank before the line that the run starts from
  std::vector<std::vector<uint64_t>> sites;       // of each rank
};

// A point of the program where a line was taken.
struct Point {
  uint64_t number = 0;
  std::vector<uint64_t> sites;  // of each rank
  uint64_t line = 0;            // in the first run; 0: there is none
  std::string name() const {
    const bool same = std::all_of(sites.begin(), sites.end(), [&](uint64_t site) { return site == sites[0]; });
    return same ? "site " + tool::number(sites[0]) : "site " + tool::number(sites[0]) + " of rank 0";
  }
};

// ---- What differs after a restart ----

struct Finding {
  enum class Kind { kValue, kPrinted, kWritten, kEnd } kind = Kind::kValue;
  size_t point = 0;  // of values: the index among the points
  unsigned rank = 0;
  Difference difference;
  std::string text;  // of the others
};
using Findings = std::vector<Finding>;

using Name = std::tuple<std::string, std::string, std::string>;  // what, owner, name
// All messages of an envelope have one, as have all blocks of the heap: one more or less and all are others.
Name name_of(const Difference& d) {
  if (d.what == "heap block") return {"heap", "", ""};
  if (d.what == "message") return {"messages", d.owner, d.name.substr(0, d.name.rfind(':'))};
  return {d.what, d.owner, d.name};
}
std::string called(const Difference& d) { return d.what == "variable" ? d.name : d.what + (d.name.empty() ? "" : " " + d.name); }

class Doctor {
 public:
  explicit Doctor(const DoctorOptions& options) : options_(options), dir_(fs::absolute(options.dir)) {}

  int examine() {
    prepare();
    say_it("running it without a failure, to count its sites");
    Run counted = run("count", nullptr, nothing(), {});
    if (!counted.ended_well())
      throw Refusal(kTrouble, "the program " + counted.end() + " without a failure: " + counted.place + "/errors has what it said");
    choose_points(counted);
    say_it("running it twice with lines at " + points_text());
    first_ = run("run-1", nullptr, plan_from(0), {});
    second_ = run("run-2", nullptr, plan_from(0), {});
    for (const Run* one : {&first_, &second_})
      if (!one->ended_well()) throw Refusal(kTrouble, "the program " + one->end() + " when lines are taken: " + one->place + "/errors has what it said");
    patience_ = std::max(kLeastPatience, 20 * std::max(first_.took, second_.took));
    find_lines();
    find_what_varies(counted);
    bool right = true;
    for (size_t i = 0; i < points_.size(); ++i)
      if (points_[i].line != 0) right = restart_from(i) && right;
    if (!right) return kDiffer;
    for (const auto& [rank, text] : taken_for_times_)
      print_indented("rank " + number(rank) + " prints after a restart, and it is taken for a time and not judged: " + text);
    const std::string restarts = count_text(usable_, "restart");
    const bool whole = !flow_varies_ && varies_.empty() && taken_for_times_.empty();
    if (whole) say_it("nothing differs: " + restarts + " went as the run without a failure did");
    else say_it("nothing differs in what could be judged: " + restarts + " went as runs without a failure do");
    return whole ? kSame : kPartly;
  }

 private:
  // ---- The directory ----

  void prepare() {
    if (fs::exists(dir_) && !fs::is_empty(dir_) && !fs::exists(dir_ / kMark))
      throw Refusal(kUsage, options_.dir + " is there, and no examination: remove it, or name another one with --dir");
    fs::remove_all(dir_);
    fs::create_directories(dir_);
    std::ofstream(dir_ / kMark) << "of elc doctor: may be removed\n";
    const std::string program = find_program(options_.program.front());
    if (program.empty()) throw Refusal(kUsage, options_.program.front() + " is no program that can be started");
    words_ = options_.program;
    words_[0] = fs::absolute(program).string();
    for (size_t i = 1; i < words_.size(); ++i)  // runs work elsewhere
      if (words_[i].rfind("../", 0) == 0 && fs::exists(words_[i])) words_[i] = fs::absolute(words_[i]).lexically_normal().string();
    struct stat about;
    input_ = "/dev/null";
    if (fstat(STDIN_FILENO, &about) != 0 || !S_ISREG(about.st_mode)) return;
    input_ = (dir_ / "input").string();
    std::ofstream to(input_, std::ios::binary);
    char piece[65536];
    for (ssize_t n; (n = read(STDIN_FILENO, piece, sizeof piece)) > 0;) to.write(piece, n);
  }

  static bool is_line(const fs::path& path) { return path.filename().string().rfind("line-", 0) == 0; }

  // Copies all that a run may need, but lines and this examination.
  void copy_tree(const fs::path& from, const fs::path& to, uintmax_t* bytes) {
    fs::create_directories(to);
    for (const fs::directory_entry& entry : fs::directory_iterator(from)) {
      const fs::path target = to / entry.path().filename();
      std::error_code error;
      if (entry.is_symlink()) {
        fs::copy_symlink(entry.path(), target);
      } else if (entry.is_directory()) {
        if (!fs::equivalent(entry.path(), dir_, error) && !is_line(entry.path())) copy_tree(entry.path(), target, bytes);
      } else if (entry.is_regular_file()) {
        *bytes += entry.file_size();
        if (*bytes > kMostBytes)
          throw Refusal(kTrouble, "each run gets a copy of the current directory, which is larger than " + bytes_text(kMostBytes) +
                                      ": start this in one that has only what the program needs");
        fs::copy_file(entry.path(), target);
      }
    }
  }

  // ---- Running ----

  Plan nothing() const {
    Plan plan;
    plan.before.assign(options_.ranks, 0);
    plan.sites.resize(options_.ranks);
    return plan;
  }
  // For a run from this point's line; 0: from the start. `next` is the index of the first point behind it.
  Plan plan_from(size_t next) const {
    Plan plan = nothing();
    plan.first = next + 1;
    for (unsigned rank = 0; rank < options_.ranks; ++rank) {
      if (next > 0) plan.before[rank] = points_[next - 1].sites[rank];
      for (size_t i = next; i < points_.size(); ++i) plan.sites[rank].push_back(points_[i].sites[rank]);
    }
    return plan;
  }

  // From a point's line of the first run, in a directory as that run has left it; from the start without one. `change` is what
  // each rank's file "change" says. `elsewhere`: memory has other addresses than in the other runs, and what nobody has set has
  // other values.
  Run run(const std::string& name, const Point* from, const Plan& plan, const std::map<unsigned, std::string>& change, bool elsewhere = false) {
    Run run;
    run.name = name, run.place = (dir_ / name).string();
    uintmax_t bytes = 0;
    copy_tree(from != nullptr ? fs::path(first_.work()) : fs::current_path(), run.work(), &bytes);
    fs::create_directories(fs::path(run.place) / "looked");
    fs::create_directories(run.lines());
    fs::permissions(run.lines(), fs::perms::owner_all);
    const std::string line = from == nullptr ? "no" : number(from->line);
    if (from != nullptr)
      fs::copy(store::line_path(first_.lines().c_str(), from->line).c_str(), store::line_path(run.lines().c_str(), from->line).c_str(),
               fs::copy_options::recursive);
    std::ofstream(fs::path(run.place) / "looked" / "plan") << text_of(plan);
    for (const auto& [rank, text] : change) std::ofstream(run.file("change", rank), std::ios::binary) << text;
    LaunchRequest request = {options_.launcher, options_.mpi, options_.ranks, words_};
    Command command = launch_command(request, {{"ELC_CHECK", from == nullptr ? "1" : "0"},
                                               {"ELC_DIR", run.lines()},
                                               {"ELC_DOCTOR", run.place + "/looked"},
                                               {"ELC_EVERY", "0"},
                                               {"ELC_INCREMENTAL", "1"},  // each is taken elsewhere alone
                                               {"ELC_KEEP", "1000000"},
                                               {"ELC_RESTART", line},
                                               {"ELC_SIGNAL", ""},
                                               {"ELC_VERBOSE", "0"},
                                               {"MALLOC_ARENA_MAX_", "1"},  // all memory of malloc is in the heap, whose blocks are known
                                               {"MALLOC_MMAP_MAX_", "0"},
                                               {"MALLOC_PERTURB_", elsewhere ? "165" : "0"}});
    command.directory = run.work(), command.same_addresses = !elsewhere;
    launch(command, &run);
    return run;
  }

  static std::string text_of(const Plan& plan) {
    std::ostringstream text;
    for (size_t rank = 0; rank < plan.sites.size(); ++rank) {
      text << rank << ' ' << plan.before[rank] << ' ' << plan.first;
      for (const uint64_t site : plan.sites[rank]) text << ' ' << site;
      text << '\n';
    }
    return text.str();
  }

  void launch(const Command& command, Run* run) {
    FILE* const out = fopen((run->place + "/output").c_str(), "w");
    FILE* const err = fopen((run->place + "/errors").c_str(), "w");
    if (out == nullptr || err == nullptr) throw Refusal(kTrouble, "cannot write in " + run->place);
    const Descriptor in(open(input_.c_str(), O_RDONLY | O_CLOEXEC));
    if (!in.open()) throw Refusal(kTrouble, "cannot read " + input_);
    const uint64_t begin = now();
    Job job;
    job.start(command, {in.get(), fileno(out), fileno(err), -1});
    fclose(out);
    fclose(err);
    for (;;) {
      struct pollfd keeper = {job.descriptor(), POLLIN, 0};
      poll(&keeper, 1, 200);
      if (const auto status = job.ended()) {
        run->status = *status;
        break;
      }
      if (patience_ != 0 && now() - begin > patience_ && !run->hung) {
        run->hung = true;
        job.end(1);
      }
    }
    run->took = now() - begin;
  }

  // ---- Points ----

  void choose_points(const Run& counted) {
    std::vector<uint64_t> counts;
    for (unsigned rank = 0; rank < options_.ranks; ++rank) {
      uint64_t sites = 0;
      if (!(std::ifstream(counted.file("sites", rank)) >> sites))
        throw Refusal(kTrouble, "rank " + number(rank) + " has not told how many sites it has: the program is not linked with libELC, "
                                "or ends without MPI_Finalize");
      if (sites == 0) throw Refusal(kTrouble, "rank " + number(rank) + " comes to no site (ELC_Checkpoint, or a labelled call), so no line can be taken");
      counts.push_back(sites);
    }
    const size_t wanted = options_.at.empty() ? options_.lines : options_.at.size();
    for (size_t i = 0; i < wanted; ++i) {
      Point point;
      for (const uint64_t count : counts) {
        const uint64_t site = options_.at.empty() ? std::max<uint64_t>(1, count * (i + 1) / (wanted + 1)) : options_.at[i];
        if (site > count) throw Refusal(kUsage, "there is no site " + number(site) + ": a rank has " + number(count));
        point.sites.push_back(site);
      }
      const bool later = points_.empty() || std::equal(points_.back().sites.begin(), points_.back().sites.end(), point.sites.begin(),
                                                       [](uint64_t before, uint64_t site) { return before < site; });
      if (!later) continue;
      point.number = points_.size() + 1;
      points_.push_back(point);
    }
  }

  std::string points_text() const {
    std::string text;
    for (size_t i = 0; i < points_.size(); ++i)
      text += (i == 0 ? "" : i + 1 == points_.size() ? " and " : ", ") + points_[i].name();
    return text;
  }

  // The line that a run has taken at a point; 0: none that has committed and is of these sites in all ranks.
  uint64_t line_at(const Run& run, const Point& point, std::string* why) const {
    uint64_t line = 0;
    for (unsigned rank = 0; rank < options_.ranks; ++rank) {
      const fs::path path = run.file("point-" + number(point.number), rank);
      if (!fs::exists(path)) {
        *why = "rank " + number(rank) + " has taken none";
        return 0;
      }
      std::string word;
      uint64_t of_rank = 0, site = 0;
      std::ifstream(path) >> word >> of_rank >> word >> site;
      if (site != point.sites[rank] || (rank > 0 && of_rank != line)) {
        *why = "rank " + number(rank) + " could take it at its site " + number(site) + " only";
        return 0;
      }
      line = of_rank;
    }
    store::Commit commit;
    const Result status = store::read_commit(run.lines().c_str(), line, &commit);
    if (status.ok()) return line;
    *why = "it was refused" + why_refused(run, point);
    return 0;
  }

  // As the library has said it, with names for addresses.
  std::string why_refused(const Run& run, const Point& point) const {
    static const std::regex words("elc: rank ([0-9]+): line [0-9]+ is abandoned, the program runs on: (.*)"), address("\\(0x([0-9a-f]+)\\)");
    std::istringstream errors(content_of(run.place + "/errors"));
    std::set<std::string> reasons;
    std::smatch found;
    for (std::string line; std::getline(errors, line);) {
      if (!std::regex_search(line, found, words)) continue;
      const fs::path memory = run.file("point-" + number(point.number), static_cast<unsigned>(std::stoul(found[1])));
      std::string text = found[2];
      if (std::regex_search(text, found, address) && fs::exists(memory))
        if (const std::string name = programs_.at(read_memory(memory), std::stoull(found[1], nullptr, 16)); !name.empty())
          text = found.prefix().str() + "(" + name + ")" + found.suffix().str();
      reasons.insert(text);
    }
    std::string all;
    for (const std::string& reason : reasons) all += ": " + reason;
    return all.empty() ? "; " + run.place + "/errors may say why" : all;
  }

  void find_lines() {
    for (Point& point : points_) {
      std::string why;
      const uint64_t line = line_at(first_, point, &why);
      if (line != 0 && line_at(second_, point, &why) != 0) point.line = line, ++usable_;
      else say_it("at " + point.name() + " there is no line: " + why);
    }
    if (usable_ == 0) throw Refusal(kTrouble, "no line could be taken, so nothing can be told");
  }

  // ---- What differs without a failure ----

  std::vector<Finding> values_that_differ(const Run& other, size_t point, uint64_t line) {
    Findings found;
    for (unsigned rank = 0; rank < options_.ranks; ++rank) {
      const Comparison comparison = compare_files(store::rank_path(first_.lines().c_str(), points_[point].line, rank).c_str(),
                                                  store::rank_path(other.lines().c_str(), line, rank).c_str(), options_.compare);
      for (const Difference& d : comparison.differences) {
        if (d.name == state::kClocksVariable) continue;
        Finding finding;
        finding.point = point, finding.rank = rank, finding.difference = d;
        found.push_back(finding);
      }
    }
    return found;
  }

  // Whether the ranks come to as many sites in another run; else the k-th is not the same point of the program.
  bool same_flow(const Run& other) const {
    for (unsigned rank = 0; rank < options_.ranks; ++rank)
      if (content_of(first_.file("sites", rank)) != content_of(other.file("sites", rank))) return false;
    return true;
  }

  // The values that another run without a failure has otherwise are not judged; their names.
  std::vector<std::string> learn_from(const Run& other) {
    std::vector<std::string> names;
    flow_varies_ = flow_varies_ || !same_flow(other);
    for (size_t i = 0; i < points_.size() && !flow_varies_; ++i) {
      std::string why;
      const uint64_t line = points_[i].line == 0 ? 0 : line_at(other, points_[i], &why);
      if (line == 0) continue;
      for (const Finding& f : values_that_differ(other, i, line))
        if (varies_.insert(name_of(f.difference)).second) names.push_back(called(f.difference));
    }
    return names;
  }

  void find_what_varies(const Run& counted) {
    flow_varies_ = !same_flow(counted);
    const std::vector<std::string> names = learn_from(second_);
    if (flow_varies_)
      say_it("ranks come to another number of sites in each run, so a site is not the same point of the program in two runs: what "
             "variables hold is not judged, but what is printed and written, and how the program ends");
    else if (!names.empty())
      say_it("two runs without a failure differ: " + list_of(names, 8) + (names.size() == 1 ? " is" : " are") +
             " not judged. Where that is meant so (a clock, say), leave it out with --without; the order of sums with --tolerance");
    for (unsigned rank = 0; rank < options_.ranks; ++rank) {
      printed_.push_back({content_of(first_.file("out", rank)), content_of(second_.file("out", rank)), content_of(counted.file("out", rank))});
      if (printed_[rank][0] != printed_[rank][1] || printed_[rank][0] != printed_[rank][2]) printing_varies_ = true;
    }
    std::vector<std::string> files;
    for (const std::string& path : files_that_differ(first_.work(), second_.work())) {
      written_varies_.insert(path);
      similar_vary_.insert(without_digits(path));
      if (!fs::exists(fs::path(first_.work()) / path) || !fs::exists(fs::path(second_.work()) / path)) names_vary_.insert(without_digits(path));
      files.push_back(path);
    }
    for (const std::string& path : files_that_differ(first_.work(), counted.work()))
      if (!fs::exists(fs::path(first_.work()) / path) || !fs::exists(fs::path(counted.work()) / path)) names_vary_.insert(without_digits(path));
    if (!files.empty()) say_it("what is written to " + list_of(files, 8) + " differs without a failure, and is not judged");
    if (printing_varies_) say_it("lines that are printed differ without a failure; those are not judged, but for the columns of a table that do not");
  }

  // What no line has and is not the same in two runs without a failure is not suspected.
  void find_what_varies_unregistered() {
    if (unregistered_is_known_) return;
    unregistered_is_known_ = true;
    for (size_t i = 0; i < points_.size(); ++i)
      for (unsigned rank = 0; rank < options_.ranks && points_[i].line != 0; ++rank)
        for (const auto& [key, suspect] : unregistered(first_, second_, "point-" + number(i + 1), "point-" + number(i + 1), rank))
          unregistered_varies_.insert(key);
  }

  // Files may be called by the time at which they are written.
  static std::string without_digits(std::string path) {
    std::replace_if(path.begin(), path.end(), [](char c) { return c >= '0' && c <= '9'; }, '#');
    return path;
  }
  // Two runs may have been at the same time, to the second, and have the same names of files in which something differs.
  bool varies(const std::string& path) const {
    const bool is_new = !fs::exists(fs::path(first_.work()) / path);
    return written_varies_.count(path) > 0 || names_vary_.count(without_digits(path)) > 0 || (is_new && similar_vary_.count(without_digits(path)) > 0);
  }

  static std::map<std::string, fs::path> files_below(const fs::path& top) {
    std::map<std::string, fs::path> files;
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(top))
      if (entry.is_regular_file() && !entry.is_symlink()) files[entry.path().lexically_relative(top).string()] = entry.path();
    return files;
  }
  static std::vector<std::string> files_that_differ(const fs::path& one, const fs::path& other) {
    const auto ours = files_below(one), theirs = files_below(other);
    std::vector<std::string> found;
    for (const auto& [name, path] : ours) {
      const auto at = theirs.find(name);
      if (at == theirs.end() || content_of(path) != content_of(at->second)) found.push_back(name);
    }
    for (const auto& [name, path] : theirs)
      if (ours.count(name) == 0) found.push_back(name);
    return found;
  }

  // ---- A restart ----

  // Restarts from a point's line and tells what became of it. True: nothing differs.
  bool restart_from(size_t index) {
    const Point& point = points_[index];
    say_it("restarting from line " + number(point.line) + " (" + point.name() + ")");
    const Run restarted = run("from-" + number(point.number), &point, plan_from(index + 1), {});
    Findings found = judge(restarted, index);
    // Does it differ without a failure, too, now and then?
    for (; repeats_ < kMostRepeats && !found.empty() && found.front().kind == Finding::Kind::kValue; ++repeats_) {
      const Run again = run("run-" + number(static_cast<uint64_t>(repeats_ + 3)), nullptr, plan_from(0), {}, true);
      const std::vector<std::string> names = learn_from(again);
      if (names.empty() && !flow_varies_) break;
      if (!names.empty()) say_it("another run without a failure differs in " + list_of(names, 8) + ", too, and that is not judged");
      found = judge(restarted, index);
    }
    if (found.empty()) return true;
    tell(found, index);
    tell_checks();
    find_culprit(restarted, found, index);
    return false;
  }

  // What the library has said of pointers when it took lines.
  void tell_checks() {
    static const std::regex pointers("elc: rank ([0-9]+): saving (.*) point to nothing that is registered \\(the last to 0x([0-9a-f]+)\\)");
    std::istringstream errors(content_of(first_.place + "/errors"));
    std::set<std::string> told;
    std::smatch found;
    for (std::string line; std::getline(errors, line) && told.size() < 4;) {
      if (!std::regex_search(line, found, pointers)) continue;
      const auto rank = static_cast<unsigned>(std::stoul(found[1]));
      if (points_[0].line == 0 || !fs::exists(first_.file("point-1", rank))) continue;
      const std::string name = programs_.at(read_memory(first_.file("point-1", rank)), std::stoull(found[3], nullptr, 16));
      const std::string text = "in the line, " + found[2].str() + " point to nothing that is registered" + (name.empty() ? "" : ": to " + name);
      if (told.insert(text).second) say_it("  " + text);
    }
  }

  Findings judge(const Run& run, size_t index) {
    Findings found;
    const auto add = [&](Finding::Kind kind, const std::string& text) {
      Finding finding;
      finding.kind = kind, finding.text = text;
      found.push_back(finding);
    };
    if (!run.ended_well()) add(Finding::Kind::kEnd, "it " + run.end() + " (" + run.place + "/errors has what it said)");
    for (size_t i = index + 1; i < points_.size() && !flow_varies_; ++i) {
      if (points_[i].line == 0) continue;
      std::string why;
      const uint64_t line = line_at(run, points_[i], &why);
      if (line == 0) {
        if (run.ended_well() && varies_.empty()) add(Finding::Kind::kEnd, "at " + points_[i].name() + " there is no line: " + why);
        continue;
      }
      for (Finding& f : values_that_differ(run, i, line))
        if (varies_.count(name_of(f.difference)) == 0) found.push_back(std::move(f));
    }
    if (!run.ended_well()) return found;
    for (unsigned rank = 0; rank < options_.ranks; ++rank)
      if (const std::string text = printed_otherwise(run, index, rank); !text.empty()) add(Finding::Kind::kPrinted, text);
    for (const std::string& path : files_that_differ(first_.work(), run.work()))
      if (!varies(path)) add(Finding::Kind::kWritten, written_otherwise(path, run));
    return found;
  }

  // ---- What is printed and written ----

  uint64_t printed_before(const Run& run, const std::string& what, unsigned rank) const {
    std::string word;
    uint64_t value = 0;
    std::ifstream in(run.file(what, rank));
    while (in >> word && word != "printed") {
    }
    in >> value;
    return value;
  }
  // Where the output of a restart is to be compared from.
  uint64_t printed_at_restart(const Run& run, unsigned rank) const {
    std::string word;
    uint64_t site = 0, again = 0;
    std::ifstream(run.file("resumed", rank)) >> word >> site >> word >> again;
    return printed_before(run, again == 1 ? "resumed" : "restored", rank);
  }

  static std::string from(const std::string& text, uint64_t offset) { return offset < text.size() ? text.substr(offset) : ""; }

  // Behind the line; "" for nothing.
  std::string printed_otherwise(const Run& run, size_t index, unsigned rank) {
    const std::string point = "point-" + number(index + 1);
    const PrintedOtherwise otherwise = compare_printed(from(printed_[rank][0], printed_before(first_, point, rank)),
                                                       from(printed_[rank][1], printed_before(second_, point, rank)),
                                                       from(content_of(run.file("out", rank)), printed_at_restart(run, rank)));
    if (!otherwise.taken_for_time.empty()) taken_for_times_.try_emplace(rank, otherwise.taken_for_time);
    return otherwise.what.empty() ? "" : "rank " + number(rank) + " " + otherwise.what;
  }

  std::string written_otherwise(const std::string& path, const Run& run) const {
    const fs::path ours = fs::path(first_.work()) / path, theirs = fs::path(run.work()) / path;
    if (!fs::exists(theirs)) return path + " is not written";
    if (!fs::exists(ours)) return path + " is written, which no run without a failure does";
    const std::string wanted = content_of(ours), found = content_of(theirs);
    const auto at = static_cast<size_t>(std::mismatch(wanted.begin(), wanted.end(), found.begin(), found.end()).first - wanted.begin());
    const auto line = std::count(wanted.begin(), wanted.begin() + static_cast<ptrdiff_t>(at), '\n') + 1;
    std::string text = path + " has something else from byte " + number(at) + " on (line " + number(static_cast<uint64_t>(line)) + ")";
    if (wanted.size() != found.size()) text += ", " + number(found.size()) + " bytes instead of " + number(wanted.size());
    return text;
  }

  // ---- Telling ----

  static std::string where(const Difference& d) {
    const Pair& first = *d.first;
    std::string text = first.b + " instead of " + first.a;
    if (!first.place.empty()) text += " at " + first.place;
    if (d.different > 1) text += ", and " + number(d.different - 1) + " more";
    return text;
  }

  // The first differences in full, and those that came later by name.
  void tell(const Findings& found, size_t index) const {
    say_it("after a restart from line " + number(points_[index].line) + ":");
    size_t first = points_.size();
    for (const Finding& f : found)
      if (f.kind == Finding::Kind::kValue) first = std::min(first, f.point);
    std::map<Name, std::vector<const Finding*>> at_first;
    std::vector<Name> order;
    std::vector<std::string> later;
    std::set<Name> known;
    for (const Finding& f : found) {
      if (f.kind != Finding::Kind::kValue) continue;
      const Name name = name_of(f.difference);
      if (f.point == first) {
        if (at_first[name].empty()) order.push_back(name);
        at_first[name].push_back(&f);
        known.insert(name);
      } else if (known.insert(name).second) {
        later.push_back(called(f.difference));
      }
    }
    for (size_t i = 0; i < order.size() && i < 12; ++i) tell_value(at_first[order[i]]);
    if (order.size() > 12) say_it("  " + number(order.size() - 12) + " more differ there, too");
    if (!later.empty()) say_it("  later also: " + list_of(later, 12));
    for (const Finding& f : found)
      if (f.kind != Finding::Kind::kValue) print_indented(f.text);
  }
  void tell_value(const std::vector<const Finding*>& ranks) const {
    const Finding& f = *ranks.front();
    const Difference& d = f.difference;
    std::string text = "  " + called(d);
    if (!d.owner.empty()) text += " of " + d.owner + "()";
    text += " on rank " + number(f.rank);
    if (ranks.size() > 1) text += " and " + count_text(ranks.size() - 1, "other");
    text += " differs from " + points_[f.point].name() + " on";
    if (d.first) text += " (" + where(d) + ")";
    if (!d.note.empty()) text += ": " + d.note + " (A is the run without a failure)";
    if (d.only_floating()) text += ", in floating-point values alone, by " + distance_text(d.distance) + " at most";
    say_it(text);
  }
  static std::string distance_text(long double distance) {
    char text[64];
    snprintf(text, sizeof text, "%.3Lg", distance);
    return text;
  }
  static void print_indented(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) say_it("  " + line);
  }

  // ---- The culprit ----

  // What no line has and is not the same in two runs of this rank, at these points.
  Suspects unregistered(const Run& one, const Run& other, const std::string& at_one, const std::string& at_other, unsigned rank) {
    if (!fs::exists(one.file(at_one, rank)) || !fs::exists(other.file(at_other, rank))) return {};
    try {
      return unregistered_.compare(read_memory(one.file(at_one, rank)), read_memory(other.file(at_other, rank)), rank);
    } catch (const Refusal&) {  // the run ended while it was written
      return {};
    }
  }

  // All that no line has and that is not, when the restart has put back its data, as it was at the line.
  std::vector<Suspect> suspects(const Run& restarted, size_t index) {
    find_what_varies_unregistered();
    Suspects all;
    for (unsigned rank = 0; rank < options_.ranks; ++rank) {
      for (auto& [key, suspect] : unregistered(first_, restarted, "point-" + number(index + 1), "restored", rank)) {
        if (unregistered_varies_.count(key) > 0) continue;
        Suspect& known = all.try_emplace(key, suspect).first->second;
        known.ranks.insert(rank);
        known.change.insert(suspect.change.begin(), suspect.change.end());
      }
    }
    for (size_t i = index + 1; i < points_.size(); ++i)
      for (unsigned rank = 0; rank < options_.ranks; ++rank)
        for (const auto& [key, suspect] : unregistered(first_, restarted, "point-" + number(i + 1), "point-" + number(i + 1), rank))
          if (const auto at = all.find(key); at != all.end()) at->second.lasts = true;
    std::vector<Suspect> sorted;
    for (auto& [key, suspect] : all) sorted.push_back(std::move(suspect));
    std::stable_sort(sorted.begin(), sorted.end(), [](const Suspect& a, const Suspect& b) { return a.lasts > b.lasts; });
    return sorted;
  }

  // What differs after a restart if these have the values that they had when the line was taken.
  Findings with(const std::vector<const Suspect*>& given, size_t index) {
    ++trials_;
    std::map<unsigned, std::string> change;
    for (const Suspect* suspect : given)
      for (const auto& [rank, pieces] : suspect->change)
        for (const Suspect::Piece& piece : pieces) change[rank] += piece.head + "\n" + piece.bytes;
    const Point& point = points_[index];
    const Run trial = run("trial-" + number(point.number) + "-" + number(trials_), &point, plan_from(index + 1), change);
    return judge(trial, index);
  }
  bool cures(const std::vector<const Suspect*>& given, size_t index) { return with(given, index).empty(); }

  // Whether the same differs in the same way.
  static bool same(const Findings& one, const Findings& other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(), [](const Finding& f, const Finding& g) {
      return f.kind == g.kind && f.point == g.point && f.rank == g.rank && (f.kind == Finding::Kind::kEnd || f.text == g.text) &&
             tool::text_of(f.difference) == tool::text_of(g.difference);
    });
  }

  static constexpr const char* kElsewhere =
      "look at local variables, at memory of malloc, at files, and at what the program finds out about its surroundings";

  void find_culprit(const Run& restarted, const Findings& found, size_t index) {
    const std::vector<Suspect> every = suspects(restarted, index);
    for (const std::string& path : unregistered_.nameless()) say_it("  " + path + " has no table of symbols (it was stripped): its variables are not looked at");
    if (every.empty() && !unregistered_.nameless().empty()) return;
    if (every.empty()) return say_it(std::string("  no variable that is not registered has changed since the start: ") + kElsewhere);
    std::vector<const Suspect*> all, pointers;
    for (const Suspect& suspect : every) (suspect.change.empty() ? pointers : all).push_back(&suspect);
    std::vector<const Suspect*> needed;
    for (const Suspect* suspect : all)
      if (culprits_.count(suspect->key) > 0) needed.push_back(suspect);  // of the restart before
    if (!needed.empty() && cures(needed, index)) return tell_proven(needed);
    needed = all;
    const Findings left = all.empty() ? found : with(needed, index);
    if (left.empty()) {
      const bool least = reduce(&needed, index);
      for (const Suspect* suspect : needed) culprits_.insert(suspect->key);
      tell_proven(needed);
      if (!least) say_it("  (perhaps not all of them are needed for that)");
      return;
    }
    const bool no_part = same(left, found);
    std::vector<std::string> names;
    for (const Suspect* suspect : all) names.push_back(suspect->text());
    if (no_part && !all.empty()) say_it("  not registered, and changed since the start, but without any part in it: " + list_of(names, 8));
    if (!no_part) pointers.insert(pointers.begin(), all.begin(), all.end());
    for (const Suspect* suspect : pointers) say_it("  suspected: not registered, and changed since the start: " + described(*suspect));
    if (no_part && pointers.empty()) say_it(std::string("  so ") + kElsewhere);
    else if (no_part) say_it(std::string("  (pointers cannot be tried; if it is not that, ") + kElsewhere + ")");
    else say_it(std::string("  (as they were at the line, something else differs, and not nothing: there is more, so ") + kElsewhere + ")");
  }

  // Leaves out what is not needed for a cure: half by half, then one by one. False: it has stopped before.
  bool reduce(std::vector<const Suspect*>* needed, size_t index) {
    unsigned left = kMostTrials;
    for (size_t size = needed->size() / 2; size > 0; size /= 2)
      for (size_t at = 0; at < needed->size() && size < needed->size();) {
        if (left-- == 0) return false;
        std::vector<const Suspect*> fewer = *needed;
        const auto begin = fewer.begin() + static_cast<ptrdiff_t>(at);
        fewer.erase(begin, fewer.begin() + static_cast<ptrdiff_t>(std::min(at + size, fewer.size())));
        if (cures(fewer, index)) *needed = fewer;
        else at += size;
      }
    return true;
  }

  static std::string described(const Suspect& suspect) {
    return suspect.text() + (suspect.values.empty() ? "" : ": " + suspect.values + " on rank " + number(*suspect.ranks.begin()));
  }
  static void tell_proven(const std::vector<const Suspect*>& culprits) {
    for (const Suspect* suspect : culprits) say_it("  proven: not registered, and changed since the start: " + described(*suspect));
    say_it(std::string("  (with ") + (culprits.size() == 1 ? "that" : "these") + " as at the line the restart goes right)");
  }

  const DoctorOptions& options_;
  const fs::path dir_;
  std::vector<std::string> words_;
  std::string input_;
  uint64_t patience_ = 0;
  std::vector<Point> points_;
  size_t usable_ = 0;   // points with a line
  Run first_, second_;
  std::set<Name> varies_;                              // values, without a failure
  std::set<std::string> written_varies_, unregistered_varies_;
  bool unregistered_is_known_ = false;                 // the latter has been looked for
  std::set<std::string> names_vary_;                   // of files, with their digits as #
  std::set<std::string> similar_vary_;                 // names of files that vary, likewise
  std::vector<std::vector<std::string>> printed_;      // of each rank: in the first, in the second run, and when sites were counted
  bool printing_varies_ = false;
  std::map<unsigned, std::string> taken_for_times_;    // that is printed otherwise after a restart alone; of each rank the first
  mutable Programs programs_;
  Unregistered unregistered_{programs_};
  bool flow_varies_ = false;                           // the number of sites, without a failure
  int repeats_ = 0;                                    // runs without a failure, besides the first two
  unsigned trials_ = 0;
  std::set<std::string> culprits_;                     // found so far
};

}  // namespace

int doctor(const DoctorOptions& options) { return Doctor(options).examine(); }

}  // namespace elc::tool
