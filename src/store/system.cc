// The system calls of the store, and what in the library not every system has: fsync in the background, by the
// asynchronous I/O of POSIX; copies of the process that the program does not notice, and their threads; the way of a file's
// bytes to the disk. ELC_HAVE_AIO and its like (1 or 0) say whether a program gets them without a further library, as the build has
// found out.
#include "store/system.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>

#include "base/descriptor.h"
#include "base/write.h"

#if ELC_HAVE_AIO
#include <aio.h>
#endif
#if ELC_HAVE_AFFINITY
#include <sched.h>
#endif
#if ELC_HAVE_REGISTERS
#include <ucontext.h>
#endif
#if ELC_HAVE_CLONE
#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#endif

namespace elc::store {
namespace {

static_assert(sizeof(off_t) >= 8, "files of more than 2 GiB: compile with -D_FILE_OFFSET_BITS=64, as meson does");

int real_open(int dir, const char* name, int flags, mode_t mode) { return above_standard(::openat(dir, name, flags, mode)); }
int status(int dir, const char* name, struct stat* about) { return ::fstatat(dir, name, about, AT_SYMLINK_NOFOLLOW); }
int file_status(int fd, struct stat* about) { return ::fstat(fd, about); }
ssize_t write_at(int fd, const void* data, size_t size, uint64_t at) {
  return ::lseek(fd, static_cast<off_t>(at), SEEK_SET) < 0 ? -1 : write_unsignalled(fd, data, size);
}

int set_append(int fd, bool append) {
  const int flags = fcntl(fd, F_GETFL);
  return flags < 0 ? -1 : fcntl(fd, F_SETFL, append ? flags | O_APPEND : flags & ~O_APPEND);
}

ssize_t append(int fd, const void* data, size_t size, uint64_t* end) {
  const ssize_t written = write_unsignalled(fd, data, size);
  const off_t behind = written < 0 ? 0 : ::lseek(fd, 0, SEEK_CUR);
  *end = static_cast<uint64_t>(behind);
  return behind < 0 ? -1 : written;
}

int real_rename(int dir, const char* from, const char* to) { return ::renameat(dir, from, dir, to); }
int real_unlink(int dir, const char* name) { return ::unlinkat(dir, name, 0); }
int real_rmdir(int dir, const char* name) { return ::unlinkat(dir, name, AT_REMOVEDIR); }

// By a descriptor of its own, which goes with the list.
DIR* open_list(int dir) {
  const int fd = real_open(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  DIR* list = ::fdopendir(fd);
  if (list == nullptr) ::close(fd);
  return list;
}

struct dirent* next(DIR* list) {
  errno = 0;
  return ::readdir(list);
}

#if ELC_HAVE_AIO

aiocb request;
bool requested = false;

void start_flush(int fd) {
  memset(&request, 0, sizeof request);
  request.aio_fildes = fd;
  request.aio_sigevent.sigev_notify = SIGEV_NONE;
  requested = aio_fsync(O_SYNC, &request) == 0;
}

bool flushing() { return requested && aio_error(&request) == EINPROGRESS; }

int end_flush(int fd) {
  if (!requested) return ::fsync(fd);
  requested = false;
  const struct aiocb* const list[] = {&request};
  while (aio_error(&request) == EINPROGRESS) aio_suspend(list, 1, nullptr);
  const int error = aio_error(&request);
  if (aio_return(&request) == 0) return 0;
  errno = error;
  return -1;
}

#else  // all of it where its result is asked for

void start_flush(int) {}
bool flushing() { return false; }
int end_flush(int fd) { return ::fsync(fd); }

#endif

bool hexadecimal(const char** at, uintptr_t* value) {
  const char* const begin = *at;
  *value = 0;
  for (;; ++*at) {
    const char c = **at;
    const int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
    if (digit < 0) return *at != begin;
    *value = *value << 4 | static_cast<uintptr_t>(digit);
  }
}

// Calls visit(line) for each line of a file that the system makes up; false: it is not there, or not all of it.
template <class Visit>
bool each_line(const char* path, Visit visit) {
  const Descriptor file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file.open()) return false;
  char text[4096];
  size_t used = 0;
  for (;;) {
    const ssize_t got = ::read(file.get(), text + used, sizeof text - 1 - used);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    used += static_cast<size_t>(got);
    text[used] = '\0';
    char* line = text;
    for (char* end; (end = strchr(line, '\n')) != nullptr; line = end + 1) {
      *end = '\0';
      visit(static_cast<const char*>(line));
    }
    used -= static_cast<size_t>(line - text);
    if (used == sizeof text - 1) return false;
    memmove(text, line, used);
  }
}

}  // namespace

#if ELC_HAVE_CLONE

pid_t copy_process() {
  // No flag: no signal. The order of the arguments differs between processors; all are 0.
  return static_cast<pid_t>(syscall(SYS_clone, 0L, 0L, 0L, 0L, 0L));
}

pid_t wait_for_copy(pid_t copy, int* status, bool wait) { return ::waitpid(copy, status, static_cast<int>(__WCLONE) | (wait ? 0 : WNOHANG)); }

namespace {

// What a thread begins with, on its stack.
struct Bare {
  void (*run)(void* argument);
  void* argument;
};

int run_bare(void* bare) {
  const Bare b = *static_cast<Bare*>(bare);
  b.run(b.argument);
  return 0;
}

}  // namespace

bool start_bare_thread(void (*run)(void* argument), void* argument, void* stack, size_t size) {
  constexpr size_t kAlignment = 64;
  constexpr int kLikeAThread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM;
  const uintptr_t end = (reinterpret_cast<uintptr_t>(stack) + size) / kAlignment * kAlignment - kAlignment;
  Bare* const bare = new (reinterpret_cast<void*>(end)) Bare{run, argument};
  return ::clone(run_bare, reinterpret_cast<void*>(end - kAlignment), kLikeAThread, bare) > 0;
}

#else

pid_t copy_process() {
  errno = ENOSYS;
  return -1;
}

pid_t wait_for_copy(pid_t, int*, bool) {
  errno = ECHILD;
  return -1;
}

bool start_bare_thread(void (*)(void*), void*, void*, size_t) { return false; }

#endif

void be_ended_first() {
  const Descriptor file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file.open()) static_cast<void>(::write(file.get(), "1000", 4) == 4);  // it may have no such thing
}

