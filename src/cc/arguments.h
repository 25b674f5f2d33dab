// The words of a compiler's command line, as GCC and clang have them.
#ifndef ELC_CC_ARGUMENTS_H
#define ELC_CC_ARGUMENTS_H

#include <set>
#include <string>
#include <vector>

namespace elc::cc {

inline constexpr const char* kSystemHeaders = "-isystem";  // a directory follows, in the same word or in the next

struct Word {
  enum class Kind {
    kOption,
    kSource,   // of C
    kInput,    // an object, an archive, or what the compiler makes of something else
    kLibrary,  // -lNAME
  };
  Kind kind;
  std::vector<std::string> text;  // as it was given: an option and its argument
  bool is_given = true;           // else a shared library wants it
};

struct Arguments {
  std::vector<Word> words;
  std::string output;             // of -o; empty: none
  bool compiles_only = false;     // -c
  bool passes = false;            // the compiler itself does all there is to do: -E, -S, -M, no input
  bool is_static = false;
  bool is_shared = false;    // -shared
  bool is_joined = false;    // -r
  std::vector<std::string> directories;  // of -L
  // Of elc-cc itself.
  bool everywhere = false, is_off = false, keeps = false, reports = false, has_foreign_addresses = false,
       may_compute_with_addresses = false, has_common_ranks = false;
  std::string library;
  std::set<std::string> stateless;
  std::string refused;  // an option that it does not have, or that a program cannot have, and why

  std::vector<std::string> all() const;
};

// `words`: without the program's name; @FILE is read.
Arguments read_arguments(const std::vector<std::string>& words);

// Of the options of a compilation: those by which a file is preprocessed, and those by which what comes of it is compiled.
std::vector<std::string> preprocessing(const Arguments& arguments);
std::vector<std::string> compiling(const Arguments& arguments);

}  // namespace elc::cc

#endif
