#include "mpi/objects/handles.h"

#include "mpi/datatype/datatype.h"
#include "mpi/objects/requests.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

template <class Handle>
Handle read(const void* address) {
  Handle handle;
  memcpy(&handle, address, sizeof handle);
  return handle;
}

Result encode(void*, format::Kind kind, const void* address, uint64_t* number) {
  *number = 0;
  if (kind == format::kMpiComm) {
    *number = runtime.comms.identity_of(read<MPI_Comm>(address));
  } else if (kind == format::kMpiDatatype) {
    const uint64_t known = number_of(read<MPI_Datatype>(address));
    if (known != kNoDatatype) *number = known;
  } else if (kind == format::kMpiRequest) {
    const Request* r = runtime.requests.find(read<MPI_Request>(address));
    if (r != nullptr) *number = r->number;
  } else if (kind == format::kMpiFile) {
    const File* file = runtime.files.find(read<MPI_File>(address));
    if (file != nullptr) *number = file->saved.identity;
  }
  return Result();
}

Result decode(void*, format::Kind kind, uint64_t number, void* address) {
  if (kind == format::kMpiComm) {
    MPI_Comm handle = MPI_COMM_NULL;
    if (number != kNullIdentity) {
      const Communicator* c = runtime.comms.find_identity(number);
      if (c == nullptr) return Result::error("a variable holds a communicator that the line does not have");
      handle = c->handle;
    }
    memcpy(address, &handle, sizeof handle);
  } else if (kind == format::kMpiDatatype) {
    MPI_Datatype handle = MPI_DATATYPE_NULL;
    if (number != kNullDatatype) ELC_TRY(handle_of(number, &handle));
    memcpy(address, &handle, sizeof handle);
  } else if (kind == format::kMpiRequest) {
    MPI_Request handle = MPI_REQUEST_NULL;
    if (number != 0 && !runtime.requests.find_handle(number, &handle))
      return Result::error("a variable holds a request that the line does not have");
    memcpy(address, &handle, sizeof handle);
  } else if (kind == format::kMpiFile) {
    MPI_File handle = MPI_FILE_NULL;
    if (number != kNullIdentity) {
      const File* file = runtime.files.find_identity(number);
      if (file == nullptr) return Result::error("a variable holds a file that the line does not have");
      handle = file->handle;
    }
    memcpy(address, &handle, sizeof handle);
  }
  return Result();
}

// Wildcards and null ranks differ between MPIs: small negative numbers that mean the same everywhere.
constexpr int32_t kSavedAny = -1, kSavedProcNull = -2, kSavedOther = -3, kSavedCancelled = -4;

}  // namespace

int32_t saved_rank(int rank) {
  return rank >= 0 ? rank : rank == MPI_ANY_SOURCE ? kSavedAny : rank == MPI_PROC_NULL ? kSavedProcNull : kSavedOther;
}

int32_t saved_tag(int tag) { return tag >= 0 ? tag : tag == MPI_ANY_TAG ? kSavedAny : kSavedOther; }

int rank_of(int32_t saved) { return saved >= 0 ? saved : saved == kSavedProcNull ? MPI_PROC_NULL : MPI_ANY_SOURCE; }

int tag_of(int32_t saved) { return saved >= 0 ? saved : MPI_ANY_TAG; }

namespace {

// The errors that a status tells and that programs ask for.
int32_t saved_error(int code) {
  if (code == MPI_SUCCESS) return 0;
  // Calls with a single status leave there what was there, which may be no code at all.
  const ErrorsReturned returned(MPI_COMM_WORLD);
  int of = MPI_ERR_OTHER;
  if (PMPI_Error_class(code, &of) != MPI_SUCCESS) of = MPI_ERR_OTHER;
  return of == MPI_ERR_TRUNCATE ? 2 : of == MPI_ERR_PENDING ? 3 : 1;
}

int error_of(int32_t saved) {
  return saved == 0 ? MPI_SUCCESS : saved == 2 ? MPI_ERR_TRUNCATE : saved == 3 ? MPI_ERR_PENDING : MPI_ERR_OTHER;
}

Result encode_status(void*, const void* address, format::StatusLeaf* out) {
  const MPI_Status status = read<MPI_Status>(address);
  out->source = saved_rank(status.MPI_SOURCE);
  out->tag = saved_tag(status.MPI_TAG);
  out->error = saved_error(status.MPI_ERROR);
  const bool cancelled = is_cancelled(status);
  if (cancelled) out->source = kSavedCancelled;
  // Of one that was cancelled LAM does not set the length.
  const Counted length = cancelled ? Counted{0, native_representation_code()} : counted(status);
  out->count = length.bytes;
  out->representation = length.representation;
  return Result();
}

Result decode_status(void*, const format::StatusLeaf& in, void* address) {
  MPI_Status status = {};
  if (in.source == kSavedCancelled) status = cancelled_status();
  else set_status(&status, rank_of(in.source), tag_of(in.tag), {in.count, in.representation});
  status.MPI_ERROR = error_of(in.error);
  memcpy(address, &status, sizeof status);
  return Result();
}

}  // namespace

state::HandleCodec handle_codec() {
  state::HandleCodec codec;
  codec.encode = encode;
  codec.decode = decode;
  codec.encode_status = encode_status;
  codec.decode_status = decode_status;
  return codec;
}

}  // namespace elc::mpi
