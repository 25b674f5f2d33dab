// What belongs to one process alone, as the program's variables hold it. Groups and info objects are values: a line has what
// is in them, and a restart makes them again. Operations and error handlers are functions of the program, which a
// restart's set-up gives to MPI again: those that the set-up has made have numbers, in the order of their making.
#ifndef ELC_MPI_OBJECTS_LOCAL_OBJECTS_H
#define ELC_MPI_OBJECTS_LOCAL_OBJECTS_H

#include <mpi.h>

#include "base/hash_map.h"
#include "base/result.h"
#include "mpi/objects/handle_key.h"
#include "mpi/objects/obstacles.h"
#include "mpi/serial/section.h"

namespace elc::mpi {

// Operations, error handlers, or keys of attributes.
class Functions {
 public:
  // The set-up has made this one, and there was none with its handle.
  void made(uint64_t key);
  // Another one has this handle now.
  void forget(uint64_t key);
  // 0: of one that the set-up has not made.
  size_t number_of(uint64_t key) const;
  // 0: there is none.
  uint64_t key_of(uint64_t number) const;
  // That the set-up has made.
  uint64_t count() const { return keys_.size(); }

 private:
  Vector<uint64_t> keys_;  // by number
  HashMap<size_t> numbers_;
};

class LocalObjects {
 public:
  Functions operations, error_handlers, keyvals;
  // nullptr: of other kinds.
  Functions* functions_of(HandleKind kind);
  // Whether one of the set-up has this handle and is still there: of the error handlers all are, to the end of the run.
  bool lives(HandleKind kind, uint64_t key);
  void made(HandleKind kind, uint64_t key);

  // ---- In a line: what variables hold gets its number there ----
  void begin_line();
  Result number_of_group(MPI_Group group, uint64_t* number);
  uint64_t number_of_info(MPI_Info info);
  uint64_t number_of_operation(MPI_Op op) const;
  uint64_t number_of_error_handler(MPI_Errhandler handler) const;
  static constexpr uint64_t kErrorsAreFatal = 1;  // the number of that one
  // Behind the last of them.
  void end_line(SavedLocal* saved);

  // ---- Restart ----
  void begin_restart(const SavedLocal* saved) { then_ = saved; }
  // Each variable gets a group of its own, and frees it.
  Result find_group(uint64_t number, MPI_Group* group) const;
  Result find_info(uint64_t number, MPI_Info* info);
  Result find_operation(uint64_t number, MPI_Op* op) const;
  Result find_error_handler(uint64_t number, MPI_Errhandler* handler) const;
  Result find_keyval(uint64_t number, int* keyval) const;
  void end_restart();

 private:
  SavedLocal now_;                // of the line that is being taken
  Vector<uint64_t> groups_, infos_;  // their handles
  const SavedLocal* then_ = nullptr;
  Vector<MPI_Info> made_;         // by their numbers in the line
};

// What an info object says, and one that says so.
Vector<Hint> hints_of(MPI_Info info);
// `complete`: this MPI has taken all of them.
MPI_Info info_of(const Vector<Hint>& hints, bool* complete);

}  // namespace elc::mpi

#endif
