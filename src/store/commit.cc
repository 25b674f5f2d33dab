// The commit record, and what a directory of lines holds.
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <utility>

#include "base/hash_map.h"
#include "base/message.h"
#include "base/sort.h"
#include "store/files.h"
#include "store/records.h"
#include "store/store.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr uint32_t kCommitMagic = 0x454c4343;  // "ELCC"
constexpr uint32_t kCommitVersion = 1;
constexpr size_t kCommitMost = 4096;  // bytes; later versions may append fields

unsigned long long number(uint64_t n) { return n; }

Result decode_record(const Directory& place, uint64_t line, const Bytes& content, Commit* record) {
  const Text path = place.path_of(kCommitName);
  Decoder in(content);
  const Text name = Text::format("the commit record %s", path.c_str());
  ELC_TRY(unseal(&in, content, kCommitMagic, kCommitVersion, name.c_str()));
  record->line = in.u64();
  record->run = in.u64();
  record->base = in.u64();
  record->calls = in.u64();
  record->ranks = in.u32();
  record->cost = in.u64();
  record->time = in.u64();
  record->relies_on.clear();
  // Behind the fields of the first version.
  if (in.left() > 0) {
    for (size_t left = in.count(sizeof(uint64_t)); left > 0; --left) record->relies_on.push_back(in.u64());
  }
  if (!in.ok() || record->ranks == 0) return Result::error("%s is damaged", name.c_str());
  if (record->line != line)
    return Result::error("%s is that of line %llu: it does not belong there", name.c_str(), number(record->line));
  return {};
}

Result read_record(const Directory& place, uint64_t line, Commit* record, bool* found) {
  Bytes content;
  ELC_TRY(read_small_file(place, kCommitName, kCommitMost, &content, found));
  return *found ? decode_record(place, line, content, record) : Result();
}

// What stands in the way of looking is told as damage: nothing that may be a line is taken for none.
void read_line(const Directory& top, Line* line) {
  Directory place;
  Bytes content;
  bool found = false;
  Result status = place.open_in(top, line_name(line->number).c_str(), &found);
  line->ours = status.ok();
  if (place.is_open()) status = read_small_file(place, kCommitName, kCommitMost, &content, &found);
  if (status.ok() && found) status = decode_record(place, line->number, content, &line->commit);
  line->committed = status.ok() && found;
  line->unread = status.system_failed() ? status.cause() : 0;
  if (!status.ok()) line->damage = Text::copy(status.message());
}

// The path of the first file that a line of so many ranks lacks; empty: none. One list of the directory, instead of a look
// at each file. `together`: of several ranks, as far as that is known.
Result missing_in(const Directory& place, uint32_t ranks, const Vector<Ranks>& together, Text* missing) {
  Vector<uint32_t> listed;
  ELC_TRY(place.each([&](const char* name) {
    Ranks found;
    if (rank_number(name, name + strlen(name), &found.first)) found.last = found.first;
    else if (!aggregate_ranks(name, name + strlen(name), &found)) return;
    for (uint64_t rank = found.first; rank <= found.last && rank < ranks; rank += found.step)
      listed.push_back(static_cast<uint32_t>(rank));
  }));
  sort(listed, [](uint32_t a, uint32_t b) { return a < b; });
  size_t at = 0;
  for (uint32_t rank = 0; rank < ranks && missing->empty(); ++rank) {
    while (at < listed.size() && listed[at] < rank) ++at;
    if (at < listed.size() && listed[at] == rank) continue;
    // On a network a list may be older than its files.
    Text name = rank_name(rank);
    for (const Ranks& known : together)
      if (known.has(rank)) name = file_name(rank, known);
    Text path = place.path_of(name.c_str());
    struct stat about;
    if (uninterrupted([&] { return system_calls.status(place.fd(), name.c_str(), &about); }) == 0) continue;
    if (errno != ENOENT) return io_error("look at", path.c_str(), errno);
    *missing = std::move(path);
  }
  return {};
}

// Of the line, or of one that it relies on.
Result missing_file(const char* dir, const Line& line, Text* missing) {
  Directory top;
  ELC_TRY(top.open(dir));
  const auto look = [&](uint64_t number) -> Result {
    Directory place;
    bool found = false;
    ELC_TRY(place.open_in(top, line_name(number).c_str(), &found));
    if (!found) *missing = line_path(dir, number);
    return found ? missing_in(place, line.commit.ranks, {}, missing) : Result();
  };
  ELC_TRY(look(line.number));
  for (size_t i = 0; i < line.commit.relies_on.size() && missing->empty(); ++i) ELC_TRY(look(line.commit.relies_on[i]));
  return {};
}

// The lines that one relies on are there, of the same run.
Result check_bases(const Directory& top, const Commit& record) {
  for (const uint64_t line : record.relies_on) {
    Directory place;
    Commit base;
    bool found = false;
    ELC_TRY(place.open_in(top, line_name(line).c_str(), &found));
    if (found) ELC_TRY(read_record(place, line, &base, &found));
    if (!found || base.run != record.run || base.ranks != record.ranks)
      return Result::error("%s: line %llu; the next line is a whole one", kReliedGone, number(line));
  }
  return {};
}

}  // namespace

