// Calls that an MPI library makes to itself. LAM/MPI calls MPI_X, not PMPI_X, inside some of its functions
// (MPI_Init, MPI_Comm_dup and its kin, MPI_Type_free, the completion of requests): these calls come to the
// library's wrappers as the program's do, but are not the program's. Open MPI and MPICH do not, so that there what the
// program calls in its callbacks (the delete function of an attribute that frees a communicator) is seen as the program's.
#ifndef ELC_MPI_RUNTIME_INSIDE_H
#define ELC_MPI_RUNTIME_INSIDE_H

#include <mpi.h>

namespace elc::mpi {

#if defined OPEN_MPI || defined MPICH
inline constexpr bool kMpiCallsItself = false;
#else
inline constexpr bool kMpiCallsItself = true;
#endif

// Above 0: MPI is at work; a wrapper that is called now only calls PMPI_X.
extern int inside_mpi;

// Lives around a call of such a function: `InsideMpi inside; code = PMPI_Comm_dup(...);`.
struct InsideMpi {
  InsideMpi() { inside_mpi += kMpiCallsItself ? 1 : 0; }
  ~InsideMpi() { inside_mpi -= kMpiCallsItself ? 1 : 0; }
  InsideMpi(const InsideMpi&) = delete;
  InsideMpi& operator=(const InsideMpi&) = delete;
};

// Lives where the program has been called back from inside of MPI: what it calls is its own again.
struct Outside {
  explicit Outside(bool is) : before(inside_mpi) { inside_mpi = is ? 0 : before; }
  ~Outside() { inside_mpi = before; }
  Outside(const Outside&) = delete;
  Outside& operator=(const Outside&) = delete;
  int before;
};

}  // namespace elc::mpi

#endif
