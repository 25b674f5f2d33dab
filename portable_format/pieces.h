// Which pieces of a file's values are in earlier files already (FORMAT.md, "Chunks in other files").
#ifndef ELC_FORMAT_PIECES_H
#define ELC_FORMAT_PIECES_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"
#include "base/vector.h"
#include "base/wire.h"
#include "portable_format/file.h"
#include "portable_format/piece_hash.h"

namespace elc::format {

// What one process has written in the files of its last lines. A piece is found by what it holds, wherever that was: an
// array that has moved, or a variable that is registered at another place, changes nothing.
class Pieces {
 public:
  Pieces() = default;
  Pieces(const Pieces&) = delete;
  Pieces& operator=(const Pieces&) = delete;
  ~Pieces();

  // Draws a key. false: the system has no random numbers, or there is no memory; nothing can be told then.
  bool prepare();

  // ---- While a file is written ----
  // A new file. Whole: it refers to no other.
  void start(bool whole);
  // The next piece of the file, of at most kPieceSize bytes. true: *entry is where it is already.
  bool find(const void* data, size_t size, ChunkEntry* entry);
  // What find() was asked in this file, for the table of another process that is a copy of this one.
  void hand_over(Encoder& out) const;
  void take_over(Decoder& in);

  // ---- Behind it ----
  // The file stays: its pieces, in the order of find(), are the chunks of these of its sections.
  void adopt(const Base& file, const Vector<SectionEntry>& sections);
  // The files that entries refer to.
  const Vector<Base>& bases() const { return bases_; }

 private:
  struct Known {
    PieceHash hash;
    ChunkEntry entry;  // that of another file for it
  };
  void note(const PieceHash& hash);

  PieceKey* key_ = nullptr;
  Vector<Known> known_;  // ordered by the hash
  Vector<Base> bases_;
  Vector<PieceHash> asked_;
  bool complete_ = false;  // all that was asked is noted
};

}  // namespace elc::format

#endif
