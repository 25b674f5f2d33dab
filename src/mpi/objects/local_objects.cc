#include "mpi/objects/local_objects.h"

#include <string.h>

#include "mpi/runtime/error_handlers.h"
#include "mpi/runtime/runtime.h"

namespace elc::mpi {
namespace {

// By number, from 1. The numbers are part of the file format; those of functions of the set-up come behind.
const MPI_Op kOperations[] = {MPI_MAX,  MPI_MIN, MPI_SUM,  MPI_PROD,   MPI_LAND,   MPI_BAND,    MPI_LOR,
                              MPI_BOR, MPI_LXOR, MPI_BXOR, MPI_MAXLOC, MPI_MINLOC, MPI_REPLACE,
#if MPI_VERSION >= 3
                              MPI_NO_OP
#endif
};
const MPI_Errhandler kErrorHandlers[] = {  // the first: kErrorsAreFatal
                                         MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN,
#if MPI_VERSION >= 4
                                         MPI_ERRORS_ABORT
#endif
};

template <class Handle, size_t n>
uint64_t number_in(const Handle (&predefined)[n], const Functions& functions, Handle handle) {
  for (size_t i = 0; i < n; ++i)
    if (predefined[i] == handle) return i + 1;
  const uint64_t number = functions.number_of(handle_key(handle));
  return number == 0 ? 0 : kFirstOfSetUp + number - 1;
}

template <class Handle, size_t n>
Result find_in(const Handle (&predefined)[n], const Functions& functions, uint64_t number, uint64_t then, const char* what,
               const char* call, Handle* handle) {
  if (number < kFirstOfSetUp) {
    if (number > n) return Result::error("a variable holds a predefined %s that this MPI does not have", what);
    *handle = predefined[number - 1];
    return {};
  }
  const uint64_t key = functions.key_of(number - kFirstOfSetUp + 1);
  if (functions.count() != then || key == 0)
    return Result::error("a variable holds an %s of the set-up, which calls %s %llu times, and did so %llu times in the run of the "
                         "line: see that it makes the same ones in the same order", what, call,
                         static_cast<unsigned long long>(functions.count()), static_cast<unsigned long long>(then));
  *handle = from_key<Handle>(key);
  return {};
}

// Its number in this line, counted from 0; `*is_new`: it had none.
uint64_t number_among(Vector<uint64_t>* keys, uint64_t key, bool* is_new) {
  for (size_t i = 0; i < keys->size(); ++i)
    if ((*keys)[i] == key) return i;
  *is_new = true;
  keys->push_back(key);
  return keys->size() - 1;
}

bool is_empty(MPI_Group group) { return group == MPI_GROUP_EMPTY; }

bool is_environment([[maybe_unused]] MPI_Info info) {
#if MPI_VERSION >= 3
  return info == MPI_INFO_ENV;
#else
  return false;
#endif
}

// The group of MPI_COMM_WORLD, as long as it lives.
class GroupOfWorld {
 public:
  GroupOfWorld() { PMPI_Comm_group(MPI_COMM_WORLD, &group_); }
  ~GroupOfWorld() { PMPI_Group_free(&group_); }
  GroupOfWorld(const GroupOfWorld&) = delete;
  GroupOfWorld& operator=(const GroupOfWorld&) = delete;
  operator MPI_Group() const { return group_; }

 private:
  MPI_Group group_;
};

}  // namespace

// ---- Functions ----

void Functions::made(uint64_t key) {
  forget(key);
  keys_.push_back(key);
  numbers_.at(key) = keys_.size();
}

void Functions::forget(uint64_t key) {
  const size_t number = number_of(key);
  if (number == 0) return;
  keys_[number - 1] = 0;
  numbers_.remove(key);
}

size_t Functions::number_of(uint64_t key) const {
  const size_t* found = numbers_.find(key);
  return found == nullptr ? 0 : *found;
}

uint64_t Functions::key_of(uint64_t number) const { return number - 1 < keys_.size() ? keys_[static_cast<size_t>(number - 1)] : 0; }

Functions* LocalObjects::functions_of(HandleKind kind) {
  return kind == HandleKind::kOp           ? &operations
         : kind == HandleKind::kErrhandler ? &error_handlers
         : kind == HandleKind::kKeyval     ? &keyvals
                                           : nullptr;
}

bool LocalObjects::lives(HandleKind kind, uint64_t key) {
  return functions_of(kind)->number_of(key) != 0 && (kind == HandleKind::kErrhandler || runtime.obstacles.knows(kind, key));
}

void LocalObjects::made(HandleKind kind, uint64_t key) {
  functions_of(kind)->made(key);
  if (kind == HandleKind::kErrhandler) keep(from_key<MPI_Errhandler>(key), runtime.self);
}

// ---- Info objects ----

// What another MPI has taken may be too long for this one, which may write it where there is no room.
static bool fits(const Hint& hint) {
  return hint.key.view().size() < MPI_MAX_INFO_KEY && hint.value.view().size() < MPI_MAX_INFO_VAL;
}

Vector<Hint> hints_of(MPI_Info info) {
  Vector<Hint> hints;
  int count = 0;
  PMPI_Info_get_nkeys(info, &count);
  for (int i = 0; i < count; ++i) {
    char key[MPI_MAX_INFO_KEY + 1] = "", value[MPI_MAX_INFO_VAL + 1] = "";
    int there = 0;
    PMPI_Info_get_nthkey(info, i, key);
    PMPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &there);
    if (there == 0) continue;
    Hint& hint = hints.push_back({});
    hint.key = Text::copy(key);
    hint.value = Text::copy(value);
  }
  return hints;
}

