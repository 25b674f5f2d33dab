#include "mpi/background.h"

namespace elc::mpi {
namespace {

struct Outgoing {
  MPI_Request handle = MPI_REQUEST_NULL;
  Bytes bytes;
};
Vector<Outgoing> outgoing;

}  // namespace

int send_in_background(Bytes bytes, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  Outgoing message;
  message.bytes = std::move(bytes);
  const int code = PMPI_Isend(message.bytes.data(), static_cast<int>(message.bytes.size()), type, to, tag, comm,
                              &message.handle);
  if (code == MPI_SUCCESS) outgoing.push_back(std::move(message));
  return code;
}

int send_copy(const void* buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  int room = 0, size = 0;
  int code = PMPI_Pack_size(count, type, comm, &room);
  if (code != MPI_SUCCESS) return code;
  Bytes packed;
  packed.resize(static_cast<size_t>(room));
  code = PMPI_Pack(const_cast<void*>(buffer), count, type, packed.data(), room, &size, comm);
  if (code != MPI_SUCCESS) return code;
  packed.resize(static_cast<size_t>(size));
  return send_in_background(std::move(packed), MPI_PACKED, to, tag, comm);
}

bool sweep_background() {
  for (size_t i = outgoing.size(); i-- > 0;) {
    int sent = 0;
    PMPI_Test(&outgoing[i].handle, &sent, MPI_STATUS_IGNORE);
    if (sent != 0) outgoing.erase(i);
  }
  return outgoing.empty();
}

}  // namespace elc::mpi
