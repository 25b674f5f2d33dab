// Pointers that a program has moved to before or behind what they are of: arrays that count from a number that it computes.
#include <algorithm>

#include "elc_frame.h"
#include "elc_program.h"
#include "state/blocks.h"
#include "state/process.h"

namespace elc::state {

// What is gone, or where the program has other memory by now, is forgotten, and what is in the memory that it is of.
void settle_moved(Process& p) {
  HashMap<Moved> kept;
  p.ways.clear();
  p.moved.each([&](uint64_t to, const Moved& moved) {
    const Block* const block = p.blocks->block_of(reinterpret_cast<const void*>(moved.from));
    if (moved.block != 0 && (block == nullptr || block->id != moved.block)) return;
    if (moved.block == 0 && block != nullptr && block->id >= moved.next_id) return;
    const format::PointerLeaf of = p.blocks->encode(reinterpret_cast<const void*>(moved.from));
    const format::PointerLeaf leads = p.blocks->encode(reinterpret_cast<const void*>(static_cast<uintptr_t>(to)));
    if (of.block == format::kWildBlock || of.block == leads.block) return;
    kept.at(to) = moved;
    if (block != nullptr && to < reinterpret_cast<uintptr_t>(block->address)) p.ways.push_back({static_cast<uintptr_t>(to), block});
  });
  p.moved = std::move(kept);
  ELC_Program_moves = p.moved.size() > 0;
}

// The block that holds an address, if that is near its beginning: what programs move is mostly that, or one element behind.
static const Block* block_near(Process& p, uintptr_t address) {
  constexpr uintptr_t kNear = 64;
  for (uintptr_t back = 0; back <= kNear && back <= address; back += sizeof(void*)) {
    const Block* const block = p.heap.find(reinterpret_cast<const void*>(address - back));
    if (block != nullptr) return back <= block->size ? block : nullptr;
  }
  return nullptr;
}

// Whether the memory that it is of is still there; `now`: what is there.
static bool is_there(const Moved& moved, const Block* now) { return moved.block == 0 || (now != nullptr && now->id == moved.block); }

bool is_on_stack(const ELC_Frame_function* function) {
  for (const ELC_Frame* frame = ELC_Innermost; frame != nullptr; frame = frame->caller)
    if (frame->function == function) return true;
  return function == nullptr;
}

// Whether a pointer that was moved from here, of which nothing is known, is another than the one that is known to lead there. From where
// there is no memory that has come which was there before and has gone on step by step.
static bool is_of_other_memory(const Process& p, uintptr_t from, const Moved& known) {
  if (from - p.executable < p.executable_end - p.executable) return true;
  const Block* const holder = p.heap.holder(reinterpret_cast<const void*>(from));
  return holder != nullptr && holder->id != known.block;
}

void note_moved(Process& p, uintptr_t from, uintptr_t to, const ELC_Frame_function* function) {
  constexpr size_t kLeast = 4096;
  if (from == to || from == 0 || !follows_memory) return;
  // Back to where its block begins, as behind a loop, the most that programs do with one: nothing has to be known of it.
  if (p.moved.size() == 0 || (p.moved.find(from) == nullptr && p.moved.find(to) == nullptr)) {
    const Block* const begun = p.heap.find(reinterpret_cast<const void*>(to));
    if (begun != nullptr && from - to <= begun->size) return;
  }
  // In several steps, from a place that may be in other memory, unless what was there is gone.
  const Moved* const before = p.moved.find(from);
  const Block* block = before == nullptr ? nullptr : block_near(p, before->from);
  const bool goes_on = before != nullptr && is_there(*before, block);
  if (!goes_on) block = block_near(p, from);
  Moved moved = goes_on ? *before : Moved{from, block == nullptr ? 0 : block->id, p.heap.next_id()};
  Moved* const known = p.moved.find(to);
  const bool is_other = known != nullptr && known->block != moved.block && is_there(*known, block_near(p, known->from)) && is_on_stack(known->function);
  if (is_other) {
    known->is_contested |= moved.block != 0 || is_of_other_memory(p, from, *known);
    return;
  }
  if (block != nullptr && to - reinterpret_cast<uintptr_t>(block->address) <= block->size) return p.moved.remove(to);
  moved.function = known != nullptr && known->function != function && is_on_stack(known->function) ? nullptr : function;
  moved.is_contested = known != nullptr && known->block == moved.block && known->is_contested;
  p.moved.at(to) = moved;
  ELC_Program_moves = 1;
  if (p.moved.size() <= std::max(kLeast, p.most_moved)) return;
  if (p.blocks == nullptr) p.blocks = make<BlockMap>();
  if (p.blocks->build(p).ok()) settle_moved(p);
  p.most_moved = 2 * p.moved.size();
}

Result encode_on_the_way(const Process& p, uintptr_t value, format::TypeId target, format::PointerLeaf* out) {
  const Block* of = nullptr;
  for (const Way& way : p.ways) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(way.to->address);
    if (value <= way.from || value >= begin || way.to == of) continue;
    const uint64_t element = p.types.size_of(way.to->type == format::kByte && target != format::kNone ? target : way.to->type);
    if (element == 0 || (begin - value) % element != 0) continue;
    if (of != nullptr)
      return Result::error("a pointer in it leads to nothing, between where two others were moved and the blocks of memory that they are of: have it lead into its block, or to nothing (NULL)");
    of = way.to;
  }
  if (of == nullptr) return Result();
  const format::TypeInfo& type = p.types.info(of->type);
  const uintptr_t distance = reinterpret_cast<uintptr_t>(of->address) - value;
  if (distance % type.size == 0) *out = {format::kFirstById + of->id, format::position_before(distance / type.size * type.leaves)};
  return Result();
}

Result encode_moved(const Process& p, uintptr_t to, const Moved& moved, format::PointerLeaf* out) {
  const Block* const block = p.blocks->block_of(reinterpret_cast<const void*>(moved.from));
  const Block* const other = p.blocks->block_of(reinterpret_cast<const void*>(to));
  if (moved.is_contested || (other != nullptr && reinterpret_cast<uintptr_t>(other->address) == to))
    return Result::error("a pointer in it leads to where a block of memory begins, or others lead, and to where another was moved that is of other memory: nothing says which it is");
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
