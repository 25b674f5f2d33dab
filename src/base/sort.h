// Sorting by the C library's qsort: std::sort would be written out anew for every type.
#ifndef ELC_BASE_SORT_H
#define ELC_BASE_SORT_H

#include <stdlib.h>

#include "base/vector.h"

namespace elc {

// Sorts by `less`, a lambda without captures. Equal elements may change places.
template <class T, class Less>
void sort(Vector<T>& all, Less) {
  if (all.size() < 2) return;
  qsort(static_cast<void*>(all.data()), all.size(), sizeof(T), [](const void* a, const void* b) {
    const Less less{};
    const T& x = *static_cast<const T*>(a);
    const T& y = *static_cast<const T*>(b);
    return less(x, y) ? -1 : less(y, x) ? 1 : 0;
  });
}

}  // namespace elc

#endif
