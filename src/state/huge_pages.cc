#include "state/huge_pages.h"

#include "state/blocks.h"
#include "state/process.h"
#include "state/state.h"

namespace elc::state {
namespace {

constexpr uint64_t kWorthIt = uint64_t{4} << 20;  // bytes: smaller memory hardly has a whole page of them

void (*ask_system)(void* memory, size_t size) = nullptr;
uint64_t left = 0;  // bytes for which it may be asked

}  // namespace

bool ask_for_huge_pages(void* memory, uint64_t size) {
  if (ask_system == nullptr || size < kWorthIt || size > left) return false;
  const char here = 0;
  if (reinterpret_cast<uintptr_t>(memory) > reinterpret_cast<uintptr_t>(&here)) return false;  // on the stack, which lies above all else
  left -= size;
  ask_system(memory, static_cast<size_t>(size));
  return true;
}

void return_huge_pages(uint64_t size) { left += size; }

void use_huge_pages(void (*ask)(void* memory, size_t size), uint64_t most) {
  Process& p = process();
  ask_system = ask;
  left = most;
  Vector<const Region*> regions;
  list_regions(p, &regions);
  for (const Region* region : regions)
    if (region->address != nullptr) ask_for_huge_pages(region->address, region->size);
  p.heap.each_other([&](size_t slot) {
    Block& block = p.heap.slots()[slot];
    block.has_huge_pages = ask_for_huge_pages(block.address, block.size);
  });
}

}  // namespace elc::state
