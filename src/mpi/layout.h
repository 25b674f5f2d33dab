// Type maps as pieces: how they are put together and walked.
#ifndef ELC_MPI_LAYOUT_H
#define ELC_MPI_LAYOUT_H

#include "mpi/datatype_table.h"

namespace elc::mpi {

// Adds `count` repetitions, `stride` bytes apart, of `length` elements of `child`, its extent apart, to the
// end of the type map. `child` has to live as long as the layout.
void add_elements(Layout* layout, const Layout& child, int64_t offset, uint64_t count, int64_t stride,
                  uint64_t length);

// Calls visit(address, run) for every piece of scalars in the order of the type map, with the address of its
// first repetition in an element at `base`, until one returns false; then it is false too. Addresses are
// numbers because displacements may be absolute, from MPI_BOTTOM. Before it walks `n` elements of a layout,
// `stride` bytes apart, it asks visit.together(layout, address, stride, n) how many of them the visitor has
// done at once.
template <class F>
bool walk(const Layout& layout, uintptr_t base, F& visit);

template <class F>
bool walk_elements(const Layout& layout, uintptr_t at, int64_t stride, uint64_t n, F& visit) {
  for (uint64_t i = n > 1 ? visit.together(layout, at, stride, n) : 0; i < n; ++i)
    if (!walk(layout, at + static_cast<uintptr_t>(i) * static_cast<uintptr_t>(stride), visit)) return false;
  return true;
}

template <class F>
bool walk(const Layout& layout, uintptr_t base, F& visit) {
  for (const Piece& piece : layout.pieces) {
    const uintptr_t at = base + static_cast<uintptr_t>(piece.offset);
    if (piece.nested == nullptr) {
      if (!visit(at, piece)) return false;
      continue;
    }
    const Layout& nested = *piece.nested;
    if (piece.length == 1) {
      if (!walk_elements(nested, at, piece.stride, piece.count, visit)) return false;
      continue;
    }
    for (uint64_t i = 0; i < piece.count; ++i) {
      const uintptr_t repetition = at + static_cast<uintptr_t>(i) * static_cast<uintptr_t>(piece.stride);
      if (!walk_elements(nested, repetition, nested.extent, piece.length, visit)) return false;
    }
  }
  return true;
}

}  // namespace elc::mpi

#endif
