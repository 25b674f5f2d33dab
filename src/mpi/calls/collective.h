// One collective operation on its way through the protocol (section 6). A wrapper is
//
//     Collective now(comm);
//     const int code = now.call([&] { return PMPI_X(...); });
//     if (now.over(code)) return code;
//     now.wrote(...);       what the call has written here
//     return now.end(code);
//
// where the last two lines are for an operation whose result a line wants or has.
#ifndef ELC_MPI_CALLS_COLLECTIVE_H
#define ELC_MPI_CALLS_COLLECTIVE_H

#include "mpi/runtime/runtime.h"

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
  // Part of the program's memory that a call has written.
  struct Region {
    void* buffer;
    int count;
    MPI_Datatype type;
  };

  // Starts the next operation on a communicator, if the library follows it.
  explicit Collective(MPI_Comm handle) { start(handle); }

  // Calls MPI, but in recovery, where the operation crosses the line.
  template <class F>
  int call(F pmpi) const {
    return logged_ == nullptr ? released(pmpi) : MPI_SUCCESS;
  }
  // Whether nothing is left to do after the call, which returned `code`.
  bool over(int code) { return over_ ? !unseen_ || settle(code) : code != MPI_SUCCESS && logged_ == nullptr && settle(code); }

  // nullptr: the library does not follow this communicator.
  Communicator* comm() const { return comm_; }
  uint64_t number() const { return number_; }
  const Bytes* logged() const { return logged_; }
  // Of this process in the communicator, and of the communicator.
  int rank() const { return comm_->rank; }
  int size() const { return static_cast<int>(comm_->members.size()); }

  // Adds to what the call writes here: a region, or one for each member, by their offsets in elements.
  void wrote(void* buffer, int count, MPI_Datatype type);
  void wrote_by_all(void* buffer, int count, MPI_Datatype type);  // a block of so many by each member
  void wrote_blocks(void* buffer, const int* counts, const int* offsets, MPI_Datatype type);
  // Ends the operation: its result is kept for the line, or put where MPI would have written it.
  int end(int code);
  // Ends one whose result cannot be logged: a line that it crosses is refused, for `call`. Returns `code`.
  int end_unlogged(const char* call, int code);
  // Ends one whose result is this.
  void end_with(Bytes result) { runtime.coordinator->end_collective(comm_->slot, number_, std::move(result)); }

 private:
  void start(MPI_Comm handle);
  bool settle(int code);

  Communicator* comm_ = nullptr;
  uint64_t number_ = 0;
  const Bytes* logged_ = nullptr;
  bool over_ = true;
  bool unseen_ = false;      // on a communicator of which the library knows nothing
  Vector<Region> regions_;
};

int barrier(MPI_Comm handle);

}  // namespace elc::mpi

#endif
