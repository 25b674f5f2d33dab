// The protocol's view of messages in MPI's hands, and what the library does with them by itself.
#ifndef ELC_MPI_RUNTIME_MESSAGES_H
#define ELC_MPI_RUNTIME_MESSAGES_H

#include <mpi.h>

#include "base/result.h"
#include "line/coordinator.h"
#include "mpi/objects/requests.h"

namespace elc::mpi {

// A message on its way into the pending queue.
struct Taken {
  MPI_Request handle = MPI_REQUEST_NULL;
  line::Message* message = nullptr;
};

// Why the open line cannot be kept, found when its checkpoint was already taken.
struct Spoiled {
  line::LineNumber told = 0;              // the protocol knows it of this line
  line::LineNumber line = 0, replay = 0;  // the line that cannot; the one that cannot if it has to be replayed
  const char* why = nullptr;              // literals
  const char* why_replay = nullptr;
  const char* more_of_why = "";           // behind why_replay
};

// The callbacks of line::Host about messages in MPI.
void fill_message_host(line::Host* host);

// Puts the data of a receive that MPI has completed into a message of the open line, which is spoilt where there is no
// memory for them.
void keep_data(const Receive& receive, line::Message* message);

// Messages being taken into the pending queue: notes those that have arrived.
void sweep_taken();

// The open line, if there is one, will not be kept.
void spoil_line(const char* why);
// The same if the calls of its window have to be repeated in the same way: what was just done cannot be. `more` goes behind
// `why`.
void spoil_replay(const char* why, const char* more = "");
// Behind the name of a call.
inline constexpr const char* kCalledUnfollowed = " was called, which libELC does not follow, while messages crossed the line";
inline constexpr const char* kFilesTell = " was called, by which a process sees what others have written, while messages crossed the line";
// Why the line cannot be kept, as far as is known; nullptr: it can. Memory that is short (base/memory.h) is a reason, too.
const char* spoiled(line::LineNumber line);
Result unspoiled(line::LineNumber line, bool replay);
// The reason where there is no memory for what the line has to hold.
inline constexpr const char* kNoMemory = "memory is short: give the process more, or let the program use less";

}  // namespace elc::mpi

#endif
