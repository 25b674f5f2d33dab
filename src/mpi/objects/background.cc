#include "mpi/objects/background.h"

#include <limits.h>

#include <algorithm>

#include "mpi/datatype/datatype.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

Bulk::Bulk(size_t bytes, MPI_Datatype type) : count_(static_cast<int>(bytes)), type_(type) {
  if (bytes <= INT_MAX) return;
  made_ = true;
  count_ = 1;
#if MPI_VERSION >= 2
  constexpr int kPiece = 1 << 30;
  InsideMpi inside;
  MPI_Datatype types[2] = {MPI_DATATYPE_NULL, type};
  int counts[2] = {static_cast<int>(bytes / kPiece), static_cast<int>(bytes % kPiece)};
  MPI_Aint places[2] = {0, static_cast<MPI_Aint>(bytes - bytes % kPiece)};
  PMPI_Type_contiguous(kPiece, type, &types[0]);
  PMPI_Type_create_struct(2, counts, places, types, &type_);
  PMPI_Type_commit(&type_);
  PMPI_Type_free(&types[0]);
#else
  give_up(Result::error("a message of %zu bytes is more than this MPI can send", bytes));
#endif
}

Bulk::~Bulk() {
  InsideMpi inside;
  if (made_) PMPI_Type_free(&type_);
}

// `packed` is empty.
static void make_room_for_send(size_t size, Bytes* packed) {
  if (packed->make_room(size)) return;
  sweep_background();
  if (!packed->make_room(size)) out_of_memory(size, "the copy of a message, which a send must not wait for");
}

int pack_send(const void* buffer, int count, MPI_Datatype type, MPI_Comm comm, Bytes* packed) {
  // MPI's call could not say how much it is; MPICH's takes MPI_BOTTOM for a mistake.
  if (count > 0 && ((buffer == MPI_BOTTOM && known(type)) || packed_size(type) * static_cast<uint64_t>(count) > INT_MAX / 2)) {
    packed->clear();
    make_room_for_send(static_cast<size_t>(packed_size(type) * static_cast<uint64_t>(count)), packed);
    const Result done = pack(buffer, count, type, SIZE_MAX, packed);
    if (!done.ok() && known(type)) out_of_memory(packed->size(), "the layout of a datatype");
    return done.ok() ? MPI_SUCCESS : MPI_ERR_TYPE;
  }
  int room = 0, size = 0;
  int code = PMPI_Pack_size(count, type, comm, &room);
  if (code != MPI_SUCCESS) return code;
  if (room <= 0) room = 1;  // no MPI packs nothing into nowhere
  make_room_for_send(static_cast<size_t>(room), packed);
  packed->resize(static_cast<size_t>(room));
  code = PMPI_Pack(const_cast<void*>(buffer), count, type, packed->data(), room, &size, comm);
  packed->resize(static_cast<size_t>(size));
  return code;
}

int send_in_background(Bytes bytes, MPI_Datatype type, int to, int tag, MPI_Comm comm, uint64_t* copy) {
  static uint64_t copies = 0;
  Outgoing message;
  message.bytes = std::move(bytes);
  if (copy != nullptr) message.copy = *copy = ++copies;
  const Bulk bulk(message.bytes.size(), type);
  const auto send = copy != nullptr ? PMPI_Issend : PMPI_Isend;
  const int code = send(message.bytes.data(), bulk.count(), bulk.type(), to, tag, comm, &message.handle);
  if (code == MPI_SUCCESS) runtime.outgoing.push_back(std::move(message));
  return code;
}

int send_copy(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, uint64_t* copy) {
  Bytes packed;
  const int code = pack_send(buffer, count, type, comm, &packed);
  return code != MPI_SUCCESS ? code : send_in_background(std::move(packed), MPI_PACKED, to, tag, comm, copy);
}

bool is_received(uint64_t copy) {
  if (copy == 0) return true;
  sweep_background();
  return std::none_of(runtime.outgoing.begin(), runtime.outgoing.end(), [copy](const Outgoing& message) { return message.copy == copy; });
}

bool sweep_background() {
  Vector<Outgoing>& outgoing = runtime.outgoing;
  for (size_t i = outgoing.size(); i-- > 0;) {
    int sent = 0;
    PMPI_Test(&outgoing[i].handle, &sent, MPI_STATUS_IGNORE);
    if (sent == 0) continue;
    if (i + 1 < outgoing.size()) outgoing[i] = std::move(outgoing.back());
    outgoing.pop_back();
  }
  return outgoing.empty();
}

}  // namespace elc::mpi
