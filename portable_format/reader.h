// Reads a checkpoint file of any machine. Nothing in the file is trusted.
#ifndef ELC_FORMAT_READER_H
#define ELC_FORMAT_READER_H

#include <stddef.h>
#include <stdint.h>

#include <string_view>

#include "base/result.h"
#include "base/wire.h"
#include "portable_format/file.h"
#include "portable_format/plan.h"
#include "portable_format/types.h"
#include "portable_format/value.h"

namespace elc::format {

// Where the bytes of a file come from. read_at fills `data` whole or fails. open_base: the file of the same process in another
// line, as a source that the context keeps; an error names it. nullptr: there are no other files here.
struct Source {
  void* context = nullptr;
  uint64_t size = 0;
  Result (*read_at)(void* context, uint64_t offset, void* data, size_t size) = nullptr;
  Result (*open_base)(void* context, uint64_t line, Source* source) = nullptr;
};

// Makes `buffer` so large, if it is smaller: memory for what a file holds may be lacking.
Result make_large(size_t size, Bytes* buffer);

class Reader {
 public:
  Reader() = default;
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // Reads and checks header, trailer, index and types, and those of the other files that it refers to. On an error nothing
  // else may be called (but open, again).
  Result open(Source source);

  // Chunks are read by so many threads at a time, where there are many in a row. read_at has to allow for that.
  void use_threads(unsigned threads) { threads_ = threads == 0 ? 1 : threads; }

  // Reads every chunk and compares its checksum, but those of sections of which later(name) is true. Those are compared
  // when they are read. Chunks that were verified are not summed again then: the
  // file of a line gets its name when it is whole and is never written again, and one that is removed stays as it is for
  // who has it open. (If somebody did change it meanwhile, values were wrong, but nothing is trusted for being verified.)
  // Of several that are damaged, the first of a section is named.
  Result verify(bool (*later)(const char* section) = nullptr);

  const Representation& representation() const { return representation_; }  // of the writer
  const TypeTable& types() const { return types_; }
  uint32_t major_version() const { return major_; }
  uint32_t minor_version() const { return minor_; }
  // The same failure, with both versions if it may be that of a reader older than the file.
  Result explain(Result status) const;

  // Sections in the order of the file.
  size_t section_count() const { return sections_.size(); }
  const char* section_name(size_t i) const { return sections_[i].name; }
  uint64_t section_size(size_t i) const { return sections_[i].size; }  // bytes before compression
  uint64_t section_stored(size_t i) const;                             // bytes in the file
  bool has_section(const char* name) const { return find(name) != kNoSection; }

  // Other files in which chunks of this one are: how many are named; of the i-th, whether there is such a chunk, its line, and
  // a reader of what it does not have in other files in turn.
  size_t base_count() const { return bases_.size(); }
  bool needs_base(size_t i) const { return bases_[i].reader != nullptr; }
  uint64_t base_line(size_t i) const { return bases_[i].file.line; }
  Reader& base(size_t i) { return *bases_[i].reader; }

  // The whole content of a small section (an error if it has more than `most` bytes), for a Decoder.
  Result read_section(const char* name, uint64_t most, Bytes* out);

 private:
  friend class Cursor;
  static constexpr size_t kNoSection = ~size_t{0};
  size_t find(const char* name) const;
  struct OpenBase {
    Base file;
    Reader* reader = nullptr;  // once a chunk was found to be there
  };
  void forget_bases();
  Result open_bases();
  Result list_bases();
  Result open_base(OpenBase& base);
  // As the base of line `line`: whether it has this chunk, itself.
  Result check_has(const ChunkEntry& wanted, uint64_t line) const;

  Result read_parts();
  Result read_skeleton();
  Result read_header();
  Result read_index();
  Result read_sections(Decoder& in, uint64_t end);
  Result read_types();
  // What one thread needs to read chunks; each no larger than a chunk.
  struct Room {
    Bytes raw;       // one that nobody wants
    Bytes stored;    // one as it lies in the file
    Bytes shuffled;  // and as it was before it was compressed
  };
  // Where a chunk is, by its numbers there; in the file of which line, 0: this one.
  struct Place {
    const Source& source;
    uint64_t offset;
    size_t section, number;
    uint64_t line;
  };
  Place place_of(size_t s, size_t i) const;
  // Reads chunk `i` of section `s` to `out`, which has room for its raw length.
  Result read_chunk(size_t s, size_t i, uint8_t* out, Room& room);
  // Chunks one after the other (chunks.cc). How many from `first` on have one raw length, and `size` bytes of it at most.
  size_t row(size_t s, size_t first, uint64_t size) const;
  // Reads `count` of those to `out`. Without `out` of any, to verify them.
  Result read_row(size_t s, size_t first, size_t count, uint8_t* out);
  struct Row;
  Result make_rooms(const Row& row, unsigned* threads);

