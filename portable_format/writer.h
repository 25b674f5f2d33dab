// Writes a checkpoint file: sections of XDR and of packed values, cut into checksummed chunks.
#ifndef ELC_FORMAT_WRITER_H
#define ELC_FORMAT_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include <string_view>

#include "base/result.h"
#include "base/wire.h"
#include "portable_format/compressor.h"
#include "portable_format/file.h"
#include "portable_format/pieces.h"
#include "portable_format/plan.h"
#include "portable_format/types.h"
#include "portable_format/value.h"

namespace elc::format {

// Where the bytes of a file go, in order. After an error it is not called again.
struct Sink {
  void* context = nullptr;
  Result (*write)(void* context, const void* data, size_t size) = nullptr;
};

struct WriterOptions {
  // Values are written as this machine would; nullptr: this machine. (Canonical XDR order, tests.)
  const Representation* representation = nullptr;
  uint8_t* buffer = nullptr;  // of kChunkSize bytes, for the writer's time; nullptr: it allocates one
};

// Needs about 1 MiB whatever the state. The type table is not owned; types may be made
// while the file is written, and the table is written by finish(). The first error of the sink is kept: later
// calls do nothing, and finish() returns it.
class Writer {
 public:
  Writer(const TypeTable* types, Sink sink, const WriterOptions& options = {});
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Sections come one after the other. Names are unique, of 1 to 63 bytes; "types" and "bases" are the writer's own. One that
  // may be in pieces has values that another file of `pieces` may have as well.
  void begin_section(const char* name, bool may_be_in_pieces = false);
  void end_section();

  // XDR into the current section.
  Encoder& encoder() { return encoder_; }
  // A name; one of more than kMaxText bytes, which no reader takes, is an error.
  void text(std::string_view name);

  // Appends `count` elements of `type` at `address`, packed, to the current section. The error is that of a
  // leaf (also a union whose active member does not exist); the section then holds part of a value, so the
  // file is to be given up: it becomes sticky too.
  Result write_value(TypeId type, const void* address, uint64_t count, const LeafEncoder& leaves);

  // What comes next is a value of so many bytes, the `id`-th of those that follow each other: it begins a chunk of its own where it
  // is large, so that it has the same chunks in the next file as long as it does not change. In pieces also where its id says
  // so: values that come or go then do not move all that follow them to other pieces.
  void cut_before(uint64_t id, uint64_t size);
  void cut();        // ends the chunk
  void end_piece();  // the same in pieces

  // Before the first section: what such sections have in common with earlier files is not written again. It must live longer.
  void refer_to(Pieces* pieces) { pieces_ = pieces; }

  // Between sections: chunks go through `compressor`, which must live until others are asked for. nullptr: they go as they are.
  void compress_with(Compressor* compressor) { compressor_ = compressor; }

  // Between sections: what this writer has written, for another one of the same file, elsewhere, that goes on behind it.
  void hand_over(Encoder& out) const;
  Result take_over(Decoder& in);

  // Bytes of the current section so far, before compression; and of the file.
  uint64_t section_size() const { return section_size_; }
  uint64_t file_size() const { return file_size_; }
  // Behind finish(): what Pieces::adopt() wants to know of the file.
  Base as_base(uint64_t line) const { return {line, file_size_, index_checksum_}; }
  const Vector<SectionEntry>& sections() const { return sections_; }

  // The first error so far. No more bytes reach the sink after it.
  bool ok() const { return status_.ok(); }

  // Ends the file with types, index and trailer; returns the first error since the beginning. Once.
  Result finish();

 private:
  // Raw bytes into the section. What is the program's stays as it is as long as the section is open.
  void put(const void* data, size_t size, bool stays = false);
  void emit(const uint8_t* data, size_t size, size_t width, bool stays);  // one chunk
  bool refer(const uint8_t* data, size_t size);
  ChunkEntry* next_entry();
  void write_chunk(const Packed& packed);
  size_t prevailing_width() const;
  void fits_width(uint32_t widths);
  void send(const void* data, size_t size);     // bytes into the sink
  void fail(Result status);
  Result error() const;  // a copy of the first error
  // The place of a packed value: in the buffer where there is room, else in `aside`.
  uint8_t* room(size_t size, uint8_t* aside);
  void fill(const uint8_t* at, size_t size);
  bool write_fixed(const Plan& plan, const uint8_t* from, uint64_t count, const LeafEncoder& leaves,
                   Misfit* misfit);
  bool write_run(const Run& run, const uint8_t* from, const LeafEncoder& leaves, Misfit* misfit);
  // Values with unions. Errors name the place.
  Result write_any(TypeId type, const uint8_t* from, uint64_t count, const uint8_t* enclosing,
                   const LeafEncoder& leaves);
  Result write_bits(TypeId type, const uint8_t* of);
  Result write_fields(TypeId type, const uint8_t* from, const uint8_t* enclosing, const LeafEncoder& leaves);
  void begin_own_section(const char* name);
  void write_bases();
  void write_types();
  void write_index();

  const TypeTable* types_;
  Sink sink_;
  Representation representation_;
  Compressor* compressor_ = nullptr;
  Pieces* pieces_ = nullptr;
  Encoder encoder_;
  PlanCache plans_;
  Result status_;
  Vector<SectionEntry> sections_;
  Bytes own_buffer_;
  uint8_t* buffer_;  // the chunk that is being filled: kChunkSize bytes, of which used_ are used
  size_t used_ = 0;
  size_t most_ = kChunkSize;   // bytes of a chunk
  size_t unwritten_ = 0;       // the first chunk of the section that is not in the file, nor in another
  unsigned width_ = 0;         // of the elements at hand: 1 << width_ bytes
  size_t of_width_[4] = {};    // bytes of such elements in the chunk that is being filled
  uint64_t section_size_ = 0;
  uint64_t file_size_ = 0;
  uint32_t index_checksum_ = 0;
  bool open_ = false;
};

}  // namespace elc::format

#endif
