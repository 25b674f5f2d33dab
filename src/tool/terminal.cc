#include "terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <string_view>
#include <system_error>

#include "text.h"

namespace elc::tool {
namespace {

void write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) {  // somebody has made the terminal so for all who have it
      struct pollfd terminal = {fd, POLLOUT, 0};
      poll(&terminal, 1, -1);
      continue;
    }
    if (n <= 0) return;  // nobody reads any more
    text.remove_prefix(static_cast<size_t>(n));
  }
}

size_t width() {
#ifdef TIOCGWINSZ
  struct winsize size = {};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
#endif
  return 80;
}

}  // namespace

Terminal::Terminal(bool json, bool quiet)
    : json_(json), quiet_(quiet), live_(!json && !quiet && isatty(STDERR_FILENO) != 0) {}

Terminal::~Terminal() {
  close_outputs();
  clear();
}

void Terminal::say(const char* event, const std::string& text, nlohmann::json facts, bool always) {
  if (quiet_ && !always) return;
  clear();
  if (live_ && !at_line_start_) write_all(STDERR_FILENO, "\n");
  at_line_start_ = true;
  if (json_) {
    facts["event"] = event;
    facts["message"] = text;
    write_all(STDERR_FILENO, facts.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + "\n");
  } else {
    write_all(STDERR_FILENO, "elc: " + visible(text) + "\n");
  }
  draw();
}

void Terminal::status(const std::string& text) {
  if (!live_ || text == status_) return;
  clear();
  status_ = text;
  draw();
}

void Terminal::clear() {
  if (live_ && at_line_start_ && !status_.empty()) write_all(STDERR_FILENO, "\r\033[K");
}

void Terminal::draw() {
  if (live_ && at_line_start_ && !status_.empty()) write_all(STDERR_FILENO, status_.substr(0, width() - 1));
}

void Terminal::open_outputs() {
  for (Channel& channel : channels_) {
    if (!live_ || isatty(channel.to) == 0) continue;
    int ends[2];
    if (pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "cannot make a pipe");
    for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    channel.from = ends[0];
    channel.give = ends[1];
  }
}

void Terminal::close_outputs() {
  for (Channel& channel : channels_) {
    if (channel.give != channel.to) close(channel.give);
    channel.give = channel.to;
  }
}

bool Terminal::pass_on(int number) {
  Channel& channel = channels_[number];
  if (channel.from < 0) return false;
  char buffer[65536];
  const ssize_t n = read(channel.from, buffer, sizeof buffer);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    close(channel.from);
    channel.from = -1;
    return false;
  }
  clear();
  write_all(channel.to, {buffer, static_cast<size_t>(n)});
  at_line_start_ = buffer[n - 1] == '\n';
  draw();
  return true;
}

void Terminal::drain() {
  for (int channel = 0; channel < 2; ++channel) {
    while (pass_on(channel)) {
    }
    if (channels_[channel].from >= 0) close(channels_[channel].from);
    channels_[channel].from = -1;
  }
}

}  // namespace elc::tool
