#include "mpi/calls/fortran.h"

#include <stdlib.h>

#include "base/message.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

void called_from_fortran(const char* what) {
  if (following()) cannot_checkpoint(what);
}

void started_from_fortran() {
  int is_up = 0;
  PMPI_Initialized(&is_up);
  if (is_up != 0 && !runtime.active) start();
}

void finishing_from_fortran() {
  if (runtime.active) finish();
}

void missing_in_fortran() {
  say("the program calls a Fortran routine that its MPI does not have");
  abort();
}

}  // namespace elc::mpi
