// Pointers that a program has moved to before or behind what they are of: arrays that count from a number that it computes.
#include <algorithm>

#include "state/blocks.h"
#include "state/process.h"

namespace elc::state {

// Of those that are in the memory that they are of, or whose memory is gone, nothing has to be known.
void settle_moved(Process& p) {
  HashMap<uintptr_t> kept;
  p.moved.each([&](uint64_t to, uintptr_t from) {
    const format::PointerLeaf of = p.blocks->encode(reinterpret_cast<const void*>(from));
    const format::PointerLeaf leads = p.blocks->encode(reinterpret_cast<const void*>(static_cast<uintptr_t>(to)));
    if (of.block != format::kWildBlock && of.block != leads.block) kept.at(to) = from;
  });
  p.moved = std::move(kept);
}

void note_moved(Process& p, uintptr_t from, uintptr_t to) {
  constexpr size_t kLeast = 4096;
  const Block* const block = from == 0 ? nullptr : p.heap.find(reinterpret_cast<const void*>(from));
  if (from == to || from == 0 || (block != nullptr && to - from <= block->size)) return;
  const uintptr_t* const before = p.moved.find(from);  // in two steps
  const uintptr_t first = before == nullptr ? from : *before;
  p.moved.at(to) = first;
  if (p.moved.size() <= std::max(kLeast, p.most_moved)) return;
  if (p.blocks == nullptr) p.blocks = make<BlockMap>();
  if (p.blocks->build(p).ok()) settle_moved(p);
  p.most_moved = 2 * p.moved.size();
}

Result encode_moved(const Process& p, uintptr_t to, uintptr_t from, format::PointerLeaf* out) {
  const Block* const block = p.blocks->block_of(reinterpret_cast<const void*>(from));
  if (block == nullptr) return Result::error("a pointer in it was moved to before or behind a variable, where a restart would not find it: use memory from malloc");
  const format::TypeInfo& type = p.types.info(block->type);
  const uintptr_t begin = reinterpret_cast<uintptr_t>(block->address), distance = begin - to;
  if (to < begin && distance % type.size == 0) {
    *out = {format::kFirstById + block->id, format::position_before(distance / type.size * type.leaves)};
    return Result();
  }
  return Result::error("a pointer in it was moved to %llu bytes %s a block of %llu bytes (%s), where a restart would not find it: a whole number of elements "
                       "before it, it would", static_cast<unsigned long long>(to < begin ? distance : to - begin - block->size), to < begin ? "before" : "behind",
                       static_cast<unsigned long long>(block->size), type.name);
}

}  // namespace elc::state
