#include "store/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "portable_format/checksum.h"
#include "store/store.h"
#include "store/system.h"

namespace elc::store {
namespace {

const char* advice(int error) {
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      return "; free space there or set ELC_DIR to another file system";
    case EACCES:
    case EPERM:
    case EROFS:
      return "; set ELC_DIR to a directory that this user may write to";
    case EMFILE:
    case ENFILE:
      return "; raise the limit of open files (ulimit -n)";
    case ESTALE:
      return "; the network file system does not know it any more: it was removed or replaced by another machine";
    case EFBIG:
      return "; raise the limit of the size of files (ulimit -f), or set ELC_DIR to another file system";
    case EIO:
      return "; the disk or the network file system has failed: look into the system's log";
    default:
      return "";
  }
}

// "cannot WHAT PATH", where a symbolic link stands in the way: systems differ in the errno.
Result not_opened(const char* what, int dir, const char* name, const char* path, int error) {
  struct stat about;
  if (system_calls.status(dir, name, &about) == 0 && S_ISLNK(about.st_mode))
    return Result::error("%s is a symbolic link, and none is followed in a directory of lines: put what it leads to in "
                         "its place, or remove it", path);
  return io_error(what, path, error);
}

bool trust_any = false;
mode_t readers = 0400;

// Root could do whatever it likes to this user in other ways.
Result check_owner(const struct stat& about, const char* path) {
  if (trust_any || about.st_uid == geteuid() || about.st_uid == 0) return {};
  return Result::error("%s belongs to user %lu, and a restart does what the files of a line say: use lines of this "
                       "user, or set ELC_TRUST=any if you trust that one",
                       path, static_cast<unsigned long>(about.st_uid));
}

// Whether what was opened is a regular file of somebody who is trusted. Closes it otherwise.
Result check_file(int* fd, const char* path, uint64_t* size) {
  struct stat about;
  Result status;
  if (uninterrupted([&] { return system_calls.file_status(*fd, &about); }) != 0) status = io_error("read", path, errno);
  else if (!S_ISREG(about.st_mode)) status = Result::error("%s is not a file: remove it", path);
  else status = check_owner(about, path);
  if (!status.ok()) {
    system_calls.close(*fd);
    *fd = -1;
  } else if (size != nullptr) {
    *size = static_cast<uint64_t>(about.st_size);
  }
  return status;
}

// A pipe or a device is not waited for.
constexpr int kReading = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

int create(const Directory& dir, const char* name) {
  return uninterrupted([&] {
    return system_calls.open(dir.fd(), name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, file_mode());
  });
}

}  // namespace

void configure(const Config& config) {
  trust_any = config.trust == Trust::kAny;
  readers = config.readers == Readers::kAll ? 0444 : config.readers == Readers::kGroup ? 0440 : 0400;
}

mode_t file_mode() { return 0200 | readers; }
mode_t directory_mode() { return file_mode() | readers >> 2; }  // who may read may search

Result io_error(const char* what, const char* path, int error) {
  return Result::caused(error, "cannot %s %s: %s%s", what, path, strerror(error), advice(error));
}

int write_all(int fd, const void* data, size_t size) {
  return write_in_parts(data, size, [fd](const uint8_t* from, size_t part) { return system_calls.write(fd, from, part); });
}

