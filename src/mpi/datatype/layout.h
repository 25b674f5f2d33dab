// Type maps as pieces: how they are put together and walked.
#ifndef ELC_MPI_DATATYPE_LAYOUT_H
#define ELC_MPI_DATATYPE_LAYOUT_H

#include "mpi/datatype/datatype_table.h"

namespace elc::mpi {

// Adds `count` repetitions, `stride` bytes apart, of `length` elements of `child`, its extent apart, to the
// end of the type map. `child` has to live as long as the layout.
void add_elements(Layout* layout, const Layout& child, int64_t offset, uint64_t count, int64_t stride,
                  uint64_t length);

// What walks over a type map do at its pieces. Addresses are numbers because displacements may be absolute,
// from MPI_BOTTOM.
class Visitor {
 public:
  // For every piece of scalars in the order of the type map, with the address of its first repetition, until
  // it returns false.
  virtual bool visit(uintptr_t at, const Piece& run);
  // Asked before `n` elements of a layout, `stride` bytes apart, are walked: how many of them the visitor has
  // done at once.
  virtual uint64_t together(const Layout& layout, uintptr_t at, int64_t stride, uint64_t n);
};

// Walks over an element at `base`; false if a visit was.
bool walk(const Layout& layout, uintptr_t base, Visitor& visitor);

}  // namespace elc::mpi

#endif
