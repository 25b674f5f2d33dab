#include "mpi/calls/fortran.h"

#include <stdlib.h>

#include "base/attention.h"
#include "base/message.h"
#include "mpi/runtime/runtime.h"

// Variables whose addresses stand for something. Those of Open MPI are common blocks, which each compiler spells in its
// way; those of MPICH are in mpi.h, but for two of the module, which have the names that gfortran gives them.
#define ELC_COMMON(LOWER, UPPER) ELC_WEAK extern char LOWER, LOWER##_, LOWER##__, UPPER
extern "C" {
#if defined OPEN_MPI
ELC_COMMON(mpi_fortran_bottom, MPI_FORTRAN_BOTTOM);
ELC_COMMON(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE);
ELC_COMMON(mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE);
ELC_COMMON(mpi_fortran_statuses_ignore, MPI_FORTRAN_STATUSES_IGNORE);
ELC_COMMON(mpi_fortran_unweighted, MPI_FORTRAN_UNWEIGHTED);
ELC_COMMON(mpi_fortran_weights_empty, MPI_FORTRAN_WEIGHTS_EMPTY);
#else
ELC_WEAK extern char __mpi_f08_link_constants_MOD_mpi_unweighted, __mpi_f08_link_constants_MOD_mpi_weights_empty;
#endif
ELC_WEAK void pmpi_initialized_(MPI_Fint* flag, MPI_Fint* ierror);
}

namespace elc::mpi {
namespace {

// Where a variable of Fortran is, or may be.
#if defined OPEN_MPI
#define ELC_PLACES(LOWER, UPPER) {&LOWER##_, &LOWER, &LOWER##__, &UPPER}
using Places = const void* const[4];
Places kBottom = ELC_PLACES(mpi_fortran_bottom, MPI_FORTRAN_BOTTOM);
Places kInPlace = ELC_PLACES(mpi_fortran_in_place, MPI_FORTRAN_IN_PLACE);
Places kStatusIgnore = ELC_PLACES(mpi_fortran_status_ignore, MPI_FORTRAN_STATUS_IGNORE);
Places kStatusesIgnore = ELC_PLACES(mpi_fortran_statuses_ignore, MPI_FORTRAN_STATUSES_IGNORE);
Places kUnweighted = ELC_PLACES(mpi_fortran_unweighted, MPI_FORTRAN_UNWEIGHTED);
Places kWeightsEmpty = ELC_PLACES(mpi_fortran_weights_empty, MPI_FORTRAN_WEIGHTS_EMPTY);
#else
using Places = const void* const[1];
Places kBottom = {&MPIR_F08_MPI_BOTTOM};
Places kInPlace = {&MPIR_F08_MPI_IN_PLACE};
Places kStatusIgnore = {&MPIR_F08_MPI_STATUS_IGNORE_OBJ};
Places kStatusesIgnore = {&MPIR_F08_MPI_STATUSES_IGNORE_OBJ};
Places kUnweighted = {&__mpi_f08_link_constants_MOD_mpi_unweighted};
Places kWeightsEmpty = {&__mpi_f08_link_constants_MOD_mpi_weights_empty};
#endif

bool known(Places& places) {
  for (const void* place : places)
    if (place != nullptr) return true;
  return false;
}

bool is(Word a, Places& places) {
  for (const void* place : places)
    if (a != nullptr && a == place) return true;
  return false;
}

}  // namespace

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

bool follows_fortran() { return following(); }

bool converts_fortran() {
  return sizeof(MPI_Fint) == sizeof(int) && known(kBottom) && known(kInPlace) && known(kStatusIgnore) && known(kStatusesIgnore);
}

bool converts_weights() { return converts_fortran() && known(kUnweighted) && known(kWeightsEmpty); }

const char* before_c() {
  const char* const before = runtime.call;
  if (counting()) {
    runtime.call = nullptr;
    attend(kFromFortran, true);  // on the short way nobody says that it was called
  }
  return before;
}

void after_c(const char* before, const char* what) {
  attend(kFromFortran, false);
  if (runtime.call != nullptr) return;
  runtime.call = before;
  called_from_fortran(what);
}

void* buffer(Word a) {
  if (is(a, kBottom)) return MPI_BOTTOM;
  return is_in_place(a) ? MPI_IN_PLACE : a;
}

bool is_in_place(Word a) { return is(a, kInPlace); }

int* weights(Word a) {
  if (is(a, kUnweighted)) return MPI_UNWEIGHTED;
  return is(a, kWeightsEmpty) ? MPI_WEIGHTS_EMPTY : integers(a);
}

bool ignores_status(Word a) { return is(a, kStatusIgnore) || is(a, kStatusesIgnore); }

MPI_Fint true_in_fortran() {
  MPI_Fint is_true = 1, code = 0;
  if (pmpi_initialized_ != nullptr) pmpi_initialized_(&is_true, &code);
  return is_true;
}

int targets(MPI_Comm comm) {
  int inter = 0, n = 0;
  PMPI_Comm_test_inter(comm, &inter);
  if (inter != 0) PMPI_Comm_remote_size(comm, &n);
  else PMPI_Comm_size(comm, &n);
  return n;
}

int neighbours(MPI_Comm comm, bool to) {
  int kind = MPI_UNDEFINED, n = 0;
  PMPI_Topo_test(comm, &kind);
  if (kind == MPI_CART) return 2 * dimensions(comm);
  if (kind == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(comm, &rank);
    PMPI_Graph_neighbors_count(comm, rank, &n);
  } else if (kind == MPI_DIST_GRAPH) {
    int in = 0, out = 0, weighted = 0;
    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    n = to ? out : in;
  }
  return n;
}

int dimensions(MPI_Comm comm) {
  int n = 0;
  PMPI_Cartdim_get(comm, &n);
  return n;
}

}  // namespace elc::mpi
