// Tests that run as one MPI process. ELC_SEED replays a random one.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>
#include <mpi.h>

#include "mpi/objects/obstacles.h"
#include "mpi/runtime/inside.h"
#include "mpi/runtime/threads.h"

// The wrappers of datatypes stand alone here.
namespace elc::mpi {
void enter_call(const char*) {}
void leave_call() {}
void remove_owned(HandleKind, uint64_t) {}
}  // namespace elc::mpi

using namespace elc::mpi;

int main(int argc, char** argv) {
  {
    InsideMpi inside;
    PMPI_Init(&argc, &argv);
  }
  doctest::Context context(argc, argv);
  const int result = context.run();
  if (result != 0)
    PMPI_Abort(MPI_COMM_WORLD, result);  // LAM's mpirun does not tell the code of a program that ends
  InsideMpi inside;
  PMPI_Finalize();
  return result;
}
