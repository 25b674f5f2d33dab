// Constants of MPI, such as MPI_PROC_NULL: each MPI has numbers of its own for them. A program that keeps one in a variable restarts
// only where the number is the same, so that it has to be seen; but in preprocessed text it is a number like others. So a header
// takes the place of mpi.h, which includes that and makes constants of an enumeration of them.
#ifndef ELC_CC_NUMBERS_H
#define ELC_CC_NUMBERS_H

#include <string>
#include <vector>

namespace elc::cc {

// Preprocessed text with the letters of names that GCC's preprocessor writes as numbers (\U000000e9): clang names them by letters, and a name
// in the text is known by what clang says.
std::string with_letters(const std::string& text);

// Preprocessed text with what macros stand for among the values of `#pragma elc union`, where preprocessors expand none.
std::string with_values_of_macros(const std::string& text, const std::string& macros);

// The header, for a compiler that has these macros (-E -dM). Empty: none of them is of MPI.
std::string header_of_numbers(const std::string& macros);

// Text that was preprocessed with the header may have names in its strings: a macro makes strings of what it is given, as assert does.
bool are_in_strings(const std::string& named);
// It with the strings of what was preprocessed without the header. Empty: they are not the same program, or a string is such a number
// and nothing else, which the program may read from it.
std::string with_strings_of(const std::string& plain, const std::string& named);

// What comes behind the text of a program that could not be preprocessed with the header: of each constant it may have the number.
std::string any_of_numbers(const std::string& header);
std::string any_number();  // what number_named() calls that

// Of a constant of an enumeration: that of MPI which it is, or empty.
std::string number_named(const std::string& enumerator);

// The constants, or what their names begin with, and sizes, that a function of MPI gives to a program in integers.
struct Given {
  std::vector<std::string> names;
  bool is_seen = false;  // when it does so, by what takes its place (ELC_Program_cart_shift and the like)
};
const Given& given_by(const std::string& function);

}  // namespace elc::cc

#endif
