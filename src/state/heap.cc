#include "state/heap.h"

#include <algorithm>
#include <utility>

#include "base/compiler.h"
#include "state/huge_pages.h"

namespace elc::state {
namespace {

uintptr_t number_of(const void* address) { return reinterpret_cast<uintptr_t>(address); }

// In place, by one byte of the ids after the other, from the highest that they differ in: it asks for no memory, of which a
// process with millions of blocks may have little.
void sort_by_id(Block* blocks, size_t count, int shift) {
  constexpr size_t kFew = 24;
  if (count <= kFew || shift < 0) {
    for (size_t i = 1; i < count; ++i)
      for (size_t k = i; k > 0 && blocks[k - 1].id > blocks[k].id; --k) std::swap(blocks[k - 1], blocks[k]);
    return;
  }
  size_t begin[257] = {}, at[256];
  for (size_t i = 0; i < count; ++i) ++begin[1 + (blocks[i].id >> shift & 255)];
  for (size_t digit = 0; digit < 256; ++digit) begin[digit + 1] += begin[digit];
  for (size_t digit = 0; digit < 256; ++digit) at[digit] = begin[digit];
  for (size_t digit = 0; digit < 256; ++digit)
    while (at[digit] < begin[digit + 1]) {
      Block& block = blocks[at[digit]];
      size_t& place = at[block.id >> shift & 255];
      if (&place != &at[digit]) std::swap(block, blocks[place]);
      ++place;
    }
  for (size_t digit = 0; digit < 256; ++digit)
    sort_by_id(blocks + begin[digit], begin[digit + 1] - begin[digit], shift - 8);
}

int highest_byte(uint64_t number) {
  int shift = 0;
  while (shift < 56 && number >> shift >> 8 != 0) shift += 8;
  return shift;
}

}  // namespace

// ---- From an address to a slot -------------------------------------------------------------------

Heap::Table* Heap::table_for(uintptr_t address) {
  if (Table* table = table_of(address)) [[likely]] return table;
  const uintptr_t piece = address / kPiece;
  if (piece >= kPieces) return nullptr;
  if (areas_ == nullptr) areas_ = static_cast<Area**>(try_allocate_zeroed(kPieces / kTables * sizeof(Area*)));
  if (areas_ == nullptr) return nullptr;
  pieces_ = kPieces;
  Area*& area = areas_[piece / kTables];
  if (area == nullptr) area = static_cast<Area*>(try_allocate_zeroed(sizeof(Area)));
  if (area == nullptr) return nullptr;
  Table* table = spare_;
  if (table != nullptr) {
    spare_ = table->next;
    --spare_count_;
  } else {
    table = static_cast<Table*>(try_allocate_zeroed(sizeof(Table)));
  }
  if (table != nullptr) ++table_count_;
  return area->tables[piece % kTables] = table;
}

// It has become empty. Some are kept, for a program that makes and frees a single block again and again.
void Heap::spare(uintptr_t address, Table* table) {
  constexpr size_t kSome = 8;
  const uintptr_t piece = address / kPiece;
  areas_[piece / kTables]->tables[piece % kTables] = nullptr;
  --table_count_;
  if (spare_count_ >= kSome + table_count_ / 4) return release(table);
  table->next = spare_;
  spare_ = table;
  ++spare_count_;
}

uint32_t Heap::enter(const void* address, uint64_t size, uint32_t slot) {
  const uintptr_t at = number_of(address);
  Table* table = size < kSmall && at % kUnit == 0 ? table_for(at) : nullptr;
  if (table == nullptr) {
    const uint32_t before = leave(address);
    others_.at(at) = slot;
    others_have_room_ = false;
    ++others_like(at);
    Block& block = slots_[slot - 1];
    if (!block.has_huge_pages) block.has_huge_pages = ask_for_huge_pages(block.address, size);
    return before;
  }
  const uint32_t before = std::exchange(entry_of(table, at), slot);
  if (before != 0) return before;
  ++table->used;
  return leave_other(at);
}

uint32_t Heap::leave(const void* address) {
  const uintptr_t at = number_of(address);
  if (Table* table = table_of(at); table != nullptr && at % kUnit == 0)
    if (const uint32_t slot = std::exchange(entry_of(table, at), 0); slot != 0) {
      if (--table->used == 0) spare(at, table);
      return slot;
    }
  return leave_other(at);
}

uint32_t Heap::leave_other(uintptr_t address) {
  const uint32_t* found = others_like(address) == 0 ? nullptr : others_.find(address);
  if (found == nullptr) return 0;
  const uint32_t slot = *found;
  Block& block = slots_[slot - 1];
  if (std::exchange(block.has_huge_pages, false)) return_huge_pages(block.size);
  others_.remove(address);
  --others_like(address);
  return slot;
}

size_t Heap::last_small(uintptr_t low, uintptr_t high) const {
  for (uintptr_t piece = high / kPiece;; --piece) {
    const uintptr_t begin = piece * kPiece;
    if (const Table* table = table_of(begin)) {
      const uintptr_t first = low > begin ? (low - begin + kUnit - 1) / kUnit : 0;
      for (uintptr_t end = (high - begin < kPiece ? high - begin : kPiece - 1) / kUnit + 1; end > first; --end)
        if (table->entries[end - 1] != 0) return table->entries[end - 1] - 1;
    }
    if (begin <= low) return kNoSlot;
  }
}

const Block* Heap::holder(const void* address) const {
  const uintptr_t at = number_of(address);
  const Block* found = nullptr;
  const auto look = [&](size_t slot) {
    const Block& block = slots_[slot];
    if (at - number_of(block.address) <= block.size) found = &block;
  };
  if (const size_t small = last_small(at > kSmall ? at - static_cast<uintptr_t>(kSmall) : 0, at); small != kNoSlot) look(small);
  if (found == nullptr) each_other(look);
  return found;
}

// ---- Blocks ------------------------------------------------------------------------------------------

// Also for the slots to wait one day: nobody can be told then that there is no memory for it.
bool Heap::make_slots() {
  const size_t slots = slots_.size() + 1;
  if (slots > kMostSlots || !slots_.make_room(1) || !waiting_.make_room(slots)) return false;
  room_ = std::min(std::min(slots_.capacity(), waiting_.capacity()), kMostSlots);
  return true;
}

void Heap::forget_slots() {
  slots_.clear();
  waiting_.clear();
  reused_ = false;
}

void Heap::moved(Block* block, void* address, uint64_t size) {
  ++generation_;
  newest_ = nullptr;
  const uint32_t slot = leave(block->address);
  block->address = static_cast<uint8_t*>(address);
  block->size = size;
  block->has_word = false;
  if (const uint32_t before = enter(address, size, slot); before != 0) let_wait(before);
}

// Blocks of before keep their order while the others go behind them, and those are sorted.
void Heap::arrange() {
  newest_ = nullptr;
  if (!waiting_.empty() || reused_) {
    for (const uint32_t slot : waiting_) slots_[slot].address = nullptr;
    const uint64_t ordered = reused_ ? ordered_ : next_id_;
    size_t kept = 0, moved = slots_.size();
    const auto gather = [&](auto wanted) {
      for (size_t i = kept; i < slots_.size(); ++i) {
        if (!wanted(slots_[i])) continue;
        if (i != kept) std::swap(slots_[i], slots_[kept]);
        if (i != kept && kept < moved) moved = kept;
        ++kept;
      }
    };
    gather([&](const Block& block) { return block.address != nullptr && block.id < ordered; });
    const size_t sorted = kept;
    gather([](const Block& block) { return block.address != nullptr; });
    slots_.resize(kept);
    sort_by_id(slots_.data() + sorted, kept - sorted, highest_byte(ordered_ ^ (next_id_ - 1)));
    constexpr size_t kAhead = 16;  // entries that are on their way from memory meanwhile
    for (size_t i = reused_ && sorted < moved ? sorted : moved; i < kept; ++i) {
      if (i + kAhead < kept) {
        const uintptr_t ahead = number_of(slots_[i + kAhead].address);
        if (Table* table = table_of(ahead)) ELC_PREFETCH(&entry_of(table, ahead));
      }
      *place_of(slots_[i].address) = static_cast<uint32_t>(i + 1);
    }
    waiting_.clear();
    reused_ = false;
  }
  ordered_ = next_id_;
}

bool Heap::take_over(Vector<Block>&& blocks, uint64_t next_id) {
  clear();
  slots_.swap(blocks);
  room_ = 0;
  next_id_ = ordered_ = next_id;
  bool room = slots_.size() <= kMostSlots && waiting_.make_room(slots_.size());
  for (size_t i = 0; i < slots_.size() && room; ++i) {
    room = others_.make_room();
    if (room) enter(slots_[i].address, slots_[i].size, static_cast<uint32_t>(i + 1));
  }
  if (!room) clear();
  return room;
}

void Heap::clear() {
  ++generation_;
  newest_ = nullptr;
  for (uintptr_t i = 0; areas_ != nullptr && i < kPieces / kTables; ++i) {
    if (areas_[i] == nullptr) continue;
    for (Table* table : areas_[i]->tables) release(table);
    release(areas_[i]);
  }
  release(std::exchange(areas_, nullptr));
  pieces_ = 0;
  table_count_ = 0;
  while (Table* table = spare_) {
    spare_ = table->next;
    release(table);
  }
  spare_count_ = 0;
  others_.clear();
  others_have_room_ = false;
  for (uint32_t& like : others_like_) like = 0;
  slots_.clear();
  waiting_.clear();
  reused_ = false;
}

}  // namespace elc::state
