#include "mpi/objects/obstacles.h"

#include <stdio.h>

#include "mpi/runtime/runtime.h"
#include "state/state.h"

namespace elc::mpi {
namespace {

const char* const kNames[] = {"a communicator", "a window", "a file", "a request", "a message", "a session", "a group",
                              "an operation", "an error handler", "an info object", "an attribute key", "an attribute",
                              "a buffer",
                              "an object"};
static_assert(sizeof kNames / sizeof kNames[0] == static_cast<size_t>(HandleKind::kKinds));

}  // namespace

void Obstacles::add(HandleKind kind, uint64_t key, const char* call, const void* place, bool waits) {
  Obstacle& o = of(kind).at(key);
  ++o.uses;
  if (waits && !o.waits) ++waiting_;
  o.waits = o.waits || waits;
  if (o.call == nullptr) o.becomes(call, place, ++made_);
}

void Obstacles::add_of_set_up(HandleKind kind, uint64_t key, const void* variable) {
  Obstacle& o = of(kind).at(key);
  ++o.uses_of_set_up;
  o.variable = variable;
}

void Obstacles::change(HandleKind kind, uint64_t key, const char* call, const void* place) {
  Obstacle* o = of(kind).find(key);
  if (o == nullptr || o->uses_of_set_up == 0) return;
  o->changed = true;
  if (o->call == nullptr) o->becomes(call, place, ++made_);
}

void Obstacles::remove(HandleKind kind, uint64_t key, const void* variable) {
  Obstacle* o = of(kind).find(key);
  if (o == nullptr) return;
  const bool of_set_up = o->uses == 0 || (o->uses_of_set_up > 0 && variable == o->variable);
  --(of_set_up ? o->uses_of_set_up : o->uses);
  if (o->uses + o->uses_of_set_up == 0) {
    waiting_ -= o->waits ? 1 : 0;
    of(kind).remove(key);
  } else if (o->uses == 0 && !o->changed) o->becomes(nullptr, nullptr, 0);
}

void Obstacles::set(HandleKind kind, uint64_t key, uint64_t owner, uint64_t value, const char* call, const void* place) {
  Obstacle& o = owned(kind, key, owner);
  if (value != o.set_up) o.becomes(call, place, ++made_);
  else if (value == 0) disown(kind, key, owner);
  else o.becomes(nullptr, nullptr, 0);
}

void Obstacles::set_of_set_up(HandleKind kind, uint64_t key, uint64_t owner, uint64_t value) {
  owned(kind, key, owner).set_up = value;
  if (value == 0) disown(kind, key, owner);
}

Obstacles::Obstacle& Obstacles::owned(HandleKind kind, uint64_t key, uint64_t owner) {
  Obstacle& o = of(kind).at(key);
  if (o.uses == 0) owned_.at(owner).push_back(key);
  o.uses = 1;
  return o;
}

void Obstacles::disown(HandleKind kind, uint64_t key, uint64_t owner) {
  of(kind).remove(key);
  Vector<uint64_t>& keys = owned_.at(owner);
  for (size_t i = keys.size(); i-- > 0;)
    if (keys[i] == key) keys.erase(i);
  if (keys.empty()) owned_.remove(owner);
}

void Obstacles::remove_owned(HandleKind kind, uint64_t owner) {
  const Vector<uint64_t>* keys = owned_.find(owner);
  if (keys == nullptr) return;
  for (const uint64_t key : *keys) of(kind).remove(key);
  owned_.remove(owner);
}

void Obstacles::set_idle(uint64_t request, bool idle) {
  Obstacle* o = kinds_[static_cast<size_t>(HandleKind::kRequest)].find(request);
  if (o != nullptr) o->idle = idle;
}

bool Obstacles::idle(uint64_t request) const {
  const Obstacle* o = kinds_[static_cast<size_t>(HandleKind::kRequest)].find(request);
  return o != nullptr && o->idle;
}

const char* Obstacles::call_of(HandleKind kind, uint64_t key) const {
  const Obstacle* o = kinds_[static_cast<size_t>(kind)].find(key);
  return o == nullptr ? nullptr : o->call;
}

Result Obstacles::check() const {
  size_t count = 0, kind_of_first = 0;
  const Obstacle* first = nullptr;
  for (size_t kind = 0; kind < static_cast<size_t>(HandleKind::kKinds); ++kind) {
    kinds_[kind].each([&](uint64_t, const Obstacle& o) {
      if (o.call == nullptr) return;
      ++count;
      if (first != nullptr && first->number < o.number) return;
      first = &o;
      kind_of_first = kind;
    });
  }
  if (first == nullptr) return Result();
  char others[48] = "";
  if (count > 1) snprintf(others, sizeof others, ", and %zu more", count - 1);
  if (first->set_up != 0)
    return Result::error("%s of the program's set-up was changed by %s%s%s; lines are taken again when it is as it was "
                         "(man elc-mpi)", kNames[kind_of_first], first->call, caller_text(first->place).c_str(), others);
  return Result::error("there is %s made by %s%s%s, which no line can have; lines are taken again when it is gone "
                       "(man elc-mpi)", kNames[kind_of_first], first->call, caller_text(first->place).c_str(), others);
}

namespace {

// Whether what happens depends on chance by things of this kind: who is first, what another process has put where. Of
// requests and messages that refuse lines because no restart could make them again, what was drawn is logged.
bool tells(HandleKind kind) {
  return kind == HandleKind::kComm || kind == HandleKind::kWin || kind == HandleKind::kFile ||
         kind == HandleKind::kSession || kind == HandleKind::kOther;
}

}  // namespace

void add_obstacle(HandleKind kind, uint64_t key, const char* call, const void* place) {
  runtime.obstacles.add(kind, key, call, place);
  // What was there at the checkpoint has refused the line.
  if (tells(kind)) spoil_replay(call, kCalledUnfollowed);
}

void remove_obstacle(HandleKind kind, uint64_t key, const void* variable) {
  runtime.obstacles.remove(kind, key, variable);
}

void remove_owned(HandleKind kind, uint64_t owner) { runtime.obstacles.remove_owned(kind, owner); }

bool is_obstacle(HandleKind kind, uint64_t key) { return runtime.obstacles.call_of(kind, key) != nullptr; }

void add_local_obstacle(HandleKind kind, uint64_t key, const void* variable, const char* call, const void* place) {
  Functions* functions = runtime.locals.functions_of(kind);
  // One more that MPI hands out of what is there.
  const bool known = functions != nullptr && runtime.locals.lives(kind, key);
  if (functions != nullptr && !known) in_setup() ? runtime.locals.made(kind, key) : functions->forget(key);
  if (in_setup() || known) runtime.obstacles.add_of_set_up(kind, key, variable);
  else if (kind == HandleKind::kGroup || kind == HandleKind::kInfo) runtime.obstacles.add_value(kind, key);
  else add_obstacle(kind, key, call, place);
}

void change_local_obstacle(HandleKind kind, uint64_t key, const char* call, const void* place) {
  if (!in_setup()) runtime.obstacles.change(kind, key, call, place);
}

void set_local_obstacle(HandleKind kind, uint64_t key, uint64_t owner, uint64_t value, const char* call, const void* place) {
  if (in_setup()) runtime.obstacles.set_of_set_up(kind, key, owner, value);
  else runtime.obstacles.set(kind, key, owner, value, call, place);
}

bool in_setup() { return !runtime.restore_returned && state::outside_frames(); }

}  // namespace elc::mpi
