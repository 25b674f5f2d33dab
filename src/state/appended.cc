#include "state/appended.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/message.h"
#include "base/wire.h"
#include "portable_format/checksum.h"
#include "state/process.h"

namespace elc::state {
namespace {

constexpr uint64_t kTail = 4096;  // bytes by whose checksum a file is known

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_size == b.st_size && a.st_mtim.tv_sec == b.st_mtim.tv_sec &&
         a.st_mtim.tv_nsec == b.st_mtim.tv_nsec;
}

// Such names mean another file to each process.
bool is_device(std::string_view path) { return path.starts_with("/dev/") || path.starts_with("/proc/"); }

// A file is opened for that, not asked by its name: over a network its size and time may be old ones. Nothing else is opened.
Descriptor open_to_look(const char* path, struct stat* about) {
  if (stat(path, about) != 0) return Descriptor();
  Descriptor file;
  if (S_ISREG(about->st_mode)) file = Descriptor(open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  else errno = EINVAL;
  if (file.open() && (fstat(file.get(), about) != 0 || !S_ISREG(about->st_mode))) file = Descriptor();
  return file;
}

// Has it still, or more behind that?
bool has_kept(const Appended& one, int file, const struct stat& about) {
  if (static_cast<uint64_t>(about.st_size) < one.length) return false;
  return one.checksum == kNoChecksum || one.checksum == checksum_of(file, one.length);
}

Result check_place(const FileRoots& roots, const char* path) {
  Place place;
  struct stat about;
  bool there;
  ELC_TRY(place.find(roots, path));
  return place.look(Access::kChange, &about, &there);
}

[[noreturn]] void give_up_over(const Appended& lost, const char* does, bool is_there) {
  give_up(Result::error("the program %s the file '%s' again, whose %llu bytes it had written when the line was taken, and %s behind that: put the file back "
                        "as it was, %sor restart from another line", does, lost.path.c_str(), static_cast<unsigned long long>(lost.length),
                        is_there ? "what is there now was written" : "which was removed, or got another name,", is_there ? "remove it, " : ""));
}

}  // namespace

uint64_t checksum_of(int file, uint64_t length) {
  uint8_t bytes[kTail];
  const uint64_t wanted = length < kTail ? length : kTail;
  uint64_t got = 0;
  while (got < wanted) {
    const ssize_t piece = pread(file, bytes + got, static_cast<size_t>(wanted - got), static_cast<off_t>(length - wanted + got));
    if (piece < 0 && errno == EINTR) continue;
    if (piece <= 0) return kNoChecksum;
    got += static_cast<uint64_t>(piece);
  }
  return format::crc32_of(bytes, static_cast<size_t>(wanted));
}

Appended* AppendedFiles::find(const char* path) {
  for (Appended& one : all_)
    if (one.path.view() == path) return &one;
  return nullptr;
}

const Appended* AppendedFiles::written(uint64_t number) const {
  for (const Appended& one : all_)
    if (!one.is_appended && !one.is_lost && number_of_file(one.seen) == number) return &one;
  return nullptr;
}

void AppendedFiles::forget(const char* path) {
  if (const Appended* const known = find(path)) all_.erase(static_cast<size_t>(known - all_.data()));
}

void AppendedFiles::note(const char* path, const char* mode, int descriptor, bool is_idle) {
  struct stat own, named;
  if (fstat(descriptor, &own) != 0 || !S_ISREG(own.st_mode)) return;
  const Descriptor file = open_to_look(path, &named);
  if (!file.open() || !is_same(own, named) || (is_idle && own.st_size > 0)) return forget(path);
  Appended* known = find(path);
  if (known == nullptr) {
    known = &all_.push_back({});
    known->path = Text::copy(path);
  }
  known->length = static_cast<uint64_t>(own.st_size);
  known->checksum = checksum_of(file.get(), known->length);
  known->is_appended = mode[0] != 'w';
  known->seen = own;
  known->is_lost = false;
}

void AppendedFiles::note_written(const char* path, bool is_new) {
  struct stat now;
  const Descriptor file = is_new || find(path) != nullptr ? open_to_look(path, &now) : Descriptor();
  if (file.open()) note(path, is_new ? "w" : "a", file.get(), false);
}

void AppendedFiles::look_before_writing(const char* path) {
  if (Appended* const lost = find_lost(path)) lost->is_lost = false;
  else if (find(path) == nullptr) note_writing(path);
}

int AppendedFiles::rename(const char* from, const char* to) {
  struct stat now;
  note_if_read(from);
  note_if_read(to);
  Appended* const lost = find_lost(from);
  if (const Appended* const known = find(from); known != nullptr && known->is_appended && lost == nullptr) note_writing(from);
  if (lost == nullptr) {
    if (const int code = ::rename(from, to); code != 0) return code;
  } else {
    // The run that was given up may have done it.
    const bool is_there = stat(from, &now) == 0;
    const Descriptor file = is_there ? Descriptor() : open_to_look(to, &now);
    const bool is_done = file.open() && static_cast<uint64_t>(now.st_size) == lost->length && has_kept(*lost, file.get(), now);
    if (!is_done && !is_there)
      give_up(Result::error("the program gives the file '%s' another name, whose %llu bytes it had written when the line was taken, and which is not there now: "
                            "put the file back as it was, or restart from another line", from, static_cast<unsigned long long>(lost->length)));
    // As programs do that keep their last files under other names: what is there now is another one under that name, too, if somebody reads it.
    if (const int code = is_done ? 0 : ::rename(from, to); code != 0) return code;
    lost->is_lost = !is_done;
    lost->seen = now;
  }
  if (strcmp(from, to) != 0) forget(to);
  if (Appended* const known = find(from)) known->path = Text::copy(to);
  return 0;
}

int AppendedFiles::truncate(const char* path, off_t length) {
  look_before_opening(path, "r+");
  const int code = ::truncate(path, length);
  if (code == 0) note_written(path, false);
  return code;
}

// One that has been written anew since is told by what it is: notes have other names.
Appended* AppendedFiles::find_lost(const char* path) {
  bool has_lost = false;
  for (const Appended& one : all_) has_lost = has_lost || one.is_lost;
  struct stat now;
  const bool is_there = has_lost && stat(path, &now) == 0;
  for (Appended& one : all_)
    if (one.is_lost && (one.path.view() == path || (is_there && is_same(now, one.seen)))) return &one;
  return nullptr;
}

const Appended* AppendedFiles::find_read(const char* path) const {
  struct stat now;
  if (read_.empty() || stat(path, &now) != 0) return nullptr;
  for (const Appended& one : read_)
    if (number_of_file(one.seen) == number_of_file(now)) return &one;
  return nullptr;
}

void AppendedFiles::note_reading(const char* path) {
  Appended one;
  const Descriptor file = open_to_look(path, &one.seen);
  if (!file.open()) return;
  one.length = static_cast<uint64_t>(one.seen.st_size);
  one.checksum = checksum_of(file.get(), one.length);
  read_.push_back(std::move(one));
}

bool AppendedFiles::is_rewritten(const struct stat& file) const {
  for (const uint64_t number : rewritten_)
    if (number == number_of_file(file)) return true;
  return false;
}

// Once behind each line, as other ranks may open what one of them writes to.
bool AppendedFiles::begin_note(const char* path) {
  if (write_ == nullptr || line_ == 0 || is_device(path)) return false;
  const uint64_t key = mix_text(0, path);
  if (noted_now_.find(key) != nullptr) return false;
  noted_now_.at(key) = true;
  return true;
}

void AppendedFiles::note_writing(const char* path) {
  if (!begin_note(path)) return;
  Appended one;
  struct stat about;
  const Descriptor file = open_to_look(path, &about);
  one.was_there = file.open();
  if (!one.was_there && errno != ENOENT) return;
  one.path = Text::copy(path);
  one.length = one.was_there ? static_cast<uint64_t>(about.st_size) : 0;
  one.checksum = one.was_there ? checksum_of(file.get(), one.length) : kNoChecksum;
  write_note(one);
}

void AppendedFiles::note_if_read(const char* path) {
  if (find_read(path) != nullptr) note_writing(path);
}

void AppendedFiles::note_emptied(const char* path) {
  const Appended* const read = find_read(path);
  if (read == nullptr || !begin_note(path)) return;
  Appended one;
  one.path = Text::copy(path);
  one.length = read->length;
  one.checksum = read->checksum;
  write_note(one);
}

static Text whole_path(const char* path) {
  char* const here = path[0] == '/' ? nullptr : getcwd(nullptr, 0);
  Text whole = here == nullptr ? Text::copy(path) : Text::format("%s/%s", here, path);
  free(here);
  return whole;
}

// With one slash at its end, which names of files have not.
static Text name_of_directory(const char* path) {
  const Text whole = whole_path(path);
  std::string_view name = whole.view();
  while (!name.empty() && name.back() == '/') name.remove_suffix(1);
  return Text::format("%.*s/", static_cast<int>(name.size()), name.data());
}

// Not flushed: what is appended is not either.
void AppendedFiles::write_note(const Appended& one) {
  const char* const path = one.path.c_str();
  const Text whole = whole_path(path);
  Bytes note;
  Encoder out(&note);
  out.boolean(one.was_there);
  out.u64(one.length);
  out.u64(one.checksum);
  out.string(whole.view());
  if (const Result written = write_(line_, note); !written.ok())
    say("%s; what the program changes of '%s' would stay so behind a restart from line %llu", written.message(), path, static_cast<unsigned long long>(line_));
}

void AppendedFiles::note_directory(const char* path, bool is_made) {
  if (write_ == nullptr || line_ == 0) return;
  Appended one;
  one.path = name_of_directory(path);
  one.checksum = kNoChecksum;
  one.was_there = !is_made;
  write_note(one);
}

bool AppendedFiles::take_changed(const char* path, bool is_made) {
  if (changed_.empty()) return false;
  const Text name = name_of_directory(path);
  bool is_so = false;
  for (size_t i = changed_.size(); i-- > 0;) {
    if (changed_[i].path.view() != name.view()) continue;
    is_so = is_so || changed_[i].is_made == is_made;
    changed_.erase(i);
  }
  return is_so;
}

int AppendedFiles::make_directory(const char* path, mode_t mode) {
  struct stat now;
  if (mkdir(path, mode) == 0) return take_changed(path, true), note_directory(path, true), 0;
  const int why = errno;
  if (why == EEXIST && stat(path, &now) == 0 && S_ISDIR(now.st_mode) && take_changed(path, true)) return 0;
  errno = why;
  return -1;
}

void AppendedFiles::begin_line(uint64_t line) {
  line_ = line;
  noted_now_.clear();
  read_.clear();
  for (const ChangedDirectory& one : changed_) note_directory(one.path.c_str(), one.is_made);  // the program has not come to it
}

// The first counts of those of a file.
void AppendedFiles::take_notes(const Vector<Bytes>& notes, uint64_t line) {
  changed_.clear();
  begin_line(line);
  noted_.clear();
  HashMap<bool> known;
  for (const Bytes& note : notes) {
    Decoder in(note);
    Appended one;
    one.is_noted = true;
    one.was_there = in.boolean();
    one.length = in.u64();
    one.checksum = in.u64();
    one.path = Text::copy(in.string());
    if (!in.ok()) continue;
    const bool is_directory = one.path.view().ends_with('/');
    const uint64_t key = mix_text(is_directory && one.was_there ? 1 : 0, one.path.view());
    if (known.find(key) != nullptr) continue;
    known.at(key) = true;
    if (is_directory) changed_.push_back({std::move(one.path), !one.was_there});
    else noted_.push_back(std::move(one));
  }
}

void AppendedFiles::look_before_opening(const char* path, const char* mode) {
  const bool appends = mode[0] == 'a' || (mode[0] == 'r' && strchr(mode, '+') != nullptr);
  Appended* const known = find_lost(path);
  if (known == nullptr && find(path) == nullptr) {
    if (appends) note_writing(path);
    else if (mode[0] == 'w') note_if_read(path);
  }
  if (known == nullptr) return;
  known->is_lost = false;
  if (mode[0] == 'w') return;
  struct stat now;
  const Descriptor file = open_to_look(path, &now);
  const unsigned long long length = known->length;
  if (!file.open() && mode[0] == 'a' && known->is_renamed) give_up_over(*known, "opens", false);
  if (!file.open() && mode[0] == 'a')
    say("the file '%s', to which the program appends, had %llu bytes when the line was taken, and is not there: it begins anew", path, length);
  if (file.open() ? is_same(now, known->seen) : mode[0] == 'r') give_up_over(*known, "opens", file.open());
}

void AppendedFiles::look_before_asking(const char* path) {
  Appended* const lost = find_lost(path);
  if (lost == nullptr) return;
  struct stat now;
  const bool is_there = stat(path, &now) == 0;
  if (!is_there || is_same(now, lost->seen)) give_up_over(*lost, "looks at", is_there);
  lost->is_lost = false;
}

int AppendedFiles::remove(const char* path, Removal how, const void* context) {
  struct stat now;
  note_if_read(path);
  Appended* const lost = find_lost(path);
  const bool is_there = lstat(path, &now) == 0, is_directory = is_there && S_ISDIR(now.st_mode);
  const bool is_done = !is_there && errno == ENOENT && (lost != nullptr || take_changed(path, false));
  const int code = is_done ? 0 : how(path, context);
  if (code == 0 && is_directory) take_changed(path, false), note_directory(path, false);
  if (code == 0) forget(lost != nullptr ? lost->path.c_str() : path);
  return code;
}

void AppendedFiles::name_from(const char* directory) {
  for (Appended& one : all_)
    if (one.path.c_str()[0] != '/') one.path = Text::format("%s/%s", directory, one.path.c_str());
}

// Where no restart may cut it is no place for a line to say so: the program may never append to it again, and if it does that is noted. Nor
// is what only was written from its beginning, and is so again.
Result AppendedFiles::look(const FileRoots& roots, Vector<Relied>* relied) {
  for (size_t i = all_.size(); i-- > 0;) {
    Appended& one = all_[i];
    struct stat now;
    const char* const path = one.path.c_str();
    if (one.is_lost || (one.is_placed && stat(path, &now) == 0 && is_same(now, one.seen))) continue;
    Descriptor file = open_to_look(path, &now);
    const bool is_there = file.open() && has_kept(one, file.get(), now);
    Place place;
    bool is_cut = is_there && place.find(roots, path).ok();
    if (is_cut) {
      const Result changed = place.look(Access::kChange, &now, &is_cut);
      if (!changed.ok() && one.is_appended)
        return Result::caused(changed.cause(), "a file to which the program has appended, and which it has closed: %s", changed.message());
      is_cut = is_cut && changed.ok();
    }
    if (!is_cut) {
      all_.erase(i);
      continue;
    }
    one.is_placed = true;
    one.seen = now;
    if (!one.is_appended) continue;
    Relied& on = relied->push_back({});
    on.file = std::move(file);
    on.path = Text::copy(path);
  }
  return Result();
}

Result AppendedFiles::take_over(const FileRoots& roots, Vector<Appended>&& of_line) {
  rewritten_.clear();
  for (Appended& one : noted_) {
    struct stat now;
    if (stat(one.path.c_str(), &now) != 0) {
      for (Appended& other : of_line) other.is_renamed = other.is_renamed || whole_path(other.path.c_str()).view() == one.path.view();
      continue;
    }
    if (!one.was_there || static_cast<uint64_t>(now.st_size) != one.length) {
      of_line.push_back(std::move(one));
    } else if (const Descriptor file = open_to_look(one.path.c_str(), &now); file.open() && !has_kept(one, file.get(), now)) {
      rewritten_.push_back(number_of_file(now));
    }
  }
  noted_.clear();
  for (Appended& one : of_line) {
    const char* const path = one.path.c_str();
    if (const Result placed = check_place(roots, path); !placed.ok())
      return Result::caused(placed.cause(), "a file to which the program has appended: %s", placed.message());
    const Descriptor file = open_to_look(path, &one.seen);
    one.is_placed = true;
    one.is_lost = one.was_there && (!file.open() || !has_kept(one, file.get(), one.seen));
    if (one.is_lost && file.open()) rewritten_.push_back(number_of_file(one.seen));
  }
  of_line_ = std::move(of_line);
  return Result();
}

void AppendedFiles::begin_with_line() {
  all_.clear();
  for (Appended& one : of_line_) {
    if (!one.is_lost) open_to_look(one.path.c_str(), &one.seen);
    if (!one.is_noted || one.is_lost) all_.push_back(std::move(one));
  }
  of_line_.clear();
}

}  // namespace elc::state
