// What the system has mapped for a prepared program: memory of its own is as that of malloc; while it has other, as files and what
// processes share, no line is taken. And pointers to what libraries have, whose place a restart does not know.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "base/compiler.h"
#include "elc_program.h"
#include "state/process.h"
#include "store/system.h"

namespace elc::state {
namespace {

size_t of_pages(size_t size) {
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return size > SIZE_MAX - page ? SIZE_MAX : (size + page - 1) / page * page;
}

// Nobody else has it, and nothing says that most of it will never be touched.
bool is_own(int protection, int flags) {
#if defined(MAP_ANONYMOUS)
  constexpr int kBoth = PROT_READ | PROT_WRITE;
  int own = MAP_PRIVATE | MAP_ANONYMOUS;
  int harmless = own;
#if defined(MAP_POPULATE)
  harmless |= MAP_POPULATE;
#endif
#if defined(MAP_STACK)
  harmless |= MAP_STACK;
#endif
  return protection == kBoth && (flags & own) == own && (flags & ~harmless) == 0;
#else
  return static_cast<void>(protection), static_cast<void>(flags), false;
#endif
}

// Memory that is the program's, at a page.
void* page_memory(size_t size) {
  void* memory = nullptr;
  const int code = ELC_Program_posix_memalign(&memory, static_cast<size_t>(sysconf(_SC_PAGESIZE)), of_pages(size));
  if (code == 0) return memory;
  errno = code;
  return MAP_FAILED;
}

size_t place_of(const Vector<Mapping>& all, const void* address) {
  const uintptr_t at = reinterpret_cast<uintptr_t>(address);
  size_t i = 0;
  while (i < all.size() && at - all[i].begin >= all[i].size) ++i;
  return i;
}

}  // namespace

Result check_mappings(const Process& p) {
  if (p.mappings.empty()) return Result();
  return Result::error("the program has called mmap() for other memory than its own (a file, MAP_SHARED, MAP_FIXED, MAP_NORESERVE and the like), "
                       "which is not part of lines: while it is mapped none is taken; use malloc and read, or munmap it before");
}

Result check_libraries(Process& p, uintptr_t value) {
  if (!p.is_prepared) return Result();
  if (!p.knows_files) {
    p.mapped_files.clear();
    const auto add = [](void* all, uintptr_t begin, uintptr_t end) { static_cast<Vector<Mapping>*>(all)->push_back({begin, end - begin}); };
    store::each_mapped_file(add, &p.mapped_files);
    p.knows_files = true;
  }
  for (const Mapping& file : p.mapped_files)
    if (value - file.begin < file.size)
      return Result::error("a pointer in it points to what a library has, or to a file that is mapped (%p), which a restart has elsewhere, or not at all: "
                           "copy what it points to, or set it to NULL before", reinterpret_cast<void*>(value));
  return Result();
}

}  // namespace elc::state

extern "C" {

using elc::state::Mapping;
using elc::state::process;

ELC_EXPORT void* ELC_Program_mmap(void* address, size_t size, int protection, int flags, int descriptor, long long offset) {
  if (size > 0 && elc::state::follows_memory && elc::state::is_own(protection, flags)) return elc::state::page_memory(size);
  void* const memory = mmap(address, size, protection, flags, descriptor, static_cast<off_t>(offset));
  const elc::state::Alone alone;
  if (memory != MAP_FAILED) process().mappings.push_back({reinterpret_cast<uintptr_t>(memory), elc::state::of_pages(size)});
  return memory;
}

ELC_EXPORT int ELC_Program_munmap(void* address, size_t size) {
  const size_t whole = elc::state::of_pages(size);
  bool is_whole = false;
  {
    const elc::state::Alone alone;
    elc::Vector<Mapping>& all = process().mappings;
    if (const size_t i = elc::state::place_of(all, address); i < all.size()) {
      // What is unmapped in parts counts until its beginning is, with all the rest.
      if (reinterpret_cast<uintptr_t>(address) == all[i].begin && whole >= all[i].size) all.erase(i);
      return munmap(address, size);
    }
    const elc::state::Block* const block = process().heap.find(address);
    is_whole = block != nullptr && whole >= block->size;
  }
  if (is_whole) ELC_Program_free(address);  // of a part the memory stays as it is
  return 0;
}

ELC_EXPORT void* ELC_Program_mremap([[maybe_unused]] void* before, [[maybe_unused]] size_t old_size, [[maybe_unused]] size_t size, [[maybe_unused]] int flags, ...) {
#if defined(MREMAP_MAYMOVE)
  size_t least = 0;
  {
    const elc::state::Alone alone;
    elc::Vector<Mapping>& all = process().mappings;
    if (const size_t i = elc::state::place_of(all, before); i < all.size() && (flags & ~MREMAP_MAYMOVE) == 0) {
      void* const memory = mremap(before, old_size, size, flags);
      if (memory == MAP_FAILED) return memory;
      if (reinterpret_cast<uintptr_t>(before) == all[i].begin && elc::state::of_pages(old_size) >= all[i].size) all.erase(i);  // else some of it stays
      all.push_back({reinterpret_cast<uintptr_t>(memory), elc::state::of_pages(size)});
      return memory;
    }
    const elc::state::Block* const block = process().heap.find(before);
    if (block != nullptr && flags == MREMAP_MAYMOVE) least = std::min(static_cast<size_t>(block->size), size);
  }
  if (least > 0) {
    void* const memory = elc::state::page_memory(size);
    if (memory == MAP_FAILED) return memory;
    memcpy(memory, before, least);
    ELC_Program_free(before);
    return memory;
  }
#endif
  errno = ENOMEM;
  return MAP_FAILED;
}
}
