#include "store/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "portable_format/checksum.h"
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
    case EIO:
      return "; the disk or the network file system has failed: look into the system's log";
    default:
      return "";
  }
}

}  // namespace

Status io_error(const char* what, const char* path, int error) {
  return Status::error("cannot %s %s: %s%s", what, path, strerror(error), advice(error));
}

int write_all(int fd, const void* data, size_t size) {
  const uint8_t* at = static_cast<const uint8_t*>(data);
  while (size > 0) {
    // Some systems refuse more than 2 GiB in one call.
    const size_t piece = size < (size_t{1} << 30) ? size : size_t{1} << 30;
    const ssize_t written = system_calls.write(fd, at, piece);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    if (written == 0) return ENOSPC;
    at += written;
    size -= static_cast<size_t>(written);
  }
  return 0;
}

Status open_directory(const char* path, int* fd) {
  *fd = system_calls.open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  return *fd < 0 ? io_error("open the directory", path, errno) : Status();
}

Status close_directory(const char* path, int fd, int flushed) {
  // EINVAL: a file system on which a directory cannot be flushed, and need not be.
  const int error = flushed == 0 || errno == EINVAL ? 0 : errno;
  system_calls.close(fd);
  return error == 0 ? Status() : io_error("flush the directory", path, error);
}

Status flush_directory(const char* path) {
  int fd = -1;
  ELC_TRY(open_directory(path, &fd));
  return close_directory(path, fd, system_calls.fsync(fd));
}

Status open_temporary(const char* path, Text* temporary, int* fd) {
  *temporary = Text::format("%s.tmp%ld", path, static_cast<long>(getpid()));
  *fd = system_calls.open(temporary->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (*fd < 0 && errno == EEXIST) {
    // Left by a killed process of the same number. Not truncated but removed: somebody may have it open.
    system_calls.unlink(temporary->c_str());
    *fd = system_calls.open(temporary->c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  return *fd < 0 ? io_error("create", temporary->c_str(), errno) : Status();
}

Status replace_file(const char* dir, const char* path, const Bytes& content) {
  Text temporary;
  int fd = -1;
  ELC_TRY(open_temporary(path, &temporary, &fd));
  const char* what = "write";
  int error = write_all(fd, content.data(), content.size());
  if (error == 0 && system_calls.fsync(fd) != 0) {
    what = "flush";
    error = errno;
  }
  // close() is where NFS reports what it could not write.
  if (system_calls.close(fd) != 0 && error == 0) error = errno;
  if (error == 0 && system_calls.rename(temporary.c_str(), path) != 0) {
    what = "rename to its place";
    error = errno;
  }
  if (error != 0) {
    system_calls.unlink(temporary.c_str());
    return io_error(what, temporary.c_str(), error);
  }
  return flush_directory(dir);
}

Status read_small_file(const char* path, size_t most, Bytes* content, bool* found) {
  *found = false;
  content->clear();
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0 && (errno == ENOENT || errno == ENOTDIR)) return {};
  if (fd < 0) return io_error("open", path, errno);
  content->resize(most + 1);
  size_t size = 0;
  int error = 0;
  while (size <= most) {
    const ssize_t n = ::read(fd, content->data() + size, most + 1 - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) error = errno;
    if (n <= 0) break;
    size += static_cast<size_t>(n);
  }
  ::close(fd);
  if (error != 0) return io_error("read", path, error);
  if (size > most) return Status::error("%s is not a file of libELC: it is too large; remove it", path);
  content->resize(size);
  *found = true;
  return {};
}

void seal(Bytes* record) {
  const uint32_t checksum = format::crc32_of(record->data(), record->size());
  Encoder(record).u32(checksum);
}

Status unseal(Decoder* in, const Bytes& record, uint32_t magic, uint32_t version, const char* what) {
  const size_t body = record.size() < 12 ? 0 : record.size() - 4;
  Decoder tail(record.data() + body, record.size() - body);
  *in = Decoder(record.data(), body);
  if (body == 0 || tail.u32() != format::crc32_of(record.data(), body) || in->u32() != magic)
    return Status::error("%s is damaged", what);
  const uint32_t found = in->u32();
  if (found == version) return {};
  return Status::error("%s has version %lu, and this libELC knows version %lu: use the newer libELC", what,
                       static_cast<unsigned long>(found), static_cast<unsigned long>(version));
}

}  // namespace elc::store
