// MPI handles as keys of tables.
#ifndef ELC_MPI_OBJECTS_HANDLE_KEY_H
#define ELC_MPI_OBJECTS_HANDLE_KEY_H

#include <stdint.h>
#include <string.h>

#include <type_traits>

namespace elc::mpi {

template <class Handle>
using KeyOf = std::conditional_t<sizeof(Handle) == sizeof(uint32_t), uint32_t, uint64_t>;

// An MPI handle as a key: a pointer in Open MPI and LAM, an int in MPICH. It is that number on all machines.
template <class Handle>
inline uint64_t handle_key(Handle handle) {
  static_assert(sizeof(Handle) == sizeof(KeyOf<Handle>));
  KeyOf<Handle> key;
  memcpy(&key, &handle, sizeof handle);
  return key;
}

inline constexpr uint64_t kNoKey = ~uint64_t{0};  // of no handle

template <class Handle>
inline Handle from_key(uint64_t key) {
  const auto own = static_cast<KeyOf<Handle>>(key);
  Handle handle;
  memcpy(&handle, &own, sizeof handle);
  return handle;
}

}  // namespace elc::mpi

#endif
