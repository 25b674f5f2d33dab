#include "mpi/objects/begun.h"

#include "mpi/runtime/runtime.h"

namespace elc::mpi {

constinit BegunMessages begun;

// There is always one more, as soon as those that are there are told of.
Begun* BegunMessages::make_place() {
  if (next_ == messages_ + kMost) tell();
  return next_;
}

bool BegunMessages::keep(MPI_Comm comm, int peer, int tag, MPI_Datatype type, bool receives) {
  Begun* const b = make_place();
  Communicator* const c = followed(comm, peer);
  if (c == nullptr || peer == MPI_ANY_SOURCE) return false;
  b->comm = comm;
  b->peer = peer;
  b->tag = tag;
  b->type = type;
  b->receives = receives;
  b->followed = c;
  b->counter = receives ? line::Counter::of_received(c->world(peer), c->slot, tag) : line::Counter::of_sent(c->world(peer), c->slot, tag);
  return true;
}

bool BegunMessages::keep_send(MPI_Comm comm, int peer, int tag) { return keep(comm, peer, tag, {}, false); }

bool BegunMessages::keep_receive(MPI_Comm comm, int peer, int tag, MPI_Datatype type) {
  return tag != MPI_ANY_TAG && runtime.requests.untold().find_type(type) && keep(comm, peer, tag, type, true);
}

void BegunMessages::end_some(const Begun* end) {
  for (; first_ != end; ++first_) receives_ -= first_->receives ? 1 : 0;
  skip_over();
}

void BegunMessages::end_these(uint64_t which) {
  for (Begun* b = first_; which != 0; ++b, which >>= 1) {
    if ((which & 1) == 0) continue;
    b->handle = over();
    receives_ -= b->receives ? 1 : 0;
  }
  skip_over();
}

// The oldest is one that is not over.
void BegunMessages::skip_over() {
  while (first_ != next_ && first_->handle == over()) ++first_;
  if (first_ == next_) first_ = next_ = messages_;
}

void BegunMessages::tell() {
  const Begun* const end = next_;
  const Begun* b = first_;
  first_ = next_ = messages_;
  receives_ = 0;
  for (; b != end; ++b) {
    if (b->handle == over()) continue;
    if (b->receives) {
      runtime.requests->add_usual(b->buffer, b->count, b->type, b->followed, b->peer, b->tag, b->handle);
    } else {
      runtime.coordinator->send_usual(b->followed->world(b->peer), b->followed->slot, b->tag);
      runtime.requests->add_send(b->handle);
    }
  }
}

void BegunMessages::forget() {
  for (Begun& b : messages_) b.comm = {};
}

void BegunMessages::forget(MPI_Comm comm) {
  for (Begun& b : messages_)
    if (b.comm == comm) b.comm = {};
}

}  // namespace elc::mpi
