// The distributed array of MPI_Type_create_darray (MPI-3.1, 4.1.4): which elements one process has.
#ifndef ELC_MPI_DATATYPE_DARRAY_H
#define ELC_MPI_DATATYPE_DARRAY_H

#include <algorithm>

#include "mpi/datatype/datatype_table.h"

namespace elc::mpi {

// A process's share of one dimension: `full` blocks of `block` elements, `stride` apart, from `start`; then
// `rest` elements at `rest_start`.
struct Share {
  int64_t start = 0, block = 0, stride = 0, full = 0, rest_start = 0, rest = 0;
  uint64_t elements() const { return static_cast<uint64_t>(full * block + rest); }
};

// The arguments in the order of MPI_Type_get_contents, with the constants of datatype_table.h; not owned.
struct Darray {
  int size, rank, dimensions;
  const int *gsizes, *distributions, *arguments, *psizes;
  int order;

  explicit Darray(const int* i)
      : size(i[0]),
        rank(i[1]),
        dimensions(i[2]),
        gsizes(i + 3),
        distributions(gsizes + dimensions),
        arguments(distributions + dimensions),
        psizes(arguments + dimensions),
        order(psizes[dimensions]) {}

  // The process grid is in row-major order whatever the order of the array.
  int64_t coordinate(int dimension) const {
    int64_t below = 1;
    for (int d = dimension + 1; d < dimensions; ++d) below *= psizes[d];
    return rank / below % psizes[dimension];
  }

  Share share(int d) const {
    const int64_t g = gsizes[d], p = psizes[d], r = coordinate(d);
    Share s;
    if (distributions[d] == kDistributeNone) {
      s.block = g;
      s.full = 1;
    } else if (distributions[d] == kDistributeBlock) {
      const int64_t block = arguments[d] == kDefaultArgument ? (g + p - 1) / p : arguments[d];
      s.start = r * block;
      s.block = std::clamp<int64_t>(g - s.start, 0, block);
      s.full = 1;
    } else {
      s.block = arguments[d] == kDefaultArgument ? 1 : arguments[d];
      s.start = r * s.block;
      s.stride = p * s.block;
      if (g - s.start >= s.block) s.full = (g - s.start - s.block) / s.stride + 1;
      s.rest_start = s.start + s.full * s.stride;
      s.rest = std::clamp<int64_t>(g - s.rest_start, 0, s.block);
    }
    return s;
  }
};

}  // namespace elc::mpi

#endif
