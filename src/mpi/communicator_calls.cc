// MPI standard, chapter 6: making and freeing communicators. A collective operation on the parent,
// whose logged result is the identity of what it made (protocol section 6).
#include "mpi/collective.h"
#include "mpi/communicators.h"

namespace elc::mpi {
namespace {

// Hands out the communicator that a restart has made for this call.
int replay(Collective* operation, MPI_Comm* made) {
  Decoder in(*operation->logged());
  SavedCommunicator saved;
  if (in.u32() != kCommunicatorResult || !SavedCommunicator::decode(in, static_cast<uint32_t>(runtime.size), &saved)) {
    give_up(Status::error("operation %llu on a communicator makes a communicator, which it did not before; restart "
                          "from an older line",
                          static_cast<unsigned long long>(operation->number())));
  }
  Communicator* c = runtime.comms.find_identity(saved.identity);
  *made = c == nullptr ? MPI_COMM_NULL : c->handle;
  Bytes again;
  again.append(operation->logged()->data(), operation->logged()->size());
  operation->end_with(std::move(again));
  return MPI_SUCCESS;
}

template <class Call>
int make_communicator(MPI_Comm parent, int colour, MPI_Comm* made, Call call) {
  Collective operation(parent);
  if (operation.comm() == nullptr) return call();
  if (operation.logged() != nullptr) return replay(&operation, made);
  int code;
  {
    InsideMpi inside;
    code = call();
  }
  if (code != MPI_SUCCESS) return code;
  SavedCommunicator saved;
  if (*made != MPI_COMM_NULL) {
    const Origin origin{operation.comm()->identity, operation.number(), colour};
    Communicator* c = runtime.comms.add(*made, origin.identity(), origin);
    c->slot = runtime.process->add_comm(c->identity, static_cast<uint32_t>(c->members.size()));
    saved = describe(*c);
  }
  Bytes result;
  Encoder out(&result);
  out.u32(kCommunicatorResult);
  saved.encode(out);
  operation.end_with(std::move(result));
  return MPI_SUCCESS;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Comm_dup(MPI_Comm parent, MPI_Comm* made) {
  return make_communicator(parent, 0, made, [&] { return PMPI_Comm_dup(parent, made); });
}

ELC_EXPORT int MPI_Comm_split(MPI_Comm parent, int colour, int key, MPI_Comm* made) {
  return make_communicator(parent, colour, made, [&] { return PMPI_Comm_split(parent, colour, key, made); });
}

ELC_EXPORT int MPI_Comm_free(MPI_Comm* handle) {
  Collective operation(*handle);
  if (operation.comm() == nullptr) return PMPI_Comm_free(handle);
  Communicator* c = operation.comm();
  // Other members freed it before the line: there is nobody to free it with, and the handle is dropped.
  const bool crosses = operation.logged() != nullptr;
  operation.end_with(elc::Bytes());
  runtime.process->free_comm(c->slot);
  runtime.comms.forget_handle(c);
  InsideMpi inside;
  if (!crosses) return PMPI_Comm_free(handle);
  *handle = MPI_COMM_NULL;
  return MPI_SUCCESS;
}
