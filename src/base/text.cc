#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

namespace elc {

char Text::kEmpty[1] = "";

Text::~Text() {
  if (text_ != kEmpty) release(text_);
}

Text Text::copy(const char* text) { return copy(std::string_view(text)); }

Text Text::copy(std::string_view from) {
  Text text;
  text.text_ = static_cast<char*>(allocate(from.size() + 1));
  if (!from.empty()) memcpy(text.text_, from.data(), from.size());
  text.text_[from.size()] = '\0';
  return text;
}

Text Text::format(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, format, arguments);
  va_end(arguments);
  Text text;
  if (length >= 0) {
    text.text_ = static_cast<char*>(allocate(static_cast<size_t>(length) + 1));
    vsnprintf(text.text_, static_cast<size_t>(length) + 1, format, again);
  }
  va_end(again);
  return text;
}

}  // namespace elc
