// What a line keeps of a process's part in the protocol: section "line" of its file.
#ifndef ELC_LINE_SAVED_H
#define ELC_LINE_SAVED_H

#include "base/result.h"
#include "line/counts.h"
#include "line/types.h"

namespace elc::line {

struct SavedComm {
  Identity identity = 0;
  uint64_t operations = 0;  // started before the checkpoint
  uint32_t size = 0;
  bool freed = false;
};

struct SavedClass {
  Rank peer = 0;
  Identity comm = 0;
  Tag tag = 0;
  int64_t residue = 0;  // > 0: in transit from the peer; < 0: orphans from the peer
};

struct SavedMessage {
  Identity comm = 0;
  Message* message = nullptr;  // one reference; its `comm` is not used here
  SavedMessage() = default;
  SavedMessage(SavedMessage&& other) noexcept : comm(other.comm), message(other.message) { other.message = nullptr; }
  SavedMessage& operator=(SavedMessage&& other) noexcept;
  ~SavedMessage() { let_go(message); }
};

struct SavedPosting {  // a receive posted before the checkpoint and not observed by then
  uint64_t number = 0;
  Identity comm = 0;
  Rank source = kAnySource;  // the application's pattern
  Tag tag = kAnyTag;
  SavedMessage answer;  // complete with this message, if there is one; then it counts as received
};

// The one with this number, or nullptr. `receives` are in posting order.
const SavedPosting* find_posting(const Vector<SavedPosting>& receives, uint64_t number);

struct SavedResult {  // of a collective operation
  Identity comm = 0;
  uint64_t number = 0;
  Bytes result;
};

struct SavedOutcome {  // one entry of W3, that occurred `times` in a row
  NdKind kind = NdKind::kTest;
  uint32_t times = 1;
  Bytes value;
};

struct BoundReceive {  // W3: what the posting of this number received
  uint64_t number = 0;
  Rank source = 0;
  Tag tag = 0;
};

struct Saved {
  LineNumber line = 0;
  uint64_t points = 0;    // D of section 2
  uint64_t calls = 0;     // of this process, of ELC_Checkpoint_now
  uint64_t postings = 0;  // numbered before the checkpoint
  bool replay = false;    // somebody has orphans or late operations: outcomes are to be repeated
  Vector<SavedComm> comms;
  Vector<SavedClass> classes;      // those with a residue
  Vector<SavedMessage> messages;   // in transit, in the order of arrival
  Vector<SavedPosting> receives;   // in posting order
  Vector<SavedResult> crossing;    // results of operations that cross and that this process is late for
  Vector<SavedResult> pending;     // results of non-blocking operations pending at the checkpoint
  Vector<SavedOutcome> outcomes;
  Vector<BoundReceive> bound;      // sorted by number

  void encode(Encoder& out) const;
  // Fails, and says where, on data that do not decode to the last byte or contradict themselves.
  static Result decode(Decoder& in, Saved* saved);
};

}  // namespace elc::line

#endif
