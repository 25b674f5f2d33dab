// Blocks: what pointers point into. Variables are numbered from 1, globals first, then the frames from
// main inwards; heap blocks follow in the order of their ids.
#ifndef ELC_STATE_BLOCKS_H
#define ELC_STATE_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

#include "base/result.h"
#include "base/vector.h"
#include "portable_format/value.h"
#include "state/process.h"

namespace elc::state {

// No memory of a program lies as near to zero, on either side: such a value of a pointer is a mark, which a restart has again.
constexpr int64_t kLeastAddress = 4096;
// What a program may use as a mark, such as (void *)-1 and SIG_IGN, and comes back as it was.
inline bool is_mark(int64_t value) { return value > -kLeastAddress && value < kLeastAddress; }

// Of a program that lies beyond what an int can say, as systems have it where addresses are wider: an int in a pointer is none of its
// addresses, and comes back, too, where it has made pointers of numbers.
inline bool is_number(int64_t value) { return value >= INT32_MIN && value <= UINT32_MAX; }
inline bool tells_numbers(const Process& p) { return p.makes_pointers && uint64_t{p.executable} > UINT32_MAX; }

// Whether `length` bytes at `at` hold all of `size` bytes at `begin`.
inline bool holds(uintptr_t at, uint64_t length, uintptr_t begin, uint64_t size) { return begin - at <= length && size <= length - (begin - at); }

// The variables of a process in the order of their numbers.
void list_regions(const Process& process, Vector<const Region*>* out);

// The blocks of the process by address.
class BlockMap {
 public:
  // Makes the order anew; that of the heap only if a block has changed. Fails if two regions, or a region and
  // a block, overlap. The process's regions and blocks must stay until the last call of encode.
  Result build(Process& process);

  // The pointer of the file for an address. An address inside a block is preferred to one past another's end, unless a
  // variable begins there that does not begin with a `target`, and another that holds those ends there. kNone: the program
  // has not said what the pointer points to. Where blocks are kept apart, a pointer to such elements may lead to whole elements before a
  // block, as for an array that counts from 1.
  format::PointerLeaf encode(const void* address, TypeId target = format::kNone) const;

  // The block of the heap in which an address lies, or at whose end; nullptr: there is none.
  const Block* block_of(const void* address) const;

  // Whether these bytes lie in one region or block.
  bool holds(uintptr_t begin, uint64_t size) const;
  // In a region; one of a variable that has another place in each line, or none of these.
  bool holds_variable(uintptr_t begin, uint64_t size, bool resizes) const;
  // The variable that begins next behind an address, but for those into which nothing may point. nullptr: none.
  const Region* region_after(uintptr_t address) const;
  uint64_t largest() const;  // size of a region or block
  uint64_t size() const;     // of all together
  bool has_some_in(uintptr_t begin, uintptr_t end) const;
  size_t regions() const { return regions_.size(); }

 private:
  // Plain memory, ordered by `begin`.
  struct Extent {
    uintptr_t begin;
    uint64_t size;
    uint32_t index;  // in regions_, or the heap's slots
  };
  static void sort(Vector<Extent>* extents);
  static const Extent* last_before(const Vector<Extent>& extents, uintptr_t address);
  // Of the blocks that reach to `low` or beyond, or end there, the one that begins last, at `high` or before. nullptr: none.
  const Block* last_block(uintptr_t low, uintptr_t high) const;
  Result check_regions() const;
  format::PointerLeaf in_region(const Extent& extent, uintptr_t address, TypeId target) const;
  format::PointerLeaf in_block(const Block& block, uintptr_t address, TypeId target) const;
  format::PointerLeaf before_block(uintptr_t address, TypeId target) const;

  Process* process_ = nullptr;
  Vector<const Region*> regions_;
  Vector<Extent> by_region_;  // without the statics into which nothing may point
  Vector<Extent> late_;       // these
  Vector<Extent> by_block_;  // those that are in no table of the heap
  uint64_t heap_generation_ = ~uint64_t{0};
  uint64_t heap_size_ = 0;
  uint64_t heap_largest_ = 0;
};

// Whether elements that a line has as the one are the other's in a program that has been changed since, where pointers to them say so
// (Image::retype_runs).
inline bool becomes(TypeId saved, TypeId told) {
  if (saved == format::kFloat) return told == format::kDouble;
  return saved < format::kFirstMade && told < format::kFirstMade && format::is_integer(static_cast<format::Kind>(saved)) &&
         format::is_integer(static_cast<format::Kind>(told));
}

// Whether pointers to `target` are to elements of a block of `type`, those of which gaps are bytes among them.
bool are_of(const Process& process, TypeId type, TypeId target);

// How a block of this size was asked to be aligned, beyond what malloc does: its size is a multiple of that (elc_program.h). 0: it was not.
inline uint64_t alignment_of(uint64_t size) {
  const uint64_t alignment = size & (~size + 1);
  return alignment > alignof(max_align_t) ? alignment : 0;
}

// In an open block of pointers: of those in front, before what they lead to (reused.cc). For the line being taken.
uint64_t rows_in(const Process& process, const Block& block);

// A heap block is `count` elements of its type and `rest` bytes, which are too few for another, or what an open one ends with.
inline uint64_t elements_of(const Process& process, const Block& block) {
  const uint64_t element = process.types.size_of(block.type);
  if (!block.is_open || block.size < element) return block.size / element;
  return block.type == format::kPointer ? rows_in(process, block) : 1;
}

// The position of a byte in a block: that of its type, or in the rest, a leaf for each byte.
bool position_in(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t rest, uint64_t offset,
                 const void* memory, uint64_t* position);
// Before a block, `offset` is negative, modulo 2^64; false where that is farther than there are addresses.
bool offset_in(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t rest, uint64_t position,
               const format::Representation& writer, uint64_t* offset);

}  // namespace elc::state

#endif
