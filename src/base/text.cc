#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"

namespace elc {
namespace {

// Bytes of the character of UTF-8 at `text`; 0 if there is none, as in a text of another encoding.
size_t character(const unsigned char* text, size_t size) {
  const unsigned char first = text[0];
  const size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
  if (length > size) return 0;
  for (size_t i = 1; i < length; ++i)
    if ((text[i] & 0xc0) != 0x80) return 0;
  const bool too_long = (first == 0xe0 && text[1] < 0xa0) || (first == 0xf0 && text[1] < 0x90);
  return too_long ? 0 : length;
}

}  // namespace

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
  Text text = vformat(format, arguments);
  va_end(arguments);
  return text;
}

Text Text::vformat(const char* format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  const int length = vsnprintf(nullptr, 0, format, arguments);
  Text text;
  if (length >= 0) {
    text.text_ = static_cast<char*>(allocate(static_cast<size_t>(length) + 1));
    vsnprintf(text.text_, static_cast<size_t>(length) + 1, format, again);
  }
  va_end(again);
  return text;
}

Text shorten(std::string_view message, size_t most) {
  constexpr std::string_view kGap = " ... ";
  if (message.size() <= most) return Text::copy(message);
  const auto within_character = [message](size_t at) { return (message[at] & 0xc0) == 0x80; };
  size_t begin = (most - kGap.size()) / 2, end = message.size() - (most - kGap.size() - begin);
  while (begin > 0 && within_character(begin)) --begin;
  while (end < message.size() && within_character(end)) ++end;
  return Text::format("%s%s%s", Text::copy({message.data(), begin}).c_str(), kGap.data(),
                      Text::copy({message.data() + end, message.size() - end}).c_str());
}

void hide_controls(char* text, size_t size) {
  for (size_t i = 0, length = 0; i < size; i += length) {
    const unsigned char* at = reinterpret_cast<unsigned char*>(text) + i;
    length = character(at, size - i);
    const bool control = length == 0   ? at[0] < 0xa0
                         : length == 1 ? at[0] < 0x20 || at[0] == 0x7f
                                       : length == 2 && at[0] == 0xc2 && at[1] < 0xa0;
    if (length == 0) length = 1;
    if (control) memset(text + i, '?', length);
  }
}

}  // namespace elc
