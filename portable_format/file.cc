#include "portable_format/file.h"

namespace elc::format {

void encode_sections(const Vector<SectionEntry>& sections, Encoder& out) {
  out.u64(sections.size());
  for (const SectionEntry& section : sections) {
    out.string(section.name);
    out.u64(section.size);
    out.u64(section.chunks.size());
    for (const ChunkEntry& chunk : section.chunks) {
      out.u64(chunk.offset);
      out.u32(chunk.stored);
      out.u32(chunk.raw);
      out.u32(chunk.flags);
      out.u32(chunk.checksum);
    }
  }
}

ChunkEntry decode_chunk(Decoder& in) {
  ChunkEntry chunk;
  chunk.offset = in.u64();
  chunk.stored = in.u32();
  chunk.raw = in.u32();
  chunk.flags = in.u32();
  chunk.checksum = in.u32();
  return chunk;
}

bool section_name_allowed(std::string_view name) {
  if (name.empty() || name.size() > kMaxSectionName) return false;
  for (const char c : name)
    if (static_cast<uint8_t>(c) <= 0x20 || static_cast<uint8_t>(c) >= 0x7f) return false;
  return true;
}

Result no_section(const char* name) { return Result::error("the file has no section `%.100s`", name); }

}  // namespace elc::format