Result read_all_at(int fd, void* data, size_t size, uint64_t at, const char* path) {
  uint8_t* to = static_cast<uint8_t*>(data);
  while (size > 0) {
    const ssize_t n = ::pread(fd, to, size, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("read", path, errno);
    if (n == 0) return Result::error("%s became shorter while it was read", path);
    to += n;
    at += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return {};
}

Result Directory::open_at(int dir, const char* name, int flags, bool* found) {
  close();
  fd_ = uninterrupted([&] { return system_calls.open(dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | flags, 0); });
  if (found != nullptr) *found = is_open();
  if (is_open() || (found != nullptr && errno == ENOENT)) return {};
  const char* what = "open the directory";
  return dir == AT_FDCWD ? io_error(what, path(), errno) : not_opened(what, dir, name, path(), errno);
}

Result Directory::open(const char* path, bool* found) {
  path_ = Text::copy(path);
  return open_at(AT_FDCWD, path, 0, found);
}

Result Directory::open_in(const Directory& parent, const char* name, bool* found) {
  path_ = parent.path_of(name);
  ELC_TRY(open_at(parent.fd(), name, O_NOFOLLOW, found));
  if (!is_open()) return {};
  struct stat about;
  Result status;
  if (uninterrupted([&] { return system_calls.file_status(fd_, &about); }) == 0) status = check_owner(about, path());
  else status = io_error("read", path(), errno);
  if (!status.ok()) close();
  return status;
}

void Directory::close() {
  if (is_open()) system_calls.close(fd_);
  fd_ = -1;
}

Text Directory::path_of(const char* name) const { return Text::format("%s/%s", path(), name); }

Result Directory::flush() const {
  return flushed(uninterrupted([&] { return system_calls.fsync(fd_); }));
}

Result Directory::flushed(int flushed) const {
  // EINVAL: a file system on which a directory cannot be flushed, and need not be.
  return flushed == 0 || errno == EINVAL ? Result() : io_error("flush the directory", path(), errno);
}

Result Directory::open_list(DIR** list) const {
  do *list = system_calls.open_list(fd_);
  while (*list == nullptr && errno == EINTR);
  return *list == nullptr ? io_error("read the directory", path(), errno) : Result();
}

Result Directory::close_list(DIR* list, int error) const {
  system_calls.close_list(list);
  return error == 0 ? Result() : io_error("read the directory", path(), error);
}

Result open_file(const Directory& dir, const char* name, int* fd, bool* found, uint64_t* size) {
  const Text path = dir.path_of(name);
  *fd = uninterrupted([&] { return system_calls.open(dir.fd(), name, kReading | O_NOFOLLOW, 0); });
  if (found != nullptr) *found = *fd >= 0;
  if (*fd >= 0) return check_file(fd, path.c_str(), size);
  if (errno != ENOENT) return not_opened("open", dir.fd(), name, path.c_str(), errno);
  return found != nullptr ? Result() : Result::error("%s is missing", path.c_str());
}

Result open_path(const char* path, int* fd, uint64_t* size) {
  *fd = uninterrupted([&] { return system_calls.open(AT_FDCWD, path, kReading, 0); });
  return *fd < 0 ? io_error("open", path, errno) : check_file(fd, path, size);
}

Result open_shared(const Directory& dir, const char* name, int access, Descriptor* file) {
  const Text path = dir.path_of(name);
  const int flags = access | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  int fd = uninterrupted([&] { return system_calls.open(dir.fd(), name, flags, file_mode()); });
  if (fd < 0) return not_opened("open", dir.fd(), name, path.c_str(), errno);
  ELC_TRY(check_file(&fd, path.c_str(), nullptr));
  *file = Descriptor(fd);
  return {};
}

Result open_temporary(const Directory& dir, const char* name, Text* temporary, int* fd) {
  *temporary = Text::format("%s.tmp%ld", name, static_cast<long>(getpid()));
  *fd = create(dir, temporary->c_str());
  if (*fd < 0 && errno == EEXIST) {
    // Left by a killed process of the same number. Not truncated but removed: somebody may have it open.
    ELC_TRY(remove_file(dir, temporary->c_str()));
    *fd = create(dir, temporary->c_str());
  }
  return *fd < 0 ? io_error("create", dir.path_of(temporary->c_str()).c_str(), errno) : Result();
}

Result put_in_place(const Directory& dir, const char* temporary, const char* name, int fd, const char* what, int error) {
  // close() is where NFS reports what it could not write.
  if (system_calls.close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && uninterrupted([&] { return system_calls.rename(dir.fd(), temporary, name); }) != 0) {
    what = "rename to its place";
    error = errno;
  }
  if (error == 0) return {};
  remove_file(dir, temporary).ok();
  return io_error(what, dir.path_of(temporary).c_str(), error);
}

Result put_file(const Directory& dir, const char* name, const Bytes& content, bool lasting) {
  Text temporary;
  int fd = -1;
  ELC_TRY(open_temporary(dir, name, &temporary, &fd));
  const char* what = "write";
  int error = write_all(fd, content.data(), content.size());
  if (error == 0 && lasting && uninterrupted([&] { return system_calls.fsync(fd); }) != 0) {
    what = "flush";
    error = errno;
  }
  return put_in_place(dir, temporary.c_str(), name, fd, what, error);
}

Result replace_file(const Directory& dir, const char* name, const Bytes& content) {
  ELC_TRY(put_file(dir, name, content, true));
  return dir.flush();
}

Result remove_file(const Directory& dir, const char* name) {
  struct stat about;
  const char* what = "look at";
  int gone = uninterrupted([&] { return system_calls.status(dir.fd(), name, &about); });
  if (gone == 0 && !S_ISREG(about.st_mode))
    return Result::error("%s is not a file, and so not of libELC: remove it", dir.path_of(name).c_str());
  if (gone == 0) {
    what = "remove";
    gone = uninterrupted([&] { return system_calls.unlink(dir.fd(), name); });
  }
  return gone == 0 || errno == ENOENT ? Result() : io_error(what, dir.path_of(name).c_str(), errno);
}

Result read_small_file(const Directory& dir, const char* name, size_t most, Bytes* content, bool* found) {
  content->clear();
  int fd = -1;
  ELC_TRY(open_file(dir, name, &fd, found));
  if (!*found) return {};
  *found = false;
  size_t size = 0;
  int error = 0;
  while (size <= most) {
    if (size == content->size()) content->resize(std::min(most + 1, std::max(2 * size, size_t{4096})));
    const ssize_t n = system_calls.read(fd, content->data() + size, content->size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
    size += static_cast<size_t>(n);
  }
  system_calls.close(fd);
  const Text path = dir.path_of(name);
  if (error != 0) return io_error("read", path.c_str(), error);
  if (size > most) return Result::error("%s is not a file of libELC: it is too large; remove it", path.c_str());
  content->resize(size);
  *found = true;
  return {};
}

void seal(Bytes* record) {
  const uint32_t checksum = format::crc32_of(record->data(), record->size());
  Encoder(record).u32(checksum);
}

Result unseal(Decoder* in, const Bytes& record, uint32_t magic, uint32_t version, const char* what) {
  const size_t body = record.size() < 12 ? 0 : record.size() - 4;
  Decoder tail(record.data() + body, record.size() - body);
  *in = Decoder(record.data(), body);
  if (body == 0 || tail.u32() != format::crc32_of(record.data(), body) || in->u32() != magic)
    return Result::error("%s is damaged", what);
  const uint32_t found = in->u32();
  if (found == version) return {};
  return Result::error("%s has version %lu, and this libELC knows version %lu: use the newer libELC", what,
                       static_cast<unsigned long>(found), static_cast<unsigned long>(version));
}

}  // namespace elc::store
