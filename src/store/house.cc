// Making, cleaning and locking the directory of lines.
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"
#include "store/records.h"
#include "store/store.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr uint32_t kFinishedMagic = 0x454c4346;  // "ELCF"
constexpr uint32_t kFinishedVersion = 1;
constexpr size_t kFinishedMost = 4096;

Text finished_path(const char* dir) { return Text::format("%s/finished", dir); }

// What the library itself puts into the directory of a line, temporary files included.
bool ours(const char* name) { return strncmp(name, "rank-", 5) == 0 || strncmp(name, "commit", 6) == 0; }

// The first failure of any number of them, all of which are tried.
class First {
 public:
  void note(Status status) {
    if (message_.empty() && !status.ok()) message_ = Text::copy(status.message());
  }
  Status status() const { return message_.empty() ? Status() : Status::error("%s", message_.c_str()); }

 private:
  Text message_;
};

// Something that is gone already is what was wanted: another process may be cleaning too.
Status remove_file(const char* path) {
  if (system_calls.unlink(path) == 0 || errno == ENOENT) return {};
  return io_error("remove", path, errno);
}

}  // namespace

Status prepare(const char* dir) {
  const size_t length = strlen(dir);
  for (size_t i = 1; i <= length; ++i) {
    if (dir[i] != '/' && dir[i] != '\0') continue;
    const Text part = Text::copy({dir, i});
    if (system_calls.mkdir(part.c_str(), 0777) == 0) continue;
    const int error = errno;  // EEXIST, or on some systems what stands in the way of an existing one
    struct stat about;
    if (stat(part.c_str(), &about) != 0) return io_error("make the directory", part.c_str(), error);
    if (!S_ISDIR(about.st_mode)) return io_error("make the directory", part.c_str(), ENOTDIR);
  }
  return access(dir, R_OK | W_OK | X_OK) == 0 ? Status() : io_error("write to the directory", dir, errno);
}

Status remove_line(const char* dir, uint64_t line) {
  const Text place = line_path(dir, line);
  const Text record = commit_path(dir, line);
  if (access(record.c_str(), F_OK) == 0) {
    ELC_TRY(remove_file(record.c_str()));
    Status status = flush_directory(place.c_str());
    if (!status.ok() && access(place.c_str(), F_OK) != 0) return {};  // removed by another process meanwhile
    ELC_TRY(status);
  }
  DIR* entries = opendir(place.c_str());
  if (entries == nullptr)
    return errno == ENOENT ? Status() : io_error("read the directory", place.c_str(), errno);
  First first;
  while (const dirent* entry = readdir(entries))
    if (ours(entry->d_name))
      first.note(remove_file(Text::format("%s/%s", place.c_str(), entry->d_name).c_str()));
  closedir(entries);
  ELC_TRY(first.status());
  // Files of somebody else keep the directory; without a commit record it is no line.
  if (system_calls.rmdir(place.c_str()) == 0 || errno == ENOTEMPTY || errno == EEXIST || errno == ENOENT)
    return {};
  return io_error("remove the directory", place.c_str(), errno);
}

Status clean(const char* dir, uint32_t keep) {
  Survey there;
  ELC_TRY(survey(dir, &there));
  First first;
  uint32_t kept = 0;
  for (size_t i = there.lines.size(); i-- > 0;) {
    const Line& line = there.lines[i];
    if (line.number > there.newest) continue;  // may be in the making
    if (line.number == there.newest || (line.in_history && kept < keep)) {
      ++kept;
      continue;
    }
    first.note(remove_line(dir, line.number));
  }
  return first.status();
}

Status mark_finished(const char* dir, uint64_t run) {
  Survey there;
  ELC_TRY(survey(dir, &there));
  Bytes content;
  Encoder out(&content);
  out.u32(kFinishedMagic);
  out.u32(kFinishedVersion);
  out.u64(there.highest);
  out.u64(run);
  out.u64(microseconds_now());
  seal(&content);
  return replace_file(dir, finished_path(dir).c_str(), content);
}

Status read_finished(const char* dir, uint64_t* line, uint64_t* run) {
  *line = *run = 0;
  const Text path = finished_path(dir);
  Bytes content;
  bool found = false;
  ELC_TRY(read_small_file(path.c_str(), kFinishedMost, &content, &found));
  if (!found) return {};
  Decoder in(content);
  const Status sound = unseal(&in, content, kFinishedMagic, kFinishedVersion, path.c_str());
  if (!sound.ok())
    return Status::error(
        "%s; so it is not known whether the last run ended; remove the file to restart from the newest line, or "
        "remove the lines with `elc rm` to begin anew",
        sound.message());
  *line = in.u64();
  *run = in.u64();
  return in.ok() ? Status() : Status::error("%s is too short; remove it", path.c_str());
}

Lock::~Lock() {
  if (fd_ >= 0) ::close(fd_);
}

Status Lock::take(const char* dir, const char* name) {
  const Text path = Text::format("%s/%s", dir, name);
  fd_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (fd_ < 0) return io_error("open", path.c_str(), errno);
  struct flock whole;
  memset(&whole, 0, sizeof whole);
  whole.l_type = F_WRLCK;
  whole.l_whence = SEEK_SET;
  if (fcntl(fd_, F_SETLK, &whole) == 0 || (errno != EACCES && errno != EAGAIN)) return {};
  whole.l_type = F_WRLCK;
  if (fcntl(fd_, F_GETLK, &whole) != 0) whole.l_pid = 0;
  ::close(fd_);
  fd_ = -1;
  return Status::error(
      "another job is using %s (%s is locked by process %ld): wait for its end, or set ELC_DIR to "
      "another directory",
      dir, path.c_str(), static_cast<long>(whole.l_pid));
}

}  // namespace elc::store
