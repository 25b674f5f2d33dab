// Variables of object files.
#ifndef ELC_CC_APART_H
#define ELC_CC_APART_H

#include <string>

namespace elc::cc {

// Of an object file whose variables have a section each (-fdata-sections): each gets a byte more behind it, which is nobody's, so that where
// one ends no other one begins, and a pointer to there leads to no other one in a line. What is no such file stays as it is; so it does
// where the bytes are damaged.
void set_apart(std::string* object);

}  // namespace elc::cc

#endif
