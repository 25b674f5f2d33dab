// The table of the program's heap blocks, kept by side: a program that overruns a block cannot
// destroy it.
#ifndef ELC_STATE_HEAP_H
#define ELC_STATE_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include <utility>

#include "base/compiler.h"
#include "base/hash_map.h"
#include "base/vector.h"
#include "portable_format/types.h"

namespace elc::state {

struct Block {
  uint8_t* address = nullptr;
  uint64_t size = 0;           // bytes, as asked for
  uint64_t id = 0;             // counts the blocks that the program has made, from 1
  format::TypeId type = 0;     // kByte until the program says better
  bool guessed = false;        // the type is that of the pointers to it, and only for the line being taken
  bool stays_bytes = false;    // no pointer to it says what it holds: pointers to numbers of other sizes lead into it, too
  bool is_open : 1 = false;    // one element of its type, and bytes: of a struct that ends with more than its type says; or rows_in()
  bool is_doubted : 1 = false; // its values were not all of its type's: what the program says next holds
  bool has_numbers : 1 = false;  // perhaps: of pointers, to which the program has converted a pointer to numbers
  bool has_word : 1 = false;   // more than was asked for, which the program has written there
  bool has_huge_pages = false; // the system was asked for them
};

// Where blocks have begun that are gone: of those that share a place the last.
class Gone {
 public:
  void note(const void* block) {
    if (all_.size() == 0) all_.resize(kPlaces);
    all_[place_of(block)] = block;
  }
  bool has(const void* address) const { return all_.size() > 0 && all_[place_of(address)] == address; }

 private:
  static constexpr size_t kPlaces = size_t{1} << 15;
  // Of blocks side by side, side by side: they are freed one after the other.
  static size_t place_of(const void* block) { return reinterpret_cast<uintptr_t>(block) / (2 * sizeof(void*)) % kPlaces; }

  Vector<const void*> all_;
};

// Blocks in slots, and two ways to the slot of an address. Where small blocks begin is in tables that have an entry for each
// unit of a piece of memory: what lies side by side there has its entries side by side, so that an entry is as far away as
// the block itself, and on its way from memory at the same time. What is large, or does not begin where a unit does, is in a
// hash table.
class Heap {
 public:
  Heap() = default;
  Heap(const Heap&) = delete;
  Heap& operator=(const Heap&) = delete;
  ~Heap() { clear(); }

  // The block that begins at `address`, or nullptr. Valid until a block is added.
  Block* find(const void* address);
  // The same if it is the one that was added last, which is what most are asked for; nullptr: it is another, or none.
  Block* find_newest(const void* address) { return address == newest_ && address != nullptr ? &slots_[newest_slot_] : nullptr; }
  Block* newest() { return newest_ != nullptr ? &slots_[newest_slot_] : nullptr; }
  // Room for one more block. false: there is no memory for it.
  bool make_room() { return has_room() || ((has_slot() || make_slots()) && (others_have_room_ = others_.make_room())); }
  // Whether there is; false: nobody knows.
  bool has_room() const { return has_slot() && others_have_room_; }
  // A block that the C library has given; after make_room.
  Block& add(void* address, uint64_t size, format::TypeId type);
  // Instead of all there are, those of a line: by ascending id, below `next_id`. false: there is no memory for them, and
  // there are none.
  bool take_over(Vector<Block>&& blocks, uint64_t next_id);
  // Forgets the block that begins there, if there is one.
  void remove(const void* address);
  // realloc has moved a block or changed its size; it keeps id and type. After make_room.
  void moved(Block* block, void* address, uint64_t size);

  // So that all slots hold blocks, in the order of their ids.
  void arrange();
  Vector<Block>& slots() { return slots_; }
  const Vector<Block>& slots() const { return slots_; }
  size_t size() const { return slots_.size() - waiting_.size(); }
  // Changes when the set of blocks, an address or a size changes.
  uint64_t generation() const { return generation_; }
  uint64_t next_id() const { return next_id_; }
  // Forgets all blocks; does not free them.
  void clear();

  // Of the blocks in the tables, the slot of the one that begins last from `low` to `high`, or kNoSlot. Those are smaller
  // than kSmall.
  static constexpr size_t kNoSlot = ~size_t{0};
  static constexpr uint64_t kSmall = 4096;
  size_t last_small(uintptr_t low, uintptr_t high) const;
  // The block in which the address lies, or which ends there; nullptr: none. Looks at all blocks that are not in the tables.
  const Block* holder(const void* address) const;
  // Calls visit(slot) for the others.
  template <class F>
  void each_other(F visit) const {
    others_.each([&visit](uint64_t, uint32_t slot) { visit(size_t{slot} - 1); });
  }

 private:
  static constexpr uintptr_t kUnit = 2 * sizeof(void*);    // to a multiple of which malloc aligns, on most systems
  static constexpr uintptr_t kPiece = uintptr_t{1} << 20;  // memory that one table is for
  static constexpr size_t kMostSlots = ~uint32_t{0} - size_t{1};
  struct Table {
    Table* next;    // of those that are spare
    uint32_t used;  // entries that are not 0
    uint32_t entries[kPiece / kUnit];
  };
  // Tables are found by the number of their piece, in two steps without a search: what is found at random all the time must
  // not make the processor guess. Addresses of a process have fewer than 48 bits; what is beyond has no table.
  static constexpr uintptr_t kPieces = sizeof(void*) == 4 ? uintptr_t{1} << 12 : uintptr_t{1} << 14 << 14;
  static constexpr uintptr_t kTables = uintptr_t{1} << (sizeof(void*) == 4 ? 12 : 14);
  struct Area {
    Table* tables[kTables];
  };

