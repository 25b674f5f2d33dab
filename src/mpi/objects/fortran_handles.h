// MPI's handles as Fortran has them.
#ifndef ELC_MPI_OBJECTS_FORTRAN_HANDLES_H
#define ELC_MPI_OBJECTS_FORTRAN_HANDLES_H

#include <mpi.h>

namespace elc::mpi {

// For each kind of handle: its type in C, and the way there and back.
#define ELC_FORTRAN_HANDLE(KIND, HANDLE, NAME)                                        \
  struct KIND {                                                                       \
    using Handle = HANDLE;                                                            \
    static Handle from(MPI_Fint in_fortran) { return PMPI_##NAME##_f2c(in_fortran); } \
    static MPI_Fint to(Handle handle) { return PMPI_##NAME##_c2f(handle); }           \
  };
ELC_FORTRAN_HANDLE(CommHandle, MPI_Comm, Comm)
ELC_FORTRAN_HANDLE(DatatypeHandle, MPI_Datatype, Type)
ELC_FORTRAN_HANDLE(RequestHandle, MPI_Request, Request)
ELC_FORTRAN_HANDLE(FileHandle, MPI_File, File)
ELC_FORTRAN_HANDLE(WindowHandle, MPI_Win, Win)
ELC_FORTRAN_HANDLE(GroupHandle, MPI_Group, Group)
ELC_FORTRAN_HANDLE(InfoHandle, MPI_Info, Info)
ELC_FORTRAN_HANDLE(OperationHandle, MPI_Op, Op)
ELC_FORTRAN_HANDLE(ErrorHandlerHandle, MPI_Errhandler, Errhandler)
#undef ELC_FORTRAN_HANDLE

}  // namespace elc::mpi

#endif
