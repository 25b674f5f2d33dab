// Receives and requests between their posting and their completion (MPI standard, 3.7).
#ifndef ELC_MPI_OBJECTS_REQUESTS_H
#define ELC_MPI_OBJECTS_REQUESTS_H

#include <mpi.h>

#include "base/compiler.h"
#include "line/types.h"
#include "mpi/objects/collective_arguments.h"
#include "mpi/objects/collective_results.h"
#include "mpi/objects/communicators.h"
#include "mpi/objects/return_status.h"

namespace elc::mpi {

// MPI before 3.0 takes the buffers of sends without const.
#if MPI_VERSION >= 3
#define ELC_CONST const
#else
#define ELC_CONST
#endif

// A receive: of a blocking call on its stack, or part of a Request.
struct Receive {
  line::Posting posting;  // first: the protocol's host finds the receive from its posting
  void* buffer = nullptr;
  int count = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  Communicator* comm = nullptr;           // nullptr: from MPI_PROC_NULL, and nothing is accounted for
  MPI_Request handle = MPI_REQUEST_NULL;  // while MPI has it
  bool done = false;                      // MPI has completed it, and has no more use for `handle`
  bool cancelled = false;                 // MPI_Cancel was called
  bool matched = false;                   // by a matched probe, and counted there; `log`: what a line wants to have of it
  line::Message* log = nullptr;
  int code = MPI_SUCCESS;                 // MPI's, once it has told
  MPI_Status status = {};                 // the same

  static Receive& of(line::Posting& posting) { return reinterpret_cast<Receive&>(posting); }
  static const Receive& of(const line::Posting& posting) { return reinterpret_cast<const Receive&>(posting); }
};

// The arguments of a call that moves a message. `send`: the non-blocking call of MPI that makes it; nullptr: a receive.
struct MessageArguments {
  void* buffer;
  int count;
  MPI_Datatype type;
  int peer;
  int tag;
  MPI_Comm comm;
  int (*send)(ELC_CONST void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
};

// What a persistent request starts: a message, or a collective operation.
struct Persistent : MessageArguments {
  line::Identity made_on = 0;  // its communicator, if that is followed: the handle may be another's by now
  bool of_set_up = false;      // and a restart makes it again by itself
  CollectiveArguments* collective = nullptr;  // owned; then of the others `comm` alone means something
  bool made_again = false;     // by a restart: MPI has never heard of it
};

// What a handle in the program's hands stands for. Small sends of some MPIs share one handle: `uses`.
struct Request {
  using Kind = RequestKind;
  Kind kind = Kind::kSend;
  // The program's handle is a placeholder: MPI does not have this operation, or under the handle of `receive`.
  bool placeholder = false;
  bool active = true;        // false: persistent, and not started
  bool obstacle = false;     // no line can be taken until it is gone
  bool synchronous = false;  // a send, of whose receipt the completion tells
  bool usual = false;        // a receive that was made by the short way and is as it was then
  uint32_t uses = 1;
  uint64_t number = 0;       // in saved state
  uint64_t copy = 0;         // a synchronous send that the library finishes from a copy: mpi/objects/background.h
  uint64_t type_number = 0;  // its datatype is kept as long as this is
  Persistent* persistent = nullptr;         // owned
  PendingCollective* collective = nullptr;  // of that kind, while it is under way; owned
  // Of a send, `handle`, `done` and `cancelled` alone; of a persistent collective operation that is active `handle`, `done` and
  // `code`.
  Receive receive;
  Request* next = nullptr;   // of spare ones

  // As a new one, but for the number; without what it owned.
  void reset() {
    kind = Kind::kSend;
    placeholder = obstacle = synchronous = usual = false;
    active = true;
    uses = 1;
    copy = type_number = 0;
    receive = Receive();
  }
  bool of_set_up() const { return persistent != nullptr && persistent->of_set_up; }
  bool is_persistent_collective() const { return persistent != nullptr && persistent->collective != nullptr; }
  // What MPI has of this request, whose handle the program has; MPI_REQUEST_NULL: nothing any more, or not yet. The library
  // itself completes persistent collective operations (collective_complete): MPICH 4.0's MPI_Testall fails with them.
  MPI_Request in_mpi(MPI_Request program) const {
    if (!active || receive.done || is_persistent_collective()) return MPI_REQUEST_NULL;
    return placeholder ? receive.handle : program;
  }
};

// What a call with many requests needs, kept from call to call.
struct RequestArrays {
  Vector<MPI_Request> handles;
  Vector<int> own;
  Vector<MPI_Status> statuses;
};

class Requests {
 public:
  // Requests are found by their handles in a table of few places, one for each handle, and those whose place is taken in
  // another one, of any size. A send in the first, of which nothing is to be known but its number, has no record until
  // somebody asks for it.
  struct Place {
    uint64_t key = kNoKey;     // of the handle
    Request* record = nullptr;
    uint64_t number = 0;       // where there is no record: of the request, and how often MPI has given this handle
    uint32_t uses = 0;
  };
  // The place of this key; whether it has it says `key`.
  Place& place(uint64_t key) {
    if (key == complete_key_) return complete_;
    constexpr unsigned kBits = sizeof(size_t) * 8;
    constexpr auto kMixer = static_cast<size_t>(kBits > 32 ? 0x9e3779b97f4a7c15u : 0x9e3779b9u);
    return places_[static_cast<size_t>(key) * kMixer >> (kBits - kPlaceBits)];
  }

