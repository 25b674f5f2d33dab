// Whether a piece of data is the same as one that was there before, told by a keyed hash: not secret, but nobody who
// does not know the key can find two that collide.
#ifndef ELC_FORMAT_PIECE_HASH_H
#define ELC_FORMAT_PIECE_HASH_H

#include <stddef.h>
#include <stdint.h>

namespace elc::format {

constexpr size_t kPieceSize = size_t{1} << 16;  // most bytes that are hashed together

// NH with words of 64 bits, twice, with a Toeplitz key (J. Black, S. Halevi, H. Krawczyk, T. Krovetz, P. Rogaway: UMAC:
// Fast and Secure Message Authentication, CRYPTO 1999, section 4). Two different pieces of one length that were not made
// with the key in mind have the same hash with a probability of at most 2^-128, if the key is random. Lengths are to be
// compared besides.
struct PieceHash {
  uint64_t words[4];
  bool operator==(const PieceHash& other) const {
    return words[0] == other.words[0] && words[1] == other.words[1] && words[2] == other.words[2] &&
           words[3] == other.words[3];
  }
};

struct PieceKey {
  uint64_t words[kPieceSize / 8 + 2];
};

// Of at most kPieceSize bytes, at any address. Words are those of this machine's byte order: a hash is never in a file.
PieceHash hash_of_piece(const PieceKey& key, const void* data, size_t size);

}  // namespace elc::format

#endif
