// A malloc that puts blocks right behind each other, as those of jemalloc and tcmalloc do: one past the end of a block is not
// the beginning of the next one, in a restart, where that is elsewhere.
#include <errno.h>

#include "helper.h"

namespace {

// Memory is never given back; each block has its size in a table beside.
constexpr size_t kUnit = 16, kUnits = size_t{1} << 22;
alignas(4096) unsigned char memory[kUnits * kUnit];
size_t sizes[kUnits], used = 0;

void* take(size_t size, size_t alignment) {
  const size_t at = (used + alignment - 1) / alignment * alignment, end = at + (size + kUnit - 1) / kUnit * kUnit;
  if (size > sizeof memory || end > sizeof memory) return nullptr;
  sizes[at / kUnit] = size;
  used = end;
  return memory + at;
}

}  // namespace

extern "C" {
void* malloc(size_t size) { return take(size == 0 ? 1 : size, kUnit); }
void free(void*) {}
void* calloc(size_t count, size_t size) { return malloc(count * size); }  // the memory was never used
void* realloc(void* old, size_t size) {
  void* const made = malloc(size);
  if (old == nullptr || made == nullptr) return made;
  const size_t before = sizes[static_cast<size_t>(static_cast<unsigned char*>(old) - memory) / kUnit];
  return memcpy(made, old, before < size ? before : size);
}
int posix_memalign(void** block, size_t alignment, size_t size) {
  *block = take(size, alignment < kUnit ? kUnit : alignment);
  return *block == nullptr ? ENOMEM : 0;
}
void* aligned_alloc(size_t alignment, size_t size) { return take(size, alignment < kUnit ? kUnit : alignment); }
}

TEST_CASE("one past the end of a block is not the next block, whoever gives them") {
  const char* const one = static_cast<char*>(malloc(64));
  REQUIRE(malloc(64) == one + 64);
  constexpr int kBlocks = 100;
  int *first[kBlocks], *behind[kBlocks];
  const auto ask = [](int i) -> void* {
    switch (i % 5) {
      case 0: return ELC_malloc(16);
      case 1: return ELC_calloc(4, 4);
      case 2: return ELC_new(ELC_INT, 8);
      case 3: return ELC_realloc(ELC_malloc(4), 32);
      default: return ELC_resize(ELC_new(ELC_INT, 1), 12);
    }
  };
  const auto elements = [](int i) { return i % 5 < 2 ? 4 : i % 5 < 4 ? 8 : 12; };
  new_process();
  for (int i = 0; i < kBlocks; ++i) {
    first[i] = static_cast<int*>(ask(i));
    behind[i] = first[i] + elements(i);
  }
  ELC_PTR(first), ELC_PTR(behind);
  Line line;
  REQUIRE_OK(line.save());
  new_process();
  for (int i = 0; i < kBlocks; i += 2) {  // the set-up has made some of them again, and something else lies behind them
    REQUIRE(ask(i) != nullptr);
    REQUIRE(malloc(16) != nullptr);
  }
  ELC_PTR(first), ELC_PTR(behind);
  REQUIRE_OK(line.restore());
  for (int i = 0; i < kBlocks; ++i) CHECK(behind[i] == first[i] + elements(i));
}
