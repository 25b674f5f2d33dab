#include <stdio.h>

#include "portable_format/integer.h"
#include "portable_format/place.h"
#include "portable_format/reader.h"

namespace elc::format {

Result Cursor::open(Reader* reader, const char* section) {
  *this = Cursor();
  const size_t s = reader->find(section);
  if (s == Reader::kNoSection) {
    fail(no_section(section));
    return status();
  }
  reader_ = reader;
  section_ = s;
  size_ = left_ = reader->sections_[s].size;
  return Result();
}

Result Cursor::status() const { return failed_; }

// After it nothing is left, so that every loop that waits for data ends.
void Cursor::fail(Result status) {
  if (status.ok() || !failed_.ok()) return;
  failed_ = std::move(status);
  left_ = used_ = filled_ = 0;
}

Result Cursor::finish() {
  if (ok() && left_ > 0)
    fail(Result::error("section `%s` has %llu bytes that nothing reads", reader_->section_name(section_),
                       static_cast<unsigned long long>(left_)));
  return status();
}

bool Cursor::fill() {
  if (used_ < filled_) return true;
  if (left_ == 0) {
    if (ok())
      fail(Result::error("section `%s` ends too early",
                         reader_ == nullptr ? "" : reader_->section_name(section_)));
    return false;
  }
  const size_t raw = reader_->sections_[section_].chunks[chunk_].raw;
  fail(make_large(raw, &buffer_));
  if (ok()) fail(reader_->read_row(section_, chunk_, 1, buffer_.data()));
  if (!ok()) return false;
  filled_ = raw;
  used_ = 0;
  ++chunk_;
  return true;
}

void Cursor::bytes(void* out, size_t size) {
  uint8_t* to = static_cast<uint8_t*>(out);
  while (size > 0) {
    const size_t whole = used_ == filled_ && left_ > 0 ? reader_->row(section_, chunk_, size) : 0;
    if (whole > 0) {  // straight to where they belong
      const size_t raw = whole * reader_->sections_[section_].chunks[chunk_].raw;
      fail(reader_->read_row(section_, chunk_, whole, to));
      if (!ok()) break;
      chunk_ += whole;
      left_ -= raw;
      to += raw;
      size -= raw;
      continue;
    }
    if (!fill()) break;
    const size_t piece = size < filled_ - used_ ? size : filled_ - used_;
    memcpy(to, buffer_.data() + used_, piece);
    used_ += piece;
    left_ -= piece;
    to += piece;
    size -= piece;
  }
  if (!ok()) memset(to, 0, size);
}

const uint8_t* Cursor::take(size_t size) {
  if (filled_ - used_ >= size) {
    const uint8_t* at = buffer_.data() + used_;
    used_ += size;
    left_ -= size;
    return at;
  }
  for (size_t i = 0; i < size;) {
    const size_t piece = fill() ? (size - i < filled_ - used_ ? size - i : filled_ - used_) : 0;
    if (piece == 0) {
      memset(gathered_, 0, sizeof gathered_);
      break;
    }
    memcpy(gathered_ + i, buffer_.data() + used_, piece);
    used_ += piece;
    left_ -= piece;
    i += piece;
  }
  return gathered_;
}

Result Cursor::skip(uint64_t size) {
  if (ok() && size > left_)
    fail(Result::error("section `%s` ends too early",
                       reader_ == nullptr ? "" : reader_->section_name(section_)));
  while (ok() && size > 0) {
    const bool buffered = used_ < filled_;
    const uint64_t here = buffered ? filled_ - used_ : reader_->sections_[section_].chunks[chunk_].raw;
    if (!buffered && size < here) {
      fill();
      continue;
    }
    const uint64_t piece = size < here ? size : here;
    if (buffered)
      used_ += static_cast<size_t>(piece);
    else
      ++chunk_;
    left_ -= piece;
    size -= piece;
  }
  return status();
}

uint32_t Cursor::u32() { return Decoder(take(4), 4).u32(); }
uint64_t Cursor::u64() { return Decoder(take(8), 8).u64(); }

bool Cursor::boolean() {
  const uint32_t value = u32();
  if (value > 1) fail(Result::error("a truth value of the file is %lu", static_cast<unsigned long>(value)));
  return value == 1;
}

uint64_t Cursor::count(uint64_t least) {
  const uint64_t n = u64();
  if (!ok() || least == 0 || n <= left_ / least) return ok() ? n : 0;
  fail(Result::error("section `%s` cannot hold the %llu things that it announces",
                     reader_->section_name(section_), static_cast<unsigned long long>(n)));
  return 0;
}

uint64_t Cursor::opaque_begin() { return count(1); }

void Cursor::opaque_end(uint64_t length) {
  if (length % 4 != 0) take(4 - length % 4);
}

void Cursor::opaque(Bytes* out, uint64_t most) {
  out->clear();
  const uint64_t length = opaque_begin();
  if (most > kMaxBuffer) most = kMaxBuffer;
  if (length > most) {
    fail(Result::error("section `%s`: a string has %llu bytes, at most %llu were expected",
                       reader_->section_name(section_), static_cast<unsigned long long>(length),
                       static_cast<unsigned long long>(most)));
    return;
  }
  // Grows as the data come: a length alone allocates nothing large.
  for (uint64_t done = 0; done < length && ok();) {
    const uint64_t piece = length - done < kChunkSize ? length - done : kChunkSize;
    fail(make_large(static_cast<size_t>(done + piece), out));
    if (ok()) bytes(out->data() + done, static_cast<size_t>(piece));
    done += piece;
  }
  opaque_end(length);
  if (!ok()) out->clear();
}

std::string_view Cursor::string(uint64_t most) {
  opaque(&string_, most);
  return {reinterpret_cast<const char*>(string_.data()), string_.size()};
}

bool Cursor::enough(TypeId from, uint64_t count) {
  const TypeTable& types = reader_->types_;
  if (!types.known(from))
    fail(Result::error("the file does not define type number %ld", static_cast<long>(from)));
  else if (count > left_ / types.info(from).packed)
    fail(Result::error("section `%s` is too short for %llu elements of type `%s`",
                       reader_->section_name(section_), static_cast<unsigned long long>(count),
                       types.info(from).name));
  return ok();
}

Result Cursor::skip_value(TypeId from, uint64_t count) {
  if (ok()) skip_any(from, count);
  return status();
}

// Only unions have to be looked at: how large one is depends on its member.
void Cursor::skip_any(TypeId type, uint64_t count) {
  if (!enough(type, count)) return;
  const TypeInfo& info = reader_->types_.info(type);
  if (!info.walked) return fail(skip(count * info.packed));
  const std::span<const FieldInfo> fields = reader_->types_.fields(type);
  for (; count > 0 && ok(); --count) {
    const uint32_t member = info.kind == kUnion ? member_index(type) : kNoMember;
    if (member != kNoMember) skip_any(fields[member].type, fields[member].count);
    if (info.kind == kUnion) continue;
    for (const FieldInfo& field : fields)
      if (ok()) skip_any(field.type, field.count);
  }
}

Result Cursor::read_value(TypeId from, const TypeTable& memory, TypeId to, void* address, uint64_t count,
                          const LeafDecoder& leaves) {
  if (ok() && enough(from, count))
    fail(read_any(from, memory, to, static_cast<uint8_t*>(address), count, leaves));
  return status();
}

Result Cursor::check_value(TypeId from, const TypeTable& memory, TypeId to, uint64_t count,
                           const LeafDecoder& leaves) {
  if (ok() && enough(from, count)) fail(read_any(from, memory, to, nullptr, count, leaves));
  return status();
}

Result Cursor::read_any(TypeId from, const TypeTable& memory, TypeId to, uint8_t* out, uint64_t count,
                        const LeafDecoder& leaves) {
  const Plan* plan = nullptr;
  ELC_TRY(reader_->plans_.get(from, memory, to, &plan));
  if (plan->fixed) {
    if (count > left_ / plan->packed_size) enough(from, count);
    Misfit misfit;
    if (!ok() || read_fixed(*plan, out, count, leaves, &misfit)) return status();
    return at_leaf(memory, to, count, misfit);
  }
  for (uint64_t e = 0; e < count && ok(); ++e) {
    uint8_t* element = out == nullptr ? nullptr : out + e * plan->memory_size;
    const Result status = read_fields(from, memory, to, element, leaves);
    if (!status.ok()) return count == 1 ? status : in_element(e, status);
  }
  return status();
}

uint32_t Cursor::member_index(TypeId from) {
  const uint32_t index = static_cast<uint32_t>(load_integer(take(4), 4, reader_->plans_.swaps(), false));
  if (ok() && index != kNoMember && index >= reader_->types_.info(from).field_count)
    fail(Result::error("the file names member %lu of union `%s`, which has %u",
                       static_cast<unsigned long>(index), reader_->types_.info(from).name,
                       reader_->types_.info(from).field_count));
  return ok() ? index : kNoMember;
}

// A bit-field of the struct at `of`; with nullptr, of one that is only there to see whether the value fits.
Result Cursor::read_bits(TypeId from, const Accessor& accessor, uint8_t* of, uint64_t size) {
  const Representation& writer = reader_->representation();
  const Kind kind = reader_->types_.info(from).kind;
  const size_t width = writer.packed_width(kind);
  const auto value = static_cast<int64_t>(
      load_integer(take(width), width, reader_->plans_.swaps(), writer.is_signed[kind]));
  if (!ok()) return status();
  if (is_handle(kind) && of == nullptr) return Result();  // what it stands for is there when the data are put back
  uint8_t* aside = of == nullptr ? static_cast<uint8_t*>(allocate(static_cast<size_t>(size))) : nullptr;
  if (aside != nullptr) of = static_cast<uint8_t*>(memset(aside, 0, static_cast<size_t>(size)));
  accessor.set(of, value);
  const int64_t kept = accessor.get(of);
  release(aside);
  if (kept == value) return Result();
  if (is_handle(kind)) return Result::error("it holds a handle of something that the line does not have");
  return Result::error("the value %lld does not fit the bit-field, which makes %lld of it", static_cast<long long>(value),
                       static_cast<long long>(kept));
}

// All fields of a struct, or the member of a union that the file has.
Result Cursor::read_fields(TypeId from, const TypeTable& memory, TypeId to, uint8_t* out,
                           const LeafDecoder& leaves) {
  const std::span<const FieldInfo> file = reader_->types_.fields(from), here = memory.fields(to);
  size_t i = 0, end = here.size();
  if (memory.info(to).kind == kUnion) {
    i = member_index(from);
    end = i == kNoMember ? 0 : i + 1;
  }
  for (; i < end; ++i) {
    uint8_t* field = out == nullptr ? nullptr : out + here[i].offset;
    const Accessor* accessor = memory.accessor(here[i].type);
    const Result status = accessor != nullptr
                              ? read_bits(file[i].type, *accessor, out, memory.info(to).size)
                              : read_any(file[i].type, memory, here[i].type, field, here[i].count, leaves);
    if (!status.ok()) return in_field(here[i].name, status);
  }
  return status();
}

// An error of the file is the cursor's own (ok() is false, and the result is true); false is a misfit.
bool Cursor::read_fixed(const Plan& plan, uint8_t* out, uint64_t count, const LeafDecoder& leaves,
                        Misfit* misfit) {
  if (plan.plain || (out == nullptr && !plan.can_fail)) {
    if (out == nullptr)
      fail(skip(count * plan.packed_size));
    else
      bytes(out, static_cast<size_t>(count * plan.packed_size));
    return true;
  }
  uint8_t aside[kSmallElement];
  uint8_t* to = out;
  for (uint64_t done = 0; done < count && ok();) {
    bool fine = true;
    uint64_t n = 1;
    if (plan.packed_size > kSmallElement) {
      for (size_t r = 0; r < plan.runs.size() && fine && ok(); ++r) {
        const Run& run = plan.runs[r];
        fine = read_run(run, out == nullptr ? nullptr : to + run.memory, leaves, misfit);
        if (!fine) misfit->memory += run.memory;
      }
    } else if (fill() && filled_ - used_ < plan.packed_size) {
      bytes(aside, static_cast<size_t>(plan.packed_size));
      if (ok()) fine = transfer(reader_->plans_, plan, aside, to, 1, {nullptr, &leaves}, misfit);
    } else if (ok()) {
      n = (filled_ - used_) / plan.packed_size;
      if (n > plan.batch) n = plan.batch;
      if (n > count - done) n = count - done;
      fine =
          transfer(reader_->plans_, plan, take_many(n * plan.packed_size), to, n, {nullptr, &leaves}, misfit);
    }
    if (!fine) {
      misfit->memory += done * plan.memory_size;
      return false;
    }
    done += n;
    if (out != nullptr) to += n * plan.memory_size;
  }
  return true;
}

// A run of an element that is too large to be converted as a whole: piece by piece.
bool Cursor::read_run(const Run& run, uint8_t* out, const LeafDecoder& leaves, Misfit* misfit) {
  const Conversion& c = run.conversion;
  if (c.what == Convert::kNested)
    return read_fixed(reader_->plans_.nested(run), out, run.count, leaves, misfit);
  if (c.what == Convert::kCopy) {
    if (out == nullptr)
      fail(skip(run.count * c.from_width));
    else
      bytes(out, static_cast<size_t>(run.count * c.from_width));
    return true;
  }
  for (uint64_t done = 0; done < run.count && fill();) {
    uint64_t n = (filled_ - used_) / c.from_width;
    if (n > run.count - done) n = run.count - done;
    const uint8_t* from = n == 0 ? take(c.from_width) : take_many(n * c.from_width);
    if (n == 0) n = 1;
    if (!ok()) break;
    uint8_t* to = out == nullptr ? nullptr : out + done * c.to_width;
    if (!transfer_run(reader_->plans_, run, from, 0, to, 0, 1, static_cast<size_t>(n), {nullptr, &leaves},
                      misfit)) {
      misfit->memory += done * c.to_width;
      return false;
    }
    done += n;
  }
  return true;
}

// Bytes that are in the buffer.
const uint8_t* Cursor::take_many(uint64_t size) {
  const uint8_t* at = buffer_.data() + used_;
  used_ += static_cast<size_t>(size);
  left_ -= size;
  return at;
}

}  // namespace elc::format
