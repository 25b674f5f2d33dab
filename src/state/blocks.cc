#include "state/blocks.h"

#include <algorithm>

#include "base/sort.h"

namespace elc::state {

void list_regions(const Process& process, Vector<const Region*>* out) {
  out->clear();
  for (const Region& region : process.globals) out->push_back(&region);
  for (const Region& region : process.locals) out->push_back(&region);
}

void BlockMap::sort(Vector<Extent>* extents) {
  elc::sort(*extents, [](const Extent& a, const Extent& b) {
    if (a.begin != b.begin) return a.begin < b.begin;
    return a.size != b.size ? a.size < b.size
                            : a.index < b.index;  // an empty array comes first: it hides nothing
  });
}

// Regions are few and change with every frame; the million blocks of a list keep their order.
Result BlockMap::build(Process& process) {
  process_ = &process;
  list_regions(process, &regions_);
  by_region_.clear();
  for (size_t i = 0; i < regions_.size(); ++i)
    by_region_.push_back(
        {reinterpret_cast<uintptr_t>(regions_[i]->address), regions_[i]->size, static_cast<uint32_t>(i)});
  sort(&by_region_);
  process.heap.compact();
  if (heap_generation_ != process.heap.generation()) {
    const Vector<Block>& slots = process.heap.slots();
    by_block_.clear();
    heap_generation_ = ~uint64_t{0};
    if (!by_block_.make_room(slots.size())) return no_memory(slots.size() * sizeof(Extent), "an index of the heap's blocks");
    for (size_t i = 0; i < slots.size(); ++i)
      by_block_.push_back(
          {reinterpret_cast<uintptr_t>(slots[i].address), slots[i].size, static_cast<uint32_t>(i)});
    sort(&by_block_);
    heap_generation_ = process.heap.generation();
  }
  ELC_TRY(check_regions());
  // A restart may not know where it will have these, so no pointer of a line leads there.
  late_.clear();
  size_t kept = 0;
  for (const Extent& extent : by_region_) {
    if (regions_[extent.index]->is_late)
      late_.push_back(extent);
    else
      by_region_[kept++] = extent;
  }
  by_region_.resize(kept);
  return Result();
}

// The same variable in two scopes (a static of a function that calls itself) is no conflict; anything else
// that shares a byte is.
Result BlockMap::check_regions() const {
  const Region* widest = nullptr;
  for (const Extent& extent : by_region_) {
    const Region& region = *regions_[extent.index];
    if (region.size == 0) continue;
    const bool same = widest != nullptr && widest->address == region.address && widest->size == region.size &&
                      widest->type == region.type && !widest->is_static && !region.is_static;
    if (widest != nullptr && region.address < widest->address + widest->size && !same)
      return Result::error(
          "'%s' of %s overlaps '%s' of %s: every byte is registered once, and ELC_Leave comes before every "
          "return",
          region.name, owner_of(*process_, region).c_str(), widest->name,
          owner_of(*process_, *widest).c_str());
    if (widest == nullptr || region.address + region.size > widest->address + widest->size) widest = &region;
    const Extent* block = last_before(by_block_, static_cast<uintptr_t>(extent.begin + extent.size - 1));
    if (block != nullptr && block->begin + block->size > extent.begin)
      return Result::error(
          "'%s' of %s lies in a block of %llu bytes from ELC_malloc, which is saved as such: give it its "
          "type by "
          "ELC_Set_type, and register the pointer to it with ELC_PTR",
          region.name, owner_of(*process_, region).c_str(), static_cast<unsigned long long>(block->size));
  }
  return Result();
}

const BlockMap::Extent* BlockMap::last_before(const Vector<Extent>& extents, uintptr_t address) {
  const Extent* after = std::upper_bound(extents.begin(), extents.end(), address,
                                         [](uintptr_t a, const Extent& e) { return a < e.begin; });
  return after == extents.begin() ? nullptr : after - 1;
}

uint64_t BlockMap::largest() const {
  uint64_t size = 0;
  for (const Extent& region : by_region_) size = std::max(size, region.size);
  for (const Extent& region : late_) size = std::max(size, region.size);
  for (const Extent& block : by_block_) size = std::max(size, block.size);
  return size;
}

uint64_t BlockMap::size() const {
  uint64_t size = 0;
  for (const Extent& region : by_region_) size += region.size;
  for (const Extent& region : late_) size += region.size;
  for (const Extent& block : by_block_) size += block.size;
  return size;
}

bool BlockMap::has_some_in(uintptr_t begin, uintptr_t end) const {
  // Variables may lie in each other (a static that two calls have registered); blocks do not.
  for (const Extent& region : by_region_)
    if (region.begin < end && region.begin + region.size > begin) return true;
  for (const Extent& region : late_)
    if (region.begin < end && region.begin + region.size > begin) return true;
  const Extent* block = last_before(by_block_, end - 1);
  return block != nullptr && block->begin + block->size > begin;
}

bool position_in(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t rest, uint64_t offset,
                 const void* memory, uint64_t* position) {
  const format::TypeInfo& info = types.info(type);
  if (rest == 0 || offset < count * info.size) return types.position(type, count, offset, memory, position);
  *position = format::make_position(count * info.leaves + (offset - count * info.size), 0);
  return true;
}

bool offset_in(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t rest, uint64_t position,
               const format::Representation& writer, uint64_t* offset) {
  const format::TypeInfo& info = types.info(type);
  const uint64_t leaf = format::leaf_of(position);
  if (rest == 0 || leaf <= count * info.leaves) return types.offset(type, count, position, writer, offset);
  if (leaf - count * info.leaves > rest) return false;
  *offset = count * info.size + (leaf - count * info.leaves);
  return true;
}

format::PointerLeaf BlockMap::in_region(const Extent& extent, uintptr_t address) const {
  const Region& region = *regions_[extent.index];
  format::PointerLeaf pointer = {1 + extent.index, 0};
  if (!process_->types.position(region.type, region.count, address - extent.begin, region.address,
                                &pointer.position))
    return {format::kWildBlock, address};
  return pointer;
}

format::PointerLeaf BlockMap::in_block(size_t slot, uintptr_t address) const {
  const Block& block = process_->heap.slots()[slot];
  const uint64_t count = elements_of(*process_, block);
  const uint64_t rest = block.size - count * process_->types.size_of(block.type);
  format::PointerLeaf pointer = {1 + regions_.size() + slot, 0};
  if (!position_in(process_->types, block.type, count, rest,
                   address - reinterpret_cast<uintptr_t>(block.address), block.address, &pointer.position))
    return {format::kWildBlock, address};
  return pointer;
}

bool BlockMap::holds(const Vector<Extent>& extents, uintptr_t begin, uint64_t size) {
  const Extent* extent = last_before(extents, begin);
  return extent != nullptr && begin - extent->begin <= extent->size && size <= extent->size - (begin - extent->begin);
}

bool BlockMap::holds(uintptr_t begin, uint64_t size) const {
  return holds(by_region_, begin, size) || holds(by_block_, begin, size);
}

bool BlockMap::holds_variable(uintptr_t begin, uint64_t size) const { return holds(by_region_, begin, size); }

format::PointerLeaf BlockMap::encode(const void* pointer, TypeId target) const {
  if (pointer == nullptr) return {format::kNullBlock, 0};
  // Most pointers of linked structures point to the beginning of a block.
  if (const Block* block = process_->heap.find(pointer); block != nullptr)
    return {1 + regions_.size() + static_cast<size_t>(block - process_->heap.slots().data()), 0};
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  const Extent* region = last_before(by_region_, address);
  if (region != nullptr && (address - region->begin < region->size || address == region->begin)) {
    const Extent* before = region != by_region_.data() ? region - 1 : region;
    const bool ends_here = target != format::kNone && before->begin + before->size == address;
    const bool past_end = ends_here && regions_[region->index]->type != target && regions_[before->index]->type == target;
    return in_region(past_end ? *before : *region, address);
  }
  const Extent* block = last_before(by_block_, address);
  if (block != nullptr && address - block->begin < block->size) return in_block(block->index, address);
  if (region != nullptr && address - region->begin == region->size) return in_region(*region, address);
  if (block != nullptr && address - block->begin == block->size) return in_block(block->index, address);
  return {format::kWildBlock, address};
}

}  // namespace elc::state
