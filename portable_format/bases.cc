// The other files that a file refers to: FORMAT.md, "Chunks in other files".
#include "base/memory.h"
#include "portable_format/reader.h"

namespace elc::format {
namespace {

constexpr uint32_t kBasesLayout = 1;
constexpr size_t kBaseSize = 20;  // in the file

unsigned long long number(uint64_t n) { return n; }

}  // namespace

void encode_bases(const Vector<Base>& bases, Encoder& out) {
  out.u32(kBasesLayout);
  out.u64(bases.size());
  for (const Base& base : bases) {
    out.u64(base.line);
    out.u64(base.size);
    out.u32(base.checksum);
  }
}

Reader::~Reader() { forget_bases(); }

void Reader::forget_bases() {
  for (OpenBase& base : bases_) destroy(base.reader);
  bases_.clear();
}

// Those that no chunk is in are not looked at: they need not be there any more.
Result Reader::open_bases() {
  ELC_TRY(list_bases());
  for (SectionEntry& section : sections_) {
    for (size_t i = 0; i < section.chunks.size(); ++i) {
      if (!section.chunks[i].elsewhere()) continue;
      const Elsewhere place = section.chunks[i].place();
      if (place.base >= bases_.size())
        return Result::error("section `%s`: the file's index is wrong about chunk %zu", section.name, i);
      OpenBase& base = bases_[static_cast<size_t>(place.base)];
      if (base.reader == nullptr) ELC_TRY(open_base(base));
      ELC_TRY(base.reader->check_has(section.chunks[i], base.file.line));
    }
  }
  return Result();
}

Result Reader::list_bases() {
  const size_t s = find("bases");
  if (s == kNoSection) return Result::error("the file does not say in which files its chunks are");
  Bytes content;
  ELC_TRY(read_section("bases", 4 + 8 + kMaxBases * kBaseSize, &content));
  Decoder in(content);
  if (in.u32() != kBasesLayout) return Result::error("section `bases` has a layout that this version does not know");
  const size_t count = in.count(kBaseSize);
  if (!bases_.make_room(count)) return no_memory(count * sizeof(OpenBase), "the files that the file refers to");
  for (size_t i = 0; i < count; ++i) {
    OpenBase base;
    base.file.line = in.u64();
    base.file.size = in.u64();
    base.file.checksum = in.u32();
    bases_.push_back(base);
  }
  return in.ok() && in.left() == 0 ? Result() : Result::error("section `bases` is damaged");
}

Result Reader::open_base(OpenBase& base) {
  if (source_.open_base == nullptr)
    return Result::error("parts of it are in the file of line %llu, which is not at hand here", number(base.file.line));
  Source source;
  ELC_TRY(source_.open_base(source_.context, base.file.line, &source));
  void* const memory = try_allocate(sizeof(Reader));
  if (memory == nullptr) return no_memory(sizeof(Reader), "a file that the file refers to");
  base.reader = new (memory) Reader;
  base.reader->source_ = source;
  Result status = base.reader->read_skeleton();
  if (status.ok() && (source.size != base.file.size || base.reader->index_checksum_ != base.file.checksum ||
                      !(base.reader->representation_ == representation_)))
    status = Result::error("it is another one now");
  if (status.ok() || status.system_failed()) return status;
  return Result::error("parts of it are in the file of line %llu, which cannot be used: %s", number(base.file.line), status.message());
}

Result Reader::check_has(const ChunkEntry& wanted, uint64_t line) const {
  const Elsewhere place = wanted.place();
  if (place.section < sections_.size() && place.chunk < sections_[static_cast<size_t>(place.section)].chunks.size()) {
    const ChunkEntry& there = sections_[static_cast<size_t>(place.section)].chunks[static_cast<size_t>(place.chunk)];
    if (there.stored == wanted.stored && there.raw == wanted.raw && there.checksum == wanted.checksum &&
        (there.flags | kElsewhere) == wanted.flags && !there.elsewhere())
      return Result();
  }
  return Result::error("a chunk of it is said to be in the file of line %llu, and is not", number(line));
}

}  // namespace elc::format