MPI_Info info_of(const Vector<Hint>& hints, bool* complete) {
  MPI_Info info = MPI_INFO_NULL;
  const ErrorsReturned returned(MPI_COMM_WORLD);
  *complete = PMPI_Info_create(&info) == MPI_SUCCESS;
  for (size_t i = 0; i < hints.size() && info != MPI_INFO_NULL; ++i) {
    const Hint& hint = hints[i];
    if (!fits(hint) || PMPI_Info_set(info, const_cast<char*>(hint.key.c_str()), const_cast<char*>(hint.value.c_str())) != MPI_SUCCESS)
      *complete = false;
  }
  return info;
}

// ---- In a line ----

void LocalObjects::begin_line() {
  now_ = SavedLocal();
  groups_.clear();
  infos_.clear();
}

Result LocalObjects::number_of_group(MPI_Group group, uint64_t* number) {
  *number = is_empty(group) ? kOnlyOne : 0;
  // Of a variable that is not set, or whose group is gone, MPI could say nothing.
  if (is_empty(group) || !runtime.obstacles.knows(HandleKind::kGroup, handle_key(group))) return {};
  bool is_new = false;
  *number = kFirstValue + number_among(&groups_, handle_key(group), &is_new);
  if (!is_new) return {};
  for (const line::Rank member : now_.groups.push_back(world_ranks(group)))
    if (member == MPI_UNDEFINED) return Result::error("a variable holds a group of processes that are not in MPI_COMM_WORLD; free it");
  return {};
}

uint64_t LocalObjects::number_of_info(MPI_Info info) {
  if (is_environment(info)) return kOnlyOne;
  if (!runtime.obstacles.knows(HandleKind::kInfo, handle_key(info))) return 0;
  bool is_new = false;
  const uint64_t number = kFirstValue + number_among(&infos_, handle_key(info), &is_new);
  if (is_new) now_.infos.push_back(hints_of(info));
  return number;
}

uint64_t LocalObjects::number_of_operation(MPI_Op op) const { return op == MPI_OP_NULL ? 0 : number_in(kOperations, operations, op); }

uint64_t LocalObjects::number_of_error_handler(MPI_Errhandler handler) const {
  return handler == MPI_ERRHANDLER_NULL ? 0 : number_in(kErrorHandlers, error_handlers, handler);
}

void LocalObjects::end_line(SavedLocal* saved) {
  now_.operations = operations.count();
  now_.error_handlers = error_handlers.count();
  now_.keyvals = keyvals.count();
  *saved = std::move(now_);
  begin_line();
}

// ---- Restart ----

Result LocalObjects::find_group(uint64_t number, MPI_Group* group) const {
  *group = number == kOnlyOne ? MPI_GROUP_EMPTY : MPI_GROUP_NULL;
  if (number < kFirstValue) return {};
  if (number - kFirstValue >= then_->groups.size()) return Result::error("a variable holds a group that the line does not have");
  const Vector<line::Rank>& members = then_->groups[static_cast<size_t>(number - kFirstValue)];
  PMPI_Group_incl(GroupOfWorld(), static_cast<int>(members.size()), const_cast<line::Rank*>(members.data()), group);
  if (!is_empty(*group)) runtime.obstacles.add_value(HandleKind::kGroup, handle_key(*group));
  return {};
}

Result LocalObjects::find_info(uint64_t number, MPI_Info* info) {
  *info = MPI_INFO_NULL;
#if MPI_VERSION >= 3
  if (number == kOnlyOne) *info = MPI_INFO_ENV;
#endif
  if (number < kFirstValue) return {};
  if (number - kFirstValue >= then_->infos.size()) return Result::error("a variable holds an info object that the line does not have");
  const auto place = static_cast<size_t>(number - kFirstValue);
  while (made_.size() <= place) made_.push_back(MPI_INFO_NULL);
  if (made_[place] == MPI_INFO_NULL) {
    bool complete;
    made_[place] = info_of(then_->infos[place], &complete);
    if (!complete)
      return Result::error("a variable holds an info object with a key or value that this MPI does not take (too long, or empty; it "
                           "takes less than %d and %d bytes): restart under one like that of the line", MPI_MAX_INFO_KEY,
                           MPI_MAX_INFO_VAL);
    runtime.obstacles.add_value(HandleKind::kInfo, handle_key(made_[place]));
  }
  *info = made_[place];
  return {};
}

Result LocalObjects::find_operation(uint64_t number, MPI_Op* op) const {
  *op = MPI_OP_NULL;
  if (number == 0) return {};
  return find_in(kOperations, operations, number, then_->operations, "operation", "MPI_Op_create", op);
}

Result LocalObjects::find_error_handler(uint64_t number, MPI_Errhandler* handler) const {
  *handler = MPI_ERRHANDLER_NULL;
  if (number == 0) return {};
  ELC_TRY(find_in(kErrorHandlers, error_handlers, number, then_->error_handlers, "error handler", "MPI_Comm_create_errhandler", handler));
  if (number >= kFirstOfSetUp) *handler = one_more(*handler, runtime.self);
  return {};
}

Result LocalObjects::find_keyval(uint64_t number, int* keyval) const {
  const uint64_t key = keyvals.key_of(number);
  if (keyvals.count() != then_->keyvals || key == 0)
    return Result::error("a communicator has an attribute of a key of the set-up, which makes %llu keys, and made %llu in the run of "
                         "the line: see that it makes the same ones in the same order",
                         static_cast<unsigned long long>(keyvals.count()), static_cast<unsigned long long>(then_->keyvals));
  *keyval = from_key<int>(key);
  return {};
}

void LocalObjects::end_restart() {
  then_ = nullptr;
  made_.clear();
}

}  // namespace elc::mpi
