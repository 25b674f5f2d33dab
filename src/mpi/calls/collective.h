// One collective operation on its way through the protocol (section 6), blocking or not, or started by a persistent request.
#ifndef ELC_MPI_CALLS_COLLECTIVE_H
#define ELC_MPI_CALLS_COLLECTIVE_H

#include "mpi/objects/collective_arguments.h"
#include "mpi/objects/collective_results.h"
#include "mpi/runtime/runtime.h"
#include "mpi/runtime/short_way.h"
#if ELC_HAVE_MPIX_BCAST_INIT
#include <mpi-ext.h>
#endif

namespace elc::mpi {

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
  // Of those that put something in it: of an intercommunicator this process's group.
  int own_size() const { return comm_->is_inter() ? static_cast<int>(comm_->own.size()) : size(); }

  // Adds to what the call writes here: a region, or one for each member, by their offsets in elements.
  void wrote(void* buffer, int count, MPI_Datatype type);
  void wrote_by_all(void* buffer, int count, MPI_Datatype type);  // a block of so many by each member
  void wrote_blocks(void* buffer, const int* counts, const int* offsets, MPI_Datatype type);
  // Ends the operation: its result is kept for the line, or put where MPI would have written it.
  void end();
  // Instead, for one that does not block: `request` is MPI's, or is set if MPI was not called.
  void begun(MPI_Request* request);
  const Vector<Region>& regions() const { return regions_; }
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

  Communicator* comm_ = nullptr;
  uint64_t number_ = 0;
  const Bytes* logged_ = nullptr;
  bool over_ = true;
  bool unseen_ = false;      // on a communicator of which the library knows nothing
  Vector<Region> regions_;
};

// Whether a blocking operation goes the short way; then it is counted, and MPI is to be called.
inline bool counted_in_short(MPI_Comm handle) {
  if (!short_way()) return false;
  const Communicator* const c = runtime.comms.last(handle);
  return c != nullptr && runtime.coordinator.untold().start_usual(c->slot);
}

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

// A persistent request has come into being, with these arguments, which are owned from now on.
void made_persistent(const char* name, MPI_Comm comm, CollectiveArguments* kept);

// Makes a persistent request: `pmpi` makes MPI's, `keep` tells its arguments but for the buffers that each start writes, and
// `write` tells these. MPI may want all members to come to it, in a restart as well: no line can cross it.
template <class Call, class Keep, class Write>
int init_collective(const char* name, Collectively call, MPI_Comm comm, MPI_Request* request, Call pmpi, Keep keep, Write write) {
  Collective now(comm);
  const int code = now.call(pmpi);
  if (now.comm() == nullptr) now.over(code);
  else now.end_unlogged(name, code);
  if (code != MPI_SUCCESS) return code;
  CollectiveArguments* kept = make<CollectiveArguments>();
  kept->call = call;
  kept->request = *request;
  if (now.comm() != nullptr) {
    kept->is_made(*now.comm(), now.number());
    keep(now, *kept);
    write(now);
    for (const Region& region : now.regions()) kept->writes.add(region);
  }
  made_persistent(name, comm, kept);
  return code;
}

#define ELC_LIST(...) __VA_ARGS__

// The wrappers of MPI_NAME and MPI_INAME. The last argument is what the call writes here.
#define ELC_BLOCKING(NAME, PARAMETERS, ARGUMENTS, ...)                                                        \
  namespace {                                                                                                 \
  ELC_NOINLINE int long_way_of_##NAME(ELC_LIST PARAMETERS) {                                                  \
    if (open_short_way("MPI_" #NAME)) return MPI_##NAME ARGUMENTS;                                            \
    ELC_FOLLOW(NAME, ARGUMENTS);                                                                              \
    return collective(comm, [&] { return PMPI_##NAME ARGUMENTS; }, [&]([[maybe_unused]] Collective& now) __VA_ARGS__); \
  }                                                                                                           \
  }                                                                                                           \
  ELC_EXPORT int MPI_##NAME(ELC_LIST PARAMETERS) {                                                            \
    if (!counted_in_short(comm)) return long_way_of_##NAME ARGUMENTS;                                         \
    const EnteredShortly entered;                                                                             \
    return PMPI_##NAME ARGUMENTS;                                                                             \
  }
#define ELC_NON_BLOCKING(NAME, PARAMETERS, ARGUMENTS, ...)                                                             \
  ELC_EXPORT int MPI_##NAME(ELC_LIST PARAMETERS, MPI_Request* request) {                                               \
    ELC_FOLLOW(NAME, (ELC_LIST ARGUMENTS, request));                                                                   \
    return begin_collective("MPI_" #NAME, comm, request, [&] { return PMPI_##NAME(ELC_LIST ARGUMENTS, request); }, \
                            [&]([[maybe_unused]] Collective& now) __VA_ARGS__);                                        \
  }
// Of one that makes a persistent request, followed also where nothing is counted any more: MPICH 4.0's MPI_Testall fails with such
// requests. KEEP puts the parameters into `kept`.
#define ELC_PERSISTENT(PREFIX, NAME, PARAMETERS, ARGUMENTS, KEEP, ...)                                                     \
  ELC_EXPORT int PREFIX##NAME##_init(ELC_LIST PARAMETERS, MPI_Info info, MPI_Request* request) {                           \
    if (!following()) return P##PREFIX##NAME##_init(ELC_LIST ARGUMENTS, info, request);                                    \
    const Entered entered(#PREFIX #NAME "_init");                                                                          \
    return init_collective(#PREFIX #NAME "_init", Collectively::k##NAME, comm, request,                                    \
                           [&] { return P##PREFIX##NAME##_init(ELC_LIST ARGUMENTS, info, request); },                      \
                           [&]([[maybe_unused]] Collective& now, [[maybe_unused]] CollectiveArguments& kept) ELC_LIST KEEP, \
                           [&]([[maybe_unused]] Collective& now) __VA_ARGS__);                                             \
  }
#if ELC_HAVE_BCAST_INIT
#define ELC_PERSISTENT_OF_STANDARD(...) ELC_PERSISTENT(MPI_, __VA_ARGS__)
#else
#define ELC_PERSISTENT_OF_STANDARD(...)
#endif
#if ELC_HAVE_MPIX_BCAST_INIT
#define ELC_PERSISTENT_BEFORE_STANDARD(...) ELC_PERSISTENT(MPIX_, __VA_ARGS__)
#else
#define ELC_PERSISTENT_BEFORE_STANDARD(...)
#endif
#if MPI_VERSION >= 3
#define ELC_COLLECTIVE(NAME, INAME, PARAMETERS, ARGUMENTS, KEEP, ...)             \
  ELC_BLOCKING(NAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)                          \
  ELC_NON_BLOCKING(INAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)                     \
  ELC_PERSISTENT_OF_STANDARD(NAME, PARAMETERS, ARGUMENTS, KEEP, __VA_ARGS__)      \
  ELC_PERSISTENT_BEFORE_STANDARD(NAME, PARAMETERS, ARGUMENTS, KEEP, __VA_ARGS__)
#else
#define ELC_COLLECTIVE(NAME, INAME, PARAMETERS, ARGUMENTS, KEEP, ...) ELC_BLOCKING(NAME, PARAMETERS, ARGUMENTS, __VA_ARGS__)
#endif

int barrier(MPI_Comm handle);

}  // namespace elc::mpi

#endif
