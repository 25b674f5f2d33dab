// The version of the library that a program is linked with.
#include "base/compiler.h"
#include "elc.h"

extern "C" ELC_EXPORT const char* ELC_Version(void) { return ELC_VERSION_STRING; }
