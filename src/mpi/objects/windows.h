// Windows that fences synchronise (PROTOCOL.md, section 6): those that the program's set-up makes, and those that it makes
// later over memory of its own. All others, and those that are used otherwise, are obstacles.
#ifndef ELC_MPI_OBJECTS_WINDOWS_H
#define ELC_MPI_OBJECTS_WINDOWS_H

#include <mpi.h>

#include "base/hash_map.h"
#include "base/result.h"
#include "base/text.h"
#include "line/epochs.h"
#include "mpi/objects/handle_key.h"
#include "mpi/serial/section.h"

namespace elc::mpi {

// A call of MPI that reads or writes memory of another process. What it does not have is 0.
struct OneSided {
  enum class Call : uint8_t { kPut, kGet, kAccumulate, kGetAccumulate, kFetchAndOp, kCompareAndSwap } call;
  const void* origin = nullptr;  // for Get it is written
  int origin_count = 0;
  MPI_Datatype origin_type = MPI_DATATYPE_NULL;
  void* result = nullptr;
  int result_count = 0;
  MPI_Datatype result_type = MPI_DATATYPE_NULL;
  const void* compare = nullptr;
  int target = 0;
  MPI_Aint offset = 0;
  int target_count = 0;
  MPI_Datatype target_type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
};

// One that waits for the next fence. Its datatypes are retained; 0: it has none.
struct PutOff {
  OneSided operation;
  uint64_t types[3];
};

struct FollowedWindow {
  MPI_Win handle = MPI_WIN_NULL;
  MPI_Comm comm = MPI_COMM_NULL;  // the library's own, with its members
  line::Identity identity = 0;
  Origin origin;
  line::Comm slot = 0;  // in line::Coordinator: its fences and its end are operations
  Vector<line::Rank> members;
  int rank = 0;
  void* memory = nullptr;
  MPI_Aint size = 0;  // bytes
  int unit = 1;
  Epoch epoch = Epoch::kNone;
  line::Epochs epochs;
  bool of_set_up = false;
  bool plain = false;        // no member follows it any more
  const char* made_by = "";  // MPI_Win_create
  Text used;                 // not empty: an obstacle, because of this
  Vector<PutOff> put_off;    // until all have taken that line

  // In a restart: in the epoch in which it was. Collective over its members.
  void begin_again(Epoch then);
  void set(const char* call, void* begin, MPI_Aint bytes, int displacement_unit, bool by_set_up) {
    made_by = call, memory = begin, size = bytes, unit = displacement_unit, of_set_up = by_set_up;
  }
};

class Windows {
 public:
  FollowedWindow* find(MPI_Win handle) const {
    if (all_.empty()) return nullptr;
    FollowedWindow* const* found = by_handle_.find(handle_key(handle));
    return found == nullptr ? nullptr : *found;
  }
  // `comm`: its members, for the library alone.
  FollowedWindow* add(MPI_Win handle, MPI_Comm comm, const Origin& origin);
  void remove(FollowedWindow* window);

  // Whether a checkpoint may be taken for the line that is due: no operation can be on both sides of it.
  bool settled() const;
  // The same at a site. After many that were not, true: save() refuses the line, so that the others need not
  // wait for ever.
  bool settled_here();
  bool empty() const { return all_.empty(); }
  void fenced() { unsettled_sites_ = 0; }
  // Of the set-up, as Coordinator::account: members are at the same fence, and no operation waits for one.
  uint64_t account() const;

  Result save(Vector<SavedWindow>* saved) const;

  FollowedWindow* find_identity(line::Identity identity) const;

  // ---- Restart ----
  // Whether the set-up has made the windows of the line that it made then, and the others can be made again.
  Result fit(const Vector<SavedWindow>& saved) const;
  // Behind state::make_places: whether those others' memory is there.
  Result have_memory(const Vector<SavedWindow>& saved) const;
  // Makes those others, before state::fill, which wants to know their handles. Collective over the world.
  Result make_again(const Vector<SavedWindow>& saved);
  // After state::fill: whether their memory is that of the line.
  Result find_memory(const Vector<SavedWindow>& saved) const;
  // They are as they were, and what else the set-up has made is freed. Collective over the members of each.
  void restore(const Vector<SavedWindow>& saved);
  // All of them, by all processes, before they end together.
  void free_all();
  // In a new coordinator.
  void add_slots();

 private:
  bool ready_for(line::LineNumber line) const;
  void free(FollowedWindow* window);

  unsigned unsettled_sites_ = 0;  // since a line was due, or the last fence
  HashMap<FollowedWindow*> by_handle_;
  Vector<FollowedWindow*> all_;
};

// From now on the window is an obstacle: "used by MPI_Win_lock".
void use_otherwise(FollowedWindow* window, const char* how, const void* place = nullptr);

}  // namespace elc::mpi

#endif
