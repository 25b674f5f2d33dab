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
#include "mpi/objects/handle_key.h"

namespace elc::mpi {

enum class HandleKind : uint8_t {
  kComm, kWin, kFile, kRequest, kMessage, kSession, kGroup, kOp, kErrhandler, kInfo, kKeyval, kAttribute, kBuffer, kOther, kKinds
};

class Obstacles {
 public:
  // What has this handle exists from now on; `call`: "MPI_Win_create", a literal; `place`: where the program called it
  // (ELC_CALLER), or nullptr. Handles that MPI gives several times (a small send's request) count as often.
  void add(HandleKind kind, uint64_t key, const char* call, const void* place);
  // It is gone. Nothing happens for one that is no obstacle.
  void remove(HandleKind kind, uint64_t key);
  // Of a persistent request: no operation is under way. Not all MPIs tell that of one that was never started.
  void set_idle(uint64_t request, bool idle);
  bool idle(uint64_t request) const;
  // Whether there is one of this kind.
  bool any(HandleKind kind) const { return kinds_[static_cast<size_t>(kind)].size() > 0; }
  // Its call; nullptr: it is no obstacle.
  const char* call_of(HandleKind kind, uint64_t key) const;
  // Whether a line may be taken; the failure names what was made first, and its call.
  Result check() const;

 private:
  struct Obstacle {
    const char* call = nullptr;
    const void* place = nullptr;
    uint64_t number = 0;  // in the order of making
    uint32_t uses = 0;
    bool idle = false;
  };
  HashMap<Obstacle> kinds_[static_cast<size_t>(HandleKind::kKinds)];
  uint64_t made_ = 0;
};

// The same for the process's own.
void add_obstacle(HandleKind kind, uint64_t key, const char* call, const void* place = nullptr);
void remove_obstacle(HandleKind kind, uint64_t key);
bool is_obstacle(HandleKind kind, uint64_t key);

// For what belongs to this process alone (operations, groups, infos, ...): a restart runs the program's set-up again,
// which makes it again. Made later, it is an obstacle.
void add_local_obstacle(HandleKind kind, uint64_t key, const char* call, const void* place = nullptr);
// Whether what the program does now, a restart does again: before ELC_Restore has returned, and outside of all frames.
bool in_setup();

}  // namespace elc::mpi

#endif
