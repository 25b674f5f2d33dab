#include "portable_format/file.h"

#include <zlib.h>

namespace elc::format {

bool section_name_allowed(std::string_view name) {
  if (name.empty() || name.size() > kMaxSectionName) return false;
  for (const char c : name)
    if (static_cast<uint8_t>(c) <= 0x20 || static_cast<uint8_t>(c) >= 0x7f) return false;
  return true;
}

Status no_section(const char* name) { return Status::error("the file has no section `%.100s`", name); }

uint32_t crc32_of(const void* data, size_t size, uint32_t before) {
  const Bytef* at = static_cast<const Bytef*>(data);
  uLong sum = before;
  while (size > 0) {  // zlib counts in uInt
    const size_t piece = size < (size_t{1} << 30) ? size : size_t{1} << 30;
    sum = crc32(sum, at, static_cast<uInt>(piece));
    at += piece;
    size -= piece;
  }
  return static_cast<uint32_t>(sum);
}

}  // namespace elc::format
