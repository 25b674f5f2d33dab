/* libstdc++ as it is configured for the GNU C library, with musl's headers: enough for what is header alone. It has a
 * file of this name for every C library. */
#ifndef ELC_TESTS_OS_DEFINES_H
#define ELC_TESTS_OS_DEFINES_H

#endif