  // The record of a handle; nullptr for MPI_REQUEST_NULL and requests that the library does not follow.
  Request* find(MPI_Request handle) {
    const uint64_t key = handle_key(handle);
    Place& p = place(key);
    if (p.key == key && key != kNoKey) return p.record != nullptr ? p.record : make_record(p);
    Request** found = by_handle_.find(key);
    return found == nullptr ? nullptr : *found;
  }
  void add_send(MPI_Request handle) {
    const uint64_t key = handle_key(handle);
    Place& p = place(key);
    if (p.key != kNoKey || (by_handle_.size() != 0 && by_handle_.find(key) != nullptr)) [[unlikely]]
      return add(handle, RequestKind::kSend);
    p.key = key;
    p.record = nullptr;
    p.number = ++numbers_;
    p.uses = 1;
  }
  // One use of the handle of a send without a record is over.
  static void end_send(Place& place) {
    if (--place.uses == 0) place.key = kNoKey;
  }

  // ---- Receives of the short way ----
  // MPI has made it, under this handle: it is posted, where all is usual.
  void add_usual(void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag, MPI_Request handle);
  // It has been observed as usual, and is spare again.
  void end_usual(Place& place) {
    Request* const r = place.record;
    place.key = kNoKey;
    if (r->type_number >= kFirstDerived) [[unlikely]] let_type_go(r);
    r->receive.handle = MPI_REQUEST_NULL;
    r->receive.comm = nullptr;
    r->next = spare_;
    spare_ = r;
  }
  // Bytes of an element of a predefined type, of which there are many messages; 0: find_type may know it then.
  uint64_t bytes_of_usual(MPI_Datatype type) const { return type == last_type_ ? last_type_bytes_ : 0; }
  // Whether it is such a type.
  bool find_type(MPI_Datatype type);
  // What MPI gives to all sends that are complete when they are made, if it does so.
  void learn_complete_handle();
  bool is_complete_handle(MPI_Request handle) const { return handle_key(handle) == complete_key_; }

  void add_null_receive(MPI_Request handle) { add(handle, RequestKind::kReceive); }
  // Whether this is a handle that MPI gives to all operations that are complete at once; then it has one use more.
  bool add_complete(MPI_Request handle);
  void add_synchronous(MPI_Request handle);
  // `making` is owned from now on. nullptr: the operation is over, and has ended.
  Request* add_collective(MPI_Request handle, line::Comm comm, uint64_t number, Vector<Region> regions, Making* making = nullptr);
  // A persistent one has started this operation, which MPI has under the handle in `receive`.
  void begin_collective(Request* request, line::Comm comm, uint64_t number, Vector<Region> regions);
  // A handle of a complete operation of which MPI knows nothing.
  MPI_Request make_complete();
  // Records without a handle; give them one with bind.
  Request* make_collective(CollectiveArguments* arguments, MPI_Comm comm, line::Identity made_on);
  Request* make_send() { return fresh(); }
  Request* make_receive();
  // A record that the program gets no handle of after all.
  void unmake(Request* request);
  void bind(Request* request, MPI_Request handle);
  // Lines are refused, because of `call`, until the request is gone.
  void hinder(Request* request, MPI_Request handle, const char* call);
  // A persistent request is inactive, as it was before it was started.
  void set_inactive(Request* request, MPI_Request handle);
  // A new persistent request belongs to the program's set-up.
  void add_to_set_up(Request* request);
  // A persistent one is MPI's own from now on.
  void leave_to_mpi(Request* request, MPI_Request handle);
  // One use of the program's handle is over.
  void release(Request* request, MPI_Request handle);
  // The program has freed a receive that is not complete: the library completes it.
  void abandon(Request* request, MPI_Request handle);
  // In a restart: the receives that the set-up has posted are taken back. What the line has of them is posted again. Its
  // persistent requests get their numbers.
  void end_set_up();
  bool empty() const;
  // Completes what can be completed of them.
  void sweep_abandoned();
  // Tells of collective operations that MPI has completed, and that the program has not looked at.
  void look_at_collectives();
  // A valid handle that no operation has: a persistent request that is never started.
  static MPI_Request placeholder();
  // Whether every handle that the program has is the one by which MPI knows the operation, and completes it.
  bool all_with_mpi() const { return ELC_HAVE_REQUEST_GET_STATUS != 0 && placeholders_ == 0; }

