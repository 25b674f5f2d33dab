// What a collective operation writes in this process: its result, where a line needs one (PROTOCOL.md, section 6).
#ifndef ELC_MPI_OBJECTS_COLLECTIVE_RESULTS_H
#define ELC_MPI_OBJECTS_COLLECTIVE_RESULTS_H

#include <mpi.h>

#include "base/result.h"
#include "base/vector.h"
#include "base/wire.h"
#include "line/types.h"
#include "mpi/objects/communicators.h"
#include "mpi/serial/section.h"

namespace elc::mpi {

// Part of the program's memory that a call writes.
struct Region {
  void* buffer;
  int count;
  MPI_Datatype type;
};

// Puts a result where MPI would have written it. Fails for one of other regions than these.
Result unpack_regions(const Vector<Region>& regions, const Bytes& result);

// Ends an operation that MPI has completed: what it has written is logged if a line wants it.
void end_collective(line::Comm comm, uint64_t number, const Vector<Region>& regions);
// Ends one that crosses the line, and that this process does not execute: its result is put where MPI would have written it. Ends
// the job where it does not fit.
void repeat_collective(line::Comm comm, uint64_t number, const Vector<Region>& regions, const Bytes& result);
// The same for one that has failed.
void end_failed_collective(line::Comm comm, uint64_t number);

// What a non-blocking operation makes: a communicator, to be followed when it is complete.
struct Making {
  MPI_Comm* made = nullptr;  // the program's variable, which MPI sets
  Origin origin;
  Attributes parents;        // those that the parent had
  const char* call = "";
};
// Ends the operation by which a communicator was made, with what follow() has given.
void end_making(line::Comm comm, uint64_t number, Bytes result, const char* call);
// This communicator (or MPI_COMM_NULL), which `call` has made of one with these attributes, is followed from now on. The result
// to be logged; empty: none can be, because in a replay nobody would call the functions that copy attributes, or it has an error
// handler that was made behind the set-up.
Bytes follow(MPI_Comm made, const Origin& origin, const Attributes& parents, const char* call);

// A non-blocking operation that MPI has begun and the program has not seen complete.
struct PendingCollective {
  line::Comm comm = 0;
  uint64_t number = 0;
  bool ended = false;       // MPI has completed it, which only a line knows yet
  bool unknown = false;     // the library does not know the datatype of a region, and MPI may forget it
  Vector<Region> regions;
  Vector<uint64_t> types;   // the number of each one's datatype, kept as long as this is
  Making* making = nullptr; // owned

  PendingCollective(line::Comm slot, uint64_t which, Vector<Region> writes);
  ~PendingCollective();
  PendingCollective(const PendingCollective&) = delete;
  PendingCollective& operator=(const PendingCollective&) = delete;

  // MPI has completed it, with this code.
  void end(int code);
};

}  // namespace elc::mpi

#endif
