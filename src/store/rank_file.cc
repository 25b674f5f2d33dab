// Writing and reading the file of one rank.
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <utility>

#include "store/records.h"
#include "store/store.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr size_t kBufferSize = size_t{1} << 18;
constexpr uint64_t kMaxLabel = 256;
// Bytes that begin their way to the disk together, and how many such may be on it.
constexpr uint64_t kStretch = uint64_t{8} << 20;
constexpr uint64_t kStretches = 4;

}  // namespace

Text rank_name(uint32_t rank) { return Text::format("rank-%06lu.elc", static_cast<unsigned long>(rank)); }

bool rank_number(const char* name, const char* end, uint32_t* rank) {
  constexpr size_t kBefore = 5, kBehind = 4;  // "rank-", ".elc"
  const size_t length = static_cast<size_t>(end - name);
  uint64_t number;
  if (length <= kBefore + kBehind || !parse_whole(Text::copy({name + kBefore, length - kBefore - kBehind}).c_str(), &number) ||
      number > UINT32_MAX)
    return false;
  *rank = static_cast<uint32_t>(number);
  return rank_name(*rank).view() == std::string_view(name, length);
}

Text file_name(uint32_t rank, const Ranks& together) {
  return together.alone() ? rank_name(rank) : aggregate_name(together);
}

Text rank_path(const char* dir, uint64_t line, uint32_t rank) {
  return Text::format("%s/%s", line_path(dir, line).c_str(), rank_name(rank).c_str());
}

RankFile::~RankFile() {
  if (stage_ != Stage::kFinished) discard();
}

void RankFile::prepare() { buffer_.reserve(kBufferSize); }

Result RankFile::open(const char* dir, uint64_t line, uint64_t run, uint32_t rank, const Ranks& together) {
  line_ = line;
  rank_ = rank;
  together_ = together;
  final_ = file_name(rank, together);
  temporary_ = Text();
  failure_ = Result();
  size_ = 0;
  extents_.clear();
  pace_ = false;
  buffer_.clear();
  prepare();
  ELC_TRY(top_.open(dir));
  ELC_TRY(claim_line(top_, line, run, rank, &place_, &made_));
  stage_ = Stage::kWriting;
  return together_.alone() ? open_temporary(place_, final_.c_str(), &temporary_, &fd_) : open_aggregate(place_, together_, &fd_);
}

