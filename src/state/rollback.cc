// Bringing files back to the content of a line. What the line has of a file goes
// to a temporary file beside it first; only when all are complete does the first file change, by a rename.
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/message.h"
#include "base/write.h"
#include "state/process.h"
#include "state/streams.h"

namespace elc::state {
namespace {

constexpr size_t kPiece = 64 * 1024;
constexpr uint64_t kLargest = uint64_t{1} << 62;

Result io_error(const char* what, const char* path, int error) {
  return Result::caused(error, "cannot %s the file '%s' of the line: %s", what, path, strerror(error));
}

// What a kill leaves behind, the next restart removes. The number keeps streams of one file apart.
Text temporary_name(const Place& place, size_t number) {
  return Text::format("%s.elc-restoring-%zu", place.name(), number);
}

// Does the mode say what the kind does? A mode that the line has made up opens nothing.
bool kind_fits(StreamKind kind, const char* mode) {
  if (strcmp(mode, kDirectoryMode) == 0) return kind == StreamKind::kSpecial;
  return strchr("rwa", mode[0]) != nullptr && (kind == StreamKind::kSpecial || kind == kind_of(mode));
}

Result read_directory(format::Cursor& in, Vector<SavedStream>* saved) {
  saved->clear();
  for (uint64_t left = in.count(36); left > 0 && in.ok(); --left) {
    SavedStream stream;
    stream.path = Text::copy(in.string());
    std::string_view mode = in.string();
    if (!mode.empty() && mode.front() >= '0' && mode.front() <= '2') {
      stream.standard = kStdin + static_cast<uint64_t>(mode.front() - '0');
      mode.remove_prefix(1);
    }
    if (const size_t behind = mode.find(kChecksum); behind != std::string_view::npos) {
      std::string_view digits = mode;
      digits.remove_prefix(behind + 1);
      stream.checksum = strtoull(Text::copy(digits).c_str(), nullptr, 16);
      mode.remove_suffix(digits.size() + 1);
    }
    stream.at_end = mode.ends_with(kAtEnd);
    stream.is_unappended = mode.ends_with(kUnappended);
    if (stream.at_end || stream.is_unappended) mode.remove_suffix(1);
    stream.mode = Text::copy(mode);
    const uint32_t kind = in.u32();
    stream.kind = static_cast<StreamKind>(kind);
    stream.offset = in.u64();
    stream.length = in.u64();
    if (!in.ok()) break;
    if (kind > static_cast<uint32_t>(StreamKind::kSpecial) || stream.offset > kLargest ||
        stream.length > kLargest || stream.mode.empty() || !kind_fits(stream.kind, stream.mode.c_str()))
      return Result::error("the checkpoint file is damaged: what it says of the file '%s' cannot be",
                           stream.path.c_str());
    saved->push_back(std::move(stream));
  }
  ELC_TRY(in.status());
  uint64_t content = 0;
  for (const SavedStream& stream : *saved) {
    if (stream.kind != StreamKind::kWrite) continue;
    if (stream.length > in.left() - content)
      return Result::error("the checkpoint file is damaged: it does not have all of the file '%s'",
                           stream.path.c_str());
    content += stream.length;
  }
  return Result();
}

// A file that is read or appended to has to be there, with at least what it had.
Result check_present(const Place& place, const SavedStream& saved, const Vector<SavedStream>& all, const AppendedFiles& closed) {
  const char* path = saved.path.c_str();
  const bool append = saved.kind == StreamKind::kAppend;
  Descriptor file;
  struct stat about;
  const Result opened = place.open(access_of(saved.kind), append ? O_WRONLY : O_RDONLY, &file);
  if (!opened.ok())
    return Result::caused(opened.cause(), "the file that was open for %s when the line was taken: %s",
                          append ? "appending" : "reading", opened.message());
  if (fstat(file.get(), &about) != 0) return io_error("look at", path, errno);
  if (!append && closed.is_rewritten(about))
    return Result::error("the file '%s' was open for reading when the line was taken, and what is there now was written behind that: put the file back as it "
                         "was, or restart from another line", path);
  if (saved.at_end && !append && static_cast<uint64_t>(about.st_size) > saved.offset)
    return Result::error("the file '%s' has %lld bytes, and the program had come to its end at %llu when the line was taken", path,
                         static_cast<long long>(about.st_size), static_cast<unsigned long long>(saved.offset));
  // What else another process may have written.
  Descriptor content;
  const auto brings_back = [&saved](const SavedStream& other) { return other.kind == StreamKind::kWrite && other.path.view() == saved.path.view(); };
  const bool is_known = append && saved.checksum != kNoChecksum && std::none_of(all.begin(), all.end(), brings_back) && place.open(Access::kChange, O_RDONLY, &content).ok();
  if (is_known && static_cast<uint64_t>(about.st_size) >= saved.length && checksum_of(content.get(), saved.length) != saved.checksum)
    return Result::error("the file '%s' was open for appending when the line was taken, and what is there now is another one: put the file back as it was, if "
                         "it has another name now, or restart from another line", path);
  // A reader may have gone behind the end, to see whether there is more.
  const uint64_t least = saved.is_unappended ? 0 : append ? saved.length : std::min(saved.offset, saved.length);
  if (static_cast<uint64_t>(about.st_size) < least)
    return Result::error(
        "the file '%s' has %lld bytes, but had at least %llu when the line was taken: its content is lost",
        path, static_cast<long long>(about.st_size), static_cast<unsigned long long>(least));
  return Result();
}

// A file that is written comes out of the line; its directory has to take it.
Result check_writable(const Place& place, const SavedStream& saved) {
  struct stat about;
  bool there;
  ELC_TRY(place.look(Access::kChange, &about, &there));
  if (faccessat(place.directory(), ".", W_OK | X_OK, 0) == 0) return Result();
  return Result::caused(errno, "cannot bring back the file '%s': its directory cannot be written: %s", saved.path.c_str(),
                        strerror(errno));
}

Result check_stream(const FileRoots& roots, const SavedStream& saved, const Vector<SavedStream>& all, const AppendedFiles& closed) {
  const char* path = saved.path.c_str();
  if (saved.kind == StreamKind::kSpecial)
    return is_null_device(path) ? Result()
                                : Result::error("the line has '%s', which was not a regular file: a restart opens no other",
                                                path);
  Place place;
  ELC_TRY(place.find(roots, path));
  if (saved.kind == StreamKind::kWrite) return check_writable(place, saved);
  struct stat about;
  bool there = true;
  if (saved.is_unappended && saved.length == 0) ELC_TRY(place.look(Access::kChange, &about, &there));
  if (!there) return check_writable(place, saved);
  // What this process reads while it writes it is brought back.
  for (const SavedStream& other : all)
    if (saved.kind == StreamKind::kRead && other.kind == StreamKind::kWrite && other.path.view() == saved.path.view()) return Result();
  return check_present(place, saved, all, closed);
}

int write_all(int fd, const uint8_t* data, size_t size) {
  while (size > 0) {
    const ssize_t done = write_unsignalled(fd, data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return errno;
    data += done;
    size -= static_cast<size_t>(done);
  }
  return 0;
}

// Writes the content of a saved file, which is next in the section, to its temporary file: a new one, whatever has its name.
Result write_temporary(const FileRoots& roots, const SavedStream& saved, size_t number, format::Cursor& in) {
  Place place;
  ELC_TRY(place.find(roots, saved.path.c_str()));
  struct stat old;
  bool exists;
  ELC_TRY(place.look(Access::kChange, &old, &exists));
  const Text temporary = temporary_name(place, number);
  unlinkat(place.directory(), temporary.c_str(), 0);
  const Descriptor file(openat(place.directory(), temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                               exists ? 0600 : 0666));
  if (!file.open()) return io_error("create", temporary.c_str(), errno);
  uint8_t* piece = static_cast<uint8_t*>(allocate(kPiece));
  int error = exists && fchmod(file.get(), old.st_mode & 0777) != 0 ? errno : 0;
  for (uint64_t left = saved.length; left > 0 && error == 0 && in.ok();) {
    const size_t size = left < kPiece ? static_cast<size_t>(left) : kPiece;
    in.bytes(piece, size);
    if (in.ok()) error = write_all(file.get(), piece, size);
    left -= size;
  }
  release(piece);
  if (error == 0 && fsync(file.get()) != 0) error = errno;
  if (error != 0) return io_error("write", temporary.c_str(), error);
  return in.status();
}

Result replace(const FileRoots& roots, const SavedStream& saved, size_t number) {
  Place place;
  ELC_TRY(place.find(roots, saved.path.c_str()));
  if (renameat(place.directory(), temporary_name(place, number).c_str(), place.directory(), place.name()) != 0)
    return io_error("replace", saved.path.c_str(), errno);
  fsync(place.directory());
  return Result();
}

// Several processes may have appended to a file, and each knows one length of it: a file beside it becomes as long as the greatest.
Text name_of_length(const char* path) { return Text::format("%s.elc-restoring-length", path); }

// `alone`: no other process can have appended to it and closed it, in a directory where nothing can be made.
Result note_length(const FileRoots& roots, const char* path, uint64_t length, bool alone) {
  const Text name = name_of_length(path);
  Place place;
  ELC_TRY(place.find(roots, name.c_str()));
  Descriptor file(openat(place.directory(), place.name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file.open() && errno != EEXIST) return alone ? Result() : io_error("create", name.c_str(), errno);
  if (!file.open()) ELC_TRY(place.open(Access::kChange, O_WRONLY, &file));
  if (length == 0 || pwrite(file.get(), "", 1, static_cast<off_t>(length - 1)) == 1) return Result();
  return io_error("write", name.c_str(), errno);
}

// None that has become shorter meanwhile, as another process had it open and has brought it back. What nobody had written to has the least
// length that a process has found.
Result shorten_appended(const FileRoots& roots, const char* path, uint64_t length) {
  Place place, beside;
  Descriptor file;
  struct stat about, longest;
  bool noted;
  ELC_TRY(place.find(roots, path));
  ELC_TRY(place.open(Access::kChange, O_WRONLY, &file));
  ELC_TRY(beside.find(roots, name_of_length(path).c_str()));
  ELC_TRY(beside.look(Access::kChange, &longest, &noted));
  if (fstat(file.get(), &about) != 0) return io_error("look at", path, errno);
  const off_t end = noted && longest.st_size > 0 ? longest.st_size : static_cast<off_t>(length);
  return about.st_size <= end || ftruncate(file.get(), end) == 0 ? Result() : io_error("shorten", path, errno);
}

// What was opened for appending behind the line. Where the line of another process has its length it is that; several may do so.
Result undo_opening(const FileRoots& roots, const Appended& file) {
  Place place, beside;
  struct stat about;
  bool there, noted;
  ELC_TRY(place.find(roots, file.path.c_str()));
  ELC_TRY(beside.find(roots, name_of_length(file.path.c_str()).c_str()));
  ELC_TRY(beside.look(Access::kChange, &about, &noted));
  if (!noted && !file.was_there) return unlinkat(place.directory(), place.name(), 0) == 0 || errno == ENOENT ? Result() : io_error("remove", file.path.c_str(), errno);
  const Result shortened = shorten_appended(roots, file.path.c_str(), file.length);
  ELC_TRY(place.look(Access::kChange, &about, &there));
  return there ? shortened : Result();  // another one may have removed it
}

void remove_length(const FileRoots& roots, const char* path) {
  Place place;
  if (place.find(roots, name_of_length(path).c_str()).ok()) unlinkat(place.directory(), place.name(), 0);
}

// Several processes may do so.
Result make_file(const FileRoots& roots, const SavedStream& saved) {
  Place place;
  ELC_TRY(place.find(roots, saved.path.c_str()));
  Descriptor file(openat(place.directory(), place.name(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  return file.open() || errno == EEXIST ? Result() : io_error("create", saved.path.c_str(), errno);
}

Result empty_file(const FileRoots& roots, const SavedStream& saved) {
  Place place;
  Descriptor file;
  ELC_TRY(make_file(roots, saved));
  ELC_TRY(place.find(roots, saved.path.c_str()));
  ELC_TRY(place.open(Access::kChange, O_WRONLY, &file));
  return ftruncate(file.get(), 0) == 0 ? Result() : io_error("empty", saved.path.c_str(), errno);
}

void remove_temporary(const FileRoots& roots, const SavedStream& saved, size_t number) {
  Place place;
  if (place.find(roots, saved.path.c_str()).ok()) unlinkat(place.directory(), temporary_name(place, number).c_str(), 0);
}

// What the program's mode allows, in the words of fopen, but never one that empties the file or makes one.
struct Reopening {
  const char* mode;
  int flags;
};

Reopening reopening(const SavedStream& saved) {
  const bool both = strchr(saved.mode.c_str(), '+') != nullptr;
  const char first = saved.mode.c_str()[0];
  if (saved.kind == StreamKind::kWrite) return {"r+", O_RDWR};
  if (first == 'a') return both ? Reopening{"a+", O_RDWR | O_APPEND} : Reopening{"a", O_WRONLY | O_APPEND};
  if (both) return {"r+", O_RDWR};
  return first == 'r' ? Reopening{"r", O_RDONLY} : Reopening{"w", O_WRONLY};
}

Result open_again(const FileRoots& roots, const SavedStream& saved, int flags, Descriptor* file) {
  const char* path = saved.path.c_str();
  if (saved.kind == StreamKind::kSpecial) {
    *file = Descriptor(open(path, flags | O_CLOEXEC));
    return file->open() ? Result() : io_error("open", path, errno);
  }
  Place place;
  ELC_TRY(place.find(roots, path));
  ELC_TRY(place.open(access_of(saved.kind), flags, file));
  return fcntl(file->get(), F_SETFL, flags) == 0 ? Result() : io_error("open", path, errno);
}

constexpr const char* kNowhere = "/dev/null";

// A FILE of the set-up that is to stay the same is emptied by way of the null device: by its name freopen would open
// whatever has it by then.
Result reopen(const FileRoots& roots, SavedStream& saved) {
  const char* path = saved.path.c_str();
  const Reopening how = reopening(saved);
  Descriptor file;
  ELC_TRY(open_again(roots, saved, how.flags, &file));
  saved.file = freopen(kNowhere, how.mode, saved.file);
  if (saved.file == nullptr || dup2(file.get(), fileno(saved.file)) < 0) return io_error("open", path, errno);
  const int inherited = strchr(saved.mode.c_str(), 'e') == nullptr ? 0 : FD_CLOEXEC;
  if (fcntl(fileno(saved.file), F_SETFD, inherited) != 0) return io_error("open", path, errno);
  // One that was not moved stays so (is_untouched).
  if (saved.kind != StreamKind::kSpecial && !saved.is_unwritten() && !saved.is_unappended && fseeko(saved.file, static_cast<off_t>(saved.offset), SEEK_SET) != 0)
    return io_error("seek in", path, errno);
  if (saved.at_end && getc(saved.file) != EOF)
    return Result::error("the file '%s' does not end where the program had come to its end when the line was taken", path);
  return Result();
}

}  // namespace

Result read_files(format::Cursor& in, SavedTerminal (&terminals)[3], Vector<SavedStream>* streams) {
  ELC_TRY(read_layout(in, "files"));
  for (SavedTerminal& terminal : terminals) read_terminal(in, &terminal);
  return read_directory(in, streams);
}

Result Streams::check(format::Reader& reader) {
  format::Cursor in;
  SavedTerminal terminals[3];
  ELC_TRY(in.open(&reader, "files"));
  ELC_TRY(read_files(in, terminals, &saved_));
  if (!saved_.empty() && saved_.back().mode.view() == kOutputMode) saved_.pop_back();  // of elc run, which has it
  if (!saved_.empty() && saved_.back().mode.view() == kDirectoryMode) {  // from which names are, too
    ELC_TRY(return_to(saved_.back().path.c_str()));
    saved_.pop_back();
  }
  Vector<Appended> closed;
  const auto is_closed = [](const SavedStream& stream) { return stream.mode.view() == kAppendedMode || stream.mode.view() == kWrittenMode; };
  while (!saved_.empty() && is_closed(saved_.back())) {
    Appended& one = closed.push_back({});
    one.path = std::move(saved_.back().path);
    one.length = saved_.back().length;
    one.checksum = saved_.back().offset;
    one.is_appended = saved_.back().mode.view() == kAppendedMode;
    saved_.pop_back();
  }
  ELC_TRY(closed_.take_over(roots_, std::move(closed)));
  for (const SavedStream& saved : saved_) ELC_TRY(check_stream(roots_, saved, saved_, closed_));
  return Result();
}

void Streams::remove_lengths() const {
  for (const SavedStream& saved : saved_)
    if (saved.has_length()) remove_length(roots_, saved.path.c_str());
  for (const Appended& file : closed_.of_line()) remove_length(roots_, file.path.c_str());
}

Result Streams::note_lengths() const {
  for (const SavedStream& saved : saved_)
    if (saved.has_length()) ELC_TRY(note_length(roots_, saved.path.c_str(), saved.length, saved.kind == StreamKind::kAppend));
  for (const Appended& file : closed_.of_line())
    if (!file.is_lost && !file.is_noted) ELC_TRY(note_length(roots_, file.path.c_str(), file.length, false));
  return Result();
}

Result Streams::write_temporaries(format::Cursor& in) const {
  remove_lengths();
  for (size_t i = 0; i < saved_.size(); ++i)
    if (saved_[i].has_content()) ELC_TRY(write_temporary(roots_, saved_[i], i, in));
  return Result();
}

void Streams::remove_temporaries() const {
  remove_lengths();
  for (size_t i = 0; i < saved_.size(); ++i)
    if (saved_[i].has_content()) remove_temporary(roots_, saved_[i], i);
}

Result Streams::make_empty() const {
  for (const SavedStream& saved : saved_)
    if (saved.is_unwritten()) ELC_TRY(empty_file(roots_, saved));
    else if (saved.is_unappended && saved.length == 0) ELC_TRY(make_file(roots_, saved));
  return Result();
}

Result Streams::put_back() const {
  for (size_t i = 0; i < saved_.size(); ++i) {
    const SavedStream& saved = saved_[i];
    if (saved.has_content()) ELC_TRY(replace(roots_, saved, i));
    if (saved.kind == StreamKind::kAppend) ELC_TRY(shorten_appended(roots_, saved.path.c_str(), saved.length));
  }
  for (const Appended& file : closed_.of_line())
    if (!file.is_lost) ELC_TRY(file.is_noted ? undo_opening(roots_, file) : shorten_appended(roots_, file.path.c_str(), file.length));
  return Result();
}

Result Streams::open_all() {
  for (SavedStream& saved : saved_) {
    ELC_TRY(reopen(roots_, saved));
    follow(saved.file, saved.path.view(), saved.mode.view(), saved.standard);
  }
  return output_.open() ? direct_output() : Result();
}

// A file that others have open, too, has its content before any opens it, and nobody empties it after that.
Result Streams::apply(format::Reader& reader, AllWell all_well) {
  format::Cursor in;
  SavedTerminal terminals[3];
  Vector<SavedStream> known;  // read over, to come to the content
  Result status = in.open(&reader, "files");
  if (status.ok()) status = read_files(in, terminals, &known);
  if (status.ok()) {
    restore_terminals(terminals);
    status = write_temporaries(in);
  }
  if (!all_well(status.ok())) {  // the others ask, whatever has failed here
    remove_temporaries();
    return status;
  }
  status = make_empty();
  if (status.ok()) status = note_lengths();
  bool well = all_well(status.ok());
  if (well) {
    status = put_back();
    well = all_well(status.ok());
  }
  remove_lengths();
  if (!well) return status;
  closed_.begin_with_line();
  for (const SavedStream& saved : saved_)
    if (saved.kind == StreamKind::kRead) closed_.note_reading(saved.path.c_str());
  return open_all();
}

Result Streams::prepare() {
  ELC_TRY(adopt());
  for (SavedStream& saved : saved_) {
    if (saved.standard != kNoStream) saved.file = stream_of(saved.standard);
    if (saved.file != nullptr) continue;
    Descriptor nowhere(::open(kNowhere, O_RDONLY | O_CLOEXEC));
    if (nowhere.open()) saved.file = fdopen(nowhere.get(), "r");
    if (saved.file == nullptr) return io_error("open", saved.path.c_str(), errno);
    nowhere.release();
  }
  return Result();
}

// A stream that the set-up has opened again stays the same FILE, in case a copy of its address is not
// registered; the others the program had closed by the time of the line.
Result Streams::adopt() {
  for (SavedStream& saved : saved_) {
    for (size_t i = 0; i < open_.size() && saved.file == nullptr; ++i) {
      if (saved.standard != kNoStream || open_[i].path.view() != saved.path.view() || open_[i].mode.view() != saved.mode.view()) continue;
      saved.file = open_[i].file;
      fflush(saved.file);  // what the set-up wrote goes before the file is brought back
      open_.erase(i);
    }
  }
  while (!open_.empty()) {
    const Text path = Text::copy(open_.back().path.view());
    if (close(open_.back().file) != 0)
      return Result::caused(errno, "what the set-up wrote to the file '%s' is lost: %s", path.c_str(), strerror(errno));
  }
  return Result();
}

}  // namespace elc::state
