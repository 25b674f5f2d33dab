// MPI handles as keys of tables.
#ifndef ELC_MPI_OBJECTS_HANDLE_KEY_H
#define ELC_MPI_OBJECTS_HANDLE_KEY_H

#include <stdint.h>
#include <string.h>

namespace elc::mpi {

// An MPI handle as a key: a pointer in Open MPI and LAM, an int in MPICH.
template <class Handle>
inline uint64_t handle_key(Handle handle) {
  static_assert(sizeof(Handle) <= sizeof(uint64_t));
  uint64_t key = 0;
  memcpy(&key, &handle, sizeof handle);
  return key;
}

inline constexpr uint64_t kNoKey = ~uint64_t{0};  // of no handle

template <class Handle>
inline Handle from_key(uint64_t key) {
  Handle handle;
  memcpy(&handle, &key, sizeof handle);
  return handle;
}

}  // namespace elc::mpi

#endif
