// Writing and reading the file of one rank.
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/files.h"
#include "store/store.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr size_t kBufferSize = size_t{1} << 18;
constexpr uint64_t kMaxLabel = 256;

// The directory of a line, and that it lasts.
Status make_line_directory(const char* dir, uint64_t line) {
  const Text path = line_path(dir, line);
  if (system_calls.mkdir(path.c_str(), 0777) == 0) return flush_directory(dir);
  return errno == EEXIST ? Status() : io_error("make the directory", path.c_str(), errno);
}

}  // namespace

Text line_path(const char* dir, uint64_t line) {
  return Text::format("%s/line-%06llu", dir, static_cast<unsigned long long>(line));
}

Text rank_path(const char* dir, uint64_t line, uint32_t rank) {
  return Text::format("%s/rank-%06lu.elc", line_path(dir, line).c_str(), static_cast<unsigned long>(rank));
}

RankFile::~RankFile() {
  if (fd_ >= 0) discard();
}

Status RankFile::open(const char* dir, uint64_t line, uint32_t rank) {
  dir_ = Text::copy(dir);
  line_ = line;
  final_ = rank_path(dir, line, rank);
  failure_ = Text();
  size_ = 0;
  stage_ = Stage::kWriting;
  buffer_.clear();
  buffer_.reserve(kBufferSize);
  ELC_TRY(make_line_directory(dir, line));
  return open_temporary(final_.c_str(), &temporary_, &fd_);
}

Status RankFile::write(const void* data, size_t size) {
  if (!failure_.empty()) return again();
  const uint8_t* from = static_cast<const uint8_t*>(data);
  size_ += size;
  if (buffer_.size() + size > kBufferSize) ELC_TRY(flush());
  if (size >= kBufferSize) return put(from, size);
  buffer_.append(from, size);
  return {};
}

format::Sink RankFile::sink() {
  return {this, [](void* file, const void* data, size_t size) {
            return static_cast<RankFile*>(file)->write(data, size);
          }};
}

Status RankFile::flush() {
  ELC_TRY(put(buffer_.data(), buffer_.size()));
  buffer_.clear();
  return {};
}

Status RankFile::put(const uint8_t* data, size_t size) {
  const int error = write_all(fd_, data, size);
  return error == 0 ? Status() : fail("write", error);
}

Status RankFile::fail(const char* what, int error) {
  failure_ = Text::copy(io_error(what, temporary_.c_str(), error).message());
  return again();
}

void RankFile::close_file() {
  if (stage_ == Stage::kFlushing || stage_ == Stage::kFlushingDirectory) system_calls.end_flush(fd_);
  if (fd_ >= 0) system_calls.close(fd_);
  fd_ = -1;
  stage_ = Stage::kFinished;
  Bytes().swap(buffer_);
}

// The file is flushed: it gets its name, and its directory is to be flushed.
Status RankFile::put_in_place() {
  const char* what = "flush";
  int error = system_calls.end_flush(fd_) == 0 ? 0 : errno;
  stage_ = Stage::kFinished;
  // close() is where NFS reports what it could not write.
  if (system_calls.close(fd_) != 0 && error == 0) error = errno;
  fd_ = -1;
  if (error == 0 && system_calls.rename(temporary_.c_str(), final_.c_str()) != 0) {
    what = "rename to its place";
    error = errno;
  }
  if (error != 0) return fail(what, error);
  const Text directory = line_path(dir_.c_str(), line_);
  ELC_TRY(open_directory(directory.c_str(), &fd_));
  system_calls.start_flush(fd_);
  stage_ = Stage::kFlushingDirectory;
  return {};
}

