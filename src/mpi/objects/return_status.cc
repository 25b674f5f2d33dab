// MPI standard, chapter 3.2.5: return status.
#include "mpi/objects/return_status.h"

#include "base/compiler.h"
#include "mpi/datatype/datatype.h"
#include "mpi/objects/requests.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

// A status holds a number of bytes alone. One that was counted where a type has another size gets a number of bytes
// that no message has: kFirst plus a place in a table, where it stays until kMost others have come.
constexpr size_t kMost = 0x10000;
#if MPI_VERSION >= 3
constexpr uint64_t kFirst = sizeof(size_t) > 4 ? uint64_t{1} << 60 : 0x7fff0000;
#else
constexpr uint64_t kFirst = 0x7fff0000;
#endif

uint64_t key_of(const Counted& counted) { return mix64(mix64(counted.bytes) + counted.representation); }

uint64_t place_of(const Counted& counted) {
  ForeignCounts& all = runtime.foreign_counts;
  const uint64_t key = key_of(counted);
  const size_t* known = all.places.find(key);
  if (known != nullptr && all.counts[*known].bytes == counted.bytes &&
      all.counts[*known].representation == counted.representation)
    return kFirst + *known;
  const size_t place = all.next++ % kMost;
  if (place == all.counts.size()) {
    all.counts.push_back(counted);
  } else {
    all.places.remove(key_of(all.counts[place]));
    all.counts[place] = counted;
  }
  all.places.at(key) = place;
  return kFirst + place;
}

void set_bytes(MPI_Status* status, uint64_t bytes) {
#if MPI_VERSION >= 3
  PMPI_Status_set_elements_x(status, MPI_BYTE, static_cast<MPI_Count>(bytes));
#elif ELC_HAVE_STATUS_SET_ELEMENTS
  PMPI_Status_set_elements(status, MPI_BYTE, static_cast<int>(bytes));
#else
  status->st_length = static_cast<int>(bytes);
#endif
}

uint64_t bytes_of(const MPI_Status& status) {
#if MPI_VERSION >= 3
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
#elif ELC_HAVE_STATUS_SET_ELEMENTS
  int bytes = 0;
  PMPI_Get_count(const_cast<MPI_Status*>(&status), MPI_BYTE, &bytes);
#else
  const int bytes = status.st_length;  // MPI_Get_count calls the error handler for a status that nobody has set
#endif
  return bytes == MPI_UNDEFINED || bytes < 0 ? 0 : static_cast<uint64_t>(bytes);
}

const Counted* find(const MPI_Status* status) {
  const Vector<Counted>& counts = runtime.foreign_counts.counts;
  if (counts.empty() || status == MPI_STATUS_IGNORE) return nullptr;
  const uint64_t bytes = bytes_of(*status);
  return bytes < kFirst || bytes - kFirst >= counts.size() ? nullptr : &counts[static_cast<size_t>(bytes - kFirst)];
}

// Counts as MPI would if the message had come to this machine.
template <class Number, class Call>
int count(ELC_CONST MPI_Status* status, MPI_Datatype type, Number* result, Call how) {
  const Counted* there = find(status);
  if (there == nullptr) return how(status, type, result);
  const uint64_t size = packed_size(type, there->representation);
  if (size == 0 || there->bytes % size != 0) {
    *result = there->bytes == 0 ? 0 : MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  MPI_Status here = *status;
  set_bytes(&here, there->bytes / size * packed_size(type));
  return how(&here, type, result);
}

}  // namespace

void set_status(MPI_Status* status, int source, int tag, const Counted& counted) {
  if (status == MPI_STATUS_IGNORE) return;
  MPI_Status set = {};
  set.MPI_SOURCE = source;
  set.MPI_TAG = tag;
  const uint64_t code = counted.representation;
  const bool here = code == 0 || same_lengths(code, native_representation_code());
  set_bytes(&set, here ? counted.bytes : place_of(counted));
  give_status(status, set);
}

void set_status_of_send(MPI_Status* status) { set_status(status, MPI_PROC_NULL, MPI_ANY_TAG, {}); }

void give_status(MPI_Status* to, const MPI_Status& status) {
  if (to == MPI_STATUS_IGNORE) return;
  const int error = to->MPI_ERROR;
  *to = status;
  to->MPI_ERROR = error;
}

MPI_Status cancelled_status() {
  MPI_Request request;
  MPI_Status status;
  PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, 1, runtime.self, &request);  // nobody sends with this tag
  PMPI_Cancel(&request);
  PMPI_Wait(&request, &status);
  return status;
}

bool is_cancelled(const MPI_Status& status) {
  int cancelled = 0;
  PMPI_Test_cancelled(const_cast<MPI_Status*>(&status), &cancelled);
  return cancelled != 0;
}

Counted counted(const MPI_Status& status) {
  const Counted* there = find(&status);
  if (there != nullptr) return *there;
  return {bytes_of(status), native_representation_code()};
}

}  // namespace elc::mpi

using namespace elc::mpi;

ELC_EXPORT int MPI_Get_count(ELC_CONST MPI_Status* status, MPI_Datatype type, int* result) {
  return count(status, type, result, PMPI_Get_count);
}

ELC_EXPORT int MPI_Get_elements(ELC_CONST MPI_Status* status, MPI_Datatype type, int* result) {
  return count(status, type, result, PMPI_Get_elements);
}

#if MPI_VERSION >= 3
ELC_EXPORT int MPI_Get_elements_x(const MPI_Status* status, MPI_Datatype type, MPI_Count* result) {
  return count(status, type, result, PMPI_Get_elements_x);
}
#endif