Result RankFile::write(const void* data, size_t size) {
  ELC_TRY(failure_);
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

Result RankFile::flush() {
  ELC_TRY(put(buffer_.data(), buffer_.size()));
  buffer_.clear();
  return {};
}

Result RankFile::put(const uint8_t* data, size_t size) {
  const uint64_t before = extents_.size();
  const int error = together_.alone() ? write_all(fd_, data, size) : append_all(fd_, data, size, &extents_);
  if (error != 0) return fail("write", error);
  if (together_.alone()) extents_.add(before, size);
  const auto stretch_to = [&](uint64_t stretch, void (*do_so)(int fd, uint64_t from, uint64_t size)) {
    return extents_.each(stretch * kStretch, kStretch, [&](uint64_t at, uint64_t count) {
      do_so(fd_, at, count);
      return Result();
    });
  };
  for (uint64_t stretch = before / kStretch; pace_ && stretch < extents_.size() / kStretch; ++stretch) {
    ELC_TRY(stretch_to(stretch, start_writing));
    if (stretch >= kStretches) ELC_TRY(stretch_to(stretch - kStretches, end_writing));
  }
  return {};
}

Result RankFile::take_over(Decoder& in) {
  ELC_TRY(extents_.decode(in, UINT64_MAX));
  size_ = extents_.size();
  return {};
}

Result RankFile::fail(const char* what, int error) {
  const Text& name = together_.alone() ? temporary_ : final_;
  failure_ = io_error(what, place_.path_of(name.c_str()).c_str(), error);
  return failure_;
}

void RankFile::rely_on(Descriptor file, const char* path) {
  Relied& added = relied_.push_back({});
  added.file = std::move(file);
  added.path = Text::copy(path);
}

// One after the other. A file system on which something cannot be flushed, as it cannot be changed, need not do it.
Result RankFile::flush_relied(bool wait) {
  while (!relied_.empty() && (wait || !system_calls.flushing())) {
    const int fd = relied_.back().file.get();
    const int error = uninterrupted([fd] { return system_calls.end_flush(fd); }) == 0 ? 0 : errno;
    if (error != 0 && error != EINVAL && error != EROFS) {
      failure_ = Result::caused(error, "the line relies on the file '%s', which cannot be flushed to its disk: %s",
                                relied_.back().path.c_str(), strerror(error));
      stage_ = Stage::kWriting;  // nothing is being flushed
      return failure_;
    }
    relied_.pop_back();
    if (!relied_.empty()) system_calls.start_flush(relied_.back().file.get());
  }
  return {};
}

void RankFile::close_file() {
  if (stage_ == Stage::kFlushingRelied && !relied_.empty()) system_calls.end_flush(relied_.back().file.get());
  relied_.clear();
  if (stage_ == Stage::kFlushing) system_calls.end_flush(fd_);
  if (stage_ == Stage::kFlushingDirectory) system_calls.end_flush(place_.fd());
  if (stage_ == Stage::kFlushingTop) system_calls.end_flush(top_.fd());
  if (fd_ >= 0) system_calls.close(fd_);
  fd_ = -1;
  stage_ = Stage::kFinished;
  buffer_.clear();
}

// The file is flushed: it gets its name, if it has not, and its directory is to be flushed.
Result RankFile::put_in_place() {
  int error = uninterrupted([&] { return system_calls.end_flush(fd_); }) == 0 ? 0 : errno;
  stage_ = Stage::kFinished;
  const int fd = std::exchange(fd_, -1);
  if (together_.alone()) {
    failure_ = store::put_in_place(place_, temporary_.c_str(), final_.c_str(), fd, "flush", error);
  } else {
    if (system_calls.close(fd) != 0 && error == 0) error = errno;
    if (error != 0) static_cast<void>(fail("flush", error));
  }
  ELC_TRY(failure_);
  system_calls.start_flush(place_.fd());
  stage_ = Stage::kFlushingDirectory;
  return {};
}

Result RankFile::step(bool wait) {
  ELC_TRY(failure_);
  if (stage_ == Stage::kWriting) {
    ELC_TRY(flush());
    const int error = together_.alone() ? 0 : write_table(fd_, together_, rank_, extents_);
    if (error != 0) return fail("write", error);
    if (!relied_.empty()) system_calls.start_flush(relied_.back().file.get());
    stage_ = Stage::kFlushingRelied;
  }
  if (stage_ == Stage::kFlushingRelied) {
    ELC_TRY(flush_relied(wait));
    if (!relied_.empty()) return {};
    system_calls.start_flush(fd_);
    stage_ = Stage::kFlushing;
  }
  if (stage_ == Stage::kFlushing && (wait || !system_calls.flushing())) ELC_TRY(put_in_place());
  if (stage_ == Stage::kFlushingDirectory && (wait || !system_calls.flushing())) {
    stage_ = Stage::kFinished;
    ELC_TRY(place_.flushed(uninterrupted([&] { return system_calls.end_flush(place_.fd()); })));
    if (!made_) return {};
    system_calls.start_flush(top_.fd());
    stage_ = Stage::kFlushingTop;
  }
  if (stage_ == Stage::kFlushingTop && (wait || !system_calls.flushing())) {
    stage_ = Stage::kFinished;
    ELC_TRY(top_.flushed(uninterrupted([&] { return system_calls.end_flush(top_.fd()); })));
  }
  return {};
}

Result RankFile::advance(bool* done) {
  Result status = step(false);
  if (!status.ok()) discard();
  *done = stage_ == Stage::kFinished;
  return status;
}

Result RankFile::finish() {
  Result status = step(true);
  if (!status.ok()) discard();
  return status;
}

void RankFile::discard() {
  close_file();
  if (place_.is_open()) {
    if (!temporary_.empty()) remove_file(place_, temporary_.c_str()).ok();
    remove_file(place_, final_.c_str()).ok();
    release_line(top_, line_, place_);
  }
  keep();
}

void RankFile::keep() {
  place_.close();
  top_.close();
}

void write_label(format::Writer& writer, const Label& label) {
  writer.begin_section("label");
  writer.encoder().u64(label.line);
  writer.encoder().u64(label.run);
  writer.encoder().u32(label.rank);
  writer.encoder().u32(label.ranks);
  writer.end_section();
}

Result read_label(format::Reader& reader, Label* label) {
  Bytes content;
  ELC_TRY(reader.read_section("label", kMaxLabel, &content));
  Decoder in(content);
  label->line = in.u64();
  label->run = in.u64();
  label->rank = in.u32();
  label->ranks = in.u32();
  return in.ok() ? Result() : Result::error("its label is too short");
}

RankSource::~RankSource() { close(); }

void RankSource::close() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
  extents_.clear();
  for (RankSource* base : bases_) destroy(base);
  bases_.clear();
}

Result RankSource::open(const char* path) {
  close();
  path_ = Text::copy(path);
  dir_ = Text();
  const char* const slash = strrchr(path, '/');
  const char* const name = slash == nullptr ? path : slash + 1;
  // DIR/line-N/rank-N.elc
  const bool of_rank = rank_number(name, name + strlen(name), &rank_);
  const std::string_view directory(path, slash == nullptr ? 0 : static_cast<size_t>(slash - path));
  const Text above = Text::copy(slash == nullptr ? "." : slash == path ? "/" : directory);
  if (of_rank) dir_ = Text::format("%s/..", above.c_str());
  Ranks ranks;
  if (aggregate_ranks(name, name + strlen(name), &ranks))
    return Result::error("several ranks have written to it: name one of them, as in %s/%s", above.c_str(), rank_name(ranks.first).c_str());
  uint64_t size;
  const Result opened = open_path(path, &fd_, &size);
  if (opened.ok()) extents_.add(0, size);
  Directory place;
  bool found = false;
  if (!of_rank || opened.cause() != ENOENT || !place.open(above.c_str()).ok()) return opened;
  ELC_TRY(open_aggregated(place, &found));
  return found ? Result() : opened;
}

