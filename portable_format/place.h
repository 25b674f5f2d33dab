// Messages that name the place of a leaf.
#ifndef ELC_FORMAT_PLACE_H
#define ELC_FORMAT_PLACE_H

#include "base/status.h"

namespace elc::format {

// Puts a place before a message that may begin with a place inside that one: "[3]" and ".x: why" make
// "[3].x: why".
inline Status at_place(const char* place, const Status& status) {
  const char* message = status.message();
  const bool joined = place[0] == '\0' || message[0] == '.' || message[0] == '[';
  return Status::error("%s%s%s", place, joined ? "" : ": ", message);
}

}  // namespace elc::format

#endif
