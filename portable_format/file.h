// The skeleton of a checkpoint file: header, chunks, index, trailer. FORMAT.md is its specification.
#ifndef ELC_FORMAT_FILE_H
#define ELC_FORMAT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <string_view>

#include "base/result.h"
#include "base/vector.h"
#include "base/wire.h"

namespace elc::format {

constexpr uint32_t kMajorVersion = 1;  // a reader refuses a higher one
constexpr uint32_t kMinorVersion = 6;  // additions that an old reader can pass over
constexpr uint8_t kFileMagic[8] = {0x89, 'E', 'L', 'C', '\r', '\n', 0x1a, '\n'};
constexpr uint32_t kChunkMagic = 0x454c4363;    // "ELCc"
constexpr uint32_t kIndexMagic = 0x454c4369;    // "ELCi"
constexpr uint32_t kTrailerMagic = 0x454c4374;  // "ELCt"
constexpr size_t kChunkSize = size_t{1} << 20;  // most raw bytes in a chunk
constexpr size_t kChunkHeaderSize = 36;
constexpr size_t kIndexEntrySize = 24;  // of a chunk
constexpr size_t kTrailerSize = 36;
constexpr size_t kMaxHeaderSize = 65536;
constexpr size_t kMaxSectionName = 63;  // printable ASCII without blanks
// Nothing larger is held in memory in one piece: sizes of files may exceed those of memory.
constexpr uint64_t kMaxBuffer = SIZE_MAX / 4;
constexpr size_t kMaxSections = 4096;
constexpr uint32_t kChunkDeflated = 1;  // flag: the payload is a zlib stream (RFC 1950)
// Flags: of bytes that were shuffled before, as elements of so many bytes; one of them, and only with the one before.
constexpr uint32_t kShuffled = 2 | 4 | 8;
constexpr uint32_t kElsewhere = 16;  // flag, of an entry of the index alone: the chunk is in another file
constexpr size_t kMaxBases = 65535;  // other files that a file refers to

// A chunk in another file: which of those that this one refers to, and the numbers of section and chunk there.
struct Elsewhere {
  uint64_t base, section, chunk;
};

struct ChunkEntry {
  uint64_t offset = 0;  // of the chunk's header in the file
  uint32_t stored = 0;  // bytes of payload in the file
  uint32_t raw = 0;     // bytes of the section
  uint32_t flags = 0;
  uint32_t checksum = 0;  // CRC-32 of the payload as stored
  bool verified = false;

  bool elsewhere() const { return (flags & kElsewhere) != 0; }
  Elsewhere place() const { return {offset >> 48, offset >> 32 & 0xffff, offset & 0xffffffff}; }
  void refer_to(const Elsewhere& to) {
    offset = to.base << 48 | to.section << 32 | to.chunk;
    flags |= kElsewhere;
  }
};

// A file that another one refers to: that of the same process in the line, told by its size and the checksum of its index.
struct Base {
  uint64_t line = 0;
  uint64_t size = 0;
  uint32_t checksum = 0;
};

struct SectionEntry {
  char name[kMaxSectionName + 1] = {};
  uint64_t size = 0;  // raw bytes
  Vector<ChunkEntry> chunks;
  bool in_pieces = false;  // a writer's: its chunks may be in other files
};

constexpr uint32_t kNoMember = ~uint32_t{0};  // in place of a union's member

// As the index has them (FORMAT.md, sections<>).
void encode_sections(const Vector<SectionEntry>& sections, Encoder& out);
ChunkEntry decode_chunk(Decoder& in);

void encode_bases(const Vector<Base>& bases, Encoder& out);

bool section_name_allowed(std::string_view name);
Result no_section(const char* name);  // the error that the file has none

}  // namespace elc::format

#endif
