// The table of streams, and what of them is saved.
#include "state/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "elc.h"
#include "state/process.h"

namespace elc::state {
namespace {

constexpr size_t kPiece = 64 * 1024;

Status io_error(const char* what, const char* path, int error) {
  return Status::error("cannot %s the file '%s': %s", what, path, strerror(error));
}

StreamKind kind_of(const char* mode, bool regular) {
  if (!regular) return StreamKind::kSpecial;
  if (mode[0] == 'a') return StreamKind::kAppend;
  if (mode[0] == 'r' && strchr(mode, '+') == nullptr) return StreamKind::kRead;
  return StreamKind::kWrite;
}

// What the directory of "files" says of a stream, and a descriptor to read its content from.
struct Snapshot {
  const Stream* stream;
  StreamKind kind;
  uint64_t offset, length;
};

Status look_at(const Stream& stream, Snapshot* out) {
  const char* path = stream.path.c_str();
  *out = {&stream, StreamKind::kSpecial, 0, 0};
  struct stat status;
  if (fstat(fileno(stream.file), &status) != 0) return io_error("look at", path, errno);
  out->kind = kind_of(stream.mode.c_str(), S_ISREG(status.st_mode));
  if (out->kind != StreamKind::kRead && fflush(stream.file) != 0) return io_error("write", path, errno);
  if (out->kind == StreamKind::kSpecial) return Status();
  if (out->kind != StreamKind::kRead && fstat(fileno(stream.file), &status) != 0)
    return io_error("look at", path, errno);
  const off_t offset = ftello(stream.file);
  if (offset < 0) return io_error("tell the position in", path, errno);
  out->offset = static_cast<uint64_t>(offset);
  out->length = static_cast<uint64_t>(status.st_size);
  return Status();
}

// A second descriptor, because the stream's may be for writing only and its offset is the program's.
Status open_content(const Stream& stream, int* fd) {
  const char* path = stream.path.c_str();
  *fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
  if (*fd < 0) return io_error("read", path, errno);
  struct stat own, named;
  if (fstat(fileno(stream.file), &own) == 0 && fstat(*fd, &named) == 0 && own.st_dev == named.st_dev &&
      own.st_ino == named.st_ino)
    return Status();
  close(*fd);
  return Status::error(
      "the file '%s' was renamed or removed while it is open for writing, and cannot be saved", path);
}

Status write_content(const Stream& stream, uint64_t length, format::Writer& writer) {
  int fd;
  ELC_TRY(open_content(stream, &fd));
  uint8_t* piece = static_cast<uint8_t*>(allocate(kPiece));
  Status status;
  for (uint64_t done = 0; done < length && status.ok();) {
    const size_t wanted = length - done < kPiece ? static_cast<size_t>(length - done) : kPiece;
    const ssize_t got = pread(fd, piece, wanted, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      status = got < 0
                   ? io_error("read", stream.path.c_str(), errno)
                   : Status::error("the file '%s' became shorter while it was saved", stream.path.c_str());
      break;
    }
    status = writer.write_value(format::kByte, piece, static_cast<uint64_t>(got), {});
    done += static_cast<uint64_t>(got);
  }
  release(piece);
  close(fd);
  return status;
}

}  // namespace

FILE* Streams::open(const char* path, const char* mode) {
  FILE* file = fopen(path, mode);
  if (file == nullptr) return nullptr;
  Stream& stream = open_.push_back({});
  stream.file = file;
  stream.path = Text::copy(path);
  stream.mode = Text::copy(mode);
  return file;
}

int Streams::close(FILE* file) {
  for (size_t i = 0; i < open_.size(); ++i) {
    if (open_[i].file != file) continue;
    open_.erase(i);
    break;
  }
  return fclose(file);
}

int Streams::close_all() {
  int result = 0;
  while (!open_.empty())
    if (close(open_.back().file) != 0) result = EOF;
  return result;
}

void Streams::clear() {
  open_.clear();
  saved_.clear();
}

uint64_t Streams::number_of(FILE* file) const {
  if (file == nullptr) return kNoStream;
  if (file == stdin) return kStdin;
  if (file == stdout) return kStdout;
  if (file == stderr) return kStderr;
  for (size_t i = 0; i < open_.size(); ++i)
    if (open_[i].file == file) return kFirstStream + i;
  return kWildStream;
}

FILE* Streams::stream_of(uint64_t number) const {
  if (number == kStdin) return stdin;
  if (number == kStdout) return stdout;
  if (number == kStderr) return stderr;
  if (number < kFirstStream || number - kFirstStream >= saved_.size()) return nullptr;
  return saved_[static_cast<size_t>(number - kFirstStream)].file;
}

Status Streams::save(format::Writer& writer) {
  fflush(stdout);
  Vector<Snapshot> snapshots;
  for (const Stream& stream : open_) {
    Snapshot& snapshot = snapshots.push_back({});
    ELC_TRY(look_at(stream, &snapshot));
  }
  writer.begin_section("files");
  Encoder& out = writer.encoder();
  out.u32(kSectionLayout);
  save_terminals(out);
  out.u64(snapshots.size());
  for (const Snapshot& snapshot : snapshots) {
    out.string(snapshot.stream->path.view());
    out.string(snapshot.stream->mode.view());
    out.u32(static_cast<uint32_t>(snapshot.kind));
    out.u64(snapshot.offset);
    out.u64(snapshot.length);
  }
  for (const Snapshot& snapshot : snapshots)
    if (snapshot.kind == StreamKind::kWrite)
      ELC_TRY(write_content(*snapshot.stream, snapshot.length, writer));
  writer.end_section();
  return Status();
}

}  // namespace elc::state

using elc::state::process;

extern "C" {

ELC_EXPORT FILE* ELC_fopen(const char* path, const char* mode) { return process().streams.open(path, mode); }
ELC_EXPORT int ELC_fclose(FILE* stream) { return process().streams.close(stream); }
ELC_EXPORT int ELC_fcloseall(void) { return process().streams.close_all(); }
}
