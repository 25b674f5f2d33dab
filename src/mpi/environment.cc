// MPI standard, chapter 8: start and end of a program.
#include "mpi/runtime.h"

using namespace elc::mpi;

ELC_EXPORT int MPI_Init(int* argc, char*** argv) {
  int code;
  {
    InsideMpi inside;
    code = PMPI_Init(argc, argv);
  }
  if (code == MPI_SUCCESS) start();
  return code;
}

#if ELC_HAVE_INIT_THREAD
// The library works in the thread that calls MPI; with more than one, lines are refused.
ELC_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int code;
  {
    InsideMpi inside;
    code = PMPI_Init_thread(argc, argv, required, provided);
  }
  if (code != MPI_SUCCESS) return code;
  start();
  if (required == MPI_THREAD_MULTIPLE || required == MPI_THREAD_SERIALIZED)
    cannot_checkpoint("MPI_Init_thread asked for calls from several threads");
  return code;
}
#endif

ELC_EXPORT int MPI_Finalize(void) {
  if (runtime.active) finish();
  InsideMpi inside;
  return PMPI_Finalize();
}
