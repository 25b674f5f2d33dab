#include "portable_format/file.h"

namespace elc::format {

bool section_name_allowed(std::string_view name) {
  if (name.empty() || name.size() > kMaxSectionName) return false;
  for (const char c : name)
    if (static_cast<uint8_t>(c) <= 0x20 || static_cast<uint8_t>(c) >= 0x7f) return false;
  return true;
}

Result no_section(const char* name) { return Result::error("the file has no section `%.100s`", name); }

}  // namespace elc::format