Text line_name(uint64_t line) { return Text::format("line-%06llu", number(line)); }

bool line_number(const char* name, uint64_t* line) {
  if (strncmp(name, "line-", 5) != 0 || !parse_whole(name + 5, line)) return false;
  return strcmp(line_name(*line).c_str(), name) == 0 && *line > 0 && *line <= UINT32_MAX;
}

Text line_path(const char* dir, uint64_t line) { return Text::format("%s/%s", dir, line_name(line).c_str()); }

Result open_line(const char* dir, uint64_t line, Directory* top, Directory* place) {
  ELC_TRY(top->open(dir));
  return place->open_in(*top, line_name(line).c_str());
}

Text commit_path(const char* dir, uint64_t line) {
  return Text::format("%s/%s", line_path(dir, line).c_str(), kCommitName);
}

uint64_t microseconds_now() {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000 + static_cast<uint64_t>(now.tv_nsec) / 1000;
}

uint64_t new_run() {
  const uint64_t run = mix64(microseconds_now() ^ mix64(static_cast<uint64_t>(getpid())));
  return run == 0 ? 1 : run;
}

Result CommitFile::begin(const char* dir, const Commit& record, const Vector<Ranks>& together) {
  const Result status = look(dir, record, together);
  if (!status.ok()) take_back();
  return status;
}

Result CommitFile::look(const char* dir, const Commit& record, const Vector<Ranks>& together) {
  content_.clear();
  Encoder out(&content_);
  out.u32(kCommitMagic);
  out.u32(kCommitVersion);
  out.u64(record.line);
  out.u64(record.run);
  out.u64(record.base);
  out.u64(record.calls);
  out.u32(record.ranks);
  out.u64(record.cost);
  out.u64(microseconds_now());
  out.u64(record.relies_on.size());
  for (const uint64_t base : record.relies_on) out.u64(base);
  seal(&content_);
  run_ = record.run;
  together_.clear();
  together_.append(together.data(), together.size());
  Directory top;
  ELC_TRY(open_line(dir, record.line, &top, &place_));
  stage_ = Stage::kLooking;
  ELC_TRY(check_claim(place_, run_));
  ELC_TRY(check_bases(top, record));
  Text missing;
  ELC_TRY(missing_in(place_, record.ranks, together, &missing));
  if (missing.empty()) return {};
  return Result::error("%s is not there, which its rank has written: ELC_DIR has to be one directory for all ranks, on a "
                       "file system that all machines share", missing.c_str());
}

Result CommitFile::write() {
  ELC_TRY(open_temporary(place_, kCommitName, &temporary_, &fd_));
  stage_ = Stage::kFlushing;
  const int error = write_all(fd_, content_.data(), content_.size());
  if (error != 0) return io_error("write", place_.path_of(temporary_.c_str()).c_str(), error);
  system_calls.start_flush(fd_);
  return {};
}

Result CommitFile::put_in_place() {
  const int error = uninterrupted([&] { return system_calls.end_flush(fd_); }) == 0 ? 0 : errno;
  stage_ = Stage::kNone;
  ELC_TRY(store::put_in_place(place_, temporary_.c_str(), kCommitName, std::exchange(fd_, -1), "flush", error));
  system_calls.start_flush(place_.fd());
  stage_ = Stage::kFlushingDirectory;
  return {};
}

Result CommitFile::step(bool wait) {
  constexpr int kAtOnce = 16;  // files: some milliseconds
  for (int left = kAtOnce; stage_ == Stage::kLooking && !together_.empty(); --left) {
    if (left == 0 && !wait) return {};
    ELC_TRY(check_slots(place_, together_.back()));
    together_.pop_back();
  }
  if (stage_ == Stage::kLooking) ELC_TRY(write());
  if (stage_ == Stage::kFlushing && (wait || !system_calls.flushing())) ELC_TRY(put_in_place());
  if (stage_ == Stage::kFlushingDirectory && (wait || !system_calls.flushing())) {
    const int flushed = uninterrupted([&] { return system_calls.end_flush(place_.fd()); });
    stage_ = Stage::kFlushed;
    ELC_TRY(place_.flushed(flushed));
    // Another job may have begun to remove the line before it had a record: remove_line.
    ELC_TRY(check_claim(place_, run_));
    stage_ = Stage::kNone;
    place_.close();
  }
  return {};
}

Result CommitFile::advance(bool* done) {
  const Result status = step(false);
  if (!status.ok()) take_back();
  *done = !begun();
  return status;
}

Result CommitFile::finish() {
  const Result status = step(true);
  if (!status.ok()) take_back();
  return status;
}

