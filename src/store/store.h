// Where recovery lines lie: a directory on a file system that every process reaches.
//
//     DIR/line-000007/rank-000000.elc   one file for each rank (portable_format), or
//     DIR/line-000007/ranks-000000-000003.elc   for several of a machine (aggregate.h)
//     DIR/line-000007/commit            the commit record: only with it the line counts; names lines whose files those rely on
//     DIR/line-000007/run               the run that takes or has taken the line: no other writes there
//     DIR/finished                      the run that made the lines so far ended by itself
//     DIR/control                       a request to the running job
//     DIR/refused                       why the running job took no line when it was last asked
//     DIR/job.lock                      locked by rank 0 of the running job
//
// What one process writes has a temporary name before it is complete (several: aggregate.h); what has to last is flushed
// before and its directory after, so that a kill or a power cut at any instant leaves the newest
// committed line whole. A run goes on counting lines above all that is there, from whichever line it
// starts, so files of different runs cannot mix.
//
// Errors are I/O errors, said with path, reason and what to do. No function leaves a descriptor open
// or a temporary file behind when it fails, as far as the file system lets it.
#ifndef ELC_STORE_STORE_H
#define ELC_STORE_STORE_H

#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "base/descriptor.h"
#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"
#include "base/wire.h"
#include "portable_format/reader.h"
#include "portable_format/writer.h"
#include "store/aggregate.h"
#include "store/directory.h"

namespace elc::store {

// What ELC_TRUST and ELC_READERS say, for all that this process does in directories of lines.
void configure(const Config& config);

Text line_path(const char* dir, uint64_t line);
Text rank_path(const char* dir, uint64_t line, uint32_t rank);
Text commit_path(const char* dir, uint64_t line);

// Tells one directory from another, on this machine.
struct Identity {
  uint64_t device = 0, number = 0;
  bool operator==(const Identity& other) const { return device == other.device && number == other.number; }
};
Identity identity(const char* dir);  // zeros: there is none

// Makes the directory, with those above it, if it is not there, so that it lasts, and checks that it can be written.
Result prepare(const char* dir);

// ---- Writing a line --------------------------------------------------------------------------

// The file of one rank for one line while it is written.
class RankFile {
 public:
  RankFile() = default;
  RankFile(const RankFile&) = delete;
  RankFile& operator=(const RankFile&) = delete;
  ~RankFile();  // discards a file that was not finished

  // Allocates what writing takes, a quarter of a megabyte, once for all files; else the first open() does.
  void prepare();

  // Begins the file of `rank` for `line` of `run`, or what it writes to one with others, if there are any `together`: makes the
  // line's directory, which must not be there of another run, and the file. The object may be used again after keep() or
  // discard().
  Result open(const char* dir, uint64_t line, uint64_t run, uint32_t rank, const Ranks& together = {});

  // Appends bytes. Small pieces are gathered; large ones go to the file from where they are. After
  // the first failure nothing more is written, and every call and finish() return it.
  Result write(const void* data, size_t size);
  format::Sink sink();                     // writes to this file, which must live longer
  uint64_t size() const { return size_; }  // bytes so far

  // Something else that the line needs, a file or a directory: it is flushed before this file gets its final name.
  void rely_on(Descriptor file, const char* path);

  // Puts the file on stable storage under its final name, bit by bit: each call does what can be done
  // without waiting for the disk, until *done. On failure nothing of it stays.
  Result advance(bool* done);
  // The same at once.
  Result finish();

  // In a copy of the process (copy.h) that writes to it: all that was appended is in the file, and what the process has to
  // know of that. Behind the copy's end, here. Both sides go on at the end of the file.
  Result flush();
  void hand_over(Encoder& out) const { extents_.encode(out); }
  Result take_over(Decoder& in);
  int fd() const { return fd_; }
  // From now on what is written is on its way to the disk at once, and the caller waits for it so that no more than a few
  // tens of megabytes of the machine's memory hold it at any time.
  void keep_pace() { pace_ = true; }

