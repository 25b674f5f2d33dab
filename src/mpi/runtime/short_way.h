// The short way of the calls that a program makes most. Nearly always nothing is on that a call has to know of: no line is
// open, no replay, no label, one thread, a clock that need not be looked at yet. Then all that is to be done for a message is
// to count it and to remember its request, and what is usual is decided by one look at elc::attention. Messages that are not
// blocking are not even told of to the protocol and the requests (objects/begun.h): mostly they are completed before anybody
// asks. Whatever else comes up on the way - a request that is not usual, one that is not complete - is left to the long way,
// which begins anew and does everything; so the short way changes nothing before it is sure.
#ifndef ELC_MPI_RUNTIME_SHORT_WAY_H
#define ELC_MPI_RUNTIME_SHORT_WAY_H

#include "base/attention.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {

// Not with an MPI whose requests cannot be looked at without completing them, or that calls itself.
inline constexpr bool kShortWay = ELC_HAVE_REQUEST_GET_STATUS != 0 && !kMpiCallsItself;

// MPICH's MPI_Test and MPI_Testall look at the network first, which costs more than the message; its
// MPI_Request_get_status does only where the request is not complete.
#ifdef MPICH
inline constexpr bool kTestLooksAround = true;
#else
inline constexpr bool kTestLooksAround = false;
#endif

// Whether a call may go the short way.
inline bool short_way() { return kShortWay && --short_calls >= 0; }
// Where it may not: whether it may now, after a look, and is to begin anew ("MPI_Isend").
bool open_short_way(const char* call);
// Where the short way was left because of something else.
inline bool short_way_is_open() { return kShortWay && short_calls >= 0; }

// The communicator found last, if it is this one and the peer is one of its members, or any.
inline Communicator* followed_last(MPI_Comm comm, int peer) {
  Communicator* const c = runtime.comms.last(comm);
  return c != nullptr && (static_cast<unsigned>(peer) < c->members.size() || peer == MPI_ANY_SOURCE) ? c : nullptr;
}

}  // namespace elc::mpi

#endif
