// Files that the program has written and closed. It may append to one of them again, as logs are written that are opened and closed at each
// step: a line has how long they were, and a restart cuts them there. What it opens for appending behind a line, and has not written
// before, is noted with what it has then, before it is opened.
#ifndef ELC_STATE_APPENDED_H
#define ELC_STATE_APPENDED_H

#include <stdint.h>
#include <sys/stat.h>

#include "base/hash_map.h"
#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"
#include "state/places.h"
#include "state/state.h"

namespace elc::state {

// A file as it was when this process closed it. Others may have appended to it since: of several processes each knows where its own last
// bytes ended, and the file of a line ends where the last of all did.
struct Appended {
  Text path;               // as in Stream
  uint64_t length = 0;
  uint64_t checksum = 0;   // of what is in front of that; kNoChecksum: not known
  bool is_appended = false;  // and not only written from its beginning
  struct stat seen = {};   // when it was found so
  bool is_placed = false;  // where a restart may cut it
  bool is_lost = false;    // a restart has found another one
  bool is_noted = false;   // of no line: it is what it was when it was opened
  bool was_there = true;   // then
  bool is_renamed = false;  // by the run that a restart gave up
};

inline constexpr uint64_t kNoChecksum = uint64_t{1} << 32;

// Of some of the last bytes of the first `length`; kNoChecksum: they cannot be read.
uint64_t checksum_of(int file, uint64_t length);

// One that was made, or removed.
struct ChangedDirectory {
  Text path;
  bool is_made = false;
};

using Removal = int (*)(const char* path, const void* context);

class AppendedFiles {
 public:
  // The stream of the file is about to be closed, and has been flushed. `is_idle`: nothing was written through it.
  void note(const char* path, const char* mode, int descriptor, bool is_idle);
  // The file is about to be opened so. In a restart ends the job if it is not what it was in the line, and nobody has written it anew since.
  void look_before_opening(const char* path, const char* mode);
  // The same of MPI, whose modes do not say whether a file is written anew: one that was written behind the line is what it is now.
  void look_before_writing(const char* path);
  // The file gets another name, and what had that is gone; in a restart it may be another one than in the line, which who opens it is told.
  int rename(const char* from, const char* to);
  int truncate(const char* path, off_t length);
  // A directory, too; by `how`, whose result is 0 where it has done so, unless the run that a restart gave up has.
  int remove(const char* path, Removal how, const void* context);
  // mkdir, unless that run has done it.
  int make_directory(const char* path, mode_t mode);
  // The program asks whether the file is there, or what it is: the same of a restart.
  void look_before_asking(const char* path);
  // A descriptor to which the file was written is closed now. `is_new`: from its beginning; else it is noted if it is known.
  void note_written(const char* path, bool is_new);
  // The file is about to be opened for writing and is not known, or has been by another function, and nobody tells when it is closed.
  void note_writing(const char* path);
  // The same of one that is empty now, and was not.
  void note_emptied(const char* path);

  // What is to be noted is given to `write`, if a line has begun.
  void keep_notes(WriteNote how) { write_ = how; }
  void begin_line(uint64_t line);
  // The line has a stream that reads the file: whether it is written anew behind the line is noted, too.
  void note_reading(const char* path);
  // In a restart: the stream would read what was written behind the line.
  bool is_rewritten(const struct stat& file) const;
  void take_notes(const Vector<Bytes>& notes, uint64_t line);

  // chdir: names are from `directory`, which the program leaves.
  void name_from(const char* directory);

  // Those that have what they had when they were closed; the others are known no more. A line relies on what they have. Fails if a restart
  // could not cut one.
  Result look(const FileRoots& roots, Vector<Relied>* relied);
  const Vector<Appended>& all() const { return all_; }
  // One that the program has written from its beginning and closed. nullptr: there is none.
  const Appended* written(uint64_t number_of_file) const;

  // In a restart: those of the line, and those that were noted behind it; fails if one must not be cut.
  Result take_over(const FileRoots& roots, Vector<Appended>&& of_line);
  const Vector<Appended>& of_line() const { return of_line_; }
  // They have been cut, and all that was noted before counts no more.
  void begin_with_line();

  void clear() { all_.clear(); }

 private:
  Appended* find(const char* path);
  Appended* find_lost(const char* path);
  void forget(const char* path);
  const Appended* find_read(const char* path) const;
  void note_if_read(const char* path);  // it is about to be another file, or none
  bool begin_note(const char* path);
  void write_note(const Appended& one);
  void note_directory(const char* path, bool is_made);
  bool take_changed(const char* path, bool is_made);  // whether it was, and the program has not come to that before

  Vector<Appended> all_, of_line_, noted_;
  Vector<Appended> read_;       // of the last line
  Vector<uint64_t> rewritten_;  // number_of_file
  Vector<ChangedDirectory> changed_;  // behind the line of this restart, by the run that it gave up
  HashMap<bool> noted_now_;  // behind this line, by a hash of the name
  WriteNote write_ = nullptr;
  uint64_t line_ = 0;  // the last that has begun
};

}  // namespace elc::state

#endif
