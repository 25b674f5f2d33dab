// Streams opened through ELC_fopen, and the terminals behind the standard ones.
#ifndef ELC_STATE_STREAMS_H
#define ELC_STATE_STREAMS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/descriptor.h"
#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"
#include "portable_format/reader.h"
#include "portable_format/writer.h"
#include "state/appended.h"
#include "state/places.h"
#include "state/state.h"

namespace elc::state {

// The number of a stream in a file: that of a FILE * variable.
constexpr uint64_t kNoStream = 0, kStdin = 1, kStdout = 2, kStderr = 3, kFirstStream = 4;
constexpr uint64_t kWildStream = ~uint64_t{0};

// What is saved of a stream, by its mode.
enum class StreamKind : uint32_t {
  kRead = 0,     // the offset
  kAppend = 1,   // offset and length; recovery truncates to the length
  kWrite = 2,    // offset and content
  kSpecial = 3,  // the null device: name and mode alone
};

// The mode of the standard output's file (ELC_OUTPUT), which is the last stream of a line.
inline constexpr const char* kOutputMode = "a>";

// A file that the program has appended to, or only written, and closed (appended.h): behind the streams, as one of kind kAppend whose offset
// is the checksum.
inline constexpr const char* kAppendedMode = "a.";
inline constexpr const char* kWrittenMode = "a.w";

// The directory in which the program works, if it has changed it: behind the streams, as one of kind kSpecial.
inline constexpr const char* kDirectoryMode = "d";

inline constexpr const char* kAtEnd = "$";
inline constexpr const char* kUnappended = "-";
inline constexpr char kChecksum = '#';

// By the mode of fopen, of a regular file.
StreamKind kind_of(const char* mode);

inline Access access_of(StreamKind kind) { return kind == StreamKind::kRead ? Access::kRead : Access::kChange; }

struct Stream {
  FILE* file = nullptr;
  Text path;  // as the program gave it
  Text mode;
  uint64_t standard = kNoStream;  // its number, if it is a standard one that the program has opened anew
  bool is_given_back = false;  // the program has called ungetc
  bool is_described = false;  // the program has its descriptor
  const char* called = nullptr;  // what the program has called with it that lines do not have
  Text renamed;             // by another process, which the line renamed_at has seen first
  uint64_t renamed_at = 0;  // 0: none
  int lost = 0;  // the errno with which what the program wrote did not come to the file; 0: all of it did
};

// The name that an open file has, where the system tells that: from the directory of the program, if it is there.
Text path_of(int descriptor);

// A stream of a line, from the directory of section "files".
struct SavedStream {
  Text path;
  Text mode;            // of fopen
  uint64_t standard = kNoStream;  // as in Stream: in the file, the mode begins with its descriptor then
  bool at_end = false;  // the program had been told so (feof): in the file, the mode ends with kAtEnd then
  bool is_unappended = false;  // nothing had been appended through it: in the file, the mode ends with kUnappended then
  uint64_t checksum = kNoChecksum;  // of the end of what had been appended to (checksum_of): in the file, behind the mode and kChecksum
  StreamKind kind = StreamKind::kRead;
  uint64_t offset = 0;
  uint64_t length = 0;
  FILE* file = nullptr;  // where it is open again, or will be

  // Nothing had been written through it: the file is empty, or as another process brings it back.
  bool is_unwritten() const { return kind == StreamKind::kWrite && mode.c_str()[0] == 'w' && offset == 0 && length == 0; }
  bool has_length() const { return has_content() || (kind == StreamKind::kAppend && !is_unappended); }
  // The line has its content, which a restart brings back.
  bool has_content() const { return kind == StreamKind::kWrite && !is_unwritten(); }
};

// What section "files" says of a standard descriptor.
struct SavedTerminal {
  bool there = false;  // it was a terminal
  Text name;
  uint64_t flags = 0;
  uint32_t characters[11] = {};
};

// Reads section "files" up to the content of the streams. Trusts nothing.
Result read_files(format::Cursor& in, SavedTerminal (&terminals)[3], Vector<SavedStream>* streams);

struct Snapshot;

class Streams {
 public:
  FILE* open(const char* path, const char* mode);
  FILE* open_anew(const char* path, const char* mode, FILE* file);
  int close(FILE* file);
  int close_all();
  int descriptor_of(FILE* file);  // fileno
  // The program keeps that: refuses lines while the file is open.
  void keep_number(FILE* file, const char* what);
  Result check_called() const;
  int give_back(int character, FILE* file);  // ungetc
  bool are_in_lines() const { return tells_; }
  // A file is written, or removed; and whether that was before main(), where a restart does it once more.
  void note_change() { has_changed_early_ |= !is_prepared(); }
  bool has_changed_early() const { return has_changed_early_; }
  // Files that are opened by other functions.
  void note_writing(const char* path) { closed_.note_writing(path); }
  void note_emptied(const char* path) { closed_.note_emptied(path); }
  void note_written(const char* path, bool is_new) { closed_.note_written(path, is_new); }
  void look_before_reading(const char* path) { look_before_opening(path, "r"); }
  void look_before_opening(const char* path, const char* mode) { closed_.look_before_opening(path, mode); }
  void look_before_writing(const char* path) { closed_.look_before_writing(path); }
  void look_before_asking(const char* path) { closed_.look_before_asking(path); }
  int remove(const char* path, Removal how, const void* context) { return note_change(), closed_.remove(path, how, context); }
  int make_directory(const char* path, mode_t mode) { return note_change(), closed_.make_directory(path, mode); }
  int rename(const char* from, const char* to) { return note_change(), closed_.rename(from, to); }
  int truncate(const char* path, off_t length) { return note_change(), closed_.truncate(path, length); }

