// Error handlers of communicators, as MPIs of all ages have them.
#ifndef ELC_MPI_RUNTIME_ERROR_HANDLERS_H
#define ELC_MPI_RUNTIME_ERROR_HANDLERS_H

#include <mpi.h>

namespace elc::mpi {

// MPI's error handler of a communicator; it stays until it is let go, whatever the communicator is given. (Not in MPI-1,
// whose MPI_Errhandler_get gives a handle that is not one more.)
MPI_Errhandler error_handler_of(MPI_Comm comm);
void let_go(MPI_Errhandler handler);
// One more reference to a handler, by way of a communicator of the library's own; not in MPI-1.
MPI_Errhandler one_more(MPI_Errhandler handler, MPI_Comm way);
// The handler stays to the end of the run, whoever lets it go.
void keep(MPI_Errhandler handler, MPI_Comm way);
void set_error_handler(MPI_Comm comm, MPI_Errhandler handler);

// As long as it lives, MPI returns what is wrong with calls on this communicator.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm);
  ~ErrorsReturned();
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Comm holder_ = MPI_COMM_NULL;  // has the error handler meanwhile, so that it stays
  MPI_Errhandler before_;
};

}  // namespace elc::mpi

#endif
