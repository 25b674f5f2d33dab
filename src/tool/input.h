// The standard input of the job. What one attempt has read of it the next one is given again, from its beginning: the
// program's set-up runs again in a restart.
#ifndef ELC_TOOL_INPUT_H
#define ELC_TOOL_INPUT_H

#include <poll.h>
#include <sys/types.h>

namespace elc::tool {

class Input {
 public:
  Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  ~Input();

  // For an attempt: its end, from the beginning of the input; to be closed by close_given once given away. Of a terminal
  // there is nothing. Throws std::system_error.
  void open();
  int give() const { return give_; }
  // This end of a pipe whose other end is given; -1: there is no such pipe.
  int own() const { return to_; }
  void close_given();

  // What to wait for: more input, and room for it; then move(). A descriptor of -1: nothing. Throws Refusal where what
  // comes cannot be kept.
  struct pollfd from() const { return {to_ >= 0 && given_ == kept_ && !ended_ ? 0 : -1, POLLIN, 0}; }
  struct pollfd to() const { return {given_ < kept_ ? to_ : -1, POLLOUT, 0}; }
  void move();

 private:
  void take();
  void pass_on();
  void close_own();

  enum class Kind { kNothing, kFile, kStream } kind_;
  off_t begin_ = 0;        // of a file
  int file_ = -1;          // what has come of a stream
  off_t kept_ = 0;         // bytes in there,
  off_t given_ = 0;        // and of them to this attempt
  bool ended_ = false;
  int give_ = -1, to_ = -1;
};

}  // namespace elc::tool

#endif
