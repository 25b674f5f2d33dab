// MPI standard, chapter 3.7: completion of requests. Which of several requests completes first is
// an outcome (protocol section 3, W3).
#include "mpi/outcome.h"
#include "mpi/requests.h"
#include "mpi/runtime.h"

namespace elc::mpi {
namespace {

// The program has observed the completion of `request`, whose record (nullptr: not ours) was found
// before MPI saw the handle. `status` is what MPI gave for one that it completed.
int observe(MPI_Request* request, Request* record, MPI_Request handle, MPI_Status* status) {
  if (record == nullptr) return MPI_SUCCESS;
  int code = MPI_SUCCESS;
  if (record->kind == Request::Kind::kReceive) {
    if (record->with_mpi()) {
      record->receive.status = *status;
      record->receive.done = true;
    }
    code = observe_receive(record->receive, status);
  } else if (record->placeholder) {
    set_status(status, MPI_ANY_SOURCE, MPI_ANY_TAG, {});
  }
  requests.release(record, handle);
  *request = MPI_REQUEST_NULL;
  return code;
}

// Tests one active request, and observes it if it is complete.
bool test_one(MPI_Request* request, MPI_Status* status, int* code) {
  Request* record = requests.find(*request);
  const MPI_Request handle = *request;
  int flag = 0;
  *code = MPI_SUCCESS;
  if (record == nullptr || record->with_mpi()) *code = PMPI_Test(request, &flag, status);
  else flag = record->kind == Request::Kind::kSend || receive_complete(record->receive) ? 1 : 0;
  if (flag == 0) return *code != MPI_SUCCESS;
  const int observed = observe(request, record, handle, status);
  if (*code == MPI_SUCCESS) *code = observed;
  return true;
}

// Arrays that calls with many requests need, kept from call to call.
struct Scratch {
  Vector<Request*> records;
  Vector<MPI_Request> handles;  // those that MPI has
  Vector<size_t> places;        // where each of them is in the program's array
  Vector<MPI_Status> statuses;
};
Scratch scratch;

// Completes all requests together or none.
bool test_all(int count, MPI_Request* array, MPI_Status* statuses, int* code) {
  Scratch& s = scratch;
  const size_t n = static_cast<size_t>(count);
  s.records.clear();
  s.handles.clear();
  s.places.clear();
  s.statuses.resize(n);
  for (size_t i = 0; i < n; ++i) {
    Request* record = requests.find(array[i]);
    s.records.push_back(record);
    if (record == nullptr || record->with_mpi()) {
      s.handles.push_back(array[i]);
      s.places.push_back(i);
    } else if (record->kind == Request::Kind::kReceive && !receive_complete(record->receive)) {
      return false;
    }
  }
  int flag = 1;
  *code = PMPI_Testall(static_cast<int>(s.handles.size()), s.handles.data(), &flag, s.statuses.data());
  if (flag == 0 && *code == MPI_SUCCESS) return false;
  // From the back, so that MPI's statuses move to their places.
  for (size_t k = s.handles.size(); k-- > 0;) s.statuses[s.places[k]] = s.statuses[k];
  for (size_t i = 0; i < n; ++i) {
    const int observed = observe(&array[i], s.records[i], array[i], &s.statuses[i]);
    if (*code == MPI_SUCCESS) *code = observed;
  }
  for (size_t k = 0; k < s.places.size(); ++k)
    if (s.records[s.places[k]] == nullptr) array[s.places[k]] = s.handles[k];
  if (statuses != MPI_STATUSES_IGNORE)
    for (size_t i = 0; i < n; ++i) statuses[i] = s.statuses[i];
  return true;
}

bool any_active(int count, const MPI_Request* array) {
  for (int i = 0; i < count; ++i)
    if (array[i] != MPI_REQUEST_NULL) return true;
  return false;
}

// The first complete request from `begin` on, observed; MPI_UNDEFINED if there is none.
int test_from(int begin, int count, MPI_Request* array, MPI_Status* status, int* code) {
  for (int i = begin; i < count; ++i)
    if (array[i] != MPI_REQUEST_NULL && test_one(&array[i], status, code)) return i;
  return MPI_UNDEFINED;
}

void give(MPI_Status* to, const MPI_Status& status) {
  if (to != MPI_STATUS_IGNORE) *to = status;
}

// Waitany and Testany: one of the requests that are there, or none.
int any(line::NdKind kind, int count, MPI_Request* array, int* index, MPI_Status* status, bool wait, bool site) {
  int code = MPI_SUCCESS;
  MPI_Status result = {};
  *index = MPI_UNDEFINED;
  set_status(&result, MPI_ANY_SOURCE, MPI_ANY_TAG, {});
  if (any_active(count, array)) {
    Outcome outcome(kind);
    if (outcome.replayed()) {
      const int logged = outcome.at(0);
      if (logged >= 0 && logged < count && outcome.repeat([&] { return test_one(&array[logged], &result, &code); }))
        *index = logged;
    }
    if (!outcome.replayed()) {
      wait_until([&] {
        *index = test_from(0, count, array, &result, &code);
        if (*index == MPI_UNDEFINED && wait && site) site_while_waiting(nullptr);
        return *index != MPI_UNDEFINED || !wait;
      });
      outcome.add(*index == MPI_UNDEFINED ? -1 : *index);
    }
    outcome.record();
  }
  give(status, result);
  return code;
}

// Waitsome and Testsome: all that are complete, at least one if `wait`.
int some(line::NdKind kind, int count, MPI_Request* array, int* completed, int* indices, MPI_Status* statuses,
         bool wait, bool site) {
  if (!any_active(count, array)) {
    *completed = MPI_UNDEFINED;
    return MPI_SUCCESS;
  }
  int code = MPI_SUCCESS, worst = MPI_SUCCESS;
  MPI_Status result = {};
  *completed = 0;
  const auto found = [&](int i) {
    indices[*completed] = i;
    if (statuses != MPI_STATUSES_IGNORE) statuses[*completed] = result;
    ++*completed;
    if (code != MPI_SUCCESS) worst = code;
  };
  Outcome outcome(kind);
  for (size_t k = 0; k < outcome.size(); ++k) {
    const int logged = outcome.at(k);
    if (logged < 0 || logged >= count) continue;
    if (outcome.repeat([&] { return test_one(&array[logged], &result, &code); })) found(logged);
  }
  if (!outcome.replayed()) {
    wait_until([&] {
      for (int i = test_from(0, count, array, &result, &code); i != MPI_UNDEFINED;
           i = test_from(i + 1, count, array, &result, &code))
        found(i);
      if (*completed == 0 && wait && site) site_while_waiting(nullptr);
      return *completed > 0 || !wait;
    });
    for (int k = 0; k < *completed; ++k) outcome.add(indices[k]);
  }
  outcome.record();
  return worst;
}

}  // namespace
}  // namespace elc::mpi

