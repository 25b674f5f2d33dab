// Making, cleaning and locking the directory of lines.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash_map.h"
#include "store/records.h"
#include "store/store.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr uint32_t kFinishedMagic = 0x454c4346;  // "ELCF"
constexpr uint32_t kFinishedVersion = 1;
constexpr size_t kFinishedMost = 4096;

// Is `name` that of a file, or the one under which it was written?
bool is_file(const char* name, const char* file) {
  const size_t length = strlen(file);
  uint64_t process;
  if (strncmp(name, file, length) != 0) return false;
  return name[length] == '\0' || (strncmp(name + length, ".tmp", 4) == 0 && parse_whole(name + length + 4, &process));
}

// What the library itself puts into the directory of a line.
bool is_ours(const char* name) {
  const char* const suffix = strstr(name, ".elc");
  if (suffix == nullptr) return is_file(name, kCommitName) || is_file(name, kRunName);
  uint32_t rank;
  if (rank_number(name, suffix + 4, &rank)) return is_file(name, rank_name(rank).c_str());
  Ranks ranks;
  return suffix[4] == '\0' && aggregate_ranks(name, suffix + 4, &ranks);
}

// The first failure of any number of them, all of which are tried.
class First {
 public:
  void note(Result status) {
    if (status_.ok()) status_ = std::move(status);
  }
  Result status() const { return status_; }

 private:
  Result status_;
};

struct flock whole_file() {
  struct flock whole;
  memset(&whole, 0, sizeof whole);
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  return whole;
}

Result write_finished(const Directory& top, uint64_t line, uint64_t run) {
  Bytes content;
  Encoder out(&content);
  out.u32(kFinishedMagic);
  out.u32(kFinishedVersion);
  out.u64(line);
  out.u64(run);
  out.u64(microseconds_now());
  seal(&content);
  return replace_file(top, kFinishedName, content);
}

// A new directory lasts when the one above it is flushed; one that may not be read cannot be opened for that.
Result flush_parent(std::string_view path) {
  const size_t slash = path.rfind('/');
  const Text above = Text::copy(slash == path.npos ? "." : slash == 0 ? "/" : std::string_view(path.data(), slash));
  if (access(above.c_str(), R_OK) != 0) return {};
  Directory parent;
  ELC_TRY(parent.open(above.c_str()));
  return parent.flush();
}

Result remove_regular(const Directory& dir, const char* name) {
  struct stat about;
  const auto look = [&] { return system_calls.status(dir.fd(), name, &about); };
  return uninterrupted(look) == 0 && S_ISREG(about.st_mode) ? remove_file(dir, name) : Result();
}

// From now on it is no line. In this order no job that is taking the line can commit it half removed (commit), and no power
// cut leaves a record without its files.
Result remove_records(const Directory& place) {
  ELC_TRY(remove_file(place, kRunName));
  ELC_TRY(remove_file(place, kCommitName));
  return place.flush();
}

// If nothing is in it any more: files of somebody else keep it.
Result remove_empty(const Directory& top, const char* name, const Directory& place) {
  if (uninterrupted([&] { return system_calls.rmdir(top.fd(), name); }) == 0 || errno == ENOTEMPTY || errno == EEXIST ||
      errno == ENOENT)
    return {};
  return io_error("remove the directory", place.path(), errno);
}

// Removes what the library has made in the directory of a line, and the directory if that was all.
Result remove_directory(const Directory& top, const char* name) {
  Directory place;
  bool found = false;
  ELC_TRY(place.open_in(top, name, &found));
  if (!found) return {};  // removed by another process meanwhile
  ELC_TRY(remove_records(place));
  First first;
  first.note(place.each([&](const char* entry) {
    if (is_ours(entry)) first.note(remove_regular(place, entry));
  }));
  ELC_TRY(first.status());
  return remove_empty(top, name, place);
}

Result leave_to_ranks(const Directory& top, const char* name) {
  Directory place;
  ELC_TRY(place.open_in(top, name));
  return remove_records(place);
}

}  // namespace

Identity identity(const char* dir) {
  struct stat about;
  if (stat(dir, &about) != 0) return {};
  return {static_cast<uint64_t>(about.st_dev), static_cast<uint64_t>(about.st_ino)};
}