void close_all_but(int one, int other) {
  const long most = sysconf(_SC_OPEN_MAX);
  constexpr int kMost = 65536;
  const int end = most < 0 || most > kMost ? kMost : static_cast<int>(most);
  for (int fd = 0; fd < end; ++fd)
    if (fd != STDERR_FILENO && fd != one && fd != other) ::close(fd);
}

#if ELC_HAVE_SYNC_FILE_RANGE

void start_writing(int fd, uint64_t from, uint64_t size) {
  sync_file_range(fd, static_cast<off_t>(from), static_cast<off_t>(size), SYNC_FILE_RANGE_WRITE);
}

void end_writing(int fd, uint64_t from, uint64_t size) {
  sync_file_range(fd, static_cast<off_t>(from), static_cast<off_t>(size),
                  SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER);
  posix_fadvise(fd, static_cast<off_t>(from), static_cast<off_t>(size), POSIX_FADV_DONTNEED);
}

#else  // the system does it when it likes

void start_writing(int, uint64_t, uint64_t) {}
void end_writing(int, uint64_t, uint64_t) {}

#endif

#if ELC_HAVE_AFFINITY

unsigned processors_of_process() {
  cpu_set_t set;  // it does not hold those of the largest machines
  return sched_getaffinity(0, sizeof set, &set) == 0 ? static_cast<unsigned>(CPU_COUNT(&set)) : processors();
}

#else

unsigned processors_of_process() { return processors(); }

#endif

#if ELC_HAVE_REGISTERS

void with_registers(void (*use)(void* context, const uint64_t* registers, size_t count), void* context) {
  static const int kOrder[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP, REG_R8,
                               REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
  constexpr size_t kCount = sizeof kOrder / sizeof *kOrder;
  ucontext_t now;
  uint64_t registers[kCount];
  if (getcontext(&now) != 0) return use(context, registers, 0);
  for (size_t i = 0; i < kCount; ++i) registers[i] = static_cast<uint64_t>(now.uc_mcontext.gregs[kOrder[i]]);
  use(context, registers, kCount);
}

#else

void with_registers(void (*use)(void* context, const uint64_t* registers, size_t count), void* context) {
  const uint64_t none = 0;
  use(context, &none, 0);
}

#endif

// "begin-end rwxs offset device inode name", in hexadecimal, of which the line begins with the rights then.
static bool is_piece(const char** line, uintptr_t* begin, uintptr_t* end) {
  return hexadecimal(line, begin) && *(*line)++ == '-' && hexadecimal(line, end) && *(*line)++ == ' ' && strlen(*line) >= 4;
}

bool each_shared_memory(void (*visit)(void* context, uintptr_t begin, uintptr_t end), void* context) {
  bool understood = true;
  const bool read = each_line("/proc/self/maps", [&](const char* line) {
    uintptr_t begin, end;
    const bool fits = is_piece(&line, &begin, &end);
    understood = understood && fits;
    if (fits && line[3] != 'p') visit(context, begin, end);
  });
  return read && understood;
}

void each_mapped_file(void (*visit)(void* context, uintptr_t begin, uintptr_t end), void* context) {
  each_line("/proc/self/maps", [&](const char* line) {
    uintptr_t begin, end;
    if (is_piece(&line, &begin, &end) && strchr(line, '/') != nullptr) visit(context, begin, end);
  });
}

unsigned processors() {
#ifdef _SC_NPROCESSORS_ONLN
  const long there = sysconf(_SC_NPROCESSORS_ONLN);
  if (there > 1) return static_cast<unsigned>(there);
#endif
  return 1;
}

uint64_t available_memory() {
  uint64_t available = 0;
  const bool read = each_line("/proc/meminfo", [&](const char* line) {
    constexpr size_t kLength = sizeof "MemAvailable:" - 1;
    if (strncmp(line, "MemAvailable:", kLength) != 0) return;
    for (line += kLength; *line == ' ';) ++line;
    for (; *line >= '0' && *line <= '9'; ++line) available = available * 10 + static_cast<uint64_t>(*line - '0');
  });
  return read ? available * 1024 : 0;
}

#if ELC_HAVE_HUGE_PAGES

void use_huge_pages(void* memory, size_t size) {
  const auto page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE)), begin = reinterpret_cast<uintptr_t>(memory);
  const uintptr_t first = (begin + page - 1) / page * page, end = (begin + size) / page * page;
  const int before = errno;  // a system without them says so
  if (first < end) madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
  errno = before;
}

#else

void use_huge_pages(void*, size_t) {}

#endif

bool has_rdma() {
  DIR* const list = ::opendir("/sys/class/infiniband");
  if (list == nullptr) return false;
  bool found = false;
  while (const struct dirent* entry = ::readdir(list)) found = found || entry->d_name[0] != '.';
  ::closedir(list);
  return found;
}

const System kRealSystem = {real_open,   status,  file_status, ::read,      write_unsignalled, write_at,
                            set_append,  append,  ::fsync,     start_flush, flushing,    end_flush,   ::close,
                            real_rename, real_unlink, ::mkdirat, real_rmdir, open_list,  next,        ::closedir};
System system_calls = kRealSystem;

}  // namespace elc::store
