#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/memory.h"

namespace elc {
namespace {
char* kept[Status::kKept];  // the texts of the last failures, in turn
unsigned next_kept = 0;
}  // namespace

Status Status::error(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  const size_t size = length < 0 ? 1 : static_cast<size_t>(length) + 1;
  char* text = static_cast<char*>(allocate(size));
  text[0] = '\0';
  if (length >= 0) vsnprintf(text, size, format, again);
  va_end(again);
  // Only now: an older failure may be among the arguments.
  release(kept[next_kept]);
  kept[next_kept] = text;
  next_kept = (next_kept + 1) % kKept;
  Status status;
  status.message_ = text;
  return status;
}

}  // namespace elc