  Source source_;
  Representation representation_;
  TypeTable types_;
  uint32_t major_ = 0, minor_ = 0;
  uint64_t header_size_ = 0;
  uint32_t index_checksum_ = 0;
  bool refers_ = false;  // some chunk is in another file
  Vector<SectionEntry> sections_;
  Vector<OpenBase> bases_;
  PlanCache plans_;
  unsigned threads_ = 1;
  Vector<Room> rooms_;
};

// Reads one section from its beginning. Needs about 1 MiB. Of a Reader, which must live longer; cursors are
// independent of each other. An error is sticky: later calls do nothing and return zeros.
class Cursor {
 public:
  Cursor() = default;
  Cursor(Cursor&&) noexcept = default;
  Cursor& operator=(Cursor&&) noexcept = default;

  // To the beginning of a section; an error if there is none of that name.
  Result open(Reader* reader, const char* section);

  // XDR; after an error zeros, false, empty. Look at status() before the value is used for anything that
  // matters.
  uint32_t u32();
  uint64_t u64();
  int32_t i32() { return static_cast<int32_t>(u32()); }
  int64_t i64() { return static_cast<int64_t>(u64()); }
  bool boolean();
  // A string of at most `most` bytes, valid until the next string or opaque.
  std::string_view string(uint64_t most = kMaxText);
  // opaque<> piecemeal: the length first, then bytes() for the data (any pieces), then opaque_end for the
  // padding.
  uint64_t opaque_begin();  // at most what the section still has
  void bytes(void* out, size_t size);
  void opaque_end(uint64_t length);
  // opaque<> at once, replacing the content of `out`.
  void opaque(Bytes* out, uint64_t most);
  // A count of things that take at least `least` bytes of this section each; an error if they cannot be
  // there.
  uint64_t count(uint64_t least);

  uint64_t left() const { return left_; }  // bytes of the section
  uint64_t at() const { return size_ - left_; }
  bool ok() const { return failed_.ok(); }
  // The first error, or success.
  Result status() const;
  // An error unless the section was read to its end.
  Result finish();
  void fail(Result status);

  // Reads `count` elements of type `from` (of the reader's types) into `count` elements of `to` (of `memory`)
  // at `address`. `memory` has to be the same table for all calls of a reader. Fails, naming the place, if
  // the types do not fit, if a value does not fit this machine, or if a leaf's decoder fails; then `address`
  // may hold part of it.
  Result read_value(TypeId from, const TypeTable& memory, TypeId to, void* address, uint64_t count,
                    const LeafDecoder& leaves);
  // Goes over the same value and fails as read_value would, without memory to read it into. Leaf decoders get
  // nullptr. Passes over what can always be read without looking at it: damage is found by Reader::verify.
  Result check_value(TypeId from, const TypeTable& memory, TypeId to, uint64_t count,
                     const LeafDecoder& leaves);
  // Goes past a value. Without unions inside: at once.
  Result skip_value(TypeId from, uint64_t count);
  // Goes past `size` bytes.
  Result skip(uint64_t size);
  // Goes past a value and shows it, leaf by leaf, until the visitor has had enough.
  Result show_value(TypeId from, uint64_t count, const LeafVisitor& visitor);

 private:
  bool fill();                               // makes bytes available in the buffer; false after an error
  const uint8_t* take(size_t size);          // up to 64 bytes in one piece, valid until the next call
  const uint8_t* take_many(uint64_t size);   // any number that is in the buffer
  bool enough(TypeId from, uint64_t count);  // can the section hold them? An error if not
  Result read_any(TypeId from, const TypeTable& memory, TypeId to, uint8_t* out, uint64_t count,
                  const LeafDecoder& leaves);
  Result read_fields(TypeId from, const TypeTable& memory, TypeId to, uint8_t* out,
                     const LeafDecoder& leaves);
  bool read_fixed(const Plan& plan, uint8_t* out, uint64_t count, const LeafDecoder& leaves, Misfit* misfit);
  bool read_run(const Run& run, uint8_t* out, const LeafDecoder& leaves, Misfit* misfit);
  uint32_t member_index(TypeId from);
  Result read_bits(TypeId from, const Accessor& accessor, uint8_t* of, uint64_t size);

  struct Show;  // where a walk for show_value is
  void skip_any(TypeId type, uint64_t count);
  void show_any(TypeId type, uint64_t count, Show* show);
  void show_leaf(Kind kind, Show* show);

  Reader* reader_ = nullptr;
  size_t section_ = 0;
  uint64_t size_ = 0, left_ = 0;
  size_t chunk_ = 0;  // the next one to read
  Bytes buffer_;
  size_t used_ = 0, filled_ = 0;
  uint8_t gathered_[64] = {};
  Bytes string_;
  Result failed_;
};

}  // namespace elc::format

#endif
