#include "base/result.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"

namespace elc {

Result Result::error(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  const size_t size = length < 0 ? 1 : static_cast<size_t>(length) + 1;
  Result failure;
  failure.text_ = static_cast<Text*>(allocate(sizeof(Text) + size));
  failure.text_->owners = 1;
  failure.text_->system_failed = false;
  char* text = reinterpret_cast<char*>(failure.text_ + 1);
  text[0] = '\0';
  if (length >= 0) vsnprintf(text, size, format, again);
  va_end(again);
  return failure;
}

Result no_memory(uint64_t size, const char* what) {
  return Result::error("there is no memory for %s (%llu bytes): give the process more, or let the program use less", what,
                       static_cast<unsigned long long>(size));
}

void Result::drop() {
  if (--text_->owners == 0) release(text_);
}

}  // namespace elc
