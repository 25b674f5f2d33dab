// MPI standard, chapter 3.7: completion of requests. Which of several requests completes first is
// an outcome (PROTOCOL.md, section 3, W3).
#include "mpi/runtime/outcome.h"
#include "mpi/objects/requests.h"
#include "mpi/runtime/runtime.h"
#include "mpi/runtime/short_way.h"

namespace elc::mpi {
namespace {

// What the program gets of a request that stands for nothing.
void empty_status(MPI_Status* status) { set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, {}); }

// Whether a request that MPI does not have is complete.
bool ready(Request& r) {
  if (r.is_persistent_collective()) return collective_complete(r);
  if (r.kind != Request::Kind::kSend) return receive_complete(r.receive);
  return runtime.waits || is_received(r.copy);
}

// A call that waits. A synchronous send from a copy is complete for it: its receive may be held back until this process comes to what is
// behind the call (PROTOCOL.md, section 8).
class Waits {
 public:
  Waits() { runtime.waits = true; }
  ~Waits() { runtime.waits = false; }
  Waits(const Waits&) = delete;
  Waits& operator=(const Waits&) = delete;
};

// MPI_Cancel was called for a send that is over now.
void cancelled_send(const MPI_Status& status) {
  spoil_replay("MPI_Cancel was called for a send while messages crossed the line");
  if (is_cancelled(status)) cannot_checkpoint("MPI_Cancel has cancelled a send");
}

// MPI has completed this receive, and has made `after` of its handle.
void complete_receive(Receive& r, MPI_Request after, int code, const MPI_Status& status) {
  r.handle = after;
  r.code = code;
  r.status = status;
  r.done = true;
}

// The program observes the completion of *request; the result is its error code. `after`: where MPI has completed it,
// with `code` and `status`, what it has made of the handle; nullptr: MPI does not have it. `status` is set.
int observe(MPI_Request* request, const MPI_Request* after, int code, MPI_Status* status, Unheard* unheard) {
  const MPI_Request handle = *request;
  Request* record = runtime.requests->find(handle);
  if (record == nullptr) {
    *request = *after;
    if (*after == MPI_REQUEST_NULL) remove_obstacle(HandleKind::kRequest, handle_key(handle));
    else runtime.obstacles.set_idle(handle_key(handle), true);
    return code;
  }
  if (!record->active) return MPI_SUCCESS;
  if (record->synchronous && runtime.waits) runtime.coordinator->waited_synchronously();
  if (record->kind == Request::Kind::kReceive) {
    Receive& r = record->receive;
    if (after != nullptr) complete_receive(r, *after, code, *status);
    code = observe_receive(r, unheard);
    give_status(status, r.status);
  } else if (record->kind == Request::Kind::kCollective) {
    if (after == nullptr) {
      code = record->receive.code;
      set_status_of_send(status);
    }
    if (record->collective != nullptr) record->collective->end(code);
  } else if (after == nullptr) {
    set_status_of_send(status);
  } else if (record->receive.cancelled) {
    cancelled_send(*status);
  }
  if (record->persistent != nullptr) {
    runtime.requests->set_inactive(record, handle);
    return code;
  }
  runtime.requests->release(record, handle);
  *request = MPI_REQUEST_NULL;
  return code;
}

// Tests one request that is not null, and observes it if it is complete, perhaps with an error.
bool test_one(MPI_Request* request, MPI_Status* status, int* code, Unheard* unheard) {
  Request* record = runtime.requests->find(*request);
  MPI_Request handle = record == nullptr ? *request : record->in_mpi(*request);
  const bool with_mpi = handle != MPI_REQUEST_NULL;
  int flag = 0;
  *code = MPI_SUCCESS;
  if (record != nullptr && !record->active) {
    empty_status(status);
    return true;
  }
  if (with_mpi) *code = PMPI_Test(&handle, &flag, status);
  else flag = ready(*record) ? 1 : 0;
  if (flag == 0) return *code != MPI_SUCCESS;
  *code = observe(request, with_mpi ? &handle : nullptr, *code, status, unheard);
  return true;
}

// Whether MPI may have requests that MPI_Waitall completes and MPI_Testall does not: MPICH's (4.0) fails with partitioned
// ones, and those of a collective operation on a file wait for each other when it looks at several. As long as there are
// any, no line is taken, so a call that waits for one after the other need not be a site.
bool one_at_a_time() { return runtime.obstacles.any(HandleKind::kRequest) || runtime.obstacles.any(HandleKind::kFile); }

// The requests of one call, as MPI is to see them.
class Batch {
 public:
  Batch(int count, MPI_Request* array, MPI_Status* statuses)
      : count_(count), array_(array), arrays_(runtime.requests->borrow()), statuses_(statuses) {
    const size_t n = static_cast<size_t>(count);
    Vector<MPI_Request>& handles = arrays_->handles;
    handles.append(array, n);
    if (statuses == MPI_STATUSES_IGNORE) {
      if (arrays_->statuses.size() < n) arrays_->statuses.resize(n);
      statuses_ = arrays_->statuses.data();
    }
  }
  ~Batch() { runtime.requests->give_back(arrays_); }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Whether all requests are null or inactive.
  bool idle() const {
    for (int i = 0; i < count_; ++i) {
      if (array_[i] == MPI_REQUEST_NULL) continue;
      const Request* record = runtime.requests->find(array_[i]);
      if (record == nullptr || record->active) return false;
    }
    return true;
  }

