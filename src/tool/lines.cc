#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/together.h"
#include "portable_format/reader.h"
#include "store/system.h"
#include "text.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace elc::tool {
namespace {

// Does again for a moment what the system fails to do: `attempt` tells whether it has failed.
template <class Attempt>
void with_patience(Attempt attempt) {
  const struct timespec moment = {0, 100 * 1000000L};
  for (int left = 5; attempt() && --left > 0;) nanosleep(&moment, nullptr);
}

template <class Numbers>
bool has(const Numbers& numbers, uint64_t number) {
  return std::find(numbers.begin(), numbers.end(), number) != numbers.end();
}

json facts_of(const std::string& dir, const store::Survey& there, const store::Line& line) {
  json facts = {{"line", line.number}, {"committed", line.committed}, {"bytes", size_fact(line_size(dir, line.number))}};
  if (!line.damage.empty()) facts["damage"] = line.damage.c_str();
  if (!line.committed) return facts;
  facts["ranks"] = line.commit.ranks;
  facts["time"] = static_cast<double>(line.commit.time) / 1e6;
  facts["cost"] = static_cast<double>(line.commit.cost) / 1e6;
  facts["calls"] = line.commit.calls;
  facts["restarted_from"] = line.commit.base;
  facts["relies_on"] = std::vector<uint64_t>(line.commit.relies_on.begin(), line.commit.relies_on.end());
  facts["in_history"] = line.in_history;
  facts["finished"] = line.number <= there.finished;
  return facts;
}

// What a line is worth, in a few words, or what is wrong with it.
std::string standing(const store::Survey& there, const store::Line& line) {
  if (!line.damage.empty()) return visible(line.damage.c_str());
  if (!line.committed)
    return line.number > there.newest ? "not committed (perhaps being written)" : "never committed";
  if (line.number <= there.finished) return "its run finished";
  if (!line.in_history) return "given up: a run went back behind it";
  if (line.number == there.newest) return "newest: a restart begins here";
  const store::Line* const dependent = there.dependent(line.number);
  return dependent == nullptr ? "" : "line " + std::to_string(dependent->number) + " relies on it";
}

// What the running job said when it was last asked for a line and took none; nothing if it took one, or none runs.
std::string refusal(const std::string& dir) {
  Text why;
  if (!store::job_runs(dir.c_str()) || !store::read_refusal(dir.c_str(), &why).ok()) return "";
  return visible(why.c_str());
}

void print(const std::string& dir, const store::Survey& there) {
  if (there.lines.empty()) {
    printf("no lines in %s\n", dir.c_str());
    return;
  }
  printf("%8s %7s %10s %9s  %-19s  %s\n", "line", "ranks", "size", "cost", "committed", "");
  for (const store::Line& line : there.lines) {
    const std::string size = size_text(line_size(dir, line.number));
    const store::Commit& c = line.commit;
    if (line.committed)
      printf("%8llu %7lu %10s %9s  %-19s  %s\n", static_cast<unsigned long long>(line.number),
             static_cast<unsigned long>(c.ranks), size.c_str(),
             seconds_text(static_cast<double>(c.cost) / 1e6).c_str(), time_text(c.time).c_str(),
             standing(there, line).c_str());
    else
      printf("%8llu %7s %10s %9s  %-19s  %s\n", static_cast<unsigned long long>(line.number), "-",
             size.c_str(), "-", "-", standing(there, line).c_str());
  }
}

// The lines that `what` names: a number, the path of a line, or a directory with all its committed lines.
std::vector<uint64_t> chosen(const std::string& what, std::string* dir) {
  uint64_t number = 0;
  if (parse_whole(what.c_str(), &number)) return {number};
  const fs::path path = tidy(what);
  const std::string name = path.filename().string();
  if (name.rfind("line-", 0) == 0 && parse_whole(name.c_str() + 5, &number)) {
    *dir = path.has_parent_path() ? path.parent_path().string() : ".";
    return {number};
  }
  if (!fs::is_directory(path)) throw Refusal(kUsage, what + " is neither a line nor a directory of lines");
  *dir = path.string();
  std::vector<uint64_t> all;
  for (const store::Line& line : survey(*dir).lines)
    if (line.committed || !line.damage.empty()) all.push_back(line.number);
  return all;
}

}  // namespace

