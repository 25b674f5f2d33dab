// Windows of prepared programs (elc_program.h): what MPI says of them, and memory that it would give them.
#include <mpi.h>
#include <stddef.h>
#include <string.h>

#include <utility>

#include "base/compiler.h"
#include "base/memory.h"
#include "base/vector.h"
#include "elc.h"
#include "elc_program.h"
#include "mpi/runtime/runtime.h"

namespace {

// What MPI says of a window is in memory of its own, too. The program may keep the copy as long as it runs: one of each number.
template <class Number>
Number* kept(ELC_Type type, Number number) {
  static elc::Vector<Number*>* all = nullptr;
  if (all == nullptr) all = elc::make<elc::Vector<Number*>>();
  for (Number* const known : *all)
    if (*known == number) return known;
  Number* const copy = static_cast<Number*>(ELC_new(type, 1));
  if (copy != nullptr) {
    *copy = number;
    all->push_back(copy);
  }
  return copy;
}

// Where the pair of its memory is entered; nullptr: the library has not allocated it.
void** place_of_memory(MPI_Win window) {
  void* memory = nullptr;
  int found = 0;
  if (ELC_Program_windows == nullptr || PMPI_Win_get_attr(window, MPI_WIN_BASE, &memory, &found) != MPI_SUCCESS || found == 0) return nullptr;
  for (void** place = &ELC_Program_windows; *place != nullptr; place = static_cast<void**>(*place))
    if (static_cast<void**>(*place)[1] == memory) return place;
  return nullptr;
}

#if MPI_VERSION >= 3
// Errors of this communicator are returned as long as it lives.
class Forgiving {
 public:
  explicit Forgiving(MPI_Comm comm) : comm_(comm) {
    PMPI_Comm_get_errhandler(comm, &before_);
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  }
  ~Forgiving() {
    PMPI_Comm_set_errhandler(comm_, before_);
    PMPI_Errhandler_free(&before_);
  }
  Forgiving(const Forgiving&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};
#endif

}  // namespace

extern "C" {

ELC_EXPORT void* ELC_Program_windows;

ELC_EXPORT int ELC_Program_win_get_attr(MPI_Win window, int key, void* value, int* found) {
  const int code = MPI_Win_get_attr(window, key, value, found);
  if (code != MPI_SUCCESS || *found == 0) return code;
  void** const to = static_cast<void**>(value);
  bool is_int = key == MPI_WIN_DISP_UNIT;
#if MPI_VERSION >= 3
  is_int = is_int || key == MPI_WIN_CREATE_FLAVOR || key == MPI_WIN_MODEL;
  int allocated = MPI_WIN_FLAVOR_ALLOCATE;
  if (key == MPI_WIN_CREATE_FLAVOR && place_of_memory(window) != nullptr) *to = &allocated;
#endif
  if (is_int) *to = kept(ELC_INT, *static_cast<const int*>(*to));
  if (key == MPI_WIN_SIZE) *to = kept(ELC_PTRDIFF, static_cast<ptrdiff_t>(*static_cast<const MPI_Aint*>(*to)));
  return code;
}

#if MPI_VERSION >= 3
// Some MPIs make a window with memory of their own where they can make no other, as Open MPI does whose processes cannot read each other's.
ELC_EXPORT int ELC_Program_win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* base, MPI_Win* window) {
  if (!elc::mpi::following()) return MPI_Win_allocate(size, unit, info, comm, base, window);
  void* const memory = ELC_Program_malloc(size > 0 ? static_cast<size_t>(size) : 1);
  void** const pair = static_cast<void**>(ELC_new(ELC_POINTER, 2));
  // The others are in the call.
  if (memory == nullptr || pair == nullptr) elc::mpi::give_up(elc::no_memory(static_cast<uint64_t>(size), "the memory of MPI_Win_allocate()"));
  int code;
  {
    const Forgiving of_this(comm), of_all(MPI_COMM_WORLD);
    code = MPI_Win_create(memory, size, unit, info, comm, window);
  }
  if (code != MPI_SUCCESS) {
    ELC_Program_free(pair);
    ELC_Program_free(memory);
    return MPI_Win_allocate(size, unit, info, comm, base, window);  // while it is there no line is taken
  }
  pair[0] = std::exchange(ELC_Program_windows, pair);
  pair[1] = memory;
  memcpy(base, &memory, sizeof memory);
  return code;
}
#endif

ELC_EXPORT int ELC_Program_win_free(MPI_Win* window) {
  void** const place = place_of_memory(*window);
  const int code = MPI_Win_free(window);
  if (code != MPI_SUCCESS || place == nullptr) return code;
  void** const pair = static_cast<void**>(*place);
  *place = pair[0];
  ELC_Program_free(pair[1]);
  ELC_Program_free(pair);
  return code;
}
}
