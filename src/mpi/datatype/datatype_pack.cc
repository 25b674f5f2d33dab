// Messages between the program's buffers and the form in which they are kept: no gaps, the order of the type
// map.
#include <string.h>

#include <algorithm>

#include "mpi/datatype/datatype_table.h"
#include "mpi/datatype/layout.h"
#include "portable_format/convert.h"
#include "state/state.h"

namespace elc::mpi {
namespace {

using namespace format;

// Type maps are made of short runs: those of a scalar or two are copied without a call.
inline void copy_run(void* to, const void* from, size_t size) {
  switch (size) {
    case 4:
      memcpy(to, from, 4);
      return;
    case 8:
      memcpy(to, from, 8);
      return;
    case 16:
      memcpy(to, from, 16);
      return;
    default:
      memcpy(to, from, size);
  }
}

// Gathers runs of bytes; short ones by way of a buffer, so that `out` is not asked for room each time.
class Gather : public Visitor {
 public:
  Gather(Bytes* out, size_t at_most) : out_(out), left_(at_most) {}
  ~Gather() { flush(); }

  bool visit(uintptr_t at, const Piece& run) override {
    for (uint64_t i = 0; i < run.count; ++i, at += static_cast<uintptr_t>(run.stride)) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(run.length, left_));
      put(reinterpret_cast<const uint8_t*>(at), size);
      left_ -= size;
      if (size < run.length) return false;
    }
    return true;
  }
 private:
  void put(const uint8_t* from, size_t size) {
    if (size > sizeof buffer_ - used_) flush();
    if (size > sizeof buffer_ / 4) {
      flush();
      out_->append(from, size);
      return;
    }
    copy_run(buffer_ + used_, from, size);
    used_ += size;
  }
  void flush() {
    out_->append(buffer_, used_);
    used_ = 0;
  }

  Bytes* out_;
  size_t left_;
  size_t used_ = 0;
  uint8_t buffer_[4096];
};

// The reverse, from a message of this machine.
struct Scatter : Visitor {
  Scatter(const uint8_t* data, size_t size) : from(data), left(size) {}

  const uint8_t* from;
  size_t left;

  bool visit(uintptr_t at, const Piece& run) override {
    for (uint64_t i = 0; i < run.count; ++i, at += static_cast<uintptr_t>(run.stride)) {
      const size_t size = static_cast<size_t>(std::min<uint64_t>(run.length, left));
      copy_run(reinterpret_cast<void*>(at), from, size);
      from += size;
      left -= size;
      if (size < run.length) return false;
    }
    return true;
  }
};

// How another machine's scalars are read.
struct Foreign {
  uint64_t code = 0;
  Representation representation;
  Conversion conversions[kKindCount];
  uint32_t widths[kKindCount] = {};  // in a message
};

Result foreign_of(uint64_t code, const Foreign** out) {
  static Foreign last;  // a job restarts from one kind of machine, as a rule
  *out = &last;
  if (last.code == code) return Result();
  uint32_t long_double_bytes = 0;
  Representation representation;
  ELC_TRY(representation_of(code, &representation, &long_double_bytes));
  last.code = code;
  last.representation = representation;
  for (uint32_t k = kBool; k <= kByte; ++k) {
    const Kind kind = static_cast<Kind>(k);
    if (is_complex(kind)) continue;  // layouts have their parts
    last.conversions[k] = conversion_for(kind, representation, Direction::kFromFile);
    last.widths[k] = kind == kLdouble ? long_double_bytes : representation.width[k];
  }
  return Result();
}

// The packed size of an element on the other machine.
uint64_t size_of(const Layout& layout, const Foreign& foreign) {
  if (layout.foreign_code == foreign.code) return layout.foreign_size;
  uint64_t size = 0;
  for (const Piece& p : layout.pieces)
    size += p.count * p.length * (p.nested == nullptr ? foreign.widths[p.kind] : size_of(*p.nested, foreign));
  layout.foreign_code = foreign.code;
  layout.foreign_size = size;
  return size;
}

