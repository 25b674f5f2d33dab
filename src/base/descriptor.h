// An open file descriptor that is closed with its owner.
#ifndef ELC_BASE_DESCRIPTOR_H
#define ELC_BASE_DESCRIPTOR_H

#include <unistd.h>

#include <utility>

namespace elc {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {  // what was here is closed with the other one
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  bool open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }  // to be closed by the caller

 private:
  int fd_ = -1;
};

}  // namespace elc

#endif