  // Each of these looks once; true: the call is over, with code().
  bool all();                                // completes all requests together or none
  bool any(int* index, MPI_Status* status);  // completes one that is complete; MPI_UNDEFINED: none of them stands for anything
  bool some(int* completed, int* indices);   // completes all that are complete; the same
  // Completes this one if it is complete, as the next of those that `some` would.
  bool one(int place, int* completed, int* indices);

  // The result of the call. Of one that fails in several requests, each status has its error.
  int end();

  bool failed() const { return code_ != MPI_SUCCESS; }

 private:
  // Finds out what MPI has of each request now. Since the last look a line may have completed a receive in MPI, whose
  // handle would tell MPI nothing any more, or a receive that was held may have been posted.
  void sort_out();
  const MPI_Request& handle(int place) const { return arrays_->handles[static_cast<size_t>(place)]; }
  MPI_Request* handles() { return arrays_->handles.data(); }
  bool ready(int place) { return elc::mpi::ready(*runtime.requests->find(array_[place])); }
  // MPI has completed the request at `place`, if that is one of its; its status is the k-th. A receive's record has to have that
  // before any of the same call is observed: that one may follow a wildcard, and MPI cannot be asked any more what it has got.
  void complete(int place, int k, int code) {
    Request* record = runtime.requests->find(array_[place]);
    if (record == nullptr || !record->active || record->kind != Request::Kind::kReceive) return;
    if (record->in_mpi(array_[place]) != MPI_REQUEST_NULL)
      complete_receive(record->receive, handle(place), code_of(k, code), statuses_[k]);
  }
  // Observes the request at `place`, whose status is the k-th that the program is given.
  void observe_next(int place, int k, bool with_mpi, int code) {
    note(k, observe(&array_[place], with_mpi ? &handle(place) : nullptr, code, &statuses_[k], &unheard_));
  }
  void note(int k, int code);
  int code_of(int k, int call) const {
    return call == MPI_SUCCESS ? MPI_SUCCESS : in_status(call) ? statuses_[k].MPI_ERROR : call;
  }
  static bool in_status(int code) {
    int kind = code;
    PMPI_Error_class(code, &kind);
    return kind == MPI_ERR_IN_STATUS;
  }

