// Obstacles: things that exist now and that a restart could not bring back. While there is one, lines are refused, and
// the refusal names the call that made it; when it is gone, lines are taken again.
//
// What makes an obstacle is said by the table of MPI's functions (calls/table.txt): mostly wrappers that the build
// generates add them, for whatever a call that is not followed hands out, and remove them where it is freed. So a
// communicator, request, window, file or message is either one that the library follows, or an obstacle.
#ifndef ELC_MPI_OBJECTS_OBSTACLES_H
#define ELC_MPI_OBJECTS_OBSTACLES_H

#include "base/hash_map.h"
#include "base/result.h"
#include "base/vector.h"
#include "mpi/objects/handle_key.h"

namespace elc::mpi {

enum class HandleKind : uint8_t {
  kComm, kWin, kFile, kRequest, kMessage, kSession, kGroup, kOp, kErrhandler, kInfo, kKeyval, kAttribute, kBuffer, kOther, kKinds
};

class Obstacles {
 public:
  // What has this handle exists from now on; `call`: "MPI_Win_create", a literal; `place`: where the program called it
  // (ELC_CALLER), or nullptr. Handles that MPI gives several times (a small send's request) count as often.
  // `waits`: no site is one before it is gone.
  void add(HandleKind kind, uint64_t key, const char* call, const void* place, bool waits = false);
  // The program's set-up has made this, which a restart makes again by running it: no obstacle. `variable` has got the
  // handle, of which there may come more that are the same.
  void add_of_set_up(HandleKind kind, uint64_t key, const void* variable);
  // What has this handle exists, and a line can have it: no obstacle.
  void add_value(HandleKind kind, uint64_t key) { ++of(kind).at(key).uses; }
  // It is no more what the set-up has made of it: an obstacle, if the set-up has made it.
  void change(HandleKind kind, uint64_t key, const char* call, const void* place);
  // It is gone. Nothing happens for one that is not known. Of several equal handles the set-up's goes if that is in
  // `variable`, else one that came later.
  void remove(HandleKind kind, uint64_t key, const void* variable);
  // What has one value at a time (an attribute of an object, the buffer for sends) has this one now; 0: none. Another one
  // than the set-up has given it is an obstacle. It goes with its owner.
  void set(HandleKind kind, uint64_t key, uint64_t owner, uint64_t value, const char* call, const void* place);
  void set_of_set_up(HandleKind kind, uint64_t key, uint64_t owner, uint64_t value);
  // This object is gone, and what it had.
  void remove_owned(HandleKind kind, uint64_t owner);
  // Of a persistent request: no operation is under way. Not all MPIs tell that of one that was never started.
  void set_idle(uint64_t request, bool idle);
  bool idle(uint64_t request) const;
  // Whether there is one of this kind, which the set-up's are, too.
  bool any(HandleKind kind) const { return kinds_[static_cast<size_t>(kind)].size() > 0; }
  // Whether there is this, obstacle or not.
  bool knows(HandleKind kind, uint64_t key) const { return kinds_[static_cast<size_t>(kind)].find(key) != nullptr; }
  // Whether sites have to wait for one.
  bool waits() const { return waiting_ != 0; }
  // Its call; nullptr: it is no obstacle.
  const char* call_of(HandleKind kind, uint64_t key) const;
  // Whether a line may be taken; the failure names what was made first, and its call.
  Result check() const;

 private:
  struct Obstacle {
    const char* call = nullptr;  // nullptr: as the set-up has made it, and no obstacle
    const void* place = nullptr;
    uint64_t number = 0;  // in the order of making
    uint64_t set_up = 0;  // of what has a value: the one that the set-up has given
    uint32_t uses = 0, uses_of_set_up = 0;
    const void* variable = nullptr;  // of the set-up, with the handle
    bool changed = false;
    bool idle = false;
    bool waits = false;

    void becomes(const char* by, const void* at, uint64_t counted) { call = by, place = at, number = counted; }
  };
  HashMap<Obstacle>& of(HandleKind kind) { return kinds_[static_cast<size_t>(kind)]; }
  // The entry of what has a value, new or not; and without it.
  Obstacle& owned(HandleKind kind, uint64_t key, uint64_t owner);
  void disown(HandleKind kind, uint64_t key, uint64_t owner);

  HashMap<Obstacle> kinds_[static_cast<size_t>(HandleKind::kKinds)];
  HashMap<Vector<uint64_t>> owned_;  // keys by their owner
  uint64_t made_ = 0;
  size_t waiting_ = 0;
};

// The same for the process's own.
void add_obstacle(HandleKind kind, uint64_t key, const char* call, const void* place = nullptr);
void remove_obstacle(HandleKind kind, uint64_t key, const void* variable = nullptr);
bool is_obstacle(HandleKind kind, uint64_t key);
void remove_owned(HandleKind kind, uint64_t owner);

// For what belongs to this process alone (operations, groups, infos, ...): a restart runs the program's set-up again,
// which makes it again. Made later, changed later, or set to something else later, it is an obstacle.
void add_local_obstacle(HandleKind kind, uint64_t key, const void* variable, const char* call, const void* place);
void set_local_obstacle(HandleKind kind, uint64_t key, uint64_t owner, uint64_t value, const char* call, const void* place);
void change_local_obstacle(HandleKind kind, uint64_t key, const char* call, const void* place);
// Whether what the program does now, a restart does again: before ELC_Restore has returned, and outside of all frames.
bool in_setup();

}  // namespace elc::mpi

#endif