// Where the rank has no file of its own.
Result RankSource::open_aggregated(const Directory& place, bool* found) {
  Ranks ranks;
  *found = false;
  ELC_TRY(place.each([&](const char* name) {
    *found = aggregate_ranks(name, name + strlen(name), &ranks) && ranks.has(rank_);
    return !*found;
  }));
  if (!*found) return {};
  const Text name = aggregate_name(ranks);
  path_ = place.path_of(name.c_str());
  uint64_t size;
  ELC_TRY(open_file(place, name.c_str(), &fd_, nullptr, &size));
  ELC_TRY(read_table(fd_, size, ranks, rank_, path(), &extents_));
  path_ = Text::format("%s (rank %lu)", path(), static_cast<unsigned long>(rank_));
  return {};
}

Result RankSource::open(const char* dir, uint64_t line, uint32_t rank) {
  close();
  path_ = rank_path(dir, line, rank);
  dir_ = Text::copy(dir);
  rank_ = rank;
  Directory top, place;
  ELC_TRY(open_line(dir, line, &top, &place));
  uint64_t size;
  bool found = false;
  ELC_TRY(open_file(place, rank_name(rank).c_str(), &fd_, &found, &size));
  if (found) extents_.add(0, size);
  else ELC_TRY(open_aggregated(place, &found));
  return found ? Result() : Result::error("%s is missing", path());
}

format::Source RankSource::source() { return {this, extents_.size(), read_at, dir_.empty() ? nullptr : open_base}; }

Result RankSource::open_base(void* self, uint64_t line, format::Source* source) {
  RankSource& of = *static_cast<RankSource*>(self);
  RankSource* const base = make<RankSource>();
  of.bases_.push_back(base);
  ELC_TRY(base->open(of.dir_.c_str(), line, of.rank_));
  *source = base->source();
  return {};
}

Result RankSource::read_at(void* self, uint64_t offset, void* data, size_t size) {
  const RankSource* source = static_cast<RankSource*>(self);
  const uint64_t there = source->extents_.size();
  if (offset > there || size > there - offset) return Result::error("%s is too short", source->path());
  uint8_t* to = static_cast<uint8_t*>(data);
  return source->extents_.each(offset, size, [&](uint64_t at, uint64_t count) {
    const Result status = read_all_at(source->fd_, to, static_cast<size_t>(count), at, source->path());
    to += count;
    return status;
  });
}

namespace {

// A failure of a reader, which knows no name of its file.
Result unusable(const RankSource& source, const Result& status) {
  if (status.ok() || status.system_failed()) return status;
  return Result::error("%s cannot be used: %s", source.path(), status.message());
}

// The files that it refers to are those of the same run, in lines that the record keeps.
Result check_bases(const Commit& record, uint32_t rank, const char* path, format::Reader* reader) {
  for (size_t i = 0; i < reader->base_count(); ++i) {
    if (!reader->needs_base(i)) continue;
    const uint64_t line = reader->base_line(i);
    Label label;
    ELC_TRY(read_label(reader->base(i), &label));
    bool kept = false;
    for (const uint64_t base : record.relies_on) kept = kept || base == line;
    if (!kept || label.line != line || label.run != record.run || label.rank != rank || label.ranks != record.ranks)
      return Result::error("%s relies on a file of line %llu, which does not belong to it", path,
                           static_cast<unsigned long long>(line));
  }
  return {};
}

}  // namespace

Result open_verified(const char* dir, const Commit& record, uint32_t rank, RankSource* source,
                     format::Reader* reader, bool (*later)(const char* section)) {
  ELC_TRY(source->open(dir, record.line, rank));
  Result status = reader->open(source->source());
  if (status.ok()) status = reader->verify(later);
  Label label;
  if (status.ok()) status = read_label(*reader, &label);
  ELC_TRY(unusable(*source, status));
  const char* const path = source->path();
  if (label.line != record.line || label.rank != rank || label.ranks != record.ranks)
    return Result::error("%s is the file of line %llu, rank %lu of %lu: it does not belong there",
                         path, static_cast<unsigned long long>(label.line),
                         static_cast<unsigned long>(label.rank), static_cast<unsigned long>(label.ranks));
  if (label.run != record.run)
    return Result::error("%s was written by another run than the commit record of line %llu", path,
                         static_cast<unsigned long long>(record.line));
  return check_bases(record, rank, path, reader);
}

Result verify_rest(const RankSource& source, format::Reader* reader) { return unusable(source, reader->verify()); }

}  // namespace elc::store
