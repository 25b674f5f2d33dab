// Bringing files back to the content of a line (architecture.md, "Files"). What the line has of a file goes
// to a temporary file beside it first; only when all are complete does the first file change, by a rename.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/message.h"
#include "state/process.h"
#include "state/streams.h"

namespace elc::state {
namespace {

constexpr size_t kPiece = 64 * 1024;
constexpr uint64_t kLargest = uint64_t{1} << 62;

Status io_error(const char* what, const char* path, int error) {
  return Status::error("cannot %s the file '%s' of the line: %s", what, path, strerror(error));
}

// The name behind symbolic links, so that a rename replaces the file and not the link.
Text real_name(const char* path) {
  Text name = Text::copy(path);
  for (int links = 0; links < 40; ++links) {  // more are a circle
    char target[4096];
    const ssize_t size = readlink(name.c_str(), target, sizeof target);
    if (size < 0 || static_cast<size_t>(size) == sizeof target) break;
    const char* slash = target[0] == '/' ? nullptr : strrchr(name.c_str(), '/');
    const int directory = slash == nullptr ? 0 : static_cast<int>(slash + 1 - name.c_str());
    name = Text::format("%.*s%.*s", directory, name.c_str(), static_cast<int>(size), target);
  }
  return name;
}

Text directory_of(const char* path) {
  const char* slash = strrchr(path, '/');
  if (slash == nullptr) return Text::copy(".");
  return slash == path ? Text::copy("/") : Text::copy({path, static_cast<size_t>(slash - path)});
}

// Always the same name: what a kill leaves behind, the next restart overwrites. The number keeps streams of
// one file apart.
Text temporary_name(const char* path, size_t number) {
  return Text::format("%s.elc-restoring-%zu", path, number);
}

Status read_directory(format::Cursor& in, Vector<SavedStream>* saved) {
  saved->clear();
  for (uint64_t left = in.count(36); left > 0 && in.ok(); --left) {
    SavedStream stream;
    stream.path = Text::copy(in.string());
    stream.mode = Text::copy(in.string());
    const uint32_t kind = in.u32();
    stream.kind = static_cast<StreamKind>(kind);
    stream.offset = in.u64();
    stream.length = in.u64();
    if (!in.ok()) break;
    if (kind > static_cast<uint32_t>(StreamKind::kSpecial) || stream.offset > kLargest ||
        stream.length > kLargest || stream.mode.empty() || strchr("rwa", stream.mode.c_str()[0]) == nullptr)
      return Status::error("the checkpoint file is damaged: what it says of the file '%s' cannot be",
                           stream.path.c_str());
    saved->push_back(std::move(stream));
  }
  ELC_TRY(in.status());
  uint64_t content = 0;
  for (const SavedStream& stream : *saved) {
    if (stream.kind != StreamKind::kWrite) continue;
    if (stream.length > in.left() - content)
      return Status::error("the checkpoint file is damaged: it does not have all of the file '%s'",
                           stream.path.c_str());
    content += stream.length;
  }
  return Status();
}

// A file that is read or appended to has to be there, with at least what it had.
Status check_present(const SavedStream& saved) {
  const char* path = saved.path.c_str();
  const bool append = saved.kind == StreamKind::kAppend;
  struct stat status;
  if (stat(path, &status) != 0)
    return Status::error("the file '%s', which was open for %s when the line was taken, is not there: %s",
                         path, append ? "appending" : "reading", strerror(errno));
  if (access(path, append ? W_OK : R_OK) != 0) return io_error(append ? "write" : "read", path, errno);
  if (saved.kind == StreamKind::kSpecial) return Status();
  if (!S_ISREG(status.st_mode)) return Status::error("'%s' was a regular file when the line was taken", path);
  const uint64_t least = append ? saved.length : saved.offset;
  if (static_cast<uint64_t>(status.st_size) < least)
    return Status::error(
        "the file '%s' has %lld bytes, but had at least %llu when the line was taken: its content is lost",
        path, static_cast<long long>(status.st_size), static_cast<unsigned long long>(least));
  return Status();
}

// A file that is written comes out of the line; its directory has to take it.
Status check_writable(const SavedStream& saved) {
  const Text path = real_name(saved.path.c_str());
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    return Status::error("'%s' was a regular file when the line was taken", path.c_str());
  const Text directory = directory_of(path.c_str());
  if (access(directory.c_str(), W_OK | X_OK) != 0)
    return Status::error("cannot bring back the file '%s': the directory '%s' cannot be written: %s",
                         saved.path.c_str(), directory.c_str(), strerror(errno));
  return Status();
}

Status check_stream(const SavedStream& saved) {
  if (saved.kind == StreamKind::kWrite) return check_writable(saved);
  if (saved.kind == StreamKind::kSpecial && saved.mode.c_str()[0] != 'r') return Status();
  return check_present(saved);
}

int write_all(int fd, const uint8_t* data, size_t size) {
  while (size > 0) {
    const ssize_t done = write(fd, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    data += done;
    size -= static_cast<size_t>(done);
  }
  return 0;
}

// Writes the content of a saved file, which is next in the section, to its temporary file.
Status write_temporary(const SavedStream& saved, size_t number, format::Cursor& in) {
  const Text path = real_name(saved.path.c_str());
  const Text temporary = temporary_name(path.c_str(), number);
  struct stat old;
  const bool exists = stat(path.c_str(), &old) == 0;
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (fd < 0) return io_error("create", temporary.c_str(), errno);
  uint8_t* piece = static_cast<uint8_t*>(allocate(kPiece));
  int error = exists && fchmod(fd, old.st_mode & 07777) != 0 ? errno : 0;
  for (uint64_t left = saved.length; left > 0 && error == 0 && in.ok();) {
    const size_t size = left < kPiece ? static_cast<size_t>(left) : kPiece;
    in.bytes(piece, size);
    if (in.ok()) error = write_all(fd, piece, size);
    left -= size;
  }
  release(piece);
  if (error == 0 && fsync(fd) != 0) error = errno;
  if (close(fd) != 0 && error == 0) error = errno;
  if (error != 0) return io_error("write", temporary.c_str(), error);
  return in.status();
}

Status replace(const SavedStream& saved, size_t number) {
  const Text path = real_name(saved.path.c_str());
  const Text temporary = temporary_name(path.c_str(), number);
  if (rename(temporary.c_str(), path.c_str()) != 0) return io_error("replace", path.c_str(), errno);
  const int fd = open(directory_of(path.c_str()).c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Status();  // a directory that cannot be read is not flushed by us
  fsync(fd);
  close(fd);
  return Status();
}

void remove_temporary(const SavedStream& saved, size_t number) {
  unlink(temporary_name(real_name(saved.path.c_str()).c_str(), number).c_str());
}

// The program's mode, but never one that empties the file.
Text reopening_mode(const SavedStream& saved) {
  const char* mode = saved.mode.c_str();
  if (saved.kind == StreamKind::kWrite) return Text::copy(strchr(mode, 'b') == nullptr ? "r+" : "r+b");
  return Text::copy({mode, strcspn(mode, "x")});
}

Status reopen(SavedStream& saved) {
  const char* path = saved.path.c_str();
  const Text mode = reopening_mode(saved);
  saved.file = saved.file == nullptr ? fopen(path, mode.c_str()) : freopen(path, mode.c_str(), saved.file);
  if (saved.file == nullptr) return io_error("open", path, errno);
  if (saved.kind == StreamKind::kSpecial) return Status();
  if (fseeko(saved.file, static_cast<off_t>(saved.offset), SEEK_SET) != 0)
    return io_error("seek in", path, errno);
  return Status();
}

}  // namespace

Status read_files(format::Cursor& in, SavedTerminal (&terminals)[3], Vector<SavedStream>* streams) {
  ELC_TRY(read_layout(in, "files"));
  for (SavedTerminal& terminal : terminals) read_terminal(in, &terminal);
  return read_directory(in, streams);
}

// All but the content of the files; `change` brings the terminals back.
Status Streams::read_saved(format::Reader& reader, format::Cursor& in, bool change) {
  SavedTerminal terminals[3];
  ELC_TRY(in.open(&reader, "files"));
  ELC_TRY(read_files(in, terminals, &saved_));
  if (change) restore_terminals(terminals);
  return Status();
}

Status Streams::check(format::Reader& reader) {
  format::Cursor in;
  ELC_TRY(read_saved(reader, in, false));
  for (const SavedStream& saved : saved_) ELC_TRY(check_stream(saved));
  return Status();
}

Status Streams::apply(format::Reader& reader) {
  format::Cursor in;
  ELC_TRY(read_saved(reader, in, true));
  Status status;
  for (size_t i = 0; i < saved_.size() && status.ok(); ++i)
    if (saved_[i].kind == StreamKind::kWrite) status = write_temporary(saved_[i], i, in);
  if (!status.ok()) {
    for (size_t i = 0; i < saved_.size(); ++i)
      if (saved_[i].kind == StreamKind::kWrite) remove_temporary(saved_[i], i);
    return status;
  }
  adopt();
  for (size_t i = 0; i < saved_.size(); ++i) {
    const SavedStream& saved = saved_[i];
    if (saved.kind == StreamKind::kWrite) ELC_TRY(replace(saved, i));
    if (saved.kind == StreamKind::kAppend &&
        truncate(saved.path.c_str(), static_cast<off_t>(saved.length)) != 0)
      return io_error("shorten", saved.path.c_str(), errno);
  }
  for (SavedStream& saved : saved_) {
    ELC_TRY(reopen(saved));
    Stream& stream = open_.push_back({});
    stream.file = saved.file;
    stream.path = Text::copy(saved.path.view());
    stream.mode = Text::copy(saved.mode.view());
  }
  return Status();
}

// A stream that the set-up has opened again stays the same FILE, in case a copy of its address is not
// registered; the others the program had closed by the time of the line.
void Streams::adopt() {
  for (SavedStream& saved : saved_) {
    for (size_t i = 0; i < open_.size() && saved.file == nullptr; ++i) {
      if (open_[i].path.view() != saved.path.view() || open_[i].mode.view() != saved.mode.view()) continue;
      saved.file = open_[i].file;
      fflush(saved.file);  // what the set-up wrote goes before the file is brought back
      open_.erase(i);
    }
  }
  close_all();
}

}  // namespace elc::state
