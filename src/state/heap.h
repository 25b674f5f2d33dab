// The table of the program's heap blocks, kept by side: a program that overruns a block cannot
// destroy it.
#ifndef ELC_STATE_HEAP_H
#define ELC_STATE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/hash_map.h"
#include "base/vector.h"
#include "portable_format/types.h"

namespace elc::state {

struct Block {
  uint8_t* address = nullptr;  // nullptr: the block was freed and its slot waits to be closed up
  uint64_t size = 0;           // bytes, as asked for
  uint64_t id = 0;             // counts the blocks that the program has made, from 1
  format::TypeId type = 0;     // kByte until the program says better
  bool guessed = false;        // the type is that of the pointers to it, and only for the line being taken
};

// Blocks in the order of their ids, and an open-addressing index of them by address.
class Heap {
 public:
  // The block that begins at `address`, or nullptr. Valid until a block is added.
  Block* find(const void* address);
  // Room for one more block. false: there is no memory for it.
  bool make_room();
  // An address that the table does not have; after make_room.
  Block& add(void* address, uint64_t size, format::TypeId type);
  // Instead of all there are, those of a line: by ascending id, below `next_id`. false: there is no memory for them, and
  // nothing has changed.
  bool take_over(Vector<Block>&& blocks, uint64_t next_id);
  void remove(Block* block);
  // realloc has moved a block or changed its size; it keeps id and type.
  void moved(Block* block, void* address, uint64_t size);

  // Closes up the slots of freed blocks, so that all slots hold blocks.
  void compact();
  Vector<Block>& slots() { return slots_; }
  size_t size() const { return slots_.size() - dead_; }
  // Changes when the set of blocks, an address or a size changes.
  uint64_t generation() const { return generation_; }
  uint64_t next_id() const { return next_id_; }
  // Forgets all blocks; does not free them.
  void clear();

 private:
  size_t home(const void* address) const {
    return static_cast<size_t>(mix64(reinterpret_cast<uintptr_t>(address))) & (index_.size() - 1);
  }
  size_t place_of(const void* address) const;  // in the index; of an address that is there
  void enter(const void* address, uint32_t slot);
  void leave(const void* address);
  bool rebuild(size_t capacity);

  Vector<Block> slots_;
  Vector<uint32_t> index_;  // 1 + slot, 0 for free; a power of two
  size_t dead_ = 0;
  uint64_t generation_ = 0;
  uint64_t next_id_ = 1;
};

}  // namespace elc::state

#endif