Result prepare(const char* dir) {
  const size_t length = strlen(dir);
  for (size_t i = 1; i <= length; ++i) {
    if (dir[i] != '/' && dir[i] != '\0') continue;
    const Text part = Text::copy({dir, i});
    if (uninterrupted([&] { return system_calls.mkdir(AT_FDCWD, part.c_str(), directory_mode()); }) == 0) {
      ELC_TRY(flush_parent(part.view()));
      continue;
    }
    const int error = errno;  // EEXIST, or on some systems what stands in the way of an existing one
    struct stat about;
    if (stat(part.c_str(), &about) != 0) {
      // Where something has the name already, what is wrong with that.
      const int reason = error == EEXIST ? errno : error;
      if (error == EEXIST && reason == ENOENT)
        return Result::error("cannot make the directory %s: it is a symbolic link that leads nowhere; make what it leads to, or "
                             "remove it", part.c_str());
      return io_error("make the directory", part.c_str(), reason);
    }
    if (!S_ISDIR(about.st_mode)) return io_error("make the directory", part.c_str(), ENOTDIR);
  }
  return access(dir, R_OK | W_OK | X_OK) == 0 ? Result() : io_error("write to the directory", dir, errno);
}

Result remove_line(const char* dir, uint64_t line) {
  Directory top;
  ELC_TRY(top.open(dir));
  return remove_directory(top, line_name(line).c_str());
}

Result remove_own(const char* dir, uint64_t line, uint32_t rank, bool* gone, const Ranks& together) {
  Directory top, place;
  bool found = false;
  *gone = false;
  ELC_TRY(top.open(dir));
  ELC_TRY(place.open_in(top, line_name(line).c_str(), &found));
  *gone = !found;
  if (!found) return {};
  struct stat about;
  for (const char* record : {kCommitName, kRunName}) {
    if (uninterrupted([&] { return system_calls.status(place.fd(), record, &about); }) == 0) return {};
    if (errno != ENOENT) return io_error("look at", place.path_of(record).c_str(), errno);
  }
  *gone = true;
  if (!together.alone() && rank != together.first) return {};
  ELC_TRY(remove_regular(place, file_name(rank, together).c_str()));
  return remove_empty(top, line_name(line).c_str(), place);
}

Result clean(const char* dir, uint32_t keep, uint64_t run) {
  Survey there;
  ELC_TRY(survey(dir, &there));
  Directory top;
  ELC_TRY(top.open(dir));
  First first;
  uint32_t kept = 0;
  Vector<uint64_t> bases;  // that those rely on
  bool all_read = true;
  for (size_t i = there.lines.size(); i-- > 0;) {
    const Line& line = there.lines[i];
    // May be in the making, somebody else's, or one of which a record that cannot be read now may say that it is kept.
    all_read = all_read && !line.unread;
    if (line.number > there.newest || !line.ours || line.unread) continue;
    if (line.number == there.newest || (line.in_history && kept < keep)) {
      ++kept;
      bases.append(line.commit.relies_on.data(), line.commit.relies_on.size());
      continue;
    }
    bool needed = line.committed && !all_read;
    for (const uint64_t base : bases) needed = needed || base == line.number;
    if (needed) continue;
    const Text name = line_name(line.number);
    first.note(line.committed && line.commit.run == run ? leave_to_ranks(top, name.c_str()) : remove_directory(top, name.c_str()));
  }
  first.note(top.each([&](const char* name) {
    uint64_t line;
    if (unclaimed_line(name, &line) && line <= there.newest) first.note(remove_directory(top, name));
    // Only this job writes these two: what is there of one that is not complete, a killed one has left.
    if ((is_file(name, kFinishedName) && strcmp(name, kFinishedName) != 0) || is_file(name, kRefusedName))
      first.note(remove_regular(top, name));
  }));
  return first.status();
}

Result mark_finished(const char* dir, uint64_t run) {
  Survey there;
  ELC_TRY(survey(dir, &there));
  Directory top;
  ELC_TRY(top.open(dir));
  uint64_t highest = there.finished;  // not by a directory that is no line: all to come would belong to this run
  for (const Line& line : there.lines)
    if (line.number < kHighestBefore && line.number > highest) highest = line.number;
  return write_finished(top, highest, run);
}

