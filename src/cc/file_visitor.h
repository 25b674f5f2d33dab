// What becomes of the uses of things in a file: strings that pointers lead to, static locals, functions that are replaced or refuse lines,
// memory that is converted.
#ifndef ELC_CC_FILE_VISITOR_H
#define ELC_CC_FILE_VISITOR_H

#include <memory>

#include "cc/visitor.h"

namespace elc::cc {

class Module;

// Changes the module for whatever it goes over.
std::unique_ptr<Visitor> visitor_of_file(Module& module);

}  // namespace elc::cc

#endif
