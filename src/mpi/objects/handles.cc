#include "mpi/objects/handles.h"

#include "mpi/datatype/datatype.h"
#include "mpi/objects/requests.h"
#include "mpi/runtime/error_handlers.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

template <class Handle>
Handle read(const void* address) {
  Handle handle;
  memcpy(&handle, address, sizeof handle);
  return handle;
}

uint64_t number_of_datatype(MPI_Datatype type) {
  const uint64_t known = number_of(type);
  return known == kNoDatatype ? kNullDatatype : known;
}

uint64_t number_of_request(MPI_Request request) {
  const Request* r = runtime.requests->find(request);
  return r == nullptr ? 0 : r->number;
}

uint64_t number_of_file(MPI_File handle) {
  const File* file = runtime.files.find(handle);
  return file == nullptr ? kNullIdentity : file->saved.identity;
}

uint64_t number_of_window(MPI_Win handle) {
  const FollowedWindow* window = runtime.windows.find(handle);
  return window == nullptr || window->plain ? kNullIdentity : window->identity;
}

// What has no number is the null handle, or all zero where that is another: a variable that the program has not set, of which it may
// ask that. Else what it had is gone: that is no handle, and not the null handle, either.
template <class Handle>
uint64_t told_from_null(Handle handle, Handle null, uint64_t number) {
  if (number != 0 || handle == null) return number;
  return handle == Handle() ? kUnsetHandle : kGoneHandle;
}

// What is known to nobody may be there: a request of a send that MPI has done with at once, a window without lines.
template <class Handle>
uint64_t told_if_unset(Handle handle, Handle null, uint64_t number) {
  return number == 0 && handle == Handle() && handle != null ? kUnsetHandle : number;
}

bool is_int(format::Kind kind) { return (kind == format::kMpiFile ? sizeof(MPI_File) : sizeof(MPI_Comm)) == sizeof(int); }

// The integer that a handle is, or the address.
int64_t value_of(format::Kind kind, const void* address) {
  return is_int(kind) ? read<int>(address) : read<intptr_t>(address);
}

void put_value(format::Kind kind, int64_t value, void* address) {
  const auto integer = static_cast<int>(value);
  const auto pointer = static_cast<intptr_t>(value);
  if (is_int(kind)) memcpy(address, &integer, sizeof integer);
  else memcpy(address, &pointer, sizeof pointer);
}

Result encode(void*, format::Kind kind, const void* address, uint64_t* to) {
  LocalObjects& locals = runtime.locals;
  *to = 0;
  if (const int64_t value = value_of(kind, address); is_mark_of_program(value)) {
    *to = kMarkedHandle + static_cast<uint64_t>(value);
  } else if (kind == format::kMpiComm) {
    const auto comm = read<MPI_Comm>(address);
    *to = told_from_null<MPI_Comm>(comm, MPI_COMM_NULL, runtime.comms.identity_of(comm));
  } else if (kind == format::kMpiDatatype) {
    const auto type = read<MPI_Datatype>(address);
    *to = told_from_null<MPI_Datatype>(type, MPI_DATATYPE_NULL, number_of_datatype(type));
  } else if (kind == format::kMpiRequest) {
    const auto request = read<MPI_Request>(address);
    *to = told_if_unset<MPI_Request>(request, MPI_REQUEST_NULL, number_of_request(request));
  } else if (kind == format::kMpiFile) {
    const auto file = read<MPI_File>(address);
    *to = told_from_null<MPI_File>(file, MPI_FILE_NULL, number_of_file(file));
  } else if (kind == format::kMpiWin) {
    const auto window = read<MPI_Win>(address);
    *to = told_if_unset<MPI_Win>(window, MPI_WIN_NULL, number_of_window(window));
  } else if (kind == format::kMpiGroup) {
    const auto group = read<MPI_Group>(address);
    ELC_TRY(locals.number_of_group(group, to));
    *to = told_from_null<MPI_Group>(group, MPI_GROUP_NULL, *to);
  } else if (kind == format::kMpiInfo) {
    const auto info = read<MPI_Info>(address);
    *to = told_from_null<MPI_Info>(info, MPI_INFO_NULL, locals.number_of_info(info));
  } else if (kind == format::kMpiOp) {
    const auto op = read<MPI_Op>(address);
    *to = told_from_null<MPI_Op>(op, MPI_OP_NULL, locals.number_of_operation(op));
  } else if (kind == format::kMpiErrhandler) {
    const auto handler = read<MPI_Errhandler>(address);
    *to = told_from_null<MPI_Errhandler>(handler, MPI_ERRHANDLER_NULL, locals.number_of_error_handler(handler));
  }
  return Result();
}

