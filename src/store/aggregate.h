// A file to which several ranks of a machine write together (ELC_AGGREGATE), so that a line of many ranks is not as many
// files. Each appends what it has, wherever the end of the file is then, and at last a table of where all of that is; where
// the table is says a slot at the beginning of the file, one for each rank. No rank waits for another. That two do not write
// to the same place is the system's doing (O_APPEND), and holds among processes of one machine.
//
// The name says whose data are there: in ranks-000000-000003.elc those of ranks 0 to 3, in ranks-000001-000013-4.elc of every
// fourth, 1, 5, 9 and 13. What one rank has written there is what would be in a file of its own. FORMAT.md has the layout.
#ifndef ELC_STORE_AGGREGATE_H
#define ELC_STORE_AGGREGATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"
#include "base/text.h"
#include "base/vector.h"
#include "base/wire.h"
#include "store/directory.h"

namespace elc::store {

// first, first + step, ... up to last. One alone has a file of its own.
struct Ranks {
  uint32_t first = 0;
  uint32_t last = 0;
  uint32_t step = 1;

  bool alone() const { return first == last; }
  uint64_t count() const { return uint64_t{(last - first) / step} + 1; }
  bool has(uint32_t rank) const { return rank >= first && rank <= last && (rank - first) % step == 0; }
};

// Of the ranks of a machine, in ascending order, those that write together with `rank`, one of them: at most `most`, evenly
// spaced. All of these are told the same.
Ranks together_with(const Vector<uint32_t>& machine, uint32_t rank, uint32_t most);

Text aggregate_name(const Ranks& ranks);
// The ranks in such a name, of which `end` is the end; false for any other name.
bool aggregate_ranks(const char* name, const char* end, Ranks* ranks);

// Where in a file the bytes of one rank are, in the order in which they were written.
class Extents {
 public:
  void clear() { list_.clear(), size_ = 0; }
  // The next `size` bytes are at `at`.
  void add(uint64_t at, uint64_t size);
  uint64_t size() const { return size_; }  // of all
  // Calls visit(at, size), until it fails, for each part of the file with some of the `size` bytes from the one of number
  // `from` on, which must be there, in their order.
  template <class Visit>
  Result each(uint64_t from, uint64_t size, Visit visit) const {
    for (size_t i = size > 0 ? find(from) : 0; size > 0; ++i) {
      const uint64_t skipped = from - list_[i].begin, left = list_[i].size - skipped;
      const uint64_t part = left < size ? left : size;
      ELC_TRY(visit(list_[i].at + skipped, part));
      from += part;
      size -= part;
    }
    return {};
  }
  void encode(Encoder& out) const;
  // Fails with the decoder on what cannot be extents in a file of `end` bytes.
  Result decode(Decoder& in, uint64_t end);

 private:
  struct Extent {
    uint64_t begin;  // the number of its first byte
    uint64_t at, size;
  };
  size_t find(uint64_t number) const;

  Vector<Extent> list_;
  uint64_t size_ = 0;
};

// Opens the file of `ranks` to append to it, and makes it where none of them has.
Result open_aggregate(const Directory& dir, const Ranks& ranks, int* fd);
// Appends, and adds to the extents where that is. Returns 0 or an errno.
int append_all(int fd, const void* data, size_t size, Extents* extents);
// When all is there that `rank` writes: appends its table, and sets its slot. Returns 0 or an errno.
int write_table(int fd, const Ranks& ranks, uint32_t rank, const Extents& extents);
// Whether each of `ranks` has set its slot, and all that they have appended has its own place: an error says what is not so.
Result check_slots(const Directory& dir, const Ranks& ranks);
// Reads where the bytes of `rank` are in a file of `size` bytes. An error names the file, by its path.
Result read_table(int fd, uint64_t size, const Ranks& ranks, uint32_t rank, const char* path, Extents* extents);

}  // namespace elc::store

#endif
