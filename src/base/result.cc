#include "base/result.h"

#include <errno.h>
#include <stdio.h>

#include "base/memory.h"

namespace elc {

Result Result::make(int cause, const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, format, arguments);
  const size_t size = length < 0 ? 1 : static_cast<size_t>(length) + 1;
  Result failure;
  failure.text_ = static_cast<Text*>(allocate(sizeof(Text) + size));
  failure.text_->owners = 1;
  failure.text_->cause = cause;
  char* text = reinterpret_cast<char*>(failure.text_ + 1);
  text[0] = '\0';
  if (length >= 0) vsnprintf(text, size, format, again);
  va_end(again);
  return failure;
}

Result Result::error(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Result failure = make(0, format, arguments);
  va_end(arguments);
  return failure;
}

Result Result::caused(int error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  Result failure = make(error, format, arguments);
  va_end(arguments);
  return failure;
}

bool Result::system_failed() const {
  switch (cause()) {
    case 0: case ENOENT: case ENOTDIR: case ELOOP: case EISDIR: case ENXIO: return false;  // it tells what is there
    default: return true;
  }
}

bool Result::may_pass() const {
  return system_failed() && cause() != EACCES && cause() != EPERM && cause() != EROFS;
}

Result no_memory(uint64_t size, const char* what) {
  return Result::caused(ENOMEM, "there is no memory for %s (%llu bytes): give the process more, or let the program use less", what,
                       static_cast<unsigned long long>(size));
}

void Result::drop() {
  if (--text_->owners == 0) release(text_);
}

}  // namespace elc
