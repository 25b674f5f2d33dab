// MPI standard, chapter 8: start and end of a program.
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "mpi/runtime/runtime.h"

using namespace elc::mpi;

namespace {

#ifdef LAM_MPI
// LAM hands the kernel an empty part of a message with whatever address is on the stack, and the kernels of
// today look at it (EFAULT): it shall find zeros there. Called through a pointer that a compiler cannot see through,
// so that the array lies where the frames of LAM will.
void clear_below() {
  volatile char below[1 << 15];
  for (volatile char& c : below) c = 0;
}
void (*volatile clear_stack)() = clear_below;
constexpr bool kPassesCodeOfFinalized = false;
constexpr bool kPassesCodeOfAbort = false;
#else
void clear_stack() {}
constexpr bool kPassesCodeOfFinalized = true;
constexpr bool kPassesCodeOfAbort = true;
#endif

}  // namespace

namespace elc::mpi {

// LAM's mpirun knows only the code of a process that exits without MPI_Finalize, and ends the others then.

void end_job(int code) {
  // MPICH's launcher may end without having read what was said just before an abort.
  const timespec pause = {0, 100000000};
  nanosleep(&pause, nullptr);
  if (kPassesCodeOfAbort) PMPI_Abort(MPI_COMM_WORLD, code);
  exit(code);
}

void end_together(int code, bool at_once) {
  if (kPassesCodeOfFinalized) {
    runtime.windows.free_all();  // where there are some MPICH fails
    PMPI_Finalize();
  }
  if (!at_once) exit(code);
  fflush(nullptr);
  _exit(code);
}

}  // namespace elc::mpi

ELC_EXPORT int MPI_Init(int* argc, char*** argv) {
  int code;
  {
    InsideMpi inside;
    clear_stack();
    code = PMPI_Init(argc, argv);
  }
  if (code == MPI_SUCCESS) start();
  return code;
}

#if ELC_HAVE_INIT_THREAD
ELC_EXPORT int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int code;
  {
    InsideMpi inside;
    clear_stack();
    code = PMPI_Init_thread(argc, argv, required, provided);
  }
  if (code != MPI_SUCCESS) return code;
  start();
  return code;
}
#endif

ELC_EXPORT int MPI_Finalize(void) {
  if (runtime.active) finish();
  InsideMpi inside;
  clear_stack();
  return PMPI_Finalize();
}