  // The line is abandoned: removes the file, finished or not, with what others have in it, and the line's directory if it was
  // the last in it. Nothing is left to remove before open() and after keep().
  void discard();
  // The line has committed: the file stays. Must be called then.
  void keep();

 private:
  enum class Stage { kWriting, kFlushingRelied, kFlushing, kFlushingDirectory, kFlushingTop, kFinished };

  Result step(bool wait);
  Result put_in_place();
  Result put(const uint8_t* data, size_t size);
  Result flush_relied(bool wait);
  Result fail(const char* what, int error);
  void close_file();

  struct Relied {
    Descriptor file;
    Text path;
  };

  Vector<Relied> relied_;
  Directory top_;    // of lines
  Directory place_;  // of the line, while there is something to remove
  Text final_;       // names in it
  Text temporary_;   // none of a file that several write to: who looks at it is told by the commit record and by its slots
  Bytes buffer_;
  Result failure_;  // the first
  uint64_t line_ = 0;
  uint64_t size_ = 0;
  Extents extents_;  // of that, what is in the file
  uint32_t rank_ = 0;
  Ranks together_;
  bool pace_ = false;
  bool made_ = false;  // the line's directory: its name in that of lines is to be flushed, too
  int fd_ = -1;  // of the file
  Stage stage_ = Stage::kFinished;
};

// What the commit record of a line says. Times are microseconds.
struct Commit {
  uint64_t line = 0;
  uint64_t run = 0;    // a number that differs from run to run: see new_run
  uint64_t base = 0;   // the line that this run was restarted from; 0: it began from the start
  uint64_t calls = 0;  // D: calls of ELC_DoCKPT that the line covers (section 2 of the protocol)
  uint32_t ranks = 0;
  uint64_t cost = 0;   // from the first request to the commit
  uint64_t time = 0;   // of the commit, since 1970; set by commit()
  Vector<uint64_t> relies_on;  // lines of the same run, in whose files parts of this one's may be
};

// How the failure of a commit begins where a line that this one relies on has been removed meanwhile.
inline constexpr char kReliedGone[] = "a line on which it relies has been removed";

// Commits a line whose rank files are all finished; done by one process. On failure the line is not committed and must be
// abandoned by all.
class CommitFile {
 public:
  CommitFile() = default;
  CommitFile(const CommitFile&) = delete;
  CommitFile& operator=(const CommitFile&) = delete;
  ~CommitFile() { take_back(); }  // unless it is done

  // Begins to commit the line, whose ranks have written `together` as these say, and the others alone.
  Result begin(const char* dir, const Commit& record, const Vector<Ranks>& together = {});
  bool begun() const { return stage_ != Stage::kNone; }
  // Each call does what can be done without waiting for the disk, until *done: the line is committed.
  Result advance(bool* done);
  // The same at once.
  Result finish();

 private:
  enum class Stage { kNone, kLooking, kFlushing, kFlushingDirectory, kFlushed };

  Result look(const char* dir, const Commit& record, const Vector<Ranks>& together);
  Result write();
  Result step(bool wait);
  Result put_in_place();
  void take_back();

  Directory place_;  // of the line
  Bytes content_;
  Vector<Ranks> together_;  // at whose files it has still to look
  Text temporary_;
  uint64_t run_ = 0;
  int fd_ = -1;
  Stage stage_ = Stage::kNone;
};

// All of that.
Result commit(const char* dir, const Commit& record);

// What every rank file says of itself, in section "label": so that a file that was copied to a wrong
// place, or comes from another run, is not taken for the one that the commit record means.
struct Label {
  uint64_t line = 0;
  uint64_t run = 0;
  uint32_t rank = 0;
  uint32_t ranks = 0;
};

void write_label(format::Writer& writer, const Label& label);
Result read_label(format::Reader& reader, Label* label);

// A number to tell runs in one directory apart, from clock and process: for Commit::run. Rank 0
// makes it and tells the others.
uint64_t new_run();

// ---- Looking at what is there ------------------------------------------------------------------

struct Line {
  uint64_t number = 0;
  bool committed = false;   // has a valid commit record
  bool ours = true;         // a directory that the library may have made: no link, of somebody who is trusted
  int unread = 0;           // the errno with which the system could not read it: `damage` is none that is known
  bool in_history = false;  // led to the newest committed line: it, or one that its run passed through
  Commit commit;            // if committed
  Text damage;              // why there is a commit record that is not valid, or cannot be told; empty otherwise
};

struct Survey {
  Vector<Line> lines;     // ascending
  uint64_t highest = 0;   // the highest number in use, committed or not: a run's first line is this plus one
  uint64_t newest = 0;    // newest committed line; 0 if none
  uint64_t finished = 0;  // lines up to this one belong to runs that ended by themselves
  uint64_t finished_run = 0;  // Commit::run of the last run that did