  int count_;
  MPI_Request* array_;
  RequestArrays* arrays_;
  MPI_Status* statuses_;
  int code_ = MPI_SUCCESS;   // MPI's of a call that has failed as a whole, or MPI_ERR_IN_STATUS
  Unheard unheard_;
  bool heard_ = false;       // MPI has called the error handler
};

void Batch::sort_out() {
  if (runtime.requests->all_with_mpi()) return;
  arrays_->own.clear();
  for (int i = 0; i < count_; ++i) {
    const Request* record = runtime.requests->find(array_[i]);
    if (record == nullptr) continue;
    const MPI_Request in_mpi = record->in_mpi(array_[i]);
    arrays_->handles[static_cast<size_t>(i)] = in_mpi;
    if (record->active && in_mpi == MPI_REQUEST_NULL) arrays_->own.push_back(i);
  }
}

// Before the first error the statuses have no errors.
void Batch::note(int k, int code) {
  if (code != MPI_SUCCESS && code_ == MPI_SUCCESS) {
    code_ = MPI_ERR_IN_STATUS;
    for (int i = 0; i < k; ++i) statuses_[i].MPI_ERROR = MPI_SUCCESS;
  }
  if (code_ == MPI_ERR_IN_STATUS) statuses_[k].MPI_ERROR = code;
}

bool Batch::all() {
  sort_out();
  const Vector<int>& own = arrays_->own;
  for (const int place : own)
    if (!ready(place)) return false;
  int flag = 0;
  const bool alone = count_ == 1 && one_at_a_time();
  const int code = alone ? PMPI_Test(handles(), &flag, statuses_) : PMPI_Testall(count_, handles(), &flag, statuses_);
  if (alone && flag != 0) statuses_[0].MPI_ERROR = code;  // as a call for several gives it
  heard_ = heard_ || code != MPI_SUCCESS;
  if (flag == 0 && code == MPI_SUCCESS) return false;
  if (flag == 0 && !in_status(code)) {
    code_ = code;
    return true;
  }
  const auto pending = [&](int i) { return flag == 0 && statuses_[i].MPI_ERROR == MPI_ERR_PENDING; };
  for (int i = 0; i < count_; ++i)
    if (!pending(i)) complete(i, i, code);
  size_t next = 0;
  for (int i = 0; i < count_; ++i) {
    const bool mine = next < own.size() && own[next] == i;
    if (mine) ++next;
    if (array_[i] == MPI_REQUEST_NULL) {
      note(i, MPI_SUCCESS);
    } else if (!mine && pending(i)) {
      note(i, MPI_ERR_PENDING);
    } else {
      observe_next(i, i, !mine, mine ? MPI_SUCCESS : code_of(i, code));
    }
  }
  return true;
}

bool Batch::any(int* index, MPI_Status* status) {
  sort_out();
  const auto observe_this = [&](int place, bool with_mpi, int code) {
    *index = place;
    code_ = observe(&array_[place], with_mpi ? &handle(place) : nullptr, code, status, &unheard_);
    return true;
  };
  for (const int place : arrays_->own)
    if (ready(place)) return observe_this(place, false, MPI_SUCCESS);
  int flag = 0;
  const int code = PMPI_Testany(count_, handles(), index, &flag, status);
  if (flag == 0) {
    code_ = code;
    *index = MPI_UNDEFINED;
    return code != MPI_SUCCESS;
  }
  if (*index == MPI_UNDEFINED) return arrays_->own.empty();
  return observe_this(*index, true, code);
}

bool Batch::some(int* completed, int* indices) {
  sort_out();
  int n = 0;
  for (const int place : arrays_->own) {
    if (!ready(place)) continue;
    indices[n] = place;
    observe_next(place, n, false, MPI_SUCCESS);
    ++n;
  }
  int more = 0;
  // LAM writes to all of the arrays that it is given, which end too early behind what is there already.
  Vector<MPI_Status> rest;
  Vector<int> places;
  if (n > 0) {
    rest.resize(static_cast<size_t>(count_));
    places.resize(static_cast<size_t>(count_));
  }
  const int code = PMPI_Testsome(count_, handles(), &more, n > 0 ? places.data() : indices, n > 0 ? rest.data() : statuses_);
  for (int k = 0; n > 0 && k < more; ++k) {
    indices[n + k] = places[static_cast<size_t>(k)];
    statuses_[n + k] = rest[static_cast<size_t>(k)];
  }
  heard_ = heard_ || code != MPI_SUCCESS;
  if (more == MPI_UNDEFINED) {
    *completed = n > 0 || !arrays_->own.empty() ? n : MPI_UNDEFINED;
    return n > 0 || arrays_->own.empty();
  }
  if (code != MPI_SUCCESS && !in_status(code)) {
    if (code_ == MPI_SUCCESS) code_ = code;
    more = 0;
  }
  for (int k = n; k < n + more; ++k) complete(indices[k], k, code);
  for (int k = n; k < n + more; ++k) observe_next(indices[k], k, true, code_of(k, code));
  *completed = n + more;
  return *completed > 0 || failed();
}

bool Batch::one(int place, int* completed, int* indices) {
  int code = MPI_SUCCESS;
  Unheard unheard;
  if (array_[place] == MPI_REQUEST_NULL || !test_one(&array_[place], &statuses_[*completed], &code, &unheard)) return false;
  heard_ = heard_ || (code != MPI_SUCCESS && unheard.comm == nullptr);
  if (unheard.comm != nullptr) unheard_ = unheard;
  indices[*completed] = place;
  note((*completed)++, code);
  return true;
}

int Batch::end() {
  if (!heard_ && unheard_.comm != nullptr) {
    unheard_.code = code_;
    unheard_.tell();
  }
  return code_;
}

// So many requests are waited for at a time: a look at those that are not complete yet takes as long as there are many.
constexpr int kTogether = 256;

int wait_all(int count, MPI_Request* array, MPI_Status* statuses, bool site) {
  const bool alone = one_at_a_time();
  if (alone) site = false;
  // A site in the middle must find all of them as they were.
  const int step = alone ? 1 : site ? count : kTogether;
  int code = MPI_SUCCESS;
  for (int begin = 0; begin < count; begin += step) {
    const int n = count - begin < step ? count - begin : step;
    MPI_Status* here = statuses == MPI_STATUSES_IGNORE ? MPI_STATUSES_IGNORE : statuses + begin;
    Batch batch(n, array + begin, here);
    wait_until([&] {
      if (batch.all()) return true;
      if (site) site_while_waiting(nullptr);
      return false;
    });
    const int failed = batch.end();
    if (statuses != MPI_STATUSES_IGNORE && (failed == MPI_SUCCESS) != (code == MPI_SUCCESS)) {
      // With an error anywhere, all of them say how they have ended.
      for (int i = failed == MPI_SUCCESS ? begin : 0; i < (failed == MPI_SUCCESS ? begin + n : begin); ++i)
        statuses[i].MPI_ERROR = MPI_SUCCESS;
    }
    if (code == MPI_SUCCESS) code = failed;
  }
  return code;
}

// Waitany and Testany: one of the requests that are there, or none. true: a request was completed, or none stands for anything.
bool any(line::NdKind kind, int count, MPI_Request* array, int* index, MPI_Status* status, bool wait, bool site, int* code) {
  MPI_Status ignored;
  if (status == MPI_STATUS_IGNORE) status = &ignored;
  Batch batch(count, array, status);
  *index = MPI_UNDEFINED;
  bool over = false;
  if (batch.idle()) {
    over = batch.any(index, status);
  } else {
    Outcome outcome(kind);
    if (outcome.replayed()) {
      const int logged = outcome.at(0);
      Unheard unheard;
      const auto again = [&] { return test_one(&array[logged], status, code, &unheard); };
      if (logged >= 0 && logged < count && array[logged] != MPI_REQUEST_NULL && outcome.repeat(again)) {
        *index = logged;
        outcome.record();
        unheard.tell();
        return true;
      }
    }
    if (!outcome.replayed()) {
      wait_until([&] {
        over = batch.any(index, status);
        if (!over && wait && site) site_while_waiting(nullptr);
        return over || !wait;
      });
      outcome.add(*index == MPI_UNDEFINED ? -1 : *index);
    }
    outcome.record();
  }
  *code = batch.end();
  return over;
}

// Waitsome and Testsome: all that are complete, at least one if `wait`.
int some(line::NdKind kind, int count, MPI_Request* array, int* completed, int* indices, MPI_Status* statuses,
         bool wait, bool site) {
  Batch batch(count, array, statuses);
  *completed = 0;
  if (batch.idle()) {
    batch.some(completed, indices);
    return batch.end();
  }
  Outcome outcome(kind);
  for (size_t k = 0; k < outcome.size(); ++k) {
    const int logged = outcome.at(k);
    if (logged >= 0 && logged < count) outcome.repeat([&] { return batch.one(logged, completed, indices); });
  }
  if (!outcome.replayed()) {
    wait_until([&] {
      const bool over = *completed > 0 || batch.some(completed, indices);
      if (!over && wait && site) site_while_waiting(nullptr);
      return over || !wait;
    });
    for (int k = 0; k < *completed; ++k) outcome.add(indices[k]);
  }
  outcome.record();
  return batch.end();
}

// Nothing to wait for, or arguments that MPI refuses.
bool for_mpi(int count, const MPI_Request* array) { return count <= 0 || array == nullptr; }

// ---- The short way (mpi/runtime/short_way.h) ----

using Place = Requests::Place;

// So many requests at most are completed at once in this way.
constexpr int kFew = 16;

// Whether MPI has completed this request, as far as it knows without a look around.
[[maybe_unused]] inline bool is_complete(MPI_Request request) {
  if (request == MPI_REQUEST_NULL || runtime.requests.untold().is_complete_handle(request)) return true;
  int flag = 0;
#if ELC_HAVE_REQUEST_GET_STATUS
  PMPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
#endif
  return flag != 0;
}

// Completes all of these in MPI if they are complete; else nothing has happened.
inline bool complete_in_mpi(int count, MPI_Request* array, MPI_Status* statuses) {
  int flag = 1;
  if constexpr (kTestLooksAround) {
    for (int i = 0; i < count; ++i)
      if (!is_complete(array[i])) return false;
    PMPI_Waitall(count, array, statuses);
  } else {
    PMPI_Testall(count, array, &flag, statuses);
  }
  return flag != 0;
}
inline bool complete_in_mpi(MPI_Request* request, MPI_Status* status) {
  int flag = 1;
  if constexpr (kTestLooksAround) {
    if (!is_complete(*request)) return false;
    PMPI_Wait(request, status);
  } else {
    PMPI_Test(request, &flag, status);
  }
  return flag != 0;
}

// Whether these are the oldest messages begun, up to `end`, and to observe one is to count it, because no receive was posted
// earlier.
inline bool are_begun(int count, const MPI_Request* array, Begun** end) {
  Begun* b = begun.first();
  for (int i = 0; i < count; ++i) {
    if (b != begun.place() && b->handle == array[i]) [[likely]] ++b;
    else if (array[i] != MPI_REQUEST_NULL) return false;
  }
  *end = b;
  return begun.none_receives() || runtime.coordinator.untold().none_posted();
}

// The same for some of them, in any order: a bit for each, from the oldest on; 0: they are others, or a receive that was posted
// earlier is not among them.
uint64_t which_are_begun(int count, const MPI_Request* array) {
  const size_t all = static_cast<size_t>(begun.place() - begun.first());
  uint64_t which = 0;
  size_t next = 0;
  for (int i = 0; i < count; ++i) {
    if (array[i] == MPI_REQUEST_NULL) continue;
    size_t steps = 0;
    while (begun.first()[next].handle != array[i] || (which >> next & 1) != 0) {
      next = next + 1 < all ? next + 1 : 0;
      if (++steps == all) return 0;
    }
    which |= uint64_t{1} << next;
  }
  bool another = !runtime.coordinator.untold().none_posted();
  for (size_t i = 0; i < all; ++i) {
    const Begun& b = begun.first()[i];
    if (!b.receives || b.handle == over()) continue;
    const bool is = (which >> i & 1) != 0;
    if (is && another) return 0;
    another = another || !is;
  }
  return which;
}

// MPI has completed these.
void count_these(uint64_t which) {
  line::EventLogging& process = runtime.coordinator.untold();
  Begun* b = begun.first();
  for (uint64_t rest = which; rest != 0; rest >>= 1, ++b) {
    if ((rest & 1) == 0) continue;
    if (!process.has_found(b->counter)) process.find(b->counter);
    ++*b->counter.count;
  }
  begun.end_these(which);
}

// MPI has completed the messages before `end`. `find`: it may be that counters have to be found.
int count_begun(Begun* begin, Begun* end, bool find);
ELC_NOINLINE int find_and_count_begun(Begun* begin, Begun* end) { return count_begun(begin, end, true); }
inline int count_begun(Begun* begin, Begun* end, bool find) {
  line::EventLogging& process = runtime.coordinator.untold();
  for (Begun* b = begin; b != end; ++b) {
    if (!process.has_found(b->counter)) [[unlikely]] {
      if (!find) return find_and_count_begun(b, end);
      process.find(b->counter);
    }
    ++*b->counter.count;
  }
  begun.end(end);
  return MPI_SUCCESS;
}

// A receive that MPI has completed is observed: one that is not the first, or a wildcard, which has what its status says.
ELC_NOINLINE void observe_other(Request* record, const MPI_Status* status) {
  Receive& r = record->receive;
  const MPI_Request handle = r.handle;
  const line::Pattern& p = r.posting.pattern;
  if (p.wildcard()) runtime.coordinator->observe(r.posting, r.comm->world(status->MPI_SOURCE), status->MPI_TAG);
  else runtime.coordinator->observe(r.posting, p.source, p.tag);
  runtime.requests->release(record, handle);
}

inline void observe_usual(Place& place, const MPI_Status* status) {
  Request* const record = place.record;
  if (record == nullptr) return Requests::end_send(place);
  line::Posting& posting = record->receive.posting;
  if (posting.pattern.wildcard() || !record->usual || !runtime.coordinator->is_usual(posting)) [[unlikely]]
    return observe_other(record, status);
  runtime.coordinator->observe_usual(posting, posting.pattern.source, posting.pattern.tag);
  runtime.requests->end_usual(place);
}

// Completes these requests if they are usual and complete, all of them; else nothing has happened.
inline bool complete_few(int count, MPI_Request* array, MPI_Status* statuses) {
  if (count > kFew) return false;
  Requests& requests = *runtime.requests;
  Place* places[kFew];
  MPI_Status own[kFew];
  bool wildcard = false;
  for (int i = 0; i < count; ++i) {
    const uint64_t key = handle_key(array[i]);
    Place& p = requests.place(key);
    places[i] = &p;
    if (p.key != key) [[unlikely]] {
      if (array[i] != MPI_REQUEST_NULL) return false;
      places[i] = nullptr;
    } else if (p.record != nullptr) {
      if (!p.record->usual) return false;
      wildcard |= p.record->receive.posting.pattern.wildcard();
    }
  }
  if (wildcard && statuses == MPI_STATUSES_IGNORE) statuses = own;
  if (!complete_in_mpi(count, array, statuses)) return false;
  // MPI does not have them any more: what wildcards have got is told to who observes one that was posted later.
  for (int i = 0; wildcard && i < count; ++i) {
    if (places[i] == nullptr || places[i]->record == nullptr) continue;
    places[i]->record->receive.status = statuses[i];
    places[i]->record->receive.done = true;
    places[i]->record->usual = false;  // its record is not like a new one any more
  }
  for (int i = 0; i < count; ++i)
    if (places[i] != nullptr) observe_usual(*places[i], statuses == MPI_STATUSES_IGNORE ? nullptr : &statuses[i]);
  return true;
}

// The same of one request, which a status is wanted of.
inline bool complete_one(MPI_Request* request, MPI_Status* status) {
  const uint64_t key = handle_key(*request);
  Place& place = runtime.requests->place(key);
  if (place.key != key || (place.record != nullptr && !place.record->usual)) return false;
  MPI_Status own;
  if (status == MPI_STATUS_IGNORE && place.record != nullptr && place.record->receive.posting.pattern.wildcard()) status = &own;
  if (!complete_in_mpi(request, status)) return false;
  observe_usual(place, status);
  return true;
}

ELC_NOINLINE int wait_long(MPI_Request* request, MPI_Status* status) {
  if (!following()) return PMPI_Wait(request, status);
  const Entered entered("MPI_Wait");
  const Waits waits;
  const bool site = labelled_call();
  tick();
  if (*request == MPI_REQUEST_NULL) return PMPI_Wait(request, status);
  int code = MPI_SUCCESS;
  Unheard unheard;
  MPI_Status ignored;
  if (status == MPI_STATUS_IGNORE) status = &ignored;
  wait_until([&] {
    if (test_one(request, status, &code, &unheard)) return true;
    if (site) site_while_waiting(nullptr);
    return false;
  });
  unheard.tell();
  return code;
}

ELC_NOINLINE int wait_all_long(int count, MPI_Request* array, MPI_Status* statuses) {
  if (!following()) return PMPI_Waitall(count, array, statuses);
  const Entered entered("MPI_Waitall");
  const Waits waits;
  const bool site = labelled_call();
  tick();
  if (for_mpi(count, array)) return PMPI_Waitall(count, array, statuses);
  return wait_all(count, array, statuses, site);
}

// Where they are not the oldest of those begun, in that order.
ELC_NOINLINE int wait_otherwise(MPI_Request* request, MPI_Status* status) {
  if (open_short_way("MPI_Wait")) return MPI_Wait(request, status);
  if (const uint64_t which = short_way_is_open() && !begun.none() ? which_are_begun(1, request) : 0) {
    if (!complete_in_mpi(request, status)) return wait_long(request, status);
    count_these(which);
    return MPI_SUCCESS;
  }
  if (short_way_is_open() && complete_one(request, status)) return MPI_SUCCESS;
  return wait_long(request, status);
}

ELC_NOINLINE int wait_all_otherwise(int count, MPI_Request* array, MPI_Status* statuses) {
  if (open_short_way("MPI_Waitall")) return MPI_Waitall(count, array, statuses);
  if (!short_way_is_open() || for_mpi(count, array)) return wait_all_long(count, array, statuses);
  if (const uint64_t which = begun.none() ? 0 : which_are_begun(count, array)) {
    if (!complete_in_mpi(count, array, statuses)) return wait_all_long(count, array, statuses);
    count_these(which);
    return MPI_SUCCESS;
  }
  if (complete_few(count, array, statuses)) return MPI_SUCCESS;
  return wait_all_long(count, array, statuses);
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;
using elc::line::NdKind;

ELC_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  Begun* end;
  if (!short_way() || begun.none() || !are_begun(1, request, &end)) return wait_otherwise(request, status);
  if (!complete_in_mpi(request, status)) [[unlikely]] return wait_long(request, status);
  return count_begun(begun.first(), end, false);
}

ELC_EXPORT int MPI_Waitall(int count, MPI_Request* array, MPI_Status* statuses) {
  Begun* end;
  if (!short_way() || begun.none() || for_mpi(count, array) || !are_begun(count, array, &end))
    return wait_all_otherwise(count, array, statuses);
  if (!complete_in_mpi(count, array, statuses)) [[unlikely]] return wait_all_long(count, array, statuses);
  return count_begun(begun.first(), end, false);
}

ELC_EXPORT int MPI_Waitany(int count, MPI_Request* array, int* index, MPI_Status* status) {
  if (!following()) return PMPI_Waitany(count, array, index, status);
  const Entered entered("MPI_Waitany");
  runtime.probes = true;
  const Waits waits;
  const bool site = labelled_call();
  tick();
  if (for_mpi(count, array)) return PMPI_Waitany(count, array, index, status);
  int code = MPI_SUCCESS;
  any(NdKind::kWaitany, count, array, index, status, true, site, &code);
  return code;
}

ELC_EXPORT int MPI_Waitsome(int count, MPI_Request* array, int* completed, int* indices, MPI_Status* statuses) {
  if (!following()) return PMPI_Waitsome(count, array, completed, indices, statuses);
  const Entered entered("MPI_Waitsome");
  runtime.probes = true;
  const Waits waits;
  const bool site = labelled_call();
  tick();
  if (for_mpi(count, array)) return PMPI_Waitsome(count, array, completed, indices, statuses);
  return some(NdKind::kWaitsome, count, array, completed, indices, statuses, true, site);
}

ELC_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!following()) return PMPI_Test(request, flag, status);
  const Entered entered("MPI_Test");
  runtime.probes = true;
  labelled_call();
  tick();
  if (*request == MPI_REQUEST_NULL) return PMPI_Test(request, flag, status);
  int code = MPI_SUCCESS;
  Unheard unheard;
  MPI_Status ignored;
  if (status == MPI_STATUS_IGNORE) status = &ignored;
  Outcome outcome(NdKind::kTest);
  const auto test = [&] { return test_one(request, status, &code, &unheard); };
  if (outcome.replayed()) *flag = outcome.at(0) != 0 && outcome.repeat(test) ? 1 : 0;
  if (!outcome.replayed()) {
    *flag = test() ? 1 : 0;
    outcome.add(*flag);
  }
  outcome.record();
  unheard.tell();
  return code;
}

