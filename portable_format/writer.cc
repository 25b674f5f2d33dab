#include "portable_format/writer.h"

#include <stdio.h>

#include "base/hash_map.h"
#include "portable_format/checksum.h"
#include "portable_format/integer.h"
#include "portable_format/place.h"

namespace elc::format {
namespace {

constexpr uint64_t kOwnChunk = 256 * 1024;  // a value of so many bytes begins a chunk

}  // namespace

Writer::Writer(const TypeTable* types, Sink sink, const WriterOptions& options)
    : types_(types),
      sink_(sink),
      representation_(options.representation == nullptr ? Representation::here() : *options.representation),
      encoder_(
          [](void* writer, const void* data, size_t size) { static_cast<Writer*>(writer)->put(data, size); },
          this),
      buffer_(options.buffer) {
  plans_.reset(types, representation_, Direction::kToFile);
  if (buffer_ == nullptr) {
    own_buffer_.resize(kChunkSize);
    buffer_ = own_buffer_.data();
  }
  Bytes header;
  Encoder out(&header);
  header.append(kFileMagic, sizeof kFileMagic);
  out.u32(kMajorVersion);
  out.u32(kMinorVersion);
  Bytes machine;
  Encoder describe(&machine);
  representation_.encode(describe);
  out.u32(static_cast<uint32_t>(header.size() + 4 + machine.size() + 4));
  header.append(machine.data(), machine.size());
  out.u32(crc32_of(header.data(), header.size()));
  send(header.data(), header.size());
}

void Writer::fail(Result status) {
  if (status_.ok()) status_ = std::move(status);
}

Result Writer::error() const { return status_; }

void Writer::begin_section(const char* name, bool may_be_in_pieces) {
  if (open_) end_section();
  bool known = strcmp(name, "types") == 0 || strcmp(name, "bases") == 0;
  for (const SectionEntry& s : sections_) known |= strcmp(name, s.name) == 0;
  if (known || !section_name_allowed(name)) {
    fail(Result::error("a section cannot be named `%.100s`", name));
    return;
  }
  begin_own_section(name);
  if (pieces_ == nullptr || !may_be_in_pieces) return;
  sections_.back().in_pieces = true;
  most_ = kPieceSize;
}

void Writer::begin_own_section(const char* name) {
  SectionEntry entry;
  strcpy(entry.name, name);  // it fits, being allowed
  sections_.push_back(std::move(entry));
  section_size_ = 0;
  most_ = kChunkSize;
  unwritten_ = 0;
  open_ = true;
}

void Writer::end_section() {
  cut();
  while (status_.ok() && compressor_ != nullptr && !compressor_->empty()) write_chunk(compressor_->take());
  open_ = false;
}

void Writer::cut() {
  if (used_ > 0) emit(buffer_, used_, prevailing_width(), false);
  used_ = 0;
  memset(of_width_, 0, sizeof of_width_);
}

void Writer::cut_before(uint64_t id, uint64_t size) {
  constexpr size_t kHalf = kPieceSize / 2;
  const bool in_pieces = open_ && sections_.back().in_pieces;
  if (in_pieces ? size >= kHalf || (used_ >= kHalf && mix64(id) % kHalf < size) : size >= kOwnChunk) cut();
}

void Writer::end_piece() {
  if (open_ && sections_.back().in_pieces) cut();
}

// Of packed leaves of these widths: what divides all.
void Writer::fits_width(uint32_t widths) {
  for (width_ = 0; width_ < 3 && (widths >> width_ & 1) == 0;) ++width_;
}

size_t Writer::prevailing_width() const {
  size_t most = 0;
  for (size_t i = 1; i < 4; ++i)
    if (of_width_[i] >= of_width_[most]) most = i;
  return size_t{1} << most;
}

void Writer::text(std::string_view name) {
  if (name.size() > kMaxText)
    fail(Result::error("a name has %zu bytes, and a file takes %zu: %.100s...", name.size(), kMaxText, name.data()));
  encoder_.string(name);
}

void Writer::put(const void* data, size_t size, bool stays) {
  if (!open_) return fail(Result::error("data outside of a section"));
  const uint8_t* from = static_cast<const uint8_t*>(data);
  section_size_ += size;
  while (size > 0) {
    if (size >= most_) {  // straight from the program's memory
      cut();
      emit(from, most_, size_t{1} << width_, stays);
      from += most_;
      size -= most_;
      continue;
    }
    const size_t piece = size < most_ - used_ ? size : most_ - used_;
    memcpy(buffer_ + used_, from, piece);
    used_ += piece;
    of_width_[width_] += piece;
    from += piece;
    size -= piece;
    if (used_ == most_) cut();
  }
}

// A place in the index for a chunk, in the order of the section; what is compressed meanwhile fills its own later.
ChunkEntry* Writer::next_entry() {
  SectionEntry& section = sections_.back();
  if (!section.chunks.make_room(1)) {
    fail(no_memory(sizeof(ChunkEntry), "the file's index"));
    return nullptr;
  }
  return &section.chunks.push_back({});
}

// Whether another file has this piece.
bool Writer::refer(const uint8_t* data, size_t size) {
  ChunkEntry entry;
  if (!pieces_->find(data, size, &entry)) return false;
  ChunkEntry* const next = next_entry();
  if (next == nullptr) return true;
  *next = entry;
  sections_.back().size += size;
  return true;
}

void Writer::emit(const uint8_t* data, size_t size, size_t width, bool stays) {
  if (!status_.ok() || (sections_.back().in_pieces && refer(data, size)) || next_entry() == nullptr) return;
  if (compressor_ != nullptr) {
    if (status_.ok() && compressor_->full()) write_chunk(compressor_->take());
    if (status_.ok()) compressor_->put(data, size, width, stays);
    return;
  }
  const uint32_t length = static_cast<uint32_t>(size);
  if (status_.ok()) write_chunk({data, length, length, 0, crc32_of(data, size)});
}

void Writer::write_chunk(const Packed& packed) {
  if (packed.payload == nullptr) fail(Result::error("a descriptor of the library's was closed while a chunk was compressed"));
  if (!status_.ok()) return;
  SectionEntry& section = sections_.back();
  while (section.chunks[unwritten_].raw != 0) ++unwritten_;
  ChunkEntry& chunk = section.chunks[unwritten_];
  chunk.offset = file_size_;
  chunk.raw = packed.raw;
  chunk.stored = packed.stored;
  chunk.flags = packed.flags;
  chunk.checksum = packed.checksum;
  Bytes header;
  Encoder out(&header);
  out.u32(kChunkMagic);
  out.u32(static_cast<uint32_t>(sections_.size() - 1));
  out.u64(unwritten_);
  out.u32(chunk.stored);
  out.u32(chunk.raw);
  out.u32(chunk.flags);
  out.u32(chunk.checksum);
  out.u32(crc32_of(header.data(), header.size()));
  send(header.data(), header.size());
  send(packed.payload, chunk.stored);
  section.size += packed.raw;
}

void Writer::send(const void* data, size_t size) {
  if (!status_.ok() || size == 0) return;
  fail(sink_.write(sink_.context, data, size));
  file_size_ += size;
}

Result Writer::write_value(TypeId type, const void* address, uint64_t count, const LeafEncoder& leaves) {
  if (!open_) fail(Result::error("a value outside of a section"));
  if (!types_->known(type)) fail(Result::error("type number %ld is not known", static_cast<long>(type)));
  if (!status_.ok()) return error();
  if (Result status = write_any(type, static_cast<const uint8_t*>(address), count, nullptr, leaves);
      !status.ok())
    fail(std::move(status));
  return error();
}

Result Writer::write_any(TypeId type, const uint8_t* from, uint64_t count, const uint8_t* enclosing,
                         const LeafEncoder& leaves) {
  const Plan* plan = nullptr;
  ELC_TRY(plans_.get(type, *types_, type, &plan));
  if (plan->fixed) {
    fits_width(plan->widths);
    Misfit misfit;
    if (write_fixed(*plan, from, count, leaves, &misfit)) return Result();
    return at_leaf(*types_, type, count, misfit);
  }
  for (uint64_t e = 0; e < count && status_.ok(); ++e, from += plan->memory_size) {
    const Result status = write_fields(type, from, enclosing, leaves);
    if (!status.ok()) return count == 1 ? status : in_element(e, status);
  }
  return Result();
}

Result Writer::write_bits(TypeId type, const uint8_t* of) {
  const Kind kind = types_->info(type).kind;
  const bool is_signed = Representation::here().is_signed[kind];
  const uint64_t bits = static_cast<uint64_t>(types_->accessor(type)->get(of));
  const size_t width = representation_.packed_width(kind);
  if (!integer_fits(bits, is_signed, width, is_signed))
    return Result::error("the bit-field's value %lld does not fit a `%s`, as which it is saved",
                         static_cast<long long>(bits), kind_name(kind));
  uint8_t packed[8];
  store_integer(packed, width, plans_.swaps(), bits);
  put(packed, width);
  return Result();
}

// All fields of a struct, or the active member of a union after its number.
Result Writer::write_fields(TypeId type, const uint8_t* from, const uint8_t* enclosing,
                            const LeafEncoder& leaves) {
  const TypeInfo& info = types_->info(type);
  uint32_t i = 0, end = info.field_count;
  if (info.kind == kUnion) {
    if (enclosing == nullptr) enclosing = from;
    const int active = info.active(from, enclosing);
    if (active < -1 || active >= static_cast<int>(end))
      return Result::error("which member of the union is in use is not known: its function says %d, and there are %u", active, end);
    i = active < 0 ? kNoMember : static_cast<uint32_t>(active);
    uint8_t word[4];
    store_integer(word, 4, plans_.swaps(), i);
    put(word, sizeof word);
    end = active < 0 ? 0 : i + 1;
  } else {
    enclosing = from;
  }
  for (; i < end; ++i) {
    const FieldInfo& field = types_->field(info, i);
    const Result status = types_->accessor(field.type) != nullptr
                              ? write_bits(field.type, from)
                              : write_any(field.type, from + field.offset, field.count, enclosing, leaves);
    if (!status.ok()) return in_field(field.name, status);
  }
  return Result();
}

uint8_t* Writer::room(size_t size, uint8_t* aside) {
  return most_ - used_ >= size ? buffer_ + used_ : aside;
}

void Writer::fill(const uint8_t* at, size_t size) {
  if (at != buffer_ + used_) return put(at, size);
  used_ += size;
  of_width_[width_] += size;
  section_size_ += size;
  if (used_ == most_) cut();
}

bool Writer::write_fixed(const Plan& plan, const uint8_t* from, uint64_t count, const LeafEncoder& leaves,
                         Misfit* misfit) {
  if (plan.plain) {
    put(from, static_cast<size_t>(count * plan.memory_size), true);
    return true;
  }
  const uint8_t* const begin = from;
  if (plan.packed_size > kSmallElement) {
    for (uint64_t e = 0; e < count && status_.ok(); ++e, from += plan.memory_size)
      for (const Run& run : plan.runs) {
        if (write_run(run, from + run.memory, leaves, misfit)) continue;
        misfit->memory += static_cast<uint64_t>(from - begin) + run.memory;
        return false;
      }
    return true;
  }
  uint8_t aside[kSmallElement];
  while (count > 0 && status_.ok()) {
    const uint64_t fitting = (most_ - used_) / plan.packed_size;
    uint64_t n = plan.batch < count ? plan.batch : count;
    if (n > fitting) n = fitting == 0 ? 1 : fitting;
    const size_t size = static_cast<size_t>(n * plan.packed_size);
    uint8_t* to = room(size, aside);
    if (!transfer(plans_, plan, from, to, n, {&leaves, nullptr}, misfit)) {
      misfit->memory += static_cast<uint64_t>(from - begin);
      return false;
    }
    fill(to, size);
    from += n * plan.memory_size;
    count -= n;
  }
  return true;
}

// A run of an element that is too large to be converted as a whole: piece by piece.
bool Writer::write_run(const Run& run, const uint8_t* from, const LeafEncoder& leaves, Misfit* misfit) {
  const Conversion& c = run.conversion;
  if (c.what == Convert::kNested) return write_fixed(plans_.nested(run), from, run.count, leaves, misfit);
  if (c.what == Convert::kCopy) {
    put(from, static_cast<size_t>(run.count * c.from_width), true);
    return true;
  }
  uint8_t aside[32];
  for (uint64_t done = 0; done < run.count && status_.ok();) {
    const uint64_t fitting = (most_ - used_) / c.to_width;
    const uint64_t left = run.count - done;
    const size_t n = static_cast<size_t>(left <= fitting ? left : fitting == 0 ? 1 : fitting);
    uint8_t* to = room(n * c.to_width, aside);
    if (!transfer_run(plans_, run, from + done * c.from_width, 0, to, 0, 1, n, {&leaves, nullptr}, misfit)) {
      misfit->memory += done * c.from_width;
      return false;
    }
    fill(to, n * c.to_width);
    done += n;
  }
  return true;
}

void Writer::hand_over(Encoder& out) const {
  out.u64(file_size_);
  encode_sections(sections_, out);
  for (const SectionEntry& section : sections_) out.boolean(section.in_pieces);
  if (pieces_ != nullptr) pieces_->hand_over(out);
}

Result Writer::take_over(Decoder& in) {
  file_size_ = in.u64();
  sections_.clear();
  for (size_t left = in.count(kIndexEntrySize); left > 0; --left) {
    SectionEntry& section = sections_.push_back({});
    const std::string_view name = in.string();
    if (name.size() >= sizeof section.name) in.fail();
    else name.copy(section.name, name.size());
    section.size = in.u64();
    const size_t chunks = in.count(kIndexEntrySize);
    if (!section.chunks.make_room(chunks)) return no_memory(chunks * sizeof(ChunkEntry), "the file's index");
    for (size_t i = 0; i < chunks; ++i) section.chunks.push_back(decode_chunk(in));
  }
  for (SectionEntry& section : sections_) section.in_pieces = in.boolean();
  if (pieces_ != nullptr) pieces_->take_over(in);
  return in.ok() ? Result() : Result::error("what was written elsewhere cannot be taken over");
}

// The files to which the index refers.
void Writer::write_bases() {
  bool refers = false;
  for (const SectionEntry& section : sections_)
    for (const ChunkEntry& chunk : section.chunks) refers = refers || chunk.elsewhere();
  if (!refers) return;
  begin_own_section("bases");
  encode_bases(pieces_->bases(), encoder_);
  end_section();
}

void Writer::write_types() {
  begin_own_section("types");
  types_->encode(encoder_);
  end_section();
}

void Writer::write_index() {
  Bytes index;
  size_t size = 64;
  for (const SectionEntry& section : sections_) size += 128 + section.chunks.size() * kIndexEntrySize;
  if (!index.make_room(size)) return fail(no_memory(size, "the file's index"));
  Encoder out(&index);
  out.u32(kIndexMagic);
  encode_sections(sections_, out);
  Bytes trailer;
  Encoder end(&trailer);
  end.u32(kTrailerMagic);
  end.u64(file_size_);
  end.u64(index.size());
  end.u64(file_size_ + index.size() + kTrailerSize);
  end.u32(index_checksum_ = crc32_of(index.data(), index.size()));
  end.u32(crc32_of(trailer.data(), trailer.size()));
  send(index.data(), index.size());
  send(trailer.data(), trailer.size());
}

Result Writer::finish() {
  if (open_) end_section();
  write_bases();
  write_types();
  write_index();
  return std::move(status_);
}

}  // namespace elc::format
