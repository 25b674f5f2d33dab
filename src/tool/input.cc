#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

#include "lines.h"

namespace elc::tool {
namespace {

constexpr size_t kPiece = 65536;

[[noreturn]] void cannot(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

[[noreturn]] void cannot_keep() {
  throw Refusal(kCannot, std::string("what the job reads from standard input cannot be kept for a restart: ") + strerror(errno) +
                             "; give it as a file (elc run ... <FILE), or set TMPDIR to where there is room");
}

// A file without a name.
int temporary() {
  std::error_code none;
  const std::filesystem::path place = std::filesystem::temp_directory_path(none);
  errno = none.value();
  if (none) cannot_keep();
  std::string path = (place / "elc-input-XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) cannot_keep();
  fcntl(file, F_SETFD, FD_CLOEXEC);
  unlink(path.c_str());
  return file;
}

}  // namespace

// A character device other than a terminal gives the same each time (/dev/null), or never did.
Input::Input() {
  struct stat about = {};
  if (isatty(STDIN_FILENO) != 0 || fstat(STDIN_FILENO, &about) != 0) kind_ = Kind::kNothing;
  else if (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode)) kind_ = Kind::kStream;
  else kind_ = Kind::kFile;
  if (kind_ == Kind::kFile) begin_ = lseek(STDIN_FILENO, 0, SEEK_CUR);
}

Input::~Input() {
  close_given();
  close_own();
  if (file_ >= 0) close(file_);
}

void Input::open() {
  if (kind_ == Kind::kNothing) {
    give_ = ::open("/dev/null", O_RDONLY);
    if (give_ < 0) cannot("cannot open /dev/null");
  } else if (kind_ == Kind::kFile) {
    if (begin_ >= 0 && lseek(STDIN_FILENO, begin_, SEEK_SET) < 0) cannot("cannot go back in standard input");
    give_ = STDIN_FILENO;
  } else {
    close_own();
    int ends[2];
    if (pipe(ends) != 0) cannot("cannot make a pipe");
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    give_ = ends[0];
    to_ = ends[1];
    given_ = 0;
  }
}

void Input::close_given() {
  if (give_ > STDIN_FILENO) close(give_);
  give_ = -1;
}

void Input::close_own() {
  if (to_ >= 0) close(to_);
  to_ = -1;
}

void Input::move() {
  if (to_ < 0) return;
  struct pollfd more = from();
  if (more.fd >= 0 && poll(&more, 1, 0) > 0) take();
  if (given_ < kept_) pass_on();
  if (ended_ && given_ == kept_) close_own();
}

// Not before the job has taken what came before: only as much is read as it reads, and a little more.
void Input::take() {
  char piece[kPiece];
  const ssize_t n = read(STDIN_FILENO, piece, sizeof piece);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) {
    ended_ = true;
    return;
  }
  if (file_ < 0) file_ = temporary();
  if (pwrite(file_, piece, static_cast<size_t>(n), kept_) != n) cannot_keep();
  kept_ += n;
}

void Input::pass_on() {
  char piece[kPiece];
  const ssize_t n = pread(file_, piece, sizeof piece, given_);
  if (n <= 0) cannot_keep();
  const ssize_t gone = write(to_, piece, static_cast<size_t>(n));
  if (gone > 0) given_ += gone;
  else if (errno != EAGAIN && errno != EINTR) close_own();  // it reads no more
}

}  // namespace elc::tool
