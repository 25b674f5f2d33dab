// The outcome of an operation that can fail: nothing, or one message for a person.
#ifndef ELC_BASE_RESULT_H
#define ELC_BASE_RESULT_H

#include <stdarg.h>
#include <stdint.h>

#include <utility>

#include "base/compiler.h"

namespace elc {

// Success or one line of text that says what went wrong, where, and what to do. One pointer; a success has no
// text, and copying or dropping it is a look at that pointer. The text of a failure lives as long as a Result has
// it: copies share it. An ignored Result is a compile-time warning.
class [[nodiscard]] Result {
 public:
  Result() = default;
  Result(const Result& other) : text_(other.text_) {
    if (text_ != nullptr) [[unlikely]] ++text_->owners;
  }
  Result(Result&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}
  Result& operator=(Result other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~Result() {
    if (text_ != nullptr) [[unlikely]] drop();
  }

  // A failure with a printf-style message (no newline at its end).
  ELC_PRINTF(1, 2) static Result error(const char* format, ...);
  // One of the system, with this errno, or one that such a failure has led to: cause() of that. 0: of nothing like it.
  ELC_PRINTF(2, 3) static Result caused(int error, const char* format, ...);

  bool ok() const { return text_ == nullptr; }
  int cause() const { return text_ == nullptr ? 0 : text_->cause; }
  // Whether the system has failed - an I/O error, no more descriptors: of what it was asked for nothing is known.
  bool system_failed() const;
  // Whether it has failed in a way that may pass: the same may succeed in a moment, without anybody's doing.
  bool may_pass() const;
  // The message, as long as a Result has it; "ok" for a success.
  const char* message() const { return text_ == nullptr ? "ok" : reinterpret_cast<const char*>(text_ + 1); }

 private:
  struct Text {  // the characters follow
    unsigned owners;
    int cause;
  };
  ELC_PRINTF(2, 0) static Result make(int cause, const char* format, va_list arguments);
  void drop();

  Text* text_ = nullptr;
};

// There is no memory for `what`, of `size` bytes.
Result no_memory(uint64_t size, const char* what);

// Returns from the enclosing function with the failure of `expression`, if it failed.
#define ELC_TRY(expression)                                        \
  do {                                                             \
    ::elc::Result elc_try_status = (expression);                   \
    if (!elc_try_status.ok()) [[unlikely]] return elc_try_status;  \
  } while (false)

}  // namespace elc

#endif
