#include "mpi/objects/windows.h"

#include <string.h>

#include "base/sort.h"
#include "mpi/objects/communicators.h"
#include "mpi/objects/gather.h"
#include "mpi/runtime/runtime.h"
#include "mpi/serial/representation_code.h"
#include "state/state.h"

namespace elc::mpi {

constexpr unsigned kMostUnsettledSites = 1000;

FollowedWindow* Windows::add(MPI_Win handle, MPI_Comm comm, const Origin& origin) {
  FollowedWindow* w = make<FollowedWindow>();
  w->handle = handle;
  w->comm = comm;
  w->origin = origin;
  w->identity = origin.identity();
  PMPI_Comm_rank(comm, &w->rank);
  w->members = members_in_world(comm);
  w->slot = runtime.coordinator->add_comm(w->identity, static_cast<uint32_t>(w->members.size()));
  all_.push_back(w);
  by_handle_.at(handle_key(handle)) = w;
  return w;
}

void Windows::remove(FollowedWindow* window) {
  by_handle_.remove(handle_key(window->handle));
  for (size_t i = all_.size(); i-- > 0;)
    if (all_[i] == window) all_.erase(i);
  destroy(window);
}

FollowedWindow* Windows::find_identity(line::Identity identity) const {
  for (FollowedWindow* w : all_)
    if (w->identity == identity) return w;
  return nullptr;
}

bool Windows::ready_for(line::LineNumber line) const {
  for (const FollowedWindow* w : all_)
    if (!w->plain && !w->epochs.ready_for(line)) return false;
  return true;
}

// With an obstacle the line is refused at once.
bool Windows::settled() const {
  return all_.empty() || ready_for(runtime.coordinator->last_line() + 1) || !runtime.obstacles.check().ok();
}

bool Windows::settled_here() {
  if (!settled() && ++unsettled_sites_ < kMostUnsettledSites) return false;
  unsettled_sites_ = 0;
  return true;
}

uint64_t Windows::account() const {
  uint64_t account = 0;
  for (const FollowedWindow* w : all_) {
    account ^= account_of(w->identity, w->slot, w->rank, w->members.size());
    if (w->epochs.touched() && w->used.empty()) account ^= mix64(w->identity + static_cast<uint64_t>(w->rank));
  }
  return account;
}

Result Windows::save(Vector<SavedWindow>* saved) const {
  if (!ready_for(runtime.coordinator->last_line()))
    return Result::error(
        "there is a window that has been between two fences at %u sites; with one, a line is taken at the first site "
        "behind an MPI_Win_fence, before the first operation",
        kMostUnsettledSites);
  for (const FollowedWindow* w : all_) {
    if (w->plain) continue;
    SavedWindow s;
    s.identity = w->identity;
    s.origin = w->origin;
    s.members.append(w->members.data(), w->members.size());
    s.size = static_cast<uint64_t>(w->size);
    s.unit = w->unit;
    s.epoch = w->epoch;
    s.of_set_up = w->of_set_up;
    s.representation_code = native_representation_code();
    if (s.size > 0) s.memory = state::locate(w->memory);
    const auto begin = reinterpret_cast<uintptr_t>(w->memory);
    if (s.size > 0 && !(s.of_set_up ? state::is_variable(begin, s.size) : state::is_registered(begin, s.size)))
      return Result::error("there is a window whose memory is not registered as one variable%s (%p, %llu bytes): register it by ELC_ARRAY%s",
                           s.of_set_up ? "" : " or block", w->memory, static_cast<unsigned long long>(s.size),
                           s.of_set_up ? ", and not from ELC_malloc or as data that change their size, which a restart has elsewhere" : "");
    saved->push_back(std::move(s));
  }
  sort(*saved, [](const SavedWindow& a, const SavedWindow& b) { return a.identity < b.identity; });
  return {};
}

// ---- Restart ----

namespace {

unsigned long long operation_of(const SavedWindow& window) { return window.origin.number; }

// A window of the set-up, and what it was in the run of the line.
Result fits(const FollowedWindow& now, const SavedWindow& then) {
  const size_t members = now.members.size();
  if (members != then.members.size() ||
      memcmp(now.members.data(), then.members.data(), members * sizeof(line::Rank)) != 0)
    return Result::error(
        "the set-up makes a window of other processes than in the run of the line, as operation %llu on a "
        "communicator", operation_of(then));
  const auto size = static_cast<uint64_t>(now.size);
  const bool same = size == then.size && now.unit == then.unit;
  const uint64_t units = static_cast<uint64_t>(then.unit), units_now = static_cast<uint64_t>(now.unit);
  if (same || (size / units_now == then.size / units && size % units_now == then.size % units && units != 1 && units_now != 1))
    return {};
  return Result::error(
      "the set-up makes a window of %llu bytes with displacements in units of %d, as operation %llu on a "
      "communicator; in the run of the line it had %llu and %d. For a restart on a machine with other "
      "sizes displacements have to be in units of the elements",
      static_cast<unsigned long long>(size), now.unit, operation_of(then), static_cast<unsigned long long>(then.size), then.unit);
}

// One that was made later.
Result can_be_made(const SavedWindow& then) {
  if (!same_lengths(native_representation_code(), then.representation_code))
    return Result::error("the window of operation %llu on a communicator was made behind the program's set-up, on a machine with "
                         "other sizes: restart on one like that, or let the set-up make it", operation_of(then));
  return {};
}

}  // namespace

Result Windows::fit(const Vector<SavedWindow>& saved) const {
  for (const SavedWindow& then : saved) {
    const FollowedWindow* now = find_identity(then.identity);
    if ((now != nullptr) != then.of_set_up)
      return Result::error(now == nullptr ? "the set-up does not make the window that it made in the run of the line, as operation "
                                            "%llu on a communicator; see that it calls the same collective operations"
                                          : "the set-up makes a window, as operation %llu on a communicator, that was made behind it "
                                            "in the run of the line", operation_of(then));
    ELC_TRY(now != nullptr ? fits(*now, then) : can_be_made(then));
  }
  return {};
}

Result Windows::have_memory(const Vector<SavedWindow>& saved) const {
  for (const SavedWindow& then : saved)
    if (!then.of_set_up && then.size > 0 && state::address_of(then.memory) == nullptr)
      return Result::error("the memory of the window of operation %llu on a communicator is not part of the saved state", operation_of(then));
  return {};
}

Result Windows::make_again(const Vector<SavedWindow>& saved) {
  const InsideMpi inside;
  Result status;
  line::Identity previous = kNullIdentity;
  for (const SavedWindow& any : gather_wanted(saved, [](const SavedWindow& window) { return !window.of_set_up; })) {
    if (any.identity == previous) continue;
    previous = any.identity;
    const SavedWindow* mine = nullptr;
    for (const SavedWindow& window : saved)
      if (window.identity == any.identity) mine = &window;
    MPI_Comm members = MPI_COMM_NULL;
    PMPI_Comm_split(runtime.control, mine == nullptr ? MPI_UNDEFINED : 0, mine == nullptr ? 0 : rank_in(any.members), &members);
    if (mine == nullptr) continue;
    void* const memory = mine->size == 0 ? nullptr : state::address_of(mine->memory);
    const auto size = static_cast<MPI_Aint>(mine->size);
    MPI_Win made;
    if (PMPI_Win_create(memory, size, mine->unit, MPI_INFO_NULL, members, &made) == MPI_SUCCESS)
      add(made, members, mine->origin)->set("MPI_Win_create", memory, size, mine->unit, false);
    else if (status.ok())
      status = Result::error("the window of operation %llu on a communicator cannot be made again", operation_of(*mine));
  }
  return status;
}

Result Windows::find_memory(const Vector<SavedWindow>& saved) const {
  for (const SavedWindow& then : saved)
    if (then.of_set_up && then.size > 0 && state::address_of(then.memory) != find_identity(then.identity)->memory)
      return Result::error(
          "the set-up makes the window of operation %llu on a communicator over other memory than in the run of "
          "the line", operation_of(then));
  return {};
}

void Windows::restore(const Vector<SavedWindow>& saved) {
  const InsideMpi inside;
  sort(all_, [](const FollowedWindow* a, const FollowedWindow* b) { return a->identity < b->identity; });
  size_t there = 0;  // both are in the order of identities
  Vector<FollowedWindow*> gone;
  for (FollowedWindow* w : all_) {
    while (there < saved.size() && saved[there].identity < w->identity) ++there;
    if (there == saved.size() || saved[there].identity != w->identity) gone.push_back(w);
    else w->begin_again(saved[there].epoch);
  }
  for (FollowedWindow* w : gone) free(w);
}

void FollowedWindow::begin_again(Epoch then) {
  epoch = then;
  epochs.reset(then != Epoch::kNone);
  if (then != Epoch::kNone) PMPI_Win_fence(then == Epoch::kClosed ? MPI_MODE_NOSUCCEED : 0, handle);
}

void Windows::free(FollowedWindow* w) {
  remove_obstacle(HandleKind::kWin, handle_key(w->handle));
  MPI_Win handle = w->handle;
  PMPI_Comm_free(&w->comm);
  remove(w);
  PMPI_Win_free(&handle);
}

void Windows::free_all() {
  const InsideMpi inside;
  sort(all_, [](const FollowedWindow* a, const FollowedWindow* b) { return a->identity < b->identity; });
  while (!all_.empty()) free(all_[0]);
}

void Windows::add_slots() {
  for (FollowedWindow* w : all_)
    w->slot = runtime.coordinator->add_comm(w->identity, static_cast<uint32_t>(w->members.size()));
}

// ---- Otherwise ----

void use_otherwise(FollowedWindow* w, const char* how, const void* place) {
  if (!w->used.empty()) return;
  w->used = Text::format("%s and %s", w->made_by, how);
  runtime.obstacles.add(HandleKind::kWin, handle_key(w->handle), w->used.c_str(), place);
  // What another process has at its checkpoint, and what this one puts there, need not fit.
  runtime.coordinator->refuse_line(Text::format("there is a window made by %s", w->used.c_str()).c_str());
}

}  // namespace elc::mpi