  // Whether a local checkpoint may be taken at this site. Not while the program waits for what it has sent synchronously to be received, or
  // by a collective operation for all that others have: what is under way then cannot be in a line (PROTOCOL.md, section 5). But for so
  // many sites alone.
  bool settled_here();
  bool is_unsettled() const { return unsettled_sites_ > 0; }  // it was not at the last one, while a line waited

  RequestArrays* borrow();
  void give_back(RequestArrays* arrays) { arrays_.push_back(arrays); }

  // Calls visit(handle, record) for all.
  template <class F>
  void each(F visit) {
    const auto look_at = [&](Place& p) {
      if (p.key != kNoKey) visit(from_key<MPI_Request>(p.key), p.record != nullptr ? *p.record : *make_record(p));
    };
    look_at(complete_);
    for (Place& p : places_) look_at(p);
    by_handle_.each([&](uint64_t key, Request*& r) { visit(from_key<MPI_Request>(key), *r); });
  }
  // In a restart: the handle of a record by its number in saved state; false if there is none.
  bool find_handle(uint64_t number, MPI_Request* handle);
  uint64_t numbers() const { return numbers_; }
  // In a restart, before all others: a record under a placeholder with a number of the line.
  Request* make_again(RequestKind kind, uint64_t number);
  // The restart is over.
  void numbers_from(uint64_t number);

 private:
  Request* blank();  // not yet numbered
  Request* fresh();
  void end_collective(Request* request);
  void forget_collective(Request* request);
  void unbind(const Request& request, MPI_Request handle);
  void add(MPI_Request handle, RequestKind kind);

  Request* make_record(Place& place);
  ELC_NOINLINE static void let_type_go(Request* receive);
  void take_out(MPI_Request handle);
  bool is_exchanging();

  static constexpr unsigned kPlaceBits = 6;
  Place places_[size_t{1} << kPlaceBits];
  Place complete_;
  HashMap<Request*> by_handle_;  // those whose place has another one
  Request* spare_ = nullptr;     // records that are like new ones of receives
  MPI_Datatype last_type_ = {};  // of those that stay for ever; and its number
  uint64_t last_type_number_ = kNullDatatype, last_type_bytes_ = 0;
  uint64_t complete_key_ = kNoKey;
  HashMap<uint64_t> restored_;  // the key of the handle by its number
  Vector<Request*> pool_;
  Vector<Request*> abandoned_;
  Vector<RequestArrays*> arrays_;  // not in use
  uint64_t numbers_ = 0, persistent_ = 0;
  unsigned unsettled_sites_ = 0;
  size_t placeholders_ = 0, collectives_ = 0;
};

// An MPI error code: whether MPI takes these arguments of a receive, which is not made.
int check_receive(void* buffer, int count, MPI_Datatype type, int source, int tag, MPI_Comm comm);

// Posts a receive whose members buffer, count, type, comm and posting.pattern are set, and gives it to
// MPI unless the pending queue answers it or a replay holds it back. An MPI error code: nothing is posted then.
int start_receive(Receive& receive);
// Gives it to MPI, with its own or its bound envelope.
int give_to_mpi(Receive& receive);
// Whether a persistent collective operation that is active is complete, perhaps with an error.
bool collective_complete(Request& request);
// Whether a receive that only the library waits for is complete, perhaps with an error.
bool receive_complete(Receive& receive);
// MPI's view of a receive that stays the program's: complete? Then its status and code are set.
bool complete_in_mpi(Receive& receive);
// Whether a receive that MPI has completed got a message: not one that was cancelled, or that failed without an envelope.
bool has_message(const Receive& receive);
// Whether the message was longer than the buffer of a receive that MPI has completed.
bool truncated(const Receive& receive);

// An error of which no error handler has been told yet.
struct Unheard {
  int code = MPI_SUCCESS;
  const Communicator* comm = nullptr;

  // Tells the handler; its code.
  int tell() const;
};

// The program observes a complete receive: accounts for it and puts the data of a queued message into its
// buffer; its status is in `receive`. An MPI error code; where it is the library that has found the error, `unheard`
// is set.
int observe_receive(Receive& receive, Unheard* unheard);

// What MPI does with an error on this communicator; returns `code` if the program goes on.
int call_error_handler(const Communicator& comm, int code);

// The pattern of a receive or probe in world ranks.
inline line::Pattern pattern_of(const Communicator& comm, int source, int tag) {
  return {comm.slot, source == MPI_ANY_SOURCE ? line::kAnySource : comm.world(source), tag == MPI_ANY_TAG ? line::kAnyTag : tag};
}

// Sets what start_receive wants.
inline void fill(Receive* receive, void* buffer, int count, MPI_Datatype type, Communicator* comm, int source, int tag) {
  receive->buffer = buffer;
  receive->count = count;
  receive->type = type;
  receive->comm = comm;
  receive->posting.pattern = pattern_of(*comm, source, tag);
}

// A call on a communicator that is not followed has made a request, which has to be complete before a line is taken.
void made_unfollowed(MPI_Comm comm, int peer, MPI_Request request, const char* call);

}  // namespace elc::mpi

#endif
