// The outcome of an operation that can fail: nothing, or one message for a person.
#ifndef ELC_BASE_STATUS_H
#define ELC_BASE_STATUS_H

#include "base/compiler.h"

namespace elc {

// Success or one line of text that says what went wrong, where, and what to do. One pointer, without a
// destructor, so that it travels in a register and a check of it is two instructions. An ignored
// Status is a compile-time warning.
class [[nodiscard]] Status {
 public:
  Status() = default;

  // A failure with a printf-style message (no newline at its end). The text belongs to the library and
  // stays until kKept later failures have been made: longer than any failure is carried about.
  ELC_PRINTF(1, 2) static Status error(const char* format, ...);
  static constexpr unsigned kKept = 64;

  bool ok() const { return message_ == nullptr; }
  // The message; "ok" for a success.
  const char* message() const { return message_ == nullptr ? "ok" : message_; }

 private:
  const char* message_ = nullptr;
};

// Returns from the enclosing function with the failure of `expression`, if it failed.
#define ELC_TRY(expression)                                        \
  do {                                                             \
    const ::elc::Status elc_try_status = (expression);             \
    if (!elc_try_status.ok()) return elc_try_status;               \
  } while (false)

}  // namespace elc

#endif
