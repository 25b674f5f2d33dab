// One collective operation on its way through the protocol (section 6).
#ifndef ELC_MPI_COLLECTIVE_H
#define ELC_MPI_COLLECTIVE_H

#include "mpi/runtime.h"

namespace elc::mpi {

// Part of the program's memory that a call has written.
struct Region {
  void* buffer;
  int count;
  MPI_Datatype type;
};
using Regions = Vector<Region>;

// What a logged result begins with.
inline constexpr uint32_t kDataResult = 0;
inline constexpr uint32_t kCommunicatorResult = 1;  // then a SavedCommunicator

inline bool in_place(const void* buffer) {
#ifdef MPI_IN_PLACE
  return buffer == MPI_IN_PLACE;
#else
  return buffer == nullptr;
#endif
}

class Collective {
 public:
  // Starts the next operation on a communicator.
  explicit Collective(MPI_Comm handle);

  // nullptr: the library does not follow this communicator.
  Communicator* comm() const { return comm_; }
  uint64_t number() const { return number_; }
  // Recovery: the operation crosses the line; MPI is not to be called.
  const Bytes* logged() const { return logged_; }
  bool followed() const { return comm_ != nullptr; }

  // The operation is over; `regions` is what it wrote.
  void end(const Regions& regions);
  // Puts the logged result where the operation would have written, and ends it.
  int replay(const Regions& regions);

 private:
  Communicator* comm_ = nullptr;
  uint64_t number_ = 0;
  const Bytes* logged_ = nullptr;
};

// Makes the operation `call`, or takes its result from the log. `written(comm, &regions)` lists what
// the call writes here; asked only when the line wants to know.
template <class Call, class Written>
int collective(MPI_Comm handle, Call call, Written written) {
  Collective operation(handle);
  if (!operation.followed()) return call();
  Regions regions;
  if (operation.logged() != nullptr) {
    written(*operation.comm(), &regions);
    return operation.replay(regions);
  }
  const int code = call();
  if (runtime.process->line_open()) written(*operation.comm(), &regions);
  operation.end(regions);
  return code;
}

int barrier(MPI_Comm handle);

}  // namespace elc::mpi

#endif