  const Line* find(uint64_t number) const;
  // A committed line that relies on this one (Commit::relies_on); nullptr: there is none.
  const Line* dependent(uint64_t line) const;
  // The line that an automatic restart takes: the newest, if the run that made it did not finish. 0: none.
  uint64_t restartable() const { return newest > finished ? newest : 0; }
  // The committed line before `line` in its history: the next older one of its run, or the one that this
  // run was restarted from (or the next older one that is still there). 0: none.
  uint64_t predecessor(uint64_t line) const;
};

// Reads the directory; one that does not exist is an empty one.
Result survey(const char* dir, Survey* survey);

Result read_commit(const char* dir, uint64_t line, Commit* record);

// A rank file to read: the source of a format::Reader, which the file must outlive.
class RankSource {
 public:
  RankSource() = default;
  RankSource(const RankSource&) = delete;
  RankSource& operator=(const RankSource&) = delete;
  ~RankSource();
  // That the user has chosen: one of a rank, also where that has written to one with others.
  Result open(const char* path);
  Result open(const char* dir, uint64_t line, uint32_t rank);
  // With the files of the same rank in other lines of the directory, where it was opened as one of a line.
  format::Source source();
  const char* path() const { return path_.c_str(); }

 private:
  static Result read_at(void* self, uint64_t offset, void* data, size_t size);
  static Result open_base(void* self, uint64_t line, format::Source* source);
  Result open_aggregated(const Directory& place, bool* found);
  void close();
  Text path_;
  Text dir_;  // of lines
  uint32_t rank_ = 0;
  Vector<RankSource*> bases_;
  Extents extents_;
  int fd_ = -1;
};

// Opens the file of `rank` in the committed line of `record` and checks all of it that can be checked
// without the program: that it is there, its structure, its label, every checksum but those of sections of which `later` is
// true. An error names the file. Nothing is changed. `source` and `reader` are ready to read from afterwards.
Result open_verified(const char* dir, const Commit& record, uint32_t rank, RankSource* source,
                     format::Reader* reader, bool (*later)(const char* section) = nullptr);
// The checksums that are left, where something has failed: damage says more than what it has led to.
Result verify_rest(const RankSource& source, format::Reader* reader);

// The line that a run shall start from by ELC_RESTART; 0: from the start. A line that was asked for
// by number and is not there or not committed is an error.
Result line_to_restart(const Survey& survey, const char* dir, const Config& config, uint64_t* line);

// Where that line was not asked for by number and lacks files - its commit failed, and so did the removal of its
// record - the newest one before it that has all; says which it passes over. If there is none, an error.
Result pass_over_incomplete(const Survey& survey, const char* dir, const Config& config, uint64_t* line);

// ---- Keeping house -----------------------------------------------------------------------------

// After a commit: keeps the `keep` newest committed lines of the history of the newest, and those that they rely on, and removes
// the other committed ones and what never committed below the newest. Never removes the newest
// committed line. Forgets why there was no line before. Files that the library did not make are left alone.
// Of the committed lines of `run` (0: of none) only the records: they are lines no more, and their ranks remove their files
// themselves, so that no process has to remove those of all (remove_own). What they have not removed, the next call does.
Result clean(const char* dir, uint32_t keep, uint64_t run);

// Removes the file of `rank` in a line whose record is gone, and the directory with the last one; of those that have written
// `together` the first does. *gone: there is nothing left to do; false: it still has its record.
Result remove_own(const char* dir, uint64_t line, uint32_t rank, bool* gone, const Ranks& together = {});

// Removes one line: its commit record first, so that it is never committed and incomplete.
Result remove_line(const char* dir, uint64_t line);

// When the program has ended by itself, by one process: an automatic restart begins anew. `run` as in Commit.
Result mark_finished(const char* dir, uint64_t run);
// Takes that back: the run was ended on its way out, and goes on from its newest line. What had finished before it is
// `line` and `run` again (Survey::finished, finished_run).
Result unmark_finished(const char* dir, uint64_t line, uint64_t run);

// Does a job run in `dir`? False also where the file system cannot tell.
bool job_runs(const char* dir);

// Held by rank 0 as long as the job runs, so that two jobs do not write to one directory. Released by
// the system when the process ends, however it ends. A file system without locks is not an error.
class Lock {
 public:
  // `name` is a file in `dir`: "job.lock" for the job.
  Result take(const char* dir, const char* name);

