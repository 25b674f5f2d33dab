#include "mpi/objects/fortran_handles.h"

#include <elc.h>
#include <string.h>

#include "base/compiler.h"
#include "mpi/objects/handles.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

template <class Kind, format::Kind kSaved>
int64_t number_at(const void* in_fortran) {
  MPI_Fint integer;
  memcpy(&integer, in_fortran, sizeof integer);
  const typename Kind::Handle handle = Kind::from(integer);
  uint64_t number = 0;
  const Result encoded = handle_codec().encode(nullptr, kSaved, &handle, &number);
  if (!encoded.ok()) runtime.coordinator->refuse_line(encoded.message());
  return number >= kGoneHandle || is_marked_handle(number) ? 0 : static_cast<int64_t>(number);  // 0 may be anything there
}

template <class Kind, format::Kind kSaved>
void set_number(void* in_fortran, int64_t number) {
  typename Kind::Handle handle;
  if (!handle_codec().decode(nullptr, kSaved, static_cast<uint64_t>(number), &handle).ok()) return;
  const MPI_Fint integer = Kind::to(handle);
  memcpy(in_fortran, &integer, sizeof integer);
}

template <class Kind, format::Kind kSaved>
ELC_Type type_of() {
  return state::fortran_handle(kSaved, sizeof(MPI_Fint), {number_at<Kind, kSaved>, set_number<Kind, kSaved>});
}

}  // namespace
}  // namespace elc::mpi

// The type of an INTEGER that is a handle of MPI, of the kind that ELC_MPI_COMM, ... say. Of the module elc.
extern "C" ELC_EXPORT ELC_Type ELC_Fortran_handle(ELC_Type kind) {
  using namespace elc;
  if (kind == ELC_MPI_COMM) return mpi::type_of<mpi::CommHandle, format::kMpiComm>();
  if (kind == ELC_MPI_DATATYPE) return mpi::type_of<mpi::DatatypeHandle, format::kMpiDatatype>();
  if (kind == ELC_MPI_REQUEST) return mpi::type_of<mpi::RequestHandle, format::kMpiRequest>();
  if (kind == ELC_MPI_FILE) return mpi::type_of<mpi::FileHandle, format::kMpiFile>();
  if (kind == ELC_MPI_WIN) return mpi::type_of<mpi::WindowHandle, format::kMpiWin>();
  if (kind == ELC_MPI_GROUP) return mpi::type_of<mpi::GroupHandle, format::kMpiGroup>();
  if (kind == ELC_MPI_INFO) return mpi::type_of<mpi::InfoHandle, format::kMpiInfo>();
  if (kind == ELC_MPI_OP) return mpi::type_of<mpi::OperationHandle, format::kMpiOp>();
  if (kind == ELC_MPI_ERRHANDLER) return mpi::type_of<mpi::ErrorHandlerHandle, format::kMpiErrhandler>();
  return ELC_NO_TYPE;
}