using namespace elc::mpi;
using elc::line::NdKind;

ELC_EXPORT int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!following()) return PMPI_Wait(request, status);
  const bool site = labelled_call();
  tick();
  if (*request == MPI_REQUEST_NULL) return PMPI_Wait(request, status);
  int code = MPI_SUCCESS;
  MPI_Status result = {};
  wait_until([&] {
    if (test_one(request, &result, &code)) return true;
    if (site) site_while_waiting(nullptr);
    return false;
  });
  give(status, result);
  return code;
}

ELC_EXPORT int MPI_Waitall(int count, MPI_Request* array, MPI_Status* statuses) {
  if (!following()) return PMPI_Waitall(count, array, statuses);
  const bool site = labelled_call();
  tick();
  int code = MPI_SUCCESS;
  wait_until([&] {
    if (test_all(count, array, statuses, &code)) return true;
    if (site) site_while_waiting(nullptr);
    return false;
  });
  return code;
}

ELC_EXPORT int MPI_Waitany(int count, MPI_Request* array, int* index, MPI_Status* status) {
  if (!following()) return PMPI_Waitany(count, array, index, status);
  const bool site = labelled_call();
  tick();
  return any(NdKind::kWaitany, count, array, index, status, true, site);
}

ELC_EXPORT int MPI_Waitsome(int count, MPI_Request* array, int* completed, int* indices, MPI_Status* statuses) {
  if (!following()) return PMPI_Waitsome(count, array, completed, indices, statuses);
  const bool site = labelled_call();
  tick();
  return some(NdKind::kWaitsome, count, array, completed, indices, statuses, true, site);
}