 private:
  Descriptor file_;
};

// The files that the processes of a job have open: each is four bytes of the file "files.lock", locked by its
// process until that ends or has it no longer. A file system without locks is not an error.
class FileLocks {
 public:
  enum class Use {
    kUnwritten,   // beside any that have it so or unappended, and one that writes to it
    kUnappended,  // beside any that have it so or unwritten, and one that writes or appends to it
    kWrites,
    kAppends,
    kReads,       // beside any but kAlone
    kAlone,       // beside nobody
  };
  struct File {
    uint64_t number = 0;
    Use use = Use::kAlone;
  };

  // Locks `files` for this line, in place of those before. *other: the index of one that another process has locked for it so that both cannot
  // be; files.size(): there is none. Who has taken no checkpoint for the line yet may have had a file that is gone, whose number is another's by now.
  Result take(const char* dir, uint64_t line, const Vector<File>& files, size_t* other);
  // Does another process have a lock of it with which it writes?
  bool is_written_elsewhere(uint64_t line, uint64_t number) const;

 private:
  Descriptor file_;
};

// What a process notes between lines in the file "notes-RANK" of a directory, as no line has it that is there then.
class Notes {
 public:
  void keep(const char* dir, uint32_t rank);
  // Behind this line. A kill behind that does not undo it; a power cut may. What no committed line needs is left out in time.
  Result add(uint64_t line, const Bytes& note);
  // What was noted behind this line and later ones, in that order; what runs that were given up have noted is among it, as nobody gives
  // a line's number again.
  Result read(uint64_t line, Vector<Bytes>* notes) const;
  Result forget();

 private:
  Result clean(const Directory& top);

  Text dir_, name_;
  uint64_t most_ = 0;  // bytes that the file may have before it is cleaned
};

// ---- Requests to a running job -----------------------------------------------------------------

enum class Order {
  kNone,
  kLine,  // take a line now
  kStop,  // take a line, and end the job when it has committed
};

// Asks the job that runs in `dir`. A person may do the same: echo line > DIR/control
Result request(const char* dir, Order what);

// Why a line was not taken, one line of text ("rank 3: a window made by MPI_Win_create"): for those who look at the running
// job from outside. Process 0 writes it when a line was refused or abandoned; until clean(), or a next refusal.
Result write_refusal(const char* dir, uint64_t line, const char* why);
// "line 7: rank 3: a window ..."; empty: there is none. What a job that does not run any more has left means nothing.
Result read_refusal(const char* dir, Text* why);
// Also at the start of a job, of what another has left.
Result forget_refusal(const char* dir);

// The job's side: one process looks now and then. What was there before open() is not a request to
// this job.
class Control {
 public:
  void open(const char* dir);
  // The request that came since the last look. Costs one stat. A text that is no request is said
  // once and ignored.
  Order look();

 private:
  bool changed();

  Text dir_, path_;
  uint64_t seen_[4] = {};  // inode, time of change (two), size
};

}  // namespace elc::store

#endif
