// One collective operation on its way through the protocol (section 6). A wrapper is
//
//     Collective now(comm);
//     const int code = now.call() ? PMPI_X(...) : MPI_SUCCESS;
//     if (now.over()) return code;
//     now.wrote(...);       what the call has written here
//     return now.end(code);
//
// where the last two lines are for an operation whose result a line wants or has.
#ifndef ELC_MPI_COLLECTIVE_H
#define ELC_MPI_COLLECTIVE_H

#include "mpi/runtime.h"

namespace elc::mpi {

inline bool in_place(const void* buffer) {
#ifdef MPI_IN_PLACE
  return buffer == MPI_IN_PLACE;
#else
  return buffer == nullptr;
#endif
}

class Collective {
 public:
  // Starts the next operation on a communicator, if the library follows it.
  explicit Collective(MPI_Comm handle) {
    if (following()) start(handle);
  }

  // Whether MPI is to be called: it is not in recovery, where the operation crosses the line.
  bool call() const { return logged_ == nullptr; }
  // Whether nothing is left to do after the call.
  bool over() const { return over_; }

  // nullptr: the library does not follow this communicator.
  Communicator* comm() const { return comm_; }
  uint64_t number() const { return number_; }
  const Bytes* logged() const { return logged_; }
  // Of this process in the communicator, and of the communicator.
  int rank() const { return comm_->rank; }
  int size() const { return static_cast<int>(comm_->members.size()); }

  // Adds to what the call writes here: a region, or one for each member, by their offsets in elements.
  void wrote(void* buffer, int count, MPI_Datatype type);
  void wrote_blocks(void* buffer, const int* counts, const int* offsets, MPI_Datatype type);
  // Ends the operation: its result is kept for the line, or put where MPI would have written it.
  int end(int code);
  // Ends one whose result is this.
  void end_with(Bytes result) { runtime.process->end_collective(comm_->slot, number_, std::move(result)); }

 private:
  void start(MPI_Comm handle);

  Communicator* comm_ = nullptr;
  uint64_t number_ = 0;
  const Bytes* logged_ = nullptr;
  bool over_ = true;
};

int barrier(MPI_Comm handle);

}  // namespace elc::mpi

#endif