std::string tidy(const fs::path& path) {
  fs::path tidied;
  for (const fs::path& part : path)
    if (!part.empty() && part != ".") tidied /= part;
  return tidied.empty() ? "." : tidied.string();
}

store::Survey survey(const std::string& dir) {
  store::Survey there;
  Result status;
  with_patience([&] {
    status = store::survey(dir.c_str(), &there);
    const auto unread = [](const store::Line& line) { return line.unread; };
    return status.system_failed() || std::any_of(there.lines.begin(), there.lines.end(), unread);
  });
  if (!status.ok()) throw Refusal(kCannot, status.message());
  return there;
}

bool names_file(const std::string& what) {
  if (fs::exists(what)) return fs::is_regular_file(what);
  store::RankSource file;
  return file.open(what.c_str()).cause() != ENOENT;
}

LinePlace line_place(const std::string& what, const std::string& dir) {
  uint64_t line = 0;
  if (parse_whole(what.c_str(), &line)) return {dir, line};
  const std::filesystem::path path = tidy(what);
  const std::string name = path.filename().string();
  if (name.rfind("line-", 0) == 0 && parse_whole(name.c_str() + 5, &line))
    return {path.has_parent_path() ? path.parent_path().string() : ".", line};
  throw Refusal(kUsage, what + " is neither a file, nor a line (line-NNNNNN), nor the number of a line");
}

void require_line(const std::string& dir, uint64_t line) {
  if (!fs::exists(store::line_path(dir.c_str(), line).c_str()))
    throw Refusal(kUsage, "there is no line " + std::to_string(line) + " in " + dir + "; `elc ls " + dir +
                              "` shows those that there are");
}

void print(const json& facts) {
  std::cout << facts.dump(2, ' ', true, json::error_handler_t::replace) << "\n";
}

namespace {

// Of the files of a line, each is checked by one thread of several; by more where there are fewer files than processors.
struct Check {
  const std::string& dir;
  const store::Commit& commit;
  const size_t most;
  bool (*const enough)();
  const unsigned threads_for_one;
  std::atomic<uint32_t> next = 0;
  std::atomic<size_t> found = 0;
  std::vector<Result> results;  // of the ranks

  void work() {
    while (found < most && !enough()) {
      const uint32_t rank = next++;
      if (rank >= commit.ranks) return;
      with_patience([&] {
        store::RankSource source;
        format::Reader reader;
        reader.use_threads(threads_for_one);
        results[rank] = store::open_verified(dir.c_str(), commit, rank, &source, &reader);
        return results[rank].system_failed();
      });
      if (!results[rank].ok()) ++found;
    }
  }
};

}  // namespace

std::vector<Fault> faults(const std::string& dir, const store::Commit& commit, size_t most, bool (*enough)()) {
  const unsigned files = std::min(store::processors_of_process(), commit.ranks);
  Check check = {dir, commit, most, enough, store::processors_of_process() / files, 0, 0, std::vector<Result>(commit.ranks)};
  together(files, [](void* of, unsigned) { static_cast<Check*>(of)->work(); }, &check);
  std::vector<Fault> found;
  for (const Result& result : check.results)
    if (!result.ok() && found.size() < most) found.push_back({result.message(), result.system_failed()});
  return found;
}

// A file that goes away meanwhile is of a line that is abandoned or removed.
std::optional<uint64_t> line_size(const std::string& dir, uint64_t line) {
  uint64_t size = 0;
  std::error_code error;
  const fs::path place = store::line_path(dir.c_str(), line).c_str();
  const fs::file_type type = fs::symlink_status(place, error).type();
  if (type == fs::file_type::symlink) return 0;
  if (type == fs::file_type::none) return std::nullopt;
  fs::directory_iterator at(place, error);
  for (; !error && at != fs::directory_iterator(); at.increment(error)) {
    std::error_code unknown;
    const uintmax_t one = at->is_regular_file(unknown) ? at->file_size(unknown) : 0;
    if (!unknown) size += one;
    else if (unknown != std::errc::no_such_file_or_directory) return std::nullopt;
  }
  if (error && error != std::errc::no_such_file_or_directory) return std::nullopt;
  return size;
}

std::string size_text(std::optional<uint64_t> size) { return size ? bytes_text(*size) : "?"; }
json size_fact(std::optional<uint64_t> size) { return size ? json(*size) : json(); }