// Where handles are integers, those of MPI's own objects are the same in all runs, and any number may be one of them.
constexpr bool kIntegers = sizeof(MPI_Comm) == sizeof(int);
constexpr uint64_t kLeastType = kIntegers ? kFirstDerived : kNullDatatype + 1;

// MPICH's have in four of their bits what they are of.
bool may_be_handle(void*, format::Kind kind, const void* address) {
  const int64_t value = value_of(kind, address);
  const auto is_like = [value](auto null) {
    constexpr int kPlace = 26;
    constexpr uint64_t kBits = 15;
    return (static_cast<uint64_t>(value) >> kPlace & kBits) == (handle_key(null) >> kPlace & kBits);
  };
  if (value == 0 || is_mark_of_program(value)) return true;
  switch (kind) {
    case format::kMpiComm: return is_like(MPI_COMM_NULL);
    case format::kMpiDatatype: return is_like(MPI_DATATYPE_NULL);
    case format::kMpiRequest: return is_like(MPI_REQUEST_NULL);
    case format::kMpiWin: return is_like(MPI_WIN_NULL);
    case format::kMpiGroup: return is_like(MPI_GROUP_NULL);
    case format::kMpiInfo: return is_like(MPI_INFO_NULL);
    case format::kMpiOp: return is_like(MPI_OP_NULL);
    case format::kMpiErrhandler: return is_like(MPI_ERRHANDLER_NULL);
    default: return true;
  }
}

// Open, or none, where that is not 0.
bool is_file(MPI_File handle) {
  return runtime.files.find(handle) != nullptr || (handle == MPI_FILE_NULL && handle_key(handle) != 0);
}

// Of what every process has, at addresses that are others in each run.
const char* macro_of_mpis_own(uint64_t key) {
  const auto is = [key](auto handle) { return handle_key(handle) == key; };
  const LocalObjects& locals = runtime.locals;
  if (is(MPI_COMM_NULL)) return "ELC_COMM";
  if (is(MPI_REQUEST_NULL)) return "ELC_REQUEST";
  if (is(MPI_DATATYPE_NULL)) return "ELC_DATATYPE";
  if (is(MPI_WIN_NULL)) return "ELC_MPIWIN";
  if (is(MPI_GROUP_EMPTY) || is(MPI_GROUP_NULL)) return "ELC_GROUP";
  if (is(MPI_INFO_NULL)) return "ELC_INFO";
#if MPI_VERSION >= 3
  if (is(MPI_INFO_ENV)) return "ELC_INFO";
#endif
  if (is(MPI_OP_NULL) || locals.number_of_operation(from_key<MPI_Op>(key)) != 0) return "ELC_OP";
  if (is(MPI_ERRHANDLER_NULL) || locals.number_of_error_handler(from_key<MPI_Errhandler>(key)) != 0) return "ELC_ERRHANDLER";
  return nullptr;
}

const char* macro_of(void*, const void* handle, size_t bytes) {
  uint64_t key = bytes == sizeof(uint32_t) ? read<uint32_t>(handle) : read<uint64_t>(handle);
  // A handle that is an integer may have become a longer one.
  if (kIntegers && bytes == 8 && (key >> 32 == 0 || static_cast<int64_t>(key) == static_cast<int32_t>(key))) {
    key = static_cast<uint32_t>(key);
    bytes = sizeof(MPI_Comm);
  }
  if (bytes == 8 && key >> 47 != 0) return nullptr;  // no pointer is so great
  if (bytes == sizeof(MPI_File) && is_file(from_key<MPI_File>(key))) return "ELC_MPIFILE";
  if (bytes != sizeof(MPI_Comm)) return nullptr;
  // No kind of object has numbers from 0xf0000000, which are -1 and the like.
  const bool made = kIntegers ? key >> 31 != 0 && key < 0xf0000000 : key != 0;
  if (!made) return nullptr;
  const auto known = [&](HandleKind kind) { return runtime.obstacles.knows(kind, key); };
  if (runtime.comms.find(from_key<MPI_Comm>(key)) != nullptr) return "ELC_COMM";
  if (runtime.requests->find(from_key<MPI_Request>(key)) != nullptr) return "ELC_REQUEST";
  if (number_of_datatype(from_key<MPI_Datatype>(key)) >= kLeastType) return "ELC_DATATYPE";
  if (const char* macro = kIntegers ? nullptr : macro_of_mpis_own(key)) return macro;
  if (runtime.windows.find(from_key<MPI_Win>(key)) != nullptr) return "ELC_MPIWIN";
  return known(HandleKind::kGroup) ? "ELC_GROUP" : known(HandleKind::kInfo) ? "ELC_INFO" : known(HandleKind::kOp) ? "ELC_OP" :
         known(HandleKind::kErrhandler) ? "ELC_ERRHANDLER" : nullptr;
}

