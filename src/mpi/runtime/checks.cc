#include "mpi/runtime/checks.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash_map.h"
#include "base/message.h"
#include "mpi/runtime/mappings.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

struct Checks {
  state::DrawnNumbers random;  // as they were at the first line: the set-up draws them again in a restart
  Vector<Text> told;           // names
  Vector<uint64_t> others;     // files that were open for writing in MPI_Init: the MPI's, say
};

namespace {

Checks& here() { return *runtime.checks; }

// Whether something of this name is told for the first time.
bool is_news(const char* name) {
  for (const Text& known : here().told)
    if (known.view() == name) return false;
  here().told.push_back(Text::copy(name));
  return true;
}

// Calls visit(path, number, writes) for each regular file that is open for writing, or has been read, but the standard ones.
template <class Visit>
void each_used(Visit visit) {
  DIR* const list = opendir("/proc/self/fd");
  if (list == nullptr) return;
  while (const struct dirent* entry = readdir(list)) {
    const int fd = atoi(entry->d_name);
    struct stat about;
    char path[4096];
    const int flags = fd > STDERR_FILENO ? fcntl(fd, F_GETFL) : -1;
    if (flags < 0 || fstat(fd, &about) != 0 || !S_ISREG(about.st_mode)) continue;
    const bool writes = (flags & O_ACCMODE) != O_RDONLY;
    if (!writes && lseek(fd, 0, SEEK_CUR) <= 0) continue;
    const ssize_t length = readlink(Text::format("/proc/self/fd/%d", fd).c_str(), path, sizeof path - 1);
    if (length <= 0) continue;
    path[length] = '\0';
    visit(path, state::number_of_file(about), writes);
  }
  closedir(list);
}

bool begins(const char* text, const char* with) { return strncmp(text, with, strlen(with)) == 0; }

// What is the library's own, or no file that a restart could need: of memory, or removed already.
bool is_of_no_interest(const char* path) {
  constexpr const char* kRemoved = " (deleted)";
  const size_t length = strlen(path), removed = strlen(kRemoved);
  return begins(path, runtime.config.dir.c_str()) || begins(path, "/dev/shm/") || begins(path, "/memfd:") ||
         (length > removed && strcmp(path + length - removed, kRemoved) == 0);
}

}  // namespace

void begin_checks() {
  if (!runtime.config.check) return;
  runtime.checks = make<Checks>();
  each_used([](const char*, uint64_t number, bool) { here().others.push_back(number); });
}

Result check_memory() {
  if (runtime.checks == nullptr) return Result();
  const state::DrawnNumbers drawn = state::drawn_numbers();
  if (!here().random.known) here().random = drawn;
  if (!state::has_random() && here().random.differ_from(drawn) && is_news("ELC_RANDOM"))
    say("ELC_CHECK: the program draws numbers of rand, random or drand48, and their state is in no line: after a restart they come "
        "again from the beginning; ELC_RANDOM() puts it there");
  struct Look {
    Mappings mappings;
    uintptr_t stack_begin = 0, stack_top = 0;  // of the main thread's stack, what is not in use
    Result gone;
  } look;
  const uintptr_t now = reinterpret_cast<uintptr_t>(&look);
  for (const Mapping& m : look.mappings.all())
    if (m.begin <= now && now < m.end) look.stack_begin = m.begin, look.stack_top = now;
  if (look.stack_begin == 0) return Result();
  state::each_registered(&look, [](void* context, const char* name, const void* address, uint64_t size) {
    Look& l = *static_cast<Look*>(context);
    const uintptr_t at = reinterpret_cast<uintptr_t>(address);
    if (name == nullptr || size == 0 || !l.gone.ok()) return;
    if (!l.mappings.readable(at, size))
      l.gone = Result::error("'%s' is registered, and its memory is not there any more: ELC_Unregister(\"%s\") before it is freed", name, name);
    else if (at >= l.stack_begin && at < l.stack_top && is_news(name))
      say("ELC_CHECK: '%s' is registered, and was a variable of a function that has returned: what is saved is not its value; "
          "ELC_Unregister(\"%s\") before the function returns", name, name);
  });
  return look.gone;
}

void check_files(const Vector<state::Written>& known) {
  if (runtime.checks == nullptr) return;
  each_used([&](const char* path, uint64_t number, bool writes) {
    for (const state::Written& file : known)
      if (file.number == number) return;
    for (const uint64_t other : here().others)
      if (other == number) return;
    if (is_of_no_interest(path) || !is_news(path)) return;
    if (writes)
      say("ELC_CHECK: the file '%s' is open for writing, and not by ELC_fopen or MPI_File_open: a restart neither opens it nor brings "
          "back its content", path);
    else
      say("ELC_CHECK: the file '%s' is being read, and not by ELC_fopen or MPI_File_open: a restart does not go on where it was", path);
  });
}

}  // namespace elc::mpi
