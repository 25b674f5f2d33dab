// MPI standard, chapter 3.2.5: return status.
#include "mpi/status.h"

#include "base/compiler.h"
#include "base/vector.h"
#include "mpi/datatype.h"
#include "mpi/requests.h"

namespace elc::mpi {
namespace {

// A status holds a number of bytes alone. One that was counted where a type has another size gets a number of bytes
// that no message has: kFirst plus its place here.
Vector<Counted> elsewhere;
constexpr int kFirst = 0x7fff0000;
constexpr size_t kMost = 0xffff;

int place_of(const Counted& counted) {
  for (size_t i = 0; i < elsewhere.size(); ++i)
    if (elsewhere[i].bytes == counted.bytes && elsewhere[i].representation == counted.representation)
      return static_cast<int>(i);
  if (elsewhere.size() < kMost) elsewhere.push_back(counted);
  return static_cast<int>(elsewhere.size() - 1);
}

void set_bytes(MPI_Status* status, int bytes) {
#if ELC_HAVE_STATUS_SET_ELEMENTS
  PMPI_Status_set_elements(status, MPI_BYTE, bytes);
#else
  status->st_length = bytes;
#endif
}

int bytes_of(const MPI_Status& status) {
  int bytes = 0;
  PMPI_Get_count(const_cast<MPI_Status*>(&status), MPI_BYTE, &bytes);
  return bytes == MPI_UNDEFINED || bytes < 0 ? 0 : bytes;
}

const Counted* find(const MPI_Status* status) {
  if (elsewhere.empty() || status == MPI_STATUS_IGNORE) return nullptr;
  const int bytes = bytes_of(*status);
  if (bytes < kFirst || static_cast<size_t>(bytes - kFirst) >= elsewhere.size()) return nullptr;
  return &elsewhere[static_cast<size_t>(bytes - kFirst)];
}

// Counts as MPI would if the message had come to this machine.
using Count = int (*)(ELC_CONST MPI_Status*, MPI_Datatype, int*);
int count(ELC_CONST MPI_Status* status, MPI_Datatype type, int* result, Count how) {
  const Counted* there = find(status);
  if (there == nullptr) return how(status, type, result);
  const uint64_t size = packed_size(type, there->representation);
  if (size == 0 || there->bytes % size != 0) {
    *result = there->bytes == 0 ? 0 : MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  MPI_Status here = *status;
  set_bytes(&here, static_cast<int>(there->bytes / size * packed_size(type)));
  return how(&here, type, result);
}

}  // namespace

void set_status(MPI_Status* status, int source, int tag, const Counted& counted) {
  if (status == MPI_STATUS_IGNORE) return;
  *status = MPI_Status();
  status->MPI_SOURCE = source;
  status->MPI_TAG = tag;
  status->MPI_ERROR = MPI_SUCCESS;
  const uint64_t code = counted.representation;
  const bool here = code == 0 || same_lengths(code, native_representation_code());
  set_bytes(status, here ? static_cast<int>(counted.bytes) : kFirst + place_of(counted));
}

Counted counted(const MPI_Status& status) {
  const Counted* there = find(&status);
  if (there != nullptr) return *there;
  return {static_cast<uint64_t>(bytes_of(status)), native_representation_code()};
}

}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Get_count(ELC_CONST MPI_Status* status, MPI_Datatype type, int* result) {
  return count(status, type, result, PMPI_Get_count);
}

ELC_EXPORT int MPI_Get_elements(ELC_CONST MPI_Status* status, MPI_Datatype type, int* result) {
  return count(status, type, result, PMPI_Get_elements);
}
