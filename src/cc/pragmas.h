// What a source says of itself by `#pragma elc` (elc-cc(1)).
#ifndef ELC_CC_PRAGMAS_H
#define ELC_CC_PRAGMAS_H

#include <string>
#include <vector>

namespace elc::cc {

struct Pragma {
  enum class Kind {
    kStateless,  // words: functions
    kTransient,
    kType,       // words: the type
    kUnion       // words: the member that tells, then of each case its value, or "default", and its member, or "-"
  };
  Kind kind;
  size_t begin, end;  // in the text: of the declaration or statement that it stands in front of, up to its first semicolon
  std::string place;  // "file:line"
  std::vector<std::string> words;
  std::string name;   // of a type that clang knows: the one that is named; of a union's values, as enumerators: with _0, _1, ... behind it
};

// Takes them out of preprocessed text, in which all other places stay, and appends declarations of their types and values. False, with
// a message for each, where one is not understood.
bool take_pragmas(std::string* text, std::vector<Pragma>* pragmas, std::vector<std::string>* errors);

}  // namespace elc::cc

#endif