// The reverse of Gather, from a message of another machine.
class Convertor : public Visitor {
 public:
  Convertor(const Foreign& foreign, const uint8_t* from, size_t size)
      : foreign_(foreign), from_(from), left_(size) {}

  bool visit(uintptr_t at, const Piece& run) override {
    const uint64_t step = uint64_t{foreign_.widths[run.kind]} * run.length;
    const size_t whole = static_cast<size_t>(std::min<uint64_t>(run.count, left_ / step));
    uint8_t* to = reinterpret_cast<uint8_t*>(at);
    if (whole > 0 && !put(run.kind, to, run.stride, whole, static_cast<size_t>(run.length))) return false;
    if (whole == run.count) return true;
    // The message ends inside this repetition.
    to = reinterpret_cast<uint8_t*>(at + whole * static_cast<uintptr_t>(run.stride));
    const size_t rest = left_ / foreign_.widths[run.kind];
    if (rest > 0 && !put(run.kind, to, 0, 1, rest)) return false;
    if (left_ > 0)
      error_ = Result::error("a message in transit ends inside a value of type `%s`", kind_name(run.kind));
    return false;
  }

  // Small structs are converted many at a time, field by field: a loop for each field instead of a call for
  // each value.
  uint64_t together(const Layout& layout, uintptr_t at, int64_t stride, uint64_t n) override {
    for (const Piece& piece : layout.pieces)
      if (piece.nested != nullptr || piece.count != 1) return 0;
    if (stride < 0) return 0;
    const uint64_t one = size_of(layout, foreign_);
    const uint64_t block = std::max<uint64_t>(kBlock / one, 1);
    n = std::min<uint64_t>(n, left_ / one);
    for (uint64_t done = 0; done < n;) {
      const size_t m = static_cast<size_t>(std::min(block, n - done));
      if (!put_fields(layout, at + static_cast<uintptr_t>(done) * static_cast<uintptr_t>(stride), stride, m))
        return done;
      from_ += m * one;
      left_ -= static_cast<size_t>(m * one);
      done_ += m * layout.size;
      done += m;
    }
    return n;
  }

  size_t left() const { return left_; }
  uint64_t done() const { return done_; }
  Result take_error() { return static_cast<Result&&>(error_); }

 private:
  static constexpr uint64_t kBlock = 16384;  // bytes of a message that stay in the cache from field to field

  // `n` elements; the message has them. False if a value does not fit: the caller converts them one by one,
  // to find it.
  bool put_fields(const Layout& layout, uintptr_t at, int64_t stride, size_t n) {
    const size_t one = static_cast<size_t>(size_of(layout, foreign_)), step = static_cast<size_t>(stride);
    const uint8_t* from = from_;
    for (const Piece& piece : layout.pieces) {
      const Conversion& conversion = foreign_.conversions[piece.kind];
      const size_t width = foreign_.widths[piece.kind], here = memory_width(piece.kind);
      const size_t length = static_cast<size_t>(piece.length);
      const bool padded = width != conversion.from_width;
      uint8_t* to = reinterpret_cast<uint8_t*>(at + static_cast<uintptr_t>(piece.offset));
      for (size_t k = 0; k < (padded ? length : 1); ++k)
        if (!convert(conversion, from + k * width, one, to + k * here, step, n, padded ? 1 : length)) return false;
      from += width * length;
    }
    return true;
  }

  // `count` times `length` scalars; the message has them.
  bool put(Kind kind, uint8_t* to, int64_t stride, size_t count, size_t length) {
    const Conversion& conversion = foreign_.conversions[kind];
    const size_t width = foreign_.widths[kind], here = memory_width(kind);
    bool fits = true;
    if (width == conversion.from_width && stride >= 0) {
      fits = convert(conversion, from_, width * length, to, static_cast<size_t>(stride), count, length);
    } else {  // padding behind each scalar, or backwards
      const bool padded = width != conversion.from_width;
      for (size_t i = 0; i < count && fits; ++i)
        fits = convert(conversion, from_ + i * length * width, width, to + static_cast<int64_t>(i) * stride,
                       here, padded ? length : 1, padded ? 1 : length);
    }
    if (!fits) return misfit(kind, count * length);
    from_ += count * length * width;
    left_ -= count * length * width;
    done_ += count * length * here;
    return true;
  }

