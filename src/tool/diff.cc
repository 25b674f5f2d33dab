#include "diff.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <set>

#include "lines.h"
#include "text.h"

namespace fs = std::filesystem;
using nlohmann::json;

namespace elc::tool {
namespace {

constexpr size_t kMostOfKind = 20;  // blocks, messages and the like that people are shown of a rank

// What one of the two is.
struct Side {
  enum class Kind { kFile, kLine, kDirectory } kind = Kind::kFile;
  std::string given, dir;
  uint64_t line = 0;
};

Side side_of(const std::string& what, const std::string& dir) {
  Side side;
  side.given = what;
  if (names_file(what)) return side;
  if (parse_whole(what.c_str(), &side.line)) {
    side.kind = Side::Kind::kLine, side.dir = dir;
    return side;
  }
  const fs::path path = tidy(what);
  const std::string name = path.filename().string();
  if (name.rfind("line-", 0) == 0 && parse_whole(name.c_str() + 5, &side.line)) {
    side.kind = Side::Kind::kLine, side.dir = path.has_parent_path() ? path.parent_path().string() : ".";
  } else if (fs::is_directory(path)) {
    side.kind = Side::Kind::kDirectory, side.dir = path.string();
  } else {
    throw Refusal(kUsage, what + " is neither a file, nor a line, nor a directory of lines");
  }
  return side;
}

// Prints as it goes, or gathers for JSON.
class Report {
 public:
  explicit Report(const DiffOptions& options) : options_(options) {}

  void line(const std::string& name, const store::Commit& a, const store::Commit& b, const std::string& dir_a,
            const std::string& dir_b) {
    if (a.ranks != b.ranks && options_.ranks.empty())
      missing(name + ": A has " + count_text(a.ranks, "rank") + ", B has " + count_text(b.ranks, "rank"));
    for (uint32_t rank = 0; rank < std::min(a.ranks, b.ranks); ++rank)
      if (options_.ranks.empty() || std::count(options_.ranks.begin(), options_.ranks.end(), rank) > 0)
        files((name.empty() ? "" : name + ", ") + "rank " + std::to_string(rank),
              store::rank_path(dir_a.c_str(), a.line, rank).c_str(), store::rank_path(dir_b.c_str(), b.line, rank).c_str(), rank);
  }

  void files(const std::string& name, const std::string& a, const std::string& b, int64_t rank) {
    const Comparison found = compare_files(a, b, options_.compare);
    for (const Difference& d : found.differences) (d.only_floating() ? floating_ : other_) += 1;
    values_ += found.values, within_ += found.within;
    if (!options_.json) return print(name, found);
    json facts = facts_of(found);
    if (rank >= 0) facts["rank"] = rank;
    compared_.push_back(facts);
  }

  void missing(const std::string& what) {
    other_ += 1;
    if (options_.json) missing_.push_back(what);
    else printf("%s\n", visible(what).c_str());
  }

  int end() {
    const bool same = floating_ + other_ == 0;
    if (options_.json) {
      tool::print({{"a", options_.a}, {"b", options_.b}, {"same", same}, {"values", values_}, {"within_tolerance", within_},
                   {"floating", floating_}, {"other", other_}, {"missing", missing_}, {"compared", compared_}});
      return same ? kSame : kDiffer;
    }
    const std::string within =
        within_ == 0 ? "" : "; " + count_text(within_, "value") + " differ" + (within_ == 1 ? "s" : "") + " within the tolerance";
    if (!same)
      printf("%s; %s in floating-point values alone%s\n",
             (count_text(floating_ + other_, "thing") + (floating_ + other_ == 1 ? " differs" : " differ")).c_str(),
             floating_ == 0 ? "none" : std::to_string(floating_).c_str(), within.c_str());
    else if (within_ > 0)
      printf("the same%s\n", within.c_str());
    return same ? kSame : kDiffer;
  }

 private:
  static void print(const std::string& name, const Comparison& found) {
    if (found.differences.empty() && found.not_compared.empty()) return;
    if (!name.empty()) printf("%s:\n", visible(name).c_str());
    std::string kind;
    size_t of_kind = 0;
    const auto close = [&] {
      if (of_kind > kMostOfKind) printf("  %s: %zu more\n", kind.c_str(), of_kind - kMostOfKind);
    };
    for (const Difference& d : found.differences) {
      if (d.what != kind) close(), kind = d.what, of_kind = 0;
      if (++of_kind <= kMostOfKind || d.what == "variable") print_indented(text_of(d));
      if (d.what == "variable") of_kind = 0;
    }
    close();
    for (const std::string& what : found.not_compared) printf("  not compared: %s\n", visible(what).c_str());
  }
  static void print_indented(const std::string& text) {
    for (size_t at = 0, end; at < text.size(); at = end + 1) {
      end = std::min(text.find('\n', at), text.size());
      printf("  %s\n", visible(text.substr(at, end - at)).c_str());
    }
  }

  const DiffOptions& options_;
  uint64_t floating_ = 0, other_ = 0, values_ = 0, within_ = 0;
  json missing_ = json::array(), compared_ = json::array();
};

store::Commit commit_of(const Side& side) {
  require_line(side.dir, side.line);
  store::Commit commit;
  const Result status = store::read_commit(side.dir.c_str(), side.line, &commit);
  if (!status.ok()) throw Refusal(status.system_failed() ? kCannot : kDamaged, status.message());
  return commit;
}

void lines(const Side& a, const Side& b, const DiffOptions& options, Report* report) {
  const store::Commit ours = commit_of(a), theirs = commit_of(b);
  for (const uint64_t rank : options.ranks)
    if (rank >= std::min(ours.ranks, theirs.ranks))
      throw Refusal(kUsage, "there is no rank " + std::to_string(rank) + " in " +
                                (rank >= ours.ranks ? options.a : options.b));
  report->line("", ours, theirs, a.dir, b.dir);
}

void directories(const Side& a, const Side& b, Report* report) {
  const store::Survey ours = survey(a.dir), theirs = survey(b.dir);
  std::set<uint64_t> numbers;
  for (const auto* side : {&ours, &theirs})
    for (const store::Line& line : side->lines)
      if (line.committed) numbers.insert(line.number);
  if (numbers.empty()) throw Refusal(kUsage, "there is no line in " + a.dir + ", nor in " + b.dir);
  for (const uint64_t number : numbers) {
    const store::Line *x = ours.find(number), *y = theirs.find(number);
    const std::string name = "line " + std::to_string(number);
    const bool in_a = x != nullptr && x->committed, in_b = y != nullptr && y->committed;
    if (in_a && in_b) report->line(name, x->commit, y->commit, a.dir, b.dir);
    else report->missing(name + " is only in " + (in_a ? "A" : "B"));
  }
}

}  // namespace

int diff(const DiffOptions& options) {
  const Side a = side_of(options.a, options.dir), b = side_of(options.b, options.dir);
  if (a.kind != b.kind)
    throw Refusal(kUsage, "two files, two lines or two directories of lines are wanted, not one of each");
  Report report(options);
  if (a.kind == Side::Kind::kFile) report.files("", a.given, b.given, -1);
  else if (a.kind == Side::Kind::kLine) lines(a, b, options, &report);
  else directories(a, b, &report);
  return report.end();
}

}  // namespace elc::tool