// The record may be there though its directory could not be flushed; the line is to be abandoned.
void CommitFile::take_back() {
  if (stage_ == Stage::kFlushing) {
    system_calls.end_flush(fd_);
    system_calls.close(std::exchange(fd_, -1));
    remove_file(place_, temporary_.c_str()).ok();
  } else if (begun() && stage_ != Stage::kLooking) {
    if (stage_ == Stage::kFlushingDirectory) system_calls.end_flush(place_.fd());
    remove_file(place_, kCommitName).ok();
    place_.flush().ok();
  }
  stage_ = Stage::kNone;
  place_.close();
}

Result commit(const char* dir, const Commit& record) {
  CommitFile file;
  ELC_TRY(file.begin(dir, record));
  return file.finish();
}

Result read_commit(const char* dir, uint64_t line, Commit* record) {
  Directory top, place;
  ELC_TRY(open_line(dir, line, &top, &place));
  bool found = false;
  ELC_TRY(read_record(place, line, record, &found));
  if (found) return {};
  return Result::error("line %llu never committed: %s is not there", number(line), commit_path(dir, line).c_str());
}

Result survey(const char* dir, Survey* survey) {
  *survey = Survey();
  Directory top;
  bool found = false;
  ELC_TRY(top.open(dir, &found));
  if (!found) return {};
  ELC_TRY(top.each([&](const char* name) {
    Line line;
    if (!line_number(name, &line.number)) return;
    read_line(top, &line);
    survey->lines.push_back(std::move(line));
  }));
  ELC_TRY(read_finished(top, &survey->finished, &survey->finished_run));
  sort(survey->lines, [](const Line& a, const Line& b) { return a.number < b.number; });
  survey->highest = survey->finished;
  for (const Line& line : survey->lines) {
    if (line.number > survey->highest) survey->highest = line.number;
    if (line.committed) survey->newest = line.number;
  }
  for (uint64_t number = survey->newest; number > 0; number = survey->predecessor(number))
    for (Line& line : survey->lines)
      if (line.number == number) line.in_history = true;
  return {};
}

const Line* Survey::find(uint64_t wanted) const {
  for (const Line& line : lines)
    if (line.number == wanted) return &line;
  return nullptr;
}

const Line* Survey::dependent(uint64_t on) const {
  for (const Line& line : lines)
    for (const uint64_t base : line.commit.relies_on)
      if (line.committed && base == on) return &line;
  return nullptr;
}

uint64_t Survey::predecessor(uint64_t from) const {
  const Line* after = find(from);
  if (after == nullptr || !after->committed) return 0;
  for (size_t i = lines.size(); i-- > 0;) {
    const Line& line = lines[i];
    if (!line.committed || line.number >= from) continue;
    if (line.commit.run == after->commit.run || line.number <= after->commit.base) return line.number;
  }
  return 0;
}

Result line_to_restart(const Survey& survey, const char* dir, const Config& config, uint64_t* line) {
  *line = 0;
  if (survey.highest >= kHighestBefore)
    return Result::error("lines in %s have come to number %llu, and no run can number its own after that: remove those "
                         "that are not libELC's, or set ELC_DIR to another directory", dir, number(survey.highest));
  if (config.restart == Restart::kNone) return {};
  if (config.restart == Restart::kLine) {
    const Line* wanted = survey.find(config.restart_line);
    if (wanted != nullptr && wanted->committed) {
      *line = wanted->number;
      return {};
    }
    return Result::caused(wanted == nullptr ? 0 : wanted->unread,
                          "there is no committed line %llu in %s%s%s; `elc ls` shows those that there are",
                          number(config.restart_line), dir,
                          wanted == nullptr || wanted->damage.empty() ? "" : ": ",
                          wanted == nullptr ? "" : wanted->damage.c_str());
  }
  *line = survey.restartable();
  // Taking an older line than the newest is a decision for the user, or for `elc run`, which says so.
  for (const Line& other : survey.lines)
    if (!other.damage.empty() && other.number > *line && other.number > survey.finished)
      return Result::caused(other.unread, "%s; %s", other.damage.c_str(),
                            *line == 0 ? "there is no whole line to go on from: remove what is not libELC's, or begin anew with ELC_RESTART=no"
                                       : "`elc run` takes the newest whole line, or set ELC_RESTART to an older one");
  return {};
}

Result pass_over_incomplete(const Survey& survey, const char* dir, const Config& config, uint64_t* line) {
  if (config.restart != Restart::kNewest) return {};
  while (*line != 0) {
    Text missing;
    ELC_TRY(missing_file(dir, *survey.find(*line), &missing));
    if (missing.empty()) return {};
    const uint64_t before = survey.predecessor(*line);
    if (before <= survey.finished)
      return Result::error("%s is missing, and there is no line before it to go back to; ELC_RESTART=no begins anew",
                           missing.c_str());
    say("passing over line %llu: %s is missing", number(*line), missing.c_str());
    *line = before;
  }
  return {};
}

}  // namespace elc::store