  bool misfit(Kind kind, uint64_t count) {
    const Conversion& conversion = foreign_.conversions[kind];
    const size_t width = foreign_.widths[kind];
    for (uint64_t i = 0; i < count; ++i) {
      uint8_t scratch[16];
      if (convert(conversion, from_ + i * width, width, scratch, sizeof scratch, 1, 1)) continue;
      char text[200];
      explain_misfit(conversion, from_ + i * width, text, sizeof text);
      error_ = Result::error("%s", text);
      return false;
    }
    error_ = Result::error("a value of type `%s` does not fit this machine",
                           kind_name(kind));
    return false;
  }

  const Foreign& foreign_;
  const uint8_t* from_;
  size_t left_;
  uint64_t done_ = 0;
  Result error_;
};

// Before that: where what arrives is bytes to MPI, which nothing converts, the memory must be of characters. Such a message
// may be of anything, and its receiver casts.
class Unconverted : public Visitor {
 public:
  Unconverted(const Foreign& foreign, size_t size) : foreign_(foreign), left_(size) {}

  bool visit(uintptr_t at, const Piece& run) override {
    const uint64_t step = uint64_t{foreign_.widths[run.kind]} * run.length, whole = std::min<uint64_t>(run.count, left_ / step);
    if (run.kind != kByte && !is_character(run.kind)) return pass(whole * step, whole == run.count);
    // Those between the first and the last are of the same array.
    if (whole > 0) look(run.kind, at, run.length);
    if (whole > 1) look(run.kind, at + static_cast<uintptr_t>(whole - 1) * static_cast<uintptr_t>(run.stride), run.length);
    const uint64_t rest = whole < run.count ? left_ - whole * step : 0;
    if (rest > 0) look(run.kind, at + static_cast<uintptr_t>(whole) * static_cast<uintptr_t>(run.stride), rest);
    return pass(whole * step + rest, whole == run.count);
  }

  uint64_t together(const Layout& layout, uintptr_t at, int64_t stride, uint64_t n) override {
    const uint64_t one = size_of(layout, foreign_);
    n = std::min(n, left_ / one);
    if (n < 3) return 0;
    walk(layout, at, *this);
    walk(layout, at + static_cast<uintptr_t>(n - 1) * static_cast<uintptr_t>(stride), *this);
    static_cast<void>(pass((n - 2) * one, true));
    return n;
  }

  Result take_error() { return static_cast<Result&&>(error_); }

 private:
  bool pass(uint64_t bytes, bool goes_on) {
    left_ -= bytes;
    return goes_on && error_.ok();
  }

  void look(Kind kind, uintptr_t at, uint64_t size) {
    const state::Memory memory = state::memory_at(reinterpret_cast<const void*>(at), size);
    if (memory == state::Memory::kCharacters || (memory == state::Memory::kUnknown && kind != kByte)) return;
    error_ = Result::error("it comes from a machine of another representation as %s, which MPI does not convert, into memory that %s: "
                           "send and receive with the datatype of what it is, or restart on a machine of that representation",
                           kind == kByte ? "MPI_BYTE" : "characters", memory == state::Memory::kOther ? "is not of characters" : "lines do not have");
  }

  const Foreign& foreign_;
  uint64_t left_;
  Result error_;
};

Result not_known() {
  return Result::error(
      "a message has a datatype that was made in a way that the library does not know, or that is "
      "freed or null");
}

// What the layout of a type may take that is made when it is first needed: a piece for each number that the type was given.
size_t room_for_layout(const Datatype& type) {
  if (type.bytes != nullptr) return 0;
  size_t room = (type.arguments.integers.size() + type.arguments.addresses.size()) * sizeof(Piece);
  for (const Datatype* old : type.olds) room += room_for_layout(*old);
  return room;
}