  uint64_t number_of(FILE* file) const;    // kWildStream for one that is not known
  FILE* stream_of(uint64_t number) const;  // nullptr for no, or an impossible number

  // More directories in which a restart may touch files (ELC_FILE_ROOTS). From now on a stream that refuses lines is told
  // when it is opened; those that are open, now.
  void allow(const char* roots);

  Result find_place(const char* path, Place* place) const { return place->find(roots_, path); }

  // While the set-up of a restart runs, it is not to empty a file that is as the program has left it, nor to append to it
  // once more: what it writes by "w" or "a" to one that is there goes nowhere.
  void spare(bool spares) { spares_ = spares; }

  void keep_notes(WriteNote write) { closed_.keep_notes(write); }
  void take_notes(const Vector<Bytes>& notes, uint64_t line) { closed_.take_notes(notes, line); }

  // chdir: from now on lines have the directory. Streams that are open are known by absolute names then.
  int change_directory(const char* path);

  // As keep_output() in state.h.
  Result keep_output(const char* path, bool restarts);

  // Section "files".
  Result save(format::Writer& writer, uint64_t line);
  // What the line that was saved last relies on: state.h, take_relied.
  Vector<Relied> take_relied() { return std::move(relied_); }
  const Vector<Written>& written() const { return written_; }
  // Whether a stream, of which nothing had been written then, has the file's whole length behind it.
  bool has_written_all_of(const Written& file, uint64_t length) const;
  // Reads the directory of the section and looks whether every file can be brought back.
  Result check(format::Reader& reader);
  // After check(): finds the FILE of each stream of the line. Streams of the set-up with the same path and mode stay the
  // same FILE, the others are closed.
  Result prepare();
  // After prepare(): brings the files back and opens them. Everything that can fail for want of space comes before the first
  // change of a file. A kill at any instant leaves files that the next restart brings back. As bring_back_files in state.h.
  Result apply(format::Reader& reader, AllWell all_well);

  size_t saved_count() const { return saved_.size(); }
  void clear();  // forgets all streams; closes none

 private:
  Stream* find(FILE* file);  // nullptr: lines do not follow it
  const Stream& follow(FILE* file, std::string_view path, std::string_view mode, uint64_t standard);
  int forget(FILE* file);  // Stream::lost
  Result adopt();
  bool spared(const char* path, const char* mode) const;
  void tell(const Stream& stream);
  Result find_again(const Stream& stream, Place* place) const;
  Result find_renamed(Stream& stream, uint64_t line, Place* place) const;
  Result look_at(Stream& stream, uint64_t line, Snapshot* out) const;
  static Result flush(Stream& stream);
  static Result check_error(const Stream& stream);
  static void find_unwritten(Vector<Snapshot>& snapshots);
  Result note_written(const Snapshot& snapshot);
  Result rely_on(Snapshot& snapshot);
  Result find_directory(const char* path, Place* place) const;
  Result save_directory(format::Writer& writer);
  Result return_to(const char* directory);
  Result write_temporaries(format::Cursor& in) const;
  void remove_temporaries() const;
  void remove_lengths() const;
  Result note_lengths() const;
  Result make_empty() const;
  Result put_back() const;
  Result open_all();
  Result direct_output();
  Result save_output(format::Writer& writer);
  void add_relied(Descriptor file, const char* path);

  FileRoots roots_;
  bool spares_ = false;
  bool tells_ = false;  // lines may be taken
  bool has_changed_early_ = false;
  bool moved_ = false;  // the program has changed its directory
  Text told_;  // last
  Descriptor output_;  // of kOutputMode
  Text output_path_;
  Vector<Relied> relied_;
  Vector<Written> written_;
  Vector<Stream> open_;
  Vector<SavedStream> saved_;
  AppendedFiles closed_;
};

// The attributes of the terminals among standard input, output and error (termios), in a form that does not
// depend on the system: POSIX's flags and control characters in a fixed order.
void save_terminals(Encoder& out);
void read_terminal(format::Cursor& in, SavedTerminal* saved);
// Sets those that are there and ours.
void restore_terminals(const SavedTerminal (&saved)[3]);

}  // namespace elc::state

#endif
