// Files that a prepared program has opened by other functions than those whose streams lines have (elc_program.h), and what functions of
// the C library make for it in their own memory. While one is there no line is taken; what the program does with it is its own.
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/process.h"

namespace elc::state {

Text path_of(int descriptor) {
  char path[4096], here[4096];
  const ssize_t length = readlink(Text::format("/proc/self/fd/%d", descriptor).c_str(), path, sizeof path - 1);
  if (length <= 0) return Text();
  path[length] = '\0';
  const size_t begin = getcwd(here, sizeof here) != nullptr ? strlen(here) : 0;
  const bool is_here = begin > 1 && strncmp(path, here, begin) == 0 && path[begin] == '/';
  return Text::copy(path + (is_here ? begin + 1 : 0));
}

namespace {

pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;  // several threads may open files

// The descriptor is that of the file still, and not closed, nor another's by now.
bool is_open(const Opened& opened) {
  struct stat now;
  return fstat(opened.descriptor, &now) == 0 && now.st_dev == opened.device && now.st_ino == opened.file;
}

size_t place_of(const Vector<Opened>& all, int descriptor) {
  size_t i = 0;
  while (i < all.size() && all[i].descriptor != descriptor) ++i;
  return i;
}

// It is closed. What it has written is the file's as if it had been a stream.
void forget(Vector<Opened>* all, size_t i) {
  if (!(*all)[i].written.empty()) process().streams.note_written((*all)[i].written.c_str(), (*all)[i].is_new);
  all->erase(i);
}

void note(int descriptor, const char* what) {
  struct stat now;
  if (descriptor < 0 || fstat(descriptor, &now) != 0) return;
  Streams& streams = process().streams;
  const int flags = fcntl(descriptor, F_GETFL);
  const bool is_followed = streams.are_in_lines() && S_ISREG(now.st_mode) && now.st_nlink > 0 && flags >= 0;
  Text path = is_followed ? path_of(descriptor) : Text();
  const bool is_read = (flags & O_ACCMODE) == O_RDONLY, is_new = now.st_size == 0 && (flags & O_APPEND) == 0;
  if (!is_read) streams.note_change();
  if (!path.empty() && is_read) streams.look_before_reading(path.c_str());
  pthread_mutex_lock(&lock);
  Vector<Opened>& all = process().opened;
  if (const size_t i = place_of(all, descriptor); i < all.size()) forget(&all, i);
  if (!path.empty() && !is_read && !is_new) streams.note_writing(path.c_str());
  if (!path.empty() && !is_read && is_new) streams.note_emptied(path.c_str());
  all.push_back({descriptor, now.st_dev, now.st_ino, what, is_read ? Text() : std::move(path), is_new});
  pthread_mutex_unlock(&lock);
}

}  // namespace

// No other thread opens a file while a line is taken.
Result check_opened(Process& p) {
  for (size_t i = p.opened.size(); i-- > 0;) {
    if (is_open(p.opened[i])) return Result::error("the program has called %s", p.opened[i].what);
    forget(&p.opened, i);
  }
  return Result();
}

Result check_made(const Process& p) {
  if (p.made.empty()) return Result();
  return Result::error("the program has called %s", p.made[0].what);
}

// Before MPI gets one of the same number, and of the same file at that.
static void forget_closed(Process& p) {
  pthread_mutex_lock(&lock);
  for (size_t i = p.opened.size(); i-- > 0;)
    if (!is_open(p.opened[i])) forget(&p.opened, i);
  pthread_mutex_unlock(&lock);
}

void note_file_opening(const char* path, bool writes, bool appends) {
  if (!is_prepared()) return;
  forget_closed(process());
  Streams& streams = process().streams;
  if (writes && !appends) streams.look_before_writing(path);
  else streams.look_before_opening(path, writes ? "a" : "r");
}

void note_file_closed(const char* path, bool is_new) {
  if (is_prepared()) process().streams.note_written(path, is_new);
}

int remove_file(const char* path, Removal how, const void* context) {
  return is_prepared() ? process().streams.remove(path, how, context) : how(path, context);
}

void forget_opened(Process& p, int descriptor) {
  pthread_mutex_lock(&lock);
  if (const size_t i = place_of(p.opened, descriptor); i < p.opened.size()) forget(&p.opened, i);
  pthread_mutex_unlock(&lock);
}

}  // namespace elc::state

extern "C" {

ELC_EXPORT int ELC_Program_opened(int descriptor, const char* what) {
  elc::state::note(descriptor, what);
  return descriptor;
}

ELC_EXPORT void* ELC_Program_opened_stream(void* stream, const char* what) {
  if (stream != nullptr) elc::state::note(fileno(static_cast<FILE*>(stream)), what);
  return stream;
}

ELC_EXPORT void* ELC_Program_opened_directory(void* directory, const char* what) {
  if (directory != nullptr) elc::state::note(dirfd(static_cast<DIR*>(directory)), what);
  return directory;
}

ELC_EXPORT void* ELC_Program_makes(void* object, const char* what) {
  pthread_mutex_lock(&elc::state::lock);
  elc::Vector<elc::state::Made>& all = elc::state::process().made;
  all.push_back({object, what, pthread_self()});
  pthread_mutex_unlock(&elc::state::lock);
  return object;
}

ELC_EXPORT int ELC_Program_made(int code) {
  pthread_mutex_lock(&elc::state::lock);
  elc::Vector<elc::state::Made>& all = elc::state::process().made;
  size_t i = code == 0 ? 0 : all.size();
  while (i > 0 && pthread_equal(all[i - 1].by, pthread_self()) == 0) --i;  // what this thread has made last
  if (i > 0) all.erase(i - 1);
  pthread_mutex_unlock(&elc::state::lock);
  return code;
}

ELC_EXPORT void* ELC_Program_frees(void* object) {
  pthread_mutex_lock(&elc::state::lock);
  elc::Vector<elc::state::Made>& all = elc::state::process().made;
  for (size_t i = all.size(); i-- > 0;)
    if (all[i].object == object) all.erase(i);
  pthread_mutex_unlock(&elc::state::lock);
  return object;
}

ELC_EXPORT int ELC_Program_used(int descriptor, const char* what) {
  pthread_mutex_lock(&elc::state::lock);
  const elc::Vector<elc::state::Opened>& all = elc::state::process().opened;
  const size_t i = elc::state::place_of(all, descriptor);
  const bool is_own = i < all.size() && elc::state::is_open(all[i]);
  pthread_mutex_unlock(&elc::state::lock);
  // Of one that is none, nothing comes.
  if (!is_own && fcntl(descriptor, F_GETFD) >= 0) ELC_Program_unfit(what);
  return descriptor;
}
}
