// One collective operation on its way through the protocol (section 6), blocking or not.
#ifndef ELC_MPI_CALLS_COLLECTIVE_H
#define ELC_MPI_CALLS_COLLECTIVE_H

#include "mpi/objects/collective_results.h"
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
  // Starts the next operation on a communicator, if the library follows it.
  explicit Collective(MPI_Comm handle) { start(handle); }
  // The same on one that is followed, inside of a call that was entered.
  explicit Collective(Communicator* comm) : comm_(comm) { count(); }

  // Calls MPI, but in recovery, where the operation crosses the line.
  template <class F>
  int call(F pmpi) const {
    return logged_ == nullptr ? released(pmpi) : MPI_SUCCESS;
  }
  // Whether nothing is left to do after a blocking call, which returned `code`: no line wants its result, or has it.
  bool over(int code) { return over_ ? !unseen_ || settle(code) : code != MPI_SUCCESS && logged_ == nullptr && settle(code); }

  // nullptr: the library does not follow this communicator.
  Communicator* comm() const { return comm_; }
  uint64_t number() const { return number_; }
  const Bytes* logged() const { return logged_; }
  // Of this process in the communicator.
  int rank() const { return comm_->rank; }
  bool is_root(int root) const { return comm_->is_root(root); }
  bool has_root(int root) const { return comm_->has_root(root); }
  // Of those with whom it is done: of an intercommunicator the other group.
  int size() const { return static_cast<int>(comm_->members.size()); }

  // Adds to what the call writes here: a region, or one for each member, by their offsets in elements.
  void wrote(void* buffer, int count, MPI_Datatype type);
  void wrote_by_all(void* buffer, int count, MPI_Datatype type);  // a block of so many by each member
  void wrote_blocks(void* buffer, const int* counts, const int* offsets, MPI_Datatype type);
  // Ends the operation: its result is kept for the line, or put where MPI would have written it.
  void end();
  // Instead, for one that does not block: `request` is MPI's, or is set if MPI was not called.
  void begun(MPI_Request* request);
  // Ends one whose result cannot be logged: a line that it crosses is refused, for `call`. Returns `code`.
  int end_unlogged(const char* call, int code) {
    runtime.coordinator->end_unfollowed(comm_->slot, number_, call);
    return code;
  }
  // Ends one whose result is this.
  void end_with(Bytes result) { runtime.coordinator->end_collective(comm_->slot, number_, std::move(result)); }
  // Ends one that MPI has refused.
  int end_failed(int code) {
    end_failed_collective(comm_->slot, number_);
    return code;
  }

 private:
  void start(MPI_Comm handle);
  void count();
  bool settle(int code);
  void repeat();

  Communicator* comm_ = nullptr;
  uint64_t number_ = 0;
  const Bytes* logged_ = nullptr;
  bool over_ = true;
  bool unseen_ = false;      // on a communicator of which the library knows nothing
  Vector<Region> regions_;
};

// A blocking operation: `pmpi` calls MPI, and `write` tells the Collective what that writes here.
template <class Call, class Write>
int collective(MPI_Comm comm, Call pmpi, Write write) {
  Collective now(comm);
  const int code = now.call(pmpi);
  if (now.over(code)) return code;
  write(now);
  now.end();
  return code;
}

// One that does not block. What it writes has to be known from the beginning: a line may find it pending.
template <class Call, class Write>
int begin_collective(const char* name, MPI_Comm comm, MPI_Request* request, Call pmpi, Write write) {
  Collective now(comm);
  const int code = now.logged() == nullptr ? pmpi() : MPI_SUCCESS;
  if (now.comm() == nullptr) {
    if (code == MPI_SUCCESS) made_unfollowed(comm, 0, *request, name);
    return code;
  }
  if (code != MPI_SUCCESS) return now.end_failed(code);
  write(now);
  now.begun(request);
  return code;
}

#define ELC_LIST(...) __VA_ARGS__

// The wrappers of MPI_NAME and MPI_INAME. The last argument is what the call writes here.
#define ELC_BLOCKING(NAME, PARAMETERS, ARGUMENTS, ...)             \
  ELC_EXPORT int MPI_##NAME(ELC_LIST PARAMETERS) {                 \
    ELC_FOLLOW(NAME, ARGUMENTS);                                   \
    return collective(comm, [&] { return PMPI_##NAME ARGUMENTS; }, \
                      [&]([[maybe_unused]] Collective& now) __VA_ARGS__); \
  }
#define ELC_NON_BLOCKING(NAME, PARAMETERS, ARGUMENTS, ...)                                                             \
  ELC_EXPORT int MPI_##NAME(ELC_LIST PARAMETERS, MPI_Request* request) {                                               \
    ELC_FOLLOW(NAME, (ELC_LIST ARGUMENTS, request));                                                                   \
    return begin_collective("MPI_" #NAME, comm, request, [&] { return PMPI_##NAME(ELC_LIST ARGUMENTS, request); }, \
                            [&]([[maybe_unused]] Collective& now) __VA_ARGS__);                                        \
  }
#if MPI_VERSION >= 3
#define ELC_COLLECTIVE(NAME, INAME, PARAMETERS, ARGUMENTS, ...) \
  ELC_BLOCKING(NAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)        \
  ELC_NON_BLOCKING(INAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)
#else
#define ELC_COLLECTIVE(NAME, INAME, PARAMETERS, ARGUMENTS, ...) ELC_BLOCKING(NAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)
#endif

int barrier(MPI_Comm handle);

}  // namespace elc::mpi

#endif
