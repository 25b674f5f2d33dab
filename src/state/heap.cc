#include "state/heap.h"

#include <utility>

#include "base/compiler.h"

namespace elc::state {

Block* Heap::find(const void* address) {
  if (index_.empty()) return nullptr;
  const size_t mask = index_.size() - 1;
  for (size_t i = home(address); index_[i] != 0; i = (i + 1) & mask) {
    Block& block = slots_[index_[i] - 1];
    if (block.address == address) return &block;
  }
  return nullptr;
}

size_t Heap::place_of(const void* address) const {
  const size_t mask = index_.size() - 1;
  size_t i = home(address);
  while (slots_[index_[i] - 1].address != address) i = (i + 1) & mask;
  return i;
}

void Heap::enter(const void* address, uint32_t slot) {
  const size_t mask = index_.size() - 1;
  size_t i = home(address);
  while (index_[i] != 0) i = (i + 1) & mask;
  index_[i] = slot + 1;
}

// Deletion by shifting back: no marks of deleted entries that make searches long.
void Heap::leave(const void* address) {
  const size_t mask = index_.size() - 1;
  size_t hole = place_of(address);
  for (size_t i = (hole + 1) & mask; index_[i] != 0; i = (i + 1) & mask) {
    const size_t wanted = home(slots_[index_[i] - 1].address);
    if (((i - wanted) & mask) < ((i - hole) & mask)) continue;
    index_[hole] = index_[i];
    hole = i;
  }
  index_[hole] = 0;
}

// The index anew, from the blocks. false: there is no memory for so large a one, and it is as it was.
bool Heap::rebuild(size_t capacity) {
  constexpr size_t kAhead = 16;  // places that are on their way from memory meanwhile
  if (capacity > index_.size() && !index_.make_room(capacity - index_.size())) return false;
  index_.clear();
  index_.resize(capacity);
  for (size_t i = 0; i < slots_.size(); ++i) {
    if (i + kAhead < slots_.size()) ELC_PREFETCH(&index_[home(slots_[i + kAhead].address)]);
    if (slots_[i].address != nullptr) enter(slots_[i].address, static_cast<uint32_t>(i));
  }
  return true;
}

bool Heap::make_room() {
  const bool enough = (slots_.size() - dead_ + 1) * 3 <= index_.size() * 2;
  return slots_.make_room(1) && (enough || rebuild(index_.empty() ? 64 : index_.size() * 2));
}

Block& Heap::add(void* address, uint64_t size, format::TypeId type) {
  ++generation_;
  enter(address, static_cast<uint32_t>(slots_.size()));
  return slots_.push_back({static_cast<uint8_t*>(address), size, next_id_++, type, false});
}

bool Heap::take_over(Vector<Block>&& blocks, uint64_t next_id) {
  size_t capacity = 64;
  while (blocks.size() * 3 > capacity * 2) capacity *= 2;
  slots_.swap(blocks);
  if (!rebuild(capacity)) {
    slots_.swap(blocks);
    return false;
  }
  ++generation_;
  dead_ = 0;
  next_id_ = next_id;
  return true;
}

void Heap::remove(Block* block) {
  ++generation_;
  leave(block->address);
  block->address = nullptr;
  ++dead_;
  while (!slots_.empty() && slots_.back().address == nullptr) {
    slots_.pop_back();
    --dead_;
  }
  if (dead_ > slots_.size() / 2 + 64) compact();
}

void Heap::moved(Block* block, void* address, uint64_t size) {
  ++generation_;
  block->size = size;
  if (address == block->address) return;
  leave(block->address);
  block->address = static_cast<uint8_t*>(address);
  enter(address, static_cast<uint32_t>(block - slots_.data()));
}

void Heap::compact() {
  if (dead_ == 0) return;
  size_t kept = 0;
  for (size_t i = 0; i < slots_.size(); ++i)
    if (slots_[i].address != nullptr) slots_[kept++] = slots_[i];
  slots_.resize(kept);
  dead_ = 0;
  rebuild(index_.size());
}

void Heap::clear() {
  ++generation_;
  slots_.clear();
  index_.clear();
  dead_ = 0;
}

}  // namespace elc::state