ELC_EXPORT int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!following()) return PMPI_Test(request, flag, status);
  labelled_call();
  tick();
  if (*request == MPI_REQUEST_NULL) return PMPI_Test(request, flag, status);
  int code = MPI_SUCCESS;
  MPI_Status result = {};
  Outcome outcome(NdKind::kTest);
  const auto again = [&] { return test_one(request, &result, &code); };
  if (outcome.replayed()) *flag = outcome.at(0) != 0 && outcome.repeat(again) ? 1 : 0;
  if (!outcome.replayed()) {
    *flag = test_one(request, &result, &code) ? 1 : 0;
    outcome.add(*flag);
  }
  outcome.record();
  if (*flag != 0) give(status, result);
  return code;
}

ELC_EXPORT int MPI_Testall(int count, MPI_Request* array, int* flag, MPI_Status* statuses) {
  if (!following()) return PMPI_Testall(count, array, flag, statuses);
  labelled_call();
  tick();
  int code = MPI_SUCCESS;
  Outcome outcome(NdKind::kTestall);
  const auto again = [&] { return test_all(count, array, statuses, &code); };
  if (outcome.replayed()) *flag = outcome.at(0) != 0 && outcome.repeat(again) ? 1 : 0;
  if (!outcome.replayed()) {
    *flag = test_all(count, array, statuses, &code) ? 1 : 0;
    outcome.add(*flag);
  }
  outcome.record();
  return code;
}

ELC_EXPORT int MPI_Testany(int count, MPI_Request* array, int* index, int* flag, MPI_Status* status) {
  if (!following()) return PMPI_Testany(count, array, index, flag, status);
  labelled_call();
  tick();
  const bool active = any_active(count, array);
  const int code = any(NdKind::kTestany, count, array, index, status, false, false);
  *flag = !active || *index != MPI_UNDEFINED ? 1 : 0;
  return code;
}

ELC_EXPORT int MPI_Testsome(int count, MPI_Request* array, int* completed, int* indices, MPI_Status* statuses) {
  if (!following()) return PMPI_Testsome(count, array, completed, indices, statuses);
  labelled_call();
  tick();
  return some(NdKind::kTestsome, count, array, completed, indices, statuses, false, false);
}

// The operation goes on without the program's handle. Of a receive nobody could say when it was observed.
ELC_EXPORT int MPI_Request_free(MPI_Request* request) {
  if (!following()) return PMPI_Request_free(request);
  Request* record = requests.find(*request);
  if (record == nullptr) return PMPI_Request_free(request);
  if (record->kind == Request::Kind::kReceive) {
    cannot_checkpoint("MPI_Request_free was called for a receive");
    return PMPI_Request_free(request);
  }
  const bool placeholder = record->placeholder;
  requests.release(record, *request);
  if (!placeholder) return PMPI_Request_free(request);
  *request = MPI_REQUEST_NULL;
  return MPI_SUCCESS;
}

ELC_EXPORT int MPI_Cancel(MPI_Request* request) {
  if (!following()) return PMPI_Cancel(request);
  Request* record = requests.find(*request);
  if (record == nullptr) return PMPI_Cancel(request);
  if (record->kind == Request::Kind::kSend) {  // whether it was received or not, nobody here can count it
    cannot_checkpoint("MPI_Cancel was called for a send");
    return record->placeholder ? MPI_SUCCESS : PMPI_Cancel(request);
  }
  record->receive.cancelled = true;
  return record->with_mpi() ? PMPI_Cancel(request) : MPI_SUCCESS;  // else it completes as usual
}
