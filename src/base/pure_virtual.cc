// What a C++ library has, and the archive is linked without one: clang that optimises nothing refers to it in the table of
// an interface, where it is never called.
#include <stdlib.h>

#include "base/compiler.h"

#if ELC_HAVE_WEAK
extern "C" ELC_WEAK void __cxa_pure_virtual();
extern "C" void __cxa_pure_virtual() { abort(); }
#endif
