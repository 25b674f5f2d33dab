#include "mpi/calls/fortran.h"

#include <stdlib.h>

#include "base/message.h"
#include "mpi/runtime/runtime.h"
#include "state/state.h"

namespace elc::mpi {

void called_from_fortran(const char* what) {
  if (following()) cannot_checkpoint(what);
}

void called_after_set_up(const char* what) {
  if (!state::in_setup()) called_from_fortran(what);
}

bool begin_way_by_c() {
  if (!counting()) return false;
  runtime.call = "";
  return true;
}

void end_way_by_c(bool followed, const char* what) {
  if (followed && *runtime.call == '\0') called_from_fortran(what);
}

void missing_in_fortran() {
  say("the program calls a Fortran routine that its MPI does not have");
  abort();
}

}  // namespace elc::mpi
