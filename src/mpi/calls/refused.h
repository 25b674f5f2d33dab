// What the generated wrappers of calls that are not followed are made of (generate_wrappers.py, table.txt). Each is
//
//     if (!following()) return PMPI_X(...);
//     const Entered entered("MPI_X");
//     const Refused now("MPI_X", ELC_CALLER());
//
// and then the call of MPI with some of the following around it, as the table says.
#ifndef ELC_MPI_CALLS_REFUSED_H
#define ELC_MPI_CALLS_REFUSED_H

#include <limits.h>

#include "base/vector.h"
#include "mpi/calls/collective.h"
#include "mpi/objects/obstacles.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

// MPI writes through a pointer that the program gives it; what is wrong with that pointer is MPI's to report.
template <class Handle>
uint64_t key_at(const Handle* handle) {
  return handle == nullptr ? 0 : handle_key(*handle);
}

class Refused {
 public:
  Refused(const char* call, const void* place) : call_(call), place_(place) {}

  // It has made this, which is an obstacle from now on unless it is one of the values that are no objects.
  template <class Handle, class... Others>
  void makes(HandleKind kind, Handle made, Others... no_objects) const {
    if (((made != no_objects) && ...)) {
      add_obstacle(kind, handle_key(made), call_, place_);
      if (kind == HandleKind::kRequest) spoil_replay(call_, kCalledUnfollowed);
    }
  }
  // `variable`: of the program, which gets it.
  template <class Handle, class... Others>
  void makes_local(HandleKind kind, Handle made, const void* variable, Others... no_objects) const {
    if (((made != no_objects) && ...)) add_local_obstacle(kind, handle_key(made), variable, call_, place_);
  }
  void makes_local(HandleKind kind, int number) const { add_local_obstacle(kind, handle_key(number), nullptr, call_, place_); }
  // The same for a persistent request.
  void makes_idle(MPI_Request made) const {
    makes(HandleKind::kRequest, made, MPI_REQUEST_NULL);
    runtime.obstacles.set_idle(handle_key(made), true);
  }
  // It synchronises a window otherwise than by a fence, or (`changes`) has changed it, which the set-up may do.
  void uses(MPI_Win window, const char* how, bool changes) const {
    FollowedWindow* w = runtime.windows.find(window);
    if (w == nullptr || (changes && in_setup())) return;
    spoil_replay(call_, kCalledUnfollowed);
    use_otherwise(w, how, place_);
  }
  // It has changed this: no more what the set-up made.
  template <class Handle>
  void changes(HandleKind kind, Handle changed) const {
    change_local_obstacle(kind, handle_key(changed), call_, place_);
  }
  // This file is no more what a restart opens again.
  void hinders(MPI_File file) const {
    if (file == MPI_FILE_NULL && !in_setup()) cannot_checkpoint("MPI_File_set_errhandler of MPI_FILE_NULL");  // for all that are opened later
    else if (file != MPI_FILE_NULL && !is_obstacle(HandleKind::kFile, handle_key(file))) makes(HandleKind::kFile, file);
  }
  // It was a call in which the members of `made` took part, whatever they are members of beside: in the counts of messages.
  void together(MPI_Comm made) const;
  // It was a call that this process of a communicator makes as well, one of the two to receive what the other one sends: the same.
  void paired(MPI_Comm comm, int peer, bool sends) const;
  // An attribute of this object has this value now, or none. It goes with the object.
  void comm_attribute(MPI_Comm comm, int keyval, bool there, const void* value = nullptr) const {
    Communicator* known = runtime.comms.find(comm);
    if (known == nullptr) return;
    if (there) known->attribute_is_set({keyval, value, false, call_});
    else known->attribute_is_deleted(keyval);
  }
  void type_attribute(MPI_Datatype type, int keyval, bool there, const void* value = nullptr) const;
  // The buffer for sends is this one now; nullptr: none.
  void buffer(const void* buffer, int64_t size) const;
  // This communicator was made of another one with these attributes, and may have them and its error handler.
  void inherits(Communicator* made, const Attributes& parents) const;
  // The error handler of a communicator was set. A restart has those that MPI has, and those that the set-up makes.
  void error_handler(MPI_Comm comm, MPI_Errhandler handler) const;

  const char* call() const { return call_; }

 private:
  void error_handler(Communicator* comm) const;

  const char* call_;
  const void* place_;
};

// Ends a collective operation that the library counts and cannot log. Returns `code`.
int end_counted(Collective* operation, const Refused& now, int code);

// ---- Large counts: where they fit an int, the call is the one without ----------------------------

template <class Count>
bool fits(Count value) {
  return value >= INT_MIN && value <= INT_MAX;
}

// An array of counts or offsets in the narrower type; `n` elements (fewer than 0: not known), unless MPI does not look at
// the array.
template <class Narrow>
class Narrowed {
 public:
  template <class Wide>
  Narrowed(const Wide* wide, int n, bool significant) : null_(wide == nullptr || !significant), fit_(n >= 0) {
    for (int i = 0; i < n && !null_; ++i) {
      const Narrow value = static_cast<Narrow>(wide[i]);
      fit_ = fit_ && value == wide[i];
      values_.push_back(value);
    }
  }
  bool fit() const { return fit_; }
  Narrow* data() { return null_ ? nullptr : values_.data(); }

 private:
  bool null_, fit_;
  Vector<Narrow> values_;
};

// Elements of an array that has one for each member of a communicator, or of an intercommunicator's other group; and of
// one for each of this process's own group. -1: the library does not know it.
int members(MPI_Comm comm);
int own_members(MPI_Comm comm);
// One for each neighbour: to whom this process sends, and from whom it receives. The same.
int destinations(MPI_Comm comm);
int sources(MPI_Comm comm);
// Whether this process is the root, who alone has such arrays.
bool is_root(int root, MPI_Comm comm);

}  // namespace elc::mpi

#endif