// The handle that a restart has in the place of one.

// Of what has an identity and is kept in such a table; `none`: the handle of nothing.
template <class Table, class Handle>
Result find_identity(Table& table, uint64_t number, Handle none, const char* what, Handle* handle) {
  *handle = none;
  if (number == kNullIdentity) return {};
  const auto* found = table.find_identity(number);
  if (found == nullptr) return Result::error("a variable holds a %s that the line does not have", what);
  *handle = found->handle;
  return {};
}

Result find_comm(uint64_t number, MPI_Comm* handle) {
  return find_identity(runtime.comms, number, MPI_COMM_NULL, "communicator", handle);
}

Result find_file(uint64_t number, MPI_File* handle) { return find_identity(runtime.files, number, MPI_FILE_NULL, "file", handle); }

Result find_window(uint64_t number, MPI_Win* handle) {
  return find_identity(runtime.windows, number, MPI_WIN_NULL, "window", handle);
}

Result find_datatype(uint64_t number, MPI_Datatype* handle) {
  *handle = MPI_DATATYPE_NULL;
  return number == kNullDatatype ? Result() : handle_of(number, handle);
}

Result find_request(uint64_t number, MPI_Request* handle) {
  *handle = MPI_REQUEST_NULL;
  if (number == 0 || runtime.requests->find_handle(number, handle)) return {};
  return Result::error("a variable holds a request that the line does not have");
}

Result find_group(uint64_t number, MPI_Group* handle) { return runtime.locals.find_group(number, handle); }
Result find_info(uint64_t number, MPI_Info* handle) { return runtime.locals.find_info(number, handle); }
Result find_operation(uint64_t number, MPI_Op* handle) { return runtime.locals.find_operation(number, handle); }
Result find_error_handler(uint64_t number, MPI_Errhandler* handle) { return runtime.locals.find_error_handler(number, handle); }

// No MPI has such a handle: an address that no system gives out, or an integer of no kind of object.
template <class Handle>
Handle gone() {
  Handle handle;
  const uintptr_t address = state::kWildAddress;
  const int integer = 0x3fffff00;
  if (kIntegers && sizeof handle == sizeof integer) memcpy(&handle, &integer, sizeof integer);
  else memcpy(&handle, &address, sizeof handle);
  return handle;
}

template <class Handle>
Result put(Result (*find)(uint64_t, Handle*), uint64_t number, void* address) {
  Handle handle = Handle();
  if (number == kGoneHandle) handle = gone<Handle>();
  else if (number != kUnsetHandle) ELC_TRY(find(number, &handle));
  memcpy(address, &handle, sizeof handle);
  return {};
}

Result decode(void*, format::Kind kind, uint64_t number, void* address) {
  if (is_marked_handle(number)) return put_value(kind, static_cast<int64_t>(number - kMarkedHandle), address), Result();
  if (kind == format::kMpiComm) return put(find_comm, number, address);
  if (kind == format::kMpiDatatype) return put(find_datatype, number, address);
  if (kind == format::kMpiRequest) return put(find_request, number, address);
  if (kind == format::kMpiFile) return put(find_file, number, address);
  if (kind == format::kMpiWin) return put(find_window, number, address);
  if (kind == format::kMpiGroup) return put(find_group, number, address);
  if (kind == format::kMpiInfo) return put(find_info, number, address);
  if (kind == format::kMpiOp) return put(find_operation, number, address);
  if (kind == format::kMpiErrhandler) return put(find_error_handler, number, address);
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
  codec.macro_of = macro_of;
  codec.are_integers = kIntegers;
  if (kIntegers) codec.may_be = may_be_handle;
  codec.is_address = is_address;
  codec.note_address = note_address;
  return codec;
}

}  // namespace elc::mpi
