// An owned C string: paths and names that outlive the place they came from.
#ifndef ELC_BASE_TEXT_H
#define ELC_BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

#include <string_view>
#include <utility>

#include "base/compiler.h"

namespace elc {

class Text {
 public:
  Text() = default;
  Text(Text&& other) noexcept : text_(other.text_) { other.text_ = kEmpty; }
  // What was here is freed with the other one.
  Text& operator=(Text&& other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text();

  static Text copy(std::string_view text);
  static Text copy(const char* text);
  // At most so many bytes of it.
  static Text copy(std::string_view text, size_t most) { return copy({text.data(), text.size() < most ? text.size() : most}); }
  ELC_PRINTF(1, 2) static Text format(const char* format, ...);
  ELC_PRINTF(1, 0) static Text vformat(const char* format, va_list arguments);

  bool empty() const { return text_[0] == '\0'; }
  // Never null; owned by the Text, valid until it is assigned to or destroyed.
  const char* c_str() const { return text_; }
  std::string_view view() const { return c_str(); }

 private:
  static char kEmpty[1];  // not to be freed

  char* text_ = kEmpty;
};

// At most `most` bytes (16 or more) of a message: of one that is longer, its beginning and its end, in whole characters of
// UTF-8. In its middle there is a long name, and at its end the reason.
Text shorten(std::string_view message, size_t most);

// Puts a '?' in place of each byte that a terminal obeys: the control characters of ASCII, and those from 0x80 to 0x9f,
// as bytes of their own and in UTF-8. What the program names, and what a line says, may be anybody's.
void hide_controls(char* text, size_t size);

}  // namespace elc

#endif
