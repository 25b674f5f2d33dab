// The event logs of section 1 as counts for each envelope class: (peer, communicator, tag).
#ifndef ELC_LINE_COUNTS_H
#define ELC_LINE_COUNTS_H

#include "base/compiler.h"
#include "base/hash_map.h"
#include "line/comms.h"
#include "line/types.h"

namespace elc::line {

struct ClassCount {
  uint64_t sent = 0;      // to the peer, in the current interval
  uint64_t received = 0;  // from the peer, in the current interval
  bool synchronous = false;  // of those sent some were so, in a way that the program learns when they are received
  int64_t residue = 0;    // of the last committed line: > 0 in transit from the peer, < 0 orphans
  uint64_t suppress = 0;  // sends to the peer that it has received already (recovery)
};

// A class with its counts, outside the table.
struct ClassEntry {
  Rank peer = 0;
  Comm comm = 0;
  Tag tag = 0;
  ClassCount count;
};

// One of the counts of a class, for who counts there again and again: Counts::count.
struct Counter {
  uint64_t key = 0;
  Rank peer = 0;
  bool received = false;    // else sent
  uint64_t tables = 0;      // of Counts, when `count` was found; 0: it was not
  uint64_t* count = nullptr;

  static Counter of_sent(Rank peer, Comm comm, Tag tag);
  static Counter of_received(Rank peer, Comm comm, Tag tag);
};

struct Residue {
  Rank peer = 0;
  Comm comm = 0;
  Tag tag = 0;
  int64_t value = 0;
  bool synchronous = false;  // of those sent in the interval some were so
};

// A count on the wire: communicators by their identity.
struct WireCount {
  Identity comm = 0;
  Tag tag = 0;
  uint64_t count = 0;
  bool synchronous = false;  // some of them; of those sent
};

// A table for each peer; the last entry is at hand, and those used before it nearly so: a message costs a comparison or
// two. Memory is O(classes used), not O(messages).
class Counts {
 public:
  ~Counts();

  // The entry of a class, made if need be. Valid until the next call of a non-const function.
  ClassCount& at(Rank peer, Comm comm, Tag tag) {
    const uint64_t k = key(comm, tag);
    if (peer != last_.peer || k != last_.key) [[unlikely]] find_last(peer, k);
    return *last_.count;
  }

  // Finds the count of a counter, which is of these counts alone; it may be counted there as long as it has been found.
  void find(Counter& counter);
  bool has_found(const Counter& counter) const { return counter.tables == tables_; }
  // Injective: a "perfect hash" of the class (section 1).
  static uint64_t key(Comm comm, Tag tag) { return static_cast<uint64_t>(comm) << 32 | static_cast<uint32_t>(tag); }

  // Moves the counts of the interval out (sorted by peer, communicator, tag) and starts it anew.
  // Residues and suppressions stay.
  void freeze(Vector<ClassEntry>* frozen);
  // Adds the counts of an interval back (an abandoned line).
  void thaw(const Vector<ClassEntry>& frozen);
  // Replaces all residues.
  void set_residues(const Vector<Residue>& residues);
  void residues(Vector<Residue>* out) const;
  // Coordinator::account of process `self`, without freed communicators.
  uint64_t account(Rank self, const Comms& comms) const;
  // Removes all classes of these communicators.
  void forget(const HashMap<bool>& comms);

 private:
  using Peer = HashMap<ClassCount>;  // by key
  struct Found {
    uint64_t key = 0;
    ClassCount* count = nullptr;
    Rank peer = -1;       // nobody
    uint64_t tables = 0;  // as they were: `tables_`
  };
  static constexpr size_t kRecent = 8;

  ELC_NOINLINE void find_last(Rank peer, uint64_t key);
  void moved();  // entries of tables were, or will be
  ClassCount* find_class(Rank peer, uint64_t key);
  template <class F>
  void each(F visit) const;
  void restart(const Vector<ClassEntry>& kept);

  HashMap<Peer*> peers_;
  uint64_t tables_ = 1;    // counts what moves entries of the tables
  Found last_;
  Found recent_[kRecent];  // each has one place
};

inline Counter Counter::of_sent(Rank peer, Comm comm, Tag tag) { return {Counts::key(comm, tag), peer}; }
inline Counter Counter::of_received(Rank peer, Comm comm, Tag tag) { return {Counts::key(comm, tag), peer, true}; }

// The order in which tables are merged.
inline bool before(Rank p1, Comm c1, Tag t1, Rank p2, Comm c2, Tag t2) {
  if (p1 != p2) return p1 < p2;
  return c1 != c2 ? c1 < c2 : t1 < t2;
}

}  // namespace elc::line

#endif
