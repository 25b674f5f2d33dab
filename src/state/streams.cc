// The table of streams, and what of them is saved.
#include "state/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "base/message.h"
#include "elc_program.h"
#include "state/library.h"
#include "state/process.h"
#include "state/unread.h"

#if ELC_HAVE_WEAK
extern "C" ELC_WEAK size_t __fbufsize(FILE* file);  // of <stdio_ext.h>, which not every system has
#endif

namespace elc::state {
namespace {

constexpr size_t kPiece = 8 * 1024;

Result io_error(const char* what, const char* path, int error) {
  return Result::caused(error, "cannot %s the file '%s': %s", what, path, strerror(error));
}

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// Has nothing ever been read, written or moved through the stream? The GNU C library gives it a buffer when it has to; of
// others that is not known.
bool is_untouched(FILE* file) {
#if ELC_HAVE_WEAK
  return __fbufsize != nullptr && __fbufsize(file) == 0;
#else
  static_cast<void>(file);
  return false;
#endif
}

}  // namespace

// What the directory of "files" says of a stream, and where its file is.
struct Snapshot {
  const Stream* stream = nullptr;
  Place place;
  StreamKind kind = StreamKind::kSpecial;
  uint64_t offset = 0, length = 0;
  bool at_end = false;
  bool unwritten = false;
  uint64_t number = 0;  // of the file: Written
  uint64_t checksum = kNoChecksum;  // of what is appended to

