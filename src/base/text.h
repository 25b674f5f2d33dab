// An owned C string: paths and names that outlive the place they came from.
#ifndef ELC_BASE_TEXT_H
#define ELC_BASE_TEXT_H

#include <string_view>

namespace elc {

class Text {
 public:
  Text() = default;
  Text(Text&& other) noexcept : text_(other.text_) { other.text_ = nullptr; }
  Text& operator=(Text&& other) noexcept;
  Text(const Text&) = delete;
  Text& operator=(const Text&) = delete;
  ~Text();

  static Text copy(std::string_view text);
  [[gnu::format(printf, 1, 2)]] static Text format(const char* format, ...);

  bool empty() const { return text_ == nullptr || text_[0] == '\0'; }
  // Never null; owned by the Text, valid until it is assigned to or destroyed.
  const char* c_str() const { return text_ == nullptr ? "" : text_; }
  std::string_view view() const { return c_str(); }

 private:
  char* text_ = nullptr;
};

}  // namespace elc

#endif
