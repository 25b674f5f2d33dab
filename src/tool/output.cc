#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/config.h"
#include "facts.h"
#include "lines.h"
#include "state/streams.h"
#include "store/files.h"

namespace elc::tool {
namespace {

constexpr size_t kMost = 65536;

uint64_t size_of(const Descriptor& file) {
  struct stat about = {};
  return fstat(file.get(), &about) == 0 ? static_cast<uint64_t>(about.st_size) : 0;
}

// Behind the last line that is whole; one that is longer than what is looked at goes as it is.
uint64_t end_of_lines(const Descriptor& file, uint64_t begin, uint64_t end) {
  const uint64_t from = std::max(begin, end < kMost ? 0 : end - kMost);
  std::string some(end - from, '\0');
  const ssize_t got = pread(file.get(), some.data(), some.size(), static_cast<off_t>(from));
  const size_t last = some.rfind('\n', got < 0 ? 0 : static_cast<size_t>(got));
  if (last != std::string::npos) return from + last + 1;
  return from == begin ? begin : end;
}

// "output-3.order" or "output-3.1".
bool parse_name(const std::string& name, unsigned* attempt, std::string* end) {
  const size_t point = name.find('.');
  uint64_t number = 0;
  if (!name.starts_with("output-") || point == std::string::npos || !parse_whole(name.substr(7, point - 7).c_str(), &number)) return false;
  *attempt = static_cast<unsigned>(number);
  *end = name.substr(point);
  return true;
}

}  // namespace

void Output::open(const std::string& file, const std::string& dir) {
  if (file.empty()) return;
  path_ = file;
  dir_ = dir;
  file_ = Descriptor(::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file_.open()) throw Refusal(kCannot, "--output: cannot open '" + file + "': " + strerror(errno));
}

// With which attempt the line was taken, and how much the rank had written in it; nothing: without output.
std::optional<unsigned> Output::attempt_of(uint64_t line, unsigned rank, uint64_t* length) const {
  const nlohmann::json facts = file_facts(store::rank_path(dir_.c_str(), line, rank).c_str(), 0);
  const nlohmann::json streams = facts.value("streams", nlohmann::json::array());
  unsigned attempt;
  std::string end;
  if (streams.empty() || streams.back()["mode"] != state::kOutputMode) return std::nullopt;
  if (!parse_name(std::filesystem::path(streams.back()["path"].get<std::string>()).filename().string(), &attempt, &end)) return std::nullopt;
  *length = streams.back()["length"];
  return attempt;
}

Output::Pieces Output::of_attempt(unsigned attempt) const {
  Pieces pieces;
  std::ifstream in(name(attempt, ".order"));
  if (!in) throw Refusal(kCannot, "--output: there is no '" + name(attempt, ".order") + "': without --output the job goes on from the line");
  for (Piece piece; in >> piece.attempt >> piece.rank >> piece.bytes;) add(&pieces, piece);
  return pieces;
}

// Of its own attempt what came before it; of those before, all that its attempt began with.
Output::Pieces Output::of_line(uint64_t line, unsigned ranks, bool* lacks) const {
  std::map<unsigned, uint64_t> left;  // by rank
  std::optional<unsigned> attempt;
  for (unsigned rank = 0; rank < ranks; ++rank)
    if (const std::optional<unsigned> its = attempt_of(line, rank, &left[rank])) attempt = its;
  *lacks = !attempt.has_value();
  Pieces pieces;
  if (*lacks) return pieces;
  for (Piece piece : of_attempt(*attempt)) {
    if (piece.attempt == *attempt) {
      piece.bytes = std::min(piece.bytes, left[piece.rank]);
      left[piece.rank] -= piece.bytes;
    }
    if (piece.bytes > 0) add(&pieces, piece);
  }
  for (const auto& [rank, bytes] : left)  // what nobody had passed on
    if (bytes > 0) add(&pieces, {*attempt, rank, bytes});
  return pieces;
}

// What no line that is there goes back to. Returns the last attempt that there was.
unsigned Output::remove_unneeded(const Pieces& wanted) const {
  std::set<unsigned> needed;
  for (const Piece& piece : wanted) needed.insert(piece.attempt);
  for (const store::Line& line : survey(dir_).lines) {
    uint64_t length;
    const std::optional<unsigned> attempt = line.committed ? attempt_of(line.number, 0, &length) : std::nullopt;
    if (!attempt || !needed.insert(*attempt).second) continue;
    for (const Piece& piece : of_attempt(*attempt)) needed.insert(piece.attempt);
  }
  unsigned last = 0, attempt;
  std::string end;
  std::vector<std::filesystem::path> unneeded;
  for (const auto& entry : std::filesystem::directory_iterator(dir_)) {
    if (!parse_name(entry.path().filename().string(), &attempt, &end)) continue;
    last = std::max(last, attempt);
    if (!needed.contains(attempt)) unneeded.push_back(entry.path());
  }
  for (const std::filesystem::path& path : unneeded) std::filesystem::remove(path);
  return last;
}

bool Output::copy(const Descriptor& from, uint64_t begin, uint64_t bytes, uint64_t* done) {
  std::vector<char> some(kMost);
  for (*done = 0; *done < bytes;) {
    const ssize_t got = pread(from.get(), some.data(), std::min<uint64_t>(kMost, bytes - *done), static_cast<off_t>(begin + *done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    const off_t before = lseek(file_.get(), 0, SEEK_CUR);
    if (const int error = store::write_all(file_.get(), some.data(), static_cast<size_t>(got)); error != 0) {
      if (ftruncate(file_.get(), before) != 0 || lseek(file_.get(), before, SEEK_SET) < 0) throw Refusal(kCannot, "cannot write '" + path_ + "': " + strerror(error));
      errno = error;
      return false;
    }
    *done += static_cast<uint64_t>(got);
  }
  return true;
}

void Output::add(Pieces* pieces, const Piece& piece) {
  if (!pieces->empty() && pieces->back().attempt == piece.attempt && pieces->back().rank == piece.rank) pieces->back().bytes += piece.bytes;
  else pieces->push_back(piece);
}

// Into the order of this attempt. Returns why not.
int Output::note(const Pieces& pieces) const {
  std::string text;
  for (const Piece& piece : pieces) text += std::to_string(piece.attempt) + ' ' + std::to_string(piece.rank) + ' ' + std::to_string(piece.bytes) + '\n';
  return store::write_all(order_.get(), text.data(), text.size());
}

// Before anything is changed.
void Output::check(const Pieces& wanted) const {
  std::map<std::pair<unsigned, unsigned>, uint64_t> needed;
  for (const Piece& piece : wanted) needed[{piece.attempt, piece.rank}] += piece.bytes;
  for (const auto& [of, bytes] : needed) {
    const std::string source = name(of.first, "." + std::to_string(of.second));
    const Descriptor from(::open(source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!from.open() || size_of(from) < bytes)
      throw Refusal(kCannot, "--output: '" + source + "' does not have what was written before the line: without --output the job goes on from it");
  }
}

// What both have stays.
void Output::bring_back(const Pieces& wanted) {
  check(wanted);
  uint64_t length = 0;
  std::map<std::pair<unsigned, unsigned>, uint64_t> taken;  // of each source
  size_t next = 0;
  uint64_t of_next = 0;
  for (bool same = true; same && next < std::min(there_.size(), wanted.size()); next += same ? 1 : 0) {
    const Piece &have = there_[next], &want = wanted[next];
    same = have == want;
    of_next = have.attempt == want.attempt && have.rank == want.rank ? std::min(have.bytes, want.bytes) : 0;
    length += of_next;
    taken[{want.attempt, want.rank}] += of_next;
    if (same) of_next = 0;
  }
  if (ftruncate(file_.get(), static_cast<off_t>(length)) != 0 || lseek(file_.get(), static_cast<off_t>(length), SEEK_SET) < 0)
    throw Refusal(kCannot, "--output: cannot shorten '" + path_ + "': " + strerror(errno));
  for (; next < wanted.size(); ++next, of_next = 0) {
    const Piece& piece = wanted[next];
    const Descriptor from(::open(name(piece.attempt, "." + std::to_string(piece.rank)).c_str(), O_RDONLY | O_CLOEXEC));
    uint64_t& begin = taken[{piece.attempt, piece.rank}];
    const uint64_t bytes = piece.bytes - of_next;
    uint64_t done;
    if (!copy(from, begin, bytes, &done)) throw Refusal(kCannot, "--output: cannot write '" + path_ + "': " + strerror(errno));
    begin += bytes;
  }
  there_ = wanted;
}

std::string Output::begin(uint64_t line, unsigned ranks, bool* lacks) {
  *lacks = false;
  if (!is_open()) return "";
  const Pieces wanted = line == 0 ? Pieces() : of_line(line, ranks, lacks);
  bring_back(wanted);
  attempt_ = remove_unneeded(wanted) + 1;
  const std::string order = name(attempt_, ".order");
  order_ = Descriptor(::open(order.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const int error = !order_.open() ? errno : note(wanted);
  if (error != 0 || fsync(order_.get()) != 0) throw Refusal(kCannot, "--output: cannot write '" + order + "': " + strerror(error != 0 ? error : errno));
  ranks_.clear();
  ranks_.resize(ranks);
  return name(attempt_, "");
}

std::string Output::pass_on(bool all) {
  for (unsigned rank = 0; rank < ranks_.size(); ++rank) {
    Source& source = ranks_[rank];
    if (!source.file.open()) source.file = Descriptor(::open(name(attempt_, "." + std::to_string(rank)).c_str(), O_RDONLY | O_CLOEXEC));
    if (!source.file.open()) continue;
    uint64_t end = size_of(source.file);
    if (!all) end = end_of_lines(source.file, source.passed_on, end);
    if (end <= source.passed_on) continue;
    uint64_t done;
    const bool passed = copy(source.file, source.passed_on, end - source.passed_on, &done);
    const std::string why = strerror(errno);
    if (done > 0) {
      source.passed_on += done;
      add(&there_, {attempt_, rank, done});
      note({{attempt_, rank, done}});  // for another elc run, which finds what is missing by itself
    }
    if (passed || (told_ && !all)) continue;
    told_ = true;
    return "--output: cannot write '" + path_ + "': " + why +
           (all ? "; it lacks the end of what '" + name(attempt_, "." + std::to_string(rank)) + "' has" : "; it is tried again");
  }
  return "";
}

}  // namespace elc::tool
