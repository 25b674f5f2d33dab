// Changes of a text, by places: what is not changed stays as it was, byte for byte.
#ifndef ELC_CC_EDITS_H
#define ELC_CC_EDITS_H

#include <ctype.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace elc::cc {

// The bytes of a string as a literal of C.
inline std::string in_quotes(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const char octal[] = {'\\', static_cast<char>('0' + (byte >> 6)), static_cast<char>('0' + (byte >> 3 & 7)),
                          static_cast<char>('0' + (byte & 7)), '\0'};
    if (isalnum(byte) != 0 || c == ' ' || c == '_') out += c;
    else out += octal;
  }
  return out + "\"";
}

// What names and other words of C are made of.
inline bool is_of_word(char c) { return isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

class Edits {
 public:
  explicit Edits(const std::string& text) : text_(text) {}

  // [begin, end) becomes `with`; or `before` and `after` are put around it, inside of what was put around the same place earlier.
  void replace(size_t begin, size_t end, std::string with) { add({begin, end, true, std::move(with), "", 2}); }
  void wrap(size_t begin, size_t end, std::string before, std::string after) {
    add({begin, end, false, std::move(before), std::move(after), 1});
  }

  // The body of a function: outside of all else at its place.
  void replace_all(size_t begin, size_t end, std::string with) { add({begin, end, true, std::move(with), "", 0}); }

  struct Edit {
    size_t begin, end;
    bool replaces = true;
    std::string before, after;  // of a replacement, `before` alone
    int rank = 0;  // at one place those of a lower one are outside
  };

  // The text of [begin, end) with its changes; `others`: replacements for this time, which go before those at the same place.
  std::string text(size_t begin, size_t end, const std::vector<Edit>& others = {}) {
    if (!sorted_) std::stable_sort(edits_.begin(), edits_.end(), comes_before);
    sorted_ = true;
    std::vector<Edit> all;
    const auto first = std::lower_bound(edits_.begin(), edits_.end(), begin, [](const Edit& e, size_t at) { return e.begin < at; });
    for (auto e = first; e != edits_.end() && e->begin <= end; ++e)
      if (e->end <= end) all.push_back(*e);
    if (!others.empty()) {
      std::vector<Edit> merged = others;
      merged.insert(merged.end(), all.begin(), all.end());
      std::stable_sort(merged.begin(), merged.end(), comes_before);
      all = std::move(merged);
    }
    size_t next = 0;
    return render(begin, end, all, &next);
  }

 private:
  static bool comes_before(const Edit& a, const Edit& b) { return a.begin != b.begin ? a.begin < b.begin : a.end != b.end ? a.end > b.end : a.rank < b.rank; }

  void add(Edit edit) {
    edits_.push_back(std::move(edit));
    sorted_ = false;
  }

  std::string render(size_t begin, size_t end, const std::vector<Edit>& edits, size_t* next) const {
    std::string out;
    size_t at = begin;
    while (*next < edits.size() && edits[*next].begin <= end && edits[*next].end <= end) {
      const Edit& edit = edits[*next];
      ++*next;
      if (edit.begin < at) continue;  // inside of what was replaced
      out.append(text_, at, edit.begin - at);
      const bool is_behind_word = edit.begin > 0 && is_of_word(text_[edit.begin - 1]) && !is_of_word(text_[edit.begin]);
      if (is_behind_word && !edit.before.empty() && is_of_word(edit.before[0])) out += ' ';  // return"text" becomes return elc_s1
      out += edit.before;
      if (edit.replaces) {
        while (*next < edits.size() && edits[*next].begin < edit.end && edits[*next].end <= edit.end) ++*next;
      } else {
        out += render(edit.begin, edit.end, edits, next) + edit.after;
      }
      at = edit.end;
    }
    out.append(text_, at, end - at);
    return out;
  }

  const std::string& text_;
  std::vector<Edit> edits_;
  bool sorted_ = true;
};

}  // namespace elc::cc

#endif
