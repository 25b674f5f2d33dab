// Messages that name the place of a leaf.
#ifndef ELC_FORMAT_PLACE_H
#define ELC_FORMAT_PLACE_H

#include "base/result.h"
#include "portable_format/plan.h"

namespace elc::format {

// These put a place before a message that may begin with a place inside that one: "[3]" and ".x: why" make
// "[3].x: why".
Result in_field(const char* name, const Result& status);
Result in_element(uint64_t index, const Result& status);
// The leaf of `count` elements in memory that could not be converted.
Result at_leaf(const TypeTable& memory, TypeId type, uint64_t count, const Misfit& misfit);

}  // namespace elc::format

#endif