ELC_EXPORT int MPI_Testall(int count, MPI_Request* array, int* flag, MPI_Status* statuses) {
  if (!following()) return PMPI_Testall(count, array, flag, statuses);
  const Entered entered("MPI_Testall");
  runtime.probes = true;
  labelled_call();
  tick();
  if (for_mpi(count, array)) return PMPI_Testall(count, array, flag, statuses);
  Batch batch(count, array, statuses);
  Outcome outcome(NdKind::kTestall);
  const auto test = [&] { return batch.all(); };
  if (outcome.replayed()) *flag = outcome.at(0) != 0 && outcome.repeat(test) ? 1 : 0;
  if (!outcome.replayed()) {
    *flag = test() ? 1 : 0;
    outcome.add(*flag);
  }
  outcome.record();
  return batch.end();
}

ELC_EXPORT int MPI_Testany(int count, MPI_Request* array, int* index, int* flag, MPI_Status* status) {
  if (!following()) return PMPI_Testany(count, array, index, flag, status);
  const Entered entered("MPI_Testany");
  runtime.probes = true;
  labelled_call();
  tick();
  if (for_mpi(count, array)) return PMPI_Testany(count, array, index, flag, status);
  int code = MPI_SUCCESS;
  *flag = any(NdKind::kTestany, count, array, index, status, false, false, &code) ? 1 : 0;
  return code;
}

ELC_EXPORT int MPI_Testsome(int count, MPI_Request* array, int* completed, int* indices, MPI_Status* statuses) {
  if (!following()) return PMPI_Testsome(count, array, completed, indices, statuses);
  const Entered entered("MPI_Testsome");
  runtime.probes = true;
  labelled_call();
  tick();
  if (for_mpi(count, array)) return PMPI_Testsome(count, array, completed, indices, statuses);
  return some(NdKind::kTestsome, count, array, completed, indices, statuses, false, false);
}
