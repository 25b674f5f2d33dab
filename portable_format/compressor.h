// Chunks made smaller, several at a time: FORMAT.md, "Sections and chunks".
#ifndef ELC_FORMAT_COMPRESSOR_H
#define ELC_FORMAT_COMPRESSOR_H

#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "base/descriptor.h"
#include "portable_format/file.h"

namespace elc::format {

// Of `size` bytes, elements of `width` bytes each: first the first byte of each, then the second of each, and so on, then
// what is left behind the last element. The bytes of one plane resemble each other.
void shuffle(const uint8_t* from, uint8_t* to, size_t size, size_t width);
void unshuffle(const uint8_t* from, uint8_t* to, size_t size, size_t width);

// A chunk as it goes to the file. Its payload is that of the compressor, or of whoever put it in.
struct Packed {
  const uint8_t* payload = nullptr;
  uint32_t stored = 0, raw = 0, flags = 0, checksum = 0;
};

// Takes chunks in and gives them back packed, in the same order. What it works with lies in memory that it is given;
// it allocates nothing and takes no locks, so that it works in a copy of the process, too. It compresses in the call
// that puts a chunk in; or other threads do, each of which calls work() once and comes back from it after stop().
class Compressor {
 public:
  static constexpr unsigned kMostThreads = kMostCompressThreads;
  // Bytes for so many threads: at most 64 MiB.
  static size_t memory(unsigned threads);

  // `level` is zlib's, from 1 to 9. With one thread, or where the system has no pipes for more, it needs no others.
  Compressor(void* memory, int level, unsigned threads);
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // How many other threads shall call work(); so many have begun.
  unsigned wanted() const { return wanted_; }
  void began(unsigned threads) { working_ = threads; }
  // On the i-th of these threads, from 0.
  void work(unsigned i);
  // Behind the last chunk; when it returns, none of them uses anything of it any more.
  void stop();

  bool empty() const { return in_ == out_; }
  bool full() const { return in_ - out_ == slots_; }
  // A chunk of elements of `width` bytes (1, 2, 4 or 8) that are mostly what is in it. One that `stays` is there until it
  // has been taken; others are copied. Not when full.
  void put(const uint8_t* data, size_t size, size_t width, bool stays);
  // The one that has been in for the longest. Valid until the next put(). Not when empty. Without a payload: a thread has
  // been lost, as somebody has closed its pipes.
  const Packed& take();

 private:
  struct Slot;
  struct Tools;
  void pack(Slot* slot, Tools* tools) const;
  size_t deflate_chunk(const Slot& slot, Tools* tools) const;

  int level_;
  unsigned slots_, wanted_ = 0, working_ = 0;
  uint64_t in_ = 0, out_ = 0;  // chunks put in, and taken
  Slot* slot_;
  Tools* tools_;
  Descriptor jobs_[2], results_[2];  // pipes, of the numbers of slots
};

}  // namespace elc::format

#endif
