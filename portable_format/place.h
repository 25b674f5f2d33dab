// Messages that name the place of a leaf.
#ifndef ELC_FORMAT_PLACE_H
#define ELC_FORMAT_PLACE_H

#include "base/status.h"
#include "portable_format/plan.h"

namespace elc::format {

// These put a place before a message that may begin with a place inside that one: "[3]" and ".x: why" make
// "[3].x: why".
Status in_field(const char* name, const Status& status);
Status in_element(uint64_t index, const Status& status);
// The leaf of `count` elements in memory that could not be converted.
Status at_leaf(const TypeTable& memory, TypeId type, uint64_t count, const Misfit& misfit);

}  // namespace elc::format

#endif
