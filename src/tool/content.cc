#include "content.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

namespace elc::tool {

std::string content_of(const std::filesystem::path& file) {
  std::string content;
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO would wait
  if (fd < 0) return content;
  char part[1 << 14];
  ssize_t read_now;
  while ((read_now = read(fd, part, sizeof part)) > 0 || (read_now < 0 && errno == EINTR))
    if (read_now > 0) content.append(part, static_cast<size_t>(read_now));
  close(fd);
  return read_now < 0 ? std::string() : content;
}

}  // namespace elc::tool
