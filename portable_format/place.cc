#include "portable_format/place.h"

namespace elc::format {
namespace {

// What comes between a place and the message.
const char* joint(const Result& status) {
  const char first = status.message()[0];
  return first == '.' || first == '[' ? "" : ": ";
}

}  // namespace

Result in_field(const char* name, const Result& status) {
  return Result::caused(status.cause(), ".%.254s%s%s", name, joint(status), status.message());
}

Result in_element(uint64_t index, const Result& status) {
  return Result::caused(status.cause(), "[%llu]%s%s", static_cast<unsigned long long>(index), joint(status), status.message());
}

Result at_leaf(const TypeTable& memory, TypeId type, uint64_t count, const Misfit& misfit) {
  char place[256] = "";
  uint64_t position = 0;
  if (memory.position(type, count, misfit.memory, nullptr, &position))
    memory.place(type, count, leaf_of(position), place, sizeof place);
  if (place[0] == '\0') return misfit.status;
  return Result::caused(misfit.status.cause(), "%s%s%s", place, joint(misfit.status), misfit.status.message());
}

}  // namespace elc::format
