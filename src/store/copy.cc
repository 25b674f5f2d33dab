#include "store/copy.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/memory.h"
#include "store/files.h"
#include "store/system.h"

namespace elc::store {
namespace {

constexpr size_t kPiece = 4096;
constexpr size_t kMostReport = size_t{1} << 30;

// Handlers are the program's, and would do in the copy what they are to do in the process.
void default_signals() {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  sigset_t all;
  sigfillset(&all);
  for (int signal = 1; sigismember(&all, signal) == 1; ++signal) sigaction(signal, &action, nullptr);
}

// No file of its memory where it dies.
void leave_no_core() {
  struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
}

[[noreturn]] void leave(int fd, const Result& result, const Bytes& report) {
  Bytes head;
  Encoder out(&head);
  out.i32(result.ok() ? 0 : 1);
  out.i32(result.cause());
  if (result.ok()) out.opaque(report.data(), report.size());
  else out.string(result.message());
  write_all(fd, head.data(), head.size());
  _exit(0);
}

}  // namespace

Result Copy::start(size_t memory, int file, Result (*work)(void* context, Bytes* report), void* context) {
  end();
  int ends[2];
  if (::pipe(ends) != 0) return Result::caused(errno, "cannot make a pipe: %s", strerror(errno));
  Descriptor reads(ends[0]), writes(ends[1]);
  fcntl(reads.get(), F_SETFD, FD_CLOEXEC);
  fcntl(writes.get(), F_SETFD, FD_CLOEXEC);
  fcntl(reads.get(), F_SETFL, O_NONBLOCK);
  void* const block = try_allocate(memory);
  if (block == nullptr) return no_memory(memory, "a copy of the process");
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t copy = copy_process();
  const int error = errno;
  if (copy == 0) {
    live_on(block, memory);
    default_signals();
    leave_no_core();
    be_ended_first();
    reads = Descriptor();
    close_all_but(file, writes.get());
    process_ = -1;
    pipe_ = std::move(writes);
    Bytes report;
    const Result result = work(context, &report);
    leave(pipe_.get(), result, report);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  release(block);
  if (copy < 0) return Result::caused(error, "the system makes no copy of the process: %s", strerror(error));
  process_ = copy;
  pipe_ = std::move(reads);
  read_.clear();
  return {};
}

void Copy::still_wanted() const {
  if (process_ >= 0) return;
  struct pollfd reader = {pipe_.get(), 0, 0};
  if (::poll(&reader, 1, 0) > 0) _exit(1);  // nobody reads
}

Result Copy::look(bool* ended, Bytes* report) {
  *ended = false;
  if (!running()) return Result::error("there is no copy of the process");
  uint8_t piece[kPiece];
  for (;;) {
    const ssize_t got = ::read(pipe_.get(), piece, sizeof piece);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return {};
    if (got <= 0) break;
    if (read_.size() > kMostReport || !read_.make_room(static_cast<size_t>(got))) {
      end();
      return no_memory(read_.size(), "what the copy of the process reports");
    }
    read_.append(piece, static_cast<size_t>(got));
  }
  *ended = true;
  int status = 0;
  uninterrupted([&] { return wait_for_copy(process_, &status, true); });
  process_ = 0;
  pipe_ = Descriptor();
  Decoder in(read_);
  const int32_t failed = in.i32(), cause = in.i32();
  const std::string_view content = in.opaque();
  reported_ = in.ok();
  if (!in.ok())
    return WIFSIGNALED(status) ? Result::error("the copy of the process that wrote it was ended by signal %d", WTERMSIG(status))
                               : Result::error("the copy of the process that wrote it has ended");
  if (failed != 0)
    return Result::caused(cause, "%.*s", static_cast<int>(content.size()), content.data());
  report->clear();
  if (!report->make_room(content.size())) return no_memory(content.size(), "what the copy of the process reports");
  report->append(reinterpret_cast<const uint8_t*>(content.data()), content.size());
  return {};
}

void Copy::end() {
  if (!running()) return;
  ::kill(process_, SIGKILL);
  uninterrupted([&] { return wait_for_copy(process_, nullptr, true); });
  forget();
}

void Copy::forget() {
  process_ = 0;
  pipe_ = Descriptor();
}

}  // namespace elc::store
