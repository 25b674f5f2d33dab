#include "portable_format/reader.h"

#include <zlib.h>

#include "portable_format/checksum.h"
#include "portable_format/compressor.h"

namespace elc::format {
namespace {

unsigned long long number(uint64_t n) { return n; }

bool known(uint32_t flags) {
  const uint32_t width = flags & ~(kChunkDeflated | kElsewhere);
  return width == 0 || ((flags & kChunkDeflated) != 0 && (width == 2 || width == 4 || width == 8));
}

// What tells what a file is, and where its chunks are, is in the file itself.
bool stays_together(const char* section) {
  return strcmp(section, "types") == 0 || strcmp(section, "bases") == 0 || strcmp(section, "label") == 0;
}

// The most that a stored chunk can grow to: deflate's limit is 1032 to 1.
bool plausible(const ChunkEntry& chunk) {
  if (chunk.raw == 0 || chunk.raw > kChunkSize || chunk.stored == 0 || chunk.stored > kChunkSize)
    return false;
  if ((chunk.flags & kChunkDeflated) == 0) return chunk.raw == chunk.stored;
  return chunk.raw <= uint64_t{chunk.stored} * 1032;
}

Result damaged(const char* section, size_t chunk, uint64_t line, const char* what, const char* how) {
  if (line == 0) return Result::error("section `%s`: %s %zu %s", section, what, chunk, how);
  return Result::error("section `%s`: %s %zu, which is in the file of line %llu, %s", section, what, chunk, number(line), how);
}

}  // namespace

Result make_large(size_t size, Bytes* buffer) {
  if (buffer->size() >= size) return Result();
  if (!buffer->make_room(size - buffer->size())) return no_memory(size, "what the file holds");
  buffer->resize(size);
  return Result();
}

Result Reader::open(Source source) {
  source_ = source;
  sections_.clear();
  forget_bases();
  types_ = TypeTable();
  minor_ = 0;
  return explain(read_parts());
}

Result Reader::explain(Result status) const {
  if (status.ok() || status.system_failed() || minor_ <= kMinorVersion) return status;
  return Result::error(
      "%s (the file is of version %u.%u of the format, and this libELC knows %u.%u: use the newer libELC)",
      status.message(), major_, minor_, kMajorVersion, kMinorVersion);
}

Result Reader::read_skeleton() {
  ELC_TRY(read_header());
  return read_index();
}

Result Reader::read_parts() {
  ELC_TRY(read_skeleton());
  if (refers_) ELC_TRY(open_bases());
  plans_.reset(&types_, representation_, Direction::kFromFile);
  return read_types();
}

Result Reader::read_header() {
  constexpr size_t kFirst = 20;  // magic, version, size: the same in all versions
  uint8_t first[kFirst];
  if (source_.size < kFirst + 4 + kTrailerSize)
    return Result::error("not a checkpoint file, or cut short: it has %llu bytes", number(source_.size));
  ELC_TRY(source_.read_at(source_.context, 0, first, sizeof first));
  if (memcmp(first, kFileMagic, sizeof kFileMagic) != 0)
    return Result::error("not a checkpoint file: it does not begin like one");
  Decoder start(first + sizeof kFileMagic, sizeof first - sizeof kFileMagic);
  major_ = start.u32();
  const uint32_t minor = start.u32();
  header_size_ = start.u32();
  if (major_ != kMajorVersion)
    return Result::error(
        "written in version %u of the file format, but this libELC reads version %u: use the newer libELC", major_,
        kMajorVersion);
  if (header_size_ < kFirst + 4 || header_size_ > kMaxHeaderSize ||
      header_size_ > source_.size - kTrailerSize)
    return Result::error("the file's header is damaged (its size)");
  Bytes header;
  header.resize(static_cast<size_t>(header_size_));
  ELC_TRY(source_.read_at(source_.context, 0, header.data(), header.size()));
  const size_t body = header.size() - 4;
  if (Decoder(header.data() + body, 4).u32() != crc32_of(header.data(), body))
    return Result::error("the file's header is damaged (its checksum)");
  minor_ = minor;
  Decoder machine(header.data() + kFirst, body - kFirst);
  return Representation::decode(machine, &representation_);
}

Result Reader::read_index() {
  uint8_t trailer[kTrailerSize];
  const uint64_t trailer_at = source_.size - kTrailerSize;
  ELC_TRY(source_.read_at(source_.context, trailer_at, trailer, sizeof trailer));
  Decoder end(trailer, sizeof trailer);
  const uint32_t magic = end.u32();
  const uint64_t index_at = end.u64(), index_size = end.u64(), file_size = end.u64();
  const uint32_t index_sum = end.u32();
  if (magic != kTrailerMagic || end.u32() != crc32_of(trailer, kTrailerSize - 4))
    return Result::error("the file is cut short or its end is damaged");
  if (file_size != source_.size || index_at < header_size_ || index_at > trailer_at ||
      index_size != trailer_at - index_at || index_size > kMaxBuffer)
    return Result::error("the file has %llu bytes, but it was written with %llu", number(source_.size),
                         number(file_size));
  Bytes index;
  if (!index.make_room(static_cast<size_t>(index_size))) return no_memory(index_size, "the file's index");
  index.resize(static_cast<size_t>(index_size));
  ELC_TRY(source_.read_at(source_.context, index_at, index.data(), index.size()));
  if (crc32_of(index.data(), index.size()) != index_sum) return Result::error("the file's index is damaged");
  index_checksum_ = index_sum;
  Decoder in(index);
  return read_sections(in, index_at);
}

// Chunks lie one after the other, in the order of the index, from the header to the index: no byte of the
// file is outside of what a checksum covers.
Result Reader::read_sections(Decoder& in, uint64_t end) {
  if (in.u32() != kIndexMagic) return Result::error("the file's index does not begin like one");
  const size_t sections = in.count(32);
  if (sections > kMaxSections) return Result::error("the file's index lists too many sections");
  uint64_t at = header_size_;
  refers_ = false;
  for (size_t s = 0; s < sections; ++s) {
    SectionEntry section;
    const std::string_view name = in.string();
    section.size = in.u64();
    const size_t chunks = in.count(kIndexEntrySize);
    if (!section.chunks.make_room(chunks)) return no_memory(chunks * sizeof(ChunkEntry), "the file's index");
    const bool allowed = in.ok() && section_name_allowed(name);
    if (allowed) memcpy(section.name, name.data(), name.size());
    if (!allowed || find(section.name) != kNoSection)
      return Result::error("the file's index has a section without a proper name (number %zu)", s);
    uint64_t size = 0;
    for (size_t i = 0; i < chunks; ++i) {
      const ChunkEntry chunk = decode_chunk(in);
      if (!known(chunk.flags))
        return Result::error("section `%s` is stored in a way that this version does not know", section.name);
      const bool here = !chunk.elsewhere();
      if (!plausible(chunk) || (here ? chunk.offset != at || chunk.stored + kChunkHeaderSize > end - at : stays_together(section.name)))
        return Result::error("section `%s`: the file's index is wrong about chunk %zu", section.name, i);
      if (here) at += chunk.stored + kChunkHeaderSize;
      refers_ = refers_ || !here;
      size += chunk.raw;
      section.chunks.push_back(chunk);
    }
    if (size != section.size)
      return Result::error("section `%s`: the file's index is wrong about its size", section.name);
    sections_.push_back(std::move(section));
  }
  if (!in.ok() || in.left() != 0 || at != end) return Result::error("the file's index does not fit the file");
  return Result();
}

Result Reader::read_types() {
  const size_t s = find("types");
  if (s == kNoSection) return Result::error("the file has no table of types");
  Bytes content;
  ELC_TRY(read_section("types", sections_[s].size, &content));
  Decoder in(content);
  ELC_TRY(TypeTable::decode(in, representation_, &types_));
  return in.left() == 0 ? Result() : Result::error("the file's table of types has something behind it");
}

size_t Reader::find(const char* name) const {
  for (size_t s = 0; s < sections_.size(); ++s)
    if (strcmp(name, sections_[s].name) == 0) return s;
  return kNoSection;
}

uint64_t Reader::section_stored(size_t i) const {
  uint64_t stored = 0;
  for (const ChunkEntry& chunk : sections_[i].chunks) stored += chunk.elsewhere() ? 0 : chunk.stored + kChunkHeaderSize;
  return stored;
}

Reader::Place Reader::place_of(size_t s, size_t i) const {
  const ChunkEntry& chunk = sections_[s].chunks[i];
  if (!chunk.elsewhere()) return {source_, chunk.offset, s, i, 0};
  const Elsewhere place = chunk.place();
  const OpenBase& base = bases_[static_cast<size_t>(place.base)];
  const size_t section = static_cast<size_t>(place.section), number = static_cast<size_t>(place.chunk);
  return {base.reader->source_, base.reader->sections_[section].chunks[number].offset, section, number, base.file.line};
}

Result Reader::read_chunk(size_t s, size_t i, uint8_t* out, Room& room) {
  const char* name = sections_[s].name;
  ChunkEntry& chunk = sections_[s].chunks[i];
  if (chunk.elsewhere() && bases_.empty())
    return Result::error("section `%s`: chunk %zu is in another file, which was not opened", name, i);
  const Place place = place_of(s, i);
  const bool deflated = (chunk.flags & kChunkDeflated) != 0;
  if (deflated) ELC_TRY(make_large(chunk.stored, &room.stored));
  uint8_t* payload = deflated ? room.stored.data() : out;
  ELC_TRY(place.source.read_at(place.source.context, place.offset + kChunkHeaderSize, payload, chunk.stored));
  if (!chunk.verified) {
    uint8_t header[kChunkHeaderSize];
    ELC_TRY(place.source.read_at(place.source.context, place.offset, header, sizeof header));
    Decoder in(header, sizeof header);
    const bool agrees = in.u32() == kChunkMagic && in.u32() == place.section && in.u64() == place.number &&
                        in.u32() == chunk.stored && in.u32() == chunk.raw && in.u32() == (chunk.flags & ~kElsewhere) &&
                        in.u32() == chunk.checksum && in.u32() == crc32_of(header, kChunkHeaderSize - 4);
    if (!agrees) return damaged(name, i, place.line, "the header of chunk", "is damaged");
    if (crc32_of(payload, chunk.stored) != chunk.checksum)
      return damaged(name, i, place.line, "chunk", "is damaged (its checksum)");
  }
  if (deflated) {
    const uint32_t width = chunk.flags & kShuffled;
    if (width > 0) ELC_TRY(make_large(chunk.raw, &room.shuffled));
    uint8_t* const inflated = width > 0 ? room.shuffled.data() : out;
    uLongf length = chunk.raw;
    if (uncompress(inflated, &length, payload, chunk.stored) != Z_OK || length != chunk.raw)
      return damaged(name, i, place.line, "chunk", "cannot be decompressed");
    if (width > 0) unshuffle(inflated, out, chunk.raw, width);
  }
  chunk.verified = true;
  return Result();
}

Result Reader::read_section(const char* name, uint64_t most, Bytes* out) {
  const size_t s = find(name);
  if (s == kNoSection) return no_section(name);
  if (most > kMaxBuffer) most = kMaxBuffer;
  if (sections_[s].size > most)
    return Result::error("section `%s` has %llu bytes; at most %llu were expected", sections_[s].name,
                         number(sections_[s].size), number(most));
  out->clear();
  for (size_t i = 0; i < sections_[s].chunks.size(); ++i) {
    const size_t at = out->size();
    ELC_TRY(make_large(at + sections_[s].chunks[i].raw, out));
    ELC_TRY(read_row(s, i, 1, out->data() + at));
  }
  return Result();
}

}  // namespace elc::format