std::string default_dir() {
  const char* dir = getenv("ELC_DIR");
  return dir != nullptr && *dir != '\0' ? dir : "elc-lines";
}

int list(const std::string& dir, bool as_json) {
  if (!fs::exists(dir)) throw Refusal(kUsage, "there is no directory " + dir);
  const store::Survey there = survey(dir);
  const std::string why = refusal(dir);
  if (!as_json) {
    print(dir, there);
    if (!why.empty()) printf("the running job takes no line: %s\n", why.c_str());
    return 0;
  }
  json lines = json::array();
  for (const store::Line& line : there.lines) lines.push_back(facts_of(dir, there, line));
  print({{"dir", dir},
         {"newest", there.newest},
         {"finished", there.finished},
         {"restart", there.restartable()},
         {"running", store::job_runs(dir.c_str())},
         {"refused", why},
         {"lines", lines}});
  return 0;
}

// Of a line whose directory has gone, say: those that follow tell no more.
constexpr size_t kMostFaults = 100;

int verify(const std::string& what, const std::string& given_dir, bool as_json) {
  std::string dir = given_dir;
  const std::vector<uint64_t> lines = chosen(what, &dir);
  const store::Survey there = survey(dir);
  for (const uint64_t number : lines) require_line(dir, number);
  json results = json::array();
  bool damaged = false, unread = false;
  for (const uint64_t number : lines) {
    store::Commit commit;
    const Result status = store::read_commit(dir.c_str(), number, &commit);
    std::vector<Fault> found;
    if (!status.ok()) found.push_back({status.message(), status.system_failed()});
    if (status.ok()) found = faults(dir, commit, kMostFaults);
    json messages = json::array();
    for (const Fault& fault : found) {
      messages.push_back(fault.why);
      (fault.unread ? unread : damaged) = true;
    }
    results.push_back({{"line", number}, {"whole", found.empty()}, {"faults", messages}});
    if (as_json) continue;
    if (found.empty())
      printf("line %llu is whole: %s, %s\n", static_cast<unsigned long long>(number),
             count_text(commit.ranks, "rank").c_str(), size_text(line_size(dir, number)).c_str());
    for (const Fault& fault : found)
      printf("line %llu %s: %s\n", static_cast<unsigned long long>(number),
             fault.unread ? "cannot be read" : "is not whole", visible(fault.why).c_str());
    if (found.size() == kMostFaults)
      printf("line %llu: only the first %zu faults were looked for\n", static_cast<unsigned long long>(number), kMostFaults);
  }
  if (as_json) print({{"dir", dir}, {"lines", results}});
  if (!as_json && lines.empty()) printf("no lines in %s\n", dir.c_str());
  return damaged ? kDamaged : unread ? kCannot : 0;
}

int remove(std::vector<uint64_t> lines, const std::string& dir, bool force) {
  const store::Survey there = survey(dir);
  for (const uint64_t number : lines) {
    if (there.find(number) == nullptr)
      throw Refusal(kUsage, "there is no line " + std::to_string(number) + " in " + dir);
    if (number == there.restartable() && !force)
      throw Refusal(kUsage, "line " + std::to_string(number) +
                                " is what a restart of the unfinished run needs; --force "
                                "removes it all the same");
    for (const store::Line& line : there.lines)
      if (line.committed && has(line.commit.relies_on, number) && !has(lines, line.number))
        throw Refusal(kUsage, "line " + std::to_string(line.number) + " relies on line " + std::to_string(number) +
                                  ", parts of which are not in it: remove both, or neither");
  }
  // A job that runs may be writing the line, or count on it.
  store::Lock locks[2];
  const char* const names[] = {"elc.lock", "job.lock"};
  for (int i = 0; i < 2 && !force; ++i) {
    const Result free = locks[i].take(dir.c_str(), names[i]);
    if (!free.ok()) throw Refusal(kCannot, free.message());
  }
  // A line goes before those that it relies on.
  std::sort(lines.begin(), lines.end(), std::greater<>());
  for (const uint64_t number : lines) {
    const Result status = store::remove_line(dir.c_str(), number);
    if (!status.ok()) throw Refusal(kCannot, status.message());
  }
  if (!force) store::forget_refusal(dir.c_str()).ok();  // no job runs: it is of one that has ended
  return 0;
}

}  // namespace elc::tool