  Table* table_of(uintptr_t address) const {
    const uintptr_t piece = address / kPiece;
    if (piece >= pieces_) return nullptr;
    const Area* area = areas_[piece / kTables];
    return area == nullptr ? nullptr : area->tables[piece % kTables];
  }
  Table* table_for(uintptr_t address);  // made if need be; nullptr: there is no memory for it
  uint32_t& entry_of(Table* table, uintptr_t address) const { return table->entries[address % kPiece / kUnit]; }
  void spare(uintptr_t address, Table* table);
  // What is entered is 1 + slot, 0 for none.
  uint32_t* place_of(const void* address);                            // nullptr: nothing is
  // Whether there may be one in the hash table.
  uint32_t& others_like(uintptr_t address) { return others_like_[address / kUnit % kLikes]; }
  uint32_t enter(const void* address, uint64_t size, uint32_t slot);  // what was entered before
  uint32_t leave(const void* address);                                // the same
  uint32_t leave_other(uintptr_t address);                            // of the hash table alone
  bool has_slot() const { return !waiting_.empty() || slots_.size() < room_; }
  bool make_slots();
  void let_wait(uint32_t entered);
  void forget_slots();

  Vector<Block> slots_;
  Area** areas_ = nullptr;
  uintptr_t pieces_ = 0;  // kPieces, if there are areas
  size_t table_count_ = 0;
  HashMap<uint32_t> others_;  // by address
  bool others_have_room_ = false;  // for one more; false: nobody knows
  // How many of those have an address like this: large blocks begin at few places of their pages, so that hardly any small one is like
  // them, and nobody has to look for it there.
  static constexpr size_t kLikes = 1024;
  uint32_t others_like_[kLikes] = {};
  Table* spare_ = nullptr;  // without an entry
  size_t spare_count_ = 0;
  Vector<uint32_t> waiting_;  // slots whose blocks were freed: they are as they were, and the last is taken next. Has room for all
  size_t room_ = 0;       // slots that there is memory for, in both
  const void* newest_ = nullptr;  // the block that was added last, while it is there and where it was
  uint32_t newest_slot_ = 0;
  bool reused_ = false;   // a slot, since arrange()
  uint64_t ordered_ = 1;  // blocks of ids below this are in the order of their ids
  uint64_t generation_ = 0;
  uint64_t next_id_ = 1;
};

// What is made, found and freed most, small blocks in memory that has a table already, is written for few instructions: a processor
// that waits for memory goes on with what comes behind only as far as these let it see.

ELC_INLINE uint32_t* Heap::place_of(const void* address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  if (Table* table = table_of(at); table != nullptr && at % kUnit == 0) [[likely]]
    if (uint32_t& entry = entry_of(table, at); entry != 0) [[likely]] return &entry;
  return others_like(at) == 0 ? nullptr : others_.find(at);
}

ELC_INLINE Block* Heap::find(const void* address) {
  const uint32_t* slot = place_of(address);
  return slot == nullptr ? nullptr : &slots_[*slot - 1];
}

ELC_INLINE Block& Heap::add(void* address, uint64_t size, format::TypeId type) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  ++generation_;
  uint32_t slot = static_cast<uint32_t>(slots_.size());
  if (waiting_.empty()) {
    slots_.push_in_room({static_cast<uint8_t*>(address), size, next_id_++, type, false});
  } else {
    slot = waiting_.back();
    waiting_.pop_back();
    slots_[slot] = {static_cast<uint8_t*>(address), size, next_id_++, type, false};
    reused_ = true;
  }
  Table* const table = table_of(at);
  if (size < kSmall && at % kUnit == 0 && table != nullptr && entry_of(table, at) == 0 && others_like(at) == 0) [[likely]] {
    entry_of(table, at) = slot + 1;
    ++table->used;
  } else if (const uint32_t before = enter(address, size, slot + 1); before != 0) {
    let_wait(before);  // it was freed behind the library's back
  }
  newest_ = address;
  newest_slot_ = slot;
  return slots_[slot];
}

// The slot is not touched: it may be far away.
ELC_INLINE void Heap::let_wait(uint32_t entered) {
  waiting_.push_in_room(entered - 1);
  if (waiting_.size() == slots_.size()) [[unlikely]] forget_slots();
}

ELC_INLINE void Heap::remove(const void* address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  if (address == newest_) newest_ = nullptr;
  Table* const table = table_of(at);
  uint32_t slot = 0;
  if (table != nullptr && at % kUnit == 0 && table->used > 1) [[likely]] {
    slot = std::exchange(entry_of(table, at), 0);
    if (slot != 0) --table->used;
  }
  if (slot == 0) slot = leave(address);
  if (slot == 0) return;
  ++generation_;
  let_wait(slot);
}

}  // namespace elc::state

#endif
