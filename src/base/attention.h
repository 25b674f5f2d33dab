// What keeps calls of MPI from going the short way (mpi/runtime/short_way.h). Bits, of which there is mostly none: who
// makes one of these things so sets its bit.
#ifndef ELC_BASE_ATTENTION_H
#define ELC_BASE_ATTENTION_H

#include <stdint.h>

#include "base/compiler.h"

namespace elc {

inline constexpr uint32_t kPassive = 1;    // the library does not work: before MPI_Init, without ELC_DIR
inline constexpr uint32_t kProtocol = 2;   // messages are not usual to the protocol: a line is open, a replay goes on
inline constexpr uint32_t kLabel = 4;      // the next call may have a label
inline constexpr uint32_t kThreads = 8;    // the program may call from several threads
inline constexpr uint32_t kErrors = 16;    // an error need not end the program: it may return, or call it back
inline constexpr uint32_t kFromFortran = 32;  // it is looked whether MPI's routine for Fortran calls a function that is followed

ELC_HIDDEN extern uint32_t attention;

// So many calls may still go the short way before one has to look around; below 0: none. Never more where there is a bit.
ELC_HIDDEN extern int32_t short_calls;
inline constexpr int32_t kNoShortCalls = INT32_MIN / 2;

inline void attend(uint32_t to, bool is) {
  attention = is ? attention | to : attention & ~to;
  if (attention != 0) short_calls = kNoShortCalls;
}

}  // namespace elc

#endif