// Whether there is memory for that. A copy can be done without; what the program receives cannot.
Result check_room_for_layout(MPI_Datatype type) {
  const Datatype* record = find_or_learn(type);
  const size_t room = record == nullptr ? 0 : room_for_layout(*record);
  if (room == 0) return Result();
  void* there = try_allocate(room);
  elc::release(there);
  return there != nullptr ? Result() : no_memory(room, "the layout of a datatype");
}

// The layout of `count` elements, as one.
Result layout_of_buffer(MPI_Datatype type, int count, bool typed, Datatype** record, Layout* all) {
  *record = find_or_learn(type);
  if (*record == nullptr) return not_known();
  const Layout& one = layout_of(*record, typed);
  if (count > 0) add_elements(all, one, 0, 1, 0, static_cast<uint64_t>(count));
  return Result();
}

Result unpack_own(const uint8_t* data, size_t size, void* buffer, int count, MPI_Datatype type,
                  Unpacked* result) {
  Datatype* record = nullptr;
  Layout all;
  ELC_TRY(layout_of_buffer(type, count, false, &record, &all));
  Scatter scatter(data, size);
  walk(all, reinterpret_cast<uintptr_t>(buffer), scatter);
  result->size = size - scatter.left;
  result->truncated = scatter.left > 0;
  return Result();
}

Result unpack_foreign(const uint8_t* data, size_t size, uint64_t code, void* buffer, int count,
                      MPI_Datatype type, Unpacked* result) {
  const Foreign* foreign = nullptr;
  Datatype* record = nullptr;
  Layout all;
  ELC_TRY(foreign_of(code, &foreign));
  ELC_TRY(layout_of_buffer(type, count, true, &record, &all));
  if (layout_of(record, true).opaque && size > 0)
    return Result::error(
        "it holds data (of MPI_PACKED, or of a 16-byte Fortran type) that only the MPI and the machine it comes "
        "from can read");
  Unconverted unconverted(*foreign, size);
  walk(all, reinterpret_cast<uintptr_t>(buffer), unconverted);
  ELC_TRY(unconverted.take_error());
  Convertor convertor(*foreign, data, size);
  const bool whole = walk(all, reinterpret_cast<uintptr_t>(buffer), convertor);
  result->size = convertor.done();
  result->truncated = whole && convertor.left() > 0;
  return convertor.take_error();
}

bool is_own(uint64_t code) { return code == 0 || code == native_representation_code(); }

}  // namespace

uint64_t packed_size(MPI_Datatype type) {
  const Datatype* record = find_or_learn(type);
  return record == nullptr ? 0 : record->size;
}

uint64_t packed_size(MPI_Datatype type, uint64_t representation_code) {
  if (is_own(representation_code)) return packed_size(type);
  Datatype* record = find_or_learn(type);
  const Foreign* foreign = nullptr;
  if (record == nullptr || !foreign_of(representation_code, &foreign).ok()) return 0;
  return size_of(layout_of(record, true), *foreign);
}

Result pack(const void* buffer, int count, MPI_Datatype type, size_t at_most, Bytes* out) {
  Datatype* record = nullptr;
  Layout all;
  ELC_TRY(check_room_for_layout(type));
  ELC_TRY(layout_of_buffer(type, count, false, &record, &all));
  const uint64_t size = std::min<uint64_t>(count > 0 ? record->size * static_cast<uint64_t>(count) : 0, at_most);
  if (!out->make_room(static_cast<size_t>(size))) return no_memory(size, "a copy of a message");
  Gather gather(out, at_most);
  walk(all, reinterpret_cast<uintptr_t>(buffer), gather);
  return Result();
}

Result unpack(const uint8_t* data, size_t size, uint64_t representation_code, void* buffer, int count,
              MPI_Datatype type, Unpacked* result) {
  *result = Unpacked();
  if (is_own(representation_code)) return unpack_own(data, size, buffer, count, type, result);
  return unpack_foreign(data, size, representation_code, buffer, count, type, result);
}

}  // namespace elc::mpi
