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

#if MPI_VERSION >= 2

MPI_Errhandler one_more(MPI_Errhandler handler, MPI_Comm way) {
  // One of a window or a file is none for communicators: an error, and nothing is changed.
  const ErrorsReturned returned(way);
  return PMPI_Comm_set_errhandler(way, handler) == MPI_SUCCESS ? error_handler_of(way) : handler;
}

void keep(MPI_Errhandler handler, MPI_Comm way) { (void)one_more(handler, way); }

#else

// A communicator that has it, and stays.
static MPI_Comm holder_of(MPI_Errhandler handler) {
  InsideMpi inside;
  MPI_Comm holder = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &holder);
  set_error_handler(holder, handler);
  return holder;
}

MPI_Errhandler one_more(MPI_Errhandler handler, MPI_Comm) { return handler; }
void keep(MPI_Errhandler handler, MPI_Comm) { (void)holder_of(handler); }

#endif

ErrorsReturned::ErrorsReturned(MPI_Comm comm) : comm_(comm), before_(error_handler_of(comm)) {
#if MPI_VERSION < 2
  if (before_ != MPI_ERRORS_ARE_FATAL && before_ != MPI_ERRORS_RETURN) holder_ = holder_of(before_);
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
