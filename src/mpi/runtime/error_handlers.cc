#include "mpi/runtime/error_handlers.h"

#include "mpi/runtime/inside.h"

namespace elc::mpi {

MPI_Errhandler error_handler_of(MPI_Comm comm) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
#if MPI_VERSION >= 2
  PMPI_Comm_get_errhandler(comm, &handler);
#else
  PMPI_Errhandler_get(comm, &handler);
#endif
  return handler;
}

void let_go([[maybe_unused]] MPI_Errhandler handler) {
#if MPI_VERSION >= 2
  PMPI_Errhandler_free(&handler);
#endif
}

void set_error_handler(MPI_Comm comm, MPI_Errhandler handler) {
#if MPI_VERSION >= 2
  PMPI_Comm_set_errhandler(comm, handler);
#else
  PMPI_Errhandler_set(comm, handler);
#endif
}

ErrorsReturned::ErrorsReturned(MPI_Comm comm) : comm_(comm), before_(error_handler_of(comm)) {
#if MPI_VERSION < 2
  if (before_ != MPI_ERRORS_ARE_FATAL && before_ != MPI_ERRORS_RETURN) {
    InsideMpi inside;
    PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &holder_);
    set_error_handler(holder_, before_);
  }
#endif
  set_error_handler(comm, MPI_ERRORS_RETURN);
}

ErrorsReturned::~ErrorsReturned() {
  set_error_handler(comm_, before_);
  let_go(before_);
  if (holder_ == MPI_COMM_NULL) return;
  InsideMpi inside;
  PMPI_Comm_free(&holder_);
}

}  // namespace elc::mpi