  Kept kept() const {
    if (kind == StreamKind::kRead) return Kept::kRead;
    if (kind == StreamKind::kAppend) return unwritten ? Kept::kUnappended : Kept::kLength;
    return unwritten ? Kept::kNothing : Kept::kContent;
  }
};

namespace {

// Of the directory of section "files".
void write_entry(format::Writer& writer, std::string_view path, std::string_view mode, StreamKind kind, uint64_t offset, uint64_t length) {
  writer.text(path);
  writer.text(mode);
  writer.encoder().u32(static_cast<uint32_t>(kind));
  writer.encoder().u64(offset);
  writer.encoder().u64(length);
}

// Through a second descriptor, because the stream's may be for writing only and its offset is the program's.
Result write_content(const Snapshot& snapshot, format::Writer& writer) {
  const Stream& stream = *snapshot.stream;
  const uint64_t length = snapshot.length;
  Descriptor content;
  ELC_TRY(snapshot.place.open(Access::kChange, O_RDONLY, &content));
  struct stat own, named;
  if (fstat(fileno(stream.file), &own) != 0 || fstat(content.get(), &named) != 0)
    return io_error("look at", stream.path.c_str(), errno);
  if (!same_file(own, named)) return Result::error("the file '%s' was replaced while it was saved", stream.path.c_str());
  uint8_t piece[kPiece];  // memory may be short
  Result status;
  for (uint64_t done = 0; done < length && status.ok();) {
    const size_t wanted = length - done < kPiece ? static_cast<size_t>(length - done) : kPiece;
    const ssize_t got = pread(content.get(), piece, wanted, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      status = got < 0
                   ? io_error("read", stream.path.c_str(), errno)
                   : Result::error("the file '%s' became shorter while it was saved", stream.path.c_str());
      break;
    }
    status = writer.write_value(format::kByte, piece, static_cast<uint64_t>(got), {});
    done += static_cast<uint64_t>(got);
  }
  return status;
}

}  // namespace

// By the machine, too: on another one another file may have the same numbers.
uint64_t number_of_file(const struct stat& about) {
  char machine[256] = "";
  gethostname(machine, sizeof machine - 1);
  const uint64_t number = mix64(static_cast<uint64_t>(about.st_ino) ^ mix64(static_cast<uint64_t>(about.st_dev)));
  return mix_text(number, machine);
}

StreamKind kind_of(const char* mode) {
  if (mode[0] == 'a') return StreamKind::kAppend;
  return mode[0] == 'r' && strchr(mode, '+') == nullptr ? StreamKind::kRead : StreamKind::kWrite;
}

// GNU C: in the mode, behind a comma.
bool has_encoding(const char* mode) { return strstr(mode, ",ccs=") != nullptr; }

// Would a restart find the file of the stream by its name, and may it touch it? Without a place: the null device.
Result Streams::find_again(const Stream& stream, Place* place) const {
  const char* path = stream.path.c_str();
  struct stat own, named;
  if (fstat(fileno(stream.file), &own) != 0) return io_error("look at", path, errno);
  if (S_ISCHR(own.st_mode) && is_null_device(path)) return Result();
  if (!S_ISREG(own.st_mode)) return Result::error("'%s' is not a regular file, and a restart opens no other", path);
  ELC_TRY(place->find(roots_, path));
  bool there;
  ELC_TRY(place->look(access_of(kind_of(stream.mode.c_str())), &named, &there));
  if (there && same_file(own, named)) return Result();
  return Result::error("the name '%s' does not lead to the file that was opened by it: that was renamed or removed, or the "
                       "program has changed its directory", path);
}

// Another process may have given the file another name, where the system tells that. In the line that sees it first that may have been
// behind it there: a restart would do so once more.
Result Streams::find_renamed(Stream& stream, uint64_t line, Place* place) const {
  const uint64_t seen_at = stream.renamed_at;
  stream.renamed_at = 0;
  const Result found = find_again(stream, place);
  if (found.ok()) return found;
  struct stat own, named;
  const bool leads_there = fstat(fileno(stream.file), &own) == 0 && stat(stream.path.c_str(), &named) == 0 && same_file(own, named);
  if (leads_there) return found;  // there is another reason
  Text name = path_of(fileno(stream.file));
  if (seen_at != 0 && seen_at < line && name.view() == stream.renamed.view()) {
    std::swap(stream.path, name);
    if (find_again(stream, place).ok()) return Result();
    std::swap(stream.path, name);
  }
  stream.renamed = std::move(name);
  stream.renamed_at = line;
  return found;
}

// Of failures of its own the program has to learn by ferror, which a restart clears.
Result Streams::check_error(const Stream& stream) {
  if (ferror(stream.file) == 0) return Result();
  return Result::error("the program has not seen to an error of the stream of '%s' (ferror), which it would not see after "
                       "a restart; no line is taken until it is cleared or the stream closed", stream.path.c_str());
}

// The C library may drop what it could not write, and a later flush is none the wiser: then the file lacks what the
// program has written, and so would every line with it.
Result Streams::flush(Stream& stream) {
  if (stream.lost == 0 && fflush(stream.file) != 0) stream.lost = errno;
  if (stream.lost == 0) return check_error(stream);
  return Result::error("what the program wrote to the file '%s' is lost, as it could not be written: %s; no line is "
                       "taken while that is open", stream.path.c_str(), strerror(stream.lost));
}

Result Streams::look_at(Stream& stream, uint64_t line, Snapshot* out) const {
  const char* path = stream.path.c_str();
  out->stream = &stream;
  const bool reads = kind_of(stream.mode.c_str()) == StreamKind::kRead;
  if (reads && stream.is_given_back) ELC_TRY(check_given_back(stream.file));
  out->at_end = feof(stream.file) != 0;
  if (has_encoding(stream.mode.c_str()))
    return Result::error("the stream of '%s' has an encoding of its own ('%s'), which a restart would not set; no line is taken while it is open, but with the locale's", path, stream.mode.c_str());
  ELC_TRY(find_renamed(stream, line, &out->place));
  path = stream.path.c_str();
  if (reads) ELC_TRY(check_error(stream));
  const bool regular = !out->place.way().empty();
  if (regular) out->kind = kind_of(stream.mode.c_str());
  if (!regular) return Result();
  if (reads && !is_prepared()) ELC_TRY(check_given_back(stream.file));  // of such a program's own calls nothing is seen
  struct stat about;
  if (fstat(fileno(stream.file), &about) != 0) return io_error("look at", path, errno);
  const off_t offset = ftello(stream.file);
  if (offset < 0) return io_error("tell the position in", path, errno);
  out->offset = static_cast<uint64_t>(offset);
  out->length = static_cast<uint64_t>(about.st_size);
  out->number = number_of_file(about);
  if (out->at_end && out->offset != out->length)
    return Result::error("the program has come to the end of '%s', which is longer now: close it, or clear its end (clearerr)", path);
  const char mode = stream.mode.c_str()[0];
  out->unwritten = !stream.is_described && is_untouched(stream.file) && (mode == 'a' || (mode == 'w' && offset == 0));
  Descriptor content;  // the stream's own may be for writing only
  if (out->kind == StreamKind::kAppend && !out->unwritten && out->place.open(Access::kChange, O_RDONLY, &content).ok()) out->checksum = checksum_of(content.get(), out->length);
  return Result();
}

// Where this process has the file in another stream, too, that one's order of things counts.
void Streams::find_unwritten(Vector<Snapshot>& snapshots) {
  for (Snapshot& one : snapshots) {
    for (const Snapshot& other : snapshots)
      if (&one != &other && other.kind != StreamKind::kSpecial && other.number == one.number) one.unwritten = false;
    if (one.unwritten && one.kind == StreamKind::kWrite) one.length = 0;
  }
}

Result Streams::note_written(const Snapshot& snapshot) {
  if (snapshot.kind == StreamKind::kSpecial) return Result();
  Written& written = written_.push_back({});
  written.number = snapshot.number;
  written.path = Text::copy(snapshot.stream->path.view());
  written.kept = snapshot.kept();
  written.was_closed = closed_.written(written.number) != nullptr;
  if (written.kept != Kept::kNothing) return Result();
  written.directory = Descriptor(fcntl(snapshot.place.directory(), F_DUPFD_CLOEXEC, 0));
  return written.directory.open() ? Result() : io_error("look at", snapshot.stream->path.c_str(), errno);
}

// By its name: to close another descriptor of it would take the locks that the program may have on it (fcntl).
Result check_empty(const Written& file) {
  const char* const path = file.path.c_str();
  const char* const slash = strrchr(path, '/');
  struct stat about;
  if (fstatat(file.directory.get(), slash == nullptr ? path : slash + 1, &about, AT_SYMLINK_NOFOLLOW) != 0) return io_error("look at", path, errno);
  if (number_of_file(about) != file.number) return Result::error("the file '%s' was replaced while it was saved", path);
  if (about.st_size == 0 || process().streams.has_written_all_of(file, static_cast<uint64_t>(about.st_size))) return Result();
  return Result::error("the file '%s' is open for writing, and what is in it was written through another stream that is closed, or by a rank on "
                       "another machine: a restart could not bring that back; let who has not written to it close it, too, or not open it", path);
}

// The program has gone on since it was saved: what has been written from the beginning on will be written so again.
bool Streams::has_written_all_of(const Written& file, uint64_t length) const {
  for (const Stream& stream : open_) {
    struct stat about;
    if (stream.is_described || kind_of(stream.mode.c_str()) != StreamKind::kWrite || is_untouched(stream.file)) continue;
    if (fstat(fileno(stream.file), &about) != 0 || number_of_file(about) != file.number) continue;
    const off_t offset = ftello(stream.file);
    if (offset >= 0 && static_cast<uint64_t>(offset) >= length) return true;
  }
  const Appended* const closed = file.was_closed ? nullptr : closed_.written(file.number);
  return closed != nullptr && closed->length >= length;
}

// A file whose content is not in the line, and the names of all.
Result Streams::rely_on(Snapshot& snapshot) {
  const char* path = snapshot.stream->path.c_str();
  if (snapshot.kind == StreamKind::kRead || snapshot.kind == StreamKind::kAppend) {
    Descriptor file(fcntl(fileno(snapshot.stream->file), F_DUPFD_CLOEXEC, 0));
    if (!file.open()) return io_error("flush", path, errno);
    add_relied(std::move(file), path);
  }
  for (Descriptor& directory : snapshot.place.way()) add_relied(std::move(directory), path);
  return Result();
}

void Streams::add_relied(Descriptor file, const char* path) {
  struct stat about, other;
  if (fstat(file.get(), &about) == 0)
    for (const Relied& known : relied_)
      if (fstat(known.file.get(), &other) == 0 && same_file(about, other)) return;
  Relied& added = relied_.push_back({});
  added.file = std::move(file);
  added.path = Text::copy(path);
}

// Once of a file that is opened again and again.
void Streams::tell(const Stream& stream) {
  Place place;
  const std::string_view path = stream.path.view();
  if (path.starts_with("/proc/") || path.starts_with("/sys/")) return;  // is read and closed
  const Result found = find_again(stream, &place);
  if (found.ok() || told_.view() == found.message()) return;
  told_ = Text::copy(found.message());
  say("no line can be taken while '%s' is open: %s", stream.path.c_str(), found.message());
}

void Streams::allow(const char* roots) {
  roots_.add(roots);
  tells_ = true;
  for (const Stream& stream : open_) tell(stream);
}

bool Streams::spared(const char* path, const char* mode) const {
  if (!spares_ || has_encoding(mode) || !(mode[0] == 'w' || (mode[0] == 'a' && strchr(mode, '+') == nullptr))) return false;
  struct stat about;
  return stat(path, &about) == 0 && S_ISREG(about.st_mode) && access(path, W_OK) == 0;
}

FILE* Streams::open(const char* path, const char* mode) {
  const bool spare = spared(path, mode);
  if (kind_of(mode) != StreamKind::kRead) note_change();
  if (!spares_) closed_.look_before_opening(path, mode);
  FILE* file = spare ? tmpfile() : fopen(path, mode);
  if (file == nullptr) return nullptr;
  const Stream& stream = follow(file, path, mode, kNoStream);
  if (tells_ && !spare) tell(stream);
  return file;
}

const Stream& Streams::follow(FILE* file, std::string_view path, std::string_view mode, uint64_t standard) {
  forget_opened(process(), fileno(file));
  Stream& stream = open_.push_back({});
  stream.file = file;
  stream.path = Text::copy(path);
  stream.mode = Text::copy(mode);
  stream.standard = standard;
  return stream;
}

// It is about to be closed.
int Streams::forget(FILE* file) {
  for (size_t i = 0; i < open_.size(); ++i) {
    Stream& stream = open_[i];
    if (stream.file != file) continue;
    const char* const mode = stream.mode.c_str();
    const bool writes = kind_of(mode) != StreamKind::kRead;
    const bool is_idle = !stream.is_described && is_untouched(file);  // what the file has is others'
    if (writes && stream.lost == 0 && fflush(file) != 0) stream.lost = errno;
    if (writes && tells_ && (!is_idle || mode[0] == 'w')) closed_.note(stream.path.c_str(), mode, fileno(file), is_idle);
    const int lost = stream.lost;
    open_.erase(i);
    return lost;
  }
  return 0;
}

// freopen: a stream that lines do not follow becomes one that they do.
FILE* Streams::open_anew(const char* path, const char* mode, FILE* file) {
  const uint64_t number = number_of(file);
  forget(file);
  if (path != nullptr && kind_of(mode) != StreamKind::kRead) note_change();
  if (path != nullptr && !spares_) closed_.look_before_opening(path, mode);
  const bool is_own = is_own_input(file);  // which the C library cannot open anew
  if (is_own && path != nullptr && mode[0] == 'r') return reopen_input(path);
  const bool is_followed = path != nullptr && !is_own && !(file == stdout && output_.open());
  FILE* const made = !is_own ? freopen(path, mode, file) : path == nullptr ? file : nullptr;
  if (made == nullptr || !is_followed) {
    ELC_Program_unfit(path == nullptr   ? "freopen() without a name: lines do not have a stream whose mode has changed"
                      : made == nullptr ? "freopen() in vain: lines do not have a stream that is closed by that"
                                        : "freopen() of an output that elc run keeps (--output): lines have the file where that is");
    return made;
  }
  follow(made, path, mode, number < kFirstStream ? number : kNoStream);
  return made;
}

// The program is told here, too, of what was lost when a line flushed the stream.
int Streams::close(FILE* file) {
  const int lost = forget(file);
  const int result = fclose(file);
  if (result != 0 || lost == 0) return result;
  errno = lost;
  return EOF;
}

Stream* Streams::find(FILE* file) {
  for (Stream& stream : open_)
    if (stream.file == file) return &stream;
  return nullptr;
}

// While another one is open there are no lines. In a stream that is written, too, a line cannot look whether something was given back.
int Streams::give_back(int character, FILE* file) {
  const int given = ungetc(character, file);
  if (given == EOF) return EOF;
  if (is_own_input(file)) gives_back_input();
  Stream* const stream = find(file);
  if (stream == nullptr) return given;
  stream->is_given_back = true;
  if (kind_of(stream->mode.c_str()) != StreamKind::kRead && !check_given_back(file).ok())
    stream->called = "ungetc() with another character than it has read, of a file that it may write, too: there are no lines while that is open";
  return given;
}

void Streams::keep_number(FILE* file, const char* what) {
  constexpr int kOfStandard = 2;  // which are the same in all processes
  Stream* const stream = find(file);
  if (stream != nullptr && fileno(file) > kOfStandard) stream->called = what;
}

Result Streams::check_called() const {
  for (const Stream& stream : open_)
    if (stream.file != nullptr && stream.called != nullptr) return Result::error("the program has called %s", stream.called);
  return Result();
}

int Streams::descriptor_of(FILE* file) {
  if (Stream* const stream = find(file); stream != nullptr) stream->is_described = true;
  return fileno(file);
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
  closed_.clear();
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

// Where the directory has no name the streams keep theirs, which lead to their files no more, and a line is refused.
int Streams::change_directory(const char* path) {
  char* const here = getcwd(nullptr, 0);
  const int result = chdir(path);
  for (size_t i = 0; i < open_.size() && result == 0 && here != nullptr; ++i)
    if (open_[i].path.c_str()[0] != '/') open_[i].path = Text::format("%s/%s", here, open_[i].path.c_str());
  if (result == 0 && here != nullptr) closed_.name_from(here);
  free(here);
  moved_ = moved_ || result == 0;
  return result;
}

Result Streams::find_directory(const char* path, Place* place) const {
  const Result found = place->find(roots_, Text::format("%s/file", path).c_str());
  return found.ok() ? found : Result::caused(found.cause(), "the directory in which the program works: %s", found.message());
}

Result Streams::save_directory(format::Writer& writer) {
  char* const here = getcwd(nullptr, 0);
  if (here == nullptr) return io_error("find", ".", errno);
  Place place;
  const Result found = find_directory(here, &place);
  const Text name = roots_.from_start(here);
  free(here);
  ELC_TRY(found);
  for (Descriptor& directory : place.way()) add_relied(std::move(directory), name.c_str());
  write_entry(writer, name.view(), kDirectoryMode, StreamKind::kSpecial, 0, 0);
  return Result();
}

Result Streams::return_to(const char* directory) {
  const Text path = roots_.at_start(directory);
  Place place;
  if (access(path.c_str(), X_OK) != 0)
    return Result::caused(errno, "the directory '%s', in which the program worked when the line was taken, cannot be entered: %s", path.c_str(),
                          strerror(errno));
  ELC_TRY(find_directory(path.c_str(), &place));
  if (fchdir(place.directory()) != 0) return io_error("go to", directory, errno);
  moved_ = true;
  return Result();
}

Result Streams::keep_output(const char* path, bool restarts) {
  output_ = Descriptor(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!output_.open()) return io_error("open", path, errno);
  output_path_ = Text::copy(path);
  return restarts ? Result() : direct_output();
}

Result Streams::direct_output() {
  fflush(stdout);
  if (dup2(output_.get(), STDOUT_FILENO) < 0) return io_error("open", output_path_.c_str(), errno);
  if (!is_buffer_set(stdout)) setvbuf(stdout, nullptr, _IOLBF, 0);  // as on a terminal: an MPI that gives a job up writes no buffers
  return Result();
}

// Where the program has sent its output elsewhere since, this file is what it was.
Result Streams::save_output(format::Writer& writer) {
  struct stat about;
  if (fstat(output_.get(), &about) != 0) return io_error("look at", output_path_.c_str(), errno);
  Descriptor file(fcntl(output_.get(), F_DUPFD_CLOEXEC, 0));
  if (!file.open()) return io_error("flush", output_path_.c_str(), errno);
  add_relied(std::move(file), output_path_.c_str());
  const uint64_t size = static_cast<uint64_t>(about.st_size);
  write_entry(writer, output_path_.view(), kOutputMode, StreamKind::kAppend, size, size);
  return Result();
}

Result Streams::save(format::Writer& writer, uint64_t line) {
  if (fflush(stdout) != 0 && output_.open())
    return Result::error("what the program wrote to its standard output is lost: %s", strerror(errno));
  for (Stream& stream : open_)  // before one is looked at: another may write to the same file
    if (kind_of(stream.mode.c_str()) != StreamKind::kRead) ELC_TRY(flush(stream));
  Vector<Snapshot> snapshots;
  for (Stream& stream : open_) {
    Snapshot& snapshot = snapshots.push_back({});
    ELC_TRY(look_at(stream, line, &snapshot));
  }
  find_unwritten(snapshots);
  relied_.clear();
  written_.clear();
  for (const Snapshot& snapshot : snapshots) ELC_TRY(note_written(snapshot));
  ELC_TRY(closed_.look(roots_, &relied_));
  closed_.begin_line(line);
  for (const Snapshot& snapshot : snapshots)
    if (snapshot.kind == StreamKind::kRead) closed_.note_reading(snapshot.stream->path.c_str());
  writer.begin_section("files");
  Encoder& out = writer.encoder();
  out.u32(kSectionLayout);
  save_terminals(out);
  out.u64(snapshots.size() + closed_.all().size() + (moved_ ? 1 : 0) + (output_.open() ? 1 : 0));
  for (const Snapshot& snapshot : snapshots) {
    const Stream& stream = *snapshot.stream;
    constexpr const char* kStandard[] = {"", "0", "1", "2"};
    const char* const more = snapshot.at_end ? kAtEnd : snapshot.kept() == Kept::kUnappended ? kUnappended : "";
    const Text checksum = snapshot.checksum == kNoChecksum ? Text() : Text::format("%c%llx", kChecksum, static_cast<unsigned long long>(snapshot.checksum));
    const Text mode = Text::format("%s%s%s%s", kStandard[stream.standard], stream.mode.c_str(), more, checksum.c_str());
    write_entry(writer, stream.path.view(), mode.view(), snapshot.kind, snapshot.offset, snapshot.length);
  }
  for (const Appended& file : closed_.all())
    write_entry(writer, file.path.view(), file.is_appended ? kAppendedMode : kWrittenMode, StreamKind::kAppend, file.checksum, file.length);
  if (moved_) ELC_TRY(save_directory(writer));
  if (output_.open()) ELC_TRY(save_output(writer));
  for (const Snapshot& snapshot : snapshots)
    if (snapshot.kind == StreamKind::kWrite)
      ELC_TRY(write_content(snapshot, writer));
  writer.end_section();
  for (Snapshot& snapshot : snapshots) ELC_TRY(rely_on(snapshot));
  return Result();
}

template <int (*How)(const char*)>
static int removed(const char* path) {
  return process().streams.remove(path, [](const char* it, const void*) { return How(it); }, nullptr);
}

}  // namespace elc::state

using elc::state::process;

extern "C" {

ELC_EXPORT int ELC_Program_chdir(const char* path) { return process().streams.change_directory(path); }
ELC_EXPORT FILE* ELC_fopen(const char* path, const char* mode) { return process().streams.open(path, mode); }
ELC_EXPORT void* ELC_Program_freopen(const char* path, const char* mode, void* stream) { return process().streams.open_anew(path, mode, static_cast<FILE*>(stream)); }
ELC_EXPORT int ELC_fclose(FILE* stream) { return process().streams.close(stream); }
// What is written to a closed one goes nowhere, after a restart as well.
ELC_EXPORT int ELC_Program_fclose(void* stream) {
  FILE* const file = static_cast<FILE*>(stream);
  if (file != stdout && file != stderr) return process().streams.close(file);
  const int flushed = fflush(file);
  return process().streams.open_anew("/dev/null", "w", file) != nullptr ? flushed : EOF;
}
ELC_EXPORT int ELC_Program_rename(const char* from, const char* to) { return process().streams.rename(from, to); }
ELC_EXPORT int ELC_Program_truncate(const char* path, long long length) { return process().streams.truncate(path, static_cast<off_t>(length)); }
ELC_EXPORT int ELC_Program_mkdir(const char* path, unsigned int mode) { return process().streams.make_directory(path, static_cast<mode_t>(mode)); }
ELC_EXPORT int ELC_Program_rmdir(const char* path) { return elc::state::removed<::rmdir>(path); }
ELC_EXPORT int ELC_Program_remove(const char* path) { return elc::state::removed<::remove>(path); }
ELC_EXPORT int ELC_Program_unlink(const char* path) { return elc::state::removed<::unlink>(path); }
ELC_EXPORT const char* ELC_Program_asks_of(const char* path) {
  if (path != nullptr) process().streams.look_before_asking(path);
  return path;
}
ELC_EXPORT const char* ELC_Program_opens(const char* path) {
  if (path != nullptr) process().streams.look_before_reading(path);
  return path;
}
ELC_EXPORT int ELC_Program_keeps_number(int descriptor, void* stream, const char* what) {
  process().streams.keep_number(static_cast<FILE*>(stream), what);
  return descriptor;
}
ELC_EXPORT int ELC_Program_fileno(void* stream) { return process().streams.descriptor_of(static_cast<FILE*>(stream)); }
ELC_EXPORT int ELC_fcloseall(void) { return process().streams.close_all(); }
}
