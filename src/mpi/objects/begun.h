// The program's newest messages, begun on the short way (mpi/runtime/short_way.h) and known nowhere else yet. Most are
// completed a moment later, together and in the order in which they were begun, or all sends and all receives of them: then
// all that there is to do for them is to count them. Whoever has anything else to ask or to tell tells of them first (Told):
// to the protocol and to the requests they are what they would be had they been told of one by one.
#ifndef ELC_MPI_OBJECTS_BEGUN_H
#define ELC_MPI_OBJECTS_BEGUN_H

#include <mpi.h>
#include <stdint.h>

#include <type_traits>

#include "base/compiler.h"
#include "line/counts.h"
#include "mpi/objects/handle_key.h"

namespace elc::mpi {

struct Communicator;

// No request has this handle.
inline MPI_Request over() { return from_key<MPI_Request>(kNoKey); }

struct Begun {
  MPI_Request handle = {};    // over(): it is over, and one that was begun earlier is not
  // What it is. A program does the same again and again: a place keeps it for the message that comes there next, on a
  // communicator that is followed, with a rank that it has.
  MPI_Comm comm = {};         // no communicator: nothing is kept
  int peer = 0;
  int tag = 0;                // no wildcards
  MPI_Datatype type = {};     // of a receive one that stays for ever; of a send none
  bool receives = false;
  Communicator* followed = nullptr;
  line::Counter counter;
  // Of a receive.
  int count = 0;
  void* buffer = nullptr;
};

class BegunMessages {
 public:
  // Where the next one is put.
  Begun* place() { return next_; }
  // Whether that keeps what these arguments say.
  bool sends(MPI_Comm comm, int peer, int tag) const {
    return next_->comm == comm && next_->peer == peer && next_->tag == tag && !next_->receives;
  }
  bool receives(MPI_Comm comm, int peer, int tag, MPI_Datatype type) const {
    return next_->comm == comm && next_->peer == peer && next_->tag == tag && next_->type == type;
  }
  // Otherwise: false if it cannot be, and the message has to go another way.
  bool keep_send(MPI_Comm comm, int peer, int tag);
  bool keep_receive(MPI_Comm comm, int peer, int tag, MPI_Datatype type);
  // MPI has the message at place(), under this handle.
  void add_send(MPI_Request handle) {
    next_->handle = handle;
    ++next_;
  }
  void add_receive(MPI_Request handle) {
    add_send(handle);
    ++receives_;
  }

  // The oldest; up to place().
  Begun* first() { return first_; }
  bool none() const { return first_ == next_; }
  bool none_receives() const { return receives_ == 0; }
  // Those before `end` are over.
  void end(Begun* end) {
    if (end != next_) [[unlikely]] return end_some(end);
    first_ = next_ = messages_;
    receives_ = 0;
  }
  // The same of those whose bits, from first() on, are set.
  void end_these(uint64_t which);

  // The protocol and the requests hear of all.
  ELC_NOINLINE void tell();
  // Nothing is kept any more, at all or of this communicator, which is freed. None is begun.
  void forget();
  void forget(MPI_Comm comm);

 private:
  Begun* make_place();
  bool keep(MPI_Comm comm, int peer, int tag, MPI_Datatype type, bool receives);
  void end_some(const Begun* end);
  void skip_over();

  static constexpr size_t kMost = 64;  // bits
  Begun messages_[kMost + 1];  // behind the last place is one that keeps nothing
  Begun* first_ = messages_;
  Begun* next_ = messages_;
  size_t receives_ = 0;        // from first_ on
};

ELC_HIDDEN extern BegunMessages begun;

// What has to be told of the messages begun before anybody does anything else with it: T, or T* that points to it.
template <class T>
class Told {
  using Value = std::remove_pointer_t<T>;

 public:
  Value* operator->() {
    if (!begun.none()) [[unlikely]] begun.tell();
    return address();
  }
  Value& operator*() { return *operator->(); }
  // For who keeps to what is usual: without that.
  Value& untold() { return *address(); }
  Told& operator=(T value) {
    value_ = value;
    return *this;
  }

 private:
  Value* address() {
    if constexpr (std::is_pointer_v<T>) return value_;
    else return &value_;
  }
  T value_ = {};
};

}  // namespace elc::mpi

#endif
