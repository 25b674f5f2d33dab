// The commit record, and what a directory of lines holds.
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/hash_map.h"
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

// The number in a name such as line-000007; false for any other name.
bool line_number(const char* name, uint64_t* line) {
  if (strncmp(name, "line-", 5) != 0 || !parse_whole(name + 5, line)) return false;
  return strcmp(Text::format("line-%06llu", number(*line)).c_str(), name) == 0 && *line > 0;
}

void read_line(const char* dir, Line* line) {
  const Status status = read_commit(dir, line->number, &line->commit);
  line->committed = status.ok();
  const Text path = commit_path(dir, line->number);
  if (!status.ok() && access(path.c_str(), F_OK) == 0) line->damage = Text::copy(status.message());
}

}  // namespace

Text commit_path(const char* dir, uint64_t line) {
  return Text::format("%s/commit", line_path(dir, line).c_str());
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

Status commit(const char* dir, const Commit& record) {
  Bytes content;
  Encoder out(&content);
  out.u32(kCommitMagic);
  out.u32(kCommitVersion);
  out.u64(record.line);
  out.u64(record.run);
  out.u64(record.base);
  out.u64(record.calls);
  out.u32(record.ranks);
  out.u64(record.cost);
  out.u64(microseconds_now());
  seal(&content);
  const Text place = line_path(dir, record.line);
  const Text path = commit_path(dir, record.line);
  Status status = replace_file(place.c_str(), path.c_str(), content);
  if (status.ok()) return status;
  // The record may be there though its directory could not be flushed; the line is to be abandoned.
  system_calls.unlink(path.c_str());
  flush_directory(place.c_str()).ok();
  return status;
}

Status read_commit(const char* dir, uint64_t line, Commit* record) {
  const Text path = commit_path(dir, line);
  Bytes content;
  bool found = false;
  ELC_TRY(read_small_file(path.c_str(), kCommitMost, &content, &found));
  if (!found) return Status::error("line %llu never committed: %s is not there", number(line), path.c_str());
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
  if (!in.ok() || record->ranks == 0) return Status::error("%s is damaged", name.c_str());
  if (record->line != line)
    return Status::error("%s is that of line %llu: it does not belong there", name.c_str(), number(record->line));
  return {};
}

Status survey(const char* dir, Survey* survey) {
  *survey = Survey();
  DIR* entries = opendir(dir);
  if (entries == nullptr) return errno == ENOENT ? Status() : io_error("read the directory", dir, errno);
  while (const dirent* entry = readdir(entries)) {
    Line line;
    if (!line_number(entry->d_name, &line.number)) continue;
    read_line(dir, &line);
    survey->lines.push_back(std::move(line));
  }
  closedir(entries);
  ELC_TRY(read_finished(dir, &survey->finished, &survey->finished_run));
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

Status line_to_restart(const Survey& survey, const char* dir, const Config& config, uint64_t* line) {
  *line = 0;
  if (config.restart == Restart::kNone) return {};
  if (config.restart == Restart::kLine) {
    const Line* wanted = survey.find(config.restart_line);
    if (wanted != nullptr && wanted->committed) {
      *line = wanted->number;
      return {};
    }
    return Status::error("there is no committed line %llu in %s%s%s; `elc ls` shows those that there are",
                         number(config.restart_line), dir,
                         wanted == nullptr || wanted->damage.empty() ? "" : ": ",
                         wanted == nullptr ? "" : wanted->damage.c_str());
  }
  *line = survey.restartable();
  // Taking an older line than the newest is a decision for the user, or for `elc run`, which says so.
  for (const Line& other : survey.lines)
    if (!other.damage.empty() && other.number > *line && other.number > survey.finished)
      return Status::error("%s; `elc run` takes the newest whole line, or set ELC_RESTART to an older one",
                           other.damage.c_str());
  return {};
}

}  // namespace elc::store
