// Receives and requests between their posting and their completion (MPI standard, 3.7).
#ifndef ELC_MPI_REQUESTS_H
#define ELC_MPI_REQUESTS_H

#include <mpi.h>

#include "line/types.h"
#include "mpi/communicators.h"
#include "mpi/status.h"

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
  Communicator* comm = nullptr;
  MPI_Request handle = MPI_REQUEST_NULL;  // while MPI has it
  bool done = false;                      // MPI has completed it, and has no more use for `handle`
  bool cancelled = false;                 // MPI_Cancel was called
  MPI_Status status = {};                 // once MPI has told

  static Receive& of(line::Posting& posting) { return reinterpret_cast<Receive&>(posting); }
  static const Receive& of(const line::Posting& posting) { return reinterpret_cast<const Receive&>(posting); }
};

// What a handle in the program's hands stands for. Small sends of some MPIs share one handle: `uses`.
struct Request {
  using Kind = RequestKind;
  Kind kind = Kind::kSend;
  // The program's handle is a placeholder: MPI does not have this operation, or under another handle.
  bool placeholder = false;
  uint32_t uses = 1;
  uint64_t number = 0;       // in saved state
  uint64_t type_number = 0;  // of a receive: its datatype is kept until it completes
  Receive receive;

  // MPI knows the program's handle and completes it.
  bool with_mpi() const { return !placeholder && !receive.done; }
};

class Requests {
 public:
  // The record of a handle; nullptr for MPI_REQUEST_NULL and requests that the library did not see made.
  Request* find(MPI_Request handle) {
    Request** found = by_handle_.find(handle_key(handle));
    return found == nullptr ? nullptr : *found;
  }
  void add_send(MPI_Request handle);
  // Records without a handle; give them one with bind.
  Request* make_send() { return fresh(); }
  Request* make_receive();
  void bind(Request* request, MPI_Request handle) { by_handle_.at(handle_key(handle)) = request; }
  // One use of the program's handle is over.
  void release(Request* request, MPI_Request handle);
  // A valid handle that no operation has: a persistent request that is never started.
  static MPI_Request placeholder();

  // Calls visit(handle, record) for all.
  template <class F>
  void each(F visit) {
    by_handle_.each([&](uint64_t key, Request*& r) {
      MPI_Request handle;
      memcpy(&handle, &key, sizeof handle);
      visit(handle, *r);
    });
  }
  // The handle of a record by its number in saved state; false if there is none.
  bool find_handle(uint64_t number, MPI_Request* handle);
  uint64_t numbers() const { return numbers_; }
  void numbers_from(uint64_t number) { numbers_ = number; }

 private:
  Request* fresh();

  HashMap<Request*> by_handle_;
  Vector<Request*> pool_;
  uint64_t numbers_ = 0;
};

extern Requests requests;

// Posts a receive whose members buffer, count, type, comm and posting.pattern are set, and gives it to
// MPI unless the pending queue answers it or a replay holds it back. An MPI error code.
int start_receive(Receive& receive);
// Gives it to MPI, with its own or its bound envelope.
int give_to_mpi(Receive& receive);
// Whether a receive that only the library waits for is complete.
bool receive_complete(Receive& receive);
// MPI's view of a receive that stays the program's: complete? Then its status is set.
bool complete_in_mpi(Receive& receive);
// The program observes a complete receive: accounts for it and puts the data of a queued message into its
// buffer. An MPI error code (truncation).
int observe_receive(Receive& receive, MPI_Status* status);

// What MPI does with an error on this communicator; returns `code` if the program goes on.
int call_error_handler(const Communicator& comm, int code);

// The pattern of a receive or probe in world ranks.
line::Pattern pattern_of(const Communicator& comm, int source, int tag);

}  // namespace elc::mpi

#endif