Result unmark_finished(const char* dir, uint64_t line, uint64_t run) {
  Directory top;
  ELC_TRY(top.open(dir));
  if (line > 0 || run > 0) return write_finished(top, line, run);
  ELC_TRY(remove_file(top, kFinishedName));
  return top.flush();
}

Result read_finished(const Directory& top, uint64_t* line, uint64_t* run) {
  *line = *run = 0;
  const Text path = top.path_of(kFinishedName);
  Bytes content;
  bool found = false;
  ELC_TRY(read_small_file(top, kFinishedName, kFinishedMost, &content, &found));
  if (!found) return {};
  Decoder in(content);
  const Result sound = unseal(&in, content, kFinishedMagic, kFinishedVersion, path.c_str());
  if (!sound.ok())
    return Result::error(
        "%s; so it is not known whether the last run ended; remove the file to restart from the newest line, or "
        "remove the lines with `elc rm` to begin anew",
        sound.message());
  *line = in.u64();
  *run = in.u64();
  return in.ok() ? Result() : Result::error("%s is too short; remove it", path.c_str());
}

bool job_runs(const char* dir) {
  Directory top;
  int fd = -1;
  bool found = false;
  if (!top.open(dir).ok() || !open_file(top, "job.lock", &fd, &found).ok() || !found) return false;
  struct flock whole = whole_file();
  const bool locked = fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK;
  ::close(fd);
  return locked;
}

Result Lock::take(const char* dir, const char* name) {
  Directory top;
  ELC_TRY(top.open(dir));
  const Text path = top.path_of(name);
  ELC_TRY(open_shared(top, name, O_RDWR, &file_));
  struct flock whole = whole_file();
  if (fcntl(file_.get(), F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN)) return {};
  whole.l_type = F_WRLCK;
  if (fcntl(file_.get(), F_GETLK, &whole) != 0) whole.l_pid = 0;
  file_ = Descriptor();
  return Result::error(
      "another job is using %s (%s is locked by process %ld): wait for its end, or set ELC_DIR to "
      "another directory",
      dir, path.c_str(), static_cast<long>(whole.l_pid));
}

namespace {

// An offset is not negative. Who writes or appends locks the first byte; for whom it must not be emptied the second, for whom it must not be
// appended to the third; who reads it alone the fourth.
struct flock bytes_of(uint64_t line, uint64_t file, short type, off_t first, off_t count) {
  struct flock range = whole_file();
  range.l_type = type;
  range.l_start = static_cast<off_t>(mix64(mix64(line) ^ file) >> 3) * 4 + first;
  range.l_len = count;
  return range;
}

}  // namespace

Result FileLocks::take(const char* dir, uint64_t line, const Vector<File>& files, size_t* other) {
  *other = files.size();
  if (!file_.open()) {
    if (files.empty()) return {};
    Directory top;
    ELC_TRY(top.open(dir));
    ELC_TRY(open_shared(top, "files.lock", O_RDWR, &file_));
  }
  struct flock all = whole_file();
  all.l_type = F_UNLCK;
  fcntl(file_.get(), F_SETLK, &all);
  for (size_t i = 0; i < files.size() && *other == files.size(); ++i) {
    constexpr struct {
      short type;
      off_t first, count;
    } kLocks[] = {{F_RDLCK, 1, 1}, {F_RDLCK, 2, 1}, {F_WRLCK, 0, 1}, {F_WRLCK, 0, 2}, {F_RDLCK, 3, 1}, {F_WRLCK, 0, 4}};  // by Use
    const auto& lock = kLocks[static_cast<size_t>(files[i].use)];
    struct flock range = bytes_of(line, files[i].number, lock.type, lock.first, lock.count);
    if (fcntl(file_.get(), F_SETLK, &range) != 0 && (errno == EACCES || errno == EAGAIN)) *other = i;
  }
  return {};
}

bool FileLocks::is_written_elsewhere(uint64_t line, uint64_t number) const {
  struct flock range = bytes_of(line, number, F_WRLCK, 0, 1);
  return file_.open() && fcntl(file_.get(), F_GETLK, &range) == 0 && range.l_type != F_UNLCK;
}

}  // namespace elc::store
