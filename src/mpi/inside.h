// Calls that an MPI library makes to itself. LAM/MPI calls MPI_X, not PMPI_X, inside some of its functions
// (MPI_Init, MPI_Comm_dup and its kin, MPI_Type_free, the completion of requests): these calls come to the
// library's wrappers as the program's do, but are not the program's.
#ifndef ELC_MPI_INSIDE_H
#define ELC_MPI_INSIDE_H

namespace elc::mpi {

// Above 0: MPI is at work; a wrapper that is called now only calls PMPI_X.
extern int inside_mpi;

// Lives around a call of such a function: `InsideMpi inside; code = PMPI_Comm_dup(...);`.
struct InsideMpi {
  InsideMpi() { ++inside_mpi; }
  ~InsideMpi() { --inside_mpi; }
  InsideMpi(const InsideMpi&) = delete;
  InsideMpi& operator=(const InsideMpi&) = delete;
};

}  // namespace elc::mpi

#endif