Status RankFile::step(bool wait) {
  if (!failure_.empty()) return again();
  if (stage_ == Stage::kWriting) {
    ELC_TRY(flush());
    system_calls.start_flush(fd_);
    stage_ = Stage::kFlushing;
  }
  if (stage_ == Stage::kFlushing && (wait || !system_calls.flushing())) ELC_TRY(put_in_place());
  if (stage_ == Stage::kFlushingDirectory && (wait || !system_calls.flushing())) {
    stage_ = Stage::kFinished;
    const Text directory = line_path(dir_.c_str(), line_);
    const int fd = fd_;
    fd_ = -1;
    ELC_TRY(close_directory(directory.c_str(), fd, system_calls.end_flush(fd)));
    close_file();
  }
  return {};
}

Status RankFile::advance(bool* done) {
  Status status = step(false);
  if (!status.ok()) discard();
  *done = stage_ == Stage::kFinished;
  return status;
}

Status RankFile::finish() {
  Status status = step(true);
  if (!status.ok()) discard();
  return status;
}

void RankFile::discard() {
  close_file();
  if (final_.empty()) return;
  system_calls.unlink(temporary_.c_str());
  system_calls.unlink(final_.c_str());
  system_calls.rmdir(line_path(dir_.c_str(), line_).c_str());  // fails while others have files there
  final_ = Text();
}

void write_label(format::Writer& writer, const Label& label) {
  writer.begin_section("label");
  writer.encoder().u64(label.line);
  writer.encoder().u64(label.run);
  writer.encoder().u32(label.rank);
  writer.encoder().u32(label.ranks);
  writer.end_section();
}

Status read_label(format::Reader& reader, Label* label) {
  Bytes content;
  ELC_TRY(reader.read_section("label", kMaxLabel, &content));
  Decoder in(content);
  label->line = in.u64();
  label->run = in.u64();
  label->rank = in.u32();
  label->ranks = in.u32();
  return in.ok() ? Status() : Status::error("its label is too short");
}

RankSource::~RankSource() {
  if (fd_ >= 0) ::close(fd_);
}

Status RankSource::open(const char* path) {
  if (fd_ >= 0) ::close(fd_);
  path_ = Text::copy(path);
  fd_ = ::open(path, O_RDONLY | O_CLOEXEC);
  if (fd_ < 0 && errno == ENOENT) return Status::error("%s is missing", path);
  if (fd_ < 0) return io_error("open", path, errno);
  struct stat about;
  if (fstat(fd_, &about) != 0) return io_error("read", path, errno);
  if (!S_ISREG(about.st_mode)) return Status::error("%s is not a file", path);
  size_ = static_cast<uint64_t>(about.st_size);
  return {};
}

format::Source RankSource::source() { return {this, size_, read_at}; }

Status RankSource::read_at(void* self, uint64_t offset, void* data, size_t size) {
  const RankSource* source = static_cast<RankSource*>(self);
  uint8_t* to = static_cast<uint8_t*>(data);
  while (size > 0) {
    const ssize_t n = ::pread(source->fd_, to, size, static_cast<off_t>(offset));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return io_error("read", source->path(), errno);
    if (n == 0) return Status::error("%s became shorter while it was read", source->path());
    to += n;
    offset += static_cast<uint64_t>(n);
    size -= static_cast<size_t>(n);
  }
  return {};
}

Status open_verified(const char* dir, const Commit& record, uint32_t rank, RankSource* source,
                     format::Reader* reader) {
  const Text path = rank_path(dir, record.line, rank);
  ELC_TRY(source->open(path.c_str()));
  Status status = reader->open(source->source());
  if (status.ok()) status = reader->verify();
  Label label;
  if (status.ok()) status = read_label(*reader, &label);
  if (!status.ok()) return Status::error("%s cannot be used: %s", path.c_str(), status.message());
  if (label.line != record.line || label.rank != rank || label.ranks != record.ranks)
    return Status::error("%s is the file of line %llu, rank %lu of %lu: it does not belong there",
                         path.c_str(), static_cast<unsigned long long>(label.line),
                         static_cast<unsigned long>(label.rank), static_cast<unsigned long>(label.ranks));
  if (label.run != record.run)
    return Status::error("%s was written by another run than the commit record of line %llu", path.c_str(),
                         static_cast<unsigned long long>(record.line));
  return {};
}

}  // namespace elc::store
