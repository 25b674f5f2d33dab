#include "state/blocks.h"

#include <algorithm>

#include "base/sort.h"
#include "state/asked.h"

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

static uintptr_t begin_of(const Block& block) { return reinterpret_cast<uintptr_t>(block.address); }

// Regions are few and change with every frame; the million blocks of a list keep their order.
Result BlockMap::build(Process& process) {
  process_ = &process;
  list_regions(process, &regions_);
  by_region_.clear();
  for (size_t i = 0; i < regions_.size(); ++i)
    by_region_.push_back(
        {reinterpret_cast<uintptr_t>(regions_[i]->address), regions_[i]->size, static_cast<uint32_t>(i)});
  sort(&by_region_);
  Heap& heap = process.heap;
  heap.arrange();
  if (heap_generation_ != heap.generation()) {
    heap_generation_ = ~uint64_t{0};
    heap_size_ = heap_largest_ = 0;
    for (const Block& block : heap.slots()) {
      heap_size_ += block.size;
      heap_largest_ = std::max(heap_largest_, block.size);
    }
    by_block_.clear();
    bool room = true;
    heap.each_other([&](size_t slot) {
      const Block& block = heap.slots()[slot];
      room = room && by_block_.make_room(1);
      if (room) by_block_.push_back({begin_of(block), block.size, static_cast<uint32_t>(slot)});
    });
    if (!room) return no_memory(by_block_.size() * sizeof(Extent), "an index of the heap's blocks");
    sort(&by_block_);
    heap_generation_ = heap.generation();
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
    const Block* block = last_block(extent.begin, static_cast<uintptr_t>(extent.begin + extent.size - 1));
    if (block != nullptr && begin_of(*block) + block->size > extent.begin)
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

const Block* BlockMap::last_block(uintptr_t low, uintptr_t high) const {
  const Heap& heap = process_->heap;
  const size_t small = heap.last_small(low > Heap::kSmall ? low - static_cast<uintptr_t>(Heap::kSmall) : 0, high);
  const Extent* other = last_before(by_block_, high);
  const Vector<Block>& slots = heap.slots();
  if (small != Heap::kNoSlot && (other == nullptr || begin_of(slots[small]) > other->begin)) return &slots[small];
  return other == nullptr ? nullptr : &slots[other->index];
}

const Region* BlockMap::region_after(uintptr_t address) const {
  const Extent* const last = last_before(by_region_, address);
  const Extent* const next = last == nullptr ? by_region_.begin() : last + 1;
  return next == by_region_.end() ? nullptr : regions_[next->index];
}

uint64_t BlockMap::largest() const {
  uint64_t size = heap_largest_;
  for (const Extent& region : by_region_) size = std::max(size, region.size);
  for (const Extent& region : late_) size = std::max(size, region.size);
  return size;
}

uint64_t BlockMap::size() const {
  uint64_t size = heap_size_;
  for (const Extent& region : by_region_) size += region.size;
  for (const Extent& region : late_) size += region.size;
  return size;
}

bool BlockMap::has_some_in(uintptr_t begin, uintptr_t end) const {
  // Variables may lie in each other (a static that two calls have registered); blocks do not.
  for (const Extent& region : by_region_)
    if (region.begin < end && region.begin + region.size > begin) return true;
  for (const Extent& region : late_)
    if (region.begin < end && region.begin + region.size > begin) return true;
  const Block* block = last_block(begin, end - 1);
  return block != nullptr && begin_of(*block) + block->size > begin;
}

bool position_in(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t rest, uint64_t offset,
                 const void* memory, uint64_t* position) {
  const format::TypeInfo& info = types.info(type);
  if (rest == 0 || offset < count * info.size) return types.position(type, count, offset, memory, position);
  *position = format::make_position(count * info.leaves + (offset - count * info.size), 0);
  return true;
}

constexpr uint64_t kFarthest = sizeof(void*) == 4 ? uint64_t{1} << 30 : uint64_t{1} << 46;

bool offset_in(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t rest, uint64_t position,
               const format::Representation& writer, uint64_t* offset) {
  const format::TypeInfo& info = types.info(type);
  const uint64_t leaf = format::leaf_of(position);
  if (const uint64_t before = format::leaves_before(position); before > 0) {
    const uint64_t elements = before / info.leaves;
    if (before % info.leaves != 0 || format::extra_of(position) != 0 || elements > kFarthest / info.size) return false;
    *offset = uint64_t{0} - elements * info.size;
    return true;
  }
  if (rest == 0 || leaf <= count * info.leaves) return types.offset(type, count, position, writer, offset);
  if (leaf - count * info.leaves > rest) return false;
  *offset = count * info.size + (leaf - count * info.leaves);
  return true;
}

// The type of the scalar that begins at an offset of elements of `type`; kNone: none does, or a union has it.
static TypeId scalar_at(const format::TypeTable& types, TypeId type, uint64_t offset) {
  while (types.info(type).kind == format::kStruct) {
    offset %= types.info(type).size;
    TypeId inner = format::kNone;
    for (const format::FieldInfo& field : types.fields(type))
      if (offset >= field.offset && offset - field.offset < field.count * types.size_of(field.type)) {
        inner = field.type;
        offset -= field.offset;
        break;
      }
    if (inner == format::kNone) return format::kNone;
    type = inner;
  }
  return type < format::kFirstMade && offset % types.info(type).size == 0 ? type : static_cast<TypeId>(format::kNone);
}

// A pointer to `target`, at `offset` in elements of a struct: one behind an array of those is where a field of another type, or the next
// element, begins, which on another machine may be farther. To characters anything may be pointed to.
static void prefer_end(const format::TypeTable& types, TypeId type, uint64_t count, uint64_t offset, const void* memory, TypeId target, uint64_t* position) {
  if (target <= static_cast<TypeId>(format::kUchar) || target >= static_cast<TypeId>(format::kByte) || types.info(type).kind != format::kStruct || format::extra_of(*position) != 0) return;
  const uint64_t width = types.size_of(target), size = count * types.size_of(type);
  if (offset < width || offset > size || (offset < size && scalar_at(types, type, offset) == target) || scalar_at(types, type, offset - width) != target) return;
  uint64_t last;
  if (types.position(type, count, offset - width, memory, &last)) *position = format::make_position(format::leaf_of(last), format::kPastLeaf);
}

format::PointerLeaf BlockMap::in_region(const Extent& extent, uintptr_t address, TypeId target) const {
  const Region& region = *regions_[extent.index];
  const uint64_t offset = address - extent.begin;
  format::PointerLeaf pointer = {1 + extent.index, 0};
  if (!process_->types.position(region.type, region.count, offset, region.address, &pointer.position)) return {format::kWildBlock, address};
  prefer_end(process_->types, region.type, region.count, offset, region.address, target, &pointer.position);
  return pointer;
}

format::PointerLeaf BlockMap::in_block(const Block& block, uintptr_t address, TypeId target) const {
  const uint64_t count = elements_of(*process_, block), offset = address - begin_of(block);
  const uint64_t rest = block.size - count * process_->types.size_of(block.type);
  format::PointerLeaf pointer = {format::kFirstById + block.id, 0};
  if (!position_in(process_->types, block.type, count, rest, offset, block.address, &pointer.position)) return {format::kWildBlock, address};
  prefer_end(process_->types, block.type, count, offset, block.address, target, &pointer.position);
  return pointer;
}

bool BlockMap::holds(uintptr_t begin, uint64_t size) const {
  const Block* block = last_block(begin, begin);
  return holds_variable(begin, size, false) || holds_variable(begin, size, true) || (block != nullptr && state::holds(begin_of(*block), block->size, begin, size));
}

bool BlockMap::holds_variable(uintptr_t begin, uint64_t size, bool resizes) const {
  const Extent* region = last_before(by_region_, begin);
  return region != nullptr && regions_[region->index]->resizes == resizes && state::holds(region->begin, region->size, begin, size);
}

// Whether a pointer to `target` may lead to the beginning of elements of `type`: to one of those, to a struct that begins with one, or
// to a handle, which some MPIs have as an int.
static bool may_begin(const format::TypeTable& types, TypeId type, TypeId target) {
  while (type != target && types.info(type).kind == format::kStruct) type = types.fields(type)[0].type;
  const format::TypeInfo& first = types.info(type);
  return type == target || (first.kind > format::kFile && first.kind < format::kKindCount && target < format::kFirstMade &&
                            format::is_integer(static_cast<format::Kind>(target)) && first.size == types.size_of(target));
}

format::PointerLeaf BlockMap::encode(const void* pointer, TypeId target) const {
  if (pointer == nullptr) return {format::kNullBlock, 0};
  // Most pointers of linked structures point to the beginning of a block.
  if (const Block* block = process_->heap.find(pointer); block != nullptr)
    return {format::kFirstById + block->id, 0};
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  const Extent* region = last_before(by_region_, address);
  if (region != nullptr && (address - region->begin < region->size || address == region->begin)) {
    const Extent* before = region != by_region_.data() ? region - 1 : region;
    const bool past_end = target != format::kNone && before->begin + before->size == address && regions_[before->index]->type == target &&
                          !may_begin(process_->types, regions_[region->index]->type, target);
    return in_region(past_end ? *before : *region, address, target);
  }
  const Block* block = last_block(address, address);
  if (block != nullptr && address - begin_of(*block) < block->size) return in_block(*block, address, target);
  if (region != nullptr && address - region->begin == region->size) return in_region(*region, address, target);
  if (block != nullptr && address - begin_of(*block) == block->size) return in_block(*block, address, target);
  return process_->apart > 0 ? before_block(address, target) : format::PointerLeaf{format::kWildBlock, address};
}

bool are_of(const Process& process, TypeId type, TypeId target) {
  const TypeId* const twin = process.types_with_gaps.find(static_cast<uint64_t>(target));
  return target == format::kNone || target == type || (twin != nullptr && *twin == type);
}

// Memory that was freed may have been there as well, but nobody follows a pointer to it.
format::PointerLeaf BlockMap::before_block(uintptr_t address, TypeId target) const {
  constexpr uintptr_t kUnit = 2 * sizeof(void*);
  for (uintptr_t at = (address / kUnit + 1) * kUnit; at - address <= process_->apart; at += kUnit) {
    const Block* const block = process_->heap.find(reinterpret_cast<const void*>(at));
    if (block == nullptr) continue;
    const format::TypeInfo& type = process_->types.info(block->type);
    if ((at - address) % type.size != 0 || (block->type != format::kByte && !are_of(*process_, block->type, target))) break;
    return {format::kFirstById + block->id, format::position_before((at - address) / type.size * type.leaves)};
  }
  return {format::kWildBlock, address};
}

const Block* BlockMap::block_of(const void* pointer) const {
  const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
  const Block* block = last_block(address, address);
  return block != nullptr && address - begin_of(*block) <= block->size ? block : nullptr;
}

}  // namespace elc::state
