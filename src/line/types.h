// The words of the protocol: ranks, envelopes, messages, receives.
#ifndef ELC_LINE_TYPES_H
#define ELC_LINE_TYPES_H

#include <stdint.h>

#include "base/vector.h"
#include "base/wire.h"

namespace elc::line {

using Rank = int32_t;          // in the world of all N processes, whatever the communicator
using Tag = int32_t;           // as in MPI, not negative
using Comm = uint32_t;         // a communicator in this process: a slot of its table
using Identity = uint64_t;     // a communicator everywhere: a hash of (parent, number of operation, colour)
using LineNumber = uint32_t;   // the start of the program is line 0

inline constexpr Rank kAnySource = -1;
inline constexpr Tag kAnyTag = -1;
// The same for any two that are equal, and for no others; wildcards too.
inline uint64_t class_key(Rank source, Tag tag) {
  return static_cast<uint64_t>(static_cast<uint32_t>(source)) << 32 | static_cast<uint32_t>(tag);
}

// No message has these. Of what is counted for a call on a group; of what tells the others that they are members.
inline constexpr Tag kGroupTag = -2, kMemberTag = -3;

// What a receive or probe asks for, in the application's words (wildcards allowed).
struct Pattern {
  Comm comm = 0;
  Rank source = kAnySource;
  Tag tag = kAnyTag;

  bool wildcard() const { return source == kAnySource || tag == kAnyTag; }
  bool matches(Rank from, Tag with) const {
    return (source == kAnySource || source == from) && (tag == kAnyTag || tag == with);
  }
  // Whether one message could match both.
  bool overlaps(const Pattern& other) const {
    return comm == other.comm && (source == kAnySource || other.source == kAnySource || source == other.source) &&
           (tag == kAnyTag || other.tag == kAnyTag || tag == other.tag);
  }
};

// A number in the state of a process, or in a message that is in transit, that may be an address of another process, which it has been told.
struct ToldAddress {
  uint64_t address = 0;
  bool exact = false;  // it is one by chance more easily, and is taken for one only where something begins there
  bool asks_holder = false;  // who has it may not know that it is none of its own; or several have it
  Rank holder = 0;     // the least whose state has it
};

// A message that the library holds: in the pending queue, in the log of a line, or both. Its owners
// count themselves in `references`.
struct Message {
  Rank source = kAnySource;  // kAnySource: matched by a wildcard receive, envelope not yet known
  Tag tag = kAnyTag;
  Comm comm = 0;
  bool arrived = false;       // the content is here
  bool counted = false;       // it counts as received already (PROTOCOL.md, section 1, probes)
  uint64_t order = 0;         // when MPI gave it, to a receive (Posting::order) or the queue: the order of its stream
  uint64_t representation = 0;  // of the bytes, a code of the layer above; 0: this machine's
  Bytes content;              // packed elements as they arrived
  int references = 1;
  struct Link {
    Message* before = nullptr;
    Message* after = nullptr;
  };
  Link links[5];              // of the pending queue
};

Message* retain(Message* message);
void let_go(Message* message);  // nullptr allowed

// A receive between its posting and the moment the application observes it. Lives where the caller
// keeps it (the stack of a blocking call, the record of a request); the library only links it.
struct Posting {
  enum class State : uint8_t {
    kStarted,  // given to MPI
    kQueued,   // answered from the pending queue: `message`, complete when that has arrived
    kHeld,     // in replay: not yet given to MPI (PROTOCOL.md, section 8, step 4)
  };

  Pattern pattern;                // as the application gave it
  uint64_t number = 0;            // of this posting, counted in the process
  uint64_t order = 0;             // when it was given to MPI (Message::order); 0: it was not
  State state = State::kStarted;
  bool bound = false;             // replay: may take only a message of bound_source, bound_tag
  bool counted = false;           // observed, or implied by a later observation
  bool unresolved = false;        // counted, but by a wildcard whose envelope MPI has not told yet
  bool cancelled = false;         // the application has cancelled it, and its fate is not known yet
  bool logged = false;            // its message is held by the open line
  bool repeated = false;          // of a call that a restart makes again: no part of the saved state
  Rank bound_source = kAnySource;
  Tag bound_tag = kAnyTag;
  Message* message = nullptr;     // kQueued: what it takes (one reference)
  Message* log = nullptr;         // the open line's copy, to be filled when the data are here (one reference)
  bool open = false;              // neither counted nor cancelled: what is observed may imply it
  Posting* before = nullptr;      // posting order within the communicator
  Posting* after = nullptr;
  Posting* class_before = nullptr;  // the same among open ones of one pattern, where there are many
  Posting* class_after = nullptr;
};

// Why a line is refused whose messages cannot be held.
inline constexpr const char* kNoMemoryForMessage =
    "there is no memory for a message in transit: give the process more, or let the program use less";

// Kinds of outcomes that may differ between two executions of the same program (section 3, W3).
enum class NdKind : uint32_t {
  kTest = 1, kTestall, kTestany, kTestsome, kWaitany, kWaitsome, kIprobe, kProbe, kValue, kMprobe, kImprobe,
};

}  // namespace elc::line

#endif
